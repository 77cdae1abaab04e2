"""The widgets of the lecture on memory without attention: what they draw follows from the matrix and the counts."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor

from lectures import stored, widgets
from lectures.widgets.memory_without_attention import held_values
from nlmcore.recurrent.matrix_memory import chunked, update
from tests.lectures.seen import seen

VALUES = [[3, 1], [-1, 2], [1, 4]]


def ours(S: Tensor, k: Tensor, v: Tensor, a: float, b: float) -> Tensor:
    return update(S, k, v, a, b)


def test_the_matrix_holds_what_was_written() -> None:
    play = widgets.matrix_playground(ours, VALUES, writes=2)
    assert "A: last written (3, 1), read (3, 1); B: last written (−1, 2), read (−1, 2)" in seen(play)
    assert "A: last written (1, 4), read (4, 5)" in seen(play, writes=3), "the sum"
    assert "A: last written (1, 4), read (1, 4)" in seen(play, erase=1.0)
    assert "A: last written (1, 4), read (1, 4)" in seen(play, angle=60), "the last write is exact at any angle"
    assert "B: last written (−1, 2), read (−1, 2)" not in seen(play)
    assert "nothing is written yet" in seen(play, writes=0)


def test_a_students_update_is_compared() -> None:
    play = widgets.matrix_playground(ours, VALUES, writes=3, yours=lambda S, k, v, a, b: S + torch.outer(k, v))
    assert "yours draws the same picture" in seen(play), "nothing is erased in either"
    assert "yours draws a different picture" in seen(play, erase=0.5)
    wrong = widgets.matrix_playground(ours, VALUES, yours=lambda S, k, v, a, b: k)
    assert "must return a matrix (2, 2)" in seen(wrong)


@pytest.mark.parametrize("chunk", [1, 4, 12])
def test_multiply_adds_are_those_of_the_products(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of q kᵀ, of their product with v, of q S, and of kᵀ v."""
    time, d = 12, 3
    counted: list[int] = []
    product = torch.Tensor.__matmul__

    def counting(x: Tensor, y: Tensor) -> Tensor:
        counted.append(x.shape[-2] * x.shape[-1] * y.shape[-1])
        return product(x, y)

    monkeypatch.setattr(torch.Tensor, "__matmul__", counting)
    chunked(*(torch.randn(1, 1, time, d) for _ in "qkv"), chunk=chunk)
    assert sum(counted) == sum(widgets.chunk_costs(time, chunk, d))


def test_the_explorer_of_chunks_counts_steps() -> None:
    play = widgets.chunk_explorer(12, [1, 4, 12], 3)
    assert "chunks of 1: 12 steps one after another" in seen(play)
    assert "chunks of 12: 1 step one after another" in seen(play, chunk=12)


def test_the_table_of_overwriting_says_what_is_stored() -> None:
    result: Any = stored("overwriting")
    play = widgets.overwriting_explorer(result)
    at = result["keys"].index(16)
    for row, of in result["rows"].items():
        right = sum(run[at] for run in of["twice"]) / len(of["twice"])
        assert f"{row} {100 * right:.0f} % right" in seen(play)
    assert "% old" not in seen(play, asked="once")
    assert seen(play) != seen(play, m=4)


def test_what_memories_hold() -> None:
    found = held_values((2, 6, 3, 8, 20), 10, 4)
    assert list(found.values()) == [2 * 2 * 6 * 8 * 10, 2 * 2 * 3 * 8 * 10, 2 * 2 * 3 * 8 * 4, 2 * 20 * 10, 2 * 6 * 64]
    play = widgets.bytes_explorer({"tiny": (2, 6, 3, 8, 20), "other": (3, 6, 3, 8, 20)}, [10, 1000], window=4)
    first = seen(play)
    assert "one matrix per head" in first
    sizes = re.findall(r"one matrix per head (\d\.\d\d MB)", first + seen(play, n=1000))
    assert len(set(sizes)) == 1, "it does not grow"
    assert "other, a text of 1,000 tokens" in seen(play, model="other")
