"""What the cells of the lecture compute of the stored ladder, and what its functions do."""

import math
from collections import defaultdict
from statistics import fmean

import pytest

from lectures.figures.scale import PARAMETERS
from lectures.recipes import ladder


def test_the_ladder_is_the_stored_one(ran: dict) -> None:
    seeds = {run["seed"] for run in ran["runs"]}
    assert all(len(p.runs) == len(seeds) for p in [*ran["ladder"], *ran["lstms"], ran["held_out"]])
    assert (*ran["sizes"], ran["held_out"].N) == PARAMETERS
    common = set.intersection(*({p.D for p in of} for of in ran["sizes"].values()))
    assert len(common) == len(ladder.STEPS) == 6
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


def test_kaplans_line(ran: dict) -> None:
    assert 1 - ran["power_law"](1e9, 8.8e13, 0.076) / ran["power_law"](1e8, 8.8e13, 0.076) == pytest.approx(
        0.16, abs=0.005
    )


def test_the_forecast_is_the_fit_of_the_smaller_models(ran: dict) -> None:
    for (name, n), (low, middle, high) in ran["told"].items():
        law = ran["forecasts"][name][n].law
        assert middle == pytest.approx(float(law.loss(ran["held_out"].N, ran["held_out"].D)))
        assert low < middle < high


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
    short, long = (
        {p.width: [q.D for q in parts[name] if q.width == p.width] for p in parts[name]}
        for name in ("4 sizes × 4 lengths", "4 sizes × 4 longer")
    )
    assert short.keys() == long.keys()
    assert all(min(long[width]) > min(short[width]) and len(long[width]) == len(short[width]) for width in short)
    assert ran["table_part"] == pytest.approx(100 * 656 / 2416)


def test_the_tip_is_the_cosines(ran: dict) -> None:
    x, y = zip(*ran["one"].own[-2:], strict=True)
    assert ran["own_ends"][-1] == pytest.approx(-math.log(y[1] / y[0]) / math.log(x[1] / x[0]))


def test_lstms_have_the_parameters_of_their_transformers(ran: dict) -> None:
    for transformer, lstm in ran["same"].values():
        assert lstm.whole == pytest.approx(transformer.whole, rel=0.05)
        assert lstm.D == transformer.D
    assert ladder.TUNED_AT * ladder.BATCH * ladder.TIME == 262_144


def test_the_widths_around_the_threshold(ran: dict) -> None:
    by_width = ran["by_width"]
    assert max(run["exact"] for run in by_width[6]) <= 0.05
    assert min(run["exact"] for run in by_width[12]) >= 0.9
    assert ran["turning"] == 8
    assert all(len(of) == 5 for of in by_width.values())


def test_prompts_are_those_of_the_stored_measurement(ran: dict) -> None:
    curve = ran["shots"]["curves"]["sums"]["writing"]["8"]
    assert ran["rows"]["sums", "writing"][8] == pytest.approx(curve["right"] / 30, abs=1e-4)


def test_a_rule_loses_something(ran: dict) -> None:
    assert ran["lost"](ran["my_size"]) > 0
    assert ran["lost"](lambda b: ran["lowest"][b].N) == pytest.approx(0)
