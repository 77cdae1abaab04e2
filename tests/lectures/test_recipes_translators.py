"""Alignments, word-by-word translation and leaks: what is scored is what is meant."""

import pytest
import torch

from lectures import stored
from lectures.recipes import alignment, leaks, translators
from lectures.recipes.initial_weights import glorot
from lectures.recipes.numbers import SHORT, TEST_SEED, pairs_to_train_on, tokenizers
from lectures.recipes.pairs import PairBatches, as_source, as_target, draw_many, english, german
from lectures.trained import SourceAndTarget, checkpoint
from nlmcore.corpora import pad
from nlmcore.inspect import capture
from nlmcore.seq2seq import Seq2Seq
from nlmcore.training import teacher_forcing_loss

NUMBERS = draw_many(5, 20, 3, 9)


@pytest.fixture
def tokenizer() -> SourceAndTarget:
    return SourceAndTarget(*tokenizers())


def a_transformer(tokenizer):
    sizes = {"source_vocab_size": tokenizer.source.vocab_size, "target_vocab_size": tokenizer.target.vocab_size}
    torch.manual_seed(0)
    return glorot("EncoderDecoder", {**leaks.SIZES, **sizes}).eval()


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (21, [1, None, 0]),
        (222, [0, 1, 4, None, 3]),
        (1_001_000, [0, 1, 2, 3]),
        (465_721, [0, 1, 4, None, 3, 5, 6, 7, 10, None, 9]),
    ],
)
def test_tens_and_units_swap_and_nothing_else(number, wanted):
    assert alignment.reference_alignment(number) == wanted


def test_every_word_but_and_is_aligned_once():
    for number in draw_many(9, 300, 1, 29):
        words, found = english(number).split(), alignment.reference_alignment(number)
        for part, place in zip(german(number).split(), found, strict=True):
            assert (place is None) == (part == "und")
            assert place is None or alignment.dictionary()[part] == words[place]
        places = [place for place in found if place is not None]
        assert sorted(places) == [i for i, word in enumerate(words) if word != "and"]


def test_heads_are_scored_as_by_a_loop(tokenizer):
    model = a_transformer(tokenizer)
    found = alignment.found_by_heads(model, tokenizer, NUMBERS)
    right, count = {name: torch.zeros(4) for name in found}, 0
    for number in NUMBERS:
        source = torch.tensor([as_source(tokenizer.source.encode(english(number)))])
        target = torch.tensor([as_target(tokenizer.target.encode(german(number)))])
        with torch.no_grad(), capture(model) as tape:
            model(target[:, :-1], model.encode(source))
        for part, place in enumerate(alignment.reference_alignment(number)):
            if place is not None:
                best = tape["decoder.layers.0.cross_attention"][0].argmax(-1)  # (head, row)
                right[alignment.NEXT] += best[:, part] == place
                right[alignment.READ] += best[:, part + 1] == place
                count += 1
    for name, shares in found.items():
        assert shares == pytest.approx((right[name] / count).tolist(), abs=1e-4)


def test_a_recurrent_network_has_one_head(tokenizer):
    sizes = {"source_vocab_size": tokenizer.source.vocab_size, "target_vocab_size": tokenizer.target.vocab_size}
    model = Seq2Seq(**sizes, d_hidden=8, context="attention").eval()
    weights = alignment.cross_weights(model, tokenizer, NUMBERS[:3])
    assert weights.shape[:2] == (3, 1)


def test_model_1_learns_a_dictionary_and_shares_credit(tokenizer):
    """One round by hand: "a b" with "x y", "a" with "x"; then a is x, and b is y."""
    pairs = [([0, 1], [0, 1]), ([0], [0])]
    once = alignment.model_1(pairs, (2, 2), rounds=1)
    assert torch.allclose(once, torch.tensor([[0.75, 0.25], [0.5, 0.5]]))
    often = alignment.model_1(pairs, (2, 2), rounds=50)
    assert torch.allclose(often, torch.eye(2), atol=0.05)
    t = alignment.model_1(
        pairs_to_train_on(3000, 12, frozenset()), (tokenizer.source.vocab_size, tokenizer.target.vocab_size)
    )
    for part, word in (("zwanzig", "twenty"), ("vier", "four"), ("tausend", "thousand")):
        (source,), (target,) = tokenizer.source.encode(word), tokenizer.target.encode(part)
        assert int(t[source].argmax()) == target
    assert alignment.found_by_model_1(t, tokenizer, [21, 45, 365]) == 1.0
    assert alignment.found_by_model_1(t, tokenizer, [202]) < 1.0, "it cannot tell two equal words apart"


@pytest.mark.parametrize("way", leaks.WAYS)
def test_only_the_right_way_is_teacher_forcing(way, tokenizer):
    model = a_transformer(tokenizer)
    (batch,) = PairBatches(pairs_to_train_on(8, 6, frozenset()), 8, 0)(0)
    shifted, masked = leaks.WAYS[way]
    with torch.no_grad():
        ours = leaks.loss_of(model, batch, shifted, masked)
    same = torch.allclose(ours, teacher_forcing_loss(model, **batch), atol=1e-5)
    assert same == (way == "shifted and masked")


@pytest.mark.parametrize("way", leaks.WAYS)
def test_what_leaks_is_the_word_to_predict(way, tokenizer):
    """The gradient of a loss at position 2 with respect to the embedding of the word it must predict."""
    model = a_transformer(tokenizer)
    source, source_mask = pad([as_source(tokenizer.source.encode(english(365)))])
    tokens, mask = pad([as_target(tokenizer.target.encode(german(365)))])
    mask = torch.zeros_like(mask)
    mask[0, 3] = True  # only "fünf", the third word, counts
    batch = {"source": source, "source_mask": source_mask, "tokens": tokens, "mask": mask}
    seen = []
    hook = model.decoder.embedding.register_forward_hook(lambda *at: seen.append(at[2].retain_grad() or at[2]))
    leaks.loss_of(model, batch, *leaks.WAYS[way]).backward()
    hook.remove()
    reads = tokens[0, :-1] if leaks.WAYS[way][0] else tokens[0, 1:]
    place = reads.tolist().index(int(tokens[0, 3]))
    assert bool(seen[0].grad[0, place].abs().sum() > 0) == (way != "shifted and masked")


def test_beams_of_one_are_greedy():
    model, tokenizer, _ = checkpoint("numbers_transformer")
    numbers = draw_many(3, 12, 12, 14)  # some of them are wrong
    greedy = translators.quality(model, tokenizer, numbers)
    assert greedy["bleu"] < 100
    assert translators.with_beams(model, tokenizer, numbers, size=1) == greedy


def test_the_recurrent_networks_are_those_of_the_other_recipe():
    ours, theirs = stored("translators")["recurrent"], stored("quality_by_length")["seeds"]["attention"]
    assert len(ours) == len(theirs) == translators.SEEDS
    for again, row in zip(ours, theirs, strict=True):
        assert again["by_length"][translators.AGAIN] == row[translators.AGAIN]


def test_the_first_seeds_are_the_checkpoints():
    lines = stored("numbers_transformer")["lines"]
    for name, rows in stored("translators")["seeds"].items():
        at = f"{name}, trained on up to {SHORT} words"
        assert rows[0]["by_length"] == lines[at]
        assert len(rows) == translators.SEEDS
    assert TEST_SEED != translators.TRAIN_SEED
