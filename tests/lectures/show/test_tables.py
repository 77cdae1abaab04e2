"""Pictures: every one says in words what it shows, labels fit, and wrong input is refused in words."""

import numpy as np
import pytest

from lectures import show

WORDS = ["the", "<cat>", 'sat "down"']
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.01, 0.99, 0.0], [0.3, 0.3, 0.4]])


def test_a_heatmap_writes_every_number_and_marks_what_is_masked() -> None:
    drawing = show.heatmap_svg(np.where(WEIGHTS < 0.05, np.nan, WEIGHTS), WORDS, WORDS, alt="masked", numbers=True)
    assert drawing.count(">×<") == 2
    assert drawing.count("masked</title>") == 2
    assert ">0.99<" in drawing


def test_stripes_and_tables() -> None:
    picture = show.vectors_svg([("left", ["a", "b"], np.zeros((2, 3)))], alt="Two stripes.", note="first\nsecond")
    assert picture.count("<image") == 2
    assert "second</text>" in picture
    assert show.tables_svg([("x", np.eye(3)), ("y", np.eye(4))], alt="Two tables.").count("<image") == 2
    with pytest.raises(ValueError, match="label per row"):
        show.vectors_svg([("left", ["a"], np.zeros((2, 3)))], alt="Wrong.")


def test_a_table_of_words_and_numbers() -> None:
    made = show.table([("<GPT>", "2.42"), ("LSTM", "-10.5 (-12 to 7e-8)")], ["", "bits & more"], "five seeds").data
    assert made.count("<tr>") == 3
    assert made.count("class=right") == 3, "a column of numbers and its title"
    assert "&lt;GPT&gt;" in made
    assert "−10.5 (−12 to 7e−8)" in made
    assert made.endswith("<p>five seeds</p></div>")
    for wrong in ([], [("a",), ("a", "b")]):
        with pytest.raises(ValueError, match="as many cells each"):
            show.table(wrong)
    with pytest.raises(ValueError, match=r"its head \['a'\]"):
        show.table([("a", "b")], ["a"])
