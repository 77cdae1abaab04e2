"""Question 2b: the losses of all positions at once."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

LOSS = ("loss", "losses")


def _batch(draw: Draw, lengths: list[int], time: int, label: str) -> Case:
    vocab = draw.largest + 3
    tokens = draw.integers(1, vocab - 1, len(lengths), time)
    for row, length in enumerate(lengths):
        tokens[row, length:] = 0
    return case(label, draw.normal(len(lengths), time, vocab), tokens)


def _full(draw: Draw) -> list[Case]:
    time = draw.largest + 1
    return [_batch(draw, [time, time], time, "two sentences of one length")]


def _padded(draw: Draw) -> list[Case]:
    time = draw.largest + 3
    return [_batch(draw, [time, 2, time - 2], time, "sentences of three lengths")]


def _tiny(draw: Draw) -> list[Case]:
    return [
        _batch(draw, [2], 2, "one prediction"),
        _batch(draw, [4, 1], 4, "a sentence of one token, of which nothing is predicted"),
    ]


def _sure(draw: Draw) -> list[Case]:
    """Token 2 is all but certain everywhere; it follows second, and another one first."""
    time = draw.largest + 1
    made = _batch(draw, [time, time], time, "sure of one token everywhere, and mostly wrong")
    logits, tokens = made.calls[0]
    logits[..., 2] += 200
    tokens[:, 1], tokens[:, 2] = 1, 2
    return [made]


def _nll(logits: Tensor, targets: Tensor) -> Tensor:
    return -torch.log_softmax(logits.double(), -1).gather(-1, targets[..., None])[..., 0]


def _mean(losses: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    losses = torch.where(real, losses, 0.0)
    return losses.sum() / real.sum(), losses


def _next_token_loss(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return _mean(_nll(logits[:, :-1], tokens[:, 1:]), tokens[:, 1:] != 0)


def _unshifted(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return _mean(_nll(logits[:, :-1], tokens[:, :-1]), tokens[:, :-1] != 0)


def _backwards(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return _mean(_nll(logits[:, 1:], tokens[:, :-1]), tokens[:, 1:] != 0)


def _padding_counted(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    losses = _nll(logits[:, :-1], tokens[:, 1:])
    return losses.mean(), losses


def _divided_by_all(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    _, losses = _next_token_loss(logits, tokens)
    return losses.mean(), losses


def _mean_of_sentences(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    _, losses = _next_token_loss(logits, tokens)
    real = (tokens[:, 1:] != 0).sum(1)
    return (losses.sum(1) / real.clamp(min=1)).mean(), losses


def _padding_of_what_was_read(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return _mean(_nll(logits[:, :-1], tokens[:, 1:]), tokens[:, :-1] != 0)


def _summed(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    _, losses = _next_token_loss(logits, tokens)
    return losses.sum(), losses


def _in_bits(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    loss, losses = _next_token_loss(logits, tokens)
    return loss / math.log(2), losses / math.log(2)


def _not_zeroed(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return _next_token_loss(logits, tokens)[0], _nll(logits[:, :-1], tokens[:, 1:])


def _softmax_then(logarithm: Callable[[Tensor], Tensor], logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """-ln of a probability that float32 may have rounded to 0."""
    p = torch.softmax(logits[:, :-1], -1).gather(-1, tokens[:, 1:, None])[..., 0]
    return _mean(-logarithm(p), tokens[:, 1:] != 0)


def _with_a_little(little: float, p: Tensor) -> Tensor:
    return torch.log(p + little)


def _exp_overflows(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    e = torch.exp(logits[:, :-1])
    p = (e / e.sum(-1, keepdim=True)).gather(-1, tokens[:, 1:, None])[..., 0]
    return _mean(-torch.log(p), tokens[:, 1:] != 0)


def _log_sum_exp_overflows(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    z = logits[:, :-1]
    return _mean(z.exp().sum(-1).log() - z.gather(-1, tokens[:, 1:, None])[..., 0], tokens[:, 1:] != 0)


NEXT_TOKEN_LOSS = Exercise(
    name="self_attention.next_token_loss",
    title="All positions at once",
    signature="next_token_loss(logits, tokens)",
    arguments=("logits", "tokens"),
    returns=LOSS,
    minutes=25,
    difficulty="medium",
    reference=_next_token_loss,
    properties=(
        Property(name="one loss per prediction", points=0.25, cases=_full, judge=same_shapes(LOSS)),
        Property(name="without padding: the losses", points=1, cases=_full, judge=same_values(LOSS, [1]), outputs=(1,)),
        Property(name="padding costs nothing", points=1, cases=_padded, judge=same_values(LOSS, [1]), outputs=(1,)),
        Property(name="the mean", points=1, cases=_padded, judge=same_values(LOSS, [0]), outputs=(0,)),
        Property(name="very short sentences", points=0.25, cases=_tiny, judge=same_values(LOSS)),
        Property(name="a very sure model", points=0.5, cases=_sure, judge=same_values(LOSS, [1]), outputs=(1,)),
    ),
    misconceptions=(
        Misconception(
            id="not-shifted",
            sentence=(
                "You compare each position's logits with the token that stands *there*, which the model has just read."
                " They predict the next one: logits[:, t] belong to tokens[:, t + 1]."
            ),
            implementation=_unshifted,
        ),
        Misconception(
            id="shifted-backwards",
            sentence="You shifted the wrong way: the logits meet the token *before*. They predict the next one.",
            implementation=_backwards,
        ),
        Misconception(
            id="padding-counted",
            sentence=(
                "The model is also asked to predict padding (id 0). That is no word: its loss is 0, and it is not"
                " counted in the mean."
            ),
            implementation=_padding_counted,
        ),
        Misconception(
            id="divided-by-all",
            sentence=(
                "The losses are right, but you divided by all places, padding included: the same sentence costs less"
                " when it is padded more. Divide by the number of tokens that are predicted."
            ),
            implementation=_divided_by_all,
        ),
        Misconception(
            id="mean-of-sentences",
            sentence=(
                "You averaged over sentences the mean over tokens, so a token of a short sentence counts more. Add up"
                " all, divide once."
            ),
            implementation=_mean_of_sentences,
        ),
        Misconception(
            id="padding-of-what-was-read",
            sentence=(
                "You look for padding among the tokens that were read. What counts is what is to be *predicted*,"
                " tokens[:, 1:]: after its last word a sentence has nothing left to predict."
            ),
            implementation=_padding_of_what_was_read,
        ),
        Misconception(
            id="padding-not-zeroed",
            sentence=(
                "The mean is right, but the losses that you return are not 0 where padding would have to be predicted."
            ),
            implementation=_not_zeroed,
        ),
        Misconception(
            id="summed",
            sentence="This is the sum of the losses. The mean divides it by the number of tokens that are predicted.",
            implementation=_summed,
        ),
        Misconception(
            id="in-bits",
            sentence="Your losses are in bits, from log2. This course takes the natural logarithm.",
            implementation=_in_bits,
        ),
        Misconception(
            id="logarithm-of-zero",
            sentence=(
                "You take the softmax first and then the logarithm. A very small probability is rounded to 0 on the"
                " way, and its loss is lost: ln 0 is −∞, and ln(0 + a little) says only how little. log_softmax does"
                " both in one step: ln softmax(z)ⱼ = zⱼ − ln Σ exp z."
            ),
            implementation=partial(_softmax_then, torch.log),
            also=tuple(partial(_softmax_then, partial(_with_a_little, 10.0**-n)) for n in range(6, 17)),
        ),
        Misconception(
            id="overflow",
            sentence=(
                "exp overflows: e⁹⁰ is more than a float32 holds. Take log_softmax, or subtract from each row of logits"
                " its largest first."
            ),
            implementation=_exp_overflows,
            also=(_log_sum_exp_overflows,),
        ),
    ),
    closed=("nlmcore.training", "nlmcore.metrics"),
)
