"""A verdict in words, as plain text and as HTML, for the student and (beside it) for the machine.

A public report shows the example in which a property failed. A report on hidden inputs says which property
failed and in what kind of situation, and shows no input, no output and no message that could carry one.
"""

import html
from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor

from autograder.arrays import Grid, as_text, describe, grid, worst_slice
from autograder.verdict import Finding, Verdict

MACHINE = "application/vnd.nlm-course.verdict+json"
"""Under this name the verdict travels in a cell's output: what a table over a class is made from."""

_BOX = "border-left:4px solid {colour};padding:.4em 1em;margin:.3em 0;max-width:60em;line-height:1.5"
_GOOD, _BAD, _CALM = "#1b7f3b", "#b3261e", "#5a6b7b"
_CELL = "padding:.1em .5em;text-align:right;font-family:monospace"


class Report:
    """What a check says. Shown by Jupyter as HTML, by anything else as text."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.hidden = verdict.seed is not None

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": "".join(self._html()), MACHINE: self.machine()}

    def machine(self) -> dict[str, Any]:
        """For machines; nothing of the inputs is in it."""
        v = self.verdict
        return {
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
        """One line: the whole result."""
        v, e = self.verdict, self.verdict.exercise
        if v.unwritten:
            waiting = next(o.fault.function for f in v.findings for o in f.got if o.fault is not None)
            other = f" ({waiting}, which it calls, is still empty)" if waiting not in ("", e.function) else ""
            return f"{e.function}: not written yet{other}. {points(e.points)} to be had, about {e.minutes} minutes."
        where = " on fresh inputs" if self.hidden else ""
        if v.passed:
            return f"{e.function}: well done, all of it holds{where}. {_of(v.points, e.points)}."
        return f"{e.function}: {_of(v.points, e.points)}{where}{'' if self.hidden else ' so far'}."

    def explanations(self) -> list[str]:
        """What went wrong, each thing once: closed names, named mistakes, then what has no name.

        The report on hidden inputs comes after the public one, and adds what that could not know.
        """
        v = self.verdict
        if v.unwritten or v.passed:
            return []
        if self.hidden:
            said = self._complaints([f for f in v.findings if f.fresh])
            return said or ["The reasons are those given above."]
        said = [
            f"It uses {name}, which is closed in this question: the point is to write it yourself." for name in v.closed
        ]
        said += [m.sentence for m in v.misconceptions]
        return said + self._complaints([f for f in v.findings if not f.holds and f.misconception is None])

    def _complaints(self, findings: Sequence[Finding]) -> list[str]:
        """One sentence per complaint, with the properties that it is about."""
        together: dict[str, list[str]] = {}
        for finding in findings:
            assert finding.case is not None
            where = f"“{finding.about.name}” ({finding.case.label})"
            together.setdefault(self._complaint(finding), []).append(where)
        return [f"{', '.join(where)}: {complaint}" for complaint, where in together.items()]

    def _complaint(self, finding: Finding) -> str:
        fault = next((o.fault for o in finding.got if o.fault is not None), None)
        if fault is None:
            words = str(finding.complaint)
        elif fault.kind == "wrong return":
            words = fault.words
        elif fault.kind == "NotImplementedError":
            words = f"{fault.function or 'something that it calls'} is not written yet"
        elif self.hidden:  # an exception's message can carry the input
            words = f"your code raised {fault.kind}"
        else:
            words = f"your code raised {fault.words}"
            if fault.line:
                return f"{words} ({fault.line})"
        return words if words.endswith((".", "?", "!")) else f"{words}."

    def _example(self) -> tuple[str, Iterator[tuple[str, Tensor | str, Tensor | None]]] | None:
        """The first failed public case that has numbers to show: its label, and (name, yours, expected)."""
        if self.hidden or self.verdict.unwritten:
            return None
        for finding in self.verdict.findings:
            shown = [o for o in finding.got if o.fault is None]
            if finding.case is not None and shown and not any(o.changed for o in shown):
                return finding.case.label, self._rows(finding)
        return None

    def _rows(self, finding: Finding) -> Iterator[tuple[str, Tensor | str, Tensor | None]]:
        assert finding.case is not None
        exercise = self.verdict.exercise
        index = 0
        for i, (mine, right) in enumerate(zip(finding.got, finding.expected, strict=True)):
            pairs = zip(mine.outputs, right.outputs, strict=False)
            if mine.fault is None and any(a.shape != b.shape or not a.double().allclose(b.double()) for a, b in pairs):
                index = i
                break
        for name, argument in zip(exercise.arguments, finding.case.calls[index], strict=False):
            yield name, argument if isinstance(argument, Tensor) else repr(argument), None
        if finding.got[index].fault is not None:
            return
        wanted = finding.expected[index].outputs
        for name, got, expected in zip(exercise.returns, finding.got[index].outputs, wanted, strict=True):
            yield name, got, expected

    # --- plain text ---------------------------------------------------------------------------------------

    def _text(self) -> Iterator[str]:
        yield self.headline
        if self.verdict.unwritten:
            return
        for f in self.verdict.findings:
            yield f"    {'holds  ' if f.holds else 'not yet'}  {f.about.points:>4g}  {f.about.name}"
        for sentence in self.explanations():
            yield ""
            yield sentence
        example = self._example()
        if example is not None:
            yield ""
            yield f"An example: {example[0]}"
            for name, value, expected in example[1]:
                yield from _text_of(name, value, expected)

    # --- HTML ---------------------------------------------------------------------------------------------

    def _html(self) -> Iterator[str]:
        v = self.verdict
        colour = _CALM if v.unwritten else _GOOD if v.passed else _BAD
        yield f'<div role="status" style="{_BOX.format(colour=colour)}"><p style="margin:0"><strong>'
        yield f"{html.escape(self.headline)}</strong></p>"
        if not v.unwritten:
            yield '<ul style="margin:.3em 0;padding-left:1.2em">'
            for f in v.findings:
                mark = "holds" if f.holds else '<strong style="text-decoration:underline">not yet</strong>'
                yield f"<li>{html.escape(f.about.name)}: {mark} ({f.about.points:g})</li>"
            yield "</ul>"
        for sentence in self.explanations():
            yield f'<p style="margin:.4em 0">{html.escape(sentence)}</p>'
        example = self._example()
        if example is not None:
            yield f'<p style="margin:.6em 0 .2em"><strong>An example:</strong> {html.escape(example[0])}</p>'
            for name, value, expected in example[1]:
                yield from _html_of(name, value, expected)
        yield "</div>"


def points(value: float) -> str:
    """ "1 point", "2.5 points"."""
    return f"{value:g} point{'' if value == 1 else 's'}"


def _of(earned: float, possible: float) -> str:
    return f"{earned:g} of {points(possible)}"


def _text_of(name: str, value: Tensor | str, expected: Tensor | None) -> Iterator[str]:
    if isinstance(value, str):
        yield f"  {name} = {value}"
        return
    if expected is None:
        table = grid(value)
        yield f"  {name}{table.title} ({describe(value)})"
        yield from (f"      {line}" for line in as_text(table))
        return
    mine, right = _pair(value, expected)
    left = [f"expected {describe(expected)}", *as_text(right)]
    ours = [f"yours    {describe(value)}", *as_text(mine)]
    width = max(map(len, left))
    height = max(len(left), len(ours))
    left += [""] * (height - len(left))
    ours += [""] * (height - len(ours))
    yield f"  {name}{right.title}   (* differs)" if value.shape == expected.shape else f"  {name}"
    yield from (f"      {a:<{width}}   |   {b}".rstrip() for a, b in zip(left, ours, strict=True))


def _pair(got: Tensor, expected: Tensor) -> tuple[Grid, Grid]:
    if got.shape != expected.shape:
        return grid(got), grid(expected)
    leading = worst_slice(got, expected)
    return grid(got, expected, leading), grid(expected, None, leading)


def _html_of(name: str, value: Tensor | str, expected: Tensor | None) -> Iterator[str]:
    if isinstance(value, str):
        yield f'<p style="margin:.2em 0"><code>{html.escape(name)} = {html.escape(value)}</code></p>'
        return
    yield '<div style="display:flex;flex-wrap:wrap;gap:1.5em;margin:.2em 0">'
    if expected is None:
        yield _table(f"{name}", value, grid(value))
    else:
        mine, right = _pair(value, expected)
        yield _table(f"{name}, expected", expected, right)
        yield _table(f"{name}, yours", value, mine)
    yield "</div>"


def _table(title: str, tensor: Tensor, table: Grid) -> str:
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL};outline:2px solid {_BAD};font-weight:bold" title="differs">{html.escape(value)}</td>'
            if marked
            else f'<td style="{_CELL}">{html.escape(value)}</td>'
            for value, marked in zip(row, marks, strict=True)
        )
        + "</tr>"
        for row, marks in zip(table.rows, table.marked, strict=True)
    )
    caption = f"<code>{html.escape(title)}{table.title}</code><br><small>{describe(tensor)}</small>"
    style = "caption-side:top;text-align:left;white-space:nowrap;color:inherit"
    return f'<table style="border-collapse:collapse"><caption style="{style}">{caption}</caption>{rows}</table>'
