"""The page of feedback: a graded notebook (what is hidden already taken out) and its facts -> HTML."""

import html
import re
from collections.abc import Iterator
from typing import Any

from nbgrader import utils

from autograder.feedback import clean
from autograder.feedback.example import example_html
from autograder.feedback.facts import Facts, Grade
from autograder.feedback.frame import number, page, table
from autograder.feedback.question import Question, questions_of

_KINDS = {
    "blocked": "This could not be graded as it was handed in",
    "repaired": "Put right before grading; it costs nothing",
    "note": "Also noticed",
    "ignored": "Left behind",
}


def feedback_page(cells: list[Any], facts: Facts) -> str:
    """The whole page."""
    asked = questions_of(cells)
    title = f"Feedback: {facts.assignment}"
    body = "".join([*_happened(facts), _summary(asked, facts), *(_question(q, facts) for q in asked)])
    foot = (
        "<p>Marks come from your functions' answers to fresh inputs, and from what a person read. If something here"
        " looks wrong to you, say so: a mark can be looked at again.</p>"
    )
    return page(f"{title} ({facts.student})", _head(title, facts), body, foot)


def _head(title: str, facts: Facts) -> str:
    notebook = "" if facts.notebook == facts.assignment else f", notebook {facts.notebook}"
    lines = [f"<h1>{html.escape(title)}</h1><p>{html.escape(facts.student + notebook)}</p>"]
    if facts.grades and facts.open < facts.of:
        so_far = " so far" if facts.open else ""
        lines.append(
            f'<p class="total"><strong>{number(facts.score)} of {number(facts.of)} points</strong>{so_far}</p>'
        )
    elif facts.grades:
        lines.append('<p class="total"><strong>Not marked yet</strong></p>')
    if facts.open and facts.open < facts.of:
        lines.append(f"<p>{_points(facts.open)} still to be marked: a person has to read them.</p>")
    extra = sum(grade.extra for grade in facts.grades.values())
    if extra:
        lines.append(f"<p>In this there {'is' if extra == 1 else 'are'} {_points(extra)} of extra credit.</p>")
    if facts.penalty:
        late = f" ({_duration(facts.late)} late)" if facts.late else ""
        lines.append(
            f"<p>Handed in late{late}: {_points(facts.penalty)} taken off; the total above says so already.</p>"
        )
    elif facts.late:
        lines.append(f"<p>Handed in {_duration(facts.late)} late; nothing is taken off for it.</p>")
    for name, score, of in facts.others:
        lines.append(
            f"<p>Another notebook of this assignment, {html.escape(name)}: {number(score)} of {number(of)}.</p>"
        )
    return "".join(lines)


def _happened(facts: Facts) -> Iterator[str]:
    """What became of the submission, in calm words."""
    if facts.state == "blocked":
        yield (
            '<div class="warn" role="note"><p><strong>This has not been graded, and that is not a zero.</strong> A'
            " person has to look at it first. Please read what was found, and ask your instructor.</p></div>"
        )
    elif facts.state == "fault":
        yield (
            '<div class="warn" role="note"><p><strong>This has not been graded yet, and it is not your fault.</strong>'
            " The grader itself failed; your instructor knows.</p></div>"
        )
    found = "".join(_findings(facts))
    if found:
        yield f'<section aria-labelledby="found"><h2 id="found">What was found</h2>{found}</section>'


def _findings(facts: Facts) -> Iterator[str]:
    for kind, words in _KINDS.items():
        said = [str(f.get("words", "")) for f in facts.findings if f.get("kind") == kind]
        if said:
            items = "".join(f"<li>{clean.text(line, 400)}</li>" for line in said)
            yield f"<h3>{words}</h3><ul>{items}</ul>"
    if facts.incidents:
        items = "".join(f"<li>{clean.text(line, 400)}</li>" for line in facts.incidents[:20])
        yield (
            "<h3>While your code ran</h3><p>It runs in a closed room with limits. This was not possible there, or had"
            f" to be stopped:</p><ul>{items}</ul>"
        )


def _summary(asked: list[Question], facts: Facts) -> str:
    rows = []
    for question in asked:
        grade = facts.grades.get(question.name)
        link = f'<a href="#q-{_anchor(question.name)}">{clean.text(question.title)}</a>'
        rows.append([link, html.escape(_mark(grade)), html.escape(_in_short(question, grade))])
    if not rows:
        return ""
    made = table("The questions, with your marks", ["Question", "Mark", "In short"], rows, numbers=(1,))
    return f'<section aria-labelledby="summary"><h2 id="summary">Summary</h2>{made}</section>'


def _in_short(question: Question, grade: Grade | None) -> str:
    report = question.hidden or question.public
    if grade is not None and grade.score is None:
        return "waits for a person"
    if grade is not None and grade.by_hand:
        return "marked by a person"
    if report is not None:
        if report.get("unwritten"):
            return "not written yet"
        holds = sum(bool(p.get("holds")) for p in report["properties"])
        return (
            f"{holds} of {len(report['properties'])} things hold" if not report.get("closed") else "uses a closed name"
        )
    if grade is not None and grade.of:
        full = grade.score is not None and grade.score >= grade.of
        return "passed" if full else "not all of it passed"
    return ""


