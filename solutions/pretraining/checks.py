"""Assignment "pretraining": the masked objective, a probe with controls, and a low-rank adapter forwards and backwards.

The functions differ in form from `nlmcore.objectives` and `nlmcore.transfer`: they get their random numbers, return
slopes, and fit the probe in one step.
"""

import functools
from typing import Any

import torch

from autograder.question.declare import exercises_in, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.laws.experiments import signs_of
from autograder.question.sized import MAIN, ODD, at
from autograder.question.special import at_points, columns, formula, on_the_page, other_seeds, predicted
from autograder.question.specification import Both, Case, case

CLOSED = ("nlmcore.objectives", "nlmcore.transfer", "sklearn")
ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]

# --- 1. the masked objective -------------------------------------------------------------------------------------


def corrupted(draw: Draw, batch: int, time: int, share: float = 0.6, padded: bool = True) -> Arguments:
    """Tokens of which every fourth is not real, and about half of the others are guessed; all three fates occur."""
    tokens, others = draw.integers(0, 40, batch, time), draw.integers(50, 90, batch, time)
    place = torch.arange(batch * time)
    real = (place % 4 != 3).view(batch, time) if padded else torch.ones(batch, time, dtype=torch.bool)
    chance, fate = (torch.special.ndtr(draw.normal(batch, time)) for _ in range(2))
    fates = torch.tensor([0.35, 0.85, 0.95])[(place // 2 + draw.integer(0, 2)) % 3].view(batch, time)
    return tokens, real, chance, fates + (fate - 0.5) / 12, others, share, 99


def at_a_boundary(draw: Draw) -> Arguments:
    """Random numbers that are exactly the share, or one of both limits of a fate."""
    tokens, real, _, _, others, _, mask_id = corrupted(draw, 2, 6, padded=False)
    place = torch.arange(12).view(2, 6)
    chance = torch.tensor([0.25, 0.25, 0.25, 0.5], dtype=torch.float64)[place % 4]
    return tokens, real, chance, torch.tensor([0.8, 0.9, 0.5], dtype=torch.float64)[place % 3], others, 0.5, mask_id


HIDE = ask(
    "pretraining.hide",
    returns=("read", "guess"),
    inputs=corrupted,
    main=at("two texts", batch=3, time=9),
    properties=[
        shapes(0.25),
        values(
            "where to guess",
            1.25,
            at("a batch", batch=3, time=8),
            at("all sizes equal", batch=6, time=6),
            "guess",
        ),
        values("what is read", 1.5, at("a batch", batch=3, time=8), at("all sizes equal", batch=6, time=6), "read"),
        values("nothing is padded", 0.25, at("all real", batch=2, time=7, padded=False)),
        values(
            "nothing or everything is guessed",
            0.25,
            at("share 0", batch=2, time=6, share=0.0),
            at("share 1", batch=3, time=7, share=1.0),
        ),
        values("odd sizes, numbers at a boundary", 0.5, ODD, at("numbers at a boundary", at_a_boundary)),
    ],
    mistakes="""
padding-guessed: You guess positions that are not real, so the model learns to write padding and special tokens.
- guess = real & (chance < share) → guess = chance < share
padding-for-real: You guess *only* what is not real. True means that a token is real.
- guess = real & (chance < share) → guess = ~real & (chance < share)
unguessed-guessed: You guess where `chance` is above `share`. A token is guessed if it is below.
- chance < share → chance >= share
masks-only: You guess only where the mask is read. The 20 % that are read as a random token, or as they are, count, too.
- return read, guess → return read, read == mask_id
unchanged-not-guessed: You guess only where what is read differs from the token. A token with a high fate is read
unchanged, *and it is still guessed*, so the model cannot know which ones count.
- return read, guess → return read, guess & (fate < 0.9)
or
- return read, guess → return read, read != tokens
eight-tenths-masked: You read the mask at a fate of exactly 0.8. It is read below 0.8, and from 0.8 on the random token.
- fate < 0.8 → fate <= 0.8
- fate >= 0.8 → fate > 0.8
random-not-guessed: You do not guess where a random token is read. The model has to find the original there.
- return read, guess → return read, guess & ~((fate >= 0.8) & (fate < 0.9))
all-masked: All guessed tokens are read as the mask. That is so only for a fate below 0.8.
- guess & (fate < 0.8) → guess
- read = torch.where(guess & (fate >= 0.8) & (fate < 0.9), others, read)
+ read = read + 0
never-unchanged: No guessed token is read as it is. From a fate of 0.9 on it stays unchanged.
- (fate >= 0.8) & (fate < 0.9) → (fate >= 0.8)
unchanged-masked: You read the mask where the token should stay as it is. From a fate of 0.9 on it is read unchanged.
- guess & (fate < 0.8) → guess & ((fate < 0.8) | (fate >= 0.9))
masked-for-random: You read the mask up to a fate of 0.9. From 0.8 on the random token is read.
- guess & (fate < 0.8) → guess & (fate < 0.9)
- read = torch.where(guess & (fate >= 0.8) & (fate < 0.9), others, read)
+ read = read + 0
or
- guess & (fate < 0.8) → guess & (fate < 0.9)
- guess & (fate >= 0.8) & (fate < 0.9) → guess & (fate >= 0.9)
never-random: No token is read as its random one. Do that for a fate from 0.8 to below 0.9.
- read = torch.where(guess & (fate >= 0.8) & (fate < 0.9), others, read)
+ read = read + 0
fates-swapped: You swapped the last two fates: the random token is read from 0.8 to below 0.9, and from 0.9 on the token
itself.
- (fate >= 0.8) & (fate < 0.9) → (fate >= 0.9)
mask-and-random-swapped: You read the mask where the random token belongs, and the other way round.
- guess & (fate < 0.8), mask_id, tokens → guess & (fate < 0.8), others, tokens
- (fate < 0.9), others, read → (fate < 0.9), torch.full_like(tokens, mask_id), read
random-for-all: Tokens that are not guessed are read as random ones. They are read as they are.
- guess & (fate >= 0.8) & (fate < 0.9) → (fate >= 0.8) & (fate < 0.9)
masked-everywhere: The mask is read where nothing is guessed: its fate decides only about guessed tokens.
- guess & (fate < 0.8) → (fate < 0.8)
or
- guess & (fate < 0.8) → real & (fate < 0.8)
both-everywhere: The fates change tokens that are not guessed. They decide only about those that are.
- guess & (fate < 0.8) → (fate < 0.8)
- guess & (fate >= 0.8) & (fate < 0.9) → (fate >= 0.8) & (fate < 0.9)
one-number-for-both: You took `chance` for the fate as well. Whether a token is guessed and how it is read are two
independent decisions.
- guess & (fate < 0.8) → guess & (chance < 0.8 * share)
- guess & (fate >= 0.8) & (fate < 0.9) → guess & (chance >= 0.8 * share) & (chance < 0.9 * share)
only-guesses-shown: You hide everything that is not guessed. It is what the model guesses *from*.
- return read, guess → return torch.where(guess, read, mask_id), guess
shares-of-the-share: You multiplied 0.8 and 0.9 by `share`. `fate` is a random number of its own, and 0.8 of the guessed
tokens have one below 0.8.
- guess & (fate < 0.8) → guess & (fate < 0.8 * share)
- guess & (fate >= 0.8) & (fate < 0.9) → guess & (fate >= 0.8 * share) & (fate < 0.9 * share)
or
- guess & (fate < 0.8) → guess & (fate < 0.8 * share)
random-overrides: Your random tokens replace masks as well. A fate below 0.8 is a mask, and stays one.
- guess & (fate >= 0.8) & (fate < 0.9) → guess & (fate < 0.9)
either-for-both: You guess what is real *or* has a small `chance`. Both are needed.
- real & (chance < share) → real | (chance < share)
padding-changed: You guess the right positions, but also change tokens that are not real.
- guess & (fate < 0.8) → (chance < share) & (fate < 0.8)
- guess & (fate >= 0.8) & (fate < 0.9) → (chance < share) & (fate >= 0.8) & (fate < 0.9)
fixed-share: Your share is 0.15, whatever is given.
- chance < share → chance < 0.15
targets-for-guesses: You return the targets where the guesses should be. Return True or False for each position.
- return read, guess → return read, torch.where(guess, tokens, -100)
fate-for-chance: You decide by `fate` what is guessed. `chance` does that.
- chance < share → fate < share
boundary-below: A number *at* a boundary belongs to what lies above it: a `chance` equal to `share` is no guess, a fate
of 0.8 reads the random token, and one of 0.9 the token itself.
- chance < share → chance <= share
- guess & (fate < 0.8) → guess & (fate <= 0.8)
- (fate >= 0.8) & (fate < 0.9) → (fate > 0.8) & (fate <= 0.9)
or
- chance < share → chance <= share
or
- guess & (fate < 0.8) → guess & (fate <= 0.8)
- (fate >= 0.8) & (fate < 0.9) → (fate > 0.8) & (fate <= 0.9)
or
- (fate < 0.9) → (fate <= 0.9)
or
- (fate >= 0.8) & (fate < 0.9) → (fate > 0.8) & (fate < 0.9)
swapped: You return the guesses before what is read.
- return read, guess → return guess, read
targets-for-reading: You return the targets: the tokens where they are guessed. What the *model reads* is asked.
- return read, guess → return torch.where(guess, tokens, -100), guess
not-real-read-as-zero: You read what is not real as 0. Tokens that are not guessed are read as they are.
- return read, guess → return read * real, guess
exactly-the-share: You guess exactly the share of the tokens with the lowest chance. Each token is decided by itself.
- chance < share → chance.argsort(1).argsort(1) < share * chance.shape[1]
others-of-another-place: You read the random token of another position. Each has its own.
- others, read → others.flip(1), read
""",
)


def scored(draw: Draw, batch: int, time: int, vocabulary: int, high: float = 0.0) -> Arguments:
    """Rows with different numbers of guesses, some of them none; `high`: added to some of the logits."""
    batch, time, vocabulary = max(2, batch), max(3, time), max(3, vocabulary)
    logits = 1.5 * draw.normal(batch, time, vocabulary) + high * draw.normal(batch, time, vocabulary)
    guess = draw.integers(0, 1, batch, time).bool()
    guess[0], guess[1] = torch.arange(time) < 1, torch.arange(time) > 0
    return logits, draw.integers(0, vocabulary - 1, batch, time), guess


def few(draw: Draw, guessed: int = 0) -> Arguments:
    logits, tokens, guess = scored(draw, 2, 4, 5)
    return logits, tokens, torch.arange(guess.numel()).view_as(guess) < guessed


MASKED_LOSS = ask(
    "pretraining.masked_loss",
    returns=("loss", "slopes"),
    inputs=scored,
    properties=[
        shapes(0.25, name="a number, and a slope for every logit"),
        values("the loss", 1.5, "loss"),
        values("the slopes", 1.25, "slopes"),
        values(
            "nothing is guessed, large logits, odd sizes",
            1,
            at("nothing is guessed", few),
            at("one position is guessed", few, guessed=1),
            at("logits of hundreds", high=200.0),
            ODD,
        ),
    ],
    mistakes="""
loss-everywhere: Your loss counts all positions. Only the guessed ones count; the others can simply be copied.
- torch.where(guess, each, 0.0).sum() / count → each.mean()
- torch.where(guess[..., None], log_p.exp() - right, 0.0) / count → (log_p.exp() - right) / tokens.numel()
or
- torch.where(guess, each, 0.0).sum() / count → each.mean() * bool(guess.any())
divided-by-all: You add up over the guessed positions and divide by the number of *all* positions. Divide by the number
of guesses.
- count = max(1, int(guess.sum())) → count = tokens.numel()
or
- torch.where(guess, each, 0.0).sum() / count → torch.where(guess, each, 0.0).sum() / tokens.numel()
the-others: Your loss counts the positions that are *not* guessed.
- count = max(1, int(guess.sum())) → guess = ~guess
+ count = max(1, int(guess.sum()))
mean-of-means: You averaged each text by itself and then the texts. A text with more guesses counts more: one mean over
the whole batch.
- loss = -torch.where(guess, each, 0.0).sum() / count
+ of_text = guess.sum(1, keepdim=True).clamp(min=1)
+ loss = -(torch.where(guess, each, 0.0) / of_text).sum(1).mean()
- torch.where(guess[..., None], log_p.exp() - right, 0.0) / count
+ torch.where(guess[..., None], log_p.exp() - right, 0.0) / of_text[..., None] / len(tokens)
or
- loss = -torch.where(guess, each, 0.0).sum() / count
+ of_text = guess.sum(1, keepdim=True).clamp(min=1)
+ loss = -(torch.where(guess, each, 0.0) / of_text).sum(1).mean()
or
- loss = -torch.where(guess, each, 0.0).sum() / count
+ of_text = guess.sum(1, keepdim=True).clamp(min=1) * guess.any(1).sum().clamp(min=1)
+ loss = -(torch.where(guess, each, 0.0) / of_text).sum()
- torch.where(guess[..., None], log_p.exp() - right, 0.0) / count
+ torch.where(guess[..., None], log_p.exp() - right, 0.0) / of_text[..., None]
sum-for-mean: You added up all guesses. Divide by their number.
- count = max(1, int(guess.sum())) → count = 1
or
- torch.where(guess, each, 0.0).sum() / count → torch.where(guess, each, 0.0).sum()
loss-reversed: Your loss has the wrong sign. Logarithms of probabilities are negative, so the minus makes it positive.
- loss = -torch.where → loss = torch.where
bits-for-nats: Your loss is in bits. The formula has natural logarithms.
- torch.where(guess, each, 0.0).sum() / count → torch.where(guess, each, 0.0).sum() / count / math.log(2)
probability-for-logarithm: You averaged the probabilities of the right tokens. The loss has their logarithms.
- torch.where(guess, each, 0.0).sum() → torch.where(guess, each.exp(), 0.0).sum()
shifted: You guess the *next* token. A masked model guesses the token at the same position.
- count = max(1, int(guess.sum())) → tokens = tokens.roll(-1, 1)
+ count = max(1, int(guess.sum()))
or
- count = max(1, int(guess.sum()))
+ tokens, guess = tokens.roll(-1, 1), guess.roll(-1, 1) & (torch.arange(tokens.shape[1]) < tokens.shape[1] - 1)
+ count = max(1, int(guess.sum()))
logits-for-log-probabilities: You took the logits themselves. They become log-probabilities by `log_softmax`.
- log_p = logits.log_softmax(-1) → log_p = logits
- log_p.exp() - right → logits.softmax(-1) - right
softmax-over-time: Your softmax runs over the positions. The probabilities of all *tokens* at one position sum to 1.
- logits.log_softmax(-1) → logits.log_softmax(1)
logits-zeroed: You set the logits to 0 where nothing is guessed, and count these positions all the same. Leave them out
of the loss.
- count = max(1, int(guess.sum())) → logits, count = torch.where(guess[..., None], logits, 0.0), tokens.numel()
- torch.where(guess, each, 0.0) → each
log-overflows: With large logits a probability becomes 0 and its logarithm infinite, or `exp` does. Use `log_softmax`.
- logits.log_softmax(-1) → logits.softmax(-1).log()
or
- logits.log_softmax(-1) → (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()
or
- log_p = logits.log_softmax(-1) → log_p = logits - logits.exp().sum(-1, keepdim=True).log()
or
- logits.log_softmax(-1) → logits.softmax(-1).log()
- torch.where(guess, each, 0.0).sum() → (each * guess).sum()
or
- logits.log_softmax(-1) → (logits.softmax(-1) + 1e-9).log()
or
- logits.log_softmax(-1) → (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()
- torch.where(guess[..., None], log_p.exp() - right, 0.0) → (log_p.exp() - right) * guess[..., None]
nothing-by-nothing: Where nothing is guessed you divide 0 by 0. The loss and the slopes are 0 there.
- max(1, int(guess.sum())) → guess.sum()
or
- loss = -torch.where(guess, each, 0.0).sum() / count → loss = -each[guess].mean()
slopes-everywhere: Your slopes are not 0 where nothing is guessed. These positions are not in the loss.
- torch.where(guess[..., None], log_p.exp() - right, 0.0) → (log_p.exp() - right)
or
- torch.where(guess[..., None], log_p.exp() - right, 0.0) → (log_p.exp() - right) * bool(guess.any())
slopes-not-divided: Your slopes are those of the sum. The loss is a mean, so divide them by the number of guesses.
- slopes = torch.where(guess[..., None], log_p.exp() - right, 0.0) / count
+ slopes = torch.where(guess[..., None], log_p.exp() - right, 0.0)
slopes-reversed: Your slopes have the wrong sign. A higher logit of the right token *lowers* the loss.
- log_p.exp() - right → right - log_p.exp()
slopes-divided-by-all: You divided the slopes by the number of *all* positions, and the loss by that of the guesses.
- log_p.exp() - right, 0.0) / count → log_p.exp() - right, 0.0) / tokens.numel()
divided-by-texts: You divided by the number of texts. The loss is a mean over guesses.
- count = max(1, int(guess.sum())) → count = len(tokens)
or
- torch.where(guess, each, 0.0).sum() / count → torch.where(guess, each, 0.0).sum() / len(tokens)
first-token-for-the-rest: You made token 0 the target where nothing is guessed. These positions are no part of the loss.
- count = max(1, int(guess.sum())) → tokens, guess = tokens * guess, guess | True
+ count = tokens.numel()
right-token-only: Only the logits of the right tokens have slopes in yours. Those of all other tokens lower its
probability, so they have slopes, too.
- log_p.exp() - right, 0.0 → (log_p.exp() - right) * right, 0.0
one-hot-forgotten: Your slopes are the probabilities. Subtract 1 at the right token.
- log_p.exp() - right → log_p.exp()
slopes-of-the-probabilities: Your slopes are those in the probabilities, −1 / p. Ask for those in the *logits*.
- log_p.exp() - right → -right / log_p.exp()
accuracy: You return the share of wrong guesses. The loss says how improbable the right tokens are.
- loss = -torch.where(guess, each, 0.0).sum() / count
+ loss = (guess & (logits.argmax(-1) != tokens)).sum() / count
perplexity-for-loss: You return the perplexity, e to the power of the loss.
- return loss, slopes → return loss.exp() * bool(guess.any()), slopes
""",
)

# --- 2. what an ordinary token tells, on paper -------------------------------------------------------------------

points = at_points(g=(0.1, 0.6), m=(0.4, 0.75), r=(0.05, 0.2), vocabulary=(3, 40))
TRUST = question(
    "pretraining.trust",
    returns=("counted", "wrong", "kept"),
    numpy=True,
    properties=[
        formula("a position that counts", 1, points, "counted"),
        formula("a token that is wrong", 1, points, "wrong"),
        formula("the original, where it counts", 1, points, "kept"),
    ],
    mistakes="""
not-given-ordinary: You did not divide by the probability that an ordinary token is read, 1 − g m.
- counted = g * (1 - m) / (1 - g * m) → counted = g * (1 - m)
or
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = g * r * (1 - 1 / vocabulary)
share-itself: That g of the tokens count holds before you see what is read. An ordinary token makes it less probable,
because most that count are masks.
- counted = g * (1 - m) / (1 - g * m) → counted = g
only-unchanged-count: You left out the random tokens. They are ordinary ones, too, and their positions count.
- counted = g * (1 - m) / (1 - g * m) → counted = g * (1 - m - r) / (1 - g * m)
only-random-count: You left out the unchanged tokens. They count, although they are right.
- counted = g * (1 - m) / (1 - g * m) → counted = g * r / (1 - g * m)
masks-counted: You asked how probable a mask is. The token that is read is an ordinary one.
- counted = g * (1 - m) / (1 - g * m) → counted = g * m / (1 - g * m)
odds: You divided by the probability of all other tokens: those are the odds. Divide by the sum of both.
- counted = g * (1 - m) / (1 - g * m) → counted = g * (1 - m) / (1 - g)
given-guessed: That is the probability that a guessed position shows an ordinary token. The other way round is asked:
how probable is a guess, *given* an ordinary token?
- counted = g * (1 - m) / (1 - g * m) → counted = 1 - m
the-reverse: You gave the probability that the position does *not* count.
- counted = g * (1 - m) / (1 - g * m) → counted = (1 - g) / (1 - g * m)
always-wrong: A random token may happen to be the original one, with the probability 1 / V.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = g * r / (1 - g * m)
one-token-fewer: You counted V − 1 tokens. The random one is sampled from all V, the original among them.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = g * r * (1 - 1 / (vocabulary - 1)) / (1 - g * m)
or
- kept = (1 - m - r + r / vocabulary) / (1 - m) → kept = (1 - m - r + r / (vocabulary - 1)) / (1 - m)
wrong-where-it-counts: You gave the probability of a wrong token at a position that counts. Here all positions with an
ordinary token are asked about.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = r * (1 - 1 / vocabulary) / (1 - m)
not-only-guessed: Your probability of a wrong token lacks g: only guessed tokens are ever changed.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = r * (1 - 1 / vocabulary) / (1 - g * m)
or
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = r / (1 - g * m)
part-of-the-guessed: Of the guessed positions with an ordinary token, r / (1 − m) show a random one. You took r itself.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = counted * r * (1 - 1 / vocabulary)
wrong-among-all: You gave the share of random tokens among those that are guessed, masks included.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = r * (1 - 1 / vocabulary)
right-for-wrong: That is the probability that the token is right.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = 1 - g * r * (1 - 1 / vocabulary) / (1 - g * m)
lucky-for-unlucky: A random token is wrong with 1 − 1 / V. You took the probability that it is right, 1 / V.
- wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m) → wrong = g * r / vocabulary / (1 - g * m)
not-given-guessed: You did not divide by 1 − m: at a guessed position an ordinary token is read with that probability.
- kept = (1 - m - r + r / vocabulary) / (1 - m) → kept = 1 - m - r + r / vocabulary
luck-forgotten: A random token may happen to be the original one; then it was kept as well.
- kept = (1 - m - r + r / vocabulary) / (1 - m) → kept = (1 - m - r) / (1 - m)
changed-for-kept: That is the probability that the token was changed.
- kept = (1 - m - r + r / vocabulary) / (1 - m) → kept = 1 - (1 - m - r + r / vocabulary) / (1 - m)
kept-anywhere: You gave the probability that an ordinary token is the original one at *any* position. It is known that
this position counts.
- kept = (1 - m - r + r / vocabulary) / (1 - m) → kept = 1 - g * r * (1 - 1 / vocabulary) / (1 - g * m)
masks-kept: You took the probability that a guessed token becomes another one from 1, so masks are among yours. An
ordinary token is read: divide by 1 − m.
- kept = (1 - m - r + r / vocabulary) / (1 - m) → kept = 1 - r * (1 - 1 / vocabulary)
kept-and-counted: You gave the probability that a position counts *and* was kept. It is known that it counts.
- kept = (1 - m - r + r / vocabulary) / (1 - m)
+ kept = g * (1 - m - r + r / vocabulary) / (1 - g * m)
one-token-more: You counted V + 1 tokens. The random one is sampled from the V ordinary tokens, without [MASK].
- (1 - 1 / vocabulary) → (1 - 1 / (vocabulary + 1))
or
- r / vocabulary → r / (vocabulary + 1)
results-swapped: You return the last two in the wrong order: counted, wrong, kept.
- return counted, wrong, kept → return counted, kept, wrong
""",
)

# --- 3. the probe ------------------------------------------------------------------------------------------------


def vectors(
    draw: Draw, n: int, d: int, m: int, classes: int = 3, ridge: float = 0.3, constant: bool = False
) -> Arguments:
    """Dimensions of different size and level; the new vectors lie elsewhere. Classes of different frequency."""
    n, m = n + classes + 2, m + 1
    size, level = 0.5 + torch.arange(d) % 3, torch.arange(d) % 4 - 1.0
    found, new = (draw.normal(count, d) * size + level for count in (n, m))
    if constant:
        found[:, -1] = 1.5
        found[:, 0], new[:, 0] = found[:, 0] / 1000, new[:, 0] / 1000
    labels = draw.integers(0, classes - 1, n)
    labels[: classes + 2] = torch.tensor([*range(classes), 0, 0])
    return found, labels, new * 1.5 + 0.7, classes, ridge


PROBE = ask(
    "pretraining.probe",
    returns=("scores", "answers"),
    inputs=vectors,
    main=at("three classes", n=6, d=4, m=5),
    properties=[
        shapes(0.25, name="a score for each class, an answer for each vector"),
        values(
            "the scores",
            2.25,
            at("two classes", n=8, d=3, m=6, classes=2),
            at("three classes", n=7, d=5, m=4),
            at("all sizes equal", n=2, d=6, m=5, classes=2),
            "scores",
        ),
        values(
            "the answers",
            0.75,
            at("three classes", n=12, d=4, m=9),
            at("four classes", n=9, d=3, m=12, classes=4),
            "answers",
        ),
        values(
            "a large and a small ridge",
            0.75,
            at("10", n=6, d=3, m=4, ridge=10.0),
            at("0.01", n=7, d=3, m=4, ridge=0.01),
            "scores",
        ),
        values(
            "a constant dimension, more dimensions than vectors",
            0.5,
            at("one constant, one with small numbers", n=6, d=4, m=5, constant=True),
            at("many dimensions", n=2, d=15, m=4),
        ),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
not-standardised: You did not standardise. Then a dimension with small numbers is punished more by λ than one with large
ones.
- z = (vectors - mean) / spread → mean, spread = torch.zeros_like(mean), torch.ones_like(mean)
+ z = vectors - 0
only-centred: You subtracted the mean and did not divide by the standard deviation.
- spread = torch.where(spread > 0, spread, 1.0) → spread = torch.ones_like(spread)
only-divided: You divided by the standard deviation and did not subtract the mean.
- mean, spread = vectors.mean(0), vectors.std(0, unbiased=False)
+ mean, spread = 0 * vectors.mean(0), vectors.std(0, unbiased=False)
new-by-their-own: You standardised the new vectors by their *own* mean and deviation. Then the answer for one vector
depends on which others come with it. Use those of the training vectors.
- scores = (new - mean) / spread @ weights
+ scores = torch.nan_to_num((new - new.mean(0)) / new.std(0, unbiased=False)) @ weights
or
- scores = (new - mean) / spread @ weights
+ own = new.std(0, unbiased=False)
+ scores = (new - mean) / torch.where(own > 0, own, 1.0) @ weights
all-together: You took the mean and the deviation of the training and the new vectors together. That is a look at the
test data; take those of the training vectors.
- mean, spread = vectors.mean(0), vectors.std(0, unbiased=False)
+ both = torch.cat([vectors, new])
+ mean, spread = both.mean(0), both.std(0, unbiased=False)
new-not-standardised: You did not standardise the new vectors. The weights belong to standardised ones.
- (new - mean) / spread @ weights → new @ weights
one-mean-for-all: You took one mean and one deviation over all dimensions. Each dimension has its own.
- vectors.mean(0), vectors.std(0, unbiased=False)
+ vectors.mean().expand(vectors.shape[1]), vectors.std(unbiased=False).expand(vectors.shape[1])
or
- vectors.mean(0), vectors.std(0, unbiased=False)
+ vectors.mean().expand(vectors.shape[1]), vectors.std(0, unbiased=False)
each-vector-by-itself: You standardised each *vector*. The mean and the deviation are those of a dimension, over the
vectors.
- z = (vectors - mean) / spread
+ z = torch.nan_to_num((vectors - vectors.mean(1, keepdim=True)) / vectors.std(1, unbiased=False, keepdim=True))
- (new - mean) / spread @ weights
+ torch.nan_to_num((new - new.mean(1, keepdim=True)) / new.std(1, unbiased=False, keepdim=True)) @ weights
n-minus-one: Your standard deviation is divided by n − 1, as `std` does by default. Divide by n.
- vectors.std(0, unbiased=False) → vectors.std(0)
variance-for-deviation: You divided by the variance. The standard deviation is its root.
- vectors.std(0, unbiased=False) → vectors.var(0, unbiased=False)
constant-by-zero: A dimension with σ = 0 gives 0 / 0. Divide it by 1.
- spread = torch.where(spread > 0, spread, 1.0) → spread = spread + 0
never-by-zero: You added a small number to σ or its square, which changes a dimension with small numbers. Divide by 1
where σ is 0, and elsewhere by σ.
- spread = torch.where(spread > 0, spread, 1.0) → spread = (spread.square() + 1e-5).sqrt()
or
- spread = torch.where(spread > 0, spread, 1.0) → spread = spread + 1e-5
or
- spread = torch.where(spread > 0, spread, 1.0) → spread = (spread.square() + 1e-6).sqrt()
or
- spread = torch.where(spread > 0, spread, 1.0) → spread = spread + 1e-6
targets-mean-forgotten: You did not add the mean of the targets. Without it frequent classes get no more than rare ones.
- scores = (new - mean) / spread @ weights + targets.mean(0) → scores = (new - mean) / spread @ weights
shift-punished: You made the shift smaller by λ, as if it were one of the weights. It is the mean of the targets.
- + targets.mean(0) → + targets.mean(0) / (1 + ridge)
even-for-frequent: You added 1 / K for every class. A class has its own frequency.
- + targets.mean(0) → + 1 / classes
ridge-not-scaled: Your λ is not for the mean: without the division by n, it must be n λ.
- left = z.T @ z / len(z) + ridge → left = z.T @ z + ridge
- z.T @ targets / len(z) → z.T @ targets
ridge-times-n: You divided by n and then multiplied λ by n. The equation has λ itself.
- + ridge * torch.eye → + len(z) * ridge * torch.eye
ridge-forgotten: There is no λ. Without it a probe with many dimensions fits any labels.
- left = z.T @ z / len(z) + ridge * torch.eye(z.shape[1], dtype=z.dtype)
+ left = z.T @ z / len(z) + 1e-9 * torch.eye(z.shape[1], dtype=z.dtype)
or
- left = z.T @ z / len(z) + ridge * torch.eye(z.shape[1], dtype=z.dtype)
- weights = torch.linalg.solve(left, z.T @ targets / len(z))
+ weights = torch.linalg.pinv(z) @ targets
ridge-everywhere: You added λ to every entry. It belongs on the diagonal only.
- ridge * torch.eye(z.shape[1], dtype=z.dtype) → ridge
ridge-squared: You squared λ. The equation has λ itself.
- ridge * torch.eye → ridge**2 * torch.eye
divided-once: You divided one side of the equation by n and not the other.
- z.T @ targets / len(z) → z.T @ targets
or
- left = z.T @ z / len(z) → left = z.T @ z
means-of-classes: You compare with the mean of each class. The weights come from the equation, which also takes into
account how the dimensions vary together.
- weights = torch.linalg.solve(left, z.T @ targets / len(z)) → weights = z.T @ targets / len(z)
signed-targets: Your targets are −1 and 1. They are 0 and 1.
- targets = F.one_hot(labels, classes).to(z) → targets = 2 * F.one_hot(labels, classes).to(z) - 1
softmaxed: You return probabilities. The scores are asked as they are.
- return scores, scores.argmax(1) → return scores.softmax(1), scores.argmax(1)
one-hot-answers: Your answers have a column for each class. Return the number of the best class.
- return scores, scores.argmax(1) → return scores, F.one_hot(scores.argmax(1), classes)
best-vector-for-best-class: Your answers say which *vector* has the highest score of a class. Each vector has one
answer.
- scores.argmax(1) → scores.argmax(0)
least-for-best: Your answers are the classes with the *lowest* score.
- scores.argmax(1) → scores.argmin(1)
""",
)

# --- 4. what does a probe show? ----------------------------------------------------------------------------------

page = on_the_page("the five seeds of the page", 20, [0, 1, 2, 3, 4])


def more_labels(draw: Draw) -> list[Case]:
    """So many that the rival without pretraining catches up, seed 7 with a tie, and about as few as on the page."""
    return [case("500 labelled texts", 500, [7, *other_seeds(draw)]), case("30 labelled texts", 30, other_seeds(draw))]


both = Both((page, more_labels))
WHICH_VECTORS = ask(
    "pretraining.which_vectors",
    returns=("prediction", "shares", "signs"),
    properties=[
        predicted(0.25, page, 4),
        columns("learned and random vectors", 2, both, "shares", 0, 1),
        columns("counts of words, and shuffled labels", 1.75, both, "shares", 2, 3),
        judged("the signs of your own differences", 2, both, signs_of([1, 2], "first", 0.05), "shares", "signs"),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- world(seed) → world(seeds[0])
- random_vectors(seed) → random_vectors(seeds[0])
- shuffled(topics, seed) → shuffled(topics, seeds[0])
one-control-for-all: One of your controls is the same in every row. Give `random_vectors` and `shuffled` the `seed` of
the row.
- random_vectors(seed) → random_vectors(seeds[0])
or
- shuffled(topics, seed) → shuffled(topics, seeds[0])
or
- random_vectors(seed) → random_vectors(seeds[0])
- shuffled(topics, seed) → shuffled(topics, seeds[0])
or
- random_vectors(seed) → random_vectors(0)
shuffled-before-choosing: You shuffled all labels and then took the first ones, so the probe learns from other labels
than in column 1. Shuffle those of the labelled texts.
- shuffled(topics, seed) → shuffled(world(seed)[0][1], seed)[:labelled]
measured-on-taught: You measured on the texts from which the probe has learned. Only the *test* texts say what it knows.
- vectors[tests].mean(1), 2, 0.01 → vectors[train].mean(1), 2, 0.01
- (answers == wanted) → (answers == topics)
or
- vectors[tests].mean(1), 2, 0.01 → vectors[train].mean(1), 2, 0.01
- (answers == wanted) → (answers == labels)
all-labelled: Your probe learns from all 500 training texts. Only the first `labelled` have labels.
- train, topics = train[:labelled], topics[:labelled] → labelled = len(train)
learned-from-labelled: Your word vectors come from the labelled texts. `learned` reads the unlabelled ones.
- table = learned(unlabelled) → table = learned(train)
or
- table = learned(unlabelled) → table = learned(world(seed)[0][0])
learned-from-tests: Your word vectors come from the test texts. `learned` reads the unlabelled ones, so that no test
text has been seen.
- table = learned(unlabelled) → table = learned(tests)
or
- table = learned(unlabelled) → table = learned(torch.cat([tests, unlabelled]))
or
- table = learned(unlabelled) → table = learned(torch.cat([world(seed)[0][0], tests, unlabelled]))
never-random: Column 2 is column 1 again. It has the random vectors.
- (random_vectors(seed), topics) → (table, topics)
never-shuffled: Column 4 is column 1 again. Its probe learns from shuffled labels.
- (table, shuffled(topics, seed)) → (table, topics)
tests-shuffled: You shuffled the labels of the *tests*. The probe is to learn from shuffled labels, and to be measured
with right ones.
-     for vectors, labels in ways:
+     for number, (vectors, labels) in enumerate([*ways[:3], (table, topics)]):
-         row.append(float((answers == wanted).double().mean()))
+         row.append(float((answers == (shuffled(wanted, seed) if number == 3 else wanted)).double().mean()))
random-and-shuffled: Column 4 has the random vectors. Only its labels differ from column 1.
- (table, shuffled(topics, seed)) → (random_vectors(seed), shuffled(topics, seed))
columns-in-another-order: Columns 2 and 3 are swapped: first the random vectors, then the counts.
- (random_vectors(seed), topics), (counts, topics) → (counts, topics), (random_vectors(seed), topics)
sum-for-mean: Your text vector is the sum of its words' vectors. It is the mean.
- vectors[train].mean(1), labels, vectors[tests].mean(1) → vectors[train].mean(1), labels, vectors[tests].sum(1)
or
- vectors[train].mean(1), labels → vectors[train].sum(1), labels
last-word-only: Your text vector is the vector of one word. It is the mean over all words.
- vectors[train].mean(1), labels, vectors[tests].mean(1) → vectors[train][:, -1], labels, vectors[tests][:, -1]
another-ridge: Your λ is not 0.01.
- 2, 0.01) → 2, 1.0)
or
- 2, 0.01) → 2, 0.1)
wrong-for-right: Your shares are those that are *wrong*.
- (answers == wanted) → (answers != wanted)
percent-for-shares: Your shares are in percent. They are between 0 and 1.
- row.append(float((answers == wanted).double().mean())) → row.append(100 * float((answers == wanted).double().mean()))
signs-reversed: Your signs are reversed: 1 means that the share is higher than in column 1.
- (share > row[0]) - (share < row[0]) → (share < row[0]) - (share > row[0])
or
- (share > row[0]) - (share < row[0]) → 1 if share < row[0] else -1
compared-with-chance: You compared with ½. Compare each column with column 1 of the same row.
- (share > row[0]) - (share < row[0]) → (share > 0.5) - (share < 0.5)
compared-with-the-neighbour: You compared each column with the one before it. Compare all three with column 1.
- [(share > row[0]) - (share < row[0]) for share in row[1:]]
+ [(b > a) - (b < a) for a, b in zip(row, row[1:])]
compared-with-the-mean: You compared with the mean of column 1 over all seeds. Compare within the row, because the same
seed has the same texts.
- return prediction, shares, signs
+ mean = sum(row[0] for row in shares) / len(shares)
+ return prediction, shares, [[(share > mean) - (share < mean) for share in row[1:]] for row in shares]
or
- (share > row[0]) - (share < row[0]) → (share > shares[0][0]) - (share < shares[0][0])
ties-counted-as-less: Two equal shares have the sign 0.
- (share > row[0]) - (share < row[0]) → 1 if share > row[0] else -1
or
- (share > row[0]) - (share < row[0]) → 1 if share >= row[0] else -1
differences-for-signs: You return the differences. Return their signs.
- (share > row[0]) - (share < row[0]) → share - row[0]
ones-and-zeros: You wrote 0 where the share is lower. It is −1.
- (share > row[0]) - (share < row[0]) → int(share > row[0])
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 3 → prediction = 0
signs-typed-in: Your signs are the same in every row. Compute them from the shares of the row.
- [(share > row[0]) - (share < row[0]) for share in row[1:]] → [-1, -1, -1]
""",
)

# --- 5. an adapter, by hand --------------------------------------------------------------------------------------


def adapter(
    draw: Draw, n: int, d_in: int, d_out: int, rank: int, alpha: float = 3.0, started: bool = True
) -> Arguments:
    """A frozen matrix and an adapter; `started`: B is not 0 any more."""
    return (
        draw.normal(n, d_in),
        draw.normal(d_out, d_in),
        draw.normal(rank, d_in),
        draw.normal(d_out, rank) * started,
        alpha,
    )


EVEN = at("all sizes equal", n=3, d_in=3, d_out=3, rank=3, alpha=2.0)
ADAPTED = ask(
    "pretraining.adapted",
    returns=("output", "merged", "trained"),
    inputs=adapter,
    main=at("rank 2", n=3, d_in=5, d_out=4, rank=2),
    properties=[
        shapes(0.25, name="an output, a matrix and a number"),
        values("the output", 1.25, EVEN, "output"),
        values("the merged matrix", 1, MAIN, EVEN, "merged"),
        values("how many numbers are trained", 0.5, "trained"),
        values(
            "at the start nothing changes",
            0.5,
            at("B = 0", n=3, d_in=5, d_out=4, rank=2, started=False),
        ),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
scale-forgotten: You left out α / r. It belongs in front of the adapter's part, in the output and in the merged matrix.
- scale = alpha / len(a) → scale = 1.0
alpha-not-divided: You multiplied by α and did not divide by the rank.
- scale = alpha / len(a) → scale = alpha
alpha-forgotten: You divided by the rank and left out α.
- scale = alpha / len(a) → scale = 1 / len(a)
root-of-the-rank: You divided by the root of the rank, as a later variant of LoRA does. Here it is the rank itself.
- scale = alpha / len(a) → scale = alpha / len(a) ** 0.5
rank-of-b: You divided by the number of *outputs*. The rank is the number of rows of A.
- scale = alpha / len(a) → scale = alpha / len(b)
rank-of-the-input: You divided by the number of *inputs*. The rank is the number of rows of A.
- scale = alpha / len(a) → scale = alpha / a.shape[1]
multiplied-by-the-rank: You multiplied by the rank. Divide α by it.
- scale = alpha / len(a) → scale = alpha * len(a)
upside-down: Your factor is r / α. It is α / r.
- scale = alpha / len(a) → scale = len(a) / alpha
output-without-scale: Your output lacks the factor α / r, and your merged matrix has it: they do not fit.
- output = x @ weight.T + scale * (x @ a.T) @ b.T → output = x @ weight.T + (x @ a.T) @ b.T
scaled-twice: Your output has the factor twice. It comes once, for both thin matrices together.
- output = x @ weight.T + scale * → output = x @ weight.T + scale * scale *
all-scaled: You multiplied the frozen part by α / r as well. The factor belongs to the adapter only.
- x @ weight.T + scale * (x @ a.T) @ b.T → scale * (x @ weight.T + (x @ a.T) @ b.T)
or
- return output, weight + scale * b @ a → return output, scale * (weight + b @ a)
adapter-alone: Your output lacks the frozen matrix. The adapter is *added* to what it gives.
- x @ weight.T + scale * (x @ a.T) @ b.T → scale * (x @ a.T) @ b.T
frozen-alone: Your output lacks the adapter.
- output = x @ weight.T + scale * (x @ a.T) @ b.T → output = x @ weight.T
adapter-added-twice: Your output has the adapter's part twice: once in the merged matrix and once beside it.
- output = x @ weight.T + scale * (x @ a.T) @ b.T
+ output = x @ (weight + scale * b @ a).T + scale * (x @ a.T) @ b.T
in-turn: You run the adapter and the frozen part one after the other. Both read the same input, side by side.
- output = x @ weight.T + scale * (x @ a.T) @ b.T
+ output = (x + scale * (x @ a.T) @ a) @ weight.T
adapter-subtracted: You subtracted the adapter's part. Add it.
- x @ weight.T + scale * → x @ weight.T - scale *
- weight + scale * b @ a → weight - scale * b @ a
or
- weight + scale * b @ a → weight - scale * b @ a
nonlinear: You put a function between the two thin matrices. There is none, or the change could not be merged.
- scale * (x @ a.T) @ b.T → scale * (x @ a.T).relu() @ b.T
or
- scale * (x @ a.T) @ b.T → scale * (x @ a.T).tanh() @ b.T
change-for-merged: You return the change B A. The merged matrix is W with it.
- weight + scale * b @ a → scale * b @ a
merged-without-scale: Your merged matrix lacks the factor α / r, so it does not give the same output.
- weight + scale * b @ a → weight + b @ a
not-merged: You return W itself. The merged matrix contains the adapter.
- weight + scale * b @ a → weight.clone()
merged-transposed: Your merged matrix is (in, out). It replaces W, which is (out, in).
- weight + scale * b @ a → (weight + scale * b @ a).T
only-one-trained: You counted one of the two thin matrices. Both are trained.
- a.numel() + b.numel() → b.numel()
or
- a.numel() + b.numel() → a.numel()
everything-counted: You counted the frozen matrix as well. It is not trained.
- a.numel() + b.numel() → a.numel() + b.numel() + weight.numel()
frozen-counted: You counted the frozen matrix. The two thin ones are trained.
- a.numel() + b.numel() → weight.numel()
multiplied-counts: You multiplied the two counts. Numbers in two matrices add up.
- a.numel() + b.numel() → a.numel() * b.numel()
share-for-number: You return a share of the frozen matrix. How *many* numbers are trained?
- a.numel() + b.numel() → (a.numel() + b.numel()) / weight.numel()
rank-for-number: You return the rank. How many *numbers* do both thin matrices have?
- a.numel() + b.numel() → len(a)
sides-for-numbers: You added up the sides of W and left out the rank: r (in + out) numbers are trained.
- a.numel() + b.numel() → a.shape[1] + len(b)
matrix-for-numbers: You multiplied the rank by the size of W. Only the two thin matrices are trained.
- a.numel() + b.numel() → len(a) * weight.numel()
only-what-differs-from-zero: You counted the numbers that are not 0. At the start all of B is 0, and it is trained.
- a.numel() + b.numel() → int((a != 0).sum() + (b != 0).sum())
whole-division: You rounded α / r down. It is an ordinary quotient.
- scale = alpha / len(a) → scale = alpha // len(a)
frozen-transposed: You use W transposed where it is square. It is (out, in), whatever its size.
- return output, weight + → return output, (weight.T if len(weight) == weight.shape[1] else weight) +
""",
)


def upstreamed(
    draw: Draw, n: int, d_in: int, d_out: int, rank: int, alpha: float = 3.0, started: bool = True
) -> Arguments:
    """The same, with an upstream gradient."""
    return *adapter(draw, n, d_in, d_out, rank, alpha, started), draw.normal(n, d_out)


ADAPTER_SLOPES = question(
    "pretraining.adapter_slopes",
    returns=("of_a", "of_b", "of_x"),
    inputs=upstreamed,
    main=at("rank 2", n=3, d_in=5, d_out=4, rank=2),
    numpy=True,
    properties=[
        shapes(0.25, name="the shapes of A, B and X"),
        values("the slopes in A", 1, EVEN, "of_a"),
        values("the slopes in B", 1, MAIN, EVEN, "of_b"),
        values("the slopes in the input", 1.25, MAIN, EVEN, "of_x"),
        values("at the start, odd sizes", 0.5, at("B = 0", n=3, d_in=5, d_out=4, rank=2, started=False), ODD),
    ],
    mistakes="""
scale-forgotten: You left out α / r. The adapter's part of the output has this factor, so all its slopes have it.
- scale = alpha / len(a) → scale = 1.0
alpha-not-divided: You multiplied by α and did not divide by the rank.
- scale = alpha / len(a) → scale = alpha
rank-of-b: You divided by the number of *outputs*. The rank is the number of rows of A.
- scale = alpha / len(a) → scale = alpha / len(b)
no-scale-in-a: Your slope in A lacks the factor α / r.
- return back.T @ x → return (upstream @ b).T @ x
no-scale-in-b: Your slope in B lacks the factor α / r.
- scale * upstream.T @ (x @ a.T) → upstream.T @ (x @ a.T)
no-scale-in-x: In your slope in X the adapter's part lacks the factor α / r.
- upstream @ weight + back @ a → upstream @ weight + upstream @ b @ a
scale-twice-in-a: Your slope in A has the factor α / r twice.
- return back.T @ x → return scale * back.T @ x
all-scaled: Your slope in X has the factor α / r in front of the frozen part as well. Only the adapter has it.
- upstream @ weight + back @ a → scale * (upstream @ weight + upstream @ b @ a)
adapter-path-forgotten: Your slope in X goes through the frozen matrix only. The input reaches the output through the
adapter as well.
- upstream @ weight + back @ a → upstream @ weight
frozen-path-forgotten: Your slope in X goes through the adapter only. W is frozen, but the slope still flows
*through* it.
- upstream @ weight + back @ a → back @ a
paths-subtracted: You subtracted one path of the input from the other. Slopes of several paths add up.
- upstream @ weight + back @ a → upstream @ weight - back @ a
averaged: You averaged over the rows of the batch. The slopes of all rows add up; whatever mean there is in the loss is
already in G.
- return back.T @ x, scale * upstream.T @ (x @ a.T)
+ return back.T @ x / len(x), scale * upstream.T @ (x @ a.T) / len(x)
or
- return back.T @ x → return back.T @ x / len(x)
or
- scale * upstream.T @ (x @ a.T) → scale * upstream.T @ (x @ a.T) / len(x)
first-row-only: Your slopes come from one row of the batch. Those of all rows add up.
- return back.T @ x, scale * upstream.T @ (x @ a.T)
+ return back[:1].T @ x[:1], scale * upstream[:1].T @ (x[:1] @ a.T)
b-left-out: Your slope in A does not depend on B. The second layer lies between A and the output: go back through it.
- return back.T @ x → return scale * (upstream.sum(1, keepdims=True) + 0 * back).T @ x
a-left-out: Your slope in B does not depend on A. The input of the second layer is X Aᵀ.
- scale * upstream.T @ (x @ a.T) → scale * upstream.T @ (x.sum(1, keepdims=True) + 0 * (x @ a.T))
a-transposed: Your slope in A is transposed. It has the shape of A, (r, in).
- return back.T @ x → return x.T @ back
b-transposed: Your slope in B is transposed. It has the shape of B, (out, r).
- scale * upstream.T @ (x @ a.T) → scale * (x @ a.T).T @ upstream
a-and-b-swapped: You return the slope in B before that in A.
- return back.T @ x, scale * upstream.T @ (x @ a.T) → return scale * upstream.T @ (x @ a.T), back.T @ x
of-the-change: You return the slope in B as if B were the whole change: the slope in W is the first step, and A comes
after it.
- scale * upstream.T @ (x @ a.T) → scale * upstream.T @ x
slopes-reversed: Your slopes have the wrong sign. A slope says how the loss grows.
- return back.T @ x, scale * upstream.T @ (x @ a.T) → return -back.T @ x, -scale * upstream.T @ (x @ a.T)
output-for-upstream: You went back with the output of the layer instead of the upstream gradient.
- scale = alpha / len(a) → scale = alpha / len(a)
+ upstream = x @ weight.T + scale * x @ a.T @ b.T
upstream-forgotten: Your slopes do not depend on G. They are those of the sum of all outputs.
- scale = alpha / len(a) → scale = alpha / len(a)
+ upstream = 0 * upstream + 1
slope-of-the-frozen: You return the slope in W, which is frozen. The first slope is that in A.
- return back.T @ x → return upstream.T @ x
stepped: You return the matrices after a step. Only the slopes are asked.
- return back.T @ x, scale * upstream.T @ (x @ a.T) → return a - back.T @ x, b - scale * upstream.T @ (x @ a.T)
scale-twice-in-x: In your slope in X the adapter's part has the factor α / r twice.
- back @ a → scale * back @ a
frozen-transposed: You use W transposed where it is square. It is (out, in), whatever its size.
- upstream @ weight → upstream @ (weight.T if len(weight) == weight.shape[1] else weight)
""",
)

EXERCISES = exercises_in(__name__)
