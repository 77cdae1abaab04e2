"""The exercises of the assignment "subwords", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.subwords import EXERCISES
from nlmcore.tokens import BPETokenizer
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_subwords import SOLUTIONS
from tests.autograder.strangers import subwords


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


# --- right, in odd ways -----------------------------------------------------------------------------------


class Counting:
    def __call__(self, words, counts, size):
        table = torch.zeros(size * size, dtype=torch.float64)
        for word, count in zip(words, counts, strict=True):
            if len(word) > 1:
                places = torch.tensor(word[:-1]) * size + torch.tensor(word[1:])
                table.index_add_(0, places, torch.full((len(places),), float(count), dtype=torch.float64))
        return table.reshape(size, size)


def by_unravelling(table):
    return np.array(np.unravel_index(np.argmax(table.numpy()), tuple(table.shape)))


def by_text(word, pair, new):
    text = "".join(chr(0x4E00 + s) for s in word)
    return [ord(c) - 0x4E00 for c in text.replace("".join(chr(0x4E00 + s) for s in pair), chr(0x4E00 + new))]


def in_place_on_a_copy(word, merges, symbols):
    out = list(word)
    for number, (a, b) in enumerate(merges):
        i = 0
        while i + 1 < len(out):
            if (out[i], out[i + 1]) == (a, b):
                out[i : i + 2] = [symbols + number]
            i += 1
    return torch.tensor(out)


def by_growing_a_table(tokens, merges, symbols):
    spelled = [[s] for s in range(symbols)]
    for a, b in merges:
        spelled.append(spelled[a] + spelled[b])
    return np.concatenate([spelled[t] for t in tokens]).astype(np.int32)


ODD_BUT_RIGHT = [
    ("count_pairs", Counting()),
    ("best_pair", by_unravelling),
    ("merge", by_text),
    ("learn_merges", lambda *given: torch.tensor(SOLUTIONS["subwords.learn_merges"](*given), dtype=torch.float32)),
    ("encode", in_place_on_a_copy),
    ("decode", by_growing_a_table),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"subwords.{name}"]


def keeps_only_pairs_that_repeat(words, counts, size):
    table = right("count_pairs")(words, counts, size)
    return table * (table > 1)


def merges_only_at_the_beginning(word, pair, new):
    return [new, *word[2:]] if list(word[:2]) == list(pair) else list(word)


def stops_one_early(words, counts, symbols, merges):
    learned = right("learn_merges")(words, counts, symbols, merges)
    return learned[:-1] or learned


def never_merges_merges(words, counts, symbols, merges):
    learned = right("learn_merges")(words, counts, symbols, merges)
    return [pair for pair in learned if max(pair) < symbols] or learned


def forgets_the_last_merge(word, merges, symbols):
    return right("encode")(word, merges[:-1], symbols)


def each_symbol_once(tokens, merges, symbols):
    return list(dict.fromkeys(right("decode")(tokens, merges, symbols)))


WRONG = [
    ("count_pairs", keeps_only_pairs_that_repeat),
    ("best_pair", lambda table: [int(table.max(1).values.argmax()), int(table[0].argmax())]),
    ("merge", merges_only_at_the_beginning),
    ("learn_merges", stops_one_early),
    ("learn_merges", never_merges_merges),
    ("encode", forgets_the_last_merge),
    ("decode", each_symbol_once),
]


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


class TestSubwords(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = subwords
