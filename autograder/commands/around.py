"""Commands around grading: preflight, feedback, release, compose, quiz; and worker, which helps with it."""

import os
import sys
from dataclasses import asdict
from pathlib import Path

from autograder.commands import shared
from autograder.commands.shared import Course, Environment, Given, command, count, flag, option
from autograder.launcher import lab

QUESTIONS = "attention.attend, as its check names it; the written\nquestion is attention.written"
FILES = flag("--json", "the files that were written, for a program")


@command(
    "preflight",
    "Say of every submission what would be repaired, left behind, or not be gradable. Runs none.",
    "preflight attention",
    "preflight attention --student ada",
    "preflight attention --json",
    shared.STUDENTS,
    flag("--json", "everything that was found, for a program"),
    writes=False,
)
def preflight(course: Course, assignment: str, given: Given) -> int:
    from autograder.preflight import check_folder, report

    found = check_folder(course, assignment, given.students)
    blocked = sum(prepared.blocked for _, prepared in found)
    if given.json:
        rows = {student: [asdict(finding) for finding in prepared.findings] for student, prepared in found}
        return shared.as_json({"assignment": assignment, "students": rows}, 1 if blocked else 0)
    for student, prepared in found:
        if prepared.findings:
            print(student, *report(prepared).split("\n"), sep="\n    ")
    clean = sum(not prepared.findings for _, prepared in found)
    print(
        f"{count(len(found), 'submission')}: {clean} with nothing to say, {len(found) - clean - blocked} put"
        f" right or noted, {blocked} not gradable as they are."
    )
    return 1 if blocked else 0


@command(
    "feedback",
    "Write feedback/STUDENT/ASSIGNMENT/*.html from the marks in the gradebook.",
    "feedback attention",
    "feedback attention --student ada",
    shared.STUDENTS,
    FILES,
)
def feedback(course: Course, assignment: str, given: Given) -> int:
    from autograder.feedback import write_feedback
    from autograder.feedback.deliver import BACK, for_lms
    from autograder.grading.stale import in_words, stale
    from autograder.intake.collect import numbers_of

    chosen = course.chosen(assignment, given.students)
    written = write_feedback(course, assignment, chosen)
    if given.json:
        return shared.as_json([str(path) for path in written])
    if not written:
        print(f"Nothing was handed in for {assignment}.")
        return 0
    if old := in_words(stale(course, assignment, chosen), assignment):
        print(shared.sentence(old))
    print(f"{count(len(written), 'page')} written: {written[0]}{', …' if len(written) > 1 else ''}")
    for system, archive in for_lms(course, assignment, numbers_of(course, assignment)).items():
        print(f"For {system} ({BACK[system]}): {archive}")
    print(f"To hand them out, if you have an exchange: .venv/bin/nbgrader release_feedback {assignment}")
    return 0


@command(
    "release",
    "Write a zip for students: the course, the exercises, and data in place of answers. Every file of it is\n"
    "searched for solutions, hidden tests and the like first; if any is found, nothing is written.",
    "release                        every assignment, into release/",
    "release attention              one; students unpack it over what they have",
    "release attention --core       its core questions, as the assignment attention_core",
    "release --to /srv/course",
    option("assignments", nargs="*", metavar="ASSIGNMENT", help="which exercises (default: all)"),
    flag("--core", "only core questions, as NAME_core"),
    shared.path("--to", metavar="FOLDER", help="where to write it (default: release/ in the checkout)"),
)
def release(place: Environment, given: Given) -> int:
    """Exit code 1: it is not fit to be released, and then nothing is written."""
    from autograder.release.compose import core_sheets
    from autograder.release.student_zip import write_zip

    try:
        names = core_sheets(place.root, given.assignments) if given.core else given.assignments
        path = write_zip(place.root, given.to or Path(place.root) / "release", names)
    except (ValueError, RuntimeError) as error:
        return shared.failed(error)
    print(f"{path}  ({path.stat().st_size / 1e6:.1f} MB)")
    print("Students unpack it and run, in the folder that it makes:  make lab   (or: python3 -m autograder lab)")
    return 0


