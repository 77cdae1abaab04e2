"""Questions 1a to 1c: the most probable word again and again, and two ways to cut a distribution before drawing."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.decoding.common import REFERENCE_ITSELF, greedy, model
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.laws.decoding import same_path
from autograder.specification import Case, Exercise, Misconception, Property, case

TOKENS, PROBABILITIES = ("tokens",), ("probabilities",)


def _path(draw: Draw, least: int, most: int, longest: int, label: str) -> Case:
    """A model whose greedy path has from `least` to `most` tokens."""
    while True:
        size = draw.largest + 2
        eos = draw.integer(0, size - 1)
        start = (eos + draw.integer(1, size - 1)) % size
        table = model(draw, size, eos, ending=0.0)
        found = greedy(table, start, eos, longest)
        if found[0] == start:  # then a list that begins with it looks like one that is too long
            continue
        if least <= len(found) <= most and (found[-1] == eos or len(found) == longest):
            return case(label, table, start, eos, longest)


def _ends(draw: Draw) -> list[Case]:
    return [_path(draw, 3, 7, 10, "it ends by itself"), _path(draw, 2, 5, 10, "it ends by itself")]


def _goes_on(draw: Draw) -> list[Case]:
    """A text that goes round in a circle, in which the start comes again."""
    while True:
        made = _path(draw, 6, 6, 6, "it does not end by itself")
        table, start, eos, longest = made.calls[0]
        written = greedy(table, start, eos, longest)
        if eos not in written and start in written:
            return [made]


def _at_once(draw: Draw) -> list[Case]:
    return [_path(draw, 1, 1, 6, "it ends at once"), _path(draw, 1, 4, 1, "one token is allowed")]


def _never_stops(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    return greedy(table, start, -1, longest)


def _eos_left_out(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    return [token for token in greedy(table, start, eos, longest) if token != eos]


def _from_the_start_only(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    """The words by their probability after the start, not each after the last."""
    order = table[start].argsort(descending=True).tolist()[:longest]
    return order[: order.index(eos) + 1] if eos in order else order


def _column(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    return greedy(table.T, start, eos, longest)


GREEDY = Exercise(
    name="decoding.greedy",
    title="The best word, again and again",
    signature="greedy(log_probs, start, eos, longest)",
    arguments=("log_probs", "start", "eos", "longest"),
    returns=TOKENS,
    minutes=15,
    difficulty="easy",
    reference=greedy,
    properties=(
        Property(name="a text that ends by itself", points=1.5, cases=_ends, judge=same_path("the tokens")),
        Property(name="a text that does not end", points=1, cases=_goes_on, judge=same_path("the tokens")),
        Property(name="one token", points=0.5, cases=_at_once, judge=same_path("the tokens")),
    ),
    misconceptions=(
        Misconception(
            id="never-stops",
            sentence="You go on after `<eos>`. The text is over there: nothing follows it.",
            implementation=_never_stops,
        ),
        Misconception(
            id="eos-left-out",
            sentence=(
                "`<eos>` is not in your tokens. It is predicted like every other word, and whoever reads your list"
                " wants to know whether the text ended or was cut off."
            ),
            implementation=_eos_left_out,
        ),
        Misconception(
            id="start-included",
            sentence="The start is in your list. It was given; the tokens are what the model adds to it.",
            implementation=lambda table, start, eos, longest: [start, *greedy(table, start, eos, longest)],
        ),
        Misconception(
            id="always-after-the-start",
            sentence=(
                "All your words are chosen by what may follow the *start*. After each word the context is that word:"
                " look up its row."
            ),
            implementation=_from_the_start_only,
        ),
        Misconception(
            id="column-for-row",
            sentence="You read the column. Row a holds the log-probabilities of what follows a.",
            implementation=_column,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- cut, then drawn --------------------------------------------------------------------------------------


def _logits(draw: Draw, size: int) -> Tensor:
    """Logits with no two alike."""
    return draw.normal(size) + torch.arange(size)[draw.integers(0, 10**9, size).argsort()] * 0.3


def _top_k(logits: Tensor, k: int, temperature: float) -> Tensor:
    kept = torch.zeros(len(logits), dtype=torch.bool)
    kept[logits.topk(min(k, len(logits))).indices] = True
    return _softmax_of(logits / temperature, kept)


def _softmax_of(logits: Tensor, kept: Tensor) -> Tensor:
    return torch.softmax(logits.double().masked_fill(~kept, -torch.inf), -1)


def _k_words(draw: Draw) -> list[Case]:
    size = draw.largest + 3
    return [case("three words are kept", _logits(draw, size), 3, 1.0), case("two words", _logits(draw, size), 2, 1.0)]


def _temperatures(draw: Draw) -> list[Case]:
    size = draw.largest + 3
    return [
        case("a low temperature", _logits(draw, size), 4, 0.5),
        case("a high one", _logits(draw, size), 4, 2.0),
    ]


def _extremes(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("one word is kept", _logits(draw, size), 1, 0.7),
        case("all words are kept", _logits(draw, size), size, 1.5),
        case("more words than there are", _logits(draw, size), size + 5, 0.8),
    ]


def _not_shared_out(logits: Tensor, k: int, temperature: float) -> Tensor:
    p = torch.softmax(logits.double() / temperature, -1)
    return torch.where(_top_k(logits, k, temperature) > 0, p, 0.0)


def _zero_logits(logits: Tensor, k: int, temperature: float) -> Tensor:
    return torch.softmax(torch.where(_top_k(logits, k, 1.0) > 0, logits.double() / temperature, 0.0), -1)


def _tempered_late(logits: Tensor, k: int, temperature: float) -> Tensor:
    p = _top_k(logits, k, 1.0) / temperature
    return p / p.sum() if temperature == 1.0 else p


TOP_K = Exercise(
    name="decoding.top_k",
    title="The k best, at a temperature",
    signature="top_k(logits, k, temperature)",
    arguments=("logits", "k", "temperature"),
    returns=PROBABILITIES,
    minutes=15,
    difficulty="easy",
    reference=_top_k,
    properties=(
        Property(name="one probability per word", points=0.25, cases=_k_words, judge=same_shapes(PROBABILITIES)),
        Property(name="k words share the probability", points=1.25, cases=_k_words, judge=same_values(PROBABILITIES)),
        Property(name="temperatures", points=1, cases=_temperatures, judge=same_values(PROBABILITIES)),
        Property(name="one word, and all", points=0.5, cases=_extremes, judge=same_values(PROBABILITIES)),
    ),
    misconceptions=(
        Misconception(
            id="not-shared-out",
            sentence=(
                "The words that you dropped took their probability with them: the rest sums to less than 1. Take the"
                " softmax of what is kept, or divide by its sum."
            ),
            implementation=_not_shared_out,
        ),
        Misconception(
            id="zero-for-minus-infinity",
            sentence=(
                "You set the logits of the dropped words to 0, and e⁰ is 1: they are still in the game, some of them"
                " with more than before. −∞ gives them nothing."
            ),
            implementation=_zero_logits,
        ),
        Misconception(
            id="temperature-multiplied",
            sentence=(
                "You multiplied by the temperature. A high one should make the words more alike: divide the logits by"
                " it."
            ),
            implementation=lambda logits, k, temperature: _top_k(logits, k, 1 / temperature),
        ),
        Misconception(
            id="temperature-after-softmax",
            sentence=(
                "You divided the *probabilities* by the temperature. Then they do not sum to 1, and if one mends that,"
                " nothing has changed. It belongs to the logits, before the softmax."
            ),
            implementation=_tempered_late,
        ),
        Misconception(
            id="one-too-many",
            sentence="One word too many is left. Keep exactly k.",
            implementation=lambda logits, k, temperature: _top_k(logits, k + 1, temperature),
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- the nucleus ------------------------------------------------------------------------------------------


def _nucleus(logits: Tensor, p: float) -> Tensor:
    return _nucleus_by(logits, lambda before, own: before < p)


def _nucleus_by(logits: Tensor, keep: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """`keep` is told, from the most probable word down, the mass before each word and its own."""
    own, order = torch.softmax(logits.double(), -1).sort(descending=True)
    kept = torch.zeros(len(logits), dtype=torch.bool)
    kept[order] = keep(own.cumsum(0) - own, own)
    return _softmax_of(logits, kept) if kept.any() else torch.zeros(len(logits), dtype=torch.float64)


def _far_from_the_edge(draw: Draw, size: int, p: float) -> Tensor:
    """Logits whose cumulative sums all stay away from p, and of which p cuts off between 1 and size − 2 words."""
    while True:
        logits = _logits(draw, size)
        sums = torch.softmax(logits.double(), -1).sort(descending=True).values.cumsum(0)
        if (sums - p).abs().min() > 0.02 and 1 <= int((sums < p).sum()) <= size - 3:
            return logits


def _usual(draw: Draw) -> list[Case]:
    size = draw.largest + 4
    return [case(f"p = {p}", _far_from_the_edge(draw, size, p), p) for p in (0.9, 0.7)]


def _sharp(draw: Draw) -> list[Case]:
    """One word has more than p."""
    size = draw.largest + 2
    logits = _logits(draw, size)
    logits[draw.integer(0, size - 1)] = logits.max() + 4
    return [case("one word has more than p", logits, 0.5)]


def _everything(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("p = 1", _logits(draw, size), 1.0),
        case("a very small p", _logits(draw, size), 0.01),
    ]


def _not_shared(logits: Tensor, p: float) -> Tensor:
    return torch.where(_nucleus(logits, p) > 0, torch.softmax(logits.double(), -1), 0.0)


NUCLEUS = Exercise(
    name="decoding.nucleus",
    title="The nucleus",
    signature="nucleus(logits, p)",
    arguments=("logits", "p"),
    returns=PROBABILITIES,
    minutes=25,
    difficulty="medium",
    reference=_nucleus,
    properties=(
        Property(name="one probability per word", points=0.25, cases=_usual, judge=same_shapes(PROBABILITIES)),
        Property(name="the usual p", points=2, cases=_usual, judge=same_values(PROBABILITIES)),
        Property(name="one word has more than p", points=1, cases=_sharp, judge=same_values(PROBABILITIES)),
        Property(name="p = 1, and a very small p", points=0.75, cases=_everything, judge=same_values(PROBABILITIES)),
    ),
    misconceptions=(
        Misconception(
            id="crossing-word-dropped",
            sentence=(
                "You dropped the word with which the sum gets to p. It belongs to the nucleus: the smallest set whose"
                " sum is *at least* p. (If one word alone has more than p, yours keeps nothing.)"
            ),
            implementation=lambda logits, p: _nucleus_by(logits, lambda before, own: before + own <= p),
        ),
        Misconception(
            id="one-too-many",
            sentence="You kept the word *after* the sum had got to p, too. The set should be as small as it can be.",
            implementation=lambda logits, p: _nucleus_by(
                logits, lambda before, own: torch.cat([torch.tensor([True]), before[:-1] < p])
            ),
        ),
        Misconception(
            id="not-shared-out",
            sentence=(
                "The words that you dropped took their probability with them: the rest sums to less than 1. Divide by"
                " its sum."
            ),
            implementation=_not_shared,
        ),
        Misconception(
            id="least-probable-first",
            sentence="You gathered the words from the least probable up. Begin with the most probable one.",
            implementation=lambda logits, p: _nucleus_by(logits, lambda before, own: before + own > 1 - p),
        ),
        Misconception(
            id="each-for-itself",
            sentence=(
                "You compared each word's own probability with 1 − p. It is the running *sum*, from the most probable"
                " word down, that is compared with p. (A bound on each word is another method: min-p.)"
            ),
            implementation=lambda logits, p: _nucleus_by(logits, lambda before, own: own >= 1 - p),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
