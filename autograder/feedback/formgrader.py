"""Makes Formgrader, and JupyterLab around it, safe: nothing that a student wrote runs or fetches anything there.

nbgrader's own page of a submission shows Markdown and HTML as the student wrote them. This module adds two locks, each
of which is enough against all known attacks, and a limit:

- `wire` puts `Inert` and the functions of `feedback.clean` into the exporter with which Formgrader makes its page,
using nbconvert's own settings. Formulas become MathML: no MathJax is fetched.
- Students' texts are parsed in a child process with limits (`Reader`), because some Markdown takes seconds.
- `guard` changes the server's process where nbgrader has no setting: a policy (CSP) under which only Formgrader's
  own scripts run and nothing is loaded from elsewhere; escaped names in its lists; files of a submission in a sandbox;
  and no configuration from another folder, which is Python and could be named by a link. JupyterLab's own pages load
  only from their server, and open submissions read-only (`handed_in`).
"""

import base64
import hashlib
import html
import os
import posixpath
import re
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, pass_context
from markupsafe import Markup
from nbconvert.preprocessors import Preprocessor

from autograder.feedback import clean
from autograder.feedback.handed_in import plainly, without_scripts
from autograder.guard import Guard, NotRead
from autograder.pages import FOLDER

NONCE = secrets.token_urlsafe(24)  # what a page's own scripts carry; of this process, and in nothing that is written
_PAGE = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src data:; connect-src 'self';"
    " frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
FILES = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
LAB = (
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; font-src 'self' data:;"
    " img-src 'self' data: blob:; media-src 'self' data: blob:; connect-src 'self' ws: wss: data: blob:;"
    " worker-src 'self' blob:; frame-src 'self' blob:; object-src blob:; base-uri 'self'; form-action 'self'"
)
_HERE = "autograder.feedback.formgrader"
PATIENCE = 15.0  # seconds for all parsing of one page; what is left then is shown as it was typed


def wire(c: Any) -> None:
    """Change nbgrader's configuration object `c`, by names, so that nothing is imported before a page is made."""
    c.HTMLExporter.template_file = "formgrader.html"
    c.HTMLExporter.extra_template_paths = [str(FOLDER)]
    c.HTMLExporter.preprocessors = [f"{_HERE}.Inert"]
    filters = {"markdown2html": "markdown", "highlight_code": "code"} | {
        name: name for name in ("shown", "plain", "ours")
    }
    c.HTMLExporter.filters = {name: f"{_HERE}.{function}" for name, function in filters.items()}


class Inert(Preprocessor):  # type: ignore[misc]
    """Reduces a graded notebook to the content of the page, with every name as text."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        _reader.begin()
        nb.metadata.clear()
        for number, cell in enumerate(nb.cells):
            about = cell.metadata.get("nbgrader")
            cell.metadata.clear()
            if isinstance(about, dict):
                cell.metadata["nbgrader"] = {key: _text(value) for key, value in about.items()}
            cell["id"] = f"cell-{number}"
            if cell.cell_type == "code":
                cell["execution_count"] = None
        for key, value in resources.items():
            resources[key] = _text(value)
        resources.update(nonce=NONCE, policy=policy())
        return nb, resources


def _text(value: Any) -> Any:
    return html.escape(value) if isinstance(value, str) else value


class Reader:
    """Asks a separate child process (`Guard`) for the HTML of students' texts, page after page."""

    def __init__(self) -> None:
        self.guard = Guard(seconds=5, wall=PATIENCE)
        self.left = PATIENCE

    def begin(self) -> None:
        """A new page."""
        self.left = PATIENCE

    def ask(self, function: Callable[..., Markup], source: Any, *more: Any) -> Markup:
        """`function(source, …)`; if that takes too long, the source as plain text."""
        why, start = "the rest of this page took too long", time.monotonic()
        try:
            if self.left > 0:
                return self.guard.ask(function, source, *more)
        except NotRead as error:
            why = str(error)
        finally:
            self.left -= time.monotonic() - start
        typed = source if isinstance(source, str) else f"{len(source)} outputs"
        return Markup("<p>Shown as it was typed: {}.</p><pre>{}</pre>").format(why, clean.text(typed))


_reader = Reader()


@pass_context
def markdown(context: Any, source: str) -> Markup:
    attachments = context["cell"].get("attachments")
    return _reader.ask(clean.markdown, source, dict(attachments) if attachments else None)


def code(source: str, **about: Any) -> Markup:
    return Markup('<div class="highlight">{}</div>').format(_reader.ask(clean.code, source))


def shown(outputs: list[Any]) -> Markup:
    return _reader.ask(clean.outputs, list(outputs), "A picture that the cell made")


