"""Assignment "modifications": ReZero, experts, factorised embeddings, what they cost, and whether a difference is real.

The functions differ in form from `nlmcore.variants` and `nlmcore.metrics`: layers are dictionaries, samples are lists,
and a correction takes and returns a list.
"""

import functools
import re
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.kinds import EQUAL
from autograder.question.sized import MAIN, ODD, at, between, beyond, these
from autograder.question.special import concluded, formula, on_the_page, predicted, wrong_line
from autograder.question.specification import Both, Case, case
from nlmcore.corpora import load

# The modifications themselves, and tests, corrections and correlations.
ask = functools.partial(question, closed=("nlmcore.variants", "nlmcore.metrics", "scipy", "sklearn", "statsmodels"))

Some = dict[str, Any]
"""A layer, the sizes of a model, a training."""


def losses_of(draw: Draw, count: int, low: int = 2000, high: int = 4000) -> list[float]:
    """Losses of a few runs, all different."""
    found: list[float] = []
    while len(found) < count:
        loss = draw.integer(low, high) / 1000
        if loss not in found:
            found.append(loss)
    return found


def shuffled(draw: Draw, items: list) -> list:
    """The same items in another order."""
    left, found = list(items), []
    while left:
        found.append(left.pop(draw.integer(0, len(left) - 1)))
    return found


# --- 1. a stack with ReZero ------------------------------------------------------------------------------------


def layer_of(draw: Draw, d: int, d_ff: int, alpha: float) -> Some:
    """Attention and network of one layer, with ReZero's α."""
    square = {name: draw.normal(d, d) / d**0.5 for name in ("query", "key", "value", "mix")}
    inner, outer = draw.normal(d, d_ff), draw.normal(d_ff, d)
    return {**square, "inner": inner / d**0.5, "outer": outer / d_ff**0.5, "alpha": alpha}


def stack(draw: Draw, time: int, d: int, d_ff: int, alphas: tuple[float, ...] = (0.7,)) -> tuple:
    return draw.normal(2, time, d), [layer_of(draw, d, d_ff, alpha) for alpha in alphas]


REZERO = ask(
    "modifications.rezero",
    returns=("x",),
    inputs=stack,
    main=at("one layer", alphas=lambda draw: [draw.integer(3, 8) / 10]),
    odd=[at("all α are 0", alphas=(0.0, 0.0)), at("no layer", alphas=())],
    properties=[
        values("one layer", 0.75),
        values("several layers", 0.75, at(alphas=lambda draw: (0.9, -0.4, 0.1 * draw.integer(5, 7)))),
        values("α = 0, one token, no layer, float64", 0.5, ODD),
    ],
    mistakes="""
norm-kept: Your sublayers read a normalised pathway. ReZero needs no norm: the sublayers read `x` as it is.
- sublayer(x, layer) → sublayer(norm(x), layer)
normed-at-the-end: You normalise the result. ReZero has no norm anywhere: with all α at 0 the stack returns its input.
- return x → return norm(x)
alpha-on-the-pathway: You multiply the whole sum by α, the pathway as well. With α = 0 nothing is left of the input.
- x + layer["alpha"] * sublayer(x, layer) → layer["alpha"] * (x + sublayer(x, layer))
alpha-forgotten: There is no α in your sums. Multiply what a sublayer adds by `layer["alpha"]`.
- layer["alpha"] * sublayer → sublayer
highway: Your pathway is multiplied by 1 − α. That is a highway layer; ReZero leaves the pathway whole, and only adds.
- x + layer → (1 - layer["alpha"]) * x + layer
side-by-side: Your two sublayers read the same `x`. The network reads what attention has already been added to.
-     for sublayer in (attention, network):
-         x = x + layer["alpha"] * sublayer(x, layer)
+     x = x + layer["alpha"] * (attention(x, layer) + network(x, layer))
only-attention: You multiply attention by α, but not the network. Both sublayers share the layer's α.
- layer["alpha"] * sublayer(x, layer) → (layer["alpha"] if sublayer is attention else 1.0) * sublayer(x, layer)
only-the-network: You multiply the network by α, but not attention. Both sublayers share the layer's α.
- layer["alpha"] * sublayer(x, layer) → (layer["alpha"] if sublayer is network else 1.0) * sublayer(x, layer)
network-first: Your network comes before attention. The order matters, because the second sublayer reads the sum.
- (attention, network) → (network, attention)
first-alpha-for-all: You use one layer's α for all of them. Each layer has its own.
- layer["alpha"] → layers[0]["alpha"]
alpha-on-the-input: You multiply the sublayer's input by α. Multiply its result: a softmax and a ReLU are not linear.
- layer["alpha"] * sublayer(x, layer) → sublayer(layer["alpha"] * x, layer)
in-place: The values are right, but you changed the `x` that you were given: `x += …` and `add_` write into it.
- x = x + layer["alpha"] * sublayer(x, layer) → x += layer["alpha"] * sublayer(x, layer)
""",
)

# --- 2. which expert a token goes to, whether there is room, and how uneven that is ----------------------------


def scores(draw: Draw, tokens: int, experts: int, capacity: int = 8, scale: float = 2.0) -> tuple[Tensor, int]:
    return draw.normal(tokens, experts) * scale, capacity


ROUTE = ask(
    "modifications.route",
    returns=("expert", "gate", "kept"),
    inputs=scores,
    main=at("room for all", tokens=between(5, 8), experts=4),
    odd=[
        at("one expert", tokens=4, experts=1, capacity=3),
        at("a capacity of 1", tokens=between(5, 8), experts=3, capacity=1),
        at("large scores", tokens=between(5, 8), experts=3, scale=1000, capacity=2),
        at(EQUAL, tokens=5, experts=5, capacity=5),
    ],
    properties=[
        values("the experts", 0.5, "expert"),
        values("the gates", 0.75, "gate"),
        values("who is kept", 1.25, at("more tokens than room", tokens=between(9, 12), experts=3, capacity=2), "kept"),
        values("one expert, a capacity of 1, large scores, float64", 0.5, ODD),
    ],
    mistakes="""
softmax-over-tokens: Your softmax runs over the tokens. Each token has its own distribution over the experts.
- torch.softmax(scores, dim=1) → torch.softmax(scores, dim=0)
score-for-gate: Your gate is the score itself. Turn scores into probabilities first; the gate is the largest of them.
- torch.softmax(scores, dim=1).max(dim=1) → scores.max(dim=1)
gate-of-one: Your gate is 1 for every token. It is the probability of the chosen expert, so that the router can learn.
- return expert, gate, → return expert, torch.ones_like(gate),
sigmoid-for-softmax: Your gate is a sigmoid of the score. The probabilities of a token add up to 1 over the experts.
- torch.softmax(scores, dim=1) → torch.sigmoid(scores)
least-probable: You picked the least probable expert.
- .max(dim=1) → .min(dim=1)
overflow: Your softmax overflows for large scores. Subtract each token's largest score first, or use `torch.softmax`.
- torch.softmax(scores, dim=1) → (scores.exp() / scores.exp().sum(dim=1, keepdim=True))
one-too-few: Your experts take one token less than their capacity.
- <= capacity → < capacity
one-too-many: Your experts take one token more than their capacity.
- <= capacity → <= capacity + 1
last-come-first-served: You serve the tokens from the end. The first token that asks is served first.
- in expert.tolist() → in reversed(expert.tolist())
- torch.tensor(kept) → torch.tensor(kept[::-1])
best-gates-first: You serve the tokens with the largest gates first. They are served in their order, because a later
token must not displace an earlier one.
-     served[choice] += 1
-     kept.append(served[choice] <= capacity)
+     kept.append(True)
- torch.tensor(kept) → (((expert == expert[:, None]) & (gate > gate[:, None])).sum(dim=1) < capacity)
capacity-for-all: You count all tokens together. The capacity is that of each expert, so it needs its own count.
- served[choice] += 1 → served[0] += 1
- served[choice] <= → served[0] <=
dropped-free-a-place: You count only the tokens that come directly one after the other. Every earlier token of the same
expert takes up a place.
- served[choice] += 1 → served = [served[e] + 1 if e == choice else 0 for e in range(len(served))]
nobody-dropped: You keep every token. An expert takes only the first `capacity` tokens that ask for it.
- served[choice] <= capacity → True
dropped-for-kept: You return who is dropped. Return who is kept.
- served[choice] <= capacity → served[choice] > capacity
gate-of-the-dropped: A dropped token keeps its expert and its gate here; only `kept` is False.
- return expert, gate, torch.tensor(kept) → return expert, gate * torch.tensor(kept), torch.tensor(kept)
""",
)


