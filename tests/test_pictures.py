"""A picture without words is found wherever it hides."""

import nbformat
import pytest

from tests.pictures import nameless_pictures


def code(source: str = "x", **output):
    return nbformat.v4.new_code_cell(source, outputs=[nbformat.v4.new_output("display_data", **output)])


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        (code(data={"image/png": "aGk="}), 1),
        (code(data={"image/png": "aGk="}, metadata={"image/png": {"alt": "a heat map"}}), 0),
        (code(data={"text/html": "<p>words</p>"}), 0),
        (code(data={"text/html": '<img src="a.png">'}), 1),
        (code(data={"text/html": '<img src="a.png" alt=" ">'}), 1),
        (code(data={"text/html": '<img src="a.png" alt="a tree"/>', "image/png": "aGk="}), 0),
        (code(data={"text/html": "<div><svg><rect/></svg></div>"}), 1),
        (code(data={"text/html": '<svg role="img" aria-label="a tree"><rect/></svg>'}), 0),
        (code(data={"text/html": '<div role="img" aria-label="a tree"><svg><g></g></svg><img src="b"></div>'}), 0),
        (code(data={"text/html": '<div role="img" aria-label="a"><svg/></div><svg></svg>'}), 1),
        (code(data={"text/html": '<svg aria-hidden="true"></svg>'}), 0),
        (code(data={"image/svg+xml": '<svg aria-label="a tree"></svg>'}), 0),
        (code(data={"image/svg+xml": "<svg></svg>"}), 1),
        (nbformat.v4.new_markdown_cell("![](a.png) ![a tree](b.png)"), 1),
        (nbformat.v4.new_markdown_cell('<img src="a.png" alt="a tree">'), 0),
    ],
)
def test_pictures_without_words_are_found(cell, count: int) -> None:
    assert len(nameless_pictures(cell)) == count
