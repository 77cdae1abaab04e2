# %% [markdown] slideshow={"slide_type": "slide"}
# # Sequence to sequence
#
# *Four hundred and sixty five thousand seven hundred and twenty one.* Read it once, close your eyes, and say it in another
# language. You could not point back at the words; you had to keep the whole number in your head. This lecture builds a network
# that does exactly that, looks into its head, and measures when it is full.
#
# <img src="figures/10_one_vector.svg" width="860" alt="The English words of 465,721, below them a stripe of 128 coloured cells, below it the German words: vier hundert fünf und sechzig tausend sieben hundert ein und zwanzig. The German is right.">
#
# *A small network read the blue words. All that it kept is the coloured stripe: 128 numbers, blue negative, red positive. From the
# stripe alone it wrote the German words. In section 2 you do the same in ten lines.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - name five tasks that are one task, and write their common probability;
# - join an encoder and a decoder in two ways, and run both by hand;
# - compute the loss of a batch of pairs: shifted by one, padding left out;
# - say what a thought vector keeps, and what a reversed source is good for, with figures;
# - read a curve of quality against length, and say what BLEU counts.
#
# **You need** recurrent networks (lecture 5: a state $h$, a cell that updates it) and greedy and beam search (lecture 8). Vectors are
# rows.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 6 | 13 | 11 | 9 | 8 | 9 | 6 |
#
# *To lecture from this notebook:* `make present ARGS=10` shows it slide by slide, widgets alive; short of time,
# skip the padding of section 3 and section 7. *Coming from other slides?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: let somebody who speaks two languages do the opening task aloud, and ask what they held in mind. Numbers are real
# text whose right translation everybody can check; nothing in the models is special to them.*

# %% slideshow={"slide_type": "skip"}

import torch

from nlmcore.corpora import pad
from nlmcore.decoding import beam_search, greedy
from nlmcore.metrics import corpus_bleu, edit_distance
from lectures.trained import checkpoint
from lectures.recipes.pairs import load_dictionary
from lectures.recipes.pairs import draw_many, english, german
from lectures.recipes.numbers import tokenizers
from lectures.recipes.pairs import BOS, EOS, PairBatches, as_source, as_target, translate
from nlmcore.seq2seq import Seq2Seq
from lectures import show, stored, widgets
from nlmcore.training import fit, teacher_forcing_loss

torch.set_num_threads(1)  # sums in one order: section 3 trains to the same numbers every time

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One frame for many tasks
#
# A text goes in, the **source** $x_1 \dots x_n$. Another comes out, the **target** $y_1 \dots y_m$, of another length and in another order.
#
# | task | source | target |
# |---|---|---|
# | translation | a sentence in English | the sentence in German |
# | summarisation | an article | three sentences |
# | dialogue | what was said so far | the answer |
# | speech recognition | some hundred sound vectors a second | words |
# | captioning | an image, as vectors of its patches | a sentence about it |
# | pronunciation | letters | sounds |
#
# All of them ask for one probability, and the chain rule (lecture 1) takes it apart:
#
# $$P(y \mid x) = \prod_{i=1}^{m} P(y_i \mid y_1, \dots, y_{i-1},\, x), \qquad y_m = \texttt{<eos>}.$$
#
# > **Predict before you open the answer.** You know a model of $P(y_i \mid y_1, \dots, y_{i-1})$. What is new here? What do you
# > have to add to a language model to get this one?
#
# <details><summary><b>Answer</b></summary>
#
# Only the condition on $x$. It is a language model of the target that has *read the source before it begins*. So a **sequence-to-sequence
# model** has two halves: an **encoder**, which turns the source into vectors, and a **decoder**, a language model that is given them.
# Everything that you know of language models stays: greedy and beam search, loss, perplexity.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Idea 1: the last state of one is the first state of the other
#
# Encoder and decoder are recurrent networks. The encoder's state is $h^e$, the decoder's $h^d$:
#
# $$h^e_j = f(x_j,\, h^e_{j-1}), \qquad c = h^e_n, \qquad h^d_0 = c, \qquad h^d_i = g(\hat y_{i-1},\, h^d_{i-1}), \qquad
#   P(y_i) = \mathrm{softmax}(V h^d_i + b).$$
#
# $\hat y_{i-1}$ is the word written last, and $\hat y_0$ is the sign `<bos>`, *begin of sequence*: something must be read first. The one
# vector $c$ carries the source across. Sutskever, Vinyals & Le (2014) built this from deep LSTMs; $c$ was soon called the **thought vector**.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.encoder_decoder(
    ["twenty", "one", "<eos>"],
    ["ein", "und", "zwanzig"],
    alt="An encoder reads 'twenty one <eos>' into states h1, h2, h3; a single vector c leads to "
    "the decoder states s1, s2, s3, which write 'ein und zwanzig'.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# In the picture the decoder's states are called $s$, as in lecture 11. One more trick of that paper: the encoder reads the source **from
