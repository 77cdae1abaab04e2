"""All recipes by name, cheapest first; a recipe that reads what another one wrote comes after it."""

from nlmcore.recipes import (
    capacity,
    char_lstm,
    exposure_bias,
    folio,
    memory,
    numbers,
    perplexity_table,
    pronunciation,
)
from nlmcore.recipes.recipe import Recipe

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE
    for module in (memory, numbers, folio, char_lstm, pronunciation, exposure_bias, capacity, perplexity_table)
}
