"""The Transformer, in parts that are handed in: `config` has the seams, `block` is one layer.

    TransformerLM        decoder only: logits, state = model(tokens, state)
    TransformerEncoder   bidirectional: hidden vectors; MaskedLM is one with a head that guesses hidden tokens
    EncoderDecoder       2017: state = model.encode(source), then a language model of the target

Which figure shows which: figure 1 of Vaswani et al. (2017) is norm_position="post"; GPT-2, Llama and nearly all later
drawings are "pre", the default here.
"""

from nlmcore.transformer.block import Block
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.encoder import TransformerEncoder
from nlmcore.transformer.encoder_decoder import EncoderDecoder, EncoderDecoderState
from nlmcore.transformer.feed_forward import FeedForward, GatedFeedForward
from nlmcore.transformer.language_model import TransformerLM, TransformerState
from nlmcore.transformer.masked import MaskedLM, hide_tokens
from nlmcore.transformer.residual import PostNorm, PreNorm
from nlmcore.transformer.stack import Stack
from nlmcore.transformer.trunk import Trunk

__all__ = [
    "Block",
    "EncoderDecoder",
    "EncoderDecoderState",
    "FeedForward",
    "GatedFeedForward",
    "MaskedLM",
    "PostNorm",
    "PreNorm",
    "Stack",
    "TransformerConfig",
    "TransformerEncoder",
    "TransformerLM",
    "TransformerState",
    "Trunk",
    "hide_tokens",
]
