"""Answers that are nearly the same are found whatever the names in them; what everybody has is not."""

import random

import pytest

from autograder.instructor.likeness import REFERENCE, alike, forms, repeated, same_to_the_letter, together, whole

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
        whole = f" {chance.choice(OPERATIONS)} ".join(parts)
        lines.append(f"    x{number} = ({whole}) {chance.choice(OPERATIONS)} values")
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


WAYS = (  # of three right answers to a short question, and of three wrong ones
    "    return sum(x * {n})",
    "    total = 0\n    for one in x:\n        total += one * {n}\n    return total",
    "    return (x * {n}).sum()",
    "    return x * {n}",
    "    return sum(x)",
    "    return x.mean() * {n}",
)


def short_class(seed, students=30, questions=12):
    """A class whose twelve short functions have few forms: everybody's are like many others'."""
    chance, answers, right = random.Random(seed), {}, {}
    for student in range(students):
        skill = chance.random()
        chosen = [chance.choice((0, 0, 0, 1, 2)) + 3 * (chance.random() > 0.4 + 0.5 * skill) for _ in range(questions)]
        name = f"s{student}"
        answers[name] = {f"nb/q{q}": f"def q{q}(x):\n{WAYS[way].format(n=q)}" for q, way in enumerate(chosen)}
        right[name] = {f"nb/q{q}": way < 3 for q, way in enumerate(chosen)}
    return answers, right


@pytest.mark.parametrize("seed", range(5))
def test_a_copy_of_short_common_answers_with_comments_and_other_names_is_found_and_nobody_else(seed):
    answers, right = short_class(seed)
    answers["copy"] = {
        where: f"# my own solution\n{source}".replace("x", "values").replace("):\n", '):\n    """Mine."""\n', 1)
        for where, source in answers["s3"].items()
    }
    answers["copy"]["nb/q5"] = "def q5(values):\n    return values.prod()"  # the one that was changed
    right["copy"] = right["s3"] | {"nb/q5": False}
    made = {student: forms(given, {}) for student, given in answers.items()}
    (found,) = together(made, right)
    assert (found.one, found.other, found.same, found.of) == ("copy", "s3", 11, 12)
    assert found.wrong == sum(not fine for where, fine in right["s3"].items() if where != "nb/q5")


def test_pairs_who_are_wrong_alike_come_first_and_what_is_unwritten_counts_for_nobody():
    answers, right = short_class(1)
    best, worst = sorted(right, key=lambda name: sum(right[name].values()))[:: len(right) - 1]
    for name in (best, worst):
        answers[f"{name}-copy"], right[f"{name}-copy"] = answers[name], right[name]
    found = together({student: forms(given, {}) for student, given in answers.items()}, right)
    assert found[0].wrong == max(pair.wrong for pair in found) > 0
    assert forms({"nb/attend": f"{STUB}  # soon"}, {"nb/attend": STUB}) == {}
    assert forms({"nb/attend": "def attend(:"}, {}) == {}


ESSAY = (
    "A vector of fixed width holds as much for three words as for sixty, so two long sentences must come to lie on"
    " nearly the same vector. Attention keeps the state of every word and lets each step form its own weighted sum."
)
EDITED = ESSAY.replace("sixty", "60").replace("must come to lie on", "end up at").replace("Attention", "*Attention*")
OTHER = (
    "Because the decoder only sees the last state of the encoder, early words are overwritten. With attention it can"
    " look back at every source word, and the price is one score for every pair of a source and a target word."
)


def essays(**sources):
    return {student: {"nb/why": source} for student, source in sources.items()}


def test_essays_that_repeat_each_other_are_found_and_nobody_else():
    shouted = f"**{ESSAY.upper()}**\n\n--"
    found = essays(ada=ESSAY, bob=shouted, cat=EDITED, dan=OTHER, eve="YOUR ANSWER", fay="YOUR ANSWER")
    groups, pairs = repeated(found, {"nb/why": "YOUR ANSWER"}, {})
    assert [same.students for same in groups] == [("ada", "bob")]
    assert [(pair.one, pair.other) for pair in pairs] == [("ada", "cat")]
    assert repeated(essays(ada=ESSAY, dan=OTHER), {}, {"nb/why": EDITED})[1][0].other == REFERENCE


def test_one_essay_in_many_hands_each_with_an_edit_of_its_own_is_found():
    sources = {f"s{n}": " ".join([*ESSAY.split()[: n + 3], f"word{n}", *ESSAY.split()[n + 3 :]]) for n in range(9)}
    others = {f"o{n}": " ".join(random.Random(n).sample(OTHER.split(), 30)) for n in range(12)}
    _, pairs = repeated(essays(**sources, **others), {}, {})
    assert {pair.one for pair in pairs} | {pair.other for pair in pairs} == set(sources)


def test_whole_submissions_that_are_the_same_are_named_however_short_and_however_many():
    short, stub = "def f(x):\n    return x + x", "def f(x):\n    ..."
    names = ["ada", "bob", "cat", "dan", "eve", "fay", "gus"]
    sources = {name: {"nb/f": short} for name in names} | {name: {"nb/f": stub} for name in ("hal", "ida")}
    files = {name: frozenset({"one"}) for name in ("ada", "bob")} | {n: frozenset({"none"}) for n in ("hal", "ida")}
    assert [same.students for same in whole(sources, {"nb/f": stub}, files)] == [("ada", "bob")]
    long = {name: {"nb/f": answer(1), "nb/why": ESSAY} for name in names}
    assert [*whole(long, {}, {})] == [("the same text", tuple(names))]
    assert [*whole(long, {}, {name: frozenset({"one"}) for name in names})] == [("the same file", tuple(names))]
    unread = {name: frozenset({"damaged"}) for name in ("jo", "kim")}
    assert [same.students for same in whole({}, {}, unread)] == [("jo", "kim")]


@pytest.mark.slow
@pytest.mark.everything
@pytest.mark.timeout(120)  # were every student compared with every other, these would take hours
def test_a_large_class_is_compared_too():
    words = sorted(set(OTHER.split()) | set(ESSAY.split()))
    sources = {f"s{n}": {"nb/why": " ".join(random.Random(n).choices(words, k=150))} for n in range(2000)}
    assert repeated(sources | essays(copy=sources["s7"]["nb/why"] + " so."), {}, {})[1]
    codes = {f"s{n}": answer(n, 5) for n in range(4990)} | {f"copy{n}": answer(n, 5) for n in range(10)}
    assert len(alike(group(codes), {"nb/attend": STUB}, {})) == 10
