"""What a model wrote beside references: BLEU, how many n-grams of a translation occur there, and edits.

Source: Papineni, Roukos, Ward & Zhu (2002), section 2; tokens and smoothing as in sacrebleu (Post 2018), whose
numbers these are.

    p_n  = Σ min(count in hypothesis, count in reference) / Σ count in hypothesis      over all n-grams, all sentences
    BP   = 1 if c >= r else exp(1 - r/c)          c, r: total length of hypotheses, of references
    BLEU = 100 · BP · exp( 1/4 Σ_{n=1..4} ln p_n )

Departs from the paper, as sacrebleu does: text is tokenized as in the WMT evaluations (`mteval-v13a`); and if no n-gram
of some length matches, p_n is 1 / (2^k · number of them) for the k-th such n (Chen & Cherry 2014, smoothing 3). If none
matches at all, the score is 0.

**Edit distance**: the fewest insertions, deletions and substitutions that turn one sequence into another.

    d(i, j) = min( d(i-1, j) + 1,  d(i, j-1) + 1,  d(i-1, j-1) + [a_i ≠ b_j] ),   d(i, 0) = i,  d(0, j) = j

    error rate = Σ d(hypothesis, reference) / Σ length of reference

Source: Levenshtein (1966); the table is Wagner & Fischer (1974). Over phonemes, words or characters; it can exceed 1.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from torch import Tensor

from nlmcore.checks import Size, checked, described

_ESCAPES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_SPLITS = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),  # punctuation is a token, but for . , - '
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),  # . and , are unless a digit precedes them
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),  # or follows them
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # a dash is after a digit
)


def tokenize_13a(text: str) -> list[str]:
    """The tokens of WMT's `mteval-v13a` script."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for escaped, sign in _ESCAPES:
        text = text.replace(escaped, sign)
    text = f" {text} "
    for pattern, replacement in _SPLITS:
        text = pattern.sub(replacement, text)
    return text.split()


@checked
def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str | None]],
    *,
    max_order: Size = 4,
) -> float:
    """BLEU of a whole corpus, from 0 to 100.

    `references` holds one string per hypothesis, or, as in sacrebleu, several lists of such strings: the first
    reference of every sentence, the second of every sentence, and so on; None where a sentence has no more of them.
    An n-gram then counts as often as in the reference that has most of it, and r adds up the closest lengths.
    """
    matched, total = [0] * max_order, [0] * max_order
    hypothesis_length = reference_length = 0
    for hypothesis, of_it in zip(hypotheses, _references(hypotheses, references), strict=True):
        tokens = tokenize_13a(hypothesis)
        reference_tokens = [tokenize_13a(reference) for reference in of_it]
        hypothesis_length += len(tokens)
        reference_length += min((abs(len(r) - len(tokens)), len(r)) for r in reference_tokens)[1]  # the closest
        for n in range(max_order):
            counts = _ngrams(tokens, n + 1)
            allowed = reduce(or_, (_ngrams(r, n + 1) for r in reference_tokens))  # the larger of two counts
            matched[n] += (counts & allowed).total()  # the smaller of two
            total[n] += counts.total()

    if not any(matched) or not all(total):
        return 0.0
    misses, log_precisions = 0, 0.0
    for right, all_of_them in zip(matched, total, strict=True):
        misses += right == 0
        log_precisions += math.log((right or 0.5**misses) / all_of_them)
    brevity = min(1.0, math.exp(1 - reference_length / hypothesis_length))
    return 100 * brevity * math.exp(log_precisions / max_order)


def _ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[k:] for k in range(n)), strict=False))


def _references(hypotheses: Sequence[str], references: Sequence[Any]) -> list[list[str]]:
    _check_strings("hypotheses", hypotheses)
    several = isinstance(references, Sequence) and bool(references) and _is_list(references[0])
    lists = references if several else [references]
    n = len(hypotheses)
    if several and len(references) == n and all(map(_is_list, references)) and any(len(r) != n for r in references):
        raise ValueError(
            f"references must be lists of {n}, the first reference of every hypothesis, the second, and so on, got a"
            " list per hypothesis; give list(itertools.zip_longest(*references))"
        )
    for strings in lists:
        _check_strings("references", strings, missing=several)
        if len(strings) != n:
            raise ValueError(f"references must be as many as hypotheses, got {len(strings)} references, {n} hypotheses")
    found = [[reference for reference in of_it if reference is not None] for of_it in zip(*lists, strict=True)]
    if [] in found:
        raise ValueError(f"references must hold at least one for every hypothesis, got none for {found.index([])}")
    return found


def _is_list(thing: object) -> bool:
    return isinstance(thing, Sequence) and not isinstance(thing, str)


def _check_strings(name: str, strings: Any, *, missing: bool = False) -> None:
    allowed = (str, type(None)) if missing else str
    if not _is_list(strings) or not all(isinstance(s, allowed) for s in strings):
        raise TypeError(f"{name} must be a list of strings, got {described(strings)}")
    if not strings:
        raise ValueError(f"{name} must hold at least one string, got none")


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