def uneven(draw: Draw, tokens: int, experts: int, scale: float = 2.0) -> tuple[Tensor]:
    return (draw.normal(tokens, experts) * scale + torch.linspace(1, -1, experts),)


BALANCE = ask(
    "modifications.balance",
    returns=("share", "mean", "loss"),
    inputs=uneven,
    main=at("several tokens", tokens=between(7, 10), experts=3),
    odd=[
        at("a single token", tokens=1, experts=4),
        at("one expert", tokens=4, experts=1),
        at("large scores", tokens=between(5, 8), experts=3, scale=1000),
        at(EQUAL, tokens=4, experts=4),
    ],
    properties=[
        values("the shares", 0.5, "share"),
        values("the mean probabilities", 0.5, "mean"),
        values("the balance loss", 0.5, "loss"),
        values("one token, one expert, large scores, float64", 0.5, ODD),
    ],
    mistakes="""
not-scaled: Your loss is the dot product alone, which becomes smaller with every further expert. Multiply it by the
number of experts, so that it is 1 if all is even.
- n * (share @ mean) → share @ mean
scaled-by-the-tokens: You scale by the number of tokens. It is the number of experts that makes an even router 1.
- n * (share @ mean) → len(p) * (share @ mean)
counts-for-shares: You return how *many* tokens chose each expert. The share is that, divided by the number of tokens.
- .to(p.dtype).mean(dim=0) → .to(p.dtype).sum(dim=0)
sums-for-means: You add up the probabilities. The mean divides by the number of tokens.
- mean = p.mean(dim=0) → mean = p.sum(dim=0)
softmax-over-tokens: Your softmax runs over the tokens. Each token has its own distribution over the experts.
- torch.softmax(scores, dim=1) → torch.softmax(scores, dim=0)
overflow: Your softmax overflows for large scores. Subtract each token's largest score first, or use `torch.softmax`.
- torch.softmax(scores, dim=1) → (scores.exp() / scores.exp().sum(dim=1, keepdim=True))
shares-squared: Your loss is the product of the shares with themselves. They come from a choice and have no slope, so
the router could not learn from it: one factor is the mean probability.
- (share @ mean) → (share @ share)
probabilities-squared: Your loss contains no shares, only mean probabilities. One factor is the share of the tokens that
chose the expert.
- (share @ mean) → (mean @ mean)
only-the-chosen: Your mean counts a probability only where its expert was chosen. It is the mean over *all* tokens.
- mean = p.mean(dim=0) → mean = (p * F.one_hot(p.argmax(dim=1), n)).mean(dim=0)
mean-over-experts: You took the mean over the experts of each token. Both vectors have one number per expert.
- mean = p.mean(dim=0) → mean = p.mean(dim=1)[: p.shape[1]]
token-by-token: You multiply share and probability token by token, before the mean. First average, then multiply.
- n * (share @ mean) → n * (F.one_hot(p.argmax(dim=1), n) * p).sum(dim=1).mean()
""",
)


def router(draw: Draw, tokens: int, experts: int) -> tuple[Tensor, Tensor]:
    p = torch.softmax(draw.normal(tokens, experts, dtype=torch.float64), dim=1)
    share = draw.normal(experts, dtype=torch.float64).abs() + 0.1
    return p, share / share.sum()


BALANCE_GRADIENT = question(
    "modifications.balance_gradient",
    returns=("slope", "gradient"),
    inputs=router,
    main=these(
        *(at(f"{t} tokens, {n} experts", tokens=t, experts=n) for t, n in ((3, 2), (5, 3), (2, 4), (1, 3))),
        at(EQUAL, tokens=3, experts=3),
    ),
    properties=[
        formula("the slope for each probability", 1, MAIN, "slope"),
        formula("the gradient for each score", 2, MAIN, "gradient"),
    ],
    numpy=True,
    mistakes="""
tokens-forgotten: Your slope is too large by the number of tokens. A probability enters the loss through a *mean* over
the tokens.
- n / tokens * share → n * share
experts-forgotten: Your slope lacks the factor that makes an even router 1, the number of experts.
- n / tokens * share → 1 / tokens * share
experts-and-tokens-swapped: You swapped the number of tokens and the number of experts.
- n / tokens * share → tokens / n * share
shares-have-a-slope: You differentiated the shares as well, as if they were the mean probabilities. They come from
a choice: constants.
- n / tokens * share → 2 * n / tokens * share
own-probability-only: Your gradient uses only the derivative of an expert's own probability, p (1 − p). A score also
changes the probabilities of all other experts of its token.
- p * (slope - (p * slope).sum(axis=1, keepdims=True)) → p * (1 - p) * slope
plain-mean: You compare each slope with the plain mean of the token's slopes. It is the mean weighted by the token's
probabilities.
- (p * slope).sum(axis=1, keepdims=True) → slope.mean(axis=1, keepdims=True)
not-weighted: You forgot a factor: each difference is multiplied by the probability of its expert, because a score whose
probability is nearly 0 moves nothing.
- p * (slope - → (slope -
sum-over-tokens: Your sum runs over the tokens. A softmax couples the experts of *one* token.
- sum(axis=1, keepdims=True) → sum(axis=0, keepdims=True)
softmax-forgotten: Your gradient for the scores is that for the probabilities. Between them is a softmax.
- return slope, p * (slope - (p * slope).sum(axis=1, keepdims=True)) → return slope, slope.copy()
half-the-softmax: Your gradient is p times the slope. The second term of the softmax's derivative is missing: raising
one score lowers all other probabilities.
- p * (slope - (p * slope).sum(axis=1, keepdims=True)) → p * slope
sign: The sign of your gradient is wrong. Descent goes *against* the gradient and must lower the score of a favourite.
- p * (slope - (p * slope).sum(axis=1, keepdims=True)) → p * ((p * slope).sum(axis=1, keepdims=True) - slope)
""",
)


def experts_of(draw: Draw, d: int, d_ff: int, n: int) -> dict[str, Tensor]:
    """The router and the networks of a mixture of experts."""
    inner, outer = draw.normal(n, d, d_ff) / d**0.5, draw.normal(n, d_ff, d) / d_ff**0.5
    return {"router": draw.normal(d, n) * 2 / d**0.5, "inner": inner, "outer": outer}


def mixture(draw: Draw, batch: int, time: int, d: int, d_ff: int, experts: int, factor: float = 0.0) -> tuple:
    return draw.normal(batch, time, d), experts_of(draw, d, d_ff, experts), factor or float(experts)


