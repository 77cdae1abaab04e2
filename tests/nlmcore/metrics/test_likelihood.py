import math

import numpy as np
import pytest
import torch
from torch import nn

from nlmcore.metrics import bits_per_character, log_likelihood, perplexity
from nlmcore.transformer import TransformerConfig, TransformerLM


class Bigram:
    """A language model that can be worked out by hand: the next token depends on this one alone."""

    def __init__(self, logits: torch.Tensor):
        self.logits = logits
        self.vocab_size = len(logits)

    def __call__(self, tokens, state=None):
        return self.logits[tokens], state


class Summing(nn.Module):
    """One whose state matters: logits depend on the sum of all that was read. It has dropout, and limited sight."""

    def __init__(self, vocab_size: int, sight: int = 10**9):
        super().__init__()
        self.vocab_size, self.sight = vocab_size, sight
        self.table = nn.Parameter(torch.randn(13, vocab_size, generator=torch.Generator().manual_seed(3)))
        self.dropout = nn.Dropout(0.5)
        self.calls: list[int] = []

    def forward(self, tokens, state=None):
        assert tokens.shape[1] <= self.sight
        self.calls.append(tokens.shape[1])
        before = torch.zeros(len(tokens), dtype=torch.int64) if state is None else state
        sums = before[:, None] + tokens.cumsum(1)
        return self.dropout(self.table[sums % 13]), sums[:, -1]


def random_tokens(batch: int, time: int, vocab_size: int, low: int = 0) -> torch.Tensor:
    return torch.randint(low, vocab_size, (batch, time), generator=torch.Generator().manual_seed(7))


def by_hand(model, tokens, ignore=None):
    """The equation, one token at a time, from the whole text at once."""
    with torch.no_grad():
        logits, _ = model.eval()(tokens) if isinstance(model, nn.Module) else model(tokens)
    total, predicted = 0.0, 0
    for row in range(tokens.shape[0]):
        for t in range(1, tokens.shape[1]):
            target = int(tokens[row, t])
            if target != ignore:
                scores = [math.exp(x) for x in logits[row, t - 1].tolist()]
                total += math.log(scores[target] / sum(scores))
                predicted += 1
    return total, predicted


def test_a_certain_model_does_not_hesitate():
    successor = torch.full((5, 5), -math.inf)
    successor[torch.arange(5), (torch.arange(5) + 1) % 5] = 0.0
    assert perplexity(Bigram(successor), torch.arange(9)[None] % 5) == 1
    assert perplexity(Bigram(successor), torch.tensor([[0, 1, 3]])) == math.inf
    assert bits_per_character(Bigram(successor), torch.tensor([[0, 1, 3]]), 2) == math.inf


@pytest.mark.parametrize("ignore", [None, 0, 2])
def test_it_is_the_equation(ignore):
    model, tokens = Summing(6), random_tokens(3, 17, 6)
    total, predicted = by_hand(model, tokens, ignore)
    assert log_likelihood(model, tokens, ignore=ignore) == (pytest.approx(total), predicted)
    assert perplexity(model, tokens, ignore=ignore) == pytest.approx(math.exp(-total / predicted))
    assert bits_per_character(model, tokens, 29, ignore=ignore) == pytest.approx(-total / math.log(2) / 29)


@pytest.mark.parametrize("chunk", [1, 2, 5, 16, 17, 999])
def test_chunks_change_nothing(chunk):
    model, tokens = Summing(6), random_tokens(2, 17, 6)
    assert perplexity(model, tokens, chunk=chunk) == pytest.approx(perplexity(model, tokens))
    model.calls.clear()
    perplexity(model, tokens, chunk=chunk)
    assert sum(model.calls) == 16
    assert max(model.calls) == min(chunk, 16)


