"""Short addresses for the page with which JupyterLab begins: /welcome/LECTURE and /present/LECTURE.

JupyterLab prints the address on which it opens with "?token=…" behind it. If that had a question mark already, it would
not let the reader in, so what the page begins with stands in the path, and behind the question mark only afterwards.
"""

from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_escape, url_path_join
from tornado.web import authenticated

VIEW = {"welcome": "lab", "present": "doc"}


class Begin(JupyterHandler):
    """Leads to the lecture in JupyterLab, behind its start page, or slide by slide."""

    @authenticated
    def get(self, first: str, lecture: str) -> None:
        self.redirect(url_path_join(self.base_url, VIEW[first], "tree", url_escape(lecture)) + f"?{first}")


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.web_app.add_handlers(".*$", [(url_path_join(server.base_url, f"/({'|'.join(VIEW)})/(.+)"), Begin)])
