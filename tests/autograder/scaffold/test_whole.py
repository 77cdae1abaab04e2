"""What authors run on the whole course."""

import shutil
import subprocess
from pathlib import Path

import pytest

from autograder.scaffold import whole


@pytest.mark.skipif(not shutil.which("git"), reason="no git here")
def test_files_over_the_limit_are_found_and_checkpoints_let_through(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name, size in {"small.py": 10, "large.bin": whole.LIMIT + 1, "model.safetensors": whole.LIMIT + 1}.items():
        (tmp_path / name).write_bytes(b"0" * size)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    assert [row.split(":")[0] for row in whole.too_large(tmp_path)] == ["large.bin"]
