"""An otter master with one of everything."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell


def case(source: str, shown: str = "") -> nbformat.NotebookNode:
    outputs = [new_output("execute_result", {"text/plain": shown}, execution_count=1)] if shown else []
    return new_code_cell(source, outputs=outputs)


def raw(*lines: str) -> nbformat.NotebookNode:
    return new_raw_cell("\n".join(lines))


MASTER = [
    raw("# ASSIGNMENT CONFIG", "files:", "  - data.csv", "  - gone.csv", "plugins:", "  - otter.plugins.GoogleSheets"),
    new_code_cell("import nosuchpackage_at_all\nrows = open('data.csv').read().split()"),
    new_markdown_cell("```otter\n# BEGIN QUESTION\nname: q1\npoints: 5\n```"),
    new_markdown_cell("Write `square`."),
    raw("# BEGIN SOLUTION"),
    new_code_cell(
        "def square(x):\n    y = x * x # SOLUTION\n    return y # SOLUTION\n\nnine = square(3) # SOLUTION\nprint(nine)"
    ),
    raw("# END SOLUTION"),
    raw("# BEGIN TESTS"),
    case('""" # BEGIN TEST CONFIG\npoints: 1\nfailure_message: Not nine.\n""" # END TEST CONFIG\nnine', "9"),
    case("# HIDDEN\nx = 16\nsquare(x)", "256"),
    case("# HIDDEN\nfor i in range(2):\n    print(square(i))", ""),
    raw("# END TESTS"),
    raw("# END QUESTION"),
    raw("# BEGIN QUESTION", "name: q 2", "manual: true", "points: 2"),
    new_markdown_cell("Why?"),
    raw("# BEGIN SOLUTION"),
    new_markdown_cell("Because."),
    raw("# END SOLUTION"),
    raw("# END QUESTION"),
]
MASTER[10].outputs = [new_output("stream", name="stdout", text="0\n1\n")]


def write(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.csv").write_text("1 2 3\n")
    nbformat.write(new_notebook(cells=MASTER), folder / "hw01.ipynb")
    return folder / "hw01.ipynb"
