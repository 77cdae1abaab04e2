"""The pictures and widgets of `training_a_generator` follow their numbers and their controls."""

import pytest

from lectures import widgets
from lectures.widgets.training_a_generator import inputs_svg, losses_svg, parted_svg, schedules_svg
from tests.lectures.seen import seen


def test_bars_of_loss_sum_up() -> None:
    picture = losses_svg(["to", "be"], [1.5, 0.25], chosen=1, note="a < b")
    assert "sum 1.75 nats over 2 predictions, mean 0.88" in picture
    assert "be 0.2" in picture
    assert "a &lt; b" in picture
    with pytest.raises(ValueError, match="one loss"):
        losses_svg(["to"], [-1.0])


def test_a_schedule_has_a_dot_where_training_is() -> None:
    lines = {"linear": [1.0, 0.5, 0.0], "flat": [1.0, 1.0, 1.0]}
    picture = schedules_svg([0, 100, 200], lines, step=150, chosen="linear")
    assert "linear, step 150: 0.25" in picture
    assert picture.count("<circle") == 1
    with pytest.raises(ValueError, match="step must lie"):
        schedules_svg([0, 100], {"a": [1.0, 0.0]}, step=101, chosen="a")
    with pytest.raises(ValueError, match="one share per step"):
        schedules_svg([0, 100], {"a": [1.0]}, step=0, chosen="a")


def test_what_is_read_is_said_in_words() -> None:
    picture = inputs_svg(["<bos>", "the", "king"], ["", "a", "lord"], [True, False, True], ["the", "king", "."])
    assert "&lt;bos&gt; [a] king; 67% are true" in picture
    with pytest.raises(ValueError, match="four rows"):
        inputs_svg(["a"], [], [True], ["b"])


def test_two_texts_are_compared_after_the_change() -> None:
    picture = parted_svg("abcdef", "abXdYf", changed=2, names=["one", "two"])
    assert "2 of 3" in picture
    assert "differ in letter 3" in picture
    assert "2 of 3" in parted_svg("abcdef", "abXdYf", changed=2, names=["one", "two"], per_line=4)
    with pytest.raises(ValueError, match="one length"):
        parted_svg("ab", "abc", changed=0, names=["one", "two"])


def test_the_loss_player_shows_what_was_expected() -> None:
    def losses(text):
        words = text.split()
        return words, [float(i + 1) for i in range(len(words))], [[(word.upper(), 0.5)] for word in words]

    player = widgets.loss_player(losses, ["to be or", "not"])
    assert "where “to” occurs, the model expects:   TO  0.50" in seen(player)
    assert "where “or” occurs, the model expects:   OR  0.50" in seen(player, at=3)
    assert "where “not” occurs" in seen(player, sentence="not"), "a shorter sentence: its last word"
    assert "sum 3.00" in seen(player, typed="be it")


def schedule_player(yours=None):
    asked = []

    def read_own(is_true):
        asked.append(is_true)
        return ["", *("own" for _ in is_true[1:])]

    schedules = {"linear": lambda i, half: max(0.0, 1 - 0.5 * i / half), "always": lambda i, half: 1.0}
    player = widgets.schedule_player(
        schedules, read_own, ["<bos>", "a", "b"], ["a", "b", "c"], [0.9, 0.3, 0.7], yours=yours
    )
    return player, asked


def test_the_share_of_truth_falls_with_the_training_step() -> None:
    player, asked = schedule_player()
    assert asked == [(True, True, True)]
    assert "probability 0.50" in seen(player, step=400)
    assert asked[-1] == (True, True, False), "the first is always read true"
    player.controls["half"].value = 200
    assert asked[-1] == (True, False, False)
    assert "probability 1.00" in seen(player, schedule="always")
    assert len(asked) == 3, "what was asked once is kept"


def test_a_reversed_schedule_is_drawn_beside_ours() -> None:
    player, _ = schedule_player(lambda i, half: min(1.0, 0.5 * i / half))
    assert "yours draws a different picture" in seen(player)
    assert "probability 0.00" in seen(player)
    same, _ = schedule_player(lambda i, half: max(0.0, 1 - 0.5 * i / half))
    assert "yours draws the same picture" in seen(same)


def test_one_letter_is_exchanged() -> None:
    player = widgets.parting_player(lambda text, seed: text[-1] * 3 + str(seed), "abcde", ["x", "y"])
    assert "differ in letter 2" in seen(player)
    assert "7 of 7" in seen(player)
    assert "1 of 4" in seen(player, place=4)
    assert "abcdyyyy0" in seen(player, letter="y")
    assert "abcdyyyy2" in seen(player, seed=2)


def test_a_prototype_is_found_and_edited() -> None:
    def edit(sentence, insert, delete):
        if not sentence.startswith("a"):
            return [], ""
        return [(sentence, 1.0), ("a <b>", 0.5)], f"{sentence} +{insert} -{delete}"

    player = widgets.edit_player(edit, ["a b", "q"], insert="x", delete="y")
    assert "a b +x -y" in seen(player)
    assert "0.50   a &lt;b&gt;" in seen(player)
    assert "a b +z -y" in seen(player, insert="z")
    assert "no sentence shares a word" in seen(player, sentence="q")
    assert "a c +z -y" in seen(player, typed="a c")
