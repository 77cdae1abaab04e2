"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or stored results."""

import math

import numpy as np
import pytest
import torch

from lectures import stored


def test_the_race_at_the_top_is_our_own_networks_over_five_seeds(ran: dict, prose: str) -> None:
    race = ran["raced"]
    assert {len(runs) for runs in (*race["right"].values(), *race["gradient_log10"].values())} == {5}
    left = {name: [10 ** row[14] for row in rows] for name, rows in race["gradient_log10"].items()}
    right = {name: [100 * row[-1] for row in rows] for name, rows in race["right"].items()}
    gated = [name for name in race["right"] if not name.startswith("RNN")]
    assert [name for name in ("RNN", *gated) if max(left[name]) < 0.01] == ["RNN", "GRU"], "'in two'"
    assert f"RNN keeps {min(left['RNN']):.4f} to {max(left['RNN']):.4f} of its gradient" in prose
    assert f"just as little, {min(left['GRU']):.4f} to {max(left['GRU']):.4f}" in prose
    others = [share for name in gated if name != "GRU" for share in left[name]]
    assert 1 / 38 < min(others) < 1 / 28, "'a thirtieth'"
    assert 0.83 < max(others) < 0.95, "'nine tenths'"
    said = {name: f"{min(of):.0f} to {max(of):.0f} %" for name, of in right.items()}
    assert f"hardly learned the task; it copied {said['RNN']} of the symbols, where guessing" in prose
    assert f"the GRU learned it, and copied {said['GRU']}" in prose
    assert f"orthogonal network copies {said['RNN, orthogonal']} in all five seeds, up from {said['RNN']} with" in prose
    assert min(right["RNN, orthogonal"]) > max(max(right[name]) for name in gated), "'above every gated cell'"
    assert f"as much gradient, but copies only {said['RNN, identity']}" in prose
    assert min(left["RNN, identity"]) > 0.5 < min(left["RNN, orthogonal"]), "'about the same gradient'"


def test_a_large_network_looks_far_back(prose: str) -> None:
    large = stored("looking_back")["smollm2"]
    assert f'predicts "tickets" with probability {large["next"][" tickets"]:.2f}' in prose
    assert f"{large['distance']} tokens back" in prose
    assert large["gradient"].index(max(large["gradient"])) == large["tickets_at"][0], "the darkest of all"


def test_powers_of_a_number(prose: str) -> None:
    assert f"is {0.9**50:.3f}, and $1.1^{{50}}$ is {1.1**50:.0f}" in prose
    assert 20_000 < 1.1**50 / 0.9**50 < 24_000
    assert "some twenty thousand" in prose


def test_powers_of_a_matrix(ran: dict, prose: str) -> None:
    norms = {name: [float(v) for v in ran["power_norms"](0.8 * W.double(), 100)] for name, W in ran["matrices"].items()}
    chain = norms["chain"]
    assert f"climbs to {max(chain):.0f}, at $t = {chain.index(max(chain))}$" in prose
    assert f"dies out, to {chain[100]:.3f} at $t = 100$" in prose
    still = [float(v) for v in ran["power_norms"](ran["matrices"]["rotation (orthogonal)"].double(), 100)]
    assert max(still) - min(still) < 1e-4
    assert f"$s$ is {norms['random'][1] / 0.8:.2f} times its $\\rho$" in prose
    again = max(t for t, norm in enumerate(chain) if norm >= 1) + 1
    assert f"below 1 again after t = {again - 1}" in prose


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

    assert f"with uniform weights it loses {lost('rnn', 'uniform', 1):.0f} powers of ten" in prose
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
    assert f"the GRU's is $10^{{{before['gru'][80]:.1f}}}$," in prose
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
    assert f"After 60 steps the loss is {by_norm[-1]:.4f}" in prose
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
    """Runs that explode amplify rounding errors and differ between machines; the text says what they share."""
    end = {setting: sum(losses[-15:]) / 15 for setting, (losses, _) in ran["runs"].items()}
    losses, norms = ran["runs"]["no clipping", 2.0]
    assert f"starts at {losses[0]:.2f}" in prose
    assert max(losses) > 7, "'far above that', and the answer to the prediction"
    calm = max(max(norms) for (limit, _), (_, norms) in ran["runs"].items() if limit == "0.3")
    assert calm < 3 < max(norms)
    assert "the same rate ends at about 3.35;" in prose
    assert end["0.3", 2.0] == pytest.approx(3.35, abs=0.02)
    assert max(ran["runs"]["1", 2.0][0][1:]) > losses[0], "'with jumps'"
    assert min(end, key=lambda setting: end[setting]) == ("1", 1.0), "'the best of the nine runs'"
    assert "ends at about 3.3." in prose
    assert end["1", 1.0] == pytest.approx(3.3, abs=0.04)
    assert "the loss ends at about 3.36" in prose
    assert end["no clipping", 0.5] == pytest.approx(3.36, abs=0.015)
    assert max(ran["runs"]["no clipping", 0.5][0]) == ran["runs"]["no clipping", 0.5][0][0]
    assert sum(norm > 0.3 for norm in ran["runs"]["0.3", 2.0][1]) > 50, "'nearly every step is clipped'"


def test_eigenvalues_that_were_all_zero(ran: dict, prose: str) -> None:
    assert f"{ran['spectrum'](ran['J']).radius:.2f}. Two paths cancelled each other" in prose
    assert not (ran["U2"] @ ran["U2"]).any()


def test_an_orthogonal_start_does_not_last(ran: dict) -> None:
    assert ran["longer"]["20"] > 0.995, "'still copied after 20 blanks'"
    assert ran["longer"]["40"] < 0.15, "'back at guessing'"
    gradient = stored("initialisation")["gradient_log10"]["orthogonal"]
    assert gradient[40] > -2, "'its gradient had lost little over forty steps'"


def test_check_yourself(prose: str) -> None:
    assert 0.95**90 < 0.01 < 0.95**89
    assert f"{math.log(0.01) / math.log(0.95):.1f}, so after 90 steps" in prose
