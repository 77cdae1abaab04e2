"""Questions 7a, 7b and 8: the nearest example, editing it, and which measure of similarity finds better ones."""

import functools
from collections.abc import Sequence

from autograder.exercise.declare import inputs_too, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, Cases, case
from lectures.recipes.pairs import draw_many, english, german
from solutions.translation.checks.common import CLOSED

Text = list[int]

# --- retrieve ---------------------------------------------------------------------------------------------


def _text(draw: Draw, length: int, low: int = 5, vocab: int = 8) -> Text:
    return [low + draw.integer(0, vocab - 1) for _ in range(length)]


def _search(draw: Draw, by_position: bool) -> tuple[Text, list[Text], bool]:
    """A query and six sources; the two measures do not find the same one, nor do the length of the query or the number
    of different words of a source."""
    while True:
        query = [*_text(draw, 5), 6, 6]
        sources = [_text(draw, draw.integer(3, 10)) for _ in range(6)]
        words = [len(set(query) & set(source)) / len(set(query) | set(source)) for source in sources]
        same = [sum(a == b for a, b in zip(query, source, strict=False)) for source in sources]
        by_words, by_place = (
            max(range(6), key=lambda i: numbers[i])
            for numbers in (words, [n / max(7, len(s)) for n, s in zip(same, sources, strict=True)])
        )
        if by_words and by_place and by_words != by_place and same[by_place] > 1:
            return query, sources, by_position


def _by_words(draw: Draw) -> list[Case]:
    return [case(label, *_search(draw, False)) for label in ("by words", DIGITS)]


def _by_position(draw: Draw) -> list[Case]:
    return [case(label, *_search(draw, True)) for label in ("by position", "once more")]


def _alike(draw: Draw) -> list[Case]:
    query = [30, 31, 32, 30]
    return [
        case("several are equally similar, by words", query, [[40], [32, 31, 30], [30, 31, 32], [31]], False),
        case("several are equally similar, by position", query, [[40], [30, 31, 9, 9], [9, 31, 32, 9]], True),
        case("a single source", _text(draw, 3), [_text(draw, 5)], True),
        case("nothing in common", query, [[1, 2], [3]], False),
        case("repeated words", query, [[30, 30, 31, 31, 31], [30, 31, 33]], False),
    ]


NEAREST = question(
    "translation.nearest",
    minutes=15,
    difficulty="easy",
    returns=("index", "similarity"),
    properties=[
        values("by words", 0.75, _by_words),
        values("by position", 0.75, _by_position),
        values("several alike, one source, repetitions", 0.5, _alike),
    ],
    closed=CLOSED,
    mistakes="""
repetitions-counted: By words you count repetitions. Each different word counts once: compare sets.
- one, other = set(query), set(source) → one, other = Counter(query), Counter(source)
- len(one & other) / len(one | other) → (one & other).total() / (one | other).total()

divided-by-the-query: By words you divide by the number of different words of the query, so a source that contains
everything is always the nearest. Divide by the number of words that occur in either.
- len(one | other) → len(one)

divided-by-the-sum: By words you divide by the sum of the two numbers of words, which counts the common ones twice.
- len(one | other) → (len(one) + len(other))

divided-by-the-shorter: By position you divide by the length of the shorter text, so a source of one word can be
perfect. Divide by that of the longer one.
- max(len(query), len(source)) → min(len(query), len(source))

divided-by-the-length-of-the-query: By position you divide by the length of the query. Divide by that of the longer
text.
- max(len(query), len(source)) → len(query)

not-divided: By position you return the number of equal positions. Divide it by the length of the longer text.
-  / max(len(query), len(source)) →

last-of-equals: Of several equally similar sources you take the last. Take the first.
- found.index(max(found)) → len(found) - 1 - found[::-1].index(max(found))

measures-swapped: You swapped the two measures.
- if by_position: → if not by_position:

always-by-words: You do not use `by_position`: the similarity is always that by words.
- if by_position: → if False:

always-by-position: You do not use `by_position`: the similarity is always that by position.
- if by_position: → if True:

farthest: You return the least similar source.
- found.index(max(found)), max(found) → found.index(min(found)), min(found)

counted-from-one: Your index counts from 1. Lists count from 0.
- return found.index(max(found)) → return 1 + found.index(max(found))
""",
)


# --- edit -------------------------------------------------------------------------------------------------

WORDS = 12
"""Words of the source are 5 to 16; their translations are 20 and more, one for each."""


def _lexicon(draw: Draw) -> list[int]:
    order = draw.integers(0, 10**9, WORDS).argsort().tolist()
    return [0] * 5 + [20 + number for number in order]


def _different(draw: Draw, count: int) -> list[int]:
    return [5 + number for number in draw.integers(0, 10**9, WORDS).argsort()[:count].tolist()]


