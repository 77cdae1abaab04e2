"""Laws of BigBird's random blocks: how many there are, where, and that each seed and each row samples for itself."""

import torch
from torch import Tensor

from autograder.question.judges import Outcomes
from autograder.question.specification import Case


def _blocks(mask: Tensor, block_of: Tensor) -> Tensor | None:
    """The mask of blocks, (block, block); None if two tokens of a block differ."""
    first = torch.tensor([int((block_of == i).nonzero()[0]) for i in range(int(block_of[-1]) + 1)])
    small = mask[first][:, first]
    return small if torch.equal(small[block_of][:, block_of], mask) else None


def random_blocks_are_added(case: Case, got: Outcomes) -> str | None:
    """known: the mask without random blocks, the block of each token, how many blocks are global, how many random."""
    fixed, block_of, n_global, n_random = case.known
    for outcome in got:
        mask = outcome.outputs[0].bool()
        if bool((fixed & ~mask).any()):
            return "with random blocks, neighbouring or global blocks are missing"
        small, before = _blocks(mask, block_of), _blocks(fixed, block_of)
        if small is None or before is None:
            return "two tokens of one block see, or are seen by, different tokens"
        added = (small & ~before)[int(n_global) :].sum(1)
        wanted = (~before)[int(n_global) :].sum(1).clamp(max=int(n_random))
        if not torch.equal(added, wanted):
            return "a block that is not global does not see the right number of random blocks besides all others"
    return None


def sampled_anew(case: Case, got: Outcomes) -> str | None:
    """Three calls, twice the same seed and then another one. known as above; there are many blocks."""
    fixed, block_of, n_global, _ = case.known
    masks = [outcome.outputs[0].bool() for outcome in got]
    if not torch.equal(masks[0], masks[1]):
        return "the same seed gives different masks"
    if torch.equal(masks[0], masks[2]):
        return "different seeds give the same mask"
    before = _blocks(fixed, block_of)
    for mask in masks:
        small = _blocks(mask, block_of)
        if small is None or before is None:
            return "two tokens of one block see, or are seen by, different tokens"
        added = (small & ~before)[int(n_global) :]
        if not added.any():
            return "there are no random blocks"
        if 2 * len(torch.unique(added, dim=0)) < len(added):
            return "different blocks have the same random blocks"
        place = torch.arange(added.shape[1]) - torch.arange(int(n_global), len(small))[:, None]
        distances = place[added]
        if bool((distances > 0).all()) or bool((distances < 0).all()):
            return "the random blocks are all on the same side"
        if 2 * len(torch.unique(distances)) < added.shape[1] / 2:
            return "the random blocks are at the same few distances in all rows"
        # Independent rows hardly ever have the same gaps between their random blocks; a pattern that is shifted does.
        gaps = {tuple(torch.diff(row.nonzero().flatten()).tolist()) for row in added & (added.sum(1) > 1)[:, None]}
        if 2 * len(gaps) < int((added.sum(1) > 1).sum()):
            return "the random blocks of all rows are one pattern, only shifted"
    return None
