"""Sequence to sequence with recurrent networks: encoder, decoder, and three ways from the one to the other.

    state = model.encode(source, source_mask)        read the source
    logits, state = model(tokens, state)             then a language model like any other

    context="initial"      the last encoder state starts the decoder      Sutskever, Vinyals & Le (2014)
    context="every_step"   it is also fed to the decoder at every step     Cho et al. (2014)
    context="attention"    the decoder attends to every encoder state       Bahdanau, Cho & Bengio (2015)

and retrieve-and-edit: `Retriever` finds a prototype, `NeuralEditor` rewrites it (Guu et al. 2018).
"""

from nlmcore.seq2seq.attention import SCORES, AdditiveScore, Attention, BilinearScore, DotScore
from nlmcore.seq2seq.decoders import AttentionDecoder, Decoder, EveryStepDecoder, InitialStateDecoder, Seq2SeqState
from nlmcore.seq2seq.edit import NeuralEditor, edited_words
from nlmcore.seq2seq.model import Encoder, Seq2Seq
from nlmcore.seq2seq.retrieve import Retriever, edit_pairs, jaccard
