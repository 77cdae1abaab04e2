"""Every control of a live widget, moved by the keyboard, and how long the picture takes to follow.

A control is a slider's handle, a row of toggle buttons, a menu, a box to tick, a field to type in or a button. Each
is pressed several times; what its own value does, when the picture changes and what alerts say is noted.
"""

import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.lab import PATIENCE

PATIENCE_MS = 1_500 * PATIENCE
"""How long a key may take to change the picture before it counts as a key that changes nothing."""
SETTLE_MS = 30
"""Between a changed picture and the next key."""

CONTROLS = """(box) => {
  const kinds = [['slider', '.noUi-handle'], ['choice', '.widget-toggle-buttons'], ['menu', '.widget-dropdown select'],
    ['list', '.widget-select select, .widget-select-multiple select'], ['play', '.widget-play'],
    ['tick', 'input[type=checkbox]'], ['radio', '.widget-radio'], ['number', 'input[type=number]'],
    ['toggle', 'button.widget-toggle-button'], ['button', 'button.jupyter-button:not(.widget-toggle-button)'],
    ['text', '.widget-text input[type=text], .widget-textarea textarea']];
  const found = [];
  for (const [kind, where] of kinds) for (const node of box.querySelectorAll(where)) {
    if (kind === 'toggle' && node.closest('.widget-toggle-buttons')) continue;
    if (kind === 'button' && node.closest('.widget-play')) continue;
    const keys = kind === 'choice' ? [...node.querySelectorAll('button')] :
                 kind === 'radio' ? [...node.querySelectorAll('input')] :
                 kind === 'play' ? [...node.querySelectorAll('button')] : [node];
    const hidden = node.closest('.jupyter-widgets-disconnected') || !node.getClientRects().length;
    const usable = keys.filter(key => !key.disabled && key.getAttribute('disabled') === null
                                      && !key.closest('[disabled]'));
    if (hidden || !usable.length) continue;
    const id = found.length;
    usable.forEach((key, part) => { key.dataset.nlmControl = id + '-' + part; });
    const label = node.closest('.jupyter-widgets:not(.widget-box)')?.querySelector('label, .widget-label')?.innerText
                  || node.innerText || node.getAttribute('aria-label') || '';
    const options = node.tagName === 'SELECT' ? node.options.length : usable.length;
    found.push({ id, kind, label: label.trim().slice(0, 60), parts: usable.length, options, at: node.selectedIndex });
  }
  return found;
}"""

FOCUS = """([box, part, skipChosen]) => {
  const target = box.querySelector(`[data-nlm-control="${part}"]`);
  if (!target) return false;  // a choice that was taken away by an earlier one
  if (skipChosen && target.classList.contains('mod-active')) return false;  // pressed, it should change nothing
  target.focus();
  return true;
}"""

WATCH = """([box, patience, settle, ownChange, typed]) => {
  const picture = () => [...box.querySelectorAll('.widget-html-content, .widget-image')]
    .map(e => e.tagName === 'IMG' ? e.src : e.innerHTML).join('');
  const focused = document.activeElement;
  const own = () => [focused.getAttribute('aria-valuetext'), focused.value, focused.checked, focused.selectedIndex,
                     focused.className, focused.innerText].join('|');
  const before = picture(), value = own();
  let pressed = null;
  window.__watch = new Promise(done => {
    const end = ms => {
      changes.disconnect();
      done({ ms, alerts: [...box.querySelectorAll('[role=alert]')].map(e => e.innerText) });
    };
    const changes = new MutationObserver(() => {
      if (picture() === before) return;
      changes.disconnect();
      requestAnimationFrame(() => {  // the first frame that shows it
        const ms = performance.now() - (pressed ?? performance.now());
        setTimeout(end, settle, ms);
      });
    });
    changes.observe(box, { subtree: true, childList: true, characterData: true, attributeFilter: ['src'] });
    const press = () => {
      const first = pressed === null;
      if (first || typed) pressed = performance.now();  // a typed text: its last key
      if (!first) return;
      const unchanged = () => picture() === before;
      if (ownChange) setTimeout(() => own() === value && unchanged() && end(null), 250);  // a slider at its end
      setTimeout(() => unchanged() && end(null), patience);
    };
    window.addEventListener('keydown', press, { capture: true, once: !typed });
    window.addEventListener('change', press, { capture: true, once: true });  // an open menu takes the key itself
    setTimeout(() => pressed === null && press(), 2000);
  });
}"""


