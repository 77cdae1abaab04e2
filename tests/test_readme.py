"""What README and its relatives say is true: commands exist, the cheap ones run, files are there, links lead on."""

import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from autograder.launcher import verbs

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "DOORS.md", "CHANGELOG.md")]
PAGES += [ROOT / folder / "README.md" for folder in ("lectures", "exercises", "solutions")]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
ALL = "\n".join(TEXTS.values())


def blocks(language: str, page: Path = ROOT / "README.md") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXTS[page], flags=re.S)


def code() -> list[str]:
    """Everything that is set as code: lines of blocks, without their comments, and spans."""
    lines = [
        line.split("  #")[0].strip()
        for block in re.findall(r"```\w*\n(.*?)```", ALL, re.S)
        for line in block.split("\n")
    ]
    return [*lines, *re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", ALL, flags=re.S))]


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def label(value: object) -> str:
    return value.relative_to(ROOT).as_posix() if isinstance(value, Path) else str(value)


def test_every_make_target_exists() -> None:
    named = {word for text in code() for word in re.findall(r"(?:^|\s)make ([a-z]+)", text)}
    assert named >= {"lab", "test", "build", "sync", "doctor"}
    assert named <= set(verbs.VERBS)


def test_every_verb_exists_and_every_option_is_understood() -> None:
    commands = [m for text in code() for m in re.findall(r"py(?:thon3?)? -m autograder (.*)", text)]
    assert commands
    for command in commands:
        verb, *rest = command.split()
        assert verb in verbs.VERBS or verb == "--help", command
        verbs.parse(rest)


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXTS[page]):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        assert other.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), flags=re.M)
            assert anchor in {slug(heading) for heading in headings}, target


EXAMPLES = ("topic", "copying_width", "letters", "epsilon", "squared")
"""Modules that CONTRIBUTING adds as an example: they must not exist."""


def test_files_and_folders_that_are_named_exist() -> None:
    built_or_invented = (
        "exercises/attention",
        "nlmcore/a.py",
        "tests/nlmcore/test_a.py",
        "lectures/NN_",
    )
    for text in code():
        match = re.fullmatch(r"(?:\.\./)?((?:lectures|exercises|solutions|nlmcore|autograder|tests)/[\w./]*)", text)
        invented = match and re.search(rf"/(?:test_)?({'|'.join(EXAMPLES)})\.(?:py|json)", match[1])
        if match and not invented and not match[1].startswith(built_or_invented):
            assert (ROOT / match[1]).exists(), text


def test_the_table_lists_every_module_and_no_other() -> None:
    table = TEXTS[ROOT / "README.md"].split("| `nlmcore.` | |")[1].split("\n\n")[0]
    listed = {
        name
        for row in table.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    there = {module.name for module in pkgutil.iter_modules([str(ROOT / "nlmcore")])}
    assert listed == there


def test_every_lecture_and_every_assignment_has_its_line() -> None:
    for lecture in ROOT.glob("lectures/[0-9]*_*.py"):
        assert f"({lecture.name})" in TEXTS[ROOT / "lectures" / "README.md"], lecture.name
    for master in ROOT.glob("solutions/*/"):
        if any(master.glob("*.py")):
            assert f"`{master.name}`" in TEXTS[ROOT / "exercises" / "README.md"], master.name


def test_variables_that_are_named_are_read_somewhere() -> None:
    sources = [*ROOT.glob("autograder/**/*.py"), *ROOT.glob("tests/**/*.py"), ROOT / "Makefile"]
    read = "\n".join(path.read_text(encoding="utf-8") for path in sources if path.name != "test_readme.py")
    for name in set(re.findall(r"\b((?:NLM_[A-Z_]+)|CHROMIUM|TORCH|ARGS)\b", ALL)):
        assert name in read, name


@pytest.mark.parametrize("block", blocks("python"))
def test_python_in_the_readme_runs(
    block: str, unchecked: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each by itself: with no name from a block before it."""
    monkeypatch.chdir(ROOT)
    with torch.random.fork_rng():
        exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})
    said = capsys.readouterr().out
    assert said
    assert "capital of France" not in block or "Paris" in said


@pytest.mark.skipif(not shutil.which("make"), reason="no make here; README says how to go on without")
def test_make_alone_says_what_there_is() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert all(verb in done.stdout for verb in verbs.VERBS)
    assert subprocess.run(["make", "doctor", "PYTHON="], cwd=ROOT, capture_output=True).returncode != 0


@pytest.mark.everything
@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
def test_make_and_the_door_say_the_same() -> None:
    through_make = subprocess.run(["make", "doctor"], cwd=ROOT, capture_output=True, text=True).stdout
    direct = subprocess.run([sys.executable, "-m", "autograder", "doctor"], cwd=ROOT, capture_output=True, text=True)
    assert "torch" in direct.stdout
    assert [row for row in through_make.split("\n") if "torch" in row] == [
        row for row in direct.stdout.split("\n") if "torch" in row
    ]


def test_nbgraders_commands_exist() -> None:
    from nbgrader.apps.nbgraderapp import NbGraderApp

    named = {word for text in code() for word in re.findall(r"-m nbgrader (\w+)", text)}
    assert "autograde" in named
    assert named <= set(NbGraderApp.subcommands)
