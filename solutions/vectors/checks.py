"""Assignment "vectors": skip-gram pairs, negative sampling by hand, neighbours and analogies.

The functions differ in form from `nlmcore.word2vec`, which works on blocks of sampled windows: here students work with
one text as a list of ids, one pair among its noise, and one table of vectors.
"""

import functools
import re

import torch
from torch import Tensor

from autograder.question.declare import any_order, exercises_in, judged, question, shapes, values, ways
from autograder.question.draw import Draw
from autograder.question.kinds import EQUAL
from autograder.question.laws.lists import same_pairs
from autograder.question.sized import ODD, at, these
from autograder.question.special import at_points, experiment, formula, over_seeds, wrong_line

CLOSED = ("nlmcore.word2vec", "nlmcore.feedforward", "nlmcore.seq2seq", "gensim", "sklearn")
"""Closed in every question with PyTorch: word vectors, what learns them, what compares them."""
ask = functools.partial(question, closed=CLOSED)

# --- 1. pairs, noise, and words that are left out --------------------------------------------------------------


def different(draw: Draw, below: int, count: int) -> list[int]:
    return draw.integers(0, 10**9, below).argsort().tolist()[:count]


def text(draw: Draw, words: int, m: int) -> tuple[list[int], int]:
    """Ids that are all different, so that every pair says where it comes from."""
    return different(draw, words + 5, words), m


def twice(draw: Draw) -> tuple[list[int], int]:
    a, b, c = different(draw, 8, 3)
    return [a, b, a, c, c], 2


ORDERS = ("(pair[0], abs(pair[1] - pair[0]))", "abs(pair[1] - pair[0])", "(abs(pair[1] - pair[0]), min(pair))")
SORTED = """
- pairs.append([words[i], words[j]]) → pairs.append((i, j))
- return pairs → return [[words[i], words[j]] for i, j in sorted(pairs, key=lambda pair: {})]"""


def _in_every_order(mistakes: str) -> str:
    """The pairs may come in any order, but a mistake is recognised by its values. So this lists it in the usual orders:
    from left to right; by distance from each centre; and distance by distance, centre by centre or in both directions
    together."""

    def listed(edits: re.Match[str]) -> str:
        orders = ["", *(SORTED.format(key) for key in ORDERS)]
        return "\nor\n".join(way + order for way in edits[0].strip("\n").split("\nor\n") for order in orders) + "\n"

    return re.sub(r"(?:^(?:[-*^+] .*|or)\n)+", listed, mistakes, flags=re.M)


SHORT = these(
    at("a text shorter than the window", words=3, m=4), at("two words", words=2, m=1), at("a single word", words=1, m=2)
)
WINDOW_PAIRS = ask(
    "vectors.window_pairs",
    returns=("pairs",),
    inputs=text,
    properties=[
        judged(
            "words in the middle and at the ends",
            1.5,
            these(at("m = 3", words=9, m=3), at("m = 1", words=6, m=1)),
            same_pairs("pairs"),
        ),
        judged("texts shorter than the window", 0.75, SHORT, same_pairs("pairs")),
        judged(
            "a word twice in one window", 0.75, at("a word that occurs twice in one window", twice), same_pairs("pairs")
        ),
    ],
    mistakes=_in_every_order("""
only-to-the-right: You used only the words *after* the centre. The window reaches m words to both sides: 2m words in
all.
- j != i → j > i
only-to-the-left: You used only the words *before* the centre. The window reaches m words to both sides: 2m words in
all.
- j != i → j < i
with-itself: You paired the centre with itself. A word does not predict itself: leave out its own position.
- if j != i → if True
around-the-end: At the start of the text you took words from its end: in Python an index below 0 counts from the end.
Cut the window off at 0.
- max(0, i - m) → max(1 - len(words), i - m)
slice-below-nought: Near the start of the text words are missing: in `words[i - m : i]` an i − m below 0 counts from the
end, and the slice is empty or too short. Start at `max(0, i - m)`.
- range(max(0, i - m), min(len(words), i + m + 1))
+ [*range(len(words))[i - m : i], *range(len(words))[i + 1 : i + m + 1]]
whole-windows-only: You never use words near the ends of the text as a centre. Their window is cut off, but they are not
left out: they are paired with the neighbours that they have.
- i in range(len(words)) → i in range(m, len(words) - m)
window-too-small: You left out the last word of the window on the right: `range` stops one before its second argument.
- i + m + 1 → i + m
one-less-on-both-sides: Your window is one word too small on both sides: `range(1, m)` stops before m. The word at
distance m still belongs to it.
^ m = m - 1
m-words-in-all: Your window has m words in all, half of them on each side. m is its reach on *each* side.
^ m = m // 2
equal-words-left-out: You left out pairs of equal *words*. Leave out only the centre's own *position*; the same word two
positions later is a neighbour like any other.
- j != i → words[j] != words[i]
first-place-of-the-word: `words.index(word)` is the *first* position of a word. At its second occurrence you used the
window of the first one again: loop over positions, not over words.
- i in range(len(words)) → i in [words.index(word) for word in words]
or
- i in range(len(words)) → i in [words.index(word) for word in words]
- j != i → words[j] != words[i]
""")
    + """
equal-pairs-once: You list equal pairs once. Two words that are near each other at two positions form a pair twice, and
both are learned from: return a list, not a set.
- return pairs → return [list(pair) for pair in sorted(set(map(tuple, pairs)))]
or
- return pairs → return [list(pair) for pair in set(map(tuple, pairs))]
or
- return pairs → return [list(pair) for pair in dict.fromkeys(map(tuple, pairs))]
""",
)


