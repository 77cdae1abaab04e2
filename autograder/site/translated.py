"""A page in another language: the words of the executed lecture are replaced; numbers, pictures and states stay.

Markdown is translated block by block. A string of a widget or a picture is known by the source code that has it: a
constant, or an f-string, whose values become places, {0}. What comes from data (the words of a corpus) is in no string
of the code and stays as it is. So nothing is drawn or executed again.
"""

import ast
import base64
import functools
import gzip
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.site.catalogue import Translations, localised
from autograder.site.outlines import redrawn
from autograder.site.packed import script
from autograder.site.prose import parser
from lectures.show.question import marked

STALE = "This section has changed in the original. What is not translated yet is in English."
UNTRANSLATED = "This section is not translated yet."
HOLE = "\x00"
_INLINE = r"</?(?:b|em|i|strong|code|small|sub|sup|a|br)\b[^>]*>"
_SILENT = r"<style.*?</style>|<pre.*?</pre>|<math.*?</math>|<!--.*?-->"
_ATTRIBUTE = re.compile(r'(?<= )(aria-label|alt|title|placeholder)="([^"]*)"')
_TOLD = re.compile(r'(?<= )data-told="([^"]*)"')
_FILE = re.compile(r'(?<= )src="(figures/[^":]+\.svg)"')
_DRAWING = re.compile(r'(?<=src="data:image/svg\+xml;base64,)[^"]*')
_DIGITS = re.compile(r"[−-]?\d+(?:,\d{3}(?!\d))*(?:\.\d+)?")
_WORD, _LETTER = re.compile(r"[^\W\d_]{2}"), re.compile(r"[^\W\d_]")
_SHELL = re.compile(r"((?:<[^>]*>|[^\w<\ue000-\uefff])*)(.*?)((?:<[^>]*>|[^\w>\ue000-\uefff])*)", re.S)
_PARSER = parser()


# --- the strings of the code ------------------------------------------------------------------------


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


def runs(markup: str) -> Iterator[str]:
    """The runs of words in HTML (or a string without tags), and the attributes that are read aloud."""
    if not tagged(markup):
        yield markup
        return
    for part in re.split(f"({_SILENT}|(?!{_INLINE})<[^>]*>)", markup, flags=re.S):
        if part.startswith("<") and not re.match(_INLINE, part):
            yield from (found[1] for found in _ATTRIBUTE.findall(part))
        else:
            yield part if tagged(part) else html.unescape(part)


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


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


