"""Assignment "positions": sinusoids that a matrix moves, tables, buckets, ALiBi, rotary, skewing, one layer for all.

The functions differ in form from `nlmcore.positions`, whose parts are modules: here each is one function of tensors,
and `attend` takes positions of any kind as data.
"""

import functools
import math

import torch
from torch import Tensor

from autograder.question.declare import (
    any_order,
    exercises_in,
    holds,
    inputs_too,
    judged,
    question,
    shapes,
    values,
)
from autograder.question.draw import Draw
from autograder.question.judges import inputs_unchanged
from autograder.question.kinds import EQUAL, SLICES
from autograder.question.laws.self_attention import scores_depend_on_the_distance
from autograder.question.sized import at, between, beyond, largest, several, these
from autograder.question.special import at_points, concluded, formula, over_seeds, predicted, wrong_line
from autograder.question.specification import Both, Case
from nlmcore.corpora import load
from solutions.positions import laws

_MODULES = ("attention", "convolutional", "fast", "feedforward", "positions", "training")  # positions, and what attends
ask = functools.partial(question, closed=(*(f"nlmcore.{name}" for name in _MODULES), "transformers"))


def waves(half: int, base: float = 50.0) -> Tensor:
    """Frequencies (pair,), float32; the first is not quite 1, so that nobody computes them instead."""
    return 0.9 * base ** (-torch.arange(half) / half)


# --- 1. the matrix that moves sinusoids, concatenating as adding, a table that is stretched --------------------


def shift(draw: Draw, k: int, half: int, base: float = 10_000.0) -> tuple[int, int, float]:
    return k, 2 * half, base


def two_shifts(draw: Draw, half: int, j: int, sign: int = 1, base: float = 10_000.0) -> Case:
    k = draw.integer(2, 9)
    return several(*((moved, 2 * half, base) for moved in (sign * j, k, sign * j + k)))


SHIFTS = these(at("j, k and j + k", two_shifts), at("back and forth", two_shifts, sign=-1, base=100.0))
ODD_SHIFTS = these(
    at("back, base 100", k=lambda draw: -draw.size(), base=100.0),
    at("not at all", k=0),
    at("far, base 50", k=lambda draw: 60 * draw.size(), base=50.0),
    at("one pair", half=1),
)
SHIFT_MATRIX = ask(
    "positions.shift_matrix",
    returns=("M",),
    inputs=shift,
    main=these(at("a few positions on"), at("many pairs", half=beyond(14))),
    properties=[
        shapes(0.25, name="the shape is (d, d)"),
        holds("j, then k, is j + k", 1, SHIFTS, laws.shifts_add_up),
        values("the values", 1.75),
        values("back, not at all, far; other bases", 1, ODD_SHIFTS),
    ],
    tolerance=1e-3,
    mistakes="""
moves-back: Your matrix moves positions back: with it, PE(t) M is PE(t − k). Either the two sines have each other's
sign, or you had columns in mind, M · PE(t). Here positions are rows: PE(t) M.
- return M.float() → return M.T.float()
minus-forgotten: Both sines of your blocks have the same sign. cos(α + β) = cos α cos β − sin α sin β has a minus; a
rotation has exactly one.
- -sin, sin → sin, sin
pairs-in-halves: Your pairs are columns i and i + d/2. In these sinusoids a sine and its cosine are neighbours, columns
2i and 2i + 1.
- even = torch.arange(0, d, 2) → even = torch.arange(d // 2)
* even + 1 → even + d // 2
one-angle-for-all: You rotate all pairs by the same angle. Pair i rotates by k times its own frequency: the first fast,
the last slowly.
- base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d) → torch.ones(d // 2, dtype=torch.float64)
half-the-exponent: Your exponent is i/d, where i is the number of the pair. It should be 2i/d: the last pairs must be
slow.
- -torch.arange(0, d, 2, dtype=torch.float64) → -torch.arange(d // 2, dtype=torch.float64)
wavelength-for-frequency: Your pairs get faster from left to right. The frequency is base to the power of *minus* 2i/d.
- base ** (-torch → base ** (torch
times-the-matrix-of-one: You multiplied the matrix for one position by k. Moving by k means rotating k times: k belongs
into the angle.
- (k * frequency).cos(), (k * frequency).sin() → k * frequency.cos(), k * frequency.sin()
base-ignored: You always use base 10,000. The base is an argument.
- base ** → 10_000.0 **
back-as-on: For a negative k your matrix moves forward. Keep the sign of k in the angle.
- (k * frequency).cos(), (k * frequency).sin() → (abs(k) * frequency).cos(), (abs(k) * frequency).sin()
not-back: For a negative k your matrix changes nothing, as in a loop over range(k). Put k into the angle.
^ k = max(k, 0)
fastest-pair-only: Only your first pair moves. Every pair has its own block.
- frequency = base → frequency = (torch.arange(d // 2) == 0) * base
""",
)


def joined(draw: Draw, vocab: int, length: int, d_token: int, d_position: int, d_model: int, slices=False) -> Case:
    """known: the vector of every token at every position, (vocab, length, d_model)."""
    make = draw.strided if slices else draw.normal
    tokens, positions = make(vocab, d_token), make(length, d_position)
    W, b = make(d_token + d_position, d_model), draw.normal(d_model)
    pairs = [tokens[:, None].expand(-1, length, -1), positions.expand(vocab, -1, -1)]
    return several((tokens, positions, W, b), known=(torch.cat(pairs, dim=-1) @ W + b,))


