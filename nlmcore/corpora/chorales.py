"""Bach's chorales in four voices as text: one character per voice and sixteenth, soprano, alto, tenor, bass in turn.

    character = chr(MIDI pitch)       middle C is 60, "<"; a semitone up is the next character; " " is silence

The order is that of Huang et al. (2018): all voices of one sixteenth, then the next sixteenth. A held note
is written again at every sixteenth, so a note that is held and one that is struck again look alike, as they do there.

The files are MusicXML in zip archives; they are read with the standard library, and music21 is never imported.
"""

from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash
from nlmcore.corpora.packaged import data_file

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
