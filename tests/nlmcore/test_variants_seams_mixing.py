"""The seams for rows that mix positions in another way than attention: a small part in the place named for each.

`test_variants_seams` has the rest. The parts are the ideas of the papers at their smallest; the models keep every law.
"""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.attention import Memory, MultiHeadAttention
from nlmcore.positions import NoPositions, TransformerXLPositions
from nlmcore.training import fit
from nlmcore.training.states import detach
from nlmcore.transformer import EncoderDecoder, FeedForward, TransformerConfig, TransformerEncoder, TransformerLM
from nlmcore.transformer.defaults import build_attention
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.nlmcore.test_variants import MASK, SOURCE, TOKENS, VOCAB, logits
from tests.nlmcore.test_variants_seams import CONFIG, Linformer, made


def windows(x: Tensor, size: int) -> Tensor:
    """(batch, time + size - 1, d) -> (batch, time, d, size): every position with those before it."""
    return x.unfold(1, size, 1)


class DynamicConvolution(nn.Module):
    """y_t = Σ_j softmax(W_h x_t)_j v_{t − j}: the kernel is made of the token alone. Wu et al. (2019), section 3.2."""

    size, heads = 3, 5

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.kernel = nn.Linear(c.d_model, self.heads * self.size, bias=False)
        self.value, self.output = (nn.Linear(c.d_model, c.d_model, bias=False) for _ in range(2))

    def mix(self, x: Tensor, seen: Tensor) -> Tensor:
        weights = self.kernel(x).unflatten(-1, (self.heads, 1, self.size)).softmax(-1)
        near = windows(seen, self.size).unflatten(2, (self.heads, -1))  # (batch, time, head, d_head, size)
        return self.output((weights * near).sum(-1).flatten(2))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        real = 1 if mask is None else mask[:, 0, 0, :, None]
        return self.mix(x, F.pad(self.value(x) * real, (0, 0, 1, 1)))

    def read(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        past = x.new_zeros(len(x), self.size - 1, x.shape[-1]) if state is None else state
        seen = torch.cat([past, self.value(x)], 1)
        return self.mix(x, seen), seen[:, 1 - self.size :]


class RandomSynthesizer(nn.Module):
    """softmax(R) V with one learned R for all texts, or R = R₁ R₂ᵀ. Tay et al. (2021), sections 3.2 and 3.3."""

    def __init__(self, c: Any, causal: bool, rank: int | None = None) -> None:
        super().__init__()
        n = c.max_length
        shapes = [(n, n)] if rank is None else [(n, rank), (n, rank)]
        self.tables = nn.ParameterList(torch.randn(shape) for shape in shapes)
        self.value = nn.Linear(c.d_model, c.d_model, bias=False)

    def mix(self, values: Tensor, time: int, allowed: Tensor) -> Tensor:
        table = self.tables[0] if len(self.tables) == 1 else self.tables[0] @ self.tables[1].T
        length = values.shape[1]
        return table[length - time : length, :length].masked_fill(~allowed, -1e9).softmax(-1) @ values

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        time = x.shape[1]
        allowed = x.new_ones(1, 1, time).bool() if mask is None else mask[:, 0]
        return self.mix(self.value(x), time, allowed)

    def read(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        values = self.value(x) if state is None else torch.cat([state, self.value(x)], 1)
        length, time = values.shape[1], x.shape[1]
        return self.mix(values, time, torch.ones(time, length).tril(length - time).bool()), values


def factorised(c: Any, causal: bool) -> nn.Module:
    return RandomSynthesizer(c, causal, rank=3)


class RandomPlus(nn.Module):
    """α R + (1 − α) q·k/√d_head, "random plus alpha": what is added to the scores. Tay et al. (2021), section 3.4."""

    def __init__(self, n_heads: int, d_head: int, max_length: int, causal: bool) -> None:
        super().__init__()
        self.table, self.alpha = nn.Parameter(torch.randn(n_heads, max_length, max_length)), nn.Parameter(torch.ones(1))

    def bias(self, q: Tensor, k: Tensor) -> Tensor:
        query, key = q.shape[2], k.shape[2]
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return self.alpha * (self.table[:, key - query : key, :key] - scores)


class DensePlus(nn.Module):
    """(W₂ max(0, W₁ x_t))_s + q_t·k_s/√d: its scores need x itself, so it is an attention of its own."""

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.scores = FeedForward(c.d_model, c.max_length, torch.relu, bias=False)
        self.query, self.key, self.value = (nn.Linear(c.d_model, c.d_model, bias=False) for _ in range(3))

    def mix(self, x: Tensor, keys: Tensor, values: Tensor, allowed: Tensor) -> Tensor:
        dots = self.query(x) @ keys.transpose(-2, -1) / math.sqrt(x.shape[-1])
        return (self.scores(x)[..., : keys.shape[1]] + dots).masked_fill(~allowed, -1e9).softmax(-1) @ values

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        allowed = x.new_ones(1).bool() if mask is None else mask[:, 0]
        return self.mix(x, self.key(x), self.value(x), allowed)

    def read(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        new = (self.key(x), self.value(x))
        keys, values = new if state is None else (torch.cat(both, 1) for both in zip(state, new, strict=True))
        length, time = keys.shape[1], x.shape[1]
        return self.mix(x, keys, values, torch.ones(time, length).tril(length - time).bool()), (keys, values)


class Sparse(nn.Module):
    """Attention over pairs of places that are listed once: near ones and the first, for which all are open.

    Longformer: Beltagy et al. (2020), section 3.1. With random pairs besides, BigBird: Zaheer et al. (2020), section 2.
    """

    random = 0.0

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(c.d_model, c.n_heads, bias=False, d_head=c.d_head)
        i = torch.arange(c.max_length)
        near = (i[:, None] - i).abs() < 2
        chance = torch.rand(near.shape, generator=torch.Generator().manual_seed(0)) < self.random
        self.register_buffer("open", near | chance | (i == 0) | (i[:, None] == 0))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        allowed = self.open[: x.shape[1], : x.shape[1]]
        return self.attention(x, mask=allowed if mask is None else allowed & mask)

    def read(self, x: Tensor, state: Memory | None = None) -> tuple[Tensor, Memory]:
        new = self.attention.remember(x)
        seen = new if state is None else Memory(*(torch.cat(both, 2) for both in zip(state, new, strict=True)))
        length, time = seen.keys.shape[2], x.shape[1]
        return self.attention.look(x, seen, self.open[:length, :length].tril()[length - time :]), seen


class BigBird(Sparse):
    random = 0.3


class Fourier(nn.Module):
    """FNet: the real part of the discrete Fourier transform over places and width. Lee-Thorp et al. (2022), eq. 3.

    Over max_length places: over as many as the text has, padding would change every frequency.
    """

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.places = c.max_length

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        real = 1 if mask is None else mask[:, 0, 0, :, None]
        return torch.fft.fft2(F.pad(x * real, (0, 0, 0, self.places - x.shape[1]))).real[:, : x.shape[1]]


class Mixer(nn.Module):
    """MLP-Mixer: a network over the places of each channel. Tolstikhin et al. (2021), equation 1."""

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.network, self.places = FeedForward(c.max_length, 5, bias=False), c.max_length

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        real = 1 if mask is None else mask[:, 0, 0, :, None]
        channels = F.pad(x * real, (0, 0, 0, self.places - x.shape[1])).transpose(1, 2)
        return self.network(channels).transpose(1, 2)[:, : x.shape[1]]


def in_the_encoder(part: Any) -> Any:
    """`attention` of an encoder-decoder: the part where nothing is read, the usual attention where it is."""
    return lambda c, causal: build_attention(c, True) if causal else part(c, False)


BOTH_WAYS: dict[str, dict[str, Any]] = {
    "dynamic convolution": {"attention": DynamicConvolution},
    "Synthesizer (random)": {"attention": RandomSynthesizer},
    "Synthesizer (factorised random)": {"attention": factorised},
    "Synthesizer (random plus alpha)": {"attention_positions": RandomPlus},
    "Synthesizer (dense plus)": {"attention": DensePlus},
    "Longformer": {"attention": Sparse},
    "BigBird": {"attention": BigBird},
}
ENCODERS = {"Linformer": Linformer, "FNet": Fourier, "MLP-Mixer": Mixer, "Longformer": Sparse, "BigBird": BigBird}


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_language_model_with_the_part_keeps_every_law(name: str) -> None:
    model = made(TransformerLM, **BOTH_WAYS[name])
    assert model(TOKENS)[0].std() > 0.05
    assert_language_model(model, TOKENS, tolerance=1e-4)
    many = torch.randint(0, VOCAB, (4, 9), generator=torch.Generator().manual_seed(6))  # all places of a table
    assert_every_parameter_gets_a_gradient(model, logits(model, many))


@pytest.mark.parametrize("part", [*BOTH_WAYS.values(), *({"attention": in_the_encoder(p)} for p in ENCODERS.values())])
def test_an_encoder_decoder_with_the_part_keeps_every_law(part: dict[str, Any]) -> None:
    model = made(EncoderDecoder, **part)
    assert_language_model(model, TOKENS, model.encode(SOURCE, MASK), tolerance=1e-4)
    with torch.no_grad():
        alone, _ = model(TOKENS, model.encode(SOURCE))
        longer = torch.cat([SOURCE, TOKENS[:, :3]], dim=1)
        padded, _ = model(TOKENS, model.encode(longer, torch.arange(7).expand(3, 7) < 4))
        seen, _ = model(TOKENS, model.encode(longer))
    assert_close(padded, alone, "logits of a padded source", 1e-4)
    assert (seen - alone).abs().max() > 1e-3, "without a mask the padding must be seen"


@pytest.mark.parametrize("name", ENCODERS)
def test_a_gradient_reaches_every_parameter_of_an_encoder_with_the_part(name: str) -> None:
    model = made(TransformerEncoder, attention=ENCODERS[name])
    assert_every_parameter_gets_a_gradient(model, model(torch.arange(27).view(3, 9) % VOCAB))


def test_a_memory_of_earlier_segments_is_a_state_without_its_gradient() -> None:
    """Transformer-XL, Dai et al. (2019), section 3.2: the last window − 1 vectors of every layer, and no more."""
    config: TransformerConfig = replace(
        CONFIG, positions=NoPositions, attention_positions=TransformerXLPositions, window=4
    )
    torch.manual_seed(0)
    model = TransformerLM(config)
    first, second = TOKENS, TOKENS.flip(1)
    _, carried = model(first)
    state = detach(carried)
    with_memory, state = model(second, state)
    assert_close(with_memory, model(torch.cat([first, second], 1))[0][:, 5:], "segments and the whole", 1e-4)
    assert (with_memory - model(second)[0]).abs().max() > 1e-6
    (gradient,) = torch.autograd.grad(with_memory.sum(), carried.layers[0].keys, allow_unused=True)
    assert gradient is None, "no gradient into the past"
    for _ in range(4):
        _, state = model(second, detach(state))
    assert state.position == 30
    assert all(layer.length <= 3 + 5 for layer in state.layers), "what the window forgot is let go, in training too"
    history = fit(model, [first, second], steps=40, carry_state=True, learning_rate=0.02, progress=False)
    assert history.losses[-1] < 0.7 * history.losses[0]
