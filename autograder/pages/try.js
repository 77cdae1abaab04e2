// The page "Try the models": panels in which the models of models.js answer what is typed. What a panel needs is loaded when it is
// used. Everything that a picture shows is there in words as well, and a live region says what changed.
'use strict';

const SHOWN = 48; // characters of an attention map

// Probabilities as bars, which are a list of words and numbers; with `press`, each word is a button.
function bars(rows, label, press) {
  const reach = Math.max(0.25, ...rows.map(({ p }) => p));
  return make('ol', { class: 'bars', 'aria-label': label }, ...rows.map(({ name, p }) => make('li', {},
    press ? make('button', { type: 'button', onclick: () => press(name) }, name) : make('span', {}, name),
    make('span', { class: 'bar', style: `inline-size: ${60 * p / reach}%` }), make('span', {}, p.toFixed(3)))));
}

// What a picture shows as a table, made when it is opened.
function twin(summary, build) {
  const box = make('div', { class: 'output' }), fill = () => { if (node.open) { box.replaceChildren(build()); reachable(node); } };
  const node = make('details', { ontoggle: fill }, make('summary', {}, summary), box);
  return { node, fill };
}

// A slider like those of the widgets, or with another `type` a field for a number.
function number(label, value, attributes, change = () => {}) {
  const id = fresh(), input = make('input', { type: 'range', id, ...attributes, value });
  const output = make('span', { class: 'readout', 'aria-hidden': 'true' });
  const show = () => { output.textContent = input.type === 'range' ? input.value : ''; };
  input.addEventListener('input', () => { show(); change(Number(input.value)); });
  show();
  return { node: make('div', { class: 'control' }, make('label', { for: id }, label), input, output), input, show, get value() { return Number(input.value); } };
}

// --- what the panels share ----------------------------------------------------------------------------

class Panel {
  constructor(host, text, most) {
    this.host = host;
    const id = fresh();
    this.field = make('textarea', { id, rows: 3, maxlength: most, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off' });
    this.field.value = text;
    this.controls = make('div', { class: 'row' });
    this.result = make('div');
    this.says = make('p', { class: 'only-read', role: 'status' });
    this.button = make('button', { type: 'button', onclick: () => this.field.focus() }, say('Load the model: {0} MB', host.dataset.megabytes));
    host.replaceChildren(make('label', { for: id }, say('Your text')), this.field, this.controls, this.button, this.result, this.says);
    host.addEventListener('focusin', () => this.load(), { once: true });
    host.addEventListener('pointerdown', () => this.load(), { once: true });
    this.field.addEventListener('input', () => { if (this.ready) this.update(); });
  }

  async load() {
    this.loading ??= Promise.all(this.host.dataset.load.split(' ').map(name => nlm.load(`try/${name}`))).then(loaded => {
      this.prepare(...loaded);
      this.ready = true;
      if (document.activeElement === this.button) this.field.focus();
      this.button.remove();
      this.update();
    }).catch(error => { this.result.textContent = error.message; });
    return this.loading;
  }

  update() {
    this.result.replaceChildren(...this.shown());
    reachable(this.result);
    this.announce();
  }

  announce() {
    clearTimeout(this.later);
    this.later = setTimeout(() => { this.says.textContent = this.told(); }, 700); // not at every key
  }

  write(text) {
    this.field.value = text.slice(0, this.field.maxLength);
    this.field.scrollTop = this.field.scrollHeight;
    this.update();
  }
}

// --- tokens -------------------------------------------------------------------------------------------

class Tokens extends Panel {
  constructor(host) {
    super(host, 'O, what a rogue and peasant slave am I! naïve 😀', 300);
    new IntersectionObserver((seen, watch) => { if (seen.some(e => e.isIntersecting)) { watch.disconnect(); this.load(); } }).observe(host);
  }

  prepare(cards) {
    const bytes = byteTokenizer(cards.bytes);
    this.tokenizers = [[say('characters'), characterTokenizer(cards.char_lstm.characters)], [say('words'), wordTokenizer(cards.words)],
      [say('pieces'), { ...bytes, vocabulary: bytes.vocabulary.map(Tokens.text) }]];
  }

  // Bytes that are no whole characters are written as ⟨e2⟩.
  static text(bytes) {
    try { return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes)); }
    catch { return bytes.map(byte => (byte < 128 ? String.fromCharCode(byte) : `⟨${byte.toString(16)}⟩`)).join(''); }
  }

