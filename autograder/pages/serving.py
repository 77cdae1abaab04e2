"""What the two small servers share (the marking page, the desk): an address, headers, and words for what failed."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",  # a link in an answer must not tell its host that it is read
    "X-Frame-Options": "DENY",
}


async def serve(
    routes: Callable[[str], Sequence[Any]], host: str, port: int, ready: Callable[[str], None], **limits: int
) -> None:
    """Serve until this is cancelled. Raises OSError for a port that is taken.

    routes and ready get the place, HOST:PORT; port 0 is a free one. limits are those of `HTTPServer`."""
    sockets = bind_sockets(port, host)
    place = f"{host}:{sockets[0].getsockname()[1]}"
    server = HTTPServer(Application(list(routes(place)), log_function=lambda handler: None), **limits)
    server.add_sockets(sockets)
    try:
        ready(place)
        await asyncio.Event().wait()
    finally:
        server.stop()


class Handler(RequestHandler):
    """Answers are not kept by the browser, run nothing that the policy does not allow, and open in no frame."""

    policy = "default-src 'none'"
    name = "page"
    expected: tuple[type[Exception], ...] = (HTTPError,)
    """What is no failure of ours, and is not printed."""

    def set_default_headers(self) -> None:
        for name, value in {**HEADERS, "Content-Security-Policy": self.policy}.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, self.expected):
            print(f"The {self.name} failed: {kind.__name__}: {error}", flush=True)
