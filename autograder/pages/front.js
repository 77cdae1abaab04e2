// The front page: the course's own GPT writes, letter by letter, and one sees into it. The colour of a letter is its surprise, the arcs
// are where a head looks, the bars are the next letters. A reader types into it, chooses heads, and switches them off. Below, the
// lectures' cards say how far the reader is. The computation is in models.js.
'use strict';

const BEGINNINGS = ['ROMEO.\nO, ', 'LADY MACBETH.\nCome, ', 'HAMLET.\nWhat ', 'JULIET.\nMy ', 'FALSTAFF.\nA ', 'CLEOPATRA.\nGive '];
const LINES = 6, LONGEST = 700, PACE = 110, BARS = 6, FAINT = 0.04, STRIP = 32, AGAIN = 64, TEMPERATURE = 0.7; // PACE: milliseconds a letter; AGAIN: letters that are read again

class Front {
  constructor(host) {
    Object.assign(this, { host, at: -1, chosen: 9, off: new Set(), text: '\n' + BEGINNINGS[0], turn: 0, random: randomFrom(7) });
    this.page = make('div', { class: 'front-text', role: 'group', tabindex: 0, 'aria-label': 'What the model writes: pause, then use the arrow keys', onkeydown: event => this.key(event) });
    this.page.addEventListener('pointerover', ({ target }) => { if (target.dataset.at) this.look(Number(target.dataset.at)); });
    this.page.addEventListener('pointerleave', ({ pointerType }) => { if (pointerType !== 'touch') this.look(-1); });
    this.bars = make('ol', { class: 'bars' });
    this.play = make('button', { type: 'button', onclick: () => (this.timer ? this.pause() : this.start()) }, 'Pause');
    const id = fresh();
    this.field = make('input', { type: 'text', id, maxlength: 200, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', placeholder: 'Type a beginning, then press Enter' });
    this.field.addEventListener('focus', () => this.pause());
    this.field.addEventListener('input', () => { this.at = -1; this.text = `\n${this.field.value}`; this.pause(); });
    this.field.addEventListener('keydown', event => { if (event.key === 'Enter') this.start(); });
    this.heads = make('div', { class: 'front-heads', role: 'group', 'aria-label': 'Its heads, layer by layer' });
    this.switch = make('button', { type: 'button', onclick: () => this.flip() });
    this.says = make('p', { class: 'only-read', role: 'status' });
    this.note = make('p', { class: 'note' }, 'Loading the model, 2 MB …');
    host.replaceChildren(this.note);
    this.ready = Promise.all(['try/cards', 'try/char_gpt'].map(nlm.load)).then(([cards, file]) => this.prepare(cards.char_gpt, file));
    this.ready.catch(error => {
      console.error(error);
      host.replaceChildren(make('p', { class: 'note' }, 'The model could not be loaded. ', make('button', { type: 'button', onclick: () => new Front(host) }, 'Try again')));
    });
  }

  prepare({ characters, config }, file) {
    this.config = config;
    this.letters = characterTokenizer(characters);
    this.reader = new Reader(transformer(tensors(file), config));
    this.note.textContent = 'The bluer a letter, the more it surprised the model. The arcs show where the chosen attention head looks from the newest letter, or from '
      + `the letter you point to. Each strip is one head and covers the last ${STRIP} letters up to that one, which is at the right. Switch a head off, and the model rereads `
      + `the last ${AGAIN} letters, and goes on, without it. The letters are drawn at a temperature of ${TEMPERATURE}; the bars are at 1.`;
    const what = make('p', { class: 'front-what' }, 'A small Transformer from this course, trained on Shakespeare, is writing this in your browser. Not every word is English.');
    this.strips = Array.from({ length: config.n_layers * config.n_heads }, (_, n) => {
      const name = `layer ${Math.floor(n / config.n_heads) + 1}, head ${n % config.n_heads + 1}`;
      const strip = make('canvas', { width: STRIP, height: 1, 'aria-hidden': 'true' });
      return make('button', { type: 'button', 'aria-label': name, title: name, 'aria-pressed': 'false', onclick: () => this.choose(n) }, strip);
    });
    this.heads.style.setProperty('--columns', config.n_heads);
    this.heads.append(...this.strips);
    this.tellHeads();
    const type = make('label', { for: this.field.id }, 'Your text');
    this.host.replaceChildren(what, make('div', { class: 'front-both' }, this.page, make('div', {}, make('p', { class: 'front-what' }, 'The next letter'), this.bars)),
      make('div', { class: 'row' }, this.play, type, this.field), make('div', { class: 'front-both' }, this.heads, make('div', {}, this.switch)), this.note, this.says);
    this.start(130);
  }

  // --- writing ----------------------------------------------------------------------------------------

  // Who asked for less motion gets a whole piece at once.
  start(piece = 80) {
    this.play.textContent = 'Pause';
    this.at = -1;
    clearInterval(this.timer);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) { this.write(piece); this.pause(); return; }
    this.timer = setInterval(() => { if (!document.hidden && this.inView()) this.write(1); }, PACE);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = 'Continue';
    if (this.reader) this.draw();
    this.tellSoon();
  }

  inView() {
    const { top, bottom } = this.host.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  write(letters) {
    for (let n = 0; n < letters; n++) {
      if (this.text.length > LONGEST && this.field.value) { this.pause(); break; } // the reader's own text stays
      if (this.text.length > LONGEST) this.text = `\n${BEGINNINGS[++this.turn % BEGINNINGS.length]}`;
      const last = this.read().at(-1);
      const p = filtered(last.logits.map((logit, id) => (id > UNKNOWN ? logit : -Infinity)), { temperature: TEMPERATURE });
      this.text += this.letters.vocabulary[drawn(p, this.random)];
    }
    this.draw();
  }

  read() { return this.reader.read(this.letters.encode(this.text), this.off); }

  // --- looking ----------------------------------------------------------------------------------------

  choose(n) {
    this.chosen = n;
    this.changed();
  }

  // A head that is off adds nothing: the last letters are read again without it, and so is all that follows.
  flip() {
    if (!this.off.delete(this.chosen)) this.off.add(this.chosen);
    this.reader.steps.length = Math.max(0, this.reader.steps.length - AGAIN);
    this.changed();
  }

  changed() {
    this.tellHeads();
    this.draw();
    this.tellSoon();
  }

  map(step, n = this.chosen) {
    const { n_heads } = this.config;
    return step.weights[Math.floor(n / n_heads)][n % n_heads];
  }

  tellHeads() {
    this.switch.textContent = `${this.off.has(this.chosen) ? 'Switch on' : 'Switch off'} ${this.strips[this.chosen].title}`;
    this.strips.forEach((button, i) => {
      button.setAttribute('aria-pressed', i === this.chosen);
      button.classList.toggle('off', this.off.has(i));
      button.setAttribute('aria-label', button.title + (this.off.has(i) ? ', off' : ''));
    });
  }

  look(at) {
    if (at === this.at) return;
    this.at = at;
    this.draw();
  }

  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || this.timer) return;
    event.preventDefault();
    const last = this.text.length - 1;
    this.look(Math.max(this.first, Math.min(last, (this.at < 0 ? last : this.at) + by)));
    this.tellSoon();
  }

