"""Students' texts as vectors of MiniLM, for the order in which a person marks them. No mark depends on them.

The model is the course's own, on this machine; nothing is fetched. What was computed is kept by the digest of its text,
because a text takes a hundredth to a tenth of a second. Vectors reveal something of the texts, so `intake.removal`
deletes the file, and the next marker's page writes it again.
"""

import hashlib
import time
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from autograder.files import write_whole

FILE = "vectors.npz"  # in grading/ASSIGNMENT/
CHARACTERS, TOKENS = 4000, 256  # what counts of a long text; MiniLM was fine-tuned on 128 tokens, and reads up to 512
BATCH = 16


class Vectors:
    """Those of one assignment."""

    def __init__(self, root: Path, assignment: str) -> None:
        self.path = root / "grading" / assignment / FILE
        self._known = self._kept()

    def of(self, text: str) -> Any:
        """A unit vector, or None as long as there is none."""
        return self._known.get(_digest(text))

    def missing(self, texts: Collection[str]) -> list[str]:
        """Those without a vector, the shortest first: texts of one length waste the least time in a batch."""
        return sorted({text for text in texts if _digest(text) not in self._known}, key=lambda text: (len(text), text))

    def compute(self, texts: Collection[str], seconds: float) -> Iterator[int]:
        """Vectors for the texts that have none, for about so long; yields how many have been added, batch by batch.
        Raises OSError, ValueError or ImportError, in words, without the model or with a damaged one."""
        self._known = self._kept()  # alone: `intake.removal` may have deleted the file while this page is open
        missing, until, new = self.missing(texts), time.monotonic() + seconds, dict[bytes, Any]()
        if not missing:
            return
        from nlmcore.pretrained import embed, minilm

        tokenizer = minilm()[1]
        try:
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                made = embed([_beginning(text, tokenizer) for text in batch]).cpu().numpy().astype(np.float16)
                new |= dict(zip(map(_digest, batch), made, strict=True))
                self._known = self._known | new
                yield len(batch)
                if time.monotonic() > until:
                    break
        finally:
            if new:
                self._keep(new)

    def _kept(self) -> dict[bytes, Any]:
        """A file that cannot be read counts as none: all of it can be computed again."""
        try:
            with np.load(self.path, allow_pickle=False) as found:
                return dict(zip(map(bytes, found["digests"]), found["vectors"], strict=True))
        except Exception:
            return {}

    def _keep(self, new: dict[bytes, Any]) -> None:
        self._known = known = self._kept() | new  # another marker's, too
        file = BytesIO()
        digests = np.frombuffer(b"".join(known), np.uint8).reshape(len(known), -1)
        np.savez(file, digests=digests, vectors=np.stack([*known.values()]))
        write_whole(self.path, file.getvalue())


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _beginning(text: str, tokenizer: Any) -> str:
    """What MiniLM reads of a text."""
    text = text[:CHARACTERS].encode("utf-8", "replace").decode()  # JSON may hold half of a surrogate pair
    while (many := len(tokenizer.encode(text))) > TOKENS:
        text = text[: len(text) * TOKENS // many]
    return text
