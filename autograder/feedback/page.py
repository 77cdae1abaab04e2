"""The feedback page: a graded notebook (hidden parts already removed) and its facts -> HTML.

The content is computed here; `pages/feedback.html` has the layout.
"""

from typing import Any

from markupsafe import Markup
from nbgrader import utils

from autograder.feedback import clean
from autograder.feedback.facts import Facts, Grade
from autograder.feedback.heatmap import heatmap
from autograder.feedback.one_question import Question, questions_of
from autograder.pages import number, points, render

_KINDS = {
    "blocked": "This could not be graded as it was handed in",
    "repaired": "Repaired before grading, at no cost",
    "note": "Also noticed",
    "ignored": "Left behind",
}


def feedback_page(facts: Facts, cells: list[Any]) -> str:
    asked = questions_of(cells)
    heads = dict(_KINDS)
    if any(found.get("what") in ("missing-answer", "deleted-answer") for found in facts.findings):
        heads["repaired"] = "Repaired before grading"  # whether it cost something depends on what was not found
    said = {kind: [str(f.get("words", "")) for f in facts.findings if f.get("kind") == kind] for kind in _KINDS}
    return render(
        "feedback.html",
        title=f"Feedback: {facts.assignment} ({facts.student})",
        facts=facts,
        found=[(heading, said[kind]) for kind, heading in heads.items() if said[kind]],
        asked=asked,
        summary=[_summary(question, facts.grades.get(question.name)) for question in asked],
        comments=lambda question: _comments(question, facts),
        all_hold=lambda report: not report.get("closed") and all(p.get("holds") for p in report["properties"]),
        clean=clean,
        heatmap=heatmap,
        is_test=lambda cell: cell.cell_type == "code" and not (utils.is_solution(cell) or utils.is_task(cell)),
        mark_in_words=_mark_in_words,
        properties=_properties,
        stopped=_stopped,
        test_outputs=lambda cell: [o for o in cell.outputs if o.output_type != "execute_result"],
        thoughts=_thoughts,
    )


def _summary(question: Question, grade: Grade | None) -> list[str]:
    title = clean.text(question.title)
    mark = "no mark"
    if grade is not None:
        mark = f"{'–' if grade.score is None else number(grade.score)} of {number(grade.of)}"
    return [Markup(f'<a href="#q-{question.anchor}">{title}</a>'), mark, _in_short(question, grade)]


def _in_short(question: Question, grade: Grade | None) -> str:
    report = question.hidden or question.public
    if grade is not None and grade.score is None:
        return "waits to be marked by hand"
    if grade is not None and grade.by_hand:
        return "marked by hand"
    if report is not None:
        if report.get("unwritten"):
            return "not written yet"
        if report.get("closed"):
            return "uses a closed name"
        return f"{sum(bool(p.get('holds')) for p in report['properties'])} of {len(report['properties'])} things hold"
    if grade is not None and grade.of:
        return "passed" if (grade.score or 0) >= grade.of else "not all of it passed"
    return ""


def _mark_in_words(grade: Grade | None) -> str:
    if grade is None:
        return "no mark"
    if grade.score is None:
        return f"not marked yet, {points(grade.of)} to be had"
    extra = f", {number(grade.extra)} of them extra credit" if grade.extra else ""
    who = ", marked by hand" if grade.by_hand else ", to be checked again by hand" if grade.waiting else ""
    return f"{number(grade.score)} of {points(grade.of)}{extra}{who}"


def _properties(question: Question, report: dict[str, Any]) -> list[list[str]]:
    """(property, points, result) of everything that was checked."""
    seen = {p.get("name"): bool(p.get("holds")) for p in (question.public or {}).get("properties", [])}
    rows = []
    for found in report["properties"]:
        result = Markup("<strong>✗ not yet</strong>")
        if found.get("holds"):
            result = Markup("✓ holds")
        elif seen.get(found.get("name")):
            result += ": it holds on the examples you can see, but not on fresh inputs"
        rows.append([clean.text(str(found.get("name"))), number(float(found.get("points", 0))), result])
    return rows


def _thoughts(question: Question) -> list[str]:
    reports = (report for report in (question.public, question.hidden) if report)
    said = dict.fromkeys(str(words) for report in reports for words in report.get("explanations", []))
    return [words for words in said if words != "The reasons are given above."]


def _comments(question: Question, facts: Facts) -> list[str]:
    names = [cell.metadata["nbgrader"].get("grade_id") for cell in question.answers]
    return [facts.comments[name] for name in dict.fromkeys([*names, question.name]) if name in facts.comments]


def _stopped(cell: Any) -> list[str]:
    streams = [o for o in cell.get("outputs", []) if o.output_type == "stream"]
    return ["".join(o.get("text", "")).strip() for o in streams][:1]
