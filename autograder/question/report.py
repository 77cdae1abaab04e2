"""A verdict in words, as plain text and as HTML, for the student, and as data for programs.

A public report shows the example in which a property failed. A report on hidden inputs says which property
failed and in what kind of situation, and shows no input, no output and no message that could contain one.
"""

import builtins
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape
from torch import Tensor

from autograder.pages import points, render
from autograder.question.arrays import (
    as_data,
    brief,
    difference,
    grid,
    looks_the_same,
    pair,
    shape_of,
    text_of_input,
    text_of_output,
)
from autograder.question.interview import call_seconds, rounds
from autograder.question.judges import compares
from autograder.question.mistakes import known_mistakes
from autograder.question.outcome import COUNTED, GENERATOR, QUESTION_SECONDS, TOO_LONG, Fault
from autograder.question.resemblance import resemblance
from autograder.question.specification import Case, Exercise
from autograder.question.verdict import Finding, Verdict, can_be_shown

MACHINE = "application/vnd.nlm-course.verdict+json"  # the verdict in a cell's output, for a table over a class

LEFT = (
    "There is code above `raise NotImplementedError()`, but that line still ends your function. Delete it, and the"
    " check will judge your code."
)
_MANY = 8  # tensors of one argument, more than a reader looks at
_GOOD, _BAD, _CALM = "#1b7f3b", "#b3261e", "#5a6b7b"
_STRESSED = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\w*])")  # not the stars of a product or a power


def coded(escaped: str) -> Markup:
    """A sentence that has already been escaped, with `backticks` as code and *stars* as emphasis."""
    parts = re.split(r"`([^`\n]+)`", escaped)  # text, code, text, …
    return Markup(
        "".join(
            f"<code>{part}</code>" if number % 2 else _STRESSED.sub(r"<em>\1</em>", part)
            for number, part in enumerate(parts)
        )
    )


@dataclass(frozen=True, kw_only=True)
class Example:
    title: str
    inputs: list[tuple[str, Any]]
    outputs: list[tuple[str, Tensor, Tensor]]

    def data(self) -> dict[str, Any]:
        inputs: list[dict[str, Any]] = []
        for name, value in self.inputs:
            shown = as_data(value, grid(value)) if isinstance(value, Tensor) else {"text": brief(value)[:600]}
            inputs.append({"name": name, **shown})
        outputs = []
        for name, got, expected in self.outputs:
            mine, right = pair(got, expected)
            both = {"expected": as_data(expected, right), "yours": as_data(got, mine)}
            outputs.append({"name": name, **both, "difference": difference(got, expected)})
        return {"title": self.title, "inputs": inputs, "outputs": outputs}


