# %% [markdown] slideshow={"slide_type": "slide"}
# # Decoding
#
# A language model has a probability for every text. It does not write one. *Which text shall it write?* "The most probable
# one" is a natural answer. It is nearly impossible to compute; there are good ways to come near it; and then:
#
# <img src="figures/08_aye.svg" width="860" alt="Probability of each of 96 tokens under SmolLM2. Shakespeare's line jumps between 0 and 1 and is low most of the time. The line of the text found by beam search climbs and stays near 1.">
#
# *Twelfth Night, act 1: Olivia mourns for her brother, and the clown answers. A real model, SmolLM2, gives every token of
# Shakespeare's text a probability (blue). Then it goes on by itself, with the most probable text that a beam search finds
# (orange): "Aye, aye, aye, aye, aye, aye, aye, aye, …"*
#
# **After this lecture you can**
# - say what decoding searches for, and why it cannot look at everything;
# - do greedy search and beam search by hand, and say when a beam may stop;
# - use a length penalty, and say which way its sign works;
# - cut a next-word distribution by temperature, top-k, top-p (nucleus), min-p and typicality;
# - choose between searching and sampling for a task, with reasons that were measured.
#
# **You need** conditional probabilities, logarithms and Python. From lecture 1: what a language model is, the chain rule, and the
# sign `<eos>` that ends a text. The models here are used, not explained; lecture 13 opens the large one.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 5 | 8 | 12 | 9 | 8 | 13 | 5 | 5 |
#
# *To lecture from this notebook:* `make present ARGS=08` shows it slide by slide; short of time, skip the wide beams of section 4
# and all of section 8. *Coming from other slides?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: the first model is a table of sixteen words, so that every number can be checked on the board. Do the
# first two steps of section 3 by hand before you touch the slider.*

# %% slideshow={"slide_type": "skip"}
import math

import ipywidgets
import torch

from nlmcore.decoding import (
    beam_search,
    contrastive_search,
    diverse_beam_search,
    exhaustive_search,
    greedy,
    minimum_bayes_risk,
    reshape,
    sample,
    speculative_sample,
    stochastic_beam_search,
    stream,
)
from nlmcore.pretrained import smollm2
from lectures.trained import checkpoint
from lectures import show, stored, widgets

torch.set_num_threads(1)  # sums in one order: what is drawn at random is the same every time

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. The most probable text
#
# **Decoding** means choosing a text with a language model. The model is given a **prompt**, the text so far, and is to write
# words $w_1, w_2, \dots$ after it, up to the sign `<eos>`, *end of sequence*. Take "the best text" to be the most probable one:
#
# $$\hat w_{1:n} = \underset{w_{1:n}}{\mathrm{argmax}}\; P(w_{1:n}) = \underset{w_{1:n}}{\mathrm{argmax}} \prod_{t=1}^{n}
#   P(w_t \mid w_1, \dots, w_{t-1}).$$
#
# ($\mathrm{argmax}$: not the largest value, but the text that has it. The prompt stands to the left of everything and is not
# written out.) There are $V^n$ texts of $n$ words from a vocabulary of $V$. SmolLM2, a small real model that you will meet in
# section 4, has 49,152 tokens; a **token** is a word or a piece of one.
#
# > **Predict before you run.** The Earth has about $10^{50}$ atoms. From how many tokens on are there more texts than atoms:
# > 11, 110 or 1,100?

