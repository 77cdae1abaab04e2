"""The widgets of the lecture on scale, on a ladder that follows a known law."""

import math

import pytest
import torch

from lectures import stored, widgets
from lectures.prompting import Example, Template
from lectures.widgets import scale
from nlmcore.scaling import HOFFMANN, POWER, Law, fit_law
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.lectures.seen import seen

LAW = Law(E=1.5, A=50.0, alpha=0.5, B=300.0, beta=0.5)
SIZES, LENGTHS = [1000 * 2**k for k in range(7)], [2**k * 10_000 for k in range(9)]


def runs(seeds: int = 2) -> list[dict]:
    found = []
    for width, n in enumerate(SIZES):
        for d in LENGTHS:
            curve = [float(LAW.loss(n, d * (k + 1) / 8)) + (0.05 if k < 7 else 0) for k in range(8)]
            for seed in range(seeds):
                loss = float(LAW.loss(n, d)) + 0.001 * seed
                found.append(
                    {
                        "variant": "ladder",
                        "seed": seed,
                        "width": width,
                        "rate": 0.01,
                        "parameters": n + 10,
                        "N": n,
                        "D": d,
                    }
                    | {"curve": curve, "loss": loss}
                )
    return found


@pytest.fixture(scope="module")
def ladder() -> list:
    return scale.points(runs())


def test_points_are_means_of_seeds(ladder: list) -> None:
    assert len(ladder) == len(SIZES) * len(LENGTHS)
    first = ladder[0]
    assert (first.N, first.D, len(first.runs)) == (SIZES[0], LENGTHS[0], 2)
    assert first.loss == pytest.approx(float(LAW.loss(first.N, first.D)) + 0.0005)
    assert list(scale.by_size(ladder)) == SIZES
    assert scale.points(runs(), "lstm") == []


def test_the_best_size_of_a_budget_is_the_laws(ladder: list) -> None:
    budgets = [10.0**k for k in (9.6, 10.0, 10.4)]
    for budget in budgets:
        assert scale.best_size(ladder, budget) == pytest.approx(float(LAW.frontier(budget)[0]), rel=0.15)
    low, a, high = scale.slope_of_best(ladder, budgets, samples=20)
    assert low <= a <= high
    assert a == pytest.approx(0.5, abs=0.06)
    assert math.isnan(scale.best_size(ladder, 1e8)), "the smallest model is best there"


def test_a_race_has_one_crossing(ladder: list) -> None:
    small, large = (scale.by_size(ladder)[SIZES[k]] for k in (1, 4))
    at = scale.crossing(small, large)
    assert float(scale.at_compute(large, at * 1.1)) < float(scale.at_compute(small, at * 1.1))
    assert float(scale.at_compute(large, at / 1.1)) > float(scale.at_compute(small, at / 1.1))
    assert math.isnan(scale.crossing(large, small))


def test_the_budget_is_kept(ladder: list) -> None:
    widget = widgets.budget_playground(ladder)
    assert "Best:" not in seen(widget)
    widget.controls["best"].value = True
    budget = widget.controls["budget"].value
    top = min((p for p in ladder if p.compute <= budget * 1.0001), key=lambda p: p.loss)
    assert f"loss {top.loss:.3f}" in seen(widget)
    assert all(p.compute <= budget * 1.0001 for p in scale.affordable(ladder, budget))
    widget.controls["size"].value = SIZES[-1]
    assert "too large for the budget" in seen(widget, budget=widget.controls["budget"].options[0][1])


def test_laws_and_forecasts(ladder: list) -> None:
    longest = {"parameters": [(float(of[-1].N), of[-1].loss) for of in scale.by_size(ladder).values()]}
    x, y = torch.tensor(longest["parameters"]).T
    line = fit_law(y, x, None, POWER, 5, generator=torch.Generator().manual_seed(0))
    widget = widgets.law_playground(longest, {"parameters": {"power law": line}})
    assert f"10 times beyond the largest: {float(line.law.loss(10 * SIZES[-1])):.2f}" in seen(widget, far=10)
    assert "largest error" in seen(widget, straight=False)

    N, D, losses = (
        torch.tensor([float(v) for v in of]) for of in zip(*((p.N, p.D, p.loss) for p in ladder), strict=True)
    )
    both = fit_law(losses, N, D, HOFFMANN, 5, generator=torch.Generator().manual_seed(0))
    held = ladder[-1]._replace(N=4 * SIZES[-1], runs=(9.0,))
    widget = widgets.forecast_playground(ladder, held, {"Hoffmann": {SIZES[-1]: both}})
    assert "it has 9.000, outside the interval" in seen(widget)


