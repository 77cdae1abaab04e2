"""An encoder and a decoder: which words are read, which are fed back, and in which direction the encoder reads."""

import re

import pytest

from lectures import show
from lectures.show.svg import ORANGE

SOURCE, TARGET = ["twenty", "one", "<eos>"], ["ein", "und", "zwanzig", "<eos>"]


def words(picture: str) -> list[str]:
    return [
        word.replace("&lt;", "<").replace("&gt;", ">") for word in re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    ]


def arrows(picture: str, colour: str = "#555555") -> int:
    return len(re.findall(rf'<polygon points="[^"]*" fill="{colour}"', picture))


def test_the_decoder_begins_with_bos_and_reads_what_it_wrote() -> None:
    picture = show.encoder_decoder_svg(SOURCE, TARGET, alt="a network")
    told = words(picture)
    assert told.count("<bos>") == 1
    assert [told.count(word) for word in TARGET] == [2, 2, 2, 2], (
        "written and read; <eos> is written, and ends the source"
    )
    assert arrows(picture, ORANGE) == 3, "every written word but the last is read at the next step"
    assert "c" in told


def steps_between_states(picture: str, y: str) -> list[bool]:
    """Of each arrow between states, in the order of drawing: does it lead to the right?"""
    found = re.findall(rf'<line x1="([\d.]+)" y1="{y}" x2="([\d.]+)" y2="{y}" stroke="#555555"', picture)
    return [float(end) > float(start) for start, end in found]


@pytest.mark.parametrize("backward", [False, True])
def test_the_encoder_reads_in_its_direction(backward: bool) -> None:
    picture = show.encoder_decoder_svg(SOURCE, TARGET, backward=backward, alt="a network")
    states = [word for word in words(picture) if word.startswith("h")]
    assert states == (["h₃", "h₂", "h₁"] if backward else ["h₁", "h₂", "h₃"])
    y = re.search(r'x1="[\d.]+" y1="([\d.]+)" x2="[\d.]+" y2="\1" stroke="#555555"', picture)[1]
    assert steps_between_states(picture, y)[:2] == [not backward] * 2


def test_attention_mixes_every_state() -> None:
    picture = show.encoder_decoder_svg(["a", "b"], ["c", "d"], weights=[0.25, 0.75], alt="a network")
    told = words(picture)
    assert {"0.25", "0.75", "c₂", "asks", "gives"} <= set(told)
    wide = [float(w) for w in re.findall(r'stroke="#009E73" stroke-width="([\d.]+)"', picture)]
    assert wide == [1 + 9 * 0.25, 1 + 9 * 0.75]


def test_what_is_to_come_is_pale_and_its_words_are_hidden() -> None:
    pale = [
        show.encoder_decoder_svg(SOURCE, TARGET, step=step, alt="a network").count('<g opacity="0.3">')
        for step in range(13)
    ]
    assert pale == sorted(pale, reverse=True)
    assert pale[-1] == 0
    assert len(set(pale)) == 13, "every step changes the picture"
    whole = show.encoder_decoder_svg(SOURCE, TARGET, alt="a network")
    assert whole.count("<g") == 0
    with pytest.raises(ValueError, match="a row per word, 3 and 4"):
        show.encoder_decoder_svg(SOURCE, TARGET, states=([[1.0]], [[1.0]]), alt="a network")


@pytest.mark.parametrize(
    ("source", "target", "weights", "told"),
    [
        (["a"], ["b"], [0.5, 0.5], "one weight per source word"),
        ([], ["b"], None, "source and target"),
        (["a"], [], None, "target"),
    ],
)
def test_what_does_not_fit_is_refused(
    source: list[str], target: list[str], weights: list[float] | None, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        show.encoder_decoder_svg(source, target, weights=weights, alt="x")
    with pytest.raises(ValueError, match="alternative text"):
        show.encoder_decoder_svg(["a"], ["b"], alt=" ")
