"""Edit distance: the fewest insertions, deletions and substitutions that turn one sequence into another.

Source: Levenshtein (1966); the table is Wagner & Fischer (1974).

    d(i, j) = min( d(i-1, j) + 1,  d(i, j-1) + 1,  d(i-1, j-1) + [a_i ≠ b_j] ),   d(i, 0) = i,  d(0, j) = j

    error rate = Σ d(hypothesis, reference) / Σ length of reference

Over phonemes, words or characters; it can exceed 1.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from nlmcore.checks import described


def edit_distance(a: Sequence[Any] | Tensor, b: Sequence[Any] | Tensor) -> int:
    """Between two sequences of anything that can be compared: strings, lists of words, tensors of ids."""
    a, b = _as_sequence("a", a), _as_sequence("b", b)
    if len(a) and len(b) and isinstance(a[0], str) != isinstance(b[0], str):
        raise TypeError(f"a and b must hold things of one kind, got {a!r:.40} and {b!r:.40}")
    previous = list(range(len(b) + 1))  # row i-1 of the table
    for i, x in enumerate(a, 1):
        diagonal, left = previous[0], i
        row = [left]
        for y, up in zip(b, previous[1:], strict=True):
            left = diagonal if x == y else 1 + min(diagonal, left, up)
            diagonal = up
            row.append(left)
        previous = row
    return previous[-1]


def error_rate(hypotheses: Sequence[Any], references: Sequence[Any], *, alternatives: bool = False) -> float:
    """Edits per reference token, over a whole corpus.

    With `alternatives`, each reference is a list of acceptable ones (a word of several pronunciations), and
    counts as the one that is closest, relative to its length, to the hypothesis.
    """
    edits = length = 0
    for hypothesis, choices in _paired(hypotheses, references, alternatives):
        distances = [(edit_distance(hypothesis, choice), len(choice)) for choice in choices]
        distance, its_length = min(distances, key=lambda pair: (pair[0] / max(1, pair[1]), pair[0]))
        edits += distance
        length += its_length
    if length == 0:
        raise ValueError("references must hold at least one token, got only empty ones")
    return edits / length


def sequence_error_rate(hypotheses: Sequence[Any], references: Sequence[Any], *, alternatives: bool = False) -> float:
    """The fraction of the hypotheses that are not exactly right (the "word error rate" of letters to phonemes)."""
    pairs = _paired(hypotheses, references, alternatives)
    wrong = sum(all(edit_distance(hypothesis, choice) for choice in choices) for hypothesis, choices in pairs)
    return wrong / len(pairs)


def _paired(hypotheses: Sequence[Any], references: Sequence[Any], alternatives: bool) -> list[tuple[Any, list[Any]]]:
    """Each hypothesis with its acceptable references."""
    for name, sequences in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(sequences, str) or not isinstance(sequences, Sequence | Tensor):
            raise TypeError(f"{name} must be a list of sequences, got {described(sequences)}")
    if len(hypotheses) != len(references) or len(hypotheses) == 0:
        raise ValueError(
            "hypotheses and references must be equally many, at least one,"
            f" got {len(hypotheses)} hypotheses, {len(references)} references"
        )
    if not alternatives:
        references = [[reference] for reference in references]
    for choices in references:
        if isinstance(choices, str) or not isinstance(choices, Sequence) or not choices:
            raise ValueError(f"with alternatives, references must be non-empty lists of sequences, got {choices!r:.60}")
    return [(h, [_as_sequence("references", c) for c in r]) for h, r in zip(hypotheses, references, strict=True)]


def _as_sequence(name: str, sequence: Sequence[Any] | Tensor) -> Sequence[Any]:
    if isinstance(sequence, Tensor) and sequence.ndim == 1 and not sequence.is_floating_point():
        return sequence.tolist()
    if not isinstance(sequence, Sequence):
        raise TypeError(f"{name} must be a sequence (a tensor: of ids, one-dimensional), got {described(sequence)}")
    return sequence
