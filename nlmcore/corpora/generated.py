"""True parallel text without end: numbers in words, and dates as people write them."""

import datetime
import random

from nlmcore.checks import Size, checked
from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash
from nlmcore.corpora.packaged import imported

NUM2WORDS, BABEL = "num2words>=0.5.13,<0.6", "babel>=2.14,<3"
DATE_FORMATS = ("medium", "long", "full")  # "short" leaves open which is the day and which the month


@checked
def numbers(source: str = "en", target: str = "de", size: Size = 10_000, seed: int = 0) -> Corpus:
    """Numbers from 0 to 999,999 from one language into another; "digits" is a language too ("4723").

    All numbers below 1,000, then others drawn by `seed`, four, five or six digits being equally likely. A fourth split,
    "longer", holds 500 each with seven, eight and nine digits, to measure quality against length.
    """
    num2words = imported(NUM2WORDS, "num2words")
    languages = ["digits", *num2words.CONVERTER_CLASSES]
    for name, language in (("source", source), ("target", target)):
        if language not in languages:
            raise ValueError(f"{name} must be one of {languages}, got {language!r:.60}")
    if size > 1_000_000:
        raise ValueError(f"size must be at most 1,000,000, for there are no more numbers below, got {size}")

    def say(number: int, language: str) -> str:
        return str(number) if language == "digits" else num2words.num2words(number, lang=language)

    draw = random.Random(seed)
    chosen = dict.fromkeys(range(min(size, 1000)))
    while len(chosen) < size:
        digits = draw.choice((4, 5, 6))
        chosen[draw.randrange(10 ** (digits - 1), 10**digits)] = None
    longer = [draw.randrange(10 ** (digits - 1), 10**digits) for digits in (7, 8, 9) for _ in range(500)]

    def document(number: int) -> Document:
        return Document(text=say(number, source), target=say(number, target), title=str(number))

    splits = split_by_hash(map(document, chosen), lambda document: document.title)
    return Corpus(
        name="numbers",
        about=f"numbers from 0 to 999,999 in words, from {source} into {target}",
        licence="generated, free of rights (num2words itself: LGPL)",
        source=f"num2words on PyPI, lang {source!r} and {target!r}, seed {seed}",
        split_rule=BY_HASH.format(key="the number in digits") + "; the split 'longer' has numbers of 7 to 9 digits",
        splits={**splits, "longer": tuple(map(document, longer))},
    )


@checked
def dates(
    locales: tuple[str, ...] = ("en_US", "en_GB", "de", "fr", "es", "it", "nl"), size: Size = 10_000, seed: int = 0
) -> Corpus:
    """Dates from 1900 to 2099 as written in some locales ("Donnerstag, 4. März 2021"), into ISO ("2021-03-04")."""
    formats, core = imported(BABEL, "babel.dates"), imported(BABEL, "babel.core")
    locales = tuple(locales)
    if not locales:
        raise ValueError("locales must name at least one locale, got none")
    parsed = []
    for locale in locales:
        try:
            parsed.append(core.Locale.parse(locale))
        except (ValueError, TypeError, core.UnknownLocaleError) as error:
            raise ValueError(f"locales must be names of locales that babel knows, got {locale!r:.60}") from error
    draw = random.Random(seed)
    start, end = datetime.date(1900, 1, 1).toordinal(), datetime.date(2100, 1, 1).toordinal()
    documents = []
    for _ in range(size):
        date = datetime.date.fromordinal(draw.randrange(start, end))
        locale = draw.choice(parsed)
        text = formats.format_date(date, draw.choice(DATE_FORMATS), locale=locale)
        text = text.replace("\u202f", " ").replace("\u00a0", " ")
        documents.append(Document(text=text, target=date.isoformat(), label=str(locale)))
    return Corpus(
        name="dates",
        about="dates as written in " + ", ".join(locales) + ", each with its ISO form; labelled with the locale",
        licence="generated from the Unicode CLDR (Unicode licence) by babel (BSD)",
        source=f"babel on PyPI, formats {', '.join(DATE_FORMATS)}, seed {seed}",
        split_rule=BY_HASH.format(key="the ISO date"),
        splits=split_by_hash(documents, lambda document: document.target or ""),
    )
