"""Pieces, windows, neighbours, analogies and maps: what is said is what is drawn."""

import xml.dom.minidom as xml

from lectures import widgets
from nlmcore.tokens import trace_training
from nlmcore.tokens.bytepairs import SPLIT, to_bytes


def spoken(drawing: str) -> str:
    return xml.parseString(drawing).documentElement.getAttribute("aria-label")


def split(text: str) -> list[bytes]:
    return [to_bytes(word) for word in SPLIT.findall(text)]


def test_merges_are_followed_one_by_one() -> None:
    widget = widgets.merge_player(trace_training, split, {"a": "aab aab", "b": "€"}, merges=6, at=0)
    assert "no merge yet" in widget.picture.value
    assert "7 tokens for 2 words and punctuation marks: 3.50 each" in widget.picture.value
    widget.controls["step"].value = 1
    assert "merge 1: “a” + “a” → “aa”, which occurred 2 times" in widget.picture.value
    assert "vocabulary: 256 bytes + 1 = 257" in widget.picture.value
    assert "5 tokens for 2 words" in widget.picture.value
    widget.controls["step"].value = 6
    assert "no pair is left to merge" in widget.picture.value
    widget.controls["text"].value = "b"
    widget.controls["step"].value = 0
    assert "⟨e2⟩" in widget.picture.value, "a byte that is not a character"


def test_ones_own_merges_are_drawn_beside() -> None:
    widget = widgets.merge_player(
        trace_training,
        split,
        {"a": "aab aab"},
        merges=3,
        at=1,
        yours=lambda text, steps: list(trace_training("aab aab", steps)),
    )
    assert "yours draws the same picture" in widget.picture.value
    other = widgets.merge_player(trace_training, split, {"a": "aab aab"}, merges=3, at=1, yours=lambda text, steps: [])
    assert "yours draws a different picture" in other.picture.value


def test_the_window_moves() -> None:
    def pairs(words: list, m: int) -> list:
        return [(i, j) for i in range(len(words)) for j in range(len(words)) if 0 < abs(i - j) <= m]

    widget = widgets.window_player(pairs, "a b c d", at=1)
    assert "P(a | b), P(c | b), P(d | b)" in widget.picture.value
    assert "10 pairs" in widget.picture.value
    widget.controls["m"].value = 1
    assert "P(a | b), P(c | b)<" in widget.picture.value
    widget.controls["place"].value = 4
    assert "P(c | d)<" in widget.picture.value


def test_negative_sampling_says_its_loss() -> None:
    widget = widgets.negative_playground(lambda real, noise: 1.5 - real + sum(noise), lambda x: 0.5, ["cheese"])
    assert "loss 0.500" in spoken(widget.picture.value)
    widget.controls["s1"].value = 2.0
    assert "noise: σ(2.0) = 0.500" in spoken(widget.picture.value)
    assert "loss 2.500" in spoken(widget.picture.value)


def test_neighbours_of_a_typed_word() -> None:
    def near(word: str) -> list:
        if word == "zzz":
            raise ValueError("zzz is not there")
        return [(word + "s", 0.5), ("not", -0.2)]

    widget = widgets.neighbours({"one": near, "two": near}, ["king", "love"])
    assert "two: nearest to “king”: kings 0.50, not -0.20." in spoken(widget.picture.value)
    widget.controls["own"].value = "Sword"
    assert "nearest to “sword”: swords" in spoken(widget.picture.value)
    widget.controls["own"].value = "zzz"
    assert "zzz is not there" in widget.picture.value
    widget.controls["word"].value = "love"
    assert "nearest to “love”" in spoken(widget.picture.value)


def test_analogies_say_whether_the_hoped_for_word_came_first() -> None:
    def answer(a: str, b: str, c: str, leave_out: bool) -> list:
        return [("queen", 0.7), ("prince", 0.6)] if leave_out else [(c, 0.9), ("queen", 0.7)]

    widget = widgets.analogies({"ours": answer}, ["man woman king queen", "a b c d"])
    assert "man is to woman as king is to …: queen 0.70, prince 0.60. expected: queen, and it ranks first" in spoken(
        widget.picture.value
    )
    widget.controls["leave_out"].value = False
    assert spoken(widget.picture.value).endswith("king 0.90, queen 0.70. expected: queen")
    widget.controls["own"].value = "one two"
    assert "type three words" in widget.picture.value


def test_a_map_takes_words_of_ones_own() -> None:
    def project(words: list) -> tuple:
        return [[i, i * i] for i in range(len(words))], 0.5

    widget = widgets.word_map(project, {"two": [["a", "b"], ["c", "d"]], "one": [["a", "b", "c"]]})
    assert "keeps 50% of the variance of these 4 vectors" in widget.picture.value
    assert widget.picture.value.count("<line") == 2
    widget.controls["own"].value = "Zounds"
    assert "zounds" in spoken(widget.picture.value)
    widget.controls["choice"].value = "one"
    assert "<line" not in widget.picture.value


def test_a_typed_text_is_cut_by_every_tokenizer() -> None:
    def halves(text: str) -> list[str]:
        raw = text.encode()
        return [part.decode("utf-8", "backslashreplace") for part in (raw[:3], raw[3:])]

    player = widgets.pieces_playground({"letters": list, "halves": halves}, {"one": "a b", "two": "abc\u20ac"})
    assert "3 characters. Tokens: letters 3, halves 2." in player.picture.value
    player.controls["own"].value = "x\u20acz"
    assert "halves: 2 tokens: x⟨e2⟩⟨82⟩ | ⟨ac⟩z." in player.picture.value
    player.controls["own"].value = r"\xe2"
    assert "⟨" not in player.picture.value, "what was typed is no byte"
    player.controls["text"].value = "two"
    assert player.controls["own"].value == ""
    assert "letters 4, halves 2" in player.picture.value
    player.controls["own"].value = "x" * 50
    assert player.picture.value.count("nowrap") == 50 + 2, "letters in lines that can break"
    player.controls["own"].value = "x" * 161
    assert "has room for 160" in player.picture.value
