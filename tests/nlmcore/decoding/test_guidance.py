"""Guidance: the equation, its two ends, its laws, and that it follows the prompt more."""

import pytest
import torch

from nlmcore.decoding import Guided, beam_search, greedy, sample
from nlmcore.recurrent import RecurrentLM
from tests.laws import assert_chunking_law, assert_close, assert_selectable, assert_state_is_a_value
from tests.nlmcore.decoding.models import Markov

PROMPT = torch.tensor([[1, 4, 3], [5, 0, 1]])
NEGATIVE = torch.tensor([[2, 6, 6, 3], [4, 4, 0, 1]])
TEXT = torch.tensor([[3, 2, 5], [1, 1, 6]])


def lstm() -> RecurrentLM:
    torch.manual_seed(3)
    return RecurrentLM(7, "lstm", d_hidden=9).eval()


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 3.0])
def test_the_equation(gamma: float) -> None:
    model = lstm()
    for negative in (None, NEGATIVE):
        last, state = Guided(model, gamma).begin(PROMPT, negative)
        assert torch.equal(last, PROMPT[:, -1:])
        got = Guided(model, gamma)(TEXT, state)[0].log_softmax(-1)
        # The first token is the prompt's last; a negative prompt is read whole, in its place.
        without_prompt = TEXT if negative is None else torch.cat([negative, TEXT[:, 1:]], 1)
        with_prompt, without = (
            model(whole)[0][:, -TEXT.shape[1] :].softmax(-1)
            for whole in (torch.cat([PROMPT[:, :-1], TEXT], 1), without_prompt)
        )
        expected = without * (with_prompt / without) ** gamma
        assert_close(got, (expected / expected.sum(-1, keepdim=True)).log(), f"γ = {gamma}", 1e-5)


def test_gamma_one_is_the_model_and_no_state_too() -> None:
    model = lstm()
    last, state = Guided(model, 1).begin(PROMPT)
    assert torch.equal(greedy(Guided(model, 1), last, 6, state=state).tokens, greedy(model, PROMPT, 6).tokens)
    assert torch.equal(greedy(Guided(model, 9), PROMPT, 6).tokens, greedy(model, PROMPT, 6).tokens)


def test_laws_and_searches() -> None:
    guided = Guided(lstm(), 2.0)
    for negative in (NEGATIVE, None):
        last, state = guided.begin(PROMPT, negative)
        for law in (assert_chunking_law, assert_state_is_a_value, assert_selectable):
            law(guided, TEXT, state)
    assert len(beam_search(guided, last, 4, state=state, beam_size=3)[0]) == 3
    one, two = (sample(guided, last, 5, state=state, generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(one.tokens, two.tokens)


def test_what_is_impossible_stays_so_and_the_rest_is_finite() -> None:
    model = Markov(7)
    model.table[:, :, 4] = -torch.inf
    guided = Guided(model, 3.0)
    last, state = guided.begin(PROMPT)
    logits, _ = guided(last, state)
    assert (logits[:, :, 4] == -torch.inf).all()
    assert logits[:, :, [0, 1, 2, 3, 5, 6]].isfinite().all()


def test_a_prompt_of_one_token() -> None:
    last, state = Guided(lstm(), 2.0).begin(PROMPT[:, :1])
    assert state == (None, None, None)
    assert torch.equal(last, PROMPT[:, :1])
