# %% [markdown] slideshow={"slide_type": "slide"}
# # Recurrent networks
#
# *friends romans countrymen lend me your ears i come to bury caesar not to praise him.* You read this without one mark, and
# you heard the pauses. You knew, at "him", that something was over which had begun with "i", eight words before. How can a network
# of fixed size read a text of any length?
#
# <img src="figures/05_restored.svg" width="900" alt="The words of Mark Antony without marks and capitals, and above each what a small recurrent network makes of it: it puts back capitals, commas and full stops, and is more sure of some than of others.">
#
# *Below, what a small recurrent network was given; above, what it made of it; the numbers say how sure it was. It gets some of
# it wrong. In section 6 you type sentences of your own.*
#
# **After this lecture you can**
# - write the step of a recurrent network and the loop around it, and say what is shared over time;
# - train one by teacher forcing, with the targets in the right place;
# - do backpropagation through time by hand, and check it;
# - say what truncating it saves, and measure what it loses;
# - use one network for language modelling, labelling and classification, and say why only two of the three may read backwards.
#
# **You need** lecture 1 (language models, perplexity), lecture 3 (the chain rule on a graph) and lecture 4 (a feed-forward
# language model with a window; embeddings). *Vectors are rows*, as in the code: a matrix stands to their right.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 9 | 6 | 10 | 11 | 9 | 12 | 9 | 3 |
#
# Every cell runs in under ten seconds on a laptop, without a network connection. *To lecture from this notebook:*
# `make present ARGS=05` shows it slide by slide, widgets alive; short of time, skip the second experiment of section
# 5 and the code of section 7. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import inspect
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
# The feed-forward model of lecture 4 reads a window of, say, four words, and what stands before the window does not exist. A
# wider window costs more weights, one block for each place in it, and still ends somewhere.
#
# You do it otherwise: you read one word, change your mind a little, and read on. Give the network a **state** $h$, a vector that
# holds what it has read so far. Each **step** makes the next state from the last one and the next word $x_t$:
#
# $$h_t = \sigma(h_{t-1} U + x_t W), \qquad \hat y_t = \mathrm{softmax}(h_t V), \qquad h_0 = 0.$$
#
# $\sigma$ stands for any function that squashes each number (in lecture 2 it was one of them); here it is $\tanh$, so that a state lies
# between −1 and 1. $U$ brings the past, $W$ the new word, $V$ turns
# the state into a prediction. The output of one step is an input of the next: this is a **recurrent network** (Elman
# 1990).

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask before the picture: what is the smallest thing you would have to remember of a text to guess its next word? Take three
# answers (the subject, the topic, whether a quotation is open). 9 minutes with the widget.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.unrolled_svg(
        ["the", "dogs", "near", "the", "house"],
        ["ŷ₁", "ŷ₂", "ŷ₃", "ŷ₄", "ŷ₅"],
        alt="A recurrent network unrolled over 'the dogs near the house': each word enters the state of its time through W, "
        "each state goes into the next one through U, and a prediction comes out of each through V.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# This is the same network at five times, **unrolled**: there is *one* $U$, one $W$, one $V$. The forward pass is a loop, for
# $t = 1 \dots T$:


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
# A network small enough to set by hand. Every word is one number: 1 for a plural noun, −1 for a singular one, 0 for any other.
# Two units read it. "subject" feeds back into itself with $u = 2.2$; "last noun" does not, $u = 0$. The prediction, "is" or
# "are", looks at "subject" alone.

# %% slideshow={"slide_type": "fragment"}
number = {"the": 0, "near": 0, "by": 0, "dog": -1, "dogs": 1, "house": -1, "houses": 1}
embedding = {word: torch.tensor([float(value)]) for word, value in number.items()}
U = torch.tensor([[2.2, 0.0], [0.0, 0.0]])
W = torch.tensor([[1.5, 1.5]])
V = torch.tensor([[-3.0, 3.0], [0.0, 0.0]])

