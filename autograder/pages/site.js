// The script of every page: widgets whose states were drawn beforehand, predictions, search, the theme. No library, no request
// to another host. Without it a page shows every widget at its start and every answer in a closed <details>.
'use strict';

// --- packed data ------------------------------------------------------------------------------------
// A script and not a fetch, since a page that was opened from a folder may not read files.

const nlm = {
  asked: new Map(),
  load(name) {
    if (!nlm.asked.has(name)) {
      const entry = {};
      entry.promise = new Promise((done, failed) => { Object.assign(entry, { done, failed }); });
      nlm.asked.set(name, entry);
      const script = document.createElement('script');
      script.src = `${name}.js`;
      script.dataset.name = name;
      script.onerror = () => entry.failed(new Error(say('{0}.js is missing', name)));
      entry.promise.catch(() => { nlm.asked.delete(name); script.remove(); }); // it may be asked for again
      document.head.append(script);
    }
    return nlm.asked.get(name).promise;
  },
  // `as`: what it is taken for, "json", "arrayBuffer" or "blob".
  async take(base64, as = 'json') {
    const { name } = document.currentScript.dataset, { done, failed } = nlm.asked.get(name);
    try {
      const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
      const stream = new Response(bytes).body.pipeThrough(new DecompressionStream('gzip'));
      done(await new Response(stream)[as]());
    } catch (error) { failed(error); }
  },
};
window.nlm = nlm;

// What the page says. The words here are English; a page in another language brings a table of its own.
const words = JSON.parse(document.body.dataset.words || '{}');
const say = (english, ...values) => (words[english] || english).replace(/\{(\d)\}/g, (_, place) => values[place]);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== false) node.setAttribute(name, value === true ? '' : value);
  node.append(...children);
  return node;
}

let made = 0;
const fresh = () => `nlm-${made++}`;

// --- a widget ---------------------------------------------------------------------------------------

class Live {
  constructor(box) {
    this.box = box;
    this.told = JSON.parse(box.dataset.told);
    this.host = box.querySelector('.widget-html-content');
    this.controls = this.told.controls.map((control, index) => this.control(control, index));
    this.moved = []; // the controls that are away from the start, the last moved last
    this.back = new Set(); // those that have gone back there, and nobody has said so yet
    const panel = box.querySelector('.nlm-controls');
    for (const row of this.told.rows)
      panel.append(make('div', { class: 'row' }, ...row.map(i => this.controls[i].node).filter(Boolean)));
    this.waits = panel.appendChild(make('div', { class: 'waits', role: 'status' }));
    this.says = make('p', { class: 'only-read', role: 'status' });
    box.append(this.says);
    const note = this.note();
    if (note.length) box.append(make('p', { class: 'note' }, ...note.flatMap(part => [part, ' '])));
    fit(this.host);
    this.before = this.described();
    const load = () => nlm.load(this.box.dataset.states).catch(() => {}); // ahead of the first move, which says what is wrong
    box.addEventListener('pointerdown', load, { once: true });
    box.addEventListener('focusin', load, { once: true });
    if (this.told.bytes < 300_000 && 'IntersectionObserver' in window)
      new IntersectionObserver((seen, watch) => { if (seen.some(e => e.isIntersecting)) { watch.disconnect(); load(); } }).observe(box);
  }

  // What the notebook can and this page cannot.
  note() {
    const { controls, moved, coarse } = this.told, many = controls.filter(({ options }) => options.length > 1).length;
    const lines = [];
    if (moved < many)
      lines.push(say('Drawn for this page: {0} of {1} controls away from the start. Move one more, and the one that you moved first goes back.', moved, many));
    if (coarse) lines.push(say('Some controls have fewer values here than in the notebook.'));
    if (this.box.dataset.try) lines.push(make('a', { href: this.box.dataset.try }, say('Type your own text in this browser.')));
    else if (controls.some(({ kind, options }) => kind === 'typed' && options.length < 2)) lines.push(say('To type your own, open the notebook.'));
    return lines;
  }

  // The states, or null. A reader who waits is told so, and can try again if nothing comes.
  async states() {
    const waits = (...parts) => this.waits.replaceChildren(...parts);
    const slow = setTimeout(() => waits(say('Loading the pictures, {0} MB …', (this.told.bytes / 1e6).toFixed(1))), 300);
    try {
      const states = await nlm.load(this.box.dataset.states);
      waits();
      return states;
    } catch {
      waits(say('The pictures could not be loaded.'), ' ',
        make('button', { type: 'button', onclick: () => { waits(); this.redraw(); } }, say('Try again')));
      return null;
    } finally { clearTimeout(slow); }
  }

