"""Hooks fire on every module of every model: nothing is computed past a call."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.convolutional import ConvLM, ConvSeq2Seq, TextCNN
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.recurrent import RecurrentLM, SequenceClassifier, SequenceTagger
from nlmcore.seq2seq import NeuralEditor, Seq2Seq
from nlmcore.transformer import MaskedLM, TransformerConfig
from nlmcore.variants import CATALOGUE, Variant
from nlmcore.variants.catalogue import POSITIONS
from nlmcore.vision import Captioner, ConvEncoder, ImageClassifier, PatchPredictor, VisionTransformer

VOCAB, SIZES = 40, {"d_model": 12, "n_heads": 6, "n_layers": 2, "max_length": 24}
CONFIG = TransformerConfig(vocab_size=VOCAB, **SIZES)
TOKENS = torch.randint(VOCAB, (6, 24), generator=torch.Generator().manual_seed(0))  # enough for four experts
IMAGES = torch.rand(2, 4, 4, generator=torch.Generator().manual_seed(0))
CELLS = ("rnn", "ugrnn", "gru", "lstm")


def vision() -> VisionTransformer:
    return VisionTransformer(4, 4, 2, d_model=12, n_heads=2, n_layers=1)


def few_experts(row: Variant) -> Variant:
    """The same with four experts where a stack has experts, so that a short text reaches all."""
    stack = row.changes.get("stack")
    if stack is None or "n_experts" not in signature(stack).parameters:
        return row
    return replace(row, changes={**row.changes, "stack": partial(stack, n_experts=4)})


MODELS: dict[str, Callable[[], Any]] = {
    **{
        name: lambda row=row: few_experts(row).build(VOCAB, **SIZES) for name, row in {**CATALOGUE, **POSITIONS}.items()
    },
    "masked": lambda: MaskedLM(CONFIG),
    "window": lambda: FeedForwardLM(VOCAB, 4, 8, 8),
    "bag of words": lambda: BagOfWordsLM(VOCAB, 4, 8, 8),
    "convolutions": lambda: ConvLM(VOCAB, 8, 2),
    "convolutions, translating": lambda: ConvSeq2Seq(VOCAB, VOCAB, 8, 2, 2, max_length=64),
    "convolutions, classifying": lambda: TextCNN(VOCAB, 3),
    **{cell: lambda cell=cell: RecurrentLM(VOCAB, cell, 6, 8, 2, tie_embeddings=True) for cell in CELLS},
    **{f"tagger, {cell}": lambda cell=cell: SequenceTagger(VOCAB, 3, cell, 6, 8, bidirectional=True) for cell in CELLS},
    "classifier": lambda: SequenceClassifier(VOCAB, 3, "lstm", 6, 8),
    **{
        f"seq2seq, {context}": lambda context=context: Seq2Seq(
            VOCAB, VOCAB, "lstm", 6, 8, 2, context=context, score="additive"
        )
        for context in ("initial", "every_step", "attention")
    },
    "editor": lambda: NeuralEditor(VOCAB, "gru", 6, 8),
    "captions": lambda: Captioner(ConvEncoder((4, 8)), VOCAB, 6),
    "captions, patches": lambda: Captioner(vision(), VOCAB, 6),
    "images": lambda: ImageClassifier(vision(), 3),
    "patches": lambda: PatchPredictor(vision()),
}


def run(model: Any) -> None:
    """Read in two calls, the second of which continues from a state, where there is one."""
    if isinstance(model, PatchPredictor):
        model(IMAGES, torch.tensor([[True, False, True, False]] * 2))
    elif isinstance(model, ImageClassifier):
        model(IMAGES)
    elif hasattr(model, "encode"):
        source = IMAGES if isinstance(model, Captioner) else TOKENS
        state = model.encode(source)
        model(TOKENS[: len(source), 4:], model(TOKENS[: len(source), :4], state)[1])
    else:
        answer = model(TOKENS[:, :20])
        if isinstance(answer, tuple):
            model(TOKENS[:, 20:], answer[1])


def silent(model: nn.Module, work: Callable[[Any], None]) -> list[str]:
    """The modules that have a `forward` and whose hooks never fired. A module without one only holds others."""
    fired: set[nn.Module] = set()
    called = {name: m for name, m in model.named_modules() if type(m).forward is not nn.Module.forward}
    for module in called.values():
        module.register_forward_hook(lambda module, *_: fired.add(module))
    with torch.no_grad():
        work(model)
    return [name for name, module in called.items() if module not in fired]


@pytest.mark.parametrize("name", MODELS)
def test_every_module_is_called(unchecked: None, name: str) -> None:
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    assert silent(model, run) == []


def test_a_module_that_is_passed_by_is_named() -> None:
    class PassesBy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x) @ self.unused.weight

    assert silent(PassesBy(), lambda model: model(torch.zeros(1, 2))) == ["unused"]
