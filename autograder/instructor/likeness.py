"""Students' own texts, and answers that are nearly the same: a hint for you, never a mark.

A short exercise has few solutions, so one equal answer says little; many of them together say much. `together` compares
pairs of students question by question, names and comments aside, and asks how much likelier their equal answers are if
one copied than if they worked alone. What many wrote weighs little; an equal wrong answer weighs as much as it is rare.

For one long answer among different ones there is winnowing, `alike` (Schleimer, Wilkerson and Aiken 2003, "Winnowing:
local algorithms for document fingerprinting"), as copydetect does it: all names are replaced by the same one, every run
of 25 characters is hashed, and the smallest hash of every window of 6 is kept. Here the fingerprints go into an index,
so that only students who share some are ever compared. Code that was given to everybody does not count, and neither
does a fingerprint that more than two have, or more than a fiftieth of a large class. Two students are reported if many
fingerprints remain, and most of those of one also occur in the other.

Whole submissions that are the same, and written answers that repeat each other, are found separately: the first by
comparing everything the students wrote, or the files themselves; the second by the letters that they share, whatever
was changed in between.

Answers are read as plain JSON, not as notebooks, so a class of 5,000 is read in seconds.
"""

import ast
import contextlib
import functools
import hashlib
import itertools
import json
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from autograder.grading.course import Course
from autograder.guard import Guard, NotRead
from autograder.question.questions import read_master

Answers = dict[str, str]  # by "notebook/cell": the code of an answer

LENGTH, WINDOW = 25, 6
FEW = 30  # a fingerprint that more students have is common, in a class of any size
SHARE = 0.02  # in a large class; in a small one, what more than two have
LEAST, ALIKE = 25, 0.5  # how many rare fingerprints two must share, and what part of the smaller one's
LEAST_RUNS = 5  # the same for prose
COPIED = 0.9  # of the answers of whoever copies, those that stay the same, names and comments aside
LEAST_SAME = 4  # how many answers two must have in common
ALL_PAIRS = 300  # in a larger class only those are compared who share something that at most FEW wrote
LONGEST = 50_000  # characters of an answer that are compared
LETTERS, SAMPLE = 12, 3  # of prose: runs of so many letters, and of those one in so many
SOME = 40  # letters from which on it is remarkable that two pieces of prose are the same
LONG = 200  # characters from which on it is remarkable that two texts are the same to the letter
REFERENCE = "(the reference solution)"


class Pair(NamedTuple):
    """Two students, or one and the reference."""

    one: str
    other: str
    shared: int
    part: float  # of the rare fingerprints of whichever has fewer
    where: tuple[str, ...]  # questions in which they share them, the most first


class Joint(NamedTuple):
    """Two students, all their answers taken together."""

    one: str
    other: str
    same: int  # answers that are the same, names and comments aside
    of: int  # answers that both wrote
    wrong: int  # of the same ones
    weight: float  # the logarithm of how much likelier this is if one copied


class Same(NamedTuple):
    """Students with exactly the same answer to one question, including comments."""

    where: str
    students: tuple[str, ...]


def fingerprints(source: str) -> frozenset[int]:
    """Raises ImportError if copydetect is not installed."""
    from copydetect.utils import filter_code, get_document_fingerprints

    filtered, _ = filter_code(source[:LONGEST], "answer.py", language="python")
    if len(filtered) < LENGTH + WINDOW:
        return frozenset()
    hashes, _ = get_document_fingerprints(filtered, LENGTH, WINDOW)
    return frozenset(int(value) for value in hashes)


def forms(answers: Answers, given: Answers) -> Answers:
    """Each answer as it is without its names, comments and docstrings; without those that do not parse, and those that
    nobody changed."""
    made = {where: _form(source) for where, source in answers.items()}
    return {where: form for where, form in made.items() if form and form != _form(given.get(where, ""))}


