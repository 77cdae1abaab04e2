# %% [markdown] slideshow={"slide_type": "slide"}
# # Rewards that can be checked
#
# A program can check whether a sum is right, or whether code passes its tests. Learning from such checks is called **reinforcement learning with verifiable rewards** (RLVR; Lambert et al. 2024). **What does a language model learn if a program only says whether its answer is right?**
#
# <img src="figures/right_or_wrong.svg" width="760" alt="Four answers of a model to two sums, with and without steps. A program marks two of them as right and two as wrong.">
#
# *The model writes, and a program checks. The reward is one bit.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - derive the policy gradient, and say what a baseline may depend on;
# - write the core of GRPO, and test which of its parts a task needs;
# - name the control for a claim about the length of answers;
# - estimate pass@k without bias, and say when a vote helps;
# - recognise an exploited reward, and keep a model near its base with a KL penalty.
#
# **You need** [lecture 3](03_backpropagation.ipynb) (softmax, $p - y$), [lecture 9](09_decoding.ipynb) (sampling) and [lecture 24](24_assistant.ipynb) (preference tuning, the KL divergence).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 6 | 12 | 9 | 7 | 9 | 9 | 9 | 4 |
#
# The minutes are for a class. If you work alone, plan 90 minutes. Section 5 can wait. Two cells train a model live, for a few seconds each. `python -m lectures.recipes checked_rewards` repeats the stored results.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 5 and the widget of section 2. Sections 3, 4 and 7 carry the message.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import copy
import random
from statistics import mean

import torch
from IPython.display import HTML

from lectures import show, stored, widgets
from lectures.recipes.sums import TYPICAL, at_once, described, final, is_right, sums, write
from lectures.trained import checkpoint
from nlmcore.metrics.significance import paired
from nlmcore.training import clip_gradients

torch.set_num_threads(1)
base = checkpoint("sums").model
result = stored("checked_rewards")
rows, before, attempts, judged = (result[key] for key in ("rows", "before", "attempts", "judged"))
swapped, longer, chance_row = rows["swapped"], rows["swapped, longer"], rows["random"]


def pc(values):
    """The mean of some shares, in percent."""
    return f"{100 * mean(values):.0f}"


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A model with two habits
#
# Our model is a Transformer with 105,472<!--[[sum(p.numel() for p in base.parameters()):,]]--> parameters. It has learned sums of three-digit numbers from two kinds of careless teachers. A quarter of them work **in steps**: they add the columns, units first, and write each carry down. Such written steps are called a **chain of thought** (Wei et al. 2022). Of the steps of these teachers, 3 % are off by one. The other teachers answer **at once** and forget every carry:
#
# | | the answer to `347+286=` |
# |---|---|
# | in steps | `7+6=13,4+8+1=13,3+2+1=06;633` |
# | at once | `523` |
#
# The model imitates both kinds. We sample its answers at temperature 1. A tenth of all sums, chosen by a hash, is held out. We measure accuracy before and after training on these held-out sums. The curves *during* training come from the sums that the model trains on.

