"""A folder holds a whole model: the same logits, the same ids, the same text; and what is not whole is refused."""

import dataclasses
import json
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

from nlmcore.convolutional import ConvLM
from nlmcore.fast.weights import for_decoding
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.ngram import NGramLM
from nlmcore.norms import RMSNorm
from nlmcore.positions import NoPositions, Rotary, SinusoidalPositions
from nlmcore.pretrained import gpt2
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import BPETokenizer, CharTokenizer, Tokenizer, WordTokenizer
from nlmcore.tool.saved import load_model, save_model
from nlmcore.training import checkpoint
from nlmcore.transfer import LoRA
from nlmcore.transformer import FeedForward, GatedFeedForward, TransformerConfig, TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE

TEXT = "To be, or not to be: that is the question -- naïve 🙂"
V = 300
GPT2 = TransformerConfig(vocab_size=V, d_model=12, n_heads=3, n_layers=2, max_length=9, d_ff=20)
LLAMA = dataclasses.replace(
    GPT2,
    n_kv_heads=1,
    attention_bias=False,
    positions=NoPositions,
    attention_positions=partial(Rotary, base=1000.0),
    norm=partial(RMSNorm, eps=1e-5),
    feed_forward=partial(GatedFeedForward, bias=False),
)
MODELS: dict[str, Any] = {
    "GPT": lambda: TransformerLM(GPT2),
    "GPT, dropout": lambda: TransformerLM(dataclasses.replace(GPT2, dropout=0.3)),
    "GPT, its own output": lambda: TransformerLM(dataclasses.replace(GPT2, tie_embeddings=False)),
    "GPT-2's tanh": lambda: TransformerLM(
        dataclasses.replace(
            GPT2,
            feed_forward=partial(FeedForward, activation=partial(F.gelu, approximate="tanh")),
            norm=partial(nn.LayerNorm, eps=0.1),
        )
    ),
    "GPT, half": lambda: TransformerLM(GPT2).to(torch.bfloat16),
    "Llama": lambda: TransformerLM(LLAMA),
    "2017": lambda: TransformerLM(
        dataclasses.replace(GPT2, norm_position="post", scale_embeddings=True, positions=SinusoidalPositions)
    ),
    "Transformer-XL": lambda: CATALOGUE["Transformer-XL"].build(V, d_model=12, n_heads=3, n_layers=2, max_length=9),
    "encoder": lambda: TransformerEncoder(GPT2),
    "window": lambda: FeedForwardLM(V, 3, 5, 7, direct=True, activation=F.relu),
    "bag": lambda: BagOfWordsLM(V, 3, 5, 7),
    "LSTM": lambda: RecurrentLM(V, "lstm", 5, 7, 2, residual=True, dropout=0.2, tie_embeddings=True, fused=False),
    "GRU": lambda: RecurrentLM(V, "gru", d_hidden=6, tie_embeddings=True),
    "convolution": lambda: ConvLM(V, 6, 2, 3, dilations=[1, 2], tie_embeddings=True),
}
GPT2_SHAPED = {"GPT", "GPT, dropout", "GPT, its own output", "GPT-2's tanh", "GPT, half"}
PUBLISHED = BytePairTokenizer(
    {t: i for i, t in enumerate(["<|end|>", *"ToberntadhisqueĠ,:-", "be", "Ġbe"])},
    [("b", "e"), ("Ġ", "be")],
    special=["<|end|>"],
    bos=0,
    eos=0,
    pad=0,
    split_digits=True,
    system="Be kind.",
)
TOKENIZERS: dict[str, Tokenizer] = {
    "characters": CharTokenizer.fit(TEXT),
    "words": WordTokenizer.fit(TEXT, lowercase=True),
    "byte pairs": BPETokenizer.train(TEXT * 3, 270),
    "published": PUBLISHED,
}
TOKENS = torch.tensor([[5, 250, 17, 3], [8, 9, 299, 0]])


def made(name: str) -> Any:
    torch.manual_seed(3)
    model = MODELS[name]()
    for parameter in model.parameters():  # biases and norms that are not those of a new model
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_has_the_same_logits(name: str, tmp_path: Path) -> None:
    model = made(name)
    before = torch.get_rng_state()
    again, tokenizer = load_model(save_model(tmp_path / "mine", model))
    assert torch.equal(torch.get_rng_state(), before)
    assert tokenizer is None
    assert not again.training
    assert type(again) is type(model)
    assert torch.equal(again(TOKENS)[0], model(TOKENS)[0])
    assert len([*again.parameters()]) == len([*model.parameters()]), "what was tied still is"
    assert again.state_dict().keys() == model.state_dict().keys()
    assert json.loads((tmp_path / "mine" / "nlmcore.json").read_text())["nlmcore"] == 1
    assert (tmp_path / "mine" / "config.json").exists() == (name in GPT2_SHAPED)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_every_tokenizer_comes_back(name: str, tmp_path: Path) -> None:
    tokenizer = TOKENIZERS[name]
    again = load_model(save_model(tmp_path, made("GPT"), tokenizer))[1]
    assert type(again) is type(tokenizer)
    ids = tokenizer.encode(TEXT + " <eos> 12")
    assert again.encode(TEXT + " <eos> 12") == ids
    assert again.decode(ids) == tokenizer.decode(ids)
    assert again.special_ids == tokenizer.special_ids
    assert again.pieces(ids) == tokenizer.pieces(ids)
    if name == "published":
        assert (again.bos, again.eos, again.pad, again.system) == (0, 0, 0, "Be kind.")


