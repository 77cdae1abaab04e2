# %% [markdown]
# # Assignment: rewards
#
# A small Transformer has learned sums from careless teachers, and about half of its answers are right. From now on nobody shows it a right answer: a
# program only says *right* or *wrong*. You write what turns these bits into learning, in four small functions. At the end they train that model live, in
# a few seconds. In between you derive a gradient, find a bug in somebody else's code, and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Rewards that can be checked*. Nothing is downloaded.
#
# | here | meaning |
# |---|---|
# | $x$, $y$ | a question (the *prompt*) and the model's answer |
# | $\pi(y \mid x)$ | the probability that the model answers $y$ |
# | $r(y)$ | the reward of an answer |
# | a group | all answers to the same question: a row of the tables (questions, samples) |

# %%
import copy
import math
import random

import torch
from IPython.display import HTML

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. How probable was the answer? [[rewards.answer_log_probs, 25 minutes, medium, core]]
#
# A language model reads a prompt and writes an answer, token by token. The probability of the answer is the product of the probabilities of its tokens,
# each given everything before it. So its logarithm is a sum:
#
# $$\ln \pi(y \mid x) = \sum_t \ln P(y_t \mid x, y_{<t}) .$$
#
# You get a batch of texts, each a prompt and the answer that the model wrote. All prompts have `prompt` tokens, and the answers are stored to the same
# length. These are the rules:
#
# - The prompt was given, so its tokens do not count. It may contain `eos`, too.
# - The answer ends with its first `eos`, *which counts*: the model decided to stop. What is stored after it does not count.
# - If there is no `eos`, the whole answer counts.
#
# `logits[:, t]` are the scores of the token that comes *after* position `t`. Return the log-probability of each answer, and how many tokens counted.
#
# By hand, with a prompt of two tokens, *a b*, and the stored answer *b eos a*:
#
# | position | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | token | a | b | b | eos | a |
# | its probability | | 0.3 | 0.5 | 0.2 | 0.9 |
#
# The answer has two tokens, and its log-probability is $\ln (0.5 \cdot 0.2) = -2.303$.
#
# [[checked]] At the end gradients will flow through your function, so compute with tensors from beginning to end.
#
# [[hints on the positions]]
# 1. Look at the table. At which position does the model say how probable the first token of the answer is?
# 2. The logits at one position belong to the token at the next. The last logits of all belong to no token. `log_softmax` and `gather` then
#    give the log-probability of each token.
# 3. The first useful logits are at position `prompt - 1`. `log_probs.gather(2, targets[:, :, None])` picks one number for each token.
#
# [[hints on the end]]
# 1. In the table, how many `eos` come before each token of the answer? For which tokens is that number 0?
# 2. A mask is true for every token that has no `eos` before it. A running sum of the ends counts them; `cumsum` includes the token itself.
# 3. With `ends` as integers, `ends.cumsum(1) - ends` is the number of ends *before* each token.


# %%
def answer_log_probs(logits, tokens, prompt, eos):
    """ln π(y | x) of every answer, and the number of its tokens.

    logits (n, time, V): at each position for the next token; tokens (n, time): prompt and answer;
    prompt: how many tokens the prompt has, at least 1; eos: an id -> (log_probs (n,), lengths (n,))
    """
    ### BEGIN SOLUTION
    targets = tokens[:, prompt:]
    log_probs = logits[:, prompt - 1 : -1].log_softmax(-1)
    each = log_probs.gather(2, targets[:, :, None])[:, :, 0]  # (n, answer)
    ends = (targets == eos).long()
    counted = ends.cumsum(1) - ends == 0
    return (each * counted).sum(1), counted.sum(1)
    ### END SOLUTION


