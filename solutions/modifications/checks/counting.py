"""Questions 3a, 3b and 3c: embeddings, what a model costs, and a width that makes a comparison fair."""

from typing import Any

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, Cases, case
from solutions.modifications.checks.common import CLOSED


def _vectors(label: str, factorised: bool, untied: bool) -> Cases:
    def drawn(draw: Draw) -> list[Case]:
        time, d, inner, vocab = draw.sizes(4)
        vocab = vocab + 8
        A = draw.normal(vocab, inner if factorised else d)
        B = draw.normal(inner, d) if factorised else None
        U = draw.normal(vocab, d) if untied else None
        return [case(label, draw.integers(0, vocab - 1, 2, time), draw.normal(2, time, d), A, B, U)]

    return drawn


_plain = _vectors("plain, shared", False, False)
_factorised = _vectors("factorised, shared", True, False)


def _untied(draw: Draw) -> list[Case]:
    return [*_vectors("factorised, untied", True, True)(draw), *_vectors("plain, untied", False, True)(draw)]


def _looked_up(draw: Draw) -> list[Case]:
    return [*_factorised(draw), *_untied(draw)]


def _odd_vectors(draw: Draw) -> list[Case]:
    d, ids = draw.size(), draw.integers(10, 14, 2, 3)
    wide = {"dtype": torch.float64}
    return [
        case("an inner width of 1", ids, draw.normal(2, 3, d), draw.normal(15, 1), draw.normal(1, d), None),
        case("one token", ids[:1, :1], draw.normal(1, 1, d), draw.normal(15, 2), draw.normal(2, d), None),
        case("float64", ids, draw.normal(2, 3, d, **wide), draw.normal(15, d, **wide), None, None),
        case(EQUAL, draw.integers(0, 3, 4, 4), draw.normal(4, 4, 4), draw.normal(4, 4), draw.normal(4, 4), None),
    ]


EMBED = question(
    "modifications.embed",
    minutes=10,
    difficulty="easy",
    returns=("vectors", "scores"),
    properties=[
        values("the vectors", 0.5, _looked_up, "vectors"),
        values("shared scores, plain", 0.25, _plain, "scores"),
        values("shared scores, factorised", 0.5, _factorised, "scores"),
        values("untied scores", 0.25, _untied, "scores"),
        values("an inner width of 1, one token, square, float64", 0.5, _odd_vectors),
    ],
    closed=CLOSED,
    mistakes="""
not-widened: Your vectors are the narrow ones. Multiply them by `B`, if there is one.
- A[tokens] @ B → A[tokens]

all-words: You return the vectors of all words of the vocabulary, not of the tokens.
- A[tokens] if B is None else A[tokens] @ B → A if B is None else A @ B

B-forgotten-at-the-top: You compare the rows of `A` with part of the hidden vector. It has d_model entries, the rows
only the inner width: first go back through `B`.
- hidden @ B.T → hidden[..., : A.shape[1]]

not-transposed: You multiplied by `B` where its transpose is needed: at the top the path leads from d_model back to
the inner width.
- hidden @ B.T → (hidden @ B.reshape(B.T.shape))

untied-ignored: You ignore `U`. If it is given, the scores come from it, and not from the embedding.
- if U is not None: → if False:

vectors-from-U: You look the vectors up in `U`. Untied concerns the scores only: the vectors always come from the
embedding.
- return vectors, hidden @ U.T → return U[tokens], hidden @ U.T

both-added: You added the scores of both matrices. Untied means: only `U`.
- return vectors, hidden @ U.T
+ return vectors, hidden @ U.T + (hidden if B is None else hidden @ B.T) @ A.T

own-scores-only: You return the scores of the given tokens only. Every word of the vocabulary gets a score at each
position.
- return vectors, narrow @ A.T → return vectors, narrow @ A[tokens].mT

vectors-scored: You scored the tokens' own vectors. The scores belong to `hidden`, what leaves the model at the top.
- narrow = hidden if B is None else hidden @ B.T → narrow = vectors if B is None else vectors @ B.T

probabilities: You return probabilities. The question asks for the scores before the softmax.
- return vectors, narrow @ A.T → return vectors, torch.softmax(narrow @ A.T, dim=-1)
""",
)


Sizes = dict[str, Any]


