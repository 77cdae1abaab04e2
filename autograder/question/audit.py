"""What must be true of an exercise, and of the notebook that asks it, before either reaches a student.

An exercise whose reference loses a point, or with a misconception that passes or is not recognised, does not
build; nor does a notebook whose test cells would give a wrong mark. Every function returns a list of faults, one
sentence each; an empty list means that all is well.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import combinations, groupby
from typing import Any

from autograder.question.closed import check_closed
from autograder.question.interview import answers, questions, right_answers
from autograder.question.mistakes import alike, known_mistakes, name_mistakes, planted_answers
from autograder.question.outcome import COUNTED
from autograder.question.public import write
from autograder.question.questions import check_calls, is_dotted, is_text, stated
from autograder.question.specification import Exercise
from autograder.question.travel import CannotTravel
from autograder.question.verdict import GraderFault, Verdict, judge

HIDDEN_SEEDS = range(3)
RIGHT = re.compile(r"(?:^|[.:] )(?:The|Your|Both|This|Gate|the)\b[^.:]* (?:is|are|look) right\b")
"""A message that praises a part."""
SECONDS, EXPERIMENT = 2.0, 4.0
"""Processor time that the reference may take for all questions of one exercise, including hidden ones; an experiment
runs the student's code for several seeds, and counting multiplications takes time."""


def exercise_faults(exercise: Exercise) -> list[str]:
    """The reference earns everything and is quick, every misconception fails and is named, no two look the same,
    and closed names exist."""
    checks = _reference_faults, _misconception_faults, _twins, _planted_faults, _closed_faults
    try:
        return [fault for faults in checks for fault in faults(exercise)]
    except GraderFault as fault:  # the reference itself fails, so there is nothing to compare with
        return [str(fault)]


def travel_faults(exercise: Exercise) -> list[str]:
    """Whether students can get the exercise as data, that is, whether its judges are in modules that students have."""
    try:
        write({exercise.name: exercise})
    except CannotTravel as error:
        return [str(error)]
    return []


def _closed_faults(exercise: Exercise) -> Iterator[str]:
    for name in exercise.closed:
        try:
            check_closed(name)
        except ValueError as error:
            yield f"{exercise.name}: the {error}"


def verdict_on(exercise: Exercise, function: Any, seed: int | None = None) -> Verdict:
    """The verdict on a function that may use closed names, as the reference does."""
    asked = questions(exercise, seed)
    return judge(exercise, asked, answers(function, exercise, asked), seed=seed)


def _reference_faults(exercise: Exercise) -> Iterator[str]:
    right_answers(exercise)  # first, since what is made at the first call should not count as slow
    public = answers(exercise.reference, exercise, questions(exercise))
    for seed in (None, *HIDDEN_SEEDS):
        asked = questions(exercise, seed)
        given = [*public, *answers(exercise.reference, exercise, asked[len(public) :])]
        verdict = judge(exercise, asked, given, seed=seed)
        most = EXPERIMENT if "conclusion" in exercise.chosen or exercise.returns[-1] == COUNTED else SECONDS
        if seed == HIDDEN_SEEDS[0] and verdict.together >= most:
            yield (
                f"{exercise.name}: the reference takes {verdict.together:.1f} s for the questions, and should take less"
                f" than {most:g}: a class waits for it once per student. Smaller or fewer cases will do"
            )
        failed = {f.about.name: f.complaint for f in verdict.findings if not f.holds}
        for question, row in zip(asked, given, strict=True):  # a verdict asks no judge about exact answers
            complaint = question.about.judge(question.case, row, row)
            if complaint and seed is None:  # of a rare fresh input, a law may say nothing
                failed.setdefault(question.about.name, complaint)
        for name, why in failed.items():
            yield f"{exercise.name}: the reference fails “{name}” with seed {seed}: {why}"
    for row in right_answers(exercise):
        if any(o.is_floating_point() and o.isnan().any() for outcome in row for o in outcome.outputs):
            yield f"{exercise.name}: the reference gives NaN, which is never right"


def _misconception_faults(exercise: Exercise) -> Iterator[str]:
    ways = groupby(known_mistakes(exercise), lambda known: known.misconception)
    for mistake, known_ways in ways:
        for number, known in enumerate(known_ways):
            verdict = judge(exercise, questions(exercise), known.given)
            what = f"{exercise.name}: the misconception {mistake.id!r}{f' (way {number + 1})' if number else ''}"
            names = {m.id for m in verdict.misconceptions}
            if number == 0 and RIGHT.search(mistake.sentence) and verdict.points < 0.5:
                yield f"{what} earns nothing, while its message calls something right: {mistake.sentence}"
            if verdict.passed:
                yield f"{what} passes the visible check"
            elif not names & {mistake.id, *mistake.looks_like}:
                yield f"{what} is called {', '.join(names) or 'nothing'}"
            for finding in verdict.findings:
                named = None if finding.misconception is None else finding.misconception.id
                alone = number == 0 and named not in (mistake.id, *mistake.looks_like)
                if not finding.holds and (named is None or alone):
                    yield f"{what} fails “{finding.about.name}” and is called {named or 'nothing'} there"