# %% [markdown]
# ## 2. Better than what? [[rewards.group_advantages, 15 minutes, easy, core]]
#
# A reward of 1 says little if every answer to that question gets 1. So the model writes several answers to each question, a **group**, and each answer is
# compared with the mean reward of its group:
#
# $$A_i = r_i - \frac1n \sum_j r_j .$$
#
# GRPO (Shao et al. 2024) also divides this **advantage** by the standard deviation of the rewards in the group, here with $n - 1$ in its
# denominator. If all rewards of a group are equal, all its advantages are 0, with or without the division.
#
# By hand: the rewards $(1, 0, 0, 1)$ have the mean ½ and the standard deviation $\sqrt{1/3} = 0.577$. The advantages are $(\tfrac12, -\tfrac12, -\tfrac12, \tfrac12)$ without the
# division, and $(0.866, -0.866, -0.866, 0.866)$ with it.
#
# [[checked]] You may add a number up to 10⁻⁴ to the standard deviation, as common code does.
#
# [[hints]]
# 1. Which numbers belong to one group, a row or a column? What do you divide by if they are all equal?
# 2. Take the `mean` and the `std` along a row and keep that dimension, so that the shapes match. Where the deviation is 0, the quotient must not be
#    taken.
# 3. With `above` for the rewards less their mean, `torch.where(spread > 0, above / spread, 0.0)` leaves no NaN. `keepdim=True` keeps a dimension.


# %%
def group_advantages(rewards, by_sd):
    """How much better each answer is than the mean of its group.

    rewards (questions, samples), by_sd: whether to divide by the standard deviation -> advantages (questions, samples)
    """
    ### BEGIN SOLUTION
    above = rewards - rewards.mean(1, keepdim=True)
    if by_sd:
        spread = rewards.std(1, keepdim=True)
        above = torch.where(spread > 0, above / spread, 0.0)
    return above
    ### END SOLUTION


# %% [markdown]
# ## 3. One loss, several methods [[rewards.policy_loss, 30 minutes, hard, core]]
#
# The loss of $N$ answers whose gradient raises the probability of good answers is
#
# $$\mathrm{loss} = -\frac1N \sum_i \frac{A_i \ln \pi(y_i \mid x_i)}{L_i} .$$
#
# Methods differ in three choices, and your function has all of them:
#
# - **Division.** $L_i$ is the length of answer $i$ in GRPO as published, and the same constant for all answers in later work (Liu et al. 2025).
#   `divide_by` has one number for each answer, or is one number.
# - **Baseline.** With `baseline=True`, $A_i$ is the advantage of question 2 without its division. With `baseline=False` it is the reward itself.
# - **Leash.** Before anything else, each reward is reduced by a price on the distance from an earlier model $\pi_\mathrm{ref}$ (Ouyang et al. 2022).
#   It becomes $r_i - \beta\, \big(\ln \pi(y_i \mid x_i) - \ln \pi_\mathrm{ref}(y_i \mid x_i)\big)$.
#
# Return the loss, and its **slope** in each $\ln \pi(y_i \mid x_i)$. The $A_i$ are *constants* here, although the leash computes them with $\ln \pi$:
# an answer that was sampled has the reward that it got, and no gradient flows through it. You can write the slopes down, or let PyTorch differentiate.
#
# By hand: $\ln \pi = (-1, -2)$, rewards $(1, 0)$, one group, with the baseline and $\beta = 0$:
#
# | `divide_by` | $A$ | loss | slopes |
# |---|---|---|---|
# | 1 | ½, −½ | −½ (−½ + 1) = −0.25 | −0.25, 0.25 |
# | 1, 4 | ½, −½ | −½ (−½ + ¼) = 0.125 | −0.25, 0.0625 |
#
# With $\beta = \tfrac12$ and $\ln \pi_\mathrm{ref} = (-2, -2)$ the price of the first answer is ½, and the advantages are (¼, −¼).
#
# [[checked]]
#
# [[hints on the loss]]
# 1. In which order do the three choices come? Which of them changes the rewards, which the $A_i$, and which the sum?
# 2. First the price, then `group_advantages` or nothing, then one mean over all answers of all groups.
# 3. `rewards - beta * (log_probs - before)` are the rewards after the leash. If you differentiate, `detach` the advantages.
#
# [[hints on the slopes]]
# 1. Follow one answer through the first row of the table. By how much does the loss change if its $\ln \pi$ grows by 1?
# 2. The loss is linear in every $\ln \pi$, because the $A_i$ are constants. So the slope is what it is multiplied by.
# 3. Each answer has the slope −A / L / N, where N is `rewards.numel()`.