@pytest.mark.parametrize("name", sorted(GPT2_SHAPED))
def test_a_folder_of_gpt2s_shape_is_one_of_hugging_face(name: str, tmp_path: Path) -> None:
    """Read by the loader that is held to GPT-2 written as loops, which knows nothing of nlmcore.json."""
    model, tokenizer = made(name), TOKENIZERS["byte pairs"]
    save_model(tmp_path, model, tokenizer)
    (tmp_path / "nlmcore.json").unlink()
    for theirs, theirs_tokenizer in (gpt2(tmp_path), load_model(tmp_path)):
        tolerance = 2e-2 if "half" in name else 1e-5
        torch.testing.assert_close(theirs(TOKENS)[0], model(TOKENS)[0].float(), atol=tolerance, rtol=tolerance)
        assert theirs_tokenizer.encode(TEXT) == tokenizer.encode(TEXT)
        assert theirs_tokenizer.eos == tokenizer.eos
    weights = load_file(tmp_path / "model.safetensors")
    assert weights["transformer.h.1.mlp.c_fc.weight"].shape == (12, 20), "(in, out)"
    assert ("lm_head.weight" in weights) == ("own" in name)


@pytest.mark.parametrize("name", ["byte pairs", "published"])
def test_the_library_tokenizers_reads_the_same_ids(name: str, tmp_path: Path) -> None:
    import tokenizers

    tokenizer: Any = TOKENIZERS[name]
    save_model(tmp_path, made("GPT"), tokenizer)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (TEXT, "be\n\n  be 12 'tis"):
        assert theirs.encode(text).ids == tokenizer.encode(text)
        if name == "byte pairs":
            assert theirs.decode(theirs.encode(text).ids) == text
    end = next(name for name, i in tokenizer.special_ids.items() if i == tokenizer.eos)
    assert theirs.encode(f"be{end}").ids[-1] == tokenizer.eos
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["eos_token"] == end


def test_matrices_that_lie_in_memory_as_decoding_wants_them_still_do(tmp_path: Path) -> None:
    model = made("Llama")
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.data = for_decoding(module.weight.data)
    again = load_model(save_model(tmp_path, model))[0]
    assert [p.stride() for p in again.parameters()] == [p.stride() for p in model.parameters()]
    assert torch.equal(again(TOKENS)[0], model(TOKENS)[0])


def adapted(model: Any) -> LoRA:
    adapter = LoRA(model, rank=2, alpha=5, where=lambda name: "attention" in name)
    for parameter in adapter.parameters():
        nn.init.normal_(parameter)
    return adapter.eval()


def test_an_adapter_is_saved_alone_and_fits_its_own_model_only(tmp_path: Path) -> None:
    adapter = adapted(made("Llama"))
    save_model(tmp_path, adapter)
    assert load_file(tmp_path / "model.safetensors").keys() == adapter.state_dict().keys()
    again, tokenizer = load_model(tmp_path, base=(made("Llama"), PUBLISHED))
    assert torch.equal(again(TOKENS)[0], adapter(TOKENS)[0])
    assert tokenizer is PUBLISHED
    with pytest.raises(TypeError, match=r"base must be \(model, tokenizer\).*got NoneType None"):
        load_model(tmp_path)
    for other in (made("GPT"), made("LSTM"), adapter):
        with pytest.raises(ValueError, match="base must be the model on which the adapter was trained"):
            load_model(tmp_path, base=(other, None))
    adapter.merge()
    with pytest.raises(ValueError, match=r"not merged, got one that is: unmerge\(\) it"):
        save_model(tmp_path, adapter)


def test_what_cannot_be_saved_is_refused_and_leaves_the_folder_alone(tmp_path: Path) -> None:
    whole = save_model(tmp_path / "mine", made("GRU"))
    before = {path.name: path.read_bytes() for path in whole.iterdir()}
    refused: list[tuple[Any, Any, type[Exception], str]] = [
        (nn.Linear(2, 3), None, TypeError, r"model must be one of .*RecurrentLM.*, or LoRA.*, got Linear: build"),
        (NGramLM(2, 5), None, TypeError, "model must be"),
        (made("GRU"), "text", TypeError, "tokenizer must be"),
        (
            TransformerLM(dataclasses.replace(GPT2, norm=lambda d_model: nn.LayerNorm(d_model))),
            None,
            ValueError,
            "cannot be written down: only what has a name",
        ),
    ]
    model = made("GPT")
    adapted(model)
    refused.append((model, None, TypeError, "got layers.0.attention.projection with an adapter: save the adapter"))
    for model, tokenizer, error, words in refused:
        with pytest.raises(error, match=words):
            save_model(whole, model, tokenizer)
    assert {path.name: path.read_bytes() for path in whole.iterdir()} == before
    (tmp_path / "half").mkdir()  # a folder in which writing was interrupted is written again
    (tmp_path / "half" / "model.safetensors").write_bytes(b"")
    assert load_model(save_model(tmp_path / "half", made("GRU")))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.json").write_text("{}")
    with pytest.raises(FileExistsError, match="another program's"):
        save_model(tmp_path / "theirs", made("GRU"))


