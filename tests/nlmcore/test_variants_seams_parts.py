"""The seams for more rows that are not built yet: embeddings, softmaxes, experts, memories, branches, halting.

`test_variants_seams` has the first of them and says what is tested; `test_variants_seams_mixing` those of attention.
"""

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.attention import MultiHeadAttention
from nlmcore.transformer import EncoderDecoder, FeedForward, Stack, TransformerLM
from nlmcore.transformer.defaults import build_stack
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.nlmcore.test_variants import MASK, SOURCE, TOKENS, VOCAB, logits
from tests.nlmcore.test_variants_seams import CONFIG, made, parameters, share_blocks

CUT = 5
"""Ids below are frequent, those from here on rare."""


def share_in_the_decoder(c: Any, causal: bool, cross: bool) -> nn.Module:
    stack = build_stack(c, causal, cross)
    if cross:
        share_blocks(stack)
    return stack


class AdaptiveInput(nn.Module):
    """Rare tokens have narrower vectors, widened by a matrix: Baevski & Auli (2019), section 3.1."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.frequent, self.rare = nn.Embedding(CUT, d_model), nn.Embedding(vocab_size - CUT, d_model // 4)
        self.widen = nn.Linear(d_model // 4, d_model, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        rare = self.widen(self.rare((tokens - CUT).clamp(min=0)))
        return torch.where((tokens < CUT).unsqueeze(-1), self.frequent(tokens.clamp(max=CUT - 1)), rare)


class AdaptiveWithoutProjection(nn.Module):
    """Frequent tokens and one door to all rare ones, at full width, with the embedding's own rows.

    Joulin et al. (2017), section 4.2; Narang et al. (2021), section 2.6. Log-probabilities do for logits.
    """

    def __init__(self, c: Any, embedding: Any) -> None:
        super().__init__()
        self.door, self.embedding = nn.Linear(c.d_model, 1, bias=False), embedding

    def forward(self, hidden: Tensor) -> Tensor:
        frequent, rare = (hidden @ self.embedding.weight.T).split([CUT, len(self.embedding.weight) - CUT], -1)
        first = torch.cat([frequent, self.door(hidden)], -1).log_softmax(-1)
        return torch.cat([first[..., :CUT], first[..., CUT:] + rare.log_softmax(-1)], -1)


class TwoOfThreeExperts(nn.Module):
    """y = Σ p_e FFN_e(x) over the best two, p their softmax: Shazeer et al. (2017), equations 3 to 5, without noise."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.router = nn.Linear(d_model, 3, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, d_ff, torch.relu, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.router(x)
        best = scores.topk(2, -1)
        p = torch.full_like(scores, -torch.inf).scatter(-1, best.indices, best.values).softmax(-1)
        return sum(p[..., e, None] * expert(x) for e, expert in enumerate(self.experts))  # type: ignore[return-value]


class ProductKeyMemory(nn.Module):
    """Σ softmax(s)_i v_i over the best keys, a key being a pair of half keys: Lample et al. (2019), section 3.2."""

    def __init__(self, d_model: int, d_ff: int, side: int = 4, best: int = 3) -> None:
        super().__init__()
        self.query, self.best = nn.Linear(d_model, 6, bias=False), best
        self.halves = nn.Parameter(torch.randn(2, side, 3))
        self.values = nn.Embedding(side**2, d_model)

    def forward(self, x: Tensor) -> Tensor:
        q = self.query(x).unflatten(-1, (2, 3))
        left, right = (torch.einsum("btd,nd->btn", q[..., i, :], self.halves[i]).topk(self.best, -1) for i in (0, 1))
        scores = (left.values.unsqueeze(-1) + right.values.unsqueeze(-2)).flatten(-2)
        places = (left.indices.unsqueeze(-1) * self.halves.shape[1] + right.indices.unsqueeze(-2)).flatten(-2)
        found = scores.topk(self.best, -1)
        rows = self.values(places.gather(-1, found.indices))
        return (found.values.softmax(-1).unsqueeze(-1) * rows).sum(-2)


def memory_in_one_layer(c: Any, causal: bool, cross: bool) -> nn.Module:
    kinds = (c, replace(c, feed_forward=ProductKeyMemory), c)
    return Stack(c.block(kinds[i], causal, cross) for i in range(c.n_layers))


