"""Assignment "sequences": from one text to another: batches, a context vector, a decoder, its own output, and BLEU.

The functions differ in form from `nlmcore.seq2seq` and `nlmcore.training`, which are modules and losses: here they are
the single steps, on lists and tensors.
"""

import functools
from collections import Counter
from typing import Any

import torch

from autograder.question.declare import exercises_in, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.judges import and_inputs_unchanged
from autograder.question.kinds import DIGITS, EQUAL
from autograder.question.laws.decoding import same_path, words_follow_from_the_states
from autograder.question.laws.ngrams import right_where_known
from autograder.question.sized import ODD, at, these
from autograder.question.special import (
    FRESH,
    PAGE,
    at_points,
    columns,
    concluded,
    experiment,
    formula,
    predicted,
    wrong_line,
)
from autograder.question.specification import Both, Case

CLOSED = (
    "nlmcore.seq2seq",
    "nlmcore.decoding",
    "nlmcore.metrics",
    "nlmcore.recurrent",
    "nlmcore.training",
    "nltk",
    "sacrebleu",
)
"""What reads, trains, writes and measures."""

ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]

# --- 1. what the decoder reads and predicts, reversed sources, and the state after the last word -----------------


def sentences(draw: Draw, lengths: tuple[int, ...], bos: int = 1, eos: int = 2) -> Arguments:
    return [draw.integers(3, 9 + draw.largest, length).tolist() for length in lengths], bos, eos


several = at("targets of several lengths", lengths=(2, 4, 1))
short = these(
    at("an empty target among others", lengths=(2, 0)), at("one target of one word", lengths=(1,), bos=2, eos=1)
)
TEACHER_FORCING = ask(
    "sequences.teacher_forcing",
    returns=("inputs", "outputs"),
    inputs=sentences,
    properties=[
        shapes(0.25, at("targets of one length", lengths=(3, 3))),
        values("the inputs", 1, several, "inputs"),
        values("the outputs", 1, several, "outputs"),
        values("short targets", 0.75, short),
    ],
    mistakes="""
not-shifted: Your inputs and outputs are the same: at each step the decoder is given the very word that it should
predict. It should be given the *previous* one: put `bos` before the inputs and `eos` after the outputs.
- return inputs → return outputs
or
- inputs, outputs → inputs, inputs
exchanged: You swapped inputs and outputs. `bos` is only an input; `eos` is only an output.
- inputs, outputs → outputs, inputs
eos-is-read: The decoder also gets `eos` as an input. Nothing is predicted after it, so it is not needed: inputs and
outputs have one position more than the target, not two.
- + 1, dtype → + 2, dtype
- inputs[row, : len(target) + 1] = torch.tensor([bos, *target])
+ inputs[row, : len(target) + 2] = torch.tensor([bos, *target, eos])
eos-is-read-in-shorter-rows: In rows shorter than the longest, `eos` is among the inputs: cutting off the last column
removes it only from the longest row. Build the inputs from `bos` and the target.
- return inputs, outputs → return torch.cat([inputs[:, :1], outputs[:, :-1]], dim=1), outputs
eos-left-out: Your outputs do not contain `eos`. A decoder that is never trained to predict it never learns to stop.
- *target, eos → *target, 0
filled-with-eos: You padded the outputs with `eos`. It occurs once, after the last word; everything after it is 0.
- torch.zeros_like(inputs) → torch.full_like(inputs, eos)
filled-in-front: You put the padding first. Here it comes after the words.
- inputs[row, : len(target) + 1] → inputs[row, -len(target) - 1 :]
- outputs[row, : len(target) + 1] → outputs[row, -len(target) - 1 :]
eos-behind-the-padding: You put `eos` after the padding. It comes right after the last word: that is where the decoder
has to stop.
- *target, eos → *target, 0
- return
+ outputs[:, -1] = eos
+ return
one-position-too-few: You have as many positions as the longest target has words. With `bos` or `eos` it is one more;
otherwise the longest target loses a word or its end.
- return inputs, outputs → return inputs[:, :-1], outputs[:, :-1]
""",
)