@command(
    "compose",
    "Make an assignment of chosen questions, with the given cells that they need: solutions/NAME/. From then on\n"
    "it is an assignment like any other: read it, change it, release it and grade it under its name.",
    "compose midterm attention.attend attention.written",
    "compose week_9 attention.attend transformer.rms_norm",
    option("name", metavar="NAME", help="the new assignment: small letters, digits and _"),
    option("questions", nargs="+", metavar="QUESTION", help=QUESTIONS),
)
def compose(place: Environment, given: Given) -> int:
    """Exit codes: 0 written, 2 these questions cannot be on one sheet, and then nothing is written."""
    from autograder.release.compose import compose as write

    try:
        title = given.name.replace("_", " ").capitalize()
        written, notes = write(place.root, given.name, title, given.questions)
    except ValueError as error:
        return shared.failed(error, 2)
    shared.lines("  wrote {}", written)
    shared.lines("  ! {}", notes)
    print(f"Now: python3 -m autograder release {given.name}")
    return 0


@command(
    "quiz",
    "Make a quiz for Moodle or Canvas of lectures' questions: predictions with the answers that the lecture computes,\n"
    'for which it is run (a minute each), and "Check yourself" as questions that a person marks.',
    "quiz 13                              only print them, with the answers",
    "quiz 13 --to quiz.xml                Moodle: question bank, import, Moodle XML",
    "quiz 13 14 --to quiz.zip             Canvas: settings, import course content, QTI",
    option("lectures", nargs="+", metavar="LECTURE", help="its number or topic"),
    shared.path("--to", metavar="FILE", help=".xml for Moodle, .zip (QTI) for Canvas"),
    flag("--predictions", "only those that no person marks"),
)
def quiz(place: Environment, given: Given) -> int:
    from lectures import FOLDER, facts
    from lectures import quiz as made

    known = sorted(FOLDER.glob("[0-9]*_*.py"))
    found = {name: [one for one in known if facts.is_asked(one, [name])] for name in given.lectures}
    wrong = [f"No lecture is called {name}: give its number or its topic." for name in found if not found[name]]
    if given.to and given.to.suffix not in (".xml", ".zip"):
        wrong.append(f"--to {given.to}: the name must end in .xml (Moodle) or .zip (Canvas).")
    if wrong:
        return shared.failed("\n".join(wrong), 2)
    asked = []
    for path, *_ in found.values():
        print(f"Running {path.stem} ...", file=sys.stderr)
        asked += [one for one in made.questions(path) if one.kind != "open" or not given.predictions]
    if given.to is None:
        for number, one in enumerate(asked, 1):
            print(f"{number}. {one.question}", *(f"   ( ) {option}" for option in one.options), sep="\n")
            print(f"   → {one.told}. {one.why}\n")
        return 0
    if given.to.suffix == ".xml":
        given.to.write_bytes(made.moodle(asked))
    else:
        made.package(given.to, asked, ", ".join(dict.fromkeys(one.lecture for one in asked)))
    by_hand = sum(one.kind == "open" for one in asked)
    print(f"{given.to}: {count(len(asked), 'question')}, {by_hand} of them to be marked by hand.")
    return 0


@command(
    "worker",
    "Join a Dask scheduler: this machine then grades submissions that it hands out, until Ctrl-C.\n"
    "It needs the course (this checkout), not the submissions or the gradebook. Dask's connections are neither\n"
    "encrypted nor protected: whoever reaches them runs code as you. Use a network that nobody else can enter.",
    "worker tcp://10.0.0.5:8786",
    "worker tcp://10.0.0.5:8786 --cores 4",
    option("scheduler", metavar="URL", help="tcp://HOST:8786, as the scheduler says when it starts"),
    option("--cores", type=int, default=os.cpu_count() or 1, help="how many to lend (default: all)"),
)
def worker(place: Environment, given: Given) -> int:
    line = [sys.executable, "-m", "distributed.cli.dask_worker", given.scheduler]
    line += ["--nworkers", str(given.cores), "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return lab.become(line, variables, place.root)
