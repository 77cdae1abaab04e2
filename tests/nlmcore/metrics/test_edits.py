from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nlmcore.metrics import edit_distance, error_rate, sequence_error_rate

short = st.text("abc", max_size=7)


def recursion(a: str, b: str) -> int:
    """The definition, read from the front."""

    @cache
    def d(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        return min(d(i + 1, j) + 1, d(i, j + 1) + 1, d(i + 1, j + 1) + (a[i] != b[j]))

    return d(0, 0)


@given(short, short)
def test_it_is_the_recursion(a, b):
    assert edit_distance(a, b) == recursion(a, b)


@pytest.mark.parametrize(("a", "b", "distance"), [("kitten", "sitting", 3), ("haue", "have", 1), ("", "abc", 3)])
def test_known_distances(a, b, distance):
    assert edit_distance(a, b) == distance
    assert edit_distance(list(a), tuple(b)) == distance
    assert edit_distance(torch.tensor([ord(c) for c in a]).long(), [ord(c) for c in b]) == distance


def test_error_rates_are_over_the_whole_corpus():
    hypotheses = [["HH", "AH"], ["K", "AE", "T"], []]
    references = [["HH", "AH", "L", "OW"], ["K", "AE", "T"], ["AY"]]
    assert error_rate(hypotheses, references) == (2 + 0 + 1) / 8
    assert sequence_error_rate(hypotheses, references) == 2 / 3
    assert error_rate(["abcdef"], ["xy"]) == 3
    assert error_rate([""], ["a"]) == 1


def test_the_closest_of_several_references_counts():
    hypotheses = ["tomahto", "data"]
    references = [["tomayto", "tomahto"], ["dahta", "dayta", "dta"]]
    assert error_rate(hypotheses, references, alternatives=True) == (0 + 1) / (7 + 5)
    assert sequence_error_rate(hypotheses, references, alternatives=True) == 0.5


def test_bad_input():
    for measure in (error_rate, sequence_error_rate):
        with pytest.raises(TypeError, match="hypotheses"):
            measure("ab", ["a", "b"])
        with pytest.raises(TypeError, match="references"):
            measure(["a"], 3)
        with pytest.raises(ValueError, match="got 1 hypotheses, 2 references"):
            measure(["a"], ["a", "b"])
        with pytest.raises(ValueError, match="at least one"):
            measure([], [])
        for references in (["ab"], [[]]):
            with pytest.raises(ValueError, match="non-empty lists"):
                measure(["a"], references, alternatives=True)
    with pytest.raises(ValueError, match="only empty ones"):
        error_rate(["a"], [""])
    floats, ids = torch.tensor([1.0, 2.0]), torch.tensor([1, 2])
    assert edit_distance(ids, [1, 2]) == edit_distance("ab", ["a", "b"]) == 0
    nothing_alike = (("ab", [1, 2]), (ids, "ab"), (["a", "b"], ids), (floats, floats), ("a", floats))
    for a, b in ((3, "a"), ("a", None), (torch.tensor([[1]]), "a"), *nothing_alike):
        with pytest.raises(TypeError):
            edit_distance(a, b)
