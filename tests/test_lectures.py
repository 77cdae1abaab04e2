"""Every lecture runs from top to bottom without a network, within its time, in silence, and every picture has words.

The executed notebooks and the seconds per cell are left under artefacts/lectures/.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from autograder.course import notebooks, text
from autograder.course.notebooks import Pair

ROOT = Path(__file__).resolve().parents[1]
LECTURES = [pair for pair in notebooks.pairs(ROOT) if pair.text.parent.name == "lectures"]
LECTURE_SECONDS, CELL_SECONDS = 60.0, 20.0
"""What a lecture and a cell may take on two cores. NLM_TIME_FACTOR=2 doubles both, for a slow or busy machine."""


def without_network() -> list[str]:
    """A prefix that runs a command in a network namespace of its own; empty where the system has no such thing."""
    for prefix in (["unshare", "-n"], ["unshare", "-rn"]):
        if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            return prefix
    return []


class Pictures(HTMLParser):
    """Pictures in HTML that nothing describes: `<img>` without alt, `<svg>` and `<canvas>` without a label.

    A picture inside an element with role="img" and a label belongs to it and needs no words of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.nameless: list[str] = []
        self.inside: list[str] = []
        """Open elements, from the described picture inwards."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = {name: (value or "").strip() for name, value in attrs}
        label = have.get("alt") if tag == "img" else have.get("aria-label") or have.get("aria-labelledby")
        is_picture = tag in ("img", "svg", "canvas") or have.get("role") == "img"
        described = is_picture and (label or have.get("aria-hidden") == "true")
        if self.inside or described:
            self.inside.append(tag)
        elif is_picture:
            self.nameless.append(self.get_starttag_text() or tag)
        if self.inside and self.inside[-1] in ("img", "br", "input", "hr"):
            self.inside.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            del self.inside[len(self.inside) - 1 - self.inside[::-1].index(tag) :]


def nameless_in_html(html: str) -> list[str]:
    parser = Pictures()
    parser.feed(html)
    return parser.nameless


def nameless_pictures(cell) -> list[str]:
    """Pictures of a cell, in its outputs or its text, that a blind reader is told nothing about."""
    found = []
    if cell.cell_type == "markdown":
        found += [f"![]({target})" for target in re.findall(r"!\[\s*\]\(([^)]*)\)", cell.source)]
        return found + nameless_in_html(cell.source)
    for output in cell.get("outputs", []):
        data, about = output.get("data", {}), output.get("metadata", {})
        if "text/html" in data:
            found += nameless_in_html(data["text/html"])
            continue  # the browser shows this one, whatever else is offered
        for kind in [kind for kind in data if kind.startswith("image/")]:
            described = about.get("alt") or about.get(kind, {}).get("alt")
            if not described and (kind != "image/svg+xml" or nameless_in_html(data[kind])):
                found.append(kind)
    return found


def nameless_widgets(notebook) -> list[str]:
    """Pictures without words that live widgets show: their content is in the notebook's widget state."""
    found = []
    saved = notebook.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    for model in saved.values():
        if model["model_name"] in ("HTMLModel", "HTMLMathModel"):
            found += nameless_in_html(model["state"].get("value") or "")
        elif model["model_name"] == "ImageModel":
            found.append("an Image widget has no alternative text; show the picture in an HTML widget")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("pair", LECTURES, ids=lambda pair: pair.text.stem)
