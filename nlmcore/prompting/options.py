"""Which of some answers does a model find the most probable after a prompt?

    none            ln P(a | prompt)                                the whole answer's probability
    tokens          ln P(a | prompt) / (tokens of a)                per token: long answers are not punished
    characters      ln P(a | prompt) / (characters of a)            the same, whatever the tokenizer (spaces around a
                                                                    are not counted)
    unconditional   ln P(a | prompt) − ln P(a | neutral)            how much the prompt speaks for a

Brown et al. (2020), section 2.4, use the second for most tasks and the last for some, with "Answer: " as the neutral
context. Holtzman et al. (2021), "Surface form competition", explain it: answers that say the same share their
probability, and common words are probable after anything; the ratio P(a | prompt) / P(a | neutral) asks instead how
much the prompt raised it (their domain conditional pointwise mutual information; the neutral context should name the
kind of answer). Zhao et al. (2021), "Calibrate before use", divide by what a prompt with the same examples and a
question without content gives: neutral=few_shot_prompt(examples, "N/A").

P(a | prompt) is the probability that the text goes on with a, whatever follows. So of two options, the tokens of one
being the beginning of the other's ("New York", "New York City"), the shorter is never the less probable; end both alike
("New York.") to ask which is the whole answer.

The border between prompt and option. Byte-pair tokenizers write a space into the word after it: " Paris" is one
token, and "is " followed by "Paris" is a text that was never seen in training. So each option is encoded together
with the prompt, never alone. What all of these texts begin with is read once; the tokens from there on are the
option's. If an option melts into the prompt's end ("walk" + "ing"), that is the prompt's last token too, for every
option alike, and the comparison stays one of ln P(prompt and option) with the same beginning.

Departs from the papers: `characters` is a later custom of evaluation programs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import torch

from nlmcore.decoding.reading import next_log_probs, prefill
from nlmcore.language_model import LanguageModel, State, select
from nlmcore.prompting.checks import Tokenizer, as_tokens, beginning, check_parts, check_text


@dataclass(frozen=True)
class ScoredOption:
    """One option and what the model makes of it."""

    text: str
    tokens: list[int]
    """The ids that were scored: those after what all options' texts begin with."""
    log_probs: list[float]
    """ln P of each of them."""
    score: float
    """What the options are compared by."""

    @property
    def log_prob(self) -> float:
        """ln P(option | prompt)."""
        return sum(self.log_probs)


Neutral = Callable[[], Sequence[ScoredOption]]
"""Scores the same options after the neutral context, if they are asked for."""

NORMALISATIONS: dict[str, Callable[[Sequence[ScoredOption], Neutral], list[float]]] = {
    "none": lambda options, neutral: [option.log_prob for option in options],
    "tokens": lambda options, neutral: [option.log_prob / len(option.tokens) for option in options],
    "characters": lambda options, neutral: [option.log_prob / len(option.text.strip()) for option in options],
    "unconditional": lambda options, neutral: [
        option.log_prob - alone.log_prob for option, alone in zip(options, neutral(), strict=True)
    ],
}
"""The rules by name: (options, what scores them after the neutral context) -> scores."""


@torch.no_grad()
def score_options(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str,
    options: Sequence[str],
    *,
    normalise: str = "none",
    neutral: str = "Answer:",
    separator: str = " ",
    bos: SupportsIndex | None = None,
    state: State = None,
) -> list[ScoredOption]:
    """Every option with its score, in the order given.

    separator stands between prompt and option, unless one of them brings white space itself; "" joins them. bos is an
    id that is read before the prompt; `state` what was read before that, of one text. The prompt is read once, and
    all options at once after it.

    Raises ValueError for no options, an empty or a repeated one, an unknown `normalise`, a bos outside the vocabulary,
    or a prompt (or neutral context) of which nothing is left to read before the options; TypeError for what is no
    string, id, model or tokenizer.
    """
    check_parts(model, tokenizer)
    for name, text in {"prompt": prompt, "normalise": normalise, "neutral": neutral, "separator": separator}.items():
        check_text(name, text)
    check_options(options)
    first = beginning(bos, model)
    if normalise not in NORMALISATIONS:
        raise ValueError(f"normalise must be one of {', '.join(NORMALISATIONS)}, got {normalise!r}")

    def ask(name: str, context: str) -> list[ScoredOption]:
        return _score(model, tokenizer, name, context, options, separator, first, state)

    found = ask("prompt", prompt)
    scores = NORMALISATIONS[normalise](found, lambda: ask("neutral", neutral))
    return [
        ScoredOption(option.text, option.tokens, option.log_probs, score)
        for option, score in zip(found, scores, strict=True)
    ]


