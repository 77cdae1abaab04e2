"""Learning from rewards: a model writes answers, a program rewards them, and probable answers become better ones.

    J        = E r(y),  y ~ π(· | x)                               what is maximised: the mean reward
    ∇J       = E [(r(y) − b) ∇ ln π(y | x)]                        for every b that does not depend on y; REINFORCE
    A_i      = r_i − 1/n Σ_j r_j,  or that divided by the sd       of n answers to one question; GRPO
    loss     = − 1/N Σ_i A_i ln π(y_i | x_i) / L_i                 L_i = 1, a constant, or the tokens of y_i
    KL       = Σ_w π(w | s) ln (π(w | s) / π_ref(w | s))           at each state s that an answer went through

`sampled` turns them into `Answers`, and `nlmcore.transfer.tuning.log_probs` computes ln π(y | x) for each. The
advantages A are constants: no gradient flows through them.

    Σ_y π(y) b ∇ ln π(y) = b ∇ Σ_y π(y) = 0                        why a baseline leaves the expectation as it is
    E over groups of n = (1 − 1/n) ∇J                              for the group's mean, which contains r_i itself

Source: Williams (1992), section 4, for REINFORCE and its baseline; Shao et al. (2024), DeepSeekMath, section 4.1, for
GRPO, which divides by the sd and by each answer's length; Liu et al. (2025), "Understanding R1-Zero-like training",
section 3, who do neither. Departs from the papers: one step for each batch, so the ratio π / π_old is 1 and nothing is
clipped. The KL divergence is computed over the whole vocabulary, where GRPO estimates it from the sampled token;
in both, its gradient takes the states s as given.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nlmcore.checks import Count, checked
from nlmcore.transfer.tuning import Answers

SMALL = 1e-4
"""Added to the sd, as in common code: a group of equal rewards has none."""


def group_advantages(
    rewards: Float[Tensor, "question sample"], divide_by_sd: bool = False
) -> Float[Tensor, "question sample"]:
    """How much better each answer is than the mean answer to its question. Equal rewards give zeros."""
    above = rewards - rewards.mean(1, keepdim=True)  # (question, sample)
    return above / (rewards.std(1, keepdim=True) + SMALL) if divide_by_sd else above


def policy_loss(
    log_probs: Float[Tensor, " answer"], advantages: Float[Tensor, " answer"], lengths: Tensor | float = 1.0
) -> Float[Tensor, ""]:
    """− mean of A ln π(y | x) / L. lengths: a constant, or the tokens of each answer (answer). Its negative gradient
    estimates that of the mean reward, in expectation exactly if L is 1 and the advantages are unbiased."""
    return -(advantages.detach() * log_probs / lengths).mean()


def kl_divergence(
    now: Float[Tensor, "token vocab"], reference: Float[Tensor, "token vocab"]
) -> Float[Tensor, " token"]:
    """KL(π ‖ π_ref) of each row of log-probabilities, in nats. Σ over an answer's tokens: the answer's."""
    return (now.exp() * (now - reference)).sum(1)


@checked
def sampled(prompt: Int[Tensor, "question time"], new: Int[Tensor, "answer new"], eos: Count) -> Answers:
    """Answers from `nlmcore.decoding.sample` with that `eos`, n to each prompt; each counts up to its first <eos>.

    Raises ValueError if the answers are not a multiple of the prompts.
    """
    if len(new) % len(prompt):
        raise ValueError(f"new must hold as many answers to each of {len(prompt)} prompts, got {len(new)}")
    ends = new == eos
    mask = ends.cumsum(1) - ends.long() == 0  # no <eos> before this token
    tokens = torch.cat([prompt.repeat_interleave(len(new) // len(prompt), 0), new], 1)
    asked = mask.new_zeros(len(new), prompt.shape[1] - 1)  # the prompt is read and not learned
    return Answers(tokens[:, :-1], tokens[:, 1:], torch.cat([asked, mask], 1))
