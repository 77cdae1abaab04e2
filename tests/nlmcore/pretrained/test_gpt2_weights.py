"""GPT-2 from a folder: a tiny one written here as Hugging Face lays it out, against GPT-2 written as loops."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from nlmcore.decoding import greedy
from nlmcore.pretrained import gpt2
from nlmcore.pretrained.gpt2_weights import ACTIVATIONS
from nlmcore.transformer import TransformerLM
from tests.laws import assert_close, assert_language_model

D, HEADS, LAYERS, PLACES, D_FF = 12, 3, 2, 11, 20
TOKENS = ["a", "b", "c", "Ġ", "ab", "Ġab", "<|endoftext|>"]
MERGES = [("a", "b"), ("Ġ", "ab")]
SIZES: dict[str, Any] = {
    "model_type": "gpt2",
    "vocab_size": len(TOKENS),
    "n_embd": D,
    "n_head": HEADS,
    "n_layer": LAYERS,
    "n_positions": PLACES,
    "n_inner": D_FF,
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 0.01,
    "bos_token_id": 6,
    "eos_token_id": 6,
}


def tensors(prefix: str = "transformer.") -> dict[str, Tensor]:
    """Random weights under Hugging Face's names; matrices are (in, out)."""
    generator = torch.Generator().manual_seed(5)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator) * 0.4

    found = {"wte.weight": draw(len(TOKENS), D), "wpe.weight": draw(PLACES, D)}
    found |= {"ln_f.weight": 1 + draw(D), "ln_f.bias": draw(D)}
    for i in range(LAYERS):
        shapes = {"attn.c_attn": (D, 3 * D), "attn.c_proj": (D, D), "mlp.c_fc": (D, D_FF), "mlp.c_proj": (D_FF, D)}
        for name, shape in shapes.items():
            found |= {f"h.{i}.{name}.weight": draw(*shape), f"h.{i}.{name}.bias": draw(shape[1])}
        for name in ("ln_1", "ln_2"):
            found |= {f"h.{i}.{name}.weight": 1 + draw(D), f"h.{i}.{name}.bias": draw(D)}
        found[f"h.{i}.attn.bias"] = torch.ones(1, 1, PLACES, PLACES)  # the causal mask, which old files carry along
    return {prefix + name: value.contiguous() for name, value in found.items()}


