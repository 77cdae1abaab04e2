"""What the instructors' pages say is true: verbs and options exist, numbers are the limits', links and files are there,
and what they repeat from other sources is what the sources say."""

import re
import shlex
from pathlib import Path

import pytest

from autograder.guide import manual, teaching
from autograder.guide.renew import pages
from autograder.launcher import verbs
from autograder.question.judges import inputs_unchanged, same_shapes, same_values
from autograder.sandbox import Limits
from autograder.scaffold.new import FILES

ROOT = Path(__file__).resolve().parents[2]
FIRST = ROOT / "INSTRUCTORS.md"
FOLDER = sorted((ROOT / "autograder" / "guide").glob("*.md"))
PAGES = [FIRST, ROOT / "TEACHING.md", *FOLDER]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
GUIDE = "\n".join(text for page, text in TEXTS.items() if page != ROOT / manual.WHERE)
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
    assert named >= {*verbs.BY_WHOM["instructors, in the order of a semester"]} - {"preflight", "lti"}
    assert named >= {"setup", "doctor", "new", "test", "build", "lab"}


def test_the_first_page_walks_through_the_commands_of_a_semester_in_their_order():
    walked = [line.split("autograder ")[1].split()[0] for line in TEXTS[FIRST].splitlines() if line[:7] == "python3"]
    steps = ["setup", "doctor", "due", "release", "roster", "collect", "preflight", "grade"]
    steps += ["mark", "report", "feedback", "backup"]
    assert [verb for verb in dict.fromkeys(walked) if verb in steps] == steps


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        name, _, anchor = target.partition("#")
        if not target.startswith("https://"):
            other = (page.parent / name).resolve() if name else page
            assert other.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.M)
                assert anchor in {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}, target


def test_the_first_page_leads_to_all_others_and_no_page_is_long():
    for page in FOLDER:
        assert f"](autograder/guide/{page.name})" in TEXTS[FIRST]
    long = {page.name: len(text.encode()) for page, text in TEXTS.items() if page in FOLDER}
    assert max(long.values()) <= 8 * 1024, long
    assert len(TEXTS[FIRST].encode()) <= 10 * 1024


@pytest.mark.parametrize("name", [manual.WHERE, teaching.WHERE])
def test_what_is_repeated_is_what_the_sources_say(name):
    assert TEXTS[ROOT / name] == pages()[name], "python -m autograder.guide.renew writes it again"


def test_the_page_of_commands_has_every_command_and_option_of_an_instructor():
    page = TEXTS[ROOT / manual.WHERE]
    for name, verb in verbs.BY_WHOM["instructors, in the order of a semester"].items():
        assert f"- `{name}" in page
        options = {each.option_strings[-1] for each in parser_of(verb)()._actions if each.option_strings}
        assert all(f"`{option}" in page for option in options - {"--help"})


def test_a_plan_holds_no_lecture_before_those_that_it_builds_on_and_none_twice():
    topics = {one.topic: one for one in teaching.all_lectures()}
    names = {one.name: one for one in teaching.all_assignments()}
    for name, weeks in teaching.PLANS.items():
        held = []
        for *sessions, due in weeks:
            held += [topics[session].number for session in sessions if not session.startswith("*")]
            assert not due or {*names[due].lectures} <= {*held}, (name, due)
        assert len(set(held)) == len(held), name
        at = {number: place for place, number in enumerate(held)}
        for topic in topics.values():
            if topic.number in at:
                assert all(at[need] < at[topic.number] for need in topic.needs if need in at), (name, topic.title)
    whole = teaching.PLANS["everything"] + teaching.PLANS["part_two"]
    assert sorted(topics) == sorted(session for week in whole for session in week[:2])


def test_every_lecture_has_outcomes_minutes_and_reading_and_every_assignment_questions_for_the_oral():
    assert {one.topic for one in teaching.all_lectures()} == {*teaching.READING}
    for one in teaching.all_lectures():
        assert len(one.outcomes) >= 3
        assert 50 <= one.minutes <= teaching.SESSION
    for assignment in teaching.all_assignments():
        assert assignment.minutes > 60
        assert len(assignment.oral) >= (3 if assignment.name.startswith("project_") else 5)
        assert all(len(question) > 10 for question in assignment.oral), assignment.oral
