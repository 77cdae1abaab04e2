"""What the lecture says is what it measured; what it says of papers is what their figures give."""

import itertools
import math
from statistics import fmean, stdev

import pytest
import torch

from lectures import stored
from lectures.recipes import sublayer_order
from nlmcore.metrics.significance import summary, welch


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 8
    assert 60 <= sum(minutes) <= 75


def test_removed_parts(ran: dict) -> None:
    losses = ran["losses"]
    assert losses["no networks"] > losses["no skips"] > ran["guessing"], "far more wrong than a uniform guess"
    assert losses["no attention"] < ran["guessing"]
    assert losses["as trained"] < 5
    model, ids = ran["tokens"]["SmolLM2"]
    assert torch.equal(model(ids)[0], ran["seen"]["SmolLM2"]["as trained"][1][0]), "every part is back in its place"


def test_the_residual_is_the_composite_norm(ran: dict) -> None:
    X = torch.tensor([[1.0, 2.0], [3.0, -2.0]])
    R = X - X.mean(0)  # [[-1, 2], [1, -2]]
    assert float(ran["residual"](X)) == pytest.approx(math.sqrt(4 * 3))
    assert float(ran["norm"](R)) == float(ran["residual"](X))
    assert float(ran["residual"](torch.ones(3, 4))) == 0
    X, layers = ran["first_weights"](2)
    QK, VO, *rest = layers[0]
    naive = torch.zeros_like(X)
    for seed, head in itertools.product(range(len(X)), range(2)):
        scores = X[seed] @ QK[seed, head] @ X[seed].T / math.sqrt(ran["D_HEAD"])
        naive[seed] += scores.softmax(-1) @ X[seed] @ VO[seed, head]
    assert torch.allclose(ran["layer"](X, QK, VO, *rest, skips=False, networks=False), naive)


@pytest.mark.parametrize("size", [0.1, 0.5, 1.0, 4.0])
def test_the_bound_holds(ran: dict, size: float) -> None:
    limits = torch.tensor(ran["bound"](size, 2))
    found = [ran["residual"](X).log10() for X in ran["trace"](size, 2, False, False, False)]
    for layer, values in enumerate(found[:4]):  # later, only rounding is left
        assert bool((values <= limits[:, layer] + 1e-6).all() or (values < -13).all()), layer


