"""`regrade`: a check was wrong. Everybody is graded again, and you review the changes before any mark is written."""

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands import shared
from autograder.commands.running import ISOLATION, JOBS, SCHEDULER, Told
from autograder.commands.shared import Course, Given, command, count, flag, option

if TYPE_CHECKING:
    from autograder.grading.drafts import Draft
    from autograder.instructor.changed import Change

MOST = 30  # students of an assignment whose changes are printed; the CSV has all


@command(
    "regrade",
    "Grade assignments again after a check was mended, and say whose marks change, in what, by how much, and why.\n"
    "Nothing is written into the gradebook without --apply; marks by hand stay in any case.",
    "regrade attention                     what would change; grading/regrade.csv has all of it",
    "regrade                               every assignment that has been graded",
    "regrade attention --apply             write it: what was shown, without running anything again",
    "regrade --jobs 4",
    option("assignments", nargs="*", metavar="ASSIGNMENT", help="which (default: every one that has been graded)"),
    flag("--apply", "write the new marks"),
    JOBS,
    SCHEDULER,
    ISOLATION,
    option("--out", metavar="FILE", type=shared.out_file, help="for the list of changes"),
    flag("--json", "every change, for a program"),
)
def regrade(course: Course, given: Given) -> int:
    from autograder.files import write_whole
    from autograder.grading.drafts import Drafts, apply, graded_before
    from autograder.instructor.changed import Change, changes_of, changes_table
    from autograder.instructor.table import as_csv

    told = Told()
    told.listen()
    names = list(dict.fromkeys(given.assignments))
    if not names:
        with course.gradebook() as gradebook:
            names = sorted(each.name for each in gradebook.assignments)
        names = [name for name in names if graded_before(course, name)[0]]
        shared.refuse(not names, "nothing has been graded yet, so there is nothing to grade again")
    found: list[Change] = []
    faults = stale = 0
    try:
        for name in names:
            told.lines = []
            drafts, new = _graded_again(course, name, told, given)
            faults += sum(draft.fault for draft in drafts)
            whole = [draft for draft in drafts if not draft.fault]
            for draft, changes in zip(whole, changes_of(course, name, whole), strict=True):
                if draft.changes is None:
                    draft.changes = [vars(change) for change in changes]
            made = [Change(**change) for draft in whole for change in draft.changes or ()]
            found += made
            if not given.json:
                _say(name, len(drafts), made, new)
            if given.apply:
                stale += len(whole) - sum(1 for _ in apply(course, name, whole))
    except KeyboardInterrupt:
        told.stopped()
        return shared.STOPPED
    # Planned changes are always written to the same file, applied ones to a new one each time.
    file = f"regraded-{datetime.now():%Y-%m-%d-%H%M%S}.csv" if given.apply else "regrade.csv"
    path = given.out or course.root / "grading" / file
    write_whole(path, as_csv(changes_table(found)))
    if given.apply:
        for name in names:
            Drafts(course, name).forget()
    return _summary(found, faults, stale, path, given)


def _graded_again(course: Course, name: str, told: Told, given: Given) -> "tuple[list[Draft], list[str]]":
    """The drafts of everybody who had been graded, and the students who had not and are left alone."""
    from tqdm import tqdm

    from autograder.grading.drafts import Draft, Drafts, graded_before
    from autograder.grading.run import grade

    course.masters(name)  # before anything else: whether there is such an assignment
    students, new = graded_before(course, name)
    how = {option: vars(given)[option] for option in ("jobs", "scheduler", "isolation")}
    with contextlib.closing(grade(course, name, students, **how, keeps=Drafts)) as run:
        about = {"desc": name, "total": len(students), "unit": " submissions", "dynamic_ncols": True, "leave": False}
        told.lines.extend(tqdm(run, **about, disable=given.json))
    kept = Drafts(course, name)
    drafts = (draft for student in students if (draft := kept.load(student)) is not None)
    return [Draft(draft.record, changes=draft.changes) for draft in drafts], new  # without what was displayed


def _say(name: str, graded: int, changes: "Sequence[Change]", new: Sequence[str]) -> None:
    from autograder.preflight.finding import shown

    moved = {change.student: change for change in changes if change.moves}
    moves = {0: "no mark changes", 1: "1 mark changes"}.get(len(moved), f"{len(moved)} marks change")
    print(f"{name}: {count(graded, 'submission')} graded again; {moves}.")
    for student in list(moved)[:MOST]:
        total = moved[student]
        print(f"  {shown(student)}: {_mark(total.old_total)} -> {_mark(total.new_total)}")
        for change in changes:
            if change.student == student:
                what = change.question or "the submission"
                print(f"      {what}: {_mark(change.old)} -> {_mark(change.new)}: {change.why}")
    if len(moved) > MOST:
        print(f"  And {len(moved) - MOST} more: all of them are in the list.")
    below = sorted({change.student for change in changes} - set(moved))
    shared.names("  Marks by hand stay, though something about them changes (the list says what): {}.", below)
    shared.names(f"  Not graded before, and so left alone (python3 -m autograder grade {name}): {{}}.", new)


def _mark(mark: float | None) -> str:
    return "no mark" if mark is None else f"{round(mark, 4):g}"


def _summary(changes: "Sequence[Change]", faults: int, stale: int, path: Path, given: Given) -> int:
    moved = {(change.assignment, change.student): change for change in changes if change.moves}
    differences = [(c.new_total or 0.0) - (c.old_total or 0.0) for c in moved.values()]
    up, down = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    code = 1 if faults or stale else 0
    if given.json:
        facts = {"applied": given.apply, "changes": [vars(change) for change in changes], "list": str(path)}
        facts |= {"up": up, "down": down, "grader's fault": faults, "changed meanwhile": stale}
        return shared.as_json(facts, code)
    print(f"\n{'Changed' if given.apply else 'Would change'}: {count(len(moved), 'mark')}, {up} up and {down} down.")
    if differences:
        print(f"  By {min(differences):+g} to {max(differences):+g} points, {sum(differences):+g} in all.")
    if faults:
        print(f"  {count(faults, 'submission')} failed through the grader's fault, and kept the old marks.")
    if stale:
        print(f"  {count(stale, 'submission')} changed meanwhile, and kept the old marks: the same command again.")
    print(f"The list: {path}")
    names = "".join(f" {name}" for name in given.assignments)
    if not given.apply and not changes:
        print("There is nothing to write.")
    elif not given.apply:
        print(f"Nothing has been written into the gradebook. To write it: python3 -m autograder regrade{names} --apply")
    elif moved:
        print("Then feedback and report again, for every assignment in the list.")
    return code
