"""Matrix memories: chunks against the loop, what each rule is, the laws of a language model with one."""

from functools import partial
from typing import Any, get_args

import pytest
import torch
from torch import Tensor

from nlmcore.recurrent import matrix_memory
from nlmcore.recurrent.matrix_memory import MatrixMemory, Rule, build_matrix_memory, chunked, step_by_step
from nlmcore.transformer import TransformerConfig, TransformerEncoder, TransformerLM
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.shapes import shapes_unchecked

BATCH, HEADS, TIME, KEY, VALUE, VOCAB = 2, 3, 11, 4, 5, 13
RULES = get_args(Rule)
each_rule = pytest.mark.parametrize("rule", RULES)
GATED = pytest.mark.parametrize("given", ["", "a", "b", "w", "abw"])


@pytest.fixture
def vectors() -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(0)
    q, k = (torch.randn(BATCH, HEADS, TIME, KEY, generator=draw, dtype=torch.float64) for _ in "qk")
    v = torch.randn(BATCH, HEADS, TIME, VALUE, generator=draw, dtype=torch.float64)
    return {"q": q, "k": k / k.norm(dim=-1, keepdim=True), "v": v}


def gates(names: str) -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(1)
    return {name: torch.rand(BATCH, HEADS, TIME, generator=draw, dtype=torch.float64) for name in names}


def by_hand(q: Tensor, k: Tensor, v: Tensor, a: Any = None, b: Any = None, w: Any = None) -> Tensor:
    """The equation of the header, one text and one head at a time."""
    y = torch.zeros_like(v)
    for batch in range(BATCH):
        for head in range(HEADS):
            S = torch.zeros(KEY, VALUE, dtype=v.dtype)
            for t in range(TIME):
                at = (batch, head, t)
                k_t, eye = k[at][None], torch.eye(KEY, dtype=v.dtype)
                erased = eye - (0.0 if b is None else b[at]) * k_t.T @ k_t
                S = (1.0 if a is None else a[at]) * erased @ S + (1.0 if w is None else w[at]) * k_t.T @ v[at][None]
                y[at] = q[at] @ S
    return y


@GATED
def test_the_loop_is_its_equation(vectors: dict[str, Tensor], given: str) -> None:
    some = gates(given)
    assert_close(step_by_step(**vectors, **some)[0], by_hand(**vectors, **some), "y", 1e-12)


@GATED
@pytest.mark.parametrize("chunk", [1, 2, 5, 11, 40])
def test_chunks_are_the_loop(vectors: dict[str, Tensor], given: str, chunk: int) -> None:
    some, S = gates(given), torch.randn(BATCH, HEADS, KEY, VALUE, dtype=torch.float64)
    expected, actual = step_by_step(**vectors, **some, S=S), chunked(**vectors, **some, S=S, chunk=chunk)
    assert_close(actual[0], expected[0], "y", 1e-12)
    assert_close(actual[1], expected[1], "S", 1e-12)


def model(rule: Any) -> TransformerLM:
    torch.manual_seed(0)
    part = partial(build_matrix_memory, rule=rule, d_key=KEY)
    made = TransformerLM(
        TransformerConfig(vocab_size=VOCAB, d_model=15, n_heads=3, n_layers=2, max_length=9, attention=part)
    )
    with torch.no_grad():
        for p in made.parameters():
            p.add_(0.3 * torch.randn(p.shape))
    return made


@each_rule
def test_a_language_model_with_one_obeys_the_laws(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_memory, "chunked", partial(chunked, chunk=3))
    assert_language_model(model(rule), torch.randint(VOCAB, (3, 7), generator=torch.Generator().manual_seed(0)))


@each_rule
def test_every_parameter_gets_a_gradient(rule: Any) -> None:
    made = model(rule)
    assert_every_parameter_gets_a_gradient(made, made(torch.arange(8)[None])[0])


def test_rules_are_the_gates_of_the_header() -> None:
    x = torch.randn(2, 5, 8)
    made = {rule: MatrixMemory(8, 2, KEY, rule) for rule in RULES}
    found = {rule: memory.gates(x) for rule, memory in made.items()}
    shown = {rule: tuple("abw"[i] for i in range(3) if of[i] is not None) for rule, of in found.items()}
    assert shown == {
        "linear": (), "gated writes": ("w",), "retention": ("a",), "selective": ("a", "w"), "delta": ("b", "w"),
        "gated delta": ("a", "b", "w"),
    }  # fmt: skip
    assert found["retention"][0][0, :, 0].tolist() == [1 - 2**-5, 1 - 2**-6]
    a, _, step = found["selective"]
    assert_close(a, (-step * made["selective"].log_rate.exp()[:, None]).exp(), "exp(−Δ A)")
    for rule in ("delta", "gated delta"):
        assert torch.equal(found[rule][1], found[rule][2])


def test_what_does_not_fit_is_refused() -> None:
    memory, x = MatrixMemory(8, 2, KEY, "delta"), torch.randn(2, 5, 8)
    with shapes_unchecked(), pytest.raises(ValueError, match="state must have shape"):
        memory(x, memory(x[:1])[1])
    with pytest.raises(ValueError, match="multiple of n_heads"):
        MatrixMemory(8, 3, KEY, "delta")
    config = TransformerConfig(
        vocab_size=VOCAB, d_model=8, n_heads=2, n_layers=1, max_length=9, attention=build_matrix_memory
    )
    with pytest.raises(ValueError, match="language model or a decoder"):
        TransformerEncoder(config)
