"""Feed-forward networks: the multilayer perceptron, and language models that read a window of words.

`multilayer_perceptron` has its forward and its backward written by hand; `window_models` concatenate the words of
the window, or average them.
"""

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
from nlmcore.feedforward.window_models import BagOfWordsLM, FeedForwardLM
