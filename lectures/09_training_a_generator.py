# %% [markdown] slideshow={"slide_type": "slide"}
# # Training a generator
#
# *The night is long.* Exchange one letter, *lung*, and ask a network that writes letter by letter to go on from both, with the same
# dice. In training it had always read the truth. Here it reads what stands there, and then what it wrote itself.
#
# <img src="figures/09_parted.svg" width="900" alt="Two texts of a character network, letter by letter. They begin alike but for one letter; from there on they have hardly a letter in common.">
#
# *White: the beginning that was given. Grey: letters that are equal all the same; blue and orange: those that are not. A slip at one step is read at the next, and so
# on to the end. Does training prepare a generator for that?*
#
# **After this lecture you can**
# - compute the loss of a text, word by word, and say what is summed and what is averaged;
# - say why a generator is trained on the truth and not on its own words, with measurements on both sides;
# - define exposure bias, and read a measurement of it;
# - write down the three schedules of scheduled sampling, and the objection to all of them;
# - retrieve a prototype and edit it.
#
# **You need** lecture 1 (log loss, perplexity), lecture 5 (recurrent networks, teacher forcing) and lecture 8 (drawing words from a
# model). Section 7 uses an encoder, a network that reads, and a decoder, one that writes; lecture 10 is about them.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 8 | 9 | 6 | 11 | 11 | 8 | 10 |
#
# Every cell runs in under ten seconds on a laptop, without a network connection. *To lecture from this notebook:*
# `make present ARGS=09` shows it slide by slide, widgets alive; short of time, skip the code of section 4 and section 7.
# *Coming from other slides or a paper?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import math

import torch
from IPython.display import HTML
from torch.nn import functional as F

