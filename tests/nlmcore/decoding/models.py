"""Small models to decode from, and naive ways to score and to list texts: the oracles of these tests."""

import itertools
import math

import pytest
import torch
from torch import Tensor, nn

from nlmcore.decoding import Hypothesis
from nlmcore.language_model import LanguageModel
from tests.test_laws import RunningSum as RunningSum

EOS = 2
PROMPTS = torch.tensor([[1, 4, 3], [5, 0, 1], [6, 6, 2], [3, 5, 0]])


class Markov(nn.Module):
    """P(next | last two tokens) from a table of random logits; the state is the last token, -1 before any."""

    def __init__(self, vocab_size: int, seed: int = 0, scale: float = 1.5) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        generator = torch.Generator().manual_seed(seed)
        table = torch.randn(vocab_size + 1, vocab_size, vocab_size, generator=generator) * scale
        self.register_buffer("table", table)

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        before = torch.full_like(tokens[:, 0], -1) if state is None else state
        previous = torch.cat([before[:, None], tokens[:, :-1]], dim=1)
        return self.table[previous, tokens], tokens[:, -1]


class Counting:
    """Counts what it is asked to read, to see that no prompt is read twice."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.vocab_size = model, model.vocab_size
        self.calls = 0
        self.tokens_read = 0

    def __call__(self, tokens: Tensor, state=None):
        self.calls += 1
        self.tokens_read += tokens.numel()
        return self.model(tokens, state)


def text_log_probs(model: LanguageModel, prompt: Tensor, text: list[int], state=None) -> list[float]:
    """ln P of every token of `text` after one prompt (time), by reading the whole in one go."""
    whole = torch.cat([prompt, torch.tensor(text, dtype=torch.long)])[None]
    with torch.no_grad():
        log_probs = model(whole, state)[0].log_softmax(-1)[0]
    return [log_probs[len(prompt) - 1 + i, token].item() for i, token in enumerate(text)]


def all_texts(vocab_size: int, longest: int, eos: int | None) -> list[list[int]]:
    """Every complete text: it ends at its first <eos>, or has `longest` tokens."""
    texts = []
    for length in range(1, longest + 1):
        for text in itertools.product(range(vocab_size), repeat=length):
            ends = eos is not None and text[-1] == eos
            if (eos is None or eos not in text[:-1]) and (ends or length == longest):
                texts.append(list(text))
    return texts


def naive_score(log_probs: list[float], length_penalty: float) -> float:
    return math.fsum(log_probs) / len(log_probs) ** length_penalty


SMALL = Markov(4, seed=3)
SMALL_PROMPTS = torch.tensor([[1, 3], [0, 2], [3, 3]])
PENALTIES = [0.0, 1.0, 0.6, 2.5, -0.7]


def assert_same(got: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [h.tokens for h in got] == [h.tokens for h in expected]
    assert [h.log_prob for h in got] == pytest.approx([h.log_prob for h in expected], abs=1e-5)
    assert [h.score for h in got] == pytest.approx([h.score for h in expected], abs=1e-5)
