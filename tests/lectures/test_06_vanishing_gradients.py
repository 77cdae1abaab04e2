"""The numbers that the prose of lecture 6 quotes are those that its own cells compute, or stored results."""

import math

import numpy as np
import pytest
import torch


def test_the_word_far_back(ran: dict, prose: str) -> None:
    large, small = ran["back"]["smollm2"], ran["back"]["lstm"]
    right = [row[i] for i, row in enumerate(large["known_answers"])]
    assert min(right) >= 0.695
    assert "with a probability of 0.70 or more" in prose
    assert f'"tickets" with {large["next"][" tickets"]:.2f}' in prose
    assert f"{large['distance']} tokens back" in prose
    assert f"{len(small['known_pieces']) - 1 - small['letters_at'][0]} words back has no effect" in prose
    for column in zip(*small["known_answers"], strict=True):
        assert max(column) / min(column) < 1.02, "'its four rows are the same to two digits'"
    assert large["gradient"].index(max(large["gradient"])) == large["tickets_at"][0], "the darkest of all"


def test_powers_of_a_number(prose: str) -> None:
    assert f"{0.9**50:.3f} and {1.1**50:.0f}" in prose
    assert 20_000 < 1.1**50 / 0.9**50 < 24_000
    assert "some twenty thousand" in prose


def test_powers_of_a_matrix(ran: dict, prose: str) -> None:
    norms = {name: [float(v) for v in ran["power_norms"](0.8 * W.double(), 100)] for name, W in ran["matrices"].items()}
    chain = norms["chain (not normal)"]
    assert f"climbs to {max(chain):.0f}, at $t = {chain.index(max(chain))}$" in prose
    assert f"dies: {chain[100]:.3f} at $t = 100$" in prose
    still = [float(v) for v in ran["power_norms"](ran["matrices"]["rotation (orthogonal)"].double(), 100)]
    assert max(still) - min(still) < 1e-4
    assert f"$\\sigma$ is {norms['random'][1] / 0.8:.2f} times its $\\rho$" in prose
    again = max(t for t, norm in enumerate(chain) if norm >= 1) + 1
    assert f"below 1 again from t = {again} on" in prose


def test_products_of_jacobians(ran: dict, prose: str) -> None:
    assert (ran["ours"] - ran["theirs"]).abs().max() < 1e-5

    def product(size: float, distance: int) -> float:
        each = ran["rnn_jacobians"](1.5 * ran["U"].double(), size * ran["x"].double())
        so_far = torch.eye(16, dtype=torch.float64)
        for J in each.flip(0)[:distance]:
            so_far = so_far @ J
        return float(torch.linalg.matrix_norm(so_far, ord=2))

    assert f"After 40 steps the norm is {product(0.2, 40):.0f}, where $U$ alone" in prose
    assert 1.5**40 > 1e7
    assert f"At size 3 the norm is {product(3.0, 10):.4f} after ten steps" in prose
    assert product(0.0, 40) > 1e7, "'now it does explode'"


def test_one_unit_explodes_and_vanishes(ran: dict, prose: str) -> None:
    assert f"never exceeds {max(ran['states']):.2f}" in prose
    assert ran["gradients"][29] > 100_000
    assert ran["gradients"][59] < 1e-3
    assert "its derivative is above 100,000 at $t = 30$" in prose


def test_gradients_against_distance(ran: dict, prose: str) -> None:
    def lost(cell: str, initialisation: str, gain: float) -> float:
        norms = ran["state_norms"](ran["build"](cell, initialisation, gain), ran["texts"])
        return float(torch.log10(norms[-1] / norms[0]))

    assert f"the uniform one loses {lost('rnn', 'uniform', 1):.0f} powers of ten" in prose
    assert 2 < lost("rnn", "orthogonal", 1) < 3
    assert 1 < lost("rnn", "identity", 1) < 2
    assert lost("rnn", "orthogonal", 2) < -6
    assert lost("rnn", "identity", 2) > 60
    assert max(lost("ugrnn", "uniform", 1), lost("lstm", "uniform", 1)) < 8.05
    assert f"initialises it loses {math.floor(lost('gru', 'uniform', 1))}, nearly" in prose


def test_gradients_before_and_after_training(ran: dict, prose: str) -> None:
    before, after = ran["before"], ran["after"]
    for cell in ("rnn", "gru"):
        assert f"from $10^{{{before[cell][100]:.1f}}}$ to $10^{{{after[cell][100]:.1f}}}$" in prose
    assert f"with a gradient of $10^{{{before['rnn'][10]:.1f}}}$" in prose
    assert f"it is $10^{{{before['rnn'][80]:.1f}}}$" in prose
    assert f"the GRU's is $10^{{{before['gru'][80]:.1f}}}$ there" in prose
    far = {cell: by["80"] for cell, by in ran["memory"]["copy_accuracy"].items()}
    assert far["rnn"] < 0.15, "'there it learned nothing'"
    assert far["gru"] > 0.9, "'learned the task all the same'"
    right = {cell: by["10"] for cell, by in ran["memory"]["copy_accuracy"].items()}
    assert f"copied only {right['rnn']:.0%}".replace("%", " %") in prose
    assert all(round(right[cell], 2) == 1 for cell in ("ugrnn", "gru", "lstm"))


