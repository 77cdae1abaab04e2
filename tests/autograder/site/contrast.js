// The words of the page whose contrast is too low for WCAG 2.2 AA: in HTML, code, formulas and drawings. axe-core leaves
// drawings out, and takes minutes for the rest. Gives one line for each pair of colours.
() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const seen = new Map();
  const rgba = text => {
    if (!seen.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      seen.set(text, [r, g, b, a / 255]);
    }
    return seen.get(text);
  };
  const over = (top, below) => {
    const a = top[3] + below[3] * (1 - top[3]);
    return a ? [...[0, 1, 2].map(i => (top[i] * top[3] + below[i] * below[3] * (1 - top[3])) / a), a] : [0, 0, 0, 0];
  };
  const faded = (colour, opacity) => [...colour.slice(0, 3), colour[3] * opacity];
  const style = new WeakMap();
  const look = node => style.get(node) || style.set(node, getComputedStyle(node)).get(node);
  const up = node => node.parentElement;
  // invert(p), then hue-rotate(180deg), as the dark theme has it
  const filtered = (colour, filter) => {
    const p = Number(/invert\(([\d.]+)\)/.exec(filter)?.[1] ?? 0);
    const [r, g, b] = colour.map(v => v + p * (255 - 2 * v));
    const turned = [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]].map(m => m[0] * r + m[1] * g + m[2] * b);
    return [...turned.map(v => Math.max(0, Math.min(255, v))), colour[3]];
  };
  // Through all filters from an element outwards.
  const shown = (colour, node) => {
    for (let at = node; at; at = up(at)) if (look(at).filter.includes('invert')) colour = filtered(colour, look(at).filter);
    return colour;
  };
  const behind = node => { // of an element in HTML: the colours of its ancestors
    let found = [0, 0, 0, 0];
    for (let at = node; at && found[3] < 1; at = up(at)) {
      const own = rgba(look(at).backgroundColor);
      if (own[3]) found = over(found, faded(shown(own, at), 1));
    }
    return over(found, shown([255, 255, 255, 1], null));
  };
  const shapes = new WeakMap();
  const under = (text, x, y) => { // of words in a drawing: what was painted there before
    const svg = text.closest('svg:not(svg svg)');
    if (!shapes.has(svg)) shapes.set(svg, [...svg.querySelectorAll('rect, circle, ellipse, path, polygon')]
      .filter(part => look(part).fill !== 'none' && !part.closest('defs, clipPath, marker, title')));
    let found = behind(svg);
    for (const part of shapes.get(svg)) {
      if (!(part.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
      const box = part.getBoundingClientRect();
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
      const point = new DOMPoint(x, y).matrixTransform(part.getScreenCTM().inverse());
      if (!part.isPointInFill(point)) continue;
      let opacity = Number(look(part).fillOpacity);
      for (let at = part; at !== svg; at = up(at)) opacity *= Number(look(at).opacity);
      found = over(faded(shown(rgba(look(part).fill), part), opacity), found);
    }
    return found;
  };
  const light = colour => {
    const [r, g, b] = colour.map(v => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faults = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let words; (words = walker.nextNode());) {
    const node = words.parentElement;
    if (!words.data.trim() || !node.checkVisibility({ visibilityProperty: true }) || node.closest('.only-read, .skip, title, option, script, style, :disabled')) continue;
    const own = look(node), drawing = node.closest('svg'), range = document.createRange();
    range.selectNodeContents(words);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    let opacity = 1;
    for (let at = node; at; at = up(at)) opacity *= Number(look(at).opacity);
    if (!opacity) continue; // shown where the mouse is
    const halo = drawing && own.paintOrder.startsWith('stroke') && own.stroke !== 'none';
    const ground = halo ? shown(rgba(own.stroke), node)
      : drawing ? under(node, box.left + box.width / 2, box.top + box.height / 2) : behind(node);
    const ink = over(faded(shown(rgba(drawing ? own.fill : own.color), node), opacity), ground);
    const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
    const size = parseFloat(own.fontSize) * (drawing ? Math.abs(node.getScreenCTM().d) : 1);
    const enough = size >= 24 || (size >= 18.66 && Number(own.fontWeight) >= 700) ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio >= enough - 0.005) continue;
    const pair = [ink, ground].map(colour => `rgb(${colour.slice(0, 3).map(Math.round)})`).join(' on ');
    if (!faults.has(pair)) faults.set(pair, `${ratio.toFixed(2)}: ${pair}: “${words.data.trim().slice(0, 60)}” in ${node.tagName} of ${(node.closest('[aria-label]')?.getAttribute('aria-label') || node.getAttribute('class') || '').slice(0, 60)}`);
  }
  return [...faults.values()];
}