def _form(source: str) -> str:
    """A digest of the code, in which the names that it binds are numbered."""
    try:
        tree = _bare(ast.parse(source[:LONGEST]))
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        numbers: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                stored.add(node.arg)
                node.arg = numbers.setdefault(node.arg, f"n{len(numbers)}")
            elif isinstance(node, ast.Name) and node.id in stored:
                node.id = numbers.setdefault(node.id, f"n{len(numbers)}")
        return hashlib.sha256(ast.dump(tree).encode()).hexdigest() if tree.body else ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _bare(tree: ast.Module) -> ast.Module:
    """Without docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def together(students: Mapping[str, Answers], right: Mapping[str, Mapping[str, bool]]) -> list[Joint]:
    """The pairs with more equal answers than chance gives to the likeliest pair of the class; those with equal wrong
    answers first. students: the forms of everybody's answers; right: which of them have full marks, as far as that is
    known."""
    wrote: Counter[str] = Counter()
    good: Counter[str] = Counter()
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for student, answers in students.items():
        for where, form in answers.items():
            wrote[where] += 1
            good[where] += right.get(student, {}).get(where, True)
            holders[where, form].append(student)

    def weighed(one: str, other: str) -> Joint:
        total, same, wrong = 0.0, 0, 0
        both = students[one].keys() & students[other].keys()
        for where in both:
            form = students[one][where]
            if form != students[other][where]:
                total += math.log(1 - COPIED)
                continue
            fine = right.get(one, {}).get(where, True)
            # How often others wrote it: of those who are right, or of all, since to be wrong is a coincidence itself.
            chance = min(1.0, (len(holders[where, form]) - 1.5) / max(1, (good if fine else wrote)[where] - 1))
            total += math.log((COPIED + (1 - COPIED) * chance) / chance)
            same, wrong = same + 1, wrong + (not fine)
        return Joint(one, other, same, len(both), wrong, total)

    pairs: Iterable[tuple[str, str]] = combinations(sorted(students), 2)
    if len(students) > ALL_PAIRS:
        rare = (who for who in holders.values() if 1 < len(who) <= FEW)
        pairs = sorted({pair for who in rare for pair in combinations(sorted(who), 2)})
    least = math.log(max(1, len(students) * (len(students) - 1) / 2))
    found = [pair for pair in itertools.starmap(weighed, pairs) if pair.weight > least and pair.same >= LEAST_SAME]
    return sorted(found, key=lambda pair: (-pair.wrong, -pair.weight, pair.one, pair.other))


def letters(prose: str) -> str:
    """The letters only, without case, accents, punctuation, blanks and Markdown."""
    plain = unicodedata.normalize("NFKD", prose[:LONGEST]).casefold()
    return "".join(one for one in plain if one.isalnum())


def runs(prose: str) -> frozenset[int]:
    """A sample of the runs of LETTERS letters, the same runs of every text: a changed word affects few of them."""
    bare = letters(prose).encode("utf-32-le", "replace")
    made = (crc32(bare[at : at + 4 * LETTERS]) for at in range(0, len(bare) - 4 * LETTERS + 1, 4))
    return frozenset(value for value in made if value % SAMPLE == 0)


def alike(
    students: Mapping[str, Answers],
    given: Answers,
    reference: Answers,
    read: Callable[[str], frozenset[int]] = fingerprints,
    common: int = 0,
    least: int = LEAST,
) -> list[Pair]:
    """The pairs that stand out, most similar first. common: fingerprints that more students have do not count (by
    default SHARE of the class). least: how many rare ones two must share."""
    prints = functools.cache(read)
    free = frozenset().union(*(prints(source) for source in given.values()))
    everybody = _with(students, reference)
    held: dict[str, dict[int, str]] = {}
    index: dict[int, list[str]] = defaultdict(list)
    for student, answers in everybody.items():
        held[student] = {value: where for where, source in answers.items() for value in prints(source) - free}
        for value in held[student]:
            index[value].append(student)
    few = common or min(max(2, math.ceil(SHARE * len(students))), FEW)
    index = {value: holders for value, holders in index.items() if len(holders) <= few}
    rare = Counter(student for holders in index.values() for student in holders)
    together = Counter(pair for holders in index.values() for pair in combinations(holders, 2))
    pairs = []
    for (one, other), shared in together.items():
        part = shared / min(rare[one], rare[other])
        if shared >= least and part >= ALIKE:
            both = held[one].keys() & held[other].keys()
            where = Counter(held[one][value] for value in both if value in index)
            pairs.append(Pair(one, other, shared, part, tuple(name for name, _ in where.most_common(3))))
    return sorted(pairs, key=lambda pair: (-pair.part, -pair.shared, pair.one, pair.other))


def _with(students: Mapping[str, Answers], reference: Answers) -> dict[str, Answers]:
    return {**students, **({REFERENCE: reference} if reference else {})}


def same_to_the_letter(students: Mapping[str, Answers], given: Answers, reference: Answers) -> list[Same]:
    """Groups of two and more, the smallest first, because text that half of a class has was probably given to it."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for student, answers in _with(students, reference).items():
        for where, source in answers.items():
            groups[where, own_text(source, given.get(where, ""))].append(student)
    found = [Same(where, tuple(who)) for (where, own), who in groups.items() if len(who) > 1 and len(own) >= LONG]
    return sorted(found, key=lambda same: (len(same.students), same.where, same.students))


