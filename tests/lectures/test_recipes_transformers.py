"""The Transformers' recipes: what is matched is matched, and what is measured is what is meant."""

import json
import math

import pytest
import torch
from torch import nn

from lectures import FOLDER as LECTURES
from lectures.recipes import (
    cache_cost,
    changes_of_2017,
    costs,
    language_models,
    longer_rotary,
    numbers_transformer,
    pronunciation_transformer,
    small_gpt,
    warmup,
    why_transformer,
)
from lectures.recipes import gpt_against_lstm as race
from lectures.recipes.experiment import stretches
from lectures.recipes.initial_weights import glorot
from lectures.recipes.run import MissingCheckpoint, parameters
from lectures.recipes.texts import as_document, in_rows
from lectures.trained import FOLDER, build, read_card
from nlmcore.metrics import bits_per_character, perplexity
from nlmcore.positions import Rotary
from nlmcore.positions.sinusoids import frequencies
from nlmcore.tokens import CharTokenizer
from nlmcore.training import History
from nlmcore.transformer import TransformerLM
from tests.lectures.runs import a_run


def a_gpt(vocab_size=11):
    return race.gpt_config(vocab_size, d_model=8, n_heads=2, n_layers=3, window=6)


# --- a GPT against LSTMs ---


@pytest.mark.parametrize("wanted", [1, 3000, 3100, 3200, 3300])  # nearer to the size below or above
def test_the_lstm_has_as_many_parameters(wanted):
    config = race.lstm_config(11, 5, wanted)
    sizes = range(1, 30)
    counts = {hidden: parameters(build("RecurrentLM", config | {"d_hidden": hidden})) for hidden in sizes}
    assert config["d_hidden"] == min(sizes, key=lambda hidden: abs(counts[hidden] - wanted))


def test_weight_decay_pulls_at_matrices_alone():
    model = build("TransformerLM", a_gpt())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1.0)
    optimizer = language_models.adamw(model, 0.1)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for name, parameter in model.named_parameters():
        wanted = 1 - 0.1 * language_models.DECAY if parameter.ndim > 1 else 1.0
        assert torch.allclose(parameter, torch.full_like(parameter, wanted)), name


def test_a_gpt_reads_texts_longer_than_its_rows():
    """The measure carries the state along; for a window that is the same as reading everything at once."""
    torch.manual_seed(0)
    tokenizer = CharTokenizer.fit("to be or not")
    model = build("TransformerLM", a_gpt(tokenizer.vocab_size)).eval()
    texts = ["to be or not to be " * 20, "not to be"]
    found = language_models.quality(model, tokenizer, texts)
    rows = in_rows([as_document(tokenizer.encode(text)) for text in texts])
    assert rows.shape[1] > 300 > model.config.max_length
    assert found["perplexity"] == pytest.approx(perplexity(model, rows, ignore=0, chunk=1000), abs=1e-3)
    count = sum(map(len, texts)) + 2  # <eos> twice
    assert found["bits_per_character"] == pytest.approx(bits_per_character(model, rows, count, ignore=0), abs=1e-4)


def test_a_curve_is_the_mean_of_stretches():
    history = History()
    history.losses.extend(float(i) for i in range(2 * language_models.POINTS))
    found = language_models.curve(history, tokens=10, seconds=0.5)
    assert found["tokens"][:2] == [20, 40]
    assert found["seconds"][:2] == [1.0, 2.0]
    assert found["nats_per_token"][:2] == [0.5, 2.5]
    assert len(found["tokens"]) == language_models.POINTS


def test_a_step_of_a_larger_model_takes_longer():
    small, large = (build("RecurrentLM", {"vocab_size": 9, "d_hidden": h}) for h in (2, 300))
    before = {name: value.clone() for name, value in large.state_dict().items()}
    draws = {
        "small": (small, costs.random_tokens(small, (2, 12))),
        "large": (large, costs.random_tokens(large, (8, 12))),
    }
    seconds = costs.seconds_per_step(draws, 3)
    assert 0 < seconds["small"] < seconds["large"]
    assert all(torch.equal(before[name], value) for name, value in large.state_dict().items())  # it learns nothing


