# %% [markdown]
# # Project: the control that was missing
#
# The lectures of part two make claims about rewards, memories, fewer bits and features, each with a control. You take one such claim and find a control that
# nobody has run yet. It may confirm the claim or undo it. Two people can work on a project together.
#
# **The open question.** Which other explanation fits the figures as well, and which run tells the two apart? For example:
#
# - *rewards*: accuracy rises and answers grow longer. Is it the steps that help, or only more characters?
# - *memory*: the delta rule overwrites. Does it still win if the other memory gets the same number of parameters in another part?
# - *fewer bits*: a 3-bit model costs little. Is it the kind of text on which it was measured, or the size of the model?
# - *features*: a unit means “stage direction”. Does a random direction of the same sparsity mean it as well?
#
# [[questions]]
#
# [[how a project works]]

# %%
from statistics import fmean

import torch

from lectures import stored
from lectures.projects import compared, examples, kept
from lectures.recipes.rounding import nats, stretches, weights_of, windows, with_noise
from lectures.recipes.texts import plays
from lectures.trained import checkpoint
from nlmcore.compression import replaced, rounded
from nlmcore.metrics import bootstrap_interval

torch.set_num_threads(1)

# %% [markdown]
# ## 1. Where to begin
#
# A claim about bits, and one control: noise of the same size as the error of the rounding. The differences are paired by stretches of the same text. For the other
# lectures, `lectures/recipes/` has `checked_rewards`, `overwriting` and `sparse_features`.

# %%
model, letters, _ = checkpoint("char_gpt")
tokens = windows(plays(limit=40_000).test, letters.encode, 4, 129)
weights, base = weights_of(model), nats(model, tokens)


def cost(change):
    """By how many nats per character the loss rises, in stretches of the text."""
    with replaced(weights, change):
        return stretches(nats(model, tokens) - base)


def two_bits(name, w):
    return rounded(w, 2)


def noise(name, w):
    return with_noise(name, w, 2, torch.Generator().manual_seed(0))


costs = {
    "2 bits": kept("2 bits", cost, two_bits),
    "noise": kept("noise", cost, noise),
}
for name, of in costs.items():
    print(f"{name}: {bootstrap_interval(of)}")
print("Noise less rounding:", compared(costs["2 bits"], costs["noise"]))

# %% [markdown]
# ## 2. Three reports, in extracts
#
# They are about the baseline of the policy gradient, and their numbers come from the lecture's stored runs. Run the cell, and mark each by the list below before
# you read the marker.

# %% jupyter={"source_hidden": true}
rewards = stored("checked_rewards")["rows"]
mean, none, random = (rewards[row]["right"] for row in ("mean", "none", "random"))
by_length, short = rewards["none, by length"], rewards["none, by length"]["length"]
start = stored("checked_rewards")["before"]["forget"]["right"]
examples(
    good=(
        "Leaving the baseline out changes the share of right sums by "
        f"{compared(mean, none)}, paired by seed. Before any run we had said that a loss of 0.05 would matter to "
        "us, and the interval excludes one, at this task and after these 16 updates. "
        f"The set-up can show an effect: random rewards end at {compared(mean, random)} from the "
        f"baseline's. The model starts at {start:.2f}. Another explanation of the gain, longer answers, is not excluded: "
        "without a baseline and divided by length the answers shrink to "
        f"{fmean(short):.0f} characters, and the right ones change by {compared(mean, by_length['right'])}.",
        "A null with its power and a known effect first, a size that matters said beforehand, the start as the floor. "
        "“Another explanation” has 2: it says which run speaks for it. It claims a loss only, so the other end of the "
        "interval may lie where it likes.",
    ),
    middling=(
        f"With the baseline {fmean(mean):.3f} of the sums are right, without it {fmean(none):.3f}. The intervals "
        "overlap, so the baseline makes no difference.",
        "Ten seeds and two means. Two overlapping intervals prove nothing either way: the difference has to be tested, "
        "in pairs. No effect was shown that this set-up could have seen, so the null earns no point for the conclusion.",
    ),
    poor=(
        f"The baseline is not needed: our best run without it has {max(none):.0%}. It only slows the training down "
        "because of the extra computation.",
        "The best of ten seeds. Time was not measured. The claim goes against the derivation of the lecture, which says "
        "what a baseline is for, and nothing of that was tested.",
    ),
)

# %% [markdown]
# ## 3. Your experiment
#
# Add as many cells as you need.

# %% [markdown]
# ## 4. The report [[written, 480 minutes, 20 points, more]]
#
# Write it in the cell below. It is marked by these items:
#
# [[rubric]]
#
# ### BEGIN MARK SCHEME
# Half points are fine. Open the notebook that was handed in beside the report, and recompute one number.
#
# [[rubric]]
#
# In this project the other explanation is the subject: its 2 points ask for a run that tells the two apart. “It is used” is the model with an empty memory, with rewards
# of another question, or with shuffled units.
# ### END MARK SCHEME

# %% [markdown]
# In the place of a model answer: the good extract above shows the tone, and the sections on controls in the four lectures are reports on questions of this kind.
