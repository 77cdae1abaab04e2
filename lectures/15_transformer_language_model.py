# %% [markdown] slideshow={"slide_type": "slide"}
# # The Transformer language model
#
# You have all the parts: vectors for words, heads, masks, positions. This lecture puts them together. You build a GPT (a language model that is a stack of Transformer layers) in twenty lines,
# train it in three minutes, and run a published model, SmolLM2, in the same twenty lines. One question stays open until the end.
# Recurrent networks can do all this as well, so *why Transformers?*
#
# <img src="figures/from_noise.svg" width="900" alt="What one GPT writes before training and after 30, 200 and 2,000 steps: first random characters, then letters and spaces in plausible numbers, then short words, finally lines that look like a play.">
#
# *One small GPT, trained on Shakespeare's plays, one character at a time. In section 6 you start the training yourself.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - name the parts of a Transformer, and say what each adds to the residual pathway;
# - compute a LayerNorm and a feed-forward network, and count parameters and operations;
# - write a GPT from its parts, train it, stop it and resume;
# - read the pathway at any depth, and say what such a reading does not prove;
# - say what pre-norm and post-norm change, and test whether a warm-up helps;
# - say what a cache of keys and values saves, and what it costs;
# - judge the usual answers to "why Transformers?" by measurements.
#
# **You need** [lecture 13](13_self_attention.ipynb) (self-attention, causal mask) and [lecture 14](14_positions.ipynb) (rotary positions). From [lecture 5](05_training_well.ipynb) you need LayerNorm, Adam
# and warm-up. Vectors are rows, so a matrix multiplies from the right, $xW$.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
# |---|---|---|---|---|---|---|---|---|---|
# | minutes | 5 | 9 | 11 | 11 | 7 | 11 | 8 | 8 | 5 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 130 minutes. Every cell runs in a few seconds on a laptop, without a network connection. *Coming from other slides or a paper?* A table
# at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 5 and 9, and start the training of section 6 before you begin.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from dataclasses import replace

import torch
from IPython.display import HTML
from torch import nn
from torch.nn import functional as F

from nlmcore.attention import MultiHeadAttention, causal_mask, two_way
from nlmcore.corpora import load
from nlmcore.inspect import pathway
from nlmcore.metrics.significance import holm, two_sided
from nlmcore.positions import Rotary
from nlmcore.pretrained import smollm2
from nlmcore.transformer import TransformerConfig, TransformerLM
from lectures import show, stored, widgets
from lectures.trained import checkpoint

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # these models are so small that one core is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A pathway to which every layer adds
#
# A Transformer keeps one vector per token. Its layers do not replace this vector; they *add* to it. With attention $A_\ell$ and a
# feed-forward network $F_\ell$ in layer $\ell$, each of them a **sublayer**,
#
# $$x \leftarrow x + A_\ell(x), \qquad x \leftarrow x + F_\ell(x), \qquad \ell = 0, \dots, L - 1.$$
#
# The vector on its way through the layers is called the **residual pathway** (or residual stream). At its end one
# matrix, the **unembedding**, turns the vector into scores for the next token. Both models below reuse their embedding table as this matrix
# ([lecture 2](02_tokens_and_vectors.ipynb)). Here $d$ is the width of the pathway, and $L$ is the number of layers.

# %% [markdown] slideshow={"slide_type": "fragment"}
# The next picture is computed from the models themselves. Read it from the bottom up. A **norm** (a normalisation, section 2) prepares the input of a
# sublayer, **attention** ([lecture 13](13_self_attention.ipynb)) moves information between positions, and a **feed-forward network** (section 2) works on each
# position by itself. Together, norms included, they form a **layer**, or **block**. Press play to follow a vector through the parts. Then change `model` and `layer` (layers count from 0).