def padded(draw: Draw, lengths: tuple[int, ...], time: int = 0) -> Case:
    """Length 0 stands for `time`; `known`: which rows are full."""
    time = time or draw.largest + 2
    ends = torch.tensor([length or time for length in lengths])
    tokens = draw.integers(3, 99, len(ends), time) * (torch.arange(time) < ends[:, None])
    return Case(label="", calls=((tokens, ends),), known=((ends == time)[:, None].expand(tokens.shape).clone(),))


some = at("several lengths", lengths=(0, 2, 3))
few = these(
    at("more room than the longest needs", lengths=(1, 3), time=5),
    at("one word", lengths=(1,), time=1),
    at(EQUAL, lengths=(4, 2, 4, 3), time=4),
)
REVERSE = ask(
    "sequences.reverse",
    returns=("reversed",),
    inputs=padded,
    properties=[
        values("without padding", 0.5, at("no padding", lengths=(4, 4), time=4), "reversed"),
        values("the padding stays at the end", 1.5, some, "reversed"),
        values("more room, one word", 0.5, few, "reversed"),
        judged("the caller's tokens do not change", 0.5, some, and_inputs_unchanged(right_where_known("reversed"))),
    ],
    mistakes="""
padding-in-front: You reversed the whole row, so the padding comes first. Reverse only the words: each row up to its
length.
+ return tokens.flip(1)
by-the-longest: You reversed all rows by the length of the *longest* one, so shorter ones start with padding. Each row
has its own length.
^ lengths = torch.full_like(lengths, int(lengths.max()))
or
^ lengths = lengths[:1].expand(len(lengths))
off-by-one: You are off by one: the first position gets the word at position length − 1, because positions start at 0.
+ place = torch.arange(tokens.shape[1])
+ back = torch.where(place < lengths[:, None], lengths[:, None] - place, place)
+ return tokens.gather(1, back.clamp(max=tokens.shape[1] - 1))
nothing-reversed: You reversed nothing: these are the tokens in their original order.
+ return tokens.clone()
rows-reversed: You reversed the order of the *sentences*. Reverse the *words* of each: the second axis.
+ return tokens.flip(0)
in-place: You reversed the caller's own tensor. Write into a copy, `tokens.clone()`: a slice such as `tokens[:]` is not
a copy, it shares the memory.
- return reversed_ → return tokens.copy_(reversed_)
last-word-stays: The last word of each row stays where it is. A slice already stops before its end: the words are
`[:length]`, not `[:length - 1]`.
* :length] → : length - 1]
overwritten-while-read: You read from the tensor that you write, so the second half gets words that have already been
replaced. Read from `tokens`.
- reversed_[row, :length] = tokens[row, :length].flip(0)
+ for t in range(length):
+             reversed_[row, t] = reversed_[row, length - 1 - t]
cut-to-the-longest: You return fewer columns than you were given. The padding stays, even where no row reaches.
- return reversed_ → return reversed_[:, : lengths.max()]
""",
)


def states(draw: Draw, time: int, d: int) -> Arguments:
    """The first, the last, the longest and the shortest sentence have different lengths, and no row is full."""
    return draw.normal(4, time + 3, d), torch.tensor([time, time + 2, 1, time + 1])


LAST_STATES = ask(
    "sequences.last_states",
    returns=("states",),
    inputs=at("several lengths", states),
    odd=[
        at("one sentence", lambda draw, time, d: (draw.normal(1, time + 1, d), torch.tensor([time]))),
        at("no padding", lambda draw, time, d: (draw.normal(2, time, d), torch.tensor([time, time]))),
    ],
    properties=[
        shapes(0.2, name="one vector per sentence"),
        values("sentences of several lengths", 1.2),
        values("one sentence, no padding", 0.6, ODD),
    ],
    mistakes="""
state-of-the-padding: You took the last column. For shorter sentences that is a state after *padding*, several steps
after the sentence's own last state. Take the one at length − 1.
+ return states[:, -1]
one-place-for-all: You took the state at the same position in every sentence. Each sentence has its own length: for row
b take the position `lengths[b]` − 1.
+ return states[:, lengths.max() - 1]
or
+ return states[:, lengths[0] - 1]
or
+ return states[:, lengths[-1] - 1]
or
+ return states[:, lengths.min() - 1]
or
+ return states[:, min(len(states), states.shape[1]) - 1]
every-place-of-every-sentence: `states[:, lengths − 1]` takes *all* these positions from *every* sentence, (batch,
batch, d). To pair them, row 0 with the first position, row 1 with the second, both axes need an index.
- torch.arange(len(states)) → :
one-too-far: You took the state at `lengths`, one position after the last word: positions start at 0.
- lengths - 1 → lengths.clamp(max=states.shape[1] - 1)
or
- lengths - 1 → lengths
mean: That is the mean of the states. It is a reasonable summary, but return just the last state.
+ words = torch.arange(states.shape[1]) < lengths[:, None]
+ return (states * words[..., None]).sum(1) / lengths[:, None]
first: You took the first state, which has processed one word. The last one has processed them all.
+ return states[:, 0]
""",
)

