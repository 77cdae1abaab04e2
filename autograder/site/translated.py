"""A page in another language: the words of the executed lecture are replaced; numbers, pictures and states stay.

Markdown is translated block by block. A string of a widget or a picture is known by the source code that has it: a
constant, or an f-string, whose values become places, {0}. What comes from data (the words of a corpus) is in no string
of the code and stays as it is. So nothing is drawn or executed again.
"""

import base64
import functools
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.site.catalogue import Translations, localised
from autograder.site.outlines import redrawn
from autograder.site.packed import script, taken
from autograder.site.prose import PARSER
from autograder.site.strings import ATTRIBUTE, WORD, Said, Strings, escaped, in_parts, inside, ours, outside, used
from lectures.show.question import marked

STALE = "This section has changed in the original. What is not translated yet is in English."
UNTRANSLATED = "This section is not translated yet."
_TOLD = re.compile(r'(?<= )data-told="([^"]*)"')
_FILE = re.compile(r'(?<= )src="(figures/[^":]+\.svg)"')
_DRAWING = re.compile(r'(?<=src="data:image/svg\+xml;base64,)[^"]*')
_DIGITS = re.compile(r"[−-]?\d+(?:,\d{3}(?!\d))*(?:\.\d+)?")
_SHELL = re.compile(r"((?:<[^>]*>|[^\w<\ue000-\uefff])*)(.*?)((?:<[^>]*>|[^\w>\ue000-\uefff])*)", re.S)


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
                    token.children = PARSER.parseInline(found)[0].children
            elif token.type == "html_block":
                token.content = self._walked(token.content, self._block)
            elif token.type == "math_block":
                words = re.compile(r"(?<=\\text\{)[^{}]+(?=\})")
                token.content = words.sub(lambda f: self.message(f[0]) or f[0], token.content)

    def _block(self, text: str) -> str | None:
        """HTML in Markdown has no code behind it: each run is a message."""
        if not speaks(text):
            return text
        if "<" in text:
            return self.message(text)
        found = self.message(html.unescape(text))
        return found and escaped(found)

    # --- what the code has drawn --------------------------------------------------------------------

    def markup(self, drawn: str) -> str:
        """A widget, a picture or a table as HTML."""
        return self._walked(drawn, self._run)

    def states(self, packed: str) -> str:
        """The states of a widget."""
        told = json.loads(taken(packed))
        for i, piece in enumerate(told["table"]):
            if not piece.startswith("<style"):
                told["table"][i] = self._walked(piece, self._short)
        told["options"] = [[self.plain(option) for option in options] for options in told["options"]]
        return script(told)

    def plain(self, text: str) -> str:
        """Words that are not HTML: a label, an option."""
        return html.unescape(self._run(escaped(text)) or text)

    def _walked(self, markup: str, translate: Callable[[str], str | None]) -> str:
        """HTML whose runs of words, and attributes that are read aloud, are translated."""
        made: list[str] = []
        for spoken, part in in_parts(markup):
            if not spoken:
                part = ATTRIBUTE.sub(lambda f: f'{f[1]}="{(translate(f[2]) or f[2]).replace(chr(34), "&quot;")}"', part)
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
        found = self.said(inside(text))
        return found and localised(outside(found))

    def _short(self, text: str) -> str | None:
        """The same for one of thousands that differ in their numbers only: each number is one character meanwhile."""
        values: list[str] = []

        def hide(found: re.Match[str]) -> str:
            values.append(localised(found[0]))
            return chr(0xE000 + len(values) - 1)

        text = inside(text)
        found = self.said(text if text in self.code.constants else _DIGITS.sub(hide, text))
        return found and outside(re.sub("[\ue000-\uefff]", lambda place: values[ord(place[0]) - 0xE000], found))

    def _said(self, text: str) -> str | None:
        """A text as the whole that the code says, or else its parts."""
        if not WORD.search(text):
            return text
        if found := self.ours.match(text):
            return self._filled(found, self.site.find("", found[0].message))
        if found := self.code.match(text):
            return self._filled(found, self.message(found[0].message))
        if (shell := _SHELL.fullmatch(text)) and 0 < len(shell[2]) < len(text):
            core = self.said(shell[2])
            return core and shell[1] + core + shell[3]
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
        return re.sub(r"\{(\d)\}", lambda place: each[int(place[1])], inside(said.shown(translation)))


def speaks(text: str) -> bool:
    """Whether there are words in Markdown, or only formulas, code and numbers."""
    return bool(WORD.search(re.sub(r"\$\$?[^$]+\$\$?|`[^`]+`|<[^>]*>", " ", text)))