# %% slideshow={"slide_type": "fragment"}
V = 49_152
print("tokens        texts   years at a billion texts per second")
for n in (1, 2, 3, 5, 10, 11, 20):
    print(f"{n:6} {float(V**n):12.0e}   {V**n / 1e9 / 3.15e7:12.0e}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b> (click after you have predicted)</summary>
#
# From 11 tokens on. Five tokens would already take nine million years. Looking at every text is **exhaustive search**; for a real
# vocabulary it is *prohibitive*. There is no general short cut, either: what comes next may depend on all words before, so no
# part of the problem can be solved once and used again.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Greedy, and where it fails
#
# **Greedy search** takes the most probable word, every time:
#
# $$w_t = \underset{w}{\mathrm{argmax}}\; P(w \mid w_1, \dots, w_{t-1}).$$
#
# That costs $n$ questions to the model, no more. To see what it loses, here is a model that is small enough to search
# completely: sixteen words, and the next word depends only on the last one. Each row of the table sums to 1.

# %% slideshow={"slide_type": "fragment"}
follows = {
    "home": {"without": 0.45, "with": 0.30, "penniless": 0.25},
    "without": {"any": 0.6, "a": 0.4},
    "with": {"no": 0.7, "little": 0.3},
    "penniless": {"<eos>": 0.96, "indeed": 0.04},
    "any": {"money": 0.6, "means": 0.4},
    "a": {"penny": 0.8, "plan": 0.2},
    "no": {"money": 0.9, "plan": 0.1},
    "little": {"money": 1.0},
    "money": {"<eos>": 0.7, "at": 0.3},
    "penny": {"<eos>": 0.9, "at": 0.1},
    "at": {"all": 1.0},
}  # after every other word the text ends

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you run**, with the table and a pencil. The prompt is "she came home". Which sentence does greedy search
# > write, and what is its probability? Do you see a more probable one?

# %% slideshow={"slide_type": "fragment"}
words = [
    "<eos>",
    *dict.fromkeys(w for w, row in follows.items() for w in (w, *row) if w != "<eos>"),
]
number = {word: i for i, word in enumerate(words)}
table = torch.zeros(len(words), len(words))
for word in words:
    for after, p in follows.get(word, {"<eos>": 1.0}).items():
        table[number[word], number[after]] = p

# %% [markdown] slideshow={"slide_type": "fragment"}
# That is the table as a matrix. Around it goes the one function that every model of this course is,
# `logits, state = model(tokens, state)`:


# %% slideshow={"slide_type": "fragment"}
class TableLM:
    vocab_size = len(words)

    def __call__(self, tokens, state=None):
        return table.log()[tokens], tokens[:, -1]


EOS, prompt = 0, torch.tensor([[number["home"]]])
written = greedy(TableLM(), prompt, 6, eos=EOS)
print(
    "greedy:",
    *[words[i] for i in written.tokens[0].tolist()],
    f"  P = {written.log_prob[0].exp():.4f}",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# *without any money* `<eos>`: $0.45 \cdot 0.6 \cdot 0.6 \cdot 0.7 = 0.1134$. But *penniless* `<eos>` has $0.25 \cdot 0.96 =
# 0.24$, more than twice as much, and says the same in one word.
# </details>
#
# Here all texts can be looked at. `exhaustive_search` scores every one, and they come best first:

# %% slideshow={"slide_type": "fragment"}
every = exhaustive_search(TableLM(), prompt, 6, eos=EOS, limit=16**6)[0]
for found in every:
    print(f"{math.exp(found.log_prob):.4f}  ", *[words[i] for i in found.tokens])
print(len(every), "texts, of", f"{16**6:,} that six tokens from sixteen could make;", end=" ")
print(f"together {sum(math.exp(found.log_prob) for found in every):.4f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Greedy search **never starts with an improbable word**, and here the best text starts with the least probable of the three.
# - It **prefers many common words to one rare one**: "without" looks better than "penniless" because many sentences share it.
#   Their mass is then split again and again.
# - It cannot go back. It is not a bad rule for each single word; it answers another question than the one that was asked.
# - The thirteen probabilities sum to 1: with `<eos>`, a language model divides one unit among whole texts (lecture 1).
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Beam search
#
# Keep not one beginning but the $b$ best. Such a beginning is a **hypothesis**, the $b$ of them are the **beam**, and $b$ is the
# **beam size**: this is **beam search**. One step:
#
# 1. *Extend* every hypothesis of the beam $B_{t-1}$ by every word.
# 2. *Score* each extension by the probability of the **whole** text so far.
# 3. *Keep* the $b$ best; **prune** (drop for good) the rest. What ends in `<eos>` is finished and is put aside.
#
# $$B_t = \text{the } b \text{ best of } \{(y, w) : y \in B_{t-1},\; w \in V\} \text{ by } \ln P(y, w)
#   = \ln P(y) + \ln P(w \mid y)$$
#
# Logarithms, because a product of many small numbers is soon zero for a computer; sums of logarithms are not:

# %% slideshow={"slide_type": "fragment"}
print("0.01 multiplied 200 times:", math.prod([0.01] * 200))
print("200 times ln 0.01, added: ", round(200 * math.log(0.01), 1))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **By hand, with $b = 2$.** Kept hypotheses are bold.
#
# | step | candidates, with the probability of the whole text | beam |
# |---|---|---|
# | 1 | **without** 0.45, **with** 0.30, penniless 0.25 | without, with |
# | 2 | **without any** 0.45 · 0.6 = 0.27, **with no** 0.30 · 0.7 = 0.21, without a 0.18, with little 0.09 | without any, with no |
# | 3 | **with no money** 0.21 · 0.9 = 0.189, **without any money** 0.27 · 0.6 = 0.162, without any means 0.108, with no plan 0.021 | with no money, without any money |
# | 4 | with no money `<eos>` 0.189 · 0.7 = 0.1323, finished; without any money `<eos>` 0.1134, finished; … | the rest has at most 0.0567: stop |
#
# In step 3 the order turned round: what was second is now first. Greedy search could not have seen that.
#
# > **Predict before you move the slider.** The beam of 2 finds 0.1323, better than greedy's 0.1134. A beam of 3 keeps "penniless",
# > too, and finishes it in step 2 with 0.24. May the search stop there? If not, after which step?


# %% slideshow={"slide_type": "fragment"}
def search(b):
    """The tree that a search with a beam of b walked."""
    if b == 1:
        return greedy(TableLM(), prompt, 6, eos=EOS, trace=True)[1]
    found = beam_search(TableLM(), prompt, 6, eos=EOS, beam_size=b, num_hypotheses=1, trace=True)
    return found[1]


widgets.beam_player(search, lambda i: words[i], prompt="she came home")

# %% [markdown] slideshow={"slide_type": "fragment"}
# *In a box: the word, its probability after the text before it, and below $P$ and $\ln P$ of the whole text. Odd half-steps show
# the candidates, even ones what became of them.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Not in step 2: "without any" still has 0.27, and might end above 0.24. In step 3 the best open text has 0.189: now nothing can
#   win any more.
# - With $b = 2$ "penniless" was lost at step 1, third of three. Nothing later can bring it back.
# - Beam search promises nothing: it is a heuristic. With $b = 1$ it is greedy search; a beam so wide that nothing is ever pruned is
#   exhaustive search.
# - It costs $b \cdot n$ questions to the model instead of $V^n$.
# </details>

# %% slideshow={"slide_type": "subslide"}
for b in (1, 2, 3):
    best = beam_search(TableLM(), prompt, 6, eos=EOS, beam_size=b, num_hypotheses=1)[0][0]
    print(f"b = {b}: P = {math.exp(best.log_prob):.4f}  ", *[words[i] for i in best.tokens])

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** Three mistakes that every implementation makes once. *Adding probabilities* instead of their logarithms:
# > the sum grows with every word, so that long texts win and the most probable single word drags along whatever follows it.
# > *Ranking by the last word alone* instead of the whole text: that is greedy search $b$ times. *Dropping a hypothesis when it
# > writes* `<eos>`, because it cannot be extended: the best text is then lost at the moment it is finished. (The opposite mistake
# > is to extend it, and to write on after the end.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. When to stop, and how long a text gets
#
# **When to stop?** Not at the first `<eos>`: with $b = 3$, "penniless" was finished with 0.24 while "without any" stood at 0.27.
# But every further word multiplies by a number of at most 1, so an open text can only fall. As soon as the best finished text
# is above the best open one, the search may stop, and loses nothing. A largest length stops it in any case.
#
# That same fact has a second consequence: **every word costs probability, so short texts win.** A remedy is to divide by a power of
# the length, the **length penalty** (Wu et al. 2016, section 7, in a simpler form):
#
# $$\mathrm{score}(y) = \frac{\ln P(y)}{|y|^{\alpha}}, \qquad \alpha = 0: \text{probability}, \quad \alpha = 1:
#   \text{mean } \ln P \text{ per token.}$$
#
# Now a real model: SmolLM2, 135 million parameters, on your disk. A beam of 6 completes a sentence; the full stop is its `<eos>`.
# The search runs with $\alpha = 1.5$, so that it does not stop before it has long texts, and all that it finished are kept.


# %% slideshow={"slide_type": "fragment"}
def score(log_prob, length, alpha):
    return log_prob / length**alpha


llm, tokenizer = smollm2()
stop = tokenizer.encode(".")[0]
rain = "When the rain stopped, the children"
_, tree = beam_search(
    llm,
    torch.tensor([tokenizer.encode(rain)]),
    14,
    eos=stop,
    beam_size=6,
    length_penalty=1.5,
    trace=True,
)
ended = [node for node in tree.nodes if node.status == "finished" and node.token == stop]
sentences = [tokenizer.decode(tree.path(node)).strip() for node in ended]

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you move the slider.** The scores are negative numbers. From which $\alpha$ on does a long sentence lead, 0.1, 0.5
# > or 1? And what would a *negative* $\alpha$ do?

# %% slideshow={"slide_type": "fragment"}
lengths, log_probs = [node.step for node in ended], [node.log_prob for node in ended]
widgets.length_penalty_player(score, sentences, lengths, log_probs)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Dividing a negative number by a larger one brings it nearer to 0, which is *more*: a larger $\alpha$ favours longer texts. A
#   negative $\alpha$ multiplies instead, and punishes length twice.
# - At $\alpha = 0$ a sentence of 7 tokens leads; from $\alpha = 1$ on one of 14 tokens does. Neither is *right*: $\alpha$ is
#   chosen so that lengths come out as they are in good texts.
# - With a penalty the stopping rule changes, too: an open text may now gain by growing. One asks what it would score if it lost
#   no more probability up to the largest length. (`nlmcore` does.)
# </details>
#
# > **What goes wrong.** $\ln P \cdot |y|^{\alpha}$, or a penalty that is *subtracted* once per word: the wrong sign, and the empty text
# > wins. The other classic: forgetting whether `<eos>` counts in $|y|$. Either is a choice; it must be the same for all.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Is a wider beam better?** It finds more probable texts. For translation Stahlberg & Byrne (2019) searched exactly and found that
# for more than half of their sentences the most probable translation of all was *empty*: `<eos>` at once. Koehn & Knowles (2017)
# had seen quality fall with wide beams, the **beam search curse**. Is it so here? Two of the course's small translators (lecture 10
# trains them): numbers in words into German, measured by BLEU, the agreement with the right answer, up to 100; and spelling into
# *phonemes*, the sounds of a word, measured by errors. `python -m lectures.recipes dullness` measures it again.
#
# > **Predict before you run.** Beams from 1 to 256: at which is the quality best, and does the widest one do harm?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
measured = stored("dullness")
for part in measured["wide_beams"].values():
    print(part["what"])
    print("  beam     mean ln P   quality   length, of the reference's   empty")
    for beam, row in part["beams"].items():
        numbers = f"{row['log_prob']:9.3f}  {row['quality']:8.2f}  {row['length']:14.1%}  {row['empty']:17.0%}"
        print(f"  {beam:>4}  {numbers}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - $\ln P$ rises with the beam, as it must, and from 64 on nothing more probable is found.
# - **No curse here.** Into German, BLEU climbs from 57.8 with greedy search
#   to 65.0 with a beam of 4 and 66.6 with 64. For phonemes a beam of 2 is best, 10.8 % errors; wider ones are worse by 0.2 points.
#   Nothing empty was ever found.
# - Why not? These tasks have one right answer, and the models know a few words very well. Where a sentence can be said in a thousand
#   ways, each way has a thousandth of the probability, and one dull alternative can be more probable than any of them.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Is the most probable text a good text?
#
# For a translation there is one meaning to be said. For a story there is not. Holtzman et al. (2020) let a model continue texts by
# beam search and looked at the probability of every token, beside those that a person had chosen. We do the same: passages from
# three plays by Shakespeare are cut after 48 tokens, and SmolLM2 writes 96 more.
#
# The picture at the beginning is one of these passages. Now other ways to go on: *sampled* draws every token at random with the model's
# probabilities; two more buttons do so after cutting something off (section 6).
#
# > **Predict before you click.** Over all passages, which way of writing comes nearest to Shakespeare's mean probability per token:
# > the beam, greedy search, or drawing at random?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
example = measured["example"]


def beside_shakespeare(way):
    """Probability of each token: Shakespeare's text and that of one way of decoding, and the text."""
    lines = {
        "Shakespeare": example["Shakespeare"]["probabilities"],
        way: example[way]["probabilities"],
    }
    places = list(range(1, len(lines[way]) + 1))
    rows = measured["rows"]["SmolLM2"]
    says = "; ".join(
        f"{name}: {rows[name]['probability']:.2f} per token over all passages" for name in lines
    )
    chart = show.lines_svg(
        places,
        lines,
        low=0,
        high=1,
        x_title="place in the continuation",
        y_title="probability of the token",
        width=860,
        height=340,
        alt=f"Probability of each of {len(places)} tokens under SmolLM2, Shakespeare's text beside {way}. {says}.",
    )
    return chart + show.said(says) + show.said(f"{way} writes: {example[way]['text']}")


ways = [way for way in example if way not in ("prompt", "Shakespeare")]
widgets.live(
    beside_shakespeare,
    way=ipywidgets.ToggleButtons(
        options=ways, description="beside", style={"button_width": "auto"}
    ),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# One passage is an anecdote. Over all of them, and for a second model:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
for model, rows in measured["rows"].items():
    count = measured["passages"][model]
    print(
        f"{model}, {count} passages   per token   first 12   last 12   tokens below 0.01   repeated"
    )
    for way, row in rows.items():
        along = f"{row['along'][0]:10.2f} {row['along'][-1]:9.2f}"
        print(
            f"  {way:24} {row['probability']:8.2f} {along} {row['improbable']:15.0%} {row['repeated']:14.0%}"
        )

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Per token: the geometric mean of the model's probabilities. Repeated: the share of groups of four tokens that stood in the same
# continuation before. bpe_gpt is the course's own small model, which has read the other plays. Sampled: drawn at random with the
# model's probabilities; the two lines above it are ways of drawing that section 6 explains.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The beam's tokens have 0.72 each, Shakespeare's 0.03. People do not write what is most probable: what the reader knows already
#   need not be said.
# - The beam repeats itself: 80 % of its groups of four tokens, Shakespeare 4 %. And the probability *climbs* along the text, from
#   0.36 over the first twelve tokens to 0.92 over the last: each "aye" makes the next one more probable. Greedy search does the same.
# - Drawing from the whole distribution gives SmolLM2 0.03 per token, as Shakespeare has. For the small model that knows Shakespeare's
#   other plays, the two agree to two digits: 0.024 and 0.024. Human text lies where the model's *samples* lie, not where its maximum is.
#   Toss a coin that shows heads with 0.6 a hundred times: the most probable result is a hundred heads. You will never see it.
# - That does not make a sample good text (click on "sampled" and read). A third of its tokens have a probability below 0.01, and
#   this model is not good enough to write such words in the right places. The ways of section 6 stand between.
# - Sixteen passages, three plays, a small model, which may have read Shakespeare. The shape is that of Holtzman et al. (figure 2).
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Sampling, and what to cut off
#
# The alternative to searching is **sampling**: draw the next word at random, with the model's probabilities,
#
# $$w_t \sim P(\cdot \mid w_1, \dots, w_{t-1}).$$
#
# A text that is drawn so is as surprising as the model believes texts to be. But the model is not perfect, least of all where it
# has seen little: the *tail* of the distribution, thousands of words of tiny probability each. One of them is drawn every few
# words, and a sentence does not survive many of them. So the distribution is **reshaped** first:
#
# | name | what is done | source |
# |---|---|---|
# | **temperature** $T$ | divide the model's scores (*logits*) by $T$ before the softmax; below 1 sharpens, above 1 flattens | Ackley et al. 1985 |
# | **top-k** | keep the $k$ most probable words | Fan et al. 2018 |
# | **top-p**, the **nucleus** | keep the fewest most probable words that together hold at least $p$ | Holtzman et al. 2020 |
# | **min-p** | keep what is at least min-p times as probable as the best word | Nguyen et al. 2024 |
# | **typical** | keep the words whose surprise $-\ln p_i$ is nearest the mean surprise, until they hold typical-p | Meister et al. 2023 |
#
# What is left is divided by its sum, so that it is a distribution again. With the logits $z_i$, and with the **entropy** $H$ for
# the mean surprise ($e^H$ equally probable words would be as uncertain),
#
# $$p_i \propto \exp(z_i / T), \qquad H = -\sum_i p_i \ln p_i.$$
#
# SmolLM2 is asked once for each prompt. The widget only filters.
#
# > **Predict before you move anything.** (a) "The capital of France is" and "Once upon a time there was a": how many words does
# > top-p = 0.9 keep for each: about the same number? (b) And top-k = 10: how much probability do ten words hold in each?
# > (c) min-p = 0.05 and everything else off: how many words are left for each?

# %% slideshow={"slide_type": "fragment"}
prompts = [
    "The capital of France is",
    "Once upon a time there was a",
    "I will never forget the day when",
]
with torch.no_grad():
    next_word = {
        text: llm(torch.tensor([tokenizer.encode(text)]))[0][0, -1].log_softmax(-1)
        for text in prompts
    }
widgets.sampler_playground(reshape, next_word, lambda i: tokenizer.decode([i]))

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Grey: the model's own probability; blue: what is drawn from. Sliders act in the order in which they stand.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) Ten words after "The capital of France is", 546 after "Once upon a time there was a". The nucleus is small where the model is
#   sure and large where many words are possible.
# - (b) Ten words hold 0.90 of the first distribution and 0.42 of the second. A fixed $k$ is too many here and too few there; that
#   is the argument of Holtzman et al. for top-p.
# - (c) Two, and 36. min-p measures everything against the best word: where "Paris" has 0.77, hardly a second word passes; where
#   the best has 0.08, many do. It, too, leaves room only where the model leaves it.
# - Typical sampling can cut off the *most* probable word: after "Once upon a time there was a", typical-p = 0.5 drops the best word,
#   "small". Its surprise, $-\ln 0.078 = 2.6$, is far below the mean of 5.3: nobody needs to be told what is obvious.
# - Temperature alone keeps every word. At $T = 2$ the entropy of *every* prompt is above 8: even "Paris" drowns in the tail.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** *Top-p without the word that crosses p*: keep words while the sum so far is *below* $p$, the crossing word
# > included. Without it nothing at all is left after "The capital of France is" with $p = 0.7$, because "Paris" alone holds more.
# > *Filtering after drawing*: draw from everything, and replace what is not allowed by the best word; that gives the best word all
# > the mass that was cut, instead of sharing it. *Multiplying by the temperature*: $z_i \cdot T$ sharpens where it should flatten.
# > *Dividing the probabilities* by $T$ instead of the logits: after normalising, nothing has changed.

# %% slideshow={"slide_type": "fragment"}
p = next_word["The capital of France is"].exp()
ranked = p.sort(descending=True).values
without = ranked[ranked.cumsum(0) <= 0.7]
kept = reshape(p.log(), top_p=0.7).exp()
print(
    "words kept with p = 0.7, the crossing word left out:",
    len(without),
    "  with it:",
    int((kept > 0).sum()),
)
print(
    "probabilities divided by 2, normalised: unchanged?",
    torch.allclose((p / 2) / (p / 2).sum(), p),
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Watch it write
#
# One token at a time: the model gives a distribution, it is reshaped, a token is drawn, the model reads it, and so on. What it has
# read before it remembers in its *state*, so that nothing is read twice. (For SmolLM2 that is a memory of keys and values,
# lecture 13.)

# %% slideshow={"slide_type": "fragment"}
begin = "I will never forget the day when"
start = torch.tensor([tokenizer.encode(begin)])
print(begin, end="")
for step in stream(llm, start, 20, top_p=0.9, generator=torch.Generator().manual_seed(2)):
    print(tokenizer.decode(step.tokens.tolist()), end="", flush=True)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Now four ways from the same beginning, with what each choice was among.
#
# > **Predict before you click.** At which places do greedy search and top-p differ? What will $T = 2$ look like after six tokens?

# %% slideshow={"slide_type": "fragment"}
options = {
    "top-p 0.9": {"top_p": 0.9},
    "T = 0.7": {"temperature": 0.7},
    "T = 2": {"temperature": 2.0},
}
trees = {"greedy": greedy(llm, start, 14, trace=True)[1]}
for way, settings in options.items():
    draw = torch.Generator().manual_seed(5)
    trees[way] = sample(llm, start, 14, generator=draw, trace=True, **settings)[1]
widgets.word_by_word(trees, lambda i: tokenizer.decode([i]), prompt=begin)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# Where one token has nearly all the probability, all ways agree: grammar leaves no choice. Where five tokens share it, the ways part,
# and from there on they write different texts. At $T = 2$ the tail has so much mass that tokens come which stand nowhere near
# the first five, and the sentence falls apart. One seed shows one text; do not judge a way of decoding by one text.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. A few more, in a line each
#
# - **Diverse beam search** (Vijayakumar et al. 2018): the beam in groups that are punished for choosing the same words.
# - **Stochastic beam search** (Kool et al. 2019): $b$ *different* texts, drawn without replacement.
# - **Minimum Bayes risk** (Eikema & Aziz 2020): draw many texts, take the one that is most like all the others.
# - **Contrastive search** (Su et al. 2022): among the $k$ best tokens, one that does not lead back to where the text has been.
# - **Speculative decoding** (Leviathan et al. 2023; Chen et al. 2023): a small model drafts several tokens, the large one checks
#   them at once. The texts are distributed exactly as the large model's own.
#
# All of them work for every model of the course, for all ask the same function. The course's small GPT, after "KING. My lord,":

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
gpt, pieces, _ = checkpoint("bpe_gpt")
king = torch.tensor([pieces.encode("KING.\nMy lord,")])


def drawn(seed=1):
    return torch.Generator().manual_seed(seed)


texts = {
    "greedy": greedy(gpt, king, 24).tokens[0].tolist(),
    "beam of 4": beam_search(gpt, king, 24, beam_size=4)[0][0].tokens,
    "diverse, best of group 2": diverse_beam_search(
        gpt, king, 24, beam_size=4, groups=2, diversity=1.0
    )[0][-1].tokens,
    "stochastic beam": stochastic_beam_search(gpt, king, 24, beam_size=4, generator=drawn())[0][
        0
    ].tokens,
    "minimum Bayes risk": minimum_bayes_risk(gpt, king, 24, num_samples=16, generator=drawn())[0][
        0
    ].tokens,
    "contrastive": contrastive_search(gpt, king, 24).tokens[0].tolist(),
    "top-p 0.9": sample(gpt, king, 24, top_p=0.9, generator=drawn()).tokens[0].tolist(),
}
for way, tokens in texts.items():
    print(f"{way:25}", pieces.decode(list(tokens)).replace("\n", " / "))

# %% slideshow={"slide_type": "fragment"}
large, letters, _ = checkpoint("char_gpt")
small, _, _ = checkpoint("char_lstm")
hamlet = torch.tensor([letters.encode("To be, or not ")])
_, checked = speculative_sample(
    large, hamlet, 60, draft=small, lookahead=4, generator=drawn(), trace=True
)
refused = sum(node.status == "pruned" for node in checked.nodes)
print(f"60 characters; drafted by the small model and refused by the large one: {refused}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Search or sample?** Where the input fixes the answer (translation, speech, letters to sounds): a small beam, with a length
# > penalty. Where it does not (stories, dialogue): sample, with the tail cut. Where a program checks the answer (code,
# > arithmetic): sample many, keep what passes.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A vocabulary of 10 words, texts of 4 words: how many texts, and how many questions to the model does a beam of 3 need at most?
# <details><summary>Answer</summary>10,000 texts. At most 1 + 3 + 3 + 3 = 10 questions: the first step has one beginning.</details>
#
# 2. With which beam size is beam search surely exhaustive search?
# <details><summary>Answer</summary>When nothing is ever pruned: at least as many as there are open texts at any step, V to the power
# n − 1 for texts of n words.</details>
#
# 3. Two hypotheses: 4 tokens with ln P = −4, 8 tokens with ln P = −6. Which wins at α = 0, and which at α = 1?
# <details><summary>Answer</summary>At 0 the short one (−4 > −6). At 1 the long one: −0.75 > −1.</details>
#
# 4. The next-word probabilities are 0.5, 0.3, 0.15, 0.05. What do top-k = 2, top-p = 0.8, top-p = 0.81 and min-p = 0.2 keep?
# <details><summary>Answer</summary>The first two; the first two (0.5 + 0.3 reaches 0.8); the first three, for the word that crosses 0.81
# is kept; those of at least 0.1, the first three.</details>
#
# 5. Which temperature leaves the order of the words alone?
# <details><summary>Answer</summary>Every T above 0. Dividing by a positive number keeps the order; only the differences shrink or
# grow.</details>
#
# 6. A finished hypothesis has P = 0.2; the best open one has 0.19, no length penalty. May the search stop?
# <details><summary>Answer</summary>Yes, if one text is wanted: the open one can only fall. For the two best texts it must go
# on.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write your own filter and hand it to the widget: it is drawn beside the reference, and the line below says whether the two agree.
# This one knows temperature and top-p. Make it wrong (leave out the word that crosses p; multiply by the temperature) and look for
# a prompt where it shows; then add top-k. In the assignment [`exercises/decoding/decoding.ipynb`](../exercises/decoding/decoding.ipynb) you write filters and searches yourself.


# %% slideshow={"slide_type": "skip"}
def my_reshape(log_probs, *, temperature=1.0, top_k=None, top_p=None, min_p=None, typical_p=None):
    logits = log_probs / max(temperature, 1e-4)  # change me
    probabilities = logits.softmax(-1)
    if top_p is not None:
        ranked, order = probabilities.sort(descending=True, stable=True)
        before = ranked.cumsum(0) - ranked  # the mass of all more probable words
        keep = before < top_p - 1e-6  # change me
        keep[0] = True
        probabilities = torch.zeros_like(ranked).scatter(0, order[keep], ranked[keep])
    return (probabilities / probabilities.sum()).log()


widgets.sampler_playground(
    reshape, next_word, lambda i: tokenizer.decode([i]), words=6, yours=my_reshape
)

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $\mathrm{argmax}_{w_{1:n}} P(w_{1:n})$ | $\hat y = \mathrm{argmax}_y P(y \mid x)$, MAP decoding | the most probable text |
# | $b$, beam size | $k$, beam width, $B$ | how many beginnings are kept |
# | hypothesis $y$ | candidate, partial translation, prefix | one beginning |
# | pruned, dropped | removed from the list, off the agenda | a beginning that is not read on from |
# | $\lvert y\rvert^\alpha$, length penalty | $lp(Y) = (5 + \lvert Y \rvert)^\alpha / 6^\alpha$ (Wu et al.), normalised log-likelihood | what ln P is divided by |
# | `<eos>` | `</s>`, stop symbol, END | the end of a text |
# | $T$ | $\tau$, softmax temperature | divides the logits |
# | nucleus | top-p set $V^{(p)}$ | the smallest set that holds $p$ |
#
# **Sources.** Lowerre (1976), The HARPY Speech Recognition System: beam search. Ackley, Hinton & Sejnowski (1985), A Learning
# Algorithm for Boltzmann Machines: temperature. Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural
# Networks, section 3.2. Wu et al. (2016), Google's Neural Machine Translation System, section 7. Koehn & Knowles (2017), Six
# Challenges for Neural Machine Translation, section 3.6. Fan, Lewis & Dauphin (2018), Hierarchical Neural Story Generation: top-k.
# Vijayakumar et al. (2018), Diverse Beam Search. Stahlberg & Byrne (2019), On NMT Search Errors and Model Errors: Cat Got Your
# Tongue? Kool, van Hoof & Welling (2019), Stochastic Beams and Where to Find Them. Holtzman et al. (2020), The Curious Case of
# Neural Text Degeneration, figures 1 and 2. Eikema & Aziz (2020), Is MAP Decoding All You Need? Su et al. (2022), A Contrastive
# Framework for Neural Text Generation. Meister et al. (2023), Locally Typical Sampling. Leviathan, Kalman & Matias (2023), Fast
# Inference from Transformers via Speculative Decoding; Chen et al. (2023), Accelerating Large Language Model Decoding with
# Speculative Sampling. Nguyen et al. (2024), Turning Up the Heat: Min-p Sampling. Jurafsky & Martin (2024), Speech and Language
# Processing, chapters 10 and 13.

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **decoding**: Choosing a text with a language model, by searching or by drawing.
# - **prompt**: The text that is given and that the model continues.
# - **exhaustive search**: Scoring every possible text; exact, and prohibitive beyond a tiny vocabulary.
# - **greedy search**: Writing the most probable next token, every time.
# - **hypothesis**: A beginning, or a finished text, that a search considers.
# - **beam**: The hypotheses that a search keeps at one step.
# - **beam size**: How many hypotheses the beam holds; 1 is greedy search.
# - **beam search**: Extending all hypotheses of the beam by all words and keeping the best of the results.
# - **prune**: To drop a hypothesis for good.
# - **length penalty**: A power of the length by which ln P is divided; without it short texts win.
# - **beam search curse**: Wider beams find more probable texts that are worse.
# - **sampling**: Drawing the next token at random with the model's probabilities, reshaped or not.
# - **temperature**: The number by which scores are divided before the softmax; below 1 it sharpens, above 1 it flattens.
# - **top-k**: Keeping the k most probable tokens before drawing.
# - **top-p**: Keeping the fewest most probable tokens that together hold at least p.
# - **nucleus**: The set of tokens that top-p keeps.
# - **min-p**: Keeping tokens that are at least so many times as probable as the best one.
# - **typical**: Keeping the tokens whose surprise is nearest the entropy.
# - **entropy (of a distribution)**: The mean surprise of a distribution, minus the sum of p ln p.
# - **diverse beam search**: Beam search in groups that avoid each other's words.
# - **stochastic beam search**: A beam search that draws different texts without replacement.
# - **minimum Bayes risk**: Choosing among samples the text that is most like all the others.
# - **contrastive search**: Choosing a probable token whose vector differs from those of the text so far.
# - **speculative decoding**: A small model drafts, a large one checks; the result is distributed as the large one's.
