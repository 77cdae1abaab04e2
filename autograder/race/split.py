"""Which plays are held out. At home they are the corpus's test plays, which everybody has. For marks, other plays are
drawn from the course's secret: nobody can prepare for them, and a notebook has no room for all.

    home     trains on the 36 works of `train`, measured on Twelfth Night, Henry V and Macbeth
    marks    one comedy, one history and one tragedy are drawn and measured on, three more are drawn and left aside, so
             that as much text as at home remains to train on

Plays differ: Kneser–Ney needs from 2.1 to 2.3 bits for a byte of them. So the bits on other plays are multiplied by
(Kneser–Ney at home) / (Kneser–Ney there), and thresholds stay what they are on the page.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.race import rules

GENRES = ("comedy", "history", "tragedy")
INCOMPLETE = ("Cymbeline",)


@dataclass(frozen=True)
class Split:
    train: tuple[str, ...]
    held: tuple[str, ...]  # passages
    titles: tuple[str, ...]  # the plays that they come from

    @property
    def name(self) -> str:
        """Changes with the texts."""
        return hashlib.sha256("\0".join((*self.train, *self.held)).encode()).hexdigest()[:12]


def at_home() -> Split:
    from nlmcore.corpora import load

    corpus = load("shakespeare")
    titles = tuple(document.title for document in corpus.splits["test"])
    return Split(tuple(corpus.texts("train")), tuple(rules.passages(corpus.texts("test"))), titles)


def for_marks(secret: bytes) -> Split:
    from autograder.grading.seeds import keyed  # stays with the instructor, while students get this file
    from nlmcore.corpora import load

    works = [work for part in load("shakespeare").splits.values() for work in part]
    held, aside = [], []
    for genre in GENRES:
        plays = [work for work in works if work.label == genre and work.title not in INCOMPLETE]
        plays.sort(key=lambda work: keyed(secret, "race", work.title))
        held.append(plays[0])
        aside.append(plays[1])
    train = tuple(work.text for work in works if work not in held and work not in aside)
    return Split(train, tuple(rules.passages([w.text for w in held])), tuple(w.title for w in held))


def from_texts(texts: Sequence[str]) -> Split:
    """Other texts of the instructor's own, after training as at home."""
    return Split(at_home().train, tuple(rules.passages(texts)), ("your own texts",))


def kneser_ney(split: Split) -> float:
    """Bits per byte of Kneser–Ney over byte pairs: about three seconds of processor time."""
    import torch

    from nlmcore.ngram import NGramLM
    from nlmcore.tokens import BPETokenizer

    tokens = BPETokenizer.train(split.train, 1024)
    model = NGramLM(4, tokens.vocab_size).fit([tokens.encode(text) for text in split.train])
    bits = 0.0
    for text in split.held:
        bits -= float(model.log_probabilities(torch.tensor([tokens.encode(text)])).double().sum()) / math.log(2)
    return bits / sum(len(text.encode()) for text in split.held)
