"""What an entry's answers are worth. Nothing here runs or believes an entry: it compares what three processes said.

    bits per byte = −Σ log2 P(token | tokens before it) / bytes of the text

A tokenizer whose pieces join up to the text, and distributions over the pieces that sum to 1, make a code for texts:
so the bits are a length that a decoder could read, whatever the tokens are, and entries with different tokens compare.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

PASSAGE, MANY = 3_000, 20
"""Characters of a passage, and passages of each play."""
AUDITED = 16
"""Passages in which the future is changed. An entry that cheats at a tenth of all tokens is caught in four of five
seeds, one that cheats at half of them always."""
THRESHOLDS: dict[float, dict[float, float]] = {
    60.0: {2.60: 0.0, 2.22: 4.0, 2.16: 7.0, 2.02: 11.0, 1.94: 14.0},
    600.0: {2.40: 0.0, 2.16: 4.0, 2.05: 8.0, 1.95: 11.0, 1.85: 14.0},
}
"""Seconds of processor time -> bits per byte -> points, on a straight line between two of them."""
MOST = 14.0
PARTS = ("tokenizer", "model", "optimiser", "loop", "decoder")
PART = 2.0
"""Points for each part of the student's own."""
SLACK = 1.1
"""How much more than its budget an entry may use."""
_EXACT, _SAME = 1e-3, 1e-2  # nats

SENTENCES = {
    "loses-bytes": (
        "Your tokenizer loses bytes: the pieces of the ids, joined, are not the text. Every byte needs a "
        "piece, also one that the training text lacks, and no two texts may have the same ids."
    ),
    "sum-not-one": (
        "Your probabilities do not sum to 1. log_probabilities must return log_softmax's values, or a mixture "
        "of distributions, for all pieces: look at a row's logsumexp, which should be 0."
    ),
    "sees-the-future": (
        "Your model sees the future: P of a token changed when only tokens from it on were replaced. Row i "
        "may depend on ids[:i] and nothing else. Look at the mask, and whether your rows are shifted by one."
    ),
    "not-repeatable": (
        "Your model answers the same question differently from one call to the next. Is dropout on, or is "
        "something remembered between calls?"
    ),
    "out-of-time": (
        "Your training does not stop in time. Compare time.process_time() with its value at the start at "
        "every step, and leave room for what comes after the loop."
    ),
    "foreign-text": (
        "Your entry opens a text or a package that is not there. Train on the argument `texts`: there is "
        "nothing else to read."
    ),
    "not-a-file": (
        "What train returns cannot be stored: it may hold tensors, numbers, text, bytes, lists and "
        "dictionaries only, with the bytes of all tokens under 'pieces'. Keep a network's state_dict(), not "
        "the network."
    ),
    "worse-than-guessing": (
        "Your model needs more than 8 bits for a byte, so it is worse than guessing. Does row i score the "
        "token i, or the one after it?"
    ),
    "raised": "Your code raised an error.",
}


@dataclass(frozen=True)
class Measured:
    """What the second process said: see `asking.measured`."""

    ids: Tensor
    sizes: Tensor
    claims: Tensor
    every: Tensor
    piece_sizes: Tensor

    @property
    def pieces(self) -> list[bytes]:
        joined, found, start = self.every.to(torch.uint8).numpy().tobytes(), [], 0
        for size in self.piece_sizes.tolist():
            found.append(joined[start : start + size])
            start += size
        return found


@dataclass(frozen=True)
class Audit:
    """The question to the third process."""

    texts: Tensor  # which passages
    ids: Tensor
    sizes: Tensor
    cuts: Tensor
    foreign: Tensor


