"""First weights of the Transformers of 2017: larger ones than GPT-2's, which suit a narrow model better.

    W ~ N(0, 2 / (n_in + n_out))      Glorot & Bengio (2010), equation 12 with a normal distribution
    E ~ N(0, 1 / d_model)             so that E · √d_model (Vaswani et al. 2017, section 3.4) has variance 1

GPT-2's standard deviation of 0.02 is about that of a matrix 5,000 wide; the matrices here are some 100 wide.
"""

from typing import Any

from lectures.trained import build
from torch import nn


def initialise_glorot(model: nn.Module, config: Any) -> None:
    """A `TransformerConfig.initialise`. Biases are 0; an output that is tied to an embedding is that embedding."""
    embeddings = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for table in embeddings:  # after the matrices: an output may be tied to one of them
        nn.init.normal_(table.weight, std=config.d_model**-0.5)


def glorot(name: str, config: dict[str, Any]) -> nn.Module:
    """A model as a card describes it, with these first weights."""
    model: Any = build(name, config)
    initialise_glorot(model, model.config)
    return model
