"""`backup`, `restore` and `new-semester`: everything about a semester, in one file."""

from datetime import date, datetime

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option


@command(
    "backup",
    "Write the gradebook, submissions, graded notebooks, records, the secret of the hidden inputs and your settings\n"
    "into one zip. Feedback pages are not in it, because feedback makes them again. It overwrites nothing. The zip\n"
    "has everybody's marks, so keep it to yourself.",
    "backup                               backup-….zip in this folder, named by the time",
    "backup /media/stick/week-5.zip",
    option("file", metavar="FILE", nargs="?", type=shared.out_file, help="where to"),
)
def backup(course: Course, given: Given) -> int:
    from autograder.grading.keeping import save

    path = given.file or shared.out_file(f"backup-{datetime.now():%Y-%m-%d-%H%M%S}.zip")
    made = save(course, path)
    print(f"{path}: {count(made, 'file')}, {path.stat().st_size / 1e6:.1f} MB.")
    if not course.directory.db_url.startswith("sqlite:"):
        print("  The gradebook is not in it, because it is on a server: save it there, for example with pg_dump.")
    print(f"To put it into a checkout without marks: python3 -m autograder restore {path}")
    return 0


@command(
    "restore",
    "Put a backup into a course that has no marks yet: the same checkout after its data were lost or moved away, or a\n"
    "new one. What is there is never overwritten. Nothing is written unless the whole file is sound.",
    "restore week-5.zip",
    shared.path("file", metavar="FILE", help="what backup has written"),
    writes=False,
)
def restore(course: Course, given: Given) -> int:
    from autograder.commands.private import keep_course
    from autograder.grading.course import Course
    from autograder.grading.keeping import put_back

    made = put_back(course, given.file, given.db)
    keep_course(Course.load(course.root, given.db))  # its settings may have come back too
    print(f"{count(made, 'file')} put back into {course.root}.")
    print("Next: python3 -m autograder build. For feedback pages: python3 -m autograder feedback ASSIGNMENT")
    return 0


@command(
    "new-semester",
    "Begin the next semester in this checkout, with an empty class. All of the old one, feedback pages too, goes into\n"
    "a backup, which is read again and compared; only then is it taken out of the course. Settings, markers, items,\n"
    "frequent comments, and the assignments as they were released stay. Interrupted, the same command goes on.",
    "new-semester                         semester-….zip in this folder, named by the day",
    "new-semester /media/stick/autumn.zip",
    option("file", metavar="FILE", nargs="?", type=shared.out_file, help="where the backup goes"),
    flag("--unfinished", "even if something is not marked or returned"),
)
def new_semester(course: Course, given: Given) -> int:
    from autograder.commands.private import keep, keep_course, make_folders
    from autograder.instructor.new_semester import ROOM, begin, begun, go_on, open_ends
    from autograder.nbgrader_config import EXCHANGE

    keep(course.root / ROOM)
    if before := begun(course):
        print(f"Going on with what was interrupted; the backup is {before.backup}.")
    else:
        if not given.unfinished and (missing := [*open_ends(course)]):
            print("The semester is not over, so nothing was changed.", *missing, sep="\n  ")
            print("Mark and return these (mark, grade, feedback), or leave them as they are: --unfinished")
            return 1
        begin(course, given.file or shared.out_file(f"semester-{date.today().isoformat()}.zip"))
    made = go_on(course)
    keep(*{course.root / name.partition("/")[0] for name in made.left})
    make_folders(course)
    keep_course(course)
    many = f"{count(made.students, 'student')} and {count(made.submissions, 'submission')}"
    print(f"{made.backup} has the old semester, {many}. It was read again, and is what was here.")
    kept = ["course_config.py"] if (course.root / "course_config.py").is_file() else []
    kept += [f"{count(len(made.assignments), 'assignment')} as released"]
    kept += [f"the items of {count(made.schemes, 'question')}"] if made.schemes else []
    kept += [f"{count(made.comments, 'comment')} without names"] if made.comments else []
    print(f"Kept: {', '.join([*kept, *(f'the marker {name}' for name in made.markers)])}.")
    print("Left behind: the class, dates, extensions, groups, LTI's addresses, tokens, the secret of hidden inputs.")
    shared.names("  ! Not in the backup, and not deleted: {}.", made.left, 8)
    if (course.root / EXCHANGE).is_file():
        exchange = f"{course.config.Exchange.root}/{course.directory.course_id}"
        print(f"  ! Empty {exchange}/inbound and feedback before you collect through the exchange.")
    print("Next: python3 -m autograder roster FILE, and a due date for each assignment.")
    print("To look at the old semester: restore the backup into another checkout.")
    return 0
