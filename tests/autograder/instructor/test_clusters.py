"""Written answers in groups: whether groups agree with the reasons, what any text may do, and what the page shows."""

import itertools
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

import nlmcore.pretrained
from autograder.grading.byhand import answers_to
from autograder.grading.vectors import TOKENS, Vectors, _beginning
from autograder.instructor.clusters import places
from autograder.intake.removal import remove
from nlmcore.pretrained import minilm
from tests.autograder.courses import ANSWERS, ROOT, writes
from tests.autograder.grading import fake
from tests.autograder.instructor.visitor import visiting

pytestmark = pytest.mark.filterwarnings("ignore")
GUIDE = ROOT / "autograder" / "guide" / "marking.md"
HOSTILE = "<script>alert(1)</script>" * 3000
STRANGE = {
    "empty": "",
    "one word": "Nein",
    "German": "Der Gradient wird bei jedem Schritt mit der Matrix und der Ableitung multipliziert, also schrumpft er.",
    "hostile": HOSTILE,
    "without a blank": "x" * 100_000,
    "Chinese": "梯度消失" * 5_000,
    "special tokens": "[CLS] [SEP] [MASK] [PAD]",
    "half a character": "\ud800 and more",
}


def kinds() -> dict[str, list[tuple[str, str]]]:
    """By question: (why it is right or wrong, the answer)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (Path(__file__).parent / "alike.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            here = found.setdefault(line[3:].partition(":")[0], [])
        elif line and not line.startswith("#"):
            kind, _, answer = line.partition(": ")
            here.append((kind, answer))
    return found


def adjusted_rand(one: list, other: list) -> float:
    """Hubert and Arabie (1985): pairs that two divisions treat alike, 0 by chance and 1 if they are the same."""

    def pairs(values) -> float:
        return sum(n * (n - 1) / 2 for n in Counter(values).values())

    chance = pairs(one) * pairs(other) / (len(one) * (len(one) - 1) / 2)
    return (pairs(zip(one, other, strict=True)) - chance) / ((pairs(one) + pairs(other)) / 2 - chance)


def bag_of_words(texts: list[str]) -> dict[str, np.ndarray]:
    """TF-IDF, (1 + log n) log((1 + N) / (1 + df)) + 1, unit length."""
    words = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
    many = Counter(word for found in words for word in found)
    at = {word: number for number, word in enumerate(many)}
    rows = np.zeros((len(texts), len(at)))
    for row, found in zip(rows, words, strict=True):
        for word, n in found.items():
            row[at[word]] = (1 + math.log(n)) * (math.log((1 + len(texts)) / (1 + many[word])) + 1)
    return dict(zip(texts, rows / np.linalg.norm(rows, axis=1, keepdims=True), strict=True))


@pytest.fixture(scope="module")
def by_minilm(tmp_path_factory):
    kept = Vectors(tmp_path_factory.mktemp("vectors"), "all")

    def vectors(texts: list[str]) -> dict[str, np.ndarray]:
        assert sum(kept.compute(texts, math.inf)) <= len(texts)
        return {text: kept.of(text) for text in texts}

    return vectors


def agreement(vectors, labelled: list[tuple[list[str], str]], draws: int = 20) -> float:
    """The mean over draws of twenty answers, and over the labels that an answer has."""
    vectors, found = vectors([text for _, text in labelled]), []
    for draw in range(draws):
        chosen = [labelled[at] for at in np.random.default_rng(draw).permutation(len(labelled))[:20]]
        where = places({text: vectors[text] for _, text in chosen})
        groups = [where[text].group for _, text in chosen]
        found += [adjusted_rand(list(labels), groups) for labels in zip(*(them for them, _ in chosen), strict=True)]
    return float(np.mean(found))


def one_part() -> list[list[tuple[list[str], str]]]:
    return [[([kind], text) for kind, text in them] for them in kinds().values()]


def four_parts() -> list[list[tuple[list[str], str]]]:
    """Answers to four questions at once, the form of most written questions of the course."""
    made = []
    for draw in range(3):
        chance = np.random.default_rng(draw)
        mixed = zip(*([them[at] for at in chance.permutation(len(them))] for them in kinds().values()), strict=True)
        made.append([([kind for kind, _ in parts], "\n\n".join(text for _, text in parts)) for parts in mixed])
    return made


@pytest.mark.slow
def test_what_the_guide_says_of_the_groups_is_what_is_measured(by_minilm):
    pairs = itertools.product((one_part(), four_parts()), (by_minilm, bag_of_words))
    measured = [np.mean([agreement(vectors, them) for them in asked]) for asked, vectors in pairs]
    (paragraph,) = (one for one in GUIDE.read_text(encoding="utf-8").split("\n\n") if "adjusted Rand" in one)
    assert [float(said) for said in re.findall(r"\b0\.\d\d\b", paragraph)] == pytest.approx(measured, abs=0.02)


def test_groups_do_not_depend_on_the_order_and_contain_everything():
    chance = np.random.default_rng(0)
    rows = chance.normal(size=(40, 8)) + 6 * np.eye(8)[np.arange(40) % 4]
    vectors = {f"text {at}": row / np.linalg.norm(row) for at, row in enumerate(rows)}
    found = places(vectors)
    assert found == places(dict(reversed(vectors.items())))
    assert found.keys() == vectors.keys()
    of = {int(text.split()[1]) % 4: set() for text in found}
    for text, place in found.items():
        of[int(text.split()[1]) % 4].add(place.group)
    assert all(one.isdisjoint(other) for one in of.values() for other in of.values() if one is not other)
    first = sorted((place, text) for text, place in found.items())[: next(iter(found.values())).of]
    assert {int(text.split()[1]) % 4 for _, text in first[:4]} == {0, 1, 2, 3}  # the first four span the range


@pytest.mark.parametrize("many", [0, 1, 2, 3])
def test_few_answers_have_no_groups(many):
    assert places({str(at): np.eye(4)[at] for at in range(many)}) == {}


def test_equal_vectors_are_grouped_too():
    assert len(places({str(at): np.eye(4)[0] for at in range(9)})) == 9


def test_any_text_has_a_vector_that_is_kept_and_a_bad_file_is_written_again(tmp_path, monkeypatch):
    one = Vectors(tmp_path, "plain")
    assert sum(one.compute(STRANGE.values(), math.inf)) == len(STRANGE)
    tokenizer = minilm()[1]
    assert all(len(tokenizer.encode(_beginning(text, tokenizer))) <= TOKENS for text in STRANGE.values())
    assert all(np.linalg.norm(one.of(text).astype(float)) == pytest.approx(1, abs=1e-2) for text in STRANGE.values())
    monkeypatch.setattr(nlmcore.pretrained, "embed", None)  # nothing is computed twice
    again = Vectors(tmp_path, "plain")
    assert list(again.compute(STRANGE.values(), math.inf)) == []
    assert all((again.of(text) == one.of(text)).all() for text in STRANGE.values())
    one.path.write_bytes(one.path.read_bytes()[:1000])
    assert len(Vectors(tmp_path, "plain").missing(STRANGE.values())) == len(STRANGE)


def test_time_is_bounded_and_the_next_start_goes_on(tmp_path):
    texts = [f"Answer {number}." for number in range(40)]
    first = sum(Vectors(tmp_path, "plain").compute(texts, 0.0))
    assert 0 < first < 40
    assert first + sum(Vectors(tmp_path, "plain").compute(texts, math.inf)) == 40


def test_who_stops_it_stops_it_and_what_was_deleted_meanwhile_does_not_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(nlmcore.pretrained, "minilm", lambda: (None, type("", (), {"encode": str.split})))
    monkeypatch.setattr(nlmcore.pretrained, "embed", lambda texts: torch.eye(4)[: len(texts)])
    open_page = Vectors(tmp_path, "plain")
    assert sum(open_page.compute(["of one who leaves"], math.inf)) == 1
    open_page.path.unlink()
    assert sum(open_page.compute(["of one who stays"], math.inf)) == 1
    assert Vectors(tmp_path, "plain").of("of one who leaves") is None
    assert Vectors(tmp_path, "plain").of("of one who stays") is not None

    def stopped(_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(nlmcore.pretrained, "embed", stopped)
    with pytest.raises(KeyboardInterrupt):
        list(Vectors(tmp_path, "new").compute(["an answer"], math.inf))


# --- the page ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def template(plain_template, tmp_path_factory):
    answers = [text for _, text in kinds()["gates"][::4]] + [STRANGE["one word"], STRANGE["German"], HOSTILE[:500]]
    answers += answers[:1]  # one is there twice
    handed_in = {f"s{number:02}": writes(ANSWERS | {"why": text}) for number, text in enumerate(answers)}
    return fake.graded(plain_template, tmp_path_factory.mktemp("class") / "course", handed_in)


def order(visitor, which: str) -> int:
    return visitor.post("/0/order", order=which)


def groups(visitor) -> list[tuple[str, str]]:
    """(the group that the page names, its answer) from the first page to the last."""
    return [("".join(re.findall(r"Group (\d+) of \d+", visitor.page)[:1]), answer) for answer in visitor.walk()]


def test_alike_answers_come_together_and_the_old_order_is_a_button_away(course):
    with visiting(course) as visitor:
        before = groups(visitor)
        assert {group for group, _ in before} == {""}
        assert order(visitor, "alike") == 200
        found = [group for group, _ in groups(visitor)]
        many = len(set(found))
        assert found[:many] == [str(number + 1) for number in range(many)]  # one of each, then group by group
        assert found[many:] == sorted(found[many:], key=int)
        assert sorted(answer for _, answer in groups(visitor)) == sorted(answer for _, answer in before)
        assert order(visitor, "digest") == 200
        assert groups(visitor) == before
    with course.gradebook() as book:
        assert {one.manual for one in answers_to(book, "plain", "one", "why")} == {None}  # nothing was marked


def test_the_same_text_has_one_mark_only_where_the_marker_says_so(course):
    with visiting(course) as visitor:
        order(visitor, "alike")
        while "the same to the letter" not in visitor.page:
            assert visitor.go("next")
        at = visitor.at
        visitor.save(points="1")
        visitor.ask("GET", at)
        visitor.save(points="2", alike="yes")
    with course.gradebook() as book:
        assert [one.manual for one in answers_to(book, "plain", "one", "why") if one.manual is not None] == [2.0, 2.0]


def test_without_the_model_the_order_stays_and_the_page_says_why(course, monkeypatch):
    def none() -> None:
        raise FileNotFoundError("the package is not installed. Install it with: a command")

    monkeypatch.setattr(nlmcore.pretrained, "minilm", none)
    with visiting(course) as visitor:
        before = groups(visitor)
        assert order(visitor, "alike") == 200
        assert "the package is not installed. Install it with: a command" in visitor.page
        assert groups(visitor) == before
        assert visitor.save(points="1") == 200


def test_who_leaves_leaves_no_vector(course):
    with visiting(course) as visitor:
        order(visitor, "alike")
    path = Vectors(course.root, "plain").path
    assert path.is_file()
    remove(course, "s03")
    assert not path.exists()
