"""Marking by several people: whose answer it is, a second marking of a drawn sample, and items that change for all."""

import getpass
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from autograder.grading import log, markers, rubric
from autograder.grading.byhand import ChangedMeanwhile, mark_by_hand
from autograder.grading.gradebook import renew_penalties
from autograder.grading.rubric import Item, total
from autograder.instructor.written import Class, Question, Unit
from autograder.pages import counted, number


def account() -> str:
    """Who marks if no name is given: the account of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"


def of_marker(answers: Class, question: Question, units: Sequence[Unit], by: str) -> list[Unit]:
    """What a marker has marked, and what waits of the marker's share. Identical answers go to one marker."""
    whose, known = _marker_of(answers), log.Log(*answers.where)
    anybody = next(iter(markers.shares(answers.course.root)), by)  # for a graded answer whose submission is gone

    def marker(unit: Unit) -> str:
        entry = known.of(*question.place, unit.first.student, unit.first.manual)
        return entry.by if entry is not None and not unit.waiting else whose.get(_first(unit), anybody)

    return [unit for unit in units if marker(unit) == by]


def to_mark_again(answers: Class, question: Question, units: Sequence[Unit], by: str, most: int) -> list[Unit]:
    """A drawn sample of answers that somebody else has marked, as if nobody had; with the marks that `by` has given
    there."""
    known = log.Log(*answers.where)
    mine = {where[2] for where, marks in known.second.items() if where[:2] == question.place and by in marks}
    others = {}
    for unit in units:
        entry = known.of(*question.place, unit.first.student, unit.first.manual)
        if not unit.waiting and unit.first.manual is not None and (entry is None or entry.by != by):
            others[unit.first.student] = unit
    root, assignment = answers.where
    drawn = markers.in_drawn_order(root, f"{assignment}\n{question.cell}\nsecond", list(others))
    chosen = sorted(drawn, key=lambda student: student not in mine)[: max(most, len(mine & others.keys()))]
    return [_blind(unit, known, question, by) for student, unit in others.items() if student in chosen]


def _blind(unit: Unit, known: log.Log, question: Question, by: str) -> Unit:
    """Without the first mark; with the second one, if there is one."""

    def own(given: Any) -> Any:
        entry = known.second.get((*question.place, given.answer.student), {}).get(by)
        points, words = (None, "") if entry is None else (entry.points, entry.words)
        answer = given.answer._replace(auto=None, manual=points, waiting=points is None, words=words)
        return replace(given, answer=answer)

    given = tuple(map(own, unit.given))
    return Unit(given, given)


def apply_items(page: Any, question: Question) -> str:
    """Give everybody who has items their points as they are now, in second marks too, and say what was done.
    Interrupted, it is done by the next call. A mark that was changed elsewhere, or waits for a second look, is left
    alone and counted."""
    answers: Class = page.answers
    items, known = page.items(question), page.log()
    page.gradebook.db.rollback()
    changed, second, left = [], 0, 0
    for answer in (one.answer for unit in answers.units(page.gradebook, question) for one in unit.given):
        where = *question.place, answer.student
        for entry in known.second.get(where, {}).values():
            new = _renewed(entry, items, question.of)
            if new != entry:
                second += new.points != entry.points
                log.add(*answers.where, [new])
        entry = known.first.get(where)
        if entry is None or not entry.items or entry.points is None:
            continue
        new = _renewed(entry, items, question.of)
        if new == entry and entry.points == answer.manual:
            continue
        if answer.waiting or answer.manual not in (entry.points, new.points):
            left += 1
            continue
        if answer.manual != new.points:
            try:
                mark_by_hand(page.gradebook, [answer], new.points, answer.words)
            except ChangedMeanwhile:
                left += 1
                continue
            changed.append(answer.student)
        log.add(*answers.where, [replace(new, words=answer.words)])
    if changed:
        renew_penalties(page.gradebook, answers.assignment, answers.course.config, changed)
    also = f", and {counted(second, 'second mark')}" if second else ""
    words = f"Saved. {counted(len(changed), 'mark')} changed{also}."
    return f"{words} {counted(left, 'mark')} changed elsewhere or waiting, and left alone." if left else words