def kept(x: Tensor, router: Tensor, capacity: int) -> list[bool]:
    chosen = (x.flatten(0, 1) @ router).argmax(1).tolist()
    return [chosen[: i + 1].count(e) <= capacity for i, e in enumerate(chosen)]


def full(draw: Draw, d: int, d_ff: int) -> tuple:
    """A token is dropped, another one is not, in both texts; the capacity is rounded up, and that matters."""
    while True:
        x, layer, factor = mixture(draw, 2, 5, d, d_ff, 4, 1.0)
        up, down = (kept(x, layer["router"], capacity) for capacity in (3, 2))  # 10 / 4, rounded
        last = (x[:, -1] @ layer["router"]).argmax(1)
        if up != down and not all(up) and up[-1] != up[0] and last[0] != last[1]:
            return x, layer, factor


def idle(draw: Draw, d: int, d_ff: int) -> tuple:
    x, layer, factor = mixture(draw, 1, 4, d, d_ff, 3)
    x[..., -1], layer["router"] = 1.0, layer["router"] / 10
    layer["router"][-1] = torch.tensor([5.0, -50.0, 5.0])
    return x, layer, factor


FULL = at("a dropped token", full)
EXPERTS = ask(
    "modifications.experts",
    returns=("y", "balance", "dropped"),
    inputs=mixture,
    main=at("room for all", batch=2),
    odd=[
        at("one expert", experts=1),
        at("an expert that nobody chooses", idle),
        at("half the capacity", time=4, experts=2, factor=0.5),
        at("a single token", batch=1, time=1, experts=4, factor=1.0),
    ],
    properties=[
        shapes(0.25),
        values("the outputs, with room for all", 1, "y"),
        values("the outputs, with dropped tokens", 1.25, FULL, "y"),
        values("the balance loss", 0.25, FULL, "balance"),
        values("the share that was dropped", 0.5, FULL, "dropped"),
        values("one expert, an idle one, one token, float64", 0.75, ODD),
    ],
    mistakes="""
gate-forgotten: The gate is missing: an expert's output is multiplied by it. Without it the router never learns, because
a choice has no slope.
- gate[mine, None] * made → made
passed-through: Your dropped tokens keep their input as output. The output of the *sublayer* is 0 for them; the pathway
to which it is added still has their vector.
- y = torch.zeros_like(tokens) → y = torch.where(kept[:, None], torch.zeros_like(tokens), tokens)
not-put-back: Your outputs stand in the order of the experts: first all tokens of expert 0, then those of expert 1.
Write each back to the position of its token.
- y = torch.zeros_like(tokens) → y, done = torch.zeros_like(tokens), 0
- y.index_add(0, mine, → y.index_add(0, torch.arange(done, (done := done + len(mine))),
nobody-dropped: You computed an output for dropped tokens as well. Their expert is full, so their output is 0.
- ((expert == e) & kept) → (expert == e)
rounded-down: You rounded the capacity down. It is rounded up.
- math.ceil(factor * len(tokens) / n) → math.floor(factor * len(tokens) / n)
capacity-of-a-text: Your capacity counts the tokens of one text. All tokens of the batch are one queue.
- factor * len(tokens) / n → factor * x.shape[1] / n
a-queue-per-text: You route each text by itself. All tokens of the batch are one queue, text after text.
- expert, gate, kept = route(scores, capacity)
+ parts = [route(part, math.ceil(factor * len(part) / n)) for part in scores.view(*x.shape[:2], n)]
+ expert, gate, kept = (torch.cat(part) for part in zip(*parts))
factor-forgotten: Your capacity does not contain the capacity factor.
- math.ceil(factor * len(tokens) / n) → math.ceil(len(tokens) / n)
not-divided: Your capacity is not divided by the number of experts, so there is always room.
- math.ceil(factor * len(tokens) / n) → math.ceil(factor * len(tokens))
all-of-them: Every expert reads every token in your function. A token goes to one expert only: that is what makes
experts cheap.
- ((expert == e) & kept).nonzero()[:, 0] → torch.arange(len(tokens))
- gate[mine, None] → torch.softmax(scores, dim=1)[:, e, None]
first-expert-for-all: You used the same network for all tokens. Expert e has the matrices with the index e.
- {"inner": layer["inner"][e], "outer": layer["outer"][e]} → {"inner": layer["inner"][0], "outer": layer["outer"][0]}
relu-forgotten: Your experts have no ReLU. Each is a network like `network` above.
- network(tokens[mine], {"inner": layer["inner"][e], "outer": layer["outer"][e]})
+ tokens[mine] @ layer["inner"][e] @ layer["outer"][e]
kept-for-dropped: You return the share of the tokens that were kept. Asked for is the share that was dropped.
- 1 - kept.double().mean() → kept.double().mean()
number-for-share: You return how many tokens were dropped. Divide by their number.
- 1 - kept.double().mean() → (~kept).sum()
balance-of-the-kept: Your balance loss leaves out the dropped tokens. They show best how uneven the router is: all
tokens count.
- balance(scores)[2] → balance(scores[kept])[2]
residual-added: You added the input to the output. That is done on the pathway, outside this function.
- return y.view(x.shape) → return x + y.view(x.shape)
""",
)

# --- 3. embeddings, what a model costs, and a width that makes a comparison fair -------------------------------


def vectors(draw: Draw, time: int, d: int, inner: int, vocab: int, factorised=False, untied=False, batch=2) -> tuple:
    A = draw.normal(vocab, inner if factorised else d)
    B, U = draw.normal(inner, d) if factorised else None, draw.normal(vocab, d) if untied else None
    return draw.integers(0, vocab - 1, batch, time), draw.normal(batch, time, d), A, B, U


FACTORISED = at("factorised, shared", vocab=beyond(8), factorised=True)
UNTIED = these(
    at("factorised, untied", vocab=beyond(8), factorised=True, untied=True),
    at("plain, untied", vocab=beyond(8), untied=True),
)
EMBED = ask(
    "modifications.embed",
    returns=("vectors", "scores"),
    inputs=vectors,
    odd=[
        at("an inner width of 1", vocab=15, inner=1, factorised=True),
        at("one token", vocab=15, batch=1, time=1, factorised=True),
        at(EQUAL, time=4, d=4, inner=4, vocab=4, batch=4, factorised=True),
    ],
    properties=[
        values("the vectors", 0.5, FACTORISED, UNTIED, "vectors"),
        values("shared scores, plain", 0.25, at("plain, shared", vocab=beyond(8)), "scores"),
        values("shared scores, factorised", 0.5, FACTORISED, "scores"),
        values("untied scores", 0.25, UNTIED, "scores"),
        values("an inner width of 1, one token, square, float64", 0.5, ODD),
    ],
    mistakes="""
not-widened: Your vectors are the narrow ones. Multiply them by `B`, if there is one.
- A[tokens] @ B → A[tokens]
all-words: You return the vectors of all words of the vocabulary, not of the tokens.
- A[tokens] if B is None else A[tokens] @ B → A if B is None else A @ B
B-forgotten-at-the-top: You compare the rows of `A` with part of the hidden vector. It has d_model entries, the rows
only the inner width: first go back through `B`.
- hidden @ B.T → hidden[..., : A.shape[1]]
not-transposed: You multiplied by `B` where its transpose is needed: at the top the path leads from d_model back to the
inner width.
- hidden @ B.T → (hidden @ B.reshape(B.T.shape))
untied-ignored: You ignore `U`. If it is given, the scores come from it, and not from the embedding.
- if U is not None: → if False:
or
- if U is not None: → if U is not None and B is None:
vectors-from-U: You look the vectors up in `U`. Untied concerns the scores only: the vectors always come from the
embedding.
- return vectors, hidden @ U.T → return U[tokens], hidden @ U.T
both-added: You added the scores of both matrices. Untied means: only `U`.
- hidden @ U.T → hidden @ U.T + (hidden if B is None else hidden @ B.T) @ A.T
own-scores-only: You return the scores of the given tokens only. Every word of the vocabulary gets a score at each
position.
- return vectors, narrow @ A.T → return vectors, narrow @ A[tokens].mT
vectors-scored: You scored the tokens' own vectors. The scores belong to `hidden`, what leaves the model at the top.
- narrow = hidden if B is None else hidden @ B.T → narrow = vectors if B is None else vectors @ B.T
probabilities: You return probabilities. The question asks for the scores before the softmax.
- return vectors, narrow @ A.T → return vectors, torch.softmax(narrow @ A.T, dim=-1)
""",
)


