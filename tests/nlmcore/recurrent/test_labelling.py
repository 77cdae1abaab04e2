"""Tagger and classifier: padding, pools, texts without a token, and what they refuse."""

import pytest
import torch

from nlmcore.recurrent import CELLS, SequenceClassifier, SequenceTagger
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.nlmcore.recurrent.test_recurrent import ragged_mask

BATCH, TIME, HIDDEN, VOCAB = 4, 6, 7, 11


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("name", CELLS)
def test_every_parameter_gets_a_gradient(name: str) -> None:
    tokens = torch.randint(VOCAB, (3, 6))
    tagger = SequenceTagger(VOCAB, 3, name, 5, HIDDEN, 2)
    assert_every_parameter_gets_a_gradient(tagger, tagger(tokens))
    classifier = SequenceClassifier(VOCAB, 3, name, 5, HIDDEN, bidirectional=True)
    assert_every_parameter_gets_a_gradient(classifier, classifier(tokens))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_taggers_and_classifiers_ignore_padding(name: str, bidirectional: bool) -> None:
    tokens, mask = torch.randint(1, VOCAB, (BATCH, TIME)), ragged_mask()
    other = torch.where(mask, tokens, 0)
    tagger = SequenceTagger(VOCAB, 3, name, 5, HIDDEN, 2, bidirectional)
    assert torch.equal(tagger(tokens, mask)[mask], tagger(other, mask)[mask])
    for pool in ("last", "mean"):
        classifier = SequenceClassifier(VOCAB, 3, name, 5, HIDDEN, 2, bidirectional, pool=pool)
        assert torch.equal(classifier(tokens, mask), classifier(other, mask))
        for row in range(BATCH):
            alone = classifier(tokens[row : row + 1, mask[row]])
            assert_close(classifier(tokens, mask)[row], alone[0], f"{pool}, row {row} without its padding")


def test_pools_are_what_they_say() -> None:
    classifier = SequenceClassifier(VOCAB, 3, "gru", 5, HIDDEN, 2, bidirectional=True, pool="mean")
    tokens = torch.randint(VOCAB, (2, TIME))
    outputs, state = classifier.recurrent(classifier.embedding(tokens))
    assert_close(classifier(tokens), classifier.output(outputs.mean(1)), "mean")
    last = torch.cat([outputs[:, -1, :HIDDEN], outputs[:, 0, HIDDEN:]], -1)
    assert_close(torch.cat([state[:, 2], state[:, 3]], -1), last, "each direction's last state")
    classifier = SequenceClassifier(VOCAB, 3, "gru", 5, HIDDEN, pool=lambda o, s, m, d: o.amax(1))
    assert classifier(tokens).shape == (2, 3)


def test_a_text_without_a_token_reads_as_nothing() -> None:
    """Its state stays zero, so that the output is its bias; the other texts of the batch do not notice."""
    tokens, mask = torch.ones(3, 2, dtype=torch.long), torch.tensor([[True, False], [False, False], [True, True]])
    tagger = SequenceTagger(5, 4)
    assert_close(tagger(tokens, mask)[1], tagger.output.bias.expand(2, 4), "tags")
    for pool in ("last", "mean"):
        classifier = SequenceClassifier(5, 2, pool=pool)
        logits = classifier(tokens, mask)
        assert_close(logits[1], classifier.output.bias, pool)
        assert_close(logits[[0, 2]], classifier(tokens[[0, 2]], mask[[0, 2]]), f"{pool}, of the others")


@pytest.mark.parametrize("pool", [None, 3, "median"])
def test_what_is_no_pool_is_refused(pool: object) -> None:
    with pytest.raises((TypeError, ValueError), match="pool"):
        SequenceClassifier(5, 2, pool=pool)


def test_bad_input_is_refused() -> None:
    for model in (SequenceTagger(VOCAB, 2), SequenceClassifier(VOCAB, 2)):
        with pytest.raises(ValueError, match=r"mask must .* got \(2, 1\)"):
            model(torch.tensor([[1, 2]]), torch.ones(2, 1, dtype=torch.bool))
        with pytest.raises(ValueError, match=r"tokens must .* \[0, 11\)"):
            model(torch.tensor([[1, VOCAB]]))
