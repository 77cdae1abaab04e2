import pytest

from nlmcore.tokens import CharTokenizer


def test_ids_follow_the_code_points():
    tokenizer = CharTokenizer.fit(["cab", "é"])
    assert tokenizer.vocabulary == ("<pad>", "<bos>", "<eos>", "<unk>", "a", "b", "c", "é")
    assert tokenizer.encode("bad") == [5, 4, 3]
    assert tokenizer.decode([5, 4, 3]) == "ba<unk>"


def test_rare_characters_fall_below_the_cut():
    assert CharTokenizer.fit(["aab", "bc"], min_count=2).vocabulary[4:] == ("a", "b")


def test_bad_input():
    with pytest.raises(ValueError, match="min_count must be at least 1, got 0"):
        CharTokenizer.fit("ab", min_count=0)
    with pytest.raises(ValueError, match="different single characters"):
        CharTokenizer(["a", "bc"])
    with pytest.raises(ValueError, match="different single characters"):
        CharTokenizer("aba")


def test_a_vocabulary_of_no_characters_is_refused():
    with pytest.raises(ValueError, match="characters must hold at least one"):
        CharTokenizer([])
    with pytest.raises(ValueError, match=r"min_count must be in \[1, 2\], got 3"):
        CharTokenizer.fit(["aab"], min_count=3)


def test_truth_values_are_no_ids():
    with pytest.raises(TypeError, match="ids"):
        CharTokenizer("ab").decode([4, True])
