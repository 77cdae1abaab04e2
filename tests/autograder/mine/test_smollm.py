import re
from typing import Any

import pytest

from tests.autograder.mine.test_using import cells_of, written

PARTS = ["rms_norm", "feed_forward", "rotate", "attend", "attention", "block", "language_model", "generate"]


@pytest.mark.slow
def test_the_library_runs_smollm2_at_the_end_of_the_capstone(
    open_notebook: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    last = cells_of("capstone")[-1]
    imports = "import torch\nfrom autograder.mine import mine, smollm2"
    open_notebook.of("capstone").run(imports, last)
    assert "in your library: load_block" in capsys.readouterr().out
    written(open_notebook, "transformer", *PARTS, "load_block")
    open_notebook.of("capstone").run(imports, last)
    said = capsys.readouterr().out
    (difference,) = re.findall(r"the reference: ([\d.]+)", said)
    assert float(difference) < 1e-3  # of logits around 20, in single precision
    assert "run SmolLM2" in said
    assert "Shakespeare" in said
