"""The stored results as one page, each with the command that makes it again.

    python -m lectures.recipes.report            writes lectures/results/README.md
    python lectures/results/draw.py              draws the pictures that the page shows

`pages` says what is printed of each result. A test compares the written page with the results.
"""

import re
from pathlib import Path

from lectures import FOLDER
from lectures.recipes.pages import PAGES, RUN_BY_RUN, told


def page(folder: Path) -> str:
    """The whole page, from the JSON files of `folder`; a result that has not been made yet is left out."""
    parts = [
        "# Results\n\nWritten by `python -m lectures.recipes.report` from the files beside it. One seed unless it says"
        " otherwise, small models, two CPU cores. Where a paper's claim does not hold here, the page says so."
    ]
    others = sorted(file.stem for file in folder.glob("*.json") if file.stem not in PAGES)
    parts += [
        told(file)
        for name in [*PAGES, *others]
        if (file := folder / f"{name}.json").exists() or (name in RUN_BY_RUN and (folder / name).is_dir())
    ]
    whole = "\n\n".join(parts) + "\n"
    return re.sub("(`[^`\n]*`)|<", lambda found: found[1] or "&lt;", whole)  # the token <unk> is no tag


if __name__ == "__main__":
    place = FOLDER / "results"
    (place / "README.md").write_text(page(place), encoding="utf-8")
    print(place / "README.md")
