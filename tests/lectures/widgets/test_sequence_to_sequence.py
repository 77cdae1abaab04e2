"""Sequence to sequence in pictures: what is wrong is marked, neighbours are named, widgets use what they are handed."""

import numpy as np
import pytest

from lectures import widgets
from lectures.widgets.sequence_to_sequence import translation_svg, wrong_places
from tests.lectures.seen import seen

PLANE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("written", "reference", "wrong"),
    [
        ("drei und zwanzig", "drei und zwanzig", [False, False, False]),
        ("vier und zwanzig", "drei und zwanzig", [True, False, False]),
        ("und zwanzig", "drei und zwanzig", [False, False]),
        ("drei und und zwanzig", "drei und zwanzig", [False, False, True, False]),
        ("elf", "drei und zwanzig", [True]),
    ],
)
def test_what_does_not_fit_is_marked(written: str, reference: str, wrong: list[bool]) -> None:
    found = wrong_places(written.split(), reference.split())
    assert sum(found) == sum(wrong)
    if written != "drei und und zwanzig":  # which of two equal words is one too many is a matter of taste
        assert found == wrong


def test_a_right_translation_says_so_and_a_wrong_one_shows_the_answer() -> None:
    right = translation_svg(["one"], [("c", [0.5, -0.5])], ["eins"], reference=["eins"])
    assert "right in every word" in right
    assert ">reference<" not in right
    wrong = translation_svg(["one"], [("c", [0.5])], ["zwei"], reference=["eins"])
    assert "wrong words: 1 of 1" in wrong
    assert ">reference<" in wrong
    assert wrong.count("stroke-dasharray") == 1
    with pytest.raises(ValueError, match="at least one"):
        translation_svg([], [], ["eins"])
    with pytest.raises(ValueError, match="vector"):
        translation_svg(["one"], [("c", [[1.0]])], [])


def test_long_rows_wrap() -> None:
    short, long = (translation_svg(["thousand"] * n, [], ["tausend"]) for n in (2, 30))
    assert float(long.split('viewBox="0 0 860 ')[1].split('"')[0]) > 60 + float(
        short.split('viewBox="0 0 860 ')[1].split('"')[0]
    )


def test_the_translator_is_the_one_it_is_handed() -> None:
    def spell(number: int) -> str:
        return "one " * number

    def answer(number: int) -> str:
        return " ".join(["eins"] * number)

    def translate(words: str) -> list[str]:
        return ["eins"] * len(words.split())

    ways = {"short": lambda words: ["eins"]}
    widget = widgets.translator_playground(
        translate, lambda words: [0.1], spell, answer, ways=ways, number=3, highest=9
    )
    assert "right in every word" in seen(widget)
    assert ">reference<" in seen(widget, way="short")
    beside = widgets.translator_playground(
        translate, lambda words: [0.1], spell, answer, number=3, highest=9, yours=lambda words: ["zwei"]
    )
    assert list(beside.controls) == ["number"]
    assert "yours draws a different picture" in seen(beside)


def test_the_decoder_is_stepped() -> None:
    def run(source: str) -> list[widgets.DecodingStep]:
        words = [*source.upper().split(), "<eos>"]
        return [widgets.DecodingStep([0.1 * i], [(word, 0.9), ("x", 0.1)]) for i, word in enumerate(words)]

    widget = widgets.decoder_player(run, ["a b", "c"], [[0.0], [1.0]])
    assert "the decoder has read &lt;bos&gt;" in seen(widget)
    assert "the decoder has read A" in seen(widget, step=2)
    assert "nothing is written yet" in seen(widget, step=0)
    assert "step 2" in seen(widget, source="c", step=3), "the last step of a shorter one"


def test_a_translation_plays_in_time() -> None:
    """Nothing is seen before it has happened, and what is written is read at the next step."""
    words = {"a b": ["X", "Y", "<eos>"], "c": ["Z", "<eos>"]}

    def run(source: str) -> list[widgets.DecodingStep]:
        return [widgets.DecodingStep([0.5, -0.5], [(word, 0.9), ("no", 0.1)]) for word in words[source]]

    def encode(source: str) -> list[list[float]]:
        return [[float(i), 0.0] for i in range(len(source.split()) + 1)]

    player = widgets.time_player(encode, run, list(words), backward=True)
    last = player.controls["step"].max
    assert last == 3 + 1 + 2 * 3
    pictures = [seen(player, step=step) for step in range(last + 1)]
    counted = [(picture.count(">X<"), picture.count("<image")) for picture in pictures]
    assert counted == [(0, min(i, 3)) for i in range(5)] + [(0, 4), (1, 4), (2, 5), (2, 5), (2, 6), (2, 6)]
    assert "h₁ reads “&lt;eos&gt;”. Its 2 values begin 0.00, 0.00" in seen(player, step=1), "from right to left"
    assert "s₂ reads “X”, the word just written. Next word: Y 0.900" in seen(player, step=7)
    assert "It ends the text." in seen(player, step=last)
    assert "after step 7 of 7" in seen(player, source="c"), "a shorter one has ended"


def test_the_map_follows_the_choice_and_the_shade() -> None:
    vectors = np.eye(4)
    vectors[1] = vectors[0] + 0.01
    widget = widgets.vector_map(
        vectors,
        NAMES,
        {"one": ([1, 2, 3, 4], "1", "4"), "two": ([4, 3, 2, 1], "1", "4")},
        choices=[0, 2],
        neighbours=1,
    )
    assert "nearest to “a” in all 4 dimensions: b." in seen(widget)
    assert seen(widget) != seen(widget, shade="two")
    assert "nearest to “c”" in seen(widget, chosen=2)


def test_words_are_read_aloud_chosen_or_typed() -> None:
    widget = widgets.pronouncer(
        lambda word: list(word.upper()),
        lambda word: [0.5],
        ["cat", "dog"],
        lambda word: ["C A T"] if word == "cat" else [],
    )
    assert "right in every word" in seen(widget)
    assert "the dictionary does not have this word" in seen(widget, own="Zoë's")
    assert "Source: z o &#x27; s" in seen(widget)
    assert "1 to 24 letters" in seen(widget, own="x" * 40)
    assert "Source: d o g" in seen(widget, word="dog")
    assert widget.controls["own"].value == ""