def seen(draw: Draw, words: int, power: float = 0.75, least: int = 1) -> tuple[Tensor, float]:
    counts = draw.integers(1, 60, words + 2)
    counts[draw.integer(0, words + 1)] *= least
    return counts, power


NOISE_DISTRIBUTION = ask(
    "vectors.noise",
    returns=("distribution",),
    inputs=at("the usual power, 0.75", seen),
    properties=[
        shapes(0.2, name="one probability per word"),
        values("the usual power", 0.8),
        values("other powers", 0.5, these(at("power 1", power=1.0), at("power 0.5", power=0.5))),
        values("a word with count 0", 0.5, at(least=0)),
    ],
    mistakes="""
not-normalised-again: You turned the counts into relative frequencies and raised those to the power: they no longer sum
to 1. Divide by their sum *after* raising to the power.
- counts.double() → (counts / counts.sum())
-  / raised.sum() →
never-normalised: These are the powers, and they do not sum to 1. Divide by their sum.
-  / raised.sum() →
always-three-quarters: Your power is always 0.75. Use the argument: there are other powers to try.
^ power = 0.75
one-for-the-unseen: You count a word that was never seen once. It occurs next to nothing and need not be sampled: 0 to a
power is 0.
^ counts = counts.clamp(min=1)
power-forgotten: You did not use the power: these are plain relative frequencies. With 0.75, rare words are sampled more
often.
^ power = 1.0
inverse: You sample rare words *most* often. A power between 0 and 1 flattens the distribution, but frequent words stay
ahead: use no minus sign and no 1 over.
- counts.double() ** power → counts.clamp(min=1).double() ** -power
softmax: You took a softmax. Counts are not logits: raise them to the power and divide by their sum.
+ return torch.softmax(counts.double() * power, -1)
or
+ return torch.softmax(counts.double() ** power, -1)
divided-by-the-counts: You divided by the sum of the plain counts, so the probabilities do not sum to 1. Divide by the
sum of the *raised* counts.
- raised.sum() → counts.sum()
""",
)


def frequent(draw: Draw, words: int) -> tuple[Tensor, float]:
    return draw.integers(20, 60, words + 2), 0.02


def rare(draw: Draw, words: int) -> tuple[Tensor, float]:
    counts = draw.integers(1, 4, words + 2)
    counts[draw.integer(0, words + 1)] = 200
    return counts, 0.03


