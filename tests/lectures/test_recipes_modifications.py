"""The table of modifications: what is compared, and that no training is made twice."""

import json

import pytest

from lectures.recipes import __main__ as program
from lectures.recipes import modifications
from lectures.recipes.narang import THEIRS
from nlmcore.variants import CATALOGUE


def test_their_table_has_every_row_of_theirs() -> None:
    assert set(THEIRS) == {name for name, row in CATALOGUE.items() if row.paper == "Narang et al. (2021), table 1"}
    assert THEIRS["Switch Transformer"]["final"] == min(row["final"] for row in THEIRS.values())


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
