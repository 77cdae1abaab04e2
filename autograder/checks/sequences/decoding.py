"""Questions 3 and 4: a decoder that starts from a thought vector, and how a translation is counted."""

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.judges import law, same_values
from autograder.laws.decoding import same_path
from autograder.laws.sequences import last_words_follow_from_the_states
from autograder.specification import Case, Exercise, Misconception, Property, case

WRITTEN, PRECISION = ("tokens", "states"), ("precision",)
Weights = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def _write(
    context: Tensor,
    weights: Weights,
    bos: int,
    eos: int,
    longest: int,
    every_step: bool,
    *,
    first: Tensor | None = None,
    feed: bool = True,
    stop: bool = True,
    tanh: bool = True,
) -> tuple[list[int], Tensor]:
    E, W, U, C, V = weights
    h = context if first is None else first
    tokens: list[int] = []
    states: list[Tensor] = []
    last = bos
    while len(tokens) < longest and not (stop and tokens and tokens[-1] == eos):
        z = E[last] @ W + h @ U + (context @ C if every_step else 0.0)
        h = torch.tanh(z) if tanh else z
        tokens.append(int((h @ V).argmax()))
        states.append(h)
        last = tokens[-1] if feed else bos
    return tokens, torch.stack(states)


def write(
    context: Tensor,
    E: Tensor,
    W: Tensor,
    U: Tensor,
    C: Tensor,
    V: Tensor,
    bos: int,
    eos: int,
    longest: int,
    every_step: bool,
) -> tuple[list[int], Tensor]:
    return _write(context, (E, W, U, C, V), bos, eos, longest, every_step)


def _decoder(draw: Draw, every_step: bool, least: int, ends: bool, label: str) -> Case:
    """A random decoder that writes at least `least` words, all of its steps clearly decided."""
    while True:
        vocab, d, e = draw.largest + 3, 5, 4
        E, W, U = draw.normal(vocab, e), draw.normal(e, d), draw.normal(d, d) * 0.6
        C, V, context = draw.normal(d, d) * 0.6, draw.normal(d, vocab), draw.normal(d)
        longest = least + 3
        tokens, states = write(context, E, W, U, C, V, 1, 2, longest, every_step)
        margin = (states @ V).topk(2).values
        different = len(set(tokens)) >= min(3, least)
        clear = bool((margin[:, 0] - margin[:, 1] > 0.02).all())
        if len(tokens) >= least and clear and different and (tokens[-1] == 2) == ends:
            return case(label, context, E, W, U, C, V, 1, 2, longest, every_step)


def _initial(draw: Draw) -> list[Case]:
    return [_decoder(draw, False, 3, False, "the context starts the decoder")]


def _every(draw: Draw) -> list[Case]:
    return [_decoder(draw, True, 3, False, "the context is fed at every step")]


def _ends(draw: Draw) -> list[Case]:
    return [_decoder(draw, False, 2, True, "it ends by itself"), _decoder(draw, True, 2, True, "it ends, context fed")]


def _from_zeros(context: Tensor, *given: object) -> tuple[list[int], Tensor]:
    *weights, bos, eos, longest, every_step = given
    return _write(context, tuple(weights), bos, eos, longest, every_step, first=torch.zeros_like(context))  # type: ignore[arg-type]


def _always_bos(context: Tensor, *given: object) -> tuple[list[int], Tensor]:
    *weights, bos, eos, longest, every_step = given
    return _write(context, tuple(weights), bos, eos, longest, every_step, feed=False)  # type: ignore[arg-type]


def _past_the_end(context: Tensor, *given: object) -> tuple[list[int], Tensor]:
    *weights, bos, eos, longest, every_step = given
    return _write(context, tuple(weights), bos, eos, longest, every_step, stop=False)  # type: ignore[arg-type]


def _without_tanh(context: Tensor, *given: object) -> tuple[list[int], Tensor]:
    *weights, bos, eos, longest, every_step = given
    return _write(context, tuple(weights), bos, eos, longest, every_step, tanh=False)  # type: ignore[arg-type]


def _fed_always(context: Tensor, *given: object) -> tuple[list[int], Tensor]:
    *weights, bos, eos, longest, _ = given
    return _write(context, tuple(weights), bos, eos, longest, True)  # type: ignore[arg-type]


def _fed_never(context: Tensor, *given: object) -> tuple[list[int], Tensor]:
    *weights, bos, eos, longest, _ = given
    return _write(context, tuple(weights), bos, eos, longest, False)  # type: ignore[arg-type]


