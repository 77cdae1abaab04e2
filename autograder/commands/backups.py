"""`backup` and `restore`: everything about a semester that cannot be made again, in one file."""

from autograder.commands import shared
from autograder.commands.shared import Given, option
from autograder.launcher.say import count


@shared.command(
    "backup",
    "Write the gradebook, submissions, graded notebooks, records, the secret of the hidden inputs and your settings\n"
    "into one zip. Feedback pages are not in it, because feedback makes them again. It overwrites nothing. The zip\n"
    "has everybody's marks, so keep it to yourself.",
    "backup                               backup-….zip in this folder, named by the time",
    "backup /media/stick/week-5.zip",
    options=[option("file", metavar="FILE", nargs="?", type=shared.out_file, help="where to")],
    with_assignment=False,
)
def backup(course: "shared.Course", given: Given) -> int:
    from datetime import datetime

    from autograder.grading.keeping import save

    path = given.file or shared.out_file(f"backup-{datetime.now():%Y-%m-%d-%H%M%S}.zip")
    made = save(course, path)
    print(f"{path}: {count(made, 'file')}, {path.stat().st_size / 1e6:.1f} MB.")
    if not course.directory.db_url.startswith("sqlite:"):
        print("  The gradebook is not in it, because it is on a server: save it there, for example with pg_dump.")
    print(f"To put it into a checkout without marks: python3 -m autograder restore {path}")
    return 0


@shared.command(
    "restore",
    "Put a backup into a course that has no marks yet: the same checkout after its data were lost or moved away, or a\n"
    "new one. What is there is never overwritten. Nothing is written unless the whole file is sound.",
    "restore week-5.zip",
    options=[shared.path("file", metavar="FILE", help="what backup has written")],
    with_assignment=False,
    writes=False,
)
def restore(course: "shared.Course", given: Given) -> int:
    from autograder.commands.private import keep_course
    from autograder.grading.course import Course
    from autograder.grading.keeping import put_back

    made = put_back(course, given.file, given.db)
    keep_course(Course.load(course.root, given.db))  # its settings may have come back too
    print(f"{count(made, 'file')} put back into {course.root}.")
    print("Next: python3 -m autograder build. For feedback pages: python3 -m autograder feedback ASSIGNMENT")
    return 0
