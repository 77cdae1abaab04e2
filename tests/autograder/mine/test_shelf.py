import os
from pathlib import Path
from typing import Any

import pytest

from autograder.mine import mine, own, shelf
from autograder.mine.shelf import folder
from tests.test_imports import ROOT


@pytest.mark.parametrize("name", ["../secret.rotate", "rotate", "transformer.rotate.x", "transformer./etc", len])
def test_a_name_is_no_path(open_notebook: Any, name: Any) -> None:
    open_notebook.of("transformer")
    for use in (mine, own):
        with pytest.raises(ValueError, match=r"assignment\.function"):
            use(name)


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


def test_what_a_student_handed_in_reaches_no_library_of_the_instructor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(shelf, "CHECKOUT", tmp_path)
    for name, there in {"submitted": None, "autograded": None, "work": tmp_path / "work" / "mine"}.items():
        place = tmp_path / name / "ana" / "attention"
        place.mkdir(parents=True)
        monkeypatch.chdir(place)
        assert folder() == there


@pytest.mark.skipif(os.name != "posix", reason="no such folders here")
def test_a_folder_that_all_accounts_share_has_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As /tmp, where another account could put functions into it."""
    (tmp_path / "attention").mkdir()
    tmp_path.chmod(0o1777)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.chdir(tmp_path / "attention")
    assert folder() == tmp_path / "attention" / "mine"