@dataclass(eq=False, repr=False)
class Report:
    """The report of a check. Jupyter shows it as HTML, everything else as text."""

    verdict: Verdict
    smallest: Finding | None = None  # the failing case to show, where it was looked for
    remarks: Sequence[str] = ()  # sentences on the answer's text, which costs nothing
    hints: Sequence[str] = ()  # the last ones, for whoever has tried

    @property
    def hidden(self) -> bool:
        return self.verdict.seed is not None

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": self._html(), MACHINE: self.machine()}

    def machine(self) -> dict[str, Any]:
        """For programs: the data from which feedback pages and class tables are made. It contains nothing of hidden
        inputs, and of public ones only the example that the report shows."""
        v = self.verdict
        return {
            "headline": self.headline,
            "explanations": self.explanations,
            "example": self._example_data,
            "exercise": v.exercise.name,
            "points": v.points,
            "of": v.exercise.points,
            "hidden": self.hidden,
            "unwritten": v.unwritten,
            "closed": list(v.closed),
            "properties": [{"name": f.about.name, "points": f.about.points, "holds": f.holds} for f in v.findings],
            "misconceptions": [m.id for m in v.misconceptions],
        }

    # --- the words ----------------------------------------------------------------------------------------

    @property
    def headline(self) -> str:
        v, e = self.verdict, self.verdict.exercise
        if v.unwritten:
            waiting = next((o.fault.function for f in v.findings for o in f.got if o.fault is not None), None)
            other = f" ({waiting}, which it calls, is still empty)" if waiting not in (None, "", e.function) else ""
            state = "not mended yet" if waiting is None else f"not written yet{other}"
            return f"{e.function}: {state}. {points(e.points)} available, about {e.minutes} minutes."
        where = " on fresh inputs" if self.hidden else ""
        if v.passed:
            return f"{e.function}: well done, all properties hold{where}. {_of(v.points, e.points)}."
        return f"{e.function}: {_of(v.points, e.points)}{where}{'' if self.hidden else ' so far'}."

    def _listed(self) -> tuple[Finding, ...]:
        """The properties to list: none if the function is not written, or if hidden inputs showed nothing new."""
        nothing_new = self.hidden and not any(f.fresh for f in self.verdict.findings)
        return () if self.verdict.unwritten or nothing_new else self.verdict.findings

    @functools.cached_property
    def explanations(self) -> list[str]:
        """What went wrong, each thing once: closed names, named mistakes, then all other complaints. The report on
        hidden inputs comes after the public one, and adds what that could not know."""
        v = self.verdict
        if v.passed:
            return list(self.remarks)
        if v.unwritten:
            return [LEFT] if any(o.fault is not None and o.fault.below for f in v.findings for o in f.got) else []
        if self.hidden:
            said = self._complaints([f for f in v.findings if f.fresh])
            return said or ["The reasons are given above."]
        said = [
            f"It uses {name}, which is closed in this question: the point is to write it yourself." for name in v.closed
        ]
        said += [m.sentence for m in v.misconceptions]
        unnamed = [f for f in v.findings if not f.holds and f.misconception is None]
        said += self._complaints([f for f in unnamed if not (v.closed and _met_a_closed_name(f))])
        return [*said, *self.remarks, *self._changed(said)]

    @property
    def slow(self) -> list[str]:
        """How long it took, if that is near the grader's limits."""
        v, times = self.verdict, 1 + rounds(self.verdict.exercise)
        if self.hidden or v.unwritten:
            return []
        most = call_seconds(v.exercise)
        if v.longest > most / 2:
            return [f"One call took {v.longest:.1f} s of processor time; the grader stops a call at {most:g} s."]
        if v.together * times > QUESTION_SECONDS / 2:
            return [
                f"The calls took {v.together:.1f} s of processor time together; the grader makes about {times} times as"
                f" many, and stops at {QUESTION_SECONDS} s."
            ]
        return []

    def _changed(self, said: Sequence[str]) -> list[str]:
        """That a wrong function changes its arguments as well, if nothing `said` so far is about that."""
        v = self.verdict
        names = {name for f in v.findings if not f.fresh for o in f.got for name in o.changed} - {GENERATOR}
        known = [k for k in known_mistakes(v.exercise) if any(k.misconception is m for m in v.misconceptions)]
        told = any(o.changed for k in known for row in k.given for o in row) or any("had changed" in s for s in said)
        if not names or told:
            return []
        return [f"It also changes {_and(sorted(names))}, which the caller still needs: work on a copy."]

    def _complaints(self, findings: Sequence[Finding]) -> list[str]:
        """One sentence per complaint, and where it occurred."""
        together: dict[str, tuple[str, list[str]]] = {}
        for finding in findings:
            assert finding.case is not None
            complaint = self._complaint(finding)
            fault = next((o.fault for o in finding.got if o.fault is not None and o.fault.line), None)
            same = complaint if fault is None else f"{fault.kind} {fault.line}"  # messages differ in sizes only
            where = f"“{finding.about.name}” ({finding.case.label})"
            together.setdefault(same, (complaint, []))[1].append(where)
        return [f"{complaint} Seen in {_some(where)}." for complaint, where in together.values()]

    def _complaint(self, finding: Finding) -> str:
        number, fault = next(((n, o.fault) for n, o in enumerate(finding.got) if o.fault is not None), (0, None))
        if fault is None:
            words = str(finding.complaint)
        elif self.hidden:
            words = _without_input(fault)
        elif fault.kind == "NotImplementedError":
            words = f"{fault.function or 'something that it calls'} is not written yet"
        elif fault.kind in ("TookTooLong", "Stopped") or not fault.words.startswith(fault.kind):
            words = fault.words  # said by who called the function, not raised by it
        elif fault.kind == "ClosedName":
            words = fault.words.removeprefix("ClosedName: ")
        else:
            assert finding.case is not None
            inputs = inputs_in_words(self.verdict.exercise, finding.case.calls[number])
            where = f" ({fault.line})" if fault.line else ""
            words = f"{f'your code raised {fault.words}{where}'.rstrip('.')}. {inputs}"
        words = words[0].upper() + words[1:]
        words = words if words.endswith((".", "?", "!")) else f"{words}."
        return (
            words if fault is not None or self.hidden else " ".join(filter(None, [words, self._resemblance(finding)]))
        )

    def _resemblance(self, finding: Finding) -> str | None:
        """What the wrong results of a call have in common with the right ones, where these are what is asked for."""
        if not compares(finding.about.judge):
            return None
        exercise, index = self.verdict.exercise, finding.telling_call
        about = range(len(exercise.returns)) if finding.about.outputs is None else finding.about.outputs
        which = [number for number in about if exercise.returns[number] not in (*exercise.chosen, COUNTED)]
        return resemblance(finding.got[index], finding.expected[index], exercise.returns, which)

    @functools.cached_property
    def _example_data(self) -> dict[str, Any] | None:
        return None if self._example is None else self._example.data()

    @functools.cached_property
    def _example(self) -> Example | None:
        """The smallest failed public case that has wrong values to show, or the first."""
        if self.hidden:
            return None
        for finding in (*([] if self.smallest is None else [self.smallest]), *self.verdict.findings):
            if finding.case is not None and can_be_shown(self.verdict.exercise, finding):
                example = self._example_of(finding, finding.case)
                if example.outputs:
                    return example
        return None

    def _example_of(self, finding: Finding, case: Case) -> Example:
        exercise, name, index = self.verdict.exercise, finding.about.name, finding.telling_call
        outputs = zip(exercise.returns, finding.got[index].outputs, finding.expected[index].outputs, strict=False)
        wrong = [output for output in outputs if output[0] not in exercise.chosen and not looks_the_same(*output[1:])]
        return Example(
            title=name if case.label.casefold() in name.casefold() else f"{name}, {case.label}",
            inputs=list(_named(zip(exercise.arguments, case.calls[index], strict=False))),
            outputs=wrong,
        )

    # --- plain text ---------------------------------------------------------------------------------------

    def _text(self) -> Iterator[str]:
        yield self.headline
        for f in self._listed():
            yield f"    {'holds  ' if f.holds else 'not yet'}  {f.about.points:>4g}  {f.about.name}"
        for sentence in (*self.explanations, *self.slow):
            yield ""
            yield sentence
        if self._example is not None:
            yield ""
            yield f"An example ({self._example.title})"
            for name, value in self._example.inputs:
                yield from text_of_input(name, value)
            for name, got, expected in self._example.outputs:
                yield from text_of_output(name, got, expected)
        if self._debugging:
            yield f"To look for the mistake: {self._debugging}"
        for hint in self.hints:
            yield ""
            yield hint

    @property
    def _debugging(self) -> str:
        """The line that fetches the failing input; "" if it was not looked for."""
        e = self.verdict.exercise
        return "" if self.smallest is None else f'inputs, expected = failing("{e.name}"); {e.function}(*inputs)'

    # --- HTML ---------------------------------------------------------------------------------------------

    def _html(self) -> str:
        v = self.verdict
        return render(
            "verdict.html",
            colour=_CALM if v.unwritten else _GOOD if v.passed else _BAD,
            headline=self.headline,
            listed=self._listed(),
            explanations=[*self.explanations, *self.slow],
            example=self._example_data,
            debugging=self._debugging,
            hints=[hint.split(": ", 1) for hint in self.hints],
            coded=lambda sentence: coded(escape(sentence)),
        )


