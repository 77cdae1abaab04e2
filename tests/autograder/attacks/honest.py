"""Right solutions as students write and save them: none of it costs a point."""

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.autograder.attacks.answers import DOUBLE_AND_IN_PLACE, LOOPS, NOISY, NUMPY
from tests.autograder.attacks.submissions import Folder, Submission


def more_cells(folder: Folder) -> None:
    """Notes, tries and plots between the questions; one try that fails."""
    own = [
        "# my notes",
        "print(dot_score)",
        "1 / 0",
        "import numpy as np\nnp.zeros(3)",
        "%matplotlib inline\n%timeit -n1 -r1 1",
        "",
    ]
    for number, source in enumerate(own):
        folder.notebook.cells.insert(6 + 4 * number, new_code_cell(source))
        folder.notebook.cells.insert(6 + 4 * number, new_markdown_cell("*I think*"))


def reordered(folder: Folder) -> None:
    """All answers at the end, below their tests."""
    answers = [c for c in folder.notebook.cells if c.metadata.get("nbgrader", {}).get("solution")]
    rest = [c for c in folder.notebook.cells if not any(c is answer for answer in answers)]
    folder.notebook.cells = [*rest, *answers]


def one_cell(folder: Folder) -> None:
    """All answers in one cell of one's own; the cells meant for them deleted."""
    named = folder.cells
    answers = [
        c for c in folder.notebook.cells if c.metadata.get("nbgrader", {}).get("solution") and c.cell_type == "code"
    ]
    whole = new_code_cell("\n\n".join(cell.source for cell in answers))
    place = next(n for n, c in enumerate(folder.notebook.cells) if c is named["dot_score"])
    folder.notebook.cells.insert(place, whole)
    folder.notebook.cells = [c for c in folder.notebook.cells if not any(c is answer for answer in answers)]


def by_vs_code(folder: Folder) -> None:
    folder.notebook.metadata = {
        "kernelspec": {"display_name": ".venv (3.11.9)", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.11.9", "codemirror_mode": {"name": "ipython", "version": 3}},
        "vscode": {"interpreter": {"hash": "0" * 64}},
    }
    for number, cell in enumerate(folder.notebook.cells):
        cell.metadata["vscode"] = {"languageId": "python"}
        cell.metadata["notebookRunGroups"] = {"groupValue": "1"}
        cell.id = f"{number:08x}"


def by_colab(folder: Folder) -> None:
    """Format 4.0, ids in the metadata, times and outputs of its own."""
    folder.notebook.nbformat_minor = 0
    folder.notebook.metadata = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(folder.notebook.cells):
        del cell["id"]
        cell.metadata.update({"id": f"x{number}", "outputId": "a-b", "colab": {"base_uri": "https://localhost:8080/"}})
        if cell.cell_type == "code":
            cell.metadata["executionInfo"] = {"status": "ok", "user": {"displayName": "Ada"}, "elapsed": 3}
            cell.execution_count = number


def windows(folder: Folder) -> None:
    """Line ends of Windows and a mark of order at the start."""
    folder.file.write_bytes(b"\xef\xbb\xbf" + folder.file.read_bytes().replace(b"\n", b"\r\n"))


HONEST = (
    Submission(name="PyTorch as it is meant", like="honest"),
    Submission(name="loops", like="honest", cells=LOOPS),
    Submission(name="NumPy", like="honest", cells=NUMPY),
    Submission(name="float64, and in place on copies", like="honest", cells=DOUBLE_AND_IN_PLACE),
    Submission(name="warnings, prints, plots, bars, widgets", like="honest", cells=NOISY),
    Submission(name="cells of one's own", like="honest", change=more_cells),
    Submission(name="another order", like="honest", change=reordered),
    Submission(name="all in one cell", like="honest", change=one_cell),
    Submission(name="saved by VS Code", like="honest", change=by_vs_code),
    Submission(name="saved by Colab", like="honest", change=by_colab),
    Submission(name="saved on Windows", like="honest", after=windows),
)
