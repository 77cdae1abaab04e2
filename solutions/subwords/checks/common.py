"""What the questions on byte-pair encoding share: words in which pairs repeat."""

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.tokens", "sentencepiece", "tiktoken", "tokenizers", "transformers")
"""Closed in every question: what learns and applies subwords."""


def words(draw: Draw, number: int, symbols: int, longest: int) -> list[list[int]]:
    """Different words over `symbols` symbols, made of a few syllables, so that pairs repeat."""
    syllables = [draw.integers(0, symbols - 1, 2).tolist() for _ in range(symbols)]
    made: list[list[int]] = []
    while len(made) < number:
        word = [
            s for _ in range(draw.integer(1, max(1, longest // 2))) for s in syllables[draw.integer(0, symbols - 1)]
        ]
        word += draw.integers(0, symbols - 1, draw.integer(0, 1)).tolist()
        if word not in made:
            made.append(word)
    return made


def how_often(draw: Draw, number: int) -> list[int]:
    return draw.integers(1, 9, number).tolist()


def different(draw: Draw, number: int, symbols: int) -> list[int]:
    """`number` different symbols."""
    return draw.integers(0, 10**9, symbols).argsort()[:number].tolist()
