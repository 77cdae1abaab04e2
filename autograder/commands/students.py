"""Commands for the class and its submissions: roster, collect, exchange, hub."""

import os
import sys
from collections import Counter
from dataclasses import asdict

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option, several
from autograder.commands.together import share_out
from autograder.files import open_to_others

DRY = flag("--dry-run", "say what would be done, and change nothing")
MATCH = "who is who: Moodle's grading worksheet (it has the times, too), or lines NAME,STUDENT[,TIME]"
MOST = 20  # names in a line
STATES = {"new": "new", "newer": "newer than what was there", "kept": "older than what is there", "same": "as before"}


@command(
    "roster",
    "Put a class list into the gradebook: Moodle's participants or grades, Canvas's grades, Gradescope's roster, or a\n"
    "CSV of your own. Columns are recognised by their headings. A list removes nobody; read again, it changes nothing.",
    "roster participants.csv",
    "roster participants.csv --id 'Email address'",
    "roster 2026_Grades.csv --dry-run",
    "roster --remove ada                  from the gradebook, and every folder of the course",
    shared.path("file", metavar="FILE", nargs="?", help="the list, as CSV"),
    option("--remove", metavar="ID", help="remove this student, with all marks and submissions"),
    option("--id", metavar="COLUMN", dest="id_column", help="the column that ids are taken from"),
    DRY,
    flag("--json", "everything that was found, for a program"),
)
def roster(course: Course, given: Given) -> int:
    from autograder.intake.roster import enrol, read_roster

    shared.refuse((given.file is None) == (given.remove is None), "give a list, or --remove ID")
    if given.remove is not None:
        return _remove(course, given)
    for words in open_to_others(course.root):
        print(f"! {words}", file=sys.stderr)
    people, made = read_roster(given.file, given.id_column)
    enrol(course, people, made, write=not given.dry_run)
    if given.json:
        return shared.as_json(vars(made))
    print(
        f"{count(len(people), 'student')} in {given.file.name}; {made.way}.\n"
        f"{'Would be added' if given.dry_run else 'Added'}: {len(made.added)}. Changed: {len(made.changed)}."
        f" Unchanged: {made.same}."
    )
    shared.names("  {}", made.added, MOST)
    for student, what in made.changed:
        print(f"  {student}: {what}")
    for who, why in made.left_out:
        print(f"  Left out: {who}: {why}.")
    shared.names("In the gradebook and not in this list, and kept: {}.", made.absent, MOST)
    if made.absent:
        print("  To take one out, with all marks and submissions: python3 -m autograder roster --remove ID")
    return 0


def _remove(course: Course, given: Given) -> int:
    from autograder.intake.removal import remove

    made = remove(course, given.remove, write=not given.dry_run)
    if given.json:
        return shared.as_json(vars(made))
    print(f"{'Would be removed' if given.dry_run else 'Removed'}: {given.remove}, from", *made.gone, sep="\n  ")
    if made.left:
        again = "Write them anew (report, feedback, race) or delete them:"
        print(f"Still named in these files. {again}", *made.left, sep="\n  ")
    print("Your LMS, its downloads, and copies that you keep elsewhere are not touched.")
    return 0


