"""Convolutional networks over text: a language model, a classifier, and a sequence-to-sequence model."""

from nlmcore.convolutional.conv_lm import ConvLM, GatedConvolution, causal_inputs, gated_linear_unit
from nlmcore.convolutional.conv_seq2seq import ConvEncoder, ConvSeq2Seq, ConvSeq2SeqState, MultiStepAttention
from nlmcore.convolutional.text_cnn import TextCNN

__all__ = [
    "ConvEncoder",
    "ConvLM",
    "ConvSeq2Seq",
    "ConvSeq2SeqState",
    "GatedConvolution",
    "MultiStepAttention",
    "TextCNN",
    "causal_inputs",
    "gated_linear_unit",
]