  shown() {
    const parts = this.tokenizers.map(([name, { vocabulary, encode }]) => {
      const ids = encode(this.field.value), label = say('{0}: {1} tokens, a vocabulary of {2}', name, ids.length, vocabulary.length);
      const pieces = ids.map(id => make('li', {}, make('span', {}, vocabulary[id] === '' ? say('no space') : vocabulary[id] === '<unk>' ? say('unknown') : vocabulary[id].replace(/\s/g, glyph)), make('small', {}, String(id))));
      return { label, name, ids, pieces };
    });
    this.counts = parts.map(({ name, ids }) => `${name} ${ids.length}`).join(', ');
    return parts.flatMap(({ label, pieces }) => [make('h3', {}, label), make('ol', { class: 'pieces', 'aria-label': label }, ...pieces)]);
  }

  told() { return say('Tokens: {0}.', this.counts); }
}

// --- the next word ------------------------------------------------------------------------------------

class Words extends Panel {
  constructor(host) {
    super(host, 'I will ', 300);
    this.order = 3;
    const name = fresh();
    this.controls.append(make('fieldset', { class: 'control' }, make('legend', {}, say('model')), make('span', { class: 'row' }, ...[1, 2, 3].map(n => make('label', { class: 'option' },
      make('input', { type: 'radio', name, checked: n === 3, onchange: () => { this.order = n; if (this.ready) this.update(); } }), `${n}-gram`)))));
    this.field.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || !this.ready || event.isComposing) return;
      event.preventDefault();
      if (this.found.length) this.accept(this.found[0].name);
    });
  }

  prepare(cards, counts) {
    this.tokenizer = wordTokenizer(cards.words);
    const model = ngrams(counts);
    this.models = [1, 2, 3].map(model);
  }

  accept(word) {
    const { value } = this.field;
    this.write(`${value.slice(0, value.lastIndexOf(' ') + 1)}${word} `);
    this.field.focus();
  }

  // The six likeliest words, or endings of the word that was begun. The text is read as the beginning of a line.
  suggest(text) {
    const { vocabulary, encode } = this.tokenizer, space = text.lastIndexOf(' ');
    const begun = text.slice(space + 1), read = encode(`\n${text.slice(0, Math.max(space, 0))}`);
    const { logits, seen } = this.models[this.order - 1](read.slice(-2)); // a 3-gram sees no more
    const p = logits[0].map((_, id) => (id > 6 && vocabulary[id].startsWith(begun) ? Math.exp(logits.at(-1)[id]) : 0)), all = p.reduce((a, b) => a + b);
    const context = read.slice(read.length - seen.at(-1).length).map(id => quoted(vocabulary[id])).join(' ');
    return { found: all ? best(p, 6).map(id => ({ name: vocabulary[id], p: p[id] / all })) : [], seen: seen.at(-1), context };
  }

  shown() {
    const { found, seen, context } = this.suggest(this.field.value);
    this.found = found;
    const note = seen.length ? say('The longest context that was seen is {0}: {1} times, followed by {2} different words.', context, seen.times, seen.words)
      : say('No context: only how often each word occurs.');
    return [found.length ? bars(found, say('Suggestions'), word => this.accept(word)) : make('p', {}, say('No word of the vocabulary starts like this.')), make('p', { class: 'note' }, note)];
  }

  told() { return this.found.map(({ name, p }) => `${name} ${p.toFixed(2)}`).join(', ') || this.result.textContent; }
}

// --- the next character -------------------------------------------------------------------------------

// A panel over a model of characters. A text is read after a line break, so that its first character is predicted as well.
class Characters extends Panel {
  prepare(cards, file) {
    const { characters, config } = cards[this.name];
    this.tokenizer = characterTokenizer(characters);
    this.reader = new Reader(this.model(tensors(file), config));
  }

  read() {
    this.steps = this.reader.read(this.tokenizer.encode(`\n${this.field.value}`));
    this.text = this.steps.map(({ token }) => this.tokenizer.vocabulary[token]);
    const { p } = this.steps.at(-1);
    this.next = best(p, 8).map(id => ({ name: named(this.tokenizer.vocabulary[id]), p: p[id] }));
    return bars(this.next, say('The next character'));
  }

  told() { return say('The next character: {0}.', this.next.slice(0, 3).map(({ name, p }) => `${name} ${p.toFixed(2)}`).join(', ')); }
}

class Surprise extends Characters {
  constructor(host) {
    super(host, 'To be, or not to be: that is the', 1000);
    this.name = 'char_lstm';
    this.model = lstm;
    this.temperature = number(say('temperature'), 0.8, { min: 0.1, max: 2, step: 0.1 });
    this.top_k = number(say('top-k'), 82, { min: 1, max: 82, step: 1 });
    this.top_p = number(say('top-p'), 1, { min: 0.05, max: 1, step: 0.05 });
    this.seed = number(say('seed'), 1, { type: 'number', min: 0, max: 9999, step: 1 });
    this.back = make('button', { type: 'button', onclick: () => { if (this.before !== undefined) this.write(this.before); } }, say('Take it back'));
    this.controls.append(...[this.temperature, this.top_k, this.top_p, this.seed].map(({ node }) => node),
      make('button', { type: 'button', onclick: async () => { await this.load(); this.go(); } }, say('Write on')), this.back);
  }