  async redraw() {
    const states = await this.states();
    if (states) this.setting(states);
  }

  // A control: its node, `show(options, at)`, which puts it where the setting says.
  control({ name, kind, label, options, at, play }, index) {
    const id = fresh(), move = to => this.move(index, to), look = { class: `control nlm-control-${name}` };
    const state = { options, at };
    const kept = show => (options, at) => { Object.assign(state, { options, at }); show(options, at); };
    if (kind === 'tick') {
      const input = make('input', { type: 'checkbox', onchange: () => move(Number(input.checked)) });
      input.checked = at === 1;
      return { state, node: make('div', look, make('label', {}, input, label)), show: kept((_, to) => { input.checked = to === 1; }) };
    }
    if (kind === 'menu') {
      const input = make('select', { id, onchange: () => move(input.selectedIndex) });
      const show = kept((names, to) => { fill(input, names, name => make('option', {}, name)); input.selectedIndex = to; });
      show(options, at);
      return { state, node: make('div', look, make('label', { for: id }, label), input), show };
    }
    if (kind === 'choice') {
      const list = make('span', { class: 'row' });
      const show = kept((names, to) => {
        fill(list, names, (text, i) => make('label', { class: 'option' },
          make('input', { type: 'radio', name: id, onchange: () => move(i) }), text));
        list.querySelectorAll('input')[to].checked = true;
      });
      show(options, at);
      return { state, node: make('fieldset', look, make('legend', {}, label), list), show };
    }
    if (options.length < 2) return { state, node: null, show: kept(() => {}) };
    const input = make('input', { type: 'range', id, min: 0, class: 'noUi-target', oninput: () => move(Number(input.value)) });
    const output = make('span', { class: 'readout', 'aria-hidden': 'true' }); // read out as the slider's own value
    const show = kept((names, to) => {
      input.max = names.length - 1;
      input.value = to;
      output.textContent = kind === 'typed' ? `“${names[to]}”` : names[to];
      input.setAttribute('aria-valuetext', names[to] || say('empty'));
    });
    const number = text => parseFloat(text.replace('−', '-'));
    input.noUiSlider = { set: value => { // parts of pictures that are pressed or dragged (lectures.show.touch)
      const far = state.options.map(text => Math.abs(number(text) - value));
      move(far.indexOf(Math.min(...far)));
    } };
    show(options, at);
    const parts = [make('label', { for: id }, label), input, output];
    if (play) parts.push(this.player(state, move, label));
    return { state, node: make('div', look, ...parts), show };
  }

  player(state, move, label) {
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; button.textContent = say('play'); };
    const button = make('button', { type: 'button', 'aria-label': say('play: {0}', label), onclick: () => {
      if (timer) return stop();
      button.textContent = say('stop');
      if (state.at === state.options.length - 1) move(0);
      timer = setInterval(() => (state.at < state.options.length - 1 ? move(state.at + 1) : stop()), 1000);
    } }, say('play'));
    return button;
  }

  async move(index, to) {
    const control = this.controls[index];
    control.show(control.state.options, to); // at once, whether or not the states are there
    this.moved = [...this.moved.filter(i => i !== index), index];
    this.last = index;
    await this.redraw();
  }

  // The setting that is drawn and keeps what was moved last: of what was moved earlier, as much as was drawn with it.
  setting({ tree, options, table, pictures }) {
    const wanted = this.controls.map(({ state }) => state.options[state.at]);
    const path = kept => {
      const found = [];
      let node = tree;
      for (let i = 0; i < wanted.length; i++) {
        const [list, begin, below] = node;
        const at = kept.includes(i) ? options[list].indexOf(wanted[i]) : begin;
        found.push({ options: options[list], at: at < 0 ? begin : at, begin });
        node = below[found[i].at];
        if (node === undefined) return null;
      }
      return { found, picture: node };
    };
    let kept = [...this.moved], seen;
    while (!(seen = path(kept)) && kept.length) kept.shift();
    for (const i of this.moved) if (kept.includes(i)) this.back.delete(i); else this.back.add(i);
    this.moved = kept.filter(i => seen.found[i].at !== seen.found[i].begin);
    seen.found.forEach(({ options, at }, i) => {
      const { state, show } = this.controls[i];
      if (state.at !== at || state.options.join('\n') !== options.join('\n')) show(options, at);
    });
    this.host.innerHTML = pictures[seen.picture].map(piece => table[piece]).join('');
    fit(this.host);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.announce(), 250); // a held key is not read out at every step
  }

  // What the picture says of itself: its lines, then the description of each part.
  described() {
    const lines = [...this.host.querySelectorAll('[data-says]')].map(line => line.textContent).join('. ');
    return [lines, ...[...this.host.querySelectorAll('[aria-label]')].map(part => part.getAttribute('aria-label'))].filter(Boolean);
  }

  announce() {
    const back = [...this.back].map(i => this.told.controls[i].label);
    this.back.clear();
    const told = this.described(), changed = told.filter(line => !this.before.includes(line));
    this.before = told;
    const { state } = this.controls[this.last];
    const text = changed[0] || `${this.told.controls[this.last].label}: ${state.options[state.at]}. ${say('The picture has changed.')}`;
    this.says.textContent = text + (back.length ? ` ${say('Back at the start: {0}.', back.join(', '))}` : '');
  }
}

