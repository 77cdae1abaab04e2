"""The Transformer, in parts that are handed in: see `config` for the seams, `block` for one layer."""

from nlmcore.transformer.block import Block
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.encoder import TransformerEncoder
from nlmcore.transformer.feed_forward import FeedForward

__all__ = ["Block", "FeedForward", "TransformerConfig", "TransformerEncoder"]