class Strings:
    """Which string of the code says a text, and with which values. Texts are HTML here, as `_inside` makes it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.constants: dict[str, Said] = {}
        self.formats: list[tuple[tuple[bool, int], str, str, list[re.Pattern[str]], Said]] = []
        for words in sorted({" ".join(run.split()) for text in texts for run in runs(text)}):
            for form in [str] if tagged(words) else [marked, _escaped]:
                self._add(_inside(form(words)), Said(words, form))
        self.formats.sort(key=lambda one: one[:2], reverse=True)

    def _add(self, shown: str, said: Said) -> None:
        parts = shown.split(HOLE)
        literals = [re.sub("<[^>]*>", "", part) for part in parts]
        letters = sum(len(_LETTER.findall(part)) for part in literals)
        if len(parts) == 1 and _WORD.search(literals[0]):
            self.constants[shown] = said
        elif len(parts) > 1 and letters >= 3:
            words, begins = "".join(literals), _WORD.search(literals[0])
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


# --- a lecture --------------------------------------------------------------------------------------


class Translation:
    """Translates one lecture, cell by cell. `asked[context, English]` is whether there is a translation.

    `site` has the words of the site itself.
    """

    def __init__(self, lecture: Translations, site: Translations, code: str, root: Path) -> None:
        self.lecture, self.site, self.ours, self.root = lecture, site, ours(), root
        self.code = Strings(used(code, root))
        self.asked: dict[tuple[str, str], bool] = {}
        self.at("")

    def at(self, context: str) -> None:
        """From here on, what is translated belongs to this cell."""
        self.context = context
        self.said = functools.cache(self._said)

    def missed(self) -> str:
        """What a reader should know if something of this cell is not translated."""
        if all(found for (context, _), found in self.asked.items() if context == self.context):
            return ""
        return self.site.say(STALE if self.context in self.lecture.begun else UNTRANSLATED)

    def message(self, english: str) -> str | None:
        found = self.lecture.find(self.context, english)
        self.asked[self.context, english] = found is not None
        return found

    # --- Markdown ---------------------------------------------------------------------------------

    def tokens(self, tokens: list[Any]) -> None:
        """Translate parsed Markdown in place; what has no translation is marked as English."""
        for i, token in enumerate(tokens):
            if token.type == "inline" and speaks(token.content):
                found = self.message(" ".join(token.content.split()))
                if found is None:
                    tokens[i - 1].attrSet("lang", "en")
                else:
                    token.children = _PARSER.parseInline(found)[0].children
            elif token.type == "html_block":
                token.content = self._walked(token.content, self._block)
            elif token.type == "math_block":
                token.content = re.sub(
                    r"\\text\{([^{}]+)\}", lambda f: rf"\text{{{self.message(f[1]) or f[1]}}}", token.content
                )

    def _block(self, text: str) -> str | None:
        """HTML in Markdown has no code behind it: each run is a message."""
        if not speaks(text):
            return text
        if "<" in text:
            return self.message(text)
        found = self.message(html.unescape(text))
        return found and _escaped(found)

    # --- what the code has drawn --------------------------------------------------------------------

    def markup(self, drawn: str) -> str:
        """A widget, a picture or a table as HTML."""
        return self._walked(drawn, self._run)

    def states(self, packed: str) -> str:
        """The states of a widget."""
        told = json.loads(gzip.decompress(base64.b64decode(packed[len('nlm.take("') : -len('")')])))
        told["table"] = [
            piece if piece.startswith("<style") else self._walked(piece, self._short) for piece in told["table"]
        ]
        told["options"] = [[self.plain(option) for option in options] for options in told["options"]]
        return script(told)

    def plain(self, text: str) -> str:
        """Words that are not HTML: a label, an option."""
        return html.unescape(self._run(_escaped(text)) or text)

    def _walked(self, markup: str, translate: Callable[[str], str | None]) -> str:
        """HTML whose runs of words, and attributes that are read aloud, are translated."""
        made: list[str] = []
        for part in re.split(f"({_SILENT}|(?!{_INLINE})<[^>]*>)", markup, flags=re.S):
            if part.startswith("<") and not re.match(_INLINE, part):
                part = _ATTRIBUTE.sub(lambda f: f'{f[1]}="{_attribute(f[2], translate)}"', part)
                part = _TOLD.sub(lambda f: f'data-told="{self._told(f[1])}"', part)
                part = _FILE.sub(lambda f: f'src="{self._file(f[1])}"', part)
                made.append(_DRAWING.sub(lambda f: redrawn(f[0], self.plain), part))
                continue
            words = part.strip()
            found = translate(" ".join(words.split())) if words else words
            if found is None and made and re.match(r"<[a-z]", made[-1]) and not made[-1].endswith("/>"):
                made[-1] = re.sub(r"^<[a-z]+", r'\g<0> lang="en"', made[-1])
            made.append(part.replace(words, found) if found else part)
        return "".join(made)

    def _file(self, name: str) -> str:
        """A drawing beside the lectures, with its words translated, as an address that carries it."""
        drawing = self.markup((self.root / "lectures" / name).read_text(encoding="utf-8"))
        return f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"

    def _told(self, value: str) -> str:
        """What a page tells the script about a widget: labels and options, or a question and its right answer."""
        told = json.loads(html.unescape(value))
        for control in told.get("controls", []):
            control["label"] = self.plain(control["label"])
            control["options"] = [self.plain(option) for option in control["options"]]
        if "question" in told:
            told["question"] = self._run(marked(told["question"])) or told["question"]
            right = told["right"]
            if told["kind"] != "number":
                told["right"] = self.plain(right) if isinstance(right, str) else [self.plain(one) for one in right]
        return html.escape(json.dumps(told, ensure_ascii=False))

    def _run(self, text: str) -> str | None:
        """A run that the code has drawn. None: the code says it, and there is no translation."""
        found = self.said(_inside(text))
        return found and localised(_outside(found))

    def _short(self, text: str) -> str | None:
        """The same for one of thousands that differ in their numbers only: each number is one character meanwhile."""
        values: list[str] = []

        def hide(found: re.Match[str]) -> str:
            values.append(localised(found[0]))
            return chr(0xE000 + len(values) - 1)

        text = _inside(text)
        found = self.said(text if text in self.code.constants else _DIGITS.sub(hide, text))
        return found and _outside(re.sub("[\ue000-\uefff]", lambda place: values[ord(place[0]) - 0xE000], found))

    def _said(self, text: str) -> str | None:
        """A text as the whole that the code says, or else its parts."""
        if not _WORD.search(text):
            return text
        if found := self.ours.match(text):
            return self._filled(found, self.site.find("", found[0].message))
        if found := self.code.match(text):
            return self._filled(found, self.message(found[0].message))
        if (shell := _SHELL.fullmatch(text)) and 0 < len(shell[2]) < len(text):
            inside = self.said(shell[2])
            return inside and shell[1] + inside + shell[3]
        for separator in ("; ", ". ", ": ", ", ", " ("):
            if separator in text:
                parts = [self.said(part) for part in text.split(separator)]
                return None if None in parts else separator.join(map(str, parts))
        return text

    def _filled(self, found: tuple[Said, list[str]], translation: str | None) -> str | None:
        said, values = found
        each = [self.said(value) or value for value in values]
        if translation is None:
            return None
        return re.sub(r"\{(\d)\}", lambda place: each[int(place[1])], _inside(said.shown(translation)))


_ENTITIES = {"&lt;": "\uf8f0", "&gt;": "\uf8f1", "&amp;": "\uf8f2"}


def _inside(text: str) -> str:
    """HTML with one character for each entity, so that a semicolon is one."""
    for entity, character in {**_ENTITIES, "&quot;": '"', "&#x27;": "'", "&#39;": "'"}.items():
        text = text.replace(entity, character)
    return text


def _outside(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(character, entity)
    return text


def _attribute(value: str, translate: Callable[[str], str | None]) -> str:
    return (translate(value) or value).replace('"', "&quot;")


def speaks(text: str) -> bool:
    """Whether there are words in Markdown, or only formulas, code and numbers."""
    return bool(_WORD.search(re.sub(r"\$\$?[^$]+\$\$?|`[^`]+`|<[^>]*>", " ", text)))
