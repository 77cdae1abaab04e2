"""What the exercises of "subwords" promise beyond what every assignment must (`test_checks.py`)."""

import pytest
import torch

from autograder.check import examine
from nlmcore.tokens import BPETokenizer
from solutions.subwords.checks import EXERCISES


def test_the_references_learn_what_the_librarys_tokenizer_learns():
    """The questions have another form than `nlmcore.tokens`; their merges are the same."""
    text = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
    tokenizer = BPETokenizer.train([text.replace(" ", "\n")], 256 + 4 + 8)  # bytes, special tokens, merges
    letters = sorted({letter for letter in text if letter != " "})
    number = {letter: i for i, letter in enumerate(letters)}
    words = sorted(set(text.split()))
    counts = [text.split().count(word) for word in words]
    spelled = [letter.encode() for letter in letters]
    found = []
    learned = EXERCISES["subwords.learn_merges"].reference
    for a, b in learned([[number[c] for c in word] for word in words], counts, len(letters), 8):
        found.append((spelled[a], spelled[b]))
        spelled.append(spelled[a] + spelled[b])
    assert found == tokenizer.merges[: len(found)]
    assert len(found) == 8


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("count_pairs", lambda words, counts, size: torch.zeros(size, size)),
        ("best_pair", lambda table: [0, 1]),
        ("merge", lambda word, pair, new: list(word)),
        ("learn_merges", lambda words, counts, symbols, merges: [[0, 1]] * merges),
        ("encode", lambda word, merges, symbols: list(word)),
        ("decode", lambda tokens, merges, symbols: list(tokens)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_nothing_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"subwords.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points
