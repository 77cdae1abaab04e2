"""How the course's own small models are trained and its figures made, each by one command that anyone can repeat.

    python -m lectures.recipes              what there is, and how long it takes
    python -m lectures.recipes NAME         train, measure, write the checkpoint with its card, or the result

Nothing else in nlmcore imports this package; `nlmcore.pretrained.checkpoint(NAME)` only reads what it wrote.
"""

from lectures.recipes.run import Interrupted, Recipe, Run

__all__ = ["Interrupted", "Recipe", "Run"]
