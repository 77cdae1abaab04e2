"""How many turns of phrase a technical editor would strike, per 10,000 words of the course's prose.

    python -m tests.plain_english            the rate, the worst files, the most frequent patterns
    python -m tests.plain_english FILE …     also every hit in these files

Prose is the text cells of lectures and solutions, the sentences of mistakes, instructors' notes, README and its like,
and docstrings, all without code, formulas, links and sources. `plain_english.txt` has the patterns. They find a third
of what a reader stumbles over, so read your paragraph aloud as well.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from autograder.assignments import CODE

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 20.0  # per 10,000 words
LEFT_OUT = (
    (r"\*\*Sources\.\*\*.*?(?=\n\n|\Z)", ""),
    (r"```.*?```", " "),
    (r"\$\$.*?\$\$", " X "),
    (r"\$[^$\n]+\$", "X"),
    (r"<!--.*?-->", ""),
    (r"<img[^>]*>|</?[a-z]\w*[^<>]*>", " "),
    (r"`[^`]*`", "X"),
    (r"\]\([^)]*\)", "]"),
    (r"(?m)^\s*>\s?", ""),
    (r"\n\s*\n", " | "),
    (r"\s+", " "),
)


def patterns() -> dict[str, re.Pattern[str]]:
    lines = (ROOT / "tests" / "plain_english.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {name: re.compile(pattern) for name, pattern in rows}


def prose(root: Path) -> Iterator[tuple[Path, str]]:
    """Every file that holds prose, with its prose."""
    for path in sorted([*root.glob("lectures/*.py"), *root.glob("solutions/*/*.py")]):
        yield path, _cells(path.read_text(encoding="utf-8"))
    pages = ("*.md", "*/*.md", "autograder/guide/*.md", "solutions/*/*.md")
    for path in sorted(path for page in pages for path in root.glob(page)):
        yield path, path.read_text(encoding="utf-8")
    declared = (path for part in CODE for path in root.glob(f"solutions/*/{part}"))
    for path in sorted([*root.glob("nlmcore/**/*.py"), *root.glob("autograder/**/*.py"), *declared]):
        yield path, "\n\n".join(_strings(ast.parse(path.read_text(encoding="utf-8"))))


def _cells(text: str) -> str:
    cells = re.split(r"(?m)^# %%", text)
    return "\n\n".join(re.sub(r"(?m)^# ?", "", cell.partition("\n")[2]) for cell in cells if "[markdown]" in cell[:40])


def _strings(tree: ast.Module) -> Iterator[str]:
    """Docstrings, and the text of `mistakes=` without its edits."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.keyword) and node.arg == "mistakes":
            texts = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            yield re.sub(r"(?m)^([-*^+] .*|or|after: .*|looks like: .*)$", "", "\n".join(texts))


def main(asked: list[str]) -> int:
    found = patterns()
    words, files, names = 0, [], Counter[str]()
    for path, text in prose(ROOT):
        for pattern, instead in LEFT_OUT:
            text = re.sub(pattern, instead, text, flags=re.DOTALL)
        hits = sorted(
            ((hit, name) for name, p in found.items() for hit in p.finditer(text)), key=lambda h: h[0].start()
        )
        for hit, name in hits if str(path) in {str(Path(a).resolve()) for a in asked} else ():
            start, end = hit.span()
            print(f"{text[max(0, start - 50) : start]}[{hit.group()}]{text[end : end + 40]}\n    {name}")
        words += len(text.split())
        names.update(name for _, name in hits)
        files.append((len(hits), path.relative_to(ROOT).as_posix()))
    rate = 1e4 * names.total() / words
    print("most hits:", ", ".join(f"{name} {count}" for count, name in sorted(files, reverse=True)[:5]))
    for name, count in names.most_common(8):
        print(f"  {count:4}  {name}")
    print(f"{names.total()} in {words} words: {rate:.1f} per 10,000 (at most {LIMIT:g})")
    return int(rate > LIMIT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
