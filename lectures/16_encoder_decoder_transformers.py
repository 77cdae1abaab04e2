# %% [markdown] slideshow={"slide_type": "slide"}
# # Encoder–decoder Transformers
#
# In 2017 the Transformer was not a language model but a *translator*. One stack of layers reads the source; a second one writes the target and
# attends to the first. This lecture builds that translator, steps through its training and its decoding, looks inside, and compares it with
# the recurrent translators of [lecture 11](11_sequence_to_sequence.ipynb) and [lecture 12](12_attention.ipynb) on the same sentences. Does it win?
#
# All sentences here are numbers in words, *three hundred and sixty five* → *drei hundert fünf und sechzig*. They are a narrow language. But for each of them
# we know the right translation and the right alignment (which word translates which), so we can score both.
#
# <img src="figures/units_before_tens.svg" width="400" alt="A table with a row for each German word of 465,721 and a column for each English word. Nearly all weight of each row is on the English word that it translates: fünf reads five, sechzig reads sixty, so the cells swap where German says units before tens.">
#
# *One head of a small Transformer reads English (columns) while it writes German (rows). An orange frame marks the English word that the German word translates. Nobody
# told the network which word translates which. In section 6 you explore all of its heads.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - name the three attentions of an encoder–decoder Transformer, and say for each where queries, keys and values come from and what is masked;
# - write one from its parts, and load trained weights into it;
# - step through a training step, and recognise the two leaks that make its loss look too good;
# - say what runs once and what runs at every step of decoding;
# - score attention against a reference alignment, and compare translators over several seeds and with a simple baseline;
# - say what $O(n + m)$ counts, and what it leaves out.
#
# **You need** sequence to sequence ([lecture 11](11_sequence_to_sequence.ipynb): source, target, teacher forcing, BLEU), attention over a recurrent encoder
# ([lecture 12](12_attention.ipynb)), the causal mask ([lecture 13](13_self_attention.ipynb)), and blocks and the cache ([lecture 15](15_transformer_language_model.ipynb)). Vectors are rows.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 6 | 9 | 8 | 13 | 9 | 11 | 10 | 6 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 120 minutes. Every cell runs in a few seconds on a laptop, without a network connection. *Coming from other slides or a paper?* A table
# at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 3 and the beams of section 5.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from functools import lru_cache, partial
from statistics import mean

import torch
from IPython.display import HTML
from torch import nn
from torch.nn import functional as F

from nlmcore.attention import causal_mask, two_way
from nlmcore.corpora import pad
from nlmcore.decoding import beam_search, greedy
from nlmcore.inspect import capture
from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import critical, holm, two_sided
from nlmcore.training import fit
from lectures import show, stored, widgets
from lectures.recipes.alignment import cross_weights, reference_alignment
from lectures.recipes.initial_weights import glorot
from lectures.recipes.leaks import SIZES
from lectures.recipes.numbers import pairs_to_train_on, tokenizers
from lectures.recipes.pairs import BOS, EOS, PairBatches, as_source, as_target
from lectures.recipes.pairs import english, german, translate
from lectures.trained import checkpoint

torch.set_num_threads(1)  # sums in one order: section 4 trains to the same values every time

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One question left open
#
# You have seen two translators. The first passes *one vector* from a recurrent encoder to a recurrent decoder ([lecture 11](11_sequence_to_sequence.ipynb)). The second lets the
# decoder *attend* to all encoder states ([lecture 12](12_attention.ipynb)). Attention shortened the path from the source to the target. But both halves are still
# recurrent. Information from an English word reaches the word ten positions later only after ten steps, and none of these steps
# can start before the previous one has ended. One question is left open: does a translator need recurrence at all?
#
# In [lecture 13](13_self_attention.ipynb) self-attention replaced recurrence inside one text. Vaswani et al. (2017) did the same in both halves of a translator.

