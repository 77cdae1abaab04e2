import random
from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlmcore.corpora import folio, load
from nlmcore.corpora.folio import align, align_play, alike, skeleton
from nlmcore.corpora.shakespeare import GENRES


@pytest.mark.parametrize(
    ("old", "modern"),
    [("haue", "have"), ("vpon", "upon"), ("Ioy", "joy"), ("mee", "me"), ("souldier", "soldier"), ("the[n]", "then")],
)
def test_spellings_of_one_word_have_one_skeleton(old, modern):
    assert skeleton(old) == skeleton(modern)


def test_different_words_have_not():
    assert skeleton("haue") != skeleton("had")
    assert skeleton("loue") != skeleton("lost")
    assert alike("murther", "murder")
    assert not alike("sword", "crown")


def test_macbeth_line_by_line():
    pairs = {pair.folio: pair.modern for pair in align_play("macbeth")}
    assert len(pairs) > 2000
    assert pairs["When shall we three meet againe?"] == "When shall we three meet again?"
    assert pairs["Is this a Dagger, which I see before me,"] == "Is this a dagger which I see before me,"
    assert pairs["Creepes in this petty pace from day to day,"] == "Creeps in this petty pace from day to day,"
    assert pairs["Vpon the Heath"] == "Upon the heath"  # no stop after it in the Folio, so none in the pair


def test_nothing_of_the_layout_is_left():
    for pair in align_play("macbeth"):
        assert pair.folio == pair.folio.strip()
        assert "[" not in pair.modern
        assert "\n" not in pair.modern + pair.folio
        assert not pair.folio.startswith("Exeunt")


def test_pairs_say_the_same():
    pairs = align_play("richard_ii")
    alikeness = [SequenceMatcher(None, p.folio.lower(), p.modern.lower()).ratio() for p in pairs]
    assert sum(alikeness) / len(pairs) > 0.92
    assert sum(ratio < 0.6 for ratio in alikeness) < 0.01 * len(pairs)
    different = sum(a.lower() != b.lower() for p in pairs for a, b in p.words)
    assert 0.1 < different / sum(len(p.words) for p in pairs) < 0.3  # there is something to learn


def test_the_corpus_by_lines_and_by_words(unchecked, monkeypatch):
    some = {"comedy": "twelfth_night", "history": "richard_ii", "tragedy": "hamlet"}
    monkeypatch.setattr(folio, "GENRES", {genre: {work: GENRES[genre][work]} for genre, work in some.items()})
    lines = folio.load("line")
    assert [{d.title for d in split} for split in lines.splits.values()] == [
        {"Hamlet"},
        {"Richard II"},
        {"Twelfth Night"},
    ]
    assert all(len(split) > 2000 for split in lines.splits.values())
    words = folio.load("word")
    assert not {d.text for d in words.train} & {d.text for d in words.test}
    spelling = {d.text: d.target for d in words.documents}
    known = {"haue": "have", "vpon": "upon", "selfe": "self", "ioyfull": "joyful", "ile": "i'll", "neuer": "never"}
    assert {word: spelling[word] for word in known} == known


def test_bad_unit():
    with pytest.raises(ValueError, match="unit must be 'line' or 'word', got 'play'"):
        load("shakespeare_folio", unit="play")


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
