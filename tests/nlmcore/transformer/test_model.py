"""TransformerLM: the laws on every configuration, agreement with torch.nn, and what is refused."""

import copy
import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.attention import MultiHeadAttention
from nlmcore.inspect import capture
from nlmcore.language_model import select
from nlmcore.positions import ALiBi, NoPositions, RelativeBias
from nlmcore.transformer import EncoderDecoder, TransformerLM, TransformerState
from tests.laws import assert_causal, assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.transformer_grid import CHANGES, CONFIG, TOKENS, TOLERANCE, config_of, copy_layer, lively


@pytest.mark.parametrize("name", CHANGES)
def test_every_configuration_is_a_language_model(name: str) -> None:
    assert_language_model(lively(TransformerLM(config_of(name))), TOKENS, tolerance=TOLERANCE)


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_gets_a_gradient(name: str) -> None:
    model = lively(TransformerLM(config_of(name)))
    assert_every_parameter_gets_a_gradient(model, model(TOKENS)[0])


@pytest.mark.parametrize("name", CHANGES)
def test_fused_and_explicit_attention_give_the_same_logits(unchecked: None, name: str) -> None:
    model = lively(TransformerLM(config_of(name)))
    with torch.no_grad():
        fused, state = model(TOKENS)
        further, _ = model(TOKENS[:, :2], state)
        with capture(model) as tape:
            explicit, state = model(TOKENS)
            explicit_further, _ = model(TOKENS[:, :2], state)
    assert_close(explicit, fused, "explicit against fused", TOLERANCE)
    assert_close(explicit_further, further, "reading on", TOLERANCE)
    config = model.config
    assert list(tape) == [f"layers.{i}.attention" for i in range(config.n_layers)]
    for name_of_layer in tape:
        first, second = tape.history(name_of_layer)
        assert first.shape == (3, config.n_heads, 7, 7)
        assert second.shape[:3] == (3, config.n_heads, 2)
        for weights in (first, second):
            assert_close(weights.sum(-1), torch.ones(weights.shape[:3], dtype=torch.float64), "rows", TOLERANCE)
        assert not first.triu(1).any(), "nobody looks ahead"
        seen = 7 if config.window is None else config.window
        assert not first.tril(-seen).any(), "nobody looks farther back than the window"


@pytest.mark.parametrize("name", ["pre", "post", "window 3, grouped", "rotary, grouped, window", "T5", "gated"])
def test_the_laws_hold_in_single_precision_where_products_are_large(plain_errors: None, name: str) -> None:
    """Other kernels multiply there, and one token at a time goes through others than a text."""
    torch.manual_seed(0)
    model = TransformerLM(config_of(name, vocab_size=800, d_model=96, d_ff=1100, max_length=24)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4.0 if parameter.ndim > 1 else 1.0)
        assert model(TOKENS)[0].std() > 0.3, "logits that a tolerance could not hide"
    tokens = torch.randint(800, (3, 9), generator=torch.Generator().manual_seed(0))
    assert_language_model(model, tokens, tolerance=2e-5)


class Leaking(MultiHeadAttention):
    """Reads without a mask: every position sees what comes after it."""

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        return super().forward(x), state


def test_a_leaking_model_is_found() -> None:
    leaking = dataclasses.replace(CONFIG, attention=lambda c, causal: Leaking(c.d_model, c.n_heads))
    with torch.no_grad(), pytest.raises(AssertionError, match="after a change"):
        assert_causal(lively(TransformerLM(leaking)), TOKENS)


def same_logits(one: TransformerLM, other: TransformerLM) -> None:
    with torch.no_grad():
        assert_close(one(TOKENS)[0], other(TOKENS)[0], "logits", TOLERANCE)


@pytest.mark.parametrize("window", [7, 8, 100])
def test_a_window_of_the_whole_text_is_none(window: int) -> None:
    full = lively(TransformerLM(CONFIG))
    same_logits(lively(TransformerLM(dataclasses.replace(CONFIG, window=window))), full)
    narrow = lively(TransformerLM(dataclasses.replace(CONFIG, window=6)))
    assert (narrow(TOKENS)[0] - full(TOKENS)[0]).abs().max() > 1e-3, "one less must be seen"


