"""What a student runs: `check("attention.dot_score", dot_score)`.

It checks every property on small public inputs and says which hold and, if the outputs look like a known mistake, which
mistake. A wrong function stops the cell; an unwritten one does not, so "run all" gets through.

In a test cell's hidden region, `check(..., hidden=True)` does the same on fresh random inputs and shows none of them.
Its value is the mark: nbgrader reads a number that a test cell displays as partial credit. While nbgrader grades (it
sets NBGRADER_EXECUTION=autograde), the visible check does not stop the cell, so that the hidden one is reached.

`failing` returns the input that the visible check shows, the smallest known on which the function fails.

A student's copy of the course has exercises as data (`autograder.exercise.public`) instead of their declarations
(`autograder.checks`): enough for the visible check, not for the hidden one.
"""

import contextlib
import copy
import io
import os
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

from autograder.exercise.find import find
from autograder.exercise.interview import heard_answers, questions
from autograder.exercise.mentions import mentioned_by
from autograder.exercise.outcome import arrays
from autograder.exercise.report import Report
from autograder.exercise.smaller import smallest
from autograder.exercise.specification import Exercise
from autograder.exercise.verdict import Finding, GraderFault, Verdict, judge

__all__ = ["CheckFailed", "Failing", "GraderFault", "Mark", "check", "failing", "passes"]

_failed: dict[str, Finding | None] = {}
"""What the latest visible check of each exercise showed as its example."""

INSTRUCTOR = {"nlm-course": {"audience": "instructor"}}  # metadata of an output that feedback to students leaves out


class CheckFailed(AssertionError):  # noqa: N818  (said to students and instructors, not an Error to them)
    """The function is not right yet. Its text is the whole report; Jupyter shows it without a traceback."""

    def __init__(self, report: Report, shown: bool) -> None:
        super().__init__(str(report))
        self.report = report
        self._shown = shown

    def _render_traceback_(self) -> list[str]:
        """What IPython prints instead of a traceback: one line if the report is already on the screen."""
        if self._shown:
            return [f"{self.report.headline} See above for what is missing."]
        return str(self.report).split("\n")


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
    if not hidden:
        looked_for = not verdict.closed and (not verdict.unwritten or exercise.planted is not None)
        _failed[name] = smallest(exercise, verdict, function) if looked_for else None
    named = () if hidden else mentioned_by(function, exercise.closed)
    report = Report(verdict, None if hidden else _failed[name], named)
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
        return None
    raise CheckFailed(report, shown=grading != "validate" and _in_notebook() and _show(report))


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
    )
    inputs = copy.deepcopy(finding.case.calls[index])
    if exercise.numpy:
        inputs, results = arrays(inputs), arrays(results)
    return Failing(inputs, results if len(exercise.returns) > 1 else results[0])


def passes(name: str, function: Callable[..., Any]) -> bool:
    """Whether the visible check would pass. Prints nothing."""
    return examine(find(name), function, None).passed


def examine(exercise: Exercise, function: Callable[..., Any], seed: int | None) -> Verdict:
    """The verdict on a function in this very process; with a seed, on hidden inputs too. Whatever the function prints
    on hidden inputs is dropped, because it could print them."""
    if not callable(function):
        raise TypeError(f"check needs the function itself, got {type(function).__name__}: {function!r}")
    asked = questions(exercise, seed)
    quiet = contextlib.ExitStack()
    if seed is not None:
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
        quiet.enter_context(contextlib.redirect_stderr(io.StringIO()))
    with quiet:
        given, used = heard_answers(function, exercise, asked, exercise.closed)
    return judge(exercise, asked, given, closed=used, seed=seed)


def hidden_seed(drawn: int) -> int:
    """The seed in NLM_HIDDEN_SEED, which repeats hidden inputs; if it is not set, the random one."""
    given = os.environ.get("NLM_HIDDEN_SEED", "")
    if given and not given.isdecimal():
        raise ValueError(f"NLM_HIDDEN_SEED must be an integer, got {given!r}")
    return int(given) if given else drawn


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()  # type: ignore[no-untyped-call]
    return shell is not None and hasattr(shell, "kernel")


def _show(shown: Report | str, **options: Any) -> bool:
    if _in_notebook():
        from IPython.display import display

        display({"text/plain": shown} if options else shown, **options)  # type: ignore[no-untyped-call]
    else:
        print(shown)
    return True
