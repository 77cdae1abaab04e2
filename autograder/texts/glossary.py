"""`lectures/GLOSSARY.md`: every word that a lecture introduces, collected from the lectures' own lists.

A lecture has one cell that starts with `### Words of this lecture`, with an item per word: `- **word**: what it means.`
A word belongs to the first lecture that lists it; a later one lists it again in the same sentences or not at all.
A word with two meanings says which one it is: `context (in attention)`. `make sync` writes the file.

Standard library only.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.texts import figures

HEADING = "### Words of this lecture"
WHERE = "lectures/GLOSSARY.md"
RENEW = "make sync (python3 -m autograder sync)"
_ITEM = re.compile(r"^- \*\*(?P<term>[^*]+)\*\*: (?P<meaning>\S.*)$")

HEAD = f"""\
# Glossary

Every word that a lecture introduces, with the lecture that explains it.

<!-- Gathered from the lists at the end of the lectures. To change an entry, change it there, then: {RENEW}. -->

| word | meaning | lecture |
|---|---|---|
"""


@dataclass(frozen=True)
class Word:
    term: str
    meaning: str
    lecture: Path

    @property
    def number(self) -> int:
        return int(self.lecture.name.split("_")[0])

    @property
    def key(self) -> str:
        """The key by which a word is sorted and compared: `Transformer` and `transformer` are one word."""
        return self.term.casefold()


def lectures(root: Path) -> list[Path]:
    found = [path for path in (root / "lectures").glob("*.py") if re.match(r"\d+_", path.name)]
    return sorted(found, key=lambda path: (int(path.name.split("_")[0]), path.name))


def markdown_cells(source: str) -> list[str]:
    """The Markdown cells of a text in py:percent, without their comment marks; read without jupytext.

    Notes for the presenter are left out: a student does not see them.
    """
    cells: list[list[str]] = []
    inside = False
    for line in source.splitlines():
        if line.startswith("# %%"):
            inside = "[markdown]" in line and '"slide_type": "notes"' not in line
            if inside:
                cells.append([])
        elif inside and line.startswith("#"):
            cells[-1].append(line[2:])
    return [figures.words("\n".join(cell)) for cell in cells]


def words_of(lecture: Path) -> list[Word]:
    """The list of one lecture, in its order; empty if it has none. Raises ValueError for a line of the list that is not
    an item, and for a word that is listed twice."""
    words: dict[str, Word] = {}
    for cell in markdown_cells(lecture.read_text(encoding="utf-8")):
        if not cell.startswith(HEADING):
            continue
        # An item may go on in indented lines.
        for row in re.sub(r"\n +", " ", cell[len(HEADING) :]).splitlines():
            if not row.strip():
                continue
            item = _ITEM.match(row)
            if item is None:
                raise ValueError(f"{lecture.name}, {HEADING}: not of the form '- **word**: meaning.': {row!r}")
            word = Word(item["term"].strip(), item["meaning"].strip(), lecture)
            if word.key in words:
                raise ValueError(f"{lecture.name}, {HEADING}: {word.term!r} is listed twice")
            words[word.key] = word
    return list(words.values())


def gather(root: Path) -> tuple[list[Word], list[str]]:
    """All words, each of the first lecture that lists it, in alphabetical order; and later entries that contradict
    it."""
    first: dict[str, Word] = {}
    conflicts = []
    for lecture in lectures(root):
        for word in words_of(lecture):
            known = first.setdefault(word.key, word)
            if known.meaning != word.meaning:
                conflicts.append(
                    f"{word.term!r} means two things:\n"
                    f"    {known.lecture.name}: {known.meaning}\n    {lecture.name}: {word.meaning}\n"
                    "    Take the earlier sentences word for word, leave the word out of the later list, or say which\n"
                    f"    of two things is meant: **{word.term} (in …)**."
                )
    return [first[key] for key in sorted(first)], conflicts


def page(words: list[Word]) -> str:
    rows = [
        f"| **{word.term}** | {_in_table(word.meaning)} | [{word.number}]({word.lecture.name}) |\n" for word in words
    ]
    return HEAD + "".join(rows)


def _in_table(meaning: str) -> str:
    """A bar would end the cell; in mathematics `\\mid` says the same."""
    return re.sub(r"\$[^$]*\$", lambda part: part[0].replace("|", r"\mid "), meaning).replace("|", r"\|")


def renew(root: Path) -> bool:
    path, content = root / WHERE, page(gather(root)[0])
    if not lectures(root) or (path.exists() and path.read_text(encoding="utf-8") == content):
        return False
    path.write_text(content, encoding="utf-8", newline="\n")
    return True
