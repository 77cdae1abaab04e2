"""Let a model go on with a text until it has said enough.

A pattern in the prompt ("France -> Paris\\nItaly -> Rome\\nJapan ->") is completed by plain decoding; the answer ends
where the next line would begin. A stop string is looked for in the text, not among the ids, since tokenizers cut as
they like: it may begin in the middle of a token.

Departs from the literature: nothing; Brown et al. (2020), section 2.4, do the same for free answers, with a beam.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, SupportsIndex

import torch

from nlmcore.decoding import stream
from nlmcore.language_model import LanguageModel, State
from nlmcore.prompting.checks import Tokenizer, as_tokens, beginning, check_parts, check_text


@dataclass(frozen=True)
class Completion:
    """What was written after the prompt."""

    text: str
    """Without the stop string, and without `eos`."""
    tokens: list[int]
    """All ids that were written, those of the stop string included."""
    log_probs: list[float]
    """The model's own ln P of each."""
    stopped: Literal["stop", "eos", "length"]
    """What ended it: a stop string, `eos`, or max_new_tokens."""


def complete(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str,
    max_new_tokens: int = 32,
    *,
    stop: Sequence[str] = ("\n",),
    eos: int | None = None,
    bos: SupportsIndex | None = None,
    state: State = None,
    temperature: float | int = 0.0,
    top_p: float | int | None = None,
    generator: torch.Generator | None = None,
) -> Completion:
    """Write up to `max_new_tokens` after the prompt, until one of the strings `stop` appears. Greedy unless told.

    The prompt should not end in a space (see `nlmcore.prompting.options`); `few_shot_prompt`'s never do.

    Raises ValueError for an empty prompt without bos, an empty stop string, or a bos outside the vocabulary,
    TypeError for what is no string, id or generator.
    """
    check_parts(model, tokenizer)
    check_text("prompt", prompt)
    if not isinstance(stop, Iterable):
        raise TypeError(f"stop must be strings, () for none, got {type(stop).__name__} {stop!r:.60}")
    if not isinstance(generator, torch.Generator | None):
        raise TypeError(
            f"generator must be a torch.Generator or None, got {type(generator).__name__} {generator!r:.60}"
        )
    stops = [stop] if isinstance(stop, str) else list(stop)
    for i, text in enumerate(stops):
        check_text(f"stop[{i}]", text)
        if not text:
            raise ValueError(f"stop must hold no empty string, got {stops!r:.60}")
    ids = beginning(bos, model) + tokenizer.encode(prompt)
    if not ids:
        raise ValueError("prompt must not be empty, unless bos says what to begin with")
    tokens: list[int] = []
    log_probs: list[float] = []
    steps = stream(
        model,
        as_tokens(ids, model, "prompt"),
        max_new_tokens,
        eos=eos,
        state=state,
        temperature=temperature,
        top_p=top_p,
        generator=generator,
    )
    for step in steps:
        tokens.append(int(step.tokens[0]))
        log_probs.append(float(step.log_probs[0]))
        if step.finished[0]:
            return Completion(tokenizer.decode(tokens[:-1]), tokens, log_probs, "eos")
        text = tokenizer.decode(tokens)
        ends = [text.index(end) for end in stops if end in text]
        if ends:
            return Completion(text[: min(ends)], tokens, log_probs, "stop")
    return Completion(tokenizer.decode(tokens), tokens, log_probs, "length")
