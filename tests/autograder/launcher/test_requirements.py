"""What the course asks for, read from pyproject.toml."""

import pytest

from autograder.launcher import requirements


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torch>=2.10,<3", "torch"),
        ("Sphinx_Book.Theme", "sphinx-book-theme"),
        ("dask[complete] >= 2024.12 ; python_version > '3'", "dask"),
        ("# a comment", ""),
    ],
)
def test_the_name_of_a_requirement_is_read(line: str, name: str) -> None:
    assert requirements.named(line) == name


def test_the_checkout_is_read(root) -> None:
    wanted = requirements.read(root)
    assert wanted.name == "nlmcourse"
    assert {"torch", "jupyterlab", "nbgrader"} <= {requirements.named(line) for line in wanted.base}
    more = set(wanted.requirements(["tests"])) - set(wanted.requirements())
    assert {"pytest", "hypothesis"} <= {requirements.named(line) for line in more}


def test_the_fingerprint_follows_what_is_installed(root) -> None:
    wanted = requirements.read(root)
    assert wanted.fingerprint(["tests"]) == wanted.fingerprint(["tests", "tests"])
    assert wanted.fingerprint() != wanted.fingerprint(["tests"])