def test_the_comparison_says_who_is_ahead():
    gpt, lstm = ({"bits_per_character": bits, "tokens": tokens} for bits, tokens in ((2.5, 400), (2.375, 1000)))
    assert race.shown({"GPT": gpt, race.MATCHED: lstm}) == (
        "at matched parameters and time, the LSTM is ahead by 0.125 bits per character; the LSTM reads 2.5 times as"
        " much text in that time"
    )
    assert "the GPT is ahead by 0.125" in race.shown({"GPT": lstm, race.MATCHED: gpt})


# --- translation ---


def test_without_the_recurrent_cards_the_comparison_says_what_to_run(tmp_path, monkeypatch):
    for module in (numbers_transformer, pronunciation_transformer, race):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    with pytest.raises(MissingCheckpoint, match=r"python -m lectures.recipes numbers"):
        numbers_transformer.recurrent_networks(a_run(tmp_path))
    with pytest.raises(MissingCheckpoint, match=r"python -m lectures.recipes pronunciation"):
        pronunciation_transformer.recurrent_networks(a_run(tmp_path))
    with pytest.raises(MissingCheckpoint, match=r"python -m lectures.recipes char_lstm"):
        race.committed(a_run(tmp_path), "char_lstm")


def test_lines_are_summed_up_by_the_longest_length_that_works():
    good, bad = {"exact": 0.93}, {"exact": 0.4}
    short, far, none = {"9-11": good, "21-23": bad}, {"9-11": good, "21-23": good}, {"9-11": bad, "21-23": bad}
    assert [numbers_transformer.reach(line) for line in (short, far, none)] == ["9-11", "21-23", None]
    titles = [numbers_transformer.title_of("sinusoids", n) for n in (12, 20)]
    for lines, verdict in (((short, none), "do not reach"), ((far, short), "sometimes reach"), ((far, far), " reach")):
        said = numbers_transformer.shown(dict(zip(titles, lines, strict=True)))
        assert said.endswith(f"{verdict} past the lengths trained on here")
        assert f"{titles[0]}: {numbers_transformer.reach(lines[0])}" in said


def test_parameters_steps_and_time_are_matched():
    stored = json.loads((LECTURES / "results" / "numbers_transformer.json").read_text(encoding="utf-8"))
    costs = stored["costs"]
    assert set(costs) == set(stored["lines"])
    for trained_to in (numbers_transformer.SHORT, numbers_transformer.LONG):
        here = {name: row for name, row in costs.items() if name.endswith(f"up to {trained_to} words")}
        compared = [row for name, row in here.items() if "one vector" not in name]
        assert len(compared) == 3
        for what, factor in (("parameters", 1.02), ("steps", 1.0), ("seconds", 1.5)):
            assert max(row[what] for row in compared) <= factor * min(row[what] for row in compared), what
        for kind, (title, _) in numbers_transformer.POSITIONS.items():
            card = read_card(FOLDER / f"{numbers_transformer.name_of(kind, trained_to)}.json")
            row = here[numbers_transformer.title_of(title, trained_to)]
            assert numbers_transformer.cost(card).items() <= row.items()


def test_error_rates_are_put_beside_the_papers_claim():
    few, many, like_few = (
        {"word_error_rate": rate, "epochs": epochs, "words": 2000}
        for rate, epochs in ((20.5, 3), (31.25, 7), (20.0, 4))
    )
    said = pronunciation_transformer.shown(many, few)
    assert "words wrong: 31.25 % by the Transformer (7 passes), 20.50 % by the recurrent network" in said
    assert "up to 2.7 points" in said
    assert "is not seen" in said
    assert "ahead (Wu et al. 2021) is seen" in pronunciation_transformer.shown(few, many)
    assert "is not told from chance" in pronunciation_transformer.shown(like_few, few)


