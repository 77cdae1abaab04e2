"""The states of a widget: each setting that is drawn shows what the widget itself would show."""

import json
import re
from typing import Any

import ipywidgets
import pytest

from autograder.site import drawn
from autograder.site.packed import packed, taken
from lectures.show import choice, field, held_back, live, menu, predict, slider, tick


def settings(made: drawn.Drawn, node: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """The picture of each setting, by the labels of its controls."""
    if isinstance(node, int):
        return {path: made.pictures[node]}
    options, _, below = node
    parts = [settings(made, child, (*path, made.options[options][at])) for at, child in below.items()]
    return {at: picture for part in parts for at, picture in part.items()}


def test_every_setting_shows_what_the_widget_shows() -> None:
    widget = live(
        lambda n, x, word, on: f"<p>{n} {x:.2f} {word} {on}</p>",
        n=slider(2, 0, 4, 1, "n"),
        x=slider(-0.5, -1.0, 0.0, 0.25, "x"),
        word=choice([("a", "A"), ("b", "B")], "word"),
        on=tick("on"),
    )
    made = drawn.drawn(widget)
    found = settings(made, made.tree)
    assert len(found) == 5 * 5 * 2 * 2
    assert found["3", "−0.75", "b", "yes"] == "<p>3 -0.75 B True</p>"
    assert widget.picture.value == "<p>2 -0.50 A False</p>", "it is as it was"
    widget.controls["n"].value = 4
    assert widget.picture.value == "<p>4 -0.50 A False</p>", "it still answers"


def test_a_control_may_change_what_another_offers() -> None:
    texts = {"short": "ab", "long": "abcd"}
    text, at = menu(texts.items(), "text"), slider(0, 0, 1, 1, "at")
    text.observe(lambda change: setattr(at, "max", len(change["new"]) - 1), names="value")
    made = drawn.drawn(live(lambda text, at: f"{text}[{at}]", text=text, at=at))
    assert settings(made, made.tree) == {
        (name, str(i)): f"{word}[{i}]" for name, word in texts.items() for i in range(len(word))
    }


def test_a_choice_that_empties_a_field_has_its_pictures() -> None:
    text, own = menu(["a", "b"], "text"), field()
    text.observe(lambda _: setattr(own, "value", ""), names="value")
    made = drawn.drawn(live(lambda text, own: own or text, text=text, own=own))
    assert settings(made, made.tree) == {("a", ""): "a", ("b", ""): "b"}


def test_what_is_typed_at_every_key_has_all_its_beginnings() -> None:
    made = drawn.drawn(live(lambda typed: f"<{typed}>", typed=field(value="cat", every_key=True)))
    assert made.pictures == ["<>", "<c>", "<ca>", "<cat>"]


def test_what_was_typed_can_be_typed_again_where_a_choice_empties_it() -> None:
    text, own = choice(["a", "b"], "text"), field(value="xy", every_key=True)
    text.observe(lambda _: setattr(own, "value", ""), names="value")
    made = drawn.drawn(live(lambda text, own: f"{text}:{own}", text=text, own=own))
    assert settings(made, made.tree)["b", "x"] == "b:x"
    assert made.tree[2][1][1] == 0, "it begins empty there"


@pytest.mark.parametrize("n_controls", [1, 2, 3, 6])
def test_too_many_settings_leave_every_control_alive(n_controls: int) -> None:
    controls = {f"c{i}": slider(7 + i, 0, 100, 1, f"c{i}") for i in range(n_controls)}
    plan = drawn.plan_of(list(controls.values()), 60)
    made = drawn._drawn(live(lambda **values: str(values), **controls), plan)
    found = settings(made, made.tree)
    assert len(found) <= 60
    start = tuple(str(7 + i) for i in range(n_controls))
    assert start in found, "the start is among the stops"
    for i in range(n_controls):
        moved = {path[i] for path in found if path[:i] == start[:i] and path[i + 1 :] == start[i + 1 :]}
        assert moved >= {"0", start[i], "100"}, "and so are both ends"


def test_a_menu_too_long_for_all_keeps_its_first_options_and_the_present_one() -> None:
    long = menu(range(3000), "n")
    long.value = 2999
    plan = drawn.plan_of([long, tick("on")], 100)
    assert [stop.label for stop in drawn.stops_of(long, plan.most, plan.listed)] == [*map(str, range(50)), "2999"]


def test_a_slider_over_millions_of_numbers_costs_nothing() -> None:
    labels = [stop.label for stop in drawn.stops_of(slider(72_000, 0, 10**9, 1, "n"), 21)]
    assert 20 < len(labels) < 25
    assert {"0", "72000", str(10**9)} <= set(labels)


def test_the_plan_moves_as_many_controls_as_fit() -> None:
    controls = [slider(0, 0, 10, 1, "n"), slider(0, 0, 10, 1, "m"), tick("on")]
    assert drawn.plan_of(controls, 11 * 11 * 2) == drawn.Plan(3, 1000)
    assert drawn.plan_of(controls, 11 * 11 * 2 - 1).most == 7
    assert drawn.plan_of(controls, 30).moved == 1


def test_packing_loses_nothing() -> None:
    pictures = ["<svg><text>a &lt; b</text></svg>", "<svg><text>“c”</text></svg>", "no tag"]
    script = packed([0, 0, {0: 1}], [["x"]], pictures)
    assert re.fullmatch(r'nlm\.take\("[\w+/=]*"\)', script)
    data = json.loads(taken(script))
    assert ["".join(data["table"][piece] for piece in row) for row in data["pictures"]] == pictures
    assert data["tree"] == [0, 0, {"0": 1}]


def test_widgets_inside_others_and_predictions_are_found() -> None:
    inner = live(lambda n: f"<p>{n}</p>", n=slider(1, 0, 3, 1, "n"))
    with held_back() as table:
        print("a < b")
    asked = predict("How many *words*?", within=2, answer=10, why="So.", reveals=[table, inner])
    gathered = drawn.Gathered()
    page = gathered.html_of(ipywidgets.VBox([ipywidgets.HBox([ipywidgets.Button(description="train")]), asked]))
    assert "<em>words</em>" in page
    assert "a &lt; b" in page
    assert 'data-states="0"' in page
    assert "train" not in page, "a button without a kernel does nothing"
    assert "work in the notebook only" in page
    told = re.search(r'class="nlm-predict"[^>]* data-told="([^"]*)"', page)
    assert told is not None
    assert json.loads(told[1].replace("&quot;", '"'))["right"] == [8, 12]
    assert gathered.report[0]["states"] == 4
    assert list(gathered.scripts) == ["0"]
