"""Question 3: a decoder that starts from a thought vector."""

import math
from typing import Any

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.laws.decoding import same_path
from autograder.exercise.laws.sequences import words_follow_from_the_states
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

WRITTEN = ("tokens", "states")
Written = tuple[list[int], Tensor]


def _write(
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
    *,
    first: Tensor | None = None,
    feed: bool = True,
    stop: bool = True,
    tanh: bool = True,
    state_through: bool = False,
    fed: float = math.inf,
) -> Written:
    h = context if first is None else first
    tokens: list[int] = []
    states: list[Tensor] = []
    last = bos
    while len(tokens) < longest and not (stop and tokens and tokens[-1] == eos):
        z = E[last] @ W + h @ U + ((h if state_through else context) @ C if every_step and len(states) < fed else 0.0)
        h = torch.tanh(z) if tanh else z
        tokens.append(int((h @ V).argmax()))
        states.append(h)
        last = tokens[-1] if feed else bos
    return tokens, torch.stack(states)


def _decoder(draw: Draw, every_step: bool, least: int, ends: bool, label: str) -> Case:
    """A random decoder that writes at least `least` words, all of its steps clearly decided."""
    while True:
        vocab, d, e = draw.largest + 2, 5, 4
        E, W, U = draw.normal(vocab, e), draw.normal(e, d), draw.normal(d, d) * 0.6
        C, V, context = draw.normal(d, d) * 0.6, draw.normal(d, vocab), draw.normal(d)
        longest = least + 3
        tokens, states = _write(context, E, W, U, C, V, 1, 2, longest, every_step)
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


def _from_zeros(context: Tensor, *given: Any) -> Written:
    return _write(context, *given, first=torch.zeros_like(context))


def _always_bos(*given: Any) -> Written:
    return _write(*given, feed=False)


def _past_the_end(*given: Any) -> Written:
    return _write(*given, stop=False)


def _without_eos(*given: Any) -> Written:
    tokens, states = _write(*given)
    kept = len(tokens) - (tokens[-1] == given[7])
    return tokens[:kept], states[:kept]


def _with_bos(*given: Any) -> Written:
    tokens, states = _write(*given)
    return [given[6], *tokens], states


def _with_the_context(context: Tensor, *given: Any) -> Written:
    tokens, states = _write(context, *given)
    return tokens, torch.cat([context[None], states])


def _without_tanh(*given: Any) -> Written:
    return _write(*given, tanh=False)


def _turned_over(context: Tensor, E: Tensor, W: Tensor, U: Tensor, C: Tensor, *given: Any) -> Written:
    return _write(context, E, W, U.T, C.T, *given)


def _turned_over_alone(context: Tensor, E: Tensor, W: Tensor, U: Tensor, *given: Any) -> Written:
    return _write(context, E, W, U.T, *given)


def _state_through_c(*given: Any) -> Written:
    return _write(*given, state_through=True)


def _fed_always(*given: Any) -> Written:
    return _write(*(*given[:-1], True))


def _fed_never(*given: Any) -> Written:
    return _write(*(*given[:-1], False))


def _fed_once(*given: Any) -> Written:
    return _write(*given, fed=1)


WRITE = Exercise(
    name="sequences.write",
    title="From a thought to words",
    signature="write(context, E, W, U, C, V, bos, eos, longest, every_step)",
    arguments=("context", "E", "W", "U", "C", "V", "bos", "eos", "longest", "every_step"),
    returns=WRITTEN,
    minutes=35,
    difficulty="hard",
    reference=lambda *given: _write(*given),
    properties=(
        Property(
            name="words follow from your own states", points=1, cases=_initial, judge=words_follow_from_the_states
        ),
        Property(
            name="the context as the first state",
            points=1.5,
            cases=_initial,
            judge=same_values(WRITTEN, [1]),
            outputs=(1,),
        ),
        Property(
            name="the context at every step", points=1.5, cases=_every, judge=same_values(WRITTEN, [1]), outputs=(1,)
        ),
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
            id="eos-left-out",
            sentence=(
                "`eos` is not in your tokens. It is predicted like every other word: append it, with its state, and"
                " then stop."
            ),
            implementation=_without_eos,
        ),
        Misconception(
            id="bos-included",
            sentence="`bos` is in your tokens. It is read before the first word and never written.",
            implementation=_with_bos,
        ),
        Misconception(
            id="context-among-the-states",
            sentence="The context h₀ is among your states. Return the state of each *word*, h₁ and those after it.",
            implementation=_with_the_context,
        ),
        Misconception(
            id="tanh-forgotten",
            sentence="The tanh is missing: without it the state grows from step to step.",
            implementation=_without_tanh,
        ),
        Misconception(
            id="matrix-from-the-left",
            sentence=(
                "`U @ h` is another product than `h @ U`: it sums over the columns of U. In this question vectors are"
                " rows and stand on the left of the matrix."
            ),
            implementation=_turned_over,
            also=(_turned_over_alone,),
        ),
        Misconception(
            id="state-through-C",
            sentence="You multiplied the state with C. C is for the context, which is the same at every step: c C.",
            implementation=_state_through_c,
        ),
        Misconception(
            id="context-always-fed",
            sentence="You feed the context at every step, whatever `every_step` says.",
            implementation=_fed_always,
        ),
        Misconception(
            id="context-never-fed",
            sentence="With `every_step` the context, c C, is to be added at *every* step, not in the beginning alone.",
            implementation=_fed_never,
            also=(_fed_once,),
        ),
    ),
    closed=("nlmcore.seq2seq",),
)
