import pytest

from nlmcore.tokens import CharTokenizer, WordTokenizer


def test_ids_follow_the_code_points():
    tokenizer = CharTokenizer.fit(["cab", "é"])
    assert tokenizer.vocabulary == ("<pad>", "<bos>", "<eos>", "<unk>", "a", "b", "c", "é")
    assert tokenizer.encode("bad") == [5, 4, 3]
    assert tokenizer.decode([5, 4, 3]) == "ba<unk>"


def test_rare_characters_fall_below_the_cut():
    assert CharTokenizer.fit(["aab", "bc"], min_count=2).vocabulary[4:] == ("a", "b")


def test_bad_characters():
    with pytest.raises(ValueError, match="different single characters"):
        CharTokenizer(["a", "bc"])
    with pytest.raises(ValueError, match="different single characters"):
        CharTokenizer("aba")


def test_a_vocabulary_of_no_characters_is_refused():
    with pytest.raises(ValueError, match="characters must hold at least one"):
        CharTokenizer([])
    with pytest.raises(ValueError, match=r"min_count must be in \[1, 2\], got 3"):
        CharTokenizer.fit(["aab"], min_count=3)


def pieces(text: str) -> list[str]:
    tokenizer = WordTokenizer.fit([text])
    return [tokenizer.vocabulary[i] for i in tokenizer.encode(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nay, answer me:\nstand!", ["Nay", ",", "answer", "me", ":", "\n", "stand", "!"]),
        ("a grave-digger", ["a", "grave", "-", "digger"]),
        ("he's here ,ho", ["he's", "here", " ", ",", "", "ho"]),
        ("so--[Exit.]\n\n", ["so", "--", "[", "Exit", ".", "]", "\n", "\n"]),
        ("  O'er 'tis", [" ", " ", "O'er", "'", "tis"]),
        ("a\u3000b\u00a0 ", ["a", "\u3000", "b", "\u00a0", " "]),
        ("...!?", ["...", "!", "?"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
    ],
)
def test_words_marks_and_spaces(text, expected):
    assert pieces(text) == expected


def test_ids_follow_frequency_then_the_alphabet():
    tokenizer = WordTokenizer.fit(["b a c, a b\tb"])
    assert tokenizer.vocabulary[4:] == ("", " ", "\n", "b", "a", "\t", ",", "c")
    assert tokenizer.id("b") == 7
    assert tokenizer.id("zebra") == tokenizer.unk == 3


def test_unknown_words_and_their_spaces():
    tokenizer = WordTokenizer.fit(["the king of the land, the king"], min_count=2)
    ids = tokenizer.encode("the queen of the king, the king")
    assert tokenizer.decode(ids) == "the <unk> <unk> the king<unk> the king"
    assert ids.count(3) == 3
    assert tokenizer.encode("the <unk> king", allow_special=True) == tokenizer.encode("the queen king")


def test_the_frequency_cut():
    text = "a a a b b c d"
    assert WordTokenizer.fit(text, min_count=2).vocabulary[7:] == ("a", "b")
    assert WordTokenizer.fit(text, vocab_size=10).vocabulary[7:] == ("a", "b", "c")
    assert WordTokenizer.fit(text, vocab_size=1000).vocab_size == 11
    assert WordTokenizer.fit(text, min_count=3, vocab_size=10).vocabulary[7:] == ("a",)


def test_lower_case():
    tokenizer = WordTokenizer.fit("The KING the king", lowercase=True)
    assert tokenizer.vocabulary[7:] == ("king", "the")
    assert tokenizer.decode(tokenizer.encode("THE King")) == "the king"
    assert WordTokenizer.from_json(tokenizer.to_json()).encode("THE King") == tokenizer.encode("the king")


def test_bad_words():
    with pytest.raises(ValueError, match="vocab_size must be at least 7, got 6"):
        WordTokenizer.fit("ab", vocab_size=6)
    for words in (["a", "a"], ["<eos>"], [" "], [3]):
        with pytest.raises((ValueError, TypeError), match="words"):
            WordTokenizer(words)


@pytest.mark.parametrize("word", ["a b", "a,", "", "don't!", " a", "-'", "\t\t"])
def test_words_that_no_text_is_cut_into_are_refused(word):
    with pytest.raises(ValueError, match="words must be"):
        WordTokenizer(["king", word])


def test_min_count_leaves_words_and_id_takes_a_word():
    with pytest.raises(ValueError, match=r"min_count must be in \[1, 2\], got 3"):
        WordTokenizer.fit("ha ha hum", min_count=3)
    for word in (3, None, ["ha"]):
        with pytest.raises(TypeError, match="word"):
            WordTokenizer.fit("ha").id(word)
