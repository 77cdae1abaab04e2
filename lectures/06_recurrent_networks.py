# %% [markdown] slideshow={"slide_type": "slide"}
# # Recurrent networks
#
# *friends romans countrymen lend me your ears i come to bury caesar not to praise him.* This text has no punctuation marks, and yet
# you heard the pauses. At "him" you heard the end of a sentence that had begun with "i", eight words earlier. How can a network of
# fixed size read a text of any length?
#
# <img src="figures/restored.svg" width="900" alt="The words of Mark Antony without punctuation and capitals. Above each word is the output of a small recurrent network, which restores capitals, commas and full stops, and is more confident of some than of others.">
#
# *The grey words are the input of a small recurrent network. Above each is its output, below each its confidence. It makes one
# mistake; can you find it? In section 6 you can type sentences of your own.*
#
# **After this lecture you can**
# - write the step of a recurrent network and the loop around it, and say what is shared over time;
# - train one by teacher forcing, with correctly shifted targets;
# - do backpropagation through time by hand, and check it;
# - say what truncating it saves, and measure what it loses;
# - use one network for language modelling, labelling and classification, and say which two of the three may read backwards, and why.
#
# **You need** [lecture 1](01_language_models.ipynb) (language models, perplexity), [lecture 3](03_backpropagation.ipynb) (the chain
# rule on a graph) and [lecture 4](04_windows_and_convolutions.ipynb) (a feed-forward language model with a window; embeddings).
# *Vectors are rows*, as in the code, so we write a matrix to the right of its vector.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 9 | 6 | 10 | 11 | 9 | 12 | 9 | 3 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 100 minutes. If that is too long, leave out
# the classifier and the heads in section 6 and the residual connections in section 7. Every cell runs in under ten seconds on a
# laptop, without a network connection. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Short of time: skip the second experiment of section 5 and the code of section 7.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import inspect
import itertools
import math

import torch
from IPython.display import HTML, display
from torch.nn import functional as F

