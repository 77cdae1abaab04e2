"""A lecture's questions in an LMS: the right answer is the right answer there, in each of the four kinds."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from autograder.commands.around import quiz as command
from autograder.launcher import environment
from lectures import FOLDER, quiz
from lectures.quiz import Question

ASKED = [
    Question("03, 1", "On A/B", "choice", "How many, $x^2$ & `y`?", "two", "As 1 < 2.", ("one", "two"), "two"),
    Question("03, 2", "On A/B", "order", "Sort.", "b, c, a", "", ("a", "b", "c"), ["b", "c", "a"]),
    Question("03, 3", "On A/B", "number", "How much?", "4", "", (), (2.0, 8.0)),
    Question("04, 1", "On C", "open", "Why?", "*Because*"),
]


def test_moodle() -> None:
    tree = ET.fromstring(quiz.moodle(ASKED))
    kinds = [item.get("type") for item in tree]
    assert kinds == ["category", "multichoice", "matching", "numerical", "category", "essay"]
    assert tree[0].findtext("category/text") == "$course$/top/On A//B", "a slash would begin a subcategory"
    assert tree[1].findtext("questiontext/text") == r"<p>How many, \(x^2\) &amp; <code>y</code>?</p>"
    marks = {answer.findtext("text"): answer.get("fraction") for answer in tree[1].iter("answer")}
    assert marks == {"one": "0", "two": "100"}
    places = {part.findtext("text"): part.findtext("answer/text") for part in tree[2].iter("subquestion")}
    assert places == {"a": "3", "b": "1", "c": "2"}
    middle, reach = (float(tree[3].findtext(f"answer/{tag}") or "nan") for tag in ("text", "tolerance"))
    assert (middle - reach, middle + reach) == (2, 8)
    assert tree[5].findtext("graderinfo/text") == "<p><em>Because</em></p>"
    assert "1 &lt; 2" in (tree[1].findtext("generalfeedback/text") or "")


def test_canvas(tmp_path: Path) -> None:
    quiz.package(tmp_path / "quiz.zip", ASKED, "A quiz")
    with zipfile.ZipFile(tmp_path / "quiz.zip") as made:
        manifest = ET.fromstring(made.read("imsmanifest.xml"))
        place = next(one for one in manifest.iter() if one.tag.endswith("file")).get("href")
        root = ET.fromstring(made.read(str(place)))
    for element in root.iter():
        element.tag = element.tag.partition("}")[2]
    choice, order, number, opened = root.iter("item")
    labels = {one.get("ident"): one.findtext("material/mattext") for one in choice.iter("response_label")}
    scored = [one for one in choice.iter("respcondition") if one.find("setvar") is not None]
    assert [labels[one.findtext("conditionvar/varequal")] for one in scored] == ["two"]
    names = {part.get("ident"): part.findtext("material/mattext") for part in order.iter("response_lid")}
    texts = {one.get("ident"): one.findtext("material/mattext") for one in order.iter("response_label")}
    found = {}
    for one in order.iter("respcondition"):
        if (equal := one.find("conditionvar/varequal")) is not None:
            found[names[equal.get("respident")]] = texts[equal.text]
            assert one.find("setvar").get("action") == "Add"  # type: ignore[union-attr]
    assert found == {"a": "3", "b": "1", "c": "2"}
    assert sum(float(one.text or 0) for one in order.iter("setvar")) == pytest.approx(100, abs=0.05)
    assert [number.findtext(f".//{bound}") for bound in ("vargte", "varlte")] == ["2.0", "8.0"]
    assert opened.find(".//setvar") is None, "nobody marks it but a person"
    kinds = [item.findtext(".//fieldentry") for item in (choice, order, number, opened)]
    assert kinds == ["multiple_choice_question", "matching_question", "numerical_question", "essay_question"]


def test_every_lecture_has_its_open_questions() -> None:
    for path in sorted(FOLDER.glob("[0-9]*_*.py")):
        words = "\n".join(line.removeprefix("#").removeprefix(" ") for line in path.read_text("utf-8").splitlines())
        section = words.partition("## Check yourself")[2]
        asked = quiz.open_questions(words)
        assert len(asked) == section.count("<details><summary>Answer</summary>") > 0, path.stem
        assert not any("<!--" in part or "<details" in part for pair in asked for part in pair), path.stem


def test_an_explanation_does_not_point_at_what_is_not_there() -> None:
    assert quiz.without_pointer("It is steep. Try it:") == "It is steep."
    assert quiz.without_pointer("It is steep: very.") == "It is steep: very."


@pytest.mark.parametrize("arguments", [["99"], ["3", "--to", "quiz.pdf"]])
def test_a_wrong_call_runs_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(environment.locate(FOLDER.parent, True), arguments) == 2
    said = capsys.readouterr().err
    assert arguments[-1] in said
    assert "Running" not in said


def test_the_command_writes_what_the_name_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiz, "questions", lambda path: ASKED)
    place = environment.locate(FOLDER.parent, True)
    for name in ("quiz.xml", "quiz.zip"):
        assert command(place, ["attention", "--to", str(tmp_path / name)]) == 0
    assert len(ET.parse(tmp_path / "quiz.xml").getroot()) == len(ASKED) + 2
    assert zipfile.is_zipfile(tmp_path / "quiz.zip")
    assert command(place, ["13", "--predictions", "--to", str(tmp_path / "quiz.xml")]) == 0
    kinds = [item.get("type") for item in ET.parse(tmp_path / "quiz.xml").getroot()]
    assert "essay" not in kinds
