"""Feed-forward networks: the multilayer perceptron, and language models that read a window of words.

`multilayer_perceptron` has its forward and its backward written by hand; `bengio` concatenates the words of
the window, `bag_of_words` averages them; `window` is what the two share.
"""

from nlmcore.feedforward.bag_of_words import BagOfWordsLM
from nlmcore.feedforward.bengio import FeedForwardLM
from nlmcore.feedforward.multilayer_perceptron import (
    RELU,
    SIGMOID,
    TANH,
    Activation,
    Gradients,
    MultiLayerPerceptron,
    backward,
    cross_entropy,
    forward,
)

__all__ = [
    "RELU",
    "SIGMOID",
    "TANH",
    "Activation",
    "BagOfWordsLM",
    "FeedForwardLM",
    "Gradients",
    "MultiLayerPerceptron",
    "backward",
    "cross_entropy",
    "forward",
]