# --- 2. how often the decoder is given the reference, and what its own errors cost it ----------------------------

linear = these(
    at("linear", lambda draw: (draw.integer(3, 9), "linear", 0.06)),
    at("linear, long after", lambda draw: (draw.integer(43, 49), "linear", 0.05)),
)
exponential = at("exponential", lambda draw: (draw.integer(2, 9), "exponential", 0.8))
sigmoid = these(
    at("inverse sigmoid", lambda draw: (draw.integer(5, 30), "inverse sigmoid", 6.0 + draw.integer(0, 3))),
    at("inverse sigmoid, early", lambda draw: (draw.integer(1, 3), "inverse sigmoid", 2.0 + draw.integer(0, 2))),
)
at_first = these(
    at("linear, step 0", lambda draw: (0, "linear", 0.1)),
    at("exponential, step 0", lambda draw: (0, "exponential", 0.9)),
)
TEACHER_SHARE = ask(
    "sequences.teacher_share",
    returns=("share",),
    properties=[
        values("linear", 0.5, linear),
        values("exponential", 0.5, exponential),
        values("inverse sigmoid", 0.8, sigmoid),
        values("at the start: always the reference", 0.2, at_first),
    ],
    mistakes="""
reversed: Your fraction grows. Training starts with the reference, fraction 1, and moves away from it: the fraction
falls with the step.
- return max → return 1 - max
- return k**step → return 1 - k**step
- return k / → return 1 - k /
below-zero: Your linear fraction falls below 0. It should stay at 0 once it is there.
- max(0.0, 1 - k * step) → 1 - k * step
step-times-k: In the inverse sigmoid you multiplied the step by k. Divide by it: e^(step / k), so that a larger k means
a *later* fall.
- step / k → min(step * k, 300)
divided-too-late: You divided the exponential by k. Divide the step, before the exponential: e^(step / k).
- math.exp(step / k) → math.exp(step) / k
plain-sigmoid: Your inverse sigmoid has 1 where it should have k, so it starts at one half. With k in numerator and
denominator, k / (k + e^(step / k)), it starts near 1.
- k / (k + → 1 / (1 +
e-to-the-minus-k: Your exponential is e^(−k·step). Here k itself, below 1, is raised to the power of the step: k **
step.
- k**step → math.exp(-k * step)
steps-from-one: You count the steps from 1. The first is step 0, at which only the reference is read.
^ step = step + 1
""",
)


def mixed(draw: Draw, share: float, batch: int = 2, time: int = 4) -> Arguments:
    """Ids that say where they come from: the reference is even, the model's own output is odd."""
    truth, own = draw.integers(2, 40, batch, time) * 2, draw.integers(2, 40, batch, time) * 2 + 1
    coins = draw.integers(0, 999, batch, time) / 1000
    coins[0, :3], coins[-1, :3] = torch.tensor([0.98, 0.05, 0.95]), torch.tensor([0.02, 0.97, 0.03])
    coins[0, -1] = share  # not below it
    return truth, own, coins, share


