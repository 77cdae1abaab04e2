"""Every way in which an environment can be damaged is found; the packages are invented, the Pythons are real."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from autograder.files import write_json
from autograder.launcher import environment
from autograder.launcher.environment import UNFINISHED, Environment, Findings, examine, interpreter_fault, locate
from autograder.launcher.requirements import Wanted
from tests.autograder.launcher.invented import WANTED, add


@pytest.fixture
def healthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """For the checkout `tmp_path/root`."""
    monkeypatch.setattr(environment, "interpreter_fault", lambda *_: "")
    place = Environment(tmp_path / "root", tmp_path, tmp_path / "python", tmp_path / "site")
    place.root.mkdir()
    have = {"torch": "2.5+cpu", "numpy": "1.9", "weights": "1.0", "idna": "3"}
    for name, version in have.items():
        add(place.site, name, version)
    add(place.site, "thecourse", "0.1", course=place.root)
    note(place, distributions=have)
    return place


def note(place: Environment, **changes) -> None:
    extras = changes.pop("extras", [])
    known = environment.read_stamp(place)
    write_json(
        place.stamp, {"fingerprint": WANTED.fingerprint(extras), "extras": extras, "torch": "cpu", **known, **changes}
    )


def reasons(place: Environment, *asked: str, **how) -> list[str]:
    found = examine(place, WANTED, asked, **how)
    assert not found.changed
    return list(found.reasons)


def test_nothing_is_found_where_nothing_is_wrong(healthy: Environment) -> None:
    assert examine(healthy, WANTED).healthy
    assert examine(healthy, WANTED, torch="cpu").healthy


@pytest.mark.parametrize("content", [None, "{}", '{"fingerprint": '])
def test_a_set_up_that_did_not_finish(healthy: Environment, content: str | None) -> None:
    healthy.stamp.unlink()
    if content:
        healthy.stamp.write_text(content)
    assert reasons(healthy) == [UNFINISHED]


def test_other_requirements_than_those_installed(healthy: Environment) -> None:
    note(healthy, fingerprint="0")
    assert "other packages" in reasons(healthy)[0]


def test_an_extra_that_was_never_installed_is_missed_and_one_too_many_does_no_harm(healthy: Environment) -> None:
    assert "tests" in reasons(healthy, "tests")[0]
    healthy.stamp.unlink()
    note(healthy, extras=["tests", "an extra of once"], distributions={})
    assert reasons(healthy) == []


def test_another_build_of_torch_is_asked_for(healthy: Environment) -> None:
    assert "cuda" in reasons(healthy, torch="cuda")[0]


@pytest.mark.parametrize("name", ["numpy", "weights", "idna", "torch"])
def test_a_distribution_that_is_gone_whether_asked_for_or_needed_by_others(healthy: Environment, name: str) -> None:
    shutil.rmtree(next(healthy.site.glob(f"{name}-*.dist-info")))
    assert reasons(healthy) == [f"{name} is missing"]


def test_another_version_is_no_fault_but_a_question(healthy: Environment) -> None:
    (healthy.site / "numpy-1.9.dist-info" / "RECORD").write_text("numpy/__init__.py,sha256=0,6\n")
    (healthy.site / "numpy-1.9.dist-info").rename(healthy.site / "numpy-1.4.dist-info")
    assert examine(healthy, WANTED) == Findings([], ["numpy is 1.4 now, and was 1.9"])
    add(healthy.site, "another", "1")
    assert len(examine(healthy, WANTED).changed) == 1


def test_a_file_that_is_gone(healthy: Environment) -> None:
    (healthy.site / "idna" / "__init__.py").unlink()
    assert reasons(healthy) == ["idna: idna/__init__.py is missing"]


def test_a_file_that_was_cut_short(healthy: Environment) -> None:
    (healthy.site / "torch" / "__init__.py").write_text("x")
    assert reasons(healthy) == ["torch: torch/__init__.py has 1 bytes instead of 6"]
    conda = Environment(healthy.root, healthy.prefix, healthy.python, healthy.site, here=True)
    assert reasons(conda) == []  # conda writes other files than the wheel lists


@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
@pytest.mark.parametrize("damage", ["gone", "empty"])
def test_a_description_that_is_gone_or_empty(healthy: Environment, name: str, damage: str) -> None:
    path = healthy.site / "idna-3.dist-info" / name
    path.unlink()
    if damage == "empty":
        path.touch()
    assert reasons(healthy)[0].startswith("idna: its description")


def test_a_checkout_that_was_moved_or_copied(healthy: Environment) -> None:
    copy = Environment(healthy.root.with_name("copy"), healthy.prefix, healthy.python, healthy.site)
    shutil.copytree(healthy.root, copy.root)
    assert "moved here" in reasons(copy)[0]
    healthy.root.rename(healthy.root.with_name("elsewhere"))
    assert "moved here" in reasons(copy)[0]
    shutil.rmtree(healthy.site / "thecourse-0.1.dist-info")
    assert "not installed" in reasons(copy)[0]


def test_a_python_is_used_unless_it_is_too_old_or_another(bare: Environment) -> None:
    assert interpreter_fault(bare, WANTED) == ""
    assert "3.99" in interpreter_fault(bare, Wanted("c", ">=3.99", [], {}, [], "", []))
    elsewhere = Environment(bare.root, bare.root, bare.python, bare.site)
    assert "another Python" in interpreter_fault(elsewhere, WANTED)
    shutil.rmtree(bare.prefix)
    assert examine(bare, WANTED) == Findings([environment.NONE])


@pytest.mark.skipif(os.name == "nt", reason="another folder layout, without links")
def test_a_link_to_a_python_that_is_gone_and_packages_of_another_are_faults(bare: Environment) -> None:
    bare.site.parent.rename(bare.site.parent.with_name("python3.99"))
    assert "another Python" in interpreter_fault(locate(bare.root), WANTED)
    for link in bare.python.parent.glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python3")
    assert "does not start" in interpreter_fault(bare, WANTED)


def test_an_active_conda_environment_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDA_PREFIX", sys.prefix)
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "nlmcourse")
    place = locate(tmp_path)
    assert place.here
    assert place.python == Path(sys.executable)
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "base")
    assert not locate(tmp_path).here
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "nlmcourse")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path))  # activated, but this Python is another one
    assert not locate(tmp_path).here
    assert locate(tmp_path, here=True).here
