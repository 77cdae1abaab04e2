"""The numbers that the lecture's prose quotes are those that its own cells compute, or that are stored."""

import math
from statistics import mean

import pytest
import torch

from lectures import stored
from nlmcore.positions import rotary, sinusoidal


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 7
    assert 60 <= sum(minutes) <= 75


def test_a_bag_of_words(ran: dict, prose: str) -> None:
    def similarity(model) -> float:
        with torch.no_grad():
            a, b = (
                model(torch.tensor([ran["wordpieces"].encode(text)]))[0].mean(0)
                for text in ("The dog bites the man.", "The man bites the dog.")
            )
        return torch.cosine_similarity(a, b, dim=0).item()

    assert f"{similarity(ran['no_order']):.3f} without positions" in prose
    assert f"With them it is {similarity(ran['encoder']):.3f}" in prose


@pytest.mark.parametrize(
    ("masked", "waves", "moves"), [(False, 0.0, False), (True, 0.0, True), (False, 1.0, True), (True, 1.0, True)]
)
def test_what_shuffling_changes(ran: dict, masked: bool, waves: float, moves: bool) -> None:
    mask = ran["causal_mask"](4) if masked else None
    with torch.no_grad():
        plain, shuffled = ran["read"](range(4), mask, waves), ran["read"]([2, 0, 3, 1], mask, waves)
    back = shuffled[torch.tensor([2, 0, 3, 1]).argsort()]
    assert torch.allclose(plain, back, atol=1e-5) != moves
    assert torch.allclose(plain.mean(0), shuffled.mean(0), atol=1e-5) != moves


def test_a_causal_head_counts(ran: dict) -> None:
    assert ran["counted"][0, :, 0].tolist() == pytest.approx([1 / t for t in range(1, 9)])


def test_waves(ran: dict, prose: str) -> None:
    def slowest(base: int) -> float:
        return 2 * math.pi * base ** (126 / 128)

    assert f"the slowest pair needs {slowest(10_000):,.0f} positions" in prose
    assert f"turns once in {slowest(10):.0f} positions" in prose
    fast = sinusoidal(16, 8, base=16)[:, 0]
    assert torch.equal(fast, torch.sin(torch.arange(16.0))), "bit 0 beside sine 0"
    late = sinusoidal(51, 32)[1:]
    assert torch.equal(ran["late"], late)
    angle = 10_000 ** (15 / 32)
    assert torch.allclose(ran["slow"][:, 30], torch.sin(torch.arange(50) / angle).to(ran["slow"]))
    assert "but near $\\sqrt{10000} = 100$" in prose
    assert 50 < angle < 100


def test_learned_positions(ran: dict, prose: str) -> None:
    learned = ran["alike"][0]
    one, three, six, twelve = (learned.diagonal(k).mean().item() for k in (1, 3, 6, 12))
    assert f"similar, {one:.2f} on average" in prose
    assert f"at 3 positions it is {three:.2f}, at 6 it is {six:.2f}, at 12 it is {twelve:.2f}" in prose


def test_rotary_scores(ran: dict, prose: str) -> None:
    q, k = ran["query"], ran["key"]
    every = torch.stack([q, k]).view(1, 2, 1, 4).expand(1, 2, 16, 4)
    turned_q, turned_k = rotary(every, torch.arange(16), 36, layout="interleaved")[0]
    scores = turned_q @ turned_k.T
    assert f"does not change the score. It is {scores[6, 4]:.3f} both times" in prose
    assert scores[7, 5].item() == pytest.approx(scores[6, 4].item(), abs=1e-5)
    assert abs(scores[4, 6] - scores[6, 4]) > 0.1, "before and after differ"
    differ = {
        name: (ran["reads"](0, **o) - ran["reads"](100, **o)).abs().max() for name, o in ran["options_of"].items()
    }
    assert [d > 0.1 for d in differ.values()] == [False, True, True]


def test_the_comparing_picture(ran: dict) -> None:
    far = ran["distance"].tolist()
    t5, shaw = ran["t5"], ran["clipped"]
    near, beyond = (
        t5[:, [i for i, d in enumerate(far) if low <= abs(d) <= high]].abs().mean() for low, high in ((0, 20), (32, 48))
    )
    assert near > 2.5 * beyond, "large up to about 20 words, small beyond"
    assert shaw[:, far.index(-30)].tolist() == shaw[:, far.index(-40)].tolist()
    assert shaw[0, far.index(-30)] != shaw[0, far.index(30)]
    assert torch.equal(ran["penalty"], ran["penalty"].flip(-1))


