"""All recipes by name: what `run.recipe` declares in the modules of this folder."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from inspect import isfunction

from lectures import recipes
from lectures.recipes.run import Recipe


def found() -> Iterator[Recipe]:
    for name in sorted(module.name for module in pkgutil.iter_modules(recipes.__path__) if module.name[0] != "_"):
        module = import_module(f"lectures.recipes.{name}")
        for cook in vars(module).values():
            if isfunction(cook) and cook.__module__ == module.__name__ and (declared := vars(cook).get("declared")):
                its_name = name if cook.__name__ == "cook" else cook.__name__.removeprefix("cook_")
                what = re.sub(
                    r"^(Checkpoint|Figure|Table)[a-z ]*: ", "", str(cook.__doc__ or module.__doc__).splitlines()[0]
                )
                minutes, writes, sample = declared
                yield Recipe(its_name, minutes, what, writes or f"result:{its_name}", cook, sample)


RECIPES = {recipe.name: recipe for recipe in found()}
