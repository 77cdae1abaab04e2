"""What can be installed: the library alone, light and typed; and the course, with every file that its code reads."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
COURSE, LIBRARY = (
    tomllib.loads((ROOT / place / "pyproject.toml").read_text(encoding="utf-8")) for place in ("", "nlmcore")
)
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
HEAVIEST = 400_000
"""Bytes of the library's wheel: what comes in has to be made up for elsewhere in it."""
BESIDE_THE_PACKAGE = {f"nlmcore/{name}" for name in ("pyproject.toml", "README.md", "LICENSE")}
NOT_INSTALLED = re.compile(r".*/\.ruff\.toml")


def tracked(*folders: str) -> set[str]:
    """The files of the checkout, without what git ignores."""
    line = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git here")
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as git has it: to build in it leaves nothing behind here."""
    pytest.importorskip("setuptools", minversion="77")
    copy = tmp_path_factory.mktemp("checkout")
    for name in tracked("nlmcore", "lectures", "autograder", "pyproject.toml", "README.md", "LICENSE"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).hardlink_to(ROOT / name)
    return copy


def built(folder: Path, to: Path) -> Path:
    line = [sys.executable, "-P", "-c", BUILD, str(to)]  # as pip does, but with the setuptools that are here
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = to.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def library(copied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(copied / "nlmcore", tmp_path_factory.mktemp("library"))


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def read(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (found,) = (path for path in archive.namelist() if path.endswith(f".dist-info/{name}"))
        return archive.read(found).decode()


def test_the_librarys_wheel_has_all_its_files_and_no_other(library: Path) -> None:
    assert contents(library) == tracked("nlmcore") - BESIDE_THE_PACKAGE
    assert "nlmcore/py.typed" in contents(library)
    assert library.stat().st_size <= HEAVIEST


def test_the_librarys_wheel_says_what_it_is(library: Path) -> None:
    metadata = read(library, "METADATA")
    assert re.search(r"^Version: (.+)$", metadata, re.M)[1] in (ROOT / "nlmcore/__init__.py").read_text(
        encoding="utf-8"
    )  # type: ignore[index]
    assert (ROOT / "nlmcore/README.md").read_text(encoding="utf-8").strip() in metadata
    assert read(library, "licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_courses_wheel_has_all_its_files_and_its_commands_say_what_they_need(copied: Path, tmp_path: Path) -> None:
    wheel = built(copied, tmp_path)
    expected = tracked("nlmcore", "lectures", "autograder") - BESIDE_THE_PACKAGE
    assert contents(wheel) == {name for name in expected if not NOT_INSTALLED.fullmatch(name)}
    line = [sys.executable, "-m", "autograder", "doctor"]
    done = subprocess.run(line, cwd=unpacked(wheel, tmp_path / "installed"), capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r".*run them in a checkout\.\n", done.stderr)


# --- the library alone ------------------------------------------------------------------------------------


def test_the_library_asks_for_a_part_of_what_the_course_asks_for_in_the_same_ranges() -> None:
    extras = LIBRARY["project"]["optional-dependencies"].values()
    for asked in (LIBRARY["project"]["dependencies"], *extras):
        assert set(asked) <= set(COURSE["project"]["dependencies"])
    assert LIBRARY["project"]["requires-python"] == COURSE["project"]["requires-python"]


def names(lines: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in lines}


def with_what_they_need(asked: set[str]) -> set[str]:
    """Distributions with all that they need in turn, as far as they are installed here."""
    found: set[str] = set()
    waiting = set(asked)
    while waiting:
        name = waiting.pop()
        found.add(name)
        lines = [Requirement(line) for line in requires(name) or []]
        here = [line for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]
        waiting |= {canonicalize_name(line.name) for line in here} - found
    return found


def test_the_library_is_light() -> None:
    asked = names(LIBRARY["project"]["dependencies"])
    assert len(with_what_they_need(asked) - with_what_they_need({"torch"})) <= 15


ALONE = """
import importlib, pkgutil, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in refused:
            raise ModuleNotFoundError(f"{name} does not come with the library", name=name)

wheel, *refused = sys.argv[1:]
sys.meta_path.insert(0, Missing())
sys.path.insert(0, wheel)
import nlmcore
assert nlmcore.__file__.startswith(wheel)
for module in pkgutil.walk_packages(nlmcore.__path__, "nlmcore."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def unpacked(wheel: Path, to: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(to)
    return str(to)


def test_every_module_of_the_library_loads_without_what_only_the_course_asks_for(library: Path, tmp_path: Path) -> None:
    dear = names(COURSE["project"]["dependencies"]) - with_what_they_need(names(LIBRARY["project"]["dependencies"]))
    assert {"gguf", "tokenizers", "matplotlib", "jupyterlab"} <= dear
    modules = {
        module
        for module, owners in packages_distributions().items()
        if {canonicalize_name(owner) for owner in owners} & dear
    }
    empty = tmp_path / "empty"
    empty.mkdir()
    line = [
        sys.executable,
        "-P",
        "-c",
        ALONE,
        unpacked(library, tmp_path / "wheel"),
        "lectures",
        "autograder",
        *modules,
    ]
    done = subprocess.run(line, cwd=empty, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = {name.removesuffix(".py").removesuffix("/__init__") for name in contents(library) if name.endswith(".py")}
    files -= {"nlmcore", *(name for name in files if name.endswith("__main__"))}
    assert set(done.stdout.split()) == {name.replace("/", ".") for name in files}


def test_the_library_alone_trains_saves_writes_and_does_what_its_page_shows(library: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("to be or not to be, that is the question\n" * 60, encoding="utf-8")
    sizes = {"steps": 2, "layers": 1, "width": 16, "heads": 2, "vocabulary": 280, "context": 32, "batch": 2}
    small = [f"--{name}={size}" for name, size in sizes.items()]
    begin = ALONE.partition("import nlmcore")[0] + "from nlmcore.__main__ import main\n"
    commands = (
        f"assert not main(['train', 'mine.txt', *{small}]) and not main(['write', 'mine', 'to be', '--tokens=3'])\n"
    )
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "nlmcore/README.md").read_text(encoding="utf-8"), re.S)
    for block in blocks:
        ast.parse(block)
    shown = [block for block in blocks if "smollm2" not in block]  # tests/nlmcore/tool/test_as_a_tool.py tunes that one
    assert 0 < len(shown) < len(blocks)
    script = begin + commands + "\n".join(shown)
    line = [sys.executable, "-P", "-c", script, unpacked(library, tmp_path / "wheel"), "tokenizers"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"nlmcore.json", "model.safetensors", "config.json"}
    assert (tmp_path / "attention.svg").read_text(encoding="utf-8").startswith("<svg")
