"""All recipes by name, cheapest first; a recipe that reads what another one wrote comes after it."""

from nlmcore.recipes import (
    bpe_gpt,
    capacity,
    char_gpt,
    char_lstm,
    exposure_bias,
    folio,
    memory,
    numbers,
    numbers_transformer,
    perplexity_table,
    pronunciation,
    pronunciation_transformer,
    warmup,
)
from nlmcore.recipes.recipe import Recipe

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE
    for module in (
        *(memory, numbers, folio, char_lstm, pronunciation, exposure_bias, capacity, perplexity_table),
        *(char_gpt, bpe_gpt, numbers_transformer, pronunciation_transformer, warmup),
    )
}
