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
    types-suspected: Line {types =} is right: …
    \"\"\")

A part of a line in braces stands for the line's number. The first one of a mistake is the answer of whoever makes it.

An experiment is a function that runs the student's own code for given seeds, and returns a prediction, a table of
numbers with a row for each seed, and a conclusion. The conclusion must be supported by the student's own numbers.

    WHICH_K = experiment(
        "ngrams.which_k", table="perplexities", points=(0.25, 1.5, 1.5),
        claims=["0 < 1, 2 < 3", "1 < 0, 3 < 2", "0 ~ 1"], …)

The cell after the answer, `show_rows("ngrams.which_k", which_k, "20 lines, k = 1", …)`, shows the rows of the page's
seeds.
"""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import torch

from autograder.question.declare import TOLERANCE, Row, judged, question, row_of, solution_of, values
from autograder.question.draw import Draw
from autograder.question.laws.experiments import chooses, is_supported, right_columns, signs_of
from autograder.question.listing import Listing, listing_of
from autograder.question.specification import Both, Case, Cases, Exercise, Judge, Property, case

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


def other_seeds(draw: Draw, count: int = 2) -> list[int]:
    return [draw.integer(100 * n, 100 * n + 99) for n in range(1, count + 1)]


def over_seeds(
    *given: Any, fresh: Callable[[Draw], Sequence[Any]] | None = None, count: int = 2
) -> tuple[Cases, Cases]:
    """(an experiment on the page, another one): what is given before the seeds, and the seeds. `fresh`: what the other
    one is given, the same by default; `count`: how many seeds it has."""

    def other(draw: Draw) -> list[Case]:
        seeds = other_seeds(draw, count)
        return [case("other seeds", *(given if fresh is None else fresh(draw)), seeds)]

    return on_the_page("the five seeds of the page", *given, [0, 1, 2, 3, 4]), other


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


def wrong_line(name: str, bug: Exercise, *, mistakes: str, points: float = 1) -> Exercise:
    """The question which line of a listing is wrong. It counts together with the mended code, and a notebook says
    whether it is right only when that passes, so trying all lines tells nothing. Raises ValueError if the solution in
    the source notebook is not the number of the line in which the bug is planted."""
    made = question(
        name,
        returns=("line",),
        properties=[values("the line", points, on_the_page("the listing"))],
        mistakes=_suspicions(mistakes, listing_of(bug)),
        closed=bug.closed,
        numpy=bug.numpy,
        chosen=("line",),
        together=bug.name,
    )
    if made.reference() != listing_of(bug).wrong:
        raise ValueError(f"{name}: the wrong line is {listing_of(bug).wrong}, and the solution says {made.reference()}")
    return made


def _suspicions(mistakes: str, listing: Listing) -> str:
    """The mistakes, with the numbers of the lines, and the edit of each that names a line."""
    found: list[str] = []
    edit = ""
    for line in mistakes.strip("\n").split("\n"):
        if first := re.match(r"[\w-]+: .*?\{(.+?)\}", line):
            found.append(edit)
            edit = f"- {listing.wrong} → {listing.number(first[1])}"
        found.append(re.sub(r"\{(.+?)\}", lambda part: str(listing.number(part[1])), line))
    return "\n".join([*found, edit])


def columns(name: str, points: float, cases: Cases, result: str, *which: int) -> Row:
    """Some columns of an experiment's table, from 0, are the reference's: partial credit where they need different
    code."""
    right = partial(right_columns, result)
    return row_of(name, points, cases, [result], lambda names, _: right(names.index(result), list(which)))


def predicted(points: float, cases: Cases, options: int) -> Row:
    """There is a prediction, one of the options 1, 2, …; whether it comes true does not matter."""
    name = "prediction"
    return row_of("a prediction", points, cases, [name], lambda names, _: chooses(name, names.index(name), options))


def own_signs(what: str, points: float, cases: Cases, table: str, against: float | str, within: float = 0.05) -> Row:
    """The result `signs` holds the signs of differences in the student's own table (`signs_of` says which)."""

    def judge(names: tuple[str, ...], which: object) -> Judge:
        return signs_of([names.index(table), names.index("signs")], against, within)

    return row_of(f"the signs of your own {what}", points, cases, ["signs"], judge)


