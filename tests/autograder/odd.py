"""Submissions that are odd in one way each: what a parser may meet in what students hand in, outside the box."""

# ruff: noqa: E501  (a table: one case to a line)

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat

DEEP = 20_000
HUGE = 3_000_000
CELL = "def double(x):\n    return 2 * x\n"

SOURCES = {
    "unary": f"y = {'-' * DEEP}1",
    "nots": f"y = {'not ' * DEEP}1",
    "brackets": f"y = {'(' * DEEP}1{')' * DEEP}",
    "few brackets": f"y = {'(' * 90}1{')' * 90}",
    "open brackets": "y = " + "({[" * 60,
    "attributes": f"y = x{'.a' * DEEP}",
    "sum": "y = " + "+".join("1" * DEEP),
    "calls": f"y = f{'()' * DEEP}",
    "conditions": "y = " + "1 if x else " * 3_000 + "2",
    "lambdas": "y = " + "lambda: " * 3_000 + "1",
    "branches": "if x: pass\n" + "elif x: pass\n" * 3_000,
    "blocks": "\n".join(" " * i + "if x:" for i in range(99)) + "\n" + " " * 99 + "pass",
    "f-strings": 'f"{' * 140 + "1" + '}"' * 140,
    "long line": "x = '" + "a" * HUGE + "'",
    "many lines": "#\n" * (HUGE // 6),
    "zero bytes": "x = 1\0\0",
    "surrogates": "x = '\ud800\udfff'",
    "controls": "".join(map(chr, range(32))) + "\x7f\x9b\u2028\u2029\u202e\ufeff",
    "digits": "x = " + "9" * 100_000,
    "escapes": "x = '\\d\\q'\nif x is 'a': pass",
    "quotes": "'" * 100_001,
    "backslashes": "\\" * 100_001,
    "tabs": "if 1:\n\tx = 1\n        y = 2",
    "carriage returns": "x = 1\r\r\ny = 2\r" * 1_000,
    "spaces": " " * 300_000 + "x",
    "error": "1 / 0",
    "nothing": "",
}
"""Code: the answer to a question."""
WORDS = {
    "links": "[" * 50_000,
    "quotes": ">" * 50_000,
    "emphasis": "*_" * 25_000,
    "stars": "**a " * 12_000,
    "ticks": "`" * 50_000,
    "lists": "\n".join("  " * i + "- a" for i in range(200)),
    "markup": "<b>" * 20_000,
    "comments": "<!--" * 12_000,
    "dollars": "$" * 50_000,
    "braces": "$" + "{" * 1_900 + "}" * 1_900 + "$",
    "fractions": "$" + "\\frac" * 700 + "$",
    "sizes": "$" + "\\left(" * 600 + "$",
    "environments": "\\begin{a}" * 5_000,
    "surrogates": "\ud800 \udfff",
    "zero": "a\0b",
    "table": "|" * 30_000 + "\n" + "|-" * 10_000,
    "entities": "&#" * 20_000,
}
"""Markdown: a written answer."""


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def whole(notebook: nbformat.NotebookNode) -> str:
    return json.dumps(notebook)


FILES: dict[str, Callable[[nbformat.NotebookNode], str | bytes]] = {
    "deep JSON": lambda nb: nested(100_000),
    "deep metadata": lambda nb: whole(nb).replace('"metadata": {', '"metadata": {"x": ' + nested(50_000) + ", ", 1),
    "deep outputs": lambda nb: whole(nb).replace('"outputs": []', '"outputs": ' + nested(50_000)),
    "deep source": lambda nb: whole(nb).replace('"source": "', '"source": ' + nested(50_000) + ', "s": "', 1),
    "an old format": lambda nb: '{"nbformat": 3, "worksheets": [{"cells": [' + nested(900) + "]}]}",
    "a million cells": lambda nb: json.dumps({"nbformat": 4, "cells": [{}] * 1_000_000}),
    "many cells": lambda nb: json.dumps({**nb, "cells": nb.cells + [{"cell_type": "code", "source": CELL}] * 4_900}),
    "a million lines": lambda nb: json.dumps({**nb, "cells": [*nb.cells, {"cell_type": "code", "source": ["\n"] * 10**6}]}),
    "a large number": lambda nb: whole(nb).replace('"nbformat": 4', '"nbformat": ' + "9" * 5_000),
    "no numbers": lambda nb: whole(nb).replace('"nbformat": 4', '"nbformat": NaN'),
    "odd numbers": lambda nb: whole(nb).replace('"points": ', '"points": 1e999, "p": '),
    "zero bytes": lambda nb: whole(nb).encode().replace(b"def", b"\0def"),
    "no UTF-8": lambda nb: b"\xff\xfe\xfd" + whole(nb).encode(),
    "many keys": lambda nb: whole(nb).replace('"metadata": {', '"metadata": {' + "".join(f'"{i}": 1, ' for i in range(99_999))),
    "odd cells": lambda nb: json.dumps({**nb, "cells": [*nb.cells, None, 1, [], {"cell_type": []}, {"metadata": [{}]}]}),
    "odd names": lambda nb: whole(nb).replace('"grade_id": "double"', '"grade_id": {"a": ["\\ud800"]}'),
    "tags": lambda nb: whole(nb).replace('"metadata": {', '"metadata": {"tags": ["\\ud800", [], {}], ', 3),
    "attachments": lambda nb: whole(nb).replace('"cell_type": "markdown"', '"cell_type": "markdown", "attachments": {"a": {"image/png": "\\ud800"}, "b": []}'),
    "empty": lambda nb: "",
    "a page": lambda nb: "<!DOCTYPE html>" + "<div>" * 100_000,
}  # fmt: skip
"""The file itself."""


def hand_in_all(root: Path, assignment: str, name: str) -> list[str]:
    """One student for each of them, beside those who are there; their names."""
    released = nbformat.read(root / "exercises" / assignment / f"{name}.ipynb", as_version=4)
    students = []

    def put(student: str, content: str | bytes) -> None:
        folder = root / "submitted" / student / assignment
        shutil.copytree(root / "exercises" / assignment, folder)
        raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        (folder / f"{name}.ipynb").write_bytes(raw)
        students.append(student)

    for kind, texts in (("code", SOURCES), ("words", WORDS)):
        for number, source in enumerate(texts.values()):
            notebook = json.loads(json.dumps(released))
            for cell in notebook["cells"]:
                about = cell["metadata"].get("nbgrader", {})
                if about.get("solution") and (cell["cell_type"] == "code") == (kind == "code"):
                    cell["source"] = source
            put(f"{kind}{number:02}", json.dumps(notebook))
    for number, make in enumerate(FILES.values()):
        put(f"file{number:02}", make(released))
    (root / "submitted" / "code00" / assignment / "timestamp.txt").write_text("9" * 200)
    (root / "submitted" / "code01" / assignment / "timestamp.txt").write_text("1e99999 \x00 25:61")
    return students
