"""The seams for the rows that are not built yet: a small part in the place that `nlmcore.variants` names for each.

The parts are the ideas of the papers at their smallest. What is tested is that the place takes them: the models keep
every law, and a gradient reaches every parameter, with no line of `nlmcore.transformer` changed.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import nlmcore.variants
from nlmcore.attention import Memory
from nlmcore.positions import LearnedPositions
from nlmcore.training import fit, teacher_forcing_loss
from nlmcore.transformer import (
    Block,
    EncoderDecoder,
    FeedForward,
    Stack,
    TransformerConfig,
    TransformerEncoder,
    TransformerLM,
    Trunk,
)
from nlmcore.transformer.defaults import build_stack, initialise_normal
from nlmcore.variants import share_positions, vanilla
from tests.laws import assert_causal, assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.nlmcore.test_variants import MASK, SIZES, SOURCE, TOKENS, VOCAB, logits, stirred

CONFIG = replace(vanilla(VOCAB, **{**SIZES, "n_layers": 3}), share=lambda stack: None)


def made(kind: Callable[[TransformerConfig], Any], **changes: Any) -> Any:
    torch.manual_seed(0)
    return stirred(kind(replace(CONFIG, **changes)))


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


# --- share ---


def share_blocks(stack: Any) -> None:
    """ALBERT: one block, used at every depth."""
    for i in range(1, len(stack)):
        stack[i] = stack[0]


def share_all_but_norms(stack: Any) -> None:
    """WideNet: attention and feed-forward are shared, each layer keeps its norms."""
    for layer in stack[1:]:
        layer.attention, layer.feed_forward = stack[0].attention, stack[0].feed_forward


def share_in_the_encoder(c: Any, causal: bool, cross: bool) -> nn.Module:
    stack = build_stack(c, causal, cross)
    if not causal:
        share_blocks(stack)
    return stack


# --- embedding and output ---


class Factorised(nn.Module):
    """E = A B with A (vocab, 7) and B (7, d_model): Lan et al. (2020)."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.narrow, self.widen = nn.Embedding(vocab_size, 7), nn.Linear(7, d_model, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.widen(self.narrow(tokens))


class FactorisedOutput(nn.Module):
    """h (A B)ᵀ with the embedding's own A and B."""

    def __init__(self, c: Any, embedding: Any) -> None:
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden: Tensor) -> Tensor:
        return hidden @ self.embedding.widen.weight @ self.embedding.narrow.weight.T


class AdaptiveSoftmax(nn.Module):
    """Rare words in clusters with fewer dimensions: Joulin et al. (2017). Gives log-probabilities."""

    def __init__(self, c: Any, embedding: nn.Module) -> None:
        super().__init__()
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(c.d_model, c.vocab_size, [4, 8], div_value=2.0)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.softmax.log_prob(hidden.flatten(0, 1)).unflatten(0, hidden.shape[:2])


class MixtureOfSoftmaxes(nn.Module):
    """ln Σ_k π_k(h) softmax(E tanh(W_k h)): Yang et al. (2018). Gives log-probabilities."""

    def __init__(self, c: Any, embedding: Any, k: int = 3) -> None:
        super().__init__()
        self.prior, self.latent = nn.Linear(c.d_model, k), nn.Linear(c.d_model, k * c.d_model)
        self.embedding = embedding

    def forward(self, hidden: Tensor) -> Tensor:
        views = torch.tanh(self.latent(hidden)).unflatten(-1, (-1, hidden.shape[-1]))
        each = F.log_softmax(views @ self.embedding.weight.T, -1)
        return torch.logsumexp(F.log_softmax(self.prior(hidden), -1).unsqueeze(-1) + each, -2)


# --- attention ---


