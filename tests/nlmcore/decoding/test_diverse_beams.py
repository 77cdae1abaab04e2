"""Diverse beam search: groups that are penalised for what earlier groups choose."""

import pytest

from nlmcore.decoding import beam_search, diverse_beam_search
from tests.nlmcore.decoding.models import EOS, PROMPTS, Markov, RunningSum, assert_same, text_log_probs


@pytest.mark.parametrize("model", [RunningSum(), Markov(7)])
@pytest.mark.parametrize("penalty", [0.0, 1.2])
def test_one_group_is_beam_search(model, penalty: float) -> None:
    plain = beam_search(model, PROMPTS, 5, eos=EOS, beam_size=4, length_penalty=penalty)
    diverse = diverse_beam_search(
        model, PROMPTS, 5, eos=EOS, beam_size=4, groups=1, diversity=3.0, length_penalty=penalty
    )
    for got, expected in zip(diverse, plain, strict=True):
        assert_same(got, expected)


def test_without_diversity_every_group_is_the_same_beam_search() -> None:
    plain = beam_search(RunningSum(), PROMPTS, 5, eos=EOS, beam_size=2)
    diverse = diverse_beam_search(RunningSum(), PROMPTS, 5, eos=EOS, beam_size=6, groups=3, diversity=0)
    for got, expected in zip(diverse, plain, strict=True):
        assert_same(got, [h for h in expected for _ in range(3)])


def naive_diverse(model, prompt, n: int, groups: int, diversity: float) -> list[list[int]]:
    """Groups of one beam, no <eos>: each takes the best word after paying for what the groups before it took."""
    texts, objectives = [[] for _ in range(groups)], [0.0] * groups
    for _ in range(n):
        taken: list[int] = []
        for g in range(groups):
            scores = [
                objectives[g] + text_log_probs(model, prompt, [*texts[g], w])[-1] - diversity * taken.count(w)
                for w in range(model.vocab_size)
            ]
            word = max(range(model.vocab_size), key=scores.__getitem__)
            texts[g], objectives[g] = [*texts[g], word], scores[word]
            taken.append(word)
    return texts


@pytest.mark.parametrize("diversity", [0.3, 1.0, 50.0])
def test_groups_pay_for_what_earlier_groups_said(diversity: float) -> None:
    for model in (RunningSum(), Markov(7)):
        ranked = diverse_beam_search(model, PROMPTS, 4, beam_size=3, groups=3, diversity=diversity)
        for prompt, got in zip(PROMPTS, ranked, strict=True):
            assert sorted(h.tokens for h in got) == sorted(naive_diverse(model, prompt, 4, 3, diversity))


def test_much_diversity_means_no_shared_word_at_any_step() -> None:
    for got in diverse_beam_search(RunningSum(), PROMPTS, 5, beam_size=4, groups=4, diversity=1000.0):
        for words in zip(*(h.tokens for h in got), strict=True):
            assert len(set(words)) == 4


def test_a_diverse_trace_shows_the_objective() -> None:
    ranked, tree = diverse_beam_search(
        RunningSum(), PROMPTS, 4, eos=EOS, beam_size=4, groups=2, diversity=2.0, trace=True
    )
    assert any(node.score is not None and node.score < node.log_prob - 1.9 for node in tree.nodes)
    for row, hypotheses in enumerate(ranked):
        end = max((n for n in tree.nodes if n.id in tree.best and n.prompt == row), key=lambda n: n.step)
        assert tree.path(end) == hypotheses[0].tokens
