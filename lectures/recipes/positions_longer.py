"""Figure: does the ranking of `positions` on the hidden letter hold after six times the training? The same rows, three seeds."""

from dataclasses import replace
from statistics import mean
from typing import Any

from lectures.recipes.positions import ROWS, data, name_letters, seeds_of
from lectures.recipes.run import Run, recipe

STEPS, SEEDS = 1500, 3


@recipe(30)
def cook(run: Run) -> None:
    (train, test), _ = data(run.size(None, 4000))
    rows: Any = [row for row in ROWS if "set beside" not in row]
    there, steps = replace(run, recipe=replace(run.recipe, name="positions")), run.size(STEPS, 3)  # its first weights
    found = seeds_of(run, rows, lambda row, seed: name_letters(there, row, seed, train, test, steps), SEEDS)
    run.save_result(
        "positions_longer",
        {
            "question": "Does the ranking of positional encodings hold after a longer training?",
            "how": f"the hidden letter of `positions`, {STEPS:,} steps instead of 250, else the same; one number per seed",
            "letters": found,
            "what_it_shows": ", ".join(f"{row}: {mean(of):.1%}" for row, of in found.items()),
        },
    )