def sizes_of(draw: Draw, **change: Any) -> Some:
    """All numbers are different."""
    d = draw.integer(5, 9)
    plain = {
        **{"vocab": draw.integer(60, 90), "d_model": d, "d_ff": 4 * d + draw.integer(1, 3), "n_layers": 3},
        **{"time": draw.integer(11, 19), "inner": 0, "untied": False, "experts": 1},
    }
    return plain | change


def model(draw: Draw, inner: int = 0, untied: bool = False, experts: int = 1, n_layers: int = 3) -> tuple[Some]:
    return (sizes_of(draw, inner=inner, untied=untied, experts=experts, n_layers=n_layers),)


TOGETHER = these(
    at("everything together", inner=3, untied=True, experts=between(4, 6)),
    at("factorised, shared, two experts, one layer", inner=2, experts=2, n_layers=1),
)
COSTS = ask(
    "modifications.costs",
    returns=("parameters", "products"),
    inputs=model,
    main=at("a plain model"),
    properties=[
        values("the parameters of a plain model", 0.75, "parameters"),
        values("the multiplications of a plain model", 0.75, "products"),
        values("a factorised embedding", 0.75, at(inner=2)),
        values("an untied softmax", 0.5, at(untied=True)),
        values("experts", 0.75, at("four experts", experts=4)),
        values("everything together", 0.5, TOGETHER),
    ],
    mistakes="""
softmax-for-free: You did not count the multiplications of the softmax's matrix. It is shared, so it has no further
parameters, but every word's score has to be computed.
- products + table + widening → products
softmax-counted-twice: You counted the embedding's parameters twice. A shared softmax has none of its own.
- return parameters, products + table → return parameters + table, products + table
positions-forgotten: You forgot the learned vectors of the positions: `time` rows of d_model parameters.
- table + widening + sizes["time"] * d → table + widening
scores-forgotten: You forgot attention's scores and its weighted sum. They have no parameters, but a query meets the
keys of all positions, and all values are weighted.
- 4 * d**2 + 2 * sizes["time"] * d → 4 * d**2
only-the-scores: You counted attention's scores, but not the weighted sum of the values, which costs as much again.
- 2 * sizes["time"] * d → sizes["time"] * d
whole-text: You counted the scores of all tokens of the text. Asked for are the multiplications of *one* token.
- 2 * sizes["time"] * d → 2 * sizes["time"] ** 2 * d
mix-forgotten: You counted three square matrices in attention. The matrix that mixes its output is the fourth.
* 4 * d**2 → 3 * d**2
one-matrix: A feed-forward network has two matrices, in and out.
- 2 * d * sizes["d_ff"] → d * sizes["d_ff"]
one-layer: You counted a single layer.
* sizes["n_layers"] * layer → layer
every-expert-computed: A token is read by *one* expert, so it pays for one network. All of them count as parameters.
- d + router + one_network → d + router + n * one_network
experts-not-counted: You counted the parameters of one expert. All of them are stored.
- router + n * one_network → router + one_network
router-forgotten: You forgot the router: a matrix with one column per expert, if there is more than one.
- d * n if n > 1 else 0 → 0
router-without-experts: A layer with a single network needs no router.
- d * n if n > 1 else 0 → d * n
lookup-multiplied: Looking up a row multiplies nothing. You counted the table's entries as multiplications.
- products = widening + → products = table + widening +
widening-forgotten: You forgot the matrix that widens a factorised embedding.
- (vocab * inner, inner * d) → (vocab * inner, 0)
widened-once: The widening matrix of a shared factorised embedding is used twice: when a token comes in, and on the way
to the scores.
- products + table + widening → products + table
not-factorised: You ignore `inner`. A factorised embedding has a narrow table and a widening matrix.
- if inner else → if False else
untied-softmax-factorised: Your untied softmax is factorised like the embedding. Its own matrix is whole: vocab times
d_model.
- vocab * d, products + vocab * d → table + widening, products + table + widening
untied-ignored: You ignore `untied`. A softmax with a matrix of its own has vocab times d_model further parameters.
- if sizes["untied"]: → if False:
""",
)


def thrift(draw: Draw, change: Some, which: int = 0, d_ff: int = 0) -> tuple:
    return sizes_of(draw, d_ff=d_ff or draw.integer(40, 60)), change, which


FOUR = {"experts": 4}
PARAMETERS = at("equal parameters, four experts", change=FOUR, d_ff=lambda draw: 4 * draw.integer(12, 20) + 1)
PRODUCTS = at("equal multiplications, four experts", change=FOUR, which=1, d_ff=between(40, 80))
OTHERS = these(
    at("equal parameters, factorised", change={"inner": 2}),
    at("equal multiplications, untied and deeper", change={"untied": True, "n_layers": 4}, which=1),
    at("equal parameters, four experts", change=FOUR, d_ff=lambda draw: 4 * draw.integer(12, 20) + 3),
)
EDGES = these(
    at("two equally close widths", change={"experts": 2}, d_ff=lambda draw: 2 * draw.integer(10, 20)),
    at("more than vanilla even with a width of 1", change={"experts": 9, "untied": True}, d_ff=5),
)
FAIR_WIDTH = ask(
    "modifications.fair_width",
    returns=("d_ff", "above"),
    inputs=thrift,
    properties=[
        values("equal parameters, the width", 0.75, PARAMETERS, "d_ff"),
        values("equal multiplications, the width", 0.5, PRODUCTS, "d_ff"),
        values("how far above vanilla", 0.5, PARAMETERS, "above"),
        values("other modifications", 0.5, OTHERS),
        values("ties, and widths below 1", 0.75, EDGES),
    ],
    mistakes="""
rounded-down: You take the largest width that costs no more than vanilla. Asked for is the closest one, be it above.
- math.ceil(exact - 0.5) → math.floor(exact)
rounded-up: You take the smallest width that costs no less than vanilla. Asked for is the closest one.
- math.ceil(exact - 0.5) → math.ceil(exact - 1e-9)
larger-of-two: Of two widths that are equally close you take the larger one. Take the smaller.
- math.ceil(exact - 0.5) → math.floor(exact + 0.5)
below-one: Your width can be 0 or negative. A network has at least one hidden unit.
- max(1, math.ceil(exact - 0.5)) → math.ceil(exact - 0.5)
always-parameters: You always make the parameters equal. `which` says what should be: 1 means the multiplications.
* [which] → [0]
divided-by-experts: You divided vanilla's width by the number of experts. The router costs something as well, other
modifications have no experts, and at equal multiplications nothing is to be divided.
- exact = 1 + (vanilla - of(1)) / (of(2) - of(1)) → exact = sizes["d_ff"] / change.get("experts", 1)
width-unchanged: You return vanilla's own width, at which the modified model costs more, or less.
- d_ff = max(1, math.ceil(exact - 0.5)) → d_ff = sizes["d_ff"]
never-wider: Your width is at most vanilla's. A modification that saves something elsewhere may be wider.
- max(1, math.ceil(exact - 0.5)) → min(sizes["d_ff"], max(1, math.ceil(exact - 0.5)))
change-on-both-sides: You compare with a vanilla model that has the modification already.
- vanilla = costs(sizes)[which] → vanilla = costs(sizes | change)[which]
ratio-for-part: You return the ratio of the costs. The part by which it is above vanilla is the ratio less 1.
- of(d_ff) / vanilla - 1 → of(d_ff) / vanilla
part-of-the-modified: You divide by the costs of the modified model. The part is one of vanilla's costs.
- of(d_ff) / vanilla - 1 → 1 - vanilla / of(d_ff)
absolute-difference: You return by how many it is above vanilla. Divide by vanilla's costs.
- of(d_ff) / vanilla - 1 → of(d_ff) - vanilla
without-a-sign: You return the size of the part without its sign. Below vanilla it is negative.
- of(d_ff) / vanilla - 1 → abs(of(d_ff) / vanilla - 1)
""",
)

