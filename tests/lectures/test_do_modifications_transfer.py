"""The lecture's statistics agree with `nlmcore.metrics`, for any tables and any rows."""

import pytest

from lectures.recipes import narang, transfer
from lectures.recipes.narang import THEIRS, VANILLA
from nlmcore.metrics import significance


def test_the_lectures_tests_are_those_of_the_library(ran: dict) -> None:
    tests = ran["early_tests"]
    assert ran["rms"] == pytest.approx(tests["RMS Norm"].p)
    p = {row: test.p for row, test in tests.items()}
    assert ran["holms"](p) == pytest.approx(significance.holm(p))
    assert ran["holms"](p) == pytest.approx({row: test.corrected for row, test in tests.items()})


def test_equal_rows_win_as_often_as_the_level_says(ran: dict) -> None:
    assert ran["lucky"].mean() == pytest.approx(51 * 0.025, rel=0.2), "the mean does not mind the shared baseline"
    assert (ran["corrected_wins"] > 0).mean() < 0.03
    game, beats = ran["one_table"](51, 5, 3)
    base = significance.summary(game[0].tolist())
    for values, won in zip(game[1:], beats, strict=True):
        row = significance.summary(values.tolist())
        p = significance.welch(row, base)
        assert abs(p - 0.05) < 0.002 or bool(won) == (p < 0.05 and row.mean < base.mean)


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
