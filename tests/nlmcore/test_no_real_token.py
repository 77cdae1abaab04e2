"""A text without a real token is treated alike by every model: finite numbers, and none of its neighbours' change."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.convolutional import ConvSeq2Seq, TextCNN
from nlmcore.recurrent import SequenceClassifier, SequenceTagger
from nlmcore.seq2seq import NeuralEditor, Seq2Seq
from nlmcore.transformer import EncoderDecoder, MaskedLM, TransformerConfig, TransformerEncoder
from tests.laws import assert_close

TEXT = torch.tensor([[1, 2, 3], [4, 5, 0]])
NOTHING = torch.tensor([[True, True, True], [False, False, False]])
TARGET = torch.tensor([[1, 2], [1, 3]])
CONFIG = TransformerConfig(vocab_size=9, d_model=12, n_heads=3, n_layers=2, max_length=9)
READERS: dict[str, Callable[[], Any]] = {
    "encoder": lambda: TransformerEncoder(CONFIG),
    "masked language model": lambda: MaskedLM(CONFIG),
    "classifier": lambda: SequenceClassifier(9, 4),
    "classifier, mean": lambda: SequenceClassifier(9, 4, pool="mean"),
    "tagger": lambda: SequenceTagger(9, 4),
    "TextCNN": lambda: TextCNN(9, 4),
}
WRITERS: dict[str, Callable[[], Any]] = {
    "encoder-decoder": lambda: EncoderDecoder(CONFIG),
    "Seq2Seq, attention": lambda: Seq2Seq(9, 9, context="attention"),
    "Seq2Seq, initial": lambda: Seq2Seq(9, 9, context="initial"),
    "ConvSeq2Seq": lambda: ConvSeq2Seq(9, 9),
    "the editor": lambda: NeuralEditor(9),
}


def read(name: str, model: Any, rows: int) -> Tensor:
    if name in READERS:
        return model(TEXT[:rows], NOTHING[:rows])
    return model(TARGET[:rows], model.encode(TEXT[:rows], NOTHING[:rows]))[0]


@pytest.mark.parametrize("name", READERS | WRITERS)
def test_no_real_token_gives_numbers_and_disturbs_nobody(name: str) -> None:
    torch.manual_seed(0)
    model = (READERS | WRITERS)[name]().eval()
    both = read(name, model, 2)
    assert both.isfinite().all()
    assert_close(both[:1], read(name, model, 1), "the text beside it")
    both.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
