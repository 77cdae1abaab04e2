"""Read by nbgrader and by JupyterLab's Formgrader; the settings themselves are in `autograder/nbgrader_config.py`."""

from pathlib import Path

from autograder.nbgrader_config import configure

configure(get_config(), Path(__file__).resolve().parent)  # type: ignore[name-defined]  # noqa: F821
