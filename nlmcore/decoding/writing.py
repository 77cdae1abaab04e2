"""Writing one token after the other, for every rule that looks at one distribution at a time.

`write` is the loop; greedy search and sampling only say how to choose from a distribution. It reads the prompt
once and every new token once, and goes on with the unfinished rows alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.decoding.reading import read
from nlmcore.decoding.results import Generation
from nlmcore.decoding.tree import SearchTree, Status
from nlmcore.language_model import LanguageModel, State, select

Choose = Callable[[Tensor], Tensor]
"""A rule: log-probabilities (row, vocab) -> the tokens that are written (row)."""

ALTERNATIVES = 5
"""How many of the most probable tokens a trace shows beside the one that was chosen."""


@dataclass(frozen=True)
class Step:
    """One new token for every row, as it is written; 0 (and log-probability 0) in rows that had ended before."""

    tokens: Int[Tensor, " batch"]
    log_probs: Float[Tensor, " batch"]
    finished: Bool[Tensor, " batch"]


@torch.no_grad()
def write(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    choose: Choose,
    *,
    eos: int | None,
    state: State,
    watch: Callable[[Tensor, Tensor, Tensor], None] | None = None,
) -> Iterator[Step]:
    """Yield the new tokens step by step until every row has ended; `watch` sees (rows, log_probs, chosen)."""
    going = torch.arange(len(prompt), device=prompt.device)  # rows that have not ended
    finished = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    unread = prompt
    for _ in range(max_new_tokens):
        log_probs, state = read(model, unread, state)
        chosen = choose(log_probs)
        if watch is not None:
            watch(going, log_probs, chosen)
        ended = chosen == eos if eos is not None else torch.zeros_like(chosen, dtype=torch.bool)
        finished = finished.index_copy(0, going, ended)
        yield Step(
            torch.zeros_like(finished, dtype=torch.long).index_copy(0, going, chosen),
            log_probs.new_zeros(len(prompt)).index_copy(0, going, log_probs.gather(1, chosen[:, None])[:, 0]),
            finished,
        )
        if ended.any():
            rest = (~ended).nonzero()[:, 0]
            if len(rest) == 0:
                return
            going, chosen, state = going[rest], chosen[rest], select(state, rest)
        unread = chosen[:, None]


def collect(steps: Iterator[Step], prompt: Int[Tensor, "batch time"]) -> Generation:
    """All the steps side by side."""
    written = list(steps)
    if not written:
        nothing = prompt[:, :0]
        return Generation(nothing, nothing.float(), torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device))
    tokens = torch.stack([step.tokens for step in written], dim=1)
    return Generation(tokens, torch.stack([step.log_probs for step in written], dim=1), written[-1].finished)


class Watcher:
    """Draws the tree of a text that is written token by token: what was chosen, and what stood beside it."""

    def __init__(self, prompts: int, eos: int | None) -> None:
        self.tree = SearchTree(prompts)
        self.eos = eos
        self._here = [root.id for root in self.tree.roots]

    def __call__(self, rows: Tensor, log_probs: Tensor, chosen: Tensor) -> None:
        best = log_probs.topk(min(ALTERNATIVES, log_probs.shape[1]), dim=1).indices
        for i, row in enumerate(rows.tolist()):
            token, parent = int(chosen[i]), self._here[row]
            for candidate in dict.fromkeys([token, *best[i].tolist()]):
                status: Status = "pruned" if candidate != token else "finished" if token == self.eos else "kept"
                node = self.tree.add(parent, candidate, float(log_probs[i, candidate]), status)
                if candidate == token:
                    self._here[row] = node
                    self.tree.best.update((parent, node))
