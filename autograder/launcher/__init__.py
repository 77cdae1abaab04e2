"""The launcher: makes the environment, has the notebooks built, opens JupyterLab.

Standard library only, so that it runs under a bare Python before anything is installed: `requirements` (what
pyproject.toml requires) -> `environment` (where it is, and what is wrong there) -> `install` (has uv or pip put it
right) -> `lab`. `python3 -m autograder` is the entry point to all of it.
"""
