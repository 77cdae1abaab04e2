# %% [markdown] slideshow={"slide_type": "slide"}
# # Self-attention, heads and positions
#
# *Dog bites man. Man bites dog.* The same three words, and only one of the two is news. You told them apart by the order of
# the words. Attention, as the last lecture left it, cannot: to it a sentence is a bag of vectors. This lecture looks at what
# heads read, keeps them from reading the future, and then gives the words their places back.
#
# <img src="figures/12_heads_as_edges.svg" width="760" alt="The sentence 'the young doctor quickly closed the heavy door' with six edges above it, as in a dependency parse: 'the' to 'doctor' and 'the' to 'door', 'young' to 'doctor' and 'heavy' to 'door', 'doctor' to 'closed', and 'closed' to 'door', drawn by four heads of MiniLM.">
#
# *Four of MiniLM's 72 heads draw a grammar, it seems. These six edges were chosen because they look like one. Section 1 asks
# how often the heads are right when nobody chooses.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - read $\alpha_\ell[k, t_1, t_2]$, and test what a head does instead of believing a picture;
# - compute a layer of self-attention with two heads by hand;
# - train all positions of a text in one pass, and notice when the future leaks in;
# - say what attention knows of word order: nothing, and with a causal mask a little;
# - write sinusoids, turn queries and keys, and choose between places and distances.
#
# **You need** lecture 11 (query, key, value, softmax, mask, head), sine and cosine, and what a rotation of the plane is. From
# lecture 1: a language model gives a probability to every next word, and its loss is the mean of $-\ln p$ of the right ones.
# Vectors are rows: a matrix stands to their right, $xW$.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
# |---|---|---|---|---|---|---|---|---|---|
# | minutes | 9 | 8 | 10 | 7 | 11 | 5 | 10 | 4 | 8 |
#
# Every cell runs in a few seconds on a laptop, without a network connection. *To lecture from this notebook:* `make present
# ARGS=12` shows it slide by slide, widgets alive; short of time, skip sections 6 and 8. *Coming from other slides or a paper?* A
# table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import copy
import json
import math
from pathlib import Path

import torch
from IPython.display import HTML, display
from torch.nn import functional as F

from nlmcore.attention import (
    MultiHeadAttention,
    causal_mask,
    masked_softmax,
    padding_mask,
    scaled_dot_product_attention,
)
from nlmcore.inspect import capture
from nlmcore.positions import (
    LearnedPositions,
    NoPositions,
    alibi,
    binary_counter,
    relative_bias,
    rotary,
    sinusoidal,
)
from nlmcore.pretrained import minilm, smollm2
from lectures.trained import checkpoint
from lectures import show, widgets
from nlmcore.transformer import TransformerConfig, TransformerEncoder, TransformerLM

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # so small are the models here that one core is quickest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Heads are labelled edges
#
# In **self-attention** every word of a text reads the words of the same text. A network runs it several times side by side,
# in **heads**, and stacks such layers. So a weight has four indices. In layer $\ell$, head $k$, the word at position $t_1$
# reads the word at position $t_2$ with the weight
#
# $$\alpha_\ell[k, t_1, t_2] \ge 0, \qquad \sum_{t_2} \alpha_\ell[k, t_1, t_2] = 1.$$
#
# A linguist draws a sentence in a similar way. In a **dependency parse** every word has one edge to the word it depends on, and
# the edge has a label: *the* is the *determiner* of *door*, *doctor* the *subject* of *closed*, *door* its *object*. A head draws
# edges, too: from each word to what it reads, thick or thin. Its label is its number. Here are the heads of two real networks:
# MiniLM, which you know, reads in both directions; **SmolLM2**, with 30 layers of 9 heads, is a language model that predicts
# the next word (Ben Allal et al. 2025).
#
# > **Predict before you move anything.** (a) MiniLM, layer 0, head 2, then layer 3, head 1: which label would a linguist
# > give to each? (b) Which edges can SmolLM2 never draw?