# --- 4. paired seeds, Welch's test, Holm's correction, and a rank correlation ----------------------------------


def pairs(draw: Draw, count: int) -> tuple[list[float], list[float]]:
    return losses_of(draw, count), losses_of(draw, count)


def alike(draw: Draw, low: int = 10, high: int = 60) -> tuple[list[float], list[float]]:
    """The seeds differ much, the two models little."""
    luck = losses_of(draw, 5)
    return [loss + draw.integer(low, high) / 1000 for loss in luck], luck


PAIRED = ask(
    "modifications.paired",
    returns=("mean", "half"),
    inputs=pairs,
    main=at("several seeds", count=between(4, 6)),
    properties=[
        values("the mean of the differences", 0.5, "mean"),
        values("half the interval", 0.75, "half"),
        values("pairs that have much in common", 0.25, at("seeds that differ more than the models", alike)),
        values("two pairs, equal differences", 0.5, at("two pairs", count=2), at("equal", alike, low=250, high=250)),
    ],
    mistakes="""
not-paired: Your interval is that of two independent samples, which contains the luck of the seeds. Take the deviation
of the *differences*.
- stdev(gaps) / math.sqrt(len(gaps)) → math.sqrt((variance(x) + variance(y)) / len(gaps))
or
- critical(len(gaps) - 1) * stdev(gaps) / math.sqrt(len(gaps))
+ critical(2 * len(gaps) - 2) * math.sqrt((variance(x) + variance(y)) / len(gaps))
standard-deviation-only: Your half width is that of a single difference. The mean of n differences has a standard error
that is smaller by the root of n.
- stdev(gaps) / math.sqrt(len(gaps)) → stdev(gaps)
not-the-root: You divided by the number of pairs. The standard error of a mean has its root.
- / math.sqrt(len(gaps)) → / len(gaps)
divided-by-n: Your standard deviation divides by n. That of a sample divides by n − 1.
- stdev(gaps) → stdev(gaps) * math.sqrt((len(gaps) - 1) / len(gaps))
normal-for-t: You took 1.96, which is right for many seeds. With few, the deviation itself is uncertain: take
`critical`.
- critical(len(gaps) - 1) → 1.96
one-degree-too-many: n differences have n − 1 degrees of freedom.
- critical(len(gaps) - 1) → critical(len(gaps))
too-many-degrees: Two *independent* samples would have 2 n − 2 degrees of freedom. Here there are n differences, so n −
1.
- critical(len(gaps) - 1) → critical(2 * len(gaps) - 2)
whole-width: You return the whole width of the interval, or twice what is asked for.
- return fmean(gaps), critical → return fmean(gaps), 2 * critical
sign: Your mean has the wrong sign. It is the first model less the second.
- [a - b for → [b - a for
distance: You took the size of each difference without its sign. Seeds that disagree should cancel each other.
- [a - b for → [abs(a - b) for
variance-for-deviation: You took the variance of the differences for their standard deviation.
- stdev(gaps) → variance(gaps)
""",
)


def samples(draw: Draw) -> tuple[list[float], list[float]]:
    """Means that are not far apart, so that p is neither 0 nor 1; sizes and spreads differ."""
    x = [2 + draw.integer(0, 300) / 1000 for _ in range(draw.integer(4, 5))]
    y = [2 + draw.integer(200, 400) / 1000 for _ in range(3)]
    return [*x, 2.15], [*y, 2.35]


def odd_samples(draw: Draw) -> list[Case]:
    wide = [draw.integer(0, 4) / 2 + i for i in range(7)]
    return [
        case("samples of two", [1.0, 1.5 + draw.integer(0, 4) / 8], [2.0, 2.25]),
        case("very different spreads and sizes", wide, [2.0, 2.125]),
        case("the mean of the first is larger", [3.0, 3.5, 4.0], [2.0, 3.25, 2.5, 2.75]),
    ]


WELCH = ask(
    "modifications.welch",
    returns=("t", "freedom", "p"),
    inputs=samples,
    main=at("two samples"),
    properties=[
        values("t", 0.75, "t"),
        values("the degrees of freedom", 1, "freedom"),
        values("p", 0.5, "p"),
        values("small samples, different spreads", 0.75, odd_samples),
    ],
    mistakes="""
pooled: That is Student's test with one common variance, and n + m − 2 degrees of freedom. Welch's has an error of its
own for each mean.
- a, b = variance(x) / len(x), variance(y) / len(y)
+ n, m = len(x), len(y)
+ common = ((n - 1) * variance(x) + (m - 1) * variance(y)) / (n + m - 2)
+ a, b = common / n, common / m
- (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)) → n + m - 2
freedom-of-student: Your t is Welch's, but the degrees of freedom are those of Student's test, n + m − 2.
- (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)) → len(x) + len(y) - 2
freedom-of-the-smaller: You took the degrees of freedom of the smaller sample. That is the smallest that Welch's formula
can give, not its value.
- (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)) → min(len(x), len(y)) - 1
freedom-rounded: You rounded the degrees of freedom. Student's distribution is defined between the integers as well.
- freedom = (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1))
+ freedom = math.floor((a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)))
sizes-for-freedom: In the sum below the line each square is divided by its sample's *degrees of freedom*, which is the
size less 1.
- a**2 / (len(x) - 1) + b**2 / (len(y) - 1) → a**2 / len(x) + b**2 / len(y)
not-squared: In the degrees of freedom a and b are squared, each by itself, below the line.
- a**2 / (len(x) - 1) + b**2 / (len(y) - 1) → a / (len(x) - 1) + b / (len(y) - 1)
sum-not-squared: In the degrees of freedom the sum of a and b is squared.
- (a + b) ** 2 / → (a + b) /
variances-not-divided: You did not divide the variances by the sizes. The error of a mean shrinks with its sample.
- variance(x) / len(x), variance(y) / len(y) → variance(x), variance(y)
divided-by-n: Your variances divide by n. Those of a sample divide by n − 1.
- variance(x) / len(x), variance(y) / len(y) → (variance(v) * (len(v) - 1) / len(v) ** 2 for v in (x, y))
deviations-for-variances: You divided standard deviations by the sizes. a and b are *squared* errors: variance by size.
- variance(x) / len(x), variance(y) / len(y) → stdev(x) / len(x), stdev(y) / len(y)
root-forgotten: You divided by the squared error. Divide by its root.
- / math.sqrt(a + b) → / (a + b)
errors-added: You added the two standard errors. Their squares add up.
- / math.sqrt(a + b) → / (math.sqrt(a) + math.sqrt(b))
one-sided: Your p is one-sided. A modification may be worse as well as better: two-sided.
- two_sided(t, freedom) → two_sided(t, freedom) / 2
normal-for-t: Your p comes from the normal distribution. With few runs the tails are much heavier: use `two_sided`.
- two_sided(t, freedom) → math.erfc(abs(t) / math.sqrt(2))
sign: Your t has the wrong sign: it is positive if x has the larger mean.
- (fmean(x) - fmean(y)) → (fmean(y) - fmean(x))
without-a-sign: Your t has no sign any more. It is negative if x has the smaller mean.
- (fmean(x) - fmean(y)) → abs(fmean(x) - fmean(y))
""",
)


