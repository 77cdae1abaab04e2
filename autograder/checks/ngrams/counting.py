"""Questions 1a and 1b: pairs of words counted, and counts turned into probabilities."""

from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, Sentences, count, table, text
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.laws.ngrams import right_where_known, uniform_where_known
from autograder.specification import Case, Exercise, Misconception, Property

COUNTS, PROBABILITIES = ("counts",), ("probabilities",)


def _texts(draw: Draw, part: str) -> list[Case]:
    vocab_size = draw.largest + 3
    sentences, bos, eos = text(draw, vocab_size, 4, 5)
    looked_at = torch.ones(vocab_size, vocab_size, dtype=torch.bool)
    if part == "words":
        looked_at[bos], looked_at[:, eos] = False, False
    elif part == "beginnings":
        looked_at[:] = False
        looked_at[bos] = True
    elif part == "ends":
        looked_at[:] = False
        looked_at[:, eos] = True
    arguments = (sentences, vocab_size, bos, eos)
    return [Case(label=f"four sentences, {part}", calls=(arguments,), known=(looked_at,))]


def _odd_texts(draw: Draw) -> list[Case]:
    vocab_size = draw.largest + 4
    sentences, bos, eos = text(draw, vocab_size, 2, 4)
    word = sentences[1][0]
    again = [sentences[0], [], sentences[0], sentences[1], [word, word, word]]
    everything = torch.ones(vocab_size, vocab_size, dtype=torch.bool)
    return [
        Case(
            label="a sentence twice, an empty one, a word three times over",
            calls=((again, vocab_size, bos, eos),),
            known=(everything,),
        )
    ]


def _once_per_sentence(sentences: Sentences, vocab_size: int, bos: int, eos: int) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.int64)
    for sentence in sentences:
        for a, b in set(pairwise([bos, *sentence, eos])):
            counts[a, b] += 1
    return counts


def _joined(sentences: Sentences, vocab_size: int, bos: int, eos: int) -> Tensor:
    return _pairs([[w for s in sentences for w in (bos, *s, eos)]], vocab_size)


def _pairs(sentences: Sentences, vocab_size: int) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.int64)
    for sentence in sentences:
        for a, b in pairwise(sentence):
            counts[a, b] += 1
    return counts