# %% slideshow={"slide_type": "fragment"}
encoder, wordpieces = minilm()
writer, bytepairs = smollm2()
widgets.edges_playground(
    {"MiniLM": (encoder, wordpieces), "SmolLM2": (writer, bytepairs)},
    [
        "The young doctor quickly closed the heavy door.",
        "The cat that chased the mice was very hungry.",
        "The mice that the cat chased were very hungry.",
        "The animal did not cross the street because it was tired.",
    ],
    layer=0,
    head=2,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - Layer 0, head 2: "the word before", always with weight 1.00. No grammar at all, and still useful: it tells every word what
#   stands beside it.
# - Layer 3, head 1: from a verb to its object, *closed* → *door*, and from a determiner to its noun. It is the head that led
#   from "it" to "animal" in lecture 11.
# - SmolLM2 has a causal mask: no word reads a later one, so no arrow ever points to the right.
# - A parse gives each word *one* edge with a label that has a meaning. A head gives *every* pair a weight, and nobody said
#   what its number means. Marks such as `[CLS]`, where much of the weight goes, are left out of this picture.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask the room for labels before you show the table below: two volunteers, one for layer 1, head 7, one for layer 2, head 8.
# Somebody always finds a story for any head. That is the point of the test that follows.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does a head know grammar? Count.** Sixteen sentences were parsed by hand: after each word the number of the word that it
# depends on, and the relation. For each relation we take the head that finds the right word most often in *eight* of the
# sentences, and then ask how often it is right in the *other eight*. Its rival is simpler: always look the same number of
# words to the left or right, the distance that was best in the first eight.
#
# > **Predict before you run.** Which relation will have a head that is far better than a fixed distance: adjective → noun, or
# > verb → object? And will the heads do better or worse in the eight sentences that did not help to choose them?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
PARSED = """
The/3/det old/3/amod teacher/4/nsubj wrote/0/root a/7/det long/7/amod letter/4/obj
My/2/det sister/3/nsubj sold/0/root the/7/det old/7/amod red/7/amod car/3/obj
The/3/det young/3/amod doctor/5/nsubj quickly/5/advmod closed/0/root the/8/det heavy/8/amod door/5/obj
Our/3/det new/3/amod neighbour/4/nsubj feeds/0/root the/7/det hungry/7/amod birds/4/obj
A/3/det small/3/amod boy/4/nsubj broke/0/root his/7/det new/7/amod toy/4/obj
The/2/det farmer/4/nsubj never/4/advmod ate/0/root the/8/det very/7/advmod sweet/8/amod apples/4/obj
The/3/det famous/3/amod painter/4/nsubj showed/0/root her/8/det three/8/nummod last/8/amod pictures/4/obj
This/3/det strange/3/amod machine/5/nsubj always/5/advmod makes/0/root a/9/det very/8/advmod loud/9/amod noise/5/obj
The/3/det two/3/nummod girls/4/nsubj found/0/root an/8/det old/8/amod silver/8/compound coin/4/obj
His/2/det mother/3/nsubj bought/0/root some/6/det fresh/6/amod bread/3/obj
The/2/det king/3/nsubj built/0/root a/8/det tall/8/amod and/7/cc narrow/5/conj tower/3/obj
My/4/det three/4/nummod little/4/amod cousins/5/nsubj love/0/root this/7/det game/5/obj
The/2/det captain/4/nsubj slowly/4/advmod turned/0/root the/8/det great/8/amod iron/8/compound wheel/4/obj
Her/3/det best/3/amod friend/4/nsubj sent/0/root a/8/det really/7/advmod beautiful/8/amod picture/4/obj
Some/3/det hungry/3/amod wolves/5/nsubj suddenly/5/advmod attacked/0/root the/7/det sheep/5/obj
A/4/det very/3/advmod tired/4/amod nurse/5/nsubj opened/0/root the/8/det small/8/amod window/5/obj
"""


def parsed(line):
    """Words, and edges (word, the word it depends on, relation)."""
    words, heads, relations = zip(*(item.split("/") for item in line.split()), strict=True)
    edges = [(i, int(h) - 1, r) for i, (h, r) in enumerate(zip(heads, relations, strict=True))]
    return words, [edge for edge in edges if edge[2] != "root"]


def weights_among(words):
    """MiniLM's weights among these words alone: (layer, head, reads, read)."""
    pieces = wordpieces.pieces(" ".join(words) + ".")
    at = [pieces.index(words[0].lower())]
    for word in words[1:]:
        at.append(pieces.index(word.lower(), at[-1] + 1))
    with torch.no_grad(), capture(encoder) as tape:
        encoder(torch.tensor([wordpieces.encode(" ".join(words) + ".")]))
    return torch.cat(list(tape.values()))[:, :, at][:, :, :, at]


# %% slideshow={"slide_type": "fragment"}
RELATIONS = {
    "adjective → noun": ("amod", False),
    "determiner → noun": ("det", False),
    "subject → verb": ("nsubj", False),
    "verb → object": ("obj", True),
}
found = {}  # (relation, half) -> [(whether each of the 72 heads is right, distance), …]
for number, line in enumerate(PARSED.split("\n")[1:-1]):
    words, edges = parsed(line)
    most = weights_among(words).argmax(-1)  # (layer, head, word): what each reads most
    first = most.flatten(0, 1)  # (72 heads, word)
    for label, (relation, turned_round) in RELATIONS.items():
        for word, head, kind in edges:
            reads, read = (head, word) if turned_round else (word, head)
            if kind == relation:
                found.setdefault((label, number % 2), []).append(
                    (first[:, reads] == read, read - reads)
                )

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
table = {}
for label in RELATIONS:
    right = [
        torch.stack([hit for hit, _ in found[label, half]]).float().mean(0) for half in (0, 1)
    ]
    far = [torch.tensor([distance for _, distance in found[label, half]]) for half in (0, 1)]
    best, usual = int(right[0].argmax()), far[0].mode().values.item()
    table[label] = {
        "head": f"{best // 12}.{best % 12}",
        "chosen on": right[0][best].item(),
        "tested on": right[1][best].item(),
        "distance": usual,
        "rival": (far[1] == usual).float().mean().item(),
        "edges": len(far[1]),
    }
print(f"{'':18} {'layer.head':>10} {'chosen on':>9} {'tested on':>9}   {'a fixed distance':>16}")
for label, row in table.items():
    print(
        f"{label:18} {row['head']:>10} {row['chosen on']:9.0%} {row['tested on']:9.0%}"
        f"   {row['rival']:8.0%} ({row['distance']:+d})   {row['edges']} edges tested"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Verb → object: layer 3, head 1 finds the object in **all** sixteen sentences, where the best fixed distance is right in 38 %
#   of those tested. This head has learned something about grammar that no distance can say.
# - Adjective → noun: the chosen head falls from 100 % to 85 %, and "always the next word" gets 92 %. No head is needed.
# - Determiner → noun: the best of 72 heads on eight sentences, 81 %, drops to 56 % on the others. Whoever picks the best of many
#   on few examples picks luck, too. Choose on one half, test on the other.
# - Clark et al. (2019) do the same with BERT and a large treebank (a collection of parsed sentences): single heads for objects,
#   determiners and more, clearly better than fixed distances, and no head for all of grammar. Sixteen short sentences of one
#   pattern, as here, only show how such a claim is tested.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. A layer of self-attention by hand
#
# With one word per row of $X$, and for each head $k$ its three learned matrices,
#
# $$Q_k = X W^Q_k, \quad K_k = X W^K_k, \quad V_k = X W^V_k, \qquad
#   \alpha[k, t_1, t_2] = \underset{t_2}{\mathrm{softmax}}\; \frac{1}{\sqrt I} \sum_{i=1}^{I} Q_k[t_1, i]\; K_k[t_2, i],$$
#
# $$\mathrm{head}_k[t_1] = \sum_{t_2} \alpha[k, t_1, t_2]\, V_k[t_2], \qquad
#   \mathrm{output} = [\mathrm{head}_1;\, \mathrm{head}_2;\, \dots]\; W^O.$$
#
# $I$ is the width of *one head's* queries and keys. The semicolon sets vectors side by side: **concatenation**.
#
# Three words, four numbers each, which mean: *is a noun, is a verb, can act, can be eaten*.
#
# | | noun | verb | acts | eaten |
# |---|---|---|---|---|
# | cat | 1 | 0 | 1 | 0 |
# | eats | 0 | 1 | 0 | 0 |
# | bread | 1 | 0 | 0 | 1 |
#
# Two heads, $I = 4$. Keys and values are the words themselves ($W^K = W^V =$ the identity). The queries are not: in head 1
# a verb asks for what *acts*, in head 2 for what can be *eaten*, with strength 4; nouns ask for nothing.
#
# > **Predict before you run,** with pencil and paper. What are the two scores, divided by $\sqrt{4}$, and the weights in the row
# > "eats" of head 1? What are the weights in the row "cat", whose query is zero?

# %% slideshow={"slide_type": "fragment"}
X = torch.tensor([[1.0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1]])
W_Q = torch.zeros(2, 4, 4)
W_Q[0, 1, 2] = 4  # head 1: "is a verb" asks for "can act"
W_Q[1, 1, 3] = 4  # head 2: "is a verb" asks for "can be eaten"
heads = []
for k in range(2):
    scores = X @ W_Q[k] @ X.T / math.sqrt(4)
    weights = torch.softmax(scores, dim=-1)
    print(f"head {k + 1}: scores of 'eats'", scores[1], " weights", weights[1])
    heads.append(weights @ X)
print("weights of 'cat' in both heads:", weights[0])

W_O = torch.cat([torch.eye(4), 2 * torch.eye(4)])  # (8, 4): head 1 as it is, head 2 twice
output = torch.cat(heads, dim=-1) @ W_O
print("output of 'eats':", output[1])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Head 1: $4 / 2 = 2$ for *cat*, 0 for the others. $e^2 / (e^2 + 2) = 0.79$, and 0.11 each for the others.
# - "cat": three equal scores, three weights of $1/3$. A head cannot read nothing.
# - After $W^O$, *eats* holds "acts" from *cat* and "eaten" from *bread*, in one vector: who does it, and to what. One head
#   alone could not have chosen both. Lecture 11's example in this notation: $I = 64$, 112 and 96, divided by $\sqrt{64} = 8$:
#   14 and 12, softmax 0.88 and 0.12.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# `MultiHeadAttention` with these matrices gives the same; and the two lines that check the old example:

# %% slideshow={"slide_type": "fragment"}
layer = MultiHeadAttention(4, 2, d_head=4, bias=False)
with torch.no_grad():  # a layer keeps its matrices as (out, in): transposed
    layer.query.weight.copy_(torch.cat([W_Q[0].T, W_Q[1].T]))
    layer.key.weight.copy_(torch.eye(4).repeat(2, 1))
    layer.value.weight.copy_(torch.eye(4).repeat(2, 1))
    layer.output.weight.copy_(W_O.T)
    print("the same as the library's:", torch.allclose(layer(X[None])[0], output, atol=1e-6))

dots = torch.tensor([112.0, 96.0])
print(dots / math.sqrt(64), torch.softmax(dots / math.sqrt(64), dim=-1))

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Dividing by $\sqrt{d_{\mathrm{model}}}$, the width of the *word*, instead of $\sqrt I$, the width of the
# > *head*. In MiniLM a word has 384 numbers and a head 32. Nothing crashes.
# >
# > **Predict before you run.** Are the weights then too sharp or too even? The mean of the largest weight in each row of
# > layer 3, for the sentence about the animal, is 0.54 if all is right.

# %% slideshow={"slide_type": "fragment"}
tired = torch.tensor(
    [wordpieces.encode("The animal did not cross the street because it was too tired.")]
)
entering = []  # what layer 3 receives
attention = encoder.layers[3].attention
hook = attention.register_forward_pre_hook(lambda module, inputs: entering.append(inputs[0]))
with torch.no_grad():
    encoder(tired)
    hook.remove()
    q, k = (
        part(entering[0]).unflatten(-1, (12, 32)).transpose(1, 2)
        for part in (attention.query, attention.key)
    )
    for name, width in (("√32 ", 32), ("√384", 384), ("1   ", 1)):
        alpha = torch.softmax(q @ k.mT / math.sqrt(width), dim=-1)
        print(f"divided by {name}: mean of the largest weight {alpha.amax(-1).mean():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Too even: 0.16, not far from the $1/15 = 0.07$ of a plain average over the 15 tokens. A model trained with the wrong division
# can make up for it with larger $W^Q$; a model that *you load* cannot. The other error of shapes, cutting the heads out with a
# `view` and no transpose, stands in lecture 11, section 6: also silent.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Don't look ahead
#
# A language model learns from a text of $n$ words by $n - 1$ little tasks: after each word, what comes next? A recurrent
# network (lecture 5) works through them one after the other, because each state waits for the one before. In self-attention
# no row waits for another: *all positions are computed at once*. Only one thing must be kept: the row of a word must not see
# the word that it is to predict. The **causal mask** does that,
#
# $$\alpha[k, t_1, t_2] = 0 \quad \text{for } t_2 > t_1, \qquad \text{``don't look ahead''}.$$
#
# SmolLM2 reads "When she tried to print her tickets, she found that the printer was out of toner."
#
# > **Predict before you run.** After which word is it surest of the next one? How surprised is it by *tickets*? And do the
# > guesses after the first eight tokens change if the rest of the sentence is not given at all?

# %% slideshow={"slide_type": "fragment"}
sentence = "When she tried to print her tickets, she found that the printer was out of toner."
pieces, ids = bytepairs.pieces(sentence), torch.tensor([bytepairs.encode(sentence)])
with torch.no_grad():
    logits, state = writer(ids)  # one pass: logits[0, t] scores every token that may follow t
    beginning, _ = writer(ids[:, :8])
p = logits[0].softmax(-1)
right = p[range(len(pieces) - 1), ids[0, 1:]]  # the probability of the token that really follows
for t in (2, 3, 6, 12, 14, 17):
    guess, sure = bytepairs.decode([int(p[t].argmax())]), p[t].max().item()
    print(
        f"… {pieces[t]:>9} → guess {guess:>7} {sure:.2f};  really {pieces[t + 1]:>9} {right[t]:.2f}"
    )
print(f"predictions from one pass: {len(right)}; mean −ln p: {-right.log().mean():.2f}")
print("the first eight, alone:", torch.allclose(logits[:, :8], beginning, atol=1e-3))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - After "tried", *to* is nearly sure (0.90). After "print her", *tickets* had a probability of 0.0002. A mean of 4.17
#   hides both.
# - One pass, 18 predictions. And no: what comes later cannot change what was computed before. (This is why a model can be trained
#   on all positions at once *and* be used word by word. Lecture 13 builds the whole model.)
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Forget the mask, and see.** Random digits cannot be predicted: whoever guesses pays $\ln 10 = 2.30$ per digit, and nobody can
# do better. Train one layer of self-attention to predict the next of 16 random digits, new ones at every step, once with
# the causal mask and once without it.
#
# > **Predict before you run.** Which loss does each reach? And for the bold: there is a number other than 0 below which even
# > the model without a mask cannot get. Which?


# %% slideshow={"slide_type": "fragment"}
def new_model(masked):
    """One layer of self-attention over ten digits, with a causal mask (a language model) or without."""
    kind = TransformerLM if masked else TransformerEncoder
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return kind(
            TransformerConfig(vocab_size=10, d_model=32, n_heads=2, n_layers=1, max_length=16)
        )


def scores_of(model, digits):
    """(batch, time, 10): a score for every next digit. Of the model without a mask we score with its embedding."""
    out = model(digits)
    return out[0] if isinstance(out, tuple) else out @ model.embedding.weight.T


# %% slideshow={"slide_type": "fragment"}
def train_on_noise(masked, steps=120):
    """The model after its training, and its loss at every step."""
    draw, model, losses = torch.Generator().manual_seed(0), new_model(masked), []
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(steps):
        digits = torch.randint(10, (32, 17), generator=draw)
        loss = F.cross_entropy(
            scores_of(model, digits[:, :-1]).flatten(0, 1), digits[:, 1:].flatten()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return model, losses


careful, with_mask = train_on_noise(masked=True)
leaky, without = train_on_noise(masked=False)
print(f"with the mask {with_mask[-1]:.2f}, without {without[-1]:.2f}; ln 10 = {math.log(10):.2f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.curves(
    list(range(1, 121, 7)),
    {"with the causal mask": with_mask[::7], "without": without[::7]},
    x_title="step of training",
    y_title="loss per digit",
    alt="Loss against steps. With the mask it stays at 2.30. Without it falls from step 10 on, and "
    "is nearly level at 0.15 from step 80 on.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - With the mask: 2.30, chance, as it must be. Without: 0.15. It has learned to read the digit to the right of each place.
# - Nobody stands to the right of the last of the 16 places. There it must guess: $\ln(10)/16 = 0.144$ on average.
# - **A loss below what is possible is not a triumph but a leak**: a way by which the model sees what it is to predict. On real
#   text nobody knows what is possible, and a leak is only a curve that looks a little too good.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Take bets on the loss without a mask before you show the curve; most say 0. Let somebody explain the sixteenth digit. Five
# minutes, and the leak test that follows is worth two more: it is the one habit to take home.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **And when it has to write?** Then there is no future to copy from.
#
# > **Predict before you run.** Give the leaky model the beginning of a text, and ask for the digit after it. Is its loss 0.15,
# > 2.30, or more?

# %% slideshow={"slide_type": "fragment"}
digits = torch.randint(10, (400, 16), generator=torch.Generator().manual_seed(1))
with torch.no_grad():
    honest = {
        name: [
            F.cross_entropy(scores_of(model, digits[:, :t])[:, -1], digits[:, t]).item()
            for t in range(1, 16)
        ]
        for name, model in (("with the mask", careful), ("without", leaky))
    }
for name, losses in honest.items():
    print(f"{name:14} loss at the end of a given beginning: {sum(losses) / len(losses):.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# More than 7, three times what guessing costs. It is sure of what it copies, and there is nothing right to copy.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A test for leaks** that needs no training and no data: change *one* token, and see whose output changes. Every causal model
# of this course must pass it.
#
# > **Predict before you move the slider.** Digit 8 becomes another. Which outputs may change? Which do, in each model?

# %% slideshow={"slide_type": "fragment"}
text = digits[:1]


def changes(model):
    """(changed place, place): how much the output at each place changes; 1 is the most."""
    with torch.no_grad():
        before = scores_of(model, text)
        others = text.repeat(16, 1)
        others.fill_diagonal_(0).add_(torch.diag((text[0] + 1) % 10))
        moved = (scores_of(model, others) - before).norm(dim=-1)
    return moved / moved.amax()


moved = torch.stack([changes(careful), changes(leaky)])  # (model, changed place, place)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
places = [str(t) for t in range(16)]


def leak(changed):
    reached = [
        ", ".join(places[t] for t in range(16) if moved[m, changed, t] > 1e-4) for m in (0, 1)
    ]
    return show.heatmap_svg(
        moved[:, changed],
        ["with the mask", "without"],
        places,
        alt=f"Digit {changed} is changed. With the mask the outputs {reached[0]} change, without {reached[1]}.",
        cell=46,
        title=f"digit {changed} changes: how much each output does",
    )


widgets.live(leak, changed=widgets.slider(8, 0, 15, 1, "changed digit"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# With the mask: places 8 to 15, itself and the later ones. Without: any place, and most of all place 7, the one that copies
# digit 8. `careful` passes at every place, `leaky` at none but the first. (Change digit 0: nothing stands before it.)
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Two masks at once.** Sentences of a batch are filled up with **padding**, which nobody may read. Masks are boolean, `True` =
# *may attend*, of a shape that broadcasts to (batch, head, query, key), and combine with `&`.
#
# > **Predict before you run.** Two texts, of two and of four words, filled up to four *on the left*. What do the rows of the
# > first text sum to under both masks? And what does the textbook line, `masked_fill(~mask, -inf)` and softmax, give there?

# %% slideshow={"slide_type": "fragment"}
real = padding_mask(torch.tensor([2, 4]), 4)  # (batch, key)
real = real.flip(-1)  # the padding stands on the left
both = causal_mask(4) & real[:, None, None, :]  # (batch, 1, query, key)
scores = torch.randn(2, 1, 4, 4, generator=torch.Generator().manual_seed(0))
print("real:", *real.tolist(), sep="\n  ")
print("sums of the rows, ours:    ", masked_softmax(scores, both)[0, 0].sum(-1))
textbook = torch.softmax(scores.masked_fill(~both, -math.inf), dim=-1)
print("sums of the rows, textbook:", textbook[0, 0].sum(-1))

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** *Rows of $-\infty$*: a padded word on the left has nothing to read, softmax computes $0/0$, and one NaN
# > (*not a number*) spreads to every weight of the network at the next step. Ours gives such a row zeros.
# > **Polarity of a mask**: for us, and for PyTorch's `scaled_dot_product_attention`, `True` means *may attend*; for `key_padding_mask` of
# > PyTorch's `MultiheadAttention` it means *ignore*. Hand one to the other, and the model reads nothing but padding.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Without positions: a bag of words
#
# Shuffle the rows of $X$, by a matrix $P$ that puts them into another order. Queries, keys and values are shuffled with them;
# the score of any two words stays what it was, and a sum does not care about the order of its terms. So
#
# $$\mathrm{attention}(PX) = P\,\mathrm{attention}(X).$$
#
# This is called **permutation equivariance**: each word gets the same vector as before, wherever it stands. What a Transformer
# does to each word *alone*, between the attentions, keeps this true, and so does a whole stack of layers. And the mean of all
# the vectors, MiniLM's vector for the sentence, does not change at all: a **bag of words**.
#
# > **Predict before you run.** MiniLM's vectors for "The dog bites the man." and "The man bites the dog.", compared: 1 is the same
# > direction. With its positions taken out the similarity must be 1. What is it with them: 0.3, 0.7, or more than 0.9?

# %% slideshow={"slide_type": "fragment"}
no_order = copy.deepcopy(encoder)
no_order.positions = NoPositions(512, 384)
for name, model in (("with positions", encoder), ("without", no_order)):
    with torch.no_grad():
        a, b = (
            model(torch.tensor([wordpieces.encode(text)]))[0].mean(dim=0)
            for text in ("The dog bites the man.", "The man bites the dog.")
        )
    print(f"{name:14} similarity {torch.cosine_similarity(a, b, dim=0):.3f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# 1.000 without positions: the same vector. With them 0.973: different, if only a little. MiniLM was trained to say what a
# sentence is *about*, and both are about a dog, a man and a bite.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# Try all 24 orders of four words. The coloured stripes are the vectors that one layer of self-attention with random weights
# makes of them; below them their mean.
#
# > **Predict before you move anything.** In which of the four settings do a word's stripes change when the words are shuffled?
# > In which does the mean?

# %% slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():
    torch.manual_seed(3)
    small = MultiHeadAttention(12, 3, bias=False)
vectors = torch.randn(4, 12, generator=torch.Generator().manual_seed(5))  # one per word


def read(order, mask=None, places=0.0):
    X = vectors[list(order)] + places * sinusoidal(4, 12)
    return 4 * small(X[None], mask=mask)[0]


widgets.shuffle_playground(
    {
        "no positions": read,
        "a causal mask": lambda order: read(order, causal_mask(4)),
        "sinusoids added": lambda order: read(order, places=1.0),
        "both": lambda order: read(order, causal_mask(4), 1.0),
    },
    ["dog", "bites", "old", "man"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - No positions: the stripes move with their words and are the same, the mean stays.
# - A causal mask alone changes them: the second word sees two words, the fourth sees four, so it matters which stands where.
#   The mask *breaks the symmetry*. The next cell shows how a model can count with it.
# - **Sinusoids** added, vectors of sines and cosines, one for each place: every place has a mark of its own (section 5).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A causal model can count without being told.** Let a head have equal scores everywhere, and let only the mark at the
# beginning of the text have a value, 1. At position $t$ the mask lets $t + 1$ words be read:

# %% slideshow={"slide_type": "fragment"}
nothing = torch.zeros(1, 8, 4)  # queries and keys that say nothing: all scores are 0
values = torch.zeros(1, 8, 1)
values[0, 0] = 1  # the mark at the beginning
counted, _ = scaled_dot_product_attention(nothing, nothing, values, causal_mask(8))
print("what the head writes:", counted[0, :, 0])
print("1 / (t + 1):         ", 1 / torch.arange(1, 9))

# %% [markdown] slideshow={"slide_type": "fragment"}
# The number that the head writes *is* the position. Haviv et al. (2022) found that language models trained without any
# positions come close to those with them. Models that read in both directions have no such way out.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. From counting to sinusoids
#
# So give every position a vector, a **positional encoding**, and add it to the word's. Which? The number $t$ itself grows
# beyond all that was trained; $t/n$ means something else in every text. How do we *write* numbers? In digits, each slower than
# the one before. In **binary**, the last bit flips at every step, the next at every second, the next at every fourth. Flips are
# hard to learn from, so make them smooth: a wave instead of a switch, and beside each sine a cosine. The **sinusoids** of
# Vaswani et al. (2017, section 3.5):
#
# $$\mathrm{PE}(pos, 2i) = \sin\frac{pos}{10000^{2i/d}}, \qquad \mathrm{PE}(pos, 2i+1) = \cos\frac{pos}{10000^{2i/d}}.$$
#
# 10,000 is the **base**: it says how much slower the slowest wave is than the fastest, nearly.
#
# > **Predict before you run.** Numbers 0 to 15 in four bits, the lowest bit on the left, beside 16 sinusoids of width 8 with base
# > 16 instead of 10,000: which columns correspond?

# %% slideshow={"slide_type": "fragment"}
HTML(
    show.tables_svg(
        [
            ("counting, 4 bits", 2 * binary_counter(16) - 1),
            ("sines of the sinusoids", sinusoidal(16, 8, base=16)[:, 0::2]),
            ("sines and cosines", sinusoidal(16, 8, base=16)),
        ],
        alt="Three tables with a row for each of 16 positions. Counting in binary: the first column "
        "changes at every row, the last once. The sines: smooth waves, each slower than the one to "
        "its left. Sines and cosines: the same with twice as many columns.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Blue is −1, white 0, red 1; time runs downwards.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Column by column, bit $i$ and sine $i$: both get slower by a constant factor, 2 for bits and base$^{2/d}$ = 2 for these waves.
# A wave takes all values in between, so near positions have near vectors; in binary 7 (`1110` from left to right) and 8 (`0001`)
# are neighbours, and all bits differ.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Fifty words.** The picture that is in every paper: 50 positions, 64 columns.
#
# > **Predict before you move anything.** (a) Most columns on the right look alike from top to bottom. Why? (b) What does a base
# > of 10 do? (c) Right of the table: the dot product of one position with all others. Where is it largest, and does
# > it tell *before* from *after*?

# %% slideshow={"slide_type": "fragment"}
widgets.positions_playground(sinusoidal)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) Their waves are long: the slowest pair needs 47,117 positions for one round, and 50 are a blink. They are there for long
#   texts.
# - (b) All waves are short now, the slowest comes round after 58 positions, and far positions begin to look alike again.
# - (c) At itself, and it is symmetric: $\mathrm{PE}(p) \cdot \mathrm{PE}(p + k) = \sum_i \cos(k\,\omega_i)$ with $\omega_i =
#   10000^{-2i/d}$, the same for $k$ and $-k$, and the same for every $p$. Dot products of positions know the distance, not the
#   direction. (A learned $W^Q$ and $W^K$ between them can tell the direction: the next picture says how.)
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Move d_model first, then the base, then the position, and stop at base 10. Students often think that each row is "a wave": it
# is the columns that are waves; a row is the reading of all clocks at one moment.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Clock hands.** A pair (sine, cosine) is a hand on a clock that turns by $\omega_i$ at every step. Going on by $k$ positions
# turns each hand by $k\,\omega_i$, *wherever it stands*. So one matrix $M_k$, a rotation of each pair, moves every position on:
#
# $$\mathrm{PE}(pos + k) = \mathrm{PE}(pos)\, M_k, \qquad M_k \text{ does not depend on } pos.$$
#
# > **Predict before you move anything.** You move *position*, and leave the shift $k$. What in the picture changes, what does
# > not?

# %% slideshow={"slide_type": "fragment"}
widgets.clock_playground(sinusoidal)

# %% slideshow={"slide_type": "fragment"}
k, d = 5, 64
omega = 10_000.0 ** (-torch.arange(0, d, 2) / d)
cos, sin = torch.cos(k * omega), torch.sin(k * omega)
M = torch.zeros(d, d)
for i in range(d // 2):
    M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[cos[i], -sin[i]], [sin[i], cos[i]]])
PE = sinusoidal(1000, d)
print("one matrix for all 995 positions:", torch.allclose(PE[k:], PE[:-k] @ M, atol=1e-4))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# The hands move; the angles below the clocks stay. A head whose $W^Q$ contains $M_1^{-1}$ asks, from any position, for the
# position before: that is how "the word before" *can* be learned once and hold everywhere. Vaswani et al. hoped for just this;
# whether a model finds it is another question (section 8).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Three tables that look about right. Which mistake is in each?

# %% slideshow={"slide_type": "fragment"}
waves = sinusoidal(50, 32)
blocks = torch.cat([waves[:, 0::2], waves[:, 1::2]], dim=1)
late = sinusoidal(51, 32)[1:]
angles = torch.arange(50).unsqueeze(1) * 10_000.0 ** (-torch.arange(16) / 32)
slow = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
HTML(
    show.tables_svg(
        [("right", waves), ("A", blocks), ("B", late), ("C", slow)],
        alt="Four tables of 50 positions by 32 columns. A has its fast waves in two places, at the left "
        "edge and in the middle. B looks like the right one but begins one row later. In C the waves "
        "slow down half as fast from left to right.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# - **A**: all sines, then all cosines, instead of interleaved. The same numbers in other columns; a model trained that way is as
#   good (the authors' own code does it), a model trained the other way reads nonsense.
# - **B**: counts from 1. The first row must be $0, 1, 0, 1, \dots$
# - **C**: the exponent is $i/d$ where it should be $2i/d$. The waves slow down half as fast, and the largest divisor is not near
#   10,000 but near $\sqrt{10000} = 100$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Added, set beside, or learned
#
# A word's vector and a position's can be added, or set side by side:
#
# $$x_t = e(w_t) + pos(t) \qquad \text{or} \qquad x_t = [e(w_t);\, pos(t)].$$
#
# Added, word and place share the same numbers. Side by side they are twice as wide, and one matrix $W$ can mix them back to the
# old width. Its upper half, $W_e$, meets the word, its lower half, $W_p$, the place:
#
# $$[e;\, pos]\; W = e\,W_e + pos\,W_p .$$
#
# > **Predict.** For which $W_e$ and $W_p$ is the concatenation the same as adding? What does adding give up?
#
# <details><summary><b>Answer</b></summary>
#
# For $W_e = W_p = $ the identity. Adding is the special case, without an extra matrix. What it gives up: the first layer
# computes $(e + pos)\,W = eW + pos\,W$, *one* $W$ for both. In practice there is room: 384 numbers are many, and training moves
# the word vectors out of the way.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Learned positions.** BERT, and so MiniLM, has no sines. Each of its 512 places has a free vector, learned like a word's
# (Gehring et al. 2017; Devlin et al. 2019). Nobody told them that place 7 lies between 6 and 8.
#
# > **Predict before you run.** Are the learned vectors of neighbouring places alike? And what does the model do with a text of
# > 513 tokens?

# %% slideshow={"slide_type": "fragment"}
learned = encoder.positions.weight.detach()[1:61]  # place 0 is always [CLS]
alike = [
    F.cosine_similarity(table[:, None], table[None], dim=-1)
    for table in (learned - learned.mean(0), sinusoidal(60, 384) - sinusoidal(60, 384).mean(0))
]
display(
    HTML(
        show.tables_svg(
            [("MiniLM, learned", alike[0]), ("sinusoids", alike[1])],
            alt="Similarities of 60 position vectors with each other, learned by MiniLM and sinusoids. "
            "Both have a red band along the diagonal: neighbours are alike. The learned ones have "
            "stripes beside it, too.",
        )
    )
)
for k in (1, 3, 6, 12):
    print(f"MiniLM, {k:2} apart: mean similarity {alike[0].diagonal(k).mean():.2f}")
try:
    LearnedPositions(512, 384)(torch.zeros(1, 513, 384))
except ValueError as error:
    print(error)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Alike, 0.79 on average. (The mean vector, which all places share, is taken away first.) And not simply less the farther
#   apart: 3 places away 0.18, 6 away 0.42, 12 away 0.44. The stripes are waves that the training found by itself.
# - The model refuses: there is no vector for the 513th token. Sinusoids exist for every position; whether the model can *use* one that it never
#   saw in training is section 8.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Only the distance counts
#
# Grammar does not care whether a sentence begins at word 3 or at word 300. What should count is how far apart two words are.
# Write out the score of two words whose vectors are sums, $(x + p)\,W\,(y + r)^\top$: four terms, and only one of them, $x W
# y^\top$, is free of absolute places. Four ways to put the *distance* there instead, inside every attention, **relative
# positions**:
#
# | | what it does to a score | learned |
# |---|---|---|
# | **rotary positions** (Su et al. 2021) | turns query and key by their positions, like clock hands | nothing |
# | **ALiBi** (Press et al. 2022) | subtracts (slope of the head) × distance | nothing |
# | **T5's buckets** (Raffel et al. 2020) | adds a number per head and *bucket* of distances, wider the farther | the numbers |
# | **Shaw et al.** (2018) | adds $q \cdot a_{t_2 - t_1}$, one vector per distance, clipped (and others to the values) | the vectors |

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Rotary.** Take the numbers of $q$ in pairs; at position $m$ turn pair $i$ by the angle $m\,\theta_i$,
# $\theta_i = 10000^{-2i/I}$. Turn $k$ at position $n$ likewise. A dot product depends only on the angle *between* two vectors, so
#
# $$(q R_m) \cdot (k R_n) = q \cdot (k R_{n-m}).$$
#
# > **Predict before you move anything.** (a) Move both by one, 6 → 7 and 4 → 5: what happens to the score? (b) The table on the
# > right holds the scores of all pairs of positions. Which of its cells are equal? (c) Is the score at distance 2 the same as
# > at −2?

# %% slideshow={"slide_type": "fragment"}
query, key = torch.tensor([1.0, 0.4, 0.9, 0.5]), torch.tensor([0.8, 0.7, 0.3, 1.0])
widgets.rotary_playground(rotary, query, key)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) Nothing: 0.869 both times. Both hands turn by the same angle.
# - (b) Every diagonal has one colour: the score depends on the distance alone.
# - (c) No: unlike the dot products of section 5, rotary knows before from after, because $q$ and $k$ are two different vectors.
# - The lengths do not change: a rotation turns what a word says to a score, it does not add to it. (In this picture the angles
#   are $m$ and $m/6$ radians; real models have 32 pairs and a base of 10,000 or more.)
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** **Layout of rotary positions.** Which numbers are a pair: neighbours $(0, 1), (2, 3), \dots$ ("interleaved": the
# > paper) or halves $(0, I/2), (1, I/2 + 1), \dots$ ("half": Hugging Face's models, SmolLM2)? Both are right, and the wrong one
# > for given weights is silent. *Values turned, too*: then the output depends on where a text begins.
# >
# > **Predict before you run.** The same three words, at positions 0, 1, 2 and at 100, 101, 102. Which of the three variants gives
# > the same output?

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(2)
q, k, v = torch.randn(3, 1, 1, 3, 8, generator=draw)  # each (batch, head, time, 8)


def reads(first, turn_values=False, layouts=("half", "half")):
    at = torch.arange(first, first + 3)
    turned_v = rotary(v, at) if turn_values else v
    return scaled_dot_product_attention(
        rotary(q, at, layout=layouts[0]), rotary(k, at, layout=layouts[1]), turned_v
    )[0]


options_of = {
    "queries and keys": {},
    "values, too": {"turn_values": True},
    "q halves, k interleaved": {"layouts": ("half", "interleaved")},
}
for name, options in options_of.items():
    print(f"{name:24} differs by {(reads(0, **options) - reads(100, **options)).abs().max():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Only the first: 0.00. Turned values carry the absolute place into the output; mixed layouts turn $q$ and $k$ in different
# planes, and nothing cancels.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **All four, side by side.** What is added to a score (for rotary: what is left of it) when a key lies so many words away. T5's
# numbers are *real*: learned by one of our translators of numbers, from texts of up to 20 words. The vectors of Shaw's panel and
# the queries and keys of the rotary one are random.
#
# > **Predict before you run.** Which of the four can tell a key 30 words back from one 40 words back? Which look ahead and
# > behind differently?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
distance = torch.arange(-48, 49)
translator = checkpoint("numbers_transformer_relative_20").model
buckets = translator.encoder.layers[0].attention.positions.weight.detach()
t5 = relative_bias(buckets, 97, 97, True, 128)[0, :, 48]  # (head, key): from the middle
penalty = alibi(8, 97, 97)[0, :, 48]
draw = torch.Generator().manual_seed(6)
a = torch.randn(33, 32, generator=draw)  # one vector per distance
shaw = a @ torch.randn(32, 2, generator=draw) / math.sqrt(32)
clipped = shaw[distance.clamp(-16, 16) + 16].T
ones, (some, other) = torch.ones(64), torch.randn(2, 64, generator=draw)


def turned(q, k):
    """q · (k R_n) / √64 for every distance n."""
    return rotary(k.expand(1, 1, 97, 64), distance)[0, 0] @ q / 8


comparison = {
    "rotary: q · k / √64": {"q, k all ones": turned(ones, ones), "random": turned(some, other)},
    "ALiBi: two of eight heads": {f"slope 1/{2 ** (h + 1)}": penalty[h] for h in (2, 4)},
    "T5's buckets, learned": {f"head {h}": t5[h] for h in (0, 3)},
    "Shaw et al., clipped at 16": {"one query": clipped[0], "another": clipped[1]},
}
show.distance_panels(
    distance,
    comparison,
    x_title="the key stands so many words after the query",
    alt="Four panels over distances from −48 to 48. Rotary: for vectors of ones waves that are highest at "
    "distance 0; for random ones no order. ALiBi: straight lines that fall to both sides. T5: steps, narrow near 0 and wide far away, other on "
    "the left than on the right. Shaw: jagged near 0, constant beyond 16.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 30 from 40: rotary and ALiBi, always; T5 if a bucket ends in between (near distances have a bucket each, far ones share);
#   Shaw's never, beyond 16 all is one.
# - Ahead from behind: T5 and Shaw have separate numbers for the two directions; rotary has if $q$ and $k$ differ; ALiBi has not
#   (it is made for causal models, which only look behind).
# - ALiBi pulls every head towards near words, at its own rate. Rotary's waves fall off with distance only *on average*: for
#   random vectors they do as they please.
# - T5's learned numbers are large up to about 20 words, and small beyond: no text that long was ever seen. Keep that in mind
#   for the next section.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Beyond the lengths of training
#
# To work on texts longer than those of training is called **extrapolation**. Vaswani et al. (2017, section 3.5) chose sinusoids
# because they "may allow the model to extrapolate". Do they? We took the numbers in words of lecture 11 once more, English to
# German, and small Transformers: sinusoids against T5's buckets, trained on up to 12 or up to 20 words, tested on up to 29
# (`python -m lectures.recipes numbers_transformer`).
#
# > **Predict before you run.** From which length on does each of the four fall?

# %% slideshow={"slide_type": "fragment"}
results = json.loads(Path("results/numbers_transformer.json").read_text())["lines"]
transformers = {
    name.removeprefix("Transformer, ").replace("trained on up to", "≤"): line
    for name, line in results.items()
    if name.startswith("Transformer")
}
show.curves(
    [4, 7, 10, 13, 16, 19, 22, 25, 28],
    {name: [at["exact"] for at in line.values()] for name, line in transformers.items()},
    x_title="English words in the number",
    y_title="share of numbers right",
    alt="Share of numbers translated without an error against their length. All four are near 1 up to "
    "the length they were trained on and at or near 0 six words later. Relative positions fall "
    "later than sinusoids.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - All fall, right behind the lengths of training. Sinusoids trained on ≤ 12 words translate 74 % of the numbers of 12 to 14
#   words without an error, and none of 15 to 17; with buckets it is 100 % and 40 %. The hope of 2017 is not met here.
# - Distances help for a few words, and no more: from 24 words on hardly anything is right (at most 2 %), whichever way
#   positions are told. The recurrent translator of lecture 11 with attention, trained in as many steps with as many
#   parameters, still had 78 % right at 27 to 29: it has no positions that could be new to it.
# - *One* task, small models, one seed each. It does not say that sinusoids cannot extrapolate, but that they do not do so by
#   themselves. Press et al. (2022) found the same in language models, and ALiBi was their answer.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. Inside a language model
#
# Back to SmolLM2: rotary positions, causal mask, 30 layers × 9 heads. The explorer shows one head at a time; the mask is the
# empty upper triangle.
#
# > **Predict before you explore.** A causal head that finds nothing to look for cannot read the *end* of the text, as BERT's may
# > read `[SEP]`. Where will it park its weight?

# %% slideshow={"slide_type": "fragment"}
widgets.attention_explorer(
    writer,
    bytepairs,
    [
        sentence,
        "The animal did not cross the street because it was too tired.",
        "Paris is the capital of France, and Rome is the capital of",
        "one two three four one two three",
    ],
    layer=16,
    head=0,
)

# %% slideshow={"slide_type": "fragment"}
with torch.no_grad(), capture(writer) as tape:
    _, state = writer(ids)
alpha = torch.cat(list(tape.values()))  # (layer, head, query, key)
n = alpha.shape[-1]
on_first = alpha[:, :, 1:, 0]  # what the later tokens give to the first
before = alpha[:, :, range(1, n), range(n - 1)].mean(-1)  # (layer, head): on the token before
best = int(before.argmax())
lengths = [layer.read()[1].norm(dim=-1) for layer in state.layers]  # of the values
values = torch.stack(lengths)
ratio = values[..., 0] / values[..., 1:].median(-1).values
print(
    f"mean weight on the first token: {on_first.mean():.2f}; a fair share: {(1 / torch.arange(2, n + 1)).mean():.2f}"
)
print(f"heads that give it more than half: {(on_first.mean(-1) > 0.5).sum()} of {before.numel()}")
print(f"length of its value, against the median of the others: {ratio.median():.2f}")
print(
    f"most on the token before: layer {best // 9}, head {best % 9}, {before.max():.2f} on average"
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - On the **first token**, whatever it is: 0.58 of all weight, where a fair share would be 0.14. Two thirds of the heads, 181
#   of 270, give it more than half. This is an **attention sink** (Xiao et al. 2024).
# - Its value is short, a quarter (0.26) of the usual length. As with `[CLS]` in lecture 11: reading it adds little. A softmax
#   must put its weight somewhere, and the first token is the one that every token can see.
# - Layer 16, head 0 reads the token before, with 0.75 on average. Rotary positions make "one back" one angle, for every place.
# - In "one two three four one two three", layer 8, head 2 looks from the last "three" to "four", which followed *last time*, with
#   0.66. Heads that continue what was there before are called **induction heads** (Olsson et al. 2022).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A word that stands far back.** *When she tried to print her* tickets, *she found that the printer was out of toner. She went
# to the stationery store to buy more toner. It was very overpriced. After installing the toner into the printer, she finally
# printed her* … The word that decides stands 46 tokens back (lecture 6 asked the same of an LSTM). Which heads look at it? And
# does the answer depend on them? All 270 heads were measured; then those that look most were silenced. **Silencing a head** is
# setting its output to zero, here at the last token (after Michel et al. 2019); for comparison, that of as many others, drawn at random
# (`python -m lectures.recipes looking_back`).
#
# > **Predict before you run.** Some head gives "tickets" 0.89 of its weight. Silence it: what becomes of the probability of
# > "tickets", 0.46?

# %% slideshow={"slide_type": "fragment"}
looking = json.loads(Path("results/looking_back.json").read_text())["smollm2"]
for head in looking["strongest"][:3]:
    print(f"layer {head['layer']}, head {head['head']}: weight {head['weight']:.2f} on 'tickets'")
print(
    f"a fair share: {looking['uniform']:.2f}; mean over all heads {looking['mean_over_heads']:.2f}"
)
counts = [0, *(int(count) for count in looking["silenced"])]
silenced = looking["silenced"].values()
show.curves(
    counts,
    {
        "the heads that look most": [
            looking["next"][" tickets"],
            *(at["strongest"] for at in silenced),
        ],
        "as many others, mean of draws": [
            looking["next"][" tickets"],
            *(at["random_mean"] for at in silenced),
        ],
    },
    x_title="heads silenced, of 270",
    y_title="P(tickets)",
    alt="Probability of 'tickets' against the number of silenced heads. The heads that look at the word "
    "most: it falls to 0.32 with one, is at 0.26 with ten and at 0.01 with twenty. Random heads: it "
    "stays at 0.45.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Silencing the one head, layer 25, head 1, lowers it from 0.46 to 0.32; the ten strongest to 0.26; the twenty strongest to
#   0.01, where twenty random ones leave 0.45. So these heads, together, carry the word forward, and no single one is *the*
#   head.
# - In lecture 11 silencing the head that linked "it" to "animal" changed next to nothing. A high weight may matter or not:
#   silence, and look.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write positions yourself. What is below is right; make one of the mistakes of section 5 (blocks, counting from 1, the exponent
# $i/d$) or turn queries and keys in another way, and see beside ours what it does.


# %% slideshow={"slide_type": "fragment"}
def my_sinusoidal(length, d_model, base):
    """(length, d_model): sines in the even columns, cosines in the odd ones. Change this."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    angle = position / base ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = torch.sin(angle), torch.cos(angle)
    return table


widgets.positions_playground(sinusoidal, yours=my_sinusoidal)


# %% slideshow={"slide_type": "subslide"}
def my_rotary(x, positions, base, layout="interleaved"):
    """Turn the pair (2i, 2i + 1) at position m by m · base^(−2i/d), each pair as one complex number. Change this."""
    theta = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = positions.unsqueeze(1) * theta
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


widgets.rotary_playground(rotary, query, key, yours=my_rotary)

# %% [markdown] slideshow={"slide_type": "skip"}
# The assignment [`exercises/self_attention/self_attention.ipynb`](../exercises/self_attention/self_attention.ipynb) lets you build all the rest, and tells you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A text of 20 tokens, 6 layers of 12 heads. How many numbers are in all the $\alpha$?
# <details><summary>Answer</summary>6 · 12 · 20 · 20 = 28,800. Of a causal model 6 · 12 · 210 of them may be above zero.</details>
#
# 2. d_model = 512, 8 heads. By what are scores divided?
# <details><summary>Answer</summary>By √(512/8) = √64 = 8.</details>
#
# 3. A language model's loss on new text drops to 0.1 overnight. What do you do first?
# <details><summary>Answer</summary>Look for a leak: change a later token, and see whether an earlier output changes.</details>
#
# 4. A classifier of product reviews uses self-attention without positions and takes the mean of the vectors. Which two reviews
# can it not tell apart?
# <details><summary>Answer</summary>Any two with the same words in another order: "not good, bad" and "not bad, good".</details>
#
# 5. Which entry is PE(0, 7), for any width?
# <details><summary>Answer</summary>Column 7 is odd, a cosine: cos 0 = 1.</details>
#
# 6. You load weights whose rotary pairs are neighbours into code that pairs halves. What will you see?
# <details><summary>Answer</summary>No error. Scores are right at distance 0 and wrong elsewhere; the text turns to nonsense.</details>
#
# 7. A model with ALiBi has never seen more than 512 tokens. What does it do at 513, and what one with learned positions?
# <details><summary>Answer</summary>ALiBi subtracts a little more than it ever did, and goes on. Learned positions have no vector
# 513.</details>
#
# 8. "Head 3 of layer 16 is the comma head: look, here it reads a comma with 0.9." What do you ask?
# <details><summary>Answer</summary>How often, in sentences that did not help to find it, and how much better than a simple rule? And:
# does anything change when it is silenced?</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $\alpha_\ell[k, t_1, t_2]$ | $A^{(l,h)}_{ij}$, `tape["layers.3.attention"][0, k, t1, t2]` | the weight from position $t_1$ to $t_2$, layer $\ell$, head $k$ |
# | $I$ | $d_k$, $d_{\mathrm{head}}$, `d_head` | width of one head's queries and keys |
# | $Q_k[t, i] = \sum_j x[t, j]\, W^Q_k[j, i]$ | $Q_\ell[k, t, i] = W^Q_\ell[k, i, J]\, L[t, J]$ | a query; a capital index is summed over |
# | $[\mathrm{head}_1; \mathrm{head}_2; \dots]\,W^O$ | $W^0$, Concat$(\dots)\,W^O$ | heads concatenated and mixed |
# | True = may attend | $M$ with 0 and $-\infty$, added to the scores | a mask |
# | $\mathrm{PE}(pos, 2i)$ | $P_{t,2i}$, $pos(t)$ | the sinusoids |
# | $\omega_i$, $\theta_i$ | $10000^{-2i/d}$, inverse frequencies | radians per position |
# | $e(w); pos(t)$ | $[e(w), pos(t)]$ | concatenation |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **dependency parse**: a sentence drawn with one labelled edge from each word to the word that it depends on.
# - **SmolLM2**: a small published language model, 30 layers of 9 heads, that runs in the course's own code.
# - **concatenation**: vectors set side by side to one longer vector.
# - **leak**: a way by which a model sees, in training, what it is to predict.
# - **polarity of a mask**: whether True means "may attend" (here) or "ignore" (elsewhere).
# - **permutation equivariance**: the words are shuffled, and so are their vectors, and nothing else happens.
# - **positional encoding**: what tells a network where in the text a word stands.
# - **sinusoids**: position vectors made of sines and cosines whose waves get longer from column to column.
# - **base**: the number, usually 10,000, that says how much slower the slowest wave is than the fastest.
# - **learned positions**: one free vector per place, learned like those of words; there is none beyond the last.
# - **relative positions**: ways of telling attention how far apart two words are instead of where each one stands.
# - **rotary positions**: queries and keys are turned by angles that grow with their positions, so that a score depends on the
#   distance.
# - **layout of rotary positions**: which numbers of a vector are turned together, neighbours or those half a vector apart.
# - **ALiBi**: a penalty on every score, the head's slope times the distance.
# - **bucket**: a group of distances that share one learned number; the farther, the wider.
# - **extrapolation**: working on texts that are longer than those of training.
# - **attention sink**: a token, most often the first, on which heads park the weight that they have no use for.
# - **induction head**: a head that looks at what followed the last time that the present word stood in the text.
# - **silencing a head**: setting its output to zero, to see what depends on it.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Vaswani et al. (2017), Attention Is All You Need, sections 3.2 and 3.5. McAllester, Deep Learning (TTIC 31230),
# slides on the Transformer (the notation $\alpha_\ell[k, t_1, t_2]$). Clark et al. (2019), What Does BERT Look At?, section 4.
# Wang et al. (2020), MiniLM. Ben Allal et al. (2025), SmolLM2. Haviv et al. (2022), Transformer Language Models without
# Positional Encodings Still Learn Positional Information. Gehring et al. (2017), Convolutional Sequence to Sequence Learning,
# section 3.1. Devlin et al. (2019), BERT. Su et al. (2021), RoFormer, section 3. Press, Smith & Lewis (2022), Train Short, Test
# Long. Raffel et al. (2020), T5, section 2.1. Shaw, Uszkoreit & Vaswani (2018), Self-Attention with Relative Position
# Representations. Xiao et al. (2024), Efficient Streaming Language Models with Attention Sinks. Olsson et al. (2022),
# In-context Learning and Induction Heads. Michel, Levy & Neubig (2019), Are Sixteen Heads Really Better than One?
