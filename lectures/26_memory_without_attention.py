# %% [markdown] slideshow={"slide_type": "slide"}
# # Memory without attention
#
# A Transformer's cache grows with the text. A recurrent network keeps a state of fixed size.
# **Can a memory of fixed size be written, read and corrected, and still be trained in parallel?**
#
# <img src="figures/cache_and_matrix.svg" width="900" alt="Left, a cache: one column of key and value for each of twelve tokens, and it grows by one with each. Right, one matrix S of the same size after every token, into which tokens are written and from which a query reads.">
#
# *A cache gets a new column for every token. The matrix $S$ has the same size after the first token and after the last.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - write into a matrix with an outer product, read from it, and say when one key disturbs another;
# - derive the delta rule, and write the updates of five published models as cases of one equation;
# - compute a recurrence in chunks, and say what this changes;
# - test whether a memory can overwrite, with a control inside each text;
# - compute how much memory a cache, a latent vector and a matrix take.
#
# **You need** [lecture 18](18_cheaper_attention.ipynb) (linear attention, section 7), [lecture 12](12_attention.ipynb) and [lecture 8](08_gates.ipynb) (gates).
# In this lecture vectors are rows. The gates $a_t$ and $b_t$ of section 2 are numbers between 0 and 1, and $w_t$ is a positive number. Here $b_t$ is not a bias.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|
# | minutes | 8 | 11 | 11 | 8 | 14 | 9 |
#
# The minutes are for a class. If you work alone, plan an hour and a half. Sections 4 and 6 can wait. The times of sections 3 and 4 and the results of section 5 are stored, with the commands that repeat them.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 4 and 6. Section 5 carries the moral. What goes wrong: students expect a new architecture. Say at the start that only the attention of a Transformer is replaced.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from statistics import fmean

import torch
from IPython.display import HTML
from torch.nn import functional as F

from nlmcore.metrics.significance import paired
from nlmcore.recurrent.matrix_memory import chunked, step_by_step, update
from lectures import show, stored, widgets

torch.set_num_threads(1)
torch.set_grad_enabled(False)  # nothing is trained here
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A matrix that remembers
#
# To store a value $v$ under a key $k$, add the outer product $k^\top v$ to a matrix $S$. To read, multiply a query by $S$:
#
# $$S_t = S_{t-1} + k_t^\top v_t, \qquad y_t = q_t S_t .$$
#
# [Lecture 18](18_cheaper_attention.ipynb) derived this from attention without a softmax (linear attention, Katharopoulos et al. 2020). If a query equals a stored key of length 1 and all other keys are orthogonal to it, $q_t S_t$ is exactly the stored value. We write two values under two orthogonal keys.

