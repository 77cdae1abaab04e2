"""Parts of the recipes of `windows_and_convolutions`: which contexts were seen, and what is left of a line."""

import math

import pytest
import torch

from lectures.recipes.old_spelling import EXAMPLES, letters
from lectures.recipes.unseen_contexts import by_context, contexts, longest_seen, network_nats
from nlmcore.feedforward import FeedForwardLM
from nlmcore.metrics import perplexity


def test_contexts_are_what_a_word_follows() -> None:
    seen = contexts([[1, 5, 6, 7]], most=2)
    assert seen == {(1,), (5,), (6,), (1, 5), (5, 6)}, "nothing follows 7"


def test_the_longest_context_that_was_seen() -> None:
    seen = contexts([[1, 5, 6, 7, 2], [1, 6, 6, 2]], most=4)
    found = longest_seen(seen, [1, 5, 6, 7, 9, 6, 6])
    # before 5: (1); before 6: (1, 5); before 7: (1, 5, 6); before 9: (1, 5, 6, 7); before 6: 9 was never seen; …
    assert found.tolist() == [1, 2, 3, 4, 0, 1]
    assert longest_seen(seen, [1, 5, 6, 7, 9, 6, 6], most=2).tolist() == [1, 2, 2, 2, 0, 1]


def test_shares_and_perplexities() -> None:
    seen = torch.tensor([1, 1, 4, 4])
    rows, words = by_context(seen, {"m": torch.tensor([1.0, 3.0, 0.0, 0.0]).double()})
    assert words == 4
    assert rows == {"1": {"share": 0.5, "m": round(math.exp(2), 2)}, "4": {"share": 0.5, "m": 1.0}}


def test_the_networks_nats_are_those_of_perplexity() -> None:
    torch.manual_seed(0)
    model = FeedForwardLM(11, window=4, d_embedding=5, d_hidden=6)
    document = torch.randint(1, 11, (1203,), generator=torch.Generator().manual_seed(1)).tolist()
    nats = network_nats(model, document)
    assert nats.shape == (1202,)
    assert math.exp(nats.mean().item()) == pytest.approx(perplexity(model, torch.tensor([document])), rel=1e-4)


def test_what_is_left_of_a_line() -> None:
    assert letters("Heere\N{RIGHT SINGLE QUOTATION MARK}s the  Smell, of [blood]!") == "heere's the smell of blood"
    assert letters("123 — ?") == ""
    assert {label for _, label in EXAMPLES} == {0, 1}
