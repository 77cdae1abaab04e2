# %% [markdown] slideshow={"slide_type": "slide"}
# # Smaller and faster
#
# A language model is usually trained with 16 or 32 bits per weight, but can be stored with fewer. **How many bits are stored for each weight of the model that you use, and what would fewer
# bits cost?** We round two models, leave weights out, and let a small model learn from a large one and draft for it.
#
# <img src="figures/sixteen_levels.svg" width="880" alt="64 weights as dots in two groups of 32. Each group has sixteen levels, drawn as lines; a stroke joins each weight to its nearest level.">
#
# *64 weights of the course's GPT. Each group of 32 has sixteen levels of its own; an orange stroke is the error of rounding one weight. In section 1 you can change the levels.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - round a matrix by hand, and say how large the error is and how many bits a weight then costs;
# - measure what a change of the weights costs a model, with an interval and a control;
# - explain what an outlier does to the scale of a matrix, and what a smaller block saves and costs;
# - compare rounding with pruning at equal storage, and two ways to train a small model at equal time;
# - count the memory of a training run, and say which part of it lower precision saves.
#
# **You need** [lecture 15](15_transformer_language_model.ipynb) (the block), [lecture 9](09_decoding.ipynb) (speculative decoding) and [lecture 5](05_training_well.ipynb) (AdamW, seeds, intervals).
# Here $b$ is the number of bits, $d$ the step between two levels and $m$ the lowest level.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 6 | 9 | 9 | 7 | 5 | 11 | 8 |
#
# The minutes are for a class, 62 in all. If you work alone, plan 90 minutes. Sections 6 and 8 can wait. Every cell runs in a few seconds on a laptop, without a network connection. Long
# measurements are stored, with the command that repeats them.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 6 and 8. Sections 2, 3 and 4 belong together: a harmless change, the same change in a second model, and a control for the form of the error.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from functools import partial
from statistics import fmean

import torch

from lectures import show, stored, widgets
from lectures.recipes.distillation import HELD, SETTING, TEXT, TIME
from lectures.recipes.positions import floors
from lectures.recipes.rounding import nats, stretches, weights_of, windows, with_noise
from lectures.recipes.texts import plays
from lectures.trained import checkpoint
from nlmcore.compression import pruned, replaced, rounded
from nlmcore.metrics import bootstrap_interval
from nlmcore.metrics.significance import paired
from nlmcore.pretrained import smollm2
from nlmcore.pretrained.smollm2_weights import FILE, WHEEL
from nlmcore.training import teacher_forcing_loss

torch.set_num_threads(1)
gpt, letters, card = checkpoint("char_gpt")
models = stored("rounding")["models"]
OURS, SMOL = "char_gpt", "SmolLM2"


def cost(model, setting):
    """(rise of the loss in nats per token, low, high) of a stored measurement."""
    return models[model]["rows"][setting]["rise"]


def error(model, setting):
    return models[model]["rows"][setting]["error"]


def told(row, form="z.4f"):
    return show.estimate(*row, f"{{:{form}}}")


def z(value):
    """With a true minus sign."""
    return f"{value:.3f}".replace("-", "−")


def apart(one, other):
    """Whether two intervals do not touch."""
    return one[2] < other[1] or other[2] < one[1]


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Sixteen levels
#
# **Quantisation** stores each weight as a small integer $q$. Neighbouring weights share a step $d$ and a minimum $m$. With $b$ bits there are $2^b$ levels:
#
# $$d = \frac{\max x - \min x}{2^b - 1}, \qquad q_i = \mathrm{round}\Big(\frac{x_i - m}{d}\Big), \qquad x'_i = d\, q_i + m, \qquad m = \min x .$$
#
# This is **rounding to nearest**. No weight moves by more than half a step. A **block of weights** here is 32 neighbours in a row of a matrix. Its step and its minimum take 16 bits each, which is one more bit for each of the 32 weights. So a weight costs $b + 1$ bits, not $b$. We say that weights with the same step and minimum share a *scale*. Here are four bits by hand:

