"""The widgets of the lecture on modifications: every row opens, differences are tested as the recipe tests them."""

import inspect

import numpy as np
import pytest

from lectures import widgets
from lectures.recipes.narang import THEIRS
from lectures.widgets.do_modifications_transfer import luck, rows, table, verdicts
from lectures.widgets.do_modifications_transfer.columns import VANILLA, interval
from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import holm, paired, summary, welch
from nlmcore.variants import CATALOGUE
from tests.lectures.seen import seen


def run(loss: float) -> dict:
    """One training, as it is stored."""
    tasks = {task: {"loss": loss, "exact": 0.5} for task in ("sounds", "numbers", "spelling")}
    return {"early": 2 * loss, "final": loss, "dev": tasks, "test": tasks, "parameters": 267_408}


def measured(seeds: int = 3) -> dict:
    """Vanilla and two rows of the paper; a seed moves all rows."""

    def row(shift: float) -> list[dict]:
        return [run(3.5 + shift + 0.1 * seed + shift * seed / 100) for seed in range(seeds)]

    return {VANILLA: row(0.0), "GLU": row(-0.2), "ELU": row(0.1)}


@pytest.fixture(scope="module")
def columns() -> dict:
    return widgets.columns(THEIRS, measured())


def test_every_row_of_the_paper_has_its_card() -> None:
    assert list(rows.ABOUT) == list(THEIRS)
    for name, about in rows.ABOUT.items():
        assert set(about.parts) <= set(rows.PARTS)
        assert bool(rows.marked(about.parts)) == (name != VANILLA), "the picture marks what changes"
        code = rows.code_of(name)
        assert f'Variant("{name}", ' in code
        assert all(inspect.getsource(part).strip().split("\n")[0].strip() in code for part in about.code)
        assert CATALOGUE[name].source.split(",")[0].split("&")[0] in rows.card_html(name)


def test_the_marked_parts_are_those_that_the_row_replaces() -> None:
    """What the catalogue changes is what the picture says: a norm, a feed-forward network, attention, …"""
    fields = {"norm": "n", "residual": "r", "feed_forward": "f", "attention": "a", "output": "s", "embedding": "e"}
    for name, about in rows.ABOUT.items():
        changed = {fields[field] for field in CATALOGUE[name].changes if field in fields}
        assert changed <= set(about.parts), name


def test_columns_of_the_rows_that_were_trained(columns: dict) -> None:
    ours = columns["final loss, ours"]
    assert set(ours.values) == {VANILLA, "GLU", "ELU"}
    mean, half = ours.written("GLU").split(" ± ")
    assert mean == "3.3980"
    assert float(half) == pytest.approx(mean_interval([3.3, 3.398, 3.496])[1], abs=1e-4)
    assert ours.written("RMS Norm") == "–"
    assert columns["spelling right, ours"].values["ELU"] == 50
    assert columns["parameters, ours"].values["ELU"] == pytest.approx(267.408)
    assert interval(columns["early loss, theirs"].samples[VANILLA])[1] == pytest.approx(
        2.776 * 0.005 / 5**0.5, rel=1e-3
    )


def test_our_rows_are_compared_seed_by_seed(columns: dict) -> None:
    tests = columns["final loss, ours"].tests()
    losses = {row: [one["final"] for one in of] for row, of in measured().items()}
    assert tests == paired(losses.pop(VANILLA), losses)[0]
    assert tests["GLU"].p < 0.01 < welch(summary(losses["GLU"]), summary([3.5, 3.6, 3.7]))


def test_nothing_is_tested_before_there_are_two_seeds() -> None:
    found = widgets.columns(THEIRS, measured(1))
    assert found["final loss, ours"].tests() == {}
    assert widgets.tested(found) == ["early loss, theirs"]
    assert "52 rows" in seen(widgets.table_explorer(found))


def test_the_table_is_sorted_best_first(columns: dict) -> None:
    widget = widgets.table_explorer(columns)
    assert seen(widget).count("<details style") == 7
    assert "52 rows; first: Switch Transformer, 1.758. ± half of a 95 % interval; ours 3 seeds" in seen(
        widget, by="final loss, theirs"
    )
    assert "Block sharing + Factorized &amp; shared embeddings, 2.385" in seen(widget, worst=True)
    assert seen(widget, first=50).count("<details style") == 3
    assert "▸ Switch Transformer<" in seen(widget)
    best = table.sorted_rows(columns, "WebQ, theirs", False)
    assert best[0] == "Switch Transformer"
    assert table.sorted_rows(columns, "final loss, ours", False)[:3] == ["GLU", VANILLA, "ELU"]
    assert "<b>parameters</b>" not in seen(widget)
    assert "<b>parameters</b>" in seen(widget, show="costs")