def test_beyond_the_lengths_of_training(prose: str) -> None:
    lines = stored("numbers_transformer")["lines"]
    exact = {name: {at: round(100 * row["exact"]) for at, row in line.items()} for name, line in lines.items()}
    waves, buckets = (
        exact[f"Transformer, {kind}, trained on up to 12 words"] for kind in ("sinusoids", "relative positions")
    )
    assert f"translates {waves['12-14']} % of the numbers of 12 to 14" in prose
    assert waves["15-17"] == 0
    assert f"with buckets it is {buckets['12-14']} % and {buckets['15-17']} %" in prose
    recurrent = exact["recurrent, attention, trained on up to 20 words"]
    assert f"still had {recurrent['27-29']} % right at 27 to 29 words" in prose
    for name, line in exact.items():
        if name.startswith("Transformer"):
            assert max(line["24-26"], line["27-29"]) <= 2, "from 24 words on at most 2 % is right"


def test_the_students_functions_are_right(ran: dict) -> None:
    assert torch.allclose(ran["my_sinusoidal"](50, 64, 10_000), sinusoidal(50, 64), atol=1e-5)
    x = torch.randn(1, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    mine = ran["my_rotary"](x, torch.arange(5), 100)
    assert torch.allclose(mine, rotary(x, torch.arange(5), 100, layout="interleaved"), atol=1e-5)


def test_what_is_said_of_hidden_letters(ran: dict, prose: str) -> None:
    ours = {name: row["ours"] for name, row in stored("positions")["letters"].items()}
    theirs = {name: row["theirs"] for name, row in stored("positions")["letters"].items()}
    percent = {name: f"{100 * mean(found):.1f}" for name, found in ours.items()}
    assert {len(found) for found in ours.values()} == {5}
    assert len(ours) == 14, "thirteen rows, and concatenated sinusoids"
    assert sum(of is not None for of in theirs.values()) == 8, "of theirs only what was confirmed"
    added, beside = ours["absolute: sinusoids"], ours["sinusoids set beside, not added"]
    added_right, beside_right = (f"{100 * mean(found):.1f} %" for found in (added, beside))
    assert f"added sinusoids names {added_right} correctly, the one with concatenated sinusoids {beside_right}" in prose
    ranges = [f"{100 * min(found):.1f} to {100 * max(found):.1f} %" for found in (added, beside)]
    assert f"({ranges[0]} and {ranges[1]})" in prose
    assert max(added) > min(beside), "the ranges overlap"
    assert f'"none" is last, with {percent["none"]} % here and {theirs["none"]} there' in prose
    assert min(ours, key=lambda name: mean(ours[name])) == "none"
    learned = [name for name in ours if name.endswith("relative learned") or name == "relative: learned"]
    assert sorted(ours, key=lambda name: -mean(ours[name]))[:3] == sorted(learned, key=lambda name: -mean(ours[name]))
    alone, both, waves = (
        percent[name]
        for name in ("relative: learned", "learned + relative learned", "learnable sinusoids + relative learned")
    )
    assert f"{alone} % by themselves, and {both} and {waves} % with an absolute kind" in prose
    assert f'hardly beat "none" here ({percent["absolute: learned"]} %)' in prose
    moving, fixed = ours["relative: learnable sinusoids"], ours["relative: sinusoids"]
    assert f"({100 * mean(moving):.1f} against {100 * mean(fixed):.1f} %, no overlap)" in prose
    assert min(moving) > max(fixed)


def test_what_is_said_of_longer_texts(ran: dict, prose: str) -> None:
    runs, t5 = stored("positions")["beyond"], "T5's buckets"
    at = {kind: [mean(run[i] for run in found) for i in range(12)] for kind, found in runs.items()}
    assert f"({at['rotary'][2]:.2f} for characters 33 to 48). They hold up to about 80" in prose
    assert f"fail worst, with {at['rotary'][11]:.2f} at the end" in prose
    assert sorted(at, key=lambda kind: at[kind][2])[:2] == ["Transformer-XL", "rotary"]
    assert max(at, key=lambda kind: at[kind][2]) == "none", "worst within the trained length"
    assert max(at, key=lambda kind: at[kind][11]) == "rotary"
    assert f"from {at['sinusoids'][2]:.2f} to {at['sinusoids'][3]:.2f} as soon as the trained length ends" in prose
    for kind, name in (("ALiBi", "**ALiBi**"), ("Transformer-XL", "**Transformer-XL**")):
        assert f"{name} ({at[kind][2]:.2f} → {at[kind][11]:.2f})" in prose
    assert f"buckets the loss rises by {at[t5][11] - at[t5][2]:.2f}" in prose
    assert f"the loss rises by {at['none'][11] - at['none'][2]:.2f}. It is hardly worse" in prose
