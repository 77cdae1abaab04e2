"""`lti`: final marks sent to the system from which students come to the hub."""

import sys
from typing import TYPE_CHECKING

from autograder.commands import shared
from autograder.commands.shared import option
from autograder.launcher.say import count

if TYPE_CHECKING:
    from autograder.engine.course import Course

MOST = 40  # names in a line


@shared.command(
    "lti",
    "Send the final marks to your LMS by LTI 1.3 (Assignment and Grade Services). Without --send it says what would "
    "be sent. Sent again, a mark replaces the one before.",
    "lti attention",
    "lti attention --send",
    "lti attention --jwk                the public key, for an LMS that asks for a JWK",
    options=[
        option("--settings", metavar="FILE", help="default: grading/lti.json"),
        option("--title", metavar="NAME", help="what a new column is called there (default: ASSIGNMENT)"),
        option("--send", action="store_true", help="send them"),
        option("--jwk", action="store_true", help="print the public half of the tool's key, and do nothing else"),
    ],
)
def lti(
    course: "Course",
    *,
    assignment: str,
    settings: str | None = None,
    title: str | None = None,
    send: bool = False,
    jwk: bool = False,
) -> int:
    from tqdm import tqdm

    from autograder.instructor import ags
    from autograder.instructor.rows import questions_asked, report_rows
    from autograder.intake.naming import Names
    from autograder.intake.roster import people_of
    from autograder.preflight.finding import listed

    path = shared.here(settings) if settings else course.root / "grading" / "lti.json"
    if jwk:  # asked for by the LMS's registration, before there are settings
        shared.as_json(ags.jwk(ags.Settings.read(path).key if path.exists() else path.with_name("lti.pem")))
        return 0
    given = ags.Settings.read(path)
    of = sum(question.of for question in questions_asked(course, assignment))
    rows = report_rows(course, assignment)
    with course.gradebook() as gradebook:
        names = Names(people_of(gradebook))
    failed = []
    try:
        platform = ags.Platform(given)
        found = ags.sendable(rows, platform.members(), names)
        column = platform.line_item(assignment)
        if send and column is None:
            column = platform.new_line_item(assignment, title or assignment, of)
    except ags.Refused as error:
        print(error, file=sys.stderr)
        return 1
    for student, (user, mark) in tqdm(found.scores.items(), unit=" marks", disable=not send, file=sys.stderr):
        try:
            if send:
                platform.publish(str(column), user, mark, of)
        except ags.Refused as error:
            failed.append(f"{student}: {error}")
    done = len(found.scores) - len(failed)
    print(f"{'Sent' if send else 'Would send'}: {count(done, 'final mark')}, out of {of:g}.")
    if column is None:
        print(f"  There is no column for it yet: --send makes one, called {title or assignment!r}.")
    if found.without:
        print(f"  Without a mark, which is not a zero: {listed(found.without, MOST)}. Nothing is sent for them.")
    if found.unknown:
        print(f"  WITH A MARK, AND NOT CERTAINLY IN THE COURSE THERE: {listed(found.unknown, MOST)}.")
    for words in failed[:MOST]:
        print(f"  NOT SENT: {words}")
    return 1 if failed or found.unknown else 0