@pytest.mark.parametrize("positions", [RelativeBias, ALiBi])
def test_a_bias_of_zeros_is_none(positions: Any) -> None:
    none = lively(TransformerLM(dataclasses.replace(CONFIG, positions=NoPositions)))
    biased = TransformerLM(dataclasses.replace(CONFIG, positions=NoPositions, attention_positions=positions)).double()
    biased.load_state_dict(none.state_dict(), strict=False)
    with torch.no_grad():
        before = biased.eval()(TOKENS)[0]
        for layer in biased.layers:
            for table in (*layer.attention.positions.parameters(), *layer.attention.positions.buffers()):
                table.zero_()
    assert (before - none(TOKENS)[0]).abs().max() > 1e-4
    same_logits(biased, none)


def test_shared_blocks_are_equal_blocks() -> None:
    shared = lively(TransformerLM(config_of("shared blocks")))
    plain = TransformerLM(config_of("pre", n_layers=3)).double().eval()
    plain.load_state_dict(shared.state_dict())
    same_logits(shared, plain)
    assert sum(p.numel() for p in shared.layers.parameters()) * 3 == sum(p.numel() for p in plain.layers.parameters())


@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_it_agrees_with_pytorch(norm_position: str) -> None:
    config = dataclasses.replace(CONFIG, norm_position=norm_position, final_norm=lambda c: c.norm(c.d_model))
    ours = lively(TransformerLM(config))
    layer = nn.TransformerEncoderLayer(
        12, 6, 20, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_position == "pre"
    )
    theirs = nn.TransformerEncoder(layer, 2, nn.LayerNorm(12), enable_nested_tensor=False).double().eval()
    with torch.no_grad():
        for mine, other in zip(ours.layers, theirs.layers, strict=True):
            copy_layer(mine, other)
        theirs.norm.load_state_dict(ours.final_norm.state_dict())
        x = ours.embedding.weight[TOKENS] + ours.positions.weight[:7]
        future = torch.ones(7, 7, dtype=torch.bool).triu(1)  # inverted: theirs is True = ignore
        hidden = theirs(x, mask=future)
        assert_close(ours.hidden_states(TOKENS)[0], hidden, "hidden vectors", TOLERANCE)
        assert_close(ours(TOKENS)[0], hidden @ ours.embedding.weight.T, "logits", TOLERANCE)


def test_the_state_says_how_far_it_is_and_takes_no_more_room_than_a_window(unchecked: None) -> None:
    full, narrow = (lively(TransformerLM(config_of(name, max_length=200))) for name in ("pre", "window 3"))
    states: list[TransformerState | None] = [None, None]
    with torch.no_grad():
        for t in range(150):
            tokens = torch.full((2, 1), t % 11)
            states = [model(tokens, state)[1] for model, state in zip((full, narrow), states, strict=True)]
    for state in states:
        assert state is not None
        assert state.position == 150
        assert all(cache.position == 150 for cache in state.layers)
    assert states[0].layers[0].length == 150
    assert states[1].layers[0].length == 2, "a window of 3 sees two positions before its own"


def test_logits_are_made_of_what_read_gives() -> None:
    model = lively(TransformerLM(CONFIG))
    hidden, state = model.hidden_states(TOKENS)
    assert hidden.shape == (3, 7, 12)
    assert torch.equal(model.output(hidden), model(TOKENS)[0])
    assert state.position == 7


@pytest.mark.parametrize("name", ["pre", "shared blocks", "T5", "Transformer-XL", "untied", "sinusoidal"])
def test_weights_can_be_saved_loaded_and_copied(name: str, tmp_path: Any) -> None:
    model = lively(TransformerLM(config_of(name)))
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    other = TransformerLM(config_of(name)).double().eval()
    other.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    same_logits(other, model)
    twin = copy.deepcopy(model)
    same_logits(twin, model)
    with torch.no_grad():
        twin.embedding.weight.zero_()
        if name != "untied":
            assert not twin(TOKENS)[0].any(), "a copy's output is tied to the copy's embedding"
    assert model(TOKENS)[0].any()
    with torch.no_grad():
        _, state = model(TOKENS)
        assert_close(model(TOKENS[:, :2], copy.deepcopy(state))[0], model(TOKENS[:, :2], state)[0], "state", TOLERANCE)


