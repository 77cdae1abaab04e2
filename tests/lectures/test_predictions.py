"""The search for answers that are given away finds them where they are open, and only there."""

from typing import Any

import nbformat
import pytest

from lectures.show import predict
from tests.lectures.predictions import asked_in, given_away


def prediction(**given: Any) -> Any:
    asked = predict("How large?", **({"within": 0.1, "answer": 0.545, "why": "So."} | given))
    return output("text/html", asked.static())


def output(kind: str, text: str) -> Any:
    return nbformat.v4.new_output("display_data", {kind: text})


def code(source: str, *outputs: Any, hidden: bool = False) -> Any:
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), metadata={"jupyter": {"source_hidden": hidden}})


words = nbformat.v4.new_markdown_cell
CHOICE = {"within": None, "choices": ["red", "green"], "answer": "green"}


@pytest.mark.parametrize(
    ("before", "given", "found"),
    [
        (words("It is 0.545."), {}, True),
        (words('<img alt="0.545 high">'), {}, True),
        (words("<details><summary>Answer</summary>0.545</details>"), {}, False),
        (code("print(0.545)"), {}, True),
        (code("print(0.545)", hidden=True), {}, False),
        (code("draw()", output("text/html", '<svg aria-label="a bar of 0.545"></svg>')), {}, True),
        (code("draw()", output("text/html", '<svg aria-label="a bar of 10.545"></svg>')), {}, False),
        (code("draw()", output("text/html", '<img alt="It is green.">')), CHOICE, True),
        (code("draw()", output("text/html", '<img alt="Red and red, green and blue: red, green.">')), CHOICE, False),
    ],
)
def test_what_gives_an_answer_away(before: Any, given: dict[str, Any], found: bool) -> None:
    cells = [words("## 1. Other: 0.545"), words("## 2. A section"), before, code("…", prediction(**given), hidden=True)]
    (asked,) = asked_in(cells)
    assert bool(given_away(cells, asked)) == found


def test_what_follows_counts_up_to_the_next_question() -> None:
    after = [words("So it is 0.545."), words("## 3. The next")]
    question = code("…", prediction(), hidden=True)
    (asked,) = asked_in([words("## 1."), question, *after])
    assert given_away([words("## 1."), question, *after], asked)
    cells = [words("## 1."), question, code("…", prediction(answer=2), hidden=True), *after]
    assert not given_away(cells, next(asked_in(cells)))
