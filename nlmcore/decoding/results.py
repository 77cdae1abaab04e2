"""What decoding returns: one text per prompt (`Generation`), a ranked list (`Hypothesis`), the tree of a search."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Generation:
    """One new text per row. `tokens` holds only the new tokens, <eos> included, 0 after it."""

    tokens: Int[Tensor, "batch new"]
    log_probs: Float[Tensor, "batch new"]
    """The model's own ln P(token | everything before), before any temperature or filter; 0 after <eos>."""
    finished: Bool[Tensor, " batch"]  # True where <eos> was written, False where max_new_tokens ended the text

    @property
    def log_prob(self) -> Float[Tensor, " batch"]:
        """ln P(new text | prompt) under the model, one per row."""
        return self.log_probs.sum(dim=1)


@dataclass(frozen=True)
class Hypothesis:
    """One candidate text of a search. Lists of these are best first: highest `score` first."""

    tokens: list[int]  # only the new tokens, <eos> included if it was reached
    log_prob: float  # ln P(tokens | prompt) under the model
    score: float  # what the search ranks by; each algorithm says what that is

    def text(self, tokenizer: Any) -> str:
        """The new tokens as text, without special ones; `tokenizer` is one of `nlmcore.tokens`."""
        return str(tokenizer.decode(self.tokens, skip_special=True))


def score(log_prob: float, length: int, length_penalty: float) -> float:
    """log_prob / length ** length_penalty, <eos> counted in the length; an empty text scores 0."""
    return log_prob / length**length_penalty if length else 0.0


def best_first(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Highest score first; equal scores by length, then by token ids, so that ties are always broken alike."""
    return sorted(hypotheses, key=lambda h: (-h.score, len(h.tokens), h.tokens))


Status = Literal["root", "pruned", "kept", "finished"]


class Kind(IntEnum):
    """What becomes of a candidate, as a number, so that one tensor can hold it for all candidates of a step."""

    ABSENT = 0  # no candidate: there were fewer than places
    PRUNED = 1
    KEPT = 2
    FINISHED = 3


@dataclass(frozen=True)
class Node:
    """One candidate token that a search considered.

    `id` is its index in `SearchTree.nodes`, `parent` the id of the node whose text it continues, `prompt` the row of
    its prompt, and `step` the number of new tokens in its text. A root is a prompt itself: step 0, no parent, no token.
    """

    id: int
    parent: int | None
    prompt: int
    step: int
    token: int | None
    token_log_prob: float  # ln P(token | its text so far) under the model
    log_prob: float  # ln P(its whole text | prompt) under the model
    score: float | None
    """What the search ranked it by, where that differs from `log_prob`; of a sampler, ln of the token's probability
    after temperature and filters."""
    status: Status  # kept: extended further; finished: a complete text; pruned: considered and dropped


Ids = list[list[int]]


class SearchTree:
    """All candidates in the order they were considered; `best` holds the ids along each prompt's winning text."""

    def __init__(self, prompts: int) -> None:
        self.nodes = [Node(row, None, row, 0, None, 0.0, 0.0, None, "root") for row in range(prompts)]
        self.best: set[int] = set()
        self._children: list[list[int]] = [[] for _ in range(prompts)]

    def add(self, parent: int, token: int, token_log_prob: float, status: Status, *, score: float | None = None) -> int:
        """Add one candidate under `parent` and return its id."""
        new, above = len(self.nodes), self.nodes[parent]
        place = (new, parent, above.prompt, above.step + 1)
        self.nodes.append(Node(*place, token, token_log_prob, above.log_prob + token_log_prob, score, status))
        self._children.append([])
        self._children[parent].append(new)
        return new

    def extend(
        self, nodes: Ids, parent: Tensor, tokens: Tensor, log_probs: Tensor, kinds: Tensor, scores: Tensor | None
    ) -> Ids:
        """Add the candidates of several searches, all (search, candidate); their ids, row by row.

        Candidate c of a search continues its text `nodes[search][parent[search, c]]`. kinds: a `Kind` each;
        an absent candidate gets its parent's id.
        """
        # First the ids of the parents; each candidate that exists then puts its own in that place.
        ids = [[texts[i] for i in which] for texts, which in zip(nodes, parent.tolist(), strict=True)]
        for row, c in kinds.nonzero().tolist():
            status: Any = Kind(int(kinds[row, c])).name.lower()
            given = (int(tokens[row, c]), float(log_probs[row, c]), status)
            ids[row][c] = self.add(ids[row][c], *given, score=None if scores is None else float(scores[row, c]))
        return ids

    @property
    def roots(self) -> list[Node]:
        return [node for node in self.nodes if node.parent is None]

    def children(self, node: Node | int) -> list[Node]:
        """The candidates that were considered after this node's text."""
        return [self.nodes[i] for i in self._children[node if isinstance(node, int) else node.id]]

    def path(self, node: Node | int) -> list[int]:
        """The new tokens of this node's text."""
        here = self.nodes[node] if isinstance(node, int) else node
        tokens: list[int] = []
        while here.parent is not None and here.token is not None:
            tokens.append(here.token)
            here = self.nodes[here.parent]
        return tokens[::-1]

    def at_step(self, step: int, prompt: int = 0) -> list[Node]:
        """Everything that was considered for the `step`-th new token of one prompt."""
        return [node for node in self.nodes if node.step == step and node.prompt == prompt]

    def render(self, name: Callable[[int], str] = str, *, prompt: int | None = None) -> str:
        """The tree as plain text; `name` maps a token id to what to print, * marks the winner."""
        roots = self.roots if prompt is None else [self.roots[prompt]]
        return "\n".join(line for root in roots for line in [f"prompt {root.prompt}", *self._lines(root, "", name)])

    def _lines(self, node: Node, indent: str, name: Callable[[int], str]) -> Iterator[str]:
        children = self.children(node)
        for child in children:
            corner, below = ("└─", "   ") if child is children[-1] else ("├─", "│  ")
            ranked = "" if child.score is None else f"  score {child.score:.3f}"
            numbers = f"{child.token_log_prob:.3f}  sum {child.log_prob:.3f}{ranked}"
            star = " *" if child.id in self.best else ""
            yield f"{indent}{corner} {name(child.token)}  {numbers}  {child.status}{star}"  # type: ignore[arg-type]
            yield from self._lines(child, indent + below, name)


Ranked = list[list[Hypothesis]]


def with_tree(ranked: Ranked, tree: SearchTree | None) -> Ranked | tuple[Ranked, SearchTree]:
    """The hypotheses of every prompt; with a tree, (hypotheses, tree), and each prompt's best text is marked in it."""
    if tree is None:
        return ranked
    for root, hypotheses in zip(tree.roots, ranked, strict=True):
        paths = [[root]]  # several: two groups of a diverse beam may hold the same word side by side
        for token in hypotheses[0].tokens:
            ahead = [(path, child) for path in paths for child in tree.children(path[-1])]
            paths = [[*path, child] for path, child in ahead if child.token == token and child.status != "pruned"]
        tree.best.update(node.id for node in paths[0])
    return ranked, tree
