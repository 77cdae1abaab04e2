"""What a reader has predicted, kept in one JSON file on this machine and sent nowhere.

    python -m lectures.predictions                  how many were right, lecture by lecture
    python -m lectures.predictions --export my.csv  all of them as a table (or my.json)
    python -m lectures.predictions --forget         delete the file

The file is `nlmcourse/predictions.json` in the user's data folder (XDG_DATA_HOME, by default `~/.local/share`);
NLM_PREDICTIONS names a different one.
"""

import argparse
import csv
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""when, lecture, question, how ("guess", "shown", "room" or, from `lectures.again`, "again"), guess, answer, right; in the room also hands."""
FIELDS = ("when", "lecture", "question", "how", "guess", "answer", "right", "hands")


def place() -> Path:
    """The file. It exists from the first prediction on."""
    if named := os.environ.get("NLM_PREDICTIONS"):
        return Path(named).expanduser()
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "nlmcourse" / "predictions.json"


def kept() -> list[Entry]:
    """All predictions, the oldest first. A file that is no list of them is set aside as `….broken`."""
    path = place()
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(entries, list) and all(
            isinstance(entry, dict) and "question" in entry for entry in entries
        ):
            return entries
    except FileNotFoundError:
        return []
    except ValueError:
        pass
    path.replace(path.with_name(path.name + ".broken"))
    return []


def keep(
    question: str, how: str, guess: Any, answer: Any, right: bool | None, **more: Any
) -> None:
    """Add one prediction. Raises OSError if the file cannot be written."""
    # Jupyter's server tells each kernel the path of its notebook.
    lecture = Path(os.environ.get("JPY_SESSION_NAME", "notebook")).stem
    when = datetime.now(UTC).isoformat(timespec="seconds")
    new = dict(
        when=when,
        lecture=lecture,
        question=question,
        how=how,
        guess=guess,
        answer=answer,
        right=right,
        **more,
    )
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f"{path.name}.{os.getpid()}")
    written.write_text(json.dumps([*kept(), new], indent=1, ensure_ascii=False), encoding="utf-8")
    written.replace(path)


def first_guesses(entries: Sequence[Entry]) -> list[Entry]:
    """The guess that counts for each question: your first, unless you had already seen the answer."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if entry["how"] != "room":
            first.setdefault(entry["question"], entry)
    return [entry for entry in first.values() if entry["how"] == "guess"]


def export(path: Path) -> int:
    """Write all predictions to a .csv or .json file; returns how many.

    Raises ValueError if the file's name ends differently.
    """
    entries = kept()
    if path.suffix == ".json":
        path.write_text(json.dumps(entries, indent=1, ensure_ascii=False), encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, FIELDS, extrasaction="ignore")
            table.writeheader()
            table.writerows(entries)
    else:
        raise ValueError(f"export writes a .csv or a .json file, not {path.name!r}")
    return len(entries)


def main(arguments: Sequence[str] | None = None) -> int:
    about = argparse.ArgumentParser(
        prog="python -m lectures.predictions", description=__doc__.split("\n")[0]
    )
    about.add_argument(
        "--export", type=Path, metavar="FILE", help="write them to a .csv or .json file"
    )
    about.add_argument("--forget", action="store_true", help="delete the file")
    options = about.parse_args(arguments)
    if options.export:
        try:
            print(f"{export(options.export)} predictions written to {options.export}")
        except ValueError as error:
            about.error(str(error))
    elif options.forget:
        place().unlink(missing_ok=True)
        print(f"deleted: {place()}")
    else:
        print(f"kept in {place()}")
        guesses = first_guesses(kept())
        for lecture in sorted({entry["lecture"] for entry in guesses}):
            mine = [entry["right"] for entry in guesses if entry["lecture"] == lecture]
            print(f"  {lecture}: {sum(mine)} of {len(mine)} right")
        if not guesses:
            print("  no prediction yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