def test_a_folder_that_lacks_something_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        load_model(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"has no nlmcore\.json: it is no folder of save_model"):
        load_model(tmp_path)
    folder = save_model(tmp_path / "mine", made("GRU"), TOKENIZERS["words"])
    description, weights = (folder / "nlmcore.json").read_text(), (folder / "model.safetensors").read_bytes()
    with pytest.raises(TypeError, match="base must be None"):
        load_model(folder, base=(made("GRU"), None))
    changed = {
        description[:50]: "no whole JSON file",
        description.replace('"nlmcore": 1', '"nlmcore": 9'): "has version 9; this nlmcore reads 1",
        description.replace('"arguments"', '"argument"'): "damaged or was changed by hand",
        description.replace('"d_hidden": 6', '"d_hidden": 8'): "damaged or was changed by hand.*size mismatch",
        description.replace("RecurrentLM", "Other"): "damaged or was changed by hand",
        **{
            json.dumps(json.loads(description) | {part: 5}): "damaged or was changed" for part in ("model", "tokenizer")
        },
    }
    for text, words in changed.items():
        assert text != description
        (folder / "nlmcore.json").write_text(text)
        with pytest.raises(ValueError, match=re.compile(words, re.S)):
            load_model(folder)
    (folder / "nlmcore.json").write_text(description)
    (folder / "model.safetensors").write_bytes(weights[:-9])
    with pytest.raises(ValueError, match="damaged"):
        load_model(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no model\.safetensors"):
        load_model(folder)


def test_a_file_runs_nothing(tmp_path: Path) -> None:
    folder = save_model(tmp_path, made("Llama"))
    file = folder / "nlmcore.json"
    written = file.read_text()
    touch = {"of": {"name": "torch.os.system"}, "args": [f"touch {tmp_path / 'was_here'}"], "keywords": {}}
    layer = {"of": {"name": "torch.nn.modules.linear.Linear"}, "args": [3, 3], "keywords": {}}
    for part, words in {
        '{"name": "os.system"}': "a part must be a layer or a function of nlmcore or torch, got 'os.system'",
        json.dumps({"made by": touch}): "got 'torch.os.system'",
        json.dumps({"made by": layer}): "must be a layer's class, got partial",
    }.items():
        changed = json.loads(written)
        changed["model"]["arguments"]["config"]["norm"] = json.loads(part)
        file.write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=words):
            load_model(folder)
    assert not (tmp_path / "was_here").exists()


def test_activations_of_every_kind_come_back(tmp_path: Path) -> None:
    for activation in (F.gelu, F.silu, F.softplus, torch.tanh, torch.square, torch.selu, nn.Tanh()):
        model = FeedForwardLM(V, 3, 5, 7, activation=activation).eval()
        again, _ = load_model(save_model(tmp_path, model))
        assert torch.equal(again(TOKENS)[0], model(TOKENS)[0])


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "nlmcore.json"])
def test_what_was_there_is_whole_until_the_new_model_is_on_the_disk(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, mode: str) -> Any:
        if name in str(path):
            raise OSError("no space left on device")
        return open(path, mode)

    save_model(tmp_path, made("GPT"), TOKENIZERS["byte pairs"])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(checkpoint, "open", full, raising=False)
    with pytest.raises(OSError, match="no space left"):
        save_model(tmp_path, made("GPT, dropout"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_who_is_stopped_between_the_new_files_leaves_no_half_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(old: Path, new: Path) -> None:
        if new.name == "nlmcore.json":
            raise KeyboardInterrupt
        replace(old, new)

    replace = os.replace
    save_model(tmp_path, made("GPT"))
    for name in ("GPT", "GRU"):
        monkeypatch.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            save_model(tmp_path, made(name))
        assert not (tmp_path / "nlmcore.json").exists()
    with pytest.raises(FileNotFoundError, match=r"has no nlmcore\.json"):
        load_model(tmp_path)
    monkeypatch.setattr(os, "replace", replace)
    load_model(save_model(tmp_path, made("GPT")))  # the folder is still ours


def test_another_model_in_the_same_folder_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    save_model(tmp_path, made("GPT"), TOKENIZERS["byte pairs"])
    save_model(tmp_path, made("GRU"), TOKENIZERS["words"])
    assert {path.name for path in tmp_path.iterdir()} == {"nlmcore.json", "model.safetensors"}
