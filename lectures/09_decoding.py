# %% [markdown] slideshow={"slide_type": "slide"}
# # Decoding
#
# A language model assigns a probability to every text, but it does not write one. **Which text should it write?** "The most probable
# one" is a natural answer. No known program finds that text quickly for every model, so programs search for a text
# that is as probable as possible. Here is what such a search finds:
#
# <img src="figures/aye.svg" width="860" alt="Probability of each of 96 tokens under SmolLM2. Shakespeare's line jumps between 0 and 1 and is low most of the time. The line of the text found by beam search climbs and stays near 1.">
#
# *Twelfth Night, act 1: Olivia mourns for her brother, and the clown answers. A real model, SmolLM2, gives every token of
# Shakespeare's text a probability (blue). From the same beginning it also writes a text of its own, the most probable one that a beam search (section 3) finds
# (orange): "Aye, aye, aye, aye, aye, aye, aye, aye, …"*
#
# **After this lecture you can**
# - say what a search looks for, why it cannot check every text, and when there is a shortcut;
# - do greedy search and beam search by hand, and say when a beam may stop;
# - use a length penalty, and say what the sign of its exponent does;
# - filter a next-word distribution by temperature, top-k, top-p (nucleus), min-p and typicality;
# - lower the scores of tokens that would repeat, and say what that costs;
# - let a small model draft tokens for a large one, and prove that each token still follows the large model's distribution;
# - choose between searching and sampling for a task, and support the choice with measurements.
#
# **You need** conditional probabilities, logarithms and Python. From [lecture 1](01_language_models.ipynb) you need language
# models, the chain rule, and the token `<eos>` that ends a text. We use models here without explaining them; *Inside a real
# language model* explains the large one.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
# |---|---|---|---|---|---|---|---|---|---|---|
# | minutes | 5 | 9 | 12 | 9 | 8 | 12 | 5 | 6 | 7 | 3 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 130 minutes. Sections 1 to 4 (searching) and 5 to
# 10 (sampling) are two sittings; sections 8 and 9 can be left out. *Coming from other slides?* A table at the end translates their
# notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *The first model is a table of sixteen words, so that you can check every number on the board. Do the
# first two steps of section 3 by hand before you touch the slider.*
#
# *Short of time: skip the wide beams of section 4 and all of section 10.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from itertools import pairwise
from statistics import mean

import ipywidgets
import torch

from nlmcore.corpora import load
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
from nlmcore.tokens import decode_stream
from lectures.trained import checkpoint
from lectures import show, stored, widgets

torch.set_num_threads(1)  # sums in a fixed order, so that every run samples the same texts

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. The most probable text
#
# **Decoding** means choosing a text with a language model. The model receives a **prompt**, the text so far, and continues it with
# words $w_1, w_2, \dots$, up to the token `<eos>`, *end of sequence*. Let "the best text" be the most probable one:
#
# $$\hat w_{1:n} = \underset{w_{1:n}}{\mathrm{argmax}}\; P(w_{1:n}) = \underset{w_{1:n}}{\mathrm{argmax}} \prod_{t=1}^{n}
#   P(w_t \mid w_1, \dots, w_{t-1}).$$
#
# ($\mathrm{argmax}$ returns not the largest value, but the text that has it. Every probability also depends on the prompt, which is omitted
# from the formula.) There are $V^n$ texts of $n$ words from a vocabulary of $V$. SmolLM2, a small real model that you will meet in
# section 4, has a vocabulary of 49,152 tokens; a **token** is a word or a part of one.

# %% slideshow={"slide_type": "fragment"}
V = 49_152

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
texts = show.table(
    [(n, f"{float(V**n):.0e}", f"{V**n / 1e9 / 3.15e7:.0e}") for n in (1, 2, 3, 5, 10, 11, 20)],
    ["tokens", "texts", "years at a billion texts per second"],
)
show.predict(
    "The Earth has about $10^{50}$ atoms. How long must a text be, in tokens, before there are more possible texts than atoms?",
    choices={"11": 11, "110": 110, "1,100": 1100},
    answer=next(n for n in range(1, 2000) if V**n > 10**50),
    why="Which of these texts could a search leave out, without checking them?",
    reveals=texts,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# 11<!--[[next(n for n in range(1, 2000) if V**n > 10**50)]]--> tokens suffice. At a billion texts per second, checking all texts of five tokens would already take nine million<!--[[? round(V**5 / 1e9 / 3.15e7 / 1e6) == 9]]--> years.
# </details>
#
# Checking every text is **exhaustive search**; for a real vocabulary its cost is *prohibitive*. Is there a shortcut? Section 2 shows one for models
# in which the next word depends only on the previous one. Section 4 shows one that drops a text as soon as it can no longer win. **If the next word may
# depend on all previous words, no known shortcut is fast for every model.** For recurrent networks the problem is NP-hard (Chen, Gilroy, Maletti, May & Knight
# 2018), and nobody knows an algorithm that is always fast for an NP-hard problem.

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Ask what you would do if you could read every text in an instant; then count up to eleven tokens. What goes wrong: they
# think of dynamic programming. Ask them what it would have to store for a model that remembers every word.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Greedy, and where it fails
#
# **Greedy search** takes the most probable word at every step:
#
# $$w_t = \underset{w}{\mathrm{argmax}}\; P(w \mid w_1, \dots, w_{t-1}).$$
#
# It needs only $n$ calls of the model. To see what it misses, we take a model that is small enough to search completely. It has
# sixteen words<!--[[? TableLM.vocab_size == 16]]-->, and the next word depends only on the previous one. Each row of the table sums to 1.

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
}  # after a word without a row the text ends

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
# That is the table as a matrix. We wrap it in the function that every language model of this course implements,
# `logits, state = model(tokens, state)`:


# %% slideshow={"slide_type": "fragment"}
class TableLM:
    vocab_size = len(words)

    def __call__(self, tokens, state=None):
        return table.log()[tokens], tokens[:, -1]


EOS, prompt = 0, torch.tensor([[number["home"]]])
written = greedy(TableLM(), prompt, 6, eos=EOS)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as by_greedy:
    print(
        "greedy:",
        *[words[i] for i in written.tokens[0].tolist()],
        f"  P = {written.log_prob[0].exp():.4f}",
    )
