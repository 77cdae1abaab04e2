"""What uv or pip is asked to do, with recorded commands; and damaged environments, which are real."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.launcher import environment, install, requirements, say
from autograder.launcher.environment import Environment, interpreter_fault, locate
from autograder.launcher.install import Installer
from autograder.launcher.say import TAIL, Steps
from tests.autograder.launcher.invented import WANTED, add


class Recorded(Steps):
    """Steps that are not done: what each would have run. `answers`: words of a command -> its exit status."""

    def __init__(self, place: Environment, answers: Mapping[str, int] = {}, prints: str = "") -> None:
        super().__init__(place.prefix / "setup.log", {})
        self.ran: list[str] = []
        self.place, self.answers, self.output = place, answers, prints

    def call(self, *command: str) -> int:
        line = " ".join(command).replace(f"{self.place.root}{os.sep}", "")
        self.ran.append(line)
        code = next((code for words, code in self.answers.items() if words in line), 0)
        info = self.place.site / f"{WANTED.name}-0.1.dist-info"
        if not code and "-e" in command and "--dry-run" not in command and not info.exists():
            add(self.place.site, WANTED.name, "0.1", course=self.place.root)
        return code


class Course:
    """A checkout whose environment is `have`; `run` sets it up, and returns the commands."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.place = Environment(folder, folder / "env", folder / "python", folder / "site")
        self.place.prefix.mkdir()
        (self.place.prefix / "pyvenv.cfg").touch()
        self.uv, self.patch = "uv", patch
        for module in (environment, install):
            patch.setattr(module, "interpreter_fault", lambda *_: "")
        patch.setattr(install, "locate", lambda *_: self.place)
        patch.setattr(install, "find_uv", lambda *_: self.uv)
        patch.setattr(install, "conda_prefix", lambda: None)
        patch.setattr(install, "variables", dict)
        patch.setattr(requirements, "read", lambda root: WANTED)
        patch.setattr(sys, "platform", "linux" if os.name != "nt" else sys.platform)

    def have(self, *names: str) -> None:
        for name in names:
            add(self.place.site, *name.split("=="))

    def run(self, *extras: str, torch: str | None = None, **how) -> list[str]:
        steps = Recorded(self.place, **how)
        self.patch.setattr(install, "Steps", lambda *_: steps)
        install.ensure(self.place.root, extras, torch)
        return steps.ran


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    return Course(tmp_path, monkeypatch)


def test_a_new_environment_gets_everything_in_the_tested_versions_and_the_next_start_does_nothing(
    course: Course,
) -> None:
    asked, packages, asked_again, rest, _, itself, check = course.run("tests")
    how = "--torch-backend=cpu -c constraints.txt"
    all_of_it = "torch>=2,<3 numpy>=1.5 pytest>=8 setuptools>=77 pip"
    assert packages == f"uv pip install --python python {how} {all_of_it}"
    assert asked == packages.replace("install --python python", "install --python python --dry-run")
    assert rest == f"uv pip install --python python {how} --no-deps --no-build-isolation weights==1.0"
    assert itself.startswith(f"uv pip install --python python {how} --no-deps --no-build-isolation -e ")
    assert "--dry-run" in asked_again
    assert "import torch" in check
    assert course.run("tests") == course.run() == []


