"""The launcher: makes the environment, builds the notebooks, opens JupyterLab.

Standard library only at import, so that it runs under a bare Python before anything is installed:
`requirements` (what pyproject.toml requires) -> `health` (what is wrong with an environment) -> `install`
(has uv or pip put it right) -> `lab`. `notebooks` and `exercises` run inside the environment and import jupytext and
nbgrader when they are called. `python3 -m autograder` is the entry point to all of it.
"""
