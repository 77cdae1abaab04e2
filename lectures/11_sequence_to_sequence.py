# %% [markdown] slideshow={"slide_type": "slide"}
# # Sequence to sequence
#
# *Four hundred and sixty five thousand seven hundred and twenty one.* Read it once, close your eyes, and say it in a different
# language. You could not look back at the words; you had to keep the whole number in your head. This lecture builds a network that
# does the same, and asks what its memory keeps and how long a number it can translate.
#
# <img src="figures/one_vector.svg" width="860" alt="The English words of 465,721, below them a stripe of 128 coloured cells, below it the German words: vier hundert fünf und sechzig tausend sieben hundert ein und zwanzig. The German is right.">
#
# *A small network read the blue words. It kept only the coloured stripe of 128 values (blue is negative, red positive), and it wrote the
# German words from that stripe. In section 2 you do the same with a few lines of code.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say what translation, summarisation and dialogue have in common, and write down the probability that all of them ask for;
# - join an encoder and a decoder in two ways, and run both by hand;
# - compute the loss of a batch of pairs, with targets shifted by one and padding left out;
# - say, with measurements, what a thought vector keeps and what reversing the source gains;
# - read a curve of quality against length, and say what BLEU counts.
#
# **You need** recurrent networks ([lecture 6](06_recurrent_networks.ipynb): a state $h$, a cell that updates it) and greedy and beam search ([lecture 9](09_decoding.ipynb)). Vectors are
# rows.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 7 | 11 | 11 | 11 | 8 | 8 | 5 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 90 minutes. Section 6 can wait for a second sitting, and section 7 is for the curious.
# *Coming from other slides?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Let somebody who speaks two languages do the opening task aloud, and ask what they held in mind. Numbers are real text whose
# translation everybody can check; nothing in the models is special to numbers.*
#
# *If you are short of time, skip sections 6 and 7, and the padding in section 3.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from statistics import mean

import torch
from IPython.display import HTML

from nlmcore.corpora import pad
from nlmcore.decoding import beam_search, greedy
from nlmcore.metrics import corpus_bleu, mean_interval
from nlmcore.metrics.significance import critical, holm, two_sided
from lectures.trained import checkpoint
from lectures.recipes.alignment import dictionary
from lectures.recipes.pairs import load_dictionary
from lectures.recipes.pairs import draw_many, english, german
from lectures.recipes.numbers import tokenizers
from lectures.recipes.pairs import BOS, EOS, PairBatches, as_source, as_target, translate
from nlmcore.seq2seq import Seq2Seq
from lectures import show, stored, widgets
from nlmcore.training import fit, teacher_forcing_loss

torch.set_num_threads(1)  # sums in one order: section 3 trains to the same numbers every time

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One framework for many tasks
#
# One text goes in, the **source** $x_1 \dots x_n$. A second one comes out, the **target** $y_1 \dots y_m$, often with a different length and
# word order.
#
# | task | source | target |
# |---|---|---|
# | translation | a sentence in English | the sentence in German |
# | summarisation | an article | three sentences |
# | dialogue | the conversation so far | the reply |
# | question answering | a passage and a question about it | the answer |
# | speech recognition | about a hundred sound vectors a second | words |
# | captioning | an image, as vectors of its patches | a sentence about it |
# | video captioning | a video, as vectors of its frames | a sentence about it |
# | speech in a video | frames and sound vectors | words |
# | pronunciation | letters | sounds |
#
# All these tasks ask for one probability, which the chain rule ([lecture 1](01_language_models.ipynb)) factorises:
#
# $$P(y \mid x) = \prod_{i=1}^{m} P(y_i \mid y_1, \dots, y_{i-1},\, x), \qquad y_m = \texttt{<eos>}.$$
#
# > **Ask yourself.** A language model gives you $P(y_i \mid y_1, \dots, y_{i-1})$. What is new in the formula, and what do you have to add to the
# > language model to get it?
#
# <details><summary><b>Answer</b></summary>
#
# Only the condition on $x$ is new. You need a language model of the target that has *read the source before it begins*.
# </details>
#
# A **sequence-to-sequence model** has two halves: an **encoder**, which turns the source into vectors, and a **decoder**, a
# language model that receives them. Greedy and beam search, loss and perplexity still apply.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The simplest baseline translates word by word**, with a dictionary and no network. German puts units before tens, so 21 is *ein und
# zwanzig*, "one and twenty".

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
in_german = {english_word: part for part, english_word in dictionary().items()} | {"one": "ein"}


def word_by_word(n):
    return " ".join(in_german[word] for word in english(n).split() if word in in_german)


