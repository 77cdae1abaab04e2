"""`desk ASSIGNMENT…`: hidden checks for students, a few a day."""

import os
from contextlib import suppress

from autograder.commands.running import ISOLATION
from autograder.commands.shared import Course, Given, Misuse, command, count, flag, option, refuse


@command(
    "desk",
    "Run hidden checks for students, a few a day for each question, in the same sandbox as grade. They ask in a\n"
    "browser or with `ask`. With --take they also hand in here, or with `hand-in`, and get a receipt. What was\n"
    "answered is kept in grading/desk/. Stop with Ctrl-C.",
    "desk attention --tokens                      write a token for everybody in the gradebook, and stop",
    "desk attention gates --per-day 3 --take",
    "desk attention --host 0.0.0.0 --port 8790    for other machines: put it behind TLS",
    option("assignments", nargs="+", metavar="ASSIGNMENT", help="whose questions may be asked"),
    option("--per-day", type=int, default=3, metavar="N", help="for each student and question (default: 3)"),
    flag("--take", "also take what students hand in, into submitted/"),
    flag("--tokens", "only write grading/desk/tokens.csv, from the roster"),
    option("--host", default="127.0.0.1", help="where to listen (default: this machine alone)"),
    option("--port", type=int, default=8790, metavar="N", help="default: 8790"),
    ISOLATION,
)
def desk(course: Course, given: Given) -> int:
    import asyncio

    from autograder.extras.desk import window as service
    from autograder.extras.desk.ledger import Ledger
    from autograder.sandbox.tiers import choose

    refuse(given.per_day < 1, f"--per-day must be 1 or more, got {given.per_day}")
    for name in given.assignments:
        course.masters(name)
    students = service.roster(course, given.assignments)
    if given.tokens:
        path = service.write_tokens(course, students)
        print(f"{path}: a token for each of {count(len(students), 'student')}. Send everybody theirs, and only that.")
        return 0
    tier = choose(given.isolation)
    if not students:
        print("! Nobody is in the gradebook yet: python3 -m autograder roster FILE")
    hub = service.Hub.around(os.environ)
    ledger = Ledger(course.root, given.per_day)
    made = service.Window(course, given.assignments, ledger, hub, given.isolation, given.take)

    def ready(address: str) -> None:
        names = ", ".join(given.assignments)
        print(f"Hidden checks of {names}, {given.per_day} a day for each question:\n  {address}")
        if given.take:
            print(f"What students hand in goes into {course.submitted}.")
        print(f"Students' code runs {tier.words}. Students are known by {'the hub' if hub else 'their tokens'}.")
        print("To stop: Ctrl-C.", flush=True)

    with suppress(KeyboardInterrupt):
        try:
            asyncio.run(service.serve(made, given.host, given.port, ready))
        except OSError as error:
            where = f"{given.host}:{given.port}"
            raise Misuse(f"{where} cannot be had ({error.strerror}): give another --port, or --host") from None
    return 0