# %% slideshow={"slide_type": "fragment"}
held_out = sums(random.Random(1), 200, held=True)
answers = write(base, held_out, 1, torch.Generator().manual_seed(0))
for (a, b), text in list(zip(answers.sums, answers.texts, strict=True))[:6]:
    print(f"{a}+{b}={text}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
hows = {"in steps": "right in steps", "at once": "right at once", "together": "right"}
two_habits = show.table(
    [(name, f"{before['forget'][how]:.2f}") for name, how in hows.items()], ["answers", "right"]
)
show.predict(
    "A teacher who forgets every carry is right only if no column has a carry. The digits are random. The result always has three digits, so only the last two columns can have a carry. How often is this teacher right?",
    choices={"about 5 %": 0.05, "about 30 %": 0.3, "about 60 %": 0.6},
    answer=mean(
        float(a % 10 + b % 10 < 10 and a // 10 % 10 + b // 10 % 10 < 10) for a, b in held_out
    ),
    why="Of the 100 pairs of digits, 55 have a sum below ten. Both columns must be such pairs, and 0.55² is about 0.3. Where the model answers at once, it is right about as often as these teachers.",
    reveals=two_habits,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **The better habit is the rarer one.** The model has both habits before it gets any reward.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Let the room add 347 and 286 in both ways. Ask how they would split the sums into training and test sets, and show a trap: the rule `(1009*a + 31*b) % 10 == 0` looks random, but it only says that the last digits agree. What goes wrong: "it cannot add". It can, if it works in steps.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. From a reward to a gradient
#
# The model $\pi$ answers a question $x$ with $y$ and earns the reward $r(y)$: 1 if the answer is right, else 0. We want to raise the mean reward
#
# $$J = \sum_y \pi(y \mid x)\, r(y).$$
#
# We cannot differentiate through the sampling of a text or through the checker, but we can differentiate the probabilities in $J$. With the **log-derivative trick**, $\nabla \pi = \pi\, \nabla \log \pi$,
#
# $$\nabla J = \sum_y \nabla \pi(y \mid x)\, r(y) = \sum_y \pi(y \mid x)\, r(y)\, \nabla \log \pi(y \mid x) = \mathbb{E}\big[r(y)\, \nabla \log \pi(y \mid x)\big].$$
#
# In reinforcement learning $\pi$ is called a *policy*, and $\nabla J$ the **policy gradient**. The last expression is a mean over answers that the model samples. So we sample answers, and raise the log-probability of each in proportion to its reward. This estimate of the policy gradient is called REINFORCE (Williams 1992). The log-probability of an answer is the sum of those of its tokens.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **With a pencil.** Suppose there are three answers to `347+286=`:
#
# | answer | 523 | 633 | 643 |
# |---|---|---|---|
# | $\pi$ | 0.6 | 0.3 | 0.1 |
# | $r$ | 0 | 1 | 0 |
#
# Here $\pi$ is a softmax of three scores. The gradient $\nabla \log \pi(y)$ with respect to the scores is the one-hot vector of $y$ minus $\pi$, which is the $p - y$ of [lecture 3](03_backpropagation.ipynb) with the opposite sign. For one sampled answer the *step* is $r(y)\, \nabla \log \pi(y)$. The expected step is $\nabla J$.

# %% slideshow={"slide_type": "fragment"}
pi = torch.tensor([0.6, 0.3, 0.1])
r = torch.tensor([0.0, 1.0, 0.0])
slopes = torch.eye(3) - pi  # row y: the gradient of log π(y) with respect to the scores


def expected_step(baseline):
    """The mean over answers of (r − baseline) ∇ log π, and its standard deviation."""
    steps = (r - baseline)[:, None] * slopes
    expected = pi @ steps
    return expected, float((pi @ (steps - expected).square().sum(1)).sqrt())


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "What is the expected step for the score of 633, the right answer? Compute it by hand.",
    within=0.011,
    answer=float(expected_step(0.0)[0][1]),
    why="Only 633 is rewarded: 0.3 · 1 · (1 − 0.3). In general the expected step for a score is π(r − J). It is positive if the reward of this answer is above the mean reward J, and negative if it is below.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A baseline.** Subtract the same number $v$ from every reward, and the expected step becomes
#
# $$\mathbb{E}\big[(r(y) - v)\, \nabla \log \pi(y \mid x)\big] = \nabla J - v \sum_y \nabla \pi(y \mid x).$$

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
same = torch.allclose(expected_step(0.3)[0], expected_step(0.0)[0])
calmer = expected_step(0.3)[1] < expected_step(0.0)[1]
kinds = {
    (True, True): "only the spread",
    (False, True): "both",
    (False, False): "only the expected step",
}
show.predict(
    "We subtract the mean reward, 0.3, from every reward. What changes: the expected step, the spread of a single step around it, or both?",
    choices=list(kinds.values()),
    answer=kinds[(same, calmer)],
    why="The probabilities sum to 1 whatever the scores are, so the gradient of their sum is 0. Move the baseline to find the value at which the spread is smallest.",
    reveals=widgets.baseline_player(
        dict(zip(("523", "633", "643"), pi.tolist(), strict=True)),
        dict(zip(("523", "633", "643"), r.tolist(), strict=True)),
    ).opens(b=0.3),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without a baseline a single step has a standard deviation of 0.42<!--[[expected_step(0.0)[1]:.2f]]-->. A baseline of 0.3 lowers it to 0.27<!--[[expected_step(0.3)[1]:.2f]]-->, and one of −1 raises it to 1.11<!--[[expected_step(-1.0)[1]:.2f]]-->. The expected step is the same each time.
# - The baseline may depend on the question, but not on the answer.
# </details>
#
# **A baseline that does not depend on the answer does not change the expected step. It changes the spread, and a good baseline makes the spread smaller.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# **PPO** (Schulman et al. 2017) trains a second network that predicts the baseline, and clips steps that move the model too far from the one that wrote the samples. **GRPO** (Shao et al. 2024, section 4.1) needs no second network. Its baseline is the mean reward of a group of $n$ answers to the same question, and the **advantage** of an answer is
#
# $$A_i = r_i - \frac1n \sum_j r_j, \qquad \text{loss} = -\frac1n \sum_i A_i\, \log \pi(y_i \mid x).$$
#
# The group's mean contains $r_i$ itself, which shortens the expected step to $(1 - \frac1n)\, \nabla J$ and keeps its direction. As published, GRPO also divides each answer's term by its length (section 5), adds a KL penalty (section 7), and divides $A_i$ by the standard deviation of the group's rewards. We did not measure the effect of this last division. GRPO also clips as PPO does, but clipping changes nothing if each batch is used for only one step, as here.

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Write the derivation on the board and let the room find the step where sampling enters. What goes wrong: "we differentiate the reward". Ask what happens to a group in which all answers are right (nothing: all advantages are 0).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Sixteen updates of right and wrong
#
# In each of sixteen updates, the model samples 8 answers to each of 8 training sums, a program checks them, and the optimiser makes one step. The loss is divided by `TYPICAL`, a constant number of tokens, and not by the length of each answer.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
from nlmcore.transfer.rewards import group_advantages, policy_loss
from nlmcore.transfer.tuning import log_probs

torch.manual_seed(0)
model, chance, generator = copy.deepcopy(base), random.Random(0), torch.Generator().manual_seed(0)
optimiser = torch.optim.AdamW(model.parameters(), lr=rows["mean"]["rate"], weight_decay=0.0)
history = []
for _ in range(16):
    written = write(model, sums(chance, 8), 8, generator)
    rewards = torch.tensor(list(map(is_right, written.sums, written.texts)))
    advantages = group_advantages(rewards.view(8, 8)).flatten()  # 0 where a group agrees
    loss = policy_loss(log_probs(model, written.answers), advantages, TYPICAL)
    optimiser.zero_grad()
    loss.backward()
    clip_gradients(list(model.parameters()), 1.0)
    optimiser.step()
    history.append((described(written), written))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
first, last = (mean(of["length"] for of, _ in part) for part in (history[:3], history[-3:]))
show.predict(
    "The reward says nothing about length. What happens to the length of the answers?",
    choices=["they become shorter", "they stay as long as they were", "they become longer"],
    answer="they become longer"
    if last > 1.3 * first
    else "they become shorter"
    if last < first / 1.3
    else "they stay as long as they were",
    why="More and more of the answers are worked in steps. Move the slider from update to update and read them.",
    reveals=widgets.answers_player(
        [row for row, _ in history],
        [
            [f"{a}+{b}={text}" for (a, b), text in list(zip(w.sums, w.texts, strict=True))[:24:8]]
            for _, w in history
        ],
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **One bit for each of 1,024 answers was enough to make the model answer mostly in steps<!--[[? min(*rows["mean"]["steps"], mean(of["steps"] for of, _ in history[-3:])) > 0.5 > max(chance_row["steps"])]]-->.** In these updates nobody showed it a right answer. Section 4 shows what happens if the bits say nothing about the sum.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Start the cell, and let the room vote on the length while it runs. What goes wrong: "it has learned to add". Ask which of these answers the base could not have written.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Why do the answers get longer?
#
# Two explanations fit. Perhaps writing more *is* better, and learning from rewards discovers that. Or the model moves to whichever of its habits earns more, and here that is the long one.
#
# Two controls can separate them. The first keeps the base, which is the model before this training, and reverses the reward: it rewards *wrong* answers. The second keeps the reward but starts from a **swapped base**, in which the long habit is the wrong one. To make it, we trained the first base further with other teachers. Three quarters of them work in steps but add one too many in the units column, so they are never right. The others answer at once, as before. We also run the first base with a reward that says nothing about the sum. For each distinct answer to a sum we toss a coin, and the coin decides whether this answer is rewarded.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
started = {
    "first base, checked": (before["forget"], rows["mean"]),
    "first base, rewarded if wrong": (before["forget"], rows["wrong"]),
    "swapped base, checked": (before["swapped"], swapped),
    "first base, a coin": (before["forget"], chance_row),
}
forms = {"right": ".2f", "length": ".1f"}
by_reward = show.table(
    [
        (name, *(f"{start[k]:{form}} → {mean(row[k]):{form}}" for k, form in forms.items()))
        for name, (start, row) in started.items()
    ],
    ["", "right", "characters"],
)
change = mean(swapped["length"]) / before["swapped"]["length"]
in_steps = mean(rows["mean"]["steps"])
by_choice = (
    in_steps * before["forget"]["right in steps"]
    + (1 - in_steps) * before["forget"]["right at once"]
)
show.predict(
    "The swapped base learns from the same checker. What happens to the length of its answers?",
    choices=["they become shorter", "they stay as long as they were", "they become longer"],
    answer="they become shorter"
    if change < 0.75
    else "they become longer"
    if change > 1.33
    else "they stay as long as they were",
    why="In this base the short habit earns more, and the model moves to it. But sixteen updates are few.",
    reveals=by_reward,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With the checker, the first base goes from 46<!--[[f"{100 * before['forget']['right']:.0f}"]]--> % to 79<!--[[pc(rows["mean"]["right"])]]--> % right, and from 9<!--[[f"{before['forget']['length']:.0f}"]]--> to 23<!--[[f"{mean(rows['mean']['length']):.0f}"]]--> characters (means over ten<!--[[words(len(rows["mean"]["right"]))]]--> seeds). Each seed samples different sums and answers, but we trained only one base of each kind.
# - **Did it also learn to add better?** Of the answers in steps, 92<!--[[f"{100 * before['forget']['right in steps']:.0f}"]]--> % were right before, and 89<!--[[pc(rows["mean"]["right in steps"])]]--> % are right afterwards. If each habit had kept its accuracy, the new shares of the two habits would give 81<!--[[f"{100 * by_choice:.0f}"]]--> % right answers, more than we measured. So the gain comes from the choice between the two habits<!--[[? mean(rows["mean"]["right"]) < by_choice]]-->.
# - Rewarded for wrong answers, the same base ends at 27<!--[[pc(rows["wrong"]["right"])]]--> % right and 5<!--[[f"{mean(rows['wrong']['length']):.0f}"]]--> characters. In this base the short habit is more often wrong<!--[[? before["forget"]["right at once"] < before["forget"]["right in steps"] and max(rows["wrong"]["length"]) < before["forget"]["length"]]]-->.
# - In the swapped base, answers shrink from 23<!--[[f"{before['swapped']['length']:.0f}"]]--> to 12<!--[[f"{mean(swapped['length']):.0f}"]]--> characters in sixteen updates, in each of the seeds<!--[[? max(swapped["length"]) < before["swapped"]["length"]]]-->. Accuracy rises from 5<!--[[f"{100 * before['swapped']['right']:.0f}"]]--> % to 29<!--[[pc(swapped["right"])]]--> %.
# - If a coin decides the reward, the first base ends at 41<!--[[pc(chance_row["right"])]]--> % right and 10<!--[[f"{mean(chance_row['length']):.0f}"]]--> characters.
# </details>
#
# > **Ask yourself.** In the swapped base none<!--[[? before["swapped"]["right in steps"] == 0]]--> of 400 test answers was in steps *and* right. Suppose that this base learns for 64 updates instead of sixteen. Do its answers stay short?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
grown = [length > before["swapped"]["length"] for length in longer["length"]]
HTML(
    show.bands_svg(
        range(1, 65),
        {
            name: [
                run["length"]
                for run, grew in zip(longer["curves"], grown, strict=True)
                if grew is kind
            ]
            for name, kind in (("seeds that end longer", True), ("seeds that do not", False))
        },
        x_title="update",
        y_title="characters",
        low=0,
        high=30,
        height=320,
        alt=f"Length of the swapped base's answers over 64 updates. In {sum(grown)} of {len(grown)} seeds they become shorter and then longer than at the start, in the others they stay short.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# In six<!--[[words(sum(grown))]]--> of ten<!--[[words(len(grown))]]--> seeds the answers do not stay short. They shrink, grow again, and end at 25<!--[[f"{min(n for n in longer['length'] if n > before['swapped']['length']):.0f}"]]--> to 28<!--[[f"{max(longer['length']):.0f}"]]--> characters, and at least 83<!--[[f"{100 * min(right for right, grew in zip(longer['right'], grown, strict=True) if grew):.0f}"]]--> % of them are right. In the other four<!--[[words(len(grown) - sum(grown))]]--> seeds they are still short after 64 updates, and at most 38<!--[[f"{100 * max(right for right, grew in zip(longer['right'], grown, strict=True) if not grew):.0f}"]]--> % are right.
#
# **The same base writes longer answers if right ones are rewarded, and shorter answers if wrong ones are rewarded<!--[[? min(rows["mean"]["length"]) > 1.5 * before["forget"]["length"] and max(rows["wrong"]["length"]) < before["forget"]["length"]]]-->. So nothing here shows that length by itself helps.** Whether the answers of the swapped base end shorter or longer depends on the seed, and on when we stop.

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask for the control before you show it. What goes wrong: "the model has discovered reasoning". Both ways of writing were taught, and the reward chose between them.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Which part of GRPO is needed?
#
# GRPO subtracts the group's mean, and divides the loss of each answer by its length. Which of the two does this task need?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Rewards are 1 and 0, no baseline is subtracted, and nothing is divided by length. Up to a constant factor, which of these training methods has the same loss?",
    choices=[
        "cross-entropy on the model's own right answers",
        "cross-entropy on all of its answers",
        "DPO on pairs of a right and a wrong answer",
    ],
    answer="cross-entropy on the model's own right answers",
    why="Wrong answers have weight 0 and right ones weight 1, so the loss is −log π summed over the right answers. Repeated with fresh samples, this is known as expert iteration (Anthony et al. 2017) or rejection-sampling fine-tuning.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# With or without each of the two parts, there are four variants. All start from the same base and use equally many samples, with the same ten<!--[[words(len(rows["mean"]["right"]))]]--> seeds and one learning rate. Then we repeat all runs at twice the rate.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
names = {
    "mean": "mean subtracted",
    "mean, by length": "mean subtracted, ÷ length",
    "none": "no baseline",
    "none, by length": "no baseline, ÷ length",
}
fast = {name: rows[name]["right at 0.001"] for name in names}  # the same seeds at twice the rate
baseline_free = paired(fast["mean"], {"none": fast["none"]})[0]["none"]
compared, layout = paired(
    rows["mean"]["right"],
    {name: rows[name]["right"] for name in names if name != "mean"},
)
four_cells = show.table(
    [
        (
            variant,
            f"{mean(rows[name]['right']):.2f}",
            " ".join(f"{value:.2f}" for value in rows[name]["right"]),
            f"{mean(fast[name]):.2f}",
        )
        for name, variant in names.items()
    ],
    ["", "right", "by seed", "right at twice the rate"],
)
tokens = {"in steps": 29, "at once": 4}  # of an answer, with its <eos>
weight = {how: before["forget"][f"right {how}"] / n for how, n in tokens.items()}
least = min(names, key=lambda name: mean(rows[name]["right"]))
own = paired(rows["offline"]["right"], {"none": rows["none"]["right"]})[0]["none"]
of_right = (
    100
    * before["forget"]["steps"]
    * weight["in steps"]
    * tokens["in steps"]
    / before["forget"]["right"]
)
show.predict(
    "Which of the four variants gives the fewest right answers after sixteen updates?",
    choices=list(names.values()),
    answer=names[least],
    why="With the division, each token of an answer at once weighs seven times as much as one of an answer in steps: 1/4 compared with 1/29. Liu et al. (2025, section 3) derive this preference for short right answers.",
    reveals=[four_cells, widgets.methods_player(rows)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Only one variant does not improve. Without a baseline and with the division by length, 41<!--[[pc(rows["none, by length"]["right"])]]--> % of the answers are right, compared with 46<!--[[f"{100 * before['forget']['right']:.0f}"]]--> % of the base's answers. The answers shrink to 7<!--[[f"{mean(rows['none, by length']['length']):.0f}"]]--> characters on average; the means of the seeds range from 5.2<!--[[f"{min(rows['none, by length']['length']):.1f}"]]--> to 8.8<!--[[f"{max(rows['none, by length']['length']):.1f}"]]--><!--[[? max(rows["none, by length"]["right"]) < before["forget"]["right"] + 0.05]]-->. This variant does not improve at twice the rate either (41<!--[[pc(fast["none, by length"])]]--> %<!--[[? mean(fast["none, by length"]) < before["forget"]["right"]]]-->).
# - **Why?** If the loss is divided by length, the gradient moves the model towards the habit with the larger mean of $A / \text{length}$. Without a baseline, $A$ is the reward. So this mean is 0.92<!--[[before["forget"]["right in steps"]:.2f]]--> / 29 = 0.03<!--[[weight["in steps"]:.2f]]--> for answers in steps, which have 29 tokens, and 0.32<!--[[before["forget"]["right at once"]:.2f]]--> / 4 = 0.08<!--[[weight["at once"]:.2f]]--> for answers at once, which have 4. With the group's mean subtracted, the second value is negative<!--[[? before["forget"]["right at once"] < before["forget"]["right"] < before["forget"]["right in steps"]]]-->.
# - The other three variants end at 78<!--[[pc(rows["mean, by length"]["right"])]]--> to 80<!--[[pc(rows["none"]["right"])]]--> %, and paired tests find no difference between the variant that only subtracts the mean and the other two<!--[[? all(compared[name].corrected > 0.05 for name in ("mean, by length", "none"))]]-->. With ten<!--[[words(len(rows["mean"]["right"]))]]--> seeds, such a test detects a difference of 4<!--[[f"{100 * layout.detectable(3):.0f}"]]--> points with a probability of 80 %, and smaller ones less often.
# - **Must the answers be the model's own?** At this learning rate it helps if they are. In another run (*offline*) all the answers, equally many, come from the *base*. Then cross-entropy on the right ones ends 16<!--[[100 * own.difference:.0f]]--> ± 2<!--[[100 * own.half:.0f]]--> points lower<!--[[? own.difference > own.half]]-->. This model imitates the base's right answers, and 47<!--[[of_right:.0f]]--> % of those are in steps. At the end, 52<!--[[pc(rows["offline"]["steps"])]]--> % of its own answers are in steps. If the model learns from its own answers, the selection is repeated at every update.
# - **Does the order depend on the rate?** Yes. At twice the rate, 84<!--[[pc(fast["none"])]]--> % of the answers are right without a baseline and without the division, 6<!--[[100 * baseline_free.difference:.0f]]--> ± 4<!--[[100 * baseline_free.half:.0f]]--> points more than with the mean subtracted<!--[[? baseline_free.difference > baseline_free.half]]-->. We do not know why.
# </details>
#
# **From this base, dividing by length without a baseline brings no gain, and subtracting the group's mean repairs this, at both rates<!--[[? all(mean(of["mean, by length"]) > mean(of["none, by length"]) + 0.3 for of in (fast, {name: rows[name]["right"] for name in names}))]]-->.** Without the division, subtracting the mean did not help. At the lower rate cross-entropy on the model's own right answers did about as well (a difference below 4<!--[[f"{100 * layout.detectable(3):.0f}"]]--> points could have escaped us), and at the higher rate it did better.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room fill in the table of weights for a right short, a right long and a wrong answer in all four variants. What goes wrong: the winner of one task is taken for the better method.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. One try, or many?
#
# Instead of training the base, we can let it try $k$ times. This spends more operations when the model answers (**test-time compute**). If $c$ of $n$ samples are right, the fraction of sets of $k$ samples that contain a right one is
#
# $$\text{pass@}k = 1 - \binom{n-c}{k} \Big/ \binom{n}{k},$$
#
# an unbiased estimate of the probability that at least one of $k$ tries is right (Chen et al. 2021, section 2.1). If nobody can check the $k$ answers, they can still **vote**: we return the most frequent one (**self-consistency**, Wang et al. 2023).
#
# We compare the first base with a third one. To make it, we trained the first base further with teachers who do one thing differently: if an answer at once is wrong, they also replace one of its digits by a random one. Wrong answers of the first base often **agree**, and those of the third base **scatter**.

# %% slideshow={"slide_type": "fragment"}
from nlmcore.metrics.attempts import majority

asked = held_out[:40]
many = write(base, asked, 64, torch.Generator().manual_seed(2))
voted = [majority([final(text) for text in many.texts[64 * i :][:64]]) for i in range(len(asked))]
wrong = [(pair, vote) for pair, vote in zip(asked, voted, strict=True) if vote != str(sum(pair))]
carryless = sum(vote == at_once(*pair, random.Random(0)) for pair, vote in wrong)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
votes = {
    name: {k: mean(run["vote"][k] for run in attempts[key]) for k in ("1", "64")}
    for name, key in (("agree", "forget"), ("scatter", "scatter"))
}
kinds = {
    (True, True): "in both",
    (True, False): "where they agree",
    (False, True): "where they scatter",
    (False, False): "in neither",
}
regrown = [
    run["pass"] for run, grew in zip(attempts["swapped, longer"], grown, strict=True) if grew
]
both_votes = show.table(
    [(name, f"{of['1']:.2f}", f"{of['64']:.2f}") for name, of in votes.items()],
    ["wrong answers", "one sample right", "vote of 64 right"],
)
show.predict(
    "In which of the two bases is the vote of 64 answers right more often than a single answer?",
    choices=list(kinds.values()),
    answer=kinds[tuple(of["64"] > of["1"] + 0.02 for of in votes.values())],
    why="A vote returns the most frequent answer. It removes errors that differ, and it amplifies an error that many samples share.",
    reveals=[
        both_votes,
        widgets.votes_player(
            {
                "wrong answers agree": attempts["forget"],
                "wrong answers scatter": attempts["scatter"],
                "after rewards": attempts["after"],
            },
            "wrong answers agree",
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In the cell above, the first base votes on 40<!--[[len(asked)]]--> sums. Of these votes 26<!--[[len(wrong)]]--> are wrong, and 26<!--[[carryless]]--> of those are exactly the sum without its carries.
# - Where wrong answers agree, a vote of 64 is right in 35<!--[[pc([votes["agree"]["64"]])]]--> % of the sums and a single answer in 46<!--[[pc([votes["agree"]["1"]])]]--> %. Where they scatter, the vote is right in 57<!--[[pc([votes["scatter"]["64"]])]]--> % and a single answer in 34<!--[[pc([votes["scatter"]["1"]])]]--> %. In each of the seeds the vote is worse than a single answer in the first base, and better in the third<!--[[? all((run["vote"]["64"] > run["vote"]["1"]) == (key == "scatter") for key in ("forget", "scatter") for run in attempts[key])]]-->.
# - With 64 tries the first base solves 100<!--[[pc(run["pass"]["64"] for run in attempts["forget"])]]--> % of the sums, and with 4 tries 73<!--[[pc(run["pass"]["4"] for run in attempts["forget"])]]--> %. After learning from rewards, a single try is right in 78<!--[[pc(run["pass"]["1"] for run in attempts["after"])]]--> %.
# - With 64 tries the *swapped* base solves only 44<!--[[pc(run["pass"]["64"] for run in attempts["swapped"])]]--> % of the sums. After the 64 updates of section 4, the six<!--[[words(len(regrown))]]--> seeds whose answers ended longer solve at least 96<!--[[f"{100 * min(of['64'] for of in regrown):.0f}"]]--> % with 64 tries, and 86<!--[[pc(of["1"] for of in regrown)]]--> % with one.
# </details>
#
# **In the first base we see only that rewards made right answers more frequent.** It solves nearly every sum within 64 tries before any reward<!--[[? mean(run["pass"]["64"] for run in attempts["forget"]) > 0.99]]-->, so it cannot show whether rewards also *add* an ability. In some seeds of the swapped base pass@64 rose<!--[[? min(of["64"] for of in regrown) > max(run["pass"]["64"] for run in attempts["swapped"])]]-->. There the rewards added an ability, or they brought back one of the first base, from which the swapped base was trained.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let five students add without carrying, and vote. What goes wrong: "more votes are always safer".*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. A judge who likes length
#
# Many tasks have no right answer to compare with. Then a judge, which is a rule or a model trained on people's preferences, gives the reward. Our judge is a rule that mistakes length for care: its reward is the number of characters of the answer, divided by 40. The model learns from it for thirty updates of 32 answers, at twice<!--[[? judged["0"]["rate"] == 2 * rows["mean"]["rate"]]]--> the rate of section 3.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
free = {
    key: [
        mean(values) for values in zip(*(run[key] for run in judged["0"]["curves"]), strict=True)
    ]
    for key in ("right", "reward", "kl")
}  # means over the seeds, update by update
early = [mean(run["right"][2:7]) for run in judged["0"]["curves"]]
risen = paired([before["forget"]["right"]] * len(early), {"early": early})[0]["early"]
show.predict(
    "After these updates the judge's reward has risen from 0.2 to 0.9. How many of the model's answers are now correct?",
    choices={"about 80 %": 0.8, "about 50 %, as before": 0.5, "nearly none": 0.0},
    answer=mean(judged["0"]["right"]),
    why="Among the answers of the base, the long ones are those in steps, and most of those are right. But an answer in steps has 28 characters, and the judge's reward grows up to a length of 40.",
    reveals=widgets.leash_player(judged),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A leash.** Gao et al. (2023) speak of *overoptimisation* if training raises a reward but lowers the quality that the reward should measure. The usual protection, which works like a leash, is a penalty on the KL divergence from the base, as in DPO ([lecture 24](24_assistant.ipynb)). We now maximise
#
# $$\mathbb{E}\big[r(y)\big] - \beta\, \mathrm{KL}(\pi \,\|\, \pi_\mathrm{ref}).$$
#
# Here $\beta$ is the price of one nat of divergence. Answering only in steps costs few nats, about ln(1/0.24) = 1.4<!--[[-torch.tensor(before["forget"]["steps"]).log():.1f]]-->, since the base does so in 24<!--[[f"{100 * before['forget']['steps']:.0f}"]]--> % of its answers. Nonsense that the base hardly ever writes costs many nats.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
held_end = max(judged.values(), key=lambda of: mean(of["right"]))
best_beta = next(beta for beta, of in judged.items() if of is held_end)
show.table(
    [
        (
            beta,
            " ".join(f"{value:.2f}" for value in of["right"]),
            f"{mean(of['right']):.2f}",
            f"{mean(of['length']):.0f}",
        )
        for beta, of in judged.items()
    ],
    ["β", "right, five seeds", "mean", "characters"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without a penalty (β = 0), the judge's reward rises from 0.21<!--[[free["reward"][0]:.2f]]--> to 0.92<!--[[free["reward"][-1]:.2f]]-->, and 2<!--[[pc(judged["0"]["right"])]]--> % of the answers are right. The KL divergence from the base grows to 71<!--[[free["kl"][-1]:.0f]]--> nats per answer. If you watch only the reward, you see success.
# - Averaged over updates 2 to 6, accuracy was between 33<!--[[f"{100 * min(early):.0f}"]]--> and 74<!--[[f"{100 * max(early):.0f}"]]--> %, depending on the seed. With five seeds we cannot tell whether accuracy rises at first (on average by 11<!--[[100 * risen.difference:.0f]]--> ± 20<!--[[100 * risen.half:.0f]]--> points<!--[[? risen.half > risen.difference]]-->).
# - At β = 0.01, four<!--[[words(sum(value > 0.5 for value in judged["0.01"]["right"]))]]--> of five seeds stay above 50 %, and one writes nonsense. At β = 0.03<!--[[best_beta]]-->, the highest value that we tried, all five stay above 50 %, and 79<!--[[pc(held_end["right"])]]--> % of the answers are right.
# - That is about as many as with the checker (79<!--[[pc(rows["mean"]["right"])]]--> %). But we chose this β by its result, and in this base long answers happen to be right.
# - Even at this β something is lost. Nearly all answers are in steps now<!--[[? min(held_end["steps"]) > 0.98]]-->, and 79<!--[[pc(held_end["right in steps"])]]--> % of those are right, fewer than the base's 92<!--[[f"{100 * before['forget']['right in steps']:.0f}"]]--> %<!--[[? max(held_end["right in steps"]) < before["forget"]["right in steps"] - 0.05]]-->.
# - Our gradient of the KL penalty, like GRPO's, ignores that the parameters also change which prefixes are sampled.
# - Would stopping early have done as well? Without a penalty, the best update for all seeds has a mean accuracy of 63<!--[[100 * max(free["right"]):.0f]]--> %, so it would not. In the larger study of Gao et al. the penalty acted much like stopping early.
# </details>
#
# **A KL penalty does not improve the judge. If it is strong enough, it keeps the model near its base, where most of the long answers happen to be right.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask what an engineer who sees only the reward would report. What goes wrong: the KL penalty is taken for a cure. It only keeps the model where the judge is right by accident.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Larger models
#
# - DeepSeek-R1-Zero learned with GRPO from rewards that rules compute. Its accuracy rose, and its chains of thought, now called **reasoning**, grew from hundreds to thousands of tokens (Guo et al. 2025, figure 1).
# - Liu et al. (2025, section 3) show that dividing by length favours short right answers and long wrong ones, and that dividing by the standard deviation weighs questions unevenly. Their method does neither.
# - Yue et al. (2025) found pass@k higher after such training for small $k$, but the base models solved more problems with many tries.
#
# Our small model only shows which controls to ask for.

# %% [markdown] slideshow={"slide_type": "notes"}
# *4 minutes. Take one published curve of answer length and ask for the control of section 4. What goes wrong: our two habits are taken for a model of how large models reason.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What did one bit teach?
#
# | question | what we measured | control |
# |---|---|---|
# | Can a model learn from one bit for each answer? | 46<!--[[f"{100 * before['forget']['right']:.0f}"]]--> % → 79<!--[[pc(rows["mean"]["right"])]]--> % right | a coin: 41<!--[[pc(chance_row["right"])]]--> % |
# | Why do answers grow? | the habit that earned more was long | rewarded for wrong answers, the same base writes 5<!--[[f"{mean(rows['wrong']['length']):.0f}"]]--> characters |
# | Does it add ability? | not in the first base: pass@64 was 100<!--[[pc(run["pass"]["64"] for run in attempts["forget"])]]--> % before | the swapped base: pass@64 rises from 44<!--[[pc(run["pass"]["64"] for run in attempts["swapped"])]]--> to 99<!--[[pc(of["64"] for of in regrown)]]--> % in six<!--[[words(len(regrown))]]--> of ten<!--[[words(len(grown))]]--> seeds |
# | Which part of GRPO is needed? | only the division by length without a baseline brings no gain | four variants, two rates, ten<!--[[words(len(rows["mean"]["right"]))]]--> paired seeds, one base |
# | What if the judge is wrong? | accuracy ends near zero | a penalty on the KL divergence: 79<!--[[pc(held_end["right"])]]--> % right |
#
# **One bit taught our model which of its habits to use. In some seeds of the swapped base it also repaired a habit.** If a reward only resembles a check, training raises what the reward measures, whether or not the answers are right.

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Cover the third column and ask for each control. What goes wrong: students leave with "RL makes models think longer".*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a reward of your own, and say beforehand which habit it will make more frequent.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def rewarded_by(reward, updates=10):
    """What a copy of the base writes after learning from this reward."""
    mine, chance = copy.deepcopy(base), random.Random(1)
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.AdamW(mine.parameters(), lr=rows["mean"]["rate"], weight_decay=0.0)
    for _ in range(updates):
        written = write(mine, sums(chance, 8), 8, generator)
        earned = torch.tensor(
            [float(reward(*each)) for each in zip(written.sums, written.texts, strict=True)]
        )
        advantages = group_advantages(earned.view(8, 8)).flatten()
        optimiser.zero_grad()
        policy_loss(log_probs(mine, written.answers), advantages, TYPICAL).backward()
        clip_gradients(list(mine.parameters()), 1.0)
        optimiser.step()
    return write(mine, held_out[:100], 1, generator)


# %% slideshow={"slide_type": "fragment"}
def my_reward(pair, text):
    """A short answer earns most. Change this."""
    return 1 - len(text) / 40


found = rewarded_by(my_reward)
print({name: round(value, 2) for name, value in described(found).items()})
print(found.texts[:3])

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes, or homework. Let everybody write down the expected accuracy and length first. What goes wrong: a reward that is the same for all answers of a group teaches nothing.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`rewards.ipynb`](../exercises/rewards/rewards.ipynb) you write four functions of this lecture yourself.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. All 8 answers to a sum are right. What is GRPO's step for this sum?
# <details><summary>Answer</summary>It is zero, since every advantage is zero. With this baseline, a sum that is always or never solved teaches nothing.</details>
#
# 2. A colleague subtracts each answer's own length from its reward and calls it a baseline. What is wrong?
# <details><summary>Answer</summary>A baseline must not depend on the answer. This one changes the objective: it rewards short answers.</details>
#
# 3. 3 of 8 samples are right. What is pass@2?
# <details><summary>Answer</summary>1 − (5·4)/(8·7) = 0.64: of the 28 pairs, 10 contain no right answer.</details>
#
# 4. Answers grow during training. Which run shows that length by itself need not pay?
# <details><summary>Answer</summary>A run in which long answers earn less: the same base rewarded for wrong answers, or a base whose long answers are wrong. Our answers became shorter in both, but in six<!--[[words(sum(grown))]]--> seeds of the second only for a while.</details>
#
# 5. The reward rises smoothly, and you cannot measure accuracy. What else can you watch?
# <details><summary>Answer</summary>The KL divergence from the base, and the texts themselves. If the divergence grows quickly, the model writes texts that the base hardly ever wrote, so nobody knows how well the judge rates them.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 2. What goes wrong: "it only calms".*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $x$, $y$ | prompt and completion; state, action | a question and the model's answer |
# | $r(y)$ | $R$, return | the reward of an answer |
# | $J$ | $\mathbb{E}[R]$, objective | the mean reward |
# | $v$ | $b$, baseline; $V(x)$ with a critic | what is subtracted from every reward |
# | $A_i$ | $\hat A$ | the advantage of an answer |
# | $\beta$ | KL coefficient | the price of each nat of KL divergence from the base |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: students know the baseline of PPO, which is a network. Here it is a mean.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **reinforcement learning with verifiable rewards (RLVR)**: training a model on its own answers with rewards that a program computes.
# - **chain of thought**: the steps that a model writes before its answer.
# - **in steps**: a way of answering in which each column and each carry is written before the result.
# - **at once**: a way of answering that writes only the result.
# - **log-derivative trick**: the gradient of a probability is the probability times the gradient of its logarithm.
# - **policy gradient**: the gradient of the mean reward, estimated from a model's own samples.
# - **advantage**: how much better the reward of an answer is than a baseline.
# - **PPO**: proximal policy optimisation; a second network predicts the baseline, and steps are clipped.
# - **GRPO**: group relative policy optimisation; the baseline is the mean reward of several answers to the same question.
# - **test-time compute**: operations that are spent when a model answers, and not when it is trained.
# - **vote**: the most frequent of several answers.
# - **self-consistency**: a vote over sampled chains of thought.
# - **reasoning**: long chains of thought that a model has learned from rewards.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Williams (1992), Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning. Schulman et al. (2017), Proximal Policy Optimization Algorithms. Wei et al. (2022), Chain-of-Thought Prompting. Lambert et al. (2024), Tülu 3. Shao et al. (2024), DeepSeekMath. Guo et al. (2025), DeepSeek-R1 Incentivizes Reasoning in LLMs through Reinforcement Learning. Liu et al. (2025), Understanding R1-Zero-Like Training: A Critical Perspective. Anthony et al. (2017), Thinking Fast and Slow with Deep Learning and Tree Search. Chen et al. (2021), Evaluating
# Large Language Models Trained on Code. Wang et al. (2023), Self-Consistency Improves Chain of Thought Reasoning in Language Models. Yue et al. (2025), Does Reinforcement Learning Really Incentivize Reasoning Capacity in LLMs Beyond the Base Model? Gao et al. (2023), Scaling Laws for Reward Model Overoptimization.