def test_a_model_of_limited_sight_starts_every_chunk_afresh():
    model, tokens = Summing(6, sight=4), random_tokens(2, 13, 6)
    rows = torch.cat([tokens[:, s : s + 5] for s in (0, 4, 8)])
    assert perplexity(model, tokens, chunk=4, carry=False) == pytest.approx(perplexity(model, rows))
    assert perplexity(model, tokens, chunk=4) != pytest.approx(perplexity(model, rows))


def test_padding_is_left_out():
    model, tokens = Summing(6), random_tokens(2, 9, 6, low=1)
    padded = tokens.clone()
    padded[1, 6:] = 0
    first, second = log_likelihood(model, tokens[:1]), log_likelihood(model, tokens[1:, :6])
    both = log_likelihood(model, padded, ignore=0)
    assert both == (pytest.approx(first.log_probability + second.log_probability), 8 + 5)


def test_it_reads_on_from_a_state():
    model, tokens = Summing(6), random_tokens(2, 9, 6)
    model.eval()
    _, state = model(tokens[:, :4])
    whole, head = log_likelihood(model, tokens), log_likelihood(model, tokens[:, :5])
    rest = log_likelihood(model, tokens[:, 4:], state=state)
    assert rest == (pytest.approx(whole.log_probability - head.log_probability), 8)


def test_modules_are_left_as_they_were():
    model, tokens = Summing(6), random_tokens(2, 9, 6)
    model.train()
    model.dropout.eval()
    first = perplexity(model, tokens)
    assert model.training
    assert not model.dropout.training
    model.train()
    assert perplexity(model, tokens) == first
    assert model.dropout.training
    with pytest.raises(AssertionError):
        perplexity(Summing(6, sight=1), tokens)


def test_many_tokens_lose_no_digits():
    tokens = random_tokens(4, 50_000, 3)
    assert perplexity(Bigram(torch.zeros(3, 3)), tokens) == pytest.approx(3, rel=1e-6)


@pytest.mark.usefixtures("plain_errors")
def test_bad_input():
    model = Bigram(torch.zeros(5, 5))
    tokens = random_tokens(2, 4, 5)
    for measure in (perplexity, log_likelihood, lambda *a, **k: bits_per_character(*a, 3, **k)):
        with pytest.raises(ValueError, match=r"\[0, 5\)"):
            measure(model, tokens + 3)
        with pytest.raises(ValueError, match="two tokens per row"):
            measure(model, tokens[:, :1])
        with pytest.raises(ValueError, match="not ignore=0"):
            measure(model, tokens * 0, ignore=0)
        for ignore in ("a", 5, 9, -1, -100, 1.0, True):
            with pytest.raises((ValueError, TypeError), match="ignore"):
                measure(model, tokens, ignore=ignore)
        assert measure(model, tokens, ignore=np.int64(1)) == measure(model, tokens, ignore=1)
        with pytest.raises(TypeError, match="model"):
            measure(None, tokens)
        wide = Bigram(torch.zeros(5, 6))
        with pytest.raises(ValueError, match=r"logits of shape .*got .* \(2, 3, 6\)"):
            measure(wide, tokens)


def test_a_text_past_the_positions_comes_with_what_helps() -> None:
    model = TransformerLM(TransformerConfig(vocab_size=7, d_model=6, n_heads=2, n_layers=1, max_length=8))
    tokens = random_tokens(2, 21, 7)
    for options in ({}, {"chunk": 8}, {"carry": False}):
        with pytest.raises(
            ValueError, match=r"knows 8 positions: .*; carry=False starts every chunk afresh.* with a chunk"
        ):
            perplexity(model, tokens, **options)
    assert 1 < perplexity(model, tokens, chunk=8, carry=False) < math.inf


def test_other_errors_of_a_model_are_its_own() -> None:
    class Failing(Bigram):
        def __call__(self, tokens, state=None):
            raise ValueError("this model has other worries")

    with pytest.raises(ValueError, match=r"^this model has other worries$"):
        perplexity(Failing(torch.zeros(7, 7)), random_tokens(2, 5, 7))
