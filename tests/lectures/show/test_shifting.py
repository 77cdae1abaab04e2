"""Skewing drawn in four tables: every cell carries its distance, and a query's numbers can be followed."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from lectures import show, widgets
from nlmcore.positions import relative_shift
from tests.pictures import nameless_in_html


def play(n: int, past: int, query: int = 0, shift: widgets.Shift = relative_shift) -> str:
    player = widgets.shift_player(shift)
    for name, value in (("n", n), ("past", past), ("query", query)):
        player.controls[name].value = value
    return player.picture.value


@pytest.mark.parametrize(("n", "past"), [(1, 0), (1, 3), (5, 0), (4, 3), (7, 4)])
def test_the_last_table_has_its_distance_in_every_cell(n: int, past: int) -> None:
    picture = play(n, past)
    assert not nameless_in_html(picture)
    numbers = re.findall(r"<title>(\S+): (\S+)</title>", picture)[-n * (n + past) :]
    assert [label for label, _ in numbers] == [
        str(past + i - j) if j <= past + i else "·" for i in range(n) for j in range(past + n)
    ]
    assert all((number == "nothing") == (label == "·") for label, number in numbers)


def test_every_number_arrives_where_it_is_wanted() -> None:
    cells = re.findall(r"<title>(\S+): (\S+)</title>", play(5, 2))
    first, last = np.array(cells[:35]).reshape(5, 7, 2), np.array(cells[-35:]).reshape(5, 7, 2)
    for i in range(5):
        for j in range(2 + i + 1):
            (wanted,) = (number for label, number in first[i] if label == str(2 + i - j))
            assert last[i, j, 1] == wanted


@pytest.mark.parametrize(("n", "past", "query"), [(5, 0, 1), (4, 3, 2), (6, 1, 5), (1, 2, 0)])
def test_the_framed_cells_are_one_querys(n: int, past: int, query: int) -> None:
    """All of its distances, in the first three tables; in the last those that are not masked."""
    picture, keys = play(n, past, query), n + past
    frames = picture.count('fill="none" stroke="#')
    dropped = 0 if query else n - 1  # what is dropped from the front is the first query's alone
    assert frames == keys + keys + (keys - dropped) + (past + query + 1)


def test_a_students_shift_is_drawn_beside_ours() -> None:
    def by_reshaping(x: Tensor) -> Tensor:
        """As Huang et al. have it: what stands in the future is left there, to be masked."""
        n, keys = x.shape
        return F.pad(x, (1, 0)).view(-1)[n:].view(n, keys)

    def unshifted(x: Tensor) -> Tensor:
        return x

    same = widgets.shift_player(relative_shift, yours=by_reshaping).picture.value
    assert "yours draws the same picture" in same
    assert "yours draws another picture" in widgets.shift_player(relative_shift, yours=unshifted).picture.value


def test_what_cannot_be_drawn_is_said_in_the_pictures_place() -> None:
    assert "there are the queries 0 to 2; got 4" in play(3, 0, 4)
    assert "must have shape (query, key) = (3, 5), got (3, 3)" in play(3, 2, shift=lambda x: x[:, :3])


def test_a_stage_that_does_not_fit_is_refused() -> None:
    stage = show.Stage("one", torch.zeros(2, 2), [["a", "b"], ["c", "d"]], [(0, 1)])
    assert "1. one: a b; c d" in show.stages_svg([stage], reach=1)
    wrong = {
        "labels": show.Stage("one", np.zeros((2, 2)), [["a", "b"]]),
        "ragged": show.Stage("one", np.zeros((2, 2)), [["a", "b"], ["c"]]),
        "frame": show.Stage("one", np.zeros((2, 2)), [["a", "b"], ["c", "d"]], [(2, 0)]),
        "no matrix": show.Stage("one", np.zeros(2), [["a", "b"]]),
    }
    for stage in wrong.values():
        with pytest.raises(ValueError, match="stage 'one' needs a label for each number and frames inside"):
            show.stages_svg([stage], reach=1)
    with pytest.raises(ValueError, match="at least one stage"):
        show.stages_svg([], reach=1)
