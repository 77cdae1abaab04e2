"""Text without capitals and marks, and the tag of every word that puts them back.

    what is spoken     Nay, answer me: stand!
    what is read       nay      answer   me     stand
    tags               Upper ,  lower    lower ;  lower !

A tag is a case, 0 or 1 for a capital, times six, plus the mark that follows the word. A colon counts as a semicolon,
a dash beside another mark as nothing, and a dash alone as a comma.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

MARKS = ("", ",", ".", "?", "!", ";")
N_TAGS = 2 * len(MARKS)
LONGEST = 60
"""Words of a piece: a longer speech is cut, at the end of a sentence where there is one."""

_WORD = re.compile(r"'?[A-Za-z]+(?:['-][A-Za-z]+)*")
_MARK = {",": ",", ".": ".", "?": "?", "!": "!", ";": ";", ":": ";"}


class Piece(NamedTuple):
    """Words in lower case, and their tags."""

    words: list[str]
    tags: list[int]


def take_off(speech: str) -> Piece:
    """The words of a speech without capitals and marks, and the tags that put them back."""
    words, tags = [], []
    found = list(_WORD.finditer(speech))
    starts = [word.start() for word in found[1:]] + [len(speech)]
    for this, end in zip(found, starts[: len(found)], strict=True):
        between = speech[this.end() : end]
        mark = next((_MARK[sign] for sign in between if sign in _MARK), "," if "--" in between else "")
        capital = next(sign for sign in this.group() if sign.isalpha()).isupper()
        words.append(this.group().lower())
        tags.append(len(MARKS) * capital + MARKS.index(mark))
    return Piece(words, tags)


def put_back(words: Sequence[str], tags: Sequence[int]) -> str:
    """The words with the capitals and marks of their tags."""
    if len(words) != len(tags):
        raise ValueError(f"every word needs one tag, got {len(words)} words and {len(tags)} tags")
    written = []
    for word, tag in zip(words, tags, strict=True):
        capital, mark = divmod(tag, len(MARKS))
        at = next((i for i, sign in enumerate(word) if sign.isalpha()), 0)
        written.append((word[:at] + word[at : at + 1].upper() + word[at + 1 :] if capital else word) + MARKS[mark])
    return " ".join(written)


@lru_cache(maxsize=1 << 16)  # a play has few different words
def core(word: str) -> str:
    """What the tagger looks up: "grave-digger" as "digger", "'tis" as "tis"."""
    return word.rpartition("-")[2].strip("'")


def pieces(speeches: Sequence[str]) -> list[Piece]:
    """Every speech that has words, long ones cut."""
    found = []
    for speech in speeches:
        rest = take_off(speech)
        while len(rest.words) > LONGEST:
            ends = [i for i in range(LONGEST // 2, LONGEST) if rest.tags[i] % len(MARKS) in (2, 3, 4)]
            cut = ends[-1] + 1 if ends else LONGEST
            found.append(Piece(rest.words[:cut], rest.tags[:cut]))
            rest = Piece(rest.words[cut:], rest.tags[cut:])
        if rest.words:
            found.append(rest)
    return found
