"""Pieces, windows, neighbours, analogies and maps: what is said is what is drawn."""

from lectures import widgets
from nlmcore.tokens import trace_training
from nlmcore.tokens.bytepairs import SPLIT, to_bytes
from tests.lectures.seen import seen, spoken


def split(text: str) -> list[bytes]:
    return [to_bytes(word) for word in SPLIT.findall(text)]


def test_merges_are_followed_one_by_one() -> None:
    widget = widgets.merge_player(trace_training, split, {"a": "aab aab", "b": "€"}, merges=6, at=0)
    assert "no merge yet" in seen(widget)
    assert "7 tokens for 2 words and punctuation marks: 3.50 each" in seen(widget)
    assert "merge 1: “a” + “a” → “aa”, which occurred 2 times" in seen(widget, step=1)
    assert "vocabulary: 256 bytes + 1 = 257" in seen(widget)
    assert "5 tokens for 2 words" in seen(widget)
    assert "no pair is left to merge" in seen(widget, step=6)
    assert "⟨e2⟩" in seen(widget, text="b", step=0), "a byte that is not a character"


def test_ones_own_merges_are_drawn_beside() -> None:
    widget = widgets.merge_player(
        trace_training,
        split,
        {"a": "aab aab"},
        merges=3,
        at=1,
        yours=lambda text, steps: list(trace_training("aab aab", steps)),
    )
    assert "yours draws the same picture" in seen(widget)
    other = widgets.merge_player(trace_training, split, {"a": "aab aab"}, merges=3, at=1, yours=lambda text, steps: [])
    assert "yours draws a different picture" in seen(other)


def test_the_window_moves() -> None:
    def pairs(words: list, m: int) -> list:
        return [(i, j) for i in range(len(words)) for j in range(len(words)) if 0 < abs(i - j) <= m]

    widget = widgets.window_player(pairs, "a b c d", at=1)
    assert "P(a | b), P(c | b), P(d | b)" in seen(widget)
    assert "10 pairs" in seen(widget)
    assert "P(a | b), P(c | b)<" in seen(widget, m=1)
    assert "P(c | d)<" in seen(widget, place=4)


def test_negative_sampling_says_its_loss() -> None:
    widget = widgets.negative_playground(lambda real, noise: 1.5 - real + sum(noise), lambda x: 0.5, ["cheese"])
    assert "loss 0.500" in spoken(seen(widget))
    assert "noise: σ(2.0) = 0.500" in spoken(seen(widget, s1=2.0))
    assert "loss 2.500" in spoken(seen(widget))


def test_neighbours_of_a_typed_word() -> None:
    def near(word: str) -> list:
        if word == "zzz":
            raise ValueError("zzz is not there")
        return [(word + "s", 0.5), ("not", -0.2)]

    widget = widgets.neighbours({"one": near, "two": near}, ["king", "love"])
    assert "two: nearest to “king”: kings 0.50, not -0.20." in spoken(seen(widget))
    assert "nearest to “sword”: swords" in spoken(seen(widget, own="Sword"))
    assert "zzz is not there" in seen(widget, own="zzz")
    assert "nearest to “love”" in spoken(seen(widget, word="love"))


def test_analogies_say_whether_the_hoped_for_word_came_first() -> None:
    def answer(a: str, b: str, c: str, leave_out: bool) -> list:
        return [("queen", 0.7), ("prince", 0.6)] if leave_out else [(c, 0.9), ("queen", 0.7)]

    widget = widgets.analogies({"ours": answer}, ["man woman king queen", "a b c d"])
    assert "man is to woman as king is to …: queen 0.70, prince 0.60. expected: queen, and it ranks first" in spoken(
        seen(widget)
    )
    assert spoken(seen(widget, leave_out=False)).endswith("king 0.90, queen 0.70. expected: queen")
    assert "type three words" in seen(widget, own="one two")


def test_a_map_takes_words_of_ones_own() -> None:
    def project(words: list) -> tuple:
        return [[i, i * i] for i in range(len(words))], 0.5

    widget = widgets.word_map(project, {"two": [["a", "b"], ["c", "d"]], "one": [["a", "b", "c"]]})
    assert "keeps 50% of the variance of these 4 vectors" in seen(widget)
    assert seen(widget).count("<line") == 2
    assert "zounds" in spoken(seen(widget, own="Zounds"))
    assert "<line" not in seen(widget, choice="one")


def test_a_typed_text_is_cut_by_every_tokenizer() -> None:
    def halves(text: str) -> list[str]:
        raw = text.encode()
        return [part.decode("utf-8", "backslashreplace") for part in (raw[:3], raw[3:])]

    player = widgets.pieces_playground({"letters": list, "halves": halves}, {"one": "a b", "two": "abc\u20ac"})
    assert "3 characters. Tokens: letters 3, halves 2." in seen(player)
    assert "halves: 2 tokens: x⟨e2⟩⟨82⟩ | ⟨ac⟩z." in seen(player, own="x\u20acz")
    assert "⟨" not in seen(player, own=r"\xe2"), "what was typed is no byte"
    assert "letters 4, halves 2" in seen(player, text="two")
    assert player.controls["own"].value == ""
    assert seen(player, own="x" * 50).count("nowrap") == 50 + 2, "letters in lines that can break"
    assert "has room for 160" in seen(player, own="x" * 161)