KEEP_PROBABILITY = ask(
    "vectors.keep_probability",
    returns=("probabilities",),
    inputs=at("all words are frequent", frequent),
    properties=[
        shapes(0.2, name="one probability per word"),
        values("frequent words", 1),
        values("rare words", 0.8, at("rare words among frequent ones", rare)),
    ],
    mistakes="""
left-out-for-kept: That is the probability of *dropping* a word, 1 − √(t/f). Return the probability of keeping it: it is
smaller for frequent words.
- return → return 1 -
above-one: Rare words have a probability above 1. Where f is below t, every occurrence is kept: the probability there is
exactly 1.
- .clamp(max=1.0) →
as-the-program-has-it: That is √(t/f) + t/f, which the program published with the paper computes. Return the formula of
the paper: just √(t/f).
- (threshold / frequency).sqrt() → ((threshold / frequency).sqrt() + threshold / frequency)
maximum-for-minimum: Your probabilities are 1 and more: `clamp(min=1)` and `max` take the *larger* of two numbers. Take
the smaller of 1 and √(t/f).
- max=1.0 → min=1
upside-down: You took √(f/t): the more frequent a word, the more of it you keep. Drop the frequent ones: √(t/f).
- threshold / frequency → frequency / threshold
root-forgotten: You left out the root: t/f drops far too many frequent words. Keep √(t/f).
- .sqrt() →
counts-for-frequencies: You compared the threshold with the *count*. f is a relative frequency: divide the counts by
their sum first.
- counts / counts.sum() → counts
made-a-distribution: You divided by the sum. Each word is kept with a probability of its own; they need not sum to 1.
- return (threshold / frequency).sqrt().clamp(max=1.0)
+ kept = (threshold / frequency).sqrt().clamp(max=1.0)
+ return kept / kept.sum()
""",
)

# --- 2. the loss of one pair among noise, and its gradients ----------------------------------------------------


def unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)


