"""python -m autograder.guide.renew: write again what the guide repeats from other sources."""

from pathlib import Path

from autograder.files import write_whole
from autograder.guide import manual, teaching

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, str]:
    """The generated files, by their paths from the top of the checkout."""
    page = (ROOT / teaching.WHERE).read_text(encoding="utf-8")
    return {manual.WHERE: manual.page(), teaching.WHERE: teaching.renewed(page)}


if __name__ == "__main__":
    for name, text in pages().items():
        if (ROOT / name).read_text(encoding="utf-8") != text:
            write_whole(ROOT / name, text)
            print(f"Written: {name}")
