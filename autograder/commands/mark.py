"""`mark ASSIGNMENT`: the written answers of a class on a page, one question at a time, by keyboard."""

import atexit
import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option

SECONDS = 120.0  # for comparing answers before the page opens; the next start goes on


PORT = shared.number(int, lambda port: 0 <= port <= 65535, "from 0 (a free one) to 65535")


@command(
    "mark",
    "Mark the written answers in the browser, one question at a time across the class, by keyboard. Marks and\n"
    "comments go into nbgrader's gradebook as they are given: stop with Ctrl-C whenever you like.",
    "mark attention",
    "mark attention --names",
    "mark attention --as bob                      only bob's share, see markers",
    "mark attention --as bob --second 5           five answers of others, again",
    "mark attention --no-browser --port 9000      then open the address that it says",
    option("--as", metavar="MARKER", dest="by", help="who marks, see markers"),
    option("--second", type=int, default=0, metavar="N", help="mark N of the others' answers again"),
    flag("--names", "show students' names"),
    option("--port", type=PORT, metavar="N", help="which port of this machine (default: a free one)"),
    flag("--no-browser", "open no browser"),
)
def mark(course: Course, assignment: str, given: Given) -> int:
    import asyncio

    from tqdm import tqdm

    from autograder.grading.markers import shares
    from autograder.guard import Guard
    from autograder.instructor.marking_page import MarkingPage, serve
    from autograder.instructor.written import Class

    known, port = shares(course.root), given.port or 0
    shared.refuse(known and given.by not in known, f"say who marks: {' or '.join(f'--as {name}' for name in known)}")
    if given.second < 0 or (given.second and not given.by):
        raise shared.Misuse("a second marking needs a number of answers and a name: --as NAME --second 5")
    with Guard(seconds=10, wall=60) as guard:
        answers = Class(course, assignment, guard)
        if not answers.questions:
            print(f"{assignment} has no question that a person marks.")
            return 0
        everybody = course.students(assignment)
        for _ in tqdm(answers.read(), total=len(everybody), unit=" submissions", leave=False, delay=1):
            pass
        left = answers.not_graded()
        shared.names(f"{len(left)} not graded, and so not shown: {{}}.", left, 12)
        if len(left) == len(everybody):
            print(f"There is nothing to mark before it is graded: python3 -m autograder grade {assignment}")
            return 1
        server = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "")
        if server and given.port is None and not given.second:  # where the browser is, no page of this machine opens
            address = os.environ.get("JUPYTERHUB_PUBLIC_URL") or f"https://THE-HUB{server}"
            whose = f"{assignment}@{given.by}" if known else assignment
            print(f"On this hub, {assignment} is marked at:\n  {address.rstrip('/')}/mark/{whose}/")
            return 0
        with course.gradebook() as gradebook:
            who = {"by": given.by} if given.by else {}
            page = MarkingPage(answers, gradebook, names=given.names, share=bool(known), second=given.second, **who)
            texts = [unit.text for question in answers.questions for unit in page.units(question)]
            with tqdm(total=len(page.vectors.missing(texts)), unit=" answers compared", leave=False, delay=1) as bar:
                for more in page.compare(texts, SECONDS):
                    bar.update(more)
            if page.said:
                print(page.said)
            try:
                asyncio.run(serve(page, port, lambda address: _open(address, assignment, given.no_browser)))
            except OSError as error:
                raise shared.Misuse(f"port {port} cannot be had ({error.strerror}): give another --port") from None
            except KeyboardInterrupt:
                print(f"\nStopped. {count(page.marked, 'mark')} given, and in the gradebook. The same command resumes.")
    return 0


def _open(address: str, assignment: str, no_browser: bool) -> None:
    print(f"The written answers of {assignment}, for you alone:\n  {address}\nTo stop: Ctrl-C.", flush=True)
    wanted = os.environ.get("NLM_BROWSER", "")
    screen = sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if no_browser or wanted.lower() in ("none", "no", "0", "false") or not (screen or wanted):
        return  # without a screen it would be a browser inside this terminal
    with suppress(webbrowser.Error, OSError):
        webbrowser.get(wanted or None).open(_leaf(address).as_uri())


def _leaf(address: str) -> Path:
    """A file that redirects to the address, because everybody on this machine could read the token in a browser's
    command line."""
    from jupyter_core.paths import jupyter_runtime_dir

    path = Path(jupyter_runtime_dir()) / f"mark-{os.getpid()}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    atexit.register(path.unlink, missing_ok=True)
    path.touch(0o600)
    link = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Go on</a>'
    path.write_text(link, encoding="utf-8")
    return path
