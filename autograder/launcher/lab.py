"""JupyterLab on its start page, the first lecture behind it, with the course's own settings. Standard library only."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from autograder.launcher.environment import Environment
from autograder.texts.glossary import lectures

FROM = "NLM_FROM"  # the variable that tells the second process in which folder the command was given
SETTINGS = "autograder/present"
"""The course's settings for Jupyter; in `labextensions/` the presenter view (`nlm-slides`) and the display of widgets
without a kernel (`nlm-static`), both plain JavaScript."""
READING = "autograder/present/reading"
"""More settings, for readers of the course: only what they open is listed, and Formgrader is not offered."""
ALL = "--instructor"
"""The option that leaves READING out."""


def lecture_called(root: Path, name: str = "") -> Path | None:
    """The first lecture with this number, or whose name contains these letters, as a notebook if that is built."""
    wanted = name.casefold()
    for path in lectures(root):
        number = int(path.name.split("_")[0])
        if number == int(wanted) if wanted.isdigit() else wanted in path.stem.casefold():
            return path.with_suffix(".ipynb")
    return None


def command(
    environment: Environment, arguments: Sequence[str], environ: Mapping[str, str], present: Path | None = None
) -> list[str]:
    """The command line of JupyterLab. The user's options come last, so that they win. `present`: a lecture to show
    slide by slide (by the extension under SETTINGS)."""
    root = environment.root
    line = [str(environment.python), "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    lecture = present or lecture_called(root)
    if lecture is not None:
        name = quote(lecture.relative_to(root).as_posix())
        line.append("--ServerApp.jpserver_extensions=autograder.present.begin=True")
        line.append(f"--LabApp.default_url=/{'present' if present else 'welcome'}/{name}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        line.append("--allow-root")
    browser = environ.get("NLM_BROWSER", "")
    if browser:
        line.append("--no-browser" if browser.lower() in ("none", "no", "0", "false") else f"--browser={browser}")
    return [*line, *arguments]


def variables(environment: Environment, environ: Mapping[str, str], *, reading: bool = False) -> dict[str, str]:
    """The environment variables: the course's settings first, with `reading` also a reader's, and the environment's own
    kernel before all others.

    A kernel called `python3` in the user's home folder, left there by another installation, would otherwise run the
    lectures with another Python.
    """
    result = dict(environ)
    settings = environment.root / SETTINGS
    for name, first in {
        "JUPYTER_CONFIG_PATH": [*([environment.root / READING] if reading else []), settings],
        "JUPYTER_PATH": [environment.prefix / "share" / "jupyter", settings],
    }.items():
        result[name] = os.pathsep.join([*map(str, first), *filter(None, [environ.get(name, "")])])
    result["JUPYTER_PREFER_ENV_PATH"] = "1"
    scripts = str(environment.python.parent)
    result["PATH"] = os.pathsep.join([scripts, environ.get("PATH", "")])
    for name in ("PYTHONHOME", "PYTHONPATH"):
        result.pop(name, None)
    if not environment.here:
        result["VIRTUAL_ENV"] = str(environment.prefix)
    return result


def become(line: Sequence[str], environ: Mapping[str, str], folder: Path) -> int:
    """Turn this process into another program (on Windows: run it and wait). Returns only on Windows."""
    os.chdir(folder)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.execve(line[0], list(line), dict(environ))
    import subprocess

    process = subprocess.Popen(line, env=dict(environ))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # Ctrl-C reaches both; JupyterLab asks its question, this only waits
            continue
