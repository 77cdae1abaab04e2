"""Questions 1a and 1b: shifted targets, and two masks."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS, EQUAL
from autograder.exercise.specification import Case, case
from solutions.translation.checks.common import CLOSED, FIRST, ended, padded, started

# --- shifted targets --------------------------------------------------------------------------------------


def _targets(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    return [case(DIGITS, padded(draw, batch, time + 1, 40), 1, 2)]


def _others(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    return [
        case("targets without padding", draw.integers(FIRST, 30, batch, time), 1, 2),
        case("more padding than the longest needs", padded(draw, batch, time + 2, 40, full=False), 1, 2),
        case("a target without any word", padded(draw, 2, time, 40) * torch.tensor([[1], [0]]), 1, 2),
        case("other ids for bos and eos", padded(draw, batch, time, 40), 51, 50),
    ]


SHIFTED = question(
    "translation.shifted",
    minutes=10,
    difficulty="easy",
    returns=("reads", "predicts"),
    properties=[
        shapes(0.2, _targets),
        values("what is read", 0.6, _targets, "reads"),
        values("what is predicted", 0.7, _targets, "predicts"),
        values("no padding, no word, more padding", 0.5, _others),
    ],
    closed=CLOSED,
    mistakes="""
end-in-the-last-column: You put `eos` into the last column of every row. It belongs directly after the last word, in
front of the padding.
- predicts[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos → predicts[:, -1] = eos

end-over-the-last-word: Your `eos` replaces the last word. It comes after it: a target with three words has its `eos`
at index 3.
- (tokens > 0).sum(dim=1)] → (tokens > 0).sum(dim=1) - 1]

end-read-as-well: Your decoder reads `eos` as well, in rows that are padded. After `eos` there is nothing to predict,
so nobody has to read it: what is read is `bos` and the words.
- return reads, predicts → return torch.cat([column + bos, predicts[:, :-1]], dim=1), predicts

end-forgotten: There is no `eos` in what is predicted. Without it the model never learns where to stop.
- predicts[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos → pass

not-shifted: What is read begins with the first word, so each position reads the very word that it must predict. Put
`bos` in front.
- reads = torch.cat([column + bos, tokens], dim=1) → reads = torch.cat([tokens, column], dim=1)

start-predicted: What you predict begins with `bos`. The decoder reads `bos`, and the first thing it predicts is the
first word.
- predicts = torch.cat([tokens, column], dim=1) → predicts = torch.cat([column + bos, tokens], dim=1)
- (tokens > 0).sum(dim=1)] → (tokens > 0).sum(dim=1).clamp(max=tokens.shape[1] - 1) + 1]

as-long-as-before: Your results are only as long as `tokens`, so the last word of a full row is not read, and its
`eos` is not predicted. Both have one column more.
- return reads, predicts → return reads[:, :-1], predicts[:, :-1]

swapped: You return the two results in the wrong order: first what is read, then what is predicted.
- return reads, predicts → return predicts, reads

padding-is-end: You fill the whole rest of a row with `eos`. There is one `eos` per row; after it comes padding.
- predicts[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos
+ predicts = torch.where(predicts == 0, eos, predicts)
""",
)


# --- masks ------------------------------------------------------------------------------------------------


def _both_texts(draw: Draw, batch: int, n: int, m: int, full: bool = True) -> tuple[Tensor, Tensor]:
    """A source, which ends with `eos`, and what a decoder reads, which begins with `bos`."""
    return ended(padded(draw, batch, n, 20, full=full)), started(padded(draw, batch, m, 20, full=full))


def _padded_both(draw: Draw) -> list[Case]:
    batch, n, m = draw.sizes(3)
    return [case("padding in both", *_both_texts(draw, batch, n + 1, m + 1))]


def _full_target(draw: Draw) -> list[Case]:
    batch, n, m = draw.sizes(3)
    source, _ = _both_texts(draw, batch, n + 1, m)
    return [case("a target without padding", source, started(draw.integers(FIRST, 19, batch, m + 1)))]


def _edges(draw: Draw) -> list[Case]:
    batch, n = draw.sizes(2)
    return [
        case("as many words in both", *_both_texts(draw, batch, n, n)),
        case("one word each", *_both_texts(draw, 1, 1, 1)),
        case("more padding", *_both_texts(draw, 2, n + 2, n + 3, full=False)),
        case(EQUAL, *_both_texts(draw, n + 1, n + 1, n + 1)),
    ]


MASKS = question(
    "translation.masks",
    minutes=15,
    difficulty="easy",
    returns=("over_source", "over_target"),
    properties=[
        shapes(0.25, _padded_both, "boolean, and the shapes", boolean=True),
        values("the mask over the source", 0.75, _padded_both, "over_source"),
        values("no query sees a later position", 0.5, _full_target, "over_target"),
        values("padding of the target as well", 0.5, _padded_both, "over_target"),
        values("one word, as many words in both", 0.5, _edges),
    ],
    closed=CLOSED,
    mistakes="""
target-padding-forgotten: Your second mask hides later positions, but not the padding of the target.
- before & (reads > 0)[:, None, None, :] → before.expand(len(reads), 1, m, m)

order-forgotten: Your second mask hides the padding, but not the later positions: the decoder would read what it must
predict.
- before & (reads > 0)[:, None, None, :] → (reads > 0)[:, None, None, :].expand(len(reads), 1, m, m)

rows-hidden: You hide the *rows* of padding, which are its queries. Padding is hidden as a key, in the columns, and
its queries may see the words: a query without any key gives NaN.
- (reads > 0)[:, None, None, :] → (reads > 0)[:, None, :, None]

either-or: You joined the two conditions with “or”. A key must be a word *and* not come later.
- before & (reads → before | (reads

source-in-order: Your first mask hides later words of the source as well. The source is known from the start, so it is
read in both directions.
- (source > 0)[:, None, None, :], before
+ (source > 0)[:, None, None, :] & torch.ones(source.shape[1], source.shape[1]).tril().bool(), before

upside-down: Your masks are True where something is hidden. Here True means that a query may attend.
- return (source > 0)[:, None, None, :], before & (reads > 0)[:, None, None, :]
+ return (source == 0)[:, None, None, :], ~(before & (reads > 0)[:, None, None, :])

not-even-itself: A position of the target does not see itself in your mask, only what comes before it. It reads its
own word, and predicts the next one.
- .tril() → .tril(-1)

later-instead-of-earlier: Your second mask shows the later positions and hides the earlier ones: the triangle is the
wrong one.
- .tril() → .triu()

no-axis-for-heads: Your masks have no axis for the heads: (batch, 1, …) is asked, with the size 1 at the second place.
- return (source > 0)[:, None, None, :], before & (reads > 0)[:, None, None, :]
+ return (source > 0)[:, None, :], before & (reads > 0)[:, None, :]

swapped: You return the masks in the wrong order: first the one over the source, then the one over the target.
- return (source > 0)[:, None, None, :], before & (reads > 0)[:, None, None, :]
+ return before & (reads > 0)[:, None, None, :], (source > 0)[:, None, None, :]
""",
)
