"""Predictions: locked until the reader has answered, right within what is said, and the same without a kernel."""

import json

import ipywidgets
import pytest

from lectures import predictions
from lectures.show import Prediction, held_back, predict, said


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_PREDICTIONS", str(tmp_path / "new" / "predictions.json"))
    monkeypatch.setattr(Prediction, "made", {})


def visible(asked: Prediction) -> str:
    """All that a reader sees of it now."""
    texts, left = [], [asked]
    while left:
        widget = left.pop()
        left += getattr(widget, "children", ())
        texts += [str(getattr(widget, name, "")) for name in ("value", "description", "placeholder", "tooltip")]
    return " ".join(texts)


def factor(**more) -> Prediction:
    with held_back() as table:
        print("0.2500 < 1")
    given = {"answer": lambda: 48.1, "why": "It tells a lot.", "reveals": [table, said("drawn")], **more}
    return predict("By what factor?", choices={"about 2": 2, "about 50": 50}, **given)


def test_nothing_is_told_before_an_answer() -> None:
    asked = factor()
    for kept in ("48.1", "It tells a lot.", "0.2500", "drawn", "right"):
        assert kept not in visible(asked)
    before, _, after = asked._repr_mimebundle_()["text/html"].partition("<details>")
    assert "about 2" in before
    assert "48.1" not in before
    assert "0.2500 &lt; 1" in after
    assert "open" not in after.split(">")[0]


def test_a_choice_is_right_if_its_number_is_nearest_to_the_measured_one() -> None:
    asked = factor()
    asked.buttons[1].click()
    assert "<b>Right.</b> The answer: <b>about 50 (48.1)</b>. It tells a lot." in asked.verdict.value
    assert [child.value for child in asked.below.children][1] == said("drawn")
    asked.buttons[0].click()
    assert "<b>Right.</b>" in asked.verdict.value, "only the first answer counts"
    assert len(predictions.kept()) == 1
    wrong = factor()
    wrong.buttons[0].click()
    assert "Not quite.</b> The answer: <b>about 50" in wrong.verdict.value
    assert "1 of 1 right" in wrong.verdict.value, "the first guess counts"


@pytest.mark.parametrize(
    ("typed", "right"), [("0.545", True), ("6/11", True), ("0,6", True), ("0.7", False), ("54.5", False)]
)
def test_a_number_is_right_within_what_is_said(typed: str, right: bool) -> None:
    asked = predict("How much?", within=0.1, answer=6 / 11, why="So.")
    assert "± 0.1 counts as right" in visible(asked)
    asked.field.value = typed
    assert ("<b>Right.</b>" in asked.verdict.value) == right
    assert predictions.kept()[0]["right"] == right
    assert asked.kind.bounds == pytest.approx((6 / 11 - 0.1, 6 / 11 + 0.1))
    assert predict("How many?", factor=2, answer=-6, why="So.").kind.bounds == (-12, -3)


def test_what_is_no_number_is_asked_again() -> None:
    asked = predict("How many?", factor=2, answer=8320, why="So.")
    asked.field.value = "many"
    assert "Type a number" in asked.verdict.value
    assert not predictions.kept()
    asked.field.value = "5,000"
    assert "<b>Right.</b> The answer: <b>8,320</b>" in asked.verdict.value


def test_an_order_is_sorted_by_pressing() -> None:
    asked = predict("Most first.", order=["a", "b", "c"], answer=["c", "a", "b"], why="So.")
    for button in (1, 1, 2):
        asked.buttons[button].click()  # b, begun anew, c
    assert [button.description for button in asked.buttons] == ["a", "b", "1. c"]
    asked.buttons[0].click()
    assert "<b>Right.</b>" in asked.verdict.value
    assert predictions.kept()[0]["guess"] == ["c", "a", "b"]


def test_shown_is_not_guessed() -> None:
    asked = factor()
    asked.show_me.click()
    assert "The answer: <b>about 50" in asked.verdict.value
    assert "right" not in asked.verdict.value
    assert asked.more.layout.display == "none", "there is nothing left to show"
    factor().buttons[1].click()
    assert not predictions.first_guesses(predictions.kept()), "whoever has seen the answer does not guess it"


def test_an_answer_that_was_only_shown_has_no_score() -> None:
    predict("How much?", within=0.1, answer=0.5, why="So.").commit(9)
    asked = factor()
    asked.show_me.click()
    assert "The answer:" in asked.verdict.value
    assert "of 1 right" not in asked.verdict.value


def test_a_room_is_counted() -> None:
    asked = factor()
    asked.in_the_room.click()
    assert asked.room.layout.display != "none"
    asked.hands[0].value = 30
    asked.hands[1].value = 10
    assert "width:60.0%" in asked.bars.value
    assert "width:20.0%" in asked.bars.value
    assert "✓" not in asked.bars.value
    asked.show_me.click()
    assert "10 · about 50 ✓" in asked.bars.value
    assert predictions.kept()[0]["hands"] == {"about 2": 30, "about 50": 10}


def test_a_widget_is_revealed_alive() -> None:
    slider = ipywidgets.IntSlider()
    asked = factor(reveals=lambda: slider)
    assert not asked.below.children
    asked.show_me.click()
    assert asked.below.children == (slider,)


def test_mathematics_and_marks() -> None:
    asked = predict("Is $a<b$, *or* `<eos>`?", choices=["yes", "no"], answer="yes", why="")
    assert "Is $a&lt;b$, <em>or</em> <code>&lt;eos&gt;</code>?" in asked.static()


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="none of the choices"):
        predict("?", choices=["a", "b"], answer="c", why="")
    with pytest.raises(ValueError, match="exactly one"):
        predict("?", choices=["a", "b"], within=1, answer="a", why="")
    with pytest.raises(ValueError, match="does not sort"):
        predict("?", order=["a", "b"], answer=["a", "a"], why="")
    with pytest.raises(ValueError, match="words of a button"):
        predict("?", choices=["only $c$", "both"], answer="both", why="")
    with pytest.raises(ValueError, match="cannot reveal a float"):
        factor(reveals=0.5)


def test_they_are_exported_and_forgotten(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    factor().buttons[1].click()
    table = tmp_path / "mine.csv"
    assert predictions.main(["--export", str(table)]) == 0
    assert "By what factor?" in table.read_text(encoding="utf-8")
    predictions.main(["--export", str(table.with_suffix(".json"))])
    assert json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))[0]["right"] is True
    predictions.main([])
    assert "1 of 1 right" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        predictions.main(["--export", "mine.txt"])
    predictions.main(["--forget"])
    assert not predictions.place().exists()


def test_a_broken_file_is_set_aside() -> None:
    factor().buttons[1].click()
    predictions.place().write_text("{", encoding="utf-8")
    assert predictions.kept() == []
    assert predictions.place().with_name("predictions.json.broken").exists()
