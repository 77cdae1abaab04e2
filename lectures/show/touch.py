"""Pictures that answer the pointer and the keyboard: a part that is pressed or dragged moves sliders of its own widget.

`Live` gives each control the class `nlm-control-NAME`. The picture's handlers find the slider there and set it, so the
sliders stay the one place where a widget's values are, and every picture remains within reach of the keyboard.
Where no widget is around the picture (a printout, a page without a kernel), nothing happens.
"""

import html

__all__ = ["draggable_line", "pressable"]

_SLIDER = "box.querySelector('.nlm-control-'+n+' .noUi-target').noUiSlider.set(v)"

_PRESS = f"""
const p = event.target.closest('[data-sets]'), box = this.closest('.nlm-live');
if (!p || !box || (event.key && event.key !== 'Enter' && event.key !== ' ')) return;
event.preventDefault(); event.stopPropagation();
const [n, v] = p.dataset.sets.split('='), host = this.closest('.widget-html-content');
const all = () => [...host.querySelectorAll('[data-sets]')], at = all().indexOf(p);
const seen = new MutationObserver(() => {{ seen.disconnect(); all()[at]?.focus({{ preventScroll: true }}); }});
seen.observe(host, {{ childList: true }});
{_SLIDER};
"""
"""A part with data-sets="slider=value" sets that slider; the picture that follows has the focus in the same place."""

_DRAG = f"""
const part = event.target.closest('[data-drag]'), box = this.closest('.nlm-live');
if (!part || !box) return;
event.preventDefault();
const numbers = name => this.dataset[name].split(' ').map(Number);
const [left, top, across, down, low, high] = numbers('plot'), [w1, w2, cx, cy] = numbers('line');
const host = this.closest('.widget-html-content'), place = [...host.querySelectorAll('svg')].indexOf(this);
const set = (n, v) => {_SLIDER};
let last = 0;
const move = e => {{
  if (e.timeStamp - last < 50) return;
  last = e.timeStamp;
  const svg = host.querySelectorAll('svg')[place];
  const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const x = low + (at.x - left) / across * (high - low), y = high - (at.y - top) / down * (high - low);
  if (part.dataset.drag === 'line') return set('b', -(w1 * x + w2 * y));
  const far = Math.hypot(x - cx, y - cy) || 1, long = Math.hypot(w1, w2);
  const u = long * (x - cx) / far, v = long * (y - cy) / far;
  set('w1', u); set('w2', v); set('b', -(u * cx + v * cy));
}};
const end = e => {{
  if (last) {{ last = 0; move(e); }}
  window.removeEventListener('pointermove', move);
}};
window.addEventListener('pointermove', move);
window.addEventListener('pointerup', end, {{ once: true }});
"""
"""data-drag="line" moves the line and keeps its direction: it sets b. data-drag="arrow" turns it about its middle. Of
moves that come faster than a picture only some are drawn, but always the last one."""


def pressable() -> str:
    """Attributes for a drawing whose parts have `data-sets`."""
    return f'onclick="{html.escape(_PRESS)}" onkeydown="{html.escape(_PRESS)}" data-lm-suppress-shortcuts="true"'


def draggable_line(plot: tuple[float, ...], line: tuple[float, ...]) -> str:
    """Attributes for a drawing whose parts have `data-drag`.

    plot: left, top, width and height in pixels, and from which number to which it reaches. line: w1, w2 and its middle.
    """
    told = (" ".join(f"{value:.6g}" for value in values) for values in (plot, line))
    return 'data-plot="{}" data-line="{}" onpointerdown="{}"'.format(*told, html.escape(_DRAG))
