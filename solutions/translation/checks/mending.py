"""Questions 5a and 5b: the wrong line of a friend who chooses between translations."""

import functools
from typing import Any

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.translation.checks.common import CLOSED, ended, model_weights, padded


def _choice(draw: Draw, label: str, batch: int, k: int, m: int, full: bool = False, equal: int = 0) -> Case:
    return case(label, *_found(draw.integer(0, 10**9), batch, k, m, full, equal))


@functools.lru_cache(maxsize=256)
def _found(seed: int, batch: int, k: int, m: int, full: bool, equal: int) -> tuple[Any, ...]:
    """Candidates of which neither the bug nor the mean per word chooses the right ones."""
    draw = Draw(seed, 5)
    source_size, target_size, d = (equal,) * 3 if equal else (12, 11, 6)
    while True:
        weights = model_weights(draw, d, equal or 5, source_size, target_size, 1)
        source = ended(padded(draw, batch, equal or 4, source_size))
        if full:
            candidates = draw.integers(3, target_size - 1, batch, k, m)
        else:
            candidates = padded(draw, batch * k, m, target_size).reshape(batch, k, m)
        best, scores = RERANK.reference(source, candidates, weights, 2)
        assert RERANK.planted is not None
        bug = RERANK.planted(source, candidates, weights, 2)[0]
        by_mean = (scores / ((candidates > 0).sum(-1) + 1)).argmax(1)
        if not torch.equal(best, bug) and (full or not torch.equal(best, by_mean)):
            return source, candidates, weights, 2


def _several(draw: Draw) -> list[Case]:
    batch, k, m = draw.sizes(3)
    return [
        _choice(draw, "several sources", batch, k + 1, m),
        _choice(draw, "two sources, three candidates each", 2, 3, 4),
        _choice(draw, EQUAL, 4, 4, 4, equal=4),
    ]


def _others(draw: Draw) -> list[Case]:
    return [
        _choice(draw, "candidates without padding", 3, 2, 3, full=True),
        _choice(draw, "three sources", 3, 3, 3),
    ]


RERANK = question(
    "translation.rerank",
    minutes=5,
    difficulty="easy",
    returns=("best", "scores"),
    properties=[
        values("the log-probabilities of the candidates", 1, _several, "scores"),
        values("the choice", 0.5, _several, "best"),
        values("candidates without padding, three sources", 0.5, _others),
    ],
    closed=CLOSED,
    planted="- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1)",
    mistakes="""
both-repeated: Now the vectors and the sources are in the same order, A B A B, but the candidates are in the order A A
B B. The line with `sources` was right.
- sources = source.repeat_interleave(k, dim=0) → sources = source.repeat(k, 1)
- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1)

words-repeated: You repeat the words of each source instead of the sources. The rows of the batch are axis 0.
- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1).roll(1, 1)

first-source-for-all: Every candidate is scored with the first source. Each candidate needs its own.
- n_heads).repeat_interleave(k, dim=0) → n_heads)[:1].expand(batch * k, -1, -1)

candidates-reordered: You reordered the candidates instead. Then your scores come out in the wrong order; the line
with `shifted` was right.
- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1)
- sources = source.repeat_interleave(k, dim=0) → sources = source.repeat(k, 1)
- shifted(candidates.reshape(batch * k, m), → shifted(candidates.transpose(0, 1).reshape(batch * k, m),

mean-for-sum: Your candidates meet their own sources now, but you changed the sum to a mean over the words. The
log-probability of a translation is a sum.
- torch.where(outputs > 0, chances, 0.0).sum(1) → (torch.where(outputs > 0, chances, 0.0).sum(1) / (outputs > 0).sum(1))

padding-scored: Your candidates meet their own sources now, but the padding is scored as well. The line with
`torch.where` was right.
- torch.where(outputs > 0, chances, 0.0).sum(1) → chances.sum(1)

least-probable: Your log-probabilities are right, but you choose the least probable candidate.
- scores.argmax(dim=1) → scores.argmin(dim=1)
""",
)

_listing = listing_of(RERANK)
_at = _listing.number

WRONG_LINE = wrong_line(
    "translation.wrong_line",
    RERANK,
    minutes=10,
    points=1,
    mistakes=f"""
sources-suspected: Line {_at("sources = source")} is right: each source is repeated k times in a row, A A A B B B, as
the candidates are.
- {_listing.wrong} → {_at("sources = source")}

candidates-suspected: Line {_at("inputs, outputs")} is right: the reshape puts all candidates of A before those of B.
- {_listing.wrong} → {_at("inputs, outputs")}

decoder-suspected: Line {_at("logits = decode")} is right: `decode` takes what is read, the vectors, the sources, and
returns the logits first.
- {_listing.wrong} → {_at("logits = decode")}

pick-suspected: Line {_at("gather")} is right: the last axis is the vocabulary, and it takes the word that has to be
predicted.
- {_listing.wrong} → {_at("gather")}

sum-suspected: Line {_at("torch.where")} is right: padding adds 0, and the rows become a table of k columns again, A
first.
- {_listing.wrong} → {_at("torch.where")}

choice-suspected: Line {_at("return")} is right: the most probable candidate has the largest log-probability.
- {_listing.wrong} → {_at("return")}

sizes-suspected: Line {_at("batch, k, m =")} is right: there are `batch` sources, k candidates for each, m words in
the longest.
- {_listing.wrong} → {_at("batch, k, m =")}
""",
)
