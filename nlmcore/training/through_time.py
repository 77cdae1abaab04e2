"""Truncated backpropagation through time: a long text in pieces, its state carried over, its gradient cut.

    for piece in truncated_backpropagation(model, tokens, length=20):
        optimizer.zero_grad()
        piece.loss.backward()          # reaches back to the start of the piece, no further
        optimizer.step()

Forward, the values are those of reading the whole text (the chunking law), as long as the weights stay; backward,
the product of Jacobians dh_t/dh_k stops at the cut: after about 20 steps little of it is left anyway.
Source: Williams & Peng (1990); in language models Mikolov et al. (2010).
Departs from the papers: pieces do not overlap (their k1 = k2 = length), as everyone does now.
"""

from collections.abc import Iterator

from jaxtyping import Bool, Int
from torch import Tensor

from nlmcore.checks import Size, checked
from nlmcore.language_model import LanguageModel, State, map_leaves
from nlmcore.training.losses import Piece, prepare, read


def detach(state: State) -> State:
    """The same values, but no gradient flows through them into the past."""
    return map_leaves(lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf, state)


@checked
def truncated_backpropagation(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    length: Size,
    targets: Int[Tensor, "batch time"] | None = None,
    *,
    mask: Bool[Tensor, "batch time"] | None = None,
    state: State = None,
) -> Iterator[Piece]:
    """Read `tokens` in pieces of `length` predictions (the last may be shorter); each ends in a state without a past.

    `tokens`, `targets` and `mask` as in `teacher_forcing_loss`; pieces without a real target are read, not
    yielded. `state` is where to begin; it is cut as well. Arguments are checked immediately, not at the first piece.
    """
    # Outside the generator below, whose body would run only when the first piece is asked for.
    inputs, targets, mask, state = prepare(model, tokens, targets, mask, detach(state))

    def pieces(state: State) -> Iterator[Piece]:
        for start in range(0, inputs.shape[1], length):
            # The state is cut between two pieces: its values go on, the graph behind it is freed.
            here = slice(start, start + length)
            piece = read(model, inputs[:, here], targets[:, here], None if mask is None else mask[:, here], state)
            state = detach(piece.state)
            if piece.predictions:  # a mean over no target is not a number; its tokens were read all the same
                yield piece._replace(state=state)

    return pieces(state)
