"""What the lecture says of the paper's table is computed from it; what it says of ours holds for any seeds."""

import math

import pytest

from lectures.recipes import narang, transfer
from lectures.recipes.narang import THEIRS, VANILLA
from nlmcore.metrics import significance


def test_final_losses(ran: dict, prose: str) -> None:
    final = ran["final"]
    same = [row for row in ran["others"] if final[row] == final[VANILLA]]
    above = [row for row in ran["others"] if final[row] > final[VANILLA]]
    assert len(same) == 1
    assert (
        f"{len(ran['below'])} rows end below vanilla's {final[VANILLA]}, one has the same loss,"
        f" and {len(above)} end above it" in prose
    )
    assert sum(name.endswith("GLU") for name in ran["below"]) == 5
    assert sum(THEIRS[name]["parameters"] > 1.5 * THEIRS[VANILLA]["parameters"] for name in ran["below"]) == 3


def test_the_rows_that_buy_their_loss() -> None:
    bought = {
        row: THEIRS[row]["parameters"] for row in ("Switch Transformer", "Mixture of experts", "Product key memory")
    }
    assert [round(value / THEIRS[VANILLA]["parameters"]) for value in bought.values()] == [5, 3, 2]
    assert list(bought.values()) == [1100, 648, 421]
    for name in ("GLU", "GeGLU", "ReGLU", "SwiGLU", "LiGLU"):
        assert all(THEIRS[name][key] == THEIRS[VANILLA][key] for key in ("parameters", "operations"))


def test_their_early_losses(ran: dict) -> None:
    tests = ran["early_tests"]
    assert (len(ran["alone"]), len(ran["real"])) == (9, 7)
    assert set(ran["alone"]) - set(ran["real"]) == {"RMS Norm", "GLU"}
    assert max(tests[row].p for row in ran["real"]) < 0.0001
    assert ran["rms"] == pytest.approx(tests["RMS Norm"].p)
    assert ran["t_value"](ran["early"]["RMS Norm"], ran["early"][VANILLA]) == pytest.approx(-3.6, abs=0.06)
    p = {row: test.p for row, test in tests.items()}
    assert ran["holms"](p) == pytest.approx(significance.holm(p))
    assert ran["holms"](p) == pytest.approx({row: test.corrected for row, test in tests.items()})


def test_equal_rows_win_by_luck(ran: dict, prose: str) -> None:
    assert f"$1 - 0.975^{{51}}$ = {100 * (1 - 0.975**51):.0f} % of tables" in prose
    assert 0.25 < (ran["lucky"] > 0).mean() < 0.35
    assert ran["lucky"].mean() == pytest.approx(51 * 0.025, rel=0.2), "the mean does not mind the shared baseline"
    assert (ran["corrected_wins"] > 0).mean() < 0.03
    game, beats = ran["one_table"](51, 5, 3)
    base = significance.summary(game[0].tolist())
    for values, won in zip(game[1:], beats, strict=True):
        row = significance.summary(values.tolist())
        p = significance.welch(row, base)
        assert abs(p - 0.05) < 0.002 or bool(won) == (p < 0.05 and row.mean < base.mean)


def test_webq(ran: dict) -> None:
    webq = {row: of["webq"] for row, of in THEIRS.items()}
    odd = [value for value in webq.values() if abs(round(value * 3.78) / 3.78 - value) >= 0.01]
    assert odd == [19.56]
    assert ran["questions"] == 378
    assert 100 * math.sqrt(0.2308 * 0.7692 / 378) == pytest.approx(ran["by_chance"], rel=1e-3)
    assert round(ran["by_chance"] / 100 * ran["questions"]) == 8


def test_early_and_final(ran: dict, prose: str) -> None:
    transparent, mixture = THEIRS["Transparent attention"], THEIRS["Mixture of softmaxes"]
    assert f"early ({transparent['early']}) and {transparent['final'] - THEIRS[VANILLA]['final']:.3f}" in prose
    assert mixture["early"] > THEIRS[VANILLA]["early"]
    assert mixture["final"] < THEIRS[VANILLA]["final"]
    assert len(ran["cheap"]) == 7
    assert THEIRS["Dynamic convolution"]["operations"] < 1.1 * THEIRS[VANILLA]["operations"]
    assert THEIRS["Dynamic convolution"]["steps_per_second"] < THEIRS["Evolved Transformer"]["steps_per_second"]


def test_ours_is_what_is_stored(ran: dict) -> None:
    """For any rows that have all their seeds."""
    assert next(iter(ran["runs"])) == VANILLA
    assert set(ran["runs"]) <= set(THEIRS)
    tests = ran["columns"]["final loss, ours"].tests()
    assert ran["tests"] == tests
    for row, by in ran["gaps"].items():
        assert significance.summary(by[narang.STEPS]).mean == pytest.approx(tests[row].difference)


def test_the_set_up_sees_what_everybody_knows(ran: dict) -> None:
    """The gates that the recipe has passed, of what is stored."""
    assert ran["another"] > ran["vanilla_loss"] + transfer.SOURCE
    assert ran["vanilla_loss"] < ran["floor"] - transfer.MARGIN
    means = {rate: sum(of) / len(of) for rate, of in ran["by_rate"].items()}
    assert min(means, key=means.__getitem__) not in (min(means), max(means))
    assert all(loss > max(ran["by_rate"][narang.RATE]) for of in ran["by_control"].values() for loss in of)


def test_a_student_begins_with_bonferroni(ran: dict) -> None:
    p = {"a": 0.004, "b": 0.03, "c": 0.9}
    assert ran["my_correction"](p) == ran["bonferroni"](p) == pytest.approx({"a": 0.012, "b": 0.09, "c": 1.0})
