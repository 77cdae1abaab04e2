"""Lint, doctor and clean: what is removed can be made again, and what is reported is true."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.files import open_to_others
from autograder.launcher import upkeep
from autograder.launcher.environment import Environment
from autograder.texts import notebooks


@pytest.fixture
def place(tmp_path: Path, root: Path) -> Environment:
    """A checkout with two lectures, built, and no environment."""
    (tmp_path / "lectures").mkdir()
    for name in ("01_one.py", "02_two.py"):
        (tmp_path / "lectures" / name).write_text("# %%\n1 + 1\n")
    shutil.copy(root / "pyproject.toml", tmp_path)
    notebooks.build(tmp_path)
    prefix = tmp_path / ".venv"
    return Environment(tmp_path, prefix, prefix / "bin" / "python", prefix / "site")


def test_clean_removes_what_is_built_and_keeps_what_was_worked_in(
    place: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (place.root / "lectures" / name for name in ("01_one.ipynb", "02_two.ipynb"))
    second.write_text(second.read_text().replace("1 + 1", "my idea"))
    (place.root / "artefacts").mkdir()
    (place.root / "kept").mkdir()
    assert upkeep.clean(place, []) == 0
    assert not first.exists()
    assert "my idea" in second.read_text()
    assert "02_two.ipynb" in capsys.readouterr().out
    assert not (place.root / "artefacts").exists()
    assert (place.root / "kept").exists()
    assert (place.root / "lectures" / "01_one.py").exists()


def test_clean_all_takes_the_environment_too_if_it_is_one(place: Environment) -> None:
    place.prefix.mkdir()
    (place.prefix / "precious.txt").touch()
    upkeep.clean(place, ["--all"])
    assert place.prefix.exists()  # without pyvenv.cfg it may be anything
    (place.prefix / "pyvenv.cfg").touch()
    upkeep.clean(place, [])
    assert place.prefix.exists()
    upkeep.clean(place, ["--all"])
    assert not place.prefix.exists()


def test_doctor_says_what_it_can_where_there_is_no_environment(
    place: Environment, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMIUM", "/bin/sh")
    assert upkeep.doctor(place, []) == 1
    said = capsys.readouterr().out
    assert "make setup" in said
    assert "chromium     /bin/sh" in said
    assert "git " in said


def test_the_browser_is_the_one_that_the_tests_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert upkeep.chromium() is None
    (tmp_path / "chromium-headless-shell").touch(0o755)
    assert upkeep.chromium() == str(tmp_path / "chromium-headless-shell")


@pytest.mark.skipif(os.name != "posix", reason="modes are those of Unix")
def test_doctor_names_what_other_accounts_can_read_of_a_course_with_students(tmp_path: Path) -> None:
    top = tmp_path
    while top.stat().st_uid == os.getuid() and top.parent != top and not top.stat().st_mode & 0o001:
        top.chmod(0o755)  # pytest's own folders are private
        top = top.parent
    assert open_to_others(tmp_path) == []
    for name in ("submitted", "grading", "solutions"):
        (tmp_path / name).mkdir(mode=0o700)
    assert open_to_others(tmp_path) == []
    (tmp_path / "solutions").chmod(0o755)
    (found,) = open_to_others(tmp_path)
    assert found.startswith("other accounts of this machine can read solutions: chmod 700")
    tmp_path.chmod(0o700)
    assert open_to_others(tmp_path) == []