JOINED = these(
    at("tokens are wider", d_token=beyond(3), d_position=2), at("positions are wider", d_token=2, d_position=beyond(3))
)
SMALL = these(
    at("one token, one position", vocab=1, length=1),
    at("vectors of one dimension", d_token=1, d_position=1, d_model=1),
    at(EQUAL, vocab=3, length=3, d_token=3, d_position=3, d_model=3),
    at(SLICES, slices=True),
)
AS_ADDITION = ask(
    "positions.as_addition",
    returns=("new_tokens", "new_positions"),
    inputs=joined,
    properties=[
        holds("every token at every position", 1.5, JOINED, laws.sums_are_known),
        holds("one token, one dimension, equal sizes", 0.5, SMALL, laws.sums_are_known),
    ],
    mistakes="""
bias-twice: The bias is in both of your tables, so every sum contains it twice. Put it into one of them.
- positions @ W[width:] → positions @ W[width:] + b
bias-forgotten: Every sum lacks the bias b. It does not depend on token or position, so it can go into either table.
- tokens @ W[:width] + b → tokens @ W[:width]
positions-first: You gave the first rows of W to the positions. The vector is [token; position], so the first rows
multiply the token.
- [:width] + b, positions @ W[width:] → [-width:] + b, positions @ W[:-width]
or
- [:width] + b, positions @ W[width:] → [-width:], positions @ W[:-width] + b
first-rows-for-both: You multiply both tables by the first rows of W. The rows for the position come after those for the
token.
- positions @ W[width:] → positions @ W[: positions.shape[1]]
or
- [:width] + b, positions @ W[width:] → [:width], positions @ W[: positions.shape[1]] + b
tables-swapped: You return the positions first and the tokens second.
- return tokens @ W[:width] + b, positions @ W[width:] → return positions @ W[width:], tokens @ W[:width] + b
or
- return tokens @ W[:width] + b, positions @ W[width:] → return positions @ W[width:] + b, tokens @ W[:width]
bias-divided: You divided the bias by a number of rows. Every sum needs it whole, once.
- [:width] + b, positions @ W[width:] → [:width], positions @ W[width:] + b / len(positions)
or
- [:width] + b → [:width] + b / len(tokens)
table-centred: You subtracted the mean of a table, and did not add it to the other one.
- positions @ W[width:] → positions @ W[width:] - (positions @ W[width:]).mean(0)
""",
)


def table(draw: Draw, old: int, d: int, times: int = 1, more: int = 3) -> tuple[Tensor, int]:
    return draw.normal(old, d), times * old + more


LONGER = these(at("three more", old=beyond(1)), at("more than twice as long", old=beyond(2), times=2, more=1))
SHORTER = these(at("shorter", old=beyond(4), more=-2), at("the same length", old=beyond(4), more=0))
SINGLE = these(
    at("a table of one row", old=1, more=beyond(0)),
    at("one position", old=beyond(1), times=0, more=1),
    at("two rows, float64", old=2, more=beyond(0), double=True),
)
STRETCHED = ask(
    "positions.stretched",
    returns=("table", "low", "share"),
    inputs=table,
    properties=[
        shapes(0.25, LONGER, "one row per position"),
        judged("longer", 1.25, LONGER, laws.mixed_from_two_rows),
        judged("shorter, and the same length", 0.75, SHORTER, laws.mixed_from_two_rows),
        judged("one row, one position", 0.75, SINGLE, laws.mixed_from_two_rows),
    ],
    mistakes="""
end-never-reached: Your steps are old/new long, so the last row of the table is never reached, or used several times.
From the first row to the last there is one step fewer than there are rows, in the old table and in the new one.
- torch.linspace(0, end, length) → (torch.arange(length) * len(table) / length).clamp(max=end)
last-row-repeated: You repeat the last row at the end. The whole table should be laid out over the new length.
- torch.linspace(0, end, length) → torch.arange(length).clamp(max=end).float()
starts-over: After its last row your table starts over. It should be laid out over the new length, once.
- torch.linspace(0, end, length) → (torch.arange(length) % len(table)).float()
nearest-row: You take the nearest row. In between, each of the two neighbours should have its share.
- torch.linspace(0, end, length) → torch.linspace(0, end, length).round()
always-the-row-below: You always take the row below: the fraction is lost. Each of the two neighbours should have its
share.
- torch.linspace(0, end, length) → torch.linspace(0, end, length).floor()
shares-swapped: The two shares are swapped. A position just behind row 2 consists almost entirely of row 2.
- (1 - part) * table[low] + part * table[high] → part * table[low] + (1 - part) * table[high]
middles-of-cells: You treat rows as cells and line up their outer edges, as for pixels (`align_corners=False`). Here the
first row stays first and the last row stays last.
- torch.linspace(0, end, length) → ((torch.arange(length) + 0.5) * len(table) / length - 0.5).clamp(0, end)
share-without-its-row: You limit `low` and keep the share that it had before. The last position is row `low` + 1 in
full: compute the share from the limited `low`.
- low = at.floor().long()
- high = (low + 1).clamp(max=end)
- share = at - low
+ share = at - at.floor()
+ low = at.floor().long().clamp(max=max(end - 1, 0))
+ high = (low + 1).clamp(max=end)
share-of-low: Your `share` is the weight of row `low`. It is the weight of the next row.
- low, share → low, 1 - share
shorter-is-cut: You cut the table when it should be shorter. It is laid out over fewer positions, to its last row.
- at = torch.linspace(0, end, length)
+ at = torch.linspace(0, end, length) if length > len(table) else torch.arange(length).float()
steps-too-short: Your steps are old/new long. From the first row to the last there is one step fewer than there are
rows, in both tables.
- torch.linspace(0, end, length) → torch.arange(length) * len(table) / length
last-row-not-kept: Your last position falls before the last row. The last row stays last.
- torch.linspace(0, end, length) → torch.linspace(0, end, length + 1)[:-1]
single-position-in-the-middle: For one position you return the middle of the table. Return its first row.
- torch.linspace(0, end, length) → torch.linspace(0, end, length) if length > 1 else torch.tensor([end / 2])
rows-repeated: You repeat rows, each about equally often. In between, each of the two neighbours has its share.
- torch.linspace(0, end, length) → (torch.arange(length) * len(table) // length).float()
""",
)


@functools.cache
def ids(play: int) -> tuple[Tensor, int]:
    """The characters of a play as ids, and how many kinds there are."""
    text = load("shakespeare").texts("train")[play]
    number = {character: i for i, character in enumerate(sorted(set(text)))}
    return torch.tensor([number[character] for character in text]), len(number)


def texts(play: int, first: int, count: int, time: int) -> tuple[Tensor, int]:
    """Texts (count, time), a slice of a larger tensor; how many ids there are."""
    found, vocab = ids(play)
    return found[first : first + count * (time + 1)].reshape(count, time + 1)[:, :-1], vocab