class LightweightConvolution(nn.Module):
    """y_t = Σ_j softmax(w_h)_j x_{t − j}, one kernel per head: Wu et al. (2019). Its state is the last inputs."""

    size = 3

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(5, self.size))
        self.output = nn.Linear(c.d_model, c.d_model, bias=False)

    def mix(self, x: Tensor) -> Tensor:
        """(batch, time + 2, d_model) -> (batch, time, d_model)."""
        weights = self.kernel.softmax(-1).repeat_interleave(x.shape[-1] // 5, 0)
        return self.output(F.conv1d(x.transpose(1, 2), weights.unsqueeze(1), groups=x.shape[-1]).transpose(1, 2))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is not None:
            x = x * mask[:, 0, 0, :, None]
        return self.mix(F.pad(x, (0, 0, 1, 1)))

    def read(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        past = x.new_zeros(len(x), self.size - 1, x.shape[-1]) if state is None else state
        seen = torch.cat([past, x], 1)
        return self.mix(seen), seen[:, 1 - self.size :]


class Centred(LightweightConvolution):
    """Forgets that a language model must not look ahead."""

    def read(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return self(x), super().read(x, state)[1]


class DenseSynthesizer(nn.Module):
    """Weights from a token alone, one per place in the text: Tay et al. (2021). Its state is the values read."""

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.scores = FeedForward(c.d_model, c.max_length, torch.relu, bias=False)
        self.value = nn.Linear(c.d_model, c.d_model, bias=False)

    def read(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        values = self.value(x) if state is None else torch.cat([state, self.value(x)], 1)
        length, time = values.shape[1], x.shape[1]
        allowed = torch.ones(time, length, dtype=torch.bool).tril(length - time)
        weights = self.scores(x)[..., :length].masked_fill(~allowed, -math.inf).softmax(-1)
        return weights @ values, values


class Linformer(nn.Module):
    """Keys and values of n positions are projected to 2: Wang et al. (2020). For encoders; padding is left out."""

    def __init__(self, c: Any, causal: bool) -> None:
        super().__init__()
        self.shorten = nn.Parameter(torch.randn(2, c.max_length))
        self.query, self.key, self.value = (nn.Linear(c.d_model, c.d_model) for _ in range(3))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        real = x.new_ones(x.shape[:2]) if mask is None else mask[:, 0, 0, :].float()
        k, v = (self.shorten[:, : x.shape[1]] @ (part(x) * real.unsqueeze(-1)) for part in (self.key, self.value))
        return F.scaled_dot_product_attention(self.query(x), k, v)


# --- feed_forward ---


class MixtureOfExperts(nn.Module):
    """y = p_e FFN_e(x) of the expert e with the largest p: Fedus et al. (2022). No token is ever dropped.

    `balance` is the loss of section 2.2, n Σ_e (share of tokens) · (mean p_e), of what was read last.
    """

    def __init__(self, d_model: int, d_ff: int, n: int = 3) -> None:
        super().__init__()
        self.router = nn.Linear(d_model, n, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, d_ff, torch.relu, bias=False) for _ in range(n))
        self.balance = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        p = self.router(x).softmax(-1)
        chosen = F.one_hot(p.argmax(-1), p.shape[-1])
        self.balance = p.shape[-1] * (chosen.float().mean((0, 1)) * p.mean((0, 1))).sum()
        return sum((p * chosen)[..., e, None] * expert(x) for e, expert in enumerate(self.experts))  # type: ignore

    def last_matrices(self) -> list[nn.Linear]:
        return [expert.outer for expert in self.experts]  # type: ignore[misc]


def experts_in_every_other_layer(c: Any, causal: bool, cross: bool) -> nn.Module:
    kinds = (c, replace(c, feed_forward=MixtureOfExperts))
    return Stack(c.block(kinds[i % 2], causal, cross) for i in range(c.n_layers))


# --- residual, final_norm, initialise ---


class DeepNorm(nn.Module):
    """LN(α x + f(x)), α = (2 N)^(1/4) for a language model: Wang et al. (2022), figure 2."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.norm, self.alpha = c.norm(c.d_model), (2 * c.n_layers) ** 0.25

    def before(self, x: Tensor) -> Tensor:
        return x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        return self.norm(self.alpha * x + y)


@torch.no_grad()
def initialise_deep(model: Any, c: Any) -> None:
    """W^V, W^O and the feed-forward network times β = (8 N)^(−1/4)."""
    initialise_normal(model, c)
    for layer in model.layers:
        for part in (layer.attention.value, layer.attention.output, *layer.feed_forward.children()):
            nn.init.xavier_normal_(part.weight, gain=(8 * c.n_layers) ** -0.25)


# --- block ---


class ConvolutionBlock(nn.Module):
    """Attention and a convolution side by side, as in the Evolved Transformer: So et al. (2019). Two states in one."""

    def __init__(self, c: Any, causal: bool, cross: bool) -> None:
        super().__init__()
        self.attention, self.convolution = c.attention(c, causal), LightweightConvolution(c, causal)
        self.around, self.around_feed_forward = c.residual(c), c.residual(c)
        self.feed_forward = c.feed_forward(c.d_model, c.hidden_size)
        if cross:
            self.cross_attention, self.around_cross_attention = c.cross_attention(c), c.residual(c)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        h = self.around.before(x)
        x = self.around.after(x, self.attention(h, mask=mask) + self.convolution(h, mask=mask))
        return self.around_feed_forward.after(x, self.feed_forward(self.around_feed_forward.before(x)))

    def read(self, x: Tensor, state: Any = None, memory: Any = None, memory_mask: Any = None) -> tuple[Tensor, Any]:
        h, (seen, past) = self.around.before(x), state or (None, None)
        (attended, seen), (mixed, past) = self.attention.read(h, seen), self.convolution.read(h, past)
        x = self.around.after(x, attended + mixed)
        if memory is not None:
            y = self.cross_attention.look(self.around_cross_attention.before(x), memory, memory_mask)
            x = self.around_cross_attention.after(x, y)
        return self.around_feed_forward.after(x, self.feed_forward(self.around_feed_forward.before(x))), (seen, past)

    def remember(self, source: Tensor) -> Memory:
        return self.cross_attention.remember(source)


# --- stack ---


class Sublayer(nn.Module):
    """One branch as a layer of its own; a feed-forward one remembers nothing."""

    def __init__(self, c: Any, branch: nn.Module) -> None:
        super().__init__()
        self.branch, self.around, self.branches = branch, c.residual(c), 1

    def last_matrices(self) -> list[nn.Linear]:
        return [self.branch.outer if hasattr(self.branch, "outer") else self.branch.output]  # type: ignore[list-item]

    def read(self, x: Tensor, state: Any, memory: Any = None, memory_mask: Any = None) -> tuple[Tensor, Any]:
        h = self.around.before(x)
        y, state = self.branch.read(h, state) if hasattr(self.branch, "read") else (self.branch(h), None)
        return self.around.after(x, y), state


def sandwich(c: Any, causal: bool, cross: bool) -> nn.Module:
    """Attention first, feed-forward last, "ss(sf)ff" with k = 2 of 3: Press et al. (2020)."""
    attention, feed_forward = (lambda: c.attention(c, causal)), (lambda: c.feed_forward(c.d_model, c.hidden_size))
    return Stack(Sublayer(c, {"s": attention, "f": feed_forward}[kind]()) for kind in "sssfff")


class Universal(nn.Module):
    """One block, looped, told how often: Dehghani et al. (2019), section 2.1. `test_variants_seams_parts` halts."""

    def __init__(self, c: Any, causal: bool, cross: bool) -> None:
        super().__init__()
        self.loops = Stack([c.block(c, causal, cross)] * c.n_layers)
        self.depth = LearnedPositions(c.n_layers, c.d_model)

    def read(self, x: Tensor, states: Any = None, memories: Any = None, memory_mask: Any = None) -> tuple[Tensor, Any]:
        new = []
        for i, block in enumerate(self.loops):
            told = self.depth(x[:, :1] * 0, i)
            x, state = block.read(x + told, states and states[i], memories and memories[i], memory_mask)
            new.append(state)
        return x, tuple(new)


class AllLayers(Stack):
    """Transparent attention, the encoder: every layer's vectors side by side, (batch, time, (N + 1) · d_model)."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        seen = [x]
        for layer in self:
            seen.append(layer(seen[-1], mask))
        return torch.cat(seen, -1)


class Mixing(Stack):
    """The decoder: layer i looks at Σ_j softmax(w_i)_j h^j, the encoder's layers: Bapna et al. (2018), equation 5."""

    def __init__(self, layers: Any, seen: int) -> None:
        super().__init__(layers)
        self.weights = nn.Parameter(torch.randn(len(self), seen))

    def remember(self, source: Tensor) -> tuple[Memory, ...]:
        every = source.unflatten(-1, (self.weights.shape[1], -1))
        mixed = torch.einsum("ij,bsjd->ibsd", self.weights.softmax(-1), every)
        return tuple(layer.remember(each) for layer, each in zip(self, mixed, strict=True))


def transparent(c: Any, causal: bool, cross: bool) -> nn.Module:
    layers = [c.block(c, causal, cross) for _ in range(c.n_layers)]
    return Mixing(layers, c.n_layers + 1) if cross else AllLayers(layers)


class NormOfEach(nn.Module):
    """One norm for as many vectors as lie side by side."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.norm, self.d_model = c.norm(c.d_model), c.d_model

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.unflatten(-1, (-1, self.d_model))).flatten(-2)


class Funnel(Stack):
    """The encoder: after the first layer, means of two neighbours, padding left out: Dai et al. (2020)."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        real = x.new_ones(len(x), 1, 1, x.shape[1]).bool() if mask is None else mask
        for i, layer in enumerate(self):
            x = layer(x, real)
            if i == 0:
                counted = real[:, 0, 0, :, None].float()
                x = in_pairs(x * counted).sum(2) / in_pairs(counted).sum(2).clamp(min=1)
                real = mask_of_pairs(real)
        return x


def in_pairs(x: Tensor) -> Tensor:
    """(batch, time, n) -> (batch, pair, 2, n)."""
    return F.pad(x, (0, 0, 0, x.shape[1] % 2)).unflatten(1, (-1, 2))


def mask_of_pairs(mask: Tensor) -> Tensor:
    """(batch, 1, 1, time) -> (batch, 1, 1, pair)."""
    return F.pad(mask, (0, mask.shape[-1] % 2)).unflatten(-1, (-1, 2)).any(-1)


class LooksAtPairs(Stack):
    """The decoder: the source's mask is that of its tokens, and the memory is half as long."""

    def read(self, x: Tensor, states: Any = None, memories: Any = None, memory_mask: Any = None) -> Any:
        return super().read(x, states, memories, None if memory_mask is None else mask_of_pairs(memory_mask))


def funnel(c: Any, causal: bool, cross: bool) -> nn.Module:
    return (LooksAtPairs if cross else Funnel)(c.block(c, causal, cross) for _ in range(c.n_layers))


ROWS: dict[str, dict[str, Any]] = {
    "block sharing": {"share": share_blocks},
    "WideNet": {"share": share_all_but_norms, "feed_forward": MixtureOfExperts},
    "factorised embeddings": {"embedding": Factorised, "tie_embeddings": False},
    "factorised and shared embeddings": {"embedding": Factorised, "output": FactorisedOutput},
    "adaptive softmax": {"output": AdaptiveSoftmax},
    "mixture of softmaxes": {"output": MixtureOfSoftmaxes},
    "lightweight convolution": {"attention": LightweightConvolution},
    "Synthesizer": {"attention": DenseSynthesizer},
    "Switch": {"stack": experts_in_every_other_layer},
    "DeepNorm": {
        "residual": DeepNorm,
        "final_norm": lambda c: nn.Identity(),
        "initialise": initialise_deep,
    },
    "Evolved": {"block": ConvolutionBlock},
    "Sandwich": {"stack": sandwich},
    "Universal": {"stack": Universal},
}
WITH_A_SOURCE: dict[str, dict[str, Any]] = {
    "block sharing": {"share": share_blocks},
    "encoder only block sharing": {"stack": share_in_the_encoder},
    "factorised and shared embeddings": {"embedding": Factorised, "output": FactorisedOutput},
    "lightweight convolution": {"attention": LightweightConvolution},
    "Evolved": {"block": ConvolutionBlock},
    "transparent attention": {"stack": transparent, "final_norm": NormOfEach},
    "Funnel": {"stack": funnel},
}


@pytest.mark.parametrize("name", ROWS)
def test_a_language_model_with_the_part_keeps_every_law(name: str) -> None:
    model = made(TransformerLM, **ROWS[name])
    assert model(TOKENS)[0].std() > 0.05
    assert_language_model(model, TOKENS, tolerance=1e-4)
    many = torch.randint(0, VOCAB, (20, 8), generator=torch.Generator().manual_seed(6))  # every expert is chosen once
    assert_every_parameter_gets_a_gradient(model, logits(model, many))


@pytest.mark.parametrize("name", WITH_A_SOURCE)
def test_an_encoder_decoder_with_the_part_keeps_every_law(name: str) -> None:
    model = made(EncoderDecoder, **WITH_A_SOURCE[name])
    assert model.encoder.embedding is model.decoder.embedding
    assert_language_model(model, TOKENS, model.encode(SOURCE, MASK), tolerance=1e-4)
    assert_every_parameter_gets_a_gradient(model, logits(model))
    with torch.no_grad():
        alone, _ = model(TOKENS, model.encode(SOURCE))
        longer = torch.cat([SOURCE, TOKENS[:, :3]], dim=1)
        padded, _ = model(TOKENS, model.encode(longer, torch.arange(7).expand(3, 7) < 4))
    assert_close(padded, alone, "logits of a padded source", 1e-4)


@pytest.mark.parametrize(
    ("changes", "branches", "ends"),
    [
        ({}, 6, 6),
        ({"stack": sandwich}, 6, 6),
        ({"stack": experts_in_every_other_layer}, 6, 5 + 3),
        ({"share": share_blocks}, 6, 2),
        ({"stack": Universal}, 6, 2),
    ],
)
def test_what_branches_add_is_scaled_by_the_depth_in_every_stack(
    changes: dict[str, Any], branches: int, ends: int
) -> None:
    """First weights, for layers and parts that say where they end: Radford et al. (2019), section 2.3."""
    torch.manual_seed(0)
    model = TransformerLM(replace(CONFIG, **changes, d_model=60, d_ff=80))
    scaled = {
        name
        for name, p in model.named_parameters()
        if p.ndim == 2 and p.std().item() == pytest.approx(0.02 / math.sqrt(branches), rel=0.15)
    }
    assert len(scaled) == ends
    assert all(name.endswith(("output.weight", "outer.weight")) for name in scaled)


def test_a_part_that_looks_ahead_is_found() -> None:
    with torch.no_grad(), pytest.raises(AssertionError, match="after a change at"):
        assert_causal(made(TransformerLM, attention=Centred), TOKENS)


def test_shared_blocks_are_counted_once() -> None:
    plain, shared = made(TransformerLM), made(TransformerLM, share=share_blocks)
    assert parameters(plain) - parameters(shared) == 2 * parameters(plain.layers[1])
    encoder_only = made(EncoderDecoder, stack=share_in_the_encoder)
    assert encoder_only.encoder.layers[2] is encoder_only.encoder.layers[0]
    assert encoder_only.decoder.layers[2] is not encoder_only.decoder.layers[0]


@pytest.mark.parametrize("name", ["adaptive softmax", "mixture of softmaxes"])
def test_log_probabilities_do_for_logits(name: str) -> None:
    log_p = logits(made(TransformerLM, **ROWS[name]))
    assert_close(log_p.exp().sum(-1), torch.ones(TOKENS.shape), "sums of probabilities")
    assert_close(log_p.log_softmax(-1), log_p, "their own softmax")


def test_what_a_part_adds_to_the_loss_reaches_the_training() -> None:
    """A part keeps its own loss as an attribute; `fit` takes any function of the model."""
    torch.manual_seed(0)
    model = TransformerLM(replace(CONFIG, stack=experts_in_every_other_layer))

    def with_balance(model: nn.Module, tokens: Tensor) -> Tensor:
        ours = teacher_forcing_loss(model, tokens)  # type: ignore[arg-type]
        return ours + 0.5 * sum(part.balance for part in model.modules() if isinstance(part, MixtureOfExperts))

    alone = teacher_forcing_loss(model, TOKENS).item()
    history = fit(model, [TOKENS], steps=30, loss=with_balance, learning_rate=0.01, progress=False)
    assert history.losses[0] == pytest.approx(alone + 0.5 * model.layers[1].feed_forward.balance.item(), abs=0.5)
    assert history.losses[-1] < 0.8 * history.losses[0]


def test_an_encoder_with_fewer_keys_than_tokens_leaves_padding_out() -> None:
    model = made(TransformerEncoder, attention=Linformer)
    longer = torch.cat([SOURCE, TOKENS[:, :3]], dim=1)
    with torch.no_grad():
        padded = model(longer, torch.arange(7).expand(3, 7) < 4)[:, :4]
        assert_close(padded, model(SOURCE), "vectors of real tokens", 1e-4)
        assert (model(longer)[:, :4] - padded).abs().max() > 1e-3


class VisionTransformer(Trunk):
    """Patches (batch, patch, pixels) instead of tokens: the embedding is a matrix. Dosovitskiy et al. (2021)."""

    def forward(self, patches: Tensor) -> Tensor:
        return self.final_norm(self.layers(self.embed(patches)))


def test_a_trunk_reads_patches_as_well_as_tokens() -> None:
    config = replace(CONFIG, embedding=nn.Linear, positions=LearnedPositions, share=share_positions)
    model = stirred(VisionTransformer(config, causal=False))
    patches = torch.randn(2, 9, VOCAB, generator=torch.Generator().manual_seed(1))
    assert model(patches).shape == (2, 9, 20)
    assert_every_parameter_gets_a_gradient(model, model(patches))


def test_the_table_of_places_names_fields_that_exist() -> None:
    table = (nlmcore.variants.__doc__ or "").split("Where the others belong")[1]
    rows = re.findall(r"^    (\S.{43}) ([a-z_]+)[,;: ]", table, flags=re.M)
    fields = set(TransformerConfig.__dataclass_fields__)
    assert len(rows) == len(re.findall(r"^    \S", table, flags=re.M)) > 0
    assert {place for _, place in rows} <= fields
    assert {place for changes in (*ROWS.values(), *WITH_A_SOURCE.values()) for place in changes} <= fields


def test_both_sides_of_an_encoder_decoder_may_follow_their_own_rule() -> None:
    """DeepNorm's α differs between encoder and decoder; `block` knows which of them it builds for."""

    class Scaled(DeepNorm):
        def __init__(self, c: Any, alpha: float) -> None:
            super().__init__(c)
            self.alpha = alpha

    def block(c: Any, causal: bool, cross: bool) -> Block:
        return Block(replace(c, residual=lambda c: Scaled(c, 3.0 if cross else 2.0)), causal, cross)

    model = made(EncoderDecoder, block=block, final_norm=lambda c: nn.Identity())
    assert {layer.around_attention.alpha for layer in model.encoder.layers} == {2.0}
    assert {layer.around_cross_attention.alpha for layer in model.decoder.layers} == {3.0}
