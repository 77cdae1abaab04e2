# %% [markdown] slideshow={"slide_type": "slide"}
# # Do modifications transfer?
#
# Since 2017 hundreds of papers have modified the Transformer, each with its own code, data and baseline. Few of these modifications are widely used. Narang et al. (2021) put 51 modifications
# into one program, trained all of them in the same way and asked which ones still help. **When may you believe that one model is better than another?** This lecture reads their table row by row and asks
# which of its differences are real. Then it trains some of the models again, in a small and controlled set-up.
#
# <img src="figures/fifty_one_changes.svg" width="560" alt="An encoder and a decoder as boxes; behind the name of each part the number of the 51 rows that change it.">
#
# *A Transformer, and how many of the 51 modifications change each part. Some modifications change several parts.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say what each of the 51 modifications changes, and find its equation and code;
# - test whether two rows of a table differ, from the means and standard deviations that it prints;
# - correct for the number of comparisons, and say what the correction costs;
# - tell a column of results from a column of noise;
# - compare rows at equal parameters, equal operations or equal time, and say which comparison a claim needs;
# - judge a replication: whether it measures what it is said to measure, and which alternative explanations are left.
#
# **You need** [lecture 15](15_transformer_language_model.ipynb) (the block and its parts), [lecture 16](16_encoder_decoder_transformers.ipynb) (encoder and decoder) and [lecture 5](05_training_well.ipynb) (seeds, confidence intervals).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 11 | 11 | 8 | 8 | 9 | 12 | 7 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 110 minutes. Every cell runs in a few seconds on a laptop, without a network connection. Our training runs took some hours on two cores; their results are stored with the command that repeats them. A table at the end translates the papers' terms.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 5 and the second half of section 6. Sections 3, 7 and 8 belong together: a test, what must hold before it, and what it cannot see.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from functools import lru_cache
from itertools import permutations, product
from statistics import fmean, stdev

import numpy as np
from IPython.display import HTML, display

from lectures import show, stored, stored_runs, widgets
from lectures.recipes.narang import LENGTHS, RATE, STEPS, THEIRS, VANILLA, ours
from nlmcore.metrics.significance import (
    Sample,
    critical,
    paired,
    rank_correlation,
    spearman,
    welch,
)

