"""Decoding: from a model of the next token to a text. Every algorithm works for every model.

    algorithm(model, prompt, max_new_tokens, *, eos=None, state=None, ...)

`prompt` is a LongTensor (batch, time): prompts of one length. `state` is what the model has read before it (for a
seq2seq decoder `model.encode(source)`, with <bos> as the prompt), one row per prompt. Greedy search and all kinds of
sampling return a `Generation`; searches return, per prompt, a list of `Hypothesis`, best first. `trace=True` returns
(result, SearchTree). Dropout is off, and no gradient is kept.

`Constrained` and `Guided` control a text: each is a language model around another one, so any algorithm takes it.
"""

from nlmcore.decoding.bayes_risk import minimum_bayes_risk, shared_words
from nlmcore.decoding.beams import beam_search, diverse_beam_search
from nlmcore.decoding.constrained import Constrained, Guided
from nlmcore.decoding.contrastive import contrastive_search
from nlmcore.decoding.exhaustive import exhaustive_search
from nlmcore.decoding.filters import (
    FILTERS,
    divide_by_temperature,
    keep_min_p,
    keep_top_k,
    keep_top_p,
    keep_typical,
    reshape,
)
from nlmcore.decoding.results import Generation, Hypothesis, Node, SearchTree
from nlmcore.decoding.sampling import Step, greedy, sample, stream
from nlmcore.decoding.speculative import speculative_sample
from nlmcore.decoding.stochastic_beams import stochastic_beam_search

__all__ = [
    "FILTERS",
    "Constrained",
    "Generation",
    "Guided",
    "Hypothesis",
    "Node",
    "SearchTree",
    "Step",
    "beam_search",
    "contrastive_search",
    "diverse_beam_search",
    "divide_by_temperature",
    "exhaustive_search",
    "greedy",
    "keep_min_p",
    "keep_top_k",
    "keep_top_p",
    "keep_typical",
    "minimum_bayes_risk",
    "reshape",
    "sample",
    "shared_words",
    "speculative_sample",
    "stochastic_beam_search",
    "stream",
]