def test_the_base_of_the_example(ran: dict) -> None:
    assert [round(ran["bounds"][L], 2) for L in (1, 2, 3)] == [0.9, 0.66, 0.25]
    assert [(3**L - 1) // 2 for L in range(1, 6)] == [1, 4, 13, 40, 121]
    assert math.ceil(math.log(1e-5) / math.log(0.9)) == 110


def test_the_collapse_and_what_changes_it(ran: dict) -> None:
    alone, networks, skips = ran["alone"], ran["with_networks"], ran["with_skips"]
    assert all(2 * before > after for before, after in itertools.pairwise(alone[1:4])), "doubly exponential"
    assert abs(networks[2] - alone[2]) < 0.3, "at size 1 networks slow nothing"
    assert ran["relative"](4.0, networks=True)[3] < ran["relative"](4.0)[3] + 6
    assert skips[-1] > -1 > ran["kept"][-1] + 1
    assert ran["small"][0.1] < -10 < 30 < ran["small"][1.0]
    kept = [float(ran["residual"](X).mean()) for X in ran["trace"](4.0, 1, True, False, False)]
    assert kept[-1] > kept[0], "the residual itself is not lost"
    assert 0.3 < ran["unmixed"] <= 1.1


def test_small_weights_collapse_faster(ran: dict) -> None:
    second = [ran["relative"](size)[2] for size in (0.5, 1.0, 2.0, 4.0)]
    assert second == sorted(second)


def test_the_mask_makes_a_line_of_the_cliff(ran: dict, prose: str) -> None:
    plain, normed, masked, both = (ran["decline"](*given) for given in ((0, 0), (1, 0), (0, 1), (1, 1)))
    assert plain[2] < -15
    assert normed[2] > -3 > -13 > normed[4], "delayed by two layers, and then as steep"
    assert min(masked) > -3 > -15 > normed[-1]
    assert min(both) > -3
    rate = 10 ** ((masked[0] - masked[-1]) / (len(masked) - 1))
    cut = ran["residuals"]["SmolLM2"]["no skips"]
    steps = (cut[0] / cut[-1]) ** (1 / 30)
    assert f"by a factor of about {rate:.1f} per layer (SmolLM2's without skips: {steps:.1f})" in prose


def test_trained_models(ran: dict, prose: str) -> None:
    smol, mini = ran["residuals"]["SmolLM2"], ran["residuals"]["MiniLM"]
    networks = smol["no networks"]
    assert f"falls from {networks[0]:.2f} to {networks[-1]:.2f}, most of it in the first five layers" in prose
    assert (networks[0] - networks[5]) > 0.8 * (networks[0] - networks[-1])
    assert mini["no skips"][-1] < 1e-6 < mini["no skips"][3]
    assert min(mini["as trained"]) > 0.5
    assert 0.3 < smol["as trained"][-1] < 0.5
    states = ran["seen"]["SmolLM2"]["as trained"][0]
    assert max(float(x[0].norm() / x[1:].norm(dim=-1).mean()) for x in states) > 50


def test_what_fixed_mixings_do_not_see(ran: dict) -> None:
    change = {row: float(abs(of["the first"] - of["the second"]).max()) for row, of in ran["maps"].items()}
    assert max(change["FNet"], change["linear mixing"]) < 1e-3 < change["MLP-Mixer"] < change["attention"]


def test_no_mixing_on_images_is_no_guess(ran: dict) -> None:
    result = stored("without_attention")
    assert ran["means"]["digits"]["no mixing"] == pytest.approx(
        100 * fmean(result["tasks"]["digits"]["no mixing"]["right"])
    )
    assert all(len(of["right"]) >= 5 for by in result["tasks"].values() for of in by.values())


def test_what_the_mixings_reach(ran: dict, prose: str) -> None:
    letters, digits = ran["means"]["letters"], ran["means"]["digits"]
    assert f"attention ({letters['attention']:.1f} %) and MLP-Mixer ({letters['MLP-Mixer']:.1f} %) lead" in prose
    assert f"FNet has {letters['FNet']:.1f} %" in prose
    assert f"never trained ({letters['random mixing']:.1f} %); no mixing has {letters['no mixing']:.1f} %" in prose
    assert f"brings it to {letters['FNet, attention on top']:.1f} %" in prose
    assert f"more than attention ({digits['attention']:.1f} %)" in prose
    assert f"no better than no mixing ({digits['no mixing']:.1f} %)" in prose
    lead = sorted(letters, key=lambda row: -letters[row])
    assert lead[:2] == ["attention", "MLP-Mixer"]
    for one, other, differ in (("FNet", "random mixing", False), ("linear mixing", "FNet", True)):
        p = welch(*(summary(ran["right"]["letters"][row]) for row in (one, other)))
        assert (p < 0.05) == differ, (one, other)
    assert min(digits, key=digits.get) == "attention"
    assert ran["tests"]["digits"]["no mixing"].p > 0.05
    assert all(test.corrected < 0.05 for row, test in ran["tests"]["digits"].items() if row != "no mixing")


def test_fnet_in_percent(prose: str) -> None:
    assert f"so {100 * 76.7 / 83.3:.0f} %" in prose


def test_luck_in_their_search(ran: dict, prose: str) -> None:
    plain = sublayer_order.THEIRS["plain"]
    assert ran["expected"] == pytest.approx(fmean(plain) - 1.87 * stdev(plain), abs=0.01)
    assert ran["expected"] < sublayer_order.THEIRS["best"] < min(plain)
    assert f"between {sublayer_order.THEIRS['worst']} and **{sublayer_order.THEIRS['best']}**" in prose


def test_our_search_is_as_stored(ran: dict, prose: str) -> None:
    result = stored("sublayer_order")
    plain, chosen = result["losses"][result["plain"]], ran["chosen"]
    orders = {row: of for row, of in result["losses"].items() if row not in (result["plain"], result["sandwich"])}
    assert len(orders) == len(plain) == 20
    assert min(len(of) for of in result["losses"].values()) >= 5
    assert orders[chosen][0] == min(of[0] for of in orders.values())
    p = welch(summary(orders[chosen][1:]), summary(plain))
    assert ran["retest"].p == pytest.approx(p)
    told = " ".join(ran["order_findings"])
    assert f"Its winner has {orders[chosen][0]:.3f}, the plain order with the same seed {plain[0]:.3f}" in prose
    assert f"the best of 20 plain seeds has {min(plain):.3f}" in prose
    assert abs(ran["retest"].difference) < 0.002
    assert not ran["better"]
    assert not ran["worse"]
    assert ran["between"] < ran["within"]
    assert len({min(orders, key=lambda row: orders[row][seed]) for seed in range(5)}) == 5, "a winner of its own"
    assert ran["differ"] == [result["sandwich"]]
    pairs = [a - b for a, b in zip(result["losses"][result["sandwich"]], plain, strict=False)]
    assert f"**The sandwich is worse here**, by {fmean(pairs):.3f}, if you compare seed by seed" in prose
    assert f"{len(ran['better'])} of the 20 random orders and the sandwich are better" in told


def test_a_causal_model_needs_two_layers(ran: dict) -> None:
    moved = ran["moved"]
    assert max(moved(depth, False, False)[0] for depth in (1, 2, 4)) < 1e-9
    assert max(moved(1, True, False)) < 1e-9 < 1e-3 < min(moved(2, True, False))
    assert min(moved(1, True, True)) > 1e-3


def test_positions_are_those_of_the_lecture_on_them(ran: dict) -> None:
    assert ran["letters"]["none"] < ran["letters"][ran["best_letters"]]
    assert max(ran["told"]["letters"].values(), key=lambda of: of["theirs"] or 0)["theirs"] == 82.5
    assert ran["told"]["letters"]["none"]["theirs"] == 76.6


def test_deep_runs_are_as_stored(ran: dict, prose: str) -> None:
    deep = stored("very_deep")
    frequencies = 3.33  # nats per character of a play, from the frequencies of other plays
    for depth, name in (("100", "hundred"), ("12", "twelve")):
        for rule, of in deep["runs"][depth].items():
            assert ran[name][rule] == of["dev"]
            assert len(of["dev"]) >= 5
            assert (fmean(of["dev"]) < frequencies - 0.1) == (rule == "pre-norm"), (depth, rule)
    assert deep["guess"] == pytest.approx(math.log(82), abs=1e-3)
    assert f"learned more ({fmean(ran['hundred']['pre-norm']):.2f} at 100 layers)" in prose
    longer = deep["longer"]
    assert [len(longer[rule]["0.001"]) for rule in ("DeepNorm", "post-norm")] == [5, 5]
    assert max(longer["DeepNorm"]["0.001"]) < 3.1 < frequencies < min(longer["post-norm"]["0.001"])
    assert f"has learned ({fmean(longer['DeepNorm']['0.001']):.2f}, five seeds)" in prose
    assert f"post-norm has not ({fmean(longer['post-norm']['0.001']):.2f})" in prose
    assert longer["DeepNorm"]["0.004"][0] > frequencies
    assert f"Pre-norm stays ahead of both ({longer['pre-norm']['0.004'][0]:.2f}, one seed)" in prose
    moved = {rule: {depth: fmean(of) for depth, of in by.items()} for rule, by in deep["moved"].items()}
    assert f"moves the logits by {moved['DeepNorm']['100']:.0f}, post-norm by {moved['post-norm']['100']:.0f}" in prose
    assert f"from {moved['DeepNorm']['3']:.1f} at 3 layers" in prose


COMPARED = [
    ("12 layers, half as wide", "6 layers"),
    ("3 layers, twice as wide", "6 layers"),
    ("one block", "6 layers"),
    ("one block, own norms", "one block"),
    ("one block, 8.5 times as wide", "6 layers"),
    ("WideNet, 4 experts", "one block, own norms, twice as wide"),
    ("WideNet, 8 experts", "6 layers"),
    ("WideNet, 8 experts", "one block, 8.5 times as wide"),
]


def test_wide_runs_are_as_stored(ran: dict, prose: str) -> None:
    rows = stored("deeper_or_wider")["rows"]
    assert {row for group in ran["GROUPS"].values() for row in group} == set(rows)
    for (row, reference), told in zip(COMPARED, ran["wide_findings"], strict=True):
        assert told.startswith(f"{row} against {reference}: ")
    base = rows["6 layers"]["parameters"]
    for row in (
        "12 layers, half as wide",
        "3 layers, twice as wide",
        "one block, 8.5 times as wide",
        "WideNet, 8 experts",
    ):
        assert rows[row]["parameters"] == pytest.approx(base, rel=0.06)
    assert rows["one block"]["multiply_adds"] == rows["6 layers"]["multiply_adds"]
    operations = {row: of["multiply_adds"] / rows["6 layers"]["multiply_adds"] for row, of in rows.items()}
    assert f"the wide block has {operations['one block, 8.5 times as wide']:.0f} times the operations" in prose
    assert operations["WideNet, 4 experts"] == pytest.approx(
        operations["one block, own norms, twice as wide"], rel=0.01
    )
    mean = ran["mean_of"]
    assert mean["3 layers, twice as wide"] < mean["6 layers"] < mean["12 layers, half as wide"]
    assert f"costs {mean['one block'] - mean['6 layers']:.2f} nats at a fifth of the parameters" in prose
    assert rows["one block"]["parameters"] / base == pytest.approx(0.2, abs=0.02)
    samples = {row: summary(of["dev"]) for row, of in rows.items()}
    corrected = {pair: 8 * welch(samples[pair[0]], samples[pair[1]]) for pair in COMPARED}
    assert [pair for pair, p in corrected.items() if p < 0.05] == [COMPARED[6], COMPARED[7]]
    assert len(ran["theirs_depth"]) == 5
    rivals = max(mean["one block, own norms, twice as wide"], mean["one block, 8.5 times as wide"])
    assert rivals < mean["WideNet, 4 experts"] < mean["WideNet, 8 experts"]


def test_a_student_begins_with_the_reference(ran: dict) -> None:
    X, _ = ran["first_weights"](1)
    assert torch.equal(ran["my_residual"](X), ran["residual"](X))