  // --- drawing ----------------------------------------------------------------------------------------

  // The letter that one looks from: the newest, or the one that was chosen.
  seen(steps) { return this.at >= this.first && this.at < steps.length ? this.at : steps.length - 1; }

  draw() {
    const steps = this.read(), characters = Array.from(this.text);
    const begins = characters.flatMap((letter, i) => (letter === '\n' ? [i + 1] : [])).slice(-LINES);
    this.first = Math.max(1, begins[0]);
    const at = this.seen(steps), spans = new Map();
    const shown = characters.slice(this.first).map((letter, i) => {
      const place = this.first + i;
      if (letter === '\n') return letter;
      const bits = Math.min(8, -Math.log2(steps[place - 1].p[steps[place].token]));
      const span = make('span', { 'data-at': place, style: `--bits: ${bits.toFixed(2)}` }, letter);
      if (place === at) span.className = 'from';
      spans.set(place, span);
      return span;
    });
    this.page.replaceChildren(...shown);
    this.arcs(spans, at, this.map(steps[at]));
    this.drawBars(steps[at].p);
    const ink = getComputedStyle(this.heads).color;
    this.strips.forEach((button, n) => this.strip(button.firstChild, this.map(steps[at], n), ink));
    if (!this.timer) this.page.setAttribute('aria-label', `What the model has written: ${this.text.slice(this.first)}`); // not at every letter
  }

