"""The Transformer, in parts that are passed in: `config` has the seams, `block` is one layer.

    TransformerLM        decoder only: logits, state = model(tokens, state)
    TransformerEncoder   bidirectional: hidden vectors; MaskedLM is one with a head that guesses hidden tokens
    EncoderDecoder       2017: state = model.encode(source), then a language model of the target

norm_position="post" is that of 2017, GPT and BERT; "pre", the default, that of GPT-2 and most later models.
"""

from nlmcore.objectives import hide_tokens
from nlmcore.transformer.block import (
    DecoderLayer,
    DecoderStack,
    EncoderLayer,
    EncoderStack,
    FeedForward,
    GatedFeedForward,
    PostNorm,
    PreNorm,
)
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.encoder import MaskedLM, TransformerEncoder
from nlmcore.transformer.encoder_decoder import EncoderDecoder, EncoderDecoderState
from nlmcore.transformer.from_torch import block_from_torch
from nlmcore.transformer.model import Backbone, TransformerLM, TransformerState

__all__ = [
    "Backbone",
    "DecoderLayer",
    "DecoderStack",
    "EncoderDecoder",
    "EncoderDecoderState",
    "EncoderLayer",
    "EncoderStack",
    "FeedForward",
    "GatedFeedForward",
    "MaskedLM",
    "PostNorm",
    "PreNorm",
    "TransformerConfig",
    "TransformerEncoder",
    "TransformerLM",
    "TransformerState",
    "block_from_torch",
    "hide_tokens",
]
