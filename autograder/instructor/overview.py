"""The instructor's page: one file per assignment, after grading.

What to teach again, what needs attention, and the distribution of marks. It works for 20 and for 5,000 students: long
lists are cut and say how many more there are; all of them are in the table (`autograder.instructor.table`). The content
is computed here; `pages/overview.html` has the layout.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.feedback import clean
from autograder.feedback.clean import text
from autograder.files import write_whole
from autograder.grading import groups, records
from autograder.grading.course import Course
from autograder.grading.gradebook import late_arithmetic
from autograder.grading.records import Record
from autograder.guard import Guard, NotRead
from autograder.instructor import likeness
from autograder.instructor.lessons import KINDS, Mistaken, difficulties, failures, mistakes, to_look_at, uncontained
from autograder.instructor.rows import Row, absent, questions_asked, report_rows, stale_in
from autograder.instructor.written import titles
from autograder.pages import duration, number, part, render
from autograder.preflight.master import defined
from autograder.question.find import exercises_of

MOST = 100  # lines of a list
BINS = 10


def write_overview(course: Course, assignment: str) -> Path:
    """Write the page to `grading/<assignment>/overview.html`. Raises NotACourse for an assignment that the
    gradebook does not know."""
    rows = report_rows(course, assignment)
    found = (records.load(course.root, assignment, student) for student in course.students(assignment))
    known = [record for record in found if record is not None]
    states = Counter(row.state for row in rows)
    asked, called = questions_asked(course, assignment), titles(course, assignment)
    with Guard() as guard:
        again = _again(course, assignment, known, guard)
    page = render(
        "overview.html",
        title=f"After grading: {assignment}",
        clean=clean,
        most=MOST,
        names=_names,
        students=len(rows),
        handed_in=len(rows) - states["nothing handed in"],
        states=", ".join(f"{count} {state}" for state, count in states.most_common()),
        graded=len(known),
        uncontained=len(uncontained(known)),
        waiting=states["waiting"],
        stale=stale_in(rows, assignment),
        marks=_marks(rows),
        hard=[
            [text(called[name]), part("bar", mean), number(of), full, none, marked, "" if r is None else f"{r:.2f}"]
            for name, of, marked, mean, full, none, r in difficulties(asked, rows)
        ],
        failed=[
            [text(one.name), text(_short(one.exercise)), one.failed, f"{one.failed / one.written:.0%}"]
            for one in failures(mark for record in known for mark in record.marks)[:20]
        ],
        absent=absent(rows),
        ungraded=[row.student for row in rows if row.state == "not graded"],
        late=[
            [text(row.student), duration(row.late), number(row.penalty), late_arithmetic(course.config, row.late)]
            for row in rows
            if row.late > 0
        ],
        looks=_looks(known),
        time=_time(known),
        **again,
    )
    target = course.root / "grading" / assignment / "overview.html"
    write_whole(target, page)
    return target


def counts(parts: Sequence[float]) -> list[int]:
    """The number of students in each tenth of the points: [0, 10 %), … [90 %, 100 %]; more than all (extra credit) in
    the last."""
    found = Counter(min(max(int(share * BINS + 1e-9), 0), BINS - 1) for share in parts)
    return [found[i] for i in range(BINS)]


def _marks(rows: Sequence[Row]) -> dict[str, Any]:
    parts = [row.score / row.of for row in rows if row.score is not None and row.of]
    if not parts:
        return {}
    low, middle, high = statistics.quantiles(parts, n=4) if len(parts) > 1 else (parts[0],) * 3
    of, heights = next(row.of for row in rows if row.of), counts(parts)
    points = {"of": of, "median": middle * of, "low": low * of, "high": high * of, "mean": statistics.fmean(parts) * of}
    tenths = [
        [f"{i * 10} to {'under ' if i < BINS - 1 else ''}{i * 10 + 10} %", count, f"{count / len(parts):.0%}"]
        for i, count in enumerate(heights)
    ]
    shares = {"counts": heights, "tenths": tenths, "median_share": f"{statistics.median(parts):.0%}"}
    return {"students": len(parts), **points, **shares}


def _again(course: Course, assignment: str, known: Sequence[Record], guard: Guard) -> dict[str, Any]:
    """Findings from the answers: misconceptions with an example of each, and answers that are nearly the same.
    Unreadable submissions are left out."""
    unread: set[str] = set()

    def ask(otherwise: Any, function: Callable[..., Any], *given: Any) -> Any:
        try:
            return guard.ask(function, *given)
        except NotRead:
            unread.update(given[:1] if function is likeness.fingerprints else ())
            return otherwise

    single = set(groups.one_of_each(course.root, assignment, course.students(assignment)))  # partners are no copies

    def of_class(kind: str) -> dict[str, likeness.Answers]:
        found = likeness.answers_of_class(course, assignment, guard, kind)
        return {student: given for student, given in found if student in single}

    answers = of_class("code")
    marks = [(record.student, mark) for record in known for mark in record.marks]
    found = mistakes(marks, exercises_of(assignment))
    free, right = likeness.given(course, assignment), likeness.reference(course, assignment)
    anonymous = partial(ask, "", likeness.anonymous)
    try:
        pairs = _pairs(likeness.alike(answers, free, right, partial(ask, frozenset(), likeness.fingerprints)))
    except ImportError:
        pairs = None
    alone = {student: ask({}, likeness.forms, given, free) for student, given in answers.items()}
    prose = of_class("markdown")
    unwritten, model = (part(course, assignment, "markdown") for part in (likeness.given, likeness.reference))
    everything = {student: answers.get(student, {}) | prose.get(student, {}) for student in {*answers, *prose}}
    files = {one: of for one, of in likeness.files_of_class(course, assignment).items() if one in single}
    copies = likeness.whole(everything, free | unwritten, files)
    joint = likeness.together(alone, _right(known, answers))
    essays, edited = likeness.repeated(prose, unwritten, model)
    return {
        "copies": [[text(g.where), len(g.students), _names(g.students)] for g in copies],
        "together": [[text(p.one), text(p.other), f"{p.same} of {p.of}", p.wrong] for p in joint],
        "essays": _groups(essays),
        "edited": _pairs(edited),
        "mistakes": [
            [text(m.id), len(m.students), f"{len(m.students) / m.written:.0%}", text(_short(m.exercise))]
            for m in found[:MOST]
        ],
        "examples": [(m, _short(m.exercise), _example(m, answers, anonymous)) for m in found[:12]],
        "pairs": pairs,
        "unread": [student for student, given in answers.items() if not unread.isdisjoint(given.values())],
        "groups": _groups(likeness.same_to_the_letter(answers, free, right)),
    }


def _right(known: Sequence[Record], answers: Mapping[str, likeness.Answers]) -> dict[str, dict[str, bool]]:
    """By student and answer: whether every function in it that the grader asked for has full marks."""
    made: dict[str, dict[str, bool]] = {}
    for record in known:
        full = {_short(str(mark["exercise"])): mark["points"] >= mark["of"] for mark in record.marks}
        for where, source in answers.get(record.student, {}).items():
            if asked := defined(source) & full.keys():
                made.setdefault(record.student, {})[where] = all(full[name] for name in asked)
    return made


def _pairs(found: Sequence[likeness.Pair]) -> list[list[str]]:
    return [[text(p.one), text(p.other), f"{p.part:.0%}", text(", ".join(map(_cell, p.where)))] for p in found]


def _groups(found: Sequence[likeness.Same]) -> list[list[Any]]:
    return [
        [text(_cell(g.where)), len(g.students) - (likeness.REFERENCE in g.students), _names(g.students)] for g in found
    ]


def _example(one: Mistaken, answers: Mapping[str, likeness.Answers], anonymous: Callable[[str], str]) -> str:
    """The shortest answer of those who made a mistake."""
    given = (source for student in one.students[:MOST] for source in answers.get(student, {}).values())
    written = (anonymous(source) for source in given if f"def {_short(one.exercise)}(" in source)
    return min(filter(None, written), key=len, default="")


def _looks(known: Sequence[Record]) -> list[tuple[str, int, list[list[str]]]]:
    """(what happened, to how many students, a line for each time) by kind."""
    found = []
    for kind, group in groupby(to_look_at(known), key=lambda look: look.kind):
        here = list(group)
        lines: list[list[str]] = [[text(look.student), text(look.words, 300)] for look in here]
        found.append((KINDS[kind], len({look.student for look in here}), lines))
    return found


def _time(known: Sequence[Record]) -> dict[str, Any]:
    seconds = sorted((record.seconds, record.student) for record in known if record.seconds)
    if not seconds:
        return {}
    tiers = Counter(record.isolation or "unknown" for record in known)
    return {
        "total": f"{sum(value for value, _ in seconds):.0f}",
        "median": f"{statistics.median(value for value, _ in seconds):.2f}",
        "slowest": [[text(student), f"{value:.2f}"] for value, student in reversed(seconds[-5:])],
        "tiers": ", ".join(f"{name} ({count})" for name, count in tiers.most_common()),
    }


def _names(students: Sequence[str], most: int = 12) -> Markup:
    rest = f" and {len(students) - most} more" if len(students) > most else ""
    return text(", ".join(students[:most])) + rest


def _short(exercise: str) -> str:
    return exercise.rpartition(".")[2]


def _cell(where: str) -> str:
    return where.rpartition("/")[2]