def _question(question: Question, facts: Facts) -> str:
    grade = facts.grades.get(question.name)
    anchor = _anchor(question.name)
    parts = [
        f'<section aria-labelledby="q-{anchor}"><h2 id="q-{anchor}">{clean.text(question.title)}</h2>',
        f'<p class="total">{html.escape(_mark(grade, words=True))}</p>',
    ]
    if question.public is not None or question.hidden is not None:
        parts += _reported(question)
    else:
        parts += _stock(question, grade)
    parts += _comments(question, facts)
    parts += _answers(question)
    text = "".join(clean.markdown(cell.source, cell.get("attachments")) for cell in question.asked)
    if text:
        parts.append(f"<details><summary>The question</summary>{text}</details>")
    return "".join([*parts, "</section>"])


def _reported(question: Question) -> Iterator[str]:
    """What our own check found."""
    last = question.hidden or question.public
    assert last is not None
    if last.get("headline"):
        kind = "note" if last.get("unwritten") else "good" if _all_hold(last) else "warn"
        yield f'<div class="{kind}"><p><strong>{clean.text(str(last["headline"]))}</strong></p></div>'
    for line in _stopped(question.cell):
        yield f'<div class="note"><p>{clean.text(line)}</p></div>'
    if last.get("unwritten"):
        return
    public = {p.get("name"): bool(p.get("holds")) for p in (question.public or {}).get("properties", [])}
    rows = []
    for found in last["properties"]:
        if found.get("holds"):
            result = "✓ holds"
        elif public.get(found.get("name")):
            result = "<strong>✗ not yet</strong>: it holds on the examples you can see, and not on fresh numbers"
        else:
            result = "<strong>✗ not yet</strong>"
        rows.append([clean.text(str(found.get("name"))), number(float(found.get("points", 0))), result])
    yield table("What was looked at", ["Property", "Points", "Result"], rows, numbers=(1,))
    said = [
        str(words)
        for report in (question.public, question.hidden)
        if report
        for words in report.get("explanations", [])
    ]
    said = [words for words in dict.fromkeys(said) if words != "The reasons are those given above."]
    if said:
        yield "<h3>What to think about</h3>" + "".join(f"<p>{clean.sentence(words)}</p>" for words in said)
    if question.public is not None:
        yield example_html(question.public.get("example"))


def _stock(question: Question, grade: Grade | None) -> Iterator[str]:
    """A plain nbgrader test, or something that a person marks."""
    cell = question.cell
    if utils.is_solution(cell) or utils.is_task(cell) or cell.cell_type != "code":
        return
    shown = clean.outputs([o for o in cell.outputs if o.output_type != "execute_result"], f"Output of {question.name}")
    if shown:
        yield f"<h3>What the test said</h3>{shown}"
    if cell.source.strip() and grade is not None and (grade.score or 0) < grade.of:
        shown = clean.code(cell.source)
        yield f"<details><summary>The part of the test that everybody can see</summary>{shown}</details>"


def _comments(question: Question, facts: Facts) -> Iterator[str]:
    names = [cell.metadata["nbgrader"].get("grade_id") for cell in question.answers]
    said = [facts.comments[name] for name in dict.fromkeys([*names, question.name]) if name in facts.comments]
    if said:
        yield '<h3>Comment</h3><div class="note">' + "".join(clean.markdown(words) for words in said) + "</div>"


def _answers(question: Question) -> Iterator[str]:
    if not question.answers:
        return
    yield "<h3>Your answer</h3>"
    for cell in question.answers:
        if cell.cell_type == "code":
            yield clean.code(cell.source)
            shown = clean.outputs(cell.get("outputs", []), f"A picture that your code for {question.title} made")
            if shown:
                yield f"<p>What the cell put out:</p>{shown}"
        else:
            yield f"<blockquote>{clean.markdown(cell.source, cell.get('attachments'))}</blockquote>"


def _stopped(cell: Any) -> list[str]:
    """The grader's own words, where the box had to stop the notebook at this test."""
    streams = [o for o in cell.get("outputs", []) if o.output_type == "stream"]
    return ["".join(o.get("text", "")).strip() for o in streams][:1]


def _all_hold(report: dict[str, Any]) -> bool:
    return not report.get("closed") and all(p.get("holds") for p in report["properties"])


def _mark(grade: Grade | None, words: bool = False) -> str:
    if grade is None:
        return "no mark"
    if grade.score is None:
        return f"not marked yet, {_points(grade.of)} to be had" if words else f"– of {number(grade.of)}"
    mark = f"{number(grade.score)} of {number(grade.of)}"
    if not words:
        return mark
    extra = f", {number(grade.extra)} of them extra credit" if grade.extra else ""
    who = ", marked by a person" if grade.by_hand else ", to be looked at again by a person" if grade.waiting else ""
    return f"{number(grade.score)} of {_points(grade.of)}{extra}{who}"


def _points(value: float) -> str:
    return f"{number(value)} point{'' if value == 1 else 's'}"


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    for size, word in ((1440, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes // size} {word}s"
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def _anchor(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)
