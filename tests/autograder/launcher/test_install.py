"""What uv or pip is asked to do, with a recorded installer; and damaged environments, which are real."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from autograder.launcher import environment, health, install, requirements, say
from autograder.launcher.environment import Environment, interpreter_fault, locate
from autograder.launcher.install import Installer
from autograder.launcher.requirements import Wanted
from autograder.launcher.steps import Steps

WANTED = Wanted(
    name="thecourse",
    python=">=3.11",
    base=("torch>=2,<3", "numpy>=1.5"),
    extras={"tests": ("pytest>=8",)},
    no_deps=("weights==1.0",),
    torch="2.5",
    build=("setuptools>=77",),
)


class Recorded(Steps):
    """Steps that are not done: what each would have run; `failing`: words of those that fail; what one prints."""

    def __init__(self, folder: Path, failing: Iterable[str] = (), prints: str = "") -> None:
        super().__init__(folder / "setup.log", {})
        self.ran: list[str] = []
        self.failing, self.prints = tuple(failing), prints

    def call(self, *command: str, may_fail: bool = False) -> bool:
        self.ran.append(" ".join(command))
        failed = any(word in self.ran[-1] for word in self.failing)
        info = self.log.parent / "site" / "torch-2.5+cpu.dist-info"
        if not failed and command[-1].startswith("torch") and "--dry-run" not in command:
            info.mkdir(parents=True, exist_ok=True)
        if failed and not may_fail:
            raise say.SetupError(self.failure())
        return not failed

    def last_output(self) -> str:
        return self.prints


def add(site: Path, name: str, version: str) -> Path:
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{info.name}/RECORD,,\n")
    return info


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., list[str]]:
    """What is run for an environment with these distributions."""
    (tmp_path / "constraints.txt").write_text("# why\ntorch==2.5\nnumpy==1.9\n")
    place = Environment(tmp_path, tmp_path / "env", tmp_path / "python", tmp_path / "site")
    place.prefix.mkdir()

    def run(
        *have: str, uv: str = "uv", build: str = "cpu", rebuild: bool = False, extras: tuple[str, ...] = (), **how
    ) -> list[str]:
        for name in have:
            add(place.site, *name.split("=="))
        steps = Recorded(tmp_path, **how)
        install._install(Installer(uv, place, steps), WANTED, extras, build, rebuild=rebuild)
        return [line.replace(f"{tmp_path}/", "") for line in steps.ran]

    return run


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux" if os.name != "nt" else sys.platform)


def test_a_new_environment_gets_torch_first_and_alone_then_everything(ask: Callable[..., list[str]]) -> None:
    asked, torch, packages, weights, course, check = ask(extras=("tests",))
    assert asked == "uv pip install --python python --no-deps --dry-run torch==2.5"
    assert torch == "uv pip install --python python --no-deps --torch-backend=cpu torch==2.5"
    assert packages.endswith("-c env/constraints.txt torch>=2,<3 numpy>=1.5 pytest>=8 setuptools>=77 pip")
    assert weights.endswith("--no-deps -c env/constraints.txt weights==1.0")
    assert "--no-deps --no-build-isolation -e" in course
    assert "import torch" in check


def test_no_other_torch_may_come_and_versions_are_exact(ask: Callable[..., list[str]], tmp_path: Path) -> None:
    ask("torch==2.5+cpu")
    assert (tmp_path / "env" / "constraints.txt").read_text() == "torch==2.5+cpu\n# why\nnumpy==1.9\n"


def test_where_exact_versions_do_not_fit_the_ranges_hold(ask: Callable[..., list[str]], tmp_path: Path) -> None:
    with pytest.raises(say.SetupError):  # these fail, too
        ask("torch==2.5+cpu", extras=("tests",), failing=("pytest",))
    assert (tmp_path / "env" / "constraints.txt").read_text() == "torch==2.5+cpu\n"


def test_a_network_that_is_down_is_no_reason_to_try_others(ask: Callable[..., list[str]], tmp_path: Path) -> None:
    with pytest.raises(say.SetupError, match="no network"):
        ask("torch==2.5+cpu", failing=("numpy",), prints="dns error")
    assert "numpy==1.9" in (tmp_path / "env" / "constraints.txt").read_text()


def test_a_mirror_or_folder_with_the_cpu_build_is_enough(ask: Callable[..., list[str]]) -> None:
    assert ask(prints=" + torch==2.5+cpu")[1].endswith("--no-deps torch==2.5")


def test_without_pytorchs_own_index_the_large_build_is_taken_and_said(
    ask: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    ran = ask(failing=("--torch-backend",))
    assert ran[2].endswith("--no-deps torch==2.5")
    assert "takes about 3 GB" in capsys.readouterr().out


def test_where_the_tested_torch_has_no_build_the_range_is_asked_for(ask: Callable[..., list[str]]) -> None:
    assert ask(failing=("--dry-run",))[1].endswith("--torch-backend=cpu torch>=2,<3")


def test_another_build_replaces_the_one_that_is_there(ask: Callable[..., list[str]]) -> None:
    ran = ask("torch==2.5+cpu", build="cuda", rebuild=True)
    assert ran[1].endswith("--no-deps --force-reinstall torch==2.5")


def test_a_torch_that_is_there_is_left_alone(ask: Callable[..., list[str]]) -> None:
    assert len(ask("torch==2.5+cpu")) == 4


def test_without_uv_pip_does_the_same(ask: Callable[..., list[str]]) -> None:
    pip, torch, packages, *_ = ask(uv="")
    assert pip.startswith("python -m ensurepip")
    assert torch == "python -m pip install --no-deps torch==2.5"
    assert packages.startswith("python -m pip install -c env/constraints.txt torch>=2,<3 numpy")


def test_what_has_lost_files_is_forgotten_and_what_uv_shares_is_fetched_again(tmp_path: Path) -> None:
    place = Environment(tmp_path, tmp_path, tmp_path / "python", tmp_path / "site")
    whole, short, lost = (add(place.site, name, "1") for name in ("whole", "short", "lost"))
    (short / "METADATA").write_text("")
    (lost / "RECORD").write_text("lost.py,sha256=0,7\n")
    (place.site / "~orch").mkdir()
    steps = Recorded(tmp_path)
    install._forget(Installer("uv", place, steps))
    assert [path.exists() for path in (whole, short, lost, place.site / "~orch")] == [True, False, False, False]
    assert steps.ran == ["uv cache clean short"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("The package `a-b` requires `c>=1`, but `0.9` is installed", ["a-b requires c>=1, but 0.9 is installed"]),
        ("a-b 2 has requirement c>=1, but you have c 0.9.", ["a-b 2 has requirement c>=1, but you have c 0.9."]),
        ("The package `weights` requires `llm`, but it's not installed", []),
        ("weights 1.0 requires llm, which is not installed.", []),
        ("Checked 223 packages in 35ms\nNo broken requirements found.", []),
    ],
)
def test_versions_that_do_not_fit_together_are_named(tmp_path: Path, said: str, found: list[str]) -> None:
    place = Environment(tmp_path, tmp_path, tmp_path / "python", tmp_path / "site")
    assert Installer("uv", place, Recorded(tmp_path, prints=said)).conflicts(WANTED) == found


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
    steps = Recorded(tmp_path, failing=("pip",))
    assert install.find_uv(tmp_path / "course", steps) == (str(uv) if taken else "")
    assert len(steps.ran) == (0 if taken else 1)


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


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """A real virtual environment, without pip, beside an empty checkout."""
    monkeypatch.delenv("NLM_VENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    base = environment.base_python()
    line = [base, "-m", "venv", "--without-pip", str(tmp_path / ".venv")]
    subprocess.run(line, check=True, env=install.variables())
    return locate(tmp_path)


def made(place: Environment) -> Environment:
    install._may_be_made(place)
    return install._make(Installer("", place, Steps(place.log, install.variables())), WANTED)


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
    made(bare)
    assert interpreter_fault(bare, WANTED) == ""
    answer = subprocess.run([bare.python, "-c", "import here; print(here.answer)"], capture_output=True, text=True)
    assert answer.stdout.strip() == "42"


@pytest.mark.skipif(os.name == "nt", reason="another folder layout")
def test_packages_of_another_python_are_not_kept(bare: Environment) -> None:
    bare.site.parent.rename(bare.site.parent.with_name("python3.99"))
    broken = locate(bare.root)
    assert "another Python" in interpreter_fault(broken, WANTED)
    assert interpreter_fault(made(broken), WANTED) == ""
    assert not list(bare.prefix.glob("lib/python3.99"))


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("years of work")
    monkeypatch.setenv("NLM_VENV", str(precious.parent))
    place = locate(tmp_path)
    with pytest.raises(say.SetupError, match="left alone"):
        made(place)
    assert precious.read_text() == "years of work"


def test_a_python_without_venv_says_which_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NLM_VENV", raising=False)
    monkeypatch.setattr(install.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(say.SetupError, match="sudo apt install python3"):
        made(locate(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="scripts are programs there")
def test_scripts_of_a_moved_environment_name_its_new_place(bare: Environment, tmp_path: Path) -> None:
    script = bare.python.parent / "tool"
    script.write_bytes(b"#!/old/place/.venv/bin/python3\nprint('it runs')\n")
    shell = bare.python.parent / "other"
    shell.write_bytes(b"#!/bin/sh\nexit 0\n")
    install._restore_scripts(bare)
    assert script.read_text().splitlines()[0] == f"#!{bare.python}"
    assert shell.read_bytes() == b"#!/bin/sh\nexit 0\n"


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
        with install.one_at_a_time(place):
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


@pytest.mark.parametrize("conflicts", [[], ["thecourse requires numpy>=1.5, but 1.4 is installed"]])
def test_other_versions_are_the_users_right_if_they_fit(
    bare: Environment, monkeypatch: pytest.MonkeyPatch, conflicts: list[str]
) -> None:
    course, _ = add(bare.site, "thecourse", "0.1"), add(bare.site, "numpy", "1.4")
    (course / "direct_url.json").write_text(f'{{"dir_info": {{"editable": true}}, "url": "{bare.root.as_uri()}"}}')
    health.Stamp(WANTED.fingerprint(), (), "3.11.7", "cpu", {"numpy": "1.9"}).write(bare.stamp)
    repaired: list[str] = []
    monkeypatch.setattr(requirements, "read", lambda root: WANTED)
    monkeypatch.setattr(install, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(Installer, "conflicts", lambda *_: conflicts)
    monkeypatch.setattr(install, "_install", lambda *_, **__: repaired.append("all"))
    monkeypatch.setattr(install, "_compile", lambda *_: None)
    install.ensure(bare.root)
    assert bool(repaired) == bool(conflicts)
    stamp = health.Stamp.read(bare.stamp)
    assert stamp is not None
    assert stamp.distributions == {"numpy": "1.4"}


def test_who_opens_a_lecture_does_not_wait_for_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Environment(tmp_path, tmp_path, tmp_path / "python", tmp_path / "site")
    started: list[list[str]] = []
    monkeypatch.setattr(install.subprocess, "Popen", lambda line, **_: started.append(line))
    steps = Recorded(tmp_path)
    install._compile(place, steps, True)
    assert (len(started), steps.ran) == (1, [])
    install._compile(place, steps, False)
    assert (len(started), len(steps.ran)) == (1, 1)


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
