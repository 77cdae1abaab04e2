"""Regular expressions as automata over bytes, by derivatives: what may follow, given what was read.

    ∂_a b = ε if a = b else ∅        ∂_a (r | s) = ∂_a r | ∂_a s
    ∂_a r* = ∂_a r r*                ∂_a (r s) = ∂_a r s,  or ∂_a s as well if r matches the empty text

∂_a r matches u just where r matches a u. So a state of the automaton is an expression, a step is a derivative, and a
state accepts if it matches the empty text.

Source: Brzozowski (1964), "Derivatives of regular expressions". Departs from the paper: letters are the bytes of UTF-8,
because a token may end inside a character.

The syntax is that of Python's `re`, with re.ASCII, for a match of the whole text: characters, sets like `[a-z_]`, `.`
and `\\d`, groups, `|`, and `* + ? {m} {m,} {m,n}`. Everything else is refused.
"""

import re
from collections import deque, namedtuple
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

State = Any  # one of the four below
DEAD, START = 0, 1


Byte = namedtuple("Byte", "of")  # one byte of a set; the empty set is ∅
Both = namedtuple("Both", "first second")  # first, then second
Either = namedtuple("Either", "of")  # one of a set of at least two
Many = namedtuple("Many", "of")  # any number of times; of ∅, it is ε, which matches only the empty text

NOTHING: State = Byte(frozenset())
EMPTY: State = Many(NOTHING)


def both(first: State, second: State) -> State:
    """first second, nested to the right."""
    if NOTHING in (first, second):
        return NOTHING
    if EMPTY in (first, second):
        return second if first == EMPTY else first
    return both(first.first, both(first.second, second)) if isinstance(first, Both) else Both(first, second)


def either(options: Iterable[State]) -> State:
    """r | s | …, as a set of at least two, or what is left of it."""
    found = {one for option in options for one in (option.of if isinstance(option, Either) else (option,))} - {NOTHING}
    return Either(frozenset(found)) if len(found) > 1 else found.pop() if found else NOTHING


def accepts(state: State) -> bool:
    """Whether it matches the empty text: is the text so far a match?"""
    if isinstance(state, Both):
        return accepts(state.first) and accepts(state.second)
    return any(map(accepts, state.of)) if isinstance(state, Either) else isinstance(state, Many)


def step(state: State, byte: int) -> State:
    """∂_byte state: `NOTHING` if no match can continue with this byte."""
    if isinstance(state, Byte):
        return EMPTY if byte in state.of else NOTHING
    if isinstance(state, Either):
        return either(step(option, byte) for option in state.of)
    if isinstance(state, Many):
        return both(step(state.of, byte), state)
    # ∂(r s) = ∂r s, or ∂s too if r may be empty: Brzozowski's rule for one after another.
    longer = both(step(state.first, byte), state.second)
    return either([longer, step(state.second, byte)]) if accepts(state.first) else longer


TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?:\d+(?:,\d*)?|,\d*)\}|\(\?:|.", re.DOTALL)
REPEAT = re.compile(r"[*+?]|\{[\d,]+\}")
REST = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x10000)]))
# Every character of several bytes (Unicode, table 3-7): no longer form than needed, no half of a surrogate pair,
# nothing above U+10FFFF. The first byte, the second, and how many more follow.
LONGER = (
    (range(0xC2, 0xE0), range(0x80, 0xC0), 0),
    (range(0xE0, 0xE1), range(0xA0, 0xC0), 1),
    (range(0xE1, 0xED), range(0x80, 0xC0), 1),
    (range(0xED, 0xEE), range(0x80, 0xA0), 1),
    (range(0xEE, 0xF0), range(0x80, 0xC0), 1),
    (range(0xF0, 0xF1), range(0x90, 0xC0), 2),
    (range(0xF1, 0xF4), range(0x80, 0xC0), 2),
    (range(0xF4, 0xF5), range(0x80, 0x90), 2),
)


def row(parts: Sequence[State]) -> State:
    """One after another."""
    return reduce(lambda rest, part: both(part, rest), reversed(parts), EMPTY)


def spelled(text: str) -> State:
    """The bytes of a text."""
    return row([Byte(frozenset([byte])) for byte in text.encode()])


def character(token: str) -> State:
    """One character of a set like `.`, `[^"]` or `\\d`: Python's `re` says which belong to it."""
    short: State = Byte(frozenset(i for i in range(128) if re.fullmatch(token, chr(i), re.ASCII)))
    others = [c for c in re.findall(token, REST, re.ASCII) if c]
    if 1000 < len(others) < len(REST):
        raise ValueError(
            f"pattern's sets may have up to 1,000 characters beyond ASCII, or all, but {token} has {len(others)}"
        )
    if len(others) < len(REST):
        return either([short, *(spelled(c) for c in others)])
    any_other = Byte(frozenset(range(0x80, 0xC0)))
    longer = (row([Byte(frozenset(one)), Byte(frozenset(two)), *[any_other] * more]) for one, two, more in LONGER)
    return either([short, *longer])


def parse(pattern: str) -> State:
    """The expression of a pattern. Raises ValueError for what `re` or this file does not understand."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern must be a regular expression, got {pattern!r}: {error}") from None
    tokens = deque(TOKEN.findall(pattern))

    def atom() -> State:
        token = tokens.popleft()
        if token in ("(", "(?:"):
            inside = alternatives()
            tokens.popleft()
            return inside
        usual = len(token) == 1 and token not in "^$.*+?"
        found = spelled(token) if usual else NOTHING
        with suppress(re.error):  # of a part of something longer
            found = found if usual or token in "^$" else character(token)
        if found == NOTHING:
            raise ValueError(
                rf"pattern must consist of characters, sets [ ], . \d \w \s, ( ), (?: ), | and greedy repeats, and it"
                rf" matches the whole text without ^ and $; got {token!r} in {pattern!r}"
            )
        return found

    def repeated() -> State:
        once = atom()
        if not tokens or not REPEAT.fullmatch(tokens[0]):
            return once
        sign = tokens.popleft()
        low, comma, high = {"*": "0,", "+": "1,", "?": "0,1"}.get(sign, sign[1:-1]).partition(",")
        rest = Many(once) if comma and not high else EMPTY
        for _ in range(int(high or low or 0) - int(low or 0)):
            # r{0,2} is (r(r)?)?: nested, so that every state has one way on.
            rest = either([EMPTY, both(once, rest)])
        return row([once] * int(low or 0) + [rest])

    def alternatives() -> State:
        options: list[list[State]] = [[]]
        while tokens and tokens[0] != ")":
            if tokens[0] == "|":
                tokens.popleft()
                options.append([])
            else:
                options[-1].append(repeated())
        return either(map(row, options))

    return alternatives()


class Automaton:
    """The states of a pattern as numbers, found when first met: `START`, and `DEAD` where no match can continue."""

    def __init__(self, pattern: str) -> None:
        self.states = [NOTHING, parse(pattern)]
        self._ids = {state: i for i, state in enumerate(self.states)}
        self._moves: dict[tuple[int, int], int] = {}

    def read(self, state: int, text: bytes) -> int:
        """The state after these bytes."""
        for byte in text:
            if (state, byte) not in self._moves:
                found = step(self.states[state], byte)
                self._moves[state, byte] = self._ids.setdefault(found, len(self.states))
                self.states += [found] if len(self._ids) > len(self.states) else []
            state = self._moves[state, byte]
            if state == DEAD:
                break
        return state
