"""`race ASSIGNMENT`: train the entries of a class in the sandbox, measure them on held-out plays, and mark them."""

import tempfile
from pathlib import Path

from autograder.commands import shared
from autograder.commands.running import ISOLATION, JOBS
from autograder.commands.shared import Course, Given, command, count, flag, option

POSITIVE = shared.number(float, lambda number: 0 < number < float("inf"), "more than 0")
FACTOR = "seconds of this machine for one of the thresholds' machine (default: 1)"


@command(
    "race",
    "Train the entries of a class in the sandbox, measure their bits per byte on held-out plays, write the points into "
    "the gradebook and the leaderboard. What was raced is kept: the same command resumes.",
    "race capstone                             the sprint: 60 s, three seeds; about 5 minutes a student",
    "race capstone --jobs 8 --names",
    "race capstone --long --seeds 1 --student ada     600 s",
    "race capstone --ours 'our best'           one of the course's own entries, on this machine",
    "race capstone --ours 'our best' --long --seeds 5 --record     as we measured it",
    shared.STUDENTS,
    JOBS,
    flag("--long", "the long distance, 600 s of processor time, instead of the sprint"),
    option("--seeds", type=int, choices=range(1, 11), default=3, metavar="N", help="1 to 10 (default: 3)"),
    option("--factor", type=POSITIVE, default=1.0, metavar="F", help=FACTOR),
    flag("--names", "students' names instead of pseudonyms"),
    shared.path("--text", metavar="FILE", action="append", help="hold out these texts instead of drawn plays"),
    option("--ours", metavar="NAME", help="race one of the course's own entries, on the plays that everybody has"),
    flag("--record", "with --ours: keep the results, and race the missing seeds"),
    ISOLATION,
)
def race(course: Course, assignment: str, given: Given) -> int:
    from autograder.grading.seeds import course_secret
    from autograder.race import board, heats, rules
    from autograder.race import split as splits

    seconds = max(rules.THRESHOLDS) if given.long else min(rules.THRESHOLDS)
    if given.ours is not None:
        return _ours(given, seconds)
    secret = course_secret(course.root)
    texts = [path.read_text(encoding="utf-8") for path in given.text or ()]
    split = splits.from_texts(texts) if texts else splits.for_marks(secret)
    scale = heats.HOME_BITS / splits.kneser_ney(split)
    print(f"Held out: {', '.join(split.titles)}. Keep that to yourself. Bits are multiplied by {scale:.3f}.")
    how = {"scale": scale, "factor": given.factor, "jobs": given.jobs, "isolation": given.isolation}
    found = []
    try:
        for result in heats.race(course, assignment, given.students, split, seconds, given.seeds, **how):
            found.append(result)
            first, *more = result.words.split("\n")
            print(f"{result.student}: {first}", *more, sep="\n    ", flush=True)
    except KeyboardInterrupt:
        print(f"\nStopped. {count(len(found), 'student')} done; the same command resumes.")
        return shared.STOPPED
    for words in heats.write_marks(course, assignment, found):
        print(f"  ! {words}.")
    everybody = heats.everybody(course.root, assignment)
    page, table = board.write(course.root, assignment, everybody, secret, given.names)
    print(f"The leaderboard: {page}, and for programs {table}.")
    return 0


def _ours(given: Given, seconds: float) -> int:
    import torch

    from autograder.race import home
    from autograder.race.ours import ENTRIES, entry_of

    torch.set_num_threads(1)  # as in the sandbox
    with tempfile.TemporaryDirectory() as folder:
        kept = home.MEASURED if given.ours in ENTRIES else home.ABLATED
        file = kept if given.record else Path(folder) / "race.json"
        print(home.race(given.ours, entry_of(given.ours), seconds, range(given.seeds), file, given.factor))
    return 0
