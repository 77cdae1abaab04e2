import sys
import time

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from autograder.check import CheckFailed, check, explain_missing, failing, passes, show_rows
from autograder.question import report
from autograder.question.find import find
from autograder.question.interview import answers, questions
from autograder.question.verdict import Finding


def right(query, keys):
    return keys @ query


def wrong(query, keys):
    return query * keys


def empty(*given):
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


def test_the_input_that_a_check_showed_can_be_had_with_the_right_result(monkeypatch):
    monkeypatch.setattr(sys.modules["autograder.check"], "_failed", {})  # other tests check the same questions
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


def test_what_is_counted_is_no_result_of_the_function(monkeypatch):
    exercise = find("efficient_attention.block_attention")
    asked = questions(exercise)[:1]
    (right_one,) = answers(exercise.reference, exercise, asked)
    finding = Finding(about=asked[0].about, case=asked[0].case, got=right_one, expected=right_one)
    monkeypatch.setitem(sys.modules["autograder.check"]._failed, exercise.name, finding)
    assert len(right_one[0].outputs) == 3
    assert len(failing(exercise.name).expected) == 2


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


def said_of(name, function):
    with pytest.raises(CheckFailed) as caught:
        check(name, function)
    return str(caught.value)


def test_a_wrong_function_that_changes_its_input_gets_an_example_and_is_told_so():
    def student(counts):
        for row in range(len(counts)):
            counts[row] = counts[row] / counts[row].sum()  # integers: everything becomes 0
        return counts

    said = said_of("ngrams.conditional_probabilities", student)
    assert "It also changes counts" in said
    assert "yours    int64" in said


def test_a_mistake_is_named_though_the_function_changes_its_input_as_well():
    exercise = find("ngrams.conditional_probabilities")
    columns = exercise.mistake("columns-sum-to-one")

    def student(counts):
        made = columns(counts.clone())
        counts.zero_()
        return made

    said = said_of(exercise.name, student)
    assert "Your columns sum to 1." in said
    assert "It also changes counts" in said


def test_a_function_that_only_changes_its_input_is_told_so_once_without_a_table():
    def student(query, keys):
        made = keys @ query
        keys.zero_()
        return made

    said = said_of(NAME, student)
    assert said.count("had changed") == 1
    assert "It also changes" not in said
    assert "yours" not in said


def test_a_function_that_returns_two_results_for_one_input_is_told_so():
    calls = []

    def keeps(query, keys):
        calls.append(query)
        return keys @ query + len(calls)

    for function in (keeps, lambda query, keys: keys @ query + torch.rand(len(keys))):
        with pytest.raises(CheckFailed, match="Called twice with the same input"):
            check(NAME, function)
    with pytest.raises(CheckFailed) as caught:
        check(NAME, lambda query, keys: keys @ query / 0)  # NaN or infinity each time
    assert "twice" not in str(caught.value)


def test_an_exception_says_the_shapes_of_the_inputs_by_name():
    assert "Its inputs were query (3,) and keys (4, 3)." in said_of(NAME, lambda query, keys: query[None] @ keys)


def test_code_above_a_forgotten_raise_is_noticed(capsys):
    def started(query, keys):
        _ = keys @ query
        raise NotImplementedError()

    assert check(NAME, started) is None
    assert report.LEFT in capsys.readouterr().out
    assert check(NAME, empty) is None
    assert report.LEFT not in capsys.readouterr().out


def test_what_is_closed_hides_no_other_mistake():
    def student(scores, values, mask=None):
        if mask is not None:
            return torch.softmax(torch.from_numpy(scores), -1), None
        e = np.exp(scores - scores.max())
        weights = e / e.sum(-2, keepdims=True)
        return weights @ values, weights

    said = said_of("attention.attend", student)
    assert "You took the softmax over the queries" in said
    assert "0 of 6" in said


def test_a_slow_call_is_told_what_the_grader_allows(capsys, monkeypatch):
    monkeypatch.setattr(report, "call_seconds", lambda exercise: 0.02)

    def slow(query, keys):
        until = time.process_time() + 0.015
        while time.process_time() < until:
            pass
        return keys @ query

    check(NAME, slow)
    assert "the grader stops a call at 0.02 s" in capsys.readouterr().out
    check(NAME, right)
    assert "the grader stops" not in capsys.readouterr().out


def test_a_table_is_shown_with_the_digits_that_differ():
    said = said_of(NAME, lambda query, keys: (keys @ query) * 1.0003)
    rows = [line.split("|") for line in said.split("\n") if "*" in line and "|" in line]
    assert rows
    assert all(mine.replace("*", "").strip() != expected.strip() for expected, mine in rows)


def test_rows_that_cannot_be_shown_say_why(capsys):
    for function, words in (
        (empty, "Come back here when hardening is written"),
        (lambda seeds: 1 / 0, "division by zero"),
        (lambda seeds: (1, [0.5, 0.6], 0), "one row for each seed"),
    ):
        show_rows("attention.hardening", function, "8, plain")
        assert words in capsys.readouterr().out


def test_a_cell_that_runs_before_its_function_says_to_come_back(capsys):
    shell = InteractiveShell()
    shell.set_custom_exc((NameError,), explain_missing)
    shell.run_cell("nobody_asks_for_this")
    assert "nobody_asks_for_this" in capsys.readouterr().out
    shell.run_cell("def f():\n    return dot_score\n\nf()")
    assert "Traceback" in capsys.readouterr().out
    shell.run_cell("dot_score")
    assert capsys.readouterr().out.strip() == "Come back here when dot_score is written and its cell has been run."
