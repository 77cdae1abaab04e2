# %% [markdown] slideshow={"slide_type": "slide"}
# # Feed-forward and convolutional language models
#
# You have never read the words *the old queen laughed at her gloomy uncle*. Neither, most likely, has anybody. You know all
# the same what may come next and what may not. A table of counts knows nothing: it has not seen them. What would a
# model have to know about *queen* to make use of what it has read about *king*?
#
# <img src="figures/04_receptive_field.svg" width="860" alt="Sixteen words in a row and three layers of circles above them. One circle at the top right is orange, and lines lead down from it, spreading at each layer, to the last eight words, which are tinted blue. The eight words to the left are white.">
#
# *A convolutional language model predicts what follows the last word. Blue: every path by which a word can reach this prediction,
# and the words for which a gradient says that they do. Three layers, eight words. In section 7 you change it, and compare it
# with three other kinds of network.*
#
# **After this lecture you can**
# - write down Bengio's language model, count its parameters, and train it;
# - show where it beats an n-gram and where it does not, with numbers;
# - say what is lost when words are averaged;
# - compute a convolution by hand, read what a trained filter has found, and keep the future out;
# - compute a receptive field, and check it by gradients;
# - choose between a window, a chain and all-to-all by what each can see.
#
# **You need** from lecture 1: n-grams, smoothing, *perplexity* (the exponential of the mean log loss: as uncertain as a choice
# among so many equally likely words). From lecture 2: an *embedding* is a learned vector for each word. From lecture 3: layers, activation functions,
# gradients, gradient descent. Vectors are rows: a matrix stands to their right, $xV$.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 10 | 9 | 7 | 12 | 7 | 7 | 8 | 5 |
#
# Every cell runs in a few seconds on a laptop, without a network connection. *To lecture from this notebook:* `make present ARGS=04`
# shows it slide by slide, widgets alive; short of time, skip section 6. *Coming from other slides
# or a paper?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from nlmcore.convolutional import ConvLM, ConvSeq2Seq
from nlmcore.corpora import load
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.ngram import NGramLM
from lectures.trained import checkpoint
from lectures import show, widgets

torch.set_num_threads(1)  # small matrices: more threads would wait for each other
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A window of word vectors
#
# Bengio, Ducharme, Vincent & Jauvin (2003) put two ideas of the last lectures together. Take the last few words, three say: the
# **window**. Look up the embedding of each, and lay the three side by side in one long row $x$. One hidden layer, one softmax:
#
# $$x = [x_1, x_2, x_3], \qquad h = f(x V + b_1), \qquad \hat y = \mathrm{softmax}(h W + b_2).$$
#
# $\hat y$ holds one probability for every word of the vocabulary. The embeddings are parameters like $V$ and $W$: the gradient flows
# into them, and they are learned *by predicting the next word*. Bengio's $f$ is $\tanh$, a sigmoid from −1 to 1. A **feed-forward network**
# is one in which values flow one way, from the window to the prediction, and nothing is kept for the next word.
#
# > **Predict before you run.** 27 symbols, embeddings of 8 numbers, a window of 3, 64 hidden neurons. How many
# > parameters: about 600, about 3,600, or about 20,000?

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(0)


def parameter(*shape):
    return (torch.randn(*shape, generator=draw) * shape[0] ** -0.5).requires_grad_()


SYMBOLS, D, WINDOW, HIDDEN = 27, 8, 3, 64
C = torch.randn(SYMBOLS, D, generator=draw).requires_grad_()  # one embedding per row
V, b1 = parameter(WINDOW * D, HIDDEN), torch.zeros(HIDDEN, requires_grad=True)
W, b2 = parameter(HIDDEN, SYMBOLS), torch.zeros(SYMBOLS, requires_grad=True)


def scores(window):  # window: (batch, 3) numbers of symbols
    x = C[window].flatten(start_dim=1)  # (batch, 3 · 8): side by side
    h = torch.tanh(x @ V + b1)  # (batch, 64)
    return h @ W + b2  # (batch, 27); softmax makes probabilities of them


print("parameters:", sum(p.numel() for p in (C, V, b1, W, b2)))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b> (click after you have predicted)</summary>
#
# 3,571: $27 \cdot 8 = 216$ in the embeddings, $24 \cdot 64 + 64 = 1{,}600$ in $V$ and $b_1$, $64 \cdot 27 + 27 = 1{,}755$ in $W$
# and $b_2$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Train it, now.** The text: 4,641 first names of the census of the United States (1990), the symbols their letters, and a blank for
# "before the beginning" and "the end". The loss is the surprise of the next letter, the gradient comes from autograd.
#
# > **Predict before you run.** Guessing blindly has perplexity 27. What will this window of three letters reach in 1,500 steps?
# > And will it beat a 4-gram, which sees the same three letters?


