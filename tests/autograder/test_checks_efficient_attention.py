"""What the exercises of "efficient_attention" promise beyond what every assignment must (`test_checks.py`)."""

import torch
from torch.nn import functional as F

from nlmcore.transformer import TransformerConfig
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.sparse import build_bigbird, build_longformer
from solutions.efficient_attention.checks import EXERCISES

CALL = {name.partition(".")[2]: exercise.reference for name, exercise in EXERCISES.items()}
SIZES = TransformerConfig(vocab_size=9, d_model=16, n_heads=1, n_layers=1, max_length=48)


def heads(*shape: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(*shape) for _ in range(3))


def test_the_masks_are_nlmcores() -> None:
    assert torch.equal(CALL["longformer_mask"](48, 4, 1, [0]), build_longformer(SIZES, False, window=8).pattern(48))
    fixed = build_bigbird(SIZES, False, block=4, n_global=1, n_random=0).pattern(48)
    assert torch.equal(CALL["bigbird_mask"](48, 4, 1, 0, 0), fixed)


def test_attention_in_blocks_is_attention_under_the_mask() -> None:
    torch.manual_seed(0)
    q, k, v = heads(2, 37, 6)
    mask = CALL["bigbird_mask"](37, 4, 1, 2, 0)
    output, computed = CALL["block_attention"](q, k, v, mask, 4)
    assert torch.allclose(output, F.scaled_dot_product_attention(q, k, v, mask), atol=1e-5)
    assert computed == mask.sum(), "the mask consists of whole blocks"


def test_linformer_is_nlmcores() -> None:
    torch.manual_seed(0)
    part, x = LinformerAttention(SIZES, k=8), torch.randn(2, 48, 16)
    with torch.no_grad():
        q, k, v = part.attention.projection(x).split(16, dim=-1)
        ours = CALL["linformer"](q, k, v, part.E, part.F, torch.tensor([48, 48]))
        assert torch.allclose(part.attention.output(ours), part(x), atol=1e-5)


def test_a_cache_with_room_for_all_is_attention_to_the_whole_text() -> None:
    """Rotated at positions of the text, which are then those of the cache."""
    torch.manual_seed(0)
    q, k, v = heads(3, 9, 8)
    cache = {"keys": torch.zeros(3, 12, 8), "values": torch.zeros(3, 12, 8), "read": 0}
    steps = []
    for t in range(9):
        step, cache = CALL["decode"](*(x[:, t : t + 1] for x in (q, k, v)), cache, 2, 100.0)
        steps.append(step)
    rotated = CALL["decode"].__globals__["rotated"]
    whole = F.scaled_dot_product_attention(rotated(q, 0, 100.0), rotated(k, 0, 100.0), v, is_causal=True)
    assert torch.allclose(torch.cat(steps, 1), whole, atol=1e-5)


def test_the_friends_band_is_the_same_as_a_window_in_blocks() -> None:
    torch.manual_seed(0)
    q, k, v = heads(1, 20, 6)
    window = CALL["longformer_mask"](20, 4, 1, []).tril()
    band = torch.from_numpy(CALL["band_attention"](*(x[0].numpy() for x in (q, k, v)), 5))
    assert torch.allclose(band, CALL["block_attention"](q, k, v, window, 4)[0][0], atol=1e-5)
