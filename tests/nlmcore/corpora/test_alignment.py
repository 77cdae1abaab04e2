import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from nlmcore.corpora.alignment import align

words = st.lists(st.sampled_from("abcdefg"), max_size=40)


@given(words, words)
def test_matches_are_equal_words_in_order(a, b):
    matches, replaced = align(a, b)
    assert all(a[i] == b[j] for i, j in matches.items())
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(sorted(matches.items())))
    for i, i_end, j, j_end in replaced:
        assert i < i_end
        assert j < j_end
        assert not set(range(i, i_end)) & set(matches)
        assert not set(range(j, j_end)) & set(matches.values())


@given(words)
def test_a_text_is_aligned_with_itself(a):
    assert align(a, a).matches == {i: i for i in range(len(a))}


def test_a_long_text_with_changes_is_aligned_in_full():
    draw = random.Random(4)
    a = [f"w{draw.randrange(900)}" for _ in range(4000)]
    b, truth = [], {}
    for i, word in enumerate(a):
        chance = draw.random()
        if chance < 0.03:
            b += ["new", "words"]  # inserted before it
        if chance > 0.97:
            continue  # left out
        if chance > 0.94:
            b.append("other")
            continue
        truth[i] = len(b)
        b.append(word)
    found = align(a, b).matches
    right = sum(found.get(i) == j for i, j in truth.items())
    assert right >= 0.999 * len(truth)


def test_replaced_spans_are_told():
    alignment = align(["the", "quick", "brown", "fox", "jumps"], ["the", "quick", "red", "wolf", "jumps"])
    assert alignment.matches == {0: 0, 1: 1, 4: 4}
    assert alignment.replaced == [(2, 4, 2, 4)]
