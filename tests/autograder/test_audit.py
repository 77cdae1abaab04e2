import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.question import audit
from autograder.question.audit import exercise_faults, notebook_faults, stated, travel_faults
from autograder.question.judges import same_values
from autograder.question.specification import Misconception, Property
from tests.autograder.test_specification import NAMES, doubling, one_case

MISTAKE = doubling().misconceptions[0]


def called_m(implementation):
    return Misconception(id="m", sentence="s", implementation=implementation)


def test_a_sound_exercise_has_no_faults():
    assert exercise_faults(doubling()) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reference": lambda x: x + float("nan")}, "gives NaN"),
        ({"reference": lambda x: never_defined}, "the reference fails on"),  # noqa: F821
        (
            {"misconceptions": (Misconception(id="m", sentence="s", implementation=lambda x: x + x),)},
            "passes the visible",
        ),
        (
            {"misconceptions": (MISTAKE, Misconception(id="m", sentence="s", implementation=lambda x: x**2))},
            "cannot be told apart",
        ),
        (
            {
                "reference": lambda x: x + len(x),
                "properties": (
                    Property(name="p", points=1, cases=one_case, judge=lambda c, g, e: "no" if len(c.label) else None),
                ),
            },
            "the reference fails “p”",
        ),
        ({"closed": ("torch.softmax",)}, "the closed name 'torch.softmax' cannot be left out"),
        ({"closed": ("nlmcore.attention", "no_such_module.f")}, "the closed name 'no_such_module.f' is no module"),
    ],
)
def test_every_fault_of_an_exercise_is_found(changes, words):
    assert any(words in fault for fault in exercise_faults(doubling(**changes)))


def test_a_slow_reference_is_told_before_a_class_waits_for_it(monkeypatch):
    def slow(x):
        for _ in range(2000):
            x = x + 0
        return x * 2

    assert exercise_faults(doubling(reference=slow)) == []
    monkeypatch.setattr(audit, "SECONDS", 1e-4)
    (fault,) = exercise_faults(doubling(reference=slow))
    assert "should take less than 0.0001" in fault


def test_a_judge_that_students_cannot_have_is_a_fault():
    assert travel_faults(doubling()) == []
    here = Property(name="p", points=1, cases=one_case, judge=lambda c, g, e: None)
    (fault,) = travel_faults(doubling(properties=(here,)))
    assert "small.double: “p”: the judge" in fault


# --- notebooks --------------------------------------------------------------------------------------------

VISIBLE = 'check("small.double", double)'
HIDDEN = '### BEGIN HIDDEN TESTS\ncheck("small.double", double, hidden=True)\n### END HIDDEN TESTS'


def notebook(source, points=2, text=None):
    exercise = doubling()
    about = {"grade": True, "grade_id": "t", "points": points, "solution": False, "locked": True}
    cell = new_code_cell(source, metadata={"nbgrader": about})
    return new_notebook(cells=[new_markdown_cell(stated(exercise) if text is None else text), cell])


def faults(*args, **kwargs):
    return notebook_faults(notebook(*args, **kwargs), {"small.double": doubling()})


def test_a_sound_notebook_has_no_faults():
    made = notebook(f"{VISIBLE}\n{HIDDEN}")
    nbformat.validate(made)
    assert notebook_faults(made, {"small.double": doubling()}) == []


def test_a_method_may_be_what_is_checked():
    made = f"{VISIBLE}\n{HIDDEN}".replace("double)", "model.double)").replace("double, h", "model.double, h")
    assert notebook_faults(notebook(made), {"small.double": doubling()}) == []


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        (VISIBLE, {}, "must end with check"),
        (f"{HIDDEN}\n{VISIBLE}", {}, "must end with check"),
        (f"{VISIBLE}\n{HIDDEN}\nprint()", {}, "must end with check"),
        (f"{VISIBLE}\n" + HIDDEN.replace("True)", "True);"), {}, "must end with check"),
        (f"{VISIBLE}\n" + HIDDEN.replace("check(", "mark = check("), {}, "must end with check"),
        (f"{VISIBLE}\n{HIDDEN}", {"points": 3}, "gives 3 points, small.double has 2"),
        (f"{VISIBLE}\n{HIDDEN}", {"text": "5 minutes"}, "should say: 1 minutes · 2 points · easy"),
        (f"{VISIBLE}\n{HIDDEN}".replace("small.double", "small.triple"), {}, "not declared"),
        (f"{VISIBLE}\n{HIDDEN}".replace("double)", "lambda x: 2 * x)"), {}, "should have the form check("),
        (f"{VISIBLE}\n{HIDDEN}".replace("double, hidden", "make(2), hidden"), {}, "should have the form check("),
        (f"{VISIBLE}\n{HIDDEN}".replace("hidden=True", "hidden=1 > 0"), {}, "should have the form check("),
        (f"{VISIBLE}\n{HIDDEN}".replace("double, hidden", "other, hidden"), {}, "different functions: double, other"),
        (f"{VISIBLE}\n{HIDDEN}".replace('"small.double", double, h', "NAME, double, h"), {}, "should have the form"),
        ("assert True", {}, "asked in 0 test cells"),
    ],
)
def test_every_fault_of_a_notebook_is_found(source, options, words):
    assert any(words in fault for fault in faults(source, **options))


def test_words_beside_the_beginning_of_a_mark_scheme_would_be_lost():
    made = notebook(f"{VISIBLE}\n{HIDDEN}")
    made.cells.append(new_markdown_cell("### BEGIN MARK SCHEME One point each.\n### END MARK SCHEME"))
    (fault,) = notebook_faults(made, {"small.double": doubling()})
    assert "put it on the next line: ### BEGIN MARK SCHEME One point" in fault


def test_a_module_that_one_question_closes_is_closed_in_all():
    one, other = doubling(closed=("nlmcore.attention",)), doubling(name="small.other")
    found = notebook_faults(notebook(f"{VISIBLE}\n{HIDDEN}"), {"small.double": one, "small.other": other})
    assert any("nlmcore.attention is closed in some questions and not in small.other" in fault for fault in found)


def test_properties_are_judged_for_the_misconceptions_too():
    extra = Property(name="sign", points=1, cases=one_case, judge=same_values(NAMES))
    assert exercise_faults(doubling(properties=(*doubling().properties, extra))) == []
