# %% [markdown]
# # Project: what holds a stack up?
#
# The lecture *What if…?* takes parts away, reorders them and stacks a hundred of them. Most of its comparisons hold at one width, on one text and after one
# length of training. You take one of them further. Two people can work on a project together.
#
# **The open question.** Does a difference between two stacks stay, shrink or change its sign when one other thing changes: the depth, the width, the length of
# training, the text, the learning rate? For example:
#
# - pre-norm against DeepNorm, from 100 steps to as many as you can afford;
# - sandwich order against the plain order, at two lengths of context;
# - one shared block against as many separate ones, at equal parameters and at equal operations.
#
# [[questions]]
#
# [[how a project works]]

# %%
import torch

from lectures import stored
from lectures.projects import compared, examples, kept
from lectures.recipes import very_deep
from lectures.recipes.positions import Windows, another_context, by_position, data, next_loss
from nlmcore.training import fit
from nlmcore.transformer import TransformerLM

torch.set_num_threads(1)

# %% [markdown]
# ## 1. Where to begin
#
# A pair of stacks, trained for a few steps. `another` is by how much the loss rises if all but the last character come from another text. If it is near 0, nothing that
# concerns the use of context was compared. Change what you need: `TransformerConfig` has every part of a stack as an argument.

# %%
_, (text, dev, vocab) = data(40_000)


def trained(rule, depth, seed, rate=4e-3, steps=30):
    """Loss on dev texts, in nats per character, and what another text's context costs."""
    torch.manual_seed(seed)
    model = TransformerLM(very_deep.config(vocab, rule, depth))
    fit(model, Windows(text, 8, 32, seed), loss=next_loss, steps=steps, learning_rate=rate, progress=False)
    texts = dev[:, :33]
    return {"loss": float(by_position(model.eval(), texts).mean()), "another": another_context(model, texts)}


rows = {
    rule: [kept(f"{rule}, 4 layers, seed {seed}", trained, rule, 4, seed) for seed in range(2)]
    for rule in ("pre-norm", "DeepNorm")
}
print("DeepNorm less pre-norm:", compared(*([row["loss"] for row in of] for of in rows.values())))
for rule, of in rows.items():
    print(f"{rule}: another text's context costs", ", ".join(f"{row['another']:.3f}" for row in of))

# %% [markdown]
# ## 2. Three reports, in extracts
#
# They are about DeepNorm at 100 layers, and their numbers come from the lecture's stored runs. Run the cell, and mark each by the list below before you read the
# marker.

# %% jupyter={"source_hidden": true}
deep = stored("very_deep")
early = {rule: of["dev"] for rule, of in deep["runs"]["100"].items()}
late = {rule: of["dev"] for rule, of in deep["longer"].items()}
examples(
    good=(
        "After 400 steps, each at its best rate, DeepNorm's loss at 100 layers differs from post-norm's by "
        f"{compared(late['post-norm'], late['DeepNorm'])} nats per character, paired by seed. We would have called the "
        "claim refuted by an interval that reaches 0. Post-norm is at the loss of letter frequencies, at each of "
        f"{len(deep['longer']['post-norm']['tried'])} rates, so it has not begun to learn. DeepNorm has not either at 0.004 "
        f"({deep['longer']['DeepNorm']['tried']['0.004']:.2f}, two seeds): in these runs it lets 100 layers of width 16 "
        "start, at one rate of three. Which rule ends better they do not show.",
        "Claim, refutation, pairs, floor and limits are all in five sentences. It says what was tried with two seeds only. "
        "“Another explanation” has 1 of 2: the rate is named as one, and the number of steps is not.",
    ),
    middling=(
        f"After 100 steps DeepNorm has {sum(early['DeepNorm']) / 5:.2f} and post-norm "
        f"{sum(early['post-norm']) / 5:.2f} nats, a difference of {compared(early['post-norm'], early['DeepNorm'])}. So "
        "DeepNorm makes no difference at our scale.",
        "Seeds and interval are there. But no floor: both have the loss of letter frequencies, so nothing was compared. "
        "A null result earns no conclusion unless it says how large an effect could have been seen, and the rate was chosen after 100 "
        "steps, which decides too early.",
    ),
    poor=(
        f"We trained 100 layers. DeepNorm reached {late['DeepNorm'][-1]:.2f} and post-norm {late['post-norm'][-1]:.2f}, "
        "because DeepNorm keeps the gradient from vanishing.",
        "One seed of five, chosen afterwards. Nothing is said about rates or steps. The “because” was not tested: AdamW "
        "divides by the size of a gradient. A true sentence with no experiment behind it earns the point for form at "
        "most.",
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
# In this project the floors are letter frequencies and a table of character pairs, and “it is used” is another text's context.
# ### END MARK SCHEME

# %% [markdown]
# In the place of a model answer: the good extract above shows the tone, and the lecture's section on a hundred layers is a report on one question of this kind.
