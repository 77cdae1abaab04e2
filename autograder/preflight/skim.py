"""A large notebook's text without what is not graded: outputs and the state of widgets.

A notebook of 200 MB is a few kilobytes of code and many pictures. Parsed whole, its JSON would take gigabytes; here the
text is passed over once, string by string and bracket by bracket, and the values of some keys are left out.
"""

import re

HIDDEN_KEYS = (b'"outputs"', b'"widgets"')
MOST_TOKENS, MOST_KEPT = 10_000_000, 1_000_000

# A string, a mark of JSON's, or anything else (numbers, names). Possessive: nothing is remembered, nothing tried twice.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{},:]|[^][\s"{},:]++', re.S)


class TooMuch(ValueError):  # noqa: N818 - about the file
    """There is more in the file than a notebook can hold."""


def skim(content: bytes) -> bytes:
    """The same JSON with `[]` for every value of `HIDDEN_KEYS` that is a list or an object. Raises TooMuch.

    Text that is no JSON stays none.
    """
    kept: list[bytes] = []
    begin = depth = count = 0
    before = last = b""
    for tokens, token in enumerate(_TOKEN.finditer(content)):
        mark = content[token.start() : token.start() + 1]
        if depth:
            depth += (mark in b"[{") - (mark in b"]}")
            if depth == 0:
                begin = token.end()
        elif mark in b"[{" and last == b":" and before in HIDDEN_KEYS:
            kept.append(content[begin : token.start()] + b"[]")
            depth = 1
        else:
            count += 1
            before, last = last, token.group() if token.end() - token.start() < 20 else b""
        if tokens > MOST_TOKENS or count > MOST_KEPT:
            raise TooMuch
    return b"".join([*kept, content[begin:] if not depth else b""])
