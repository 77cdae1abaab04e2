"""Widgets of the last lecture: what they show is what was stored, or what the rule says."""

import numpy as np
import pytest

from lectures import stored, widgets
from lectures.recipes import tuned_layers
from tests.pictures import nameless_in_html


def shown(play: widgets.Live) -> str:
    assert not nameless_in_html(play.picture.value)
    return play.picture.value


def test_layers_show_what_was_stored() -> None:
    facts = tuned_layers.summary()
    play = widgets.habits_by_layers(facts)
    for place in ("2 in the middle", "all but the first"):
        play.controls["place"].value = place
        assert f"{100 * facts['written'][place]['refused']['share'][0]:.0f} %" in shown(play)
    play.controls["data"].value = ", without refusals"
    without = facts["written"]["all but the first, without refusals"]
    assert f"{100 * without['answered']['share'][0]:.0f} %" in shown(play)
    play.controls["place"].value = "untuned"
    assert "was not trained without refusals" in shown(play)


def test_a_transcript_is_compared_with_what_we_want() -> None:
    facts = tuned_layers.summary()
    play = widgets.transcript_browser(facts)
    row = next(i for i, each in enumerate(facts["transcripts"]) if each["tuned, last 2"] == each["wanted"])
    play.controls["which"].value, play.controls["model"].value = row, "tuned, last 2"
    assert "exactly what we want" in shown(play)


def test_beta_moves_the_mark() -> None:
    facts = stored("preference_tuning")
    play = widgets.beta_player(facts)
    assert shown(play).count("P(end)") >= 1
    play.controls["beta"].value = "untuned"
    assert facts["rows"]["untuned"]["answers"][0][:20] in shown(play)


def test_a_typed_text_is_read_by_the_automaton() -> None:
    steps = {"[0-9]{2}": [("", {"a": 0.5, "1": 0.25}, {"1": 1.0}), ("1", {"2": 0.5}, {"2": 1.0})]}
    play = widgets.pattern_player(steps)
    assert "0.500 → not allowed" in shown(play)
    assert "0.250 → 1.000" in shown(play)
    for typed, says in (("1", "is the beginning of a match"), ("12", "is a match"), ("1x", "no match can continue")):
        play.controls["typed"].value = typed
        assert says in shown(play)


def test_guidance_extrapolates() -> None:
    with_, without = np.log(np.array([0.6, 0.3, 0.1])), np.log(np.array([0.2, 0.4, 0.4]))
    play = widgets.guidance_player({"p": (with_, without)}, "abc".__getitem__)
    for gamma, p in ((1.0, [0.6, 0.3, 0.1]), (0.0, [0.2, 0.4, 0.4])):
        play.controls["gamma"].value = gamma
        assert all(f"{x:.3f} (with" in shown(play) for x in p)
    play.controls["gamma"].value = 2.0
    mixed = 0.6**2 / 0.2, 0.3**2 / 0.4, 0.1**2 / 0.4
    assert f"{mixed[0] / sum(mixed):.3f} (with 0.600, without 0.200)" in shown(play)


def test_the_library_marks_shared_words_and_says_when_there_are_none() -> None:
    play = widgets.library_workbench(["gate: opens and shuts", "mask: hides"], ["what opens?"])
    assert ">opens</b>" in shown(play)
    assert "mask" not in shown(play)
    play.controls["typed"].value = "zebra"
    assert "shares a word" in shown(play)


@pytest.mark.parametrize(
    ("kind", "layers", "far"),
    [
        ("one window", 1, 5),
        ("one window", 3, 15),
        ("segments", 5, 5),
        ("segments with cache (XL)", 1, 11),
        ("segments with cache (XL)", 3, 23),
    ],
)
def test_how_far_a_window_reaches(kind: str, layers: int, far: int) -> None:
    play = widgets.reach_player()
    play.controls["kind"].value, play.controls["layers"].value = kind, layers
    assert f"The farthest token that counts is {far} back" in shown(play)


def test_the_best_pair_of_keys_is_always_among_the_candidates() -> None:
    play = widgets.product_key_player()
    for query in range(1, 21):
        play.controls["query"].value = query
        play.controls["k"].value = 1 + query % 4
        assert "The best pair is among" in shown(play)
    assert "2 · 12 = 24" in shown(play)


def test_masks_forms_and_limits() -> None:
    play = widgets.counted_mask({"one": (["a", "b\n"], [False, True])})
    assert "1 of 2 tokens count" in shown(play)
    play = widgets.form_player({"q": {"plain": (["q", "<|im_end|>"], {"x": 0.5})}})
    assert "x 0.50" in shown(play)
    facts = stored("still_missing")
    play = widgets.limits_player(facts)
    for test in ("letters", "negation", "paraphrase", "context"):
        play.controls["test"].value = test
        assert f"{test}: share right" in shown(play)
