// The page "Beat the model": Shannon's guessing game against models of the course that run in the browser (models.js). The rules are
// those of lectures/recipes/guessing.py: 28 keys, and a model guesses them in the order of their probabilities.
'use strict';

const KEYS = 'abcdefghijklmnopqrstuvwxyz .', GIVE_UP = '?', ENOUGH = 20; // letters before a bound is shown
const keyName = key => ({ ' ': 'space', [GIVE_UP]: 'reveal' })[key] ?? `“${key}”`;

// The key of a character: letters lose case and accents, white space is the space, the rest is ".".
function keyOf(character) {
  if (/^\p{White_Space}$/u.test(character)) return ' ';
  const [plain] = character.normalize('NFKD').toLowerCase();
  return /[a-z]/.test(plain) ? plain : '.';
}

// Shannon's upper bound on the bits of a character, from numbers of guesses: the entropy of the numbers.
function upperBound(guesses) {
  const shares = [...new Set(guesses)].map(n => guesses.filter(other => other === n).length / guesses.length);
  return shares.reduce((sum, q) => sum - q * Math.log2(q), 0);
}

// How many guesses a model needs: the place of the right key among its keys by probability, the first of equals first.
function placeOf(p, vocabulary, right) {
  const shares = new Map([...KEYS].map(key => [key, 0]));
  p.forEach((share, id) => { const key = id <= UNKNOWN ? '.' : keyOf(vocabulary[id]); shares.set(key, shares.get(key) + share); });
  return [...shares.keys()].sort((a, b) => shares.get(b) - shares.get(a)).indexOf(right) + 1;
}

class Beat {
  constructor(host) {
    this.host = host;
    this.button = make('button', { type: 'button', onclick: () => this.load() }, `Start (loads ${host.dataset.megabytes} MB)`);
    this.says = make('p', { role: 'status', class: 'beat-says' });
    host.replaceChildren(this.button, this.says);
  }

  async load() {
    this.button.disabled = true;
    this.says.textContent = 'Loading …';
    try {
      const [cards, lstmFile, gptFile, letters] = await Promise.all(this.host.dataset.load.split(' ').map(name => nlm.load(`try/${name}`)));
      this.passages = letters.passages;
      this.tokenizer = characterTokenizer(cards.char_gpt.characters);
      const reader = model => new Reader(model);
      this.players = { '4-gram': reader(ngrams(letters)(4)), LSTM: reader(lstm(tensors(lstmFile))), GPT: reader(transformer(tensors(gptFile), cards.char_gpt.config)) };
    } catch (error) {
      this.button.disabled = false;
      this.says.textContent = `${error.message}. Press Start to try again.`;
      return;
    }
    this.build();
    this.begin(Math.floor(Math.random() * this.passages.length));
  }

  build() {
    this.text = make('p', { class: 'beat-text', tabindex: 0, role: 'group' });
    this.host.addEventListener('keydown', event => this.key(event));
    this.keys = make('div', { class: 'row beat-keys', role: 'group', 'aria-label': 'Your guess' }, ...[...KEYS, GIVE_UP].map(key =>
      make('button', { type: 'button', 'data-key': key, 'aria-label': keyName(key), onclick: ({ detail }) => {
        this.guess(key);
        if (detail) this.text.focus({ preventScroll: true }); // pressed by a pointer: the keyboard goes on guessing
      } }, /[ ?]/.test(key) ? keyName(key) : key)));
    this.table = make('div', { class: 'output' });
    this.line = make('input', { type: 'text', readonly: true, id: fresh() });
    const copy = make('button', { type: 'button', onclick: async () => {
      this.line.select();
      try { await navigator.clipboard.writeText(this.line.value); this.tell('Copied.'); } catch { this.tell('The line is selected; copy it from there.'); }
    } }, 'Copy');
    this.share = make('div', { class: 'row', hidden: true }, make('label', { for: this.line.id }, 'A line to share'), this.line, copy);
    const another = make('button', { type: 'button', onclick: () => this.begin((this.number + 1) % this.passages.length) }, 'Another passage');
    this.host.replaceChildren(this.text, this.keys, this.says, this.table, this.share, make('p', {}, another));
  }

