"""All recipes by name, cheapest first; a recipe that reads what another one wrote comes after it."""

from lectures.recipes import (
    attention_cost,
    bpe_gpt,
    capacity,
    char_gpt,
    char_lstm,
    dullness,
    edit,
    exposure_bias,
    few_shot,
    folio,
    free_running,
    genre,
    guessing,
    initialisation,
    looking_back,
    memory,
    numbers,
    numbers_transformer,
    old_spelling,
    perplexity_table,
    pronunciation,
    pronunciation_transformer,
    restore,
    source_and_target,
    thought_vector,
    unseen_contexts,
    warmup,
    word_vectors,
)
from lectures.recipes.recipe import Recipe

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE
    for module in (
        *(
            memory,
            numbers,
            folio,
            char_lstm,
            restore,
            genre,
            free_running,
            edit,
            pronunciation,
            exposure_bias,
            capacity,
            perplexity_table,
        ),
        *(char_gpt, bpe_gpt, numbers_transformer, pronunciation_transformer, warmup),
        *(guessing, word_vectors, looking_back, source_and_target, attention_cost, few_shot),
        *(initialisation, thought_vector, dullness, unseen_contexts, old_spelling),
    )
}
