// The living model. Threads are tokens, going up through the layers; an arc carries something from an earlier token to a later
// one, a knot is what a network adds; the last thread ends in the next words. A part that is pressed is off. What that does is
// asked of Python (`Kernel`), or looked up (`Stored`: a page without Python, one change at a time). Besides its parts, a window
// (`window`: how many tokens each token sees; `kept`: those that all see nevertheless) and a direction can be changed.
// A masked language model (`fills`) sees both sides, and its red thread is that of the hidden token (`position`).
'use strict';
(() => {
if (window.nlmLiving) return;

const VIEWS = { adds: 'How much each part adds', lens: 'What each layer would say', direct: 'What each part writes for the next word' };
const PLAIN = { window: null, kept: [], strength: 0 };
const ROWS = 19; // em: a shallow model has high rows, so that its next words have room beside them
const PACE = 60, PULSE = 380, SLOTS = 7, SEEN = 0.05, MOVES = 0.1; // PACE, PULSE: milliseconds; SEEN: a weight; MOVES: a probability
const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
const shown = words => words.trim() || words.replaceAll(' ', '␣');
const per = p => (p >= 0.0005 ? p.toFixed(3) : 'below 0.001');
const signed = x => (x < 0 ? '−' : '+') + Math.abs(x).toFixed(2);
const range = n => Array.from({ length: n }, (_, i) => i);
const pause = ms => new Promise(done => { setTimeout(done, ms); });

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? '' : value);
  node.append(...children);
  return node;
}
const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
let made = 0;

// --- who answers --------------------------------------------------------------------------------------

class Stored {
  most = 1;
  constructor(sentences, sheets) { Object.assign(this, { sentences, sheets, sheet: sheets[0] }); }

  async ask({ text, off = [], each, window, kept, layer, strength }) {
    const told = {};
    if (text !== undefined) told.sheet = this.sheet = this.sheets[this.sentences.indexOf(text)];
    const { every, heads, words, next } = this.sheet;
    const rows = name => every[name]?.map(([id, p]) => [id, words[id], p]) || next; // no answer: a window longer than the sentence
    const key = off.length ? (off.length > 1 ? off[0].split('.')[0] : off[0]) : window ? ['w' + window, ...kept].join('+') : strength && `s${layer}:${strength}`;
    if (each === undefined) return { ...told, next: key ? rows(key) : next };
    const names = [...range(heads + 1).map(k => `${each}.${k}`), `${each}`];
    return { each: names.map(name => every[name].find(([id]) => id === next[0][0])[1]), next: rows(`${each}`) };
  }
}

class Kernel {
  most = Infinity;
  constructor(box) {
    Object.assign(this, { input: box.querySelector('.nlm-living-asks input'), place: box.querySelector('.nlm-living-tells'), waits: new Map(), n: Date.now() });
    new MutationObserver(() => { const told = this.told(); this.waits.get(told.n)?.(told); }).observe(this.place, { childList: true, subtree: true });
  }

  told() { return JSON.parse(this.place.querySelector('span')?.textContent || '{}'); }

  ask(message) {
    return new Promise(done => {
      const n = ++this.n, late = setTimeout(() => answer({ error: 'Python does not answer. Is the kernel running?' }), 30_000);
      const answer = told => { clearTimeout(late); this.waits.delete(n); done(told); };
      this.waits.set(n, answer);
      this.input.value = JSON.stringify({ n, ...message });
      for (const kind of ['input', 'change']) this.input.dispatchEvent(new Event(kind, { bubbles: true }));
    });
  }
}

// --- the picture ----------------------------------------------------------------------------------------

