// The course's own models and tokenizers in plain JavaScript, for the pages on which they run. Every model is the function that it is in
// nlmcore, `{ logits, state } = model(tokens, state)`: logits[t] scores the token after tokens[t], and a state is a value, so
// reading on twice from one state gives the same both times. Weights are stored as float16; everything is computed in double
// precision. See nlmcore/recurrent, nlmcore/transformer, nlmcore/ngram and nlmcore/tokens for the equations and their sources.
'use strict';

// --- weights ----------------------------------------------------------------------------------------

// A float16 by its bits: a sign, 5 bits of exponent, 10 of fraction. Trained weights are finite.
const HALF = Float64Array.from({ length: 65536 }, (_, bits) => {
  const exponent = bits >> 10 & 31, fraction = (bits & 1023) / 1024;
  return (bits >> 15 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
});

// A file of safetensors (the length of its header, the header as JSON, the numbers) -> name -> weights, row by row.
function tensors(buffer) {
  const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, start - 8)));
  return Object.fromEntries(Object.entries(header).map(([name, { data_offsets: [from, to] }]) =>
    [name, Float64Array.from(new Uint16Array(buffer.slice(start + from, start + to)), bits => HALF[bits])]));
}

// W x + b. Four sums at a time are twice as fast as one, since none waits for another; all our widths are multiples of four.
function linear(W, x, b) {
  const columns = x.length, y = new Float64Array(W.length / columns);
  for (let row = 0, at = 0; row < y.length; row++) {
    let sum = b ? b[row] : 0, second = 0, third = 0, fourth = 0;
    for (let column = 0; column < columns; column += 4, at += 4) {
      sum += W[at] * x[column];
      second += W[at + 1] * x[column + 1];
      third += W[at + 2] * x[column + 2];
      fourth += W[at + 3] * x[column + 3];
    }
    y[row] = sum + second + third + fourth;
  }
  return y;
}

const rowOf = (matrix, row, width) => matrix.subarray(row * width, (row + 1) * width);
const plus = (x, y) => x.map((value, i) => value + y[i]);
const sigmoid = x => 1 / (1 + Math.exp(-x));

function softmax(logits) {
  const highest = logits.reduce((a, b) => Math.max(a, b)), weights = logits.map(logit => Math.exp(logit - highest));
  const total = weights.reduce((a, b) => a + b);
  return weights.map(weight => weight / total);
}

// --- the LSTM ---------------------------------------------------------------------------------------

function lstm(w) {
  const E = w['embedding.weight'], [W, U, b, bias] = ['weight_ih', 'weight_hh', 'bias_ih', 'bias_hh'].map(name => w[`recurrent.cells.0.${name}`]);
  const both = plus(b, bias), d = U.length / both.length, width = W.length / both.length;
  return (tokens, state) => {
    let { h, c } = state || { h: new Float64Array(d), c: new Float64Array(d) };
    const logits = tokens.map(token => {
      const a = linear(U, h, linear(W, rowOf(E, token, width), both)); // input, forget, candidate, output
      c = c.map((kept, k) => sigmoid(a[d + k]) * kept + sigmoid(a[k]) * Math.tanh(a[2 * d + k]));
      h = c.map((memory, k) => sigmoid(a[3 * d + k]) * Math.tanh(memory));
      return linear(w['output.weight'], h, w['output.bias']);
    });
    return { logits, state: { h, c } };
  };
}

// --- the Transformer --------------------------------------------------------------------------------

// erf(x) = 2/√π · exp(−x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1 · 3 · 5 ⋯ (2n + 1)), a sum without cancellation
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) sum += term *= 2 * x * x / (2 * n + 1);
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}

const gelu = x => x * (1 + erf(x / Math.SQRT2)) / 2;

function layerNorm(x, scale, shift) {
  const mean = x.reduce((a, b) => a + b) / x.length, variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return x.map((value, i) => (value - mean) / Math.sqrt(variance + 1e-5) * scale[i] + shift[i]);
}

