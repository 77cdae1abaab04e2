"""A lecture's questions as a quiz for a learning management system, for `python3 -m autograder quiz`.

Predictions become multiple choice, matching (put in order) or numerical questions; the answers are those that the
lecture computes, so it is run for them, which takes up to a minute each. "Check yourself" becomes essay questions, with
the answer as a note for whoever marks them. A question may speak of a picture or a table: its feedback names the lecture.
"""

import html
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from lectures import facts
from lectures.show.question import marked


@dataclass(frozen=True)
class Question:
    """`kind` is choice, order, number or open; `right` the option, the options in order, or (lowest, highest)."""

    name: str
    lecture: str
    kind: str
    question: str
    told: str
    why: str = ""
    options: Sequence[str] = ()
    right: Any = None

    @property
    def feedback(self) -> str:
        return f"<p>The answer: <b>{inline(self.told)}</b>. {inline(self.why)}</p><p>{html.escape(self.lecture)}</p>"


def inline(words: str) -> str:
    """Marked text as HTML, mathematics between the signs that both systems read: \\( and \\)."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
    return re.sub(r"\$\$?([^$]+)\$\$?", r"\\(\1\\)", marked(" ".join(plain.split())))


# --- what is asked --------------------------------------------------------------------------------------------


def predictions() -> list[dict[str, Any]]:
    """Those that this kernel has asked, as plain data."""
    from lectures.show import Prediction

    return [
        {
            "question": one.question,
            "kind": one.kind.name,
            "options": list(one.kind.options),
            "told": one.kind.told,
            "right": one.kind.bounds if one.kind.name == "number" else one.kind.answer,
            "why": without_pointer(one.why),
        }
        for one in Prediction.made.values()
    ]


def questions(path: Path) -> list[Question]:
    """Of one lecture, in its order."""
    source, number = path.read_text(encoding="utf-8"), path.stem[:2]
    words = "\n".join(facts.prose(source))
    title = re.search(r"^# (.+)$", words, re.M)
    lecture = f"Lecture {int(number)}, {title[1] if title else path.stem}"
    asked = facts.left_by(source, "quiz", "predictions()")
    found = [
        Question(f"{number}, prediction {i}", lecture, **one) for i, one in enumerate(asked, 1)
    ]
    for i, (question, answer) in enumerate(open_questions(words), 1):
        name = f"{number}, check yourself {i}"
        found.append(Question(name, lecture, "open", question, answer.rstrip(".")))
    return found


def without_pointer(why: str) -> str:
    """An explanation without its last words if these point at the widget below it: "Try it:"."""
    return re.sub(r"\s*[^.!?:]*:$", "", why)


def open_questions(words: str) -> list[tuple[str, str]]:
    """Those of the section "Check yourself", with their answers."""
    _, _, section = words.partition("## Check yourself")
    section = re.sub(r"<!--.*?-->", "", section, flags=re.S)
    asked = r"^\d+\. (.+?)\s*<details><summary>Answer</summary>(.+?)</details>"
    return [
        (question, answer.strip()) for question, answer in re.findall(asked, section, re.M | re.S)
    ]


# --- Moodle XML -----------------------------------------------------------------------------------------------


def add(to: ET.Element, tag: str, words: str | None = None, **attributes: str) -> ET.Element:
    made = ET.SubElement(to, tag, attributes)
    made.text = words
    return made


def moodle(asked: Sequence[Question]) -> bytes:
    """One category for each lecture."""
    quiz, seen = ET.Element("quiz"), set[str]()
    for one in asked:
        if one.lecture not in seen:
            seen.add(one.lecture)
            path = f"$course$/top/{one.lecture.replace('/', '//')}"
            add(add(add(quiz, "question", type="category"), "category"), "text", path)
        item = add(quiz, "question", type=_MOODLE[one.kind])
        add(add(item, "name"), "text", one.name)
        add(add(item, "questiontext", format="html"), "text", f"<p>{inline(one.question)}</p>")
        add(add(item, "generalfeedback", format="html"), "text", one.feedback)
        add(item, "defaultgrade", "1")
        if one.kind == "choice":
            add(item, "single", "true")
            add(item, "shuffleanswers", "false")
            add(item, "answernumbering", "none")
            for option in one.options:
                answer = add(
                    item, "answer", fraction="100" if option == one.right else "0", format="html"
                )
                add(answer, "text", inline(option))
        elif one.kind == "order":
            add(item, "shuffleanswers", "true")
            for option in one.options:
                part = add(item, "subquestion", format="html")
                add(part, "text", inline(option))
                add(add(part, "answer"), "text", str(one.right.index(option) + 1))
        elif one.kind == "number":
            low, high = one.right
            answer = add(item, "answer", fraction="100", format="moodle_auto_format")
            add(answer, "text", repr((low + high) / 2))
            add(answer, "tolerance", repr((high - low) / 2))
        else:
            add(item, "responseformat", "editor")
            add(add(item, "graderinfo", format="html"), "text", f"<p>{inline(one.told)}</p>")
    return _written(quiz)


_MOODLE = {"choice": "multichoice", "order": "matching", "number": "numerical", "open": "essay"}


def _written(tree: ET.Element) -> bytes:
    ET.indent(tree)
    return ET.tostring(tree, encoding="utf-8", xml_declaration=True) + b"\n"


# --- QTI 1.2, as Canvas reads it ------------------------------------------------------------------------------

_CANVAS = {
    "choice": "multiple_choice_question",
    "order": "matching_question",
    "number": "numerical_question",
    "open": "essay_question",
}
_NAME = "nlm-quiz"


def canvas(asked: Sequence[Question], title: str) -> ET.Element:
    """The assessment: one item for each question."""
    root = ET.Element("questestinterop", xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2")
    section = add(
        add(root, "assessment", ident=_NAME, title=title), "section", ident="root_section"
    )
    for number, one in enumerate(asked, 1):
        item = add(section, "item", ident=f"question-{number}", title=one.name)
        fields = add(add(item, "itemmetadata"), "qtimetadata")
        for label, entry in (("question_type", _CANVAS[one.kind]), ("points_possible", "1.0")):
            field = add(fields, "qtimetadatafield")
            add(field, "fieldlabel", label)
            add(field, "fieldentry", entry)
        shown = add(item, "presentation")
        _material(shown, f"<p>{inline(one.question)}</p>")
        scores = add(item, "resprocessing")
        add(
            add(scores, "outcomes"),
            "decvar",
            maxvalue="100",
            minvalue="0",
            varname="SCORE",
            vartype="Decimal",
        )
        feedback = add(scores, "respcondition", **{"continue": "Yes"})
        add(add(feedback, "conditionvar"), "other")
        add(feedback, "displayfeedback", feedbacktype="Response", linkrefid="general_fb")
        _ANSWERS[one.kind](one, shown, scores)
        _material(add(add(item, "itemfeedback", ident="general_fb"), "flow_mat"), one.feedback)
    return root


def _material(to: ET.Element, words: str) -> None:
    add(add(to, "material"), "mattext", words, texttype="text/html")


def _options(to: ET.Element, ident: str, options: Sequence[str]) -> None:
    render = add(to, "render_choice")
    for i, option in enumerate(options):
        _material(add(render, "response_label", ident=f"{ident}-{i}"), inline(option))


def _scored(
    scores: ET.Element, ident: str, value: str, points: float, action: str = "Set"
) -> None:
    condition = add(scores, "respcondition", **{"continue": "No"} if action == "Set" else {})
    add(add(condition, "conditionvar"), "varequal", value, respident=ident)
    add(condition, "setvar", f"{points:.2f}", action=action, varname="SCORE")


def _choice(one: Question, shown: ET.Element, scores: ET.Element) -> None:
    _options(
        add(shown, "response_lid", ident="response1", rcardinality="Single"),
        "option",
        one.options,
    )
    _scored(scores, "response1", f"option-{list(one.options).index(one.right)}", 100)


def _order(one: Question, shown: ET.Element, scores: ET.Element) -> None:
    places = [str(place) for place in range(1, len(one.options) + 1)]
    for i, option in enumerate(one.options):
        part = add(shown, "response_lid", ident=f"response-{i}")
        _material(part, inline(option))
        _options(part, "place", places)
        _scored(
            scores, f"response-{i}", f"place-{one.right.index(option)}", 100 / len(places), "Add"
        )


def _typed(shown: ET.Element, **kind: str) -> None:
    render = add(
        add(shown, "response_str", ident="response1", rcardinality="Single"), "render_fib", **kind
    )
    add(render, "response_label", ident="answer1", rshuffle="No")


def _number(one: Question, shown: ET.Element, scores: ET.Element) -> None:
    _typed(shown, fibtype="Decimal")
    condition = add(scores, "respcondition", **{"continue": "No"})
    bounds = add(condition, "conditionvar")
    for tag, bound in zip(("vargte", "varlte"), one.right, strict=True):
        add(bounds, tag, repr(float(bound)), respident="response1")
    add(condition, "setvar", "100", action="Set", varname="SCORE")


def _open(one: Question, shown: ET.Element, scores: ET.Element) -> None:
    _typed(shown)


_ANSWERS = {"choice": _choice, "order": _order, "number": _number, "open": _open}


def package(path: Path, asked: Sequence[Question], title: str) -> None:
    """The zip that Canvas imports: a manifest and the assessment."""
    manifest = ET.Element(
        "manifest",
        identifier="nlm-manifest",
        xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1",
    )
    metadata = add(manifest, "metadata")
    add(metadata, "schema", "IMS Content")
    add(metadata, "schemaversion", "1.1.3")
    add(manifest, "organizations")
    place = f"{_NAME}/{_NAME}.xml"
    resource = add(
        add(manifest, "resources"), "resource", identifier=_NAME, type="imsqti_xmlv1p2"
    )
    add(resource, "file", href=place)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("imsmanifest.xml", _written(manifest))
        made.writestr(place, _written(canvas(asked, title)))
