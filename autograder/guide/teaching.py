"""The tables of TEACHING.md: what lectures and assignments say of themselves, and the plans that are made of them.

A table is between `<!-- written: NAME -->` and `<!-- end -->`; everything else on the page is written by hand.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.question.find import exercises_of
from autograder.question.form import ELECTIVE
from autograder.question.questions import WRITTEN, in_hours
from autograder.texts.glossary import lectures, markdown_cells

WHERE = "TEACHING.md"
ROOT = Path(__file__).resolve().parents[2]
SESSION = 80  # minutes
BLOCK = re.compile(r"(<!-- written: (\w+) -->\n).*?(<!-- end -->)", re.S)
ALONE = {"an hour and a half": 90, "an hour and three quarters": 105, "two hours": 120}

TIMED = {
    "ngrams": (215, 85, 285),
    "backpropagation": (215, 82, 270),
    "attention": (240, 100, 320),
    "training": (280, 138, 400),
    "transformer": (300, 136, 440),
    "scale_and_insight": (275, 174, 430),
}
"""Minutes as stated, of a good and of a slow student: estimates of a reader who worked through these assignments, from
reading speed, the lines of the solutions and the failed checks. No class has been timed."""
GOOD, SLOW = (sum(row[n] for row in TIMED.values()) / sum(row[0] for row in TIMED.values()) for n in (1, 2))

Week = tuple[str, str, str]
"""Two sessions, each a lecture's topic or what is done instead, and the assignment that is due at the end, if any."""
PLANS: dict[str, tuple[Week, ...]] = {
    "everything": (
        ("language_models", "tokens_and_vectors", ""),
        ("backpropagation", "windows_and_convolutions", "ngrams"),
        ("training_well", "recurrent_networks", "subwords"),
        ("vanishing_gradients", "gates", "backpropagation"),
        ("decoding", "training_a_generator", "recurrence"),
        ("sequence_to_sequence", "attention", "gates"),
        ("self_attention", "positions", "decoding"),
        ("transformer_language_model", "encoder_decoder_transformers", "attention"),
        ("pretraining", "cheaper_attention", "self_attention"),
        ("do_modifications_transfer", "what_if", "transformer"),
        ("beyond_text", "scale", "capstone"),
        ("inside_a_real_model", "assistant", "scale_and_insight"),
    ),
    "sequences": (
        ("language_models", "tokens_and_vectors", ""),
        ("backpropagation", "*workshop*", "ngrams"),
        ("windows_and_convolutions", "training_well", "backpropagation"),
        ("recurrent_networks", "vanishing_gradients", "convolutions"),
        ("gates", "*workshop*", "recurrence"),
        ("decoding", "sequence_to_sequence", "gates"),
        ("training_a_generator", "*workshop*", "decoding"),
        ("attention", "*workshop*", "sequences"),
        ("self_attention", "positions", "attention"),
        ("transformer_language_model", "encoder_decoder_transformers", ""),
        ("*workshop*", "*the race, final entries*", "translation"),
        ("*discussion of the race*", "*oral examinations*", "capstone"),
    ),
    "transformers": (
        ("language_models", "tokens_and_vectors", ""),
        ("backpropagation", "training_well", "ngrams"),
        ("recurrent_networks", "gates", "backpropagation"),
        ("decoding", "sequence_to_sequence", ""),
        ("attention", "*workshop*", "decoding"),
        ("self_attention", "positions", "attention"),
        ("transformer_language_model", "*workshop*", "self_attention"),
        ("encoder_decoder_transformers", "pretraining", "transformer"),
        ("cheaper_attention", "*workshop*", "pretraining"),
        ("scale", "inside_a_real_model", "efficient_attention"),
        ("assistant", "*workshop*", "scale_and_insight"),
        ("beyond_text", "*oral examinations*", "capstone"),
    ),
    "evaluation": (
        ("language_models", "tokens_and_vectors", ""),
        ("backpropagation", "training_well", "ngrams"),
        ("recurrent_networks", "*workshop*", "training"),
        ("decoding", "sequence_to_sequence", ""),
        ("training_a_generator", "attention", "decoding"),
        ("self_attention", "positions", "attention"),
        ("transformer_language_model", "*workshop*", ""),
        ("encoder_decoder_transformers", "pretraining", "transformer"),
        ("do_modifications_transfer", "what_if", "pretraining"),
        ("scale", "*workshop*", "modifications"),
        ("inside_a_real_model", "*workshop*", "scale_and_insight"),
        ("assistant", "*oral examinations*", "project_layers"),
    ),
    "short": (
        ("language_models", "backpropagation", ""),
        ("recurrent_networks", "decoding", "ngrams"),
        ("attention", "self_attention", ""),
        ("positions", "transformer_language_model", "attention"),
        ("pretraining", "inside_a_real_model", ""),
        ("assistant", "*oral examinations*", "transformer"),
    ),
    "part_two": (
        ("checked_rewards", "memory_without_attention", "rewards"),
        ("smaller_and_faster", "features_and_harms", "compression"),
    ),
}
READING = {
    "language_models": ("Shannon (1951)", "Chen & Goodman (1999)"),
    "tokens_and_vectors": ("Sennrich", "Levy & Goldberg"),
    "backpropagation": ("Rumelhart",),
    "windows_and_convolutions": ("Bengio, Ducharme", "Kim (2014)"),
    "training_well": ("Glorot & Bengio", "Kingma & Ba"),
    "recurrent_networks": ("Elman", "Werbos"),
    "vanishing_gradients": ("Bengio, Simard", "Pascanu"),
    "gates": ("Hochreiter & Schmidhuber", "Greff"),
    "decoding": ("Holtzman", "Stahlberg & Byrne"),
    "training_a_generator": ("Bengio, Vinyals", "Huszár"),
    "sequence_to_sequence": ("Sutskever",),
    "attention": ("Bahdanau", "Luong"),
    "self_attention": ("Vaswani", "Michel"),
    "positions": ("Shaw", "Su et al."),
    "transformer_language_model": ("Radford", "Xiong"),
    "encoder_decoder_transformers": ("Raffel",),
    "pretraining": ("Peters", "Devlin"),
    "cheaper_attention": ("Beltagy", "Katharopoulos"),
    "do_modifications_transfer": ("Narang",),
    "what_if": ("Dong", "Press, Smith"),
    "beyond_text": ("Dosovitskiy", "Huang"),
    "scale": ("Kaplan", "Hoffmann", "Schaeffer"),
    "inside_a_real_model": ("Elhage", "Meng", "Hase"),
    "assistant": ("Ouyang", "Rafailov"),
    "checked_rewards": ("Williams (1992)", "Shao"),
    "memory_without_attention": ("Schlag", "Yang, Kautz"),
    "smaller_and_faster": ("Hinton", "Frantar"),
    "features_and_harms": ("Elhage", "Carlini", "Mitchell"),
}
"""One to three papers for each lecture, by how they begin among its sources."""


