"""The strings of the code, and which of them says a text that the code has drawn.

A text is known by the source: it is a constant, or an f-string, whose values become places, {0}. Texts are HTML here.
"""

import ast
import functools
import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lectures.show.question import marked

HOLE = "\x00"
_INLINE = r"</?(?:b|em|i|strong|code|small|sub|sup|a|br)\b[^>]*>"
_APART = re.compile(rf"(<style.*?</style>|<pre.*?</pre>|<math.*?</math>|<!--.*?-->|(?!{_INLINE})<[^>]*>)", re.S)
"""What stands between two runs of words."""
ATTRIBUTE = re.compile(r'(?<= )(aria-label|alt|title|placeholder)="([^"]*)"')
WORD, _LETTER = re.compile(r"[^\W\d_]{2}"), re.compile(r"[^\W\d_]")


def escaped(text: str) -> str:
    return html.escape(text, quote=False)


_ENTITIES = {"&lt;": "\uf8f0", "&gt;": "\uf8f1", "&amp;": "\uf8f2"}


def inside(text: str) -> str:
    """HTML with one character for each entity, so that a semicolon is one."""
    for entity, character in {**_ENTITIES, "&quot;": '"', "&#x27;": "'", "&#39;": "'"}.items():
        text = text.replace(entity, character)
    return text


def outside(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(character, entity)
    return text


def strings(code: str) -> Iterator[str]:
    """The strings of a module, with HOLE where an f-string has a value; no docstrings."""
    within: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FormattedValue) and node.format_spec:
            within |= {id(part) for part in ast.walk(node.format_spec)}
        elif isinstance(node, ast.JoinedStr) and id(node) not in within:
            within |= {id(part) for part in node.values}
            parts = (str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
            yield re.sub(f"{HOLE}+", HOLE, "".join(parts))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            within.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
            yield node.value


def tagged(text: str) -> bool:
    """Whether a string of the code is HTML; "<bos>" is not."""
    return "</" in text or '="' in text


def in_parts(markup: str) -> Iterator[tuple[bool, str]]:
    """HTML in parts: (whether it is a run of words, the part)."""
    for part in _APART.split(markup):
        yield not part.startswith("<") or bool(re.match(_INLINE, part)), part


def runs(markup: str) -> Iterator[str]:
    """The runs of words in HTML (or a string without tags), and the attributes that are read aloud."""
    if not tagged(markup):
        yield markup
        return
    for words, part in in_parts(markup):
        if words:
            yield part if tagged(part) else html.unescape(part)
        else:
            yield from (found[1] for found in ATTRIBUTE.findall(part))


@dataclass(frozen=True)
class Said:
    """A string of the code, and how its words become HTML."""

    words: str
    shown: Callable[[str], str]

    @property
    def message(self) -> str:
        """The words, with {0} for the first value."""
        places = iter(range(self.words.count(HOLE)))
        return re.sub(HOLE, lambda _: f"{{{next(places)}}}", self.words)


class Strings:
    """Which string of the code says a text, and with which values. Texts are HTML here, as `inside` makes it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.constants: dict[str, Said] = {}
        self.formats: list[tuple[tuple[bool, int], str, str, list[re.Pattern[str]], Said]] = []
        for words in sorted({" ".join(run.split()) for text in texts for run in runs(text)}):
            for form in [str] if tagged(words) else [marked, escaped]:
                self._add(inside(form(words)), Said(words, form))
        self.formats.sort(key=lambda one: one[:2], reverse=True)

    def _add(self, shown: str, said: Said) -> None:
        parts = shown.split(HOLE)
        literals = [re.sub("<[^>]*>", "", part) for part in parts]
        letters = sum(len(_LETTER.findall(part)) for part in literals)
        if len(parts) == 1 and WORD.search(literals[0]):
            self.constants[shown] = said
        elif len(parts) > 1 and letters >= 3:
            words, begins = "".join(literals), WORD.search(literals[0])
            sentences = ". " in words or words.endswith(".")
            tight = "([^;]*?)" if sentences else r"(\.?(?:(?!; |\. ).)*?)"
            holes = [tight, "(.*?)"] if sentences and begins else [tight]
            patterns = [re.compile(hole.join(map(re.escape, parts)), re.S) for hole in holes]
            self.formats.append(((bool(begins), letters), shown, max(parts, key=len), patterns, said))

    def every(self) -> list[Said]:
        return [*self.constants.values(), *(one[-1] for one in self.formats)]

    def match(self, text: str) -> tuple[Said, list[str]] | None:
        """A string and its values. A value is not several clauses, unless the string begins a sentence for them."""
        if text in self.constants:
            return self.constants[text], []
        for loose in (0, 1):
            for _, _, longest, patterns, said in self.formats:
                if longest in text and len(patterns) > loose and (found := patterns[loose].fullmatch(text)):
                    return said, list(found.groups())
        return None


def used(code: str, root: Path) -> Iterator[str]:
    """The strings of a lecture, of what it draws with, and of the stored results that it shows."""
    yield from strings(code)
    drawn = set(re.findall(r"(?:widgets\.|figures/)(\w+)", code))
    for path in sorted((root / "lectures").glob("*/**/*.py")):
        drawing = path.read_text(encoding="utf-8")
        if path.is_relative_to(root / "lectures" / "show") or drawn & set(re.findall(r"^def (\w+)", drawing, re.M)):
            yield from strings(drawing)
    for name in re.findall(r'stored\("(\w+)"\)', code):
        yield from re.findall(r'"([^"\\]+)"', (root / "lectures" / "results" / f"{name}.json").read_text("utf-8"))


@functools.cache
def ours() -> Strings:
    """What the site itself says, in HTML, around a widget or a cell."""
    files = (Path(__file__).with_name(f"{module}.py") for module in ("drawn", "sheet"))
    every = (text for path in files for text in strings(path.read_text(encoding="utf-8")))
    return Strings(text for text in every if re.search("<[a-z]+[ >]", text))