page, fresh = over_seeds(  # elsewhere as many texts as positions
    *(*texts(0, 0, 24, 144), 16),
    fresh=lambda draw: [*texts(draw.integer(1, 20), draw.integer(0, 20_000), 90, 90), 2 * draw.size() + 4],
)
seeds = Both((page, fresh))
LOOKING_BACK = ask(
    "positions.looking_back",
    returns=("prediction", "errors", "conclusion"),
    properties=[
        predicted(0.25, page, 4),
        values("the errors of every seed", 2.25, seeds, "errors", tolerance=5e-4),
        concluded(
            1.5,
            seeds,
            [["lower", 0, 2], ["lower", 1, 3]],
            [["lower", 2, 0], ["lower", 3, 1]],
            [["lower", 0, 2], ["lower", 3, 1]],
            [["lower", 0, 2], ["undecided", 1, 3]],
        ),
    ],
    tolerance=2e-3,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- start(texts, vocab, d, seed) → start(texts, vocab, d, seeds[0])
measured-on-what-was-learned: You measure on the texts from which the matrix was learned. Then it looks better than it
is. Use the other half of the texts.
- (vectors[held_out] + table) → (vectors[known] + table)
learned-from-all-positions: You learned from all positions, so there are no new ones left to measure on. Learn from
positions 1 to 47.
- [:, 1:48] → [:, 1:]
- table[:47].expand → table[:-1].expand
one-ahead: Your targets are the *next* position. A head that looks back by one wants PE(t − 1) at position t.
- x = (vectors[known] + table)[:, 1:48] → x = (vectors[known] + table)[:, :47]
- table[:47].expand → table[1:48].expand
- (vectors[held_out] + table)[:, 1:], table[:-1] → (vectors[held_out] + table)[:, :-1], table[1:]
- for matrix in (learned, back) → for matrix in (learned, forward)
target-is-itself: Your targets are the positions themselves, not the previous ones. Position t should become PE(t − 1).
- table[:47].expand → table[1:48].expand
- [:, 1:], table[:-1] → [:, 1:], table[1:]
not-the-root: You return the mean of the squares. The error is its root.
* .mean().sqrt() → .mean()
columns-in-another-order: Your columns are in the wrong order: first both errors at trained positions, then both beyond.
The two of the learned matrix come first.
- errors.append(row) → errors.append([row[0], row[2], row[1], row[3]])
best-seed-picked: You return the lowest error over all seeds, in every row. Keep the number of every seed.
- conclusion = 3 → errors = torch.tensor(errors).amin(0).expand(len(seeds), 4); conclusion = 3
learned-everywhere: At later positions your own numbers say the opposite: compare the second and the fourth column.
- conclusion = 3 → conclusion = 1
exact-everywhere: At trained positions your own numbers say the opposite: compare the first and the third column.
- conclusion = 3 → conclusion = 2
undecided-beyond: At later positions your rows do not leave it open: compare the second and the fourth column, seed by
seed.
- conclusion = 3 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
seeds-counted-anew: Your rows are those of the seeds 0, 1, 2, …, whatever `seeds` contains. Use the seeds that you get.
- for seed in seeds → for seed in range(len(seeds))
or
- for seed in seeds → for seed in range(5)
exact-matrix-forward: Your exact matrix moves one position on. It should move one back: k = −1.
- for matrix in (learned, back) → for matrix in (learned, forward)
exact-first: Your columns begin with the exact matrix. The learned one comes first.
- for matrix in (learned, back) → for matrix in (back, learned)
means-of-lengths: You averaged the lengths of the differences. The error is the root of the mean square of all entries.
* .mean().sqrt() → .sum(-1).sqrt().mean()
""",
)

# --- 2. T5's buckets, ALiBi, and what a head of it attends to --------------------------------------------------


def far_ones(draw: Draw, n: int, last: int) -> Tensor:
    """Distances that are far: the first of them, the last, others in between and beyond. Rounding cannot decide their
    buckets, since no boundary is at any of them."""
    near = n // 2

    def safe(distance: int) -> bool:
        share = math.log(distance / near) / math.log(last / near) * (n - near)
        return distance > last or abs(share - round(share)) > 1e-3

    some = [draw.integer(near + 1, last - 1) for _ in range(6)] + [last + draw.integer(1, 2 * n)]
    return torch.tensor([near, last - 1, *filter(safe, some), last])


def offsets(draw: Draw, kind: str, both: bool = False, more: int = 0) -> tuple[Tensor, int, int, bool]:
    """more: 1 for an odd number of buckets."""
    n = 2 * draw.integer(3, 6)
    last = draw.integer(3 * n, 5 * n)
    far, near, position = far_ones(draw, n + more, last), torch.arange(1, n // 2), torch.arange(5 + draw.size())
    offset = {
        "near": torch.cat([-near, near * 0, near]) if both else -torch.arange(n // 2 + more),
        "far": torch.cat([far, -far]) if both else -far,
        "very far": torch.tensor([-100_000, 100_000]),
        "one": torch.tensor([-2]),
        "table": position - position[-3:, None],
        "square": position - position[:, None],
    }[kind]
    return offset, 2 * n if both else n + more, last, both


ODD_OFFSETS = these(
    at("an odd number of buckets", kind="near", more=1),
    at("an odd number of buckets, far keys", kind="far", more=1),
    at("a table of queries and keys", kind="table"),
    at(EQUAL, kind="square"),
    at("very far keys", kind="very far", both=True),
    at("one offset", kind="one", both=True),
)
BUCKETS = ask(
    "positions.buckets",
    returns=("bucket",),
    inputs=offsets,
    properties=[
        values("near distances have their own", 0.5, at(kind="near")),
        values("far ones widen", 2, at("far keys", kind="far"), at("other far keys", kind="far")),
        values("both directions", 1.5, at("near", kind="near", both=True), at("far", kind="far", both=True)),
        values("odd numbers, tables, very far", 1, ODD_OFFSETS),
    ],
    mistakes="""
direction-reversed: You swapped ahead and behind. The offset is key − query: keys *behind* the query have negative
offsets.
^ offset = -offset
ahead-like-behind: In a causal model your keys ahead get the bucket of the same distance behind. They all belong into
bucket 0.
- offset.abs() if both else (-offset).clamp(min=0) → offset.abs()
halved-though-causal: You halve the buckets although the model is causal. There, all of them are for keys behind.
- n_buckets // 2 if both else n_buckets → n_buckets // 2
far-ones-equally-wide: Your far buckets all have the same width. They should widen: equal parts on a *logarithmic*
scale.
- torch.log(distance.clamp(min=near) / near) / math.log(max_distance / near)
+ (distance.clamp(min=near) - near) / (max_distance - near)
logarithms-from-one: Your logarithmic scale starts at distance 1, so far distances do not begin in the first far bucket.
It starts at the first distance that is not near.
- near) / near) / math.log(max_distance / near → 1).double()) / math.log(max_distance
rounded-to-nearest: You round to the nearest bucket. A bucket reaches from its own boundary to the next one: round down.
- (share * (n - near)).long() → (share * (n - near)).round().long()
rounded-up: You round up. A distance belongs to the bucket whose boundary it has passed: round down.
- (share * (n - near)).long() → (share * (n - near)).ceil().long()
beyond-the-table: From max_distance onwards your buckets run on beyond the last one: there is no such row in the table.
Limit them to the last bucket.
- far = far.clamp(max=n - 1) →
all-near: All your buckets are for one distance each, and everything else shares the last. Only half of them are near;
the others should widen.
- near = n // 2 → near = n - 1
itself-among-those-ahead: Offset 0 lands among the keys ahead. The first half of the buckets is for offsets up to 0.
- (offset > 0) → (offset >= 0)
keys-ahead-first: Your first half is for keys ahead and the second for keys behind. It should be the other way round.
- n * (offset > 0) → n * (offset < 0)
limited-by-both-directions: With two directions you limit far buckets by `n_buckets`. Each direction has half of them.
- far.clamp(max=n - 1) → far.clamp(max=n_buckets - 1)
near-ones-rounded-up: For an odd number of buckets you have one near bucket too many: half of them, rounded *down*.
- near = n // 2 → near = (n + 1) // 2
one-far-bucket-less: Your scale is cut into one part too few: all n − near far buckets divide it, the last included.
- share * (n - near) → share * (n - near - 1)
always-128: You use the 128 of the paper. `max_distance` is an argument.
^ max_distance = 128
in-a-row: You return the buckets in a row. They have the shape of `offset`.
- return bucket → return bucket.flatten()
""",
)


def biases(draw: Draw, heads: int, queries: int, past: int = 0) -> tuple[int, int, int]:
    return heads, queries, queries + past


OTHERS = these(
    at("5, 6 or 7 heads", heads=between(5, 7), queries=1, past=1),
    at("3 heads", heads=3, queries=1, past=1),
    at("9 to 15 heads", heads=between(9, 15), queries=1, past=1),
)
CACHED = these(
    at("fewer queries than keys", heads=2, past=beyond(0)),
    at("one query, one head", heads=1, queries=1, past=beyond(0)),
    at("one key", heads=2, queries=1),
)
POWERS = these(*(at(f"{n} heads", heads=n, queries=1, past=beyond(-1)) for n in (4, 8)))
ALIBI = ask(
    "positions.alibi",
    returns=("slopes", "bias"),
    inputs=biases,
    properties=[
        values("slopes for powers of two", 0.75, POWERS, "slopes"),
        any_order("slopes for other numbers of heads", 0.75, OTHERS, "slopes"),
        values("their order", 0.5, OTHERS, "slopes"),
        values("the bias", 1.25, at("two heads", heads=2), at("four heads", heads=4), "bias"),
        values("fewer queries than keys, one head", 0.75, CACHED, "bias"),
    ],
    mistakes="""
one-formula-for-all: For numbers of heads that are not powers of two you use the same formula. The authors take the
slopes for the next lower power, and then every second one for twice that power.
- power = 2 ** (n_heads.bit_length() - 1) → power = n_heads
next-higher-power: You take the sequence for the next *higher* power of two and cut it off. First come all slopes for
the next lower power.
- power = 2 ** (n_heads.bit_length() - 1) → power = 2 ** (n_heads - 1).bit_length()
the-other-half: Of the sequence for twice the power you take the second, the fourth, …: these slopes are there already.
Take the first, the third, …
- [::2] → [1::2]
without-skipping: Of the sequence for twice the power you take the slopes in a row. Take every second one.
- [::2] →
sorted-by-size: Your slopes are sorted. The heads of a trained model expect them in the authors' order: first those for
the lower power, then the others.
- n_heads]) → n_heads]).sort(descending=True).values
starts-at-one: Your first slope is 1. Count h from 1: the first slope is the ratio of the sequence, 2^(−8/n).
- [2 ** (-8 * h / n) for h in range(1, n + 1)] → [2 ** (-8 * h / n) for h in range(n)]
rewards-distance: Your bias grows with the distance, so far keys are preferred. It is a penalty: minus slope times
distance.
- bias = -slopes → bias = slopes
ahead-not-hidden: Keys ahead of their query are not hidden. They get −∞, and the causal mask is in the bias.
- bias.masked_fill(back < 0, -math.inf) → bias
or
- bias.masked_fill(back < 0, -math.inf) → -slopes[:, None, None] * back.abs()
or
- bias.masked_fill(back < 0, -math.inf) → bias.masked_fill(back < 0, 0.0)
behind-hidden: You have hidden the keys *behind* the query instead of those ahead.
- bias.masked_fill(back < 0, -math.inf) → (-slopes[:, None, None] * back.abs()).masked_fill(back > 0, -math.inf)
queries-from-the-start: Your first query is always at position 0. The queries are the last of the keys: query 0 is at
position keys − queries.
- position[keys - queries :, None] → position[:queries, None]
position-for-distance: You add slope times the *position* of the key, as BLOOM does. After a softmax that is the same,
but the bias is minus slope times distance, 0 for the query's own key.
- bias = -slopes[:, None, None] * back
+ bias = slopes[:, None, None] * position.expand(queries, keys)
neighbour-for-free: Your penalty begins after the neighbour. At distance 1 it is one slope.
- * back → * (back - 1).clamp(min=0)
finite-ahead: Keys ahead get a large negative number from you. Only −∞ hides them whatever the scores are.
- -math.inf → -1e4
or
- -math.inf → -1e9
distance-as-a-part: You divide the distance by the number of keys. It is counted in positions.
- * back → * back / keys
""",
)

points = at_points(slope=(0.05, 1.5))
ALIBI_REACH = ask(
    "positions.alibi_reach",
    returns=("own", "distance"),
    properties=[
        formula("the weight of its own key", 1, points, "own"),
        formula("the mean distance", 1, points, "distance"),
    ],
    mistakes="""
