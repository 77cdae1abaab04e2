/* The commands of the course in JupyterLab's palette: present, print the handout, show the lecturer's notes, the start page. */

import { fitEquations } from './equations.js';
import { keepReadable } from './narrow.js';
import { Slides } from './slides.js';
import { printHandout } from './handout.js';
import { slideType } from './cells.js';
import { addWelcome, rememberPlace } from './welcome.js';

const NOTES = 'nlm-notes-shown';

function currentNotebook(app) {
  const panel = app.shell.currentWidget;
  return panel && panel.content && panel.content.widgets && panel.sessionContext ? panel : null;
}

async function present(app) {
  if (Slides.now) return Slides.now.stop();
  const panel = currentNotebook(app);
  if (!panel) return;
  await Promise.all([panel.revealed, panel.context.ready]);
  if (Slides.now) return;
  const slides = new Slides(app, panel);
  if (slides.start()) Slides.now = slides;
}

async function whenReady(app) {
  await app.restored;
  for (let tries = 0; tries < 300; tries++) {
    const panel = app.shell.currentWidget;
    if (panel && panel.context && panel.sessionContext) {
      await panel.revealed;
      await panel.context.ready;
      await panel.sessionContext.ready;
      return present(app);
    }
    await new Promise(done => setTimeout(done, 100));
  }
}

/* Notes are for the lecturer: a notebook hides them, and the selection passes them by, until the toggle shows them. */
function hideNotes(panel) {
  const notebook = panel && panel.content;
  if (!notebook || !notebook.widgets || !notebook.model || notebook.nlmNotes) return;
  notebook.nlmNotes = true;
  const mark = () =>
    notebook.widgets.forEach(cell => cell.toggleClass('nlm-note', slideType(cell) === 'notes'));
  notebook.model.cells.changed.connect(() => requestAnimationFrame(mark));
  mark();
  let before = notebook.activeCellIndex;
  notebook.activeCellChanged.connect(() => {
    const now = notebook.activeCellIndex;
    const forward = now >= before;
    before = now;
    const cell = notebook.widgets[now];
    if (!cell || slideType(cell) !== 'notes' || document.body.classList.contains(NOTES)) return;
    const next = now + (forward ? 1 : -1);
    if (next >= 0 && next < notebook.widgets.length) queueMicrotask(() => (notebook.activeCellIndex = next));
  });
}

/* A kernel writes its version into the notebook as soon as it runs. That is no change that anybody has made. */
const whole = new WeakSet();
function staySaved({ context }) {
  const { model } = context;
  if (whole.has(model)) return;
  whole.add(model);
  model.metadataChanged.connect((_, { key }) => {
    if (model.dirty || !['language_info', 'kernelspec'].includes(key)) return;
    queueMicrotask(() => (model.dirty = false));
  });
}

/* A link leads to an exercise as it is released, which is what a reader on the web sees. Here students have a copy to work in. */
function openOwnCopies({ commands }) {
  const execute = commands.execute.bind(commands);
  const own = args => ({ ...args, path: args.path.replace(/^exercises\/(?=[^/]+\/)/, 'work/') });
  commands.execute = (id, args) => execute(id, id === 'rendermime:handle-local-link' && args.path ? own(args) : args);
}

function watchNotebooks(app) {
  const look = () => {
    const panel = currentNotebook(app);
    if (!panel) return;
    staySaved(panel);
    Promise.all([panel.revealed, panel.context.ready]).then(() => {
      hideNotes(panel);
      rememberPlace(panel);
    });
  };
  if (app.shell.currentChanged) app.shell.currentChanged.connect(look);
  app.restored.then(look);
}

export function plugin(palette, Widget, first) {
  return {
    id: 'nlm-slides:plugin',
    autoStart: true,
    optional: palette ? [palette] : [],
    activate: (app, commandPalette) => {
      const look = document.head.appendChild(document.createElement('link'));
      look.rel = 'stylesheet';
      look.href = new URL('look.css', import.meta.url).href;
      const add = (command, options, keys) => {
        app.commands.addCommand(command, options);
        if (keys) app.commands.addKeyBinding({ command, keys, selector: 'body' });
        if (commandPalette) commandPalette.addItem({ command, category: 'Course' });
      };
      add(
        'nlm-slides:present',
        { label: 'Present this lecture, slide by slide', execute: () => present(app) },
        ['Accel Alt P']
      );
      add('nlm-slides:handout', {
        label: 'Print this lecture as a handout',
        execute: () => currentNotebook(app) && printHandout(currentNotebook(app)),
      });
      document.body.classList.toggle(NOTES, localStorage.getItem(NOTES) === 'yes');
      add('nlm-slides:notes', {
        label: 'Show the lecturer’s notes in notebooks',
        isToggled: () => document.body.classList.contains(NOTES),
        execute: () => localStorage.setItem(NOTES, document.body.classList.toggle(NOTES) ? 'yes' : 'no'),
      });
      openOwnCopies(app);
      watchNotebooks(app);
      fitEquations();
      keepReadable();
      if (Widget) addWelcome(app, Widget, add, first === 'welcome');
      if (first === 'present') whenReady(app);
    },
  };
}
