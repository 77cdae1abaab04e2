"""What a student runs: `check("attention.dot_score", dot_score)`.

It checks every property on small public inputs and says which hold and, if the outputs look like a known mistake, which
mistake. A wrong function stops the cell; an unwritten one does not, so "run all" gets through.

In a test cell's hidden region, `check(..., hidden=True)` does the same on fresh random inputs and shows none of them.
Its value is the mark: nbgrader reads a number that a test cell displays as partial credit. While nbgrader grades (it
sets NBGRADER_EXECUTION=autograde), the visible check does not stop the cell, so that the hidden one is reached.

A function that passes the visible check in a notebook is put into the student's library (`autograder.mine`).

`failing` returns the input that the visible check shows, the smallest known on which the function fails. `show_rows`
prints the table of an experiment, for the data and the seeds of its page.

A student's copy of the course has exercises as data (`autograder.question.public`) instead of their declarations
(`solutions`): enough for the visible check, not for the hidden one.
"""

import contextlib
import copy
import io
import os
import secrets
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from autograder.mine import keep, mine
from autograder.mine import shell as _shell
from autograder.mine.saving import in_an_empty_cell, still
from autograder.mine.shelf import name_of, ran
from autograder.question import alone
from autograder.question.closed import absent_home
from autograder.question.find import exercises_of, find, is_asked_for
from autograder.question.hints import in_disorder
from autograder.question.interview import Watcher, heard_answers, questions, unwatched
from autograder.question.missing import missing
from autograder.question.mistakes import alike
from autograder.question.outcome import COUNTED, GENERATOR, arrays, call, undisturbed
from autograder.question.report import Report
from autograder.question.smaller import smallest
from autograder.question.specification import Exercise
from autograder.question.verdict import Finding, GraderFault, Verdict, judge
from autograder.question.waiting import Watch

__all__ = ["CheckFailed", "Failing", "GraderFault", "Mark", "check", "failing", "passes", "show_rows"]

_failed: dict[str, Finding | None] = {}
"""What the latest visible check of each exercise showed as its example."""
_passed: set[str] = set()
"""The exercises that have passed a visible check in this notebook."""

INSTRUCTOR = {"nlm-course": {"audience": "instructor"}}  # metadata of an output that feedback to students leaves out


class CheckFailed(AssertionError):  # noqa: N818  (said to students and instructors, not an Error to them)
    """The function is not right yet. Jupyter shows its text without a traceback."""

    def __init__(self, report: Report, shown: bool) -> None:
        """shown: the report is already on the screen; then the error says only that it stands there."""
        super().__init__("See above for what is missing." if shown else str(report))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        """What IPython prints instead of a traceback."""
        return str(self).split("\n")


class Mark:
    """Points earned on fresh inputs. Displayed as a bare number, which is what nbgrader reads."""

    def __init__(self, verdict: Verdict) -> None:
        self.points = verdict.points
        self.of = verdict.exercise.points

    def __repr__(self) -> str:
        return f"{self.points:g}"

    def _repr_html_(self) -> str:
        return f"<p>Mark: {self.points:g} of {self.of:g}</p>"


def check(name: str, function: Callable[..., Any], *, hidden: bool = False) -> Mark | None:
    """Check `function` against the exercise `name`, and report the result.

    Visible: shows a report; raises CheckFailed if something written is wrong. Hidden: shows a report without
    inputs and returns the mark, whatever it is. Raises ValueError for an unknown exercise, TypeError for
    something that cannot be called.
    """
    exercise = find(name)
    grading = os.environ.get("NBGRADER_EXECUTION", "")
    verdict = examine(exercise, function, hidden_seed(secrets.randbits(32)) if hidden else None)
    if not (hidden or grading or verdict.unwritten or _may_be_told(exercise)):
        mended = exercise.together.rpartition(".")[2]
        print(f"{exercise.function}: noted. Whether it is right is told by the check of {mended}, once that passes.")
        return None
    if not hidden:
        looked_for = not verdict.closed and (not verdict.unwritten or exercise.planted is not None)
        with Watch(exercise) as watch:
            _failed[name] = smallest(exercise, verdict, function, watch) if looked_for else None
    tried = not (hidden or verdict.passed or verdict.unwritten or grading)
    hints = [*exercise.nearly, *in_disorder(exercise)] if tried else ()
    remarks = [] if hidden else [*_remarks(exercise, function), *(still(exercise) if tried else ())]
    remarks += _unsteady(exercise, function, _failed[name]) if tried else []
    report = Report(verdict) if hidden else Report(verdict, _failed[name], remarks, hints)
    if hidden:
        _show(report)
        if not verdict.passed:
            words = f"Hidden inputs of {name}: NLM_HIDDEN_SEED={verdict.seed} repeats them."
            _show(words, raw=True, metadata=INSTRUCTOR)
        return Mark(verdict)
    if grading == "autograde":
        _show(report)
        return Mark(verdict)
    if verdict.passed or (verdict.unwritten and grading != "validate"):
        _show(report)
        if verdict.passed and not grading:
            said = keep(exercise, function, lambda kept: examine(exercise, kept, None).passed)
            print(said, end="\n" if said else "")
            _passed.add(name)
            _tell(exercise)
        return None
    raise CheckFailed(report, shown=grading != "validate" and _in_notebook() and _show(report))