@dataclass
class Moved:
    """What became of one control."""

    kind: str
    label: str
    ms: list[float] = field(default_factory=list)
    """Of each key that changed the picture: milliseconds to the first frame that shows it."""
    without_effect: int = 0
    alerts: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        median = round(statistics.median(self.ms), 1) if self.ms else None
        return {**asdict(self), "ms": [round(ms, 1) for ms in self.ms], "median_ms": median}


def move_all(page, box, presses: int = 4, only_first: bool = False) -> list[Moved]:
    """Press keys on every control of the widget `box`: `presses` times the first, once each of the others.

    `box` is the element itself: a locator would search the whole notebook for it at every step.
    """
    moved: list[Moved] = []
    # Looked up anew for each: what one control does may rebuild another (a sentence brings its own words).
    while len(moved) < len(found := box.evaluate(CONTROLS)) and not (moved and only_first):
        control = found[len(moved)]
        result = Moved(control["kind"], control["label"])
        moved.append(result)
        wanted = presses if len(moved) == 1 and control["kind"] != "text" else 1
        for part, keys in _keys(control, wanted):
            if len(result.ms) >= wanted:
                break
            _press(page, box, f"{control['id']}-{part}", keys, result)
        if control["kind"] == "text":
            page.keyboard.press("Control+A")
            page.keyboard.press("Delete")
            page.keyboard.press("Enter")
        if control["kind"] == "play":
            box.query_selector(f'[data-nlm-control="{control["id"]}-1"]').press("Space")  # once more: it stands
    return moved


def _keys(control: dict[str, Any], wanted: int) -> Iterator[tuple[int, list[str]]]:
    """What to press, as (which part of the control, keys); the last of the keys is the one that counts."""
    kind, parts = control["kind"], control["parts"]
    if kind == "slider":
        there = ["ArrowRight", "ArrowLeft"] * wanted + ["PageUp", "PageDown", "End", "Home", "End"]
        yield from ((0, [key]) for key in there)
    elif kind in ("choice", "radio"):
        # In order there and back, so that each press is a change; a row of two is pressed again and again.
        order = [*range(parts), *reversed(range(parts - 1))] if parts > 1 else [0]
        yield from ((part, ["Space"]) for part in order * wanted)
    elif kind == "menu":
        # The arrows alone move JupyterLab's cursor from cell to cell; Space opens the menu.
        down, up = (["Space", key, "Enter"] for key in ("ArrowDown", "ArrowUp"))
        last = control["options"] - 1
        yield from ((0, keys) for keys in [down] * (last - control["at"]) + [up] * last)
    elif kind in ("tick", "toggle"):
        yield from ((0, ["Space"]) for _ in range(wanted))
    elif kind == "number":
        yield from ((0, [key, "Enter"]) for key in ("ArrowUp", "ArrowDown", "ArrowUp", "ArrowDown"))
    elif kind == "text":
        yield 0, ["End", " the cat", "Enter"]
    elif kind == "list":
        raise AssertionError("a list cannot be moved by keyboard in JupyterLab: take a Dropdown or ToggleButtons")
    elif kind == "play":
        yield from ((part, ["Space"]) for part in range(min(parts, 2)))
    else:
        yield 0, ["Space"]


def _press(page, box, part: str, keys: list[str], result: Moved) -> None:
    if result.without_effect > 6 and not result.ms:
        return  # it is clear by now
    if not page.evaluate(FOCUS, [box, part, result.kind == "choice"]):
        return
    patience = 20_000 * PATIENCE if result.kind in ("button", "text") else PATIENCE_MS
    own_change = result.kind not in ("button", "text", "play")
    watch = [box, patience, SETTLE_MS, own_change, result.kind == "text"]
    for key in keys:
        if key is (keys[0] if result.kind == "text" else keys[-1]):
            page.evaluate(WATCH, watch)
        if len(key) > 1 and not key[0].isupper():
            page.keyboard.type(key)
        else:
            page.keyboard.press(key)
    seen = page.evaluate("() => window.__watch")
    if seen["ms"] is None:
        result.without_effect += 1
    else:
        result.ms.append(seen["ms"])
    result.alerts += [words for words in seen["alerts"] if words not in result.alerts]