def repeated(students: Mapping[str, Answers], given: Answers, reference: Answers) -> tuple[list[Same], list[Pair]]:
    """Written answers, question by question: groups whose letters are the same, and pairs that share most of theirs."""
    everybody = _with(students, reference)
    groups: list[Same] = []
    pairs: list[Pair] = []
    for where in dict.fromkeys(where for answers in everybody.values() for where in answers):
        free = letters(given.get(where, ""))
        here = {name: answers[where] for name, answers in everybody.items() if where in answers}
        by_letters: dict[str, list[str]] = defaultdict(list)
        for name, source in here.items():
            by_letters[letters(source)].append(name)
        same = {text: names for text, names in by_letters.items() if len(text) >= SOME and text != free}
        groups += [Same(where, tuple(names)) for names in same.values() if len(names) > 1]
        ones = {names[0]: {where: here[names[0]]} for names in same.values()}  # a group is said above
        common = max(4, min(len(ones) // 2, 2 * FEW))  # one essay may have gone through many hands
        pairs += alike(ones, {where: given.get(where, "")}, {}, runs, common, LEAST_RUNS)
    return sorted(groups, key=lambda same: (same.where, same.students)), pairs


def whole(students: Mapping[str, Answers], given: Answers, files: Mapping[str, frozenset[str]]) -> list[Same]:
    """Students who handed in the same: identical files, or exactly the same text. files: digests of their notebooks.
    Students known to have written nothing are not named."""
    same: dict[tuple[str, str], list[str]] = defaultdict(list)
    for student in sorted({*students, *files}):
        answers = students.get(student, {})
        own = [own_text(source, given.get(where, "")) for where, source in sorted(answers.items())]
        if answers and not any(own):
            continue
        if sum(map(len, own)) >= LONG:
            same["the same text", "\n\n".join(own)].append(student)
        for digest in files.get(student, ()):
            same["the same file", digest].append(student)
    # Of a group that has both, the file is said.
    found = {tuple(names): how for (how, _), names in sorted(same.items(), reverse=True) if len(names) > 1}
    return sorted((Same(how, names) for names, how in found.items()), key=lambda same: (same.where, same.students))


def own_text(source: str, given: str) -> str:
    """The text that the student added, without blanks at the ends of lines and empty lines."""
    free = {"", *(line.strip() for line in given.split("\n"))}
    return "\n".join(line.rstrip() for line in source.split("\n") if line.strip() not in free)


# --- what the students wrote ------------------------------------------------------------------------------


def answers_of_class(course: Course, assignment: str, guard: Guard, kind: str) -> Iterator[tuple[str, Answers]]:
    """(student, answers) for everybody whose graded submission can be read. kind: "code" or "markdown"."""
    names = [master.name for master in course.masters(assignment)]
    for student in course.students(assignment):
        folder = course.autograded(student, assignment)
        found: Answers = {}
        for name in names:
            with contextlib.suppress(NotRead):
                found |= guard.ask(answers_in, folder / f"{name}.ipynb", name, kind)
        if found:
            yield student, found


def answers_in(path: Path, notebook: str, kind: str) -> Answers:
    try:
        return _answers(json.loads(path.read_text(encoding="utf-8"))["cells"], notebook, kind)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _answers(cells: Iterable[Mapping[str, Any]], notebook: str, kind: str) -> Answers:
    found = {}
    for cell in cells:
        about = cell.get("metadata", {}).get("nbgrader", {})
        if about.get("solution") and cell.get("cell_type") == kind:
            source = cell.get("source", "")
            found[f"{notebook}/{about.get('grade_id')}"] = "".join(source) if isinstance(source, list) else str(source)
    return found


def files_of_class(course: Course, assignment: str) -> dict[str, frozenset[str]]:
    """Digests of the notebooks and archives whose size occurs twice, because only those can be the same."""
    sizes: dict[int, list[tuple[str, Path]]] = defaultdict(list)
    for student in course.students(assignment):
        folder = course.submission(student, assignment)
        for path in [*folder.rglob("*.ipynb"), *folder.parent.glob(f"{assignment}.*")]:
            if path.is_file() and not path.is_symlink():
                sizes[path.stat().st_size].append((student, path))
    found: dict[str, set[str]] = defaultdict(set)
    for same in sizes.values():
        for student, path in same if len({student for student, _ in same}) > 1 else ():
            found[student].add(hashlib.sha256(path.read_bytes()).hexdigest())
    return {student: frozenset(digests) for student, digests in found.items()}


def given(course: Course, assignment: str, kind: str = "code") -> Answers:
    masters = course.masters(assignment)
    return {f"{m.name}/{c.id}": c.source for m in masters for c in m.cells if c.solution and c.type == kind}


def reference(course: Course, assignment: str, kind: str = "code") -> Answers:
    """The source notebooks' own answers, if this machine has them."""
    folder = Path(course.directory.format_path(course.directory.source_directory, ".", assignment))
    found: Answers = {}
    for master in course.masters(assignment):
        path = folder / f"{master.name}.ipynb"
        for key, source in _answers(read_master(path).cells if path.is_file() else [], master.name, kind).items():
            found[key] = "\n".join(line for line in source.split("\n") if "### " not in line)
    return found


def anonymous(source: str, most: int = 40) -> str:
    """The code without comments and docstrings, in which people write their names; "" if it does not parse."""
    try:
        lines = ast.unparse(_bare(ast.parse(source))).split("\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return "\n".join(lines[:most] + (["…"] if len(lines) > most else []))
