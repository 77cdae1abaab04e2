"""The table of modifications: what is compared, how sure it is, and that no training is made twice."""

import json

import pytest

from lectures.recipes import __main__ as program
from lectures.recipes import modifications
from lectures.recipes.narang import THEIRS
from lectures.recipes.significance import against, rank_correlation, ranks, two_sided, welch
from nlmcore.variants import CATALOGUE


def test_their_table_has_every_row_of_theirs() -> None:
    assert set(THEIRS) == {name for name, row in CATALOGUE.items() if row.paper == "Narang et al. (2021), table 1"}
    assert THEIRS["Switch Transformer"]["final"] == min(row["final"] for row in THEIRS.values())


@pytest.mark.parametrize(("t", "freedom"), [(12.706, 1), (2.776, 4), (2.228, 10), (2.042, 30)])
def test_students_t_is_the_tables(t: float, freedom: int) -> None:
    assert two_sided(t, freedom) == pytest.approx(0.05, abs=1e-4)


def test_welch_by_hand() -> None:
    # With one freedom, Student's T is Cauchy's: P(|T| > t) = 1 − 2 atan(t) / π. So many degrees have two pairs, of
    # which one has no spread: x = 0, 2 and y = 5, 5, with t = 4 / 1.
    assert welch([0.0, 2.0], [5.0, 5.0]) == pytest.approx(0.15595826, abs=1e-6)
    assert welch([3.0, 3.0], [3.0, 3.0]) == 1.0


def test_more_rows_make_a_difference_less_certain() -> None:
    baseline, better = [2.0, 2.1, 1.9], [1.0, 1.1, 0.9]
    alone = against(baseline, {"a": better})["a"]
    among = against(baseline, {"a": better, "b": [2.0, 2.2, 1.8], "c": [2.1, 1.9, 2.0]})
    assert alone["difference"] == among["a"]["difference"] == -1.0
    assert among["a"]["p"] == pytest.approx(3 * alone["p"], rel=0.02)
    assert among["b"]["p"] == among["c"]["p"] == 1.0


def test_ranks_and_their_correlation() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]
    found = rank_correlation([(i, i**3) for i in range(20)])
    assert (found["rho"], found["low"], found["high"]) == (1.0, 1.0, 1.0)


def test_windows_are_corrupted_within_the_vocabulary() -> None:
    data = modifications.tasks(True)
    batch = next(modifications.Spans(data, 3, 0)(0))
    assert len(batch["source"]) == 3
    assert int(batch["source"].max()) < data.vocab_size
    assert set(data.sentinels) & set(batch["source"].flatten().tolist())
    symbols = {i for pairs in data.pairs.values() for pair in pairs for ids in pair for i in ids}
    assert not symbols & set(data.sentinels)


def test_a_second_run_trains_nothing_again(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = []

    def train(row: str, seed: int, rate: float, quick: bool, downstream: bool) -> dict:
        trained.append((row, seed, rate))
        if len(trained) == 5:
            raise KeyboardInterrupt
        found = {"seed": seed, "rate": rate, "losses": [2.0 - seed / 10, 1.0 - seed / 10], "seconds": 1.0}
        return found | ({"phonemes": 0.5, "numbers": 0.25} if downstream else {})

    monkeypatch.setattr(modifications, "train", train)
    run = program.prepare("modifications", quick=True, work=tmp_path, to=tmp_path)
    run.say = lambda text: None
    with pytest.raises(KeyboardInterrupt):
        run.recipe.cook(run)
    run.recipe.cook(run)
    assert len(set(trained)) == len(trained) - 1  # the one that was interrupted
    result = json.loads((tmp_path / "results" / "modifications.json").read_text())
    assert len(result["trainings"]) == len(set(trained))
    assert result["rows"]["SwiGLU"]["final"] == [1.0, 0.9]
    assert set(result["against_vanilla"]["final"]) == {"SwiGLU", "Funnel Transformer"}
