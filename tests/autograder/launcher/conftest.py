import subprocess
from pathlib import Path

import pytest

from autograder.launcher.environment import Environment, locate
from autograder.launcher.install import base_python


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """A real virtual environment beside an empty checkout."""
    for name in ("NLM_VENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run([base_python(), "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    return locate(tmp_path)
