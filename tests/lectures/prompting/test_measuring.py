"""How often a model is right, with an honest interval."""

from functools import partial

import pytest

from lectures.prompting import Task, accuracy, by_choosing, by_writing, wilson_interval
from tests.lectures.prompting.models import CAPITALS, KNOWS, LETTERS, Reciter

TASK = Task("capitals", CAPITALS, n_options=3)


@pytest.mark.parametrize("answer", [by_choosing(), by_choosing("tokens"), by_writing()])
def test_who_knows_three_of_four_is_right_three_times_of_four(answer) -> None:
    everything = Task("capitals", CAPITALS)
    for shots in (0, 2, 3):
        found = accuracy(KNOWS, LETTERS, everything, shots, answer=answer)
        assert (found.right, found.asked, found.share) == (3, 4, 0.75)
        assert found.low < 0.75 < found.high
        assert [question for question, wanted, given in found.answers if wanted != given] == ["Cuba"]


def test_who_reads_only_the_context_cannot_know_what_was_not_shown() -> None:
    """A question's own answer is never among its examples."""
    copies = Reciter(LETTERS, {}, from_context=True)
    assert accuracy(copies, LETTERS, TASK, 3, answer=by_writing()).right == 0
    seen = []

    def answer(model, tokenizer, prompt, template, options):
        seen.append((prompt, options))
        return "?"

    for shots in (0, 1, 3):
        accuracy(copies, LETTERS, TASK, shots, answer=answer)
    nothing, one, three = seen[:4], seen[4:8], seen[8:]
    for (p0, options), (p1, same), (p3, _) in zip(nothing, one, three, strict=True):
        assert p1.endswith("\n" + p0)
        assert p3.startswith(p1.splitlines()[0] + "\n")  # more examples: the same first
        assert len(p3.splitlines()) == 4
        assert options == same
        assert len(set(options)) == 3
        country = p0.removesuffix(" ->")
        assert dict(CAPITALS)[country] in options
        assert f"{country} -> " not in p3


def test_the_same_seed_asks_the_same() -> None:
    ask = partial(accuracy, KNOWS, LETTERS, TASK, 1, questions=2)
    assert ask(seed=1) == ask(seed=1)
    assert len({tuple(q for q, _, _ in ask(seed=seed).answers) for seed in range(9)}) > 1


def test_what_cannot_be_measured_is_refused() -> None:
    for wrong in ({"shots": 4}, {"shots": -1}, {"shots": 0, "questions": 5}, {"shots": 0, "questions": 0}):
        with pytest.raises(ValueError, match=r"must lie in"):
            accuracy(KNOWS, LETTERS, TASK, **wrong)
    with pytest.raises(ValueError, match="different questions"):
        Task("twice", [CAPITALS[0], CAPITALS[0]])
    with pytest.raises(ValueError, match="every answer"):
        Task("lacks", CAPITALS, options=["Paris"])
    assert TASK.chance == pytest.approx(1 / 3)
    assert Task("all", CAPITALS).chance == pytest.approx(1 / 4)


def test_wilsons_interval() -> None:
    """Both ends solve (p̂ − p)² = z² p(1 − p)/n, which is where the interval comes from."""
    for right, asked in [(3, 10), (0, 10), (10, 10), (57, 60), (1, 1)]:
        ends = wilson_interval(right, asked)
        for p in ends:
            assert (right / asked - p) ** 2 == pytest.approx(1.96**2 * p * (1 - p) / asked, abs=1e-9)
        assert 0 <= ends[0] <= right / asked <= ends[1] <= 1
    assert wilson_interval(0, 10)[1] > 0.2