// Pre-norm, rotary positions, a window of keys and values. Besides, `weights[t]`: for each layer and head, the attention of
// tokens[t] to the last tokens up to itself. Heads that are off, `layer * n_heads + head`, look but add nothing.
function transformer(w, { d_model: d, n_heads, n_layers, window }) {
  const part = (layer, name) => [w[`layers.${layer}.${name}.weight`], w[`layers.${layer}.${name}.bias`]];
  const parts = Array.from({ length: n_layers }, (_, layer) => Object.fromEntries(
    ['attention.projection', 'attention.output', 'feed_forward.inner', 'feed_forward.outer', 'residual_attention.norm', 'residual_feed_forward.norm']
      .map(name => [name, part(layer, name)])));
  const apply = ([W, b], x) => linear(W, x, b), width = d / n_heads, half = width / 2;

  // Rotate pairs (i, i + half) of each head by the angle position · 10000^(−2i/width).
  function rotate(x, position) {
    for (let i = 0; i < half; i++) {
      const angle = position * 10000 ** (-i / half), cos = Math.cos(angle), sin = Math.sin(angle);
      for (let a = i; a < x.length; a += width) [x[a], x[a + half]] = [x[a] * cos - x[a + half] * sin, x[a + half] * cos + x[a] * sin];
    }
    return x;
  }

  function attend(q, keys, values, isOff) {
    const mixed = new Float64Array(d), maps = [];
    for (let first = 0; first < d; first += width) {
      const map = softmax(Float64Array.from(keys, key => {
        let score = 0;
        for (let i = first; i < first + width; i++) score += q[i] * key[i];
        return score / Math.sqrt(width);
      }));
      if (!isOff(maps.length)) map.forEach((weight, at) => { for (let i = first; i < first + width; i++) mixed[i] += weight * values[at][i]; });
      maps.push(map);
    }
    return { mixed, maps };
  }

  return (tokens, state, off = new Set()) => {
    let { position, layers } = state || { position: 0, layers: parts.map(() => ({ keys: [], values: [] })) };
    const logits = [], weights = [];
    for (const token of tokens) {
      let x = rowOf(w['embedding.weight'], token, d);
      const seen = [];
      layers = layers.map(({ keys, values }, l) => {
        const p = parts[l], projected = apply(p['attention.projection'], layerNorm(x, ...p['residual_attention.norm']));
        const q = rotate(projected.slice(0, d), position), k = rotate(projected.slice(d, 2 * d), position);
        keys = [...keys.slice(-(window - 1)), k];
        values = [...values.slice(-(window - 1)), projected.slice(2 * d)];
        const { mixed, maps } = attend(q, keys, values, head => off.has(l * n_heads + head));
        x = plus(x, apply(p['attention.output'], mixed));
        x = plus(x, apply(p['feed_forward.outer'], apply(p['feed_forward.inner'], layerNorm(x, ...p['residual_feed_forward.norm'])).map(gelu)));
        seen.push(maps);
        return { keys, values };
      });
      logits.push(linear(w['embedding.weight'], layerNorm(x, w['final_norm.weight'], w['final_norm.bias'])));
      weights.push(seen);
      position++;
    }
    return { logits, state: { position, layers }, weights };
  };
}

// --- n-grams ----------------------------------------------------------------------------------------

