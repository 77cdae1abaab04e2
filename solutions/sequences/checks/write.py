"""Question 3: a decoder that starts from a context vector."""

from autograder.exercise.declare import judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.laws.decoding import same_path, words_follow_from_the_states
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


def _decoder(draw: Draw, every_step: bool, least: int, ends: bool, label: str, e: int = 4) -> Case:
    """A random decoder that generates at least `least` words, all of its steps clearly decided."""
    while True:
        vocab, d = draw.largest + 2 if e == 4 else e, 5
        E, W, U = draw.normal(vocab, e), draw.normal(e, d), draw.normal(d, d) * 0.6
        C, V, context = draw.normal(d, d) * 0.6, draw.normal(d, vocab), draw.normal(d)
        arguments = (context, E, W, U, C, V, 1, 2, least + 3, every_step)
        tokens, states = WRITE.reference(*arguments)
        margin = (states @ V).topk(2).values
        different = len(set(tokens)) >= min(3, least)
        clear = bool((margin[:, 0] - margin[:, 1] > 0.02).all())
        if len(tokens) >= least and clear and different and (tokens[-1] == 2) == ends:
            return case(label, *arguments)


def _initial(draw: Draw) -> list[Case]:
    return [_decoder(draw, False, 3, False, "the context starts the decoder")]


def _every(draw: Draw) -> list[Case]:
    return [
        _decoder(draw, True, 3, False, "the context is an input at every step"),
        _decoder(draw, True, 3, False, EQUAL, e=5),
    ]


def _ends(draw: Draw) -> list[Case]:
    return [_decoder(draw, False, 2, True, "it ends by itself"), _decoder(draw, True, 2, True, "it ends, context fed")]


WRITE = question(
    "sequences.write",
    minutes=35,
    difficulty="hard",
    returns=("tokens", "states"),
    properties=[
        judged("words follow from your own states", 1, _initial, words_follow_from_the_states),
        values("the context as the first state", 1.5, _initial, "states"),
        values("the context at every step", 1.5, _every, "states"),
        judged("where it ends", 2, _ends, same_path("the tokens")),
    ],
    closed=CLOSED,
    mistakes="""
starts-from-zeros: Your decoder starts from a state of zeros, so it knows nothing of the source. Its first state is the
context, h₀ = c.
- = context, [], [] → = torch.zeros_like(context), [], []

reads-bos-again-and-again: The input of your decoder is `bos` at every step. After the first word its input is the word
that it generated last; otherwise it does not know where it is.
- tokens[-1] if tokens else bos → bos

past-the-end: You keep generating after `eos`. It is the last word, and it belongs to the answer.
-  and eos not in tokens →

eos-left-out: Your tokens do not contain `eos`. It is predicted like every other word: append it, with its state, and
then stop.
- return tokens, torch.stack(states)
+ kept = len(tokens) - (tokens[-1] == eos)
+ return tokens[:kept], torch.stack(states[:kept])

bos-included: Your tokens contain `bos`. It is the input before the first word and is never generated.
- return tokens → return [bos, *tokens]

context-among-the-states: Your states include the context h₀. Return the state of each *word*: h₁ and those after it.
- torch.stack(states) → torch.stack([context, *states])

tanh-forgotten: You left out the tanh: without it the state grows from step to step.
- torch.tanh(z) → z

matrix-from-the-left: `U @ h` is not the same as `h @ U`: it sums over the columns of U. In this question vectors are
rows and multiply matrices from the left.
- h @ U → U @ h
- context @ C → C @ context
or
- h @ U → U @ h

state-through-C: You multiplied the state by C. C is for the context, which is the same at every step: c C.
- context @ C → h @ C

every-step-reversed: You have `every_step` the wrong way round: you add the context where it is False, and not where it
is True.
- if every_step → if not every_step

one-word-too-many: Where `eos` does not come, your text has one word too many. Generate at most `longest` words.
- < longest → <= longest

context-always-fed: You add the context at every step, whatever `every_step` is.
- if every_step → if True

context-never-fed: With `every_step`, add the context, c C, at *every* step, not only at the start.
- if every_step → if False
or
- if every_step → if every_step and not tokens
""",
)
