# %% [markdown] slideshow={"slide_type": "slide"}
# # Self-attention, heads and masks
#
# *The young doctor quickly closed the heavy door.* Who closed it? What was heavy? You joined the words in pairs without noticing.
# In a layer of self-attention every word does something similar. It asks all the words, and listens to some. If one *head* of the layer joins *heavy* to *door*,
# does this head know grammar? And does the model need the head? This lecture computes such a layer by hand, shows how a mask keeps a model from reading
# ahead, and tests what a head's weights can tell you.
#
# <img src="figures/heads_as_edges.svg" width="760" alt="The sentence 'the young doctor quickly closed the heavy door' with six edges above it, as in a dependency parse: 'the' to 'doctor' and 'the' to 'door', 'young' to 'doctor' and 'heavy' to 'door', 'doctor' to 'closed', and 'closed' to 'door', drawn by four heads of MiniLM.">
#
# *Four of MiniLM's 72 heads seem to parse the sentence, that is, to join the words that belong together grammatically. We chose these six edges because
# they look like a parse. Section 2 asks how often the same four heads are right when nobody chooses the edges.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - compute a layer of self-attention with two heads by hand;
# - read the notation $\alpha_\ell[k, t_1, t_2]$ for attention weights, and test a claim about a head against simpler rules;
# - train a model on all positions of a text in one pass, and notice when the future leaks in;
# - combine a causal mask with padding, without getting a NaN;
# - say what you learn when you ablate a head (set its output to zero), and why you need a control.
#
# **You need** [lecture 12](12_attention.ipynb) (query, key, value, softmax, mask, head). [Lecture 1](01_language_models.ipynb) explains that a language model gives a probability to every
# possible next word. Its loss is the mean of $-\ln p$, where $p$ is the probability that it gives to the word that really follows. Vectors are rows, so a matrix multiplies from the right, $xW$.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 13 | 15 | 6 | 14 | 5 | 8 | 8 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 100 minutes. Every cell runs in a few seconds on a laptop, without a network connection. *Coming from other slides or a paper?* A table
# at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 5.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import json
import math
from pathlib import Path

import torch
from IPython.display import HTML
from torch.nn import functional as F

from nlmcore.attention import MultiHeadAttention, causal_mask, masked_softmax, padding_mask
from nlmcore.inspect import capture
from nlmcore.pretrained import minilm, smollm2
from lectures import show, widgets
from nlmcore.transformer import TransformerConfig, TransformerEncoder, TransformerLM

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # these models are so small that one core is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A layer of self-attention by hand
#
# In [lecture 12](12_attention.ipynb) a decoder read the words of *another* text, its source. In **self-attention** every word of a text reads the words of the same text. The word at position $t_1$ sends a *query*, which is
# compared with the *key* of the word at position $t_2$. The better they match, the more of the *value* at $t_2$ travels back to $t_1$.
# Each row of $X$ is one word, and each head $k$ has three learned matrices. It computes
#
# $$Q_k = X W^Q_k, \quad K_k = X W^K_k, \quad V_k = X W^V_k, \qquad
#   \alpha[k, t_1, t_2] = \underset{t_2}{\mathrm{softmax}}\; \frac{1}{\sqrt I} \sum_{i=1}^{I} Q_k[t_1, i]\; K_k[t_2, i],$$
#
# $$\mathrm{head}_k[t_1] = \sum_{t_2} \alpha[k, t_1, t_2]\, V_k[t_2], \qquad
#   \mathrm{output} = [\mathrm{head}_1;\, \mathrm{head}_2;\, \dots]\; W^O.$$
#
# $I$ is the width of *one head's* queries and keys. The semicolon joins vectors end to end, which is called **concatenation**. One more learned matrix, $W^O$, mixes the heads.
#
# Take three words with four features each: *is a noun, is a verb, can act, can be eaten*.
#
# | | noun | verb | acts | eaten |
# |---|---|---|---|---|
# | cat | 1 | 0 | 1 | 0 |
# | eats | 0 | 1 | 0 | 0 |
# | bread | 1 | 0 | 0 | 1 |
#
# We use two heads with $I = 4$. Keys and values are the words themselves ($W^K = W^V =$ the identity), but queries are not. In head 1
# a verb asks for words that can *act*, in head 2 for words that can be *eaten*, each time with strength 4
# (an entry of 4 in $W^Q$). Nouns ask for nothing.
#
# > **Ask yourself.** Could *one* head do the same if it asks for both, each with strength 4? What would *eats* receive from it?

# %% slideshow={"slide_type": "fragment"}
X = torch.tensor([[1.0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1]])
W_Q = torch.zeros(2, 4, 4)
W_Q[0, 1, 2] = 4  # head 1: "is a verb" asks for "can act"
W_Q[1, 1, 3] = 4  # head 2: "is a verb" asks for "can be eaten"

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
heads, rows = [], []
for k in range(2):
    scores_k = X @ W_Q[k] @ X.T / math.sqrt(4)
    weights = torch.softmax(scores_k, dim=-1)
    name = f"'eats', head {k + 1}"
    rows += [(f"{name}: scores", scores_k[1]), (f"{name}: weights", weights[1])]
    heads.append(weights @ X)
