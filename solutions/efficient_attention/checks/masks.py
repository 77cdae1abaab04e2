"""Questions 1a and 1b: Longformer's and BigBird's masks."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.efficient_attention.checks.common import CLOSED
from solutions.efficient_attention.laws import random_blocks_are_added, sampled_anew

# --- Longformer -------------------------------------------------------------------------------------------


def _window(draw: Draw) -> list[Case]:
    return [case("a window", 7 + draw.size(), 2, 1, []), case("a narrow window", 5 + draw.size(), 1, 1, [])]


def _dilated(draw: Draw) -> list[Case]:
    return [
        case("dilation 2", 8 + draw.size(), 2, 2, []),
        case("dilation 3", 9 + draw.size(), 2, 3, []),
        case(EQUAL, 3, 3, 3, []),
    ]


def _global(draw: Draw) -> list[Case]:
    time = 8 + draw.size()
    return [
        case("the first token is global", time, 1, 1, [0]),
        case("two global tokens, dilation 2", time + 4, 1, 2, [time + 1, 1]),
    ]


def _odd(draw: Draw) -> list[Case]:
    time = 4 + draw.size()
    return [
        case("a window larger than the text", time, time + 2, 1, []),
        case("no window", time, 0, 1, [2]),
        case("one token", 1, 2, 2, []),
        case("all tokens are global", 4, 0, 2, [3, 1, 0, 2]),
    ]


LONGFORMER = question(
    "efficient_attention.longformer_mask",
    minutes=15,
    difficulty="easy",
    returns=("mask",),
    properties=[
        shapes(0.2, _window, "a boolean mask of the right shape", boolean=True),
        values("the window", 0.55, _window),
        values("the dilation", 0.5, _dilated),
        values("global tokens", 0.5, _global),
        values("no window, a wide one, one token", 0.25, _odd),
    ],
    closed=CLOSED,
    mistakes="""
both-sides-together: Your window is `window` tokens wide in all. Here it has `window` tokens on *either* side, and the
token itself.
- window * dilation → window // 2 * dilation

dilation-ignored: Your window has no gaps: a dilation of 3 means every third token only.
- apart <= window * dilation → apart <= window
- apart % dilation == 0 → apart >= 0

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

first-tokens-global: You made the *first* tokens global, as many as the list has entries. The list holds their
positions.
- mask[everywhere, :] = True → mask[: len(everywhere), :] = True
- mask[:, everywhere] = True → mask[:, : len(everywhere)] = True
""",
)


# --- BigBird ----------------------------------------------------------------------------------------------


def _fixed(time: int, block: int, n_global: int) -> tuple[Tensor, Tensor]:
    return BIGBIRD.reference(time, block, n_global, 0, 0), torch.arange(time) // block


def _known(time: int, block: int, n_global: int, n_random: int) -> tuple[Tensor, ...]:
    return *_fixed(time, block, n_global), torch.tensor(n_global), torch.tensor(n_random)


def _not_random(draw: Draw) -> list[Case]:
    block = draw.integer(2, 3)
    return [
        case("no random blocks", block * draw.integer(5, 6), block, 1, 0, draw.integer(0, 99)),
        case("two global blocks", block * 7, block, 2, 0, draw.integer(0, 99)),
        case("no global blocks", 4 * draw.integer(5, 6), 4, 0, 0, draw.integer(0, 99)),
    ]


def _some(draw: Draw) -> list[Case]:
    n_random, block, seed = draw.integer(2, 3), draw.integer(2, 3), draw.integer(0, 10**6)
    one, two = (block * 8, block, 1, n_random), (block * 9, block, 0, 1)
    return [
        Case(label="random blocks", calls=((*one, seed),), known=_known(*one)),
        Case(label="one random block", calls=((*two, seed),), known=_known(*two)),
    ]


def _seeds(draw: Draw) -> list[Case]:
    seed, sizes = draw.integer(0, 10**6), (60, 2, 1, 3)
    calls = ((*sizes, seed), (*sizes, seed), (*sizes, seed + 1))
    return [Case(label="thirty blocks", calls=calls, known=_known(*sizes))]


def _few(draw: Draw) -> list[Case]:
    block = draw.integer(3, 4)
    return [
        case("fewer blocks than are to be sampled", block * 5, block, 1, 4, draw.integer(0, 99)),
        case("a shorter last block", block * 5 + 1, block, 1, 0, draw.integer(0, 99)),
        case("blocks of one token", 6, 1, 1, 0, draw.integer(0, 99)),
        case("one block", 2, 3, 0, 2, draw.integer(0, 99)),
    ]


BIGBIRD = question(
    "efficient_attention.bigbird_mask",
    minutes=25,
    difficulty="hard",
    returns=("mask",),
    properties=[
        shapes(0.25, _not_random, "a boolean mask of the right shape", boolean=True),
        values("neighbouring and global blocks", 1, _not_random),
        holds("the right number of random blocks", 1, _some, random_blocks_are_added),
        holds("each seed and each row by itself", 0.75, _seeds, sampled_anew),
        values("few blocks, short ones, small ones", 0.5, _few),
    ],
    closed=CLOSED,
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
""",
)