function fill(parent, names, node) {
  const before = parent.contains(document.activeElement) ? [...parent.querySelectorAll('input')].indexOf(document.activeElement) : -1;
  if ([...parent.children].map(child => child.textContent).join('\n') === names.join('\n')) return;
  parent.replaceChildren(...names.map(node));
  if (before >= 0) parent.querySelectorAll('input')[Math.min(before, names.length - 1)]?.focus();
}

// A picture shrinks with the page until its letters are 60 % of their size; then it is scrolled. What it says is said once,
// by the widget's own live region.
function fit(host) {
  for (const svg of host.querySelectorAll('svg[width]'))
    if (!svg.parentElement.closest('svg')) svg.style.minWidth = `${0.6 * svg.getAttribute('width')}px`;
  for (const line of host.querySelectorAll('[role=status], [role=alert]')) { line.removeAttribute('role'); line.dataset.says = ''; }
  reachable(host.parentElement);
}

// What scrolls can be scrolled by keyboard.
function reachable(where) {
  const formulas = [...where.querySelectorAll('.math.inline')]; // one that is wider than the page has a line of its own
  formulas.forEach(formula => formula.classList.remove('wide'));
  formulas.map(formula => [formula, formula.querySelector('mrow')?.getBoundingClientRect().width > formula.closest('p, li, td, div').clientWidth])
    .forEach(([formula, wide]) => formula.classList.toggle('wide', wide));
  for (const box of where.querySelectorAll('pre, table, .output, .widget-html-content, math[display=block], .math.wide'))
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0; else box.removeAttribute('tabindex');
}

// --- predictions ------------------------------------------------------------------------------------

const guesses = {
  all() { try { return JSON.parse(localStorage.getItem('nlm-predictions') || '{}'); } catch { return {}; } },
  keep(question, entry) { try { localStorage.setItem('nlm-predictions', JSON.stringify({ [question]: entry, ...guesses.all() })); } catch { /* a private window */ } },
};

function readNumber(typed) {
  let plain = typed.replace(/[\s%≈~]/g, '');
  plain = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain) ? plain.replaceAll(',', '') : plain.replaceAll(',', '.');
  const [top, bottom] = plain.split('/').map(Number);
  return plain === '' ? NaN : bottom === undefined ? top : top / bottom;
}

// In a notebook the cells below a question have not run yet. Here their output is there, so it stays covered until the reader
// has answered, or asks to see it. Paper, a presentation and a page without this script show everything.
const HEADING = 'h1, h2, h3, h4', DRAWN = '.output, img, svg, table, figure, audio, video';
const waiting = new Map(); // what is covered -> the questions that it waits for, and its cover

function following(section) {
  const found = [];
  for (let node = section; node.id !== 'content'; node = node.parentElement)
    for (let next = node.nextElementSibling; next; next = next.nextElementSibling) {
      if (next.matches(HEADING) || (!next.closest('.output') && [...next.querySelectorAll(HEADING)].some(one => !one.closest('.output')))) return found;
      if (next.matches('.veil')) continue;
      const parts = next.closest('.output') ? [next] : [next, ...next.querySelectorAll(DRAWN)].filter(part => part.matches(DRAWN));
      found.push(...parts.filter(part => !part.querySelector('.nlm-predict') && !parts.some(other => other !== part && other.contains(part))));
    }
  return found;
}

function cover(section) {
  for (const part of following(section)) {
    if (part.closest('.nlm-predict, details')) continue; // a reader opens those
    if (!waiting.has(part)) {
      const button = make('button', { type: 'button', onclick: () => reveal([...waiting.get(part).questions], part) }, say('show me'));
      const veil = make('p', { class: 'veil' }, say('This may give the answer away.'), ' ',
        make('a', { href: `#${section.id ||= fresh()}` }, say('Predict first')), ` ${say('or')} `, button);
      part.before(veil);
      part.classList.add('veiled');
      waiting.set(part, { questions: new Set(), veil });
    }
    waiting.get(part).questions.add(section);
  }
}