def _may_be_told(exercise: Exercise) -> bool:
    """Whether a notebook says yet if an answer is right: of a line that was guessed, not before its code is mended."""
    return not exercise.together or exercise.together in _passed or _shell() is None


def _tell(mended: Exercise) -> None:
    """Report on the line that was said to be wrong, now that the code is right."""
    names = getattr(_shell(), "user_ns", {})
    for other in exercises_of(mended.name.partition(".")[0]).values():
        if other.together == mended.name and callable(names.get(other.function)):
            verdict = examine(other, names[other.function], None)
            if not verdict.unwritten:
                _show(Report(verdict))


def has_failed(name: str) -> bool:
    """Whether the latest visible check of the exercise found a mistake."""
    return _failed.get(name) is not None


class Failing(NamedTuple):
    """An input on which a function fails."""

    inputs: tuple[Any, ...]
    expected: Any
    """The right result: a tensor (or an array, as the inputs) or a number; of several results, a tuple of them; None
    for a chosen one."""


def failing(name: str) -> Failing:
    """The input that the latest check of the exercise `name` showed, and the right result for it, for looking for the
    mistake:

        inputs, expected = failing("ngrams.count_bigrams")
        count_bigrams(*inputs)

    Raises ValueError if that check found nothing, or was not run.
    """
    exercise, finding = find(name), _failed.get(name)
    if finding is None or finding.case is None:
        raise ValueError(
            f"the latest check of {name} showed no failing input"
            if name in _failed
            else f"run the check of {name} first: it finds the input"
        )
    index = finding.telling_call
    right = finding.expected[index].outputs
    results: Any = tuple(
        None if result in exercise.chosen else tensor.clone() if tensor.ndim else tensor.item()
        for result, tensor in zip(exercise.returns, right, strict=True)
        if result != COUNTED
    )
    inputs = copy.deepcopy(finding.case.calls[index])
    if exercise.numpy:
        inputs, results = arrays(inputs), arrays(results)
    return Failing(inputs, results if len(results) > 1 else results[0])


def show_rows(name: str, function: Callable[..., Any], *columns: str) -> None:
    """Print the table that `function`, an experiment, makes of the data and the seeds that its page describes: a row
    for each seed. columns: what stands in them."""
    exercise = find(name)
    case = next(question.case for question in questions(exercise) if question.case.known)
    (given,) = case.calls
    number = next(n for n, result in enumerate(exercise.returns) if result not in exercise.chosen)
    with Watch(exercise) as watch:
        watch(case, given)
        outcome = call(function, given, exercise.arguments, exercise.returns, exercise.numpy)
    if outcome.fault is not None:
        written = outcome.fault.kind != "NotImplementedError"
        print(f"{exercise.function}: {outcome.fault.words}" if written else come_back(exercise.function))
        return
    table = outcome.outputs[number]
    if table.ndim != 2:
        print(f"{exercise.function}: {exercise.returns[number]} should have one row for each seed.")
        return
    wide = max(map(len, columns))
    print(f"seed  {'  '.join(f'{column:>{wide}}' for column in columns)}")
    for seed, row in zip(given[-1], table.tolist(), strict=False):
        print(f"{seed:4}  {'  '.join(f'{value:{wide}.4g}' for value in row)}")