# %% slideshow={"slide_type": "fragment"}
def windows(names):
    """Every window of three symbols, and the symbol that follows."""
    rows = [[0] * WINDOW + [ord(letter) - 96 for letter in name.lower()] + [0] for name in names]
    inputs = [row[i : i + WINDOW] for row in rows for i in range(len(row) - WINDOW)]
    return torch.tensor(inputs), torch.tensor([symbol for row in rows for symbol in row[WINDOW:]])


names = {
    part: [d.text for d in load("names", kind="first").splits[part]] for part in ("train", "test")
}
inputs, following = windows(names["train"])
optimizer = torch.optim.Adam([C, V, b1, W, b2], lr=0.01)  # gradient descent that adapts each rate
for step in range(1500):
    rows = torch.randint(0, len(inputs), (128,), generator=draw)
    loss = F.cross_entropy(scores(inputs[rows]), following[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 300 == 0:
        print(f"step {step:5}: perplexity on its batch {loss.exp():5.1f}")
with torch.no_grad():
    test_inputs, test_following = windows(names["test"])
    reached = F.cross_entropy(scores(test_inputs), test_following).exp().item()
print(f"on names it has not seen: {reached:.1f}")

# %% slideshow={"slide_type": "subslide"}
BOS, EOS = 1, 2
letters = {
    part: [[BOS, *(ord(letter) - 94 for letter in name.lower()), EOS] for name in of]
    for part, of in names.items()
}
counted = {}
for order in (2, 3, 4):
    ngram = NGramLM(order, 30, "kneser_ney").fit(letters["train"])
    nats = torch.cat(
        [-ngram.log_probabilities(torch.tensor([name]))[0, 1:] for name in letters["test"]]
    )
    counted[order] = nats.mean().exp().item()
    print(f"{order}-gram, Kneser–Ney: {counted[order]:.1f}")


def invent():
    window = [0, 0, 0]
    while len(window) == 3 or window[-1]:
        p = torch.softmax(scores(torch.tensor([window[-3:]])), dim=-1)
        window.append(int(torch.multinomial(p, 1, generator=draw)))
    return "".join(chr(96 + letter) for letter in window[3:-1]).title()


print("names of its own:", *[invent() for _ in range(12)])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 8.2: it hesitates between eight letters in place of 27, after a second of training.
# - It does *not* beat the 4-gram, which has 6.9. With 27 symbols nearly every window of three letters has been seen often. Where
#   counts are plenty, counting is hard to beat. The case for vectors is made with words.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **With words.** `nlmcore.feedforward.FeedForwardLM` is the same network. One was trained on the plays of lecture 1: 5,000 words,
# window 4, 64 numbers per embedding, 64 hidden neurons (`python -m lectures.recipes unseen_contexts`).
#
# > **Predict before you run.** A table for *every* sequence of four of 5,000 words and what follows would have how many entries? How
# > many sequences of five words does the training text hold? How many parameters does the network have, and how many more with
# > a window of 8?

# %% slideshow={"slide_type": "fragment"}
network, words, card = checkpoint("word_window")
plays = [[BOS, *words.encode(play), EOS] for play in load("shakespeare").texts("train")]
fivegrams = {gram for play in plays for gram in zip(*(play[i:] for i in range(5)), strict=False)}
print(f"possible: {5000**5:.0e}   in the text: {len(fivegrams):,} different ones")
for window in (4, 8):
    model = FeedForwardLM(5000, window=window, d_embedding=64, d_hidden=64)
    print(f"window {window}: {sum(p.numel() for p in model.parameters()):,} parameters")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $5000^5 \approx 3 \cdot 10^{18}$ entries, of which the text fills not quite a million, nearly all of them with a single count: the
#   table is *sparse*. An n-gram must store what it has counted, and fall back wherever it has not.
# - The network has 661,448 parameters, whatever it has read. A window of 8 costs 16,384 more, $4 \cdot 64 \cdot 64$: $V$ grows in
#   proportion to the window, not to a power of it. No sparsity, and no counts to store.
# - Most parameters are in the embeddings and in $W$, which has a column for every word.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. What nobody has seen
#
# Here is the point of Bengio's paper. Words that are used alike get similar embeddings, because similar vectors make similar
# predictions and both are rewarded. Then a window with *one* word exchanged for a similar one is a similar $x$, and gives
# a similar prediction, **whether or not those words were ever seen together**. A count must start from nothing.
#
# > **Predict before you move the slider.** At 0 stands a sequence of words from the plays. Further to the right the word in
# > brackets is replaced by its nearest neighbours among the embeddings, one after the other. Which of the two models changes its
# > mind more?

# %% slideshow={"slide_type": "fragment"}
fivegram = NGramLM(5, words.vocab_size, "kneser_ney").fit(plays)
seen = {
    play_part
    for play in plays
    for n in (1, 2, 3, 4)
    for play_part in zip(*(play[i:] for i in range(n)), strict=False)
}
# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
directions = F.normalize(network.embedding.weight.detach(), dim=1)


def best(model, ids, count=6):
    with torch.no_grad():
        p = torch.softmax(model(torch.tensor([ids]))[0][0, -1], dim=-1)
    top = p.topk(count)
    return [
        (words.decode([token]), value)
        for token, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]


def neighbour(word, rank):
    """The word's own name, or the word whose embedding is the rank-th nearest to its."""
    token = words.encode(word)[0]
    order = (directions[:500] @ directions[token]).argsort(
        descending=True
    )  # among the most frequent
    return words.decode([int(order[order > 3][rank])])


def continued(context, rank):
    chosen = context[context.index("[") + 1 : context.index("]")]
    new = neighbour(chosen, rank)
    text = context.replace(f"[{chosen}]", new)
    ids = words.encode(text)
    known = max(n for n in range(5) if n == 0 or tuple(ids[-n:]) in seen)
    says = (
        f"of these 4 words, the last {known} stand so in the training plays"
        if known < 4
        else "seen in training"
    )
    shown = [*text.split()]
    shown[context.split().index(f"[{chosen}]")] = f"[{new}]"
    return widgets.Continued(
        shown,
        says,
        {"5-gram, Kneser–Ney": best(fivegram, ids), "feed-forward": best(network, ids)},
    )


contexts = ["O my [sweet] lord", "where is [thy] master", "I have [seen] a", "[she] is not so"]
widgets.neighbour_playground(continued, contexts)

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask for a word before each key press. The embeddings come from a million words, which is little: neighbours of frequent
# words are good, those of rare ones are noise. Say so before somebody finds out.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "O my [sweet] lord" stands in the plays: both models expect a comma with about 0.4. At 3, "gentle" is in its place, and these
#   four words do not: the 5-gram falls back on *gentle lord*, gives the comma 0.15, and half as much to "Archbishop", whom a
#   gentle lord once preceded. The network stays at 0.36: what it knows of *sweet* it knows of *gentle*, too.
# - "where is [thy] master": the 5-gram goes from 0.63 for a comma to 0.23, for what it counts are a few lines. The network expects
#   a comma or a question mark throughout.
# - "[she] is not so": the 5-gram hardly moves, for it falls back on the same three words whatever stands before.
# - Not every neighbour deserves the name ("York" for "sweet"). These vectors come from a million words; those of lecture 2 were
#   trained for being compared.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# One example proves nothing. So sort *every* word of three plays that neither has read by how many of the words before it stand so
# somewhere in the training plays: all four, only the last three, two, one, none. Both models see the same four words.
#
# > **Predict before you run.** Which of the two is better where all four words have been seen? And where only the last one has? Which case is
# > the most common?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
result = json.loads(Path("results/unseen_contexts.json").read_text(encoding="utf-8"))
by_seen = result["by_words_seen"]
shares = {n: f"{row['share']:.0%}" for n, row in by_seen.items()}
print("words of context seen, and how often:", shares)
shown = [n for n in by_seen if n != "0"]
picture = show.curves(
    [int(n) for n in shown],
    {
        name: [by_seen[n][name] for n in shown]
        for name in ("5-gram, Kneser–Ney", "feed-forward, window 4")
    },
    x_title="how many of the four words were seen together",
    y_title="perplexity",
    alt="Perplexity against how many of the four words before were seen together. The 5-gram falls from 91 at one word to 33 at "
    "four. The network begins lower, at 75, rises a little to 79 at two, and falls to 32 at four, where the two almost meet.",
)
picture.axes[0].set_xticks([1, 2, 3, 4])
picture

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Where all four words were seen together (37 % of the words): hardly a difference, 33.1 against 32.4. Counting is good at what it has
#   counted.
# - The less was seen, the more the network gains: 90.9 against 75.5 where only the last word stands so in the training plays. It makes use
#   of *all four* words there; the 5-gram has nothing left but the last.
# - The most common case is that something is missing: 63 % of all words follow four words that the training plays do not hold.
# - Over all words it is 57.9 against 54.4. Everything has been measured once, with one network, on three plays.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Side by side, or averaged
#
# The window could be summarised more cheaply: average the embeddings, and give the average to the hidden layer (a **bag of words**;
# for classification it is the "deep averaging network" of Iyyer et al. 2015):
#
# $$\bar x = \tfrac{1}{3}(x_1 + x_2 + x_3), \qquad h = f(\bar x V + b_1).$$
#
# > **Predict before you run.** What does the averaging network say after "dog bites man" that it does not say after
# > "man bites dog"? And how do the two networks grow with the window?

# %% slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():  # new networks, with the same random weights at every run
    torch.manual_seed(0)
    side_by_side = FeedForwardLM(5000, window=3, d_embedding=64, d_hidden=64)
    averaged = BagOfWordsLM(5000, window=3, d_embedding=64, d_hidden=64)
dog, bites, man = 10, 20, 30
for name, model in {"side by side": side_by_side, "averaged": averaged}.items():
    one, other = (
        model(torch.tensor([order]))[0][0, -1] for order in ([dog, bites, man], [man, bites, dog])
    )
    print(f"{name:13} largest difference between the two orders: {(one - other).abs().max():.2f}")
    sizes = {
        window: type(model)(5000, window, 64, 64).hidden.weight.numel()
        for window in (2, 4, 8, 16)
    }
    print(f"{'':13} weights into the hidden layer, by window: {sizes}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Nothing at all: a sum does not know the order of its terms. And a window of 16 costs no more weights than one of 2.
# - Side by side, each *place* has rows of $V$ of its own. Every number of every word meets every number of every other word in each
#   hidden neuron. If the hidden layer is to be as wide as $x$, with embeddings of $D$ numbers and a window of $L$ words, $V$ has
#   $DL \times DL$ entries: $O(D^2 L^2)$. This is the **strongest interaction** between words that one layer offers, averaging
#   is the **weakest interaction**. What lies between them is the rest of this course.
# - The price of a row of its own for each place: what is learned about "king" in place 1 is not known in place 2. The
#   network has **no sense of time**: nothing says that place 2 comes after place 1, nor that they are alike.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# > **What goes wrong.** *Off by one.* The window for predicting word $t$ holds words $t-3, t-2, t-1$. Let it end at $t$, and the model
# > reads the answer: training loss falls to nearly 0, and what it writes is nonsense. A loss that is too good is the
# > alarm. *The beginning.* The first word has no three words before it; something must stand there (here id 0), the same in
# > training and in use. *Flattened the wrong way.* `(batch, 3, 8)` must become `(batch, 24)`; a `transpose` before it mixes words
# > with features and raises no error.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. A filter that slides
#
# Is there something between "every place its own weights" and "no places at all"? Use **one** small set of weights, a **filter** (or
# *kernel*) that looks at $k$ neighbouring words, and slide it along the text: a **convolution**. For one number per word and a
# filter $w_1, \dots, w_k$:
#
# $$y_t = \sum_{j=1}^{k} w_j\, x_{t-k+j} = w_1 x_{t-k+1} + \dots + w_k x_t.$$
#
# What is learned in one place is known in all others: the weights are *shared*, and their number does not depend on how long
# the text is.
#
# > **Predict before you move the slider.** The filter $(-1, 1)$ on these seven numbers: which outputs are negative? With zeros on both
# > sides in place of in front, which words does the output at "king" use under the filter of three?


# %% slideshow={"slide_type": "fragment"}
def convolve(x, w):
    """Causal: zeros in front, so that y[t] uses x[t] and what comes before."""
    x = np.concatenate([np.zeros(len(w) - 1), x])
    return np.array([w @ x[t : t + len(w)] for t in range(len(x) - len(w) + 1)])


signal = [1.0, 0.0, 2.0, 1.0, -1.0, 3.0, 0.0]
seven = ["the", "old", "king", "sat", "in", "the", "hall"]
filters = {
    "difference": [-1.0, 1.0],
    "mean of three": [1 / 3, 1 / 3, 1 / 3],
    "two ago": [1.0, 0.0, 0.0],
}
widgets.convolution_player(convolve, signal, seven, filters)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $y = 1, -1, 2, -1, -2, 4, -3$: negative wherever the number falls. A filter is a question, asked everywhere.
# - "old", "king" and "sat": with zeros on both sides the output at "king" has seen the word *after* it. For a classifier, which
#   has the whole text anyway, that is welcome. For a language model it is cheating; section 5.
# - With embeddings each $x_t$ is a row of $D$ numbers, and a filter holds $k \cdot D$ weights. With $m$ filters, $kD$ numbers become
#   $m$, at every place: it *is* a feed-forward layer on a window, applied everywhere.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Kim's network (2014).** To classify a text, ask *whether* something occurs, not where. Let filters of several widths slide over it,
# and keep of each only its strongest answer, the **maximum over time**:
#
# $$c_t = \mathrm{ReLU}([x_t, \dots, x_{t+k-1}] \cdot w + b), \qquad \hat c = \max_t c_t, \qquad \text{scores} = \hat c\, W + b_2,$$
#
# where $\mathrm{ReLU}(a) = \max(0, a)$, and $\hat c$ holds the maximum of each filter. Any text, short or long, becomes as many
# numbers as there are filters.
#
# The task: was a line *printed in 1623*, or is it in modern spelling? Letters in place of words, 48 filters, 2 to 4 letters wide, trained
# on ten thousand lines of Shakespeare in both spellings (`python -m lectures.recipes old_spelling`). Capitals and
# punctuation are taken away.
#
# > **Predict before you move anything.** Which groups of letters will it have found?

# %% slideshow={"slide_type": "fragment"}
from lectures.recipes.old_spelling import letters as plain

spelling, symbols, spelling_card = checkpoint("old_spelling")
print(spelling_card["figures"])


def read(text):
    kept = plain(text)
    if not kept:
        raise ValueError("type a few letters")
    tokens = torch.tensor([symbols.encode(kept)])
    x = F.pad(spelling.embedding(tokens).mT, (3, 3))  # (1, D, time): three zeros at each end
    answers = [(len(f[0, 0]), a) for f, a in filter_answers(x)]
    strongest = torch.tensor([a.max() for _, a in answers])
    pull = strongest * (spelling.output.weight[1] - spelling.output.weight[0])
    p = torch.softmax(spelling(tokens), dim=-1)[0, 1].item()
    return widgets.Fired(
        list(f"···{kept}···"), answers, pull.detach().numpy(), ("1623", "modern"), p
    )


def filter_answers(x):
    """For every filter of every width its answers c, one per window."""
    for layer in spelling.filters:
        for weight, c in zip(layer.weight, torch.relu(layer(x))[0], strict=True):
            yield weight[None], c.detach().numpy()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.filter_explorer(
    read,
    [
        "If Musicke be the food of Loue, play on",
        "If music be the food of love, play on",
        "And all our yesterdayes haue lighted Fooles",
        "Heere's the smell of the blood still",
        "O Romeo, Romeo, wherefore art thou Romeo?",
        "a virus in the universe",
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "loue", "cke", "haue", "eere" pull towards 1623: *u* was printed for *v* inside a word, silent letters were many. "ove" and "ive"
#   pull towards modern. Nobody told it the rules of old printers.
# - It is right on 89 % of 4,000 test lines. In "O Romeo" nothing fires strongly and it leans to modern: no old
#   spelling is in it.
# - The maximum forgets *where* and *how often*. A filter sees four letters and no more: it cannot know that the "u" of "virus" is
#   right. But "vers" and "iver" do, in "universe".
# - The filters' *names* are not given: what a filter stands for we read off from what makes it fire, on lines of our choice. It
#   may answer to something else elsewhere.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Keeping the future out
#
# A language model is trained at all places at once: from each prefix, the next word. So the output at place $t$ must not use any word
# after $t$. A **causal** convolution has all its zeros in *front*. What stands where a window reaches beyond the
# text is called **padding**; the usual choice of libraries, for images, is zeros on both sides.
#
# > **Predict before you run.** Two convolutional layers, kernel 3. We change the word at place 6 of 12. At which places do the outputs
# > change, with zeros in front, and with zeros on both sides?


# %% slideshow={"slide_type": "fragment"}
def changed_places(pad):
    """Places whose output changes when the input at place 6 does."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = [nn.Conv1d(8, 8, kernel_size=3) for _ in range(2)]
        x = torch.randn(1, 8, 12)
    other = x.clone()
    other[:, :, 6] += 1.0

    def outputs(h):
        for layer in layers:
            h = torch.tanh(layer(F.pad(h, pad)))
        return h

    return (outputs(x) != outputs(other)).any(dim=1)[0].nonzero().flatten().tolist()


print("zeros in front:     ", changed_places((2, 0)))
print("zeros on both sides:", changed_places((1, 1)))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# In front: 6 to 10. On both sides: 4 to 8, so the outputs at 4 and 5 have *read the future*.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** A convolution that leaks trains beautifully: the next word stands in the window, and the loss goes towards
# > 0. It fails when it has to write, since then there is no future to read. The shapes are right, no error is raised, and the
# > test loss is as good as the training loss, for it leaks there, too. The test above takes five lines: *change a word, and
# > look whether anything before it moves*. Run it on every language model that you ever write.

# %% [markdown] slideshow={"slide_type": "slide"}
# **How far back does it look?** A layer with kernel $k$ sees $k$ of its inputs: itself and $k - 1$ before. Behind one another the layers
# add up. If a layer leaves gaps, taking every $\delta$-th input, a **dilation** of $\delta$, it reaches $(k - 1)\,\delta$ back. The
# **receptive field**, all words that can influence one prediction:
#
# $$1 + \sum_{\text{layers}} (k - 1)\,\delta.$$
#
# > **Predict before you run.** Four layers, kernel 2. How many words with dilations 1, 1, 1, 1? With 1, 2, 4, 8?

# %% slideshow={"slide_type": "fragment"}
for dilations in ([1, 1, 1, 1], [1, 2, 4, 8]):
    model = ConvLM(50, d_model=16, n_layers=4, kernel_size=2, dilations=dilations)
    print(
        f"dilations {dilations}: {model.receptive_field()} words, {sum(p.numel() for p in model.parameters()):,} parameters"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 5 and 16, with the same number of parameters. Doubling dilations double the reach with every layer (van den Oord et al. 2016,
# WaveNet): linear in the depth becomes exponential.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Gates and places: Gehring et al. 2017
#
# Two parts turned convolutions into strong language models (Dauphin et al. 2017) and translators (Gehring et al. 2017).
#
# **Gated linear units.** Let the convolution give $2d$ numbers per place, two halves $A$ and $B$, and let one half decide how much
# of the other passes:
#
# $$\mathrm{GLU}([A, B]) = A \odot \sigma(B).$$
#
# > **Predict before you run.** At $A = 3$, with the gate half open ($B = 0$): what is the derivative with respect to $A$? And
# > for the gated tanh, $\tanh(A)\,\sigma(B)$?


# %% slideshow={"slide_type": "fragment"}
def glu(both):
    A, B = both.chunk(2, dim=-1)  # 2d numbers -> two halves of d
    return A * torch.sigmoid(B)


A = torch.tensor(3.0, requires_grad=True)
gate = torch.sigmoid(torch.tensor(0.0))
print(
    f"GLU:        {torch.autograd.grad(glu(torch.stack([A, torch.tensor(0.0)])).sum(), A)[0]:.3f}"
)
print(f"gated tanh: {torch.autograd.grad(torch.tanh(A) * gate, A)[0]:.3f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# 0.5 and 0.005. Through $A$ the gradient passes scaled by the gate alone, whatever the size of $A$; a tanh that is far out stops it.
# Lecture 7 is about gates; they appear here first.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Position vectors.** A convolution asks the same question everywhere, and cannot know where it is. Gehring et al. add to every
# word's embedding a learned vector $p_t$ for its place: $g_t = e(w_t) + p_t$.
#
# > **Predict before you run.** The same three words stand at places 2–4 and at places 8–10. Does a convolution of kernel 3 give the same output at
# > both? Does it with position vectors?

# %% slideshow={"slide_type": "fragment"}
tokens = torch.tensor([[4, 5, 6, 7, 8, 9, 10, 11, 6, 7, 8, 12]])  # 6 7 8 stands twice
with torch.random.fork_rng(), torch.no_grad():
    torch.manual_seed(0)
    plain_convolution = ConvLM(20, d_model=16, n_layers=1, kernel_size=3)
    translator = ConvSeq2Seq(
        20, 20, d_model=16, n_encoder_layers=1, n_decoder_layers=1, kernel_size=3
    ).eval()
    without = plain_convolution(tokens)[0][0]
    with_positions = translator(tokens, translator.encode(torch.tensor([[3, 4, 5]])))[0][0]
for name, logits in {"without positions": without, "with positions": with_positions}.items():
    print(f"{name:18} largest difference {(logits[4] - logits[10]).abs().max():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Without them there is no difference at all: whatever the place, the same window gives the same output. (Not quite everywhere: near the
# beginning the zeros in front betray the place.) With position vectors the two differ.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# In Gehring's translator a decoder of such layers reads what has been written, attends to the source (lecture 11), and the
# next word's distribution comes from the state of the *top* layer, $\mathrm{softmax}(h_t^L W_o + b_o)$: the same last step as in
# Bengio's network, and in every model of this course.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Who sees whom
#
# Every network for text alternates two steps. **Composition** mixes places: it decides which words may meet. **Abstraction** makes of each
# mixture a new vector, in each place alone. Architectures differ in how they compose, and that is an assumption about
# language that is built in before any training, an **inductive bias**:
#
# | | composition | built-in assumption | steps between two words $n$ apart |
# |---|---|---|---|
# | window, convolution (CNN) | neighbours, wider with every layer | what is near matters | none at all, or about $n/(k-1)$ layers; $\log n$ with dilations |
# | recurrent network (RNN, lecture 5) | from left to right, into one state | what was just read matters | $n$ |
# | attention (lecture 11) | all to all | none: it must be learned | 1 |
#
# Drawn, anybody can claim such a thing. So we *measure*: build each model, predict after one word, and ask autograd for the gradient of
# the prediction with respect to each word's embedding. What has a gradient of exactly 0 is not seen.


# %% slideshow={"slide_type": "skip"}
from nlmcore.recurrent import RecurrentLM
from nlmcore.transformer import TransformerConfig, TransformerLM

text = "the cat that the dog had chased all day sat on the old red mat ."
sentence = text.split()
N = len(sentence)


@lru_cache(maxsize=256)
def model_of(kind, layers, kernel, dilations):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        if kind == "window":
            return FeedForwardLM(N + 1, window=kernel, d_embedding=16, d_hidden=16)
        if kind == "convolution":
            return ConvLM(N + 1, 16, layers, kernel, dilations)
        if kind == "recurrent":
            return RecurrentLM(N + 1, "rnn", 16, 16, layers)
        sizes = {
            "d_model": 16,
            "n_heads": 2,
            "n_layers": layers,
            "max_length": N,
            "tie_embeddings": False,
        }
        return TransformerLM(TransformerConfig(vocab_size=N + 1, **sizes))


# %% slideshow={"slide_type": "fragment"}
def measure(kind, layers, kernel, dilations, at):
    """How much the prediction after word `at` changes with each word's embedding: the gradient's length."""
    model = model_of(kind, layers, kernel, dilations)
    tokens = torch.arange(1, N + 1).unsqueeze(
        0
    )  # all different: each has an embedding of its own
    prediction = model(tokens)[0][0, at]
    (gradient,) = torch.autograd.grad(prediction.square().sum(), model.embedding.weight)
    return gradient[1:].norm(dim=-1).tolist()


# %% [markdown] slideshow={"slide_type": "slide"}
# > **Predict before you move anything.** Find the smallest convolution that lets the prediction after the last word see "cat". Then
# > look at the *tints* for the recurrent network: it sees everything, but how much of it?

# %% slideshow={"slide_type": "fragment"}
widgets.reach_playground(measure, sentence)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "cat" is 14 words before the last: 3 layers of kernel 3 with dilations 1, 2, 4 see just these 15 words. Without dilations even 4
#   layers of kernel 4 see 13 words only.
# - Drawing and measurement agree for every setting.
# - One recurrent layer: the gradient of the first word is about twenty thousand times smaller than that of the last. It sees
#   everything in principle, and what is near in practice; lecture 6 is about that.
# - Attention: all words before the last are about equally strong, however far away: before training it prefers none. What to do
#   with this freedom it has to learn, from more data. (The last word itself is a hundred times stronger, since its own
#   vector is the one that is carried upwards.)
# - All this is before training. It says what a model *can* see, not what it will use.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Measured: the table of lecture 1, continued
#
# All on the same split, the same 5,000 words, one pass over the training plays, 128 numbers per word, nothing tuned
# (`python -m lectures.recipes perplexity`).
#
# > **Predict before you run.** Put in order: Kneser–Ney 5-gram, averaged window of 4, side by side window of 4, gated convolution
# > (receptive field 9).

# %% slideshow={"slide_type": "fragment"}
table = json.loads(Path("results/perplexity.json").read_text(encoding="utf-8"))
rows = {
    "2-gram, Kneser–Ney": table["ngram"]["kneser_ney"]["2"],
    "5-gram, Kneser–Ney": table["ngram"]["kneser_ney"]["5"],
    "averaged, window 4": table["neural"]["bag of words (4)"]["perplexity"],
    "side by side, window 4": table["neural"]["feed-forward (4)"]["perplexity"],
    "convolutions, 9 words": table["neural"]["convolutional (9)"]["perplexity"],
}
for name, value in rows.items():
    print(f"{name:23} perplexity {value:5.1f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Averaged 96.0, worse than a 2-gram (71.2), which sees one word: what the *last* word is matters more than what three others are.
# - Side by side 57.4, about the 5-gram's 57.9. With a million words to learn from, smoothing and learning draw level on a
#   window of four. (The network of section 2, with 54.4, had read the plays three times, not once.)
# - The convolutions reach 49.8 with fewer parameters than either window (973,192 against 1,350,664): shared weights and a longer view. It
#   is gated, and what each layer finds is added to what it was given, too; this table does not say which of them did it.
# - One run each, not tuned: differences of one or two mean nothing.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# What no window can do: the word that decides may stand further back than any width chosen beforehand. *When she tried to print her
# tickets, she found that the printer was out of toner. She went to the shop, bought some, put it in, and finally printed her …* A
# window that reaches "tickets" is 24 words wide, signs not counted. The next lecture reads from left to right, and carries along
# what it needs.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A window of 5, embeddings of 100 numbers, 200 hidden neurons. How many weights has $V$? With a window of 10?
# <details><summary>Answer</summary>500 × 200 = 100,000; twice as many, 200,000.</details>
#
# 2. An n-gram gives probability 0.2 to a word after a context that it has seen. After the same context with one word replaced by a synonym,
#    never seen: what will it use?
# <details><summary>Answer</summary>The words behind the replaced one, if they were seen together: it backs off. It does not know that the
# two are synonyms.</details>
#
# 3. A filter of width 3 with $\max$ over time fires on "not a good". Can the network tell "not a good film" from "film, a good not"?
# <details><summary>Answer</summary>Yes, if the filter spans the difference: inside its width order counts. Beyond it, no: which filter fired
# first is lost.</details>
#
# 4. Three causal layers, kernel 3, dilations 1, 3, 9. How many words does a prediction see?
# <details><summary>Answer</summary>1 + 2·(1 + 3 + 9) = 27.</details>
#
# 5. Your convolutional model has a test perplexity of 1.3 and writes nonsense. What do you do first?
# <details><summary>Answer</summary>Change a word and see whether outputs before it change: most likely the padding leaks the
# future.</details>
#
# 6. Why has a convolution no need to be told the *order* of the words inside its window, but may need to be told the *place*?
# <details><summary>Answer</summary>Each position inside the window has weights of its own; the window as a whole is treated the same
# everywhere.</details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write the causal convolution with a loop over the *filter* in place of one over the text. The cell below does; change it, for
# instance by turning the filter round (which is what mathematicians call a convolution), and see where yours and the
# reference part.


# %% slideshow={"slide_type": "fragment"}
def my_convolve(x, w):
    y = np.zeros(len(x))
    for j, weight in enumerate(w):
        back = len(w) - 1 - j  # the last weight meets the newest word
        y[back:] += weight * x[: len(x) - back]
    return y


widgets.convolution_player(convolve, signal, seven, filters, yours=my_convolve)

# %% [markdown] slideshow={"slide_type": "skip"}
# `widgets.filter_explorer` and `widgets.reach_playground` take functions, too: hand them a network of yours. The layers of this lecture, and
# the way back through them, are in the assignment [`exercises/backpropagation/backpropagation.ipynb`](../exercises/backpropagation/backpropagation.ipynb).

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $x = [x_1, x_2, x_3]$ | $[C(w_{t-3}), C(w_{t-2}), C(w_{t-1})]$ | the embeddings of the window, side by side |
# | $h = f(xV + b_1)$ | $h = f(Vx + b_1)$, $\tanh(d + Hx)$ | hidden layer; with columns the matrix stands to the left |
# | $\hat y = \mathrm{softmax}(hW + b_2)$ | $\hat y = \mathrm{softmax}(Wh + b_2)$, $y = b + Wx + U\tanh(d + Hx)$ | the prediction; Bengio's $W$ are additional direct connections |
# | $D$, $L$ | $d$, $m$; $n$, $T$ | width of an embedding, length of the window or text |
# | $k$, $\delta$ | $h$ (Kim), kernel width, filter size; dilation | width of a filter; gap between the words it reads |
# | $\hat c = \max_t c_t$ | max-over-time pooling | what Kim keeps of each filter |
# | $\mathrm{GLU}([A, B])$, $2d \to d$ | $(X * W + b) \otimes \sigma(X * V + c)$ | gated linear unit |
# | $g_t = e(w_t) + p_t$ | $e = (w_1 + p_1, \dots)$ | input with position vectors |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **window**: the last few words, a fixed number, that a model predicts from.
# - **feed-forward network**: a network whose values flow one way, from input to output, with nothing kept for the next word.
# - **strongest interaction**: words side by side in one long vector, so that every number of each meets every number of all others.
# - **weakest interaction**: words averaged into one vector, so that their order is lost.
# - **bag of words**: a text as its words without their order.
# - **filter**: a small set of weights that looks at a few neighbouring words; also called kernel.
# - **convolution**: the same filter applied at every place of a text.
# - **maximum over time**: of a filter's answers at all places, the largest, and nothing else.
# - **causal**: said of a model whose output at a place uses nothing that comes after it.
# - **padding**: what stands where a window reaches beyond the text, here zeros.
# - **dilation**: the gap between the words that a filter reads; with 2, it reads every second one.
# - **receptive field**: all words that can influence one prediction.
# - **gated linear unit**: half of the numbers, each multiplied by a sigmoid of the other half; GLU for short.
# - **position vector**: a learned vector for a place in the text, added to the embedding of the word that stands there.
# - **composition**: the step of a network that mixes places, deciding which words meet.
# - **abstraction**: the step of a network that makes a new vector in each place alone.
# - **inductive bias**: what a model assumes before it has seen any data, by the way it is built.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Bengio, Ducharme, Vincent & Jauvin (2003), A Neural Probabilistic Language Model, section 2. Iyyer, Manjunatha,
# Boyd-Graber & Daumé (2015), Deep Unordered Composition Rivals Syntactic Methods for Text Classification. Kim (2014), Convolutional
# Neural Networks for Sentence Classification, section 2. Van den Oord et al. (2016), WaveNet: A Generative Model for Raw Audio. Dauphin,
# Fan, Auli & Grangier (2017), Language Modeling with Gated Convolutional Networks, section 2. Gehring, Auli, Grangier, Yarats &
# Dauphin (2017), Convolutional Sequence to Sequence Learning, section 3.
