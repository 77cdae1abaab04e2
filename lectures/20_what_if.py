# %% [markdown] slideshow={"slide_type": "slide"}
# # What if…?
#
# **What holds a deep stack up?** A Transformer has attention, feed-forward networks, skip connections, norms and positional encodings, in a certain order. We remove or move each of them, and each time we ask two questions. Does the stack
# still tell its tokens apart, and can it still be trained? The literature has an experiment for each part. We repeat them at our scale, compare with the papers' claims, and say where our training runs are too short to decide.
#
# <img src="figures/parts_with_questions.svg" width="620" alt="A Transformer block; every part has a question: what if there is no attention, no network, no skip, another order, no position, a hundred layers?">
#
# *A block, and the questions of this lecture. A table near the end answers them.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - tell removing a part from a trained model from training without it;
# - say what rank collapse is, measure it, and say when the bound on it is useful;
# - name three replacements for attention, and say what each can and cannot do;
# - test whether an architecture that was found by search is better or only lucky;
# - explain how DeepNorm changes post-norm, and say what a short training run can show about it;
# - say what deeper, wider and shared layers cost in parameters and in operations.
#
# **You need** [lecture 15](15_transformer_language_model.ipynb) (block, residual pathway, pre-norm and post-norm), [lecture 13](13_self_attention.ipynb) (ablation) and [lecture 19](19_do_modifications_transfer.ipynb) (baseline, p value, seeds).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 11 | 7 | 10 | 10 | 7 | 10 | 8 |
#
# The minutes are for a class. If you work alone, with all widgets, plan about two hours. Every cell runs in a few seconds on a laptop, without a network connection. The results of training are stored, each with the command that repeats it. A table at the end translates the papers' terms.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 6 and 8. Sections 2 and 3 belong together: a theorem, and real models. Section 5 needs ten minutes in any case.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
import re
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise, zip_longest
from statistics import fmean, stdev

import numpy as np
import torch
from IPython.display import HTML
from torch.nn import functional as F

from lectures import show, stored, widgets
from lectures.recipes import stacks, very_deep, without_attention
from lectures.recipes.narang import THEIRS
from nlmcore.inspect import pathway
from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import against, holm, paired, rank_correlation, summary
from nlmcore.pretrained import minilm, smollm2
from nlmcore.transformer import PostNorm

torch.set_num_threads(1)  # these models are so small that one core is fastest


def folded(*lines):
    """Findings that were computed, below each other; they may give an answer away."""
    found = "".join(show.said(re.sub(r"(?<=[\^ (])-(?=\d)", "−", line)) for line in lines)
    return HTML(f"<details><summary><b>The measurements</b></summary>{found}</details>")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Take a part away
#
# The quickest experiment is an ablation. We take SmolLM2-135M-Instruct (30 layers, pre-norm, weights stored in 4 or 8 bits) and remove one kind of part from *all* layers. A **skip connection** is the first $x$ of the sum in
# $x \leftarrow x + f(\mathrm{norm}(x))$.
#
# - without attention: the attention sublayer leaves $x$ unchanged;
# - without networks: the feed-forward sublayer leaves $x$ unchanged (in this lecture *network* always means the feed-forward network);
# - without skips: $x \leftarrow f(\mathrm{norm}(x))$ in both sublayers.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
@contextmanager
def without(model, *parts):
    """Meanwhile no layer of the model has these parts: attention, networks, skips."""
    rules = [
        (rule, name)
        for layer in model.layers
        for rule, name in (
            (layer.residual_attention, "attention"),
            (layer.residual_feed_forward, "networks"),
        )
    ]
    hooks = []
    for rule, name in rules:
        if name in parts:
            hooks.append(rule.register_forward_hook(keep_the_pathway))
        elif "skips" in parts:
            hooks.append(rule.register_forward_hook(drop_the_pathway))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def keep_the_pathway(rule, args, result):
    """A rule that is called with x and y gives x; with x alone it says what the sublayer reads."""
    return args[0] if len(args) == 2 else result


def drop_the_pathway(rule, args, result):
    if len(args) == 1:
        return result
    return rule.norm(args[1]) if isinstance(rule, PostNorm) else args[1]


REMOVED = {
    "as trained": (),
    "no attention": ("attention",),
    "no networks": ("networks",),
    "no skips": ("skips",),
    "no skips, no networks": ("skips", "networks"),
}
text = "The time is out of joint: O cursed spite, that ever I was born to set it right! The library closes at nine on weekdays, so we must return the books before dinner."
writer, bytepairs = smollm2()
reader, wordpieces = minilm()


@torch.no_grad()
def states(model, tokens, parts, *mask):
    """The vectors (token, d_model) before the first layer and after every layer, and the logits."""
    with without(model, *parts), pathway(model) as branches:
        found = model(tokens, *mask)
    return [branches[0].x[0]] + [branch.result[0] for branch in branches[1::2]], found


