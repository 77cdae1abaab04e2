"""The rules of the race, and what the answers are worth. Nothing here runs or believes an entry: it asks several
processes, which share only the entry's file, and compares what they said.

    bits per byte = −Σ log2 P(token | tokens before it) / bytes of the text

A tokenizer whose pieces join up to the text, and distributions over the pieces that sum to 1, make a code for texts:
so the bits are a length that a decoder could read, whatever the tokens are, and entries with different tokens compare.
For that, four things must hold, whatever an entry does:

    the pieces are known before the text      they are read from the file, where none of the entry's code runs
    a token costs what it says                every token of a text has a byte or more, so none escapes the draw below
    P does not know the token                 at PLACES secret places a process that has only the tokens before them is
                                              asked for the whole distribution, which must say what was claimed
    nobody foresees the places                they are drawn after the claims, by an HMAC over the file and the claims

An entry that cheats at a share f of all bytes is found with probability 1 − (1 − f)^PLACES by each seed, and then has
no result: at 1 %, by three seeds, in 97 of 100 races. What it gains if it is not found is less than f times 20 bits.
"""

import hashlib
import hmac
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

VERSION = 2
"""Of these rules: what was raced by others is raced again."""
PASSAGE, MANY = 3_000, 20
"""Characters of a passage, and passages of each play."""
PLACES, TWICE = 120, 10
"""Places at which a race is audited, and how many of them are asked again at the end."""
THRESHOLDS: dict[float, dict[float, float]] = {
    60.0: {2.60: 0.0, 2.22: 5.5, 2.16: 9.5, 2.02: 15.0, 1.94: 19.0},
    600.0: {2.40: 0.0, 2.16: 5.5, 2.05: 11.0, 1.95: 15.0, 1.85: 19.0},
}
"""Seconds of processor time -> bits per byte -> points, on a straight line between two of them."""
KINDS: dict[str, dict[float, float]] = {
    "counts": {2.22: 0.0, 2.05: 19.0},
    "recurrent": {2.27: 0.0, 2.18: 19.0},
    "Transformer": {2.88: 0.0, 2.34: 19.0},
}
"""The same in the sprint for an entry that says of which kind it is: from the course's simple entry of that kind to its
good one. The grader cannot see the kind: whoever marks the report confirms it."""
MOST = 19.0
PARTS = ("tokenizer", "model", "optimiser", "loop", "decoder")
PART = 1.0
"""Points for each part of the student's own."""
SLACK, IMPORTS = 1.1, 3.0
"""How much more than its budget an entry may use; and seconds of processor time for what it imports."""
MEASURING, OF_TRAINING = 25.0, 12
"""Processor time for encoding all texts, and for measuring them: so many seconds, and a twelfth of the budget. On a
busy machine the slowest of ours needed 18 of 30 in the sprint, and 19 of 75 in the long distance."""
LARGEST = 1 << 16  # pieces
_ABSENT = frozenset(
    {"ClosedName", "FileNotFoundError", "ImportError", "MissingPackageError", "ModuleNotFoundError", "PermissionError"}
)
_EXACT, _SAME, _MORE = 1e-3, 1e-2, 1e-4  # nats; the last is what a claim may be better by

