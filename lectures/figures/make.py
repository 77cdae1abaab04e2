"""Draw the pictures that lectures show where no kernel runs, on GitHub for instance. Repeat with:

    python lectures/figures/make.py                    all of them
    python lectures/figures/make.py attention gates    those of two lectures

`topic.py` beside this file holds the pictures of the lecture `NN_topic`: `PICTURES = {"name": function}`, and the
function returns the SVG that is written to `name.svg`.
"""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def sources() -> list[Path]:
    """The files that hold pictures, one for each lecture that has any."""
    return sorted(path for path in HERE.glob("*.py") if path.name != Path(__file__).name)


def pictures(source: Path) -> dict[str, Callable[[], str]]:
    """The pictures of one file: name -> function that draws."""
    spec = importlib.util.spec_from_file_location(f"figures_of_{source.stem}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Callable[[], str]] = module.PICTURES
    return found


def main(topics: Sequence[str] = ()) -> None:
    """Raises ValueError for a topic without pictures."""
    known = {source.stem: source for source in sources()}
    for topic in topics:
        if topic not in known:
            raise ValueError(f"topic: {topic!r} has no pictures; these have: {', '.join(known)}")
    for topic, source in known.items():
        if not topics or topic in topics:
            for name, draw in pictures(source).items():
                (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")
                print(f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
