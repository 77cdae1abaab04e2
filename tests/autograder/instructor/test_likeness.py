"""Answers that are nearly the same are found whatever the names in them; what everybody has is not."""

import random
import time

import pytest

from autograder.instructor.likeness import REFERENCE, alike, same_to_the_letter

pytest.importorskip("copydetect")
pytestmark = pytest.mark.filterwarnings("ignore")

STUB = "def attend(scores, values, mask=None):\n    raise NotImplementedError()"
OPERATIONS = ["+", "-", "*", "@", "/", "//", "%", "**"]


def answer(seed: int, length: int = 12) -> str:
    """A function like no other: lines of random arithmetic."""
    chance = random.Random(seed)
    lines = [STUB.split("\n")[0]]
    for number in range(length):
        parts = [f"x{chance.randrange(9)} {chance.choice(OPERATIONS)} {chance.randrange(999)}" for _ in range(3)]
        lines.append(
            f"    x{number} = ({f' {chance.choice(OPERATIONS)} '.join(parts)}) {chance.choice(OPERATIONS)} values"
        )
    return "\n".join([*lines, "    return x1"])


def renamed(source: str) -> str:
    for number in range(12):
        source = source.replace(f"x{number} ", f"alpha_{number} ")
    return f"# all my own work\n{source}".replace("return", "\n    return")


def group(sources):
    return {student: {"nb/attend": source} for student, source in sources.items()}


def test_a_copy_with_other_names_and_comments_is_found_and_nobody_else():
    sources = {f"s{n}": answer(n) for n in range(20)}
    sources["copy"] = renamed(sources["s3"])
    found = alike(group(sources), {"nb/attend": STUB}, {})
    assert [(pair.one, pair.other) for pair in found] == [("s3", "copy")]
    assert found[0].part > 0.9
    assert found[0].where == ("nb/attend",)


def test_a_copy_of_the_reference_is_found():
    sources = {f"s{n}": answer(n) for n in range(9)}
    sources["copy"] = renamed(answer(99))
    found = alike(group(sources), {}, {"nb/attend": answer(99)})
    assert [(pair.one, pair.other) for pair in found] == [("copy", REFERENCE)]


def test_what_was_given_and_what_everybody_writes_is_no_likeness():
    common = answer(0)
    assert alike(group({f"s{n}": common for n in range(20)}), {}, {}) == []
    assert alike(group({f"s{n}": common for n in range(2)}), {"nb/attend": common}, {}) == []
    assert len(alike(group({f"s{n}": common for n in range(2)}), {}, {})) == 1


def test_the_same_to_the_letter_is_said_with_the_smallest_group_first():
    sources = {"a": answer(1), "b": answer(1) + "\n\n", "c": answer(2), "d": answer(3), "e": answer(3), "f": answer(3)}
    found = same_to_the_letter(group(sources), {"nb/attend": STUB}, {})
    assert [same.students for same in found] == [("a", "b"), ("d", "e", "f")]
    assert same_to_the_letter(group(dict.fromkeys("ab", STUB)), {"nb/attend": STUB}, {}) == []


@pytest.mark.slow
@pytest.mark.everything
def test_a_class_of_5000_takes_seconds():
    sources = {f"s{n}": answer(n, 5) for n in range(4990)} | {f"copy{n}": answer(n, 5) for n in range(10)}
    start = time.perf_counter()
    found = alike(group(sources), {"nb/attend": STUB}, {})
    taken = time.perf_counter() - start
    assert len(found) == 10
    assert taken < 60, taken
