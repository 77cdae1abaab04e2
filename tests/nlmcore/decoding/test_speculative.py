"""Speculative sampling draws from the target model, whatever the draft model is."""

import math
from collections import Counter

import pytest
import torch

from nlmcore.decoding import exhaustive_search, greedy, speculative_sample
from tests.nlmcore.decoding.models import EOS, PROMPTS, Counting, Markov, RunningSum, text_log_probs

TARGET, DRAFT = Markov(3, seed=1, scale=1.2), Markov(3, seed=2, scale=1.2)


def draw(n: int, length: int, **options) -> Counter:
    options = {"draft": DRAFT, **options}
    got = speculative_sample(
        TARGET, torch.tensor([[1, 0]]).expand(n, -1), length, generator=torch.Generator().manual_seed(0), **options
    )
    return Counter(tuple(row) for row in got.tokens.tolist())


@pytest.mark.parametrize(("lookahead", "eos"), [(1, None), (2, None), (4, None), (2, 2)])
def test_the_distribution_is_the_targets(unchecked: None, lookahead: int, eos: int | None) -> None:
    n, length = 500, 3
    counts = draw(n, length, lookahead=lookahead, eos=eos)
    assert counts.total() == n
    chi_square, texts = 0.0, exhaustive_search(TARGET, torch.tensor([[1, 0]]), length, eos=eos)[0]
    for h in texts:
        padded = tuple(h.tokens + [0] * (length - len(h.tokens)))
        expected = n * math.exp(h.log_prob)
        chi_square += (counts.pop(padded, 0) - expected) ** 2 / expected
    assert not counts
    freedom = len(texts) - 1
    assert chi_square < freedom + 4 * math.sqrt(2 * freedom)


def test_filters_reshape_the_target(unchecked: None) -> None:
    counts = draw(1_000, 1, lookahead=3, temperature=0.5, top_k=2)
    p = TARGET(torch.tensor([[1, 0]]))[0][0, -1].softmax(-1)
    two = p.topk(2).indices.tolist()
    total = sum(p[i].item() ** 2 for i in two)
    assert set(counts) <= {(i,) for i in two}
    for i in two:
        expected = p[i].item() ** 2 / total
        assert abs(counts[(i,)] / 1_000 - expected) < 4 * math.sqrt(expected * (1 - expected) / 1_000)


@pytest.mark.parametrize("target", [RunningSum(), Markov(7, seed=3)])
@pytest.mark.parametrize("lookahead", [1, 3, 10])
@pytest.mark.parametrize("eos", [None, EOS])
def test_at_temperature_zero_it_is_greedy_whatever_the_draft(
    unchecked: None, target, lookahead: int, eos: int | None
) -> None:
    expected = greedy(target, PROMPTS, 9, eos=eos)
    for draft in (target, Markov(7, seed=9), RunningSum()):
        got = speculative_sample(target, PROMPTS, 9, draft=draft, lookahead=lookahead, temperature=0, eos=eos)
        assert torch.equal(got.tokens, expected.tokens)
        assert torch.allclose(got.log_probs, expected.log_probs, atol=1e-5)
        assert torch.equal(got.finished, expected.finished)


@pytest.mark.parametrize("draft", [RunningSum(), Markov(7, seed=9)])
def test_log_probs_are_the_targets_own(draft) -> None:
    model = RunningSum()
    got = speculative_sample(
        model, PROMPTS, 12, draft=draft, eos=EOS, temperature=1.3, generator=torch.Generator().manual_seed(1)
    )
    for row, prompt in enumerate(PROMPTS):
        tokens = got.tokens[row].tolist()
        text = tokens[: tokens.index(EOS) + 1] if got.finished[row] else tokens
        assert got.log_probs[row, : len(text)].tolist() == pytest.approx(text_log_probs(model, prompt, text), abs=1e-5)
        assert not got.log_probs[row, len(text) :].any()


def test_a_perfect_draft_saves_readings_of_the_target() -> None:
    model = Counting(RunningSum())
    speculative_sample(
        model, PROMPTS[:1], 20, draft=RunningSum(), lookahead=4, generator=torch.Generator().manual_seed(0)
    )
    assert model.calls == 1 + 4  # the prompt, which gives one token, then five tokens per reading


@pytest.mark.parametrize("length", [2, 30])
def test_a_bad_draft_costs_no_more_readings_than_plain_sampling(length: int) -> None:
    """One a token at most, whether the prompt is short or long; and the text is not read again and again."""
    model = Counting(RunningSum())
    speculative_sample(
        model,
        PROMPTS[:1, :2].repeat(1, length // 2),
        60,
        draft=Markov(7, seed=5, scale=8.0),
        lookahead=3,
        generator=torch.Generator().manual_seed(0),
    )
    assert model.calls <= 60
    assert model.tokens_read < length + 60 * 2 * (3 + 1 + 3)


def test_states_of_both_models_are_read_on() -> None:
    target, draft = RunningSum(), Markov(7)
    with torch.no_grad():
        state, draft_state = target(PROMPTS[:, :2])[1], draft(PROMPTS[:, :2])[1]
    options = {"draft": draft, "lookahead": 2}
    whole = speculative_sample(target, PROMPTS, 6, generator=torch.Generator().manual_seed(0), **options)
    on = speculative_sample(
        target,
        PROMPTS[:, 2:],
        6,
        state=state,
        draft_state=draft_state,
        generator=torch.Generator().manual_seed(0),
        **options,
    )
    assert torch.equal(on.tokens, whole.tokens)


def test_the_trace_shows_what_was_accepted_and_refused() -> None:
    generation, tree = speculative_sample(
        RunningSum(), PROMPTS, 8, draft=Markov(7), eos=EOS, generator=torch.Generator().manual_seed(0), trace=True
    )
    assert any(node.status == "pruned" for node in tree.nodes)
    for row in range(len(PROMPTS)):
        kept = [n for n in tree.nodes if n.prompt == row and n.status in ("kept", "finished")]
        assert tree.path(kept[-1]) == generation.tokens[row, : len(kept)].tolist()
    same = speculative_sample(
        RunningSum(), PROMPTS, 8, draft=RunningSum(), generator=torch.Generator().manual_seed(0), trace=True
    )[1]
    assert all(node.status != "pruned" for node in same.nodes)


def test_the_draft_must_speak_the_same_tokens() -> None:
    with pytest.raises(ValueError, match="draft"):
        speculative_sample(RunningSum(), PROMPTS, 3, draft=Markov(8))