def test_races_and_equal_compute(ladder: list) -> None:
    widget = widgets.race_playground(ladder)
    assert "the large one overtakes at" in seen(widget)
    assert "larger than the first" in seen(widget, large=widget.controls["small"].value)
    widget = widgets.equal_compute_playground(ladder, [1e8, 1e10])
    assert "characters per parameter" in seen(widget)
    assert "at the edge" in seen(widget, budget=1e8)


def test_exponents_are_drawn_or_refused() -> None:
    drawn = widgets.exponents_svg(
        {"ours": (0.4, 0.5, 0.6), "broken": (-9.0, 0.5, 9.0)}, {"Hoffmann": 0.5, "Kaplan": 0.73}
    )
    assert "ours 0.50 (0.40 to 0.60)" in drawn
    assert drawn.count("no law") == 1


def test_a_curve_inside_a_cosine_has_a_flat_tip_or_not(ladder: list) -> None:
    found = scale.ends(scale.by_size(ladder)[SIZES[0]])
    assert [d for d, _ in found.own] == [d for d in LENGTHS if 8 * d >= LENGTHS[-1]]
    assert len(found.inside) == 8
    assert scale.steepness([(1.0, 8.0), (2.0, 4.0), (4.0, 4.0)]) == pytest.approx([1.0, 0.0])
    widget = widgets.cosine_playground(ladder)
    assert "in the last eighth" in seen(widget, show="steepness")
    own, inside = (scale.halfway(ladder, own=flag) for flag in (True, False))
    assert [p[:3] for p in own] == [p[:3] for p in inside]
    assert all(q.loss == pytest.approx(p.loss + 0.05) for p, q in zip(own, inside, strict=True) if LENGTHS[-1] > p.D)


def test_two_architectures(ladder: list) -> None:
    lstms = [p._replace(runs=(p.loss + 0.1,)) for p in ladder if p.width % 2]
    widget = widgets.architectures_playground(ladder, lstms)
    assert "LSTM minus Transformer +0.10 nats at the left end, +0.10 at the right" in seen(widget)
    assert "characters:" in seen(widget, against="parameters")


def test_one_set_of_answers_under_four_metrics() -> None:
    mirage = stored("mirage")
    widget = widgets.metric_playground(mirage["runs"], mirage["answer_length"])
    assert "exact match of 4 digits, mean per size: 0.01" in seen(widget)
    assert "exact match of 4 digits" not in seen(widget, longer=32)
    assert "L = 32: 0.00" in seen(widget)
    for metric in ("digits right", "edit distance", "loss"):
        assert ("L = 32" in seen(widget, metric=metric)) == (metric == "edit distance")
    drawn = widgets.seeds_svg(mirage["runs"], 8)
    assert "Width 8: loss 1.20, 1%" in drawn


class Letters:
    """A tokenizer of single characters."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) % 128 for letter in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def test_prompts_are_read_once_and_together() -> None:
    torch.manual_seed(0)
    model = TransformerLM(TransformerConfig(vocab_size=128, d_model=8, n_heads=2, n_layers=2, max_length=512)).eval()
    tasks = {"letters": [Example(chr(97 + k) * (1 + k % 3), "x" + chr(97 + k)) for k in range(11)]}
    widget = widgets.prompt_playground(model, Letters(), tasks, Template(), questions=2)
    widget.controls["shots"].value, widget.controls["question"].value = 4, 2
    examples, asked = tasks["letters"][:4], tasks["letters"][9]
    prompt = "".join(f"{one.input} -> {one.output}\n" for one in examples) + f"{asked.input} ->"
    ids, answer = Letters().encode(prompt), Letters().encode(f" {asked.output}")
    with torch.no_grad():
        log_probs = model(torch.tensor([ids + answer]))[0][0].log_softmax(-1)
    p = math.exp(sum(float(log_probs[len(ids) - 1 + k, token]) for k, token in enumerate(answer)))
    assert f"= {p:.2g}; " in seen(widget)
    assert "one -&gt; uno" in seen(widget, typed="one -> uno, two")
    assert "end with a question" in seen(widget, typed="one -> uno, two -> dos")
