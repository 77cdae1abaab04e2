"""The door: what is understood, what is refused, and what each verb needs."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from autograder.launcher import install, lab, say, verbs
from autograder.launcher.environment import Environment
from autograder.launcher.verbs import Verb, main, parse


@pytest.mark.parametrize("name", sorted(verbs.VERBS))
def test_every_verb_of_the_table_exists(name: str) -> None:
    verb = verbs.VERBS[name]
    assert callable(verb.function)
    assert name in verbs.usage()
    assert verb.does in verbs.usage()


@pytest.fixture
def place(tmp_path: Path) -> Environment:
    return Environment(tmp_path, tmp_path, tmp_path / "python", tmp_path / "site")


def own(**given: object) -> Namespace:
    return Namespace(**{"torch": None, "here": False, "ready": False, "help": False, **given})


@pytest.mark.parametrize(
    ("words", "options", "rest"),
    [
        ([], own(), []),
        (["--torch", "cuda", "--", "-x"], own(torch="cuda"), ["-x"]),
        (["--torch=default"], own(torch="default"), []),
        (["--no-browser", "--port", "9999"], own(), ["--no-browser", "--port", "9999"]),
        (["--here", "-k", "attention"], own(here=True), ["-k", "attention"]),
        (["--", "--here", "--torch", "x"], own(), ["--here", "--torch", "x"]),
        (["-h"], own(help=True), []),
    ],
)
def test_the_launchers_own_options_are_taken_out(words: list[str], options: Namespace, rest: list[str]) -> None:
    assert parse(words) == (options, rest)


@pytest.mark.parametrize("words", [["nonsense"], ["lab", "--torch", "gpu"], ["lab", "--torch"]])
def test_misuse_is_2_and_says_what_is_allowed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "usage" in told or "cpu, cuda, default" in told


@pytest.mark.parametrize("words", [[], ["--help"], ["help"], ["lab", "--help"]])
def test_help_is_0(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert "python3 -m autograder lab" in capsys.readouterr().out


def test_a_reader_that_has_seen_enough_is_no_traceback() -> None:
    line = f"{sys.executable} -c 'import time; time.sleep(0.3); from autograder.launcher.verbs import main; main([])'"
    done = subprocess.run(f"{line} | true", shell=True, cwd=verbs.ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(say.SetupError("The disk is full."), 1, "The disk is full.\n"), (KeyboardInterrupt, 130, "Nothing is lost")],
)
def test_a_set_up_that_fails_or_is_stopped_says_so_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Any, code: int, said: str
) -> None:
    monkeypatch.setattr(install, "ensure", Mock(side_effect=error))
    assert main(["setup"]) == code
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_only_the_tests_need_the_tests_packages(monkeypatch: pytest.MonkeyPatch, place: Environment) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(install, "ensure", lambda root, extras, *how: asked.append(tuple(extras)) or place)
    monkeypatch.setattr(lab, "become", lambda *_: 0)
    monkeypatch.setattr(verbs, "build_if_stale", lambda *_, **__: 0)
    assert main(["lab"]) == main(["test"]) == 0
    assert asked == [(), ("cluster", "hub", "likeness", "site", "tests")]


def test_a_verb_for_the_inside_runs_under_the_environments_python(
    monkeypatch: pytest.MonkeyPatch, place: Environment
) -> None:
    seen: list[tuple[list[str], str, Path]] = []
    monkeypatch.setattr(verbs.environment, "locate", lambda *_: place)
    monkeypatch.setattr(lab, "become", lambda line, around, folder: seen.append((line, around[lab.FROM], folder)) or 7)
    monkeypatch.chdir(place.root.parent)
    verb = Verb("", "launcher.verbs:build", inside=True)
    assert verbs.run(verb, "build", own(ready=True), ["--take-in"]) == 7
    line = [str(place.python), "-m", "autograder", "build", "--ready", "--", "--take-in"]
    assert seen == [(line, str(place.root.parent), place.root)]


def test_make_and_the_door_have_the_same_verbs(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    listed = next(line for line in makefile.splitlines() if line.startswith("VERBS :="))
    assert set(listed.split()[2:]) == set(verbs.VERBS)


@pytest.mark.parametrize("words", [["--help"], ["nonsense"]])
def test_the_door_opens_from_a_shell(root: Path, words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "autograder", *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == (0 if words == ["--help"] else 2)


@pytest.mark.parametrize(
    ("rest", "cores", "added"),
    [
        ([], 8, ["-n", "4", "--dist", "loadgroup", "--no-loadscope-reorder"]),
        (["-k", "attention"], 2, ["-n", "3", "--dist", "loadgroup", "--no-loadscope-reorder"]),
        ([], 1, []),
        (["-s", "-k", "attention"], 2, []),
        (["--pdb"], 2, []),
        (["-n", "0"], 2, []),
        (["-n3"], 2, []),
    ],
)
def test_tests_are_shared_among_the_cores_unless_somebody_wants_to_see_them(
    monkeypatch: pytest.MonkeyPatch, rest: list[str], cores: int, added: list[str]
) -> None:
    monkeypatch.setattr(verbs.os, "cpu_count", lambda: cores)
    assert verbs._shared(rest) == added


@pytest.mark.parametrize(("rest", "set_to", "factor"), [([], None, "2"), ([], "3", "3"), (["-n", "0"], None, None)])
def test_side_by_side_tests_have_twice_the_time(
    monkeypatch: pytest.MonkeyPatch, place: Environment, rest: list[str], set_to: str | None, factor: str | None
) -> None:
    monkeypatch.setattr(verbs, "build_if_stale", lambda *_, **__: 0)
    monkeypatch.setattr(verbs.os, "cpu_count", lambda: 2)
    monkeypatch.delenv("NLM_TIME_FACTOR", raising=False)
    if set_to:
        monkeypatch.setenv("NLM_TIME_FACTOR", set_to)
    monkeypatch.setattr(lab, "become", lambda line, variables, folder: variables.get("NLM_TIME_FACTOR"))
    assert verbs.run_tests(place, rest) == factor