def test_dropout_acts_in_training_only() -> None:
    model = TransformerLM(dataclasses.replace(CONFIG, dropout=0.5))
    assert not torch.equal(model(TOKENS)[0], model(TOKENS)[0])
    model.eval()
    assert torch.equal(model(TOKENS)[0], model(TOKENS)[0])


def state_of(change: dict[str, Any], dtype: torch.dtype = torch.float64) -> Any:
    with torch.no_grad():
        return lively(TransformerLM(dataclasses.replace(CONFIG, **change)), dtype=dtype)(TOKENS)[1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m(TOKENS.float()), TypeError, "LongTensor"),
        (lambda m: m(TOKENS + 5), ValueError, r"\[0, 11\)"),
        (lambda m: m(torch.ones(1, 10, dtype=torch.long)), ValueError, "10 tokens, this model knows 9 positions"),
        (lambda m: m(TOKENS, state_of({})), ValueError, r"14 tokens \(7 before and 7 now\)"),
        (lambda m: m(TOKENS, (1, 2)), TypeError, "state must be None or what an earlier call gave back, got tuple"),
        (lambda m: m(TOKENS, state_of({}).layers[0]), TypeError, "got KeyValueCache"),
        (lambda m: m(TOKENS[:1], state_of({})), ValueError, "3 rows for 1 texts"),
        (lambda m: m(TOKENS[:, :2], state_of({"n_layers": 3})), ValueError, "a model of 2 layers, got one of 3"),
        (lambda m: m(TOKENS[:, :2], state_of({"n_layers": 1})), ValueError, "a model of 2 layers, got one of 1"),
        (
            lambda m: m(TOKENS, EncoderDecoder(CONFIG).encode(TOKENS)),
            TypeError,
            "state must be None .* got EncoderDecoderState",
        ),
        (lambda m: select(state_of({}), torch.tensor([3])), IndexError, r"indices must lie in \[0, 3\)"),
    ],
)
def test_what_cannot_be_read_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    model = lively(TransformerLM(CONFIG))
    with torch.no_grad(), pytest.raises(error, match=words):
        call(model)


@pytest.mark.parametrize("change", [{"n_heads": 3}, {"n_kv_heads": 1}, {"d_head": 5}])
@pytest.mark.parametrize("time", [1, 2])
@pytest.mark.parametrize("grad", [False, True])
def test_a_state_of_other_heads_is_named(plain_errors: None, change: dict[str, Any], time: int, grad: bool) -> None:
    model, state = lively(TransformerLM(CONFIG)), state_of(change)
    with torch.set_grad_enabled(grad), pytest.raises(ValueError, match="state"):
        model(TOKENS[:, :time], state)


def test_a_state_of_another_dtype_is_named(plain_errors: None) -> None:
    model, state = lively(TransformerLM(CONFIG)), state_of({}, torch.float32)
    with torch.no_grad(), pytest.raises(TypeError, match="state"):
        model(TOKENS[:, :1], state)


def test_a_tied_output_needs_an_embedding_with_a_matrix(plain_errors: None) -> None:
    bare: Any = lambda vocab_size, d_model: nn.Sequential(nn.Embedding(vocab_size, d_model))  # noqa: E731
    with pytest.raises(ValueError, match=r"tie_embeddings needs an embedding with a matrix `weight`.*got Sequential"):
        TransformerLM(dataclasses.replace(CONFIG, embedding=bare))
    wide: Any = lambda vocab_size, d_model: nn.Embedding(vocab_size, d_model + 1)  # noqa: E731
    with pytest.raises(ValueError, match=r"shape \(11, 12\), got \(11, 13\)"):
        TransformerLM(dataclasses.replace(CONFIG, embedding=wide))
