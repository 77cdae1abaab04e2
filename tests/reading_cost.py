"""What a model costs a reader: files and lines, by following every name from the model's class.

    python -m tests.reading_cost            a table of all models
    python -m tests.reading_cost GPT        which definitions it is made of

From a class on, every name of ours that stands in it is looked up, and in that one again: classes, functions and
constants count whole, docstrings included, and each file's docstring and imports once. What checks (modules called
`checks`, functions called check_…) and what is there for speed alone (`nlmcore.fast`) are counted apart, because a
reader may skip them.
"""

import ast
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MODELS = {
    "n-gram": ("nlmcore.ngram", "NGramLM"),
    "Bengio": ("nlmcore.feedforward", "FeedForwardLM"),
    "ConvLM": ("nlmcore.convolutional", "ConvLM"),
    "LSTM LM": ("nlmcore.recurrent", "RecurrentLM"),
    "Seq2Seq with attention": ("nlmcore.seq2seq", "Seq2Seq"),
    "GPT": ("nlmcore.transformer", "TransformerLM"),
    "encoder-decoder": ("nlmcore.transformer", "EncoderDecoder"),
}
HEAD = ("| model | files | lines | checks | for speed |", "|---|---|---|---|---|")


class Module(NamedTuple):
    """One file: its definitions by name, what it imports of ours, and how many lines stand before them."""

    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, tuple[str, str]]
    head: int


class Cost(NamedTuple):
    files: int
    lines: int
    checks: int
    fast: int


@cache
def module(name: str) -> Module:
    path = ROOT / Path(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    definitions: dict[str, list[ast.stmt]] = {}
    imports: dict[str, tuple[str, str]] = {}
    head = 0
    for i, node in enumerate(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            head += lines(node)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nlmcore"):
                imports |= {a.asname or a.name: (node.module or "", a.name) for a in node.names}
        elif i == 0:
            head += lines(node)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            definitions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        definitions.setdefault(part.id, []).append(node)
    return Module(definitions, imports, head)


def lines(node: ast.stmt) -> int:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return (node.end_lineno or node.lineno) - first + 1


def reached(start: tuple[str, str]) -> dict[tuple[str, str], int]:
    """(module, name) of every definition that is met from `start` on, and its lines."""
    found: dict[tuple[str, str], int] = {}
    waiting = [start]
    while waiting:
        where, name = waiting.pop()
        file = module(where)
        if name in file.imports:
            waiting.append(file.imports[name])
        elif name in file.definitions and (where, name) not in found:
            nodes = file.definitions[name]
            found[where, name] = sum(map(lines, nodes))
            waiting += [(where, n.id) for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)]
    return found


def cost(model: str) -> Cost:
    found = reached(MODELS[model])

    kinds: dict[str, dict[str, int]] = {"lines": {}, "checks": {}, "fast": {}}
    for (where, name), size in found.items():
        checks = where.endswith(".checks") or name.startswith("check_")
        kind = "fast" if where.startswith("nlmcore.fast") else "checks" if checks else "lines"
        kinds[kind][where] = kinds[kind].get(where, 0) + size
    read = kinds["lines"]
    heads = {kind: [name for name in kinds[kind] if kind == "lines" or name not in read] for kind in kinds}
    total = {kind: sum(kinds[kind].values()) + sum(module(name).head for name in heads[kind]) for kind in kinds}
    return Cost(len(read), total["lines"], total["checks"], total["fast"])


def table() -> str:
    costs = {model: cost(model) for model in MODELS}
    return "\n".join([*HEAD, *(f"| {model} | {' | '.join(map(str, costs[model]))} |" for model in MODELS)])


def main(models: list[str]) -> None:
    if not models:
        print(table())
    for model in models:
        for (where, name), size in sorted(reached(MODELS[model]).items()):
            print(f"{size:5}  {where}.{name}")


if __name__ == "__main__":
    main(sys.argv[1:])
