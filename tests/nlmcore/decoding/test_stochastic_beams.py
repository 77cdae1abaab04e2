"""Sampling without replacement: the right texts, equally often as they should be."""

import itertools
import math

import pytest
import torch

from nlmcore.decoding import exhaustive_search, stochastic_beam_search
from nlmcore.decoding.stochastic_beams import condition_on_maximum, gumbel
from tests.nlmcore.decoding.models import EOS, PROMPTS, Markov, RunningSum, text_log_probs

MODEL = Markov(3, seed=4, scale=1.0)
PROMPT = torch.tensor([[1, 2]])


@pytest.mark.parametrize("eos", [None, 0])
def test_inclusion_probabilities_are_those_of_drawing_without_replacement(eos: int | None) -> None:
    texts = [(tuple(h.tokens), math.exp(h.log_prob)) for h in exhaustive_search(MODEL, PROMPT, 2, eos=eos)[0]]
    first = dict(texts)
    both = dict.fromkeys(first, 0.0)
    pairs = {}
    for (a, p), (b, q) in itertools.permutations(texts, 2):
        pairs[a, b] = p * q / (1 - p)  # a is drawn first, then b from what is left
        both[a] += pairs[a, b]
        both[b] += pairs[a, b]

    n = 6_000
    rows = stochastic_beam_search(
        MODEL, PROMPT.expand(n, -1), 2, eos=eos, beam_size=2, generator=torch.Generator().manual_seed(1)
    )
    drawn = [tuple(tuple(h.tokens) for h in row) for row in rows]
    assert all(a != b for a, b in drawn)

    def close(count: int, p: float) -> bool:
        return abs(count / n - p) < 4 * math.sqrt(p * (1 - p) / n) + 1e-9

    for text in first:
        assert close(sum(row[0] == text for row in drawn), first[text])  # the first is an ordinary sample
        assert close(sum(text in row for row in drawn), both[text])
    for pair, p in pairs.items():
        assert close(drawn.count(pair), p)


def test_conditioning_on_the_maximum() -> None:
    values = gumbel(torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)), None)
    maximum = torch.tensor([3.0, -2.0, 0.5, 40.0, -9.0], dtype=torch.float64)
    got = condition_on_maximum(values, maximum)
    assert torch.allclose(got.amax(1), maximum)
    assert torch.equal(got.argsort(1), values.argsort(1))
    naive = -torch.log(torch.exp(-maximum)[:, None] - torch.exp(-values.amax(1))[:, None] + torch.exp(-values))
    assert torch.allclose(got[[0, 1, 2]], naive[[0, 1, 2]])


@pytest.mark.parametrize("eos", [None, EOS])
def test_texts_are_distinct_scored_and_complete(eos: int | None) -> None:
    model = RunningSum()
    ranked = stochastic_beam_search(model, PROMPTS, 6, eos=eos, beam_size=5, generator=torch.Generator().manual_seed(2))
    lengths = set()
    for prompt, hypotheses in zip(PROMPTS, ranked, strict=True):
        assert len({tuple(h.tokens) for h in hypotheses}) == 5
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for h in hypotheses:
            lengths.add(len(h.tokens))
            assert h.log_prob == pytest.approx(math.fsum(text_log_probs(model, prompt, h.tokens)), abs=1e-4)
            assert eos not in h.tokens[:-1]
            assert len(h.tokens) == 6 or h.tokens[-1] == eos
    assert len(lengths) > 1 or eos is None


def test_more_beams_than_texts() -> None:
    (got,) = stochastic_beam_search(MODEL, PROMPT, 2, eos=1, beam_size=50, generator=torch.Generator().manual_seed(0))
    assert sorted(h.tokens for h in got) == sorted(h.tokens for h in exhaustive_search(MODEL, PROMPT, 2, eos=1)[0])


def test_the_generator_decides_and_the_state_is_read_on() -> None:
    def draw(seed: int, prompts=PROMPTS, **options):
        return stochastic_beam_search(
            RunningSum(), prompts, 4, eos=EOS, generator=torch.Generator().manual_seed(seed), **options
        )

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    with torch.no_grad():
        _, state = RunningSum()(PROMPTS[:, :1])
    on = draw(1, PROMPTS[:, 1:], state=state)
    assert [[h.tokens for h in row] for row in on] == [[h.tokens for h in row] for row in draw(1)]


def test_the_trace() -> None:
    ranked, tree = stochastic_beam_search(
        RunningSum(), PROMPTS, 4, eos=EOS, beam_size=3, generator=torch.Generator().manual_seed(0), trace=True
    )
    for row, hypotheses in enumerate(ranked):
        finished = [n for n in tree.nodes if n.prompt == row and n.status == "finished"]
        assert sorted(tree.path(n) for n in finished) == sorted(h.tokens for h in hypotheses)
        assert max(n.score for n in finished) == pytest.approx(hypotheses[0].score)
