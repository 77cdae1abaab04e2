"""The workflows of the hosting (`.github/workflows`): what they run exists, and they cover the course's Pythons."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.launcher import requirements
from autograder.launcher.verbs import VERBS

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NEWEST = (3, 14)


def read(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def test_the_matrix_covers_every_python_and_system_of_the_course() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    oldest = tuple(map(int, re.findall(r"\d+", requirements.read(ROOT).python)))
    pythons = [f"3.{minor}" for minor in range(oldest[1], NEWEST[1] + 1)]
    assert oldest[0] == NEWEST[0]
    assert jobs["pip"]["strategy"]["matrix"]["python"] == pythons
    for job in jobs.values():
        systems = [name.partition("-")[0] for name in job["strategy"]["matrix"]["os"]]
        assert systems == ["ubuntu", "macos", "windows"]
        assert job["strategy"]["fail-fast"] is False
    conda = next(step for step in jobs["conda"]["steps"] if "miniconda" in step.get("uses", ""))
    assert (ROOT / conda["with"]["environment-file"]).is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_workflow_runs_is_a_verb_of_the_course(path: Path) -> None:
    ran = "\n".join(step["run"] for step in steps(path) if "run" in step)
    verbs = re.findall(r"^(?:make|(?:py|python) -m autograder|docker run --rm nlmcourse) (\S+)", ran, re.M)
    assert verbs
    assert set(verbs) <= set(VERBS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_workflow_ends_may_do_little_and_names_no_host(path: Path) -> None:
    document = read(path)
    assert document["permissions"] == {"contents": "read"}
    assert document["concurrency"]["group"]
    for job in document["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 90
    for step in steps(path):
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1")), step
    assert not re.findall(r"https?://|pypi|\.(?:org|com|io)\b", path.read_text(encoding="utf-8"))


def test_the_site_is_put_online_from_the_folder_that_is_built() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "site.yml")["jobs"]
    used = {step["uses"].partition("@")[0]: step.get("with", {}) for step in jobs["build"]["steps"] if "uses" in step}
    assert used["actions/upload-pages-artifact"]["path"] == "site"
    assert used["actions/cache"]["path"] == "build/site"
    assert jobs["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert jobs["deploy"]["needs"] == "build"