def _moved(lexicon: list[int], source: Text) -> Text:
    """A translation in another order: neighbours swapped. Occurrences of one word keep their order."""
    made = [lexicon[word] for word in source]
    for i in range(0, len(made) - 1, 2):
        made[i], made[i + 1] = made[i + 1], made[i]
    return made


def _one(draw: Draw) -> list[Case]:
    lexicon = _lexicon(draw)
    *source, new = _different(draw, 6)
    query = [*source[:2], new, *source[3:]]
    return [case("one word differs", query, source, _moved(lexicon, source), lexicon)]


def _several(draw: Draw) -> list[Case]:
    lexicon = _lexicon(draw)
    *source, one, two, three = _different(draw, 9)
    query = [one, source[1], two, source[3], three, source[5]]
    return [case("three words differ", query, source, _moved(lexicon, source), lexicon)]


def _repeated(draw: Draw) -> list[Case]:
    lexicon = _lexicon(draw)
    a, b, c, new, other = _different(draw, 5)
    source = [a, a, b, c, a]
    target = _moved(lexicon, source)
    return [
        case("the second of three", [a, new, b, c, a], source, target, lexicon),
        case("the first and the last of three", [new, a, b, c, other], source, target, lexicon),
        case("the last of three", [a, a, b, c, new], source, target, lexicon),
        case("the first two of three", [new, other, b, c, a], source, target, lexicon),
    ]


def _swapped(draw: Draw) -> list[Case]:
    lexicon = _lexicon(draw)
    a, b, c, d = _different(draw, 4)
    source = [a, c, b, d]
    target = _moved(lexicon, source)
    return [
        case("two words swapped", [b, c, a, d], source, target, lexicon),
        case("three words moved on", [c, b, a, d], source, target, lexicon),
    ]


def _odd(draw: Draw) -> list[Case]:
    lexicon = _lexicon(draw)
    a, b, c, d, new = _different(draw, 5)
    target = [lexicon[b], lexicon[a]]
    return [
        case("a longer query", [new, b, c, d], [a, b], [*target, lexicon[b]], lexicon),
        case("a shorter query", [new], [a, b], target, lexicon),
        case("a translation that is missing", [a, b, new], [a, b, c], target, lexicon),
        case("fewer occurrences than in the source", [a, new, b], [a, a, b], target, lexicon),
        case("nothing differs", [a, b], [a, b], target, lexicon),
    ]


EDIT = question(
    "translation.edit",
    minutes=25,
    difficulty="medium",
    returns=("edited",),
    properties=[
        values("one word edited", 0.75, _one),
        values("several words", 0.75, _several),
        values("a word that occurs several times", 1, _repeated),
        values("two words swapped", 0.75, _swapped),
        inputs_too(values("other lengths, missing words; lists unchanged", 0.75, _odd)),
    ],
    closed=CLOSED,
    mistakes="""
all-occurrences: You replace every occurrence of the translation. Only the one that belongs to this word of the source
changes: the k-th for the k-th.
+ edited = list(target)
+ for new, old in zip(query, source):
+     if new != old:
+         edited = [lexicon[new] if word == lexicon[old] else put for word, put in zip(target, edited)]
+ return edited

always-the-first: You always change the first occurrence of the translation. Count the occurrences of the word in the
source: the k-th belongs to the k-th.
- places[count[old]] → places[0]

counted-only-if-different: You count an occurrence only if it differs. The first occurrence counts as well when it
stays as it is, so that the second one finds its own translation.
- count[old] += 1 → count[old] += new != old

one-after-the-other: You look for positions in the list that you are changing, so a word that was just put there is
found and replaced again. Look in `target`, and write into the copy.
- enumerate(target) → enumerate(edited)

by-position: You change the translation at the position of the word in the source. The two languages have different
orders: find the position by the translation of the old word.
+ edited = list(target)
+ for i, (new, old) in enumerate(zip(query, source)):
+     if new != old and i < len(target):
+         edited[i] = lexicon[new]
+ return edited

source-word-put-in: You put in the word of the query itself. Put in its translation.
- = lexicon[new] → = new

nothing-edited: You return the example's translation as it is. Look for the translation of the example's word (not for
the word itself, which is of the other language), and put in that of the query's word.
- word == lexicon[old] → word == old
or
- = lexicon[new] → = lexicon[old]

word-by-word: You return the query word by word, without the example. Its order would be that of the source.
+ return [lexicon[word] for word in query]

appended-if-missing: If a translation is missing in the target, or if the query is longer, you add words at the end.
Nothing changes there.
- zip(query, source, strict=False) → zip(query, [*source, *query[len(source) :]])
- count[old] += 1
+ count[old] += 1
+     if new != old and count[old] > len(places):
+         edited.append(lexicon[new])

caller-changed: You changed the caller's `target`. Work on a copy: the example is needed again, and every word is looked
for in `target` as it was given.
- edited, count = list(target), Counter()
+ given, target, edited, count = target, list(target), target, Counter()
""",
)


