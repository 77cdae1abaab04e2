"""Every way in which an environment can be damaged is found, on a folder of invented distributions."""

import shutil
from pathlib import Path

import pytest

from autograder.launcher import health
from autograder.launcher.health import Findings, Stamp, examine
from autograder.launcher.requirements import Requirement, Wanted

WANTED = Wanted(
    name="thecourse",
    python=">=3.11",
    base=(Requirement("torch", ">=2,<3"), Requirement("numpy", ">=1.5")),
    extras={"tests": (Requirement("pytest", ">=8"),)},
    no_deps=(Requirement("weights", "==1.0"),),
    torch="2.5",
)


def add(site: Path, name: str, version: str, content: str = "x = 1\n") -> Path:
    """A wheel as pip leaves it: one module, METADATA and RECORD."""
    info = site / f"{name}-{version}.dist-info"
    (site / name).mkdir(parents=True, exist_ok=True)
    info.mkdir()
    (site / name / "__init__.py").write_text(content)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    rows = [f"{name}/__init__.py,sha256=0,{len(content)}", f"../../../bin/{name},sha256=0,77"]
    rows += [f"{name}/__pycache__/a.pyc,,", f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(rows) + "\n")
    return info


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A healthy environment for the checkout `tmp_path/root`."""
    (tmp_path / "root").mkdir()
    folder = tmp_path / "site"
    for name, version in {"torch": "2.5+cpu", "numpy": "1.9", "weights": "1.0", "pip": "25.0", "idna": "3"}.items():
        add(folder, name, version)
    (folder / "pip" / "__main__.py").touch()
    course = add(folder, "thecourse", "0.1")
    (course / "direct_url.json").write_text(
        '{"dir_info": {"editable": true}, "url": "' + (tmp_path / "root").as_uri() + '"}'
    )
    return folder


def stamp(*extras: str, **changes) -> Stamp:
    values = {
        "fingerprint": WANTED.fingerprint(extras),
        "extras": extras,
        "python": "3.11.2",
        "torch": "cpu",
        "distributions": {"torch": "2.5+cpu", "numpy": "1.9", "weights": "1.0", "idna": "3"},
    }
    return Stamp(**(values | changes))


def look(site: Path, mark: Stamp | None, *extras: str, torch: str | None = None, files: bool = True) -> Findings:
    return examine(site, mark, WANTED, site.parent / "root", extras, torch, files)


def test_nothing_is_found_where_nothing_is_wrong(site: Path) -> None:
    findings = look(site, stamp())
    assert findings.reasons() == []
    assert findings.healthy


def test_a_set_up_that_did_not_finish(site: Path) -> None:
    assert look(site, None).unfinished


def test_other_requirements_than_those_installed(site: Path) -> None:
    assert "other packages" in look(site, stamp(fingerprint="0")).unfinished


def test_an_extra_that_was_never_installed(site: Path) -> None:
    findings = look(site, stamp(), "tests")
    assert "tests" in findings.unfinished
    assert findings.missing == ("pytest>=8",)


def test_more_extras_than_asked_for_do_no_harm(site: Path) -> None:
    add(site, "pytest", "8.3")
    assert look(site, stamp("tests")).healthy


@pytest.mark.parametrize("name", ["numpy", "weights"])
def test_a_missing_requirement(site: Path, name: str) -> None:
    shutil.rmtree(next(site.glob(f"{name}-*.dist-info")))
    (requirement,) = look(site, stamp()).missing
    assert requirement.startswith(name)


def test_a_missing_distribution_that_only_others_need(site: Path) -> None:
    shutil.rmtree(site / "idna-3.dist-info")
    assert look(site, stamp()).missing == ("idna==3",)


def test_a_version_out_of_range(site: Path) -> None:
    (site / "numpy-1.9.dist-info").rename(site / "numpy-1.4.dist-info")
    assert look(site, stamp()).missing == ("numpy>=1.5",)


def test_a_file_that_is_gone(site: Path) -> None:
    (site / "idna" / "__init__.py").unlink()
    assert look(site, stamp()).broken == {"idna": "idna/__init__.py is missing"}


def test_a_file_that_was_cut_short(site: Path) -> None:
    (site / "idna" / "__init__.py").write_text("x")
    assert look(site, stamp()).broken == {"idna": "idna/__init__.py has 1 bytes instead of 6"}
    assert look(site, stamp(), files=False).healthy  # conda writes other files than the wheel lists


@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
@pytest.mark.parametrize("damage", ["gone", "empty"])
def test_a_description_that_is_gone_or_empty(site: Path, name: str, damage: str) -> None:
    path = site / "idna-3.dist-info" / name
    path.unlink()
    if damage == "empty":
        path.touch()
    assert "idna" in look(site, stamp()).broken
    assert health.description_fault(health.installed(site)["idna"])


def test_pip_that_is_missing_or_damaged(site: Path) -> None:
    (site / "pip" / "__init__.py").unlink()
    findings = look(site, stamp())
    assert findings.pip
    assert not findings.broken
    shutil.rmtree(site / "pip-25.0.dist-info")
    assert look(site, stamp()).pip


def test_leftovers_of_a_stopped_pip(site: Path) -> None:
    (site / "~orch").mkdir()
    (site / "~umpy-1.0.dist-info").mkdir()
    assert [path.name for path in look(site, stamp()).leftovers] == ["~orch", "~umpy-1.0.dist-info"]


def test_damage_to_torch_is_told_apart(site: Path) -> None:
    (site / "torch" / "__init__.py").write_text("")
    findings = look(site, stamp())
    assert "0 bytes" in findings.torch
    assert not findings.broken
    shutil.rmtree(site / "torch-2.5+cpu.dist-info")
    findings = look(site, stamp())
    assert findings.torch
    assert not findings.missing


def test_another_build_of_torch_is_asked_for(site: Path) -> None:
    assert look(site, stamp(), torch="cpu").healthy
    assert "cuda" in look(site, stamp(), torch="cuda").torch


def test_a_checkout_that_was_moved(site: Path) -> None:
    (site.parent / "root").rename(site.parent / "elsewhere")
    findings = examine(site, stamp(), WANTED, site.parent / "elsewhere")
    assert "moved here" in findings.course
    shutil.rmtree(site / "thecourse-0.1.dist-info")
    assert "not installed" in examine(site, stamp(), WANTED, site.parent / "elsewhere").course


def test_a_copy_next_to_the_original_is_no_move_of_it(site: Path) -> None:
    shutil.copytree(site.parent / "root", site.parent / "copy")
    assert "moved here" in examine(site, stamp(), WANTED, site.parent / "copy").course


def test_a_stamp_survives_being_written_and_not_being_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "stamp.json"
    stamp("tests").write(path)
    assert Stamp.read(path) == stamp("tests")
    path.write_text(path.read_text()[:-20])
    assert Stamp.read(path) is None
    path.write_text("{}")
    assert Stamp.read(path) is None
    assert Stamp.read(tmp_path / "none.json") is None