@command(
    "collect",
    "Take downloads of Moodle, Canvas or Gradescope, or a folder or zip with a folder per student, apart into\n"
    "submitted/STUDENT/ASSIGNMENT/. What was there is kept, in submitted/STUDENT/.earlier/. Nothing is run.",
    "collect attention attention-submissions.zip",
    "collect attention moodle.zip --match Grades-worksheet.csv",
    "collect attention ~/Downloads/submissions/ --dry-run",
    shared.path("downloads", nargs="+", metavar="DOWNLOAD", help="a zip or a folder; later ones count as newer"),
    several("--match", metavar="FILE", type=shared.here, help=MATCH),
    DRY,
    flag("--json", "everything that was found, for a program"),
)
def collect(course: Course, assignment: str, given: Given) -> int:
    from autograder.intake.collect import collect as take
    from autograder.preflight.finding import shown

    made = take(course, assignment, given.downloads, given.match, write=not given.dry_run)
    if not given.dry_run:
        share_out(course, assignment, quiet=given.json)
        there = set(course.students(assignment))
        made.missing = [who for who in made.missing if who.partition(" ")[0] not in there]
    if given.json:
        facts = asdict(made)
        for download, read in zip(facts["downloads"], made.downloads, strict=True):
            download["pieces"] = [piece.label for piece in read.pieces]
        return shared.as_json(facts, 1 if made.unmatched else 0)
    for read in made.downloads:
        print(f"{read.source}: {read.system}, {count(len(read.pieces), 'submission')}.")
        shared.lines("  {}", read.left, MOST)
    states = Counter(made.states.values())
    said = ", ".join(f"{states[name]} {words}" for name, words in STATES.items() if states[name]) or "nothing"
    print(f"{'Would be taken' if given.dry_run else 'Taken'}: {said}.")
    if states["newer"] or states["kept"]:
        print(f"  Of several the newest is graded; the others are in submitted/STUDENT/.earlier/{assignment}/.")
    shared.lines("  {}.", made.trouble)
    shared.names("Late, by the system's own mark, which does not say when: {}.", sorted(made.late), MOST)
    shared.names("Without a time, and so not late: {}.", sorted(made.timeless), 5)
    if made.timeless and not given.match and any(read.system == "Moodle" for read in made.downloads):
        print("  Moodle's grading worksheet has the times: --match WORKSHEET.csv")
    shared.names(f"Handed in nothing{' (or below)' if made.unmatched else ''}: {{}}.", made.missing, MOST)
    shared.names("Left out, as --match says: {}.", map(shown, made.ignored), MOST)
    if not made.unmatched:
        print(f"Next: python3 -m autograder preflight {assignment}")
        return 0
    print(f"NOT COLLECTED, because it is not certain whose they are: {len(made.unmatched)}.")
    for one in made.unmatched:
        nearest = f"; perhaps {' or '.join(map(shown, one.nearest))}" if one.nearest else ""
        print(f"  {shown(one.label)}: {one.why}{nearest}")
    settle = "put these lines into a file, with the student's id at the end (- for nobody), and say --match:"
    print(f"To settle it, {settle}", *made.pairs().splitlines(), sep="\n  ")
    return 1


@command(
    "exchange",
    "Set up nbgrader's exchange: the folder through which students with accounts on one machine, or on a JupyterHub,\n"
    "fetch assignments, hand in, and get their feedback. Run again, it changes nothing.",
    "exchange --root /srv/nbgrader",
    "exchange --root /srv/nbgrader --students /etc/jupyter/nbgrader_config.py",
    shared.path("--root", metavar="FOLDER", required=True, help="where every user of the machine can go"),
    shared.path("--students", metavar="FILE", help="write students' settings there (default: into grading/)"),
)
def exchange(course: Course, given: Given) -> int:
    from autograder.intake.exchange import set_up

    written, trouble = set_up(course, given.root, given.students)
    used = "and this course uses it: .venv/bin/nbgrader release_assignment ASSIGNMENT"
    print(f"The exchange is {given.root.resolve()}, {used}")
    print(f"Students' nbgrader needs two settings: {written}")
    if given.students is None:
        print("For everybody on this machine, once, by its administrator:")
        print(f"  sudo install -D -m 644 {written} /etc/jupyter/nbgrader_config.py")
    print("They then say: nbgrader fetch_assignment, submit, fetch_feedback, each with the ASSIGNMENT.")
    shared.lines("  ! {}", trouble)
    return 1 if trouble else 0


@command(
    "hub",
    "Write all that a JupyterHub for the course needs into a folder outside it: jupyterhub_config.py, nbgrader's\n"
    "exchange, the students' copy of the course without solutions, and NEXT.md, which says what to do then.\n"
    "Run it in the account that owns this checkout. Run again, it renews the students' copy.",
    "hub /srv/nlm",
    "hub /srv/nlm --grader bob --grader eve",
    shared.path("folder", metavar="FOLDER", help="where every user of the machine can go; made if it is not there"),
    several("--grader", metavar="ACCOUNT", dest="graders", help="who may open the course's server too"),
    option("--port", type=int, default=8000, metavar="N", help="on this machine only (default: 8000)"),
)
def hub(course: Course, given: Given) -> int:
    shared.refuse(os.name == "nt", "a hub needs the accounts of a Unix machine; there are none here. Use Linux")
    from autograder.extras.hub import set_up

    print("Making the students' copy of the course (a minute) ...", flush=True)
    page, done, trouble = set_up(course, given.folder, graders=given.graders, port=given.port)
    for words in done:
        print(words)
    print(f"Written: {page.parent / 'jupyterhub_config.py'}, the exchange, and the students' copy.")
    print(f"What to do next, as the machine's administrator: {page}")
    shared.lines("  ! {}", trouble)
    return 1 if trouble else 0
