import random

import numpy as np
import pytest
import torch

from nlmcore.language_model import leaves
from nlmcore.training import load_checkpoint, save_checkpoint

W = torch.arange(6.0).reshape(2, 3)
CONTENT = {
    "tensors": {
        "w": W,
        "view": W[1],
        "turned": W.T,
        "long": torch.tensor([1, 2**40]),
        "flag": torch.tensor(True),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "nothing": torch.zeros(0, 4),
    },
    "facts": {"step": 3, "lr": 0.1 + 0.2, "names": ["ä", None], "pair": (1, {2: 1.5})},
    "random": random.Random(1).getstate(),
}


def same(one: object, other: object) -> bool:
    pairs = list(zip(leaves(one), leaves(other), strict=True))
    return all(
        a.dtype == b.dtype and torch.equal(a, b) if isinstance(a, torch.Tensor) else (a, type(a)) == (b, type(b))
        for a, b in pairs
    )


def test_everything_comes_back(tmp_path) -> None:
    path = tmp_path / "deep" / "run.pt"
    save_checkpoint(path, CONTENT)
    found = load_checkpoint(path)
    assert same(found, CONTENT)
    assert found["facts"] == CONTENT["facts"]
    assert [file.name for file in path.parent.iterdir()] == ["run.pt"]


def test_numbers_of_numpy_come_back_as_pythons(tmp_path) -> None:
    save_checkpoint(tmp_path / "run", {"lr": np.float64(0.1), "steps": [np.int64(3)]})
    found = load_checkpoint(tmp_path / "run")
    assert found == {"lr": 0.1, "steps": [3]}
    assert type(found["lr"]) is float


def test_tied_weights_are_written_once_and_stay_tied(tmp_path) -> None:
    big = torch.randn(100, 100)
    save_checkpoint(tmp_path / "tied", {"a": big, "b": big})
    save_checkpoint(tmp_path / "one", {"a": big})
    assert (tmp_path / "tied").stat().st_size < (tmp_path / "one").stat().st_size + 500
    found = load_checkpoint(tmp_path / "tied")
    assert found["a"].data_ptr() == found["b"].data_ptr()


def test_every_cut_is_refused(tmp_path) -> None:
    path = tmp_path / "run"
    save_checkpoint(path, CONTENT)
    whole = path.read_bytes()
    for length in [0, 1, 7, 31, 32, 33, len(whole) // 2, len(whole) - 32, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="run"):
            load_checkpoint(path)


def test_every_changed_byte_is_refused(tmp_path) -> None:
    path = tmp_path / "run"
    save_checkpoint(path, {"w": W})
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ValueError, match="damaged"):
            load_checkpoint(path)


def test_what_is_no_checkpoint_is_refused(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_checkpoint(tmp_path / "nowhere")
    with pytest.raises(OSError, match=tmp_path.name):
        load_checkpoint(tmp_path)
    torch.save({"w": W}, tmp_path / "other")
    with pytest.raises(ValueError, match=r"other is not a checkpoint of nlmcore\.training"):
        load_checkpoint(tmp_path / "other")


def test_a_failure_while_writing_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "run"
    save_checkpoint(path, {"w": W, "step": 1})

    def fails(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, {"w": W + 1, "step": 2})
    assert same(load_checkpoint(path), {"w": W, "step": 1})
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
