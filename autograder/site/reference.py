"""The pages of the package: what each module of nlmcore says of itself, and its code, read without running it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.site.prose import Writer
from autograder.site.sheet import code

PACKAGE = "nlmcore"
PAGE = f"{PACKAGE}/index.html"
HEAD = """\
# The package: nlmcore

It implements every model and every decoding algorithm of the course, to be read and to be used: `pip install ./nlmcore`
in a copy of the course. Each page has what its modules say of themselves, with equations, shapes and sources, and the
code, folded.
"""
_SPECIAL = re.compile(r"(``?[^`]+``?|\*\*\S.*?\S\*\*)|([*_$<\[\]\\])")
"""In a docstring: code and bold words, which stay, and what means itself there, but not in Markdown."""


def addresses(root: Path) -> dict[str, Path]:
    """Page -> the module or the package that it is about."""
    paths = [path for path in sorted((root / PACKAGE).iterdir()) if not path.name.startswith("_")]
    modules = [path for path in paths if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return {f"{PACKAGE}/{path.stem}.html": path for path in modules}


def contents(root: Path) -> str:
    """The list of all pages, in Markdown."""

    def told(path: Path) -> str:
        source = path if path.is_file() else path / "__init__.py"
        return said(ast.parse(source.read_text(encoding="utf-8")))

    def line(path: Path) -> str:
        first = " ".join(told(path).partition("\n\n")[0].split())
        return f"- [{PACKAGE}.{path.stem}]({path.stem}.html): {first}"

    return "\n".join([HEAD, told(root / PACKAGE), "\n## Its parts\n", *map(line, addresses(root).values()), ""])


def said(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> str:
    """The docstring, in Markdown."""
    return as_markdown(ast.get_docstring(node) or "")


def body(path: Path, root: Path, writer: Writer) -> str:
    """One page as HTML."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"), key=lambda file: (file.stem != "__init__", file))
    parts = [writer.markdown(f"# {PACKAGE}.{path.stem}")]
    for file in files:
        if file.stem.startswith("_") and file.stem != "__init__":
            continue
        source, own = file.read_text(encoding="utf-8"), file == files[0]
        tree = ast.parse(source)
        if not own:
            module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            parts.append(writer.markdown(f"## {module}"))
        parts.append(writer.markdown(said(tree)))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                parts += _definition(node, source, "##" if own else "###", writer)
    return "\n".join(parts)


def _definition(node: ast.FunctionDef | ast.ClassDef, source: str, level: str, writer: Writer) -> Iterator[str]:
    """Its name, how it is called, what it says, its public methods with their first paragraph, and the code."""
    yield writer.markdown(f"{level} {as_markdown(node.name)}")
    yield code(in_lines(head(node)))
    yield writer.markdown(said(node))
    methods = ""
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            told = said(part).partition("\n\n")[0].replace("\n", " ")
            methods += f"- `{head(part)}`{': ' if told else ''}{told}\n"
    if methods:
        yield writer.markdown(methods)
    yield code(ast.get_source_segment(source, node) or "", folded=True)


def head(node: ast.FunctionDef | ast.ClassDef) -> str:
    """`name(arguments) -> what`, as it is written."""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        made = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
        taken = f"({_without_self(made.args)})" if made else ""
        return f"class {node.name}{taken}" + (f"  # a {bases}" if bases else "")
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({_without_self(node.args)}){gives}"


def in_lines(call: str, most: int = 88) -> str:
    """A long call with one argument in each line."""
    name, bracket, rest = call.partition("(")
    if len(call) <= most or not bracket:
        return call
    depth, parts = 0, [""]
    for at, letter in enumerate(rest):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return f"{name}(\n    " + ",\n    ".join(part.strip() for part in parts) + f",\n{rest[at:]}"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return call


def _without_self(arguments: ast.arguments) -> str:
    return re.sub(r"(?<=[\w\])])=(?=\S)", " = ", re.sub(r"^self(, )?", "", ast.unparse(arguments)))


def as_markdown(docstring: str) -> str:
    """A docstring's words as they stand: indented lines and quoted words are code, nothing else is special."""
    return "\n".join(
        line if line.startswith("    ") else _SPECIAL.sub(lambda found: found[1] or f"\\{found[2]}", line)
        for line in docstring.split("\n")
    )
