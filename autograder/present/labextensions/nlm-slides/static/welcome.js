/* The first page in JupyterLab: where to start, where you were, the lectures as cards with what you have read of each, and the
assignments. It is made of the two lists that the course has anyway, lectures/README.md and exercises/README.md. How far somebody has read
is kept in this browser and sent nowhere. */

const READ = 'nlm-read', COMMAND = 'nlm-slides:welcome';

const all = () => {
  try {
    return JSON.parse(localStorage.getItem(READ) || '{}');
  } catch {
    return {};
  }
};

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => (name === 'onclick' ? (made.onclick = value) : made.setAttribute(name, value)));
  made.append(...children);
  return made;
}

/* Keep the cell that is active, and the furthest one that was. */
export function rememberPlace({ content: notebook, context }) {
  if (!notebook.activeCellChanged || notebook.nlmRead) return;
  notebook.nlmRead = true;
  notebook.activeCellChanged.connect(() => {
    const at = notebook.activeCellIndex, { path } = context, read = all();
    if (at < 1 || notebook.widgets.length < 2) return;
    const furthest = Math.max(at, read[path]?.furthest || 0);
    try {
      localStorage.setItem(READ, JSON.stringify({ ...read, [path]: { at, furthest, of: notebook.widgets.length - 1, when: Date.now() } }));
    } catch {
      /* a private window */
    }
  });
}

async function textOf(app, path) {
  try {
    return String((await app.serviceManager.contents.get(path, { type: 'file', format: 'text', content: true })).content);
  } catch (error) {
    console.warn(`nlm-slides: ${path} could not be read`, error); // a folder that has not all of the course
    return '';
  }
}

