"""A copy of the course in another folder, with a Python that finds nothing of this checkout."""

import os
import subprocess
import sys
from pathlib import Path

BLIND = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f)]\n"
"""This checkout is installed in the tests' Python. A student has no such thing, so its finder is taken out."""


def python(folder: Path, *line: str) -> subprocess.CompletedProcess[str]:
    """Run Python as a student would, in the folder."""
    site = folder.parent / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(BLIND)
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(site)])}
    command = [sys.executable, *line]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
