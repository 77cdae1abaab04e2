# %% [markdown] slideshow={"slide_type": "slide"}
# # Positions
#
# *Dog bites man. Man bites dog.* The two sentences share their words, but only one of them is news. You told them apart by the order of
# the words. Attention without a mask cannot tell them apart, because it treats a sentence as a bag of vectors. How do you tell a network *where* each
# word is?
#
# <img src="figures/fifty_positions.svg" width="900" alt="Two tables of 50 rows in blue, white and red, with 256 columns of sines and 256 of cosines. On the left of each, narrow waves run down the columns; to the right the waves grow longer, until all rows look the same.">
#
# *One row for each of 50 positions. The 512 columns are sorted into sines on the left and cosines on the right.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say what attention knows about word order, with a causal mask and without;
# - compute sinusoids, and read them as counting with smooth digits;
# - choose between adding, concatenating and learning positional encodings;
# - make a score depend on the distance between two words in five ways, from Shaw's vectors to rotary positions and ALiBi;
# - test whether a model can read longer texts than it was trained on, and repair one that cannot.
#
# **You need** [lecture 12](12_attention.ipynb) and [lecture 13](13_self_attention.ipynb) (query, key, head, causal mask), sine and cosine, and what a rotation of the plane is.
# Vectors are rows, so a matrix multiplies from the right, $xW$.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 8 | 15 | 7 | 4 | 18 | 14 | 6 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 110 minutes. Every cell runs in a few seconds on a laptop, without a network connection. *Coming from other slides or a paper?* A table
# at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 4 and 7.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import copy
import math

import torch
from IPython.display import HTML
from torch.nn import functional as F

from nlmcore.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from nlmcore.metrics.significance import rank_correlation
from nlmcore.positions import (
    LearnedPositions,
    NoPositions,
    alibi,
    binary_counter,
    relative_bias,
    relative_buckets,
    rotary,
    sinusoidal,
)
from nlmcore.pretrained import minilm
from lectures import show, stored, widgets
from lectures.recipes.positions import words_of
from lectures.recipes.texts import plays
from lectures.trained import checkpoint

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # these models are so small that one core is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Without positions: a bag of words
#
# The rows of $X$ are the vectors of the words. Shuffle them with a permutation matrix $P$. Queries, keys and values are shuffled with them, the score of any two
# words stays the same, and a sum does not depend on the order of its terms. So
#
# $$\mathrm{attention}(PX) = P\,\mathrm{attention}(X).$$
#
# This is called **permutation equivariance**. Each word gets the same vector as before, wherever it is. Between its attention layers, a
# Transformer processes each word *separately*, so a whole stack of layers is also permutation equivariant. And the mean of all vectors,
# which MiniLM uses as the vector of the sentence, does not change at all. To such a model a sentence is a **bag of words**.

# %% slideshow={"slide_type": "fragment"}
encoder, wordpieces = minilm()
no_order = copy.deepcopy(encoder)
no_order.positions = NoPositions(512, 384)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
similar = {}
for name, model in (("with positions", encoder), ("without", no_order)):
    with torch.no_grad():
        a, b, passive = (
            model(torch.tensor([wordpieces.encode(text)]))[0].mean(dim=0)
            for text in (
                "The dog bites the man.",
                "The man bites the dog.",
                "The man is bitten by the dog.",
            )
        )
    similar[name] = torch.cosine_similarity(a, b, dim=0).item()
    similar[name, "same meaning"] = torch.cosine_similarity(a, passive, dim=0).item()
