# %% [markdown] slideshow={"slide_type": "slide"}
# # Training a generator
#
# Take *The night is long*, change one letter to get *lung*, and let a network that writes letter by letter continue both texts with
# the same random seed. In training it read only Shakespeare. Now it reads this text, and then its own output.
#
# <img src="figures/parted.svg" width="900" alt="Two texts of a character network, letter by letter. They begin alike except for one letter; after it hardly any letters agree.">
#
# *The letters without colour are given. Grey marks later letters that agree; blue and orange mark those that differ. Whatever the
# network writes at one step, it reads at the next. Does training prepare a generator for reading its own output?*
#
# **After this lecture you can**
# - compute the loss of a text, word by word, and say what is summed and what is averaged;
# - say what a generator learns if it reads its own output in training, while the target is still the reference;
# - define exposure bias, and say why a gap between two error rates does not measure it;
# - write down the three schedules of scheduled sampling, and the objection to all of them;
# - say how a target can depend on what the generator wrote.
#
# **You need** [lecture 1](01_language_models.ipynb) (log loss, perplexity), [lecture 6](06_recurrent_networks.ipynb) (recurrent
# networks, teacher forcing) and [lecture 9](09_decoding.ipynb) (sampling from a model).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 8 | 9 | 6 | 11 | 12 | 10 | 8 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 85 minutes. Section 7 is for the curious and takes another 15; later you need it only for question 7 of *Check yourself*.
# Every cell runs in under ten seconds on a laptop, without a network connection. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Short of time: skip section 7 and the code of section 4.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import itertools
import math
import re
from statistics import mean

import torch
from IPython.display import HTML
from torch.nn import functional as F

from nlmcore.corpora import load
from nlmcore.decoding import sample
from nlmcore.pretrained import smollm2
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
# A generator predicts one word at a time. The loss of each step is the **cross-entropy** between the word that occurred, the
# *reference* $w_{t+1}$, and the distribution $\hat y_t$ that the model predicted. With a single reference word, the cross-entropy is minus the
# logarithm of one probability. We also say that a word *costs* its loss. The loss of the text is the sum:
#
# $$L = \sum_{t=1}^{T} L_t, \qquad L_t = -\sum_{v} \mathbf 1[v = w_{t+1}] \ln \hat y_t[v] = -\ln \hat y_t[w_{t+1}].$$
#
# $e^{-L}$ is the probability of the whole text ([lecture 1](01_language_models.ipynb)). For training, $L$ is divided by the
# number of predictions, so that the loss does not grow with the length of the text.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
words_lm, words, card = checkpoint("word_lstm")  # a recurrent network over words of Shakespeare


