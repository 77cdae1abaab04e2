"""Runs a plain nbgrader test cell, whose asserts must run next to the student's code, under the grader's control.

References to everything it needs are taken in the warm parent, before any of the student's code runs. The test's text
does not pass through the notebook's IPython; an error is recorded here and not by the shell; a number that ends the
cell is recorded here and not by a formatter; and comparisons that the notebook has replaced in libraries are restored.
Still, the student controls what their objects answer, and their functions can inspect their caller, so this proves
nothing.
"""

import ast
import doctest
import linecache
import math
import sys
import unittest
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from IPython.core.inputtransformer2 import TransformerManager

from autograder.question.outcome import torch
from autograder.sandbox.inside.notebook import Notebook, trace
from autograder.sandbox.inside.watch import limit

_MODULES = (
    *(math, doctest, np, np.testing, np.linalg, linecache),
    *(() if torch is None else (torch, torch.testing)),
)
_CLASSES = (
    doctest.OutputChecker,
    doctest.DocTestRunner,
    doctest.DocTestParser,
    doctest.DocTest,
    unittest.TestCase,
)

Run = Callable[[str, Sequence[float]], list[dict[str, Any]]]


def ready(shell: Notebook) -> Run:
    """A function (text of a test cell, seconds) -> outputs."""
    kept = [(owner, dict(vars(owner))) for owner in (*_MODULES, *_CLASSES)]
    transform = TransformerManager().transform_cell
    parse, compile_, exec_, eval_, put = ast.parse, compile, exec, eval, setattr
    whole, real, kind = int.__repr__, float.__repr__, type
    settrace, setprofile, traced, kept_lines = sys.settrace, sys.setprofile, trace, linecache.cache
    begin, done, show, limited = shell.outputs.begin, shell.outputs.done, shell.outputs.show, limit
    space, number, put_back = shell.user_ns, 0, shell.put_back

    def restore() -> None:
        for owner, names in kept:
            now = vars(owner)
            for name, value in names.items():
                if now.get(name) is not value and name not in ("__dict__", "__weakref__", "__warningregistry__"):
                    put(owner, name, value)

    def evaluated(source: str, name: str) -> Any:
        body = parse(transform(source), name)
        last = body.body[-1] if body.body else None
        if not isinstance(last, ast.Expr):
            exec_(compile_(body, name, "exec"), space)
            return None
        exec_(compile_(ast.Module(body.body[:-1], []), name, "exec"), space)
        return eval_(compile_(ast.Expression(last.value), name, "eval"), space)

    def fault(error: BaseException) -> dict[str, Any]:
        kind_of, message = kind(error).__name__[:200], ""
        try:
            message = str(error)[:2000]
            lines = [line[:2000] for line in traced(error, kind_of, message)[:40]]
        except Exception:  # an error of the student's own that cannot be shown
            lines = [kind_of]
        return {"output_type": "error", "ename": kind_of, "evalue": message, "traceback": lines}

    def run(source: str, seconds: Sequence[float]) -> list[dict[str, Any]]:
        nonlocal number
        number += 1
        name = f"<ipython-input-test {number}-grader>"
        begin()
        settrace(None)
        setprofile(None)
        put_back()
        restore()
        kept_lines[name] = (len(source), None, source.splitlines(keepends=True), name)
        value, failed = None, None
        try:
            with limited(seconds):
                value = evaluated(source, name)
        except BaseException as error:
            failed = error
        if kind(value) not in (int, float) and isinstance(value, np.generic) and not isinstance(value, np.bool_):
            value = value.item()
        if value is not None and kind(value) not in (int, float):
            try:
                show("display_data", {"text/plain": repr(value)})
            except Exception:
                value = None  # it cannot be shown, and is no mark
        found = done()
        if failed is not None:
            found.append(fault(failed))
        elif kind(value) in (int, float):
            text = whole(value) if kind(value) is int else real(value)
            data = {"data": {"text/plain": text}, "metadata": {}, "execution_count": number}
            found.append({"output_type": "execute_result", **data})
        return found

    return run