def choose(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str,
    options: Sequence[str],
    *,
    normalise: str = "none",
    neutral: str = "Answer:",
    separator: str = " ",
    bos: SupportsIndex | None = None,
    state: State = None,
) -> str:
    """The option with the highest score; of equal ones the first. Arguments and errors as in `score_options`."""
    scored = score_options(
        model,
        tokenizer,
        prompt,
        options,
        normalise=normalise,
        neutral=neutral,
        separator=separator,
        bos=bos,
        state=state,
    )
    return max(scored, key=lambda option: option.score).text


def check_options(options: Sequence[str]) -> None:
    """At least one string, none empty, none twice."""
    if isinstance(options, str) or not isinstance(options, Sequence):
        raise TypeError(f"options must be a list of strings, got {type(options).__name__} {options!r:.60}")
    for i, option in enumerate(options):
        check_text(f"options[{i}]", option)
    if not options or not all(option.strip() for option in options) or len(set(options)) < len(options):
        raise ValueError(f"options must be different strings, at least one and none empty, got {list(options)!r:.100}")


def joined(prompt: str, option: str, separator: str) -> str:
    """The prompt and its continuation, with the separator between them where neither brings white space."""
    bare = bool(prompt) and not prompt[-1].isspace() and not option[0].isspace()
    return prompt + (separator if bare else "") + option


def _score(
    model: LanguageModel,
    tokenizer: Tokenizer,
    name: str,
    prompt: str,
    options: Sequence[str],
    separator: str,
    first: list[int],
    state: State,
) -> list[ScoredOption]:
    """The options with ln P of their tokens, after `first` and the prompt (called `name`); `score` is the sum."""
    own = first + tokenizer.encode(prompt)
    texts = [first + tokenizer.encode(joined(prompt, option, separator)) for option in options]
    shared = common_beginning([own, *texts])
    if shared < 1:
        raise ValueError(
            f"{name} must leave a token to read before the options, got {prompt!r:.60}; give bos, or a longer {name}"
        )
    log_probs, state = next_log_probs(model, as_tokens(own[:shared], model, name), state)
    rests = [text[shared:] for text in texts]
    longest = max(len(rest) for rest in rests)
    steps = log_probs.expand(len(rests), -1)[:, None]  # (option, 1, vocab)
    if longest > 1:
        # Padded at the right with the text's own first token: what stands later changes nothing before it.
        padded = torch.cat([as_tokens((rest + [own[0]] * longest)[: longest - 1], model, "options") for rest in rests])
        branches = select(state, padded.new_zeros(len(rests)))
        steps = torch.cat([steps, prefill(model, padded, branches)[0]], dim=1)
    scored = []
    for option, rest, rows in zip(options, rests, steps, strict=True):
        found = rows[torch.arange(len(rest)), as_tokens(rest, model, "options")[0]].tolist()
        scored.append(ScoredOption(option, rest, found, sum(found)))
    return scored


def common_beginning(texts: Sequence[Sequence[int]]) -> int:
    """How many ids all of these texts begin with."""
    for i, column in enumerate(zip(*texts, strict=False)):
        if len(set(column)) > 1:
            return i
    return min(len(text) for text in texts)
