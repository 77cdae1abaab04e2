"""python3 -m autograder translate de 12: renew the catalogue of a lecture; say what is missing, cell by cell.

Without a lecture it renews the words of the site itself (`site.po`) and all lectures that the language has.
"""

import argparse
import sys
from collections import Counter
from typing import Any

from babel import Locale, UnknownLocaleError

from autograder.launcher import say
from autograder.launcher.environment import Environment
from autograder.site import catalogue, publish, words
from autograder.site.catalogue import Translations
from autograder.site.kept import chosen, executed
from autograder.site.prose import Pages, Writer
from autograder.site.sheet import Sheet
from autograder.site.strings import ours
from autograder.site.translated import STALE, UNTRANSLATED, Translation


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python3 -m autograder translate", description=__doc__.partition("\n")[0])
    made.add_argument("language", help="its code: de, hi, pt_BR")
    made.add_argument("lecture", nargs="*", help="its number or its topic, such as attention")
    return made


def translate(place: Environment, rest: list[str]) -> int:
    """Renew catalogues."""
    options = parser().parse_args(rest)
    root, language = place.root, options.language
    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        print(f"There is no language {language!r}.", file=sys.stderr)
        return 2
    lectures = chosen(root, options.lecture)
    site = Translations(root / catalogue.WHERE / language / "site.po", language)
    renew(site, [("", text) for text in of_site()])
    for path in lectures:
        if options.lecture or language in catalogue.languages(root, path.stem):
            translation = publish.translation(root, path, language)
            renew(translation.lecture, asked(translation, executed(path, root)[0]))
    return 0


translate.parser = parser  # type: ignore[attr-defined]


def asked(translation: Translation, told: Any) -> list[tuple[str, str]]:
    """What the page of an executed lecture asks for: (cell, message)."""
    writer = Writer(Pages({}), "lectures/x.py", "lectures/x.html")
    Sheet(writer, told["html"], "", told["scripts"], translation).body(told["notebook"]["cells"])
    return list(translation.asked)


def of_site() -> list[str]:
    """The messages of the site itself."""
    drawn = sorted({said.message for said in ours().every()})
    said = [words.COURSE, words.FOOT, STALE, UNTRANSLATED, *words.of_template(), *words.of_script()]
    return [*publish.MENU, *publish.MORE, *said, *drawn]


def renew(translations: Translations, asked: list[tuple[str, str]]) -> None:
    """Write a catalogue, and say what it lacks, cell by cell."""
    made = translations.renewed(asked)
    translations.write(made)
    every = [message for message in made if message.id]
    missing = Counter(str(message.context or "") for message in every if not message.string)
    stale = Counter(str(message.context or "") for message in every if message.fuzzy)
    done = len(every) - missing.total() - stale.total()
    say.line(f"{translations.path.name}: {done} of {say.count(len(every), 'message')} translated")
    for context in dict.fromkeys(str(message.context or "") for message in every):
        if missing[context] or stale[context]:
            say.line(f"  {context or 'the site'}: {missing[context]} missing, {stale[context]} stale")
