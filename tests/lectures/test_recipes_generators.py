"""Recipes: what free running is bound to learn, and a neural editor's pairs, losses and figures."""

import math

import pytest
import torch

from lectures.recipes import edit, free_running
from lectures.trained import build
from nlmcore.recurrent import RecurrentLM
from nlmcore.seq2seq import jaccard
from nlmcore.tokens import CharTokenizer, WordTokenizer
from nlmcore.training import teacher_forcing_loss


def test_letters_by_their_place_alone() -> None:
    train, held_out = [[1, 4, 5, 2], [1, 4, 2]], [[1, 4, 4, 2]]
    # place 1: 4 twice; place 2: 5 and 2 once each; place 3: 2 once; six ids, one added to each count
    naive = -(math.log(3 / 8) + math.log(1 / 8) + math.log(2 / 7)) / 3
    assert free_running.places_loss(train, held_out, 6) == pytest.approx(naive)


def test_triples_of_names() -> None:
    assert free_running.triples("Al") == ["^Al", "Al$"]
    assert free_running.known_triples(["Al", "Bo"], {"^Al", "Al$", "^Bo"}) == 0.75


def test_each_way_reads_its_share_of_truth() -> None:
    losses = {way: free_running.ScheduledLoss(way) for way in free_running.WAYS}
    assert [losses["teacher forcing"].epsilon(i) for i in (1, 600)] == [1.0, 1.0]
    assert [losses["free running"].epsilon(i) for i in (1, 600)] == [0.0, 0.0]
    falling = [losses["scheduled sampling"].epsilon(i) for i in (0, 200, 400, 600)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.98
    assert falling[-1] < 0.05


def test_a_held_out_loss_reads_the_truth_whatever_the_way() -> None:
    torch.manual_seed(0)
    model = RecurrentLM(9, "gru", 5, 7)
    batch = free_running.NameBatches([[1, 4, 5, 6, 2], [1, 7, 2]], 0).batch([0, 1])
    truth = teacher_forcing_loss(model, batch["tokens"], mask=batch["mask"]).item()
    loss = free_running.ScheduledLoss("free running")
    assert loss(model.eval(), batch).item() == pytest.approx(truth)
    torch.manual_seed(1)
    assert loss(model.train(), batch).item() != pytest.approx(truth)


def test_names_are_written_to_their_end() -> None:
    torch.manual_seed(0)
    tokenizer = CharTokenizer.fit("abc")
    names = free_running.write_names(RecurrentLM(tokenizer.vocab_size, "gru", 4, 6).eval(), tokenizer, 7)
    assert len(names) == 7
    assert not any("<" in name for name in names)


PLAY = "KING.\nI will go; where is my lord the king? No.\n\nQUEEN.\nWhere is my lord the king? Where's my lady gone--\n"


def test_sentences_of_a_play() -> None:
    expected = [("where", "is", "my", "lord", "the", "king"), ("where's", "my", "lady", "gone")]
    assert edit.sentences([PLAY]) == expected


@pytest.fixture
def editor():
    torch.manual_seed(3)
    return build("NeuralEditor", {"vocab_size": 13, "cell": "gru", "d_embedding": 4, "d_hidden": 6}).eval()


PAIRS = [([7, 8, 9], [7, 8, 10]), ([11, 7], [11, 7, 12, 12])]


def test_the_true_edit_is_of_words_alone(editor) -> None:
    e = editor.edits.weight
    found = edit.true_edit(editor, edit.collate(PAIRS))
    torch.testing.assert_close(found[0], torch.cat([e[10], e[9]]))
    torch.testing.assert_close(found[1], torch.cat([e[12], torch.zeros(4)]))  # a set: 12 counts once
    torch.testing.assert_close(found[0], editor.words_to_edit(torch.tensor([[10]]), torch.tensor([[9]]))[0])


def test_the_editing_loss_is_teacher_forcing_given_prototype_and_edit(editor, monkeypatch) -> None:
    monkeypatch.setattr(edit, "WITHOUT_EDIT", 1.0)  # so that no noise is left
    batch = edit.collate(PAIRS)
    state = editor.encode(batch["prototype"], batch["prototype_mask"])
    expected = teacher_forcing_loss(editor, batch["tokens"], mask=batch["mask"], state=state)
    assert edit.editing_loss(editor, batch).item() == pytest.approx(expected.item(), rel=1e-5)


def test_batches_of_pairs_hold_every_pair_once() -> None:
    pairs = [([4 + i], [4 + i] * (1 + i % 3)) for i in range(150)]
    batches = edit.EditBatches(pairs, 0)
    read = [row[0].item() for batch in batches(0) for row in batch["prototype"]]
    assert sorted(read) == [4 + i for i in range(150)]
    assert read != [row[0].item() for batch in batches(1) for row in batch["prototype"]]


def test_figures_of_an_editor_that_copies() -> None:
    """With the prototype as the answer, BLEU of the prototype is 100; an untrained editor writes something else."""
    torch.manual_seed(0)
    tokenizer = WordTokenizer(["where", "is", "my", "lord", "lady"])
    model = build("NeuralEditor", {"vocab_size": tokenizer.vocab_size, "d_embedding": 3, "d_hidden": 6})
    same = [(("where", "is", "my", "lord"), ("where", "is", "my", "lord"))] * 2
    measured = edit.figures(model, tokenizer, same)
    assert measured["bleu_of_the_prototype"] == 100.0
    assert measured["right_word_for_word"] == 0.0
    assert measured["nats_with_edit"] > 0


def test_prototypes_of_held_out_sentences_are_near() -> None:
    train = [("a", "b", "c"), ("d", "e", "f"), ("a", "b", "x", "y")]
    found = edit.held_out_pairs(train, [("a", "b", "d"), ("d", "e", "g"), ("q", "r", "s")], 5)
    assert found == [(("a", "b", "c"), ("a", "b", "d")), (("d", "e", "f"), ("d", "e", "g"))]
    assert all(jaccard(old, new) >= edit.ALIKE for old, new in found)
    assert len(edit.held_out_pairs(train, [("a", "b", "d"), ("d", "e", "g")], 1)) == 1
