"""Recipes: marks taken off and put back, speeches without the verse's capitals, a verdict per word."""

import math
import random
from itertools import pairwise

import pytest
import torch

from lectures.recipes import genre, restore
from lectures.recipes.restore_marks import LONGEST, MARKS, core, pieces, put_back, take_off
from lectures.recipes.texts import Capitals, speeches, spoken_lines
from lectures.trained import build
from nlmcore.tokens import WordTokenizer

PLAY = """THE PLAY

SCENE I. A wood.

[Enter HAMLET.]

HAMLET.
I saw him once; and Rome,
Was then what [Aside.] Athens is, my lord.
That was
Rome's day.

HORATIO. [Aloud]
My lord, of Rome we heard in Rome
Rome fell.

[Exeunt.]
"""


def test_only_what_is_said_is_kept() -> None:
    assert spoken_lines(PLAY) == [
        ["I saw him once; and Rome,", "Was then what Athens is, my lord.", "That was", "Rome's day."],
        ["My lord, of Rome we heard in Rome", "Rome fell."],
    ]


def test_the_capital_of_a_line_is_taken_back_unless_it_is_the_words_own() -> None:
    capitals = Capitals([PLAY])
    assert speeches(PLAY, capitals) == [
        # "That" begins a sentence; "rome's" was never seen in the middle of a line
        "I saw him once; and Rome, was then what Athens is, my lord. That was rome's day.",
        "My lord, of Rome we heard in Rome Rome fell.",
    ]


def test_marks_are_taken_off_and_put_back() -> None:
    speech = "Nay, answer me: stand! 'Tis here--the grave-digger's; who's there? I."
    words, tags = take_off(speech)
    assert words == ["nay", "answer", "me", "stand", "'tis", "here", "the", "grave-digger's", "who's", "there", "i"]
    assert put_back(words, tags) == "Nay, answer me; stand! 'Tis here, the grave-digger's; who's there? I."
    assert put_back(words, [0] * len(words)) == " ".join(words)
    assert [core(word) for word in ("'tis", "grave-digger's", "who's")] == ["tis", "digger's", "who's"]
    with pytest.raises(ValueError, match="one tag"):
        put_back(["a"], [])


def test_a_long_speech_is_cut_at_the_end_of_a_sentence_and_loses_nothing() -> None:
    chance = random.Random(3)
    speech = " ".join("word" + chance.choice([" ", " ", " ", ",", "."]) for _ in range(250))
    whole = take_off(speech)
    parts = pieces([speech, "..."])
    assert all(len(part.words) <= LONGEST for part in parts)
    assert [w for part in parts for w in part.words] == whole.words
    assert [t for part in parts for t in part.tags] == whole.tags
    assert all(part.tags[-1] % len(MARKS) == MARKS.index(".") for part in parts[:-1])


def test_scores_of_restored_marks() -> None:
    test = [take_off("Come, you. Stay? Go!"), take_off("Well; I will.")]
    perfect = restore.scores([piece.tags for piece in test], test)
    assert perfect["words_right"] == perfect["capitals_f1"] == perfect["marks_f1"] == 100.0
    assert restore.scores([[0] * len(piece.tags) for piece in test], test)["marks_f1"] == 0.0
    said = [piece.tags.copy() for piece in test]
    said[0][0] = 0  # neither the capital of "Come" nor its comma
    wrong = restore.scores(said, test)
    assert wrong["words_right"] == pytest.approx(100 * 6 / 7, abs=0.1)
    assert wrong["marks_f1"] == pytest.approx(200 * 5 / (5 + 6), abs=0.1)
    assert wrong["f1_by_mark"][","] == 0.0
    assert wrong["capitals_f1"] == pytest.approx(200 * 4 / (4 + 5), abs=0.1)


