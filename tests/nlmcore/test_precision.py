"""Every model runs in bfloat16, and under CPU autocast to it: forward, backward and greedy decoding, small and wide.

Above some width other kernels run than below it (`nlmcore.fast`), so each model is built at both.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.attention import AttentionPool, FixedPool
from nlmcore.convolutional import ConvLM, ConvSeq2Seq, TextCNN
from nlmcore.decoding import greedy
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.ngram import NGramLM
from nlmcore.recurrent import RecurrentLM, SequenceClassifier, SequenceTagger
from nlmcore.recurrent.matrix_memory import build_matrix_memory
from nlmcore.seq2seq import NeuralEditor, Seq2Seq
from nlmcore.transfer import Classifier
from nlmcore.transformer import EncoderDecoder, MaskedLM, TransformerConfig, TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.vision import Captioner, ConvEncoder, ImageClassifier, VisionTransformer
from tests.laws import assert_close
from tests.transformer_grid import CHANGES

VOCAB = 29
SMALL, WIDE = 24, 264
TOKENS = torch.randint(1, VOCAB, (3, 6), generator=torch.Generator().manual_seed(5))
SOURCE = torch.randint(1, VOCAB, (3, 5), generator=torch.Generator().manual_seed(6))
MASK = torch.arange(5) < torch.tensor([5, 2, 3])[:, None]
CELLS = ("rnn", "ugrnn", "gru", "lstm")

IMAGES = torch.rand(3, 4, 8, generator=torch.Generator().manual_seed(7))

Build = Callable[[int], Any]


def patches(width: int) -> VisionTransformer:
    return VisionTransformer(4, 8, 2, d_model=width, n_heads=6, n_layers=2)


def config(width: int, **changes: Any) -> TransformerConfig:
    sizes = {"vocab_size": VOCAB, "d_model": width, "n_heads": 6, "n_layers": 2, "max_length": 16}
    return TransformerConfig(**{**sizes, **changes})


def row(name: str, family: Any, width: int) -> Any:
    return replace(CATALOGUE[name], family=family).build(VOCAB, d_model=width, n_heads=6, n_layers=2, max_length=16)


PARTS = (
    "post",
    "grouped",
    "window 3",
    "RMSNorm",
    "gated",
    "learnable sinusoidal",
    "concatenated",
    "rotary",
    "ALiBi",
    "T5",
)
ROWS = [name for name, row in CATALOGUE.items() if set(row.changes) - {"feed_forward", "d_ff", "n_layers", "n_heads"}]
"""Those that compute in another way, not with another activation or depth."""

LANGUAGE_MODELS: dict[str, Build] = {
    "Bengio": lambda width: FeedForwardLM(VOCAB, d_embedding=width, d_hidden=width),
    "bag of words": lambda width: BagOfWordsLM(VOCAB, d_embedding=width, d_hidden=width),
    "convolution": lambda width: ConvLM(VOCAB, width),
    **{f"{cell}": lambda width, cell=cell: RecurrentLM(VOCAB, cell, width, width) for cell in CELLS},
    **{f"{c}, step by step": lambda width, c=c: RecurrentLM(VOCAB, c, width, width, fused=False) for c in CELLS},
    **{f"GPT, {name}": lambda width, name=name: TransformerLM(config(width, **CHANGES[name])) for name in PARTS},
    **{
        f"matrix memory, {rule}": lambda width, rule=rule: TransformerLM(
            config(width, attention=partial(build_matrix_memory, rule=rule))
        )
        for rule in ("selective", "gated delta")
    },
    **{name: partial(row, name, TransformerLM) for name in ROWS if CATALOGUE[name].family is TransformerLM},
    **{f"{name}, causal": partial(row, name, TransformerLM) for name in ("Longformer", "BigBird")},
}
WITH_A_SOURCE: dict[str, Build] = {
    **{
        f"EncoderDecoder, {name}": partial(row, name, EncoderDecoder)
        for name in ("Vanilla Transformer", "Evolved Transformer", "Synthesizer (dense plus)", "Universal Transformer")
    },
    **{name: partial(row, name, EncoderDecoder) for name in ROWS if CATALOGUE[name].family is EncoderDecoder},
    **{
        f"Seq2Seq, {score}": lambda width, score=score: Seq2Seq(
            VOCAB, VOCAB, "gru", width, width, context="attention", score=score
        )
        for score in ("dot", "bilinear", "additive")
    },
    "Seq2Seq, initial": lambda width: Seq2Seq(VOCAB, VOCAB, "lstm", width, width, context="initial"),
    "Seq2Seq, every step": lambda width: Seq2Seq(VOCAB, VOCAB, "rnn", width, width, context="every_step"),
    "ConvSeq2Seq": lambda width: ConvSeq2Seq(VOCAB, VOCAB, width),
    "the editor": lambda width: NeuralEditor(VOCAB, "gru", width, width),
    "Captioner, patches": lambda width: Captioner(patches(width), VOCAB, width),
    "Captioner, convolutional": lambda width: Captioner(ConvEncoder((8, width)), VOCAB, width),
}
OTHERS: dict[str, Build] = {
    "TransformerEncoder": lambda width: TransformerEncoder(config(width)),
    "MaskedLM": lambda width: MaskedLM(config(width)),
    **{f"tagger, {cell}": lambda width, cell=cell: SequenceTagger(VOCAB, 7, cell, width, width) for cell in CELLS},
    **{
        f"classifier, {pool}": lambda width, pool=pool: SequenceClassifier(VOCAB, 7, "lstm", width, width, pool=pool)
        for pool in ("last", "mean")
    },
    "TextCNN": lambda width: TextCNN(VOCAB, 7, width),
    **{
        f"classifier of an encoder, {pool.__name__}": lambda width, pool=pool, sizes=sizes: Classifier(
            TransformerEncoder(config(width)), 7, pool=pool(width, *sizes)
        )
        for pool, sizes in ((AttentionPool, ()), (FixedPool, (5,)))
    },
}
OF_IMAGES: dict[str, Build] = {
    "images, patches": lambda width: ImageClassifier(patches(width), 7),
    "images, convolutional": lambda width: ImageClassifier(ConvEncoder((8, width)), 7),
}
OTHERS |= OF_IMAGES
MODELS = LANGUAGE_MODELS | WITH_A_SOURCE | OTHERS


def reads_images(name: str) -> bool:
    """It has no text as its source."""
    return name in OF_IMAGES or name.startswith("Captioner")


def source(name: str, model: Any) -> tuple[Any, ...]:
    """What an encoder reads: images, which have no mask, or tokens and their mask."""
    dtype = next(model.parameters()).dtype
    return (IMAGES.to(dtype),) if reads_images(name) else (SOURCE, MASK)


def output(name: str, model: Any) -> Tensor:
    if name in OTHERS:
        return model(*source(name, model))
    state = model.encode(*source(name, model)) if name in WITH_A_SOURCE else None
    first, state = model(TOKENS[:, :3], state)
    return torch.cat([first, model(TOKENS[:, 3:], state)[0]], 1)


def write(name: str, model: Any, batch: int) -> Tensor:
    state = model.encode(*(part[:batch] for part in source(name, model))) if name in WITH_A_SOURCE else None
    return greedy(model, TOKENS[:batch, :2], 3, state=state).tokens


@pytest.mark.parametrize("width", [SMALL, pytest.param(WIDE, marks=pytest.mark.everything)])
@pytest.mark.parametrize("way", ["autocast", "bfloat16"])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_runs_in_half_precision(unchecked, name: str, way: str, width: int):
    torch.manual_seed(0)
    model = MODELS[name](width).eval()
    with torch.no_grad():
        exact = output(name, model)
    precision: AbstractContextManager[Any] = nullcontext()
    if way == "autocast":
        precision = torch.autocast("cpu", torch.bfloat16)
    else:
        model.bfloat16()
    with precision:
        assert_close(output(name, model).detach().float(), exact, "in half precision", tolerance=0.1)
        if name not in OTHERS:
            assert write(name, model, 1).shape == (1, 3)
            assert write(name, model, 3).shape == (3, 3)
        model.train()
        output(name, model).float().square().mean().backward()
    wrong = [n for n, p in model.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]
    assert not wrong, f"gradients of {wrong} are not finite"
    assert any(p.grad is not None for p in model.parameters())


def test_an_n_gram_model_runs_under_autocast():
    model = NGramLM(2, VOCAB, smoothing="kneser_ney").fit(TOKENS.flatten().tolist())
    with torch.autocast("cpu", torch.bfloat16):
        assert greedy(model, TOKENS[:, :2], 3).tokens.shape == (3, 3)
