"""Gradescope, and containers like it: `grade-one` grades one submission, `gradescope` packs the files that do it
there."""

from autograder.commands import shared
from autograder.commands.running import ISOLATION
from autograder.commands.shared import Course, Environment, Given, command, option


@command(
    "grade-one",
    "Grade one submission, in the same sandbox and with the same marks as grade, and write Gradescope's results.json.\n"
    "Nothing goes into the gradebook.",
    "grade-one attention submitted/ada/attention",
    "grade-one attention attention.ipynb --student ada --to results.json",
    shared.path("submission", metavar="SUBMISSION", help="a folder, a notebook or an archive"),
    option("--to", metavar="FILE", type=shared.out_file, help="where the results go (default: they are printed)"),
    option("--student", metavar="NAME", help="whose hidden inputs (default: whose folder it lies in)"),
    shared.path("--metadata", metavar="FILE", help="Gradescope's submission_metadata.json, which names the student"),
    ISOLATION,
    writes=False,
)
def grade_one(course: Course, assignment: str, given: Given) -> int:
    """Exit code 1: it could not be graded as it is (the results say why), or the grader failed."""
    from autograder.files import write_json
    from autograder.grading import single
    from autograder.guard import Guard, NotRead
    from autograder.instructor.results import automatic_maximum, results

    who = given.student or single.student_of(course, assignment, given.submission, given.metadata)
    with Guard() as guard:
        made = single.grade_one(course, assignment, given.submission, who, given.isolation, guard)
        record = made.record
        if record.state == "fault":
            return shared.failed(f"{record.words}. There are no results, and no mark.")
        try:
            facts = guard.ask(results, made)
        except NotRead:
            facts = results(made, told=False)
    code = 1 if record.state == "blocked" else 0
    if given.to is None:
        return shared.as_json(facts, code)
    write_json(given.to, facts)
    print(f"{who}: {record.words}\nThe autograder's points: {automatic_maximum(made):g}.")
    print(f"Isolation: {record.isolation or 'nothing was run'}.")
    shared.lines("  look at it: {}", record.incidents)
    return code


@command(
    "gradescope",
    "Write gradescope-ASSIGNMENT.zip, an autograder for Gradescope or a container of your own. It holds the "
    "assignment's solutions and the secret of hidden inputs: give it to nobody else.",
    "gradescope attention",
    "gradescope attention --to /srv/course",
    shared.path("--to", metavar="FOLDER", help="where to write it (default: release/ in the checkout)"),
    ISOLATION,
)
def gradescope(place: Environment, assignment: str, given: Given) -> int:
    from autograder.grading.seeds import course_secret
    from autograder.release.container import write_container

    folder = given.to or place.root / "release"
    try:
        path = write_container(place.root, assignment, folder, course_secret(place.root), given.isolation)
    except (ValueError, RuntimeError) as error:
        return shared.failed(error)
    path.chmod(0o600)
    print(f"{path}  ({path.stat().st_size / 1e6:.1f} MB). It holds solutions and the secret: for Gradescope alone.")
    if given.isolation == "none":
        print("  WITHOUT ISOLATION: a submission could read the solutions in it, and write its own results.")
    print("In Gradescope: Programming Assignment, Configure Autograder, upload it; then test it with one submission.")
    return 0