  begin(number) {
    this.number = number;
    [this.given, this.hidden] = this.passages[number];
    this.found = []; // my guesses, letter by letter
    this.theirs = Object.fromEntries(Object.keys(this.players).map(name => [name, []]));
    this.wrong = [];
    this.revealed = false;
    this.share.hidden = true;
    this.draw();
    this.tell('Guess the next letter: type it, or press its button.');
    this.text.focus({ preventScroll: true });
  }

  key(event) {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target === this.line) return;
    if (event.target.closest('button') && (event.key === ' ' || event.key === 'Enter')) return; // it presses the button
    const key = event.key.length === 1 ? event.key : '';
    if (!key) return;
    event.preventDefault();
    this.guess(keyOf(key)); // "?" is a mark as any other; the button reveals
  }

  guess(key) {
    if (this.found.length === this.hidden.length) return this.tell('This passage is finished. Try another.');
    const right = keyOf(this.hidden[this.found.length]);
    if (key !== right && key !== GIVE_UP) {
      if (!this.wrong.includes(key)) this.wrong.push(key);
      this.draw();
      return this.tell(`Not ${keyName(key)}. Guess again.`);
    }
    const count = key === GIVE_UP ? KEYS.length : this.wrong.length + 1;
    const read = this.tokenizer.encode(this.given + this.hidden.slice(0, this.found.length));
    for (const [name, reader] of Object.entries(this.players)) this.theirs[name].push(placeOf(reader.read([BOS, ...read]).at(-1).p, this.tokenizer.vocabulary, right));
    this.revealed ||= key === GIVE_UP;
    this.found.push(count);
    this.wrong = [];
    this.draw();
    const rivals = Object.entries(this.theirs).map(([name, counts]) => `${name} ${counts.at(-1)}`).join(', ');
    this.tell(`${keyName(right)}. Guesses needed: you ${count}${key === GIVE_UP ? ' (revealed)' : ''}, ${rivals}.${this.found.length === this.hidden.length ? ' This passage is finished. Try another.' : ''}`);
  }

  tell(words) { this.says.textContent = words; }

  draw() {
    const n = this.found.length, first = counts => counts.filter(count => count === 1).length;
    const letters = this.found.map((count, i) => make('span', { class: count === 1 ? 'at-once' : '', title: `${count}` }, this.hidden[i], make('sub', { 'aria-hidden': 'true' }, String(count))));
    this.text.replaceChildren(this.given, ...letters, n < this.hidden.length ? make('span', { class: 'from' }, '_') : '');
    this.text.setAttribute('aria-label', `${this.given}${this.hidden.slice(0, n)}`);
    for (const button of this.keys.children) {
      const { key } = button.dataset, tried = this.wrong.includes(key);
      button.classList.toggle('tried', tried);
      button.setAttribute('aria-label', keyName(key) + (tried ? ', tried' : ''));
    }
    if (!n) return this.table.replaceChildren();
    const rows = [['you', this.found], ...Object.entries(this.theirs)].map(([name, counts]) => {
      const mean = counts.reduce((a, b) => a + b) / n;
      return [name, `${first(counts)} of ${n}`, mean.toFixed(2), n < ENOUGH || (name === 'you' && this.revealed) ? '–' : upperBound(counts).toFixed(1)];
    });
    this.table.replaceChildren(table(['player', 'right first time', 'guesses per letter', `bits per letter, at most (from ${ENOUGH} letters)`], rows));
    this.share.hidden = n < 10;
    const score = ([name, counts]) => `the ${name} ${first(counts)}`;
    const where = location.protocol.startsWith('http') ? ` ${location.origin}${location.pathname}` : '';
    this.line.value = `I guessed ${first(this.found)} of ${n} letters of Shakespeare first time; ${Object.entries(this.theirs).map(score).join(', ')}. Can you beat the model?${where}`;
  }
}

for (const host of document.querySelectorAll('.beat')) new Beat(host);
