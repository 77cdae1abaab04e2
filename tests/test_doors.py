"""Container, development container, Binder and project files say what the course says: one Python, its commands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import nlmcore
from autograder.launcher import lab, requirements, verbs
from tests import readme_picture
from tests.autograder.site.browsing import reader, started
from tests.bare_system import recipe
from tests.test_workflows import NEWEST

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DEVCONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PICTURES = 300_000
"""Bytes that README's pictures may have together."""


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_all_doors_have_one_python_which_the_course_is_for() -> None:
    (container,) = re.findall(r"^ARG PYTHON=(3\.\d+)$", DOCKERFILE, re.M)
    binder = next(line for line in read("binder/environment.yml")["dependencies"] if line.startswith("python "))
    assert binder == f"python ={container}"
    assert container in SpecifierSet(requirements.read(ROOT).python)
    assert tuple(map(int, container.split("."))) <= NEWEST


def test_all_doors_set_up_with_the_courses_own_commands() -> None:
    lines, variables = recipe(DOCKERFILE)
    binder = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    everything = "\n".join([*lines, DEVCONTAINER["postCreateCommand"], binder])
    commands = re.findall(r"python3 -m autograder (.+?)(?: &&|$)", everything, re.M)
    assert {command.split()[0] for command in commands} == {"setup", "build"}
    assert len(commands) == 6
    for command in commands:
        verb, *words = command.split()
        assert verb in verbs.VERBS
        options, rest = verbs.parse(words)
        assert (options.here, rest) == ("--here" in words, ["--unaudited"] if verb == "build" else [])
    python = DEVCONTAINER["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert python == f"{variables['NLM_VENV']}/bin/python"


def test_a_container_starts_with_verbs_and_opens_the_lab_to_its_port() -> None:
    assert json.loads(re.search(r"^ENTRYPOINT (.+)$", DOCKERFILE, re.M)[1]) == ["python3", "-m", "autograder"]  # type: ignore[index]
    verb, *words = json.loads(re.search(r"^CMD (.+)$", DOCKERFILE, re.M)[1])  # type: ignore[index]
    assert verb == "lab"
    assert verbs.parse(words)[1] == ["--no-browser", "--ip=0.0.0.0"]
    for run in re.findall(r"^#\s+docker run .* nlmcourse (\w+)", DOCKERFILE, re.M):
        assert run in verbs.VERBS
    stages = re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.M)
    assert DEVCONTAINER["build"]["target"] in stages
    assert (ROOT / ".devcontainer" / DEVCONTAINER["build"]["dockerfile"]).samefile(ROOT / "Dockerfile")


def test_nothing_that_git_ignores_gets_into_an_image() -> None:
    """Students' work among it."""
    lines = [(ROOT / name).read_text(encoding="utf-8").splitlines() for name in (".gitignore", ".dockerignore")]
    ignored, left = ({line.strip("/") for line in each if line and line[0] != "#"} for each in lines)
    assert {line for line in ignored if line not in left and f"**/{line}" not in left} == set()
    assert ".git" in left


@pytest.mark.skipif(os.name != "posix", reason="Binder runs on Linux")
def test_what_binder_starts_has_the_courses_settings() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    line = ["bash", "binder/start", "env"]
    done = subprocess.run(line, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
    settings = dict(row.split("=", 1) for row in done.stdout.splitlines() if row.startswith("JUPYTER_"))
    assert settings["JUPYTER_CONFIG_PATH"].split(os.pathsep)[:2] == [str(ROOT / lab.READING), str(ROOT / lab.SETTINGS)]
    for name in ("postBuild", "start"):
        assert os.access(ROOT / "binder" / name, os.X_OK), name


def test_each_form_for_an_issue_can_be_read() -> None:
    assert [path.stem for path in FORMS] == ["bug", "claim", "config", "teaching"]
    for path in FORMS:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.stem != "config":
            assert {"name", "description", "body"} <= set(form)
            assert all(part["attributes"]["label"] for part in form["body"])


def test_the_citation_and_the_changes_are_of_this_version() -> None:
    citation = read("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == nlmcore.__version__
    first = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    tag = re.search(r"git tag v([\w.]+)", (ROOT / "DOORS.md").read_text(encoding="utf-8"))
    assert first is not None
    assert tag is not None
    assert first[1] == tag[1] == nlmcore.__version__


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "CITATION.cff"])
def test_lectures_and_assignments_are_counted_right(page: str) -> None:
    lectures = len(list(ROOT.glob("lectures/[0-9]*_*.py")))
    assignments = sum(
        path.parent.name != "capstone" and not path.parent.name.startswith("project_")
        for path in ROOT.glob("solutions/*/notes.md")
    )
    said = re.findall(r"\b(\d+) (?:\w+ ){,2}(lectures|assignments)\b", (ROOT / page).read_text(encoding="utf-8"))
    assert set(said) == {(str(lectures), "lectures"), (str(assignments), "assignments")}


def test_readmes_pictures_are_small_and_say_what_they_show() -> None:
    pictures = re.findall(r"!\[(.*?)\]\((.+?)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert pictures
    assert all(len(said) > 40 for said, _ in pictures)
    assert sum((ROOT / name).stat().st_size for _, name in pictures) <= PICTURES


@pytest.mark.browser
@pytest.mark.everything
def test_readmes_moving_picture_can_be_made_again(tmp_path: Path) -> None:
    with started() as chromium, reader(chromium) as visit:
        taken = readme_picture.pictures(visit(readme_picture.page(tmp_path), width=900, height=900))
    assert len(taken) == len(readme_picture.TYPED) + 1
    assert len({picture.size for picture in taken}) == 1
    assert len({picture.tobytes() for picture in taken}) == len(taken)
