"""The exercises of the assignment "ngrams", held to the law: right solutions earn all, mistakes are named."""

import math

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.ngrams import EXERCISES
from nlmcore.ngram import NGramLM
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_ngrams import SOLUTIONS
from tests.autograder.strangers import ngrams


def test_the_references_are_the_librarys_models():
    """The questions have another form than `nlmcore.ngram`; their numbers are the same."""
    words = torch.randint(0, 6, (60,), generator=torch.Generator().manual_seed(0))
    words = torch.cat([words, torch.arange(6), words[:1]])  # every word is a context
    counts = torch.zeros(6, 6, dtype=torch.int64)
    for a, b in zip(words[:-1].tolist(), words[1:].tolist(), strict=True):
        counts[a, b] += 1

    def library(order, smoothing, context, **options):
        model = NGramLM(order, 6, smoothing, **options).fit(words)
        return torch.tensor([model.probability(w, context) for w in range(6)], dtype=torch.float64)

    def reference(name, *arguments):
        return EXERCISES[f"ngrams.{name}"].reference(*arguments)

    weights = [0.2, 0.3, 0.5]
    for a in range(6):
        wanted = library(2, "additive", [a], pseudocount=0.5)
        assert torch.allclose(reference("additive", counts, 0.5)[a].double(), wanted)
        assert torch.allclose(reference("conditional_probabilities", counts)[a].double(), library(2, "mle", [a]))
        for b in range(6):
            mixed = reference("interpolated", words, [a, b], weights, 6).double()
            assert torch.allclose(
                mixed, library(3, "interpolation", [a, b], weights=weights, base="unigram"), atol=1e-6
            )


# --- right, in odd ways -----------------------------------------------------------------------------------


class Counting:
    def __call__(self, sentences, vocab_size, bos, eos):
        table = np.zeros((vocab_size, vocab_size), dtype=np.float32)
        for s in sentences:
            np.add.at(table, ([bos, *s], [*s, eos]), 1)
        return table


def in_place_on_a_copy(counts):
    table = counts.clone().double()
    table[table.sum(1) == 0] = 1
    table /= table.sum(1, keepdim=True)
    return table


def by_mixing_with_uniform(counts, k):
    n = counts.sum(1, keepdim=True).double()
    share = k * counts.shape[1] / (n + k * counts.shape[1])
    return (1 - share) * counts / n.clamp(min=1) + share / counts.shape[1]


def with_unfold(words, context, weights, vocab_size):
    total, found = 0.0, torch.zeros(vocab_size, dtype=torch.float64)
    for n, weight in enumerate(weights):
        windows = words.unfold(0, n + 1, 1)
        hits = windows[(windows[:, :n] == torch.tensor(context[2 - n :], dtype=torch.long)).all(1)][:, n]
        if len(hits):
            total += weight
            found += weight * torch.bincount(hits, minlength=vocab_size) / len(hits)
    return (found / total).tolist()


def as_a_matrix_product(counts, discount):
    types = (counts > 0).double()
    continuation = types.T @ torch.ones(len(counts), dtype=torch.float64) / types.sum()
    n = counts.sum(1).double()
    table = torch.relu(counts.double() - discount) + torch.outer(types.sum(1) * discount, continuation)
    return [continuation, torch.where(n[:, None] > 0, table / n.clamp(min=1)[:, None], continuation)]


def with_advanced_indexing(probabilities, sentences, bos, eos):
    rows = torch.tensor([w for s in sentences for w in (bos, *s)])
    columns = torch.tensor([w for s in sentences for w in (*s, eos)])
    p = probabilities[rows, columns]
    return -p.log().sum(), (-p.log2().mean()).exp2()


ODD_BUT_RIGHT = [
    ("count_bigrams", Counting()),
    ("conditional_probabilities", in_place_on_a_copy),
    ("additive", by_mixing_with_uniform),
    ("interpolated", with_unfold),
    ("kneser_ney", as_a_matrix_product),
    ("perplexity", with_advanced_indexing),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"ngrams.{name}"]


def skips_one_word_sentences(sentences, vocab_size, bos, eos):
    return right("count_bigrams")([s for s in sentences if len(s) != 1] + [sentences[0]], vocab_size, bos, eos)


def divides_by_the_largest(counts):
    return counts / counts.max(1, keepdim=True).values.clamp(min=1)


def adds_k_squared(counts, k):
    return right("additive")(counts, k * k)


def normalises_over_weights_first(words, context, weights, vocab_size):
    return right("interpolated")(words, context, [w * w for w in weights], vocab_size)


def discounts_only_the_ones(counts, discount):
    once = torch.where(counts == 1, counts - discount, counts.double())
    continuation = torch.tensor(right("kneser_ney")(counts, discount)[0])
    freed = discount * (counts == 1).sum(1)
    return continuation, (once + freed[:, None] * continuation) / counts.sum(1, keepdim=True).clamp(min=1)


def counts_longest_sentence_only(probabilities, sentences, bos, eos):
    return right("perplexity")(probabilities, [max(sentences, key=len)], bos, eos)


WRONG = [
    ("count_bigrams", skips_one_word_sentences),
    ("count_bigrams", lambda sentences, vocab_size, bos, eos: torch.ones(vocab_size, vocab_size)),
    ("conditional_probabilities", divides_by_the_largest),
    ("conditional_probabilities", lambda counts: torch.full(counts.shape, 1 / len(counts))),
    ("additive", adds_k_squared),
    ("additive", lambda counts, k: torch.full(counts.shape, 1 / len(counts))),
    ("interpolated", normalises_over_weights_first),
    ("interpolated", lambda words, context, weights, vocab_size: torch.full((vocab_size,), 1 / vocab_size)),
    ("kneser_ney", discounts_only_the_ones),
    ("perplexity", counts_longest_sentence_only),
    ("perplexity", lambda probabilities, sentences, bos, eos: (1.0, math.e)),
]


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("count_bigrams", lambda sentences, vocab_size, bos, eos: torch.zeros(vocab_size, vocab_size)),
        ("conditional_probabilities", lambda counts: torch.full(counts.shape, 1 / len(counts))),
        ("additive", lambda counts, k: torch.full(counts.shape, 1 / len(counts))),
        ("interpolated", lambda words, context, weights, vocab_size: torch.full((vocab_size,), 1 / vocab_size)),
        ("kneser_ney", lambda c, discount: (torch.full((len(c),), 1 / len(c)), torch.full(c.shape, 1 / len(c)))),
        ("perplexity", lambda probabilities, sentences, bos, eos: (1.0, 2.0)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"ngrams.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


class TestNgrams(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = ngrams
