"""Which of some answers does a model find the most probable after a prompt?

    none            ln P(a | prompt)                                the whole answer's probability
    tokens          ln P(a | prompt) / (tokens of a)                per token: long answers are not penalised
    characters      ln P(a | prompt) / (characters of a)            the same for any tokenizer (spaces around a are
                                                                    not counted)
    unconditional   ln P(a | prompt) − ln P(a | baseline prompt)    how much the prompt raises the probability of a

Brown et al. (2020), section 2.4, use the second for most tasks and the last for some, with "Answer: " as the baseline
prompt. Holtzman et al. (2021), "Surface form competition", explain it: answers that mean the same share their
probability, and common words are probable after anything; the ratio P(a | prompt) / P(a | baseline) asks instead how
much the prompt raised it (their domain conditional pointwise mutual information; the baseline should name the
kind of answer). Zhao et al. (2021), "Calibrate before use", divide by the probability after a prompt with the same
examples and a question without content: baseline_prompt=few_shot_prompt(examples, "N/A").

P(a | prompt) is the probability that the text continues with a, whatever follows. So where the tokens of one option
are a prefix of another's ("New York", "New York City"), the shorter one is never the less probable; end both alike
("New York.") to ask which is the whole answer.

The border between prompt and option. Byte-pair tokenizers put a space into the word after it: " Paris" is one
token, and "is " followed by "Paris" is a text that never occurred in training. So each option is encoded together
with the prompt, never separately. The common prefix of all these texts is read once; the tokens after it are the
option's. If an option merges with the prompt's end ("walk" + "ing"), the prompt's last token counts as the option's,
for every option alike, and the comparison is still one of ln P(prompt and option) with the same prefix.

Departs from the papers: `characters` is a later convention of evaluation programs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import torch

from nlmcore.checks import checked
from nlmcore.decoding.reading import next_log_probs, prefill
from nlmcore.language_model import LanguageModel, State, select
from lectures.prompting.checks import Tokenizer, as_tokens, check_parts, check_strings, prefix


@dataclass(frozen=True)
class ScoredOption:
    """One option and its probability under the model."""

    text: str
    tokens: list[int]
    """The ids that were scored: those after the common prefix of all options' texts."""
    log_probs: list[float]
    """ln P of each of them."""
    score: float
    """What the options are compared by."""

    @property
    def log_prob(self) -> float:
        """ln P(option | prompt)."""
        return sum(self.log_probs)


Baseline = Callable[[], Sequence[ScoredOption]]
"""Scores the same options after the baseline prompt, if a rule asks for them."""

NORMALISATIONS: dict[str, Callable[[Sequence[ScoredOption], Baseline], list[float]]] = {
    "none": lambda options, baseline: [option.log_prob for option in options],
    "tokens": lambda options, baseline: [option.log_prob / len(option.tokens) for option in options],
    "characters": lambda options, baseline: [option.log_prob / len(option.text.strip()) for option in options],
    "unconditional": lambda options, baseline: [
        option.log_prob - without.log_prob for option, without in zip(options, baseline(), strict=True)
    ],
}
"""The rules by name: (options, baseline) -> scores."""


@checked
@torch.no_grad()
def score_options(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str,
    options: Sequence[str],
    *,
    normalise: str = "none",
    baseline_prompt: str = "Answer:",
    separator: str = " ",
    bos: SupportsIndex | None = None,
    state: State = None,
) -> list[ScoredOption]:
    """Every option with its score, in the order given.

    separator is put between prompt and option, unless one of them brings white space itself; "" joins them. bos is an
    id that is read before the prompt; `state` is what was read before that, of one text. The prompt is read once, and
    all options in one call after it.

    Raises ValueError for no options, an empty or a repeated one, an unknown `normalise`, a bos outside the vocabulary,
    or a prompt (or baseline) that leaves no token to read before the options; TypeError for what is not a string, id,
    model or tokenizer.
    """
    check_parts(model, tokenizer)
    check_options(options)
    first = prefix(bos, model)
    if normalise not in NORMALISATIONS:
        raise ValueError(f"normalise must be one of {', '.join(NORMALISATIONS)}, got {normalise!r}")

    def score(name: str, context: str) -> list[ScoredOption]:
        return _score(model, tokenizer, name, context, options, separator, first, state)

    found = score("prompt", prompt)
    scores = NORMALISATIONS[normalise](found, lambda: score("baseline_prompt", baseline_prompt))
    return [replace(option, score=value) for option, value in zip(found, scores, strict=True)]


def choose(model: LanguageModel, tokenizer: Tokenizer, prompt: str, options: Sequence[str], **given: Any) -> str:
    """The option with the highest score; of equal ones the first. Arguments and errors as in `score_options`."""
    return max(score_options(model, tokenizer, prompt, options, **given), key=lambda option: option.score).text


def check_options(options: Sequence[str]) -> None:
    """At least one string, none empty, none twice."""
    texts = check_strings("options", options)
    if not texts or not all(option.strip() for option in texts) or len(set(texts)) < len(texts):
        raise ValueError(f"options must be different strings, at least one and none empty, got {texts!r:.100}")


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
    alone = first + tokenizer.encode(prompt)
    texts = [first + tokenizer.encode(joined(prompt, option, separator)) for option in options]
    shared = common_prefix([alone, *texts])
    if shared < 1:
        raise ValueError(
            f"{name} must leave a token to read before the options, got {prompt!r:.60}; give bos, or a longer {name}"
        )
    log_probs, state = next_log_probs(model, as_tokens(alone[:shared], model, name), state)
    rests = [text[shared:] for text in texts]
    length = max(len(rest) for rest in rests)
    steps = log_probs.expand(len(rests), -1)[:, None]  # (option, 1, vocab)
    if length > 1:
        # Padded at the end with the text's first token: later tokens change no earlier prediction.
        padded = torch.cat([as_tokens((rest + [alone[0]] * length)[: length - 1], model, "options") for rest in rests])
        branches = select(state, padded.new_zeros(len(rests)))
        steps = torch.cat([steps, prefill(model, padded, branches)[0]], dim=1)
    scored = []
    for option, rest, rows in zip(options, rests, steps, strict=True):
        found = rows[torch.arange(len(rest)), as_tokens(rest, model, "options")[0]].tolist()
        scored.append(ScoredOption(option, rest, found, sum(found)))
    return scored


def common_prefix(texts: Sequence[Sequence[int]]) -> int:
    """The number of ids with which all of these texts begin."""
    for i, column in enumerate(zip(*texts, strict=False)):
        if len(set(column)) > 1:
            return i
    return min(len(text) for text in texts)
