"""Checkpoint and comparison: a small GPT that has read Shakespeare character by character, and LSTMs beside it."""

from lectures.recipes.gpt_against_lstm import Plan, compare, gpt_config
from lectures.recipes.language_figures import sample
from lectures.recipes.recipe import Recipe, Run
from lectures.recipes.shakespeare import plays
from nlmcore.tokens import CharTokenizer

STEPS, LSTM_STEPS = 3000, 3100


def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    plan = Plan(
        gpt=gpt_config(tokenizer.vocab_size, run.size(128, 8), run.size(4, 2), run.size(4, 2), run.size(128, 8)),
        lstm_embedding=run.size(64, 4),
        steps=run.size(STEPS, 4),
        lstm_steps=run.size(LSTM_STEPS, 6),
        gpt_batch=run.size((4, 256), (4, 16)),
        lstm_batch=run.size((32, 64), (8, 8)),
        part_one="char_lstm",
    )
    compare(run, "char_gpt", "characters", plan, tokenizer, shakespeare)


RECIPE = Recipe(
    "char_gpt",
    "a small GPT on characters of Shakespeare, and an LSTM at matched parameters and time",
    ("checkpoint:char_gpt", "result:char_gpt"),
    10,
    cook,
    sample,
)
