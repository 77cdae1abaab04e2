"""Question 2d: the layer of experts."""

import math

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.modifications.checks.common import CLOSED, experts_of


def _room(draw: Draw) -> list[Case]:
    time, d, d_ff, n = draw.sizes(4)
    return [case("room for all", draw.normal(2, time, d), experts_of(draw, d, d_ff, n), float(n))]


def _kept(x: Tensor, router: Tensor, capacity: int) -> list[bool]:
    chosen, counts = (x.flatten(0, 1) @ router).argmax(1).tolist(), [0] * router.shape[1]
    found = []
    for e in chosen:
        counts[e] += 1
        found.append(counts[e] <= capacity)
    return found


def _full(draw: Draw) -> list[Case]:
    """A token is dropped, another one is not, in both texts; the capacity is rounded up, and that matters."""
    while True:
        d, d_ff = draw.sizes(2)
        x, layer = draw.normal(2, 5, d), experts_of(draw, d, d_ff, 4)
        up, down = (_kept(x, layer["router"], capacity) for capacity in (3, 2))  # 10 tokens, 4 experts, factor 1
        last = x[:, -1] @ layer["router"]
        if up != down and not all(up) and up[-1] != up[0] and int(last[0].argmax()) != int(last[1].argmax()):
            assert math.ceil(10 / 4) == 3
            return [case("a dropped token", x, layer, 1.0)]


def _odd(draw: Draw) -> list[Case]:
    d, d_ff = draw.sizes(2)
    shy = experts_of(draw, d, d_ff, 3)
    ones = torch.cat([draw.normal(1, 4, d - 1), torch.ones(1, 4, 1)], dim=-1)
    shy["router"] = torch.cat([shy["router"][:-1] / 10, torch.tensor([[5.0, -50.0, 5.0]])])
    wide = experts_of(draw, d, d_ff, 2, torch.float64)
    return [
        case("one expert", draw.normal(1, 3, d), experts_of(draw, d, d_ff, 1), 1.0),
        case("an expert that nobody chooses", ones, shy, 3.0),
        case("float64, half the capacity", draw.normal(2, 4, d, dtype=torch.float64), wide, 0.5),
        case("a single token", draw.normal(1, 1, d), experts_of(draw, d, d_ff, 4), 1.0),
    ]


EXPERTS = question(
    "modifications.experts",
    minutes=30,
    difficulty="hard",
    returns=("y", "balance", "dropped"),
    properties=[
        shapes(0.25, _room),
        values("the outputs, with room for all", 1, _room, "y"),
        values("the outputs, with dropped tokens", 1.25, _full, "y"),
        values("the balance loss", 0.25, _full, "balance"),
        values("the share that was dropped", 0.5, _full, "dropped"),
        values("one expert, an idle one, one token, float64", 0.75, _odd),
    ],
    closed=CLOSED,
    mistakes="""
gate-forgotten: The gate is missing: an expert's output is multiplied by it. Without it the router never learns,
because a choice has no slope.
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