def plain(source: str) -> Markup:
    return Markup("<pre>{}</pre>").format(clean.text(source))


def ours(markup: str) -> Markup:
    """nbgrader's own part of a page, with names escaped, whose scripts may run."""
    return Markup(markup.replace("<script", f'<script nonce="{NONCE}"'))


def policy() -> str:
    return f"{_PAGE}; script-src 'nonce-{NONCE}' 'unsafe-hashes' {' '.join(_handlers())}"


def _handlers() -> list[str]:
    """The `onclick` handlers of nbgrader's templates, as a policy names them."""
    from nbgrader.server_extensions.formgrader.handlers import template_path

    texts = (path.read_text(encoding="utf-8") for path in Path(template_path).rglob("*") if path.is_file())
    found = {words for text in texts for words in re.findall(r'onclick="([^"{}]*)"', text, re.I)}
    digests = (base64.b64encode(hashlib.sha256(words.encode()).digest()).decode() for words in sorted(found))
    return [f"'sha256-{digest}'" for digest in digests]


# --- in the server's process --------------------------------------------------------------------------------

_roots: set[Path] = set()


def guard(c: Any, root: Path) -> Any:
    """Lock Formgrader and JupyterLab if this process serves them. Returns the server's application, or None."""
    server = sys.modules.get("jupyter_server.serverapp")
    if server is None or not server.ServerApp.initialized():
        return None
    from jupyter_server.base.handlers import AuthenticatedFileHandler
    from jupyter_server.files.handlers import FilesHandler
    from jupyter_server.nbconvert.handlers import NbconvertFileHandler
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.server_extensions.formgrader import base, handlers
    from tornado.web import HTTPError

    _roots.add(root.resolve())
    app, folders = server.ServerApp.instance(), CourseDirectory(config=c)
    below = os.path.relpath(root.resolve(), Path(app.root_dir).resolve()).replace(os.sep, "/")
    theirs = (folders.submitted_directory, folders.autograded_directory)
    plainly(app.web_app.settings["contents_manager"], [posixpath.normpath(f"{below}/{name}") for name in theirs])
    headers = app.web_app.settings.setdefault("headers", {})
    before = headers.get("Content-Security-Policy", "frame-ancestors 'self'")
    if LAB not in before:
        headers["Content-Security-Policy"] = f"{before}; {LAB}"
    if hasattr(base.BaseHandler, "of_the_course"):
        return app.web_app

    pages = Environment(loader=_Pages(handlers.template_path), autoescape=True)
    rules, start = policy(), handlers.FormgraderHandler.get

    def render(self: Any, name: str, **values: Any) -> str:
        return pages.get_template(name).render(**values)

    def get(self: Any) -> Any:
        path = self.get_argument("path", "")
        if path and Path(path).resolve() not in _roots:
            raise HTTPError(403, f"{path} is not the course that this server was started for: start one in its folder")
        return start(self)

    def plain_text(self: Any) -> None:  # nbgrader calls its JSON a page
        super(base.BaseApiHandler, self).set_default_headers()
        self.set_header("Content-Type", "text/plain; charset=UTF-8")

    export = {
        "filters": {"markdown2html": f"{_HERE}.markdown"},
        "mathjax_url": "",
        "require_js_url": "",
        "jquery_url": "",
    }
    for handler, before in ((AuthenticatedFileHandler, 1), (FilesHandler, 1), (NbconvertFileHandler, 2)):
        without_scripts(handler, before, FILES, {"HTMLExporter": export})

    base.BaseHandler.of_the_course = True
    base.BaseHandler.content_security_policy = property(lambda self: rules)
    base.BaseHandler.render = render
    base.BaseApiHandler.set_default_headers = plain_text
    handlers.SubmissionFilesHandler.content_security_policy = property(lambda self: FILES)
    handlers.FormgraderHandler.get = get
    return app.web_app


class _Pages(FileSystemLoader):
    """nbgrader's templates, whose scripts are marked as its own before any value is filled in."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Any]:
        source, name, current = super().get_source(environment, template)
        return str(ours(source.replace(_UTILS, _UTILS + _DIALOGS).replace(_LAST, _LAST + _MARK))), name, current


_LAST = "Manage Students</a></li>"
_MARK = '<li role="presentation"><a href="{{ base_url }}/mark/">Mark Written Answers</a></li>'
_UTILS = 'js/utils.js"></script>'
_DIALOGS = """
<script>
createModal = (open => (id, title, body, footer) =>  // which takes a sentence with a student's name in it for HTML
  open(id, title, typeof body === "string" ? document.createTextNode(body) : body, footer))(createModal);
</script>"""