@dataclass(frozen=True)
class Lecture:
    number: int
    path: Path
    title: str
    minutes: int
    alone: int | None
    needs: tuple[int, ...]  # lectures that come before
    outcomes: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def topic(self) -> str:
        return self.path.stem.partition("_")[2]

    @property
    def link(self) -> str:
        return f"[{self.title}]({self.path.relative_to(ROOT).as_posix()})"


@dataclass(frozen=True)
class Assignment:
    name: str
    lectures: tuple[int, ...]
    minutes: int
    core: int  # minutes of its core questions
    questions: int
    points: float
    others: float  # points of written answers, and of the race
    oral: tuple[str, ...]


@cache
def all_lectures() -> tuple[Lecture, ...]:
    return tuple(map(_lecture, lectures(ROOT)))


def _lecture(path: Path) -> Lecture:
    """Raises ValueError if a lecture does not say what it should."""
    cells = [_flat(cell) for cell in markdown_cells(path.read_text(encoding="utf-8"))]
    number = int(path.name.split("_")[0])

    def found(pattern: str) -> re.Match[str]:
        there = next((match for cell in cells if (match := re.search(pattern, cell, re.M | re.S))), None)
        if there is None:
            raise ValueError(f"{path.name} has nothing of the form {pattern}")
        return there

    outcomes = found(r"\*\*After this lecture you can\*\*\n(.*?)\n\n")[1]
    needs = {int(each) for each in re.findall(r"\]\((\d\d)_", found(r"\*\*You need\*\* (.*?)(?:\n\n|\Z)")[1])}
    sources = found(r"\*\*Sources\.\*\* (.*?)(?:\n\n|\Z)")[1].replace("\n", " ")
    alone = [match[1] for cell in cells if (match := re.search(r"If you work alone,.*? plan (?:about )?(.+?)\.", cell))]
    return Lecture(
        number=number,
        path=path,
        title=found(r"\A# (.+?)\n")[1],
        minutes=sum(map(int, re.findall(r"\d+", found(r"^\| minutes \|(.*?)$")[1]))),
        alone=_minutes(alone[0]) if alone else None,
        needs=tuple(sorted(each for each in needs if each < number)),
        outcomes=tuple(one.rstrip(";.") for one in re.findall(r"^- (.+)$", outcomes, re.M)),
        sources=tuple(re.split(r"(?<=[.?]) (?=[A-Z][^.(]*?(?:et al\. )?\(\d{4})", sources)),
    )


