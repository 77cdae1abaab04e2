"""Students' texts and the outputs of their code, as HTML that runs nothing and fetches nothing.

`written` takes cells, whatever they are: a page that shows a student's work needs no other function except `text`, for
names and everything else that fits on one line. Text is escaped. Markdown and HTML outputs go through a sanitiser that
knows an allowed list and drops the rest (nh3, of the browser's own parser: no style, no class, no id, no SVG, no frame;
links lead only to other sites, in a window that has no access to this one). Pictures are embedded, and only PNG, JPEG
and SVG, the last as an image, in which browsers run no script and load nothing.
"""

import base64
import binascii
import functools
import html
import re
import secrets
from collections.abc import Iterable, Iterator
from typing import Any

import nh3
from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.feedback.mathematics import mathml
from autograder.question.report import coded

MOST_TEXT = 4_000  # characters of one output that are shown
MOST_WRITTEN = 30_000  # characters of Markdown
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
_ELSEWHERE = re.compile(r"https?://|mailto:", re.I)


def written(cells: Iterable[Any], description: str) -> Markup:
    """Cells of a student's notebook, with their outputs. `description`: alternative text for pictures."""
    return Markup('<hr class="cell">').join(_cell(cell, description) for cell in cells)


def _cell(cell: Any, description: str) -> Markup:
    source = _joined(cell.get("source", ""))
    if cell.get("cell_type") == "markdown":
        return markdown(source, cell.get("attachments"))
    if cell.get("cell_type") == "code":
        return code(source) + outputs(cell.get("outputs", []), description)
    return Markup(f"<pre>{text(source)}</pre>")


def text(words: str, most: int = MOST_TEXT) -> Markup:
    """Escaped, without control characters; a very long text is reduced to its start and its end."""
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
    """HTML reduced to text, lists, tables and links. heads: what the headings of its tables describe."""
    given = {"a": {"target": "_blank"}} | ({"th": {"scope": heads}} if heads else {})
    made: str = nh3.clean(
        markup,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        clean_content_tags=_DROPPED,
        url_schemes={"http", "https", "mailto"},
        set_tag_attribute_values=given,
        link_rel="noopener noreferrer nofollow",
    )
    return _ANSI.sub("", made)  # again: as entities they were no characters yet


def _attribute(tag: str, name: str, value: str) -> str | None:
    """A relative link would lead into the page's own server, and placeholders must not occur in attributes."""
    outside = name != "href" or _ELSEWHERE.match(value.strip())
    return value if outside and _ASIDE not in value else None


_ASIDE = "\ue000"


class _Renderer(IPythonRenderer):  # type: ignore[misc]
    """Markdown -> HTML; mathematics and pictures are replaced by placeholders until after the sanitiser."""

    def __init__(self, attachments: dict[str, Any]) -> None:
        super().__init__(escape=False, attachments=attachments)
        self.aside: list[str] = []
        self.mark = f"{_ASIDE}{secrets.token_hex(8)}"  # which no text can guess

    def _later(self, made: str) -> str:
        self.aside.append(made)
        return f"{self.mark}{len(self.aside) - 1:06}"

    def whole(self, made: str) -> str:
        return re.sub(self.mark + r"(\d{6})", lambda match: self.aside[int(match[1])], made)

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
        words = re.sub(self.mark + r"\d{6}", "", text)
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
    left_out, source = len(source) - MOST_WRITTEN, _ANSI.sub("", source[:MOST_WRITTEN])
    renderer = _Renderer(dict(attachments))
    try:
        made = renderer.whole(safe_html(MarkdownWithMath(renderer=renderer).render(source), heads="col"))
    except Exception:  # a parser of free text: deep nesting, for one, ends in a RecursionError
        made = f"<pre>{text(source, MOST_WRITTEN)}</pre>"
    return made + (f"<p>… {left_out:,} characters are left out …</p>" if left_out > 0 else "")


@functools.lru_cache(maxsize=512)
def _markdown(source: str) -> str:
    """The questions are the same for everybody, so they are rendered once for a class."""
    return _rendered(source, {})


def picture(kind: str, data: Any, description: str) -> str:
    """An embedded picture; "" if it is not one, a message if it is too large."""
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
