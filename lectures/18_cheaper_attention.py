# %% [markdown] slideshow={"slide_type": "slide"}
# # Cheaper attention
#
# Every token attends to every other one. In a text of $n$ tokens these are $n^2$ pairs: 900 for a sentence of 30 words, 262,144 for a
# page of 512, and 2.5 billion for a novel of 50,000. Since 2019 dozens of papers have proposed attention whose cost grows like $n$. This lecture
# builds three of them, measures what they save and what they lose, and then asks whether we need them at all.
#
# <img src="figures/four_patterns.svg" width="900" alt="Four patterns over 48 positions, rows read columns: full attention scores all 2,304 pairs; a window, a window with one global token, and blocks with random and global ones score fewer.">
#
# *Who sees whom: full attention, and three patterns that leave most pairs out.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say what in attention grows like $n^2$, what a fused kernel changes about it, and what it does not;
# - judge whether a matrix is "nearly of low rank", with rivals to compare it with;
# - write Linformer in three lines, and say why it cannot be a language model;
# - draw the patterns of Longformer and BigBird, and count after how many layers everything is reached;
# - design a test that separates *reachable* from *learned*;
# - compute the size of a cache, and say what a window may forget, and what it must keep;
# - answer "do we even need to remove the quadratic cost?" with measurements.
#
# **You need** [lecture 13](13_self_attention.ipynb) (heads, masks, attention sinks) and [lecture 15](15_transformer_language_model.ipynb) (blocks, the key–value cache). Singular values are
# from [lecture 7](07_vanishing_gradients.ipynb).
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 8 | 11 | 7 | 11 | 8 | 11 | 8 | 8 |
#
# Every cell runs in a few seconds on a laptop, without a network connection. What takes longer was measured before, on one core, and is stored with the command
# that repeats it. A table at the end translates the papers' notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 3 and the first half of section 7. Sections 2 and 6 put claims of papers to the test.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from statistics import mean

import numpy as np
import torch
from IPython.display import HTML

from nlmcore.attention import causal_mask, window_mask
from nlmcore.inspect import capture
from nlmcore.pretrained import minilm, smollm2
from nlmcore.transformer import TransformerConfig
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.sparse import build_longformer
from lectures import show, stored, widgets

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # the times below are those of one core

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. The curve of n²
#
# Attention with all heads, $d$ dimensions together, is
#
# $$\mathrm{softmax}\Big(\frac{Q K^\top}{\sqrt{d_{\mathrm{head}}}}\Big)\, V .$$
#
# Its two products cost $2n^2 d$ multiply-adds. If you compute it as it is written, the weights also occupy $n^2$ numbers per head.
#
# You need not keep them. A **fused kernel** (Dao et al. 2022) computes the scores of a small tile, adds the tile's share to a running sum, and
# forgets the scores. It gives the same output. PyTorch calls one whenever nobody asks for the weights.

# %% slideshow={"slide_type": "fragment"}
costs = stored("attention_cost")  # width 512, eight heads; forward, one core
written, fused = (costs["bytes"][name]["4096"] for name in ("explicit", "fused"))
print(f"4,096 tokens, memory: as written {written / 1e6:,.0f} MB, fused {fused / 1e6:.1f} MB")
print(f"memory grows like n^{costs['law']['memory']['explicit']['exponent']:.2f} as written,")
print(f"              and n^{costs['law']['memory']['fused']['exponent']:.2f} fused")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_length = {
    costs["lines"][name]: {int(n): s for n, s in costs["seconds"][name].items()}
    for name in ("explicit", "fused")
}
twice = costs["seconds"]["fused"]["8192"] / costs["seconds"]["fused"]["4096"]


def law_of(name):
    """The fitted power law as a line through the middle of the lengths it was fitted to."""
    law, of = costs["law"]["time"][name], costs["seconds"][name]
    fitted = [(math.log(int(n)), math.log(s)) for n, s in of.items() if int(n) >= law["start"]]
    x, y = (mean(part) for part in zip(*fitted, strict=True))
    start, end = law["start"], max(map(int, of))
    return show.Law(math.exp(y - law["exponent"] * x), law["exponent"], start, end)


