"""Questions 6a and 6b: BLEU of a corpus, and what its penalty rewards."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS
from autograder.exercise.special import at_points, formula
from autograder.exercise.specification import Case, case
from solutions.translation.checks.common import CLOSED

Text = list[int]


def _text(draw: Draw, length: int, vocab: int = 6) -> Text:
    return [9 + draw.integer(0, vocab - 1) for _ in range(length)]


def _changed(draw: Draw, text: Text, shorter: int) -> Text:
    """The same text with a word that is wrong, without its last words, perhaps with a repetition."""
    made = list(text)
    made[draw.integer(0, 1)] = 30
    made = made[: len(made) - shorter]
    return made if draw.integer(0, 1) else [*made[:3], made[2], *made[3:]]


def _corpus(draw: Draw, lengths: list[int], shorter: int) -> tuple[list[Text], list[Text]]:
    references = [_text(draw, length) for length in lengths]
    return [_changed(draw, reference, shorter) for reference in references], references


def _short(draw: Draw) -> list[Case]:
    """Hypotheses that are too short altogether, one of them too long; the mean of the sentences is something else."""
    return [
        case("too short altogether", *_with_a_long_one(draw, [9, 12, 8], 3)),
        case(DIGITS, *_with_a_long_one(draw, [10, 7], 2)),
    ]


def _with_a_long_one(draw: Draw, lengths: list[int], shorter: int) -> tuple[list[Text], list[Text]]:
    hypotheses, references = _corpus(draw, lengths, shorter)
    last = _text(draw, 6)
    return [*hypotheses, [*last, last[-1]]], [*references, last]


def _long(draw: Draw) -> list[Case]:
    hypotheses, references = _corpus(draw, [8, 11], 0)
    return [case("too long", [[*text, 31, 31] for text in hypotheses], references)]


def _repeated(draw: Draw) -> list[Case]:
    """The same word again and again; another sentence's words are no help."""
    reference = _text(draw, 7)
    return [
        case("repetitions", [[reference[0]] * 5 + reference, reference[:6]], [reference, reference]),
        case("words of another sentence", [[31, 32, 33, 34, *reference], reference], [reference, [31, 32, 33, 34, 35]]),
    ]


def _edges(draw: Draw) -> list[Case]:
    reference = _text(draw, 6)
    return [
        case("all right", [reference], [list(reference)]),
        case("texts shorter than four words", [reference[:3], reference[:2]], [reference[:4], reference[:2]]),
        case("nothing right", [[40, 41, 42, 43, 44]], [reference]),
        case("one text empty", [[], reference], [reference[:3], list(reference)]),
        case("nothing written", [[], []], [reference, reference[:2]]),
        case("ids of one digit and of two", [[11, 2, 3, 4, 5, 6]], [[1, 12, 3, 4, 5, 6, 7]]),
    ]


