"""Byte pairs beside the textbook's loop, and beside the Hugging Face trainer and encoder (Rust), on the same texts."""

import json
import unicodedata
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from nlmcore.tokens import BPETokenizer, trace_training
from nlmcore.tokens.bytepairs import SPLIT, count_words, learn_merges

PROSE = """It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of
foolishness -- we had everything before us, we had nothing before us; 1775 or 1,775?  "I'd say they're all
going direct to Heaven," said Mr. L'Église; 日本語の文章、здравствуй, мир!\r\n\tnaïve café ☕🏴‍☠️ x² ½ ...... ------"""


def gpt2_alphabet() -> dict[str, int]:
    """Character to byte, as in GPT-2's encoder.py, `bytes_to_unicode`."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(b): b for b in kept}
    table.update({chr(256 + n): b for n, b in enumerate(b for b in range(256) if b not in kept)})
    return table


ALPHABET = gpt2_alphabet()


def peer(texts: list[str], vocab_size: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=["<pad>", "<bos>", "<eos>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def to_bytes(token: str) -> bytes:
    return bytes(ALPHABET[c] for c in token)


def assert_equal_to_peer(texts: list[str], vocab_size: int) -> None:
    ours, theirs = BPETokenizer.train(texts, vocab_size), peer(texts, vocab_size)
    merges = [tuple(map(to_bytes, pair)) for pair in json.loads(theirs.to_str())["model"]["merges"]]
    assert ours.merges == merges
    assert ours.vocab_size == theirs.get_vocab_size()
    vocabulary = sorted(theirs.get_vocab(), key=theirs.get_vocab().get)
    assert ours.vocabulary[3:] == [to_bytes(token) for token in vocabulary[3:]]
    for text in texts:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids


# Both sides must know a character to be a letter, so only such as have long been assigned.
assigned = st.characters(exclude_categories=["Cs"]).filter(lambda c: unicodedata.ucd_3_2_0.category(c) != "Cn")


@settings(deadline=None)
@given(st.lists(st.text(assigned, max_size=25), min_size=1, max_size=3), st.integers(259, 330))
def test_merges_and_ids_equal_the_peers_on_any_text(texts, vocab_size):
    if any(texts):
        assert_equal_to_peer(texts, vocab_size)


@settings(deadline=None)
@given(st.lists(st.text("ab c\n'st-1é", max_size=40), min_size=1, max_size=4), st.integers(259, 400))
def test_merges_and_ids_equal_the_peers_where_ties_abound(texts, vocab_size):
    if any(texts):
        assert_equal_to_peer(texts, vocab_size)


def test_merges_and_ids_equal_the_peers_on_prose():
    assert_equal_to_peer([PROSE, PROSE[:99], PROSE[55:300]], 700)


@given(st.text(st.characters(), max_size=40))
def test_every_string_comes_back_though_none_was_trained_on(text):
    tokenizer = BPETokenizer.train(["aa"], 260)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_lone_surrogates_come_back():
    tokenizer = BPETokenizer.train([PROSE], 400)
    for text in ("\ud800", "a\udfffb", "\ud83d\ude00", "\U0001f600"):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_ids_that_are_no_utf8_decode_to_replacement_characters():
    tokenizer = BPETokenizer([])
    broken = tokenizer.encode("é")[:1]
    assert tokenizer.decode([*tokenizer.encode("a"), *broken]) == "a\ufffd"


@pytest.mark.parametrize("text", ["a" * 20_001, "ab" * 10_000, "".join(chr(97 + n * n % 26) for n in range(20_000))])
def test_a_word_as_long_as_a_book_is_soon_done(text):
    tokenizer = BPETokenizer.train([text], 300)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert len(ids) < len(text) / 2


def test_training_stops_when_nothing_is_left_to_merge():
    tokenizer = BPETokenizer.train(["ab ab"], 1000)
    assert tokenizer.merges == [(b"a", b"b"), (b" ", b"ab")]
    assert tokenizer.vocab_size == 261
    assert BPETokenizer.train(["ab ab"], 259).merges == []


def test_a_full_cache_changes_nothing(monkeypatch):
    tokenizer = BPETokenizer.train([PROSE], 500)
    once = tokenizer.encode(PROSE)
    monkeypatch.setattr("nlmcore.tokens.bytepairs._CACHE_SIZE", 2)
    assert BPETokenizer(tokenizer.merges).encode(PROSE) == once


def test_trace_shows_the_merges_of_one_word():
    tokenizer = BPETokenizer.train(["low low low lower newest newest widest"], 270)
    steps = tokenizer.trace(" lowest")
    assert steps[0] == [b" ", b"l", b"o", b"w", b"e", b"s", b"t"]
    assert all(b"".join(step) == b" lowest" for step in steps)
    assert [len(step) for step in steps] == sorted((len(step) for step in steps), reverse=True)
    assert steps[-1] == [tokenizer.vocabulary[i] for i in tokenizer.encode(" lowest")]
    for word in ("", "two words", None):
        with pytest.raises((ValueError, TypeError), match="word"):
            tokenizer.trace(word)


def test_trace_training_shows_every_word_after_every_merge():
    texts = ["low low low lower newest newest widest", "aaaaa"]
    steps = list(trace_training(texts, 8))
    tokenizer = BPETokenizer.train(texts, 259 + 8)
    assert [step.pair for step in steps] == tokenizer.merges
    for word, pieces in steps[-1].words.items():
        assert pieces == [tokenizer.vocabulary[i] for i in tokenizer.encode(word.decode())]
    assert len(list(trace_training(["ab"], 99))) == 1


def test_merges_may_be_given():
    tokenizer = BPETokenizer([(b"a", b"b"), (b"ab", b"c")])
    assert tokenizer.encode("abc") == [260]
    for merges in ([(b"ab", b"c")], [(b"a", b"b"), (b"a", b"b")], [(b"", b"a")], [("a", "b")]):
        with pytest.raises((ValueError, TypeError), match="merges"):
            BPETokenizer(merges)


def test_bad_vocab_size():
    for size in (258, 0, -1, 0x110001):
        with pytest.raises(ValueError, match=rf"vocab_size must be in \[259, 1114112\], got {size}"):
            BPETokenizer.train("ab", size)


def test_words_are_gpt2s_split():
    assert SPLIT.findall("I'll go  to 42nd\n\n st. --O!") == [
        *("I", "'ll", " go", " ", " to", " 42", "nd", "\n\n", " st", ".", " --", "O", "!"),
    ]
    assert count_words(["so so", "so"]) == {b"so": 2, b" so": 1}


def test_merges_are_worked_out_when_asked_for():
    learner = learn_merges({b"abab": 3})
    assert tuple(next(learner)) == (b"a", b"b", 6)
    assert [merge.frequency for merge in islice(learner, 9)] == [3]
