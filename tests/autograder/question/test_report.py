import re

import pytest
import torch

from autograder.check import examine
from autograder.question.arrays import as_text, describe, difference, grid, pair, text_of_output, worst_slice
from autograder.question.audit import verdict_on
from autograder.question.report import MACHINE, Report, coded
from solutions.attention.checks import EXERCISES
from solutions.self_attention.checks import GROUPED_ATTENTION
from tests.autograder.test_specification import doubling

ATTEND = EXERCISES["attention.attend"]


def mistake(identity):
    return next(m for m in ATTEND.misconceptions if m.id == identity)


def html(report):
    return report._repr_mimebundle_()["text/html"]


def test_a_success_says_what_holds():
    words = str(Report(verdict_on(doubling(), lambda x: 2 * x)))
    assert re.search(r"(?s)well done.* 2 of 2 points.*holds +2 +twice", words)


def test_a_named_mistake_is_said_in_its_sentence_with_an_example_side_by_side():
    wrong = mistake("softmax-over-queries")
    report = Report(verdict_on(ATTEND, wrong.implementation))
    for part in (wrong.sentence, "expected float32, shape", "yours    float32, shape", "*"):
        assert part in str(report)
    for part in ('role="status"', "softmax over the queries"):
        assert part in html(report)


def test_code_in_a_sentence_is_shown_as_code():
    report = Report(verdict_on(GROUPED_ATTENTION, GROUPED_ATTENTION.mistake("taking-turns")))
    assert "<code>np.repeat</code>, not <code>np.tile</code>." in html(report)
    assert "`np.repeat`, not `np.tile`." in str(report)


def test_different_shapes_are_shown_as_such():
    words = str(Report(verdict_on(doubling(), lambda x: x[None])))
    for part in ("The shape of y is not the expected one", "shape (1, 3)", "shape (3,)"):
        assert part in words


def test_an_exception_is_said_with_its_line_and_without_a_traceback():
    def student(x):
        return x @ torch.ones(99)

    words = str(Report(verdict_on(doubling(), student)))
    assert re.search(r"Your code raised RuntimeError.*return x @ torch\.ones\(99\)", words)
    assert not re.search(r"Traceback|outcome\.py", words)


def test_what_the_student_wrote_cannot_write_html():
    def student(x):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in html(Report(verdict_on(doubling(), student)))


def test_a_report_on_hidden_inputs_shows_no_number_of_theirs():
    def leaking(scores, values, mask=None):
        print("PRINTED", scores)
        if len(scores) > 4 or scores.ndim > 2:
            raise ValueError(f"LEAK {scores.flatten()[0]} {tuple(scores.shape)}")
        return scores @ values, scores

    for function in (leaking, mistake("plain-mean").implementation, lambda s, v, m=None: (s, v)):
        report = Report(examine(ATTEND, function, 11))
        bundle = report._repr_mimebundle_()
        words = bundle["text/plain"] + bundle["text/html"] + str(bundle[MACHINE])
        assert "LEAK" not in words
        assert "shape (" not in words
        assert not re.search(r"-?\d+\.\d{2}", re.sub(r"line-height:1\.5|\.\d+em", "", bundle["text/html"]))


def test_names_that_a_student_chooses_carry_no_hidden_input_out():
    def by_class(x):
        raise type(f"Saw_{x.size}_4711", (Exception,), {})("4711")

    def by_type(x):
        return type("Saw_4711", (), {})()

    for function, said in ((by_class, "an exception of its own"), (by_type, "the kind of value that was asked for")):

        def student(scores, values, mask=None, otherwise=function):
            return otherwise(scores) if max(scores.shape) > 5 else ATTEND.reference(scores, values, mask)

        report = Report(examine(ATTEND, student, 11))
        words = f"{report} {report.machine()}"
        assert said in words
        assert "4711" not in words


def test_the_machine_gets_the_public_example_and_none_of_hidden_inputs():
    wrong = mistake("softmax-over-queries").implementation
    example = Report(verdict_on(ATTEND, wrong)).machine()["example"]
    assert [value["name"] for value in example["inputs"]][:2] == ["scores", "values"]
    output = example["outputs"][0]
    assert any(any(row) for row in output["yours"]["marked"])
    assert max(abs(v) for row in output["difference"] for v in row) > 0.01
    assert Report(examine(ATTEND, wrong, 11)).machine()["example"] is None