class Living {
  constructor(host, backend, { sentences, at, view, explained, scale, layers, ...opens }, { sheet, next }) {
    Object.assign(this, { host, backend, explained, ...scale, more: { ...PLAIN, ...opens }, windowed: Boolean(opens.window), steers: layers.length > 0, off: new Set(), turn: 0, tail: Promise.resolve(), resting: null, maps: new Map() });
    const id = `nlm-living-${made++}`, alone = backend.most === 1;
    const { fills } = sheet, whose = this.whose = fills ? 'the hidden token' : 'the last token';
    if (ROWS > sheet.layers) host.style.setProperty('--row', `${(ROWS / sheet.layers).toFixed(2)}em`);
    this.board = make('div', { class: 'board', role: 'grid', 'aria-label': 'Parts of the model, the last layer on top. Enter switches a part off and on.',
      'data-lm-suppress-shortcuts': 'true', onclick: ({ target }) => this.press(target.dataset.part),
      onfocusin: ({ target }) => { if (target.dataset.part) this.reach(target.dataset.part); },
      onpointerover: ({ target }) => this.rest(target.dataset.part || null), onpointerleave: () => this.rest(null) });
    this.names = make('p', { class: 'names', 'aria-hidden': 'true' }, make('span', {}, 'heads 0 to ', `${sheet.heads - 1}`), make('span', {}, 'network'));
    this.svg = draw('svg', { 'aria-hidden': 'true' });
    this.loom = make('div', { class: 'loom', role: 'group', 'aria-label': 'The picture; the table below says the same' }, this.svg);
    this.svg.addEventListener('click', ({ target }) => { if (target.dataset.token) this.keep(Number(target.dataset.token)); if (target.dataset.part) (this.narrow() ? this.reach(target.dataset.part) : this.press(target.dataset.part)); });
    this.svg.addEventListener('pointermove', ({ target }) => this.rest(target.dataset.part || null));
    this.svg.addEventListener('pointerleave', () => this.rest(null));
    this.strip = make('div', { class: 'strip', role: 'group', onclick: ({ target }) => this.press(target.dataset.part) });
    this.says = make('p', { class: 'says', role: 'status' });
    this.reads = make('span');
    this.leads = make('a', backend.most === 1 ? {} : { 'data-commandlinker-command': 'rendermime:handle-local-link' }); // in JupyterLab a command opens it
    this.tokens = make('p', { class: 'tokens', role: 'group', 'aria-label': 'Tokens beyond the window', hidden: !this.windowed });
    this.legend = make('p', { class: 'legend' });
    this.choose = make('select', { id, onchange: () => this.begin(this.choose.value) }, ...sentences.map(text => make('option', { value: text }, fills ? text : `${text} …`)));
    this.typed = make('input', { type: 'text', 'aria-label': 'Your own sentence', placeholder: 'or type your own, then Enter', spellcheck: 'false', autocomplete: 'off',
      'data-lm-suppress-shortcuts': 'true', onkeydown: event => { event.stopPropagation(); if (event.key === 'Enter') this.begin(this.typed.value); } });
    const button = (words, does) => make('button', { type: 'button', onclick: does }, words);
    this.on = button('All on again', () => this.set([], PLAIN));
    this.wave = button('Try each part alone', () => (this.waving ? this.stop() : this.each()));
    this.first = make('input', { type: 'checkbox', onchange: () => this.look() });
    this.view = make('select', { 'aria-label': 'What the picture shows', onchange: () => this.set([...this.off]) },
      ...Object.entries(VIEWS).filter(([name]) => name !== 'direct' || sheet.direct).map(([name, words]) => make('option', { value: name }, words)));
    this.view.value = view;
    const bar = make('div', { class: 'bar' }, make('label', { for: id }, 'Sentence'), this.choose, ...(alone ? [] : [this.typed, ...(fills ? [] : [button('Write the next token', () => this.write())])]),
      this.view, this.on, this.wave, make('label', {}, this.first, ' without the first token'));
    this.table = make('div');
    const option = (value, words) => make('option', { value }, words), change = (name, from) => event => this.set([...this.off], { [name]: event.target.value && Number(event.target.value), ...from });
    this.width = make('select', { onchange: change('window', { kept: [] }) }, option('', 'all tokens'), ...this.windows.map(w => option(w, `${w} tokens`)));
    this.after = make('select', { onchange: change('layer') }, ...layers.map(l => option(l, l)));
    this.strength = make('input', { type: 'range', min: -this.strongest, max: this.strongest, step: this.notch, 'data-lm-suppress-shortcuts': 'true', onkeydown: event => event.stopPropagation(),
      oninput: () => this.set([...this.off], { strength: Number(this.strength.value) }) });
    if (this.windowed) bar.append(make('label', {}, 'Each token sees ', this.width));
    if (this.steers) bar.append(make('label', {}, 'Direction after layer ', this.after), make('label', {}, 'strength ', this.strength));
    this.grip();
    this.twin = make('details', { ontoggle: () => this.tell() }, make('summary', {}, 'Keys, what is drawn, and the same as a table'),
      make('p', {}, 'Keys in the picture: arrows move, Enter switches a part off and on, L its whole layer, ', alone || fills ? '' : 'Space writes the next token, ', 'Escape switches all on.'),
      make('p', {}, `Threads are tokens, going up through the layers; that of ${whose} ends in the ${fills ? 'tokens that may be hidden' : 'next token'}, and what reaches it is red. A line between threads is what a head brings from ${fills ? 'another' : 'an earlier'} token, `,
        'as wide as the vector that it adds, against the vector that it is added to. A knot is what a network adds. On the left each head is a dot and each network a square, as large as what it adds at ', whose, '; ',
        'once you have tried one, as red as the share of the likeliest token that its absence moves. An arc is where the chosen head looks. Off means that a part adds nothing.'),
      make('p', {}, `“${VIEWS.lens}” reads the vector of ${whose} after each layer as if it were the last layer's (the logit lens): its first guess, where that changes, and as a bar the probability of the word that the whole model puts first. `,
        'A dot on a thread: there the first guess is already that of the last layer.', sheet.direct ? ` “${VIEWS.direct}” splits the difference between the logits of the two likeliest tokens (direct logit attribution, with everything on): the larger a part, the more it writes; a ring works against the first.` : ''),
      this.windowed ? make('p', {}, 'A token that the last one does not see is struck through, and lines that no token reads through the window are not drawn.') : '',
      this.steers ? make('p', {}, 'The direction is added to the vector of the last token after one layer, as often as the strength says. The knob on the last thread can be dragged.') : '',
      alone ? make('p', {}, 'One change at a time is made on this page; in the notebook several, and you type your own sentence.') : '', this.table);
    host.replaceChildren(bar, make('div', { class: 'cloth' }, make('div', {}, this.names, this.board), this.loom), this.tokens, this.strip, this.says,
      make('p', { class: 'reads' }, this.reads, ' ', this.leads), this.legend, this.twin);
    host.addEventListener('keydown', event => this.key(event));
    this.board.addEventListener('keyup', event => { if (event.key === ' ') event.preventDefault(); }); // else it presses the button
    this.board.dataset.at = at;
    this.show(sheet, next, at || `${Math.floor(0.6 * sheet.layers)}`);
    new ResizeObserver(() => { if (this.room !== this.loom.clientWidth || this.high !== this.rowHeight()) this.lay(); }).observe(host);
  }

  narrow() { return getComputedStyle(this.strip).display !== 'none'; }

  rowHeight() { return this.board.firstChild.getBoundingClientRect().height; }

  // A new sentence: all that does not change with what is off.
  show(sheet, next, at = this.at) {
    Object.assign(this, { sheet, next, whole: sheet.next, lens: sheet.lens, tried: new Map(), at, bytes: Uint8Array.from(atob(sheet.weights), letter => letter.charCodeAt(0)) });
    this.choose.value = sheet.text; // nothing, if it was typed or written
    const { layers, heads } = sheet, columns = ['', ...range(heads + 1).map(k => `.${k}`)];
    if (!this.cells) {
      this.cells = new Map();
      for (const l of range(layers).reverse())
        this.board.append(make('div', { role: 'row' }, ...columns.map((of, k) => {
          const cell = make('button', { type: 'button', role: 'gridcell', tabindex: -1, 'data-part': `${l}${of}`, class: k ? (k > heads ? 'net' : 'head') : 'layer' },
            ...(k || (l % 5 && l !== layers - 1) ? [] : [`${l}`]));
          if (!k) cell.dataset.shows = cell.textContent;
          this.cells.set(`${l}${of}`, cell);
          return cell;
        })));
    }
    this.lay();
    this.reach(at, false);
    this.told(next);
  }

