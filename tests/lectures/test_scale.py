"""What the lecture says of published constants is computed from them; what it says of the ladder is what is stored."""

import math
from collections import defaultdict
from statistics import fmean

import pytest

from lectures.figures.scale import PARAMETERS
from lectures.recipes import ladder
from nlmcore.scaling import PUBLISHED, REFITTED
from tests.notebook_runner import Ran


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 9
    assert 60 <= sum(minutes) <= 75


def test_the_ladder_is_the_stored_one(ran: dict, prose: str) -> None:
    seeds = {run["seed"] for run in ran["runs"]}
    words = {3: "three", 5: "five"}[len(seeds)]
    assert f"nats per character, mean of {words} seeds" in prose
    assert all(len(p.runs) == len(seeds) for p in [*ran["ladder"], *ran["lstms"], ran["held_out"]])
    assert (*ran["sizes"], ran["held_out"].N) == PARAMETERS
    common = set.intersection(*({p.D for p in of} for of in ran["sizes"].values()))
    assert len(ran["sizes"]) == 8
    assert len(common) == len(ladder.STEPS) == 6
    assert {len(of) for of in ran["sizes"].values()} == {6, 7}
    small = [n for n, of in ran["sizes"].items() if len(of) == 7]
    assert small == list(ran["sizes"])[: len(small)], "the small ones for seven"
    assert max(common) * 2 == ladder.LONGER * ladder.BATCH * ladder.TIME


def test_means_and_operations(ran: dict) -> None:
    losses = defaultdict(list)
    for run in ran["runs"]:
        if run["variant"] == "ladder":
            losses[run["N"], run["D"]].append(run["loss"])
    for p in ran["ladder"]:
        assert p.loss == pytest.approx(fmean(losses[p.N, p.D]))
        assert p.compute == 6 * p.N * p.D
    for budget, best in ran["lowest"].items():
        within = [p for p in ran["ladder"] if p.compute <= 1.0001 * budget]
        assert best.loss == min(p.loss for p in within), "a longer training of the same size is never worse here"


def test_ten_times_the_compute(ran: dict) -> None:
    begin = ran["begin"]
    assert 8 <= ran["more_text"].compute / begin.compute <= 14
    assert round(ran["more_model"].N / begin.N) == 14
    assert 8 <= ran["more_model"].compute / begin.compute <= 14


def test_kaplans_line(ran: dict, prose: str) -> None:
    assert "0.076" in prose
    assert 1 - ran["power_law"](1e9, 8.8e13, 0.076) / ran["power_law"](1e8, 8.8e13, 0.076) == pytest.approx(
        0.16, abs=0.005
    )


def test_the_forecast_is_the_fit_of_the_smaller_models(ran: dict) -> None:
    for (name, n), (low, middle, high) in ran["told"].items():
        law = ran["forecasts"][name][n].law
        assert middle == pytest.approx(float(law.loss(ran["held_out"].N, ran["held_out"].D)))
        assert low < middle < high
    assert 2 * max(ran["sizes"]) < ran["held_out"].N


def test_what_the_published_constants_say(ran: dict, prose: str) -> None:
    ratio = ran["tokens_per_parameter"]
    assert f"give $a$ = 0.45 and {ratio(PUBLISHED, ran['GOPHER']):.0f}" in prose
    assert f"$a$ = 0.51 and {ratio(REFITTED, ran['GOPHER']):.0f} tokens per parameter" in prose
    for law, name in ((PUBLISHED, "published"), (REFITTED, "refitted")):
        row = prose.split(f"| {name} |")[1].split("|")
        assert [float(cell) for cell in row[:5]] == [law.E, law.A, law.alpha, law.B, law.beta]
        told = {"published": 0.45, "refitted": 0.51}[name]
        assert law.beta / (law.alpha + law.beta) == pytest.approx(told, abs=0.005)
    assert pytest.approx(ran["GOPHER"], rel=0.03) == 6 * 70e9 * 1.4e12
    assert round(1.4e12 / 70e9) == 20
    assert round(10**0.73) == 5
    assert round(10**0.5) == 3


def test_rivals_are_compared_with_the_same_part_of_the_ladder(ran: dict) -> None:
    parts = ran["parts"]
    cells = {p[:3] for p in parts["4 sizes × 4 lengths"]}
    assert len(cells) == 16
    for name in parts:
        if name.startswith("…"):
            assert {p[:3] for p in parts[name]} == cells
    assert [p[:3] for p in parts["inside one cosine"]] == [p[:3] for p in parts["ends of own cosines"]]
    assert all(p.N > q.N for p, q in zip(parts["embeddings counted"], parts["the ladder"], strict=True))
    for name, of in ran["references"].items():
        assert ran["moves"][name] == pytest.approx(ran["rivals"][name][1] - ran["rivals"][of][1])
    largest, smallest = ran["one_rate"][-1], min(ran["one_rate"], key=lambda p: p.loss)
    assert largest.N > smallest.N, "with the rate of the smallest, larger models are not better"
    short, long = ran["rivals"]["4 sizes × 4 lengths"], ran["rivals"]["ends of own cosines"]
    assert short[2] < long[0], "no exponent holds for all lengths"
    assert long[1] - short[1] > max(abs(ran["moves"][name]) for name in ran["moves"] if name in ran["lawful"])
    assert ran["table_part"] == pytest.approx(100 * 656 / 2416)


def test_the_tip_is_the_cosines(ran: dict) -> None:
    x, y = zip(*ran["one"].own[-2:], strict=True)
    assert ran["own_ends"][-1] == pytest.approx(-math.log(y[1] / y[0]) / math.log(x[1] / x[0]))
    assert set(ran["less"]) <= set(ran["sizes"])


def test_lstms_have_the_parameters_of_their_transformers(ran: dict) -> None:
    for transformer, lstm in ran["same"].values():
        assert lstm.whole == pytest.approx(transformer.whole, rel=0.05)
        assert lstm.D == transformer.D
    crossed = list(ran["crossed"].values())
    assert crossed == sorted(crossed), "the larger both are, the later the Transformer overtakes"
    assert ladder.TUNED_AT * ladder.BATCH * ladder.TIME == 262_144


def test_the_widths_around_the_threshold(ran: dict, prose: str) -> None:
    by_width = ran["by_width"]
    assert max(run["exact"] for run in by_width[6]) <= 0.05
    assert min(run["exact"] for run in by_width[12]) >= 0.9
    assert ran["turning"] == 8
    assert "nine sizes, five seeds each" in prose
    assert len(by_width) == 9
    assert all(len(of) == 5 for of in by_width.values())


def test_prompts_are_those_of_the_stored_measurement(ran: dict) -> None:
    curve = ran["shots"]["curves"]["sums"]["writing"]["8"]
    assert ran["rows"]["sums", "writing"][8] == pytest.approx(curve["right"] / 30, abs=1e-4)


def test_a_rule_loses_something(ran: dict, run: Ran) -> None:
    assert ran["lost"](ran["my_size"]) > 0
    assert ran["lost"](lambda b: ran["lowest"][b].N) == pytest.approx(0)
