# %% [markdown] slideshow={"slide_type": "slide"}
# # Feed-forward and convolutional language models
#
# You have never seen the words *the old queen laughed at her gloomy uncle*. Most likely, nobody has. Yet you know what may come
# next and what may not. A table of counts has no entry for an unseen context. What would a model have to know about *queen* to
# use what it has learned about *king*?
#
# <img src="figures/receptive_field.svg" width="860" alt="Sixteen words in a row and three layers of circles above them. One circle at the top right is orange, and lines lead down from it, spreading at each layer, to the last eight words, which are tinted blue. The eight words to the left are white.">
#
# *A convolutional language model predicts the next word. Blue lines are the paths by which a word can reach the
# prediction. A word is blue if it does reach the prediction, that is, if its gradient is not zero. In section 7 you change the
# network and compare it with other kinds.*
#
# **After this lecture you can**
# - write down Bengio's language model, count its parameters and train it;
# - measure where it beats an n-gram and where it does not;
# - say what averaging word vectors loses;
# - compute a convolution by hand, interpret a trained filter, and keep the future out;
# - compute a receptive field and check it with gradients;
# - choose between a window, recurrence and attention by what each can see.
#
# **You need** n-grams, smoothing and *perplexity* from [lecture 1](01_language_models.ipynb) (perplexity is the exponential of
# the mean log loss; a perplexity of $m$ is the uncertainty of choosing among $m$ equally likely words). You also need *embeddings*, the
# learned vectors of words, from [lecture 2](02_tokens_and_vectors.ipynb), and layers, activation functions, gradients and
# gradient descent from [lecture 3](03_backpropagation.ipynb). Vectors are rows, so they are multiplied by matrices from the
# right, $xV$.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 10 | 9 | 7 | 12 | 7 | 7 | 8 | 5 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 90 minutes. Section 6 is for the curious;
# nothing later in this lecture needs it. Every cell runs in a few seconds on a laptop, without a network connection. *Coming from
# other slides or a paper?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Short of time: skip section 6.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import json
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from IPython.display import HTML, display
from torch import nn

from nlmcore.convolutional import ConvLM, ConvSeq2Seq
from nlmcore.corpora import load
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.ngram import NGramLM
from lectures.trained import checkpoint
from lectures import show, stored, widgets

torch.set_num_threads(1)  # small matrices: more threads would wait for each other
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A window of word vectors
#
# Bengio, Ducharme, Vincent & Jauvin (2003) combined two ideas from the previous lectures, word vectors and a network trained by
# gradient descent. Take the previous few words, say three; these are the **window**. Look up the embedding of each and concatenate the
# three into one long row $x$. A hidden layer and a softmax follow:
#
# $$x = [x_1, x_2, x_3], \qquad h = f(x V + b_1), \qquad \hat y = \mathrm{softmax}(h W + b_2).$$
#
# (Here $V$ leads into the hidden layer and $W$ out of it. In the lectures on recurrent networks and later, $W$ belongs to the
# input and $V$ to the output. [SYMBOLS.md](SYMBOLS.md) lists all symbols of the course.) $\hat y$ contains a probability for
# every word of the vocabulary. The embeddings are parameters like $V$ and $W$, so the gradient flows into them, and the network
# learns them *by predicting the next word*. Bengio's $f$ is $\tanh$, a sigmoid rescaled to the range from −1 to 1. This is a
# **feed-forward network**: values flow in one direction, from the window to the prediction, and nothing is kept for the next word.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Let the room compute the shapes of all five parameter arrays before you reveal their number. Students often
# forget that the embeddings are trained as well; ask where their gradient comes from. Invent a few names at the end.*

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
draw = torch.Generator().manual_seed(0)


def parameter(*shape):
    return (torch.randn(*shape, generator=draw) * shape[0] ** -0.5).requires_grad_()


SYMBOLS, D, WINDOW, HIDDEN = 27, 8, 3, 64
C = torch.randn(SYMBOLS, D, generator=draw).requires_grad_()  # one embedding per row
V, b1 = parameter(WINDOW * D, HIDDEN), torch.zeros(HIDDEN, requires_grad=True)
W, b2 = parameter(HIDDEN, SYMBOLS), torch.zeros(SYMBOLS, requires_grad=True)


