"""The table of the class and the course's own entries: a page without scripts or network, and the same as CSV.

Who stands there is for the instructor to decide: names of entries and students, or pseudonyms that follow from the
course's secret.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.feedback import clean
from autograder.files import write_whole
from autograder.grading.seeds import keyed
from autograder.instructor.table import as_csv
from autograder.pages import part, render
from autograder.race import home, rules
from autograder.race.heats import Result

ROLES = """
Ariel Banquo Beatrice Benedick Bottom Brutus Caliban Cassio Celia Cordelia Cressida Desdemona Dogberry Duncan Edgar
Emilia Falstaff Feste Fluellen Gertrude Goneril Gower Helena Hermia Hero Hippolyta Horatio Iago Imogen Iris
Isabella Jessica Juliet Kent Laertes Lavinia Lorenzo Lucio Malvolio Marina Mercutio Miranda Nerissa Oberon Octavia
Olivia Ophelia Orlando Orsino Othello Paulina Perdita Phebe Portia Prospero Puck Quince Rosalind Shylock Silvia
Thaisa Titania Touchstone Ulysses Viola
""".split()  # noqa: SIM905


@dataclass(frozen=True)
class Row:
    who: str
    entry: str
    bits: dict[float, float]
    own: str
    sample: str = ""

    @property
    def best(self) -> float:
        return min(self.bits.values(), default=math.inf)


def rows(results: Sequence[Result], secret: bytes, names: bool) -> list[Row]:
    """The best first, whatever the distance, and those without a result last."""
    found = [Row("the course", name, bits, "") for name, bits in ours().items()]
    for result in results:
        bits = {seconds: value for seconds in rules.THRESHOLDS if (value := result.bits(seconds)) is not None}
        runs = [run for of in result.runs.values() for run in of.values()]
        who, name = (result.student, result.name) if names else (pseudonym(secret, result.student), "")
        name = f"{name} ({result.kind})".strip() if result.kind else name
        if bits:
            samples = (run["sample"] for run in result.runs[f"{min(bits, key=lambda s: bits[s]):g}"].values())
            own = ", ".join(p for p in rules.PARTS if p not in result.borrowed) or "none"
            found.append(Row(who, name, bits, own, next(iter(samples), "")))
        elif runs:
            found.append(Row(who, name, {}, f"no result: {next((r['fault'] for r in runs if r['fault']), '')}"))
    return sorted(found, key=lambda row: row.best)


def ours() -> dict[str, dict[float, float]]:
    """The course's entries as they were measured: means over the seeds."""
    measured: list[dict[str, Any]] = json.loads(home.MEASURED.read_text(encoding="utf-8"))
    found: dict[str, dict[float, list[float]]] = {}
    for one in measured:
        if float(one["seconds"]) in rules.THRESHOLDS:
            found.setdefault(one["entry"], {}).setdefault(float(one["seconds"]), []).append(one["bits"])
    return {name: {s: sum(bits) / len(bits) for s, bits in of.items()} for name, of in found.items()}


def pseudonym(secret: bytes, student: str) -> str:
    """A role and a number: "Falstaff 83"."""
    code = keyed(secret, "board", student)
    return f"{ROLES[code[0] % len(ROLES)]} {int.from_bytes(code[1:3]) % 900 + 100}"


def write(root: Path, assignment: str, results: Sequence[Result], secret: bytes, names: bool) -> tuple[Path, Path]:
    """The page and the table, in grading/ASSIGNMENT/."""
    found = rows(results, secret, names)
    folder = root / "grading" / assignment
    distances = [f"{seconds:g} s" for seconds in rules.THRESHOLDS]
    heads = ["Place", "Who", "Entry", *distances, "Own parts"]
    lines = [
        [
            str(n) if row.bits else "",
            row.who,
            row.entry,
            *(f"{row.bits[s]:.3f}" if s in row.bits else "" for s in rules.THRESHOLDS),
            row.own,
        ]
        for n, row in enumerate(found, 1)
    ]
    table = part(
        "table",
        "The lowest bits per byte first",
        [h.replace(" s", "\xa0s") for h in heads],
        [[clean.text(v) for v in x] for x in lines],
        (0, 3, 4),
    )
    first = next((row for row in found if row.sample), None)
    sample = (
        Markup("")
        if first is None
        else Markup("<h2>The best entry of the class writes</h2>") + clean.code(first.sample)
    )
    about = Markup(
        "<p>Bits per byte of three plays on which no entry was trained: means over the seeds, scaled to the plays that"
        " everybody has at home. The course's own entries were measured there.</p>"
    )
    page = render(
        "page.html", title=f"The race: {assignment}", head=Markup("<h1>The race</h1>"), body=about + table + sample
    )
    places = folder / "leaderboard.html", folder / "leaderboard.csv"
    for path, content in zip(places, (page, as_csv([heads, *lines])), strict=True):
        write_whole(path, content)
    return places
