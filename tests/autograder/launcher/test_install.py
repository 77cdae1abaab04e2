"""What is to be done about each finding; and whole set-ups with a recorded pip, on real virtual environments."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.launcher import environment, install, requirements, say, virtualenv
from autograder.launcher.environment import Environment, interpreter_fault, locate
from autograder.launcher.health import Findings
from autograder.launcher.requirements import Requirement, Wanted
from autograder.launcher.steps import Steps

WANTED = Wanted(
    name="thecourse",
    python=">=3.11",
    base=(Requirement("torch", ">=2,<3"), Requirement("numpy", ">=1.5")),
    extras={"tests": (Requirement("pytest", ">=8"),)},
    no_deps=(Requirement("weights", "==1.0"),),
    torch="2.5",
)


Done = list[tuple[str, tuple[str, ...]]]


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """(what a step is called, the words of each of its commands) for the findings of an environment with torch."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(Steps, "call", lambda self, *command, **how: bool(calls.append(command)) or True)
    (tmp_path / "site" / "torch-2.5.dist-info").mkdir(parents=True)

    def carried_out(findings: Findings, wanted: Wanted = WANTED, extras: tuple[str, ...] = ()) -> Done:
        place = Environment(tmp_path, tmp_path, tmp_path / "python", tmp_path / "site")
        found = []
        for what, do in install.work(findings, wanted, extras, place, "cpu", steps_for(place)):
            calls.clear()
            do()
            found.append((what, tuple(" ".join(call) for call in calls)))
        return found

    return carried_out


def test_a_new_environment_gets_everything_with_torch_apart(done: Callable[..., Done]) -> None:
    todo = done(Findings(torch="gone", missing=("numpy>=1.5", "weights==1.0")), extras=("tests",))
    assert [what.split()[0] for what, _ in todo] == ["PyTorch", "JupyterLab,", "Pretrained", "Compiling", "Checking"]
    torch, packages, weights, *_ = (commands for _, commands in todo)
    assert "--no-deps" in torch[0]
    assert torch[0].endswith("torch==2.5")
    assert packages[0].endswith("torch>=2,<3 numpy>=1.5 pytest>=8")  # torch again: now with what it needs
    assert "-e" in packages[1]
    assert weights[0].endswith("--no-deps --force-reinstall weights==1.0")