def scores(window):  # window: (batch, 3) symbol ids
    x = C[window].flatten(start_dim=1)  # (batch, 3 · 8): concatenated
    h = torch.tanh(x @ V + b1)  # (batch, 64)
    return h @ W + b2  # (batch, 27); softmax turns these into probabilities


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
parameters = sum(p.numel() for p in (C, V, b1, W, b2))
show.predict(
    "There are 27 symbols, embeddings of 8 dimensions, a window of 3 and 64 hidden neurons. How many parameters does the network have?",
    choices={"about 600": 600, "about 3,600": 3600, "about 20,000": 20000},
    answer=parameters,
    why="The embeddings count as well: they are trained like the other four arrays.",
    reveals=lambda: print("parameters:", parameters),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# There are $27 \cdot 8$ = 216<!--[[C.numel()]]--> parameters in the embeddings, $24 \cdot 64 + 64$ = 1,600<!--[[V.numel() + b1.numel():,]]--> in $V$ and $b_1$, and
# $64 \cdot 27 + 27$ = 1,755<!--[[W.numel() + b2.numel():,]]--> in $W$ and $b_2$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Now train it.** The data are 4,641<!--[[len(names["train"]):,]]--> first names from the United States census of 1990. The symbols are the letters and a blank,
# which fills the window before the first letter and also marks the end of a name. The loss is the surprise at the next letter; autograd computes the gradient.
#
# > **Ask yourself.** Uniform guessing has a perplexity of 27. What perplexity will a window of three letters reach in 1,500 steps?
# > Will it beat a 4-gram, which sees the same three letters?


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def windows(names):
    """Every window of three symbols, and the symbol that follows it."""
    rows = [[0] * WINDOW + [ord(letter) - 96 for letter in name.lower()] + [0] for name in names]
    inputs = [row[i : i + WINDOW] for row in rows for i in range(len(row) - WINDOW)]
    return torch.tensor(inputs), torch.tensor([symbol for row in rows for symbol in row[WINDOW:]])


names = {
    part: [d.text for d in load("names", kind="first").splits[part]] for part in ("train", "test")
}
inputs, following = windows(names["train"])

# %% slideshow={"slide_type": "fragment"}
optimizer = torch.optim.Adam([C, V, b1, W, b2], lr=0.01)  # gradient descent with adaptive rates
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
print(f"on held-out names: {reached:.1f}")

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


# %% slideshow={"slide_type": "fragment"}
def invent():
    window = [0, 0, 0]
    while len(window) == 3 or window[-1]:
        p = torch.softmax(scores(torch.tensor([window[-3:]])), dim=-1)
        window.append(int(torch.multinomial(p, 1, generator=draw)))
    return "".join(chr(96 + letter) for letter in window[3:-1]).title()


print("invented names:", *[invent() for _ in range(12)])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
_, longer, wider = (row["test"] for row in stored("names_window")["network"].values())
occurs = Counter(map(tuple, inputs.tolist()))
how_often = torch.tensor([occurs[tuple(window)] for window in test_inputs.tolist()])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The network reaches a perplexity of 8.2<!--[[reached:.1f]]--> after 1,500 steps, the 4-gram 6.9<!--[[counted[4]:.1f]]-->. Before you conclude anything, train the
#   network properly.
# - We trained two further versions with five<!--[[words(len(longer))]]--> seeds each (`python -m lectures.recipes names_window`). The first was trained for 6,000 steps, with a
#   decreasing learning rate. Its perplexity is 7.42<!--[[min(longer):.2f]]--> to 7.56<!--[[max(longer):.2f]]-->.
# - The second is also wider, in its embeddings and its hidden layer, and it has larger batches and weight decay ([lecture 5](05_training_well.ipynb)). Its perplexity is 6.92<!--[[min(wider):.2f]]--> to 7.00<!--[[max(wider):.2f]]-->. Little of the gap to the 4-gram is left<!--[[? max(wider) - counted[4] < 0.2 * (reached - counted[4])]]-->.
# </details>
#
# A network that loses may simply be badly trained. Wider and better trained, this one comes close to the 4-gram, but it does not win<!--[[? min(wider) > counted[4]]]-->. Here
# most contexts are well known: 83<!--[[100 * (how_often >= 10).double().mean():.0f]]--> % of the windows in the test names occur at least ten times in the training names. With words, that
# is different.

# %% [markdown] slideshow={"slide_type": "slide"}
# **With words.** `nlmcore.feedforward.FeedForwardLM` is the same network. We trained one on the plays of [lecture
# 1](01_language_models.ipynb), with a vocabulary of 5,000 words, a window of 4, 64 dimensions per embedding and 64 hidden neurons
# (`python -m lectures.recipes unseen_contexts`).

# %% slideshow={"slide_type": "fragment"}
network, words, card = checkpoint("word_window")
plays = [[BOS, *words.encode(play), EOS] for play in load("shakespeare").texts("train")]
fivegrams = Counter(
    gram for play in plays for gram in zip(*(play[i:] for i in range(5)), strict=False)
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sizes = {}
for window in (4, 8):
    model = FeedForwardLM(5000, window=window, d_embedding=64, d_hidden=64)
    sizes[window] = sum(p.numel() for p in model.parameters())
told = [(window, f"{number:,}") for window, number in sizes.items()]
note = f"Possible 5-grams: {5000**5:.0e}; in the text: {len(fivegrams):,}."
counted_parameters = show.table(told, ["Window", "Parameters"], note)
show.predict(
    f"The network has {sizes[4]:,} parameters. How many *more* does it have with a window of 8 instead of 4?",
    choices={"twice as many in all": sizes[4], "about 16,000 more": 16_000, "no more": 1},
    answer=sizes[8] - sizes[4],
    why="Only $V$ grows, in proportion to the window.",
    reveals=counted_parameters,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - A table of all 5-grams has $5000^5 \approx 3 \cdot 10^{18}$ entries. The text fills not quite a million<!--[[? 0.9e6 < len(fivegrams) < 1e6]]--> of them, nearly all
#   with a single count<!--[[? sum(n == 1 for n in fivegrams.values()) > 0.9 * len(fivegrams)]]-->, so the table is *sparse*. An n-gram model must store its counts, and where it has none, *back off* to a shorter context.
# - The network has 661,448<!--[[sizes[4]:,]]--> parameters, however long the training text is. A window of 8 costs $4 \cdot 64 \cdot 64$ = 16,384<!--[[sizes[8] - sizes[4]:,]]--> more. There are
#   no counts to store.
# - Most parameters are in the embeddings and in $W$<!--[[? 2 * 5000 * 64 > 0.9 * sizes[4]]]-->, which has a column for every word.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Unseen contexts
#
# Bengio's paper is about unseen contexts. Similar vectors tend to give similar predictions. So training can lower the loss
# by giving similar vectors to words that are followed by the same words. If you then replace *one* word of a window with another whose vector is
# similar, the input $x$ and the prediction may change little, **whether or not the words of the new window were ever seen together**. An n-gram model must count every
# sequence separately.
#
# > **Ask yourself.** With the slider at 0 you see words from the plays. As you move it to the right, the word in brackets is
# > replaced by its neighbours, the one with the nearest embedding first. Which prediction changes more, the network's or the 5-gram's?

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
    """The word whose embedding is the rank-th nearest to that of `word`; rank 0 is the word itself."""
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
        f"in the training plays, only the last {known} of these 4 words occur in a row"
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


def first(context, rank):
    """The likeliest word of each of the two models."""
    return [found[0][0] for found in continued(context, rank).models.values()]


def moved(context, rank):
    """How far each model's prediction moves from that for rank 0: half the sum of the absolute differences."""
    chosen = context[context.index("[") + 1 : context.index("]")]
    texts = [context.replace(f"[{chosen}]", word) for word in (chosen, neighbour(chosen, rank))]
    both = torch.tensor([words.encode(text) for text in texts])
    with torch.no_grad():
        found = [model(both)[0][:, -1].softmax(-1) for model in (fivegram, network)]
    return [float((old - new).abs().sum() / 2) for old, new in found]


def lord(context, rank):
    """What each of the two models gives *lord*."""
    return [dict(found).get("lord", 0.0) for found in continued(context, rank).models.values()]


contexts = ["O [my] most gracious", "How fares [my] gracious", "How fares my [noble]"]
gracious, fares, noble = contexts
all_moves = [moved(context, rank) for context in contexts for rank in range(1, 9)]
widgets.neighbour_playground(continued, contexts)

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask for a word before each key press. The embeddings come from a million words, which is not much; try neighbours of
# rare words before the room does.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "O [my] most gracious" occurs in the plays<!--[[? continued(gracious, 0).seen == "seen in training"]]-->, and both models expect *lord*<!--[[? first(gracious, 0) == ["lord", "lord"]]]-->, the 5-gram with a probability of 0.59<!--[[lord(gracious, 0)[0]:.2f]]-->, the network
#   with 0.17<!--[[lord(gracious, 0)[1]:.2f]]-->.
# - With the slider at 2, "our<!--[[neighbour("my", 2)]]-->" replaces "my", and these four words never occur together<!--[[? continued(gracious, 2).seen != "seen in training"]]-->. The 5-gram backs off to fewer
#   words, gives *lord* 0.05<!--[[lord(gracious, 2)[0]:.2f]]--> and prefers *mistress*<!--[[? first(gracious, 2)[0] == "mistress"]]-->. The network's probability of *lord* falls only to 0.14<!--[[lord(gracious, 2)[1]:.2f]]-->.
# - If "our" replaces "my" in "How fares [my] gracious", the 5-gram's probability of *lord* falls from 0.32<!--[[lord(fares, 0)[0]:.2f]]--> to 0.04<!--[[lord(fares, 2)[0]:.2f]]-->, and it now expects
#   *lady*<!--[[? first(fares, 2) == ["lady", "lord"]]]-->. *Lord* is still the network's first choice, with 0.12<!--[[lord(fares, 2)[1]:.2f]]-->.
# - Some neighbours are poor. The nearest to "noble" is "God<!--[[neighbour("noble", 1)]]-->", after which neither model expects *lord*<!--[[? "lord" not in first(noble, 1)]]-->; after the second-nearest,
#   "sweet<!--[[neighbour("noble", 2)]]-->", the network still does<!--[[? first(noble, 2)[1] == "lord"]]-->, with 0.10<!--[[lord(noble, 2)[1]:.2f]]-->.
# </details>
#
# In 23<!--[[sum(network_moves < fivegram_moves for fivegram_moves, network_moves in all_moves)]]--> of the 24<!--[[len(all_moves)]]--> cases (three contexts, eight neighbours each) the network's prediction changes less than the 5-gram's. (We measure the change by half the sum of the absolute
# differences between the distributions before and after.) That does not make the network's predictions better. Does the
# prediction change so little because the vectors are similar, or because the network hardly uses this word? As a control we insert the other frequent words:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
changes = {}
for context in contexts:
    chosen = context[context.index("[") + 1 : context.index("]")]
    ranked = [word for rank in range(480) if (word := neighbour(chosen, rank)).isalpha()]
    texts = [context.replace(f"[{chosen}]", word) for word in ranked]
    with torch.no_grad():
        p = network(torch.tensor([words.encode(text) for text in texts]))[0][:, -1].softmax(-1)
    change = (p[1:] - p[0]).abs().sum(dim=1) / 2
    changes[context] = change[:8].mean().item(), change[8:].mean().item()
told = [(context, *(f"{mean:.2f}" for mean in means)) for context, means in changes.items()]
show.table(told, ["The network's mean change", "8 nearest words", "Other frequent words"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# In all three contexts, a neighbour changes the network's prediction less, on average, than other words do<!--[[? all(near < 0.75 * other for near, other in changes.values())]]-->. But in
# the first context the other words also change it little<!--[[? changes[gracious][1] < 0.2]]-->; there the network depends less on the word in brackets.

# %% [markdown] slideshow={"slide_type": "slide"}
# A few examples prove nothing, so we take *every* word of three held-out plays and ask how much of its context occurs somewhere in
# the training plays: all four words, just the last three, two, one, or none. Both models see the same four words.
#
# > **Ask yourself.** Which of the two models is better where all four words have been seen together? Which is better where only the last
# > word has been seen? Which case is the most common?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
result = json.loads(Path("results/unseen_contexts.json").read_text(encoding="utf-8"))
by_seen = result["by_words_seen"]
shares = [f"{100 * row['share']:.0f}" for row in by_seen.values()]
display(show.table([("% of all words", *shares)], ["words of context seen together", *by_seen]))
shown = [n for n in by_seen if n != "0"]
both = {
    name: [by_seen[n][name] for n in shown]
    for name in ("5-gram, Kneser–Ney", "feed-forward, window 4")
}
by_counting, by_network = both.values()
picture = show.curves(
    [int(n) for n in shown],
    both,
    x_title="words of context seen together in training",
    y_title="perplexity",
    alt="Perplexity against how many of the previous four words were seen together. The 5-gram falls from 91 at one word to 33 at "
    "four. The network starts lower, at 75, rises a little to 79 at two, and falls to 32 at four, where the two almost meet.",
)
picture.axes[0].set_xticks([1, 2, 3, 4])
picture

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Most contexts are new: 63<!--[[100 - 100 * by_seen["4"]["share"]:.0f]]--> % of all words follow four words that never occur together in the training plays.
# - Where all four were seen together, the 5-gram has a perplexity of 33.1<!--[[by_counting[-1]:.1f]]--> and the network 32.4<!--[[by_network[-1]:.1f]]-->, a difference that a single run
#   cannot resolve.
# - Where only the last word was seen, the 5-gram has 90.9<!--[[by_counting[0]:.1f]]--> and the network 75.5<!--[[by_network[0]:.1f]]-->. The network still reads all four words there; the 5-gram
#   has only the last one left.
# - Over all words the 5-gram has 57.9<!--[[result["overall"]["5-gram, Kneser–Ney"]:.1f]]--> and the network 54.4<!--[[result["overall"]["feed-forward, window 4"]:.1f]]-->.
# </details>
#
# In this run the network's advantage over the 5-gram is largest where the least of the context was seen<!--[[? max(a / b for a, b in zip(by_counting, by_network)) == by_counting[0] / by_network[0]]]-->.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Concatenated or averaged
#
# A cheaper summary of the window is the average of its embeddings. It treats the window as a **bag of words**, that is, words without an order. (For
# classification, this is the "deep averaging network" of Iyyer et al. 2015.)
#
# $$\bar x = \tfrac{1}{3}(x_1 + x_2 + x_3), \qquad h = f(\bar x V + b_1).$$

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(widgets.side_by_side_svg(["the", "old", "queen"]))

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask for a pair of sentences that contain the same words but mean different things, then for the prediction. Spend
# a minute on the window that contains its own target.*

# %% slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():  # the same random initialisation in every run
    torch.manual_seed(0)
    concatenated = FeedForwardLM(5000, window=3, d_embedding=64, d_hidden=64)
    averaged = BagOfWordsLM(5000, window=3, d_embedding=64, d_hidden=64)
the, dog, bites, man = 5, 10, 20, 30

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
differ, differences, weights = [], [], []
for name, model in {"concatenated": concatenated, "averaged": averaged}.items():
    apart = [
        (model(torch.tensor([one]))[0][0, -1] - model(torch.tensor([other]))[0][0, -1])
        .abs()
        .max()
        .item()
        for one, other in (
            ([dog, bites, man], [man, bites, dog]),
            ([the, dog, bites, the, man], [the, man, bites, the, dog]),
        )
    ]
    differences.append((name, *(f"{largest:.2f}" for largest in apart)))
    if apart[1] > 1e-4:
        differ.append(name)
    by_window = {
        window: type(model)(5000, window, 64, 64).hidden.weight.numel()
        for window in (2, 4, 8, 16)
    }
    weights.append((name, *(f"{number:,}" for number in by_window.values())))
orders = [
    show.table(differences, ["Largest difference", "dog bites man", "the dog bites the man"]),
    show.table(weights, ["Weights into the hidden layer, by window", *map(str, by_window)]),
]
show.predict(
    "Both networks have a window of three words. They read “the dog bites the man” and “the man bites the dog”. For which network do the two "
    "predictions of the next word differ?",
    choices=["for neither", "concatenated", "averaged", "for both"],
    answer=("for neither", *differ)[-1] if len(differ) < 2 else "for both",
    why="The windows are “bites the man” and “bites the dog”, and their words differ. Only where both windows hold the same words, as in “dog bites man” "
    "and “man bites dog”, is the average the same.",
    reveals=orders,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# - *Averaging* sees only which words a window contains. In return, it needs no more weights for a window of 16 than for one of 2<!--[[? by_window[16] == by_window[2]]]-->.
#   This is called the **weakest interaction** between words.
# - *Concatenating* gives each *position* its own rows of $V$, and each hidden neuron sums all dimensions of all words before its
#   activation function, so any two dimensions can interact. This is called the **strongest interaction**. With $D$ dimensions per word, a
#   window of $L$ words and a hidden layer as wide as $x$, $V$ has $DL \times DL$ entries, $O(D^2 L^2)$. (Ours has only 64 hidden neurons.)
# - Separate rows have a price: what $V$ learns about "king" at one position does not carry over to the others. And the network has
#   **no sense of time**. Nothing tells it that position 2 comes after position 1. If you reorder the positions of all windows, and the rows of $V$
#   in the same way, the network computes the same function.
#
# *Can the work be divided?* First let every position mix the vectors of all positions, then let each position compute with its mixture on its own.
# This takes about $L^2 D + L D^2$ operations instead of $D^2 L^2$. With $L$ = 1,000 and $D$ = 1,000, that is 2<!--[[(1000**2 * 1000 + 1000 * 1000**2) / 1e9:.0f]]--> billion instead of
# 1,000<!--[[1000**4 / 1e9:,.0f]]--> billion. [Lecture 15](15_transformer_language_model.ipynb) is about the network that does this.

# %% [markdown] slideshow={"slide_type": "slide"}
# > **What goes wrong.** *Off by one.* The window for predicting word $t$ contains words $t-3, t-2, t-1$. If it ends at $t$, the
# > model sees the answer. The training loss then falls to nearly 0, but the model generates nonsense. A loss that is too good is
# > a warning sign. *The start.* The first word does not have three previous words, so use a filler id (here 0), the same in training and
# > at inference. *Flattening the wrong way.* `(batch, 3, 8)` must become `(batch, 24)`, one row per window. If the axis of the window comes first, `(3, batch, 8)`,
# > the same `reshape` mixes words of different windows, and no error is raised. (Swapping the last two axes does no harm, because it only reorders the entries of $x$.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. A filter that slides
#
# Is there something between "separate weights for every position" and "no positions at all"? Take **one** small set of weights, a
# **filter** (or *kernel*) that looks at $k$ neighbouring words, and slide it along the text. This is a **convolution**. For one
# value per word and a filter $w_1, \dots, w_k$,
#
# $$y_t = \sum_{j=1}^{k} w_j\, x_{t-k+j} = w_1 x_{t-k+1} + \dots + w_k x_t.$$
#
# What a filter learns at one position applies at all others, because the weights are *shared*. Their number does not depend on the
# length of the text.


# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Compute the first three outputs on the board, with the zero in front. For the classifier, type
# the lines that the room calls out. Stop anybody who explains a filter after a single example.*


# %% slideshow={"slide_type": "fragment"}
def convolve(x, w):
    """Causal: zeros in front, so that y[t] uses only x[t] and earlier inputs."""
    x = np.concatenate([np.zeros(len(w) - 1), x])
    return np.array([w @ x[t : t + len(w)] for t in range(len(x) - len(w) + 1)])


signal = [1.0, 0.0, 2.0, 1.0, -1.0, 3.0, 0.0]
seven = ["the", "old", "king", "sat", "in", "the", "hall"]
filters = {
    "difference": [-1.0, 1.0],
    "mean of three": [1 / 3, 1 / 3, 1 / 3],
    "two ago": [1.0, 0.0, 0.0],
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    f"The filter $(-1, 1)$ slides over {signal}, with one zero in front. How many of the seven outputs are negative?",
    within=0,
    answer=int((convolve(signal, np.array([-1.0, 1.0])) < 0).sum()),
    why="The output is negative wherever the input falls.",
    reveals=widgets.convolution_player(convolve, signal, seven, filters),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The output is $y = 1, -1, 2, -1, -2, 4, -3$<!--[[? convolve(signal, np.array([-1, 1])).tolist() == [1, -1, 2, -1, -2, 4, -3]]]-->. The filter computes the same function of its window everywhere.
# - With zeros on both sides (menu "zeros") the output at "king" reads "old", "king" and "sat", so it has seen the word *after* it. A classifier
#   has the whole text anyway, so that is welcome. For a language model it is cheating (section 5).
# - With embeddings each $x_t$ is a $D$-dimensional row, and a filter has $k \cdot D$ weights. At every position $m$ filters map
#   $kD$ inputs to $m$ outputs. So a convolution *is* a feed-forward layer on a window, applied everywhere.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Kim's network (2014).** To classify a text, ask *whether* something occurs, not where. Slide filters of several widths over the
# text, and keep only the strongest response of each, the **maximum over time** (max pooling):
#
# $$c_t = \mathrm{ReLU}([x_t, \dots, x_{t+k-1}] \cdot w + b), \qquad \hat c = \max_t c_t, \qquad \text{scores} = \hat c\, W + b_2,$$
#
# where $\mathrm{ReLU}(a) = \max(0, a)$, and $\hat c$ contains the maximum of each filter. So any text, short or long, becomes a
# vector with one entry per filter.
#
# The task is to decide whether a line was *printed in 1623* or is in modern spelling. The network reads letters, not words. Its
# 48<!--[[sum(layer.out_channels for layer in spelling.filters)]]--> filters are 2 to 4 letters wide and were trained on ten thousand lines of Shakespeare in both spellings
# (`python -m lectures.recipes old_spelling`). We remove capitals and punctuation, and leave out lines that are then the same in both spellings.
#
# > **Ask yourself.** Which groups of letters do you expect the network's filters to detect?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
from lectures.recipes.old_spelling import letters as plain
from nlmcore.corpora.folio import align_play

spelling, symbols, spelling_card = checkpoint("old_spelling")


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
    """For every filter of every width: its responses c, one per window."""
    for layer in spelling.filters:
        for weight, c in zip(layer.weight, torch.relu(layer(x))[0], strict=True):
            yield weight[None], c.detach().numpy()


inner_v, final_e = {}, {}
for spelling_of, its_lines in zip(
    ("1623", "modern"),
    zip(*(pair[:2] for pair in align_play("macbeth")), strict=True),
    strict=True,
):
    spelt = [word for each in its_lines for word in plain(each).split()]
    inner_v[spelling_of] = sum("v" in word[1:] for word in spelt)
    final_e[spelling_of] = sum(word.endswith("e") for word in spelt) / len(spelt)

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
# - The *pull* of a filter is its maximum times the difference between its weights for the two answers. "loue", "cke", "haue", "eere" pull towards 1623. Inside a word, printers used *u* for *v*. In the lines of
#   *Macbeth* that we have in both spellings, 531<!--[[inner_v["modern"]]]--> words have a *v* inside in modern spelling, but only two<!--[[words(inner_v["1623"])]]--> in the spelling of 1623. A final *e* was more common (27<!--[[100 * final_e["1623"]:.0f]]--> % of the words, compared with
#   20<!--[[100 * final_e["modern"]:.0f]]--> %). "ove" and "ive" pull towards modern spelling.
# - The network is right on 89<!--[[100 * spelling_card["figures"]["test_accuracy"]:.0f]]--> % of 4,000<!--[[spelling_card["figures"]["test_lines"]:,]]--> test lines, half of them in each spelling. Naive
#   Bayes ([lecture 6](06_recurrent_networks.ipynb)), which counts in how many training lines of each spelling every group of 2 to 4 letters occurs, is right on 92<!--[[100 * spelling_card["figures"]["by_counting"]:.0f]]--> %.
# - The maximum forgets *where* and *how often*.
# - On other lines a filter may respond to something else.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Two channels.** Kim's filters read *words*, and the best of his networks start from vectors that were trained on other text
# ([lecture 2](02_tokens_and_vectors.ipynb)). Should training change these vectors? One of his networks does both. It has two copies of the vectors, like the colour
# channels of an image. One stays *static*, the other is trained. Each filter is applied to both, and the two responses are added.

# %% slideshow={"slide_type": "fragment"}
ready_made = network.embedding.weight.detach()  # here: those of section 1's word model
static = nn.Embedding.from_pretrained(ready_made.clone(), freeze=True)
tuned = nn.Embedding.from_pretrained(ready_made.clone(), freeze=False)
channel_filter = nn.Conv1d(ready_made.shape[1], 8, kernel_size=3)

line = torch.tensor([words.encode("my most gracious lord")])
c = torch.relu(channel_filter(static(line).mT) + channel_filter(tuned(line).mT))  # (1, 8, 2)
c.amax(dim=2).sum().backward()  # maximum over time, then some loss
print("gradient of the static vectors:", static.weight.grad)
print("rows of the tuned vectors with a gradient:", int(tuned.weight.grad.any(dim=1).sum()))

# %% [markdown] slideshow={"slide_type": "fragment"}
# Only the vectors of the line's words get a gradient; the static copy keeps the original vectors of all words.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Keeping the future out
#
# A language model is trained at all positions in parallel, to predict the next word from each prefix. So the output at position
# $t$ must not use any word after $t$. The values added where a window reaches beyond the text are called **padding**. A **causal**
# convolution puts all its zeros in *front*; libraries, which are designed for images, usually put them on both sides.


# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask how you could discover a leak if both the training loss and the test loss look perfect. Students often expect
# an error message or a bad test loss. Let them propose a test before you show ours.*


# %% slideshow={"slide_type": "fragment"}
def changed_places(pad):
    """The positions whose output changes when the input at position 6 does."""
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


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [("in front", changed_places((2, 0))), ("on both sides", changed_places((1, 1)))]
moved_places = show.table(told, ["Zeros", "Positions at which the outputs change"])
show.predict(
    "Take two convolutional layers with kernel 3 and zeros on *both* sides. We change the word at position 6. What is the first position at which an output changes?",
    within=0,
    answer=min(changed_places((1, 1))),
    why=f"Each layer lets a position see one word of its future. With zeros in front the first output to change is at {min(changed_places((2, 0)))}.",
    reveals=moved_places,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# With zeros in front, the outputs at 6 to 10 change<!--[[? changed_places((2, 0)) == [6, 7, 8, 9, 10]]]-->. With zeros on both sides those at 4 to 8 change<!--[[? changed_places((1, 1)) == [4, 5, 6, 7, 8]]]-->, so the outputs at 4 and 5
# have *seen the future*.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** A convolution that leaks trains beautifully: the next word is in its window, and the loss goes towards 0. The
# > shapes are right, there is no error, and the test loss is as low as the training loss, because the model leaks there as well. It fails
# > only at generation, when there is no future to see. The test above is short: *change a word and check whether
# > any output before it changes*. Run it on every language model that you write.

# %% [markdown] slideshow={"slide_type": "slide"}
# **How far back does a convolution look?** At each position, a layer with kernel $k$ sees $k$ of its inputs: the current one and
# the previous $k - 1$. A layer with a **dilation** of $\delta$ leaves gaps: it takes only every $\delta$-th input. The **receptive
# field** contains all words that can influence one prediction.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
fields = {}
for layers in range(1, 9):
    dilations = [3**i for i in range(layers)]
    model = ConvLM(50, d_model=4, n_layers=layers, kernel_size=3, dilations=dilations)
    fields[layers] = model.receptive_field()
told = [(layers, 1 + 2 * layers, f"{field:,}") for layers, field in fields.items()]
reach = show.table(told, ["Layers", "Words without dilations", "Words with dilations"])
show.predict(
    "With kernel 3 and no dilation you need 500 layers to see 1,000 words. How many do you need if the dilation triples with every layer (1, 3, 9, …)?",
    choices={"about 250": 250, "about 50": 50, "about 7": 7},
    answer=min(layers for layers, field in fields.items() if field >= 1000),
    why="Each layer triples the receptive field, with no more weights than a layer without dilation.",
    reveals=reach,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# In general, the size of the receptive field is
#
# $$1 + \sum_{\text{layers}} (k - 1)\,\delta.$$
#
# Without dilation, the receptive field grows linearly with the number of layers. If every layer multiplies the dilation by the same factor, the field grows
# exponentially (van den Oord et al. 2016, WaveNet).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Gates and positions: Gehring et al. 2017
#
# *For the curious.* The convolutional language model of Dauphin et al. (2017) and the translator of Gehring et al. (2017) use gates
# and *residual connections*, which add the input of a layer to its output. The translator also adds a vector for each position. Each layer of its decoder, the part
# that writes the translation, uses *attention* to look at the text that is being translated ([lecture 12](12_attention.ipynb)).
#
# **Gated linear units.** Let the convolution output $2d$ values per position, split them into two halves $A$ and $B$, and let one
# half decide how much of the other passes ($\odot$ multiplies entry by entry):
#
# $$\mathrm{GLU}([A, B]) = A \odot \sigma(B).$$


# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Skip this section if time is short; gates and positions each get their own lecture. Otherwise ask what a gate of
# 0, 0.5 and 1 does to the value and to the gradient. Point out that the gate depends on the input.*


# %% slideshow={"slide_type": "fragment"}
def glu(both):
    A, B = both.chunk(2, dim=-1)  # 2d values -> two halves of d
    return A * torch.sigmoid(B)


A = torch.tensor(3.0, requires_grad=True)
gate = torch.sigmoid(torch.tensor(0.0))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
through = {
    "GLU": torch.autograd.grad(glu(torch.stack([A, torch.tensor(0.0)])).sum(), A)[0].item(),
    "gated tanh": torch.autograd.grad(torch.tanh(A) * gate, A)[0].item(),
}
told = [(name, f"{derivative:.3f}") for name, derivative in through.items()]
derivatives = show.table(told, ["", "Derivative with respect to A"])
show.predict(
    "Take $A = 3$ with the gate half open ($B = 0$). By what factor is the derivative with respect to $A$ smaller for the gated tanh, "
    "$\\tanh(A)\\,\\sigma(B)$, than for the GLU?",
    choices={"about 2": 2, "about 10": 10, "about 100": 100},
    answer=through["GLU"] / through["gated tanh"],
    why="In the GLU only the gate scales the gradient with respect to $A$, whatever the size of $A$. At $A = 3$ the tanh is nearly flat, so its slope makes the gradient small.",
    reveals=derivatives,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The derivative is 0.5<!--[[through["GLU"]:.1f]]--> for the GLU and 0.005<!--[[through["gated tanh"]:.3f]]--> for the gated tanh. [Lecture 8](08_gates.ipynb)
# is about gates.

# %% [markdown] slideshow={"slide_type": "slide"}
# **Position vectors** (learned position embeddings). A convolution applies the same filters everywhere and cannot know where it is.
# To every word's embedding, Gehring et al. add a learned vector $p_t$ for its position: $g_t = e(w_t) + p_t$.
#
# > **Ask yourself.** The same three words occur at positions 2–4 and at positions 8–10. Does a convolution with kernel 3 give the
# > same output for both? Does it still do so with position vectors?

# %% slideshow={"slide_type": "fragment"}
tokens = torch.tensor([[4, 5, 6, 7, 8, 9, 10, 11, 6, 7, 8, 12]])  # 6 7 8 occurs twice
with torch.random.fork_rng(), torch.no_grad():
    torch.manual_seed(0)
    untrained = ConvSeq2Seq(
        20, 20, d_model=16, n_encoder_layers=1, n_decoder_layers=1, kernel_size=3
    ).eval()
    state = untrained.encode(torch.tensor([[3, 4, 5]]))
    with_positions = untrained(tokens, state)[0][0]
    untrained.positions.weight.zero_()  # the same network, without position vectors
    without = untrained(tokens, state)[0][0]
for name, logits in {"without positions": without, "with positions": with_positions}.items():
    print(f"{name:18} largest difference {(logits[4] - logits[10]).abs().max():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Without position vectors there is no difference at all<!--[[? (without[4] - without[10]).abs().max() < 1e-6]]-->, because the same window gives the same output at every position. (There is
# an exception: near the start, the zeros in front reveal the position.) With position vectors the two outputs differ<!--[[? (with_positions[4] - with_positions[10]).abs().max() > 0.01]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A small translator.** In Gehring's translator, convolutions with zeros on both sides encode the *source*, the text to be translated. A causal decoder
# reads the translation so far, and each of its layers attends to the source ([lecture 12](12_attention.ipynb)). The distribution of
# the next word comes from the state of the *top* layer, $\mathrm{softmax}(h_t^L W_o + b_o)$. We train a small translator of this
# kind. It translates number words below a thousand into digits; 200 of the 999 numbers are held out.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
ONES, TENS = NUMERALS.split()[:19], NUMERALS.split()[19:]
NUMBER_WORDS = ["<pad>", "hundred", *ONES, *TENS]


def spelled_out(n):
    hundreds, rest = divmod(n, 100)
    tens, ones = divmod(rest, 10) if rest >= 20 else (0, rest)
    said = [ONES[hundreds - 1], "hundred"] if hundreds else []
    return said + ([TENS[tens - 2]] if tens else []) + ([ONES[ones - 1]] if ones else [])


def number_pairs(numbers):
    """Ids of the words, and 1 (the start), the digits plus 3, 2 (the end); padded with 0."""
    rows = [[NUMBER_WORDS.index(word) for word in spelled_out(n)] for n in numbers]
    digits = [[1, *(int(digit) + 3 for digit in str(n)), 2] for n in numbers]
    return tuple(
        torch.tensor([row + [0] * (width - len(row)) for row in of])
        for of, width in ((rows, 4), (digits, 5))
    )


shuffled = (torch.randperm(999, generator=torch.Generator().manual_seed(0)) + 1).tolist()
source, target = number_pairs(shuffled[:799])

# %% slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():
    torch.manual_seed(0)
    translator = ConvSeq2Seq(len(NUMBER_WORDS), 13, 32, 2, 2, kernel_size=3)
    optimizer = torch.optim.Adam(translator.parameters(), lr=5e-3)
    for _ in range(200):
        chosen = torch.randint(len(source), (64,))
        state = translator.encode(source[chosen], source[chosen] != 0)
        logits, _ = translator(target[chosen, :-1], state)
        loss = F.cross_entropy(logits.mT, target[chosen, 1:], ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# %% slideshow={"slide_type": "fragment"}
@torch.no_grad()
def translate(numbers):
    source, _ = number_pairs(numbers)
    state, read = translator.eval().encode(source, source != 0), torch.ones(len(source), 1).long()
    written = [""] * len(source)
    for _ in range(4):
        logits, state = translator(read, state)  # reads the digit just written
        read = logits[:, -1:].argmax(dim=-1)
        written = [
            w + (str(d - 3) if d > 2 else "·")
            for w, d in zip(written, read[:, 0].tolist(), strict=True)
        ]
    return [w.partition("·")[0] for w in written]


# %% slideshow={"slide_type": "fragment"}
held_out = shuffled[799:]
translated = translate(held_out)
for n, digits in list(zip(held_out, translated, strict=True))[:4]:
    print(" ".join(spelled_out(n)), "→", digits)

# %% [markdown] slideshow={"slide_type": "fragment"}
# It translates 98<!--[[100 * sum(str(n) == w for n, w in zip(held_out, translated)) / len(held_out):.0f]]--> % of the held-out numbers correctly (one run, an easy task). It must write zeros for which the
# source has no word: "five hundred" becomes 500. Of the 38<!--[[sum("0" in str(n) for n in held_out)]]--> held-out numbers that contain a zero, it gets 36<!--[[sum("0" in str(n) and str(n) == w for n, w in zip(held_out, translated))]]--> right.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Who sees whom
#
# *Ivory* is a material and a *tower* is a building, but an *ivory tower* (in Chinese 象牙塔, elephant-tooth tower) means a life away from
# the world. The meaning of a word depends on its neighbours, so a network for text must combine the vectors of several words
# and compute new vectors from them. These are two kinds of step. **Composition** mixes positions: it decides which words can meet. **Abstraction**
# turns each mixture into a new vector. (Networks for images also repeat both, and go from pixels to textures, regions, objects and their relations.) Each kind of
# network combines these steps in its own order:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(widgets.paths_svg())

# %% [markdown] slideshow={"slide_type": "subslide"}
# In the picture, a step to the right composes and a step upwards abstracts. A recurrent network does both in one tanh, one word at
# a time. Each way of composing builds an assumption about language into the network before any training: its **inductive bias**.
#
# | | composition | built-in assumption | steps between two words $n$ apart | + | − |
# |---|---|---|---|---|---|
# | window, convolution (CNN) | neighbours, wider with every layer | nearby words matter | inside the window about $n/(k-1)$ layers, or about $\log n$ if the dilation doubles in every layer; no path to words beyond it | all positions in parallel | sees nothing beyond its window |
# | recurrent network (RNN, [lecture 6](06_recurrent_networks.ipynb)) | from left to right, into one state | order matters; the state is enough | $n$ | any length, one set of weights | one word after another; long paths |
# | attention ([lecture 12](12_attention.ipynb)) | all to all | any word may matter; in one layer without position vectors, order does not | 1 | every pair one step apart, in parallel | the cost grows with the square of the length |
#
# A drawing is not evidence, so we *measure*. We build each model, predict the word after a given position, and ask autograd for
# the gradient of the prediction with respect to each word's embedding. A word whose gradient is exactly 0 is not seen.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Before each setting, ask which words will turn blue, then change one slider at a time. Students tend to read the
# drawing as what a trained model uses; stress that it shows only what a model can see.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from nlmcore.recurrent import RecurrentLM
from nlmcore.transformer import TransformerConfig, TransformerLM

text = "the cat that the dog had chased all day sat on the old red mat ."
sentence = text.split()
N = len(sentence)


@lru_cache(maxsize=256)
def model_of(kind, layers, kernel, dilations, seed=1):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if kind == "window":
            return FeedForwardLM(N + 1, window=kernel, d_embedding=16, d_hidden=16)
        if kind == "convolution":
            return ConvLM(N + 1, 16, layers, kernel, dilations)
        if kind.startswith("recurrent"):
            model = RecurrentLM(N + 1, "rnn", 16, 16, layers)
            for cell in model.recurrent.cells if "orthogonal" in kind else ():
                nn.init.orthogonal_(cell.weight_hh)
            return model
        sizes = {
            "d_model": 16,
            "n_heads": 2,
            "n_layers": layers,
            "max_length": N,
            "tie_embeddings": False,
        }
        model = TransformerLM(TransformerConfig(vocab_size=N + 1, **sizes))
        for name, weight in model.named_parameters() if "Glorot" in kind else ():
            if weight.dim() == 2 and name.startswith(("layers", "output")):
                nn.init.xavier_normal_(weight)
        return model


# %% slideshow={"slide_type": "fragment"}
def measure(kind, layers, kernel, dilations, at, seed=1):
    """How much the prediction after word `at` depends on each word's embedding: the norm of the gradient."""
    model = model_of(kind, layers, kernel, dilations, seed)
    tokens = torch.arange(1, N + 1).unsqueeze(0)  # all different: each has its own embedding
    prediction = model(tokens)[0][0, at]
    (gradient,) = torch.autograd.grad(prediction.square().sum(), model.embedding.weight)
    return gradient[1:].norm(dim=-1).tolist()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def seen_by(layers, kernel, dilations):
    """How many words a convolution sees from the last one."""
    return sum(value > 0 for value in measure("convolution", layers, kernel, dilations, N - 1))


def faded(kind):
    """For five seeds: how many times smaller the gradient of the first word is than that of the last."""
    felt = [measure(kind, 1, 3, (1,), N - 1, seed) for seed in range(1, 6)]
    return sorted(norms[-1] / norms[0] for norms in felt)


by_default, orthogonal = faded("recurrent"), faded("recurrent, orthogonal U")
by_attention = {
    kind: np.array([measure(kind, 1, 3, (1,), N - 1, seed) for seed in range(1, 6)])
    for kind in ("attention", "attention, Glorot")
}
unequal = max(row.max() / row.min() for row in by_attention["attention"][:, :-1])
last_over_others = {
    kind: np.median(rows[:, -1] / rows[:, :-1].mean(axis=1))
    for kind, rows in by_attention.items()
}
show.predict(
    f"A recurrent network with PyTorch's initial weights reads {N} tokens. The gradient of the first word is "
    f"{by_default[0]:,.0f} to {by_default[-1]:,.0f} times smaller than that of the last (five seeds). Now let only $U$, "
    "the matrix that carries its state to the next word, begin as a random rotation (“recurrent, orthogonal U”). "
    "How many times smaller is the gradient of the first word now?",
    choices={"as before": 5000, "about 100 times": 100, "1 to 3 times": 2},
    answer=orthogonal[2],
    why="The words are as far apart as before, and the cell is the same. Only the initial weights differ.",
    reveals=widgets.reach_playground(measure, sentence).opens(kind="recurrent, orthogonal U"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - "cat" is 14<!--[[N - 1 - sentence.index("cat")]]--> words before the last word. With dilations that double from 1 to 4, three layers of kernel 3 see exactly the 15<!--[[seen_by(3, 3, (1, 2, 4))]]--> words from "cat" to the
#   last.
# - Without dilations, even four layers of kernel 4 see only 13<!--[[seen_by(4, 4, (1, 1, 1, 1))]]-->.
# - In both settings, exactly the words that the drawn connections reach have a nonzero gradient<!--[[? seen_by(3, 3, (1, 2, 4)) == model_of("convolution", 3, 3, (1, 2, 4)).receptive_field() and seen_by(4, 4, (1, 1, 1, 1)) == model_of("convolution", 4, 4, (1, 1, 1, 1)).receptive_field()]]-->.
# - With attention and small random initial weights (those of GPT-2), the gradients of all words except the last are within a factor of 2.5 of each other<!--[[? unequal < 2.5]]-->,
#   however distant the word (five seeds).
# - The gradient of the last word is 93<!--[[last_over_others["attention"]:.0f]]--> times as large as the mean of the others (median of five seeds). With Glorot's initial weights for its matrices
#   ([lecture 5](05_training_well.ipynb)), which are larger here, it is only 3<!--[[last_over_others["attention, Glorot"]:.0f]]--> times as large.
# </details>
#
# The architecture decides what a model *can* see. How strongly it sees a distant word before training also depends on the initial
# weights. In these five runs of the recurrent network with PyTorch's $U$, the gradient of the first word is more than a thousand times smaller<!--[[? by_default[0] > 1000]]--> than that of the last, with a random rotation less than four times<!--[[? max(orthogonal) < 4]]-->. Training decides what the model *will* use;
# [lecture 7](07_vanishing_gradients.ipynb) follows the gradient through time.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Measured: the table of [lecture 1](01_language_models.ipynb), continued
#
# All models use the same split and the same 5,000 words. The networks have 128 dimensions per word and see the training plays
# once. Each was trained once, and nothing is tuned (`python -m lectures.recipes perplexity`). They also differ in other ways: the
# convolution uses one table for embeddings and output (*tied weights*), whereas the windows use two tables, with larger initial embeddings.

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Let the room order the five models before you show the table. If someone ranks the two close ones, ask how
# many runs there were, and what else differs. End with the tickets, which lead to recurrent networks.*

# %% slideshow={"slide_type": "fragment"}
table = json.loads(Path("results/perplexity.json").read_text(encoding="utf-8"))
rows = {
    "2-gram, Kneser–Ney": table["ngram"]["kneser_ney"]["2"],
    "5-gram, Kneser–Ney": table["ngram"]["kneser_ney"]["5"],
    "averaged, window 4": table["neural"]["bag of words (4)"]["perplexity"],
    "concatenated, window 4": table["neural"]["feed-forward (4)"]["perplexity"],
    "convolutions, 9 words": table["neural"]["convolutional (9)"]["perplexity"],
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [(name, f"{perplexity:.1f}") for name, perplexity in rows.items()]
measured = show.table(told, ["", "Perplexity"])


def size(model):
    return sum(p.numel() for p in model.parameters())


untied = size(
    ConvLM(5000, 128, 2, 5)
)  # the table's convolution, with two tables as the windows have
untied_window = table["neural"]["feed-forward (4)"]["parameters"]


@torch.no_grad()
def misled(position):
    """Perplexity of section 2's network on test text if one word of each window is replaced at random."""
    text = torch.tensor(words.encode(load("shakespeare").texts("test")[0]))[:4004]
    context, target = text.unfold(0, 5, 1)[:, :4].clone(), text[4:]
    if position is not None:
        draw = torch.Generator().manual_seed(0)
        context[:, position] = text[torch.randint(len(text), (len(context),), generator=draw)]
    return F.cross_entropy(network(context)[0][:, -1], target).exp().item()


tied = stored("tied")
unharmed, *harmed = [misled(position) for position in (None, 0, 1, 2, 3)]
networks = ["averaged, window 4", "concatenated, window 4", "convolutions, 9 words"]
worse = [name for name in networks if rows[name] > rows["2-gram, Kneser–Ney"]]
show.predict(
    f"A 2-gram, which sees one word, has a perplexity of {rows['2-gram, Kneser–Ney']:.1f}. Which of our three networks was worse, in its single run?",
    choices=[*networks, "none of them"],
    answer=worse[0] if worse else "none of them",
    why="The 2-gram sees fewer words, but its one word is always the last.",
    reveals=measured,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The averaged window has a perplexity of 96.0<!--[[rows["averaged, window 4"]:.1f]]-->. The 2-gram has 71.2<!--[[rows["2-gram, Kneser–Ney"]:.1f]]-->.
# - How much does the last word matter? In the network of section 2 we replaced one word of each window by a random one. The
#   perplexity on a test play, 52<!--[[unharmed:.0f]]-->, rises to 59<!--[[harmed[0]:.0f]]--> if we replace the first word and to 589<!--[[harmed[3]:.0f]]--> if we replace the last.
# - The concatenated window (57.4<!--[[rows["concatenated, window 4"]:.1f]]-->) and the 5-gram (57.9<!--[[rows["5-gram, Kneser–Ney"]:.1f]]-->) are too close to be ranked by single runs. The network of section 2, trained for
#   three<!--[[words(result["network"]["passes"])]]--> epochs instead of one, has 54.4<!--[[result["overall"]["feed-forward, window 4"]:.1f]]-->.
# - The convolutions have 49.8<!--[[rows["convolutions, 9 words"]:.1f]]-->. They have 973,192<!--[[table["neural"]["convolutional (9)"]["parameters"]:,]]--> parameters, fewer than the window's 1,350,664<!--[[untied_window:,]]-->, because they have
#   one table instead of two. With two they would have more<!--[[? untied > untied_window > table["neural"]["convolutional (9)"]["parameters"]]]-->.
# - Do the tied embeddings make the difference? We trained smaller networks of both kinds with initial embeddings of the same size, each at the best of the learning rates that we tried, with
#   five seeds (`python -m lectures.recipes tied`). With two tables in both, the convolutions are ahead by 0.111<!--[[tied["lower"]["untied"]["mean"]:.3f]]--> ± 0.006<!--[[tied["lower"]["untied"]["half"]:.3f]]--> nats per word; with one
#   table in both, by 0.067<!--[[tied["lower"]["tied"]["mean"]:.3f]]--> ± 0.009<!--[[tied["lower"]["tied"]["half"]:.3f]]--><!--[[? all(of["mean"] > of["half"] for of in tied["lower"].values())]]-->. So the convolutions lead in either form.
# </details>
#
# The network of section 2 depends most on the last of its four words<!--[[? harmed[3] == max(harmed)]]-->, and an average does not tell which word was the last. That may be why the averaged
# window is worse. The convolutions lead, but they differ from the
# windows in several ways: size, depth, shared weights, a larger receptive field, gates and residual connections. We did not test which of them made
# the difference.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from_tickets = "tickets she found that the printer was out of toner She went to the shop bought some put it in and finally printed her"

# %% [markdown] slideshow={"slide_type": "slide"}
# No window is wide enough, because the decisive word may be further back than any width that you choose in advance. *When she
# tried to print her tickets, she found that the printer was out of toner. She went to the shop, bought some, put it in, and
# finally printed her …* A window that reaches "tickets" is 24<!--[[len(from_tickets.split())]]--> words wide, not counting punctuation.
#
# What must a model know about *queen*? It must know that *queen* is used like *king*, and it can store this in two vectors near each other. With such vectors a network
# predicts in contexts that it has never seen, but only from the words inside its window. A recurrent network reads from left to right and carries along a
# summary of all the words that it has read.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A network has a window of 5, embeddings of 100 dimensions and 200 hidden neurons. How many weights does $V$ have? How many with
#    a window of 10?
# <details><summary>Answer</summary>$V$ has 500 × 200 = 100,000<!--[[5 * 100 * 200:,]]--> weights; with a window of 10 it has twice as many, 200,000<!--[[10 * 100 * 200:,]]-->.</details>
#
# 2. An n-gram model gives a word a probability of 0.2 after a context that it has seen. Now replace one word of the context by a
#    synonym, so that the context is unseen. Which words does the model use?
# <details><summary>Answer</summary>It backs off to the longest end of the context that was seen. It does not know
# that the two words are synonyms.</details>
#
# 3. A filter of width 3 with $\max$ over time fires on "not a good". Can the network distinguish "not a good film" from "film, a
#    good not"?
# <details><summary>Answer</summary>Yes, if the filter spans the difference, because order counts inside its width. Beyond that width it cannot, because the maximum forgets where the filter responded.</details>
#
# 4. Three causal layers have kernel 3 and the dilations 1, 3 and 9. How many words does a prediction see?
# <details><summary>Answer</summary>It sees 1 + 2·(1 + 3 + 9) = 27<!--[[1 + 2 * (1 + 3 + 9)]]--> words.</details>
#
# 5. Your convolutional model has a test perplexity of 1.3 and writes nonsense. What do you do first?
# <details><summary>Answer</summary>Change a word and check whether outputs before it change, because most likely the padding leaks the future.</details>
#
# 6. Why does a convolution know the *order* of the words inside its window, but not the *position* of the window in the text?
# <details><summary>Answer</summary>Each position inside the window has its own weights, but the filter treats the window as a whole
# in the same way everywhere.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Check yourself" is not projected: 6 minutes at the end, or homework. Take 3, 4 and 5 in the room. What goes wrong: in 3 they
# answer without asking how wide the filter is, and in 4 some multiply 3 · 3 · 3, which happens to give 27 as well; ask them for
# the dilations 1, 1, 1, where the answer is 7.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# You can also write the causal convolution with a loop over the *filter* instead of a loop over the text, as in the cell below.
# Change it, for instance by reversing the filter (which is what mathematicians call a convolution), and see where your version and
# the reference differ.


# %% slideshow={"slide_type": "fragment"}
def my_convolve(x, w):
    y = np.zeros(len(x))
    for j, weight in enumerate(w):
        back = len(w) - 1 - j  # the last weight multiplies the newest word
        y[back:] += weight * x[: len(x) - back]
    return y


widgets.convolution_player(convolve, signal, seven, filters, yours=my_convolve)

# %% [markdown] slideshow={"slide_type": "skip"}
# `widgets.filter_explorer` and `widgets.reach_playground` also take functions, so you can pass them your own network. You build
# the convolutions of this lecture, and two classifiers made of them, in the assignment
# [`exercises/convolutions/convolutions.ipynb`](../exercises/convolutions/convolutions.ipynb), and the backward passes of layers in
# [`exercises/backpropagation/backpropagation.ipynb`](../exercises/backpropagation/backpropagation.ipynb).

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Now you": 5 minutes, in pairs. Ask first which of the three filters stays the same when it is reversed (the mean of three,
# because it is symmetric). What goes wrong: pairs reverse the signal instead of the filter, or drop the shift and let the future
# in; let them apply the test of section 5 to their own function.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $x = [x_1, x_2, x_3]$ | $[C(w_{t-3}), C(w_{t-2}), C(w_{t-1})]$ | the embeddings of the window, concatenated |
# | $h = f(xV + b_1)$ | $h = f(Vx + b_1)$, $\tanh(d + Hx)$ | hidden layer; with column vectors the matrix is on the left |
# | $\hat y = \mathrm{softmax}(hW + b_2)$ | $\hat y = \mathrm{softmax}(Wh + b_2)$, $y = b + Wx + U\tanh(d + Hx)$ | the prediction; Bengio's $W$ are additional direct connections |
# | $D$, $L$ | $d$, $m$; $n$, $T$ | width of an embedding, length of the window or text |
# | $k$, $\delta$ | $h$ (Kim), kernel width, filter size; dilation | width of a filter; spacing of the words it reads |
# | $\hat c = \max_t c_t$ | max-over-time pooling | the strongest response of each filter |
# | $\mathrm{GLU}([A, B])$, $2d \to d$ | $(X * W + b) \otimes \sigma(X * V + c)$ | gated linear unit |
# | $g_t = e(w_t) + p_t$ | $e = (w_1 + p_1, \dots)$ | input with position vectors |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The table is not projected. Point to it when somebody reads Bengio's paper, where $W$ means something else. What goes wrong:
# students say "filter" for the filter, for its width and for its output. Begin the next lecture with 2 minutes in pairs: each
# student explains three of the words without the list.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **window**: the fixed number of previous words from which a model predicts.
# - **feed-forward network**: a network in which values flow in one direction, from input to output, and nothing is kept for the next word.
# - **strongest interaction**: word vectors concatenated into one long vector, so that any two of their dimensions can interact in a hidden neuron.
# - **weakest interaction**: word vectors averaged into one vector, so that their order is lost.
# - **bag of words**: the words of a text without their order.
# - **filter**: a small set of weights that looks at a few neighbouring words; also called kernel.
# - **convolution**: the same filter applied at every position of a text.
# - **maximum over time**: the largest response of a filter over all positions (max pooling).
# - **causal**: said of a model whose output at a position uses nothing after that position.
# - **padding**: values, here zeros, that are added where a window reaches beyond the text.
# - **dilation**: the spacing of the words that a filter reads; with a dilation of 2 it reads every second word.
# - **receptive field**: all words that can influence one prediction.
# - **gated linear unit**: one half of a vector, multiplied elementwise by the sigmoid of the other half; GLU for short.
# - **position vector**: a learned vector for a position in the text, added to the embedding of the word there (position embedding).
# - **composition**: the step of a network that mixes positions, deciding which words interact.
# - **abstraction**: the step of a network that computes a new vector at each position separately.
# - **inductive bias**: the assumptions that an architecture builds into a model before it sees any data.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Bengio, Ducharme, Vincent & Jauvin (2003), A Neural Probabilistic Language Model, section 2. Iyyer, Manjunatha,
# Boyd-Graber & Daumé (2015), Deep Unordered Composition Rivals Syntactic Methods for Text Classification. Kim (2014), Convolutional
# Neural Networks for Sentence Classification, section 2. Van den Oord et al. (2016), WaveNet: A Generative Model for Raw Audio. Dauphin,
# Fan, Auli & Grangier (2017), Language Modeling with Gated Convolutional Networks, section 2. Gehring, Auli, Grangier, Yarats &
# Dauphin (2017), Convolutional Sequence to Sequence Learning, section 3. The sentence about the tickets: Stanford's CS224N.
