"""Widgets on stored runs: what is drawn is the run that the controls choose."""

import re

import pytest

from lectures import widgets
from lectures.recipes.false_pages import ARMS, facts
from tests.lectures.seen import seen

TOYS = {
    "sparsities": [0.0, 0.9],
    "rows": {
        name: [
            {
                "weight": [[[length, 0.0], [0.0, 1.0]], [[0.1, 0.0], [0.0, length]]],
                "loss": [0.25, 0.5],
                "kept": [2, 1],
                "dimensionality": [[1.0, 1.0], [0.0, 1.0]],
            }
            for length in lengths
        ]
        for name, lengths in (("ReLU", (1.0, 0.9)), ("linear", (0.8, 0.7)))
    },
}


def test_arrows_are_those_of_the_chosen_toy() -> None:
    widget = widgets.superposition_player(TOYS)
    assert "length 1.00, 1.00" in seen(widget)
    assert "length 0.90, 1.00" in seen(widget, sparsity=0.9)
    assert "length 0.70, 1.00" in seen(widget, model="linear")
    assert "length 0.10, 0.70" in seen(widget, seed=2)
    assert "1 of 2 directions are longer than 0.5; the loss is 0.50" in seen(widget)


def test_a_long_arrow_ends_where_its_direction_says() -> None:
    drawn = widgets.directions_svg([[1.0, 0.0], [0.0, -1.0]], alt="two", reach=2.0, size=400)
    tips = [tuple(map(float, m)) for m in re.findall(r'<polygon points="([\d.]+),([\d.]+) ', drawn)]
    assert tips == [(300.0, 206.0), (200.0, 306.0)], "right, and down from the middle"


def test_f1_of_a_label_or_of_all() -> None:
    result = {
        "labels": ["a vowel", "a stop"],
        "f1": {"sparse autoencoder": [[0.2, 0.4], [0.4, 0.6]], "random directions": [[0.1, 0.9]]},
    }
    widget = widgets.f1_player(result)
    assert "sparse autoencoder 0.30 to 0.50; random directions 0.50 to 0.50" in seen(widget)
    assert "sparse autoencoder 0.40 to 0.60; random directions 0.90 to 0.90" in seen(widget, label="a stop")


def test_ranks_are_those_of_the_chosen_training() -> None:
    rows = {
        "rate 0.001": [{"secrets": [[0, 400, 1.0, "a", "b"], [0, 600, 1.0, "a", "b"], [3, 2, 1.0, "a", "b"]]}],
        "deduplicated": [{"secrets": [[0, 400, 1.0, "a", "b"], [3, 300, 1.0, "a", "b"]]}],
    }
    widget = widgets.planted_player({"rows": rows, "times": [0, 3], "candidates": 1000}, "rate 0.001")
    assert "median rank after 0, 3 copies: 500, 2;" in seen(widget)
    assert "median rank after 0, 3 copies: 400, 300;" in seen(widget, training="deduplicated")


def test_an_occupation_is_drawn_with_its_template_and_statistic() -> None:
    result = {
        "templates": ["The {} said", "A {} ran"],
        "scores": {"nurse": [2.0, 1.0], "smith": [-1.0, 0.5]},
        "women": {"nurse": [60.0, 90.0], "smith": [1.0, 5.0]},
    }
    widget = widgets.occupation_player(result)
    assert "1 of 2 occupations lean towards “she”; nurse: +1.50" in seen(widget)
    assert "2 of 2 occupations lean" in seen(widget, template="A {} ran")
    assert "smith: +0.50" in seen(widget, occupation="smith")
    assert "of its mentions, A {} ran" in seen(widget, statistic="of its mentions")


@pytest.mark.parametrize("arm", list(ARMS))
def test_a_page_is_shown_with_its_reply(arm: str) -> None:
    replies = {name: {"shown": [f"{name} 0", f"{name} 1"], "taken": [1, 0], "right": [0, 0]} for name in ARMS}
    widget = widgets.page_player(facts(), replies, ARMS)
    assert f"{arm} 0".replace("'", "&#x27;") in seen(widget, arm=arm)
    assert "holds what was planted" in seen(widget)
    assert "holds neither" in seen(widget, fact=1)
    assert "Mount Tarsk is 2,914 metres high" in seen(widget)
