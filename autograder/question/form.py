"""Rules for whoever writes an assignment, as sentences: what `build`, `release` and the tests say about its form.

`form_faults` holds for every assignment, `course_faults` for the course's own (`COURSE`), which students meet one after
the other and which therefore look alike. An assignment of your own stands beside them and is free of the second kind.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.assignments import SOURCE
from autograder.question.hints import LAST
from autograder.question.listing import solution_in
from autograder.question.questions import in_hours, planned, stated
from autograder.question.specification import Exercise

COURSE = (
    *("ngrams", "subwords", "vectors", "backpropagation", "convolutions", "training"),
    *("recurrence", "gates", "decoding", "sequences", "attention", "self_attention", "positions", "transformer"),
    *("translation", "pretraining", "efficient_attention", "modifications", "scale_and_insight"),
    *("rewards", "memory", "compression", "features"),
)
"""The course's own assignments, in the order in which they are met. To make yours one of them, add its name here."""
ELECTIVE = (
    *("convolutions", "positions", "translation", "pretraining", "efficient_attention", "modifications"),
    *("rewards", "memory", "compression", "features"),
)
"""Of these the core of the course has one, whichever it is."""
MISTAKES, MINUTES, WRITTEN, LONG, HINT_WORDS, ORAL = 3, (120, 300), 4, 10, 60, 5
NOTE, INDEX = "solutions/{}/notes.md", "exercises/README.md"
HINT = re.compile(
    r"<details><summary>A hint(?: on [^:]+)?: where to look</summary>\n\n(.+?)\n\n"
    r"<details><summary>The idea</summary>\n\n(.+?)\n</details></details>",
    re.DOTALL,
)
ROW = re.compile(r"^\| (\w+) \| .+? \| (\d+) \| ([\d.]+) \| ([a-z]+) · (core|more) \|$", re.MULTILINE)
"""A row of the table of questions, which the build writes: number, minutes, points, difficulty or "written", kind."""


def form_faults(cells: Sequence[Any], exercises: Mapping[str, Exercise]) -> Iterator[str]:
    """What is missing in an expanded source notebook with these exercises, in sentences."""
    words = _prose(cells)
    if not words.startswith("# Assignment: "):
        yield "the first cell should begin with “# Assignment: ” and the title"
    for exercise in exercises.values():
        if len(exercise.misconceptions) < MISTAKES:
            yield f"{exercise.name} names {len(exercise.misconceptions)} mistakes; it should name {MISTAKES} or more"
        for mistake in exercise.misconceptions:
            if not mistake.sentence.rstrip(")").endswith((".", "!", "?", "…")) or len(mistake.sentence.split()) < 5:
                yield f"{exercise.name}: the message about {mistake.id!r} is no sentence: {mistake.sentence}"
        if len(exercise.properties) < 2 and exercise.arguments:
            yield f"{exercise.name} has one property; with two or more, half a solution earns something"
    if (said := words.count("**Checked:**")) < len(exercises):
        yield f"{len(exercises)} questions are checked, but only {said} say how: write a line [[checked]] in each"
    if len(re.findall(r"(?i)about [^.;|]* hours?\b", words)) > 1:
        yield "the time is stated more than once: the table of questions says it"
    rows = ROW.findall(words)
    yield from _numbering(words, "\n".join(cell.source for cell in cells), [number for number, *_ in rows])