def test_the_cliff(ran: dict, prose: str) -> None:
    numerical = [ran["loss_and_gradient"](5.0 + d, -2.75)[0] for d in (1e-5, -1e-5)]
    assert (numerical[0] - numerical[1]) / 2e-5 == pytest.approx(ran["loss_and_gradient"](5.0, -2.75)[1], rel=1e-4)
    numerical = [ran["loss_and_gradient"](5.0, -2.75 + d)[0] for d in (1e-5, -1e-5)]
    assert (numerical[0] - numerical[1]) / 2e-5 == pytest.approx(ran["loss_and_gradient"](5.0, -2.75)[2], rel=1e-4)

    def descend(rule: str, n_max: float, rate: float) -> tuple[np.ndarray, list[float]]:
        here, losses = np.array([6.0, -2.75]), []
        for _ in range(61):
            loss, *gradient = ran["loss_and_gradient"](*here)
            losses.append(float(loss))
            last, step = here, ran[rule]([torch.tensor([g]) for g in gradient], n_max)
            here = here - rate * np.array([float(g) for g in step])
        return last, losses

    lost, plain = descend("no_clipping", 0.3, 1.0)
    assert lost[1] > 0, "out of the picture"
    assert f"the loss is {plain[-1]:.4f} and flat" in prose
    kept, by_norm = descend("clip_by_norm", 0.3, 1.0)
    assert f"it is at {by_norm[-1]:.4f}" in prose
    assert min(by_norm) < 0.001
    assert 3 < kept[0] < 7
    assert -4 < kept[1] < 0
    _, each = descend("clip_each_entry", 0.3, 1.0)
    assert f"behind, at {each[-1]:.4f}" in prose
    assert descend("clip_by_norm", 3.0, 1.0)[0][1] > 0, "'still long enough to throw it out'"
    assert descend("clip_by_norm", 0.3, 0.1)[1] == descend("no_clipping", 0.3, 0.1)[1]
    assert loss_jumps(ran), "a cliff between -2.5 and -2.6"
    before, on, after = (math.hypot(*ran["loss_and_gradient"](4.9, b)[1:]) for b in (-2.54, -2.55, -2.56))
    assert 80 < on / before < 150, "'about a hundred times what it is beside it'"
    assert 80 < on / after < 150


def loss_jumps(ran: dict) -> bool:
    high, low = (ran["loss_and_gradient"](4.9, b)[0] for b in (-2.6, -2.5))
    steep = max(math.hypot(*ran["loss_and_gradient"](4.9, b)[1:]) for b in np.linspace(-2.6, -2.5, 101))
    return high > 0.3 > low and steep > 20


def test_clipping_in_the_plane(ran: dict, prose: str) -> None:
    g = [torch.tensor([3 * math.cos(math.radians(20))]), torch.tensor([3 * math.sin(math.radians(20))])]
    assert f"$({float(g[0]):.2f}, {float(g[1]):.2f})$ becomes $(1, 1)$" in prose
    assert [float(part) for part in ran["clip_each_entry"](g, 1.0)] == [1.0, 1.0]
    for rule in (ran["clip_by_norm"], ran["my_clip"]):
        clipped = rule([torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0])], 1.0)
        torch.testing.assert_close(torch.cat(clipped), torch.tensor([0.6, 0.0, 0.0, 0.8]))
        torch.testing.assert_close(rule([torch.tensor([0.3])], 1.0)[0], torch.tensor([0.3]))
    assert "(0.6, 0) and (0, 0.8)" in prose


def test_a_training_that_explodes(ran: dict, prose: str) -> None:
    end = {setting: sum(losses[-15:]) / 15 for setting, (losses, _) in ran["runs"].items()}
    start = ran["runs"]["no clipping", 2.0][0][0]
    assert f"began at {start:.2f}" in prose
    assert f"lie at {end['no clipping', 2.0]:.0f} on average" in prose
    losses, norms = ran["runs"]["no clipping", 2.0]
    assert max(norms) > 1000
    assert max(losses) > 50
    assert max(max(norms) for (limit, _), (_, norms) in ran["runs"].items() if limit != "no clipping") < 8
    assert f"the same rate ends at {end['0.3', 2.0]:.2f}; clipped at 1, it survives at {end['1', 2.0]:.2f}" in prose
    assert f"At a rate of 1: {end['no clipping', 1.0]:.2f} without clipping, {end['1', 1.0]:.2f} with" in prose
    assert min(end, key=lambda setting: end[setting]) == ("1", 1.0), "'the best of the nine runs'"
    assert f"the loss ends at {end['no clipping', 0.5]:.2f}" in prose
    assert max(ran["runs"]["no clipping", 0.5][0]) == ran["runs"]["no clipping", 0.5][0][0]
    assert sum(norm > 0.3 for norm in ran["runs"]["0.3", 2.0][1]) > 50, "'nearly every step is clipped'"


def test_eigenvalues_that_were_all_zero(ran: dict, prose: str) -> None:
    assert f"{ran['spectrum'](ran['J']).radius:.2f}. Two paths cancelled each other" in prose
    assert not (ran["U2"] @ ran["U2"]).any()


def test_an_orthogonal_start(ran: dict, prose: str) -> None:
    right = ran["start"]["copy_accuracy"]
    assert f"from {100 * right['uniform']['10']:.0f} % to {100 * right['orthogonal']['10']:.0f} % after ten" in prose
    assert right["orthogonal"]["20"] > 0.995
    assert right["orthogonal"]["40"] < 0.15, "'back at guessing'"
    assert ran["start"]["gradient_log10"]["orthogonal"][40] > -2, "'its gradient has lost little over forty steps'"


def test_check_yourself(prose: str) -> None:
    assert 0.95**90 < 0.01 < 0.95**89
    assert f"{math.log(0.01) / math.log(0.95):.1f} on: after 90 steps" in prose