  // How large a part is on the board: what it adds, or what it writes for the first word, a ring against it.
  weigh() {
    const { adds, networks, direct, heads } = this.sheet, shares = this.view.value === 'direct' && direct, most = shares && Math.max(...shares.flat().map(Math.abs));
    for (const [l, row] of adds.entries()) for (const k of range(heads + 1)) {
      const cell = this.cells.get(`${l}.${k}`), size = shares ? 0.12 + 0.88 * Math.sqrt(Math.abs(shares[l][k]) / most) : 0.25 + (k < heads ? 5 * row[k] : networks[l][this.sheet.position]);
      cell.style.setProperty('--size', Math.min(1, size).toFixed(2));
      cell.classList.toggle('minus', Boolean(shares) && shares[l][k] < 0);
    }
  }

  legends() {
    const [first, second] = this.whole.map(([, word]) => `“${shown(word)}”`);
    return { lens: `Bar: the probability of ${first} after each layer. Words: the first guess, where it changes. Dark dot: already the last layer's guess.`,
      direct: `Filled: works for ${first} against ${second}, ring: against it; the larger, the more.` };
  }

  // The lens: beside the last thread what each layer would say, and on all threads where that is already what the last one says.
  read() {
    const { over, X, Y, thick: dy, em, top, sheet: { position }, lens: { last, same } } = this, end = X(this.sheet.tokens.length - 1), wide = Math.max(1.5 * em, this.fanWide - 10 * em), group = draw('g', { class: 'lens' }), said = [];
    last.forEach(([word, , p], l) => {
      const y = l ? Y(l) : Y(0) - 0.2 * this.dy;
      if (p >= 0.01) group.append(draw('rect', { x: end + 0.7 * em, y: y - 0.2 * dy, width: (wide * p).toFixed(1), height: 0.4 * dy }));
      same[l].forEach((one, i) => { if (one) group.append(draw('circle', { cx: X(i), cy: y, r: 0.24 * dy, class: i === position ? 'last' : '' })); });
      if (!l || word !== last[l - 1][0]) said.push([y + 0.3 * em, `${l ? `layer ${l - 1}` : 'embedding'}: ${shown(word)}`]);
    });
    // A line of its own for each: what is too near moves up, and what then is above the picture moves down again.
    const line = 1.05 * em;
    said.forEach((one, i) => { if (i) one[0] = Math.min(one[0], said[i - 1][0] - line); });
    said.reduceRight((above, one) => one[0] = Math.max(one[0], above + line), top - 0.55 * em);
    for (const [y, words] of said) group.append(draw('text', { x: end + wide + 1.2 * em, y }, words));
    over.append(group);
  }

  // Where everything is. Rows are as high as those of the board, so that a layer's threads are beside its buttons.
  lay() {
    const { svg, sheet: { tokens, layers, heads, lines, networks, position } } = this, n = tokens.length;
    const em = this.em = parseFloat(getComputedStyle(this.host).fontSize), dy = this.dy = this.high = this.rowHeight(), room = this.room = this.loom.clientWidth, left = 1.6 * em;
    if (!room || !dy) return;
    const thick = this.thick = Math.min(dy, em); // what lines and knots are measured by
    const small = this.narrow(), fan = this.fanWide = Math.min(17 * em, Math.max((small ? 12.6 : 9.8) * em, 0.34 * room));
    const wide = this.wide = small ? Math.max(room, fan + left + 1.5 * em * (n - 1)) : room, right = wide - fan; // then it is scrolled, from its end
    const apart = (right - left) / Math.max(1, tokens.length - 1), steep = apart < 1.3 * em;
    const longest = Math.max(...tokens.map(token => shown(token).length)), turned = longest * 0.55 * em > apart;
    const top = this.top = 1.4 * em, foot = this.foot = top + layers * dy, below = turned ? 0.55 * em * Math.min(12, longest) * (steep ? 0.95 : 0.75) + 1.6 * em : 2.3 * em;
    const X = this.X = i => left + (right - left) * i / Math.max(1, n - 1), Y = this.Y = l => foot - dy * l;
    svg.setAttribute('height', foot + below);
    svg.style.width = wide > room ? `${wide}px` : '';
    this.loom.tabIndex = wide > room ? 0 : -1;
    svg.setAttribute('viewBox', `0 0 ${wide} ${foot + below}`);
    this.names.style.height = `${top}px`;
    this.rows = new Map();
    this.lines = new Map();
    const cloth = draw('g', { class: 'wefts' }), warp = draw('g'), knots = draw('g', { class: 'knots' }), hits = draw('g');
    for (const l of range(layers)) {
      this.rows.set(l, hits.appendChild(draw('rect', { class: 'row', x: 0, y: Y(l + 1), width: right + em, height: dy, 'data-part': l })));
      for (const k of range(heads + 1)) this.lines.set(`${l}.${k}`, []);
      networks[l].forEach((size, i) => this.lines.get(`${l}.${heads}`).push(knots.appendChild(draw('circle', { class: i === position ? 'last' : '', cx: X(i), cy: Y(l + 0.5),
        r: Math.min(0.62 * thick, 0.3 * apart, 0.7 + 0.75 * thick * size).toFixed(1) }))));
    }
    const [rise, fall] = dy > em ? [0.45, 0.5] : [1.3, -0.35];
    for (const [l, k, i, j, w] of [...lines].reverse()) {
      const x = X(j), to = X(i), across = to - x, y = Y(l + 0.1), up = Y(l + 1);
      const line = cloth.appendChild(draw('path', { class: `${i === position ? 'last' : ''}${j ? '' : ' parked'}`, 'stroke-width': Math.max(0.5, Math.min(0.5 * thick, 1.6 * thick * w)).toFixed(2),
        opacity: Math.min(0.95, 0.16 + 3.2 * w).toFixed(2), d: `M${x} ${y}C${x + 0.2 * across} ${y - rise * dy},${x + 0.78 * across} ${y - fall * dy},${to} ${up}` }));
      this.lines.get(`${l}.${k}`).push(Object.assign(line, { from: j, to: i }));
    }
    tokens.forEach((token, i) => {
      const on = i === position && i < n - 1 ? `C${X(i)} ${top - em},${X(i)} ${top - em},${X(i) + em} ${top - em}H${X(n - 1) + 0.4 * em}` : ''; // over the others
      warp.append(draw('path', { class: i === position ? 'thread last' : 'thread', d: `M${X(i)} ${foot + 0.35 * em}V${top}${on}` }));
      const place = turned ? { transform: `translate(${X(i) + 0.25 * em} ${foot + 1.1 * em}) rotate(${steep ? -65 : -40})`, 'text-anchor': 'end' } : { x: X(i), y: foot + 1.5 * em, 'text-anchor': 'middle' };
      warp.append(draw('text', { class: i === position ? 'token last' : 'token', 'data-token': this.windowed && i, ...place }, shown(token)));
    });
    this.pulse = draw('path', { class: 'pulse' });
    this.over = draw('g', { class: 'over' });
    this.fan = draw('g', { class: 'fan' });
    this.ribbons = new Map();
    svg.replaceChildren(cloth, warp, knots, this.over, this.pulse, hits, this.fan, this.knob);
    this.loom.scrollLeft = wide;
    this.mark();
    this.look();
    this.pour(this.next);
  }

