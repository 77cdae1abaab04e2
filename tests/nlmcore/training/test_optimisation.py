import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.positions import RelativeBias
from nlmcore.training import clip_gradients, cosine_schedule, decay_groups, noam_schedule
from nlmcore.transfer import LoRA
from nlmcore.transformer import TransformerConfig, TransformerLM


def parameters_with(*gradients: list[float] | None) -> list[torch.nn.Parameter]:
    parameters = []
    for gradient in gradients:
        parameter = torch.nn.Parameter(torch.zeros(2 if gradient is None else len(gradient)))
        parameter.grad = None if gradient is None else torch.tensor(gradient)
        parameters.append(parameter)
    return parameters


def test_clipping_by_hand() -> None:
    parameters = parameters_with([3.0, 0.0], None, [0.0, 0.0, 4.0])
    assert clip_gradients(parameters, 2.5) == pytest.approx(5.0)
    assert parameters[0].grad.tolist() == pytest.approx([1.5, 0.0])
    assert parameters[2].grad.tolist() == pytest.approx([0.0, 0.0, 2.0])
    assert clip_gradients(parameters, 2.51) == pytest.approx(2.5)
    assert parameters[0].grad.tolist() == pytest.approx([1.5, 0.0])
    assert clip_gradients(parameters_with(None), 1.0) == 0.0
    assert clip_gradients(parameters_with([0.0]), 1) == 0.0
    with pytest.raises(ValueError, match="max_norm must be greater than 0, got 0"):
        clip_gradients(parameters, 0)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), max_norm=st.floats(0.01, 10))
def test_clipping_agrees_with_torch(seed: int, max_norm: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    gradients = [torch.randn(n, generator=generator).tolist() for n in (3, 1, 4)]
    ours, theirs = parameters_with(*gradients), parameters_with(*gradients)
    expected = torch.nn.utils.clip_grad_norm_(theirs, max_norm)
    assert clip_gradients(iter(ours), max_norm) == pytest.approx(expected.item(), rel=1e-6)
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a.grad, b.grad, rtol=1e-4)


def test_a_norm_that_is_not_finite_scales_nothing() -> None:
    parameters = parameters_with([1.0, math.inf])
    assert clip_gradients(parameters, 1.0) == math.inf
    assert parameters[0].grad.tolist() == [1.0, math.inf]


def test_noam_by_hand() -> None:
    assert noam_schedule(1, d_model=512, warmup=4000) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert noam_schedule(4000, 512, 4000) == pytest.approx((512 * 4000) ** -0.5)
    assert noam_schedule(16_000, 512) == pytest.approx(512**-0.5 / math.sqrt(16_000))
    values = [noam_schedule(step, 64, 10) for step in range(40)]
    assert values[0] == 0
    assert values.index(max(values)) == 10


def test_cosine_by_hand() -> None:
    assert [cosine_schedule(step, 8) for step in (0, 2, 4, 6, 8, 9)] == pytest.approx(
        [1, (1 + math.sqrt(0.5)) / 2, 0.5, (1 - math.sqrt(0.5)) / 2, 0, 0]
    )
    assert [cosine_schedule(step, 14, warmup=4) for step in (0, 1, 4, 9, 14)] == pytest.approx([0, 0.25, 1, 0.5, 0])
    assert cosine_schedule(9, 14, warmup=4, floor=0.1) == pytest.approx(0.55)
    assert cosine_schedule(1000, 14, warmup=4, floor=0.1) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: cosine_schedule(1, 5, warmup=5), "warmup"),
        (lambda: cosine_schedule(1, 5, floor=1.5), "floor"),
    ],
)
def test_bad_schedules(call, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        call()


def test_norms_biases_and_tables_do_not_decay() -> None:
    model = TransformerLM(
        TransformerConfig(
            vocab_size=9, d_model=6, n_heads=2, n_layers=1, max_length=5, attention_positions=RelativeBias
        )
    )
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    decayed, spared = decay_groups(model, 0.1)
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.1, 0.0)
    assert {names[id(parameter)] for parameter in decayed["params"]} == {
        f"layers.0.{part}.weight"
        for part in ("attention.projection", "attention.output", "feed_forward.inner", "feed_forward.outer")
    }
    assert len(decayed["params"]) + len(spared["params"]) == len(names), "the embedding, tied to the output, once"
    adapter = LoRA(model, 2)
    [only] = decay_groups(adapter, 0.1)
    assert len(only["params"]) == len([*adapter.parameters()])
    assert [group["params"] for group in decay_groups(model, 0.1)] == [only["params"]], "what is frozen is left out"
