"""A logit as a sum: the parts add up exactly, and each is what a naive loop over the pathway gives."""

from typing import Any

import pytest
import torch

from nlmcore.inspect import direct_logits, head, outputs, pathway
from nlmcore.transformer import TransformerLM
from tests.nlmcore.inspect.test_patching import LLAMA
from tests.transformer_grid import CHANGES, TOKENS, config_of, lively

PLAIN_SUMS = [name for name in CHANGES if not {"norm_position", "norm", "share"} & CHANGES[name].keys()]


@pytest.mark.parametrize("name", [*PLAIN_SUMS, "RMSNorm", "Llama"])
def test_the_parts_add_up_to_the_logit(name: str) -> None:
    model = lively(TransformerLM(config_of("pre", **LLAMA) if name == "Llama" else config_of(name)))
    words = TOKENS.roll(-1, 1)
    parts = direct_logits(model, TOKENS, model.output.weight[words])
    logits = model(TOKENS)[0].gather(-1, words[..., None])[..., 0]
    assert torch.allclose(sum(parts.values()), logits, atol=1e-10)
    assert all(part.shape == (3, 7) for part in parts.values())
    heads = [name for name in parts if ".attention." in name and name[-1].isdigit()]
    assert len(heads) == model.config.n_layers * model.config.n_heads


def test_each_part_is_the_part_of_a_frozen_norm() -> None:
    model = lively(TransformerLM(config_of("pre", **LLAMA)))
    direction = model.output.weight[4] - model.output.weight[7]
    parts = direct_logits(model, TOKENS, direction)
    place = head(model, "layers.1.attention", 3)
    with pathway(model) as branches, outputs(model, place) as z:
        model(TOKENS)
    x = branches[-1].result
    scale = (x.square().mean(-1) + model.final_norm.eps).sqrt()
    u = direction * model.final_norm.weight
    written = z[0] @ model.layers[1].attention.output.weight[:, list(place.features or ())].T
    assert torch.allclose(parts["layers.1.attention.3"], written @ u / scale)
    assert torch.allclose(parts["layers.2.feed_forward"], branches[5].y @ u / scale)
    assert torch.allclose(parts["embedding"], branches[0].x @ u / scale)


@pytest.mark.parametrize("change", [{"norm_position": "post"}, {"final_norm": lambda c: torch.nn.Identity()}])
def test_only_a_plain_sum_with_a_norm_at_its_end_is_taken_apart(change: Any) -> None:
    model = lively(TransformerLM(config_of("pre", **change)))
    with pytest.raises(ValueError, match=r"plain sum|must be RMSNorm or LayerNorm, got Identity"):
        direct_logits(model, TOKENS, model.output.weight[1])
