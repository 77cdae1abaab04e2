"""A page of the site as its readers meet it: by keyboard alone, zoomed, in the dark, on paper, without a network."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab import PATIENCE, running_chromium

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
MS = 5_000 * PATIENCE
"""How long a key may take to change a picture before it counts as a key that changes nothing."""
KEYS = {"radio": ["ArrowRight", "ArrowLeft"], "checkbox": ["Space"], "range": ["ArrowRight", "ArrowLeft"]}
BACK = {"ArrowRight": "ArrowLeft", "ArrowLeft": "ArrowRight", "ArrowDown": "ArrowUp", "ArrowUp": "ArrowDown"}
SETTLED = """() => new Promise(done => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(document.documentElement.scrollWidth)));
})"""
WEIGHT = 1_500_000
"""Bytes that a page may have before a widget is touched, with all that it shows."""


def started() -> AbstractContextManager[Any]:
    """A Chromium that knows no other computer."""
    return running_chromium("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")


@contextmanager
def reader(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end nothing was said on their consoles, and nothing was asked of another host."""
    context, heard = chromium.new_context(reduced_motion="reduce"), []

    def visit(address: str | Path, width: int = 1366, height: int = 768, scheme: str = "light") -> Any:
        page = context.new_page()
        page.on("console", lambda said: heard.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: heard.append(str(error)))
        own = ("file:", "data:", "blob:", "http://127.0.0.1:")
        page.on("request", lambda asked: None if asked.url.startswith(own) else heard.append(asked.url))
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        address = address.as_uri() if isinstance(address, Path) else address
        context.set_offline(address.startswith("file:"))
        page.goto(address)
        return page

    yield visit
    context.close()
    assert not heard, f"the page said {heard}"


UNCOVERED = """() => {
  const after = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const heads = [...document.querySelectorAll('main :is(h1, h2, h3, h4)')].filter(head => !head.closest('.output'));
  const parts = [...document.querySelectorAll('main :is(.output > *, table, img, svg)')].filter(part =>
    part.getClientRects().length && !part.matches('.veil') && !part.closest('details, .nlm-predict'));
  const open = [...document.querySelectorAll('.nlm-predict')].filter(asked => !asked.querySelector('.answers.done'));
  return open.flatMap(asked => {
    const next = heads.find(head => after(asked, head));
    const between = part => after(asked, part) && !(next && after(next, part));
    return parts.filter(part => between(part) && !part.querySelector('.nlm-predict'))
      .map(part => `${asked.querySelector('p').textContent}: ${part.textContent.slice(0, 80)}`);
  });
}"""


def uncovered(page: Any) -> list[str]:
    """What is printed or drawn below a question that nobody has answered, in the same section."""
    found: list[str] = page.evaluate(UNCOVERED)
    return found


def uncover(page: Any) -> None:
    """Show what waits for an answer."""
    page.evaluate("() => { for (let one; (one = document.querySelector('.veil button')); ) one.click(); }")


UNFOLD = """async () => {
  const all = [...document.querySelectorAll('details')], closed = all.filter(part => !part.open);
  const told = closed.map(part => new Promise(done => part.addEventListener('toggle', done, { once: true })));
  all.forEach(part => { part.hidden = false; part.open = true; });
  await Promise.all(told); // a table may be made when its place is opened
}"""


def unfold(page: Any) -> None:
    """Open all that is folded or covered, the answers to predictions too."""
    uncover(page)
    page.evaluate(UNFOLD)


def violations(page: Any) -> list[str]:
    """What axe-core finds, colours apart."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # axe does not read MathML, so it takes a heading with a formula for an empty one.
    off = {rule: {"enabled": False} for rule in ("empty-table-header", "color-contrast")}
    options = {"runOnly": RULES, "preload": False, "resultTypes": ["violations"], "elementRef": False, "rules": off}
    found = axe.run(page, options=options).response["violations"]
    return [f"{one['id']}: {node['html'][:300]}" for one in found for node in one["nodes"]]


def contrast(page: Any) -> list[str]:
    """Words that cannot be read well, in either theme. The page is left in the theme that it was in."""
    found = []
    for _ in range(2):
        found += page.evaluate(CONTRAST)
        page.locator("#theme").press("Enter")
    return found


def assert_perceivable(page: Any) -> None:
    """As far as axe-core and the colours tell, in both themes."""
    assert not violations(page)
    assert not contrast(page)


def answers(page: Any) -> list[str]:
    """Move every control of every widget by keyboard. Returns the faults: what shows or says nothing new."""
    faults = []
    for number, box in enumerate(page.query_selector_all(".nlm-live")):
        host, says = box.query_selector(".widget-html-content"), box.query_selector(":scope > [role=status]")
        for index in range(len(box.query_selector_all(".control"))):
            controls = box.query_selector_all(".control")  # some go when another moves
            if index >= len(controls):
                break
            name = f"widget {number}, {' '.join(controls[index].inner_text().split())[:40]!r}"
            said = says.text_content()
            key = press(page, host, controls[index])
            for other in controls:  # some have no effect at the start: a share of masks in a causal model
                if not key and other is not controls[index] and press(page, host, other):
                    key = press(page, host, controls[index])
            if not key:
                faults.append(f"{name} changes nothing")
                continue
            try:
                page.wait_for_function("([says, said]) => says.textContent !== said", arg=[says, said], timeout=MS / 2)
            except Exception:
                faults.append(f"{name} says nothing new: {said}")
            page.keyboard.press(BACK.get(key, key))  # each control is moved from the start
    return faults


def across(page: Any, widths: tuple[int, ...] = (390, 320)) -> list[str]:
    """Widths at which the page itself must be scrolled in two directions: a phone, and a laptop at 400 %."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 640})
        page.wait_for_function("width => innerWidth === width", arg=width)
        wide = page.evaluate(SETTLED)
        if wide > width:
            found.append(f"{wide} px at {width}")
    return found


def assert_for_everyone(page: Any) -> None:
    """WCAG 2.2 AA, as far as a program can tell: by axe-core, in both themes, by keyboard alone, zoomed to 400 %."""
    assert not uncovered(page)
    unfold(page)
    assert_perceivable(page)
    assert not answers(page)
    assert not across(page)
    assert not page.evaluate("document.getAnimations().length"), "it moves, and less motion was asked for"


def weight(path: Path) -> int:
    """Bytes of a page before a widget is touched, with its pictures, style and scripts."""
    page = path.read_text(encoding="utf-8")
    parts = set(re.findall(r'<(?:img|script|link rel="stylesheet")[^>]*? (?:src|href)="(?!data:)([^"]+)"', page))
    return len(page.encode()) + sum((path.parent / part).stat().st_size for part in parts)


def press(page: Any, host: Any, control: Any) -> str:
    """The key, of those that a control knows, that changes the picture; none of them: empty."""
    part = control.query_selector("input:checked, input, select")
    before = host.inner_html()
    part.focus()
    for key in KEYS.get(part.get_attribute("type") or "", ["ArrowDown", "ArrowUp"]):
        part = control.query_selector(":focus") or part
        part.press(key)
        try:
            page.wait_for_function("([host, before]) => host.innerHTML !== before", arg=[host, before], timeout=MS / 2)
            return key
        except Exception:  # at the end of its range: the other direction
            continue
    return ""
