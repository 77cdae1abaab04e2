"""Draw the pictures that lectures show where no kernel runs, on GitHub for instance. Repeat with:

    python lectures/figures/make.py          all of them
    python lectures/figures/make.py 11 2     those of lectures 11 and 2

`NN_topic.py` beside this file holds the pictures of lecture NN: `PICTURES = {"NN_name": function}`, and the function
returns the SVG that is written to `NN_name.svg`.
"""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def sources() -> list[Path]:
    """The files that hold pictures, in the order of the lectures."""
    return sorted(HERE.glob("[0-9][0-9]_*.py"))


def pictures(source: Path) -> dict[str, Callable[[], str]]:
    """The pictures of one file: name -> function that draws. (Its name begins with a digit: no import statement.)

    Raises ValueError if a picture's name does not begin with the number of its lecture.
    """
    spec = importlib.util.spec_from_file_location(f"figures_of_{source.stem}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Callable[[], str]] = module.PICTURES
    for name in found:
        if not name.startswith(source.name[:3]):
            raise ValueError(
                f"{source.name}: the name of a picture begins with {source.name[:3]!r}, got {name!r}"
            )
    return found


def main(numbers: Sequence[str] = ()) -> None:
    wanted = {int(number) for number in numbers}
    for source in sources():
        if not wanted or int(source.name[:2]) in wanted:
            for name, draw in pictures(source).items():
                (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")
                print(f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
