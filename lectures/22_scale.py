# %% [markdown] slideshow={"slide_type": "slide"}
# # Scale
#
# The largest models of today are close relatives of the one in [lecture 15](15_transformer_language_model.ipynb), with far more parameters, text and compute. **Can you predict what a larger model
# will do *before* you train it?** We trained a *ladder* of models, from two thousand to a million parameters, and on it we test the laws that papers have published.
#
# <img src="figures/ladder_of_models.svg" width="720" alt="Nine models as squares whose areas are in proportion to their parameters, from 1,760 to 991,616; the largest was held out.">
#
# *The ladder. Each square's area is in proportion to its model's parameters. The largest model is held out, and the laws have to predict its loss.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - divide a budget of operations between parameters and text;
# - fit a power law and a law of two variables, give an interval for a prediction, and test it on a held-out run;
# - put a paper's published constants into its own formula, and check whether the result agrees with the paper's advice;
# - name possible causes of the difference between two papers' exponents, 0.73 and 0.50, and say in which direction each must move the exponent;
# - tell whether a training curve is flat because of its cosine schedule or because the model is at its limit;
# - say how much of a sudden jump in an ability the metric explains;
# - prompt a model with examples, and measure how much they help.
#
# **You need** [lecture 15](15_transformer_language_model.ipynb) (the Transformer), [lecture 5](05_training_well.ipynb) (learning rates, cosine, seeds) and [lecture 8](08_gates.ipynb) (the LSTM).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
# |---|---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 8 | 9 | 11 | 9 | 6 | 7 | 9 | 8 |
#
# The minutes are for a class. If you work alone, with all widgets, plan about two hours. Every cell runs in a few seconds on a laptop, without a network connection. Training the ladder took about an hour on one core; the results are stored with the command that repeats it. A table at the end translates the papers' terms.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 7 and 9. Sections 2 to 5 belong together: a law, its test, its use, and two papers that disagree.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import itertools
import math
from statistics import fmean, stdev

import numpy as np
import torch

from lectures import show, stored, widgets
from lectures.prompting import Template
from lectures.recipes.few_shot import CAPITALS, OPPOSITES, PLURALS, pairs, sums
from lectures.recipes.ladder import BATCH, HELD_OUT, RUNGS, TIME, TUNED_AT
from lectures.widgets import scale
from nlmcore.metrics import mean_interval
from nlmcore.pretrained import smollm2
from nlmcore.scaling import FLOOR, HOFFMANN, KAPLAN, POWER, PUBLISHED, REFITTED, fit_law

torch.set_num_threads(1)  # these models are so small that one core is fastest
result = stored("ladder")
runs = result["runs"]
ladder = scale.points(runs)  # size by length, each the mean of its seeds
sizes = scale.by_size(ladder)
lengths = [len(of) for of in sizes.values()]  # how many, from the smallest model to the largest
(untuned,) = scale.points(runs, "held_out")  # with the largest ladder model's learning rate
own = stored("held_out")["widths"][str(untuned.width)]
(held_out,) = scale.points(
    ({**run, "variant": "held_out", "width": untuned.width} for run in own["runs"]), "held_out"
)


DEPTHS = dict((*RUNGS, HELD_OUT[0]))  # width -> layers
tuned_at = TUNED_AT * BATCH * TIME  # characters read before the rates were chosen


