"""Questions 2a and 2b: who may look how far, and the losses of all positions at once."""

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

MASK, LOSS = ("mask",), ("loss", "losses")


def _window(time: int, window: int) -> Tensor:
    position = torch.arange(time)
    back = position[:, None] - position[None, :]
    return (back >= 0) & (back < window)


def _back(time: int) -> Tensor:
    position = torch.arange(time)
    return position[:, None] - position[None, :]


def _short_windows(draw: Draw) -> list[Case]:
    return [case("a window of 2", draw.largest + 2, 2), case("a window of 3", draw.largest + 3, 3)]


def _other_windows(draw: Draw) -> list[Case]:
    return [
        case("a window of 1: oneself", draw.largest + 1, 1),
        case("a window longer than the text", draw.largest, draw.largest + 3),
        case("one position", 1, 2),
    ]


WINDOW_MASK = Exercise(
    name="self_attention.window_mask",
    title="Not ahead, and not too far back",
    signature="window_mask(time, window)",
    arguments=("time", "window"),
    returns=MASK,
    minutes=10,
    difficulty="easy",
    reference=_window,
    properties=(
        Property(name="a boolean mask", points=0.2, cases=_short_windows, judge=same_shapes(MASK, boolean=True)),
        Property(name="short windows", points=1, cases=_short_windows, judge=same_values(MASK)),
        Property(name="a window of one, and a long one", points=0.8, cases=_other_windows, judge=same_values(MASK)),
    ),
    misconceptions=(
        Misconception(
            id="one-too-far",
            sentence=("Your window is one word too long: a window of w holds the word itself and the w − 1 before it."),
            implementation=lambda time, window: (_back(time) >= 0) & (_back(time) <= window),
        ),
        Misconception(
            id="both-sides",
            sentence="Your window reaches into the future, too. Queries look back only: key ≤ query.",
            implementation=lambda time, window: _back(time).abs() < window,
        ),
        Misconception(
            id="true-means-hidden",
            sentence="Your mask is the wrong way round. True = may attend.",
            implementation=lambda time, window: ~_window(time, window),
        ),
        Misconception(
            id="rows-and-columns-exchanged",
            sentence="Rows and columns have changed places: a row is a query, and looks at keys to its left.",
            implementation=lambda time, window: _window(time, window).T,
        ),
        Misconception(
            id="window-ignored",
            sentence="The past is open without limit: the plain causal mask. Keys `window` or more back are hidden.",
            implementation=lambda time, window: _back(time) >= 0,
        ),
    ),
    closed=("nlmcore.attention",),
)


# --- all positions at once --------------------------------------------------------------------------------


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
        Property(
            name="without padding: the losses", points=1.25, cases=_full, judge=same_values(LOSS, [1]), outputs=(1,)
        ),
        Property(name="padding costs nothing", points=1, cases=_padded, judge=same_values(LOSS, [1]), outputs=(1,)),
        Property(name="the mean", points=1, cases=_padded, judge=same_values(LOSS, [0]), outputs=(0,)),
        Property(name="very short sentences", points=0.5, cases=_tiny, judge=same_values(LOSS)),
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
    ),
    closed=("nlmcore.training", "nlmcore.metrics"),
)
