"""Expressions against Python's own `re`: the same matches, for random texts and random patterns."""

import random
import re
from contextlib import suppress

import pytest

from nlmcore.decoding.expressions import DEAD, START, Automaton, accepts

PATTERNS = [
    *(r"a|b*c", r"(ab|c)*d?", r"[a-c]{2,3}x", r"\d{4}-\d\d", r"[^a]b.", r"(?:a|ab)(?:c|bcd)(?:d*)", r"a{,2}b{2,}", ""),
    *(r"é+|[à-ü]x", r"a||b", r"(a*)*b", r"((a?){3}){2}", r"x{y}", r"\.\*", r"[]a-]+", r"[\w-]+@[^@]{1,3}", r"\s\S\W"),
    *(r"a\nb|\t", r"{|}", r"[^\n\"]*", r"\D\d|é?"),
]
ALPHABET = "abcdxéàü{y}0-1.*@]-\n 漢😀"


def matches(automaton: Automaton, text: str) -> bool:
    state = automaton.read(START, text.encode())
    return state != DEAD and accepts(automaton.states[state])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_matches_are_those_of_re(pattern: str) -> None:
    random_, automaton = random.Random(0), Automaton(pattern)
    for _ in range(600):
        letters = ALPHABET[: random_.choice([3, 6, len(ALPHABET)])]
        text = "".join(random_.choice(letters) for _ in range(random_.randint(0, 8)))
        assert matches(automaton, text) == (re.fullmatch(pattern, text, re.ASCII) is not None), text


def test_any_character_is_a_valid_one() -> None:
    """Two bytes are enough to tell: after every valid first byte, the seconds are those of UTF-8."""
    automaton = Automaton(".")
    for first in range(256):
        for second in range(256):
            bytes_ = [bytes([first, second, *[0x80] * more]) for more in range(3)]
            valid = False
            for text in bytes_:
                with suppress(UnicodeDecodeError):
                    valid |= len(text.decode()) == 1
            assert valid == (automaton.read(START, bytes([first, second])) != DEAD), (first, second)


def random_pattern(random_: random.Random, depth: int) -> str:
    if depth == 0:
        return random_.choice(["a", "b", "c", "[ab]", "[^a]", ".", "é"])
    one, other = (random_pattern(random_, depth - 1) for _ in range(2))
    repeat = random_.choice(["*", "+", "?", "{2}", "{1,2}", "{2,}", ""])
    return random_.choice([one + other, f"({one}|{other})", f"(?:{one}){repeat}"])


def test_random_patterns_match_what_re_matches_and_have_few_states() -> None:
    random_, seen = random.Random(1), [0, 0]
    for _ in range(100):
        pattern = random_pattern(random_, 3)
        automaton = Automaton(pattern)
        for _ in range(40):
            text = "".join(random_.choice("abcé") for _ in range(random_.randint(0, 6)))
            expected = re.fullmatch(pattern, text) is not None
            assert matches(automaton, text) == expected, (pattern, text)
            seen[expected] += 1
        assert len(automaton.states) < 60, pattern
    assert min(seen) > 300


def test_a_state_that_is_not_dead_leads_to_a_match() -> None:
    for pattern in PATTERNS:
        automaton = Automaton(pattern)
        todo, reached = [START], {START}
        leads: dict[int, set[int]] = {}
        while todo:
            state = todo.pop()
            leads[state] = {automaton.read(state, bytes([byte])) for byte in range(256)} - {DEAD}
            todo += sorted(leads[state] - reached)
            reached |= leads[state]
        good = {state for state in reached if accepts(automaton.states[state])}
        while more := {state for state in reached - good if leads[state] & good}:
            good |= more
        assert good == reached, pattern


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        *(("^a", "^"), ("a$", "$"), (r"(a)\1", r"\1"), ("a+?", "?"), ("a++", "+"), ("(?=a)", "?"), (r"\bx", r"\b")),
        *(("(?i)a", "?"), ("(?P<n>a)", "?"), (r"\x41", r"\x"), (r"\Aa", r"\A")),
    ],
)
def test_syntax_that_is_not_supported(pattern: str, named: str) -> None:
    with pytest.raises(ValueError, match=f"pattern must consist of .* got {re.escape(repr(named))} in "):
        Automaton(pattern)


def test_other_errors() -> None:
    with pytest.raises(ValueError, match=r"pattern must be a regular expression, got '\(a': missing \)"):
        Automaton("(a")
    with pytest.raises(ValueError, match="bad character range"):
        Automaton("[b-a]")
    for wide in ("[^é]", "[一-龥]"):
        with pytest.raises(ValueError, match="up to 1,000 characters beyond ASCII"):
            Automaton(wide)