# %% slideshow={"slide_type": "fragment"}
n, m = len(english(465_721).split()), len(german(465_721).split())
steps_between = {  # first source word to last target word, first to last source word
    "recurrent, one vector": (n + m, n - 1),
    "recurrent, attention": (1, n - 1),
    "Transformer": (1, 1),
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
between = show.table(
    [(name, *steps) for name, steps in steps_between.items()],
    ["Steps that information takes", "Source to target", "Within the source"],
    note=f"465,721: {n} English words, {m} German ones.",
)
show.predict(
    "465,721 has eleven words in English and eleven in German. Over how many steps does information travel from the first English word to the last German word in the translator with *one vector*?",
    choices={"1": 1, "about 11": 11, "about 22": 22},
    answer=steps_between["recurrent, one vector"][0],
    why="It passes through every state of the encoder, and then through every state of the decoder.",
    reveals=between,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Attention cuts the path *across* to one step. The path *within* the source remains long if the encoder is recurrent.
# - In a Transformer each of the two paths is one step, in every layer.
# - A short path does not guarantee a better translation.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Draw the two earlier translators on the board and let the room trace the path from the first English word to the last German word. What goes
# wrong: they count attention's path as zero, because the weights are "everywhere". It is one step, a weighted sum.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Three attentions, one function
#
# An **encoder–decoder Transformer** uses the attention of [lecture 12](12_attention.ipynb) three times. Write $h$ for the encoder's vectors and $z$ for the decoder's, one row per
# token:
#
# | | queries from | keys and values from | mask |
# |---|---|---|---|
# | the encoder's self-attention | $h$ | $h$ | only padding |
# | the decoder's self-attention | $z$ | $z$ | causal, as in GPT |
# | **cross-attention**, from the decoder to the source | $z$ | $h$ | only padding of the source |
#
# Only the third is new. The decoder asks, and the encoder's last layer answers:
#
# $$q = z\,W^Q, \qquad k = h\,W^K, \qquad v = h\,W^V, \qquad z \leftarrow z + \mathrm{softmax}\!\left(\frac{q k^\top}{\sqrt{d_{\mathrm{head}}}}\right) v\, W^O .$$
#
# Here $d_{\mathrm{head}}$ is the width of one head ($I$ in [lecture 13](13_self_attention.ipynb)), and $d$ is the width of the pathway. The formula shows one head, and leaves out the norm.
# The encoder may read in both directions, because the source is known from the start. The target is not, so each position of the decoder reads only to its left. Every
# decoder layer has its own $W^Q, W^K, W^V$, but all of them read the same $h$.

# %% [markdown] slideshow={"slide_type": "fragment"}
# The next picture is computed from the translator of this lecture. Read it from the bottom up. The encoder is on the left, the decoder on the right. The green
# arrow brings $h$ to the cross-attention of *every* decoder layer. The colours mark the three attentions: blue for the encoder's, orange for the causal one, green
# for cross-attention. Vaswani et al. (2017) have six layers on each side, and their norm follows the sum, $\mathrm{LN}(x + f(x))$.

# %% slideshow={"slide_type": "subslide"}
translator, words, card = checkpoint("numbers_transformer_20")
HTML(widgets.architecture(translator))

# %% slideshow={"slide_type": "subslide"}
source = torch.tensor([as_source(words.source.encode(english(312)))])
target = torch.tensor([as_target(words.target.encode(german(312)))])
with torch.no_grad(), capture(translator) as tape:
    translator(target[:, :-1], translator.encode(source))
print("the decoder reads  <bos>", german(312), "  the encoder reads ", english(312), "<eos>")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
shape = tuple(tape["decoder.layers.0.cross_attention"].shape[2:])
told = [(name, tuple(weights.shape)) for name, weights in tape.items()]
shapes = show.table(told, ["", "(batch, head, query, key)"])
show.predict(
    "The decoder reads 4 tokens, the encoder reads 5. What is the shape of one head's matrix of cross-attention weights?",
    choices=["(4, 4)", "(4, 5)", "(5, 4)", "(5, 5)"],
    answer=str(shape),
    why="A matrix of weights has a row for each query and a column for each key.",
    reveals=shapes,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Here are the weights themselves, one layer and head at a time. Each row of the decoder reads the word to the left of the arrow and predicts the word to
# the right of it. A grey cross marks a word that is masked.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def pair_of(number):
    told = english(number), german(number)
    return widgets.Pair(
        [*told[0].split(), "<eos>"],
        torch.tensor(as_source(words.source.encode(told[0]))),
        ["<bos>", *told[1].split(), "<eos>"],
        torch.tensor(as_target(words.target.encode(told[1]))),
    )


# what each row of layer 1, head 2 reads most while it writes 365
in_365 = cross_weights(translator, words, [365])[0][6].argmax(-1).tolist()
widgets.source_and_target_player(
    translator, [pair_of(number) for number in (365, 312, 48, 21)], layer=1, head=2
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The encoder's table is full, because each word reads to its left and to its right. In the decoder's table, position $i$ reads positions 1 to $i$, so 15 of the 36 weights of *drei hundert fünf und sechzig* are masked.
# - Cross-attention has no causal mask. The first German word may read the last English word.
# - In layer 1, head 2, the row that predicts *fünf* reads *five* most, and the row that predicts *sechzig* reads *sixty* most<!--[[? in_365[2] == 4 and in_365[4] == 3]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Write the table on the board with empty cells and let the room fill them in. What goes wrong: they give cross-attention a causal mask, "because
# it is in the decoder", or take queries from the encoder. Ask who wants to know something.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Built from parts
#
# A decoder layer is the block of [lecture 15](15_transformer_language_model.ipynb) with one more sublayer, and an encoder layer is that block without its causal mask. So one class serves
# both:


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
class Layer(nn.Module):
    """Self-attention, then attention to the source if there is one, then a network; each adds to the pathway."""

    def __init__(self, attention, network, norms, cross=None):
        super().__init__()
        self.attention, self.cross, self.network = attention, cross, network
        self.norms = nn.ModuleList(norms)

    def forward(self, x, mask, h=None, real=None):
        x = x + self.attention(self.norms[0](x), mask=mask)
        if h is not None:
            x = x + self.cross(self.norms[1](x), h, mask=real)  # q from x; k and v from h
        return x + self.network(self.norms[-1](x))


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
class Translator(nn.Module):
    def __init__(self, embed, encoder, decoder, norms, output):
        super().__init__()
        self.embed_source, self.embed_target = embed  # embedding and positions
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.norms, self.output = nn.ModuleList(norms), output

    def encode(self, source, real):
        """(batch, n) -> (batch, n, d): every word reads every other real one."""
        h = self.embed_source(source)
        for layer in self.encoder:
            h = layer(h, real)
        return self.norms[0](h)

    def forward(self, tokens, h, real, mask):
        """(batch, m) -> (batch, m, vocabulary): reads to the left, and the whole source."""
        z = self.embed_target(tokens)
        for layer in self.decoder:
            z = layer(z, mask, h, real)
        return self.output(self.norms[1](z))


# %% [markdown] slideshow={"slide_type": "subslide"}
# Fill this class with the parts of a trained model of the library. Does it give the same logits?


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def rebuilt(model):
    """A model of the library as a Translator of this page: the trained parts stay the same."""

    def layers(trunk):
        for layer in trunk.layers:
            cross = getattr(layer, "cross_attention", None)
            rules = (layer.residual_attention, getattr(layer, "residual_cross_attention", None))
            norms = [rule.norm for rule in (*rules, layer.residual_feed_forward) if rule]
            yield Layer(two_way(layer.attention), layer.feed_forward, norms, cross)

    halves = model.encoder, model.decoder
    return Translator(
        [half.embed for half in halves],
        *(layers(half) for half in halves),
        [half.final_norm for half in halves],
        model.output,
    )


# %% slideshow={"slide_type": "fragment"}
by_hand, real = rebuilt(translator), torch.ones(1, 1, 1, source.shape[1], dtype=torch.bool)
with torch.no_grad():
    reads = target[:, :-1]
    logits = by_hand(reads, by_hand.encode(source, real), real, causal_mask(reads.shape[1]))
    same = torch.allclose(logits, translator(reads, translator.encode(source))[0], atol=1e-4)
print("same logits as the library's:", same)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sizes = {
    name: sum(p.numel() for p in half.layers[0].parameters())
    for name, half in (("encoder", translator.encoder), ("decoder", translator.decoder))
}
told = [(f"one {name} layer", f"{size:,}") for name, size in sizes.items()]
show.table([*told, ("the whole model", f"{card['parameters']:,}")], ["", "Parameters"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - A decoder layer has a third more parameters than an encoder layer<!--[[? abs(sizes["decoder"] / sizes["encoder"] - 4 / 3) < 0.02]]-->. Self-attention has $4d^2$ parameters, the feed-forward network $8d^2$, and cross-attention adds another $4d^2$.
# - The mask is an *argument* here. If you pass `None` instead of a mask, nothing crashes. Section 4 does that on purpose.
# - Encoder and decoder have different embedding tables, since English and German words differ. Vaswani et al. (2017) shared one vocabulary of subwords, and one
#   table, between both languages.
# - The norm precedes each sublayer (pre-norm, [lecture 15](15_transformer_language_model.ipynb)).
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room write `Layer.forward` before you show it; it differs from the block of the GPT by one line. What goes wrong: they normalise h again in each
# layer. The encoder's final norm has already done that.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. One training step
#
# Training is teacher forcing, as in [lecture 11](11_sequence_to_sequence.ipynb). The decoder reads the target **shifted** to the right by one (Vaswani et al. write *outputs (shifted right)*): `<bos>`, $y_1, \dots, y_{m-1}$.
# At each position it predicts the word that the target has there, $y_1, \dots, y_m$ with $y_m$ = `<eos>`. The loss is the mean of
# $-\ln P(y_i \mid y_1, \dots, y_{i-1}, x)$ over all target words of the batch, without the padding.
#
# A recurrent decoder computes these $m$ losses in $m$ steps, because state $i$ needs state $i - 1$. In a Transformer's decoder, position $i$ reads what the previous layer computed at positions 1 to $i$, and the causal mask hides
# the later positions.
#
# We train a small Transformer on numbers of up to six words, and stop early, so that it still makes mistakes. Step through one training step.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
source_words, target_words = tokenizers()
pairs = pairs_to_train_on(2_000, 6, frozenset({312, 365, 148, 21_000}))


def loss_of(model, batch, shifted=True, masked=True):
    """Teacher forcing, by hand: what the decoder reads, what it predicts, and what counts."""
    tokens, real = batch["tokens"], batch["source_mask"][:, None, None]
    reads = tokens[:, :-1] if shifted else tokens[:, 1:]
    mask = causal_mask(reads.shape[1]) if masked else None
    logits = rebuilt(model)(reads, rebuilt(model).encode(batch["source"], real), real, mask)
    counts = batch["mask"][:, 1:]
    return F.cross_entropy(logits[counts], tokens[:, 1:][counts])


def learn(steps, seed=0, **how):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        sizes = {
            "source_vocab_size": source_words.vocab_size,
            "target_vocab_size": target_words.vocab_size,
        }
        model = glorot("EncoderDecoder", SIZES | sizes)
    batches, loss = PairBatches(pairs, 32, seed), partial(loss_of, **how)
    history = fit(model, batches, loss=loss, steps=steps, learning_rate=5e-3, progress=False)
    return model.eval(), history.losses


beginner, _ = learn(90)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def rows_of(model, shifted=True, masked=True):
    """The two pairs of a batch as the widget shows them."""
    told = [(english(number), german(number)) for number in (365, 312)]
    x, x_mask = pad([as_source(source_words.encode(one)) for one, _ in told])
    y, _ = pad([as_target(target_words.encode(other)) for _, other in told])
    reads, predicts = (y[:, :-1] if shifted else y[:, 1:]), y[:, 1:]
    with torch.no_grad():
        ours, real = rebuilt(model), x_mask[:, None, None]
        mask = causal_mask(reads.shape[1]) if masked else None
        p = (
            ours(reads, ours.encode(x, real), real, mask)
            .softmax(-1)
            .gather(-1, predicts[:, :, None])[:, :, 0]
        )

    def name(tokenizer, ids):
        special = {0: "<pad>", BOS: "<bos>", EOS: "<eos>"}
        return [special.get(i) or tokenizer.decode([i]) for i in ids.tolist()]

    return [
        widgets.TrainingRow(
            name(source_words, x[row]),
            name(target_words, reads[row]),
            name(target_words, predicts[row]),
            p[row].clamp_min(1e-9).tolist(),
            causal=masked,
        )
        for row in range(len(told))
    ]


passes = []
hook = beginner.decoder.final_norm.register_forward_hook(lambda *_: passes.append(1))
one_step = rows_of(beginner)
hook.remove()
sure = dict(zip(one_step[0].predicts, one_step[0].probabilities, strict=True))
show.predict(
    "The number 365 has six target words, counting `<eos>`, so six losses. How many times must the decoder run to compute all six?",
    choices={"once": 1, "six times": 6, "21 times, once per word that is read": 21},
    answer=len(passes),
    why="All positions are computed in one pass. Because of the mask, each position computes what it would compute if the text ended there.",
    reveals=widgets.training_step_player({"shifted and masked": one_step}),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The two masks have different purposes. The *padding* mask hides the padding of the source. The *causal* mask hides the target words that are still to be predicted.
# - Rows `reads` and `predicts` are the same words, shifted by one. Position 1 reads only `<bos>` and must predict *drei* from the source.
# - The second pair is shorter. Its padding is neither read nor counted in the loss.
# - After 90 steps the model knows *hundert* better than *fünf*<!--[[? sure["hundert"] > sure["fünf"] + 0.2]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Two leaks
#
# Two mistakes show the model its targets. You *forget to shift*, so each position reads the very word that it must predict. Or you *forget the mask*, so each position
# also sees the next position, whose input is the word that it must predict. We train the same model correctly and with each of the two mistakes, for 250 steps each.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
ways = {
    "shifted and masked": {},
    "not shifted": {"shifted": False},
    "not masked": {"masked": False},
}
trained = {way: learn(250, **how) for way, how in ways.items()}
at_the_end = {way: mean(losses[-20:]) for way, (_, losses) in trained.items()}
measured = stored("leaks")["rows"]  # the same, 600 steps, five seeds each
low = {way: min(row["loss"] for row in rows) for way, rows in measured.items()}
high = {way: max(row["loss"] for row in rows) for way, rows in measured.items()}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
leaks_told = show.table(
    [(way, f"{at_the_end[way]:.3f}", f"{low[way]:.4f} to {high[way]:.4f}") for way in ways],
    ["", "Loss here", "After 600 steps, five seeds"],
)
lowest = min(at_the_end, key=at_the_end.get)
show.predict(
    "Which of the three has the lowest training loss?",
    choices=list(ways),
    answer=lowest,
    why="It only has to copy the word that it reads.",
    reveals=[
        leaks_told,
        widgets.training_step_player(
            {way: rows_of(model, **ways[way]) for way, (model, _) in trained.items()}, stage=3
        ).opens(way=lowest),
    ],
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
writes, told = {}, []
for way, (model, _) in trained.items():
    numbers = [source_words.encode(english(k)) for k in (365, 148)]
    ids = translate(model, numbers, lambda length: length + 2)
    writes[way] = [target_words.decode(one) for one in ids]
    right = [100 * row["exact"] for row in measured[way]]
    written = (one or "(nothing)" for one in writes[way])
    told.append((way, *written, f"{min(right):.1f} to {max(right):.1f}"))
writes_told = show.table(told, ["Writes for", "365", "148", "Right in every word, %, five seeds"])
show.predict(
    "Now each model writes new numbers by itself, word by word. How many does the model that was *not masked* get right?",
    choices={"none": 0.0, "about half": 0.5, "nearly all": 0.99},
    answer=mean(row["exact"] for row in measured["not masked"]),
    why="In training it could read the answer at the next position. When it writes, there is no next position yet.",
    reveals=writes_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Both leaks *lower* the loss. After 600 steps and with each of five<!--[[words(len(measured["not shifted"]))]]--> seeds it is at most 0.0013<!--[[high["not shifted"]:.4f]]--> without the shift, at most 0.0078<!--[[high["not masked"]:.4f]]--> without the mask,
#   and at least 0.0084<!--[[low["shifted and masked"]:.4f]]--> in the correct model.
# - Of 200 new numbers the correct model writes at least 98.5<!--[[100 * min(row["exact"] for row in measured["shifted and masked"]):.1f]]--> % without an error; each leaking model gets none right, with every seed<!--[[? not any(row["exact"] for way in ("not shifted", "not masked") for row in measured[way])]]-->.
# - Here the unshifted model repeats `<bos>`<!--[[? set(writes["not shifted"][0].split("<bos>")) <= {"", " "}]]-->, because it has learned to copy. The unmasked one stops immediately<!--[[? writes["not masked"] == ["", ""]]]-->.
# - Nothing crashes, and no shape is wrong. Only the loss is too good. To test your own model, *change target word* $i$. The logits that predict words 1 to $i$ must not change. (Include word $i$ itself. Otherwise the test misses a forgotten shift.)
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *13 minutes. Step through the stages slowly, and let the room say at each one which words the framed position has seen. Take a vote before each leak. What goes
# wrong: they believe that the low loss is progress; ask what a loss near 0 means for a word that nobody could know.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Decoding
#
# When the model writes, there is no reference to read. It writes a word, reads it, and writes the next. That takes $m$ steps, each of which waits for the previous one. Every
# decoder layer keeps the keys and values of the source, $k = hW^K$ and $v = hW^V$. So a decoder has two caches. One holds the keys and values of the source,
# the other those of the target, and the second grows by one position per step ([lecture 15](15_transformer_language_model.ipynb)).


# %% slideshow={"slide_type": "fragment"}
def write(model, source, longest=40):
    """Greedy decoding. `state` holds both caches."""
    state, token, written = model.encode(source), BOS, []
    while len(written) < longest and token != EOS:
        logits, state = model(torch.tensor([[token]]), state)
        token = int(logits[0, -1].argmax())
        written.append(token)
    return written


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def decoding_of(number):
    """The source and every step of `write`, with the attention of the last layer."""
    x = torch.tensor([as_source(words.source.encode(english(number)))])
    steps, token = [], BOS
    with torch.no_grad():
        state = translator.encode(x)
        while token != EOS and len(steps) < 40:
            with capture(translator.decoder) as tape:
                logits, state = translator(torch.tensor([[token]]), state)
            p, best = logits[0, -1].softmax(-1).topk(4)
            weights = tape["layers.1.cross_attention"][0, :, 0].mean(0)
            names = [words.target.decode([i]) or "<eos>" for i in best.tolist()]
            steps.append(
                widgets.Decoding(weights.tolist(), list(zip(names, p.tolist(), strict=True)))
            )
            token = int(best[0])
    return [*english(number).split(), "<eos>"], steps


def write_slowly(model, source, longest=40):
    """The same, but the encoder runs again before every word."""
    token, written = BOS, []
    while len(written) < longest and token != EOS:
        logits, _ = model(torch.tensor([[BOS, *written]]), model.encode(source))
        token = int(logits[0, -1].argmax())
        written.append(token)
    return written


with torch.no_grad():
    of_365 = torch.tensor([as_source(words.source.encode(english(365)))])
    written, slowly = write(translator, of_365), write_slowly(translator, of_365)
outcomes = ["the later words get worse", "only the time that it takes", "it crashes"]
show.predict(
    "A friend's decoder calls `model.encode(source)` inside the loop, once for every word, and reads all words written so far again. What changes?",
    choices=outcomes,
    answer=outcomes[written == slowly],
    why="The source does not change while the target is written, and neither do its keys and values. So no test of the output finds this mistake.",
    reveals=widgets.decoding_playback(
        {f"{number:,}": decoding_of(number) for number in (365, 4_723, 21_648)}
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The blue weights jump to the right when German says the units first, and then back to the left.
# - The model is nearly certain at every step, and a number has only one right translation here. So beam search has little to gain.
# - Beam search with a beam of size $b$ keeps $b$ states. All of them share the encoder's work; only the target's cache is copied.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Beam search** can help where the model is unsure, for example about how an English word is pronounced. The Transformer `pronunciation_transformer` reads letters and writes phonemes. Greedy search gets the
# word *doi* wrong (the dictionary has D OY). Step through a beam of 2 and see where the right pronunciation survives.

# %% slideshow={"slide_type": "fragment"}
speaker, sounds, speech_card = checkpoint("pronunciation_transformer")


@lru_cache(maxsize=8)
def tree_of(beam_size, word="doi"):
    with torch.no_grad():
        state = speaker.encode(torch.tensor([as_source(sounds.source.encode(word))]))
    start = torch.tensor([[BOS]])
    _, tree = beam_search(
        speaker, start, 8, eos=EOS, state=state, beam_size=beam_size, trace=True
    )
    return tree


widgets.beam_player(tree_of, lambda i: sounds.target.decode([i]) or "<eos>", prompt="doi:")


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def ended(beam_size):
    """Probability and sounds of the best finished word."""
    tree = tree_of(beam_size)
    best = max((n for n in tree.nodes if n.status == "finished"), key=lambda n: n.log_prob)
    return math.exp(best.log_prob), sounds.target.decode([i for i in tree.path(best) if i != EOS])


alone, of_two = ended(1), ended(2)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With $b = 1$ the search takes UW as the second sound, which is likelier than OY at that step. It ends with D UW IY<!--[[? alone[1] == "D UW IY"]]-->, which has a probability of 0.23<!--[[alone[0]:.2f]]-->.
# - With $b = 2$ both sounds survive. After OY the pronunciation is nearly finished, and D OY<!--[[? of_two[1] == "D OY"]]--> wins with 0.30<!--[[of_two[0]:.2f]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask before the player which tensors must be kept from one step to the next. What goes wrong: they think that each hypothesis of the beam needs its own encoder.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Inside the translators
#
# Numbers have something that most translations lack, a *known* alignment. English and German number words have the same order, except that German says units before tens. For each German word we know which
# English word it translates. (Only *und* has no fixed partner.) So we can score attention instead of admiring it. A head *finds* the source word of a German word if its largest weight is on the English word of the reference alignment.

# %% [markdown] slideshow={"slide_type": "subslide"}
# On the left is the recurrent network with attention of [lecture 12](12_attention.ipynb), on the right the Transformer, where head 1.3 is head 3 of layer 1. An orange frame marks the reference. Both have about 238,000 parameters and were trained on the same pairs of up to 12 English words.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def reader_of(name):
    """number -> what the heads of that translator attend to while it reads the reference."""
    model, tokenizer, _ = checkpoint(name)

    def read(number):
        weights = cross_weights(model, tokenizer, [number])[0]
        heads = [f"{i // 4}.{i % 4}" for i in range(len(weights))]
        return widgets.Aligned(
            [*german(number).split(), "<eos>"],
            [*english(number).split(), "<eos>"],
            weights.numpy(),
            heads,
            reference_alignment(number),
        )

    return read


widgets.alignment_player(
    {
        "recurrent": reader_of("numbers_attention"),
        "Transformer": reader_of("numbers_transformer"),
    },
    widgets.slider(465_721, 1, 999_999, 1, "number", "520px"),
    head=7,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Which word does a row look for?** A row of the decoder has just read one word and predicts the next one. It could look for the source word of either. We score every head for both, on 200
# training numbers, for five seeds. The best head is then tested on new numbers.
#
# The baseline, **IBM Model 1** (Brown et al. 1993), learns from the same pairs which word translates which, with nothing but counts. It divides one count for each target word among the source words that could have produced it,
# estimates from all these counts how probable each translation is, and repeats both steps. It does not see positions.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
compared = stored("translators")  # python -m lectures.recipes translators
five = compared["seeds"]
found_next = {  # by the head that was best on the training numbers, in new ones of 9 to 11 words
    kind: mean(seed["aligned"]["9-11"] for seed in runs)
    for kind, runs in (five | {"recurrent, attention": compared["recurrent"]}).items()
} | {"IBM Model 1": compared["word_by_word"]["aligned"]["9-11"]}
looked_for = {
    what: mean(max(seed["heads"][what]) for seed in five["Transformer, sinusoids"])
    for what in ("the next word", "the word just read")
}
told = []
for kind, runs in (five | {"recurrent, attention": compared["recurrent"]}).items():
    best = [[100 * max(seed["heads"][what]) for seed in runs] for what in looked_for]
    told.append((kind, *(show.mean_from_to(of, "{:.1f}") for of in best)))
heads_told = show.table(told, ["The best head finds, % (lowest to highest seed)", *looked_for])
told = [(kind, f"{100 * share:.1f}") for kind, share in found_next.items()]
next_told = show.table(told, ["", "The next word, in new numbers of 9 to 11 words, %"])
finders = {
    "the one head of the recurrent network": found_next["recurrent, attention"],
    "the best of the Transformer's eight heads": found_next["Transformer, sinusoids"],
    "IBM Model 1, which only counts": found_next["IBM Model 1"],
}
show.predict(
    "Which of these finds the source word of the word to be *written next* most often, in new numbers of 9 to 11 words?",
    choices=list(finders),
    answer=max(finders, key=finders.get),
    why="The recurrent network's head is ahead with every seed. Counting finds most of the words as well, without any network.",
    reveals=[heads_told, next_told],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Some heads look for the next word. In the Transformer the best head for the next word points at the source word of 97<!--[[100 * looked_for["the next word"]:.0f]]--> % of the words to be written next. The best head for the word just read finds only 14<!--[[100 * looked_for["the word just read"]:.0f]]--> %.
# - On new numbers of 9 to 11 words, the head for the next word finds 97<!--[[100 * found_next["Transformer, sinusoids"]:.0f]]--> % and the one head of the recurrent network 100<!--[[100 * found_next["recurrent, attention"]:.0f]]--> %. IBM Model 1 finds 86<!--[[100 * found_next["IBM Model 1"]:.0f]]--> % of the same words; it sees no positions, so it cannot tell two equal words apart, such as the two *hundred*s of 465,721.
# - A head that *finds* the right word need not be a head that the model *needs* ([lecture 13](13_self_attention.ipynb) ablates heads to test that). In the Transformer of the widget all four heads of layer 1 find more than 91<!--[[100 * min(five["Transformer, sinusoids"][0]["heads"]["the next word"][4:]) - 0.5:.0f]]--> %.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **From letters to sounds.** Here is the same comparison without a reference, because our dictionary does not say which letter makes which sound. Both networks were trained on 112,397 words. Choose a word.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
spoken = stored("pronunciation_transformer")["rows"]


def speller_of(name):
    """word -> what the heads of that network attend to while it writes."""
    model, tokenizer, _ = checkpoint(name)

    def read(word):
        x = torch.tensor([as_source(tokenizer.source.encode(word))])
        with torch.no_grad():
            state, start = model.encode(x), torch.tensor([[BOS]])
            said = greedy(model, start, 2 * len(word) + 8, eos=EOS, state=state).tokens
            with capture(model) as tape:
                model(torch.cat([start, said[:, :-1]], 1), state)
        last = [weights for at, weights in tape.items() if "cross" in at] or [
            tape["decoder.attention"]
        ]
        weights = torch.cat(last, 1)[0]
        heads = [f"{i // 4}.{i % 4}" for i in range(len(weights))]
        spoken = [tokenizer.target.decode([i]) or "<eos>" for i in said[0].tolist()]
        return widgets.Aligned(spoken, [*word, "<eos>"], weights.numpy(), heads)

    return read


spellers = {
    "recurrent": speller_of("pronunciation_attention"),
    "Transformer": speller_of("pronunciation_transformer"),
}
six_words = ["box", "enough", "knight", "phoneme", "psychology", "shakespeare"]
forward_only = {  # for each head: does its largest weight never move back in any of the six words?
    name: torch.stack(
        [torch.tensor(read(word).weights).argmax(-1).diff().ge(0).all(-1) for word in six_words]
    ).all(0)
    for name, read in spellers.items()
}
widgets.alignment_player(spellers, widgets.menu(six_words, "word", "320px"), head=4)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Read the rows from top to bottom, and follow the recurrent network's largest weight. In these six words it never moves back<!--[[? forward_only["recurrent"].all()]]-->. The same holds for only one<!--[[words(int(forward_only["Transformer"].sum()))]]--> of the Transformer's eight<!--[[words(len(forward_only["Transformer"]))]]--> heads.
# - On 6,309<!--[[spoken["Transformer"]["words"]:,]]--> held-out words the recurrent network gets 32.91<!--[[spoken["recurrent, attention"]["word_error_rate"]:.2f]]--> % of the words wrong, and the Transformer 32.35<!--[[spoken["Transformer"]["word_error_rate"]:.2f]]--> %. A difference of up to 1.6<!--[[196 * (2 * 0.33 * 0.67 / spoken["Transformer"]["words"]) ** 0.5:.1f]]-->
#   points may be chance, and these are single runs, so they do not say which is better.
# - A recurrent network with one vector instead of attention gets 40.88<!--[[spoken["recurrent, one vector"]["word_error_rate"]:.2f]]--> % of the words wrong.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room choose a number with an "and" in two places. Ask why four heads might do one job (we do not know). What goes wrong: they read one head as "the"
# attention of the model. There are eight, and the mean of all hides the best.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Measured
#
# Five translators (four networks and a baseline) learned from the same 20,000 numbers of up to 12 English words. Three networks have nearly the same number of parameters and took 2,500<!--[[cost_of["Transformer, sinusoids"]["steps"]:,]]--> training steps of 64 pairs.
# The fourth has one vector and reads it at every step ([lecture 12](12_attention.ipynb)); of four such networks we chose the one that is best beyond the trained lengths. It is smaller and took 3,000<!--[[one_vector["training"]["steps"]:,]]--> steps; its time was not measured together with the others.
#
# | | parameters | seconds to train, one core |
# |---|---|---|
# | recurrent, one vector | 195,741<!--[[one_vector["parameters"]["every step"]:,]]--> | |
# | recurrent, attention | 236,829<!--[[cost_of["recurrent, attention"]["parameters"]:,]]--> | 60<!--[[cost_of["recurrent, attention"]["seconds"]:.0f]]--> |
# | Transformer, sinusoids | 239,168<!--[[cost_of["Transformer, sinusoids"]["parameters"]:,]]--> | 53<!--[[cost_of["Transformer, sinusoids"]["seconds"]:.0f]]--> |
# | Transformer, relative positions | 239,680<!--[[cost_of["Transformer, relative positions"]["parameters"]:,]]--> | 60<!--[[cost_of["Transformer, relative positions"]["seconds"]:.0f]]--> |
#
# **Word-by-word translation** is the baseline. It replaces each English word with the German word that is likeliest according to IBM Model 1, and keeps the word order.
#
# We test all of them on numbers of up to 29 words, more than twice as long as in training. Each network was trained with five seeds.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
cost_of = {
    name.removesuffix(", trained on up to 12 words"): cost
    for name, cost in stored("numbers_transformer")["costs"].items()
    if name.endswith(" 12 words")
}
before = stored("quality_by_length")["seeds"]  # five seeds each
one_vector = stored(
    "thought_vector"
)  # its way "every step", of four the best beyond the trained lengths
before_attention = [
    {
        "by_length": {
            at: {of: one_vector[of]["every step"][at][seed] for of in ("bleu", "exact")}
            for at in one_vector["bleu"]["every step"]
        }
    }
    for seed in range(5)
]
quality = {
    "recurrent, one vector": before_attention,
    "recurrent, attention": [{"by_length": line} for line in before["attention"]],
} | five
lengths = list(compared["word_by_word"]["by_length"])
baseline = compared["word_by_word"]
middle = [(int(low) + int(high)) / 2 for low, high in (at.split("-") for at in lengths)]
measures = {
    "BLEU": ("BLEU", lambda row, at: row["by_length"][at]["bleu"]),
    "every word right": (
        "right in every word, %",
        lambda row, at: 100 * row["by_length"][at]["exact"],
    ),
    "words found": ("words found by the best head, %", lambda row, at: 100 * row["aligned"][at]),
}


def lines_of(measure):
    """name -> (seed, length)"""
    value = measures[measure][1]
    known = (
        {"recurrent, attention": compared["recurrent"]} | five
        if measure == "words found"
        else quality
    )
    found = {
        name: [[value(row, at) for at in lengths] for row in rows] for name, rows in known.items()
    }
    return found | {"word by word": [[value(baseline, at) for at in lengths]] * 2}


def by_length(measure):
    lines = lines_of(measure)
    told = "; ".join(
        f"{name} {mean(row[0] for row in rows):.0f} at 3 to 5 words, {mean(row[5] for row in rows):.0f} at 18 to 20, {mean(row[-1] for row in rows):.0f} at 27 to 29"
        for name, rows in lines.items()
    )
    return show.bands_svg(
        middle, lines, x_title="English words in the number (training: up to 12)", y_title=measures[measure][0], low=0, high=100, columns=2,
        alt=f"{measures[measure][0]} against length; mean and range of five seeds. {told}.",
    )  # fmt: skip


twice = lengths.index("24-26")
bleu = {name: mean(row[twice] for row in rows) for name, rows in lines_of("BLEU").items()}
bleu_at = {  # (name, length) -> BLEU by seed
    (name, length): [row[i] for row in rows]
    for name, rows in lines_of("BLEU").items()
    for i, length in enumerate(lengths)
}


def apart(one, other, length, of=bleu_at):
    """(mean difference, half its 95 % interval), seed by seed."""
    pairs = zip(of[one, length], of[other, length], strict=True)
    return mean_interval(a - b for a, b in pairs)


def corrected(one, other, of):
    """Length -> p of the paired difference, corrected for all nine lengths (Holm)."""
    found = {length: apart(one, other, length, of) for length in lengths}
    return holm(
        {
            length: two_sided(abs(gap) / half * critical(4), 4) if half else 1.0
            for length, (gap, half) in found.items()
        }
    )


exact_at = {  # (name, length) -> % by seed
    (name, length): [row[i] for row in rows]
    for name, rows in lines_of("every word right").items()
    for i, length in enumerate(lengths)
}
exact_p = corrected("Transformer, relative positions", "recurrent, attention", exact_at)
bleu_p = corrected("Transformer, sinusoids", "recurrent, attention", bleu_at)
relative_ahead, relative_half = apart(
    "Transformer, relative positions", "recurrent, attention", "15-17"
)
one_ahead, one_half = apart("recurrent, one vector", "Transformer, sinusoids", "24-26")
in_beams = mean(row["beams"]["15-17"]["bleu"] for row in five["Transformer, sinusoids"])
aligned_late = {
    kind: mean(seed["aligned"]["24-26"] for seed in runs)
    for kind, runs in (five | {"recurrent, attention": compared["recurrent"]}).items()
} | {"IBM Model 1": baseline["aligned"]["24-26"]}
asked = [
    "recurrent, attention",
    "Transformer, sinusoids",
    "word by word",
]
show.predict(
    "Sort these three translators by BLEU on numbers of 24 to 26 words, twice as long as in training, the best first.",
    order=asked,
    answer=sorted(asked, key=bleu.get, reverse=True),
    why="Up to the trained lengths both networks with attention are perfect.",
    reveals=widgets.live(by_length, measure=widgets.choice(measures, "measure")),
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def in_words(values):
    """The mean of the seeds and their range, if they differ."""
    low, high = round(min(values)), round(max(values))
    return f"{mean(values):.0f}" + (f" ({low} to {high})" if low < high else "")


shown = [lengths.index(at) for at in ("9-11", "12-14", "15-17", "24-26")]
told = [
    (measures[measure][0], name, *(in_words([row[i] for row in rows]) for i in shown))
    for measure in ("BLEU", "every word right")
    for name, rows in lines_of(measure).items()
]
show.table(told, ["Mean (range of five seeds)", "", *(f"{lengths[i]} words" for i in shown)])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Up to the trained length** the recurrent network with attention and both Transformers have BLEU 100 with every seed<!--[[? all(min(bleu_at[name, at]) > 99.9 for at in ("3-5", "6-8", "9-11") for name in ("recurrent, attention", "Transformer, sinusoids", "Transformer, relative positions"))]]-->.
# - **Beyond it the Transformer with sinusoids is behind.** At 15 to 17 words it has 78<!--[[mean(bleu_at["Transformer, sinusoids", "15-17"]):.0f]]-->, the recurrent network with attention 90<!--[[mean(bleu_at["recurrent, attention", "15-17"]):.0f]]-->, and even the Transformer's best seed is below the worst recurrent seed<!--[[? max(bleu_at["Transformer, sinusoids", "15-17"]) < min(bleu_at["recurrent, attention", "15-17"])]]-->. Paired by seed and corrected for all nine lengths (Holm, [lecture 19](19_do_modifications_transfer.ipynb)), the difference holds at 15 to 17 and at 27 to 29 words<!--[[? [length for length, p in bleu_p.items() if p < 0.05] == ["15-17", "27-29"]]]-->.
# - **Most of this gap comes from the positional encoding.** With relative positions, and nothing else changed, BLEU is 91<!--[[mean(bleu_at["Transformer, relative positions", "15-17"]):.0f]]-->. Paired by seed, that is 0.8<!--[[relative_ahead:.1f]]--> ± 4.8<!--[[relative_half:.1f]]--> points above the recurrent network. Greedy search is not the
#   cause of the gap, because a beam of 4 changes the BLEU of 78<!--[[mean(bleu_at["Transformer, sinusoids", "15-17"]):.0f]]--> by less than one point<!--[[? abs(in_beams - mean(bleu_at["Transformer, sinusoids", "15-17"])) < 1]]-->.
# - But with relative positions only 39<!--[[mean(exact_at["Transformer, relative positions", "15-17"]):.0f]]--> % of these numbers are right in every word, with the recurrent network 60<!--[[mean(exact_at["recurrent, attention", "15-17"]):.0f]]--> %. Corrected for the nine lengths, this difference does not hold (p = 0.4<!--[[exact_p["15-17"]:.1f]]-->).
# - **Word-by-word translation** has a BLEU of 25<!--[[bleu_at["word by word", "24-26"][0]:.0f]]--> at 24 to 26 words, although it keeps the English order. The network with one vector has fewer parameters and reaches 40<!--[[mean(bleu_at["recurrent, one vector", "24-26"]):.0f]]-->, the Transformer with sinusoids 36<!--[[mean(bleu_at["Transformer, sinusoids", "24-26"]):.0f]]-->. With a difference of 3.6<!--[[one_ahead:.1f]]--> ± 4.3<!--[[one_half:.1f]]--> points we cannot rank these two<!--[[? one_ahead < one_half]]-->.
#
# The widget also shows *words found*, the fraction of German words for which the best head finds the source word. At 24 to 26 words all networks find fewer than at the trained lengths, even when they read the reference. With sinusoids the best head finds 45<!--[[100 * aligned_late["Transformer, sinusoids"]:.0f]]--> %, the head of the recurrent network 44<!--[[100 * aligned_late["recurrent, attention"]:.0f]]--> %, and
# IBM Model 1, which uses no positions, 68<!--[[100 * aligned_late["IBM Model 1"]:.0f]]--> %. We do not know how much BLEU depends on the alignment.
# </details>
#
# **Does the Transformer win? Not on this task.** Up to the trained lengths all three networks with attention are perfect. Beyond them the Transformer with the sinusoids of 2017 is behind the recurrent network with attention. With relative positions we see no difference in BLEU<!--[[? all(abs(gap) < half for gap, half in (apart("Transformer, relative positions", "recurrent, attention", at) for at in lengths[3:]))]]-->,
# but at 15 to 17 words the 95 % interval of this difference is ± 5<!--[[relative_half:.0f]]--> points. Nor was the Transformer clearly faster
# to train (see the table). We have not tested other learning rates, more layers or real sentences.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Let everybody sort before you show it; most put the Transformer first. Ask what a fair comparison holds equal. What goes wrong: they conclude that Transformers are worse
# at translation. It is one task, two layers, and lengths that training never had.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. The $O(n + m)$ picture
#
# You will read that an encoder–decoder takes $O(n + m)$ steps, or $O(nm)$ with attention. For the Transformer each of these counts only a part.
#
# - The *positions* to compute are $n + m$. Each takes about $14 d^2$ multiply-adds per layer, $12 d^2$ in the block and $2 d^2$ for cross-attention. Cross-attention projects each source position to a key and a value, and each
#   target position to a query and an output.
# - The three attentions compute $n^2 + m^2 + nm$ *scores*. Only the last $nm$ belong to cross-attention. Each score takes $2d$ multiply-adds, half of them for the weighted sum.
# - The number of *sequential* steps is neither of the two. In training it is the number of layers.
#
# These are the multiply-adds of our networks of width 128 with one layer (`python -m lectures.recipes source_and_target`):

# %% slideshow={"slide_type": "fragment"}
cost = stored("source_and_target")
kinds = {"initial": "recurrent, one vector", "attention": "recurrent, attention"}
kinds["transformer"] = "Transformer"
for kind, formula in cost["written"].items():
    print(f"{kinds[kind]:24} {formula}")


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def products(kind):
    terms = {
        "n": lambda n, m: n,
        "m": lambda n, m: m,
        "nm": lambda n, m: n * m,
        "n²": lambda n, m: n * n,
        "m²": lambda n, m: m * m,
    }
    return lambda n, m: sum(
        c * terms[term](n, m) for term, c in cost["multiply_adds"][kind].items()
    )


networks = {
    "recurrent, one vector": widgets.Network(
        products("initial"), lambda n, m: n + m, lambda n, m: n - 1, lambda n, m: n + m
    ),
    "recurrent, attention": widgets.Network(
        products("attention"), lambda n, m: n + m, lambda n, m: n - 1, lambda n, m: 1
    ),
    "Transformer": widgets.Network(
        products("transformer"), lambda n, m: 2, lambda n, m: 1, lambda n, m: 1
    ),
}
seconds = {kinds[kind]: of["256"] for kind, of in cost["seconds"].items()}
some = ("64", "256", "1024", "4096")
told = [
    (kinds[kind], *(f"{1000 * of[at]:.1f}" for at in some))
    for kind, of in cost["seconds"].items()
]
seconds_told = show.table(told, ["Milliseconds at n = m =", *some])
show.predict(
    "You run one forward pass over 256 source and 256 target tokens, on one core. Which of the three networks takes the least time?",
    choices=list(seconds),
    answer=min(seconds, key=seconds.get),
    why="It does the most arithmetic of the three, but in a few large matrix products; the recurrent networks work position by position. We did not test whether this is the reason. (In the previous lecture, *training* at a smaller width gave the other order.)",
    reveals=[seconds_told, widgets.pair_cost_playground(networks)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At 256 tokens the Transformer does 3.2<!--[[networks["Transformer"].products(256, 256) / networks["recurrent, one vector"].products(256, 256):.1f]]--> times as many multiplications as the recurrent network without attention, and takes less time, 4.7<!--[[1000 * cost["seconds"]["transformer"]["256"]:.1f]]--> instead of 7.4<!--[[1000 * cost["seconds"]["initial"]["256"]:.1f]]--> ms.
# - At 4,096 tokens the quadratic terms dominate, and the recurrent network without attention is fastest, with 0.12<!--[[cost["seconds"]["initial"]["4096"]:.2f]]--> s compared with the Transformer's 0.34<!--[[cost["seconds"]["transformer"]["4096"]:.2f]]--> s<!--[[? min(cost["seconds"], key=lambda kind: cost["seconds"][kind]["4096"]) == "initial"]]-->.
# - When they *write*, all three networks take $m$ steps in sequence. Only in training, and in reading the source, does the Transformer wait less.
# - A GPT that reads source and target as one text of $n + m$ tokens computes about $(n + m)^2 / 2$ scores, because its causal mask leaves half of them. At $n = m$ these are $2n^2$ scores. An encoder–decoder, whose causal mask leaves half of the $m^2$, computes more, $n^2 + m^2/2 + nm = 2.5\,n^2$.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What is an encoder–decoder still used for?** GPT, Llama and SmolLM2 are **decoder-only**. They read the source as the beginning of the target, with one stack and a causal mask. An encoder–decoder
# suits an input of a different kind from the output: sound in speech recognition, an image in captioning, another language in translation. Its encoder reads in *both* directions. Like a
# decoder-only model with a cache, it encodes the source once, however long the target becomes. T5 is an encoder–decoder for text; [lecture 17](17_pretraining.ipynb) compares it with the other two families.
#
# > **Ask yourself.** Which of the two would you choose for the subtitles of a film, and which for a chat?
#
# <details><summary><b>Answer</b></summary>
#
# For subtitles the source is sound, and each stretch of it is read once, so an encoder–decoder fits. In a chat every answer becomes part of the next source. A decoder-only model keeps its cache; an
# encoder that reads in both directions must read the whole conversation again, because every new word changes the vectors of all earlier ones.
# </details>
#
# **The Transformer of 2017 uses one attention function three times.** It translates without recurrence. But it did not translate our numbers better than a recurrent network with attention. In the networks of this section it does more arithmetic<!--[[? all(networks["Transformer"].products(k, k) > networks["recurrent, attention"].products(k, k) > networks["recurrent, one vector"].products(k, k) for k in (64, 256, 4096))]]-->, but in training this takes fewer sequential steps.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Collect on the board what "O(n + m)" could count: positions, steps in sequence, products. What goes wrong: they say that the Transformer is O(1) because
# it is parallel. It does not compute less, but no position waits for another.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write your own `loss_of`, and find a third leak. The code below is correct. Let the encoder read the target, for example, or make a mistake that does not leak: train the model to write the target *backwards*, or count the padding in the loss.
# Then train it, and see what it writes.


# %% slideshow={"slide_type": "skip"} tags=["lesson"]
def my_loss(model, batch):
    """Change this, then run the cell."""
    tokens, real = batch["tokens"], batch["source_mask"][:, None, None]
    reads, predicts = tokens[:, :-1], tokens[:, 1:]
    ours = rebuilt(model)
    logits = ours(reads, ours.encode(batch["source"], real), real, causal_mask(reads.shape[1]))
    counts = batch["mask"][:, 1:]
    return F.cross_entropy(logits[counts], predicts[counts])


with torch.random.fork_rng():
    torch.manual_seed(0)
    mine = glorot(
        "EncoderDecoder",
        {
            **SIZES,
            "source_vocab_size": source_words.vocab_size,
            "target_vocab_size": target_words.vocab_size,
        },
    )
losses = fit(
    mine, PairBatches(pairs, 32, 0), loss=my_loss, steps=250, learning_rate=5e-3, progress=False
).losses
ids = translate(mine.eval(), [source_words.encode(english(365))], lambda length: length + 2)[0]
print(f"loss {mean(losses[-20:]):.3f}; 365 becomes: {target_words.decode(ids)}")

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. Let each row of the room break a different line, and compare the losses. What goes wrong: a change that makes the loss lower is
# called an improvement before anybody has looked at the German.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`exercises/translation/translation.ipynb`](../exercises/translation/translation.ipynb) you write the whole translator from its parts, train it, and
# score it against translators without a network.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A translator with 8 heads and 6 layers reads a source of 40 tokens and a target of 30. How many cross-attention weights are there?
# <details><summary>Answer</summary>$30 \cdot 40 \cdot 8 \cdot 6 = 57{,}600$.</details>
#
# 2. Your translator's training loss is 0.0002 after 100 steps. What do you check first?
# <details><summary>Answer</summary>Whether the target is shifted and the causal mask is there. Change target word $i$. No logit that predicts words 1 to $i$ may change.</details>
#
# 3. Why does the encoder have no causal mask?
# <details><summary>Answer</summary>The whole source is known before anything is predicted, and none of it is predicted. So no word of it can leak an answer.</details>
#
# 4. You swap $h$ and $z$ in cross-attention, so that the encoder's vectors ask. What is the shape of the output, and what is wrong?
# <details><summary>Answer</summary>It has one row per *source* word, so it does not fit the decoder's pathway. And the source would read the target, including its future.</details>
#
# 5. A friend's decoder is right but slow, and slower with longer *sources*. What is the likely mistake?
# <details><summary>Answer</summary>It runs the encoder, or projects the source to keys and values, at every step.</details>
#
# 6. A head puts 0.99 of its weight on the right source word. Does the model need this head?
# <details><summary>Answer</summary>The weight does not tell you. Other heads may do the same. Ablate the head and measure BLEU.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask numbers 2 and 4. What goes wrong: in number 3 they answer "because it is faster".*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $k = hW^K$, $v = hW^V$, $q = zW^Q$ | $k_i = K h_i$, $v_i = V h_i$, $q_i = Q z_i$ | cross-attention, vectors as rows and as columns |
# | $h$ | $h_1 \dots h_n$, memory, encoder output | the vectors of the encoder's last layer |
# | $z$ | $z_i$, decoder states | the vectors on the decoder's pathway |
# | shifted | outputs (shifted right), `decoder_input_ids` | what the decoder reads in training |
# | $n$, $m$ | $T_x$, $T_y$; source and target length | lengths |
# | `source_mask` | `src_key_padding_mask` (True = *hidden*) | True = a real token, may be read |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: PyTorch's `src_key_padding_mask` has the opposite sign, so a mask from a tutorial hides the text and
# shows the padding.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **encoder–decoder Transformer**: a stack that reads the source in both directions, and a stack with a causal mask that writes the target and attends to the first.
# - **cross-attention**: attention whose queries come from one text and whose keys and values come from another.
# - **shifted (target)**: moved to the right by one, `<bos>` first, so that each position reads the previous word and predicts its own.
# - **word-by-word translation**: each source word is replaced by its likeliest translation, and the word order stays the same.
# - **IBM Model 1**: a model of word translation that is learned from pairs of sentences by counting, and does not see word order.
# - **decoder-only**: made of one causal stack, which reads the source as the beginning of the target.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Vaswani et al. (2017), Attention Is All You Need, sections 3.1 and 3.2.3. Bahdanau, Cho & Bengio (2015), Neural Machine Translation by Jointly Learning to Align and Translate. Brown et al. (1993), The
# Mathematics of Statistical Machine Translation, section 4.1. Raffel et al. (2020), T5, section 2.1. Papineni et al. (2002), BLEU. Wu, Cotterell & Hulden (2021), Applying the Transformer to Character-level Transduction. Mausam, Neural Language Models (IIT Delhi).
# Wang, slides on Transformers (CUHK-Shenzhen). McAllester, Deep Learning (TTIC 31230).
