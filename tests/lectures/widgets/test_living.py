"""The living model tells what an intervention on the whole model gives, and its stored answers are the same."""

import base64
import html
import json
import math
import re
from functools import partial
from typing import Any

import pytest
import torch

from lectures import FOLDER, widgets
from lectures.trained import checkpoint
from lectures.widgets.living import EXPLAINED, LONGEST
from nlmcore.inspect import capture, direct_logits, head, patch
from nlmcore.pretrained import smollm2
from tests.lectures.seen import seen

TEXT = "The capital of France is"


@pytest.fixture
def small() -> widgets.Living:
    model, tokenizer, _ = checkpoint("char_gpt")
    return widgets.living(model, tokenizer, "ROMEO.", "my lord")


def ask(play: widgets.Living, **message: Any) -> dict[str, Any]:
    """As the page asks: through the hidden field, and back through the hidden place."""
    play.asks.value = json.dumps(message)
    told: dict[str, Any] = json.loads(html.unescape(re.sub("</?span[^>]*>", "", play.tells.value)))
    assert told.pop("n") == message["n"]
    return told


@pytest.fixture
def filling() -> widgets.Living:
    model, letters, _ = checkpoint("letters_masked")
    return widgets.living(model, letters, "play_ng", mask="_", encode=lambda text: [1, *letters.encode(text), 2])


@torch.no_grad()
def expected(play: widgets.Living, off: list[str]) -> torch.Tensor:
    """Probabilities of the next token, every part off by itself on a whole forward pass."""
    model, machine = play.machine.model, play.machine
    parts = [tuple(map(int, name.split("."))) for name in off]
    places: list[Any] = [
        f"layers.{i}.feed_forward" if k == machine.heads else head(model, f"layers.{i}.attention", k) for i, k in parts
    ]
    with patch(model, dict.fromkeys(places, 0)):
        return model(torch.tensor([machine.ids]))[0][0, -1].softmax(-1)


def same(told: dict[str, Any], p: torch.Tensor) -> bool:
    return (
        all(abs(each - float(p[i])) <= 1e-4 for i, _, each in told["next"])
        and int(p.argmax()) == max(told["next"], key=lambda row: row[2])[0]
    )


def test_smollm2_answers_as_when_it_is_patched_and_read_anew() -> None:
    play = widgets.living(*smollm2(), TEXT)
    off: list[str] = []
    for n, name in enumerate(["18.9", "3.2", "23.4"]):
        off.append(name)
        assert same(ask(play, n=n, off=off), expected(play, off))
    assert same(ask(play, n=9, off=off[1:]), expected(play, off[1:]))
    told = ask(play, n=10, off=["3.2"], look="23.4")
    with (
        torch.no_grad(),
        patch(play.machine.model, {head(play.machine.model, "layers.3.attention", 2): 0}),
        capture(play.machine.model) as tape,
    ):
        play.machine.model(torch.tensor([play.machine.ids]))
    last = list(base64.b64decode(told["weights"]))[-5:]
    assert last == pytest.approx((255 * tape["layers.23.attention"][0, 4, -1]).tolist(), abs=1)


def test_a_masked_model_fills_in_from_both_sides(filling: widgets.Living) -> None:
    machine, sheet = filling.machine, filling.first
    tokens, position = torch.tensor([machine.ids]), machine.ids.index(machine.tokenizer.encode("_")[0])
    model, _, _ = checkpoint("letters_masked")
    with torch.no_grad(), capture(model) as tape, patch(model, {head(model, "encoder.layers.1.attention", 2): 0}):
        p = model(tokens)[0, position].softmax(-1)
    assert (sheet["position"], sheet["tokens"][position], sheet["fills"]) == (position, "_", True)
    assert same(ask(filling, n=1, off=["1.2"]), p)
    weights = torch.tensor(list(base64.b64decode(sheet["weights"]))).view(2, machine.heads, *tokens.shape[1:] * 2)
    assert (weights[0] - 255 * tape["encoder.layers.0.attention"][0]).abs().max() <= 0.6
    assert {i < j for _, _, i, j, _ in sheet["lines"]} == {True, False}
    assert sheet["direct"] is None
    assert sheet["lens"]["last"][-1][1] == sheet["next"][0][2]
    assert [[i, q] for i, _, q in ask(filling, n=2, off=["1.2"])["next"]] == filling.stored()[0]["every"]["1.2"]
    for text in ("playing", "pl_y_ng"):
        assert "Write _ once" in ask(filling, n=3, text=text)["error"]
    with pytest.raises(ValueError, match="mask must be without window"):
        widgets.living(model, machine.tokenizer, "play_ng", mask="_", window=4)


