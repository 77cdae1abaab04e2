"""The trainings of the lecture What if: orders, mixings, very deep stacks, and shapes at equal parameters."""

import math

import pytest
import torch
from torch import nn

from lectures.recipes import positions, stacks, very_deep, without_attention
from lectures.recipes.run import parameters
from nlmcore.transformer import TransformerLM
from nlmcore.variants.deepnorm import DeepNorm


def test_random_orders_are_new_and_have_as_many_of_each() -> None:
    orders = stacks.random_orders()
    assert len(set(orders)) == 20
    assert stacks.PLAIN not in orders
    assert {(order.count("s"), order.count("f")) for order in orders} == {(6, 6)}
    assert len({parameters(TransformerLM(stacks.in_order(11, order))) for order in [stacks.PLAIN, *orders]}) == 1


def test_a_patch_has_its_four_points() -> None:
    image = torch.arange(64.0).view(1, 8, 8)
    patches = without_attention.patches_of(image)
    assert patches.shape == (1, 16, 4)
    assert patches[0, 0].tolist() == [0, 1, 8, 9]
    assert patches[0, 1].tolist() == [2, 3, 10, 11]
    assert patches[0, 4].tolist() == [16, 17, 24, 25]


@pytest.mark.parametrize("row", without_attention.ROWS)
def test_only_one_row_mixes_nothing(row: str) -> None:
    torch.manual_seed(0)
    model = without_attention.PatchClassifier(without_attention.config(row, 16))
    x = torch.randn(2, 16, without_attention.WIDTH)
    with torch.no_grad():
        moved = (model.layers(x) - model.layers(torch.cat([x[:, :-1], -x[:, -1:]], 1))).abs().amax((0, 2))
    assert (float(moved[:-1].max()) > 1e-6) == (row != "no mixing")
    fixed = [name for name, p in model.named_parameters() if not p.requires_grad]
    assert bool(fixed) == (row == "random mixing")


def test_the_hybrid_has_attention_on_top() -> None:
    model = without_attention.PatchClassifier(without_attention.config("FNet, attention on top", 16))
    kinds = [type(layer.attention).__name__ for layer in model.layers]
    assert kinds == ["FourierMixing", "FourierMixing", "MultiHeadAttention"]


def test_no_mixing_is_given_the_same_letters() -> None:
    words = positions.ids_of(["three", "tree"])
    model = without_attention.MaskedLM(without_attention.config("no mixing", positions.LONGEST))
    hidden, at, _ = positions.hide_one(words, torch.Generator().manual_seed(0))
    logits = positions.letter_logits(model, hidden, at)
    other = positions.letter_logits(model, hidden.masked_fill(hidden > 1, 5), at)
    assert torch.allclose(logits, other, atol=1e-5), "a hidden letter sees only itself and its position"


def test_deepnorm_and_its_halves() -> None:
    depth, spread = 8, {}
    for rule, (_, alpha, beta) in very_deep.RULES.items():
        torch.manual_seed(0)
        model = TransformerLM(very_deep.config(40, rule, depth, width=64))
        found = {module.alpha for module in model.modules() if isinstance(module, DeepNorm)}
        assert found == (set() if rule == "pre-norm" else {(2 * depth) ** 0.25 if alpha else 1.0})
        spread[rule] = float(model.layers[3].feed_forward.outer.weight.detach().std())
        glorot = math.sqrt(2 / (64 + 256))
        assert spread[rule] == pytest.approx(glorot * ((8 * depth) ** -0.25 if beta else 1.0), rel=0.05)
        assert float(model.embedding.weight.detach().std()) == pytest.approx(1 / 8, rel=0.1)


def test_a_small_step_moves_the_output_along_its_gradient() -> None:
    """Half the step, half the move: so that the figure does not depend on the step."""
    texts = torch.randint(40, (3, 9), generator=torch.Generator().manual_seed(0))
    moves = []
    for step in (1e-3, 5e-4):
        torch.manual_seed(0)
        model = TransformerLM(very_deep.config(40, "DeepNorm", 3)).double()
        norms = very_deep.gradients(model, texts)
        assert len(norms) == 3
        total = math.sqrt(sum(float(p.grad.square().sum()) for p in model.layers.parameters()))
        assert math.hypot(*norms) == pytest.approx(total)
        moves.append(very_deep.moved(model, texts, step))
    assert moves[0] == pytest.approx(moves[1], rel=0.02)


def test_equal_parameters_are_equal() -> None:
    size = {row: parameters(stacks.build(row, 70)) for row in stacks.SHAPES}
    base = size[stacks.SIX]
    for row in (
        "12 layers, half as wide",
        "3 layers, twice as wide",
        "one block, 8.5 times as wide",
        "WideNet, 8 experts",
    ):
        assert size[row] == pytest.approx(base, rel=0.06), row
    assert size["one block"] < size["one block, own norms"] < size["WideNet, 4 experts"] < base


def test_one_expert_is_a_network() -> None:
    model = stacks.build("one block, own norms", 20).eval()
    x = torch.randn(2, 5, 48)
    part: nn.Module = model.layers[2].feed_forward
    assert torch.allclose(part(x), part.experts[0](x), atol=1e-6)
    assert model.layers[1].attention is model.layers[0].attention
    assert model.layers[1].residual_attention is not model.layers[0].residual_attention