def test_where_exact_versions_do_not_fit_the_ranges_hold(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    packages = course.run(answers={"constraints": 1})[2]
    assert packages.startswith("uv pip install --python python --torch-backend=cpu torch>=2,<3 numpy")
    assert "constraints.txt do not fit" in capsys.readouterr().out


@pytest.mark.parametrize("prints", [" + numpy==1.9", " + torch==2.5", " + torch==2.5+cpu"])
def test_without_pytorchs_own_index_another_build_is_taken_and_said_if_it_is_the_large_one(
    course: Course, capsys: pytest.CaptureFixture[str], prints: str
) -> None:
    packages = course.run(answers={"--torch-backend": 2}, prints=prints)[2]
    assert packages.startswith("uv pip install --python python -c constraints.txt torch>=2,<3")
    assert ("takes about 3 GB" in capsys.readouterr().out) == prints.endswith("torch==2.5")


def test_who_asks_for_a_build_does_not_get_another_one(course: Course) -> None:
    course.patch.setattr(sys, "platform", "win32")
    with pytest.raises(say.SetupError, match="no network"):
        course.run(torch="cuda", answers={"--torch-backend=auto": 2}, prints="dns error")


def test_a_network_that_is_down_is_no_reason_to_try_other_versions(course: Course) -> None:
    with pytest.raises(say.SetupError, match="no network"):
        course.run(answers={"install": 2}, prints="dns error")
    assert not course.place.stamp.exists()


def test_without_uv_pip_does_the_same(course: Course) -> None:
    course.uv = ""
    course.have("pip==25")
    packages, rest, itself, _ = course.run()
    assert packages == "python -m pip install -c constraints.txt torch>=2,<3 numpy>=1.5 setuptools>=77 pip"
    assert rest == "python -m pip install -c constraints.txt --no-deps --no-build-isolation weights==1.0"
    assert itself.startswith("python -m pip install -c constraints.txt --no-deps --no-build-isolation -e ")


def test_in_an_environment_of_the_users_nothing_is_made_and_any_version_of_the_range_is_right(course: Course) -> None:
    place = course.place
    course.place = Environment(place.root, place.prefix, place.python, place.site, here=True)
    course.patch.setattr(install, "conda_prefix", lambda: place.prefix)
    ran = course.run()
    assert ran[0].startswith("uv pip install")  # conda without pip
    course.have("pip==25")
    place.stamp.unlink()
    ran += course.run()
    assert ran[-4].startswith("python -m pip install torch>=2,<3")
    assert not any("constraints" in line or "venv" in line.split()[:3] for line in ran)


def test_a_disk_that_is_full_is_said(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(install, "write_json", full)
    with pytest.raises(say.SetupError, match="disk is full"):
        course.run()


def test_versions_that_somebody_has_changed_are_asked_only_whether_they_fit(course: Course) -> None:
    course.have("numpy==1.9")
    course.run("tests")
    info = course.place.site / "numpy-1.9.dist-info"
    (info / "RECORD").write_text("numpy/__init__.py,sha256=0,6\n")
    info.rename(course.place.site / "numpy-1.8.dist-info")
    how = "uv pip install --python python --torch-backend=cpu"
    assert course.run()[1] == f"{how} torch>=2,<3 numpy>=1.5 pytest>=8 setuptools>=77 pip"
    assert course.run() == []


def test_another_build_replaces_the_one_that_is_there(course: Course) -> None:
    course.run()
    removed, _, packages, *_ = course.run(torch="cuda")
    assert removed == "uv pip uninstall --python python -y torch"
    assert "--torch-backend" not in packages  # on Linux the usual index has it
    assert course.run(torch="cuda") == course.run() == []


def test_what_has_lost_files_is_forgotten_and_what_uv_shares_is_fetched_again(course: Course) -> None:
    course.have("whole==1", "short==1", "lost==1")
    (course.place.site / "short-1.dist-info" / "METADATA").write_text("")
    (course.place.site / "lost" / "__init__.py").unlink()
    assert course.run()[0] == "uv cache clean short"
    there = {path.name.removesuffix(".dist-info") for path in course.place.site.glob("*.dist-info")}
    assert there == {"thecourse-0.1", "whole-1"}


@pytest.mark.skipif(os.name == "nt", reason="a script stands for uv")
@pytest.mark.parametrize(("version", "taken"), [("0.13.9", True), ("0.6.17", False), ("1.0.0", True)])
def test_a_uv_that_is_too_old_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, taken: bool
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(f"#!/bin/sh\necho uv {version}\n")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(uv.parent), prepend=os.pathsep)
    steps = Recorded(locate(tmp_path), answers={"install": 1})
    assert install.find_uv(tmp_path / "course", steps) == (str(uv) if taken else "")
    assert len(steps.ran) == (0 if taken else 2)


def test_a_python_without_pip_and_venv_says_which_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    with pytest.raises(say.SetupError, match="sudo apt install python3"):
        install.find_uv(tmp_path, Recorded(locate(tmp_path), answers={"pip": 1}))


@pytest.mark.parametrize("pip", [True, False])
def test_pips_settings_are_uvs(monkeypatch: pytest.MonkeyPatch, pip: bool) -> None:
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "file:///mirror")
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.setenv("UV_HTTP_TIMEOUT", "7")
    if not pip:  # as on a Debian without python3-pip
        monkeypatch.setattr(install, "base_python", lambda: "/bin/false")
    found = install.variables()
    assert found["UV_DEFAULT_INDEX"] == "file:///mirror"
    assert found["UV_FIND_LINKS"] == "/one,/two"
    assert found["UV_HTTP_TIMEOUT"] == "7"
    assert "PIP_TARGET" not in found


# --- real environments ----------------------------------------------------------------------------------------


class WithoutPip(Steps):
    """Real steps; virtual environments come without pip, which takes seconds."""

    def call(self, *command: str) -> int:
        return super().call(*command[:-1], "--without-pip", command[-1])


def made(place: Environment) -> Environment:
    return install._make(Installer("", place, WithoutPip(place.log, os.environ)), WANTED)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no links to a Python")
def test_a_link_to_a_python_that_is_gone_is_mended_and_packages_stay(bare: Environment) -> None:
    (bare.site / "here.py").write_text("answer = 42\n")
    for link in bare.python.parent.glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python3")
    assert interpreter_fault(made(bare), WANTED) == ""
    answer = subprocess.run([bare.python, "-c", "import here; print(here.answer)"], capture_output=True, text=True)
    assert answer.stdout.strip() == "42"


