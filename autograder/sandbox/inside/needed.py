"""The parts of a notebook that its functions need: the statements that bind the names they use, and nothing else.

A right function must not fail because a plot takes too long, an experiment uses up the memory, or a cell raises before
the function is defined. So if one fails, the notebook is run again in this reduced form.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from autograder.question.statements import Statement, statements_of


def needed(
    sources: Sequence[str], tests: Sequence[str], functions: Iterable[str], plain: Callable[[str], str]
) -> dict[str, str]:
    """Each source -> its remaining statements, on their original lines; a cell that cannot be parsed is left unchanged.

    tests: the text of cells that are run whole. functions: further names that are needed, dots allowed. plain: turns a
    cell's text with magics into Python.
    """
    cells: list[str] = []
    statements: list[Statement] = []
    whole = set()
    for number, source in enumerate(sources):
        cells.append(source)
        try:
            cells[number] = plain(source)  # which raises for some indents
            statements += statements_of(number, cells[number])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            whole.add(number)
    functions = [*functions, *(name for s in _parsed(tests, plain) for name in s.uses)]
    modules = {name for s in statements if s.imports for name in s.binds}
    wanted, kept = {name.partition(".")[0] for name in functions} | {"*"}, set()
    while more := [s for s in statements if s not in kept and (s.binds | s.changes - modules) & wanted]:
        kept.update(more)
        wanted.update(*(s.uses for s in more))
    found = {}
    for number, (given, source) in enumerate(zip(sources, cells, strict=True)):
        lines = {line for s in kept if s.cell == number for line in s.lines}
        # "#", as IPython cuts blank lines off the top
        left = (text if line in lines else "#" for line, text in enumerate(source.split("\n")))
        found[given] = given if number in whole else "\n".join(left)
    return found


def _parsed(sources: Sequence[str], plain: Callable[[str], str]) -> Iterator[Statement]:
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            yield from statements_of(0, plain(source))