# %% slideshow={"slide_type": "subslide"}
writer, bytepairs = smollm2()  # 30 layers, 135 million parameters
ours, subwords, _ = checkpoint("bpe_gpt")  # 4 layers, 924,416 parameters, Shakespeare
text = "The capital of France is Paris."
ids = torch.tensor([bytepairs.encode(text)])
widgets.architecture_player(
    {"SmolLM2": (writer, bytepairs), "our GPT": (ours, subwords)}, "The capital of France is"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Let the picture play once. The pathway is a wide river; the sublayers read it and pour something in. What goes
# wrong: students read the boxes on the pathway as steps that replace the vector.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. The two small parts: norm and feed-forward network
#
# The vectors on the pathway change in size from layer to layer, but a sublayer should receive vectors of similar size. **LayerNorm** (Ba et al. 2016) subtracts the mean of the $d$
# features of *one* vector and divides by their standard deviation. **RMSNorm** (Zhang & Sennrich 2019) only divides by the root mean
# square, which takes fewer operations. Both then multiply by a learned gain $g$, and LayerNorm adds a learned bias $b$:
#
# $$\mathrm{LayerNorm}(x) = g \odot \frac{x - \mu}{\sqrt{s^2 + \varepsilon}} + b, \qquad
#   \mathrm{RMSNorm}(x) = g \odot \frac{x}{\sqrt{\mathrm{mean}(x^2) + \varepsilon}},$$
#
# where $\mu$ and $s^2$ are the mean and the variance of $x$.


# %% slideshow={"slide_type": "fragment"}
def layer_norm(x, gain=1.0, bias=0.0, epsilon=1e-5):
    """(…, d) -> (…, d): each vector separately."""
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / (centred.square().mean(-1, keepdim=True) + epsilon).sqrt() + bias


def rms_norm(x, gain=1.0, epsilon=1e-5):
    return gain * x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
x = torch.tensor([0.4, -1.1, 2.0, 0.3, -0.6])
moved = {
    name: (norm(10 * x + 3) - norm(x)).abs().max().item()
    for name, norm in (("LayerNorm", layer_norm), ("RMSNorm", rms_norm))
}
unmoved = [name for name, change in moved.items() if change < 0.01]
options = ["only LayerNorm's", "only RMSNorm's", "both", "neither"]
show.predict(
    "Multiply a vector by 10, then add 3 to each of its entries. Which norm's output does not change?",
    choices=options,
    answer=options[
        2
        if len(unmoved) == 2
        else 3
        if not unmoved
        else ("LayerNorm", "RMSNorm").index(unmoved[0])
    ],
    why="A factor cancels in both. A constant is part of the mean, which only LayerNorm subtracts.",
    reveals=widgets.norm_playground(
        {"LayerNorm": layer_norm, "RMSNorm": rms_norm}, x.tolist()
    ).opens(times=10.0, plus=3.0),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The feed-forward network** is one small network that processes each position separately. It widens the
# vector, usually to $d_{\mathrm{ff}} = 4d$, applies a nonlinearity $\varphi$, and narrows it again (Vaswani et al. 2017, section 3.3):
#
# $$F(x) = \varphi(x W_1 + b_1)\, W_2 + b_2 .$$
#
# In the Transformer of 2017 $\varphi$ was ReLU. GPT uses GELU, and SmolLM2 uses a gated variant, SwiGLU, with three matrices.
#
# Attention mixes positions; this network mixes features. What does this decomposition save? One dense layer over a text of $n$ vectors would need $(nd)^2$ weights and, per token, $nd^2$ multiply-adds. Attention and
# this network together need about $12d^2$ weights and, per token, $12d^2 + 2nd$ multiply-adds.
#
# Geva et al. (2021) read this network as a *memory*. Its output is $\sum_j \varphi(x \cdot k_j)\, v_j$ (without biases), where $k_j$ is a column of $W_1$ and $v_j$ a row of $W_2$.
# Each $k_j$ is a pattern. To the extent that $x$ matches it, $v_j$ is added to the pathway.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def count(d_model, layers, vocab_size, n):
    """Parameters, and multiply-adds per token in a text of n tokens; d_ff = 4 d, norms and biases left out."""
    attention, network = 4 * d_model**2 * layers, 8 * d_model**2 * layers
    table = vocab_size * d_model
    return (
        {"embedding table": table, "attention": attention, "feed-forward": network},
        {
            "attention, matrices": attention,
            "attention, scores": 2 * n * d_model * layers,
            "feed-forward": network,
            "unembedding": table,
        },
    )


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
shares = {
    "the embedding table": writer.embedding.weight.numel(),
    "attention": sum(p.numel() for layer in writer.layers for p in layer.attention.parameters()),
    "the feed-forward networks": sum(
        p.numel() for layer in writer.layers for p in layer.feed_forward.parameters()
    ),
}
percent = {name: 100 * share / sum(shares.values()) for name, share in shares.items()}
shares_told = show.table(
    [(name, f"{share / 1e6:.1f}", f"{percent[name]:.0f}%") for name, share in shares.items()],
    ["SmolLM2", "million parameters", "share"],
)
show.predict(
    "Which part of SmolLM2 holds most of its 135 million parameters?",
    choices=list(shares),
    answer=max(shares, key=shares.get),
    why="The paper is called *Attention is all you need*, but the feed-forward networks hold most parameters.",
    reveals=[
        shares_told,
        widgets.size_playground(
            count,
            {
                "our small GPT": (96, 3, 82, 96),
                "GPT-3 (Brown et al. 2020)": (12_288, 96, 50_257, 2048),
                "base model of 2017, one side": (512, 6, 37_000, 512),
            },
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The feed-forward networks hold 59<!--[[percent["the feed-forward networks"]:.0f]]--> % of SmolLM2's parameters, attention 20<!--[[percent["attention"]:.0f]]--> %, the embedding table 21<!--[[percent["the embedding table"]:.0f]]--> %. (SmolLM2's heads share keys and values, so its attention has
#   fewer parameters than $4d^2$ per layer.)
# - GPT-3 has 96 layers of width 12,288. The formula gives $12 \cdot 96 \cdot 12288^2$ = 174<!--[[12 * 96 * 12_288**2 / 1e9:.0f]]--> billion, nearly all of its 175 billion parameters.
# - The scores cost $2nd$ multiply-adds per token and layer, the only part that depends on the length $n$. At $n = 6d$ the scores cost as much as the matrices, $12d^2$.
#   For GPT-3 that is a text of 73,728<!--[[6 * 12_288:,]]--> tokens.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room compute LayerNorm of (1, 2, 3) by hand. What goes wrong: they normalise over the words of a sentence or over the batch. Say
# "one vector, its own mean". In the size widget first change the width, then the length of GPT-3's text.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A GPT in twenty lines
#
# A **block** is attention and a feed-forward network. Each reads the pathway through a norm and adds its output to the pathway. A **stack** of blocks between an
# embedding table and an unembedding is a GPT. Its positional encodings act inside attention (rotary positions, [lecture 14](14_positions.ipynb)).


# %% slideshow={"slide_type": "fragment"}
class Block(nn.Module):
    def __init__(self, attention, network, norms):
        super().__init__()
        self.attention, self.network = attention, network
        self.norm_1, self.norm_2 = norms

    def forward(self, x, mask):
        x = x + self.attention(self.norm_1(x), mask=mask)
        return x + self.network(self.norm_2(x))


# %% slideshow={"slide_type": "fragment"}
class GPT(nn.Module):
    def __init__(self, embedding, blocks, final_norm):
        super().__init__()
        self.embedding, self.final_norm = embedding, final_norm
        self.blocks = nn.ModuleList(blocks)

    def forward(self, tokens):  # (batch, time) -> (batch, time, vocab)
        x, mask = self.embedding(tokens), causal_mask(tokens.shape[1])
        for block in self.blocks:
            x = block(x, mask)
        return self.final_norm(x) @ self.embedding.weight.T


# %% [markdown] slideshow={"slide_type": "subslide"}
# Now fill in the parts, here for the small character-level GPT that you train in section 6. A feed-forward network is two matrices; attention comes from [lecture 13](13_self_attention.ipynb).
# The initial weights are small, as in GPT-2 (standard deviation 0.02). In the last matrix of each sublayer they are divided by $\sqrt{2L}$, so that the size of the vector at the end of the untrained pathway hardly depends on the number of layers.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def new_gpt(vocab_size=82, d=96, n_heads=4, n_layers=3):
    def block():
        attention = MultiHeadAttention(
            d, n_heads, positions=Rotary(n_heads, d // n_heads, 96, True)
        )
        network = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        return Block(attention, network, (nn.LayerNorm(d), nn.LayerNorm(d)))

    model = GPT(nn.Embedding(vocab_size, d), [block() for _ in range(n_layers)], nn.LayerNorm(d))
    for name, weight in model.named_parameters():
        if weight.ndim == 2:  # GPT-2: small, and smaller where a sublayer ends
            ends = name.endswith(("output.weight", "network.2.weight"))
            nn.init.normal_(weight, std=0.02 / math.sqrt(2 * n_layers) if ends else 0.02)
        elif "norm" not in name:
            nn.init.zeros_(weight)
    return model


# %% slideshow={"slide_type": "fragment"}
small, characters, _ = checkpoint("small_gpt")  # the same model, trained
with torch.random.fork_rng():
    torch.manual_seed(0)
    newborn = new_gpt()
noise = newborn(torch.tensor([characters.encode("To be, or not")]))
print(f"{sum(p.numel() for p in newborn.parameters()):,} parameters; logits {tuple(noise.shape)}")
print(
    f"largest probability after 'not': {noise[0, -1].softmax(-1).max():.3f}; 1/82 = {1 / 82:.3f}"
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **SmolLM2 in the same twenty lines.** Take the trained parts out of the library's models and put them into *your* classes. Do they
# give the same logits?


# %% slideshow={"slide_type": "fragment"}
def rebuilt(model):
    """A model of the library as a GPT of this page: the trained parts stay the same."""
    blocks = [
        Block(
            two_way(layer.attention),
            layer.feed_forward,
            (layer.residual_attention.norm, layer.residual_feed_forward.norm),
        )
        for layer in model.layers
    ]
    return GPT(model.embedding, blocks, model.final_norm)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with torch.no_grad():
    compared = [
        (
            *(name, type(model.final_norm).__name__, type(model.layers[0].feed_forward).__name__),
            torch.allclose(rebuilt(model)(tokens), model(tokens)[0], atol=1e-3),
        )
        for name, model, tokens in (
            ("our small GPT", small, torch.tensor([characters.encode("To be, or not to be")])),
            ("SmolLM2", writer, ids),
        )
    ]
show.table(compared, ["", "norm", "feed-forward network", "same logits"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Our GPT has 343,584<!--[[sum(p.numel() for p in newborn.parameters()):,]]--> parameters, SmolLM2 135 million. Only the parts and their sizes differ. SmolLM2 has RMSNorm instead of LayerNorm, a gated
#   feed-forward network instead of the plain one, nine heads that share three sets of keys and values, and a larger base for its rotary
#   positions.
# - The untrained model gives every character nearly the same probability, so its loss is close to<!--[[? abs(earlier["losses"][0] - math.log(characters.vocab_size)) < 0.05]]--> $\ln 82$ = 4.41<!--[[math.log(characters.vocab_size):.2f]]-->. If you see something much larger
#   at the first step, check the initial weights.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Write `Block.forward` on the board line by line with the class. Ask what happens if you forget the `x +` (section 9
# measures it), the mask ([lecture 13](13_self_attention.ipynb): a leak), or the final norm. What goes wrong: they put the norm's output onto the pathway, x = norm(x) + …*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Reading the pathway
#
# The layers only add, so the vector at every depth is part of the sum that the unembedding reads at the end. You can apply the final norm and the unembedding
# *early*, after any layer, and read what the model would say if it had to stop there. This is the **logit lens** (nostalgebraist 2020). Nothing guarantees that it makes sense, because
# early layers are free to use directions that the output does not read.

# %% slideshow={"slide_type": "fragment"}
with torch.no_grad(), pathway(writer) as sublayers:
    writer(ids)
depths = [sublayers[0].x] + [
    branch.result for branch in sublayers[1::2]
]  # after 0, 1, …, 30 layers
with torch.no_grad():
    early = [writer.output(writer.final_norm(x))[0, 4] for x in depths]  # scores after "… is"
sizes = [x[0, 4].square().mean().sqrt() for x in depths]
adds = [  # the size of what each layer adds, in sizes of what it reads
    ((after - x)[0, 4].square().mean().sqrt() / size).item()
    for x, after, size in zip(depths, depths[1:], sizes, strict=False)
]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
with (
    torch.no_grad()
):  # two claims below: what follows “I think, therefore I”, and “or not” layer by layer
    thought = writer(torch.tensor([bytepairs.encode("I think, therefore I")]))[0][0, -1]
    with pathway(ours) as in_ours:
        ours(torch.tensor([subwords.encode("To be, or not")]))
    by_layer = [ours.output(ours.final_norm(of.result))[0, -1].argmax() for of in in_ours[1::2]]
therefore = [bytepairs.decode([int(i)]) for i in thought.topk(2).indices]
comma = [subwords.decode([int(i)]) for i in by_layer]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ranks = [int((scores > scores[ids[0, 5]]).sum()) + 1 for scores in early]  # of Paris
says = [bytepairs.decode([int(scores.argmax())]) for scores in early]
first_right = next(i for i, word in enumerate(says) if says[i:] == [" Paris"] * len(says[i:]))
at_depths = show.table(
    [(n, repr(says[n]), f"{ranks[n]:,}") for n in (0, 5, 10, 15, 20, 25, 28, 29, 30)],
    ["layers", "likeliest next word", f"rank of Paris, of {len(early[0]):,}"],
)
show.predict(
    "SmolLM2 reads “The capital of France is”. After how many of its 30 layers is *Paris* the likeliest next word?",
    choices={"about 5": 5, "about 15": 15, "28 or more": 30},
    answer=first_right,
    why="The earlier layers may already hold the answer, in a form that this lens does not read as *Paris*.",
    reveals=[
        at_depths,
        widgets.living(
            writer,
            bytepairs,
            "The capital of France is",
            "I think, therefore I",
            "To be, or not to",
            "What light through yonder window",
            view="lens",
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - *Paris* becomes the likeliest word only after all 30<!--[[first_right]]--> layers. It first enters the top hundred of 49,152<!--[[len(early[0]):,]]--> tokens after 25 layers<!--[[? ranks[25] <= 100 < ranks[24]]]-->.
# - At the position of *is* the layers add vectors of very different sizes. The first layer adds a vector 14<!--[[adds[0]:.0f]]--> times as large as its input, the middle layers add vectors about a quarter<!--[[? 0.1 < sorted(adds[10:20])[5] < 0.4]]--> as large as their inputs, and the last layer one that is 0.62<!--[[adds[-1]:.2f]]--> times as large.
# - The slides of Wang (see the sources) show *I think therefore I* → *am*. After *I think, therefore I* our SmolLM2, the Instruct variant in 4 or 8 bits, predicts *will*; *am* is its second guess<!--[[? therefore == [" will", " am"]]]-->.
# - The GPT of section 1, which reads subwords, has four layers. After *To be, or not* it expects a comma, and the lens already reads the comma after one layer<!--[[? comma == [","] * 4]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Which layer raised the score?** The pathway is a sum, so every score is a sum as well. Let $u$ be the unembedding vector of a word minus the mean over the
# vocabulary, and $g$ the gain of the final norm. This norm divides by the size $s$ of the vector; we keep $s$ fixed at its final value. Then
#
# $$\text{score} = \frac{u \odot g}{s} \cdot \Big( x_0 + \sum_\ell A_\ell + \sum_\ell F_\ell \Big),$$
#
# where $x_0$ is the embedding, and $A_\ell$ and $F_\ell$ are the vectors that the sublayers of layer $\ell$ add. So each sublayer contributes its own term. (The score is relative to the mean over all words; softmax ignores such a constant.)


# %% slideshow={"slide_type": "fragment"}
def added(model, ids):
    """Shares of the next token's score: embedding (time), attention and network (layer, time)."""
    with torch.no_grad(), pathway(model) as passed:
        model(ids)
        norm = model.final_norm
        last, unembedding = passed[-1].result[0], model.output.weight
        centre = last.mean(-1, keepdim=True) if isinstance(norm, nn.LayerNorm) else 0
        size = (last - centre).square().mean(-1, keepdim=True).sqrt()  # (time, 1)
        u = (unembedding - unembedding.mean(0))[ids[0, 1:]] * norm.weight / size[:-1]
        if isinstance(norm, nn.LayerNorm):
            u = u - u.mean(-1, keepdim=True)  # LayerNorm subtracts the mean of x
    parts = [(u * branch.y[0, :-1]).sum(-1) for branch in passed]
    return (u * passed[0].x[0, :-1]).sum(-1), torch.stack(parts[0::2]), torch.stack(parts[1::2])


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def read_added(name, sentence):
    model, tokenizer = {"SmolLM2": (writer, bytepairs), "our GPT": (ours, subwords)}[name]
    words = [piece.replace("\n", "↵") for piece in tokenizer.pieces(sentence)]
    found = added(model, torch.tensor([tokenizer.encode(sentence)]))
    return widgets.Added(words, words[1:], *(part.numpy() for part in found))


_, *by_token = added(writer, ids)  # attention, networks: (layer, time)
by_attention, by_networks = (part[:, 4] for part in by_token)  # to Paris
of_attention, of_networks = (part[:, 1] for part in by_token)  # to of
by_layers = by_attention + by_networks
widgets.added_player(
    read_added,
    ["SmolLM2", "our GPT"],
    [
        "The capital of France is Paris.",
        "The young doctor opened the door.",
        "To be, or not to be",
    ],
).opens(place=4)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Step through the sentence. Which kind of sublayer adds most to *Paris*, and in which layers? Is it the same for *of*?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - For *Paris*, attention adds 9.8<!--[[by_attention.sum():.1f]]--> to the score and the feed-forward networks add 9.4<!--[[by_networks.sum():.1f]]-->. Most of the sum comes from the last third of the layers<!--[[? by_layers[20:].sum() > 0.6 * by_layers.sum()]]-->. The attention of layer 23
#   adds most, 3.4<!--[[by_attention[23]:.1f]]--><!--[[? int(torch.cat([by_attention, by_networks]).argmax()) == 23]]-->. (Layer 29 is the last one.)
# - For *of* it is different. The feed-forward networks add 21.5<!--[[of_networks.sum():.1f]]-->, and attention lowers the score by 4.3<!--[[-of_attention.sum():.1f]]-->.
# - Even for *Paris* some sublayers *lower* the score<!--[[? (by_attention < 0).any() and (by_networks < 0).any()]]-->.
# - The sum tells which sublayers wrote the score, not which ones found the answer. An early layer may have moved the information to a
#   position where a late layer turns it into a word. To test this you need an intervention, such as an ablation ([lecture 13](13_self_attention.ipynb)).
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Take guesses for the depth first; most say 15. What goes wrong: students think that the vector at a position "is" the word at this
# position. It starts as that word and ends as a prediction of the next one.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Where does the norm go?
#
# In 2017 the norm came *after* the sum. GPT-2, Llama and SmolLM2 put it *before* the sublayer:
#
# | | | |
# |---|---|---|
# | **post-norm** | $x \leftarrow \mathrm{LN}(x + f(x))$ | Vaswani et al. 2017 |
# | **pre-norm** | $x \leftarrow x + f(\mathrm{LN}(x))$ | GPT-2, 2019 |
#
# Here $f$ is a sublayer and LN a LayerNorm. With pre-norm an uninterrupted sum leads from the last layer back to the first, and a sum passes the upstream gradient on unchanged. With
# post-norm each layer's norm rescales the pathway, forwards and backwards. We stack up to 32 layers with random weights and measure one forward and one
# backward pass, with five seeds. (We use Glorot's initial weights. Unlike GPT-2's, they are not scaled down in deeper stacks.)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
tokens = torch.randint(50, (4, 17), generator=torch.Generator().manual_seed(0))


def glorot(model, _):
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and "embedding" not in name:
            nn.init.xavier_normal_(weight)
        elif "norm" not in name:
            nn.init.normal_(weight, std=32**-0.5) if weight.ndim == 2 else nn.init.zeros_(weight)


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def one_pass(position, depth, seed):
    """(2, depth): the pathway's size after each layer, and the gradient of each layer's W₂."""
    sizes = dict(vocab_size=50, d_model=32, n_heads=2, n_layers=depth, max_length=16)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = TransformerLM(
            TransformerConfig(**sizes, norm_position=position, initialise=glorot)
        )
    with pathway(model) as branches:
        logits, _ = model(tokens[:, :-1])
    F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
    size = [branch.result.square().mean().sqrt() for branch in branches[1::2]]
    return torch.tensor(
        [size, [layer.feed_forward.outer.weight.grad.norm() for layer in model.layers]]
    )


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
passes = {
    (position, depth): torch.stack([one_pass(position, depth, seed) for seed in range(5)])
    for position in ("post", "pre")
    for depth in (4, 8, 16, 32)
}  # each (seed, 2, layer)
at_top = {
    key: found[:, 1, -1] for key, found in passes.items()
}  # gradient of the last layer, by seed
smaller = (at_top["pre", 4].mean() / at_top["pre", 32].mean()).item()
larger = (passes["pre", 32][:, 0, -1].mean() / passes["pre", 4][:, 0, -1].mean()).item()


def through(norm, depth):
    return passes[norm.removesuffix("-norm"), depth].mean(0).tolist()


ends = {key: show.mean_from_to(of, "{:.2f}") for key, of in at_top.items()}
gradients_told = show.table(
    [(f"{at}-norm", *(ends[at, depth] for depth in (4, 8, 16, 32))) for at in ("post", "pre")],
    ["gradient at the last layer", "4 layers", "8 layers", "16 layers", "32 layers"],
    note="mean (lowest to highest of five seeds)",
)
show.predict(
    "You make a *pre-norm* stack eight times deeper, 32 layers instead of 4. How much larger is the vector at the end of its pathway, before training?",
    choices={
        "equally large": 1.0,
        "about 3 times": 3.0,
        "about 8 times": 8.0,
        "about 250 times": 250.0,
    },
    answer=larger,
    why="Each sublayer reads a vector of the same size, so each adds a vector of about the same size, in an unrelated direction. Such a sum grows like $\\sqrt L$, and $\\sqrt 8 = 2.8$. What does post-norm do, and what happens to the gradients?",
    reveals=[
        gradients_told,
        widgets.depth_playground(through, ["post-norm", "pre-norm"], [4, 8, 16, 32]).opens(
            depth=32
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With pre-norm the final vector is 3.0<!--[[larger:.1f]]--> times as large after 32 layers as after 4. The final norm divides the gradient by this size, so the last layer's gradient falls from 0.44<!--[[at_top["pre", 4].mean():.2f]]--> to 0.15<!--[[at_top["pre", 32].mean():.2f]]-->.
# - With post-norm the pathway has size 1 everywhere<!--[[? (passes["post", 32][:, 0] - 1).abs().max() < 0.01]]-->, and the last layer's gradient does not shrink with depth. It is 0.50<!--[[at_top["post", 4].mean():.2f]]--> with 4 layers and 0.67<!--[[at_top["post", 32].mean():.2f]]--> with 32.
# - Xiong et al. (2020) derive both results. They use them to explain why post-norm needs a **warm-up** of the learning rate: its last layers start with large gradients.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does a warm-up help?** A large gradient need not do harm, since Adam divides each gradient by its recent size ([lecture 5](05_training_well.ipynb)). So we train 12 layers from Glorot's weights
# at three learning rates, with and without a warm-up of 100 steps, one run each (`python -m lectures.recipes warmup`). At the middle rate we repeat post-norm with
# three seeds, and then with GPT-2's initial weights (`warmup_again`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ended = {  # (norm, warm-up, rate) -> nats per character on dev plays
    (norm, "no warm-up" not in key, rate): run["dev"]
    for key, by in stored("warmup")["runs"].items()
    for norm in [key.partition(",")[0]]
    for rate, run in by.items()
}
rates = ("0.0003", "0.001", "0.003")
by_warmup = show.table(
    [
        (f"{norm}, {told} a warm-up", *(f"{ended[norm, warm, rate]:.2f}" for rate in rates))
        for norm in ("post-norm", "pre-norm")
        for warm, told in ((False, "without"), (True, "with"))
    ],
    ["nats per character", *(f"rate {rate}" for rate in rates)],
)
again = stored("warmup_again")["runs"]
by_seed = show.table(
    [
        (f"{initial}, {steps} steps of warm-up", *(f"{loss:.2f}" for loss in losses))
        for initial, by in again.items()
        for steps, losses in by.items()
    ],
    ["post-norm at 0.001, three seeds", "1", "2", "3"],
)
HTML(by_warmup.data + by_seed.data)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Pre-norm learns at all three rates, and the highest is the best<!--[[? min(ended, key=ended.get)[::2] == ("pre-norm", "0.003")]]-->. A warm-up helps it at none of the three<!--[[? all(ended["pre-norm", False, rate] < ended["pre-norm", True, rate] for rate in rates)]]-->.
# - At 0.001 post-norm needs the warm-up. Its loss is 2.56<!--[[ended["post-norm", True, "0.001"]:.2f]]--> with it and 3.35<!--[[ended["post-norm", False, "0.001"]:.2f]]--> without, about that of a model that knows only character frequencies (3.3<!--[[unigram:.1f]]-->).
# - At 0.0003 the warm-up does not help post-norm<!--[[? ended["post-norm", False, "0.0003"] < ended["post-norm", True, "0.0003"]]]-->; at 0.003 post-norm learns nothing either way<!--[[? min(ended["post-norm", warm, "0.003"] for warm in (False, True)) > 3.3]]-->.
# - With Glorot's initial weights the three seeds agree: the loss is at most 2.58<!--[[max(again["Glorot"]["100"]):.2f]]--> with the warm-up, at least 3.32<!--[[min(again["Glorot"]["0"]):.2f]]--> without.
# - With GPT-2's initial weights no run learns without a warm-up<!--[[? min(again["GPT-2"]["0"]) > 3.3]]-->, and with it only one<!--[[words(sum(loss < 3.3 for loss in again["GPT-2"]["100"]))]]--> of three does better than character frequencies.
# - We do not know why post-norm fails here. Adam largely cancels the size of a gradient, so the large gradients alone do not explain it. With GPT-2's initial weights
#   (section 3) post-norm mostly fails as well, although there the last layer's gradient hardly depends on depth. From 4 to 24 layers it changes by at most 7<!--[[100 * max(max(by[-1] for by in of.values()) / min(by[-1] for by in of.values()) for of in stored("warmup")["gradients"]["GPT-2"].values()) - 100:.0f]]--> %, in post-norm and in pre-norm.
# </details>
#
# **With 12 layers and 250 steps pre-norm learns at all three rates, and post-norm only at some of them.** Apart from post-norm at the middle rate, each is a single run.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **One more norm.** **QK-norm** normalises queries and keys as well, so that a score can grow only through a learned gain (Henry et al. 2020; Dehghani et al. 2023). We trained a model of two layers with and without it, at four learning rates and with five seeds each, from the same initial weights
# (`python -m lectures.recipes qk_norm`). The thin line in the picture is the loss of a table that predicts each character from the previous one.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
bounded = stored("qk_norm")
by_rate = {
    row: {float(rate): torch.tensor(run["dev"]) for rate, run in of.items()}
    for row, of in bounded["rows"].items()
}
rates_tried = sorted(by_rate["plain"])
pairs_floor = bounded["floors"]["pairs of characters"]
HTML(
    show.bands_svg(
        torch.tensor(rates_tried).log10(),
        {
            row: torch.stack([of[rate] for rate in rates_tried], dim=1)
            for row, of in by_rate.items()
        },
        x_title="log₁₀ of the learning rate",
        y_title="nats per character",
        low=1.5,
        high=3.5,
        level=pairs_floor,
        width=620,
        alt="Loss on a development play against the learning rate, mean and range of five seeds; the thin line is the table of pairs of characters. "
        + "; ".join(
            f"{row}: " + ", ".join(f"{of[rate].mean():.2f} at {rate:g}" for rate in rates_tried)
            for row, of in by_rate.items()
        ),
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Of the four rates the same one is best for both, 0.012<!--[[? set(bounded["best"].values()) == {"0.012"}]]-->. At this rate QK-norm is ahead by 0.019<!--[[-bounded["difference at the best rates"][0]:.3f]]--> ± 0.015<!--[[bounded["difference at the best rates"][1]:.3f]]--> nats. This is a small difference, measured on the plays that chose the rate.
# - At ten times this rate the plain model ends at 2.83<!--[[by_rate["plain"][0.12].mean():.2f]]--> nats, above the 2.47<!--[[pairs_floor:.2f]]--> of the table of pairs of characters<!--[[? by_rate["plain"][0.12].min() > pairs_floor]]-->. With QK-norm the model ends at 1.95<!--[[by_rate["QK-norm"][0.12].mean():.2f]]-->.
# </details>
#
# **At this size QK-norm hardly lowers the best loss. But with it the model suffers much less from a learning rate that is too high.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Draw both variants as wiring diagrams and let somebody trace the gradient with a finger. What goes wrong: students conclude that
# post-norm is always worse. This is one depth and 250 steps; the Transformer of 2017 was trained with it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Train it
#
# Here is all that training needs: a batch of random passages, the loss at all positions in parallel, and a step of AdamW. Gradients are clipped, and the learning rate has a warm-up and then falls ([lecture 5](05_training_well.ipynb)).

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
plays = torch.tensor(
    [i for play in load("shakespeare").texts("train") for i in characters.encode(play)]
)


class Learner:
    def __init__(self, model, rate=3e-3):
        self.model, self.rate, self.steps = model, rate, 0
        self.draw = torch.Generator().manual_seed(0)
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)

    def learn(self):
        first = torch.randint(len(plays) - 97, (8, 1), generator=self.draw)
        batch = plays[first + torch.arange(97)]  # 8 passages of 97 characters
        loss = F.cross_entropy(self.model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        self.steps += 1
        self.optimiser.param_groups[0]["lr"] = self.rate * min(
            self.steps / 100, (100 / self.steps) ** 0.5
        )
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        return loss.item()

    def write(self, n=160):
        text, draw = characters.encode("\n"), torch.Generator().manual_seed(0)
        with torch.no_grad():
            for _ in range(n):
                p = (self.model(torch.tensor([text[-96:]]))[0, -1] / 0.8).softmax(-1)
                text.append(int(torch.multinomial(p, 1, generator=draw)))
        return characters.decode(text)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
earlier = stored("small_gpt")
after_100 = sum(earlier["losses"][95:105]) / 10
per_step = 8 * 96  # characters: `learn` takes 8 passages
unigram = torch.distributions.Categorical(plays.bincount().float()).entropy().item()
passed = next(step for step, loss in enumerate(earlier["losses"]) if loss < unigram)


def from_noise():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return Learner(new_gpt())


def from_the_checkpoint():
    learner = Learner(rebuilt(checkpoint("small_gpt").model.train()))
    learner.steps = len(earlier["losses"])  # the rate continues where it was
    return learner


show.predict(
    f"Before training the loss is $\\ln 82 = 4.41$ nats per character. What is it after 100 steps, in which the model reads {100 * per_step:,} characters?",
    choices={"about 4": 4.0, "about 3.3": 3.3, "about 2.5": 2.5, "about 1.5": 1.5},
    answer=after_100,
    why=f"After {passed} steps the loss falls below {unigram:.1f}, the loss of a model that knows only character frequencies. Press *train*: it runs in the background, so you can continue to read. *stop* finishes the current step; *train* then "
    "resumes exactly where it stopped. The slider and its play button show what was written at each stage.",
    reveals=widgets.training_player(
        {"from noise": from_noise, "from the earlier run": from_the_checkpoint}, earlier
    ).opens(mark=100),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The samples improve in this order: character frequencies, word lengths, short words, names in capitals with a full stop, lines of a play.
# - The loss falls from 4.42<!--[[earlier["losses"][0]:.2f]]--> to about 2.5<!--[[after_100:.1f]]--> in the first 100 steps of the stored run. Then progress slows. After 2,000<!--[[len(earlier["losses"]):,]]--> steps it is 1.77<!--[[sum(earlier["losses"][-50:]) / 50:.2f]]-->.
# - On held-out plays the loss is 1.84<!--[[checkpoint("small_gpt").card["figures"]["test"]["nats_per_character"]:.2f]]-->, so the model has hardly overfitted. In 2,000 steps it saw each character less than once on average<!--[[? len(plays) > len(earlier["losses"]) * per_step]]-->.
# - If you choose *from the earlier run*, training begins with the stored weights. AdamW's running means were not stored, so they begin at zero again. Watch the loss in the first steps.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Start it before you explain the code, and look at it again at the end of the section. Ask which of the samples would fool somebody who does
# not know English. What goes wrong: they expect meaning. A model of characters with 343,584 parameters learns spelling and layout in three minutes.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. In parallel, and step by step
#
# In *training*, all positions of a text are computed in parallel, because within a layer no position waits for another. The
# longest chain of operations, each of which needs the result of the previous one, passes through $L$ blocks, however long the text is. In a recurrent network it has at least
# $n$ steps. In this respect a Transformer is closer to a convolutional network than to a recurrent one (McAllester).
#
# In *generation*, each token depends on the previous one, so $n$ tokens take $n$ steps. But must each step read the whole text again?
# A new token changes nothing at earlier positions, so their keys and values can be kept. The **key–value cache** holds them:


# %% slideshow={"slide_type": "fragment"}
prompt = torch.tensor([bytepairs.encode("The students opened their")])
with torch.no_grad():
    logits, state = writer(prompt)  # reads four tokens; the state holds their keys and values
    following = logits[:, -1:].argmax(-1)
    with_cache, state = writer(following, state)  # reads one token
    without, _ = writer(torch.cat([prompt, following], dim=1))  # reads five
print("the same scores:", torch.allclose(with_cache[0, -1], without[0, -1], atol=1e-3))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
costs = stored("cache_cost")
lengths = [int(n) for n in costs["multiply_adds"]["without"]]
products = {name: list(by.values()) for name, by in costs["multiply_adds"].items()}
seconds = {name: [1000 * s for s in by.values()] for name, by in costs["seconds"].items()}
memory = {"held by the cache": [b / 1e6 for b in costs["cache_bytes"].values()]}
longest = lengths[-1]
times_products = products["without"][-1] / products["with the cache"][-1]
times_seconds = seconds["without"][-1] / seconds["with the cache"][-1]
picture = HTML(
    show.beside(
        show.lines_svg(
            lengths,
            {name: [math.log10(s) for s in by] for name, by in seconds.items()},
            x_title="tokens in the text",
            y_title="milliseconds",
            low=1,
            high=4,
            powers=True,
            width=440,
            height=310,
            title="time of the next token",
            alt=f"Milliseconds for the next token of SmolLM2. After {longest} tokens {seconds['with the cache'][-1]:.0f} with the cache "
            f"and {seconds['without'][-1]:.0f} without.",
        ),
        show.lines_svg(
            lengths,
            memory,
            x_title="tokens in the text",
            y_title="megabytes",
            low=0,
            high=15,
            width=440,
            height=310,
            title="memory of the cache",
            alt=f"Megabytes held by the cache: {memory['held by the cache'][-1]:.1f} after {longest} tokens, a straight line through 0.",
        ),
    )
)
show.predict(
    f"SmolLM2 has read {longest} tokens and writes the next one. Without the cache it needs more multiplications than with it. How many times as many?",
    choices={"about 2": 2, "about 20": 20, f"about {longest}": longest},
    answer=times_products,
    why="Without the cache every token is processed again. The time grows by a smaller factor than the multiplications, as the picture shows.",
    reveals=picture,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Step through the cache.** Press play. The framed column is computed in this step; the others are read from the cache. The second model sees only a
# window of six tokens, so its cache stops growing.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
near = TransformerLM(replace(ours.config, window=6))
near.load_state_dict(ours.state_dict())
line = "To be, or not to be: that is the question"
widgets.cache_player(
    {"all tokens": ours, "a window of 6": near.eval()},
    torch.tensor(subwords.encode(line)),
    [piece.strip() or "␣" for piece in subwords.pieces(line)],
    prompt=4,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** In each of its 30 layers SmolLM2 keeps 3 keys and 3 values per token. Each is a vector of 64 numbers, with 4 bytes per number. How many bytes of the cache does one token take?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $30 \cdot 2 \cdot 3 \cdot 64 \cdot 4 = 46{,}080$ bytes per token<!--[[? costs["cache_bytes"]["256"] == 256 * 46_080 == 256 * 30 * 2 * 3 * 64 * 4]]-->, so 11.8<!--[[costs["cache_bytes"]["256"] / 1e6:.1f]]--> MB after 256 tokens. Nine heads of keys and values, one per
#   head of queries, would take three times as much.
# - Without the cache the 256th token takes 256<!--[[times_products:.0f]]--> times as many multiplications, but only 24<!--[[times_seconds:.0f]]--> times as much time.
# - The cache trades memory for time. It grows with every token, whereas an LSTM's state has a fixed size. For long texts the
#   cache fills the memory; [lecture 18](18_cheaper_attention.ipynb) is about that.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Ask why nobody caches the queries (each is used once, in its own step). What goes wrong: students believe that the cache changes the result, or that training uses it.
# In training there is nothing to cache, because all positions are computed in one pass.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Why Transformers?
#
# The slides of Wang (see the sources) reject four answers to this question, and leave three that may hold. The table compares the four with our own measurements, which
# hold only for small models. They contradict the third answer, show that the fourth is true of an LSTM as well, and leave the first two open.
#
# | answer | our measurement |
# |---|---|
# | *It is faster at equal size.* | It depends on the size. The next prediction asks how. |
# | *It is better at translation.* | We did not see this. Our task is to turn letters into phonemes, with nearly equal parameters and one run each. The Transformer gets 32.35<!--[[spelled["Transformer"]["word_error_rate"]]]--> % of the words wrong after 370<!--[[10 * round(spelled["Transformer"]["seconds"] / 10)]]--> s, a recurrent network with attention 32.91<!--[[spelled["recurrent, attention"]["word_error_rate"]]]--> % after 466<!--[[spelled["recurrent, attention"]["seconds"]:.0f]]--> s. A difference of up to 1.6<!--[[196 * (2 * 0.33 * 0.67 / spelled["Transformer"]["words"]) ** 0.5:.1f]]--> points may be chance. [Lecture 16](16_encoder_decoder_transformers.ipynb) compares translators with five seeds. |
# | *It is nothing but attention.* | It is not. The feed-forward networks hold most parameters (section 2), and without them the loss rises (section 9). |
# | *Its vectors depend on the context.* | An LSTM's states do as well: the cosines below are less than 1 for both models. (Do not compare the two values: cosines are large in such models, [lecture 17](17_pretraining.ipynb).) |

# %% slideshow={"slide_type": "fragment"}
remembering, words, _ = checkpoint("word_lstm")
contexts = ["he is the king", "they love the king", "for god and king", "my lord the king"]


def alike(model, tokenizer, texts):
    """Mean cosine between the model's vectors for the last words of these texts; 1: the context changes nothing."""
    with torch.no_grad():
        last = [
            model.hidden_states(torch.tensor([tokenizer.encode(text)]))[0][0, -1]
            for text in texts
        ]
    every = F.normalize(torch.stack(last), dim=-1)
    return ((every @ every.T).sum().item() - len(last)) / (len(last) * (len(last) - 1))


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
spelled = stored("pronunciation_transformer")["rows"]
kings = {
    name: alike(model, tokenizer, contexts)
    for name, model, tokenizer in (
        ("LSTM of words", remembering, words),
        ("SmolLM2", writer, bytepairs),
    )
}
show.table(
    [(name, f"{cosine:.2f}") for name, cosine in kings.items()],
    ["", "'king' in four contexts: mean cosine"],
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The scorecard** compares four networks, all with $L$ layers of width $d$. (We began it in [lecture 4](04_windows_and_convolutions.ipynb).) Costs are per layer.
#
# | | window of $k$ | convolution | recurrent | Transformer |
# |---|---|---|---|---|
# | a word sees | the last $k$ | the last $k$ | all, through one state | all, directly |
# | steps between words $n$ apart | 1 within the window, otherwise no path | $n/(k-1)$ layers | $n$ | 1 |
# | sequential steps in training | 1 | 1 | $n$ | 1 |
# | multiply-adds per word | $k d^2$ | $k d^2$ | $8 d^2$ (LSTM) | $12 d^2 + 2nd$ |
# | memory in generation | the window | the window | one state | grows with $n$ |
# | strength | simple, fast | parallel, the same weights at every position | any length in one state | any two words in one step |
# | weakness | blind beyond $k$ | far words need many layers | each step waits for the previous one | cost and memory grow with $n$ |

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Three answers that may hold: capacity, optimisation, generalisation.** A Transformer may represent more with its parameters, learn faster, or do better on new texts. We trained a Transformer and an LSTM of the *same* number of parameters on the
# *same* text, at two sizes and for 300 or 1,200 steps, with five seeds each. Each has its own learning rate for each size and number of steps; the next lower and
# the next higher rate were worse (`python -m lectures.recipes why_transformer`). We timed a training step of each at four sizes (`python -m lectures.recipes step_time`).

# %% slideshow={"slide_type": "fragment"}
why = stored("why_transformer")
short, long = (
    {
        kind: {size: torch.tensor(row["dev"]) for size, row in by.items()}
        for kind, by in of.items()
    }
    for of in (why["sizes"], why["longer"])
)
timed = {(row["width"], row["tokens"]): row for row in stored("step_time")["rows"]}
small_step, large_step = timed[48, 64], timed[512, 64]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    f"With {small_step['parameters']:,} parameters each, a training step of the Transformer takes {small_step['ratio']:.1f} times as long as one of the LSTM, on one core. How long does it take, compared with the LSTM's, with 6 million parameters each?",
    choices={
        "three to four times as long": 3.5,
        "still about twice as long": 2.0,
        "shorter than the LSTM's": 0.8,
    },
    answer=large_step["ratio"],
    why="Per parameter both do about the same number of multiplications, the Transformer in a few large matrix products over all positions, the LSTM position by position. We did not test whether this is the reason.",
    reveals=show.table(
        [
            (
                f"{timed[width, 64]['parameters']:,}",
                *(f"{timed[width, tokens]['ratio']:.2f}" for tokens in (64, 256)),
            )
            for width in (48, 128, 256, 512)
        ],
        ["parameters", "64 tokens", "256 tokens"],
        note="time of the Transformer's step / LSTM's step, equal parameters (one core, 12 texts)",
    ),
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def led(of):
    """Which kind has the lower loss with 60,000 parameters, if every seed of it has."""
    one, other = of["Transformer"]["48"], of["LSTM"]["48"]
    if max(one) < min(other):
        return "the Transformer"
    return "the LSTM" if max(other) < min(one) else "neither: the seeds overlap"


def half_width(differences):
    """Half the width of the 95 % interval of a mean over five seeds."""
    return 2.776 * differences.std() / math.sqrt(5)


ahead = (short["Transformer"]["48"] - short["LSTM"]["48"]).mean()
apart = {
    (steps, width): of["LSTM"][width] - of["Transformer"][width]
    for steps, of in ((300, short), (1200, long))
    for width in ("24", "48")
}


def by_holm(differences):
    """p-values of five-seed differences from 0, corrected for their number."""
    return holm(
        {
            key: two_sided(abs(of.mean().item()) / (of.std().item() / math.sqrt(5)), 4)
            for key, of in differences.items()
        }
    )


corrected = by_holm(apart)
gained = {  # how much the larger size lowers the loss, by seed
    steps: {kind: by["24"] - by["48"] for kind, by in of.items()}
    for steps, of in ((300, short), (1200, long))
}
more = {steps: of["LSTM"] - of["Transformer"] for steps, of in gained.items()}
of_more = by_holm(more)
gaps = [  # held-out loss minus the training loss of the last 100 of 1,200 steps
    (torch.tensor(row["dev"]) - torch.tensor(row["curve"])[:, -10:].mean(1)).mean().item()
    for by in why["longer"].values()
    for row in by.values()
]
at_100 = {  # the training loss
    kind: torch.tensor(by["48"]["curve"])[:, 9] for kind, by in why["sizes"].items()
}
same_rate = {kind: by["48"]["tried"]["0.01"] for kind, by in why["sizes"].items()}
by_size = show.table(
    [
        (
            *(f"{steps:,}", kind, f"{row['parameters']:,}", f"{row['rate']:g}"),
            show.mean_from_to(row["dev"], "{:.3f}"),
        )
        for steps, of in ((300, why["sizes"]), (1200, why["longer"]))
        for kind, by in of.items()
        for row in by.values()
    ],
    ["steps", "", "parameters", "rate", "loss, mean (lowest to highest of five seeds)"],
)
show.predict(
    f"With 60,000 parameters each, the LSTM is ahead after 300 steps: its loss on held-out plays is {ahead:.2f} nats lower. Which has the lower loss after 1,200 steps?",
    choices=["the Transformer", "the LSTM", "neither: the seeds overlap"],
    answer=led(long),
    why="A lead after 300 steps is not a lead after 1,200. We do not know which of the two would be ahead after ten times as many.",
    reveals=[by_size, widgets.race_explorer(why)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Time.** At the three smaller widths the Transformer is slower<!--[[? all(timed[width, tokens]["ratio"] > 1.1 for width in (48, 128, 256) for tokens in (64, 256))]]-->. At 6.4<!--[[large_step["parameters"] / 1e6:.1f]]--> million parameters its step takes 0.83<!--[[large_step["ratio"]:.2f]]--> of the LSTM's time on the shorter texts, and about the same time on the longer ones<!--[[? 0.9 < timed[512, 256]["ratio"] < 1.1]]-->.
#   These are times on one core. A layer of self-attention has $O(1)$ sequential operations, an LSTM layer $O(n)$ (Vaswani et al. 2017, table 1). We have not measured how much time that saves on many cores.
# - **Optimisation.** The LSTM learns faster per *step* at first. With 60,000 parameters its training loss after 100 steps is 2.34<!--[[at_100["LSTM"].mean():.2f]]-->, the Transformer's 2.46<!--[[at_100["Transformer"].mean():.2f]]-->, and the LSTM's is lower with every seed<!--[[? at_100["LSTM"].max() < at_100["Transformer"].min()]]-->.
# - With 60,000 parameters the Transformer has caught up after 1,200 steps<!--[[? led(short) == "the LSTM" and led(long).startswith("neither")]]-->: the held-out losses differ by 0.003<!--[[(long["LSTM"]["48"] - long["Transformer"]["48"]).mean():.3f]]--> ± 0.013<!--[[half_width(long["LSTM"]["48"] - long["Transformer"]["48"]):.3f]]--> nats (95 % interval, five seeds).
# - With 16,000 parameters the Transformer is then ahead with four<!--[[words(int((long["Transformer"]["24"] < long["LSTM"]["24"]).sum()))]]--> of five seeds, by 0.057<!--[[(long["LSTM"]["24"] - long["Transformer"]["24"]).mean():.3f]]--> ± 0.046<!--[[half_width(long["LSTM"]["24"] - long["Transformer"]["24"]):.3f]]--> nats on average. This is one of our four comparisons (two sizes, two numbers of steps). Corrected for all four (Holm, [lecture 19](19_do_modifications_transfer.ipynb)), this lead may be chance<!--[[? 0.05 < corrected[1200, "24"] < 0.06]]-->.
# - **The learning rate can reverse the order.** With 60,000 parameters and one rate of 0.01 for both, the Transformer is ahead after 300 steps: it has 2.19<!--[[same_rate["Transformer"]:.2f]]--> and the LSTM 2.27<!--[[same_rate["LSTM"]:.2f]]-->. Our rates are a factor of about three apart, and we have not tried any between them.
# - **Capacity.** After 1,200 steps nearly four times the parameters lower the LSTM's loss by 0.14<!--[[gained[1200]["LSTM"].mean():.2f]]--> nats and the Transformer's by 0.09<!--[[gained[1200]["Transformer"].mean():.2f]]-->. After 300 steps the Transformer gains more. Corrected for these two comparisons, neither difference holds<!--[[? more[300].mean() < 0 < more[1200].mean() and min(of_more.values()) > 0.05]]-->. So these runs do not say which of the two makes better use of its parameters.
# - With about ten thousand times as many parameters the result may be different. On One Billion Word an LSTM of 1.8 billion parameters has a perplexity of 30.6, Transformer-XL with a quarter of the
#   parameters 23.5 (Dai et al. 2019, table 4). [Lecture 22](22_scale.ipynb) shows how many of such an LSTM's parameters are in its tables of word vectors.
# - **Generalisation.** These runs hardly test it. In 1,200 steps a model reads about a fifth as many characters as the text has<!--[[? 0.18 < 1200 * 12 * 64 / len(plays) < 0.22]]-->, so it reads little of the text twice. For both networks the held-out loss is within 0.03 nats of the training loss<!--[[? max(map(abs, gaps)) < 0.03]]-->. On longer texts than in training, [lecture 16](16_encoder_decoder_transformers.ipynb) finds no advantage of the Transformer.
# </details>
#
# **So why Transformers? At sizes that we can train in minutes, none of the three answers is clear.** Which network is ahead depends on the rate and on the number of steps. [Lecture 22](22_scale.ipynb) lets both networks grow.
# Our passages have 64 characters, so they hardly test how well a network remembers.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Collect the room's answers to the title question on the board before you show the table, then cross them out in turn. What goes wrong: they generalise
# from our sizes. Say that 300 steps on 64 characters test the first minutes of a training, and that the published models are ten thousand times as large.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. 2017's changes, one at a time
#
# The Transformer of 2017 made many changes at once (a slide of Mausam lists them). Which of them matter? We take its decoder as a small language model and
# remove one change at a time, five seeds each. Everything else stays unchanged, except that each row has the best of several learning rates (`python -m lectures.recipes changes_of_2017`).

# %% slideshow={"slide_type": "fragment"}
changes = stored("changes_of_2017")["rows"]
loss = {name: torch.tensor(row["dev"]) for name, row in changes.items()}
size = {name: row["parameters"] for name, row in changes.items()}
rise = {
    name: (losses.mean() - loss["all of 2017's changes"].mean()).item()
    for name, losses in loss.items()
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
asked = [
    "without positions",
    "without residual connections",
    "without feed-forward networks",
    "one head",
]
ranked = sorted(loss, key=lambda name: loss[name].mean().item())
show.predict(
    "Which of these removals raises the loss most?",
    choices=asked,
    answer=max(asked, key=rise.get),
    why="Without residual connections, signal and gradient must pass through every sublayer.",
    reveals=[
        HTML(
            show.bar_list_svg(
                [loss[name].mean().item() for name in ranked],
                ranked,
                says=[show.mean_from_to(loss[name], "{:.2f}") for name in ranked],
                highlight=[ranked.index("all of 2017's changes")],
                title="nats per character on held-out plays: mean, and lowest to highest of five seeds",
                width=1000,
            )
        ),
        widgets.removed_explorer(stored("changes_of_2017")).opens(
            row="without residual connections"
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The whole model reaches a loss of 2.23<!--[[loss["all of 2017's changes"].mean():.2f]]-->. Without residual connections the loss is 3.22<!--[[loss["without residual connections"].mean():.2f]]-->, hardly below that of character frequencies<!--[[? 0 < stored("changes_of_2017")["floors"]["single characters"] - loss["without residual connections"].mean() < 0.15]]-->, and it is above 3.2 at each of the four<!--[[words(len(changes["without residual connections"]["tried"]))]]--> rates that we tried<!--[[? min(changes["without residual connections"]["tried"].values()) > 3.2]]-->.
# - Removing the feed-forward networks costs about as much as removing attention. The losses are 2.50<!--[[loss["without feed-forward networks"].mean():.2f]]--> and 2.48<!--[[loss["without attention"].mean():.2f]]-->. (A row that lacks a part also has fewer parameters.)
# - Positional encodings lower the loss by 0.11<!--[[rise["without positions"]:.2f]]-->, and the seeds do not overlap<!--[[? loss["without positions"].min() > loss["all of 2017's changes"].max()]]-->. One head is no worse than four<!--[[? rise["one head"] < 0.01]]-->.
# - Without LayerNorm the loss is even lower, 2.12<!--[[loss["without LayerNorm"].mean():.2f]]--><!--[[? loss["without LayerNorm"].max() < loss["all of 2017's changes"].min()]]-->. Three layers do not need it. [Lecture 20](20_what_if.ipynb) asks what deep stacks need.
# - An LSTM instead of attention reaches 2.00<!--[[loss["an LSTM instead of attention"].mean():.2f]]-->, the best row<!--[[? ranked[0] == "an LSTM instead of attention"]]-->, with 32<!--[[100 * size["an LSTM instead of attention"] / size["all of 2017's changes"] - 100:.0f]]--> % more parameters. In section 8, too, an LSTM is ahead after so few steps.
# </details>
#
# **Removing the residual connections harms the small model most, then removing attention or the feed-forward networks, then positions.** It shows no need of several heads or of LayerNorm.
# Experiments with three layers cannot tell what a deep model needs.

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Let everybody rank the rows before you show them, and ask which differences the seeds cannot tell apart. What goes wrong: they read the table as a law; it is
# three layers and 400 steps.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Change the norm below: for example, do not subtract the mean, or multiply by the deviation instead of dividing. Compare it
# with ours. Then change `Block.forward` in section 3 (a norm after the sum, no residual connection) and train it in section 6.


# %% slideshow={"slide_type": "fragment"}
def my_layer_norm(x):
    """Subtract the mean, divide by the standard deviation. Change this."""
    centred = x - x.mean()
    return centred / (centred.square().mean() + 1e-5).sqrt()


widgets.norm_playground(
    {"LayerNorm": layer_norm, "RMSNorm": rms_norm},
    x.tolist(),
    yours={"LayerNorm": my_layer_norm, "RMSNorm": rms_norm},
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. Name a mistake, and let the room predict which lines of the picture change. What goes wrong: `x.std()` divides by d − 1, which is
# visible with five features.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`exercises/transformer/transformer.ipynb`](../exercises/transformer/transformer.ipynb) you write the whole model, and SmolLM2's weights
# run in your own code.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A model has 12 layers and width 768, and a vocabulary of 50,000. About how many parameters does it have?
# <details><summary>Answer</summary>$12 \cdot 12 \cdot 768^2$ = 85<!--[[12 * 12 * 768**2 / 1e6:.0f]]--> million in the layers, and 38<!--[[50_000 * 768 / 1e6:.0f]]--> million in the table, so 123<!--[[(12 * 12 * 768 + 50_000) * 768 / 1e6:.0f]]--> million. (It is GPT-2's smallest model.)</details>
#
# 2. You double all entries of the vector on the pathway before the last norm. What happens to the probabilities?
# <details><summary>Answer</summary>Nothing, because the norm divides by the size.</details>
#
# 3. Why can you read SmolLM2's pathway after layer 10 with the matrix that produces its output?
# <details><summary>Answer</summary>All layers add to the same vector, so its shape fits the matrix at every depth. Nothing guarantees that an early layer writes in directions that the output reads.</details>
#
# 4. A friend's GPT writes more slowly with each token. What is missing?
# <details><summary>Answer</summary>The cache of keys and values. Without it the whole text is read again for each token.</details>
#
# 5. Does a cache also help in training?
# <details><summary>Answer</summary>No. All positions of a text are computed in one pass, so nothing is computed twice.</details>
#
# 6. "Transformers are better because their word vectors depend on the context." What do you reply?
# <details><summary>Answer</summary>The states of an LSTM depend on the context as well.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 2 and let the room vote. What goes wrong: they expect sharper probabilities, because
# they forget the final norm.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $x$ on the pathway | $L_\ell[t, J]$, $h^\ell$, residual stream | the vector of a token after $\ell$ layers |
# | $A_\ell$, $F_\ell$ | SAN, FNN or FFN, MLP | attention, feed-forward network |
# | $d$, $d_{\mathrm{ff}}$ | $d_{\mathrm{model}}$, $J$ | width of the pathway, and inside the network |
# | $\varphi(xW_1 + b_1)$ | ReLU($WL - B$) | inside the feed-forward network; McAllester subtracts the bias |
# | $L$, $n$ | $N$, $T$ | number of layers, length of the text |
# | $u$ | row of $E$, $W_U$ | unembedding vector of a word |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: $L$ is a loss in other lectures and the number of layers here and in most papers.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **sublayer**: attention or a feed-forward network, with its norm and residual connection, inside one layer of a Transformer.
# - **residual pathway**: the vector of a token on its way through the layers, to which every sublayer adds.
# - **unembedding**: the matrix that turns the last vector into a score for every token.
# - **logit lens**: the final norm and the unembedding, applied after an earlier layer.
# - **RMSNorm**: division by the root mean square, without subtracting the mean.
# - **block**: attention and a feed-forward network, each with a norm and a residual connection; one layer of a Transformer.
# - **stack**: blocks in sequence.
# - **post-norm**: the norm follows the sum of the pathway and the sublayer's output.
# - **pre-norm**: the norm precedes the sublayer, and the pathway itself stays a plain sum.
# - **QK-norm**: a norm of queries and keys before they are multiplied, so that a score can grow only through a learned gain.
# - **key–value cache**: the keys and values of all earlier tokens, kept so that a new token costs only its own computation.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Vaswani et al. (2017), Attention Is All You Need. Radford et al. (2018, 2019), GPT and GPT-2. Ba, Kiros & Hinton (2016), Layer Normalization.
# Zhang & Sennrich (2019), Root Mean Square Layer Normalization. Geva et al. (2021), Transformer Feed-Forward Layers Are Key-Value Memories. nostalgebraist (2020), interpreting GPT: the logit lens. Xiong et al. (2020), On Layer Normalization in the Transformer
# Architecture. Henry et al. (2020), Query-Key Normalization for Transformers. Dehghani et al. (2023), Scaling Vision Transformers to 22 Billion Parameters. Shazeer (2020), GLU Variants Improve Transformer. Brown et al. (2020), GPT-3. Dai et al. (2019), Transformer-XL, table 4. Ben Allal et al. (2025), SmolLM2. McAllester, Deep Learning (TTIC 31230),
# slides on the Transformer. Wang, slides on Transformers (CUHK-Shenzhen). Mausam, Neural Language Models (IIT Delhi).