show.predict(
    "The prompt is “she came home”. How probable is the sentence that greedy search writes, including its `<eos>`? Use the table and a pencil.",
    within=0.01,
    answer=written.log_prob[0].exp().item(),
    why="Do you see a more probable sentence? Start with the *least* probable of the three first words.",
    reveals=by_greedy,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# Greedy search writes *without any money* `<eos>`, whose probability is $0.45 \cdot 0.6 \cdot 0.6 \cdot 0.7$ = 0.1134<!--[[written.log_prob[0].exp():.4f]]-->. But *penniless*
# `<eos>` has a probability of $0.25 \cdot 0.96$ = 0.24<!--[[math.exp(every[0].log_prob):.2f]]-->, more than twice as much, and says the same in one word.
# </details>
#
# With this model we can check all texts. `exhaustive_search` scores every one and returns the best first:

# %% slideshow={"slide_type": "fragment"}
every = exhaustive_search(TableLM(), prompt, 6, eos=EOS, limit=16**6)[0]
for found in every:
    print(f"{math.exp(found.log_prob):.4f}  ", *[words[i] for i in found.tokens])
print(
    len(every), f"texts, of the {16**6:,} that six tokens from sixteen words could make;", end=" "
)
print(f"total probability {sum(math.exp(found.log_prob) for found in every):.4f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Greedy search **always starts with the most probable word**, and here the best text starts with the least probable of the three first words.
# - Here it **prefers several common words to one rare word**. "Without" is more probable than "penniless". But it begins more
#   sentences<!--[[? sum(found.tokens[0] == number["without"] for found in every) > sum(found.tokens[0] == number["penniless"] for found in every)]]-->,
#   which share its probability, and each of them is less probable than *penniless* `<eos>`<!--[[? every[0].tokens[0] == number["penniless"]]]-->.
# - The thirteen probabilities sum to 1<!--[[? len(every) == 13 and abs(sum(math.exp(found.log_prob) for found in every) - 1) < 1e-3]]-->, because no other text can be complete
#   ([lecture 1](01_language_models.ipynb)).
# </details>
#
# **Greedy search answers a different question from ours**: which *word* is best now, not which *text*. It cannot go back.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A shortcut for this table.** In this model the next word depends only on the previous one. So the most probable *completion* of a text (`rest` in the code)
# is the same for all texts that end in the same word, and we need to compute it only once for each word. That is dynamic
# programming, the algorithm of Viterbi (1967): begin with completions of a single token, `<eos>`, and extend them at the front, one token at a time<!--[[? abs(rest[number["home"]] - math.exp(every[0].log_prob)) < 1e-6]]-->.

# %% slideshow={"slide_type": "fragment"}
rest = table[:, EOS]  # after each word, the probability of the best rest of one token
for _ in range(5):  # of at most two tokens, of three, …, of six
    rest = (table * rest).max(dim=1).values
print(
    f"the best text after “home” has P = {rest[number['home']]:.2f}, found with 5 · 16 · 16 products"
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# A real model remembers more than one word. Then two texts are certain to share their best completion only if the model is in *the same* state after both.
# If it remembers all words, the table needs a row for every text.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Walk the greedy path on the board before the cell runs, then ask for a better sentence. What goes wrong: they multiply up
# to the last word and forget `<eos>`.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Beam search
#
# Instead of a single prefix, keep the $b$ best. Each kept prefix is a **hypothesis**, the $b$ hypotheses are the **beam**, and $b$ is
# the **beam size**. This is **beam search**. One step has three parts:
#
# 1. *Extend* every hypothesis of the beam $B_{t-1}$ by every word.
# 2. *Score* each extension by the probability of the **whole** text so far.
# 3. *Keep* the $b$ best; **prune** (drop for good) the rest. A hypothesis that ends in `<eos>` is finished and set aside. It takes no slot
#    of the beam: the next best extension moves up. (In some programs the beam shrinks instead.)
#
# $$B_t = \text{the } b \text{ best of } \{(y, w) : y \in B_{t-1},\; w \text{ any word}\} \text{ by } \ln P(y, w)
#   = \ln P(y) + \ln P(w \mid y)$$
#
# We use logarithms because a product of many small numbers soon underflows to zero; a sum of logarithms does not:

# %% slideshow={"slide_type": "fragment"}
print("0.01 multiplied 200 times:", math.prod([0.01] * 200))
print("200 times ln 0.01, added: ", round(200 * math.log(0.01), 1))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **By hand, with $b = 2$.** Kept hypotheses are bold.
#
# | step | candidates, with the probability of the whole text | beam |
# |---|---|---|
# | 1 | **without** 0.45<!--[[p_of("without"):.2f]]-->, **with** 0.30<!--[[p_of("with"):.2f]]-->, penniless 0.25<!--[[p_of("penniless"):.2f]]--> | without, with |
# | 2 | **without any** 0.45 · 0.6 = 0.27<!--[[p_of("without any"):.2f]]-->, **with no** 0.30 · 0.7 = 0.21<!--[[p_of("with no"):.2f]]-->, without a 0.18<!--[[p_of("without a"):.2f]]-->, with little 0.09<!--[[p_of("with little"):.2f]]--> | without any, with no |
# | 3 | **with no money** 0.21 · 0.9 = 0.189<!--[[p_of("with no money"):.3f]]-->, **without any money** 0.27 · 0.6 = 0.162<!--[[p_of("without any money"):.3f]]-->, without any means 0.108<!--[[p_of("without any means"):.3f]]-->, with no plan 0.021<!--[[p_of("with no plan"):.3f]]--> | with no money, without any money |
# | 4 | with no money `<eos>` 0.189 · 0.7 = 0.1323<!--[[p_of("with no money <eos>"):.4f]]-->, finished; without any money `<eos>` 0.1134<!--[[p_of("without any money <eos>"):.4f]]-->, finished; … | unfinished texts have at most 0.0567<!--[[p_of("with no money at"):.4f]]-->: stop |
#
# In step 3 the order changes: "with no", which was second, now leads as "with no money". Greedy search dropped "with" in step 1.


# %% slideshow={"slide_type": "fragment"}
def search(b):
    """The tree explored by a search with a beam of b."""
    if b == 1:
        return greedy(TableLM(), prompt, 6, eos=EOS, trace=True)[1]
    found = beam_search(TableLM(), prompt, 6, eos=EOS, beam_size=b, num_hypotheses=1, trace=True)
    return found[1]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def p_of(text):
    """The probability of a text after the prompt."""
    path = [number[word] for word in ["home", *text.split()]]
    return math.prod(table[a, b].item() for a, b in pairwise(path))


def best_open(t):
    """The largest probability of a text that has t words and has not ended."""
    begun = [found.tokens[:t] for found in every if EOS not in found.tokens[:t]]
    return max(p_of(" ".join(words[i] for i in path)) for path in begun)


show.predict(
    "A beam of 3 also keeps “penniless”, and finishes it in step 2 with a probability of 0.24. After which step may the search stop without missing a better text?",
    choices=["step 2", "step 3", "step 4"],
    answer=f"step {next(t for t in range(2, 6) if best_open(t) < math.exp(every[0].log_prob))}",
    why="Compare the best open (unfinished) text with the finished one. In the picture each box shows the word, its probability given the preceding text, and in its "
    "second line $P$ and $\\ln P$ of the whole text. Odd half-steps show the candidates, even half-steps show which of them are kept.",
    reveals=widgets.beam_player(search, lambda i: words[i], prompt="she came home").opens(
        beam=3, half_step=6
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The search must not stop after step 2, because "without any" still has a probability of 0.27<!--[[best_open(2):.2f]]--> and might end above 0.24<!--[[math.exp(every[0].log_prob):.2f]]-->.
# - In step 3
#   the best open text has 0.189<!--[[best_open(3):.3f]]-->. More words can only lower that, so nothing else can win.
# - With $b = 2$ "penniless" was pruned at step 1, as the third of three. Nothing can bring it back later.
# - With $b = 1$ beam search is greedy search; with a beam so wide that nothing is ever pruned it is exhaustive search.
# </details>
#
# **A beam search that prunes guarantees nothing.** It reads at most $b \cdot n$ prefixes and scores $b \cdot n \cdot V$ extensions, instead of $V^n$ texts.

# %% slideshow={"slide_type": "subslide"}
for b in (1, 2, 3):
    best = beam_search(TableLM(), prompt, 6, eos=EOS, beam_size=b, num_hypotheses=1)[0][0]
    print(f"b = {b}: P = {math.exp(best.log_prob):.4f}  ", *[words[i] for i in best.tokens])

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** *You add probabilities* instead of their logarithms. The sum then grows with every
# > word, so long texts win, and one very probable word lifts every text that contains it. *You rank by the last word only* instead of the
# > whole text. *You drop a hypothesis when it produces* `<eos>`. You then lose the best text at the moment it is finished. (The opposite
# > mistake is to extend it, and to keep writing after the end.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. The first two steps by hand, the rest with the slider. What goes wrong: they drop a finished hypothesis.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. When to stop, and how long a text gets
#
# **When may the search stop?** Not at the first `<eos>`, as section 3 showed. But every further word multiplies the probability of an
# open (unfinished) text by at most 1, so this probability never rises. As soon as the best finished text is more probable than the best open one, no extension of the beam can win, and the search may stop. A maximum
# length stops it in any case.
#
# The same fact makes an *exact* search possible: go through all texts depth-first, and drop every open one that is already less probable
# than the best finished one (Stahlberg & Byrne 2019, for translations). If a probable text ends early, most others are dropped early. In
# the worst case none is dropped.
#
# But **no word raises the probability of a text, and nearly every word lowers it, so short texts have an advantage.** One remedy is to divide $\ln P$ by a power of the length $|y|$, the **length
# penalty** (Wu et al. 2016, section 7, in a simpler form):
#
# $$\mathrm{score}(y) = \frac{\ln P(y)}{|y|^{\alpha}}, \qquad \alpha = 0: \text{probability}, \quad \alpha = 1:
#   \text{mean } \ln P \text{ per token.}$$
#
# Now take a real model, SmolLM2, which has 135 million parameters and is on your disk. A beam of 6 completes a sentence; the full
# stop serves as `<eos>`. We search with $\alpha = 1.5$, to find long texts as well, and keep all finished ones.


# %% slideshow={"slide_type": "fragment"}
def score(log_prob, length, alpha):
    return log_prob / length**alpha


llm, tokenizer = smollm2()
stop = tokenizer.encode(".")[0]
rain = "When the rain stopped, the children"
begun = torch.tensor([tokenizer.encode(rain)])
_, tree = beam_search(llm, begun, 14, eos=stop, beam_size=6, length_penalty=1.5, trace=True)
ended = [node for node in tree.nodes if node.status == "finished" and node.token == stop]
sentences = [tokenizer.decode(tree.path(node)).strip() for node in ended]

# %% slideshow={"slide_type": "fragment"}
lengths, log_probs = [node.step for node in ended], [node.log_prob for node in ended]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def leader(alpha):
    """The length of the sentence with the best score."""
    return lengths[max(range(len(lengths)), key=lambda i: score(log_probs[i], lengths[i], alpha))]


alphas = {"−1": -1.0, "0.5": 0.5, "2": 2.0}


def handicap(alpha):
    """The score of a text of 10 tokens divided by that of a text of 5 tokens, at equal ln P."""
    return score(-5.0, 10, alpha) / score(-5.0, 5, alpha)


show.predict(
    "At $\\alpha = 0$ the most probable text wins. Which of these values of $\\alpha$ favours *short* texts even more?",
    choices=[*alphas],
    answer=max(alphas, key=lambda name: handicap(alphas[name])),
    why="ln P is negative. Move the slider: which length leads at which α?",
    reveals=widgets.length_penalty_player(score, sentences, lengths, log_probs).opens(
        penalty=-1.0
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - $\ln P$ is negative. Dividing it by a larger number brings it closer to 0, which is a *higher* score, so a positive $\alpha$
#   favours longer texts. With a negative $\alpha$ the score is $\ln P$ *times* a power of the length, so a long text is penalised twice: by $\ln P$ and by that factor.
# - At $\alpha = 0$ a sentence of 7<!--[[leader(0)]]--> tokens leads; from $\alpha = 1$ upwards<!--[[? leader(0.9) == leader(0) < leader(1) == leader(2)]]--> a sentence of 14<!--[[leader(1)]]--> tokens leads. Neither is *right*: $\alpha$ is
#   tuned on held-out texts.
# - A positive $\alpha$ also changes the stopping rule, because the score of an open text may now rise as the text grows. `nlmcore` computes the best score that an open
#   text could still reach: its present $\ln P$, divided by the penalty at the maximum length.
# </details>
#
# > **What goes wrong.** You compute $\ln P \cdot |y|^{\alpha}$, or you *subtract* a penalty for each word. Both have the wrong
# > sign, and favour short texts even more. Or you count `<eos>` in $|y|$ for some texts only. Count it for all or for none.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Is a wider beam better?** It usually finds more probable texts. With their exact search, Stahlberg & Byrne (2019) found that for more
# than half of their sentences the most probable translation was *empty*: `<eos>` as the first token. Koehn & Knowles (2017) had
# seen quality fall with wide beams; Yang, Huang & Ma (2018) call this the **beam search curse**. Does the curse strike here? We
# test two of the course's small models ([lecture 11](11_sequence_to_sequence.ipynb) is about such models). One translates numbers of 15 to
# 20 words into German: it reads the English words into a single vector, and writes the German from it. We measure its quality by BLEU, the agreement with the
# reference (at most 100). The other turns spelling into *phonemes*, the sounds of a word. We count its phoneme errors.
# `python -m lectures.recipes dullness` repeats both measurements.
#
# > **Ask yourself.** Of beams from 1 to 256, which gives the best quality, and does the widest one do harm?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
from lectures.recipes.pairs import load_dictionary

one_way_to_say = mean(len(said) == 1 for said in load_dictionary().test.values())
measured = stored("dullness")
german, sounds = (part["beams"] for part in measured["wide_beams"].values())
forms = {"log_prob": "{:.3f}", "quality": "{:.2f}", "length": "{:.1%}", "empty": "{:.0%}"}
show.table(
    [
        (task, beam, *(form.format(row[of]) for of, form in forms.items()))
        for task, part in measured["wide_beams"].items()
        for beam, row in part["beams"].items()
    ],
    ["", "beam", "mean ln P", "quality", "length / reference length", "empty"],
    note=". ".join(f"{task}: {part['what']}" for task, part in measured["wide_beams"].items()),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - $\ln P$ never falls as the beam widens<!--[[? all(a["log_prob"] <= b["log_prob"] for beams in (german, sounds) for a, b in pairwise(beams.values()))]]-->, which is not guaranteed. The beam of 256 finds nothing more probable than that of 64<!--[[? all(beams["64"]["log_prob"] == beams["256"]["log_prob"] for beams in (german, sounds))]]-->.
# - For the translations into German, BLEU climbs from 57.8<!--[[german["1"]["quality"]:.1f]]--> with greedy search to 65.0<!--[[german["4"]["quality"]:.1f]]--> with a beam of 4 and 66.6<!--[[german["64"]["quality"]:.1f]]--> with a beam of 64.
# - For phonemes a beam of 2<!--[[min(sounds, key=lambda beam: sounds[beam]["quality"])]]--> has 10.8<!--[[sounds["2"]["quality"]:.1f]]--> % errors, and wider ones are within 0.2<!--[[max(row["quality"] for beam, row in sounds.items() if beam != "1") - sounds["2"]["quality"]:.1f]]--> points of it.
# - No beam ever found an empty text<!--[[? not any(row["empty"] for beams in (german, sounds) for row in beams.values())]]-->.
# </details>
#
# **We saw no curse**, with one trained model for each task, and we do not know why. One difference from ordinary translation is that nearly every number and word of our tasks has a single right
# answer<!--[[? one_way_to_say > 0.9]]-->. Ott et al. (2018) and Eikema & Aziz (2020) point out that where a sentence can be said in many ways, the probability is spread over
# all of them, and a poor text may be the most probable single one.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room argue about the sign of α before you open the answer. Skip the wide beams if time is short; say that one model
# per task ranks nothing.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Is the most probable text a good text?
#
# A translation has a given meaning. A story does not. Holtzman et al. (2020) let a model continue texts by beam search, and
# compared the probabilities of its tokens with those of the tokens that people wrote. We do the same, with passages from three
# plays by Shakespeare. SmolLM2 reads the first 48 tokens of each passage and writes 96 more.
#
# The picture at the top shows one of these passages. We also let the model continue it in other ways. *Sampled* means that every token is chosen
# at random with the model's probabilities; *top-k* and *top-p* first filter these probabilities (section 6).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
example = measured["example"]


def beside_shakespeare(way):
    """Probability of each token: Shakespeare's text and that of one way of decoding, and the text."""
    lines = {
        "Shakespeare": example["Shakespeare"]["probabilities"],
        way: example[way]["probabilities"],
    }
    positions = list(range(1, len(lines[way]) + 1))
    rows = measured["rows"]["SmolLM2"]
    says = "; ".join(
        f"{name}: {rows[name]['probability']:.2f} per token over all passages" for name in lines
    )
    chart = show.lines_svg(
        positions,
        lines,
        low=0,
        high=1,
        x_title="position in the continuation",
        y_title="probability of the token",
        width=860,
        height=340,
        alt=f"Probability of each of {len(positions)} tokens under SmolLM2, Shakespeare's text and {way}. {says}.",
    )
    return chart + show.said(says) + show.said(f"{way} writes: {example[way]['text']}")


ways = [way for way in example if way not in ("prompt", "Shakespeare")]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
big, own = measured["rows"]["SmolLM2"], measured["rows"]["bpe_gpt"]
tokens_of = {way: row["probability"] for way, row in big.items()}
closest = min(ways, key=lambda way: abs(math.log(tokens_of[way] / tokens_of["Shakespeare"])))
show.predict(
    "Over all passages, which way of decoding comes closest to Shakespeare's mean probability per token (the geometric mean)?",
    choices=ways,
    answer=closest,
    why="Read its text as well. Is it good?",
    reveals=widgets.live(
        beside_shakespeare,
        way=ipywidgets.ToggleButtons(
            options=ways, description="compare", style={"button_width": "auto"}
        ),
    ).opens(way=closest),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Here are the figures for all passages, and for a second model:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.table(
    [
        (
            f"{model}, {way}",
            *(f"{p:.2f}" for p in (row["probability"], row["along"][0], row["along"][-1])),
            *(f"{row[what]:.0%}" for what in ("improbable", "repeated")),
        )
        for model, rows in measured["rows"].items()
        for way, row in rows.items()
    ],
    ["", "per token", "first 12", "last 12", "tokens below 0.01", "repeated"],
    note=", ".join(f"{model}: {count} passages" for model, count in measured["passages"].items()),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Per token: the geometric mean of the model's probabilities, over the whole continuation and over its first and its last 12 tokens. Repeated: the fraction of groups of four tokens that already occurred
# in the same continuation. bpe_gpt is the course's own small model, which was trained on the other plays.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The beam's tokens have a mean probability of 0.72<!--[[big["beam 4"]["probability"]:.2f]]-->, Shakespeare's tokens one of 0.03<!--[[big["Shakespeare"]["probability"]:.2f]]-->. Holtzman et al. offer an explanation: people do not say what
#   their readers already know.
# - The beam repeats 80<!--[[100 * big["beam 4"]["repeated"]:.0f]]--> % of its groups of four tokens, Shakespeare 4<!--[[100 * big["Shakespeare"]["repeated"]:.0f]]--> %.
# - The probability of the beam's tokens *climbs* along the
#   text, from 0.36<!--[[big["beam 4"]["along"][0]:.2f]]--> over the first twelve tokens to 0.92<!--[[big["beam 4"]["along"][-1]:.2f]]--> over the last twelve<!--[[? "Aye, aye, aye" in example["beam 4"]["text"]]]-->. With greedy search it climbs as well<!--[[? big["greedy"]["along"][0] < big["greedy"]["along"][-1]]]-->.
# - Under SmolLM2, tokens sampled from the whole distribution have a mean probability of 0.026<!--[[big["sampled"]["probability"]:.3f]]-->, Shakespeare's tokens one of 0.031<!--[[big["Shakespeare"]["probability"]:.3f]]--><!--[[? closest == "sampled"]]-->. Under bpe_gpt,
#   which was trained on Shakespeare's other plays, both means are 0.024<!--[[own["Shakespeare"]["probability"]:.3f]]--><!--[[? round(own["sampled"]["probability"], 3) == round(own["Shakespeare"]["probability"], 3)]]-->.
# - That does not make a sample a good text; click on "sampled" and read one. Samples have hardly more rare tokens than Shakespeare: a third<!--[[? 0.3 < big["sampled"]["improbable"] < 0.36]]--> of the
#   sampled tokens have a probability below 0.01, and so do 31<!--[[100 * big["Shakespeare"]["improbable"]:.0f]]--> % of his.
# - SmolLM2 may have read these plays in training. The curves resemble those of Holtzman et al. (figure 2).
# </details>
#
# **By this measure Shakespeare's text is like the model's samples, not like what beam search finds.** If a coin shows heads with
# probability 0.6 and you toss it a hundred times, the most probable sequence is a hundred heads. You will almost certainly never see it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let somebody read the beam's text aloud until the room laughs, then ask what the model did wrong (nothing: it was asked for a probable text).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Sampling, and what to cut off
#
# The alternative to searching is **sampling**: choose the next word at random, with the model's probabilities,
#
# $$w_t \sim P(\cdot \mid w_1, \dots, w_{t-1}).$$
#
# Sampling writes each text with exactly the probability that the model assigns to it, but the model is not perfect. Holtzman et al. blame the *tail* of the
# distribution, tens of thousands of words that are improbable one by one but together get too much probability. Shakespeare uses improbable tokens as
# well (section 5), but in the tail the model may be a poor judge of *which* rare word fits. So it is common to **reshape** the distribution before sampling:
#
# | name | method | source |
# |---|---|---|
# | **temperature** $T$ | divide the model's scores (*logits*) by $T$ before the softmax; values below 1 sharpen, values above 1 flatten | Ackley et al. 1985 |
# | **top-k** | keep the $k$ most probable words | Fan et al. 2018 |
# | **top-p**, the **nucleus** | keep the smallest set of top-ranked words whose probabilities sum to at least $p$ | Holtzman et al. 2020 |
# | **min-p** | keep the words that are at least min-p times as probable as the best word | Nguyen et al. 2024 |
# | **typical** | keep the words whose surprise $-\ln p_i$ is closest to the mean surprise, until their probabilities sum to typical-p | Meister et al. 2023 |
#
# We then divide the remaining probabilities by their sum, so that they form a distribution again. The mean surprise $H$ is the
# **entropy**; a distribution with entropy $H$ is as uncertain as a fair choice among $e^H$ words. In symbols, with the logits $z_i$:
#
# $$p_i \propto \exp(z_i / T), \qquad H = -\sum_i p_i \ln p_i.$$

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


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def words_kept(text, **filters):
    return int((reshape(next_word[text], **filters) > -math.inf).sum())


paris, once, _ = prompts
kept = {text: words_kept(text, top_p=0.9) for text in prompts}
show.predict(
    f"After “{prompts[0]}”, top-p = 0.9 keeps {kept[prompts[0]]} words. How many does it keep after “{prompts[1]}”?",
    choices={"about as many": kept[prompts[0]], "about 60": 60, "about 500": 500},
    answer=kept[prompts[1]],
    why="Grey is the model's own probability, blue the distribution to sample from; the sliders act from left to right, row by row. "
    "Try top-k and min-p on both prompts:",
    reveals=widgets.sampler_playground(reshape, next_word, lambda i: tokenizer.decode([i])).opens(
        prompt=prompts[1], top_p=0.9
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Top-p = 0.9 keeps ten<!--[[words(words_kept(paris, top_p=0.9))]]--> words after "The capital of France is", and 546<!--[[words_kept(once, top_p=0.9)]]--> after "Once upon a time there was a".
# - The ten most probable words hold 0.90<!--[[next_word[paris].exp().topk(10).values.sum():.2f]]--> of the probability in the first case and 0.42<!--[[next_word[once].exp().topk(10).values.sum():.2f]]--> in the second. A fixed $k$ keeps too many
#   words in one case or too few in the other; that is the argument of Holtzman et al. for top-p.
# - Min-p = 0.05 keeps two<!--[[words(words_kept(paris, min_p=0.05))]]--> words after the first prompt and 36<!--[[words_kept(once, min_p=0.05)]]--> after the second. Min-p compares every word with the best one, so it
#   also keeps many words only where the model is undecided.
# - Typical sampling can cut off the *most* probable word. After "Once upon a time there was a", typical-p = 0.5 drops "small<!--[[tokenizer.decode([int(next_word[once].argmax())]).strip()]]-->"<!--[[? reshape(next_word[once], typical_p=0.5)[next_word[once].argmax()] == -math.inf]]-->: its
#   surprise, 2.6<!--[[-next_word[once].max():.1f]]-->, is far below the mean of 5.3<!--[[torch.special.entr(next_word[once].exp()).sum():.1f]]-->.
# - Temperature by itself keeps every word. At $T = 2$ even "Paris" keeps a probability of only 0.05<!--[[reshape(next_word[paris], temperature=2.0).exp().max():.2f]]-->; the rest is spread over all other words.
# </details>
#
# **Top-p, min-p and typical sampling keep few words where the model is confident and many where it is not<!--[[? all(10 * words_kept(paris, **{name: p}) < words_kept(once, **{name: p}) for name, p in (("top_p", 0.9), ("min_p", 0.05), ("typical_p", 0.5)))]]-->.** Top-k always
# keeps the same number of words.

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** *You omit the word that crosses p.* Keep a word if the probabilities of all words ranked before it sum to *less* than $p$. The crossing
# > word is then included. Without it nothing is left<!--[[? len(without) == 0]]--> after "The capital of France is" with $p = 0.7$, because "Paris" by itself holds more.
# > *You filter after sampling*: you sample from everything and replace a forbidden word by the best one. The best word then gets all
# > the mass that was cut, instead of sharing it. *You multiply by the temperature*: $z_i \cdot T$ sharpens where it should flatten.
# > *You divide the probabilities* by $T$ instead of the logits. After normalising, nothing has changed.

# %% slideshow={"slide_type": "fragment"}
p = next_word["The capital of France is"].exp()
ranked = p.sort(descending=True).values
without = ranked[ranked.cumsum(0) <= 0.7]
kept = reshape(p.log(), top_p=0.7).exp()
print(
    "words kept with p = 0.7, without the crossing word:",
    len(without),
    "  with it:",
    int((kept > 0).sum()),
)
print(
    "probabilities divided by 2, normalised: unchanged?",
    torch.allclose((p / 2) / (p / 2).sum(), p),
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. One filter at a time, always on both prompts. What goes wrong: they omit the word that crosses p.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Watch it write
#
# The model computes a distribution, we reshape it and sample a token, the model reads that token,
# and so on. It remembers the earlier tokens in its *state*, so that it never reads anything twice.

# %% slideshow={"slide_type": "fragment"}
begin = "I will never forget the day when"
start = torch.tensor([tokenizer.encode(begin)])
print(begin, end="")
steps = stream(llm, start, 20, top_p=0.9, generator=torch.Generator().manual_seed(2))
for piece in decode_stream(tokenizer, (step.tokens.item() for step in steps)):
    print(piece, end="", flush=True)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Now compare four ways of decoding from the same start. The bars show the distribution from which the token was sampled, after
# temperature and filters; the number in brackets is the token's probability under the model itself.
#
# > **Ask yourself.** At which tokens do greedy search and top-p differ? What will the text at $T = 2$ look like after six tokens?

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

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
tokens_by = {
    way: [node.token for node in tree.nodes if node.id in tree.best and node.step]
    for way, tree in trees.items()
}


@torch.no_grad()
def model_at(way, temperature=1.0):
    """At every token of this text, the model's distribution at a temperature."""
    text = torch.cat([start, torch.tensor([tokens_by[way]])], dim=1)
    return (llm(text)[0][0, start.shape[1] - 1 : -1] / temperature).softmax(-1)


highest = model_at("T = 2", 2.0).topk(5)
best_five = highest.values.sum(-1)
outside = sum(
    token not in five
    for token, five in zip(tokens_by["T = 2"], highest.indices.tolist(), strict=True)
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The text at $T = 2$ differs from the first token on. The other three begin with "I"<!--[[? [tokenizer.decode(tokens[:1]) == " I" for tokens in tokens_by.values()] == [True, True, True, False]]]-->
# and part at the second token<!--[[? len({tokens[1] for tokens in tokens_by.values()}) == 4]]-->, where no candidate has more than 0.14<!--[[model_at("greedy")[1].max():.2f]]--> of the model's probability.
# At $T = 2$ the bars almost vanish, because the five most probable tokens together reach at most 0.15<!--[[best_five.max():.2f]]--> of the reshaped
# probability. The model writes 13<!--[[outside]]--> of its 14<!--[[len(tokens_by["T = 2"])]]--> tokens from outside these five, and the sentence falls apart. One seed per way does not show which is better.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Stop at a step where one token has nearly all the probability and ask why. One seed per way: do not let the room rank them.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Against repetition
#
# Texts found by search repeat themselves (section 5). Filters other than typical sampling do not change greedy search, because they keep the most probable token. So
# we change the scores instead. The **repetition penalty** (Keskar et al. 2019, section 4.1) lowers the score $z_i$ of every token that already occurs in the text:
#
# $$z_i' = \begin{cases} z_i / \theta & \text{if } z_i > 0 \\ \theta\, z_i & \text{otherwise} \end{cases} \quad \text{for every } i \text{ in } w_1, \dots, w_{t-1}; \qquad
#   \theta \ge 1.$$
#
# Two relatives subtract instead: a **presence penalty** subtracts the same amount from every token that has occurred, and a
# **frequency penalty** subtracts it once per occurrence. Here are 8 passages of Shakespeare; the course's small model of section 5 (bpe_gpt) continues each
# by greedy search.


# %% slideshow={"slide_type": "fragment"}
def penalise(logits, text, theta):
    """The scores (row, vocab), lowered for every token that the row's text (row, time) holds."""
    seen = logits.gather(-1, text)
    return logits.scatter(-1, text, torch.where(seen > 0, seen / theta, seen * theta))


@torch.no_grad()
def continued(openings, theta, tokens=64):
    """Greedy search under the penalty."""
    text, unread, state = openings, openings, None
    for _ in range(tokens):
        logits, state = gpt(unread, state)
        unread = penalise(logits[:, -1], text, theta).argmax(-1, keepdim=True)
        text = torch.cat([text, unread], dim=1)
    return text[:, openings.shape[1] :].tolist()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
gpt, pieces, _ = checkpoint("bpe_gpt")
play = pieces.encode(load("shakespeare").texts("test")[0][4_000:40_000])
passages = torch.tensor(
    [play[i : i + 88] for i in range(0, 4_800, 600)]
)  # 24 tokens to read, 64 to continue


def old_groups(tokens):
    """For every group of four tokens: did it occur before in the same text?"""
    groups = [tuple(tokens[i : i + 4]) for i in range(len(tokens) - 3)]
    return [group in groups[:i] for i, group in enumerate(groups)]


def share(flags):
    return sum(flags) / len(flags)


penalties = (1.0, 1.05, 1.1, 1.2, 1.5, 2.0)
under = {theta: continued(passages[:, :24], theta) for theta in penalties}
under["Shakespeare"] = passages[:, 24:].tolist()
loops = {name: [share(old_groups(text)) for text in texts] for name, texts in under.items()}
different = {
    name: [len(set(text)) / len(text) for text in texts] for name, texts in under.items()
}


def with_marks(name, passage):
    """One continuation; tokens that end a group of four which occurred before are marked."""
    tokens = under[name][passage - 1]
    marks = [0, 0, 0, *map(int, old_groups(tokens))]
    told = f"{name}: {share(marks):.0%} of the tokens end a group that occurred before"
    names = ["new", "ends a group of four tokens that occurred before"]
    return show.marked_words_html([pieces.decode([i]) for i in tokens], marks, names, alt=told)


by_penalty = show.table(
    [
        (name, show.mean_from_to(old, "{:.0%}"), f"{mean(different[name]):.0%}")
        for name, old in loops.items()
    ],
    ["penalty", "repeated groups", "different tokens"],
    note="Means (lowest to highest) of 8 passages.",
)
show.predict(
    f"Without a penalty, {mean(loops[1.0]):.0%} of the groups of four tokens that greedy search writes occurred before in the same text; in Shakespeare's text, "
    f"{mean(loops['Shakespeare']):.0%} did. From which $\\theta$ upwards does greedy search repeat less than Shakespeare?",
    choices={"1.1": 1.1, "1.5": 1.5, "2": 2.0},
    answer=next(theta for theta in penalties if mean(loops[theta]) < mean(loops["Shakespeare"])),
    why="Does a larger penalty do harm? Compare the numbers of different tokens.",
    reveals=[
        by_penalty,
        widgets.live(
            with_marks,
            name=widgets.choice(under, "θ"),
            passage=widgets.slider(1, 1, 8, 1, "passage"),
        ).opens(name=1.1),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - A small penalty stops most of the repetition<!--[[? mean(loops[1.1]) < 0.2 * mean(loops[1.0])]]-->. A large one also suppresses words that people repeat. At
#   $\theta = 2$ nearly every token is new<!--[[? mean(different[2.0]) > 0.95]]-->, whereas Shakespeare uses some tokens again and again<!--[[? mean(different["Shakespeare"]) < 0.9]]-->.
# - The best $\theta$ may differ for another model; Keskar et al. used 1.2.
# </details>
#
# **A text that does not repeat itself is not yet a good text.** Read the continuations at 1.2: they repeat less than
# Shakespeare<!--[[? mean(loops[1.2]) < mean(loops["Shakespeare"])]]-->. Can you make sense of them?

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** *You also divide negative scores*: $-4 / 1.2$ is larger than $-4$, so the penalty becomes a reward. (The
# > formula printed by Keskar et al. always divides; programs multiply the negative ones.) *You penalise log-probabilities instead
# > of scores*: they differ from the scores only by a constant, which the softmax ignores, but all of them are negative, and this penalty
# > treats positive and negative scores differently. *You also penalise the prompt*, in a task that has to quote it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Let the room choose θ before the table opens, then read one continuation aloud at 1 and one at 2. Ask: which words must a text
# repeat? What goes wrong: they take "no repetition" for quality.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. Speculative decoding: the same distribution in fewer calls
#
# One step of a large model takes long because the computer has to read all the weights from memory, whether for one token or for ten
# (Leviathan et al. 2023). So let a small **draft model** $q$ write a few tokens, and let the large **target model** $p$ read them all in
# *one* call. This is **speculative decoding** (Leviathan et al. 2023; Chen et al. 2023). Go through the drafted words from left to right:
#
# $$\text{accept the drafted } x \text{ with probability } \min\!\left(1, \frac{p(x)}{q(x)}\right); \qquad
#   \text{at the first rejection sample a new } x \text{ from } \frac{\max(0,\, p - q)}{\sum_x \max(0,\, p(x) - q(x))}.$$
#
# After a rejection, draft again from there. If all drafts are accepted, the call yields one more token, sampled from $p$.
#
# **By hand, with two words.** The target model has $p = (0.8, 0.2)$, the draft model $q = (0.5, 0.5)$.
#
# | | word A | word B | in general |
# |---|---|---|---|
# | drafted | 0.5 | 0.5 | $q$ |
# | accepted | 0.5 · 1 = 0.5 | 0.5 · (0.2 / 0.5) = 0.2 | $q \cdot \min(1, p/q) = \min(p, q)$ |
# | rejected, then sampled again | 0.3 | 0 | $\max(0, p - q)$ |
# | together | 0.8 | 0.2 | $p$ |
#
# Drafts are rejected with probability $1 - 0.5 - 0.2 = 0.3$, and every rejection yields an A, the only word to which the draft model
# gives too little probability. In general $1 - \sum \min(p, q) = \sum \max(0, p - q)$, so in total every word $x$ is accepted or resampled
# with probability $p(x)$. **The result is distributed *exactly* as $p$, however bad the draft is.** Check it on two
# real distributions:

# %% slideshow={"slide_type": "fragment"}
large, letters, _ = checkpoint("char_gpt")  # the target: a Transformer over letters
small, _, _ = checkpoint("char_lstm")  # the draft: an LSTM
hamlet = torch.tensor([letters.encode("To be, or not ")])
with torch.no_grad():
    p_next, q_next = (model(hamlet)[0][0, -1].softmax(-1) for model in (large, small))

accepted = torch.minimum(p_next, q_next)
missing = (p_next - q_next).clamp(min=0)
by_both_ways = accepted + (1 - accepted.sum()) * missing / missing.sum()
print(f"here a draft of one letter is accepted with probability {accepted.sum():.2f}")
print("both ways together are p:", torch.allclose(by_both_ways, p_next, atol=1e-6))


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
class Counted:
    """A model that counts its calls."""

    def __init__(self, model):
        self.model, self.vocab_size, self.calls = model, model.vocab_size, 0

    def __call__(self, tokens, state=None):
        self.calls += 1
        return self.model(tokens, state)


def drawn(seed=1):
    return torch.Generator().manual_seed(seed)


def drafted(lookahead, seed):
    """The calls of the large model for 40 letters, and the tree of drafted letters."""
    target = Counted(large)
    _, tree = speculative_sample(
        target, hamlet, 40, draft=small, lookahead=lookahead, generator=drawn(seed), trace=True
    )
    return target.calls, tree


drafts = {
    lookahead: [drafted(lookahead, seed) for seed in range(5)] for lookahead in (1, 2, 4, 8)
}
per_call = {ahead: [40 / calls for calls, _ in runs] for ahead, runs in drafts.items()}
rejected = {
    ahead: mean(sum(node.status == "pruned" for node in tree.nodes) for _, tree in runs)
    for ahead, runs in drafts.items()
}


@torch.no_grad()
def acceptance(tree):
    """The mean of Σ min(p, q) over the letters of a text."""
    path = [node.token for node in tree.nodes if node.id in tree.best and node.step]
    text = torch.cat([hamlet, torch.tensor([path])], dim=1)
    p, q = (model(text)[0][0, hamlet.shape[1] - 1 : -1].softmax(-1) for model in (large, small))
    return torch.minimum(p, q).sum(-1).mean().item()


accepted_on_average = mean(acceptance(tree) for _, tree in drafts[4])


def with_rejections(ahead):
    """One of the five texts: each letter that replaces a rejected draft is marked."""
    tree = drafts[ahead][0][1]
    corrected = {node.parent for node in tree.nodes if node.status == "pruned"}
    path = [node for node in tree.nodes if node.id in tree.best and node.step]
    marks = [int(node.parent in corrected) for node in path]
    names = [
        "drafted and accepted, or added at the end of a call",
        "replaces a rejected draft",
    ]
    told = (
        f"{ahead} letters drafted at a time: {sum(marks)} of 40 letters replace a rejected draft"
    )
    return show.marked_words_html(
        [letters.decode([node.token]) for node in path], marks, names, alt=told
    )


by_lookahead = show.table(
    [
        (ahead, show.mean_from_to(rates, "{:.1f}"), f"{rejected[ahead]:.0f}")
        for ahead, rates in per_call.items()
    ],
    ["drafted at a time", "letters per call of the large model", "rejected drafts in 40 letters"],
    note="Means (lowest to highest) of 5 seeds.",
)
show.predict(
    "The small model drafts 4 letters at a time. How many letters does one call of the large model yield, on average?",
    choices={"about 1": 1, "about 3": 3, "about 5": 5},
    answer=mean(per_call[4]),
    why="A rejection discards all letters drafted after it. How much do 8 letters at a time gain?",
    reveals=[
        by_lookahead,
        widgets.live(with_rejections, ahead=widgets.choice(drafts, "drafted at a time")).opens(
            ahead=4
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - If each draft is accepted with probability $a$, independently of the others, a call yields on average $(1 - a^{\gamma + 1}) / (1 - a)$ letters for
#   $\gamma$ drafted ones (Leviathan et al., equation 1).
# - Along our five texts $a$ is 0.80<!--[[accepted_on_average:.2f]]--> on average. For $\gamma = 4$ the formula
#   gives 3.3<!--[[(1 - accepted_on_average**5) / (1 - accepted_on_average):.1f]]-->, and we measure 3.2<!--[[mean(per_call[4]):.1f]]-->.
# - The further ahead the small model drafts, the smaller the fraction of its letters that is accepted<!--[[? all((mean(per_call[b]) - 1) / b < (mean(per_call[a]) - 1) / a for a, b in pairwise(per_call))]]-->.
# - Letters per call are not letters per second. With a target much larger than the draft, Leviathan et al. report two to three times the speed.
# - Temperature and filters may reshape $p$ and $q$ first. The text then follows the *reshaped* $p$.
# </details>
#
# **A bad draft model costs time, not quality.**

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **What goes wrong.** *You take the large model's best letter when a draft is rejected*: the result is no longer distributed as $p$. *You keep
# > drafts after a rejection*: they continue a text that does not exist. *Your two models have different vocabularies*: token ids do not match.

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Do the table with two words on the board, and let the room fill in its third row. Ask first: does a bad draft model make the
# text worse? (No, only slower.) What goes wrong: the class thinks that the large model "checks" by agreeing with its own best choice.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10. A few more methods, in a line each
#
# - **Minimum Bayes risk** (Eikema & Aziz 2020) lets samples vote. It samples many texts, and takes the one that is most similar to all the
#   others. An odd text, such as an empty translation, can be the most probable of all and still lose, since it resembles no other sample.
# - **Diverse beam search** (Vijayakumar et al. 2018) splits the beam into groups, and penalises them for choosing the same words.
# - **Stochastic beam search** (Kool et al. 2019) samples $b$ *different* texts, without replacement.
# - **Contrastive search** (Su et al. 2022) chooses among the $k$ most probable tokens. It lowers the probability of a token whose vector is
#   similar to one of the text so far, and takes the best.
# - A **watermark** (Kirchenbauer et al. 2023) raises the scores of a part of the vocabulary that the previous token selects. If you know the
#   rule, you can count how often a text stays in that part, and so recognise a long text by this model.
#
# All but the watermark are in `nlmcore` and need only the function of section 2; for a model that
# has no hidden vectors, contrastive search compares predictions instead. Here is bpe_gpt, the model of section 8, after "KING. My lord,":

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
king = torch.tensor([pieces.encode("KING.\nMy lord,")])
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
show.table(
    [(way, pieces.decode(list(tokens)).replace("\n", " / ")) for way, tokens in texts.items()],
    ["method", "continuation"],
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. One text per way: enough to see that they run, not which is better. Ask which of them search and which sample.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Which text should a model write? If the input leaves little choice, as in translation, it should write a probable text, so use a
# small beam. If the input leaves much choice, as in a story, it should write a text that is typical of the model, so sample; usually
# the tail is cut off.** And if a program can check the answer, as with code, sample many and keep those that pass.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. Texts have 4 words from a vocabulary of 10. How many texts are there, and how many calls of the model does a beam of 3 need at most?
# <details><summary>Answer</summary>There are 10,000<!--[[10**4:,]]--> texts. The beam needs at most 1 + 3 + 3 + 3 = 10<!--[[1 + 3 + 3 + 3]]--> calls, because the first step has
# only one prefix.</details>
#
# 2. With what beam size is beam search certain to be exhaustive search?
# <details><summary>Answer</summary>With any size at which nothing is ever pruned. The beam must then hold all open texts of any
# step, up to V to the power n − 1 for texts of n words.</details>
#
# 3. One hypothesis has 4 tokens and ln P = −4, another has 8 tokens and ln P = −6. Which wins at α = 0, and which at α = 1?
# <details><summary>Answer</summary>At 0 the short one wins (−4 > −6), at 1 the long one (−0.75<!--[[-6 / 8]]--> > −1<!--[[-4 / 4:g]]-->).</details>
#
# 4. The next-word probabilities are 0.5, 0.3, 0.15, 0.05. What do top-k = 2, top-p = 0.8, top-p = 0.81 and min-p = 0.2 keep?
# <details><summary>Answer</summary>Top-k = 2 keeps the first two. Top-p = 0.8 also keeps the first two (0.5 + 0.3 reaches 0.8),
# top-p = 0.81 the first three, because the word that crosses 0.81 is kept. Min-p = 0.2 keeps all with at least 0.1, again the first
# three.</details>
#
# 5. Which temperatures do not change the order of the words?
# <details><summary>Answer</summary>Every T above 0. Dividing by a positive number keeps the order; only the differences shrink or
# grow.</details>
#
# 6. A finished hypothesis has P = 0.2, the best open one 0.19, and there is no length penalty. May the search stop?
# <details><summary>Answer</summary>Yes, if you want one text, because the open one can only fall. For the two best texts the search
# must continue.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Check yourself: 5 minutes, or homework. Question 4 at the board, one filter per row of seats. What goes wrong: with top-p = 0.8
# they keep the third word as well, and in question 6 they forget to ask how many texts are wanted.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Now you
#
# Write your own filter and pass it to the widget. The line below the picture says whether your result agrees with the reference; if
# not, the widget draws both. The filter below has temperature and top-p. Make it wrong (leave out the word that crosses p; multiply by the
# temperature) and look for a prompt where the mistake shows; then add top-k. In the assignment
# [`exercises/decoding/decoding.ipynb`](../exercises/decoding/decoding.ipynb) you write filters and searches yourself.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Now you: 10 minutes at the keyboard. Ask who finds a prompt on which the broken filter agrees with ours. What goes wrong: they test with one prompt only, or with p = 1, where every top-p is right.*


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
# | $b$, beam size | $k$, beam width, $B$ | the number of prefixes that the search keeps |
# | hypothesis $y$ | candidate, partial translation, prefix | one prefix |
# | pruned, dropped | removed from the list, off the agenda | a prefix that is not extended |
# | $\lvert y\rvert^\alpha$, length penalty | $lp(Y) = (5 + \lvert Y \rvert)^\alpha / 6^\alpha$ (Wu et al.), normalised log-likelihood | the divisor of ln P |
# | `<eos>` | `</s>`, stop symbol, END | the end of a text |
# | $T$ | $\tau$, softmax temperature | divides the logits |
# | nucleus | top-p set $V^{(p)}$ | the smallest set that holds $p$ |
#
# **Sources.** Viterbi (1967), Error Bounds for Convolutional Codes and an Asymptotically Optimum Decoding Algorithm. Lowerre (1976), The
# HARPY Speech Recognition System: beam search. Ackley, Hinton & Sejnowski (1985), A Learning
# Algorithm for Boltzmann Machines: temperature. Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural
# Networks, section 3.2. Wu et al. (2016), Google's Neural Machine Translation System, section 7. Koehn & Knowles (2017), Six
# Challenges for Neural Machine Translation, section 3.6. Fan, Lewis & Dauphin (2018), Hierarchical Neural Story Generation: top-k.
# Ott, Auli, Grangier & Ranzato (2018), Analyzing Uncertainty in Neural Machine Translation. Yang, Huang & Ma (2018), Breaking the Beam
# Search Curse. Chen, Gilroy, Maletti, May & Knight (2018), Recurrent Neural Networks as Weighted Language Recognizers. Vijayakumar et al. (2018), Diverse Beam Search. Kirchenbauer et al. (2023), A Watermark for Large Language Models. Stahlberg & Byrne (2019), On NMT Search Errors and Model Errors: Cat Got Your
# Tongue? Kool, van Hoof & Welling (2019), Stochastic Beams and Where to Find Them. Holtzman et al. (2020), The Curious Case of
# Neural Text Degeneration, figures 1 and 2. Keskar et al. (2019), CTRL, section 4.1: the repetition penalty. Eikema & Aziz (2020), Is MAP Decoding All You Need? Su et al. (2022), A Contrastive
# Framework for Neural Text Generation. Meister et al. (2023), Locally Typical Sampling. Leviathan, Kalman & Matias (2023), Fast
# Inference from Transformers via Speculative Decoding; Chen et al. (2023), Accelerating Large Language Model Decoding with
# Speculative Sampling. Nguyen et al. (2024), Turning Up the Heat: Min-p Sampling. Jurafsky & Martin (2024), Speech and Language
# Processing, chapters 10 and 13.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Notation: not for the room. Show the row of the length penalty for a minute if your own slides use the formula of Wu et al. What
# goes wrong: an α from a paper is copied into the other formula, where it means something else.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **decoding**: choosing a text with a language model, by searching or by sampling.
# - **prompt**: the given text that the model continues.
# - **exhaustive search**: scoring every possible text; exact, and prohibitive beyond a tiny vocabulary.
# - **greedy search**: taking the most probable next token at every step.
# - **hypothesis**: a prefix, or a finished text, that a search considers.
# - **beam**: the hypotheses that a search keeps at one step.
# - **beam size**: how many hypotheses the beam holds; 1 is greedy search.
# - **beam search**: extending all hypotheses of the beam by all words and keeping the best of the results.
# - **prune**: to drop a hypothesis for good.
# - **length penalty**: a power of the length that divides ln P; without it short texts have an advantage.
# - **beam search curse**: the observation that wider beams find more probable texts that are worse.
# - **sampling**: choosing the next token at random with the model's probabilities, reshaped or not.
# - **temperature**: the number that divides the scores before the softmax; below 1 it sharpens, above 1 it flattens.
# - **top-k**: keeping the k most probable tokens before sampling.
# - **top-p**: keeping the smallest set of top-ranked tokens whose probabilities sum to at least p.
# - **nucleus**: the set of tokens that top-p keeps.
# - **min-p**: keeping tokens that are at least min-p times as probable as the best one.
# - **typical**: keeping the tokens whose surprise is closest to the entropy.
# - **entropy (of a distribution)**: the mean surprise of a distribution, minus the sum of p ln p.
# - **diverse beam search**: beam search in groups that avoid each other's words.
# - **stochastic beam search**: a beam search that samples different texts without replacement.
# - **minimum Bayes risk**: choosing among samples the text that is most similar to all the others.
# - **watermark**: a hidden preference for some tokens, by which a program recognises the texts of a model.
# - **contrastive search**: choosing a probable token whose vector differs from those of the text so far.
# - **repetition penalty**: lowering the scores of tokens that already occur in the text, by a factor.
# - **presence penalty**: subtracting the same amount from the score of every token that has occurred.
# - **frequency penalty**: subtracting from a token's score once for each time it has occurred.
# - **speculative decoding**: decoding in which a small model drafts tokens and a large one accepts or rejects them; the text follows the large model's distribution.
# - **draft model**: in speculative decoding, the small model that proposes tokens.
# - **target model**: in speculative decoding, the large model whose distribution the text follows.