# right to left**, so that the word read *last* is the source's *first*. Section 6 measures what that is good for. Until then, take it as given.
#
# Here is a trained one, small enough to open: GRU cells, 128 wide, trained on numbers of up to twelve English words.
# (`python -m lectures.recipes thought_vector` trains it again.)
#
# > **Predict before you run.** $c$ has 128 numbers. How many different numbers in words could the decoder tell apart, if each of the
# > 128 could only be positive or negative?

# %% slideshow={"slide_type": "fragment"}
translator, (english_words, german_words), card = checkpoint("numbers_thought_vector")


@torch.no_grad()
def encode_by_hand(words):
    """c, from right to left: h = f(x_j, h), beginning with zeros."""
    encoder, h = translator.encoder, torch.zeros(1, 128)
    for token in reversed(as_source(english_words.encode(words))):
        h = encoder.recurrent.cells[0](encoder.embedding(torch.tensor([token])), h)
    return h


@torch.no_grad()
def decode_by_hand(c, longest=40):
    """Greedy search: h = g(last word, h), then the most probable word."""
    h, token, written = c, torch.tensor([BOS]), []
    while len(written) < longest:
        h = translator.decoder.recurrent.cells[0](translator.embedding(token), h)
        token = translator.output(h).argmax(-1)
        if token.item() == EOS:
            break
        written.append(token.item())
    return german_words.decode(written)


c = encode_by_hand("twenty one")
print("c begins", [round(number, 2) for number in c[0, :6].tolist()])
print(decode_by_hand(c))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# $2^{128} \approx 3 \cdot 10^{38}$, and there are only $10^{15}$ numbers of up to 15 digits, the largest here. There is room. Whether training finds a
# way to use it is another question; section 5 answers it.
#
# German turns tens and units around ("one and twenty"). No line of the program says so. The decoder learned it from 20,000 pairs.
# </details>
#
# `nlmcore` does the same, for whole batches, and its decoder is a language model like any other: `state = model.encode(source)`, then
# `logits, state = model(tokens, state)`. So every algorithm of lecture 8 works:

# %% slideshow={"slide_type": "fragment"}
source = torch.tensor([as_source(english_words.encode("twenty one"))])
state = translator.encode(source)
print("the same c:", torch.allclose(state.recurrent[:, 0], c, atol=1e-5))
start = torch.tensor([[BOS]])
for best in beam_search(translator, start, 40, eos=EOS, state=state, beam_size=3)[0]:
    print(f"ln P = {best.log_prob:6.2f}  ", german_words.decode(best.tokens))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **One step at a time.** The upper stripe is $c$. The lower one is the decoder's state after each step: it begins as $c$ and has to serve as
# a memory of what is *still to be said*.
#
# > **Predict before you move the slider.** After "vier tausend", which words are possible next, for this source and for any? And at which
# > step is the decoder least sure?


# %% slideshow={"slide_type": "fragment"}
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