def write(folder: Path, sizes: dict[str, Any] = SIZES, weights: dict[str, Tensor] | None = None) -> Path:
    """A folder with config.json, model.safetensors, vocab.json and merges.txt."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(sizes))
    save_file(tensors() if weights is None else weights, folder / "model.safetensors")
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(TOKENS)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in MERGES), encoding="utf-8")
    return folder


def one_file() -> dict[str, Any]:
    """The same tokenizer as tokenizer.json has it."""
    vocabulary = {token: i for i, token in enumerate(TOKENS)}
    return {
        "added_tokens": [{"id": 6, "content": "<|endoftext|>", "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b", "Ġ ab"]},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny")


def gelu_new(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu(x: Tensor) -> Tensor:
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def naive(w: dict[str, Tensor], ids: list[int], activation=gelu_new) -> Tensor:
    """Radford et al. (2019) for one text, position by position and head by head. No line of nlmcore."""

    def norm(name: str, x: Tensor) -> Tensor:
        centred = x - x.mean()
        return centred / torch.sqrt(centred.square().mean() + 0.01) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def conv(name: str, x: Tensor) -> Tensor:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    xs = [w["wte.weight"][token] + w["wpe.weight"][t] for t, token in enumerate(ids)]
    for i in range(LAYERS):
        qkv = [conv(f"h.{i}.attn.c_attn", norm(f"h.{i}.ln_1", x)) for x in xs]
        mixed = []
        for t in range(len(xs)):
            heads = []
            for h in range(HEADS):
                q, k, v = (slice(part * D + 4 * h, part * D + 4 * h + 4) for part in range(3))
                scores = torch.stack([qkv[t][q] @ qkv[s][k] / 2 for s in range(t + 1)])
                heads.append(sum(p * qkv[s][v] for s, p in enumerate(scores.softmax(0))))
            mixed.append(xs[t] + conv(f"h.{i}.attn.c_proj", torch.cat(heads)))
        inner = [activation(conv(f"h.{i}.mlp.c_fc", norm(f"h.{i}.ln_2", x))) for x in mixed]
        xs = [x + conv(f"h.{i}.mlp.c_proj", y) for x, y in zip(mixed, inner, strict=True)]
    output = w.get("lm_head.weight", w["wte.weight"])
    return torch.stack([output @ norm("ln_f", x) for x in xs])


IDS = [3, 0, 5, 1, 2, 6, 4]


def logits(model: TransformerLM, ids: list[int] = IDS) -> Tensor:
    with torch.no_grad():
        return model(torch.tensor([ids]))[0][0]


@pytest.mark.parametrize("prefix", ["transformer.", ""])
def test_logits_agree_with_the_loops(tmp_path: Path, prefix: str) -> None:
    model, _ = gpt2(write(tmp_path / "tiny", weights=tensors(prefix)))
    assert not model.training
    assert_close(logits(model), naive(tensors(""), IDS), "logits", 1e-5)


def test_the_activation_is_the_one_in_the_file(tmp_path: Path) -> None:
    exact, _ = gpt2(str(write(tmp_path / "tiny", SIZES | {"activation_function": "gelu"})))
    expected = naive(tensors(""), IDS, gelu)
    assert_close(logits(exact), expected, "exact GELU", 1e-6)
    assert (expected - naive(tensors(""), IDS)).abs().max() > 1e-5
    x = torch.linspace(-4, 4, 101)
    for name in ("gelu_new", "gelu_pytorch_tanh", "gelu_fast"):
        assert_close(ACTIVATIONS[name](x), gelu_new(x), name, 1e-6)


def test_defaults_are_gpt2s_own(tmp_path: Path) -> None:
    left_out = ("n_inner", "activation_function", "layer_norm_epsilon")
    sizes = {key: value for key, value in SIZES.items() if key not in left_out}
    weights = tensors("")
    for i in range(LAYERS):
        weights[f"h.{i}.mlp.c_fc.weight"] = torch.randn(D, 4 * D)
        weights[f"h.{i}.mlp.c_fc.bias"] = torch.zeros(4 * D)
        weights[f"h.{i}.mlp.c_proj.weight"] = torch.randn(4 * D, D)
    model, _ = gpt2(write(tmp_path / "tiny", sizes, weights))
    assert model.final_norm.eps == 1e-5
    assert model.layers[1].feed_forward.inner.out_features == 48
    assert_close(model.layers[0].feed_forward.activation(torch.ones(1)), gelu_new(torch.ones(1)), "gelu_new", 1e-6)


def test_an_output_of_its_own_is_read(tmp_path: Path) -> None:
    weights = tensors() | {"lm_head.weight": torch.randn(len(TOKENS), D)}
    model, _ = gpt2(write(tmp_path / "tiny", SIZES | {"tie_word_embeddings": False}, weights))
    plain = {name.removeprefix("transformer."): value for name, value in weights.items()}
    assert_close(logits(model), naive(plain, IDS), "logits", 1e-5)


def test_a_shared_matrix_may_be_kept_under_either_name(tmp_path: Path) -> None:
    """safetensors writes a tensor of two names once: `save_pretrained` drops the output's, `save_model` the other."""
    expected = naive(tensors(""), IDS)
    both = tensors() | {"lm_head.weight": tensors("")["wte.weight"].clone()}
    head_alone = {name: value for name, value in both.items() if name != "transformer.wte.weight"}
    for weights in (both, head_alone):
        model, _ = gpt2(write(tmp_path / "tiny", weights=weights))
        assert_close(logits(model), expected, "logits", 1e-5)
        assert model.output.weight is model.embedding.weight
    other = both | {"lm_head.weight": both["lm_head.weight"] + 1}
    with pytest.raises(ValueError, match=r"lm_head\.weight that is not wte\.weight.*tie_word_embeddings=true"):
        gpt2(write(tmp_path / "tiny", weights=other))


