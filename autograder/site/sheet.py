"""A notebook as the body of a page: what a reader sees of it in JupyterLab, without JupyterLab."""

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.site.catalogue import contexts
from autograder.site.prose import Writer, with_mathematics
from autograder.site.translated import Translation

LIVE = "application/vnd.jupyter.widget-view+json"
_CODE = HtmlFormatter(nowrap=True)
_OWN_CODE = re.compile(r"\byours ?=")
_NEEDS_NOTEBOOK = (
    '<p class="note">A page cannot run your change. <a href="../README.md">Install the course</a> and open this lecture'
    " there.</p>"
)
_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"')
_MORE = re.compile(r"<img|^\||\$\$|<details", re.M)
"""Markdown that is more than text; cells.js of the presenter view has the same."""
_PICTURE = re.compile(r'src="data:image/(svg\+xml|png);base64,([^"]+)"')


class Sheet:
    """Cells to HTML. `files` are the pictures that the page shows, by name: a page should not carry them itself.

    With a translation it is in another language; then `translated` are the states of its widgets, from `scripts`.
    """

    def __init__(
        self,
        writer: Writer,
        widgets: Mapping[str, str],
        states: str,
        scripts: Mapping[str, str] = MappingProxyType({}),
        translation: Translation | None = None,
    ) -> None:
        self.writer, self.widgets, self.states, self.scripts = writer, widgets, states, scripts
        self.translation, writer.translate = translation, translation.tokens if translation else None
        self.files: dict[str, bytes] = {}
        self.translated: dict[str, str] = {}
        self.slides = False
        """Whether the cells say where they appear in a presentation."""

    def body(self, cells: Any) -> str:
        parts = []
        for context, cell in zip(contexts(cells), cells, strict=True):
            if self.translation:
                self.translation.at(context)
            part = self.cell(cell)
            if part and self.translation and (missed := self.translation.missed()):
                part = f'<p class="note stale">{missed}</p>\n{part}'
            parts.append(self.placed(cell, part))
        body = "\n".join(filter(None, parts))
        return body.replace("<pre", '<pre lang="en"') if self.translation else body  # code, and what it printed

    def placed(self, cell: Any, part: str) -> str:
        """The HTML of a cell, with its place in a presentation. A reader does not meet a lecturer's notes."""
        slide = cell["metadata"].get("slideshow", {}).get("slide_type")
        if not part or not slide:
            return part
        self.slides = True
        if slide == "notes":
            return f'<template class="notes">{part}</template>'
        kind, more = "cell", "" if _MORE.search(cell["source"]) else f' data-text="{len(cell["source"])}"'
        if cell["cell_type"] == "code":
            kind, more = "cell code", " data-lesson" if "lesson" in cell["metadata"].get("tags", []) else ""
        return f'<div class="{kind}" data-slide="{slide}"{more}>{part}</div>'

    def drawn(self, markup: str) -> str:
        """What code has drawn, as HTML for this page."""
        if self.translation:
            for number in re.findall('data-states="([^"]*)"', markup):
                self.translated[number] = self.translation.states(self.scripts[number])
            markup = self.translation.markup(markup)
        return self.apart(self.writer.linked(with_mathematics(markup)))

    def cell(self, cell: Any) -> str:
        about = cell["metadata"]
        if cell["cell_type"] == "markdown":
            return self.apart(self.writer.markdown(cell["source"]))
        if cell["cell_type"] != "code" or not cell["source"].strip():
            return ""
        folded = about.get("jupyter", {}).get("source_hidden") or "hidden" in about.get("tags", [])
        shown = "".join(self.output(output) for output in _joined(cell.get("outputs", [])))
        if _OWN_CODE.search(cell["source"]) and "nlm-liv" in shown:
            shown = self.drawn(_NEEDS_NOTEBOOK) + shown
        return code(cell["source"], bool(folded)) + (f'<div class="output">{shown}</div>' if shown else "")

    def output(self, output: Any) -> str:
        if output["output_type"] == "stream":
            return printed(output["text"]) if output["name"] == "stdout" else ""
        data = output.get("data", {})
        if LIVE in data:
            found = self.widgets.get(data[LIVE]["model_id"], "")
            return f"<div>{self.drawn(found)}</div>".replace('data-states="', f'data-states="{self.states}')
        if "text/html" in data:
            return f"<div>{self.drawn(data['text/html'])}</div>"
        if "text/markdown" in data:
            return f"<div>{self.writer.markdown(data['text/markdown'])}</div>"
        return printed(data["text/plain"]) if data.get("text/plain") else ""

    def apart(self, markup: str) -> str:
        """HTML whose pictures are files, which a browser fetches when they are nearly seen."""

        def file(found: re.Match[str]) -> str:
            content = base64.b64decode(found[2])
            name = f"{hashlib.sha256(content).hexdigest()[:16]}.{found[1][:3]}"
            self.files[name] = content
            size = _SIZE.search(
                content.decode("utf-8", errors="replace")
            )  # so much room is kept for it until it is there
            width, height = (round(float(points) * 4 / 3) for points in size.groups()) if size else (0, 0)
            room = f'width="{width}" height="{height}" ' if size else ""
            return f'{room}loading="lazy" src="{self.states}{name}"'

        return _PICTURE.sub(file, markup)


def code(source: str, folded: bool = False) -> str:
    """Python, coloured; `folded`: closed until it is asked for."""
    block = f'<pre class="code"><code>{highlight(source, PythonLexer(), _CODE).rstrip()}</code></pre>'
    return f"<details class='fold'><summary>Code</summary>{block}</details>" if folded else block


def _joined(outputs: Iterable[Any]) -> Iterator[Any]:
    """What was printed in several messages is one text, as JupyterLab shows it."""
    for prints, some in groupby(outputs, lambda output: output.get("name") == "stdout"):
        if not prints:
            yield from some
        else:
            yield {"output_type": "stream", "name": "stdout", "text": "".join(each["text"] for each in some)}


def printed(text: str) -> str:
    return f'<pre class="printed">{html.escape(text.rstrip())}</pre>'
