"""A quick run of no recipe, for tests of what recipes are made of."""

from pathlib import Path

from lectures.recipes.run import Recipe, Run


def a_run(folder: Path) -> Run:
    recipe = Recipe("small", 0, "for this test", "", lambda run: None)
    return Run(recipe, folder, folder, folder, quick=True, progress=False, say=lambda text: None)
