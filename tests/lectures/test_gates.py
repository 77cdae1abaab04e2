"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or stored results."""

import math

import pytest
import torch
from torch import nn


def test_half_lives(prose: str) -> None:
    half = {g: math.log(0.5) / math.log(g) for g in (0.9, 0.95, 0.99)}
    assert f"{half[0.9]:.1f} steps and {half[0.99]:.0f} steps" in prose
    assert f"ln 0.5 / ln 0.95 = {half[0.95]:.1f} steps" in prose


def test_steps_by_hand(ran: dict, prose: str) -> None:
    u = ran["ugrnn_step"](1.0, 0.5)
    assert f"$R = {u['R']:.3f}$ and $G = {u['G']:.3f}$, so" in prose
    assert f"${u['kept']:.3f} + {u['written']:.3f} = {u['new']:.3f}$" in prose
    assert f"With $x = -1$ the gate is {ran['ugrnn_step'](-1.0, 0.5)['G']:.3f}" in prose
    assert f"$\\sigma(1) = {ran['sigmoid'](1):.2f}$" in prose
    g = ran["gru_step"](1.0, 0.5)
    assert f"Larger: {g['n']:.3f}" in prose
    assert f"$r = {g['r']:.3f}$" in prose
    assert f"${g['kept']:.3f} + {g['written']:.3f} = {g['new']:.3f}$" in prose
    s = ran["lstm_step"](1.0, 0.5, 0.8)
    assert f"$f = {s['f']:.3f}$, $i = {s['i']:.3f}$, $g = {s['g']:.3f}$" in prose
    assert f"$c_t = {s['kept']:.3f} + {s['written']:.3f} = {s['new c']:.3f}$" in prose
    assert f"$h_t = {s['o']:.3f} \\cdot \\tanh({s['new c']:.3f}) = {s['new h']:.3f}$" in prose
    assert ran["my_lstm_step"](0.3, -0.2, 1.1) == pytest.approx(ran["lstm_step"](0.3, -0.2, 1.1))
    assert ran["lstm_step"](2.0, -1.0, 2.0)["new c"] != 0


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


def test_the_two_forms_of_the_reset(ran: dict) -> None:
    for units, same in ((1, True), (3, False)):
        cell = ran["GRUCell"](2, units)
        generator = torch.Generator().manual_seed(5)
        for parameter in (cell.weight_ih, cell.weight_hh):
            parameter.data = torch.randn(parameter.shape, generator=generator)
        x, h = torch.randn(1, 2, generator=generator), torch.randn(1, units, generator=generator)
        with torch.no_grad():
            assert torch.allclose(cell(x, h), ran["reset_before"](cell, x, h), atol=1e-6) is same


def test_parameters(ran: dict, prose: str) -> None:
    share = {name: size / ran["sizes"]["rnn"] for name, size in ran["sizes"].items()}
    assert (round(share["gru"], 2), round(share["lstm"], 2)) == (3, 4)
    assert f"factor is {share['ugrnn']:.2f}, because our UGRNN has one bias per block" in prose


def test_the_gradient_along_the_memory(ran: dict, prose: str) -> None:
    gate = {bias: 1 / (1 + math.exp(-bias)) for bias in (-1, 1, 4)}
    assert math.isclose(0.5**20, 1e-6, rel_tol=0.05)
    assert f"$\\sigma(4) = {gate[4]:.3f}$ and {100 * gate[4] ** 20:.0f} % are left" in prose
    assert f"${gate[1]:.3f}^{{20}} = {gate[1] ** 20:.3f}$" in prose
    assert f"$\\sigma(-1) = {gate[-1]:.2f}$" in prose
    assert gate[-1] ** 3 < 0.02
    above = {bias: float(m[20]) * (1 + math.exp(-bias)) ** 20 for bias, m in ran["measured"].items()}
    assert all(ratio > 1 for ratio in above.values()), "'the measured line lies above that road'"
    assert above[-2] > above[0] > above[2] > above[4], "'most where the gate is small'"


def test_how_open_the_gates_are(ran: dict, prose: str) -> None:
    shares = {name: ran["saturation"](ran["here"][name].unsqueeze(0)) for name in ("forget", "output")}
    closed, opened = (side.mean() for side in shares["forget"])
    assert f"{100 * opened:.0f} % of the forget gates are wide open, and {100 * closed:.0f} % closed" in prose
    assert 0.45 < shares["output"][0].mean() < 0.55, "'half of them are closed'"


def test_units_and_what_they_follow(ran: dict, prose: str) -> None:
    found = ran["found"]
    minus = "\N{MINUS SIGN}"
    unit, r, tested, _ = found["position in the line", "memory"]
    assert f"The memory of unit {unit}" in prose
    assert f"a correlation of {r:.2f} on".replace("-", minus) in prose
    assert f"and of {tested:.2f} on the other".replace("-", minus) in prose
    assert f"{abs(found['position in the line', 'forget'][1]):.2f} at best" in prose
    _, r, tested, _ = found["name of a speaker", "memory"]
    assert f"{r:.2f} and then {tested:.2f}" in prose
    _, r, tested, _ = found["stage direction", "memory"]
    assert f"one play, {r:.2f}, fits less well on the other, {tested:.2f}" in prose
    assert all(abs(tested) > 0.55 for (name, _), (_, _, tested, _) in found.items() if name == "vowel")
    assert max(control for *_, control in found.values()) < 0.1
    beyond = [name for (name, what), (_, r, _, _) in found.items() if abs(r) > 0.8 and what == "memory"]
    assert beyond == ["position in the line"]


