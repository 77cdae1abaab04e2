"""Feed-forward networks: the multilayer perceptron, and language models that read a window of words."""

from nlmcore.feedforward.model import BagOfWordsLM, FeedForwardLM
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
