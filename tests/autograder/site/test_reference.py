"""The pages of the package: everything public is there, and a docstring means what it means in the code."""

import ast
import html
import re
from pathlib import Path

import pytest

from autograder.site import reference
from autograder.site.prose import Pages, Writer

ROOT = Path(__file__).resolve().parents[3]
PAGES = reference.addresses(ROOT)


@pytest.fixture(scope="module")
def bodies() -> dict[str, str]:
    return {to: reference.body(path, ROOT, Writer(Pages({}), to, to)) for to, path in PAGES.items()}


def test_everything_public_is_on_its_page(bodies: dict[str, str]) -> None:
    for to, path in PAGES.items():
        for file in [path] if path.is_file() else path.rglob("*.py"):
            if file.stem.startswith("_") and file.stem != "__init__":
                continue
            for node in ast.parse(file.read_text("utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                    assert re.search(rf"<h[23] id=[^>]*>{node.name}</h[23]>", bodies[to]), f"{to}: {node.name}"


def test_the_list_leads_to_every_page() -> None:
    listed = re.findall(r"\]\((\w+\.html)\)", reference.contents(ROOT))
    assert [f"{reference.PACKAGE}/{to}" for to in listed] == list(PAGES)


def test_a_docstring_means_what_it_means_in_the_code() -> None:
    told = "x_t * y_t, <bos> and [1] cost $5; `a_b` is **loud**.\n\n    y = W * x\n"
    made = Writer(Pages({}), "a", "b").markdown(reference.as_markdown(told))
    words = html.unescape(re.sub(r"<[^>]+>", "", made))
    assert words.split() == told.replace("`", "").replace("**", "").split()
    assert "<code>a_b</code>" in made
    assert "<strong>loud</strong>" in made
    assert "<pre>" in made


def test_a_call_is_written_as_it_is_made() -> None:
    short, long = (
        ast.parse(f"def f(self, a: int = 1, *, {extra}b: str | None = None) -> None: ...").body[0]
        for extra in ("", "".join(f"argument_{i}: tuple[int, str] = (1, ''), " for i in range(4)))
    )
    assert isinstance(short, ast.FunctionDef)
    assert isinstance(long, ast.FunctionDef)
    assert reference.in_lines(reference.head(short)) == "f(a: int = 1, *, b: str | None = None) -> None"
    lines = reference.in_lines(reference.head(long)).split("\n")
    assert (lines[0], lines[1], lines[-2:]) == ("f(", "    a: int = 1,", ["    b: str | None = None,", ") -> None"])
    assert len(lines) == 9