  // A hundred characters, sampled. Special tokens are not written.
  go() {
    this.before = this.field.value;
    const settings = { temperature: this.temperature.value, top_k: this.top_k.value, top_p: this.top_p.value }, random = randomFrom(this.seed.value);
    let { logits, state } = this.steps.at(-1), more = '';
    for (let n = 0; n < 100; n++) {
      const token = drawn(filtered(logits.map((logit, id) => (id > UNKNOWN ? logit : -Infinity)), settings), random);
      more += this.tokenizer.vocabulary[token];
      ({ logits: [logits], state } = this.reader.model([token], state));
    }
    this.write(this.before + more);
  }

  shown() {
    const next = this.read();
    const bits = this.steps.slice(1).map(({ token }, i) => -Math.log2(this.steps[i].p[token]));
    const line = make('p', { class: 'surprise' }, ...bits.map((value, i) => make('span', { style: `--bits: ${Math.min(value, 8).toFixed(2)}`, title: say('{0} bits', value.toFixed(1)) }, this.text[i + 1] === '<unk>' ? '�' : this.text[i + 1])));
    const mean = bits.length && bits.reduce((a, b) => a + b) / bits.length, most = bits.indexOf(Math.max(...bits));
    const note = bits.length ? say('{0} bits per character on average. The most surprising character is number {1}, {2}: {3} bits.', mean.toFixed(2), most + 1, quoted(this.text[most + 1]), bits[most].toFixed(1)) : say('Type a character.');
    this.bits = bits;
    this.twin ??= twin(say('All characters as a table'), () => table([say('number'), say('character'), say('bits'), say('most likely there')],
      this.bits.map((value, i) => [i + 1, quoted(this.text[i + 1]), value.toFixed(2), ...best(this.steps[i].p, 1).map(id => quoted(this.tokenizer.vocabulary[id]))])));
    this.twin.fill();
    return [line, make('p', { class: 'note' }, note), make('h3', {}, say('The next character')), next, this.twin.node];
  }
}

// --- attention ----------------------------------------------------------------------------------------

class Attention extends Characters {
  constructor(host) {
    super(host, 'ROMEO.\nBut soft! what light', 500);
    Object.assign(this, { name: 'char_gpt', model: transformer, layer: 0, head: 0 });
    this.place = number(say('look from character'), 1, { min: 0, max: 1, step: 1 }, at => { this.look(at); });
    this.line = make('p', { class: 'looked', onpointerover: ({ target }) => { if (target.dataset.at) this.look(Number(target.dataset.at)); } });
    this.note = make('p', { class: 'note' });
    this.grid = make('div', { class: 'heads', role: 'group', 'aria-label': say('Heads') });
    this.large = make('canvas', { role: 'img', onpointermove: event => this.point(event) });
  }

  prepare(cards, file) {
    super.prepare(cards, file);
    const { n_layers, n_heads } = cards.char_gpt.config;
    this.heads = Array.from({ length: n_layers * n_heads }, (_, n) => {
      const [layer, head] = [Math.floor(n / n_heads), n % n_heads], canvas = make('canvas', { 'aria-hidden': 'true' }), most = make('span');
      const button = make('button', { type: 'button', onclick: () => { Object.assign(this, { layer, head }); this.look(this.at); } },
        make('span', {}, say('layer {0}, head {1}', layer + 1, head + 1)), canvas, most);
      return { layer, head, canvas, most, button };
    });
    this.grid.style.setProperty('--columns', n_heads);
    this.grid.replaceChildren(...this.heads.map(({ button }) => button));
    this.twin = twin(say('The enlarged map as a table'), () => table([say('number'), say('character'), say('looks at')], this.text.map((character, from) =>
      [from, quoted(character), this.most(from, 3).map(to => `${quoted(this.text[to])} ${this.weight(from, to).toFixed(2)} (${say('{0} back', from - to)})`).join(', ')]).slice(this.first)));
    this.result.replaceChildren(make('h3', {}, say('The next character')), this.bars = make('div'), make('h3', {}, say('Where the heads look')),
      this.place.node, this.line, this.note, this.grid, make('div', { class: 'output' }, this.large), this.twin.node);
  }

