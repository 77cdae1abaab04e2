'''How an exercise of the course is declared: everything that its source notebook does not say already.

    LEAKY = question(
        "gates.leaky",
        returns=("states", "left"),
        inputs=leaking,
        properties=[shapes(0.25), values("the states", 1.25, "states"), values("odd sizes", 0.5, ODD)],
        mistakes="""
    written-in-full: You added the new value in full. Mixing takes g of the old state and 1 − g of the new value.
    - (1 - g) * r → r
    """,
    )

A property is about cases: `MAIN`, if it names none, or `ODD`, which the machine makes from the function `inputs`
(`autograder.question.sized`), rows `at(…)` of these inputs, or any other functions that draw some.

Title, minutes, difficulty, core or more, reference, signature and the names of the arguments come from the source
notebook: from the heading above the solution, and the solution. A mistake is an edit of that solution:

    id: the message, as long as it needs to be; ids are counted over a class, so never rename them
    - text that occurs exactly once in the solution → its replacement (none: the text is deleted)
    * text that is replaced wherever it occurs → its replacement
    ^ a line that is added before the first one

Several edits may follow one another. For text of several lines, repeat the mark on each line and put the replacement
on lines with a `+` instead of the arrow; `+` lines alone are a whole new solution. A line `or` starts a different way
of making the same mistake. A line `after: id` applies the edits of that mistake first. A line `looks like: id, id`
names mistakes that give the same answers everywhere. A line after these that is none of them begins the next mistake.
An edit that does not apply is an error when the declaration is imported.'''

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Literal, cast

from autograder.assignments import CHECKOUT, SOURCE
from autograder.question.edits import Edit, Master, edited, master_of
from autograder.question.hints import nearly
from autograder.question.judges import (
    TOLERANCE,
    and_inputs_unchanged,
    at_most,
    in_any_order,
    keeps_inputs,
    law,
    same_shapes,
    same_values,
)
from autograder.question.kinds import with_every_kind
from autograder.question.listing import EditError
from autograder.question.outcome import COUNTED
from autograder.question.rooms import with_what_is_built_on
from autograder.question.sized import MAIN, ODD, At, Inputs, at, of_question, these, usual
from autograder.question.specification import Both, Cases, Exercise, Judge, Misconception, Property

Difficulty = Literal["easy", "medium", "hard"]
Row = Callable[[tuple[str, ...]], Property]
"""A property that still needs the names of the results."""


Which = tuple[int, ...] | None
"""The numbers of the results that a property names; None if it names none, which means all."""


def row_of(
    name: str, points: float, cases: Cases, results: Sequence[str], judge: Callable[[tuple[str, ...], Which], Judge]
) -> Row:
    """A property that a judge of (the names of all results, the numbers of the named ones) decides; a mistake is
    recognised by the named results."""

    def row(names: tuple[str, ...]) -> Property:
        which = tuple(names.index(result) for result in results) or None
        return Property(name=name, points=points, cases=cases, judge=judge(names, which), outputs=which)

    return row


def shapes(points: float, cases: Cases = MAIN, name: str = "the shapes are right", boolean: bool = False) -> Row:
    return row_of(name, points, cases, (), lambda names, which: same_shapes(names, boolean))


def judged(name: str, points: float, cases: Cases, judge: Judge, *results: str) -> Row:
    """A property that a judge decides; a mistake is recognised by the named results (all results if none is named)."""
    return row_of(name, points, cases, results, lambda names, which: judge)


def values(name: str, points: float, *about: Cases | str, tolerance: float = TOLERANCE) -> Row:
    """The named results are the reference's (all results if none is named), in the cases that stand before them."""
    return row_of(name, points, *_apart(about), lambda names, which: same_values(names, which, tolerance))


def any_order(name: str, points: float, *about: Cases | str) -> Row:
    """The named results contain the reference's numbers (all results if none is named), wherever they stand: who sorts
    them differently keeps these points."""
    return row_of(name, points, *_apart(about), in_any_order)


def _apart(about: Sequence[Cases | str]) -> tuple[Cases, list[str]]:
    """(the cases that a property names, else `MAIN`, the results that it names)."""
    kinds = [one for one in about if not isinstance(one, str)]
    rows = [one for one in kinds if isinstance(one, At)]
    cases = these(*rows) if rows and rows == kinds else Both(tuple(kinds))
    return kinds[0] if len(kinds) == 1 else cases if kinds else MAIN, [one for one in about if isinstance(one, str)]


def inputs_too(row: Row) -> Row:
    """The same, and the caller's tensors and lists are unchanged; the name should say both."""
    return lambda names: _kept(row(names))


