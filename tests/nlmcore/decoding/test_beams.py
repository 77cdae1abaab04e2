"""Beam search against a list of all texts, greedy search and a naive beam; groups of beams against naive groups."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.decoding import Hypothesis, beam_search, diverse_beam_search, exhaustive_search, greedy
from nlmcore.decoding.beams import Complete
from nlmcore.tokens import CharTokenizer
from tests.nlmcore.decoding.models import (
    EOS,
    PENALTIES,
    PROMPTS,
    SMALL,
    SMALL_PROMPTS,
    Counting,
    Markov,
    RunningSum,
    assert_same,
    naive_score,
    text_log_probs,
)


def naive_beam(model, prompt, longest: int, eos, beam_size: int, penalty: float, wanted: int) -> list[Hypothesis]:
    """The beam search of the docstring, one text at a time, always to the end."""
    beams: list[list[int]] = [[]]
    complete: list[list[int]] = []
    for length in range(1, longest + 1):
        candidates = [
            (math.fsum(text_log_probs(model, prompt, [*b, w])), [*b, w]) for b in beams for w in range(model.vocab_size)
        ]
        candidates.sort(key=lambda c: -c[0])
        looked_at = candidates[: 2 * beam_size if beam_size > 1 else 1]
        complete += [text for _, text in looked_at[:beam_size] if text[-1] == eos]
        beams = [text for _, text in looked_at if text[-1] != eos][:beam_size]
        if length == longest:
            complete += beams
    scored = [(text, text_log_probs(model, prompt, text)) for text in complete]
    hypotheses = [Hypothesis(text, math.fsum(lp), naive_score(lp, penalty)) for text, lp in scored]
    return sorted(hypotheses, key=lambda h: -h.score)[:wanted]


@pytest.mark.parametrize("eos", [None, 2])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("model", [SMALL, Markov(3, seed=8)])
def test_a_beam_of_everything_is_exhaustive(unchecked: None, model, eos: int | None, penalty: float) -> None:
    prompts = SMALL_PROMPTS % model.vocab_size
    exhaustive = exhaustive_search(model, prompts, 4, eos=eos, length_penalty=penalty)
    beam = beam_search(model, prompts, 4, eos=eos, length_penalty=penalty, beam_size=model.vocab_size**4)
    for got, expected in zip(beam, exhaustive, strict=True):
        assert_same(got, expected)


@pytest.mark.parametrize("model", [RunningSum(), Markov(7)])
@pytest.mark.parametrize("eos", [None, EOS, 4])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_beam_of_one_is_greedy(model, eos: int | None, penalty: float) -> None:
    expected = greedy(model, PROMPTS, 6, eos=eos)
    ranked = beam_search(model, PROMPTS, 6, eos=eos, beam_size=1, length_penalty=penalty)
    for row, (got,) in enumerate(ranked):
        length = len(got.tokens)
        assert expected.tokens[row].tolist() == got.tokens + [0] * (expected.tokens.shape[1] - length)
        assert got.log_prob == pytest.approx(expected.log_prob[row].item(), abs=1e-5)
        assert got.score == pytest.approx(got.log_prob / length**penalty, abs=1e-5)


@pytest.mark.parametrize("model", [RunningSum(), Markov(7)])
@pytest.mark.parametrize("eos", [None, EOS])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("beam_size", "wanted"), [(2, 2), (3, 1), (5, 5)])
def test_beam_search_is_the_naive_beam_on_each_prompt_alone(
    unchecked: None, model, eos, penalty, beam_size: int, wanted: int
) -> None:
    """The naive one never stops early: so stopping early loses nothing."""
    options = {"eos": eos, "beam_size": beam_size, "length_penalty": penalty, "num_hypotheses": wanted}
    ranked = beam_search(model, PROMPTS, 5, **options)
    for row, prompt in enumerate(PROMPTS):
        assert_same(ranked[row], naive_beam(model, prompt, 5, eos, beam_size, penalty, wanted))
        (alone,) = beam_search(model, prompt[None], 5, **options)
        assert_same(alone, ranked[row])


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1000),
    eos=st.integers(0, 3),
    penalty=st.floats(-1.5, 2),
    beam_size=st.integers(2, 6),
    wanted=st.integers(1, 2),
)
def test_stopping_early_loses_nothing(seed: int, eos: int, penalty: float, beam_size: int, wanted: int) -> None:
    model, prompt = Markov(4, seed=seed, scale=3.0), torch.tensor([[1, 0]])
    (got,) = beam_search(model, prompt, 6, eos=eos, beam_size=beam_size, length_penalty=penalty, num_hypotheses=wanted)
    expected = naive_beam(model, prompt[0], 6, eos, beam_size, penalty, wanted)
    # Two texts with the same pairs of words in another order are equally likely here: either may stand there.
    assert [h.score for h in got] == pytest.approx([h.score for h in expected], abs=1e-5)
    for hypothesis in got:
        by_hand = text_log_probs(model, prompt[0], hypothesis.tokens)
        assert hypothesis.log_prob == pytest.approx(math.fsum(by_hand), abs=1e-5)
        assert hypothesis.score == pytest.approx(naive_score(by_hand, penalty), abs=1e-5)


@pytest.mark.parametrize(
    ("penalty", "log_prob", "length", "reachable"),
    [
        # The worst of the best scores -2 / 2 ** penalty. An open text at length 3 may end at 4 ... 10.
        (0.0, -1.9, 3, True),
        (0.0, -2.1, 3, False),
        (1.0, -9.9, 3, True),  # -9.9 / 10 > -1, if nothing more is lost
        (1.0, -10.1, 3, False),
        (-1.0, -0.9, 3, True),  # longer is worse: at best -0.9 * 4 > -4
        (-1.0, -1.1, 3, False),
    ],
)
def test_the_bound_by_hand(penalty: float, log_prob: float, length: int, reachable: bool) -> None:
    pool = Complete(2, penalty, max_length=10)
    pool.add([5, 2], -1.0)
    assert pool.can_be_reached_from(-1000.0, length)  # there is still a place
    pool.add([6, 2], -2.0)
    assert pool.can_be_reached_from(log_prob, length) is reachable


def test_the_search_stops_once_nothing_can_win() -> None:
    class EndsSoon:
        """<eos> is 98 % likely at every step."""

        vocab_size = 5

        def __call__(self, tokens, state=None):
            p = torch.tensor([0.005, 0.005, 0.98, 0.005, 0.005])
            return p.log().expand(*tokens.shape, 5), None

    model = Counting(EndsSoon())
    ranked = beam_search(model, PROMPTS[:, :1] % 5, 100, eos=2, beam_size=4, num_hypotheses=1)
    assert ranked[0][0].tokens == [2]
    assert model.calls == 1
    model = Counting(EndsSoon())
    ranked = beam_search(model, PROMPTS[:, :1] % 5, 100, eos=2, beam_size=4)
    assert [len(h.tokens) for h in ranked[0]] == [1, 2, 2, 2]
    assert model.calls == 2


@pytest.mark.parametrize("search", [beam_search, diverse_beam_search])
def test_log_probs_are_those_of_reading_the_whole(search) -> None:
    for model in (RunningSum(), Markov(7)):
        ranked = search(model, PROMPTS, 6, eos=EOS, beam_size=6, length_penalty=0.8)
        for prompt, hypotheses in zip(PROMPTS, ranked, strict=True):
            for h in hypotheses:
                log_probs = text_log_probs(model, prompt, h.tokens)
                assert h.log_prob == pytest.approx(math.fsum(log_probs), abs=1e-4)
                assert h.score == pytest.approx(naive_score(log_probs, 0.8), abs=1e-4)
            assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)


def test_the_prompt_is_read_once_and_states_follow_their_beams() -> None:
    model = Counting(RunningSum())
    beam_search(model, PROMPTS, 5, beam_size=3)
    assert model.tokens_read == PROMPTS.numel() + 4 * 3 * len(PROMPTS)
    with torch.no_grad():
        _, state = RunningSum()(PROMPTS[:, :2])
    whole = beam_search(RunningSum(), PROMPTS, 5, eos=EOS)
    on = beam_search(RunningSum(), PROMPTS[:, 2:], 5, eos=EOS, state=state)
    for got, expected in zip(on, whole, strict=True):
        assert_same(got, expected)


def test_impossible_texts_are_no_hypotheses() -> None:
    class Chain:
        """Only 0 -> 1 -> 2 -> 0 ... is possible."""

        vocab_size = 3

        def __call__(self, tokens, state=None):
            logits = torch.full((*tokens.shape, 3), -math.inf)
            return logits.scatter(-1, ((tokens + 1) % 3)[..., None], 0.0), None

    prompt = torch.tensor([[0], [1]])
    for ranked in (beam_search(Chain(), prompt, 4, beam_size=5), exhaustive_search(Chain(), prompt, 4)):
        assert [[h.tokens for h in hypotheses] for hypotheses in ranked] == [[[1, 2, 0, 1]], [[2, 0, 1, 2]]]
    ranked = beam_search(Chain(), prompt, 4, eos=0, beam_size=2)
    assert [[h.tokens for h in hypotheses] for hypotheses in ranked] == [[[1, 2, 0]], [[2, 0]]]


def test_ties_fall_alike_in_every_search() -> None:
    flat, prompt = Markov(3, scale=0.0), torch.tensor([[1]])
    exhaustive = exhaustive_search(flat, prompt, 2)[0]
    assert [h.tokens for h in exhaustive][:4] == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert_same(beam_search(flat, prompt, 2, beam_size=9)[0], exhaustive)
    assert beam_search(flat, prompt, 2, beam_size=1)[0][0].tokens == greedy(flat, prompt, 2).tokens[0].tolist()


def test_the_trace_holds_every_step() -> None:
    ranked, tree = beam_search(SMALL, SMALL_PROMPTS, 3, eos=2, beam_size=2, trace=True)
    assert [h.tokens for h in ranked[0]] == [
        h.tokens for h in beam_search(SMALL, SMALL_PROMPTS, 3, eos=2, beam_size=2)[0]
    ]
    for row in range(3):
        first = tree.at_step(1, row)
        assert len(first) == 4
        assert [node.token_log_prob for node in first] == sorted((n.token_log_prob for n in first), reverse=True)
        assert sum(node.status == "kept" for node in tree.at_step(2, row)) <= 2
        for node in tree.nodes:
            if node.prompt == row and node.parent is not None:
                path = tree.path(node)
                assert len(path) == node.step
                expected = text_log_probs(SMALL, SMALL_PROMPTS[row], path)
                assert node.log_prob == pytest.approx(math.fsum(expected), abs=1e-4)
                assert node.token_log_prob == pytest.approx(expected[-1], abs=1e-4)
                assert tree.nodes[node.parent].status in ("root", "kept")
        finished = [tree.path(n) for n in tree.nodes if n.prompt == row and n.status == "finished"]
        assert all(h.tokens in finished for h in ranked[row])
        assert max((n for n in tree.nodes if n.id in tree.best and n.prompt == row), key=lambda n: n.step).step == len(
            ranked[row][0].tokens
        )
    assert len(tree.render(prompt=1).splitlines()) == 1 + sum(n.prompt == 1 and n.step > 0 for n in tree.nodes)


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


def test_a_diverse_trace_shows_the_objective() -> None:
    ranked, tree = diverse_beam_search(
        RunningSum(), PROMPTS, 4, eos=EOS, beam_size=4, groups=2, diversity=2.0, trace=True
    )
    assert any(node.score is not None and node.score < node.log_prob - 1.9 for node in tree.nodes)
    for row, hypotheses in enumerate(ranked):
        end = max((n for n in tree.nodes if n.id in tree.best and n.prompt == row), key=lambda n: n.step)
        assert tree.path(end) == hypotheses[0].tokens


def test_a_hypothesis_becomes_text() -> None:
    tokenizer = CharTokenizer.fit("abc")
    assert Hypothesis([*tokenizer.encode("cab"), tokenizer.eos], -1.0, -1.0).text(tokenizer) == "cab"
