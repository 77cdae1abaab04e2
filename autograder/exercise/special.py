"""Three kinds of questions that are declared with `question` and a few helpers: derivations, bugs and experiments.

A derivation is a function whose body is the formula that the student derived; it is checked at random points, where
nothing can differentiate.

    BEST_DISCOUNT = question(
        "ngrams.best_discount", …, returns=("discount",), numpy=True,
        properties=[formula("the discount", 1.5, at_points(n_1=(1, 900), n_2=(1, 400)))], …)

A bug is one wrong line. Students read the listing (`[[listing ngrams.witten_bell]]`), say which line it is, and get the
code to mend. Both are questions; the bug is written once, as an edit of the solution (`planted`).

    WITTEN_BELL = question("ngrams.witten_bell", …, planted="- counts.sum(0) → counts.sum(1)")
    WRONG_LINE = wrong_line("ngrams.wrong_line", WITTEN_BELL, mistakes=\"\"\"
    types: Line {types =} is right: …
    \"\"\")

Its mistakes are the other lines: `{types =}` stands for the number of the only line that contains “types =”.

An experiment is a function that runs the student's own code for given seeds, and returns a prediction, a table of
numbers with a row for each seed, and a conclusion. The conclusion must be supported by the student's own numbers.

    returns=("prediction", "perplexities", "conclusion"), chosen=("prediction", "conclusion"),
    page = on_the_page("the seeds of the page", …, [0, 1, 2, 3, 4])  # or PAGE and SEEDS, if it gets only the seeds
    properties=[
        predicted(0.25, page, 3),
        values("the perplexities of every seed", 1.5, Both((page, fresh)), "perplexities"),
        concluded(1.5, Both((page, fresh)), "0<1", "1<0", "0~1"),
    ]

The cell after the answer, `show_rows("ngrams.which_k", which_k, "20 lines, k = 1", …)`, shows the rows of the page's
seeds.
"""

import re
from collections.abc import Sequence
from typing import Any

import torch

from autograder.exercise.declare import Row, judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.laws.experiments import chooses, is_supported, right_columns
from autograder.exercise.listing import Listing, listing_of
from autograder.exercise.specification import Both, Case, Cases, Exercise, case

POINTS = 4
"""Of a formula's points, how many a round has."""
PRECISION = 1e-5
"""To which a formula's values must be right: coarse differences and a search over a grid are less exact. Fine central
differences and bisection are not, and earn what a formula earns."""


def on_the_page(label: str, *arguments: Any) -> Cases:
    """The situation that the page describes, the same for everybody, at home and hidden. Only here a conclusion must be
    supported, because nobody saw the numbers of another one."""
    kept = [Case(label=label, calls=(arguments,), known=(torch.tensor(True),))]
    return lambda draw: kept


PAGE = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])
"""Of an experiment that gets nothing but the seeds."""


def other_seeds(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


SEEDS = Both((PAGE, other_seeds))


def at_points(label: str = "a random point", **symbols: tuple[float, float]) -> Cases:
    """Points of a formula: each symbol, in the order of the arguments, between two bounds. A symbol with integers as
    bounds is an integer."""

    def drawn(draw: Draw) -> list[Case]:
        return [case(label, *(_between(draw, *bounds) for bounds in symbols.values())) for _ in range(POINTS)]

    return drawn


def _between(draw: Draw, low: float, high: float) -> float:
    if isinstance(low, int) and isinstance(high, int):
        return draw.integer(low, high)
    return round(low + (high - low) * draw.integer(0, 10_000) / 10_000, 4)


def formula(name: str, points: float, cases: Cases, *results: str) -> Row:
    """The named results are the reference's, to more digits than `values` asks for."""
    return values(name, points, cases, *results, tolerance=PRECISION)


def wrong_line(name: str, bug: Exercise, *, mistakes: str, minutes: int = 10, points: float = 1) -> Exercise:
    """The question which line of a listing is wrong. It counts together with the mended code, because at home anybody
    can try all lines. Raises ValueError if the solution in the source notebook is not the number of the line in which
    the bug is planted."""
    made = question(
        name,
        minutes=minutes,
        difficulty="medium",
        returns=("line",),
        properties=[values("the line", points, on_the_page("the listing"))],
        mistakes=_other_lines(mistakes, listing_of(bug)),
        closed=bug.closed,
        numpy=bug.numpy,
        chosen=("line",),
        together=bug.name,
    )
    if made.reference() != listing_of(bug).wrong:
        raise ValueError(f"{name}: the wrong line is {listing_of(bug).wrong}, and the solution says {made.reference()}")
    return made


def _other_lines(mistakes: str, listing: Listing) -> str:
    """The mistakes of a wrong line, each with the number of its line, and its edit below it."""
    said = []
    for mistake in re.split(r"\n(?=[a-z0-9-]+: Line \{)", mistakes.strip("\n")):
        if line := re.search(r"(?<=: Line )\{(.+?)\}(?= )", mistake):
            number = listing.number(line[1])
            mistake = f"{mistake.replace(line[0], str(number), 1)}\n- {listing.wrong} → {number}"
        said.append(mistake)
    return "\n".join(said)


def columns(name: str, points: float, cases: Cases, result: str, *which: int) -> Row:
    """Some columns of an experiment's table, from 0, are the reference's: partial credit where they need different
    code."""
    return lambda names: judged(name, points, cases, right_columns(result, names.index(result), list(which)), result)(
        names
    )


def predicted(points: float, cases: Cases, options: int) -> Row:
    """There is a prediction, one of the options 1, 2, …; whether it comes true does not matter."""
    name = "prediction"
    return lambda names: judged("a prediction", points, cases, chooses(name, names.index(name), options), name)(names)


Claim = str | Sequence[Any]
"""["lower", a, b]: column a is lower than column b; ["lower", a, b, 1.1]: even 1.1 times as large. ["undecided", a, b]:
neither is lower. A list of claims: all of them. In short: "a<b", "a~b", and "a<b c~d" for both."""


def _claims(claim: Claim) -> list[Any]:
    if not isinstance(claim, str):
        return list(claim)
    signs = {"<": "lower", "~": "undecided"}
    each = [[signs[part[1]], int(part[0]), int(part[2])] for part in claim.split()]
    return each if len(each) > 1 else each[0]


def concluded(points: float, cases: Cases, *claims: Claim, within: float = 0.05) -> Row:
    """The conclusion, 1, 2, …, claims what the student's own numbers say (`autograder.exercise.laws.experiments`); one
    claim for each option. The numbers, the second result, may differ from the right ones by the part
    `within`, for fresh seeds as well: a table learned by heart supports nothing. Where seeds differ by less than that,
    give less."""

    def row(names: tuple[str, ...]) -> Any:
        name = "conclusion"
        judge = is_supported(name, names.index(name), 1, within, list(map(_claims, claims)))
        both = names[1], name  # a conclusion is mistaken only for the numbers from which it was drawn
        return judged("your own numbers support the conclusion", points, cases, judge, *both)(names)

    return row