def test_a_lecture_runs_from_top_to_bottom(pair: Pair, tmp_path: Path, artefacts: Path) -> None:
    # The lecture's own folder is copied: it may read what lies beside it, and what it writes is not left in the tree.
    folder = tmp_path / "lectures"
    shutil.copytree(pair.text.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints"))
    path, result = folder / pair.notebook.name, tmp_path / "result.json"
    path.write_text(text.as_json(text.from_text(pair.text.read_text(encoding="utf-8"), ROOT)), encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    environ = {**os.environ, "HOME": str(home), "OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT)}
    environ |= {"IPYTHONDIR": str(home / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1", "MPLCONFIGDIR": str(home / "mpl")}
    cut = without_network()
    line = [*cut, sys.executable, "-m", "tests.lecture_runner", str(path), str(result)]
    done = subprocess.run(line, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=600)
    assert result.exists(), done.stderr[-3000:]
    report = json.loads(result.read_text())
    kept = artefacts / "lectures"
    kept.mkdir(exist_ok=True)
    shutil.copy(path, kept)
    (kept / f"{pair.text.stem}.json").write_text(json.dumps(report, indent=1))

    notebook = nbformat.read(path, as_version=4)
    cells = notebook.cells
    slowest = sorted(report["cells"].items(), key=lambda item: -item[1])[:8]
    print(f"\n{pair.text.stem}: {report['seconds']:.1f} s, network {'cut' if report['network_cut'] else 'NOT cut'}")
    for index, seconds in slowest:
        print(f"  {seconds:6.2f} s  {' '.join(cells[int(index)].source.split())[:90]}")

    assert bool(cut) == report["network_cut"]
    for cell in (cell for cell in cells if cell.cell_type == "code"):
        for output in cell.outputs:
            assert output.output_type != "error", f"{cell.source}\n\n" + "\n".join(output.get("traceback", []))
            assert output.get("name") != "stderr", f"{cell.source}\n\nwrote to stderr:\n{output.get('text')}"
        assert cell.execution_count is not None or not cell.source.strip(), f"not run:\n{cell.source}"
    for cell in cells:
        assert not nameless_pictures(cell), f"a picture without alternative text:\n{cell.source[:500]}"
    assert not nameless_widgets(notebook), nameless_widgets(notebook)

    factor = float(os.environ.get("NLM_TIME_FACTOR", "1"))
    for index, seconds in slowest[:1]:
        assert seconds <= CELL_SECONDS * factor, f"{seconds:.1f} s for one cell:\n{cells[int(index)].source}"
    assert report["seconds"] <= LECTURE_SECONDS * factor, f"the lecture takes {report['seconds']:.1f} s"


def test_there_are_lectures() -> None:
    assert LECTURES


def code(source: str = "x", **output):
    return nbformat.v4.new_code_cell(source, outputs=[nbformat.v4.new_output("display_data", **output)])


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        (code(data={"image/png": "aGk="}), 1),
        (code(data={"image/png": "aGk="}, metadata={"image/png": {"alt": "a heat map"}}), 0),
        (code(data={"text/html": "<p>words</p>"}), 0),
        (code(data={"text/html": '<img src="a.png">'}), 1),
        (code(data={"text/html": '<img src="a.png" alt=" ">'}), 1),
        (code(data={"text/html": '<img src="a.png" alt="a tree"/>', "image/png": "aGk="}), 0),
        (code(data={"text/html": "<div><svg><rect/></svg></div>"}), 1),
        (code(data={"text/html": '<svg role="img" aria-label="a tree"><rect/></svg>'}), 0),
        (code(data={"text/html": '<div role="img" aria-label="a tree"><svg><g></g></svg><img src="b"></div>'}), 0),
        (code(data={"text/html": '<div role="img" aria-label="a"><svg/></div><svg></svg>'}), 1),
        (code(data={"text/html": '<svg aria-hidden="true"></svg>'}), 0),
        (code(data={"image/svg+xml": '<svg aria-label="a tree"></svg>'}), 0),
        (code(data={"image/svg+xml": "<svg></svg>"}), 1),
        (nbformat.v4.new_markdown_cell("![](a.png) ![a tree](b.png)"), 1),
        (nbformat.v4.new_markdown_cell('<img src="a.png" alt="a tree">'), 0),
    ],
)
def test_pictures_without_words_are_found(cell, count: int) -> None:
    assert len(nameless_pictures(cell)) == count
