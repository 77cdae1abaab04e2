import dataclasses
import pickle
from itertools import pairwise

import pytest
import torch
from torch import nn

from nlmcore.attention import MultiHeadAttention
from nlmcore.inspect import capture, outputs, pathway
from nlmcore.transformer import EncoderDecoder, TransformerConfig, TransformerEncoder, TransformerLM
from tests.transformer_grid import share_blocks

CONFIG = TransformerConfig(vocab_size=11, d_model=12, n_heads=3, n_layers=2, max_length=8)
TOKENS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])


def test_it_stops_listening_even_after_an_error() -> None:
    model = TransformerEncoder(CONFIG)
    with pytest.raises(RuntimeError, match="midway"), capture(model):
        raise RuntimeError("midway")
    assert all(m.recorder is None for m in model.modules() if isinstance(m, MultiHeadAttention))


def test_every_call_is_kept_and_the_last_comes_first_to_hand() -> None:
    model = TransformerEncoder(CONFIG)
    with capture(model) as tape:
        model(TOKENS[:, :2])
        model(TOKENS)
    assert [w.shape[-1] for w in tape.history("layers.0.attention")] == [2, 5]
    assert tape["layers.0.attention"].shape[-1] == 5


def test_captures_can_be_nested() -> None:
    model = TransformerEncoder(CONFIG)
    with capture(model) as outer:
        with capture(model.layers[1]) as inner:
            model(TOKENS)
        model(TOKENS)
    assert len(inner.history("attention")) == 1
    assert len(outer.history("layers.1.attention")) == 2


def test_a_name_that_is_not_there_is_explained() -> None:
    model = TransformerEncoder(CONFIG)
    with capture(model) as tape:
        pass
    with pytest.raises(KeyError, match="was not run"):
        tape["layers.0.attention"]
    with pytest.raises(KeyError, match="is no attention"):
        tape["layers.9.attention"]


def test_a_model_without_attention_is_refused() -> None:
    with pytest.raises(ValueError, match="Linear"), capture(nn.Linear(2, 2)):
        pass


def test_the_pathway_leads_from_the_embeddings_to_the_last_norm() -> None:
    model = TransformerLM(CONFIG).eval()
    with pathway(model) as branches:
        logits, _ = model(TOKENS)
    assert [branch.name for branch in branches] == [
        f"layers.{layer}.residual_{part}" for layer in range(2) for part in ("attention", "feed_forward")
    ]
    assert torch.equal(branches[0].x, model.embed(TOKENS))
    for branch, later in pairwise(branches):
        assert torch.equal(branch.result, later.x)
        assert torch.equal(branch.result, branch.x + branch.y)
    assert torch.equal(model.output(model.final_norm(branches[-1].result)), logits)
    assert not branches[0].result.requires_grad


def test_post_norm_stands_in_the_pathway() -> None:
    model = EncoderDecoder(dataclasses.replace(CONFIG, norm_position="post")).eval()
    with pathway(model) as branches:
        model(TOKENS, model.encode(TOKENS))
    assert len(branches) == 2 * 2 + 2 * 3
    assert branches[5].name == "decoder.layers.0.residual_cross_attention"
    for branch in branches:
        norm = model.get_submodule(branch.name).norm
        assert torch.equal(branch.result, norm(branch.x + branch.y))


def test_the_pathway_is_left_as_it_was_even_after_an_error() -> None:
    model = TransformerLM(CONFIG).eval()
    with pytest.raises(RuntimeError, match="midway"), pathway(model), pathway(model):
        raise RuntimeError("midway")
    assert not any("post" in vars(module) for module in model.modules())
    with pathway(model) as outer:
        with pathway(model.layers[1]) as inner:
            model(TOKENS)
        model(TOKENS)
    assert [branch.name for branch in inner] == ["residual_attention", "residual_feed_forward"]
    assert len(outer) == 8
    pickle.dumps(model)


def test_shared_layers_have_each_of_their_names() -> None:
    model = TransformerLM(dataclasses.replace(CONFIG, share=share_blocks)).eval()
    with pathway(model) as branches:
        model(TOKENS)
    assert [branch.name.split(".")[1] for branch in branches] == ["0", "0", "1", "1"]


def test_what_has_no_pathway_is_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="Linear has no residual pathway"), pathway(nn.Linear(2, 2)):
        pass


@pytest.mark.parametrize("share", [False, True])
def test_outputs_are_those_of_the_named_module_in_its_turn_with_their_gradient(share: bool) -> None:
    model = TransformerLM(dataclasses.replace(CONFIG, **{"share": share_blocks} if share else {})).eval()
    with pathway(model) as branches, outputs(model, "layers.0") as first, outputs(model, "layers.1") as second:
        model(TOKENS)
    assert [len(first), len(second)] == [1, 1]
    assert torch.equal(first[0], branches[1].result)
    assert torch.equal(second[0], branches[3].result)
    assert not torch.equal(first[0], second[0])
    first[0].sum().backward()
    assert model.embedding.weight.grad.any()  # type: ignore[union-attr]
    assert not {"forward", "step"} & set(vars(model.layers[0]))
    with pytest.raises(ValueError, match=r"has no module 'layer\.1'; close: layers\.1"), outputs(model, "layer.1"):
        pass
