"""Question 1a: the most probable word, again and again."""

from torch import Tensor

from autograder.checks.decoding.common import REFERENCE_ITSELF, greedy, model
from autograder.exercise.draw import Draw
from autograder.exercise.laws.decoding import same_path
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case


def _path(draw: Draw, least: int, most: int, longest: int, ends: bool, label: str) -> Case:
    """A model whose greedy path has from `least` to `most` tokens, of which eos is the last or is none."""
    while True:
        size = draw.largest + 2
        eos = draw.integer(0, size - 1)
        start = (eos + draw.integer(1, size - 1)) % size
        table = model(draw, size, eos, ending=0.0)
        found = greedy(table, start, eos, longest)
        if found[0] == start:  # then a list that begins with it looks like one that is too long
            continue
        if least <= len(found) <= most and (found[-1] == eos) == ends:
            return case(label, table, start, eos, longest)


def _ends(draw: Draw) -> list[Case]:
    return [_path(draw, 3, 7, 10, True, "a few words"), _path(draw, 2, 5, 10, True, "a few words")]


def _goes_on(draw: Draw) -> list[Case]:
    """A text that goes round in a circle, in which the start comes again."""
    while True:
        made = _path(draw, 6, 6, 6, False, "words in a circle")
        table, start, eos, longest = made.calls[0]
        if start in greedy(table, start, eos, longest):
            return [made]


def _at_once(draw: Draw) -> list[Case]:
    return [_path(draw, 1, 1, 6, True, "it ends at once"), _path(draw, 1, 1, 1, False, "one token is allowed")]


def _never_stops(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    return greedy(table, start, -1, longest)


def _one_too_many(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    return greedy(table, start, eos, longest + 1)


def _eos_left_out(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    return [token for token in greedy(table, start, eos, longest) if token != eos]


def _not_at_once(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    """The first word is written without a look at what it is."""
    first = int(table[start].argmax())
    return [first, *(greedy(table, first, eos, longest - 1) if first != eos else _after(table, eos, longest - 1))]


def _after(table: Tensor, eos: int, longest: int) -> list[int]:
    """What greedy search writes after an eos that it did not see."""
    if longest == 0:
        return []
    first = int(table[eos].argmax())
    return [first, *greedy(table, first, eos, longest - 1)]


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
    returns=("tokens",),
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
            id="one-too-many",
            sentence=(
                "A text that does not end by itself has one word too many. At most `longest` are written, and the"
                " start is not one of them."
            ),
            implementation=_one_too_many,
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
            id="first-word-not-looked-at",
            sentence=(
                "If the very first word is `<eos>`, yours goes on. Look at every word before the next one is written,"
                " the first one too."
            ),
            implementation=_not_at_once,
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