WRITE = Exercise(
    name="sequences.write",
    title="From a thought to words",
    signature="write(context, E, W, U, C, V, bos, eos, longest, every_step)",
    arguments=("context", "E", "W", "U", "C", "V", "bos", "eos", "longest", "every_step"),
    returns=WRITTEN,
    minutes=35,
    difficulty="hard",
    reference=write,
    properties=(
        Property(
            name="words follow from your own states",
            points=1,
            cases=_initial,
            judge=law(last_words_follow_from_the_states),
        ),
        Property(name="the context as the first state", points=1.5, cases=_initial, judge=same_values(WRITTEN, [1])),
        Property(name="the context at every step", points=1.5, cases=_every, judge=same_values(WRITTEN, [1])),
        Property(name="where it ends", points=2, cases=_ends, judge=same_path("the tokens")),
    ),
    misconceptions=(
        Misconception(
            id="starts-from-zeros",
            sentence=(
                "Your decoder begins with a state of zeros: it does not know what was read. Its first state is the"
                " context, h₀ = c."
            ),
            implementation=_from_zeros,
        ),
        Misconception(
            id="reads-bos-again-and-again",
            sentence=(
                "At every step your decoder reads `bos`. After the first word it reads what it has written last; else"
                " it does not know where it is."
            ),
            implementation=_always_bos,
        ),
        Misconception(
            id="past-the-end",
            sentence="You go on after `eos`. It is the last word, and it is part of the answer.",
            implementation=_past_the_end,
        ),
        Misconception(
            id="tanh-forgotten",
            sentence="The tanh is missing: without it the state grows from step to step.",
            implementation=_without_tanh,
        ),
        Misconception(
            id="context-always-fed",
            sentence="You feed the context at every step, whatever `every_step` says.",
            implementation=_fed_always,
        ),
        Misconception(
            id="context-never-fed",
            sentence="With `every_step` the context is to be added, c C, at *every* step; yours only starts from it.",
            implementation=_fed_never,
        ),
    ),
    closed=("nlmcore.seq2seq",),
)


# --- counting ---------------------------------------------------------------------------------------------


def _grams(words: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def clipped_precision(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _grams(hypothesis, n), _grams(reference, n)
    total = sum(ours.values())
    return sum((ours & theirs).values()) / total if total else 0.0


def _pair(draw: Draw) -> tuple[list[int], list[int]]:
    reference = draw.integers(3, 6, 8 + draw.largest).tolist()
    hypothesis = reference[1:-2]
    hypothesis[draw.integer(1, 3)] = 9
    return [*hypothesis, hypothesis[0], hypothesis[0], hypothesis[0]], reference


def _words(draw: Draw) -> list[Case]:
    made = []
    for _ in range(2):
        hypothesis, reference = _pair(draw)
        made.append(case("single words", hypothesis, reference, 1))
    return made


def _pairs(draw: Draw) -> list[Case]:
    hypothesis, reference = _pair(draw)
    return [case("pairs of words", hypothesis, reference, 2), case("three words", *_pair(draw), 3)]


def _repeats(draw: Draw) -> list[Case]:
    return [
        case("the same word again and again", [4] * 6, [4, 5, 4, 6, 7, 8], 1),
        case("shorter than n", [4, 5], [4, 5, 6], 3),
        case("a perfect beginning, too short", [3, 4, 5], [3, 4, 5, 6, 7, 8, 9], 2),
    ]


def _unclipped(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _grams(hypothesis, n), _grams(reference, n)
    total = sum(ours.values())
    return sum(count for gram, count in ours.items() if gram in theirs) / total if total else 0.0


def _recall(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _grams(hypothesis, n), _grams(reference, n)
    return sum((ours & theirs).values()) / max(1, sum(theirs.values()))


def _kinds(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _grams(hypothesis, n), _grams(reference, n)
    return len(ours.keys() & theirs.keys()) / max(1, len(ours))


def _over_words(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _grams(hypothesis, n), _grams(reference, n)
    return sum((ours & theirs).values()) / len(hypothesis)


CLIPPED_PRECISION = Exercise(
    name="sequences.clipped_precision",
    title="The heart of BLEU",
    signature="clipped_precision(hypothesis, reference, n)",
    arguments=("hypothesis", "reference", "n"),
    returns=PRECISION,
    minutes=20,
    difficulty="medium",
    reference=clipped_precision,
    properties=(
        Property(name="single words", points=1, cases=_words, judge=same_values(PRECISION)),
        Property(name="groups of words", points=1, cases=_pairs, judge=same_values(PRECISION)),
        Property(name="repetitions and short texts", points=1, cases=_repeats, judge=same_values(PRECISION)),
    ),
    misconceptions=(
        Misconception(
            id="not-clipped",
            sentence=(
                "A word that comes six times counts six times, although the reference has it twice: “the the the the”"
                " would be perfect. Each group counts at most as often as the reference has it."
            ),
            implementation=_unclipped,
        ),
        Misconception(
            id="recall",
            sentence=(
                "You divided by the groups of the *reference*: that is recall. Precision asks which share of what was"
                " *written* is right."
            ),
            implementation=_recall,
        ),
        Misconception(
            id="kinds-counted-once",
            sentence="You counted *different* groups. A group that was rightly written twice counts twice.",
            implementation=_kinds,
        ),
        Misconception(
            id="divided-by-words",
            sentence="You divided by the number of words. There are fewer groups than words: length − n + 1.",
            implementation=_over_words,
        ),
    ),
    closed=("nlmcore.metrics", "sacrebleu"),
)