def inputs_in_words(exercise: Exercise, given: Sequence[Any]) -> str:
    """The arguments of a call, by name: of a tensor the shape."""
    told = [f"{name} {shape_of(value)}" for name, value in _named(zip(exercise.arguments, given, strict=False))]
    return f"Its inputs were {_and(told)}." if told else ""


def _named(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Each value with its name. A dictionary with a few tensors becomes its entries."""
    for name, value in values:
        if isinstance(value, dict) and 0 < _tensors(value) <= _MANY:
            yield from _named((f"{name}[{key!r}]", entry) for key, entry in value.items())
        else:
            yield name, value


def _tensors(value: Any) -> int:
    """How many tensors are in a dictionary, and in the dictionaries in it."""
    return sum(map(_tensors, value.values())) if isinstance(value, dict) else isinstance(value, Tensor)


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _met_a_closed_name(finding: Finding) -> bool:
    return any(outcome.fault is not None and outcome.fault.kind == "ClosedName" for outcome in finding.got)


def _without_input(fault: Fault) -> str:
    """What went wrong on a hidden input. The student chooses an exception's message and the names of its class and of
    functions and types, so all of them can reveal the input; the names of Python's own exceptions cannot."""
    known = isinstance(getattr(builtins, fault.kind, None), type)
    return _WITHOUT_INPUT.get(fault.kind, f"your code raised {fault.kind if known else 'an exception of its own'}")


_WITHOUT_INPUT = {
    "wrong return": "your function did not return the kind of value that was asked for",
    "NotImplementedError": "something that it calls is not written yet",
    "TookTooLong": TOO_LONG,
    "Stopped": "your code was stopped before it answered",  # by the box
}


def _some(where: Sequence[str]) -> str:
    return " and ".join(where) if len(where) <= 2 else f"{', '.join(where[:2])} and in {len(where) - 2} more"


def _of(earned: float, possible: float) -> str:
    return f"{earned:g} of {points(possible)}"
