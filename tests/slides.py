"""What an audience sees of a lecture: every screen of the site's presenter, as a clicker shows them.

    python -m tests.slides site/lectures/12_attention.html …           a line of figures for each
    python -m tests.slides --pictures FOLDER --list PAGE …              also each screen, as a file and as a line

`small` are screens with a picture half of whose words are below 24 pixels at 1920 × 1080, `early` those that end in
the upper third, `long` those with more than 60 words of prose, `plumbing` those with code that only loads or draws,
`wide` those with something that runs over.
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, median_low
from typing import Any

from tests.autograder.site.browsing import reader, started

LEAST = 24
WORDS = 60
PLUMBING = re.compile(r"^(?:\w+ = stored\(|(?:from|import) |show\.|widgets\.|HTML\()", re.MULTILINE)
SEEN = """() => {
  const main = document.querySelector('main');
  const seen = e => e.getClientRects().length > 0 && e.checkVisibility({ visibilityProperty: true });
  const shown = [...main.querySelectorAll('.nlm-shown *')].filter(seen), wide = [];
  const inPicture = e => e.closest('svg, math, canvas, .only-read, .veil');
  let bottom = 0;
  for (const e of shown) {
    const box = e.getBoundingClientRect();
    if (e.matches('svg *, math *, .only-read') || !box.height) continue;
    const own = e.matches('svg, img, canvas, pre, button, input, td, th') ||
      [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (own) bottom = Math.max(bottom, box.bottom);
    if (own && (box.right > innerWidth + 1 || box.bottom > innerHeight))
      wide.push(e.tagName + ' ' + e.textContent.trim().slice(0, 40));
    if (e.matches('table, pre, .output') && e.scrollWidth > e.clientWidth + 2)
      wide.push('cut: ' + e.textContent.trim().slice(0, 40));
    if (e.matches('pre.printed') && e.innerText.includes('  ')) {
      const line = parseFloat(getComputedStyle(e).lineHeight);
      const lines = e.textContent.replace(/\\n$/, '').split('\\n').length;
      const { paddingTop, paddingBottom } = getComputedStyle(e);
      if (e.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom) > (lines + 0.6) * line)
        wide.push('wraps: ' + e.textContent.trim().slice(0, 40));
    }
  }
  const letters = [], pictures = [];
  for (const e of shown.filter(e => e.matches('svg:not(svg svg), img, canvas'))) {
    const box = e.getBoundingClientRect();
    if (box.width < 60) continue;
    pictures.push(Math.round(box.width) + 'x' + Math.round(box.height));
    if (e.matches('img'))
      letters.push({ src: e.currentSrc, told: Number(e.dataset.letters) || 0, by: box.width / e.naturalWidth });
    else for (const word of e.querySelectorAll('text')) {
      if (!word.textContent.trim() || !seen(word)) continue;
      const by = word.getScreenCTM(), size = parseFloat(getComputedStyle(word).fontSize);
      letters.push({ size: size * Math.hypot(by.b, by.d) });
    }
  }
  const words = node => node.textContent.trim().split(/\\s+/).filter(word => /[\\p{L}\\p{N}]/u.test(word)).length;
  let count = 0;
  const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode()); ) {
    const e = node.parentElement;
    if (e.closest('.nlm-shown') && seen(e) && !inPicture(e) &&
      !e.closest('pre, table, button, .control, .row, select')) count += words(node);
  }
  return { wide, letters, pictures, words: count, ends: bottom / innerHeight,
    code: shown.filter(e => e.matches('pre.code')).map(e => e.textContent).join('\\n'),
    title: document.querySelector('#nlm-title').textContent ||
      main.querySelector('.nlm-shown :is(h1, h2, h3)')?.textContent || '',
    part: document.querySelector('#nlm-place').dataset.part, says: main.innerText.length };
}"""


@dataclass
class Screen:
    part: str
    title: str
    words: int
    ends: float
    letters: list[float]
    pictures: list[str]
    code: str
    wide: list[str]

    @property
    def faults(self) -> list[str]:
        found = {
            "small": self.letters and median_low(self.letters) < LEAST,
            "early": self.ends < 1 / 3,
            "long": self.words > WORDS,
            "plumbing": PLUMBING.search(self.code),
            "wide": self.wide,
        }
        return [name for name, is_so in found.items() if is_so]

    def __str__(self) -> str:
        typical = f"{median_low(self.letters):.0f} ({min(self.letters):.0f})" if self.letters else "-"
        faults = " ".join(self.faults + self.wide)
        drawn = " ".join(self.pictures)[:40]
        head = f"{self.part:>7} ends {self.ends:.2f} words {self.words:3} letters {typical:>8}"
        return f"{head} {drawn:40} {self.title[:40]:40} {faults}"


def size_in(source: str) -> float:
    """The usual size of a word in a drawing that is a file of the page; 0 for a photograph."""
    path = Path(source.removeprefix("file://"))
    sizes = (
        re.findall(r'<text[^>]*font-size="([\d.]+)', path.read_text(encoding="utf-8")) if path.suffix == ".svg" else []
    )
    return median(map(float, sizes)) if sizes else 0.0


def screens(page: Any, pictures: Path | None = None) -> Iterator[Screen]:
    """Press Page Down to the end. A press that changes nothing ends it, too."""
    before, number = None, 0
    while True:
        page.wait_for_timeout(250)
        told = page.evaluate(SEEN)
        for _ in range(20):  # what is drawn late moves the rest
            page.wait_for_timeout(200)
            earlier, told = told, page.evaluate(SEEN)
            if told == earlier:
                break
        now = (told["part"], told["says"], told["ends"])
        if now == before:
            return
        before, number = now, number + 1
        if pictures:
            page.screenshot(path=pictures / f"{number:03}.png")
        sizes = [
            size
            for one in told["letters"]
            if (size := one.get("size") or one["by"] * (one["told"] or size_in(one["src"])))
        ]
        yield Screen(
            told["part"],
            told["title"],
            told["words"],
            told["ends"],
            sizes,
            told["pictures"],
            told["code"],
            told["wide"],
        )
        page.keyboard.press("PageDown")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pages", nargs="+", type=Path)
    asked.add_argument("--pictures", type=Path)
    asked.add_argument("--list", action="store_true")
    options = asked.parse_args()
    names = ["small", "early", "long", "plumbing", "wide"]
    print(f"{'lecture':36} screens pictures {' '.join(f'{name:>8}' for name in names)} words ends")
    with started() as browser, reader(browser) as opened:
        for path in options.pages:
            folder = options.pictures and options.pictures / path.stem
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
            page = opened(f"{path.resolve().as_uri()}?present", width=1920, height=1080)
            page.locator("#nlm-place[data-part]").wait_for()
            seen = []
            for number, screen in enumerate(screens(page, folder), start=1):
                seen.append(screen)
                if options.list:
                    print(f"{number:3} {screen}")
            counts = " ".join(f"{sum(name in screen.faults for screen in seen):8}" for name in names)
            drawn = sum(bool(screen.letters) for screen in seen)
            mid = median(screen.words for screen in seen), median(screen.ends for screen in seen)
            print(f"{path.stem:36} {len(seen):7} {drawn:8} {counts} {mid[0]:5.0f} {mid[1]:4.2f}", flush=True)
            page.close()


if __name__ == "__main__":
    main()
