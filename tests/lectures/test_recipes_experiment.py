"""Rows × seeds × rates: what a comparison declares is trained seed by seed, at the rate that the first seed chooses."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lectures.recipes import changes_of_2017, positions
from lectures.recipes.experiment import Experiment, Setting, Task, differences, said
from tests.lectures.runs import a_run


def batches(size: int, seed: int) -> list[Tensor]:
    return [torch.ones(size, 1)]


def distance(model: nn.Module, batch: Tensor) -> Tensor:
    """From the line that is 3 at 1."""
    return (model(batch) - 3).square().mean()


class Noted(nn.Linear):
    """Writes down which row was built, and with which weights."""

    def __init__(self, row: str, made: list[tuple[str, float]]) -> None:
        super().__init__(1, 1)
        made.append((row, self.weight.item()))


def line(folder: Path, **setting: Any) -> Experiment:
    def measure(model: Any) -> dict[str, float]:
        return {"dev": distance(model, torch.ones(1, 1)).item(), "slope": model.weight.item()}

    return Experiment(a_run(folder), Task(batches, distance, measure), Setting(**{"steps": 3, "batch": 2, **setting}))


def test_all_rows_of_a_seed_come_before_the_next_seed_and_begin_alike(tmp_path: Path) -> None:
    made: list[tuple[str, float]] = []
    found = line(tmp_path, rates=(0.1,), weights="{seed}", curve=1).rows(
        {"one": partial(Noted, "one", made), "two": partial(Noted, "two", made)}
    )
    assert [row for row, _ in made] == ["one", "two", "one", "two"]
    assert made[0][1] == made[1][1] != made[2][1] == made[3][1]
    assert found["one"]["parameters"] == 2
    assert found["one"]["slope"] == found["two"]["slope"]
    assert [len(curve) for curve in found["one"]["curve"]] == [2, 2]


def test_more_seeds_for_one_row(tmp_path: Path) -> None:
    builds = {"a": partial(nn.Linear, 1, 1), "b": partial(nn.Linear, 1, 1)}
    experiment = line(tmp_path, rates=(0.1,))
    experiment.run.quick = False
    found = experiment.rows(builds, {"a": 3, "b": 1})
    assert [len(of["dev"]) for of in found.values()] == [3, 1]


def test_the_first_seed_chooses_the_rate(tmp_path: Path) -> None:
    experiment = line(tmp_path, rates=(1e-6, 0.5), name="{row}-{rate:g}-{seed}")
    found = experiment.at_best_rate("one", partial(nn.Linear, 1, 1), experiment.setting.rates)
    assert found["rate"] == 0.5
    assert found["tried"]["0.5"] == pytest.approx(found["dev"][0], abs=1e-4)
    assert found["tried"]["0.5"] < found["tried"]["1e-06"]
    assert len(found["dev"]) == 2


def test_several_seeds_choose_the_rate_together(tmp_path: Path) -> None:
    experiment = line(tmp_path, rates=(1e-6, 0.1, 100.0), name="{row}-{rate:g}-{seed}", choosing=3, seeds=4)
    experiment.run.quick = False
    found = experiment.at_best_rate("one", partial(nn.Linear, 1, 1))
    assert found["tried"][f"{found['rate']:g}"] == pytest.approx(sum(found["dev"][:3]) / 3, abs=1e-4)
    assert found["tried"][f"{found['rate']:g}"] == min(found["tried"].values())
    assert len(found["dev"]) == 4


def test_the_words_are_those_of_the_numbers() -> None:
    assert Setting(200, 8, (4e-3,)).words("× 48") == "200 steps of 8 × 48, AdamW at 0.004 with a cosine"
    assert Setting(200, 8, (1e-3, 4e-3)).words() == "200 steps of 8, AdamW with a cosine"
    assert said({"{a}": {"dev": [1.0, 2.0]}, "b": {"dev": [3.0]}}, "{row} {dev!m:.1f}") == "{a} 1.5; b 3.0"


def test_a_row_is_less_the_baseline() -> None:
    found = differences([1.0, 1.1, 0.9], {"same": [1.0, 1.1, 0.9], "far": [2.0, 2.1, 1.9]})
    assert found["same"]["difference"] == 0
    assert found["far"]["difference"] == pytest.approx(1)
    assert found["far"]["p"] < 0.01 < found["same"]["p"]


def test_pairs_of_characters_know_what_single_ones_do_not() -> None:
    text = torch.tensor([0, 1] * 200)
    found = positions.floors(text, text.view(4, -1), 2)
    assert found["guessing"] == pytest.approx(found["single characters"], abs=1e-3)
    assert found["pairs of characters"] < 0.05


@pytest.mark.parametrize("row", [changes_of_2017.ALL, "without attention"])
def test_another_context_costs_nothing_where_none_is_read(row: str) -> None:
    torch.manual_seed(0)
    model = changes_of_2017.built(row, changes_of_2017.config(11, 16, 2)).eval()
    texts = torch.randint(11, (6, changes_of_2017.TIME + 1), generator=torch.Generator().manual_seed(0))
    assert (abs(positions.another_context(model, texts)) < 1e-6) == (row == "without attention")