def _kept(prop: Property) -> Property:
    return replace(prop, judge=and_inputs_unchanged(prop.judge))


def frugal(name: str, points: float, cases: Cases, *results: str) -> Row:
    """The named results (all, if none is named) are right, and the matrix products take at most twice the
    multiplications that the reference's take; for a question with `counted=True`."""

    def row(names: tuple[str, ...]) -> Property:
        which = tuple(index for index, result in enumerate(names) if result in (results or names))
        return replace(judged(name, points, cases, at_most(names, which, 2.0))(names), outputs=(*which, len(names)))

    return row


def holds(name: str, points: float, cases: Cases, *rules: Any, about: Sequence[str] = ()) -> Row:
    """The rules of a law hold between the results; a mistake is recognised by the results that the law is about."""
    return judged(name, points, cases, law(*rules), *about)


def question(
    name: str,
    *,
    returns: tuple[str, ...],
    properties: Iterable[Row],
    mistakes: str,
    inputs: Inputs | At | None = None,
    main: Cases | None = None,
    odd: Sequence[At] = (),
    closed: Sequence[str] = (),
    planted: str = "",
    chosen: tuple[str, ...] = (),
    together: str = "",
    tolerance: float = TOLERANCE,
    numpy: bool = False,
    counted: bool = False,
) -> Exercise:
    """The exercise "assignment.function" of the checkout that contains the calling module.

    `inputs` makes the cases `MAIN`, which is the row `main` or `these` rows, and `ODD`, among them the rows `odd`. It
    may be the row of `MAIN` itself. `planted`: the edit that makes the bug which students get to find and mend, in one
    line. `chosen`: results that they choose, `CHOSEN` unless given. `together`: the question with which this one
    counts. All three: `autograder.question.special`. `numpy`: the function gets and returns NumPy arrays, and so do the
    solution and its edits; it runs where only Python and NumPy are, so there is nothing to close. `counted`: what the
    matrix products of a call cost is counted, for `frugal`.

    Raises EditError, a ValueError, if the source notebook has no such solution or a mistake's edit does not apply to
    it.
    """
    if numpy and closed:
        raise ValueError(f"{name}: with numpy=True there is nothing to close")
    if isinstance(inputs, At):
        main, inputs = inputs, inputs.inputs
    own: dict[Cases, Cases] = {}
    if inputs:
        own = {MAIN: of_question(main or at("a batch"), "", inputs, {}), ODD: usual(inputs, odd)}
    made = (row(returns) for row in properties)
    rows = [replace(prop, cases=of_question(prop.cases, prop.name, inputs, own)) for prop in made]
    if counted:  # "all results" are those that the function returns
        rows = [replace(row, outputs=row.outputs or tuple(range(len(returns)))) for row in rows]
        returns += (COUNTED,)
    assignment, _, function = name.partition(".")
    master = master_named(assignment)
    minutes, difficulty, core = master.estimate(function)
    return Exercise(
        name=name,
        title=master.title(function),
        signature=master.signature(function),
        arguments=master.arguments(function),
        returns=returns,
        minutes=minutes,
        difficulty=cast(Difficulty, difficulty),
        core=core,
        nearly=nearly(master.above(function), master.solution(function)),
        reference=master.make(function),
        properties=_inputs_kept(with_every_kind(rows)),
        misconceptions=tuple(_misconceptions(mistakes, master, name)),
        closed=with_what_is_built_on(closed),
        numpy=numpy,
        planted=_planted(planted, master, name),
        chosen=chosen or tuple(name for name in CHOSEN if name in returns),
        together=together,
        tolerance=tolerance,
    )


def master_named(assignment: str) -> Master:
    return master_of(CHECKOUT / SOURCE / assignment / f"{assignment}.py")


def solution_of(name: str) -> str:
    """The text of the solution of "assignment.function"."""
    assignment, _, function = name.partition(".")
    return master_named(assignment).solution(function)


KEPT = 0.5
"""Points in every question for leaving the caller's tensors and lists unchanged."""


CHOSEN = ("prediction", "conclusion")
"""Results that students choose in every experiment."""


def _inputs_kept(properties: Sequence[Property]) -> tuple[Property, ...]:
    """If no property checks that the inputs are unchanged, the last properties do, as many as make up `KEPT` points."""
    if any(keeps_inputs(prop.judge) for prop in properties):
        return tuple(properties)
    kept, points = list(properties), 0.0
    for number, prop in reversed(list(enumerate(properties))):
        if points >= KEPT:
            break
        points += prop.points
        kept[number] = _kept(prop)
    return tuple(kept)