# %% slideshow={"slide_type": "fragment"}
x = gpt.layers[0].feed_forward.inner.weight[0, :32].detach()
m = x.min()
d = (x.max() - m) / 15
q = ((x - m) / d).round()
print("q =", q.int().tolist())
print(f"step {d:.4f}; largest error {(d * q + m - x).abs().max():.4f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ours = weights_of(gpt)
outer = ours["layers.0.feed_forward.outer.weight"]
row_of_largest, column = divmod(int(outer.abs().argmax()), outer.shape[1])
start = column // 64 * 64
widgets.level_player(
    {
        "ordinary": ours["layers.0.feed_forward.inner.weight"][0, :64],
        "around the largest weight of a matrix": outer[row_of_largest, start : start + 64],
    }
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Choose the weights around the largest one. What happens to the other 63 when all 64 share one scale? How much smaller is the error with blocks of 16, and how many bits does a weight then cost?
#
# **One large weight sets the step of all weights that share its scale.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Let the room round two dots by eye before you move the widget. What goes wrong: students take "4 bits" for the cost of a weight. With its share of step and minimum it costs 5.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. What do fewer bits cost?
#
# We start with our own `char_gpt`, which has four layers and 803,840<!--[[card["parameters"]:,]]--> parameters, stored in 16 bits. We round all matrices of attention and of the feed-forward networks, and leave the embedding as it is. The **cost** of a change is the rise of the loss on the same text. The comparison is *paired*: we subtract
# the two losses token by token. The interval is a bootstrap over stretches of 32 tokens. The *relative error* is the norm of the change of the weights, divided by the norm of the weights.

# %% slideshow={"slide_type": "fragment"}
text = windows(plays().test[:1], letters.encode, 16, 257)
before = nats(gpt, text)
live = {}
for bits in (8, 4, 3, 2):
    with replaced(ours, lambda name, w: rounded(w, bits)) as relative:  # noqa: B023
        rise = nats(gpt, text) - before
    live[bits] = (relative, bootstrap_interval(stretches(rise)))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
live_told = show.table(
    [(bits, f"{relative:.3f}", told(row)) for bits, (relative, row) in live.items()],
    ["bits", "relative error", "cost, nats per character"],
    f"{text[:, 1:].numel():,} characters, loss {before.mean():.3f}",
)
show.predict(
    f"The loss of `char_gpt` is {models[OURS]['loss']:.2f} nats per character. You keep 4 bits of each weight instead of 16. How much does the loss rise?",
    choices={"by 0.002": 0.002, "by 0.05": 0.05, "by 0.5": 0.5},
    answer=cost(OURS, "block, 4 bits")[0],
    why="The rounding moves the weights by 8 % of their size, and the loss hardly changes.",
    reveals=live_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Measured on three plays, 4 bits cost 0.0019<!--[[cost(OURS, "block, 4 bits")[0]:.4f]]--> nats, and the interval just excludes zero<!--[[? 0 < cost(OURS, "block, 4 bits")[1] < 0.001]]-->. 8 bits cost nothing that we can see<!--[[? cost(OURS, "block, 8 bits")[1] < 0 < cost(OURS, "block, 8 bits")[2]]]-->. We would probably have seen a cost above 0.0001 nats<!--[[? cost(OURS, "block, 8 bits")[2] < 1e-4]]-->.
# - With each bit that you remove, the step and the error more than double. The relative error is 0.08<!--[[error(OURS, "block, 4 bits"):.2f]]--> with 4 bits, 0.17<!--[[error(OURS, "block, 3 bits"):.2f]]--> with 3 bits and 0.40<!--[[error(OURS, "block, 2 bits"):.2f]]--> with 2 bits. The cost rises faster than the error<!--[[? cost(OURS, "block, 2 bits")[0] / cost(OURS, "block, 3 bits")[0] > 5]]-->.
# - Even 2 bits, which leave four levels, cost only 0.10<!--[[cost(OURS, "block, 2 bits")[0]:.2f]]--> nats.
# </details>
#
# **In this model, on these plays, 4 bits are almost free.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Ask why we subtract token by token: the losses of two stretches differ by far more than 0.002. What goes wrong: students compare the intervals of the two losses, and see no difference.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. The model that you have used
#
# SmolLM2 has 30 layers and 135 million parameters, trained on two trillion tokens (Ben Allal et al. 2025). We load it as in the earlier lectures, round the same kinds of matrices in the same blocks, and measure the loss on passages of the same plays.

# %% slideshow={"slide_type": "fragment"}
smol, pieces = smollm2()
large = weights_of(smol)
print(f"{sum(w.numel() for w in large.values()):,} weights in {len(large)} matrices")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
n_smol = sum(p.numel() for p in smol.parameters())
same = sum(torch.equal(rounded(w, 4), w) for w in large.values())
file_bits = 8 * WHEEL.find(FILE).stat().st_size / n_smol
with show.held_back() as identity_told:
    print(f"{same} of {len(large)} matrices are bit-for-bit the same after rounding to 4 bits")
    print(f"the file has {file_bits:.1f} bits per parameter")
show.predict(
    f"4 bits cost `char_gpt` {cost(OURS, 'block, 4 bits')[0]:.3f} nats. What do they cost SmolLM2, per token?",
    choices={"nothing at all": 0.0, "0.002, as much": 0.002, "0.02": 0.02, "0.3": 0.3},
    answer=cost(SMOL, "block, 4 bits")[0],
    why="Its file keeps these matrices in 4 bits, in blocks of 32 that each have a step and a minimum (a GGUF file, in the format Q4_1). Rounding a rounded weight again changes nothing.",
    reveals=identity_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# So **the answer to the first question of this lecture is 4 bits per weight**, and 8 in the embedding. We cannot measure what these
# 4 bits cost SmolLM2, because we do not have the original in 16 bits. We can measure what one bit less costs.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
smol_loss = models[SMOL]["loss"]
perplexity = {
    bits: float(torch.tensor(smol_loss + cost(SMOL, f"block, {bits} bits")[0]).exp())
    for bits in (4, 3, 2)
}
three = {name: cost(name, "block, 3 bits")[0] for name in models}
per_character = three[SMOL] / models[SMOL]["characters per token"]
three_told = show.table(
    [
        (name, f"{error(name, 'block, 3 bits'):.2f}", told(cost(name, "block, 3 bits")))
        for name in models
    ],
    ["3 bits", "relative error", "cost, nats per token"],
    "SmolLM2's perplexity: "
    + ", ".join(f"{p:,.0f} with {bits} bits" for bits, p in perplexity.items()),
)
show.predict(
    f"Rounding to 3 bits moves the weights of both models about equally far: by {error(SMOL, 'block, 3 bits'):.0%} in SmolLM2 and by {error(OURS, 'block, 3 bits'):.0%} in `char_gpt`. It costs `char_gpt` {three[OURS]:.3f} nats. What does it cost SmolLM2, per token?",
    choices={"0.001": 0.001, "0.01": 0.01, "0.1": 0.1, "more than 1": 1.5},
    answer=three[SMOL],
    why=f"About the same relative error costs SmolLM2 {three[SMOL] / three[OURS]:.0f} times as much per token. Its tokens are longer than our characters.",
    reveals=[three_told, widgets.cost_of_bits(models)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - 3 bits cost SmolLM2 1.7<!--[[three[SMOL]:.1f]]--> nats per token; its perplexity on these passages rises from 45<!--[[perplexity[4]:.0f]]--> to 245<!--[[perplexity[3]:.0f]]-->.
# - A token of SmolLM2 has 3.4<!--[[models[SMOL]["characters per token"]:.1f]]--> characters on average. Per character the cost is still 39<!--[[per_character / three[OURS]:.0f]]--> times that of `char_gpt`.
# - With 2 bits SmolLM2 is worse than a uniform guess among its 49,152<!--[[smol.vocab_size:,]]--> tokens<!--[[? perplexity[2] > smol.vocab_size]]-->.
# </details>
#
# **The file that you have used has 4 bits per weight. With 3 bits SmolLM2 loses 0.50<!--[[per_character:.2f]]--> nats per character, and `char_gpt` 0.01<!--[[three[OURS]:.2f]]-->.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - **5 bits cost SmolLM2 0.26<!--[[cost(SMOL, "block, 5 bits")[0]:.2f]]--> nats, more than 4 bits do.** The weights lie on 16 levels already, and only the lowest and the highest of these are among the 32 levels of 5 bits, so most weights move again. With 8 bits all 16 levels are among the 256, and the relative error is only 0.0005<!--[[error(SMOL, "block, 8 bits"):.4f]]-->. In `char_gpt`, whose weights were not rounded before, 5 bits cost at most 0.0013<!--[[cost(OURS, "block, 5 bits")[2]:.4f]]--> nats (the upper end of the interval).
# - The two models differ in size, depth, training and tokens, so the factor between their costs says nothing about any one of these differences.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Take votes on both questions; the first one is the surprise of the lecture. What goes wrong: "4 bits cost SmolLM2 nothing". The file's makers have already paid the cost, and we cannot see it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. The size of the error, or its form?
#
# Rounding errors are not random. They depend on the weight, and all lie within half a step. Does this form matter, or only the size of the errors? As a **control** we add normally distributed noise to each matrix instead of rounding it. The noise has the standard deviation of the matrix's rounding error. Two more controls keep the size of every rounding error: one reverses the sign of each error, and one moves each error to a random weight of the same matrix.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
all_plays = windows(plays().test, letters.encode, 16, 257)


def costs_of(model, setting):
    return [cost(model, f"{setting}, draw {draw}")[0] for draw in range(3)]


reversed_ = {name: cost(name, "error of 3 bits, reversed") for name in models}
moved = {name: costs_of(name, "error of 3 bits, moved") for name in models}
as_it_is, noise = nats(gpt, all_plays), {OURS: [], SMOL: costs_of(SMOL, "noise of 3 bits")}
for seed in range(5):
    chance = torch.Generator().manual_seed(seed)
    with replaced(ours, partial(with_noise, bits=3, generator=chance)):
        noise[OURS].append(float((nats(gpt, all_plays) - as_it_is).mean()))
ratios = [draw / three[name] for name in models for draw in noise[name]]
by_form = {n: ([three[n]], noise[n], reversed_[n][:1], moved[n]) for n in models}
noise_told = show.table(
    [(name, *(", ".join(map(z, draws)) for draws in of)) for name, of in by_form.items()],
    ["nats per token", "rounding", "noise, by draw", "errors reversed", "moved, by draw"],
)
show.predict(
    "You add noise as large as the error of 3 bits. What does it cost, compared with rounding to 3 bits?",
    choices={"a tenth": 0.1, "about the same": 1.0, "ten times": 10.0},
    answer=fmean(fmean(noise[name]) / three[name] for name in models),
    why="In both models the noise costs about as much as the rounding. But compare it with the two other controls before you conclude that only the size matters.",
    reveals=noise_told,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The size of a rounding error depends on the step: if errors are spread evenly over a step, their standard deviation is $d / \sqrt{12}$. With 4 bits, a step is the range of the weights that share it, divided by 15. So if a whole matrix shares one scale, its
# largest weight sets the step. In one matrix of SmolLM2 the largest weight is 47<!--[[max(models[SMOL]["largest over deviation"].values()):.0f]]--> standard deviations away from zero, and in `char_gpt` at most 7<!--[[max(models[OURS]["largest over deviation"].values()):.0f]]-->. Such a weight is an **outlier**.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
row_share = {  # bits per weight for a row's step and minimum
    name: 32 * sum(map(len, of.values())) / sum(w.numel() for w in of.values())
    for name, of in ((OURS, ours), (SMOL, large))
}
spared, as_many = (f"matrix, 4 bits, {which} spared" for which in ("largest", "random"))
scales = {
    "a block of 32": "block, 4 bits",
    "a row": "row, 4 bits",
    "the matrix": "matrix, 4 bits",
    "the matrix; largest 0.5 % kept": spared,
    "the matrix; random 0.5 % kept": as_many,
}
outliers_told = show.table(
    [
        (at, *(f"{error(n, s):.2f}" for n in models), *(f"{cost(n, s)[0]:.4f}" for n in models))
        for at, s in scales.items()
    ],
    [
        "4 bits, one scale for",
        *(f"{of}, {n}" for of in ("relative error", "cost") for n in models),
    ],
    "Cost in nats per token.",
)
storage_told = show.table(
    [
        (n, how, f"{4 + more:.2f}", told(cost(n, s), "z.3f"))
        for n in models
        for how, s, more in (
            ("3 bits, blocks of 32", "block, 3 bits", 0),
            ("4 bits, rows", "row, 4 bits", row_share[n]),
        )
    ],
    ["", "rounded to", "bits per weight", "cost, nats per token"],
    "About 4 bits per weight, step and minimum included.",
)
falls = error(OURS, spared) / error(OURS, "matrix, 4 bits")
show.predict(
    f"If each matrix of `char_gpt` has one scale, the relative error is {error(OURS, 'matrix, 4 bits'):.2f} with 4 bits. You keep the largest 0.5 % of the weights exactly, and round only the others. What fraction of the error is left?",
    choices={"95 %": 0.95, "55 %": 0.55, "5 %": 0.05},
    answer=falls,
    why="The largest weights widen the step of all others. If you keep as many random weights exactly instead, the error hardly changes.",
    reveals=[outliers_told, storage_told],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Five draws of the noise cost `char_gpt` between 0.011<!--[[min(noise[OURS]):.3f]]--> and 0.020<!--[[max(noise[OURS]):.3f]]--> nats, and rounding costs 0.013<!--[[three[OURS]:.3f]]--><!--[[? min(noise[OURS]) < three[OURS] < max(noise[OURS])]]-->. So we see no effect of the form in this model.
# - **In SmolLM2 the form does matter.** Reversed errors cost 1.03<!--[[reversed_[SMOL][0]:.2f]]--> nats, much less than the errors of rounding (1.70<!--[[three[SMOL]:.2f]]-->), and less than any draw of the noise<!--[[? reversed_[SMOL][2] < min(cost(SMOL, "block, 3 bits")[1], *noise[SMOL])]]-->. Moved errors cost between 1.7<!--[[min(moved[SMOL]):.1f]]--> and 2.5<!--[[max(moved[SMOL]):.1f]]-->. All these errors are equally large. So it matters there which weight gets which error, and we do not know why.
# - With 4 bits, the loss rises more with a scale per row than with a scale per block in both models, and still more with a scale per matrix<!--[[? all(cost(n, "block, 4 bits")[0] < cost(n, "row, 4 bits")[0] < cost(n, "matrix, 4 bits")[0] for n in models)]]-->. **But a scale per block takes more storage.** If we may store about 4 bits per weight, a scale per row leaves 4 bits for the weight itself, and a scale per block of 32 leaves only 3. Then the scale per *row* is better in both models<!--[[? all(cost(n, "row, 4 bits")[2] < cost(n, "block, 3 bits")[1] and row_share[n] < 0.2 for n in models)]]-->.
# - With one scale per matrix, keeping the largest 0.5 % of the weights exactly lowers the cost from 0.021<!--[[cost(OURS, "matrix, 4 bits")[0]:.3f]]--> to 0.007<!--[[cost(OURS, spared)[0]:.3f]]--> nats in `char_gpt`, for 0.16<!--[[32 * stored("rounding")["spared"]:.2f]]--> more bits per weight. If as many *random* weights are kept exactly instead, the cost falls by only 0.0003<!--[[cost(OURS, "matrix, 4 bits")[0] - cost(OURS, as_many)[0]:.4f]]--> nats<!--[[? apart(cost(OURS, spared), cost(OURS, as_many))]]-->. In SmolLM2 random weights do not help either<!--[[? cost(SMOL, spared)[2] < cost(SMOL, "matrix, 4 bits")[1] < cost(SMOL, as_many)[0]]]-->.
# </details>
#
# **An outlier sets the step, and the step sets the error. In these two models noise of the same size costs between 0.8<!--[[int(10 * min(ratios)) / 10]]--> and 1.6<!--[[(int(10 * max(ratios)) + 1) / 10]]--> times as much as rounding. But in SmolLM2 the cost also depends on which weight gets which error.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - **The total size does not tell the whole story.** In SmolLM2 one scale per row has a relative error of 0.13<!--[[error(SMOL, "row, 4 bits"):.2f]]-->. One scale per matrix, with the largest weights kept exactly, has about the same, 0.12<!--[[error(SMOL, spared):.2f]]-->, but their costs are far apart<!--[[? cost(SMOL, spared)[1] > 3 * cost(SMOL, "row, 4 bits")[2]]]-->. In `char_gpt` the two costs differ by less than a factor of three<!--[[? cost(OURS, spared)[2] < 3 * cost(OURS, "row, 4 bits")[1]]]-->.
# - SpQR (Dettmers et al. 2023) also stores outliers with more bits than the other weights. GPTQ (Frantar et al. 2023) changes the weights that are not yet rounded, to make up for the error of those that are. Both look at the error in the *output* of a layer, not in the weights. We did not try them.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. The control with random weights is the point: without it "outliers matter" is only a story. What goes wrong: students mix up outliers of weights with outliers of activations, which are a different problem (Dettmers et al. 2022).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Why is the larger model more fragile?
#
# A tempting answer is depth. Perhaps errors add up over 30 layers. To test it, we round only $k$ layers of SmolLM2 to 3 bits, chosen at random in three draws for each $k$.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_depth = {
    k: [cost(SMOL, f"{k} layers, 3 bits, draw {draw}")[0] for draw in range(3)]
    for k in (1, 2, 4, 8, 15)
}
four_of_thirty = fmean(by_depth[4])
in_all_layers = costs_of(SMOL, "4 layers' worth in all, 3 bits")
by_characters = four_of_thirty / models[SMOL]["characters per token"] / three[OURS]
rounded_in = {f"{k} of 30 layers": values for k, values in by_depth.items()} | {
    "all 30 layers": [three[SMOL]],
    "as many weights as in 4 layers, spread over all 30": in_all_layers,
}
depth_told = show.table(
    [(SMOL, where, ", ".join(map(z, values))) for where, values in rounded_in.items()]
    + [(OURS, "all 4 layers", z(three[OURS]))],
    ["", "rounded to 3 bits", "cost in nats per token, draw by draw"],
)
PARTS = {
    "attention.projection": "queries, keys, values",
    "attention.output": "output of attention",
    "feed_forward.inner": "into the hidden units",
    "feed_forward.outer": "out of the hidden units",
}
order = {
    name: sorted(PARTS, key=lambda part, name=name: -cost(name, f"{part}, 2 bits")[0])
    for name in models
}
parts_told = show.table(
    [
        (words_, *(told(cost(name, f"{part}, 2 bits"), "z.3f") for name in models))
        for part, words_ in PARTS.items()
    ],
    ["2 bits in one kind of matrix only", *(f"cost, {name}" for name in models)],
)
show.predict(
    f"Rounding all 4 layers of `char_gpt` to 3 bits costs {three[OURS]:.3f} nats. You round 4 of SmolLM2's 30 layers to 3 bits. If depth alone made the difference between the models, this would cost about as much per character. What does it cost, per token?",
    choices={"about 0.01": 0.013, "about 0.1": 0.13, "about 1": 1.3},
    answer=four_of_thirty,
    why=f"Per token, four layers of SmolLM2 cost {four_of_thirty / three[OURS]:.0f} times as much as the four of `char_gpt`. That is far less than all 30 cost. Does depth explain the rest? Read the last row about SmolLM2.",
    reveals=[depth_told, parts_told],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Is depth the reason?** Fewer rounded layers also mean fewer rounded weights. As a control we round as many weights as in four layers, in random blocks of all 30 layers. This costs 0.17<!--[[fmean(in_all_layers):.2f]]--> nats, and four whole layers cost 0.15<!--[[four_of_thirty:.2f]]-->. Three draws of each do not separate the two<!--[[? min(in_all_layers) < max(by_depth[4]) and fmean(in_all_layers) < 1.33 * four_of_thirty]]-->. So we see no effect of the number of layers that hold the rounded weights.
# - If we round four layers of each model, SmolLM2 still loses 3.4<!--[[by_characters:.1f]]--> times as much per character. **We do not know why.**
# </details>
#
# **Rounding fewer weights of SmolLM2 costs less, whether they are in a few layers or spread over all of them. So this experiment does not show that depth makes a model fragile.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - Which matrices suffer most from 2 bits? In `char_gpt` it is the matrices that lead into the hidden units of the feed-forward network<!--[[? order[OURS][0] == "feed_forward.inner"]]-->, and in SmolLM2 those that lead out of the hidden units<!--[[? order[SMOL][0] == "feed_forward.outer"]]-->. The output matrix of attention suffers least in both<!--[[? order[OURS][-1] == order[SMOL][-1] == "attention.output"]]-->, but it also has the fewest weights. If you divide each cost by the square of its error, queries, keys and values come first in both<!--[[? all(max(PARTS, key=lambda q, n=n: cost(n, f"{q}, 2 bits")[0] / error(n, f"{q}, 2 bits") ** 2) == "attention.projection" for n in models)]]-->. So the order depends on how you count.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Collect explanations on the board before the question, and ask for a test of each. What goes wrong: "larger models are more fragile". We have two models, and they differ in everything.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Leave weights out
#
# **Magnitude pruning** sets the smallest weights of a matrix to zero (Han et al. 2015). A weight that is kept has 16 bits, and every weight has one more bit that says whether it is kept. If three quarters are left out, a weight costs $16/4 + 1 = 5$ bits on average, as much as rounding to 4 bits in blocks. Which is better at equal storage?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
left_out = stored("rounding")["pruned"]
ways = {bits: (f"block, {int(bits) - 1} bits", f"pruned, {bits} bits") for bits in left_out}
pruned_told = show.table(
    [
        (bits, f"{left_out[bits]:.1%}", *(told(cost(OURS, setting)) for setting in settings))
        for bits, settings in ways.items()
    ],
    ["bits per weight", "left out", "cost, rounded", "cost, pruned"],
    f"char_gpt, nats per character. A random half left out: {told(cost(OURS, 'random half pruned'))}",
)
signs = torch.Generator().manual_seed(0)


def signs_drawn(_, w):
    """The errors of leaving out half, each with a random sign."""
    towards_zero = torch.rand(w.shape, generator=signs) < 0.5
    left = pruned(w, 0.5)
    return torch.where(towards_zero, left, 2 * w - left)


with replaced(ours, signs_drawn):
    signs_cost = float((nats(gpt, all_plays) - as_it_is).mean())
times_dearer = cost(OURS, "pruned, 5 bits")[0] / cost(OURS, "block, 4 bits")[0]
show.predict(
    "You store `char_gpt` in 5 bits per weight, without any further training. How much does pruning cost, compared with rounding?",
    choices={
        "a tenth": 0.1,
        "as much": 1.0,
        "10 times as much": 10.0,
        "more than 100 times": 400.0,
    },
    answer=times_dearer,
    why=f"At 5 bits, pruning makes a relative error of {error(OURS, 'pruned, 5 bits'):.2f}, and rounding one of {error(OURS, 'block, 4 bits'):.2f}.",
    reveals=pruned_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Leaving out half of the weights (9 bits) costs 0.07<!--[[cost(OURS, "pruned, 9 bits")[0]:.2f]]--> nats, and leaving out three quarters (5 bits) costs 0.81<!--[[cost(OURS, "pruned, 5 bits")[0]:.2f]]-->. Rounding is better at each of the four sizes<!--[[? all(apart(cost(OURS, f"pruned, {b} bits"), cost(OURS, f"block, {int(b) - 1} bits")) and cost(OURS, f"pruned, {b} bits")[0] > cost(OURS, f"block, {int(b) - 1} bits")[0] for b in left_out)]]-->.
# - **Here the form matters.** Pruning half makes an error of 0.25<!--[[error(OURS, "pruned, 9 bits"):.2f]]-->. Rounding to 3 bits with one scale per row makes an error of 0.24<!--[[error(OURS, "row, 3 bits"):.2f]]--> and costs only 0.03<!--[[cost(OURS, "row, 3 bits")[0]:.2f]]-->; the intervals are far apart<!--[[? cost(OURS, "row, 3 bits")[2] < cost(OURS, "pruned, 9 bits")[1]]]-->. All errors of pruning point towards zero, and this adds to the cost. If we give each error a random sign, the cost falls to 0.04<!--[[signs_cost:.2f]]--> (one draw)<!--[[? signs_cost < cost(OURS, "pruned, 9 bits")[1]]]-->.
# </details>
#
# **In `char_gpt`, at equal storage and without further training, rounding costs far less than pruning.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - The choice by size matters: leaving out a *random* half costs 1.6<!--[[cost(OURS, "random half pruned")[0]:.1f]]--> nats. In SmolLM2 leaving out the smallest half costs 3.1<!--[[cost(SMOL, "pruned, 9 bits")[0]:.1f]]-->.
# - Han et al. train the remaining weights again, several times. We did not.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Do the sum of bits at the board: the mask is not free. What goes wrong: students take "90 % sparse" for "ten times smaller".*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. A small model learns from a large one
#
# Rounding keeps the network. **Distillation** trains a smaller network, the **student**, to predict the probabilities $p$ of a large one, the **teacher** (Hinton et al. 2015):
#
# $$L = -T^2 \sum_v p_v \ln q_v, \qquad p = \mathrm{softmax}(z_{\text{teacher}} / T), \quad q = \mathrm{softmax}(z_{\text{student}} / T).$$
#
# Here $z$ are the logits, and $T$ is a temperature ([lecture 9](09_decoding.ipynb)), which we leave at 1. The text says only which letter came next, but the teacher says how probable each letter was. The student has two layers of width 64, an eighth of the parameters of `char_gpt`, and reads 50,440<!--[[study["characters"]["text"]:,]]--> characters of Shakespeare several times over. The teacher takes time to compute its probabilities, so in the same time the
# student without a teacher takes more steps. As a **control**, a third student reads 460,800<!--[[fresh:,]]--> characters once, without a teacher. Both texts come from the plays that the teacher was trained on (`python -m lectures.recipes distillation`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
study = stored("distillation")
arms, tests, costs = study["rows"], study["against alone"], study["costs"]
ABOUT = {
    "alone": "the text itself",
    "alone, longer": "the text itself, for longer",
    "taught": "the teacher's probabilities",
    "sampled": "letters sampled from these probabilities",
    "more text": "nine times as much text, read once",
}
fresh = arms["more text"]["steps"] * SETTING.batch * TIME
versus, in_time, on_dev, than_drawn = (
    paired(arms[other][play], {"taught": arms["taught"][play]})[0]["taught"]
    for other, play in (
        ("more text", "test"),
        ("alone, longer", "test"),
        ("more text", "dev"),
        ("sampled", "test"),
    )
)
seconds = {
    arm: costs["reading"] * (arm in ("taught", "sampled"))
    + of["steps"] * costs["taught" if arm in ("taught", "sampled") else "alone"]
    for arm, of in arms.items()
}
test_play = torch.tensor(letters.encode(plays().test[0][: 2 * HELD * TIME]))
held = test_play.unfold(0, TIME + 1, TIME)[:HELD]
few = torch.tensor(letters.encode("".join(plays().train)[:TEXT]))
pairs = floors(few, held, letters.vocab_size)[
    "pairs of characters"
]  # the floor, on the same text
arms_told = show.table(
    [
        (
            words_,
            arms[arm]["steps"],
            f"{seconds[arm]:.1f}",
            f"{fmean(arms[arm]['test']):.3f}",
            "{:+.3f} ± {:.3f}".format(*tests[arm]) if arm in tests else "",
        )
        for arm, words_ in ABOUT.items()
    ],
    ["trained on", "steps", "seconds", "test loss", "minus the first row"],
    f"The teacher: {study['teacher']['test']:.3f}; pairs of letters, counted: {pairs:.3f}",
)
show.predict(
    f"One student has a teacher and takes {arms['taught']['steps']} steps, one has none and takes {arms['alone, longer']['steps']}, in the same time and on the same {study['characters']['text']:,} characters. Which has the lower loss on a test play?",
    choices=["the one without", "no clear difference over five seeds", "the one with a teacher"],
    answer="no clear difference over five seeds"
    if in_time.p > 0.05
    else "the one with a teacher"
    if in_time.difference < 0
    else "the one without",
    why="Its loss is far lower in each of the five seeds. But look at the last row before you say why.",
    reveals=arms_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In the same time the taught student reaches 2.13<!--[[fmean(arms["taught"]["test"]):.2f]]--> nats per character, and the one without a teacher 2.36<!--[[fmean(arms["alone, longer"]["test"]):.2f]]-->. Paired over five<!--[[words(len(arms["alone, longer"]["test"]))]]--> seeds, the interval of the difference is far from zero<!--[[? in_time.difference + 3 * in_time.half < 0]]-->.
# - **The control is about as good.** Without a teacher, but with nine<!--[[words(round(fresh / study["characters"]["text"]))]]--> times as much text, and in a little less time<!--[[? seconds["more text"] < seconds["taught"]]]-->, the student reaches 2.12<!--[[fmean(arms["more text"]["test"]):.2f]]-->. On the test play five seeds show no difference<!--[[? versus.p > 0.05]]-->, and they would probably have shown one of 0.02 nats<!--[[? versus.half < 0.015]]-->. On the play with which we chose the rates, the taught student is ahead by 0.03<!--[[-on_dev.difference:.2f]]--> nats<!--[[? on_dev.p < 0.05]]-->, so the order may depend on the play.
# - **Is it the teacher, or its probabilities?** A second control replaces each of the teacher's distributions by one letter sampled from it. On average, the loss on these letters has the same gradient as the loss on the distributions. Such a student reaches 2.27<!--[[fmean(arms["sampled"]["test"]):.2f]]-->. So the sampled letters bring a part of the gain<!--[[? tests["sampled"][0] + tests["sampled"][1] < 0]]-->, and the whole distributions add 0.15<!--[[-than_drawn.difference:.2f]]--> ± 0.02<!--[[than_drawn.half:.2f]]--> nats more.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - We tried three learning rates with a teacher and three without, and in both cases the middle one is best on a play other than the test play<!--[[? all(of["rate"] == sorted(map(float, of["tried"]))[1] for of in (arms["alone"], arms["taught"]))]]-->. The longer run and the control keep the rate that was chosen without a teacher. The losses of all rows are below the bigram model's 2.71<!--[[pairs:.2f]]--><!--[[? max(fmean(of["test"]) for of in arms.values()) < pairs]]-->.
# - We sampled the letters once, and this student has the taught student's learning rate. The teacher may also pass on what it learned from more text.
# - We measured one length of training, short enough for a laptop.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The student as a draft.** In speculative decoding ([lecture 9](09_decoding.ipynb)) a small model drafts some tokens, and the large one checks them in a single call. A drafted letter is accepted with probability $\sum_v \min(p_v, q_v)$: the more similar the two distributions are, the fewer calls are needed. Our student drafts four<!--[[words(study["drafts"]["taught"]["lookahead"])]]--> letters at a time.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
drafts = study["drafts"]
plain = drafts["taught"]["plain"]
way = drafts["taught"]["draft"]  # drafted letters take what the checks leave of the time
checks = way["calls"] * plain["milliseconds"]
drafted = way["calls"] * drafts["taught"]["lookahead"] * plain["milliseconds"]
letter_cost = (way["milliseconds"] - checks) / drafted
break_even = (1 / way["calls"] - 1) / drafts["taught"]["lookahead"]  # of a call, for one letter
drafting = {"none": (plain, "")} | {
    arm: (of["draft"], f"{fmean(arms[arm]['accepted']):.3f}") for arm, of in drafts.items()
}
show.table(
    [
        (draft, f"{way['calls']:.2f}", f"{way['milliseconds']:.1f}", accepted)
        for draft, (way, accepted) in drafting.items()
    ],
    ["draft", "calls of the teacher per letter", "ms per letter", "accepted"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# - On the test play the teacher accepts 0.71<!--[[fmean(arms["taught"]["accepted"]):.2f]]--> of the taught student's letters, and 0.68<!--[[fmean(arms["more text"]["accepted"]):.2f]]--> of those of the student with more text, whose loss is about the same. The taught student is ahead in each seed<!--[[? all(a > b for a, b in zip(arms["taught"]["accepted"], arms["more text"]["accepted"], strict=True))]]-->.
# - With the taught student's drafts, the teacher is called 0.4<!--[[drafts["taught"]["draft"]["calls"]:.1f]]--> times per letter instead of once. But a letter takes longer here, 2.8<!--[[drafts["taught"]["draft"]["milliseconds"]:.1f]]--> ms instead of 1.7<!--[[plain["milliseconds"]:.1f]]--><!--[[? drafts["taught"]["draft"]["milliseconds"] > plain["milliseconds"]]]-->. This is one student, on a few hundred letters.
#
# **In this training a teacher helped about as much as nine times the text, and its probabilities taught more than letters sampled from them. Drafts save calls of the large model, but on our machine they take more time than they save<!--[[? letter_cost > break_even]]-->.**

# %% [markdown] slideshow={"slide_type": "skip"}
# - We assume that a check takes as long as a call of the teacher for one letter. Then drafting one letter takes 78<!--[[100 * letter_cost:.0f]]--> % of the time of such a call. With this many accepted letters, drafting would save time only if one drafted letter took less than 38<!--[[100 * break_even:.0f]]--> %.
# - A model can draft for itself. With **multi-token prediction** (Gloeckle et al. 2024) it also predicts the tokens after the next one. We did not try it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Before the table, ask what each control would show if it did as well as the teacher. What goes wrong: "the teacher is better than the text", although the teacher was trained on far more text. The last row of the table is the control for this.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Where the memory of training goes
#
# The methods so far make *using* a model cheaper. Training a model needs memory for more than its weights. For each of $N$ parameters in 32 bits there are 4 bytes of weight, 4 of gradient, and 8 for AdamW's two moments: $16 N$ bytes. In addition, each layer keeps intermediate values for the backward pass, its **activations**. PyTorch can list them:

# %% slideshow={"slide_type": "fragment"}
own = {p.untyped_storage().data_ptr() for p in gpt.parameters()}


def activation_bytes(tokens):
    """Bytes that the forward pass keeps for the backward pass, without the weights."""
    kept = {}

    def pack(x):
        kept[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        loss = teacher_forcing_loss(gpt, tokens)  # noqa: F841 - it holds what is counted
    return sum(size for at, size in kept.items() if at not in own)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
batch = text[:4]  # as in its training: four windows of 256 characters
positions = batch[:, 1:].numel()
config = gpt.config
measured = activation_bytes(batch)
short = activation_bytes(batch[:, :65])
with torch.autocast("cpu", dtype=torch.bfloat16):
    in_16_bits = activation_bytes(batch)
vectors = measured / (4 * positions * config.n_layers * config.d_model)
fixed = 16 * card["parameters"]
SIZES = {
    "char_gpt": (card["parameters"], config.n_layers, config.d_model),
    "SmolLM2": (n_smol, len(smol.layers), smol.config.d_model),
    "Llama 2, 7 billion": (6_738_415_616, 32, 4096),
}
show.predict(
    f"`char_gpt` was trained on {positions:,} characters a step. Weights, gradients and moments take {widgets.bytes_told(fixed)}. How much do the activations take?",
    choices={"a tenth of that": 0.1, "as much": 1.0, "three times as much": 3.0},
    answer=measured / fixed,
    why=f"There are about {vectors:.0f} vectors per layer and character, and every vector has {config.d_model} values of 4 bytes.",
    reveals=[
        f"activations, measured: {widgets.bytes_told(measured)}, {vectors:.1f} vectors per layer and character",
        widgets.memory_counter({name: widgets.TrainingSize(*of) for name, of in SIZES.items()}),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The activations take 40<!--[[measured / 1e6:.0f]]--> MB, the rest 13<!--[[fixed / 1e6:.0f]]--> MB. Windows of a quarter of the length take about a quarter of the memory<!--[[? abs(measured / short - 4) < 0.2]]-->, so attention keeps no matrix of $n^2$ weights per head here. Its fused kernel computes these weights again in the backward pass.
# - A **bfloat16** number has 16 bits, and its exponent has as many bits as that of a 32-bit number. Small updates would be lost in 16-bit weights, so a copy in 32 bits is kept. This is **mixed precision** (Micikevicius et al. 2018, for a different 16-bit format). The sum per parameter stays at 16 bytes: $2 + 4 + 2 + 8$ for weight, copy, gradient and moments (Rajbhandari et al. 2020). Only the activations shrink, to a half if all of them are kept in 16 bits. With PyTorch's mixed precision (`torch.autocast`), those of `char_gpt` shrink to 0.6<!--[[in_16_bits / measured:.1f]]--> of their size, because the normalisations keep their inputs in 32 bits, and the 16-bit copies of the weights count as well.
# </details>
#
# **In training, 16 bits with a 32-bit copy save no memory for weights, gradients and moments. At best they halve the activations.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - The widget counts 18<!--[[widgets.VECTORS_KEPT]]--> vectors of the model's width per layer and token. The measured 19.3<!--[[vectors:.1f]]--> also include attention's mask, the final normalisation and the logits. Other blocks keep more or fewer vectors, so the bars of the other models are estimates.
# - **Checkpointing** keeps only the input of each layer, and computes the other activations again in the backward pass (Chen et al. 2016). By the widget's count, `char_gpt` then has at most 22<!--[[config.n_layers + widgets.VECTORS_KEPT]]--> vectors per token in memory at a time, instead of 72<!--[[config.n_layers * widgets.VECTORS_KEPT]]-->. The price is one more forward pass.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Ask what must be in memory for one step of AdamW before the table. What goes wrong: "7 billion parameters need 28 GB". That is enough to use the model in 32 bits. To train it you need four times as much, before the first activation.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How many bits?
#
# - **The model that you use** stores 4 bits for each weight of its matrices, or 5 if you count the step and the minimum. We could not measure what they cost.
# - **3 bits** cost `char_gpt` 0.01<!--[[three[OURS]:.2f]]--> nats per character and SmolLM2 0.50<!--[[per_character:.2f]]-->. We do not know what explains this difference.
# - **The step** sets the size of the error, and one outlier sets the step. Smaller blocks lower the error but cost bits: at about 4 bits per weight, one scale per row was better than one per block of 32.
# - **Pruning** costs `char_gpt` far more than rounding, at equal storage and without further training.
# - **A small model** learned from a large one's probabilities about as much as from nine times the text<!--[[? in_time.difference < 0 and in_time.p < 0.05 < versus.p]]-->, at this length of training.
#
# **The same 3 bits cost one of these models almost nothing and made the perplexity of the other more than five times as high<!--[[? perplexity[3] > 5 * perplexity[4]]]-->. Measure the cost on your model, token by token, and count all the bits.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Let the room answer the question of the first slide. What goes wrong: "4 bits are enough". We tested one model whose weights were not rounded before.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# `my_rounding` gets a matrix and returns one with at most 8 different values per block of 32. The levels need not be evenly spaced: you can clip the outliers, or put more levels where more weights are. Can you lower the cost of 3 bits?
#
# In the assignment [`compression.ipynb`](../exercises/compression/compression.ipynb) you shrink the course's GPT to 2 bits with functions of your own.


# %% slideshow={"slide_type": "fragment"}
def my_rounding(name, w, bits=3):
    """(row, column) -> (row, column). Change this."""
    return rounded(w, bits)


with replaced(ours, my_rounding) as relative:
    mine = bootstrap_interval(stretches(nats(gpt, text) - before))
print(f"yours: relative error {relative:.3f}, cost {told(mine)}")
print(f"3 bits, rounded to nearest: {told(live[3][1])}")

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. A first try is to clip each block at 95 % of its range. It lowers the error, and on this play it raises the cost: ask for both. What goes wrong: students fit the levels to the text that tests them.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A block has weights from −0.3 to 0.45. What is the step for 4 bits, and how far can a weight move?
# <details><summary>Answer</summary>The step is 0.75 / 15 = 0.05, so a weight moves by at most 0.025.</details>
#
# 2. You double the size of the blocks to 64. How many bits does a 4-bit weight cost, and what happens to the error?
# <details><summary>Answer</summary>It costs 4 + 32 / 64 = 4.5 bits. The step grows or stays the same, because a larger block has at least as large a range. So does the largest possible error.</details>
#
# 3. Somebody rounds a downloaded model to 4 bits, finds the same loss, and concludes that 4 bits are free. What do you ask?
# <details><summary>Answer</summary>You ask how many bits the file had. If it was rounded already, the same rounding is the identity.</details>
#
# 4. A report says that rounding raises the perplexity from 12.1 ± 0.4 to 12.3 ± 0.4, "within the error". What is wrong?
# <details><summary>Answer</summary>Both losses were measured on the same text. Subtract them token by token: the interval of the difference is much narrower.</details>
#
# 5. A student with a teacher has a lower loss than one trained on the same text without a teacher. Name two explanations other than "probabilities tell more than letters".
# <details><summary>Answer</summary>The teacher was trained on more text and passes on what it learned, or any targets that spread the probability over several letters help. The control in section 7 is about the first explanation.</details>
#
# 6. Your model does not fit into memory during training. Halving the batch helps little. What takes the memory?
# <details><summary>Answer</summary>The weights, gradients and moments do. They do not depend on the batch.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 3. What goes wrong: students answer question 5 with "the teacher is larger", which explains nothing yet.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $d$, $m$ | scale, zero point | step and lowest level of a block |
# | rounding to nearest | RTN, a kind of post-training quantisation | each weight moves to its nearest level, without training |
# | one scale for a block | group-wise, group size 32 | weights that share $d$ and $m$ |
# | cost | Δ loss | rise of the loss, paired by token |
# | bits per weight | bpw | includes each weight's share of $d$ and $m$ |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: a zero point counts steps, but our minimum is a value.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **quantisation**: weights are stored as small integers that share a scale.
# - **rounding to nearest**: every weight moves to the nearest level, and no other weight makes up for the error.
# - **block of weights**: neighbouring weights that share a step and a minimum.
# - **outlier**: a weight many standard deviations away from zero; it sets the step of the weights that share its scale.
# - **magnitude pruning**: the smallest weights are set to zero.
# - **distillation**: a small model is trained on a large one's probabilities.
# - **student**: in distillation, the model that is trained.
# - **teacher**: in distillation, the model whose probabilities the student learns.
# - **multi-token prediction**: a model that also predicts the tokens after the next one.
# - **activations**: what the forward pass keeps for the backward pass.
# - **bfloat16**: a number in 16 bits with the exponent of a 32-bit one.
# - **mixed precision**: computing in 16 bits while a copy of the weights is kept in 32.
# - **checkpointing**: activations are computed again in the backward pass instead of being kept.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Ben Allal et al. (2025), SmolLM2. Gerganov et al., ggml and llama.cpp (the format of the blocks). Dettmers, Lewis, Belkada & Zettlemoyer (2022), LLM.int8(). Dettmers et al. (2023), SpQR. Frantar, Ashkboos, Hoefler & Alistarh (2023), GPTQ. Han, Pool, Tran & Dally (2015), Learning both weights and connections for efficient neural networks. Hinton, Vinyals & Dean (2015), Distilling the knowledge in a neural network. Leviathan, Kalman & Matias (2023), Fast inference from Transformers via speculative decoding. Gloeckle et al. (2024), Better & faster large language models via multi-token prediction. Micikevicius et al. (2018), Mixed precision training. Rajbhandari et al. (2020), ZeRO. Chen et al. (2016), Training deep nets with sublinear memory cost.
