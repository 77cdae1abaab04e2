"""How good is it? Perplexity and bits per character for language models, BLEU for translation, edits for spelling.

`significance` says how sure a mean of a few runs is, and which differences between many means are real,
`attempts` what several attempts at one question are worth.
"""

from nlmcore.metrics.likelihood import (
    Likelihood,
    bits_per_character,
    exposure,
    log_likelihood,
    perplexity,
    secret_rank,
)
from nlmcore.metrics.references import corpus_bleu, edit_distance, error_rate, sequence_error_rate, tokenize_13a
from nlmcore.metrics.significance import bootstrap_interval, mean_interval

__all__ = [
    "Likelihood",
    "bits_per_character",
    "bootstrap_interval",
    "corpus_bleu",
    "edit_distance",
    "error_rate",
    "exposure",
    "log_likelihood",
    "mean_interval",
    "perplexity",
    "secret_rank",
    "sequence_error_rate",
    "tokenize_13a",
]
