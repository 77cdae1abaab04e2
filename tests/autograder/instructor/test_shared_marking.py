"""Several markers: shares, whose mark it is, a second marking that nobody sees the first in, items for everybody."""

import re

import pytest

from autograder.assignments import names
from autograder.commands.together import markers as markers_command
from autograder.grading import log, markers, rubric
from autograder.grading.byhand import answers_to
from autograder.grading.rubric import in_scheme, total
from autograder.guard import Guard
from autograder.instructor.shared_marking import in_words, work
from autograder.instructor.written import Class, split
from autograder.intake.removal import remove
from tests.autograder.courses import ANSWERS, ROOT, env, marked, writes
from tests.autograder.grading import fake
from tests.autograder.instructor.visitor import visiting

pytestmark = pytest.mark.filterwarnings("ignore")
STUDENTS = [f"s{number:02}" for number in range(12)]


@pytest.fixture(scope="module")
def template(plain_template, tmp_path_factory):
    handed_in = {student: writes(ANSWERS | {"why": f"Reason of {student}."}) for student in STUDENTS}
    return fake.graded(plain_template, tmp_path_factory.mktemp("class") / "course", handed_in)


def seen(visitor) -> list[str]:
    """Whose answers the page shows."""
    return sorted({student for answer in visitor.walk() for student in re.findall(r"Reason of (s\d\d)", answer)})


def points(course) -> dict[str, float | None]:
    with course.gradebook() as book:
        return {one.student: one.manual for one in answers_to(book, "plain", "one", "why")}


def done(course):
    with Guard() as guard, course.gradebook() as book:
        return work(Class(course, "plain", guard), book)


def test_shares_hold_to_a_student_and_do_not_change(course):
    one = markers.divided(course.root, "plain", STUDENTS, {"ann": 1.0, "bob": 2.0})
    assert sorted(one) == STUDENTS
    assert [list(one.values()).count(name) for name in ("ann", "bob")] == [4, 8]
    assert one == markers.divided(course.root, "plain", reversed(STUDENTS), {"ann": 1.0, "bob": 2.0})
    assert one != markers.divided(course.root, "other", STUDENTS, {"ann": 1.0, "bob": 2.0})


def test_each_sees_the_own_share_and_every_mark_is_somebodys(course):
    assert markers_command(env(course.root), ["--share", "ann", "--share", "bob=2"]) == 0
    with visiting(course, by="ann", share=True) as ann:
        mine = seen(ann)
        assert len(mine) == 4
        ann.ask("GET", "/0/")
        for _ in mine:
            assert ann.save(points="3", words="Well.") == 200
        assert "Every answer has a mark." in ann.page
    with visiting(course, by="bob", share=True) as bob:
        assert seen(bob) == sorted({*STUDENTS} - {*mine})
    assert {student for student, mark in points(course).items() if mark == 3} == {*mine}
    found = {one.marker: one for one in done(course)[0]}
    assert (found["ann"].marked, found["ann"].mean) == (4, 0.75)
    marked(course, mine[0], "why", 1.0)  # by Formgrader
    assert {one.marker: one.marked for one in done(course)[0]} == {"ann": 3, "bob": 0, "": 1}


def test_a_second_marking_shows_no_first_mark_and_changes_none(course, call):
    with visiting(course, by="ann") as ann:
        for _ in STUDENTS:
            ann.save(points="3", words="First comment.")
    before = points(course)
    with visiting(course, by="bob", second=5) as bob:
        sample = seen(bob)
        assert len(sample) == 5
        bob.ask("GET", "/0/")
        assert "No mark yet" in bob.page
        assert "First comment." not in bob.page
        bob.save(points="1.5")
    with visiting(course, by="bob", second=5) as bob:
        assert seen(bob) == sample
    assert points(course) == before
    (twice,) = done(course)[1]
    assert twice.student in sample
    assert (twice.first_by, twice.first, twice.second_by, twice.second) == ("ann", 3.0, "bob", 1.5)
    assert "ann 3, bob 1.5 (-1.5)" in call(markers_command, env(course.root), "plain")
    with visiting(course, by="ann", second=5) as ann:
        assert "No answer to this question is for you." in ann.page  # all of them are ann's own


