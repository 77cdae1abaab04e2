"""A filter that slides, filters that fired, who sees whom, neighbours in place."""

import re

import numpy as np
import pytest

from lectures import widgets
from lectures.widgets.windows_and_convolutions import KINDS, architecture, convolution_svg, fired_svg, reach_svg
from tests.lectures.seen import seen, spoken

WORDS = ["a", "b", "c", "d", "e", "f"]


def convolve(x, w):
    x = np.concatenate([np.zeros(len(w) - 1), x])
    return np.array([w @ x[t : t + len(w)] for t in range(len(x) - len(w) + 1)])


def player(yours=None) -> widgets.Live:
    return widgets.convolution_player(
        convolve, [1, 0, 2, 1, -1, 3], WORDS, {"rise": [-1, 1], "sum": [1, 1, 1]}, yours=yours
    )


def test_the_sum_is_written_out() -> None:
    assert "y at “c” = −1·0 + 1·2 = 2; it has not seen any later word" in spoken(seen(player(), at=2))
    assert "y at “a” = −1·0 + 1·1 = 1" in spoken(seen(player(), at=0)), "a zero is padded in front"
    assert "−1·1 + 1·(−1) = −2" in spoken(seen(player(), at=4))


def test_zeros_on_both_sides_let_the_future_in() -> None:
    said = spoken(seen(player(), chosen="sum", padding="on both sides", at=2))
    assert "y at “c” = 1·0 + 1·2 + 1·1 = 3; it has seen a later word" in said
    assert "= 3; it has not seen any" in spoken(seen(player(), chosen="sum", padding="in front", at=2))
    assert "1·(−1) + 1·3 + 1·0 = 2; it has seen a later word" in spoken(
        seen(player(), chosen="sum", padding="on both sides", at=5)
    ), "past the end there is nothing, and still it would have looked"


def test_a_convolution_of_ones_own() -> None:
    def turned(x, w):
        return convolve(x, w[::-1])

    assert "yours draws the same picture" in seen(player(yours=convolve))
    assert "yours draws a different picture" in seen(player(yours=turned))
    assert "one output per input" in seen(player(yours=lambda x, w: x[1:]))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="label per input"):
        convolution_svg([1.0, 2.0], [1.0], [1.0, 2.0], ["a"], start=0, at=0)
    with pytest.raises(ValueError, match="3 letters have 2 windows of 2"):
        fired_svg("abc", [1.0], width=2, alt="x")
    with pytest.raises(ValueError, match="one strength per word"):
        reach_svg(["a"], ["hidden"], [], (1, 0), [1.0, 2.0])


def fired(text: str) -> widgets.Fired:
    if not text.islower():
        raise ValueError("small letters, please")
    at = np.array([float(text[i : i + 2] == "ab") for i in range(len(text) - 1)])
    other = np.array([0.5 * (letter == "c") for letter in text])
    return widgets.Fired(list(text), [(2, at), (1, other)], np.array([2 * at.max(), -other.max()]), ("A", "C"), 0.75)


def test_the_explorer_goes_by_the_pull() -> None:
    widget = widgets.filter_explorer(fired, ["xxabc", "cc"])
    assert "filter 1, 2 letters wide" in seen(widget)
    assert "its strongest window, “ab”, pulls 2.00 towards “A”" in seen(widget)
    assert "“c”, pulls 0.50 towards “C”" in seen(widget, rank=2)
    assert "filter 2, 1 letters wide" in seen(widget, text="cc", rank=1), "here the other one pulls more"
    assert "small letters" in seen(widget, own="NO")
    with pytest.raises(ValueError, match="at least one"):
        widgets.filter_explorer(fired, [])


def lit_words(drawing: str) -> int:
    return int(re.search(r"reached from (\d+) words", drawing)[1])


@pytest.mark.parametrize(
    ("kind", "layers", "kernel", "dilated", "words"),
    [
        ("window", 3, 2, False, 2),
        ("convolution", 1, 3, False, 3),
        ("convolution", 2, 3, False, 5),
        ("convolution", 2, 2, True, 4),
        ("recurrent", 1, 2, False, 6),
        ("attention", 1, 2, False, 6),
    ],
)
def test_what_is_lit(kind: str, layers: int, kernel: int, dilated: bool, words: int) -> None:
    dilations = tuple(2**i if dilated else 1 for i in range(layers))
    rows, edges = architecture(kind, layers, kernel, dilations, 6)
    assert lit_words(reach_svg(WORDS, rows, edges, (len(rows), 5), np.ones(6))) == words
    assert all(start[1] <= end[1] for start, end in edges), "nothing comes from the future"


def test_the_playground_shows_what_was_measured() -> None:
    asked = []

    def measure(kind, layers, kernel, dilations, at):
        asked.append((kind, layers, kernel, dilations, at))
        return [0, 0, 0, 0.1, 0.2, 0.3]

    widget = widgets.reach_playground(measure, WORDS)
    assert "measured: 3 words have a nonzero gradient" in seen(widget)
    assert "it depends on 3: d e f" in seen(widget)
    widget.controls["spread"].value = "1, 2, 4, …"
    assert asked[-1] == ("convolution", 3, 2, (1, 2, 4), 5)
    pictures = {seen(widget)}
    for kind in KINDS[1:]:
        pictures.add(seen(widget, kind=kind))
        for control, value in (("layers", 2), ("kernel", 3), ("spread", "1, 1, 1, …"), ("at", 2)):
            before, kept = seen(widget), widget.controls[control].value
            assert seen(widget, **{control: value}) != before, f"{kind}: {control} says nothing"
            seen(widget, **{control: kept})
    assert len(pictures) == len(KINDS)
    count = len(asked)
    widget.controls["kind"].value = "convolution"
    assert len(asked) == count, "measurements are cached"


def test_both_models_are_shown() -> None:
    def continued(context: str, rank: int) -> widgets.Continued:
        best = {"counted": [("\n", 0.5), ("b", 0.1)], "learned": [("c", 0.25)]}
        return widgets.Continued([context, str(rank)], "never seen", best)

    widget = widgets.neighbour_playground(continued, ["x", "y"], neighbours=3)
    assert "“x 0 …”" in seen(widget)
    assert all(part in seen(widget) for part in ("never seen", "counted", "learned", "↵", ">0.250<"))
    assert "“x 2 …”" in seen(widget, rank=2)
