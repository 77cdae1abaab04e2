"""Markdown and mathematics as HTML, with links that lead to pages of the site.

Mathematics is MathML, made here: a browser draws it without a script, and a screen reader reads it. `Pages` knows which
file of the course became which page; a link to a file that became none keeps only its words.
"""

import html
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from autograder.feedback.mathematics import mathml

BARE = re.compile(r"(?<![\\\w$])\$(?![\s$])([^$<>]{1,400}?)(?<![\s\\])\$(?![\d$])")
_ENDED = re.compile(r'<span class="math inline">(?:(?!</span>).)*</span>[.,;:?!)]+', re.S)
"""A formula and the sign behind it, between which a browser would break a line."""
_LINK = re.compile(r"""(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]*)(?=")""")


PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
dollarmath_plugin(
    PARSER, allow_labels=False, double_inline=True, renderer=lambda latex, how: mathml(latex, how["display_mode"])
)


def with_mathematics(markup: str) -> str:
    """HTML in which `$…$` is set as MathML: between tags, and not in code."""
    parts = re.split(r"(<pre.*?</pre>|<code.*?</code>|<svg.*?</svg>|<[^>]*>)", markup, flags=re.S)
    return "".join(
        part if part.startswith("<") else BARE.sub(lambda found: mathml(html.unescape(found[1])), part)
        for part in parts
    )


def slug(words: str, taken: set[str]) -> str:
    """The anchor of a heading, as GitHub makes it; the second of its kind ends in -1."""
    plain = unicodedata.normalize("NFC", words).lower()
    base = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-") or "section"
    found = next(name for name in chain([base], (f"{base}-{n}" for n in count(1))) if name not in taken)
    taken.add(found)
    return found


@dataclass
class Heading:
    level: int
    anchor: str
    words: str


@dataclass
class Pages:
    """Which page of the site each file of the course became, both as paths from the root."""

    made: dict[str, str]
    copied: set[str] = field(default_factory=set)
    """Files that are linked and go along as they are: pictures."""

    def link(self, to: str, source: str, page: str) -> str | None:
        """The address, on `page`, of what the course's file `source` links to; None if the site does not have it."""
        if re.match(r"[a-z]+:|#|//", to):
            return to
        path, mark, fragment = unquote(to).partition("#")
        target = os.path.normpath(PurePosixPath(source).parent / path).replace(os.sep, "/")
        made = self.made.get(target)
        if made is None and target.endswith((".svg", ".png", ".jpg")):
            self.copied.add(target)
            made = target
        return None if made is None else relative(made, page) + mark + fragment


def relative(to: str, page: str) -> str:
    """The address of one page of the site on another."""
    return os.path.relpath(to, PurePosixPath(page).parent).replace(os.sep, "/")


@dataclass
class Writer:
    """Writes one page: it keeps the headings, and makes links those of the site."""

    pages: Pages
    source: str
    page: str
    headings: list[Heading] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    translate: Callable[[list[Any]], None] | None = None
    """Called with the parsed Markdown of each text."""

    def markdown(self, text: str) -> str:
        tokens = PARSER.parse(text)
        heads = [(token, tokens[i + 1]) for i, token in enumerate(tokens) if token.type == "heading_open"]
        for token, inline in heads:
            token.attrSet("id", slug("".join(_words(inline.children or [])), self.taken))
        if self.translate:  # after the anchors, so that links to a heading work in every language
            self.translate(tokens)
        for token, inline in heads:
            words = "".join(_words(inline.children or []))
            self.headings.append(Heading(int(token.tag[1]), str(token.attrGet("id")), words))
        made = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", PARSER.renderer.render(tokens, PARSER.options, {}))
        made = _ENDED.sub(lambda found: f'<span class="whole">{found[0]}</span>', made)
        in_blocks = any(token.type == "html_block" for token in tokens)  # Markdown leaves the mathematics in them alone
        return self.linked(with_mathematics(made) if in_blocks else made)

    def linked(self, markup: str) -> str:
        """HTML whose links lead to pages of the site."""

        def known(found: re.Match[str]) -> str:
            to = self.pages.link(html.unescape(found[2]), self.source, self.page)
            return found[1].replace(" href=", " data-course=") + found[2] if to is None else found[1] + html.escape(to)

        return _LINK.sub(known, markup)


def _words(tokens: Any) -> Iterator[str]:
    for token in tokens:
        if token.children:
            yield from _words(token.children)
        elif not token.type.startswith("html"):
            yield token.content