def among_noise(draw: Draw, d: int, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """A centre, a context and k noise words."""
    return draw.normal(d), draw.normal(d), draw.normal(k, d)


def long(draw: Draw, d: int) -> tuple[Tensor, Tensor, Tensor]:
    centre = 32 * unit(draw.normal(d))  # the exponentials are too large for float64 as well
    return centre, -0.9 * centre, torch.stack([1.1 * centre, -0.8 * centre, 0.7 * centre])  # no two mistakes look alike


SMALL = [at("one noise word", k=1), at("vectors of one dimension", d=1)]
GRAIN = "- torch.nn.functional.logsigmoid → lambda x: (torch.sigmoid(x) + 1e-{}).log()"

PAIR_LOSS = ask(
    "vectors.pair_loss",
    returns=("loss",),
    inputs=at("several noise words", among_noise),
    odd=SMALL,
    properties=[
        values("several noise words", 2),
        values("one noise word, one dimension", 1, ODD),
        values("large dot products", 1, at("dot products of about a thousand", long)),
    ],
    mistakes="""
noise-not-negated: You left out the sign for the noise: there the model should say *no*, with probability σ(−n·v) = 1 −
σ(n·v). Without it, noise is attracted as if it were a neighbour.
- -noise → noise
mean-over-noise: You took the mean over the noise words. Add them: each is one more question whose answer is no.
- .sum() → .mean()
mean-of-all: You divided by the number of terms, k + 1 (`binary_cross_entropy_with_logits` does so by default). Add the
terms: `reduction='sum'`.
- -log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()
+ (-log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()) / (1 + len(noise))
likelihood-for-loss: Your sign is wrong: a loss is *minus* the logarithm of a probability, and never below 0.
- -log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()
+ log_sigmoid(context @ centre) + log_sigmoid(-noise @ centre).sum()
softmax: That is a softmax over the context and the noise: which of these is it? Negative sampling asks k + 1 separate
questions instead, each with its own σ: is this a neighbour?
+ return -torch.log_softmax(torch.cat([context[None], noise]) @ centre, 0)[0]
logarithm-forgotten: You left out the logarithms: you computed −σ(…), not −ln σ(…). A confident mistake has to cost more
than 1.
- torch.nn.functional.logsigmoid → torch.sigmoid
noise-forgotten: You did not use the noise. Without it the best vectors are all alike and very long: every dot product
is large.
^ noise = noise[:0]
noise-against-the-context: You compared the noise with the context. Both are compared with the *centre*: n · v.
- -noise @ centre → -noise @ context
noise-added-first: You added the dot products of the noise and took one σ of their sum. Each noise word is a question:
first its ln σ, then the sum.
- log_sigmoid(-noise @ centre).sum() → log_sigmoid((-noise @ centre).sum())
sigmoid-then-log: Your loss is right until a sigmoid, or 1 − σ, is 0 in float32 and its logarithm −∞. `logsigmoid`, or a
careful −ln(1 + e^{−x}), has no such limit.
- torch.nn.functional.logsigmoid → lambda x: torch.sigmoid(x).log()
grain-in-the-logarithm: A small number inside the logarithm, or a clipped σ, avoids −∞, but then a confident mistake
costs the same however confident it is. `logsigmoid` needs neither.
- torch.nn.functional.logsigmoid → lambda x: (torch.sigmoid(x) + 1e-7).log()
"""
    + ways(GRAIN, 6, 8, 9, 10, 12, 15, 20),
)

PAIR_GRADIENTS = question(
    "vectors.pair_gradients",
    returns=("d_centre", "d_context", "d_noise"),
    numpy=True,
    inputs=at("several noise words", among_noise),
    odd=SMALL,
    properties=[
        shapes(0.5),
        values("the context's gradient", 1, "d_context"),
        values("the noise's gradient", 1, "d_noise"),
        values("the centre's gradient", 1.5, "d_centre"),
        values("one noise word, one dimension", 1, ODD),
    ],
    mistakes="""
sign: Your error has the wrong sign, target − prediction: it points downhill. A gradient points where the loss *grows*;
a step goes against it.
- 1 / (1 + np.exp(-context @ centre)) - 1 → 1 - 1 / (1 + np.exp(-context @ centre))
- errors = 1 / → errors = -1 /
centre-without-noise: Your gradient of the centre includes only its neighbour. The centre occurs in each of the k + 1
dot products: add the terms of the noise.
-  + errors @ noise →
belief-for-error: For the neighbour you used σ instead of the error σ − 1. When the model is certain that it is one, σ =
1, there should be nothing left to learn.
-  - 1 →
own-vector: You multiplied the error by the vector itself. The derivative of u · v with respect to u is v: context and
noise move along the *centre*.
- error * centre, np.outer(errors, centre) → error * context, errors[:, None] * noise
or
- error * centre → error * context
or
- np.outer(errors, centre) → errors[:, None] * noise
in-another-order: The gradients look right, but you return them in a different order: first the centre's, then the
context's, then the noise's, like the arguments.
- error * context + errors @ noise, error * centre, np.outer(errors, centre)
+ error * centre, error * context + errors @ noise, np.outer(errors, centre)
or
- error * context + errors @ noise, error * centre, np.outer(errors, centre)
+ error * centre, np.outer(errors, centre), error * context + errors @ noise
mean-over-noise: You divided by the number of noise words. The loss *adds* their terms: each keeps its whole error, and
the centre gets the sum.
- 1 / (1 + np.exp(-noise @ centre)) → 1 / (1 + np.exp(-noise @ centre)) / len(noise)
or
- errors @ noise → errors @ noise / len(noise)
noise-as-neighbour: You treated the noise like a neighbour: σ − 1. Its target is 0, so its error is σ − 0.
- 1 / (1 + np.exp(-noise @ centre)) → 1 / (1 + np.exp(-noise @ centre)) - 1
noise-reversed: For the noise you used σ of *minus* the dot product, as the loss has it. The error of a noise word is
what the model believes of it: σ of the dot product.
- 1 / (1 + np.exp(-noise @ centre)) → 1 / (1 + np.exp(noise @ centre))
slope-of-the-sigmoid: You used σ (1 − σ), the slope of the sigmoid. The loss also contains a logarithm, and together the
slope is simpler: σ minus the target.
- 1 / (1 + np.exp(-context @ centre)) - 1 → -np.exp(-context @ centre) / (1 + np.exp(-context @ centre)) ** 2
- 1 / (1 + np.exp(-noise @ centre)) → np.exp(-noise @ centre) / (1 + np.exp(-noise @ centre)) ** 2
sums-multiplied: You multiplied the sum of the errors by the sum of the noise. Each noise word has its own error:
multiply first, then add.
- errors @ noise → errors.sum() * noise.sum(0)
""",
)

# --- 3. neighbours and analogies -------------------------------------------------------------------------------


def space(draw: Draw) -> tuple[Tensor, int, int]:
    """Vectors of very different lengths."""
    n = draw.largest + 5
    return draw.normal(n, 3) * (draw.integers(1, 40, n, 1) / 5), draw.integer(0, n - 1), 3


def alike(draw: Draw, k: int = 0) -> tuple[Tensor, int, int]:
    n = draw.largest + 3
    vectors, word = draw.normal(n, 4) * (draw.integers(1, 20, n, 1) / 5), draw.integer(0, n - 1)
    vectors[(word + 1) % n] = vectors[word] * 0.1 + draw.normal(4) * 0.01
    return vectors, word, k or n - 1


def square(draw: Draw) -> tuple[Tensor, int, int]:
    n = draw.largest + 3
    return draw.normal(n, n), draw.integer(0, n - 1), 2


SPACES = these(at("vectors of various lengths"), at("vectors of various lengths"))
NEAREST = ask(
    "vectors.nearest",
    returns=("neighbours",),
    inputs=space,
    properties=[
        any_order("the right ones, in any order", 0.75, SPACES),
        values("nearest first", 1, SPACES),
        values(
            "one neighbour, and all",
            1.25,
            these(at("the nearest points the same way and is short", alike, k=1), at("all", alike), at(EQUAL, square)),
        ),
    ],
    mistakes="""
dot-product: You compared plain dot products, so long vectors win, which frequent words have. The cosine depends only on
the direction: divide by both lengths.
-  / vectors.norm(dim=1, keepdim=True) →
itself: The nearest word to a word is the word itself. Leave it out.
- similar[word] = -math.inf →
distance: You took the smallest *distance*. Return the largest cosine: a short vector in the same direction is near,
wherever it ends.
- unit @ unit[word] → -(vectors - vectors[word]).norm(dim=1)
order-reversed: The words are right, but the farthest comes first. Return the nearest first.
- .indices → .indices.flip(0)
lengths-of-columns: You divided by the lengths of the columns. A word's vector is a *row*: its length is
`vectors.norm(dim=1, keepdim=True)`, and every row then has length 1.
- dim=1 → dim=0
itself-as-nought: You gave the word itself the cosine 0. That does not rank it last: cosines go down to −1. Give it −∞,
or remove it from the list.
- -math.inf → 0
ids-shifted: You removed the word's own row and renumbered the rest: every id after it is one too small. Ids refer to
the whole table.
+ others = torch.cat([vectors[:word], vectors[word + 1 :]])
+ return (others / others.norm(dim=1, keepdim=True) @ vectors[word]).topk(k).indices
cosines-for-ids: You returned the cosines. Return *which* words these are, their ids: `topk` and `sort` return both,
values and indices.
- .indices → .values
farthest: These are the *least* similar words. Neighbours have the largest cosine.
- unit @ unit[word] → -(unit @ unit[word])
""",
)

Analogy = tuple[Tensor, int, int, int]


def closest(vectors: Tensor, wanted: Tensor, *excluded: int) -> int:
    similar = unit(vectors) @ wanted
    similar[list(excluded)] = -torch.inf
    return int(similar.argmax())


def parallel(draw: Draw, lengths: bool = False) -> Analogy:
    """a* − a and b* − b are nearly the same step, and it is small, so b is nearer to the sum than b*, as is usual.

    Words that the usual mistakes find are included; with `lengths`, b* is short and another word's vector is long.
    """
    n, d = draw.largest + 6, 8
    while True:
        special = a, a_star, b, b_star, back, other, swapped = different(draw, n, 7)
        vectors, step = draw.normal(n, d), unit(draw.normal(d)) * 0.8
        vectors[a], vectors[b] = unit(draw.normal(d)) * 2, unit(draw.normal(d)) * 2
        vectors[a_star], wanted = vectors[a] + step, vectors[b] + step
        vectors[b_star] = wanted + 0.35 * draw.normal(d)
        vectors[back] = vectors[b] - step + 0.1 * draw.normal(d)
        vectors[other] = vectors[a_star] + vectors[a] + vectors[b] + 0.1 * draw.normal(d)
        vectors[swapped] = vectors[a_star] + vectors[a] - vectors[b] + 0.1 * draw.normal(d)
        if lengths:
            vectors[b_star] *= 0.3
            vectors[next(i for i in range(n) if i not in special)] = wanted * 3 + 3 * draw.normal(d)
        ahead = min(a, a_star, b) < b_star  # otherwise renumbered ids would not show
        if ahead and int(ANALOGY.reference(vectors, a, a_star, b)) == b_star and closest(vectors, wanted) == b:
            return vectors, a, a_star, b


def away(draw: Draw) -> Analogy:
    """Every other word points away from the sum, more than a does, so the largest cosine that counts is below 0."""
    while True:
        vectors = draw.normal(draw.largest + 6, 5)
        a, a_star, b = different(draw, len(vectors), 3)
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        for word in set(range(len(vectors))) - {a, a_star, b}:
            vectors[word] *= -torch.sign(vectors[word] @ wanted)
        if closest(vectors, wanted, a_star, b) == a:
            return vectors, a, a_star, b


def near(draw: Draw) -> Analogy:
    """a and b are similar, so a* is nearer to the sum than b* and has to be left out as well."""
    while True:
        vectors, step = draw.normal(draw.largest + 6, 8), unit(draw.normal(8)) * 2
        a, a_star, b, b_star = different(draw, len(vectors), 4)
        vectors[b] = vectors[a] + 0.4 * unit(draw.normal(8))
        vectors[a_star], vectors[b_star] = vectors[a] + step, vectors[b] + step + 0.35 * draw.normal(8)
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        if closest(vectors, wanted, a, a_star, b) == b_star and closest(vectors, wanted, b) == a_star:
            return vectors, a, a_star, b


def far(draw: Draw) -> Analogy:
    """The direction of the original vectors decides: the answer's is long, so another one ends nearer to the sum."""
    while True:
        vectors = draw.normal(draw.largest + 6, 4) * (draw.integers(2, 40, draw.largest + 6, 1) / 10)
        a, a_star, b = different(draw, len(vectors), 3)
        answers = [ANALOGY.reference, *map(ANALOGY.mistake, ("distance", "unit-vectors-first", "dot-product"))]
        if len({int(answer(vectors, a, a_star, b)) for answer in answers}) == len(answers):
            return vectors, a, a_star, b


def even(draw: Draw, words: int) -> Analogy:
    a, a_star, b = different(draw, words + 3, 3)
    return draw.normal(words + 3, words + 3), a, a_star, b


LENGTHS = these(
    at("the answer's vector is short, another is long", lengths=True),
    at("vectors of all lengths", far),
    at("vectors of all lengths", far),
    at(EQUAL, even),
)
USUAL = these(at("an analogy"), at("a and b are similar", near), at("no other word points that way", away))
ANALOGY = ask(
    "vectors.analogy",
    returns=("word",),
    inputs=parallel,
    properties=[values("the right word", 1.75, USUAL), values("vectors of several lengths", 1.25, LENGTHS)],
    mistakes="""
questions-not-excluded: Your answer is one of the three given words. The word nearest to the sum is mostly b itself:
leave out a, a* and b. (How often b would win says something about analogies.)
- similar[[a, a_star, b]] = -math.inf →
or
- a, a_star, b] → b]
or
- a, a_star, b] → a, b]
or
- a, a_star, b] → a_star, b]
or
- a, a_star, b] → a, a_star]
ids-shifted: You removed three rows and renumbered the rest: after each of them every id is one too small. Ids refer to
the whole table.
- similar =
+ vectors = vectors[[word for word in range(len(vectors)) if word not in (a, a_star, b)]]
+ similar =
- similar[[a, a_star, b]] = -math.inf →
excluded-as-nought: You gave a, a* and b the cosine 0. If no other word points that way, 0 is the largest: give them −∞,
which always ranks last.
- -math.inf → 0
step-backwards: You took the step from a* to a. From b, take the step that leads from a *to* a*: e(a*) − e(a) + e(b).
- vectors[a_star] - vectors[a] → vectors[a] - vectors[a_star]
sum-of-all: You added all three. Subtract e(a): that leaves what a* has and a does not.
- - vectors[a] → + vectors[a]
dot-product: You compared plain dot products, and a long vector won. Divide by the length of each word's vector: the
cosine.
-  / vectors.norm(dim=1, keepdim=True) →
b-taken-away: You added e(a) and subtracted e(b). The step is e(a*) − e(a), and it starts at b: e(a*) − e(a) + e(b).
- - vectors[a] + vectors[b] → + vectors[a] - vectors[b]
distance: You took the word whose vector *ends* nearest to the sum. Return the largest cosine: only the direction
counts.
- (vectors / vectors.norm(dim=1, keepdim=True)) @ wanted → -(vectors - wanted).norm(dim=1)
unit-vectors-first: You divided all vectors by their lengths before adding. Many programs do, and find different words;
here you sum the original vectors and take the cosines afterwards.
^ vectors = vectors / vectors.norm(dim=1, keepdim=True)
step-forgotten: You took the word nearest to b, without a step. Compare with e(a*) − e(a) + e(b).
- vectors[a_star] - vectors[a] + vectors[b] → vectors[b]
""",
)

# --- 4 and 5. what a dot product becomes, and the wrong line of a friend's positive PMI ------------------------

_points = at_points(n=(20, 90), m=(0.5, 8.0), k=(2, 15), x=(-2.0, 2.0))
BEST_SCORE = question(
    "vectors.best_score",
    returns=("slope", "best"),
    numpy=True,
    properties=[
        formula("the slope of F", 1, _points, "slope"),
        formula("the best dot product", 1, _points, "best"),
    ],
    mistakes="""
noise-raises-the-score: Your best x grows with k. The more noise words per pair, the more often this pair is called
noise: ln k is subtracted.
- math.log(n / (k * m)) → math.log(n * k / m)
noise-words-forgotten: Your best dot product is the PMI itself. With k noise words per pair it is lower, by ln k.
- math.log(n / (k * m)) → math.log(n / m)
noise-pulls-as-well: Noise pushes the two apart: the slope of ln σ(−x) is −σ(x), with a minus sign.
- - k * m * yes → + k * m * yes
errors-swapped: You swapped σ(x) and 1 − σ(x). The pull of the neighbours ends when σ(x) is 1, the push of the noise
when it is 0.
- n * (1 - yes) - k * m * yes → n * yes - k * m * (1 - yes)
ratio-turned-over: Your best dot product has the wrong sign. Words that meet more often than chance should have a large
one.
- math.log(n / (k * m)) → math.log(k * m / n)
logarithm-forgotten: Your second result is e^x. Take its logarithm.
- math.log(n / (k * m)) → n / (k * m)
probability-for-score: Your second result is the best σ(x). Solve for x.
- math.log(n / (k * m)) → n / (n + k * m)
slope-of-the-loss: You differentiated the loss, −F. The best x is the same, but F rises where the loss falls.
- n * (1 - yes) - k * m * yes → n * (yes - 1) + k * m * yes
slope-of-the-sigmoid: You used σ (1 − σ), the slope of σ. F contains its logarithm, and that makes one factor vanish:
see 2b.
- n * (1 - yes) - k * m * yes → (n - k * m) * yes * (1 - yes)
""",
)


def full(draw: Draw, rows: int, columns: int) -> tuple[Tensor]:
    return (draw.integers(1, 9, rows, columns) ** 2,)


def sparse(draw: Draw, size: int) -> tuple[Tensor]:
    rows, columns = size + 2, size + 3
    counts = draw.integers(0, 5, rows, columns) * draw.integers(0, 1, rows, columns)
    for i in range(columns):
        counts[i % rows, i] = 2 + draw.integer(1, 9) * (i % 3)
    return (counts,)


POSITIVE_PMI = ask(
    "vectors.positive_pmi",
    returns=("pmi",),
    inputs=at("every pair occurs", full),
    properties=[
        values("every pair occurs", 1),
        values("some pairs never occur", 1, at("", sparse)),
    ],
    planted="- of_word * of_context / total → (of_word / total) * (of_context / total)",
    mistakes="""
total-forgotten: You compare a count with a product of counts, which is far larger. Divide it by N.
- of_context / total → of_context
negative-kept: Your values may be below 0. *Positive* PMI replaces them by 0.
- .clamp(min=0) →
logarithm-forgotten: You return the ratio itself. PMI is its logarithm, which is 0 where a pair occurs as often as by
chance.
- ratio.log() → (ratio - 1)
unseen-is-infinite: A pair that never occurs has the logarithm −∞ or NaN in your table. Its positive PMI is 0.
- torch.where(counts > 0, counts / expected, 1.0) → counts / expected
- ratio.log().clamp(min=0) → ratio.log()
columns-averaged: You divided by the mean of the columns instead of the sum of each.
- counts.sum(0, keepdim=True) → counts.sum(0, keepdim=True).float().mean()
bits: Your logarithm has the base 2. Here it is the natural one.
- ratio.log() → ratio.log2()
""",
)

WRONG_LINE = wrong_line(
    "vectors.wrong_line",
    POSITIVE_PMI,
    points=1,
    mistakes="""
rows-suspected: Line {of_word = } is right: a word's count is the sum of its row.
columns-suspected: Line {of_context = } is right: a context's count is the sum of its column.
total-suspected: Line {total = } is right: N is the sum of the whole table.
unseen-suspected: Line {torch.where} is right: it divides a count by what is expected, which the text defines as a count
as well. (The ratio 1 has the logarithm 0, so pairs that never occur get 0.)
clamp-suspected: Line {clamp} is right: it replaces what is below 0 by 0. If nothing is below 0 before it, ask why.
""",
)

# --- 6. analogies against nearest neighbours -------------------------------------------------------------------

STEP_OR_NEIGHBOUR = experiment(
    "vectors.step_or_neighbour",
    table="shares",
    points=(0.5, 4.5, 3),
    claims=["0 < 1, 2 < 3", "1 < 0, 2 < 3", "0 ~ 1, 2 < 3", "0 ~ 1, 2 ~ 3"],
    fresh=over_seeds(count=3)[1],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- pairs_of_words(seed, step) → pairs_of_words(seeds[0], step)
one-step-for-both: Your last two columns are those of the short step. Make the vectors again for each step.
- pairs_of_words(seed, step) → pairs_of_words(seed, 0.5)
neighbour-of-the-other-pair: Your neighbour is never the right one: it is a neighbour of the word j, or the word itself,
which is always nearest to itself. Ask for the neighbour of i, without i.
- nearest(vectors, i, 1) → nearest(vectors, j, 1)
neighbour-of-the-partner: You looked for the neighbour of i's partner, which is the answer.
- nearest(vectors, i, 1)[0]) == 20 + i → nearest(vectors, 20 + i, 1)[0]) == i
columns-swapped: You swapped the two columns of each step: the neighbour comes first, then the analogy.
- [near / 20, right / 20] → [right / 20, near / 20]
best-seed-picked: You return the largest shares over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the shares of every seed.
- conclusion = 3 → shares = torch.tensor(shares).amax(0).expand(len(seeds), 4); conclusion = 3
analogy-believed: With the short step your own numbers do not say that the analogy is better: for some seeds the plain
neighbour is.
- conclusion = 3 → conclusion = 1
one-seed-believed: That the neighbour is better with the short step is true for some of your seeds, not for all, and the
mean difference is within what chance explains. One seed would have misled you.
- conclusion = 3 → conclusion = 2
against-the-numbers: With the long step your own numbers decide it: for every seed the analogy has the larger share.
- conclusion = 3 → conclusion = 4
questions-turned-round: You asked what j is to: i and j are swapped. j is to 20 + j as i is to what?
- analogy(vectors, j, 20 + j, i)) == 20 + i → analogy(vectors, i, 20 + i, j)) == 20 + j
last-question-left-out: You put 19 questions to each table. There are 20: for i = 19, j is 0.
- range(20) → range(19)
- [near / 20, right / 20] → [near / 19, right / 19]
""",
)

EXERCISES = exercises_in(__name__)
