"""Checkpoint and comparison: a small GPT that has read Shakespeare in byte-pair tokens, and an LSTM beside it.

The tokenizer is trained on the training plays. One token spells about three characters, so the same window shows three
times as much text as `char_gpt` sees.
"""

from lectures.recipes.gpt_against_lstm import Plan, compare, gpt_config
from lectures.recipes.language_figures import sample
from lectures.recipes.recipe import Recipe, Run
from lectures.recipes.shakespeare import plays
from nlmcore.tokens import BPETokenizer

VOCABULARY = 1024
STEPS, LSTM_STEPS = 1500, 1450


def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = BPETokenizer.train(shakespeare.train, run.size(VOCABULARY, 300))
    plan = Plan(
        gpt=gpt_config(tokenizer.vocab_size, run.size(128, 8), run.size(4, 2), run.size(4, 2), run.size(128, 8)),
        lstm_embedding=run.size(128, 4),
        steps=run.size(STEPS, 4),
        lstm_steps=run.size(LSTM_STEPS, 6),
        gpt_batch=run.size((4, 256), (4, 16)),
        lstm_batch=run.size((32, 64), (8, 8)),
    )
    compare(run, "bpe_gpt", "byte-pair tokens", plan, tokenizer, shakespeare)


RECIPE = Recipe(
    "bpe_gpt",
    "a small GPT on byte-pair tokens of Shakespeare, and an LSTM at matched parameters and time",
    ("checkpoint:bpe_gpt", "result:bpe_gpt"),
    6,
    cook,
    sample,
)
