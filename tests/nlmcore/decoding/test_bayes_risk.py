import math

import pytest
import torch

from nlmcore.decoding import minimum_bayes_risk, sample, shared_words
from tests.nlmcore.decoding.models import EOS, PROMPTS, RunningSum, text_log_probs

MODEL = RunningSum()


def seed(value: int) -> torch.Generator:
    return torch.Generator().manual_seed(value)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [([1, 2, 3], [3, 2, 1], 1.0), ([1, 1, 2], [1, 3], 2 / 5), ([1], [2], 0.0), ([], [], 1.0), ([], [1], 0.0)],
)
def test_shared_words_by_hand(a: list[int], b: list[int], expected: float) -> None:
    assert shared_words(a, b) == pytest.approx(expected)


def test_it_is_the_sample_that_agrees_best_with_all_samples() -> None:
    ranked = minimum_bayes_risk(MODEL, PROMPTS, 5, eos=EOS, num_samples=12, generator=seed(3))
    drawn = sample(MODEL, PROMPTS, 5, eos=EOS, num_samples=12, generator=seed(3))
    for row, hypotheses in enumerate(ranked):
        texts = []
        for i in range(12 * row, 12 * (row + 1)):
            tokens = drawn.tokens[i].tolist()
            texts.append(tokens[: tokens.index(EOS) + 1] if drawn.finished[i] else tokens)
        words = [[w for w in text if w != EOS] for text in texts]
        utilities = [sum(shared_words(h, r) for r in words) / 12 for h in words]
        assert hypotheses[0].score == pytest.approx(max(utilities))
        assert {tuple(h.tokens) for h in hypotheses} == {tuple(text) for text in texts}
        for h in hypotheses:
            assert h.score == pytest.approx(utilities[texts.index(h.tokens)])
            assert h.log_prob == pytest.approx(math.fsum(text_log_probs(MODEL, PROMPTS[row], h.tokens)), abs=1e-4)


def test_the_utility_gets_the_hypothesis_first_and_no_eos() -> None:
    def shorter_is_better(hypothesis: list[int], reference: list[int]) -> float:
        assert EOS not in hypothesis + reference
        return -float(len(hypothesis))

    ranked = minimum_bayes_risk(MODEL, PROMPTS, 4, eos=EOS, num_samples=9, utility=shorter_is_better, generator=seed(1))
    for hypotheses in ranked:
        lengths = [len(h.tokens) - (h.tokens[-1] == EOS) for h in hypotheses]
        assert lengths == sorted(lengths)
        assert [h.score for h in hypotheses] == [-length for length in lengths]


def test_the_trace_joins_shared_beginnings() -> None:
    ranked, tree = minimum_bayes_risk(MODEL, PROMPTS, 3, eos=EOS, num_samples=20, generator=seed(0), trace=True)
    for row, hypotheses in enumerate(ranked):
        paths = [tuple(tree.path(n)) for n in tree.nodes if n.prompt == row]
        assert len(set(paths)) == len(paths)
        scored = {tuple(tree.path(n)): n.score for n in tree.nodes if n.prompt == row and n.status == "finished"}
        assert scored == {tuple(h.tokens): h.score for h in hypotheses}
