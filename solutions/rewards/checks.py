"""Assignment "rewards": the log-probability of an answer, advantages, the loss with its slopes, and pass@k.

The functions differ in form from `nlmcore.transfer` and `nlmcore.metrics.attempts`: they take logits, tables of a row
for each question, and lists.
"""

import functools
from typing import Any

import torch

from autograder.question.declare import exercises_in, holds, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.kinds import EQUAL
from autograder.question.sized import ODD, at, several, these
from autograder.question.special import at_points, formula, on_the_page, other_seeds, own_signs, predicted, wrong_line
from autograder.question.specification import Both, Case, case
from solutions.rewards.laws import ordered_around_zero

CLOSED = ("nlmcore.transfer", "nlmcore.metrics")
ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]

# --- 1. the log-probability of an answer -------------------------------------------------------------------------

VOCAB, EOS = 6, 5


def written(
    draw: Draw,
    ends: tuple[int, ...],
    answer: int = 5,
    prompt: int = 3,
    high: float = 0.0,
    in_prompt: bool = False,
    spread: float = 2.0,
) -> Arguments:
    """A text for each number in `ends`: the index of <eos> in the answer, −1 for none. What is stored after <eos> is
    more, another <eos> among it where there is room for one."""
    tokens = draw.integers(0, EOS - 1, len(ends), prompt + answer)
    for row, end in zip(tokens, ends, strict=True):
        if end >= 0:
            row[prompt + end] = EOS
            row[prompt + end + 2 :: 2] = EOS
    if in_prompt:
        tokens[:, prompt - 2] = EOS
    return spread * draw.normal(len(ends), prompt + answer, VOCAB) + high, tokens, prompt, EOS