similarities = show.table(
    [(name, f"{similar[name]:.3f}") for name in ("with positions", "without")],
    ["", "similarity"],
)
show.predict(
    "Take the cosine of MiniLM's vectors for “The dog bites the man.” and “The man bites the dog.”; 1 means the same direction. "
    "Without positions it must be 1. What is it *with* them?",
    choices={"about 0.3": 0.3, "about 0.7": 0.7, "more than 0.9": 0.95},
    answer=similar["with positions"],
    why="The order changes the vectors, but only a little.",
    reveals=similarities,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The cosine is 1.000<!--[[similar["without"]:.3f]]--> without positions, because the vectors are the same. With positions it is 0.973<!--[[similar["with positions"]:.3f]]-->.
# Is that a small change? As a control, take *The man is bitten by the dog.* It means the same as the first sentence, but their cosine is only 0.915<!--[[similar["with positions", "same meaning"]:.3f]]-->. In this
# example MiniLM's sentence vector says more about the words than about who bites whom.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# Try all 24 orders of four words. The coloured stripes are the vectors that one layer of self-attention with random weights
# computes; below them is their mean. In two of the four settings **sinusoids** are added to the words. These are vectors of sines and cosines that give
# each position its own pattern (section 2).
#
# > **Ask yourself.** In which of the four settings do a word's stripes change when you shuffle the words? And in
# > which does the mean change?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():
    torch.manual_seed(3)
    small = MultiHeadAttention(12, 3, bias=False)
vectors = torch.randn(4, 12, generator=torch.Generator().manual_seed(5))  # one per word


def read(order, mask=None, waves=0.0):
    X = vectors[list(order)] + waves * sinusoidal(4, 12)
    return 4 * small(X[None], mask=mask)[0]


widgets.shuffle_playground(
    {
        "no positions": read,
        "a causal mask": lambda order: read(order, causal_mask(4)),
        "sinusoids added": lambda order: read(order, waves=1.0),
        "both": lambda order: read(order, causal_mask(4), 1.0),
    },
    ["dog", "bites", "old", "man"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Without positions each word takes its stripes along, and they do not change. The mean does not change either.
# - With a causal mask the stripes and the mean change, even without positions. The second word sees two words and the fourth sees four, so the order
#   matters. The mask *breaks the symmetry*.
# - With sinusoids added, with or without the mask, the stripes and the mean change as well.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A causal model can count, although nobody gave it positions.** Take a head whose scores are all equal, and whose values have one
# entry: 1 for the token at the start of the text, 0 for all others. At position $t$ the mask lets the head read $t + 1$ tokens:

# %% slideshow={"slide_type": "fragment"}
nothing = torch.zeros(1, 8, 4)  # queries and keys are zero, so all scores are 0
values = torch.zeros(1, 8, 1)
values[0, 0] = 1  # the token at the start
counted, _ = scaled_dot_product_attention(nothing, nothing, values, causal_mask(8))
print("output of the head:", counted[0, :, 0])
print("1 / (t + 1):       ", 1 / torch.arange(1, 9))

# %% [markdown] slideshow={"slide_type": "fragment"}
# The head's output *reveals* the position. It does so if the model can tell the token at the start from all others, for example because every text begins with the same special token. Haviv et al. (2022) found that causal language models trained without any positions come close
# to models that are given positions. A model that reads in both directions has no such cue.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let four students play the four words and swap seats. Does anybody now see different people? (No, because everybody sees
# everybody.) Then let each see only those to their left.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. From counting to sinusoids
#
# Give every position a vector, a **positional encoding**, and add it to the word's vector. Which vector? The number $t$ itself grows
# beyond all values seen in training, and $t$ divided by the length of the text means something different in every text. How do we
# *write* numbers? We write digits, and each changes more slowly than the one to its right. In **binary**, the rightmost bit flips at
# every step, the next at every second step, the next at every fourth. Now make the flips smooth: replace each bit by a sine wave, and pair
# each sine with a cosine. These are the **sinusoids** of Vaswani et al. (2017, section 3.5):
#
# $$\mathrm{PE}(pos, 2i) = \sin\frac{pos}{10000^{2i/d}}, \qquad \mathrm{PE}(pos, 2i+1) = \cos\frac{pos}{10000^{2i/d}}.$$
#
# Here $pos$ is the position, $i$ numbers the pairs of sine and cosine, $d$ is the width of the vectors, and 10,000 is the **base**, nearly the ratio of the longest to the shortest wavelength.
#
# > **Ask yourself.** Compare two tables, the numbers 0 to 15 in four bits with the lowest bit on the *left*, and the sinusoids of
# > positions 0 to 15 with width 8 and a base of 16. Which columns correspond?

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
# *Blue is −1, red 1, and no colour 0; positions run downwards.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Bit $i$ corresponds to sine $i$. From column to column both get slower by a constant factor: 2 for bits, and base$^{2/d}$ = 2 for these
# waves. A wave takes all values in between, so neighbouring positions have similar vectors. In binary the neighbours 7 (`1110`, lowest bit first)
# and 8 (`0001`) differ in every bit.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Fifty positions.** After this prediction you can play with the picture from the top of the page. Here sines and cosines alternate, as in
# the formula, and 128 columns are few enough to tell them apart. You can raise *d_model* to 512.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
fifty = sinusoidal(50, 64)
symmetric = torch.allclose(fifty[20] @ fifty[25], fifty[20] @ fifty[15], atol=1e-4)
show.predict(
    "Take the dot products of the vector of position 20 with those of positions 25 and 15. Which is larger?",
    choices=["with 25", "with 15", "they are equal"],
    answer="they are equal" if symmetric else "with 25",
    why="For two positions $k$ apart the dot product is $\\sum_i \\cos(k\\,\\omega_i)$, where $\\omega_i$ is the angle by which pair $i$ advances per position. "
    "It is the same for $k$ and $-k$, so dot products reveal the distance, not the direction. The curve to the right of the table shows the "
    "dot products of one position with all others:",
    reveals=widgets.positions_playground(sinusoidal, d_model=128).opens(position=20),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Most columns on the right hardly change from top to bottom because their waves are long. The slowest pair completes one turn in
#   54,410<!--[[2 * math.pi * 10_000 ** (126 / 128):,.0f]]--> positions, and our 50 barely move it. Such columns differ only between positions far apart.
# - With a base of 10 all waves are short. The slowest turns once in 61<!--[[2 * math.pi * 10 ** (126 / 128):.0f]]--> positions, and distant positions begin to look alike again.
# - Each position has its largest dot product with itself. The formula for the dot product is the same for every position, because only $k$ occurs in it
#   ($\omega_i = 10000^{-2i/d}$).
# - If the learned matrices $W^Q$ and $W^K$ multiply the two vectors first, the dot product can also reveal the direction. The next picture shows how.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *15 minutes with the next three screens. Move the position first, then d_model, then the base, and stop at a base of 10. Say that
# the columns are waves, and that a row is the reading of all clocks at one moment.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Clock hands.** A pair (sine, cosine) is a clock hand that moves by $\omega_i$ at every step. A shift by $k$ positions rotates
# each hand by $k\,\omega_i$, *wherever it points*. So one matrix $M_k$, a rotation of each pair, shifts every position:
#
# $$\mathrm{PE}(pos + k) = \mathrm{PE}(pos)\, M_k, \qquad M_k \text{ does not depend on } pos.$$
#
# > **Ask yourself.** You move the slider *position* and keep the shift $k$. What changes in the picture, and what does
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
# The hands move, but the angles below the clocks do not change. A head whose $W^Q$ contains $M_1^{-1}$ asks, from any position, for the
# previous position. So a model *can* learn "the previous word" once, for all positions, as Vaswani et al. hoped.
# Whether training finds this solution is a different question.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Tables A, B and C look almost right. What is the mistake in each?

# %% slideshow={"slide_type": "fragment"}
waves = sinusoidal(50, 32)
blocks = torch.cat([waves[:, 0::2], waves[:, 1::2]], dim=1)
late = sinusoidal(51, 32)[1:]
angles = torch.arange(50).unsqueeze(1) * 10_000.0 ** (-torch.arange(16) / 32)
slow = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
HTML(
    show.tables_svg(
        [("correct", waves), ("A", blocks), ("B", late), ("C", slow)],
        alt="Four tables of 50 positions by 32 columns. A has its fast waves in two places, at the left "
        "edge and in the middle. B looks like the correct one but begins one row later. In C the waves "
        "slow down half as fast from left to right.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# - **A** has all sines first and then all cosines; they should alternate. The same values are in different columns. A model can be trained
#   that way just as well (the authors' own code does it), but for a model trained with alternating columns the table is nonsense.
# - **B** counts positions from 1. The first row must be $0, 1, 0, 1, \dots$
# - **C** has the exponent $i/d$ instead of $2i/d$. The waves slow down half as fast, and the largest divisor is not near
#   10,000 but near $\sqrt{10000} = 100$<!--[[? 50 < 10_000 ** (15 / 32) < 100]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Added or concatenated?
#
# You can add the vectors of a word and its position, or concatenate them:
#
# $$x_t = e(w_t) + pos(t) \qquad \text{or} \qquad x_t = [e(w_t);\, pos(t)].$$
#
# If you add them, word and position share the same dimensions. If you concatenate them, the vector is twice as wide, and a matrix $W$
# can mix it back to the old width. The upper half of the matrix, $W_e$, multiplies the word, and the lower half, $W_p$, the position:
#
# $$[e;\, pos]\; W = e\,W_e + pos\,W_p .$$
#
# For $W_e = W_p =$ the identity this is the sum. So addition is the special case that needs no extra matrix. The price is that the first
# layer multiplies both by *one* matrix, since $(e + pos)\,W = eW + pos\,W$. (McAllester's slides concatenate; Vaswani et al. add.)
#
# Does it matter? Take a task in which positions count, **the hidden letter**. One letter of an English word is hidden, as in
# `t_ee`, and a small encoder must predict it. We train it with each kind of positional encoding, five seeds each, and test it on held-out
# words (`python -m lectures.recipes positions`). The baseline always answers with the most frequent letter of the training words.

# %% slideshow={"slide_type": "fragment"}
letters = {
    name: torch.tensor(row["ours"]) for name, row in stored("positions")["letters"].items()
}
added, concatenated = letters["absolute: sinusoids"], letters["sinusoids set beside, not added"]
trained_on, tested_on = words_of(plays())
frequent = max("abcdefghijklmnopqrstuvwxyz", key="".join(trained_on).count)
floor = sum(word.count(frequent) / len(word) for word in tested_on) / len(tested_on)
print(f"always “{frequent}”: {floor:.1%} correct")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
compared = show.table(
    [
        (name, show.mean_from_to(right, "{:.1%}"))
        for name, right in (
            ("no positions", letters["none"]),
            ("added", added),
            ("concatenated", concatenated),
        )
    ],
    ["", "correct, mean (lowest to highest of five seeds)"],
)
show.predict(
    f"Always answering “{frequent}” is right in {floor:.0%} of the words. *Without* positions the encoder sees the other letters of the word, but not their order. What fraction of the hidden letters does it predict correctly?",
    choices={"no more than that": 100 * floor, "about 17 %": 17, "about 40 %": 40},
    answer=100 * letters["none"].mean().item(),
    why="The other letters help a little even without their order. After our 250 steps of training, sinusoids, which give the order, help a little more. Does it matter whether the positions are added or concatenated?",
    reveals=compared,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without positions the encoder predicts 16.6<!--[[100 * letters["none"].mean():.1f]]--> % of the hidden letters. With sinusoids, added or concatenated, it predicts more with every seed<!--[[? letters["none"].max() < min(added.min(), concatenated.min())]]-->.
# - Added sinusoids give 19.4<!--[[100 * added.mean():.1f]]--> %, concatenated ones 20.9<!--[[100 * concatenated.mean():.1f]]--> %. The ranges overlap<!--[[? added.max() > concatenated.min()]]-->, so compare the two seed by seed.
# - Concatenation is ahead with all five<!--[[words(int((concatenated > added).sum()))]]--> seeds, by 1.5<!--[[100 * (concatenated - added).mean():.1f]]--> ± 1.5<!--[[100 * 2.776 * (concatenated - added).std() / math.sqrt(5):.1f]]--> points. The interval barely excludes 0, so this is only a hint.
#   Concatenation also has an extra matrix.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Write the block matrix on the board. If somebody asks, "Doesn't adding destroy the word?", answer that 384
# dimensions may hold both, and that training can move the word vectors out of the way of the waves. We tested neither.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Learned positions
#
# BERT does not use sines, and neither does MiniLM. Each of MiniLM's 512 positions has a vector of its own, which is learned like a word's
# (Gehring et al. 2017; Devlin et al. 2019). Such vectors are called **learned positions**. Nobody told the model that position 7 lies
# between 6 and 8.

# %% slideshow={"slide_type": "fragment"}
learned = encoder.positions.weight.detach()[1:61]  # position 0 is always [CLS]
alike = [
    F.cosine_similarity(table[:, None], table[None], dim=-1)
    for table in (learned - learned.mean(0), sinusoidal(60, 384) - sinusoidal(60, 384).mean(0))
]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
pictures = [
    HTML(
        show.tables_svg(
            [("MiniLM, learned", alike[0]), ("sinusoids", alike[1])],
            alt="Similarities of 60 position vectors with each other, on the left those that MiniLM learned, on the right sinusoids. "
            "Both have a red band along the diagonal, because neighbours are similar. The learned ones have "
            "stripes parallel to it as well.",
        )
    )
]
by_distance = {k: alike[0].diagonal(k).mean().item() for k in (1, 3, 6, 12)}
try:
    LearnedPositions(512, 384)(torch.zeros(1, 513, 384))
except ValueError as error:
    refused = str(error)
means = show.table(
    [(steps, f"{mean:.2f}") for steps, mean in by_distance.items()],
    ["positions apart", "MiniLM, mean similarity"],
    note=refused,
)
show.predict(
    "Learned vectors of neighbouring positions are similar. Which pairs of positions are more similar, those 3 apart or those 12 apart?",
    choices={"3 apart": 3, "12 apart": 12},
    answer="3 apart" if by_distance[3] > by_distance[12] else "12 apart",
    why="Similarity falls with distance and then rises again. The last line below is the error message for a text of 513 tokens.",
    reveals=[pictures, means],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Neighbours are similar, 0.79<!--[[by_distance[1]:.2f]]--> on average. (We first subtract the mean vector, which all positions share.) But similarity does not simply
#   fall with distance. At distance 3 it is 0.18<!--[[by_distance[3]:.2f]]-->, at distance 12 it is 0.44<!--[[by_distance[12]:.2f]]-->. These are the stripes of the picture. We do not
#   know why training produced them.
# - MiniLM refuses a text of 513 tokens, because it has no vector for a 513th position. Sinusoids exist for every position.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *4 minutes. Ask who can explain the stripes. We cannot.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Only the distance counts
#
# Grammar does not care whether a sentence begins at word 3 or at word 300.
# Write out the score of two words whose vectors are sums of word and position, $(x + p)\,W\,(y + p')^\top$ with $W = W^Q (W^K)^\top$. Of its four terms, three contain
# absolute positions; only $x W y^\top$ does not. **Relative positions** use the *distance* $\delta = t_1 - t_2$ instead, inside every attention
# layer:
#
# | | effect on a score $q \cdot k$ | learned |
# |---|---|---|
# | **Shaw et al.** (2018) | adds $q \cdot a_\delta$, with one vector $a_\delta$ per distance; distances beyond a limit are *clipped* to it, so they share a vector. The values get such vectors as well | the vectors |
# | **Transformer-XL** (Dai et al. 2019) | adds $q \cdot r_\delta + u \cdot k + v \cdot r_\delta$, with $r_\delta = \mathrm{PE}(\delta)\,W_R$ | $W_R$, $u$, $v$ |
# | **T5's buckets** (Raffel et al. 2020) | adds one value per head and *bucket*, a group of neighbouring distances; buckets widen with distance | the values |
# | **rotary positions** (Su et al. 2021) | rotates query and key by their positions, like clock hands | nothing |
# | **ALiBi** (Press et al. 2022) | subtracts (slope of the head) × distance | nothing |
#
# Together with $q \cdot k$, Transformer-XL has four terms again: content with content, content with *distance*, keys that every query
# prefers ($u$), and distances that every query prefers ($v$).

# %% [markdown] slideshow={"slide_type": "subslide"}
# **ALiBi and buckets by hand.** Both add to the score a value that depends only on the distance. ALiBi's heads have the slopes ½, ¼, ⅛, … With slope ½
# the score of a key 3 words back falls by 1.5; with slope ¼ it falls by 0.75. T5 learns its values, one per *bucket*. With 8 buckets for earlier keys,
# the distances 0 to 3 have a bucket each. Buckets 4, 5 and 6 widen by a factor of about 1.7 each time, and bucket 7 takes all longer distances.
#
# > **Ask yourself.** Which of the two can learn that the word exactly three positions back matters? And which can learn that all words far away matter?

# %% slideshow={"slide_type": "fragment"}
print("ALiBi, four words, head 1 and head 2 of 8:")
print(alibi(8, 4, 4)[0, 0], alibi(8, 4, 4)[0, 1], sep="\n")
behind = torch.arange(0, 41)
in_bucket = relative_buckets(-behind, 8, False, 32)
for i in range(8):
    of = behind[in_bucket == i]
    print(f"bucket {i}: distances {of.min()} to {of.max()}" + (" and beyond" if i == 7 else ""))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# T5 can learn both, because distance 3 has its own bucket, and the value of the last bucket may be large. ALiBi learns nothing about distances, and its
# penalty always grows with them. Only a head with a slope near 0 can easily read far away.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Rotary positions.** Take the entries of $q$ in pairs. At position $m$ rotate pair $i$ by the angle $m\,\theta_i$, with
# $\theta_i = 10000^{-2i/I}$, where $I$ is the width of the head. Rotate $k$ at position $n$ likewise.

# %% slideshow={"slide_type": "fragment"}
query, key = torch.tensor([1.0, 0.4, 0.9, 0.5]), torch.tensor([0.8, 0.7, 0.3, 1.0])


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def rotated(m, n):
    """The score of the query at position m and the key at position n."""
    at_m, at_n = (
        rotary(x.view(1, 1, 1, 4), torch.tensor([at]), 36, layout="interleaved")
        for x, at in ((query, m), (key, n))
    )
    return (at_m * at_n).sum().item()


before_the_move, after_the_move, swapped = rotated(6, 4), rotated(7, 5), rotated(4, 6)
outcomes = ["it stays the same", "it changes"]
show.predict(
    "A query is at position 6 and a key at position 4. You swap the two positions, so the query is at 4 and the key at 6. What happens to their score?",
    choices=outcomes,
    answer=outcomes[not math.isclose(before_the_move, swapped, abs_tol=1e-4)],
    why="The angle between the two vectors changes, because the key now rotates further than the query. Now go back to 6 and 4, and move both by one, to 7 and 5:",
    reveals=widgets.rotary_playground(rotary, query, key),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Rotations keep lengths, so in each pair only the angle *between* query and key counts. The rotations change this angle by $(m - n)\,\theta_i$. So the score depends on the positions only through $m - n = \delta$:
#
# $$(q R_m) \cdot (k R_n) = q \cdot (k R_{n-m}), \qquad R_m \text{ the rotation for position } m.$$
#
# <details><summary><b>What to notice</b></summary>
#
# - Moving both by one does not change the score<!--[[? math.isclose(before_the_move, after_the_move, abs_tol=1e-4)]]--> of 0.869<!--[[before_the_move:.3f]]-->, because query and key rotate by the same angle.
# - The scores at distances 2 and −2 differ<!--[[? abs(before_the_move - swapped) > 0.1]]-->. Unlike the dot products of section 2, rotary positions can tell before from after, because
#   $q$ and $k$ are two different vectors.
# - A rotation adds no term of its own to the score. It changes how well the two words match, depending on their distance.
#
# In this picture the angles are $m$ and $m/6$ radians; SmolLM2's heads have 32 pairs and a base of 100,000.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *18 minutes for the section. Hold up two pencils for q and k, rotate both by the same angle, and ask what happens to the angle
# between them. SmolLM2 and Llama use rotary positions.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** You choose the wrong **layout of rotary positions**. Two neighbours can form a pair, $(0, 1), (2, 3), \dots$
# > ("interleaved", as in the paper), or one entry of each half, $(0, I/2), (1, I/2 + 1), \dots$ ("half", as in Hugging Face's models and
# > SmolLM2). Both are valid, but a layout that does not fit the trained weights fails silently.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(2)
three_words = torch.randn(3, 1, 1, 3, 8, generator=draw)  # q, k, v, each (batch, head, time, 8)


def reads(first, rotate_values=False, layouts=("half", "half")):
    at = torch.arange(first, first + 3)
    q, k, v = three_words
    v_at = rotary(v, at) if rotate_values else v
    return scaled_dot_product_attention(
        rotary(q, at, layout=layouts[0]), rotary(k, at, layout=layouts[1]), v_at
    )[0]


options_of = {
    "queries and keys": {},
    "queries, keys and values": {"rotate_values": True},
    "q half, k interleaved": {"layouts": ("half", "interleaved")},
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
differs = {
    name: (reads(0, **options) - reads(100, **options)).abs().max().item()
    for name, options in options_of.items()
}
show.predict(
    "Take the same three words at positions 0, 1, 2 and at 100, 101, 102. Which way of rotating gives the same output in both cases?",
    choices=list(options_of),
    answer=min(differs, key=differs.get),
    why="Scores depend only on distances, and values that do not rotate know nothing of positions. Mixed layouts rotate $q$ and $k$ in different planes, so nothing cancels.",
    reveals=show.table(
        [(name, f"{d:.2f}") for name, d in differs.items()], ["rotated", "differs by"]
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What also goes wrong.** You rotate the values as well. They then carry the absolute position into the output<!--[[? sorted(differs.values())[1] > 0.1]]-->.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Side by side.** The prediction below reveals four panels. They show how much each method adds to a score, against the position of the key relative to the query. Rotary positions add
# nothing, so their panel shows the score itself. T5's values are *learned*: they are from a translator of section 6, which was trained on texts of up to 20 words. The vectors of Shaw's panel
# are random. The rotary panel has one random query and key, and one query and key whose entries are all 1.

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


def key_scores(q, k):
    """q · (k R_n) / √64 for every distance n."""
    return rotary(k.expand(1, 1, 97, 64), distance)[0, 0] @ q / 8


comparison = {
    "rotary: q · k / √64": {
        "q, k all ones": key_scores(ones, ones),
        "random": key_scores(some, other),
    },
    "ALiBi: two of eight heads": {f"slope 1/{2 ** (h + 1)}": penalty[h] for h in (2, 4)},
    "T5's buckets, learned": {f"head {h}": t5[h] for h in (0, 3)},
    "Shaw et al.": {"one query": clipped[0], "another query": clipped[1]},
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
back_30, back_40 = 48 - 30, 48 - 40
near, far = (
    t5[:, (low <= distance.abs()) & (distance.abs() <= high)].abs().mean()
    for low, high in ((0, 20), (32, 48))
)
told_apart = {
    name: max(abs(float(line[back_30] - line[back_40])) for line in lines.values())
    for name, lines in comparison.items()
}
show.predict(
    "Which of these can *never* tell a key 30 words back from one 40 words back?",
    choices=list(comparison),
    answer=min(told_apart, key=told_apart.get),
    why="Shaw's distances are clipped at 16, so all longer ones share one vector. Which methods treat keys ahead and behind differently?",
    reveals=show.distance_panels(
        distance,
        comparison,
        x_title="position of the key minus position of the query, in words",
        alt="Four panels over distances from −48 to 48. Rotary: for vectors of ones "
        "waves that are highest near distance 0; for random ones no order. ALiBi: straight lines that fall to both sides. T5: steps, narrow near 0 and wide far away, different "
        "on the left and on the right. Shaw: jagged near 0, constant beyond 16.",
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - *Which methods can tell a key 30 words back from one 40 words back?* ALiBi always can, and rotary positions can in general. T5 can if a bucket ends in between. Shaw's vectors
#   cannot<!--[[? told_apart["Shaw et al."] == 0]]-->.
# - *Which can tell a key ahead from one behind?* T5 and Shaw can<!--[[? not any(torch.equal(of, of.flip(-1)) for of in (t5, clipped))]]-->, because they have separate values for the two directions. Rotary positions can in general,
#   as the swap of positions showed. ALiBi cannot<!--[[? torch.equal(penalty, penalty.flip(-1))]]-->; it is made for causal models, which only look back.
# - ALiBi pulls every head towards near words, each at its own rate. With rotary positions the score falls in waves if all entries are 1; for
#   random vectors we see no pattern.
# - T5's learned values are large up to a distance of about 20 words and small beyond<!--[[? near > 2.5 * far]]-->. The buckets of
#   the longest distances were never used in training.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Beyond the lengths of training
#
# Working on texts longer than those of training is called **extrapolation**. Vaswani et al. (2017, section 3.5) chose sinusoids
# because they "may allow the model to extrapolate". Do they? We trained small character-level language models on 48 characters of
# Shakespeare at a time, with six kinds of positional encodings and five seeds each. Then we tested them on texts of 192 characters
# (`python -m lectures.recipes positions`).

# %% slideshow={"slide_type": "fragment"}
beyond = {
    name: torch.tensor(runs) for name, runs in stored("positions")["beyond"].items()
}  # (seed, stretch of 16)
at_48 = {name: runs[:, 2].mean().item() for name, runs in beyond.items()}
at_192 = {name: runs[:, -1].mean().item() for name, runs in beyond.items()}
rise = {name: at_192[name] - at_48[name] for name in beyond}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Compare the loss on characters 33 to 48, the last positions of the training texts, with the loss on characters 177 to 192. With which kind of positional encoding does it rise most?",
    choices=list(beyond),
    answer=max(rise, key=rise.get),
    why="At distances beyond 48, a query meets keys at angles that never occurred in training. The repairs below test whether that is the reason.",
    reveals=HTML(
        show.bands_svg(
            range(8, 192, 16),
            beyond,
            x_title="position in the text (trained up to 48)",
            y_title="loss per character",
            low=2.0,
            high=3.1,
            alt="Loss per character against the position in the text, six kinds of positions, a band over five seeds "
            "each. Up to 48 Transformer-XL is lowest (2.1), then rotary, ALiBi, T5, sinusoids and none. Beyond, "
            "Transformer-XL and ALiBi stay flat, none and T5 rise to 2.5, sinusoids jump to 2.6, and rotary "
            "rises from 2.2 at 80 to 2.85 at 128 and stays there.",
        )
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Rotary** positions are second best within 48 characters<!--[[? sorted(at_48, key=at_48.get)[:2] == ["Transformer-XL", "rotary"]]]-->. Their loss stays low until about position 80, and in the end it is higher than that of any other kind<!--[[? max(at_192, key=at_192.get) == "rotary"]]-->.
# - With **sinusoids** the loss jumps from 2.38<!--[[at_48["sinusoids"]:.2f]]--> to 2.57<!--[[beyond["sinusoids"][:, 3].mean():.2f]]--> as soon as the trained length ends, and stays there. So they did not extrapolate here.
# - **ALiBi** and **Transformer-XL** hardly change (by 0.04<!--[[rise["ALiBi"]:.2f]]--> and 0.02<!--[[rise["Transformer-XL"]:.2f]]-->). ALiBi has nothing that training
#   fits to a distance. Transformer-XL has parameters that training fits to distances, and we do not know why it still works at new ones.
# - Without positional encodings, with just the causal mask, the loss rises by 0.07<!--[[rise["none"]:.2f]]-->. But this model is the worst within the trained length<!--[[? max(at_48, key=at_48.get) == "none"]]-->.
# </details>
#
# This is one task, with models of two layers that were trained for 300 steps at one learning rate.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A repair.** Beyond 48 characters the rotary models meet angles that never occurred in training. If that is what harms them, three remedies should help.
# They change no weight, and bring the angles back into the trained range, fully or in part:
#
# - **position interpolation** (Chen et al. 2023): count position $m$ as $m/4$, so that 192 characters fill the angles of 48;
# - **a larger base**: the slowest pair rotates at a quarter of its speed, the fastest as before; some pairs in between still reach new angles;
# - **a window**: no query reads a key more than 47 characters back.
#
# Chen et al. also train for a short while after the change. We do so for 30 steps, a tenth of the training. As a control we train the unchanged
# model for the same 30 steps on the same longer texts (`python -m lectures.recipes longer_rotary`).
#
# **YaRN** (Peng et al. 2023) interpolates the slow pairs and leaves the fast ones as they are. We did not try it.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
repaired = {
    name: torch.tensor(runs) for name, runs in stored("longer_rotary")["beyond"].items()
}  # (seed, stretch of 16)
at_end = {name: runs[:, -1].mean().item() for name, runs in repaired.items()}
untrained = ["interpolation", "a larger base", "a window"]
show.predict(
    "Which of the three gives the lowest loss on characters 177 to 192, without any more training?",
    choices=untrained,
    answer=min(untrained, key=at_end.get),
    why="Only with the window does every distance keep its angle, as in training. Interpolation stays within the trained range, but meets angles between the trained ones, and with the larger base some pairs still leave the range.",
    reveals=HTML(
        show.bands_svg(
            range(8, 192, 16),
            repaired,
            x_title="position in the text (trained up to 48)",
            y_title="loss per character",
            low=2.0,
            high=3.1,
            alt="Loss per character of rotary models against the position, five seeds. At the end: "
            + ", ".join(f"{name} {loss:.2f}" for name, loss in at_end.items())
            + ".",
        )
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With a **window** the loss stays at 2.20<!--[[at_end["a window"]:.2f]]--> to the end. The price is that no layer reads
#   further back than 47 characters.
# - A window removes keys as well as new angles. Which of the two helps? In a control, *a clipped angle*, every key counts, and a key further back than 47 characters is scored as if it were 47 back. Its loss at the end is 2.22<!--[[at_end["a clipped angle"]:.2f]]-->, where the unrepaired models have 2.85<!--[[at_end["as trained"]:.2f]]-->. So the new angles do nearly all of the harm, not the number of keys<!--[[? (repaired["as trained"] - repaired["a clipped angle"])[:, -1].min() > 10 * (repaired["a clipped angle"] - repaired["a window"])[:, -1].max()]]-->.
# - With a **larger base** the loss at positions 129 to 144 is 2.26<!--[[repaired["a larger base"][:, 8].mean():.2f]]-->, and at the end, where more pairs reach new angles, 2.68<!--[[at_end["a larger base"]:.2f]]-->.
# - **Interpolation** alone raises the loss even for the first 16 characters, to 2.66<!--[[repaired["interpolation"][:, 0].mean():.2f]]-->. Neighbours are now a quarter of a step apart, and
#   training never showed fractions of a step.
# - After 30 more steps with interpolation the loss at the end is 2.38<!--[[at_end["interpolation, trained on"]:.2f]]-->, and after 30 more steps without it 2.44<!--[[at_end["as before, trained on"]:.2f]]-->. Interpolation is better with each of the five seeds<!--[[? (repaired["interpolation, trained on"][:, -1] < repaired["as before, trained on"][:, -1]).all()]]-->, but within
#   the first 48 characters it is still worse<!--[[? (repaired["interpolation, trained on"][:, :3] > repaired["as before, trained on"][:, :3]).all()]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A task with right and wrong answers.** We return to the number words of [lecture 12](12_attention.ipynb), from English to German. We
# trained small Transformers with sinusoids or with T5's buckets (in the picture: *relative positions*), on up to 12 or up to 20 words, and tested them on up to 29 (`python -m
# lectures.recipes numbers_transformer`).

# %% slideshow={"slide_type": "fragment"}
results = stored("numbers_transformer")["lines"]
transformers = {
    name.removeprefix("Transformer, ").replace("trained on up to", "≤"): line
    for name, line in results.items()
    if name.startswith("Transformer")
}
show.curves(
    [4, 7, 10, 13, 16, 19, 22, 25, 28],
    {name: [at["exact"] for at in line.values()] for name, line in transformers.items()},
    x_title="English words in the number",
    y_title="fraction correct",
    alt="Fraction of numbers translated without an error against their length. All four are near 1 up to "
    "the length they were trained on and at or near 0 six words later. Relative positions fall "
    "later than sinusoids.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
waves_12, buckets_12 = (
    transformers[f"{kind}, ≤ 12 words"] for kind in ("sinusoids", "relative positions")
)
most_late = max(row[at]["exact"] for row in transformers.values() for at in ("24-26", "27-29"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The accuracy of all four drops within a few words of the longest training length. With sinusoids, the model trained on up to 12 words translates 74<!--[[100 * waves_12["12-14"]["exact"]:.0f]]--> % of the
#   numbers of 12 to 14 words without an error, and none<!--[[? waves_12["15-17"]["exact"] == 0]]--> of 15 to 17.
# - Relative positions reach a few words further. With buckets the fractions are 100<!--[[100 * buckets_12["12-14"]["exact"]:.0f]]--> % and 40<!--[[100 * buckets_12["15-17"]["exact"]:.0f]]--> %. Then they fail as well; beyond 23 words at most
#   2<!--[[100 * most_late:.0f]]--> % are right with any of the four.
# - This is *one* task, with small models and one seed each. It does not show that sinusoids cannot extrapolate, only that they did not do
#   so here ([lecture 16](16_encoder_decoder_transformers.ipynb) compares five seeds). Press et al. (2022) found the same in larger language models; ALiBi was their answer.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes. Collect guesses kind by kind before you show the bands. Then ask why "none" can work at all (because of the causal mask,
# section 1). What goes wrong: they take the window for a cheat. It is one, if the answer is further back than the windows of all layers reach.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Thirteen ways, measured
#
# Wang et al. (2021) trained BERT with thirteen choices of positional encodings: none, three absolute kinds, three relative ones, and six
# combinations of an absolute and a relative kind. They compared the thirteen models on GLUE, a set of tasks on sentences. "Learnable sinusoids" are sinusoids with learned
# frequencies; relative sinusoids add $q \cdot \mathrm{PE}(\delta)$ to the score (Wei et al. 2019). We ran all thirteen on the hidden letter of
# section 3, with five seeds.
#
# > **Ask yourself.** Six rows combine two kinds. In how many of the six is the pair's mean on GLUE higher than the mean of either kind alone?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = stored("positions")["letters"]
theirs = {
    name: (row["theirs"], row["their_deviation"]) for name, row in told.items() if row["theirs"]
}
rows = {name: 100 * letters[name] for name in theirs}
best_three = sorted(rows, key=lambda name: -rows[name].mean().item())[:3]
gain = {}  # pair -> how much its GLUE mean is above that of the better of its parts
for pair in theirs:
    if "+" in pair:
        absolute, relative = pair.split(" + relative ")
        parts = f"absolute: {absolute}", f"relative: {relative}"
        gain[pair] = theirs[pair][0] - max(theirs[part][0] for part in parts)
later = {
    name: 100 * torch.tensor(of) for name, of in stored("positions_longer")["letters"].items()
}
ways = [name for name in rows if name != "none"]
order = {  # rank correlations of the twelve
    what: rank_correlation([(later[name].mean(), to[name]) for name in ways])
    for what, to in (
        ("after 250 steps", {name: rows[name].mean() for name in ways}),
        ("on GLUE", {name: theirs[name][0] for name in ways}),
    )
}
HTML(
    show.bar_list_svg(
        [right.mean().item() for right in rows.values()],
        list(rows),
        says=[
            f"{right.mean():.1f} ± {right.std():.1f};  later {later[name].mean():.1f};  GLUE {theirs[name][0]} ± {theirs[name][1]}"
            for name, right in rows.items()
        ],
        highlight=[list(rows).index(name) for name in best_three],
        title="hidden letters predicted after 250 steps, %: mean ± standard deviation over five seeds; later: after 1,500 steps, three seeds",
        width=1000,
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The pair has a higher mean than both its parts in one<!--[[words(sum(of > 0 for of in gain.values()))]]--> of the six rows, *learned + relative learnable sinusoids*. It has the highest mean of all, 82.5<!--[[max(mean for mean, _ in theirs.values())]]-->, but its lead of 0.3<!--[[max(gain.values()):.1f]]--> is smaller than its standard deviation over the runs, 0.44<!--[[theirs[max(gain, key=gain.get)][1]]]-->.
# - On GLUE and on the hidden letter "none" is last<!--[[? min(rows, key=lambda name: rows[name].mean()) == min(theirs, key=theirs.get) == "none"]]-->. But the best rows differ. Our best three, highlighted in the picture, are those with *learned relative* vectors<!--[[? all(name.endswith(("relative: learned", "relative learned")) for name in best_three)]]-->, and among these
#   three the ranges over the seeds overlap<!--[[? max(rows[name].min() for name in best_three) < min(rows[name].max() for name in best_three)]]-->.
# - Learned absolute positions are among the best on GLUE (82.2<!--[[theirs["absolute: learned"][0]]]-->). Here they are only 1.0<!--[[(rows["absolute: learned"] - rows["none"]).mean():.1f]]--> ± 1.4<!--[[2.776 * (rows["absolute: learned"] - rows["none"]).std() / math.sqrt(5):.1f]]--> points ahead of "none" (mean difference with its 95 % interval), so five seeds cannot tell the two apart.
# - **After six times as many steps learned absolute positions are far ahead of “none”.** With them the encoder then predicts 31<!--[[later["absolute: learned"].mean():.0f]]--> % of the letters, without positions still 18<!--[[later["none"].mean():.0f]]--> % (`python -m lectures.recipes positions_longer`, three seeds, the same learning rate).
# - **The order hardly changes with more training.** A *rank correlation* is 1 if two orders are the same, and near 0 if they are unrelated. For the twelve ways other than "none", the rank correlation between our results after 250 and after 1,500 steps is 0.96<!--[[order["after 250 steps"]["rho"]:.2f]]-->. Between our results after 1,500 steps and those on GLUE it is 0.03<!--[[order["on GLUE"]["rho"]:.2f]]--> (95 % interval −0.61<!--[[order["on GLUE"]["low"]:.2f]]--> to 0.67<!--[[order["on GLUE"]["high"]:.2f]]-->), so twelve rows are too few to tell whether the two orders are related.
# </details>
#
# **Attention without a mask knows no order.** You can add a vector per position, or let every score depend on the distance. On GLUE and on the hidden letter each of
# the twelve ways has a higher mean than "none", but the best way is not the same; we do not know why. An encoding that works within the trained length can fail just beyond it, so test that.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Ask first which differences are larger than the spread of the seeds; only then look at the order.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# The code below is correct. Change it into an encoding of your own, make one of the mistakes of section 2 (all sines first, counting from 1, the exponent
# $i/d$), or rotate queries and keys differently. Then compare the result with ours.


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
    """Rotate the pair (2i, 2i + 1) at position m by m · base^(−2i/d), each pair as one complex number. Change this."""
    theta = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = positions.unsqueeze(1) * theta
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


widgets.rotary_playground(rotary, query, key, yours=my_rotary)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. Name a mistake, and let the room predict the picture before you make it. What goes wrong: they do not see
# that the count starts at 1, so point at the first row. If you change the layout of both q and k, the scores change, yet every diagonal keeps one
# colour. Ask why (both layouts depend only on the distance).*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`exercises/self_attention/self_attention.ipynb`](../exercises/self_attention/self_attention.ipynb) you build sinusoids, rotary positions and a relative bias, and it tells you which mistakes you make.
# In [`exercises/positions/positions.ipynb`](../exercises/positions/positions.ipynb) you build positional encodings as a real model needs them, with a cache and with rotary positions in both
# layouts. You train a model with each encoding, and find out which of them works beyond its trained length.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A classifier of product reviews uses self-attention without positions and takes the mean of the vectors. Give two reviews
# that it cannot tell apart.
# <details><summary>Answer</summary>Any two that have the same words in a different order, such as "not good, bad" and "not bad, good".</details>
#
# 2. What is the entry PE(0, 7), for any width?
# <details><summary>Answer</summary>It is cos 0 = 1, because column 7 is odd and therefore a cosine.</details>
#
# 3. Without positions a decoder can know something about word order, but an encoder cannot. Why?
# <details><summary>Answer</summary>The decoder's causal mask shows a different number of words at every position, so a head that recognises the first token can count.</details>
#
# 4. You load weights whose rotary pairs are neighbours into code that pairs halves. What will you see?
# <details><summary>Answer</summary>No error message. Scores are right at distance 0 and wrong elsewhere, so expect nonsense.</details>
#
# 5. A model with ALiBi has never seen more than 512 tokens. What does it do with the 513th? And what does a model with learned positions do?
# <details><summary>Answer</summary>From the score of the most distant token ALiBi subtracts a little more than it ever did in training. A model with learned positions fails, because it has no vector
# for the 513th position.</details>
#
# 6. Two positional encodings get 81.7 ± .31 and 81.8 ± .53 on GLUE. Which is better?
# <details><summary>Answer</summary>These runs cannot tell. The difference is far smaller than their spread.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 5 and let the room vote on each half. What goes wrong: they
# expect ALiBi to fail as well, because 513 is new to it. In question 2 they look for the width, which does not matter.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $\mathrm{PE}(pos, 2i)$ | $P_{t,2i}$, $pos(t)$ | the sinusoids |
# | $\omega_i$, $\theta_i$ | $10000^{-2i/d}$, inverse frequencies | radians per position |
# | $[e(w);\, pos(t)]$ | $[e(w), pos(t)]$ | concatenation |
# | $a_\delta$ | $a^K_{ij}$, $E^r$ | a vector per distance $\delta$ |
# | absolute, relative | APE, RPE | a single position, or the distance between two |
# | $I$ | $d_k$, `d_head` | width of one head's queries and keys |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. Say that papers call rotary positions RoPE, and that APE and RPE are absolute and
# relative positions. What goes wrong: readers of several papers mix up the sign of the distance. Ours is query minus key, except in the
# four panels of section 5, whose axis is key minus query.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **permutation equivariance**: when the words are shuffled, their vectors are shuffled the same way, and nothing else changes.
# - **positional encoding**: anything that tells a network where in the text a word is, such as a vector for each position or a change to the scores.
# - **sinusoids**: position vectors made of sines and cosines whose waves get longer from column to column.
# - **base**: the constant, usually 10,000, that sets the wavelengths; the longest is nearly this many times the shortest.
# - **learned positions**: one free vector per position, learned like a word vector; there are none beyond the last position.
# - **relative positions**: positions that tell attention the distance between two words instead of where each one is.
# - **rotary positions**: queries and keys are rotated by angles that grow with their positions, so that a score depends on the
#   distance.
# - **layout of rotary positions**: which entries of a vector are rotated together, neighbours or those half a vector apart.
# - **ALiBi**: a penalty on every score, the head's slope times the distance.
# - **bucket**: a group of distances that share one learned value; buckets widen with distance.
# - **extrapolation**: working on texts that are longer than those of training.
# - **position interpolation**: counting positions in smaller steps, so that a longer text fills the positions of training.
# - **YaRN**: position interpolation of the slow rotary pairs only, with a slightly sharper softmax.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Vaswani et al. (2017), Attention Is All You Need, section 3.5. Haviv et al. (2022), Transformer Language Models
# without Positional Encodings Still Learn Positional Information. McAllester, Deep Learning (TTIC 31230), slides on the Transformer
# (concatenated positions). Gehring et al. (2017), Convolutional Sequence to Sequence Learning, section 3.1. Devlin et al. (2019),
# BERT. Shaw, Uszkoreit & Vaswani (2018), Self-Attention with Relative Position Representations. Dai et al. (2019), Transformer-XL,
# section 3.3. Wei et al. (2019), NEZHA. Raffel et al. (2020), T5, section 2.1. Su et al. (2021), RoFormer, section 3. Press, Smith &
# Lewis (2022), Train Short, Test Long. Chen et al. (2023), Extending Context Window of Large Language Models via Positional
# Interpolation. Peng, Quesnelle, Fan & Shippole (2023), YaRN. Wang et al. (2021), On Position Embeddings in BERT, table 3.