def test_first_weights_have_the_variances_they_are_said_to_have():
    torch.manual_seed(0)
    model = glorot("TransformerLM", race.gpt_config(400, d_model=120, n_heads=2, n_layers=1, window=6))
    inner = model.layers[0].feed_forward.inner
    assert float(inner.weight.detach().std()) == pytest.approx(math.sqrt(2 / (120 + 480)), rel=0.02)
    assert float(model.embedding.weight.detach().std()) == pytest.approx(120**-0.5, rel=0.02)
    assert model.output.weight is model.embedding.weight
    assert not inner.bias.detach().any()


# --- warm-up ---


def test_gradients_by_layer_are_those_of_a_finite_difference():
    torch.manual_seed(0)
    model = TransformerLM(warmup.a_config(9, 8, 3, "post")).double()
    tokens = torch.randint(9, (2, 7))
    norms = warmup.gradients_by_layer(model, tokens)
    weight = model.layers[1].feed_forward.outer.weight
    direction = weight.grad / weight.grad.norm()

    def loss():
        logits, _ = model(tokens[:, :-1])
        return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    with torch.no_grad():
        weight += 1e-5 * direction
        above = loss()
        weight -= 2e-5 * direction
        slope = float(above - loss()) / 2e-5
    assert norms[1] == pytest.approx(slope, rel=1e-4)
    assert len(norms) == 3


def test_without_a_warm_up_the_rate_is_there_at_once():
    assert [warmup.constant_or_warm(step, 0) for step in (1, 2, 50)] == [1, 1, 1]
    assert [warmup.constant_or_warm(step, 4) for step in (1, 2, 4, 9)] == [0.25, 0.5, 1, 1]


def test_stretches_of_a_curve():
    assert stretches([1.0, 3.0, 5.0], 2) == [2.0, 5.0]


def test_what_a_warm_up_changes_is_said_for_every_rate_and_norm():
    gradients = {"Glorot": {"post-norm": {"4": [0.1, 0.25]}, "pre-norm": {"4": [0.1, 0.125]}}}
    runs = {
        "post-norm, no warm-up": {"0.001": {"dev": 3.5}, "0.01": {"dev": None}},
        "post-norm, 9 steps of warm-up": {"0.001": {"dev": 2.25}, "0.01": {"dev": 2.0}},
        "pre-norm, no warm-up": {"0.001": {"dev": 2.0}, "0.01": {"dev": 2.0}},
        "pre-norm, 9 steps of warm-up": {"0.001": {"dev": 2.5}, "0.01": {"dev": 2.0}},
    }
    said = warmup.shown(gradients, runs)
    assert "(Glorot), post-norm: 4 layers 0.250" in said
    assert "post-norm's loss: -1.25 at a rate of 0.001, diverged at a rate of 0.01" in said
    assert said.endswith("pre-norm's loss: +0.50 at a rate of 0.001, +0.00 at a rate of 0.01")


# --- rotary positions beyond the trained length ---