def ways(edits: str, *values: object) -> str:
    """Further ways of making the last mistake of a text: the edits with each of the values instead of {}."""
    return "".join(f"or\n{edits.format(value).strip()}\n" for value in values)


def exercises_in(package: str) -> Mapping[str, Exercise]:
    """The exercises that `solutions.NAME.checks` and its modules declare, by name, in the order of the source
    notebook."""
    checks = sys.modules[package]
    inside = pkgutil.iter_modules(getattr(checks, "__path__", ()))
    modules = [checks, *(importlib.import_module(f"{package}.{module.name}") for module in inside)]
    found = {e.name: e for module in modules for e in vars(module).values() if isinstance(e, Exercise)}
    assignment = package.split(".")[1]
    master = master_named(assignment)
    order = {f"{assignment}.{function}": number for number, function in enumerate(master.functions)}
    return {name: found[name] for name in sorted(found, key=lambda name: order[name])}


# --- mistakes ---------------------------------------------------------------------------------------------

EDIT = re.compile(r"[-*^+]( |$)|or$|after: |looks like: ")


def _misconceptions(text: str, master: Master, name: str) -> Iterator[Misconception]:
    blocks = [_block(block, name) for block in _apart_by_edits(text)]
    lines_of = {id_: lines for id_, _, lines in blocks}
    for id_, said, lines in blocks:
        try:
            looks_like, (first, *also) = _made(lines, lines_of, master, name)
        except (EditError, SyntaxError, RecursionError) as error:
            raise EditError(f"{name}, mistake {id_!r}: {error}") from None
        yield Misconception(id=id_, sentence=said, implementation=first, also=tuple(also), looks_like=looks_like)


def _planted(text: str, master: Master, name: str) -> Callable[..., Any] | None:
    if not text:
        return None
    try:
        _, (planted,) = _made(text.strip("\n").split("\n"), {}, master, name)
    except (SyntaxError, ValueError) as error:
        raise EditError(f"{name}, planted: {error}") from None
    return planted


def _made(
    lines: Sequence[str], lines_of: Mapping[str, Sequence[str]], master: Master, name: str
) -> tuple[tuple[str, ...], list[Callable[..., Any]]]:
    """(ids of mistakes that look the same, the function that each way of making the edits gives)."""
    function = name.rpartition(".")[2]
    looks_like, ways = _ways(lines, lines_of)
    return looks_like, [master.make(function, edited(master.solution(function), way)) for way in ways]


def _apart_by_edits(text: str) -> list[str]:
    """The mistakes of a text: each ends with edits, and whatever follows them is the next."""
    blocks: list[list[str]] = [[]]
    for line in filter(str.strip, text.split("\n")):
        if blocks[-1] and EDIT.match(blocks[-1][-1]) and not EDIT.match(line):
            blocks.append([])
        blocks[-1].append(line)
    return ["\n".join(lines) for lines in blocks]


def _block(block: str, name: str) -> tuple[str, str, list[str]]:
    """(id, sentence, the lines below it) of one mistake."""
    head = re.match(r"([a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*): (.*)", block)
    if head is None:
        raise EditError(f"{name}: a mistake begins with “id: sentence”, and this one does not: {block[:60]!r}")
    said, lines = head[2], block.split("\n")[1:]
    while lines and not EDIT.match(lines[0]):
        said += f" {lines.pop(0).strip()}"
    return head[1], said, lines


def _ways(lines: Iterable[str], lines_of: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], list[list[Edit]]]:
    """(ids of mistakes that look the same, the edits of each way) of a mistake's lines below its sentence. `lines_of`:
    those of every mistake of the question, by id."""
    looks_like: tuple[str, ...] = ()
    ways: list[list[Edit]] = [[]]
    last = ""  # the mark of an edit that the next line may go on with
    for line in lines:
        way, mark, text = ways[-1], line[:1], line[2:]
        find, arrow, new = text.partition(" →")
        if line == "or":
            ways.append([])
        elif line.startswith("after: "):
            other = line.removeprefix("after: ")
            if other not in lines_of:
                raise EditError(f"there is no mistake {other!r} whose edits could come first")
            way += _ways(takewhile(lambda line: line != "or", lines_of[other]), lines_of)[1][0]
        elif line.startswith("looks like: "):
            looks_like = tuple(line.removeprefix("looks like: ").split(", "))
        elif arrow and mark in "-*":
            way.append(Edit(mark, [find], [new[1:]]))
            mark = ""
        else:
            if mark != last and not (mark == "+" and way):
                way.append(Edit(mark, [], []))
            (way[-1].find if mark in "-*" else way[-1].new).append(text)
        last = mark
    if not all(ways):
        raise EditError("there is no edit")
    return looks_like, ways
