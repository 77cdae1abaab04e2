"""Questions 2a and 2b: which expert a token goes to, whether there is room, and how uneven that is."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.modifications.checks.common import CLOSED


def _queue(draw: Draw) -> list[Case]:
    """Three experts, and more tokens than they take."""
    return [case("more tokens than room", draw.normal(draw.integer(9, 12), 3) * 2, 2)]


def _plenty(draw: Draw) -> list[Case]:
    return [case("room for all", draw.normal(draw.integer(5, 8), 4) * 2, 8)]


def _odd_queue(draw: Draw) -> list[Case]:
    tokens = draw.integer(5, 8)
    return [
        case("one expert", draw.normal(4, 1), 3),
        case("a capacity of 1, float64", draw.normal(tokens, 3, dtype=torch.float64), 1),
        case("large scores", draw.normal(tokens, 3) * 1000, 2),
        case(EQUAL, draw.normal(5, 5) * 2, 5),
        case("slices of larger tensors", draw.strided(tokens, 3), 2),
    ]


ROUTE = question(
    "modifications.route",
    minutes=15,
    difficulty="medium",
    returns=("expert", "gate", "kept"),
    properties=[
        values("the experts", 0.5, _plenty, "expert"),
        values("the gates", 0.75, _plenty, "gate"),
        values("who is kept", 1.25, _queue, "kept"),
        values("one expert, a capacity of 1, large scores, float64", 0.5, _odd_queue),
    ],
    closed=CLOSED,
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


def _uneven(draw: Draw) -> list[Case]:
    return [case("several tokens", draw.normal(draw.integer(7, 10), 3) * 2 + torch.tensor([1.0, 0.0, -1.0]))]


def _odd(draw: Draw) -> list[Case]:
    tokens = draw.integer(5, 8)
    return [
        case("a single token", draw.normal(1, 4)),
        case("one expert", draw.normal(4, 1)),
        case("large scores", draw.normal(tokens, 3) * 1000),
        case("float64", draw.normal(tokens, 3, dtype=torch.float64)),
        case(EQUAL, draw.normal(4, 4)),
    ]


BALANCE = question(
    "modifications.balance",
    minutes=10,
    difficulty="easy",
    returns=("share", "mean", "loss"),
    properties=[
        values("the shares", 0.5, _uneven, "share"),
        values("the mean probabilities", 0.5, _uneven, "mean"),
        values("the balance loss", 0.5, _uneven, "loss"),
        values("one token, one expert, large scores, float64", 0.5, _odd),
    ],
    closed=CLOSED,
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

probabilities-squared: Your loss contains no shares, only mean probabilities. One factor is the share of the tokens
that chose the expert.
- (share @ mean) → (mean @ mean)

only-the-chosen: Your mean counts a probability only where its expert was chosen. It is the mean over *all* tokens.
- mean = p.mean(dim=0) → mean = (p * F.one_hot(p.argmax(dim=1), n)).mean(dim=0)

mean-over-experts: You took the mean over the experts of each token. Both vectors have one number per expert.
- mean = p.mean(dim=0) → mean = p.mean(dim=1)[: p.shape[1]]

token-by-token: You multiply share and probability token by token, before the mean. First average, then multiply.
- n * (share @ mean) → n * (F.one_hot(p.argmax(dim=1), n) * p).sum(dim=1).mean()
""",
)
