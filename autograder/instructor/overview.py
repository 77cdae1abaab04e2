"""The instructor's page: one file per assignment, after grading.

What to teach again, what needs a person, and how the marks lie. It works for 20 and for 5,000: lists are cut with a
word on how many more there are; all of them are in the table (`autograder.instructor.table`).
"""

import html
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.engine import records
from autograder.engine.course import Course
from autograder.engine.records import Record, write_whole
from autograder.exercise.find import exercises_of
from autograder.feedback import clean
from autograder.feedback.frame import number, page, table
from autograder.instructor.lessons import KINDS, Mistaken, difficulties, failures, mistakes, to_look_at, uncontained
from autograder.instructor.likeness import (
    REFERENCE,
    Answers,
    alike,
    anonymous,
    answers_of_class,
    given,
    reference,
    same_to_the_letter,
)
from autograder.instructor.pictures import BINS, bar, counts, histogram
from autograder.instructor.rows import Row, questions_asked, report_rows

MOST = 100
"""Lines of a list."""


def write_overview(course: Course, assignment: str, path: Path | None = None) -> Path:
    """Write the page, by default to `grading/<assignment>/overview.html`.

    Raises NotACourse for an assignment that the gradebook does not know.
    """
    rows = report_rows(course, assignment)
    known = [
        record
        for student in course.students(assignment)
        if (record := records.load(course.root, assignment, student)) is not None
    ]
    answers = dict(answers_of_class(course, assignment))
    marks = [(record.student, mark) for record in known for mark in record.marks]
    body = [
        *_warnings(known, rows),
        _section("marks", "How the marks lie", _marks(rows)),
        _section("again", "What to teach again", _again(mistakes(marks, exercises_of(assignment)), answers)),
        _section("hard", "The hardest questions", _hard(course, assignment, rows)),
        _section("properties", "What failed most", _properties([mark for _, mark in marks])),
        _section("eyes", "Submissions to look at", _eyes(known, rows)),
        _section("alike", "Answers that are nearly the same", _alike(course, assignment, answers)),
        _section("time", "Time used", _time(known)),
    ]
    title = f"After grading: {assignment}"
    foot = (
        "<p>For instructors: this page shows students' names. The examples of code are without names and comments.</p>"
    )
    target = path or course.root / "grading" / assignment / "overview.html"
    write_whole(target, page(title, _head(title, rows), "".join(body), foot))
    return target


def _section(name: str, title: str, inside: Iterator[str]) -> str:
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{"".join(inside)}</section>'


def _head(title: str, rows: Sequence[Row]) -> str:
    states = Counter(row.state for row in rows)
    said = ", ".join(f"{count} {state}" for state, count in states.most_common())
    handed_in = len(rows) - states["missing"]
    return f"<h1>{html.escape(title)}</h1><p>{handed_in} of {len(rows)} students handed something in: {said}.</p>"


def _warnings(known: Sequence[Record], rows: Sequence[Row]) -> Iterator[str]:
    open_ = uncontained(known)
    if open_:
        yield (
            f'<div class="warn" role="note"><p><strong>{len(open_)} of {len(known)} submissions ran without isolation.'
            "</strong> Their code could read and change anything that the grader can: files, marks, other submissions."
            " Treat these marks as provisional, and grade again where <code>python -m autograder doctor</code> finds a"
            " sandbox.</p></div>"
        )
    waiting = sum(row.state == "waiting" for row in rows)
    if waiting:
        yield (
            f'<div class="note" role="note"><p>{waiting} students have answers that wait for a person: their totals'
            " below are what they have so far.</p></div>"
        )


def _marks(rows: Sequence[Row]) -> Iterator[str]:
    parts = [row.score / row.of for row in rows if row.score is not None and row.of]
    if not parts:
        yield "<p>Nobody has a mark yet.</p>"
        return
    yield histogram(parts)
    low, middle, high = statistics.quantiles(parts, n=4) if len(parts) > 1 else (parts[0],) * 3
    of = next(row.of for row in rows if row.of)
    yield (
        f"<p>{len(parts)} students, of {number(of)} points. Median {number(middle * of)}, quartiles"
        f" {number(low * of)} and {number(high * of)}, mean {number(statistics.fmean(parts) * of)}.</p>"
    )
    lines = [
        [f"{i * 10} to {'under ' if i < BINS - 1 else ''}{i * 10 + 10} %", str(count), f"{count / len(parts):.0%}"]
        for i, count in enumerate(counts(parts))
    ]
    made = table("The same in numbers", ["Per cent of the points", "Students", "Share"], lines, numbers=(1, 2))
    yield f"<details><summary>The same in numbers</summary>{made}</details>"


def _again(found: Sequence[Mistaken], answers: Mapping[str, Answers]) -> Iterator[str]:
    if not found:
        yield "<p>No misconception was recognised.</p>"
        return
    lines = [
        [clean.text(m.id), str(len(m.students)), f"{len(m.students) / m.written:.0%}", clean.text(_short(m.exercise))]
        for m in found
    ]
    columns = ["Misconception", "Students", "Share", "Question"]
    yield table(
        "The most frequent first; the share is of those who wrote the function", columns, lines[:MOST], numbers=(1, 2)
    )
    for one in found[:12]:
        yield f"<h3>{clean.text(one.id.replace('-', ' '))} ({clean.text(_short(one.exercise))})</h3>"
        yield f"<p>{len(one.students)} of {one.written} who wrote it. {clean.sentence(one.sentence)}</p>"
        example = _example(one, answers)
        if example:
            yield f"<details><summary>One answer of this kind</summary>{clean.code(example)}</details>"