baseline = [word_by_word(n) == german(n) for n in range(1, 1000)]
some_words = show.table(
    [(english(n), word_by_word(n), german(n)) for n in (7, 300, 21, 465)],
    ["English", "word by word", "reference"],
)
show.predict(
    "Our task is to translate English number words into German. For what percentage of the numbers below 1,000 is the word-by-word translation right?",
    choices={"about 5": 5, "about 30": 30, "about 80": 80},
    answer=100 * mean(baseline),
    unit=" %",
    why="It is right only where tens and units do not have to swap. So the order matters, and so does the little word *und*.",
    reveals=some_words,
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Let the room add rows to the table before you show it. What goes wrong: they think that each task needs a different
# network. Ask what would change in the formula (nothing but the kind of x).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Idea 1: the encoder's last state is the decoder's first state
#
# Encoder and decoder are recurrent networks. The encoder's state is $h^e$ and its cell $f$; the decoder's state is $h^d$ and its cell $g$:
#
# $$h^e_j = f(x_j,\, h^e_{j-1}), \qquad c = h^e_n, \qquad h^d_0 = c, \qquad h^d_i = g(\hat y_{i-1},\, h^d_{i-1}), \qquad
#   P(y_i) = \mathrm{softmax}(h^d_i V + b).$$
#
# $\hat y_{i-1}$ is the previously written word, and $\hat y_0$ is the token `<bos>`, *beginning of sequence*, because the decoder must read something first. $V$ and $b$ are learned. One vector $c$ carries the whole source to the decoder. Sutskever, Vinyals & Le (2014) built this from deep LSTMs; $c$ was soon called the **thought vector**.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.encoder_decoder_svg(
        ["twenty", "one", "<eos>"],
        ["ein", "und", "zwanzig", "<eos>"],
        backward=True,
        alt="An encoder reads 'twenty one <eos>' from right to left: state h1 reads <eos>, h2 'one', h3 'twenty'. h3 becomes "
        "the one vector c, where the decoder starts. State s1 reads <bos> and writes 'ein'; an arrow leads from each word "
        "that is written to the next input; s4 reads 'zwanzig' and writes <eos>.",
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# In the picture the decoder's states are called $s$, as in [lecture 12](12_attention.ipynb), and the encoder reads **from right to left**<!--[[? translator.encoder.reverse]]-->,
# a trick of Sutskever et al. The *last* word that it reads is the *first* word of the source. Section 6 measures how much that helps. Along
# the orange arrows the decoder reads the word that it has just written.
#
# Here is a trained translator that is small enough to look inside. Its encoder and decoder are GRUs with states of 128 values, and we trained it on numbers of up to twelve English
# words. (`python -m lectures.recipes thought_vector` trains it again.)

# %% slideshow={"slide_type": "fragment"}
translator, (english_words, german_words), card = checkpoint("numbers_thought_vector")


@torch.no_grad()
def encode_by_hand(words):
    """The vector c: h = f(x_j, h) from right to left, beginning with zeros."""
    encoder, h = translator.encoder, torch.zeros(1, 128)
    for token in reversed(as_source(english_words.encode(words))):
        h = encoder.recurrent.cells[0](encoder.embedding(torch.tensor([token])), h)
    return h


# %% slideshow={"slide_type": "fragment"}
@torch.no_grad()
def decode_by_hand(c, longest=40):
    """Greedy search: h = g(previous word, h), then the most probable word."""
    h, token, written = c, torch.tensor([BOS]), []
    while len(written) < longest:
        h = translator.decoder.recurrent.cells[0](translator.embedding(token), h)
        token = translator.output(h).argmax(-1)
        if token.item() == EOS:
            break
        written.append(token.item())
    return german_words.decode(written)


# %% slideshow={"slide_type": "fragment"}
c = encode_by_hand("twenty one")
print("c begins", [round(number, 2) for number in c[0, :6].tolist()])
print(decode_by_hand(c))

# %% [markdown] slideshow={"slide_type": "fragment"}
# No line of the program says that German swaps tens and units. The network learned it from 20,000 pairs. And in principle
# the vector is not too small: if each of its 128 dimensions could only be positive or negative, it could still tell
# $2^{128} \approx 3 \cdot 10^{38}$<!--[[? f"{2.0**128:.0e}" == "3e+38"]]--> numbers apart. Our numbers have at most 15 digits, so there are only $10^{15}$ of them. Whether training finds a way to use that capacity
# is a different question.
#
# `nlmcore` does the same for whole batches, and its decoder is a language model like any other: `state = model.encode(source)`,
# then `logits, state = model(tokens, state)`. So the algorithms of [lecture 9](09_decoding.ipynb) work:

# %% slideshow={"slide_type": "fragment"}
source = torch.tensor([as_source(english_words.encode("twenty one"))])
state = translator.encode(source)
print("the same c:", torch.allclose(state.recurrent[:, 0], c, atol=1e-5))
start = torch.tensor([[BOS]])
for best in beam_search(translator, start, 40, eos=EOS, state=state, beam_size=3)[0]:
    print(f"ln P = {best.log_prob:6.2f}  ", german_words.decode(best.tokens))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The picture with this model's values, step by step.** Press play, or step with the arrow keys. The encoder reads and passes on $c$, and
# the decoder reads each word that it has just written. Each box shows its state as a strip of colours.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
@torch.no_grad()
def steps_of(words):
    """The decoder's state and its five most probable words, step by step."""
    state = translator.encode(torch.tensor([as_source(english_words.encode(words))]))
    token, steps = BOS, []
    while token != EOS and len(steps) < 20:
        logits, state = translator(torch.tensor([[token]]), state)
        p, best = logits[0, -1].softmax(-1).topk(5)
        likely = [
            (german_words.decode([i]), chance)
            for i, chance in zip(best.tolist(), p.tolist(), strict=True)
        ]
        steps.append(widgets.DecodingStep(state.recurrent[0, 0].numpy(), likely))
        token = best[0].item()
    return steps


@torch.no_grad()
def states_of(words):
    """The encoder's states, in the order in which they are computed: from right to left."""
    encoder, h, states = translator.encoder, torch.zeros(1, 128), []
    for token in reversed(as_source(english_words.encode(words))):
        h = encoder.recurrent.cells[0](encoder.embedding(torch.tensor([token])), h)
        states.append(h[0].numpy())
    return states


widgets.time_player(
    states_of, steps_of, [english(n) for n in (21, 72, 300, 1_000)], backward=True
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What the decoder's state holds.** In the next picture the upper stripe is $c$. The lower one is the decoder's state after each step, here called h₁, h₂ and so on. It begins as $c$ and
# has to remember what the decoder *still has to say*.
#
# > **Ask yourself.** Which words can follow "vier tausend" in German? And which can follow if the source is the first one in the picture?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sources = [english(n) for n in (4_723, 21, 72_000, 1_000_015, 987_654)]
starts = [encode_by_hand(words)[0].numpy() for words in sources]
widgets.decoder_player(steps_of, sources, starts)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# After "vier tausend" a German number may end, or continue, for example with a digit, with "hundert" or with a multiple of ten. *This* decoder is
# nearly certain of "sieben"<!--[[? dict(steps_of(english(4_723))[2].likely)["sieben"] > 0.9]]-->, so its state still holds at least the next digit. The whole stripe changes with every word, and the
# eye finds no cell that stores "seven hundred". Section 4 tests with a classifier what $c$ holds.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Draw the two rows of boxes without the orange arrows and ask what s₂ reads. Then show the code, and then the stripe.
# What goes wrong: they forget `<bos>`, or think that the decoder reads the source words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. How it is trained
#
# We train it like every language model, by **teacher forcing** ([lecture 6](06_recurrent_networks.ipynb)). The decoder reads the
# *reference* and predicts each next word. Here are two pairs of different lengths in one batch; the shorter one is padded with
# `<pad>`:

# %% slideshow={"slide_type": "fragment"}
two = [21, 4_723]
sources, source_mask = pad([as_source(english_words.encode(english(n))) for n in two])
targets, mask = pad([as_target(german_words.encode(german(n))) for n in two])


def named(ids):
    return " ".join(f"{german_words.decode([i]) or '<pad>':8}" for i in ids.tolist())


for row in range(2):
    print("reads   ", named(targets[row, :-1]))
    print("predicts", named(targets[row, 1:]))
    print("counts  ", " ".join(f"{'yes' if real else '-':8}" for real in mask[row, 1:]), "\n")

# %% [markdown] slideshow={"slide_type": "fragment"}
# Inputs and targets are the same row, **shifted by one**. The loss is the mean over the positions that count:
#
# $$L = -\frac{1}{N} \sum_{\text{pairs}} \sum_{i \,:\, y_i \ne \texttt{<pad>}} \ln P(y_i \mid y_1, \dots, y_{i-1}, x), \qquad N: \text{the number of real target words}.$$
#
# The gradient flows through the decoder *and*, by way of $c$, through the encoder. Nobody tells the encoder what to store in $c$.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as by_both, torch.no_grad():
    logits, _ = translator(targets[:, :-1], translator.encode(sources, source_mask))
    ln_p = logits.log_softmax(-1).gather(-1, targets[:, 1:, None])[:, :, 0]
    by_hand = -ln_p[mask[:, 1:]].mean()
    theirs = teacher_forcing_loss(
        translator, targets, mask=mask, source=sources, source_mask=source_mask
    )
    print(f"terms {int(mask[:, 1:].sum())}, loss {by_hand:.6f}, nlmcore's {theirs:.6f}")
    print(f"with the padding counted: {-ln_p.mean():.2f}")
show.predict(
    "Suppose that the mean includes the padding. What happens to the loss of this trained model?",
    choices={
        "it is lower, because padding is easy to predict": 0.5,
        "it is a little higher": 1.5,
        "it is more than a thousand times higher": 2000,
    },
    answer=float(-ln_p.mean() / by_hand),
    why="The model was never trained to predict `<pad>`, so `<pad>` surprises it.",
    reveals=by_both,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The sum has 12<!--[[int(mask[:, 1:].sum())]]--> terms, four<!--[[words(int(mask[0, 1:].sum()))]]--> for "ein und zwanzig" `<eos>` and eight<!--[[words(int(mask[1, 1:].sum()))]]--> for the other pair. With
# the padding the loss is about two thousand times as high<!--[[? 1500 < -ln_p.mean() / by_hand < 2500]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Watch it learn.** A fresh model learns the numbers below 1,000, except those divisible by 7, which are held out. 200 steps
# take a few seconds. Next to it we train the same model with a famous mistake. Its target is *not shifted*, so that the model predicts
# the word that it has just read.

# %% slideshow={"slide_type": "fragment"}
english_side, german_side = tokenizers()
below = [n for n in range(1, 1000) if n % 7]
pairs = [(english_side.encode(english(n)), german_side.encode(german(n))) for n in below]


def not_shifted(model, batch):
    logits, _ = model(batch["tokens"], model.encode(batch["source"], batch["source_mask"]))
    real = batch["mask"]
    return torch.nn.functional.cross_entropy(logits[real], batch["tokens"][real])


# %% slideshow={"slide_type": "fragment"}
def train(loss=None):
    torch.manual_seed(0)
    model = Seq2Seq(
        english_side.vocab_size,
        german_side.vocab_size,
        d_embedding=32,
        d_hidden=96,
        context="initial",
        reverse_source=True,
    )
    batches = PairBatches(pairs, batch=64, seed=0)
    history = fit(model, batches, steps=200, learning_rate=1e-2, loss=loss, progress=False)
    return model.eval(), history.losses


# %% slideshow={"slide_type": "fragment"}
held_out = [n for n in range(1, 1000) if n % 7 == 0]
trained, losses, solved = {}, {}, {}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
count = len(held_out)
for name, loss in {"shifted by one": None, "not shifted": not_shifted}.items():
    model, losses[name] = train(loss)
    ids = translate(model, [english_side.encode(english(n)) for n in held_out], lambda n: 10)
    trained[name] = {n: german_side.decode(i) for n, i in zip(held_out, ids, strict=True)}
    solved[name] = sum(trained[name][n] == german(n) for n in held_out) / count
after_training = show.table(
    [
        ("final loss", *(f"{line[-1]:.3f}" for line in losses.values())),
        ("new numbers right", *(f"{share * count:.0f} of {count}" for share in solved.values())),
        *((n, *(said[n] or "(nothing)" for said in trained.values())) for n in (21, 735, 917)),
    ],
    ["", *trained],
)
repeats = all(
    said.startswith("<bos>") and len({*said.removeprefix("<bos>").split()}) < 2
    for said in trained["not shifted"].values()
)
falls = show.curves(
    range(1, 201, 5),
    {name: line[::5] for name, line in losses.items()},
    x_title="step",
    y_title="loss",
    log_y=True,
    alt="The loss of both models against the step, on a logarithmic axis. The one that is not shifted falls much "
    "faster and much lower; the correct one falls slowly.",
)
show.predict(
    "Which of the two has the lower loss after 200 steps?",
    choices=list(losses),
    answer=min(losses, key=lambda name: losses[name][-1]),
    why="What does this model have to learn? Look at what it writes.",
    reveals=[after_training, falls],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The model with the mistake has by far the lower loss<!--[[? losses["not shifted"][-1] < losses["shifted by one"][-1] / 10]]-->, and translates nothing<!--[[? solved["not shifted"] == 0]]-->. It repeats its input: after `<bos>` it
# writes `<bos>`, and once a digit has slipped in, it writes that digit for ever<!--[[? repeats]]-->. The correct model translates most of the
# held-out numbers<!--[[? solved["shifted by one"] > 0.6]]-->.
# </details>
#
# **A loss that falls too fast is a warning.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Besides a missing shift and counted padding, there are three more mistakes. With *no* `<bos>` the model
# > never learns to predict the first word from just the source. With *source and target both reversed* it learns to write
# > backwards. And if you take the encoder's **state at a padded step**, you forget that in a batch the last *column* is not always the
# > last *word*. The mask must say which state is $c$.

# %% slideshow={"slide_type": "fragment"}
from_left, (its_english, its_german), _ = checkpoint("numbers_initial")
batch, real = pad([as_source(its_english.encode(english(n))) for n in (21, 987_654)])
for what, given in {"with the mask": real, "without": None}.items():
    with torch.no_grad():
        state = from_left.encode(batch, given)
    start = torch.full((2, 1), BOS)
    written = greedy(from_left, start, 30, eos=EOS, state=state).tokens[0].tolist()
    print(f"{what:14}", its_german.decode([token for token in written if token > EOS]))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The number 21 shares a batch with a longer number. Without the mask the encoder reads the padding as if it were words, and after "ein und
# zwanzig" the decoder continues with thousands that nobody asked for<!--[[? its_german.decode([token for token in written if token > EOS]).startswith("ein und zwanzig tausend")]]-->. Alone in its batch, 21 has no padding and is translated correctly<!--[[? its_german.decode(translate(from_left, [its_english.encode("twenty one")], lambda n: 10)[0]) == "ein und zwanzig"]]-->. So
# this mistake shows only sometimes.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room write the two shifted rows for one pair. Then ask which loss curve they would prefer, before they know
# that one of them is the mistake. What goes wrong: they trust the lower loss.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. What is in the vector?
#
# Move the slider to see the English words, their vector, and the German words. Errors are orange and dashed. The model was trained on numbers
# of up to twelve words.
#
# > **Ask yourself.** 465,721 and 465,722 differ in one word. How different will their stripes look?


# %% slideshow={"slide_type": "fragment"}
def write(words, search):
    source = torch.tensor([as_source(english_words.encode(words))])
    with torch.no_grad():
        tokens = search(torch.tensor([[BOS]]), translator.encode(source))
    return german_words.decode([t for t in tokens if t != EOS]).split()


def greedily(words):
    return write(
        words, lambda s, c: greedy(translator, s, 40, eos=EOS, state=c).tokens[0].tolist()
    )


# %% slideshow={"slide_type": "fragment"}
def with_beam(words):
    def search(s, c):
        return beam_search(translator, s, 40, eos=EOS, state=c, beam_size=4)[0][0].tokens

    return write(words, search)


def thought(words):
    return encode_by_hand(words)[0].numpy()


widgets.translator_playground(
    greedily, thought, english, german, ways={"a beam of 4": with_beam}, highest=999_999_999
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Now we take the vectors of many numbers and ask which are *near* each other. The map below shows only two
# dimensions, the directions in which the vectors vary most (their **principal components**). The neighbours that it names are
# the nearest in all 128 dimensions.

# %% slideshow={"slide_type": "fragment"}
numbers = sorted(
    {*draw_many(7, 300, 1, 12), *range(1, 100, 3), 21, 72, 72_000, 365, 1_999, 465_721}
)
spelled = [english(n).split() for n in numbers]
vectors = torch.stack([encode_by_hand(" ".join(words))[0] for words in spelled])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
here = encode_by_hand(english(72_000))
other = {"73,000, of similar size": 73_000, "72, which begins with the same words": 72}
show.predict(
    "Which vector is nearer to that of 72,000?",
    choices=list(other),
    answer=min(
        other, key=lambda name: float((encode_by_hand(english(other[name])) - here).norm())
    ),
    why="The task never asks how large a number is. But 72 and 72,000 begin with the same words. Do other neighbours share their first words?",
    reveals=widgets.vector_map(
        vectors.numpy(),
        [f"{n:,}" for n in numbers],
        {
            "words": ([len(words) for words in spelled], "1 word", "12 words"),
            "size": ([float(torch.tensor(float(n)).log10()) for n in numbers], "1", "7 · 10¹⁴"),
            "first digit": ([int(str(n)[0]) for n in numbers], "1", "9"),
        },
        choices=[numbers.index(n) for n in (72_000, 21, 365, 1_999, 465_721)],
    ),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
distance = torch.cdist(vectors, vectors).fill_diagonal_(float("inf"))
nearest = distance.argmin(dim=1).tolist()
alike = {
    "the first word": lambda a, b: a[0] == b[0],
    "the last word": lambda a, b: a[-1] == b[-1],
    "the length": lambda a, b: len(a) == len(b),
}
usual = torch.pdist(vectors).mean()
scatter = torch.linalg.svdvals(vectors - vectors.mean(0)) ** 2
moved = encode_by_hand(english(465_721)) - encode_by_hand(english(465_722))
apart, many = moved.norm(), int((moved.abs() > 0.05).sum())
print(f"465,721 and 465,722 are {apart:.1f} apart; any two numbers, on average, {usual:.1f}")
print(f"{many} of the 128 dimensions differ by more than 0.05")
rows = []
for what, same in alike.items():
    near = [same(spelled[i], spelled[j]) for i, j in enumerate(nearest)]
    any_two = [same(a, b) for i, a in enumerate(spelled) for b in spelled[:i]]
    rows.append((what, f"{mean(near):.0%}", f"{mean(any_two):.0%}"))
show.table(rows, ["shared", "a number and its nearest neighbour", "any two"])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
endings = [n for n in draw_many(11, 4000, 8, 12) if english(n).split()[-1] in ("one", "two")][
    :400
]
cells = torch.stack([encode_by_hand(english(n))[0] for n in endings])
is_one = torch.tensor([english(n).endswith("one") for n in endings])
half = len(endings) // 2  # the first half chooses, the second tests


def best_split(values, labels):
    """The threshold and the side that separate these labels best."""
    tried = [
        (float(((values > t) == (labels == side)).float().mean()), float(t), side)
        for t in values
        for side in (True, False)
    ]
    return max(tried)


chosen_cell = max(range(128), key=lambda cell: best_split(cells[:half, cell], is_one[:half])[0])
_, threshold, side = best_split(cells[:half, chosen_cell], is_one[:half])
one_cell = ((cells[half:, chosen_cell] > threshold) == (is_one[half:] == side)).float().mean()
with_bias = torch.cat([cells - cells[:half].mean(0), torch.ones(len(cells), 1)], dim=1)
ridge = with_bias[:half].T @ with_bias[:half] + torch.eye(129)  # linear regression on ±1
direction = torch.linalg.solve(ridge, with_bias[:half].T @ (2.0 * is_one[:half] - 1))
all_cells = ((with_bias[half:] @ direction > 0) == is_one[half:]).float().mean()

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Changing one word of eleven<!--[[words(len(english(465_721).split()))]]--> moves the vector by a distance of 1.3<!--[[apart:.1f]]-->. The vectors of two random numbers are 8.9<!--[[usual:.1f]]--> apart on average.
# - This small step changes 41<!--[[many]]--> of the 128 dimensions by more than 0.05.
# - A single dimension, chosen on half of 400<!--[[len(endings)]]-->
#   numbers, separates those that end in "one" from those that end in "two". It is right in 86<!--[[100 * one_cell:.0f]]--> % of the other half.
# - A linear classifier on all dimensions is right in 97<!--[[100 * all_cells:.0f]]--> %.
# - The nearest vector to that of 72,000 is that of 72<!--[[? numbers[nearest[numbers.index(72_000)]] == 72]]-->, so size alone does not decide.
# - The two directions of the map show a fifth<!--[[? abs(scatter[:2].sum() / scatter.sum() - 0.2) < 0.03]]--> of the variance in all 128 dimensions. Points that are close on the map may be far apart.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Neighbours often share their first word. Is that only recency?** This encoder reads from right to left, so the first word is the one it read *last*. A recurrent state may mainly
# reflect the latest words. As a control, we train an encoder that reads from left to right. It reads the first word first, and up to eleven more words after it.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
kept = stored("first_word")
share = {
    kind: {word: 100 * mean([model[word] for model in models]) for word in ("first", "last")}
    for kind, models in kept["shared"].items()
}
forward, untrained = share["trained, left to right"], share["untrained, left to right"]
show.predict(
    "Take the network whose encoder reads from *left to right*. Which word does a number share more often with its nearest neighbour?",
    choices=["the first word, read first", "the last word, read last"],
    answer="the first word, read first"
    if forward["first"] > forward["last"]
    else "the last word, read last",
    why="Compare the two rows that read from left to right.",
    reveals=show.heatmaps(
        [torch.tensor([[of[word] for word in ("first", "last")] for of in share.values()])],
        ["% that share this word with their nearest"],
        list(share),
        ["first word", "last word"],
        row_title="encoder",
        column_title="shared word",
        alt="; ".join(
            f"{kind}: {of['first']:.0f} percent share the first word, {of['last']:.0f} the last"
            for kind, of in share.items()
        ),
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **In this network, training reversed the effect of recency.** In an untrained encoder that reads from left to right, 7<!--[[untrained["first"]:.0f]]--> % of the numbers share the first
# word with their nearest neighbour and 99<!--[[untrained["last"]:.0f]]--> % the last. After training, 78<!--[[forward["first"]:.0f]]--> % share the first word and 23<!--[[forward["last"]:.0f]]--> % the last. (One run;
# `python -m lectures.recipes one_vector`.)
#
# **In both trained networks, a number shares its first word with its nearest neighbour more often than its last, whether the encoder reads the first word first
# or last.** We do not know why.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room guess the nearest neighbour of 72,000 and say why; if somebody says recency, the control answers. What goes
# wrong: they read meaning into a map of two dimensions; show the neighbours in all 128.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. The bottleneck, measured
#
# All that the decoder ever learns about the source passes through $c$, one vector of fixed width, whether the source has three
# words or thirty. This is a **bottleneck**. Is it too narrow? To answer, we need a measure.
#
# How good is a translation? **BLEU** (Papineni et al. 2002) computes what fraction of the translation's words, and of its pairs, triples and
# groups of four neighbouring words, occurs in the reference. It takes the geometric mean of the four fractions, and lowers it if the translation is too short. A BLEU of
# 100 is perfect.

# %% slideshow={"slide_type": "fragment"}
right = "vier hundert fünf und sechzig tausend"
attempts = (
    right,
    "vier hundert sechs und fünfzig tausend",
    "tausend sechzig und fünf hundert vier",
)
for said in attempts:
    print(f"{corpus_bleu([said], [right]):6.1f}  {said}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# The second text says a different number, 456,000 instead of 465,000, and has four<!--[[words(sum(a == b for a, b in zip(right.split(), attempts[1].split())))]]--> of six words right. The third has all six<!--[[words(len({*right.split()}))]]--> words, in
# reverse order<!--[[? attempts[2].split() == right.split()[::-1]]]-->, but none of the pairs. (A single fraction of 0 would make the whole mean 0. So where no group matches, the program uses
# a small value instead.) BLEU is meant for whole test sets, and for comparing systems on the same test set.
#
# We trained translators with one vector on 20,000 numbers of up to 12 English words, for 3,000<!--[[measured["training"]["steps"]:,]]--> steps, with five seeds. We tested them on
# new numbers of up to 29 words (`python -m lectures.recipes thought_vector`; the encoder reads from left to right).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
measured = stored("thought_vector")
one_vector = measured["bleu"]["initial"]
five = [list(seed) for seed in zip(*one_vector.values(), strict=True)]
bleu = {at: mean(seeds) for at, seeds in one_vector.items()}
longer = {at: by["bleu"] for at, by in kept["quality_of_left_to_right"].items()}
words_in = [4, 7, 10, 13, 16, 19, 22, 25, 28]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "A translator was trained on numbers of up to 12 words. What is its BLEU at 15 to 17 words?",
    choices={"about 95": 95, "about 60": 60, "about 10": 10},
    answer=bleu["15-17"],
    unit="",
    why="Where does the curve begin to fall?",
    reveals=HTML(
        show.bands_svg(
            words_in,
            {
                "five seeds, 3,000 steps": five,
                "one run, 9,000 steps": [list(longer.values())] * 2,
            },
            x_title="English words in the number",
            y_title="BLEU",
            low=0,
            high=100,
            alt="Quality of translation against length for translators with one vector, trained on up to 12 words. The mean of five "
            "seeds stays above 95 up to 11 words and then falls, to about 60 at 16 words and 25 at 28. A run of three times the "
            "steps is better and falls as well.",
        )
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Up to 11 words BLEU is above 97<!--[[? min(bleu[at] for at in ("3-5", "6-8", "9-11")) > 97]]-->.
# - It is 85<!--[[bleu["12-14"]:.0f]]--> at 12 to 14 words, 59<!--[[bleu["15-17"]:.0f]]--> at 15 to 17, and falls from each length to the next<!--[[? list(bleu.values()) == sorted(bleu.values(), reverse=True)]]-->.
# - Was the training only too short? With three times the steps BLEU is 91<!--[[longer["12-14"]:.0f]]--> at 12 to 14 words and 68<!--[[longer["15-17"]:.0f]]--> at 15 to 17 (one run), but
#   the curve still falls.
# - Cho et al. (2014b) and Bahdanau et al. (2015, figure 2) also saw quality fall with length. Bahdanau et al. suspected the one vector.
# </details>
#
# **Up to 11 words, one vector is enough for nearly all of these numbers. Beyond that the translations get worse with length.** This
# curve cannot tell what is to blame: the vector, the decoder's memory, or lengths that were not in the training data. [Lecture 12](12_attention.ipynb) adds the comparison.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. For the second text, count the fractions of BLEU by hand (four of six words, one of five pairs). Then show the curve. What
# goes wrong: they compare BLEU between test sets, or blame only the vector; ask what else grows with the length.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Idea 2, and a trick
#
# **Idea 2** (Cho et al. 2014): the decoder need not remember $c$ if it reads $c$ again at every step,
#
# $$h^d_i = g(\hat y_{i-1},\, h^d_{i-1},\, c), \qquad \text{in code: the cell's input is } [\hat y_{i-1};\, c].$$
#
# **The trick** (Sutskever et al. 2014, section 3.3) is to reverse the source. The encoder then reads the first source words just before
# the decoder writes the first target words, and the gradient has a short path between them. In their translation from English into French, BLEU
# rose from 25.9 to 30.6. They had no complete explanation.
#
# We compare four translators on numbers of up to 12 words. They use idea 1, where $c$ is only the *initial* state, or idea 2, where the
# decoder reads $c$ at *every step*, each with the source forwards or reversed. We trained five seeds of each
# (`python -m lectures.recipes thought_vector`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
lengths = list(measured["exact"]["initial"])[:6]
exact = {
    name: [[100 * by[at][seed] for at in lengths] for seed in range(len(by["3-5"]))]
    for name, by in measured["exact"].items()
}
at_nine = {name: [mean(seed[2:4]) for seed in of] for name, of in exact.items()}  # 9 to 14 words
neither, again, reverse, both = (
    at_nine[name]
    for name in ("initial", "every step", "initial, reversed", "every step, reversed")
)
gains = [mean(of) - mean(neither) for of in (again, reverse, both)]


def seed_by_seed(one, other):
    """Mean of the paired differences, and half its 95 % interval."""
    return mean_interval([a - b for a, b in zip(one, other, strict=True)])


def p_of(of):
    """The p of each paired difference, from its mean and half its interval."""
    return {
        at: two_sided(abs(gain) / half * critical(4), 4) if half else 1.0
        for at, (gain, half) in of.items()
    }


in_bleu = {  # way -> length -> BLEU minus that of the translator without either idea
    way: {at: seed_by_seed(of, one_vector[at]) for at, of in measured["bleu"][way].items()}
    for way in ("every step", "initial, reversed")
}
differs = {  # way -> the lengths at which it differs, corrected for all nine; five seeds, so t has 4 degrees of freedom
    way: [at for at, p in holm(p_of(gains_at)).items() if p < 0.05]
    for way, gains_at in in_bleu.items()
}
best_run = max(seed[4] for of in exact.values() for seed in of)  # at 15 to 17 words
sizes = measured["parameters"]
HTML(
    show.bands_svg(
        [4, 7, 10, 13, 16, 19],
        exact,
        x_title="English words in the number",
        y_title="right in every word, %",
        low=0,
        high=100,
        columns=2,
        alt="Percentage of numbers right in every word against length, for four translators: the mean of five seeds and "
        "a band over them. All are at 100 up to 8 words and near 0 from 19 onwards; at 13 words the one without either "
        "idea is lowest, at 57, and the one with both is highest, at 79; the two with one idea overlap between them.",
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# And *where* in the target are the errors? At each position the decoder reads the previous words of the reference:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
wrong = measured["wrong_by_place"]
zigzag = all(row[i] > max(row[i - 1], row[i + 1]) for row in wrong.values() for i in (2, 4, 6, 8))


def joins_at(first):
    """Fraction of words such as "und" and "hundert" at positions first, first + 2, … of German numbers."""
    joining = ("und", "hundert", "tausend", "Million", "Milliarde", "Billion")
    targets = [german(n).split()[:10] for n in draw_many(3, 500, 9, 14)]
    return mean(word.startswith(joining) for words in targets for word in words[first - 1 :: 2])


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def errors(reversed_source, places):
    """The mean fraction of wrong words at these positions, over both ideas."""
    rows = [row for name, row in wrong.items() if ("reversed" in name) == reversed_source]
    return mean([row[place - 1] for row in rows for place in places])


parts = {"positions 1 to 4": range(1, 5), "positions 7 to 10": range(7, 11)}
show.predict(
    "At which positions of the target does reversing the source *reduce* the errors?",
    choices=[*parts, "at both"],
    answer={
        (True, True): "at both",
        (True, False): "positions 1 to 4",
        (False, True): "positions 7 to 10",
    }[tuple(errors(True, places) < errors(False, places) for places in parts.values())],
    why="Sutskever et al. were surprised in the same way: they had expected better beginnings and worse ends.",
    reveals=show.curves(
        range(1, len(next(iter(wrong.values()))) + 1),
        {name: [100 * share for share in shares] for name, shares in wrong.items()},
        x_title="position in the target",
        y_title="wrong words, %",
        alt="Percentage of wrong words at each position of the target, for four translators, means of five seeds. "
        f"Without reversing, errors grow along the target, to {100 * wrong['every step'][8]:.0f} and {100 * wrong['initial'][8]:.0f} at "
        "position 9; reversed, they are highest at position 5 and fall below 3 at position 9.",
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - We measure what percentage of the test numbers of 9 to 14 words is translated without an error. It is 76<!--[[mean(neither):.0f]]--> % for the translator that
#   neither reads $c$ again nor reverses its source, as the mean of five seeds. This translator is the worst with every seed<!--[[? max(neither) < min(again + reverse + both)]]-->. The
#   ranges of the other three overlap<!--[[? max(again) > min(reverse) and max(reverse) > min(both)]]-->, so we do not rank them.
# - Idea 2 gains 8<!--[[gains[0]:.0f]]--> points, reversing 10<!--[[gains[1]:.0f]]-->, both together 13<!--[[gains[2]:.0f]]-->; none of the three 95 % intervals over the paired seeds contains 0<!--[[? all(gain > half for gain, half in (seed_by_seed(of, neither) for of in (again, reverse, both)))]]-->.
# - Reversing adds no parameters. Idea 2 costs a third<!--[[? round(sizes["every step"] / sizes["initial"], 2) == 1.34]]--> more parameters (195,741<!--[[sizes["every step"]:,]]--> instead of 146,589<!--[[sizes["initial"]:,]]-->), which may be part of its gain.
# - At the first four positions reversing makes *more* errors, 0.9<!--[[100 * errors(True, range(1, 5)):.1f]]--> % instead of 0.4<!--[[100 * errors(False, range(1, 5)):.1f]]--> %. At positions 7 to 10 it halves them<!--[[? 1.8 < errors(False, range(7, 11)) / errors(True, range(7, 11)) < 2.4]]-->. We
#   do not know why.
# - Errors go up and down: at positions 3, 5, 7 and 9 they are higher than at both neighbours<!--[[? zigzag]]-->. Odd positions hold mostly digits and tens,
#   even ones mostly "und", "hundert", "tausend" and the like<!--[[? joins_at(2) > 0.8 and joins_at(1) < 0.2]]-->.
# - From 15 words onwards all four break down. At 15 to 17 words the best run has 24<!--[[best_run:.0f]]--> % right.
# - Reversing even lowers BLEU there,
#   to 51<!--[[mean(measured["bleu"]["initial, reversed"]["15-17"]):.0f]]--> from 59<!--[[mean(measured["bleu"]["initial"]["15-17"]):.0f]]-->.
# </details>
#
# **Reading $c$ again raises BLEU at every length from 15 words onwards<!--[[? differs["every step"] == [*one_vector][4:]]]-->. Reversing lowers it at 15 to 23 words<!--[[? differs["initial, reversed"] == [*one_vector][4:7]]]-->.** (Both come from paired
# tests over five seeds, corrected for nine lengths.) With either method, more numbers of 9 to 14 words are right in every word.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Ask for the positions of the errors before you show the curve. What goes wrong:
# they add the gains. Ask what a gain of 10 points can mean where 76 % are right already.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. For the curious: from spelling to sound
#
# Nothing in the model knows that its task is translation. Given the CMU Pronouncing Dictionary, 112,000 English words with their
# **phonemes** (the sounds that distinguish words, such as K, AE, T in "cat"), a model of the same class (`Seq2Seq`) learns to pronounce
# (`python -m lectures.recipes pronunciation`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
reader, (letters, phonemes), card = checkpoint("pronunciation_initial")
dictionary_of_sounds = load_dictionary().test  # words that it was not trained on
chosen = sorted(dictionary_of_sounds)[::10]


def say_all(words):
    written = translate(reader, [letters.encode(word) for word in words], lambda n: 2 * n + 8)
    return [phonemes.decode(ids).split() for ids in written]


def of_word(word):
    with torch.no_grad():
        return (
            reader.encode(torch.tensor([as_source(letters.encode(word))])).recurrent[0, 0].numpy()
        )


spoken = dict(zip(chosen, say_all(chosen), strict=True))
wrong_words = [w for w in chosen if " ".join(spoken[w]) not in dictionary_of_sounds[w]]
shown = [*wrong_words[:: len(wrong_words) // 12][:12], *chosen[:: len(chosen) // 8]]
widgets.pronouncer(
    lambda word: say_all([word])[0],
    of_word,
    shown,
    lambda word: dictionary_of_sounds.get(word, []),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sounds = stored("sounds_by_length")["wrong"]
by_length = {at: 100 * share for at, share in sounds["one vector"].items()}
show.predict(
    "A long word gives more chances to err, so we count the percentage of wrong *phonemes*. Compare words of 11 letters or more with words of 5 or 6. How high is the percentage in the longer words?",
    choices={"as high": 1, "twice as high": 2, "five times as high": 5},
    answer=by_length["11 and more"] / by_length["5-6"],
    why="Look at the whole curve.",
    reveals=show.curves(
        range(len(by_length)),
        {"one vector": list(by_length.values())},
        x_title="letters: " + ", ".join(by_length),
        y_title="wrong phonemes, %",
        alt="Percentage of wrong phonemes by length of the word: "
        + ", ".join(f"{at} letters {share:.0f}" for at, share in by_length.items()),
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Read the model's errors aloud. Which of them could you have made with a name that you have never seen?
# - Of the phonemes, 9.0<!--[[by_length["5-6"]:.1f]]--> % are wrong in words of 5 or 6 letters, and 17.7<!--[[by_length["11 and more"]:.1f]]--> % in those of 11 or more. (Every third test word; one
#   trained model.)
# - In the whole test set 40.9<!--[[card["figures"]["test"]["word_error_rate"]:.1f]]--> % of the words have at least one wrong phoneme.
# </details>
#
# This may be the bottleneck again, or long words may be harder in other ways. [Lecture 12](12_attention.ipynb) has the control:
# the same words with attention.

# %% [markdown] slideshow={"slide_type": "fragment"}
# **What does a network keep if it must translate with its eyes closed? Up to 11 words it keeps nearly all of them. In two networks, a number shares
# its first word with its nearest neighbour more often than its last. Trained on up to 12 words, it translates few numbers of 15 or more without an error<!--[[? best_run < 25]]-->.** We chose the width of its one vector before we saw the sentence.
# [Lecture 12](12_attention.ipynb) lets the decoder look back at *all* the encoder's states instead.

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Let somebody type a family name and read the sounds aloud. Ask which names fail, and what the model would have
# needed to know. What goes wrong: they compare percentages of wrong words of different lengths; count phonemes.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. What are $h^d_0$ and $\hat y_0$?
# <details><summary>Answer</summary>They are the encoder's last state c and the token &lt;bos&gt;.</details>
#
# 2. The target is "ein und zwanzig". Write down what the decoder reads and what it predicts.
# <details><summary>Answer</summary>It reads “&lt;bos&gt; ein und zwanzig” and predicts “ein und zwanzig &lt;eos&gt;”.</details>
#
# 3. The loss of your new model is nearly 0 after a hundred steps, and it writes nothing sensible. What do you check first?
# <details><summary>Answer</summary>Check whether the target is shifted, because the model may be predicting the word that it reads.</details>
#
# 4. Why is the source reversed and the target not?
# <details><summary>Answer</summary>If only the source is reversed, the encoder reads its first word just before the decoder writes the first word. If both were
# reversed, the encoder would still read its first word last, but the decoder would begin with the last word of the target. So the first words of source and target would not be close, and the model would write backwards.</details>
#
# 5. A batch has sources of 3 and of 7 words. Which state is the vector of the first source if the encoder reads from left to right?
# <details><summary>Answer</summary>It is the state after the third word (or its &lt;eos&gt;), not the one in the last column, because the
# later states come from padding.</details>
#
# 6. With idea 2, how does the number of parameters change?
# <details><summary>Answer</summary>The cell's input grows by the width of c, so its input matrices grow as well. A GRU of width d gets 3 · d · d more parameters<!--[[? sizes["every step"] - sizes["initial"] == 3 * 128**2]]-->.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, let the room write the answer to number 2, then compare it with a neighbour's.
# What goes wrong: both rows get a `<bos>`, or neither ends with `<eos>`. In number 5 they take the last column.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write your own decoding function and pass it to the widget, which draws its output next to ours. The function below is greedy search.
# Break it: begin with a word other than `<bos>`, or use the *first* state at every step instead of the latest. See what
# happens to the German.


# %% slideshow={"slide_type": "skip"} tags=["lesson"]
def my_translation(words):
    state = translator.encode(torch.tensor([as_source(english_words.encode(words))]))
    token, written = BOS, []  # change me
    while len(written) < 40:
        with torch.no_grad():
            logits, state = translator(torch.tensor([[token]]), state)  # change me
        token = int(logits[0, -1].argmax())
        if token == EOS:
            break
        written.append(token)
    return german_words.decode(written).split()


widgets.translator_playground(
    greedily, thought, english, german, number=4_723, yours=my_translation
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *This is homework, or 5 minutes in the notebook. Ask what the German looks like if every step uses the first state. (The decoder forgets
# what it has said, repeats itself, and stops only at 40 words.) What goes wrong: they still assign the new state to `state` in the loop,
# and nothing changes.*

# %% [markdown] slideshow={"slide_type": "skip"}
# The assignment [`exercises/sequences/sequences.ipynb`](../exercises/sequences/sequences.ipynb) lets you build the rest, and tells you which mistakes you make.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $c = h^e_n = h^d_0$ | $v$ (Sutskever et al.), $h_n$, thought vector, summary, sentence embedding | the vector that the decoder receives |
# | $h^e_j$, $h^d_i$ | $h_j$, $s_i$ ([lecture 12](12_attention.ipynb)); $h_t$, $\bar h_s$ | states of encoder and decoder |
# | $\hat y_{i-1}$ | $y_{t-1}$, $x^D_{j}$, the previous output | the word that the decoder reads |
# | $h_i = g(\hat y_{i-1}, h_{i-1}, c)$ | $h_t = f(h_{t-1}, y_{t-1}, c)$ (Cho et al.), $s_j = \mathrm{LSTM}(s_{j-1}, [x, c])$ | idea 2 |
# | $f$, $g$ | RNN, GRU, LSTM, $\phi$ | the cells |
# | `<bos>`, `<eos>` | `<s>`, `</s>`, GO, START, STOP | where a text begins and ends |
# | right to left | reversed source, backward encoder | the order in which the encoder reads |
#
# **Sources.** Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural Networks, sections 2, 3.3 and 3.7. Cho et al. (2014), Learning
# Phrase Representations using RNN Encoder–Decoder, section 2.2. Kalchbrenner & Blunsom (2013), Recurrent Continuous Translation Models (an earlier encoder
# and decoder). Cho et al. (2014b), On the Properties of Neural Machine Translation (quality against length). Bahdanau, Cho & Bengio (2015),
# Neural Machine Translation by Jointly Learning to Align and Translate (the conjecture that the one vector is to blame). Papineni et al. (2002), BLEU.
# Vinyals & Le (2015), A Neural Conversational Model (dialogue). Vinyals et al. (2015), Show and Tell (captions). Yao & Zweig (2015),
# Sequence-to-Sequence Neural Net Models for Grapheme-to-Phoneme Conversion.

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. Tell readers of Cho et al. that two of their papers from 2014 appear here, idea 2 and
# quality against length. What goes wrong: they read $c$ as the memory cell of an LSTM; here it is the vector that the decoder receives.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **source**: the text (or sound, or image) that goes in.
# - **target**: the text that comes out.
# - **sequence-to-sequence model**: a language model of the target that reads a source first, made of an encoder and a decoder.
# - **encoder**: the half of a network that reads; the encoder of Bahdanau et al. reads in both directions and joins the two states of each word.
# - **decoder**: the half of a network that writes, one word at a time.
# - **thought vector**: the one vector that carries the whole source to the decoder, the encoder's last state.
# - **BLEU**: what fraction of a text's groups of one to four words occurs in the reference; 100 is perfect.
# - **principal components**: the directions in which a set of vectors varies most.
# - **bottleneck**: the one vector of fixed width through which everything that is known about the source must pass.
# - **phoneme**: a sound of a language that distinguishes words; English has about 40.
