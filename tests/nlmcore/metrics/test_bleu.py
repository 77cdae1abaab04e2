import math
from itertools import zip_longest

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from nlmcore.metrics import corpus_bleu, tokenize_13a

HYPOTHESES = [
    "The cat sat on the mat.",
    "It's 3.5 % of 1,000 -- or 35; isn't it?",
    "drei­hundert-vier",
    "completely wrong",
    "",
]
REFERENCES = [
    "The cat sat on a mat.",
    "It's 3.5 % of 1,000, or 35, is it not?",
    "dreihundertvier",
    "this one has nothing in common with it",
    "something",
]
sentence = st.lists(st.sampled_from(["a", "b", "the", "1,5", "c.", "-d", "'"]), max_size=9).map(" ".join)


def theirs(hypotheses, *references):
    return sacrebleu.corpus_bleu(hypotheses, list(references)).score


def test_equal_to_sacrebleu():
    assert corpus_bleu(HYPOTHESES, REFERENCES) == pytest.approx(theirs(HYPOTHESES, REFERENCES))
    for n in range(1, 6):
        assert corpus_bleu(HYPOTHESES[:n], REFERENCES[:n]) == pytest.approx(theirs(HYPOTHESES[:n], REFERENCES[:n]))


def test_several_references():
    others = [r.replace("a mat", "the mat") + " yes" for r in REFERENCES]
    assert corpus_bleu(HYPOTHESES, [REFERENCES, others]) == pytest.approx(theirs(HYPOTHESES, REFERENCES, others))
    assert corpus_bleu(HYPOTHESES, [REFERENCES]) == corpus_bleu(HYPOTHESES, REFERENCES)


@pytest.mark.usefixtures("plain_errors")
def test_uneven_references():
    """None where a sentence has no further reference, as in sacrebleu; a list per hypothesis is refused by name."""
    of_each = [[r] for r in REFERENCES]
    of_each[0] += ["The cat sat on the mat.", "A cat sat."]
    of_each[3] += ["completely right"]
    streams = list(zip_longest(*of_each))
    assert corpus_bleu(HYPOTHESES, streams) == pytest.approx(theirs(HYPOTHESES, *streams))
    assert corpus_bleu(HYPOTHESES, streams) > corpus_bleu(HYPOTHESES, REFERENCES)
    assert corpus_bleu(["a b"], [[None], ["a b"]]) == corpus_bleu(["a b"], ["a b"])
    even = [[r, r] for r in REFERENCES]
    for wrong in (of_each, even):
        with pytest.raises(ValueError, match=r"got a list per hypothesis; give list\(itertools.zip_longest"):
            corpus_bleu(HYPOTHESES, wrong)
    with pytest.raises(ValueError, match="at least one for every hypothesis, got none for 1"):
        corpus_bleu(["a", "b"], [["a", None]])
    with pytest.raises(TypeError, match="references must be a list of strings"):
        corpus_bleu(["a", "b"], ["a", None])


@given(st.lists(st.tuples(sentence, sentence, sentence), min_size=1, max_size=4))
def test_equal_to_sacrebleu_on_anything(triples):
    hypotheses, first, second = map(list, zip(*triples, strict=True))
    assert corpus_bleu(hypotheses, first) == pytest.approx(theirs(hypotheses, first))
    assert corpus_bleu(hypotheses, [first, second]) == pytest.approx(theirs(hypotheses, first, second))


@given(st.text(st.characters(max_codepoint=0x2FF), max_size=40))
def test_tokens_equal_sacrebleus(text):
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert tokenize_13a(text) == Tokenizer13a()(text.rstrip()).split()


def test_perfect_and_hopeless():
    assert corpus_bleu(["a b c d e"], ["a b c d e"]) == pytest.approx(100)
    assert corpus_bleu(["x y z w"], ["a b c d"]) == 0
    assert corpus_bleu([""], ["a"]) == 0


def test_the_equation_on_a_case_worked_by_hand():
    # 5 of 6 unigrams, 3 of 5 bigrams, 2 of 4 trigrams; c = 6, r = 8.
    expected = 100 * math.exp(1 - 8 / 6) * (5 / 6 * 3 / 5 * 2 / 4) ** (1 / 3)
    assert corpus_bleu(["a b c d x f"], ["a b c d e f g h"], max_order=3) == pytest.approx(expected)


def test_bad_input():
    with pytest.raises(TypeError, match="hypotheses"):
        corpus_bleu("a b", ["a b"])
    with pytest.raises(TypeError, match="references"):
        corpus_bleu(["a b"], "a b")
    with pytest.raises(TypeError, match="hypotheses"):
        corpus_bleu([1], ["a"])
    with pytest.raises(ValueError, match="hypotheses must hold at least one"):
        corpus_bleu([], [])
    with pytest.raises(ValueError, match="got 2 references, 1 hypotheses"):
        corpus_bleu(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="got 2 references, 1 hypotheses"):
        corpus_bleu(["a"], [["a"], ["a", "b"]])
