"""Encoder and decoder: the laws, the equations by naive loops, padding, and what each context can see."""

import dataclasses

import pytest
import torch
from torch import Tensor, nn

from nlmcore.attention import additive_score, attend, bilinear_score, dot_score
from nlmcore.diagnostics import gate_activations
from nlmcore.inspect import capture
from nlmcore.recurrent import LSTMState
from nlmcore.seq2seq import SCORES, Attention, Seq2Seq
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model

BATCH, SOURCE, TIME, EMBEDDING, HIDDEN, SOURCE_VOCAB, VOCAB = 3, 7, 5, 4, 6, 13, 11
CONTEXTS = ["initial", "every_step", "attention"]


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def build(**options) -> Seq2Seq:
    model = Seq2Seq(SOURCE_VOCAB, VOCAB, **{"d_embedding": EMBEDDING, "d_hidden": HIDDEN} | options)
    for embedding in (model.embedding, model.encoder.embedding):
        nn.init.normal_(embedding.weight)
    return model


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Sources, their mask (right-padded), and target tokens."""
    mask = torch.arange(SOURCE) < torch.tensor([7, 3, 5]).unsqueeze(1)
    return torch.randint(1, SOURCE_VOCAB, (BATCH, SOURCE)) * mask, mask, torch.randint(VOCAB, (BATCH, TIME))


def h_of(state):
    return state.h if isinstance(state, LSTMState) else state


VARIANTS = [
    {"cell": cell, "context": context, "n_layers": layers}
    for cell in ("rnn", "ugrnn", "gru", "lstm")
    for context in CONTEXTS
    for layers in (1, 3)
] + [
    {"score": score, "bidirectional": bidirectional, "reverse_source": not bidirectional, "cell": cell}
    for score in SCORES
    for bidirectional in (True, False)
    for cell in ("gru", "lstm")
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_it_is_a_language_model_of_its_target(options: dict) -> None:
    model = build(**options).eval()
    source, mask, tokens = batch()
    with torch.no_grad():
        state = model.encode(source, mask)
    assert_language_model(model, tokens, state)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_parameter_gets_a_gradient(options: dict) -> None:
    model = build(**options)
    source, mask, tokens = batch()
    assert_every_parameter_gets_a_gradient(model, model(tokens, model.encode(source, mask))[0])


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_padding_of_the_source_changes_nothing(unchecked: None, options: dict) -> None:
    model = build(**options).eval()
    source, mask, tokens = batch()
    logits, _ = model(tokens, model.encode(source, mask))
    garbage = torch.where(mask, source, SOURCE_VOCAB - 1)
    assert torch.equal(model(tokens, model.encode(garbage, mask))[0], logits)
    for row in range(BATCH):
        alone, _ = model(tokens[row : row + 1], model.encode(source[row : row + 1, mask[row]]))
        assert_close(alone[0], logits[row], f"row {row} without padding")


@pytest.mark.parametrize("cell", ["ugrnn", "lstm"])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_thought_vector_starts_the_decoder(reverse: bool, cell: str) -> None:
    model = build(context="initial", reverse_source=reverse, cell=cell)
    source, _, tokens = batch()
    s = None
    for i in reversed(range(SOURCE)) if reverse else range(SOURCE):
        s = model.encoder.recurrent.cells[0](model.encoder.embedding(source[:, i]), s)
    logits, _ = model(tokens, model.encode(source))
    for t in range(TIME):
        s = model.decoder.recurrent.cells[0](model.embedding(tokens[:, t]), s)
        assert_close(logits[:, t], model.output(h_of(s)), f"step {t}")


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_context_is_the_top_of_a_stack(cell: str) -> None:
    model = build(context="every_step", cell=cell, n_layers=2)
    source, mask, _ = batch()
    outputs, _ = model.encoder(source, mask)
    last = outputs[torch.arange(BATCH), mask.sum(1) - 1]
    assert_close(model.encode(source, mask).constant, last, "h_n of the last layer")


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_context_is_read_at_every_step(cell: str) -> None:
    model = build(context="every_step", cell=cell)
    source, _, tokens = batch()
    state = model.encode(source)
    s = state.recurrent
    s = LSTMState(s.h[:, 0], s.c[:, 0]) if cell == "lstm" else s[:, 0]
    c = h_of(s)
    logits, _ = model(tokens, state)
    for t in range(TIME):
        s = model.decoder.recurrent.cells[0](torch.cat([model.embedding(tokens[:, t]), c], dim=1), s)
        assert_close(logits[:, t], model.output(h_of(s)), f"step {t}")


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("cell", ["rnn", "ugrnn", "gru", "lstm"])
def test_attention_is_the_lectures_loop(cell: str, score: str) -> None:
    """α = softmax score(s_{i-1}, h_j), c = Σ α h, s_i = g([y; c], s_{i-1}), through nlmcore.attention's functions."""
    model = build(cell=cell, score=score, bidirectional=True)
    source, mask, tokens = batch()
    state = model.encode(source, mask)
    logits, _ = model(tokens, state)
    outputs, s = model.encoder(source, mask)
    s = LSTMState(s.h[:, 0], s.c[:, 0]) if cell == "lstm" else s[:, 0]
    weights = model.decoder.attention.score
    for t in range(TIME):
        if score == "dot":
            e = dot_score(h_of(s), outputs)
        elif score == "bilinear":
            e = bilinear_score(h_of(s), outputs, weights.W)
        else:
            e = additive_score(h_of(s), outputs, weights.W_query, weights.W_key, weights.v)
        c, _ = attend(e, outputs, mask)
        s = model.decoder.cell(torch.cat([model.embedding(tokens[:, t]), c], dim=1), s)
        combined = torch.tanh(model.decoder.combine(torch.cat([c, h_of(s)], dim=1)))
        assert_close(logits[:, t], model.output(combined), f"step {t}")


