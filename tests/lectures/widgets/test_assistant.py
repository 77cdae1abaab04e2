"""Widgets of the last lecture: what they show is what was stored, or what the rule says."""

import numpy as np
import pytest

from lectures import stored, widgets
from lectures.recipes import tuned_layers
from tests.lectures.seen import seen


def test_layers_show_what_was_stored() -> None:
    facts = tuned_layers.summary()
    play = widgets.habits_by_layers(facts)
    for place in ("2 in the middle", "all but the first"):
        assert f"{100 * facts['written'][place]['refused']['share'][0]:.0f} %" in seen(play, place=place)
    without = facts["written"]["all but the first, without refusals"]
    assert f"{100 * without['answered']['share'][0]:.0f} %" in seen(play, data=", without refusals")
    assert "was not trained without refusals" in seen(play, place="untuned")


def test_a_transcript_is_compared_with_what_we_want() -> None:
    facts = tuned_layers.summary()
    play = widgets.transcript_browser(facts)
    row = next(i for i, each in enumerate(facts["transcripts"]) if each["tuned, last 2"] == each["wanted"])
    assert "exactly what we want" in seen(play, which=row, model="tuned, last 2")


def test_beta_moves_the_mark() -> None:
    facts = stored("preference_tuning")
    play = widgets.beta_player(facts)
    assert "P(end)" in seen(play)
    assert facts["rows"]["untuned"]["answers"][0][:20] in seen(play, beta="untuned")


def test_a_typed_text_is_read_by_the_automaton() -> None:
    steps = {"[0-9]{2}": [("", {"a": 0.5, "1": 0.25}, {"1": 1.0}), ("1", {"2": 0.5}, {"2": 1.0})]}
    play = widgets.pattern_player(steps)
    assert "0.500 → not allowed" in seen(play)
    assert "0.250 → 1.000" in seen(play)
    for typed, says in (("1", "is the beginning of a match"), ("12", "is a match"), ("1x", "no match can continue")):
        assert says in seen(play, typed=typed)


def test_guidance_extrapolates() -> None:
    with_, without = np.log(np.array([0.6, 0.3, 0.1])), np.log(np.array([0.2, 0.4, 0.4]))
    play = widgets.guidance_player({"p": (with_, without)}, "abc".__getitem__)
    for gamma, p in ((1.0, [0.6, 0.3, 0.1]), (0.0, [0.2, 0.4, 0.4])):
        picture = seen(play, gamma=gamma)
        assert all(f"{x:.3f} (with" in picture for x in p)
    mixed = 0.6**2 / 0.2, 0.3**2 / 0.4, 0.1**2 / 0.4
    assert f"{mixed[0] / sum(mixed):.3f} (with 0.600, without 0.200)" in seen(play, gamma=2.0)


def test_the_library_marks_shared_words_and_says_when_there_are_none() -> None:
    play = widgets.library_workbench(["gate: opens and shuts", "mask: hides"], ["what opens?"])
    assert ">opens</b>" in seen(play)
    assert "mask" not in seen(play)
    assert "shares a word" in seen(play, typed="zebra")


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
    assert f"The farthest token that counts is {far} back" in seen(play, kind=kind, layers=layers)


def test_the_best_pair_of_keys_is_always_among_the_candidates() -> None:
    play = widgets.product_key_player()
    for query in range(1, 21):
        assert "The best pair is among" in seen(play, query=query, k=1 + query % 4)
    assert "2 · 12 = 24" in seen(play)


def test_masks_forms_and_limits() -> None:
    assert "1 of 2 tokens count" in seen(widgets.counted_mask({"one": (["a", "b\n"], [False, True])}))
    assert "x 0.50" in seen(widgets.form_player({"q": {"plain": (["q", "<|im_end|>"], {"x": 0.5})}}))
    play = widgets.limits_player(stored("still_missing"))
    for test in ("letters", "negation", "paraphrase", "context"):
        assert f"{test}: share right" in seen(play, test=test)
