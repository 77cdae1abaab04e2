"""Closed-book questions from earlier weeks: `again()` in a notebook asks three.

    python -m lectures.again                    how many questions you have met, and how many are due
    python -m lectures.again --anki FILE.txt    all of them as a deck for Anki (File, Import)

They are predictions of the lectures that the reader answered a week ago or earlier, those first that are most likely
forgotten. How likely that is follows from all that is known of each (`lectures.predictions`): the first guess, and what
was remembered since. The model of memory is FSRS-5 with its default parameters (Ye et al., Open Spaced Repetition,
"The Algorithm"; https://github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm), with two of its four grades:
again (wrong, or not remembered) and good.

    R(t, S) = (1 + 19/81 · t/S)^−½       probability to remember after t days; S is the time after which R = 0.9
    good     S ← S (1 + e^1.546 (11 − D) S^−0.119 (e^(1.019 (1 − R)) − 1))
    again    S ← min(S, 1.940 D^−0.11 ((S + 1)^0.296 − 1) e^(2.270 (1 − R)))
"""

import argparse
import hashlib
import html
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lectures.predictions import Entry, keep, kept

EARLIER, MANY = 6.0, 3
"""Days that a question rests after its first answer, and how many are asked."""
FIRST_STABILITY = {True: 3.173, False: 0.40255}


def _first_difficulty(grade: int) -> float:
    """grade: 1 again, 2 hard, 3 good, 4 easy."""
    return 7.1949 - math.exp(0.5345 * (grade - 1)) + 1


FIRST_DIFFICULTY = {True: _first_difficulty(3), False: _first_difficulty(1)}
EASY = _first_difficulty(4)
"""Difficulty after a first grade of “easy”, to which all difficulties slowly return."""


def retrievability(days: float, stability: float) -> float:
    return (1 + 19 / 81 * days / stability) ** -0.5


@dataclass(frozen=True)
class Memory:
    question: str
    answer: Any
    lecture: str
    first: datetime
    last: datetime
    stability: float
    difficulty: float

    def chance(self, now: datetime) -> float:
        """That it is remembered now."""
        return retrievability(_days(self.last, now), self.stability)

    def after(self, when: datetime, good: bool) -> "Memory":
        s, d, r = self.stability, self.difficulty, self.chance(when)
        if good:
            s *= 1 + math.exp(1.54575) * (11 - d) * s**-0.1192 * (math.exp(1.01925 * (1 - r)) - 1)
        else:
            s = min(s, 1.9395 * d**-0.11 * ((s + 1) ** 0.29605 - 1) * math.exp(2.2698 * (1 - r)))
            d += 2 * 1.4604 * (10 - d) / 9
        d = min(max(0.0046 * EASY + (1 - 0.0046) * d, 1.0), 10.0)
        return replace(self, last=when, stability=s, difficulty=d)


def memories(entries: Sequence[Entry]) -> list[Memory]:
    """One for each question that was answered, or whose answer was looked at, from all entries, the oldest first."""
    found: dict[str, Memory] = {}
    for entry in entries:
        if entry["how"] == "room":
            continue
        when, good, asked = (
            datetime.fromisoformat(entry["when"]),
            bool(entry["right"]),
            entry["question"],
        )
        if before := found.get(asked):
            found[asked] = before.after(when, good) if entry["how"] == "again" else before
        elif entry["how"] != "again":
            start = FIRST_STABILITY[good], FIRST_DIFFICULTY[good]
            found[asked] = Memory(asked, entry["answer"], entry["lecture"], when, when, *start)
    return list(found.values())


def due(entries: Sequence[Entry], now: datetime, many: int = MANY) -> list[Memory]:
    """The questions of earlier weeks that are most likely forgotten; none that was repeated within a day."""
    old = [
        m for m in memories(entries) if _days(m.first, now) >= EARLIER and _days(m.last, now) >= 1
    ]
    return sorted(old, key=lambda memory: memory.chance(now))[:many]


def _days(first: datetime, last: datetime) -> float:
    return (last - first).total_seconds() / 86_400


def again() -> Any:
    """Three questions, each with a line for your answer and why, which is kept, a button that shows the answer beside it,
    and two that say whether you knew it."""
    import ipywidgets as widgets
    from IPython.display import Markdown, display

    chosen = due(kept(), datetime.now(UTC))
    if not chosen:
        print(
            "Nothing to repeat yet: this asks what you predicted in the lectures a week ago or earlier."
        )
        return None

    def row(memory: Memory) -> Any:
        shown = widgets.Output()
        yours = widgets.Text(
            placeholder="Your answer, and in a sentence why",
            layout=widgets.Layout(width="36em", max_width="100%"),
        )
        buttons = [
            widgets.Button(description=words)
            for words in ("Show the answer", "I knew it", "I did not")
        ]

        def show(_: Any) -> None:
            with shown:
                display(Markdown(f"**Answer:** {memory.answer}"))
            buttons[0].disabled = yours.disabled = True
            buttons[1].disabled = buttons[2].disabled = False

        def note(good: bool) -> None:
            keep(memory.question, "again", yours.value.strip() or None, memory.answer, good)
            buttons[1].disabled = buttons[2].disabled = True

        buttons[1].disabled = buttons[2].disabled = True
        buttons[0].on_click(show)
        buttons[1].on_click(lambda _: note(True))
        buttons[2].on_click(lambda _: note(False))
        asked = widgets.Output()
        with asked:
            display(Markdown(f"**{memory.lecture}.** {memory.question}"))
        return widgets.VBox([asked, yours, widgets.HBox(buttons), shown])

    return widgets.VBox([row(memory) for memory in chosen])


ANKI = ["#separator:tab", "#html:true", "#guid column:1", "#deck column:4"]
"""How a text file tells Anki what its columns are (docs.ankiweb.net, "Text Files"): a name that stays the same, so that a
second import changes notes and adds none; the question; the answer; the deck."""


def deck(entries: Sequence[Entry]) -> str:
    """The questions that were met, as a file for Anki, those first that are most likely forgotten."""

    def field(words: Any) -> str:
        escaped = " ".join(html.escape(str(words), quote=False).split())
        return re.sub(r"\$([^$]+)\$", r"\\(\1\\)", escaped)  # as Anki writes formulas

    now = datetime.now(UTC)
    rows = (
        [
            hashlib.sha256(memory.question.encode()).hexdigest()[:10],
            field(memory.question),
            field(memory.answer),
            f"Neural language models::{memory.lecture}",
        ]
        for memory in sorted(memories(entries), key=lambda memory: memory.chance(now))
    )
    return "\n".join([*ANKI, *("\t".join(row) for row in rows), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    about = argparse.ArgumentParser(
        prog="python -m lectures.again", description=(__doc__ or "").split("\n")[0]
    )
    about.add_argument("--anki", type=Path, metavar="FILE", help="write a deck that Anki imports")
    options = about.parse_args(arguments)
    entries = kept()
    met = len(memories(entries))
    if not options.anki:
        print(
            f"{met} questions met, {len(due(entries, datetime.now(UTC), met))} of them to repeat"
        )
        return 0
    try:
        options.anki.write_text(deck(entries), encoding="utf-8")
    except OSError as error:
        print(f"{options.anki} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{met} questions written to {options.anki}. In Anki: File, Import.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