  // --- the next words ---------------------------------------------------------------------------------

  pour(next) {
    if (!this.ribbons) return;
    const { em, X, top } = this, now = new Map(next.map(([id, , p]) => [id, p])), words = new Map([...this.whole, ...next].map(([id, word]) => [id, word]));
    const kept = this.sheet.follow.length ? this.sheet.follow : this.whole.slice(0, 3).map(([id]) => id), ids = [...new Set([...kept, ...now.keys()])].sort((a, b) => (now.get(b) || 0) - (now.get(a) || 0));
    const chosen = [...ids.filter(id => kept.includes(id)), ...ids.filter(id => !kept.includes(id))].slice(0, SLOTS).sort((a, b) => (now.get(b) || 0) - (now.get(a) || 0));
    const n = this.sheet.tokens.length, aside = this.sheet.position < n - 1, x = X(n - 1) + (aside ? 0.4 * em : 0), to = this.wide - this.fanWide + Math.min(6.2 * em, (this.narrow() ? 0.25 : 0.35) * this.fanWide), start = 1.9 * em, whole = 10 * em, least = 2.15 * em;
    const changed = this.changed() || Boolean(this.waving);
    let y = 0.1 * em, used = 0;
    for (const [id, group] of this.ribbons) if (!chosen.includes(id)) { group.remove(); this.ribbons.delete(id); }
    for (const id of chosen) {
      const p = now.get(id) || 0, was = this.whole.find(([one]) => one === id)?.[2], h = Math.max(0.8, p * whole), room = Math.max(h, least, changed && was ? was * whole : 0), c = y + room / 2;
      const a = top - (aside ? 1.2 : 0.2) * em + used * start, b = a + Math.max(0.8, p * start), bend = (to - x) * 0.5;
      if (!this.ribbons.has(id)) this.ribbons.set(id, this.fan.appendChild(draw('g', {}, draw('path'), draw('path', { class: 'was' }), draw('g', { class: 'named' }, draw('text', { class: 'word', y: 0 }), draw('text', { class: 'p', y: 0.95 * em })))));
      const group = this.ribbons.get(id), [ribbon, before, named] = group.children;
      const d = `M${x} ${a}C${x + bend} ${a - 0.6 * em},${to - bend} ${c - h / 2},${to} ${c - h / 2}L${to} ${c + h / 2}C${to - bend} ${c + h / 2},${x + bend} ${b - 0.4 * em},${x} ${b}Z`;
      ribbon.setAttribute('d', d);
      ribbon.style.d = `path("${d}")`; // so that it moves, where a browser can
      before.setAttribute('d', changed && was ? `M${to + 0.22 * em} ${c - was * whole / 2 - 1}v${was * whole + 2}` : '');
      named.style.transform = `translate(${to + 0.6 * em}px, ${c}px)`;
      named.children[0].textContent = shown(words.get(id));
      named.children[1].textContent = per(p) + (!changed ? '' : was === undefined ? ', was little' : `, was ${per(was)}`);
      y += room + 0.25 * em;
      used += p;
    }
  }

  // The change goes up the last thread.
  rise(layer) {
    if (still() || !this.pulse.animate || layer === undefined) return;
    const x = this.X(this.sheet.position), from = this.Y(layer), length = from - this.top;
    this.pulse.setAttribute('d', `M${x} ${from}V${this.top}`);
    this.pulse.animate([{ strokeDasharray: `0 ${length}`, opacity: 1 }, { strokeDasharray: `${length} 0`, opacity: 1, offset: 0.7 }, { strokeDasharray: `${length} 0`, opacity: 0 }], PULSE);
  }

  // --- switching ------------------------------------------------------------------------------------------

  partsOf(name) { return name.includes('.') ? [name] : range(this.sheet.heads + 1).map(k => `${name}.${k}`); }

  isOff(name) { return this.partsOf(name).every(part => this.off.has(part)); }

  press(name) {
    if (!name) return;
    this.reach(name);
    const parts = this.partsOf(name), off = new Set(this.backend.most === 1 && !this.isOff(name) ? [] : this.off), was = this.isOff(name);
    if (this.backend.most === 1 && was) off.clear();
    for (const part of parts) if (was) off.delete(part); else off.add(part);
    this.set([...off]);
  }

  changed() { return this.off.size > 0 || Boolean(this.more.window || this.more.strength); }

