"""Questions 1a to 1c: what the decoder reads and must say, sources backwards, and the last state that is real."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.judges import inputs_unchanged, same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

SHIFTED, REVERSED, LAST = ("inputs", "outputs"), ("reversed",), ("states",)
SEQ2SEQ = ("nlmcore.seq2seq",)


def _sentences(draw: Draw, lengths: Sequence[int]) -> list[list[int]]:
    return [draw.integers(3, 9 + draw.largest, length).tolist() for length in lengths]


def _filled(rows: list[list[int]]) -> Tensor:
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def teacher_forcing(targets: list[list[int]], bos: int, eos: int) -> tuple[Tensor, Tensor]:
    return _filled([[bos, *t] for t in targets]), _filled([[*t, eos] for t in targets])


def _one_length(draw: Draw) -> list[Case]:
    return [case("targets of one length", _sentences(draw, [3, 3]), 1, 2)]


def _many_lengths(draw: Draw) -> list[Case]:
    return [case("targets of several lengths", _sentences(draw, [2, 4, 1]), 1, 2)]


def _short(draw: Draw) -> list[Case]:
    return [
        case("an empty target among others", _sentences(draw, [2, 0]), 1, 2),
        case("one target of one word", _sentences(draw, [1]), 2, 1),
    ]


def _eos_everywhere(targets: list[list[int]], bos: int, eos: int) -> tuple[Tensor, Tensor]:
    return _filled([[bos, *t, eos] for t in targets]), _filled([[*t, eos, 0] for t in targets])


def _filled_in_front(targets: list[list[int]], bos: int, eos: int) -> tuple[Tensor, Tensor]:
    longest = max(len(t) for t in targets) + 1

    def front(rows: list[list[int]]) -> Tensor:
        return torch.tensor([[*[0] * (longest - len(row)), *row] for row in rows])

    return front([[bos, *t] for t in targets]), front([[*t, eos] for t in targets])


def _eos_at_the_end(targets: list[list[int]], bos: int, eos: int) -> tuple[Tensor, Tensor]:
    """<eos> behind the padding."""
    inputs, outputs = teacher_forcing(targets, bos, eos)
    outputs = torch.where(outputs == eos, 0, outputs)
    outputs[:, -1] = eos
    return inputs, outputs


TEACHER_FORCING = Exercise(
    name="sequences.teacher_forcing",
    title="What it reads, what it must say",
    signature="teacher_forcing(targets, bos, eos)",
    arguments=("targets", "bos", "eos"),
    returns=SHIFTED,
    minutes=15,
    difficulty="easy",
    reference=teacher_forcing,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_one_length, judge=same_shapes(SHIFTED)),
        Property(name="what it reads", points=1, cases=_many_lengths, judge=same_values(SHIFTED, [0]), outputs=(0,)),
        Property(name="what it must say", points=1, cases=_many_lengths, judge=same_values(SHIFTED, [1]), outputs=(1,)),
        Property(name="short targets", points=0.75, cases=_short, judge=same_values(SHIFTED)),
    ),
    misconceptions=(
        Misconception(
            id="not-shifted",
            sentence=(
                "Inputs and outputs are the same: at each step the decoder reads the very word that it should say. It"
                " should have read the one *before*: put `bos` in front of the inputs, `eos` behind the outputs."
            ),
            implementation=lambda targets, bos, eos: (
                _filled([[*t, eos] for t in targets]),
                _filled([[*t, eos] for t in targets]),
            ),
        ),
        Misconception(
            id="exchanged",
            sentence="Inputs and outputs have changed places. `bos` is read, never said; `eos` is said, never read.",
            implementation=lambda targets, bos, eos: teacher_forcing(targets, bos, eos)[::-1],
        ),
        Misconception(
            id="eos-is-read",
            sentence=(
                "The decoder also reads `eos`. After it nothing is to be said, so it need not be read: inputs and"
                " outputs have one place more than the target, not two."
            ),
            implementation=_eos_everywhere,
        ),
        Misconception(
            id="filled-in-front",
            sentence="The padding stands in front. Here it comes behind the words.",
            implementation=_filled_in_front,
        ),
        Misconception(
            id="eos-behind-the-padding",
            sentence=(
                "`eos` stands behind the padding. It comes right after the last word: that is where the decoder has to"
                " stop."
            ),
            implementation=_eos_at_the_end,
        ),
    ),
    closed=SEQ2SEQ,
)


# --- backwards --------------------------------------------------------------------------------------------


def _padded(draw: Draw, lengths: list[int], room: int, label: str) -> Case:
    tokens = draw.integers(3, 99, len(lengths), room)
    for row, length in enumerate(lengths):
        tokens[row, length:] = 0
    return case(label, tokens, torch.tensor(lengths))


def reverse(tokens: Tensor, lengths: Tensor) -> Tensor:
    place = torch.arange(tokens.shape[1])
    wanted = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    return tokens.gather(1, wanted)


def _full(draw: Draw) -> list[Case]:
    return [_padded(draw, [4, 4], 4, "no padding")]


def _some(draw: Draw) -> list[Case]:
    room = draw.largest + 2
    return [_padded(draw, [room, 2, 3], room, "several lengths")]


def _few(draw: Draw) -> list[Case]:
    return [_padded(draw, [1, 3], 5, "more room than the longest needs"), _padded(draw, [1], 1, "one word")]


def _from_the_right(tokens: Tensor, lengths: Tensor) -> Tensor:
    return tokens.flip(1)


def _off_by_one(tokens: Tensor, lengths: Tensor) -> Tensor:
    place = torch.arange(tokens.shape[1])
    wanted = torch.where(place < lengths[:, None], lengths[:, None] - place, place).clamp(max=tokens.shape[1] - 1)
    return tokens.gather(1, wanted)


def _by_the_longest(tokens: Tensor, lengths: Tensor) -> Tensor:
    longest = int(lengths.max())
    return torch.cat([tokens[:, :longest].flip(1), tokens[:, longest:]], 1)


REVERSE = Exercise(
    name="sequences.reverse",
    title="Sources backwards",
    signature="reverse(tokens, lengths)",
    arguments=("tokens", "lengths"),
    returns=REVERSED,
    minutes=15,
    difficulty="easy",
    reference=reverse,
    properties=(
        Property(name="without padding", points=0.5, cases=_full, judge=same_values(REVERSED)),
        Property(name="the padding stays behind", points=1.5, cases=_some, judge=same_values(REVERSED)),
        Property(name="more room, one word", points=0.5, cases=_few, judge=same_values(REVERSED)),
        Property(name="the caller's tokens are left alone", points=0.5, cases=_some, judge=inputs_unchanged),
    ),
    misconceptions=(
        Misconception(
            id="padding-in-front",
            sentence=(
                "You turned the whole row around, and the padding is in front. Only the words change their order: row"
                " by row, up to its length."
            ),
            implementation=_from_the_right,
        ),
        Misconception(
            id="by-the-longest",
            sentence=(
                "You turned all rows around by the length of the *longest* one, so shorter ones begin with padding."
                " Each row has its own length."
            ),
            implementation=_by_the_longest,
        ),
        Misconception(
            id="off-by-one",
            sentence="You are off by one: the first place gets the word at place length − 1, since places begin at 0.",
            implementation=_off_by_one,
        ),
        Misconception(
            id="nothing-reversed",
            sentence="Nothing has changed its place: these are the tokens as they came.",
            implementation=lambda tokens, lengths: tokens.clone(),
        ),
    ),
    closed=SEQ2SEQ,
)


# --- the last state ---------------------------------------------------------------------------------------


def _states(draw: Draw) -> list[Case]:
    time, d = draw.sizes(2)
    return [case("several lengths", draw.normal(3, time + 2, d), torch.tensor([time + 2, 1, time]))]


def _one_state(draw: Draw) -> list[Case]:
    time, d = draw.sizes(2)
    return [
        case("one sentence", draw.normal(1, time + 1, d), torch.tensor([time])),
        case("no padding, float64", draw.normal(2, time, d, dtype=torch.float64), torch.tensor([time, time])),
    ]


def _last(states: Tensor, lengths: Tensor) -> Tensor:
    return states[torch.arange(len(states)), lengths - 1]


def _real(states: Tensor, lengths: Tensor) -> Tensor:
    return (torch.arange(states.shape[1]) < lengths[:, None])[..., None]


LAST_STATES = Exercise(
    name="sequences.last_states",
    title="The thought vector",
    signature="last_states(states, lengths)",
    arguments=("states", "lengths"),
    returns=LAST,
    minutes=10,
    difficulty="easy",
    reference=_last,
    properties=(
        Property(name="one vector per sentence", points=0.2, cases=_states, judge=same_shapes(LAST)),
        Property(name="sentences of several lengths", points=1.2, cases=_states, judge=same_values(LAST)),
        Property(name="one sentence, no padding", points=0.6, cases=_one_state, judge=same_values(LAST)),
    ),
    misconceptions=(
        Misconception(
            id="state-of-the-padding",
            sentence=(
                "You took the last column. For shorter sentences that is a state after *padding*, of which the"
                " sentence's own state is several steps away. Take the one at length − 1."
            ),
            implementation=lambda states, lengths: states[:, -1],
        ),
        Misconception(
            id="one-too-far",
            sentence="You took the state at `lengths`, one past the last word: places begin at 0.",
            implementation=lambda states, lengths: states[
                torch.arange(len(states)), lengths.clamp(max=states.shape[1] - 1)
            ],
        ),
        Misconception(
            id="mean",
            sentence="That is the mean of the states. It is a reasonable summary, but asked is the last state alone.",
            implementation=lambda states, lengths: (states * _real(states, lengths)).sum(1) / lengths[:, None],
        ),
        Misconception(
            id="first",
            sentence="You took the first state: it has seen one word. The last one has seen them all.",
            implementation=lambda states, lengths: states[:, 0],
        ),
    ),
    closed=SEQ2SEQ,
)