from nlmcore.corpora import StreamBatches, load
from nlmcore.decoding import sample
from lectures.trained import checkpoint
from nlmcore.recurrent import Recurrent, RecurrentLM, RNNCell, SequenceTagger
from lectures import show, stored, widgets
from nlmcore.tokens import CharTokenizer
from nlmcore.training import fit, teacher_forcing_loss, truncated_backpropagation

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One step, again and again
#
# The feed-forward model of [lecture 4](04_windows_and_convolutions.ipynb) reads a window of, say, four words and cannot see anything
# before it. A wider window needs more weights, one block per position, and it still ends somewhere.
#
# Instead, let the network read one word at a time, and give it a **state** $h$, a
# vector that summarises what it has read so far. Each **step** computes the next state $h_t$ from the previous state and the vector $x_t$ of
# the next word:
#
# $$h_t = \tanh(h_{t-1} U + x_t W), \qquad \hat y_t = \mathrm{softmax}(h_t V), \qquad h_0 = 0.$$
#
# $\tanh$ keeps each value of the state between −1 and 1; other functions would do. (Throughout the course, we reserve $\sigma$ for
# the logistic function, $1/(1 + e^{-a})$.) $U$ carries the past, $W$ reads the new word, and $V$ turns the state into a prediction.
# The state that one step computes is an input of the next, which makes this a **recurrent network** (Elman 1990).

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask before the picture: what is the least you would have to remember of a text to guess its next word? Take three answers (the
# subject, the topic, whether a quotation is open). 9 minutes with the widget.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.unrolled_svg(
        ["the", "dogs", "near", "the", "house"],
        ["ŷ₁", "ŷ₂", "ŷ₃", "ŷ₄", "ŷ₅"],
        alt="A recurrent network unrolled over 'the dogs near the house': each word enters the state of its time step through W, "
        "each state feeds into the next one through U, and V computes a prediction from each state.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# This is the same network at five time steps, **unrolled**. There is only *one* $U$, one $W$ and one $V$. The forward pass is a
# loop over $t = 1 \dots T$:


# %% slideshow={"slide_type": "subslide"}
def step(x, h, U, W):
    return torch.tanh(h @ U + x @ W)


def read(words, embedding, U, W, V):
    h = torch.zeros(len(U))  # nothing read yet
    predictions = []
    for word in words:
        h = step(embedding[word], h, U, W)
        predictions.append(torch.softmax(h @ V, dim=-1))
    return h, predictions


# %% [markdown] slideshow={"slide_type": "slide"}
# Here is a network so small that we can set its weights by hand. A word vector has one dimension, whose value is 1 for a plural
# noun, −1 for a singular noun and 0 for anything else. Two units, called "subject" and "last noun", read this value. Let $u$ be the weight
# with which a unit feeds back into itself, its entry on the diagonal of $U$. For "subject" $u = 2.2$; "last noun" has no feedback, so its
# $u = 0$. The prediction, "is" or "are", depends only on "subject".

# %% slideshow={"slide_type": "fragment"}
number = {"the": 0, "near": 0, "by": 0, "dog": -1, "dogs": 1, "house": -1, "houses": 1}
embedding = {word: torch.tensor([float(value)]) for word, value in number.items()}
U = torch.tensor([[2.2, 0.0], [0.0, 0.0]])
W = torch.tensor([[1.5, 1.5]])
V = torch.tensor([[-3.0, 3.0], [0.0, 0.0]])

h, predictions = read(["the", "dogs", "near", "the", "house"], embedding, U, W, V)
print("state ", [round(value, 2) for value in h.tolist()])
print("is, are", [round(value, 2) for value in predictions[-1].tolist()])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
forgetful, _ = read(["the", "dogs", "near", "the", "house"], embedding, 0 * U, W, V)


def subject(factor, sentence="the dogs near the house"):
    """The final value of the unit “subject” if U is multiplied by the factor."""
    return read(sentence.split(), embedding, factor * U, W, V)[0][0].item()


tenths = [i / 10 for i in range(16)]
says_are = [factor for factor in tenths if subject(factor) > 0]

show.predict(
    "The network reads *the dogs near the house*, with $U$ multiplied by 0. What does it predict next?",
    choices=["is", "are"],
    answer=["is", "are"][int((forgetful @ V).argmax())],
    why="Without $U$ the state depends only on the last word. From what factor upwards does the network say “are”?",
    reveals=widgets.state_player(
        step,
        [
            "the dogs near the house",
            "the dog near the houses",
            "the dogs near the house by the house",
        ],
        embedding,
        U,
        W,
        V,
        units=["subject", "last noun"],
        outcomes=["is", "are"],
    ).opens(read=5, scale=0.0),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At factor 1, "subject" stays positive. "house" pulls the unit down to 0.56<!--[[subject(1):.2f]]-->, but not below 0. If words other than nouns followed, it would
#   climb back<!--[[? subject(1, "the dogs near the house by the") > 0.9]]-->.
# - At factor 0, the network says "is", because the last word was "house".
# - At factors of 0.8<!--[[says_are[0]]]--> and more it says "are"<!--[[? says_are == tenths[-len(says_are) :]]]-->. At smaller factors "dogs" has faded too much by the time "house" arrives. Watch the unit
#   at "near" and "the". Up to a factor of 0.4<!--[[max(f for f in tenths if f * U[0, 0] < 1)]]-->, the factor times $u$ is below 1 and each step shrinks the memory.
# </details>
#
# Here a unit that feeds back into itself strongly enough remembers, and a unit without this feedback forgets immediately.

# %% [markdown] slideshow={"slide_type": "skip"}
# In `nlmcore` the step is `RNNCell`. It stores its weights transposed, as PyTorch does (`weight_hh` is the transpose of our $U$;
# the step gets it transposed back, as `U`). It computes $x_t W + b$, with a bias $b$, for all time steps beforehand (`projected`), and
# `addmm` adds the two products:

# %% slideshow={"slide_type": "skip"}
print(inspect.getsource(RNNCell.step))
cell = RNNCell(1, 2)
with torch.no_grad():
    cell.weight_hh.copy_(U.T)
    cell.weight_ih.copy_(W.T)
    state = torch.zeros(1, 2)
    for word in ["the", "dogs", "near", "the", "house"]:
        state = cell(embedding[word].unsqueeze(0), state)
print("the same state:", torch.allclose(state[0], h))

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** You swap $U$ and $W$: $x_t U + h_{t-1} W$. If the state is as wide as the word vectors, both matrices are
# > square and nothing complains; the network even trains. But $W$ is then no longer the matrix that reads a word, and weights
# > loaded from a file give nonsense. Choose sizes that differ (here 1 input dimension, but 2 units), and PyTorch reports the
# > mistake.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. The same weights at every time
#
# $U$, $W$ and $V$ are **shared over time**. The matrices that read "not" as the third word also read it as the
# thirtieth, and the size of the network does not depend on how far back it can look.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: which parts of the network grow when the text gets longer? (None; only the computation does.) What goes wrong: students count
# one U for each arrow in the unrolled picture. Point at two arrows and ask whether training can make them differ. 6 minutes, half of
# them for the text that is read in two pieces.*

# %% slideshow={"slide_type": "fragment"}
d = 128

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
trained = RNNCell(d, d)
recurrent_weights = trained.weight_hh.numel() + trained.weight_ih.numel()  # U and W
told = [(f"window of {n} words", f"{n * d * d:,}") for n in (2, 4, 16, 64)]
told.insert(0, ("recurrent, any length", f"{recurrent_weights:,}"))
prices = show.table(told, ["", "Weights"])
show.predict(
    "Word vectors and states have 128 dimensions. A feed-forward layer of the same width over a window of $n$ words has $n \\cdot 128 \\cdot 128$ weights. "
    "For which $n$ does the layer have as many weights as $U$ and $W$ together?",
    within=0,
    answer=recurrent_weights / (d * d),
    why="$U$ and $W$ have $128 \\cdot 128$ weights each.",
    reveals=prices,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The recurrent network has as many weights as a layer over a window of two<!--[[words(recurrent_weights // d**2)]]--> words. Yet in principle it can use the whole past, if
# the past fits into one state.

# %% [markdown] slideshow={"slide_type": "subslide"}
# The state is *all* that the network remembers. So you may read a text in pieces, provided that you pass the state from piece to piece:
# `logits, state = model(tokens, state)`. Our recurrent language models all have this signature.

# %% slideshow={"slide_type": "fragment"}
# a recurrent network over characters of Shakespeare
letters, chars, card = checkpoint("char_lstm")
text = "But soft! what light through yonder window breaks?"
tokens = torch.tensor([chars.encode(text)])
with torch.no_grad():
    whole, _ = letters(tokens)
    _, state = letters(tokens[:, :25])
    carried, _ = letters(tokens[:, 25:], state)
    forgotten, _ = letters(tokens[:, 25:])


def largest_difference(logits):
    """The largest difference of any probability, at any position of the second half."""
    return (whole[:, 25:].softmax(-1) - logits.softmax(-1)).abs().max().item()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
halves = {"passed on": carried, "none": forgotten}
told = [(name, f"{largest_difference(half):.6f}") for name, half in halves.items()]
differences = show.table(told, ["State", "Largest difference of any probability"])
show.predict(
    "The network reads the second half of a text with *no* state. By how much does the most affected probability change?",
    choices={"below 0.1": 0.05, "about 0.3": 0.3, "above 0.8": 0.9},
    answer=largest_difference(forgotten),
    why="For the network this is a different text, one that begins in the middle of a word.",
    reveals=differences,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# If the state is passed on, nothing changes<!--[[? largest_difference(carried) < 1e-5]]-->. Without it, one probability changes by 0.93<!--[[largest_difference(forgotten):.2f]]-->; the largest possible change is 1.
#
# > **What goes wrong.** You forget to carry the state, so that every batch begins with zeros. On texts that fit into one batch you
# > do not notice. But a network that generates letter by letter without its state predicts each letter as if
# > the text began with the previous letter.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Training: read the reference, predict its next word
#
# During training the text is known. At every step the network reads the *true* word $w_t$, whatever it predicted itself, and the loss
# scores its prediction of the next true word. This is **teacher forcing** (Williams & Zipser 1989). The loss is the mean over all predictions:
#
# $$L = \frac1T \sum_{t=1}^{T} L_t, \qquad L_t = -\ln \hat y_t[w_{t+1}].$$

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: if the network predicts "banana" after "to be or", what does it read next? (The true word; its own prediction is only
# scored.) What goes wrong: they shift the targets in the wrong direction, or not at all, and are delighted by the loss. 10 minutes: 6
# for the targets, 4 for the live training. Ask for the initial loss before it runs.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.unrolled_svg(
        ["<bos>", "to", "be", "or", "not"],
        ["to", "be", "or", "not", "<eos>"],
        alt="Teacher forcing: the network reads <bos> to be or not; the targets above are the same words shifted left by one position: "
        "to be or not, and <eos> at the end.",
        weights=False,
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The targets are the text itself, shifted left by one position. One call computes the logits at all positions, and we
# compute a loss from each; `teacher_forcing_loss` is the mean of these losses:

# %% slideshow={"slide_type": "subslide"}
with torch.no_grad():
    logits, _ = letters(tokens[:, :-1])
    per_step = -logits.log_softmax(-1).gather(2, tokens[:, 1:, None])[0, :, 0]
    library = teacher_forcing_loss(letters, tokens)
print("losses of the first steps:", [round(value, 2) for value in per_step[:8].tolist()])
print(
    f"their mean over {len(per_step)} steps: {per_step.mean():.3f}; the library's: {library:.3f}"
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself before you run.** Suppose the targets are *not* shifted, so that the network is asked for the letter that it has
# > just read. Is its loss near 0, about the same as above, or much higher? And how would the loss develop if you trained with such targets?

# %% slideshow={"slide_type": "fragment"}
with torch.no_grad():
    not_shifted = F.cross_entropy(letters(tokens)[0][0], tokens[0])
print(f"targets not shifted: {not_shifted:.3f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# It is much higher<!--[[? not_shifted > 2 * library]]-->, because this network was trained to predict the next letter, not the one that it has just read. If you trained it with
# unshifted targets, it would only have to repeat the letter just read. The loss would soon be almost 0, and the network useless.
# </details>
#
# > **What goes wrong.** (1) You do not shift the targets. A loss near 0 after a minute is a bug, not a breakthrough. (2) Your mean
# > includes the padding, the zeros appended to the shorter of two sentences in a batch:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
short, long = (
    chars.encode("To be."),
    chars.encode("But soft! what light through yonder window breaks?"),
)
batch = torch.tensor([short + [0] * (len(long) - len(short)), long])
mask = batch != 0
with torch.no_grad():
    right = teacher_forcing_loss(letters, batch, mask=mask)
    each = F.cross_entropy(
        letters(batch[:, :-1])[0].transpose(1, 2), batch[:, 1:], reduction="none"
    )
    diluted = (each * mask[:, 1:]).mean()  # padding costs nothing, and is still counted
print(f"mean over real letters: {right:.3f}   mean over all positions: {diluted:.3f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Train one, now
#
# A *vanilla* recurrent network, the plain one of section 1, reads *Hamlet* and *King Lear* character by character. It has 128 units. We cut
# the text into 32 rows. In each of 300 updates the network reads the next 32 characters of every row, all rows in parallel. The 300 updates
# together are not quite one epoch<!--[[? 0.8 * len(stream) < 300 < len(stream)]]-->. `carry_state=True` passes the state of each row on to the next batch.
#
# > **Ask yourself.** There are 71<!--[[own_chars.vocab_size]]--> different characters. What is the loss before training? And what will the network write after 300
# > updates: words, letters in a plausible order, or noise?

# %% slideshow={"slide_type": "fragment"}
plays = [play.text for play in load("shakespeare").train if play.title in ("Hamlet", "King Lear")]
own_chars = CharTokenizer.fit(plays)
stream = StreamBatches(own_chars.encode("".join(plays)), 32, 32)
torch.manual_seed(0)
rnn = RecurrentLM(own_chars.vocab_size, "rnn", d_embedding=32, d_hidden=128)


def written(model, letters_to_write=150):
    prompt = torch.tensor([own_chars.encode("HAMLET.\n")])
    draw = torch.Generator().manual_seed(0)
    tokens = sample(model, prompt, letters_to_write, temperature=0.7, generator=draw).tokens
    return own_chars.decode(tokens[0].tolist())


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
before = written(rnn, 60)
curve = widgets.TrainingCurve("loss in nats per character")
display(curve)
history = fit(
    rnn, stream, steps=300, learning_rate=5e-3, carry_state=True, progress=False, on_step=curve
)
curve.finish()

# %% slideshow={"slide_type": "subslide"}
print("before:", repr(before))
print("after:\nHAMLET.\n" + written(rnn))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Before training the loss is $\ln 71$ = 4.26<!--[[math.log(own_chars.vocab_size):.2f]]-->, because the network gives all characters about the same probability<!--[[? abs(history.losses[0] - math.log(own_chars.vocab_size)) < 0.03]]-->. After training it is about 2.05<!--[[? 2.0 < sum(history.losses[-20:]) / 20 < 2.1]]-->.
# - The network writes short English words and line breaks, with capitals after them, but no sentence.
# - The network of section 2 has 356,050<!--[[card["parameters"]:,]]--> parameters and computes its step in a different way; we say that it has a different *cell* ([lecture 8](08_gates.ipynb)). It was trained on 14<!--[[math.prod(card["training"][of] for of in ("steps", "batch", "time")) / card["training"]["passes"] / (300 * 32 * 32):.0f]]--> times
#   as much text, for three epochs. Section 6 shows what it writes.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Backpropagation through time
#
# $U$ is one matrix, used at every time step. How does the loss depend on it? Unrolled, the network is a deep feed-forward network
# with one layer per word and the same weights in each layer. The chain rule of [lecture 3](03_backpropagation.ipynb) applies, and because $U$ is used everywhere, its
# gradient is a *sum over time steps*:
#
# $$\frac{dL}{dU} = \frac1T \sum_{t=1}^{T} \frac{\partial L_t}{\partial \hat y_t} \frac{\partial \hat y_t}{\partial h_t}
#   \frac{\partial h_t}{\partial U}, \qquad
#   \frac{\partial h_t}{\partial U} = \sum_{k \le t} \frac{\partial h_t}{\partial h_k}
#   \left.\frac{\partial h_k}{\partial U}\right|_{h_{k-1}}, \qquad
#   \frac{\partial h_t}{\partial h_k} = \prod_{j=k+1}^{t} \frac{\partial h_j}{\partial h_{j-1}}.$$
#
# The middle sum runs over the uses of $U$. At time $k$ the matrix was used to compute $h_k$; the vertical bar says that $h_{k-1}$ is held fixed.
# From $h_k$ the effect travels through all intermediate states to $h_t$. This is **backpropagation through time** (Werbos 1990). In the
# examples below the loss is the sum over time, without the $1/T$.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Work through the three-step example on the board before you run it, and let the class compute ∂h₂/∂u. What usually
# goes wrong: they write ∂h₃/∂u = (1−h₃²)·h₂ and forget that h₂ also depends on u.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# Here is an example with scalars that you can do by hand: $h_t = \tanh(u\,h_{t-1} + w\,x_t)$ with $u = 0.5$ and $w = 1$. The inputs
# are $1, 0, 0$, the output is the state itself, and every target is 1, so the task is to *remember the 1*. The loss is
# $L = \sum_t \frac12 (h_t - 1)^2$.

# %% slideshow={"slide_type": "fragment"}
u, w = 0.5, 1.0
h1 = math.tanh(u * 0 + w * 1)
h2 = math.tanh(u * h1)
h3 = math.tanh(u * h2)
print(f"h     {h1:.4f}  {h2:.4f}  {h3:.4f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as hand:
    direct1 = (1 - h1**2) * 0.0  # u times h0, and h0 = 0
    direct2 = (1 - h2**2) * h1  # how h2 depends on u, h1 held fixed
    direct3 = (1 - h3**2) * h2
    slope2, slope3 = u * (1 - h2**2), u * (1 - h3**2)  # how h2 depends on h1, and h3 on h2
    dh2_du = direct2 + slope2 * direct1
    dh3_du = direct3 + slope3 * direct2 + slope3 * slope2 * direct1
    by_hand = (h2 - 1) * dh2_du + (h3 - 1) * dh3_du
    print(f"dL/du = {h2 - 1:.4f} · {dh2_du:.4f} + {h3 - 1:.4f} · {dh3_du:.4f} = {by_hand:.4f}")
show.predict(
    "One of the three time steps adds nothing to $dL/du$. Which?",
    choices=["the first", "the second", "the third"],
    answer=["the first", "the second", "the third"][[direct1, dh2_du, dh3_du].index(0.0)],
    why="At time step 1, $u$ is multiplied by $h_0 = 0$.",
    reveals=hand,
)

# %% slideshow={"slide_type": "fragment"}
u_leaf, h_t, loss = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0), 0.0
for x in (1.0, 0.0, 0.0):
    h_t = torch.tanh(u_leaf * h_t + w * x)
    loss = loss + 0.5 * (h_t - 1) ** 2
loss.backward()
print(f"autograd: {u_leaf.grad:.4f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# $dL/du$ = −0.9716<!--[[by_hand:.4f]]-->, and autograd agrees<!--[[? abs(u_leaf.grad - by_hand) < 1e-6]]-->. The gradient is negative, so gradient descent makes $u$ larger. With a larger $u$ the state remembers more of the 1.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What a program does.** In the long formula, $\partial h_t/\partial U$ has three axes. A program need not compute this
# derivative. It goes back through time *once* and carries along one row vector, $\delta_t$, the gradient of the whole loss with respect to
# the sum inside the tanh of step $t$. With $\delta_{T+1} = 0$,
#
# $$\delta_t = \Big(\frac{\partial L_t}{\partial h_t} + \delta_{t+1} U^\top\Big) \odot (1 - h_t^2), \qquad
#   \frac{dL}{dU} = \sum_t h_{t-1}^\top \delta_t .$$
#
# The bracket adds up the effects of $h_t$ on its own prediction and on all later ones. The shapes fit: a column $h_{t-1}^\top$ times a row
# $\delta_t$ is a matrix of the shape of $U$.

# %% slideshow={"slide_type": "fragment"}
T, d_small = 5, 3
draw = torch.Generator().manual_seed(0)
U_matrix = torch.randn(d_small, d_small, generator=draw, requires_grad=True)
x, target = torch.randn(2, T, d_small, generator=draw)  # x: the inputs times W
states = [torch.zeros(d_small)]
for t in range(T):
    states.append(torch.tanh(states[-1] @ U_matrix + x[t]))
sum(0.5 * (h - y).pow(2).sum() for h, y in zip(states[1:], target, strict=True)).backward()

with torch.no_grad():
    delta, slope = torch.zeros(d_small), torch.zeros(d_small, d_small)
    for t in reversed(range(1, T + 1)):
        delta = (states[t] - target[t - 1] + delta @ U_matrix.T) * (1 - states[t] ** 2)
        slope += torch.outer(states[t - 1], delta)
print(f"largest difference from autograd: {(slope - U_matrix.grad).abs().max():.0e}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Here is the same recursion for a single unit, with a separate entry for every pair of time steps. Row $t$ belongs to the loss at time
# $t$, column $k$ to the use of $u$ at time $k$, and the entry is the pair's contribution to $dL/du$. The sum of all entries is the
# gradient.


# %% slideshow={"slide_type": "fragment"}
def through_time(u, w, inputs, targets):
    states = [0.0]
    for x in inputs:
        states.append(math.tanh(u * states[-1] + w * x))
    T = len(inputs)
    parts = [[0.0] * T for _ in range(T)]
    for t in range(1, T + 1):
        arriving = states[t] - targets[t - 1]  # dL_t / dh_t
        for k in range(t, 0, -1):  # back through time
            at_sum = arriving * (1 - states[k] ** 2)
            parts[t - 1][k - 1] = at_sum * states[k - 1]
            arriving = at_sum * u  # on to h_{k-1}
    return states, parts


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
def near(u, apart):
    """The sum of the pairs that are fewer than so many steps apart."""
    _, entries = through_time(u, 1.0, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0] * 6)
    return sum(entries[t][k] for t in range(6) for k in range(t + 1) if t - k < apart)


def distant(u):
    """The sum of the pairs that are 3 or more steps apart."""
    return near(u, 6) - near(u, 3)


every, near_ones = near(0.5, 6), near(0.5, 2)
show.predict(
    "If we leave out all pairs that are 2 or more steps apart, how much of the sum is lost at $u = 0.5$?",
    choices={"about a twentieth": 5, "about a fifth": 20, "about a half": 50},
    answer=100 * (1 - near_ones / every),
    unit=" %",
    why="Every step back multiplies by $u(1 - h_j^2)$. Which value of $u$ makes the distant entries largest?",
    reveals=widgets.through_time_player(
        through_time, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0] * 6
    ).opens(cut=2),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The large entries are near the diagonal. Every step back multiplies by $\partial h_j/\partial h_{j-1} = u(1 - h_j^2)$, the factors
#   shown below the chain of states. At $u = 0.5$ all of them are below 0.5, so the product shrinks.
# - The distant pairs, those that are 3 or more steps apart, add most at a $u$ of about 0.8<!--[[min(range(-15, 31), key=lambda tenth: distant(tenth / 10)) / 10]]-->. A smaller $u$ shrinks the product; a larger one makes the states large, where
#   tanh is flat and $1 - h^2$ small. At $u = 2$ almost nothing arrives from far away<!--[[? abs(distant(2)) < 1e-3]]-->, although nothing was truncated.
# - At $u = 0.5$ the whole sum is −1.98<!--[[every:.2f]]-->. Without the pairs that are 2 or more steps apart it is −1.55<!--[[near_ones:.2f]]-->, so a fifth<!--[[? 0.18 < 1 - near_ones / every < 0.22]]--> is lost.
#   Without the pairs that are 4 or more steps apart it is −1.94<!--[[near(0.5, 4):.2f]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Cutting it off
#
# Most plays have more than 100,000 characters. To backpropagate through a whole play, you would have to keep every state and read to the
# end for a single update. Instead, read about 20 steps, backpropagate through those, update, and read on from the state after you
# have *detached* it from its past. This is **truncated backpropagation through time** (Williams & Peng 1990; Mikolov et al. 2010).

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: what exactly is cut, the state or the gradient? (Only the gradient.) What goes wrong: students think that a network trained on
# pieces of 20 cannot know anything older. It can, but no gradient has ever gone back further. 9 minutes; the task with the first symbol takes
# 4 of them.*

# %% slideshow={"slide_type": "fragment"}
text = load("shakespeare").test[2].text[2000 : 2000 + 8 * 201]
tokens = torch.tensor(own_chars.encode(text)).view(8, 201)
for piece in truncated_backpropagation(rnn, tokens, length=20):
    piece.loss.backward()  # reaches back to the start of the piece, no further
print("pieces of 20 predictions; the state passed on is detached:", not piece.state.requires_grad)

# %% [markdown] slideshow={"slide_type": "fragment"}
# As long as the weights stay the same, the forward pass computes the same values as if it read the whole text in one piece. The
# *state* loses nothing; only the gradient does. (In training there is an update between two pieces, so the state that is passed on
# comes from slightly older weights.)
#
# > **Ask yourself.** We read 200 characters in pieces of $n$, and measure how far the truncated gradient $g_n$ of $U$ is from the
# > gradient $g$ over the whole text: $\|g_n - g\| / \|g\|$. We do this for the RNN that we have just trained, and for `char_lstm`, the
# > network of section 2. How large is the error with pieces of 1, 5 and 20 characters?


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
def gradient_of(model, tokens, length):
    model.zero_grad()
    for piece in truncated_backpropagation(model, tokens, length):
        (piece.loss * piece.predictions).backward()
    return model.recurrent.cells[0].weight_hh.grad.flatten().clone()


pieces = [1, 2, 5, 10, 20, 50, 100]
errors = {}
rows = {"our RNN": (rnn, own_chars), "char_lstm": (letters, chars)}
for name, (model, its_chars) in rows.items():
    tokens = torch.tensor(its_chars.encode(text)).view(8, 201)
    g = gradient_of(model, tokens, 200)
    cut = [gradient_of(model, tokens, n) for n in pieces]
    errors[name] = [((g_n - g).norm() / g.norm()).item() for g_n in cut]
show.curves(
    pieces,
    errors,
    x_title="characters per piece",
    y_title="error of the gradient",
    log_x=True,
    alt="The relative error of the truncated gradient of U against the length of the pieces: it "
    "falls from about 0.65 with pieces of one character to about a tenth with 20 for our RNN "
    "and a quarter for the LSTM.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - For our RNN the error is 0.64<!--[[errors["our RNN"][0]:.2f]]--> with pieces of a single character, and with pieces of 20 it is 0.11<!--[[errors["our RNN"][4]:.2f]]-->.
# - `char_lstm`, an LSTM ([lecture 8](08_gates.ipynb)), loses more: with pieces of 20 its error is 0.23<!--[[errors["char_lstm"][4]:.2f]]-->.
# </details>
#
# The cost of truncation depends on the network. And these are errors in the gradient of the mean loss over all predictions. What if one
# prediction depends on a single distant symbol?

# %% [markdown] slideshow={"slide_type": "slide"}
# Here is such a task. The first symbol is 1, 2 or 3; six blanks follow; then the network must output the first symbol. We train
# twice with the same forward pass, which carries the state from piece to piece. The first training backpropagates through all seven
# steps, the second through pieces of three.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def learn_to_name_the_first(length, blanks=6, steps=150, seed=1):
    torch.manual_seed(seed)
    draw = torch.Generator().manual_seed(seed + 1)
    model = RecurrentLM(4, "rnn", 8, 32)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    right = []
    for _ in range(steps):
        first = torch.randint(1, 4, (32, 1), generator=draw)
        blank = torch.zeros(32, blanks, dtype=torch.long)
        tokens, targets = torch.cat([first, blank], 1), torch.cat([blank, first], 1)
        mask = torch.arange(blanks + 1).expand(32, -1) == blanks  # only the last answer counts
        optimizer.zero_grad()
        for piece in truncated_backpropagation(model, tokens, length, targets, mask=mask):
            piece.loss.backward()
        optimizer.step()
        answer = model(tokens)[0][:, -1].argmax(-1)
        right.append((answer == first[:, 0]).float().mean().item())
    return sum(right[-20:]) / 20


named = {length: learn_to_name_the_first(length) for length in (7, 3)}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [(f"{length} steps", f"{100 * share:.0f}") for length, share in named.items()]
shares = show.table(told, ["Backpropagation through", "Right at the end, %"])
show.predict(
    "The second training uses pieces of three, but its state could carry the symbol. How often is the network right after 150 updates?",
    choices={
        "nearly always": 100,
        "about two thirds of the time": 67,
        "a third, as by guessing": 33,
    },
    answer=100 * named[3],
    unit=" %",
    why="No gradient ever reaches the step that reads the symbol.",
    reveals=shares,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The first training run ends with 100<!--[[100 * named[7]:.0f]]--> % correct answers, the second with 34<!--[[100 * named[3]:.0f]]--> %; guessing gives a third. (This is one seed and a
# short training run. With seed 3 even the first only guesses<!--[[? learn_to_name_the_first(7, seed=3) < 0.45]]-->.) In the second, no gradient ever tells step 1 that keeping the symbol would help. But even an untrained
# state holds a faint trace of the symbol, and longer training can teach the network to use it. Try `learn_to_name_the_first(3, steps=600)`,
# which is right more often<!--[[? learn_to_name_the_first(3, steps=600) > named[3] + 0.1]]-->, and then add `seed=2`, which still guesses<!--[[? learn_to_name_the_first(3, steps=600, seed=2) < 0.4]]-->.
# </details>
#
# The state *could* carry the symbol, but truncation removes the gradient from the answer back to the symbol. With the gradients that
# remain within the pieces, whether the network learns the task depends on the seed.

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** You pass the state on but forget to **detach** it. Detaching a tensor keeps its values but cuts it from the
# > computation that produced it. If you forget this, PyTorch tries to backpropagate through the previous piece, whose graph is gone:

# %% slideshow={"slide_type": "skip"}
tokens = torch.tensor(own_chars.encode(text)).view(8, 201)
logits, state = rnn(tokens[:, :20])
F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:21]).backward()
logits, state = rnn(tokens[:, 20:40], state)  # should be detach(state)
try:
    F.cross_entropy(logits.transpose(1, 2), tokens[:, 21:41]).backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).split(".")[0])

# %% [markdown] slideshow={"slide_type": "skip"}
# (`nlmcore.training.detach(state)` detaches a state. PyTorch's message also proposes `retain_graph=True`. Once the weights have been updated,
# this only leads to another error, because the old graph needs the old weights.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Three uses
#
# | | reads | answers | examples |
# |---|---|---|---|
# | **language modelling** | $w_1 \dots w_t$ | the next word, at every step | typing, speech, translation |
# | **labelling** (tagging) | the whole text | one label per word | parts of speech, names, punctuation |
# | **classification** | the whole text | one label per text | sentiment, spam, genre |

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask for each row of the table: may this network read from right to left as well? What goes wrong: they take the last state of a
# padded text as its summary. Let the room type a sentence into both widgets; a sentence that fools the network is worth more than one
# that works. 12 minutes, 4 for each use.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
uses = [
    ("language modelling", ["to", "be", "or"], ["be", "or", "not"]),
    ("labelling", ["to", "be", "or"], ["To", "be,", "or"]),
    ("classification", ["to", "be", "or"], [None, None, "tragedy"]),
]
HTML(
    show.beside(
        *(
            show.unrolled_svg(
                words,
                answers,
                title=name,
                weights=False,
                alt=f"{name}: reads {' '.join(words)}, answers {[a for a in answers if a]}",
            )
            for name, words, answers in uses
        )
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Language modelling
#
# A recurrent language model *can* use all words before the next one. How many does it use? We take an LSTM, a recurrent network with a
# different cell ([lecture 8](08_gates.ipynb)), that was trained on the words of Shakespeare for three epochs. It predicts 1,000 words of a
# test play. For each of them it starts from a state of zeros and reads only the previous $k$ words.

# %% slideshow={"slide_type": "fragment"}
word_lstm, word_ids, _ = checkpoint("word_lstm")
play = torch.tensor(word_ids.encode(load("shakespeare").texts("test")[0]))
ends = torch.linspace(200, len(play) - 1, 1000).long()  # the words to predict


@torch.no_grad()
def perplexity_from(k):
    """The perplexity of these words, each predicted from the k words before it."""
    before = play[ends[:, None] - torch.arange(k, 0, -1)]
    hidden, _ = word_lstm.hidden_states(before)
    return F.cross_entropy(word_lstm.output(hidden[:, -1]), play[ends]).exp().item()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
contexts = [1, 2, 4, 8, 16, 32, 64]
from_context = [perplexity_from(k) for k in contexts]
enough = next(
    k for k, p in zip(contexts, from_context, strict=True) if p < 1.05 * from_context[-1]
)
show.predict(
    "The LSTM may use 64 words. How many of them are enough to come within 5 % of the perplexity that it reaches with all 64?",
    choices={"4": 4, "16": 16, "all 64": 64},
    answer=enough,
    why="Words further back change the loss little, on average.",
    reveals=lambda: show.curves(
        contexts,
        {"word LSTM": from_context},
        x_title="words that it reads",
        y_title="perplexity",
        log_x=True,
        alt=f"Perplexity against the number of words read: {', '.join(f'{p:.0f} from {k}' for k, p in zip(contexts, from_context, strict=True))}.",
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Being able to use the whole past does not mean using it. With one word of context, this LSTM has a perplexity of 91<!--[[from_context[0]:.0f]]-->; with sixteen, 39<!--[[from_context[4]:.0f]]-->;
# with all 64, 38<!--[[from_context[-1]:.0f]]-->. On average, nearly all that it knows about the next word comes from the previous sixteen<!--[[? enough == 16]]-->. A single prediction may still
# depend on a distant word.

# %% slideshow={"slide_type": "subslide"}
draw = torch.Generator().manual_seed(3)
prompt = torch.tensor([chars.encode("FIRST WITCH.\n")])
tokens = sample(letters, prompt, 220, temperature=0.6, generator=draw).tokens
print("FIRST WITCH.\n" + chars.decode(tokens[0].tolist()))

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Labelling: restore the punctuation
#
# Every word gets one of twelve labels: capitalised or not, combined with the punctuation mark (if any) that follows it. We trained
# the network (`SequenceTagger`) on speeches from Shakespeare's plays, with the bare words as its input and the labels as its
# targets (`python -m lectures.recipes restore`, after an idea of Tilk & Alumäe 2016). *Julius Caesar* was held out.
#
# > **Ask yourself.** Which is easiest to restore: a question mark, a comma, or an exclamation mark?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from lectures.recipes.restore import ids
from lectures.recipes.restore_marks import put_back, take_off

tagger, tagger_words, tagger_card = checkpoint("restore")


def restore(text):
    words = take_off(text).words
    if not words:
        raise ValueError("type a few words, in letters")
    with torch.no_grad():
        chances = tagger(torch.tensor([ids(tagger_words, words)]))[0].softmax(-1)
    sure, labels = chances.max(-1)
    marked = [
        put_back([word], [label]) for word, label in zip(words, labels.tolist(), strict=True)
    ]
    return words, marked, sure.tolist(), words


sentences = [
    "friends romans countrymen lend me your ears i come to bury caesar not to praise him",
    "who is it in the press that calls on me i hear a tongue cry caesar speak",
    "alas poor yorick i knew him horatio where be your gibes now",
    "what is the matter my lord why do you weep",
]

# %% slideshow={"slide_type": "subslide"}
widgets.restore_player(restore, sentences)

# %% slideshow={"slide_type": "subslide"}
rows = stored("restore")["rows"]
print(f"{'':28} {'words right':>11} {'capitals':>9} {'marks':>6}")
for name, row in rows.items():
    print(
        f"{name:28} {row['words_right']:10.1f}% {row['capitals_f1']:9.1f} {row['marks_f1']:6.1f}"
    )
by_mark = rows["reads both ways"]["f1_by_mark"]
print("by mark:", by_mark)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from lectures.recipes.restore import tag
from lectures.recipes.restore_marks import MARKS
from lectures.recipes.restore_marks import pieces as parts_of
from lectures.recipes.texts import Capitals, speeches

caesar = next(d.text for d in load("shakespeare").valid if d.title == "Julius Caesar")
spoken = parts_of(speeches(caesar, Capitals(load("shakespeare").texts("train"))))


def followed_by_small(all_tags):
    """Words marked with a full stop, and how many of the next words begin with a small letter."""
    n, stop = len(MARKS), MARKS.index(".")
    after = [b for tags in all_tags for a, b in itertools.pairwise(tags) if a % n == stop]
    return len(after), sum(label < n for label in after)


stops, small = followed_by_small(tag(tagger, tagger_words, [piece.words for piece in spoken]))
_, small_in_print = followed_by_small([piece.tags for piece in spoken])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Of these three the question mark is easiest, with an F1 score of 54<!--[[by_mark["?"]:.0f]]-->; commas have 43<!--[[by_mark[","]:.0f]]-->, exclamation marks 25<!--[[by_mark["!"]:.0f]]-->. (The F1 score, in percent, is high
#   only if most marks are found *and* most predicted marks are right.)
# - The score of capitals gains almost nothing from the words that follow: it is 77.8<!--[[rows["reads the words before"]["capitals_f1"]]]--> without them and 78.2<!--[[rows["reads both ways"]["capitals_f1"]]]--> with them.
# - Punctuation gains far more, from 18.9<!--[[rows["reads the words before"]["marks_f1"]]]--> to 47.1<!--[[rows["reads both ways"]["marks_f1"]]]--> (one network of each kind).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Each label by itself.** The tagger decides on every label separately, without knowing its other decisions. Inside the speeches of *Julius
# Caesar* it sets 65<!--[[stops]]--> full stops, and a small letter follows 48<!--[[small]]--> of them, as in *I should not then ask casca. what had chanced.* (In the
# printed play, this happens once<!--[[? small_in_print == 1]]-->.) Each label is the likeliest for its word, but a full stop and then a small letter can hardly both be right.
#
# If a model wrote a whole text like this, each word would be the likeliest by itself, for example "San" from one likely sentence
# and "York" from another. A remedy is to feed each chosen word back before the next one is chosen. That is a language model.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Which words are names?** Now the label is 1 for the name of a person and 0 for any other word. The plays provide these labels: a
# word is a name if it is part of a speaker's name, is not a common word, and is usually capitalised in the play. Some of these labels are wrong. The network reads all words in lower case, and it reads a
# word that occurs in fewer than five training plays as `<unk>`. So 416<!--[[persons["new_names"]]]--> of the 598<!--[[persons["names"]]]--> names in the test plays are `<unk>`, and so are
# 4,260<!--[[persons["unknown"] - persons["new_names"]:,]]--> words that are not names (`python -m lectures.recipes persons`, five seeds).
#
# > **Ask yourself.** How can a network find a name that it reads as `<unk>`?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
persons = stored("persons")
f1_of = {row: [of["f1"]] for row, of in persons["floors"].items()}
f1_of |= {row: of["f1"] for row, of in persons["rows"].items()}
both_ways = persons["rows"]["reads both ways"]


def average(values):
    return sum(values) / len(values)


found = average(both_ways["new_found"]) / 100
# if so many of all words read as <unk> were marked at random, and every other name were found without an error:
hits = found * persons["new_names"] + persons["names"] - persons["new_names"]
false_alarms = found * (persons["unknown"] - persons["new_names"])
at_random = 100 * 2 * hits / (hits + false_alarms + persons["names"])
told = [(row, f"{average(values):.1f}") for row, values in f1_of.items()]
note = f"Of the names read as <unk>, both ways: {100 * found:.0f} % found."
show.table(told, ["", "F1"], note)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - If each word always gets its commonest label, without any context, the F1 score is 10.0<!--[[f1_of["each word's commonest label"][0]:.1f]]-->. If every `<unk>` is labelled as a name as well, it is 16.8<!--[[f1_of["every <unk> as well"][0]:.1f]]-->.
# - The network that reads only the earlier words has 36.3<!--[[average(f1_of["reads the words before"]):.1f]]-->, the one that reads both ways 39.2<!--[[average(f1_of["reads both ways"]):.1f]]-->. Seed by seed, the words that follow add 2.9<!--[[persons["both_ways_more"]["mean"]:.1f]]--> ± 2.7<!--[[persons["both_ways_more"]["half"]:.1f]]--> points.
# - The network that reads both ways finds 34<!--[[average(both_ways["new_found"]):.0f]]--> % of the names that it reads as `<unk>`. If it marked that fraction of all words read as `<unk>` at random,
#   its F1 score would be at most 27<!--[[at_random:.0f]]-->, even if it found every other name without an error.
# - If we shuffle the words of each speech, the F1 score of this network falls to 22.2<!--[[average(both_ways["f1_shuffled"]):.1f]]-->.
# </details>
#
# **Even if a network reads a word only as `<unk>`, the words around it help to tell whether it is a name**<!--[[? min(f1_of["reads both ways"]) > max(at_random, max(f1_of["each word's commonest label"]), max(f1_of["every <unk> as well"]), max(both_ways["f1_shuffled"]))]]-->.

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Classification: comedy or tragedy?
#
# `SequenceClassifier` computes one answer for the whole text, either from the last state or from the mean of all states. Here
# we show one that takes the mean. We trained it to answer after *every* word (`python -m lectures.recipes genre`), so we can watch it make
# up its mind. It knows hardly any names, because its vocabulary has only words that occur in at least eight plays. Unknown words are shown in grey.
#
# > **Ask yourself.** *Is this a dagger which I see before me* is from Macbeth, a held-out play.
# > After how many words will the network be confident, and of which genre?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from lectures.recipes.genre import running_logits

classifier, genre_words, genre_card = checkpoint("genre")


def verdict(text):
    words = take_off(text).words
    if not words:
        raise ValueError("type a few words, in letters")
    known = ids(genre_words, words)
    with torch.no_grad():
        chances = running_logits(classifier, torch.tensor([known]))[0].softmax(-1)[:, 1]
    return words, chances.tolist(), [token == genre_words.unk for token in known]


openings = [
    "if music be the food of love play on give me excess of it that surfeiting the appetite may sicken and so die",
    "is this a dagger which i see before me the handle toward my hand come let me clutch thee",
    "good my lord let us to dinner the wench is merry and the fool is drunk again",
    "the night is full of blood and the gods are dead o what a fall was there",
]

# %% slideshow={"slide_type": "subslide"}
widgets.verdict_player(verdict, openings, low="comedy", high="tragedy")

# %% slideshow={"slide_type": "subslide"}
genre = stored("genre")
bayes = genre["rows"]["naive Bayes, a bag of words"]
kept, shuffled = list(genre["rows"].values())[-2:]
by_play = genre["right_after_160_words_by_play"]
lengths = [int(n) for n in bayes]
show.curves(
    lengths,
    {name: list(row.values()) for name, row in genre["rows"].items()},
    x_title="words read",
    y_title="% right",
    log_x=True,
    alt="Fraction of held-out passages classified right against the number of words read: every line ends higher than it begins, "
    f"from {show.from_to([row['5'] for row in genre['rows'].values()])} % at 5 words; naive Bayes is ahead at every length; "
    "shuffling the words changes little at 160 words.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - After six words, "is this a dagger which I", the network is confident, and wrong: P(tragedy) = 0.11<!--[[verdict(openings[1])[1][5]:.2f]]-->, and it stays there<!--[[? max(verdict(openings[1])[1][5:]) < 0.12]]-->.
# - After 160 words it is right on 71<!--[[kept["160"]:.0f]]--> % of the passages from held-out plays (with equal weight for comedies and tragedies). But it says *comedy* too often: it is right on 93<!--[[min(v for k, v in by_play.items() if "comedy" in k):.0f]]--> to 94<!--[[max(v for k, v in by_play.items() if "comedy" in k):.0f]]--> % of the
#   passages from comedies, and only on 46<!--[[min(v for k, v in by_play.items() if "tragedy" in k):.0f]]--> to 53<!--[[max(v for k, v in by_play.items() if "tragedy" in k):.0f]]--> % of those from tragedies.
# - **Naive Bayes**, which counts words and ignores their order, is right on 79<!--[[bayes["160"]:.0f]]--> % after 160 words
#   and is ahead at every length<!--[[? all(bayes[n] > row[n] for row in genre["rows"].values() if row is not bayes for n in bayes)]]-->.
# - If the words of each passage are shuffled, the recurrent network is still right on 71<!--[[shuffled["160"]:.0f]]--> % after 160 words.
#   On whole passages the order of the words hardly affects its score.
# </details>
#
# So first try a model that only counts words, such as naive Bayes. (Four held-out plays are few, so do not trust a difference of a point or two.)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Three heads
#
# The last state is a vector. The answer that you need decides the *head*, which is the layer on top, and its loss:
#
# | the answer is | head | loss | example |
# |---|---|---|---|
# | one of two classes | one score $s$, $p = \sigma(s)$ | $-\ln p$ or $-\ln(1 - p)$ | spam or not, sentiment |
# | one of $K$ classes | $K$ scores, softmax | $-\ln p[\text{class}]$ | the next word, a tag, a genre |
# | a number | one score, unchanged | $(s - y)^2$ | the next value of a time series |
#
# Here we train the first head on first names from the census. Is a name listed for women or for men?


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def spelled(part):
    """Names as rows of letters, the last ten of each, with the padding in front; 1 for a woman's."""
    found = load("names", kind="first").splits[part]
    rows = [[ord(letter) - 96 for letter in d.text.lower()][-10:] for d in found]
    tokens = torch.tensor([[0] * (10 - len(row)) + row for row in rows])
    return tokens, torch.tensor([float(d.label == "female") for d in found])


# %% slideshow={"slide_type": "fragment"}
torch.manual_seed(0)
reader = RecurrentLM(27, "gru", 16, 48)  # a GRU (see Gates); our own head reads its last state
head = torch.nn.Linear(48, 1)
optimizer = torch.optim.Adam(
    [*reader.recurrent.parameters(), *reader.embedding.parameters(), *head.parameters()], 5e-3
)
names, listed = spelled("train")
for _ in range(250):
    chosen = torch.randint(len(names), (64,))
    score = head(reader.hidden_states(names[chosen])[0][:, -1])[:, 0]
    loss = F.binary_cross_entropy_with_logits(score, listed[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
names_test, listed_test = spelled("test")
with torch.no_grad():
    says = head(reader.hidden_states(names_test)[0][:, -1])[:, 0] > 0
by_last = [listed[names[:, -1] == letter] for letter in range(27)]
last_letter = torch.tensor([bool(len(of) and of.mean() > 0.5) for of in by_last])[
    names_test[:, -1]
]
right_on = {
    "always “women”": listed_test.mean(),
    "the last letter alone": (last_letter == (listed_test == 1)).double().mean(),
    "the network": (says == (listed_test == 1)).double().mean(),
}
show.table([(name, f"{100 * part:.0f}") for name, part in right_on.items()], ["", "Right, %"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# A rule that looks only at the last letter is right for 85<!--[[100 * right_on["the last letter alone"]:.0f]]--> % of the test names. The network gets 87<!--[[100 * right_on["the network"]:.0f]]--> % right, in this one run
# and on only 249<!--[[len(listed_test)]]--> names, so the difference may be chance.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Deeper, and in both directions
#
# In a **stacked** network the states of one layer are the inputs of the next,
# $h^{\ell}_t = \mathrm{step}^{\ell}(h^{\ell-1}_t, h^{\ell}_{t-1})$, where $\ell$ counts the layers. A **bidirectional** network (Schuster &
# Paliwal 1997) has a second network that reads from right to left. We concatenate the two states of a word,
# $[\overrightarrow{h_t} ; \overleftarrow{h_t}]$. One summarises the text up to this word, the other the text from this word onwards.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: which arrow of the bidirectional picture would you have to delete for a language model? What goes wrong: students test a
# bidirectional language model, see a perplexity near 1 and look no further. Collect the guesses about the noise before you explain
# it. 9 minutes, 5 of them for the noise.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.beside(
        show.unrolled_svg(
            ["to", "be", "or"],
            ["", "", ""],
            layers=2,
            weights=False,
            title="stacked",
            alt="Two layers: the states of the lower one are the inputs of the upper one.",
        ),
        show.unrolled_svg(
            ["to", "be", "or"],
            ["", "", ""],
            both=True,
            weights=False,
            title="bidirectional",
            alt="Two rows of states. Every word has an arrow to both. One row is read from left to right, the other from right to left; "
            "both lead to the output.",
        ),
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Reading in both directions paid off for the punctuation of section 6. It is tempting to do the same in a
# language model. Try it on a text that offers *nothing* to learn: symbols sampled uniformly from an alphabet of 20, independently of one
# another. No model that reads only the past can reach a loss below $\ln 20$ = 3.00<!--[[math.log(20):.2f]]-->.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def learn_noise(bidirectional, steps=200):
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(0)
    model = SequenceTagger(20, 20, "rnn", 16, 48, bidirectional=bidirectional)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for step_number in range(steps + 1):
        x = torch.randint(0, 20, (32, 21), generator=draw)
        each = F.cross_entropy(model(x[:, :-1]).transpose(1, 2), x[:, 1:], reduction="none")
        if step_number < steps:  # the last batch is fresh, and only evaluated
            optimizer.zero_grad()
            each.mean().backward()
            optimizer.step()
    return each.mean(0).tolist()


noise = {"left to right": learn_noise(False), "both directions": learn_noise(True)}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [(name, f"{sum(of[:-1]) / 19:.2f}", f"{of[-1]:.2f}") for name, of in noise.items()]
losses = show.table(told, ["Loss, nats", "All but the last position", "Last position"])
show.predict(
    "What loss does a *bidirectional* network reach when it predicts the next random symbol (at all positions but the last)?",
    choices={"near 0": 0, "about 1.5": 1.5, "about 3.0": 3.0},
    answer=max(0.001, sum(noise["both directions"][:-1]) / 19),
    why="The backward network has *read* the next symbol.",
    reveals=losses,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The loss is almost 0<!--[[? sum(noise["both directions"][:-1]) / 19 < 0.02]]-->, so the network "predicts" pure noise. Its backward half passes on the symbol that it has read. This is a **leak**:
# the input reveals the target. At the last position there is nothing to the right, and the network does worse than guessing, with a
# loss of 3.32<!--[[noise["both directions"][-1]:.2f]]-->. At inference every position is like the last one, so all that the network learned is worthless.
#
# *A language model may look in one direction only.* You can test any model in this way, with new noise in every batch. If it learns to predict the noise, it is cheating.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Residual connections** add the input of a layer to its output, $h^{\ell} = h^{\ell-1} + \mathrm{layer}^{\ell}(h^{\ell-1})$ (Wu et al. 2016, section 3.1). They
# give the gradient a path down that does not pass through any weights. How much that matters depends on the initial weights.


# %% slideshow={"slide_type": "fragment"}
def gradient_below(layers, residual, initial, seed):
    torch.manual_seed(seed)
    stack = Recurrent("rnn", 64, 64, layers, residual=residual)
    for cell in stack.cells if initial else ():
        initial(cell.weight_ih)
        initial(cell.weight_hh)
    x = torch.randn(16, 20, 64)
    stack(x)[0][:, -1].sum().backward()
    return stack.cells[0].weight_ih.grad.norm().item()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
INITIAL = {"PyTorch": None, "Glorot": torch.nn.init.xavier_normal_}
below = {
    f"{name}{', residual' if residual else ''}": [
        sum(gradient_below(n, residual, initial, seed) for seed in range(5)) / 5
        for n in (1, 2, 4, 8)
    ]
    for name, initial in INITIAL.items()
    for residual in (False, True)
}
told = [(kind, *(f"{norm:.0f}" for norm in norms)) for kind, norms in below.items()]
gradients = show.table(told, ["Gradient norm, by layers", "1", "2", "4", "8"])
growth = {kind: norms[-1] / norms[0] for kind, norms in below.items()}


def enlarge(weight):
    """PyTorch's initial weights, multiplied by √3."""
    with torch.no_grad():
        weight.mul_(3**0.5)


enlarged = [sum(gradient_below(n, False, enlarge, seed) for seed in range(5)) / 5 for n in (1, 8)]
show.predict(
    "Take a stack without residual connections, before any training. With PyTorch's initial weights, going from 1 layer to 8 shrinks the gradient at "
    f"the *lowest* layer to {growth['PyTorch']:.0%}. What happens with Glorot's initial weights ([lecture 5](05_training_well.ipynb)) in the same stack?",
    choices={
        "it shrinks as much": growth["PyTorch"],
        "it stays within a factor of three": 1.5,
        "it grows more than tenfold": 20,
    },
    answer=growth["Glorot"],
    why="The layers are the same; the size of their initial weights decides.",
    reveals=gradients,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Depth itself does not shrink the gradient of this stack; PyTorch's small initial weights do. If you multiply them by $\sqrt 3$, the gradient
# no longer shrinks<!--[[? enlarged[1] > enlarged[0]]]-->. With residual connections the gradient does not vanish, whichever of the two initialisations you choose<!--[[? min(growth["PyTorch, residual"], growth["Glorot, residual"]) > 1]]-->. In [lecture 5](05_training_well.ipynb)
# a deep stack also *trained* better with residual connections and LayerNorm. [Lecture 7](07_vanishing_gradients.ipynb) is about the
# same problem in the direction of *time*, and [lecture 8](08_gates.ipynb) about the same remedy, a residual connection through
# time.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Recurrent network or window?
#
# | | recurrent | window |
# |---|---|---|
# | reads a text of any length | yes | only what fits into the window |
# | weights | the same for any length | grow with the window |
# | distant words | reach the output through every step in between; hard to learn | inside the window: one layer away; outside: never |
# | training on a long text | each step waits for the previous one | all windows in parallel |
# | memory while generating | one state | the most recent words |
#
# > **Ask yourself.** You have a text of 10,000 words, and a computer that can do any number of multiplications in parallel. How many
# > sequential rounds does a layer over a window need, and how many does a recurrent layer need?
# <details><summary>Answer</summary>
#
# The layer over a window needs one round. The recurrent layer needs 10,000, because each of its steps needs the result of the
# previous one. Vaswani et al. (2017) name this as their reason to do without recurrence; [lecture 13](13_self_attention.ipynb)
# shows how.
# </details>
#
# A network of fixed size reads a text of any length by updating one state, step by step. It carries only what fits into that state,
# training must teach it what to carry, and each step must wait for the previous one.

# %% [markdown] slideshow={"slide_type": "notes"}
# *What goes wrong: students answer that the window needs as many
# rounds, because it has as many multiplications. Separate work from waiting. 3 minutes.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A recurrent network was trained on sentences of 20 words. What must you change so that it can read a sentence of 50 words?
# <details><summary>Answer</summary>Nothing, because the step is the same at every time step. (It may still do badly on
# longer sentences.)</details>
#
# 2. $dL/dU$ contains a double sum. What are its two indices?
# <details><summary>Answer</summary>They are the time $t$ of a loss, and the time $k \le t$ of a use of $U$.</details>
#
# 3. You train on pieces of 20; the state is passed on and detached. Can the network react to a word 100 steps back?
# <details><summary>Answer</summary>Yes, if its state still holds the word, because nothing is cut in the forward pass. But no gradient
# ever went back more than 20 steps, so nothing taught it directly to keep a word for longer.</details>
#
# 4. A bidirectional language model reaches a perplexity of 1.01. Congratulations?
# <details><summary>Answer</summary>No. It has read the targets.</details>
#
# 5. A batch contains a sentence of 5 words and one of 50, padded. Your loss is the mean over all positions, with the loss of
# padding set to 0. What is wrong?
# <details><summary>Answer</summary>Your mean divides by 2 · 50 = 100<!--[[2 * 50]]--> instead of by the 55<!--[[5 + 50]]--> real predictions. Loss and gradient come out
# about half as large as they should be, and both change with the amount of padding.</details>
#
# 6. Your loss falls to 0.01 nats per character within a minute. What do you check first?
# <details><summary>Answer</summary>You check whether the targets are shifted by one position, then whether anything reads the
# future.</details>
#
# 7. Which of these three may be bidirectional: a spam filter, a tagger, a keyboard that suggests the next word?
# <details><summary>Answer</summary>The spam filter and the tagger, because they have the whole text before they answer.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Check yourself: 5 minutes at the end, or homework. Put questions 3 and 7 to a show of hands, and let somebody from each side give
# a reason. What goes wrong: in question 3 they say no, because they confuse the state, which is passed on, with the gradient, which
# is cut. Question 5 needs pen and paper.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write the step yourself. The widget runs your function and draws its result next to ours: swap `U` and `W`, forget the past, or
# choose a different squashing function, and see what happens. If PyTorch complains that shapes cannot be multiplied, compare them:
# `h` has 2 values and `U` is 2 × 2; `x` has 1 value and `W` is 1 × 2.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Now you: 10 minutes at the keyboard, in pairs. Ask for one change to the step that the network survives and for one that it does
# not. What goes wrong: they transpose until the shapes fit. Have them say the shape of each product aloud first.*


# %% slideshow={"slide_type": "skip"}
def my_step(x, h, U, W):
    return torch.tanh(h @ U + x @ W)  # change me


widgets.state_player(
    step,
    ["the dogs near the house", "the dog near the houses"],
    embedding,
    U,
    W,
    V,
    units=["subject", "last noun"],
    outcomes=["is", "are"],
    yours=my_step,
)

# %% [markdown] slideshow={"slide_type": "skip"}
# `widgets.through_time_player(through_time, [1.0, 0.0, 0.0], [1.0] * 3, yours=…)` runs your own `through_time` in the same way. In
# the assignment [`exercises/recurrence/recurrence.ipynb`](../exercises/recurrence/recurrence.ipynb) you build all the rest, from
# one step to the gradient through time, and the checks tell you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_t = \tanh(h_{t-1}U + x_tW)$ | $h_t = \sigma(Uh_{t-1} + Wx_t)$, with $\sigma$ any squashing function; $W^{hh}$, $W^{hx}$ | the step; rows here, columns there |
# | $\hat y_t = \mathrm{softmax}(h_tV)$ | $y_t = \mathrm{softmax}(Vh_t)$; $P_t$ | the prediction at time $t$ |
# | $w_t$, $x_t$ | $x_t$, $e(w_t)$ | the word; its vector |
# | $L_t$ | $J^{(t)}$, $E_t$, $\mathcal L_t$ | the loss at time $t$ |
# | $\partial h_t/\partial h_k = \prod_{j=k+1}^t \partial h_j/\partial h_{j-1}$ | the same; $J_j$ | how the state at $t$ depends on the state at $k$ |
# | $[\overrightarrow{h_t};\overleftarrow{h_t}]$ | $h_t^{f}, h_t^{b}$; biRNN | both directions |
# | state | hidden state, memory, thought vector | what is known of the text so far |
# | labelling | tagging, sequence labelling, many to many | one answer per word |

# %% [markdown] slideshow={"slide_type": "notes"}
# *Notation: not for the room. If your own slides write columns, show the first row of the table for a minute, because U h and h U
# are the same step in two notations. What goes wrong: students read σ in a paper as the logistic function, where the author means
# any squashing function.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **state (of a recurrent network)**: the vector that summarises what a recurrent network has read so far.
# - **step**: the function that computes the next state from the previous state and the next input.
# - **recurrent network**: a network that applies the same step to each word and its own previous state.
# - **unrolled**: drawn with one copy of the step per time step; all copies have the same weights.
# - **shared over time**: used with the same values at every time step.
# - **teacher forcing**: during training every step reads the true word, not the predicted one.
# - **backpropagation through time**: the chain rule on the unrolled network; the gradient of a weight is a sum over all times at which it was used.
# - **truncated backpropagation through time**: backpropagation within short pieces of the text; the state is passed on between them, the gradient is not.
# - **detach**: to keep a tensor's values but cut it from the computation that produced it, so that no gradient flows further back.
# - **language modelling**: predicting the next word at every step.
# - **labelling**: giving one label to every word of a text; also called tagging.
# - **classification**: giving one label to a whole text.
# - **stacked**: arranged in layers; the states of one layer are the inputs of the next.
# - **bidirectional**: read by two networks, one in each direction, whose states are concatenated.
# - **leak**: any way in which a model sees its target during training.
# - **residual connection**: a connection that adds a layer's input to its output.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Elman (1990), Finding Structure in Time. Williams & Zipser (1989), A Learning Algorithm for Continually Running Fully
# Recurrent Neural Networks. Werbos (1990), Backpropagation Through Time: What It Does and How to Do It. Williams & Peng (1990), An
# Efficient Gradient-Based Algorithm for On-Line Training of Recurrent Network Trajectories. Schuster & Paliwal (1997), Bidirectional
# Recurrent Neural Networks. Mikolov et al. (2010), Recurrent Neural Network Based Language Model. Tilk & Alumäe (2016), Bidirectional Recurrent Neural Network with Attention Mechanism for Punctuation
# Restoration. Wu et al. (2016), Google's Neural Machine Translation System, section 3.1. Vaswani et al. (2017), Attention Is All You
# Need, section 1.
