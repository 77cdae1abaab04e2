import dataclasses
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from nlmcore.checks import check_tokens
from nlmcore.language_model import LanguageModel, check_model, evaluation_mode, select, shows_hidden
from tests.test_laws import RunningSum


@dataclasses.dataclass(frozen=True)
class Memory:
    keys: Tensor
    steps: int
    inner: tuple[Tensor, None]


class Pair(NamedTuple):
    h: Tensor
    c: Tensor


def test_select_walks_every_kind_of_state() -> None:
    rows = torch.arange(12.0).reshape(4, 3)
    pick = torch.tensor([2, 0, 2])
    expected = rows[[2, 0, 2]]
    assert select(None, pick) is None
    assert torch.equal(select(rows, pick), expected)
    memory = select(Memory(rows, 5, (rows + 1, None)), pick)
    assert torch.equal(memory.keys, expected)
    assert memory.steps == 5
    assert torch.equal(memory.inner[0], expected + 1)
    assert memory.inner[1] is None
    pair = select(Pair(rows, rows * 2), pick)
    assert isinstance(pair, Pair)
    assert torch.equal(pair.c, expected * 2)
    assert torch.equal(select({"layers": [rows]}, pick)["layers"][0], expected)


def test_select_uses_a_states_own_method() -> None:
    class Cache:
        def select(self, indices: Tensor) -> str:
            return f"rows {indices.tolist()}"

    assert select((Cache(),), torch.tensor([1, 1])) == ("rows [1, 1]",)


def test_select_gives_a_copy() -> None:
    rows = torch.zeros(2, 3)
    select(rows, torch.tensor([0, 1])).fill_(1.0)
    assert not rows.any()


@pytest.mark.parametrize("indices", [[0, 1], torch.tensor([0.0]), torch.tensor([[0]])])
def test_select_refuses_what_is_no_index(indices: object) -> None:
    with pytest.raises(TypeError, match="indices"):
        select(torch.zeros(2, 2), indices)


@pytest.mark.parametrize("index", [-1, 2])
def test_select_refuses_rows_that_do_not_exist(index: int) -> None:
    with pytest.raises(IndexError, match=r"\[0, 2\)"):
        select(torch.zeros(2, 2), torch.tensor([index]))


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ([[1, 2]], TypeError, "list"),
        (torch.zeros(1, 2), TypeError, "float32"),
        (torch.tensor([1, 2]), ValueError, "two dimensions"),
        (torch.zeros(1, 0, dtype=torch.long), ValueError, "at least one"),
        (torch.tensor([[7]]), ValueError, r"\[0, 7\)"),
        (torch.tensor([[-1]]), ValueError, "-1"),
    ],
)
def test_check_tokens_says_what_is_wrong(tokens: Tensor, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_tokens(tokens, 7)


def test_a_model_is_recognised_by_what_it_can_do() -> None:
    assert isinstance(RunningSum(), LanguageModel)


def test_a_language_model_is_called_and_has_a_vocabulary() -> None:
    check_model(RunningSum())
    for wrong in (None, "gpt", nn.Linear(2, 2), lambda tokens, state=None: (tokens, state)):
        with pytest.raises(TypeError, match=r"draft must be a language model, called like model.*integer vocab_size"):
            check_model(wrong, "draft")


def test_evaluation_mode_puts_every_submodule_back() -> None:
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Dropout(0.5))
    model[1].eval()

    def read_and_fail() -> None:
        with evaluation_mode(model):
            assert not any(module.training for module in model.modules())
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        read_and_fail()
    assert [module.training for module in model.modules()] == [True, True, False]
    with evaluation_mode(RunningSum.forward):
        pass  # a model that is no module has no mode


class TwoHalves(nn.Module):
    """logits = output(read)."""

    vocab_size = 5

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.output = nn.Embedding(5, 3), nn.Linear(3, 5)

    def hidden_states(self, tokens: Tensor, state: None = None) -> tuple[Tensor, None]:
        return self.embedding(tokens), state

    def forward(self, tokens: Tensor, state: None = None) -> tuple[Tensor, None]:
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state


class Hotter(TwoHalves):
    """The call was changed, `hidden_states` was not."""

    def forward(self, tokens: Tensor, state: None = None) -> tuple[Tensor, None]:
        return super().forward(tokens, state)[0] / 2, None


class Shifted(TwoHalves):
    """`hidden_states` was changed, and so the call with it."""

    def hidden_states(self, tokens: Tensor, state: None = None) -> tuple[Tensor, None]:
        return self.embedding(tokens) + 1, state


class Wrapped:
    """Passes every attribute on, but is called in its own way."""

    def __init__(self, inner: nn.Module) -> None:
        self.inner = inner

    def __call__(self, tokens: Tensor, state: None = None) -> tuple[Tensor, None]:
        return -self.inner(tokens, state)[0], None

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def hooked() -> nn.Module:
    model = TwoHalves()
    model.register_forward_hook(lambda module, inputs, answer: (answer[0] * 3, answer[1]))
    return model


def patched() -> nn.Module:
    model = TwoHalves()
    model.forward = Hotter().forward
    return model


def own_call() -> nn.Module:
    class Called(TwoHalves):
        def __call__(self, tokens: Tensor, state: None = None) -> tuple[Tensor, None]:
            return super().__call__(tokens, state)[0] + tokens[..., None], None

    return Called()


@pytest.mark.parametrize("model", [TwoHalves(), Shifted()], ids=["both halves", "another read"])
def test_a_model_in_two_halves_shows_its_hidden_vectors(model: nn.Module) -> None:
    tokens = torch.tensor([[1, 4, 0]])
    assert shows_hidden(model)
    assert torch.equal(model.output(model.hidden_states(tokens)[0]), model(tokens)[0])


@pytest.mark.parametrize(
    "model",
    [Hotter(), Wrapped(TwoHalves()), hooked(), patched(), own_call(), RunningSum(), nn.Linear(2, 2), None, 3],
    ids=lambda model: type(model).__name__,
)
def test_where_the_call_is_more_than_its_halves_they_do_not_stand_for_it(model: object) -> None:
    assert not shows_hidden(model)