  // What is off or otherwise changed, and the lens if it is looked through.
  asking(off) { return { off, ...this.more, ...(this.view.value === 'lens' ? { lens: true } : {}) }; }

  // Of quick presses only the last is computed.
  async set(off, more = {}) {
    const changed = [...off, ...this.off].filter(part => off.includes(part) !== this.off.has(part)).map(part => parseInt(part, 10));
    this.stop();
    if ('window' in more || 'kept' in more) changed.push(0);
    if ('strength' in more || 'layer' in more) changed.push(more.layer ?? this.more.layer);
    if (this.backend.most === 1 && Object.keys(more).length) { // one change at a time
      off = [];
      more = 'window' in more || 'kept' in more ? { strength: 0, ...more } : { window: null, kept: [], ...more };
    }
    this.more = { ...this.more, ...(this.backend.most === 1 && off.length ? PLAIN : more) };
    this.off = new Set(off);
    this.maps.clear();
    this.mark();
    const turn = ++this.turn, told = await this.ask(() => turn === this.turn && this.asking(off));
    if (!told || turn !== this.turn) return;
    this.lens = told.lens || this.sheet.lens;
    this.rise(changed.length ? Math.min(...changed) : undefined);
    this.told(told.next);
    this.look();
  }

  // One message at a time; `message` says at its turn what is asked, or that it is no longer wanted.
  ask(message) {
    const asked = this.tail.then(async () => {
      const wanted = message();
      if (!wanted) return null;
      const told = await this.backend.ask(wanted);
      if (!told.error) return told;
      this.say(told.error);
      return null;
    });
    this.tail = asked.catch(error => { console.error(error); });
    return asked;
  }

  async begin(text) {
    this.more.kept = [];
    if (text.trim()) this.fresh({ text, off: [], ...this.more }, []);
  }

  write() {
    if (this.backend.most > 1 && !this.sheet.fills) this.fresh({ write: this.next[0][0], off: [...this.off], ...this.more }, [...this.off]);
  }

  // --- a window, and a direction ------------------------------------------------------------------------

  // The tokens that the last one does not see through the window.
  beyond() { return this.more.window ? range(Math.max(0, this.sheet.tokens.length - this.more.window)) : []; }

  shut(from, to) { return Boolean(this.more.window) && to - from >= this.more.window && !this.more.kept.includes(from); }

  keep(i) {
    const { kept } = this.more, without = kept.filter(one => one !== i);
    if (this.beyond().includes(i)) this.set([...this.off], { kept: without.length < kept.length ? without : this.backend.most === 1 ? [i] : [...kept, i] });
  }

  // How many pixels one time the direction is in the picture.
  unit() { return 1.1 * this.em; }

  grip() {
    const ball = draw('circle');
    this.knob = draw('g', { class: 'knob', 'aria-hidden': 'true' }, draw('line'), ball);
    ball.addEventListener('pointerdown', event => { ball.setPointerCapture(event.pointerId); event.preventDefault(); });
    ball.addEventListener('pointermove', event => {
      if (!ball.hasPointerCapture(event.pointerId)) return;
      const away = event.clientX - this.svg.getBoundingClientRect().left - this.X(this.sheet.position), strength = Math.round(away / this.unit() / this.notch) * this.notch;
      const within = Math.max(-this.strongest, Math.min(this.strongest, strength));
      if (within !== this.more.strength) this.set([...this.off], { strength: within });
    });
  }

  // The controls say what is so now.
  state() {
    const { window, kept, layer, strength } = this.more, { tokens } = this.sheet, { em } = this;
    if (this.windowed) {
      this.width.value = window || '';
      const beyond = this.beyond(), buttons = () => [...this.tokens.querySelectorAll('button')];
      if (buttons().map(one => one.textContent).join() !== beyond.map(i => shown(tokens[i])).join() || !this.tokens.firstChild) // else the focus stays where it is
        this.tokens.replaceChildren(beyond.length ? 'Not seen by the last token; press one, and all later tokens see it:' : 'The last token sees all others.',
          ...beyond.map(i => make('button', { type: 'button', onclick: () => this.keep(i) }, shown(tokens[i]))));
      buttons().forEach((one, i) => one.setAttribute('aria-pressed', String(kept.includes(i))));
      for (const token of this.svg.querySelectorAll('.token')) token.classList.toggle('shut', this.shut(Number(token.dataset.token), tokens.length - 1));
    }
    if (!this.steers) return;
    this.after.value = layer;
    this.strength.value = strength;
    this.strength.setAttribute('aria-valuetext', signed(strength));
    if (!this.X) return; // not laid out yet: where it is hidden it has no width
    const x = this.X(this.sheet.position), y = this.Y(layer + 1), [line, ball] = this.knob.children, wide = this.strongest * this.unit();
    for (const [name, value] of Object.entries({ x1: x - wide, x2: x + wide, y1: y, y2: y })) line.setAttribute(name, value);
    for (const [name, value] of Object.entries({ cx: x + strength * this.unit(), cy: y, r: 0.5 * em })) ball.setAttribute(name, value);
  }

  async fresh(message, off) {
    this.stop();
    const told = await this.ask(() => message);
    if (!told) return;
    this.turn++;
    this.off = new Set(off);
    this.maps.clear();
    this.show(told.sheet, told.next);
  }

  // --- each part alone, layer by layer from below -----------------------------------------------------------

  async each() {
    const { layers, heads } = this.sheet, sheet = this.sheet;
    await this.set([], PLAIN);
    const wave = this.waving = {};
    this.wave.textContent = 'Stop';
    for (const l of range(layers)) {
      const told = await this.ask(() => this.waving === wave && { each: l });
      if (!told || this.waving !== wave || this.sheet !== sheet) return;
      told.each.forEach((p, k) => this.tried.set(k > heads ? `${l}` : `${l}.${k}`, p));
      this.mark();
      if (!still()) { this.pour(told.next); this.rows.get(l).classList.add('passing'); await pause(PACE); this.rows.get(l).classList.remove('passing'); }
    }
    this.stop();
    const p = this.whole[0][2], moved = test => [...this.tried].filter(([name, q]) => test(name) && Math.abs(q - p) > MOVES).length;
    const kind = name => (name.includes('.') ? Number(name.split('.')[1]) < heads : null);
    this.say(`Each alone: ${moved(name => kind(name) === null)} of ${layers} layers, ${moved(name => kind(name) === false)} of ${layers} networks and `
      + `${moved(name => kind(name) === true)} of ${layers * heads} heads move ${shown(this.whole[0][1])} by more than ${MOVES}.`);
  }