SENTENCES = {
    "loses-bytes": (
        "Your tokenizer loses bytes: the pieces of the ids, joined, are not the text. Every byte needs a "
        "piece, even one that the training text lacks, and no two texts may have the same ids. A token of no bytes may "
        "not occur in a text."
    ),
    "sum-not-one": (
        "Your probabilities do not sum to 1. log_probabilities must return log_softmax's values, or a mixture "
        "of distributions, for all pieces: look at a row's logsumexp, which should be 0."
    ),
    "sees-the-future": (
        "Your model sees the future: P of a token was higher when the token and what follows could be seen. Row i "
        "may depend on ids[:i] and nothing else. Look at the mask, and whether your rows are shifted by one."
    ),
    "not-repeatable": (
        "Your model answers the same question differently from one call to the next. Is dropout on, or does it learn "
        "or remember something while it is measured?"
    ),
    "out-of-time": (
        "Your training does not stop in time. Compare time.process_time() with its value at the start at "
        "every step, and leave room for what comes after the loop."
    ),
    "slow-to-measure": (
        "Encoding or measuring takes too long. Both have a budget of their own, and happen in other processes than "
        "training: what can be computed beforehand belongs in the file that train returns."
    ),
    "foreign-text": (
        "Your entry opens a text, a package or a part of ours that is not there. Train on the argument `texts`: there "
        "is nothing else to read. A part of ours is there if your code names it openly."
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
    "unreadable": "What your entry returned is not what was asked for.",
}


class Failed(Exception):  # noqa: N818 - becomes a Run
    """fault: a name of SENTENCES; words: of the student's error, if that is the fault."""

    def __init__(self, fault: str, words: str = "") -> None:
        super().__init__(fault, words)
        self.fault, self.words = fault, words


@dataclass(frozen=True)
class Run:
    """One seed of one entry."""

    fault: str = ""
    words: str = ""
    bits: float | None = None
    plays: list[float] = field(default_factory=list)  # the bits of each
    seconds: float = 0.0  # that training took
    sample: str = ""


Ask = Callable[..., list[tuple[Tensor, ...]]]
"""(a method of `asking.Asked`, the entry's file, the arguments of each call) -> what each call returned. Every ask is a
process of its own, in which a call knows nothing of those that follow. Raises Failed."""
PROMPT, WRITTEN = "HAMLET.\nTo be", 300


def judged(
    ask: Ask,
    train: Sequence[str],
    held: Sequence[str],
    seconds: float,
    seed: int,
    secret: bytes,
    count: int = PLACES,
) -> Run:
    """Train an entry, measure it on the passages `held`, audit it at `count` places, and believe nothing. secret: no
    process that runs the entry's code may know it."""
    try:
        ((file,),) = ask("train", None, (list(train), seconds, seed))
        _must(file.dtype == torch.uint8 and file.ndim == 1, "not-a-file")
        (pieces,), (encoded,) = ask("pieces", file, ()), ask("encode", file, (list(held),))
        text = Text(held, *pieces, *encoded)
        rows = text.rows()
        ((claims,),) = ask("measure", file, (rows,))
        bits, plays = text.bits(claims)
        asked = places(text, _code(secret, file, rows, claims), count)
        found = ask("audit", file, *((text.past(one, cut), cut) for one, cut in asked))
        text.audit(claims, asked, [said for (said,) in found])
    except Failed as failed:
        return Run(failed.fault, failed.words)
    try:
        ((sample,),) = ask("write", file, (PROMPT, WRITTEN, seed))
        said, words = sample.to(torch.uint8).numpy().tobytes().decode("utf-8", "replace")[:2_000], ""
    except Failed as failed:
        said, words = "", failed.words
    return Run(words=words, bits=bits, plays=plays, sample=said)


class Text:
    """The passages as an entry's tokens. Raises Failed if they are not what the pieces make of them."""

    def __init__(self, held: Sequence[str], every: Tensor, sizes: Tensor, ids: Tensor, lengths: Tensor) -> None:
        whole = all(one.dtype == torch.int64 and one.ndim == 1 for one in (sizes, ids, lengths))
        _must(whole and every.dtype == torch.uint8 and every.ndim == 1, "unreadable")
        _must(0 < len(sizes) <= LARGEST, "unreadable", f"There may be from 1 to {LARGEST:,} pieces.")
        _must(bool((sizes >= 0).all()) and int(sizes.sum()) == len(every), "unreadable")
        _must(len(lengths) == len(held) and bool((lengths > 0).all()) and int(lengths.sum()) == len(ids), "loses-bytes")
        _must(bool(((ids >= 0) & (ids < len(sizes))).all()), "loses-bytes")
        pieces = [piece.numpy().tobytes() for piece in every.split(sizes.tolist())]
        self.ids, self.many, self.held = ids.split(lengths.tolist()), len(pieces), held
        self.bytes = [sizes[one] for one in self.ids]
        for one, size, passage in zip(self.ids, self.bytes, held, strict=True):
            told = passage.encode()
            _must(int(size.min()) > 0 and int(size.sum()) == len(told), "loses-bytes")
            _must(b"".join(pieces[i] for i in one.tolist()) == told, "loses-bytes")

    def rows(self) -> Tensor:
        """(text, time): each repeated up to the longest, so that no length tells anything of a text."""
        return torch.stack([self.past(number, len(one)) for number, one in enumerate(self.ids)])

    def past(self, number: int, cut: int) -> Tensor:
        """A text's first `cut` tokens, again and again: nothing of what follows."""
        longest = max(map(len, self.ids))
        return self.ids[number][:cut].repeat(longest // cut + 1)[:longest] if cut else torch.zeros(longest).long()

    def bits(self, claims: Tensor) -> tuple[float, list[float]]:
        """Per byte: of all texts, and of every MANY of them."""
        _must(claims.is_floating_point() and claims.shape == (len(self.ids), max(map(len, self.ids))), "unreadable")
        _must(bool((claims <= _EXACT).all()), "sum-not-one")  # NaN, too
        nats = [-float(row[: len(one)].double().sum()) for row, one in zip(claims, self.ids, strict=True)]
        sizes = [len(passage.encode()) for passage in self.held]
        found = [
            sum(nats[first:last]) / math.log(2) / sum(sizes[first:last])
            for first, last in [(0, len(nats)), *((i, i + MANY) for i in range(0, len(nats), MANY))]
        ]
        _must(found[0] <= 8, "worse-than-guessing")
        return found[0], found[1:]

    def audit(self, claims: Tensor, asked: Sequence[tuple[int, int]], found: Sequence[Tensor]) -> None:
        """Raises Failed if the distributions at the places that were asked give anything away."""
        _must(len(found) == len(asked), "unreadable")
        _must(all(one.is_floating_point() and one.shape == (self.many,) for one in found), "unreadable")
        said = torch.stack([one.double() for one in found])
        _must(bool((said.logsumexp(1).abs() < _EXACT).all()), "sum-not-one")
        said = said.log_softmax(1)
        once = len(set(asked))
        for first, again in zip(said[: len(asked) - once], said[once:], strict=True):
            _must(float((first.exp() - again.exp()).abs().sum()) < _SAME, "not-repeatable")
        for (number, cut), row in zip(asked[:once], said, strict=False):
            better = float(claims[number, cut]) - float(row[self.ids[number][cut]])
            _must(better <= _MORE, "sees-the-future")


def places(text: Text, code: bytes, count: int = PLACES) -> list[tuple[int, int]]:
    """(text, token) of bytes that nobody can foresee, anywhere in the passages; the first TWICE of them again at the
    end. Of one text, earlier tokens come first, so that no question tells the answer of a later one."""
    sizes = torch.cat(text.bytes).cumsum(0)
    starts = torch.tensor([0, *map(len, text.ids)]).cumsum(0)
    draws = [int.from_bytes(_code(code, str(number).encode())) % int(sizes[-1]) for number in range(count)]
    tokens = [*dict.fromkeys(torch.searchsorted(sizes, torch.tensor(draws), right=True).tolist())]
    numbers = [int(torch.searchsorted(starts, token, right=True)) - 1 for token in tokens]
    waiting: dict[int, list[int]] = {}
    for number, token in sorted(zip(numbers, tokens, strict=True), reverse=True):
        waiting.setdefault(number, []).append(token - int(starts[number]))
    asked = [(number, waiting[number].pop()) for number in numbers]
    return [*asked, *asked[:TWICE]]


def passages(texts: Sequence[str]) -> list[str]:
    """Evenly spread over each text; none overlaps another, since what is read in one may be remembered in the next."""
    found = []
    for text in texts:
        last, many = max(0, len(text) - PASSAGE), max(1, min(MANY, len(text) // PASSAGE))
        found += [text[start : start + PASSAGE] for start in (last * i // max(1, many - 1) for i in range(many))]
    return found


def limit(what: str, seconds: float) -> float:
    """Processor time for an ask, if training has so many seconds. What the audit takes cannot help a claim."""
    measuring = MEASURING + seconds / OF_TRAINING
    return IMPORTS + {"train": SLACK * seconds, "audit": 3 * measuring}.get(what, measuring)


def fault_behind(kind: str, words: str) -> str:
    """The fault behind an error of the student's code."""
    if kind in _ABSENT:
        return "foreign-text"
    if "must return a dictionary" in words or "weights_only" in words or kind in ("UnpicklingError", "PicklingError"):
        return "not-a-file"
    return "raised"


def worth(bits: float, seconds: float, kind: str = "") -> float:
    """The points for bits per byte: on everybody's scale or, in the sprint, on that of the kind if it is more."""
    own = KINDS.get(kind) if seconds == min(THRESHOLDS) else None
    return max(points(bits, scale) for scale in (THRESHOLDS[seconds], own) if scale)


def points(bits: float, thresholds: Mapping[float, float]) -> float:
    """Between two thresholds, bits per byte -> points, on a straight line; halves."""
    known = sorted(thresholds.items())
    if bits <= known[0][0]:
        return known[0][1]
    for (better, more), (worse, less) in pairwise(known):
        if bits <= worse:
            return round(2 * (more + (less - more) * (bits - better) / (worse - better))) / 2
    return 0.0


def _must(right: bool, fault: str, words: str = "") -> None:
    if not right:
        raise Failed(fault, words)


def _code(key: bytes, *parts: Any) -> bytes:
    """HMAC-SHA256, of bytes and of tensors' bytes."""
    made = hmac.new(key, b"audit of a race\n", hashlib.sha256)
    for part in parts:
        content = part if isinstance(part, bytes) else part.contiguous().numpy().tobytes()
        made.update(hashlib.sha256(content).digest())
    return made.digest()
