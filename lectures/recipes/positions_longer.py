"""Figure: does the ranking of `positions` on the hidden letter hold after six times the training? The same rows, three seeds."""

from dataclasses import replace

from lectures.recipes.experiment import said
from lectures.recipes.positions import LETTERS, ROWS, named
from lectures.recipes.run import Run, recipe

LONGER = replace(LETTERS, steps=1500, seeds=3, quick=(3, 4))


@recipe(30)
def cook(run: Run) -> None:
    there = replace(run, recipe=replace(run.recipe, name="positions"))  # its first weights
    found = named(there, [row for row in ROWS if "set beside" not in row], LONGER)
    run.save_result(
        "positions_longer",
        {
            "question": "Does the ranking of positional encodings hold after a longer training?",
            "how": f"the hidden letter of `positions`, {LONGER.steps:,} steps instead of {LETTERS.steps}, else the same; one"
            " number per seed",
            "letters": found,
            "what_it_shows": said(found, "{row}: {0!m:.1%}", ", "),
        },
    )