# %%
def policy_loss(log_probs, before, rewards, divide_by, beta, baseline):
    """The loss of some answers, and its slope in each of their log-probabilities.

    log_probs, before (questions, samples): ln π and ln π_ref of each answer; rewards (questions, samples);
    divide_by: the same shape, or a number; beta: a number; baseline: True or False
    -> (loss, slopes (questions, samples))
    """
    ### BEGIN SOLUTION
    priced = rewards - beta * (log_probs - before)
    worth = group_advantages(priced, False) if baseline else priced
    slopes = -worth / divide_by / rewards.numel()
    return (slopes * log_probs).sum(), slopes
    ### END SOLUTION


# %% [markdown]
# ## 4. One of k [[rewards.pass_at_k, 15 minutes, medium, core]]
#
# How often is at least one of $k$ answers right? For each question a model wrote $n \ge k$ answers, and $c$ of them are right. Choose $k$ of the $n$ at
# random, *without* putting any back. **pass@k** is the probability that at least one of them is right (Chen et al. 2021). This estimate has no bias: its
# mean over all possible samples is the probability that $k$ fresh answers contain a right one.
#
# Return the estimate for each question. By hand, with $n = 4$, $c = 1$, $k = 2$: there are 6 pairs, and 3 of them do not contain the right answer. So
# pass@2 is ½. (The shortcut $1 - (1 - c/n)^k$ gives 0.4375. It puts answers back, and is too low.)
#
# [[checked]] $n$ may be 1,000.
#
# [[hints]]
# 1. In the example, which pairs are counted? What has to be true of all members of a set that contains no right answer?
# 2. Count sets of $k$: all of them, and those with wrong answers only. `math.comb` counts them, and is 0 if there are fewer than $k$.
# 3. The wrong answers are `n - c` for each `c` in `right`. How many sets of `k` do they have?


# %%
def pass_at_k(n, right, k):
    """pass@k of every question.

    n: answers to each question, right: a list, how many of them are right; k, at most n -> a list of numbers
    """
    ### BEGIN SOLUTION
    return [1 - math.comb(n - c, k) / math.comb(n, k) for c in right]
    ### END SOLUTION


# %% [markdown]
# ## 5. Two answers [[rewards.two_answers, 20 minutes, medium, more]]
#
# The smallest policy has one parameter $\theta$ and two answers. It gives answer 1 with the probability $p = \sigma(\theta) = 1 / (1 + e^{-\theta})$, and
# answer 2 otherwise. Their rewards are $r_1$ and $r_2$. A single sampled answer $y$ suggests the step $(r(y) - b)\, \dfrac{d \ln \pi(y)}{d\theta}$, with
# some baseline $b$. On paper, derive three formulas:
#
# 1. The **slope** of the mean reward, $dJ / d\theta$. It is also the mean of the suggested step. Convince yourself that $b$ cancels.
# 2. The **calmest** baseline: the $b$ for which the suggested step has the smallest variance. Is it the mean reward?
# 3. The mean step if each suggestion is **divided** by the length of its answer, $n_1$ or $n_2$ tokens. Does $b$ still cancel?
#
# [[checked]] $\theta$, the rewards and $b$ are any numbers; lengths are positive.
#
# [[hints on the mean step]]
# 1. Which two steps can be suggested, and how often is each? Write them in two lines.
# 2. The derivative of $\ln \sigma(\theta)$ is $1 - p$, and that of $\ln (1 - \sigma(\theta))$ is $-p$. Weight each suggestion by its probability.
# 3. $p\,(1 - p)$ is a factor of both terms. In the third formula each of the two terms gets its own length.
#
# [[hints on the calmest baseline]]
# 1. The mean of the step does not depend on $b$. Which other mean should be as small as possible?
# 2. Differentiate the mean of the squared step in $b$, and set it to 0.
# 3. With $b$ at its minimum, $(1 - p)(r_1 - b) + p\,(r_2 - b) = 0$.


