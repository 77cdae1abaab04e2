"""`checked`: every sentence that it says, as a table, and what it lets pass."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import pytest
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import (
    Amount,
    Count,
    Positive,
    Probability,
    Rate,
    Size,
    called,
    check_fields,
    check_sizes,
    checked,
)

ones = torch.ones


@checked
def score(query: Float[Tensor, "*batch query d"], keys: Float[Tensor, "*batch key d"]) -> Tensor:
    return query @ keys.mT


@checked
def options(
    n: Size = 1,
    skip: Count = 0,
    dropout: Rate = 0.0,
    scale: Positive = 1.0,
    bias: bool = True,
    name: str = "",
    kind: Literal["pre", "post"] = "pre",
    f: Callable[[int], int] | None = None,
    generator: torch.Generator | None = None,
    *,
    anything: Any = None,
    share: float | int = 0,
    p: Probability = 1,
    amount: Amount = 0,
    prompt: Annotated[Int[Tensor, "batch time"], "pad the shorter ones"] | None = None,
) -> str:
    return "passed"


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.d_model, self.part = 3, nn.Linear(3, 3)

    @checked(like="part.weight")
    def forward(
        self,
        x: Float[Tensor, "batch time {self.d_model}"],
        mask: Bool[Tensor, "batch time"] | None = None,
        tokens: Int[Tensor, "batch 2"] | None = None,
    ) -> Tensor:
        return self.part(x)


REFUSED = [
    (lambda: score([1.0], ones(1, 2)), TypeError, "query must be a tensor, got list [1.0]"),
    (
        lambda: score(ones(1, 2).long(), ones(1, 2)),
        TypeError,
        "query must hold floating-point numbers, got torch.int64",
    ),
    (lambda: score(ones(2), ones(1, 2)), ValueError, "query must have shape (*batch, query, d), got (2,)"),
    (
        lambda: score(ones(1, 2, 3), keys=ones(1, 4, 5)),
        ValueError,
        "keys must have shape (*batch, key, d) with d = 3 as in query, got (1, 4, 5)",
    ),
    (
        lambda: score(ones(1, 2, 3), ones(4, 2, 3)),
        ValueError,
        "keys must have shape (*batch, key, d) with *batch = (1,) as in query, got (4, 2, 3)",
    ),
    (
        lambda: score(ones(1, 2), ones(1, 2).double()),
        TypeError,
        "keys must have the dtype of query, torch.float32, got torch.float64",
    ),
    (lambda: options(0), ValueError, "n must be at least 1, got 0"),
    (lambda: options(n=1.5), TypeError, "n must be an integer, got float 1.5"),
    (lambda: options(n=True), TypeError, "n must be an integer, got bool True"),
    (lambda: options(skip=-1), ValueError, "skip must be at least 0, got -1"),
    (lambda: options(dropout=1), ValueError, "dropout must lie in [0, 1), got 1"),
    (lambda: options(dropout=float("nan")), ValueError, "dropout must lie in [0, 1), got nan"),
    (lambda: options(scale=0), ValueError, "scale must be above 0, got 0"),
    (lambda: options(bias="no"), TypeError, "bias must be True or False, got str 'no'"),
    (lambda: options(name=3), TypeError, "name must be a string, got int 3"),
    (lambda: options(kind="side"), ValueError, "kind must be 'pre' or 'post', got 'side'"),
    (lambda: options(f=3), TypeError, "f must be something to call, like a function, got int 3"),
    (lambda: options(generator=7), TypeError, "generator must be a torch.Generator, got int 7"),
    (lambda: options(p=1.1), ValueError, "p must lie in [0, 1], got 1.1"),
    (lambda: options(amount=-1), ValueError, "amount must be at least 0, got -1"),
    (lambda: options(amount=float("inf")), ValueError, "amount must be at least 0 and finite, got inf"),
    (lambda: options(prompt=[[1]]), TypeError, "prompt must be a tensor, got list [[1]]; pad the shorter ones"),
    (lambda: options(share="half"), TypeError, "share must be a number, got str 'half'"),
    (
        lambda: Model()(ones(2, 4, 5)),
        ValueError,
        "x must have shape (batch, time, d_model) with d_model = 3 as in this model, got (2, 4, 5)",
    ),
    (
        lambda: Model()(ones(2, 4, 3), ones(1, 4).bool()),
        ValueError,
        "mask must have shape (batch, time) with batch = 2 as in x, got (1, 4)",
    ),
    (
        lambda: Model()(ones(2, 4, 3), mask=ones(2, 4)),
        TypeError,
        "mask must hold booleans (True = may attend), got torch.float32",
    ),
    (
        lambda: Model()(ones(2, 4, 3), None, ones(2, 3).long()),
        ValueError,
        "tokens must have shape (batch, 2), got (2, 3)",
    ),
    (
        lambda: Model()(ones(2, 4, 3).double()),
        TypeError,
        "x must have the dtype of the weights, torch.float32, got torch.float64",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED, ids=[row[2][:60] for row in REFUSED])
@pytest.mark.usefixtures("plain_errors")
def test_it_says_which_argument_does_not_fit(call: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == words


def test_what_fits_passes() -> None:
    assert score(ones(2, 3), ones(4, 3)).shape == (2, 4)
    assert score(ones(5, 1, 2, 3), ones(5, 1, 4, 3)).shape == (5, 1, 2, 4)
    assert options(3, 0, 0.5, 2, False, "x", "post", len, torch.Generator(), anything=object(), share=1) == "passed"
    assert options(p=0, amount=3, prompt=ones(2, 4).long()) == options(p=1, prompt=None) == "passed"
    model = Model()
    assert model(ones(2, 4, 3), ones(2, 4).bool(), ones(2, 2).long()).shape == (2, 4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        assert model(ones(2, 4, 3).bfloat16()).dtype == torch.bfloat16


def test_what_is_missing_is_said_by_python() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'keys'"):
        score(ones(1, 2))  # type: ignore[call-arg]
    assert score.__name__ == "score"


def test_the_fields_of_a_configuration() -> None:
    @dataclass(frozen=True)
    class Config:
        d_model: Size
        dropout: Rate = 0.0
        order: Literal["pre", "post"] = "pre"

        def __post_init__(self) -> None:
            check_fields(self)

    assert Config(3).d_model == 3
    for wrong, words in ((lambda: Config(0), "d_model must be at least 1"), (lambda: Config(1, 2), "dropout must lie")):
        with pytest.raises(ValueError, match=words):
            wrong()


def test_a_part_is_named_as_it_would_be_written() -> None:
    assert called(partial(nn.LayerNorm, eps=3)) == "partial(LayerNorm, eps=3)"
    assert called(7) == "7"


def test_checks_by_hand_say_the_same() -> None:
    check_sizes(d_model=1, n_layers=7)
    with pytest.raises(ValueError, match="n_layers must be at least 1, got 0"):
        check_sizes(d_model=1, n_layers=0)
