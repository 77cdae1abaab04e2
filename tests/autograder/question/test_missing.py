import sys
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.check import check
from autograder.question import alone
from autograder.question.closed import absent_home
from autograder.question.missing import missing

IMPORTS = "import numpy as np\nimport torch\nfrom torch import eye"
NAMED = {
    "an array of PyTorch's": "TABLE = torch.eye(4).numpy()",
    "by a name of its own": "TABLE = eye(4).tolist()",
    "by way of another value": "first = torch.eye(4).numpy()\nTABLE = np.array(first)",
    "changed afterwards": "TABLE = torch.eye(4).numpy()\nTABLE *= 2",
    "one of several": "OTHER, TABLE = 1, float(torch.eye(4).sum())",
}
NOT_NAMED = {
    "made with NumPy": "TABLE = np.eye(4)",
    "made again with NumPy": "TABLE = torch.eye(4).numpy()\nTABLE = np.eye(4)",
    "read by nobody": "OTHER = torch.eye(4).numpy()\nTABLE = 1",
    "only an attribute has the name": "sum = torch.eye(4).sum()\nTABLE = 1",
    "PyTorch in a function that is not called": "def other(): return torch.eye(4)\nTABLE = 1",
}
FUNCTION = "def helped(): return TABLE\ndef f(x): return x + np.sum([helped() for _ in x])"


def absent(value: object) -> bool:
    return bool(absent_home(value, alone.is_absent))


def run(*cells: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        exec(cell, scope)
    return scope


@pytest.mark.parametrize("source", [pytest.param(s, id=n) for n, s in (NAMED | NOT_NAMED).items()])
def test_what_the_grader_does_not_find_is_named(source: str) -> None:
    cells = (IMPORTS, "this cell: has never run", source, FUNCTION)
    expected = ["TABLE"] if source in NAMED.values() else []
    assert missing(run(IMPORTS, source, FUNCTION)["f"], cells, absent) == expected


def test_the_check_says_it_and_the_answer_keeps_its_points(monkeypatch, capsys) -> None:
    cells = (
        "import torch\nONE = torch.ones(1).numpy()[0]",
        "def best_discount(n_1, n_2, D): return n_1 / D - 2 * n_2 / (ONE - D), n_1 / (n_1 + 2 * n_2)",
    )
    shell = SimpleNamespace(user_ns={"In": ["", *cells]})
    monkeypatch.setattr(sys.modules["autograder.check"], "_shell", lambda: shell)
    monkeypatch.setattr(sys.modules["autograder.check"], "_in_notebook", lambda: False)
    check("ngrams.best_discount", run(*cells)["best_discount"])
    said = capsys.readouterr().out
    assert "well done" in said
    assert "Your function reads `ONE`" in said
