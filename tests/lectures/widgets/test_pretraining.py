"""The widgets of the lecture on pretraining: what they draw is what objectives, models and results say."""

import math

import numpy as np
import pytest
import torch

from lectures import stored, widgets
from lectures.recipes.pretraining import LETTERS
from lectures.trained import checkpoint
from lectures.widgets.pretraining import SENTINELS, cosines, difference_told, fillers, objective_of, objective_svg
from tests.lectures.seen import seen

WORDS = ["thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]


@pytest.mark.parametrize("family", ["causal", "prefix", "masked", "spans"])
def test_an_objective_predicts_the_sentence_and_sees_what_it_may(family: str) -> None:
    for seed in range(1, 6):
        found = objective_of(family, WORDS, seed)
        n = len(found.reads)
        assert len(found.predicts) == len(found.counts) == n
        assert found.mask.shape == (n, n)
        assert any(found.counts)
        future = np.triu(np.ones((n, n), dtype=bool), 1)
        if family == "masked":
            assert found.predicts == WORDS
            assert found.mask.all()
            assert all(
                read == word for read, word, yes in zip(found.reads, WORDS, found.counts, strict=True) if not yes
            )
        elif family == "spans":
            assert not (found.mask & future).any()
            kept = [word for word in found.source if word not in SENTINELS]
            written = [word for word in found.predicts if word not in (*SENTINELS, "<eos>")]
            assert sorted(kept + written) == sorted(WORDS)
        else:
            assert found.reads == WORDS[:-1]
            assert found.predicts == WORDS[1:]
            half = len(WORDS) // 2
            assert found.counts == [family == "causal" or i >= half - 1 for i in range(n)]
            seen = found.mask & future
            assert seen[:half, :half].any() == (family == "prefix")
            assert not seen[half:].any()


def test_a_larger_share_is_guessed_if_asked() -> None:
    guessed = [sum(objective_of("masked", WORDS, seed, 0.6).counts) for seed in range(20)]
    assert sum(guessed) / 20 == pytest.approx(6, abs=1.2)
    with pytest.raises(ValueError, match="two words"):
        objective_of("causal", ["one"], 1)


def test_families_are_drawn_and_told() -> None:
    play = widgets.family_playground(["a b c d e f", "g h i"])
    assert "sees 6 of 6 positions" in seen(play)
    assert "Share 15 %, sample 1" in seen(play)
    assert "Position 4 reads d and sees 4 of 5 positions. It must predict e. 5 of 5" in seen(play, family="causal")
    assert "and the whole source" in seen(play, family="spans")
    assert "It carries no loss." in seen(play, family="prefix", typed="one two three four", position=1)
    told = objective_svg(objective_of("causal", ["x", "y", "z"], 1), 0, title="t")
    assert "t: reads x y; carries loss at 1 (y), 2 (z)." in told


def test_a_changed_word_is_told() -> None:
    kinds = set()
    for seed in range(1, 200):
        found = objective_of("masked", WORDS, seed)
        kinds |= {
            "hidden" if read == "[MASK]" else "kept" if read == word else "changed"
            for read, word, yes in zip(found.reads, WORDS, found.counts, strict=True)
            if yes
        }
    assert kinds == {"hidden", "kept", "changed"}


def test_hidden_letters_are_filled_by_the_models() -> None:
    models = {family: checkpoint(f"letters_{family}").model for family in ("masked", "causal")}
    tokenizer = checkpoint("letters_causal").tokenizer
    fill = fillers(models, tokenizer, LETTERS)
    for of in fill.values():
        assert sum(of("water", 2).values()) == pytest.approx(1, abs=1e-5)
    with torch.no_grad():
        logits, _ = models["causal"](torch.tensor([[1, *tokenizer.encode("wa")]]))
        whole = {c: 0.0 for c in LETTERS}
        for c in LETTERS:
            ids = [1, *tokenizer.encode(f"wa{c}er"), 2]
            log_p = models["causal"](torch.tensor([ids[:-1]]))[0][0].log_softmax(-1)
            whole[c] = math.exp(sum(float(log_p[t, i]) for t, i in enumerate(ids[1:])))
    assert fill["causal"]("water", 2)["t"] == pytest.approx(
        float(logits[0, -1, tokenizer.encode(LETTERS)].softmax(-1)[LETTERS.index("t")]), abs=1e-5
    )
    tried = fill["causal, every letter tried"]("water", 2)
    assert tried["t"] == pytest.approx(whole["t"] / sum(whole.values()), rel=1e-3)
    assert fill["causal"]("water", 2) == fill["causal"]("wants", 2), "it sees the left only"
    play = widgets.hidden_letter_playground(fill, "water", at=3)
    assert f"masked {fill['masked']('water', 2)['t']:.2f}" in seen(play)
    assert "2 to 12 letters" in seen(play, typed="two words")


def test_transfer_is_compared_seed_by_seed() -> None:
    rows = {"a": {"50": [60.0, 62.0, 64.0]}, "b": {"50": [50.0, 53.0, 53.0]}}
    assert "a minus b: +10.0 points, 95 % interval +7.5 to +12.5. The interval does not" in difference_told(
        rows, "a", "b", "50"
    )
    assert "two different rows" in difference_told(rows, "a", "a", "50")
    play = widgets.transfer_explorer(stored("pretraining"))
    assert "5,000 labelled words" in seen(play, count="5000")


def test_cosines_of_senses() -> None:
    states = np.zeros((4, 2, 3))
    states[:2, 1, 0], states[2:, 1, 1] = 1, 1
    states[:, 0] = np.eye(4)[:, :3]
    assert cosines(states[:, 1])[0] == pytest.approx([1, 1, -1, -1])
    play = widgets.senses_explorer({"M": {"bank": (list("abcd"), ["x", "x", "y", "y"], states)}})
    assert "within a sense 1.00, between senses −1.00" in seen(play, layer=2)


def test_adapters_are_counted() -> None:
    play = widgets.adapter_playground({"m": (1000, [(10, 20), (10, 30)])}, lambda r, out, into: r * (out + into))
    assert "LoRA, rank 8 560" in seen(play)
    assert "LoRA, rank 1 70 (7.00%)" in seen(play, rank=1)