/* Of a table's row the words, without the marks of Markdown. */
const plain = words => words.replace(/\[(.+?)\]\(.+?\)/g, '$1').replace(/[`*]/g, '');

/* The parts of the list of lectures, each with its lectures. */
async function partsOf(app) {
  const parts = [{ name: 'Lectures', lectures: [] }];
  for (const line of (await textOf(app, 'lectures/README.md')).split('\n')) {
    const [, name] = line.match(/^## (Part .+)$/) || [];
    if (name) parts.push({ name, lectures: [] });
    const [row, number, title, file, about] = line.match(/^\| (\d+) \| \[(.+?)\]\((.+?)\.py\): (.+) \|$/) || [];
    if (!row) continue;
    const paths = { path: `lectures/${file}.ipynb`, text: `lectures/${file}.py` };
    parts.at(-1).lectures.push({ number, title, ...paths, about: plain(about[0].toUpperCase() + about.slice(1)) });
  }
  return parts.filter(part => part.lectures.length);
}

async function assignmentsOf(app) {
  const rows = [...(await textOf(app, 'exercises/README.md')).matchAll(/^\| `(\w+)` \| (.+?) \| .+ \| (.+?) \|$/gm)];
  return rows.map(([, name, after, time]) => ({ name, after: plain(after), time, path: `work/${name}/${name}.ipynb` }));
}

/* Of a lecture's text: the address of the drawing with which it opens, and how many minutes it takes in class. */
async function openingOf(app, path) {
  const text = await textOf(app, path);
  const [, name] = text.match(/src="(figures\/\w+\.svg)"/) || [];
  const minutes = (text.match(/^# \| minutes \|(.*)$/m)?.[1].match(/\d+/g) || []).reduce((sum, one) => sum + Number(one), 0);
  return { minutes, drawing: name && (await app.serviceManager.contents.getDownloadUrl(`lectures/${name}`)) };
}

/* What the reader has last chosen on this page. */
let asked = '';

async function open(app, path, cell = 0) {
  asked = path;
  const panel = await app.commands.execute('docmanager:open', { path });
  if (!cell || !panel?.context) return;
  await panel.context.ready;
  await panel.revealed;
  panel.content.activeCellIndex = Math.min(cell, panel.content.widgets.length - 1);
  panel.content.scrollToItem(panel.content.activeCellIndex, 'start');
}

function link(app, path, cell, attributes, ...words) {
  const to = `${app.serviceManager.serverSettings.baseUrl}lab/tree/${encodeURI(path)}`;
  const onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(app, path, cell);
  };
  return make('a', { href: to, onclick, ...attributes }, ...words);
}

/* How much of a notebook has been read, in per cent. */
const share = place => (place ? Math.round((100 * place.furthest) / Math.max(place.of, 1)) : 0);

async function fill(app, host) {
  const [parts, assignments] = await Promise.all([partsOf(app), assignmentsOf(app)]);
  const lectures = parts.flatMap(part => part.lectures);
  const read = all();
  const known = [...lectures, ...assignments.map(one => ({ ...one, title: one.name }))].filter(one => read[one.path]);
  const last = known.sort((one, other) => read[other.path].when - read[one.path].when)[0];
  const begin = make('p', { class: 'nlm-start' });
  if (last) begin.append(link(app, last.path, read[last.path].at, { class: 'nlm-main' }, `Continue: ${last.title}, ${share(read[last.path])} % read`));
  if (lectures.length) begin.append(link(app, lectures[0].path, 0, { class: last ? '' : 'nlm-main' }, last ? `Lecture 1` : `Start with lecture 1: ${lectures[0].title}`));
  // A lecture's text is read when its card comes near the window: the server has a kernel to start meanwhile.
  const openings = new Map();
  const show = ({ isIntersecting, target }) => {
    if (!isIntersecting) return;
    near.unobserve(target);
    openings.get(target)();
  };
  const near = new IntersectionObserver(seen => seen.forEach(show), { root: host, rootMargin: '50%' });
  const card = one => {
    const picture = make('span', { class: 'nlm-drawing', 'aria-hidden': 'true' });
    const about = make('p', {}, one.about);
    openings.set(picture, () =>
      openingOf(app, one.text).then(({ minutes, drawing }) => {
        if (drawing) picture.append(make('img', { src: drawing, alt: '' }));
        if (minutes) about.append(`. ${minutes} minutes in class.`);
      })
    );
    const bar = make('progress', { max: 100, value: share(read[one.path]), 'aria-label': `${share(read[one.path])} % read` });
    const title = link(app, one.path, read[one.path]?.at || 0, {}, `${one.number}. ${one.title}`);
    return make('li', {}, picture, make('h3', {}, title), about, bar);
  };
  const rows = assignments.map(one =>
    make('tr', {}, make('th', { scope: 'row' }, link(app, one.path, read[one.path]?.at || 0, {}, one.name)), make('td', {}, one.after), make('td', {}, one.time))
  );
  const head = make('tr', {}, ...['assignment', 'lecture', 'time'].map(name => make('th', { scope: 'col' }, name)));
  host.replaceChildren(
    make('h1', {}, 'Neural language models'),
    make('p', { class: 'nlm-lead' }, 'From counting words to Transformers and today’s assistants: lectures that run, and assignments whose checks say which mistake you made.'),
    begin,
    make('p', {}, 'Shift-Enter runs a cell and goes on to the next; pictures and controls appear when their cell has run. A cell that says ', make('em', {}, 'code'), ' unfolds when you press it.'),
    ...parts.flatMap(part => [make('h2', {}, part.name), make('ol', { class: 'nlm-cards' }, ...part.lectures.map(card))]),
    ...(rows.length ? [make('h2', {}, 'Assignments'), make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows))] : [])
  );
  [...openings.keys()].forEach(picture => near.observe(picture));
}

/* Adds the command that opens the page; `Widget`: Lumino's. */
export function addWelcome(app, Widget, add, atOnce) {
  let shown = null, front;
  const show = () => {
    if (!shown || shown.isDisposed) {
      const node = make('div', { class: 'nlm-welcome', tabindex: 0 });
      shown = new Widget({ node });
      Object.assign(shown, { id: 'nlm-welcome' });
      Object.assign(shown.title, { label: 'Start', closable: true });
      app.shell.add(shown, 'main');
    }
    if (window.innerWidth < 700) app.shell.collapseLeft(); // on a phone the list of files would leave a strip
    fill(app, shown.node).then(() => (shown.node.scrollTop = 0));
    app.shell.activateById((front = shown.id));
  };
  add(COMMAND, { label: 'Start page: lectures, assignments, and where you were', execute: show });
  if (!atOnce) return;
  // The address names a lecture as well, which is opened a little later, behind this page or what the reader has chosen on it by then.
  const addressed = decodeURI(location.pathname).split('/tree/')[1];
  const stayInFront = (_, { newValue }) => {
    const path = newValue?.context?.path;
    if (!path) return;
    if (path !== addressed) return (front = newValue.id);
    app.shell.currentChanged.disconnect(stayInFront);
    if (asked !== addressed) app.shell.activateById(front);
  };
  app.restored.then(show).then(() => app.shell.currentChanged.connect(stayInFront));
}
