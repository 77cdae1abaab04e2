"""Question 2c: Kneser and Ney's bigram model, interpolated, from a table of counts."""

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, table
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.ngrams import shares_out_what_discounting_frees
from autograder.exercise.specification import Case, Exercise, Misconception, Property

RETURNS = ("continuation", "probabilities")


def _case(label: str, counts: Tensor, discount: float) -> Case:
    kept, freed = _kept(counts, discount)
    return Case(label=label, calls=((counts, discount),), known=(kept, freed))


def _kept(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    """What each pair keeps, (V, V), and what each context has to share out, (V,)."""
    total, different = counts.sum(1).double(), (counts > 0).sum(1).double()
    kept = (counts - discount).clamp(min=0) / total.clamp(min=1)[:, None]
    return kept.double(), torch.where(total > 0, discount * different / total.clamp(min=1), 1.0)


def _continuation(counts: Tensor) -> Tensor:
    after = (counts > 0).sum(0).double()
    return after / after.sum()


def _kneser_ney(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, freed = _kept(counts, discount)
    continuation = _continuation(counts)
    return continuation, kept + freed[:, None] * continuation


def _by(counts: Tensor, discount: float, continuation: Tensor) -> tuple[Tensor, Tensor]:
    kept, freed = _kept(counts, discount)
    return continuation, kept + freed[:, None] * continuation


def _frequent(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    return _by(counts, discount, counts.sum(0).double() / counts.sum())


def _followers(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    different = (counts > 0).sum(1).double()
    return _by(counts, discount, different / different.sum())


def _by_vocabulary(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    return _by(counts, discount, (counts > 0).sum(0).double() / len(counts))


def _kept_by_nobody(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, _ = _kept(counts, discount)
    return _continuation(counts), torch.where((counts.sum(1) > 0)[:, None], kept, _continuation(counts))


def _below_zero(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    _, freed = _kept(counts, discount)
    kept = (counts - discount) / counts.sum(1, keepdim=True).clamp(min=1)
    kept = torch.where((counts.sum(1) > 0)[:, None], kept, 0.0)
    return _continuation(counts), kept + freed[:, None] * _continuation(counts)


def _once_per_context(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, _ = _kept(counts, discount)
    total = counts.sum(1).double()
    freed = torch.where(total > 0, discount / total.clamp(min=1), 1.0)
    return _continuation(counts), kept + freed[:, None] * _continuation(counts)


def _constant_share(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, _ = _kept(counts, discount)
    share = torch.where(counts.sum(1) > 0, discount, 1.0)
    return _continuation(counts), kept + share[:, None] * _continuation(counts)


def _unseen_lost(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, freed = _kept(counts, discount)
    freed = torch.where(counts.sum(1) > 0, freed, 0.0)
    return _continuation(counts), kept + freed[:, None] * _continuation(counts)


def _unseen_uniform(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    continuation, made = _kneser_ney(counts, discount)
    return continuation, torch.where((counts.sum(1) > 0)[:, None], made, 1.0 / len(counts))


def _unseen_nan(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    continuation, made = _kneser_ney(counts, discount)
    return continuation, torch.where((counts.sum(1) > 0)[:, None], made, torch.nan)


def _axes_exchanged(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, freed = _kept(counts, discount)
    return _continuation(counts), kept + freed * _continuation(counts)[:, None]


def _axes_exchanged_but_for_the_unseen(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    continuation, made = _axes_exchanged(counts, discount)
    return continuation, torch.where((counts.sum(1) > 0)[:, None], made, continuation)


def _number_by_number(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    kept, freed = _kept(counts, discount)
    return _continuation(counts), kept + freed * _continuation(counts)


def _number_by_number_but_for_the_unseen(counts: Tensor, discount: float) -> tuple[Tensor, Tensor]:
    continuation, made = _number_by_number(counts, discount)
    return continuation, torch.where((counts.sum(1) > 0)[:, None], made, continuation)


def _plain(draw: Draw) -> list[Case]:
    return [_case("every context was seen", table(draw, draw.largest + 1), 0.75)]


def _other_discounts(draw: Draw) -> list[Case]:
    return [
        _case("a discount of 0.3", table(draw, draw.largest + 2), 0.3),
        _case("a discount of 1", table(draw, draw.largest + 1), 1.0),
    ]


def _unseen(draw: Draw) -> list[Case]:
    return [_case("a context never seen", table(draw, draw.largest + 2, unseen=1), 0.5)]


KNESER_NEY = Exercise(
    name="ngrams.kneser_ney",
    title="Kneser and Ney's bigrams",
    signature="kneser_ney(counts, discount)",
    arguments=("counts", "discount"),
    returns=RETURNS,
    minutes=40,
    difficulty="hard",
    reference=_kneser_ney,
    properties=(
        Property(name="the shapes are right", points=0.5, cases=_plain, judge=same_shapes(RETURNS)),
        Property(
            name="the continuation of every word",
            points=2,
            cases=_plain,
            judge=same_values(RETURNS, [0]),
            outputs=(0,),
        ),
        Property(
            name="probabilities, given your continuation",
            points=2,
            cases=_other_discounts,
            judge=law(shares_out_what_discounting_frees),
        ),
        Property(
            name="a context never seen",
            points=1,
            cases=_unseen,
            judge=law(shares_out_what_discounting_frees),
        ),
        Property(name="all of it together", points=0.5, cases=_unseen, judge=same_values(RETURNS)),
    ),
    misconceptions=(
        Misconception(
            id="counts-for-contexts",
            sentence=(
                "Your continuation says how often a word occurs. Asked is after how many *different* words it occurs:"
                " count the entries of its column that are above 0. That is the whole point: “Francisco” is frequent,"
                " but follows one word only."
            ),
            implementation=_frequent,
        ),
        Misconception(
            id="followers-for-predecessors",
            sentence=(
                "Your continuation counts how many different words come *after* a word: the row. Asked is how many come"
                " before it: the column."
            ),
            implementation=_followers,
        ),
        Misconception(
            id="divided-by-the-vocabulary",
            sentence=(
                "Your continuation was divided by the size of the vocabulary and does not sum to 1. Divide by the"
                " number of all different pairs."
            ),
            implementation=_by_vocabulary,
        ),
        Misconception(
            id="freed-mass-lost",
            sentence=(
                "You lowered the counts and gave what that frees to nobody: the rows sum to less than 1. Add the"
                " continuation, times D · (different followers) / (all followers)."
            ),
            implementation=_kept_by_nobody,
        ),
        Misconception(
            id="below-zero",
            sentence=(
                "Words that were never seen after a context got 0 − D, less than nothing. Only what is above 0 can be"
                " lowered: max(c − D, 0)."
            ),
            implementation=_below_zero,
        ),
        Misconception(
            id="one-discount-per-context",
            sentence=(
                "You gave back one D per context. D was taken from each different word that followed it: give back D"
                " times their number."
            ),
            implementation=_once_per_context,
        ),
        Misconception(
            id="share-is-d",
            sentence=(
                "You gave every context the share D. What was freed is D for each *different* follower, out of all"
                " followers: D·T/N. It is D only where every follower was seen once."
            ),
            implementation=_constant_share,
        ),
        Misconception(
            id="unseen-is-zero",
            sentence=(
                "A context that was never seen gives zeros. There the counts know nothing, so all is left to the"
                " continuation: its share is 1."
            ),
            implementation=_unseen_lost,
        ),
        Misconception(
            id="unseen-is-uniform",
            sentence=(
                "A context that was never seen gives every word 1/V, as in 1b. Here something is known: how readily"
                " each word follows others. Its row is the continuation."
            ),
            implementation=_unseen_uniform,
        ),
        Misconception(
            id="unseen-is-nan",
            sentence=(
                "A context that was never seen gives NaN: you divided 0 by 0. There the counts know nothing, so all is"
                " left to the continuation."
            ),
            implementation=_unseen_nan,
        ),
        Misconception(
            id="number-by-number",
            sentence=(
                "(V,) times (V,) is (V,): you multiplied what one context frees with the continuation of one word, and"
                " gave every row the same. Each context has a row of its own: `freed[:, None] * continuation`."
            ),
            implementation=_number_by_number,
            also=(_number_by_number_but_for_the_unseen,),
        ),
        Misconception(
            id="axes-exchanged",
            sentence=(
                "What a context frees belongs to its *row*, and the continuation runs along the columns. You have them"
                " the other way round: `freed[:, None] * continuation`."
            ),
            implementation=_axes_exchanged,
            also=(_axes_exchanged_but_for_the_unseen,),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
