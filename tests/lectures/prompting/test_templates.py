"""Prompts look as they should."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures.prompting import Template, few_shot_prompt
from tests.lectures.prompting.models import CAPITALS


def test_a_prompt_is_its_examples_and_an_open_question() -> None:
    assert few_shot_prompt(CAPITALS[:2], "Peru") == "France -> Paris\nItaly -> Rome\nPeru ->"
    template = Template("Q: {input}\nA: {output}", "\n\n", "Name the capital.")
    assert few_shot_prompt([("Italy", "Rome")], "Peru", template) == (
        "Name the capital.\n\nQ: Italy\nA: Rome\n\nQ: Peru\nA:"
    )
    assert few_shot_prompt([], "Peru", template) == "Name the capital.\n\nQ: Peru\nA:"
    assert template.separator == " "
    assert Template("{input}={output}").separator == ""
    assert few_shot_prompt([], "x", Template("{input}:\n{output}")) == "x:\n"  # a line's end stays


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text(min_size=1))
def test_what_is_asked_and_answered_is_one_line_of_the_prompt(examples: list[tuple[str, str]], query: str) -> None:
    """Braces and all: the question with its answer joined on is what it would be as an example."""
    template = Template("Q: {input} A: {output}", "\n--\n")
    whole = few_shot_prompt([*examples, (query, "!")], "?", template)
    assert whole.startswith(few_shot_prompt(examples, query, template) + template.separator + "!" + template.between)


@pytest.mark.parametrize("form", ["{input}", "{output} {input}", "{input} {input} {output}", "{} {output}", "no"])
def test_a_form_without_question_and_answer_is_refused(form: str) -> None:
    with pytest.raises(ValueError, match="form must have"):
        Template(form)