half = at("a fraction of one half", share=0.5, time=6)
others = these(
    at("mostly the reference", share=0.8, batch=3, time=7),
    at("mostly its own output", share=0.2, time=5),
    at(EQUAL, share=0.5, batch=4),
)
nothing_else = these(at("fraction 1: only the reference", share=1.0), at("fraction 0: only its own output", share=0.0))
MIXED_INPUTS = ask(
    "sequences.mixed_inputs",
    returns=("inputs",),
    inputs=mixed,
    properties=[
        shapes(0.25, half, "one id per position"),
        values("each position by its own coin", 2, half),
        values("other fractions", 1, others),
        values("only the reference, only its own output", 0.75, nothing_else),
    ],
    mistakes="""
one-coin-per-sentence: You use one coin for a whole sentence. Each *position* has its own (Bengio et al. 2015 found that
it works better).
- coins[:, 1:] → coins[:, 1:2]
or
- coins[:, 1:] → coins[:, :1]
coin-reversed: You read the coin the wrong way round: *below* the fraction means the reference.
- < share → > share
or
- < share → >= share
coin-of-the-place-before: You shifted the coins as well. Shift only `own`: the coin at position t decides what is the
input there.
- coins[:, 1:] → coins[:, :-1]
share-ignored: You compare the coins with one half, whatever `share` is.
- < share → < 0.5
first-place-too: You also replaced the first input. It is `bos`: the model has no output yet that could be used.
+ return torch.where(coins < share, truth, torch.cat([own[:, :1], own[:, :-1]], 1))
or
+ return torch.where(coins < share, truth, own.roll(1, 1))
or
+ return torch.where(coins < share, truth, own.roll(1))
own-word-of-the-same-step: At step t your input is the word that the model predicts *at* step t. It does not exist yet:
use the one of the previous step, `own[:, t − 1]`.
- own[:, :-1] → own[:, 1:]
own-word-of-the-next-step: You shifted `own` the wrong way: at step t your input is what the model predicts at step t +
1. Use the word of the previous step, `own[:, t − 1]`.
- own[:, :-1] → own.roll(-1, 1)[:, 1:]
or
- own[:, :-1] → torch.cat([own[:, 2:], own[:, -1:]], 1)
equal-for-below: A coin equal to the share is not *below* it: use `<`, not `<=`.
- < share → <= share
""",
)

points = at_points(epsilon=(0.02, 0.2), delta=(0.35, 0.7), t=(2, 4))
WRONG_SHARE = ask(
    "sequences.wrong_share",
    returns=("settled", "after"),
    properties=[
        formula("the share on which it settles", 1, points, "settled"),
        formula("the share at word t", 1, points, "after"),
    ],
    mistakes="""
errors-breed-nothing: Your shares do not depend on δ. A word after a wrong word is wrong with probability δ, so the
share becomes larger than ε.
- return settled, settled * (1 - (delta - epsilon) ** t) → return epsilon, epsilon
after-right-words-too-often: You used ε after every previous word, p = ε + p δ. Only the fraction 1 − p of the previous
words was right: p = (1 − p) ε + p δ.
- 1 + epsilon - delta → 1 - delta
share-of-right-words: Your first result is the share of right words. The share of wrong ones is what is left.
- epsilon / (1 + epsilon - delta) → (1 - delta) / (1 + epsilon - delta)
sign-in-the-denominator: There is a sign error in your denominator. Bring all terms with p to one side:
p (1 + ε − δ) = ε.
- 1 + epsilon - delta → 1 - epsilon - delta
never-recovers: Your second result is the probability of at least one error in t words. That is the share of wrong words
only if no right word ever follows a wrong one, δ = 1.
- settled * (1 - (delta - epsilon) ** t) → 1 - (1 - epsilon) ** t
distance-for-share: Your second result is the distance that is still to go. Subtract it from the share on which the text
settles.
- settled * (1 - (delta - epsilon) ** t) → settled * (delta - epsilon) ** t
one-word-late: Your second result is the share at word t − 1. Counting begins with p₀ = 0 at `bos`, so t steps lead to
word t.
- ** t) → ** (t - 1))
factor-delta: The distance does not shrink by δ at each step. Subtract the equation of p from that of pₜ: ε is in the
factor as well.
- (delta - epsilon) ** t → delta**t
delta-as-recovery: You took δ for the probability of *recovering*. It is that of a wrong word after a wrong one, so a
right one follows with 1 − δ.
- 1 + epsilon - delta → epsilon + delta
or
- 1 + epsilon - delta → epsilon + delta
- (delta - epsilon) ** t → (1 - delta - epsilon) ** t
factor-turned-round: Your distances change their sign at every step. The factor is δ − ε, not ε − δ.
- (delta - epsilon) → (epsilon - delta)
""",
)