def test_what_the_counting_unit_does(ran: dict) -> None:
    forget, write = (ran["there"][name][:, ran["counting"]].numpy() for name in ("forget", "input"))
    assert forget[ran["at"]["line breaks"]].mean() < 0.05, "'falls to nearly 0 at the line break'"
    assert forget[~ran["at"]["line breaks"]].mean() > 0.9
    first, inside = (write[ran["at"][place]].mean() for place in ("first letters", "letters inside words"))
    assert first > 2 * inside, "'opens mostly at the first letter of a word'"


def test_features_are_those_of_the_text(ran: dict) -> None:
    found = ran["features"]("A b.\n[Exit.]\nVIOLA.\n")
    assert found["position in the line"].tolist() == [1, 2, 3, 4, 5, *range(1, 9), *range(1, 8)]
    assert found["stage direction"].sum() == len("[Exit.]")
    assert found["name of a speaker"].sum() == len("VIOLA.")
    assert found["letters of the word"].max() == 5
    assert ran["correlations"](torch.tensor([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]).numpy(), torch.arange(3).numpy())[
        1
    ] == pytest.approx(-1)


def test_the_race(ran: dict, prose: str) -> None:
    """Every claim of the race is over five seeds; where bands overlap, the text ranks nothing."""
    end = {name: of[:, -1].round() for name, of in ran["right"].items()}
    assert all(len(of) == 5 for of in end.values())
    said = {name: f"{of.min():.0f} to {of.max():.0f} %" for name, of in end.items()}
    high, default, plain = end["LSTM, bias 3"], end["LSTM, bias 1"], end["RNN"]
    assert f"Bias 3 ends at {said['LSTM, bias 3']}, bias 1 at {said['LSTM, bias 1']}, so the bands" in prose
    assert high.min() > default.max()
    assert f"above the RNN's {said['RNN']}" in prose
    assert default.min() == plain.max(), "'no better than the highest of the RNN'"
    assert f"UGRNN ends at {said['UGRNN']}, the GRU at {said['GRU']}, bias 3 at {said['LSTM, bias 3']}" in prose
    assert end["GRU"].max() > end["UGRNN"].min()
    assert default.max() > end["GRU"].min(), "'and so do the GRU and bias 1'"
    orders = {tuple(sorted(end, key=lambda name, i=i: -end[name][i])[1:4]) for i in range(5)}
    assert len(orders) > 1, "'the order of the middle runners changes'"
    assert f"differ by up to {max(of.max() - of.min() for of in end.values()):.0f} points" in prose


def test_copying_after_longer_training(ran: dict, prose: str) -> None:
    right = ran["memory"]["copy_accuracy"]
    assert min(right["ugrnn"]["80"], right["gru"]["80"]) > 0.8
    assert f"{100 * right['lstm']['20']:.0f} % after 20 and at most {100 * right['lstm']['40']:.0f} % after 40" in prose
    assert f"the RNN at most {100 * max(right['rnn'].values()):.0f} % anywhere" in prose
    assert "This is **one run** per cell and delay" in prose
    assert ran["memory"]["parameters"]["lstm"] == max(ran["memory"]["parameters"].values())


def test_capacity(ran: dict, prose: str) -> None:
    bits = {c: {n: f["bits_per_parameter"] for n, f in by.items()} for c, by in ran["capacity"]["memorising"].items()}
    for size in ("500", "1000"):
        assert max(bits, key=lambda c: bits[c][size]) == "rnn"
        assert min(bits, key=lambda c: bits[c][size]) == "lstm"
    assert (
        f"{bits['rnn']['1000']:.2f} bits per parameter at 1,000, and the LSTM least, {bits['lstm']['1000']:.2f}"
        in prose
    )
    last = [by["2000"] for by in bits.values()]
    assert f"within {min(last):.2f} to {max(last):.2f}" in prose
    text = {c: {n: f["perplexity"] for n, f in by.items()} for c, by in ran["capacity"]["characters"].items()}
    sizes = max(max(by.values()) / min(by.values()) for by in text.values())
    cells = max(max(by[n] for by in text.values()) / min(by[n] for by in text.values()) for n in text["gru"])
    assert (
        f"by a factor of up to {sizes:.2f}; gated cells of equal size differ by a factor of up to {cells:.2f}" in prose
    )
    small, large = text["ugrnn"]["60000"], text["lstm"]["180000"]
    assert f"60,000 parameters ({small:.2f}) is ahead of an LSTM of 180,000 ({large:.2f})" in prose
    assert "We have not measured whether that holds over seeds" in prose
