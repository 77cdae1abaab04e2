"""Which English word belongs to which German part of a number: by the reference, by attention, by IBM Model 1.

reference     English and German digit words have the same order but for tens and units, which are different words,
              so the k-th "two" is the k-th "zwei"
attention     a head finds a part if its largest weight is on the reference's English word
Model 1       t(target | source), learned by expectation-maximisation from pairs, blind to positions; the likeliest
              translation of every word, in the source's order, is a translation word by word
              Brown et al. (1993), section 4.1; here without a null word
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from nlmcore.corpora import pad
from nlmcore.inspect import capture
from torch import Tensor

from lectures.recipes.pairs import Ids, as_source, as_target, english, german

NEXT, READ = "the next word", "the word just read"


@lru_cache(maxsize=1)
def dictionary() -> dict[str, str]:
    """German part -> English word; "und" has no fixed one."""
    simple = {german(n): english(n) for n in [*range(1, 21), *range(30, 100, 10)]}
    scales = {"hundert": "hundred", "tausend": "thousand", "Million": "million", "Millionen": "million"}
    large = {"Milliarde": "billion", "Milliarden": "billion", "Billion": "trillion", "Billionen": "trillion"}
    return simple | {"ein": "one", "eine": "one"} | scales | large


def reference_alignment(number: int) -> list[int | None]:
    """For each German part, the position of the English word that it translates; None for "und"."""
    places: dict[str, list[int]] = {}
    for i, word in enumerate(english(number).split()):
        places.setdefault(word, []).append(i)
    return [places[dictionary()[part]].pop(0) if part in dictionary() else None for part in german(number).split()]


def known(numbers: Sequence[int]) -> Tensor:
    """(which number, German part, its English word), a row for every part that has one."""
    return torch.tensor(
        [
            (n, part, word)
            for n, number in enumerate(numbers)
            for part, word in enumerate(reference_alignment(number))
            if word is not None
        ]
    )


@torch.no_grad()
def cross_weights(model: Any, tokenizer: Any, numbers: Sequence[int]) -> Tensor:
    """Every head's weights from the reference, read by teacher forcing, to the source: (number, head, row, source)."""
    tokens, _ = pad([as_target(tokenizer.target.encode(german(n))) for n in numbers])
    with capture(model) as tape:
        model(tokens[:, :-1], model.encode(*pad([as_source(tokenizer.source.encode(english(n))) for n in numbers])))
    at_source = "cross_attention" if any(name.endswith("cross_attention") for name in tape) else "decoder.attention"
    return torch.cat([weights for name, weights in tape.items() if name.endswith(at_source)], dim=1)


def found_by_heads(model: Any, tokenizer: Any, numbers: Sequence[int]) -> dict[str, list[float]]:
    """For each head, the share of German parts that it finds.

    A row reads one word and predicts the next: the head may look for the one or for the other.
    """
    best = cross_weights(model, tokenizer, numbers).argmax(-1)  # (number, head, row)
    which, part, word = known(numbers).T
    return {
        name: [round(float(share), 4) for share in (best[which, :, part + late] == word[:, None]).float().mean(0)]
        for name, late in ((NEXT, 0), (READ, 1))
        if not late or best.shape[2] > int(part.max()) + 1
    }


def model_1(pairs: Sequence[tuple[Ids, Ids]], sizes: tuple[int, int], rounds: int = 10) -> Tensor:
    """t (source, target): how probable each target word is as the translation of each source word."""
    source, source_mask = pad([x for x, _ in pairs])
    target, mask = pad([y for _, y in pairs])
    where = torch.broadcast_tensors(source[:, :, None], target[:, None])  # every word with every word of its pair
    real = source_mask[:, :, None] & mask[:, None]
    t = torch.full(sizes, 1 / sizes[1])
    for _ in range(rounds):
        share = t[where] * real
        share = share / share.sum(1, keepdim=True).clamp_min(1e-30)  # which source word made this target word?
        counts = torch.zeros(sizes).index_put(where, share, accumulate=True)
        t = counts / counts.sum(1, keepdim=True).clamp_min(1e-30)
    return t


def found_by_model_1(t: Tensor, tokenizer: Any, numbers: Sequence[int]) -> float:
    """The share of German parts whose likeliest English word of the number is the reference's; of equals the first."""
    right = []
    for n in numbers:
        source = tokenizer.source.encode(english(n))
        parts = zip(tokenizer.target.encode(german(n)), reference_alignment(n), strict=True)
        right += [int(t[source, part].argmax()) == word for part, word in parts if word is not None]
    return round(sum(right) / len(right), 4)
