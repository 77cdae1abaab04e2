"""Every lecture runs from top to bottom without a network, within its time, in silence, and every picture has words."""

import ast
import os
from pathlib import Path

import pytest

from lectures.show import Prediction
from tests.lectures import outputs
from tests.lectures.conftest import LECTURES, ROOT, topic
from tests.lectures.openings import elsewhere
from tests.lectures.predictions import asked_in, given_away
from tests.notebook_runner import LIVE, Ran
from tests.pictures import nameless_pictures, nameless_widgets

pytestmark = pytest.mark.every_python
LEAST_PREDICTIONS, MOST_PREDICTIONS = 5, 9
"""Of a lecture: fewer leave its reader a spectator, more tire."""
LECTURE_SECONDS, CELL_SECONDS = 60.0, 20.0
"""What a lecture and a cell may take of one core. NLM_TIME_FACTOR=2 doubles both, for a slow machine."""


def test_it_runs_from_top_to_bottom(run: Ran) -> None:
    assert not run.errors(), run.errors()[0]
    for cell in run.code:
        assert cell.execution_count is not None or not cell.source.strip(), f"not run:\n{cell.source}"


def test_a_cell_can_be_run_again_after_the_last(run: Ran) -> None:
    assert not run.not_repeatable(), "\n\n".join(run.not_repeatable())


def test_it_asks_for_nothing_outside_this_machine(run: Ran) -> None:
    assert not run.reached


def test_nothing_is_written_to_stderr(run: Ran) -> None:
    for cell in run.code:
        for output in cell.outputs:
            assert output.get("name") != "stderr", f"{cell.source}\n\nwrote to stderr:\n{output.get('text')}"
    assert not run.stray


def test_nothing_is_shown_by_accident(run: Ran) -> None:
    """A cell that ends in a call shows what the call returns, such as `[<matplotlib.axis.XTick at 0x7fe2…>]`."""
    for cell in run.code:
        for output in cell.outputs:
            data = output.get("data", {})
            assert "text/html" in data or " at 0x" not in data.get("text/plain", ""), (
                f"{data}\n\nis shown by\n{cell.source}"
            )


def test_what_a_cell_makes_to_be_seen_is_its_last_line(run: Ran) -> None:
    """IPython shows the last expression of a cell, and nothing of those before it."""
    for cell in run.code:
        for line in ast.parse(cell.source).body[:-1]:
            called = (
                ast.unparse(line.value.func) if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call) else ""
            )
            assert called.partition(".")[0] not in ("show", "widgets", "HTML"), (
                f"{called} is not shown by\n{cell.source}"
            )


def test_it_takes_its_time_and_no_more(lecture: Path, run: Ran) -> None:
    cells = run.notebook.cells
    slowest = sorted(run.seconds.items(), key=lambda item: -item[1])[:8]
    whole, factor = sum(run.seconds.values()), float(os.environ.get("NLM_TIME_FACTOR", "1"))
    print(f"\n{lecture.stem}: {whole:.1f} s of the processor")
    for index, seconds in slowest:
        print(f"  {seconds:6.2f} s  {' '.join(cells[index].source.split())[:90]}")
    index, seconds = slowest[0]
    assert seconds <= CELL_SECONDS * factor, f"{seconds:.1f} s for one cell:\n{cells[index].source}"
    assert whole <= LECTURE_SECONDS * factor, f"the lecture takes {whole:.1f} s"


def test_predictions_are_made_before_their_answers_are_seen(run: Ran) -> None:
    cells = run.notebook.cells
    for cell in cells:
        assert cell.cell_type != "markdown" or "**Predict" not in cell.source, (
            f"a prediction is a call of `show.predict`, see CONTRIBUTING:\n{cell.source}"
        )
    asked = list(asked_in(cells))
    assert LEAST_PREDICTIONS <= len(asked) <= MOST_PREDICTIONS
    for prediction in asked:
        cell = cells[prediction.cell]
        assert cell.metadata.get("jupyter", {}).get("source_hidden"), f"its source tells the answer:\n{cell.source}"
        assert cell.metadata.slideshow.slide_type != "skip"
        told = given_away(cells, prediction)
        assert not told, f"{prediction.question} ({prediction.answer}) is answered before: {told}"


def test_what_an_answer_reveals_opens_with_what_was_asked(run: Ran) -> None:
    asked = [widget for widget in run.widgets if isinstance(widget, Prediction)]
    assert len(asked) >= LEAST_PREDICTIONS
    found = [where for prediction in asked for where in elsewhere(prediction)]
    assert not found, "\n".join(found)


def test_every_picture_has_words(run: Ran) -> None:
    for cell in run.notebook.cells:
        assert not nameless_pictures(cell), f"a picture without alternative text:\n{cell.source[:500]}"
    assert not nameless_widgets(run.notebook), nameless_widgets(run.notebook)


def test_what_is_live_shows_something_where_no_kernel_runs(run: Ran) -> None:
    shown = [(cell.source, output.data) for cell in run.code for output in cell.outputs if "data" in output]
    assert any(LIVE in data for _, data in shown), "a lecture without a widget is a text"
    for source, data in shown:
        assert LIVE not in data or data.get("text/html"), f"{source}\n\nshows nothing where no kernel runs (text/html)"


def test_run_again_it_shows_the_same(lecture: Path, run: Ran, artefacts: Path) -> None:
    """The other run is the one in a browser, in another process; whoever of the two comes second compares."""
    outputs.keep(artefacts / "lectures", lecture.stem, outputs.RUNS[0], run.notebook, ROOT)
    found = outputs.differences(artefacts / "lectures", lecture.stem, ROOT) or []
    assert not found, "run in a browser, the lecture shows something else:\n\n" + "\n".join(found)


def test_there_are_lectures_and_each_has_its_own_tests() -> None:
    assert LECTURES
    for path in LECTURES:
        assert (Path(__file__).parent / f"test_{topic(path)}.py").exists(), path.stem