# %%
def two_answers(theta, r_1, r_2, b, n_1, n_2):
    """dJ/dθ, the baseline of the smallest variance, and the mean step with each suggestion divided by its length.

    theta: a number, r_1, r_2: rewards, b: a baseline, n_1, n_2: lengths -> (slope, calmest, divided), three numbers
    """
    ### BEGIN SOLUTION
    p = 1 / (1 + math.exp(-theta))
    slope = p * (1 - p) * (r_1 - r_2)
    calmest = (1 - p) * r_1 + p * r_2
    divided = p * (1 - p) * ((r_1 - b) / n_1 - (r_2 - b) / n_2)
    return slope, calmest, divided
    ### END SOLUTION


# %% [markdown]
# ## 6. Whose group?
#
# A friend tries all this with a **table** instead of a Transformer: `theta[q, a]` is the score of answer `a` to question `q`, and the softmax of a row
# gives the probabilities. She needs no autograd, since $\nabla \ln \pi(y)$ is the one-hot vector of $y$ minus the probabilities. With 8 questions and 8
# samples of each, her steps are right. With 5 questions and 8 samples of each the code runs as well, and its steps are wrong. One line is at fault.
#
# ### 6a. Which line? [[rewards.wrong_line, 10 minutes, medium, more]]
#
# [[listing rewards.update]]
#
# `chosen` is a flat list of answers: first all samples of the first question, then those of the second, and so on. Return the number of the wrong line, as in this
# listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 6b shows you an input.
#
# [[hints]]
# 1. Follow two questions of three samples each through the listing. In which line do the answers to one question come together?
# 2. Write down the shape of each tensor, with different numbers of questions and samples. Which shape is only right if both are equal?
# 3. The mean is taken over each row. What should a row contain, and how many rows should there be?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 10
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[rewards.update, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. In the input that the check shows, how many questions are there, and how many samples of each?
# 2. `view` fills the new table row by row. One row should contain the samples of one question.
# 3. The number of rows is the number of questions.


# %%
def update(theta, chosen, right, rate):
    """The scores after one step of learning from right or wrong.

    theta (questions, answers), chosen (questions * samples,), right (questions,): ids of answers -> as theta
    """
    ### BEGIN SOLUTION
    questions = len(theta)
    samples = len(chosen) // questions
    asked = torch.arange(questions).repeat_interleave(samples)
    rewards = (chosen == right[asked]).to(theta.dtype)
    groups = rewards.view(questions, -1)
    worth = (groups - groups.mean(1, keepdim=True)).flatten()
    steps = -torch.softmax(theta, 1)[asked]
    steps[torch.arange(len(chosen)), chosen] += 1
    return theta.index_add(0, asked, rate * worth[:, None] * steps / len(chosen))
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: who becomes frequent? [[rewards.which_grows, 35 minutes, medium, core]]
#
# A model has two habits. It works **in steps** with the probability $\sigma(\theta)$, and answers **at once** otherwise. An answer in steps is right with
# the probability `right[0]` and has `tokens[0]` tokens; for one at once these are `right[1]` and `tokens[1]`. The reward is 1 if it is right. Four
# trainings start from the same share of answers in steps, `START`:
#
# | training | baseline | $L_i$ |
# |---|---|---|
# | 1 | no | 1 |
# | 2 | no | the length of the answer |
# | 3 | yes | 1 |
# | 4 | yes | the length of the answer |
#
# On the page, answers in steps are right with 0.9 and have 8 tokens; at once it is 0.3 and 1 token. So the habit in steps deserves to grow.
#
# - **Predict.** In which training does the share of answers in steps *shrink*? Set `prediction` to its number, or to your first guess if you expect it
#   in several. It is kept as you wrote it, and it need not come true.
# - **Run.** Begin each training of each seed with $\theta$ from `begin` and a new generator with that seed. Take 60 updates: `attempt` samples answers,
#   your `policy_loss` gives the slopes (with $\beta = 0$, so `before` may be anything), and `move` makes the step. `shares` gets one row for each seed,
#   with the final shares $\sigma(\theta)$ of the four trainings in this order.
# - **Judge.** `signs` has the same shape: 1 where your share is above `START`, −1 where it is below. Compute it. The check also tries other habits, for
#   which other trainings shrink the share. Then run the cell below the check, and look at all five rows.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which loops do you need, one inside the other? What starts again for each training?
# 2. An update needs the log-probability of each sampled answer: that of the habit that it shows. `torch.where` chooses between two.
# 3. With p = `torch.sigmoid(theta)` the two log-probabilities are `p.log()` and `(1 - p).log()`. The lengths are chosen in the same way.
#
# [[hints on the signs]]
# 1. To which number is each share compared? Is it the same in all trainings?
# 2. One comparison for each share, in the same two loops or at the end.
# 3. `torch.sign` of a difference is 1 or −1.


# %%
START = 0.25


def begin():
    """θ for which the share of answers in steps is START."""
    return torch.tensor(START, dtype=torch.float64).logit()


def attempt(theta, right, draw):
    """8 answers to each of 4 sums: which of them are in steps, and their rewards; both (4, 8)"""
    in_steps = torch.rand(4, 8, generator=draw, dtype=torch.float64) < torch.sigmoid(theta)
    chance = torch.where(in_steps, right[0], right[1])
    return in_steps, (torch.rand(4, 8, generator=draw, dtype=torch.float64) < chance).double()


def move(theta, in_steps, slopes):
    """θ after one step downhill, from the slopes of the loss in the log-probabilities."""
    p = torch.sigmoid(theta)
    return theta - 2 * (torch.as_tensor(slopes) * torch.where(in_steps, 1 - p, -p)).sum()


# %%
def which_grows(right, tokens, seeds):
    """The final share of answers in steps of four trainings, for several seeds, and whether it has grown.

    right, tokens: two numbers each, for answers in steps and at once; seeds: a list
    -> (prediction, shares (seeds, 4), signs (seeds, 4))
    """
    ### BEGIN SOLUTION
    prediction = 2
    shares = []
    for seed in seeds:
        row = []
        for baseline, divided in ((False, False), (False, True), (True, False), (True, True)):
            theta, draw = begin(), torch.Generator().manual_seed(seed)
            for _ in range(60):
                in_steps, rewards = attempt(theta, right, draw)
                p = torch.sigmoid(theta)
                log_probs = torch.where(in_steps, p.log(), (1 - p).log())
                lengths = torch.where(in_steps, tokens[0], tokens[1]) if divided else 1
                _, slopes = policy_loss(log_probs, log_probs, rewards, lengths, 0.0, baseline)
                theta = move(theta, in_steps, slopes)
            row.append(float(torch.sigmoid(theta)))
        shares.append(row)
    signs = [[1 if share > START else -1 for share in row] for row in shares]
    return prediction, shares, signs
    ### END SOLUTION


# %%
show_rows(
    "rewards.which_grows", which_grows, "no baseline, 1", "no baseline, ÷ length", "baseline, 1", "baseline, ÷ length"
)

# %% [markdown]
# ## Your functions at work
#
# The model of the lecture has 105,472 parameters and two habits: a quarter of its answers are worked in steps, the others are given at once, with every
# carry forgotten. Your functions now train it, from right or wrong alone. There is nothing to write here. Run it when the checks above pass.

# %%
WANTED = {"answer_log_probs": answer_log_probs, "policy_loss": policy_loss}
ready = all(passes(f"rewards.{name}", function) for name, function in WANTED.items())
if ready:
    from lectures.recipes.sums import EOS, described, is_right, sums, write
    from lectures.trained import checkpoint

    base = checkpoint("sums").model
    held = sums(random.Random("held out"), 40, held=True)  # sums that the model has never seen


def texts(written):
    """The ids of prompts and answers, and how many of them are a prompt."""
    first = written.answers.tokens[:, :1]
    return torch.cat([first, written.answers.targets], 1), len("100+100=")


def log_probs_of(model, written):
    tokens, prompt = texts(written)
    return answer_log_probs(model(tokens)[0], tokens, prompt, EOS)


if ready:
    probe = log_probs_of(base, write(base, held[:1], 2, torch.Generator().manual_seed(0)))[0]
    ready = torch.is_tensor(probe) and probe.requires_grad
    if not ready:
        print(
            "No gradient flows through your `answer_log_probs`: it has to compute with tensors from beginning to end."
        )


def learn(reward, baseline=True, divided=False, beta=0.0, updates=16, seed=0):
    """A copy of the base after learning from this reward, and what it wrote at each update."""
    model, chance, draw = copy.deepcopy(base), random.Random(seed), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.0)
    history = []
    for _ in range(updates):
        written = write(model, sums(chance, 8), 8, draw)  # 8 answers to each of 8 sums
        rewards = torch.tensor([float(reward(*one)) for one in zip(written.sums, written.texts, strict=True)])
        now, lengths = log_probs_of(model, written)
        with torch.no_grad():
            before = log_probs_of(base, written)[0]
        lengths = torch.as_tensor(lengths).view(8, 8) if divided else 20.0
        rows = (now.detach().view(8, 8), torch.as_tensor(before).view(8, 8), rewards.view(8, 8))
        _, slopes = policy_loss(*rows, lengths, beta, baseline)
        optimiser.zero_grad()
        now.backward(torch.as_tensor(slopes).reshape(-1).to(now.dtype))  # your slopes, then PyTorch's chain rule
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        history.append(described(written))
    return model, history