tokens = {
    "SmolLM2": (writer, torch.tensor([bytepairs.encode(text)])),
    "MiniLM": (reader, torch.tensor([wordpieces.encode(text)])),
}
seen = {
    name: {what: states(model, ids, parts) for what, parts in REMOVED.items()}
    for name, (model, ids) in tokens.items()
}
ids = tokens["SmolLM2"][1][0]
losses = {
    what: float(F.cross_entropy(found[1][0][0, :-1], ids[1:]))
    for what, found in seen["SmolLM2"].items()
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ends = ["embedding", "final norm", "unembedding"]
attention_branch = ["causal attention norm", "causal attention"]
network_branch = ["network norm", "network"]
left = {
    "as trained": ((), "Each sublayer reads the pathway and adds its output to it."),
    "no attention": (
        [*ends, *network_branch, "network plus"],
        "No information moves between positions. Each token is processed by itself.",
    ),
    "no networks": (
        [*ends, *attention_branch, "causal attention plus"],
        "Only attention is left, and its output is still added.",
    ),
    "no skips": (
        [*ends, *attention_branch, *network_branch],
        "Nothing is added. The output of each sublayer replaces the pathway.",
    ),
    "no skips, no networks": (
        [*ends, *attention_branch],
        "Nothing but attention, layer upon layer. Sections 2 and 3 are about this stack.",
    ),
}
widgets.architecture_parts(writer, left, "what is taken away")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
three = ["no attention", "no networks", "no skips"]
guessing = math.log(writer.vocab_size)
told = [(what, f"{losses[what]:.1f}") for what in ("as trained", *three)]
told.append((f"guessing ({writer.vocab_size:,} tokens, equally likely)", f"{guessing:.1f}"))
losses_told = show.table(told, ["", "Nats per token"])
show.predict(
    "We remove one kind of part from all 30 layers of SmolLM2 and let it predict two sentences. Put the three removals in the order of the resulting loss, lowest first.",
    order=three,
    answer=sorted(three, key=losses.get),
    why="Without feed-forward networks the model is far worse than a uniform guess. It is confident in wrong tokens.",
    reveals=losses_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Two different questions.** "What if I remove it now?" asks what a trained model relies on. "What if it had never been there?" requires training a new model. Sections 4 to 8 train new models.
# - One text and one model illustrate the method, but do not rank the parts by importance.
# </details>
#
# **Removing a part from a trained model shows what this model relies on, not what a Transformer needs.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Collect orders by show of hands, and ask for a reason for each. What goes wrong: students read the losses as importance. Ask what would happen after a thousand further training steps without the part.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Without networks and skips: the tokens become one
#
# Every row of attention's output is a weighted mean of the same vectors. Averages differ less from one another than the vectors they average. Dong, Cordonnier & Loukas (2021) ask what is left after many layers of nothing but attention.
#
# The **residual of a matrix** is its difference from a matrix whose rows are all the same. With $\bar x$ the mean of the rows of $X$,
#
# $$\mathrm{res}(X) = X - \mathbf 1 \bar x^{\top}, \qquad \lVert R \rVert_{1,\infty} = \sqrt{\lVert R \rVert_1 \, \lVert R \rVert_\infty} ,$$
#
# where $\lVert R \rVert_1$ is the largest sum of absolute values in a column and $\lVert R \rVert_\infty$ the largest in a row; the square root of their product is the **composite norm**. When the residual is 0, all tokens have the same vector and $X$ has rank 1: **rank collapse**.
# Let $W_{QK} = W_Q W_K^{\top}$ and $W_{VO} = W_V W_O$ in each head. For $L$ layers of nothing but attention with $H$ heads, they prove a bound on the composite norm of the residual:
#
# $$\lVert \mathrm{res}(X_L) \rVert \le \left( \frac{4 \beta H}{\sqrt{d_{\mathrm{head}}}} \right)^{(3^L - 1)/2} \lVert \mathrm{res}(X) \rVert^{3^L}, \qquad \lVert W_{QK} \rVert_1 \lVert W_{VO} \rVert_{1,\infty} \le \beta \text{ in all heads.}$$

# %% [markdown] slideshow={"slide_type": "skip"}
# The exponent triples with every layer, so the bound falls *doubly exponentially*. **Why three?** Write $X = \mathbf 1 \bar x^{\top} + R$, the sum of a common part and a residual. The scores $X W_{QK} X^{\top}$ have four summands. A summand that is the same for all keys cancels in the softmax, and one that is the same for all
# queries gives every row the same weights. Only $R\, W_{QK} R^{\top}$ makes the rows of weights differ from each other, by an amount of the order of $R^2$. The vectors that these weights average differ by $R$. So after the layer the differences are of the order of $R^3$, and the next layer cubes them again.

# %% [markdown] slideshow={"slide_type": "fragment"}
# But look at the base, $4 \beta H / \sqrt{d_{\mathrm{head}}}$. The bound says something only if the base is below 1 (for a residual of 1), and that needs **small weights**.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
base = 0.9
bounds = {L: base ** ((3**L - 1) // 2) for L in range(1, 8)}
below_limit = next(L for L, value in bounds.items() if value < 1e-5)
told = [(L, np.format_float_positional(bounds[L], 2, fractional=False)) for L in range(1, 6)]
bounds_told = show.table(told, ["Layers", "Residual at most"])
show.predict(
    "Let the base be 0.9 and the first residual 1. After how many layers does the bound fall below 0.00001?",
    choices={"5": 5, "20": 20, "40": 40, "110": 110},
    answer=below_limit,
    why="The exponent is 1, 4, 13, 40, 121. A factor of 0.9 per layer would need 110 layers.",
    reveals=bounds_told,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now we measure the residual. The weights of every head are random. Their variance is $s^2$ divided by the number of inputs. You choose the size $s$; 1 is usual. The rows of $X$ have a length of about 1. After a norm they would be $\sqrt d$ long; the measurements below the next prediction say what that changes. The residual divided by the size of $X$ (its composite norm) says how much of $X$ is residual.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
from nlmcore.attention import attend, causal_mask


def norm(X):
    """‖X‖ of the matrices X (…, token, d_model)."""
    return (X.abs().sum(-2).amax(-1) * X.abs().sum(-1).amax(-1)).sqrt()


def residual(X):
    return norm(X - X.mean(-2, keepdim=True))


def layer(X, QK, VO, W1, W2, skips, networks, mask=None):
    """QK, VO (…, head, d_model, d_model)."""
    one = X.unsqueeze(-3)  # the same for every head
    heads, _ = attend(one @ QK @ one.mT / math.sqrt(D_HEAD), one @ VO, mask)
    X = heads.sum(-3) + (X if skips else 0)
    if networks:
        X = F.relu(X @ W1) @ W2 + (X if skips else 0)
    return X


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
DEPTH, WIDTH, D_HEAD, TOKENS, SEEDS = 8, 32, 8, 16, 5


@lru_cache
def first_weights(heads):
    """X, and for every layer QK, VO, W1, W2 of size 1, all with the seeds first; in double precision."""
    generator = torch.Generator().manual_seed(0)

    def sample(*shape, inputs):
        return torch.randn(SEEDS, *shape, generator=generator, dtype=torch.float64) / math.sqrt(
            inputs
        )

    X = sample(TOKENS, WIDTH, inputs=WIDTH)
    layers = []
    for _ in range(DEPTH):
        q, k, v = (sample(heads, WIDTH, D_HEAD, inputs=WIDTH) for _ in range(3))
        out = sample(heads, D_HEAD, WIDTH, inputs=heads * D_HEAD)
        W1, W2 = (
            sample(WIDTH, 4 * WIDTH, inputs=WIDTH / 2),
            sample(4 * WIDTH, WIDTH, inputs=4 * WIDTH),
        )
        layers.append((q @ k.mT, v @ out, W1, W2))
    return X, layers


def trace(size, heads, skips, networks, causal):
    X, layers = first_weights(heads)
    found, mask = [X], causal_mask(TOKENS) if causal else None
    for QK, VO, W1, W2 in layers:
        weights = size**2 * QK, size**2 * VO, size * W1, size * W2
        found.append(layer(found[-1], *weights, skips, networks, mask))
    return found


def bound(size, heads):
    """log₁₀ of the bound, by seed and layer."""
    X, layers = first_weights(heads)
    beta = size**4 * torch.stack(
        [(QK.abs().sum(-2).amax(-1) * norm(VO)).amax(-1) for QK, VO, _, _ in layers]
    ).amax(0)
    factor, first = (4 * beta * heads / math.sqrt(D_HEAD)).log10(), residual(X).log10()
    return torch.stack(
        [(3**L - 1) / 2 * factor + 3**L * first for L in range(DEPTH + 1)], -1
    ).tolist()


def relative(size, skips=False, networks=False, causal=False):
    """log₁₀ of the residual over the size of X with one head, the mean of the seeds, by layer."""
    found = trace(size, 1, skips, networks, causal)
    return [float((residual(X) / norm(X)).clamp(min=1e-24).log10().mean()) for X in found]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
alone, with_networks = relative(1.0), relative(1.0, networks=True)
with_skips = relative(1.0, skips=True)
small = {size: fmean(row[3] for row in bound(size, 1)) for size in (0.1, 1.0)}
only_values = [first_weights(1)[0]]
for _, VO, _, _ in first_weights(1)[1]:
    only_values.append(only_values[-1] @ VO.squeeze(-3))
unmixed = float((residual(only_values[-1]) / norm(only_values[-1])).mean())
kept = relative(4.0, skips=True)
long_rows = first_weights(1)[0] * math.sqrt(WIDTH)  # as after a norm
for weights in first_weights(1)[1][:2]:
    long_rows = layer(long_rows, *weights, False, False)
long_left = float((residual(long_rows) / norm(long_rows)).log10().mean())
stretched = relative(2.0)[2], relative(2.0, networks=True)[2]
slower = [
    size
    for size in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
    if relative(size, networks=True)[2] > relative(size)[2] + 1
]  # sizes at which networks alone slow the collapse by more than a factor of ten; after two layers, before rounding decides
show.predict(
    f"With one head and initial weights of size 1, attention only leaves a residual after two layers that is {10 ** -alone[2] / 1e6:.0f} million times smaller than X. Add a feed-forward network after every attention sublayer, without skips. How many times as large is the residual then?",
    choices={
        "about as large": 1.0,
        "about 100 times": 100.0,
        "about 10,000 times": 1e4,
        "about ten million times": 1e7,
    },
    answer=10 ** (with_networks[2] - alone[2]),
    why="A network maps equal vectors to equal vectors, so it cannot separate tokens that attention has made equal. It can only stretch what is left of a difference. Skips keep the difference itself.",
    reveals=widgets.collapse_playground(
        residual, trace, bound, norm, sizes=(0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
    ),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
folded(
    f"With attention only, at size 1, the residual divided by the size of X after 1, 2, 3 layers is {show.scientific(alone[1])}, {show.scientific(alone[2])}, {show.scientific(alone[3])}. The exponent grows severalfold from layer to layer, until the residual reaches the limit of double precision, about 10⁻¹⁶.",
    f"The bound after 3 layers is {show.scientific(small[0.1])} at size 0.1, but {show.scientific(small[1.0])} at size 1. At size 1 the bound allows anything, yet the residual still collapses. A vacuous bound is not evidence against collapse.",
    f"With skips, {show.scientific(with_skips[-1])} of X is residual after {DEPTH} layers at size 1, but only {show.scientific(kept[-1])} at size 4. The differences survive, but the part common to all tokens outgrows them.",
    f"With networks but without skips, the residual after 2 layers is {show.scientific(with_networks[2])} of X instead of {show.scientific(alone[2])} at size 1, and {show.scientific(stretched[1])} instead of {show.scientific(stretched[0])} at size 2.",
    f"With rows as long as after a norm, the residual after 2 layers is {show.scientific(long_left)} of X instead of {show.scientific(alone[2])}. The scores differ more, so already in the first layer attention is not close to a plain mean.",
    f"Could the value matrices bring the tokens together, rather than the averaging? If every token reads only itself, {unmixed:.2f} of X is residual after {DEPTH} layers. So it is the averaging that collapses them.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Tick *networks* without *skips*, then *skips* without *networks*. The paper says that skips prevent the collapse and networks slow it. Of the six sizes here, networks clearly slow it only at size 2<!--[[? slower == [2.0]]]-->. At size 4 the collapse is even faster with them<!--[[? relative(4.0, networks=True)[2] < relative(4.0)[2] - 3]]-->. Skips help at every size<!--[[? all(relative(size, skips=True)[-1] > relative(size)[-1] + 3 for size in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0))]]-->.
# - Without a causal mask, small weights make the tokens collapse *faster*. The scores are nearly equal, so every row is nearly the plain mean.
# </details>
#
# **Attention averages, and without skips the averages soon no longer differ.** At size 1 skips prevent most of this, and networks do not.

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - Choose *residual ÷ size of X*. With skips and large weights the residual stays, and yet all tokens come to look alike, because the part that they share outgrows their differences. "Prevents" is too strong for stacks of this kind. A norm in each sublayer, as in real models, is not in this picture.
# - Some slides quote this result as "attention without feed-forward networks". Dong et al. removed the skips as well.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Derive on the board that a row-stochastic matrix brings rows together. Let the room choose sizes, first for attention only. What goes wrong: students believe that the bound causes the collapse. It is an upper limit; at size 1 it is astronomically large and true.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Rank in trained models
#
# So far the weights were random. SmolLM2 is trained, causal and pre-norm; MiniLM is trained, attends in both directions and is post-norm. We measure $\lVert \mathrm{res}(X) \rVert / \lVert X \rVert$ after every layer, as trained and with the parts of section 1 removed. We leave out SmolLM2's first token, because its vector grows to many times the size of the others<!--[[? float(seen["SmolLM2"]["as trained"][0][15][0].norm()) > 10 * float(seen["SmolLM2"]["as trained"][0][15][1:].norm(dim=-1).median())]]-->.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
residuals = {
    name: {
        what: [float(residual(x[skip:].double()) / norm(x[skip:].double())) for x in of[0]]
        for what, of in by.items()
        if what != "no attention"
    }
    for (name, by), skip in zip(seen.items(), (1, 0), strict=True)
}
cut = residuals["SmolLM2"]["no skips"]
show.predict(
    "SmolLM2 keeps its networks and norms, but loses its skips. How much of X is residual after 30 layers?",
    choices={
        "about 0.4, as with skips": 0.4,
        "about 0.01": 0.01,
        "about 0.00001": 1e-5,
        "exactly 0": 1e-12,
    },
    answer=cut[-1],
    why="On the logarithmic axis the residual falls roughly along a straight line. The fall is exponential, not doubly exponential.",
    reveals=widgets.removal_explorer(residuals, losses),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why a line, and not a cliff?** Among other things, SmolLM2 has a norm before every sublayer and a causal mask, and the theorem has neither. Here is random attention at size 1 with neither, with each, and with both. The values are the base-10 logarithms of the residual divided by the size of X, layer by layer:


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def decline(normed, causal):
    """log₁₀ of the residual over the size of X after every layer; attention only, one head."""
    X, layers = first_weights(1)
    mask, found = causal_mask(TOKENS) if causal else None, []
    for weights in layers:
        read = F.layer_norm(X, X.shape[-1:]) if normed else X
        X = layer(read, *weights, skips=False, networks=False, mask=mask)
        found.append(float((residual(X) / norm(X)).log10().mean()))
    return found


for normed, causal in ((False, False), (True, False), (False, True), (True, True)):
    told = "".join(f"{value:7.1f}" for value in decline(normed, causal))
    print(f"{'norm' if normed else '':5}{'mask' if causal else '':5}{told}")
masked = decline(False, True)
per_layer = 10 ** ((masked[0] - masked[-1]) / (len(masked) - 1))

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Does the mask matter in the trained models too?** We leave out the skips, remove SmolLM2's mask, and give a mask to MiniLM:


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from nlmcore.attention import two_way


class BothWays(torch.nn.Module):
    """The causal attention of a layer, without its mask."""

    def __init__(self, attention):
        super().__init__()
        self.attention = two_way(attention)

    def forward(self, x, state=None):
        return self.attention(x), state


def falls(name, skip, *mask):
    """log₁₀ of the residual over the size of X after every layer, without skips."""
    model, ids = tokens[name]
    found = [x[skip:].double() for x in states(model, ids, ("skips",), *mask)[0]]
    return [float((residual(x) / norm(x)).log10()) for x in found]


by_mask = {
    ("SmolLM2", "with its mask"): falls("SmolLM2", 1),
    ("MiniLM", "without a mask"): falls("MiniLM", 0),
    ("MiniLM", "with a mask"): falls(
        "MiniLM", 0, causal_mask(tokens["MiniLM"][1].shape[1])[None]
    ),
}
kept_attention = [layer.attention for layer in writer.layers]
for block in writer.layers:
    block.attention = BothWays(block.attention)
by_mask["SmolLM2", "without its mask"] = falls("SmolLM2", 1)
for block, attention in zip(writer.layers, kept_attention, strict=True):
    block.attention = attention
unmasked = by_mask["SmolLM2", "without its mask"]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_layer = [[f"{x:.1f}" for x in by_mask[key][1:11]] for key in sorted(by_mask)]
told = zip_longest(range(1, 11), *by_layer, fillvalue="")
show.table(told, ["Base-10 logarithm after layer", *map(", ".join, sorted(by_mask))])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **In both trained models the mask slows the collapse.** After six layers MiniLM keeps 0.33<!--[[10 ** by_mask["MiniLM", "with a mask"][-1]:.2f]]--> of X with a mask; without one the residual is at the limit of single precision, near $10^{-7}$<!--[[? by_mask["MiniLM", "without a mask"][-1] < -6]]-->. After ten layers SmolLM2 keeps 0.03<!--[[10 ** by_mask["SmolLM2", "with its mask"][10]:.2f]]--> with its mask, and 0.00001<!--[[10 ** unmasked[10]:.5f]]--> without.
# - **But the mask does not explain SmolLM2's line.** Without the mask the residual falls faster, and yet not off a cliff: the decline does not steepen<!--[[? unmasked[0] - unmasked[5] > unmasked[5] - unmasked[10]]]-->. We do not know why it does not.
# </details>
#
# **Without their skips both trained models collapse as well, and a causal mask slows the collapse.** But the mask does not explain why SmolLM2's collapse is only exponential, because without the mask the decline does not steepen either.

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - **In random stacks of size 1 the mask makes the difference.** With only a norm the decline is delayed by two layers and then about as steep<!--[[? all(abs(decline(True, False)[i + 2] - decline(False, False)[i]) < 1.2 for i in range(3))]]-->. With a causal mask the residual falls by a factor of about 1.6<!--[[per_layer:.1f]]--> per layer (SmolLM2's without skips: 1.5<!--[[(cut[0] / cut[-1]) ** (1 / 30):.1f]]-->). The first token sees only itself, the second sees two, so the means are over *different* sets of tokens.
#   Wu et al. (2024) prove that masked attention collapses exponentially, as we see here. With weights of size 2 the masked stack collapses much further, to less than $10^{-12}$ of X after eight layers<!--[[? relative(2.0, causal=True)[-1] < -12]]-->.
# - As trained, both models keep their tokens apart to the end. In SmolLM2 the residual falls from 0.93<!--[[residuals["SmolLM2"]["as trained"][0]:.2f]]--> to 0.41<!--[[residuals["SmolLM2"]["as trained"][-1]:.2f]]--> of X.
# - **SmolLM2 without networks** keeps its skips, but its residual falls from 0.93<!--[[residuals["SmolLM2"]["no networks"][0]:.2f]]--> to 0.08<!--[[residuals["SmolLM2"]["no networks"][-1]:.2f]]-->, most of it in the first five layers<!--[[? residuals["SmolLM2"]["no networks"][5] < 0.5 * residuals["SmolLM2"]["no networks"][0]]]-->. Yet the differences between the tokens grow<!--[[? (lambda x: float(residual(x[-1][1:])) > 10 * float(residual(x[0][1:])))(seen["SmolLM2"]["no networks"][0])]]-->. The part that all tokens share grows faster, so the tokens become more alike.
# - **MiniLM without skips** does fall off a cliff. From layer 2 to layer 5 the decline of its residual steepens<!--[[? (lambda x: x[2] - x[3] < x[3] - x[4] < x[4] - x[5])(by_mask["MiniLM", "without a mask"])]]-->.
# - The results from trained models are ablations on one text.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask for the shape of the line before you show it: straight or bent? What goes wrong: "rank 1" is taken literally. A residual of $10^{-6}$ is not zero, so the matrix is only close to one of rank 1; in single precision little is left of the differences.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Without attention
#
# Attention is the only part of a Transformer that moves information from one position to another: it **mixes positions**. Its weights depend on the words. What if they did not?
#
# | | output at position $t$ | weights | trained |
# |---|---|---|---|
# | **Fourier mixing** (FNet, Lee-Thorp et al. 2022) | $\mathrm{Re} \sum_s e^{-2\pi i\, s t / n} \, \hat x_s$, where $\hat x_s$ is the Fourier transform of $x_s$ along its features | fixed | nothing |
# | **Token mixing** (MLP-Mixer, Tolstikhin et al. 2021) | $W_2\, \mathrm{GELU}(W_1 x)$ over positions, for every feature | fixed after training | $W_1, W_2$ |
# | linear mixing | $\sum_s M_{ts} x_s$ | fixed after training | $M$ |
# | attention | $\sum_s \alpha_{ts} x_s W_{VO}$ | depend on the words | $W_Q, W_K, W_V, W_O$ |

# %% slideshow={"slide_type": "fragment"}
x = torch.randn(1, 8, 4)  # (batch, time, d_model)
fnet = torch.fft.fft2(x).real  # the whole sublayer of FNet
print("parameters: 0; output", tuple(fnet.shape))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
WORDS = {
    "the first": ["the", "dog", "saw", "a", "cat", "in", "the", "park"],
    "the second": ["my", "old", "clock", "fell", "off", "that", "blue", "wall"],
}


def dependence(part, x):
    """(output position, input position): the size of the derivative, the largest is 1."""
    jacobian = torch.autograd.functional.jacobian(lambda x: part(x[None])[0], x)
    sizes = jacobian.square().sum((1, 3)).sqrt()
    return (sizes / sizes.max()).numpy()


def mixing_parts():
    """The mixing sublayers of the stored trainings, before training, for eight positions."""
    torch.manual_seed(0)
    for row in ("attention", "FNet", "MLP-Mixer", "linear mixing"):
        c = without_attention.config(row, 8)
        part = c.attention(c, False)
        for weight in part.parameters():
            if row == "attention" and weight.ndim == 2:
                torch.nn.init.normal_(weight, std=2 / math.sqrt(c.d_model))
        yield row, part


draw = torch.Generator().manual_seed(0)
vocabulary = {
    word: torch.randn(without_attention.WIDTH, generator=draw)
    for words in WORDS.values()
    for word in words
}
maps = {
    row: {
        name: dependence(part, torch.stack([vocabulary[word] for word in words]))
        for name, words in WORDS.items()
    }
    for row, part in mixing_parts()
}
widgets.mixing_player(maps, WORDS)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Each map shows how strongly every output depends on every input. Attention's map changes with the words. Those of FNet and linear mixing do not change at all. MLP-Mixer's weights are fixed as well, but its GELU is not linear, so its map changes a little.

# %% [markdown] slideshow={"slide_type": "subslide"}
# We train seven encoders on two tasks. They differ only in the sublayer that mixes positions: the four kinds above, FNet with attention in its top layer, and two controls. In **letters**, one letter of a word is hidden, as in [lecture 14](14_positions.ipynb). In **digits**, the inputs are handwritten digits of 8 × 8 pixels, cut into 16 patches of 2 × 2; the mean of the final vectors is classified. All are trained for 250 steps with one learning rate, which was not tuned for any encoder; attention has the most parameters<!--[[? all(max(of, key=lambda row: of[row]["parameters"]) == "attention" for of in mixing["tasks"].values())]]-->.
# The controls are *random mixing*, a random matrix that is not trained, and *no mixing*, which processes every position by itself.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
mixing = stored("without_attention")
right = {
    task: {row: [100 * v for v in of["right"]] for row, of in by.items()}
    for task, by in mixing["tasks"].items()
}
means = {task: {row: fmean(values) for row, values in by.items()} for task, by in right.items()}
tests = {
    task: against(
        summary(by["attention"]), {row: summary(v) for row, v in by.items() if row != "attention"}
    )
    for task, by in right.items()
}


def judged(task):
    found = []
    for row, test in tests[task].items():
        word = (
            "unclear" if test.corrected >= 0.05 else "above" if test.difference > 0 else "below"
        )
        found.append(f"{row} {test.difference:+.1f} ± {test.half:.1f} ({word})")
    return f"{without_attention.TASKS[task]}, points compared with attention ({means[task]['attention']:.1f} %): {'; '.join(found)}"


beyond_none = against(
    summary(right["digits"]["no mixing"]),
    {row: summary(v) for row, v in right["digits"].items() if row != "no mixing"},
)
mixing_findings = [
    judged(task) + ". Five seeds; “above” and “below” are significant after Holm's correction."
    for task in right
]
show.predict(
    "Suppose that nothing mixes the patches of a digit. Every patch is processed by itself, with its position, and the sixteen final vectors are averaged. What percentage of new digits is classified correctly? (Guessing: 10 %.)",
    choices={"about 15 %": 15, "about 40 %": 40, "about 65 %": 65, "about 90 %": 90},
    answer=means["digits"]["no mixing"],
    unit=" %",
    why="Each patch votes, and its vector says where the patch is. Averaged votes get most digits right, so a high score alone does not show that mixing helps. Compare each kind of mixing with no mixing.",
    reveals=widgets.mixing_explorer(mixing, without_attention.TASKS),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
folded(*mixing_findings)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Letters**: attention (19.4<!--[[means["letters"]["attention"]:.1f]]--> %) and MLP-Mixer (19.0<!--[[means["letters"]["MLP-Mixer"]:.1f]]--> %) lead<!--[[? sorted(means["letters"], key=means["letters"].get)[-2:] == ["MLP-Mixer", "attention"]]]-->. FNet has 14.9<!--[[means["letters"]["FNet"]:.1f]]--> %.
# - **Digits**: every kind of mixing is ahead of attention (88.2<!--[[means["digits"]["attention"]:.1f]]--> %)<!--[[? min(means["digits"], key=means["digits"].get) == "attention" and all(t.corrected < 0.05 for row, t in tests["digits"].items() if row != "no mixing")]]-->, and we cannot tell attention from no mixing (89.0<!--[[means["digits"]["no mixing"]:.1f]]--> %)<!--[[? tests["digits"]["no mixing"].p > 0.3]]-->. We do not know why attention is behind.
# </details>
#
# **"Attention is all you need" and "attention is not needed" are both claims about a task.** Here, after 250 steps at an untuned rate, we cannot tell attention from no mixing on digits, and FNet is better than both. On hidden letters FNet stayed behind attention<!--[[? tests["digits"]["FNet"].difference > 0 and tests["letters"]["FNet"].difference < 0 and max(tests[task]["FNet"].corrected for task in tests) < 0.05 and beyond_none["FNet"].corrected < 0.05]]-->.

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - A random matrix that is never trained has 14.6<!--[[means["letters"]["random mixing"]:.1f]]--> %, and no mixing 13.1<!--[[means["letters"]["no mixing"]:.1f]]--> %. In the paper FNet is far above random mixing. Here we cannot tell the two apart<!--[[? against(summary(right["letters"]["FNet"]), {"random": summary(right["letters"]["random mixing"])})["random"].p > 0.3]]-->.
# - One layer of attention on top of FNet brings it to 18.3<!--[[means["letters"]["FNet, attention on top"]:.1f]]--> %. In the paper attention on top helps as well.
# - FNet and MLP-Mixer are ahead of *no mixing* as well<!--[[? {row for row, test in beyond_none.items() if test.corrected < 0.05} == {"FNet", "MLP-Mixer"}]]-->, by 4.4<!--[[beyond_none["FNet"].difference:.1f]]--> and 4.8<!--[[beyond_none["MLP-Mixer"].difference:.1f]]--> points. But *no mixing* may not have its best rate here, so this lead does not show that digits need mixing.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>What the papers say</b></summary>
#
# - **FNet** reaches 92<!--[[100 * 76.7 / 83.3:.0f]]--> % of BERT-base's mean over GLUE and, according to the abstract, trains 80 % faster on GPUs. The table below has the best of 3 to 6 runs of each pretrained model; the paper prints no deviations.
#
# | | BERT-base | FNet, two layers of attention on top | linear mixing | FNet | random mixing | no mixing |
# |---|---|---|---|---|---|---|
# | GLUE, mean | 83.3 | 80.6 | 77.0 | 76.7 | 56.6 | 49.3 |
#
# - **MLP-Mixer** reaches 87.94 % on ImageNet if it is pretrained on 300 million further images; the Vision Transformer has 88.55 %.
# - Trained on ImageNet alone, a Mixer of size B/16 has 76.44 % and the Vision Transformer 79.67 %. The authors say that it overfits more.
# - Neither can be a language model as it is, because both mix all positions, the future included. MLP-Mixer's weights belong to positions, so its texts cannot be longer than in training. FNet's mixing has no weights and works at any length.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Show attention's two maps first, then FNet's: this difference is the point of the section. Take guesses for the digits by show of hands. What goes wrong: "FNet is nearly as good" is said of the mean over GLUE. Ask on which task, and compared with which control.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Another order
#
# Write a stack as letters: s for self-attention, f for a feed-forward network. The plain order is `sfsfsf…`. Press, Smith & Levy (2020) trained 20 random orders of 16 s and 16 f, and then proposed the **sandwich order**: attention first, networks last,
#
# $$s^{k} \, (s f)^{n-k} \, f^{k} ,$$
#
# where $n$ is the number of s and also the number of f, $k$ of the s come first, and $k$ of the f come last.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
from nlmcore.variants.sandwich import order

print("plain   ", order(6, 0))
print("sandwich", order(6, 2))
print(f"{math.comb(32, 16):,} orders of 16 s and 16 f")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = {"20 random orders, one seed each": "random", "the plain order, five seeds": "plain"}
show.table(
    [(of, ", ".join(f"{v:.2f}" for v in sorted(stacks.THEIRS[key]))) for of, key in told.items()],
    ["Their trainings", "Perplexity on WikiText-103 (dev), sorted"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The best random order beats the best plain run. But it is the best of *twenty* tries, compared with the best of *five*.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def best_of(tries, mean, sd, games=20_000, seed=0):
    """The expected minimum of so many samples from a normal distribution."""
    return np.random.default_rng(seed).normal(mean, sd, (games, tries)).min(-1).mean()


plain = stacks.THEIRS["plain"]
print(f"five seeds: mean {fmean(plain):.2f}, standard deviation {stdev(plain):.2f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
expected = best_of(20, fmean(plain), stdev(plain))
show.predict(
    "Suppose that 20 seeds of the plain order are sampled from a normal distribution with this mean and standard deviation. What is the expected perplexity of the best of them? (Their best random order: 18.19.)",
    choices={"18.6": 18.6, "18.4": 18.4, "18.2": 18.2, "18.0": 18.0},
    answer=float(expected),
    why="On average the best of 20 is 1.87 standard deviations below the mean. So 20 seeds of the *plain* order would be expected to beat the best of 20 random orders, and their search shows no gain over luck. But the deviation comes from five runs only.",
    reveals=show.said(
        f"best of 5 on average {best_of(5, fmean(plain), stdev(plain)):.2f}; best of 20 {expected:.2f}; their best random order {min(stacks.THEIRS['random'])}"
    ),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The right question** is whether the best of 20 random orders remains better when you train it *again*, with fresh seeds. We trained 20 random orders of six s and six f with five seeds each (`python -m lectures.recipes.stacks`). The first seed plays the role of the search; the other four were not used to choose. All random orders have the learning rate that is best for the plain order.

# %% [markdown] slideshow={"slide_type": "skip"}
# Check first that the models use their context. If they did not, it would not matter where attention is. After 1,600<!--[[stacks.STEPS:,]]--> steps all of them are below the 2.50<!--[[floors[1]:.2f]]--> nats of a table of character pairs, counted on the text that they were trained on<!--[[? max(map(max, by_order.values())) < floors[1] - 0.2]]-->. If all characters but the current one come from another text, the plain order's loss rises by 1.14<!--[[context_cost:.2f]]--> nats. So context is used. But a table of five-character sequences reaches 1.76<!--[[min(floors):.2f]]-->, which is better than all of them<!--[[? min(map(min, by_order.values())) > min(floors)]]-->, so these trainings are still short.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
PLAIN, SANDWICH, STEPS, LONG = stacks.PLAIN, stacks.SANDWICH, stacks.STEPS, stacks.LONG
rate_of = {  # the best between two worse ones, for each length of the training
    (row, steps): stacks.rates_of(row, stacks.TUNED[row], steps)[1]
    for row in (PLAIN, SANDWICH)
    for steps in (STEPS, LONG)
}
SEARCHED = stacks.searched(rate_of[PLAIN, STEPS])


def losses_of(row, steps=STEPS, seeds=stacks.SEEDS, part="test"):
    """Nats per character, one for each seed."""
    rate = rate_of.get((row, steps), rate_of[PLAIN, steps])
    return stacks.losses(row, rate, seeds, steps, part)


by_order = {row: losses_of(row) for row in stacks.random_orders()}
plain_seeds = losses_of(PLAIN, seeds=stacks.PLAIN_SEEDS)
all_floors = stored("stacks/floors")
floors, floor_of_pairs = all_floors["n-grams"], all_floors["n-grams, windows of positions"][1]
context_cost = stacks.context_cost(PLAIN, rate_of[PLAIN, STEPS], "test")
widgets.search_playground(by_order, plain_seeds)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
same_seeds = plain_seeds[: stacks.SEEDS]
order_tests, _ = paired(same_seeds, by_order | {"sandwich": losses_of(SANDWICH)})
fresh_tests, _ = paired(same_seeds[1:], {row: of[1:] for row, of in by_order.items()})
retest = fresh_tests[SEARCHED]
better = [row for row, t in order_tests.items() if t.difference < 0 and t.corrected < 0.05]
better_on_dev = [
    row
    for row, test in paired(
        losses_of(PLAIN, part="dev"),
        {row: losses_of(row, part="dev") for row in by_order}
        | {"sandwich": losses_of(SANDWICH, part="dev")},
    )[0].items()
    if test.difference < 0 and test.corrected < 0.05
]
worse = [row for row, t in order_tests.items() if t.difference > 0 and t.corrected < 0.05]
place_of_s = {row: fmean(i for i, letter in enumerate(row) if letter == "s") for row in by_order}
low_s = rank_correlation([(place_of_s[row], fmean(of)) for row, of in by_order.items()])
gaps = {
    steps: [
        a - b for a, b in zip(losses_of(SANDWICH, steps), losses_of(PLAIN, steps), strict=True)
    ]
    for steps in (STEPS, LONG)
}
short_rate = stacks.losses(SANDWICH, rate_of[SANDWICH, STEPS], stacks.SEEDS, LONG, "test")
late_tests, _ = paired(
    losses_of(PLAIN, LONG),
    {
        "sandwich": losses_of(SANDWICH, LONG),
        SEARCHED: losses_of(SEARCHED, LONG),
        "sandwich, the rate of the short training": short_rate,
    },
)
late, mistuned = late_tests["sandwich"], late_tests["sandwich, the rate of the short training"]

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** After 1,600 steps the sandwich leads the plain order by 0.062<!--[[-fmean(gaps[STEPS]):.3f]]--> nats, each at its best learning rate. Train both three times as long, and choose the rates again. Does the lead grow, stay or shrink?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [(row, f"{of.difference:+.3f} ± {of.half:.3f}") for row, of in late_tests.items()]
show.table(told, [f"After {LONG:,} steps, five seeds", "Compared with the plain order, nats"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>How to read it, and what the paper adds</b></summary>
#
# - **The search found something here.** The order that it chose, ssfsfsfsfffs<!--[[SEARCHED]]-->, leads the plain order by 0.054<!--[[plain_seeds[0] - by_order[SEARCHED][0]:.3f]]--> with the seed of the search, and by 0.035<!--[[-retest.difference:.3f]]--> ± 0.016<!--[[retest.half:.3f]]--> with four fresh ones.
# - **Most of the lead disappears with longer training.** After 4,800 steps the sandwich leads by 0.019<!--[[-late.difference:.3f]]--> ± 0.013<!--[[late.half:.3f]]-->, in every seed<!--[[? max(gaps[STEPS] + gaps[LONG]) < 0]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - Corrected for 21<!--[[len(order_tests)]]--> tests, the sandwich and five<!--[[words(len(better) - 1)]]--> random orders are better than the plain order, and none is worse<!--[[? "sandwich" in better and not worse]]-->. On the dev plays four<!--[[words(len(better_on_dev) - 1)]]--> random orders are better.
# - **Attention near the input, networks near the output.** Among random orders, those with attention nearer the input have lower losses: ρ = 0.54<!--[[low_s["rho"]:.2f]]--> (95 % interval 0.14<!--[[low_s["low"]:.2f]]--> to 0.82<!--[[low_s["high"]:.2f]]-->). It is not a rule: two<!--[[words(sum(place_of_s[row] > 5 for row in better if row in place_of_s))]]--> of the better orders have attention further from the input than the plain order does. The authors saw the same tendency.
# - Five seeds cannot tell whether the search's choice is still ahead after 4,800 steps. It leads by 0.014<!--[[-late_tests[SEARCHED].difference:.3f]]--> on average, but is behind with two of the seeds<!--[[? sum(a > b for a, b in zip(losses_of(SEARCHED, LONG), losses_of(PLAIN, LONG), strict=True)) == 2]]-->.
# - **A mistake that we made.** At the learning rate that is best after 1,600 steps, the sandwich's lead after 4,800 seems to be gone: 0.000<!--[[abs(mistuned.difference):.3f]]--> ± 0.013<!--[[mistuned.half:.3f]]-->. The longer training needs half that rate<!--[[? rate_of[SANDWICH, STEPS] == 2 * rate_of[SANDWICH, LONG] and rate_of[PLAIN, STEPS] == rate_of[PLAIN, LONG]]]-->. The plain order's best rate stays the same. So choose the rate again for each length.
# - The authors of the sandwich saw that good orders have attention near the input and networks near the output, and tested this idea with new runs: test perplexity 17.96, where the baseline has 18.70. This is the right way to use a search, as the source of a hypothesis. On translation they report no gain.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Before the prediction, let every student write down a random number and announce the lowest: the winner has no talent. Then move the seed of the search. What goes wrong: students compare the search's winner with the plain order's mean; compare with the best of as many tries, or use fresh seeds.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Without positions
#
# [Lecture 14](14_positions.ipynb) showed that attention without positions and without a mask knows nothing about order. A causal language model without positions is different, because every token sees a different set of tokens. How many layers does it need to notice order?


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from nlmcore.positions import NoPositions, SinusoidalPositions
from nlmcore.transformer import TransformerEncoder, TransformerLM
from lectures.recipes import positions as positions_recipe
from dataclasses import replace


@lru_cache
@torch.no_grad()
def moved(layers, causal, with_positions, shuffles=8):
    """How far the last of 10 words' vectors moves, relative to its length, for shuffles of the words before it."""
    kind = SinusoidalPositions if with_positions else NoPositions
    c = replace(positions_recipe.config(20, 32, 10, kind, None), n_layers=layers)
    torch.manual_seed(0)
    model = (TransformerLM if causal else TransformerEncoder)(c).double()
    generator = torch.Generator().manual_seed(1)
    orders = [torch.arange(9), *(torch.randperm(9, generator=generator) for _ in range(shuffles))]
    texts = torch.stack([torch.cat([order + 4, torch.tensor([15])]) for order in orders])
    last = (model.hidden_states(texts)[0] if causal else model(texts))[:, -1]
    return ((last[1:] - last[0]).norm(dim=-1) / last[0].norm()).tolist()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
one_layer, two_layers = (fmean(moved(depth, True, False)) for depth in (1, 2))
show.predict(
    "A causal model without positions reads ten words; we shuffle the first nine. Does the vector of the last word change?",
    choices=[
        "not with one layer, but with two",
        "with one layer already",
        "not with any number of layers",
    ],
    answer="not with one layer, but with two"
    if one_layer < 1e-6 < two_layers
    else "with one layer already"
    if one_layer >= 1e-6
    else "not with any number of layers",
    why="In one layer, the last word reads all words as a set. But the *other* words see different sets when they are shuffled, so their vectors change, and the second layer reads these.",
    reveals=widgets.last_word_playground(moved).opens(mask="causal"),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
told = stored("positions")
letters = {row: 100 * fmean(of["ours"]) for row, of in told["letters"].items()}
beyond = {row: fmean(fmean(seed[:3]) for seed in of) for row, of in told["beyond"].items()}
best_letters, best_beyond = max(letters, key=letters.get), min(beyond, key=beyond.get)
decoder = stored("changes_of_2017")["rows"]
whole = next(iter(decoder))
folded(
    f"An encoder names {letters['none']:.1f} % of hidden letters without positions, and {letters[best_letters]:.1f} % with the best positional encoding, {best_letters} ({len(told['letters']['none']['ours'])} seeds). In Wang et al. (2021) GLUE is 76.6 without positions, and 82.5 with the best of their 13 kinds.",
    f"A language model has {beyond['none']:.3f} nats per character on texts of the training length without positions, and {beyond[best_beyond]:.3f} with the best positional encoding, {best_beyond}.",
    f"Another language model, post-norm ({whole}), has {fmean(decoder[whole]['dev']):.3f} nats; without positions it has {fmean(decoder['without positions']['dev']):.3f}.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without a mask the vector never moves, at any depth, because the whole stack treats the other words as a set.
# - With a causal mask the vector moves if there are at least two layers. Haviv et al. (2022) find that large models without positional encodings learn the position of each word.
# - In Wang et al. the damage is uneven. Without positions CoLA, which asks whether a sentence is grammatical, falls from 60.2 to 39.0; MNLI, which asks whether one sentence follows from another, only from 84.8 to 80.1. Without a mask or positions a model sees a bag of words, and on MNLI that goes a long way.
# </details>
#
# **With a causal mask, two layers notice some of the order; positional encodings still lower the loss<!--[[? all(of < beyond["none"] for row, of in beyond.items() if row != "none")]]-->.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Draw three words and the sets that they see; shuffle the first two. What goes wrong: students conclude that positions are useless in language models. They lower the loss, but the mask tells a causal model something about order as well.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. A hundred layers
#
# In post-norm, $x \leftarrow \mathrm{LN}(x + f(x))$, every layer renormalises the pathway, and deep stacks are hard to train. Pre-norm trains stably, but Wang et al. (2022) report that a post-norm stack gives better results if it can be trained. Their **DeepNorm** keeps post-norm, multiplies the pathway by α and some of the initial weights by β:
#
# $$x \leftarrow \mathrm{LN}(\alpha\, x + f(x)), \qquad \alpha = (2N)^{1/4}, \qquad \beta = (8N)^{-1/4} \qquad \text{for } N \text{ layers of one stack.}$$
#
# Where do the powers come from? By the paper's bound, each of the $2N$ sublayers changes the output in one training step by at most about $2 \beta^2 / \alpha^2$. Smaller initial weights make this change smaller, and so does a larger weight on the pathway. The sum over the stack is $2N \cdot 2 \beta^2 / \alpha^2$. With these
# $\alpha$ and $\beta$ it is 1 for every $N$, so the bound on one step does not grow with the depth.

# %% slideshow={"slide_type": "fragment"}
for N in (6, 24, 100, 1000):
    alpha, beta = (2 * N) ** (1 / 4), (8 * N) ** (-1 / 4)
    total = 2 * N * 2 * beta**2 / alpha**2
    print(f"{N:5} layers: α = {alpha:.2f}, initial weights times β = {beta:.2f}, sum {total:.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# In our code, `initialise_deepnorm` multiplies the value, output and feed-forward matrices by $\beta$. First we measure every layer's gradient before training, with three *rules*: post-norm, pre-norm and DeepNorm. You choose the depth.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def measure(rule, depth):
    torch.manual_seed(0)
    model = TransformerLM(very_deep.config(72, rule, depth))
    texts = torch.randint(72, (4, very_deep.TIME + 1), generator=torch.Generator().manual_seed(0))
    with torch.no_grad(), pathway(model) as branches:
        model(texts[:, :-1])
    sizes = [float(branch.result.square().mean().sqrt()) for branch in branches[1::2]]
    return sizes, very_deep.gradients(model, texts)


rules = ("post-norm", "pre-norm", "DeepNorm")
widgets.depth_playground(measure, rules, (6, 25, 100))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
deep = stored("very_deep")
hundred = {rule: of["dev"] for rule, of in deep["runs"]["100"].items()}
twelve = {rule: of["dev"] for rule, of in deep["runs"]["12"].items()}
deep_tests = against(
    summary(hundred["DeepNorm"]),
    {rule: summary(of) for rule, of in hundred.items() if rule != "DeepNorm"},
)
steps = {
    rule: {depth: fmean(of) for depth, of in by.items()} for rule, by in deep["moved"].items()
}
shallow, *_, deepest = steps["DeepNorm"]
at_400 = {rule: torch.tensor(of["dev"]) for rule, of in deep["longer"].items()}
deep_findings = [
    "12 layers: "
    + ", ".join(
        f"{rule} {mean_interval(of)[0]:.2f} ± {mean_interval(of)[1]:.2f}"
        for rule, of in twelve.items()
    )
    + " nats per character.",
    "100 layers: "
    + ", ".join(
        f"{rule} {mean_interval(of)[0]:.2f} ± {mean_interval(of)[1]:.2f}"
        for rule, of in hundred.items()
    )
    + ".",
    "100 layers, compared with DeepNorm (Welch's test, Holm's correction): "
    + ", ".join(
        f"{rule} {test.difference:+.3f} ± {test.half:.3f}, p = {test.corrected:.1g}"
        for rule, test in deep_tests.items()
    )
    + ".",
    f"100 layers after {very_deep.LONGER} steps: "
    + ", ".join(
        f"{rule} {of.mean():.2f} at a rate of {deep['longer'][rule]['rate']:g}"
        for rule, of in at_400.items()
    )
    + ".",
    f"How far one step moves the logits, with {shallow} and with {deepest} layers: "
    + ", ".join(f"{rule} {by[shallow]:.2g} and {by[deepest]:.2g}" for rule, by in steps.items())
    + " (per unit of the learning rate).",
]
show.predict(
    f"We train 100 layers of width 16 for 100 steps, with five seeds. Post-norm, pre-norm and DeepNorm each have their best learning rate. A uniform guess has {deep['guess']:.2f} nats per character. What loss does plain post-norm reach?",
    choices={
        "about 2.6": 2.6,
        "about 2.9": 2.9,
        "about 3.3": 3.3,
        "about 4.4, nothing learned": 4.4,
    },
    answer=fmean(hundred["post-norm"]),
    why="Letter frequencies alone give about 3.3. The model has learned which characters are frequent, and nothing about which character follows which. See below how far the other rules get, and what changes with four times the steps.",
    reveals=widgets.deep_explorer(deep).opens(view="training, 100 layers"),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
folded(*deep_findings)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>How to read it, and what the paper reports</b></summary>
#
# - **After 100 steps** DeepNorm, each of its halves alone (α or β, at DeepNorm's rate) and plain post-norm have about the loss of letter frequencies, 3.3 nats. This holds at 12 layers (the halves have a little less) and at 100<!--[[? all((fmean(of["dev"]) < 3.2) == (rule == "pre-norm") for depth in ("12", "100") for rule, of in deep["runs"][depth].items())]]-->. Pre-norm has learned more, with 3.01<!--[[fmean(hundred["pre-norm"]):.2f]]--> at 100 layers.
# - **After 400 steps**, with the rate chosen again, DeepNorm has learned as well (2.95<!--[[at_400["DeepNorm"].mean():.2f]]-->). Plain post-norm still has the loss of letter frequencies, 3.34<!--[[at_400["post-norm"].mean():.2f]]-->, at each of its four<!--[[words(len(deep["longer"]["post-norm"]["tried"]))]]--> rates<!--[[? min(deep["longer"]["post-norm"]["tried"].values()) > 3.33]]-->. The lowest of them is 0.001<!--[[min(map(float, deep["longer"]["post-norm"]["tried"]))]]-->.
# </details>
#
# **At 100 layers pre-norm started to learn, DeepNorm did so at one of three<!--[[words(len(deep["longer"]["DeepNorm"]["tried"]))]]--> rates, and plain post-norm at none of four<!--[[words(len(deep["longer"]["post-norm"]["tried"]))]]-->.** We did not try post-norm at the lowest of DeepNorm's rates, nor train either half of DeepNorm alone for 400 steps, so these runs do not say which half matters.

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - DeepNorm's best rate is then 0.001<!--[[deep["longer"]["DeepNorm"]["rate"]]]-->. At a quarter of this rate the loss is 3.52<!--[[deep["longer"]["DeepNorm"]["tried"]["0.00025"]:.2f]]-->, more than that of letter frequencies. At 0.004 its two seeds did not start to learn<!--[[? deep["longer"]["DeepNorm"]["tried"]["0.004"] > 3.33]]-->, although after 100 steps the best rate was 0.064<!--[[deep["runs"]["100"]["DeepNorm"]["rate"]]]-->. So a rate that is best for a short run can be wrong for a longer one.
# - Pre-norm has 2.56<!--[[at_400["pre-norm"].mean():.2f]]--> after 400 steps. None of these runs beats a table of character pairs<!--[[? min(float(of.min()) for of in at_400.values()) > deep["floors"]["pairs of characters"]]]-->, and with the context of another text the loss rises by at most 0.13<!--[[max(max(of["another context"]) for of in deep["longer"].values()):.2f]]--> nats. So they show which rule can *start* to learn, not which one ends with a lower loss.
# - **One step.** At 100 layers DeepNorm moves the logits by 11<!--[[steps["DeepNorm"]["100"]:.0f]]-->, post-norm by 66<!--[[steps["post-norm"]["100"]:.0f]]-->. But DeepNorm's move also grows with the depth, from 0.8<!--[[steps["DeepNorm"]["3"]:.1f]]--> at 3 layers. We measure a plain gradient step of all parameters, embeddings included; the paper's bound does not cover this value.
# - The paper trains 1,000 layers. On 7,482 translation directions its model with 200 layers beats a model with 48 layers and nearly four times the parameters<!--[[? 3.5 < 12 / 3.2 < 4]]--> by 5 BLEU.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Ask which of the three lines will be flat before you move the depth. Ask how a reader of the first 100 steps alone would judge DeepNorm. What goes wrong: "the gradient vanishes, so Adam cannot learn". Adam divides by the gradient's size.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Deeper or wider?
#
# With a fixed number of parameters you can have more layers or wider ones. Or you can use the same block in every layer (**block sharing**) and spend the parameters elsewhere. **WideNet** (Xue et al. 2022) shares one attention and one *mixture of experts* among all layers, while each layer keeps its own norms:
#
# $$h \leftarrow h + \mathrm{attention}(\mathrm{norm}_\ell(h)), \qquad h \leftarrow h + \mathrm{experts}(\mathrm{norm}'_\ell(h)), \qquad \ell = 1, \dots, L .$$
#
# The experts are feed-forward networks. A router sends each token to two of them. A token's vector changes from layer to layer, and so do the norms. So a token can go to different experts in different layers. On ImageNet, the accuracy of WideNet is 1.46 points above that of a Vision Transformer, with 72 % of the parameters. It is 2.08 points above that of a Vision Transformer *with* experts, with 13 % of the parameters.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Other models** have separate experts in each layer, instead of its feed-forward network. Experts raise the number of parameters far more than the number of operations per token. Mixtral (Jiang et al. 2024) sends each token to 2 of 8 experts. In nearly every layer, DeepSeek-V3 (December 2024) has one expert for all tokens and 256 others. Each token uses 8 of these. Together with the parts that all tokens share, each token uses 37 of the 671 billion parameters.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
best_rate = {row: stacks.rates_of(row, stacks.TUNED[row])[1] for row in stacks.SHAPES}
wide = {
    row: stacks.cost(row) | {"losses": stacks.losses(row, rate, stacks.SEEDS, part="test")}
    for row, rate in best_rate.items()
}
mean_of = {row: fmean(of["losses"]) for row, of in wide.items()}
shape_tests, _ = paired(
    wide["6 layers"]["losses"],
    {row: of["losses"] for row, of in wide.items() if row != "6 layers"},
)
ladder = ["one block", "one block, own norms", "one block, own norms, twice as wide"]
ladder += ["WideNet, 4 experts", "WideNet, 8 experts"]
steps_p = holm(
    {b: paired(wide[a]["losses"], {b: wide[b]["losses"]})[0][b].p for a, b in pairwise(ladder)}
)
GROUPS = {
    "deeper or wider": ["12 layers, half as wide", "6 layers", "3 layers, twice as wide"],
    "one block for all layers": [
        "6 layers",
        "one block",
        "one block, own norms",
        "one block, 8.5 times as wide",
    ],
    "experts, and their controls": [
        "6 layers",
        "one block, own norms, twice as wide",
        "WideNet, 4 experts",
        "WideNet, 8 experts",
        "one block, 8.5 times as wide",
    ],
}
fraction = 100 * wide["one block"]["parameters"] / wide["6 layers"]["parameters"]


theirs_depth = {
    row: THEIRS[row]["final"]
    for row in THEIRS
    if "layers, d_ff" in row or row == "Vanilla Transformer"
}
times = wide["one block, 8.5 times as wide"]["multiply_adds"] / wide["6 layers"]["multiply_adds"]
show.predict(
    f"One block in all six layers has {fraction:.0f} % of the parameters of six different blocks. Widen this block until it has as many parameters as six. How many multiply-adds does it then need, compared with six different blocks?",
    choices={"as many": 1.0, "about 2 times": 2.0, "about 5 times": 5.0, "about 30 times": 30.0},
    answer=times,
    why="Parameters and operations are different resources. A shared block is applied six times, so each of its parameters is used six times. Only the feed-forward network was widened, so attention costs as much as before.",
    reveals=widgets.costs_explorer(wide, GROUPS).opens(cost="multiply_adds"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>How to read it</b></summary>
#
# - **Deeper or wider.** We cannot tell twelve layers of half the width from six layers<!--[[? shape_tests["12 layers, half as wide"].corrected > 0.05]]-->. Three layers of twice the width are behind by 0.021<!--[[shape_tests["3 layers, twice as wide"].difference:.3f]]--> ± 0.009<!--[[shape_tests["3 layers, twice as wide"].half:.3f]]-->.
# - **Sharing costs.** One block for all layers is behind by 0.089<!--[[shape_tests["one block"].difference:.3f]]-->. Widened until it has as many parameters as six, it is still behind by 0.045<!--[[shape_tests["one block, 8.5 times as wide"].difference:.3f]]-->, with five<!--[[words(round(times))]]--> times the operations.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - There are nine<!--[[words(len(wide))]]--> models, each with five seeds and 1,600 steps. The learning rate of each is the best of those that we tried, and the next lower and the next higher one are worse. Widths are those of the feed-forward network. All losses are far below that of the table of character pairs<!--[[? max(mean_of.values()) < floors[1] - 0.2]]-->.
# - **WideNet is several changes at once**, so the group *experts, and their controls* in the picture makes them one at a time. Separate norms for each layer lower the loss of one block by 0.010<!--[[mean_of["one block"] - mean_of["one block, own norms"]:.3f]]-->, and doubling the width lowers it by another 0.014<!--[[mean_of["one block, own norms"] - mean_of["one block, own norms, twice as wide"]:.3f]]-->.
# - **Then the experts.** With equally many operations, four experts lower the loss by 0.030<!--[[mean_of["one block, own norms, twice as wide"] - mean_of["WideNet, 4 experts"]:.3f]]-->, and eight lower it by another 0.018<!--[[mean_of["WideNet, 4 experts"] - mean_of["WideNet, 8 experts"]:.3f]]-->.
# - Each of these four changes passes a paired test after Holm's correction<!--[[? max(steps_p.values()) < 0.05]]-->. The largest p is 0.04<!--[[max(steps_p.values()):.2f]]-->.
# - **And yet** eight experts, with 95<!--[[100 * wide["WideNet, 8 experts"]["parameters"] / wide["6 layers"]["parameters"]:.0f]]--> % of the parameters and 1.6<!--[[wide["WideNet, 8 experts"]["multiply_adds"] / wide["6 layers"]["multiply_adds"]:.1f]]--> times the operations, are 0.017<!--[[shape_tests["WideNet, 8 experts"].difference:.3f]]--> behind the plain model of six layers, in four of five seeds<!--[[? sum(a > b for a, b in zip(wide["WideNet, 8 experts"]["losses"], wide["6 layers"]["losses"], strict=True)) == 4]]-->. The interval of these five differences alone contains 0<!--[[? mean_interval([a - b for a, b in zip(wide["WideNet, 8 experts"]["losses"], wide["6 layers"]["losses"], strict=True)])[1] > shape_tests["WideNet, 8 experts"].difference]]-->; the test passes only because it pools the deviation of all rows. In the paper WideNet is ahead.
# - In the papers: Lan et al. (2020) share all layers of BERT and lose a little, with a fraction of the parameters. In Narang et al. (2021) all four ways to divide the parameters among 6 to 24 layers end within 0.02<!--[[max(abs(loss - theirs_depth["Vanilla Transformer"]) for loss in theirs_depth.values()):.2f]]--> of vanilla's final loss.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# **After 1,600 steps on one text, six different blocks were better than one wide block with as many parameters and five times the operations.** We did not train longer.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Ask "better at equal what?" before each comparison. What goes wrong: students compare WideNet with the plain model only. Let them name the controls before you open the group of experts.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What holds a deep stack up
#
# | part | removed from SmolLM2, on one text | changed before training | section |
# |---|---|---|---|
# | skips | worse than guessing; the tokens collapse | random stacks of size 1 without them collapse: doubly exponentially, or exponentially with a causal mask | 1 to 3 |
# | networks | far worse than guessing | they cannot undo a collapse | 1 to 3 |
# | attention | about as bad as guessing<!--[[? abs(losses["no attention"] - guessing) < 1]]--> | on digits, after 250 steps at one rate, we cannot tell it from no mixing | 1, 4 |
# | weights that depend on the words | | at one rate, digits do better with fixed weights; on letters FNet is behind, the Mixer not clearly | 4 |
# | the sublayers' order | | after 1,600 steps, random orders with attention nearer the input had lower losses; the sandwich keeps a third of its lead after 4,800 | 5 |
# | positional encodings | | with a causal mask, two layers notice some of the order | 6 |
# | the norm's position | | at 100 layers pre-norm started to learn, DeepNorm at one of its rates, plain post-norm did not | 7 |
# | different weights in each layer | | after 1,600 steps, sharing one block gives a higher loss, even at equal parameters | 8 |
#
# **In these tests the skips hold the stack up.** Without them the tokens became more alike in every stack that we tried, random or trained, and least so in MiniLM with a causal mask. With them the tokens stayed apart in both trained models and in random stacks of size 1, but not in random stacks of size 4<!--[[? kept[-1] < -6 and with_skips[-1] > -1]]-->. In SmolLM2, on one text, the networks helped to keep the tokens apart.

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Cover the third column and let the room fill it in. What goes wrong: students take one size and one text for a law.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# The composite norm is one way to measure how alike the tokens are. Write your own, for example one minus the mean cosine between tokens. Does it tell the same story?
#
# In the project [`project_layers.ipynb`](../exercises/project_layers/project_layers.ipynb) you take one comparison of this lecture further, and report on it.


# %% slideshow={"slide_type": "fragment"}
def my_residual(X):
    """X (seed, token, d_model) -> (seed); 0 if all tokens are the same. Change this."""
    return norm(X - X.mean(-2, keepdim=True))


widgets.collapse_playground(
    residual, trace, bound, norm, sizes=(0.5, 1.0, 2.0), yours=my_residual
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. The given function is the reference, so the pictures agree at first. What goes wrong: a cosine does not see lengths, so "residual ÷ size of X" divides it a second time; and rounding ends it at about $10^{-16}$, while the norm still falls.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A bound on the residual is $10^{38}$. What does it say about a model of three layers?
# <details><summary>Answer</summary>Nothing. The residual may collapse or grow. The bound is useful only for small weights.</details>
#
# 2. Why can a feed-forward network not undo rank collapse?
# <details><summary>Answer</summary>It maps equal vectors to equal vectors. What attention has made the same stays the same.</details>
#
# 3. Removing all networks from a trained model gives a loss far above guessing. Does a Transformer need networks?
# <details><summary>Answer</summary>You cannot tell from this result. The other parts were trained together with them. Train a model without networks and compare.</details>
#
# 4. You try 20 architectures once each, and the best is 0.02 better than your baseline's only run. What next?
# <details><summary>Answer</summary>Train the best one and the baseline again with fresh seeds, several each, and test the difference.</details>
#
# 5. Why can FNet not be a language model?
# <details><summary>Answer</summary>Every frequency is a sum over all positions, so every output has seen the future.</details>
#
# 6. A causal model without positions has one layer. What does it know about the order of the words before the last one?
# <details><summary>Answer</summary>For the last word's prediction nothing: it reads them as a set. Two layers know something.</details>
#
# 7. DeepNorm beats post-norm at 100 layers. Which two controls do you ask for?
# <details><summary>Answer</summary>Each half alone (α, β), and fewer layers, where the difference should shrink. Also ask for a learning rate that is tuned for each.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 4. What goes wrong: they train only the winner again, and keep the baseline's single run.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | residual of a matrix | res(X), residual | Dong et al. subtract the nearest matrix with equal rows; we subtract the mean of the rows, so our norm is at least as large |
# | $W_{QK}$, $W_{VO}$ | $W_{QK}$, $W_V$ | $W_Q W_K^\top$, and values with their part of the output matrix |
# | skip connection | residual connection, shortcut | the $x\,+$ of a sublayer |
# | no mixing | FF-only | every position by itself |
# | token mixing | token-mixing MLP, spatial MLP | a network over positions |
# | s, f | s, f | self-attention and feed-forward sublayers |
# | α, β | α, β | DeepNorm's weight of the pathway, and factor of initial weights |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: students take the residual of a matrix for the residual pathway. The two share only the word.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **skip connection**: the part of a sublayer that adds its input to its output.
# - **residual of a matrix**: its difference from a matrix whose rows are all the same.
# - **composite norm**: the square root of the largest column sum times the largest row sum of absolute values.
# - **rank collapse**: all tokens come to have the same vector.
# - **mixes positions**: moves information from one position of a text to another.
# - **Fourier mixing**: mixing positions by a Fourier transform, without parameters.
# - **token mixing**: mixing positions by a small network that is the same for every feature.
# - **sandwich order**: attention sublayers first and feed-forward sublayers last, with the plain order between.
# - **DeepNorm**: post-norm with a weighted pathway and smaller initial weights, for very deep stacks.
# - **block sharing**: using the same block in every layer.
# - **WideNet**: one attention and one mixture of experts shared by all layers, with separate norms in each layer.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Dong, Cordonnier & Loukas (2021), Attention is not all you need: pure attention loses rank doubly exponentially with depth. Lee-Thorp, Ainslie, Eckstein & Ontañón (2022), FNet. Tolstikhin et al. (2021), MLP-Mixer. Press, Smith & Levy (2020), Improving Transformer models by reordering their sublayers. Haviv, Ram, Press, Izsak & Levy (2022), Transformer language models without positional encodings still learn positional information. Wu, Ajorlou, Wang, Jegelka & Jadbabaie (2024), On the role of attention masks and LayerNorm in Transformers.
# Wang et al. (2021), On position embeddings in BERT. Wang et al. (2022), DeepNet: scaling Transformers to 1,000 layers. Xue et al. (2022), Go wider instead of deeper. Lan et al. (2020), ALBERT. Jiang et al. (2024), Mixtral of Experts. DeepSeek-AI (2024), DeepSeek-V3 Technical Report. Narang et al. (2021), Do Transformer modifications transfer across implementations and applications?
