"""Seeds of hidden inputs: the same whenever a submission is graded, and secret.

    seed = HMAC-SHA256(secret of the course, assignment / notebook / student / exercise)

A regrade, a resumed run and a second machine use the same inputs, so they give the same mark. The secret is generated
once per course and kept with the gradebook. NLM_HIDDEN_SEED in the environment replaces it by one seed for all, to
investigate a complaint.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from autograder import check

FILE = Path("grading") / "secret"


def course_secret(root: Path) -> bytes:
    """The secret of the course at `root`, generated at the first call. Only its owner can read the file."""
    path = root / FILE
    try:
        return bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        pass
    except ValueError:
        raise ValueError(
            f"{FILE} is damaged: it must hold one line of hexadecimal digits. Put back a copy, or delete it: hidden"
            " inputs are then drawn anew, and marks of half solutions may change by a regrade"
        ) from None
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    drawn = secrets.token_bytes(32)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was faster
        return course_secret(root)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(drawn.hex() + "\n")
    return drawn


def hidden_seed(secret: bytes, *place: str) -> int:
    """The seed for one exercise of one submission, 32 bits."""
    return check.hidden_seed(int.from_bytes(keyed(secret, *place)[:4]))


def keyed(secret: bytes, *place: str) -> bytes:
    """What only the course can compute for a place, HMAC-SHA256: for whatever follows from the secret."""
    return hmac.new(secret, "\n".join(place).encode(), hashlib.sha256).digest()