def test_hidden_inputs_that_a_student_prints_are_dropped(capsys):
    examine(doubling(), lambda x: print(x) or 2 * x, 3)
    assert capsys.readouterr().out == ""
    examine(doubling(), lambda x: print(x) or 2 * x, None)
    assert "tensor" in capsys.readouterr().out


def test_the_machine_gets_the_marks_and_the_mistakes():
    data = Report(examine(ATTEND, mistake("mask-inverted").implementation, 4)).machine()
    about = {"exercise": "attention.attend", "misconceptions": ["mask-inverted"], "hidden": True, "of": 6}
    assert about.items() <= data.items()
    assert data["points"] == sum(p["points"] for p in data["properties"] if p["holds"])


def test_an_empty_helper_is_named():
    def helper(x):
        raise NotImplementedError

    headline = Report(verdict_on(doubling(), lambda x: helper(x))).headline
    assert "not written yet (helper, which it calls, is still empty)" in headline


# --- arrays -----------------------------------------------------------------------------------------------


def test_a_table_has_three_decimals_and_marks_what_differs():
    table = grid(torch.tensor([1.0, float("nan"), -0.00001]), torch.tensor([1.0, 2.0, 0.0]))
    assert table.rows == [["1.000", "NaN", "0.000"]]
    assert table.marked == [[False, True, False]]
    assert as_text(table) == ["1.000     NaN*  0.000"]
    assert describe(torch.zeros(2, 3)) == "float32, shape (2, 3)"
    assert describe(torch.tensor(1)) == "int64, one number"


def test_of_a_large_array_the_matrix_that_differs_most_is_shown_and_of_that_a_corner():
    got, expected = torch.zeros(2, 3, 8, 9), torch.zeros(2, 3, 8, 9)
    got[1, 2, 0, 0] = 5
    leading = worst_slice(got, expected)
    table = grid(got, expected, leading)
    assert leading == (1, 2)
    assert table.title == "[1, 2]"
    assert table.rows[0][:2] == ["5.000", "0.000"]
    assert table.rows[0][-1] == "…"
    assert table.rows[-1] == ["…"]
    assert grid(torch.zeros(0, 3)).rows == [["(empty)"]]


def test_a_large_array_is_cropped_around_the_first_difference():
    got, expected = torch.zeros(12, 20), torch.zeros(12, 20)
    got[8, 15:] = 7
    mine, right = pair(got, expected)
    assert mine.title == right.title == "[6:12, 13:19]"
    assert mine.rows[3] == ["…", "0.000", "0.000", "7.000", "7.000", "7.000", "7.000", "…"]
    assert [row.count(True) for row in mine.marked] == [0, 0, 0, 4, 0, 0, 0]
    assert not any(map(any, right.marked))
    assert difference(got, expected)[-4][-5:] == [7.0] * 5


def test_lists_of_different_length_are_shown_where_they_part():
    mine, right = pair(torch.tensor([5, 6, 7, 8, 9, 10, 12, 13]), torch.tensor([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]))
    assert (mine.title, right.title) == ("[4:8]", "[4:10]")
    assert mine.rows == [["…", "9", "10", "12", "13"]]
    assert mine.marked == [[False, False, False, True, True]]
    assert right.rows == [["…", "9", "10", "11", "12", "13", "14"]]
    assert "differs" in "\n".join(text_of_output("ids", torch.tensor([1, 2]), torch.tensor([1, 3, 2])))


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Of *all* the `beam * 2` best, *not yours*.", "<em>all</em>|<code>beam * 2</code>|<em>not yours</em>."),
        ("Raise it: length ** penalty, or k ** 2 ** 3.", "length ** penalty, or k ** 2 ** 3."),
        ("E[x] * W + h * U is 2*x*y, f(*a, **b).", "E[x] * W + h * U is 2*x*y, f(*a, **b)."),
    ],
)
def test_what_is_stressed_is_stressed_and_a_product_is_none(sentence, shown):
    for piece in shown.split("|"):
        assert piece in coded(sentence)
    assert coded(sentence).count("<em>") == shown.count("<em>")
