"""The outputs of a cell, within limits: text and small pictures in nbformat, nothing that a browser runs.

HTML, JavaScript and SVG from a submission are dropped: they would run in the instructor's page.
"""

import base64
import io
from typing import Any

MIME = ("text/plain", "image/png", "image/jpeg")
_MOST_OUTPUTS = 200
_CUT = "\n[The rest of what this cell showed was left out: {limit} bytes are kept.]\n"


class Outputs:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.number = 0
        self.begin()

    def begin(self) -> None:
        self.items: list[dict[str, Any]] = []
        self._left = self.limit
        self._cut = False
        self._clear_next = False

    def text(self, stream: str, words: str) -> None:
        words = self._fit(words)
        if not words:
            return
        self._before()
        last = self.items[-1] if self.items else {}
        if last.get("output_type") == "stream" and last["name"] == stream:
            last["pieces"].append(words)
        else:
            self.items.append({"output_type": "stream", "name": stream, "pieces": [words]})

    def show(self, kind: str, data: dict[str, Any]) -> None:
        kept: dict[str, str] = {}
        for mime in MIME:
            if mime not in data:
                continue
            content = data[mime]
            if mime == "text/plain":
                kept[mime] = self._fit(str(content))
            else:
                code = content if isinstance(content, str) else base64.b64encode(content).decode("ascii")
                if len(code) <= self._left:
                    self._left -= len(code)
                    kept[mime] = code
        if kept and len(self.items) < _MOST_OUTPUTS:
            self._before()
            more = {"execution_count": self.number} if kind == "execute_result" else {}
            self.items.append({"output_type": kind, "data": kept, "metadata": {}, **more})

    def error(self, name: str, message: str, trace: list[str]) -> None:
        """Always kept: one error per cell, each of its parts short."""
        lines = [line[:2000] for line in trace[:40]]
        self.items.append({"output_type": "error", "ename": name[:200], "evalue": message[:2000], "traceback": lines})

    def clear(self, wait: bool) -> None:
        if wait:
            self._clear_next = True
        else:
            self.items.clear()

    def done(self) -> list[dict[str, Any]]:
        for item in self.items:
            if "pieces" in item:
                item["text"] = "".join(item.pop("pieces"))
        return self.items

    def _before(self) -> None:
        if self._clear_next:
            self._clear_next = False
            self.items.clear()

    def _fit(self, words: str) -> str:
        if self._cut or len(self.items) >= _MOST_OUTPUTS:
            return ""
        if len(words) <= self._left:
            self._left -= len(words)
            return words
        kept, self._left, self._cut = words[: self._left], 0, True
        return kept + _CUT.format(limit=self.limit)


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the notebook."""

    encoding = "utf-8"  # type: ignore[assignment]
    errors = "replace"  # type: ignore[assignment]

    def __init__(self, outputs: Outputs, name: str) -> None:
        self._outputs, self.name = outputs, name

    def write(self, words: str) -> int:
        if not isinstance(words, str):
            raise TypeError(f"write() takes text, not {type(words).__name__}")
        self._outputs.text(self.name, words)
        return len(words)

    def writable(self) -> bool:
        return True