def sizes_of(draw: Draw, **change: Any) -> Sizes:
    """All numbers are different."""
    d = draw.integer(5, 9)
    plain = {
        **{"vocab": draw.integer(60, 90), "d_model": d, "d_ff": 4 * d + draw.integer(1, 3), "n_layers": 3},
        **{"time": draw.integer(11, 19), "inner": 0, "untied": False, "experts": 1},
    }
    return plain | change


def _model(label: str, **change: Any) -> Cases:
    return lambda draw: [case(label, sizes_of(draw, **change))]


def _everything(draw: Draw) -> list[Case]:
    return [
        case("everything together", sizes_of(draw, inner=3, untied=True, experts=draw.integer(4, 6))),
        case("factorised, shared, two experts, one layer", sizes_of(draw, inner=2, experts=2, n_layers=1)),
    ]


_plain_model, _narrow_model = _model("a plain model"), _model("factorised", inner=2)
_untied_model, _experts_model = _model("untied", untied=True), _model("four experts", experts=4)

COSTS = question(
    "modifications.costs",
    minutes=20,
    difficulty="medium",
    returns=("parameters", "products"),
    properties=[
        values("the parameters of a plain model", 0.75, _plain_model, "parameters"),
        values("the multiplications of a plain model", 0.75, _plain_model, "products"),
        values("a factorised embedding", 0.75, _narrow_model),
        values("an untied softmax", 0.5, _untied_model),
        values("experts", 0.75, _experts_model),
        values("everything together", 0.5, _everything),
    ],
    closed=CLOSED,
    mistakes="""
softmax-for-free: You did not count the multiplications of the softmax's matrix. It is shared, so it has no further
parameters, but every word's score has to be computed.
- products + table + widening → products

softmax-counted-twice: You counted the embedding's parameters twice. A shared softmax has none of its own.
- return parameters, products + table → return parameters + table, products + table

positions-forgotten: You forgot the learned vectors of the positions: `time` rows of d_model parameters.
- table + widening + sizes["time"] * d → table + widening

scores-forgotten: You forgot attention's scores and its weighted sum. They have no parameters, but a query meets the
keys of all positions, and all values are weighted.
- 4 * d**2 + 2 * sizes["time"] * d → 4 * d**2

only-the-scores: You counted attention's scores, but not the weighted sum of the values, which costs as much again.
- 2 * sizes["time"] * d → sizes["time"] * d

whole-text: You counted the scores of all tokens of the text. Asked for are the multiplications of *one* token.
- 2 * sizes["time"] * d → 2 * sizes["time"] ** 2 * d

mix-forgotten: You counted three square matrices in attention. The matrix that mixes its output is the fourth.
* 4 * d**2 → 3 * d**2

one-matrix: A feed-forward network has two matrices, in and out.
- 2 * d * sizes["d_ff"] → d * sizes["d_ff"]

one-layer: You counted a single layer.
* sizes["n_layers"] * layer → layer

every-expert-computed: A token is read by *one* expert, so it pays for one network. All of them count as parameters.
- d + router + one_network → d + router + n * one_network

experts-not-counted: You counted the parameters of one expert. All of them are stored.
- router + n * one_network → router + one_network

router-forgotten: You forgot the router: a matrix with one column per expert, if there is more than one.
- d * n if n > 1 else 0 → 0

router-without-experts: A layer with a single network needs no router.
- d * n if n > 1 else 0 → d * n

lookup-multiplied: Looking up a row multiplies nothing. You counted the table's entries as multiplications.
- products = widening + → products = table + widening +

widening-forgotten: You forgot the matrix that widens a factorised embedding.
- (vocab * inner, inner * d) → (vocab * inner, 0)

widened-once: The widening matrix of a shared factorised embedding is used twice: when a token comes in, and on the way
to the scores.
- products + table + widening → products + table

not-factorised: You ignore `inner`. A factorised embedding has a narrow table and a widening matrix.
- if inner else → if False else

untied-softmax-factorised: Your untied softmax is factorised like the embedding. Its own matrix is whole: vocab times
d_model.
- return parameters + vocab * d, products + vocab * d
+ return parameters + table + widening, products + table + widening

untied-ignored: You ignore `untied`. A softmax with a matrix of its own has vocab times d_model further parameters.
- if sizes["untied"]: → if False:
""",
)


