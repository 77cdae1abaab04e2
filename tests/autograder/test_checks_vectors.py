"""The exercises of the assignment "vectors", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.vectors import EXERCISES
from nlmcore.word2vec.sampling import noise_distribution
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_vectors import SOLUTIONS
from tests.autograder.strangers import vectors


def test_the_references_are_the_librarys_numbers_and_autograds():
    g = torch.Generator().manual_seed(0)
    counts = torch.randint(1, 50, (9,), generator=g)
    assert torch.allclose(EXERCISES["vectors.noise"].reference(counts, 0.75), noise_distribution(counts, 0.75).double())
    vectors = [torch.randn(*s, generator=g, dtype=torch.float64, requires_grad=True) for s in ((4,), (4,), (3, 4))]
    wanted = torch.autograd.grad(EXERCISES["vectors.pair_loss"].reference(*vectors), vectors)
    got = EXERCISES["vectors.pair_gradients"].reference(*(v.detach() for v in vectors))
    assert all(torch.allclose(a, b) for a, b in zip(got, wanted, strict=True))


# --- right, in odd ways -----------------------------------------------------------------------------------


class Pairs:
    def __call__(self, words, m):
        words = torch.tensor(words)
        shifted = [
            torch.stack(pair, 1)
            for d in range(1, min(m, len(words) - 1) + 1)
            for pair in ((words[:-d], words[d:]), (words[d:], words[:-d]))
        ]
        return torch.cat([words.new_empty(0, 2), *shifted]).to(torch.int32)


def slope(function, array, h=1e-5):
    gradient = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        step = np.zeros_like(array)
        step[place] = h
        gradient[place] = (function(array + step) - function(array - step)) / (2 * h)
    return gradient


def by_differences(centre, context, noise):
    c, o, n = (t.numpy().astype(float) for t in (centre, context, noise))

    def loss(c, o, n):
        return np.logaddexp(0, -(c @ o)) + np.logaddexp(0, n @ c).sum()

    return [slope(lambda x: loss(x, o, n), c), slope(lambda x: loss(c, x, n), o), slope(lambda x: loss(c, o, x), n)]


def in_place_on_a_copy(vectors, word, k):
    v = vectors.clone()
    v /= v.norm(dim=1, keepdim=True)
    order = (v @ v[word]).argsort(descending=True)
    return order[order != word][:k].numpy().astype(np.float32)


def with_the_sum_as_a_word(vectors, a, a_star, b):
    wanted = vectors[a_star] - vectors[a] + vectors[b]
    order = in_place_on_a_copy(torch.cat([vectors, wanted[None]]), len(vectors), len(vectors))
    return next(word for word in order if word not in (a, a_star, b))


ODD_BUT_RIGHT = [
    ("window_pairs", Pairs()),
    ("noise", lambda counts, power: torch.nn.functional.normalize(counts.float().pow(power), p=1, dim=0)),
    ("keep_probability", lambda counts, t: np.minimum(1, np.sqrt(t * counts.sum().item() / counts.numpy()))),
    (
        "pair_loss",
        lambda c, o, n: torch.nn.functional.binary_cross_entropy_with_logits(
            torch.cat([o[None], n]) @ c, torch.tensor([1.0] + [0.0] * len(n)), reduction="sum"
        ).reshape(()),
    ),
    ("pair_gradients", by_differences),
    ("nearest", in_place_on_a_copy),
    ("analogy", with_the_sum_as_a_word),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"vectors.{name}"]


WRONG = [
    ("window_pairs", lambda words, m: [[b, a] for a, b in right("window_pairs")(words, m + 1)]),
    ("noise", lambda counts, power: right("noise")(counts + 1, power)),
    ("keep_probability", lambda counts, t: right("keep_probability")(counts, t / 2)),
    ("pair_loss", lambda c, o, n: right("pair_loss")(c / c.norm(), o / o.norm(), n)),
    ("pair_gradients", lambda c, o, n: right("pair_gradients")(c, o, n[:1].expand(n.shape))),
    ("nearest", lambda vectors, word, k: right("nearest")(vectors - vectors.mean(0), word, k)),
    ("analogy", lambda vectors, a, s, b: right("nearest")(vectors, b, 1)[0]),
]


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("window_pairs", lambda words, m: [[0, 0]]),
        ("noise", lambda counts, power: torch.full(counts.shape, 1 / len(counts))),
        ("keep_probability", lambda counts, t: torch.ones(len(counts))),
        ("pair_loss", lambda c, o, n: 0.0),
        ("pair_gradients", lambda c, o, n: (torch.zeros_like(c), torch.zeros_like(c), torch.zeros_like(n))),
        ("nearest", lambda vectors, word, k: torch.arange(k)),
        ("analogy", lambda vectors, a, s, b: 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"vectors.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


class TestVectors(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = vectors
