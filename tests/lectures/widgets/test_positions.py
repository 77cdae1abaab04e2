"""Positions drawn: tables, clock hands, turned vectors, shuffled words, and the widgets over them."""

import re
from itertools import permutations

import pytest
import torch

from lectures import widgets
from lectures.widgets.positions import clocks_svg, rotated_svg, table_svg
from nlmcore.attention import MultiHeadAttention, causal_mask
from nlmcore.positions import rotary, sinusoidal
from tests.lectures.seen import seen


def test_a_table_says_its_dot_products() -> None:
    table = sinusoidal(50, 16)
    picture = table_svg(table, 10, title="fifty.")
    near = (table @ table[10] / 8).tolist()
    assert f"0: {near[0]:.2f}, 12: {near[12]:.2f}" in picture
    with pytest.raises(ValueError, match="row 50"):
        table_svg(table, 50)


def test_clock_hands_turn_by_the_same_angles_everywhere() -> None:
    play = widgets.clock_playground(sinusoidal)

    def angles(position: int) -> list[str]:
        return re.findall(r"\+([\d.]+)°", seen(play, shift=2, position=position))

    assert angles(3) == angles(40)
    assert angles(3)[0] == f"{2 * 180 / torch.pi:.1f}"
    with pytest.raises(ValueError, match=r"\(pair, 2\)"):
        clocks_svg(torch.zeros(3, 2), torch.zeros(2, 2))


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    q, k = torch.tensor([1.0, 0.4, 0.9, 0.5]), torch.tensor([0.8, 0.7, 0.3, 1.0])
    play = widgets.rotary_playground(rotary, q, k)

    def score(m: int, n: int) -> float:
        return float(re.search(r": score (-?\d+\.\d+)", seen(play, m=m, n=n))[1])  # type: ignore[index]

    assert score(6, 4) == score(12, 10) != score(4, 6)
    assert score(5, 5) == pytest.approx(float(q @ k), abs=1e-3)
    with pytest.raises(ValueError, match="even width"):
        widgets.rotary_playground(rotary, q[:3], k[:3])


def test_turned_vectors_are_checked() -> None:
    pair = (torch.zeros(2, 2), torch.zeros(2, 2))
    with pytest.raises(ValueError, match="must be an entry"):
        rotated_svg(pair, pair, torch.zeros(3, 3), (3, 0))
    with pytest.raises(ValueError, match="of one shape"):
        rotated_svg(pair, (torch.zeros(1, 2), torch.zeros(1, 2)), torch.zeros(3, 3), (0, 0))


def test_a_students_positions_are_drawn_beside_ours() -> None:
    def blocks(length: int, d_model: int, base: int) -> torch.Tensor:
        table = sinusoidal(length, d_model, base)
        return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)

    assert "yours draws the same picture" in seen(widgets.positions_playground(sinusoidal, yours=sinusoidal))
    assert "yours draws a different picture" in seen(widgets.positions_playground(sinusoidal, yours=blocks))


def test_the_base_changes_the_slowest_wave() -> None:
    play = widgets.positions_playground(sinusoidal)
    assert "the slowest every 47,117" in seen(play)
    assert "the slowest every 58" in seen(play, base=10)


@pytest.mark.parametrize("masked", [False, True])
def test_shuffling_moves_vectors_and_leaves_the_mean_unless_there_is_a_mask(masked: bool) -> None:
    layer, vectors = MultiHeadAttention(6, 2), torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    mask = causal_mask(3) if masked else None
    play = widgets.shuffle_playground({"layer": lambda order: layer(vectors[list(order)][None], mask=mask)[0]}, "abc")
    for order in range(1, len(list(permutations("abc")))):
        unchanged = "differ by at most 0.00" in seen(play, order=order) and "differs by at most 0.00" in seen(play)
        assert unchanged != masked