def _planted_faults(exercise: Exercise) -> Iterator[str]:
    """What students get to mend is worth nothing as it is, and no message names its mistake."""
    if exercise.planted is None:
        return
    asked, given = questions(exercise), planted_answers(exercise)
    verdict = judge(exercise, asked, given)
    for finding in verdict.findings:
        if finding.holds:
            yield f"{exercise.name}: the planted bug passes “{finding.about.name}”"
    named = name_mistakes(exercise, [finding.about for finding in verdict.findings], asked, given)
    for id_ in sorted({mistake.id for mistake in named.values()}):
        yield f"{exercise.name}: the misconception {id_!r} gives away the planted bug"


def _twins(exercise: Exercise) -> list[str]:
    return sorted(
        {
            f"{exercise.name}: on the public inputs the misconceptions {one.misconception.id!r} and"
            f" {other.misconception.id!r} cannot be told apart"
            for one, other in combinations(known_mistakes(exercise), 2)
            if one.misconception is not other.misconception
            and other.misconception.id not in one.misconception.looks_like
            and one.misconception.id not in other.misconception.looks_like
            and all(alike(a, b, exercise) for a, b in zip(one.given, other.given, strict=True))
        }
    )


# --- the notebook -----------------------------------------------------------------------------------------


AFTER_A_MARK = re.compile(r"\s*### *(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)[ \t]*\S")


def notebook_faults(notebook: Any, exercises: Mapping[str, Exercise]) -> list[str]:
    """Whether a source notebook asks these exercises, each in one test cell that marks it correctly.

    A test cell shows the visible check and ends with the hidden one, whose value is the mark; the points in
    its metadata are the exercise's; the text says the minutes, points and difficulty of the declaration.
    """
    found, asked = [], []
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for line in "\n".join(cell.source for cell in notebook.cells).split("\n"):
        if AFTER_A_MARK.match(line):
            found.append(f"text on the line of a mark is lost; put it on the next line: {line.strip()[:80]}")
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or not about.get("grade") or "check(" not in cell.source:
            continue
        where = f"test cell {about.get('grade_id')!r}"
        found += [f"{where}: {fault}" for fault in _form_faults(cell.source)]
        names = [name for name, _ in _checks(cell.source)]
        if not names or not _ends_with_hidden_check(cell.source):
            found.append(f"{where} must end with check(…, hidden=True) as its last line, in the hidden region")
        for name in sorted(set(names)):
            asked.append(name)
            if name not in exercises:
                found.append(f"{where} checks {name!r}, which is not declared")
            elif float(about.get("points", -1)) != exercises[name].points:
                found.append(f"{where} gives {about.get('points')} points, {name} has {exercises[name].points:g}")
    absent = {n: set(exercise.closed) for n, exercise in exercises.items() if not exercise.numpy}
    own = [
        {n: names for n, names in absent.items() if n.partition(".")[0] == assignment}
        for assignment in {name.partition(".")[0] for name in absent}
    ]  # a sheet has questions of several
    for names_of, full in ((each, full) for each in own for full in sorted(set().union(*each.values()))):
        if open_in := [name for name, names in names_of.items() if full not in names]:
            found.append(f"{full} is closed in some questions and not in {', '.join(open_in)}: close it in all of them,"
                         " for a notebook is graded without it from beginning to end")  # fmt: skip
    for name, exercise in exercises.items():
        if asked.count(name) != 1:
            found.append(f"{name} is asked in {asked.count(name)} test cells of the notebook, not in one")
        if stated(exercise) not in text:
            found.append(f"the text of {name} should say: {stated(exercise)}")
    return found


def _checks(source: str) -> list[tuple[str, bool]]:
    """(exercise, hidden) for every call of `check` with a name."""
    named = [call for call in check_calls(source) if call.args and is_text(call.args[0])]
    return [(ast.literal_eval(call.args[0]), any(k.arg == "hidden" for k in call.keywords)) for call in named]


def _form_faults(source: str) -> Iterator[str]:
    """Calls of `check` that the grader could not follow, since it calls the named function itself instead of running
    the cell."""
    hidden: set[str] = set()
    told: set[str] = set()
    for call in check_calls(source):
        keywords = [(k.arg, isinstance(k.value, ast.Constant) and k.value.value is True) for k in call.keywords]
        good = len(call.args) == 2 and keywords in ([], [("hidden", True)])
        if not good or not is_text(call.args[0]) or not is_dotted(call.args[1]):
            yield (
                f'{ast.unparse(call)} should have the form check("assignment.function", function) or'
                ' check("assignment.function", function, hidden=True), with a plain name, dots allowed, as the function'
            )
        else:
            (hidden if keywords else told).add(ast.unparse(call.args[1]))
    if len(hidden) > 1 or (hidden and told and hidden != told):
        yield f"it checks different functions: {', '.join(sorted(hidden | told))}"


def _ends_with_hidden_check(source: str) -> bool:
    body = ast.parse(source).body
    if not body or not isinstance(body[-1], ast.Expr):
        return False
    lines = [line for line in source.split("\n") if line.strip() and not line.strip().startswith("#")]
    return any(hidden for _, hidden in _checks(ast.unparse(body[-1]))) and not lines[-1].rstrip().endswith(";")
