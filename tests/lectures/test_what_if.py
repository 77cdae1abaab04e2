"""What the lecture says is what it measured; what it says of papers is what their figures give."""

import itertools
import math
from statistics import fmean, stdev

import pytest
import torch

from lectures import stored, stored_runs
from lectures.recipes import stacks
from nlmcore.metrics.significance import summary, welch


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


def test_the_mask_makes_a_line_of_the_cliff(ran: dict) -> None:
    plain, normed, masked, both = (ran["decline"](*given) for given in ((0, 0), (1, 0), (0, 1), (1, 1)))
    assert plain[2] < -15
    assert normed[2] > -3 > -13 > normed[4], "delayed by two layers, and then as steep"
    assert min(masked) > -3 > -15 > normed[-1]
    assert min(both) > -3


def test_long_rows_collapse_later(ran: dict) -> None:
    assert ran["alone"][2] + 3 < ran["long_left"] < -1


def test_trained_models(ran: dict) -> None:
    smol, mini = ran["residuals"]["SmolLM2"], ran["residuals"]["MiniLM"]
    networks = smol["no networks"]
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


def test_what_the_mixings_reach(ran: dict) -> None:
    for one, other, differ in (("FNet", "random mixing", False), ("linear mixing", "FNet", True)):
        p = welch(*(summary(ran["right"]["letters"][row]) for row in (one, other)))
        assert (p < 0.05) == differ, (one, other)
    assert ran["tests"]["digits"]["no mixing"].p > 0.05


def test_luck_in_their_search(ran: dict) -> None:
    random, plain = stacks.THEIRS["random"], stacks.THEIRS["plain"]
    assert (len(random), len(plain)) == (20, 5)
    assert ran["expected"] == pytest.approx(fmean(plain) - 1.87 * stdev(plain), abs=0.01)
    assert ran["expected"] < min(random) < min(plain)


def test_the_search_is_paired_and_its_rates_are_bracketed(ran: dict) -> None:
    orders, plain, chosen = ran["by_order"], ran["plain_seeds"], ran["SEARCHED"]
    assert len(orders) == len(plain) == 20
    assert {len(of) for of in orders.values()} == {5}
    gaps = [a - b for a, b in zip(orders[chosen][1:], plain[1:5], strict=True)]
    assert ran["retest"].difference == pytest.approx(fmean(gaps))
    for (row, steps), rate in ran["rate_of"].items():
        found = {
            job["rate"]: run["test"]["loss"]
            for run in stored_runs("stacks")
            if ((job := run["job"])["row"], job["steps"], job["seed"]) == (row, steps, 0)
        }
        assert min(found) < rate < max(found)


def test_context_is_used_where_orders_are_compared(ran: dict) -> None:
    assert ran["context_cost"] > stacks.CONTEXT


def test_a_causal_model_needs_two_layers(ran: dict) -> None:
    moved = ran["moved"]
    assert max(moved(depth, False, False)[0] for depth in (1, 2, 4)) < 1e-9
    assert max(moved(1, True, False)) < 1e-9 < 1e-3 < min(moved(2, True, False))
    assert min(moved(1, True, True)) > 1e-3


def test_positions_are_those_of_the_lecture_on_them(ran: dict) -> None:
    assert ran["letters"]["none"] < ran["letters"][ran["best_letters"]]
    assert max(ran["told"]["letters"].values(), key=lambda of: of["theirs"] or 0)["theirs"] == 82.5
    assert ran["told"]["letters"]["none"]["theirs"] == 76.6


def test_deep_runs_are_as_stored(ran: dict) -> None:
    deep = stored("very_deep")
    for depth, name in (("100", "hundred"), ("12", "twelve")):
        for rule, of in deep["runs"][depth].items():
            assert ran[name][rule] == of["dev"]
            assert len(of["dev"]) >= 5
    assert deep["guess"] == pytest.approx(math.log(82), abs=1e-3)
    longer = {rule: of["dev"] for rule, of in deep["longer"].items()}
    assert max(longer["DeepNorm"]) < 3.1 < 3.33 < min(longer["post-norm"])


def test_equal_parameters_are_equal(ran: dict) -> None:
    rows = ran["wide"]
    assert {row for group in ran["GROUPS"].values() for row in group} == set(rows)
    base = rows["6 layers"]["parameters"]
    for row in (
        "12 layers, half as wide",
        "3 layers, twice as wide",
        "one block, 8.5 times as wide",
        "WideNet, 8 experts",
    ):
        assert rows[row]["parameters"] == pytest.approx(base, rel=0.06)
    operations = {row: of["multiply_adds"] / rows["6 layers"]["multiply_adds"] for row, of in rows.items()}
    assert operations["WideNet, 4 experts"] == pytest.approx(
        operations["one block, own norms, twice as wide"], rel=0.01
    )
    assert len(ran["theirs_depth"]) == 5


def test_a_student_begins_with_the_reference(ran: dict) -> None:
    X, _ = ran["first_weights"](1)
    assert torch.equal(ran["my_residual"](X), ran["residual"](X))
