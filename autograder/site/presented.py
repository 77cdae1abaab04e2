"""present.js, the presenter view of the pages: what it shares with JupyterLab's (nlm-slides), and what the site adds.

The shared files are modules, which a browser does not load for a page that was opened from a folder. So they become one
script, in the order in which they need each other.
"""

import re
from pathlib import Path

import autograder
from autograder.pages import FOLDER

SHARED = Path(autograder.__file__).parent / "present" / "labextensions" / "nlm-slides" / "static"
MODULES = ("cells", "pages", "copies", "overview", "notes", "deck")


def script() -> str:
    """The files as one script, which leaves no names behind."""
    files = [*(SHARED / f"{name}.js" for name in MODULES), FOLDER / "present.js"]
    parts = (path.read_text(encoding="utf-8") for path in files)
    return (
        "(() => {\n'use strict';\n"
        + "".join(re.sub(r"^import .*\n|^export ", "", part, flags=re.M) for part in parts)
        + "})();\n"
    )
