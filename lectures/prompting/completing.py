"""Let a model continue a text until it has said enough, in one call or word by word as it writes.

A pattern in the prompt ("France -> Paris\\nItaly -> Rome\\nJapan ->") is completed by plain decoding; the answer ends
where the next line would begin. A stop string is sought in the text, not among the ids: it may begin in the middle of
a token.

A model that was trained to chat continues a conversation, whose ids its tokenizer makes:

    said = [{"role": "user", "content": "Who was Hamlet?"}]
    for piece in stream_text(model, tokenizer, tokenizer.chat(said), 200, stop=(), eos=tokenizer.eos):
        print(piece, end="", flush=True)

Departs from the literature: nothing; Brown et al. (2020), section 2.4, do the same for free answers, with a beam.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex

import torch

from nlmcore.checks import Amount, Count, Probability, Size, checked
from nlmcore.decoding import stream
from nlmcore.decoding.filters import Filter
from nlmcore.decoding.sampling import Step
from nlmcore.language_model import LanguageModel, State
from lectures.prompting.checks import Tokenizer, as_ids, as_tokens, check_parts, check_strings, prefix


@dataclass(frozen=True)
class Completion:
    """The text that was written after the prompt."""

    text: str
    """Without the stop string, and without `eos`."""
    tokens: list[int]
    """All ids that were written, those of the stop string included."""
    log_probs: list[float]
    """The model's own ln P of each."""
    stopped: Literal["stop", "eos", "length"]
    """What ended it: a stop string, `eos`, or max_new_tokens."""


@checked
def complete(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str | Iterable[SupportsIndex],
    max_new_tokens: Count = 32,
    *,
    stop: Sequence[str] = ("\n",),
    eos: SupportsIndex | None = None,
    bos: SupportsIndex | None = None,
    state: State = None,
    temperature: Amount = 0.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
) -> Completion:
    """Write up to `max_new_tokens` after the prompt, until one of the strings `stop` appears. Greedy by default.

    prompt: a text, or its ids. It should not end in a space (see `lectures.prompting.options`); `few_shot_prompt`'s
    never do. temperature, top_k, …, filters: as in `nlmcore.decoding.sample`.

    Raises ValueError for an empty prompt without bos, an empty stop string, or an id outside the vocabulary,
    TypeError for what is not a string, id or generator.
    """
    options = {"eos": eos, "state": state, "generator": generator, "temperature": temperature, "top_k": top_k}
    options |= {"top_p": top_p, "min_p": min_p, "typical_p": typical_p, "filters": filters}
    steps, stops = _start(model, tokenizer, prompt, max_new_tokens, stop, bos, options)
    latest = Completion("", [], [], "length")
    for so_far, _ in _growing(steps, tokenizer, stops):
        latest = so_far
    return latest


@checked
def stream_text(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str | Iterable[SupportsIndex],
    max_new_tokens: Count = 32,
    *,
    stop: Sequence[str] = ("\n",),
    eos: SupportsIndex | None = None,
    bos: SupportsIndex | None = None,
    state: State = None,
    temperature: Amount = 0.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
) -> Iterator[str]:
    """The text that `complete` gives, piece by piece as it is written: joined, the pieces are that text.

    What cannot be shown yet is held back until it can: the bytes of an incomplete character, and the start
    of what may become a stop string. Arguments and errors as in `complete`.
    """
    options = {"eos": eos, "state": state, "generator": generator, "temperature": temperature, "top_k": top_k}
    options |= {"top_p": top_p, "min_p": min_p, "typical_p": typical_p, "filters": filters}
    steps, stops = _start(model, tokenizer, prompt, max_new_tokens, stop, bos, options)
    return _pieces(steps, tokenizer, stops)


def _start(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str | Iterable[SupportsIndex],
    max_new_tokens: int,
    stop: Sequence[str],
    bos: SupportsIndex | None,
    options: dict[str, Any],
) -> tuple[Iterator[Step], list[str]]:
    """The steps of the model's text, and the stop strings, everything checked."""
    check_parts(model, tokenizer)
    stops = [stop] if isinstance(stop, str) else check_strings("stop", stop, Iterable, ", () for none")
    if "" in stops:
        raise ValueError(f"stop must hold no empty string, got {stops!r:.60}")
    ids = prefix(bos, model) + as_ids(prompt, tokenizer, model)
    if not ids:
        raise ValueError("prompt must not be empty, unless bos says what to begin with")
    return stream(model, as_tokens(ids, model, "prompt"), max_new_tokens, **options), stops


def _growing(steps: Iterator[Step], tokenizer: Tokenizer, stops: list[str]) -> Iterator[tuple[Completion, bool]]:
    """The text so far after every token, and whether that was the last; `stopped` is "length" until then."""
    tokens: list[int] = []
    log_probs: list[float] = []
    for step in steps:
        tokens.append(int(step.tokens[0]))
        log_probs.append(float(step.log_probs[0]))
        if step.finished[0]:
            yield Completion(tokenizer.decode(tokens[:-1]), tokens, log_probs, "eos"), True
            return
        text = tokenizer.decode(tokens)
        ends = [text.index(end) for end in stops if end in text]
        if ends:
            yield Completion(text[: min(ends)], tokens, log_probs, "stop"), True
            return
        yield Completion(text, tokens, log_probs, "length"), False


def _pieces(steps: Iterator[Step], tokenizer: Tokenizer, stops: list[str]) -> Iterator[str]:
    text, shown = "", 0
    for so_far, ended in _growing(steps, tokenizer, stops):
        text = so_far.text
        settled = len(text) if ended else _settled(text, stops)
        if settled > shown:
            yield text[shown:settled]
            shown = settled
    if text[shown:]:
        yield text[shown:]


def _settled(text: str, stops: list[str]) -> int:
    """How much of the text stays whatever follows: no bytes of an incomplete character, no start of a stop string."""
    whole = text.rstrip("\N{REPLACEMENT CHARACTER}")
    started = [n for stop in stops for n in range(1, len(stop)) if whole.endswith(stop[:n])]
    return len(whole) - max(started, default=0)
