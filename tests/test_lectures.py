"""Every lecture runs from top to bottom without a network, within its time, in silence, and every picture has words.

The executed notebooks and the seconds per cell are left under artefacts/lectures/.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.launcher import notebooks, text
from autograder.launcher.notebooks import Pair
from tests import lecture_outputs
from tests.pictures import nameless_pictures, nameless_widgets

ROOT = Path(__file__).resolve().parents[1]
LECTURES = [pair for pair in notebooks.pairs(ROOT) if pair.text.parent.name == "lectures"]
LECTURE_SECONDS, CELL_SECONDS = 60.0, 20.0
"""What a lecture and a cell may take on one core. NLM_TIME_FACTOR=2 doubles both, for a slow or busy machine."""


def without_network() -> list[str]:
    """A prefix that runs a command in a network namespace of its own; empty where the system has no such thing."""
    for prefix in (["unshare", "-n"], ["unshare", "-rn"]):
        if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            return prefix
    return []


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("pair", LECTURES, ids=lambda pair: pair.text.stem)
def test_a_lecture_runs_from_top_to_bottom(pair: Pair, tmp_path: Path, artefacts: Path) -> None:
    # The lecture's own folder is copied: it may read what lies beside it, and what it writes is not left in the tree.
    folder = tmp_path / "lectures"
    shutil.copytree(pair.text.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints"))
    path, result = folder / pair.notebook.name, tmp_path / "result.json"
    path.write_text(text.as_json(text.from_text(pair.text.read_text(encoding="utf-8"), ROOT)), encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    environ = {**os.environ, "HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
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
    lecture_outputs.keep(kept, pair.text.stem, lecture_outputs.RUNS[0], path, ROOT)

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
            data = output.get("data", {})
            live = "application/vnd.jupyter.widget-view+json" in data
            assert not live or data.get("text/html"), f"{cell.source}\n\nshows nothing where no kernel runs (text/html)"
            assert output.get("name") != "stderr", f"{cell.source}\n\nwrote to stderr:\n{output.get('text')}"
        assert cell.execution_count is not None or not cell.source.strip(), f"not run:\n{cell.source}"
    for cell in cells:
        assert not nameless_pictures(cell), f"a picture without alternative text:\n{cell.source[:500]}"
    assert not nameless_widgets(notebook), nameless_widgets(notebook)

    assert not lecture_outputs.differences(kept, pair.text.stem, ROOT), (
        "run again, in a browser, the lecture shows something else:\n\n"
        + "\n".join(lecture_outputs.differences(kept, pair.text.stem, ROOT) or [])
    )
    factor = float(os.environ.get("NLM_TIME_FACTOR", "1"))
    for index, seconds in slowest[:1]:
        assert seconds <= CELL_SECONDS * factor, f"{seconds:.1f} s for one cell:\n{cells[int(index)].source}"
    assert report["seconds"] <= LECTURE_SECONDS * factor, f"the lecture takes {report['seconds']:.1f} s"


def test_there_are_lectures() -> None:
    assert LECTURES