curve = HTML(
    show.laws_svg(
        by_length,
        {costs["lines"][name]: law_of(name) for name in ("explicit", "fused")},
        notes={
            costs["lines"][name]: f"∝ n^{costs['law']['time'][name]['exponent']:.2f}"
            for name in ("explicit", "fused")
        },
        ticks={0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s"},
        x_title="tokens",
        y_title="time",
        alt=f"Time against length, both axes logarithmic, two straight lines: as written n to the power of {costs['law']['time']['explicit']['exponent']:.2f}, "
        f"in the fused kernel {costs['law']['time']['fused']['exponent']:.2f}. From 4,096 to 8,192 tokens the fused kernel takes {twice:.1f} times as long.",
        width=640,
        height=330,
    )
)
show.predict(
    "The fused kernel never holds the $n^2$ weights. You double the text from 4,096 to 8,192 tokens. How many times as long does the kernel take?",
    choices={"as long": 1.0, "2 times": 2.0, "4 times": 4.0, "8 times": 8.0},
    answer=twice,
    why="It holds no matrix, but it computes every score. Memory is gone, time is not.",
    reveals=curve,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Both lines have a slope near 2, so the time of both grows like $n^2$. The kernel's is lower by a factor of 6.2 at 4,096 tokens.
# - At 4,096 tokens the equation as written needs 2,282 MB of memory and the kernel 9.1 MB.
# - So the kernel removes the *quadratic memory*. Linformer, Longformer and BigBird are older than it and compare themselves with attention as it is written. Our
#   baseline is the kernel.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Write $n = 30, 512, 50{,}000$ on the board and let the room compute $n^2$. Ask what else in a Transformer depends on $n^2$ (nothing: norms, projections and the feed-forward
# network act per position). What goes wrong: students conclude from "no matrix is held" that the kernel is linear in time.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Is a real attention matrix nearly of low rank?
#
# If the $n \times n$ matrix of weights had rank $k$, you could compute with two matrices of $nk$ numbers. Linformer (Wang et al. 2020) starts from the observation that the
# largest singular values of a trained model's attention hold most of their sum. We check this on two real models: all 270 heads of SmolLM2 (causal) and all 72 of MiniLM
# (both directions), on five passages of 256 tokens.
#
# A number alone says little. "90 % of the sum in $r$ of 256 singular values" needs **rivals**, matrices without any learned structure:
#
# - the *shuffled* matrix: the same weights, but those of each row are permuted among the keys that it may see. Every row keeps its temperature;
# - the *mask*: every row spread evenly over what it may see.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
writer, bytepairs = smollm2()
reader, wordpieces = minilm()
text = (
    "The young doctor opened the door of the old house and called the name of the man who lived there. "
    "Nobody answered. She waited for a while, then she walked through the dark hall to the kitchen, "
    "where a lamp was still burning."
)


def weights_of(model, tokenizer):
    """(layer, head, query, key) of the first 48 tokens."""
    with torch.no_grad(), capture(model) as tape:
        model(torch.tensor([tokenizer.encode(text)[:48]]))
    return torch.cat(list(tape.values()))


def needed(weights, share=0.9):
    """How many of the largest singular values hold this share of their sum."""
    values = torch.linalg.svdvals(weights)
    part = values.cumsum(-1) / values.sum(-1, keepdim=True)
    return (part < share).sum(-1) + 1


even = causal_mask(48) / causal_mask(48).sum(-1, keepdim=True)  # a causal mask and nothing else
print(f"causal mask, evenly: {int(needed(even))} of 48")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ranks = stored("attention_rank")
n_ranks = ranks["n"]
every = {
    (model, row): [value for passage in by[row]["sum"] for value in passage]
    for model, by in ranks["models"].items()
    for row in ("real", "shuffled", "mask")
}
average = {key: mean(values) for key, values in every.items()}
called = {
    "the mask, spread evenly": average["SmolLM2", "mask"],
    "SmolLM2's heads": average["SmolLM2", "real"],
    "their weights, shuffled": average["SmolLM2", "shuffled"],
}
with show.held_back() as ranks_told:
    for (model, row), values in every.items():
        print(
            f"{model:8} {row:9} {mean(values):5.0f} of {n_ranks} ({min(values)} to {max(values)})"
        )
show.predict(
    f"SmolLM2's attention matrices over {n_ranks} tokens: how many singular values hold 90 % of their sum, on average over the heads?",
    choices={"about 5": 5, "about 25": 25, "about 90": 90, "about 200": 200},
    answer=average["SmolLM2", "real"],
    why="Far fewer than all, but more than a third of them. “Nearly low rank” is a matter of taste, so compare with something.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Put these in order: which of them needs the fewest singular values for 90 %, and which the most? (Means over heads and passages.)",
    order=list(reversed(called)),
    answer=sorted(called, key=called.get),
    why="Behind a causal mask even weights without any structure have a low rank, so the number alone is hardly evidence.",
    reveals=ranks_told,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **One head at a time.** Left a head's weights, beside them the best matrix of rank $k$ (by the singular value decomposition), right how fast the sum grows.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
captured = {
    "SmolLM2": weights_of(writer, bytepairs).numpy(),
    "MiniLM": weights_of(reader, wordpieces).numpy(),
}


def shuffled(causal):
    """Each row's weights in another order, among the keys that it may see."""

    def shuffle(matrix):
        draw = np.random.default_rng(0)
        rows = [
            draw.permutation(row[: i + 1 if causal else None]) for i, row in enumerate(matrix)
        ]
        return np.stack([np.pad(row, (0, len(matrix) - len(row))) for row in rows])

    return shuffle


widgets.rank_player(captured, {"SmolLM2": shuffled(True), "MiniLM": shuffled(False)})

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Find a head that looks to the previous token (a diagonal stripe). What is its rank, and why?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - A matrix that shifts by one position has rank $n - 1$: all its singular values are 1. Sharp heads that copy *positions* have a high rank, broad heads have a low rank.
# - SmolLM2's heads need 93 of 256 values on average, their shuffled weights 117. But **the causal mask alone, spread evenly, needs only 80**, and 171 of the 270 heads need
#   more than it. Both rivals leave little room, so behind a causal mask a low rank is hardly evidence of anything learned.
# - MiniLM has no mask, so evenly spread weights have rank 1 and the room is wide. Its heads need 80 values and their shuffled weights 151, and 68 of the 72 heads need fewer than their own shuffled weights.
#   Here learned structure does lower the rank. Still,
#   44 of the 72 need more than a quarter of the values. (By *squares* of the singular values, which measure the error, 25 suffice; shuffled 98.)
# - The spread is wide. In both models some heads need at most 10 values on a passage, and some 200 or more.
# - **A test of use.** Replace every one of MiniLM's matrices by its best approximation of rank 64, a quarter: the sentence vectors keep a cosine of 0.97 with the true
#   ones (rank 4: 0.85; evenly spread weights: 0.36). So for MiniLM a quarter of the rank is enough, *if you know the best one*. To know it you must compute the matrix first.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Take the order as a show of hands before you reveal it. Ask why an evenly spread causal mask has a rank above 1 (row $i$ has $i$ equal entries: all rows differ). What goes
# wrong: students take "90 % of the sum" for "90 % of the information". Let them slide the rank of a diagonal head: at a quarter of the rank the stripe has faded.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Linformer: mix the keys first
#
# Linformer does not look for the best approximation. It learns two matrices $E$ and $F$ with $k$ rows and $n$ columns, which mix the $n$ keys and the $n$ values into $k$ of
# each (Wang et al. 2020, section 4):
#
# $$\mathrm{softmax}\Big(\frac{Q\,(E K)^\top}{\sqrt{d_{\mathrm{head}}}}\Big)\, F V .$$
#
# Now there are $nk$ scores instead of $n^2$. With a fixed $k$ the cost grows like $n$. This is called **low-rank attention**.


# %% slideshow={"slide_type": "fragment"}
def linformer(q, k, v, E, F):
    """q, k, v (time, d_head); E, F (k, time) mix positions."""
    scores = q @ (E @ k).T / math.sqrt(q.shape[-1])  # (time, k) instead of (time, time)
    return scores.softmax(-1) @ (F @ v)


# %% slideshow={"slide_type": "fragment"}
sizes = TransformerConfig(vocab_size=9, d_model=16, n_heads=1, n_layers=1, max_length=32)
with torch.random.fork_rng():
    torch.manual_seed(0)
    part, x = LinformerAttention(sizes, k=8), torch.randn(1, 32, 16)
q, k, v = part.attention.projection(x)[0].split(16, dim=-1)
ours = part.attention.output(linformer(q, k, v, part.E, part.F))
print("as in the library:", torch.allclose(ours, part(x)[0], atol=1e-5))

changed = x.clone()
changed[0, -1] += 1  # only the last token changes
with torch.no_grad():
    moved = (part(changed) - part(x))[0].abs().amax(-1) > 1e-6
print(f"outputs that change with the last token: {int(moved.sum())} of 32")

# %% [markdown] slideshow={"slide_type": "fragment"}
# Every mixed key contains the last token, so every output changes, and no mask can repair this. **Linformer is for encoders only.** The matrices also fix the longest text.
#
# The paper's figures: at $n = 512$ the average of four classification tasks is 92.25 for RoBERTa-base, and 91.75 and 92.08 for Linformer with $k = 128$ and $k = 256$.
# With $k = 256$ it is 2.4 times as fast at 2,048 tokens, and 18 times at 65,536 (Wang et al. 2020, tables 2 and 3, before there was a fused kernel).
#
# > **Ask yourself.** Which of these four tasks asks a model to find *one* token of a long text?
#
# <details><summary><b>Answer</b></summary>
#
# None of them clearly does. Sentiment (SST-2, IMDB) and pairs of sentences (QNLI, QQP) depend on many words, so a mixture of keys is enough. Section 6 tests the other kind of task.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Draw $E K$ as a shop window: $n$ keys are poured into $k$ jars before anybody asks for one. Ask what a query can still find out. What goes wrong: students
# think that $E$ selects $k$ important tokens. It is the same $E$ for every text, so it knows positions and no words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Longformer and BigBird: leave pairs out
#
# The other idea keeps the scores exact, but computes only some of them. This is **sparse attention**, and its pattern decides everything:
#
# - a **sliding window**: a query sees its neighbours, $w$ positions in all;
# - a **global token** sees every position, and every position sees it;
# - **random blocks**: a query also sees a few blocks of positions that were sampled once.
#
# Longformer (Beltagy et al. 2020) has the first two, BigBird (Zaheer et al. 2020) all three. A layer passes news on, so what a position cannot see it may learn in
# several layers. A window that reaches $r$ positions to either side carries news $L \cdot r$ positions in $L$ layers, like a convolution ([lecture 4](04_windows_and_convolutions.ipynb)).


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def window(n, size):
    """`size` positions to either side; True = may attend."""
    position = torch.arange(n)
    return (position[:, None] - position).abs() <= size


def longformer(n, size):
    """A window, and the first token global."""
    mask = window(n, size)
    mask[0], mask[:, 0] = True, True
    return mask


def bigbird(n, size):
    """Blocks of `size`: neighbours, one at random, and the first one global."""
    block, draw = torch.arange(n) // size, torch.Generator().manual_seed(0)
    mask = (block[:, None] - block).abs() <= 1
    sampled = torch.randint(int(block[-1]) + 1, (int(block[-1]) + 1,), generator=draw)
    return mask | (block == sampled[block][:, None]) | (block == 0) | (block == 0)[:, None]


c = TransformerConfig(vocab_size=9, d_model=16, n_heads=1, n_layers=1, max_length=48)
print(
    "as the library's:",
    torch.equal(longformer(48, 4), build_longformer(c, False, window=8).pattern(48)),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
patterns = {
    "full": lambda n, size: torch.ones(n, n, dtype=torch.bool),
    "window": window,
    "Longformer": longformer,
    "BigBird": bigbird,
    "causal window": window_mask,
    "every size-th": lambda n, size: (torch.arange(n)[:, None] - torch.arange(n)) % size == 0,
}


def layers_to_reach(mask):
    """The layers after which every query has news of every key."""
    reached, layers = mask, 1
    while not reached.all():
        reached, layers = (mask.float() @ reached.float()) > 0, layers + 1
    return layers


alone, with_global = layers_to_reach(window(48, 4)), layers_to_reach(longformer(48, 4))
show.predict(
    f"48 positions, a window of 4 to either side: after {alone} layers the first position has information from the last. Now one token becomes global, as in Longformer. After how many layers does *every* position "
    "have information from every other?",
    choices={"2": 2, "4": 4, "6": 6, str(alone): alone},
    answer=with_global,
    why="One layer brings everything to the global token, the next one brings it to everybody.",
    reveals=widgets.pattern_playground(patterns, 48, size=4, layers=12).opens(
        pattern="Longformer", layers=2
    ),
)

# %% [markdown] slideshow={"slide_type": "skip"}
# > **Ask yourself.** Choose *window* and then *BigBird*. Which pattern needs fewer pairs to reach everything within three layers? Then choose *every size-th*: what does it never reach?

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - A window must be 16 wide to either side to reach across 48 positions in three layers, which is 1,312 of 2,304 pairs. With one global token a window of 1 suffices: 234 pairs and two layers.
# - The pattern *every size-th* (strided) never leaves its residue class, however many layers you stack. Real models combine it with a window.
# - A star, one global token and nothing else, already connects everything in two layers. BigBird's theory builds on this: a star graph suffices for universality (Zaheer et al. 2020).
# - But all news then passes through *one vector*. This is the bottleneck of [lecture 11](11_sequence_to_sequence.ipynb) again.
# - The figures of the paper, 512 tokens, BERT-base against sparse patterns (its table 1): MNLI 83.4 with full attention, 80.2 with random blocks, 73.1 with a window, 80.5 with both. With global tokens the gap closes.
# - BigBird's stronger model (ETC) uses **no random blocks** at all.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room say which cells a global token fills before you press the button (a row and a column). Slide *layers* with the orange row in view. Then ask what the pages ask: which of *window* and *BigBird* needs fewer pairs for three layers, and what does *every size-th* never reach? What goes wrong: they
# read the right-hand picture as attention. It shows which news *could* have arrived; section 6 shows that this is not the same as having learned it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Time and memory, to 16,384 tokens
#
# Fewer scores are not yet less time. A pattern must be cut into blocks, keys must be gathered, and a general kernel has no support for your pattern. We measured one attention layer with
# SmolLM2's sizes ($d = 576$, nine heads, three shared heads of keys and values): Longformer with a window of 512, BigBird with blocks of 64 (the paper's sizes), Linformer with $k = 256$, full attention as
# written, and full attention with PyTorch's fused kernel (`python -m lectures.recipes sparse_cost`; one thread, medians).

# %% slideshow={"slide_type": "fragment"}
layer = stored("sparse_cost")
starts = layer["full_fused_takes_longer_from"]  # where each begins to be faster than the kernel
longest = {name: by["16384"] for name, by in layer["seconds"].items() if "16384" in by}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Our Longformer layer has a window of 512 tokens. From what length is it faster than full attention with the fused kernel, on one core?",
    choices={"from 300": 300, "from 1,200": 1200, "from 5,000": 5000, "from 12,000": 12000},
    answer=starts["Longformer"],
    why="Three blocks of 256 are scored for each query, and their keys are copied first. So nothing is saved before the text is clearly longer than 768 tokens.",
    reveals=widgets.cost_explorer(layer, "full, fused"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Time grows like $n^{1.92}$ for the full layer, $n^{1.23}$ for Longformer, $n^{1.13}$ for BigBird and $n^{1.03}$ for Linformer. At 16,384 tokens the full layer takes 7.1 s, Longformer
#   and BigBird 1.1 s each, Linformer 0.41 s.
# - **Where ours lose time.** Below about 1,200 tokens the full kernel is faster than Longformer, below 1,500 faster than BigBird, below 600 faster than Linformer. At 256 tokens Longformer takes 2.5 times as long.
# - **Where ours lose memory: everywhere.** At 16,384 tokens the full kernel holds 139 MB, Longformer 429 and BigBird 907, because each key is copied to every block that sees it. The promise of less memory was
#   made against attention as written. A special kernel avoids the copies; ours is made of PyTorch's operations.
# - Multiply-adds promise more than time gives: at 16,384 tokens BigBird has 12.2 times fewer than the full layer and is 6.6 times as fast.
# - One core, one text, no mask, one machine that was shared. Other machines have other crossings.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Switch the explorer from time to memory to multiply-adds at 16,384 tokens. Ask why a ratio of multiply-adds is not a ratio of times. What goes wrong: they compare the
# cheap layer with "full, as written", as papers before the kernel had to.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. What is lost? Cards in a text
#
# Take a passage of Shakespeare, letter by letter. Four of its letters are replaced by **cards**, one of each suit, and eight by **questions** for the rank of a suit's card:
#
# > wherefo **♥7** art tho **♠Q** rome **♥?** deny thy f …
#
# At ♥? the model should answer ♥7; a guess among the eight ranks is right in 12.5 % of cases. Small encoders of three layers read 64 tokens in both directions. They differ only in the pattern:
#
# | row | keys per query | |
# |---|---|---|
# | full | 64 | all |
# | window | 12 | blocks of 4: its own and two neighbours |
# | wider window | 23 | the rival: just more keys |
# | window + random | 16 | one random block |
# | window + global | 20 | four global tokens |
# | window + random + global | 24 | BigBird |
# | Linformer | 16 | a quarter, $k = n/4$ |
# | Linformer, k = n | 64 | the rival: nothing saved |
# | Linformer, 5 × the steps | 16 | the rival: it is only slow |
#
# Five seeds each, 500 steps (2,500 in the last row), on a task that asks for *one* token (`python -m lectures.recipes needle`).

# %% slideshow={"slide_type": "fragment"}
needle = stored("needle")
right = {name: row["right"] for name, row in needle["rows"].items()}  # by seed

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
added = {
    "more neighbours": mean(right["wider window"]),
    "a random block": mean(right["window + random"]),
    "global tokens": mean(right["window + global"]),
}
with show.held_back() as cards_told:
    for name, shares in right.items():
        print(
            f"{name:25} {mean(shares):4.0%} right ({min(shares):.0%} to {max(shares):.0%}), {needle['rows'][name]['keys']:.0f} keys"
        )
show.predict(
    "One of these additions to the window helps much less than the other two. Which?",
    choices=list(added),
    answer=min(added, key=added.get),
    why="News travels a few blocks in three layers, and a wider window only makes the blocks larger. A random block or a global token is a short cut.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Linformer has 16 mixed keys for 64 positions, and every one of them sees the whole text. How many of the cards does it find, after the same 500 steps as the others?",
    choices={"about 15 %": 0.15, "about 50 %": 0.5, "about 95 %": 0.95},
    answer=mean(right["Linformer"]),
    why="It guesses. Its keys are mixed before anybody asks, by weights that do not depend on the words. Does it learn to ask later? Look at the last row.",
    reveals=[cards_told, widgets.needle_explorer(needle).opens(second="Linformer")],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Reachable.** The plain window finds 33 % of the cards. One layer away it finds 100 %, and where no way leads from the card to the question 12 %, a guess. So its accuracy falls with the
#   distance because news runs out of layers.
# - **More keys do not explain it.** The wider window has 23 keys per query and finds 61 % (seeds 54 to 63). With 16 keys *window + random* finds 90 % (88 to 92), and with 20 *window + global* 91 % (65 to 100).
#   The seeds of these two overlap, so this test cannot rank them.
# - **BigBird's pattern closes the gap**: random and global together find 99 % (99 to 100), as in the paper's table 1.
# - **Reachable is not learned.** With global tokens every card is at most two layers away, yet one seed finds 65 %. In *window + random* a card one layer away is found in 100 % of cases, a card whose way takes three layers in 89 %.
# - **Linformer learns late.** After the same 500 steps it finds 13 % (12 to 15), and with as many keys as positions 14 %, so the number of keys is not the cause. After five times as many steps
#   four seeds find nearly every card and one finds 63 %. So a mixture of 64 positions in 16 keys *can* be sorted out again, but how to ask must be learned first. Had we stopped at 500 steps and one seed, we would have
#   called it a failure.
# - 64 tokens, three layers, four cards. Four global tokens can remember all of it; whether they also hold twenty cards we have not measured.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Play it in the room first: give four students a card each, allow whispering to neighbours only, and count the rounds. Then appoint a global student. What goes wrong: they read
# "not found" as "not reachable"; switch the explorer to *layers on the way*.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Windows and caches of today's models
#
# Today's models write, and a model that writes keeps a key–value cache ([lecture 15](15_transformer_language_model.ipynb)). For one text it has
#
# $$2 \cdot L \cdot h_{\mathrm{kv}} \cdot d_{\mathrm{head}} \cdot n \quad\text{values.}$$
#
# Two of these factors are cut in practice. **Shared keys and values** (multi-query, Shazeer 2019; grouped-query, Ainslie et al. 2023) lower the number of heads $h_{\mathrm{kv}}$. A **sliding-window cache** keeps
# the last $w$ tokens instead of $n$; Mistral 7B has one in all layers, Gemma 2 in every second layer.


# %% slideshow={"slide_type": "fragment"}
def cache_bytes(layers, kv_heads, d_head, held, bytes_each=2):
    """Keys and values of `held` tokens, in half precision."""
    return 2 * layers * kv_heads * d_head * held * bytes_each


widgets.memory_playground(
    cache_bytes,
    {"SmolLM2": (30, 9, 3, 64), "the sizes of GPT-3, if heads were shared": (96, 96, 8, 128)},
    [1024, 8192, 32768, 131072, 1048576],
    [1024, 4096, 16384],
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **May a window forget the first tokens?** SmolLM2 was trained with full attention. We let it read through a window of $w$ tokens in every layer and measure the loss over the second half of
# passages of 256 tokens (`python -m lectures.recipes windows`). Its loss without a window is 3.78 nats per token. Then we allow four more tokens.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
through = stored("windows")
loss = {way: {int(w): mean(by) for w, by in of.items()} for way, of in through["ways"].items()}
at_64 = {
    "the four before the window": loss["wider by 4"][64],
    "the first four of the text": loss["and the first 4"][64],
    "tokens 5 to 8 of the text": loss["and 4 others"][64],
}
ways = {
    "window": "the window",
    "wider by 4": "four more in the window",
    "and 4 others": "tokens 5 to 8",
    "and the first 4": "the first four",
    "and a stranger's 4": "a different text's first four",
}
sinks = HTML(
    show.bands_svg(
        [int(w) for w in through["ways"]["window"]],
        {ways[way]: np.array(list(through["ways"][way].values())).T for way in ways},
        x_title="window, tokens",
        y_title="nats per token",
        low=3,
        high=10,
        level=mean(through["full"]),
        columns=2,
        width=720,
        height=300,
        title="SmolLM2 through a window; the thin line: full attention",
        alt="Loss against the window; lines are means over passages, bands reach from the lowest to the highest. "
        + "; ".join(
            f"{ways[way]}: " + ", ".join(f"{nats:.2f} at {w}" for w, nats in loss[way].items())
            for way in ways
        )
        + f". Full attention: {mean(through['full']):.2f}.",
    )
)
show.predict(
    f"With a window of 64 tokens the loss rises by {loss['window'][64] - mean(through['full']):.1f} nats. You may show every query four more tokens. Which four repair most of it?",
    choices=list(at_64),
    answer=min(at_64, key=at_64.get),
    why="Most heads park their weight on the first token. Without this sink the weight must go somewhere else, and every later layer receives vectors that it has never seen.",
    reveals=sinks,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With a window of 64 the loss is 5.78. Four more tokens in the window make it 5.67, tokens 5 to 8 of the text 5.54, and the first four **3.96**: they repair 91 % of the rise. This holds in each of the five
#   passages and for each window, and a window of 8 with the first four (4.98) is better than a window of 64 without them.
# - **It is not what they say.** With the first four tokens of a *different* passage in their place the loss is 3.95, the same. SmolLM2's heads park their weight there (0.58 of it, [lecture 13](13_self_attention.ipynb)),
#   whatever the tokens are. Without this sink the softmax must spread the weight over tokens that mean something.
# - So the damage has two parts. 1.8 nats are the missing sink, and only 0.2 nats are the missing text. Caches that slide therefore keep the first tokens (Xiao et al. 2024).
# - One model and texts of 256 tokens; text that depends on something further back would lose more.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Ask first what the first four tokens of a play could possibly say about line 200 (nothing). Recall the attention sink of [lecture 13](13_self_attention.ipynb). What goes wrong: students conclude that windows do not
# work. A model that is trained with a window does not depend on a sink that the window leaves out; this model was trained without one.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Do we even need to remove the quadratic cost?
#
# Wang's slides make four claims. Each can be checked.
#
# 1. *As Transformers grow, a growing part of their cost lies elsewhere than in the scores of attention.*
# 2. *Nearly all large models keep quadratic attention.*
# 3. *The cheaper methods do not work as well.*
# 4. *Or would texts of more than 100,000 tokens unlock better models?*

# %% slideshow={"slide_type": "fragment"}
c = writer.config
matrices = sum(p.numel() for p in writer.layers[0].parameters() if p.ndim == 2)  # of one layer


def at(name, n):
    """Seconds of one layer, extrapolated from 16,384 tokens by the fitted power law."""
    return longest[name] * (n / 16_384) ** layer["law"][name]["exponent"]


for name in ("full, fused", "Longformer"):
    print(f"131,072 tokens, one layer, extrapolated: {name:12} {at(name, 131_072):4.0f} s")


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def count(d_model, layers, vocab_size, n):
    """Parameters, and multiply-adds per token in a text of n tokens; d_ff = 4 d."""
    parts = {
        "attention, matrices": 4 * d_model**2 * layers,
        "feed-forward": 8 * d_model**2 * layers,
    }
    parts["unembedding"] = vocab_size * d_model
    return parts, parts | {"attention, scores": 2 * n * d_model * layers}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
equal = matrices / (2 * c.n_heads * c.head_size)
show.predict(
    "In SmolLM2 (width 576), how long must a text be until the scores cost as many multiply-adds as all matrices of a layer together?",
    choices={
        "300 tokens": 300,
        "3,000 tokens": 3_000,
        "30,000 tokens": 30_000,
        "300,000 tokens": 300_000,
    },
    answer=equal,
    why="A token costs $2nd$ in the scores and about $12d^2$ in the matrices, so they are equal at about $n = 6d$. The wider the model, the later.",
    reveals=widgets.size_playground(
        count,
        {
            "SmolLM2's width, 2,048 tokens": (576, 30, 49_152, 2048),
            "SmolLM2's width, 32,768 tokens": (576, 30, 49_152, 32_768),
            "GPT-3's width, 2,048 tokens": (12_288, 96, 50_257, 2048),
            "GPT-3's width, 131,072 tokens": (12_288, 96, 50_257, 131_072),
        },
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The four claims, checked</b></summary>
#
# 1. **True for width, false for length.** At 2,048 tokens the scores are 32 % of the multiply-adds with SmolLM2's width and 3 % with GPT-3's. At 131,072 tokens they are 97 % and 64 %. Time says more than
#    products: with 2,048 tokens an attention layer of SmolLM2's sizes has 1.2 times the multiply-adds of its feed-forward network and takes 2.5 times as long (section 5).
# 2. **Mostly true.** SmolLM2 and MiniLM are quadratic in every layer. But GPT-3 itself alternates full layers with banded ones (Brown et al. 2020, section 2.1), and Mistral 7B and Gemma 2 have windows. The fused kernel
#    needs no new model, removes the memory, and leaves the time.
# 3. **It depends on the question.** In our card test full attention finds 100 % after 500 steps, BigBird's pattern 99 %, a window 33 % and Linformer 13 %; Linformer finds 93 % after 2,500 (five seeds, 64 tokens). On the papers' classification tasks the gap is small (sections 3 and 4).
# 4. **Open.** By the fitted laws, 131,072 tokens would take our core 379 s per layer with the full kernel and 14 s with Longformer; this extrapolates eight times beyond the longest measured text. The cache of
#    SmolLM2 would hold 3.0 GB. The cost is real. Whether models become *better* with such texts cannot be tested at our scale.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Vote on each claim before the table is opened. What goes wrong: students take claim 2 as an argument ("everybody does it"). It describes habits and hardware, and it has exceptions.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a pattern of your own: at most 400 of the 2,304 pairs, causal, and every earlier position reached within three layers. The widget draws it next to a causal window, or next to all earlier positions, and counts.


# %% slideshow={"slide_type": "fragment"}
def my_pattern(n, size):
    """(query, key), True = may attend. Change this: a causal window, and every size-th position before it."""
    position = torch.arange(n)
    far = position[:, None] - position
    return (far >= 0) & ((far < size) | (position % size == 0))


ours = {"a causal window": window_mask, "all earlier positions": lambda n, size: causal_mask(n)}
widgets.pattern_playground(ours, 48, size=6, layers=4, yours=dict.fromkeys(ours, my_pattern))

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. The pattern given reaches everything in two layers with 441 pairs, more than allowed; a larger size, or powers of two as distances, stay below. What goes wrong: a position that does not see itself.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`exercises/efficient_attention/efficient_attention.ipynb`](../exercises/efficient_attention/efficient_attention.ipynb) you build the patterns,
# Linformer and the cache yourself, and SmolLM2 writes through your cache, with sinks and without.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A text becomes ten times longer. How do time and memory of full attention change with a fused kernel?
# <details><summary>Answer</summary>The time of the scores becomes 100 times longer. The memory grows by a factor of ten, because the kernel holds no matrix of weights.</details>
#
# 2. A head always attends to the previous token. Can you approximate it by rank 10 in a text of 1,000 tokens?
# <details><summary>Answer</summary>No. All its singular values are 1, so rank 10 keeps one hundredth of them.</details>
#
# 3. Why can a Linformer not write?
# <details><summary>Answer</summary>Its mixed keys contain later tokens, so every prediction would see its target.</details>
#
# 4. A window reaches 256 tokens to either side. How many layers carry news over 4,096 tokens?
# <details><summary>Answer</summary>$4096 / 256 = 16$ layers; with one global token two.</details>
#
# 5. A model has news of everything after two layers but finds only half of the cards. What is wrong?
# <details><summary>Answer</summary>Nothing need be. "Reachable" says that a path exists; the model must still learn to send the right content along it, through few vectors.</details>
#
# 6. You cut the cache of a trained model to its last 1,000 tokens and it writes nonsense. What do you try first?
# <details><summary>Answer</summary>Keep the first few tokens as well, because many heads park their weight on them.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 5. What goes wrong: they answer with more layers.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $n$ | $N$, $T$, $L$ | tokens in the text |
# | $k$ | $k$ | mixed keys of Linformer; also the rank of an approximation |
# | $E$, $F$ | $E_i$, $F_i$ | Linformer's matrices over positions |
# | $w$ | $w$ | width of a window; Longformer counts both sides together |
# | $h_{\mathrm{kv}}$ | $G$, groups | heads of keys and values |
# | fused kernel | FlashAttention, memory-efficient attention | attention without a matrix of weights |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: a causal window of $w$ has all $w$ positions on one side.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **fused kernel**: attention computed tile by tile, without keeping the matrix of weights; the same output, and all $n^2$ scores.
# - **low-rank attention**: attention over a few mixtures of the keys and values instead of all of them.
# - **sparse attention**: attention that computes only the scores of a fixed pattern of pairs.
# - **sliding window**: a pattern in which a query sees only its neighbours.
# - **global token**: a token that sees every position and that every position sees.
# - **random blocks**: blocks of positions, sampled once, that a query sees besides its window.
# - **shared keys and values**: fewer heads of keys and values than of queries (multi-query, grouped-query attention).
# - **sliding-window cache**: a key–value cache that keeps only the last tokens.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Wang, Li, Khabsa, Fang & Ma (2020), Linformer. Beltagy, Peters & Cohan (2020), Longformer. Zaheer et al. (2020), Big Bird. Dao et al. (2022), FlashAttention. Shazeer (2019), Fast Transformer
# Decoding. Ainslie et al. (2023), GQA. Xiao et al. (2024), Efficient Streaming Language Models with Attention Sinks. Arora et al. (2023), Zoology (recall with several questions). Jiang et al. (2023), Mistral 7B. Gemma Team (2024), Gemma 2.
# Brown et al. (2020), GPT-3. Ben Allal et al. (2025), SmolLM2. Wang, slides on Transformers (CUHK-Shenzhen).
