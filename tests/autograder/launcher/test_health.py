"""Every way in which an environment can be damaged is found, on a folder of invented distributions."""

import shutil
from pathlib import Path

import pytest

from autograder.launcher import health
from autograder.launcher.health import Findings, Stamp, examine
from autograder.launcher.requirements import Wanted

WANTED = Wanted(
    name="thecourse",
    python=">=3.11",
    base=("torch>=2,<3", "numpy>=1.5"),
    extras={"tests": ("pytest>=8",)},
    no_deps=("weights==1.0",),
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


def reasons(site: Path, mark: Stamp | None, *extras: str, **how) -> tuple[str, ...]:
    return look(site, mark, *extras, **how).reasons


def test_nothing_is_found_where_nothing_is_wrong(site: Path) -> None:
    assert look(site, stamp()).healthy


def test_a_set_up_that_did_not_finish(site: Path) -> None:
    assert reasons(site, None) == (health.UNFINISHED,)


def test_other_requirements_than_those_installed(site: Path) -> None:
    assert "other packages" in reasons(site, stamp(fingerprint="0"))[0]


def test_an_extra_that_was_never_installed(site: Path) -> None:
    assert "tests" in reasons(site, stamp(), "tests")[0]


def test_more_extras_than_asked_for_do_no_harm(site: Path) -> None:
    assert look(site, stamp("tests")).healthy


@pytest.mark.parametrize("name", ["numpy", "weights", "idna", "torch"])
def test_a_distribution_that_is_gone_whether_asked_for_or_needed_by_others(site: Path, name: str) -> None:
    shutil.rmtree(next(site.glob(f"{name}-*.dist-info")))
    assert reasons(site, stamp()) == (f"missing: {name}",)


def test_another_version_is_no_fault_but_a_question(site: Path) -> None:
    (site / "numpy-1.9.dist-info" / "RECORD").write_text("numpy/__init__.py,sha256=0,6\n")
    (site / "numpy-1.9.dist-info").rename(site / "numpy-1.4.dist-info")
    findings = look(site, stamp())
    assert (findings.reasons, findings.changed, findings.healthy) == ((), True, False)


def test_a_file_that_is_gone(site: Path) -> None:
    (site / "idna" / "__init__.py").unlink()
    assert reasons(site, stamp()) == ("idna: idna/__init__.py is missing",)


def test_a_file_that_was_cut_short(site: Path) -> None:
    (site / "torch" / "__init__.py").write_text("x")
    assert reasons(site, stamp()) == ("torch: torch/__init__.py has 1 bytes instead of 6",)
    assert look(site, stamp(), files=False).healthy  # conda writes other files than the wheel lists


@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
@pytest.mark.parametrize("damage", ["gone", "empty"])
def test_a_description_that_is_gone_or_empty(site: Path, name: str, damage: str) -> None:
    path = site / "idna-3.dist-info" / name
    path.unlink()
    if damage == "empty":
        path.touch()
    assert reasons(site, stamp())[0].startswith("idna: its description")


def test_another_build_of_torch_is_asked_for(site: Path) -> None:
    assert look(site, stamp(), torch="cpu").healthy
    assert "cuda" in reasons(site, stamp(), torch="cuda")[0]


@pytest.mark.parametrize(
    ("version", "beside", "build"),
    [("2.13.0+cpu", "", "cpu"), ("2.13.0+cu130", "", "cuda"), ("2.13.0", "nvidia_nccl", "cuda"), ("2.13.0", "", "cpu")],
)
def test_the_installed_build_is_named(tmp_path: Path, version: str, beside: str, build: str) -> None:
    assert health.build_of_torch(health.installed(tmp_path)) == ""
    (tmp_path / f"torch-{version}.dist-info").mkdir()
    (tmp_path / f"{beside}-1.dist-info").mkdir()
    assert health.build_of_torch(health.installed(tmp_path), "linux") == build


def test_a_checkout_that_was_moved(site: Path) -> None:
    (site.parent / "root").rename(site.parent / "elsewhere")
    findings = examine(site, stamp(), WANTED, site.parent / "elsewhere")
    assert findings.moved
    assert "moved here" in findings.reasons[0]
    shutil.rmtree(site / "thecourse-0.1.dist-info")
    assert "not installed" in examine(site, stamp(), WANTED, site.parent / "elsewhere").reasons[0]


def test_a_copy_next_to_the_original_is_no_move_of_it(site: Path) -> None:
    shutil.copytree(site.parent / "root", site.parent / "copy")
    assert examine(site, stamp(), WANTED, site.parent / "copy").moved


def test_a_stamp_survives_being_written_and_not_being_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "stamp.json"
    stamp("tests").write(path)
    assert Stamp.read(path) == stamp("tests")
    path.write_text(path.read_text()[:-20])
    assert Stamp.read(path) is None
    path.write_text("{}")
    assert Stamp.read(path) is None
    assert Stamp.read(tmp_path / "none.json") is None
