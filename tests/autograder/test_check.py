import pytest
import torch

from autograder.check import CheckFailed, check, failing, passes
from autograder.exercise.find import find


def right(query, keys):
    return keys @ query


def wrong(query, keys):
    return query * keys


def empty(query, keys):
    raise NotImplementedError


NAME = "attention.dot_score"


def test_a_right_function_is_confirmed_and_nothing_is_returned(capsys):
    assert check(NAME, right) is None
    assert "2 of 2 points" in capsys.readouterr().out


def test_a_wrong_one_stops_the_cell_with_the_whole_report_as_its_words():
    with pytest.raises(CheckFailed, match="did not add them up") as caught:
        check(NAME, wrong)
    assert isinstance(caught.value, AssertionError)
    assert "0 of 2 points" in str(caught.value)
    assert caught.value._render_traceback_()[0] == "dot_score: 0 of 2 points so far."


def test_an_empty_one_is_told_so_and_stops_nothing_but_nbgraders_validation(capsys, monkeypatch):
    assert check(NAME, empty) is None
    assert "not written yet" in capsys.readouterr().out
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(CheckFailed, match="not written yet"):
        check(NAME, empty)


def test_the_hidden_check_gives_a_mark_that_nbgrader_can_read(capsys):
    for function, points in ((right, 2), (wrong, 0), (empty, 0), (lambda q, k: k @ q + 1, 0.2)):
        mark = check(NAME, function, hidden=True)
        assert mark.points == points
        assert float(repr(mark)) == points
    assert "fresh inputs" in capsys.readouterr().out


def test_while_nbgrader_grades_the_visible_check_does_not_stop_the_cell(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert check(NAME, wrong).points == 0
    assert check(NAME, right).points == 2


def test_a_seed_can_be_repeated_and_is_told_when_something_fails(capsys, monkeypatch):
    monkeypatch.setenv("NLM_HIDDEN_SEED", "42")
    seen = []
    check(NAME, lambda q, k: seen.append(k) or k @ q, hidden=True)
    first, seen[:] = list(seen), []
    assert "NLM_HIDDEN_SEED" not in capsys.readouterr().out
    check(NAME, lambda q, k: seen.append(k) or k @ q + 1, hidden=True)
    assert all(torch.equal(a, b) for a, b in zip(first, seen, strict=True))
    assert "NLM_HIDDEN_SEED=42" in capsys.readouterr().out
    monkeypatch.delenv("NLM_HIDDEN_SEED")
    seen[:] = []
    check(NAME, lambda q, k: seen.append(k) or k @ q, hidden=True)
    assert not all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(first, seen, strict=True))
    monkeypatch.setenv("NLM_HIDDEN_SEED", "many")
    with pytest.raises(ValueError, match="NLM_HIDDEN_SEED must be an integer"):
        check(NAME, right, hidden=True)


def test_the_input_that_a_check_showed_can_be_had_with_the_right_result():
    with pytest.raises(ValueError, match=r"run the check of attention\.bilinear_score first"):
        failing("attention.bilinear_score")
    with pytest.raises(CheckFailed, match=r'inputs, expected = failing\("attention.dot_score"\); dot_score\(\*inputs'):
        check(NAME, lambda query, keys: keys @ query + 1)
    inputs, expected = failing(NAME)
    assert torch.equal(right(*inputs), expected)
    inputs[0].zero_()
    assert torch.equal(right(*failing(NAME).inputs), expected), "every time as it was"
    with pytest.raises(CheckFailed, match="AttributeError"):
        check(NAME, lambda query, keys: query.nothing)
    inputs, expected = failing(NAME)
    assert torch.equal(right(*inputs), expected)
    assert check(NAME, right) is None
    with pytest.raises(ValueError, match="showed no failing input"):
        failing(NAME)


def test_of_a_number_the_right_one_is_a_number_and_of_several_results_a_tuple():
    for name, kind in (("sequences.clipped_precision", float), ("attention.attend", tuple)):
        with pytest.raises(CheckFailed):
            check(name, lambda *arguments: 0.5)
        assert isinstance(failing(name).expected, kind)


def test_passes_says_nothing(capsys):
    assert passes(NAME, right)
    assert not passes(NAME, wrong)
    assert not passes(NAME, empty)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["attention.nothing", "nothing.dot_score", "", "..", "attention"])
def test_an_unknown_exercise_is_named(name):
    with pytest.raises(ValueError, match="no exercise is called"):
        find(name)


def test_calling_the_function_in_place_of_naming_it_is_explained():
    with pytest.raises(TypeError, match="needs the function itself, got Tensor"):
        check(NAME, torch.zeros(3))