ended = these(at("three answers that end", ends=(2, 1, 3)), at("two answers that end", ends=(1, 2), prompt=4))
endless = these(at("no answer ends", ends=(-1, -1, -1)), at("two do not end", ends=(-1, 2, -1)))
edges = these(
    at("it ends immediately, or at the last token", ends=(0, 4)),
    at("a prompt of one token", ends=(2, -1), prompt=1),
    at(EQUAL, ends=(0, 1, 2, -1, 1, 2), answer=3),  # texts, positions and tokens: six of each
    at("an answer of one token", ends=(0, -1), answer=1),
    at("logits above a hundred", ends=(2, 1), high=150.0),
    at("probabilities too small for a float32", ends=(2, 1), spread=200.0),
)
ANSWER_LOG_PROBS = ask(
    "rewards.answer_log_probs",
    returns=("log_probs", "lengths"),
    inputs=written,
    main=at("three answers", ends=(2, 1, 3)),
    properties=[
        shapes(0.25, ended, "two numbers for every answer"),
        values("the log-probabilities of answers that end", 2, ended, "log_probs"),
        values("their lengths", 0.75, ended, "lengths"),
        values("answers that do not end", 1, endless),
        values("an `eos` in the prompt", 0.5, at(ends=(2, 3, -1), in_prompt=True)),
        values("one token, the last token, large logits", 0.5, edges),
    ],
    mistakes="""
prompt-counted: You counted the tokens of the prompt, too. The model did not write them: begin with the first token of
the answer.
+ each = logits[:, :-1].log_softmax(-1).gather(2, tokens[:, 1:, None])[:, :, 0]
+ ends = (tokens[:, prompt:] == eos).long()
+ counted = torch.cat([torch.ones(len(tokens), prompt - 1).bool(), ends.cumsum(1) - ends == 0], 1)
+ return (each * counted).sum(1), counted.sum(1)
shifted: You read the probability of a token from the logits at the *same* position. `logits[:, t]` are the scores of
the token after position t.
- logits[:, prompt - 1 : -1] → logits[:, prompt:]
first-token-missed: The first token of the answer is missing. Its scores are at the last position of the prompt.
+ targets = tokens[:, prompt:]
+ log_probs = logits[:, prompt - 1 : -1].log_softmax(-1)
+ each = log_probs.gather(2, targets[:, :, None])[:, :, 0]
+ ends = (targets == eos).long()
+ counted = ends.cumsum(1) - ends == 0
+ return (each * counted)[:, 1:].sum(1), counted[:, 1:].sum(1)
or
- return (each * counted).sum(1), counted.sum(1) → return (each * counted)[:, 1:].sum(1), counted.sum(1)
final-token-missed: The final token of the stored answers never counts. Their last logits belong to no token, but the
scores of the last token are one position earlier.
- return (each * counted).sum(1), counted.sum(1) → return (each * counted)[:, :-1].sum(1), counted[:, :-1].sum(1)
eos-not-counted: You did not count `eos`. The model decided to stop, with some probability, and that decision is a part
of the answer.
- counted = ends.cumsum(1) - ends == 0 → counted = ends.cumsum(1) == 0
after-the-end-counted: You counted everything that is stored. What comes after the first `eos` does not belong to the
answer.
- counted = ends.cumsum(1) - ends == 0 → counted = ends >= 0
or
- (each * counted).sum(1) → each.sum(1)
every-eos-counted: After the first `eos` you stop counting, but you count every further `eos` as well. Only the first
one ends the answer.
- counted = ends.cumsum(1) - ends == 0 → counted = (ends.cumsum(1) == 0) | (ends == 1)
eos-skipped: You count every token that is not `eos`. The first `eos` counts, and nothing after it does.
- counted = ends.cumsum(1) - ends == 0 → counted = ends == 0
prompt-in-the-length: Your lengths contain the prompt. Count the tokens of the answer only.
- , counted.sum(1) → , counted.sum(1) + prompt
until-the-last-eos: You count until the *last* `eos`. The answer ends with the first one.
- counted = ends.cumsum(1) - ends == 0
+ after = ends.flip(1).cumsum(1).flip(1)
+ counted = (after > 0) | (ends.sum(1, keepdim=True) == 0)
endless-is-one: Of an answer without `eos` you count one token only: `argmax` of a row without a match is 0. Nothing
ends such an answer, so all its tokens count.
- counted = ends.cumsum(1) - ends == 0 → counted = torch.arange(targets.shape[1]) <= ends.argmax(1)[:, None]
mean-for-sum: Your log-probability is the mean over the tokens. That of the whole answer is their sum; dividing by the
length is a choice of the loss, in question 3.
- (each * counted).sum(1) → (each * counted).sum(1) / counted.sum(1)
logits-not-normalised: You added logits. `log_softmax` turns them into log-probabilities.
- .log_softmax(-1) →
softmax-over-positions: Your softmax runs over the positions. The probabilities of all *tokens* at one position sum to
1: take the last dimension.
- log_softmax(-1) → log_softmax(1)
or
- logits[:, prompt - 1 : -1].log_softmax(-1) → logits[:, :-1].log_softmax(1)[:, prompt - 1 :]
minus-added: You changed the sign, as for a loss. The logarithm of a probability is negative.
- return (each * counted).sum(1), counted.sum(1) → return -(each * counted).sum(1), counted.sum(1)
bits-for-nats: Your logarithm has base 2. ln has base e, as in `log_softmax` and `torch.log`.
- return (each * counted).sum(1), counted.sum(1) → return (each * counted).sum(1) / math.log(2), counted.sum(1)
probabilities-added: You added probabilities. Those of consecutive tokens are multiplied, so their logarithms are added.
- log_softmax(-1) → softmax(-1)
whole-prompt-searched: An `eos` in the prompt ends your answer before it begins. Look for the end in the answer only.
- ends = (targets == eos).long()
- counted = ends.cumsum(1) - ends == 0
+ ends = (tokens == eos).long()
+ counted = (ends.cumsum(1) - ends == 0)[:, prompt:]
logarithm-of-zero: A token that is very improbable gives −∞: in float32, a probability below 10⁻⁴⁵ is 0. `log_softmax`
never computes the probability itself.
- log_softmax(-1) → softmax(-1).log()
- (each * counted).sum(1) → torch.where(counted, each, 0.0).sum(1)
or
- log_softmax(-1) → softmax(-1).log()
or
- log_softmax(-1) → softmax(-1).clamp(min=1e-10).log()
exponential-overflows: With large logits you return NaN: in float32, e to the power of more than 88 is infinite. Use
`log_softmax`, or subtract the largest logit first.
- logits[:, prompt - 1 : -1].log_softmax(-1)
+ (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()[:, prompt - 1 : -1]
""",
)