def test_a_sentence_is_read_as_its_lecture_encodes_it(small: widgets.Living) -> None:
    model, tokenizer = small.machine.model, small.machine.tokenizer
    play = widgets.living(model, tokenizer, "my lord", encode=lambda text: tokenizer.encode(f"O {text}"))
    assert (play.first["text"], "".join(play.first["tokens"])) == ("my lord", "O my lord")
    assert ask(play, n=1, text="my love", off=[])["sheet"]["tokens"][:2] == ["O", " "]
    assert ask(play, n=2, write=play.machine.ids[0], off=[])["sheet"]["text"] == "", "none of those to choose from"


def test_what_is_stored_is_what_would_be_told(small: widgets.Living) -> None:
    romeo, lord = small.stored()
    layers, heads = len(small.machine.model.layers), small.machine.heads
    assert len(romeo["every"]) == layers * (heads + 2)
    assert romeo["next"] == small.first["next"]
    for name, off in (("1.0", ["1.0"]), (f"0.{heads}", [f"0.{heads}"]), ("2", [f"2.{k}" for k in range(heads + 1)])):
        told = ask(small, n=1, off=off)
        assert same(told, expected(small, off))
        assert [[i, p] for i, _, p in told["next"]] == romeo["every"][name]
    told = ask(small, n=2, each=1)
    assert told["each"][0] == next(p for i, p in romeo["every"]["1.0"] if i == romeo["next"][0][0])
    assert ask(small, n=3, text="my lord")["sheet"]["next"] == lord["next"]


def test_a_window_shuts_tokens_out_until_they_are_let_in(small: widgets.Living) -> None:
    text = "ROMEO. My lord"
    play, n = widgets.living(small.machine.model, small.machine.tokenizer, text, window=4), len(text)
    told = ask(play, n=1, window=4, kept=[0], look="1.0")
    weights = torch.zeros(n, n, dtype=torch.long)
    weights[tuple(torch.tril_indices(n, n))] = torch.tensor(list(base64.b64decode(told["weights"])))
    assert not weights.tril(-4)[:, 1:].any()
    assert weights.tril(-4)[:, 0].any()
    every = play.stored()[0]["every"]
    assert [[i, p] for i, _, p in play.now] == every["w4"]
    assert [[i, p] for i, _, p in told["next"]] == every["w4+0"]
    assert {name for name in every if name.startswith("w8")} == {"w8", *(f"w8+{i}" for i in range(n - 8))}
    assert play.next(window=4, kept=[0]) == {word: p for _, word, p in told["next"]}
    assert play.now != play.first["next"]
    assert ask(play, n=2, window=4, kept=[*range(n - 4)])["next"] == play.first["next"], "all are let in"


