"""Steps: what is printed, what is logged, and what a failure says."""

import sys
from pathlib import Path

import pytest

from autograder.launcher import say
from autograder.launcher.steps import TAIL, Steps


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path / "setup.log", {})


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", code)


def test_a_step_is_one_line_and_its_noise_is_in_the_log(steps: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    with steps.step("first"):
        assert steps.call(*python("print('noise')"))
    with steps.step("second"):
        pass
    out = capsys.readouterr().out.splitlines()
    assert [line.split(" ... ")[0] for line in out] == ["  first", "  second"]
    assert "noise" in steps.log.read_text()


def test_a_failure_shows_the_end_of_the_log_and_what_to_do(steps: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    steps.call(*python("print('of another command')"))
    broken = python("import sys; [print('row', n) for n in range(50)]; sys.exit('No space left on device')")
    with pytest.raises(say.SetupError) as caught, steps.step("pip"):
        steps.call(*broken)
    message = str(caught.value)
    assert "of another command" not in message
    assert "row 49" in message
    assert f"row {50 - TAIL - 1}\n" not in message
    assert "The disk is full" in message
    assert "failed after" in capsys.readouterr().out


def test_a_failure_that_is_allowed_is_an_answer(steps: Steps) -> None:
    with steps.step("try"):
        assert not steps.call(*python("raise SystemExit(3)"), may_fail=True)


def test_a_program_that_is_not_there_is_a_failure_like_others(steps: Steps) -> None:
    with steps.step("try"):
        assert not steps.call("/nowhere/program", may_fail=True)
    assert "/nowhere/program" in steps.failure()


def test_another_way_to_do_a_step_is_told(steps: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    with steps.step("a small build"):
        steps.instead("A larger one\nis taken.", "the large build")
    rows = capsys.readouterr().out.splitlines()
    assert rows[:3] == ["  a small build ... not to be had", "    A larger one", "    is taken."]
    assert rows[3].startswith("    the large build ... ")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("Temporary failure in name resolution\nNo matching distribution found for torch", "could not be reached"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no build for this Python"),
        ("error: Failed to fetch\n  cause: error sending request for url", "could not be reached"),
        ("error: No solution found when resolving\n  cause: no wheels of torch==2.13.0", "no build for this Python"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("SSLCertVerificationError: self-signed certificate", "PIP_CERT"),
        ("error: externally-managed-environment", "without --here"),
        ("PermissionError: [Errno 13] Permission denied", "belongs to you"),
        ("something new", "same command again"),
    ],
)
def test_advice_names_what_to_do(log: str, words: str) -> None:
    assert words in say.advice(log)


@pytest.mark.parametrize(("seconds", "words"), [(0.44, "0.4 s"), (12.3, "12 s"), (185.0, "3 min 05 s")])
def test_durations_read_as_one_says_them(seconds: float, words: str) -> None:
    assert say.took(seconds) == words