def test_upper_layers_stand_on_the_one_that_attends() -> None:
    model = build(n_layers=3, cell="lstm")
    source, mask, tokens = batch()
    state = model.encode(source, mask)
    _, after = model(tokens, state)
    assert after.recurrent.h.shape == (BATCH, 3, HIDDEN)
    below = []
    model.decoder.upper.register_forward_pre_hook(lambda module, arguments: below.append(arguments))
    logits, _ = model(tokens, state)
    inputs, upper_state = below[0]
    assert_close(inputs[:, -1], after.recurrent.h[:, 0], "what the second layer reads")
    assert_close(upper_state.c, state.recurrent.c[:, 1:], "where the upper layers start")
    assert logits.shape == (BATCH, TIME, VOCAB)


def test_a_bidirectional_encoder_starts_the_decoder_with_both_ends() -> None:
    model = build(bidirectional=True, n_layers=2, context="initial")
    source, mask, _ = batch()
    outputs, _ = model.encoder(source, mask)
    start = model.encode(source, mask).recurrent
    half, last = HIDDEN // 2, mask.sum(1) - 1
    assert_close(start[:, 1, :half], outputs[torch.arange(BATCH), last, :half], "forward half")
    assert_close(start[:, 1, half:], outputs[:, 0, half:], "backward half")


@pytest.mark.parametrize("reverse", [False, True])
def test_captured_weights_are_a_distribution_over_real_source_tokens(reverse: bool) -> None:
    model = build(reverse_source=reverse, score="additive")
    source, mask, tokens = batch()
    state = model.encode(source, mask)
    expected, _ = model(tokens, state)
    with capture(model) as tape:
        logits, _ = model(tokens, state)
    assert torch.equal(logits, expected)
    weights = tape["decoder.attention"]
    assert weights.shape == (BATCH, 1, TIME, SOURCE)
    assert_close(weights.sum(-1), torch.ones(BATCH, 1, TIME), "rows")
    assert not weights.masked_select(~mask[:, None, None, :]).any()


@pytest.mark.parametrize("reverse", [False, True])
def test_weights_stand_in_the_sources_order(reverse: bool) -> None:
    """Force attention to one source position: the weight appears there, however the source was read."""
    model = build(reverse_source=reverse)
    source, _, tokens = batch()
    state = model.encode(source)
    outputs, _ = model.encoder(source, torch.ones_like(source, dtype=torch.bool))
    assert_close(state.values, outputs, "values are h_1 … h_n")
    first = model.encoder.recurrent(model.encoder.embedding(source[:, -1:] if reverse else source[:, :1]))[0][:, 0]
    assert_close(outputs[:, -1 if reverse else 0], first, "the state that was read first")
    only = dataclasses.replace(state, mask=torch.arange(SOURCE).expand(BATCH, SOURCE) == 2)
    with capture(model) as tape:
        model(tokens, only)
    assert (tape["decoder.attention"][..., 2] == 1).all()


