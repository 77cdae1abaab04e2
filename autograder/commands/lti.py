"""`lti`: final marks sent to the system from which students come to the hub."""

import sys

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option

MOST = 40  # names in a line


@command(
    "lti",
    "Send the final marks to your LMS by LTI 1.3 (Assignment and Grade Services). Without --send it says what would "
    "be sent. Sent again, a mark replaces the one before.",
    "lti attention",
    "lti attention --send",
    "lti attention --jwk                the public key, for an LMS that asks for a JWK",
    shared.path("--settings", metavar="FILE", help="default: grading/lti.json"),
    option("--title", metavar="NAME", help="what a new column is called there (default: ASSIGNMENT)"),
    flag("--by-name", "by name if your LMS gives neither address nor number"),
    flag("--send", "send them"),
    shared.STALE,
    flag("--jwk", "print the public half of the tool's key, and do nothing else"),
)
def lti(course: Course, assignment: str, given: Given) -> int:
    from tqdm import tqdm

    from autograder.instructor import ags
    from autograder.instructor.rows import questions_asked, report_rows, stale_in
    from autograder.intake.naming import Names
    from autograder.intake.roster import people_of

    title = given.title or assignment
    path = given.settings or course.root / "grading" / "lti.json"
    if given.jwk:  # asked for by the LMS's registration, before there are settings
        return shared.as_json(ags.jwk(ags.Settings.read(path).key if path.exists() else path.with_name("lti.pem")))
    settings = ags.Settings.read(path)
    of = sum(question.of for question in questions_asked(course, assignment))
    rows = report_rows(course, assignment)
    old = stale_in(rows, assignment)
    shared.refuse_stale(old, given.stale or not given.send)
    with course.gradebook() as gradebook:
        names = Names(people_of(gradebook))
    failed = []
    try:
        platform = ags.Platform(settings)
        found = ags.sendable(rows, platform.members(), names, given.by_name)
        column = platform.line_item(assignment)
        if given.send and column is None:
            column = platform.new_line_item(assignment, title, of)
    except ags.Refused as error:
        return shared.failed(error)
    for student, (user, mark) in tqdm(found.scores.items(), unit=" marks", disable=not given.send, file=sys.stderr):
        try:
            if given.send:
                platform.publish(str(column), user, mark, of)
        except ags.Refused as error:
            failed.append(f"{student}: {error}")
    done = len(found.scores) - len(failed)
    print(f"{'Sent' if given.send else 'Would send'}: {count(done, 'final mark')}, out of {of:g}.")
    if old:
        print(f"  {shared.sentence(old)}")
    if column is None:
        print(f"  There is no column for it yet: --send makes one, called {title!r}.")
    shared.names("  Without a mark, which is not a zero: {}. Nothing is sent for them.", found.without, MOST)
    shared.names("  WITH A MARK, AND NOT CERTAINLY IN THE COURSE THERE: {}.", found.unknown, MOST)
    shared.names("  Of these, known there only by name, which anybody may take (--by-name): {}.", found.named, MOST)
    shared.lines("  NOT SENT: {}", failed, MOST)
    return 1 if failed or found.unknown else 0