powers-of-two: You take powers of 2. The softmax takes powers of e: the factor from one distance to the next is e^(−m).
- math.exp(-slope) → 2 ** -slope
factor-for-weight: Your first result is the factor from one key to the next. The weight of the query's own key is 1
divided by the sum of the geometric series.
- return 1 - x, → return x,
sum-for-weight: Your first result is the sum of the series. The weight of the query's own key is 1 divided by that sum.
- return 1 - x, → return 1 / (1 - x),
series-from-one: Your series begins with distance 1. The query's own key, distance 0, is part of the softmax.
- return 1 - x, x / (1 - x) → return (1 - x) / x, 1 / (1 - x)
not-divided-by-the-sum: You added up n xⁿ without dividing by the sum of all weights. The weights have to sum to 1.
- x / (1 - x) → x / (1 - x) ** 2
one-over-the-slope: 1/m is the mean of a *continuous* distance. Distances are integers here, and for steep slopes that
makes a difference.
- x / (1 - x) → 1 / slope
counted-from-one: Your mean distance counts the query's own key as distance 1. It is distance 0.
- x / (1 - x) → 1 / (1 - x)
upside-down: Your mean distance is upside down: it grows with the slope, but a steep penalty keeps a head near.
- x / (1 - x) → (1 - x) / x
slope-for-weight: Your first result is m, right only for tiny slopes. It is 1 divided by the sum of the series.
- return 1 - x, → return slope,
median-for-mean: ln 2 / m is the distance within which half of the weight lies. The mean is asked for.
- x / (1 - x) → math.log(2) / slope
""",
)

# --- 3. rotary positions in two layouts, with a cache, and slowed down -----------------------------------------


def rotated(draw: Draw, time: int, half: int, layout: str, first: int = 1, leading: tuple[int, ...] = ()) -> tuple:
    return draw.normal(*leading, time, 2 * half), first, waves(half), layout


def with_a_cache(draw: Draw, time: int, half: int, layout: str) -> Case:
    """All rows of a text are alike, so what they become depends only on their positions."""
    x, first = draw.normal(2, 1, 2 * half).repeat(1, time + 2, 1), draw.integer(0, 4)
    return several((x, first, waves(half), layout), (x[:, 2:].contiguous(), first + 2, waves(half), layout))


def everywhere(draw: Draw, half: int, layout: str) -> Case:
    """The same query and the same key at every position, so their scores may depend only on the distance."""
    given = [draw.normal(1, 2 * half).expand(draw.largest + 3, -1).contiguous() for _ in range(2)]
    first = draw.integer(1, 5)
    return several(*((x, first, waves(half), layout) for x in given))


LAYOUTS = ("half", "interleaved")
WITH_A_CACHE = these(*(at(f"{layout}, the whole and the rest", with_a_cache, layout=layout) for layout in LAYOUTS))
EVERYWHERE = these(*(at(f"{layout}, one query, one key", everywhere, layout=layout) for layout in LAYOUTS))
HALVES, NEIGHBOURS = (
    these(
        at(f"{layout}, after a cache", layout=layout, first=between(2, 6)),
        at(f"{layout}, batch and heads", layout=layout, leading=(2, 3)),
    )
    for layout in LAYOUTS
)
FEW = these(
    at("one position, far into a text", time=1, half=2, layout="half", first=200),
    at("two dimensions", half=1, layout="interleaved"),
    at("float64", layout="interleaved", first=0, double=True),
)
ROTARY = ask(
    "positions.rotary",
    returns=("rotated",),
    inputs=rotated,
    properties=[
        holds("the rest of a text after a cache", 0.75, WITH_A_CACHE, laws.the_rest_is_rotated_as_in_the_whole),
        holds("scores depend only on the distance", 0.75, EVERYWHERE, scores_depend_on_the_distance),
        values("the values, half", 1.25, HALVES),
        values("the values, interleaved", 1.25, NEIGHBOURS),
        values("one position, two dimensions, float64", 0.5, FEW),
        judged("x is unchanged", 0.5, WITH_A_CACHE, inputs_unchanged),
    ],
    tolerance=1e-3,
    mistakes="""