sources = [english(n) for n in (4_723, 21, 72_000, 1_000_015, 987_654)]
starts = [encode_by_hand(words)[0].numpy() for words in sources]
widgets.decoder_player(steps_of, sources, starts)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# After "vier tausend" a German number may go on with a digit, with "hundert", with a ten, or end; *this* decoder is nearly certain of "sieben",
# for its state still holds what comes. The state changes with every word, and it looks different each time: there is no cell of the stripe
# in which "seven hundred" sits and waits. The vector is *distributed*.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. How it is trained
#
# As every language model: by **teacher forcing** (lecture 5). The decoder reads the *true* target and has to predict each next word. Two
# pairs in one batch, of different lengths; the shorter one is filled up with `<pad>`:

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
# What is read and what is predicted are the same row, **shifted by one**. The loss is the mean over the places that count:
#
# $$L = -\frac{1}{N} \sum_{\text{pairs}} \sum_{i \,:\, y_i \ne \texttt{<pad>}} \ln P(y_i \mid y_1, \dots, y_{i-1}, x), \qquad N: \text{the number of
#   real target words}.$$
#
# One gradient goes through decoder *and* encoder, by way of $c$: nobody tells the encoder what to put there.
#
# > **Predict before you run.** How many terms has the sum for these two pairs?

