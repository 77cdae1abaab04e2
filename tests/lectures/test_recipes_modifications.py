"""The earlier table's three rows, and the rows of today: what is compared, and how stored runs are read."""

import json
from pathlib import Path

import pytest

import lectures
from lectures.recipes import narang, transfer, unused_source
from lectures.recipes.narang import THEIRS, VANILLA
from nlmcore.variants import CATALOGUE


def test_their_table_has_every_row_of_theirs() -> None:
    assert set(THEIRS) == {name for name, row in CATALOGUE.items() if row.paper == "Narang et al. (2021), table 1"}
    assert THEIRS["Switch Transformer"]["final"] == min(row["final"] for row in THEIRS.values())


def test_windows_are_corrupted_within_the_vocabulary() -> None:
    data = unused_source.tasks(True)
    batch = next(unused_source.Spans(data, 3, 0)(0))
    assert len(batch["source"]) == 3
    assert int(batch["source"].max()) < data.vocab_size
    assert set(data.sentinels) & set(batch["source"].flatten().tolist())
    symbols = {i for pairs in data.pairs.values() for pair in pairs for ids in pair for i in ids}
    assert not symbols & set(data.sentinels)


def test_a_row_counts_when_it_has_every_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lectures, "FOLDER", tmp_path)
    folder = tmp_path / "results" / "transfer"
    folder.mkdir(parents=True)
    with pytest.raises(ValueError, match="no runs of 'transfer'"):
        narang.ours()
    seeds = range(narang.SEEDS)
    jobs = [transfer.Job(row, seed) for row in ("ELU", VANILLA) for seed in reversed(seeds)]
    others = [transfer.Job("GLU"), transfer.Job(VANILLA, control="one layer"), transfer.Job(VANILLA, rate=1.0)]
    for number, job in enumerate(jobs + others + [transfer.Job(VANILLA, seed, 600) for seed in seeds]):
        (folder / f"{number}.json").write_text(json.dumps({"job": transfer.asdict(job), "number": number}))
    (folder / "floors.json").write_text("{}")
    assert {row: [run["number"] for run in of] for row, of in narang.ours().items()} == {
        VANILLA: [5, 4, 3],
        "ELU": [2, 1, 0],
    }
    assert list(narang.ours(600)) == [VANILLA]
