"""`race ASSIGNMENT`: train the entries of a class in the sandbox, measure them on held-out plays, and mark them."""

import argparse
from pathlib import Path

from autograder.commands import shared
from autograder.commands.running import ISOLATION, JOBS
from autograder.commands.shared import Given, option
from autograder.launcher.say import count


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


@shared.command(
    "race",
    "Train the entries of a class in the sandbox, measure their bits per byte on held-out plays, write the points into "
    "the gradebook and the leaderboard. What was raced is kept: the same command resumes.",
    "race capstone                             the sprint: 60 s, three seeds; about 5 minutes a student",
    "race capstone --jobs 8 --names",
    "race capstone --long --seeds 1 --student ada     600 s",
    "race capstone --ours 'our best'           one of the course's own entries, on this machine",
    options=[
        shared.STUDENTS,
        JOBS,
        option("--long", action="store_true", help="the long distance, 600 s of processor time, instead of the sprint"),
        option("--seeds", type=int, choices=range(1, 11), default=3, metavar="N", help="how many (default: 3)"),
        option(
            "--factor",
            type=_positive,
            default=1.0,
            metavar="F",
            help="seconds of this machine for one of the machine on which the thresholds were measured (default: 1)",
        ),
        option("--names", action="store_true", help="students' names in the leaderboard, instead of pseudonyms"),
        shared.path("--text", metavar="FILE", action="append", help="hold out these texts instead of drawn plays"),
        option("--ours", metavar="NAME", help="race one of the course's own entries; nothing is written"),
        ISOLATION,
    ],
)
def race(course: "shared.Course", given: Given) -> int:
    from autograder.engine.seeds import course_secret
    from autograder.race import board, heats, rules
    from autograder.race import split as splits

    seconds = max(rules.THRESHOLDS) if given.long else min(rules.THRESHOLDS)
    if given.ours is not None:
        return _ours(given, seconds)
    secret = course_secret(course.root)
    texts = [Path(path).read_text(encoding="utf-8") for path in given.text or ()]
    split = splits.from_texts(texts) if texts else splits.for_marks(secret)
    scale = heats.HOME_BITS / splits.kneser_ney(split)
    print(f"Held out: {', '.join(split.titles)}. Keep that to yourself. Bits are multiplied by {scale:.3f}.")
    how = {"scale": scale, "factor": given.factor, "jobs": given.jobs, "isolation": given.isolation}
    found = []
    try:
        for result in heats.race(course, given.assignment, given.students, split, seconds, given.seeds, **how):
            found.append(result)
            first, *more = result.words.split("\n")
            print(f"{result.student}: {first}", *more, sep="\n    ", flush=True)
    except KeyboardInterrupt:
        print(f"\nStopped. {count(len(found), 'student')} done; the same command resumes.")
        return shared.STOPPED
    for words in heats.write_marks(course, given.assignment, found):
        print(f"  ! {words}.")
    everybody = heats.everybody(course.root, given.assignment)
    page, table = board.write(course.root, given.assignment, everybody, secret, given.names)
    print(f"The leaderboard: {page}, and for programs {table}.")
    return 0


def _ours(given: Given, seconds: float) -> int:
    from autograder.box import Box
    from autograder.race import boxed, parts, rules
    from autograder.race.ours import cells_of
    from autograder.race.split import at_home

    cells, split = cells_of(given.ours), at_home()
    closed = parts.left_out(rules.PARTS)
    with Box(isolation=given.isolation) as box:
        for seed in range(given.seeds):
            found = boxed.run(box, cells, closed, split, seconds * given.factor, seed, seed)
            said = f"{found.bits:.3f} bits per byte" if found.bits is not None else f"{found.fault}: {found.words}"
            print(f"{given.ours}, seed {seed}: {said}", flush=True)
    return 0
