"""Whether any part of the notebook can bind the name at which a function failed, judging by the text only.

A function that failed gets a second run with only those parts of the notebook that it needs. If it uses a name that
nothing binds, that run must fail as well, so it is skipped. The text is searched, not parsed, because this runs outside
the sandbox.
"""

import builtins
import re

from autograder.sandbox import CellResult

_MOST = 4  # different failures that are looked at
_NO_NAME = re.compile(r"NameError: name '(\w{1,60})' is not defined")
_LINE = re.compile(r"line \d{1,5} of your cell: (.+)")
_BINDS = re.compile(r"=|\b(for|lambda)\b")
_BINDS_UNNAMED = re.compile(
    r"\bimport\s*\*|\b(exec|eval|globals|locals|vars|__dict__|__import__|user_ns)\b|^\s*[%!]", re.M
)


def is_bound_nowhere(found: CellResult, text: str) -> bool:
    """Whether each failure of a function is a name that occurs in the notebook's text only in the line that failed,
    where it is used. Then nothing binds it."""
    faults = {outcome.fault for row in found.outcomes for outcome in row if outcome.fault is not None}
    if not 0 < len(faults) <= _MOST or _BINDS_UNNAMED.search(text):
        return False
    for fault in faults:
        name, line = _NO_NAME.fullmatch(fault.words), _LINE.fullmatch(fault.line)
        if name is None or line is None or hasattr(builtins, name[1]) or _BINDS.search(line[1]):
            return False
        word = re.compile(rf"\b{name[1]}\b")
        if len(word.findall(text)) != len(word.findall(line[1])):
            return False
    return True