def test_one_whole_file_counts_before_an_old_index(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"wte.weight": "gone.safetensors"}}')
    assert_close(logits(gpt2(folder)[0]), naive(tensors(""), IDS), "logits", 1e-5)


def test_half_precision_and_several_files_are_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny")
    weights = {name: value.half() for name, value in tensors().items()}
    names = sorted(weights)
    parts = {"model-00001-of-00002.safetensors": names[:9], "model-00002-of-00002.safetensors": names[9:]}
    for part, inside in parts.items():
        save_file({name: weights[name] for name in inside}, folder / part)
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {name: part for part, inside in parts.items() for name in inside}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    model, _ = gpt2(folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    rounded = {name.removeprefix("transformer."): value.float() for name, value in weights.items()}
    assert_close(logits(model), naive(rounded, IDS), "logits", 1e-5)


def test_matrices_lie_as_decoding_wants_them(folder: Path) -> None:
    model, _ = gpt2(folder)
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and name != "positions.weight"]
    assert len(matrices) == 1 + 4 * LAYERS
    assert all(p.t().is_contiguous() for p in matrices)
    assert model.output.weight is model.embedding.weight


def test_it_is_a_language_model_and_writes(folder: Path) -> None:
    model, tokenizer = gpt2(folder)
    assert_language_model(model, torch.tensor([[0, 1, 5, 3, 2], [4, 6, 0, 0, 1]]), tolerance=1e-4)
    ids = [tokenizer.encode("ab c")]
    written = greedy(model, torch.tensor(ids), 4).tokens[0].tolist()
    for n in range(4):
        assert naive(tensors(""), ids[0] + written[:n])[-1].argmax() == written[n]


def test_the_tokenizer_is_read_from_either_kind_of_file(folder: Path) -> None:
    _, pair = gpt2(folder)
    assert pair.encode("ab abc") == [4, 5, 2]
    assert pair.encode("a<|endoftext|>", allow_special=True) == [0, 6]
    assert (pair.bos, pair.eos, pair.pad) == (6, 6, 6)
    for merges in (["a b", "Ġ ab"], [["a", "b"], ["Ġ", "ab"]]):
        document = one_file()
        document["model"]["merges"] = merges
        (folder / "merges.txt").unlink(missing_ok=True)
        (folder / "tokenizer.json").write_text(json.dumps(document))
        _, one = gpt2(folder)
        for text in ("ab abc", "a<|endoftext|>c"):
            assert one.encode(text, allow_special=True) == pair.encode(text, allow_special=True)


def test_tokens_that_were_added_later_are_read(folder: Path) -> None:
    """A fine-tuned GPT-2 has its <|pad|> in added_tokens.json, or in a tokenizer.json beside older files."""
    (folder / "added_tokens.json").write_text('{"<|pad|>": 7}')
    _, tokenizer = gpt2(folder)
    assert tokenizer.encode("a<|pad|><|endoftext|>", allow_special=True) == [0, 7, 6]
    assert tokenizer.decode([0, 7, 1]) == "a<|pad|>b"
    assert tokenizer.decode([0, 7, 1], skip_special=True) == "ab"
    document = one_file()
    document["added_tokens"] += [{"id": 8, "content": "<|sep|>", "special": True}]
    (folder / "tokenizer.json").write_text(json.dumps(document))
    assert gpt2(folder)[1].decode([0, 8]) == "a<|sep|>"