first-ignored: Row 0 is always at position 0 for you. It is at position `first`: that many tokens were read before.
- first + torch.arange(x.shape[-2]) → torch.arange(x.shape[-2])
all-rows-at-first: You rotate all rows by the same angle, that of position `first`. Row t is at position first + t.
- first + torch.arange(x.shape[-2]) → first + 0 * torch.arange(x.shape[-2])
layouts-swapped: You swapped the two layouts: "half" pairs coordinate i with i + d/2, "interleaved" pairs neighbours.
* layout == "half" → layout != "half"
always-halves: You always pair the two halves. With "interleaved", neighbours are a pair.
* layout == "half" → True
always-neighbours: You always pair neighbours. With "half", coordinate i is paired with i + d/2.
* layout == "half" → False
angles-as-halves: With "interleaved" you pair the right coordinates, but repeat the angles as for halves. The two
coordinates of a pair are neighbours here, so they must have the same angle: `repeat_interleave`, not `cat` or `repeat`.
- new_a, new_b = a * cos - b * sin, a * sin + b * cos
+ wide = torch.cat([angle, angle], dim=-1)
+ of_a, of_b = (angle, angle) if layout == "half" else (wide[:, 0::2], wide[:, 1::2])
+ new_a, new_b = a * of_a.cos() - b * of_a.sin(), a * of_b.sin() + b * of_b.cos()
angles-as-neighbours: With "half" you pair the right coordinates, but repeat the angles as for neighbours. The two
coordinates of a pair are d/2 apart here, so they must have the same angle: `cat` or `repeat`, not `repeat_interleave`.
- new_a, new_b = a * cos - b * sin, a * sin + b * cos
+ wide = angle.repeat_interleave(2, dim=-1)
+ of_a, of_b = wide.chunk(2, dim=-1) if layout == "half" else (angle, angle)
+ new_a, new_b = a * of_a.cos() - b * of_a.sin(), a * of_b.sin() + b * of_b.cos()
put-together-as-halves: With "interleaved" you pair the right coordinates, but then put the results together as halves.
Each must return to its own place.
- return torch.stack([new_a, new_b], dim=-1).flatten(-2) → return torch.cat([new_a, new_b], dim=-1)
rotated-backwards: You rotate in the wrong direction: (1, 0), rotated by a quarter turn, is (0, 1).
- angle.sin() → -angle.sin()
minus-forgotten: The minus is missing. A rotation takes (0, 1) by a quarter turn to (−1, 0); without the minus it
changes the lengths of vectors.
- a * cos - b * sin → a * cos + b * sin
new-a-for-b: You computed the second coordinate from the new first one: once a is overwritten, its old values are gone.
- new_a, new_b = a * cos - b * sin, a * sin + b * cos
+ new_a = a * cos - b * sin
+ new_b = new_a * sin + b * cos
one-frequency-for-all: You use the first frequency for all pairs. Pair i has frequency i.
- position[:, None] * frequencies → position[:, None] * frequencies[:1]
heads-as-positions: You take the first axis of x for time. With a batch and heads the position is the last axis but one.
- shape[-2] → shape[0]
- [:, None] → .reshape(-1, *(1,) * (x.ndim - 1))
changes-its-input: The result is right, but x has changed: slices and chunks are views, and an assignment to them writes
into the caller's tensor.
- a * sin + b * cos → b.mul_(cos) + a * sin
heads-for-positions: With batch and heads you take the axis of heads for time. The position is the last axis but one.
- position = first + torch.arange(x.shape[-2])
- angle = position[:, None] * frequencies
+ axis = -3 if x.ndim > 3 else -2
+ angle = (first + torch.arange(x.shape[axis])).reshape(-1, *(1,) * (-1 - axis)) * frequencies
cache-off-by-one: After a cache you start one position too far. Row 0 is at position `first`.
- first + → (first + 1 if first else 0) +
own-frequencies: You compute the frequencies yourself. They are an argument.
^ frequencies = 10_000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
one-layout-backwards: With "interleaved" you rotate in the wrong direction: (1, 0) by a quarter turn is (0, 1).
- angle.sin() → angle.sin() * (1 if layout == "half" else -1)
first-in-texts: You count `first` in texts, not in tokens.
- first + → first * x.shape[-2] +
""",
)


def slowed(draw: Draw, half: int, factor: float, method: str = "ntk", base: float = 10_000.0, more: float = 0) -> tuple:
    return 2 * half, base, float(factor) + more, method


NTK = these(at("ntk"), at("ntk, wider, base 100", half=beyond(2), base=100.0, more=0.5))
FACTORS = these(
    at("linear, base 100", method="linear", base=100.0, more=0.5),
    at("ntk, as long as in training", factor=1.0, base=500.0),
    at("ntk, two dimensions", half=1, factor=4.0),
)
SLOWER = ask(
    "positions.slower",
    returns=("frequencies",),
    inputs=slowed,
    properties=[
        values("linear", 0.5, at(method="linear"), tolerance=1e-5),
        values("ntk", 1.25, NTK, tolerance=1e-5),
        values("a factor of 1, two dimensions, other bases", 0.75, FACTORS, tolerance=1e-5),
    ],
    tolerance=1e-5,
    mistakes="""