def _flat(cell: str) -> str:
    """Items of a list that go on in indented lines, in one line each; no formulas' line breaks are in these cells."""
    return re.sub(r"\n {2,}(?=\S)", " ", cell)


def _minutes(words: str) -> int:
    return ALONE[words] if words in ALONE else int(words.removesuffix(" minutes"))


@cache
def all_assignments() -> tuple[Assignment, ...]:
    """In the order of the course, as `exercises/README.md` lists them."""
    table = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.M)
    return tuple(_assignment(name, tuple(map(int, re.findall(r"\[(\d+)\]", where)))) for name, where in rows)


def _assignment(name: str, where: tuple[int, ...]) -> Assignment:
    exercises = exercises_of(name)
    source = (ROOT / "solutions" / name / f"{name}.py").read_text(encoding="utf-8")
    written = WRITTEN.findall(source)
    notes = (ROOT / "solutions" / name / "notes.md").read_text(encoding="utf-8").partition("**For the oral**")[2]
    others = sum(float(points) for _, points, _ in written)
    times = [(each.minutes, each.core) for each in exercises.values()]
    times += [(int(minutes), kind != "more") for minutes, _, kind in written]
    others += sum(map(float, re.findall(r'^# %%.*"points": ([\d.]+)', source, re.M)))
    return Assignment(
        name=name,
        lectures=where,
        minutes=sum(minutes for minutes, _ in times),
        core=sum(minutes for minutes, core in times if core),
        questions=len(exercises) + len(written),
        points=sum(each.points for each in exercises.values()) + others,
        others=others,
        oral=tuple(_question(item) for item in re.findall(r"^\d+\. (.*?)(?=^\d+\. |^\*\*|\Z)", notes, re.M | re.S)),
    )


def _question(item: str) -> str:
    """What is asked, without the answers: the sentences in italics."""
    italics = re.findall(r"(?<!\*)\*(?!\*)(.+?)\*", " ".join(item.split()))
    return " … ".join(words for words in italics if words.endswith(("?", ".")))


def _lectures_table() -> Iterator[str]:
    yield "| | lecture | in class | alone | builds on |"
    yield "|---|---|---|---|---|"
    for one in all_lectures():
        alone = f"{one.alone} min" if one.alone else ""
        yield f"| {one.number} | {one.link} | {one.minutes} min | {alone} | {', '.join(map(str, one.needs))} |"


def _outcomes() -> Iterator[str]:
    for one in all_lectures():
        yield f"- **{one.number}. {one.title}** {'; '.join(one.outcomes)}."


def _assignments_table() -> Iterator[str]:
    yield "| assignment | after lecture | time | core | good to slow | questions | points | of them not by checks |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in all_assignments():
        after = ", ".join(map(str, one.lectures)) or "all"
        time, points = f"{in_hours(one.minutes)} | {in_hours(one.core)}", f"{one.points:g} | {one.others:g}"
        time += f" | {one.core * GOOD / 60:.1f} to {one.core * SLOW / 60:.1f} h"
        yield f"| [`{one.name}`](exercises/{one.name}/) | {after} | {time} | {one.questions} | {points} |"


