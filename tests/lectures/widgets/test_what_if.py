"""The widgets of the lecture What if: what they draw is what they are given."""

import math
import re

import pytest
import torch

from lectures import widgets
from lectures.widgets.what_if import search, shapes
from tests.lectures.seen import seen


def spread(X: torch.Tensor) -> torch.Tensor:
    return (X - X.mean(-2, keepdim=True)).abs().amax((-1, -2))


def halves(size: float, heads: int, skips: bool, networks: bool, causal: bool) -> list[torch.Tensor]:
    """Every layer multiplies X by a tenth, with skips by a half."""
    factor = 0.5 if skips else 0.1
    return [factor**layer * torch.tensor([[[1.0], [-1.0]]] * 2) for layer in range(5)]


def test_collapse_shows_powers_of_ten_and_the_bound() -> None:
    widget = widgets.collapse_playground(
        spread,
        halves,
        lambda size, heads: [[0.0, 2.0, 6.0, 20.0, 60.0]] * 2,
        lambda X: torch.ones(len(X)),
        sizes=(0.5, 1.0),
        yours=lambda X: 2 * spread(X),
    )
    assert "attention only 0.1, 0.01, 0.001 … 10⁻⁴; bound 100, 10⁶, 10²⁰" in seen(widget)
    assert "yours draws a different picture" in seen(widget)
    assert "attention + skips + causal mask 0.5, 0.25" in seen(widget, skips=True, causal=True)
    assert "bound" not in seen(widget, shown="residual ÷ size of X")


def test_zero_is_called_zero() -> None:
    widget = widgets.collapse_playground(
        lambda X: torch.zeros(len(X)), halves, lambda size, heads: [[0.0] * 5] * 2, spread, sizes=(1.0,)
    )
    assert "attention only 0, 0, 0 … 0" in seen(widget)


def test_removal_tells_the_loss_of_the_first_model_only() -> None:
    curves = {"as trained": [0.9, 0.5], "no skips": [0.9, 1e-5]}
    widget = widgets.removal_explorer({"A": curves, "B": curves}, {"as trained": 4.0, "no skips": 16.0})
    assert "no skips 1e-05 after the last layer. Loss per token: as trained 4.0, no skips 16.0" in seen(widget)
    assert "Loss" not in seen(widget, model="B")


def test_mixing_says_whether_the_words_matter() -> None:
    words = {"one": ["a", "b"], "two": ["c", "d"]}
    same, other = [[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.2, 1.0]]
    maps = {"fixed": {"one": same, "two": same}, "free": {"one": same, "two": other}}
    widget = widgets.mixing_player(maps, words)
    assert "fixed: the same for both texts" in seen(widget)
    assert "different: by up to 0.50" in seen(widget, mixing="free")


def test_a_task_has_its_means_beside_theirs() -> None:
    rows = {"attention": {"right": [0.5, 0.6]}, "no mixing": {"right": [0.2, 0.3]}}
    result = {"tasks": {"letters": rows, "digits": rows}, "theirs": {"attention": 83.3}}
    widget = widgets.mixing_explorer(result, {"letters": "hidden letters named", "digits": "digits named"})
    assert "attention 55.0; no mixing 25.0" in seen(widget)
    assert "83.3" in seen(widget)


def test_the_best_of_a_search_is_trained_again() -> None:
    losses = {"sf": [1.0, 3.0, 3.2], "fs": [2.0, 1.5, 1.7]}
    widget = widgets.search_playground(losses, [2.5, 2.0, 1.8])
    assert "best of 2 orders 1.000 (sf), the same order with fresh seeds 3.100" in seen(widget)
    assert "best of 2 seeds 2.000, mean 2.100" in seen(widget)
    assert "best of 2 orders 1.500 (fs), the same order with fresh seeds 1.850" in seen(widget, seed=1)


def test_every_try_is_a_dot() -> None:
    drawn = search.search_svg(
        *(torch.tensor(v).numpy() for v in ([1.0, 2.0, 3.0], [2.0, 4.0], [1.5, 2.5])), 2.0, "words"
    )
    assert len(re.findall("<circle", drawn)) == 7
    assert 'aria-label="words."' in drawn


def test_what_does_not_move_is_zero() -> None:
    widget = widgets.last_word_playground(lambda layers, causal, positions: [0.1 * (layers - 1) if causal else 0.0])
    assert "1 layer 0, 2 layers 0, 3 layers 0, 4 layers 0" in seen(widget)
    assert "1 layer 0, 2 layers 0.100, 3 layers 0.200" in seen(widget, mask="causal")


@pytest.fixture
def deep() -> dict:
    rules = ["post-norm", "pre-norm", "DeepNorm", "only α", "only β"]
    curves = {rule: {"dev": [3.0, 3.1], "curve": [[4.0, 3.5], [4.1, 3.6]]} for rule in rules}
    curves["post-norm"] = {"dev": [4.2, 4.28], "curve": [[4.3, 4.2], []]}
    return {
        "runs": {"12": curves, "100": curves},
        "longer": {rule: {"dev": [2.5, 2.6], "curve": [[3.5, 2.6], [3.6, 2.7]]} for rule in rules[:3]},
        "longer_is": "training, 100 layers, 400 steps",
        "moved": {rule: {"3": [1.0, 2.0], "100": [100.0, 300.0]} for rule in rules},
        "guess": math.log(72),
    }


def test_deep_runs_and_their_first_step(deep: dict) -> None:
    widget = widgets.deep_explorer(deep)
    assert "post-norm 1.4 to 1.7e+02" in seen(widget)
    assert "post-norm 4.20 to 4.28" in seen(widget, view="training, 100 layers"), (
        "a run that diverged has no curve, but a loss"
    )
    assert "only α" in seen(widget, rules=list(widget.controls["rules"].options)[1])
    assert "pre-norm" not in seen(widget)
    assert "DeepNorm 2.50 to 2.60" in seen(widget, view=deep["longer_is"])
    assert "only α" not in seen(widget), "the halves were not trained so long"


def test_costs_are_drawn_where_they_belong() -> None:
    rows = {
        "a": {"parameters": 100_000, "multiply_adds": 4_000_000, "losses": [2.0, 2.2]},
        "b": {"parameters": 50_000, "multiply_adds": 8_000_000, "losses": [2.4, 2.6]},
    }
    widget = widgets.costs_explorer(rows, {"both": ["a", "b"]})

    def across() -> list[float]:
        return [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', seen(widget))[1:]]

    assert "a 2.100" in seen(widget)
    assert shapes._COSTS["parameters"] in seen(widget)
    first = across()
    widget.controls["cost"].value = "multiply_adds"
    assert across() < first, "a is the larger one in parameters, the cheaper one in operations"