faster: You make the pairs faster. Longer texts need slower ones: divide the frequencies by the factor.
- base**exponent / factor → base**exponent * factor
base-times-factor: You multiplied the base by the factor. Then the slowest pair is not slowed down by the whole factor,
because its exponent is not −1 but −(d − 2)/d.
- factor ** (d / (d - 2)) → factor
power-upside-down: Your power of the factor is upside down, (d − 2)/d. Solve again: the slowest frequency is base to the
power of −(d − 2)/d.
- d / (d - 2) → (d - 2) / d
slowest-is-not-d-over-two: You took i = d/2 for the slowest pair, or counted pairs for dimensions. The pairs are counted
from 0, so the last one is d/2 − 1, and its exponent −(d − 2)/d.
- d / (d - 2) → d / (d - 1)
base-divided: You made the base smaller, and with it all waves shorter. Slower pairs need a larger base.
- base * factor ** → base / factor **
ntk-slows-all: With "ntk" you slow down all pairs. The fastest must keep its frequency exactly.
- if d > 2:
-     base = base * factor ** (d / (d - 2))
- return base**exponent
+ return base**exponent / factor
half-the-exponent: Your frequencies have the exponent −i/d. It should be −2i/d, where i is the number of the pair.
- -torch.arange(0, d, 2, dtype=torch.float64) → -torch.arange(d // 2, dtype=torch.float64)
methods-swapped: You swapped the two methods.
- if method == "linear": → if method != "linear":
straight-line-between: With "ntk" you slow the pairs down along a straight line from 1 to the factor. Only the base may
change, so pair i is slowed down by a *power* of the factor.
- if d > 2:
-     base = base * factor ** (d / (d - 2))
- return base**exponent
+ return base**exponent / torch.linspace(1, factor, d // 2)
squared-as-in-the-example: You multiply the base by factor². That is right for d = 4 only. Solve for any d.
- factor ** (d / (d - 2)) → factor**2
slowest-first: Your frequencies are in the reverse order. The fastest comes first.
- return base**exponent / factor → return (base**exponent / factor).flip(0)
- return base**exponent → return (base**exponent).flip(0)
slow-half-only: With "ntk" you slow down half of the pairs, all by the factor. Only the base changes, for all pairs.
- if d > 2:
-     base = base * factor ** (d / (d - 2))
- return base**exponent
+ slow = torch.arange(d // 2) >= (d // 2 + 1) // 2
+ return base**exponent / torch.where(slow, factor, 1.0)
""",
)

# --- 4. skewing, one layer that takes positions of any kind, and the wrong line of a friend's cache ------------


def unskewed(draw: Draw, queries: int, past: int = 0, leading: tuple[int, ...] = ()) -> tuple[Tensor]:
    return (draw.normal(*leading, queries, queries + past),)


WHOLE = these(at("as many queries as keys", queries=beyond(1)), at("with heads", leading=lambda draw: (draw.size(),)))
FEWER = these(at("fewer queries than keys", past=beyond(0)), at("batch and heads", past=2, leading=(2, 3)))
ONE = these(
    at("one query", queries=1, past=beyond(0), leading=(2,)),
    at("one key", queries=1),
    at("three keys, float64", queries=3, leading=(2,), double=True),
)
SKEWED = ask(
    "positions.skewed",
    returns=("by_key",),
    inputs=unskewed,
    main=WHOLE,
    properties=[
        shapes(0.25, name="the shape is kept"),
        values("as many queries as keys", 1.5),
        values("fewer queries than keys", 1, FEWER),
        inputs_too(values("one query, one key, float64; x is unchanged", 0.75, ONE)),
    ],
    mistakes="""
not-moved: You hide what is ahead, but no row has moved. Row i must move to the left, until distance 0 is at its own
key.
- return rows.tril(keys - queries) → return x.tril(keys - queries)
ahead-not-cleared: Every row is where it should be, but ahead of the query other numbers are left, from the next row of
the line or from the zeros of the widening. There should be 0.
- rows.tril(keys - queries) → rows
one-too-many: You drop too few entries at the front, so every row is one column too far to the right. Count the length
of the line before and after.
- line[..., queries:] → F.pad(line, (1, 0))[..., queries:-1]
widened-behind: You put the zeros behind the rows instead of before them, so that rows drift to the wrong side.
- F.pad(x, (1, 0)) → F.pad(x, (0, 1))
nearest-first: You took the first column for distance 0. The farthest distance comes first.
- F.pad(x, (1, 0)) → F.pad(x.flip(-1), (1, 0))
diagonal-of-a-square: With fewer queries than keys you clear too much: the first query is not at position 0, but at keys
− queries.
- rows.tril(keys - queries) → rows.tril()
moved-to-the-right: Your rows move to the right. They have to move to the left: distance 0, the last column, belongs to
the query's own key.
+ queries, keys = x.shape[-2:]
+ moved = [x[..., i, :].roll(queries - 1 - i, -1) for i in range(queries)]
+ return torch.stack(moved, -2).tril(keys - queries)
mirrored-rows: Row 0 has not moved, and the last one has moved most. It is the other way round: the last query has all
distances, and its row stays.
+ queries, keys = x.shape[-2:]
+ moved = [x[..., i, :].roll(-i, -1) for i in range(queries)]
+ return torch.stack(moved, -2).tril(keys - queries)
minus-infinity-ahead: Keys ahead get −∞ from you. They get 0: the mask comes later.
- rows.tril(keys - queries)
+ rows.masked_fill(torch.ones(queries, keys).tril(keys - queries) == 0, -torch.inf)
diagonal-cleared: You clear the query's own key as well. Only keys *ahead* get 0.
- keys - queries) → keys - queries - 1)
queries-from-the-start: With fewer queries than keys you put the first query at position 0. It is at keys − queries.
+ queries, keys = x.shape[-2:]
+ moved = [x[..., i, :].roll(i + 1 - keys, -1) for i in range(queries)]
+ return torch.stack(moved, -2).tril()
rolled-around: Your rows are where they should be, but what left at the front came back at the end. Keys ahead get 0.
+ queries, keys = x.shape[-2:]
+ return torch.stack([x[..., i, :].roll(i + 1 - queries, -1) for i in range(queries)], -2)
""",
)


def attending(
    draw: Draw,
    heads: int,
    queries: int,
    past: int = 0,
    turned: bool = False,
    biased: bool = False,
    vectors: int = 0,
    wide: int = 5,
) -> tuple:
    """For two texts. Values are usually wider than queries and keys."""
    keys, frequencies = queries + past, 0.8 * 20.0 ** (-torch.arange(2) / 2)
    given = (draw.normal(2, heads, time, d) for time, d in ((queries, 4), (keys, 4), (keys, wide)))
    bias, kept = 2 * draw.normal(heads, queries, keys), draw.normal(heads, vectors, 4)
    return *given, frequencies if turned else None, bias if biased else None, kept if vectors else None


def other_queries(draw: Draw, heads: int, queries: int, plain: bool = False) -> Case:
    q, *given = attending(draw, heads, queries + 1, 2, turned=not plain, biased=not plain)
    return several((q, *given), (draw.normal(*q.shape), *given))


def in_parts(draw: Draw, heads: int, queries: int, turned: bool = False, vectors: int = 0) -> Case:
    q, *given = attending(draw, heads, queries + 3, 0, turned, False, vectors)
    return several(*((each, *given) for each in (q, q[:, :, -2:].contiguous(), draw.normal(*q.shape))))


PLAIN = these(
    at("no positions", queries=beyond(3)),
    at("no positions, after a cache", queries=beyond(1), past=2),
    at(EQUAL, heads=4, queries=4),
)
TURNED = these(
    at("frequencies", queries=beyond(3), turned=True),
    at("frequencies, after a cache", queries=beyond(1), past=2, turned=True),
)
VECTORS = these(
    at("a vector for each distance", queries=largest(), vectors=largest()),
    at("more vectors than keys", queries=largest(), past=2, vectors=largest(4)),
    at("fewer vectors than keys", queries=beyond(1), past=2, vectors=3),
)
PARTS = these(
    at("frequencies, the whole and the rest", in_parts, turned=True),
    at("vectors, the whole and the rest", in_parts, vectors=3),
)
EVERYTHING = these(
    at("all three", queries=beyond(1), past=2, turned=True, biased=True, vectors=4),
    at("values as wide as queries", queries=beyond(1), turned=True, wide=4),
    at("one token", heads=1, queries=1, turned=True, vectors=2),
    at("one query, one vector", queries=1, past=beyond(2), vectors=1),
)
TWO = these(at("other queries", other_queries), at("other queries, no positions", other_queries, plain=True))
ATTEND = ask(
    "positions.attend",
    returns=("output", "weights"),
    inputs=attending,
    main=PLAIN,
    properties=[
        shapes(0.25),
        values("plain causal attention", 1.25, "weights"),
        holds("the output, given your weights", 0.75, TWO, laws.output_of_the_weights),
        values("rotated", 1, TURNED, "weights"),
        values("with a bias", 0.75, at(queries=beyond(1), past=2, biased=True), "weights"),
        values("with vectors of distances", 1.25, VECTORS, "weights"),
        holds("a text in two parts", 0.75, PARTS, laws.the_rest_is_read_as_in_the_whole),
        values("all at once, one token, one query", 0.75, EVERYTHING),
        judged("inputs are unchanged", 0.25, TWO, inputs_unchanged),
    ],
    mistakes="""
ahead-not-hidden: Queries attend to keys ahead of them. Hide those with −∞ before the softmax.
- scores.masked_fill(ahead, -math.inf) → scores
mask-of-a-square: With fewer queries than keys your mask is that of a text from its start: query 0 sees only key 0. The
queries are the last of the keys, so query 0 also sees all that was read before.
- .triu(first + 1) → .triu(1)
hidden-after-the-softmax: You removed keys ahead after the softmax, so the other weights no longer sum to 1. Hide them
before it.
- (scores.masked_fill(ahead, -math.inf), dim=-1) → (scores, dim=-1).masked_fill(ahead, 0.0)
not-even-itself: A query cannot attend to itself. The diagonal is allowed: only keys *ahead* are hidden.
- .triu(first + 1) → .triu(first)
or
- .triu(first + 1) → .triu(first)
- ahead, -math.inf → ahead, -1e9
not-scaled: The division by √d is missing.
- scores = scores / math.sqrt(d) → scores = scores * 1.0
bias-scaled: You divided the bias by √d as well. It is added after the division.
- scores = scores / math.sqrt(d)
- if bias is not None:
-     scores = scores + bias
+ if bias is not None:
+     scores = scores + bias
+ scores = scores / math.sqrt(d)
vectors-not-scaled: You divided only q · k by √d. The products of queries and vectors have as many terms: divide the
sum.
- scores = sought @ k.mT → scores = sought @ k.mT / math.sqrt(d)
- scores = scores / math.sqrt(d) →
queries-from-the-start: You rotate the queries as if the first were at position 0. The queries are the last of the keys,
so the first is at position keys − queries.
- rotary(q, first, frequencies, "half") → rotary(q, 0, frequencies, "half")
only-queries-rotated: You rotate the queries and not the keys. Only if both are rotated does the score depend on their
distance.
- , k = rotary(q, first, frequencies, "half"), rotary(k, 0 →  = rotary(q, first
neighbours-as-pairs: You rotate neighbours as pairs. Here the layout is "half".
* "half" → "interleaved"
values-rotated: You rotate the values too. Then the output depends on where a text begins. Only queries and keys are
rotated.
- return weights @ v, weights
+ if frequencies is not None:
+     width = v.shape[-1] // 2 * 2
+     v = torch.cat([rotary(v[..., :width], 0, frequencies[: width // 2], "half"), v[..., width:]], -1)
+ return weights @ v, weights
vectors-meet-the-rotated: The vectors of distances met the rotated queries. They meet the queries as they came in.
- skewed(q @ → skewed(sought @
nearest-vector-first: You took the first vector for distance 0. The table begins with the farthest distance.
- vectors[:, farthest - distance] → vectors[:, distance]
far-keys-without-vector: Keys farther than r get no vector at all. They use the vector of r, the first of the table.
- scores = scores + skewed(q @ vectors[:, farthest - distance].mT)
+ beyond = torch.arange(keys - 1, -1, -1) > farthest
+ scores = scores + skewed((q @ vectors[:, farthest - distance].mT).masked_fill(beyond, 0.0))
vectors-not-skewed: The products of queries and vectors are ordered by distance, and you add them to scores ordered by
key. Move them to their keys with `skewed` first.
- skewed(q @ vectors[:, farthest - distance].mT) → q @ vectors[:, farthest - distance].mT
one-kind-at-a-time: With several kinds at once you use only one. Any of them may be combined.
- if bias is not None: → if bias is not None and frequencies is None:
- if vectors is not None: → if vectors is not None and frequencies is None and bias is None:
or
- if bias is not None: → if bias is not None and frequencies is None and vectors is None:
- if vectors is not None: → if vectors is not None and frequencies is None:
first-text-for-all: All texts get the weights of the first.
- return weights @ v, weights → weights = weights[:1].expand_as(weights); return weights @ v, weights
vectors-of-the-first-head: All heads use the vectors of the first one.
^ vectors = None if vectors is None else vectors[:1].expand_as(vectors)
root-of-value-width: You divided by the root of the values' width. d is the width of queries and keys.
- math.sqrt(d) → math.sqrt(v.shape[-1])
mask-of-a-square-in-the-output: Your weights are right, but your output is that of a mask from the text's start, as
`is_causal=True` has it. The queries are the last of the keys.
- return weights @ v, weights
+ square = torch.ones(queries, keys, dtype=torch.bool).triu(1)
+ return torch.softmax(scores.masked_fill(square, -math.inf), dim=-1) @ v, weights
""",
)


def chunk(draw: Draw, heads: int, new: int, half: int, old: int = 0) -> tuple[Tensor, ...]:
    given = (draw.normal(heads, time, 2 * half) for time in (new, new, new, *2 * (old or new + 2,)))
    return *given, waves(half)


SHORT = these(at("one new token", new=1, old=largest(3)), at("a short cache", heads=1, new=3, half=2, old=2))
READ_ON = ask(
    "positions.read_on",
    returns=("output", "keys"),
    inputs=chunk,
    main=at("a second chunk"),
    properties=[
        values("the output of a second chunk", 0.75, "output"),
        values("the keys to keep", 0.75, "keys"),
        values("one new token, a short cache", 0.5, SHORT),
    ],
    planted="""
- torch.cat([old_keys, rotary(k, old, frequencies, "half")], dim=1)
+ rotary(torch.cat([old_keys, k], dim=1), 0, frequencies, "half")
""",
    mistakes="""
new-keys-from-the-start: The keys of the cache are left alone now, but you rotate the new ones as if they were at the
start of the text. The first of them is at position `old`.
- rotary(k, old, frequencies, "half") → rotary(k, 0, frequencies, "half")
new-keys-not-rotated: The keys of the cache are left alone now, but the new ones are not rotated at all.
- rotary(k, old, frequencies, "half") → k
all-from-old: You rotate old and new keys together, and from position `old` on. The old ones are rotated already.
- torch.cat([old_keys, rotary(k, old, frequencies, "half")], dim=1)
+ rotary(torch.cat([old_keys, k], dim=1), old, frequencies, "half")
new-counted-for-old: You rotate the new keys from position `new`. Before them are `old` tokens.
- rotary(k, old, frequencies, "half") → rotary(k, new, frequencies, "half")
new-before-old: The new keys come first in your cache. They come after the old ones, as in the values.
- [old_keys, rotary(k, old, frequencies, "half")] → [rotary(k, old, frequencies, "half"), old_keys]
queries-changed-as-well: You mended the keys, and changed the queries as well. That line was right: the first query is
at position `old`.
- q = rotary(q, old, → q = rotary(q, 0,
both-one-too-far: Queries and new keys are one position too far. The first new token is at position `old`.
- q = rotary(q, old, → q = rotary(q, old + 1,
- rotary(k, old, → rotary(k, old + 1,
kept-unrotated: The output is right, but the new keys that you return are not rotated. The next call expects
rotated keys in the cache.
- return weights @ values, keys → return weights @ values, torch.cat([old_keys, k], dim=1)
other-layout: You rotate queries and new keys in a different layout from that of the keys in the cache.
* "half" → "interleaved"
old-keys-not-returned: You return the new keys only. Return old and new, for the next call.
- return weights @ values, keys → return weights @ values, keys[:, old:]
""",
)

WRONG_LINE = wrong_line(
    "positions.wrong_line",
    READ_ON,
    points=1,
    mistakes="""
queries-suspected: Line {q = rotary} is right: the first new token is at position `old`, and no query is kept.
values-suspected: Line {values =} is right: values are not rotated, so old and new are just put together.
scale-suspected: Line {math.sqrt(d)} is right: d is the width of a head, and the scores are divided by its root.
mask-suspected: Line {ahead =} is right: query number i is at position old + i, and may not attend to later keys.
sizes-suspected: Line {old, new, d =} is right: axis 1 is time, and axis 2 the width of a head.
softmax-suspected: Line {torch.softmax} is right: keys ahead are hidden before the softmax, and the last axis are the
keys.
""",
)

EXERCISES = exercises_in(__name__)
