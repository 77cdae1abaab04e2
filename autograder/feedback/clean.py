"""What a student wrote and what their code put out, as HTML that runs nothing and fetches nothing.

Text is escaped; Markdown and HTML outputs go through a sanitiser that knows an allowed list and drops the rest (nh3, of
the browser's own parser: no style, no class, no SVG, no frame); pictures are embedded, and only PNG, JPEG and SVG, the
last as an image, in which browsers run no script and load nothing.
"""

import base64
import binascii
import functools
import html
import re
from collections.abc import Iterator
from typing import Any

import nh3
from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.exercise.report import coded
from autograder.feedback.mathematics import mathml

MOST_TEXT = 4_000  # characters of one output that are shown
MOST_PICTURE = 400_000  # bytes of one picture
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b.|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_NAMES = (
    "p br strong b em i u s del code pre kbd samp sub sup ul ol li dl dt dd blockquote hr table caption thead tbody"
    " tfoot tr th td details summary a span"
)
_TAGS = set(_NAMES.split())
_ATTRIBUTES = {"a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"}, "ol": {"start"}}
_SILENT = "script style iframe svg math object embed template noscript textarea title form select"
_DROPPED = set(_SILENT.split())
_KINDS = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff"}
_MARK = re.compile("\ue000(\\d+)\ue001")


def text(words: str, most: int = MOST_TEXT) -> Markup:
    """Escaped, without control characters, and of a very long text the beginning and the end."""
    words = _ANSI.sub("", words)
    if len(words) > most:
        words = f"{words[: most * 2 // 3]}\n… {len(words) - most:,} characters are left out …\n{words[-most // 3 :]}"
    return escape(words)


def sentence(words: str) -> Markup:
    return coded(text(words))


def code(source: str) -> Markup:
    source = _ANSI.sub("", source)
    if len(source) > 20_000:
        coloured = str(text(source, 20_000))
    else:
        coloured = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
        coloured = re.sub(r'<span class="(?!k|s|c|m)\w*">(.*?)</span>', r"\1", coloured)
    return Markup(f'<pre class="code"><code>{coloured}</code></pre>')


def safe_html(markup: str, heads: str | None = None) -> str:
    """HTML of which only text, lists, tables and links are left. heads: what the headings of its tables are for."""
    return nh3.clean(
        markup,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags=_DROPPED,
        url_schemes={"http", "https", "mailto"},
        set_tag_attribute_values={"th": {"scope": heads}} if heads else None,
        link_rel="noopener noreferrer nofollow",
    )


class _Renderer(IPythonRenderer):  # type: ignore[misc]
    """Markdown -> HTML; mathematics and pictures are put aside, for after the sanitiser."""

    def __init__(self, attachments: dict[str, Any]) -> None:
        super().__init__(escape=False, attachments=attachments)
        self.aside: list[str] = []

    def _later(self, made: str) -> str:
        self.aside.append(made)
        return f"\ue000{len(self.aside) - 1}\ue001"

    def block_math(self, body: str) -> str:
        return f"<p>{self._later(mathml(body, True))}</p>"

    def inline_math(self, body: str) -> str:
        return self._later(mathml(body))

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def block_code(self, code: str, info: str | None = None) -> str:
        return f"<pre><code>{html.escape(code)}</code></pre>"

    def codespan(self, text: str) -> str:
        return f"<code>{html.escape(html.unescape(text))}</code>"

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        return f"<p><strong>{text}</strong></p>"  # the page has its own headings, in order

    def image(self, text: str, url: str, title: str | None = None) -> str:
        words = _MARK.sub("", text)
        name = url.removeprefix("attachment:")
        found = self.attachments.get(name, {}) if url.startswith("attachment:") else {}
        for kind, data in found.items() if isinstance(found, dict) else ():
            made = picture(kind, data, words or "A picture in the text")
            if made:
                return self._later(made)
        return f"[picture: {html.escape(html.unescape(words) or name)}]"


def markdown(source: str, attachments: dict[str, Any] | None = None) -> Markup:
    return Markup(_markdown(source) if not attachments else _rendered(source, attachments))


def _rendered(source: str, attachments: dict[str, Any]) -> str:
    source = _ANSI.sub("", source[:50_000]).replace("\ue000", "").replace("\ue001", "")
    renderer = _Renderer(dict(attachments))
    try:
        made = safe_html(MarkdownWithMath(renderer=renderer).render(source), heads="col")
    except Exception:  # a parser of free text: deep nesting, for one, ends in a RecursionError
        return f"<pre>{text(source)}</pre>"
    return _MARK.sub(lambda match: renderer.aside[int(match[1])], made)


@functools.lru_cache(maxsize=512)
def _markdown(source: str) -> str:
    """The questions are the same for everybody: they are rendered once for a class."""
    return _rendered(source, {})


def picture(kind: str, data: Any, description: str) -> str:
    """An embedded picture; "" if it is none, words if it is too large."""
    data = "".join(data) if isinstance(data, list) else data
    if not isinstance(data, str):
        return ""
    if kind == "image/svg+xml":
        raw = data.encode("utf-8", "replace")
    elif kind in _KINDS:
        try:
            raw = base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            return ""
        if not raw.startswith(_KINDS[kind]):
            return ""
    else:
        return ""
    if len(raw) > MOST_PICTURE:
        return f"<p>A picture of {len(raw) / 1e6:.1f} MB is left out here; it is in your own notebook.</p>"
    return f'<img alt="{html.escape(description)}" src="data:{kind};base64,{base64.b64encode(raw).decode()}">'


def outputs(found: list[Any], description: str) -> Markup:
    return Markup("".join(_outputs(found, description)))


def _outputs(found: list[Any], description: str) -> Iterator[str]:
    for output in found[:20]:
        kind = output.get("output_type")
        if kind == "stream":
            yield f"<pre>{text(_joined(output.get('text', '')))}</pre>"
        elif kind == "error":
            yield f"<pre>{text(_joined(output.get('traceback', []), chr(10)))}</pre>"
        elif kind in ("display_data", "execute_result"):
            yield _shown(output.get("data", {}), description)


def _shown(data: Any, description: str) -> str:
    for kind in ("image/svg+xml", "image/png", "image/jpeg"):
        made = picture(kind, data.get(kind), description)
        if made:
            return f"<p>{made}</p>"
    if "text/latex" in data:
        return f"<p>{mathml(_joined(data['text/latex']).strip().strip('$'), True)}</p>"
    if "text/html" in data:
        made = safe_html(_joined(data["text/html"])[:100_000])
        if re.sub(r"<[^>]*>|\s", "", made):
            return f'<div class="wide">{made}</div>'
    plain = _joined(data.get("text/plain", ""))
    return f"<pre>{text(plain)}</pre>" if plain else ""


def _joined(value: Any, between: str = "") -> str:
    return between.join(map(str, value)) if isinstance(value, list) else str(value)