def test_a_batch_of_tags_has_every_piece_once_and_padding_costs_nothing() -> None:
    chance = random.Random(0)
    found = [([4 + i] * n, [i % 12] * n) for i, n in enumerate(chance.randint(1, 9) for _ in range(23))]
    batches = restore.TaggedBatches(found, 5, 0)
    read = []
    for batch in batches(1):
        for tokens, tags, mask in zip(batch["tokens"], batch["tags"], batch["mask"], strict=True):
            read.append((tokens[mask].tolist(), tags[mask].tolist()))
    assert sorted(read) == sorted(found)
    torch.manual_seed(0)
    model = build("SequenceTagger", {"vocab_size": 40, "n_tags": 12, "d_embedding": 3, "d_hidden": 5}).eval()
    short = {name: value[:, :3] for name, value in next(iter(batches(0))).items()}
    short["mask"] = torch.ones_like(short["mask"])
    longer = {name: torch.nn.functional.pad(value, (0, 2), value=0) for name, value in short.items()}
    assert restore.tagging_loss(model, longer).item() == pytest.approx(restore.tagging_loss(model, short).item())


def test_the_words_that_are_kept_occur_in_many_plays() -> None:
    works = [("a", "comedy", ["x", "x", "y", "z"]), ("b", "tragedy", ["x", "y", "z", "z"]), ("c", "comedy", ["y"])]
    assert [genre.fit_tokenizer(works, 2, 3).decode([i]) for i in (7, 8, 9)] == ["x", "y", "z"]
    assert genre.fit_tokenizer(works, 3, 3).vocab_size == 8  # y alone


@pytest.mark.parametrize("pool", ["last", "mean"])
def test_the_running_verdict_is_the_classifiers_on_every_beginning(pool: str) -> None:
    torch.manual_seed(1)
    model = build("SequenceClassifier", {"vocab_size": 11, "n_classes": 2, "cell": "gru", "pool": pool}).eval()
    tokens = torch.randint(0, 11, (3, 6))
    running = genre.running_logits(model, tokens)
    for t in range(1, 7):
        torch.testing.assert_close(running[:, t - 1], model(tokens[:, :t]))


def test_the_weight_of_a_word_in_the_loss_grows_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(genre, "HIDDEN_WORDS", 0.0)
    torch.manual_seed(2)
    model = build("SequenceClassifier", {"vocab_size": 11, "n_classes": 2, "pool": "mean"}).eval()
    batch = {"tokens": torch.randint(0, 11, (4, 5)), "label": torch.tensor([0, 1, 1, 0])}
    logs = genre.running_logits(model, batch["tokens"]).log_softmax(-1)
    rows = enumerate(batch["label"].tolist())
    naive = -sum((t + 1) * logs[row, t, label].item() for row, label in rows for t in range(5)) / (4 * 15)
    assert genre.linear_gain_loss(model, batch).item() == pytest.approx(naive, rel=1e-5)


def test_naive_bayes_by_hand() -> None:
    bayes = genre.NaiveBayes([([4, 4, 5], 0), ([5, 3], 1)], vocab_size=6, unk=3)
    running = bayes(torch.tensor([[4, 3, 5]]))
    first = (math.log(3 / 5) + math.log(3 / 9), math.log(2 / 5) + math.log(1 / 8))
    assert running[0, 0].tolist() == pytest.approx(first)
    assert running[0, 1].tolist() == pytest.approx(first)  # <unk> says nothing
    assert running[0, 2].tolist() == pytest.approx((first[0] + math.log(2 / 9), first[1] + math.log(2 / 8)))


def test_shuffled_passages_hold_the_same_words() -> None:
    words = list(range(2 * genre.LONGEST + 5))
    ((mixed, label),) = genre.shuffled([(words, 1)])
    assert label == 1
    assert mixed != words[: 2 * genre.LONGEST]
    assert sorted(mixed[: genre.LONGEST]) == words[: genre.LONGEST]


def test_every_epoch_cuts_the_plays_anew() -> None:
    works = [(list(range(100)), 0), (list(range(100, 170)), 1)]
    batches = genre.PassageBatches(works, 3, 10, 0)
    seen = [tuple(row.tolist()) for batch in batches(0) for row in batch["tokens"]]
    assert all(b - a == 1 for row in seen for a, b in pairwise(row))
    assert len(seen) == len(set(seen)) >= 9 + 6
    assert {tuple(r.tolist()) for b in batches(1) for r in b["tokens"]} != set(seen)
    for batch in batches(0):
        assert ((batch["tokens"][:, 0] >= 100).long() == batch["label"]).all()


def test_ids_of_words_with_marks_inside() -> None:
    tokenizer = WordTokenizer(["tis", "digger", "who's"])
    assert restore.ids(tokenizer, ["'tis", "grave-digger", "who's", "quux"]) == [7, 8, 9, 3]
