"""n-gram language models of orders 1 to 7 with eight kinds of smoothing; each of them sums to 1 everywhere.

`counts` counts by sorting, `smoothing` and `backoff` have the equations, `weights` fits interpolation weights.
"""

from nlmcore.ngram.model import MAX_ORDER, SMOOTHINGS, NGramLM

__all__ = ["MAX_ORDER", "SMOOTHINGS", "NGramLM"]
