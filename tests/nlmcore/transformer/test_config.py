"""The configuration: contradictions are named, and it prints what makes a model itself."""

import dataclasses
import pickle
from functools import partial
from typing import Any

import pytest
from torch import nn

from nlmcore.norms import RMSNorm
from nlmcore.positions import Rotary, SinusoidalPositions
from nlmcore.transformer import TransformerConfig
from nlmcore.transformer.config import PARTS
from nlmcore.variants import CATALOGUE, Variant
from nlmcore.variants.catalogue import POSITIONS
from tests.transformer_grid import CHANGES, CONFIG, config_of


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"d_model": 10}, "d_model=10, n_heads=6"),
        ({"n_kv_heads": 4}, "n_heads=6, n_kv_heads=4"),
        ({"n_kv_heads": 12}, "n_heads=6, n_kv_heads=12"),
        ({"n_layers": 0}, "n_layers must be at least 1, got 0"),
    ],
)
def test_contradictions_are_named(plain_errors: None, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(CONFIG, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"norm": "layer"},
        {"positions": None},
        {"norm": nn.LayerNorm(12)},
        {"attention_positions": Rotary(6, 2, 9, True)},
        {"attention_bias": "False"},
    ],
)
def test_a_part_must_be_callable_and_a_size_whole(plain_errors: None, change: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(change))):
        dataclasses.replace(CONFIG, **change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"positions": Rotary},
            r"positions must take \(max_length, d_model\), got Rotary, which takes \(n_heads, d_head,",
        ),
        (
            {"attention_positions": SinusoidalPositions},
            r"\(n_heads, d_head, max_length, causal\), got SinusoidalPositions, which takes \(max_length, d_model\)",
        ),
        ({"feed_forward": nn.GELU}, r"feed_forward must take \(d_model, d_ff\), got GELU"),
        ({"norm": partial(RMSNorm, 12, 1e-6)}, r"norm must take \(d_model\), got partial\(RMSNorm, 12, 1e-06\)"),
        ({"residual": lambda: nn.Identity()}, r"residual must take \(config\), got .*lambda.*, which takes \(\)"),
    ],
)
def test_a_part_in_the_place_of_another_is_named(plain_errors: None, change: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        dataclasses.replace(CONFIG, **change)


def test_every_part_is_checked() -> None:
    parts = {f.name for f in dataclasses.fields(CONFIG) if callable(f.default)} | {"attention_positions"}
    assert parts == set(PARTS)


def test_d_head_frees_d_model_from_n_heads() -> None:
    config = dataclasses.replace(CONFIG, d_model=10, d_head=4, d_ff=None)
    assert (config.head_size, config.hidden_size) == (4, 40)
    assert (CONFIG.head_size, CONFIG.hidden_size) == (2, 20)


def test_it_prints_its_sizes_and_what_is_not_usual() -> None:
    assert repr(CONFIG) == (
        "TransformerConfig(vocab_size=11, d_model=12, n_heads=6, n_layers=2, max_length=9, d_ff=20)"
    )
    assert repr(dataclasses.replace(CONFIG, norm=RMSNorm)) == repr(CONFIG).replace(")", ", norm=RMSNorm)")


@pytest.mark.parametrize("name", CHANGES)
def test_no_configuration_prints_an_address(name: str) -> None:
    assert " at 0x" not in repr(config_of(name))


def test_it_is_a_value() -> None:
    assert dataclasses.replace(CONFIG) == CONFIG
    assert dataclasses.replace(CONFIG, norm=nn.RMSNorm) != CONFIG
    assert pickle.loads(pickle.dumps(CONFIG)) == CONFIG
    with pytest.raises(dataclasses.FrozenInstanceError):
        CONFIG.d_model = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        TransformerConfig(11, 12, 3, 2, 8)  # type: ignore[misc]


@pytest.mark.parametrize("rows", [CATALOGUE, POSITIONS])
def test_a_configuration_goes_to_json_and_back(rows: dict[str, Variant]) -> None:
    for row in rows.values():
        written = (config := row.config(40, max_length=8)).to_json()
        again = TransformerConfig.from_json(written)
        assert repr(again) == repr(config), row.name
        assert again.to_json() == written, row.name


def test_what_has_no_name_is_not_written_and_no_other_is_read(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="only what has a name in nlmcore or torch can be written down, got <lambda>"):
        dataclasses.replace(CONFIG, norm=lambda d_model: nn.LayerNorm(d_model)).to_json()
    for name in (
        "os.system",
        "nlmcore.no_such_part",
        "nlmcore.norms",  # a module
        "torch.os.system",
        "torch.load",
        "torch.hub.load",
        "torch.from_file",
        "torch.nn.functional.importlib.import_module",
        "torch.nn.modules.linear.Linear.__init_subclass__",
        "torch.nn.modules.linear.Linear.forward.__globals__",
        "nlmcore.norms.RMSNorm.load_state_dict",  # inherited
        "nlmcore.pictures.Picture.save",
        "nlmcore.training.checkpoint.save_checkpoint",
        "nlmcore.transformer.names.importlib.import_module",
        "nlmcore.transformer.names.partial",
    ):
        with pytest.raises(ValueError, match=f"a part must be a layer or a function of nlmcore or torch, got '{name}'"):
            TransformerConfig.from_json(CONFIG.to_json().replace("{", '{"norm": {"name": "' + name + '"}, ', 1))
