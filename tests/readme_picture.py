"""Makes the moving picture of README: the page "Try the models" in a real browser, while somebody types.

    python -m tests.readme_picture        writes .github/model.gif

The page is the site's own, and so is what answers: the course's Transformer over characters. Only the arrangement is
the picture's: bars and heads side by side, and the heads of two layers of four.
"""

import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from autograder.site import publish, tried
from tests.autograder.site.browsing import SETTLED, reader, started

ROOT = Path(__file__).resolve().parents[1]
WHERE = ROOT / ".github" / "model.gif"
TYPED = "To be, or not to be"
ARRANGED = """
[data-panel=attention] { inline-size: 800px; padding: 8px 12px; }
[data-panel=attention] textarea { block-size: 3.2em; }
[data-panel=attention] > div:has(.bars) { display: grid; grid-template-columns: 330px 1fr; column-gap: 30px; }
[data-panel=attention] > div:has(.bars) > * { grid-column: 2; margin-block: 0 6px; }
[data-panel=attention] > div:has(.bars) > h3:first-child { grid-area: 1 / 1; }
[data-panel=attention] > div:has(.bars) > div:has(.bars) { grid-area: 2 / 1 / 9 / 1; }
[data-panel=attention] > div:has(.bars) > h3 { grid-row: 1; }
[data-panel=attention] :is(.control, .note, .output, details, .heads button:nth-child(n + 9)) { display: none; }
[data-panel=attention] .heads button { font-size: 12px; white-space: nowrap; }
"""
SHADES, EACH, LAST = 16, 300, 4000
"""Colours; milliseconds that each picture stays, and the last one."""


def page(out: Path) -> Path:
    """The site's page, without the rest of the site."""
    site = publish.Site(ROOT, out, dict(publish.LISTS))
    site.text("autograder/pages/try.md", tried.PAGE)
    site.finish()
    return out / tried.PAGE


def pictures(shown: Any) -> list[Image.Image]:
    """The panel after each character that is typed into it."""
    shown.add_style_tag(content=ARRANGED)
    panel = shown.locator('[data-panel="attention"]')
    field = panel.locator("textarea")
    field.focus()
    panel.locator(".heads button").first.wait_for()
    field.fill("")
    taken = []
    for character in ("", *TYPED):
        field.press_sequentially(character)
        shown.evaluate(SETTLED)
        taken.append(Image.open(io.BytesIO(panel.screenshot())).convert("RGB"))
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, started() as chromium, reader(chromium) as visit:
        taken = pictures(visit(page(Path(folder)), width=900, height=900))
    shades = taken[-1].quantize(SHADES)
    first, *others = [picture.quantize(palette=shades, dither=Image.Dither.NONE) for picture in taken]
    stay = [EACH] * len(others) + [LAST]
    first.save(WHERE, save_all=True, append_images=others, duration=stay, loop=0, optimize=True)
    print(f"{WHERE}: {WHERE.stat().st_size / 1e3:.0f} KB")


if __name__ == "__main__":
    main()
