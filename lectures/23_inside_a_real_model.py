# %% [markdown] slideshow={"slide_type": "slide"}
# # Inside a real language model
#
# SmolLM2-135M-Instruct continues *The capital of France is* with *Paris*. **Where in the model is this fact, which parts bring the answer to the last word, and how can
# you tell?** This lecture opens the model while it runs. You read its vectors, switch parts of it off, and copy vectors from one
# sentence to another. We believe an explanation of what a part does only if an intervention supports it and the same intervention on a control does not.
#
# <img src="figures/patched_path.svg" width="900" alt="Map for the sentence When Mary and John went to the store, John gave a drink to, with the giver changed to Mary. Up to layer 22 the changed name restores most, from layer 23 on the last word.">
#
# *Two sentences differ in one word, the giver. For each cell, one vector of the first sentence is copied into the second. A red cell means that this brings back the first
# sentence's answer. In section 4 you choose the cells.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - read a model with the logit lens, and say where the lens misleads;
# - split a logit exactly into the shares of heads and feed-forward networks, and say what is kept fixed;
# - ablate, patch and steer a running model in three lines of code, with controls;
# - find induction heads by a measurement, and confirm them by an intervention;
# - judge a claim about a head, a neuron or a direction, and name another explanation that its evidence does not exclude.
#
# **You need** [lecture 15](15_transformer_language_model.ipynb) (residual pathway, logit lens) and [lecture 13](13_self_attention.ipynb) (heads, ablation). The model is SmolLM2-135M-Instruct,
# which its makers tuned on conversations; below we write SmolLM2. Its 135 million parameters are stored in 4 or 8 bits each, and all our measurements are of this rounded model. It has 30 layers with 9 heads each, both counted from 0. Head 18.6 is head 6 of layer 18. *Network* always means a feed-forward network, and *pathway* the residual pathway. Vectors are rows.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 9 | 9 | 9 | 10 | 10 | 8 | 10 | 9 |
#
# The minutes are for a class. If you work alone, with all widgets, plan about two hours. Every cell runs in a few seconds on a laptop, without a network connection. Long measurements are stored; the command next to each
# repeats it. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 2 and 7. Take your time with the model that opens: let the room call out layers, then heads.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from statistics import fmean, median

import torch
from IPython.display import HTML
from torch.nn import functional as F

from nlmcore.inspect import (
    capture,
    direct_logits,
    head,
    induction_score,
    patch,
    pathway,
    repeated,
    restore_each,
)
from nlmcore.metrics.significance import critical, holm, two_sided
from nlmcore.pretrained import smollm2
from lectures import show, stored, widgets

torch.set_num_threads(1)
torch.set_grad_enabled(False)  # nothing is trained here
model, tokenizer = smollm2()
inside = widgets.Inside(model, tokenizer)


def read(text):
    """(1, time): the tokens of a text."""
    return torch.tensor([tokenizer.encode(text)])


def told(row, form="z.2f"):
    """A mean with its interval, (mean, low, high) or (mean, half)."""
    mean, *rest = row
    low, high = rest if len(rest) == 2 else (mean - rest[0], mean + rest[0])
    return show.estimate(mean, low, high, f"{{:{form}}}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## The model at work
#
# SmolLM2 reads *The capital of France is*. The tokens rise as threads through its 30 layers, and the last thread leads to the predicted next token. Lines show what heads bring from
# earlier tokens, and knots show what networks add. Press a layer to switch it off, so that it adds nothing. What happens to *Paris*? Then press single heads, the dots on the left.
# The second menu shows the same model with two instruments, the lens of section 1 and the shares of section 2.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sentences = (
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "one two three four one two three",
)
widgets.living(model, tokenizer, *sentences)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** For how many of the 270 heads does the answer change from *Paris* to another word when only that head is switched off? Guess, and then press *Try each part alone*. Do the same for *Mary*.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Part of section 1's time. Let the room call out layers first: without most of them "Paris" is still the answer. Then single heads: none changes it. What goes wrong: a head that looks at France, or adds much, is taken for the one that
# knows the answer. Press it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where the instruments look
#
# This picture is computed from the parts of the model itself. The pathway runs from the bottom to the top; every sublayer reads it and adds to it. Choose an instrument of this lecture to light up the parts that it reads or changes.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
instruments = {
    "the logit lens (section 1)": (
        ["plus", "final norm", "unembedding"],
        "It takes the vector after any layer straight to the final norm and the unembedding, and skips all later layers.",
    ),
    "the shares of a logit (section 2)": (
        ["embedding", "causal attention", "network"],
        "At its end the pathway is the sum of the embedding and everything that the sublayers added.",
    ),
    "ablating heads (sections 3, 5, 6)": (
        ["causal attention"],
        "A head's output is replaced before the attention adds it. Every later part reads a changed pathway.",
    ),
    "patching the pathway (section 4)": (
        ["plus"],
        "After one layer, one position's vector, with everything that was added so far, is replaced by the vector from another text.",
    ),
    "patching one network (section 8)": (
        ["network"],
        "Only what one network adds at one position is replaced; the rest of the pathway stays.",
    ),
    "steering (section 7)": (
        ["plus"],
        "A direction is added to the pathway after one layer; the later layers do the rest.",
    ),
}
widgets.architecture_parts(model, instruments, "instrument")

# %% [markdown] slideshow={"slide_type": "notes"}
# *Part of section 1's time. Ask which instrument can tell that a head looked at a word and which that it mattered. What goes wrong: students take the lens for a part of the model. It is our shortcut.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. From layer to layer
#
# Each token has a vector on the residual pathway: $x_0$ before the first layer, then $x_1, \dots, x_{30}$, one after each layer. The logit lens reads any of them as if
# it were the last. With the final norm and the unembedding matrix $W_U$ it makes a prediction $p_\ell$:
#
# $$p_\ell = \mathrm{softmax}\big(\mathrm{norm}(x_\ell)\, W_U\big).$$
#
# Wang's lecture slides on Transformers show a model that completes *I think therefore I* with *am*, which appears in the upper layers. Does SmolLM2 do the same?

# %% slideshow={"slide_type": "fragment"}
with pathway(model) as sublayers:
    model(read("I think therefore I"))
