"""Laws that every tokenizer is held to."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nlmcore.tokens import BPETokenizer, CharTokenizer, WordTokenizer, decode_stream

TEXT = "To be, or not to be:\n  that is the question--'tis (so they say) <pad> <bos> <eos> 3.5 naïve 字 \t!"
TOKENIZERS = {
    "characters": CharTokenizer.fit([TEXT]),
    "words": WordTokenizer.fit([TEXT]),
    "bytes": BPETokenizer.train([TEXT], 300),
}
every = pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS.keys())


@every
def test_the_text_it_was_made_from_comes_back(tokenizer):
    ids = tokenizer.encode(TEXT)
    assert tokenizer.decode(ids) == TEXT
    assert all(len(tokenizer.special) <= i < tokenizer.vocab_size for i in ids)
    assert tokenizer.decode(torch.tensor(ids)) == TEXT


@every
@given(text=st.text(alphabet=sorted(set(TEXT)), max_size=30))
def test_every_covered_string_comes_back(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.unk in ids or tokenizer.decode(ids) == text


@every
@given(
    parts=st.lists(st.sampled_from(["<pad>", "<bos>", "<eos>", " ", "be", ",", "\n", "<", ">", "  ", "("]), max_size=9)
)
def test_special_tokens_come_back_if_they_are_allowed(tokenizer, parts):
    text = "".join(parts)
    ids = tokenizer.encode(text, allow_special=True)
    assert tokenizer.unk in ids or tokenizer.decode(ids) == text
    special = [tokenizer.special.index(p) for p in parts if p in tokenizer.special]
    assert [i for i in ids if i < 3] == special
    plain = tokenizer.encode(text)
    assert tokenizer.unk in plain or tokenizer.decode(plain) == text
    assert all(i >= len(tokenizer.special) or i == tokenizer.unk for i in plain)


@every
def test_special_ids_stand_first(tokenizer):
    assert (tokenizer.pad, tokenizer.bos, tokenizer.eos) == (0, 1, 2)
    assert tokenizer.decode([1, 2, 0]) == "<bos><eos><pad>"
    assert tokenizer.decode([1, *tokenizer.encode("To be"), 2, 0, 0], skip_special=True) == "To be"
    assert tokenizer.unk == (None if isinstance(tokenizer, BPETokenizer) else 3)


@every
def test_it_survives_json(tokenizer):
    again = type(tokenizer).from_json(tokenizer.to_json())
    assert again.vocabulary == tokenizer.vocabulary
    assert again.encode(TEXT) == tokenizer.encode(TEXT)


@every
def test_pieces_label_every_id(tokenizer):
    pieces = tokenizer.pieces("To be, or")
    assert len(pieces) == len(tokenizer.encode("To be, or"))
    assert "".join(pieces).replace(" ", "") == "Tobe,or"


@every
def test_one_string_is_one_text_and_an_iterator_will_do(tokenizer):
    make = type(tokenizer).train if isinstance(tokenizer, BPETokenizer) else type(tokenizer).fit
    arguments = (300,) if isinstance(tokenizer, BPETokenizer) else ()
    for texts in (TEXT, iter([TEXT])):
        assert make(texts, *arguments).vocabulary == tokenizer.vocabulary


@every
def test_nothing_encodes_to_nothing(tokenizer):
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""


@every
def test_bad_input_is_refused_by_name(tokenizer):
    for text in (None, b"be", ["be"], 3):
        with pytest.raises(TypeError, match="text"):
            tokenizer.encode(text)
    for i in (-1, tokenizer.vocab_size):
        with pytest.raises(ValueError, match=rf"\[0, {tokenizer.vocab_size}\).*got {i}"):
            tokenizer.decode([5, i])
    for ids in (3, None, ["be"], [1.5], [4, True], "be", torch.tensor([0.5]), torch.tensor([[1, 2]])):
        with pytest.raises(TypeError, match="ids"):
            tokenizer.decode(ids)
    make = type(tokenizer).train if isinstance(tokenizer, BPETokenizer) else type(tokenizer).fit
    arguments = (300,) if isinstance(tokenizer, BPETokenizer) else ()
    for texts in ([], "", ["", ""]):
        with pytest.raises(ValueError, match="texts must hold at least one character"):
            make(texts, *arguments)
    for texts in (None, 3, [b"be"], ["be", None]):
        with pytest.raises(TypeError, match="texts"):
            make(texts, *arguments)


@every
def test_foreign_json_is_refused(tokenizer):
    cls = type(tokenizer)
    others = [other for other in TOKENIZERS.values() if type(other) is not cls]
    for other in others:
        with pytest.raises(ValueError, match=f"read it with {type(other).__name__}"):
            cls.from_json(other.to_json())
    for text in ("", "{", "[]", "{}", "3", tokenizer.to_json()[:-9], json.dumps({"tokenizer": cls.__name__})):
        with pytest.raises(ValueError, match=cls.__name__):
            cls.from_json(text)


@pytest.mark.parametrize("text", ["plain", "naïve 日本語 🙂🙂!", "🙂", ""])
def test_a_stream_of_ids_writes_whole_characters(text: str) -> None:
    bytewise = BPETokenizer([])
    pieces = list(decode_stream(bytewise, iter(bytewise.encode(text))))
    assert "".join(pieces) == text
    assert len(pieces) == len(text.encode())
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces)
    words = WordTokenizer.fit("to be , or not to be")
    assert list(decode_stream(words, words.encode("to be or"))) == ["to", " be", " or"]


def test_a_stream_that_ends_inside_a_character_says_so() -> None:
    bytewise = BPETokenizer([])
    ids = bytewise.encode("a🙂")[:3]
    assert list(decode_stream(bytewise, ids)) == ["a", "", "", "\N{REPLACEMENT CHARACTER}"]