from nlmcore.decoding import sample
from lectures.trained import checkpoint
from nlmcore.recurrent import RecurrentLM
from lectures import show, stored, widgets
from nlmcore.training import (
    exponential_decay,
    inverse_sigmoid_decay,
    linear_decay,
    scheduled_sampling_loss,
    teacher_forcing_loss,
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. What a text costs
#
# A generator predicts one word after the other. At each step it pays the **cross-entropy** between what came and what it expected. What
# came is one word $w_{t+1}$, so this is the logarithm of one probability; over the text the predictions are summed:
#
# $$L = \sum_{t=1}^{T} L_t, \qquad L_t = -\sum_{v} \mathbf 1[v = w_{t+1}] \ln \hat y_t[v] = -\ln \hat y_t[w_{t+1}].$$
#
# $e^{-L}$ is the probability of the whole text (lecture 1). For training, $L$ is divided by the number of predictions, so that long and
# short texts ask for steps of like size.

# %% slideshow={"slide_type": "skip"}
words_lm, words, card = checkpoint("word_lstm")  # a recurrent network over words of Shakespeare


def shown_as(token):
    """A token as a picture shows it: a line end, a space, a silent mark of the tokenizer."""
    return words.decode([token]).replace("\n", "↵").replace(" ", "␣") or "∅"


def losses(text):
    tokens = torch.tensor([[words.bos, *words.encode(text)]])
    if tokens.shape[1] < 2:
        raise ValueError("type a few words")
    with torch.no_grad():
        logs = words_lm(tokens)[0][0, :-1].log_softmax(-1)
    paid = -logs.gather(1, tokens[0, 1:, None])[:, 0]
    best = logs.exp().topk(4)
    expected = [
        [(shown_as(i), p) for i, p in zip(tokens_here, chances, strict=True)]
        for tokens_here, chances in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    return [shown_as(i) for i in tokens[0, 1:].tolist()], paid.tolist(), expected


line = "I have done the deed. Didst thou not hear a noise?"
_, paid, _ = losses(line)
library = teacher_forcing_loss(words_lm, torch.tensor([[words.bos, *words.encode(line)]]))
print(
    f"sum {sum(paid):.2f} nats, mean {sum(paid) / len(paid):.2f}; the library's mean: {library:.2f}"
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you look.** *I have done the deed. Didst thou not hear a noise?* (Macbeth's; the network has not read Macbeth.)
# > Which word costs most? Which costs next to nothing, and why? (In the picture ↵ is a line end, and ∅ a silent mark of the tokenizer.)

# %% slideshow={"slide_type": "subslide"}
widgets.loss_player(
    losses,
    [
        "I have done the deed. Didst thou not hear a noise?",
        "I have done the deed. Didst thou not hear a sword?",
        "My lord, the king is dead.",
        "The lord my king dead is.",
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - "Didst", 10.4 nats: a sentence may begin with anything. "thou" after it costs 0.5: it had to come.
# - *The lord my king dead is.* costs 43.0 nats over seven predictions, *My lord, the king is dead.* 25.4 over eight: the order is paid
#   for, too.
# - A high bar teaches most. The gradient at the scores is what was expected minus what came (lecture 3): next to nothing where the
#   word had to come.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the class type a sentence of its own and bet on the highest bar. What usually goes wrong: they take a high bar for a
# mistake of the model. It is a surprise, and a good model is surprised by what is surprising.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Plain training, and why it is not done
#
# In use, the generator reads what it wrote. So let it do the same in training, from the first day: draw a word, read it, draw the next,
# and pay at each step for the word that the *true* text has there. This is **free-running** training.


# %% slideshow={"slide_type": "fragment"}
def free_running_loss(model, tokens, generator):
    read, state, paid = tokens[:, :1], None, []
    for t in range(1, tokens.shape[1]):
        logits, state = model(read, state)
        paid.append(F.cross_entropy(logits[:, -1], tokens[:, t]))
        read = torch.multinomial(
            logits[:, -1].softmax(-1), 1, generator=generator
        )  # its own word
        # teacher forcing would be:  read = tokens[:, t : t + 1]
    return sum(paid) / len(paid)


# %% [markdown] slideshow={"slide_type": "fragment"}
# A small network learns to write first names, letter by letter, 600 updates of 64 names, three seeds each way
# (`python -m lectures.recipes free_running`). The held-out loss is measured as always, reading the true letters.
#
# > **Predict before you run.** (a) Which way has the lower loss at the end? (b) A third line needs no network: for each *place* of a name,
# > how frequent each letter is there, whatever stands before. Will free running beat it? (The fourth line is a mixture of both, and
# > the subject of section 5.)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
names = stored("free_running")
at = names["at"]
lines = {
    way: [sum(v) / len(v) for v in zip(*row["held_out"], strict=True)]
    for way, row in names["rows"].items()
}
lines["letters by their place alone"] = [names["by_place_alone"]] * len(at)
HTML(
    show.lines_svg(
        at,
        lines,
        alt="Held-out loss against the training step. Teacher forcing falls to 2.0; scheduled sampling falls with it at first "
        "and turns up again after step 250; free running stops after 100 steps on the line of letters by their place alone.",
        x_title="training step",
        y_title="held-out nats per letter",
        low=1.8,
        high=3.0,
        width=760,
    )
)

# %% slideshow={"slide_type": "fragment"}
for way, row in names["rows"].items():
    print(f"{way:18}", ", ".join(row["written"][:7]))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) Teacher forcing, 1.97; most of its names could be names, though "Macholee" or "Tiamabe" hardly are. (b) No: free running ends at 2.54 and so does the frequency of letters by place,
#   2.55. It has learned *nothing else*.
# - Why? What it reads is its own letter, which has nothing to do with the true name. So what it reads does not help to predict the true
#   next letter, and it learns to ignore it. Only the place remains.
# - It is also slower: each step must wait for the word that is drawn in the last one, about 14 ms per update where teacher forcing, which
#   reads all in one call, takes 8; for longer texts the difference grows. And noisier: its gradient's norm varies by 21 % of its mean
#   around it, against 11 %. It did not blow up; at this size, "unstable" is the wrong word.
# - The line in between is the way of section 5: it reads ever less truth, and ends near free running.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Teacher forcing, and the price
#
# **Teacher forcing** reads the truth, in training. In use there is no truth:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.beside(
        show.unrolled_svg(
            ["<bos>", "the", "night", "is"],
            ["a", "man", "was", "gone"],
            title="training: reads the truth",
            weights=False,
            alt="In training the inputs are the true words <bos> the night is, whatever the network would have said.",
        ),
        show.unrolled_svg(
            ["<bos>", "a", "man", "was"],
            ["a", "man", "was", "gone"],
            title="in use: reads its own words",
            weights=False,
            feedback=True,
            alt="In use an arrow leads from each output to the next input: a, man, was.",
        ),
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Trained so, it has never read a mistake of its own. Ranzato et al. (2016) call the difference between the texts it reads in training
# and in use **exposure bias**, and its feared consequence is **error accumulation**: after one slip it reads a text unlike any in
# training, so that the next slip is more probable.
#
# > **Predict before you open it.** Two things are said here: that the texts differ, and that errors therefore grow. Which of the two
# > needs a measurement?
#
# <details><summary><b>Answer</b></summary>
#
# The second. That the network never reads its own words in training is so by construction. How much it *matters* depends on the task, on
# how good the model is, and on whether anything brings it back, such as a source that it translates.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** Targets that are not shifted, a mean over padding (both in lecture 5), and a third mistake that looks harmless:
# > a model that is *evaluated* on its own words but with the loss of the true ones, at the same places. If it leaves out one word, every
# > later word counts as wrong. Align first.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Exposure bias, measured
#
# First by eye. Move the letter that is changed, or what it is changed into; "dice" draws other random numbers, the same ones for both
# texts.
#
# > **Predict before you move anything.** How many of the letters after the change will agree, place by place? Will the two texts meet
# > again?

# %% slideshow={"slide_type": "subslide"}
letters, chars, _ = checkpoint("char_lstm")


def go_on(text, seed):
    draw = torch.Generator().manual_seed(seed)
    prompt = torch.tensor([chars.encode(text)])
    return chars.decode(
        sample(letters, prompt, 90, temperature=0.6, generator=draw).tokens[0].tolist()
    )


widgets.parting_player(go_on, "MACBETH.\nThe night is long", ["u", "e", "i", "o", "a"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Mostly few agree. But now and then the two texts meet again: the dice are the same, and this network does not remember one letter
#   for ever. The next cell counts.
# - That is no *error*. Both go on in Shakespeare's letters; there is no one right continuation. To see errors one needs a task with an
#   answer.
# </details>

# %% slideshow={"slide_type": "subslide"}
begun_twice = ["MACBETH.\nThe night is long", "MACBETH.\nThe night is lung"]
agree, meet = [], 0
for seed in range(20):
    one, other = (go_on(text, seed) for text in begun_twice)
    agree.append(sum(a == b for a, b in zip(one, other, strict=False)) / len(one))
    meet += one[-15:] == other[-15:]
throws = [go_on(begun_twice[0], seed) for seed in range(20)]
chance = [sum(map(str.__eq__, throws[i - 1], throws[i])) / len(throws[i]) for i in range(20)]
print(f"20 throws: {sum(agree) / 20:.0%} of the letters agree on average; {meet} pairs end alike")
print(f"with other dice, from one beginning: {sum(chance) / 20:.0%}")

# %% [markdown] slideshow={"slide_type": "slide"}
# A task with an answer: from the letters of a word to its sounds (phonemes), by a recurrent network that has read the word and writes the
# sounds one by one. Words of 8 sounds or more; at every place, the share of wrong sounds, after the *true* beginning, and when it writes
# *alone* (`python -m lectures.recipes exposure_bias`).
#
# > **Predict before you run.** At the first place the two must be equal. And at the eighth?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
bias = stored("exposure_bias")["rows"]
forcing = bias["teacher forcing"]
places = list(range(1, 11))
HTML(
    show.lines_svg(
        places,
        {
            "after the true beginning": [100 * e for e in forcing["forced"]],
            "writing alone": [100 * e for e in forcing["free"]],
        },
        alt="Share of wrong phonemes by place, for the network trained by teacher forcing. Both lines begin at 4 percent; the "
        "one of writing alone lies above the other from the third place on, by 4 to 6 points at the end.",
        x_title="place in the word",
        y_title="% wrong",
        low=0,
        high=20,
        width=760,
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 7.3 % after the true beginning, 11.2 % alone. Reading its own sounds costs 0.4 points on average at the first three places and 4.5 at
#   the last three. There is an exposure bias, and it grows.
# - Both lines are highest in the middle of the word: *where* a sound stands matters more than whose sounds were read before it.
# - The two are not quite the same count: alone, sounds are aligned with the reference first, so that one too many costs only once.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# And what does one mistake cost? The network gets the true first two sounds and then, at the third place, the true one, or the most
# probable wrong one; from there on it writes alone. How many of the *later* sounds, aligned, are right?
#
# > **Predict before you run.** Five times as many mistakes after the slip, twice as many, or as many as before: it can still see the
# > word?

# %% slideshow={"slide_type": "fragment"}
from nlmcore.decoding import greedy
from lectures.recipes.pairs import load_dictionary
from lectures.recipes.exposure_bias import matched
from lectures.recipes.pairs import as_source, pad

speaker, (spelling, sounds), _ = checkpoint("pronunciation_initial")
entries = [(w, said[0]) for w, said in load_dictionary(limit=2500).test.items() if len(said) == 1]
entries = [(w, said) for w, said in entries if said.count(" ") >= 7]  # 8 sounds or more
source, source_mask = pad([as_source(spelling.encode(word)) for word, _ in entries])
truth, truth_mask = pad([sounds.encode(said) for _, said in entries])


begun = torch.cat([torch.full((len(truth), 1), sounds.bos), truth[:, :2]], dim=1)
with torch.no_grad():
    state = speaker.encode(source, source_mask)
    guesses = speaker(begun, state)[0][:, -1]
slip = guesses.scatter(1, truth[:, 2:3], -math.inf).argmax(-1)  # the most probable wrong third


def right_later(third):
    """Share of the sounds at places 4 to 8 that are right when this was the third."""
    with torch.no_grad():
        written = greedy(speaker, torch.cat([begun, third[:, None]], 1), 12, eos=2, state=state)
    hits = [
        matched([i for i in said if i > 2], [i for i in rest if i > 2])[:5]
        for said, rest in zip(written.tokens.tolist(), truth[:, 3:].tolist(), strict=True)
    ]
    return torch.tensor(hits).float().mean(0).tolist()


after_truth, after_slip = right_later(truth[:, 2]), right_later(slip)
print(f"{len(entries)} words; sounds wrong at places 4 to 8:")
print("after the true sound: ", [f"{1 - share:.0%}" for share in after_truth])
print("after the wrong sound:", [f"{1 - share:.0%}" for share in after_slip])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At the next place every second sound is wrong, 50 % instead of 14 %. Then it recovers, to 19 % against 11 % at the eighth: the word that
#   it is to pronounce stands behind it and brings it back. A text that simply goes on has no such support.
# - So errors do breed errors, and they die out again. How far they reach depends on the task; measure it for yours.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Scheduled sampling
#
# Bengio et al. (2015): begin with the truth and take it away little by little. At each step of the text a coin is thrown: with
# probability $\epsilon_i$ the network reads the true word, otherwise the one that it draws itself. $i$ counts training steps, and
# $\epsilon_i$ falls by one of three schedules (their section 2.4; $\epsilon$ without an index is a floor under the linear one, here 0):
#
# $$\text{linear } \epsilon_i = \max(\epsilon, k - c\,i), \qquad \text{exponential } \epsilon_i = k^i, \; k < 1, \qquad
#   \text{inverse sigmoid } \epsilon_i = \frac{k}{k + \exp(i/k)}, \; k \ge 1.$$
#
# This is **scheduled sampling**. To compare the three, each gets the constants with which half of the truth is gone at the same step $h$:
# $c = 1/(2h)$; $k = 2^{-1/h}$; and the $k$ for which $k \ln k = h$.


# %% slideshow={"slide_type": "fragment"}
def linear(i, half):
    return linear_decay(i, slope=0.5 / half)


def exponential(i, half):
    return exponential_decay(i, base=0.5 ** (1 / half))


def inverse_sigmoid(i, half):
    k = half / math.log(half)
    for _ in range(50):  # k ln k = half: find k by repeating k <- half / ln k
        k = half / math.log(k)
    return inverse_sigmoid_decay(i, k=k)


# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you move anything.** At step 400 all three are at one half. (a) Which of them is highest at step 100? (b) Which never
# > reaches 0? (c) If a step read its own word, must the next one read its own word, too?

# %% slideshow={"slide_type": "subslide"}
sentence = "My lord, the king is dead and all is lost."
tokens = [words.bos, *words.encode(sentence)]
pieces = ["<bos>"] + [shown_as(i) for i in tokens[1:]]
coins = torch.rand(len(tokens) - 1, generator=torch.Generator().manual_seed(142)).tolist()


def read_own(is_true):
    """What the network draws for each place, having read the true word where is_true says so."""
    draw = torch.Generator().manual_seed(5)
    own, own_id, state = [""], words.bos, None
    with torch.no_grad():
        for place, true in enumerate(is_true):
            read = tokens[place] if true else own_id
            logits, state = words_lm(torch.tensor([[read]]), state)
            own_id = torch.multinomial(logits[0, -1].softmax(-1), 1, generator=draw).item()
            own.append(shown_as(own_id))
    return own[:-1]


schedules = {"linear": linear, "exponential": exponential, "inverse sigmoid": inverse_sigmoid}
widgets.schedule_player(schedules, read_own, pieces[:-1], pieces[1:], coins)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Blue: the true word is read. Orange: the word that the network drew from its last prediction (∅: a silent mark of the tokenizer). Above,
# what each step pays for: always the true next word.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) The inverse sigmoid, 0.97 against 0.88 (linear) and 0.84: it holds on to the truth at first, then lets go. (b) The exponential one, and in
#   principle the inverse sigmoid; the linear one is at 0 at step 800.
# - (c) No. The coin is thrown for every word anew. (Bengio et al. also tried one coin per sentence, and found it much worse.)
# - The target does not know what was read: after an own word that fits nothing, the step still pays for the true next word. Section 6.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# In `nlmcore` it is a loss like any other, `scheduled_sampling_loss(model, tokens, epsilon)`: with $\epsilon = 1$ teacher forcing, with
# $\epsilon = 0$ free running.

# %% slideshow={"slide_type": "fragment"}
text = torch.tensor([tokens])
with torch.no_grad():
    for epsilon in (1.0, 0.5, 0.0):
        draw = torch.Generator().manual_seed(0)
        paid = [
            scheduled_sampling_loss(words_lm, text, epsilon, generator=draw).item()
            for _ in range(40)
        ]
        print(f"epsilon {epsilon:.1f}: {sum(paid) / 40:.2f} nats per word, mean of 40 draws")
    print(f"teacher forcing: {teacher_forcing_loss(words_lm, text):.2f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Does it help?
#
# Bengio et al. (2015) report better captions, parses and speech. Here, on letters to sounds: three trainings go on from one checkpoint for
# the same number of steps, two of them with a share of true sounds that falls by the inverse sigmoid, to 75 % or to 10 %.
#
# > **Predict before you run.** Which of the three makes the fewest mistakes when it writes alone?

# %% slideshow={"slide_type": "fragment"}
print(f"{'':28} {'sounds wrong, alone':>20} {'cost of own sounds, last 3 places':>34}")
for way, row in bias.items():
    extra = [100 * (alone - true) for alone, true in zip(row["free"], row["forced"], strict=True)]
    print(
        f"{way:28} {row['test']['phoneme_error_rate']:19.2f}% {sum(extra[-3:]) / 3:26.1f} points"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Teacher forcing: 11.06 %, against 11.17 % and 12.69 %. Scheduled sampling did **not** help here. The gap between reading the truth and
#   reading its own sounds hardly shrinks either: 4.5 points, then 5.1 and 4.2.
# - One task, one seed, one size: this does not refute the paper. It says that the remedy is not automatic; and in section 2, where the
#   share of truth fell to nearly 0, the names got worse and worse.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** (1) *The decay reversed*: $\epsilon$ is the share of **truth**, and it falls. A training that begins with the
# > network's own words begins with noise. (2) *One coin per sentence* instead of one per step. (3) *The gradient through the drawn words*:
# > there is none. To draw a word is no differentiable function, and the loss at step 5 cannot tell step 4 that another word would have
# > been the better one to draw. (Ranzato et al. 2016 use reinforcement learning for that.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Ask (c) before anybody moves a slider; half the room thinks that one slip decides the rest of the sentence's inputs. What
# usually goes wrong: ε taken for the share of own words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. The objection
#
# Huszár (2015): scheduled sampling does not even *aim* at the right model. Take the smallest language there is, two sentences, *A A* and
# *B B*, each with probability one half. The right model: the first letter is either, the second is the same as the first.
#
# Now read your own first letter with probability $1 - \epsilon$. It was drawn by itself and says nothing about the true sentence, so
# the true second letter is then the same or the other with probability one half each. Seen from the letter read, the target is the same
# with probability
#
# $$\epsilon \cdot 1 + (1 - \epsilon) \cdot \tfrac12 = \frac{1 + \epsilon}{2}.$$
#
# That, and not 1, is what the loss teaches.
#
# > **Predict before you run.** A small network trained so with $\epsilon = 1, \frac12, 0$: how many of the texts it writes are *A A* or *B B*?


# %% slideshow={"slide_type": "fragment"}
def share_of_right_texts(epsilon, steps=250):
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    model = RecurrentLM(3, "rnn", 4, 12)  # 0 begins a text; 1 is A, 2 is B
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(steps):
        first = torch.randint(1, 3, (128, 1), generator=draw)
        tokens = torch.cat([torch.zeros_like(first), first, first], dim=1)
        optimizer.zero_grad()
        scheduled_sampling_loss(model, tokens, epsilon, generator=draw).backward()
        optimizer.step()
    start = torch.zeros(4000, 1, dtype=torch.long)
    written = sample(model, start, 2, generator=draw).tokens
    return (written[:, 0] == written[:, 1]).float().mean().item()


shares = {epsilon: share_of_right_texts(epsilon) for epsilon in (1.0, 0.5, 0.0)}
for epsilon, share in shares.items():
    print(f"epsilon {epsilon:.1f}: {share:.1%} right texts   (formula {(1 + epsilon) / 2:.0%})")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - As the formula says. At $\epsilon = 0$ half of all texts are wrong: it has learned how frequent each letter is at each place, and to
#   ignore what it has read. That is the line of section 2, letters by their place, in its purest form.
# - Teacher forcing aims at the right model, if the network and the text are large enough. Its trouble is what happens *on the way* there,
#   to a model that makes mistakes. Scheduled sampling gives up the aim for help on the way; with a share of truth that stays high, as
#   in the 75 % of section 5, it gives up little, and here it gained nothing.
# - Large language models of today learn from text by teacher forcing, as far as is published. How much exposure bias still matters at
#   their scale is disputed.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Retrieve and edit
#
# Another way to help a generator: do not let it begin with nothing. Guu et al. (2018) observe that most sentences are much like one that
# somebody has written before. **Retrieve** such a sentence, the **prototype** $x'$, and **edit** it:
#
# $$P(x) = \sum_{x'} P(x') \int P(x \mid x', z)\, p(z)\, dz .$$
#
# $P(x')$ is the same for every prototype that could be retrieved. $z$ is an **edit vector**: what to do with the prototype. In training
# pairs it is made of the words that were put in and those that were taken out, with noise:
#
# $$z \approx \Big[\sum_{w \in x \setminus x'} e(w) \; ; \sum_{w \in x' \setminus x} e(w)\Big]$$
#
# Alike are two sentences that share words, by the **Jaccard similarity** of their sets of words, $J = |A \cap B| / |A \cup B|$;
# pairs with $J \ge 0.5$ are trained on.
#
# > **Predict before you run.** *what is the matter* and *what is the news*: what is $J$?

# %% slideshow={"slide_type": "fragment"}
from lectures.recipes.edit import ids, read_sentences, rewrite
from nlmcore.seq2seq import Retriever, jaccard

pair = [["what", "is", "the", "matter"], ["what", "is", "the", "news"]]
print("J =", jaccard(*pair))
sentences, new_sentences = read_sentences()
retriever = Retriever(sentences)
print(f"{len(sentences):,} sentences of Shakespeare to retrieve from")
for index, similarity in retriever.nearest(["how", "does", "my", "good", "lord"], 3):
    print(f"  {similarity:.2f}  {' '.join(sentences[index])}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Three words are shared, five there are in all: $3/5 = 0.6$. Order and repetition do not count.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# The editor is an encoder that reads the prototype and a decoder that writes, reads the edit at every step, and looks back at the
# prototype by attention (lecture 11). Ours has read 16,556 pairs (`python -m lectures.recipes edit`); theirs had
# learned from millions of sentences.
#
# > **Predict before you type.** *What is the matter*, insert "news", delete "matter". Then: *where is my lord*, insert "lady", delete
# > "lord". Then: *i will go to the king*, insert "queen", delete "king". Which of the three will it do?

# %% slideshow={"slide_type": "subslide"}
editor, editor_words, editor_card = checkpoint("edit")


def known(text):
    found = [editor_words.id(word) for word in text.lower().split()]
    if editor_words.unk in found:
        raise ValueError(f"the editor does not know every word of {text!r}")
    return torch.tensor([found], dtype=torch.long).view(1, -1)


def edit(sentence, insert, delete):
    near = retriever.nearest(sentence.lower().split(), 3)
    if not near:
        return [], ""
    prototype = sentences[near[0][0]]
    with torch.no_grad():
        z = editor.words_to_edit(known(insert), known(delete))
        (written,) = rewrite(editor, [ids(editor_words, prototype)], z)
    found = [(" ".join(sentences[index]), similarity) for index, similarity in near]
    return found, " ".join(editor_words.decode([i]) for i in written)


widgets.edit_player(
    edit,
    ["what is the matter", "where is my lord", "good night good night", "i will go to the king"],
    insert="news",
    delete="matter",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Where does it look in the prototype while it writes? (Rows: what is written; columns: the prototype; dark: much.)

# %% slideshow={"slide_type": "fragment"}
from nlmcore.inspect import capture

old, new = ["what", "is", "the", "matter", "<eos>"], ["what", "is", "the", "news", "<eos>"]
with torch.no_grad(), capture(editor) as tape:
    z = editor.words_to_edit(known("news"), known("matter"))
    state = editor.encode(torch.tensor([[*ids(editor_words, old[:4]), 2]]), edit=z)
    editor(torch.tensor([[1, *ids(editor_words, new[:4])]]), state)
looked = tape["seq2seq.decoder.attention"][0, 0]
HTML(
    show.heatmap_svg(
        looked,
        new,
        old,
        cell=52,
        alt="Attention of the editor: each word of 'what is the news' looks mostly at the word in the same "
        "place of 'what is the matter'; at 'news' the weight is spread over 'the', 'matter' and the end.",
    )
)

# %% slideshow={"slide_type": "subslide"}
held_out = editor_card["figures"]["held_out"]
print(
    f"{held_out['pairs']} sentences of the test plays that no training play has, each with its nearest prototype"
)
for name, value in held_out.items():
    print(f"  {name.replace('_', ' '):30} {value}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The first two, not the third: it writes *i will go to the king*. Matter and news, lord and lady, night and morrow were exchanged in
#   what it has read; king and queen hardly ever.
# - The attention picture is nearly a diagonal: it copies word by word. Where the new word is written the weights spread, for the
#   prototype has nothing to offer; the word comes from the edit.
# - In nats per word on new sentences: 7.24 with some other sentence as the prototype, 3.14 with the nearest one, 2.22 with the edit as
#   well. A prototype is worth much.
# - But what it *writes* is poor: 5.5 % of the new sentences come out word for word, and its BLEU (how much two texts have in common,
#   lecture 10) is 21, where the prototype left as it is has 28. It would do better to keep its hands off. On pairs that it was trained on,
#   42 against 26. Guu et al. report better perplexity and sentences that people prefer; at our scale half of that is to be seen.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A sentence has 3 words and `<eos>`, with probabilities 0.5, 0.5, 0.25, 1. What is its loss, summed and averaged?
# <details><summary>Answer</summary>ln 2 + ln 2 + ln 4 + 0 = 4 ln 2 = 2.77 nats; averaged over four predictions 0.69.</details>
#
# 2. In which line do free-running training and teacher forcing differ?
# <details><summary>Answer</summary>In what is read next: the own word or the true one. What is paid for is the same.</details>
#
# 3. $\epsilon_i = k^i$ with $k = 0.99$. When is half of the truth gone?
# <details><summary>Answer</summary>0.99^i = 0.5, i = ln 2 / 0.01005 = 69.</details>
#
# 4. Somebody trains with $\epsilon_i = 1 - k^i$. What happens?
# <details><summary>Answer</summary>The decay is reversed: the untrained network reads its own noise first, and the truth at the
# end.</details>
#
# 5. A model trained by teacher forcing writes well for ten words, then nonsense. Is this exposure bias?
# <details><summary>Answer</summary>Perhaps. Compare: does it go on well after ten words of *true* text? If not, it is simply a weak
# model.</details>
#
# 6. In the language of two sentences, $\epsilon = 0.8$: how many texts are wrong after long training?
# <details><summary>Answer</summary>1 − (1 + 0.8)/2 = 10 %.</details>
#
# 7. Two sentences with the same words in another order: what is $J$, and what can the edit vector say about the difference?
# <details><summary>Answer</summary>1; nothing: it is zero. What is inserted and deleted are sets of words.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# A schedule of your own. It gets the step and the step at which half of the truth should be gone, and returns the share of truth. It
# is drawn beside ours; reverse it, or make it jump, and see what is read.


# %% slideshow={"slide_type": "skip"}
def my_schedule(i, half):
    return max(0.0, 1 - 0.5 * i / half)  # change me


widgets.schedule_player(schedules, read_own, pieces[:-1], pieces[1:], coins, yours=my_schedule)

# %% [markdown] slideshow={"slide_type": "skip"}
# The assignment [`exercises/sequences/sequences.ipynb`](../exercises/sequences/sequences.ipynb) lets you build all the rest, from the loss of a text to scheduled sampling, and tells
# you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $L_t = -\ln \hat y_t[w_{t+1}]$ | $\mathcal L_t$, CE$(y_t, \hat y_t)$, $-\log P(y_t \mid y_{<t}, x)$ | the loss of one prediction |
# | $\epsilon_i$ | the same; "teacher forcing ratio" | the share of true words that are read |
# | $k, c, \epsilon$ | the same (Bengio et al. 2015) | constants of the schedules; the floor of the linear one |
# | free running | "always sampling"; inference mode | reads its own words |
# | exposure bias | train–test discrepancy | reads truth in training, itself in use |
# | $x', x, z$ | the same (Guu et al. 2018) | prototype, result, edit |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **free-running**: of training: the model reads words that it drew itself, and pays for the true ones.
# - **exposure bias**: the difference between what a generator reads in training, the truth, and in use, its own words.
# - **error accumulation**: one mistake makes the next one more probable.
# - **scheduled sampling**: training in which each word read is true with a probability that falls from step to step, and otherwise drawn by the model.
# - **prototype**: a sentence that was found, and is to be rewritten.
# - **retrieve**: to find what is most alike in a collection.
# - **edit vector**: a vector that says how a prototype is to be changed.
# - **Jaccard similarity**: the number of words that two sets share, divided by the number of words in either.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Williams & Zipser (1989), A Learning Algorithm for Continually Running Fully Recurrent Neural Networks. Bengio, Vinyals,
# Jaitly & Shazeer (2015), Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks, section 2.4. Huszár (2015), How (not)
# to Train your Generative Model: Scheduled Sampling, Likelihood, Adversary? Ranzato, Chopra, Auli & Zaremba (2016), Sequence Level
# Training with Recurrent Neural Networks. Guu, Hashimoto, Oren & Liang (2018), Generating Sentences by Editing Prototypes. Jaccard
# (1912), The Distribution of the Flora in the Alpine Zone.