one_for_both = torch.softmax(X @ W_Q.sum(0) @ X.T / math.sqrt(4), dim=-1)[1]
rows.append(("'eats', one head that asks for both: weights", one_for_both))
rows.append(("'cat', both heads: weights", weights[0]))
W_O = torch.cat([torch.eye(4), 2 * torch.eye(4)])  # (8, 4): head 1 as it is, head 2 twice
output = torch.cat(heads, dim=-1) @ W_O
by_hand = show.table(
    [(name, *(f"{x:.2f}" for x in row)) for name, row in rows],
    ["", "cat", "eats", "bread"],
    note="output of 'eats': " + ", ".join(f"{x:.2f}" for x in output[1]),
)
show.predict(
    "Take pencil and paper. What weight does “cat” get in the row “eats” of head 1?",
    within=0.03,
    answer=torch.softmax(X @ W_Q[0] @ X.T / math.sqrt(4), dim=-1)[1, 0].item(),
    why="The score is $4 / \\sqrt{4} = 2$ for *cat* and 0 for the others, so the weight is $e^2 / (e^2 + 2)$. What are the weights in the row “cat”, whose query is zero?",
    reveals=by_hand,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In the row *eats* of head 1, *cat* gets a weight of $e^2 / (e^2 + 2)$ = 0.79<!--[[heads[0][1, 2]:.2f]]-->, and each of the others 0.11<!--[[(1 - heads[0][1, 2]) / 2:.2f]]-->.
# - *cat* has three equal scores, so it has three weights of $1/3$. A head always has to read something.
# - For *eats*, head 1 returns mostly the vector of *cat*, which acts, and head 2 mostly that of *bread*, which is eaten. Concatenated, the two vectors say who acts and what is eaten.
# - One head that asks for both gives *cat* and *bread* the same weight, 0.47<!--[[one_for_both[0]:.2f]]--><!--[[? one_for_both[0] == one_for_both[2]]]-->. Then *eats* receives their sum,
#   in which nothing says who eats whom. Two heads keep the two answers in separate dimensions, until $W^O$ mixes them.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# Our library's `MultiHeadAttention` gives the same output with these matrices:

# %% slideshow={"slide_type": "fragment"}
layer = MultiHeadAttention(4, 2, d_head=4, bias=False)
with torch.no_grad():  # a layer keeps its matrices as (out, in): transposed
    layer.query.weight.copy_(torch.cat([W_Q[0].T, W_Q[1].T]))
    layer.key.weight.copy_(torch.eye(4).repeat(2, 1))
    layer.value.weight.copy_(torch.eye(4).repeat(2, 1))
    layer.output.weight.copy_(W_O.T)
    print("the same as the library's:", torch.allclose(layer(X[None])[0], output, atol=1e-6))

# %% [markdown] slideshow={"slide_type": "notes"}
# *13 minutes with the next screens. Have everybody compute the row "eats" on paper before you run the cell. The usual
# mistake is to divide by √3, because there are three words. Let the room propose what a single head would have to do.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Where such a layer sits.** The picture is computed from MiniLM itself. Read it from the bottom up. Word vectors enter. In each of the 6 layers
# the words read one another, and what each word receives is added to its vector. This lecture is about the coloured box;
# [lecture 15](15_transformer_language_model.ipynb) explains the pale ones.

# %% slideshow={"slide_type": "fragment"}
encoder, wordpieces = minilm()
HTML(widgets.architecture(encoder, lit=["self-attention"]))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The same computation in MiniLM**, with the real values of layer 3, head 1. Press play, or step with the arrow keys. Then choose another head
# or another query token. (Hover over a vector to see its values.)
#
# > **Ask yourself.** Add a *causal mask*, which lets no word read a later one. Then *closed* can no longer read *door*. Which token gets the
# > weight that *door* had?

# %% slideshow={"slide_type": "fragment"}
widgets.head_player(
    encoder,
    wordpieces,
    "The young doctor quickly closed the heavy door.",
    layer=3,
    head=1,
    asks=5,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# The weights must sum to 1, so the tokens that are left share the weight of *door*. `[CLS]` has the highest of the remaining scores<!--[[? of_closed[:6].argmax() == 0]]-->, and its weight rises from 0.15<!--[[of_closed[0]:.2f]]--> to 0.96<!--[[of_closed[0] / of_closed[:6].sum():.2f]]-->. MiniLM was trained without
# this mask, so this does not show what a causal model learns.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** You divide by $\sqrt{d_{\mathrm{model}}}$, the width of the *word*, instead of $\sqrt I$, the width of the
# > *head*. In MiniLM a word vector has 384 dimensions and a head 32. Nothing crashes.

# %% slideshow={"slide_type": "fragment"}
tired = torch.tensor(
    [wordpieces.encode("The animal did not cross the street because it was too tired.")]
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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
    sharpness = {
        width: torch.softmax(q @ k.mT / math.sqrt(width), dim=-1).amax(-1).mean().item()
        for width in (32, 384, 1)
    }
divided = show.table(
    [(f"√{width}" if width > 1 else "1", f"{mean:.2f}") for width, mean in sharpness.items()],
    ["divided by", "mean of the largest weight"],
)
with torch.no_grad(), capture(encoder) as tape:  # what “closed” reads in layer 3, head 1
    encoder(torch.tensor([wordpieces.encode("The young doctor quickly closed the heavy door.")]))
of_closed = tape["layers.3.attention"][0, 1, 5]
show.predict(
    "MiniLM reads the sentence about the animal. We average the largest weight of every row in layer 3. "
    f"With scores divided by $\\sqrt{{32}}$, this mean is {sharpness[32]:.2f}. What is the mean if we divide the scores by $\\sqrt{{384}}$ instead?",
    choices={
        "about 0.9: too sharp": 0.9,
        "about the same": sharpness[32],
        "about 0.15: too even": 0.15,
    },
    answer=sharpness[384],
    why="A model trained with this division can compensate with a larger $W^Q$; a model that *you load* cannot.",
    reveals=divided,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The weights become too even. The largest in a row is 0.16<!--[[sharpness[384]:.2f]]--> on average instead of 0.54<!--[[sharpness[32]:.2f]]-->. Equal weights over 15<!--[[tired.shape[1]]]--> tokens
# would be 0.07<!--[[1 / tired.shape[1]:.2f]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Heads as labelled edges
#
# We can draw the weights of a head as edges above a sentence. The query and the key decide how thick an edge is, and the value moves along it. Layers are
# stacked, and each has several heads, so a weight has four indices. In layer $\ell$, head $k$, position $t_1$ reads position $t_2$ with the weight
#
# $$\alpha_\ell[k, t_1, t_2] \ge 0, \qquad \sum_{t_2} \alpha_\ell[k, t_1, t_2] = 1.$$
#
# A linguist's drawing looks similar. In a **dependency parse** every word except the *root* (here the verb *closed*) has one edge to the word it
# depends on, and each edge has a label: *the* is the *determiner* of *door*, *doctor* the *subject* of *closed*, *door* its *object*. A head has no such label, only
# an index. Here are the heads of two real networks. MiniLM, which you know, reads in both directions. **SmolLM2** is a language model with
# 30 layers of 9 heads (Ben Allal et al. 2025). In this course it is always SmolLM2-135M-*Instruct*. This version was first trained to predict the next
# token, and then trained further to follow instructions. Our file keeps its matrices, except the embedding table, in 4 bits per weight.
#
# > **Ask yourself.** (a) Look at layer 0, head 2 of MiniLM, and then at layer 3, head 1. Which label would a linguist
# > give to each? (b) Which edges can SmolLM2 never draw?

# %% slideshow={"slide_type": "fragment"}
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
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Layer 0, head 2 reads the previous word, and each word of this sentence gives it a weight of 1.00<!--[[opening[0, 2].diagonal(-1).min():.2f]]-->. This head follows position, not grammar.
# - Layer 3, head 1 links a verb to its object, *closed* → *door*<!--[[? opening[3, 1, 4].argmax() == 7]]-->, and a determiner to its noun<!--[[? opening[3, 1, 0].argmax() == 2 and opening[3, 1, 5].argmax() == 7]]-->. It is the head that linked
#   "it" to "animal" in [lecture 12](12_attention.ipynb).
# - SmolLM2 has a causal mask. No word reads a later one<!--[[? not alpha.triu(1).any()]]-->, so it can never draw the edge from *closed* to *door*.
# - A parse gives each word at most *one* edge, whose label has a meaning. A head gives a weight to *every* pair that its mask allows, and nobody
#   has defined what the head's index means. This picture leaves out special tokens such as `[CLS]`, which often get much of the weight.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes to here. Before you show the picture below, ask two volunteers for labels, one for layer 1, head 7, and one for
# layer 2, head 8. A test of such labels follows.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does a head know grammar? Count.** We parsed sixteen sentences by hand. We ask about four relations, such as verb → object: does the verb read
# its object? A head is right if it gives the object a larger weight than any other word of the sentence. For each relation we choose the head that is right
# most often in *eight* of the sentences. If several tie, we keep them all. Then we count how often the chosen heads are right in the *other eight*.
# Every claim about a head needs a baseline, a simpler rule that could explain the same hits. We take three:
#
# - **a fixed distance**: always read the word at the distance that was most frequent in the first eight sentences;
# - **the last word**: always read the last word of the sentence;
# - **the next noun**: always read the next noun to the right. (Our parse tells this rule which words are nouns. A head has to find that out.)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
# one sentence per line; each word as word/number of the word it depends on (0: none)/relation
PARSED = """
The/3/det old/3/amod teacher/4/nsubj wrote/0/root a/7/det long/7/amod letter/4/obj to/10/case his/10/det sister/4/obl
My/2/det sister/3/nsubj sold/0/root the/7/det old/7/amod red/7/amod car/3/obj yesterday/3/advmod
The/3/det young/3/amod doctor/5/nsubj quickly/5/advmod closed/0/root the/8/det heavy/8/amod door/5/obj after/12/case the/12/det last/12/amod visit/5/obl
Our/3/det new/3/amod neighbour/4/nsubj feeds/0/root the/7/det hungry/7/amod birds/4/obj every/9/det morning/4/obl
A/3/det small/3/amod boy/4/nsubj broke/0/root his/7/det new/7/amod toy/4/obj with/10/case a/10/det hammer/4/obl
The/2/det farmer/4/nsubj never/4/advmod ate/0/root the/8/det very/7/advmod sweet/8/amod apples/4/obj from/12/case his/12/det own/12/amod garden/8/nmod
The/3/det famous/3/amod painter/4/nsubj showed/0/root her/8/det three/8/nummod last/8/amod pictures/4/obj to/11/case the/11/det king/4/obl
This/3/det strange/3/amod machine/5/nsubj always/5/advmod makes/0/root a/9/det very/8/advmod loud/9/amod noise/5/obj at/11/case night/5/obl
The/3/det two/3/nummod girls/4/nsubj found/0/root an/8/det old/8/amod silver/8/compound coin/4/obj in/11/case the/11/det river/4/obl
His/2/det mother/3/nsubj bought/0/root some/7/det fresh/7/amod apple/7/compound juice/3/obj for/10/case the/10/det journey/3/obl
The/2/det king/3/nsubj built/0/root a/8/det tall/8/amod and/7/cc narrow/5/conj tower/3/obj near/11/case the/11/det sea/3/obl
My/4/det three/4/nummod little/4/amod cousins/5/nsubj love/0/root this/8/det card/8/compound game/5/obj about/10/case trains/8/nmod
The/2/det captain/4/nsubj slowly/4/advmod turned/0/root the/8/det great/8/amod iron/8/compound wheel/4/obj to/11/case the/11/det left/4/obl
Her/3/det best/3/amod friend/4/nsubj sent/0/root a/8/det really/7/advmod beautiful/8/amod picture/4/obj of/12/case her/12/det new/12/amod house/8/nmod
Some/3/det hungry/3/amod wolves/5/nsubj suddenly/5/advmod attacked/0/root the/7/det sheep/5/obj behind/10/case the/10/det barn/5/obl
A/4/det very/3/advmod tired/4/amod nurse/5/nsubj opened/0/root the/9/det small/9/amod kitchen/9/compound window/5/obj before/11/case breakfast/5/obl
"""
NOUNS = {"nsubj", "obj", "obl", "nmod", "compound"}  # relations whose dependent is a noun


def parsed(line):
    """Words, and edges (word, the word it depends on, relation)."""
    words, heads, relations = zip(*(item.split("/") for item in line.split()), strict=True)
    edges = [(i, int(h) - 1, r) for i, (h, r) in enumerate(zip(heads, relations, strict=True))]
    return words, [edge for edge in edges if edge[2] != "root"]


def weights_among(words):
    """MiniLM's weights among these words only: (layer, head, reads, read)."""
    pieces = wordpieces.pieces(" ".join(words) + ".")
    at = [pieces.index(words[0].lower())]
    for word in words[1:]:
        at.append(pieces.index(word.lower(), at[-1] + 1))
    with torch.no_grad(), capture(encoder) as tape:
        encoder(torch.tensor([wordpieces.encode(" ".join(words) + ".")]))
    return torch.cat(list(tape.values()))[:, :, at][:, :, :, at]


opening = weights_among(["The", "young", "doctor", "quickly", "closed", "the", "heavy", "door"])


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
RELATIONS = {  # label: (relation, does the head of the pair do the reading?, layer and head of the opening picture)
    "adjective → noun": ("amod", False, (2, 8)),
    "determiner → noun": ("det", False, (1, 7)),
    "subject → verb": ("nsubj", False, (2, 3)),
    "verb → object": ("obj", True, (3, 1)),
}
found = {}  # (label, half) -> [(whether each of the 72 heads is right, and what the rules need to know), …]
for number, line in enumerate(PARSED.strip().split("\n")):
    words, edges = parsed(line)
    nouns = [word for word, _, relation in edges if relation in NOUNS]
    most = weights_among(words).argmax(-1).flatten(0, 1)  # (72 heads, word): what each reads most
    for label, (relation, from_head, _) in RELATIONS.items():
        for word, head in [edge[:2] for edge in edges if edge[2] == relation]:
            reads, read = (head, word) if from_head else (word, head)
            noun = last = next((n for n in nouns if n > reads), None)
            while last is not None and last + 1 in nouns:
                last += 1  # “juice” in “apple juice”
            rules = (read - reads, read == len(words) - 1, read == noun, read == last)
            found.setdefault((label, number % 2), []).append((most[:, reads] == read, *rules))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
RULES = ("fixed distance", "last word", "next noun")
table = {}
for label, (_, _, (layer, head)) in RELATIONS.items():
    hits = [
        torch.stack([edge[0] for edge in found[label, half]]).float().mean(0) for half in (0, 1)
    ]
    far, last, noun = (torch.tensor([edge[i] for edge in found[label, 1]]) for i in (1, 2, 3))
    usual = torch.tensor([edge[1] for edge in found[label, 0]]).mode().values.item()
    best = hits[0] == hits[0].max()  # all heads that tie
    table[label] = {
        "best": [f"{i // 12}.{i % 12}" for i in best.nonzero().flatten().tolist()],
        "chosen on": hits[0].max().item(),
        "tested on": hits[1][best].mean().item(),
        "distance": usual,
        "fixed distance": (far == usual).float().mean().item(),
        "last word": last.float().mean().item(),
        "next noun": noun.float().mean().item(),
        "opening": f"{layer}.{head}",
        "opening tested": hits[1][12 * layer + head].item(),
        "last of the next nouns": sum(edge[4] for edge in found[label, 1]),
        "edges": len(far),
    }
adjective, determiner, subject, verb = table.values()
leads = [  # of the opening picture's heads over the best rule, in edges
    round((row["opening tested"] - max(row[rule] for rule in RULES)) * row["edges"])
    for row in table.values()
]
bars = []  # (label, fraction of the edges, how many edges, is it a head?)
for label, row in table.items():
    rule = max(RULES, key=row.get)
    bars += [
        (f"{label}: best head, {' '.join(row['best'])}", row["tested on"], row["edges"], True),
        (f"opening picture, {row['opening']}", row["opening tested"], row["edges"], True),
        (f"best rule, {rule}", row[rule], row["edges"], False),
    ]
counted = HTML(
    show.bar_list_svg(
        [hit for _, hit, _, _ in bars],
        [name for name, *_ in bars],
        says=[f"{hit:.0%} of {edges}" for _, hit, edges, _ in bars],
        highlight=[i for i, bar in enumerate(bars) if bar[-1]],
        reach=1,
        title="edges found in the eight sentences not used to choose the head",
        note="Orange: a head of MiniLM, as layer.head. Blue: the best of the three rules.",
        width=860,
    )
)
show.predict(
    "For which relation does the chosen head beat the best of the three rules by the widest margin?",
    choices=list(table),
    answer=max(
        table, key=lambda r: table[r]["tested on"] - max(table[r][rule] for rule in RULES)
    ),
    why="We count this in the eight sentences that we did not use to choose the head.",
    reveals=counted,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Verb → object: layer 3, head 1 finds the object in **all** sixteen sentences<!--[[? verb["best"] == ["3.1"] and verb["chosen on"] == verb["tested on"] == 1]]-->. Of the eight<!--[[words(verb["edges"])]]--> tested objects, "the next noun" finds
#   five<!--[[words(round(verb["edges"] * verb["next noun"]))]]-->. In "apple juice" the rule picks *apple*; the head picks *juice*.
# - Determiner → noun: the head that is best in the first eight sentences, with 88<!--[[100 * determiner["chosen on"]:.0f]]--> %, drops to 55<!--[[100 * determiner["tested on"]:.0f]]--> % in the others. If you pick the best of many
#   heads on few examples, some of its success is luck. So choose on one half and test on the other.
# - "The next noun" finds 85<!--[[100 * determiner["next noun"]:.0f]]--> % of these nouns, more than the chosen head or the one in the opening picture<!--[[? determiner["next noun"] > max(determiner["tested on"], determiner["opening tested"])]]-->.
# - Of the four heads of the opening picture, three<!--[[words(sum(lead > 0 for lead in leads))]]--> beat all three rules, by one to three edges<!--[[? sorted(leads)[1:] == [1, 2, 3]]]-->.
# - **Are three rules enough?** Take a fourth: read the next noun, or the *last* one if several nouns follow each other (*juice* in "apple juice"). It finds every tested
#   object, and the noun of every tested adjective and determiner<!--[[? all(row["last of the next nouns"] == row["edges"] for row in (adjective, determiner, verb))]]-->. For a subject, "read the only verb" is always right. So on these sentences no head beats rules that are told the word classes.
# - Look for sentences on which a rule fails. In *The teacher gave the boy a book* the fourth rule picks *boy*, but head 3.1 still picks the object, *book*<!--[[? weights_among("The teacher gave the boy a book".split())[3, 1, 2].argmax() == 6]]-->.
# - Clark et al. (2019) count the hits of BERT's heads on a large treebank (a collection of parsed sentences). They find individual heads for
#   objects, determiners and more that are clearly better than fixed distances, but no head that covers all of grammar. Our sixteen
#   short sentences only show how to test such a claim.
# </details>
#
# **A head that seems to parse may be no better than “the next noun”.** Compare it with the strongest simple rules that you can think of, on sentences that were not used to choose it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room propose more rules before you show the picture. Then ask for a sentence that could still refute the claim
# about head 3.1, such as one with an object before its verb ("the door that the doctor closed"), and try it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. All positions in parallel, and don't look ahead
#
# A text of $n$ words gives a language model $n - 1$ small tasks. After each word it predicts the next one. A recurrent
# network ([lecture 6](06_recurrent_networks.ipynb)) works through them one by one, because each state waits for the previous one. In a layer of self-attention
# no row of the output waits for another row, so *all positions are computed in parallel*. The only rule is that no position may
# see the word that it must predict. The **causal mask** enforces this rule:
#
# $$\alpha[k, t_1, t_2] = 0 \quad \text{for } t_2 > t_1, \qquad \text{``don't look ahead''}.$$
#
# SmolLM2 reads "When she tried to print her tickets, she found that the printer was out of toner."
#
# > **Ask yourself.** After which word is the model most confident about the next one? How surprised is it by *tickets*? The model makes a guess
# > after each token. Do its first eight guesses change if it never sees the rest of the sentence?

# %% slideshow={"slide_type": "fragment"}
sentence = "When she tried to print her tickets, she found that the printer was out of toner."
pieces, ids = bytepairs.pieces(sentence), torch.tensor([bytepairs.encode(sentence)])
with torch.no_grad():
    logits, state = writer(ids)  # one pass: logits[0, t] scores every token that may follow t
    beginning, _ = writer(ids[:, :8])
p = logits[0].softmax(-1)
right = p[range(len(pieces) - 1), ids[0, 1:]]  # the probability of the token that really follows
for t in (2, 3, 5, 12, 14, 17):
    guess, sure = bytepairs.decode([int(p[t].argmax())]), p[t].max().item()
    print(
        f"… {pieces[t]:>9} → guess {guess:>7} {sure:.2f};  really {pieces[t + 1]:>9} {right[t]:.2f}"
    )
print(f"predictions from one pass: {len(right)}; mean −ln p: {-right.log().mean():.2f}")
print("same from just eight tokens:", torch.allclose(logits[:, :8], beginning, atol=1e-3))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - It is most confident after "tried"<!--[[? p.amax(-1).argmax() == right.argmax() == 2]]-->, where *to* has a probability of 0.90<!--[[right[2]:.2f]]-->. After "print her", *tickets* has only 0.0002<!--[[right[5]:.4f]]-->. The mean loss of 4.17<!--[[-right.log().mean():.2f]]-->
#   hides how much these two words differ.
# - One pass gives 18<!--[[len(right)]]--> predictions. The first eight stay the same<!--[[? torch.allclose(logits[:, :8], beginning, atol=1e-3)]]--> if the model does not get the rest of the sentence, because the mask hides later tokens from earlier positions. So you
#   can train a model on all positions in parallel *and* use it word by word.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Draw the table of weights on the board and read it both ways. A row shows what one word reads, a column shows which
# words read it. The mask cuts off the upper triangle; say aloud that row 0 sees one word and row 1 sees two.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Leaks
#
# **What if you forget the mask?** Nobody can predict random digits. A uniform guess costs $\ln 10$ = 2.30<!--[[math.log(10):.2f]]--> per digit, and no model can do better on average unless
# it sees the digit. We train one layer of self-attention twice, with the causal mask and without it. The texts are random digits, new ones at every
# step, and at each of 16 positions the model must predict the next digit.


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
    """(batch, time, 10): a score for every next digit. The model without a mask returns vectors; its embedding table scores them."""
    out = model(digits)
    return out[0] if isinstance(out, tuple) else out @ model.embedding.weight.T


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as reached:
    print(
        f"with the mask {with_mask[-1]:.2f}, without {without[-1]:.2f}; ln 10 = {math.log(10):.2f}"
    )
show.predict(
    "Without the mask the loss falls towards a value that is *not* 0. Even a model that sees later digits cannot get below this value. What is it?",
    within=0.03,
    answer=math.log(10) / 16,
    why="At 15 of the 16 positions the model can copy the digit to the right. At the last there is none, so it must guess.",
    reveals=[
        reached,
        show.curves(
            list(range(1, 121, 7)),
            {"with the causal mask": with_mask[::7], "without": without[::7]},
            x_title="training step",
            y_title="loss per digit",
            alt="Loss against steps. With the mask it stays at 2.30. Without it falls from step 10 on, and "
            "is nearly level at 0.15 from step 80 on.",
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With the mask the loss is 2.30<!--[[with_mask[-1]:.2f]]-->, which is chance level, as it must be. Without it the loss is 0.15<!--[[without[-1]:.2f]]-->, because the model has learned to read the digit
#   to the right of each position.
# - One guess in 16 digits costs $\ln(10)/16$ = 0.144<!--[[math.log(10) / 16:.3f]]--> per digit on average.
# - On real text nobody knows the lowest possible loss, and a leak at a few positions may only make the curve look a little too good.
# </details>
#
# **On new text, a loss below the lowest possible one is not a triumph but a leak:** in some way the model sees its targets.

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes. Take bets on the loss without a mask before you show the curve. Let somebody explain the sixteenth position.
# Keep time for the leak test that follows, because it is the one habit to take home.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **And what happens when the leaky model, the one without a mask, has to continue a text?**

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
    first_guess = scores_of(leaky, digits[:, :15])[:, -1].softmax(-1).amax(-1).mean().item()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
at_the_end = show.table(
    [(name, f"{sum(losses) / len(losses):.2f}") for name, losses in honest.items()],
    ["", "loss of the digit that follows a given start"],
)
show.predict(
    "Give the leaky model the start of a text, and ask for the next digit. What is its loss?",
    choices={"0.15": 0.15, "2.30": 2.3, "more than 5": 7.5},
    answer=sum(honest["without"]) / len(honest["without"]),
    why="At the end of the text there is no next digit to copy. The model guesses, and is far too confident.",
    reveals=at_the_end,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The loss is more than 7<!--[[? 7 < sum(honest["without"]) / 15 < 8]]-->, three times the cost of guessing. After 15 digits the model gives its top guess a probability of 0.65<!--[[first_guess:.2f]]--> on average, but a guess about a
# random digit is right only one time in ten.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A test for leaks** needs no data. Change *one* token, and see at which positions the output changes.

# %% slideshow={"slide_type": "fragment"}
text = digits[:1]


def changes(model):
    """(changed position, position): how much the output at each position changes; 1 is the most."""
    with torch.no_grad():
        before = scores_of(model, text)
        others = text.repeat(16, 1)
        others.fill_diagonal_(0).add_(torch.diag((text[0] + 1) % 10))
        moved = (scores_of(model, others) - before).norm(dim=-1)
    return moved / moved.amax()


moved = torch.stack([changes(careful), changes(leaky)])  # (model, changed position, position)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
positions = [str(t) for t in range(16)]


def leak(changed):
    reached = [
        ", ".join(positions[t] for t in range(16) if moved[m, changed, t] > 1e-4) for m in (0, 1)
    ]
    return show.heatmap_svg(
        moved[:, changed],
        ["with the mask", "without"],
        positions,
        alt=f"The digit at position {changed} is changed. With the mask the outputs {reached[0]} change, without it {reached[1]}.",
        cell=46,
        title=f"the digit at position {changed} changes: how much does each output change?",
    )


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
changed_by_8 = [t for t in range(16) if moved[0, 8, t] > 1e-4]
silent = new_model(masked=False)  # no mask and no training: its attention adds nothing yet
torch.nn.init.zeros_(silent.layers[0].attention.output.weight)
show.predict(
    "The digit at position 8 is replaced by a different one. *With* the mask, how many of the 16 outputs change?",
    within=0,
    answer=len(changed_by_8),
    why=f"The outputs at positions {changed_by_8[0]} to {changed_by_8[-1]} change, that is, at the changed digit and after it. Which output changes most *without* the mask?",
    reveals=widgets.live(leak, changed=widgets.slider(8, 0, 15, 1, "changed position")),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# A model passes the test if no output *before* the changed token changes. With the mask our model passes,
# whichever digit you replace<!--[[? not moved[0].tril(-1).any()]]-->. Without the mask the output at position 7 changes most<!--[[? moved[1, 8].argmax() == 7]]-->, because it copies the digit at
# position 8. This model passes the test only if you change position 0, which has no earlier positions<!--[[? all((moved[1, t, :t] > 1e-4).any() for t in range(1, 16))]]-->.
#
# The test has two gaps. Some initialisations set $W^O$ to zero. Then an untrained model passes even without a mask<!--[[? not changes(silent).tril(-1).any()]]-->, so test the trained model as well.
# And a causal model passes even if you forget to shift its targets, so that it reads the very token that it must predict ([lecture 16](16_encoder_decoder_transformers.ipynb)).
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Two masks combined
#
# The sentences of a batch are padded to the same length, and no word may read the **padding**. Masks are boolean (`True` = *may attend*),
# their shapes broadcast to (batch, head, query, key), and `&` combines them.

# %% slideshow={"slide_type": "fragment"}
real = padding_mask(torch.tensor([2, 4]), 4)  # (batch, key)
real = real.flip(-1)  # the padding is on the left
both = causal_mask(4) & real[:, None, None, :]  # (batch, 1, query, key)
scores = torch.randn(2, 1, 4, 4, generator=torch.Generator().manual_seed(0))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
textbook = torch.softmax(scores.masked_fill(~both, -math.inf), dim=-1)
rows = {"ours": masked_softmax(scores, both), "textbook": textbook}
sums = show.table(
    [(name, *(f"{x:.2f}" for x in weights[0, 0].sum(-1))) for name, weights in rows.items()],
    ["sums of the rows", *(f"position {t}" for t in range(4))],
    note=f"real tokens: {real.tolist()}",
)
show.predict(
    "The first text begins with padding. Suppose you mask as in a textbook, with `masked_fill(~mask, -inf)` and then softmax. What do the weights in the first row of this text sum to?",
    choices=["0", "1", "nan"],
    answer=f"{textbook[0, 0, 0].sum().item():g}",
    why="In that row every key is masked, so softmax computes $0/0$.",
    reveals=sums,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** *Rows of $-\infty$*: a padded position on the left has nothing to read, and softmax makes its row NaN (*not a
# > number*). Through the gradients one NaN spreads to the network's weights. Our `masked_softmax` fills such a row with zeros.
# > The **polarity of a mask** is what `True` stands for. In our library and in PyTorch's `scaled_dot_product_attention` it means *may attend*; in the
# > `key_padding_mask` of PyTorch's `MultiheadAttention` it means *ignore*. If you pass a padding mask of one kind where the other is expected,
# > the model reads only padding.

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes; skip the section if you are late. Ask which rows of the textbook version are NaN before you run the cell.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. What the heads of a language model read
#
# We return to SmolLM2, with its causal mask and its 30 layers of 9 heads. It reads the sentence of section 3, *When she tried to print her tickets* …

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with torch.no_grad(), capture(writer) as tape:
    _, state = writer(ids)
alpha = torch.cat(list(tape.values()))  # (layer, head, query, key)
n = alpha.shape[-1]
on_first = alpha[:, :, 1:, 0]  # what later tokens give to the first
before = alpha[:, :, range(1, n), range(n - 1)].mean(-1)  # (layer, head): on the previous token
best = int(before.argmax())
lengths = [layer.values.norm(dim=-1) for layer in state.layers]
values = torch.stack(lengths)
ratio = values[..., 0] / values[..., 1:].median(-1).values
v = torch.cat([layer.values for layer in state.layers]).repeat_interleave(
    3, dim=1
)  # 3 heads share
from_first = alpha[:, :, 1:, :1] * v[:, :, :1]  # what the first token adds to each later one
from_others = alpha[:, :, 1:, 1:] @ v[:, :, 1:]
contributed = (from_first.norm(dim=-1) / from_others.norm(dim=-1)).median()
shares = show.table(
    [
        ("mean weight on the first token", f"{on_first.mean():.2f}"),
        ("a uniform share", f"{(1 / torch.arange(2, n + 1)).mean():.2f}"),
        (
            "heads that give it more than half",
            f"{(on_first.mean(-1) > 0.5).sum()} of {before.numel()}",
        ),
        ("length of its value, relative to the median of the others", f"{ratio.median():.2f}"),
        (
            f"most on the previous token, on average (layer {best // 9}, head {best % 9})",
            f"{before.max():.2f}",
        ),
    ]
)
with torch.no_grad(), capture(writer) as tape:
    writer(torch.tensor([bytepairs.encode("one two three four one two three")]))
continued = tape["layers.8.attention"][0, 2, -1]  # what the last word reads
on_itself = alpha.diagonal(dim1=-2, dim2=-1)[..., 1:]
show.predict(
    "Many of BERT's heads put most of their weight on `[SEP]`, at the end of the text (Clark et al. 2019). With a causal mask, earlier tokens cannot see the *end*. Where do SmolLM2's heads put most of their weight in this sentence, on average?",
    choices=["on the first token", "on the token itself", "on the previous token"],
    answer=["on the first token", "on the token itself", "on the previous token"][
        int(torch.stack([on_first.mean(), on_itself.mean(), before.mean()]).argmax())
    ],
    why="A softmax must put its weight somewhere. Xiao et al. (2024) explain the choice: the first token is the one that every token can see.",
    reveals=shares,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - On average the first token gets 0.58<!--[[on_first.mean():.2f]]--> of the weight, where a uniform share would be 0.14<!--[[(1 / torch.arange(2, n + 1)).mean():.2f]]-->. Two thirds<!--[[? abs((on_first.mean(-1) > 0.5).float().mean() - 2 / 3) < 0.02]]--> of the heads
#   give it more than half. Such a token is called an **attention sink** (Xiao et al. 2024).
# - Its value vector is short, a quarter (0.26<!--[[ratio.median():.2f]]-->) of the usual length. But its
#   weight is so large that its weight times its value is 0.86<!--[[contributed:.2f]]--> times as long as the sum of all others (median over all heads and later tokens).
# - Layer 16, head 0 reads the previous token<!--[[? divmod(best, 9) == (16, 0)]]-->, with a weight of 0.75<!--[[before.max():.2f]]--> on average.
# - In "one two three four one two three", the final "three" reads "four" in layer 8, head 2, with a weight of 0.66<!--[[continued[3]:.2f]]-->. "Four" is
#   the word that followed "three" *the first time*. Heads that do so in any repeated text are called **induction heads** (Olsson et al. 2022). One example does
#   not make this head an induction head; [lecture 23](23_inside_a_real_model.ipynb) runs the test.
# </details>
#
# Hover over a head in the picture below, and lines show what each token reads. No line leads to a later token.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
widgets.living(
    writer,
    bytepairs,
    sentence,
    "The animal did not cross the street because it was too tired.",
    "Paris is the capital of France, and Rome is the capital of",
    "one two three four one two three",
    at="16.0",
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let two people each pick a head and name it, and write the names down. Return to them after section 7, and ask what you
# would have to measure before such a name goes into a paper.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Does it matter? Ablation, with a control
#
# *When she tried to print her* tickets, *she found that the printer was out of toner. She went to the stationery store to buy more
# toner. It was very overpriced. After installing the toner into the printer, she finally printed her* … The missing word, *tickets*, is 46<!--[[looking["distance"]]]-->
# tokens back. Which heads attend to it? And does the model's answer depend on them?
#
# **Ablating a head** tests this: we set the head's output to zero (Michel et al. 2019), here at the last token,
# and compute the answer again. We measured how much weight each of the 270 heads puts on "tickets", and then ablated the heads with the
# largest weights. As a control we ablated the same number of other heads, drawn at random, and repeated this 20 times. The heads with the largest weights are all in late layers, so a second control draws
# only from those layers (`python -m lectures.recipes looking_back`).

# %% slideshow={"slide_type": "fragment"}
looking = json.loads(Path("results/looking_back.json").read_text())["smollm2"]
for head in looking["strongest"][:3]:
    print(f"layer {head['layer']}, head {head['head']}: weight {head['weight']:.2f} on 'tickets'")
print(f"uniform: {looking['uniform']:.2f}; mean over all heads {looking['mean_over_heads']:.2f}")
ablated, whole = looking["ablated"], looking["next"][" tickets"]
most = [whole, *(at["strongest"] for at in ablated.values())]
controls = {"any layer": "random", "layers {} to {}".format(*looking["near"]): "random_near"}
lower = {  # of the 20 random sets, how many leave less than the heads with the largest weights
    where: {n: sum(p < at["strongest"] for p in at[key]) for n, at in ablated.items()}
    for where, key in controls.items()
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ranks = show.table(
    [
        (count, f"{at['strongest']:.2f}", *(lower[where][count] for where in controls))
        for count, at in ablated.items()
    ],
    ["ablated", "P(tickets)", *(f"lower, of 20 random sets: {where}" for where in controls)],
)
drawn = {
    f"random others, {where}: mean and range": torch.tensor(
        [[whole, *(at[key][i] for at in ablated.values())] for i in range(20)]
    )
    for where, key in controls.items()
}
least = {where: min(ablated["20"][key]) for where, key in controls.items()}
show.predict(
    f"With all its heads, the model gives “tickets” a probability of {whole:.2f}. You ablate the twenty heads, of 270, that attend to “tickets” most. What probability is left?",
    choices={
        "about 0.4: other heads take over": 0.4,
        "about 0.2": 0.2,
        "nearly none": 0.0,
    },
    answer=ablated["20"]["strongest"],
    why="For fewer heads the answer is less clear. The table says how many of the random sets do more harm.",
    reveals=[
        ranks,
        HTML(
            show.bands_svg(
                [0, *map(int, ablated)],
                {"the heads that attend to it most": [most, most]} | drawn,
                x_title="heads ablated, of 270",
                y_title="P(tickets)",
                low=0,
                high=0.8,
                columns=1,
                alt=f"Probability of 'tickets' against the number of ablated heads, from {whole:.2f} with none. "
                + "; ".join(
                    f"{count} heads: {at['strongest']:.2f} without those that attend to the word most, "
                    + ", ".join(
                        f"{min(at[key]):.2f} to {max(at[key]):.2f} without random ones ({where})"
                        for where, key in controls.items()
                    )
                    for count, at in ablated.items()
                )
                + ".",
            )
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without the **twenty** heads the probability falls to 0.01<!--[[ablated["20"]["strongest"]:.2f]]-->. Every random set of twenty leaves more, at least 0.31<!--[[min(least.values()):.2f]]-->.
# - Ablating a *single* head, layer 25, head 1<!--[[? [looking["strongest"][0][part] for part in ("layer", "head")] == [25, 1]]]-->, lowers the probability from 0.46<!--[[whole:.2f]]--> to 0.32<!--[[ablated["1"]["strongest"]:.2f]]-->. None of the 2 · 20 heads drawn at random does as much harm<!--[[? lower["any layer"]["1"] == lower["layers 17 to 25"]["1"] == 0]]-->.
# - Without the top **five**, 0.35<!--[[ablated["5"]["strongest"]:.2f]]--> is left. But one<!--[[words(lower["any layer"]["5"])]]--> of the 20 random sets from any layer does more harm, and leaves 0.27<!--[[min(ablated["5"]["random"]):.2f]]-->. The mean of
#   the random sets would have hidden this. So report the *rank* of the top heads, that is, how many random sets do more harm.
# - Do the top heads matter only because they are in late layers? No set drawn from the same layers does as much harm as the top heads, at any of the five sizes<!--[[? not any(lower["layers 17 to 25"].values())]]-->.
# - If the top heads were like any others, a rank of 0 among 20 draws would have a probability of about 1 in 21. So one such rank is weak evidence.
# - Ablating heads can also raise the probability. In the highest random draw it is 0.75<!--[[max(max(at[key]) for at in ablated.values() for key in controls.values()):.2f]]-->.
# - This is one sentence and one model. In [lecture 12](12_attention.ipynb) ablating the head that linked "it" to "animal" changed next to nothing.
# </details>
#
# **A weight tells you where a head reads. To learn whether the head follows grammar, compare its hits with those of simpler rules. To learn whether the model
# needs it, ablate it, with a control.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Before the picture, give only the means of the first control. They are about 0.45 throughout, which looks convincing. Then show
# the ranks and ask what the mean has hidden, and what else the top heads have in common (late layers: the second control).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a mask yourself. The function below is correct. Make it leak (with `triu`, or with no mask at all), hide each word from itself
# (`tril(-1)`), or let each word see only the previous three. Then compare the weights with ours. Every row shows what one word
# reads when all scores are equal.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def my_mask(length):
    """(length, length), True = may attend: row t1, column t2. Change this."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def weights_under(mask, length):
    """A heatmap of the weights when all scores are equal."""
    weights = masked_softmax(torch.zeros(length, length), mask(length))
    words = [str(t) for t in range(length)]
    read = "; ".join(f"word {t} reads {int((row > 0).sum())}" for t, row in enumerate(weights))
    return show.heatmap_svg(
        weights, words, words, alt=f"Weights under the mask. {read}.", cell=38
    )


widgets.live(
    weights_under, causal_mask, yours=my_mask, length=widgets.slider(7, 1, 10, 1, "words")
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. Before you change the code, ask what the first row of `tril(-1)` sums to (0, because word 0 may read
# nothing) and what the first row of the correct mask is (1, 0, 0, …). What goes wrong: `triu` also draws a neat triangle; let the
# room read row 0 aloud before they call it causal.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`exercises/self_attention/self_attention.ipynb`](../exercises/self_attention/self_attention.ipynb) you write a window mask, the loss of all positions in one pass, and more. The assignment tells you which mistakes you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A text has 20 tokens, and a model has 6 layers of 12 heads. How many attention weights does the model compute?
# <details><summary>Answer</summary>It computes 6 · 12 · 20 · 20 = 28,800<!--[[6 * 12 * 20 * 20:,]]-->. In a causal model 6 · 12 · 210<!--[[20 * 21 // 2]]--> of them may be above zero.</details>
#
# 2. A model has d_model = 512 and 8 heads. By what do you divide the scores?
# <details><summary>Answer</summary>By √(512/8) = √64 = 8.</details>
#
# 3. A language model's loss on new text drops to 0.1 overnight. What do you do first?
# <details><summary>Answer</summary>Look for a leak. Change a later token, and see whether an earlier output changes.</details>
#
# 4. Why can a Transformer learn from all positions of a text in one pass, while a recurrent network needs one step per word?
# <details><summary>Answer</summary>No row of self-attention waits for another row of the same layer. A recurrent state waits for the
# previous state.</details>
#
# 5. "Head 3 of layer 16 is the comma head: look, here it gives a comma a weight of 0.9." What do you ask?
# <details><summary>Answer</summary>How often is it right in sentences that were not used to find it? Which simpler rules, such as a
# fixed distance, would be right as often? Does the output change when you ablate it, and by more than when you ablate random heads?</details>
#
# 6. You ablate five heads and the probability falls from 0.46<!--[[whole:.2f]]--> to 0.35<!--[[ablated["5"]["strongest"]:.2f]]-->. Five random heads leave 0.44<!--[[sum(ablated["5"]["random"]) / 20:.2f]]--> on average. Is the case closed?
# <details><summary>Answer</summary>No. Ask how many of the random draws fall below 0.35<!--[[ablated["5"]["strongest"]:.2f]]-->; the mean does not tell you. And ask whether the random heads come from the same layers.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, read question 6 aloud and take a vote. What goes
# wrong: in question 2 they divide by √512, and in question 1 they forget to square the length.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $\alpha_\ell[k, t_1, t_2]$ | $A^{(l,h)}_{ij}$, `tape["layers.3.attention"][0, k, t1, t2]` | the weight from position $t_1$ to $t_2$, layer $\ell$, head $k$ |
# | $I$ | $d_k$, $d_{\mathrm{head}}$, `d_head` | width of one head's queries and keys |
# | $Q_k[t, i] = \sum_j x[t, j]\, W^Q_k[j, i]$ | $Q_\ell[k, t, i] = W^Q_\ell[k, i, J]\, L[t, J]$ | a query; $L$ are the vectors that enter the layer; a capital index is summed over |
# | $[\mathrm{head}_1; \mathrm{head}_2; \dots]\,W^O$ | $W^0$, Concat$(\dots)\,W^O$ | heads concatenated and mixed |
# | True = may attend | $M$ with 0 and $-\infty$, added to the scores | a mask |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices for a room that knows other slides. Ask which mask they are used to. What goes
# wrong: they add our boolean mask to the scores, or read $\alpha[k, t_1, t_2]$ with the key first. Say that layers, heads and
# positions all count from 0.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **dependency parse**: a sentence drawn with one labelled edge from each word, except the root, to the word that it depends on.
# - **SmolLM2**: a small published language model, 30 layers of 9 heads; ours follows instructions (*Instruct*) and has 4-bit matrices.
# - **concatenation**: vectors joined end to end into one longer vector.
# - **polarity of a mask**: whether True means "may attend" (here) or "ignore" (elsewhere).
# - **attention sink**: a token, most often the first, that gets much of the weight of many heads, whatever it says.
# - **induction head**: a head that attends to the token after the previous occurrence of the current one.
# - **ablating a head**: setting its output to zero, to see what depends on it; a control ablates as many random heads.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Vaswani et al. (2017), Attention Is All You Need, section 3.2. McAllester, Deep Learning (TTIC 31230), slides on the
# Transformer (the notation $\alpha_\ell[k, t_1, t_2]$). Clark et al. (2019), What Does BERT Look At?, section 4. Wang et al. (2020),
# MiniLM. Ben Allal et al. (2025), SmolLM2. Xiao et al. (2024), Efficient Streaming Language Models with Attention Sinks. Olsson et
# al. (2022), In-context Learning and Induction Heads. Michel, Levy & Neubig (2019), Are Sixteen Heads Really Better than One?
