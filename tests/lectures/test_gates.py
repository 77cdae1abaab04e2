"""What the steps and features of the lecture `gates` must do."""

import pytest
import torch
from torch import nn


def test_the_steps_by_hand_are_those_of_pytorch(ran: dict) -> None:
    x, h, c = torch.tensor([[1.0]]), torch.tensor([[0.5]]), torch.tensor([[0.8]])
    gru = nn.GRUCell(1, 1)
    weights = {"weight_ih": [[1.0], [-2.0], [2.0]], "weight_hh": [[1.0], [1.0], [-1.0]]}
    biases = {"bias_ih": [0.0, 1.0, 0.0], "bias_hh": [0.0, 0.0, 0.0]}
    gru.load_state_dict({name: torch.tensor(w) for name, w in {**weights, **biases}.items()})
    lstm = nn.LSTMCell(1, 1)
    weights = {"weight_ih": [[1.0], [-2.0], [2.0], [1.0]], "weight_hh": [[0.0], [1.0], [-1.0], [1.0]]}
    biases = {"bias_ih": [0.0, 1.0, 0.0, 0.0], "bias_hh": [0.0] * 4}
    lstm.load_state_dict({name: torch.tensor(w) for name, w in {**weights, **biases}.items()})
    with torch.no_grad():
        assert gru(x, h).item() == pytest.approx(ran["gru_step"](1.0, 0.5)["new"], abs=1e-6)
        new_h, new_c = lstm(x, (h, c))
        assert new_c.item() == pytest.approx(ran["lstm_step"](1.0, 0.5, 0.8)["new c"], abs=1e-6)
        assert new_h.item() == pytest.approx(ran["lstm_step"](1.0, 0.5, 0.8)["new h"], abs=1e-6)
        assert ran["one"](x, h).item() == pytest.approx(ran["ugrnn_step"](1.0, 0.5)["new"], abs=1e-6)


def test_your_step_begins_right(ran: dict) -> None:
    assert ran["my_lstm_step"](0.3, -0.2, 1.1) == pytest.approx(ran["lstm_step"](0.3, -0.2, 1.1))


def test_the_two_forms_of_the_reset(ran: dict) -> None:
    for units, same in ((1, True), (3, False)):
        cell = ran["GRUCell"](2, units)
        generator = torch.Generator().manual_seed(5)
        for parameter in (cell.weight_ih, cell.weight_hh):
            parameter.data = torch.randn(parameter.shape, generator=generator)
        x, h = torch.randn(1, 2, generator=generator), torch.randn(1, units, generator=generator)
        with torch.no_grad():
            assert torch.allclose(cell(x, h), ran["reset_before"](cell, x, h), atol=1e-6) is same


def test_features_are_those_of_the_text(ran: dict) -> None:
    found = ran["features"]("A b.\n[Exit.]\nVIOLA.\n")
    assert found["position in the line"].tolist() == [1, 2, 3, 4, 5, *range(1, 9), *range(1, 8)]
    assert found["stage direction"].sum() == len("[Exit.]")
    assert found["name of a speaker"].sum() == len("VIOLA.")
    assert found["letters of the word"].max() == 5
    assert ran["correlations"](torch.tensor([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]).numpy(), torch.arange(3).numpy())[
        1
    ] == pytest.approx(-1)


def test_the_race_is_over_five_seeds(ran: dict) -> None:
    assert {len(of) for of in ran["right"].values()} == {5}