def items(visitor, *rows: tuple[str, str], **changed) -> int:
    """Save the items of the first question."""
    for number, (words, worth) in enumerate(rows, 1):
        changed |= {f"words-{number}": words, f"points-{number}": worth}
    return visitor.items(changed)


def give(visitor, item: list[str], points: str = "", **fields) -> str:
    """Marks the first answer that waits by its items; whose it is."""
    visitor.ask("GET", "/0/")
    whose = re.search(r"Reason of (s\d\d)", visitor.page)[1]
    visitor.save(points=points, item=item, live="yes", **fields)
    return whose


def test_items_give_points_and_a_change_reaches_everybody_who_has_them(course):
    with visiting(course, by="ann") as ann:
        assert items(ann, ("Reason", "2"), ("Example", "1.5"), ("Too long", "-1")) == 200
        marks = ((["1"], ""), (["1", "2"], ""), (["1", "3"], ""), (["2"], "2"), ([], "1"))
        given = [give(ann, chosen, typed) for chosen, typed in marks]
        assert [points(course)[one] for one in given] == [2.0, 3.5, 1.0, 2.0, 1.0]
        marked(course, given[2], "why", 0.5)  # changed elsewhere: no longer the items'
        assert items(ann, ("Reason", "3"), ("Example", "1.5"), ("Too long", "-1")) == 200
        assert "2 marks changed. 1 mark changed elsewhere" in ann.page
        assert [points(course)[one] for one in given] == [3.0, 4.0, 0.5, 2.0, 1.0]  # 4 is all that there is
        assert items(ann, ("Reason", "2"), ("", ""), ("Too long", "-1")) == 200
        assert [points(course)[one] for one in given] == [2.0, 2.0, 0.5, 0.5, 1.0]  # half a point was beside the items
        assert items(ann, ("Reason", "much")) == 422
        assert items(ann, ("Reason", "1"), state="old") == 422
        assert [points(course)[one] for one in given] == [2.0, 2.0, 0.5, 0.5, 1.0]


def test_the_item_on_which_markers_differ_is_named_first(course):
    with visiting(course, by="ann") as ann:
        items(ann, ("Reason", "2"), ("Example", "1"), ("Clear", "1"))
        for _ in STUDENTS:
            give(ann, ["1", "2"])
    for by, chosen in (("bob", [["1"], ["1", "3"]]), ("cat", [["1"], []])):
        with visiting(course, by=by, second=2) as other:
            for given in chosen:
                give(other, given, "" if given else "1")
    twice = done(course)[1]
    found = sorted((one.second_by, one.items) for one in twice)
    assert found == [("bob", ("Example",)), ("bob", ("Example", "Clear")), ("cat", ()), ("cat", ("Example",))]
    first, second = list(in_words(twice))[:2]
    assert ("Example" in first, "3 answers" in first, "Clear" in second) == (True, True, True)


def test_a_change_of_items_reaches_second_marks_as_well(course):
    with visiting(course, by="ann") as ann:
        items(ann, ("Reason", "2"), ("Example", "1"))
        for _ in STUDENTS:
            give(ann, ["1"])
    with visiting(course, by="bob", second=3) as bob:
        for chosen, typed in ((["1", "2"], ""), (["2"], "1.5"), ([], "0.5")):
            give(bob, chosen, typed)
    assert sorted(one.second for one in done(course)[1]) == [0.5, 1.5, 3.0]
    with visiting(course, by="ann") as ann:
        assert items(ann, ("Reason", "1"), ("Example", "2")) == 200
        assert "12 marks changed, and 1 second mark." in ann.page  # 1 + 2 is what it was
        assert sorted(one.second for one in done(course)[1]) == [0.5, 2.5, 3.0]
        assert items(ann, ("Reason", "1"), ("", "")) == 200
    twice = done(course)[1]
    assert sorted(one.second for one in twice) == [0.5, 0.5, 1.0]  # half a point was beside the items
    assert {(one.first_by, one.first, one.second_by) for one in twice} == {("ann", 1.0, "bob")}