  arcs(spans, at, map) {
    const from = spans.get(at);
    if (!from) return;
    const middle = span => [span.offsetLeft + span.offsetWidth / 2, span.offsetTop];
    const [x1, y1] = middle(from);
    const paths = [...spans].filter(([place]) => place < at && map[map.length - 1 - at + place] >= FAINT).map(([place, span]) => {
      const weight = map[map.length - 1 - at + place], [x2, y2] = middle(span);
      const rise = Math.min(y1, y2) - 8 - Math.min(44, Math.abs(x1 - x2) / 5);
      return `<path d="M${x1} ${y1 + 3}Q${(x1 + x2) / 2} ${rise} ${x2} ${y2 + 3}" stroke-width="${(1 + 5 * weight).toFixed(1)}" opacity="${(0.5 + 0.5 * weight).toFixed(2)}"/>`;
    });
    this.page.insertAdjacentHTML('beforeend', `<svg aria-hidden="true">${paths.join('')}</svg>`);
  }

  drawBars(p) {
    this.bars.replaceChildren(...best(p, BARS).map(id => make('li', {}, make('span', {}, named(this.letters.vocabulary[id])),
      make('span', { class: 'bar', style: `inline-size: ${(55 * p[id]).toFixed(1)}%` }), make('span', {}, p[id].toFixed(2)))));
  }

  // Where a head looks, as a strip: the newest letter on the right.
  strip(canvas, map, ink) {
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, STRIP, 1);
    context.fillStyle = ink;
    for (let i = 0; i < STRIP && i < map.length; i++) {
      context.globalAlpha = Math.min(1, map[map.length - 1 - i] * 1.5);
      context.fillRect(STRIP - 1 - i, 0, 1, 1);
    }
  }

  // The picture in words.
  described() {
    const steps = this.read(), at = this.seen(steps), { vocabulary } = this.letters, { p } = steps[at];
    const name = place => quoted(vocabulary[steps[place].token]), map = this.map(steps[at]), begin = at - map.length + 1;
    const places = best(map, 3).filter(i => map[i] >= FAINT);
    const seen = places.map(i => `${name(begin + i)} ${at - begin - i ? `${at - begin - i} back` : 'itself'}, ${map[i].toFixed(2)}`).join('; ');
    const next = best(p, 3).map(id => `${named(vocabulary[id])} ${p[id].toFixed(2)}`).join(', ');
    const bits = at ? `, a surprise of ${(-Math.log2(steps[at - 1].p[steps[at].token])).toFixed(1)} bits` : '';
    return `From ${name(at)}${bits}: ${this.strips[this.chosen].title} looks at ${seen}. The next letter: ${next}.`;
  }

  tellSoon() {
    clearTimeout(this.later);
    this.later = setTimeout(() => { if (this.reader) this.says.textContent = this.described(); }, 500); // not at every key
  }
}

// Nothing of this delays the page itself. Who saves data is asked first.
function whenIdle(does) {
  const go = () => (window.requestIdleCallback ? requestIdleCallback(does, { timeout: 500 }) : setTimeout(does, 50));
  if (document.readyState === 'complete') go(); else addEventListener('load', go);
}

for (const host of document.querySelectorAll('.front')) {
  if (!navigator.connection?.saveData) whenIdle(() => new Front(host));
  else host.replaceChildren(make('button', { type: 'button', onclick: () => new Front(host) }, 'Watch a Transformer write (loads 2 MB)'));
}

// --- how far the reader is ------------------------------------------------------------------------------

const { of = {}, last } = progress.all();
for (const card of document.querySelectorAll('.cards a')) {
  const found = of[card.getAttribute('href')];
  if (found?.answered) card.append(make('small', { class: 'done' }, `${found.answered} of ${found.asked} predictions made, ${found.right} right`));
}
if (last) document.querySelector('.start')?.append(' ', make('a', { href: last.page, class: 'again' }, `Continue: ${last.title}`));