runs = {}
if ready:
    runs["summed"] = learn(is_right)
    runs["÷ length, no baseline"] = learn(is_right, baseline=False, divided=True)
    for name, (model, _) in {"before": (base, []), **runs}.items():
        found = described(write(model, held, 8, torch.Generator().manual_seed(1)))
        print(f"{name:22} {found['right']:4.0%} of held-out sums right, {found['length']:4.1f} characters")
    for a, b in held[:3]:
        one = [
            write(model, [(a, b)], 1, torch.Generator().manual_seed(1)).texts[0] for model in (base, runs["summed"][0])
        ]
        print(f"{a}+{b}   before: {one[0]:8} after: {one[1]}")

# %%
picture = "Come back here when questions 1 to 3 pass."
if runs:
    curves = {name: [row["right"] for row in history] for name, (_, history) in runs.items()}
    ends = "; ".join(f"{name} {found[0]:.2f} to {found[-1]:.2f}" for name, found in curves.items())
    picture = HTML(
        show.lines_svg(
            range(1, 17),
            curves,
            x_title="update",
            y_title="share of right answers",
            low=0,
            high=1,
            alt=f"Share of right answers against the update, for two methods. From the first to the last: {ends}.",
        )
    )
picture

# %% [markdown]
# One seed and one base show that it works, no more; the lecture has ten seeds. And how good was the model before, if it may try more than once?