def true_cost(p):
    """Multiply-adds per token over N: also the scores at the output, and attention over the (TIME + 1) / 2 tokens that a position sees."""
    attention = DEPTHS[p.width] * (TIME + 1) * p.width  # queries with keys, weights with values
    return (p.whole + attention) / p.N


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Ten times the compute
#
# Each parameter takes part in one multiplication and one addition per token in the forward pass, and in about twice as many in the backward pass. So training a model with $N$ parameters on $D$ tokens takes about
#
# $$C \approx 6 N D$$
#
# operations. $C$ is the **compute** of the training. $N$ leaves out the embeddings, because looking up a row costs next to nothing.
#
# For small models this estimate is too low. Our embedding table is also the output layer, because the weights are tied. There every final vector is multiplied by the table, and $N$ does not count this. Attention also multiplies queries by keys, and weights by values; we count only the pairs that the causal mask leaves. Per token, our smallest model needs 1.96<!--[[true_cost(longest[0]):.2f]]--> times the operations that its $N$ suggests, and the largest model of the ladder 1.07<!--[[true_cost(longest[-1]):.2f]]--> times. For large models with short contexts the formula is close. Section 5 counts exactly.
#
# **Our ladder** consists of Transformers of eight<!--[[words(len(sizes))]]--> sizes. Each size is trained on six<!--[[words(min(lengths))]]--> different lengths of text (the small sizes on seven<!--[[words(max(lengths))]]-->)<!--[[? lengths == sorted(lengths, reverse=True) and len(set(lengths)) == 2]]--> from Shakespeare's plays. A token is a character. Each run has its own cosine schedule, as long as the run, and each size has its own learning rate. The loss is measured on held-out plays, in nats per character, and is the mean of three<!--[[words(len(held_out.runs))]]--> seeds.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
smaller, text = list(sizes)[3], 262_144
begin = next(p for p in sizes[smaller] if text == p.D)
more_text = next(p for p in sizes[smaller] if 8 * text == p.D)
more_model = next(p for p in ladder if text == p.D and p.width == 64)
gap = more_model.loss - more_text.loss
say = "about the same" if abs(gap) < 0.03 else "the text" if gap > 0 else "the model"
three = {"before": begin, "8 times the text": more_text, "14 times the model": more_model}
ten_times = show.table(
    [
        (name, f"{p.N:,}", f"{p.D:,}", f"{p.compute / 1e9:.0f}", f"{p.loss:.3f}")
        for name, p in three.items()
    ],
    ["", "parameters N", "characters D", "billion operations C", "loss"],
)
show.predict(
    f"A model of {begin.N:,} parameters was trained on {begin.D:,} characters. Now you have about ten times the operations. Either the same model reads eight times the text, or you train a model 14 times as large on the same text. Which gives the lower loss?",
    choices=["the text", "the model", "about the same"],
    answer=say,
    why="More text wins, although it costs fewer operations. A third size may be still better for this budget. Look for it in the game below.",
    reveals=ten_times,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A game.** Choose a budget and a size. The model is trained for as long as the budget allows. Each point below the dashed line is a stored run that you can afford. Can you find the best size before you let the widget show it?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.budget_playground(ladder)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
budgets = [10**k for k in np.arange(9, 12.6, 0.25)]
lowest = {b: min(scale.affordable(ladder, b), key=lambda p: p.loss) for b in budgets}
losing = {
    name: fmean(pick(scale.affordable(ladder, b)).loss - lowest[b].loss for b in budgets)
    for name, pick in (
        ("the largest model", lambda of: of[-1]),
        ("the smallest model", lambda of: of[0]),
    )
}
# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Over 15<!--[[len(budgets)]]--> budgets, always taking the largest affordable model costs 0.37<!--[[losing["the largest model"]:.2f]]--> nats on average, compared with the best choice. Always taking the smallest costs 0.19<!--[[losing["the smallest model"]:.2f]]-->.
# - From the smallest budget to the largest, the best size grows from 1,760<!--[[lowest[budgets[0]].N:,]]--> to 200,064<!--[[lowest[budgets[-1]].N:,]]--> parameters.
# - The best amount of text grows as well, from 65,536<!--[[lowest[budgets[0]].D:,]]--> to 2,097,152<!--[[lowest[budgets[-1]].D:,]]--> characters.
# </details>
#
# **On our ladder a larger budget calls for both a larger model and more text.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Play the game: the room names a size for three budgets, then tick the best. What goes wrong: "larger is better". At equal compute it need not be.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. A straight line
#
# Kaplan et al. (2020) trained Transformers of 768 to 1.5 billion parameters on up to 23 billion tokens of web text. The loss was a **power law** of the parameters $N$ as long as there was plenty of text, and of the tokens $D$ as long as the model was large enough:
#
# $$L(N) = \left(\frac{N_c}{N}\right)^{0.076}, \qquad L(D) = \left(\frac{D_c}{D}\right)^{0.095}, \qquad N_c = 8.8 \cdot 10^{13}, \quad D_c = 5.4 \cdot 10^{13} .$$
#
# Take the logarithm of a power law with exponent $\alpha$: $\ln L = \alpha \ln N_c - \alpha \ln N$. With both axes logarithmic this is a straight line of slope $-\alpha$. A formula that predicts the loss from $N$, $D$ or $C$ is a **scaling law**.


# %% slideshow={"slide_type": "fragment"}
def power_law(n, constant, exponent):
    return (constant / n) ** exponent


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
kaplan_told = show.table(
    [(f"{n:,.0f}", f"{power_law(n, 8.8e13, 0.076):.2f}") for n in (1e7, 1e8, 1e9, 1e10, 1e11)],
    ["parameters", "loss, nats per token"],
)
show.predict(
    "According to Kaplan's exponent of 0.076, by what percentage does a model ten times as large lower the loss?",
    choices={"about 2 %": 2, "about 16 %": 16, "about 50 %": 50, "about 90 %": 90},
    answer=100 * (1 - 10**-0.076),
    unit=" %",
    why="$10^{-0.076} = 0.84$. On a straight line each factor of ten lowers the loss by the same percentage, however large the model already is.",
    reveals=kaplan_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Even a perfect model has some loss, because the next token is not determined by the text before it. A second form of the law therefore has an **irreducible loss** $E$, the entropy that no model can remove: $L(N) = E + A / N^\alpha$. Over a short range of $N$ you can hardly tell the two forms apart. Far beyond that range they disagree.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
largest = list(sizes.values())[-1]
longest = [next(p for p in of if p.D == largest[-1].D) for of in sizes.values()]
best = {p[:3]: p for p in lowest.values()}.values()  # of the budgets of section 1
series = {
    "parameters": [(float(p.N), p.loss) for p in longest],
    "characters": [(float(p.D), p.loss) for p in largest],
    "operations": [(p.compute, p.loss) for p in best],
}
FORMS = {"power law": POWER, "with irreducible loss": FLOOR}


def line(of, form):
    x, losses = torch.tensor(of).T
    return fit_law(losses, x, None, form, 40, generator=torch.Generator().manual_seed(0))


lines = {
    name: {form: line(of, fields) for form, fields in FORMS.items()}
    for name, of in series.items()
}
widgets.law_playground(series, lines)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
slopes = {name: of["power law"].interval(lambda law: law.alpha) for name, of in lines.items()}
floors = {
    name: of["with irreducible loss"].interval(lambda law: law.E) for name, of in lines.items()
}
errors = {
    (name, form): max(abs(float(fit.law.loss(x)) / y - 1) for x, y in series[name])
    for name, of in lines.items()
    for form, fit in of.items()
}
# %% [markdown] slideshow={"slide_type": "fragment"}
# | loss as a function of | exponent of the straight line, 95 % interval | largest error of the straight line | largest error with an irreducible loss | irreducible loss, nats |
# |---|---|---|---|---|
# | parameters | 0.039<!--[[slopes["parameters"][0]:.3f]]--> to 0.064<!--[[slopes["parameters"][2]:.3f]]--> | 5.4<!--[[100 * errors["parameters", "power law"]:.1f]]--> % | 0.7<!--[[100 * errors["parameters", "with irreducible loss"]:.1f]]--> % | 1.53<!--[[floors["parameters"][0]:.2f]]--> to 1.60<!--[[floors["parameters"][2]:.2f]]--> |
# | characters | 0.119<!--[[slopes["characters"][0]:.3f]]--> to 0.133<!--[[slopes["characters"][2]:.3f]]--> | 1.9<!--[[100 * errors["characters", "power law"]:.1f]]--> % | 0.8<!--[[100 * errors["characters", "with irreducible loss"]:.1f]]--> % | 0.25<!--[[floors["characters"][0]:.2f]]--> to 1.24<!--[[floors["characters"][2]:.2f]]--> |
# | operations | 0.055<!--[[slopes["operations"][0]:.3f]]--> to 0.084<!--[[slopes["operations"][2]:.3f]]--> | 10.6<!--[[100 * errors["operations", "power law"]:.1f]]--> % | 3.8<!--[[100 * errors["operations", "with irreducible loss"]:.1f]]--> % | 1.4<!--[[floors["operations"][0]:.1f]]--> to 1.7<!--[[floors["operations"][2]:.1f]]--> |
#
# <details><summary><b>What to notice</b></summary>
#
# - The form with an irreducible loss contains the straight line as a special case and has one more constant, so it must fit at least as well. For parameters and operations the gain is large, so our points do not lie on a straight line. For characters both errors are below 2 %<!--[[? max(errors["characters", form] for form in FORMS) < 0.02]]-->, so these six<!--[[words(len(series["characters"]))]]--> points cannot tell the two forms apart.
# - The three irreducible losses cannot all be the entropy of the text<!--[[? floors["characters"][2] < floors["parameters"][0]]]-->. With limited text the loss levels off above this entropy, however large the model.
# - Our exponents are not Kaplan's. Text, tokens and sizes differ, and we did not test which of them matters.
# </details>
#
# **On our ladder a straight line is a first approximation, and its exponent is larger for characters than for parameters or operations<!--[[? slopes["characters"][0] > max(slopes["parameters"][2], slopes["operations"][2])]]-->.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Untick the logarithmic axes: the same points look as if they had converged. Then extend the axis to 100 times the largest value, and let the room choose a form. What goes wrong: students read a straight line as a law of nature. Any smooth curve
# looks straight if you see only a short piece of it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Fitted on small models, tested on a larger one
#
# Hoffmann et al. (2022) fit both variables together. We write the forms of both papers as one function:
#
# $$L(N, D) = \left(E + \frac{A}{N^\alpha} + \frac{B}{D^\beta}\right)^\kappa .$$
#
# Hoffmann's form has $\kappa = 1$; Kaplan's has $E = 0$ and $\beta = 1$. `fit_law` minimises the Huber loss of the errors of $\ln L$, which counts large errors by their size and small ones by their square. For an interval it uses the **bootstrap** (Efron 1979): repeat the
# fit on equally many points, sampled from ours with replacement, and see how much the answer varies. Our intervals use 40 samples, so that a cell takes seconds. Their ends are nearly the extremes of the 40, so read them as rough; for a paper take a thousand.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def fit(points, form, samples=40):
    """Points of the ladder -> a law with its bootstrap samples."""
    losses = torch.tensor([p.loss for p in points])
    N = torch.tensor([float(p.N) for p in points])
    D = torch.tensor([float(p.D) for p in points])
    return fit_law(losses, N, D, form, samples, generator=torch.Generator().manual_seed(0))


chosen = [list(sizes)[k] for k in (4, 5, 7)]  # the largest size that a fit may see
forecasts = {
    name: {n: fit([p for p in ladder if n >= p.N], form) for n in chosen}
    for name, form in (("Hoffmann", HOFFMANN), ("Kaplan", KAPLAN))
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = {
    (name, n): found.predict(float(held_out.N), float(held_out.D))
    for name, of in forecasts.items()
    for n, found in of.items()
}
miss = {at: 100 * (middle / held_out.loss - 1) for at, (_, middle, _) in told.items()}
first = chosen[0]
show.predict(
    f"Fit Hoffmann's form on models up to {first:,} parameters. How far is its prediction from the loss of the held-out model, which has {held_out.N / first:.0f} times as many parameters?",
    choices={"below 0.5 %": 0.2, "about 1 %": 1, "about 4 %": 4, "about 15 %": 15},
    answer=abs(miss["Hoffmann", first]),
    unit=" %",
    why="The bootstrap shows how the points scatter. It does not show whether the form of the law is right. The next table also has a forecast that needs no law.",
    reveals=widgets.forecast_playground(ladder, held_out, forecasts),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
noise = fmean(stdev(p.runs) / p.loss for p in ladder)
scatter = {name: float(of[chosen[-1]].residuals.std()) for name, of in forecasts.items()}
inside = [at for at, (low, _, high) in told.items() if low <= held_out.loss <= high]
same_text = next(p for p in largest if p.D == held_out.D)  # the largest of the ladder
naive = same_text.loss
gained, next_smaller = (
    stored("held_out")["gain"],
    stored("held_out")["widths"][str(same_text.width)],
)
by_rate = mean_interval(a - b for a, b in zip(untuned.runs, held_out.runs, strict=True))
tried = {float(rate): loss for rate, loss in own["at_full_length"].items()}
below, above = (
    max(rate for rate in tried if rate < own["rate"]),
    min(rate for rate in tried if rate > own["rate"]),
)


def off(model):
    """In percent, how far the forecasts of the whole ladder and the one without a law are from a model's loss."""
    said = {"no law": naive, **{name: told[name, chosen[-1]][1] for name in forecasts}}
    return {name: 100 * (loss / model.loss - 1) for name, loss in said.items()}


tuned, badly = off(held_out), off(untuned)
seen_loss = forecasts["Hoffmann"][chosen[-1]].predict(float(same_text.N), float(same_text.D))[1]
promised = seen_loss - told["Hoffmann", chosen[-1]][1]  # by the larger model, on as much text
# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# | error of the forecast | fitted up to 38,176<!--[[chosen[0]:,]]--> parameters | fitted on the whole ladder | the same, with the smaller model's rate |
# |---|---|---|---|
# | Hoffmann's form | +3.9<!--[[miss["Hoffmann", chosen[0]]:+.1f]]--> % | +4.5<!--[[miss["Hoffmann", chosen[-1]]:+.1f]]--> % | +2.6<!--[[badly["Hoffmann"]:+.1f]]--> % |
# | Kaplan's form | −8.4<!--[[miss["Kaplan", chosen[0]]:+.1f]]--> % | −1.5<!--[[miss["Kaplan", chosen[-1]]:+.1f]]--> % | −3.2<!--[[badly["Kaplan"]:+.1f]]--> % |
# | no law: “as good as the largest model of the ladder on the same text” | | +1.8<!--[[tuned["no law"]:+.1f]]--> % | +0.0<!--[[badly["no law"]:+.1f]]--> % |
#
# - We trained the held-out model twice. In the last column it has the learning rate of the largest model of the ladder, 0.005<!--[[result["rates"]["Transformer"][str(largest[-1].width)]:g]]-->. In the others it has a rate of its own, 0.0025<!--[[own["rate"]:g]]-->, which was better than 0.0013<!--[[below:g]]--> and 0.005<!--[[above:g]]--><!--[[? tried[own["rate"]] == min(tried.values())]]--> at the full length of text, in one seed (`python -m lectures.recipes held_out`).
# - With its own rate its loss is 1.641<!--[[held_out.loss:.3f]]--> nats, 0.029<!--[[by_rate[0]:.3f]]--> ± 0.006<!--[[by_rate[1]:.3f]]--> lower than with the other.
# - With the smaller model's rate, the forecast without a law is the best of the three in the last column. The model with more than twice the parameters<!--[[? held_out.N > 2 * largest[-1].N]]--> seems to gain nothing. With its own rate it gains 0.030<!--[[gained[0]:.3f]]--> ± 0.006<!--[[gained[1]:.3f]]--> nats, and Kaplan's form on the whole ladder is nearest<!--[[? min(tuned, key=lambda name: abs(tuned[name])) == "Kaplan"]]-->. But it is too low by nearly as much as the forecast without a law is too high, so three seeds cannot tell which of the two is better<!--[[? abs(held_out.loss - (naive + told["Kaplan", chosen[-1]][1]) / 2) < mean_interval(held_out.runs)[1]]]-->. Hoffmann's form predicts a gain of 0.014<!--[[promised:.3f]]-->.
# - All six<!--[[words(len(told))]]--> intervals, one for each form and each fit in the widget, contain the loss of the held-out model<!--[[? len(inside) == len(told)]]-->. So they do not tell you which form to believe.
# - Hoffmann's form does not predict better when it is fitted to larger models as well<!--[[? miss["Hoffmann", chosen[-1]] > miss["Hoffmann", chosen[0]]]]-->. For the largest model of the ladder, which the fit has seen, it is already 3.4<!--[[100 * (seen_loss / naive - 1):.1f]]--> % too high at the same amount of text.
# - The ladder may have the same fault: its rates were chosen after 262,144<!--[[tuned_at:,]]--> characters, an eighth of the text of this test<!--[[? 8 * tuned_at == held_out.D]]-->. We tried its largest model again at full length, in one seed, and the rate stayed the same<!--[[? next_smaller["rate"] == result["rates"]["Transformer"][str(largest[-1].width)]]]-->. But half of this rate was only 0.002<!--[[next_smaller["at_full_length"]["0.0025"] - next_smaller["at_full_length"]["0.005"]:.3f]]--> nats worse. So a rate between the two may be better, and the gain of 0.030<!--[[gained[0]:.3f]]--> may be smaller.
# - Seeds of one point differ by 1.0<!--[[100 * noise:.1f]]--> % (standard deviation), but the points scatter around Hoffmann's form by 1.6<!--[[100 * scatter["Hoffmann"]:.1f]]--> % and around Kaplan's by 2.8<!--[[100 * scatter["Kaplan"]:.1f]]--> %. So more seeds alone would not make these forms fit.
# </details>
#
# **A test of a law is also a test of a training. Against a badly tuned model, the forecast without a law was best<!--[[? min(badly, key=lambda name: abs(badly[name])) == "no law"]]-->. Against the same model with a better learning rate, Kaplan's form did about as well<!--[[? abs(abs(tuned["Kaplan"]) - abs(tuned["no law"])) < 0.5]]-->. Compare a law with a forecast that needs no law, and tune both models.**

# %% [markdown] slideshow={"slide_type": "fragment"}
# OpenAI (2023) reports such a prediction for GPT-4: the loss on OpenAI's internal code, predicted from models with at most a ten-thousandth of the compute. The report shows one such curve for the loss, and this curve predicted well. For every such curve, ask what a forecast without a law would have said.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask for the prediction as a number before you reveal it. Move the fit down to the fewest sizes and watch the interval. What goes wrong: the interval is taken for a guarantee.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. The best use of a budget
#
# At which $N$ is the loss lowest if $C = 6ND$ is fixed? Put $D = C / (6N)$ into Hoffmann's form and set the derivative to zero. The minima form the **compute-optimal frontier**:
#
# $$N^* = G \left(\frac{C}{6}\right)^a, \qquad D^* = \frac{1}{G} \left(\frac{C}{6}\right)^{1-a}, \qquad a = \frac{\beta}{\alpha + \beta}, \qquad G = \left(\frac{\alpha A}{\beta B}\right)^{1/(\alpha+\beta)} .$$
#
# | | $E$ | $A$ | $\alpha$ | $B$ | $\beta$ | source |
# |---|---|---|---|---|---|---|
# | published | 1.69<!--[[PUBLISHED.E]]--> | 406.4<!--[[PUBLISHED.A]]--> | 0.34<!--[[PUBLISHED.alpha]]--> | 410.7<!--[[PUBLISHED.B]]--> | 0.28<!--[[PUBLISHED.beta]]--> | Hoffmann et al. (2022), third method |
# | refitted | 1.8172<!--[[REFITTED.E]]--> | 482.01<!--[[REFITTED.A]]--> | 0.3478<!--[[REFITTED.alpha]]--> | 2085.43<!--[[REFITTED.B]]--> | 0.3658<!--[[REFITTED.beta]]--> | Besiroglu et al. (2024), data read off the figure |
#
# Hoffmann et al. advise about 20<!--[[1.4e12 / 70e9:.0f]]--> tokens per parameter. Their own model Chinchilla, with 70 billion parameters and 1.4 trillion tokens, beat Gopher, which has four times the parameters and a fifth of the text, at the same compute<!--[[? abs(6 * 70e9 * 1.4e12 / GOPHER - 1) < 0.03]]-->.


# %% slideshow={"slide_type": "fragment"}
def tokens_per_parameter(law, operations):
    N, D = law.frontier(operations)
    return D / N


GOPHER = 5.76e23  # operations

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
gopher_told = show.table(
    [
        (name, f"{N / 1e9:.0f}", f"{D / 1e12:.1f}", f"{D / N:.0f}", f"{scale.exponent(law):.2f}")
        for name, law in (("published", PUBLISHED), ("refitted", REFITTED))
        for N, D in [law.frontier(GOPHER)]
    ],
    ["constants", "billion parameters", "trillion tokens", "tokens per parameter", "exponent a"],
)
show.predict(
    "Put the *published* constants and Gopher's compute into the paper's own formula. How many tokens per parameter does it ask for?",
    choices={"about 5": 5, "about 20": 20, "about 90": 90, "about 300": 300},
    answer=tokens_per_parameter(PUBLISHED, GOPHER),
    why="The published constants contradict the paper's advice.",
    reveals=gopher_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What the 93<!--[[tokens_per_parameter(PUBLISHED, GOPHER):.0f]]--> tokens say about the paper</b></summary>
#
# - The paper's two other methods give $a$ = 0.50 and 0.49, and its text recommends 20 tokens per parameter. The third method's published constants give $a$ = 0.45<!--[[scale.exponent(PUBLISHED):.2f]]--> and 93<!--[[tokens_per_parameter(PUBLISHED, GOPHER):.0f]]--> tokens. So one paper gives two answers.
# - Besiroglu et al. (2024) read the data off a figure and fitted them again: $a$ = 0.51<!--[[scale.exponent(REFITTED):.2f]]--> and 18<!--[[tokens_per_parameter(REFITTED, GOPHER):.0f]]--> tokens per parameter, in line with the advice. By this second fit, the data support the advice, and the published constants were wrong. Chinchilla has 70 billion parameters; the published constants ask for 32<!--[[PUBLISHED.frontier(GOPHER)[0] / 1e9:.0f]]--> billion.
# - Besiroglu et al. give two reasons. The optimiser stopped too early, and the constants were rounded.
# - The paper's interval for $a$ is 0.454 to 0.455. According to Besiroglu et al., an interval so narrow would need over 600,000 runs, and fewer than 500 were made. **An interval that is too good to be true is a reason to look closer.**
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Races at equal compute.** A small model takes cheap steps and starts ahead. If a larger model overtakes it, the larger one is then the better of the two.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.race_playground(ladder)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Curves of equal compute.** Now we compare all sizes at one budget. Each curve connects models with the same $6ND$. The bottom of the curve is the best size, and the bottoms of all curves give $a$ without any formula for the loss (Hoffmann's second method).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
equal = [float(b) for b in budgets if any(p.compute <= b for p in ladder)]
minima = {b: scale.best_size(ladder, b) for b in equal}
seen = [b for b in equal if np.isfinite(minima[b])]
trained = {
    b: [n for n, of in sizes.items() if np.isfinite(scale.at_compute(of, b))] for b in equal
}
widgets.equal_compute_playground(ladder, equal)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
whole = {name: of[chosen[-1]] for name, of in forecasts.items()}
measured_slope = scale.slope_of_best(ladder, seen)
ours = {name: found.interval(scale.exponent) for name, found in whole.items()}
ratio = whole["Hoffmann"].interval(lambda law: tokens_per_parameter(law, held_out.compute))
# %% [markdown] slideshow={"slide_type": "fragment"}
# | method | exponent $a$ | 95 % interval |
# |---|---|---|
# | Hoffmann's form | 0.48<!--[[ours["Hoffmann"][1]:.2f]]--> | 0.44<!--[[ours["Hoffmann"][0]:.2f]]--> to 0.59<!--[[ours["Hoffmann"][2]:.2f]]--> |
# | Kaplan's form | 0.64<!--[[ours["Kaplan"][1]:.2f]]--> | 0.59<!--[[ours["Kaplan"][0]:.2f]]--> to 0.67<!--[[ours["Kaplan"][2]:.2f]]--> |
# | curves of equal compute, without a formula | 0.61<!--[[measured_slope[1]:.2f]]--> | 0.59<!--[[measured_slope[0]:.2f]]--> to 0.63<!--[[measured_slope[2]:.2f]]--> (only the seeds resampled) |
#
# <details><summary><b>What to notice</b></summary>
#
# - The minima are inside our range for only 6<!--[[len(seen)]]--> of 15<!--[[len(equal)]]--> budgets. For the others the best is the smallest size that has a run with that much compute<!--[[? all(trained[b][0] == min(trained[b], key=lambda n: scale.at_compute(sizes[n], b)) for b in equal if b not in seen)]]-->, so the true minimum may be a still smaller model with more text.
# - At the compute of the held-out run Hoffmann's form asks for 279<!--[[ratio[1]:.0f]]--> characters per parameter, but our run had 2.1<!--[[held_out.D / held_out.N:.1f]]-->. A character is not a token, so you cannot compare this number with the paper's 20.
# </details>
#
# **The same runs give an exponent of 0.48<!--[[ours["Hoffmann"][1]:.2f]]--> or 0.64<!--[[ours["Kaplan"][1]:.2f]]-->, depending on the method.** An interval shows the noise of the points, not the effect of the method.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Which tokens?** $D$ counts all tokens alike, but web pages differ in quality, and many are copies. So large training texts are filtered and deduplicated first.
#
# - **Quality filtering.** Li et al. (2024) held models and training equal and varied only the text. Choosing pages with a small classifier helped most. Together with rules and the removal of duplicates, this left about 4 trillion of 240 trillion tokens.
# - **Deduplication** removes copies and near copies. Models trained on deduplicated text produced memorised text a tenth as often (Lee et al. 2022). [Lecture 28](28_features_and_harms.ipynb) measures this with secrets.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room compute 93 with their phones: a = 0.28/0.62, G = (0.34 · 406.4 / (0.28 · 410.7)) to the power 1/0.62. In the race, look for a pair that never crosses. What goes wrong: "the optimal model is the best model". It is the best for a training
# budget. If a model will answer very many requests, a smaller one that reads more is cheaper overall (Sardana et al. 2024).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Why 0.73 and 0.50?
#
# Kaplan et al. found $N^* \propto C^{0.73}$. With ten times the compute, make the model five<!--[[words(round(10**0.73))]]--> times as large. Hoffmann et al. found an exponent of 0.50, so make it three<!--[[words(round(10**0.5))]]--> times as large. Why do they differ? These are the candidates:
#
# - **the schedule** (Hoffmann et al.): Kaplan et al. read losses in the middle of long cosine schedules, where they are too high;
# - **the count of parameters** (Pearce & Song 2024): without embeddings, small models look smaller than they are;
# - **the count of operations** (Porian et al. 2024): $6ND$ leaves out the output layer; Kaplan's own count adds a term for attention;
# - **the warm-up** of the learning rate (Porian et al. 2024): 3,000 steps are too long for a small model;
# - **the learning rate** (Porian et al. 2024): one setting for all sizes is not tuned for the small ones;
# - **the form** of the law, which we met in section 4.
#
# A choice of Kaplan et al. can account for 0.73 only if it moves the exponent **up**. Correcting the choice, for example by counting the embeddings, must then move it **down**. For each test of the warm-up or the learning rate, we trained four sizes on four lengths of text again. Compare these sixteen points with the runs of the ladder that have the same sizes and lengths.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
quarter = {p[:3] for p in scale.points(runs, "warm_up")}
quarter_widths = {p.width for p in scale.points(runs, "warm_up")}
longer_lengths = sorted(p.D for p in largest)[2:]  # the four longest that all sizes have
parts = {
    "the ladder": ladder,
    "embeddings counted": [p._replace(N=p.whole) for p in ladder],
    "operations counted": [p._replace(N=round(p.N * true_cost(p))) for p in ladder],
    "ends of own cosines": scale.halfway(ladder, own=True),
    "inside one cosine": scale.halfway(ladder, own=False),
    "4 sizes × 4 lengths": [p for p in ladder if p[:3] in quarter],
    "… warm-up of 300 steps": scale.points(runs, "warm_up"),
    "… rate of the smallest": scale.points(runs, "small_rate"),
    "… rate of the largest": scale.points(runs, "large_rate"),
    "4 sizes × 4 longer": [
        p for p in ladder if p.D in longer_lengths and p.width in quarter_widths
    ],
}
fits = {  # Hoffmann's form was fitted to the whole ladder in section 3
    name: whole["Hoffmann"] if of is ladder else fit(of, HOFFMANN) for name, of in parts.items()
}
fits["Kaplan's form"] = whole["Kaplan"]
rivals = {name: found.interval(scale.exponent) for name, found in fits.items()}
rivals["equal compute, no form"] = measured_slope
references = {
    "embeddings counted": "the ladder",
    "operations counted": "the ladder",
    "inside one cosine": "ends of own cosines",
    **{name: "4 sizes × 4 lengths" for name in parts if name.startswith("…")},
    "Kaplan's form": "the ladder",
}
lawful = [name for name, (low, _, high) in rivals.items() if high - low < 1]
moves = {name: rivals[name][1] - rivals[of][1] for name, of in references.items()}
table_part = 100 * (1 - longest[0].N / longest[0].whole)
show.predict(
    f"Our smallest model has {longest[0].whole:,} parameters with its embeddings (82 characters, width {longest[0].width}), and the largest of the ladder {longest[-1].whole:,} (width {longest[-1].width}). What percentage of the smallest model's parameters are embeddings?",
    within=5,
    answer=table_part,
    unit=" %",
    why=f"The table has $82 \\cdot 8 = 656$ parameters. In the largest model, the table has only {100 * (1 - longest[-1].N / longest[-1].whole):.1f} % of the parameters. Leaving the embeddings out stretches the axis of N at its lower end.",
    reveals=widgets.exponents_svg(rivals, {"Hoffmann .50": 0.50, "Kaplan .73": 0.73}),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
one_rate = [
    p
    for p in parts["… rate of the smallest"]
    if max(q.D for q in parts["… rate of the smallest"]) == p.D
]
sampled = {name: scale.exponent(found.laws) for name, found in fits.items()}
least = {  # of the bootstrap samples, the same points on both sides: the smallest move, as a part of the estimate
    name: float(((sampled[name] - sampled[of]) / moves[name]).min())
    for name, of in references.items()
    if name in lawful
}
# what Kaplan et al. did must raise the exponent; what corrects it must lower it
raised = {
    name: -move if name.endswith("counted") else move
    for name, move in moves.items()
    if name in lawful
}

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What holds at our scale, and what we cannot tell</b></summary>
#
# - The points with and without a change have the same sizes and lengths. So we compare the two exponents in each of the 40 bootstrap samples.
# - **The right sign in every sample.** Leaving out the operations of the output layer and of attention raises the exponent by 0.07<!--[[raised["operations counted"]:.2f]]-->, and leaving out the embeddings by 0.03<!--[[raised["embeddings counted"]:.2f]]--><!--[[? min(least["operations counted"], least["embeddings counted"]) > 0.5]]-->. Both are far less than the 0.23 between the papers.
# - **Not sure.** Kaplan's form raises the exponent by 0.15<!--[[raised["Kaplan's form"]:.2f]]-->. The long warm-up *lowers* it by 0.17<!--[[-raised["… warm-up of 300 steps"]:.2f]]-->, and reading losses inside one cosine by 0.04<!--[[-raised["inside one cosine"]:.2f]]-->; for these two the sign is wrong. But each of the three changes shrinks to less than a quarter, or has the other sign, in at least one bootstrap sample<!--[[? max(least[name] for name in ("Kaplan's form", "… warm-up of 300 steps", "inside one cosine")) < 0.25]]-->.
# - If all models use the rate of the smallest, the fit gives no usable exponent<!--[[? "… rate of the smallest" not in lawful]]-->. At 524,288<!--[[one_rate[0].D:,]]--> characters the largest of these models has a higher loss than the smallest<!--[[? one_rate[-1].loss > one_rate[0].loss]]-->. If all use the rate of the largest, the exponent rises by 0.03<!--[[raised["… rate of the largest"]:.2f]]-->.
# - The lengths of the runs may matter more than any of these changes. The same four sizes give 0.33<!--[[rivals["4 sizes × 4 lengths"][1]:.2f]]--> on their four shortest runs and 0.59<!--[[rivals["4 sizes × 4 longer"][1]:.2f]]--> on four longer ones. The two intervals overlap<!--[[? rivals["4 sizes × 4 lengths"][2] > rivals["4 sizes × 4 longer"][0]]]-->, and sixteen points are few for five constants.
# </details>
#
# **At our scale, leaving out the embeddings or some of the operations raises the exponent, but by much less than the step from 0.50 to 0.73. For the other causes our runs are too few to tell.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask the room to rank the six candidates before the picture. The literature today: Porian et al. (2024) reproduce 0.73 and remove the causes in turn until 0.50 is left; matching the cosine to the run was not essential for them. What goes wrong: our picture is
# read as a refutation. Our models are a thousand times smaller. The signs confuse: putting back what Kaplan et al. left out must *lower* the exponent.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. The tip of the curve
#
# A blog post named *Chinchilla's death* (Tyl 2023) examined the training curves of published models. On logarithmic axes each curve first bends, then is nearly straight, and is flat at its tip. Is the model saturated, so that longer training would not help? Or is the tip flat because the learning rate falls to zero along a cosine?
#
# The **steepness**, $-\Delta \ln L / \Delta \ln D$, helps to tell the two apart. On a power law it is constant, and on a flat curve it is 0.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
one = scale.ends(largest)
inside_one, own_ends = scale.steepness(one.inside), scale.steepness(one.own)
planned = {p.D: p.curve[-1] for p in largest}
midway = 100 * (one.inside[3][1] / planned[largest[-1].D // 2] - 1)
show.predict(
    f"In the last eighth of its longest run, our largest model has a steepness of {inside_one[-1]:.2f}. Now take two runs, the longest and one of half its length, each with its own cosine schedule. What is the steepness between their *ends*?",
    choices={"about 0.02": 0.02, "about 0.06": 0.06, "about 0.12": 0.12, "about 0.25": 0.25},
    answer=own_ends[-1],
    why="The line through the ends of the two runs is steeper than the tip of the longest run, so this model was not saturated.",
    reveals=widgets.cosine_playground(ladder).opens(show="steepness"),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
tips = {n: scale.ends(of) for n, of in sizes.items()}
flat = {
    n: (scale.steepness(of.inside)[-1], scale.steepness(of.own)[-1]) for n, of in tips.items()
}
steeper = [n for n, (tip, own) in flat.items() if own > 1.5 * tip]
fall = {n: scale.steepness(of.own) for n, of in tips.items()}
# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At the five<!--[[words(len(steeper))]]--> largest sizes<!--[[? steeper == list(flat)[-len(steeper) :]]]--> the line through the ends of runs is about twice as steep as the last eighth of the longest run<!--[[? all(1.7 < flat[n][1] / flat[n][0] < 2.5 for n in steeper)]]-->. So for these sizes the flat tip is not the model's limit.
# - At the three smallest sizes the two steepnesses differ by 0.01 or less<!--[[? all(abs(own - tip) < 0.01 for n, (tip, own) in flat.items() if n not in steeper)]]-->. There longer training brings little, even with a cosine for each length.
# - In the middle of its cosine the loss of a run is too high. Half-way through its longest run, the largest model has a loss 1.3<!--[[midway:.1f]]--> % higher than a run that was planned for that length. So the curve of one run cannot replace many runs.
# - Do small models saturate at all? Between the ends of the runs on an eighth and a quarter of its longest text, the steepness of the smallest model is 0.05<!--[[next(iter(fall.values()))[0]:.2f]]-->, and between the two longest runs it is 0.02<!--[[next(iter(fall.values()))[-1]:.2f]]-->. For the largest it only falls from 0.14<!--[[fall[largest[-1].N][0]:.2f]]--> to 0.12<!--[[fall[largest[-1].N][-1]:.2f]]-->.
# </details>
#
# **A flat tip does not show that a model is saturated. On our ladder the smallest models gain little from longer training, but you see that in the ends of many runs, not in the tip of one.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Show the loss first and let the room say where the model is saturated. Then show the steepness. What goes wrong: they conclude that small models never saturate; compare the smallest with the largest.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. LSTMs at scale
#
# This course replaced recurrent networks with attention. Do LSTMs gain less from scale? Here are four models on the One Billion Word benchmark (perplexity, lower is better):
#
# | model | parameters | perplexity | source |
# |---|---|---|---|
# | LSTM, 2 layers, 8,192 units projected to 1,024 | 1.8 billion | 30.6 | Józefowicz et al. (2016) |
# | LSTM, 1 layer, 8,192 units projected to 2,048 | 3.3 billion | 32.2 | the same |
# | Transformer-XL | 0.46 billion | 23.5 | Dai et al. (2019), table 4 |
# | Transformer-XL | 0.8 billion | 21.8 | the same |
#
# Some slides show these rows as evidence that an LSTM gains nothing from size. But the rows do not show this, because the larger LSTM has one layer fewer. Its additional parameters are in the input and output tables of 793,471 words, which are 1,024 dimensions wider and so have 1.6<!--[[2 * 793_471 * 1_024 / 1e9:.1f]]--> billion more parameters.
# In the same paper, LSTMs of one layer do improve with size, down to the 32.2 of the one with 8,192 units. On our ladder, LSTMs and Transformers have the same number of parameters, the same text and the same number of steps. Each has its own learning rate.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
lstms = scale.points(runs, "lstm")
same = {
    (p.width, p.D): (next(q for q in ladder if (q.width, q.D) == (p.width, p.D)), p)
    for p in lstms
}
full, biggest = max(p.D for p in lstms), max(p.width for p in lstms)


def lead(width, D):
    """Nats by which the LSTM is behind, and whether all of its seeds are."""
    transformer, lstm = same[width, D]
    return lstm.loss - transformer.loss, min(lstm.runs) > max(transformer.runs) or max(
        lstm.runs
    ) < min(transformer.runs)


def winner(width, D):
    ahead, clear = lead(width, D)
    return "the seeds overlap" if not clear else "the Transformer" if ahead > 0 else "the LSTM"


show.predict(
    f"A Transformer and an LSTM have the same number of parameters ({same[biggest, full][0].whole:,} with embeddings) and are trained on the same text ({full:,} characters). Which has the lower loss?",
    choices=["the Transformer", "the LSTM", "the seeds overlap"],
    answer=winner(biggest, full),
    why="Move through the lengths with the slider. At our scale the answer depends on the length of the training.",
    reveals=widgets.architectures_playground(ladder, lstms),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ahead = {
    who: [at for at in same if winner(*at) == who] for who in ("the Transformer", "the LSTM")
}


def overtaken(width):
    """Characters after which the Transformer is ahead, straight between the lengths over log D."""
    found = sorted((math.log(D), lead(w, D)[0]) for w, D in same if w == width)
    for (x, behind), (end, ahead_by) in itertools.pairwise(found):
        if behind <= 0 < ahead_by:
            return math.exp(x + (end - x) * behind / (behind - ahead_by))
    return math.nan


crossed = {width: overtaken(width) for width in sorted({p.width for p in lstms})}
# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Of 24<!--[[len(same)]]--> combinations of size and length the Transformer is ahead in 7<!--[[len(ahead["the Transformer"])]]--> and the LSTM in 13<!--[[len(ahead["the LSTM"])]]-->. In each of these, all three<!--[[words(len(held_out.runs))]]--> seeds of one have a lower loss than all seeds of the other.
# - At the largest size the LSTM leads by 0.22<!--[[-lead(biggest, min(p.D for p in lstms))[0]:.2f]]--> nats after the shortest training, and the Transformer by 0.04<!--[[lead(biggest, full)[0]:.2f]]--> after the longest.
# - The smallest Transformer overtakes its LSTM after 246<!--[[crossed[min(crossed)] / 1e3:.0f]]--> thousand characters, the largest after 1,407<!--[[crossed[max(crossed)] / 1e3:,.0f]]--> thousand. The larger both are, the longer the LSTM stays ahead<!--[[? list(crossed.values()) == sorted(crossed.values())]]-->.
# - All rates were tuned at 262,144<!--[[tuned_at:,]]--> characters; a rate for each length could move the crossings. The passages that the models read have only 64<!--[[TIME]]--> characters.
# </details>
#
# **With equally many parameters and the same text, the LSTM was ahead after the shortest training and the Transformer after the longest, at each of our four<!--[[words(len(crossed))]]--> sizes<!--[[? all(winner(w, min(p.D for p in lstms)) == "the LSTM" and winner(w, full) == "the Transformer" for w in crossed)]]-->.** Each size had one learning rate for all lengths.

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask what the published table does not control (tokenisation, data order, tuning, years). Move through the lengths with the widget and ask for the trend. What goes wrong: students take our result for the published one, or the other way round. The sizes differ by a
# factor of a thousand.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Abilities that appear
#
# GPT-3 with 175 billion parameters gets 80.4 % of the sums of three-digit numbers right; with 13 billion it gets under 10 % (Brown et al. 2020). Wei et al. (2022) call an ability **emergent** if it is absent in small models and present in large ones. Schaeffer et al. (2023) object that the metric can produce such a jump. If each of $L$
# digits is right with probability $p$, independently,
#
# $$P(\text{exact match}) \approx p^L, \qquad \text{edit distance} \approx L (1 - p) .$$
#
# **Exact match** counts a sum only if all its digits are right. **Edit distance** counts the digits that must be inserted, deleted or replaced. If $p$ grows smoothly with the size of the model, exact match rises sharply, but edit distance falls smoothly. Then the jump is a **mirage of the metric**.
#
# We trained models of nine<!--[[words(len(by_width))]]--> sizes, five<!--[[words(len(by_width[turning]))]]--> seeds each, on nothing but sums of three-digit numbers, and let each model answer 500 new ones.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
mirage = stored("mirage")
by_width = {}
for run in mirage["runs"]:
    by_width.setdefault(run["width"], []).append(run)
turning = max(by_width, key=lambda width: stdev(run["exact"] for run in by_width[width]))
found = sorted(100 * run["exact"] for run in by_width[turning])
spread = f"{found[0]:.0f} % to {found[-1]:.0f} %"
show.predict(
    f"At width 6 at most 5 % of the sums are right, at width 12 at least 90 %. Between them lies width {turning}. Its five models differ only in their seed, that is, in their initial weights and the order of the sums. Between what percentages of exact matches do they lie?",
    choices=["0 % to 20 %", "20 % to 45 %", spread, "50 % to 95 %"],
    answer=spread,
    why="A curve of means hides such a spread.",
    reveals=[
        widgets.seeds_svg(mirage["runs"], turning),
        widgets.metric_playground(mirage["runs"], mirage["answer_length"]),
    ],
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
mean_of = {
    width: {key: fmean(run[key] for run in of) for key in ("exact", "digits", "edits", "loss")}
    for width, of in by_width.items()
}
law = {
    width: fmean(run["digits"] ** mirage["answer_length"] for run in of)
    for width, of in by_width.items()
}
mirage_longer = stored("mirage_longer")
longer = sorted(100 * run["exact"] for run in mirage_longer["runs"])
small, middle, after = min(by_width), turning, next(w for w in by_width if w > turning)
before = max(w for w in by_width if w < turning)
# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>How much of the jump does the metric explain?</b></summary>
#
# - *Below the threshold* the metric hides progress, as Schaeffer et al. say. From width 4<!--[[small]]--> to 6<!--[[before]]--> exact match stays below 2 %<!--[[? max(mean_of[small]["exact"], mean_of[before]["exact"]) < 0.02]]-->, while the loss falls from 1.33<!--[[mean_of[small]["loss"]:.2f]]--> to 1.19<!--[[mean_of[before]["loss"]:.2f]]--> and the edit distance falls as well<!--[[? mean_of[small]["edits"] > mean_of[before]["edits"] + 0.1]]-->.
# - *At the threshold*, from width 6<!--[[before]]--> to 12<!--[[after]]-->, the loss falls from 1.19<!--[[mean_of[before]["loss"]:.2f]]--> to 0.06<!--[[mean_of[after]["loss"]:.2f]]-->. A smooth metric jumps as well, so exact match does not explain the whole jump. Du et al. (2024) also find such thresholds under smooth metrics.
# - The share of exact matches is not pᴸ. At width 4<!--[[small]]--> the formula gives 6.4<!--[[100 * law[small]:.1f]]--> % instead of 0.8<!--[[100 * mean_of[small]["exact"]:.1f]]--> %. So the digits of a sum differ in difficulty, are not independent, or both.
# - *Size or time?* Width 6<!--[[before]]-->, which cannot add after 1,500 steps, was trained for 6,000<!--[[mirage_longer["steps"]:,]]--> steps. One of three<!--[[words(len(longer))]]--> seeds then gets 99<!--[[longer[-1]:.0f]]--> % right, the others at most 10<!--[[longer[-2]:.0f]]--> %. Before you say that a model is too small for a task, train it for longer as a control.
# - Move the slider for L to 32 digits. With a long answer this curve becomes a step. For lengths other than 4 the curve is computed from the formula, not measured.
# </details>
#
# **The metric hid progress below the jump, but the loss jumps as well. And one of three models below the jump learned to add when it was trained for longer.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room choose the metric that makes the jump sharpest and the one that hides it best. Then show the loss: the jump is still there. What goes wrong: "mirage" is taken to mean that nothing happened. Some of it is the metric and some is not. Schaeffer et al. find that in BIG-Bench at most
# 5 of 39 metrics show emergence, and over 92 % of the hand-labelled abilities appear under two of them.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. Tasks in the prompt
#
# GPT-3 became known for **few-shot prompting**: the prompt shows a few examples of a task and then a question, and no weight is changed ([lecture 17](17_pretraining.ipynb), section 6, tried it on a classification task). These are GPT-3's results with zero, one and few examples:
#
# | GPT-3, 175 billion | LAMBADA (last word of a passage) | TriviaQA (trivia questions) | WebQ (short questions) | HellaSwag (choosing an ending) | French to English, BLEU |
# |---|---|---|---|---|---|
# | zero | 76.2 | 64.3 | 14.4 | 78.9 | 21.2 |
# | one | 72.5 | 68.0 | 25.3 | 78.1 | 33.7 |
# | few | 86.4 | 71.2 | 41.5 | 79.3 | 39.2 |
#
# With examples GPT-3 gets 100.0 % of the sums of two-digit numbers right, 80.4 % of those with three digits and 9.3 % of those with five. What can SmolLM2-135M-Instruct do, with 135 million parameters stored in 4 or 8 bits each?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
shots = stored("few_shot")
writer, bytepairs = smollm2()
prompted = {
    "capitals": pairs(CAPITALS),
    "opposites": pairs(OPPOSITES),
    "plurals": pairs(PLURALS),
    "sums": sums(60),
}
rows = {
    (task, way): {int(k): of["share"] for k, of in by.items()}
    for task, ways in shots["curves"].items()
    for way, by in ways.items()
}
panels = {
    task: {
        way: [(of["share"], of["low"], of["high"]) for of in by.values()]
        for way, by in ways.items()
    }
    for task, ways in shots["curves"].items()
}
swapped = {task: of["writing"]["swapped"]["share"] for task, of in shots["controls"].items()}
headed = {task: of["writing"]["heading"]["share"] for task, of in shots["controls"].items()}
written = [
    (
        task,
        *(
            f"{100 * share:.0f}"
            for share in (rows[task, "writing"][8], swapped[task], headed[task])
        ),
    )
    for task in swapped
]
show.predict(
    f"After eight lines such as “France -> Paris”, SmolLM2 writes {100 * rows['capitals', 'writing'][8]:.0f} % of 30 capitals correctly. Now give each of the eight countries the capital of the next one, “France -> Rome”. What percentage of the 30 does it now write correctly?",
    choices={"none": 0, "about 15 %": 15, "about 35 %": 35, "about as many as before": 57},
    answer=100 * swapped["capitals"],
    unit=" %",
    why="No example shows a right pair, so the model knew these capitals before it read the prompt. The examples show it that a capital is wanted, and how to write it. Compare the other tasks in the table.",
    reveals=[
        show.share_panels_svg(
            list(next(iter(rows.values()))),
            panels,
            alt=f"Right answers of SmolLM2 with 0 to 8 examples in its prompt. {'; '.join(f'{task}: written {by[0]:.0%} to {by[8]:.0%}' for (task, way), by in rows.items() if way == 'writing')}.",
            x_title="examples in the prompt",
            y_title="right answers",
            levels=shots["chance"],
            level_name="choosing blindly",
        ),
        show.table(
            written,
            ["Written correctly, %", "eight examples", "answers swapped", "only a heading"],
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Try it. The prompt shows up to eight examples of a task, always in the same order. Read the prompt from top to bottom, and then look at the probabilities of the next token. You can also type your own examples.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.prompt_playground(writer, bytepairs, prompted, Template())

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# | right, % | written: no example | two | eight | chosen among four: no example | two | eight |
# |---|---|---|---|---|---|---|
# | capitals | 0<!--[[100 * rows["capitals", "writing"][0]:.0f]]--> | 23<!--[[100 * rows["capitals", "writing"][2]:.0f]]--> | 57<!--[[100 * rows["capitals", "writing"][8]:.0f]]--> | 50<!--[[100 * rows["capitals", "choosing"][0]:.0f]]--> | 97<!--[[100 * rows["capitals", "choosing"][2]:.0f]]--> | 97<!--[[100 * rows["capitals", "choosing"][8]:.0f]]--> |
# | opposites | 0<!--[[100 * rows["opposites", "writing"][0]:.0f]]--> | 33<!--[[100 * rows["opposites", "writing"][2]:.0f]]--> | 77<!--[[100 * rows["opposites", "writing"][8]:.0f]]--> | 53<!--[[100 * rows["opposites", "choosing"][0]:.0f]]--> | 93<!--[[100 * rows["opposites", "choosing"][2]:.0f]]--> | 100<!--[[100 * rows["opposites", "choosing"][8]:.0f]]--> |
# | plurals | 0<!--[[100 * rows["plurals", "writing"][0]:.0f]]--> | 37<!--[[100 * rows["plurals", "writing"][2]:.0f]]--> | 80<!--[[100 * rows["plurals", "writing"][8]:.0f]]--> | 60<!--[[100 * rows["plurals", "choosing"][0]:.0f]]--> | 100<!--[[100 * rows["plurals", "choosing"][2]:.0f]]--> | 100<!--[[100 * rows["plurals", "choosing"][8]:.0f]]--> |
# | languages | 0<!--[[100 * rows["languages", "writing"][0]:.0f]]--> | 60<!--[[100 * rows["languages", "writing"][2]:.0f]]--> | 63<!--[[100 * rows["languages", "writing"][8]:.0f]]--> | 53<!--[[100 * rows["languages", "choosing"][0]:.0f]]--> | 60<!--[[100 * rows["languages", "choosing"][2]:.0f]]--> | 63<!--[[100 * rows["languages", "choosing"][8]:.0f]]--> |
# | sums | 0<!--[[100 * rows["sums", "writing"][0]:.0f]]--> | 13<!--[[100 * rows["sums", "writing"][2]:.0f]]--> | 13<!--[[100 * rows["sums", "writing"][8]:.0f]]--> | 33<!--[[100 * rows["sums", "choosing"][0]:.0f]]--> | 80<!--[[100 * rows["sums", "choosing"][2]:.0f]]--> | 80<!--[[100 * rows["sums", "choosing"][8]:.0f]]--> |
#
# - Without an example the prompt says neither what the task is nor what an answer looks like, and no written answer is right<!--[[? not any(rows[task, "writing"][0] for task in shots["tasks"])]]-->.
# - **What do the examples supply?** For capitals and languages, swapped answers do no visible harm (two languages that follow each other can be the same, so some of these examples stay right). Few sums are right in either case. For opposites and plurals, the swapped answers make many fewer answers right<!--[[? all(shots["controls"][task]["writing"]["swapped"]["high"] < shots["curves"][task]["writing"]["8"]["low"] for task in ("opposites", "plurals"))]]-->. Min et al. (2022) report for larger models that random labels in the examples of a classification task cost little.
# - A heading such as *country -> capital* names the task. With it the model chooses correctly more often in each task<!--[[? all(of["choosing"]["heading"]["right"] > shots["curves"][task]["choosing"]["0"]["right"] for task, of in shots["controls"].items())]]-->, but at most 10<!--[[100 * max(headed.values()):.0f]]--> % of the written answers are right.
# - For sums, choosing among four answers shows a large gain from examples, and writing shows a small one.
# - Each value rests on 30 questions, so its interval can be about 30 percentage points wide. A written answer must match letter by letter, so another spelling of a name counts as wrong. We tried one wording of the prompt and one order of the examples.
# </details>
#
# **Without an example no written answer was right, and with two examples some were. Examples with swapped answers helped about as much for capitals and languages, and much less for opposites and plurals.**<!--[[? all(swapped[task] >= rows[task, "writing"][8] for task in ("capitals", "languages"))]]-->

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Go from 0 to 2 examples with "capitals" and ask what the model has learned. The run with swapped answers shows that it was not the capitals. Then let the room type: one -> uno, two -> dos, three. What goes wrong: "it learned addition from eight examples".*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Can you predict a larger model?
#
# | to predict | what we saw | section |
# |---|---|---|
# | its loss | laws fitted to small models erred by 1.5<!--[[abs(miss["Kaplan", chosen[-1]]):.1f]]--> to 8.4<!--[[abs(miss["Kaplan", chosen[0]]):.1f]]--> %; whether a forecast without a law was better depended on the learning rate of the larger model | 3 |
# | the best size for a budget | it grows with the budget; how fast depends on the method | 4, 5 |
# | whether longer training helps | the flat tip of one run does not tell | 6 |
# | which architecture will be ahead | which was ahead depended on the length of the training | 7 |
# | which ability it will have | the loss showed progress that exact match hid; with four times the steps one of three small models could add | 8 |
# | what examples will bring | with two examples some answers were right; examples with swapped answers helped about as much in two tasks of five, and much less in two | 9 |
#
# **From small models, the better of two laws predicted the loss of a larger one to within a few percent, and we knew only afterwards which law that was. We could predict the best size for a budget only roughly. We tried no forecast of the better architecture or of abilities; in both cases our short runs misled about longer ones.** Compare every forecast with one that needs no law, and change the method before you believe the interval.

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Let the room name the forecast of this lecture that it would bet on. What goes wrong: "scaling laws are refuted". Our models are small, and we tested one larger one.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a rule that turns a budget into a number of parameters. The nearest size of the ladder is then trained for as long as the budget allows. How many nats does your rule lose compared with the best stored run, on average over the budgets? The rule below gives the same size for every budget.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def lost(rule):
    """Nats above the best affordable run, mean over budgets."""
    gaps = []
    for budget in budgets:
        within = scale.affordable(ladder, budget)
        mine = min(within, key=lambda p: abs(math.log(p.N / rule(budget))))
        gaps.append(mine.loss - lowest[budget].loss)
    return fmean(gaps)


# %% slideshow={"slide_type": "fragment"}
def my_size(operations):
    """Operations -> parameters. Change this."""
    return 15_000


def by_law(operations):
    return whole["Hoffmann"].law.frontier(operations)[0]


print(f"yours {lost(my_size):.3f}, Hoffmann's form {lost(by_law):.3f}")

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. A rule of the form c · C^a with a near 0.5 does well; Hoffmann's form was fitted to these very runs, so its loss is flattering. What goes wrong: students fit the rule to the printed mean until it knows the ladder by heart.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`scale_and_insight.ipynb`](../exercises/scale_and_insight/scale_and_insight.ipynb) you fit the laws yourself, and predict the held-out model with an interval.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A model of 10⁹ parameters reads 2 · 10¹⁰ tokens. How many operations is that?
# <details><summary>Answer</summary>6 · 10⁹ · 2 · 10¹⁰ = 1.2 · 10²⁰.</details>
#
# 2. The exponent $a$ is 0.5, and you get a hundred times the compute. How do parameters and text change?
# <details><summary>Answer</summary>Both become ten times as large, because $100^{0.5} = 10$.</details>
#
# 3. A power law and a law with an irreducible loss fit your points equally well. Which prediction do you trust at 100 times the size?
# <details><summary>Answer</summary>Neither alone. Report both; their difference is part of the uncertainty.</details>
#
# 4. A paper gives an interval of 0.454 to 0.455 from 400 noisy runs. What do you do?
# <details><summary>Answer</summary>Put the constants into the formula, compare with the paper's own conclusion, and repeat the fit if you can get the data.</details>
#
# 5. Your training curve is flat in its last tenth. Does this show that longer training would be useless?
# <details><summary>Answer</summary>No. Look at the schedule first, and compare the ends of two runs of different lengths, each with its own schedule.</details>
#
# 6. Exact match jumps from 1 % to 90 % between two sizes. Name two explanations and a measurement that separates them.
# <details><summary>Answer</summary>The metric, or a threshold in what the model learned. Measure the loss of the answers, or the edit distance. A jump that comes only from the metric then disappears.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 5. What goes wrong: for number 2, students multiply only the parameters.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $N$ | non-embedding parameters | parameters without the embeddings (Hoffmann et al. count the embeddings as well) |
# | $D$ | tokens, dataset size | tokens read in training; characters on our ladder |
# | $C$, operations | FLOPs, PF-days | $6ND$; a PF-day is $8.64 \cdot 10^{19}$ operations |
# | curve of equal compute | isoFLOP curve | loss against $N$ at one $C$ |
# | steepness | local slope | $-\Delta \ln L / \Delta \ln D$ |
# | few-shot prompting | in-context learning | examples in the prompt, no training |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: FLOPS with a capital S are operations per second.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **compute**: the operations of a training, about 6 times its parameters times its tokens.
# - **power law**: a quantity in proportion to a power of another; a straight line on logarithmic axes.
# - **scaling law**: a formula for the loss as a function of parameters, text or compute.
# - **irreducible loss**: the part of the loss that no size and no amount of text removes.
# - **bootstrap**: an interval from repeating a computation on data that are sampled from the data with replacement.
# - **compute-optimal frontier**: for each compute, the parameters and text with the lowest loss.
# - **quality filtering**: choosing training texts by rules or by a classifier.
# - **deduplication**: removing copies and near copies from a training text.
# - **steepness**: the relative fall of the loss per relative growth of the text.
# - **emergent**: said of an ability that is absent in small models and present in large ones.
# - **exact match**: an answer counts only if every token of it is right.
# - **edit distance**: how many symbols must be inserted, deleted or replaced to get from one text to another.
# - **mirage of the metric**: a jump that comes from the metric and not from the model.
# - **few-shot prompting**: a prompt with a few examples of the task before the question.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Kaplan, McCandlish, Henighan, Brown, Chess, Child, Gray, Radford, Wu & Amodei (2020), Scaling laws for neural language models. Hoffmann et al. (2022), Training compute-optimal large language models. Besiroglu, Erdil, Barnett & You (2024), Chinchilla scaling: a replication attempt. Pearce & Song (2024), Reconciling Kaplan
# and Chinchilla scaling laws. Porian, Wortsman, Jitsev, Schmidt & Carmon (2024), Resolving discrepancies in compute-optimal scaling of language models. Efron (1979), Bootstrap methods. Dai et al. (2019), Transformer-XL. Józefowicz et al. (2016), Exploring the limits of language modeling. Brown et al. (2020), Language models are few-shot
# learners. Min et al. (2022), Rethinking the role of demonstrations: what makes in-context learning work? OpenAI (2023), GPT-4 technical report. Sardana, Portes, Doubov & Frankle (2024), Beyond Chinchilla-Optimal: accounting for inference in language model scaling laws. Tyl (2023), Chinchilla's death (blog). Wei et al. (2022), Emergent abilities of large language models. Schaeffer, Miranda & Koyejo (2023), Are emergent abilities of large language models a mirage? Du et al. (2024), Understanding emergent abilities of language models from the loss perspective. Li et al. (2024), DataComp-LM: in search of the next generation of training sets for language models. Lee et al. (2022), Deduplicating training data makes language models better.