// These questions cover nothing any more. `seen`: the part that was asked for, which gets the focus.
function reveal(questions, seen) {
  for (const [part, { questions: left, veil }] of waiting) {
    questions.forEach(question => left.delete(question));
    if (left.size) continue;
    veil.remove();
    part.classList.remove('veiled');
    waiting.delete(part);
    reachable(part.parentElement);
  }
  if (!seen) return;
  seen.tabIndex = -1;
  seen.focus({ preventScroll: true });
}

function predict(section) {
  const { kind, right, question } = JSON.parse(section.dataset.told);
  const list = section.querySelector('ul'), details = section.querySelector('details');
  const options = [...list.children].map(item => item.textContent);
  const answers = make('div', { class: 'answers', role: 'group', 'aria-label': say('Your prediction') });
  const verdict = make('p', { role: 'status', class: 'verdict' });
  const isRight = guess => kind === 'number' ? right[0] - 1e-9 <= guess && guess <= right[1] + 1e-9
    : JSON.stringify(guess) === JSON.stringify(right);
  let done = false; // no button is `disabled`: the keyboard keeps its place
  const open = guess => {
    done = true;
    if (guess !== undefined) verdict.textContent = `${isRight(guess) ? say('Right.') : say('Not quite.')} ${say('Your guess: {0}.', [guess].flat().join(', '))}`;
    verdict.dataset.right = guess === undefined ? '' : isRight(guess);
    details.hidden = false;
    details.open = true;
    answers.classList.add('done');
    for (const part of answers.querySelectorAll('button')) part.setAttribute('aria-disabled', 'true');
    for (const input of answers.querySelectorAll('input')) { input.readOnly = true; input.value = input.value || (guess ?? ''); }
    for (const button of answers.querySelectorAll('[data-option]')) mark(button, guess);
    reveal([section]);
    score();
  };
  // The right answer and the reader's are marked with a sign and in words.
  const mark = (button, guess) => {
    const name = button.dataset.option, at = [guess].flat().indexOf(name), place = [right].flat().indexOf(name);
    const good = kind === 'choice' ? place >= 0 : at === place;
    if (kind === 'choice' ? !good && at < 0 : at < 0) return;
    button.dataset.mark = good ? 'right' : 'wrong';
    const told = kind === 'choice' ? [good && say('the answer'), at >= 0 && say('your guess')].filter(Boolean).join(', ')
      : good ? '' : say('is number {0}', place + 1);
    button.append(make('small', {}, told && ` (${told})`));
  };
  const commit = guess => {
    if (done) return;
    guesses.keep(question, { guess, right: isRight(guess) });
    open(guess);
  };
  if (kind === 'number') {
    const id = fresh(), input = make('input', { type: 'text', id, inputmode: 'decimal', autocomplete: 'off' });
    const go = () => {
      if (done) return;
      const guess = readNumber(input.value);
      if (Number.isFinite(guess)) commit(guess); else verdict.textContent = say('Type a number, such as 0.25, 2/3 or 1,000.');
    };
    input.addEventListener('keydown', event => { if (event.key === 'Enter') go(); });
    answers.append(make('label', { for: id }, say('guess')), input, make('button', { type: 'button', onclick: go }, say('answer')));
  } else {
    const chosen = [];
    const press = (name, button) => {
      if (done) return;
      if (kind === 'choice') return commit(name);
      if (chosen.includes(name)) chosen.length = 0; else chosen.push(name);
      const left = options.filter(option => !chosen.includes(option));
      if (left.length === 1) chosen.push(left[0]);
      for (const other of answers.querySelectorAll('[data-option]')) {
        const at = chosen.indexOf(other.dataset.option);
        other.textContent = at < 0 ? other.dataset.option : `${at + 1}. ${other.dataset.option}`;
      }
      return left.length === 1 ? commit([...chosen]) : button.focus();
    };
    for (const name of options) {
      const button = make('button', { type: 'button', 'data-option': name, onclick: () => press(name, button) }, name);
      answers.append(button);
    }
  }
  answers.append(make('button', { type: 'button', class: 'show', onclick: () => { if (!done) open(); } }, say('show me')));
  list.replaceWith(answers);
  details.before(verdict);
  const earlier = guesses.all()[question];
  if (!earlier) {
    details.hidden = true;
    cover(section);
    return;
  }
  if (kind === 'order') answers.querySelectorAll('[data-option]').forEach(button => {
    button.textContent = `${earlier.guess.indexOf(button.dataset.option) + 1}. ${button.dataset.option}`;
  });
  open(earlier.guess);
}