  stop() {
    if (!this.waving) return;
    this.waving = null;
    this.wave.textContent = 'Try each part alone';
    this.pour(this.next);
  }

  // --- looking ----------------------------------------------------------------------------------------------

  // The part that the keyboard is at.
  reach(name, take = document.activeElement !== this.cells.get(name)) {
    for (const other of [this.at, name]) {
      const layer = this.cells.get(`${parseInt(other, 10)}`);
      this.cells.get(other).tabIndex = other === name ? 0 : -1;
      layer.textContent = other === name ? parseInt(name, 10) : layer.dataset.shows;
    }
    this.at = name;
    const cell = this.cells.get(name);
    if (take && this.board.contains(document.activeElement)) cell.focus({ preventScroll: true });
    this.bands();
    this.look();
  }

  rest(name) {
    if (name === this.resting) return;
    this.resting = name;
    clearTimeout(this.later);
    this.later = setTimeout(() => { this.bands(); this.look(); }, name ? 40 : 200);
  }

  // The attention of one head, from one token on: with everything on from the sheet, else as Python told.
  weights(name, i) {
    const { tokens, heads, fills } = this.sheet, n = tokens.length, [l, k] = name.split('.').map(Number), map = this.maps.get(name);
    const [from, wide, all] = fills ? [i * n, n, n * n] : [i * (i + 1) / 2, i + 1, n * (n + 1) / 2], begin = map ? from : (l * heads + k) * all + from;
    const found = Array.from((map || this.bytes).subarray(begin, begin + wide), byte => byte / 255);
    const seen = found.map((w, j) => (this.shut(j, i) ? 0 : w));
    if (!this.first.checked || i === 0) return seen;
    const rest = 1 - seen[0];
    return seen.map((w, j) => (j && rest > 0.004 ? w / rest : 0));
  }

  isHead(name) { return name.includes('.') && Number(name.split('.')[1]) < this.sheet.heads; }

  async look() {
    const name = this.resting || this.at;
    if (!this.over || !name) return;
    const known = !this.isHead(name) || !this.changed() || this.backend.most === 1 || this.maps.has(name);
    if (!known) {
      const told = await this.ask(() => (this.resting || this.at) === name && !this.maps.has(name) && this.changed() && { ...this.asking([...this.off]), look: name });
      if (told?.weights) this.maps.set(name, Uint8Array.from(atob(told.weights), letter => letter.charCodeAt(0)));
      if ((this.resting || this.at) !== name) return;
    }
    this.arcs(name);
    const lens = this.view.value === 'lens';
    if (lens) this.read();
    this.reads.textContent = this.reading(name) + (lens && this.changed() && this.backend.most === 1 ? ' What the layers would say is shown with everything on.' : '');
    this.name(this.at, this.cells.get(this.at));
    this.lead();
  }

  // The lecture's section that explains what is selected.
  lead() {
    const kind = this.view.value !== 'adds' ? this.view.value : this.isHead(this.at) ? 'head' : this.at.includes('.') ? 'network' : 'layer';
    const [lecture, section] = this.explained[kind], [number, name] = section.split(/\. (.*)/), anchor = section.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    this.leads.textContent = `${name} (lecture ${parseInt(lecture, 10)}, section ${number})`;
    this.leads.href = `${lecture}.${this.backend.most === 1 ? 'html' : 'ipynb'}#${anchor}`;
    this.leads.dataset.commandlinkerArgs = JSON.stringify({ path: `lectures/${lecture}.ipynb`, id: `#${section.replaceAll(' ', '-')}` });
  }

  name(name, cell) { cell.setAttribute('aria-label', this.label(name) + (name === this.at ? `. ${this.reading(name)}` : '')); }

  arcs(name) {
    const { over, X, Y, thick: dy, em, foot, sheet: { position } } = this, n = this.sheet.tokens.length, l = parseInt(name, 10), parts = this.partsOf(name);
    for (const [part, lines] of this.lines) for (const line of lines) line.classList.toggle('lit', parts.includes(part));
    this.svg.classList.toggle('looking', this.isHead(name));
    this.svg.classList.toggle('without', this.first.checked);
    over.replaceChildren();
    if (!this.isHead(name)) return;
    const y = Y(l + 0.5);
    for (const i of range(n)) this.weights(name, i).forEach((w, j) => {
      if (w < SEEN || j === i && i !== position) return;
      const last = i === position, rise = j === i ? 1.4 * em : Math.min(y - 4, 1.2 * em + 0.3 * Math.abs(X(i) - X(j))), out = j === i ? 0.9 * em : 0;
      over.append(draw('path', { class: last ? 'arc last' : 'arc', d: `M${X(j)} ${y}C${X(j) - out} ${y - rise},${X(i) + out} ${y - rise},${X(i)} ${y}`,
        'stroke-width': (last ? 1 + 0.5 * dy * w : 0.5 + 0.22 * dy * w).toFixed(1), opacity: (last ? 0.45 + 0.55 * w : 0.15 + 0.5 * w).toFixed(2) }));
    });
    this.weights(name, position).forEach((w, j) => {
      if (w >= SEEN) over.append(draw('circle', { class: 'source', cx: X(j), cy: foot + 0.35 * em, r: (0.12 * em + 0.42 * em * Math.sqrt(w)).toFixed(1) }));
    });
  }

