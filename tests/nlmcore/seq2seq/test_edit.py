"""Retrieval against a loop over everything; the editor: edit vectors by hand, and an edit that is learnt."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from nlmcore.seq2seq import NeuralEditor, Retriever, edit_pairs, edited_words, jaccard
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def editor(**options) -> NeuralEditor:
    return NeuralEditor(11, **{"d_embedding": 3, "d_hidden": 6} | options)


def test_an_editor_is_a_language_model_of_the_edited_text() -> None:
    for options in ({}, {"cell": "lstm", "n_layers": 2, "score": "dot"}):
        model = editor(**options).eval()
        prototype = torch.randint(1, 11, (3, 7))
        mask = torch.arange(7) < torch.tensor([7, 2, 5]).unsqueeze(1)
        state = model.encode(prototype, mask, model.sample_edit(3, torch.Generator().manual_seed(1)))
        assert_language_model(model, torch.randint(11, (3, 5)), state)


def test_every_parameter_gets_a_gradient() -> None:
    model = editor()
    prototype, target = torch.randint(11, (3, 7)), torch.randint(11, (3, 5))
    z = model.perturb(model.edit_vector(prototype, target))
    assert_every_parameter_gets_a_gradient(model, model(target, model.encode(prototype, edit=z))[0])


def test_the_edit_vector_is_what_came_and_what_went() -> None:
    model = editor()
    prototype, target = torch.tensor([[1, 2, 3, 3, 0]]), torch.tensor([[4, 2, 1, 5]])
    mask = torch.tensor([[True, True, True, True, False]])
    e = model.edits.weight
    f = model.edit_vector(prototype, target, mask)
    assert_close(f[0], torch.cat([e[4] + e[5], e[3]]), "f")
    assert_close(model.words_to_edit(torch.tensor([[4, 5]]), torch.tensor([[3]])), f, "from words")
    nothing = torch.zeros(1, 0, dtype=torch.long)
    assert not model.words_to_edit(nothing, nothing).any()
    assert not model.edit_vector(prototype[:, :4], prototype[:, [3, 0, 1]]).any()
    inserted, deleted = edited_words(prototype, target, 11, mask, torch.ones(1, 4, dtype=torch.bool))
    assert inserted[0].nonzero().flatten().tolist() == [4, 5]
    assert deleted[0].nonzero().flatten().tolist() == [3]


def test_edits_are_made_in_bfloat16() -> None:
    model, words = editor().bfloat16(), torch.tensor([[1, 2]])
    f = model.edit_vector(words, words.flip(1) + 1)
    assert f.dtype == torch.bfloat16
    assert_close(f, model.words_to_edit(torch.tensor([[3]]), torch.tensor([[1]])), "from words")
    model(words, model.encode(words, edit=model.perturb(f)))


def test_noise_keeps_direction_and_length_near() -> None:
    model = editor(concentration=1e6, noise=0.1)
    f = torch.randn(500, 6) * torch.tensor([[0.5], [20.0]]).repeat(250, 1)
    z = model.perturb(f, torch.Generator().manual_seed(0))
    assert torch.equal(z, model.perturb(f, torch.Generator().manual_seed(0)))
    assert (nn.functional.cosine_similarity(f, z) > 0.999).all()
    stretched = z.norm(dim=1) - f.norm(dim=1).clamp(max=9.9)
    assert float(stretched.min()) >= -1e-5
    assert 0.09 < float(stretched.max()) <= 0.1001
    rough = editor(concentration=1.0).perturb(f, torch.Generator().manual_seed(0))
    assert nn.functional.cosine_similarity(f, rough).mean() < 0.7
    assert torch.isfinite(model.perturb(torch.zeros(1, 6))).all()


def test_prior_edits_fill_the_ball_of_directions() -> None:
    z = editor().sample_edit(4000, torch.Generator().manual_seed(0))
    lengths = z.norm(dim=1)
    assert float(lengths.max()) <= 10
    assert float(lengths.mean()) == pytest.approx(5.0, abs=0.2)
    assert (z / lengths.unsqueeze(1)).mean(0).abs().max() < 0.05


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"concentration=0\.0"):
        editor(concentration=0.0)
    model = editor()
    with pytest.raises(ValueError, match=r"edit.*d_edit = 6.*\(1, 5\)"):
        model.encode(torch.tensor([[1, 2]]), edit=torch.zeros(1, 5))
    with pytest.raises(ValueError, match="prototype_mask"):
        model.edit_vector(torch.tensor([[1, 2]]), torch.tensor([[1]]), torch.ones(1, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match="target"):
        model.edit_vector(torch.tensor([[1, 2]]), torch.tensor([[11]]))
    with pytest.raises(ValueError, match="insert"):
        model.words_to_edit(torch.tensor([[11]]), torch.tensor([[1]]))
    with pytest.raises(ValueError, match=r"batch.*0"):
        model.sample_edit(0)


@pytest.mark.parametrize("name", ["concentration", "noise", "max_norm"])
def test_numbers_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}=nan"):
        editor(**{name: float("nan")})


def test_edits_of_another_batch_are_refused() -> None:
    model, one, two = editor(), torch.tensor([[1]]), torch.tensor([[1], [2]])
    for prototype, target in ((one, two), (two, one)):
        with pytest.raises(ValueError, match="target must"):
            model.edit_vector(prototype, target)
        with pytest.raises(ValueError, match="delete must"):
            model.words_to_edit(prototype, target)
    with pytest.raises(ValueError, match="insert must"):
        model.words_to_edit(one[0], one)
    with pytest.raises(TypeError, match="edit must"):
        model.encode(one, edit=torch.zeros(1, 6, dtype=torch.float64))
    for f in (torch.zeros(6), torch.zeros(1, 5), torch.zeros(1, 6, dtype=torch.long)):
        with pytest.raises((ValueError, TypeError), match="f must"):
            model.perturb(f)


texts = st.lists(st.integers(0, 8), max_size=6)


def test_jaccard_by_hand() -> None:
    assert jaccard(["the", "food", "was", "good"], ["the", "food", "was", "very", "good", "good"]) == pytest.approx(
        4 / 5
    )
    assert jaccard([1, 2], [3]) == 0.0
    assert jaccard([], []) == 1.0


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, min_size=1, max_size=12), texts, st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 0.75, 1.0]))
def test_search_finds_what_looking_at_everything_finds(documents, query, at_least) -> None:
    everything = [(i, jaccard(query, document)) for i, document in enumerate(documents) if set(query) & set(document)]
    expected = sorted((p for p in everything if p[1] >= at_least), key=lambda p: (-p[1], p[0]))
    assert Retriever(documents).nearest(query, k=len(documents), at_least=at_least) == expected
    assert Retriever(documents).nearest(query, k=2, at_least=at_least) == expected[:2]


def test_edit_pairs_are_close_and_not_the_same() -> None:
    documents = ["a b c d", "a b c e", "a b c d", "x y z", "d c b a"]
    documents = [document.split() for document in documents]
    pairs = {(p, t): s for p, t, s in edit_pairs(documents, 0.5)}
    assert pairs[(0, 1)] == pairs[(1, 0)] == pytest.approx(3 / 5)
    assert (0, 2) not in pairs
    assert pairs[(4, 0)] == 1.0
    assert not any(3 in pair for pair in pairs)
    assert len([p for p in edit_pairs(documents, 0.5, per_document=1) if p[1] == 1]) == 1


def test_a_bad_search_is_refused() -> None:
    with pytest.raises(ValueError, match="documents"):
        Retriever([])