CORPUS_BLEU = question(
    "translation.corpus_bleu",
    minutes=25,
    difficulty="medium",
    returns=("precisions", "brevity", "bleu"),
    properties=[
        values("the precisions", 1.25, _short, "precisions"),
        values("repetitions", 0.5, _repeated, "precisions"),
        values("the penalty of texts that are too short", 0.75, _short, "brevity"),
        values("no penalty, and no reward, for long ones", 0.25, _long, "brevity"),
        values("BLEU", 1.25, _short, "bleu"),
        values("short, empty and entirely wrong texts", 0.5, _edges),
    ],
    closed=CLOSED,
    mistakes="""
not-clipped: You do not clip: an n-gram counts at most as often as it occurs in the reference.
- (ours & theirs).total() → sum(number for group, number in ours.items() if group in theirs)

divided-by-the-reference: You divide by the number of n-grams of the references. That is recall; precision divides by
what was written.
- written[n] += ours.total() → written[n] += theirs.total()

different-n-grams: You count each different n-gram once per sentence. One that occurs twice in both counts twice.
- Counter(tuple( → Counter(set(tuple(
- range(len(words) - n)) for words → range(len(words) - n))) for words

averaged-over-sentences: Your precisions are means over the sentences. Add up the counts of all sentences first, and
divide once: a long sentence counts more.
- right[n] += (ours & theirs).total() → right[n] += (ours & theirs).total() / max(ours.total(), 1)
- written[n] += ours.total() → written[n] += 1

one-large-text: You joined all sentences to one text. An n-gram counts only in the reference of the same sentence, and
none goes across two sentences.
^ hypotheses, references = [sum(hypotheses, [])], [sum(references, [])]

lengths-swapped: In your penalty the two lengths are swapped: it grows when texts get shorter. It is e to the power of
1 − r/c, where c is what was written.
- 1 - r / c → 1 - c / r

long-texts-rewarded: Your penalty is more than 1 if the hypotheses are too long. Then it should be 1.
- min(0, 1 - r / c) → 1 - r / c

plain-ratio: Your penalty is c/r. It is e to the power of 1 − r/c, which is less.
- math.exp(min(0, 1 - r / c)) → min(1, c / r)

penalty-per-sentence: You compute a penalty for each sentence. A short sentence may be made up for by a long one:
compare the total lengths.
- brevity = 0.0 if c == 0 else math.exp(min(0, 1 - r / c))
+ each = [math.exp(min(0, 1 - len(b) / len(a))) if a else 0.0 for a, b in zip(hypotheses, references)]
+ brevity = sum(each) / len(each)

penalty-not-used: You return the penalty, but BLEU does not contain it.
- 100 * brevity * → 100 *

arithmetic-mean: You take the arithmetic mean of the precisions. The geometric one is the fourth root of their
product.
- math.prod(precisions) ** (1 / 4) → sum(precisions) / 4

root-forgotten: You multiply the precisions without taking the fourth root.
-  ** (1 / 4) →

not-in-hundreds: Your BLEU is from 0 to 1. It is from 0 to 100.
- 100 * brevity → brevity

smoothed: You leave out precisions of 0, or replace them by something small. Here BLEU is 0 if one of them is 0.
- math.prod(precisions) ** (1 / 4) → math.prod(p for p in precisions if p) ** (1 / 4)

only-up-to-three: You count n-grams of one word less than asked: n goes from 1 to 4.
- words[i : i + n + 1]) for i in range(len(words) - n))
+ words[i : i + max(n, 1)]) for i in range(len(words) - max(n, 1) + 1))
""",
)


# --- too short --------------------------------------------------------------------------------------------

_points = at_points(r=(60, 100), c=(25, 50), k=(5, 20), p=(0.1, 0.9), s=(0.1, 0.9))

TOO_SHORT = question(
    "translation.too_short",
    minutes=15,
    difficulty="medium",
    returns=("length", "slope"),
    closed=CLOSED,
    properties=[
        formula("the length with a given BLEU", 1, _points, "length"),
        formula("the slope of ln BLEU", 1.5, _points, "slope"),
    ],
    mistakes="""
sign-of-the-logarithm: The sign of ln s is wrong. It is negative, so the length has to become smaller than r.
- 1 - math.log(s) → 1 + math.log(s)

one-forgotten: You forgot the 1 of the exponent: the penalty is e to the power of 1 − r/c.
- r / (1 - math.log(s)) → -r / math.log(s)

share-of-the-length: You return s · r. A text with half of the words has a penalty of 1/e, not one half.
- r / (1 - math.log(s)) → r * s

solved-for-r: You return the length of the *references* if c is given. Solve for c.
- return r / (1 - math.log(s)) → return c * (1 - math.log(s))

precision-constant: You treat the precision as constant. Both k and c grow, so ln k and ln c have slopes as well.
- (r - c) / c**2 + p / k → r / c**2

only-the-precision: You forgot the slope of the penalty, r/c².
- (r - c) / c**2 + p / k → p / k - 1 / c

chain-rule-forgotten: ln k has the slope p/k in c: k grows by p for each further word. You forgot that factor, or
divided by something else.
- + p / k → + 1 / k
or
- + p / k → + p / c

denominator-forgotten: You forgot the slope of −ln c: the precision is k/c, so longer texts divide by more.
- (r - c) / c**2 → r / c**2

sign-of-the-penalty: The slope of −r/c is +r/c². Your sign is wrong.
- (r - c) / c**2 → (-r - c) / c**2

slope-of-bleu: You return the slope of BLEU itself. The question asks for the slope of its *logarithm*.
- (r - c) / c**2 + p / k → ((r - c) / c**2 + p / k) * k / c * math.exp(1 - r / c)
""",
)