def test_only_attention_sees_past_the_bottleneck() -> None:
    """With the thought vector held fixed, a changed source state matters to attention alone."""
    source, _, tokens = batch()
    for context in CONTEXTS:
        state = build(context=context).encode(source)
        assert (state.values is not None) == (context == "attention")
        assert (state.constant is not None) == (context == "every_step")
    model = build(context="attention")
    state = model.encode(source)
    changed = dataclasses.replace(state, values=state.values + torch.randn_like(state.values))
    assert not torch.allclose(model(tokens, state)[0], model(tokens, changed)[0])


def test_keys_are_projected_once_per_source() -> None:
    model = build(score="additive")
    source, _, tokens = batch()
    outputs, _ = model.encoder(source, torch.ones_like(source, dtype=torch.bool))
    state = model.encode(source)
    assert_close(state.keys, outputs @ model.decoder.attention.score.W_key.T, "W_key h_j")
    model.decoder.attention.score.W_key.data.zero_()
    assert model(tokens, state)[0].isfinite().all()


def test_gates_of_every_cell_can_be_recorded() -> None:
    model = build(cell="lstm", n_layers=2)
    source, mask, tokens = batch()
    gates = gate_activations(model, tokens, model.encode(source, mask))
    assert gates["decoder.cell"]["forget"].shape == (BATCH, TIME, HIDDEN)
    assert set(gates) == {"decoder.cell", "decoder.upper.cells.0"}


@pytest.mark.parametrize("context", CONTEXTS)
def test_step_by_step_equals_fused(context: str) -> None:
    fused = build(context=context, cell="lstm", n_layers=2, bidirectional=True)
    step = build(context=context, cell="lstm", n_layers=2, bidirectional=True, fused=False)
    step.load_state_dict(fused.state_dict())
    source, mask, tokens = batch()
    a, b = (model(tokens, model.encode(source, mask))[0] for model in (fused, step))
    assert_close(a, b, "logits")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context": "none"}, r"context.*initial.*'none'"),
        ({"score": "cosine"}, r"score.*additive.*'cosine'"),
        ({"cell": "lstn"}, "'lstn'"),
        ({"d_hidden": 5, "bidirectional": True}, "even.*5"),
    ],
)
def test_bad_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**options)


def test_bad_input_is_refused() -> None:
    model = build()
    source, mask, tokens = batch()
    state = model.encode(source, mask)
    with pytest.raises(TypeError, match="state"):
        model(tokens)
    with pytest.raises((TypeError, ValueError), match="state"):
        model(tokens, state.recurrent)
    with pytest.raises(ValueError, match="one source per text, got 3 for 2"):
        model(tokens[:2], state)
    with pytest.raises(ValueError, match=r"tokens.*\[0, 11\)"):
        model(torch.full((BATCH, 1), VOCAB), state)
    with pytest.raises(ValueError, match=r"source.*\[0, 13\)"):
        model.encode(torch.full((BATCH, 1), SOURCE_VOCAB))
    with pytest.raises(ValueError, match=r"source.*at least one"):
        model.encode(source[:, :0])
    with pytest.raises(TypeError, match=r"source_mask.*boolean"):
        model.encode(source, mask.float())
    with pytest.raises(ValueError, match=r"mask.*source = 7.*\(3, 6\)"):
        model.encode(source, mask[:, 1:])


def test_attention_refuses_another_batch() -> None:
    with pytest.raises((ValueError, TypeError), match="batch"):
        Attention(SCORES["dot"](4))(torch.zeros(1, 4), torch.zeros(2, 3, 4), torch.zeros(2, 3, 4), None)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_source_without_a_token_reads_as_nothing(options: dict) -> None:
    """The decoder starts from zeros and fetches zeros; the other rows do not notice."""
    model = build(**options).eval()
    source, mask, tokens = batch()
    expected = model(tokens, model.encode(source, mask))[0]
    mask[1] = False
    state = model.encode(source, mask)
    assert all(not part[1].any() for part in (h_of(state.recurrent), state.values) if part is not None)
    logits, _ = model(tokens, state)
    assert logits.isfinite().all()
    assert_close(logits[[0, 2]], expected[[0, 2]], "the others")


def test_a_state_with_parts_of_another_batch_is_refused() -> None:
    model = build()
    source, mask, tokens = batch()
    state = model.encode(source, mask)
    mixed = dataclasses.replace(state, recurrent=state.recurrent[:1])
    for rows in (tokens[:1], tokens):
        with pytest.raises(ValueError, match="one source per text"):
            model(rows, mixed)