def come_back(function: str) -> str:
    """What a cell says that needs a function that is not there yet."""
    return f"Come back here when {function} is written and its cell has been run."


def explain_missing(shell: Any, kind: type, error: NameError, trace: Any, tb_offset: int | None = None) -> None:
    """IPython's handler of a NameError: a cell that itself names a function that the course asks for needs no
    traceback. In a function, the name may be a variable's."""
    *_, (frame, _) = traceback.walk_tb(trace)
    if frame.f_code.co_name == "<module>" and error.name and is_asked_for(error.name):
        shell._showtraceback(kind, error, [come_back(error.name)])
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _remarks(exercise: Exercise, function: Callable[..., Any]) -> list[str]:
    """What the text of an answer says about it, beside its values."""
    shell = _shell()
    cells = ran(shell) if shell is not None else []
    without_torch = (
        missing(function, cells, lambda value: absent_home(value, alone.is_absent)) if exercise.numpy else []
    )
    theirs = name_of(function)
    borrowed = [exercise.function] if theirs else missing(function, cells, lambda value: value is mine, themselves=True)
    return [
        *(
            f"Your function reads `{name}`, which your notebook makes with something that the grader does not have in"
            " this question: only Python and NumPy are there. Make it with NumPy, or the grader will not find it."
            for name in without_torch
        ),
        *(
            f"`{name}` comes from your library, and the grader has none: there `mine` gives None, and `@own` the"
            f" function below it. {in_an_empty_cell(theirs or 'assignment.function')}"
            for name in borrowed
        ),
    ]


def _unsteady(exercise: Exercise, function: Callable[..., Any], finding: Finding | None) -> list[str]:
    """That a function gives two results for the same input, where the reference draws nothing."""
    if finding is None or finding.case is None or exercise.chosen:
        return []
    index = finding.telling_call
    if GENERATOR in finding.expected[index].changed:
        return []
    with undisturbed():
        again = call(function, finding.case.calls[index], exercise.arguments, exercise.returns, exercise.numpy)
    if alike((finding.got[index],), (again,), exercise):
        return []
    return [
        "Called twice with the same input, your function returns two different results. It draws random numbers of its"
        " own, or keeps something from one call to the next: a global variable, or a list as a default argument."
    ]


def passes(name: str, function: Callable[..., Any]) -> bool:
    """Whether the visible check would pass. Prints nothing, unless a call takes longer than the grader gives it."""
    exercise = find(name)
    return _may_be_told(exercise) and examine(exercise, function, None).passed


def examine(exercise: Exercise, function: Callable[..., Any], seed: int | None) -> Verdict:
    """The verdict on a function in this very process; with a seed, on hidden inputs too. Whatever the function prints
    on hidden inputs is dropped, because it could print them."""
    if not callable(function):
        raise TypeError(f"check needs the function itself, got {type(function).__name__}: {function!r}")
    asked = questions(exercise, seed)
    with contextlib.ExitStack() as around:
        if seed is None:
            watch: Watcher = around.enter_context(Watch(exercise))
        else:
            watch = unwatched
            around.enter_context(contextlib.redirect_stdout(io.StringIO()))
            around.enter_context(contextlib.redirect_stderr(io.StringIO()))
        given, used = heard_answers(function, exercise, asked, exercise.closed, watch)
        if used and seed is None:  # what it refused hides the other mistakes
            given, _ = heard_answers(function, exercise, asked, (), watch)
    return judge(exercise, asked, given, closed=used, seed=seed)


def hidden_seed(drawn: int) -> int:
    """The seed in NLM_HIDDEN_SEED, which repeats hidden inputs; if it is not set, the random one."""
    given = os.environ.get("NLM_HIDDEN_SEED", "")
    if given and not given.isdecimal():
        raise ValueError(f"NLM_HIDDEN_SEED must be an integer, got {given!r}")
    return int(given) if given else drawn


def _in_notebook() -> bool:
    return _shell() is not None


def _show(shown: Report | str, **options: Any) -> bool:
    if _in_notebook():
        from IPython.display import display

        display({"text/plain": shown} if options else shown, **options)  # type: ignore[no-untyped-call]
    else:
        print(shown)
    return True


if (_here := _shell()) is not None:
    _here.set_custom_exc((NameError,), explain_missing)
