"""Word vectors: skip-gram and CBOW with negative sampling.

`objective` has the equations, `sampling` everything random, `model` the training, `vectors` the questions to a table.
"""

from nlmcore.word2vec.model import CBOW, SkipGram, Word2Vec
from nlmcore.word2vec.objective import cbow_gradient, cbow_loss, skipgram_gradient, skipgram_loss
from nlmcore.word2vec.sampling import build_vocabulary, keep_probability, noise_distribution
from nlmcore.word2vec.vectors import WordVectors, analogy, nearest

__all__ = [
    "CBOW",
    "SkipGram",
    "Word2Vec",
    "WordVectors",
    "analogy",
    "build_vocabulary",
    "cbow_gradient",
    "cbow_loss",
    "keep_probability",
    "nearest",
    "noise_distribution",
    "skipgram_gradient",
    "skipgram_loss",
]