# --- 2. the advantages of a group --------------------------------------------------------------------------------


def rewarded(draw: Draw, questions: int, samples: int) -> Arguments:
    """Rewards of all kinds, that differ in every group."""
    return (draw.normal(questions, samples) + torch.arange(questions)[:, None]), False


def divided(draw: Draw, questions: int, samples: int) -> Arguments:
    return rewarded(draw, questions, max(3, samples))[0], True


def bits(draw: Draw, by_sd: bool) -> Arguments:
    """1 and −1, some groups all alike."""
    rows = [[1, -1, -1, 1], [1, 1, 1, 1], [-1, -1, -1, -1], [-1, -1, -1, 1]]
    first = draw.integer(0, 3)
    return torch.tensor(rows[first:] + rows[:first]).float(), by_sd


def equal(draw: Draw) -> Arguments:
    return draw.integers(1, 9, 3, 1).expand(3, 4) / 4, True


def factor_aside(draw: Draw) -> Case:
    rewards, _ = divided(draw, 3, 5)
    return several((rewards, True), known=(rewards - rewards.mean(1, keepdim=True),))


GROUP_ADVANTAGES = ask(
    "rewards.group_advantages",
    returns=("advantages",),
    inputs=rewarded,
    properties=[
        values("less the mean of the group", 1, at("any rewards"), at("rewards of 1 and −1", bits, by_sd=False)),
        holds("divided, up to a factor", 0.5, at("", factor_aside), ordered_around_zero),
        values("divided by the standard deviation", 0.75, at("", divided), tolerance=2e-3),
        values(
            "groups of equal rewards",
            0.75,
            at("some groups are all right or all wrong", bits, by_sd=True),
            at("equal rewards that are not 0", equal),
            tolerance=2e-3,
        ),
    ],
    mistakes="""
mean-of-the-column: You subtracted the mean over the questions. A group is a row: all answers to *one* question.
- rewards.mean(1, keepdim=True) → rewards.mean(0, keepdim=True)
mean-of-all: You subtracted the mean of all rewards. Then every answer to an easy question looks good. Each group has
its own mean.
- rewards.mean(1, keepdim=True) → rewards.mean()
sum-for-mean: You subtracted the sum of the rewards. Subtract their mean.
- rewards.mean(1, keepdim=True) → rewards.sum(1, keepdim=True)
without-itself: You compare each reward with the mean of the *other* answers. That is a good baseline as well, but
here the mean is over the whole group.
- above = rewards - rewards.mean(1, keepdim=True)
+ n = rewards.shape[1]
+ above = (rewards - rewards.mean(1, keepdim=True)) * (n / max(1, n - 1))
not-subtracted: You return the rewards themselves. Subtract the mean of the group.
- above = rewards - rewards.mean(1, keepdim=True) → above = rewards.clone()
reversed: Your advantages have the wrong sign: the mean less the reward. A good answer has a positive one.
- rewards - rewards.mean(1, keepdim=True) → rewards.mean(1, keepdim=True) - rewards
never-divided: You never divide by the standard deviation. Do so if `by_sd` is true.
- if by_sd → if False
always-divided: You always divide by the standard deviation. Do so only if `by_sd` is true.
- if by_sd → if True
n-in-the-denominator: Your standard deviation has n in its denominator. In this question it is n − 1.
- rewards.std(1, keepdim=True) → rewards.std(1, keepdim=True, unbiased=False)
variance: You divided by the variance. The standard deviation is its square root.
- rewards.std(1, keepdim=True) → rewards.var(1, keepdim=True)
deviation-of-all: You divided by the standard deviation of all rewards. Each group has its own.
- rewards.std(1, keepdim=True) → rewards.std().expand(len(rewards), 1)
too-much-added: You added so much to the standard deviation that the advantages are visibly smaller. A number up to 10⁻⁴
is enough to avoid 0 / 0.
- above / spread → above / (spread + 0.01)
or
- above / spread → above / (spread + 0.1)
zero-by-zero: Your advantages contain NaN where all rewards of a group are equal: 0 / 0 is undefined. They should be 0.
- torch.where(spread > 0, above / spread, 0.0) → above / spread
""",
)

