"""What decoding gives back: one text per prompt (`Generation`) or a ranked list (`Hypothesis`)."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Generation:
    """One new text per row. `tokens` holds the new tokens only, <eos> included, 0 after it."""

    tokens: Int[Tensor, "batch new"]
    log_probs: Float[Tensor, "batch new"]
    """The model's own ln P(token | everything before), before any temperature or filter; 0 after <eos>."""
    finished: Bool[Tensor, " batch"]
    """True where <eos> was written, False where max_new_tokens ended the text."""

    @property
    def log_prob(self) -> Float[Tensor, " batch"]:
        """ln P(new text | prompt) under the model, one per row."""
        return self.log_probs.sum(dim=1)


@dataclass(frozen=True)
class Hypothesis:
    """One candidate text of a search. Lists of these are best first: highest `score` first."""

    tokens: list[int]
    """The new tokens only, <eos> included if it was reached."""
    log_prob: float
    """ln P(tokens | prompt) under the model."""
    score: float
    """What the search ranks by; each algorithm says what that is."""


def score(log_prob: float, length: int, length_penalty: float) -> float:
    """log_prob / length ** length_penalty, <eos> counted in the length; an empty text scores 0."""
    return log_prob / length**length_penalty if length else 0.0


def best_first(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Highest score first; equal scores by length, then by token ids, so that ties always fall alike."""
    return sorted(hypotheses, key=lambda h: (-h.score, len(h.tokens), h.tokens))