// Interpolated Kneser-Ney, P(w | h) = max(c − D, 0) / N + D T / N · P(w | h'), from the counts of `tried.py`. Besides, `seen`:
// how often a word followed the longest context that was seen, how many different words did, and its length.
function ngrams({ vocab_size, levels }) {
  const tries = levels.map(({ sizes, words, counts, discounts }) => {
    const starts = new Int32Array(sizes.length + 1), word = Int32Array.from(words);
    sizes.forEach((size, context) => { starts[context + 1] = starts[context] + size; });
    for (let context = 0; context < sizes.length; context++)
      for (let i = starts[context] + 1; i < starts[context + 1]; i++) word[i] += word[i - 1];
    return { starts, word, counts, discounts };
  });
  // The id of an n-gram: its words lead from one level to the next. −1 if it was never seen.
  const find = words => words.reduce((id, wanted, n) => {
    const { starts, word } = tries[n];
    let [low, high] = id < 0 ? [0, 0] : [starts[id], starts[id + 1]];
    const end = high;
    while (low < high) { const middle = low + high >> 1; if (word[middle] < wanted) low = middle + 1; else high = middle; }
    return low < end && word[low] === wanted ? low : -1;
  }, 0);
  return order => (tokens, state = []) => {
    const read = [...state, ...tokens], all = [];
    for (let t = state.length; t < read.length; t++) {
      let p = new Float64Array(vocab_size).fill(1 / vocab_size), seen = { times: 0, words: 0, length: 0 };
      for (let n = 1; n <= Math.min(order, t + 2); n++) {
        const { starts, word, counts, discounts } = tries[n - 1], which = n === order ? 0 : 1;
        const id = find(read.slice(t + 2 - n, t + 1)), c = counts[which], D = discounts[which];
        let N = 0, T = 0, times = 0;
        for (let i = starts[id]; i < starts[id + 1]; i++) { N += c[i]; T += c[i] > 0; times += counts[0][i]; }
        if (!N) continue; // a context that was never seen leaves all to the shorter one
        p = p.map(lower => D * T / N * lower);
        for (let i = starts[id]; i < starts[id + 1]; i++) p[word[i]] += Math.max(c[i] - D, 0) / N;
        seen = { times, words: starts[id + 1] - starts[id], length: n - 1 };
      }
      all.push({ logits: p.map(Math.log), seen });
    }
    return { logits: all.map(one => one.logits), state: read.slice(Math.max(0, read.length - order + 1)), seen: all.map(one => one.seen) };
  };
}

// --- tokenizers -------------------------------------------------------------------------------------

// What is in no vocabulary is <unk>, the fourth special token; a text begins with <bos>, the second.
const UNKNOWN = 3, BOS = 1;

function characterTokenizer(vocabulary) {
  const ids = new Map(vocabulary.map((character, id) => [character, id]));
  return { vocabulary, encode: text => Array.from(text, character => ids.get(character) ?? UNKNOWN) };
}

// A space that is expected between two words is no token; other white space is, and "" says that an expected one is missing.
function wordTokenizer(vocabulary) {
  const ids = new Map(vocabulary.map((word, id) => [word, id])), idOf = word => ids.get(word) ?? UNKNOWN;
  const letter = '[\\p{L}\\p{M}\\p{N}]', sign = '([^\\p{White_Space}\\p{L}\\p{M}\\p{N}])';
  const pattern = new RegExp(`(\\p{White_Space}*)(${letter}+(?:['’]${letter}+)*|${sign}\\3*|$)`, 'gu');
  const silent = id => id < UNKNOWN || /^\p{White_Space}*$/u.test(vocabulary[id]), letters = id => Array.from(vocabulary[id]);
  const before = vocabulary.map((_, id) => !silent(id) && !',.;:!?)]}…’”%-–—/'.includes(letters(id)[0]));
  const after = vocabulary.map((_, id) => !silent(id) && !'([{“‘\'"#$£€@&_-–—/'.includes(letters(id).at(-1)));
  const encode = text => {
    const found = [];
    let last = 1; // <bos>
    for (const [, space, token] of text.matchAll(pattern)) {
      const id = idOf(token);
      if (space !== (after[last] && before[id] ? ' ' : '')) found.push(...(space ? Array.from(space, idOf) : [idOf('')]));
      if (token) found.push(id);
      last = id;
    }
    return found;
  };
  return { vocabulary, encode };
}

// UTF-8. Half of a surrogate pair, which a browser's own encoder replaces, becomes its three bytes, as in nlmcore.
const utf8 = new TextEncoder();
const bytesOf = text => Array.from(text).flatMap(character => {
  const code = character.codePointAt(0);
  return code >> 11 === 27 ? [224 | code >> 12, 128 | code >> 6 & 63, 128 | code & 63] : [...utf8.encode(character)];
});

