// SmolLM2 in the reader's browser (llm.html): loading, the next token, writing. wllama computes, in a worker of its own.
'use strict';

{
  const part = name => document.querySelector(`#llm-${name}`);
  const parts = JSON.parse(document.querySelector('#llm').dataset.parts);
  const EXAMPLES = [ // from the lectures
    ['text', 'The capital of France is'],
    ['text', 'When she tried to print her tickets, she found that the printer was out of toner. She went to the stationery store to buy '
      + 'more toner. It was very overpriced. After installing the toner into the printer, she finally printed her'],
    ['text', 'Once upon a time there was a'],
    ['text', 'What is the capital of France?'],
    ['chat', 'What is the capital of France?'],
    ['chat', 'Who wrote Hamlet?'],
    ['chat', 'What is 12 + 30?'],
  ];
  const SETTINGS = { // name in wllama: label, least, most, step, at the start
    temperature: ['temperature', 0, 2, 0.1, 0],
    top_k: ['top-k (0: off)', 0, 100, 1, 0],
    top_p: ['top-p (1: off)', 0.05, 1, 0.05, 1],
    min_p: ['min-p (0: off)', 0, 0.5, 0.01, 0],
    typical_p: ['typical-p (1: off)', 0.05, 1, 0.05, 1],
    seed: ['seed', 0, 99, 1, 1],
    max_tokens: ['tokens to write', 1, 100, 1, 24],
  };
  const SPECIAL = { 0: '<|endoftext|>', 1: '<|im_start|>', 2: '<|im_end|>' };
  const CONTEXT = 2048;
  const QUIET = { debug() { }, log() { }, warn() { }, error() { } };
  const utf8 = bytes => new TextDecoder().decode(new Uint8Array(bytes));
  const shown = ({ id, bytes }) => bytes.length ? utf8(bytes).replace(/^ /, '␣').replaceAll('\n', '↵') : SPECIAL[id] || `<special token ${id}>`;
  const rounded = p => p >= 0.0005 ? p.toFixed(3) : 'under 0.001';
  const write = (name, text) => { part(name).textContent = text; };
  const off = (name, is) => part(name).setAttribute('aria-disabled', `${is}`); // not `disabled`: the keyboard keeps its place

  let model, halt, busy = false; // the loaded model; what stops the work under way; whether there is any
  let written = []; // the appended tokens: { id, bytes, p, rank }

  // --- loading --------------------------------------------------------------------------------------

  // One script's bytes. What was handed over is forgotten here, so that memory holds it once and a failed load can be repeated.
  const take = async name => {
    try { return await nlm.load(name); } finally {
      nlm.asked.delete(name);
      document.querySelector(`script[data-name="${name}"]`)?.remove();
    }
  };
  // An address for a worker. That of a blob is faster, but refused to a page from a folder.
  const url = (blob, type) => location.protocol !== 'file:' ? URL.createObjectURL(new Blob([blob], { type })) : new Promise((done, failed) => {
    const reader = new FileReader();
    Object.assign(reader, { onload: () => done(reader.result), onerror: () => failed(reader.error) });
    reader.readAsDataURL(new Blob([blob], { type }));
  });
  const wide = () => { try { return !!new WebAssembly.Memory({ address: 'i64', initial: 1n }); } catch { return false; } };
  const stopped = signal => new Promise((_, failed) => signal.addEventListener('abort', () => failed(signal.reason), { once: true }));

  async function load(signal) {
    if (!window.WebAssembly || !window.DecompressionStream)
      throw new Error('This browser is too old for it. A current Chrome, Edge, Firefox or Safari can run it.');
    // Safari lacks memories of 64 bits or suspended calls; for it there is an older build. Firefox does without the latter.
    const older = !wide() || !(WebAssembly.Suspending || navigator.userAgent.includes('Firefox'));
    const engine = older ? [parts.older, parts.worker] : [parts.engine];
    const names = [parts.library, ...engine, ...parts.weights], got = [];
    for (const name of names) {
      got.push(await take(name));
      signal.throwIfAborted();
      part('loaded').value = got.length / (names.length + 1);
    }
    const { Wllama } = got[0], wasm = await url(got[1], 'application/wasm');
    const made = new Wllama({ default: wasm }, { suppressNativeLog: true, logger: QUIET });
    made.setCompat(older ? { wasm, worker: { code: await got[2].text() } } : null, 'firefox_safari');
    write('state', 'Starting the model …');
    try {
      const weights = new Blob(got.slice(1 + engine.length));
      await Promise.race([stopped(signal), made.loadModel([weights], // one thread and no graphics card: the same numbers everywhere
        { n_ctx: CONTEXT, n_batch: 16, n_threads: 1, n_gpu_layers: 0, n_parallel: 1 })]);
    } catch (error) { made.exit(); throw error; }
    return made;
  }

  async function onLoad() {
    halt = new AbortController();
    const toggle = loading => {
      part('load').hidden = loading;
      part('cancel').hidden = part('loaded').hidden = !loading;
    };
    toggle(true);
    part('cancel').focus();
    write('state', 'Loading the model …');
    try {
      model = await load(halt.signal);
      part('loaded').hidden = part('cancel').hidden = true;
      part('ready').hidden = false;
      write('state', 'The model is loaded.');
      choose(0);
      part('prompt').focus({ preventScroll: true });
      await ask();
    } catch (error) {
      toggle(false);
      part('load').focus();
      part('loaded').value = 0;
      write('state', halt.signal.aborted ? 'Cancelled.'
        : `The model could not be loaded. ${told(error)} It needs about 400 MB of free memory: close other pages and try again, or use a computer instead of a phone.`);
    }
  }

  const told = error => `${error?.message || error}`.replace(/[^.!?]$/, '$&.');

  // --- what the model reads -------------------------------------------------------------------------

  function prompt() {
    const text = part('prompt').value;
    if (document.querySelector('[name=llm-form]:checked').value === 'text') return text;
    const [, system] = /<\|im_start\|>system\n(.*?)<\|im_end\|>/s.exec(model.getChatTemplate());
    const turn = (role, words) => `<|im_start|>${role}\n${words}<|im_end|>\n`;
    return `${turn('system', system)}${turn('user', text)}<|im_start|>assistant\n`;
  }

  // Token by token, a character of several tokens at the last of them.
  function texts() {
    const decoder = new TextDecoder();
    return written.map(token => token.bytes.length ? decoder.decode(new Uint8Array(token.bytes), { stream: true }) : shown(token));
  }

  function draw() {
    const pieces = texts();
    write('reads', prompt() + pieces.join(''));
    part('text').replaceChildren(part('prompt').value, ...written.length && prompt() !== part('prompt').value ? ['\n\n'] : [],
      ...written.map(({ p }, i) => make('span', { title: `probability ${rounded(p)}`, style: `--surprise: ${1 - p}` }, pieces[i])));
    part('tokens').tBodies[0].replaceChildren(...written.map(token => make('tr', {},
      make('td', {}, make('code', {}, shown(token))), make('td', { class: 'p' }, rounded(token.p)), make('td', {}, token.rank < 0 ? '10 or more' : `${token.rank}`))));
    for (const name of ['ask', 'write']) off(name, busy);
    for (const name of ['back', 'clear']) off(name, busy || !written.length);
    off('stop', !busy);
    part('next').setAttribute('aria-busy', `${busy}`);
    reachable(document.querySelector('#llm'));
  }

  // --- computing ------------------------------------------------------------------------------------

  // Asks for tokens; `each` gets every one with the ten most probable in its place. Whether it came to its end.
  async function compute(settings, each) {
    const { signal } = halt = new AbortController();
    busy = true;
    draw();
    let wrong = '';
    try {
      await model.createCompletion({
        prompt: prompt() + texts().join(''), logprobs: 10, cache_prompt: true, return_progress: true,
        samplers: ['temperature', 'top_k', 'top_p', 'min_p', 'typ_p'], ...settings, stream: true, abortSignal: signal,
        onData({ choices: [choice], prompt_progress: read }) {
          if (signal.aborted) return;
          if (read) write('state', `Reading: ${read.processed} of ${read.total} tokens.`);
          for (const token of choice?.logprobs?.content || []) each(token);
        },
      });
    } catch (error) {
      if (!signal.aborted) wrong = told(error);
    }
    busy = false;
    draw();
    if (wrong) write('state', `The model stopped: ${wrong} It can read ${CONTEXT} tokens.`);
    return !wrong && !signal.aborted;
  }

  let next = []; // the ten most probable tokens

  function list() {
    part('next').hidden = !next.length;
    const body = part('next').tBodies[0];
    while (body.rows.length < next.length) {
      const at = body.rows.length; // rows stay, so that the keyboard keeps its place
      body.append(make('tr', {}, make('td', {}, make('button', { type: 'button', onclick: () => append(next[at]) })), make('td', { class: 'p' }),
        make('td', { class: 'bar', 'aria-hidden': 'true' }, make('div'))));
    }
    next.forEach((token, i) => {
      const [name, number, bar] = body.rows[i].cells, p = Math.exp(token.logprob);
      name.firstChild.textContent = shown(token);
      number.textContent = rounded(p);
      bar.firstChild.style.width = `${100 * p}%`;
    });
    reachable(document.querySelector('#llm'));
  }

  const ready = () => !busy && (prompt() !== '' || write('state', 'Type a prompt first.'));

  async function ask(said = '') {
    if (!ready()) return;
    if (!await compute({ max_tokens: 1, temperature: 0 }, token => { next = token.top_logprobs; })) return;
    list();
    const best = next.slice(0, 3).map(token => `${shown(token)} ${rounded(Math.exp(token.logprob))}`).join(', ');
    write('state', `${said}Most probable next: ${best}.`);
  }

  const push = (token, among) => written.push({ ...token, p: Math.exp(token.logprob), rank: among.findIndex(({ id }) => id === token.id) });

  async function append(token) {
    if (busy) return;
    push(token, next);
    await ask(`Appended ${shown(token)}. `);
  }

  async function onWrite() {
    if (!ready()) return;
    const settings = Object.fromEntries(Object.keys(SETTINGS).map(name => [name, Number(part(name).value)]));
    const mine = written, before = written.length;
    write('state', 'Writing …');
    const done = await compute(settings, token => { push(token, token.top_logprobs); draw(); });
    if (mine !== written) return write('state', 'Stopped.'); // there is another prompt
    const count = written.length - before, ended = written.length && !written.at(-1).bytes.length;
    const why = halt.signal.aborted ? 'Stopped after' : ended ? 'The model ended the text after' : 'Wrote';
    const said = `${why} ${count} token${count === 1 ? '' : 's'}: ${texts().slice(before).join('').trim()} `;
    if (done) await ask(said); else if (halt.signal.aborted) write('state', said);
  }

  // --- the page -------------------------------------------------------------------------------------

  function changed() {
    written = [];
    next = [];
    list();
    draw();
  }

  function choose(at) {
    const [form, text] = EXAMPLES[at];
    part('prompt').value = text;
    document.querySelector(`[name=llm-form][value=${form}]`).checked = true;
    changed();
  }

  EXAMPLES.forEach(([form, text]) => part('example').append(make('option', {}, `${form === 'chat' ? 'Chat: ' : ''}${text.length > 60 ? `… ${text.slice(-48)}` : text}`)));
  for (const [name, [label, min, max, step, value]] of Object.entries(SETTINGS)) {
    const input = make('input', { type: 'range', id: `llm-${name}`, min, max, step, value, oninput: () => { output.textContent = input.value; } });
    const output = make('span', { class: 'readout', 'aria-hidden': 'true' }, `${value}`);
    part('settings').append(make('div', { class: 'control' }, make('label', { for: `llm-${name}` }, label), input, output));
  }
  const stop = () => halt?.abort(new Error('stopped'));
  part('load').addEventListener('click', onLoad);
  part('cancel').addEventListener('click', stop);
  part('stop').addEventListener('click', stop);
  part('example').addEventListener('change', () => { stop(); choose(part('example').selectedIndex); });
  part('prompt').addEventListener('input', () => { stop(); changed(); });
  part('form').addEventListener('change', () => { stop(); changed(); });
  part('ask').addEventListener('click', () => ask());
  part('back').addEventListener('click', () => { if (!busy && written.pop()) ask(); });
  part('write').addEventListener('click', onWrite);
  part('clear').addEventListener('click', () => { if (!busy && written.length) changed(); });
  part('ready').addEventListener('keydown', event => { if (event.key === 'Escape') stop(); });
}
