"""n-gram language models of orders 1 to 7 with eight kinds of smoothing; every one of them sums to 1 everywhere.

`counts` counts by sorting, `smoothing` and `backoff` turn counts into probabilities (the equations are there),
`weights` fits interpolation weights, `model` puts them behind `logits, state = model(tokens, state)`.
"""

from nlmcore.ngram.model import MAX_ORDER, SMOOTHINGS, NGramLM
