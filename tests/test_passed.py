"""A group of tests is left out only where nothing has changed that it can depend on."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import passed

LECTURE = "tests/lectures/test_facts.py 12_attention"
QUESTIONS = "tests/autograder/test_checks.py attention"
SOLVED = "tests/test_assignments.py attention"
MODEL = "tests/nlmcore/ngram/test_model.py"


def test_the_group_of_a_name_is_the_same_with_and_without_the_workers_mark() -> None:
    for name, group in {
        "tests/lectures/test_facts.py::test_x[12_attention]": LECTURE,
        "tests/autograder/test_checks.py::test_x[attention.attend wrong 3]": QUESTIONS,
        "tests/test_assignments.py::test_x[attention]": SOLVED,
        "tests/nlmcore/ngram/test_model.py::test_x[a.b]": MODEL,
    }.items():
        assert passed.group_of(name) == passed.group_of(f"{name}@some/file.py:True") == group


@pytest.mark.parametrize(
    ("group", "path", "matters"),
    [
        (LECTURE, "lectures/12_attention.py", True),
        (LECTURE, "lectures/11_sequence_to_sequence.py", False),
        (LECTURE, "lectures/show/__init__.py", True),
        (LECTURE, "nlmcore/norms.py", True),
        (LECTURE, "solutions/attention/attention.py", False),
        (QUESTIONS, "solutions/attention/attention.py", True),
        (QUESTIONS, "solutions/ngrams/ngrams.py", False),
        (QUESTIONS, "solutions/ngrams/checks.py", False),
        (QUESTIONS, "autograder/question/outcome.py", True),
        (SOLVED, "solutions/attention/files.txt", True),
        (SOLVED, "solutions/ngrams/ngrams.py", False),
        (SOLVED, "nlmcore/norms.py", True),
        (SOLVED, "exercises/ngrams/ngrams.ipynb", False),
        ("tests/test_assignments.py", "exercises/README.md", True),
        (MODEL, "nlmcore/ngram/model.py", True),
        (MODEL, "tests/conftest.py", True),
        (MODEL, "tests/nlmcore/ngram/test_counts.py", False),
        (MODEL, "lectures/12_attention.py", False),
        ("tests/lectures/test_attention.py 12_attention", "tests/notebook_runner.py", True),
        ("tests/nlmcore/pretrained/test_byte_pairs.py", "tests/nlmcore/pretrained/smollm2_reference.json", True),
        ("tests/autograder/test_checks.py translation", "lectures/recipes/pairs.py", True),
        ("tests/test_readme.py", "tests/nlmcore/ngram/test_counts.py", True),
        ("tests/test_readme.py", "README.md", True),
        ("tests/test_readme.py", "some/new/file.txt", True),
    ],
)
def test_a_file_matters_where_an_outcome_can_depend_on_it(group: str, path: str, matters: bool) -> None:
    assert passed.matters(group, path) == matters


def test_what_a_test_imports_matters_to_it_wherever_it_lies() -> None:
    group = "tests/nlmcore/variants/test_catalogue.py"
    assert passed.matters(group, "lectures/recipes/narang.py")
    assert not passed.matters(group, "lectures/recipes/vanishing.py")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout of three files of tests, of which every group depends on everything but other tests."""
    (tmp_path / "tests" / "some").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (tmp_path / "tests" / "some" / f"test_{name}.py").write_text(f"'''{name}'''")
    monkeypatch.setattr(passed, "ROOT", tmp_path)
    monkeypatch.setattr(passed, "KEPT", tmp_path / "tests" / "passed.json")
    everything = [value for value in vars(passed).values() if hasattr(value, "cache_clear")]

    @functools.cache
    def contents() -> dict[str, str]:
        return {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.glob("**/*.py")}

    monkeypatch.setattr(passed, "contents", contents)
    for function in everything:
        function.cache_clear()
    yield tmp_path
    for function in everything:
        function.cache_clear()


def run(*reports: tuple[str, str]) -> dict[str, bool]:
    """A run of all tests in which these have these outcomes; returns what the next one leaves out."""
    record = passed.Record()
    record.expects({name for name, _ in reports})
    for name, outcome in reports:
        for when in ("setup", "call", "teardown") if outcome == "passed" else ("call", "teardown"):
            record.notes(name, outcome if when == "call" else "passed", when)
    record.write()
    return again()


def again() -> dict[str, bool]:
    for function in (passed.contents, passed.digest, passed.kept, passed._imported, passed._beside, passed._in_folders):
        function.cache_clear()
    return passed.known()


A, B, C = ("tests/some/test_a.py::test_it", "tests/some/test_b.py::test_it", "tests/some/test_c.py::test_it")


def test_what_passed_is_left_out_until_something_changes(checkout: Path) -> None:
    assert run((A, "passed"), (B, "failed"), (C, "skipped")) == {"tests/some/test_a.py": True}
    (checkout / "tests" / "some" / "test_b.py").write_text("'''mended'''")
    assert again() == {"tests/some/test_a.py": True}, "another test's text"
    (checkout / "tests" / "some" / "test_a.py").write_text("'''changed'''")
    assert again() == {}
    assert run((A, "passed"), (B, "passed"), (C, "passed")) == dict.fromkeys(
        ("tests/some/test_a.py", "tests/some/test_b.py", "tests/some/test_c.py"), True
    )
    (checkout / "common.py").write_text("")
    assert again() == {}


def test_a_failure_in_the_same_state_is_not_forgotten(checkout: Path) -> None:
    assert run((A, "passed")) == {"tests/some/test_a.py": True}
    assert run((A, "failed")) == {}


def test_half_a_group_is_no_group(checkout: Path) -> None:
    record = passed.Record()
    record.expects([A, f"{A}_too"])
    record.notes(A, "passed", "teardown")
    assert record.write() == 0


def test_what_another_python_has_passed_is_known_as_that_while_nothing_is_known_here(checkout: Path) -> None:
    run((A, "passed"), (B, "passed"), (C, "passed"))
    groups = json.loads(passed.KEPT.read_text())[passed.HERE]
    names = ["tests/some/test_a.py", "tests/some/test_b.py", "tests/some/test_c.py"]
    mine = {names[1]: groups[names[1]], names[2]: "0" * 16}
    there = {f"{passed.SYSTEM}, Python 3.99": groups, "win32, torch 2.13.0, Python 3.99": groups}
    passed.KEPT.write_text(json.dumps(there | {passed.HERE: mine}))
    assert again() == {names[0]: False, names[1]: True}, "of the third, something else is known here"
    assert run((A, "failed")) == {names[1]: True}, "a failure here weighs more"