depths = [sublayers[0].x] + [branch.result for branch in sublayers[1::2]]
lens = [model.output(model.final_norm(x))[0, -1] for x in depths]  # 31 times (vocab)
am = tokenizer.encode(" am")[0]
ranks = [int((scores > scores[am]).sum()) + 1 for scores in lens]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with_comma = inside.read("I think, therefore I").log_p
show.predict(
    "SmolLM2 reads “I think therefore I”. How does *am* rank among the 49,152 possible next tokens?",
    choices={
        "1, the first guess": 1,
        "2 to 10": ranks[-1] if 2 <= ranks[-1] <= 10 else 5,
        "about 100": 100,
    },
    answer=ranks[-1],
    why="*am* climbs in the upper layers, but other words end above it. The quotation has a comma, and with it *am* is second.",
    reveals=widgets.lens_of_ranks(
        inside,
        [
            "I think therefore I",
            "I think, therefore I",
            "The capital of France is",
            "The keys to the cabinet",
        ],
        ["am", "am", "Paris", "are"],
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Type your own sentence, and a word that may follow it. Between which layers does the rank of this word improve most?
#
# **How far can you trust the lens?** It uses a norm and a matrix that were trained for the last layer only. For comparison we fit a
# linear map from each $x_\ell$ to $x_{30}$ on other text, and apply the lens to its output (after Belrose et al. 2023). If this gives the model's final guess more often than the lens does, and more often
# than a guess made without the vector, then the vector contains more about the final guess than the lens shows (`python -m lectures.recipes early_lens`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
early = stored("early_lens")
half_way = {name: by[15][0] for name, by in early["rows"].items()}
by_lens, by_map = early["rows"]["lens"], early["rows"]["fitted map"]  # (mean, half) by layer
bounds = [100 * (by[15][0] + sign * by[15][1]) for by in (by_lens, by_map) for sign in (-1, 1)]
always, current = early["floors"].values()  # without a vector: one token, the current token
show.predict(
    "After 15 of 30 layers, for what fraction of the tokens is the lens's first guess already the model's final one?",
    choices={"about 5 %": 0.05, "about 20 %": 0.2, "about 60 %": 0.6},
    answer=half_way["lens"],
    why="In the middle of the model the lens seldom gives the final guess. A fitted map gives it more often, from the same vectors.",
    reveals=HTML(
        show.bands_svg(
            early["layers"],
            {
                name: [[m - half for m, half in by], [m + half for m, half in by]]
                for name, by in early["rows"].items()
            },
            alt="Fraction of tokens with the final first guess, by layer: "
            + "; ".join(
                f"{name} " + ", ".join(f"{i}: {by[i][0]:z.2f}" for i in range(0, 31, 5))
                for name, by in early["rows"].items()
            ),
            x_title="layers",
            y_title="fraction with the final guess",
            low=0,
            high=1,
            height=360,
        )
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In “I think therefore I”, *am* has rank 137<!--[[ranks[0]]]--> among all tokens before the first layer and rank 5<!--[[ranks[-1]]]--> after the last, behind *will*, *would*, *shall* and *should*. It
#   enters the top ten after 22<!--[[next(i for i, rank in enumerate(ranks) if rank <= 10)]]--> layers, and is second after 28<!--[[? ranks[28] == 2]]-->. With the comma it ends second<!--[[? (with_comma > with_comma[am]).sum() == 1]]-->.
# - After 15 layers the lens's first guess is already the model's final one for 19<!--[[100 * by_lens[15][0]:.0f]]--> % of the tokens, and the fitted map's for 42<!--[[100 * by_map[15][0]:.0f]]--> %. The 95 % intervals are far apart<!--[[? bounds[1] < bounds[2]]]-->.
# - One layer before the end these fractions are 46<!--[[100 * by_lens[29][0]:.0f]]--> % for the lens and 83<!--[[100 * by_map[29][0]:.0f]]--> % for the map. So where the lens does not give the final guess, the vector may still contain it.
# - **What is right without the vector?** Always guessing the same token is right for 21<!--[[100 * always[0]:.0f]]--> %. Up to layer 15 the lens is right no more often<!--[[? max(m for m, _ in by_lens[:16]) < always[0]]]-->. A table of the most frequent final guess after each current token is right for 35<!--[[100 * current[0]:.0f]]--> %.
# - The interval of the map after 15 layers contains the value of the table<!--[[? bounds[2] < 100 * current[0] < bounds[3]]]-->, so we cannot tell whether the map reads more there than the current token. One layer before the end it clearly does<!--[[? sum(current) < by_map[29][0] - by_map[29][1]]]-->.
# </details>
#
# **The lens shows what the final norm and the unembedding can read from a layer's vector, not everything that the vector contains.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let everybody write down a rank for "am" before you run the cell. What goes wrong: a low row of the lens that says nonsense is
# read as "the model does not know yet". The fitted map shows that the vector may know what the lens does not read.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Who wrote the logit?
#
# The pathway at its end is a sum: the embedding, plus what each of the 270 heads and 30 networks added. So a logit is a sum as well.
# A head's vector $z_k$, its weighted mean of values, is multiplied by the head's rows $W^O_k$ of the output matrix. $F_\ell$ is what the network of layer $\ell$ adds. With the unembedding $u$ of a word, the final norm's gain $g$ and
# its scale $s$, which is the root mean square of $x_{30}$,
#
# $$u \cdot \mathrm{norm}(x_{30}) \;=\; \tilde u \cdot x_0 + \sum_{\ell}\sum_k \tilde u \cdot z_{\ell k} W^O_{\ell k} + \sum_\ell \tilde u \cdot F_\ell,
# \qquad \tilde u = \frac{g \odot u}{s}.$$
#
# This is **direct logit attribution** (Elhage et al. 2021). We call each summand the *share* of its part. It is measured in logits and is not a fraction. The sum is exact as long as the scale $s$ keeps the value that it has on this text.
# If you remove a part, $s$ changes, and all later parts see a different input. [Lecture 15](15_transformer_language_model.ipynb) split a logit by sublayers; now we go down to
# single heads. We compare two words, so $u$ is the *difference* of two unembeddings.

# %% slideshow={"slide_type": "fragment"}
ids = read("The capital of France is")
paris, rome = (tokenizer.encode(word)[0] for word in (" Paris", " Rome"))
u = model.output.weight[paris] - model.output.weight[rome]
parts = {name: float(part[0, -1]) for name, part in direct_logits(model, ids, u).items()}
logits = model(ids)[0][0, -1]
print(f"sum of {len(parts)} parts {sum(parts.values()):z.3f}")
print(f"logit(Paris) - logit(Rome) {logits[paris] - logits[rome]:z.3f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
facts = stored("capital_facts")
written = facts["written by"]
names = {"feed_forward": "the networks", "attention": "the heads", "embedding": "the embedding"}
heads_row, networks_row = written["attention"], written["feed_forward"]
overlap = heads_row[1] < networks_row[2] and networks_row[1] < heads_row[2]
show.table(
    [(names[kind], told(row)) for kind, row in written.items()],
    ["written by", "logit of the right capital minus another"],
    f"Mean over {len(facts['countries'])} countries.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.share_player(
    inside,
    [
        ("The capital of France is", "Paris", "Rome"),
        ("The keys to the cabinet", "are", "is"),
        ("When Mary and John went to the store, John gave a drink to", "Mary", "John"),
        ("I think, therefore I", "am", "will"),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Head 23.4<!--[[? largest == "layers.23.attention.4"]]--> alone writes 3.01<!--[[parts[largest]:.2f]]--> of the 7.31<!--[[odds(logits):.2f]]--> by which the logit of *Paris* exceeds that of *Rome*. Some parts work against *Paris*. The network of layer 29 subtracts 2.10<!--[[-parts["layers.29.feed_forward"]:.2f]]-->.
# - On average over 48<!--[[len(facts["countries"])]]--> countries, the heads write 4.07<!--[[heads_row[0]:.2f]]--> of the difference and the networks 4.63<!--[[networks_row[0]:.2f]]-->. So neither the heads nor the networks alone write the fact. The embedding of *is*
#   writes nothing<!--[[? abs(written["embedding"][0]) < 0.05]]-->.
# - The part that wrote an answer need not be the part that found it.
# </details>
#
# **A share says exactly how much a part wrote, and nothing about whether that part was needed.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Write the sum on the board and cross out one term: what else changes? (The scale, and every later layer.) What goes wrong: a large
# share is read as a cause. Section 3 tests that.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Switch a head off
#
# An **intervention** changes an activation while the model runs, and leaves everything else to the model. `patch` takes the names of activations and their new values.
# Inside the `with` block the head's output is replaced. After the block the model is as before.

# %% slideshow={"slide_type": "fragment"}
heads = [name for name in parts if ".attention." in name]
largest = max(heads, key=parts.get)  # by its share of Paris against Rome
attention, _, number = largest.rpartition(".")
place = head(model, attention, int(number))
with patch(model, {place: 0}):
    without = model(ids)[0][0, -1]

# %% [markdown] slideshow={"slide_type": "fragment"}
# Zero is an unusual output for a head, so part of the damage may come from that. **Mean ablation** sets the output to its mean over many
# texts instead. The head still adds something, but nothing that depends on *this* text. In the next measurement we ablate, at the last word, the heads
# with the largest shares over all capitals that the model knows (`python -m lectures.recipes capital_facts`). The *log-odds* are the logit of the right capital minus that of another capital.
# If nothing else changed, the log-odds would fall by the sum of these heads' shares, each minus the share of the head's mean output. This is the fall that the shares *promise*.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
backup = facts["backup"]
kept = {
    row["heads"][0] if len(row["heads"]) == 1 else f"{len(row['heads'])} heads": row
    for row in backup
}
promised = show.table(
    [(name, told(row["promised"]), told(row["fall"])) for name, row in kept.items()],
    ["ablated", "fall promised by the shares", "fall of the log-odds"],
    f"One sentence, {largest} by zero: "
    + " → ".join(f"{x[paris] - x[rome]:z.2f}" for x in (logits, without)),
)
ratio = backup[-1]["fall"][0] / backup[-1]["promised"][0]
show.predict(
    f"You ablate the {len(backup[-1]['heads'])} heads with the largest shares. Their shares promise a fall of {backup[-1]['promised'][0]:z.1f}. How large is the fall?",
    choices={
        "a quarter of it": 0.25,
        "three quarters": 0.75,
        "as promised": 1.0,
        "one and a half times": 1.5,
    },
    answer=ratio,
    why="A share keeps everything else fixed. Later parts may read what these heads bring, so more can be lost than the heads themselves wrote.",
    reveals=[
        promised,
        widgets.living(model, tokenizer, *sentences, at=f"{attention.split('.')[1]}.{number}"),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** In the widget, find a head whose attention looks important but whose ablation changes nothing. In *one two three …*, find one that looks unimportant but whose ablation changes the answer.
#
# <details><summary><b>What to notice</b></summary>
#
# - In this one sentence the log-odds fall from 7.31<!--[[odds(logits):.2f]]--> to 1.91<!--[[odds(without):.2f]]--> without head 23.4, by 5.40<!--[[odds(logits) - odds(without):.2f]]-->, although its share is 3.01<!--[[parts[largest]:.2f]]-->.
# - Over 48<!--[[len(facts["countries"])]]--> countries, with mean ablation, the share of this head promises a fall of 1.96<!--[[backup[0]["promised"][0]:.2f]]-->. The fall is 4.74<!--[[backup[0]["fall"][0]:.2f]]-->.
# - The eight<!--[[words(len(backup[-1]["heads"]))]]--> largest heads together promise 5.81<!--[[backup[-1]["promised"][0]:.2f]]-->, and the log-odds fall by 8.32<!--[[backup[-1]["fall"][0]:.2f]]-->. In both cases the intervals of the promised and the actual fall do not overlap<!--[[? all(row["fall"][1] > row["promised"][2] for row in (backup[0], backup[-1]))]]-->.
# - Published work on other models and tasks found the opposite: **backup heads** take over when a head is ablated, so the fall is *smaller* than the share (Wang et al. 2023; McGrath et al. 2023). Here it is larger<!--[[? backup[0]["heads"] == ["23.4"] and backup[0]["fall"][1] > backup[0]["promised"][2]]]-->. We did not test why.
# </details>
#
# **A share is not an effect. Ablate, and measure.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room call out heads. None of the 270 alone changes *Paris* or *Mary* to another word. What goes wrong: one sentence is taken for the rule; ask for the
# interval. [Lecture 13](13_self_attention.ipynb) did the same for "tickets", with random heads as the control.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Copy vectors from one sentence to another
#
# Ablation only removes something. **Activation patching** puts something else in its place (Vig et al. 2020, Meng et al. 2022). Run the model on a clean and on
# a corrupted text that differ in one word. Put *one* activation of the clean run into the corrupted run, and see how much of the
# answer returns. With the log-odds $o = \log P(\text{clean answer}) - \log P(\text{other answer})$,
#
# $$\text{share restored} = \frac{o_{\text{patched}} - o_{\text{corrupted}}}{o_{\text{clean}} - o_{\text{corrupted}}}.$$
#
# If the share restored is 1, this one vector is **enough** to bring back the whole answer. If it is 0, this does not show that the vector is useless, because another position may carry the same information.
# To see whether an activation is **needed**, go the other way. Put it from the *corrupted* run into the clean one, and see how much of the answer is lost (Heimersheim & Nanda 2024).

# %% slideshow={"slide_type": "fragment"}
france, italy = read("The capital of France is")[0], read("The capital of Italy is")[0]
odds = lambda scores: scores[..., paris] - scores[..., rome]  # noqa: E731
best, worst = odds(model(france[None])[0][0, -1]), odds(model(italy[None])[0][0, -1])
by_layer_both = {}
for layer in (2, 10, 18, 22, 23, 28):
    patched = restore_each(model, france, italy, f"layers.{layer}", [3, 4])  # at Italy, at is
    enough = ((odds(patched) - worst) / (best - worst)).tolist()
    patched = restore_each(model, italy, france, f"layers.{layer}", [3, 4])  # the other way
    needed = ((best - odds(patched)) / (best - worst)).tolist()
    by_layer_both[layer] = enough, needed
    for at, restored, lost in zip(("country", "is"), enough, needed, strict=True):
        print(f"after layer {layer:2}, at {at:8}restored {restored:z5.2f}   lost {lost:z5.2f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
texts = stored("patched_texts")
ways = texts["ways"]
at_word, at_last = ways["at the word"], ways["at the last token"]
until_17 = [(at_word[i][0], at_last[i][0]) for i in at_word if int(i) <= 17]
maps = {name: texts["pairs"][name]["map"] for name in ("capitals", "agreement", "giver")}
early_on, late = (
    by_layer_both[18],
    by_layer_both[28],
)  # (enough, needed), each at the country and at is
both_ways = all(way[0] > 0.8 > 0.2 > way[1] for way in early_on)
both_ways = both_ways and all(way[1] > 0.8 > 0.2 > way[0] for way in late)
at_end = {name: [row[-1] for row in of["attention"]] for name, of in maps.items()}
strongest = {name: sorted(range(30), key=of.__getitem__) for name, of in at_end.items()}
show.predict(
    "Up to layer 22 the country's own vector restores everything; from layer 23 on, the vector at *is* does. Now we restore only what the *attention of layer 23* adds at *is*. What share of the answer returns?",
    choices={"about 0.1": 0.1, "about 0.5": 0.5, "about 1": 1.0},
    answer=at_end["capitals"][23],
    why="In these two sentences the attention of a single layer fetches the whole difference.",
    reveals=widgets.patch_player(inside, texts["pairs"]).opens(
        kind="attention", layer=23, position=1
    ),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now we take a long text: *When she tried to print her **tickets**, she found that the printer was out of toner. […] After installing the toner into the
# printer, she finally printed her*. The corrupted text has a different word instead of *tickets*, 46 tokens before the answer.
# At which layers does the information about the word leave the word's position (`python -m lectures.recipes patched_texts`)?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.table(
    [(i, *(told(by[i]) for by in ways.values())) for i in at_word],
    ["pathway after layer", *(f"share restored {way}" for way in ways)],
    f"Mean over {len(texts['words'])} other words, with 95 % intervals.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Up to layer 17 the vector at *tickets* restores 0.97<!--[[min(word for word, _ in until_17):.2f]]--> or more, and the vector at the last token restores nothing<!--[[? max(last for _, last in until_17) < 0.01]]-->. After layer 25 it is the other way round. The vector at *tickets* restores 0.04<!--[[at_word["25"][0]:.2f]]-->, the one at the last token 0.83<!--[[at_last["25"][0]:.2f]]-->. So the information about the word stays 46 tokens back at first, and
#   attention in layers 18 to 25 brings it to the last token.
# - For France and Italy the attention of layer 23 alone restores 1.00<!--[[at_end["capitals"][23]:.2f]]-->. In the pair about agreement (*is* or *are*) the attention sublayers of layers 26<!--[[strongest["agreement"][-1]]]--> and 27<!--[[strongest["agreement"][-2]]]--> restore most, and in the pair about the giver (*John gave* or *Mary gave*) the attention of layer 23<!--[[strongest["giver"][-1]]]-->.
# - For the capitals both ways of patching agree. After layer 18 the country's vector is both enough and needed; after layer 28 only the vector of the last word is<!--[[? both_ways]]-->.
# - Each map is of one pair of sentences. Only for the path of *tickets* do we have intervals, over five<!--[[words(len(texts["words"]))]]--> other words.
# </details>
#
# **In these texts the information about a word stays at its own position at first, and attention in later layers carries it to the last token.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Draw the two runs as two rivers and a bucket that is carried from one to the other. Ask what a share above 1 would mean (the patch overshoots), and which direction shows that a vector is needed. What
# goes wrong: the pathway's map and the map of one sublayer are mixed up. The pathway contains everything so far, a sublayer only what it adds.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Induction heads: found, then confirmed
#
# We show the model 25 random tokens, and then the same 25 again. Only copying predicts the second half. One way to copy is to find the previous occurrence of the current token
# and output the token that followed it. An induction head attends to that following token, so its score is the mean weight $\alpha$ from a token in the second half to the token after its first occurrence (Olsson et al. 2022):
#
# $$\mathrm{mean}_{t}\;\alpha[t,\; t - 24], \qquad t \ge 25 .$$

# %% slideshow={"slide_type": "fragment"}
tokens = repeated(torch.arange(1000, 20_000), 2, 25, torch.Generator().manual_seed(5))
with capture(model) as tape:
    scores = model(tokens)[0]
induction = torch.stack(
    [induction_score(weights, 25) for weights in tape.values()]
)  # (layer, head)
nats = F.cross_entropy(scores[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
first_time, again = nats[:, :24].mean().item(), nats[:, 25:].mean().item()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.table(
    [
        (f"{i // 9}.{i % 9}", f"{induction.flatten()[i]:z.2f}")
        for i in induction.flatten().argsort(descending=True)[:6].tolist()
    ],
    ["head", "induction score"],
    f"Nats per token: {first_time:z.2f} the first time, {again:z.2f} the second time.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **How can a head know what followed?** One layer is not enough, because the earlier occurrence and the token after it are at two positions, and a head compares its query with the key of one position at a time. It takes **two** heads, one in a later layer than the other (Elhage et al. 2021):
#
# 1. In an earlier layer a **previous-token head**, which attends to the previous token, writes at each position which token came *before* it. In *A B … A*, the vector at *B* then says “after *A*”.
# 2. In a later layer the query of the current *A* asks for a key that says “after *A*”. It finds *B*, and the head's value copies *B* to the prediction.
#
# The second head reads what the first one wrote. Elhage et al. call this composition. If this explanation is true, then without the earlier head the later head finds the right token less often. Section 6 tests this prediction.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Confirmed?** A high score says only where a head looks. If these heads do the copying, then without them the loss of the second half must rise, and more than without equally many random heads of the same layers. We ablate the $k$ strongest heads together, on six samples of tokens, and compare with 20 random sets of heads
# (`python -m lectures.recipes head_map`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
heads_measured = stored("head_map")
eight = heads_measured["together"]["8"]["mean"]
rise = fmean(eight["ablated"])
controls = [fmean(row) for row in eight["controls"]]
by_zeros = fmean(heads_measured["together"]["8"]["zero"]["ablated"])
alone = fmean(heads_measured["together"]["1"]["mean"]["ablated"])
one_by_one = sum(
    row["changes"]["copying"][0]
    for row in heads_measured["rows"]
    if row["head"] in heads_measured["order"][:8]
)
show.predict(
    "Of 20 random sets of eight heads from the same layers, the most harmful raises the copying loss by "
    f"{max(controls):z.2f} nats. By how much do the eight induction heads raise it?",
    choices={
        "about as much": max(controls),
        "about 3 nats": 3.0,
        "about 7 nats": 7.0,
        "about 11 nats": 11.0,
    },
    answer=rise,
    why="No set of random heads came close.",
    reveals=widgets.together_player(heads_measured),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Over six samples of tokens, a copied token has a loss of 2.35<!--[[heads_measured["nats"]["again"]:.2f]]--> nats and a new one a loss of 13.51<!--[[heads_measured["nats"]["first time"]:.2f]]--> (the cell above shows one sample). A uniform guess would cost 10.80<!--[[torch.tensor(float(model.vocab_size)).log():.2f]]-->, less than the model's loss on a new token. This model expects text, and these tokens are random.
# - Without the eight heads, the loss of a copied token is 7.01<!--[[rise:.2f]]--> nats higher. Without any of the 20<!--[[len(controls)]]--> sets of random heads it rises by at most 0.57<!--[[max(controls):.2f]]-->.
# - Two other explanations fail. One is that zero is an unusual output. But the 7.01 nats come from mean ablation; zero ablation costs a fifth<!--[[? abs(by_zeros / rise - 1.2) < 0.02]]--> more, 8.38<!--[[by_zeros:.2f]]-->. The other is that any damage in these layers raises the loss. But on verses from plays the loss changes by only 0.01<!--[[fmean(eight["on verses"]):.2f]]-->.
# - If only the head with the highest score, 18.6<!--[[heads_measured["order"][0]]]-->, is ablated, the loss rises by 1.37<!--[[alone:.2f]]-->. If each of the eight is ablated alone, the rises sum to only 3.36<!--[[one_by_one:.2f]]-->. Effects of heads need not add up, so ablate heads alone and together.
# </details>
#
# **Copying depends on these eight heads. No control did as much harm, and on verses ablating them changes next to nothing.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Act it out: somebody reads random words from a list, twice; the second time the room says the next word. How do you do it? You look for the
# earlier occurrence, then one further. What goes wrong: "the heads do it" without the control. Ask what the control must share with the heads (their layers).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. A map of all 270 heads
#
# Now we try to name every head. The position where it looks suggests one of five names. It may look at the latest occurrence of the current token (*same token*), at the token after that (*induction*), at the previous token,
# at punctuation, or at the first token, the attention sink ([lecture 13](13_self_attention.ipynb)). The suggestion is a *candidate*. It becomes a
# name only if ablating the head, compared with ablating its controls, has the effect that the name predicts. The controls are heads of the same and the neighbouring layers:
#
# | candidate | what must happen when it is ablated |
# |---|---|
# | induction, same token | copying of repeated random tokens gets worse |
# | previous-token head | later induction heads put less weight on the right token, because they match what *preceded* a token |
# | punctuation | the loss of tokens that are punctuation rises |
# | first token | the loss changes *less* than for the controls, because such a head should do nothing |
#
# Every other head stays *unknown*.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
named, candidates = heads_measured["named"], heads_measured["candidates"]
by_head = {row["head"]: row for row in heads_measured["rows"]}
looks = {name: row["looks"] for name, row in by_head.items()}
t_of = {  # each candidate against its controls, paired over six draws
    row["head"]: abs(row["test"]["difference"]) / row["test"]["half"] * critical(5)
    for row in heads_measured["rows"]
    if row["candidate"] and row["test"]["half"] is not None
}
corrected = holm({name: two_sided(t, 5) for name, t in t_of.items()})
survivors = [
    name for name, p in corrected.items() if p < 0.05 and by_head[name]["name"] != "unknown"
]
survive = {name: sum(by_head[i]["name"] == name for i in survivors) for name in candidates}


def does_little(row):
    """Whether a head changes the predictions less than the mean and the median of its controls."""
    layer = int(row["head"].split(".")[0])
    controls = [
        other["changes"]["any change"][0]
        for other in heads_measured["rows"]
        if other["candidate"] != "first token"
        and other is not row
        and abs(int(other["head"].split(".")[0]) - layer) <= 1
    ]
    return row["changes"]["any change"][0] < min(fmean(controls), median(controls))


little = {  # in %, of the heads that look at the first token, and of the others
    looks_there: 100
    * fmean(
        does_little(row)
        for row in heads_measured["rows"]
        if (row["candidate"] == "first token") == looks_there
    )
    for looks_there in (True, False)
}
counted = show.table(
    [(name, count, named[name], survive[name]) for name, count in candidates.items()],
    ["name", "heads that look there", "that pass the test", "also after Holm's correction"],
    f"Unknown: {named['unknown']} of {len(heads_measured['rows'])}.",
)
show.predict(
    f"{sum(candidates.values())} of 270 heads look at one of these places. How many of the 270 stay unknown after the tests, each at the 5 % level without correction?",
    choices={"about 80": 80, "about 160": 160, "about 230": 230},
    answer=named["unknown"],
    why="For many heads, ablation does not confirm the name that their attention suggests.",
    reveals=[counted, widgets.head_map_player(heads_measured)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - 207<!--[[sum(candidates.values())]]--> heads look at one of the five places. 108<!--[[sum(named.values()) - named["unknown"]]]--> keep the name, and 162<!--[[named["unknown"]]]--> of 270<!--[[len(by_head)]]--> stay unknown. Of the named heads, 93<!--[[named["first token"]]]--> have their weight on the first token, and their name says that they do little.
# - **A weak test.** To be named after the first token, a head need only change the predictions less than its controls do. 64<!--[[little[True]:.0f]]--> % of the heads that look there change them less than both the mean and the median of the controls, but so do 51<!--[[little[False]:.0f]]--> % of the heads that look elsewhere. So this name says little.
# - **All tests count.** We tested 207<!--[[sum(candidates.values())]]--> candidates, each at 5 %, and some pass by luck. After Holm's correction ([lecture 19](19_do_modifications_transfer.ipynb)) 24<!--[[len(survivors)]]--> of the 108<!--[[sum(named.values()) - named["unknown"]]]--> keep their names; three<!--[[words(survive["induction"])]]--> of these are induction heads. With six samples the correction is harsh, so a name that is lost may still be right.
# - Of 11<!--[[candidates["induction"]]]--> heads that look like induction heads 8<!--[[named["induction"]]]--> pass. Heads 17.4 and 17.5 look where an induction head should, about as strongly as 17.3, which passes<!--[[? min(looks[f"17.{k}"]["induction"][0] for k in "45") > 0.75 and [by_head[f"17.{k}"]["name"] for k in "345"] == ["induction", "unknown", "unknown"]]]-->. Ablating them harms copying no more than ablating
#   their neighbours<!--[[? max(by_head[f"17.{k}"]["test"]["difference"] for k in "45") < 0]]-->.
# - Of 16<!--[[candidates["previous token"]]]--> heads that look at the previous token, only 3<!--[[named["previous token"]]]--> pass. Head 16.0 survives Holm's correction<!--[[? "16.0" in survivors]]-->, and it behaves as section 5 predicts. Without it the later induction heads put 0.49<!--[[by_head["16.0"]["changes"]["reading"][0]:.2f]]--> less of their weight on the right token. Head 11.1 attends to the previous token almost
#   as strongly (0.85<!--[[looks["11.1"]["previous token"][0]:.2f]]-->), but ablating it lowers the induction heads' weight on the right token by only 0.00<!--[[by_head["11.1"]["changes"]["reading"][0]:.2f]]--> ± 0.01<!--[[by_head["11.1"]["changes"]["reading"][1]:.2f]]-->, so it stays unknown<!--[[? by_head["11.1"]["name"] == "unknown"]]-->.
# - No punctuation head passes<!--[[? named["punctuation"] == 0]]-->.
# </details>
#
# **Where a head looks only suggests a name.** Nearly half of the candidates fail their test<!--[[? 0.4 < 1 - (sum(named.values()) - named["unknown"]) / sum(candidates.values()) < 0.5]]-->, and most fail once all tests are counted<!--[[? len(survivors) < sum(candidates.values()) / 2]]-->.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room choose a head from the map of candidates and predict whether it keeps its name. What goes wrong: "unknown" is heard as "useless". It means that our tests confirmed none of the five names.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Directions and neurons
#
# Heads are not the only candidates. Perhaps the model represents the number of a noun, singular or plural, by a *direction* of its vectors. The simplest way to find one is the difference of means over
# some nouns. Adding this difference to the pathway while the model runs is called **steering**:
#
# $$d_\ell = \mathrm{mean}\,(x_\ell \mid \text{plural}) - \mathrm{mean}\,(x_\ell \mid \text{singular}), \qquad x_\ell \leftarrow x_\ell + s\, d_\ell .$$
#
# If $d$ represents the number, then adding it makes the model continue *The teacher* with *are* instead of *is*, even for nouns that were not used to find $d$.

# %% slideshow={"slide_type": "fragment"}
one = [f"The {noun}" for noun in ["dog", "car", "house", "tree", "king", "ship", "girl", "song"]]


def at_nouns(texts):
    """(layer, d_model): the mean vector at the last token, after each layer."""
    with pathway(model) as sublayers:
        model.hidden_states(torch.cat([read(text) for text in texts]))
    return torch.stack([branch.result[:, -1].mean(0) for branch in sublayers[1::2]])


difference = at_nouns([f"{text}s" for text in one]) - at_nouns(one)
directions = {layer: difference[layer] for layer in (0, 2, 5, 10, 15, 20, 25, 28)}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
number_facts = stored("number_direction")
layer_of = str(number_facts["layer"])
drawn = number_facts["random"]
pushes = show.table(
    [
        (f"direction after layer {layer_of}", told(number_facts["by_layer"][layer_of])),
        (f"best of {len(drawn)} random directions of the same length", f"{max(drawn):z.2f}"),
        *((f"direction, with {pair}", told(row)) for pair, row in number_facts["verbs"].items()),
    ],
    ["added", "share moved"],
    "log P(are) − log P(is): "
    + ", ".join(f"{number} {told(row)}" for number, row in number_facts["odds"].items()),
)
show.predict(
    "We add the plural direction, found on 20 nouns, to 20 other singular nouns. How far does it move the prediction from *is* to *are*, if the real plural counts as 100 %?",
    choices={"about 10 %": 0.1, "about 40 %": 0.4, "nearly 100 %": 1.0, "twice as far": 2.0},
    answer=number_facts["by_layer"][layer_of][0],
    why="On average one direction does about as much as the plural's own vector.",
    reveals=[
        pushes,
        widgets.living(
            model,
            tokenizer,
            "The teacher",
            "The river",
            "The old engine",
            "In the end, the doctor",
            directions=directions,
            layer=int(layer_of),
            strength=1.0,
            follow=[" is", " are"],
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Here are two more controls, computed live for five nouns that were not used. One is a vector of the same length in the direction from one noun to another, the other a strength of −1 for plural nouns.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
nouns = ["teacher", "river", "doctor", "garden", "engine"]
singular = torch.cat([read(f"The {noun}") for noun in nouns])
plural = torch.cat([read(f"The {noun}s") for noun in nouns])
verbs = [tokenizer.encode(verb)[0] for verb in (" is", " are")]


def plural_odds(texts, push=0.0):
    """Mean log P(are) − log P(is), with a vector added to the noun's pathway after layer 0."""
    with patch(model, {"layers.0": lambda x: x + push}, -1):
        scores = model.output(model.hidden_states(texts)[0][:, -1])
    return float((scores[:, verbs[1]] - scores[:, verbs[0]]).mean())


# %% slideshow={"slide_type": "fragment"}
low, high = plural_odds(singular), plural_odds(plural)
vectors = [at_nouns([text])[0] for text in one]  # of eight nouns, after layer 0
apart = torch.stack(vectors).diff(dim=0)
pushes_of = [d * directions[0].norm() / d.norm() for d in apart]
other_nouns = [(plural_odds(singular, push) - low) / (high - low) for push in pushes_of]
back = (high - plural_odds(plural, -directions[0])) / (high - low)
forth = (plural_odds(singular, directions[0]) - low) / (high - low)
print(f"plural direction, added to singular nouns: {forth:z.2f} of the way")
print(f"from one noun to another: {min(other_nouns):z.2f} to {max(other_nouns):z.2f}")
print(f"plural direction, subtracted from plural nouns: {back:z.2f} of the way back")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Or is it a neuron?** A *neuron* is one hidden unit of a network. SmolLM2's networks have 46,080<!--[[number_facts["units"]:,]]--> of them. We rank them by the mean difference between a noun's plural and its singular, divided by the standard deviation of this difference over the nouns, and set the
# top $k$ to their plural means, on held-out nouns. The control sets equally many random units of the same layers
# (`python -m lectures.recipes number_direction`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
few = number_facts["neurons"]
enough = next((int(k) for k, row in few.items() if row["moved"][0] > 0.5), number_facts["units"])
units = show.table(
    [
        (
            f"{int(k):,}",
            told(row["moved"]),
            f"{min(row['controls']):z.2f} to {max(row['controls']):z.2f}",
        )
        for k, row in few.items()
    ],
    ["units", "share moved", "by random units (lowest to highest)"],
)
show.predict(
    "How many units does it take to move the held-out singular nouns more than half of the way to the plural?",
    choices={"1": 1, "about 10": 10, "about 100": 100, "10,000 or more": 10_000},
    answer=enough,
    why="A hundred units are 0.2 % of all units.",
    reveals=units,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The direction of layer 0<!--[[layer_of]]--> moves held-out nouns 0.99<!--[[number_facts["by_layer"]["0"][0]:.2f]]--> of the way, and that of layer 29 moves them 0.89<!--[[number_facts["by_layer"]["29"][0]:.2f]]-->. Layer 0 was chosen on these same nouns, but no layer's direction moves them by less than 0.87<!--[[min(row[0] for row in number_facts["by_layer"].values()):.2f]]-->.
# - The best of 20<!--[[len(number_facts["random"])]]--> random directions of
#   the same length moves them by 0.07<!--[[max(number_facts["random"]):.2f]]-->. A stronger control is the difference between *two other nouns*, scaled to the same length. In the live cell it moves five held-out nouns by at most 0.06<!--[[max(map(abs, other_nouns)):.2f]]-->.
# - The direction is not just the word *are*. It moves *was/were*, *has/have* and *does/do* by at least 0.98<!--[[min(row[0] for row in number_facts["verbs"].values()):.2f]]-->. It also brings the whole prediction close to the one after the true plural. The KL divergence $\sum_w p(w) \ln \frac{p(w)}{q(w)}$, which says how far a prediction $q$ is from the prediction $p$ after the true plural,
#   falls from 2.06<!--[[number_facts["divergence"]["plain"][0]:.2f]]--> to 0.14<!--[[number_facts["divergence"]["steered"][0]:.2f]]--> nats.
# - One explanation remains for layer 0. There the vector is still nearly the token's embedding, and *dogs* − *dog* may be little more than the difference of two tokens. Later layers do not exclude this, because the pathway still carries the token there.
# - Twice the direction moves the nouns no further (0.92<!--[[number_facts["strengths"]["2.0"][0]:.2f]]-->). A strength of −1 does nothing to singular nouns (−0.03<!--[[number_facts["strengths"]["-1.0"][0]:.2f]]-->). But it moves *plural* nouns back the whole way<!--[[? abs(back - 1) < 0.1]]-->.
# - Ten units move the nouns 0.03<!--[[few["10"]["moved"][0]:.2f]]--> of the way, 100 units 0.97<!--[[few["100"]["moved"][0]:.2f]]-->. The best of 20<!--[[len(few["100"]["controls"])]]--> random sets of 100 moves them 0.01<!--[[max(few["100"]["controls"]):.2f]]-->.
# - Of random sets of 10,000 units the best moves them 0.85<!--[[max(few["10000"]["controls"]):.2f]]-->, so a result with such a large set proves nothing.
# </details>
#
# **After “The” and a noun, one direction moves the prediction from singular to plural. The best-ranked neuron alone does not<!--[[? few["1"]["moved"][0] < 0.01]]-->; the best hundred together do.** We do not know whether the direction is more than the difference of two tokens.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Ask for another explanation before you show the verbs: the direction could simply contain the word "are". What goes wrong: a strength of 3 produces
# nonsense, and students call it proof. Compare with a random direction of that length.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Where do facts sit?
#
# Meng et al. (2022) traced facts in GPT models. At the last token of the subject, networks in middle layers restored the answer; at the last
# word, attention did. They called the method **causal tracing**. Does it find the same in SmolLM2? Our clean prompts are *The capital of X is* for the countries whose capital it knows; the
# corrupted prompt has a different country (Meng et al. add noise to the subject instead). We restore what attention or what the networks add, in one layer or in a window of five layers, at the country or at *is*.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
index = facts["layers"].index(facts["strongest window"])
by_layer = [row[0] for row in facts["rows"]["network, country"]]
by_pathway = [row[0] for row in facts["rows"]["pathway, country"]]
networks, attentions = (
    facts["windows"][f"{kind}, country"][index] for kind in ("network", "attention")
)
third = facts["controls"]["a third country's activation"]
at_is = facts["largest"]["attention, is"]  # (layer, mean, low, high)
middle, half = facts["strongest window"], facts["window"] // 2
window = f"{middle - half} to {middle + half}"
in_window = {
    "network, country": networks,
    "attention, country": attentions,
    "network minus attention": facts["network less attention"],
} | {f"control, {name}": row for name, row in facts["controls"].items()}
with pathway(model) as sublayers:
    model(read(" France"))
added = sublayers[1].result - sublayers[1].x  # by network 0, without a sentence
with patch(model, {"layers.0.feed_forward": added[0, -1]}, 3):
    by_word_alone = float((odds(model(italy[None])[0][0, -1]) - worst) / (best - worst))
traced = show.table(
    [(f"{name}, at most", row[0], told(row[1:])) for name, row in facts["largest"].items()]
    + [(name, window, told(row)) for name, row in in_window.items()],
    ["restored", "layers", "share restored"],
)
show.predict(
    "You restore what *one* network adds at the country, and nothing else. Which network returns most of the answer?",
    choices={"an early one, 0 to 4": 2, "a middle one, about 13": 13, "a late one, about 22": 22},
    answer=by_layer.index(max(by_layer)),
    why="The very first network returns all of it. Only one layer of attention comes before it, so it has seen little more than the country's name. Restoring it restores the word, not the fact. Exclude this explanation whenever you trace a fact.",
    reveals=[traced, widgets.tracing_player(facts)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At the country, the network of layer 0<!--[[facts["largest"]["network, country"][0]]]--> restores 1.00<!--[[facts["largest"]["network, country"][1]:.2f]]-->. In all three pairs of section 4 it restores the whole answer as well<!--[[? min(of["network"][0][0] for of in maps.values()) > 0.98]]-->. But this network has seen little more than the name, so it brings back the word. What it adds for *France* alone, without a sentence, restores 0.99<!--[[by_word_alone:.2f]]--> in the pair of France and Italy.
# - Above layer 0 the picture of Meng et al. holds in part. In the strongest window without layer 0 (chosen on these same countries), networks 4<!--[[facts["strongest window"] - facts["window"] // 2]]--> to 8<!--[[facts["strongest window"] + facts["window"] // 2]]--> at the country restore 0.17<!--[[networks[0]:.2f]]-->, and the attention sublayers of these layers −0.01<!--[[attentions[0]:.2f]]-->. The difference is clear<!--[[? facts["network less attention"][1] > 0.1]]-->. But the networks restore only a
#   sixth of the answer<!--[[? abs(networks[0] - 1 / 6) < 0.02]]-->.
# - The outputs of these networks from a prompt about a *third* country already restore 0.07<!--[[third[0]:.2f]]-->. At the word *of*, the same networks restore 0.00<!--[[facts["controls"]["the same networks at “of”"][0]:.2f]]-->.
# - At *is*, the attention of layer 23<!--[[at_is[0]]]--> alone restores 0.95<!--[[at_is[1]:.2f]]-->. Up to layer 22 the country's own vector restores 0.92<!--[[min(by_pathway[:23]):.2f]]--> or more, and one layer later −0.03<!--[[by_pathway[23]:.2f]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claims that may fail**, and the test of each:
#
# | claim | why it is not enough | test |
# |---|---|---|
# | the lens shows nothing here, so the layer knows nothing | the norm and the matrix of the lens were trained for the last layer | a fitted map (section 1) |
# | this head wrote the answer | other parts react when the head is gone | ablate it, compare with its share (section 3) |
# | this head looks at the right word | a weight is not an effect | ablate it, and controls from its layers (sections 5, 6) |
# | zeroing it destroys the answer | zero is an unusual output for a head | replace it by its mean (section 5) |
# | adding a direction changes the answer | any large change of the vector may | random directions, other words (section 7) |
# | restoring it brings the fact back | other positions or layers may bring it back too | other positions, other sublayers, a third country (section 8) |
# | restoring it brings nothing back, so it is not needed | another position may carry the same information | patch the other way (section 4) |
# | this head passed its test | of many heads some pass by luck | correct for all tests (section 6) |
# | the fact is traced to here, so edit it here | tracing did not tell where editing works best (Hase et al. 2023) | edit, and measure |

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. End with the table of what fails, and let the room name another explanation for a headline of their choice. What goes wrong: "the fact is stored here". Restoring shows
# that this place is enough, in this prompt, not that the fact is nowhere else.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Where is the fact?
#
# - **Its path.** Up to layer 22 the country's own vector is enough for nearly all of the answer<!--[[? min(by_pathway[:23]) > 0.9]]-->. Then the attention of layer 23<!--[[at_is[0]]]--> brings the answer to *is*, and in our two sentences the country's vector is no longer needed<!--[[? by_layer_both[23][1][0] < 0.05]]-->.
# - **Which parts bring it.** Head 23.4<!--[[? backup[0]["heads"] == ["23.4"]]]--> has the largest share, and without it more is lost than its share promises<!--[[? backup[0]["fall"][1] > backup[0]["promised"][2]]]-->. Heads and networks both write the answer; we cannot say which of them writes more<!--[[? overlap]]-->.
# - **Where it is stored** we cannot say. In the strongest window without layer 0, five networks at the country restore a sixth of the answer<!--[[? abs(networks[0] - 1 / 6) < 0.02]]-->, and the outputs of the same networks from a prompt about a third country already restore a part of that<!--[[? 0.02 < third[0] < networks[0]]]-->.
# - **How you can tell**: read the vectors, then intervene, in both directions, and compare with controls that differ only in what the explanation claims.
#
# **A place that restores an answer is enough in this prompt. That does not make it the place where the model keeps the fact.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Let the room answer the lecture's opening question first. What goes wrong: "layer 23 knows the capitals". We did not test whether its attention carries the capital or looks it up.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# `my_change` gets the vector at the last token, the plural direction and a strength. Change the function. For example, remove the direction by projection, or replace the vector. What
# do you predict for *The teacher*?


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def my_change(x, d, strength):
    """(d_model,) -> (d_model,). Change this."""
    new = x + strength * d
    return new * x.norm() / new.norm()


widgets.living(
    model,
    tokenizer,
    "The dogs",
    "The teacher",
    "The old engine",
    directions=directions,
    layer=15,
    strength=1.0,
    yours=my_change,
    follow=[" is", " are"],
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. Name a change, and let the room predict the next words. What goes wrong: students say that the length does not matter, because every sublayer begins with a norm.
# But what the later layers add keeps its size, and weighs less in a longer vector. Let the room double the length after layer 15 and see the prediction change.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`scale_and_insight.ipynb`](../exercises/scale_and_insight/scale_and_insight.ipynb) you
# build the lens, the ablation and the map of patches yourself, and open SmolLM2 with them.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A head's share of a logit is 3. You ablate it and the logit falls by 1. Name two reasons.
# <details><summary>Answer</summary>Later parts react to the missing output (backup), and the final norm's scale changes. If you ablated by the mean, the head's mean share also stays.</details>
#
# 2. Restoring the pathway at the *first* word of two texts that begin alike changes nothing, in any layer. Why?
# <details><summary>Answer</summary>The mask is causal, so both runs have the same vectors there.</details>
#
# 3. Restoring the whole pathway after the last layer at the last word gives a share of 1. Is that a discovery?
# <details><summary>Answer</summary>No. The prediction is computed from just this vector.</details>
#
# 4. A head looks at the previous token with weight 0.9 and its ablation changes no loss that you measured. What is its name?
# <details><summary>Answer</summary>Unknown. You know where it looks, and that your tests do not depend on it.</details>
#
# 5. A direction moves *is* to *are* in every held-out prompt. Which two controls do you ask for?
# <details><summary>Answer</summary>Random directions of the same length, and other verbs, in case the direction only contains the word *are*.</details>
#
# 6. Why should control heads come from the same layers?
# <details><summary>Answer</summary>Damage in some layers costs more than in others, whatever the head does.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 4. What goes wrong: "a previous-token head", because of its weight.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $x_\ell$ | $h^\ell$, residual stream | the pathway after layer $\ell$ |
# | $F_\ell$ | MLP, FFN | what a network adds |
# | $z_k W^O_k$ | head result | what a head adds |
# | 18.6 | L18H6, head (18, 6) | head 6 of layer 18, both from 0 |
# | $o$ | logit difference | log-odds of two answers |
# | share restored | indirect effect, normalised | from 0, as corrupted, to 1, as clean |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: papers count layers from 0 or from 1.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **direct logit attribution**: a logit as a sum over the parts that wrote to the pathway, the scale of the final norm kept fixed.
# - **intervention**: an activation is changed while the model runs; the model computes the rest.
# - **backup head**: a head that takes over when another one is ablated.
# - **mean ablation**: an output is replaced by its mean over many texts.
# - **activation patching**: one activation of a clean run is put into a corrupted run.
# - **previous-token head**: a head that attends to the previous token, and whose ablation disturbs later heads that need it.
# - **steering**: a direction is added to the pathway while the model runs.
# - **causal tracing**: activation patching over positions and layers, to find where a fact is recalled.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** nostalgebraist (2020), interpreting GPT: the logit lens. Belrose et al. (2023), Eliciting Latent Predictions from Transformers with the Tuned Lens. Elhage et
# al. (2021), A Mathematical Framework for Transformer Circuits. Olsson et al. (2022), In-context Learning and Induction Heads. Vig et al. (2020), Causal Mediation Analysis
# for Interpreting Neural NLP. Meng et al. (2022), Locating and Editing Factual Associations in GPT. Wang et al. (2023), Interpretability in the Wild. McGrath et al. (2023), The
# Hydra Effect. Hase, Bansal, Kim & Ghandeharioun (2023), Does Localization Inform Editing? Heimersheim & Nanda (2024), How to Use and Interpret Activation Patching. Turner et al. (2023), Activation Addition. Michel, Levy & Neubig (2019), Are Sixteen Heads Really Better than One? Ben Allal et al. (2025), SmolLM2. Wang, slides on
# Transformers (CUHK-Shenzhen). Protopapas, slides on attention (Harvard AC295).