runs = ours()  # row -> our trainings of it, one for each seed
columns = widgets.columns(THEIRS, runs)  # the table, theirs and ours, by column
others = [row for row in THEIRS if row != VANILLA]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Fifty-one improvements
#
# Narang et al. (2021) start from T5, an encoder–decoder with 12 + 12 layers and 223 million parameters. This is their **baseline**, *vanilla*, the model that every modification is compared with. Their table has one row for vanilla and 51 others, each for one modification or for a few that belong together. We also call the models *rows*.
# All rows get the same data, the same number of steps and the same learning rate, which was tuned only on vanilla. The table has these columns:
#
# - the **early loss** on held-out text after 65,536 steps, mean and standard deviation of five runs;
# - the **final loss** after 524,288 steps, one run;
# - four tasks after fine-tuning: SuperGLUE, summaries (XSum), questions (WebQ), and English to German (EnDe, without pretraining);
# - parameters, operations, and steps per second.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
final = {row: of["final"] for row, of in THEIRS.items()}
below = [row for row in others if final[row] < final[VANILLA]]
lead = {row: f"−{final[VANILLA] - final[row]:.3f}" for row in below}
told = [(row, f"{final[row]:.3f}", lead[row]) for row in sorted(below, key=final.get)]
below_told = show.table(told, ["", "Final loss", "Difference from vanilla"])
show.predict(
    "Of the 51 modifications, how many have a lower final loss than vanilla in their table?",
    choices={"about 5": 5, "about 15": 15, "about 30": 30, "about 45": 45},
    answer=len(below),
    why="Most modifications did not lower the loss in this program and training set-up. Of the rows that did, five are gated feed-forward networks, and three have many more parameters.",
    reveals=below_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - 15<!--[[len(below)]]--> rows end below vanilla's 1.838<!--[[final[VANILLA]:.3f]]-->, one has the same loss<!--[[? sum(final[row] == final[VANILLA] for row in others) == 1]]-->, and 35<!--[[sum(final[row] > final[VANILLA] for row in others)]]--> end above it. But each final loss comes from a *single run*, so a difference of 0.004 may be chance.
# - The authors asked twelve authors of modifications to check the code. Six answered, and all six confirmed it.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask who has read a paper with "improves over the Transformer" in its abstract, and then what the baseline was. What goes wrong: students conclude that the papers were wrong.
# Each may be right about its own data and training; the question is whether the improvement transfers.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. The table, row by row
#
# Vanilla's block is the pre-norm block of [lecture 15](15_transformer_language_model.ipynb), with ReLU, a learned bias for each distance, and one embedding matrix for encoder, decoder and softmax:
#
# $$x \leftarrow x + \mathrm{attention}(\mathrm{LN}\,x), \qquad x \leftarrow x + \mathrm{FFN}(\mathrm{LN}\,x), \qquad \mathrm{FFN}(x) = W_2 \max(0, W_1 x) .$$
#
# In `nlmcore` every row is one line that replaces a part:

# %% slideshow={"slide_type": "fragment"}
from nlmcore.variants import CATALOGUE

for name in ("SwiGLU", "RMS Norm", "Rezero"):
    print(f"{name}: changes {', '.join(CATALOGUE[name].changes)}  ({CATALOGUE[name].source})")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
four = ["Universal Transformer", "Rezero", "GeLU", "Synthesizer (random)"]
show.predict(
    "Put these rows in the order of their final loss in the paper, lowest first: a block that is repeated (Universal Transformer), a learned factor instead of a norm (Rezero), a smoother activation (GeLU), attention weights that do not depend on the words (Synthesizer random).",
    order=four,
    answer=sorted(four, key=final.get),
    why="GeLU ends at vanilla's loss of 1.838. Rezero also changes little in the block, but ends 0.1 above vanilla. The Universal Transformer is last, and makes a quarter of vanilla's steps per second.",
    reveals=widgets.table_explorer(columns),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Ask yourself.** The table appears with the answer to the prediction above. Press a row to open it. Sort by the parameters of the paper's models, then by the operations. Which of the good rows have many more parameters, and which printed value is hard to believe?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Switch Transformer, mixture of experts and product keys are among the best, with 5, 3 and 2 times the parameters of vanilla.
# - For product keys the table prints 386.6<!--[[THEIRS["Product key memory"]["operations"]:.1f]]--> · 10¹² operations per step, 35<!--[[THEIRS["Product key memory"]["operations"] / THEIRS[VANILLA]['operations']:.0f]]--> times those of vanilla. The authors call this an artefact of their code.
# - Gated networks have three matrices instead of two, but their hidden layer has 2/3 of the width. So they have vanilla's parameters and operations.
# - An opened row also says which details of the modification the paper does not give.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Take the order as a show of hands. Then let the room choose three rows to open, and read the equation aloud with the picture. What goes wrong: students read "operations" as "time"; sort by steps per second to see that it is not.
# For some rows the table also has our own results; section 7 says what they are.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Is a difference real?
#
# Vanilla's early loss is 2.182<!--[[early[VANILLA].mean:.3f]]--> with a standard deviation of 0.005<!--[[early[VANILLA].sd:.3f]]-->. That of RMS Norm is 2.167<!--[[early["RMS Norm"].mean:.3f]]--> with 0.008<!--[[early["RMS Norm"].sd:.3f]]-->. Both come from five runs. **Welch's t test** divides the difference of the means by its standard error. It allows the two spreads to differ:
#
# $$t = \frac{\bar x - \bar y}{\sqrt{s_x^2 / n_x + s_y^2 / n_y}} .$$
#
# Here $\bar x$ is the mean of one row's $n_x$ runs, $s_x$ is their standard deviation, and the same symbols with $y$ describe the other row. If the true means were equal, $t$ would approximately follow Student's distribution, whose *degrees of freedom* grow with the number of runs. The **p value** is the probability that such a $t$ is at least as far from 0 as the one that you observed. To compute it you need only the values that the table prints.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def t_value(x, y):
    """Samples (mean, sd, n) -> Welch's t."""
    return (x.mean - y.mean) / math.sqrt(x.sd**2 / x.n + y.sd**2 / y.n)


early = {row: Sample(of["early"], of["sd"], n=5) for row, of in THEIRS.items()}
for row in ("GeGLU", "Swish"):
    t, p = t_value(early[row], early[VANILLA]), welch(early[row], early[VANILLA])
    print(f"{row:6} t = {t:6.2f}, p = {p:.2g}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
rms = welch(early["RMS Norm"], early[VANILLA])
show.predict(
    "RMS Norm is 0.015 below vanilla. What is its p value?",
    choices={"about 0.5": 0.5, "about 0.1": 0.1, "about 0.01": 0.01, "about 0.00001": 1e-5},
    answer=rms,
    why="The standard error of the difference is about 0.004, so $t$ is about −3.6. With seven degrees of freedom such a $t$ is rare, but not very rare.",
    reveals=widgets.pair_playground(columns),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Fifty-one tests.** A p value below 0.05 happens once in twenty tests even *without* any difference. With 51 rows you expect two or three such accidents. A **correction for multiple comparisons** requires a smaller p value of each row:
#
# - **Bonferroni**: multiply every p by the number of tests;
# - **Holm**: multiply the smallest p by the number of tests $m$, the next by $m - 1$, and so on, and never let a later corrected p fall below an earlier one. Holm guards against even a single false winner as well as Bonferroni does, and never finds fewer differences.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def bonferroni(p):
    """row -> p, to row -> corrected p."""
    return {row: min(1.0, len(p) * value) for row, value in p.items()}


def holms(p):
    corrected, worst = {}, 0.0
    for k, row in enumerate(sorted(p, key=p.get)):
        worst = max(worst, min(1.0, (len(p) - k) * p[row]))
        corrected[row] = worst
    return corrected


example = {"a": 0.001, "b": 0.012, "c": 0.04}
print("Bonferroni", {row: round(p, 3) for row, p in bonferroni(example).items()})
print("Holm      ", {row: round(p, 3) for row, p in holms(example).items()})

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
early_tests = columns["early loss, theirs"].tests()
alone = [row for row, test in early_tests.items() if test.p < 0.05 and test.difference < 0]
real = [row for row, test in early_tests.items() if widgets.direction(test) == "better"]
wide = [row for row, test in early_tests.items() if abs(test.difference) >= 0.02]
show.predict(
    f"On the early loss {len(alone)} of the 51 rows beat vanilla at p < 0.05 if each is tested alone. How many are left after Holm's correction?",
    choices={"none": 0.01, "3": 3, "7": 7, "all of them": len(alone)},
    answer=len(real),
    why="RMS Norm and GLU do not pass. The p values of the others are below 0.0001, so they survive even 51 comparisons.",
    reveals=widgets.correction_playground(
        {"none": dict, "Bonferroni": bonferroni, "Holm": holms}, columns
    ).opens(correction="Holm"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - These rows are left: GeGLU, ReGLU, SwiGLU, LiGLU, mixture of experts, Switch Transformer and product key memory. The first four change the feed-forward network, the other three add parameters<!--[[? {*real} == {"GeGLU", "ReGLU", "SwiGLU", "LiGLU", "Mixture of experts", "Switch Transformer", "Product key memory"}]]-->.
# - RMS Norm has p = 0.0099<!--[[early_tests["RMS Norm"].p:.4f]]--> alone and 0.13<!--[[early_tests["RMS Norm"].corrected:.2f]]--> after the correction. "No difference shown" is not "no difference". More runs may well show one, and later models did adopt RMS Norm.
# - 32<!--[[sum(t.corrected < 0.05 for t in early_tests.values())]]--> rows differ from vanilla after the correction, 25<!--[[sum(t.corrected < 0.05 and t.difference > 0 for t in early_tests.values())]]--> of them for the worse. Of the 35<!--[[len(wide)]]--> rows that differ from vanilla by at least 0.02 the test detects 31<!--[[sum(early_tests[row].corrected < 0.05 for row in wide)]]-->.
# - This holds for the *early* loss. The final loss and all four tasks have one run, so they cannot be tested like this.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Compute RMS Norm's $t$ on the board. Then choose a pair that the room believes in. Ask what p is not: it is not the probability that the rows are equal. What goes wrong: students correct only the tests that came
# out well; all 51 were looked at, so all 51 count.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Fifty-one chances to be lucky
#
# Suppose that *nothing* works: all 51 rows are vanilla under another name. We sample five runs for each of the 52 rows from one normal distribution and test each row against vanilla, as above. A row wins if its mean is lower and p < 0.05. For a single row this happens in 2.5 % of cases: half of the 5 %, since the other half are significantly worse.
# If the 51 tests were independent, at least one row would win in $1 - 0.975^{51}$ = 73<!--[[100 * (1 - 0.975**51):.0f]]--> % of tables.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
@lru_cache
def critical_values(level):
    """Degrees of freedom, and the t that is significant with them."""
    freedom = np.geomspace(1, 20, 60)
    return freedom, [critical(f, level) for f in freedom]


def beats(runs, level=0.05):
    """runs (…, row, run), the baseline first -> which other rows are better, p < level."""
    n, mean, a = runs.shape[-1], runs.mean(-1), runs.var(-1, ddof=1) / runs.shape[-1]
    apart, error = mean[..., 1:] - mean[..., :1], a[..., 1:] + a[..., :1]
    freedom = (n - 1) * error**2 / (a[..., 1:] ** 2 + a[..., :1] ** 2)
    return apart < -np.interp(freedom, *critical_values(level)) * np.sqrt(error)


def tables(rows, runs, games, seed=0):
    """Losses of rows that are all equal."""
    return np.random.default_rng(seed).normal(2.182, 0.006, (games, rows + 1, runs))


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def wins(rows, runs, games):
    return beats(tables(rows, runs, games)).sum(-1)


def one_table(rows, runs, which):
    game = tables(rows, runs, 1, which)[0]
    return game, beats(game)


lucky = wins(51, 5, 4000)
show.predict(
    "In fact all 51 rows are compared with the *same* five runs of vanilla. In what percentage of such tables does at least one row win, although all are equal?",
    choices={"about 3 %": 3, "about 30 %": 30, "about 73 %": 73, "about 99 %": 99},
    answer=100 * float((lucky > 0).mean()),
    unit=" %",
    why="The tests are not independent, since they share one baseline. Lucky wins come in clusters: usually no row wins, but when vanilla's five runs happen to have high losses, many rows win together.",
    reveals=widgets.luck_playground(wins, one_table),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
corrected_wins = beats(tables(51, 5, 4000), 0.05 / 51).sum(-1)
luck = (
    f"{lucky.mean():.1f} of 51 equal rows win on average; the unluckiest of 4,000 baselines loses to {lucky.max()} rows.",
    f"If we ask for p < 0.05 / 51 (Bonferroni), a row wins in {(corrected_wins > 0).mean():.1%} of the tables.",
    f"In the paper's table {len(alone)} rows win, and {len(real)} of them after the correction. By luck alone {len(alone)} or more rows win in"
    f" {(lucky >= len(alone)).mean():.1%} of our simulated tables, and {len(real)} or more after the correction in {(corrected_wins >= len(real)).mean():.1%}.",
)
HTML(
    "<details><summary><b>What to notice</b></summary>"
    + "".join(map(show.said, luck))
    + "</details>"
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Move "another table" until many rows win together; then lower the runs to 2. Ask what more runs of the *baseline* alone would change. The clusters get smaller, but more tables have a lucky win, because the tests become more independent. What goes wrong: students take the
# correction as a punishment for testing many rows. It is the price of reporting the best of many.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. A column of noise?
#
# WebQ asks short questions; its column is the percentage of right answers on the validation questions. How many questions are there? You can compute it from the table:

# %% slideshow={"slide_type": "fragment"}
webq = np.array([of["webq"] for of in THEIRS.values()])


def fits(questions):
    """How many of the printed percentages are multiples of 1 / questions, up to rounding."""
    nearest = 100 * np.round(webq / 100 * questions) / questions
    return int((np.abs(nearest - webq) < 0.01).sum())


questions = max(range(50, 800), key=fits)
print(
    f"{questions} questions fit {fits(questions)} of the 52 values;",
    f"one question is {100 / questions:.2f} points",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
right = webq.mean() / 100
by_chance = 100 * math.sqrt(right * (1 - right) / questions)
show.predict(
    f"A row answers {webq.mean():.0f} % of {questions} questions correctly on average. If every row had this probability of a right answer to each question, what standard deviation would the column have from chance alone, in points?",
    choices={"about 0.2": 0.2, "about 0.7": 0.7, "about 2": 2, "about 6": 6},
    answer=by_chance,
    why="The standard error of a fraction is $\\sqrt{p(1-p)/n}$. Here it corresponds to about eight questions.",
    reveals=[
        show.said(
            f"Chance gives {by_chance:.2f} points; the printed column has {stdev(webq):.2f}."
        ),
        widgets.noise_playground(columns, questions),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - 51<!--[[fits(378)]]--> of the 52<!--[[len(THEIRS)]]--> values are multiples of 1/378. The exception is 19.56, because 74 right answers would be 19.58 %. So even a published table may contain an error.
# - Vanilla answers 87<!--[[round(THEIRS["Vanilla Transformer"]["webq"] * questions / 100)]]--> of 378<!--[[questions]]--> questions correctly, GeLU 95<!--[[round(THEIRS["GeLU"]["webq"] * questions / 100)]]--> and Switch Transformer 99<!--[[round(THEIRS["Switch Transformer"]["webq"] * questions / 100)]]-->. GeLU has vanilla's final loss. If the two rows answered independently, their difference would have a standard deviation of 12<!--[[2**0.5 * by_chance / 100 * questions:.0f]]--> questions by chance alone. So GeLU's 8<!--[[round(THEIRS["GeLU"]["webq"] * questions / 100) - round(THEIRS["Vanilla Transformer"]["webq"] * questions / 100)]]--> additional right answers may easily be luck.
# - The standard deviation of the column, 1.81<!--[[stdev(of["webq"] for of in THEIRS.values()):.2f]]--> points, is even *smaller* than the 2.17<!--[[by_chance:.2f]]--> that chance alone would give. All rows answer the same questions, and some of these may be easy for all rows; the table does not say. If so, the standard error of a fraction
#   is too large for a comparison of two rows. If you have the individual answers, compare the rows question by question.
# - **It is not all noise.** Rows with a low final loss answer more questions correctly. The rank correlation ([lecture 14](14_positions.ipynb); section 6 defines it) is ρ = 0.73<!--[[rank_correlation([(-THEIRS[row]["final"], THEIRS[row]["webq"]) for row in THEIRS])["rho"]:.2f]]--> over the 52 rows. In the widget, choose the rows *within 0.05 of vanilla's loss*. Over these 29<!--[[len(close)]]--> rows ρ is only 0.36<!--[[rank_correlation([(-THEIRS[row]["final"], THEIRS[row]["webq"]) for row in close])["rho"]:.2f]]--> (95 % interval −0.03<!--[[rank_correlation([(-THEIRS[row]["final"], THEIRS[row]["webq"]) for row in close])["low"]:.2f]]--> to 0.66<!--[[rank_correlation([(-THEIRS[row]["final"], THEIRS[row]["webq"]) for row in close])["high"]:.2f]]-->).
#   The bad rows carry much of the correlation.
# - SuperGLUE holds up better. For this column ρ is 0.87<!--[[rank_correlation([(-THEIRS[row]["final"], THEIRS[row]["superglue"]) for row in THEIRS])["rho"]:.2f]]--> over all rows and 0.74<!--[[rank_correlation([(-THEIRS[row]["final"], THEIRS[row]["superglue"]) for row in close])["rho"]:.2f]]--> among the 29. So some columns of a table can tell you much more than others.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Before the cell runs, let the room guess the number of questions from the gaps between the printed values. Compare "as printed" with "by chance" for the good rows. What goes wrong: from "the column correlates with the loss" students conclude that a pair of neighbours in it can be ranked.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Early and final, parameters and operations
#
# The early loss is measured after an eighth of the training. If it ranked the rows as the final loss does, you could save seven eighths of the training. Compare ranks, not values: **Spearman's rank correlation** ρ is the correlation of the two lists of ranks. It is 1 if both orders are the same, and about 0 if they are unrelated.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
kept = rank_correlation([(of["early"], of["final"]) for of in THEIRS.values()])
close = [row for row in THEIRS if abs(final[row] - final[VANILLA]) <= 0.05]
kept_close = rank_correlation([(THEIRS[row]["early"], final[row]) for row in close])
display(
    HTML(
        show.said(
            f"ρ = {kept['rho']:.2f} over all rows (95 % interval {kept['low']:.2f} to {kept['high']:.2f}); over the {kept_close['pairs']} rows within 0.05 of vanilla ρ = {kept_close['rho']:.2f} ({kept_close['low']:.2f} to {kept_close['high']:.2f})"
        )
    ),
    widgets.scatter_playground(columns, "early loss, theirs", "final loss, theirs"),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Better at equal what?** A row may be better simply because it has more parameters, needs more operations or takes more time. So say which of these you hold equal. Each choice makes a different claim:
#
# - *equal parameters*: what you must store and load;
# - *equal operations*: what the arithmetic costs;
# - *equal time*: how long you wait, which also depends on kernels and memory traffic.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
base = THEIRS[VANILLA]
cheap = [
    row
    for row in below
    if THEIRS[row]["parameters"] <= base["parameters"]
    and THEIRS[row]["operations"] <= base["operations"]
]
fast = [row for row in below if THEIRS[row]["steps_per_second"] >= base["steps_per_second"]]
both = [row for row in cheap if row in fast]
cheap_told = show.table(
    [(row, f"{final[row]:.3f}", f"{THEIRS[row]['steps_per_second']:.2f}") for row in cheap],
    ["Lower loss at no more parameters and operations", "Final loss", "Steps per second"],
    note=f"No slower than vanilla ({base['steps_per_second']:.2f} steps per second): {len(both)}",
)
show.predict(
    f"Take the {len(below)} rows with a lower final loss than vanilla. How many of them have neither more parameters nor more operations?",
    choices={"0": 0.01, "3": 3, "7": 7, "12": 12},
    answer=len(cheap),
    why="They are five gated networks, RMS Norm, and 18 narrower layers. All others have more parameters, and some need more operations too.",
    reveals=cheap_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Between early and final loss ρ is 0.95<!--[[kept["rho"]:.2f]]--> over all 52 rows, but only 0.75<!--[[kept_close["rho"]:.2f]]--> over the 29 rows near vanilla. The ranks of clearly bad rows are settled early, those of close rows less so.
# - Transparent attention is at vanilla's level early (2.181<!--[[THEIRS["Transparent attention"]["early"]:.3f]]-->) and 0.036<!--[[final["Transparent attention"] - final[VANILLA]:.3f]]--> behind at the end. The mixture of softmaxes is 0.045<!--[[THEIRS["Mixture of softmaxes"]["early"] - THEIRS[VANILLA]["early"]:.3f]]--> behind early and 0.017<!--[[final[VANILLA] - final["Mixture of softmaxes"]:.3f]]--> ahead at the end. Each final loss is from one run, and the early losses of these rows have standard deviations of 0.014<!--[[THEIRS["Transparent attention"]["sd"]:.3f]]--> and 0.017<!--[[THEIRS["Mixture of softmaxes"]["sd"]:.3f]]--> between runs. So the lead of the mixture may be chance.
# - Choose *operations* and *steps per second* as axes. Universal and Weighted Transformer are slow and need many operations. Dynamic convolution is slow although it needs hardly more operations than vanilla.
# - Sharing blocks saves parameters but no operations; Funnel saves operations but no parameters.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let a student choose the axes and another predict the picture. What goes wrong: students compare rows "at equal size" and mean parameters in one sentence and time in the next.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Some of the rows, run again
#
# Narang et al. trained text-to-text models. So do we, at a scale that two cores can train (`python -m lectures.recipes.transfer`). One encoder–decoder reads a source and writes the answer; a prefix names the task:
#
# | task | source | answer |
# |---|---|---|
# | pronunciation (CMUdict) | `<sounds>` r o u g h | R AH F |
# | numbers into German | `<german>` four thousand seven | vier tausend sieben |
# | spelling (First Folio) | `<modern>` h a u e | h a v e |
#
# All rows have 4 + 4 layers of width 48, 5,400<!--[[STEPS:,]]--> steps of 64 pairs, and one learning rate, tuned only on vanilla. A seed gives every row the same random numbers and the same batches, so the runs of two rows come in *pairs*.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **First, is the source used at all?** An earlier version of this lecture had a table of all 52 rows, with five seeds each and every test corrected. Its models restored missing spans of Shakespeare's plays after 320 steps of training. Does the decoder of such a model use what the encoder has read? To test this, we give every target the source of *another* text.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
used = stored("unused_source")
TASKS = {"spans": "spans (pretraining)", "phonemes": "phonemes", "numbers": "numbers"}


def over_seeds(row, task, which):
    """Mean over the seeds of a row, in nats per token."""
    return fmean(run[task][which] for run in used["rows"][row])


own_source = {task: over_seeds(VANILLA, task, "own source") for task in TASKS}
rises = {
    task: over_seeds(VANILLA, task, "another text's source") - own_source[task] for task in TASKS
}
bigram = {task: used["n-grams"][task][1] for task in TASKS}  # of the same training targets
another = fmean(
    fmean(task["loss"] for task in run["another_source"].values()) for run in runs[VANILLA]
)
vanilla_loss = columns["final loss, ours"].values[VANILLA]
risen = {f"earlier table, {name}": rises[task] for task, name in TASKS.items()}
risen["today"] = another - vanilla_loss
told = [(name, f"{rise:+.5f}") for name, rise in risen.items()]
source_told = show.table(told, ["Baseline", "Rise of the loss with another text's source"])
show.predict(
    f"On held-out spans the earlier table's vanilla has a loss of {own_source['spans']:.2f} nats per token. How much does the loss rise when every target gets another text's source?",
    choices={"not at all": 0, "0.01": 0.01, "0.3": 0.3, "3": 3},
    answer=round(rises["spans"], 3),
    why="The loss is the same whichever source the decoder gets. We do not know why. The number of steps is not the whole reason, because another row of that table, Fixup, used its source a little after the same number of steps.",
    reveals=source_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The earlier baseline **did not use its source**<!--[[? max(abs(rise) for rise in rises.values()) < 0.001]]-->. It was no better than a bigram model of its targets. On spans it has 3.55<!--[[own_source["spans"]:.2f]]--> nats, and the bigram model 3.54<!--[[bigram["spans"]:.2f]]--><!--[[? all(own_source[task] > bigram[task] for task in TASKS)]]-->. Every row was compared with this baseline, so the comparisons said nothing about encoder–decoders that use their source, and we threw the table away. Five seeds and corrected tests did not help, because a test does not know what was measured.
# - The losses fell and differed between rows, so nothing looked wrong.
# - Today's baseline has a loss of 0.19<!--[[vanilla_loss:.2f]]--> nats, and 8.6<!--[[another:.1f]]--> with another text's source. More than one thing differs between the two set-ups, so we do not know which one matters.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Second, can the set-up detect known effects?** Before we trained any row, code checked three things. The source is used. The best of five learning rates is not at the edge of the five. Five changes that must harm the model do harm it:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
floor = fmean(map(min, stored("transfer/floors").values()))
by_control, by_rate = {}, {}
for run in stored_runs("transfer"):
    job = run["job"]
    if (job["row"], job["steps"]) == (VANILLA, STEPS):
        name, group = (job["control"], by_control) if job["control"] else (job["rate"], by_rate)
        group.setdefault(name, []).append(run["final"])
rates = {f"learning rate {rate:g}": by_rate[rate] for rate in sorted(by_rate) if rate != RATE}
by_control = dict(sorted(by_control.items(), key=lambda item: fmean(item[1])))
known = {f"vanilla (learning rate {RATE:g})": by_rate[RATE], **rates, **by_control}
known["another text's source"] = [another]
HTML(widgets.checks_svg(known, floor, "our vanilla, other learning rates, and harmful changes"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Vanilla's loss of 0.19<!--[[vanilla_loss:.2f]]--> nats is far below the 2.03<!--[[floor:.2f]]--> of the best n-gram model of the answers, which needs no source.
# - Without cross-attention the model, with 2.28<!--[[fmean(by_control["no cross-attention"]):.2f]]--> nats, is not even as good as this n-gram model<!--[[? fmean(by_control["no cross-attention"]) > floor]]-->.
# - Between rates of 0.0028 and 0.0112 vanilla's loss hardly changes, by less than 0.005 nats<!--[[? max(map(fmean, by_rate.values())) - min(map(fmean, by_rate.values())) < 0.005]]-->. At three times the rate that all rows share, it is higher by 0.011<!--[[fmean(by_control["3 x the rate"]) - by_rate[RATE][0]:.3f]]--> nats (one seed).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Third, how small a difference can we find?** Three seeds are few. But all rows share them, so we can estimate one standard deviation from all rows together. Subtract from each loss the mean of its row and the mean of its seed, and add the mean of all losses. We treat the remainder $e_{rs}$ as noise:
#
# $$e_{rs} = x_{rs} - \bar x_r - \bar x_s + \bar x, \qquad v = \frac{\sum_{rs} e_{rs}^2}{(R-1)(S-1)}, \qquad t = \frac{\bar x_r - \bar x_{\mathrm{vanilla}}}{\sqrt{2 v/S}} .$$
#
# Here $x_{rs}$ is the loss of row $r$ with seed $s$. There are $R$ rows, vanilla among them, and $S$ seeds. $v$ is the variance of the noise. If a row spreads more than three times as much as the median row, we use that row's own variance. We trained vanilla and nine<!--[[words(len(names))]]--> rows:

# %% slideshow={"slide_type": "fragment"}
names = [row for row in runs if row != VANILLA]
losses = {row: [run["final"] for run in runs[row]] for row in runs}
tests, layout = paired(losses[VANILLA], {row: losses[row] for row in names})
unpaired = fmean(stdev(values) for values in losses.values())
smallest = layout.detectable(len(tests))
print(f"between the seeds of one row {unpaired:.4f} nats; left after pairing {layout.sd:.4f}")
print(
    f"difference found with probability 0.8, Holm-corrected for {len(tests)} rows: {smallest:.4f}"
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
signs = {
    row: {
        math.copysign(1, ours_ - base_)
        for ours_, base_ in zip(losses[row], losses[VANILLA], strict=True)
    }
    for row in names
}
agree = [row for row in names if signs[row] == {math.copysign(1, final[row] - final[VANILLA])}]
passed = [row for row in names if tests[row].corrected < 0.05]
on_test = {
    row: [fmean(task["loss"] for task in run["test"].values()) for run in runs[row]]
    for row in runs
}
again, _ = paired(on_test[VANILLA], {row: on_test[row] for row in names})
passed_again = [row for row in names if again[row].corrected < 0.05]
sounds = {
    row: [run["dev"]["sounds"]["loss"] for run in runs[row]]
    for row in (VANILLA, "Synthesizer (random)")
}
lost_on_sounds = [a - b for a, b in zip(*reversed(sounds.values()), strict=True)]


def in_percent(row):
    """By how much a row is behind vanilla, in % of vanilla's loss: theirs, ours."""
    return (
        100 * (final[row] / final[VANILLA] - 1),
        100 * tests[row].difference / fmean(losses[VANILLA]),
    )


same_order = rank_correlation([in_percent(row) for row in names])
groups = [  # the rows that are better in the paper, and the worse ones
    [in_percent(row) for row in names if (in_percent(row)[0] < 0) == better]
    for better in (True, False)
]
orders = product(*(permutations([mine for _, mine in group]) for group in groups))
as_printed = [printed for group in groups for printed, _ in group]
shuffled = [  # ρ if only the sign of a difference transfers
    round(float(of), 3)
    for of in spearman(as_printed, [[*better, *worse] for better, worse in orders])
]
by_task = {
    row: {
        task: fmean(run["dev"][task]["loss"] for run in runs[row])
        for task in ("sounds", "spelling")
    }
    for row in (VANILLA, "Dynamic convolution", "Synthesizer (random)")
}
widgets.forest_playground(columns, "final loss, ours")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In every seed eight<!--[[words(len(agree))]]--> of the nine rows differ from vanilla in the paper's direction; Funnel does in two seeds of three<!--[[? {*names} - {*agree} == {"Funnel Transformer"}]]-->. Rezero is furthest behind, by 0.015<!--[[tests["Rezero"].difference:.3f]]--> nats<!--[[? max(tests, key=lambda row: tests[row].difference) == "Rezero"]]-->; GeGLU is furthest ahead, by 0.007<!--[[-tests["GeGLU"].difference:.3f]]--><!--[[? min(tests, key=lambda row: tests[row].difference) == "GeGLU"]]-->.
# - Corrected for nine tests, four<!--[[words(len(passed))]]--> rows pass: ELU, GeGLU, Rezero and dynamic convolution<!--[[? {*passed} == {"ELU", "GeGLU", "Rezero", "Dynamic convolution"}]]-->, the last barely (p = 0.04<!--[[tests["Dynamic convolution"].corrected:.2f]]-->). The other five do not. Their differences are below two thirds of the smallest difference that three seeds can detect<!--[[? all(abs(tests[row].difference) < 2 / 3 * smallest for row in tests if row not in passed)]]-->, so these tests do not show that the rows equal vanilla.
# - These results are on the dev words. On the test words, ELU, GeGLU and Rezero pass again<!--[[? {"ELU", "GeGLU", "Rezero"} <= {*passed_again}]]-->; there the fourth row that passes is Funnel<!--[[? {*passed_again} - {*passed} == {"Funnel Transformer"} and "Dynamic convolution" not in passed_again]]-->. So believe the differences of these three.
# - **Does the size of a difference transfer?** Their losses are nearly ten times ours, so compare in percent of vanilla's loss. Over the nine rows, the rank correlation between the differences in the paper and ours is 0.80<!--[[same_order["rho"]:.2f]]--> (95 % interval 0.27<!--[[same_order["low"]:.2f]]--> to 0.98<!--[[same_order["high"]:.2f]]-->).
# - The signs alone give nearly as much. Shuffle our differences among the four rows that are better in the paper, and among the five that are worse. Then ρ is 0.75<!--[[fmean(shuffled):.2f]]--> on average, and at least 0.80 in 35<!--[[100 * fmean(of >= same_order["rho"] for of in shuffled):.0f]]--> % of the orders. So these runs show that the direction transfers, not that the size does.
# - Look at single rows. ELU is behind by 5<!--[[in_percent("ELU")[0]:.0f]]--> % in the paper and here<!--[[? round(in_percent("ELU")[1]) == 5]]-->. Synthesizer (random), whose attention never sees the words, is behind by 9<!--[[in_percent("Synthesizer (random)")[0]:.0f]]--> % in the paper and by 1<!--[[in_percent("Synthesizer (random)")[1]:.0f]]--> % here. In our model only self-attention is replaced, not cross-attention.
# - A mean hides its parts. Synthesizer (random) loses 0.015<!--[[fmean(lost_on_sounds):.3f]]--> nats on sounds, in every seed<!--[[? min(lost_on_sounds) > 0]]-->; a gain in spelling makes up for more than half of it<!--[[? by_task[VANILLA]["spelling"] - by_task["Synthesizer (random)"]["spelling"] > fmean(lost_on_sounds) / 2]]-->. Dynamic convolution pronounces as well as vanilla, but loses 0.020<!--[[by_task["Dynamic convolution"]["spelling"] - by_task[VANILLA]["spelling"]:.3f]]--> nats in spelling. We chose these two rows after seeing all tasks, so they are hypotheses for new runs.
# - Pairing helps if a seed shifts the losses of all rows alike. On the dev words it gains nothing. The deviation left after pairing is no smaller than that between the seeds of a row<!--[[? layout.sd >= unpaired]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Vote on the source first: it is the most important question of the lecture. The formula of the shared deviation is for the board: compute one $e_{rs}$ by hand. What goes wrong: "ours agrees, so it is confirmed". Tasks, size, data and optimiser differ from theirs.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. How long must you train?
#
# Can you believe the order of the rows after a short training? We also trained vanilla and some rows for a ninth and for a third of the steps, each time with its own complete schedule (a warm-up, then a cosine down to zero).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_length = {steps: ours(steps) for steps in (*LENGTHS, STEPS)}
base = {steps: [run["final"] for run in of[VANILLA]] for steps, of in by_length.items()}
gaps = {
    row: {
        steps: [run["final"] - other for run, other in zip(of[row], base[steps], strict=True)]
        for steps, of in by_length.items()
    }
    for row in names
    if all(row in of for of in by_length.values())
}
early_loss, late_loss = (fmean(base[steps]) for steps in (LENGTHS[0], STEPS))
turning = gaps["Dynamic convolution"]
show.predict(
    f"After 600 steps vanilla's loss is still {early_loss:.2f} nats. Where is dynamic convolution then? (It is behind by {100 * fmean(turning[STEPS]) / late_loss:.0f} % of vanilla's loss after 5,400 steps.)",
    choices=["further behind", "as far behind, in percent", "level", "clearly ahead"],
    answer="clearly ahead",
    why="It leads in each of the three seeds. The difference is real, but vanilla overtakes it later.",
    reveals=widgets.lengths_playground(
        gaps, {steps: fmean(of) for steps, of in base.items()}
    ).opens(longest=STEPS),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - After 600 steps dynamic convolution leads by 27<!--[[-100 * fmean(turning[600]) / early_loss:.0f]]--> % of vanilla's loss, after 1,800 by 4<!--[[-100 * fmean(turning[1800]) / fmean(base[1800]):.0f]]--> %, and after 5,400 it is 3<!--[[100 * fmean(turning[5400]) / late_loss:.0f]]--> % behind, each time in every seed<!--[[? max(turning[600] + turning[1800]) < 0 < min(turning[5400])]]-->. So even a large difference in every seed may show only that one row learns faster.
# - GeGLU's lead shrinks from 16<!--[[-100 * fmean(gaps["GeGLU"][600]) / early_loss:.0f]]--> % to 4<!--[[-100 * fmean(gaps["GeGLU"][5400]) / late_loss:.0f]]--> %, but in every seed it stays a lead<!--[[? all(max(of) < 0 for of in gaps["GeGLU"].values())]]-->.
# - We have not tested *why* dynamic convolution learns sooner.
# - The noise falls only at first. The deviation between vanilla's seeds is 0.034<!--[[stdev(base[600]):.3f]]--> nats after 600 steps, and 0.002<!--[[stdev(base[1800]):.3f]]--> both after 1,800 and after 5,400<!--[[? f"{stdev(base[5400]):.3f}" == "0.002"]]-->.
# - GeGLU's lead is 2.7<!--[[-fmean(gaps["GeGLU"][600]) / stdev(gaps["GeGLU"][600]):.1f]]-->, 5.5<!--[[-fmean(gaps["GeGLU"][1800]) / stdev(gaps["GeGLU"][1800]):.1f]]--> and 2.6<!--[[-fmean(gaps["GeGLU"][5400]) / stdev(gaps["GeGLU"][5400]):.1f]]--> times the deviation of its three differences. From three seeds we cannot tell whether longer runs make this lead easier to see. Longer runs do show whether it lasts.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why a row may still fail to transfer.** If an improvement does not appear when the experiment is repeated, this is a **failed replication**. Before you conclude that the improvement is not real, test the other explanations. Our experiment passed three tests: the source is used, known effects are seen, and the runs are long enough for one lead to vanish. These explanations are left:
#
# - **the learning rate** is tuned only on vanilla; another row may need a different one;
# - **the length of training**: after 5,400 steps the models may still change their order, and the authors trained a hundred times longer<!--[[? 90 < 524_288 / STEPS < 110]]-->;
# - **width 48** instead of 768, so a factorised embedding has 8 dimensions;
# - **data and optimiser**: three small tasks instead of web text, AdamW instead of Adafactor.

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What the paper says about the same question</b></summary>
#
# - **Settings shared by all rows matter.** In their table 2 (appendix A) the baseline has learned positions instead of the relative bias. GeGLU's early loss is 0.073<!--[[2.245 - 2.172:.3f]]--> below vanilla's there, instead of 0.052<!--[[THEIRS[VANILLA]["early"] - THEIRS["GeGLU"]["early"]:.3f]]-->.
#   Rezero's early loss is 2.262<!--[[THEIRS["Rezero"]["early"]:.3f]]--> in table 1, and 3.180 with a standard deviation of 0.719 in table 2, so there its runs differ widely.
# - **Tuning helps, but not enough.** They tried 25 settings of the Universal Transformer (section 3.2). The best brought its early loss from 2.406<!--[[THEIRS["Universal Transformer"]["early"]:.3f]]--> to 2.265, still behind vanilla's 2.182<!--[[THEIRS[VANILLA]["early"]:.3f]]-->.
# - **What wins** (section 4 of the paper): small changes, more parameters or operations, or modifications that were developed in the same code.
# - **Their advice:** try a modification in several programs and on several tasks, keep hyperparameters fixed, and report mean and deviation over runs.
# - Five years later, Zhao et al. (2026) put 20 newer modifications to a similar test at 1.2 and 3 billion parameters, with several seeds of the baseline. Two of the 20 survive a Bonferroni correction at the smaller size, and one of these does not train stably at the larger.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Believe a difference when the models use what you compare, when the set-up shows known effects, when the seeds can tell the difference from noise, and when longer training does not reverse it.** On the paper's early loss 7<!--[[len(real)]]--> of 51 modifications are better than vanilla after the correction. GeGLU is better in the paper and in our runs. SwiGLU is better in the paper, but our three seeds cannot tell it from vanilla.

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Let the room see only the 600 steps and bet. Then ask which explanation it would test first with one more day of two cores. What goes wrong: students call it unfair that only vanilla is tuned. This tests a drop-in replacement; tuning each
# row is a different question.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Bonferroni and Holm guard against a *single* false winner. If you screen 51 ideas for a second round, you may accept that one in twenty of the winners is false. The correction of Benjamini & Hochberg (1995) does this. Sort the p values, multiply the $k$-th smallest by $m / k$, and from the largest down never let an earlier one exceed a later one.


# %% slideshow={"slide_type": "fragment"}
def my_correction(p):
    """row -> p, to row -> corrected p. Change this."""
    order = sorted(p, key=p.get)
    return {row: min(1.0, len(p) * p[row]) for k, row in enumerate(order, 1)}


mine = {"none": dict, "corrected": my_correction}
widgets.correction_playground({"none": dict, "corrected": bonferroni}, columns, yours=mine)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. The given function is Bonferroni, so the pictures agree at first. With Benjamini and Hochberg RMS Norm and GLU pass again. What goes wrong: the running minimum is taken from the wrong end.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`exercises/modifications/modifications.ipynb`](../exercises/modifications/modifications.ipynb) you build three modifications and all the tests of this lecture, and judge one row of the table with them.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A table prints 2.10 ± 0.01 and 2.12 ± 0.01 (standard deviations, five runs). What is $t$?
# <details><summary>Answer</summary>$0.02 / \sqrt{2 \cdot 0.01^2 / 5} = 3.2$, so p is about 0.01.</details>
#
# 2. Suppose that the same means come from one run each. What is p?
# <details><summary>Answer</summary>Unknown. One run has no spread, so no test can be made.</details>
#
# 3. You tried 51 ideas and report the best, with p = 0.01. What should a reader do?
# <details><summary>Answer</summary>Multiply p by 51, which gives 0.51. By chance some idea would look as good as this in at most 51 % of such searches, and in 40<!--[[100 * (1 - 0.99**51):.0f]]--> % if the tests were independent.</details>
#
# 4. Why do equal rows win in clusters?
# <details><summary>Answer</summary>All are compared with the same few runs of the baseline. If these are unlucky, every row looks better.</details>
#
# 5. A Switch Transformer beats vanilla at equal operations. Name a comparison in which it may lose.
# <details><summary>Answer</summary>At equal memory, because it has five times the parameters. Or at equal time, on a machine that needs a long time to read so many parameters from memory.</details>
#
# 6. Two tables have a rank correlation of 0.6 over 52 rows. May you conclude that the best row of one is among the best of the other?
# <details><summary>Answer</summary>No. The clearly bad rows can produce all of the correlation. Look at the correlation among the good rows.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 3. What goes wrong: they answer with a new experiment, which is right, but forget to say how many runs.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | loss | log perplexity | nats per token on held-out text, as in the paper's column |
# | early, final | after 65,536 and 524,288 steps | the losses after an eighth of the training and at its end |
# | operations | Ops, FLOPs | the paper counts those of one step; we count the multiply-adds of one batch in the forward pass |
# | ± | | half a 95 % interval here; the paper prints standard deviations |
# | ρ | $r_s$ | Spearman's rank correlation |
# | Holm's correction | Holm–Bonferroni | corrected p values, from the smallest |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: a standard deviation is read as an interval of the mean; with five runs, half the interval is 1.24 times the deviation.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **baseline**: the model that every modification is compared with.
# - **early loss**: held-out loss after an eighth of the training.
# - **final loss**: held-out loss at the end of the training.
# - **Welch's t test**: a test of whether two means are equal, for samples whose spreads may differ.
# - **p value**: the probability of a result at least this extreme if there were no difference.
# - **correction for multiple comparisons**: requiring a smaller p value in each test because many tests are made.
# - **Bonferroni**: the correction that multiplies every p value by the number of tests.
# - **Holm**: the correction that multiplies the smallest p value by the number of tests, the next by one less, and so on.
# - **Spearman's rank correlation**: the correlation of the ranks of two lists.
# - **failed replication**: a published result that does not appear when the experiment is repeated.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Narang, Chung, Tay, Fedus, Fevry, Matena, Malkan, Fiedel, Shazeer, Lan, Zhou, Li, Ding, Marcus, Roberts & Raffel (2021), Do Transformer modifications transfer across implementations and applications? Raffel et al. (2020), T5. The source of each modification is in its row of the table.
# Welch (1947), The generalization of "Student's" problem. Holm (1979), A simple sequentially rejective multiple test procedure. Benjamini & Hochberg (1995), Controlling the false discovery rate. Efron (1979), Bootstrap methods. Zhao et al. (2026), arXiv 2605.20798.