  label(name) {
    const [l, k] = name.split('.').map(Number), what = k === undefined ? `Layer ${l}` : k < this.sheet.heads ? `Layer ${l}, head ${k}` : `Layer ${l}, network`;
    const p = this.tried.get(name), word = shown(this.whole[0][1]);
    return `${what}, ${this.isOff(name) ? 'off' : 'on'}${p === undefined ? '' : `; alone off: ${word} ${per(p)}`}`;
  }

  // What one part does, in a sentence.
  reading(name) {
    const { tokens, adds, networks, heads, position } = this.sheet, [l, k] = name.split('.').map(Number), last = shown(tokens[position]);
    const of = size => `${size.toFixed(2)} of the length of the vector at “${last}”`;
    const [first, second] = this.whole.map(([, word]) => `“${shown(word)}”`), share = this.view.value === 'direct' && k !== undefined ? this.sheet.direct[l][k] : null;
    if (share !== null) return `${k === heads ? `Network ${l}` : `Head ${name}`} writes ${signed(share)} to the logit of ${first} minus that of ${second}.`;
    const p = this.tried.get(name), alone = p === undefined || this.isOff(name) ? '' : ` Alone off: ${shown(this.whole[0][1])} ${per(p)} instead of ${per(this.whole[0][2])}.`;
    if (k === undefined && this.view.value === 'lens') return `After layer ${l} ${this.whose} would say “${shown(this.lens.last[l + 1][0])}”, ${per(this.lens.last[l + 1][1])}; “${shown(this.whole[0][1])}” has ${per(this.lens.last[l + 1][2])}.`;
    if (k === undefined && this.view.value === 'direct') return `Layer ${l} writes ${signed(this.sheet.direct[l].reduce((a, b) => a + b))} to the logit of ${first} minus that of ${second}.`;
    if (k === undefined) return `Layer ${l}: ${heads} heads, then a network, which adds ${of(networks[l][position])}.${alone}`;
    if (k === heads) return `Network ${l} adds ${of(networks[l][position])}.${alone}`;
    const weights = this.weights(name, position), best = range(weights.length).sort((a, b) => weights[b] - weights[a]).slice(0, 2).filter(j => weights[j] >= SEEN);
    const then = this.changed() && this.backend.most === 1 ? ' with everything on' : '';
    return `Head ${name} adds ${of(adds[l][k])}. From there it looks${then} at ${best.map(j => `“${shown(tokens[j])}” ${weights[j].toFixed(2)}`).join(', ') || 'nothing in particular'}`
      + `${this.first.checked ? ', without the first token' : ''}.${alone}`;
  }

  bands() {
    const at = parseInt(this.at, 10), rest = this.resting ? parseInt(this.resting, 10) : at;
    for (const [l, row] of this.rows || []) { row.classList.toggle('at', l === at); row.classList.toggle('rest', l === rest); }
    this.strip.setAttribute('aria-label', `Layer ${at}`);
    const step = by => make('button', { type: 'button', 'aria-label': by > 0 ? 'the layer above' : 'the layer below', onclick: event => {
      event.stopPropagation();
      this.reach(`${Math.max(0, Math.min(this.sheet.layers - 1, at + by))}`);
    } }, by > 0 ? '▲' : '▼');
    if (!this.narrow()) return;
    const part = (name, words) => make('button', { type: 'button', 'data-part': name, 'aria-pressed': String(this.isOff(name)), class: name === this.at ? 'at' : '',
      'aria-label': this.label(name) }, words);
    const { heads, direct } = this.sheet, writes = k => (this.view.value === 'direct' ? ` ${signed(direct[at][k])}` : '');
    this.strip.replaceChildren(step(-1), step(1), part(`${at}`, `Layer ${at}`), ...range(heads).map(k => part(`${at}.${k}`, `${k}${writes(k)}`)), part(`${at}.${heads}`, `network${writes(heads)}`));
  }

  // What is off, and what was tried, on the buttons and in the cloth.
  mark() {
    this.host.dataset.view = this.view.value;
    this.legend.textContent = this.legends()[this.view.value] || '';
    this.weigh();
    const p = this.whole[0][2];
    for (const [name, cell] of this.cells) {
      const fell = this.tried.has(name) ? Math.abs(this.tried.get(name) - p) : 0;
      cell.classList.toggle('off', this.isOff(name));
      cell.style.setProperty('--fell', `${Math.round(100 * Math.min(1, fell / Math.max(p, 0.05)))}%`);
      cell.classList.toggle('tried', this.tried.has(name));
      this.name(name, cell);
    }
    for (const [name, lines] of this.lines || []) for (const line of lines) line.classList.toggle('off', this.off.has(name) || this.shut(line.from, line.to));
    for (const [l, row] of this.rows || []) row.classList.toggle('off', this.isOff(`${l}`));
    this.bands();
    this.state();
    this.tell();
  }

  told(next) {
    this.next = next;
    const names = [], rest = new Set(this.off), [id, word, whole] = this.whole[0];
    for (const l of new Set([...this.off].map(part => parseInt(part, 10))))
      if (this.isOff(`${l}`)) { names.push(`layer ${l}`); this.partsOf(`${l}`).forEach(part => rest.delete(part)); }
    for (const part of rest) names.push(this.isHead(part) ? `head ${part}` : `network ${parseInt(part, 10)}`);
    const { window, kept, layer, strength } = this.more, ways = names.length ? [`without ${names.length > 4 ? `${names.length} parts` : names.join(', ')}`] : [];
    if (window) ways.push(`through a window of ${window} tokens${kept.length ? ` and ${kept.map(i => `“${shown(this.sheet.tokens[i])}”`).join(', ')}` : ''}`);
    if (strength) ways.push(`with ${signed(strength)} times the direction after layer ${layer}`);
    const p = (rows, one) => rows.find(([other]) => other === one)?.[2] ?? 0, follow = this.sheet.follow.length ? this.sheet.follow : [id];
    if (names.length === 1 && ways.length === 1) this.tried.set(names[0].replace(/^network (.*)/, `$1.${this.sheet.heads}`).replace(/^(layer|head) /, ''), p(next, id));
    const [, best, q] = [...next].sort((a, b) => b[2] - a[2])[0], first = best === word ? '' : ` Now “${shown(best)}” comes first, ${per(q)}.`;
    const moves = follow.map(one => `“${shown(next.find(([other]) => other === one)?.[1] ?? word)}” from ${per(p(this.whole, one))} to ${per(p(next, one))}`).join(', ');
    this.mark();
    this.pour(next);
    this.say(ways.length ? `${ways[0][0].toUpperCase()}${ways.join(', ').slice(1)}: ${moves}.${first}` : `Everything is on. ${this.sheet.fills ? 'It fills in' : 'Next comes'} “${shown(word)}”, ${per(whole)}.`);
  }

