"""Numbers in English and German words, as sequences of words to translate.

    4723     four thousand seven hundred and twenty three     →     vier tausend sieben hundert drei und zwanzig

German writes the whole number as one word up to a million, and says units before tens: "drei und zwanzig". It is cut
into its parts here, so that a decoder chooses among some forty words, and the alignment crosses where the languages do.
The words are num2words'; the length of a number is counted in English words.
"""

import random
import re
from functools import lru_cache

from nlmcore.corpora.packages import imported

# Longer words first: "vierzehn" must not be read as "vier".
PARTS = """
    dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
    zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
    Millionen Million Milliarden Milliarde Billionen Billion
    eins eine ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend und
"""
_PARTS = re.compile("|".join(PARTS.split()))

MAX_DIGITS = 15


@lru_cache(maxsize=1 << 20)
def english(number: int) -> str:
    """`four thousand seven hundred and twenty three`: num2words without commas and hyphens."""
    return _num2words(number, "en").replace(",", "").replace("-", " ")


def german(number: int) -> str:
    """`vier tausend sieben hundert drei und zwanzig`: num2words' German in its parts."""
    return split_german(_num2words(number, "de"))


def split_german(words: str) -> str:
    """Compounds cut into parts. ValueError if a letter would be lost."""
    parts = _PARTS.findall(words)
    if "".join(parts) != words.replace(" ", ""):
        raise ValueError(f"words must be a German number from 1 below 10 ** {MAX_DIGITS}, got {words!r}")
    return " ".join(parts)


def length(number: int) -> int:
    """English words."""
    return english(number).count(" ") + 1


def draw(chance: random.Random, shortest: int, longest: int) -> int:
    """A number of `shortest` to `longest` English words, of 1 to 15 digits, some of them with many zeros."""
    while True:
        zeros = chance.choice((0.0, 0.3, 0.6, 0.85))
        digits = [chance.randint(1, 9) if chance.random() >= zeros else 0 for _ in range(chance.randint(1, MAX_DIGITS))]
        number = int("".join(map(str, digits)))
        if number and shortest <= length(number) <= longest:
            return number


def draw_many(seed: int, count: int, shortest: int, longest: int, without: frozenset[int] = frozenset()) -> list[int]:
    """`count` different numbers, none of those in `without`."""
    chance = random.Random(seed)
    numbers: dict[int, None] = {}
    while len(numbers) < count:
        number = draw(chance, shortest, longest)
        if number not in without:
            numbers[number] = None
    return list(numbers)


def _num2words(number: int, language: str) -> str:
    return imported("num2words", "num2words").num2words(number, lang=language)
