"""The learner against the textbook's loop, which counts every pair again after every merge."""

from collections import Counter
from itertools import islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from nlmcore.tokens.merges import BYTE_ORDER, SPLIT, count_words, learn_merges


def textbook(word_counts: Counter[bytes]) -> list[tuple[bytes, bytes, int]]:
    """Sennrich et al. (2016), algorithm 1, with the tie-break of the module's header."""
    ids = {bytes([b]): i for i, b in enumerate(BYTE_ORDER)}
    words = [([bytes([b]) for b in word], count) for word, count in word_counts.items()]
    merges = []
    while True:
        counts = Counter()
        for word, count in words:
            for pair in pairwise(word):
                counts[pair] += count
        if not counts:
            return merges
        left, right = min(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))
        merges.append((left, right, counts[left, right]))
        ids[left + right] = len(ids)
        for word, _ in words:
            n = 0
            while n + 1 < len(word):
                if word[n] == left and word[n + 1] == right:
                    word[n : n + 2] = [left + right]
                n += 1


@given(st.lists(st.text(alphabet="ab c'1", max_size=30), max_size=4))
def test_equal_to_the_textbook(texts):
    words = count_words(texts)
    assert list(learn_merges(words)) == textbook(words)


@given(st.dictionaries(st.binary(min_size=1, max_size=40), st.integers(1, 5), max_size=4))
def test_equal_to_the_textbook_on_any_bytes(counts):
    words = Counter(counts)
    assert list(learn_merges(words)) == textbook(words)


@given(st.dictionaries(st.text(alphabet="ab", min_size=1, max_size=70), st.integers(1, 9), max_size=5))
def test_no_string_is_reached_by_two_pairs(counts):
    merged = [left + right for left, right, _ in learn_merges({w.encode(): n for w, n in counts.items()})]
    assert len(set(merged)) == len(merged)


def test_words_are_gpt2s_split():
    assert SPLIT.findall("I'll go  to 42nd\n\n st. --O!") == [
        *("I", "'ll", " go", " ", " to", " 42", "nd", "\n\n", " st", ".", " --", "O", "!"),
    ]
    assert count_words(["so so", "so"]) == {b"so": 2, b" so": 1}


def test_every_byte_has_its_place():
    assert sorted(BYTE_ORDER) == list(range(256))
    assert BYTE_ORDER[:3] == b'!"#'
    assert BYTE_ORDER[188:191] == bytes([0, 1, 2])


def test_merges_are_worked_out_when_asked_for():
    learner = learn_merges({b"abab": 3})
    assert tuple(next(learner)) == (b"a", b"b", 6)
    assert [merge.frequency for merge in islice(learner, 9)] == [3]
