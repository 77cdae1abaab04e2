"""What the exercises of "rewards" promise beyond what every assignment must (`test_checks.py`)."""

import itertools
import math

import pytest
import torch

from autograder.check import examine
from autograder.question.draw import Draw
from nlmcore.metrics.attempts import pass_at_k
from nlmcore.transfer import rewards as library
from nlmcore.transfer.tuning import log_probs
from solutions.rewards.checks import EOS, EXERCISES, written

REFERENCE = {exercise.function: exercise.reference for exercise in EXERCISES.values()}


class Scores(torch.nn.Module):
    """A language model whose hidden vectors are given logits."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def hidden_states(self, tokens):
        return self.logits[:, : tokens.shape[1]], None

    def output(self, hidden):
        return hidden


@pytest.mark.parametrize("ends", [(2, 1, 3), (-1, 0, 4)])
def test_the_log_probabilities_are_the_librarys(ends):
    logits, tokens, prompt, eos = written(Draw(0, 5), ends)
    answers = library.sampled(tokens[:, :prompt], tokens[:, prompt:], EOS)
    found, lengths = REFERENCE["answer_log_probs"](logits, tokens, prompt, eos)
    assert torch.allclose(found, log_probs(Scores(logits), answers))
    assert torch.equal(lengths, answers.mask.sum(1))


def test_the_advantages_the_loss_and_its_slopes_are_the_librarys():
    draw = Draw(0, 5)
    given, rewards, lengths = -draw.normal(3, 4).abs(), draw.normal(3, 4), draw.integers(1, 9, 3, 4)
    assert torch.allclose(REFERENCE["group_advantages"](rewards, False), library.group_advantages(rewards))
    divided = REFERENCE["group_advantages"](rewards, True)
    assert torch.allclose(divided, library.group_advantages(rewards, divide_by_sd=True), rtol=2e-3)
    for long in (lengths, torch.full_like(lengths, 20)):
        leaf = given.flatten().requires_grad_()
        wanted = library.policy_loss(leaf, library.group_advantages(rewards).flatten(), long.flatten())
        loss, slopes = REFERENCE["policy_loss"](given, given, rewards, long, 0.0, True)
        assert torch.allclose(loss, wanted)
        assert torch.allclose(slopes.flatten(), torch.autograd.grad(wanted, leaf)[0])


def test_pass_at_k_is_the_librarys_and_counts_sets():
    for n, k in ((5, 2), (6, 4)):
        right = list(range(n + 1))
        found = REFERENCE["pass_at_k"](n, right, k)
        assert found == pytest.approx([pass_at_k(n, c, k) for c in right])
        sets = list(itertools.combinations(range(n), k))  # the first c answers are right
        assert found == pytest.approx([sum(min(chosen) < c for chosen in sets) / len(sets) for c in right])


def test_two_answers_are_the_sums_over_both():
    theta, r, lengths = 0.7, (1.3, -0.4), (6, 2)
    p = 1 / (1 + math.exp(-theta))
    chance, slopes = (p, 1 - p), (1 - p, -p)

    def mean_step(b, long=(1, 1)):
        return sum(c * (of - b) * s / n for c, of, s, n in zip(chance, r, slopes, long, strict=True))

    def spread(b):
        return sum(c * ((of - b) * s) ** 2 for c, of, s in zip(chance, r, slopes, strict=True)) - mean_step(b) ** 2

    slope, calmest, divided = REFERENCE["two_answers"](theta, *r, 0.3, *lengths)
    assert slope == pytest.approx(mean_step(0.0)) == pytest.approx(mean_step(0.3))
    assert divided == pytest.approx(mean_step(0.3, lengths))
    assert spread(calmest) == pytest.approx(0)  # as the note for instructors says
    assert spread(calmest) < min(spread(calmest - 0.01), spread(calmest + 0.01))


def test_an_update_climbs_the_mean_reward_of_its_samples():
    draw = Draw(1, 5)
    theta, right = draw.normal(3, 4), draw.integers(0, 3, 3)
    chosen = draw.integers(0, 3, 3, 5)
    leaf = theta.clone().requires_grad_()
    worth = library.group_advantages((chosen == right[:, None]).float())
    ln = leaf.log_softmax(1).gather(1, chosen)
    library.policy_loss(ln.flatten(), worth.flatten()).backward()
    assert torch.allclose(REFERENCE["update"](theta, chosen.flatten(), right, 0.5), theta - 0.5 * leaf.grad)


def test_only_one_training_of_the_page_shrinks_the_share_and_other_habits_have_other_signs():
    _, shares, signs = REFERENCE["which_grows"]((0.9, 0.3), (8, 1), [0, 1, 2, 3, 4])
    assert signs == [[1, -1, 1, 1]] * 5
    assert max(row[1] for row in shares) < 0.1
    assert REFERENCE["which_grows"]((0.2, 0.8), (1, 8), [7])[2][0] != signs[0]


def test_a_wrong_deviation_costs_nothing_of_the_direction():
    def without_root(rewards, by_sd):
        above = rewards - rewards.mean(1, keepdim=True)
        return above / rewards.var(1, keepdim=True).clamp(min=1e-9) if by_sd else above

    verdict = examine(EXERCISES["rewards.group_advantages"], without_root, 5)
    held = {finding.about.name for finding in verdict.findings if finding.holds}
    assert held == {"less the mean of the group", "divided, up to a factor"}
