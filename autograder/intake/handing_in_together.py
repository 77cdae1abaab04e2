"""A list of groups, and the newest submission of a group for each of its members."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.files import WRITING, write_json
from autograder.grading import groups
from autograder.grading.course import Course
from autograder.grading.groups import Groups
from autograder.grading.run import only_one
from autograder.intake.handed import Piece
from autograder.intake.naming import Names
from autograder.intake.place import Place, digest
from autograder.intake.roster import columns_of, line_of, people_of
from autograder.intake.spreadsheet import WORDS, read_sheet
from autograder.intake.when import in_utc


def read_groups(course: Course, path: Path) -> Groups:
    """A table with a column for the group and columns that name a student, one line for each member; lines without a
    group are left out. Raises ValueError for a student who is unknown, or is in two groups."""
    sheet = read_sheet(path)
    place = sheet.column(*WORDS["groups"]["group"])
    if place is None:
        raise ValueError(
            f"{path.name} has no column called group; it has {', '.join(filter(None, sheet.headings))}. Write lines"
            " GROUP,STUDENT below the headings group,student"
        )
    with course.gradebook() as gradebook:
        names = Names(people_of(gradebook))
    columns = columns_of(sheet)
    found: Groups = {}
    whose: dict[str, str] = {}
    for number, row in sheet.rows:
        if not row[place]:
            continue
        line = line_of(number, row, columns)
        said = [line[key] for key in ("login", "email", "number", "lms", "id") if line[key]]
        known = names.find(f"{line['first']} {line['last']}".strip(), said).ids
        if len(known) != 1:
            who = ", ".join(filter(None, [*said, line["first"], line["last"]])) or "nobody"
            several = f"it may be {' or '.join(known)}" if known else "the gradebook knows no such student; see roster"
            raise ValueError(f"{path.name}, line {number}: {who}: {several}")
        if whose.setdefault(known[0], row[place]) != row[place]:
            raise ValueError(
                f"{path.name}, line {number}: {known[0]} is in two groups, {whose[known[0]]} and {row[place]}"
            )
        if known[0] not in found.setdefault(row[place], []):
            found[row[place]].append(known[0])
    if not found:
        raise ValueError(f"{path.name} names no group")
    return found


def keep(course: Course, assignments: list[str], found: Groups | None) -> None:
    """The groups of these assignments (none named: of all that have none of their own); None: no groups. A list for all
    leaves an assignment that is graded already with the groups that it had: another group's submission would replace
    the graded one. Raises NotACourse."""
    for assignment in assignments:
        course.masters(assignment)  # it is known
    there = groups.kept(course.root)
    if not assignments:
        before = there.get(groups.ALL, {})
        graded = {path.parent.parent.name for path in (course.root / "grading").glob("*/*/record.json")}
        there |= {name: before for name in sorted(graded - there.keys())}
    for name in assignments or [groups.ALL]:
        if found is None and not assignments:
            there.pop(name, None)
        else:
            there[name] = found or {}
    write_json(course.root / groups.KEPT, there)


def share(course: Course, assignment: str) -> tuple[list[str], list[str]]:
    """Give every member the group's newest submission, with its time; done again, it changes nothing. What a member had
    lies in `.earlier` afterwards. Returns who has got something, and the groups in which it is not certain which
    submission is the newest. Raises AlreadyRunning."""
    given: list[str] = []
    unsure: list[str] = []
    found = groups.of(course.root, assignment)
    if not found or not course.submitted.is_dir():
        return given, unsure
    begun = f".group-{assignment}-"
    with (
        only_one(course.root / "grading" / assignment),
        TemporaryDirectory(prefix=begun, suffix=WRITING, dir=course.submitted) as scratch,
    ):
        for left in course.submitted.glob(f"{begun}*{WRITING}"):  # by a run that was killed
            if left != Path(scratch):
                shutil.rmtree(left, ignore_errors=True)
        for name, members in found.items():
            places = [Place(course, student, assignment, Path(scratch) / "new", True) for student in members]
            pieces = [piece for place in places if (piece := place.piece()) is not None]
            if not pieces:
                continue
            newest = _newest(pieces)
            if newest is None:
                unsure.append(name)
                continue
            given += [place.student for place in places if place.take([newest], timed=True) in ("new", "newer")]
    return given, unsure


def _newest(pieces: list[Piece]) -> Piece | None:
    """The submission that counts. If all are the same, the first of them: the others repeat it."""
    same = len({digest(piece.files) for piece in pieces}) == 1
    timed = sorted((in_utc(piece.when), place) for place, piece in enumerate(pieces) if piece.when is not None)
    if not same and len(timed) < len(pieces):
        return None
    return pieces[timed[0 if same else -1][1]] if timed else pieces[0]
