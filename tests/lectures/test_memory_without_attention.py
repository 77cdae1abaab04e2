"""What the functions of the lecture do, and what its cells compute."""

import pytest
import torch

from nlmcore.recurrent.matrix_memory import update


@pytest.mark.parametrize("gates", [(1.0, 0.0, 1.0), (0.9, 0.5, 0.5), (0.5, 1.0, 0.3)])
def test_the_update_in_three_lines_is_the_librarys(ran: dict, gates: tuple[float, ...]) -> None:
    torch.manual_seed(0)
    S, k, v = torch.randn(3, 4), torch.randn(3), torch.randn(4)
    assert torch.allclose(ran["one_update"](S, k, v, *gates), update(S, k, v, *gates))


def test_by_hand(ran: dict) -> None:
    assert ran["S"].tolist() == [[3, 1], [-1, 2]]
    assert ran["summed"] == (4, 5)
    assert float(ran["moved"] / ran["correction"]) == pytest.approx(0.5, abs=1e-5)


def test_sizes(ran: dict) -> None:
    assert ran["even"] == 96
    assert min(ran["counted"], key=ran["counted"].get) == 1


def test_a_students_update_erases_nothing(ran: dict) -> None:
    S, k, v = torch.ones(2, 2), torch.tensor([1.0, 0.0]), torch.tensor([2.0, 3.0])
    assert ran["my_update"](S, k, v, 1.0, 1.0).tolist() == [[3, 4], [1, 1]]