// How far a reader is, for the front page: predictions by lecture, and the lecture that was open last.
const progress = {
  all() { try { return JSON.parse(localStorage.getItem('nlm-progress') || '{}'); } catch { return {}; } },
  keep(asked, answered, right) {
    const { page } = document.body.dataset, { of = {} } = progress.all(), title = document.querySelector('h1').textContent;
    const entry = { of: { ...of, [page]: { asked, answered, right } }, last: { page, title } };
    try { localStorage.setItem('nlm-progress', JSON.stringify(entry)); } catch { /* a private window */ }
  },
};

function score() {
  const asked = [...document.querySelectorAll('.nlm-predict')].map(section => JSON.parse(section.dataset.told).question);
  const kept = guesses.all(), mine = asked.filter(question => question in kept);
  const right = mine.filter(question => kept[question].right).length;
  if (asked.length) progress.keep(asked.length, mine.length, right);
  document.querySelector('#score')?.replaceChildren(mine.length ? say('Your first guesses in this lecture: {0} of {1} right.', right, mine.length) : '');
}

// --- search -----------------------------------------------------------------------------------------

async function search(form) {
  const input = form.querySelector('input'), list = document.querySelector('#found'), says = document.querySelector('#count');
  input.value = new URLSearchParams(location.search).get('q') || ''; // before a reader types
  const sections = await nlm.load('search-index');
  const look = () => {
    const typed = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const scored = !typed.length ? [] : sections.map(([page, heading, to, text]) => {
      const lower = text.toLowerCase(), title = `${page} ${heading}`.toLowerCase();
      const each = typed.map(word => (title.includes(word) ? 20 : 0) + Math.min(9, lower.split(word).length - 1));
      return { page, heading, to, text, first: lower.indexOf(typed[0]), score: each.every(Boolean) ? each.reduce((a, b) => a + b) : 0 };
    }).filter(one => one.score).sort((a, b) => b.score - a.score);
    says.textContent = !typed.length ? '' : scored.length ? say('{0} sections', scored.length)
      : say('Nothing found. Check the spelling, or try fewer words.');
    list.replaceChildren(...scored.slice(0, 40).map(one => make('li', {}, make('a', { href: one.to }, `${one.page}: ${one.heading}`),
      make('div', {}, `… ${one.text.slice(Math.max(0, one.first - 80), Math.max(0, one.first - 80) + 220)} …`))));
  };
  form.addEventListener('submit', event => { event.preventDefault(); look(); });
  input.addEventListener('input', look);
  look();
}

// --- the page ---------------------------------------------------------------------------------------

document.querySelectorAll('.nlm-live').forEach(box => new Live(box));
document.querySelectorAll('.nlm-predict').forEach(predict);
document.querySelectorAll('form#search').forEach(search);
document.querySelector('#content').append(make('p', { id: 'score', role: 'status' }));
score();
reachable(document);
addEventListener('resize', () => reachable(document));
document.addEventListener('toggle', event => reachable(event.target), true);
let folded = []; // what was closed before it was printed
addEventListener('beforeprint', () => {
  folded = folded.length ? folded : [...document.querySelectorAll('main details:not(.fold), .toc details')].filter(part => part.hidden || !part.open).map(part => [part, part.hidden, part.open]);
  folded.forEach(([part]) => Object.assign(part, { hidden: false, open: true }));
});
addEventListener('afterprint', () => {
  folded.forEach(([part, hidden, open]) => Object.assign(part, { hidden, open }));
  folded = [];
});
if (innerWidth < 1200) document.querySelector('.toc details')?.removeAttribute('open');
const more = document.querySelector('.more');
document.addEventListener('click', ({ target }) => { if (!more.contains(target)) more.open = false; });
more.addEventListener('keydown', ({ key }) => { if (key === 'Escape' && more.open) { more.open = false; more.firstElementChild.focus(); } });
const theme = document.querySelector('#theme');
theme.hidden = false;
const dark = () => document.documentElement.dataset.theme === 'dark';
const paint = () => { theme.textContent = dark() ? say('Light theme') : say('Dark theme'); };
theme.addEventListener('click', () => {
  document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
  try { localStorage.setItem('nlm-theme', document.documentElement.dataset.theme); } catch { /* a private window */ }
  paint();
});
paint();
