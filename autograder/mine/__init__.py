"""A library of one's own. A function that passes its check is kept as `mine/ASSIGNMENT/FUNCTION.py`, next to the folder
of the notebook, with all that it needs of the notebook. Later notebooks use it:

    from autograder.mine import bring, mine, own

    mine()                          shows what is in the library, and what it can do by now
    mine("transformer.rotate")      your function; None if it is missing
    @own("transformer.rotate")      the same, but the function below if it is missing; a line says which it is
    bring("positions.rotary")       puts your function into this cell, to use it or to start from it

- A file is written only if the function passes the check again when it is loaded from it, apart from the notebook and
  without the library: a file needs no other.
- Earlier versions, the latest 20, go to `mine/.history`. A version that passed fewer cases does not replace one that
  passed more.
- Nothing in `mine` can be imported by its name, so no file there hides a module of the course.
- The grader has no library (`sandbox.inside.stub_mine`). There `@own` leaves the notebook's own function in place, and
  what `bring` has put into a cell is part of the submission. So every submission can be graded by itself.
"""

from autograder.mine.saving import keep
from autograder.mine.shelf import shell
from autograder.mine.smollm import smollm2
from autograder.mine.using import bring, mine, own

__all__ = ["bring", "keep", "mine", "own", "shell", "smollm2"]