def test_packages_of_another_python_are_not_kept(bare: Environment) -> None:
    (bare.site / "here.py").touch()
    config = bare.prefix / "pyvenv.cfg"
    config.write_text(config.read_text().replace(f"= {sys.version_info[0]}.{sys.version_info[1]}.", "= 3.99."))
    assert interpreter_fault(made(bare), WANTED) == ""
    assert not (bare.site / "here.py").exists()


def test_what_cannot_be_mended_is_made_anew(bare: Environment) -> None:
    bare.site.parent.rename(bare.site.parent.with_name("python3.98"))
    (bare.prefix / "lib" / "python3.99" / "site-packages").mkdir(parents=True)
    assert interpreter_fault(made(locate(bare.root)), WANTED) == ""


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("years of work")
    monkeypatch.setenv("NLM_VENV", str(precious.parent))
    monkeypatch.setattr(requirements, "read", lambda root: WANTED)
    with pytest.raises(say.SetupError, match="left alone"):
        install.ensure(tmp_path)
    assert [path.name for path in precious.parent.iterdir()] == ["thesis.tex"]


def test_an_unhealthy_python_of_the_users_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (environment, install):
        monkeypatch.setattr(module, "interpreter_fault", lambda *_: "its Python is 3.9")
    with pytest.raises(say.SetupError, match=r"3\.9"):
        install.ensure(root, here=True)


@pytest.mark.skipif(os.name == "nt", reason="no locks of files there")
def test_the_second_set_up_waits_for_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import fcntl

    waited: list[int] = []

    def flock(handle, flags: int) -> None:
        if flags & fcntl.LOCK_NB:
            raise BlockingIOError
        waited.append(flags)

    real, fcntl.flock = fcntl.flock, flock
    try:
        with install.one_at_a_time(locate(tmp_path)):
            pass
    finally:
        fcntl.flock = real
    assert waited == [fcntl.LOCK_EX]
    assert "Another set-up" in capsys.readouterr().out


@pytest.mark.parametrize("here", [True, False])
def test_another_checkouts_environment_is_not_taken_away_from_it(course: Course, here: bool) -> None:
    first, second = course.place.root, course.place.root / "second"
    second.mkdir()
    for checkout in (first, second):
        (checkout / "pyproject.toml").touch()
    add(course.place.site, "thecourse", "0.1", course=first)
    course.place = Environment(second, course.place.prefix, course.place.python, course.place.site, here)
    with pytest.raises(say.SetupError, match=r"(?s)belongs to another checkout.*pip uninstall"):
        course.run()
    (first / "pyproject.toml").unlink()  # the first one has gone: its environment is free
    (first / "env").rename(second / "env")
    course.place = Environment(second, second / "env", course.place.python, course.place.site, here)
    with pytest.raises(say.SetupError, match="moved here"):  # as nothing is really installed
        course.run()


def test_an_environment_that_was_copied_with_its_checkout_is_the_copys_own(course: Course) -> None:
    copy = course.place.root / "copy"
    (copy / "env").mkdir(parents=True)
    (course.place.root / "pyproject.toml").touch()
    add(course.place.site, "thecourse", "0.1", course=course.place.root)
    course.place = Environment(copy, copy / "env", course.place.python, course.place.site)
    install._may_be_touched(course.place, WANTED, "")


# --- steps ----------------------------------------------------------------------------------------------------


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path / "setup.log", {})


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", code)


def test_a_step_is_one_line_and_its_noise_is_in_the_log(steps: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    with steps.step("first"):
        assert steps.call(*python("print('noise')")) == 0
    with steps.step("second"):
        steps.note("by the way\nand so on")
    out = capsys.readouterr().out.splitlines()
    assert [line.split(" ... ")[0] for line in out[:4]] == ["  first", "  second", "    by the way", "    and so on"]
    assert "noise" in steps.log.read_text()


def test_a_failure_shows_the_end_of_the_log_and_what_to_do(steps: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    steps.call(*python("print('of another command')"))
    broken = python("import sys; [print('row', n) for n in range(50)]; sys.exit('No space left on device')")
    with pytest.raises(say.SetupError) as caught, steps.step("pip"):
        steps.must(*broken)
    message = str(caught.value)
    assert "of another command" not in message
    assert "row 49" in message
    assert f"row {50 - TAIL - 1}\n" not in message
    assert "The disk is full" in message
    assert "failed after" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("Temporary failure in name resolution\nNo matching distribution found for torch", "could not be reached"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no build for this Python"),
        ("error: Failed to fetch\n  cause: error sending request for url", "could not be reached"),
        ("error: No solution found when resolving\n  cause: no wheels of torch==2.13.0", "no build for this Python"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("SSLCertVerificationError: self-signed certificate", "PIP_CERT"),
        ("error: The interpreter is externally managed", "without --here"),
        ("[Errno 13] Permission denied: '/usr/setup.log'", "belongs to you"),
        ("something new", "same command again"),
    ],
)
def test_advice_names_what_to_do(log: str, words: str) -> None:
    assert words in say.advice(log)