def course_faults(name: str, cells: Sequence[Any], exercises: Mapping[str, Exercise], root: Path) -> Iterator[str]:
    """The same for what only the course's own assignments must have; nothing for others, nor for a copy of some."""
    if name not in COURSE or not (root / INDEX).exists():
        return
    words = _prose(cells)
    rows = ROW.findall(words)
    minutes, core = sum(int(row[1]) for row in rows), sum(int(row[1]) for row in rows if row[-1] == "core")
    text = (root / SOURCE / name / f"{name}.py").read_text(encoding="utf-8")
    if unsaid := re.findall(r"\[\[(\S+), \d+ minutes(?!.*, (?:core|more)\]\])", text):
        yield f"the headings of {', '.join(unsaid)} should say core or more"
    low, high = MINUTES
    if not low <= minutes <= high:
        yield f"its questions take {minutes} minutes together; the course's assignments take {low} to {high}"
    written = sum(float(points) for *_, points, kind, _ in rows if kind == "written")
    if written < WRITTEN or "### BEGIN MARK SCHEME" not in words:
        yield f"answers in words earn {written:g} points, and should earn {WRITTEN} or more, with a mark scheme"
    yield from _longer_work(exercises, written)
    yield from _hints(cells, exercises)
    last = rows[-1][0] if rows else ""
    reminder = f"question {last} should be answered in your own words"
    if reminder not in words:
        yield f"the last cell should remind students of the written answer: “{reminder}”"
    note = root / NOTE.format(name)
    said = note.read_text(encoding="utf-8") if note.exists() else ""
    parts = ("**Common mistakes**", "**By hand.**", "**For the oral**", f"Allow {in_hours(minutes)}")
    if missing := [part for part in parts if part not in said]:
        yield f"{NOTE.format(name)}, the note for instructors, lacks {', '.join(missing)}"
    if len(re.findall(r"^\d\. \*", said, re.MULTILINE)) < ORAL:
        yield f"{NOTE.format(name)} should have {ORAL} questions for the oral or more, each “1. *question?* answer”"
    line = rf"^\| `{name}` \| .* \| {planned(minutes, core)} \|$"
    if not re.search(line, (root / INDEX).read_text(encoding="utf-8"), re.MULTILINE):
        yield f"{INDEX} should have a row | `{name}` | lecture | content | {planned(minutes, core)} |"


def _prose(cells: Sequence[Any]) -> str:
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def _numbering(words: str, everything: str, numbers: Sequence[str]) -> Iterator[str]:
    headings = re.findall(r"^## (\d)\. ", words, re.MULTILINE)
    if headings != [str(i + 1) for i in range(len(headings))]:
        yield f"the headings ## are numbered {', '.join(headings)}, not one after the other"
    if list(numbers) != sorted(numbers):
        yield f"the questions are numbered {', '.join(numbers)}, which is not their order"
    for number in headings:
        letters = [found[1:] for found in numbers if found[0] == number]
        if letters not in ([""], list("abcdefgh"[: len(letters)])):
            yield f"the parts of question {number} are {', '.join(map(repr, letters))}: letters from a on, without gaps"
    if gone := sorted(mentioned(everything) - {*numbers, *headings}):
        yield f"question {', '.join(gone)} is mentioned, and there is none"


def mentioned(text: str) -> set[str]:
    """The numbers of the questions that a text mentions."""
    called = re.findall(r"(?i)\bquestion (\d\w?)\b", text)
    return {*called, *(number for two in re.findall(r"(?i)\bquestions (\d\w?) and (\d\w?)\b", text) for number in two)}


def _longer_work(exercises: Mapping[str, Exercise], written: float) -> Iterator[str]:
    """Open-ended: experiments, and the written question. Longer: more lines of the solution, without comments and blank
    lines. A bug to mend is one line, however long its function."""
    points, longer = written, written
    for exercise in exercises.values():
        solution = solution_in(exercise.reference)
        lines = [line for line in solution.split("\n") if line.strip() and not line.strip().startswith("#")]
        points += exercise.points
        if "conclusion" in exercise.returns or (len(lines) > LONG and exercise.planted is None):
            longer += exercise.points
    if longer < points / 3:
        yield (
            f"{longer:g} of {points:g} points are for experiments, written answers and solutions of more than {LONG}"
            " lines; a third should be. Give such a question more points, or the short ones fewer"
        )


def _hints(cells: Sequence[Any], exercises: Mapping[str, Exercise]) -> Iterator[str]:
    asked = {exercise.function: exercise for exercise in exercises.values()}
    above = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            above += f"\n\n{cell.source}"
        for function in set(re.findall(r"^def (\w+)\(", cell.source, re.MULTILINE)) & set(asked):
            exercise = asked.pop(function)
            hints = HINT.findall(above.rpartition(stated(exercise))[2])
            if not hints:
                yield f"{function} has no [[hints]] in three stages: where to look, the idea, nearly the line"
            for stage in (*(stage for pair in hints for stage in pair), *exercise.nearly):
                if len(stage.partition(f"{LAST}: ")[2].split() or stage.split()) > HINT_WORDS:
                    yield f"a hint of {function} has more than {HINT_WORDS} words"
            for where, idea in hints:
                if re.findall(r"`(.+?)`", where) != re.findall(r"`([a-z]+)`", where):
                    yield f"the first hint of {function} shows code; it should only say where to look: {where!r}"
                if re.findall(r"`(.+?)`", idea) != re.findall(r"`([\w.]+)`", idea):
                    yield f"the second hint of {function} shows code; it should only give the idea: {idea!r}"
            above = ""
