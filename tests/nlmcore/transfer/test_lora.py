"""LoRA on models of every kind: nothing changes at first, few parameters are trained, merging is exact both ways."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.decoding import greedy
from nlmcore.training import fit
from nlmcore.transfer import LoRA
from nlmcore.transfer.lora import matrices
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.nlmcore.transfer.models import MODELS, TOKENS, made, output


def trained(adapter: LoRA) -> LoRA:
    """B is no longer zero."""
    with torch.no_grad():
        for part in adapter.parts:
            part.B.copy_(torch.randn(part.B.shape, generator=torch.Generator().manual_seed(2)))
    return adapter


def weights(model: Any) -> dict[str, Tensor]:
    return {name: w.detach().clone() for name, w in model.state_dict().items()}


@pytest.mark.parametrize("name", MODELS)
def test_any_model_is_adapted_merged_and_restored(name: str) -> None:
    model, plain = made(name), made(name)
    adapter = LoRA(model, rank=2, alpha=3.0)
    assert_close(output(model), output(plain), "B is zero", 1e-7)
    assert {id(p) for p in model.parameters() if p.requires_grad} == {id(p) for p in adapter.parameters()}
    trained(adapter)
    assert_every_parameter_gets_a_gradient(model, output(model))
    with torch.no_grad():
        by_hand = copy.deepcopy(plain)
        for at, part in zip(adapter.names, adapter.parts, strict=True):
            by_hand.get_parameter(at).add_(3.0 / 2 * part.B @ part.A)
        adapted = output(model)
        assert_close(adapted, output(by_hand), "W + (α / r) B A")
        assert (adapted - output(plain)).abs().max() > 1e-3
        adapter.merge()
        assert weights(model).keys() == weights(plain).keys(), "an ordinary model"
        assert_close(output(model), adapted, "merged", 1e-6)
        for at, W in weights(by_hand).items():
            assert_close(weights(model)[at], W, at, 1e-6)
        adapter.unmerge()
        assert_close(output(model), adapted, "and not", 1e-6)
        for part in adapter.parts:
            part.B.zero_()
        for at in adapter.names:
            module, _, leaf = at.rpartition(".")
            restored = getattr(model.get_submodule(module), leaf)
            assert torch.equal(restored, plain.get_parameter(at)), f"{at} is restored bit for bit"


def test_the_number_of_parameters_is_the_papers() -> None:
    model = made("GPT")
    adapter = LoRA(model, rank=4, where=lambda name: "attention" in name)
    assert adapter.names == [f"layers.{i}.attention.{m}.weight" for i in (0, 1) for m in ("projection", "output")]
    assert sum(p.numel() for p in adapter.parameters()) == 2 * 4 * ((36 + 12) + (12 + 12)), "r (out + in) each"


def test_embeddings_and_shared_matrices_are_left_alone() -> None:
    assert not {"embedding.weight", "output.weight"} & set(matrices(made("GPT"))), "tied: one matrix, two uses"
    assert not [name for name in matrices(made("GPT")) if "positions" in name]
    assert {"output.weight", "recurrent.cells.1.weight_hh"} <= set(matrices(made("LSTM")))
    assert len(matrices(made("Block sharing"))) == 5, "one block's four matrices, once, and the softmax"


def test_it_is_trained_by_fit_decodes_and_moves_to_another_copy(unchecked: None) -> None:
    torch.manual_seed(1)
    model = made("LSTM")
    frozen = weights(model)
    adapter = LoRA(model, rank=2)
    history = fit(adapter, [TOKENS], steps=40, learning_rate=0.05, progress=False)
    assert history.losses[-1] < 0.7 * history.losses[0]
    assert model.training
    adapter.eval()
    assert not model.training
    written = greedy(model, TOKENS[:, :2], 4).tokens
    assert torch.equal(greedy(adapter, TOKENS[:, :2], 4).tokens, written)
    assert {p.dtype for p in adapter.double().parameters()} == {torch.float64}
    assert {p.dtype for p in model.parameters()} == {torch.float64}, "the model moves along"
    adapter.float()
    adapter.merge()
    assert torch.equal(greedy(model, TOKENS[:, :2], 4).tokens, written)
    assert {n for n, w in weights(model).items() if not torch.equal(w, frozen[n])} == set(adapter.names)
    other = made("LSTM")
    LoRA(other, rank=2).load_state_dict(adapter.state_dict())
    assert_close(output(other), output(model), "A and B alone carry the task")


def test_what_does_not_fit_is_named(plain_errors: None) -> None:
    with pytest.raises(
        ValueError, match=r"where must choose at least one of layers\.0\.attention\.projection\.weight, "
    ):
        LoRA(made("GPT"), where=lambda name: False)
    with pytest.raises(ValueError, match="at least one of no matrices"):
        LoRA(nn.LayerNorm(3))
    adapter = LoRA(made("GPT"), rank=1)
    with pytest.raises(ValueError, match=r"merge\(\) comes first"):
        adapter.unmerge()
    adapter.merge()
    with pytest.raises(ValueError, match="merged already"):
        adapter.merge()