def test_a_crash_between_two_marks_is_mended_by_the_next_save(course, monkeypatch):
    with visiting(course, by="ann") as ann:
        items(ann, ("Reason", "2"))
        for _ in range(3):
            give(ann, ["1"])
        real = log.add
        monkeypatch.setattr(log, "add", lambda *_: (_ for _ in ()).throw(OSError("the machine stops")))
        items(ann, ("Reason", "2.5"))
        assert sorted(mark for mark in points(course).values() if mark) == [2.0, 2.0, 2.5]
        monkeypatch.setattr(log, "add", real)
        assert items(ann, ("Reason", "3")) == 200
        assert sorted(mark for mark in points(course).values() if mark) == [3.0, 3.0, 3.0]
        assert {one.by for one in log.Log(course.root, "plain").first.values()} == {"ann"}


def test_a_comment_alone_leaves_what_was_given_beside_the_items(course):
    with visiting(course, by="ann") as ann:
        items(ann, ("Reason", "2"))
        whose = give(ann, ["1"], "2.5")
        with course.gradebook() as book:
            key = next(one.grade for one in answers_to(book, "plain", "one", "why") if one.student == whose)
        ann.ask("GET", f"/0/{key}")
        assert ann.save(points="", item=["1"], words="Well.", live="yes") == 200
        assert items(ann, ("Reason", "3")) == 200
    assert points(course)[whose] == 3.5


def test_an_update_of_the_scheme_changes_no_item_that_somebody_has(course):
    place = course.root, "plain", "one", "why"
    rubric.pin(*place, "**Reason** (2), **Example** (1)")
    assert [item.words for item in rubric.items(*place, "**New** (1), **Reason** (2)")] == ["Reason", "Example"]


def test_a_line_that_was_cut_off_costs_only_itself(course):
    entry = log.Entry(student="ada", notebook="one", cell="why", by="bob", points=1.0, words="so\u2028ü\x85")
    log.add(course.root, "plain", [entry])
    path = course.root / "grading" / "plain" / log.FILE
    path.write_bytes(path.read_bytes() + b'{"student": "eve", "not')
    log.add(course.root, "plain", [entry])
    assert [(one.student, one.words) for one in log.entries(course.root, "plain")] == [("ada", entry.words)] * 2
    assert path.stat().st_mode & 0o077 == 0


def test_who_leaves_is_in_no_line(course):
    for student in ("s01", "s02"):
        log.add(course.root, "plain", [log.Entry(student=student, notebook="one", cell="why", by="bob", points=1.0)])
    remove(course, "s01")
    assert [one.student for one in log.entries(course.root, "plain")] == ["s02"]


def test_the_items_of_our_own_schemes_add_up_to_the_points():
    found = 0
    for name in names():
        text = (ROOT / "solutions" / name / f"{name}.py").read_text(encoding="utf-8")
        for asked in re.split(r"(?=^# ## )", text, flags=re.M):
            worth = re.search(r"\[\[written, .*?([\d.]+) points", asked)
            _, scheme = split("\n".join(line.removeprefix("#").removeprefix(" ") for line in asked.splitlines()))
            if worth is not None and in_scheme(scheme):
                found += 1
                assert sum(item.points for item in in_scheme(scheme)) == float(worth[1]), name
    assert found > 15


def test_points_stay_within_the_question():
    some = in_scheme("1. **One** (1): a.\n2. **Half** (½): b; **One and a half** (1½): c.")
    assert [item.points for item in some] == [1.0, 0.5, 1.5]
    assert total(some, {"1", "3"}, 0.0, 2.0) == 2.0
    assert total(some, {"2"}, -1.0, 2.0) == 0.0
