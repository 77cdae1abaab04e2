"""Pages on which an instructor marks the written answers of a class.

    serve     a server of our own, for this machine only, as `mark` starts it
    in_jupyter    in the Jupyter server that has Formgrader, for whoever may use that: on a hub there is no other way in
    guarded       what a request to either needs, and who is let in by the first
    way           from question to question
    one_answer    the page of one answer

Students' texts are cleaned (`feedback.clean`), and a policy forbids every script but our own and every other host.
Only the displayed state is kept here: marks and comments go into nbgrader's gradebook immediately.
"""

from collections.abc import Callable
from typing import Any

from autograder.instructor.marking_page.guarded import Guarded, MarkingPage
from autograder.instructor.marking_page.way import within
from autograder.pages import serving

__all__ = ["MarkingPage", "serve"]


async def serve(page: MarkingPage, port: int, ready: Callable[[str], None]) -> None:
    """Serve on the loopback address until this is cancelled. Answers only requests with the token that it was started
    with and with its own host name (a page elsewhere could give its name this address), and accepts changes only from
    its own page. ready: called with the address, including the token. Raises OSError if the port is in use."""

    def routes(host: str) -> list[Any]:
        return [(path, handler, {"page": page, "host": host}) for path, handler in within(Guarded)]

    def told(host: str) -> None:
        ready(f"http://{host}/?token={page.token}")

    await serving.serve(routes, "127.0.0.1", port, told, max_body_size=2**20)