  // How much character `from` looks at character `to` (both counted from the first that was read).
  weight(from, to, layer = this.layer, head = this.head) {
    const map = this.steps[from].weights[layer][head];
    return map[map.length - 1 - from + to] ?? 0;
  }

  update() {
    this.bars.replaceChildren(this.read());
    this.first = Math.max(0, this.steps.length - SHOWN);
    for (const { layer, head, canvas } of this.heads) this.draw(canvas, layer, head);
    Object.assign(this.place.input, { min: this.first, max: this.steps.length - 1 });
    this.look(this.steps.length - 1);
    this.moved = false;
  }

  look(at) {
    this.at = at;
    this.moved = true;
    this.place.input.value = at;
    this.place.input.setAttribute('aria-valuetext', `${at}: ${named(this.text[at])}`);
    this.place.show();
    this.line.replaceChildren(...this.text.slice(this.first).map((character, i) => make('span', { 'data-at': this.first + i,
      class: this.first + i === at ? 'from' : false, style: `--weight: ${(this.first + i <= at ? this.weight(at, this.first + i) : 0).toFixed(3)}` }, glyph(character))));
    for (const { layer, head, most, button } of this.heads) {
      const [to] = this.most(at, 1, layer, head);
      most.textContent = `${glyph(this.text[to])} ${this.weight(at, to, layer, head).toFixed(2)}`;
      button.setAttribute('aria-pressed', String(layer === this.layer && head === this.head));
    }
    this.note.textContent = this.where();
    this.enlarge();
    this.twin.fill();
    reachable(this.result);
    this.announce();
  }

  most(from, count, layer = this.layer, head = this.head) {
    const map = this.steps[from].weights[layer][head];
    return best(map, count).map(at => from + 1 - map.length + at);
  }

  where() {
    return say('From {0}, layer {1}, head {2} looks at {3}.', quoted(this.text[this.at]), this.layer + 1, this.head + 1,
      this.most(this.at, 3).map(to => `${quoted(this.text[to])} ${this.weight(this.at, to).toFixed(2)}`).join(', '));
  }

  told() { return this.moved ? this.where() : super.told(); }

  // A small map: a pixel for each weight; the square root shows small weights as well.
  draw(canvas, layer, head) {
    const n = this.steps.length - this.first, context = canvas.getContext('2d');
    canvas.width = canvas.height = n;
    const picture = context.createImageData(n, n);
    picture.data.fill(255);
    for (let row = 0; row < n; row++)
      for (let column = 0; column <= row; column++)
        Attention.colour(this.weight(this.first + row, this.first + column, layer, head)).forEach((part, i) => { picture.data[4 * (row * n + column) + i] = part; });
    context.putImageData(picture, 0, 0);
  }

  static colour(weight) { return [11, 79, 158].map(ink => 255 + (ink - 255) * Math.sqrt(weight)); }

  enlarge() {
    const canvas = this.large, n = this.steps.length - this.first, cell = 16, context = canvas.getContext('2d');
    canvas.width = canvas.height = cell * (n + 1);
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    Object.assign(context, { font: '13px monospace', textAlign: 'center', textBaseline: 'middle' });
    for (let i = 0; i < n; i++) {
      context.fillStyle = '#1c2126';
      const letter = glyph(this.text[this.first + i]);
      context.fillText(letter, (i + 1.5) * cell, cell / 2);
      context.fillText(letter, cell / 2, (i + 1.5) * cell);
      for (let j = 0; j <= i; j++) {
        context.fillStyle = `rgb(${Attention.colour(this.weight(this.first + i, this.first + j))})`;
        context.fillRect((j + 1) * cell, (i + 1) * cell, cell, cell);
      }
    }
    Object.assign(context, { strokeStyle: '#a44b00', lineWidth: 2 });
    context.strokeRect(1, (this.at - this.first + 1) * cell, cell * (n + 1) - 2, cell);
    canvas.setAttribute('aria-label', say('The map of layer {0}, head {1}. {2}', this.layer + 1, this.head + 1, this.where()));
  }

  point({ offsetY }) {
    const at = this.first - 1 + Math.floor(offsetY / this.large.clientHeight * this.large.height / 16);
    if (at >= this.first && at < this.steps.length && at !== this.at) this.look(at);
  }
}

const PANELS = { tokens: Tokens, words: Words, characters: Surprise, attention: Attention };
for (const host of document.querySelectorAll('.try')) {
  const panel = new PANELS[host.dataset.panel](host);
  let heading = host;
  while (heading && heading.tagName !== 'H2') heading = heading.previousElementSibling;
  if (location.hash === `#${heading.id}`) panel.load(); // the link of a lecture asked for it
}
