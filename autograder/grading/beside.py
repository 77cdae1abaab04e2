"""Small files beside a submission: when it was handed in, and under which name nbgrader releases its feedback."""

from datetime import datetime
from pathlib import Path

from nbgrader import utils

MARKED_LATE_FILE = "marked_late.txt"  # from `collect`: it is late by the word of a system that does not say when
MARKED_LATE = "handed in late, by the LMS's own mark; it does not say when, so nothing was taken off"
NO_TIME = "its timestamp.txt holds no time: whether it was late is not known"


SECRET_FILE = "submission_secret.txt"  # nbgrader's: feedback is released under a name that only its student can know


def secret_of(folder: Path) -> str:
    """What nbgrader wrote when the submission was handed in through the exchange; otherwise empty."""
    path = folder / SECRET_FILE
    if path.is_symlink() or not path.is_file():
        return ""
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read(1000).strip()


def timestamp_of(folder: Path) -> tuple[str | None, str]:
    """(what nbgrader wrote when it collected the submission, what is wrong with it); (None, "") if there is nothing."""
    path = folder / "timestamp.txt"
    if not path.exists():
        return None, MARKED_LATE if (folder / MARKED_LATE_FILE).is_file() else ""
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError("it is not a plain file")
        with open(path, encoding="utf-8") as file:
            words = file.read(200).strip()
        if isinstance(utils.parse_utc(words), datetime):
            return words, ""
    except (OSError, ValueError, OverflowError):
        pass
    return None, NO_TIME
