"""Question 2d: what a decoder's own output costs it, after teacher forcing and after training on mixed inputs."""

from autograder.exercise.declare import question
from autograder.exercise.draw import Draw
from autograder.exercise.special import columns, concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.sequences.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


_both = Both((_page, _fresh))

OWN_LETTERS = question(
    "sequences.own_letters",
    minutes=40,
    difficulty="hard",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        columns("the errors with true letters, after teacher forcing", 1, _both, "errors", 0),
        columns("the errors with its own letters, after teacher forcing", 1.5, _both, "errors", 1),
        columns("both errors after training on mixed inputs", 1, _both, "errors", 2, 3),
        concluded(
            2,
            _both,
            [["lower", 0, 1], ["lower", 3, 1], ["lower", 2, 0]],
            [["lower", 0, 1], ["lower", 3, 1], ["lower", 0, 2]],
            [["lower", 0, 1], ["lower", 1, 3]],
            ["undecided", 0, 1],
        ),
    ],
    closed=CLOSED,
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
""",
)