def shown_as(token):
    """A token as a picture shows it: a line end, a space, an invisible token."""
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
_, paid, expected = losses(line)
mixed, straight = (
    losses(text)[1] for text in ("The lord my king dead is.", "My lord, the king is dead.")
)
library = teacher_forcing_loss(words_lm, torch.tensor([[words.bos, *words.encode(line)]]))
print(
    f"sum {sum(paid):.2f} nats, mean {sum(paid) / len(paid):.2f}; the library's mean: {library:.2f}"
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
cost = {}
for piece, nats, likely in zip(losses(line)[0], paid, expected, strict=True):
    cost.setdefault(piece.strip(), nats)
    if piece.strip() == "Didst":
        line_end = dict(likely)["↵"]
asked = ["done", "deed", "Didst", "thou", "noise"]
show.predict(
    "*I have done the deed. Didst thou not hear a noise?* (It is from Macbeth, on which the network was not trained.) Which of these words costs most?",
    choices=asked,
    answer=max(asked, key=cost.get),
    why="Move the slider to it. What did the network expect there? (↵ is a line end, and ∅ an invisible token.)",
    reveals=widgets.loss_player(
        losses,
        [
            "I have done the deed. Didst thou not hear a noise?",
            "I have done the deed. Didst thou not hear a sword?",
            "My lord, the king is dead.",
            "The lord my king dead is.",
        ],
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - "Didst" costs most<!--[[? max(cost, key=cost.get) == "Didst"]]-->, 10.4<!--[[cost["Didst"]:.1f]]--> nats. The word after it, "thou", costs only 0.5<!--[[cost["thou"]:.1f]]-->. Where
#   "Didst" occurs, the network expects a line end with probability 0.73<!--[[line_end:.2f]]-->. It was not undecided there, but expected something else.
# - *The lord my king dead is.* costs 43.0<!--[[sum(mixed):.1f]]--> nats over seven<!--[[words(len(mixed))]]--> predictions, *My lord, the king is dead.* 25.4<!--[[sum(straight):.1f]]--> over eight<!--[[words(len(straight))]]-->. The scrambled
#   sentence costs more, although it lacks the comma and so has one token fewer. (Its capital letters differ as well.)
# </details>
#
# **A word that costs almost nothing teaches almost nothing.** The gradient with respect to the scores is the predicted distribution minus the one-hot
# target ([lecture 3](03_backpropagation.ipynb)), so it is nearly zero where the model was certain and right. No word of this line is so cheap.
# The cheapest is "thou"<!--[[? min(cost, key=cost.get) == "thou"]]-->, to which the network gave a probability of only 0.60<!--[[math.exp(-cost["thou"]):.2f]]-->.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the class type a sentence and bet on the highest bar. What goes wrong: they take a high bar for an error of the
# model. It is a surprise, and a good model is surprised by surprising words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Free-running training
#
# At inference the generator reads its own output. Why not train it that way? At each step it samples a word, which it reads at the next
# step, while the loss still asks for the reference word. This is **free-running** training.


# %% slideshow={"slide_type": "fragment"}
def free_running_loss(model, tokens, generator):
    read, state, paid = tokens[:, :1], None, []
    for t in range(1, tokens.shape[1]):
        logits, state = model(read, state)
        paid.append(F.cross_entropy(logits[:, -1], tokens[:, t]))
        read = torch.multinomial(
            logits[:, -1].softmax(-1), 1, generator=generator
        )  # its own output
        # teacher forcing would be:  read = tokens[:, t : t + 1]
    return sum(paid) / len(paid)


# %% [markdown] slideshow={"slide_type": "fragment"}
# A small network learns to write first names, letter by letter, in 600<!--[[at[-1]]]--> updates on 64 names each, with five<!--[[words(len(end["free running"]))]]--> seeds for each way of training
# (`python -m lectures.recipes free_running`). For the held-out loss both networks read the reference letters.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
names = stored("free_running")
at = names["at"][1:]
held_out = {way: [line[1:] for line in row["held_out"]] for way, row in names["rows"].items()}
end = {way: [line[-1] for line in lines] for way, lines in held_out.items()}
by_position = names["by_place_alone"]
ms = {way: mean(row["ms_per_step"]) for way, row in names["rows"].items()}
varies = {
    way: mean(deviation / norm for norm, deviation in row["gradient_norm"])
    for way, row in names["rows"].items()
}


def falling(ways, alt):
    """Held-out loss against the training step: the mean of five seeds, and a band over all of them."""
    return HTML(
        show.bands_svg(
            at,
            {way: held_out[way] for way in ways},
            alt=alt,
            x_title="training step",
            y_title="held-out nats per letter",
            low=1.9,
            high=2.7,
            level=by_position,
            width=760,
            columns=2,
        )
    )


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "A baseline that needs no network predicts every letter by its frequency at that *position* of a name, whatever precedes it. "
    f"Its loss is {by_position:.2f}. How does the final loss of free running compare with it?",
    choices={"0.5 lower": -0.5, "about the same": 0, "0.5 higher": 0.5},
    answer=mean(end["free running"]) - by_position,
    unit=" nats",
    why="What do the letters that the network sampled say about the reference name?",
    reveals=falling(
        ["teacher forcing", "free running"],
        "Held-out loss against the training step, five seeds each, bands hardly wider than their lines. Teacher forcing falls to "
        "2.0; free running stops after 100 steps at the thin line of letter frequencies by position.",
    ),
)

# %% slideshow={"slide_type": "fragment"}
for way in ("teacher forcing", "free running"):
    row = names["rows"][way]
    print(
        f"{way:16} {', '.join(row['written'][:7])}   (held out: {show.from_to(end[way], '{:.2f}')} nats)"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Teacher forcing ends at 1.96<!--[[mean(end["teacher forcing"]):.2f]]--> nats. Most of its names could be real, but hardly "Macholee" and "Tiamabe".
# - Free running ends at 2.54<!--[[mean(end["free running"]):.2f]]--> nats. Predicting by letter frequencies at each position has a loss of 2.55<!--[[by_position:.2f]]-->. The two differ by less than 0.01<!--[[? abs(mean(end["free running"]) - by_position) < 0.01]]-->.
# - All five
#   seeds lie within 0.02 nats of their mean<!--[[? all(abs(nats - mean(end[way])) < 0.02 for way in ("teacher forcing", "free running") for nats in end[way])]]-->.
# - Free running is also slower: about 15<!--[[ms["free running"]:.0f]]--> ms per update instead of 9<!--[[ms["teacher forcing"]:.0f]]-->. It must call the network once for each letter;
#   teacher forcing reads all positions in one call.
# - Free running is sometimes called unstable. Ours was noisier but did not diverge: its gradient norm varies by 21<!--[[100 * varies["free running"]:.0f]]--> % of its mean,
#   that of teacher forcing by 11<!--[[100 * varies["teacher forcing"]:.0f]]--> %.
# </details>
#
# **Free running cannot learn more than this.** The network samples its letters without looking at the reference name, so the letters
# that it reads carry no information about that name. The best prediction that is left is the frequency of each letter at its position.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Write the loop on the board without the line that says what is read next, and let the room fill it in for both kinds of
# training. What goes wrong: they expect the network to learn from its own mistakes. Ask what the loss compares.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Teacher forcing, and its price
#
# Under **teacher forcing** the network reads the reference words in training. At inference there are no reference words:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.beside(
        show.unrolled_svg(
            ["<bos>", "the", "night", "is"],
            ["a", "man", "was", "gone"],
            title="training: reads the reference",
            weights=False,
            alt="In training the inputs are the reference words <bos> the night is, whatever the network would have said.",
        ),
        show.unrolled_svg(
            ["<bos>", "a", "man", "was"],
            ["a", "man", "was", "gone"],
            title="inference: reads its own output",
            weights=False,
            feedback=True,
            alt="At inference an arrow leads from each output to the next input: a, man, was.",
        ),
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# A network trained this way has never read an error of its own. Ranzato et al. (2016) call the difference between the texts that
# it reads in training and at inference **exposure bias**. The feared consequence is **error accumulation**: after one error the
# network reads a text unlike any in training, which makes the next error more probable.
#
# > **Ask yourself.** Which of the two needs a measurement: that the texts differ, or that errors accumulate?
#
# <details><summary><b>Answer</b></summary>
#
# The second does. The first holds by construction, because under teacher forcing the network never reads its own output. Only an
# experiment can show whether this difference harms what it writes.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** You do not shift the targets, or your mean includes padding (both in
# > [lecture 6](06_recurrent_networks.ipynb)). A third mistake looks harmless: you compare what a model *writes* with the
# > reference, position by position. If the model leaves out one word, nearly every later word counts as wrong. Align the two texts first.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Cover the orange arrows of the second picture and ask where they go. What goes wrong: they take exposure bias for
# a measured effect. It is a difference in what is read; the next section asks what the difference does.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Can exposure bias be measured?
#
# We first compare two texts by eye, like those at the top. Choose a letter of the beginning and its replacement. The network continues both beginnings with the same random seed.
#
# > **Ask yourself.** How many of the letters after the change agree, position by position? Do the two texts ever meet again?

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
# - On average few letters agree<!--[[? mean(agree) < 0.25]]-->. But now and then the two texts meet again<!--[[? 1 <= meet < 10]]-->. With *different* random numbers and the same
#   beginning, none of the 20 pairs of texts that the next cell compares ends alike<!--[[? apart_again == 0]]-->.
# - A different text is not yet an *error*, because the beginning has no single right continuation. To see errors we need a task with a right answer.
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
apart_again = sum(throws[i - 1][-15:] == throws[i][-15:] for i in range(20))
print(f"20 seeds: {sum(agree) / 20:.0%} of the letters agree on average; {meet} pairs end alike")
print(
    f"two different seeds, same beginning: {sum(chance) / 20:.0%}; {apart_again} pairs end alike"
)

# %% [markdown] slideshow={"slide_type": "slide"}
# Here is a task with a right answer. A recurrent network reads the letters of a word and then writes its sounds (phonemes) one by one.
# For words of 8 sounds or more we count the wrong sounds at every position, once after the network has read the *reference* prefix, and once when the
# network writes *freely* (`python -m lectures.recipes exposure_bias`). Freely written sounds are first aligned with the reference, so
# that one extra sound counts only once.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
bias = stored("exposure_bias")["rows"]
forcing = bias["teacher forcing"]
extra = {  # percentage points, position by position
    way: [100 * (free - forced) for free, forced in zip(row["free"], row["forced"], strict=True)]
    for way, row in bias.items()
}
gaps = {way: mean(points[2:8]) for way, points in extra.items()}  # positions 3 to 8, same words
mostly_own = "scheduled sampling to 10%"
HTML(
    show.lines_svg(
        list(range(1, 9)),
        {
            "after the reference prefix": [100 * e for e in forcing["forced"][:8]],
            "writing freely": [100 * e for e in forcing["free"][:8]],
        },
        alt="Percentage of wrong phonemes at positions 1 to 8, for the network trained by teacher forcing. Both lines begin at 4; the "
        "one for writing freely lies above the other from the third position onwards, by about 4 points at the eighth.",
        x_title="position in the word",
        y_title="% wrong",
        low=0,
        high=20,
        width=760,
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# At the eighth position 7.3<!--[[100 * forcing["forced"][7]:.1f]]--> % of the sounds are wrong after the reference prefix, and 11.2<!--[[100 * forcing["free"][7]:.1f]]--> % when the network writes freely. Is this gap the price of
# never having read its own output?
#
# We test this measure on a model that has nothing left to learn. A tiny language has two sentences, *A A* and *B B*, each with
# probability one half. A *perfect* model of it knows that the first letter is A or B, and that the second equals the first.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
language = {"AA": 0.5, "BB": 0.5}
perfect_freely = sum(  # the model writes one sentence, the reference is another draw
    p * q * (one[1] != other[1]) for one, p in language.items() for other, q in language.items()
)
of_a_perfect_model = show.table(
    [("after the reference prefix", "0%"), ("when it writes freely", f"{perfect_freely:.0%}")],
    ["", "second letter wrong"],
)
show.predict(
    "The reference is a random sentence of the language. By how many percentage points does this perfect model's error rate at the second letter rise if it writes freely, instead of reading the reference's first letter?",
    choices={"none": 0, "about 25": 25, "about 50": 50},
    answer=100 * perfect_freely,
    why="What does the reference's first letter tell the model?",
    reveals=of_a_perfect_model,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **So this gap does not measure exposure bias.** Even a perfect model has a gap of 50 points, because a correct prefix contains information
# about the answer. The pronunciation model gives weaker evidence. We trained a copy of it further by the method of section 5, so that it
# read more and more of its *own* sounds, in the end 90 %. Over
# positions 3 to 8 the copy's gap is 2.8<!--[[gaps[mostly_own]:.1f]]--> points on average, as large as after teacher forcing<!--[[? round(gaps[mostly_own], 1) == round(gaps["teacher forcing"], 1)]]-->, but the copy
# also makes more errors after the reference prefix<!--[[? mean(bias[mostly_own]["forced"][2:8]) > mean(forcing["forced"][2:8])]]-->. (One run each.)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What does a single error cost?** We now compare the same words at the same positions, without and with an error. The network gets
# the first two reference sounds and then, at the third position, either the reference sound or the most probable wrong one. After
# that it writes freely. We align the whole word with the reference, because the wrong third sound may simply be the fourth sound,
# one position too early.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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


def wrong_later(third):
    """Word by word, which of the sounds at positions 4 to 8 are wrong when this was the third."""
    prefix = torch.cat([begun, third[:, None]], 1)
    with torch.no_grad():
        written = greedy(speaker, prefix, 12, eos=2, state=state).tokens
    said = torch.cat([prefix, written], 1).tolist()
    hits = [
        matched([i for i in one if i > 2], [i for i in reference if i > 2])[3:8]
        for one, reference in zip(said, truth.tolist(), strict=True)
    ]
    return 1 - torch.tensor(hits).float()


both = wrong_later(truth[:, 2]), wrong_later(slip)
after_truth, after_slip = ((100 * wrong.mean(0)).tolist() for wrong in both)
early = slip == truth[:, 3]  # the slip is the fourth sound, too early
in_other_words = (100 * (both[1] - both[0])[~early].mean(0)).tolist()  # percentage points

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
read = {"after the reference sound": after_truth, "after the wrong sound": after_slip}
later = show.table(
    [(what, *(f"{share:.0f}" for share in wrong)) for what, wrong in read.items()],
    ["% of sounds wrong at position", "4", "5", "6", "7", "8"],
    note=f"{len(entries)} words",
)
show.predict(
    "Take the error rate at the position right after the wrong sound, and the one at the same position after the reference sound. How many times as large is the first?",
    choices={
        "as large: it still has the word": 1,
        "about 3 times": 3,
        "about 10 times": 10,
    },
    answer=after_slip[0] / after_truth[0],
    why="Look at the rest of the row.",
    reveals=later,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At the next position 39<!--[[after_slip[0]:.0f]]--> % of the sounds are wrong, compared with 14<!--[[after_truth[0]:.0f]]--> % after the reference sound. The difference then shrinks from
#   position to position<!--[[? all(a > b for a, b in itertools.pairwise([s - t for s, t in zip(after_slip, after_truth, strict=True)]))]]-->, to 8<!--[[after_slip[-1] - after_truth[-1]:.0f]]--> points at the eighth.
# - For 24<!--[[100 * early.float().mean().item():.0f]]--> % of the words the "wrong third sound" is the fourth one, so a sound was skipped. Without the alignment of the whole word, everything
#   after it would count as wrong.
# - In the remaining words the difference is smaller at first, 15<!--[[in_other_words[0]:.0f]]--> points, but it hardly shrinks over the next two positions<!--[[? in_other_words[2] > in_other_words[0] - 2]]-->; at the eighth position it is 8<!--[[in_other_words[-1]:.0f]]--> points here as well.
# </details>
#
# **In this network an error makes further errors more probable. The effect fades along the word, but it is still there at the eighth position.** (One network, one task. We
# did not test why.) The literature is divided. He et al. (2021) let language models continue real prefixes, and prefixes
# that the models wrote themselves. They find that the latter do limited harm, which does not grow, and suggest that a model can
# *recover by itself*. Arora et al. (2022) do find that errors accumulate.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Change one letter with the class and let them shout when the texts meet. Then show the two lines, and let the room call
# the gap exposure bias before you ask about the perfect model. What goes wrong: they call every different letter an error.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Scheduled sampling
#
# Bengio et al. (2015) begin with the reference words and replace them little by little. At each position they toss a coin. With
# probability $\epsilon_i$ the network reads the reference word, otherwise a word that it samples itself. $i$ counts training steps, and
# $\epsilon_i$ falls according to one of three schedules (their section 2.4; $\epsilon$ without an index is a floor under the linear schedule,
# here 0):
#
# $$\text{linear } \epsilon_i = \max(\epsilon, k - c\,i), \qquad \text{exponential } \epsilon_i = k^i, \; k < 1, \qquad \text{inverse sigmoid } \epsilon_i = \frac{k}{k + \exp(i/k)}, \; k \ge 1.$$
#
# This is **scheduled sampling**. To compare the three, we choose the constants so that all of them reach one half at the
# same step $h$. The linear schedule has $k = 1$ and $c = 1/(2h)$, the exponential one $k = 2^{-1/h}$, the inverse sigmoid the $k$ that solves $k \ln k = h$.


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


# %% slideshow={"slide_type": "subslide"} tags=["lesson"]
sentence = "My lord, the king is dead and all is lost."
tokens = [words.bos, *words.encode(sentence)]
pieces = ["<bos>"] + [shown_as(i) for i in tokens[1:]]
coins = torch.rand(len(tokens) - 1, generator=torch.Generator().manual_seed(142)).tolist()


def read_own(is_true):
    """What the network samples at each position, having read the reference word where is_true says so."""
    draw = torch.Generator().manual_seed(5)
    own, own_id, state = [""], words.bos, None
    with torch.no_grad():
        for place, true in enumerate(is_true):
            read = tokens[place] if true else own_id
            logits, state = words_lm(torch.tensor([[read]]), state)
            own_id = torch.multinomial(logits[0, -1].softmax(-1), 1, generator=draw).item()
            own.append(shown_as(own_id))
    return own[:-1]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
schedules = {"linear": linear, "exponential": exponential, "inverse sigmoid": inverse_sigmoid}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "At step 400 all three schedules are at one half. Which of them is highest at step 100?",
    choices=list(schedules),
    answer=max(schedules, key=lambda name: schedules[name](100, 400)),
    why="Its curve is flat at first, then falls. If the network reads a sampled word at one step, must it read one at the next step as well?",
    reveals=widgets.schedule_player(schedules, read_own, pieces[:-1], pieces[1:], coins).opens(
        step=100, schedule="inverse sigmoid"
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Blue: the network reads the reference word. Orange: it reads a word sampled from its previous prediction (∅ is an invisible token).
# The top row has the target of each step, which is always the next reference word.*
#
# <details><summary><b>What to notice</b></summary>
#
# - The inverse sigmoid is highest, at 0.97<!--[[inverse_sigmoid(100, 400):.2f]]-->. The linear schedule is at 0.88<!--[[linear(100, 400):.2f]]-->, the exponential one at 0.84<!--[[exponential(100, 400):.2f]]-->.
# - Only the linear one ever
#   reaches 0, at step 800<!--[[? exponential(800, 400) > inverse_sigmoid(800, 400) > linear(800, 400) == 0]]-->.
# - Reading a sampled word at one step does not decide the next step, because the coin is tossed again for every word. (Bengio et al. also tried
#   one coin per sentence, and found it much worse.)
# </details>
#
# **The target does not depend on the word that was read.** Even after a sampled word that makes no sense, the loss asks for the next reference
# word. Section 6 says what follows from that.

# %% [markdown] slideshow={"slide_type": "subslide"}
# In `nlmcore` scheduled sampling is a loss like any other, `scheduled_sampling_loss(model, tokens, epsilon)`, where $\epsilon = 1$
# is teacher forcing and $\epsilon = 0$ is free running.

# %% slideshow={"slide_type": "fragment"}
text = torch.tensor([tokens])
with torch.no_grad():
    for epsilon in (1.0, 0.5, 0.0):
        draw = torch.Generator().manual_seed(0)
        sampled = [
            scheduled_sampling_loss(words_lm, text, epsilon, generator=draw).item()
            for _ in range(40)
        ]
        print(f"epsilon {epsilon:.1f}: {mean(sampled):.2f} nats per word, mean of 40 samplings")
    print(f"teacher forcing: {teacher_forcing_loss(words_lm, text):.2f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Does it help?
#
# Bengio et al. (2015) report better image captions, better parsing and better speech recognition. We try scheduled sampling on the names of section 2 with two schedules and
# five seeds each. All ways of training have the same learning rate; we did not tune it for each. In one schedule the fraction of reference letters falls to three quarters, in the other to nearly zero. How good are the names that the
# networks *write*? Each network samples 1,000 names, and we count the groups of three consecutive letters in them. What fraction of these *triples* is *known*, that is, occurs
# in the training names? (This is precision only: a network that wrote *Anna* a thousand times would get 100 %.)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
triples = {way: row["known_triples"] for way, row in names["rows"].items()}
scheduled = [mean(nats) for nats in zip(*held_out["scheduled sampling"], strict=True)]
best_first = ["teacher forcing", "scheduled sampling to 75 %", "scheduled sampling"]
apart = all(
    max(end[one]) < min(end[other]) and min(triples[one]) > max(triples[other])
    for one, other in itertools.pairwise(best_first)
)
written_names = show.table(
    [
        (way, show.from_to(nats, "{:.2f}"), show.from_to(triples[way], "{:.3f}"))
        for way, nats in end.items()
    ],
    ["", "held-out nats, 5 seeds", "known triples, 5 seeds"],
)
show.predict(
    f"After teacher forcing {mean(triples['teacher forcing']):.0%} of the triples are known. How many are known after scheduled sampling in which the fraction of reference letters falls to 75 %?",
    choices={"more, about 95 %": 95, "as many, about 90 %": 90, "fewer, about 83 %": 83},
    answer=100 * mean(triples["scheduled sampling to 75 %"]),
    unit=" %",
    why="Compare the three ways of training, seed by seed.",
    reveals=[
        written_names,
        falling(
            list(end),
            "Held-out loss against the training step, five seeds each. Teacher forcing is lowest, scheduled sampling to 75 percent a little "
            f"above it; scheduled sampling to nearly none falls until step {at[scheduled.index(min(scheduled))]} and then rises towards free running at the top.",
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - After scheduled sampling to 75 %, 83<!--[[100 * mean(triples["scheduled sampling to 75 %"]):.0f]]--> % of the triples are known instead of 90<!--[[100 * mean(triples["teacher forcing"]):.0f]]--> %.
# - If the network reads nearly only its own letters,
#   60<!--[[100 * mean(triples["scheduled sampling"]):.0f]]--> % of the triples are known. Every seed gives this order<!--[[? apart]]-->, in the held-out loss as well. Of the triples in
#   held-out real names, 96<!--[[100 * names["known_triples_of_held_out"]:.0f]]--> % are known.
# </details>
#
# **On these names scheduled sampling did not help.** It improved neither the loss nor the fraction of known triples. That does not refute the paper, whose
# tasks and models are different.

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** (1) *You reverse the decay*. $\epsilon$ is the fraction of **reference** words, and it falls. If training starts
# > on the network's own output, it starts on noise. (2) *You toss one coin per sentence* instead of one per step. (3) *You
# > expect a gradient through the sampled words*. Sampling is not differentiable, so the loss at step 5
# > cannot tell step 4 that a different word would have been better. (Ranzato et al. 2016 use reinforcement learning for that.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Ask whether one sampled word decides the rest of the inputs before anybody moves a slider.
# What goes wrong: they take ε for the fraction of sampled words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. The objection, and what follows
#
# Huszár (2015) objects that scheduled sampling does not even *aim* at the right model. Take the language *A A* and *B B* of section 4.
# The network reads the reference's first letter with probability $\epsilon$, otherwise a letter that it samples itself. The loss always
# asks for the reference's second letter.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def share_of_right_texts(epsilon, follow=False, steps=250):
    """Fraction of A A and B B; follow: the target of a letter that the network sampled is that letter."""
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    model = RecurrentLM(3, "rnn", 4, 12)  # 0 begins a text; 1 is A, 2 is B
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(steps):
        first = torch.randint(1, 3, (128, 1), generator=draw)
        tokens = torch.cat([torch.zeros_like(first), first, first], dim=1)
        if follow:
            own = sample(model, tokens[:, :1], 1, generator=draw).tokens
            logits, _ = model(torch.cat([tokens[:, :1], own], dim=1))
            loss = F.cross_entropy(logits.flatten(0, 1), torch.cat([first, own], 1).flatten())
        else:
            loss = scheduled_sampling_loss(model, tokens, epsilon, generator=draw)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    start = torch.zeros(4000, 1, dtype=torch.long)
    written = sample(model, start, 2, generator=draw).tokens
    with torch.no_grad():  # the second letter's distribution after A and after B
        after = model(torch.tensor([[0, 1], [0, 2]]))[0][:, 1].softmax(-1)
    return (written[:, 0] == written[:, 1]).float().mean().item(), after


trained_with = {epsilon: share_of_right_texts(epsilon) for epsilon in (1.0, 0.5, 0.0)}
shares = {epsilon: share for epsilon, (share, _) in trained_with.items()}
ignores = float((trained_with[0.0][1][0] - trained_with[0.0][1][1]).abs().max())
followed, _ = share_of_right_texts(0.0, follow=True)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
right_texts = show.table(
    [(f"{epsilon:.1f}", f"{share:.1%}") for epsilon, share in shares.items()],
    ["epsilon", "right texts"],
)
show.predict(
    "A small network is trained with $\\epsilon = 0.5$. What percentage of the texts that it writes are *A A* or *B B*?",
    choices={"about 50": 50, "about 75": 75, "nearly 100": 99},
    answer=100 * shares[0.5],
    unit=" %",
    why="What does the loss ask for after a letter that the network sampled itself?",
    reveals=right_texts,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The letter that the network samples is independent of the reference, so the reference's second letter equals it with probability one half.
# The network soon samples A and B about equally often, as in the reference. So given the letter that was read, the target is the same letter with probability
#
# $$\epsilon \cdot 1 + (1 - \epsilon) \cdot \tfrac12 = \frac{1 + \epsilon}{2}.$$
#
# The loss teaches this probability, not 1: 75 % at $\epsilon = 0.5$, and at $\epsilon = 0$ half of all texts are wrong<!--[[? all(abs(share - (1 + epsilon) / 2) < 0.04 for epsilon, share in shares.items())]]-->. At
# $\epsilon = 0$ the network's prediction is nearly the same after A as after B<!--[[? ignores < 0.1]]-->, so it has learned to ignore its input.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What would be right?** The harm does not come from the letter that the network reads. It comes from the target, which belongs to
# a different text. Let the network always read the first letter that it sampled, and let the target *follow* that letter. After A the target is A,
# whatever the reference says. Now 100<!--[[100 * followed:.0f]]--> % of its texts are right.
#
# Here we know the right target. In general a person or a program must judge the text that the generator wrote:
#
# | who judges | name |
# |---|---|
# | an expert who says what to do next | DAgger (Ross et al. 2011), from imitation learning |
# | a discriminator that tells from the hidden states whether the network reads the reference or its own output | Professor Forcing (Lamb et al. 2016) |
# | a score for the whole text, as in reinforcement learning | Ranzato et al. 2016; the training of assistants ([lecture 24](24_assistant.ipynb)) |
# | a larger model that predicts the next word | on-policy distillation (Agarwal et al. 2024) |
#
# **Does training prepare a generator for reading its own output? Teacher forcing aims at the right model, but never lets the generator read its own output.
# Scheduled sampling does, but with an unchanged target it aims at the wrong model. If a person or a program judges what the generator
# wrote and sets the target accordingly, training can do both, as it did in our language of two sentences.** We have not measured it on real texts.
# According to what their makers have published, large language models first learn from text by teacher forcing. Methods such as those in the
# table come later, if they are used at all.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Draw the table of four cases (reference sentence × letter read) on the board before the formula. What goes wrong: they say
# that the second letter "should" follow the letter that was read. It should, but the target does not; that is the last step.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. For the curious: retrieve, then edit or answer
#
# A generator need not start from a blank page. Guu et al. (2018) observe that many sentences resemble one
# that somebody has written before. **Retrieve** such a sentence, the **prototype** $x'$, and **edit** it:
#
# $$P(x) = \sum_{x'} P(x') \int P(x \mid x', z)\, p(z)\, dz .$$
#
# $P(x')$ gives the same probability to every prototype that can be retrieved. $z$ is an **edit vector**, which says how to change the prototype.
# A training pair consists of two sentences whose sets of words overlap by half or more, measured by the **Jaccard similarity**
# $J = |A \cap B| / |A \cup B|$. For such a pair, $z$ has two halves, the sum of the embeddings of the inserted words and the sum of those of
# the deleted words, plus noise.
#
# We trained an editor on pairs of sentences from Shakespeare. It reads the prototype and writes the new sentence
# ([lecture 11](11_sequence_to_sequence.ipynb) is about such models). Choose or type a sentence, a word to insert and a word to delete. The widget retrieves the most similar sentences, and the editor rewrites the first of them:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from lectures.recipes.edit import ids, read_sentences, rewrite
from nlmcore.seq2seq import Retriever, jaccard

editor, editor_words, editor_card = checkpoint("edit")
sentences, _ = read_sentences()
retriever = Retriever(sentences)


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


held_out_edits = editor_card["figures"]["held_out"]
overlap = jaccard(["what", "is", "the", "matter"], ["what", "is", "the", "news"])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
edits = [
    ("what is the matter", "news", "matter"),
    ("where is my lord", "lady", "lord"),
    ("i will go to the king", "queen", "king"),
]
done = [edit(*asked)[1] for asked in edits]
carried_out = sum(
    insert in result.split() for (_, insert, _), result in zip(edits, done, strict=True)
)
widgets.edit_player(edit, [sentence for sentence, _, _ in edits], insert="news", delete="matter")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - *what is the matter* and *what is the news* share three of five words, so $J$ = 0.6<!--[[overlap]]-->. Order and repetition do not count.
# - The widget offers three sentences. We asked for *news* instead of *matter*, for *lady* instead of *lord* and for *queen* instead of *king*. Of these requests, two<!--[[words(carried_out)]]--> lead to a sentence with the new word. We do not
#   know why the remaining one does not.
# - The *loss* depends strongly on the prototype. A new sentence costs 7.24<!--[[held_out_edits["nats_with_another_prototype"]:.2f]]--> nats per word with an unrelated prototype, 3.14<!--[[held_out_edits["nats_without_edit"]:.2f]]--> with the most similar training sentence,
#   and 2.22<!--[[held_out_edits["nats_with_edit"]:.2f]]--> with the edit vector as well.
# - But by BLEU, here the agreement with the target sentence, the sentences that the editor *writes* are worse than the prototypes that it
#   started from. Its sentences have a BLEU of 21<!--[[held_out_edits["bleu"]:.0f]]-->, the unchanged prototypes one of 28<!--[[held_out_edits["bleu_of_the_prototype"]:.0f]]-->. (One trained model; `python -m lectures.recipes
#   edit`.)
# - Guu et al., with millions of sentences, report a better perplexity than that of a language model without prototypes, and sentences
#   that people prefer. Our comparison tests neither.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **From prototypes to facts.** In **retrieval-augmented generation** (Lewis et al. 2020)
# a generator answers a question $x$ after reading the documents $z$ that were retrieved for it:
#
# $$P(y \mid x) = \sum_{z \,\in\, \text{the best } k} P(z \mid x)\; P(y \mid x, z).$$
#
# The sum now runs over documents. In the simplest form, the prompt just contains the retrieved documents before the
# question. Facts that change, or that no model has learned, are then kept in a collection and not in the weights.
#
# Here the collection consists of the lists of characters at the head of each play. Each question asks who a character is, and the generator is
# SmolLM2. We retrieve by word overlap, with $k = 1$.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
people = []  # (play, name, who that is), from the lists of characters
for document in load("shakespeare").documents:
    head, play = (
        re.split(r"\n(?:SCENE|ACT)", document.text, flags=re.I)[0],
        document.text.split("\n")[0],
    )
    for name, who in re.findall(r"^([A-Z][A-Z ]+), ([a-zA-Z][^.;\n]{14,60})[.;]?$", head, re.M):
        people.append((play.title(), name.title(), who))
by_words = Retriever([f"{name} {play}".lower().split() for play, name, _ in people])


def question(play, name):
    return f"Who is {name} in the play {play}? {name} is"


def retrieved(play, name):
    ((best, _),) = by_words.nearest(f"{name} {play}".lower().split(), 1)
    return "{}: {}, {}.\n".format(*people[best])


# %% slideshow={"slide_type": "fragment"}
def cost_of(answer, prompt):
    """Nats per token of an answer after a prompt."""
    read, said = llm_tokens.encode(prompt), llm_tokens.encode(" " + answer)
    with torch.no_grad():
        ln_p = llm(torch.tensor([read + said]))[0][0].log_softmax(-1)
    return -ln_p[len(read) - 1 : -1].gather(1, torch.tensor(said)[:, None]).mean().item()


# %% slideshow={"slide_type": "fragment"}
llm, llm_tokens = smollm2()
asked_about = people[7 :: len(people) // 8]
unrelated = retrieved(*people[0][:2])  # a control: one document, for all questions
costs = [
    [
        cost_of(who, document + question(play, name))
        for document in ("", unrelated, retrieved(play, name))
    ]
    for play, name, who in asked_about
]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
alone, control, with_document = (mean(column) for column in zip(*costs, strict=True))
chances = [  # P(the whole answer), with the retrieved document
    math.exp(-row[2] * len(llm_tokens.encode(" " + who)))
    for row, (_, _, who) in zip(costs, asked_about, strict=True)
]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
questions = [*(f"{name}, {who} ({play})" for play, name, who in asked_about), "mean"]
by_retrieval = show.table(
    [
        (what, *(f"{nats:.2f}" for nats in row))
        for what, row in zip(questions, [*costs, (alone, control, with_document)], strict=True)
    ],
    ["nats per token of the right answer", "no document", "unrelated one", "retrieved one"],
)
show.predict(
    f"Without a document the right answers cost {alone:.1f} nats per token. What do they cost after the retrieved document?",
    choices={"about 4": 4, "about 2": 2, "about 0: it only has to copy": 0},
    answer=with_document,
    unit=" nats",
    why="The document helps a lot. But nothing tells the model to copy it word for word.",
    reveals=by_retrieval,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The names of the play and of the person occur in the question, and word overlap finds the right line for all eight<!--[[words(len(asked_about))]]--> people<!--[[? all(who in retrieved(play, name) for play, name, who in asked_about)]]-->. Questions may also
#   use different words from the documents; then you can retrieve by vectors ([lecture 24](24_assistant.ipynb) compares the two).
# - An unrelated document, which has the *form* of an answer, saves less than one nat per token; the right one more than halves the
#   cost<!--[[? alone - control < 1 and with_document < alone / 2]]-->.
# - A low cost per token does not make the whole answer probable. For none of the eight<!--[[words(len(asked_about))]]--> people does the exact answer have a
#   probability above one percent<!--[[? max(chances) < 0.01]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes, if there is time. Ask who has used a chatbot that cites its sources, and where in the formula the citation is. What goes
# wrong: they believe that retrieval makes the answer true. Put a wrong line into the collection and ask again.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A sentence has 3 words and `<eos>`, with probabilities 0.5, 0.5, 0.25, 1. What is its loss, summed and averaged?
# <details><summary>Answer</summary>The sum is ln 2 + ln 2 + ln 4 + 0 = 4 ln 2 = 2.77<!--[[4 * math.log(2):.2f]]--> nats. Averaged over four predictions, it is 0.69<!--[[math.log(2):.2f]]-->.</details>
#
# 2. In which line do free-running training and teacher forcing differ?
# <details><summary>Answer</summary>They differ in the line that says what the model reads next, the sampled word or the reference word. The loss
# asks for the same word in both.</details>
#
# 3. Let $\epsilon_i = k^i$ with $k = 0.99$. After how many steps does the network read its own word half of the time?
# <details><summary>Answer</summary>After i = ln 2 / 0.01005<!--[[-math.log(0.99):.5f]]--> = 69<!--[[math.log(2) / -math.log(0.99):.0f]]--> steps, because then 0.99^i = 0.5.</details>
#
# 4. Somebody trains with $\epsilon_i = 1 - k^i$. What happens?
# <details><summary>Answer</summary>The decay is reversed. The untrained network reads its own noise, and the reference words come only
# at the end.</details>
#
# 5. A model trained by teacher forcing writes well for ten words, then nonsense. Is this exposure bias?
# <details><summary>Answer</summary>Not necessarily. Let it continue ten words of *real* text as well. If it writes nonsense there too,
# its own errors are not the cause.</details>
#
# 6. In the language of two sentences, with $\epsilon = 0.8$, what fraction of the texts is wrong after long training?
# <details><summary>Answer</summary>A fraction of 1 − (1 + 0.8)/2 = 10<!--[[100 * (1 - (1 + 0.8) / 2):.0f]]--> % is wrong.</details>
#
# 7. Two sentences have the same words in a different order. What is $J$, and what can the edit vector say about the difference?
# <details><summary>Answer</summary>J = 1. Apart from its noise, the edit vector is zero, because nothing is inserted or deleted; it cannot
# encode order.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Check yourself: 5 minutes, or homework. Discuss questions 4 and 5: both separate what the network reads from what the loss asks
# for. What goes wrong: in question 5 half a sentence of bad text is enough for them to say yes; ask for the control.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write your own schedule. It gets the current step and the step at which $\epsilon$ should be one half, and returns
# $\epsilon$, the fraction of reference words. The widget draws it next to ours. Reverse it, or make it jump, and see what the network reads.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Now you: 5 minutes at the keyboard. Ask for a schedule that starts at 0 and one that jumps, and have somebody read the orange
# words aloud. What goes wrong: they return the fraction of sampled words, so everything is upside down but looks plausible.*


# %% slideshow={"slide_type": "skip"}
def my_schedule(i, half):
    return max(0.0, 1 - 0.5 * i / half)  # change me


widgets.schedule_player(schedules, read_own, pieces[:-1], pieces[1:], coins, yours=my_schedule)

# %% [markdown] slideshow={"slide_type": "skip"}
# The assignment [`exercises/sequences/sequences.ipynb`](../exercises/sequences/sequences.ipynb) lets you build the rest, from the loss of a text to scheduled sampling, and tells
# you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $L_t = -\ln \hat y_t[w_{t+1}]$ | $\mathcal L_t$, CE$(y_t, \hat y_t)$, $-\log P(y_t \mid y_{<t}, x)$ | the loss of one prediction |
# | $\epsilon_i$ | the same; "teacher forcing ratio" | the fraction of reference words among those read |
# | $k, c, \epsilon$ | the same (Bengio et al. 2015) | constants of the schedules; the floor of the linear one |
# | free running | "always sampling"; inference mode | reads its own output |
# | exposure bias | train–test discrepancy | reads reference words in training, its own output at inference |
# | $x', x, z$ | the same (Guu et al. 2018) | prototype, result, edit |

# %% [markdown] slideshow={"slide_type": "notes"}
# *Notation: not for the room. One warning is worth saying aloud: programs call ε a teacher forcing ratio, and some of them count
# the sampled words instead. Half a minute.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **free-running**: training in which the model reads its own output, while the loss asks for the reference words.
# - **exposure bias**: the difference between what a generator reads in training (reference words) and at inference (its own output).
# - **error accumulation**: the effect that one mistake makes the next one more probable.
# - **scheduled sampling**: training in which each word read is the reference with a probability that falls during training, and otherwise sampled from the model.
# - **prototype**: a retrieved sentence that an editor rewrites.
# - **retrieve**: to find the most similar item in a collection.
# - **retrieval-augmented generation**: generating after reading documents that were retrieved for the question.
# - **edit vector**: a vector that says how to change a prototype.
# - **Jaccard similarity**: the number of words that two sets share, divided by the number of words in their union.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Williams & Zipser (1989), A Learning Algorithm for Continually Running Fully Recurrent Neural Networks. Bengio, Vinyals,
# Jaitly & Shazeer (2015), Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks, section 2.4. Huszár (2015), How (not)
# to Train your Generative Model: Scheduled Sampling, Likelihood, Adversary? Ranzato, Chopra, Auli & Zaremba (2016), Sequence Level
# Training with Recurrent Neural Networks. Ross, Gordon & Bagnell (2011), A Reduction of Imitation Learning and Structured Prediction to No-Regret
# Online Learning. Lamb et al. (2016), Professor Forcing: A New Algorithm for Training Recurrent Networks. He, Zhang, Zhou & Glass (2021), Exposure Bias versus
# Self-Recovery: Are Distortions Really Incremental for Autoregressive Text Generation? Arora, El Asri, Bahuleyan & Cheung (2022), Why Exposure Bias
# Matters: An Imitation Learning Perspective of Error Accumulation in Language Generation. Agarwal et al. (2024), On-Policy Distillation of Language Models: Learning from Self-Generated
# Mistakes. Guu, Hashimoto, Oren & Liang (2018), Generating Sentences by Editing Prototypes. Lewis et al. (2020),
# Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks. Jaccard (1912), The Distribution of the Flora in the Alpine Zone.
