"""Rewards: the gradient against all answers of a policy that can be enumerated, baselines, groups, and what counts."""

from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from nlmcore.decoding import sample
from nlmcore.transfer.rewards import group_advantages, kl_divergence, policy_loss, sampled
from nlmcore.transfer.tuning import log_probs
from nlmcore.transformer import TransformerConfig, TransformerLM

REWARDS = torch.tensor([0.0, 1.0, 0.3, 1.0], dtype=torch.float64)
EOS = 2


def policy(seed: int = 0) -> Tensor:
    """Four answers and their scores."""
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(4, generator=draw, dtype=torch.float64).requires_grad_()


def gradient(loss: Tensor, scores: Tensor) -> Tensor:
    return torch.autograd.grad(loss, scores)[0]


def exact() -> Tensor:
    """∇ Σ_y π(y) r(y)"""
    scores = policy()
    return gradient(scores.softmax(0) @ REWARDS, scores)


def over_groups(n: int, divide_by_sd: bool = False, mean: bool = True, b: float = 0.0) -> Tensor:
    """The expected ascent direction of `policy_loss`, over all groups of n answers with their probabilities."""
    total = torch.zeros(4, dtype=torch.float64)
    for group in product(range(4), repeat=n):
        scores, chosen = policy(), list(group)
        ln = scores.log_softmax(0)[chosen]
        r = REWARDS[chosen]
        advantages = group_advantages(r[None], divide_by_sd)[0] if mean else r - b
        total += ln.sum().exp().detach() * -gradient(policy_loss(ln, advantages), scores)
    return total


def test_reinforce_has_the_exact_gradient_in_expectation() -> None:
    assert_close(over_groups(2, mean=False), exact())


@pytest.mark.parametrize("b", [0.5, -3.0])
def test_a_baseline_leaves_the_expectation(b: float) -> None:
    assert_close(over_groups(2, mean=False, b=b), exact())


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_mean_of_a_group_shortens_the_expectation_and_does_not_turn_it(n: int) -> None:
    assert_close(over_groups(n), (1 - 1 / n) * exact())


@pytest.mark.parametrize("divide_by_sd", [False, True])
def test_equal_rewards_make_no_step(divide_by_sd: bool) -> None:
    scores = policy()
    advantages = group_advantages(torch.ones(1, 3, dtype=torch.float64), divide_by_sd)[0]
    assert not gradient(policy_loss(scores.log_softmax(0)[[0, 1, 1]], advantages), scores).any()


def test_each_group_has_its_own_mean_and_deviation() -> None:
    rewards = torch.tensor([[0.0, 1.0, 1.0, 0.0], [2.0, 2.0, 2.0, 6.0]])
    assert_close(group_advantages(rewards), torch.tensor([[-0.5, 0.5, 0.5, -0.5], [-1.0, -1.0, -1.0, 3.0]]))
    for row, found in zip(rewards, group_advantages(rewards, True), strict=True):
        assert_close(found, (row - row.mean()) / row.std(), atol=1e-3, rtol=0)


def test_rewards_of_zero_and_one_are_cross_entropy_on_the_right_answers() -> None:
    ln, right = torch.tensor([-1.0, -2.0, -4.0]), torch.tensor([1.0, 0.0, 1.0])
    assert_close(policy_loss(ln, right), torch.tensor(5 / 3))


def test_divided_by_length_a_long_answer_weighs_less() -> None:
    ln, lengths = torch.tensor([-2.0, -2.0], requires_grad=True), torch.tensor([1.0, 4.0])
    slopes = gradient(policy_loss(ln, torch.ones(2), lengths), ln)
    assert_close(slopes, torch.tensor([-0.5, -0.125]))


def test_no_gradient_flows_through_the_advantages() -> None:
    rewards = torch.ones(2, requires_grad=True)
    assert not policy_loss(torch.tensor([-1.0, -2.0]), rewards).requires_grad


def test_the_divergence_is_that_of_torch() -> None:
    now, reference = torch.randn(2, 3, 5).log_softmax(-1)
    assert_close(kl_divergence(now, reference), F.kl_div(reference, now, reduction="none", log_target=True).sum(1))
    assert not kl_divergence(now, now).any()


def test_what_was_sampled_has_the_probability_with_which_it_was_sampled() -> None:
    torch.manual_seed(0)
    model = TransformerLM(TransformerConfig(vocab_size=7, d_model=12, n_heads=3, n_layers=2, max_length=16)).eval()
    prompt = torch.tensor([[3, 4, 5], [6, 6, 3]])
    written = sample(model, prompt, 4, eos=EOS, num_samples=5, generator=torch.Generator().manual_seed(1))
    answers = sampled(prompt, written.tokens, EOS)
    assert written.finished.any()
    assert not written.finished.all()
    with torch.no_grad():
        assert_close(log_probs(model, answers), written.log_prob, atol=1e-5, rtol=0)
    assert answers.mask.sum() == (written.log_probs < 0).sum()


def test_answers_without_a_prompt_are_refused() -> None:
    with pytest.raises(ValueError, match="as many answers to each of 2 prompts, got 3"):
        sampled(torch.ones(2, 4, dtype=torch.long), torch.ones(3, 2, dtype=torch.long), EOS)