def test_interpolated_positions_stay_among_the_trained_ones():
    """The score of two positions is that of a quarter of their distance."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(1, 1, 1, 6, generator=draw).expand(1, 1, 9, 6)
    plain = Rotary(1, 6, 9, True).rotate(x)
    stretched = longer_rotary.Interpolated(1, 6, 9, True).rotate(x)
    assert torch.allclose(stretched[:, :, ::4], plain[:, :, :3], atol=1e-6)


def test_a_clipped_angle_is_that_of_the_longest_trained_distance():
    draw, time = torch.Generator().manual_seed(0), longer_rotary.TRAINED + 3
    q, k = torch.randn(2, 1, 1, 1, 6, generator=draw).expand(2, 1, 1, time, 6)
    scores = longer_rotary.Clipped(1, 6, 9, True)(q, k) + q @ k.mT / math.sqrt(6)
    plain = Rotary(1, 6, 9, True)
    known = plain(q) @ plain(k).mT / math.sqrt(6)
    at = [longer_rotary.TRAINED - 1] * 4  # the longest trained distance, and three longer ones
    assert torch.allclose(scores[0, 0, -4:, 0], known[0, 0, at, 0], atol=1e-5)
    assert torch.allclose(scores[0, 0, -1, 3:], known[0, 0, -1, 3:], atol=1e-5)


def test_a_larger_base_slows_the_slowest_pair_fourfold_and_leaves_the_fastest():
    one, other = (
        frequencies(12, rotary.base) for rotary in (Rotary(1, 12, 9, True), longer_rotary.larger(1, 12, 9, True))
    )
    assert float(other[0]) == pytest.approx(float(one[0]))
    assert float(one[-1] / other[-1]) == pytest.approx(longer_rotary.FACTOR)


# --- what 2017 changed; equal parameters; the cache ---


def test_a_change_is_what_it_says():
    sizes = changes_of_2017.config(11, 8, 2)
    built = {row: changes_of_2017.built(row, sizes) for row in changes_of_2017.CHANGES}
    tokens = torch.tensor([[1, 2, 3, 4, 5]])
    for row, model in built.items():
        changed = tokens.clone()
        changed[0, 0] = 9
        with torch.no_grad():
            moved = (model.eval()(tokens)[0] - model(changed)[0])[0, -1].abs().max()
            reordered = (model(tokens)[0] - model(tokens[:, [1, 0, 2, 3, 4]])[0])[0, -1].abs().max()
        assert (moved > 1e-6) == (row != "without attention"), row
        if row != "without positions":  # with a causal mask and two layers, a model can count
            assert (reordered > 1e-6) == (row != "without attention"), row
    x = torch.randn(1, 5, 8)
    for layer in built["without residual connections"].layers:  # without branches nothing is left of x
        assert torch.equal(layer.residual_attention(x, 0 * x), 0 * x)
    assert parameters(built["one head"]) == parameters(built[changes_of_2017.ALL])
    assert parameters(built["without feed-forward networks"]) < parameters(built[changes_of_2017.ALL])


def test_the_lstm_of_the_race_has_as_many_parameters():
    for width in why_transformer.WIDTHS:
        ours, theirs = (
            parameters(build(*why_transformer.config(kind, 82, width)))
            for kind in (why_transformer.TRANSFORMER, why_transformer.LSTM)
        )
        assert ours == pytest.approx(theirs, rel=0.02)


def test_a_cache_holds_keys_and_values_of_every_token():
    model = build("TransformerLM", a_gpt() | {"window": None, "max_length": 40}).eval()
    cached, afresh, held = cache_cost.next_token(model, torch.randint(11, (1, 20)))
    assert held == 3 * 2 * 20 * 8 * 4  # layers, keys and values, tokens, width, bytes
    for work, new in ((cached, 1), (afresh, 20)):  # so small that PyTorch's counter sees every product
        assert costs.multiply_adds(work) == pytest.approx(cache_cost.multiply_adds(model, 20, new), rel=0.1)


def test_the_rate_rises_and_falls():
    rates = [small_gpt.factor(step) for step in (1, small_gpt.WARM_UP, 4 * small_gpt.WARM_UP)]
    assert rates == pytest.approx([1 / small_gpt.WARM_UP, 1.0, 0.5])


def test_what_was_written_is_kept_when_a_training_is_resumed(tmp_path):
    tokenizer = CharTokenizer.fit("to be or not ")
    text = torch.tensor(tokenizer.encode("to be or not to be " * 9))
    sizes = small_gpt.config(a_run(tmp_path), tokenizer.vocab_size)
    first, second = (small_gpt.train(a_run(tmp_path), tokenizer, text.clone(), sizes)[1] for _ in range(2))
    assert first == second
    assert list(first["written"]) == ["0", "2", "4"]
    assert len(first["losses"]) == 4
