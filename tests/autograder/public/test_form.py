"""An exercise as data says what its declaration says, word for word, and holds no code."""

import dataclasses
import functools
import json
import math
import warnings

import pytest
import torch

from autograder.question.audit import verdict_on
from autograder.question.find import exercises_of, find
from autograder.question.interview import Recording, questions
from autograder.question.judges import inputs_unchanged, same_values
from autograder.question.public import VERSION, _Store, read, read_exercises, write
from autograder.question.report import Report
from autograder.question.specification import Case, Property, case
from autograder.question.travel import CannotTravel, Made, make, recipe
from solutions.attention.checks import EXERCISES
from tests.autograder.answers import answers, second
from tests.autograder.test_specification import doubling

WAYS = [
    (name, mistake.id, number, way)
    for name, exercise in EXERCISES.items()
    for mistake in exercise.misconceptions
    for number, way in enumerate((mistake.implementation, *mistake.also))
]


@functools.cache
def forms(name):
    """(as it is declared, read from data)."""
    return EXERCISES[name], read(*write({name: EXERCISES[name]}))[name]


def same_report(name, function):
    """Asserts that both forms of an exercise say the same of a function, and gives what they say."""
    declared, recorded = (Report(verdict_on(exercise, function)) for exercise in forms(name))
    assert str(recorded) == str(declared)
    assert recorded._repr_mimebundle_() == declared._repr_mimebundle_()
    return recorded


@pytest.mark.parametrize(("name", "mistake", "number", "way"), WAYS, ids=[f"{w[0]}-{w[1]}-{w[2]}" for w in WAYS])
def test_every_misconception_is_told_in_the_same_words_from_data(name, mistake, number, way):
    said = same_report(name, way)
    assert not said.verdict.passed
    if number == 0:
        assert [m.id for m in said.verdict.misconceptions] == [mistake]


@pytest.mark.parametrize("name", EXERCISES)
def test_right_empty_failing_and_shapeless_functions_are_told_in_the_same_words(name):
    def empty(*arguments):
        raise NotImplementedError

    def fails(*arguments):
        return arguments[0].no_such_thing

    assert same_report(name, second(answers("attention"))[EXERCISES[name].function]).verdict.passed
    assert same_report(name, EXERCISES[name].reference).verdict.passed
    assert same_report(name, empty).verdict.unwritten
    for function in (fails, lambda *a: None, lambda *a: torch.zeros(1), lambda *a: (a[0], a[0] * math.nan)):
        assert not same_report(name, function).verdict.passed


@pytest.mark.parametrize("wrong", [a for a in answers("attention") if a.earns == "wrong"], ids=lambda a: a.function)
def test_mistakes_in_no_list_are_told_in_the_same_words(wrong):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_report(f"attention.{wrong.function}", wrong.call)


@pytest.mark.parametrize("name", EXERCISES)
def test_inputs_come_back_as_they_were_strides_included(name):
    declared, recorded = forms(name)
    for one, other in zip(questions(declared), questions(recorded), strict=True):
        assert (one.about.name, one.case.label) == (other.about.name, other.case.label)
        for a, b in zip(one.case.calls, other.case.calls, strict=True):
            assert len(a) == len(b)
            for x, y in zip(a, b, strict=True):
                assert type(x) is type(y)
                if isinstance(x, torch.Tensor):
                    assert x.dtype == y.dtype
                    assert x.stride() == y.stride()
                    assert torch.equal(x, y)
                else:
                    assert x == y


def test_nothing_in_the_data_is_code_and_the_bytes_are_the_same_every_time():
    text, tensors = write(EXERCISES)
    assert (text, tensors) == write(EXERCISES)
    for name in EXERCISES:
        _, recorded = forms(name)
        assert isinstance(recorded.reference, Recording), name
        assert all(isinstance(w, Recording) for m in recorded.misconceptions for w in (m.implementation, *m.also))
    assert "lambda" not in text.decode()
    faults = [
        outcome
        for exercise in json.loads(text)["exercises"]
        for mistake in exercise["misconceptions"]
        for way in mistake["ways"]
        for row in way
        for outcome in row
        if outcome["fault"]
    ]
    assert faults
    assert all(outcome["fault"].replace(" ", "").isalpha() for outcome in faults)


