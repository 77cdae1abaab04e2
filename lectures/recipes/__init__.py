"""How the course's own small models are trained and its figures made, each by one command that anyone can repeat.

    python -m lectures.recipes              what there is, and how long it takes
    python -m lectures.recipes NAME         train, measure, write the checkpoint with its card, or the result

`lectures.trained.checkpoint(NAME)` reads what they wrote without them.
"""

from lectures.recipes.run import Interrupted, Recipe, Run

__all__ = ["Interrupted", "Recipe", "Run"]
