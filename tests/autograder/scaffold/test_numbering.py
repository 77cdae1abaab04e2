"""A lecture's number stands in its file's name alone, and one command makes room for another lecture."""

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.scaffold import numbering
from autograder.texts import glossary
from tests.autograder.courses import env

ROOT = Path(__file__).resolve().parents[3]
GATES = """\
# %% [markdown]
# # Gates
#
# Lecture 1 and lectures 1 and 3; lecture 9 is not there. <img alt="lecture 1">
#
# <details><summary>Answer</summary>See
# lecture 3.</details>

# %% [markdown]
# ### Words of this lecture
#
# - **gate**: a door.

# %%
# lecture 1 in code
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "lectures").mkdir()
    for name, text in {
        "01_words.py": "# %%\n",
        "02_gates.py": GATES,
        "03_more.py": "# %%\n",
        "03_more.ipynb": "{}",
        "README.md": "| 2 | [Gates](02_gates.py): doors |\n| 3 | [More](03_more.py) |\n",
    }.items():
        (tmp_path / "lectures" / name).write_text(text)
    return tmp_path


def test_every_lecture_is_called_by_its_topic() -> None:
    assert not numbering.faults(ROOT), "python3 -m autograder renumber"


def test_bare_numbers_in_prose_become_links(course: Path) -> None:
    numbering.renumber(course)
    text = (course / "lectures" / "02_gates.py").read_text()
    assert "# [Lecture 1](01_words.ipynb) and lectures 1 and 3" not in text, "a line with a picture is left alone"
    assert '# <a href="03_more.ipynb">lecture 3</a>.</details>' in text
    assert [fault.split(":")[1] for fault in numbering.faults(course)] == ["4", "4", "4", "4", "15"]
    (course / "lectures" / "02_gates.py").write_text(GATES.replace(' <img alt="lecture 1">', ""))
    numbering.renumber(course)
    text = (course / "lectures" / "02_gates.py").read_text()
    assert "# [Lecture 1](01_words.ipynb) and lectures [1](01_words.ipynb) and [3](03_more.ipynb); lecture 9" in text


def test_room_is_made_with_every_link(course: Path) -> None:
    numbering.renumber(course)
    numbering.renumber(course, room_at=2)
    names = {path.name for path in (course / "lectures").iterdir()}
    assert names == {"01_words.py", "03_gates.py", "04_more.py", "04_more.ipynb", "README.md", "GLOSSARY.md"}
    readme = (course / "lectures" / "README.md").read_text()
    assert readme == "| 3 | [Gates](03_gates.py): doors |\n| 4 | [More](04_more.py) |\n"
    assert '<a href="04_more.ipynb">lecture 4</a>' in (course / "lectures" / "03_gates.py").read_text()
    assert "[3](03_gates.py)" in (course / glossary.WHERE).read_text()
    assert numbering.renumber(course, room_at=2) == [], "there is room already"
    numbering.renumber(course, close_gaps=True)
    assert numbering.topics(course) == {"words": 1, "gates": 2, "more": 3}
    assert '<a href="03_more.ipynb">lecture 3</a>' in (course / "lectures" / "02_gates.py").read_text()


def test_a_stale_link_is_found_and_mended(course: Path, call: Callable[..., str]) -> None:
    (course / "lectures" / "02_gates.py").write_text("# %% [markdown]\n# In [lecture 1](01_words.ipynb).\n")
    (course / "lectures" / "01_words.py").rename(course / "lectures" / "05_words.py")
    assert numbering.faults(course) == ["lectures/02_gates.py: a link has another number than its lecture"]
    assert numbering.program(env(course), []) == 0
    assert "# In [lecture 5](05_words.ipynb)." in (course / "lectures" / "02_gates.py").read_text()
    (course / "lectures" / "05_more.py").write_text("# %%\n")
    assert "another lecture has this number or this topic" in call(numbering.program, env(course), code=1)