def sorted_p(draw: Draw) -> list[Case]:
    steps = [0.001 * draw.integer(1, 3), 0.005 * draw.integer(2, 3), 0.03 + 0.01 * draw.integer(0, 1), 0.3]
    return [case("sorted already", steps)]


def unsorted(draw: Draw) -> list[Case]:
    low, middle, high = 0.001 * draw.integer(1, 3), 0.02 + 0.001 * draw.integer(0, 5), 0.07 + 0.01 * draw.integer(0, 3)
    return [case("in any order", order) for order in ([high, low, middle], [middle, high, low])]


def raised(draw: Draw) -> list[Case]:
    """Neighbours so close that the later product is the smaller one."""
    near = 0.02 + 0.001 * draw.integer(0, 5)
    return [case("raised to an earlier one", [near + 0.002, 0.4, near, 0.001 * draw.integer(1, 3), near + 0.001])]


def odd_p(draw: Draw) -> list[Case]:
    some = 0.01 * draw.integer(1, 3)
    eight = [loss / 75 for loss in losses_of(draw, 8, 1, 5_000)]  # so small that no product reaches 1
    return [
        case("products above 1", [0.6, 0.3 + some, 0.5, 0.9]),
        case("equal values", [some, 0.2, some, some]),
        case("a single one", [some]),
        case("eight of them", eight),
    ]


HOLM = ask(
    "modifications.holm",
    returns=("corrected",),
    properties=[
        values("sorted already", 0.5, sorted_p),
        values("in any order", 0.5, unsorted),
        values("raised to an earlier one", 0.5, raised),
        values("above 1, equal, a single one", 0.5, odd_p),
    ],
    mistakes="""
bonferroni: That is Bonferroni's correction: all p values times their number. Holm's multiplies the next smallest by one
less each time.
- (len(p) - before) * p[i] → len(p) * p[i]
sorted-returned: You return the corrected values sorted. They are wanted in the order in which the p values came.
- corrected[i] = highest → corrected[before] = highest
not-sorted: You go through the p values in the order in which they came. The *smallest* is multiplied by their number.
- sorted(range(len(p)), key=lambda i: p[i]) → range(len(p))
largest-first: You start with the largest. Holm starts with the smallest, and multiplies it by their number.
- key=lambda i: p[i]) → key=lambda i: -p[i])
never-raised: A corrected value of yours is below that of a smaller p. Never let a later one fall below an earlier one.
- highest = max(highest, min(1.0, (len(p) - before) * p[i])) → highest = min(1.0, (len(p) - before) * p[i])
above-one: Your corrected values can exceed 1, which no probability does.
- min(1.0, (len(p) - before) * p[i]) → (len(p) - before) * p[i]
one-too-few: The smallest is multiplied by the number of tests, not by one less.
- (len(p) - before) → (len(p) - before - 1)
one-too-many: The smallest is multiplied by the number of tests, not by one more; the largest by 1.
- (len(p) - before) → (len(p) - before + 1)
hochberg: That is the correction of Benjamini and Hochberg, which multiplies by m / k. It allows a share of the winners
to be false; Holm's guards against a single false one.
+ order, lowest, corrected = sorted(range(len(p)), key=lambda i: p[i]), 1.0, [0.0] * len(p)
+ for k in range(len(p), 0, -1):
+     lowest = min(lowest, len(p) / k * p[order[k - 1]])
+     corrected[order[k - 1]] = lowest
+ return corrected
or
- (len(p) - before) * p[i] → len(p) / (before + 1) * p[i]
lowered-from-above: You went from the largest to the smallest and lowered. Holm goes from the smallest up, and raises.
+ order, lowest, corrected = sorted(range(len(p)), key=lambda i: p[i]), 1.0, [0.0] * len(p)
+ for k in range(len(p) - 1, -1, -1):
+     lowest = min(lowest, (len(p) - k) * p[order[k]])
+     corrected[order[k]] = lowest
+ return corrected
""",
)


def tied(draw: Draw) -> tuple[list[float], list[float]]:
    x, y = pairs(draw, draw.integer(5, 7))
    x[1] = x[3] = x[4]
    y[0] = y[2]
    return x, y


def odd_lists(draw: Draw) -> list[Case]:
    low = draw.integer(1, 9) / 4
    return [
        case("two values", [low, -low], [3.0, 7.0]),
        case("negative ones, all but one equal", [-low, -low, -2 * low, -low], [1.0, -2.0, -3.0, 0.5]),
    ]


TIED = at("ties", tied)
RANK_CORRELATION = ask(
    "modifications.rank_correlation",
    returns=("ranks", "rho"),
    inputs=pairs,
    main=at("different values", count=between(5, 7)),
    properties=[
        values("the ranks of different values", 0.5, "ranks"),
        values("the ranks with ties", 0.5, TIED, "ranks"),
        values("ρ without ties", 0.5, "rho"),
        values("ρ with ties", 0.25, TIED, "rho"),
        values("two values, negative ones", 0.25, odd_lists),
    ],
    mistakes="""
order-for-ranks: You return the order, that is, *which* value is the smallest, the next and so on. The rank says of each
value which place it has: sort the order once more.
- return (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2 → return v.argsort() + 1.0
ties-in-their-order: You give equal values different ranks, by the order in which they come. They share the mean.
- (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2 → v.argsort(stable=True).argsort() + 1.0
lowest-of-the-ties: You give equal values the lowest of their ranks. They share the mean.
- ((v == v[:, None]).sum(1) + 1) / 2 → 1.0
highest-of-the-ties: You give equal values the highest of their ranks. They share the mean.
- ((v == v[:, None]).sum(1) + 1) / 2 → 1.0 * (v == v[:, None]).sum(1)
ties-close-up: After equal values you go on with the next rank. Three values that share the rank 3 take up the ranks 2,
3 and 4.
- (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2 → torch.unique(v, return_inverse=True)[1] + 1.0
ranks-from-zero: Your ranks start at 0. The correlation is the same, but the smallest value has rank 1.
- return ranks(x), → return ranks(x) - 1,
largest-first: Your rank 1 belongs to the largest value. It belongs to the smallest.
- return ranks(x), → return len(x) + 1 - ranks(x),
values-correlated: You correlated the values (Pearson). Spearman's ρ is the correlation of their ranks.
- for r in (ranks(x), ranks(y)) → for r in (torch.tensor(x).double(), torch.tensor(y).double())
not-centred: You did not subtract the mean rank from the ranks.
- (r - r.mean() for r in (ranks(x), ranks(y))) → (ranks(x), ranks(y))
covariance: Your result is not between −1 and 1: divide the dot product by the lengths of both lists of deviations.
- a @ b / (a.norm() * b.norm()) → a @ b / len(x)
shortcut: That is the formula with the squared differences of the ranks. It holds only without ties.
- a @ b / (a.norm() * b.norm()) → 1 - 6 * ((ranks(x) - ranks(y)) ** 2).sum() / (len(x) ** 3 - len(x))
sign-lost: Your ρ is never negative. Two lists of opposite order have −1.
- a @ b / (a.norm() * b.norm()) → abs(a @ b) / (a.norm() * b.norm())
""",
)

