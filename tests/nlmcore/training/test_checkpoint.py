import pytest
import torch

from nlmcore.training import load_checkpoint, save_checkpoint

W = torch.arange(6.0).reshape(2, 3)
TENSORS = {
    "w": W,
    "tied": W,
    "view": W[1],
    "turned": W.T,
    "long": torch.tensor([1, 2**40]),
    "flag": torch.tensor(True),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "nothing": torch.zeros(0, 4),
}
FACTS = {"step": 3, "lr": 0.1 + 0.2, "names": ["ä", None], "nested": {"a": [1.5]}}


def test_everything_comes_back(tmp_path) -> None:
    path = tmp_path / "deep" / "run.safetensors"
    save_checkpoint(path, TENSORS, FACTS)
    tensors, facts = load_checkpoint(path)
    assert facts == FACTS
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)
    assert [file.name for file in path.parent.iterdir()] == ["run.safetensors"]


def test_tied_weights_are_written_once(tmp_path) -> None:
    big = torch.randn(100, 100)
    save_checkpoint(tmp_path / "tied", {"a": big, "b": big}, {})
    save_checkpoint(tmp_path / "one", {"a": big}, {})
    assert (tmp_path / "tied").stat().st_size < (tmp_path / "one").stat().st_size + 200


def test_every_cut_is_refused(tmp_path) -> None:
    path = tmp_path / "run"
    save_checkpoint(path, TENSORS, FACTS)
    whole = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 50, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="run"):
            load_checkpoint(path)


def test_every_changed_byte_is_refused(tmp_path) -> None:
    path = tmp_path / "run"
    save_checkpoint(path, {"w": W, "x": torch.ones(2)}, FACTS)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            tensors, facts = load_checkpoint(path)
        except ValueError:
            continue
        # Only bytes that mean nothing (padding of the header) may change unseen.
        assert facts == FACTS
        assert torch.equal(tensors["w"], W)
        assert torch.equal(tensors["x"], torch.ones(2))


def test_what_is_no_checkpoint_is_refused(tmp_path) -> None:
    from safetensors.torch import save_file

    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_checkpoint(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="folder"):
        load_checkpoint(tmp_path)
    save_file({"w": W}, tmp_path / "other")
    with pytest.raises(ValueError, match=r"not a checkpoint of nlmcore\.training"):
        load_checkpoint(tmp_path / "other")
    torch.save({"w": W}, tmp_path / "pickle")
    with pytest.raises(ValueError, match="pickle"):
        load_checkpoint(tmp_path / "pickle")
    with pytest.raises(TypeError, match="w"):
        save_checkpoint(tmp_path / "x", {"w": [1.0]}, {})


def test_a_failure_while_writing_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "run"
    save_checkpoint(path, {"w": W}, {"step": 1})

    def fails(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, {"w": W + 1}, {"step": 2})
    assert load_checkpoint(path)[1] == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
