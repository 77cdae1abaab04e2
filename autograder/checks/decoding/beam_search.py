"""Question 2b: the whole beam search, by our rules: what has ended keeps its place, and may lose it."""

from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.decoding.beam_search_mistakes import MISTAKES, most_probable, one_child_each
from autograder.checks.decoding.common import REFERENCE_ITSELF, greedy, model
from autograder.checks.decoding.hypotheses import search
from autograder.exercise.draw import Draw
from autograder.exercise.laws.decoding import same_path, scores_its_own_path
from autograder.exercise.specification import Case, Exercise, Property, case


def _model_of(draw: Draw, size: int, rows: dict[int, dict[int, float]]) -> Tensor:
    """A nearly even model, but for the `rows`: last -> {next: probability}, each a little more or less."""
    table = torch.log_softmax(draw.normal(size, size).double() * 0.2, -1).exp()
    for last, wanted in rows.items():
        for word in wanted:
            table[last, word] = 0.0
        table[last] *= (1 - sum(wanted.values())) / table[last].sum()
        for word, share in wanted.items():
            table[last, word] = share + draw.integer(0, 20) / 1000
    return (table / table.sum(-1, keepdim=True)).log().float()


def _words(draw: Draw, size: int, count: int) -> list[int]:
    """`count` different words of a vocabulary."""
    return [int(word) for word in draw.integers(0, 10**9, size).argsort()[:count]]


def _garden_path(draw: Draw, beam: int, chain: int, label: str) -> Case:
    """A model whose most probable first word leads nowhere in particular, and whose second best begins the best text.

    After it come `chain` words, of which each all but follows from the last; the first of them may also be the last.
    """
    size = draw.largest + 2
    start, eos, tempting, *good = _words(draw, size, chain + 3)
    rows = {last: {word: 0.88} for last, word in pairwise([*good, eos])}
    rows |= {start: {tempting: 0.45, good[0]: 0.38, eos: 0.01}, good[0]: {good[1]: 0.58, eos: 0.32}}
    return case(label, _model_of(draw, size, rows), start, eos, beam, chain + 3)


def _crowded(draw: Draw) -> Case:
    """The best text is the second child of a first word."""
    while True:
        size = draw.largest + 2
        start, eos = _words(draw, size, 2)
        table = torch.log_softmax(draw.normal(size, size).double() * 1.5, -1).float()
        best, score = search(table, start, eos, 3, 5)
        if len(best) > 1 and score > one_child_each(table, start, eos, 3, 5)[1] + 0.01:
            return case("two children of one hypothesis", table, start, eos, 3, 5)


def _wide(draw: Draw) -> list[Case]:
    return [
        _crowded(draw),
        _garden_path(draw, 2, 2, "two hypotheses"),
        _garden_path(draw, 3, 3, "three hypotheses"),
    ]


def _short_wins(draw: Draw) -> Case:
    """A model in which the empty text is the best, and a long one is better per word."""
    size = draw.largest + 2
    start, eos, *long = _words(draw, size, 6)
    rows = {last: {word: 0.86} for last, word in pairwise([*long, eos])} | {start: {long[0]: 0.4, eos: 0.34}}
    return case("a short text is the best", _model_of(draw, size, rows), start, eos, 2, 5)


def _pushed_out(draw: Draw) -> Case:
    """The empty text would be the best, but two others are better at first, and there is no place for a third."""
    size = draw.largest + 2
    start, eos, one, one_more, two, two_more = _words(draw, size, 6)
    rows = {start: {one: 0.34, two: 0.28, eos: 0.2}, one: {one_more: 0.5}, two: {two_more: 0.4}}
    rows |= {one_more: {eos: 0.8}, two_more: {eos: 0.8}}
    return case("a text that has ended loses its place", _model_of(draw, size, rows), start, eos, 2, 4)


def _late_winner(draw: Draw) -> Case:
    """Two texts, as many as the beam is wide, have ended before the best one does."""
    size = draw.largest + 2
    start, eos, one, two = _words(draw, size, 4)
    rows = {start: {one: 0.5, eos: 0.3}, one: {two: 0.8, eos: 0.12}, two: {eos: 0.9}}
    return case("the best text ends last", _model_of(draw, size, rows), start, eos, 2, 4)


def _soon_over(draw: Draw) -> Case:
    """The better text is the shorter one, also per word."""
    size = draw.largest + 2
    start, eos, one, one_more, two = _words(draw, size, 5)
    rows = {start: {one: 0.45, two: 0.38, eos: 0.01}, one: {one_more: 0.35}, one_more: {eos: 0.5}, two: {eos: 0.8}}
    return case("the best text ends first", _model_of(draw, size, rows), start, eos, 2, 4)


def _ended(draw: Draw) -> list[Case]:
    return [_short_wins(draw), _pushed_out(draw), _late_winner(draw), _soon_over(draw)]


def _all(draw: Draw) -> list[Case]:
    return [*_wide(draw), *_ended(draw)]


def _narrow(draw: Draw) -> list[Case]:
    """Greedy search ends, and misses the best text."""
    while True:
        size = draw.largest + 2
        eos = draw.integer(0, size - 1)
        start = (eos + draw.integer(1, size - 1)) % size
        table = model(draw, size, eos, ending=0.0)
        found = greedy(table, start, eos, 6)
        if 2 <= len(found) < 6 and most_probable(table, start, eos, 1, 6)[0] != found:
            return [case("one hypothesis: greedy", table, start, eos, 1, 6)]


def _cut_off(draw: Draw) -> list[Case]:
    made = _garden_path(draw, 2, 3, "cut off before it ends")
    table, start, eos, beam, _ = made.calls[0]
    return [case(made.label, table, start, eos, beam, 3)]


BEAM_SEARCH = Exercise(
    name="decoding.beam_search",
    title="Beam search",
    signature="beam_search(log_probs, start, eos, beam, longest)",
    arguments=("log_probs", "start", "eos", "beam", "longest"),
    returns=("tokens", "log_prob"),
    minutes=40,
    difficulty="hard",
    reference=lambda table, start, eos, beam, longest: search(table, start, eos, beam, longest),
    properties=(
        Property(name="one hypothesis is greedy", points=1, cases=_narrow, judge=same_path("the tokens")),
        Property(name="the log-probability of your own tokens", points=1, cases=_all, judge=scores_its_own_path),
        Property(name="better than greedy", points=2, cases=_wide, judge=same_path("the tokens"), outputs=(0,)),
        Property(
            name="what has ended, beside the rest", points=1, cases=_ended, judge=same_path("the tokens"), outputs=(0,)
        ),
        Property(name="cut off before it ends", points=1, cases=_cut_off, judge=same_path("the tokens"), outputs=(0,)),
    ),
    misconceptions=MISTAKES,
    closed=REFERENCE_ITSELF,
)
