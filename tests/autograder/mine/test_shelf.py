from pathlib import Path
from typing import Any

import pytest

from autograder.mine import mine
from autograder.mine.shelf import folder
from tests.test_imports import ROOT


@pytest.mark.parametrize("name", ["../secret.rotate", "rotate", "transformer.rotate.x", "transformer./etc"])
def test_a_name_is_no_path(open_notebook: Any, name: str) -> None:
    open_notebook.of("transformer")
    with pytest.raises(ValueError, match=r"assignment\.function"):
        mine(name)


@pytest.mark.parametrize(
    ("here", "there"),
    [("work/attention", "work/mine"), ("home/ana/course/attention", "home/ana/course/mine")],
)
def test_the_library_is_next_to_the_notebooks_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, there: str
) -> None:
    (tmp_path / here).mkdir(parents=True)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.chdir(tmp_path / here)
    assert folder() == tmp_path / there


def test_in_the_courses_folder_it_is_in_work_and_source_notebooks_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.chdir(ROOT / "exercises" / "attention")
    assert folder() == ROOT / "work" / "mine"
    monkeypatch.chdir(ROOT / "solutions" / "attention")
    assert folder() is None