def test_a_pair_is_judged(columns: dict) -> None:
    widget = widgets.pair_playground(columns)
    assert "p = 0.0099; corrected 0.13: not after correction" in seen(widget)
    assert "a real difference" in seen(widget, row="GeGLU")
    assert "choose two different rows" in seen(widget, against="GeGLU")
    assert "GeGLU has fewer than two runs" in seen(widget, column="final loss, ours")
    assert "GLU − Vanilla Transformer: -0.202" in seen(widget, row="GLU", against=VANILLA)


def test_a_correction_leaves_seven_rows(columns: dict) -> None:
    alone = {"none": dict, "Holm": holm}
    widget = widgets.correction_playground(
        alone, columns, yours={"none": dict, "Holm": lambda p: dict.fromkeys(p, 1.0)}
    )
    assert "p &lt; 0.05, none: 9 of 51 rows are better than vanilla, 34 worse" in seen(widget)
    assert "yours draws the same picture" in seen(widget)
    assert "p &lt; 0.05, Holm: 7 of 51 rows are better than vanilla, 25 worse" in seen(widget, correction="Holm")
    assert "yours draws a different picture" in seen(widget)
    bad = widgets.correction_playground({"all": lambda p: {}}, columns)
    assert "must return a p for each of the 51 rows" in seen(bad)


def test_the_forest_counts_directions(columns: dict) -> None:
    widget = widgets.forest_playground(columns)
    assert "51 rows compared with vanilla: 7 better, 25 worse, 19 unclear" in seen(widget, column="early loss, theirs")
    told = seen(widget, order="as printed")
    assert told.index(">GeLU<") < told.index(">SwiGLU<") < told.index(">Rezero")


def test_directions() -> None:
    make = verdicts.Comparison
    assert widgets.direction(make(-1.0, 0.1, 0.001, 0.01)) == "better"
    assert widgets.direction(make(1.0, 0.1, 0.001, 0.01)) == "worse"
    assert widgets.direction(make(-1.0, 0.1, 0.001, 0.06)) == "unclear"
    assert (widgets.p_written(0.0123), widgets.p_written(3e-7)) == ("0.012", "10⁻⁷")


def test_luck_shows_a_table_and_many() -> None:
    def play(rows: int, seeds: int, games: int) -> np.ndarray:
        return np.arange(games) % 2 * rows

    def one(rows: int, seeds: int, which: int) -> tuple[np.ndarray, np.ndarray]:
        return np.random.default_rng(which).normal(2, 0.01, (rows + 1, seeds)), np.arange(rows) < 3

    widget = widgets.luck_playground(play, one, yours=lambda rows, seeds, games: np.zeros(3))
    assert "3 of 51 rows “beat” vanilla in this table; at least one does in 50%" in seen(widget)
    assert "play must return 400 counts" in seen(widget)
    assert "2.5 rows on average" in seen(widget, tried=5)


def test_noise_and_its_correlation(columns: dict) -> None:
    widget = widgets.noise_playground(columns, 378)
    assert "WebQ, theirs, all rows (52), as printed: deviation 1.81, ρ with a low final loss +0.73" in seen(widget)
    chance = float(seen(widget, chance=1).split("ρ with a low final loss ")[1].split(".")[0] + "0")
    assert abs(chance) < 0.5
    assert "(29)" in seen(widget, which=widget.controls["which"].options[1])
    assert luck.loss_svg({"a": (1.0, 2.0), "b": (2.0, 3.0)}, "t", "words").count("<circle") == 1


def test_scatter(columns: dict) -> None:
    widget = widgets.scatter_playground(columns, "early loss, theirs", "final loss, theirs")
    assert "52 rows, Spearman&#x27;s ρ = +0.95" in seen(widget)
    assert "Product key memory: 386.6 and 1.798" in seen(widget, x="operations, theirs", find="Product key memory")
    assert "choose two different columns" in seen(widget, y="operations, theirs")
    assert "3 rows" in seen(widget, y="final loss, ours")


def test_a_difference_at_several_lengths() -> None:
    gaps = {"a": {600: [-0.2, -0.1], 1_800: [0.0, 0.0], 5_400: [0.01, 0.03]}, "b": {600: [0.1, 0.1]}}
    widget = widgets.lengths_playground(gaps, {600: 0.5, 1_800: 0.25, 5_400: 0.2})
    assert "a less vanilla: -0.1500 nats after 600 steps" in seen(widget)
    assert "5,400 steps" not in seen(widget).split("nlm-said")[-1].split("less vanilla")[-1], "the end is hidden"
    assert "+0.0000 nats after 1,800 steps, +0.0200 nats after 5,400 steps" in seen(widget, longest=5_400)


def test_known_effects_beside_the_floor() -> None:
    picture = widgets.checks_svg({"vanilla": [0.2, 0.3], "no source": [2.5]}, 2.0, "a title")
    assert "vanilla 0.2, 0.3; no source 2.5" in picture
    assert picture.count("<circle") == 2