def test_each_damage_has_its_own_repair(done: Callable[..., Done], monkeypatch: pytest.MonkeyPatch) -> None:
    moved = []
    monkeypatch.setattr(virtualenv, "move_here", lambda *_: moved.append(True))
    monkeypatch.setattr(install, "_exact", lambda names, site: names)
    assert done(Findings(pip="gone"))[0][0] == "pip"
    assert done(Findings(torch="gone"))[0][0] == "PyTorch 2.5, CPU build (about 200 MB)"
    assert not moved
    done(Findings(course="the checkout was moved here from /old"))
    assert moved
    what, commands = done(Findings(broken={"idna": "cut short"}))[0]
    assert what == "Repairing idna"
    assert commands[0].endswith("--no-deps --ignore-installed idna")
    assert done(Findings(missing=("weights==1.0",)))[1][1][0].endswith("weights==1.0")
    assert done(Findings(missing=("idna==3",)))[0][1][0].endswith("torch>=2,<3 numpy>=1.5 idna==3")
    assert len(done(Findings())) == 3  # installing the course and the last check are always among them


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """A real virtual environment, without pip, beside an empty checkout."""
    monkeypatch.delenv("NLM_VENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    base = environment.base_python()
    subprocess.run(
        [base, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True, env=environment.clean_environ()
    )
    return locate(tmp_path)


def steps_for(place: Environment) -> Steps:
    return Steps(place.log, environment.clean_environ())


def test_a_whole_environment_has_no_fault(bare: Environment) -> None:
    assert interpreter_fault(bare, WANTED) == ""
    assert environment.version_of(bare).startswith("3.")


def test_a_python_that_is_too_old_is_a_fault(bare: Environment) -> None:
    assert "3.99" in interpreter_fault(bare, Wanted("c", ">=3.99", (), {}, (), ""))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no links to a Python")
def test_a_link_to_a_python_that_is_gone_is_mended_and_packages_stay(bare: Environment) -> None:
    (bare.site / "here.py").write_text("answer = 42\n")
    for link in bare.python.parent.glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python3")
    assert interpreter_fault(bare, WANTED) == "its Python is gone"
    virtualenv.create(bare, WANTED, steps_for(bare))
    assert interpreter_fault(bare, WANTED) == ""
    answer = subprocess.run([bare.python, "-c", "import here; print(here.answer)"], capture_output=True, text=True)
    assert answer.stdout.strip() == "42"


@pytest.mark.skipif(os.name == "nt", reason="another folder layout")
def test_packages_of_another_python_are_not_kept(bare: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.site.parent.rename(bare.site.parent.with_name("python3.99"))
    broken = locate(bare.root)
    assert "another Python" in interpreter_fault(broken, WANTED)
    made: list[tuple[str, ...]] = []
    monkeypatch.setattr(Steps, "call", lambda self, *command, **how: bool(made.append(command)) or True)
    virtualenv.create(broken, WANTED, steps_for(broken))
    assert made[-1][1:3] == ("-m", "venv")
    assert "--without-pip" not in made[-1]
    assert not list(bare.prefix.glob("lib/python3.99"))


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("years of work")
    monkeypatch.setenv("NLM_VENV", str(precious.parent))
    place = locate(tmp_path)
    with pytest.raises(say.SetupError, match="left alone"):
        virtualenv.create(place, WANTED, steps_for(place))
    assert precious.read_text() == "years of work"


def test_a_python_without_venv_says_which_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NLM_VENV", raising=False)
    monkeypatch.setattr(virtualenv.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(say.SetupError, match="sudo apt install python3"):
        virtualenv.create(locate(tmp_path), WANTED, steps_for(locate(tmp_path)))
    assert not (tmp_path / ".venv").exists()


@pytest.mark.skipif(os.name == "nt", reason="scripts are programs there")
def test_scripts_of_a_moved_environment_name_its_new_place(bare: Environment, tmp_path: Path) -> None:
    script = bare.python.parent / "tool"
    script.write_bytes(b"#!/old/place/.venv/bin/python3\nprint('it runs')\n")
    shell = bare.python.parent / "other"
    shell.write_bytes(b"#!/bin/sh\nexit 0\n")
    virtualenv.restore_scripts(bare)
    assert script.read_text().splitlines()[0] == f"#!{bare.python}"
    assert shell.read_bytes() == b"#!/bin/sh\nexit 0\n"


def test_pip_is_restored_even_where_half_of_it_is_left(bare: Environment) -> None:
    info = bare.site / "pip-99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: pip\nVersion: 99\n")
    virtualenv.restore_pip(bare, steps_for(bare))
    assert not info.exists()
    assert subprocess.run([bare.python, "-m", "pip", "--version"], capture_output=True).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="no locks of files there")
def test_the_second_set_up_waits_for_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import fcntl

    place = locate(tmp_path)
    waited: list[int] = []

    def flock(handle, flags: int) -> None:
        if flags & fcntl.LOCK_NB:
            raise BlockingIOError
        waited.append(flags)

    real, fcntl.flock = fcntl.flock, flock
    try:
        with virtualenv.one_at_a_time(place):
            pass
    finally:
        fcntl.flock = real
    assert waited == [fcntl.LOCK_EX]
    assert "Another set-up" in capsys.readouterr().out


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


def test_an_unhealthy_python_of_the_users_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "interpreter_fault", lambda *_: "its Python is 3.9")
    with pytest.raises(say.SetupError, match=r"3\.9"):
        install.ensure(root, here=True)


@pytest.fixture
def two_checkouts(bare: Environment, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Environment]:
    """(a second checkout, the environment of the first, which is healthy but for that the course is the first's)."""
    info = bare.site / "thecourse-0.1.dist-info"
    info.mkdir()
    (info / "direct_url.json").write_text(f'{{"dir_info": {{"editable": true}}, "url": "{bare.root.as_uri()}"}}')
    second = bare.root / "second"
    second.mkdir()
    for checkout in (bare.root, second):
        (checkout / "pyproject.toml").touch()
    monkeypatch.setattr(requirements, "read", lambda root: WANTED)
    monkeypatch.setattr(Steps, "call", lambda self, *command, **how: pytest.fail(f"it went on with {command}"))
    return second, bare


def test_another_checkouts_environment_is_not_taken_away_from_it(
    two_checkouts: tuple[Path, Environment], monkeypatch: pytest.MonkeyPatch
) -> None:
    second, first = two_checkouts
    monkeypatch.setenv("NLM_VENV", str(first.prefix))
    with pytest.raises(say.SetupError, match=r"(?s)belongs to another checkout.*pip uninstall"):
        install.ensure(second)
    used_as_it_is = Environment(second, first.prefix, first.python, first.site, here=True)
    monkeypatch.setattr(install, "locate", lambda root, here: used_as_it_is)
    with pytest.raises(say.SetupError, match="belongs to another checkout"):
        install.ensure(second, here=True)
    (first.root / "pyproject.toml").unlink()  # the first one has gone: its environment is free
    assert environment.owner_fault(used_as_it_is, WANTED.name) == ""


def test_an_environment_that_was_copied_with_its_checkout_is_the_copys_own(
    two_checkouts: tuple[Path, Environment],
) -> None:
    second, first = two_checkouts
    (second / ".venv").mkdir()
    copied = Environment(second, second / ".venv", first.python, first.site)
    assert environment.owner_fault(copied, WANTED.name) == ""
