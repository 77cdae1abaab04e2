"""Questions 2a to 2c: one step of a beam, the whole search, and what length has to do with it."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.decoding.common import REFERENCE_ITSELF, greedy, model
from autograder.draw import Draw
from autograder.judges import law, same_shapes, same_values
from autograder.laws.decoding import same_path, scores_its_own_path
from autograder.specification import Case, Exercise, Misconception, Property, case

STEP, FOUND, BEST = ("scores", "parents", "tokens"), ("tokens", "log_prob"), ("scores", "best")
Three = tuple[Tensor, Tensor, Tensor]


def _step(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    return _best_of(scores[:, None] + log_probs, beam)


def _best_of(every: Tensor, beam: int) -> Three:
    best, places = every.reshape(-1).topk(beam)
    return best, places // every.shape[1], places % every.shape[1]


def _beams(draw: Draw, open_: int, size: int, beam: int, label: str) -> Case:
    """A step in which the best extensions come from more than one hypothesis, and one hypothesis has two of them."""
    while True:
        scores = -draw.normal(open_).abs().sort().values - 0.5
        log_probs = torch.log_softmax(draw.normal(open_, size).double(), -1).float()
        _, parents, _ = _step(scores, log_probs, beam)
        if open_ == 1 or 1 < len(set(parents.tolist())) < beam:
            return case(label, scores, log_probs, beam)


def _usual_steps(draw: Draw) -> list[Case]:
    return [_beams(draw, 3, draw.largest + 2, 3, "three hypotheses"), _beams(draw, 4, draw.largest + 1, 4, "four")]


def _first_step(draw: Draw) -> list[Case]:
    return [_beams(draw, 1, draw.largest + 3, 3, "the first step: one hypothesis")]


def _mixed_up(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    best, parents, tokens = _step(scores, log_probs, beam)
    return best, tokens, parents


def _added_probabilities(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    return _best_of(scores[:, None].exp() + log_probs.exp(), beam)


BEAM_STEP = Exercise(
    name="decoding.beam_step",
    title="One step of a beam",
    signature="beam_step(scores, log_probs, beam)",
    arguments=("scores", "log_probs", "beam"),
    returns=STEP,
    minutes=20,
    difficulty="medium",
    reference=_step,
    properties=(
        Property(name="three lists of the beam's size", points=0.25, cases=_usual_steps, judge=same_shapes(STEP)),
        Property(name="the scores", points=1.25, cases=_usual_steps, judge=same_values(STEP, [0]), outputs=(0,)),
        Property(name="whose, and which word", points=2, cases=_usual_steps, judge=same_values(STEP, [1, 2])),
        Property(name="the first step", points=0.5, cases=_first_step, judge=same_values(STEP)),
    ),
    misconceptions=(
        Misconception(
            id="scores-forgotten",
            sentence=(
                "You compare the new words alone. A hypothesis brings along what it has: add its score to the"
                " log-probability of the word."
            ),
            implementation=lambda scores, log_probs, beam: _best_of(log_probs, beam),
        ),
        Misconception(
            id="probabilities-added",
            sentence=(
                "You added probabilities. Probabilities of words that come one after the other are *multiplied*, and"
                " that is why logarithms are added: no exponential is needed."
            ),
            implementation=_added_probabilities,
        ),
        Misconception(
            id="logarithms-multiplied",
            sentence=(
                "You multiplied logarithms. Multiplying probabilities is *adding* their logarithms: score + log P."
            ),
            implementation=lambda scores, log_probs, beam: _best_of(scores[:, None] * log_probs, beam),
        ),
        Misconception(
            id="row-and-column-exchanged",
            sentence=(
                "Parents and words are mixed up. In the flattened table place = parent · vocabulary + word: the parent"
                " is place // vocabulary, the word place % vocabulary."
            ),
            implementation=_mixed_up,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- the whole search -------------------------------------------------------------------------------------

Hypothesis = tuple[list[int], float]


def _search(
    table: Tensor,
    start: int,
    eos: int,
    beam: int,
    longest: int,
    *,
    add: Callable[[float, float], float] = lambda score, new: score + new,
    keep_finished: bool = True,
    stop_at_eos: bool = True,
    first_finished: bool = False,
) -> Hypothesis:
    held: list[Hypothesis] = [([], 0.0)]
    for _ in range(longest):
        if all(tokens and tokens[-1] == eos and stop_at_eos for tokens, _ in held):
            break
        found: list[Hypothesis] = []
        for tokens, score in held:
            if tokens and tokens[-1] == eos and stop_at_eos:
                found += [(tokens, score)] if keep_finished else []
                continue
            row = table[tokens[-1] if tokens else start]
            found += [([*tokens, word], add(score, float(row[word]))) for word in range(len(row))]
        held = sorted(found, key=lambda hypothesis: -hypothesis[1])[:beam] or held
        done = [h for h in held if h[0][-1] == eos]
        if first_finished and done:
            return done[0]
    return max(held, key=lambda hypothesis: hypothesis[1])


def _beam_search(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _search(table, start, eos, beam, longest)


def _model_of(draw: Draw, size: int, rows: dict[int, dict[int, float]]) -> Tensor:
    """A nearly even model, but for the `rows`: last -> {next: probability}, each a little more or less."""
    table = torch.log_softmax(draw.normal(size, size).double() * 0.2, -1).exp()
    for last, wanted in rows.items():
        for word in wanted:
            table[last, word] = 0.0
        table[last] *= (1 - sum(wanted.values())) / table[last].sum()
        for word, share in wanted.items():
            table[last, word] = share + draw.integer(0, 20) / 1000
    return (table / table.sum(-1, keepdim=True)).log().float()


def _garden_path(draw: Draw, beam: int, chain: int, label: str) -> Case:
    """A model whose most probable first word leads nowhere in particular, and whose second best begins the best text.

    After it come `chain` words, of which each all but follows from the last; the first of them may also be the last.
    """
    size = draw.largest + chain + 2
    start, eos, tempting, *good = draw.integers(0, 10**9, size).argsort().tolist()[: chain + 3]
    rows = {last: {word: 0.88} for last, word in pairwise([*good, eos])}
    rows |= {start: {tempting: 0.45, good[0]: 0.38, eos: 0.01}, good[0]: {good[1]: 0.58, eos: 0.32}}
    return case(label, _model_of(draw, size, rows), start, eos, beam, chain + 3)


def _short_wins(draw: Draw, label: str) -> Case:
    """A model in which the empty text is the best, and a long one is better per word."""
    size = draw.largest + 6
    start, eos, *long = draw.integers(0, 10**9, size).argsort().tolist()[:6]
    rows = {last: {word: 0.86} for last, word in pairwise([*long, eos])} | {start: {long[0]: 0.4, eos: 0.34}}
    return case(label, _model_of(draw, size, rows), start, eos, 2, 8)


def _one_child_each(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    """As many texts as the beam is wide, each of which goes on greedily after its first word."""
    scores, words = table[start].topk(min(beam, len(table)))
    found = []
    for score, word in zip(scores.tolist(), words.tolist(), strict=True):
        rest = [] if word == eos else greedy(table, word, eos, longest - 1)
        steps = pairwise([word, *rest])
        found.append(([word, *rest], score + sum(float(table[a, b]) for a, b in steps)))
    return max(found, key=lambda hypothesis: hypothesis[1])


def _crowded(draw: Draw) -> Case:
    """The best text is the second child of a first word."""
    while True:
        size = draw.largest + 3
        start, eos = draw.integers(0, 10**9, size).argsort().tolist()[:2]
        table = torch.log_softmax(draw.normal(size, size).double() * 1.5, -1).float()
        best, score = _search(table, start, eos, 3, 5)
        if len(best) > 1 and score > _one_child_each(table, start, eos, 3, 5)[1] + 0.01:
            return case("two children of one hypothesis", table, start, eos, 3, 5)


def _wide(draw: Draw) -> list[Case]:
    return [
        _crowded(draw),
        _garden_path(draw, 2, 2, "two hypotheses"),
        _garden_path(draw, 3, 3, "three hypotheses"),
        _short_wins(draw, "a short text is the best"),
    ]


def _narrow(draw: Draw) -> list[Case]:
    while True:
        size = draw.largest + 2
        eos = draw.integer(0, size - 1)
        start = (eos + draw.integer(1, size - 1)) % size
        table = model(draw, size, eos, ending=0.0)
        if 2 <= len(greedy(table, start, eos, 6)) < 6:
            return [case("one hypothesis: greedy", table, start, eos, 1, 6)]


def _cut_off(draw: Draw) -> list[Case]:
    made = _garden_path(draw, 2, 3, "cut off before it ends")
    table, start, eos, beam, _ = made.calls[0]
    return [case(made.label, table, start, eos, beam, 3)]


def _dropped(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _search(table, start, eos, beam, longest, keep_finished=False)


def _past_the_end(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _search(table, start, eos, beam, longest, stop_at_eos=False)


def _hasty(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _search(table, start, eos, beam, longest, first_finished=True)


def _sum_of_probabilities(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _search(table, start, eos, beam, longest, add=lambda score, new: score + float(torch.tensor(new).exp()))


def _greedy_in_disguise(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _search(table, start, eos, 1, longest)


BEAM_SEARCH = Exercise(
    name="decoding.beam_search",
    title="Beam search",
    signature="beam_search(log_probs, start, eos, beam, longest)",
    arguments=("log_probs", "start", "eos", "beam", "longest"),
    returns=FOUND,
    minutes=40,
    difficulty="hard",
    reference=_beam_search,
    properties=(
        Property(name="one hypothesis is greedy", points=1, cases=_narrow, judge=same_path("the tokens")),
        Property(name="the log-probability of your own tokens", points=1, cases=_wide, judge=law(scores_its_own_path)),
        Property(name="better than greedy", points=3, cases=_wide, judge=same_path("the tokens"), outputs=(0,)),
        Property(name="cut off before it ends", points=1, cases=_cut_off, judge=same_path("the tokens"), outputs=(0,)),
    ),
    misconceptions=(
        Misconception(
            id="finished-dropped",
            sentence=(
                "A hypothesis that ended with `<eos>` is gone. It stays in the beam with the score that it has, and"
                " competes with those that go on."
            ),
            implementation=_dropped,
        ),
        Misconception(
            id="past-the-end",
            sentence="You go on after `<eos>`. A hypothesis that has ended is kept as it is.",
            implementation=_past_the_end,
        ),
        Misconception(
            id="first-that-ends",
            sentence=(
                "You stopped at the first hypothesis that ended. A longer one, still open, may be more probable: go on"
                " until all that are kept have ended."
            ),
            implementation=_hasty,
        ),
        Misconception(
            id="probabilities-added",
            sentence=(
                "You added probabilities, so longer is always better. Add their logarithms: that multiplies them."
            ),
            implementation=_sum_of_probabilities,
        ),
        Misconception(
            id="one-child-each",
            sentence=(
                "After the first step each hypothesis goes on with its best word alone: several greedy searches side by"
                " side. Of *all* extensions of all hypotheses the `beam` best stay, and two of them may have one"
                " parent."
            ),
            implementation=_one_child_each,
        ),
        Misconception(
            id="beam-of-one",
            sentence=(
                "Only one hypothesis is kept, whatever `beam` says: that is greedy search. Keep the `beam` best of"
                " *all* extensions of all hypotheses."
            ),
            implementation=_greedy_in_disguise,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- length -----------------------------------------------------------------------------------------------


def _choices(draw: Draw, penalty: float, label: str) -> Case:
    """Hypotheses of which another one wins with the penalty than without."""
    while True:
        number = draw.largest + 1
        lengths = draw.integers(1, 12, number)
        log_probs = -(lengths * 0.8 + draw.normal(number).abs() * 2 + 0.5).float()
        scores, best = _penalised(log_probs, lengths, penalty)
        gap, first = scores.sort(descending=True).values, int(log_probs.argmax())
        if first not in (int(best), int(scores.argmin())) and float(gap[0] - gap[1]) > 0.01:
            return case(label, log_probs, lengths, penalty)


def _means(draw: Draw) -> list[Case]:
    return [_choices(draw, 1.0, "a mean per word")]


def _between(draw: Draw) -> list[Case]:
    return [_choices(draw, 0.6, "a penalty of 0.6"), _choices(draw, 0.8, "a penalty of 0.8")]


def _none(draw: Draw) -> list[Case]:
    number = draw.largest + 1
    return [case("no penalty", -draw.normal(number).abs() - 1, draw.integers(1, 9, number), 0.0)]


def _penalised(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    scores = log_probs.double() / lengths.double() ** penalty
    return scores, scores.argmax()


def _scored(scores: Tensor) -> tuple[Tensor, Tensor]:
    return scores, scores.argmax()


def _smallest(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    scores, _ = _penalised(log_probs, lengths, penalty)
    return scores, scores.argmin()


def _divided_by_a_multiple(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    below = lengths.double() * penalty
    return _scored(log_probs.double() / torch.where(below > 0, below, 1.0))


LENGTH_PENALTY = Exercise(
    name="decoding.length_penalty",
    title="Short wins, unless",
    signature="length_penalty(log_probs, lengths, penalty)",
    arguments=("log_probs", "lengths", "penalty"),
    returns=BEST,
    minutes=10,
    difficulty="easy",
    reference=_penalised,
    properties=(
        Property(name="a mean per word: penalty 1", points=0.75, cases=_means, judge=same_values(BEST)),
        Property(name="other penalties", points=1, cases=_between, judge=same_values(BEST)),
        Property(name="no penalty", points=0.25, cases=_none, judge=same_values(BEST)),
    ),
    misconceptions=(
        Misconception(
            id="multiplied",
            sentence=(
                "You multiplied by the length. Log-probabilities are negative: that makes long texts worse still."
                " Divide."
            ),
            implementation=lambda log_probs, lengths, penalty: _scored(
                log_probs.double() * lengths.double() ** penalty
            ),
        ),
        Misconception(
            id="penalty-as-a-factor",
            sentence=(
                "You divided by penalty · length. The penalty is an *exponent*: length ** penalty, so that 0 means no"
                " penalty and 1 a mean per word."
            ),
            implementation=_divided_by_a_multiple,
        ),
        Misconception(
            id="smallest-score",
            sentence=(
                "The scores are right, and you chose the smallest one. All are negative, and the best is the one"
                " nearest to 0: the largest."
            ),
            implementation=_smallest,
        ),
        Misconception(
            id="chosen-without-the-penalty",
            sentence=(
                "The scores are right, and you chose by the log-probabilities as they came. The best is the one with"
                " the largest *score*."
            ),
            implementation=lambda log_probs, lengths, penalty: (
                _penalised(log_probs, lengths, penalty)[0],
                log_probs.argmax(),
            ),
        ),
        Misconception(
            id="penalty-ignored",
            sentence="You always take the mean per word. Raise the length to the power of the penalty first.",
            implementation=lambda log_probs, lengths, penalty: _penalised(log_probs, lengths, 1.0),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
