import dataclasses
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from nlmcore.language_model import LanguageModel, check_tokens, evaluation_mode, select
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
