"""What INSTRUCTORS.md says is true: verbs and options exist, numbers are the limits', links and files are there."""

import re
import shlex
from pathlib import Path

import pytest

from autograder.launcher import verbs
from autograder.question.judges import inputs_unchanged, same_shapes, same_values
from autograder.sandbox import Limits
from autograder.scaffold.new import FILES

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "INSTRUCTORS.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"```bash\n(.*?)```", GUIDE, re.S))
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", GUIDE, flags=re.S))
COMMANDS = [
    line.split("  #")[0].split("autograder ", 1)[1].strip()
    for line in [*BLOCKS.splitlines(), *SPANS]
    if re.search(r"python3 -m autograder [a-z]", line)
]


def parser_of(verb):
    """The maker of the verb's own parser, where it has one."""
    return getattr(verb.function, "parser", None)


@pytest.mark.parametrize("command", sorted(set(COMMANDS)))
def test_every_command_is_understood(command):
    name, *words = shlex.split(command)
    verb = verbs.offered()[name]
    _, words = verbs.parse(words)
    parser = parser_of(verb)
    if parser is not None:
        parser().parse_args(words)


def test_the_walk_names_every_step_of_an_instructors_way():
    named = {command.split()[0] for command in COMMANDS}
    assert named >= {
        "doctor",
        "new",
        "test",
        "build",
        "release",
        "preflight",
        "grade",
        "report",
        "feedback",
        "worker",
        "lab",
    }


def test_options_that_are_named_alone_exist():
    known = set()
    for verb in verbs.offered().values():
        parser = parser_of(verb)
        known |= set(parser()._option_string_actions) if parser is not None else set()
    named = {word for span in SPANS for word in re.findall(r"(?:^|\s)(--[a-z-]+)", span)}
    assert named - known - {"--help", "--host", "--instructor"} == set()  # the last is JupyterLab's, by our `lab`


def test_the_files_of_a_new_assignment_are_those_that_are_written():
    for place in FILES.values():
        assert f"`{place.format(name='temperature')}`" in GUIDE


def test_the_limits_are_the_boxs():
    limits = Limits()
    for words in (
        f"{limits.cpu} s of processor time in all, {limits.cell_cpu:g} s a cell, {limits.question_cpu:g} s a question,"
        f" {limits.call_cpu:g} s a call",
        f"{limits.memory >> 30} GB beyond",
        f"{limits.disk >> 20} MB of files",
        f"{limits.output >> 10} KB of output per cell, {limits.result >> 20} MB of results",
    ):
        assert words in GUIDE


def test_files_and_judges_that_are_named_exist():
    for span in SPANS:
        if re.fullmatch(r"(autograder|solutions|tests)/[\w/]+\.py", span) and "temperature" not in span:
            assert (ROOT / span).exists(), span
    for judge in (same_shapes, same_values, inputs_unchanged):
        assert f"`{judge.__name__}`" in GUIDE
