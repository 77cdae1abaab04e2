"""Writing one token after the other, for every rule that chooses from one distribution at a time.

`write` is the loop; greedy search and sampling only say how to choose. It reads the prompt once and every new token
once, and continues with only the unfinished rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.decoding.reading import next_log_probs
from nlmcore.decoding.results import Generation, SearchTree, Status
from nlmcore.language_model import LanguageModel, State, select

Choose = Callable[[Tensor], Tensor]
"""A rule: log-probabilities (row, vocab) -> the tokens that are written (row)."""

ALTERNATIVES = 5
"""How many of the most probable tokens a trace shows alongside the chosen one."""


@dataclass(frozen=True)
class Step:
    """One new token for every row, as it is written; 0 (and log-probability 0) in rows that had ended before."""

    tokens: Int[Tensor, " batch"]
    log_probs: Float[Tensor, " batch"]
    finished: Bool[Tensor, " batch"]


def write(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    choose: Choose,
    *,
    eos: int | None,
    state: State,
    watch: "Watcher | None" = None,
) -> Iterator[Step]:
    """Yield the new tokens step by step until every row has ended; `watch` grows a tree of them."""
    batch = len(prompt)
    going = torch.arange(batch, device=prompt.device)  # rows that have not ended
    finished = torch.zeros(batch, dtype=torch.bool, device=prompt.device)
    unread = prompt
    for _ in range(max_new_tokens):
        with torch.no_grad():  # but not around the yield: between two steps gradients are as the caller has them
            log_probs, state = next_log_probs(model, unread, state)
            chosen = choose(log_probs)
        unread = chosen[:, None]
        chosen_log_probs = log_probs.gather(1, unread)[:, 0]
        if watch is not None:
            watch.see(going, log_probs, chosen)
        if eos is not None:
            ended = chosen == eos
            finished = finished.index_copy(0, going, ended)
        if len(going) == batch:
            yield Step(chosen, chosen_log_probs, finished)
        else:
            everywhere = chosen.new_zeros(batch).index_copy(0, going, chosen)
            yield Step(everywhere, log_probs.new_zeros(batch).index_copy(0, going, chosen_log_probs), finished)
        if eos is not None and ended.any():
            rest = (~ended).nonzero()[:, 0]
            if len(rest) == 0:
                return
            going, unread, state = going[rest], unread[rest], select(state, rest)


def collect(
    steps: Iterable[Step], prompt: Int[Tensor, "batch time"], watch: "Watcher | None" = None
) -> Generation | tuple[Generation, SearchTree]:
    """All the steps side by side; with a watcher, (generation, its tree)."""
    written = list(steps)
    if written:
        tokens = torch.stack([step.tokens for step in written], dim=1)
        log_probs = torch.stack([step.log_probs for step in written], dim=1)
        generation = Generation(tokens, log_probs, written[-1].finished)
    else:
        nothing = prompt[:, :0]
        generation = Generation(nothing, nothing.float(), torch.zeros_like(prompt[:, 0], dtype=torch.bool))
    return generation if watch is None else (generation, watch.tree)


class Watcher:
    """Grows the tree of a text that is written token by token: what was chosen, and the alternatives to it."""

    def __init__(self, prompts: int, eos: int | None) -> None:
        self.tree = SearchTree(prompts)
        self.eos = eos
        self._here = [root.id for root in self.tree.roots]

    def see(self, rows: Tensor, log_probs: Tensor, chosen: Tensor) -> None:
        """The chosen token of every row and the most probable others."""
        best = log_probs.topk(min(ALTERNATIVES, log_probs.shape[1]), dim=1).indices
        for i, row in enumerate(rows.tolist()):
            candidates = list(dict.fromkeys([int(chosen[i]), *best[i].tolist()]))
            self.add(row, candidates, log_probs[i, candidates].tolist(), int(chosen[i]))

    def add(
        self,
        row: int,
        candidates: Sequence[int],
        log_probs: Sequence[float],
        chosen: int,
        scores: Sequence[float | None] | None = None,
    ) -> None:
        """The candidates of one row; the text continues with the chosen one."""
        parent = self._here[row]
        for token, log_prob, score in zip(candidates, log_probs, scores or [None] * len(candidates), strict=True):
            status: Status = "pruned" if token != chosen else "finished" if token == self.eos else "kept"
            node = self.tree.add(parent, token, log_prob, status, score=score)
            if token == chosen:
                self._here[row] = node
                self.tree.best.update((parent, node))