def test_an_end_outside_the_vocabulary_is_no_end(tmp_path: Path) -> None:
    """GPT2Config(vocab_size=7) keeps the 50256 of the large vocabulary."""
    far = SIZES | {"bos_token_id": 50256, "eos_token_id": 50256}
    model, tokenizer = gpt2(write(tmp_path / "tiny", far))
    assert (tokenizer.bos, tokenizer.eos, tokenizer.pad) == (6, 6, 6)
    greedy(model, torch.tensor([[0]]), 2, eos=tokenizer.eos)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pre_tokenizer": None}, "BPE after None, expected BPE after ByteLevel"),
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, "add_prefix_space=True; GPT-2's is False"),
        ({"normalizer": {"type": "Lowercase"}}, "rewrites texts first .*Lowercase"),
        ({"model": {"type": "WordPiece"}}, "WordPiece after ByteLevel"),
    ],
)
def test_a_tokenizer_that_cuts_otherwise_is_refused(folder: Path, change: dict[str, Any], message: str) -> None:
    (folder / "tokenizer.json").write_text(json.dumps(one_file() | change))
    with pytest.raises(ValueError, match=message):
        gpt2(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_what_is_missing_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"tiny has no {name}"):
        gpt2(folder)


def test_a_missing_tokenizer_or_folder_is_named(folder: Path, plain_errors: None) -> None:
    (folder / "vocab.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no tokenizer\.json, and no vocab\.json with merges\.txt"):
        gpt2(folder)
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        gpt2(folder / "nowhere")
    with pytest.raises(TypeError, match="folder must be a path, got 3"):
        gpt2(3)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"pytorch_model\.bin is not read.*save it as safetensors"):
        gpt2(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "llama"}, "a model of type 'llama'; only 'gpt2'"),
        ({"scale_attn_by_inverse_layer_idx": True}, "says scale_attn_by_inverse_layer_idx=True"),
        ({"activation_function": "mish"}, "activation_function must be one of gelu_new, .* got 'mish'"),
        ({"activation_function": ["gelu"]}, r"activation_function must be one of .* got \['gelu'\]"),
        ({"n_head": 5}, "d_model must be a multiple of n_heads"),
        ({"n_layer": 3}, r"no h\.2\.ln_1\.weight"),
        ({"n_inner": 21}, "do not fit the model"),
        ({"n_layer": 1}, r"the weights have h\.1\.attn\.c_attn\.bias, for which .* has no place"),
        ({"tie_word_embeddings": False}, r"no lm_head\.weight"),
        ({"n_head": None}, "config.json says n_head=None; it must be a whole number"),
        ({"n_inner": "20"}, "config.json says n_inner='20'"),
        ({"layer_norm_epsilon": None}, "layer_norm_epsilon=None; it must be a number above 0"),
        ({"eos_token_id": [1, 6]}, r"eos_token_id=\[1, 6\]; it must be one id"),
    ],
)
def test_another_architecture_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gpt2(write(tmp_path / "tiny", SIZES | change))


def test_broken_files_are_refused(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:1000])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        gpt2(folder)
    (folder / "model.safetensors").write_bytes(whole)
    (folder / "merges.txt").write_text("a b c\n")
    with pytest.raises(ValueError, match=r"the tokenizer in .*tiny is not GPT-2's, or is damaged"):
        gpt2(folder)
    (folder / "config.json").write_text('{"model_type": "gpt2"')
    with pytest.raises(ValueError, match=r"config\.json is no whole JSON file"):
        gpt2(folder)
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(ValueError, match=r"config\.json has no vocab_size, n_embd"):
        gpt2(folder)


@pytest.mark.parametrize("content", ["{}", '{"weight_map": ["a"]}', '{"weight_map": {"wte.weight": 3}}'])
def test_an_index_without_files_is_refused(folder: Path, content: str) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ValueError, match=r"model\.safetensors\.index\.json has no weight_map"):
        gpt2(folder)