# --- 5. the wrong line of a friend who correlates two tables ---------------------------------------------------

ROWS = ["Vanilla", "GeLU", "ELU", "GLU", "RMS Norm", "Rezero", "Fixup", "Funnel", "Switch"]


def tables(draw: Draw, both: int, theirs_only: int = 0, ours_only: int = 0) -> tuple:
    """Two tables in different orders, correlated differently if their rows are taken one after the other."""
    while True:
        _, *names = ROWS[: both + theirs_only + ours_only]
        names = shuffled(draw, names)
        shared, first, second = [ROWS[0], *names[: both - 1]], names[both - 1 :][:theirs_only], names[both - 1 :]
        theirs_rows, ours_rows = shuffled(draw, shared + first), shuffled(draw, shared + second[theirs_only:])
        theirs = dict(zip(theirs_rows, losses_of(draw, len(theirs_rows), 2100, 2400), strict=True))
        ours = dict(zip(ours_rows, losses_of(draw, len(ours_rows), 3000, 4000), strict=True))
        near = [row for row in theirs if abs(theirs[row] - theirs[ROWS[0]]) <= 0.15]
        rows = [row for row in near if row in ours]
        if len(rows) < 4 or len(near) == len(theirs):
            continue
        left, right = [theirs[row] for row in rows], [ours[row] for row in rows]
        mixed = [ours[row] for row in ours if row in rows]
        found = [float(RANK_CORRELATION.reference(left, one)[1]) for one in (right, mixed)]
        if abs(found[0] - found[1]) > 0.2 and abs(found[0]) < 0.95:
            return theirs, ours, ROWS[0], 0.15


AGREEMENT = ask(
    "modifications.agreement",
    returns=("rows", "rho"),
    inputs=tables,
    properties=[
        values("two tables in different orders", 1, at(both=7)),
        values("rows that only one table has", 1, at(both=6, theirs_only=1, ours_only=2)),
    ],
    planted="- right = [ours[row] for row in rows] → right = [ours[row] for row in ours if row in rows]",
    mistakes="""
sorted-losses: You sorted the losses of one list. Then the pairs are torn apart as well: each loss has to stay with its
row.
- right = [ours[row] for row in rows] → right = sorted(ours[row] for row in rows)
both-sorted: You sorted both lists, so ρ is 1 for any two tables. A pair is a row, not a place in a sorted list.
- right = [ours[row] for row in rows] → left, right = sorted(left), sorted(ours[row] for row in rows)
backwards: Your second list goes through the rows from the end.
- right = [ours[row] for row in rows] → right = [ours[row] for row in rows[::-1]]
all-rows: You mended the pairs, but also dropped the condition that rows are near the baseline.
- near = [row for row in theirs if abs(theirs[row] - theirs[baseline]) <= within] → near = list(theirs)
baseline-left-out: You left the baseline itself out of the comparison. It is a row of both tables, at distance 0.
- if row in ours] → if row in ours and row != baseline]
distance-in-ours: You measure the distance from the baseline in our table. The rows are chosen by theirs.
- abs(theirs[row] - theirs[baseline]) → row in ours and abs(ours[row] - ours[baseline])
only-better-rows: You kept only rows that are below the baseline. Near means near on both sides: the distance has no
sign.
- abs(theirs[row] - theirs[baseline]) <= within → -within <= theirs[row] - theirs[baseline] <= 0
""",
)

WRONG_LINE = wrong_line(
    "modifications.wrong_line",
    AGREEMENT,
    points=1,
    mistakes="""
near-suspected: Line {near =} is right: the distance from the baseline's loss, whatever its sign, and the baseline
itself is at distance 0.
rows-suspected: Line {rows =} is right: of the rows that are near, those that the other table has too. They stay in the
order of the first table.
left-suspected: Line {left =} is right: the losses of the first table, in the order of `rows`. Is the other list in that
order too?
call-suspected: Line {rank_correlation(} is right: your function returns ranks and ρ, and needs two lists of pairs. Are
they pairs?
return-suspected: Line {return} is right: both lists are as long as `rows`.
""",
)

# --- 6. every row against the baseline, from stored trainings --------------------------------------------------

BASELINE, RATE = "Vanilla", 0.004
FAR = {"SwiGLU": -0.2, "GeLU": 0.0, "Fixup": 0.3, "RMS Norm": -0.045, "Rezero": 0.06, "ELU": 0.04}
"""Rows, and how far their mean is from the baseline's."""


def training(draw: Draw, row: str, seed: int, middle: float, rate: float = RATE) -> Some:
    """The loss before the final one may be lower."""
    final = round(middle + draw.integer(-30, 30) / 1000, 4)
    earlier = [round(final + draw.integer(*between) / 1000, 4) for between in ((300, 900), (-60, 40))]
    return {"row": row, "seed": seed, "rate": rate, "losses": [*earlier, final]}


def diverged(row: str, seed: int, rate: float = RATE) -> Some:
    return {"row": row, "seed": seed, "rate": rate, "diverged": True}


def trainings(draw: Draw) -> list[Some]:
    """Clear rows, unclear ones, and one that only the correction makes unclear; the rows' order is not alphabetical."""
    while True:
        middle = 3 + draw.integer(0, 500) / 1000
        rows = {BASELINE: 0.0, **FAR}
        made = [training(draw, row, seed, middle + far) for row, far in rows.items() for seed in range(4)]
        losses = {row: [one["losses"][-1] for one in made if one["row"] == row] for row in rows}
        p = {row: WELCH.reference(losses[row], losses[BASELINE])[2] for row in FAR}
        corrected = JUDGE.reference(made, BASELINE, RATE)[1]
        gained = any(p[row] < 0.04 and corrected[row] > 0.06 for row in FAR)
        clear = all(corrected[row] < 0.02 for row in ("SwiGLU", "Fixup"))
        unclear = p["GeLU"] > 0.1 and abs(fmean(losses["GeLU"]) - fmean(losses[BASELINE])) > 0.001
        if gained and clear and unclear and sorted(p.values())[2] > 0.001:
            return made


def clean(draw: Draw) -> tuple:
    return shuffled(draw, trainings(draw)), BASELINE, RATE


def messy(draw: Draw) -> tuple:
    others = [training(draw, row, seed, 4.0, 0.008) for row in ("GeLU", BASELINE, "Linformer") for seed in (0, 1)]
    gone = [diverged("Fixup", 0, 0.016), diverged("Fixup", 4), diverged("GeLU", 4)]
    return shuffled(draw, trainings(draw) + others + gone), BASELINE, RATE


def single(draw: Draw) -> tuple:
    uneven = [one for one in trainings(draw) if one["row"] != "ELU" or one["seed"] < 2]
    alone = [training(draw, "FNet", 0, 3.0), training(draw, "BigBird", 0, 3.2)]
    return shuffled(draw, [*uneven, *alone, diverged("WideNet", 0), diverged("WideNet", 1)]), BASELINE, RATE


