"""The laws must fail on models that break them; otherwise they prove nothing."""

import pytest
import torch
from torch import Tensor, nn

from tests.laws import (
    assert_branches_do_not_meet,
    assert_causal,
    assert_chunking_law,
    assert_every_parameter_gets_a_gradient,
    assert_language_model,
    assert_selectable,
    assert_state_is_a_value,
)

TOKENS = torch.randint(0, 7, (3, 5), generator=torch.Generator().manual_seed(1))


class RunningSum(nn.Module):
    """The smallest honest language model: logits are a table applied to the sum of the embeddings read."""

    vocab_size = 7

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.embedding = nn.Parameter(torch.randn(7, 4, generator=generator))
        self.table = nn.Parameter(torch.randn(4, 7, generator=generator))

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        sums = self.embedding[tokens].cumsum(dim=1)
        if state is not None:
            sums = sums + state[:, None]
        return sums @ self.table, sums[:, -1]


class Forgets(RunningSum):
    """Drops its state: breaks chunking."""

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return super().forward(tokens, None)


class Peeks(RunningSum):
    """Adds the whole sentence to every position: breaks causality."""

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        logits, new = super().forward(tokens, state)
        return logits + self.embedding[tokens].sum(dim=1, keepdim=True) @ self.table, new


class WritesInPlace(RunningSum):
    """Keeps one buffer and overwrites it: its state is no value."""

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        logits, new = super().forward(tokens, state)
        return logits, new if state is None else state.copy_(new)


class SharesABuffer(RunningSum):
    """Writes every token behind the last into one buffer, whoever else reads there: branches overwrite each other."""

    def forward(self, tokens: Tensor, state: tuple[Tensor, int] | None = None) -> tuple[Tensor, tuple[Tensor, int]]:
        buffer, length = state or (torch.zeros(len(tokens), 64, 4), 0)
        end = length + tokens.shape[1]
        buffer[:, length:end] = self.embedding[tokens]
        return buffer[:, :end].cumsum(dim=1)[:, length:] @ self.table, (buffer, end)


class BatchLast(RunningSum):
    """Keeps the batch in the last dimension: `select` gathers the wrong thing."""

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        logits, new = super().forward(tokens, None if state is None else state.T)
        return logits, new.T


def test_an_honest_model_passes() -> None:
    model = RunningSum()
    assert_language_model(model, TOKENS)
    assert_every_parameter_gets_a_gradient(model, model(TOKENS)[0])


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (Forgets, assert_chunking_law),
        (Peeks, assert_causal),
        (WritesInPlace, assert_state_is_a_value),
        (SharesABuffer, assert_branches_do_not_meet),
        (BatchLast, assert_selectable),
    ],
)
def test_a_broken_model_fails(broken: type[RunningSum], law) -> None:
    with torch.no_grad(), pytest.raises((AssertionError, RuntimeError)):
        law(broken(), TOKENS)


def test_a_dead_parameter_is_found() -> None:
    model = RunningSum()
    model.unused = nn.Parameter(torch.zeros(2))
    with pytest.raises(AssertionError, match="unused"):
        assert_every_parameter_gets_a_gradient(model, model(TOKENS)[0])


def test_a_careless_buffer_is_only_found_by_branches() -> None:
    """Why there are two laws of values."""
    with torch.no_grad():
        assert_state_is_a_value(SharesABuffer(), TOKENS)