# --- 3. the loss with its three choices --------------------------------------------------------------------------


def losses(
    draw: Draw,
    questions: int,
    samples: int,
    beta: float = 0.0,
    baseline: bool = True,
    length: float = 0.0,
) -> Arguments:
    """Answers of at least two per group; `length` for all of them, or lengths from 1 to 9, all of them different in a
    row."""
    samples = max(2, samples)
    log_probs = -4 * draw.normal(questions, samples).abs() - 0.5
    before = log_probs + draw.normal(questions, samples)
    rewards = draw.normal(questions, samples) + 0.7
    lengths = 1 + torch.stack([draw.integers(0, 10**9, 9).argsort()[:samples] for _ in range(questions)])
    return log_probs, before, rewards, length or lengths.float(), beta, baseline


constant = these(at("with the baseline", length=1.0), at("divided by 20", length=20.0))
raw = these(at("no baseline", length=1.0, baseline=False), at("no baseline, ÷ 4", length=4.0, baseline=False))
own = these(at("÷ length"), at("÷ length, no baseline", baseline=False))
leashed = these(
    at("a leash", beta=0.3, length=1.0),
    at("a leash, no baseline", beta=0.5, length=1.0, baseline=False),
    at("everything at once", beta=0.4),
)
POLICY_LOSS = ask(
    "rewards.policy_loss",
    returns=("loss", "slopes"),
    inputs=losses,
    properties=[
        shapes(0.25, constant, "a number, and a slope for every answer"),
        values("the loss with a constant length", 0.75, constant, "loss"),
        values("the slopes with a constant length", 0.75, constant, "slopes"),
        values("without a baseline", 0.75, raw),
        values("each answer's own length", 1.5, own),
        values("the loss on a leash", 0.75, leashed, "loss"),
        values("the slopes on a leash", 0.75, leashed, "slopes"),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
uphill: Your loss has the wrong sign: going downhill it makes good answers less probable. Mind the minus in front.
- -worth / divide_by → worth / divide_by
sum-for-mean: You added up all answers. Divide by their number N, the answers to all questions together.
- / rewards.numel() →
mean-per-question: You divided by the number of questions, or of samples. N is the number of all answers.
- / rewards.numel() → / len(rewards)
or
- / rewards.numel() → / rewards.shape[1]
divided-by-the-mean-length: You divided all answers by the mean length. Each answer has its own.
- -worth / divide_by → -worth / torch.as_tensor(divide_by).double().mean()
never-divided: You do not divide by the lengths.
- -worth / divide_by → -worth
multiplied-by-length: You multiplied by the lengths. Divide.
- -worth / divide_by → -worth * divide_by
always-a-baseline: You subtract the mean of the group even with `baseline=False`. Then A is the reward itself.
- group_advantages(priced, False) if baseline else priced → group_advantages(priced, False)
never-a-baseline: You never subtract the mean of the group. With `baseline=True`, A is the advantage.
- group_advantages(priced, False) if baseline else priced → priced
advantages-divided: You divided the advantages by their standard deviation. Here `by_sd` is False.
- group_advantages(priced, False) → group_advantages(priced, True)
baseline-of-all: Your baseline is the mean of all rewards. Each group has its own.
- group_advantages(priced, False) → (priced - priced.mean())
leash-forgotten: The price on the distance from the earlier model is missing: subtract β · (ln π − ln π_ref).
- rewards - beta * (log_probs - before) → rewards
or
- if baseline else priced → if baseline else rewards
price-after-the-baseline: You subtracted the price after the baseline. It is a part of the reward, so the baseline is
the mean of the rewards with their price.
- priced = rewards - beta * (log_probs - before) → priced = rewards
- group_advantages(priced, False) if baseline else priced
+ (group_advantages(priced, False) if baseline else priced) - beta * (log_probs - before)
leash-reversed: Your leash pushes the model away: an answer that has become more probable gets a bonus. Subtract the
price.
- rewards - beta * (log_probs - before) → rewards + beta * (log_probs - before)
leash-squared: You squared the distance from the earlier model. The price is β times the difference, with its sign.
- rewards - beta * (log_probs - before) → rewards - beta * (log_probs - before) ** 2
ratio-for-logarithm: Your loss has the ratio π / π_ref in it, as PPO's does. Here it has ln π, and the earlier model
occurs only in the price.
- / divide_by / rewards.numel() → / divide_by / rewards.numel() * (log_probs - before).exp()
- (slopes * log_probs).sum() → slopes.sum()
leash-by-length: You divided the price on the distance by the length twice. First it is subtracted from the reward, then
everything is divided once.
- rewards - beta * (log_probs - before) → rewards - beta * (log_probs - before) / divide_by
not-detached: A gradient flows through your advantages: the slopes contain β once more. What a sampled answer earned is
a constant: `detach` it, or write the slopes down.
- return (slopes * log_probs).sum(), slopes
+ log_probs = log_probs.detach().clone().requires_grad_()
+ priced = rewards - beta * (log_probs - before)
+ worth = group_advantages(priced, False) if baseline else priced
+ loss = -(worth * log_probs / divide_by).mean()
+ (slopes,) = torch.autograd.grad(loss, log_probs)
+ return loss.detach(), slopes
slopes-without-n: Your slopes are those of the sum. The loss is a mean, so each slope has the factor 1 / N.
- .sum(), slopes → .sum(), slopes * rewards.numel()
slopes-reversed: Your slopes have the wrong sign. A good answer has a negative slope: the more probable it is, the lower
the loss.
- .sum(), slopes → .sum(), -slopes
advantages-for-slopes: Your slopes are the advantages. The loss is what is differentiated, with its minus, its lengths
and its N.
- .sum(), slopes → .sum(), worth
or
- .sum(), slopes → .sum(), -slopes * rewards.numel()
slopes-undivided: Your loss divides by the lengths, and your slopes do not.
- .sum(), slopes → .sum(), slopes * divide_by
""",
)

# --- 4. one of k -------------------------------------------------------------------------------------------------


def attempts(draw: Draw, n: int, k: int) -> Arguments:
    """Some questions, none of them solved always or never."""
    return n, [draw.integer(1, n - k) for _ in range(3)] if n > k else [1], k


some = these(at("two of eight", n=8, k=2), at("three of ten", n=10, k=3))
certain = at("", lambda draw: (6, [0, 6, draw.integer(3, 5)], 4))
PASS_AT_K = ask(
    "rewards.pass_at_k",
    returns=("estimates",),
    inputs=attempts,
    properties=[
        shapes(0.25, some, "one estimate per question"),
        values("some are right", 1.25, some),
        values("one of one, all of all", 0.5, at("k = 1", n=7, k=1), at("k = n", lambda draw: (5, [1, 0, 3], 5))),
        values("never, always, and fewer wrong ones than k", 0.5, certain),
        values("a thousand answers", 0.5, at("", n=1000, k=100), at("half of them", lambda d: (1000, [1, 2], 500))),
    ],
    mistakes="""
put-back: You put answers back: 1 − (1 − c/n)^k. That is too low, by the more the larger k is compared with n. Count the
sets of k *different* answers.
+ return [1 - (1 - c / n) ** k for c in right]
share-of-right: You return the share of right answers, which is pass@1.
+ return [c / n for c in right]
all-fail: You return the probability that all k are wrong. At least one is right in all other cases: 1 minus it.
- 1 - math.comb → math.comb
all-right: You return the probability that *all* k answers are right. At least one is enough.
- 1 - math.comb(n - c, k) / math.comb(n, k) → math.comb(c, k) / math.comb(n, k)
at-least-one-wrong: You return the probability that at least one is wrong. Count the sets of wrong answers, `n - c`.
- math.comb(n - c, k) → math.comb(c, k)
exactly-one: You count the sets with exactly one right answer. More than one is as good.
- 1 - math.comb(n - c, k) / math.comb(n, k) → c * math.comb(n - c, k - 1) / math.comb(n, k)
mean-returned: You return the mean over the questions. Return the estimate of each.
- return [1 - math.comb(n - c, k) / math.comb(n, k) for c in right]
+ return sum(1 - math.comb(n - c, k) / math.comb(n, k) for c in right) / len(right)
or
+ return [sum(1 - math.comb(n - c, k) / math.comb(n, k) for c in right) / len(right)]
k-times-the-share: You multiplied the share of right answers by k. Two tries are not twice as good, because they may
both be right.
+ return [min(1.0, k * c / n) for c in right]
permutations-over-combinations: You divided ordered choices by unordered ones. Count both in the same way.
- math.comb(n - c, k) → math.perm(n - c, k)
""",
)

# --- 5. two answers, on paper ------------------------------------------------------------------------------------

points = at_points(theta=(-2.0, 2.0), r_1=(0.5, 2.0), r_2=(-1.0, 0.3), b=(0.1, 1.0), n_1=(4, 9), n_2=(1, 3))
TWO_ANSWERS = question(
    "rewards.two_answers",
    returns=("slope", "calmest", "divided"),
    numpy=True,
    properties=[
        formula("the slope of the mean reward", 1, points, "slope"),
        formula("the calmest baseline", 1, points, "calmest"),
        formula("divided by length", 1, points, "divided"),
    ],
    mistakes="""
probability-lost: Your slope lacks the probability of one of the answers. Each suggestion is weighted by how often it is
made: p (1 − p) r₁ and (1 − p) (−p) r₂.
- slope = p * (1 - p) * (r_1 - r_2) → slope = (1 - p) * (r_1 - r_2)
or
- slope = p * (1 - p) * (r_1 - r_2) → slope = (1 - p) * r_1 - p * r_2
one-answer-only: Your slope has the term of answer 1 only. Answer 2 is suggested as well, with the probability 1 − p.
- slope = p * (1 - p) * (r_1 - r_2) → slope = p * (1 - p) * r_1
not-differentiated: Your slope is the mean reward itself. Differentiate it in θ.
- slope = p * (1 - p) * (r_1 - r_2) → slope = p * r_1 + (1 - p) * r_2
in-p-for-theta: That is the derivative in p. In θ it has the inner derivative of the sigmoid, p (1 − p).
- slope = p * (1 - p) * (r_1 - r_2) → slope = r_1 - r_2
rewards-added: The minus sign is lost: ln (1 − p) has the derivative −p, so answer 2 pulls in the other direction.
- slope = p * (1 - p) * (r_1 - r_2) → slope = p * (1 - p) * (r_1 + r_2)
baseline-kept: The baseline does not cancel in your slope. It does: p (1 − p) b is subtracted once and added once.
- slope = p * (1 - p) * (r_1 - r_2) → slope = p * (1 - p) * (r_1 - r_2 - b)
mean-reward: The mean reward is the usual baseline, but not the calmest. The suggestion of the *rarer* answer has the
longer step, so its reward weighs more.
- calmest = (1 - p) * r_1 + p * r_2 → calmest = p * r_1 + (1 - p) * r_2
middle-of-both: The middle of both rewards is calmest only if both answers are equally probable.
- calmest = (1 - p) * r_1 + p * r_2 → calmest = (r_1 + r_2) / 2
given-baseline: You return the baseline that was given. Which `b` would make the variance smallest?
- calmest = (1 - p) * r_1 + p * r_2 → calmest = b
zero-is-calmest: Without a baseline the variance is not the smallest. Differentiate the mean of the squared step in b.
- calmest = (1 - p) * r_1 + p * r_2 → calmest = 0.0
squares-for-weights: Your weights are squared once too often. The squared step of answer 1 is weighted by its
probability, p (1 − p)² (r₁ − b)², so p (1 − p) is a factor of both terms.
- calmest = (1 - p) * r_1 + p * r_2 → calmest = ((1 - p) ** 2 * r_1 + p**2 * r_2) / ((1 - p) ** 2 + p**2)
baseline-cancelled: After the division b no longer cancels: its two terms have different lengths. Keep it.
- ((r_1 - b) / n_1 - (r_2 - b) / n_2) → (r_1 / n_1 - r_2 / n_2)
one-length-for-both: You divided both terms by the same length. Each answer has its own.
- ((r_1 - b) / n_1 - (r_2 - b) / n_2) → (r_1 - r_2) / ((n_1 + n_2) / 2)
or
- ((r_1 - b) / n_1 - (r_2 - b) / n_2) → (r_1 - r_2) / (p * n_1 + (1 - p) * n_2)
terms-added: The minus sign is lost after the division: ln (1 − p) has the derivative −p, so answer 2 pulls in the other
direction.
- ((r_1 - b) / n_1 - (r_2 - b) / n_2) → ((r_1 - b) / n_1 + (r_2 - b) / n_2)
lengths-swapped: You divided each answer by the length of the other one.
- ((r_1 - b) / n_1 - (r_2 - b) / n_2) → ((r_1 - b) / n_2 - (r_2 - b) / n_1)
multiplied-by-length: You multiplied by the lengths. Divide.
- ((r_1 - b) / n_1 - (r_2 - b) / n_2) → ((r_1 - b) * n_1 - (r_2 - b) * n_2)
""",
)

# --- 6. the wrong line of a friend's update ----------------------------------------------------------------------


def table(draw: Draw, questions: int, samples: int, answers: int) -> Arguments:
    """A table in which every question has right and wrong samples, and its group matters."""
    right = draw.integers(0, answers - 1, questions)
    chosen = draw.integers(0, answers - 1, questions, samples)
    chosen[:, 0] = right
    chosen[:, 1] = (right + 1) % answers
    chosen[0] = right[0]  # an easy question
    return draw.normal(questions, answers), chosen.flatten(), right, 0.5 + draw.integer(0, 10) / 10


square = at(EQUAL, questions=4, samples=4, answers=4)
UPDATE = ask(
    "rewards.update",
    returns=("new",),
    inputs=table,
    properties=[
        values("more samples than questions", 1, at(questions=3, samples=5, answers=4)),
        values("fewer samples, or as many", 1, at("fewer", questions=5, samples=3, answers=4), square),
    ],
    planted="- rewards.view(questions, -1) → rewards.view(-1, questions)",
    mistakes="""
transposed: Your table has the right shape, but its rows are not the groups: the list has all samples of
one question, then those of the next.
- rewards.view(questions, -1) → rewards.view(-1, questions).T
one-group: You made all answers one group. Each question has its own mean.
- rewards.view(questions, -1) → rewards.view(1, -1)
samples-in-turn: You changed the order in which the questions are asked. As in the given line, all samples of the first
question come first.
- repeat_interleave(samples) → repeat(samples)
- rewards.view(questions, -1) → rewards.view(-1, questions)
- groups.mean(1, keepdim=True) → groups.mean(0, keepdim=True)
divisor-changed: You changed the divisor of the step. It is the number of all answers.
- / len(chosen)) → / questions)
each-alone: Each of your groups has one answer, so every advantage is 0 and nothing is learned.
- rewards.view(questions, -1) → rewards.view(-1, 1)
no-baseline: You dropped the mean of the group. Keep the line that subtracts it.
- (groups - groups.mean(1, keepdim=True)) → groups
mean-of-the-column: The mean runs over the questions now. Keep `mean(1)`, and mend the shape.
- groups.mean(1, keepdim=True) → groups.mean(0, keepdim=True)
downhill: You changed the sign of the step. The friend climbs the mean reward, so good answers get higher scores.
- theta.index_add(0, asked, rate * → theta.index_add(0, asked, -rate *
""",
)

WRONG_LINE = wrong_line(
    "rewards.wrong_line",
    UPDATE,
    mistakes="""
samples-suspected: Line {samples = } is right: all questions have the same number of samples.
asked-suspected: Line {asked = } is right: it repeats 0, then 1, and so on, in the order of `chosen`.
rewards-suspected: Line {rewards = } is right: 1 where the chosen answer is the right one of its question.
worth-suspected: Line {worth = } is right for groups that are rows. Are they?
softmax-suspected: Line {steps = } is right: minus the probabilities of the question that each answer belongs to.
one-hot-suspected: Line {steps[} is right: the one-hot vector of each chosen answer is added.
rate-suspected: Line {return} is right: every step moves the scores of its own question.
""",
)

# --- 7. which trainings make the answers in steps more frequent? -------------------------------------------------

START = 0.25
page = on_the_page("the five seeds of the page", (0.9, 0.3), (8, 1), [0, 1, 2, 3, 4])


def habits(draw: Draw) -> list[Case]:
    """Answers at once are better, and longer; then habits so alike that seeds differ, and a share may end below ½."""
    worse, better = draw.integer(1, 3) / 10, draw.integer(7, 9) / 10
    return [
        case("other habits", (worse, better), (draw.integer(1, 2), draw.integer(7, 9)), other_seeds(draw)),
        case("habits that are nearly alike", (0.55, 0.45), (5, 4), other_seeds(draw)),
    ]


WHICH_GROWS = ask(
    "rewards.which_grows",
    returns=("prediction", "shares", "signs"),
    properties=[
        predicted(0.25, page, 4),
        values("the shares of every seed", 4.25, page, habits, "shares", tolerance=1e-3),
        own_signs("shares", 2.5, Both((page, habits)), "shares", START),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- manual_seed(seed) → manual_seed(seeds[0])
not-restarted: Your second training goes on where the first one ended. Each training begins with θ from `begin`.
-     for baseline, divided in ((False, False), (False, True), (True, False), (True, True)):
-         theta, draw = begin(), torch.Generator().manual_seed(seed)
+     theta = begin()
+     for baseline, divided in ((False, False), (False, True), (True, False), (True, True)):
+         draw = torch.Generator().manual_seed(seed)
generator-shared: Your trainings share one generator, so they see different answers. Each begins again with the seed.
-     for baseline, divided in ((False, False), (False, True), (True, False), (True, True)):
-         theta, draw = begin(), torch.Generator().manual_seed(seed)
+     draw = torch.Generator().manual_seed(seed)
+     for baseline, divided in ((False, False), (False, True), (True, False), (True, True)):
+         theta = begin()
columns-in-another-order: Your trainings are in the wrong order: the first two have no baseline.
- ((False, False), (False, True), (True, False), (True, True))
+ ((False, False), (True, False), (False, True), (True, True))
lengths-swapped: You gave answers in steps the length of those at once. `tokens[0]` belongs to answers in steps.
- tokens[0], tokens[1] → tokens[1], tokens[0]
never-divided: Your trainings 2 and 4 are like 1 and 3. Divide by the length of each answer there.
- if divided else 1 → if False else 1
one-update-too-few: You take one update too few. There are 60.
- range(60) → range(59)
shares-of-theta: You return θ itself. The share of answers in steps is σ(θ).
- row.append(float(torch.sigmoid(theta))) → row.append(float(theta))
signs-of-the-shares: Your signs are those of the shares, which are always positive. Compare each share with `START`.
- share > START → share > 0
compared-with-a-half: You compared the shares with ½. They started at `START`.
- share > START → share > 0.5
signs-reversed: Your signs are reversed: 1 means that the share of answers in steps has grown.
- 1 if share > START else -1 → -1 if share > START else 1
compared-with-the-first-column: You compared each share with that of the first training. Compare it with the share at
the start.
- [1 if share > START else -1 for share in row] → [1 if share >= row[0] else -1 for share in row]
ones-and-zeros: You wrote 0 where a share has shrunk. It is −1.
- else -1 → else 0
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)

EXERCISES = exercises_in(__name__)
