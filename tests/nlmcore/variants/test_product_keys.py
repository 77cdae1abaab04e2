"""Product-key memory: the best of all pairs without looking at all of them, where it stands, and how large it is."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from nlmcore.transformer import EncoderDecoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.product_keys import ProductKeyMemory
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import VOCAB, build

X = torch.randn(2, 3, 10, generator=torch.Generator().manual_seed(0))


def memory(n_keys: int = 7, k: int = 3, d_key: int = 8, n_heads: int = 2) -> ProductKeyMemory:
    torch.manual_seed(1)
    return ProductKeyMemory(10, n_keys=n_keys, k=k, d_key=d_key, n_heads=n_heads)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_the_best_pairs_are_the_best_of_all(k: int) -> None:
    part = memory(k=k)
    y = part(X)
    for b in range(2):
        for t in range(3):
            queries = (part.query.weight @ X[b, t] + part.query.bias).view(2, 8)
            expected = torch.zeros(10)
            for h in range(2):
                q = part.norm(queries[h])
                scores = torch.stack(
                    [
                        q[:4] @ part.half_keys[0, h, i] + q[4:] @ part.half_keys[1, h, j]
                        for i in range(7)
                        for j in range(7)
                    ]
                )
                best = sorted(range(49), key=lambda r, s=scores: -s[r].item())[:k]  # type: ignore[misc]
                expected = expected + scores[best].softmax(0) @ part.values.weight[best]
            assert_close(y[b, t], expected, f"token {b}, {t}")


def test_every_part_of_the_memory_learns() -> None:
    part = memory()
    part(X).pow(2).sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in part.parameters())
    found = part.find(X)[1].flatten().unique()
    touched = part.values.weight.grad.abs().sum(-1).nonzero().flatten()  # type: ignore[union-attr]
    assert torch.equal(touched, found), "the vectors that were found, and no others"
    assert len(found) < 49


def places(stack: nn.Module) -> list[int]:
    return [i for i, layer in enumerate(stack) if isinstance(layer.feed_forward, ProductKeyMemory)]  # type: ignore


@pytest.mark.parametrize(("layers", "expected"), [(6, [4]), (2, [0]), (1, [0])])
def test_it_stands_before_the_last_layer_of_the_decoder(layers: int, expected: list[int]) -> None:
    row = CATALOGUE["Product key memory"]
    assert places(build(row, n_layers=layers).layers) == expected
    model = build(replace(row, family=EncoderDecoder), n_layers=layers)
    assert places(model.decoder.layers) == expected
    assert places(model.encoder.layers) == []


def test_sizes_follow_the_width_as_the_papers_do() -> None:
    with torch.device("meta"):
        part = ProductKeyMemory(768)
    assert part.half_keys.shape == (2, 4, 512, 64)
    assert part.values.weight.shape == (512**2, 768)
    assert part.k == 32
    small = CATALOGUE["Product key memory"].build(VOCAB).layers[4].feed_forward
    assert small.half_keys.shape == (2, 4, 64, 8)
    assert small.k == 4
    parameters = sum(p.numel() for p in small.parameters())
    assert parameters == 64**2 * 96 + 2 * 4 * 64 * 8 + (96 + 1) * 4 * 16 + 2 * 16


def test_bad_sizes_of_a_memory_are_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="k=8, n_keys=7"):
        memory(k=8)
    with pytest.raises(ValueError, match="d_key must be even: a key is two halves, got 5"):
        memory(d_key=5)
    assert ProductKeyMemory(20).half_keys.shape == (2, 4, 13, 4)
