"""environment.yml (conda) and pyproject.toml (pip) ask for the same packages in the same ranges, and constraints.txt
names a version of each that lies in them."""

import re
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from autograder.launcher import requirements
from autograder.launcher.requirements import canonical

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base", "playwright": "playwright-python"}
"""Where conda-forge calls a distribution by another name."""
ONLY_CONDA = {"python", "pip"}


def conda() -> dict[str, list[str]]:
    """Name -> the words of its line: range and, where one is asked for, build."""
    document = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert all(isinstance(line, str) for line in document["dependencies"]), "a pip section would hide a dependency"
    return {line.split()[0]: line.split()[1:] for line in document["dependencies"]}


def pip() -> list[Requirement]:
    wanted = requirements.read(ROOT)
    return [Requirement(line) for line in (*wanted.base, *wanted.extras["tests"])]


def test_every_requirement_is_in_both_with_the_same_range() -> None:
    listed = conda()
    for requirement in pip():
        name = CONDA_NAMES.get(requirement.name, requirement.name)
        assert name in listed, f"environment.yml lacks {name}"
        assert sorted(listed[name][0].split(",")) == sorted(str(requirement.specifier).split(",")), name


def test_conda_asks_for_nothing_else() -> None:
    names = {CONDA_NAMES.get(r.name, r.name) for r in pip()} | ONLY_CONDA
    assert set(conda()) == names


def test_both_ask_for_the_same_python_and_a_build_without_cuda() -> None:
    listed = conda()
    assert listed["python"] == [requirements.read(ROOT).python]
    assert listed["pytorch"][1].startswith("cpu")


def test_the_environment_is_called_after_the_course() -> None:
    document = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert canonical(document["name"]) == requirements.read(ROOT).name
    assert document["channels"] == ["conda-forge", "nodefaults"]


def test_what_is_installed_here_lies_in_the_ranges() -> None:
    from importlib.metadata import version

    for requirement in [*pip(), *map(Requirement, requirements.read(ROOT).no_deps)]:
        assert requirement.specifier.contains(version(requirement.name)), requirement


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_every_requirement_has_one_exact_version_in_its_range(minor: int, system: str) -> None:
    """On each Python and system: `make pins` has been run since the ranges changed."""
    there = {
        "python_full_version": f"3.{minor}.9",
        "sys_platform": system,
        "os_name": "nt" if system == "win32" else "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    exact: dict[str, list[str]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            pin = Requirement(line)
            assert re.fullmatch(r"==[^,*]+", str(pin.specifier)), line
            if pin.marker is None or pin.marker.evaluate(there):
                exact.setdefault(canonical(pin.name), []).append(str(pin.specifier)[2:])
    wanted = requirements.read(ROOT)
    assert exact["torch"] == [wanted.torch]
    for line in [*wanted.requirements(wanted.extras), *wanted.no_deps, *wanted.build]:
        (version,) = exact[requirements.named(line)]
        assert Requirement(line).specifier.contains(version), line


def test_the_course_names_no_index() -> None:
    """Where packages come from is the machine's business: no host of one is written down."""
    hosts = ["pypi." + "org", "pythonho" + "sted", "download.pytorch" + ".org", "anaconda" + ".org"]
    for path in ROOT.glob("*"):
        if (
            path.is_file()
            and path.suffix in {".toml", ".yml", ".yaml", ".md", ".py", ".txt", ""}
            and path.name != ".git"
        ):
            content = path.read_text(encoding="utf-8", errors="replace")
            assert not any(host in content for host in hosts), path.name
