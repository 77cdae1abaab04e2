"""What needs no program: `python -m nlmcore train mine.txt`, then `write` and `chat`. `--help` says the rest."""

import argparse
import io
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["main"]

_ABOUT = """\
Train a small language model on a text of yours, let it write, and talk to it in your browser.

  python -m nlmcore train mine.txt           trains on the text and makes the folder mine
  python -m nlmcore write mine "Once upon"   writes on, to the screen
  python -m nlmcore chat mine                opens a page on this computer

A folder of GPT-2 in Hugging Face's layout can write and chat too. The name smollm2 stands for a model that was trained
to answer, if its package is installed."""

_TRAIN = """\
Trains a GPT on a plain text file (UTF-8). With the defaults, on a text of 600 kB (a long novel), it takes five to six
minutes of processor time, on two free cores about half of that. It then writes words and half sentences in the manner
of the text; it does not become a model that knows or answers. Ctrl-C stops early and keeps what was learned so far;
--resume goes on."""


def main(arguments: list[str] | None = None) -> int:
    """Exit 0: done; 1: it could not be done, and a line says why; 2: misuse."""
    options = vars(_parser().parse_args(arguments))
    command, debug = options.pop("command"), options.pop("debug")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a model may write what a screen cannot show
    try:
        return {"train": _train, "write": _write, "chat": _chat}[command](**options)  # type: ignore[operator]
    except KeyboardInterrupt:
        print()
        return 130
    except BrokenPipeError:  # as by `| head`, which has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError, TypeError, ImportError, ArithmeticError, MemoryError, RuntimeError) as error:
        if debug:
            raise
        words = [str(part) for name in ("strerror", "filename") if (part := getattr(error, name, None))]
        print(f"nlmcore {command}: {': '.join(words) or error}", file=sys.stderr)
        return 1


def _between(low: int, high: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        if not low <= (number := int(text)) <= high:
            raise argparse.ArgumentTypeError(f"must be an integer from {low} to {high}, got {number}")
        return number

    return integer


def _parser() -> argparse.ArgumentParser:
    kind: Any = argparse.RawDescriptionHelpFormatter
    seeds = _between(0, 2**64 - 1)
    parser = argparse.ArgumentParser("python -m nlmcore", description=_ABOUT, formatter_class=kind)
    parser.add_argument("--debug", action="store_true", help="show where in the program an error arose")
    commands = parser.add_subparsers(dest="command", required=True, metavar="train | write | chat")

    train = commands.add_parser("train", help="a text file becomes a model", description=_TRAIN, formatter_class=kind)
    train.add_argument("file", help="the text")
    train.add_argument("--to", metavar="FOLDER", help="where the model goes (default: the text's name)")
    train.add_argument("--resume", action="store_true", help="go on with a training that was stopped")
    whole: dict[str, Any] = {"type": int, "metavar": "N"}
    train.add_argument("--steps", **whole, help="how often the weights are updated (default: 1000)")
    train.add_argument("--layers", **whole, dest="n_layers", help="of the Transformer (default: 4)")
    train.add_argument("--width", **whole, dest="d_model", help="d_model, a multiple of --heads (default: 128)")
    train.add_argument("--heads", **whole, dest="n_heads", help="of attention (default: 4)")
    tokens: dict[str, Any] = {"type": _between(259, 0x110000), "metavar": "N", "dest": "vocab_size"}
    train.add_argument("--vocabulary", **tokens, help="tokens, learned from the text, 259 or more (default: 512)")
    train.add_argument("--context", **whole, help="tokens that the model sees at once (default: 128)")
    train.add_argument("--batch", **whole, dest="batch_size", help="texts per step (default: 16)")
    train.add_argument("--rate", type=float, dest="learning_rate", metavar="R", help="learning rate (default: 0.002)")
    train.add_argument("--dropout", type=float, metavar="P", help="0.1 or 0.2 for a short text (default: 0)")
    train.add_argument("--seed", type=seeds, metavar="N", help="another one gives another model (default: 0)")

    write = commands.add_parser("write", help="a model writes on")
    write.add_argument("folder", help="what train made, or smollm2")
    write.add_argument("prompt", nargs="?", default="\n", help="the text to begin with")
    write.add_argument("--tokens", type=int, default=300, metavar="N", help="at most so many (default: 300)")
    write.add_argument("--seed", type=seeds, metavar="N", help="the same text again")
    chat = commands.add_parser("chat", help="talk to a model in the browser")
    chat.add_argument("folder", help="what train made, or smollm2")
    chat.add_argument(
        "--port", type=_between(0, 65535), default=8000, metavar="N", help="0: any that is free (default: 8000)"
    )
    chat.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    for command in (write, chat):
        command.add_argument("--temperature", type=float, default=0.8, metavar="T", help="0: no chance (default: 0.8)")
        command.add_argument(
            "--top-p", type=float, default=0.95, metavar="P", help="drop what is improbable (default: 0.95)"
        )
    return parser


def _train(file: str, to: str | None, resume: bool, **options: Any) -> int:
    from nlmcore.tool.training import CHECKPOINT, train_file

    folder = Path(to or Path(file).stem)
    given = {name: value for name, value in options.items() if value is not None}
    if not to and folder == Path(file):
        folder = Path(f"{file}-model")
    try:
        model, _, history = train_file(file, folder, resume=resume, **given)
    except FileExistsError as error:
        ways = "--resume or --to" if (folder.expanduser() / CHECKPOINT).exists() else "--to"
        raise FileExistsError(f"{error}: on the command line, {ways}") from None
    size = sum(parameter.numel() for parameter in model.parameters())
    print(f"{folder}: {size:,} parameters, {history.steps} steps, {history.seconds:.0f} s, held-out loss", end=" ")
    print(f"{history.validation[history.best_step]:.3f} nats per token" if history.best_step else "not measured yet")
    if history.stopped == "interrupted":
        again = [word for word in sys.argv[1:] if word != "--resume"]
        print(f"stopped early; to go on: python -m nlmcore {shlex.join(again)} --resume")
    print(f"try: python -m nlmcore write {shlex.quote(str(folder))}, or chat")
    return 0


def _load(folder: str) -> tuple[Any, Any]:
    """A folder's model, or SmolLM2; an adapter without another base is taken to be SmolLM2's."""
    from nlmcore.pretrained import smollm2
    from nlmcore.tool.saved import is_adapter, load_model

    if folder == "smollm2" and not Path(folder).exists():
        return smollm2()
    model, tokenizer = load_model(folder, base=smollm2() if is_adapter(folder) else None)
    if tokenizer is None:
        raise ValueError(f"{folder} has no tokenizer: save it with one, by save_model(folder, model, tokenizer)")
    return model, tokenizer


def _write(folder: str, prompt: str, tokens: int, seed: int | None, **sampling: Any) -> int:
    import torch

    from nlmcore.tool.text import can_chat, write_text

    model, tokenizer = _load(folder)
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    answers = can_chat(tokenizer) and prompt.strip()
    asked: Any = [{"role": "user", "content": prompt}] if answers else prompt
    if not answers:
        print(prompt, end="", flush=True)
    for piece in write_text(model, tokenizer, asked, tokens, generator=generator, **sampling):
        print(piece, end="", flush=True)
    print()
    return 0


def _chat(folder: str, port: int, no_browser: bool, **sampling: Any) -> int:
    from nlmcore.tool.chat_page import serve

    loaded = _load(folder)
    try:
        serve(*loaded, name=Path(folder).name, port=port, open_browser=not no_browser, **sampling)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(
            f"port {port} cannot be used ({reason}): give another by --port, or 0 for any free one"
        ) from error
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