COUNT_BIGRAMS = Exercise(
    name="ngrams.count_bigrams",
    title="Counting pairs",
    signature="count_bigrams(sentences, vocab_size, bos, eos)",
    arguments=("sentences", "vocab_size", "bos", "eos"),
    returns=COUNTS,
    minutes=15,
    difficulty="easy",
    reference=lambda sentences, vocab_size, bos, eos: count(sentences, vocab_size, bos, eos),
    properties=(
        Property(
            name="pairs inside the sentences",
            points=1.25,
            cases=lambda draw: _texts(draw, "words"),
            judge=right_where_known("counts"),
        ),
        Property(
            name="how sentences begin: the row of <bos>",
            points=0.75,
            cases=lambda draw: _texts(draw, "beginnings"),
            judge=right_where_known("counts"),
        ),
        Property(
            name="how sentences end: the column of <eos>",
            points=0.75,
            cases=lambda draw: _texts(draw, "ends"),
            judge=right_where_known("counts"),
        ),
        Property(name="repetitions and emptiness", points=0.25, cases=_odd_texts, judge=right_where_known("counts")),
    ),
    misconceptions=(
        Misconception(
            id="once-per-sentence",
            sentence=(
                "A pair that comes twice in one sentence was counted once there. (With tensors of ids,"
                " `counts[a, b] += 1` adds 1 once, however often a pair is in them.)"
            ),
            implementation=_once_per_sentence,
        ),
        Misconception(
            id="eos-forgotten",
            sentence=(
                "No sentence ever ends: `<eos>` is counted nowhere. A model made of these counts cannot stop, and the"
                " sentences of all lengths together do not share one probability of 1."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: _pairs([[bos, *s] for s in sentences], vocab_size),
        ),
        Misconception(
            id="bos-forgotten",
            sentence=(
                "No sentence ever begins: `<bos>` is counted nowhere. The first word of a sentence is predicted, too;"
                " its context is `<bos>`."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: _pairs([[*s, eos] for s in sentences], vocab_size),
        ),
        Misconception(
            id="both-ends-forgotten",
            sentence=(
                "Neither `<bos>` nor `<eos>` is counted. They are words like the others: one stands before every"
                " sentence and one behind it."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: _pairs(sentences, vocab_size),
        ),
        Misconception(
            id="row-and-column-exchanged",
            sentence=(
                "Rows and columns have changed places. The row is the context, what comes first; the column is the"
                " word that follows."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: count(sentences, vocab_size, bos, eos).T,
        ),
        Misconception(
            id="sentences-joined",
            sentence=(
                "The sentences were counted as one long text, so the `<eos>` of one is followed by the `<bos>` of the"
                " next. Each sentence stands alone: nothing follows `<eos>`, and nothing comes before `<bos>`."
            ),
            implementation=_joined,
        ),
        Misconception(
            id="seen-or-not",
            sentence=(
                "Your table says only whether a pair occurs. How often it occurs is what counts: add 1 each time, also"
                " when several occurrences are given at once as indices (`counts[a, b] += 1` with index tensors adds 1"
                " only once)."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: count(sentences, vocab_size, bos, eos).clamp(max=1),
        ),
    ),
    closed=REFERENCE_ITSELF,
)


def _counts(draw: Draw) -> list[Case]:
    size = draw.largest + 1
    return [Case(label="every context was seen", calls=((table(draw, size),),))]


def _with_unseen(draw: Draw) -> list[Case]:
    counts = table(draw, draw.largest + 2, unseen=2)
    return [Case(label="two contexts were never seen", calls=((counts,),), known=(counts.sum(1) == 0,))]


def _seen_rows(draw: Draw) -> list[Case]:
    made = []
    for unseen in (0, 1):
        counts = table(draw, draw.largest + 1 + unseen, unseen)
        seen = (counts.sum(1) > 0)[:, None].expand(counts.shape)
        made.append(Case(label=f"{unseen or 'no'} context never seen", calls=((counts,),), known=(seen.clone(),)))
    return made


def _rows(counts: Tensor, unseen: float) -> Tensor:
    total = counts.sum(1, keepdim=True)
    return torch.where(total > 0, counts / total.clamp(min=1), unseen)


CONDITIONAL = Exercise(
    name="ngrams.conditional_probabilities",
    title="From counts to probabilities",
    signature="conditional_probabilities(counts)",
    arguments=("counts",),
    returns=PROBABILITIES,
    minutes=15,
    difficulty="easy",
    reference=lambda counts: _rows(counts, 1.0 / counts.shape[1]),
    properties=(
        Property(name="one probability per pair", points=0.25, cases=_counts, judge=same_shapes(PROBABILITIES)),
        Property(name="the probabilities are right", points=1, cases=_counts, judge=same_values(PROBABILITIES)),
        Property(
            name="contexts that were seen", points=0.75, cases=_seen_rows, judge=right_where_known("probabilities")
        ),
        Property(name="a context never seen", points=1, cases=_with_unseen, judge=uniform_where_known("probabilities")),
    ),
    misconceptions=(
        Misconception(
            id="columns-sum-to-one",
            sentence=(
                "Your columns sum to 1. That is P(the word before | this word), a model that writes backwards. Divide"
                " each *row* by its sum: `counts.sum(1, keepdim=True)`."
            ),
            implementation=lambda counts: _rows(counts.T, 1.0 / counts.shape[1]).T,
        ),
        Misconception(
            id="joint-probability",
            sentence=(
                "You divided by the number of all pairs. That is P(a, w), how probable the pair is. Asked is P(w | a):"
                " divide by how often a was a context."
            ),
            implementation=lambda counts: counts / counts.sum(),
        ),
        Misconception(
            id="unseen-is-zero",
            sentence=(
                "A context that was never seen gives zeros: no word may follow, and the row does not sum to 1. Nothing"
                " is known there, so give every word 1/V."
            ),
            implementation=lambda counts: _rows(counts, 0.0),
        ),
        Misconception(
            id="unseen-is-nan",
            sentence=(
                "A context that was never seen gives NaN: you divided 0 by 0. Nothing is known there, so give every"
                " word 1/V."
            ),
            implementation=lambda counts: counts / counts.sum(1, keepdim=True),
        ),
        Misconception(
            id="softmax-of-counts",
            sentence=(
                "You took a softmax of the counts: it makes scores into probabilities, and a word counted 0 times would"
                " still get some. Counts are not scores: divide them by their sum."
            ),
            implementation=lambda counts: torch.softmax(counts.float(), 1),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
