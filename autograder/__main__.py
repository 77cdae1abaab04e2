"""The single entry point of the course: `python3 -m autograder VERB`. Standard library only, for a bare Python >= 3.11.

    python3 -m autograder lab          set up what is missing, build the notebooks, open JupyterLab
    python3 -m autograder test         the same set-up, then the tests
    python3 -m autograder --help       everything else

`make VERB` does the same if make is installed.
"""

# ruff: noqa: UP032, UP036  (this file must be read by Pythons that are too old for the course, to tell them so)
import sys

if sys.version_info < (3, 11):  # before any import that an older Python would trip over
    sys.exit(
        "The course needs Python 3.11 or newer; this is Python {}.{} ({}).\n"
        "Run it with a newer one, for instance:  python3.12 -m autograder lab   or   make lab PYTHON=python3.12".format(
            sys.version_info[0], sys.version_info[1], sys.executable
        )
    )

from autograder.launcher.verbs import ROOT, main

if not (ROOT / "pyproject.toml").is_file():
    sys.exit("The course's commands need its folder, and here is only its installed package: run them in a checkout.")

if __name__ == "__main__":
    sys.exit(main())
