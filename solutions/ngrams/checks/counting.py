"""Question 1a: pairs of words counted."""

from collections.abc import Callable

import torch

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.kinds import DIGITS
from autograder.exercise.laws.ngrams import right_where_known
from autograder.exercise.specification import Case
from solutions.ngrams.checks.common import CLOSED, several_digits, text


def _texts(part: str) -> Callable[[Draw], list[Case]]:
    def cases(draw: Draw) -> list[Case]:
        vocab_size = draw.largest + 3
        sentences, bos, eos = text(draw, vocab_size, 4, 5)
        asked = torch.full((vocab_size, vocab_size), part == "words")
        asked[bos] = part == "beginnings"
        asked[:, eos] = part == "ends"
        if part == "beginnings":
            asked[bos] = True
        arguments = (sentences, vocab_size, bos, eos)
        return [Case(label=f"four sentences, {part}", calls=(arguments,), known=(asked,))]

    return cases


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
    digits = several_digits(draw)
    return [
        *(Case(label=label, calls=((t, vocab_size, bos, eos),), known=(everything,)) for label, t in texts.items()),
        Case(label=DIGITS, calls=(digits,), known=(torch.ones(digits[1], digits[1], dtype=torch.bool),)),
    ]


COUNT_BIGRAMS = question(
    "ngrams.count_bigrams",
    minutes=15,
    difficulty="easy",
    returns=("counts",),
    properties=[
        judged("pairs inside the sentences", 1, _texts("words"), right_where_known("counts")),
        judged("how sentences begin: the row of <bos>", 0.75, _texts("beginnings"), right_where_known("counts")),
        judged("how sentences end: the column of <eos>", 0.75, _texts("ends"), right_where_known("counts")),
        judged("repetitions and emptiness", 0.5, _odd_texts, and_inputs_unchanged(right_where_known("counts"))),
    ],
    closed=CLOSED,
    mistakes="""
once-per-sentence: You counted a pair that occurs twice in one sentence only once there. (With tensors of ids,
`counts[a, b] += 1` adds 1 only once, however often the pair occurs in them.)
- zip([bos, *sentence], [*sentence, eos], strict=True) → set(zip([bos, *sentence], [*sentence, eos], strict=True))

eos-forgotten: You never count `<eos>`, so no sentence ends. A model built from these counts cannot stop, and the
probabilities of sentences of all lengths do not sum to 1.
- [*sentence, eos], strict=True → sentence

bos-forgotten: You never count `<bos>`, so no sentence begins. The first word of a sentence is predicted as well; its
context is `<bos>`.
- [bos, *sentence], [*sentence, eos], strict=True → sentence, [*sentence[1:], eos]

both-ends-forgotten: You count neither `<bos>` nor `<eos>`. Treat them like words: one precedes every sentence, the
other follows it.
- [bos, *sentence], [*sentence, eos], strict=True → sentence, sentence[1:]

row-and-column-exchanged: You swapped rows and columns. The row is the context, the first word; the column is the word
that follows.
- before, word] += → word, before] +=

sentences-joined: You counted the sentences as one long text, so the `<eos>` of one is followed by the `<bos>` of the
next. Each sentence is separate: nothing follows `<eos>`, and nothing precedes `<bos>`.
^ sentences = [[word for sentence in sentences for word in (bos, *sentence, eos)]]
- [bos, *sentence], [*sentence, eos], strict=True → sentence, sentence[1:]

one-sentence-of-all: You joined all sentences into one, with one `<bos>` and one `<eos>` around the whole text. Each
sentence has its own: the last word of one is not followed by the first word of the next.
^ sentences = [[word for sentence in sentences for word in sentence]]

equal-sentences-once: You counted a sentence that occurs twice only once. Its pairs occur twice in the text, so count
them twice.
^ sentences = [list(sentence) for sentence in dict.fromkeys(map(tuple, sentences))]

empty-sentence-skipped: You left out an empty sentence. It has no words, but it ends: `<eos>` follows `<bos>` once. A
rule for all sentences needs no `if`.
^ sentences = [sentence for sentence in sentences if sentence]

markers-put-into-the-lists: You added `<bos>` and `<eos>` to the lists that you were given (`insert`, `append`), so the
caller's lists have changed. Make a new list, `[bos, *sentence, eos]`.
- for before, word in zip([bos, *sentence], [*sentence, eos], strict=True):
+ sentence.insert(0, bos)
+     sentence.append(eos)
+     for before, word in zip(sentence, sentence[1:]):

seen-or-not: Your table says only whether a pair occurs. Count how often: add 1 every time, also when several
occurrences are given together as indices (`counts[a, b] += 1` with index tensors adds 1 only once).
- return counts → return counts.clamp(max=1)
""",
)