def test_hidden_inputs_cannot_be_had_from_data():
    recorded = forms("attention.dot_score")[1]
    with pytest.raises(ValueError, match="public examples only"):
        verdict_on(recorded, lambda query, keys: keys @ query, seed=1)
    with pytest.raises(TypeError, match="record of answers"):
        recorded.reference(torch.zeros(2), torch.zeros(3, 2))


def odd_arguments(draw):
    return [case("odd", torch.zeros(2, 3), (1, [2.5, "x"], None), {"a": True, 3: torch.ones(1)}, math.inf)]


def test_arguments_of_every_plain_kind_travel():
    prop = Property(name="p", points=1, cases=odd_arguments, judge=inputs_unchanged)
    exercise = doubling(properties=(prop,), reference=lambda *a: a[0], misconceptions=())
    back = read(*write({exercise.name: exercise}))[exercise.name]
    (asked,) = questions(back)
    _, nested, table, number = asked.case.calls[0]
    assert nested == (1, [2.5, "x"], None)
    assert table["a"] is True
    assert table[3].equal(torch.ones(1))
    assert number == math.inf
    assert back.properties[0].judge is inputs_unchanged


def test_what_cannot_travel_is_named():
    exercise = doubling()
    (prop,) = exercise.properties
    for changes, words in (
        ({"judge": lambda c, g, e: None}, "solutions/<assignment>/laws.py"),
        ({"judge": Made("solutions.attention.checks.masks.x", (), {}, lambda *a: None)}, "/laws.py"),
        ({"judge": same_values((object(),))}, "neither a number"),
        ({"cases": lambda draw: [Case(label="l", calls=((object(),),))]}, "an argument is of type object"),
    ):
        bad = dataclasses.replace(exercise, properties=(dataclasses.replace(prop, **changes),))
        with pytest.raises(CannotTravel, match=words) as caught:
            write({bad.name: bad})
        assert "small.double" in str(caught.value)
        assert "“twice”" in str(caught.value)


def test_a_recipe_leads_only_to_judges():
    judge = same_values(("x",), which=[0])
    assert make(json.loads(json.dumps(recipe(judge)))).options == {"which": [0]}
    for name in (
        "os.system",
        "autograder.judges_of_another.x",
        "autograder.question.judges.close.__globals__ x",
        "judges",
    ):
        with pytest.raises(ValueError, match="is no judge"):
            make({"name": name, "arguments": [], "options": {}})


def test_a_student_without_declarations_reads_the_data(tmp_path, monkeypatch):
    import autograder.question.find

    text, tensors = write({"attention.dot_score": EXERCISES["attention.dot_score"]})
    (tmp_path / "elsewhere.json").write_bytes(text)
    (tmp_path / "elsewhere.safetensors").write_bytes(tensors)
    assert list(read_exercises("elsewhere", tmp_path)) == ["attention.dot_score"]
    assert read_exercises("nothing", tmp_path) == {}
    assert read_exercises("../elsewhere", tmp_path) == {}
    monkeypatch.setattr(autograder.question.find, "_recorded", lambda name: read_exercises(name, tmp_path))
    assert list(exercises_of("elsewhere")) == ["attention.dot_score"]
    with pytest.raises(ValueError, match="there is no assignment 'nothing'"):
        find("nothing.at_all")
    assert isinstance(exercises_of("attention")["attention.dot_score"].reference, type(lambda: 0))


def test_another_version_of_the_form_is_refused():
    text, tensors = write({})
    with pytest.raises(ValueError, match="version 7"):
        read(text.replace(f'"version": {VERSION}'.encode(), b'"version": 7'), tensors)


def test_one_number_out_of_a_larger_tensor_is_written():
    numbers = torch.arange(22).reshape(2, 11)
    store = _Store()
    assert store.put(numbers[:1, 5]) == store.put(torch.tensor([5]))
    assert torch.equal(store.tensors["0"], torch.tensor([5]))
