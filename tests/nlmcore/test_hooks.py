"""Hooks fire on every module of every model: nothing is computed past a call."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.variants import POSITIONS
from nlmcore.vision import PatchPredictor
from tests.nlmcore.test_precision import IMAGES, MODELS, SMALL, TOKENS, VOCAB, output, patches

HIDDEN = torch.arange(8).expand(3, 8) % 2 == 0


def silent(model: nn.Module, work: Callable[[Any], Any]) -> set[str]:
    """The modules that have a `forward` and whose hooks never fired. A module without one only holds others.

    A short text reaches a few of many experts, and one of them speaks for all.
    """
    fired: set[str] = set()
    called: set[str] = set()
    for path, module in model.named_modules():
        if type(module).forward is not nn.Module.forward:
            name = re.sub(r"experts\.\d+", "experts", path)
            called.add(name)
            module.register_forward_hook(lambda module, *_, name=name: fired.add(name))
    with torch.no_grad():
        work(model)
    return called - fired


@pytest.mark.parametrize("name", MODELS)
def test_every_module_is_called(unchecked: None, name: str) -> None:
    torch.manual_seed(0)
    assert not silent(MODELS[name](SMALL).eval(), partial(output, name))


@pytest.mark.parametrize("name", POSITIONS)
def test_every_kind_of_position_is_called(unchecked: None, name: str) -> None:
    assert not silent(POSITIONS[name].build(VOCAB, d_model=12, n_heads=6, n_layers=2).eval(), lambda m: m(TOKENS))


def test_what_predicts_patches_is_called() -> None:
    assert not silent(PatchPredictor(patches(SMALL)).eval(), lambda model: model(IMAGES, HIDDEN))


def test_a_module_that_is_passed_by_is_named() -> None:
    class PassesBy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x) @ self.unused.weight

    assert silent(PassesBy(), lambda model: model(torch.zeros(1, 2))) == {"unused"}