# %% slideshow={"slide_type": "fragment"}
with torch.no_grad():
    logits, _ = translator(targets[:, :-1], translator.encode(sources, source_mask))
    ln_p = logits.log_softmax(-1).gather(-1, targets[:, 1:, None])[:, :, 0]
    by_hand = -ln_p[mask[:, 1:]].mean()
    theirs = teacher_forcing_loss(
        translator, targets, mask=mask, source=sources, source_mask=source_mask
    )
    print(f"terms {int(mask[:, 1:].sum())}, loss {by_hand:.6f}, nlmcore's {theirs:.6f}")
    print(f"with the padding counted: {-ln_p.mean():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 12: four for "ein und zwanzig" `<eos>`, eight for the other. Counted with the padding, the loss is two thousand times larger and says nothing: this
# model was never asked to predict `<pad>`. Trained on *that* loss, it would spend its effort on learning to write padding.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Watch it learn.** A fresh model, numbers below 1,000, those divisible by 7 kept apart. 200 steps take a few seconds. Beside it the same
# model with a famous mistake: the target is *not shifted*, so that it predicts the word that it has just been given.
#
# > **Predict before you run.** Which of the two has the lower loss after 200 steps? And what does it write?

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
trained, losses = {}, {}
for name, loss in {"shifted by one": None, "not shifted": not_shifted}.items():
    model, losses[name] = train(loss)
    ids = translate(model, [english_side.encode(english(n)) for n in held_out], lambda n: 10)
    trained[name] = {n: german_side.decode(i) for n, i in zip(held_out, ids, strict=True)}
    right = sum(trained[name][n] == german(n) for n in held_out)
    print(
        f"{name}: last loss {losses[name][-1]:.3f}, right {right} of {len(held_out)} new numbers"
    )
    for n in (21, 735, 917):
        print(f"   {n}: {trained[name][n] or '(nothing)'}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.curves(
    range(1, 201, 5),
    {name: line[::5] for name, line in losses.items()},
    x_title="step",
    y_title="loss",
    log_y=True,
    alt="The loss of both trainings against the step, on a logarithmic axis. The one that is not shifted falls much "
    "faster and much lower; the right one falls slowly.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# The mistake has by far the lower loss, and translates nothing. It has learned to repeat what it reads: after `<bos>` it writes `<bos>`, and when a
# digit has slipped in, that digit for ever. **A loss that falls too fast is a warning.** The right one translates most of the numbers that it has
# never seen.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Besides the missing shift and the counted padding: *no* `<bos>`, so that the first word is never predicted from the source
# > alone; *the source reversed and the target too*, so that the model learns to write backwards; and the encoder's **state of a padded
# > step**: in a batch the last *column* is not the last *word*. The mask must say which state is $c$.

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
# 21 stands in a batch with a longer number. Without the mask the encoder reads the padding as if it were words, and after "ein und zwanzig" the
# decoder goes on with thousands that nobody asked for. Alone in its batch the same sentence would have been right: a mistake that shows only at times.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. What is in the vector?
#
# Turn the number: English words, their vector, German words. What is wrong is orange and dashed. The model has seen numbers of up to twelve
# words.
#
# > **Predict before you move the slider.** 465,721 and 465,722 differ in one word. How different will their stripes look?


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
# Eye and stripe are no good match. Better: take the vectors of many numbers, and look which are *near* each other. The map shows 128
# dimensions in two (the two directions in which the vectors scatter most, their **principal components**); the neighbours named are those in all
# 128.
#
# > **Predict before you choose.** Is the nearest neighbour of 72,000 a number of like *size*, as 73,000, or one that *reads* alike, as 72?

# %% slideshow={"slide_type": "fragment"}
numbers = sorted(
    {*draw_many(7, 300, 1, 12), *range(1, 100, 3), 21, 72, 72_000, 365, 1_999, 465_721}
)
spelled = [english(n).split() for n in numbers]
vectors = torch.stack([encode_by_hand(" ".join(words))[0] for words in spelled])
widgets.vector_map(
    vectors.numpy(),
    [f"{n:,}" for n in numbers],
    {
        "words": ([len(words) for words in spelled], "1 word", "12 words"),
        "size": ([float(torch.tensor(float(n)).log10()) for n in numbers], "1", "7 · 10¹⁴"),
        "first digit": ([int(str(n)[0]) for n in numbers], "1", "9"),
    },
    choices=[numbers.index(n) for n in (72_000, 21, 365, 1_999, 465_721)],
)

# %% slideshow={"slide_type": "fragment"}
distance = torch.cdist(vectors, vectors).fill_diagonal_(float("inf"))
nearest = distance.argmin(dim=1).tolist()
alike = {
    "the first word": lambda a, b: a[0] == b[0],
    "the last word": lambda a, b: a[-1] == b[-1],
    "the length": lambda a, b: len(a) == len(b),
}
shares, usual = {}, torch.pdist(vectors).mean()
moved = encode_by_hand(english(465_721)) - encode_by_hand(english(465_722))
apart, many = moved.norm(), int((moved.abs() > 0.05).sum())
print(f"465,721 and 465,722 are {apart:.1f} apart; any two numbers, on average, {usual:.1f}")
print(f"of the 128 numbers {many} differ by more than 0.05")
for what, same in alike.items():
    near = [same(spelled[i], spelled[j]) for i, j in enumerate(nearest)]
    any_two = [same(a, b) for i, a in enumerate(spelled) for b in spelled[:i]]
    shares[what] = (sum(near) / len(near), sum(any_two) / len(any_two))
    print(
        f"a number and its nearest share {what:15} {shares[what][0]:4.0%}   any two {shares[what][1]:4.0%}"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - One word of eleven moves the vector by 1.3, where two numbers are 8.9 apart on average: a small step, shared by 41 of the 128 cells. There is
#   no cell for "the last word".
# - 72. Neighbours share what was read *last*, and this encoder reads from right to left: 83 % of the numbers begin with the same word as their
#   nearest neighbour, 5 % of any two do. The last word, read first, counts for less: 12 %.
# - The shade "words" runs across the whole map: the vector says how much there is to write. 35 % of nearest neighbours are equally long, 10 % of any two.
# - So "thought" is a large word. The vector keeps *what has to be written, beginning with the beginning*; size, which a person would call the
#   meaning of a number, is not what it is sorted by. Nothing in the task asked for size.
# - Two directions show a fifth of the scatter in 128. What lies close on the map may lie far apart.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. The bottleneck, measured
#
# All that the decoder ever learns of the source passes through $c$, one vector of fixed width, whether the source has three words or thirty:
# a **bottleneck**. Is it too narrow? To say so we need a measure.
#
# How good is a translation? **BLEU** (Papineni et al. 2002) counts which words, pairs, groups of three and groups of four of it stand in the right
# answer, takes the geometric mean of the four shares, and lowers it if the text is too short. 100 is perfect.

# %% slideshow={"slide_type": "fragment"}
right = "vier hundert fünf und sechzig tausend"
for said in (
    right,
    "vier hundert sechs und fünfzig tausend",
    "tausend sechzig und fünf hundert vier",
):
    print(f"{corpus_bleu([said], [right]):6.1f}  {said}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# The second text says another number, 456,000 for 465,000, and has four of six words right; the third has all six words, in reverse, and no
# pair. (One share of 0 would make the whole mean 0. So where nothing is found, the program counts a little instead, as is usual.) BLEU is made for whole test sets, and for comparing like with like.
#
# Now two translators with one vector: one was trained on numbers of up to 12 English words, the other on up to 20. Both are tested on up to 29.
# (`python -m lectures.recipes numbers`; their encoder reads in *both* directions, and $c$ is the last states of both, side by side.)
#
# > **Predict before you run.** Where does each curve break, and does the second one hold up to 20 words?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
quality = stored("quality_by_length")["lines"]
one_vector = {name: by for name, by in quality.items() if name.startswith("one vector")}
show.curves(
    [4, 7, 10, 13, 16, 19, 22, 25, 28],
    {name: [at["bleu"] for at in by.values()] for name, by in one_vector.items()},
    x_title="English words in the number",
    y_title="BLEU",
    alt="Quality of translation against length for two translators with one vector. Both begin at 100 and fall "
    "steadily from 7 words on, the one trained on longer numbers more slowly.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Both fall from 7 words on. The one trained on up to 12 words is at 91 for 9 to 11 words, at 69 for 12 to 14, at 38 for 15 to 17.
# - Longer training numbers help, but do not mend it: at 18 to 20 words, *on lengths that it was trained on*, the second is at 52.
# - So it is not only that long numbers are new. It has the shape of Cho et al. (2014b) and of Bahdanau et al. (2015, figure 2), who suspected the
#   one vector. That it is the vector, and not the decoder's memory, this curve alone does not show; lecture 11 changes that one thing.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Idea 2, and a trick
#
# **Idea 2** (Cho et al. 2014): the decoder need not remember $c$ if it reads it again at every step,
#
# $$h^d_i = g(\hat y_{i-1},\, h^d_{i-1},\, c), \qquad \text{in code: the cell's input is } [\hat y_{i-1};\, c].$$
#
# **The trick** (Sutskever et al. 2014, section 3.3): reverse the source. The first source words then stand next to the first target words, and the
# gradient has a short way at the beginning. In their translation from English into French, BLEU rose from 25.9 to 30.6; *why* they could only
# guess.
#
# Four translators, on numbers of up to 12 words: idea 1, where $c$ is only the *initial* state, and idea 2, where it is read at *every step*, each with the
# source forwards and reversed. Each was trained three times, from other random beginnings (`python -m lectures.recipes thought_vector`).
#
# > **Predict before you run.** Which of the two helps more? If reversing helps, on which words of the target: the first, the last, all?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
measured = stored("thought_vector")


def mean(numbers):
    return sum(numbers) / len(numbers)


show.curves(
    [4, 7, 10, 13, 16, 19],
    {name: [100 * mean(by[at]) for at in list(by)[:6]] for name, by in measured["exact"].items()},
    x_title="English words in the number",
    y_title="right in every word, %",
    alt="Share of numbers right in every word against length, mean of three trainings, for four translators. "
    "All are at 100 % up to 8 words and near 0 from 19 on; at 13 words the one without either idea has 59 %, the one with "
    "both has 80 %.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
print("right in every word, in percent, one figure per training")
for name, by in measured["exact"].items():
    figures_of = {at: [round(100 * share) for share in by[at]] for at in ("9-11", "12-14")}
    print(
        f"  {name:22} 9 to 11 words {figures_of['9-11']}   12 to 14 words {figures_of['12-14']}"
    )

# %% [markdown] slideshow={"slide_type": "subslide"}
# And *where* in the target are the errors? At each place the words before it are given, the true ones:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
wrong = measured["wrong_by_place"]
show.curves(
    range(1, len(next(iter(wrong.values()))) + 1),
    {name: [100 * share for share in shares] for name, shares in wrong.items()},
    x_title="place in the target",
    y_title="wrong words, %",
    alt="Share of wrong words at each place of the target, for four translators. "
    "Without reversing, errors grow along the target, to 8 % at place 9; reversed, they are highest at place 5 and fall "
    "to 2 or 3 % at place 9.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **Both help, and they add up.** Of the numbers of 9 to 14 words 77 % are right with neither, 84 % with $c$ at every step, 87 % reversed, 89 % with
#   both. At 12 to 14 words, with either idea, all three reversed trainings are above all three that are not: that is not the luck of one
#   beginning.
# - Reversing costs nothing. Idea 2 costs a third more parameters (195,741 instead of 146,589); what of its gain is theirs, this does not show.
# - **Not where one expects it.** At the first four places reversing makes *more* errors, 1.0 % instead of 0.3 %; at places 7 to 10 it halves them, 2.2 %
#   instead of 4.4 %. Sutskever et al. were surprised in the same way: they had expected surer beginnings and worse ends, and found better long
#   sentences. They call it a better use of memory; that is a name for it, no explanation, and we have none either.
# - Errors go up and down from place to place. Odd places hold digits, even ones mostly "hundert" or "und", which grammar tells.
# - Beyond the trained lengths all four break down: at 15 to 17 words the best training has 24 %.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. The same network, other letters: from spelling to sound
#
# Nothing in the model knows that its task is translation. Given the CMU Pronouncing Dictionary, 112,000 English words with their **phonemes** (the sounds
# that tell words apart: K, AE, T for "cat"), the same class learns to read aloud. (`python -m lectures.recipes pronunciation`)
#
# > **Predict before you choose.** Which will it get wrong: long regular words, short irregular ones, names?

# %% slideshow={"slide_type": "fragment"}
reader, (letters, phonemes), card = checkpoint("pronunciation_initial")
dictionary = load_dictionary().test  # words that it was not trained on
chosen = sorted(dictionary)[::10]


def say_all(words):
    written = translate(reader, [letters.encode(word) for word in words], lambda n: 2 * n + 8)
    return [phonemes.decode(ids).split() for ids in written]


def of_word(word):
    with torch.no_grad():
        return (
            reader.encode(torch.tensor([as_source(letters.encode(word))])).recurrent[0, 0].numpy()
        )


spoken = dict(zip(chosen, say_all(chosen), strict=True))
wrong_words = [w for w in chosen if " ".join(spoken[w]) not in dictionary[w]]
shown = [*wrong_words[:: len(wrong_words) // 12][:12], *chosen[:: len(chosen) // 8]]
widgets.pronouncer(
    lambda word: say_all([word])[0], of_word, shown, lambda word: dictionary.get(word, [])
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
buckets = {"2-4": (2, 4), "5-6": (5, 6), "7-8": (7, 8), "9-10": (9, 10), "11 and more": (11, 99)}
by_length = {}
for name, (low, high) in buckets.items():
    here = [w for w in chosen if low <= len(w.replace("'", "")) <= high]
    wrong_here = [w for w in here if w in set(wrong_words)]
    edits = sum(min(edit_distance(spoken[w], p.split()) for p in dictionary[w]) for w in here)
    sounds = sum(len(dictionary[w][0].split()) for w in here)
    by_length[name] = (len(wrong_here) / len(here), edits / sounds)
    print(
        f"{name:>12} letters: {by_length[name][0]:4.0%} of words wrong, {by_length[name][1]:5.1%} of phonemes"
    )
print("of all test words (card):", card["figures"]["test"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Irregular spellings and names: a guess by rule, and the rule does not hold. Read its mistakes aloud: most are what a stranger would say.
# - Long words: of 5 or 6 letters 26 % are wrong, of 11 and more 64 %. More sounds, more chances to err, so look at the second column: per phoneme
#   the errors double, from 8.6 % to 17.3 %. The bottleneck again, milder, for words are short.
# - Over the whole test 40.9 % of the words have at least one wrong phoneme, 11.6 % of the phonemes are wrong.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# **What is left?** One vector, of a width that was chosen before the sentence was seen. Reading it more often does not make it wider. Lecture 11 lets the
# decoder look back at *all* the encoder's states instead.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. What are $h^d_0$ and $\hat y_0$?
# <details><summary>Answer</summary>The encoder's last state c, and the sign &lt;bos&gt;.</details>
#
# 2. The target is "ein und zwanzig". Write down what the decoder reads and what it has to predict.
# <details><summary>Answer</summary>Reads: &lt;bos&gt; ein und zwanzig. Predicts: ein und zwanzig &lt;eos&gt;.</details>
#
# 3. The loss of your new model is nearly 0 after a hundred steps, and it writes nothing sensible. What do you look at first?
# <details><summary>Answer</summary>Whether the target is shifted: it may be predicting the word that it reads.</details>
#
# 4. Why is the source reversed and the target not?
# <details><summary>Answer</summary>To bring the beginnings together. With both reversed the ends would be together, and the model would write
# backwards.</details>
#
# 5. Sources of 3 and of 7 words in one batch. Which state is the vector of the first, if the encoder reads from left to right?
# <details><summary>Answer</summary>The one after its third word (or its &lt;eos&gt;), not the one in the last column: those after it come from
# padding.</details>
#
# 6. With idea 2, how does the number of parameters change?
# <details><summary>Answer</summary>The cell's input grows by the width of c, so its input matrices do: for a GRU of width d by 3 · d · d.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write your own decoding and hand it to the widget; it is drawn beside the reference. This one is greedy search. Make it wrong: forget
# `<bos>` (begin with another word), or hand the *first* state on at every step instead of the last, and look what becomes of the German.


# %% slideshow={"slide_type": "skip"}
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

# %% [markdown] slideshow={"slide_type": "skip"}
# The assignment [`exercises/sequences/sequences.ipynb`](../exercises/sequences/sequences.ipynb) lets you build all the rest, and tells you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $c = h^e_n = h^d_0$ | $v$ (Sutskever et al.), $h_n$, thought vector, summary, sentence embedding | what the decoder gets |
# | $h^e_j$, $h^d_i$ | $h_j$, $s_i$ (lecture 11); $h_t$, $\bar h_s$ | states of encoder and decoder |
# | $\hat y_{i-1}$ | $y_{t-1}$, $x^D_{j}$, the previous output | the word that the decoder reads |
# | $h_i = g(\hat y_{i-1}, h_{i-1}, c)$ | $h_t = f(h_{t-1}, y_{t-1}, c)$ (Cho et al.), $s_j = \mathrm{LSTM}(s_{j-1}, [x, c])$ | idea 2 |
# | $f$, $g$ | RNN, GRU, LSTM, $\phi$ | the cells |
# | `<bos>`, `<eos>` | `<s>`, `</s>`, GO, START, STOP | where a text begins and ends |
# | right to left | reversed source, backward encoder | the order in which the encoder reads |
#
# **Sources.** Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural Networks, sections 2, 3.3 and 3.7. Cho et al. (2014), Learning
# Phrase Representations using RNN Encoder–Decoder, section 2.2. Kalchbrenner & Blunsom (2013), Recurrent Continuous Translation Models: an encoder and a
# decoder before either. Cho et al. (2014b), On the Properties of Neural Machine Translation: quality against length. Bahdanau, Cho & Bengio (2015),
# Neural Machine Translation by Jointly Learning to Align and Translate: the conjecture that the one vector is to blame. Papineni et al. (2002), BLEU.
# Vinyals & Le (2015), A Neural Conversational Model: dialogue. Vinyals et al. (2015), Show and Tell: captions. Yao & Zweig (2015),
# Sequence-to-Sequence Neural Net Models for Grapheme-to-Phoneme Conversion.

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **source**: The text (or sound, or image) that goes in.
# - **target**: The text that comes out.
# - **sequence-to-sequence model**: A language model of the target that has read a source: an encoder and a decoder.
# - **encoder**: the half of a network that reads; that of Bahdanau et al. reads in both directions and joins the two states of each word.
# - **decoder**: the half of a network that writes, one word at a time.
# - **thought vector**: The one vector that carries the whole source to the decoder, the encoder's last state.
# - **BLEU**: Which groups of one to four words of a text stand in the right answer; 100 is perfect.
# - **principal components**: The directions in which a set of vectors scatters most.
# - **bottleneck**: the one vector of fixed width through which everything that is known of the source must pass.
# - **phoneme**: a sound of a language that tells words apart; English has about 40.
