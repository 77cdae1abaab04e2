"""Read by nbgrader and by JupyterLab's Formgrader; the settings themselves are in `autograder/nbgrader_config.py`. Yours
go into `course_config.py` next to this file, which git ignores, so that an update never meets them."""

from pathlib import Path

from autograder.nbgrader_config import configure

HERE = Path(__file__).resolve().parent
configure(get_config(), HERE)  # type: ignore[name-defined]  # noqa: F821
load_subconfig("course_config.py", path=str(HERE))  # type: ignore[name-defined]  # noqa: F821