# %%
if runs and passes("rewards.pass_at_k", pass_at_k):
    for name, model in (("before", base), ("after", runs["summed"][0])):
        written = write(model, held, 32, torch.Generator().manual_seed(2))
        hits = torch.tensor(list(map(is_right, written.sums, written.texts))).view(-1, 32).sum(1)
        right = [int(c) for c in hits]
        rates = {k: float(torch.as_tensor(pass_at_k(32, right, k)).mean()) for k in (1, 4, 16)}
        print(f"{name:8}", "  ".join(f"pass@{k} {rate:.2f}" for k, rate in rates.items()))
else:
    print("Come back here when question 4 passes as well.")

# %% [markdown]
# **If you have time:** `learn` takes any reward. Try `learn(lambda pair, text: len(text) / 40, updates=30)`, a judge who likes length, and then the same
# with a leash, `beta=0.01`.

# %% [markdown]
# ## 8. In your own words [[written, 20 minutes, 5 points, core]]
#
# In about ten sentences, with numbers from *your* output:
#
# 1. Your model's answers became longer. A colleague concludes that rewards for right answers teach a model to think longer. What else could it be, and
#    which training would decide?
# 2. In your experiment one training shrinks the share of answers in steps, although these are right more often. Explain it: what does a single right
#    answer of each kind do to the probabilities, and how often does it occur?
# 3. A friend holds out the sums with `(1009 * a + 31 * b) % 10 == 0`. Which sums are these, and why should nobody trust the accuracy on them?
# 4. Before the training, one answer was right about half of the time. What does pass@16 before the training say about the claim that the rewards
#    taught the model something new?
#
# ### BEGIN MARK SCHEME
# Half points are fine.
#
# 1. **Length** (1½): the habit that is right happens to be the long one (½); a base whose long habit is wrong, or whose short one is right (½), with
#    what each explanation predicts there: its answers shrink, or grow all the same (½). A reward for wrong answers on the same
#    base is as good. A coin as reward is worth ½ as a control, but it does not separate the two.
# 2. **Division** (1½): without a baseline every right answer pushes itself up (½); after the division a right short answer pushes 8 times as hard for
#    each token (½); 0.9 / 8 is less than 0.3 / 1, or the signs of all five seeds (½).
# 3. **Hold-out** (1): modulo 10 the rule is (9a + b), so the last digits of a and b agree (½); the held-out sums are of a special kind, so the accuracy
#    says nothing about the others: their carries are not those of other sums, and 10 of 100 pairs of last digits are never trained (½).
# 4. **New** (1): pass@16 before was near 1, so nearly all these sums had been solved sometimes (½); one try became more reliable, and this task cannot
#    show that anything was added (½). The sentence "so nothing new was learned" claims too much.
# ### END MARK SCHEME

# %% [markdown]
# On held-out sums my model went from 46 % to 75 % right, and from 10 to 23 characters. That rewards teach it to think longer is one explanation. The other
# one is that it had two habits, and the one that earns more happens to be long. A base whose teachers make mistakes in their long answers would decide:
# if length itself pays, its answers should grow as well, and if the better habit is what grows, they should shrink.
#
# Without a baseline every right answer makes itself more probable, and no answer ever less. With a division by length, a right answer at once pushes with
# 1, and a right one in steps with 1/8. So for the shares it counts that 0.3 · 1 is more than 0.9 / 8, and in all five seeds the share of answers in steps
# fell. With the baseline, wrong answers are pushed down. Answers at once are more often wrong than right, so they lose more than they gain, and the share
# of answers in steps grows.
#
# Modulo 10 the rule is 9a + b, which is 0 exactly if both numbers have the same last digit. These are special sums: their last column has only ten pairs
# of digits, and no training sum has any of these. So the accuracy on them says little about other sums. A hash of the text would hold out a tenth of each
# kind.
#
# Before the training 16 tries nearly always contained a right answer. So the right answers were there, and rewards made them probable. Whether
# they also add something cannot be seen here, because there is no room above.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `rewards.ipynb`.