JUDGE = ask(
    "modifications.judge",
    returns=("difference", "corrected", "verdict"),
    inputs=clean,
    main=at("four seeds each, one rate"),
    properties=[
        values("the differences", 1, "difference"),
        values("the corrected p values", 1.25, "corrected"),
        values("the verdicts", 1, "verdict"),
        values("other rates and trainings that diverged", 1, at("", messy)),
        values("rows with a single loss", 0.75, at("rows with a single loss, and with none", single)),
    ],
    mistakes="""
every-rate: You took the trainings at every learning rate. Only those with the given rate count: the others were made to
tune it.
- one["rate"] == rate and → True and
first-loss: You compared the first of the stored losses. The final one is the last.
- one["losses"][-1] → one["losses"][0]
best-loss: You took the mean of all losses of a training. The final one is the last.
- one["losses"][-1] → fmean(one["losses"])
lowest-loss: You took the lowest loss of each training. The final one is the last, even if an earlier one was lower.
- one["losses"][-1] → min(one["losses"])
not-corrected: Your p values are those of each test alone. Correct all of them at once, for the number of tests.
- holm([welch(runs[row], runs[baseline])[2] for row in rows]) → [welch(runs[row], runs[baseline])[2] for row in rows]
or
- holm([welch(runs[row], runs[baseline])[2] for row in rows])
+ [holm([welch(runs[row], runs[baseline])[2]])[0] for row in rows]
alphabetical-mix-up: Your p values are with the wrong rows: they were computed in one order and given back in another.
- [2] for row in rows → [2] for row in sorted(rows)
baseline-tested: You tested the baseline against itself, which adds a row and a test. It is what the others are compared
with.
- if row != baseline and len(runs[row]) > 1] → if len(runs[row]) > 1]
baseline-counted: You counted the baseline as a test: with m other rows there are m tests.
- ), strict →  + [1.0])[:-1], strict
baseline-less-row: Your differences have the wrong sign: the row's mean less the baseline's.
- fmean(runs[row]) - fmean(runs[baseline]) for → fmean(runs[baseline]) - fmean(runs[row]) for
- gaps[row] < 0 → gaps[row] > 0
lower-is-worse: You call a row with a higher loss better. A lower loss is better.
- gaps[row] < 0 else -1 → gaps[row] > 0 else -1
never-worse: You call rows better or unclear, but never worse. A row that is surely above the baseline has −1.
- 1 if gaps[row] < 0 else -1 → int(gaps[row] < 0)
judged-by-the-sign: Your verdicts look only at the sign of the difference. Without a small p it is unclear.
- 0 if corrected[row] >= 0.05 else 1 if gaps → 1 if gaps
judged-before-the-correction: Your corrected p values and your verdicts do not agree: you judged by the p of each test
alone.
- 0 if corrected[row] >= 0.05 else → 0 if welch(runs[row], runs[baseline])[2] >= 0.05 else
single-runs-kept: You kept rows with a single loss. One run has no spread, so no test can be made.
- welch(runs[row], runs[baseline])[2] for → welch(runs[row] * (1 + (len(runs[row]) < 2)), runs[baseline])[2] for
- and len(runs[row]) > 1] → ]
single-runs-counted: You left out rows with a single loss, but counted them as tests. Only tests that were made count.
- holm([welch(runs[row], runs[baseline])[2] for row in rows])
+ holm([welch(runs[row], runs[baseline])[2] for row in rows] + [1.0] * sum(len(r) < 2 for r in runs.values()))[
+     : len(rows)
+ ]
paired-for-welch: You compared the runs pair by pair. The trainings are in no particular order, and seeds may
be missing: use Welch's test.
^ def pairs(x, y):
^     k = min(len(x), len(y))
^     gap, half = paired(x[:k], y[:k])
^     return two_sided(gap / half * critical(k - 1), k - 1)
- welch(runs[row], runs[baseline])[2] → pairs(runs[row], runs[baseline])
""",
)

# --- 7. a router without and with a balance loss ---------------------------------------------------------------


@functools.cache
def ids(play: int) -> Tensor:
    """Letters as 1 to 26 and everything else as 0, as `letters` of the page has them."""
    text = re.sub("[^a-z]+", " ", load("shakespeare").texts("train")[play].lower())
    return torch.tensor([max(0, ord(character) - 96) for character in text])


def windows(play: int, start: int, count: int, tested: int) -> list[Tensor]:
    """To train on, and to test on."""
    parts = ((start, count), (start + 12_000, tested))
    return [ids(play)[first : first + many + 3].unfold(0, 4, 1).contiguous() for first, many in parts]


def fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    return [case("other windows and seeds", *windows(draw.integer(1, 20), draw.integer(0, 2_000), 300, 100), seeds)]


def equal(draw: Draw) -> list[Case]:
    return [case(EQUAL, *windows(1, 0, 4, 4), [draw.integer(30, 34), draw.integer(35, 39)])]


page = on_the_page("the five seeds of the page", *windows(0, 0, 4_000, 600), [0, 1, 2, 3, 4])
FEWER = ["lower", 1, 0]
WHICH_BALANCE = ask(
    "modifications.which_balance",
    returns=("prediction", "table", "conclusion"),
    properties=[
        predicted(0.25, page, 4),
        values("the numbers of every seed", 3.25, fresh, page, equal, "table"),
        concluded(
            2.5,
            Both((fresh, page)),
            [FEWER, ["lower", 2, 3]],
            [FEWER, ["lower", 3, 2]],
            [FEWER, ["undecided", 2, 3]],
            ["undecided", 0, 1],
        ),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- begin(seed) → begin(seeds[0])
- minibatch(train, seed, step) → minibatch(train, seeds[0], step)
measured-on-train: You measured on the windows that the model learned from. Measure on `test`.
- predict(parameters, test) → predict(parameters, train)
not-restarted: Your second model goes on from where the first one ended. Both begin with the parameters of `begin`.
-         parameters = begin(seed)
+         pass
- dropped, losses = [], []
+ dropped, losses = [], []
+     parameters = begin(seed)
one-minibatch: Your model sees the same minibatch in every step. `minibatch` wants the number of the step.
- minibatch(train, seed, step) → minibatch(train, seed, 0)
steps-from-one: Your steps are numbered from 1, and you see other minibatches. They are numbered from 0.
- minibatch(train, seed, step) → minibatch(train, seed, step + 1)
weight-of-one: You added the whole balance loss. It is weighted by 0.2.
- (0.0, 0.2) → (0.0, 1.0)
both-balanced: Both of your models have the balance loss. The first is trained without it.
- (0.0, 0.2) → (0.2, 0.2)
balance-reported: Your held-out loss contains the balance loss. Report the loss of predicting alone, or the two models
are measured by different sums.
- loss, _, → loss, rest,
- float(loss) → float(loss + weight * rest)
gradients-added-up: Your gradients of all steps add up. Set them to 0 before each `backward`.
- optimiser.zero_grad() → pass
columns-in-another-order: Your columns are in another order: first both shares of dropped tokens, then both losses.
- table.append(dropped + losses) → table.append([dropped[0], losses[0], dropped[1], losses[1]])
best-seed-picked: You return the lowest number over all seeds, in every row. A change that may choose its seed looks
better than it is: keep the numbers of every seed.
- conclusion = 3 → table = torch.tensor(table).amin(0).expand(len(seeds), 4); conclusion = 3
balance-blamed: Your own numbers do not say that the held-out loss is higher with the balance loss: the signs differ
from seed to seed, and the interval contains 0.
- conclusion = 3 → conclusion = 1
one-seed-believed: Your own numbers do not say that the held-out loss is lower with the balance loss: the signs differ
from seed to seed, and the interval contains 0.
- conclusion = 3 → conclusion = 2
difference-overlooked: Compare the first two columns: with the balance loss far fewer tokens are dropped, for every
seed.
- conclusion = 3 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)

EXERCISES = exercises_in(__name__)