def passages(texts: Sequence[str]) -> list[str]:
    """Evenly spread over each text, none overlapping another where the text is long enough."""
    found = []
    for text in texts:
        last = max(0, len(text) - PASSAGE)
        found += [text[start : start + PASSAGE] for start in sorted({last * i // (MANY - 1) for i in range(MANY)})]
    return found


def fault_of(found: Measured, texts: Sequence[str]) -> str:
    """What is wrong with the tokens or the claims; "" if nothing."""
    pieces = found.pieces
    if not (
        len(found.sizes) == len(texts)
        and int(found.sizes.min()) > 0
        and int(found.sizes.sum()) == len(found.ids) == len(found.claims)
        and 0 <= int(found.ids.min()) <= int(found.ids.max()) < len(pieces)
    ):
        return "loses-bytes"
    for ids, text in zip(found.ids.split(found.sizes.tolist()), texts, strict=True):
        if b"".join(pieces[i] for i in ids.tolist()) != text.encode():
            return "loses-bytes"
    if not bool((found.claims <= _EXACT).all()):  # NaN, too
        return "sum-not-one"
    return "worse-than-guessing" if bits_per_byte(found, texts) > 8 else ""


def bits_per_byte(found: Measured, texts: Sequence[str]) -> float:
    return -float(found.claims.double().sum()) / math.log(2) / sum(len(text.encode()) for text in texts)


def bits_by_play(found: Measured, texts: Sequence[str]) -> list[float]:
    """The same for every MANY passages."""
    claims, at = found.claims.split(found.sizes.tolist()), range(0, len(texts), MANY)
    nats = [-float(torch.cat(claims[i : i + MANY]).double().sum()) for i in at]
    sizes = [sum(len(text.encode()) for text in texts[i : i + MANY]) for i in at]
    return [one / math.log(2) / size for one, size in zip(nats, sizes, strict=True)]


def audit_of(found: Measured, foreign: Tensor, seed: int) -> Audit:
    """Some of the passages, each cut at a token that nobody can foresee. Only the tokens before the cut are shown."""
    draw = torch.Generator().manual_seed(seed)
    count = min(AUDITED, len(found.sizes))
    texts = torch.randperm(len(found.sizes), generator=draw)[:count]
    sizes = found.sizes[texts]
    cuts = (sizes * (0.2 + 0.8 * torch.rand(count, generator=draw))).long().clamp(max=sizes - 1)
    rows = found.ids.split(found.sizes.tolist())
    hidden = []
    for text, size, cut in zip(texts.tolist(), sizes.tolist(), cuts.tolist(), strict=True):
        hidden.append(torch.cat((rows[text][:cut], foreign.repeat(-(-size // len(foreign)))[: size - cut])))
    return Audit(texts, torch.cat(hidden), sizes, cuts, foreign.repeat(-(-int(sizes.max()) // len(foreign))))


def audit_fault(found: Measured, asked: Audit, rows: Tensor) -> str:
    """What the distributions at the cuts give away; "" if nothing."""
    if rows.shape != (len(asked.cuts) + 1, len(found.piece_sizes)):
        return "sum-not-one"
    rows = rows.double()
    if not bool((rows.logsumexp(1).abs() < _EXACT).all()):
        return "sum-not-one"
    if not bool(((rows[0] - rows[-1]).exp() - 1).abs().mul(rows[0].exp()).sum() < _SAME):
        return "not-repeatable"
    at = found.sizes.cumsum(0)[asked.texts] - found.sizes[asked.texts] + asked.cuts
    claimed, said = found.claims[at].double(), rows[:-1].gather(1, found.ids[at][:, None])[:, 0]
    return "" if bool(((claimed - said).abs() < _SAME).all()) else "sees-the-future"


def named(kind: str, words: str) -> str:
    """The fault behind an error of the student's code."""
    if kind in ("MissingPackageError", "FileNotFoundError", "ModuleNotFoundError", "PermissionError", "ClosedName"):
        return "foreign-text"
    if "must return a dictionary" in words or "weights_only" in words or kind in ("UnpicklingError", "PicklingError"):
        return "not-a-file"
    return "raised"


def points(bits: float, thresholds: Mapping[float, float]) -> float:
    """Between two thresholds, bits per byte -> points, on a straight line; halves."""
    known = sorted(thresholds.items())
    if bits <= known[0][0]:
        return known[0][1]
    for (better, more), (worse, less) in pairwise(known):
        if bits <= worse:
            return round(2 * (more + (less - more) * (bits - better) / (worse - better))) / 2
    return 0.0