def _core() -> Iterator[str]:
    every = {one.name: one.core for one in all_assignments()}
    fixed = sum(minutes for name, minutes in every.items() if name not in ELECTIVE)
    low, high = (fixed + choice(every[name] for name in ELECTIVE) for choice in (min, max))
    stated, good, slow = (f"{low * factor / 60:.0f} to {high * factor / 60:.0f} hours" for factor in (1, GOOD, SLOW))
    yield "The core of the course is the core questions of all assignments, but only one of"
    yield f"{_listed(ELECTIVE)}: {stated} by the stated times."
    yield f"A good student needs {GOOD:.2f} of a stated time and a slow one {SLOW:.2f}, which makes {good} and {slow}."
    yield f"Both factors are estimates from a trial of {len(TIMED)} assignments; no class has been timed."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _oral() -> Iterator[str]:
    titles = {one.number: one.title for one in all_lectures()}
    for one in all_assignments():
        about = "; ".join(f"{number}. {titles[number]}" for number in one.lectures) or "The whole course"
        yield f"\n**{about}** (`{one.name}`)\n"
        yield from (f"- {question}" for question in one.oral)


def _reading() -> Iterator[str]:
    for one in all_lectures():
        chosen = [next((s for s in one.sources if s.startswith(key)), None) for key in READING[one.topic]]
        if None in chosen:
            raise ValueError(f"{one.path.name} does not cite one of {READING[one.topic]}")
        yield f"- **{one.number}.** {' '.join(map(_cited, map(str, chosen)))}"


def _cited(source: str) -> str:
    """Authors, year, title and sections, without any words that follow."""
    cited = re.match(r".*?\(\d{4}.*?\), .*?[.?](?= [A-Z]|$)", source)
    return cited[0] if cited else source


def plan(weeks: tuple[Week, ...]) -> Iterator[str]:
    by_topic = {one.topic: one for one in all_lectures()}
    by_name = {one.name: one for one in all_assignments()}
    held, missing, total, short = set[int](), set[int](), 0, 0
    yield "| week | first session | second session | due at its end | hours | with the core only |"
    yield "|---|---|---|---|---|---|"
    for number, (first, second, due) in enumerate(weeks, 1):
        minutes, core = (by_name[due].minutes, by_name[due].core) if due else (0, 0)
        cells, work = [], minutes
        for session in (first, second):
            lecture = by_topic.get(session)
            minutes += lecture.minutes if lecture else SESSION
            cells.append(f"{lecture.number}. {lecture.title}" if lecture else session)
            if lecture:
                missing |= {*lecture.needs} - held
                held.add(lecture.number)
        total, short = total + minutes, short + minutes - work + core
        hours = f"{minutes / 60:.1f} | {(minutes - work + core) / 60:.1f}"
        yield f"| {number} | {cells[0]} | {cells[1]} | {f'`{due}`' if due else ''} | {hours} |"
    yield ""
    average, short_one = (minutes / 60 / len(weeks) for minutes in (total, short))
    said = (
        f"On average {average:.1f} hours a week, in class and on assignments; {short_one:.1f} with core questions only."
    )
    if missing:
        others = ", ".join(map(str, sorted(missing)))
        said += f" Some lectures build on others that are not held, which students can read: {others}."
    left = [one for one in all_assignments() if one.name not in {due for _, _, due in weeks}]
    if any(held.intersection(one.lectures) for one in left):
        said += f" Assignments left over: {_listed([one.name for one in left])}."
    yield said


BLOCKS: dict[str, Callable[[], Iterator[str]]] = {
    "lectures": _lectures_table,
    "outcomes": _outcomes,
    "assignments": _assignments_table,
    "core": _core,
    "oral": _oral,
    "reading": _reading,
    **{name: lambda weeks=weeks: plan(weeks) for name, weeks in PLANS.items()},  # type: ignore[misc]
}


def renewed(page: str) -> str:
    """The page with all its tables written anew. Raises KeyError for a table that nobody can write."""
    return BLOCK.sub(lambda block: f"{block[1]}\n" + "\n".join(BLOCKS[block[2]]()).strip() + f"\n\n{block[3]}", page)
