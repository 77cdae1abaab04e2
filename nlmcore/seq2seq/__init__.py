"""Sequence to sequence with recurrent networks: encoder, decoder, and three ways from the one to the other.

    state = model.encode(source, source_mask)        read the source
    logits, state = model(tokens, state)             then a language model like any other

and retrieve-and-edit: `Retriever` finds a prototype, `NeuralEditor` rewrites it (Guu et al. 2018).
"""

from nlmcore.seq2seq.decoders import (
    SCORES,
    AdditiveScore,
    Attention,
    AttentionDecoder,
    BilinearScore,
    Decoder,
    DotScore,
    EveryStepDecoder,
    InitialStateDecoder,
    Seq2SeqState,
)
from nlmcore.seq2seq.edit import NeuralEditor, Retriever, edit_pairs, edited_words, jaccard
from nlmcore.seq2seq.model import Encoder, Seq2Seq

__all__ = [
    "SCORES",
    "AdditiveScore",
    "Attention",
    "AttentionDecoder",
    "BilinearScore",
    "Decoder",
    "DotScore",
    "Encoder",
    "EveryStepDecoder",
    "InitialStateDecoder",
    "NeuralEditor",
    "Retriever",
    "Seq2Seq",
    "Seq2SeqState",
    "edit_pairs",
    "edited_words",
    "jaccard",
]
