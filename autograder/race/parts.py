"""The five parts of an entry, and which of them are borrowed. What the text of an entry names openly is there; all
else of ours is left out of the sandbox, so a part that an entry hides from us it does not have either."""

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence

from autograder.question.rooms import rooms
from autograder.race.rules import PARTS
from autograder.sandbox.inside.needed import needed

FUNCTIONS = ("train", "encode", "log_probabilities", "write")
"""What an entry is."""
PACKAGES = (
    *("torch", "numpy", "scipy", "einops", "regex", "tokenizers", "safetensors", "jaxtyping", "tqdm"),
    *("ipython", "ipywidgets", "matplotlib", "latex2mathml"),
)
"""With what they require, all that an entry finds installed: nothing with a text or with weights."""
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
_CELLS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
PYTORCH = {
    "optimiser": ("optim.Optimizer",),
    "model": (
        *("nn.RNNBase", "nn.RNNCellBase", "nn.MultiheadAttention", "nn.Transformer"),
        *("nn.TransformerEncoder", "nn.TransformerEncoderLayer", "nn.TransformerDecoder", "nn.TransformerDecoderLayer"),
        *(f"{at}{cell}{one}" for at in ("", "_VF.") for cell in _CELLS for one in ("", "_cell")),
        "nn.functional.multi_head_attention_forward",
    ),
}
"""What of PyTorch is a part: it cannot be left out, so it refuses."""
_LAYERS = re.compile(
    r"torch\.(.*\.)?((RNN|LSTM|GRU)(Base|Cell|CellBase)?|Transformer\w*|MultiheadAttention|(lstm|gru|rnn_tanh|rnn_relu)(_cell)?"
    r"|multi_head_attention_forward)"
)


def read(cells: Sequence[str]) -> tuple[list[str], list[str]]:
    """The code cells of an entry as plain Python, and the parts of ours that they use, in the order of PARTS."""
    cells = [_plain(cell) for cell in cells]
    kept = needed(cells, [], FUNCTIONS, lambda source: source)
    used = {*_names(kept.values())}
    found = {part for part, modules in MODULES.items() for module in modules if any(_in(name, module) for name in used)}
    if any(_LAYERS.fullmatch(name) for name in used):
        found.add("model")
    return cells, [part for part in PARTS if part in found]


def left_out(parts: Sequence[str]) -> tuple[str, ...]:
    """What is not in the sandbox if these parts are borrowed: what would be the other parts, except for modules on
    which a borrowed one is built."""
    needs = rooms()
    open_ = {name.removeprefix("nlmcore.") for part in parts for name in MODULES[part]}
    while more := {need for room in open_ for need in needs.get(room, ())} - open_:
        open_ |= more
    own = (name for part, names in MODULES.items() if part not in parts for name in names)
    return tuple(name for name in own if not name.startswith("torch.") and name.removeprefix("nlmcore.") not in open_)


def refusing(parts: Sequence[str]) -> str:
    """A cell after which PyTorch's own parts refuse, if they are not among the borrowed ones."""
    names = [name for part, of in PYTORCH.items() if part not in parts for name in of]
    return f"""
def race_refuses():
    import operator, torch
    def refuse(*given, **named):
        raise ImportError("a part of PyTorch's that the code does not name openly")
    for name in {names!r}:
        above, _, last = name.rpartition(".")
        kind = operator.attrgetter(name)(torch)
        if isinstance(kind, type):
            kind.__init__ = refuse
        else:
            setattr(operator.attrgetter(above)(torch) if above else torch, last, refuse)
race_refuses()
"""


def _in(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _plain(cell: str) -> str:
    """Without magics: `%%time` above a function hides it, and elsewhere they become calls."""
    from IPython.core.inputtransformer2 import TransformerManager

    with contextlib.suppress(Exception):  # no Python: the sandbox says so
        return TransformerManager().transform_cell(re.sub(r"\A\s*%%(time|capture|prun)\b.*\n", "\n", cell))
    return cell


def _names(sources: Iterable[str]) -> Iterator[str]:
    """Dotted names that are imported, and attributes of them, under their full names."""
    trees = []
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # it does not run either
            trees.append(ast.parse(source))
    known: dict[str, str] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            known |= {one.asname: one.name for one in node.names if one.asname}
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            yield from (f"{node.module}.{one.name}" for one in node.names)
    for node in (node for tree in trees for node in ast.walk(tree)):
        rest: list[str] = []
        while isinstance(node, ast.Attribute):
            rest, node = [node.attr, *rest], node.value  # type: ignore[assignment]
        if rest and isinstance(node, ast.Name):
            yield ".".join((known.get(node.id, node.id), *rest))
