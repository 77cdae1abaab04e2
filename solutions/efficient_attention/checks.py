"""Assignment "efficient_attention": sparse masks, softmax in chunks, Linformer, linear attention, a cache that forgets.

`nlmcore.variants` has Longformer, BigBird and Linformer as modules with blocks of gathered keys; here each idea is one
function of tensors.
"""

import functools
import math
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, frugal, holds, inputs_too, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.kinds import EQUAL
from autograder.question.sized import ODD, at, between, beyond, largest, several, these
from autograder.question.special import at_points, experiment, formula, over_seeds, wrong_line
from autograder.question.specification import Case, case
from solutions.efficient_attention.laws import random_blocks_are_added, sampled_anew

CLOSED = ("nlmcore.attention", "transformers")
ask = functools.partial(question, closed=CLOSED)  # attention, and everything built on it


def positive(draw: Draw, *shape: int) -> Tensor:
    """Features: no entry is near 0."""
    return draw.normal(*shape).abs() + 0.1


def heads(draw: Draw, count: int, queries: int, keys: int, d: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return draw.normal(count, queries, d), draw.normal(count, keys, d), draw.normal(count, keys, d_v)


# --- 1. Longformer's and BigBird's masks -----------------------------------------------------------------------


def longformer(draw: Draw, time: int, window: int = 1, dilation: int = 1, tokens: tuple[int, ...] = ()) -> tuple:
    return time, window, dilation, list(tokens)


WINDOWS = these(at("a window", time=beyond(7), window=2), at("a narrow window", time=beyond(5)))
DILATED = these(
    at("dilation 2", time=beyond(8), window=2, dilation=2),
    at("dilation 3", time=beyond(9), window=2, dilation=3),
    at(EQUAL, time=3, window=3, dilation=3),
)
GLOBAL = these(
    at("the first token is global", time=beyond(8), tokens=(0,)),
    at("two global tokens, dilation 2", time=beyond(12), dilation=2, tokens=(12, 1)),
)
FEW = these(
    at("a window larger than the text", time=beyond(4), window=15),
    at("no window", time=beyond(4), window=0, tokens=(2,)),
    at("one token", time=1, window=2, dilation=2),
    at("all tokens are global", time=4, window=0, dilation=2, tokens=(3, 1, 0, 2)),
)
LONGFORMER = ask(
    "efficient_attention.longformer_mask",
    returns=("mask",),
    inputs=longformer,
    properties=[
        shapes(0.2, WINDOWS, "a boolean mask of the right shape", boolean=True),
        values("the window", 0.55, WINDOWS),
        values("the dilation", 0.5, DILATED),
        values("global tokens", 0.5, GLOBAL),
        values("no window, a wide one, one token", 0.25, FEW),
    ],
    mistakes="""
both-sides-together: Your window is `window` tokens wide in all. Here it has `window` tokens on *either* side, and the
token itself.
- window * dilation → window // 2 * dilation
dilation-ignored: Your window has no gaps: a dilation of 3 means every third token only.
- (apart <= window * dilation) & (apart % dilation == 0) → (apart <= window) & (apart >= 0)
gaps-forgotten: Your window reaches far enough, but it sees the tokens in the gaps as well. Only distances that are
multiples of the dilation count.
- apart % dilation == 0 → apart >= 0
reach-not-dilated: Your window has gaps, but it reaches only `window` tokens far. With gaps it has as many tokens as
before, so it reaches further.
- window * dilation → window
one-too-few: Your window ends one step too early: the token at a distance of exactly `window` steps is seen as well.
- apart <= window * dilation → apart < window * dilation
not-even-itself: A token does not see itself.
- mask[everywhere, :] = True
+ mask = mask & (apart > 0)
+ mask[everywhere, :] = True
past-only: Your mask is causal. A Longformer that encodes sees both sides.
- return mask → return mask.tril()
seen-but-blind: Everything sees your global tokens, but they do not see everything: their rows are missing.
- mask[everywhere, :] = True →
unseen: Your global tokens see everything, but not everything sees them: their columns are missing.
- mask[:, everywhere] = True →
only-among-themselves: Your global tokens see each other only. Switch on their whole rows and columns.
- mask[everywhere, :] = True →
- mask[:, everywhere] = True
+ for i in everywhere:
+     mask[i, everywhere] = True
or
- mask[everywhere, :] = True → mask[everywhere, everywhere] = True
- mask[:, everywhere] = True →
first-tokens-global: You made the *first* tokens global, as many as the list has entries. The list holds their
positions.
- mask[everywhere, :] = True → mask[: len(everywhere), :] = True
- mask[:, everywhere] = True → mask[:, : len(everywhere)] = True
dilation-as-gap: You leave out `dilation` tokens between two. With a dilation of 3 every *third* token is seen, so two
are left out.
- apart <= window * dilation → apart <= window * (dilation + 1)
- apart % dilation → apart % (dilation + 1)
multiples-of-the-position: Your keys are at positions that are multiples of the dilation. The *distance* has to be one.
- apart % dilation == 0 → position % dilation == 0
upside-down: Your mask is True where something is hidden. True means that a query may attend.
- return mask → return ~mask
""",
)


def bigbird(draw: Draw, blocks: int, block: int, n_global: int = 1, n_random: int = 0, more: int = 0) -> tuple:
    return blocks * block + more, block, n_global, n_random, draw.integer(0, 99)


def sampled(draw: Draw, blocks: int, block: int, n_global: int, n_random: int, seeds: tuple[int, ...] = (0,)) -> Case:
    """known: the mask without random blocks, each token's block, how many blocks are global, and how many random."""
    time, seed = blocks * block, draw.integer(0, 10**6)
    known = BIGBIRD.reference(time, block, n_global, 0, 0), torch.arange(time) // block
    calls = ((time, block, n_global, n_random, seed + more) for more in seeds)
    return several(*calls, known=(*known, torch.tensor(n_global), torch.tensor(n_random)))


FIXED = these(
    at("no random blocks", blocks=between(5, 6), block=between(2, 3)),
    at("two global blocks", blocks=7, block=between(2, 3), n_global=2),
    at("no global blocks", blocks=between(5, 6), block=4, n_global=0),
)
SAMPLED = these(
    at("random blocks", sampled, blocks=8, block=between(2, 3), n_global=1, n_random=between(2, 3)),
    at("one random block", sampled, blocks=9, block=between(2, 3), n_global=0, n_random=1),
)
SHORT = these(
    at("fewer blocks than are to be sampled", blocks=5, block=between(3, 4), n_random=4),
    at("a shorter last block", blocks=5, block=between(3, 4), more=1),
    at("blocks of one token", blocks=6, block=1),
    at("one block", blocks=1, block=3, more=-1, n_global=0, n_random=2),
)
SEEDS = at("thirty blocks", sampled, blocks=30, block=2, n_global=1, n_random=3, seeds=(0, 0, 1))
BIGBIRD = ask(
    "efficient_attention.bigbird_mask",
    returns=("mask",),
    inputs=bigbird,
    properties=[
        shapes(0.25, FIXED, "a boolean mask of the right shape", boolean=True),
        values("neighbouring and global blocks", 1, FIXED),
        holds("the right number of random blocks", 1, SAMPLED, random_blocks_are_added),
        holds("each seed and each row by itself", 0.75, SEEDS, sampled_anew),
        values("few blocks, short ones, small ones", 0.5, SHORT),
    ],
    mistakes="""
tokens-for-blocks: Your window consists of the tokens within `block` positions. Here a token sees the whole neighbouring
blocks, wherever in its own block it is.
- return seen[block_of][:, block_of]
+ position = torch.arange(time)
+ near = (position - position[:, None]).abs() <= block
+ far = (block_of - block_of[:, None]).abs() > 1
+ return near | (seen[block_of][:, block_of] & far)
global-tokens: You made the first `n_global` tokens global. The first `n_global` *blocks* are global.
- seen[:n_global, :] = True →
- seen[:, :n_global] = True →
- return seen[block_of][:, block_of]
+ seen = seen[block_of][:, block_of]
+ seen[:n_global] = True
+ seen[:, :n_global] = True
+ return seen
own-block-only: A block sees itself, but not its neighbours.
- <= 1 → <= 0
previous-block-only: A block sees itself and the previous one. It sees the next one as well: BigBird is an encoder.
- (number - number.unsqueeze(1)).abs() <= 1
+ ((number - number.unsqueeze(1)) <= 0) & ((number - number.unsqueeze(1)) >= -1)
two-neighbours: A block sees two neighbours on either side. One is asked for.
- <= 1 → <= 2
global-blocks-blind: Everything sees your global blocks, but they do not see everything.
- seen[:n_global, :] = True →
or
- seen[:n_global, :] = True →
- range(n_global, len(seen)) → range(len(seen))
global-blocks-unseen: Your global blocks see everything, but not everything sees them.
- seen[:, :n_global] = True →
sampled-from-all: You sample from all blocks, so some of the sampled ones are seen anyway. Sample from those that the
block does not see yet.
- unseen = torch.nonzero(~seen[row]).flatten() → unseen = number
with-repetition: You sample with repetition, so a block may be sampled twice. Shuffle and take the first few, or sample
until there are enough different ones.
- sampled = torch.randperm(len(unseen), generator=draws)[:n_random]
+ if len(unseen) == 0:
+         continue
+     sampled = torch.randint(len(unseen), (n_random,), generator=draws)
seed-restarted: You make a new generator for each row, with the same seed. Then the rows are not independent: make it
once.
- sampled = → draws = torch.Generator().manual_seed(seed); sampled =
seed-ignored: Your mask does not depend on the seed.
- manual_seed(seed) → manual_seed(0)
nothing-random: There are no random blocks.
- seen[row, unseen[sampled]] = True → pass
both-ways: If block 2 sees block 5 by chance, your block 5 sees block 2 as well. Each block samples for itself, and only
what it *sees*.
- seen[row, unseen[sampled]] = True
+ seen[row, unseen[sampled]] = True
+     seen[unseen[sampled], row] = True
rounded-down: You rounded the number of blocks down. What does not fill a block is a shorter block at the end.
- block_of = torch.arange(time) // block → block_of = (torch.arange(time) // block).clamp(max=max(1, time // block) - 1)
equal-blocks: You cut the text into blocks of about the same size. All have `block` tokens, and the last one is shorter.
- block_of = torch.arange(time) // block → block_of = torch.arange(time) * -(-time // block) // time
""",
)

# --- 2. a softmax in chunks, and attention in blocks -----------------------------------------------------------


def allowed(draw: Draw, queries: int, keys: int) -> Tensor:
    """Every query sees the first key at least, and not the last one."""
    mask = draw.mask(queries, max(2, keys))[:, :keys]
    mask[:, 0], mask[:, -1] = True, keys == 1
    return mask


def chunk(draw: Draw, count: int, queries: int, keys: int, d: int, d_v: int, past: float = 0, scale: float = 1) -> Any:
    """past: how large the three keys of an earlier chunk were, which everybody saw, if there was one."""
    q, k, v = heads(draw, count, queries, keys, d, d_v)
    seen = past * draw.normal(count, 3, d), draw.normal(count, 3, d_v), torch.ones(queries, 3, dtype=torch.bool)
    return ABSORB.reference(None, q, *seen) if past else None, q, scale * k, v, allowed(draw, queries, keys)


def blind(draw: Draw) -> list[Case]:
    """Queries that see nothing: in this chunk, in the previous one, in both."""
    _, q, k, v, some = chunk(draw, *draw.sizes(1), 5, *draw.sizes(3))  # type: ignore[call-arg]
    late, none = some.clone(), some & False
    some[0], late[:2] = False, False
    before, nothing, everything = (ABSORB.reference(None, q, k, v, mask) for mask in (late, none, some | True))
    return [
        case("a query that sees nothing", None, q, k, v, some),
        case("nobody sees anything", None, q, k, v, none),
        case("a query that has seen nothing before", before, q, k.flip(1), v, some),
        case("nobody has seen anything before", nothing, q, k, v, some),
        case("nobody sees anything in the second chunk", everything, q, k.flip(1), v, none),
        case("scores that are 0", None, 0 * q, k, v, some),
    ]


def large(draw: Draw) -> list[Case]:
    state, q, k, v, mask = chunk(draw, 2, 3, 4, 5, 2, 90)
    return [
        case("scores of hundreds", None, 90 * q, 5 * k, v, mask | True),
        case("all scores far below zero", None, 90 * q.abs(), -5 * k.abs(), v, mask | True),
        case("a second chunk of large ones", state, 90 * q, 5 * k, v, mask),
    ]


SECOND = these(
    at("a second chunk with larger scores", past=0.3, scale=3.0),
    at("a second chunk with smaller scores", past=3.0, scale=0.3),
)
ABSORB = ask(
    "efficient_attention.absorb",
    returns=("maximum", "total", "mixed"),
    inputs=chunk,
    main=at("the first chunk"),
    odd=[
        at("one query, one key", past=1.0, count=2, queries=1, keys=1, d=3, d_v=2),
        at("float64, a second chunk", past=1.0, double=True),
    ],
    properties=[
        shapes(0.25),
        values("the first chunk", 0.75),
        values("the maximum after a second chunk", 0.5, SECOND, "maximum"),
        values("the total after a second chunk", 0.75, SECOND, "total"),
        values("mixed after a second chunk", 0.75, SECOND, "mixed"),
        values("queries that see nothing", 0.5, blind),
        values("very large scores", 0.25, large),
        values("float64, one query, one key", 0.25, ODD),
    ],
    mistakes="""
zeros-hidden: You take every score of 0 for one that is hidden. A score can be 0 by itself, and then its key counts.
Hide by the mask, not by value.
- scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
+ scores = q @ k.mT / math.sqrt(q.shape[-1])
+ scores = scores.masked_fill(~mask | (scores == 0), -math.inf)
not-rescaled: You add the sums of the new chunk to the old ones as they are. The old ones are relative to the
old maximum: if the maximum rises, they are too large.
- * kept + weights.sum(-1), mixed * kept[..., None] → + weights.sum(-1), mixed
mixed-not-rescaled: Your total is rescaled when the maximum rises, but `mixed` is not. It needs the same factor.
- mixed * kept[..., None] → mixed
total-not-rescaled: Your `mixed` is rescaled when the maximum rises, but the total is not. It needs the same factor.
- total * kept → total
upside-down: Your factor is upside down. If the maximum rises, what was summed before has to become *smaller*.
- torch.exp(maximum - base) → torch.exp(base - torch.where(maximum.isinf(), base, maximum)) * (~maximum.isinf())
maximum-of-the-chunk: Your maximum is that of the new chunk. It should be that of all chunks so far.
- torch.maximum(maximum, scores.amax(-1)) → torch.where(scores.amax(-1).isinf(), maximum, scores.amax(-1))
or
- return new, → return scores.amax(-1),
not-relative: Your sums are those of the plain exponentials. They should be relative to the maximum, which keeps them
from overflowing.
- kept = torch.exp(maximum - base) → kept = torch.ones_like(total)
- weights = torch.exp(scores - base[..., None]) → weights = torch.exp(scores)
nan-for-the-blind: A query that has seen nothing gets NaN: its maximum is −∞, and −∞ − (−∞) is not a number. Subtract
something else there.
- torch.where(new.isinf(), 0.0, new) → new
state-ignored: You ignore the state that you are given. It holds everything about the earlier chunks.
- maximum, total, mixed = state
+ nothing = torch.zeros_like(scores[..., 0])
+ maximum, total, mixed = nothing - math.inf, nothing, nothing[..., None] * v[:, :1]
already-divided: Your `mixed` is divided by the total already. It stays a plain sum until the last chunk has been read.
- return new, total * kept + weights.sum(-1), mixed * kept[..., None] + weights @ v
+ all_of_it = total * kept + weights.sum(-1)
+ return new, all_of_it, (mixed * kept[..., None] + weights @ v) / all_of_it.clamp(min=0.5)[..., None]
not-scaled: The division by √d is missing.
-  / math.sqrt(q.shape[-1]) →
scaled-by-d: You divided by d. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]
mask-ignored: You do not use the mask.
- .masked_fill(~mask, -math.inf) →
masked-score-zero: You set the scores of hidden keys to 0, which is an ordinary score. Only −∞ removes them.
- -math.inf) → 0.0)
maximum-over-queries: Your maximum is taken over the queries. Each query has its own, over the keys.
- scores.amax(-1) → scores.amax(-2).amax(-1, keepdim=True).expand(scores.shape[:2])
begins-at-zero: Your maximum begins at 0, so it is wrong wherever all scores are negative. Before the first key it is
−∞.
- state = nothing - math.inf, → state = nothing,
zero-for-nothing: If a query has seen no key, your maximum is not −∞, and the next chunk would be compared with it.
- return new, → return base,
or
- .masked_fill(~mask, -math.inf) → .masked_fill(~mask, -1e9)
maximum-with-the-hidden: Your maximum is taken over hidden scores as well. Mask them first.
- torch.maximum(maximum, scores.amax(-1)) → torch.maximum(maximum, (q @ k.mT / math.sqrt(q.shape[-1])).amax(-1))
mask-upside-down: You hide what may be seen. True means that a query may see a key.
- ~mask → mask
powers-of-two: Your powers have the base 2. Take those of e.
- torch.exp(scores → torch.exp2(scores
or
* torch.exp( → torch.exp2(
scaled-by-the-values: You divided by the root of the width of the *values*. The dot products have d terms.
- math.sqrt(q.shape[-1]) → math.sqrt(v.shape[-1])
""",
)


def band(time: int, back: int, forth: int) -> Tensor:
    far = torch.arange(time) - torch.arange(time)[:, None]
    return (far >= -back) & (far <= forth)


def masked(draw: Draw, count: int, d: int, d_v: int, mask: Tensor, block: int = 2) -> tuple:
    return *heads(draw, count, len(mask), mask.shape[1], d, d_v), mask, block


def with_a_global_token(draw: Draw) -> Tensor:
    both = band(7 + draw.largest, 2, 2)
    both[0], both[:, 0] = True, True
    return both


def unseen(draw: Draw, count: int, d: int, d_v: int) -> tuple:
    """Blocks that nobody sees hold infinity and NaN."""
    mask = torch.cat([band(6, 2, 1), torch.zeros(6, 4, dtype=torch.bool)], 1)
    mask[:, 2:4] = False
    mask[3:, 0] = True
    q, k, v = heads(draw, count, 6, 10, d, d_v)
    k[:, 6:], v[:, 6:], v[:, 2:4] = math.inf, math.nan, math.inf
    return q, k, v, mask, 2


def blinded(mask: Tensor, *queries: int) -> Tensor:
    return mask.index_fill(0, torch.tensor(queries), False)


MASKED = these(  # every query sees something, and some pairs of blocks nothing
    at("a causal mask", mask=lambda draw: band(3 + draw.largest, 99, 0), block=3),
    at("a window and a global token", mask=with_a_global_token),
    at("fewer queries than keys", mask=torch.cat([band(8, 8, 1)[::2], torch.zeros(4, 3, dtype=torch.bool)], 1)),
    at(EQUAL, count=4, d=4, d_v=4, mask=band(4, 4, 1)),
)
SIZES = these(
    at("blocks of one token", mask=band(6, 2, 0), block=1),
    at("one block for all", mask=band(6, 2, 0), block=9),
    at("a last block of one token", mask=band(6, 2, 0), block=5),
    at("float64", mask=band(6, 2, 0), block=4, double=True),
)
UNSEEING = these(
    at("a block of queries that sees nothing", mask=blinded(band(9, 2, 1), 3, 4, 5), block=3),
    at("one query that sees nothing", mask=blinded(band(9, 1, 0), 4)),
    at("nobody sees anything", mask=torch.zeros(3, 4, dtype=torch.bool)),
)
LONG = at("a long text with a narrow window", mask=band(40, 2, 1), block=4)
BLOCK_ATTENTION = ask(
    "efficient_attention.block_attention",
    returns=("output", "computed"),
    inputs=masked,
    properties=[
        shapes(0.25, MASKED),
        values("the output", 0.25, MASKED, "output"),
        values("the number of scores", 0.5, MASKED, "computed"),
        frugal("a long text, and no other scores are computed", 1.25, LONG, "output"),
        frugal("blocks that nobody may see are skipped", 0.75, at("", unseen), "output"),
        values("queries that see nothing", 0.5, UNSEEING, "output"),
        frugal("small and large blocks, float64, and nothing else", 0.5, SIZES, "output"),
    ],
    counted=True,
    mistakes="""
nothing-skipped: You compute all pairs of blocks. Those in which the mask allows nothing should not be touched: that is
what saves.
- if part.any(): → if True:
only-reported: Your number is right, but you compute the scores of all pairs of blocks. Skip those in which the mask
allows nothing: only that saves work.
looks like: nothing-skipped
- part.any() → True
- .numel() → .numel() * bool(part.any())
allowed-pairs-counted: You count the pairs that the mask allows. In a block that is needed *all* scores are computed,
and some of them are thrown away.
- computed += part.numel() → computed += int(part.sum())
blocks-counted: You count blocks. Count their scores: a block has as many as it has pairs of tokens.
- computed += part.numel() → computed += 1
full-blocks-counted: You count each block as `block` times `block` scores. The last ones may be shorter.
- computed += part.numel() → computed += block * block
counted-for-every-head: You count the scores of all heads. Count them per head.
- computed += part.numel() → computed += part.numel() * q.shape[0]
all-pairs-counted: Your number is that of all pairs of tokens. Blocks without an allowed pair are not computed.
- return output, computed → return output, mask.numel()
mask-within-blocks-ignored: You skip the right blocks, but in the others every query sees every key. Mask their scores
as well.
- v[:, columns], part) → v[:, columns], torch.ones_like(part))
not-divided: You did not divide by the total in the end.
-  / total.clamp(min=0.5)[..., None] →
divided-per-block: You apply a softmax to each block and add up the results. There is one softmax for all keys of
a query: divide once, in the end.
- output = q.new_zeros(*q.shape[:2], v.shape[2])
+ output = q.new_zeros(*q.shape[:2], v.shape[2])
+ state = None
- state = absorb(state, q[:, rows], k[:, columns], v[:, columns], part)
+ _, total, mixed = absorb(None, q[:, rows], k[:, columns], v[:, columns], part)
+             output[:, rows] += mixed / total.clamp(min=0.5)[..., None]
state-not-restarted: You keep the state from one block of queries to the next. Each block of queries begins with None.
- rows, state = slice(top, top + block), None
+ rows = slice(top, top + block)
+     state = state if top and state[0].shape[1] == q[:, rows].shape[1] else None
- computed = 0
+ computed, state = 0, None
nan-for-the-blind: A query that sees nothing gets NaN, because its total is 0. It should get zeros.
- if state is not None:
+ if state is None:
+         output[:, rows] = math.nan
+     else:
- total.clamp(min=0.5) → total
or
- total.clamp(min=0.5) → total
only-full-blocks: You leave out the last block if it is shorter than the others.
- range(0, q.shape[1], block) → range(0, q.shape[1] - block + 1, block)
- range(0, k.shape[1], block) → range(0, k.shape[1] - block + 1, block)
or
- range(0, k.shape[1], block) → range(0, k.shape[1] - k.shape[1] % block, block)
diagonal-blocks-only: Each block of queries attends to the block of keys at the same position only. Go through all
blocks of keys.
- if part.any(): → if part.any() and top == left:
only-full-pairs: You skip pairs of blocks in which something is hidden. Skip those in which *nothing* is allowed.
- part.any() → part.all()
stops-at-the-first-gap: You leave the loop at the first pair that is skipped. Later pairs may be needed: go on.
- computed += part.numel()
+ computed += part.numel()
+         else:
+             break
only-back: You never look at blocks to the right. The mask decides, and it need not be causal.
- range(0, k.shape[1], block) → range(0, min(k.shape[1], top + block), block)
""",
)

# --- 3. Linformer, and linear attention with a state -----------------------------------------------------------


def texts(draw: Draw, batch: int, time: int, d: int, d_v: int, mixed: int, more: int = 0, lengths: Any = ()) -> Any:
    E, F = draw.normal(mixed, time + more), draw.normal(mixed, time + more)
    return *heads(draw, batch, time, time, d, d_v), E, F, torch.tensor(lengths or [time] * batch)


def padded(draw: Draw, time: int, d: int, d_v: int, mixed: int) -> Any:
    """What padding contributes is large."""
    q, k, v, *rest = texts(draw, 3, time + 3, d, d_v, mixed, 2, (2, time + 3, time + 2))
    return *(torch.cat([x[:, :2], 5 * x[:, 2:]], 1) for x in (q, k, v)), *rest


LINFORMER = ask(
    "efficient_attention.linformer",
    returns=("output",),
    inputs=texts,
    main=at("texts as long as E"),
    odd=[
        at("one token", batch=2, time=1, more=3),
        at("one mixed key", batch=2, time=5, mixed=1, lengths=(5, 3)),
        at(f"square matrices, {EQUAL}", batch=4, time=4, d=4, d_v=4, mixed=4, lengths=(4, 3, 2, 1)),
    ],
    properties=[
        shapes(0.25),
        values("texts as long as E", 0.75),
        values("a shorter batch", 0.5, at(more=3)),
        values("padding", 0.75, at("", padded), at("more padding than needed", batch=2, time=6, lengths=(1, 4))),
        values("one token, one mixed key, float64", 0.25, ODD),
    ],
    mistakes="""
padding-mixed: Padding gets into your mixed keys or values. It holds arbitrary numbers: set its keys *and* values to 0
before you mix.
- k.masked_fill(~real, 0.0) → k
- v.masked_fill(~real, 0.0) → v
or
- k.masked_fill(~real, 0.0) → k
or
- v.masked_fill(~real, 0.0) → v
padding-answers: The outputs at padding are not zero.
- (weights @ mixed_values).masked_fill(~real, 0.0) → weights @ mixed_values
padding-cut-off: You cut off padding that no text needs, so your output has fewer positions than `q`. It is as long as
the batch, and zero at padding.
^ q, k, v = (x[:, : int(lengths.max())] for x in (q, k, v))
one-matrix-for-both: You mix the values with `E`. They have a matrix of their own, `F`.
- F[:, :longest] → E[:, :longest]
matrices-swapped: You mix the keys with `F` and the values with `E`. It is the other way round.
- mixed_keys = E[ → mixed_keys = F[
- mixed_values = F[ → mixed_values = E[
last-columns: You use the last columns of `E` or `F`. The first column belongs to the first position.
- E[:, :longest] → E[:, -longest:]
- F[:, :longest] → F[:, -longest:]
or
- E[:, :longest] → E[:, -longest:]
not-scaled: The division by √d is missing.
-  / math.sqrt(q.shape[-1]) →
scaled-by-the-mixed: You divided by the root of the number of mixed keys. The dot products have d terms, as always.
- math.sqrt(q.shape[-1]) → math.sqrt(E.shape[0])
softmax-over-queries: Your softmax runs over the queries. Each query's weights sum to 1, over the mixed keys.
- dim=-1) → dim=-2)
softmax-of-the-matrix: You applied a softmax to the rows of `E` and `F`. They are learned as they are, and may be
negative.
- E[:, :longest] @ → torch.softmax(E[:, :longest], -1) @
- F[:, :longest] @ → torch.softmax(F[:, :longest], -1) @
or
- E[:, :longest] @ → torch.softmax(E[:, :longest], -1) @
mean-for-sum: You divided the mixtures by the number of tokens. They are weighted sums, nothing else.
- E[:, :longest] @ k.masked_fill(~real, 0.0) → E[:, :longest] @ k.masked_fill(~real, 0.0) / longest
- F[:, :longest] @ v.masked_fill(~real, 0.0) → F[:, :longest] @ v.masked_fill(~real, 0.0) / longest
or
- E[:, :longest] @ k.masked_fill(~real, 0.0) → E[:, :longest] @ k.masked_fill(~real, 0.0) / longest
or
- F[:, :longest] @ v.masked_fill(~real, 0.0) → F[:, :longest] @ v.masked_fill(~real, 0.0) / longest
one-token-too-long: Each of your texts is one token too long: position n of a text with the length n is padding.
- < lengths → <= lengths
rows-normalised: You divided the rows of `E` by their sums. They are learned as they are.
- mixed_keys = E[:, :longest] → mixed_keys = (E / E.sum(1, keepdim=True))[:, :longest]
""",
)


def features(draw: Draw, count: int, time: int, d: int, d_v: int, past: bool = False) -> tuple:
    state = {"matrix": draw.normal(count, d, d_v), "total": 3 * positive(draw, count, d)}
    q, k = positive(draw, count, time, d), positive(draw, count, time, d)
    return q, k, draw.normal(count, time, d_v), state if past else None


GO_ON = at("a text that continues", past=True)
LINEAR_ATTENTION = ask(
    "efficient_attention.linear_attention",
    returns=("output", "state"),
    inputs=features,
    main=at("a new text"),
    odd=[
        at("one token", time=1),
        at(f"square matrices, {EQUAL}", count=3, time=3, d=3, d_v=3, past=True),
        at("float64 with a state", past=True, double=True),
        at("a longer text", count=1, time=20),
    ],
    properties=[
        shapes(0.25),
        values("the outputs of a new text", 1, "output"),
        values("its state", 0.75, "state"),
        values("the outputs of a text that continues", 0.75, GO_ON, "output"),
        values("its state, and the old one unchanged", 0.5, GO_ON, "state"),
        values("one token, square matrices, float64", 0.25, ODD),
    ],
    mistakes="""
not-divided: Your outputs are not divided by the sum of the weights.
-  / (q * total).sum(-1, keepdim=True) →
future-seen: Every token reads the whole text. A token reads itself and the earlier ones only, so both sums grow from
token to token.
- output = summed / (q * total).sum(-1, keepdim=True)
+ output = torch.einsum("htd,hde->hte", q, matrix[:, -1]) / torch.einsum("htd,hd->ht", q, total[:, -1])[..., None]
not-even-itself: A token reads the earlier ones, but not itself. First its own key and value enter the sums.
- output = summed / (q * total).sum(-1, keepdim=True)
+ own = (q * k).sum(-1, keepdim=True)
+ below = (q * total).sum(-1, keepdim=True) - own
+ output = torch.where(below > 1e-4, (summed - own * v) / below.clamp(min=1e-4), torch.zeros_like(v))
state-ignored: You ignore the state, so a text that continues is read as a new one.
- if state is not None: → if False:
total-restarts: Your denominator restarts with each call, and the matrix does not. Both parts of the state belong to the
past.
- total = total + state["total"][:, None] → pass
matrix-restarts: Your matrix restarts with each call, and the denominator does not. Both parts of the state belong to
the past.
- matrix = matrix + state["matrix"][:, None] → pass
new-part-only: Your outputs are right, but the state that you return contains the new tokens only. The next call needs
the old ones as well.
- matrix[:, -1], "total": total[:, -1] → torch.einsum("htd,hte->hde", k, v), "total": k.sum(1)
softmax-for-features: You applied a softmax. Linear attention has no exponential: the weights are the plain dot
products, divided by their sum.
- output = summed / (q * total).sum(-1, keepdim=True)
+ scores = (q @ k.mT).masked_fill(~torch.ones(q.shape[1], q.shape[1]).tril().bool(), -math.inf)
+ output = torch.softmax(scores, -1) @ v
divided-by-the-number: You divide by the number of tokens. Divide by the sum of the weights, which are the dot products
of the query with all keys read so far.
- (q * total).sum(-1, keepdim=True) → torch.arange(1, q.shape[1] + 1)[None, :, None]
mapped-again: You sent queries and keys through a feature map of your own. They have been through one already.
^ q, k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
before-the-last: Your state lacks the last token. It is the state *after* it.
- , "total": total →  - k[:, -1, :, None] * v[:, -1, None], "total": total[:, -1] - k
summed-over-heads: You add up over the heads. Each head has its own sums.
- summed = torch.einsum("htd,htde->hte", q, matrix)
+ matrix, total = matrix.sum(0).expand_as(matrix), total.sum(0).expand_as(total)
+ summed = torch.einsum("htd,htde->hte", q, matrix)
scaled: You divide by √d. There is no such factor here: the weights are already divided by their sum.
- output = summed / → output = summed / math.sqrt(q.shape[-1]) /
query-not-in-the-denominator: Your denominator is the sum of the keys' entries. It is their dot product with the query.
- (q * total) → total
matrix-transposed: Your matrix is (d_v, d). It is (d, d_v); if both are equal, no shape reveals this.
- "matrix": matrix[:, -1] → "matrix": matrix[:, -1].mT
or
- "matrix": matrix[:, -1] → "matrix": matrix[:, -1].mT if k.shape[-1] == v.shape[-1] else matrix[:, -1]
denominator-of-all-heads: Your denominator mixes the heads. Each has its own sum.
- (q * total) → (q * total.mean(0))
""",
)

# --- 4 to 6. what a window saves, a friend's band, and which memory finds a needle -----------------------------

points = at_points(n=(90, 900), w=(4, 60), p=(0.3, 0.9), k=(8, 64), d=(16, 128), f=(1.5, 8.0))
SAVINGS = ask(
    "efficient_attention.savings",
    returns=("scores", "length", "linformer"),
    properties=[
        formula("the scores with a window", 0.75, points, "scores"),
        formula("the length that saves a fraction", 1.5, points, "length"),
        formula("the length for Linformer", 0.75, points, "linformer"),
    ],
    mistakes="""
window-always-full: You give every token the whole window. The first tokens of a text have fewer tokens to attend to.
- w * n - w * (w - 1) / 2 → w * n
one-missing-too-many: You subtract too much for the beginning. Token 1 lacks w − 1 scores, and token w lacks none.
- w * (w - 1) / 2 → w * (w + 1) / 2
beginning-forgotten: You count the tokens after the first w only. The first w need a triangle of scores as well.
- w * n - w * (w - 1) / 2 → w * (n - w)
beginning-as-a-square: You give the first w tokens together w² / 2 scores. A triangle with its diagonal has w (w + 1) /
2.
- w * n - w * (w - 1) / 2 → w * (n - w) + w * w / 2
saved-for-left: The window *saves* the fraction p, so the fraction 1 − p is left. You took p as what is left.
- a = (1 - p) / 2 → a = p / 2; a = min(a, 0.499)
smaller-solution: You took the smaller solution of the quadratic equation. At that length the text is shorter than the
window.
- + math.sqrt( → - math.sqrt(
window-always-full-in-the-equation: Your length is that for a window which is full at the first token already. The first
tokens of a text need fewer scores.
- (w - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 * a) → (w - a) / a
squares-for-triangles: Full attention that writes needs n (n + 1) / 2 scores, not n² / 2: each token attends to itself
as well.
- - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1)) → + math.sqrt(w**2 - 2 * a * w * (w - 1))
whole-square: Your full attention has n² scores. A model that writes has a triangle of them, n (n + 1) / 2.
- - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 → + math.sqrt(w**2 - 4 * a * w * (w - 1))) / (4
mixing-forgotten: You left out what the mixing costs. EK and FV need k n d multiplications each.
- 2 * k * f → k * f
one-mixing-forgotten: Three of Linformer's four products are in your formula. Keys *and* values are mixed, then come the
scores and the weighted sums.
- 2 * k * f → 3 * k * f / 2
factor-upside-down: You divide by f. If full attention should need f times as many multiplications, the text must be
longer for a larger f.
- 2 * k * f → 2 * k / f
with-the-width: Your third formula contains d. All four products of Linformer have the factor d, and so have those of
full attention.
- 2 * k * f → 2 * k * f * d
by-the-square: In your third formula f is squared. Full attention grows like n² and Linformer like n, so their ratio
grows like n.
- 2 * k * f → 2 * k * f**2
about-twice-the-window: Your length is about right for long windows only. Solve the quadratic equation.
- (w - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 * a) → w / a
rounded: You rounded the length. It is asked as a real number.
- return scores, length → return scores, math.ceil(length)
or
- return scores, length → return scores, round(length)
own-token-left-out: You leave out each token's score with itself. The window includes it.
- w * n - w * (w - 1) / 2 → w * n - w * (w - 1) / 2 - n
both-sides: Your window has w tokens on either side. A model that writes sees the last w only, itself included.
- w * n - w * (w - 1) / 2 → (2 * w + 1) * n - w * (w + 1)
twice-the-mixing: Your length is twice what it should be. Full attention has two products, too: 2 n² d against 4 k n d.
- 2 * k * f → 4 * k * f
""",
)


def text(draw: Draw, time: int, d: int, d_v: int, window: int = 2) -> tuple:
    return draw.normal(time, d), draw.normal(time, d), draw.normal(time, d_v), window


BAND_ATTENTION = question(
    "efficient_attention.band_attention",
    returns=("output",),
    inputs=text,
    main=these(
        at("a window of two tokens", time=largest(1)),
        at("a window of three tokens", time=largest(2), window=3),
        at(EQUAL, time=4, d=4, d_v=4, window=4),
    ),
    properties=[
        values("short windows", 1),
        values("a window longer than the text", 1, at(time=3, window=5), at("two tokens", time=2)),
    ],
    numpy=True,
    planted="- np.pad(v, ((window - 1, 0), (0, 0))) → np.pad(v, ((0, window - 1), (0, 0)))",
    mistakes="""
keys-from-the-future-too: You mended it the wrong way round: now keys *and* values have their zeros behind the text, so
both rows begin with the token itself and lead into the future. The keys were right.
* ((window - 1, 0), (0, 0)) → ((0, window - 1), (0, 0))
one-zero-too-many: Your rows of values are one token too late. With `window` zeros in front there is one row too many,
and the first one is that of the token before the text.
- (np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0) → (np.pad(v, ((window, 0), (0, 0))), window, axis=0)[:length]
or
- (np.pad(v, ((window - 1, 0), (0, 0))) → (np.pad(v, ((window - 2, 1), (0, 0)))
turned-round: Your rows of values contain the right tokens, but in the opposite order of the keys.
- v, ((window - 1, 0), (0, 0))), window, axis=0) → v, ((window - 1, 0), (0, 0))), window, axis=0)[..., ::-1]
own-value-only: Each token now gets its own value, whatever the weights are.
- sliding_window_view(np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0) → np.repeat(v[..., None], window, axis=-1)
zeros-attended-to: You changed the mask as well: the zeros in front of the text now count as tokens. Leave the line with
`exists` as it was.
- np.arange(length)[:, None] → window + np.arange(length)[:, None]
zeros-on-both-sides: You have zeros on both sides of the values, so their rows begin at the same token as before, and no
longer fit the keys.
- v, ((window - 1, 0), (0, 0)) → v, (((window - 1) // 2, window // 2), (0, 0))
""",
)

WRONG_LINE = wrong_line(
    "efficient_attention.wrong_line",
    BAND_ATTENTION,
    points=1,
    mistakes="""
keys-suspected: Line {near_keys =} is right: with `window` − 1 zeros in front, entry t holds the keys of the tokens t −
window + 1 to t.
scores-suspected: Line {scores =} is right: each query is multiplied by the keys of its own row.
back-suspected: Line {back =} is right: the first key of a row is `window` − 1 tokens back, and the last one is the
token itself.
exists-suspected: Line {exists =} is right: token t has t tokens before it, and what is further back is a row of zeros.
softmax-suspected: Line {weights =} is right: these are the exponentials of a softmax, which the next line divides by
their sum; the zeros in front of the text get the exponential 0.
sum-suspected: Line {return np.einsum} is right: it adds up the values of each row with the row's weights. Are they the
values of the same tokens as the keys?
""",
)

page, fresh = over_seeds(96, fresh=lambda draw: [64 + 8 * draw.integer(0, 1)])
_, at_the_edge = over_seeds(32)  # the far needle is the first that the window does not reach
WHICH_MEMORY = experiment(
    "efficient_attention.which_memory",
    table="shares",
    points=(0.5, 2.5, 2),
    claims=["1 < 0, 5 < 4", "1 < 0, 4 ~ 5, 1.5 * 2 < 4, 1.5 * 3 < 5", "1 < 0, 4 ~ 5, 2 ~ 4, 3 ~ 5", "0 ~ 5"],
    page=page,
    fresh=fresh,
    more=at_the_edge,
    closed=CLOSED,
    mistakes="""
one-token-too-many: Your window has 17 tokens: `longformer_mask` counts those beside the token itself. A window of 16
has 15 of them.
- longformer_mask(n, 15, → longformer_mask(n, 16,
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- k, v = haystack(n, seed) → k, v = haystack(n, seeds[0])
- features(q, count, seed), features(k, count, seed) → features(q, count, seeds[0]), features(k, count, seeds[0])
values-mapped: You send the values through a feature map of their own. Only queries and keys go through it.
- features(k, count, seed), v) → features(k, count, seed), features(v, 16, seed))
different-features: Your queries and keys go through *different* random features, so their dot products mean nothing.
The seed must be the same.
- features(q, count, seed), features → features(q, count, seed + 1), features
or
- features(k, count, seed), v → features(k, count, seed + 1), v
window-to-both-sides: Your window sees the future. Take the lower half of the mask only.
- .tril() →
only-the-strength-forgotten: Your queries are the keys themselves. They should be twice as long.
- 2 * k.roll(distance, 1) → k.roll(distance, 1)
rolled-backwards: Your queries ask for later tokens: roll the keys in the other direction, so that row t holds the key
of token t − distance.
- k.roll(distance, 1) → k.roll(-distance, 1)
rolled-dimensions: You rolled the dimensions of the keys. Roll along axis 1, the tokens.
- k.roll(distance, 1) → k.roll(distance, 2)
columns-in-another-order: Your columns are in the wrong order. For each memory come near and far, next to each other.
- shares.append(row) → shares.append(row[::2] + row[1::2])
best-seed-picked: You return the largest share over all seeds, in every row. Keep the number of every seed.
- conclusion = 2 → shares = torch.tensor(shares).amax(0).expand(len(seeds), 6); conclusion = 2
near-and-far-alike: Your last two columns of each memory are the same distance. The near one is 4, the far one n // 2.
- (4, n // 2) → (4, 4)
fading-believed: Your own numbers do not say that the linear state fades: compare the fifth and the sixth column, seed
by seed. Nothing in its sums knows how far back a token was.
- conclusion = 2 → conclusion = 1
features-underrated: Your own numbers say that more features do help: compare the third with the fifth column, and the
fourth with the sixth.
- conclusion = 2 → conclusion = 3
size-believed: Your own numbers say the opposite: the window finds nearly all near needles, and the linear state with
256 features finds a fraction of the far ones, although it is larger than the whole cache.
- conclusion = 2 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers.
- prediction = 1 → prediction = 0
one-seed-for-features: Your features are the same for every row. They take the seed of the row.
* count, seed → count, 0
doubled-after-the-features: You doubled the features of the query. The query itself is twice the key, *before* the map.
- features(q, count, seed), → 2 * features(q / 2, count, seed),
far-one-off: Your far needle is not half a text back.
- (4, n // 2) → (4, n // 2 - 1)
or
- (4, n // 2) → (4, n // 2 + 1)
percent-for-shares: Your shares are in percent. They are between 0 and 1.
- row.append(found(output, v, distance)) → row.append(100 * found(output, v, distance))
asks-for-itself: Each of your tokens asks for itself. The query is the key of the token `distance` positions back.
- 2 * k.roll(distance, 1) → 2 * k
""",
)

# --- 7. a windowed cache with sinks, in order, and decoding with it --------------------------------------------

Cache = dict[str, Any]


def cache_of(draw: Draw, count: int, slots: int, d: int, d_v: int, read: int) -> Cache:
    """A cache that has read that many tokens; slots that were never filled hold zeros."""
    keys, values = draw.normal(count, slots, d), draw.normal(count, slots, d_v)
    keys[:, read:], values[:, read:] = 0.0, 0.0
    return {"keys": keys, "values": values, "read": read}


def new(draw: Draw, count: int, d: int, d_v: int, slots: int = 6, read: int = 0, time: int = 3, sinks: int = 2) -> Any:
    cache = cache_of(draw, count, slots, d, d_v, read)
    return cache, draw.normal(count, time, d), draw.normal(count, time, d_v), sinks


ROOM = these(
    at("an empty cache"),
    at("room for all new tokens", slots=7, read=3, time=2),
    at("the new tokens fill it", read=3, sinks=1),
)
ROUND = these(
    at("one token too many", slots=5, read=5, time=1, sinks=0),
    at("a cache that is full", read=beyond(13), time=2),
    at("the ring goes round in the middle", read=5, sinks=1),
    at(EQUAL, count=3, d=3, d_v=3, slots=3, read=3, sinks=1),
)
MANY = these(
    at("more new tokens than slots", slots=4, read=2, time=largest(5), sinks=1),
    at("more new tokens than slots, from the start", slots=5, time=largest(8)),
)
RINGS = these(
    at("no sinks", slots=4, read=6, time=2, sinks=0),
    at("a ring of one slot", slots=4, read=5, time=2, sinks=3),
    at("float64", slots=5, read=7, time=2, double=True),
    at("one slot", slots=1, read=2, time=1, sinks=0),
)
REMEMBER = ask(
    "efficient_attention.remember",
    returns=("keys", "values", "read"),
    inputs=new,
    properties=[
        shapes(0.25, ROOM),
        values("a cache with room", 0.75, ROOM, "keys", "values"),
        inputs_too(values("a ring that goes round, the old cache unchanged", 1.25, ROUND)),
        values("more new tokens than slots", 0.75, MANY, "keys", "values"),
        values("how many were read", 0.5, ROUND, "read"),
        values("no sinks, small rings, float64", 0.5, RINGS),
    ],
    mistakes="""
sinks-overwritten: Your ring goes through all slots, so the sinks are overwritten. The ring begins after them.
- read if read < sinks else sinks + (read - sinks) % ring → read % keys.shape[1]
or
- read if read < sinks else sinks + (read - sinks) % ring → read if read < keys.shape[1] else read % ring
ring-begins-elsewhere: Your ring begins in the wrong slot: the first token after the sinks belongs to the first slot
after them. Count the tokens of the ring from there.
- (read - sinks) % ring → read % ring
ring-too-large: Your remainder is that by the number of all slots. The ring lacks those of the sinks.
- sinks + (read - sinks) % ring → min(sinks + (read - sinks) % keys.shape[1], keys.shape[1] - 1)
moved-up: You move everything up and put the new token last. That is a queue, and it copies the whole window for each
token. In a ring only the oldest token is overwritten.
- slot = read if read < sinks else sinks + (read - sinks) % ring
+ slot = min(read, keys.shape[1] - 1)
+     if read >= keys.shape[1]:
+         keys[:, sinks:-1], values[:, sinks:-1] = keys[:, sinks + 1 :].clone(), values[:, sinks + 1 :].clone()
stops-when-full: Once your cache is full, it takes no new tokens.
- slot = read if read < sinks else sinks + (read - sinks) % ring
+ if read >= keys.shape[1]:
+         read += 1
+         continue
+     slot = read
newest-overwritten: When your cache is full, each new token overwrites the newest one, in the last slot. Overwrite the
oldest of the ring.
- sinks + (read - sinks) % ring → min(read, keys.shape[1] - 1)
first-of-the-new-only: You store only the first of the new tokens. There may be several.
- for new in range(k.shape[1]): → for new in range(1):
- "read": read} → "read": cache["read"] + k.shape[1]}
read-forgotten: The slots are right, but `read` has not changed. The next call would overwrite the same slots.
- "read": read} → "read": cache["read"]}
read-one: You add 1 to `read`, however many tokens are new.
- "read": read} → "read": cache["read"] + 1}
read-stops: Your `read` stops at the number of slots. It counts all tokens of the text, because the place of the next
one depends on it.
- "read": read} → "read": min(read, keys.shape[1])}
in-place: The result is right, but you wrote into the tensors of the old cache. If you continue from it again, you find
your tokens there: work on copies.
- cache["keys"].clone(), cache["values"].clone() → cache["keys"], cache["values"]
keys-for-values: You store the new keys as values, too.
- v[:, new] → k[:, new, :1].expand(-1, values.shape[2])
begins-anew: Your slots are counted from the beginning of each call. The slot of a token depends on its position in the
*text*.
- slot = read if read < sinks else sinks + (read - sinks) % ring
+ slot = new if new < sinks else sinks + (new - sinks) % ring
or
- (read - sinks) % ring → (read - sinks if cache["read"] < keys.shape[1] else new) % ring
first-ones-skipped: If more tokens come than there are slots, you read the last ones only. The first ones may be sinks.
- for new in range(k.shape[1]):
+ read += max(0, k.shape[1] - keys.shape[1])
+ for new in range(max(0, k.shape[1] - keys.shape[1]), k.shape[1]):
values-backwards: Your new values are stored in reverse order.
- v[:, new] → v[:, -1 - new]
""",
)


def held(draw: Draw, count: int, d: int, d_v: int, slots: int = 5, read: int = 8, sinks: int = 2) -> tuple[Cache, int]:
    return cache_of(draw, count, slots, d, d_v, read), sinks


def zero_key(draw: Draw, count: int, d: int, d_v: int) -> tuple[Cache, int]:
    cache, sinks = held(draw, count, d, d_v, 6, 4)
    cache["keys"][:, 1] = 0
    return cache, sinks


PART = these(
    at("not full yet", slots=7, read=4),
    at("fewer tokens than sinks", slots=6, read=1),
    at("a token whose key is 0", zero_key),
)
GONE_ROUND = these(
    at("the ring has gone round", slots=6, sinks=1),
    at("after a long text", slots=8, read=between(28, 31)),
    at(EQUAL, count=4, d=4, d_v=4, slots=4, read=6, sinks=1),
)
IN_ORDER = ask(
    "efficient_attention.in_order",
    returns=("keys", "values"),
    inputs=held,
    odd=[at("no sinks", read=7, sinks=0), at("a ring of one slot", slots=4, read=9, sinks=3)],
    properties=[
        values("a cache that is not full", 0.5, PART),
        values("a ring that has gone round", 0.75, GONE_ROUND),
        values("just full, no sinks, one slot", 0.25, at("just full", read=5), at("one slot empty", read=4), ODD),
    ],
    mistakes="""
empty-slots-returned: You return all slots, also those that were never filled.
- torch.arange(min(read, slots)) → torch.arange(slots)
zeros-left-out: You leave out slots that hold zeros. A key can be 0 by itself: `read` says how many slots were filled.
- return cache["keys"][:, order], cache["values"][:, order]
+ order = order[cache["keys"][:, order].abs().sum((0, 2)) > 0]
+ return cache["keys"][:, order], cache["values"][:, order]
as-they-are: You return the slots in their own order. When the ring has gone round, its oldest token is in the middle.
- if read > slots: → if False:
sinks-rolled-too: You move the sinks as well. They stay in front, and only the ring is cut and swapped.
- torch.cat([order[:sinks], order[sinks:].roll(-((read - sinks) % (slots - sinks)))]) → order.roll(-(read % slots))
rolled-by-read: You cut the ring at `read`, without subtracting the sinks. The ring begins with the token after them.
- (read - sinks) % (slots - sinks) → read % (slots - sinks)
wrong-direction: You cut the ring at the right slot, but swapped in the wrong direction: the oldest token comes first.
- .roll(-( → .roll((
newest-first: Your ring is in the opposite order: its newest token comes first.
- % (slots - sinks)))]) → % (slots - sinks))).flip(0)])
cut-one-late: You cut the ring one slot too late: the slot that comes next holds the oldest token.
- (read - sinks) % (slots - sinks) → (read - sinks + 1) % (slots - sinks)
sinks-last: Your sinks come after the ring. They are the oldest tokens of all.
- torch.cat([order[:sinks], order[sinks:].roll(-((read - sinks) % (slots - sinks)))])
+ torch.cat([order[sinks:].roll(-((read - sinks) % (slots - sinks))), order[:sinks]])
values-as-they-are: Your keys are in order, but your values are not. Both need the same order.
- cache["values"][:, order] → cache["values"][:, : len(order)]
cut-one-early: You cut the ring one slot too early: the slot that comes next holds the oldest token.
- (read - sinks) % (slots - sinks) → (read - sinks - 1) % (slots - sinks)
sinks-left-out: Your result lacks the sinks once the ring has gone round. They come first.
- torch.cat([order[:sinks], order[sinks:].roll(-((read - sinks) % (slots - sinks)))])
+ order[sinks:].roll(-((read - sinks) % (slots - sinks)))
taken-for-full: You take a cache with one empty slot for a full one. While `read` is no more than the number of slots,
nothing has gone round.
- if read > slots: → if read >= slots - 1:
- torch.arange(min(read, slots)) → torch.arange(slots if read >= slots - 1 else read)
""",
)


def step(draw: Draw, count: int, half: int, d_v: int, slots: int = 7, read: int = 4, sinks: int = 2, base: float = 50):
    cache, k, v, _ = new(draw, count, 2 * half, d_v, slots, read, 1)
    return 2 * draw.normal(*k.shape), k, v, cache, sinks, base


FITS = these(at("everything fits"), at(EQUAL, count=4, half=2, d_v=4, slots=4, read=2, sinks=1))
SLID = these(
    at("the first token that is forgotten", slots=5, read=5),
    at("after a long text", slots=6, read=between(40, 43), sinks=1),
)
CORNERS = these(
    at("the first token of a text", slots=4, read=0, sinks=1),
    at("a ring of one slot", slots=3, read=8),
    at("another base, no sinks", slots=4, read=6, sinks=0, base=10_000.0),
    at("float64", slots=5, read=8, double=True),
)
DECODE = ask(
    "efficient_attention.decode",
    returns=("output", "cache"),
    inputs=step,
    properties=[
        shapes(0.25, FITS),
        values("the output while everything fits", 1, FITS, "output"),
        values("the output after the ring has gone round", 1, SLID, "output"),
        inputs_too(values("the new cache, the old one unchanged", 0.5, SLID, "cache")),
        values("first token, one slot, float64", 0.25, CORNERS),
    ],
    mistakes="""
does-not-see-itself: Your query sees only the earlier tokens. First put the new token into the cache, then attend.
- keys, values = in_order(cache, sinks)
+ keys, values = in_order(cache, sinks)
+ if keys.shape[1] > 1:
+     keys, values = keys[:, :-1], values[:, :-1]
- keys.shape[1] - 1 → min(cache["read"], cache["keys"].shape[1]) - 1
position-in-the-text: Your query is at its position in the *text*. Positions are counted in the cache, so that none is
larger than the model was trained with.
- keys.shape[1] - 1 → cache["read"] - 1
one-too-far: Your query is one position too far: with 4 keys, the last one and the query itself are at position 3.
- keys.shape[1] - 1 → keys.shape[1]
query-not-rotated: Your query is not rotated.
- query = rotated(q, keys.shape[1] - 1, base) → query = q
keys-not-rotated: Your keys are not rotated. They are kept as they are, so each step rotates them by their present
positions.
- rotated(keys, 0, base).mT → keys.mT
nothing-rotated: Neither the query nor the keys are rotated.
- query = rotated(q, keys.shape[1] - 1, base) → query = q
- rotated(keys, 0, base).mT → keys.mT
rotated-keys-kept: Your cache holds the new key rotated. Its position changes when the window moves on, so keep it as it
is.
- cache = remember(cache, k, v, sinks)
+ last = min(cache["read"], cache["keys"].shape[1] - 1)
+ cache = remember(cache, rotated(k, last, base), v, sinks)
or
- values, cache → values, cache | {"keys": rotated(cache["keys"], 0, base)}
slots-for-order: You rotate the slots in their own order. Positions follow the order of the text, so put the cache in
order first.
- keys, values = in_order(cache, sinks)
+ held = min(cache["read"], cache["keys"].shape[1])
+ keys, values = cache["keys"][:, :held], cache["values"][:, :held]
empty-slots-attended: Your query attends to slots that were never filled. A key of zeros has the score 0, which is an
ordinary score.
- keys, values = in_order(cache, sinks)
+ keys, values = in_order(cache, sinks)
+ if cache["read"] < cache["keys"].shape[1]:
+     keys, values = cache["keys"], cache["values"]
- keys.shape[1] - 1 → min(cache["read"], cache["keys"].shape[1]) - 1
or
- keys, values = in_order(cache, sinks)
+ keys, values = in_order(cache, sinks)
+ if cache["read"] < cache["keys"].shape[1]:
+     keys, values = cache["keys"], cache["values"]
values-rotated: You rotate the values. Positions concern the scores only.
- return torch.softmax(scores, dim=-1) @ values, cache
+ even = values.shape[-1] // 2 * 2
+ values = torch.cat([rotated(values[..., :even], 0, base) if even else values[..., :0], values[..., even:]], -1)
+ return torch.softmax(scores, dim=-1) @ values, cache
or
- return torch.softmax(scores, dim=-1) @ values, cache
+ values = rotated(values, 0, base) if values.shape[-1] % 2 == 0 else values
+ return torch.softmax(scores, dim=-1) @ values, cache
old-cache-returned: You return the cache that you were given. The new token is not in it.
- return torch.softmax(scores, dim=-1) @ values, cache → return torch.softmax(scores, dim=-1) @ values, given
^ given = cache
not-scaled: The division by √d is missing.
-  / math.sqrt(q.shape[-1]) →
oldest-still-seen: Your query still sees the token that the new one has replaced. First put the new one into the
cache, then read it.
- cache = remember(cache, k, v, sinks) →
- keys, values = in_order(cache, sinks)
+ keys, values = in_order(cache, sinks)
+ keys, values, cache = torch.cat([keys, k], 1), torch.cat([values, v], 1), remember(cache, k, v, sinks)
scaled-by-the-keys: You divided by the root of the number of keys. The dot products have d terms.
- math.sqrt(q.shape[-1]) → math.sqrt(keys.shape[1])
keys-in-the-text: Your keys are at their positions in the *text*. Positions are counted in the cache, from 0.
- rotated(keys, 0, base) → rotated(keys, cache["read"] - keys.shape[1], base)
softmax-over-heads: Your softmax runs over the heads. The weights of one head sum to 1, over its keys.
- dim=-1 → dim=0
""",
)

EXERCISES = exercises_in(__name__)