def _example(one: Mistaken, answers: Mapping[str, Answers]) -> str:
    """The shortest answer to that question of those who have the misconception."""
    name = f"def {_short(one.exercise)}("
    written = (
        anonymous(source)
        for student in one.students[:MOST]
        for source in answers.get(student, {}).values()
        if name in source
    )
    return min((source for source in written if source), key=len, default="")


def _hard(course: Course, assignment: str, rows: Sequence[Row]) -> Iterator[str]:
    found = difficulties(questions_asked(course, assignment), rows)
    lines = [
        [clean.text(d.name), f"{bar(d.mean)} {d.mean:.0%}", number(d.of), str(d.full), str(d.nothing), str(d.marked)]
        for d in found
    ]
    columns = ["Question", "Mean", "Points", "All points", "None", "Marked"]
    yield table("The hardest first; the mean is over those who have a mark", columns, lines, numbers=(1, 2, 3, 4, 5))


def _properties(marks: Sequence[Mapping[str, object]]) -> Iterator[str]:
    found = failures(marks)
    if not found:
        yield "<p>Every property held for everybody who wrote the function.</p>"
        return
    lines = [
        [clean.text(one.name), clean.text(_short(one.exercise)), str(one.failed), f"{one.failed / one.written:.0%}"]
        for one in found[:20]
    ]
    columns = ["Property", "Question", "Failed for", "Share"]
    yield table("Properties; the share is of those who wrote the function", columns, lines, numbers=(2, 3))


def _eyes(known: Sequence[Record], rows: Sequence[Row]) -> Iterator[str]:
    looks = to_look_at(known)
    ungraded = [row.student for row in rows if row.state == "not graded"]
    if ungraded:
        yield f"<h3>Handed in and not graded yet: {len(ungraded)}</h3><p>{_names(ungraded)}</p>"
    late = [row for row in rows if row.late > 0]
    if late:
        lines = [[clean.text(row.student), hours(row.late), number(row.penalty)] for row in late[:MOST]]
        yield f"<h3>Handed in late: {len(late)}</h3>"
        yield table("Handed in late", ["Student", "Late by", "Points taken off"], lines, numbers=(2,)) + _more(
            len(late)
        )
    if not looks and not late:
        yield "<p>Nothing stands out.</p>"
    for kind, words in KINDS.items():
        here = [look for look in looks if look.kind == kind]
        if not here:
            continue
        yield f"<h3>{words}: {len({look.student for look in here})}</h3>"
        lines = [[clean.text(look.student), clean.text(look.words, 300)] for look in here[:MOST]]
        yield table(words, ["Student", "What happened"], lines, said=True) + _more(len(here))


def _alike(course: Course, assignment: str, answers: Mapping[str, Answers]) -> Iterator[str]:
    yield (
        "<p>A hint for a person, and no more: short functions have few right forms, and friends may think alike."
        " Nothing here has touched a mark.</p>"
    )
    free, right = given(course, assignment), reference(course, assignment)
    try:
        pairs = alike(answers, free, right)
    except ImportError:
        pairs = []
        advice = "<code>python -m pip install copydetect</code>"
        yield f"<p>Pairs are looked for with copydetect, which is not installed here: {advice}.</p>"
    if pairs:
        lines = [
            [clean.text(p.one), clean.text(p.other), f"{p.part:.0%}", clean.text(", ".join(_cell(w) for w in p.where))]
            for p in pairs[:MOST]
        ]
        caption = "Pairs that share what few others wrote, names aside"
        columns = ["One", "Other", "Shared", "Mostly in"]
        yield (
            f"<h3>{caption}: {len(pairs)}</h3>"
            + table(caption, columns, lines, numbers=(2,), said=True)
            + _more(len(pairs))
        )
    groups = same_to_the_letter(answers, free, right)
    if groups:
        lines = [
            [clean.text(_cell(g.where)), str(len(g.students) - (REFERENCE in g.students)), _names(g.students)]
            for g in groups[:MOST]
        ]
        caption = "Long answers that are the same to the letter"
        columns = ["Question", "Students", "Who"]
        yield (
            f"<h3>{caption}: {len(groups)}</h3>"
            + table(caption, columns, lines, numbers=(1,), said=True)
            + _more(len(groups))
        )
    if not pairs and not groups:
        yield "<p>Nothing stands out.</p>"


def _time(known: Sequence[Record]) -> Iterator[str]:
    seconds = sorted((record.seconds, record.student) for record in known if record.seconds)
    if not seconds:
        yield "<p>Nothing was run.</p>"
        return
    total = sum(value for value, _ in seconds)
    middle = statistics.median(value for value, _ in seconds)
    yield (f"<p>Running students' code took {total:.0f} seconds in all, {middle:.2f} for the median submission.</p>")
    lines = [[clean.text(student), f"{value:.2f}"] for value, student in reversed(seconds[-5:])]
    yield table("The slowest submissions, by seconds in the box", ["Student", "Seconds"], lines, numbers=(1,))
    tiers = Counter(record.isolation or "unknown" for record in known)
    yield f"<p>Isolation: {', '.join(f'{html.escape(name)} ({count})' for name, count in tiers.most_common())}.</p>"


def hours(seconds: float) -> str:
    """In the words of a person: 20 minutes, 5 hours, 2.5 days."""
    for size, unit in ((86400, "days"), (3600, "hours")):
        if seconds >= 2 * size:
            return f"{round(seconds / size, 1):g} {unit}"
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def _names(students: Sequence[str], most: int = 12) -> str:
    rest = f" and {len(students) - most} more" if len(students) > most else ""
    return clean.text(", ".join(students[:most])) + rest


def _more(count: int) -> str:
    return f"<p>And {count - MOST} more.</p>" if count > MOST else ""


def _short(exercise: str) -> str:
    return exercise.rpartition(".")[2]


def _cell(where: str) -> str:
    return where.rpartition("/")[2]
