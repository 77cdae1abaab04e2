"""All recipes by name, cheapest first."""

from nlmcore.recipes import exposure_bias, memory, numbers, pronunciation
from nlmcore.recipes.recipe import Recipe

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE for module in (memory, numbers, pronunciation, exposure_bias)
}