h, predictions = read(["the", "dogs", "near", "the", "house"], embedding, U, W, V)
print("state ", [round(value, 2) for value in h.tolist()])
print("is, are", [round(value, 2) for value in predictions[-1].tolist()])

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you move anything.** *The dogs near the house* …: (a) After "house", a singular noun, does the network still
# > say "are"? (b) Multiply $U$ by 0: what does it say then? (c) From which factor on does it say "are" again?

# %% slideshow={"slide_type": "subslide"}
widgets.state_player(
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
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - (a) Yes. "house" pulls the unit down to 0.56, but not below 0; had the sentence gone on, it would have climbed back.
# - (b) It says "is": without $U$ the state is the last word alone, and the last word was "house".
# - (c) From 0.8 on. Below, the unit keeps too little of "dogs" to withstand "house". Watch it between the two nouns, at "near" and
#   "the": where $u < 1$, up to a factor of 0.4, each step shrinks what is kept; the further $u$ lies above 1, the better it holds.
# - One unit that feeds back into itself remembers; one that does not forgets at once. A trained network has hundreds, none of
#   them with a name, and most of them are mixtures.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# In `nlmcore` the step is `RNNCell`. Its weights stand the other way round, as PyTorch's do (`weight_hh` is our $U$ transposed,
# and is handed to the step as `U`), $x_t W + b$ is computed for all times beforehand (`projected`), and `addmm` adds the two
# products:

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
# > **What goes wrong.** $U$ and $W$ exchanged, $x_t U + h_{t-1} W$. With a state as wide as the word vectors both are square and
# > nothing complains; the network even trains. But then $W$ is no longer what reads a word, and weights that were loaded from a
# > file give nonsense. Sizes that all differ (here 1 word number, 2 units, 2 outcomes) make the mistake visible.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. The same weights at every time
#
# $U$, $W$ and $V$ are **shared over time**: what was learned about "not" at the third word serves at the thirtieth. And the size of
# the network does not depend on how far it looks back.
#
# > **Predict before you run.** Word vectors and states of 128 numbers. A feed-forward layer over a window of $n$ words has
# > $n \cdot 128 \cdot 128$ weights. How many words may the window have for the price of $U$ and $W$ together?

# %% slideshow={"slide_type": "fragment"}
d = 128
print(f"recurrent, any length: {d * d + d * d:9,}")
for n in (2, 4, 16, 64):
    print(f"window of {n:2} words:    {n * d * d:9,}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Two. For the price of a window of two words the recurrent network reads all of the past, in principle. What it does with it is
# another question: it must get everything into one state.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# The state is *all* that it remembers. So a text may be read in pieces, if the state is handed on: `logits, state =
# model(tokens, state)`, the one function that every language model of this course is.
#
# > **Predict before you run.** The second half of a text is read (a) with the state after the first half, (b) with no state. By how
# > much do the predictions differ from those of reading the whole at once?

# %% slideshow={"slide_type": "fragment"}
# a recurrent network over characters of Shakespeare
letters, chars, card = checkpoint("char_lstm")
text = "But soft! what light through yonder window breaks?"
tokens = torch.tensor([chars.encode(text)])
with torch.no_grad():
    whole, _ = letters(tokens)
    _, state = letters(tokens[:, :25])
    handed_on, _ = letters(tokens[:, 25:], state)
    forgotten, _ = letters(tokens[:, 25:])


def largest_difference(logits):
    """Of any probability, at any place of the second half."""
    return (whole[:, 25:].softmax(-1) - logits.softmax(-1)).abs().max().item()


print(f"state handed on: {largest_difference(handed_on):.6f}")
print(f"no state:        {largest_difference(forgotten):.6f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Handed on: nothing. Forgotten: some probability is off by 0.93 (of 1). The network believes that it reads
# another text, one that begins in the middle of a word.
# </details>
#
# > **What goes wrong.** The state is not carried: every batch begins with zeros. The loss looks good, for short texts, and a network
# > that generates letter by letter without handing on its state writes as if each letter were the first.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Training: read the truth, pay for the next word
#
# In training the text is there. At every step the network reads the *true* word $w_t$, whatever it had predicted for it, and pays
# for the next one: **teacher forcing** (Williams & Zipser 1989). The loss is summed over all predictions and divided by their
# number,
#
# $$L = \frac1T \sum_{t=1}^{T} L_t, \qquad L_t = -\ln \hat y_t[w_{t+1}].$$

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.unrolled_svg(
        ["<bos>", "to", "be", "or", "not"],
        ["to", "be", "or", "not", "<eos>"],
        alt="Teacher forcing: the network reads <bos> to be or not; the targets above are the same words one place earlier: "
        "to be or not, and <eos> at the end.",
        weights=False,
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The targets are the text itself, one place to the left, and both rows are read in one call. What comes out is a loss per step,
# and `teacher_forcing_loss` is their mean:

# %% slideshow={"slide_type": "subslide"}
with torch.no_grad():
    logits, _ = letters(tokens[:, :-1])
    per_step = -logits.log_softmax(-1).gather(2, tokens[:, 1:, None])[0, :, 0]
    library = teacher_forcing_loss(letters, tokens)
    not_shifted = F.cross_entropy(letters(tokens)[0][0], tokens[0])
print("losses of the first steps:", [round(value, 2) for value in per_step[:8].tolist()])
print(
    f"their mean over {len(per_step)} steps: {per_step.mean():.3f}; the library's: {library:.3f}"
)
print(f"targets not shifted:        {not_shifted:.3f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you open it.** The last line asks the network for the letter that it has *just read*. Why is the loss so high,
# > and what would happen to it if one trained with this loss?
#
# <details><summary><b>Answer</b></summary>
#
# This network was trained to say what follows, and a letter seldom follows itself. Trained with targets that are not shifted, the
# loss would fall to almost nothing in no time: to repeat the letter just read is easy, and useless.
# </details>
#
# > **What goes wrong.** (1) Targets not shifted: a loss near 0 after a minute is not genius. (2) The mean is taken over padding, too, the
# > zeros with which the shorter of two sentences in a batch is filled up:

# %% slideshow={"slide_type": "skip"}
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
print(f"mean over real letters: {right:.3f}   mean over all places: {diluted:.3f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Train one, now
#
# A vanilla recurrent network with 128 units reads *Hamlet* and *King Lear* character by character, 32 rows side by side, 32
# characters per update, 300 updates: not quite one pass. `carry_state=True` hands the state of each row on to the next batch.
#
# > **Predict before you run.** 71 different characters: what is the loss before training? What will it write after 300 updates:
# > words, letters in a plausible order, or noise?

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
# - Before: $\ln 71 = 4.26$, all characters alike. After: about 2.05 on average over the last updates.
# - It writes short English words among others that could be English, line ends, and capitals behind them. All that in seconds,
#   from characters alone. It writes no sentence: 32,167 numbers, 300 updates.
# - The network of section 2 is of the same kind, with a better cell (lecture 7): 356,050 numbers, forty times as much text. What it
#   writes stands in section 6.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Backpropagation through time
#
# $U$ is one matrix, used at every time. How does the loss depend on it? Unroll the network: it is a deep feed-forward network with
# one layer per word and the same weights in each. The chain rule of lecture 3 applies, and because $U$ is used everywhere, its
# gradient is a *sum over times*:
#
# $$\frac{dL}{dU} = \sum_t \frac{\partial L_t}{\partial \hat y_t} \frac{\partial \hat y_t}{\partial h_t}
#   \frac{\partial h_t}{\partial U}, \qquad
#   \frac{\partial h_t}{\partial U} = \sum_{k \le t} \frac{\partial h_t}{\partial h_k}
#   \left.\frac{\partial h_k}{\partial U}\right|_{h_{k-1}}, \qquad
#   \frac{\partial h_t}{\partial h_k} = \prod_{j=k+1}^{t} \frac{\partial h_j}{\partial h_{j-1}}.$$
#
# The middle sum runs over the uses of $U$: it was used to make $h_k$ (with $h_{k-1}$ held fixed), and that change travels through all
# states in between to $h_t$. This is **backpropagation through time** (Werbos 1990).

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Do the three-step example on the board before running it; the class computes ∂h₂/∂u. What usually goes wrong: they
# write ∂h₃/∂u = (1−h₃²)·h₂ and forget that h₂ depends on u as well.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# By hand, with everything a single number: $h_t = \tanh(u\,h_{t-1} + w\,x_t)$, $u = 0.5$, $w = 1$. The inputs are $1, 0, 0$, the output is
# the state itself, and the target is 1 each time: *hold the one*. $L = \sum_t \frac12 (h_t - 1)^2$.
#
# > **Predict before you run.** One of the three times adds nothing to $dL/du$. Which, and why?

# %% slideshow={"slide_type": "fragment"}
u, w = 0.5, 1.0
h1 = math.tanh(u * 0 + w * 1)
h2 = math.tanh(u * h1)
h3 = math.tanh(u * h2)
print(f"h     {h1:.4f}  {h2:.4f}  {h3:.4f}")

direct1 = (1 - h1**2) * 0.0  # u times h0, and h0 = 0
direct2 = (1 - h2**2) * h1  # how h2 depends on u, h1 held fixed
direct3 = (1 - h3**2) * h2
slope2, slope3 = u * (1 - h2**2), u * (1 - h3**2)  # how h2 depends on h1, and h3 on h2
dh2_du = direct2 + slope2 * direct1
dh3_du = direct3 + slope3 * direct2 + slope3 * slope2 * direct1
by_hand = (h2 - 1) * dh2_du + (h3 - 1) * dh3_du
print(f"dL/du = {h2 - 1:.4f} · {dh2_du:.4f} + {h3 - 1:.4f} · {dh3_du:.4f} = {by_hand:.4f}")

# %% slideshow={"slide_type": "fragment"}
u_leaf, h, loss = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0), 0.0
for x in (1.0, 0.0, 0.0):
    h = torch.tanh(u_leaf * h + w * x)
    loss = loss + 0.5 * (h - 1) ** 2
loss.backward()
print(f"autograd: {u_leaf.grad:.4f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# The first: at time 1, $u$ is multiplied with $h_0 = 0$, so $h_1$ does not depend on it. $dL/du = -0.9716$, and autograd agrees. The
# loss wants a larger $u$, one that holds.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# The same for any length, every pair kept apart: row $t$ is the loss at time $t$, column $k$ the use of $u$ at time $k$, and the entry
# is their part of $dL/du$. The sum of all entries is the gradient.


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


# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you move anything.** (a) At $u = 0.5$, where are the large entries: near the diagonal or far from it? (b) Which $u$
# > makes the far ones largest? (c) Cut pairs that are 2 or more apart: how much of the sum is lost at $u = 0.5$?

# %% slideshow={"slide_type": "subslide"}
widgets.through_time_player(through_time, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0] * 6)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) Near it. Every step back multiplies by $\partial h_j/\partial h_{j-1} = u(1 - h_j^2)$, the numbers below the chain, all below 0.5:
#   the product shrinks.
# - (b) About 0.8. A smaller $u$ shrinks the product; a larger one makes the states large, where tanh is flat and $1 - h^2$ small. At
#   $u = 2$ next to nothing comes from afar, though no number was cut.
# - (c) The whole sum is −1.98, without those pairs −1.55: a fifth is lost. Cut at 4, the sum is −1.94.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Cutting it off
#
# A play has more than 100,000 characters. To backpropagate through all of them, every state must be kept, one update costs a whole play, and the
# far parts of the product have shrunk anyway. So: read 20 steps or so, backpropagate through those, update, and read on from the
# state, *cut off* from its past. This is **truncated backpropagation through time** (Williams & Peng 1990; Mikolov et al. 2010).

# %% slideshow={"slide_type": "fragment"}
text = load("shakespeare").test[2].text[2000 : 2000 + 8 * 201]
tokens = torch.tensor(own_chars.encode(text)).view(8, 201)
for piece in truncated_backpropagation(rnn, tokens, length=20):
    piece.loss.backward()  # reaches back to the start of the piece, no further
print("pieces of 20 predictions; the state that goes on is cut:", not piece.state.requires_grad)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The numbers forward are those of reading the whole text: nothing of the *state* is lost. Only the gradient is another one.
#
# > **Predict before you run.** 200 characters, read in pieces of $n$. The gradient of $U$ is compared with that of the whole,
# > $\|g_n - g\| / \|g\|$. How large is the error with pieces of 1, of 5, of 20?


# %% slideshow={"slide_type": "subslide"}
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
# - Our RNN: 0.64 with pieces of 1, 0.27 with 5, 0.11 with 20. The part that is cut away at 20 is small.
# - It is not small for every network: `char_lstm`, whose cell was made to remember (lecture 7), loses 0.23 at 20, 0.06 at 100. How much
#   truncation costs depends on how far the network already looks.
# - And this is a mean over all predictions. What if one prediction hangs on a single far word?
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# A task made for it: the first symbol is 1, 2 or 3; then six blanks; then the first symbol is to be named. Everything forward is
# the same for both trainings, and the state is carried from piece to piece. One backpropagates through all seven steps, the other
# through pieces of three.
#
# > **Predict before you run.** Can the second one learn the task? Its state could carry the symbol.


# %% slideshow={"slide_type": "fragment"}
def learn_to_name_the_first(length, blanks=6, steps=150):
    torch.manual_seed(1)
    draw = torch.Generator().manual_seed(2)
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
for length, share in named.items():
    print(f"backpropagation through {length} steps: {share:.0%} right at the end")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# No: 100 % against 34 %, where guessing gives a third. The state *could* carry the symbol, but no gradient ever tells the step at
# time 1 that this would pay. What a network can carry and what it can *learn* to carry are two things. (Had the network happened to
# keep the symbol, from another task or by luck, the truncated training could have used it.)
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** The state is handed on, and one has forgotten to **detach** it: to keep its numbers and cut it from what it
# > was computed from. PyTorch then tries to go back through the previous piece, whose graph is gone:

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
# (`nlmcore.training.detach(state)` does it. The remedy that the message goes on to propose, `retain_graph=True`, makes every update
# slower than the last: the whole past is gone through again and again.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Three uses
#
# | | reads | answers | examples |
# |---|---|---|---|
# | **language modelling** | $w_1 \dots w_t$ | the next word, at every step | typing, speech, translation |
# | **labelling** (tagging) | the whole text | one label per word | parts of speech, names, punctuation |
# | **classification** | the whole text | one label per text | sentiment, spam, genre |

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
# Perplexity (lecture 1) of models over words of Shakespeare, same text, same vocabulary of 5,000
# (`python -m lectures.recipes perplexity`); in brackets, the words that each can see.
#
# > **Predict before you run.** Does the recurrent network, which sees everything, beat the window of 4 words? The convolution over 9?

# %% slideshow={"slide_type": "fragment"}
table = stored("perplexity")
seen = {name: row["perplexity"] for name, row in table["neural"].items()}
print(f"{'Kneser-Ney, 5-gram (4)':24} {table['ngram']['kneser_ney']['5']:6.1f}")
for name in ("feed-forward (4)", "convolutional (9)", "RNN", "LSTM", "LSTM, 3 passes"):
    print(f"{name:24} {seen[name]:6.1f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 51.8 against 57.4: it beats the window of 4, and not the convolution over 9 words, 49.8, after one pass over the text each.
# - The LSTM, a recurrent network with a better cell (lecture 7), needs more passes: 57.4 after one, 43.5 after three. To be able to use
#   the whole past is one thing, to have learned it another. One run each, so small differences mean little.
# </details>

# %% slideshow={"slide_type": "subslide"}
draw = torch.Generator().manual_seed(3)
prompt = torch.tensor([chars.encode("FIRST WITCH.\n")])
tokens = sample(letters, prompt, 220, temperature=0.6, generator=draw).tokens
print("FIRST WITCH.\n" + chars.decode(tokens[0].tolist()))

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Labelling: put the marks back
#
# Every word gets one of twelve labels: capital or not, times the mark that follows it. The network (`SequenceTagger`) read
# speeches of Shakespeare, without their marks as input, with them as targets (`python -m lectures.recipes restore`; idea: Tilk &
# Alumäe 2016). Julius Caesar is none of the plays it learned from.
#
# > **Predict before you type.** Which is easier to put back: a question mark, a comma, or an exclamation mark?

# %% slideshow={"slide_type": "skip"}
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
print("by mark:", rows["reads both ways"]["f1_by_mark"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The question mark, 54; commas 43, exclamation marks 25. ("F1" is high only if most marks are found *and* most of those put are
#   right; in percent. The full stop has 69.) Questions often announce themselves by their first word; an exclamation mark is more a
#   matter of taste, the printer's or the actor's.
# - What stands in each row: nothing put back; for each word the label it had most often; a network that has read the words before;
#   one that has read both ways. Capitals gain next to nothing from what follows, 77.8 and 78.2: a name is known by itself. Marks gain
#   everything, 18.9 and 47.1: whether a comma follows "ears" depends on what comes after it.
# - A tagger has no memory of its own answers. Look for a full stop that is not followed by a capital: nothing in it forbids that.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Classification: comedy or tragedy?
#
# `SequenceClassifier` makes one answer from all states of the text: from the last one, or from their mean. This one was asked after
# *every* word in training (`python -m lectures.recipes genre`), so we may watch it make up its mind. It knows no names: only words
# that occur in at least eight plays. Grey: a word it does not know.
#
# > **Predict before you choose the second sentence.** *Is this a dagger which I see before me* is Macbeth's, a play that it has not
# > read. After how many words will it be sure, and of what?

# %% slideshow={"slide_type": "skip"}
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
lengths = [int(n) for n in genre["rows"]["naive Bayes, a bag of words"]]
show.curves(
    lengths,
    {name: list(row.values()) for name, row in genre["rows"].items()},
    x_title="words read",
    y_title="% right",
    log_x=True,
    alt="Share of held-out passages classified right against the number of words read: all "
    "lines climb from a little above 50 % at 5 words; naive Bayes is ahead at every length; "
    "shuffling the words changes little at 160 words.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - After six words, "is this a dagger which I", it is sure, and wrong: P(tragedy) = 0.11, and it stays there. To be sure and to be
#   right are two things.
# - After 160 words it is right on 71 % of the passages. **Naive Bayes**, which counts words as if they lay in a bag, is right on
#   79 %, and ahead at every length. Shuffle the words of a passage, and the recurrent network is still right on 71 %: whatever it
#   has learned here is hardly order. Try the bag of words first.
# - It errs to one side: over 90 % right on the two comedies, about half on the two tragedies. Four held-out plays are few; do not
#   trust a point or two.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Deeper, and in both directions
#
# **Stacked**: the states of one layer are the inputs of the next, $h^{\ell}_t = \mathrm{step}^{\ell}(h^{\ell-1}_t, h^{\ell}_{t-1})$.
# **Bidirectional** (Schuster & Paliwal 1997): a second network reads from right to left, and the two states of a word stand side by
# side, $[\overrightarrow{h_t} ; \overleftarrow{h_t}]$: what came before it, and what comes after it.

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
# For labelling, both directions pay: in the table of section 6 the marks went from 18.9 to 47.1. A language model would
# gladly do the same. Try it on a text in which there is *nothing* to learn: random symbols, 20 of them, each independent of all
# others. Nobody can do better than $\ln 20 = 3.00$.
#
# > **Predict before you run.** What loss does a bidirectional network reach when it is to predict the next random symbol? And at the
# > last place of the text?


# %% slideshow={"slide_type": "fragment"}
def learn_noise(bidirectional, steps=200):
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(0)
    model = SequenceTagger(20, 20, "rnn", 16, 48, bidirectional=bidirectional)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for step_number in range(steps + 1):
        x = torch.randint(0, 20, (32, 21), generator=draw)
        each = F.cross_entropy(model(x[:, :-1]).transpose(1, 2), x[:, 1:], reduction="none")
        if step_number < steps:  # the last batch is fresh, and only looked at
            optimizer.zero_grad()
            each.mean().backward()
            optimizer.step()
    return each.mean(0).tolist()


noise = {"left to right": learn_noise(False), "both directions": learn_noise(True)}
for name, each in noise.items():
    print(
        f"{name:16} all but the last place {sum(each[:-1]) / 19:.2f}   last place {each[-1]:.2f}"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Almost 0: it "predicts" pure noise. The backward network has *read* the next symbol and hands it over. That is a **leak**: a target
#   that can be seen in the input. At the last place nothing stands to its right, and it is worse than guessing: 3.32.
# - In use there is no right side yet, so all that it has learned is worthless. *A language model may look in one direction only.* The
#   test is general: a model that learns to predict noise is cheating.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Residual connections** between layers: $h^{\ell} = h^{\ell-1} + \mathrm{layer}^{\ell}(h^{\ell-1})$ (Wu et al. 2016, section 3.1). A
# gradient then has a way down that no weight stands on.
#
# > **Predict before you run.** The gradient at the *lowest* layer's weights, before any training, in stacks of 1 to 8 layers: how
# > does it change with depth, without and with residual connections?


# %% slideshow={"slide_type": "fragment"}
def gradient_below(layers, residual):
    torch.manual_seed(0)
    stack = Recurrent("rnn", 64, 64, layers, residual=residual)
    x = torch.randn(16, 20, 64, generator=torch.Generator().manual_seed(1))
    stack(x)[0][:, -1].sum().backward()
    return stack.cells[0].weight_ih.grad.norm().item()


below = {
    kind: [gradient_below(n, residual) for n in (1, 2, 4, 8)]
    for kind, residual in (("stacked", False), ("stacked, residual", True))
}
for kind, norms in below.items():
    print(f"{kind:18}", [f"{norm:.0f}" for norm in norms])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Without: 220, 139, 65, 14, it shrinks with every layer. With: 220, 276, 383, 605. (That it grows is not better by itself; that it
# does not vanish is.) The same problem in the direction of *time* is lecture 6, and the same remedy, a residual connection through
# time, lecture 7.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Against a window
#
# | | recurrent | window |
# |---|---|---|
# | reads a text of any length | yes | what fits |
# | weights | the same for any length | grow with the window |
# | far words | reach the answer through every step in between; hard to learn | inside the window: one layer away; outside: never |
# | training on a long text | one step waits for the last | all windows at once |
# | memory while generating | one state | the last words |
#
# > **Predict.** A text of 10,000 words, and a computer that can do any number of multiplications at once. How many rounds, one after
# > the other, does a layer over a window need, and how many a recurrent one?
# <details><summary>Answer</summary>
#
# One, and 10,000. Steps cannot be done at once, because each needs the last one's result. This, more than quality, is why lecture 12
# does without recurrence.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A recurrent network has been trained on sentences of 20 words. What must be changed to read one of 50?
# <details><summary>Answer</summary>Nothing: the step is the same at every time. (That it does well there is not promised.)</details>
#
# 2. In $dL/dU$ there is a double sum. What are its two indices?
# <details><summary>Answer</summary>The time $t$ of a loss, and the time $k \le t$ of a use of $U$.</details>
#
# 3. Pieces of 20, state handed on and cut. Can the network react to a word 100 steps back?
# <details><summary>Answer</summary>Yes, if its state still holds it: forward nothing is cut. But it was never taught to keep
# anything for longer than 20 steps.</details>
#
# 4. A bidirectional language model reaches a perplexity of 1.01. Congratulations?
# <details><summary>Answer</summary>No. It has read the targets.</details>
#
# 5. A batch holds a sentence of 5 words and one of 50, padded. Your loss is the mean over all places, padding counted as 0. What is
# wrong?
# <details><summary>Answer</summary>It divides by 2 · 50 = 100 instead of by the 55 real predictions: the loss seems about half as
# large, and so is the gradient; and both change with the padding.</details>
#
# 6. Your loss falls to 0.01 nats per character within a minute. What do you look at first?
# <details><summary>Answer</summary>The targets: are they shifted by one place? Then whether anything reads the future.</details>
#
# 7. Which of the three may be bidirectional: a spam filter, a tagger, a keyboard that proposes the next word?
# <details><summary>Answer</summary>The first two: they have the whole text before they answer.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write the step. It is handed to the widget in place of ours, and drawn beside it: exchange `U` and `W`, forget the past, or take
# another squashing function, and see what happens. If PyTorch complains of shapes that cannot be multiplied, compare them: `h` has 2 numbers
# and `U` is 2 × 2; `x` has 1 number and `W` is 1 × 2.


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
# `widgets.through_time_player(through_time, [1.0, 0.0, 0.0], [1.0] * 3, yours=…)` takes a `through_time` of yours in the same way. The
# assignment [`exercises/recurrence/recurrence.ipynb`](../exercises/recurrence/recurrence.ipynb) lets you build all the rest, from one step to the gradient through time, and tells you
# which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_t = \sigma(h_{t-1}U + x_tW)$ | $h_t = \sigma(Uh_{t-1} + Wx_t)$; $W^{hh}$, $W^{hx}$ | the step; rows here, columns there |
# | $\hat y_t = \mathrm{softmax}(h_tV)$ | $y_t = \mathrm{softmax}(Vh_t)$; $P_t$ | the prediction at time $t$ |
# | $w_t$, $x_t$ | $x_t$, $e(w_t)$ | the word; its vector |
# | $L_t$ | $J^{(t)}$, $E_t$, $\mathcal L_t$ | the loss at time $t$ |
# | $\partial h_t/\partial h_k = \prod_{j=k+1}^t \partial h_j/\partial h_{j-1}$ | the same; $J_j$ | what happened at $k$, seen at $t$ |
# | $[\overrightarrow{h_t};\overleftarrow{h_t}]$ | $h_t^{f}, h_t^{b}$; biRNN | both directions |
# | state | hidden state, memory, thought vector | what is known of the text so far |
# | labelling | tagging, sequence labelling, many to many | one answer per word |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **state (of a recurrent network)**: the vector that holds what a recurrent network has read so far.
# - **step**: the function that makes the next state from the last one and the next input.
# - **recurrent network**: a network that applies the same step to each word and to its own last state.
# - **unrolled**: drawn with one copy of the step per time; all copies have the same weights.
# - **shared over time**: used with the same values at every time.
# - **teacher forcing**: in training, every step reads the true word, not the one that was predicted.
# - **backpropagation through time**: the chain rule on the unrolled network; the gradient of a weight is a sum over all times at which it was used.
# - **truncated backpropagation through time**: backpropagation within short pieces of the text; the state is handed on between them, the gradient is not.
# - **detach**: to keep a tensor's numbers and cut it from what it was computed from, so that no gradient flows further back.
# - **language modelling**: predicting the next word at every step.
# - **labelling**: giving one label to every word of a text; also called tagging.
# - **classification**: giving one label to a whole text.
# - **stacked**: in layers, the states of one being the inputs of the next.
# - **bidirectional**: read by two networks, one in each direction, whose states stand side by side.
# - **leak**: a way by which a model sees, in training, what it is to predict.
# - **residual connection**: the input of a layer added to its output.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Elman (1990), Finding Structure in Time. Williams & Zipser (1989), A Learning Algorithm for Continually Running Fully
# Recurrent Neural Networks. Werbos (1990), Backpropagation Through Time: What It Does and How to Do It. Williams & Peng (1990), An
# Efficient Gradient-Based Algorithm for On-Line Training of Recurrent Network Trajectories. Schuster & Paliwal (1997), Bidirectional
# Recurrent Neural Networks. Mikolov et al. (2010), Recurrent Neural Network Based Language Model. Tilk & Alumäe (2016), Bidirectional Recurrent Neural Network with Attention Mechanism for Punctuation
# Restoration. Wu et al. (2016), Google's Neural Machine Translation System, section 3.1.
