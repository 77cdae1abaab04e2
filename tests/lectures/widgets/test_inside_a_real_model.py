"""Widgets that open SmolLM2: what they show is what the model computes, whole or changed, and what was stored."""

import pytest
import torch

from lectures import stored, widgets
from nlmcore.inspect import head, patch
from nlmcore.pretrained import smollm2
from tests.lectures.seen import seen

TEXT = "The capital of France is"


@pytest.fixture(scope="module")
def inside() -> widgets.Inside:
    return widgets.Inside(*smollm2())


def said(play: widgets.Live, **moved: object) -> str:
    return seen(play, **moved).rpartition("<p")[2]


def test_a_change_from_the_middle_is_that_of_the_whole_model(inside: widgets.Inside) -> None:
    read = inside.read(TEXT)
    place = head(inside.model, "layers.17.attention", 3)
    with torch.no_grad(), patch(inside.model, {place: 0}):
        whole = inside.model(read.ids[None])[0][0, -1].log_softmax(-1)
    assert torch.allclose(inside.changed(read, 17, {place: 0}), whole, atol=1e-3)
    assert not torch.allclose(read.log_p, whole, atol=1e-2)
    with pytest.raises(ValueError, match="type 2 to 16 tokens; this text has 1"):
        inside.read("The")


def test_the_lens_follows_a_word(inside: widgets.Inside) -> None:
    play = widgets.lens_of_ranks(inside, [TEXT, "I think therefore I"], ["", "am"])
    assert "after 30 layers: rank 1 of 49,152" in said(play)
    assert "' am' after 30 layers" in said(play, sentence="I think therefore I").replace("&#x27;", "'")
    assert "rank 1 of" in said(play, word="will")
    assert "rank 1 of" not in said(play, layer=0)


def test_shares_add_up_to_the_difference_of_two_logits(inside: widgets.Inside) -> None:
    with torch.no_grad():
        logits = inside.model(inside.read(TEXT).ids[None])[0][0, -1]
    wanted = float(logits[inside.first_id("Paris")] - logits[inside.first_id("Rome")])
    assert sum(widgets.parts_of(inside, TEXT, "Paris", "Rome").values()) == pytest.approx(wanted, abs=0.01)
    centred = float(logits[inside.first_id("Paris")] - logits.mean())
    assert sum(widgets.parts_of(inside, TEXT, "Paris").values()) == pytest.approx(centred, abs=0.01)
    play = widgets.share_player(inside, [(TEXT, "Paris", "Rome")])
    assert f"together {wanted:+.2f}" in said(play)
    assert f"together {wanted:+.2f}" not in said(play, word="Lyon")


@pytest.mark.parametrize("kind", ["pathway", "attention", "network"])
def test_a_cell_computed_now_is_the_stored_one(inside: widgets.Inside, kind: str) -> None:
    pairs = stored("patched_texts")["pairs"]
    play = widgets.patch_player(inside, pairs)
    for layer in (0, 12, 29):
        was, now = (
            said(play, kind=kind, layer=layer).split("stored ")[1].split("<")[0].split(", computed now: it restores ")
        )
        restores, costs = now.split("; put the other way, into the clean text, it costs ")
        assert float(was) == pytest.approx(float(restores), abs=0.011)
        if kind == "pathway" and layer == 0:  # at the word that differs, the whole of the difference goes either way
            assert float(costs) == pytest.approx(1, abs=0.1)


def test_the_long_text_shows_its_stored_map(inside: widgets.Inside) -> None:
    play = widgets.patch_player(inside, stored("patched_texts")["pairs"])
    assert "too long to be computed" in said(play, pair="tickets")


def test_stored_maps_tell_what_was_measured() -> None:
    facts = stored("head_map")
    play = widgets.head_map_player(facts)
    best = max(facts["rows"], key=lambda row: row["looks"]["induction"][0])
    layer, number = map(int, best["head"].split("."))
    told = said(play, layer=layer, head=number)
    assert f"head {best['head']} looks at: induction {best['looks']['induction'][0]:.2f}" in told
    for shows in ("names", *facts["tests"]):
        seen(play, shows=shows)
    together = widgets.together_player(facts)
    assert f"controls {min(sum(c) / len(c) for c in facts['together']['8']['mean']['controls']):.2f}" in said(together)
    seen(together, by="zero", mark="each draw")
    tracing = widgets.tracing_player(stored("capital_facts"))
    row = stored("capital_facts")["rows"]["network, country"][5]
    assert f"network {row[0]:.2f} ({row[1]:.2f} to {row[2]:.2f})" in said(tracing)
    assert "pathway" not in said(tracing, span="windows", at="is")
