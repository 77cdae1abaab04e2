"""Lecture numbers: each is written in one place, the name of its file, `lectures/NN_topic.py`.

Everything else names a lecture by its topic. A link may show the number, `[lecture 7](07_gates.ipynb)`, because
`renumber` writes it there. `renumber --room-at 5` moves the fifth lecture and all after it up by one, and
`renumber --close-gaps` leaves no number out; without an option it makes every link agree with the files.

Standard library only.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.launcher import say
from autograder.launcher.environment import Environment
from autograder.texts import glossary

LINKED = (
    "*.md",
    "lectures/*.md",
    "lectures/*.py",
    "solutions/**/*.md",
    "solutions/*/*.py",
    "exercises/*.md",
)
"""Files that may link to a lecture."""
WATCHED = (
    *LINKED,
    "lectures/*/**/*.py",
    "nlmcore/**/*.py",
    "autograder/**/*.py",
    "tests/lectures/**/*.py",
)
"""Files in which every lecture number must be a link, so that `renumber` can update it."""

_GAP = r"(?: +|\n(?:# )?(?:> )?)"
_BARE = re.compile(rf"\b[Ll]ectures?{_GAP}\d+")
_ONE = re.compile(r"\b([Ll]ecture) (\d+)\b")
_TWO = re.compile(r"\b([Ll]ectures) (\d+) (and|to|or) (\d+)\b")
_LINK = re.compile(r"\[((?:[Ll]ecture )?)\d+\]\(((?:[\w./-]*/)?)\d+_(\w+)\.(py|ipynb)")
_HTML = re.compile(r'(<a href="(?:[\w./-]*/)?)\d+_(\w+)\.(py|ipynb)(")>((?:[Ll]ecture )?)\d+</a>')
_ROW = re.compile(r"^\| \d+ \| (\[[^]]+\]\(\d+_(\w+)\.py\))", re.M)
_FILE = re.compile(r"(?<![\w*])\d+_(\w+)\.(py|ipynb)\b")


def topics(root: Path) -> dict[str, int]:
    """topic -> number, in the order of the numbers. Raises ValueError if two lectures share a number or a topic."""
    found: dict[str, int] = {}
    for path in glossary.lectures(root):
        number, _, topic = path.stem.partition("_")
        if topic in found or int(number) in found.values():
            raise ValueError(f"{path.name}: another lecture has this number or this topic; rename one of the two files")
        found[topic] = int(number)
    return found


def linked(text: str, numbers: dict[str, int], folder: str = "") -> str:
    """Bare numbers in Markdown become links like `[lecture 7](07_gates.ipynb)`, in HTML an `<a href>`."""
    called = {number: topic for topic, number in numbers.items()}

    def link(word: str, number: str) -> str:
        topic = called.get(int(number))
        name = f"{folder}{int(number):02}_{topic}.ipynb"
        shown = f"{word}{number}"
        return shown if topic is None else f'<a href="{name}">{shown}</a>' if html else f"[{shown}]({name})"

    lines, html = text.split("\n"), False
    for at, line in enumerate(lines):
        html = (html or "<details" in line) and line.strip("# ") != ""
        if re.search(r"!\[|<img", line):
            continue
        line = _TWO.sub(lambda m: f"{m[1]} {link('', m[2])} {m[3]} {link('', m[4])}", line)
        lines[at] = _ONE.sub(
            lambda m: m[0] if m.string[m.end() : m.end() + 1] in ("]", "<") else link(f"{m[1]} ", m[2]), line
        )
    return "\n".join(lines)


def followed(text: str, numbers: dict[str, int]) -> str:
    """Every link to a lecture and every name of its file, with the number that the lecture has."""

    def of(topic: str, old: str) -> str:
        return f"{numbers[topic]:02}_{topic}" if topic in numbers else old

    def link(m: re.Match[str]) -> str:
        return f"[{m[1]}{numbers[m[3]]}]({m[2]}{of(m[3], '')}.{m[4]}" if m[3] in numbers else m[0]

    def html(m: re.Match[str]) -> str:
        return f"{m[1]}{of(m[2], '')}.{m[3]}{m[4]}>{m[5]}{numbers[m[2]]}</a>" if m[2] in numbers else m[0]

    text = _ROW.sub(lambda m: f"| {numbers[m[2]]} | {m[1]}" if m[2] in numbers else m[0], text)
    text = _FILE.sub(lambda m: f"{of(m[1], m[0].rpartition('.')[0])}.{m[2]}", text)
    return _HTML.sub(html, _LINK.sub(link, text))


def faults(root: Path) -> list[str]:
    """Where a lecture is called by a number that is not a link, or a link's number is not the lecture's."""
    found, numbers = [], topics(root)
    links = set(_files(root, LINKED))
    for path in _files(root, WATCHED):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        for m in _BARE.finditer(text):
            if text[m.end() : m.end() + 2] not in ("](", "</"):
                found.append(f"{name}:{text.count(chr(10), 0, m.start()) + 1}: {m[0]!r} is not a link")
        if path in links and followed(text, numbers) != text:
            found.append(f"{name}: a link has another number than its lecture")
    return found


def renumber(root: Path, room_at: int | None = None, close_gaps: bool = False) -> list[str]:
    """Rename the lectures' files as asked, then make every link agree with them. Returns what was written."""
    old = topics(root)
    new = {t: i for i, t in enumerate(old, 1)} if close_gaps else dict(old)
    if room_at is not None and room_at in new.values():
        new = {topic: number + (number >= room_at) for topic, number in new.items()}
    written = []
    for path in _files(root, LINKED):
        text = path.read_text(encoding="utf-8")
        named = text
        if path.suffix == ".py":
            folder = "" if path.parent.name == "lectures" else "../../lectures/"
            named = "".join(
                linked(part, old, folder) if part.startswith("# %% [markdown]") else part
                for part in re.split(r"^(?=# %%)", text, flags=re.M)
            )
        named = followed(named, new)
        if named != text:
            path.write_text(named, encoding="utf-8", newline="\n")
            written.append(path.relative_to(root).as_posix())
    for topic in sorted(old, key=lambda topic: old[topic], reverse=True):
        for suffix in (".py", ".ipynb"):
            source = root / "lectures" / f"{old[topic]:02}_{topic}{suffix}"
            if source.exists() and new[topic] != old[topic]:
                source.rename(source.with_name(f"{new[topic]:02}_{topic}{suffix}"))
                written.append(f"lectures/{new[topic]:02}_{topic}{suffix}")
    return written + ([glossary.WHERE] if glossary.renew(root) else [])


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python3 -m autograder renumber",
        description="Make every link to a lecture agree with the numbers in the lectures' file names.",
    )
    made.add_argument("--room-at", type=int, metavar="N", help="first move lecture N and all after it up by one")
    made.add_argument("--close-gaps", action="store_true", help="first leave no number out")
    return made


def program(place: Environment, rest: list[str]) -> int:
    options = parser().parse_args(rest)
    try:
        written = renumber(place.root, options.room_at, options.close_gaps)
        left = [f"{fault}: name the lecture by its topic" for fault in faults(place.root)]
    except ValueError as error:
        say.line(f"  ! {error}")
        return 1
    return say.result(written, left, "Every link to a lecture has the number in its file name.")


def _files(root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    yield from sorted({path for pattern in patterns for path in root.glob(pattern) if path.is_file()})