class Weighted(nn.Module):
    """Σ_i α_i FFN_i(κ_i head_i), α and κ summing to 1: Ahmed et al. (2017), equations 5 to 7. One state per branch."""

    def __init__(self, c: Any, causal: bool, cross: bool) -> None:
        super().__init__()
        self.heads = nn.ModuleList(MultiHeadAttention(c.d_model, 1, bias=False, d_head=4) for _ in range(3))
        self.networks = nn.ModuleList(c.feed_forward(c.d_model, c.hidden_size // 3) for _ in range(3))
        self.kappa, self.alpha = (nn.Parameter(torch.zeros(3)) for _ in range(2))
        self.around = c.residual(c)
        if cross:
            self.cross_attention, self.around_cross_attention = c.cross_attention(c), c.residual(c)

    def together(self, x: Tensor, heads: list[Tensor]) -> Tensor:
        kappa, alpha = self.kappa.softmax(0), self.alpha.softmax(0)
        branches = [alpha[i] * f(kappa[i] * heads[i]) for i, f in enumerate(self.networks)]
        return self.around.after(x, torch.stack(branches).sum(0))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        h = self.around.before(x)
        return self.together(x, [head(h, mask=mask) for head in self.heads])

    def read(self, x: Tensor, state: Any = None, memory: Any = None, memory_mask: Any = None) -> tuple[Tensor, Any]:
        h = self.around.before(x)
        read = [head.read(h, state and state[i]) for i, head in enumerate(self.heads)]  # type: ignore[operator]
        x = self.together(x, [y for y, _ in read])
        if memory is not None:
            y = self.cross_attention.look(self.around_cross_attention.before(x), memory, memory_mask)
            x = self.around_cross_attention.after(x, y)
        return x, tuple(new for _, new in read)

    def remember(self, source: Tensor) -> Any:
        return self.cross_attention.remember(source)


class Halting(nn.Module):
    """A position stops when what it has spent reaches 1: Graves (2016), equations 5 to 8; Dehghani et al. (2019).

    All positions go on being computed, which keeps one state per loop; what has halted counts for nothing.
    """

    def __init__(self, c: Any, causal: bool, cross: bool) -> None:
        super().__init__()
        self.loops = Stack([c.block(c, causal, cross)] * c.n_layers)
        self.halt = nn.Linear(c.d_model, 1)

    def loop(self, x: Tensor, step: Any) -> Tensor:
        left, result = torch.ones_like(x[..., :1]), torch.zeros_like(x)
        for i in range(len(self.loops)):
            p = torch.sigmoid(self.halt(x))
            x = step(i, x)
            spent = torch.where((left - p > 0.01) & (i + 1 < len(self.loops)), p, left).minimum(left)
            result, left = result + spent * x, left - spent
        return result

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.loop(x, lambda i, x: self.loops[i](x, mask))

    def read(self, x: Tensor, states: Any = None, memories: Any = None, memory_mask: Any = None) -> tuple[Tensor, Any]:
        new = []

        def step(i: int, x: Tensor) -> Tensor:
            y, state = self.loops[i].read(x, states and states[i], memories and memories[i], memory_mask)  # type: ignore
            new.append(state)
            return y

        return self.loop(x, step), tuple(new)

    def remember(self, source: Tensor) -> Any:
        return self.loops.remember(source)


BOTH: dict[str, dict[str, Any]] = {
    "adaptive input embeddings": {"embedding": AdaptiveInput, "tie_embeddings": False},
    "adaptive softmax without projection": {"output": AdaptiveWithoutProjection},
    "mixture of experts": {"feed_forward": TwoOfThreeExperts},
    "product-key memory": {"stack": memory_in_one_layer},
    "Weighted": {"block": Weighted},
    "Universal, halting": {"stack": Halting},
}
WITH_A_SOURCE = BOTH | {"decoder only block sharing": {"stack": share_in_the_decoder}}


@pytest.mark.parametrize("name", BOTH)
def test_a_language_model_with_the_part_keeps_every_law(name: str) -> None:
    model = made(TransformerLM, **BOTH[name])
    assert model(TOKENS)[0].std() > 0.05
    assert_language_model(model, TOKENS, tolerance=1e-4)
    many = torch.randint(0, VOCAB, (20, 8), generator=torch.Generator().manual_seed(6))  # every expert is chosen once
    assert_every_parameter_gets_a_gradient(model, logits(model, many))


@pytest.mark.parametrize("name", WITH_A_SOURCE)
def test_an_encoder_decoder_with_the_part_keeps_every_law(name: str) -> None:
    model = made(EncoderDecoder, **WITH_A_SOURCE[name])
    assert_language_model(model, TOKENS, model.encode(SOURCE, MASK), tolerance=1e-4)
    with torch.no_grad():
        alone, _ = model(TOKENS, model.encode(SOURCE))
        longer = torch.cat([SOURCE, TOKENS[:, :3]], dim=1)
        padded, _ = model(TOKENS, model.encode(longer, torch.arange(7).expand(3, 7) < 4))
    assert_close(padded, alone, "logits of a padded source", 1e-4)


def test_the_decoders_blocks_are_one_and_the_encoders_are_not() -> None:
    model, plain = made(EncoderDecoder, stack=share_in_the_decoder), made(EncoderDecoder)
    assert model.decoder.layers[2] is model.decoder.layers[0]
    assert model.encoder.layers[2] is not model.encoder.layers[0]
    assert parameters(plain) - parameters(model) == 2 * parameters(plain.decoder.layers[1])


def test_an_adaptive_softmax_of_the_embeddings_rows_is_a_distribution() -> None:
    log_p = logits(made(TransformerLM, **BOTH["adaptive softmax without projection"]))
    assert_close(log_p.exp().sum(-1), torch.ones(TOKENS.shape), "sums of probabilities")


def test_what_a_position_spends_is_one() -> None:
    """Loops that all give 1 give 1: nothing is lost, whenever it halts."""
    stack = Halting(CONFIG, True, False)
    x = torch.randn(2, 4, CONFIG.d_model, generator=torch.Generator().manual_seed(0)) * 3
    assert_close(stack.loop(x, lambda i, x: torch.ones_like(x)), torch.ones_like(x), "spent in all")


def test_a_product_key_is_found_among_all_pairs() -> None:
    memory = ProductKeyMemory(20, 36)
    x = torch.randn(1, 1, 20, generator=torch.Generator().manual_seed(2))
    q = memory.query(x)[0, 0]
    scores = [q[:3] @ memory.halves[0, i] + q[3:] @ memory.halves[1, j] for i in range(4) for j in range(4)]
    best = torch.stack(scores).topk(3)
    expected = F.softmax(best.values, 0) @ memory.values.weight[best.indices]
    assert_close(memory(x)[0, 0], expected, "the best three of sixteen")
