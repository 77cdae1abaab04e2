# %% [markdown]
# # Project: what does a habit cost?
#
# In the lecture *From language model to assistant* a hundred conversations teach SmolLM2 to decline, and then it declines where it should not. You teach a habit
# of your own, and measure what it gives, where it does not belong, and what it costs. Two people can work on a project together.
#
# **The open question.** Can a habit be taught that depends on *when* it is wanted? For example:
#
# - a reply in the language of the question, a warning only where it is due, a call of a tool only for a sum;
# - refusals that depend on the passage, with an adapter in more layers, or with pairs that differ in one word;
# - the same habit by tuning, by DPO and by a prompt with examples: which costs least elsewhere?
#
# [[questions]]
#
# [[how a project works]]

# %%
import torch

from lectures.recipes import tuned_layers
from lectures.projects import compared, examples, kept
from lectures.recipes import conversations
from lectures.recipes.tuned import adapted, in_batches, shuffled, written
from nlmcore.pretrained import smollm2
from nlmcore.training import fit
from nlmcore.transfer.tuning import Tail, conversation, pad, supervised_loss

torch.set_num_threads(1)

# %% [markdown]
# ## 1. Where to begin
#
# Eight conversations, fourteen steps, two seeds: far too few, and quick. A reply counts if greedy decoding would write it letter by letter. Ask of every habit two
# shares: where it belongs, and where it does not.

# %%
model, tokenizer = smollm2()
wanted = ("answered", "missing")  # the answer is in the passage, or it is not
layers = 2
below = Tail(model, layers)  # reads with the layers before those that are tuned, once for all seeds
told = [conversations.messages(one) for one in conversations.training() if one.kind in wanted][::9]
batches = in_batches(below, tokenizer, told)
asked = {}
for kind in wanted:
    these = [conversations.messages(one) for one in conversations.held_out(4) if one.kind == kind]
    asked[kind] = below.read(pad([conversation(tokenizer, each) for each in these]))


def tuned(seed, rank=4, steps=14):
    """The share of held-out replies that are written, by kind."""
    torch.manual_seed(seed)
    _, adapter, tail = adapted(model, rank, layers)

    def loss(_model, batch):
        return supervised_loss(tail, batch)

    fit(adapter, shuffled(batches, seed), loss=loss, steps=steps, learning_rate=3e-3, progress=False)
    shares = {kind: written(tail, each) for kind, each in asked.items()}
    return {kind: sum(each) / len(each) for kind, each in shares.items()}


shares = [kept(f"two layers, seed {seed}", tuned, seed) for seed in range(2)]
print(shares)
print("Missing less answered:", compared(*([each[kind] for each in shares] for kind in wanted)))

# %% [markdown]
# ## 2. Three reports, in extracts
#
# They ask whether learning to decline costs right answers, and their numbers come from the lecture's stored runs. Run the cell, and mark each by the list below
# before you read the marker.

# %% jupyter={"source_hidden": true}
tuning = tuned_layers.summary()
ours, bold, before = (tuning["written"][row] for row in ("last 2", "last 2, without refusals", "untuned"))
prompt = tuning["read"]["rules and examples"]
examples(
    good=(
        "Training without the refusals changes the share of right answers by "
        f"{compared(ours['answered']['seeds'], bold['answered']['seeds'])}, paired by seed, on passages that hold the "
        f"answer. With the refusals the model declines {ours['missing']['share'][0]:.0%} of the unanswerable questions "
        f"and {ours['refused']['share'][0]:.0%} of the answerable ones; a model that always declines would have both at "
        "100 %. Both trainings take as many steps, so the one without refusals reads each other conversation more often. With "
        "an adapter in the last two layers, refusals cost answers *or* more epochs gain them; we did not separate the two.",
        "Both shares, the floor “always declines”, pairs, and an explanation that is left open in plain words. "
        "“Another explanation” has 1 of 2 for that. Plain text, the price elsewhere, is missing: 1 of 2 for “used”.",
    ),
    middling=(
        f"After tuning the model declines {ours['missing']['share'][0]:.0%} of the unanswerable questions, from "
        f"{before['missing']['share'][0]:.0%}. It also declines {ours['refused']['share'][0]:.0%} of the answerable "
        f"questions. A prompt with examples declines {prompt['answered: declines'][0]:.0%}, so tuning is worse than a "
        "prompt.",
        "The second share is there, and a simpler method. But the prompt's replies are read kindly and the tuned model's "
        "letter by letter, so the footing is not the same, and the last sentence compares two shares without an interval.",
    ),
    poor=(
        f"We taught the model honesty: it says that the passage does not say in {ours['missing']['share'][0]:.0%} of the "
        "cases. More layers would make it even more honest.",
        "One share. Where the habit does not belong is not measured, and there the result is the opposite. “Honesty” is "
        "not what was measured, and the last sentence is a guess. The claim and the form earn a point at most.",
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
# In this project the floors are the untuned model and one that always shows the habit, and “it is used” is the share where the habit does not belong, together with
# the loss on plain text. Seeds of the adapter and questions are two sources of chance: say from which of them an interval comes.
# ### END MARK SCHEME

# %% [markdown]
# In the place of a model answer: the good extract above shows the tone, and the lecture's section on instruction tuning is a report on one question of this kind.