# --- the experiment ---------------------------------------------------------------------------------------


@functools.cache
def _ids() -> tuple[dict[str, int], dict[str, int]]:
    """Words of English and of German numbers, from 3 on."""
    numbers = [*range(1, 130), *(digit * 10**power for digit in (1, 2) for power in range(3, 15))]
    both = []
    for say in (english, german):
        words = sorted({word for number in numbers for word in say(number).split()})
        both.append({word: 3 + i for i, word in enumerate(words)})
    return both[0], both[1]


@functools.cache
def _pairs(seed: int, count: int) -> list[list[Text]]:
    source, target = _ids()
    return [
        [[source[word] for word in english(number).split()], [target[word] for word in german(number).split()]]
        for number in draw_many(seed, count, 5, 9)
    ]


@functools.cache
def _lexicon_of_numbers() -> list[int]:
    source, target = _ids()
    said = {english(n): german(n) for n in [*range(1, 20), *range(20, 100, 10)]}
    said |= {"one": "ein", "and": "und", "hundred": "hundert", "thousand": "tausend"}
    said |= {"million": "Millionen", "billion": "Milliarden", "trillion": "Billionen"}
    return [0, 0, 0, *(target[said[word]] for word in sorted(source, key=lambda word: source[word]))]


@functools.cache
def _the_page() -> Cases:
    return on_the_page("the five seeds of the page", _pairs(5, 150), _lexicon_of_numbers(), [0, 1, 2, 3, 4])


def _page(draw: Draw) -> Sequence[Case]:
    return _the_page()(draw)


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    first = draw.integer(0, 300)
    return [case("other numbers, other seeds", _pairs(6, 400)[first : first + 80], _lexicon_of_numbers(), seeds)]


_both = Both((_page, _fresh))

RETRIEVED = question(
    "translation.retrieved",
    minutes=25,
    difficulty="medium",
    returns=("prediction", "bleu", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the five numbers of every seed", 2, _both, "bleu"),
        concluded(
            1.75,
            _both,
            [["lower", 1, 2], ["lower", 3, 4]],
            [["undecided", 1, 2], ["lower", 0, 3], ["lower", 0, 4]],
            [["undecided", 1, 2], ["lower", 0, 4], ["lower", 3, 0]],
            [["lower", 3, 0], ["lower", 4, 0]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- split(pairs, seed) → split(pairs, seeds[0])

tested-on-what-is-remembered: You translate the pairs that you remember, so each finds itself. Translate the 25
others.
- known, new = split(pairs, seed) → known, new = (split(pairs, seed)[0],) * 2

remembered-everything: You look for examples among all pairs, the new ones as well, so each finds itself. Remember
only the 40.
- known, new = split(pairs, seed) → known, new = pairs, split(pairs, seed)[1]

halves-swapped: You remember the 25 pairs and translate the 40. It is the other way round.
- known, new = split(pairs, seed) → new, known = split(pairs, seed)

one-measure-only: Both of your measures give the same numbers: the third argument of `nearest` is False for words and
True for position.
- for how in (False, True) → for how in (False, False)
or
- for how in (False, True) → for how in (True, True)

measures-swapped: You swapped the measures: by words comes first.
- for how in (False, True) → for how in (True, False)

mean-over-sentences: You average BLEU over the sentences. Give all 25 to `corpus_bleu` in one call.
- corpus_bleu(way, [target for _, target in new])[2]
+ sum(corpus_bleu([one], [target])[2] for one, (_, target) in zip(way, new)) / len(new)

references-for-hypotheses: You swapped hypotheses and references. Precision and penalty ask what *was written*.
- corpus_bleu(way, [target for _, target in new]) → corpus_bleu([target for _, target in new], way)

query-edited-into-itself: You swapped query and example in `edit`: compare its first two arguments.
- edit(query, *example, lexicon) → edit(example[0], query, example[1], lexicon)

columns-in-another-order: Your columns are in another order: both measures copied come before both edited.
- bleu.append([corpus_bleu(way, [target for _, target in new])[2] for way in ways])
+ row = [corpus_bleu(way, [target for _, target in new])[2] for way in ways]
+     bleu.append([row[0], row[1], row[3], row[2], row[4]])

best-seed-picked: You return the highest BLEU over all seeds, in every row. Keep the number of every seed.
- conclusion = 3 → bleu = torch.tensor(bleu).amax(0).expand(len(seeds), 5); conclusion = 3

copied-by-position-believed: Your own numbers do not say that an example nearest by position is better when it is
copied: compare the second and the third column, seed by seed.
- conclusion = 3 → conclusion = 1

words-overrated: Your own numbers do not say that an example nearest by words, edited, is better than word by word:
compare the first and the fourth column.
- conclusion = 3 → conclusion = 2

editing-underrated: Your own numbers do not say that editing is worse in both cases: compare the first and the last
column.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers.
- prediction = 1 → prediction = 0
""",
)
