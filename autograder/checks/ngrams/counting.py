"""Question 1a: pairs of words counted."""

from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, Sentences, count, text
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.laws.ngrams import right_where_known
from autograder.exercise.specification import Case, Exercise, Misconception, Property

COUNTS = ("counts",)


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
    everything = torch.ones(vocab_size, vocab_size, dtype=torch.bool)
    texts = {
        "a sentence twice": [list(sentences[0]), sentences[1], list(sentences[0])],
        "an empty sentence": [sentences[0], [], sentences[1]],
        "a word three times over": [[word, word, word], sentences[0]],
    }
    return [
        Case(label=label, calls=((made, vocab_size, bos, eos),), known=(everything,)) for label, made in texts.items()
    ]


def _once_per_sentence(sentences: Sentences, vocab_size: int, bos: int, eos: int) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.int64)
    for sentence in sentences:
        for a, b in set(pairwise([bos, *sentence, eos])):
            counts[a, b] += 1
    return counts


def _joined(sentences: Sentences, vocab_size: int, bos: int, eos: int) -> Tensor:
    return _pairs([[w for s in sentences for w in (bos, *s, eos)]], vocab_size)


def _one_sentence_of_all(sentences: Sentences, vocab_size: int, bos: int, eos: int) -> Tensor:
    return count([[w for s in sentences for w in s]], vocab_size, bos, eos)


def _put_into_the_lists(sentences: Sentences, vocab_size: int, bos: int, eos: int) -> Tensor:
    for sentence in sentences:
        sentence.insert(0, bos)
        sentence.append(eos)
    return _pairs(sentences, vocab_size)


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
            points=1,
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
        Property(
            name="repetitions and emptiness",
            points=0.5,
            cases=_odd_texts,
            judge=and_inputs_unchanged(right_where_known("counts")),
        ),
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
            id="one-sentence-of-all",
            sentence=(
                "All sentences were put together into one, with one `<bos>` and one `<eos>` around the whole text. Each"
                " sentence has its own: the last word of one is not followed by the first of the next."
            ),
            implementation=_one_sentence_of_all,
        ),
        Misconception(
            id="equal-sentences-once",
            sentence=(
                "A sentence that comes twice was counted once. Its pairs stand in the text twice, so they count twice."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: count(
                [list(s) for s in dict.fromkeys(map(tuple, sentences))], vocab_size, bos, eos
            ),
        ),
        Misconception(
            id="empty-sentence-skipped",
            sentence=(
                "An empty sentence was left out. Nothing is in it, but it ends: `<eos>` follows `<bos>` once. A rule"
                " for all sentences alike needs no `if`."
            ),
            implementation=lambda sentences, vocab_size, bos, eos: count(
                [s for s in sentences if s], vocab_size, bos, eos
            ),
        ),
        Misconception(
            id="markers-put-into-the-lists",
            sentence=(
                "You put `<bos>` and `<eos>` into the very lists that you were given (`insert`, `append`): whoever uses"
                " them next finds them there. Make a new list, `[bos, *sentence, eos]`."
            ),
            implementation=_put_into_the_lists,
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
