"""Small models of every kind, and how each is run."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from nlmcore.convolutional import ConvLM, TextCNN
from nlmcore.feedforward import FeedForwardLM
from nlmcore.recurrent import RecurrentLM, SequenceTagger
from nlmcore.seq2seq import Seq2Seq
from nlmcore.transformer import EncoderDecoder, MaskedLM, TransformerConfig, TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE

VOCAB = 11
CONFIG = TransformerConfig(vocab_size=VOCAB, d_model=12, n_heads=3, n_layers=2, max_length=9)
TOKENS = torch.randint(1, VOCAB, (3, 5), generator=torch.Generator().manual_seed(0))
MASK = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
MODELS: dict[str, Callable[[], Any]] = {
    "GPT": lambda: TransformerLM(CONFIG),
    "Block sharing": lambda: CATALOGUE["Block sharing"].build(VOCAB, d_model=12, n_heads=3, n_layers=2),
    "encoder": lambda: TransformerEncoder(CONFIG),
    "BERT": lambda: MaskedLM(CONFIG),
    "encoder-decoder": lambda: EncoderDecoder(CONFIG),
    "LSTM": lambda: RecurrentLM(VOCAB, "lstm", d_hidden=7, n_layers=2),
    "GRU, step by step": lambda: RecurrentLM(VOCAB, "gru", d_hidden=7, fused=False),
    "tagger": lambda: SequenceTagger(VOCAB, 4, d_hidden=6),
    "ConvLM": lambda: ConvLM(VOCAB, 8),
    "Bengio": lambda: FeedForwardLM(VOCAB),
    "TextCNN": lambda: TextCNN(VOCAB, 3, 6),
    "Seq2Seq": lambda: Seq2Seq(VOCAB, VOCAB, "gru", 7, 7, context="attention", score="bilinear"),
}


def made(name: str) -> Any:
    torch.manual_seed(0)
    return MODELS[name]().eval()


def output(model: Any) -> Tensor:
    """Logits of a language model, with a source where it has one; else what it makes of tokens and a mask."""
    if hasattr(model, "encode"):
        return model(TOKENS, model.encode(TOKENS.flip(1), MASK))[0]
    result = model(TOKENS, mask=MASK) if "mask" in signature(model.forward).parameters else model(TOKENS)
    return result[0] if isinstance(result, tuple) else result
