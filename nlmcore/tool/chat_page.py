"""A page on this computer where one talks to a model; its words appear as they are written.

    GET  /        the page, chat.html, which asks nobody else for anything
    GET  /model   {"name", "chats"}: whether the model was trained to answer, or continues a text
    POST /write   {"messages": [{"role", "content"}, …]} or {"text"}  ->  the new text, piece by piece

Only this computer can reach it: it listens on the loopback address. A page of somebody else's, which the same browser
shows, is refused by its Host and Origin (DNS rebinding, cross-site requests).
"""

import json
import webbrowser
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Lock
from typing import Any

from nlmcore.language_model import LanguageModel
from nlmcore.tool.text import can_chat, write_text

LONGEST = 1_000_000  # bytes of a request


def make_server(
    model: LanguageModel,
    tokenizer: Any,
    name: str = "model",
    port: int = 8000,
    max_new_tokens: int = 300,
    **sampling: Any,
) -> ThreadingHTTPServer:
    """The server, which does not run yet. Raises OSError for a port in use. `sampling`: as in `stream`."""
    page = files("nlmcore.tool").joinpath("chat.html").read_bytes()
    about = json.dumps({"name": name, "chats": can_chat(tokenizer)}).encode()
    one_at_a_time = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = {"/": (page, "text/html"), "/model": (about, "application/json")}.get(self.path)
            if not self.is_ours():
                self.send_error(403, "only this computer's own page may ask")
            elif found is None:
                self.send_error(404)
            else:
                self.begin(f"{found[1]}; charset=utf-8")
                self.wfile.write(found[0])

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not self.is_ours() or self.headers.get("Content-Type") != "application/json":
                return self.send_error(403, "only this computer's own page may ask")
            if self.path != "/write" or not length.isdecimal() or int(length) > LONGEST:
                return self.send_error(400)
            try:
                prompt = asked(json.loads(self.rfile.read(int(length))))
                pieces = write_text(model, tokenizer, prompt, max_new_tokens, **sampling)
            except (ValueError, TypeError, KeyError) as error:
                return self.send_error(400, explain=str(error))
            try:
                with one_at_a_time:
                    self.begin("text/plain; charset=utf-8")
                    for piece in pieces:
                        self.wfile.write(piece.encode("utf-8", "replace"))
                        self.wfile.flush()
            except ConnectionError:  # Stop was pressed, or the page was closed
                pass

        def is_ours(self) -> bool:
            port = self.server.server_port  # type: ignore[attr-defined]
            names = ("127.0.0.1", "localhost")
            hosts = {f"{name}:{port}" for name in names} | {name for name in names if port == 80}
            origin = self.headers.get("Origin")  # a page of another port is somebody else's too
            return self.headers.get("Host") in hosts and (origin is None or origin.removeprefix("http://") in hosts)

        def begin(self, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "no-store")
            self.send_header(
                "Content-Security-Policy", "default-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
            )
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: what is said to a model is nobody's business."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def asked(request: Any) -> Any:
    """A text to continue, or messages."""
    for name, kind in (("text", str), ("messages", list)):
        if isinstance(request, Mapping) and isinstance(request.get(name), kind):
            return request[name]
    raise ValueError('a request must be {"text": …} or {"messages": […]}')


def serve(
    model: LanguageModel,
    tokenizer: Any,
    name: str = "model",
    port: int = 8000,
    open_browser: bool = True,
    **sampling: Any,
) -> None:
    """Serve the page until Ctrl-C."""
    with make_server(model, tokenizer, name, port, **sampling) as server:
        address = f"http://localhost:{server.server_port}/"
        print(f"{name} is at {address}   (Ctrl-C ends it)", flush=True)
        if open_browser:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