def _thrift(draw: Draw, label: str, change: Sizes, which: int, d_ff: int, **more: Any) -> Case:
    return case(label, sizes_of(draw, d_ff=d_ff, **more), change, which)


def _parameters(draw: Draw) -> list[Case]:
    return [_thrift(draw, "equal parameters, four experts", {"experts": 4}, 0, 4 * draw.integer(12, 20) + 1)]


def _products(draw: Draw) -> list[Case]:
    return [_thrift(draw, "equal multiplications, four experts", {"experts": 4}, 1, draw.integer(40, 80))]


def _embeddings(draw: Draw) -> list[Case]:
    d_ff = draw.integer(40, 60)
    return [
        _thrift(draw, "equal parameters, factorised", {"inner": 2}, 0, d_ff),
        _thrift(draw, "equal multiplications, untied and deeper", {"untied": True, "n_layers": 4}, 1, d_ff),
        _thrift(draw, "equal parameters, four experts", {"experts": 4}, 0, 4 * draw.integer(12, 20) + 3),
    ]


def _edges(draw: Draw) -> list[Case]:
    return [
        _thrift(draw, "two equally close widths", {"experts": 2}, 0, 2 * draw.integer(10, 20)),
        _thrift(draw, "more than vanilla even with a width of 1", {"experts": 9, "untied": True}, 0, 5),
    ]


FAIR_WIDTH = question(
    "modifications.fair_width",
    minutes=20,
    difficulty="medium",
    returns=("d_ff", "above"),
    properties=[
        values("equal parameters, the width", 0.75, _parameters, "d_ff"),
        values("equal multiplications, the width", 0.5, _products, "d_ff"),
        values("how far above vanilla", 0.5, _parameters, "above"),
        values("other modifications", 0.5, _embeddings),
        values("ties, and widths below 1", 0.75, _edges),
    ],
    closed=CLOSED,
    mistakes="""
rounded-down: You take the largest width that costs no more than vanilla. Asked for is the closest one, be it above.
- math.ceil(exact - 0.5) → math.floor(exact)

rounded-up: You take the smallest width that costs no less than vanilla. Asked for is the closest one.
- math.ceil(exact - 0.5) → math.ceil(exact - 1e-9)

larger-of-two: Of two widths that are equally close you take the larger one. Take the smaller.
- math.ceil(exact - 0.5) → math.floor(exact + 0.5)

below-one: Your width can be 0 or negative. A network has at least one hidden unit.
- max(1, math.ceil(exact - 0.5)) → math.ceil(exact - 0.5)

always-parameters: You always make the parameters equal. `which` says what should be: 1 means the multiplications.
* [which] → [0]

divided-by-experts: You divided vanilla's width by the number of experts. The router costs something as well, other
modifications have no experts, and at equal multiplications nothing is to be divided.
- exact = 1 + (vanilla - of(1)) / (of(2) - of(1)) → exact = sizes["d_ff"] / change.get("experts", 1)

width-unchanged: You return vanilla's own width, at which the modified model costs more, or less.
- d_ff = max(1, math.ceil(exact - 0.5)) → d_ff = sizes["d_ff"]

never-wider: Your width is at most vanilla's. A modification that saves something elsewhere may be wider.
- max(1, math.ceil(exact - 0.5)) → min(sizes["d_ff"], max(1, math.ceil(exact - 0.5)))

change-on-both-sides: You compare with a vanilla model that has the modification already.
- vanilla = costs(sizes)[which] → vanilla = costs(sizes | change)[which]

ratio-for-part: You return the ratio of the costs. The part by which it is above vanilla is the ratio less 1.
- of(d_ff) / vanilla - 1 → of(d_ff) / vanilla

part-of-the-modified: You divide by the costs of the modified model. The part is one of vanilla's costs.
- of(d_ff) / vanilla - 1 → 1 - vanilla / of(d_ff)

absolute-difference: You return by how many it is above vanilla. Divide by vanilla's costs.
- of(d_ff) / vanilla - 1 → of(d_ff) - vanilla

without-a-sign: You return the size of the part without its sign. Below vanilla it is negative.
- of(d_ff) / vanilla - 1 → abs(of(d_ff) / vanilla - 1)
""",
)