seeds = Both((PAGE, FRESH))
OWN_LETTERS = ask(
    "sequences.own_letters",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, PAGE, 4),
        columns("the errors with true letters, after teacher forcing", 1, seeds, "errors", 0),
        columns("the errors with its own letters, after teacher forcing", 1.5, seeds, "errors", 1),
        columns("both errors after training on mixed inputs", 1, seeds, "errors", 2, 3),
        concluded(
            2,
            seeds,
            [["lower", 0, 1], ["lower", 3, 1], ["lower", 2, 0]],
            [["lower", 0, 1], ["lower", 3, 1], ["lower", 0, 2]],
            [["lower", 0, 1], ["lower", 1, 3]],
            ["undecided", 0, 1],
        ),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- cheques(seed) → cheques(seeds[0])
measured-on-the-training-texts: You measured the errors on the texts that the decoders were trained on. Measure on the
other 150.
* 150:] → :150]
true-letters-again: Columns 1 and 2 are the same, and so are 3 and 4: your decoder never reads its own letters. Start
from `BOS` and copy each letter that it chooses to where the next position reads it.
- alone(decoder, smudged[150:]) → restore(decoder, smudged[150:], before[150:])
one-round-only: You let the decoder choose all letters once and had it read those. The letters that it reads were then
chosen after *true* letters. On its own, each letter follows from its own earlier ones: position by position.
- alone(decoder, smudged[150:])
+ restore(decoder, smudged[150:], torch.cat([
+     before[150:, :1], restore(decoder, smudged[150:], before[150:])[:, :-1]], 1))
reads-only-bos: Your decoder reads `BOS` before every letter. Copy each letter that it chooses into `before`, one column
to the right.
- before[:, t + 1] = restore(decoder, smudged, before)[:, t] → pass
letter-of-the-same-position: Your decoder reads at each position the very letter that it should restore, so teacher
forcing makes hardly an error. Shift: position t reads letter t − 1.
- teacher_forcing(letters.tolist(), BOS, 0)[0][:, :-1] → letters
mixed-with-answers-to-true-letters: You mixed in letters that the decoder chose after reading true ones, so it never
meets the consequences of its errors. Let it restore the training texts on its own.
- alone(first, smudged[:150]), coins → restore(first, smudged[:150], before[:150]), coins
trained-on-true-letters-again: Columns 3 and 4 repeat columns 1 and 2: your second decoder was trained on true letters.
Train it on the mixed inputs.
- fit(smudged[:150], mixed, letters[:150]) → fit(smudged[:150], before[:150], letters[:150])
only-own-letters: You trained the second decoder on its own letters only. The share of true ones should be 0.5.
- coins[:150], 0.5 → coins[:150], 0.0
texts-for-letters: You counted texts with an error. Count letters.
- (found != letters[150:]).double() → (found != letters[150:]).any(1).double()
share-of-right-letters: You return the fraction of right letters. The errors are the rest.
- found != → found ==
better-either-way: With true letters your own numbers say the opposite: after training on mixed inputs the decoder makes
more errors, for every seed. It has learned to trust what it reads before less.
- conclusion = 2 → conclusion = 1
columns-confused: You say that training on mixed inputs raises the errors with own letters. Compare columns 2 and 4.
- conclusion = 2 → conclusion = 3
against-the-numbers: Your own numbers decide it: column 2 is larger than column 1 for every seed.
- conclusion = 2 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
letters-for-inputs: You mixed the true letters themselves with the decoder's own. Mix its *inputs*: at each position the
true letter before, as in teacher forcing.
- mixed_inputs(before[:150] → mixed_inputs(letters[:150]
shifted-twice: You shifted the decoder's own letters before you mixed them, and `mixed_inputs` shifts them again. Give
it the letters at the positions at which they were chosen.
- alone(first, smudged[:150]), coins
+ torch.cat([before[:150, :1], alone(first, smudged[:150])[:, :-1]], 1), coins
""",
)

# --- 3. a decoder that starts from a context vector --------------------------------------------------------------


def decoder(draw: Draw, every_step: bool, least: int = 3, ends: bool = False, e: int = 4) -> Arguments:
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
            return arguments


started = at("the context starts the decoder", every_step=False)
fed = these(at("the context is an input at every step", every_step=True), at(EQUAL, every_step=True, e=5))
ending = these(
    at("it ends by itself", every_step=False, least=2, ends=True),
    at("it ends, context fed", every_step=True, least=2, ends=True),
)
WRITE = ask(
    "sequences.write",
    returns=("tokens", "states"),
    inputs=decoder,
    properties=[
        judged("words follow from your own states", 1, started, words_follow_from_the_states),
        values("the context as the first state", 1.5, started, "states"),
        values("the context at every step", 1.5, fed, "states"),
        judged("where it ends", 2, ending, same_path("the tokens")),
    ],
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
or
- return tokens, torch.stack(states) → return tokens[: len(tokens) - (tokens[-1] == eos)], torch.stack(states)
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
word-from-the-previous-state: You choose a word from the state *before* it was updated. First compute the new state,
then its word: yᵢ follows from hᵢ.
- tokens.append(int((h @ V).argmax()))
+ tokens.append(int(((states[-2] if len(states) > 1 else context) @ V).argmax()))
context-after-the-tanh: You added the context after the tanh. It belongs inside.
- z = z + context @ C → pass
- h = torch.tanh(z) → h = torch.tanh(z) + (context @ C if every_step else 0)
""",
)

# --- 4. how a translation is scored ------------------------------------------------------------------------------


def unordered(hypothesis: list[int], reference: list[int], n: int) -> float:
    """The precision if the order in an n-gram did not matter."""
    ours, theirs = (
        Counter(tuple(sorted(words[i : i + n])) for i in range(len(words) - n + 1)) for words in (hypothesis, reference)
    )
    return (ours & theirs).total() / ours.total()


def one_shorter(draw: Draw) -> tuple[list[int], list[int]]:
    """A text with a wrong word and a repetition, one word shorter than its reference."""
    reference = draw.integers(3, 6, 8 + draw.largest).tolist()
    hypothesis = reference[1:-2]
    hypothesis[draw.integer(1, 3)] = 9
    return [*hypothesis, hypothesis[0], hypothesis[0]], reference


def telling(draw: Draw, n: int) -> Arguments:
    """Some n-grams are right, and some occur more often than in the reference; if n > 1, their order matters, and both
    texts end in the same word."""
    while True:
        made = hypothesis, reference = one_shorter(draw)
        right, found = CLIPPED_PRECISION.reference(*made, n), CLIPPED_PRECISION.mistake("not-clipped")(*made, n)
        if 0 < right < found and (n == 1 or (unordered(*made, n) > right and hypothesis[-1] == reference[-1])):
            return hypothesis, reference, n


def several_digits(draw: Draw) -> Arguments:
    a, b, c, d = (draw.integer(1, 9) for _ in range(4))  # a, bc and ab, c: the same digits, other words
    return [a, 10 * b + c, 100 + d, a, b], [10 * a + b, c, 100 + d, a, b], 2


def ends_like(draw: Draw) -> Arguments:
    a, b = draw.integer(1, 9), draw.integer(1, 9)
    return [a, a, b], [10 * b + a, a, 10 * b], 2


def letters(draw: Draw, hypothesis: str, reference: str, n: int) -> Arguments:
    """Each letter is a word, drawn anew."""
    ids = dict(zip("abcdefg", draw.integers(0, 10**9, 90).argsort()[:7].tolist(), strict=True))
    return [3 + ids[word] for word in hypothesis], [3 + ids[word] for word in reference], n


single = these(at("single words", n=1), at("single words once more", n=1))
groups = these(
    at("pairs of words", n=2),
    at("three words", lambda draw: (*one_shorter(draw), 3)),
    at(DIGITS, several_digits),
    at("an id that ends like another", ends_like),
)
repeats = these(
    at("the same word many times", letters, hypothesis="bbbbbb", reference="bcbdef", n=1),
    at("shorter than n", letters, hypothesis="bc", reference="bcd", n=3),
    at("a perfect start, too short", letters, hypothesis="abc", reference="abcdefg", n=2),
    at("only the end is right", letters, hypothesis="bcade", reference="bfde", n=2),
    at("the end of a longer one", letters, hypothesis="efg", reference="abcdefg", n=2),
)
CLIPPED_PRECISION = ask(
    "sequences.clipped_precision",
    returns=("precision",),
    inputs=telling,
    properties=[
        values("single words", 1, single),
        values("n-grams", 1, groups),
        values("repetitions and short texts", 1, repeats),
    ],
    mistakes="""
not-clipped: A word that you generate six times counts six times, although it occurs twice in the reference: “the the
the the” would be perfect. Each n-gram counts at most as often as it occurs in the reference.
- written & groups(reference) → {group: count for group, count in written.items() if group in groups(reference)}
recall: You divided by the number of n-grams in the *reference*: that is recall. Precision is the fraction of the
*hypothesis* that is right.
^ hypothesis, reference = reference, hypothesis
kinds-counted-once: You counted *different* n-grams. A correct n-gram that occurs twice counts twice.
- Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
+ Counter({tuple(words[i : i + n]) for i in range(len(words) - n + 1)})
or
- sum(right.values()) → len(right)
divided-by-words: You divided by the number of words. There are fewer n-grams than words: length − n + 1.
- max(1, sum(written.values())) → len(hypothesis)
last-group-left-out: You left out the last n-gram. There are length − n + 1 positions for n words, and `range` excludes
its end: `range(length - n + 1)`.
- len(words) - n + 1 → len(words) - n
shorter-groups-counted: At the end of a text you also count groups of fewer than n words. The last n-gram starts at
length − n.
- len(words) - n + 1 → len(words)
or
- len(words) - n + 1 → len(words)
- return sum(right → return (len(hypothesis) >= n) * sum(right
side-by-side: Your n-grams do not overlap, but they should: one starts at every word except the last few.
- range(len(words) - n + 1) → range(0, len(words) - n + 1, n)
n-ignored: You count single words, whatever n is.
^ n = 1
or
^ n = 1 if len(hypothesis) >= n else n
all-orders-averaged: You averaged the precisions of one word to n words, as BLEU does later. Return that of exactly n
words.
- sum(right.values()) / max(1, sum(written.values()))
+ sum(clipped_precision(hypothesis, reference, m) for m in range(1, n)) / n + sum(right.values()) / n / max(
+         1, sum(written.values())
+     )
order-ignored: You ignored the order of the words in an n-gram: *the cat* is not *cat the*.
- tuple(words[i : i + n]) → tuple(sorted(words[i : i + n]))
""",
)

# --- 5. the wrong line of a friend's count of errors -------------------------------------------------------------


def judged_texts(draw: Draw, batch: int, time: int) -> Arguments:
    """A first text that stops too early, a second one that is too long, and others that end where their references do;
    with wrong words after right words and after wrong ones, and right words after both."""
    while True:
        lengths = torch.tensor([time, time - 2, *[time - 1] * (batch - 2)])
        reference = draw.integers(3, 40, batch, time) * (torch.arange(time) < lengths[:, None])
        errs = (draw.integers(0, 9, batch, time) < 4) & (reference > 0)
        written = torch.where(errs, reference + 40, reference)
        written[0, -3], written[0, -2:] = 2, 0
        written[1, -2:] = draw.integers(3, 40, 2)
        rates = ERROR_RATES.reference(written, reference)
        wrong = [ERROR_RATES.planted, *(mistake.implementation for mistake in ERROR_RATES.misconceptions)]
        others = [function(written, reference) for function in wrong if function is not None]
        if all((rates > 0) & (rates < 1)) and not any(torch.equal(rates, other) for other in others):
            return written, reference


more_texts = these(
    at("several texts", lambda draw: judged_texts(draw, 4, draw.largest + 2)), at(EQUAL, batch=5, time=5)
)
ERROR_RATES = ask(
    "sequences.error_rates",
    returns=("rates",),
    inputs=judged_texts,
    properties=[
        values("two texts", 1, at("two texts", lambda draw: judged_texts(draw, 2, draw.largest + 3))),
        values("several texts", 1, more_texts),
    ],
    planted="- counted = reference > 0 → counted = written > 0",
    mistakes="""
beyond-the-end-counted: You also count what was written beyond the end of a reference. Only words of the reference
count.
- counted = reference > 0 → counted = (written > 0) | (reference > 0)
padding-counted: You count padding, where there is no word to be right or wrong. Only words of the reference count.
- counted = reference > 0 → counted = torch.ones_like(reference, dtype=torch.bool)
missing-words-not-counted: You count only positions at which both texts have a word, so a decoder that stops too early
is not blamed for what it leaves out.
- counted = reference > 0 → counted = (written > 0) & (reference > 0)
first-word-changed-as-well: You mended what counts, and now the first word is left out of the first rate. It belongs
there: before it comes `bos`, which cannot be wrong.
- (wrong & ~before).sum() / (counted & ~before).sum()
+ (wrong & ~before)[:, 1:].sum() / (counted & ~before)[:, 1:].sum()
shift-changed-as-well: You mended what counts, and turned the shift around: `before` now says whether the *next* word is
wrong. Turn it back.
- before[:, 1:] = wrong[:, :-1] → before[:, :-1] = wrong[:, 1:]
share-of-all-words: You mended what counts, and now the second rate is divided by all words. It asks: of the words
after a wrong word, which fraction is wrong?
- (counted & before).sum() → counted.sum()
rates-swapped: You swapped the two rates. First comes the one after a right word.
- [after_right, after_wrong] → [after_wrong, after_right]
comparison-changed-instead: You changed what is *wrong* and left what *counts*, so a missing word is an error but not a
word. Change what counts.
- counted = reference > 0 → counted = written > 0
- (written != reference) & counted → written != reference
""",
)

WRONG_LINE = wrong_line(
    "sequences.wrong_line",
    ERROR_RATES,
    mistakes="""
comparison-suspected: Line {written != reference} is right: a word is wrong if it differs from the reference, and
if it counts. Is it the first condition that fails, or the second?
start-suspected: Line {zeros_like} is right: the first word comes after `bos`, so the word before it is not
wrong.
shift-suspected: Line {before[:, 1:]} is right: at position t it says whether the word at t − 1 is wrong.
first-rate-suspected: Line {after_right = } computes a wrong rate, but it divides what it should, the wrong words
after a right one by all words after a right one. Which words does it not know of?
second-rate-suspected: Line {after_wrong = } computes a wrong rate, but it divides what it should, the wrong
words after a wrong one by all words after a wrong one. Which words does it not know of?
order-suspected: Line {torch.stack} is right: first the rate after a right word, then that after a wrong one.
""",
)

# --- 6. what can be read out of a context, if the source is reversed and if it is not ----------------------------

REVERSED_OR_NOT = experiment(
    "sequences.reversed_or_not",
    table="errors",
    points=(0.25, 1.75, 2),
    claims=["1 < 0, 3 < 2", "0 ~ 1, 3 < 2", "1 < 0, 2 ~ 3", "0 ~ 1, 2 ~ 3"],
    within=0.01,
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
* seed, shortest → seeds[0], shortest
- encode(read, seed) → encode(read, seeds[0])
words-reversed-as-well: You asked for the reversed words. Whatever the encoder read, the words to be read out are those
of the source, in its own order.
- misread(contexts, tokens, lengths) → misread(contexts, read, lengths)
padding-reversed-as-well: You reversed whole rows, padding included, so the encoder begins with padding and the context
comes too early. Your `reverse` leaves the padding where it is.
- reverse(tokens, lengths) → tokens.flip(1)
last-column: You took the last column of the states. In a short sentence the encoder has read padding there: your
`last_states` takes the state after the last word.
- last_states(encode(read, seed), lengths) → encode(read, seed)[:, -1]
one-length-only: All your sentences have 8 words. `sources` with `shortest` = 4 makes sentences of 4 to 8.
- in (8, 4) → in (8, 8)
never-reversed: Your columns come in equal pairs: the encoder read the same tokens each time. Give it your `reverse` of
them the second time.
- reverse(tokens, lengths) → tokens
best-seed-picked: You return the lowest error over all seeds, in every row. A method that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 2 → errors = list(torch.stack(errors).amin(0).expand(len(seeds), 4)); conclusion = 2
one-seed-believed: That reversing lowers the error when all sentences have 8 words is true for one of your seeds, not
for all, and the mean difference is within what chance explains.
- conclusion = 2 → conclusion = 1
lengths-swapped: You have the two lengths the wrong way round. Compare columns 1 and 2 for 8 words, and columns 3
and 4 for 4 to 8.
- conclusion = 2 → conclusion = 3
undecided-although-all-agree: With 4 to 8 words your own numbers decide it: reversing lowers the error for every seed.
- conclusion = 2 → conclusion = 4
one-encoder-for-all: You used the same encoder for all seeds. `encode` draws a new one for each.
- encode(read, seed) → encode(read, 0)
""",
)

EXERCISES = exercises_in(__name__)