  say(words) { this.says.textContent = words; }

  tell() {
    if (!this.twin?.open) return;
    const { layers, heads, adds, networks, tokens, position: last, fills } = this.sheet, now = new Map(this.next.map(([id, , p]) => [id, p]));
    const table = (caption, names, rows) => make('table', {}, make('caption', {}, caption), make('thead', {}, make('tr', {}, ...names.map(name => make('th', { scope: 'col' }, name)))),
      make('tbody', {}, ...rows.map(([name, ...cells]) => make('tr', {}, make('th', { scope: 'row' }, name), ...cells.map(cell => make('td', {}, cell))))));
    const words = [...this.next].sort((a, b) => b[2] - a[2]).map(([id, word]) => [shown(word), per(now.get(id)), this.whole.some(([one]) => one === id) ? per(this.whole.find(([one]) => one === id)[2]) : 'little']);
    const rows = range(layers).reverse().map(l => {
      const parts = this.partsOf(`${l}`), off = parts.filter(part => this.off.has(part)).map(part => (this.isHead(part) ? `head ${part.split('.')[1]}` : 'network'));
      const k = adds[l].indexOf(Math.max(...adds[l])), weights = this.weights(`${l}.${k}`, last), j = weights.indexOf(Math.max(...weights)), p = this.tried.get(`${l}`);
      return [`${l}`, off.length === heads + 1 ? 'the whole layer' : off.join(', ') || 'nothing', `${k}, adds ${adds[l][k].toFixed(2)}, looks at “${shown(tokens[j])}” ${weights[j].toFixed(2)}`,
        networks[l][last].toFixed(2), `${shown(this.lens.last[l + 1][0])} ${per(this.lens.last[l + 1][1])}`, ...(this.sheet.direct ? [this.sheet.direct[l].reduce((a, b) => a + b).toFixed(2)] : []), p === undefined ? 'not tried' : per(p)];
    });
    this.table.replaceChildren(table(`The ${fills ? 'hidden' : 'next'} token`, ['token', 'now', 'with everything on'], words),
      table(`The layers, as they act at “${shown(tokens[last])}”`, ['layer', 'off', 'the head that adds most', 'the network adds', 'it would say', ...(this.sheet.direct ? [`it writes to “${shown(this.whole[0][1])}” less “${shown(this.whole[1][1])}”`] : []), `“${shown(this.whole[0][1])}” without this layer alone`], rows));
  }

  // --- keys -----------------------------------------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = this.board.contains(event.target), [l, k = -1] = this.at.split('.').map(Number), { layers, heads } = this.sheet;
    const to = (layer, part) => {
      const name = `${Math.max(0, Math.min(layers - 1, layer))}`, at = Math.max(-1, Math.min(heads, part));
      this.reach(at < 0 ? name : `${name}.${at}`);
    };
    const moves = { ArrowUp: [l + 1, k], ArrowDown: [l - 1, k], ArrowLeft: [l, k - 1], ArrowRight: [l, k + 1], PageUp: [l + 5, k], PageDown: [l - 5, k], Home: [l, -1], End: [l, heads] };
    if (event.key === 'Escape' && (this.changed() || this.waving)) { this.stop(); this.set([], PLAIN); }
    else if (!inside) return;
    else if (moves[event.key]) to(...moves[event.key]);
    else if (event.key === 'Enter') this.press(this.at);
    else if (event.key === ' ' && this.backend.most > 1 && !this.sheet.fills) this.write();
    else if (event.key === ' ') this.press(this.at);
    else if (event.key.toLowerCase() === 'l') this.press(`${l}`);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// A page has the style in a file beside this one, a notebook in the widget.
const file = document.currentScript?.src?.replace(/js$/, 'css');
const styled = file && new Promise(done => { document.head.append(make('link', { rel: 'stylesheet', href: file, onload: done })); });

window.nlmLiving = {
  // In a notebook: what the widgets beside the picture say and hear.
  live(content) {
    const host = content.querySelector('.nlm-living'), ready = async left => {
      const box = host.closest('.nlm-living-box');
      if (box?.querySelector('.nlm-living-asks input') && box.querySelector('.nlm-living-tells span')) {
        const kernel = new Kernel(box), told = JSON.parse(host.dataset.told), first = kernel.told();
        // Of a page that was loaded again, Python remembers only the last answer.
        host.living = new Living(host, kernel, told, first.n ? await kernel.ask({ text: told.sentences[0], ...told }) : first);
      } else if (left) setTimeout(() => ready(left - 1), 50); // its parts come one after the other
    };
    ready(100);
  },
  // On a page: answers that were stored.
  async stored(host, load) {
    const [sheets] = await Promise.all([load(host.dataset.states), styled]), told = JSON.parse(host.dataset.told), stored = new Stored(told.sentences, sheets);
    host.living = new Living(host, stored, told, { sheet: sheets[0], ...(await stored.ask({ ...PLAIN, ...told })) });
  },
};

for (const host of document.querySelectorAll('.nlm-living[data-states]'))
  new IntersectionObserver((seen, watch) => {
    if (!seen.some(one => one.isIntersecting)) return;
    watch.disconnect();
    window.nlmLiving.stored(host, window.nlm.load);
  }, { rootMargin: '600px' }).observe(host);
})();