Claim = Sequence[Any]
"""["lower", a, b]: column a is lower than column b; ["lower", a, b, 1.1]: even 1.1 times as large. ["undecided", a, b]:
neither is lower. A list of claims: all of them."""


def concluded(points: float, cases: Cases, *claims: Claim, within: float = 0.05) -> Row:
    """The conclusion, 1, 2, …, claims what the student's own numbers say (`autograder.question.laws.experiments`); one
    claim for each option. The numbers, the second result, may differ from the right ones by the part
    `within`, for fresh seeds as well: a table learned by heart supports nothing. Where seeds differ by less than that,
    give less."""

    def row(names: tuple[str, ...]) -> Property:
        name = "conclusion"
        judge = is_supported(name, names.index(name), 1, within, [list(claim) for claim in claims])
        both = names[1], name  # a conclusion is mistaken only for the numbers from which it was drawn
        return judged("your own numbers support the conclusion", points, cases, judge, *both)(names)

    return row


NOT_PREDICTED = """
not-predicted: There is no prediction. Write down what you expect, 1 to {}, before you look at numbers; afterwards
everything looks as if you had known it.
- {} → prediction = 0
"""


EVERY_SEED = "for seed in seeds"
COUNTED_ANEW = f"""
seeds-counted-anew: Your rows are those of the seeds 0, 1, 2, …, whatever `seeds` contains. Use the seeds that you get.
* {EVERY_SEED} → for seed in range(len(seeds))
or
* {EVERY_SEED} → for seed in range(5)
"""


PAGE, FRESH = over_seeds()


def experiment(
    name: str,
    *,
    table: str,
    points: tuple[float, float, float],
    claims: Sequence[str],
    mistakes: str,
    page: Cases = PAGE,
    fresh: Cases = FRESH,
    rows: str = "",
    more: Cases | None = None,
    within: float = 0.05,
    tolerance: float = TOLERANCE,
    numpy: bool = False,
    closed: Sequence[str] = (),
) -> Exercise:
    """The question that is a small experiment. That nothing is predicted is a mistake of every experiment, and that the
    seeds are not those given of every one that has a loop over them.

    `table`: the result with a row for each seed, right to `tolerance`. `points`: for the prediction, the table and the
    conclusion. `page` and `fresh`: what is asked on the page, and what else. `more`: cases of the table only.
    `claims`: one for each conclusion; “0 < 1, 2 ~ 3” is that column 0 is lower than column 1 and that 2 and 3 are
    undecided, “1.1 * 0 < 1” that column 0 is lower even when it is 1.1 times as large (or “1/3 * …”). `within`: see
    `concluded`.
    """
    both = Both((page, fresh))
    every = Both((page, fresh, more)) if more else both
    made = re.search(r"prediction = \d+", solution_of(name))
    if made and "not-predicted: " not in mistakes:
        mistakes += NOT_PREDICTED.format(len(claims), made[0])
    if EVERY_SEED in solution_of(name):
        mistakes += COUNTED_ANEW
    return question(
        name,
        returns=("prediction", table, "conclusion"),
        properties=[
            predicted(points[0], page, len(claims)),
            values(rows or f"the {table} of every seed", points[1], every, table, tolerance=tolerance),
            concluded(points[2], both, *map(_claim, claims), within=within),
        ],
        mistakes=mistakes,
        numpy=numpy,
        closed=closed,
    )


CLAIM = re.compile(r"(?:([\d./]+) \* )?(\d+) ([<~]) (\d+)")


def _claim(text: str) -> Claim:
    found = [CLAIM.fullmatch(part) for part in text.split(", ")]
    if not all(found):
        raise ValueError(f"a claim has the form “0 < 1” or “0 ~ 1”, several with a comma between them, got {text!r}")
    kinds = {"<": "lower", "~": "undecided"}
    made = [[kinds[m[3]], int(m[2]), int(m[4]), *([float(Fraction(m[1]))] if m[1] else [])] for m in found if m]
    return made[0] if len(made) == 1 else made