def test_a_direction_moves_the_words_that_are_followed(small: widgets.Living) -> None:
    model, tokenizer = small.machine.model, small.machine.tokenizer
    push = 5 * torch.randn(model.config.d_model, generator=torch.Generator().manual_seed(0))
    steering = partial(
        widgets.living, model, tokenizer, "my lord", directions={0: push, 2: -push}, layer=2, strength=1.5, follow=["z"]
    )
    play, z = steering(), tokenizer.encode("z")[0]
    with torch.no_grad(), patch(model, {"layers.2": lambda x: x - 1.5 * push}, -1):
        p = model(torch.tensor([play.machine.ids]))[0][0, -1].softmax(-1)
    assert same({"next": play.now}, p)
    assert next(each for i, _, each in play.now if i == z) == pytest.approx(float(p[z]), abs=1e-4)
    assert [[i, each] for i, _, each in play.now] == play.stored()[0]["every"]["s2:1.5"]
    assert ask(play, n=1, layer=2, strength=0)["next"] == play.first["next"]
    kept = steering(yours=lambda x, d, s: x)
    assert kept.now == kept.first["next"]
    kept.machine.change = lambda x, d, s: x[: round(s)]
    assert "Your change raised RuntimeError" in ask(kept, n=1, layer=0, strength=1.0)["error"]


def test_the_sections_that_explain_the_parts_exist() -> None:
    for lecture, section in EXPLAINED.values():
        assert f"\n# ## {section}\n" in (FOLDER / f"{lecture}.py").read_text(encoding="utf-8")


def test_the_views_end_in_the_models_own_answer(small: widgets.Living) -> None:
    (_, first, p), second = small.first["next"][0], small.first["next"][1]
    assert small.first["lens"]["last"][-1] == [first, p, p]
    assert all(small.first["lens"]["same"][-1])
    parts = direct_logits(
        small.machine.model,
        torch.tensor([small.machine.ids]),
        small.machine.model.output.weight[small.first["next"][0][0]] - small.machine.model.output.weight[second[0]],
    )
    rest = sum(float(x[0, -1]) for name, x in parts.items() if name.endswith(("bias", "embedding")))
    shares = sum(map(sum, small.first["direct"]))
    biases = small.machine.model.output.bias
    odds = math.log(p / second[2]) - (
        float(biases[small.first["next"][0][0]] - biases[second[0]]) if biases is not None else 0
    )
    assert shares + rest == pytest.approx(odds, abs=0.1), "rounded to two digits, part by part"
    told = ask(small, n=1, off=["1.0"], lens=True)
    assert told["lens"]["last"][-1][1] == pytest.approx(max(q for *_, q in told["next"]), abs=1e-4)
    assert told["lens"] != small.first["lens"]


def test_it_writes_on_with_what_is_off(small: widgets.Living) -> None:
    token = ask(small, n=1, off=["0.0"])["next"][0][0]
    told = ask(small, n=2, write=token, off=["0.0"])
    assert told["sheet"]["tokens"][-1] == small.machine.tokenizer.decode([token]).replace("\n", "↵")
    assert same(told, expected(small, ["0.0"]))
    assert not same({"next": told["sheet"]["next"]}, expected(small, ["0.0"])), "the sheet is of the whole model"
    before = list(small.machine.ids)
    assert f"2 to {LONGEST} tokens" in ask(small, n=3, text="a" * 40, off=[])["error"]
    assert small.machine.ids == before
    assert same(ask(small, n=4, off=[]), expected(small, [])), "it goes on"


def test_without_a_script_there_are_words(small: widgets.Living) -> None:
    page = small._repr_mimebundle_()["text/html"]
    assert "ROMEO." in page
    assert f"{small.first['next'][0][2]:.3f}" in page
    seen(small)
    with pytest.raises(ValueError, match="needs a sentence"):
        widgets.living(small.machine.model, small.machine.tokenizer)
    with pytest.raises(ValueError, match="window must be one of 4, 8, 16, got 5"):
        widgets.living(small.machine.model, small.machine.tokenizer, "my lord", window=5)
    with pytest.raises(ValueError, match="layer must be one of directions, 0, got 3"):
        widgets.living(small.machine.model, small.machine.tokenizer, "my lord", directions={0: torch.ones(1)}, layer=3)
    with pytest.raises(ValueError, match="view must be one of 'adds', 'lens', 'direct', got 'heads'"):
        widgets.living(small.machine.model, small.machine.tokenizer, "my lord", view="heads")