// Byte pairs: words by GPT-2's pattern, then merges in the order in which they were learned. `vocabulary` has bytes.
function byteTokenizer({ special, bytes, merges }) {
  const vocabulary = special.map(bytesOf), ranks = new Map(), pair = (left, right) => left * 2 ** 21 + right;
  bytes.forEach((id, byte) => { vocabulary[id] = [byte]; });
  for (const [left, right] of merges) {
    ranks.set(pair(left, right), vocabulary.length);
    vocabulary.push([...vocabulary[left], ...vocabulary[right]]);
  }
  const pattern = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
  const merged = word => {
    let ids = bytesOf(word).map(byte => bytes[byte]);
    for (;;) {
      const made = ids.map((id, i) => ranks.get(pair(id, ids[i + 1])) ?? Infinity), first = made.reduce((a, b) => Math.min(a, b), Infinity);
      if (first === Infinity) return ids;
      const joined = [];
      for (let i = 0; i < ids.length; i++) joined.push(made[i] === first ? (i++, first) : ids[i]);
      ids = joined;
    }
  };
  return { vocabulary, encode: text => (text.match(pattern) || []).flatMap(merged) };
}

// --- reading a text -----------------------------------------------------------------------------------

// A text, token by token. What it has read of the same beginning is kept, so that one more token is one step. What else the model is
// told, such as the heads that are off, holds for the tokens that are read from then on.
class Reader {
  constructor(model) { this.model = model; this.steps = []; }

  read(tokens, ...told) {
    const other = tokens.findIndex((token, i) => this.steps[i]?.token !== token);
    this.steps.length = Math.min(this.steps.length, other < 0 ? tokens.length : other);
    for (const token of tokens.slice(this.steps.length)) {
      const { logits: [logits], state, weights } = this.model([token], this.steps.at(-1)?.state, ...told);
      this.steps.push({ token, logits, p: softmax(logits), state, weights: weights?.[0] });
    }
    return this.steps;
  }
}

// --- characters and figures, as the pages show them ---------------------------------------------------

const glyph = character => ({ ' ': '␣', '\n': '⏎', '<unk>': '�' })[character] || character;
const named = character => ({ ' ': say('space'), '\n': say('new line'), '<unk>': say('unknown') })[character] ?? character;
const quoted = character => (character.trim() && character !== '<unk>' ? `“${character}”` : named(character));
const best = (p, most) => [...p.keys()].sort((a, b) => p[b] - p[a]).slice(0, most).filter(id => p[id] > 0);

function table(head, rows) {
  const cells = (kind, values) => make('tr', {}, ...values.map(value => make(kind, kind === 'th' ? { scope: 'col' } : {}, String(value))));
  return make('table', {}, make('thead', {}, cells('th', head)), make('tbody', {}, ...rows.map(row => cells('td', row))));
}

// --- from logits to a token ---------------------------------------------------------------------------

// The probabilities after temperature, then top-k, then top-p, each applied to what the previous one has left.
function filtered(logits, { temperature = 1, top_k = Infinity, top_p = 1 }) {
  let p = softmax(logits.map(logit => logit / temperature)), held = 0;
  const order = [...p.keys()].sort((a, b) => logits[b] - logits[a]), keep = new Set(order.slice(0, top_k));
  const only = kept => { const left = p.map((value, id) => (kept.has(id) ? value : 0)), all = left.reduce((a, b) => a + b); p = left.map(value => value / all); };
  only(keep);
  if (top_p < 1) only(new Set(order.filter((id, i) => { const kept = i === 0 || held < top_p - 1e-6; held += p[id]; return kept; })));
  return p;
}

// Random numbers from a seed (Mulberry32, 2017), and the token at which the running sum of p passes one of them.
function randomFrom(seed) {
  return () => {
    let t = seed = seed + 0x6D2B79F5 | 0;
    t = Math.imul(t ^ t >>> 15, t | 1);
    t ^= t + Math.imul(t ^ t >>> 7, t | 61);
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  };
}

function drawn(p, random) {
  const most = p.length - 1;
  let left = random(), id = 0;
  while (id < most && (left -= p[id]) >= 0) id++;
  return p[id] ? id : p.findIndex(Boolean);
}
