"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

from statistics import fmean

import pytest
import torch

from lectures import stored
from nlmcore.corpora import load
from nlmcore.positions import relative_shift

pytest.importorskip("PIL")


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 7
    assert 60 <= sum(minutes) <= 75


def test_patches(ran: dict, prose: str) -> None:
    assert ran["tokens_of"] == {16: 196, 8: 784}
    temple = torch.as_tensor(ran["pictures"]["temple"])
    tokens = {size: ran["to_patches"](temple[None], size).shape[1] for size in (1, 32)}
    assert tokens == {1: 6144, 32: 6}
    assert f"there are {tokens[1]:,} of them" in prose


def test_memory(ran: dict, prose: str) -> None:
    assert ran["pair_bytes"] == 2048 * ran["table_bytes"]
    assert f"{2048**2 * 4 / 1e6:.0f} MB per head" in prose


def test_skewing(ran: dict) -> None:
    x = torch.randn(6, 6)
    for skew in (ran["skew"], ran["my_skew"]):
        assert torch.equal(skew(x).tril(), relative_shift(x))


def test_the_corpus(prose: str) -> None:
    corpus = load("chorales")
    assert f"{len(corpus)} chorales, {corpus.size:,} tokens" in prose
    kinds = {ord(sign) for piece in corpus.documents for sign in piece.text if sign != " "}
    assert f"from {min(kinds)} to {max(kinds)} happen to be printable" in prose


def test_what_digits_need(prose: str) -> None:
    right = stored("image_data")["right"]
    assert all(len(seeds) == 5 for by in right.values() for seeds in by.values())
    mean = {row: {size: 100 * fmean(of) for size, of in by.items()} for row, by in right.items()}
    for row, words in {
        "CNN": "the convolutional network has {} % right with 100 images and {} % with all",
        "ViT": "the Vision Transformer {} % and {} %",
        "CNN, 3 times the steps": "{} % and {} % for the convolutional network",
        "ViT, 3 times the steps": "{} % and {} % for the Vision Transformer",
        "ViT, pretrained": "to {} % and {} %",
        "nearest neighbour": "{} % and {} % for the nearest neighbour",
    }.items():
        said = words.format(f"{mean[row]['100']:.0f}", f"{mean[row]['1197']:.0f}")
        assert said in prose, said
    gaps = {
        size: [mean[f"CNN{more}"][size] - mean[f"ViT{more}"][size] for more in ("", ", 3 times the steps")]
        for size in ("100", "1197")
    }
    closed = {size: 1 - after / before for size, (before, after) in gaps.items()}
    assert closed["1197"] == pytest.approx(0.75, abs=0.05), "the prose says: three quarters"
    assert closed["100"] == pytest.approx(0.25, abs=0.05), "the prose says: a quarter"


def test_what_distances_bring(ran: dict, prose: str) -> None:
    result = stored("chorales")
    of = {row: {key: fmean(by[key]) for key in ("all", "held", "changed")} for row, by in result["rows"].items()}
    assert all(len(by["all"]) == 5 for by in result["rows"].values())
    sinusoids, relative = of["sinusoids"], of["relative"]
    assert f"a loss of {relative['held']:.2f} there, sinusoids of {sinusoids['held']:.2f}" in prose
    assert f"worse, {relative['changed']:.2f} against {sinusoids['changed']:.2f}" in prose
    labels, twice = of["sinusoids, voice labels"], of["sinusoids, twice the steps"]
    assert (
        f"({labels['all']:.2f} instead of {sinusoids['all']:.2f}), twice the steps help more ({twice['all']:.2f}),"
        f" and neither reaches {relative['all']:.2f}"
    ) in prose
    counted, longer = result["without"]["7-gram"], ran["checkpoint"]("chorales").card["figures"]["test"]
    assert f"the 7-gram model has {counted['all']:.2f}. The longer training does, with {longer['all']:.2f}:" in prose
    assert f"({longer['changed']:.2f} against {counted['changed']:.2f})" in prose
    assert counted["all"] < relative["all"] < twice["all"] < labels["all"] < sinusoids["all"]
    steps = ran["checkpoint"]("chorales").card["training"]["steps"]
    assert f"took {steps:,} steps" in prose
    assert "200 steps of" in result["how"]
    assert {row["rate"] for row in result["rows"].values()} == {0.005}, "the higher of the two"


def test_the_papers_rows_are_in_order(prose: str) -> None:
    for row in ("Transformer | 0.417", "concatenated | 0.398", "labels for the voices | 0.370", "**0.357**", "0.347"):
        assert row in prose


def test_harmonies(ran: dict) -> None:
    assert torch.equal(ran["sung"][0, :, :, 0], ran["melodies"]), "the melody is put in"
    assert ran["agrees"].shape == (5, 3)
    assert ran["by_table"].shape == (3,)
    assert not ran["missing"]
    assert (ran["agrees"].mean(0) - ran["by_table"]).abs().max() < 0.12, "the prose says: hardly ahead, or not at all"


def test_heads_look_three_back(ran: dict) -> None:
    assert int(ran["favourite"].argmax()) == 3
    assert len(ran["copying"]) >= 4


def test_captions(ran: dict, prose: str) -> None:
    rows = stored("captions")["rows"]
    assert all(len(by["in_box"]) == 5 for by in rows.values())
    right = {row: [round(100 * share) for share in by["right_new_pairs"]] for row, by in rows.items()}
    mean = {row: round(100 * fmean(by["right_new_pairs"])) for row, by in rows.items()}
    conv, penalty = right["convolutional"], right["convolutional, doubly stochastic"]
    assert f"With patches {mean['patches']} % of the captions of new pairs are right" in prose
    assert f"{round(100 * fmean(rows['patches']['in_box']))} % of the attention lies in the box" in prose
    assert f"gets {min(conv)} to {max(conv)} % right, {mean['convolutional']} % on average" in prose
    average = mean["convolutional, doubly stochastic"]
    assert f"with the penalty {min(penalty)} to {max(penalty)} %, {average} % on average" in prose
    blind = [i for i, share in enumerate(conv) if share == 0]
    looks = [f"{100 * rows['convolutional']['largest_in_box'][i]:.0f} %" for i in blind]
    assert f"in the box in {' and '.join(looks)} of cases" in prose
    assert fmean(rows["patches"]["erased"]) == pytest.approx(5, abs=0.25)
    assert fmean(rows["patches"]["other_erased"]) < 0.15
    assert rows["convolutional"]["right_new_pairs"][ran["blind"]] == 0


def test_the_checkpoints_are_small(ran: dict) -> None:
    names = ("chorales", "captions_convolutional", "captions_patches")
    assert sum(ran["checkpoint"](name).card["weights"]["bytes"] for name in names) < 2**20