# %% slideshow={"slide_type": "fragment"}
A, B = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
S = torch.zeros(2, 2)
S = S + torch.outer(A, torch.tensor([3.0, 1.0]))  # (3, 1) under A
S = S + torch.outer(B, torch.tensor([-1.0, 2.0]))  # (-1, 2) under B
print(S)
print("read A:", (A @ S).tolist(), "  read B:", (B @ S).tolist())

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
values = [[3, 1], [-1, 2], [1, 4]]  # under A, under B, and under A again
again = update(S, A, torch.tensor([1.0, 4.0]))
summed = tuple(int(x) for x in A @ again)
show.predict(
    "Now we also write (1, 4) under A. What does reading A give?",
    choices=["(1, 4), the new value", "(2, 2.5), their mean", "(4, 5), their sum"],
    answer=f"({summed[0]}, {summed[1]}), their sum",
    why="Adding removes nothing. The old value is still in the sum.",
    reveals=widgets.matrix_playground(
        lambda S, k, v, a, b: update(S, k, v, a, b), values, writes=3
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** For how many keys can this memory hold values without any error? For how many can a matrix with $d_k$ rows?
#
# <details><summary><b>Answer</b></summary>
#
# For two. If two keys are not orthogonal, reading one of them also returns a part of the other's value, so the two values *interfere*. There are at most $d_k$ orthogonal keys, so a matrix with $d_k$ rows holds at most $d_k$ values without interference. A cache has no such bound, because it grows.
# </details>
#
# **A memory that only adds can store, but it does not replace.** After two writes under one key it holds the sum of both values.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Do the two writes on the board before the cell runs; the numbers are small on purpose. What goes wrong: students expect the sum to be an error of the code. Ask which entry of $S$ would have to change.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. One update, five models
#
# To overwrite, read first. The memory holds $k_t S_{t-1}$ under the key. Write only the *difference* between the new value and the stored one, with strength $b_t$:
#
# $$S_t = S_{t-1} + b_t\, k_t^\top \big(v_t - k_t S_{t-1}\big) .$$
#
# This is the **delta rule** (Widrow & Hoff 1960; Schlag, Irie & Schmidhuber 2021). Multiply both sides from the left by $k_t$, which has length 1, and a gate of [lecture 8](08_gates.ipynb) appears:
#
# $$k_t S_t = (1 - b_t)\, k_t S_{t-1} + b_t\, v_t .$$
#
# A UGRNN gates each unit of its state. The delta rule gates what is stored *under one key*. With a decay $a_t$ for everything and a separate strength $w_t$ for writing, the update becomes

# %% [markdown] slideshow={"slide_type": "subslide"}
# $$S_t = a_t\, (I - b_t\, k_t^\top k_t)\, S_{t-1} + w_t\, k_t^\top v_t, \qquad y_t = q_t S_t .$$
#
# The three gates are $a_t$ (keeps), $b_t$ (erases) and $w_t$ (writes). The table compares only the updates of five models, and not their other parts. Mamba-2 and its predecessor Mamba (Gu & Dao 2023) are **state-space models**.
#
# | model | keeps ($a_t$) | erases ($b_t$) | writes ($w_t$) |
# |---|---|---|---|
# | linear attention (Katharopoulos et al. 2020) | 1 | 0 | 1 |
# | **retention** (Sun et al. 2023) | a constant per head | 0 | 1 |
# | **selective scan** (Mamba-2, Dao & Gu 2024) | computed from the token | 0 | computed from the token |
# | **DeltaNet** (Schlag et al. 2021; Yang et al. 2024) | 1 | computed from the token | equal to $b_t$ |
# | **Gated DeltaNet** (Yang, Kautz & Hatamizadeh 2025) | computed from the token | computed from the token | equal to $b_t$ |
#
# In code the update takes three lines; `u` is the vector that is added under the key.


# %% slideshow={"slide_type": "fragment"}
def one_update(S, k, v, a=1.0, b=0.0, w=1.0):
    """S (d_key, d_value), k (d_key), v (d_value)."""
    S = a * S  # everything fades
    u = w * v - b * (k @ S)  # the new value minus a part of the stored one
    return S + torch.outer(k, u)


new = torch.tensor([1.0, 4.0])
for b in (0.0, 0.5, 1.0):
    after = one_update(S, A, new, b=b, w=1.0 if b == 0 else b)
    print(f"b = {b:.1f}: read A {(A @ after).tolist()}, read B {(B @ after).tolist()}")
print("as in nlmcore:", torch.equal(one_update(S, A, new, 0.9, 0.5), update(S, A, new, 0.9, 0.5)))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
slanted = torch.tensor([math.cos(math.pi / 3), math.sin(math.pi / 3)])
filled = one_update(
    one_update(torch.zeros(2, 2), A, torch.tensor([3.0, 1.0])),
    slanted,
    torch.tensor([-1.0, 2.0]),
    b=1.0,
)
corrected = one_update(filled, A, new, b=1.0)
moved, correction = (slanted @ (corrected - filled)).norm(), (A @ (corrected - filled)).norm()
show.predict(
    "Suppose that the keys A and B are at an angle of 60°. We write A, then B, and then overwrite A with $b = w = 1$. How much does this last write change the value read under B, compared with the change under A?",
    choices={"not at all": 0.0, "half as much": 0.5, "just as much": 1.0},
    answer=float(moved / correction),
    why="The correction is added along A, and B has a component of cos 60° = 0.5 along A. Only a key orthogonal to A would keep its value.",
    reveals=widgets.matrix_playground(
        lambda S, k, v, a, b: update(S, k, v, a, b), values, writes=3
    ).opens(angle=60, erase=1.0),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Set *erase* to 0 and *keep* to 0.5. Is the value read under A now closer to the value that was written last? What happens to the value under B?
#
# <details><summary><b>Answer</b></summary>
#
# Yes. The old value under A has faded, so the sum is closer to the new one. But the value under B has faded as well, although nothing was written under B a second time.
# </details>
#
# **Erasing removes a fraction $b_t$ of what is stored in the direction of one key. A decay $a_t$ weakens everything older.** Section 5 tests how well a trained model overwrites with each.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Derive $k_t S_t$ on the board with $k_t k_t^\top = 1$; it is two lines. Ask for the sign of a correction if the stored value is too large. What goes wrong: students take $I - b k^\top k$ for a rotation. At $b = 1$ it is the projection that removes the direction $k$.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. In chunks
#
# Take $b_t = 0$ and unroll the recurrence over a **chunk** of positions, where $S_0$ is the matrix before the chunk and $D_{ij} = a_{j+1} \cdots a_i$ the decay from position $j$ to $i$:
#
# $$y_i = D_{i0}\, q_i S_0 + \sum_{j \le i} D_{ij}\, (q_i \cdot k_j)\, u_j, \qquad u_j = w_j v_j .$$
#
# The sum is attention with a causal mask and without a softmax. It takes two matrix products for the whole chunk. With erasing, $u_i$ depends on the earlier $u_j$ of the chunk:
#
# $$u_i = w_i v_i - b_i \Big( D_{i0}\, k_i S_0 + \sum_{j < i} D_{ij}\, (k_i \cdot k_j)\, u_j \Big) .$$
#
# These equations form a triangular linear system, which one library call solves (Yang, Wang, Zhang, Shen & Kim 2024). So we can compute the same update in two ways: step by step, or in chunks.

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(0)
q, k = (F.normalize(torch.randn(2, 3, 300, 16, generator=draw), dim=-1) for _ in "qk")
v = torch.randn(2, 3, 300, 20, generator=draw)
a, b, w = (torch.rand(2, 3, 300, generator=draw) for _ in "abw")
text = (q, k, v, 0.9 + 0.1 * a, b, w)
y, S_end = step_by_step(*text)
apart = {chunk: (y - chunked(*text, chunk=chunk)[0]).abs().max() for chunk in (1, 7, 32, 300)}
for chunk, largest in apart.items():
    print(f"chunks of {chunk:3}: largest difference {largest:.0e}")

first, half = chunked(*(x[:, :, :133] for x in text))
rest, _ = chunked(*(x[:, :, 133:] for x in text), S=half)
law = (torch.cat([first, rest], 2) - y).abs().max()
print(f"133 positions, then 167 from the state: {law:.0e}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# All differences are rounding errors<!--[[? max(*apart.values(), law) < 5e-6]]-->. The last line checks a law that holds for every causal language model in this course: if a text is read in two parts and the state is passed on, the outputs are the same as if it is read at once. Chunks of 1 are the recurrence. Without erasing, one chunk as long as the text is attention without a softmax. In chunks of $C$ positions, one head of width $d$ does $2\,C\,d$ multiply-adds per position within the chunk. Reading the matrix and writing into it take another $2\,d^2$.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sizes = (1, 8, 32, 128, 512)
counted = {size: sum(widgets.chunk_costs(512, size, 32)) for size in sizes}
clock = {int(size): s for size, s in stored("memory_speed")["seconds_by_chunk"].items()}
more, gain = counted[32] / counted[1], clock[1] / clock[32]
show.predict(
    f"A text has 512 positions, the heads have width 32, and nothing is erased. Chunks of 1 need the fewest multiply-adds, and chunks of 32 need {more:.1f} times as many. Which of the two take less time on one thread?",
    choices=["chunks of 1", "both about the same", "chunks of 32"],
    answer="chunks of 32"
    if gain > 1.3
    else "both about the same"
    if gain > 1 / 1.3
    else "chunks of 1",
    why="Chunks of 32 need 16 rounds of larger products, and chunks of 1 need 512 rounds of small ones.",
    reveals=[
        HTML(
            show.bar_list_svg(
                list(clock.values()),
                [f"chunks of {size}" for size in sizes],
                says=[
                    f"{1000 * clock[size]:.1f} ms, {counted[size] / 1e6:.1f} million multiply-adds"
                    for size in sizes
                ],
                title="time of one pass without erasing (bars), multiply-adds of one head",
                alt="Bars of the time of one pass for each size of chunk; the longest is that of chunks of 1.",
                width=820,
            )
        ),
        widgets.chunk_explorer(512, sizes, 32).opens(chunk=32),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Chunks of 32 do more arithmetic than the recurrence and take less time<!--[[? clock[32] < clock[1] and counted[32] > counted[1]]]-->.** Fewer multiply-adds need not mean less time ([lecture 18](18_cheaper_attention.ipynb)).

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Write the sum for a chunk of three positions and colour the part that reads $S_0$. The triangular system deserves three minutes: row 2 needs row 1 and nothing later. What goes wrong: "parallel" is heard as "no loop at all". There is a loop over chunks.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Is it fast?
#
# We timed one layer of width 96 (four heads), forward and backward, on a batch of two texts and on one thread (`python -m lectures.recipes memory_speed`). Attention uses the fused kernel of [lecture 18](18_cheaper_attention.ipynb). The LSTM of [lecture 8](08_gates.ipynb) (Hochreiter & Schmidhuber 1997) is PyTorch's, which reads the whole text in one call. It has twice the parameters of the other layers.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
speed = {
    name: {int(n): s for n, s in of.items()}
    for name, of in stored("memory_speed")["seconds"].items()
}
shown = ["attention", "delta rule, in chunks", "delta rule, step by step", "LSTM, one call"]
longest = max(speed["attention"])
slope = {name: math.log(of[longest] / of[longest // 4], 4) for name, of in speed.items()}
each = {name: [s / n for n, s in of.items()] for name, of in speed.items()}  # seconds per token
spread_of = {name: max(of) / min(of) for name, of in each.items()}
lines = HTML(
    show.laws_svg(
        {name: speed[name] for name in shown},
        {
            name: show.Law(
                speed[name][longest] / longest ** slope[name], slope[name], longest // 4, longest
            )
            for name in shown
        },
        notes={name: f"slope {slope[name]:.1f}" for name in shown},
        ticks={0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s"},
        x_title="tokens",
        y_title="time",
        alt=f"Time against length, both axes logarithmic. At {longest:,} tokens: "
        + ", ".join(
            f"{name} {1000 * speed[name][longest]:.0f} ms, slope {slope[name]:.1f}"
            for name in shown
        ),
        width=640,
        height=380,
    )
)
show.predict(
    f"Which layer takes the least time for {longest:,} tokens on one thread?",
    choices=["attention, fused", "the delta rule, in chunks", "the LSTM"],
    answer=["attention, fused", "the delta rule, in chunks", "the LSTM"][
        [
            speed[name][longest]
            for name in ("attention", "delta rule, in chunks", "LSTM, one call")
        ].index(
            min(
                speed[name][longest]
                for name in ("attention", "delta rule, in chunks", "LSTM, one call")
            )
        )
    ],
    why="“Recurrent networks are slow because they cannot be parallelised” does not hold for this LSTM on one thread.",
    reveals=lines,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - From 1,024<!--[[longest // 4:,]]--> to 4,096<!--[[longest:,]]--> tokens, attention has a slope of 1.6<!--[[slope["attention"]:.1f]]--> and the delta rule in chunks one of 1.0<!--[[slope["delta rule, in chunks"]:.1f]]-->. A slope of 1 means that twice as many tokens take twice the time.
# - **Is the LSTM fast because it is one call?** Only in part. The same equations as a loop in Python take 441<!--[[1000 * speed["LSTM, step by step"][longest]:.0f]]--> ms instead of 77<!--[[1000 * speed["LSTM, one call"][longest]:.0f]]--> ms at 4,096<!--[[longest:,]]--> tokens. That is slower than the delta rule in chunks (224<!--[[1000 * speed["delta rule, in chunks"][longest]:.0f]]--> ms)<!--[[? speed["LSTM, step by step"][longest] > speed["delta rule, in chunks"][longest]]]-->.
# - If both run as loops in Python, the LSTM is still 6<!--[[speed["delta rule, step by step"][longest] / speed["LSTM, step by step"][longest]:.0f]]--> times as fast as the delta rule.
# - The LSTM also holds less. Its hidden state and cell state together have 192<!--[[2 * 96]]--> values, and the delta rule's four matrices of 24 × 24 have 2,304<!--[[4 * 24 * 24:,]]-->.
# - We have not timed a graphics card.
# </details>
#
# **At the lengths that we timed, a chunked memory costs about the same per token in a short text as in a long one, and attention does not<!--[[? spread_of["delta rule, in chunks"] < 1.4 and spread_of["attention"] > 2]]-->. Whether that makes it faster depends on the length, the program and the machine.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Take the vote before the picture. What goes wrong: students expect the same order on a graphics card.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. A memory that must overwrite
#
# Does a *trained* memory need to erase? We train on texts in which keys get new values, as Schlag et al. (2021, section 6.1) did. In the example, 3:17 writes the value 17 under key 3, and 3:? asks for the newest value of key 3.
#
# $$3{:}17 \quad 8{:}40 \quad 3{:}25 \quad \dots \quad 8{:}? \to 40 \quad 3{:}? \to 25$$
#
# A text uses $m$ of 64 keys. **Half of these are written once and half twice**, in random order, and at the end the text asks for all of them. The keys written once are the control: they need a memory, but no overwriting. There are 64 values, so a guess is right in 1.6 % of the cases.
#
# Each model is one layer without a feed-forward network, of width 64 with two heads and $d_k = 16$. A token is a pair of a key and a value. We trained for 800 steps of up to 16 texts, with the same five seeds, each model at its own best learning rate (`python -m lectures.recipes overwriting`).
#
# - **delta**: $b_t = w_t$, computed from the token.
# - **gated writes**: the same formula for $w_t$ and the same initial weights, but $b_t = 0$. So the two models differ only in the erasing and in their learning rate.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
table = stored("overwriting")
rows, at = table["rows"], table["keys"].index(16)
TIMED, LASTING = "gated writes, positions", "selective, no decay"


def share(row, part, m=16):
    """Mean over the seeds, in %."""
    return 100 * fmean(run[table["keys"].index(m)] for run in rows[row][part])


show.predict(
    "A text has 16 keys. How often does **gated writes** give the new value of a key that was written *twice*?",
    choices={"about 2 %, a guess": 1.6, "about 50 %": 50, "about 75 %": 75, "above 95 %": 98},
    answer=share("gated writes", "twice"),
    why="It answers with the new value or the old one, each about half of the time. Both are in the sum.",
    reveals=widgets.overwriting_explorer(
        {**table, "rows": {row: rows[row] for row in ("delta", "gated writes")}}
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Before you switch the picture to *once*: does the model without erasing also fail for keys that were written once?
#
# Does the model *gated writes* fail only because it adds? Nothing tells it which of two values is newer. So a third model, *gated writes, positions*, adds a learned vector for each position to its tokens.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
show.predict(
    "This model still only adds, but it knows the position of each token. With 16 keys, how often does it give the new value of a key that was written twice?",
    choices={"about 50 %, as before": 50, "about 70 %": 70, "above 95 %": 98},
    answer=share(TIMED, "twice"),
    why="The strength of a write can now depend on its position, so a later value can have a larger part in the sum.",
    reveals=widgets.overwriting_explorer(
        {**table, "rows": {row: rows[row] for row in ("delta", "gated writes", TIMED)}}
    ),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
twice = {row: [run[at] for run in of["twice"]] for row, of in rows.items()}
seeds = [len(of) for of in twice.values()]


def gained(over, row, part="twice"):
    """With 16 keys, paired over the seeds that both have."""
    base, other = ([run[at] for run in rows[name][part]] for name in (over, row))
    return paired(base[: len(other)], {row: other[: len(base)]})[0][row]


erasing, decay = gained("gated writes", "delta"), gained("gated writes", "selective")
left, forgetting = gained("selective", "delta"), gained(LASTING, "selective")
told_time, without_time = gained("gated writes", TIMED), gained(TIMED, "delta")
show.predict(
    "The **selective scan** has no erasing, but it forgets: each token chooses how much of *everything* is kept. With 16 keys, how often does it give the new value of a key that was written twice?",
    choices={"about 50 %": 50, "about 70 %": 70, "about 95 %": 95},
    answer=share("selective", "twice"),
    why="It lies between gated writes and delta. A decay weakens the old value more than the new one, but it also weakens every other value.",
    reveals=widgets.overwriting_explorer(table),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
longer = table["one seed, 2400 steps"]
every = [run[at] for run in rows["gated writes"]["old"]]
once = gained("gated writes", "delta", "once")
answered = [a + b for a, b in zip(twice["gated writes"], every, strict=True)]

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# | 16 keys, % of answers | written once: right | written twice: right | written twice: the old value |
# |---|---|---|---|
# | delta | 98<!--[[share("delta", "once"):.0f]]--> | 96<!--[[share("delta", "twice"):.0f]]--> | 3<!--[[share("delta", "old"):.0f]]--> |
# | gated writes | 94<!--[[share("gated writes", "once"):.0f]]--> | 49<!--[[share("gated writes", "twice"):.0f]]--> | 48<!--[[share("gated writes", "old"):.0f]]--> |
# | gated writes, positions | 90<!--[[share(TIMED, "once"):.0f]]--> | 70<!--[[share(TIMED, "twice"):.0f]]--> | 27<!--[[share(TIMED, "old"):.0f]]--> |
# | selective scan | 92<!--[[share("selective", "once"):.0f]]--> | 70<!--[[share("selective", "twice"):.0f]]--> | 26<!--[[share("selective", "old"):.0f]]--> |
# | selective scan, no decay | 94<!--[[share(LASTING, "once"):.0f]]--> | 48<!--[[share(LASTING, "twice"):.0f]]--> | 49<!--[[share(LASTING, "old"):.0f]]--> |
# | attention with rotary positions | 100<!--[[share("attention", "once"):.0f]]--> | 98<!--[[share("attention", "twice"):.0f]]--> | 2<!--[[share("attention", "old"):.0f]]--> |
#
# - **With 16 keys, the model *gated writes* keeps both values.** For keys written twice, it answers with one of the two values in 97<!--[[100 * fmean(answered):.0f]]--> % of the cases, and with each about equally often<!--[[? abs(share("gated writes", "twice") - share("gated writes", "old")) < 10]]-->.
# - Compared with gated writes, erasing adds 47<!--[[100 * erasing.difference:.0f]]--> ± 2<!--[[100 * erasing.half:.0f]]--> points for keys written twice (five<!--[[words(seeds[0])]]--> paired seeds). For keys written once it adds 4<!--[[share("delta", "once") - share("gated writes", "once"):.0f]]--> points, most of them because of one seed, so we cannot tell whether it helps there<!--[[? once.half > once.difference]]-->.
# - **Does the model *gated writes* fail because it only adds?** Only in part. Positions add 21<!--[[100 * told_time.difference:.0f]]--> ± 7<!--[[100 * told_time.half:.0f]]--> points to gated writes, without any erasing. Delta, without positions, is another 26<!--[[100 * without_time.difference:.0f]]--> ± 7<!--[[100 * without_time.half:.0f]]--> points ahead.
# - The selective scan does not know the positions either. It is 21<!--[[100 * decay.difference:.0f]]--> ± 5<!--[[100 * decay.half:.0f]]--> points ahead of gated writes, and delta is another 26<!--[[100 * left.difference:.0f]]--> ± 5<!--[[100 * left.half:.0f]]--> points ahead<!--[[? set(seeds) == {5}]]-->. It computes $w_t$ by a different formula, but without the decay ($a_t = 1$) it is right for only 48<!--[[share(LASTING, "twice"):.0f]]--> %. So the gain is due to the decay<!--[[? forgetting.difference > forgetting.half and abs(share(LASTING, "twice") - share("gated writes", "twice")) < 3]]-->. The decay began with a half-life of 55<!--[[math.exp(4):.0f]]--> tokens; we tried no other.
# - Attention has rotary positions, because without positions it could not tell which value is newer. It has fewer parameters, 20,960<!--[[rows["attention"]["parameters"]:,]]--> compared with the 25,122<!--[[rows["delta"]["parameters"]:,]]--> of delta, and gated writes with positions has 31,266<!--[[rows[TIMED]["parameters"]:,]]-->.
# - With 32 keys, which is also the number of key dimensions of the two heads together, delta is right for 78<!--[[share("delta", "once", 32):.0f]]--> % of those written once and 86<!--[[share("delta", "twice", 32):.0f]]--> % of those written twice. Attention is right for 99<!--[[share("attention", "once", 32):.0f]]--> % of those written once.
# - Were 800 steps enough? After 2,400 steps, in one seed, delta is right for 96<!--[[100 * longer["delta"]["twice"][at]:.0f]]--> % of the keys written twice, gated writes for 49<!--[[100 * longer["gated writes"]["twice"][at]:.0f]]--> %, and gated writes with positions for 82<!--[[100 * longer[TIMED]["twice"][at]:.0f]]--> %. So for the model with positions 800 steps were not enough<!--[[? longer[TIMED]["twice"][at] > share(TIMED, "twice") / 100 + 0.03]]-->.
# </details>
#
# **On this task, a memory that only adds and does not know the positions gives the old value about as often as the new one<!--[[? all(abs(x - y) < 0.12 for x, y in zip(twice["gated writes"], every, strict=True))]]-->. A memory with positions or a decay gives the new value more often, but less often than delta<!--[[? decay.difference > decay.half and left.difference > left.half and told_time.difference > told_time.half and without_time.difference > without_time.half]]-->. A memory that reads before it writes gives the new value in nearly all cases, and it needs neither positions nor a decay.** We measured one layer with 16 keys after 800 steps, not language.

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes. Play a text of three keys with the room as the memory: each student keeps the sum of the cards that they get. What goes wrong: "50 %" is read as "it learned half of it". The old value is the other half. Ask what the keys written* once *are for.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. How much does a memory hold?
#
# For one text of $n$ tokens, $L$ layers and $h$ heads of width $d$, a cache holds $2\,L\,h\,d\,n$ values, and one matrix per head holds $L\,h\,d^2$. A **latent cache** (multi-head latent attention or MLA, DeepSeek-V2 2024) stores one vector per token and layer, from which all heads compute their keys and values. In DeepSeek-V2 this vector has 512 values, and 64 more for a rotary key.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
models = {
    "SmolLM2's sizes": (30, 9, 3, 64, 288),
    "DeepSeek-V2's sizes": (60, 128, 8, 128, 576),
}
lengths = [64, 256, 1024, 8192, 131_072, 1_048_576]
layers, heads, shared, d_head, _ = models["SmolLM2's sizes"]
even = heads * d_head**2 / (2 * shared * d_head)
show.predict(
    "SmolLM2 has 9 heads of width 64, which share 3 heads of keys and values. After about how many tokens does its cache hold more values than one matrix of 64 × 64 per head would?",
    choices={"100": 100, "1,000": 1_000, "10,000": 10_000},
    answer=even,
    why="In each layer a token adds 2 · 3 · 64 values to the cache, and the matrices hold 9 · 64 · 64 values. So the matrices take less memory than the cache of a paragraph.",
    reveals=widgets.bytes_explorer(models, lengths),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Of the five memories in the picture, only the window and the matrix stop growing. The window forgets old positions; the matrix loses values when similar keys are written.
# - In DeepSeek-V2, separate keys and values for 128 heads would take 57<!--[[2 * 128 * 128 / 576:.0f]]--> times as much memory as the latent vector. Its cache still grows with every token, and after about 3,600<!--[[round(128 * 128**2 / 576, -2):,.0f]]--> tokens it holds more values than one matrix per head would.
# - We invented two rows. SmolLM2 has no latent vector; the one in the picture is 4.5 times as wide as a head, as in DeepSeek-V2. The heads of DeepSeek-V2 do not share 8 heads of keys and values.
# - All figures are for half precision. Our module keeps $S$ in single precision, which takes twice as much.
# </details>
#
# > **Ask yourself.** A model reads a telephone book of 10,000 entries, and then you ask for one number. Which of these memories still hold it?
#
# <details><summary><b>Answer</b></summary>
#
# A full cache does, and so does a cache with shared heads or latent vectors. A window has dropped the entry unless it was near the end. One matrix with 64 rows holds at most 64 values without interference. A model has hundreds of matrices, but among pretrained models Jelassi et al. (2024) found Transformers far better than Mamba at such retrieval.
# Many models mix both kinds of layer: Jamba (2024) has attention in some layers, and Qwen3-Next (2025) has one layer of attention for every three of Gated DeltaNet. Which mixture is best is not settled. MiniMax-M1 (2025) is mostly linear attention, and its successor M2 returned to full attention.
# </details>
#
# **With the sizes of SmolLM2, one matrix per head takes less memory than the cache of a paragraph<!--[[? even < 200]]-->, and the matrix does not grow. But the number of values that it can hold without interference does not grow either.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room compute 9 · 64 · 64 / (2 · 3 · 64) before the vote. What goes wrong: "smaller" is heard as "worse". Ask what the task has to retrieve.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write an update of your own. Can you keep B's value when A is overwritten at an angle of 60°? (You may change the key that you write with.)


# %% slideshow={"slide_type": "fragment"}
def my_update(S, k, v, a, b):
    """The next S. Change this: here nothing is ever erased."""
    return a * S + torch.outer(k, v)


widgets.matrix_playground(
    lambda S, k, v, a, b: update(S, k, v, a, b), values, writes=3, yours=my_update
).opens(angle=60, erase=1.0)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. If both keys are known in advance, you can write along the direction orthogonal to B. What goes wrong: this needs all keys in advance, and a memory does not have them. It is the pseudoinverse, computed in one call instead of step by step.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`memory.ipynb`](../exercises/memory/memory.ipynb) you write this memory for many texts at once, in chunks, and train a small model with it.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. You write $v$ under $k$ with $b = w = 1$, and $k$ has length 2. What do you read under $k$?
# <details><summary>Answer</summary>$4v - 3kS$ instead of $v$, because $k k^\top = 4$. It erases the stored value four times and writes $v$ four times. That is why keys are normalised.</details>
#
# 2. Which choice of $a_t$, $b_t$, $w_t$ makes the memory forget everything in one step?
# <details><summary>Answer</summary>$a_t = 0$: the old matrix is multiplied by zero. $b_t = 1$ deletes only what is stored in the direction of one key.</details>
#
# 3. Why does the chunked form need a triangular system only if $b_t \ne 0$?
# <details><summary>Answer</summary>Without erasing, the vector that is written depends only on the token. With erasing it also depends on the vectors that earlier positions of the chunk have written.</details>
#
# 4. Why does each text also contain keys that are written only once?
# <details><summary>Answer</summary>A model that cannot store at all would fail on keys written twice as well. The control shows that storing works, so the failure concerns overwriting.</details>
#
# 5. Two models differ by 40 points after 800 steps. What do you do before you report it?
# <details><summary>Answer</summary>Tune the learning rate of each until both a lower and a higher rate do worse, train until the difference stops changing, and pair the seeds.</details>
#
# 6. A chunk of the full length costs $2 n^2 d$ multiply-adds. Which older method has this cost?
# <details><summary>Answer</summary>Attention: it also scores all pairs of positions, and then takes a softmax.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 4. What goes wrong: they say "to be fair". It shows which of two abilities fails.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The answer
#
# **A memory of fixed size can be written, read and corrected, and trained in parallel within chunks.** The delta rule corrects, because it adds only the difference between the new and the stored value. The price is capacity: a matrix holds at most $d_k$ values without interference, and a cache holds every token. Models that mix layers of attention and matrix memories (**hybrids**) are in use, but we did not train one.

# %% [markdown] slideshow={"slide_type": "notes"}
# *2 minutes. Return to the question of the first screen. What goes wrong: "linear attention has won" or "has failed". The published models of 2025 disagree.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $S_t$ | $W_t$, $S_t^\top$, $h_t$ | the matrix; in papers that write columns it is transposed |
# | $a_t$ | $\gamma$, $\alpha_t$, $\bar A_t$ | the decay of everything |
# | $b_t$ | $\beta_t$ | how much is erased under the key |
# | $w_t$ | $\beta_t$, $\Delta_t$ | how strongly a value is written |
# | $q$, $k$, $v$ | $C$, $B$, $x$ (Mamba-2) | query, key and value |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: Mamba-2's $B$ is a key and its $C$ a query, which is easy to mix up.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **delta rule**: an update that writes the difference between a new value and the value already stored under its key.
# - **retention**: linear attention in which everything stored decays by a constant factor per head.
# - **state-space model**: a recurrent layer with a linear update of its state; in Mamba the update depends on the token.
# - **selective scan**: a recurrence whose decay and strength of writing are computed from each token, without erasing.
# - **DeltaNet**: a network whose layers store keys and values in a matrix by the delta rule.
# - **Gated DeltaNet**: a DeltaNet in which each token also chooses a decay of the whole matrix.
# - **chunk**: a stretch of positions that is computed in parallel, between two values of a recurrent state.
# - **hybrid**: a model in which some layers have attention and the others a recurrent memory.
# - **latent cache**: a cache of one short vector per token and layer, from which all heads compute their keys and values.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Widrow & Hoff (1960), Adaptive switching circuits. Hochreiter & Schmidhuber (1997), Long short-term memory. Katharopoulos et al. (2020), Transformers are RNNs. Schlag, Irie & Schmidhuber (2021), Linear Transformers are secretly fast weight programmers. Sun et al. (2023), Retentive network. Gu & Dao (2023), Mamba. Dao & Gu (2024), Transformers are SSMs (Mamba-2). Yang, Wang, Zhang, Shen & Kim (2024), Parallelizing linear Transformers with the delta rule.
# Yang, Kautz & Hatamizadeh (2025), Gated delta networks. DeepSeek-AI (2024), DeepSeek-V2. Lieber et al. (2024), Jamba. Jelassi et al. (2024), Repeat after me: Transformers are better than state space models at copying. Raschka (2025), Beyond standard LLMs (Qwen3-Next, MiniMax-M1 and M2).
