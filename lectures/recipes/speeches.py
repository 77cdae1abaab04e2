"""What Shakespeare's people say: the speeches of a play, without speakers' names, stage directions and headings.

    HAMLET.
    The time is out of joint:--O cursed spite,        The time is out of joint:--O cursed spite, that ever I was …
    That ever I was born to set it right!--

Every line of verse begins with a capital letter, whatever word it begins with. In `speeches` that capital is taken
back unless a sentence begins there, or the word has one in the middle of lines, too, more often than not.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

_SPEAKER = re.compile(r"(?:[A-Z][\w ,'&-]{1,30}\.|[A-Z][A-Z ,'&-]{2,30}\.?)(?: ?\[[^\]]*\])?\n")
_DIRECTION = re.compile(r"\[[^\]]*\]|\([^)]*\)|_")
_ENDS = re.compile(r"[.?!][\"'-]*$")


def spoken_lines(play: str) -> list[list[str]]:
    """Every speech of a play as its lines."""
    found = []
    for paragraph in play.split("\n\n"):
        if (speaker := _SPEAKER.match(paragraph)) is not None:
            lines = [" ".join(line.split()) for line in _DIRECTION.sub(" ", paragraph[speaker.end() :]).split("\n")]
            found.append([line for line in lines if line])
    return [lines for lines in found if lines]


class Capitals:
    """Which words begin with a capital letter in the middle of a line, more often than not."""

    def __init__(self, plays: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        for play in plays:
            for lines in spoken_lines(play):
                for line in lines:
                    words = line.split()
                    for before, word in pairwise(words):
                        if not _ENDS.search(before) and (core := letters(word)):
                            self._counts[core.lower()] += 1 if core[0].isupper() else -1

    def own(self, word: str) -> bool:
        """Whether the word's capital is its own, and not the line's."""
        return self._counts[letters(word).lower()] > 0


def letters(word: str) -> str:
    """The word without the marks around it."""
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z]+$", "", word)


def speeches(play: str, capitals: Capitals) -> list[str]:
    """Every speech in one line, as prose would print it."""
    found = []
    for lines in spoken_lines(play):
        joined = lines[0]
        for line in lines[1:]:
            first, _, rest = line.partition(" ")
            begins = _ENDS.search(joined) is not None
            word = first if begins or capitals.own(first) else first.lower()
            joined += f" {word} {rest}" if rest else f" {word}"
        found.append(joined)
    return found
