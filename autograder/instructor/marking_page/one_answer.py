"""The page of one answer: it is shown, and its points and comment are saved."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from markupsafe import Markup
from tornado.web import HTTPError

from autograder.feedback import clean
from autograder.grading.byhand import ChangedMeanwhile
from autograder.grading.rubric import MOST, total
from autograder.grading.rubric import comments as earlier_comments
from autograder.guard import NotRead
from autograder.instructor.marking_page.guarded import Shared, Why, as_number, waiting
from autograder.instructor.written import Given, Question, Unit
from autograder.pages import number, points

LONGEST = 20_000  # characters of a comment
ITEM_KEYS = "bdefghijklmopqrtuvwyz"  # those that mean nothing else on the page


class Marking(Shared):
    methods = ("get", "post")

    def get(self, place: str, key: str) -> None:
        units = self.page.units(self.question(place))
        self._show(int(place), units, _with(units, key))

    def post(self, place: str, key: str) -> None:
        question = self.question(place)
        unit = _with(self.page.units(question), key)
        typed, words = self.get_body_argument("points", ""), self.get_body_argument("words", "").strip()
        words = words.replace("\r\n", "\n")[:LONGEST]
        alike, back = (self.get_body_argument(name, "") == "yes" for name in ("alike", "back"))
        try:
            if self.get_body_argument("state", "") != unit.state:
                raise ChangedMeanwhile("this answer, its mark or its comment has been changed since you saw it")
            given, why = (None, Why()) if back else self._points(question, unit, typed)
            self.page.said = self._save(question, unit, given, words, alike, back, why)
        except (ValueError, ChangedMeanwhile) as error:
            self.set_status(409 if isinstance(error, ChangedMeanwhile) else 422)
            units = self.page.units(question)
            refused = {"typed": typed, "words": words, "alike": alike, "chosen": self.get_body_arguments("item")}
            return self._show(int(place), units, _with(units, key), f"Not saved: {error}.", **refused)
        units = self.page.units(question)
        here = units.index(_with(units, key))
        rest = [*units[here + 1 :], *units[: here + 1]]
        return self.go(int(place), waiting(rest))

    def _points(self, question: Question, unit: Unit, typed: str) -> tuple[float | None, Why]:
        """The points, and the items that they are for. Without our script the field does not follow the items, so a
        number that was left as it was does. Raises ValueError."""
        known, said = self.page.items(question), self.get_body_arguments("item")
        chosen = tuple(item.id for item in known if item.id in said)
        given, before = _typed(typed, question.of), self.page.entry(question, unit)
        had, more = (before.items, before.more) if before is not None else ((), 0.0)
        untouched = given is None or (self.get_body_argument("live", "") != "yes" and given == unit.points)
        if untouched and chosen != had:
            return total(known, chosen, more, question.of), Why(chosen, more)
        if given is None:
            return None, Why(had, more)
        whole = sum(item.points for item in known if item.id in chosen)
        if not chosen or given == total(known, chosen, 0.0, question.of):
            return given, Why(chosen)
        return given, Why(chosen, round(given - whole, 6))

    def _save(
        self, question: Question, unit: Unit, given: float | None, words: str, alike: bool, back: bool, why: Why
    ) -> str:
        """Save it, and report what was done. Raises ValueError, ChangedMeanwhile, GradebookBusy."""
        whose = unit.given[0].whose  # the members of a group have one mark
        meant = unit.twins if alike else [one for one in unit.given if one.whose == whose]
        if given is None and not back:
            if words == unit.first.words:
                raise ValueError("type the points first; → goes on without")
            given = unit.first.manual  # the comment alone
        self.page.mark(question, meant, given, words, why)
        self.page.last = words or self.page.last
        self.page.marked += len(meant) * (given is not None)
        many = f" for {len(meant)} answers" if len(meant) > 1 else ""
        done = "Only the comment is saved" if given is None else f"{points(given)} saved"
        return f"{'The mark is withdrawn' if back else done}{many}."

    def _show(self, place: int, units: list[Unit], unit: Unit, wrong: str = "", **refused: Any) -> None:
        """wrong: why what was typed is not saved; refused: what was typed, to be corrected."""
        question, about = self.question(str(place)), self.page.answers
        entry = self.page.entry(question, unit)
        said, self.page.said = wrong or self.page.said, ""
        comments = Counter(one.answer.words for unit in units for one in unit.given if one.answer.words)
        before = earlier_comments(*about.where).get("/".join(question.place), [])
        places = self.page.places(question, units)
        group = places.get(unit.text)
        similar = [one for one in units if group and one.text in places and places[one.text].group == group.group]
        typed = {
            "typed": "" if unit.points is None else number(unit.points),
            "words": unit.first.words,
            "alike": not unit.waiting and len(unit.given) == len(unit.twins),  # once said, it holds for a correction
            "chosen": entry.items if entry is not None else (),
        }
        self.show(
            "mark.html",
            **typed | refused,
            page=self.page,
            question=question,
            clean=clean,
            place=place,
            unit=unit,
            units=units,
            group=group,
            similar=sum(len(one.given) for one in similar),
            here=units.index(unit),
            items=self.page.items(question),
            keys=ITEM_KEYS,
            state=_in_words(unit, question, entry.by if entry is not None else ""),
            who=sorted(one.answer.name or one.answer.student for one in unit.given) if self.page.names else [],
            answer=self._shown(unit.given[0]),
            before=self._before(question, unit),
            left=len(about.not_graded()),
            comments=[*dict.fromkeys([*(words for words, _ in comments.most_common()), *before])][:MOST],
            said=said,
            wrong=bool(wrong),
        )

    def _before(self, question: Question, unit: Unit) -> Markup:
        """The answer for which the mark was given, where it has changed since."""
        text = self.page.answers.read_of(unit.given[0]).of(*question.place)
        if not unit.waiting or text == unit.text:
            return Markup()
        return self._read("It cannot be shown: {}.", clean.markdown, text)

    def _shown(self, given: Given) -> Markup:
        if not given.cells:
            return Markup("<p>There is nothing to read here. {}</p>").format(given.why)
        student = f"{given.answer.student}/" if self.page.names else ""
        fault = f"This answer cannot be shown: {{}}. It is in autograded/{student}, as it was handed in."
        return self._read(fault, clean.written, given.cells, "A picture that the code drew")

    def _read(self, fault: str, function: Callable[..., Markup], *given: Any) -> Markup:
        """What the guard makes of a student's text, or what is wrong with it."""
        try:
            return self.page.answers.guard.ask(function, *given)
        except NotRead as why:
            return Markup("<p>{}</p>").format(fault.replace("{}", str(why)))


def _with(units: list[Unit], key: str) -> Unit:
    """The unit that contains an answer."""
    if (found := next((unit for unit in units if any(one.answer.grade == key for one in unit.given)), None)) is None:
        raise HTTPError(404)
    return found


def _typed(typed: str, of: float) -> float | None:
    """Raises ValueError for anything except a number from 0 to `of`."""
    given = as_number(typed)
    if typed.strip() and not 0 <= given <= of:
        raise ValueError(f"points must be a number from 0 to {number(of)}, got {typed.strip()[:20]!r}")
    return given if typed.strip() else None


def _in_words(unit: Unit, question: Question, by: str) -> str:
    of = points(question.of)
    if unit.points is None:
        return f"No mark yet, of {of}."
    if unit.waiting:
        given = f"{number(unit.points)} of {of} were given"
        return f"{given}, and the answer or its worth has changed since: Enter confirms them."
    who = f"given by {by}" if by else "given by hand"
    if unit.first.manual is None:
        who = "given automatically: the answer was not touched"
    return f"{number(unit.points)} of {of}, {who}."
