from pathlib import Path
from typing import Any

import pytest

from autograder.commands.library import mine


def test_the_command_shows_a_library_wherever_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place: Any = None  # not needed where a folder is given
    path = tmp_path / "decoding" / "greedy.py"
    path.parent.mkdir()
    path.write_text("def greedy(log_probs, start, eos, longest):\n    return [start]\n")
    assert mine(place, ["--folder", str(tmp_path)]) == 0
    assert "1 of" in capsys.readouterr().out
