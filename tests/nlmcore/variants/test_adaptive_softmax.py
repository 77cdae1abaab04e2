"""Adaptive embeddings and the adaptive softmax, each against its equation, token by token."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.training import teacher_forcing_loss
from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.adaptive_softmax import (
    AdaptiveEmbedding,
    AdaptiveOutput,
    AdaptiveSoftmax,
    adaptive_loss,
    cluster_sizes,
)
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, TOKENS, VOCAB, awake, build, logits, stirred

D, CLUSTERS = 24, (2, 3, 5)
C = vanilla(sum(CLUSTERS), d_model=D)
HIDDEN = torch.randn(2, 4, D, generator=torch.Generator().manual_seed(1))
ALL = torch.arange(sum(CLUSTERS))[None]


def embedding(narrowing: tuple[int, ...] = (1, 3, 12)) -> Any:
    return stirred(AdaptiveEmbedding(sum(CLUSTERS), D, CLUSTERS, narrowing))


def matrix(part: Any) -> Tensor:
    """All vectors, (vocab, d_model), each made by itself."""
    rows = []
    for size, cluster in zip(part.sizes, part.clusters, strict=True):
        for w in range(size):
            if isinstance(cluster, nn.Embedding):
                rows.append(cluster.weight[w])
            else:
                inner = range(cluster_width(cluster))
                rows.append(sum(cluster.narrow.weight[w, j] * cluster.widen.weight[:, j] for j in inner))
    return torch.stack(rows)  # type: ignore[arg-type]


def cluster_width(cluster: Any) -> int:
    return cluster.embedding_dim if isinstance(cluster, nn.Embedding) else cluster.narrow.embedding_dim


@pytest.mark.parametrize(
    ("vocab_size", "sizes"),
    [(32_128, (2_500, 6_000, 23_628)), (1_000, (78, 187, 735)), (VOCAB, (1, 2, 8)), (4, (1, 1, 2)), (3, (1, 1, 1))],
)
def test_clusters_have_the_papers_shares_of_any_vocabulary(vocab_size: int, sizes: tuple[int, int, int]) -> None:
    assert cluster_sizes(vocab_size) == sizes


def test_clusters_are_never_empty_and_have_all_tokens() -> None:
    for vocab_size in range(3, 200):
        sizes = cluster_sizes(vocab_size)
        assert min(sizes) >= 1
        assert sum(sizes) == vocab_size


def test_at_the_papers_sizes_the_widths_are_those_of_its_code() -> None:
    part, baevski = AdaptiveEmbedding(32_128, 768), AdaptiveEmbedding(100, 768, narrowing=(1, 4, 16))
    assert [cluster_width(cluster) for cluster in part.clusters] == [768, 256, 64]
    assert [cluster_width(cluster) for cluster in baevski.clusters] == [768, 192, 48]
    matrices = 2_500 * 768 + 6_000 * 256 + 23_628 * 64 + 256 * 768 + 64 * 768
    assert sum(p.numel() for p in part.parameters()) == matrices == 5_213_952


@pytest.mark.parametrize("narrowing", [(1, 3, 12), (1, 1, 1), (2, 4, 24)])
def test_an_embedding_is_its_equation_token_by_token(narrowing: tuple[int, ...]) -> None:
    part = embedding(narrowing)
    assert [cluster_width(cluster) for cluster in part.clusters] == [D // times for times in narrowing]
    assert_close(part(ALL)[0], matrix(part), "vectors")
    assert_close(part(ALL[:, [9, 0, 4, 5, 1, 2]])[0], matrix(part)[[9, 0, 4, 5, 1, 2]], "in another order")


def test_the_usual_softmax_has_the_embeddings_matrix() -> None:
    part = embedding()
    assert_close(AdaptiveOutput(C, part)(HIDDEN), HIDDEN @ matrix(part).T, "logits")
    model = awake(CATALOGUE["Adaptive input embeddings"])
    plain = stirred(TransformerLM(vanilla(VOCAB, **SIZES)))
    E = matrix(model.embedding)
    plain.load_state_dict(model.state_dict() | {"embedding.weight": E, "output.weight": E}, strict=False)
    assert_close(logits(model), logits(plain), "the model with the matrix that is their product")


def test_the_adaptive_softmax_is_pytorchs() -> None:
    """Which has weights of its own for the output, and d, d / 4, d / 16 as widths."""
    theirs = nn.AdaptiveLogSoftmaxWithLoss(32, 10, [2, 5], div_value=4.0)
    ours = stirred(AdaptiveSoftmax(vanilla(10, d_model=32, n_heads=4), AdaptiveEmbedding(10, 32, CLUSTERS, (1, 4, 16))))
    with torch.no_grad():
        theirs.head.weight.copy_(torch.cat([ours.embedding.clusters[0].weight, ours.doors.weight]))
        for tail, cluster in zip(theirs.tail, list(ours.embedding.clusters)[1:], strict=True):
            tail[0].weight.copy_(cluster.widen.weight.T)
            tail[1].weight.copy_(cluster.narrow.weight)
    hidden = torch.randn(3, 5, 32, generator=torch.Generator().manual_seed(2))
    assert_close(ours(hidden).flatten(0, 1), theirs.log_prob(hidden.flatten(0, 1)), "log-probabilities", 1e-5)


def scored(softmax: Any) -> list[tuple[int, int]]:
    """A list that fills with (cluster, for how many positions it was scored)."""
    counts: list[tuple[int, int]] = []
    original = softmax.embedding.scores

    def scores(hidden: Tensor, i: int) -> Tensor:
        counts.append((i, hidden.shape[:-1].numel()))
        return original(hidden, i)

    softmax.embedding.scores = scores
    return counts


def test_one_token_per_position_is_scored_where_it_may_stand() -> None:
    softmax = stirred(AdaptiveSoftmax(C, embedding()))
    tokens = torch.tensor([[0, 9, 5, 1], [4, 1, 7, 0]])
    everything = softmax(HIDDEN)
    counts = scored(softmax)
    assert_close(softmax.log_prob(HIDDEN, tokens), everything.gather(-1, tokens[..., None])[..., 0], "ln P")
    assert counts == [(0, 8), (1, 1), (2, 3)]
    for w in range(10):
        same = torch.full((2, 4), w)
        assert_close(softmax.log_prob(HIDDEN, same), everything[..., w], f"ln P of token {w}")


@pytest.mark.parametrize("name", ["Adaptive softmax", "Adaptive softmax without projection"])
def test_the_short_loss_is_the_usual_loss_with_the_same_gradients(name: str) -> None:
    model = awake(CATALOGUE[name])
    gradients = []
    for loss in (adaptive_loss(model, TOKENS), teacher_forcing_loss(model, TOKENS)):
        model.zero_grad()
        loss.backward()
        gradients.append([loss, *(p.grad for p in model.parameters())])
    for (parameter, _), ours, usual in zip([("the loss", 0), *model.named_parameters()], *gradients, strict=True):
        assert_close(ours, usual, parameter, 1e-5)


def test_the_short_loss_of_a_target_that_has_a_source() -> None:
    model = awake(replace(CATALOGUE["Adaptive softmax"], family=EncoderDecoder))
    usual = teacher_forcing_loss(model, TOKENS, source=SOURCE, source_mask=MASK)
    assert_close(adaptive_loss(model, TOKENS, model.encode(SOURCE, MASK)), usual, "the loss", 1e-5)


def test_every_cluster_begins_with_the_usual_variance() -> None:
    torch.manual_seed(0)
    part = TransformerLM(CATALOGUE["Adaptive softmax"].config(3_000, d_model=120, n_layers=1)).embedding
    vectors = part(torch.arange(3_000)[None])[0]
    for start, size in zip(part.starts, part.sizes, strict=True):
        assert vectors[start : start + size].std().item() == pytest.approx(0.02, rel=0.1)


def test_both_halves_and_the_softmax_have_one_embedding() -> None:
    model = build(replace(CATALOGUE["Adaptive softmax"], family=EncoderDecoder))
    assert model.encoder.embedding is model.decoder.embedding is model.output.embedding


def test_clusters_that_do_not_fit_are_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="vocab_size must be at least 3, one token for each cluster, got 2"):
        cluster_sizes(2)
    with pytest.raises(ValueError, match=r"two clusters with 9 tokens together, got \(2, 3, 5\)"):
        AdaptiveEmbedding(9, D, CLUSTERS)
    with pytest.raises(ValueError, match=r"at least two clusters with 10 tokens together, got \(10,\)"):
        AdaptiveEmbedding(10, D, (10,), (1,))
    with pytest.raises(ValueError, match=r"narrowing must have 3 numbers, one per cluster, got \(1, 2\)"):
        AdaptiveEmbedding(10, D, CLUSTERS, (1, 2))
    with pytest.raises(ValueError, match=r"sizes\[1\] must be at least 1, got 0"):
        AdaptiveEmbedding(10, D, (5, 0, 5))
    with pytest.raises(TypeError, match=r"narrowing\[2\] must be an integer, got Fraction"):
        AdaptiveEmbedding(10, D, CLUSTERS, (1, 2, Fraction(1, 2)))  # type: ignore[arg-type]
    for output in (AdaptiveOutput, AdaptiveSoftmax):
        with pytest.raises(TypeError, match="embedding must be an AdaptiveEmbedding, got Embedding"):
            TransformerLM(replace(vanilla(VOCAB, **SIZES), output=output))
    with pytest.raises(ValueError, match="tie_embeddings needs an embedding with a matrix"):
        TransformerLM(replace(vanilla(VOCAB, **SIZES), embedding=AdaptiveEmbedding))
    with pytest.raises(TypeError, match="an AdaptiveSoftmax as its output, got AdaptiveOutput"):
        adaptive_loss(build(CATALOGUE["Adaptive input embeddings"]), TOKENS)
    with pytest.raises(ValueError, match=r"at least one text of two tokens, got shape \(3, 1\)"):
        adaptive_loss(build(CATALOGUE["Adaptive softmax"]), TOKENS[:, :1])
