"""The recipes of the lecture `training_well`: what is kept is not done twice, and who is best is said by dev alone."""

import math

import pytest
import torch
from torch import nn

from lectures.recipes import deep_networks, generalising, optimisers
from lectures.recipes.pages import sweep
from lectures.recipes.small_network import Data, Windows, best, loss_of, measured, network, over_seeds
from tests.lectures.runs import a_run


def some_data():
    text = torch.randint(7, (300,), generator=torch.Generator().manual_seed(0))
    windows = Windows(text)
    return Data(windows, {part: windows.some(20) for part in ("train", "dev", "test")}, 7, "none")


def test_minibatches_are_windows_of_the_text_and_follow_from_the_seed():
    windows = Windows(torch.arange(40))
    batch = next(windows.batches(5, seed=3)(0))
    assert batch.shape == (5, 17)
    assert (batch - batch[:, :1] == torch.arange(17)).all()
    assert torch.equal(batch, next(windows.batches(5, seed=3)(0)))
    assert not torch.equal(batch, next(windows.batches(5, seed=4)(0)))
    assert windows.some(3)[:, 0].tolist() == [0, 11, 23]


def test_the_network_has_its_layers_and_its_loss_is_cross_entropy():
    model = network(7, depth=3, hidden=5, norm=nn.LayerNorm, dropout=0.5)
    kinds = [type(layer).__name__ for layer in model]
    assert kinds == ["Embedding", "Flatten", *["Linear", "LayerNorm", "ReLU", "Dropout"] * 3, "Linear"]
    windows = some_data().on["dev"]
    model.eval()
    with torch.no_grad():
        right = model(windows[:, :-1]).softmax(-1)[torch.arange(20), windows[:, -1]]
        assert float(loss_of(model, windows)) == pytest.approx(float(-right.log().mean()))
    model.train()
    assert measured(model, windows) == measured(model, windows), "no dropout where it is measured"
    assert model.training


def test_a_training_is_kept_and_a_changed_one_is_not_mistaken_for_it(tmp_path):
    made = []

    def optimiser(parameters):
        made.append(1)
        return torch.optim.SGD(parameters, lr=0.1)

    common = {"found": some_data(), "steps": 4, "optimiser": optimiser, "points": 2}
    first = over_seeds(a_run(tmp_path), "one", **common)
    again = over_seeds(a_run(tmp_path), "one", **common)
    assert again == first
    assert len(made) == 2, "two seeds in a quick run, each trained once"
    over_seeds(a_run(tmp_path), "one", **common | {"steps": 5})
    assert len(made) == 4


def test_a_training_that_diverges_has_no_loss(tmp_path):
    row = over_seeds(
        a_run(tmp_path),
        "wild",
        found=some_data(),
        steps=40,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=1e6),
    )
    assert row["dev"] == row["test"] == [None, None]


def test_the_best_setting_is_named_by_dev_and_never_diverged():
    rows = {
        "a": {"dev": [2.0, 2.2], "test": [9.0, 9.0]},
        "b": {"dev": [3.0, 3.0], "test": [1.0, 1.0]},
        "c": {"dev": [None, 0.1], "test": [None, 0.1]},
    }
    assert best(rows) == "a"
    printed = sweep({"one": {"rates": {"0.1": rows["a"], "1": rows["c"]}, "best": "0.1"}})
    assert "**9.000 ± 0.000**" in printed
    assert "1 of 2 diverged" in printed


def test_early_stopping_reads_every_curve_at_the_lowest_dev_loss():
    curve = {
        "train": [[4.0, 2.0, 1.0], [4.0, 3.0, 2.0]],
        "dev": [[4.0, 3.0, 5.0], [4.0, 3.9, 3.8]],
        "test": [[4, 7, 8], [4, 5, 6]],
    }
    found = generalising.stopped_early({"curve": curve})
    assert found["at"] == [1, 2]
    assert found["test"] == [7, 6]
    assert found["train"] == [2.0, 2.0]


def test_a_remedys_strength_is_chosen_on_dev():
    def row(dev, test):
        return {"dev": dev, "curve": {"train": [[1.0]] * 2, "dev": [[d] for d in dev], "test": [[t] for t in test]}}

    found = generalising.chosen({"weak": row([3.0, 3.2], [1.0, 1.0]), "strong": row([2.0, 2.2], [5.0, 5.0])})
    assert found["strength"] == "strong"
    assert found["test"] == [5.0, 5.0]


def test_initialisations_have_their_variances():
    drawn = torch.empty(300, 200)
    expected = {"0.01": 1e-4, "PyTorch": 1 / (3 * 200), "Glorot": 2 / 500, "He": 2 / 200}
    for name, variance in expected.items():
        deep_networks.INITIALISATIONS[name](drawn)
        assert float(drawn.var()) == pytest.approx(variance, rel=0.05), name


def test_residual_connections_change_nothing_but_the_sum():
    plain = network(7, depth=4, hidden=5, norm=nn.LayerNorm)
    model = deep_networks.with_skips(plain)
    assert {id(p) for p in model.parameters()} == {id(p) for p in plain.parameters()}
    blocks = [layer for layer in model if isinstance(layer, deep_networks.Skip)]
    assert len(blocks) == 3
    h = torch.randn(2, 5)
    torch.testing.assert_close(blocks[0](h), h + plain[5](plain[4](plain[3](h))))


def test_schedules_begin_and_end_where_they_should():
    for name, schedule in optimisers.SCHEDULES.items():
        assert schedule(500, 1000) > 0.4, name
        assert schedule(1, 1000) == pytest.approx(1 / 100 if "warm-up" in name else 1, abs=0.01)
        assert schedule(1000, 1000) == pytest.approx(0 if "cosine" in name else 1, abs=1e-9)


def test_the_difference_of_two_means_has_the_larger_interval():
    found = generalising.difference([1.0, 2.0, 3.0], [1.0, 1.5, 2.0])
    assert found["mean"] == pytest.approx(0.5)
    assert found["half"] == pytest.approx(math.hypot(4.303 / 3**0.5, 4.303 * 0.5 / 3**0.5), abs=1e-4)
