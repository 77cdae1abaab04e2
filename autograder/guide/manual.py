"""`commands.md`: the commands of instructors and authors, from the help that the commands print themselves."""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.launcher.verbs import BY_WHOM, Verb

WHERE = "autograder/guide/commands.md"
LEFT_OUT = "students"  # their copy of the course says it
OF_CONTRIBUTORS = ("lint", "format", "pythons", "pins", "renumber")  # CONTRIBUTING.md says it
COMMON = ("--course", "--db", "--json", "--help")
SEVERAL = 2
"""An option that so many commands have is explained once."""
HEAD = """\
# Commands

`python3 -m autograder VERB --help` says more, with examples. Commands on a course also take `--course FOLDER`, where
`nbgrader_config.py` lies if not in this checkout, and `--db URL`, a gradebook other than the course's own. Most print
for a program with `--json`. A command ends with 0 if it is done, 1 if it failed or something is missing, 2 if it was
misused.

<!-- From the commands' own help: python -m autograder.guide.renew -->

Several commands have these options:

"""


@dataclass(frozen=True)
class Word:
    """What can be said to a command: an option, or what it works on."""

    shown: str
    about: str
    optional: bool


def page() -> str:
    groups = {
        whom: {name: verb for name, verb in verbs.items() if name not in OF_CONTRIBUTORS}
        for whom, verbs in BY_WHOM.items()
        if whom != LEFT_OUT
    }
    words = {name: list(words_of(verb)) for verbs in groups.values() for name, verb in verbs.items()}
    counted = Counter(word for said in words.values() for word in said if word.optional)
    shared = [word for word, many in counted.items() if many >= SEVERAL]
    made = HEAD + "".join(f"- `{word.shown}`: {word.about}\n" for word in shared)
    for whom, verbs in groups.items():
        made += f"\n## For {whom}\n\n"
        made += "".join(f"- {_entry(name, verb.does, words[name], shared)}\n" for name, verb in verbs.items())
    return made


def _entry(name: str, does: str, words: list[Word], shared: list[Word]) -> str:
    line = " ".join([name, *(word.shown for word in words if not word.optional)])
    short = {word: word.shown.partition(" ")[0] for word in shared}
    options = [
        f"`{short[word]}`" if word in short else f"`{word.shown}` {word.about}".strip()
        for word in words
        if word.optional
    ]
    said = f" Options: {'; '.join(options)}." if options else ""
    return f"`{line}`: {does}.{said}"


def words_of(verb: Verb) -> Iterator[Word]:
    maker = getattr(verb.function, "parser", None)
    if maker is None:  # its words are another program's
        return
    parser: argparse.ArgumentParser = maker()
    for action in parser._actions:  # argparse has no other list of them
        if {*action.option_strings} & {*COMMON}:
            continue
        choices = action.choices if not isinstance(action.choices, range) else ()
        value = "|".join(choices) if choices else action.metavar or action.dest.upper()
        if action.option_strings:
            shown = action.option_strings[-1] + ("" if action.nargs == 0 else f" {value}")
            yield Word(shown, action.help or "", True)
        else:
            yield Word(
                {"?": f"[{value}]", "*": f"[{value} …]", "+": f"{value} …"}.get(str(action.nargs), str(value)),
                "",
                False,
            )