def _renewed(entry: log.Entry, items: Sequence[Item], of: float) -> log.Entry:
    """The mark with the points that its items have now, without those that are gone."""
    if not entry.items or entry.points is None:
        return entry
    there = {item.id for item in items}
    points = total(items, entry.items, entry.more, of)
    return replace(entry, points=points, items=tuple(one for one in entry.items if one in there))


# --- what has been done -----------------------------------------------------------------------------------------


class Work(NamedTuple):
    """What one marker has done, and has to do."""

    marker: str
    share: int  # answers, by the division
    waiting: int  # of them
    marked: int  # answers with this marker's mark, whosever they were
    mean: float | None  # of these marks, as a part of the points


class Twice(NamedTuple):
    """An answer with two marks."""

    student: str
    question: str
    of: float
    first_by: str
    first: float
    second_by: str
    second: float
    items: tuple[str, ...] = ()  # given by only one of them, where both have given some

    @property
    def difference(self) -> float:
        return self.second - self.first


def work(answers: Class, gradebook: Any) -> tuple[list[Work], list[Twice]]:
    """What each marker has done, and all answers with two marks, the most different first."""
    words = {
        (each.place, item.id): item.words
        for each in answers.questions
        for item in rubric.items(*answers.where, *each.place, each.scheme)
    }
    whose, known = _marker_of(answers), log.Log(*answers.where)
    names = dict.fromkeys(markers.shares(answers.course.root))
    share: dict[str, list[bool]] = defaultdict(list)
    marks: dict[str, list[float]] = defaultdict(list)
    twice: list[Twice] = []
    for question, unit in ((each, unit) for each in answers.questions for unit in answers.units(gradebook, each)):
        if whose:
            share[whose.get(_first(unit), "")] += [unit.waiting] * len(unit.given)
        for answer in (given.answer for given in unit.given):
            if answer.manual is None or unit.waiting:
                continue
            entry = known.of(*question.place, answer.student, answer.manual)
            by, given = (entry.by, {*entry.items}) if entry is not None else ("", set())
            names.setdefault(by)
            marks[by].append(answer.manual / question.of if question.of else 0.0)
            others = known.second.get((*question.place, answer.student), {})
            about = answer.student, question.name, question.of, by, answer.manual
            for other, second in others.items():
                if second.points is not None:
                    apart = sorted(given ^ {*second.items} if given and second.items else (), key=int)
                    said = (words.get((question.place, item), f"item {item}") for item in apart)
                    twice.append(Twice(*about, other, second.points, tuple(said)))
    mean = {name: statistics.fmean(theirs) for name, theirs in marks.items() if theirs}
    made = [Work(one, len(share[one]), sum(share[one]), len(marks[one]), mean.get(one)) for one in names]
    return made, sorted(twice, key=lambda one: (-abs(one.difference), one.student))


def in_words(found: Sequence[Twice]) -> Iterator[str]:
    """The items about which markers differ most often, and then each answer."""
    often = Counter((one.question, item) for one in found for item in one.items)
    for (question, item), times in often.most_common(5):
        yield f"{question}, {item}: given by only one of two markers, {counted(times, 'answer')}"
    for one in found:
        marks = f"{one.first_by or 'not known'} {number(one.first)}, {one.second_by} {number(one.second)}"
        about = f"{one.student}, {one.question}, of {number(one.of)}"
        yield "; ".join((f"{about}: {marks} ({one.difference:+g})", *one.items))


def _first(unit: Unit) -> str:
    """Of those with the same answer, the one whose marker it has."""
    return min(given.answer.student for given in unit.twins)


def _marker_of(answers: Class) -> dict[str, str]:
    shares = markers.shares(answers.course.root)
    return markers.divided(*answers.where, answers.course.students(answers.assignment), shares) if shares else {}
