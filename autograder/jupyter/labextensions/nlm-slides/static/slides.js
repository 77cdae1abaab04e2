/* The presenter view: a notebook shown screen by screen in the very page where its kernel and its widgets live.

Cells carry the standard metadata `slideshow.slide_type`: "slide" and "subslide" begin a new screen, "fragment" adds to
it at the next key press, "skip" is not shown, "notes" goes to the lecturer's own window, anything else stays with the
cell before it. Code that is skipped runs by itself once the lecture has come past it, and code that is not projected
(cells.js says which) when its picture is due; all other code waits for Shift-Enter. How a screen fits: pages.js. */

import { codeIsHidden, headingAbove, isCode, isQuiet, readSteps, slideType, sourceOf, titleOf } from './cells.js';
import { buildHandout, dropHandout, printHandout } from './handout.js';
import { NotesWindow } from './notes.js';
import { Overview } from './overview.js';
import { Pages } from './pages.js';

export class Slides {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.notebook = panel.content;
    this.at = 0; // the newest step on the screen
    this.page = 0; // and which of its pages
    this.code = false; // code that only draws is shown, too
    this.ran = new Set(); // cells that this presentation has run by itself
    this.running = Promise.resolve();
    this.left = 0; // cells that this presentation has still to run
    this.steps = readSteps(this.notebook.widgets);
    this.pages = new Pages(this);
    this.overview = new Overview(this);
    this.notes = new NotesWindow(this);
    this.showsCode = cell => this.code || !codeIsHidden(cell);
  }

  start() {
    const { app, notebook } = this;
    if (!this.steps.length) return false;
    this.mode = app.shell.mode;
    this.config = notebook.notebookConfig;
    notebook.notebookConfig = { ...this.config, windowingMode: 'none' }; // cells stay where they are in the page
    app.shell.mode = 'single-document';
    if (app.shell.collapseLeft) app.shell.collapseLeft();
    if (app.shell.collapseRight) app.shell.collapseRight();
    this.hidden = [...this.around()].filter(widget => !widget.isHidden);
    this.hidden.forEach(widget => widget.hide());
    document.body.classList.add('nlm-presenting');
    this.title = this.label('nlm-title');
    this.place = this.label('nlm-place');
    this.place.setAttribute('role', 'status');
    this.listen();
    const active = notebook.activeCellIndex;
    const here = this.steps.findIndex(step => step.cells.some(index => index >= active));
    this.show(active > 0 && here > 0 ? here : 0);
    return true;
  }

  label(id) {
    const element = document.body.appendChild(document.createElement('div'));
    element.id = id;
    return element;
  }

  listen() {
    this.ends = new AbortController();
    const on = (where, what, does, capture = false) =>
      where.addEventListener(what, does, { capture, signal: this.ends.signal });
    on(window, 'keydown', event => this.key(event), true);
    on(window, 'resize', () => this.resized());
    on(window, 'beforeprint', () => buildHandout(this.panel));
    on(window, 'afterprint', dropHandout);
    on(this.scroller(), 'scroll', () => (this.scroller().scrollTop = 0)); // focus would scroll
    on(this.notebook.node, 'toggle', event => this.resized(event.target), true);
    this.sizes = new ResizeObserver(() => this.soon());
    this.notebook.widgets.forEach(cell => this.sizes.observe(cell.node));
    this.resized();
  }

  /* Menus, bars and the notebook's own toolbar. */
  *around() {
    const wanted = /^jp-(top|menu|bottom|header)-panel$|^jp-(left|right)-stack$|^jp-down-stack$/;
    const walk = function* (widget, depth) {
      for (const child of widget.layout || []) {
        if (wanted.test(child.id) || child.hasClass('jp-SideBar')) yield child;
        else if (depth) yield* walk(child, depth - 1);
      }
    };
    yield* walk(this.app.shell, 4);
    yield this.panel.toolbar;
  }

  stop() {
    const step = this.steps[this.at];
    this.ends.abort();
    this.sizes.disconnect();
    clearTimeout(this.later);
    this.overview.close();
    this.pages.clear();
    document.body.classList.remove('nlm-presenting', 'nlm-with-code');
    this.notebook.widgets.forEach(cell => cell.removeClass('nlm-shown'));
    this.hidden.forEach(widget => widget.show());
    this.app.shell.mode = this.mode;
    this.notebook.notebookConfig = this.config;
    this.title.remove();
    this.place.remove();
    this.notes.close();
    this.notebook.activeCellIndex = step.cells[0];
    this.notebook.scrollToItem(step.cells[0]);
    Slides.now = null;
  }

  /* The steps on the screen, up to the present one. */
  shownSteps() {
    const { screen } = this.steps[this.at];
    return this.steps.slice(0, this.at + 1).filter(step => step.screen === screen);
  }

  shownCells() {
    return this.shownSteps().flatMap(step => step.cells);
  }

  /* Show a step. One that has nothing to see is passed by in the direction `by`, after its code was run, and one that would
     stand alone with a line or two is shown together with the next. */
  show(at, { page = 0, by = 1 } = {}) {
    const wanted = Math.max(0, Math.min(at, this.steps.length - 1));
    this.at = this.firstSeen(wanted, by) ?? this.firstSeen(wanted, -by) ?? wanted;
    this.list = this.pages.cut(this.shownSteps());
    if (this.goesOn() && this.pages.isLean(this.list)) {
      return by < 0 && this.at ? this.show(this.at - 1, { page, by }) : this.show(this.at + 1, { page: 0 });
    }
    const back = (this.at - wanted) * by < 0; // nothing more in that direction
    return this.turn(page < 0 || (back && by > 0) ? this.list.length - 1 : page);
  }

  /* From a step on, in a direction, the first that has something to see; undefined if there is none. */
  firstSeen(at, by) {
    for (let i = at; i >= 0 && i < this.steps.length; i += by) {
      this.prepare(this.steps[i]);
      if (!this.isEmpty(this.steps[i])) return i;
    }
    return undefined;
  }

  /* Does this screen have more to see, after the present step? */
  goesOn() {
    const { screen } = this.steps[this.at];
    return this.steps.slice(this.at + 1).some(step => step.screen === screen && !this.isEmpty(step));
  }

  isEmpty(step) {
    const { widgets } = this.notebook;
    return step.cells.every(index => {
      const cell = widgets[index];
      if (!isCode(cell) || this.showsCode(cell)) return false;
      if (slideType(cell) === 'skip') return true;
      return !cell.outputArea.model.length && (cell.model.executionCount !== null || isQuiet(sourceOf(cell)));
    });
  }

  /* Show one page of the present step. */
  turn(page) {
    const { notebook, steps } = this;
    this.page = Math.max(0, Math.min(page, this.list.length - 1));
    const step = steps[this.at];
    const leaves = this.list[this.page] || [];
    this.pages.show(leaves);
    // The code that Shift-Enter runs: the newest on the screen.
    const code = this.shownCells().filter(index => isCode(notebook.widgets[index]) && slideType(notebook.widgets[index]) !== 'skip');
    notebook.activeCellIndex = code.pop() ?? step.cells[0];
    notebook.mode = 'command';
    this.scroller().scrollTop = 0;
    const first = leaves.length ? leaves[0].node : notebook.widgets[step.cells[0]].node;
    const heading = headingAbove(notebook, first);
    this.title.replaceChildren(...(heading && heading !== first ? [titleOf(heading)] : []));
    this.place.textContent = `${step.screen + 1} / ${steps[steps.length - 1].screen + 1}`;
    this.place.dataset.whole = !this.goesOn() && this.page >= this.list.length - 1;
    this.place.dataset.part = `${this.at}.${this.page}`;
    if (!this.overview.node) notebook.node.focus({ preventScroll: true });
    this.notes.tell();
    this.sizesShown = this.pages.sizes();
  }

  /* Cut the screen anew: it has changed. The page that shows `node`, or the same page, stays. */
  resized(node = null) {
    document.body.style.setProperty('--nlm-scale', this.pages.scale.toFixed(4));
    if (!this.list) return;
    const anchor = node || (this.list[this.page] || [])[0]?.node;
    const focused = document.activeElement;
    this.list = this.pages.cut(this.shownSteps());
    const found = this.list.findIndex(leaves => leaves.some(leaf => leaf.node.contains(anchor) || anchor?.contains(leaf.node)));
    this.turn(node && found >= 0 ? found : this.page);
    if (focused !== document.body && focused.isConnected && this.notebook.node.contains(focused)) focused.focus({ preventScroll: true });
  }

  /* After a change of size that is not this view's own: at once if the screen runs over, else when it has come to rest. */
  soon() {
    if (this.pages.sizes() === this.sizesShown) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.resized(), this.pages.overflows() ? 0 : 150);
  }

  scroller() {
    return this.notebook.outerNode || this.notebook.node.querySelector('.jp-WindowedPanel-outer') || this.notebook.node;
  }

  /* Run, in order, skipped code that stands before a step, and the step's own code if it is not projected, with all code above
     that it may need. */
  prepare(step) {
    const first = step.cells[0];
    const cells = [...this.notebook.widgets];
    const draws = step.cells.filter(i => isCode(cells[i]) && slideType(cells[i]) !== 'skip' && codeIsHidden(cells[i]));
    const until = draws.some(i => cells[i].model.executionCount === null) ? Math.max(...draws) : -1;
    for (const [index, cell] of cells.entries()) {
      if (!isCode(cell) || this.ran.has(cell.model.id)) continue;
      if (index > until && !(index < first && slideType(cell) === 'skip')) continue;
      this.ran.add(cell.model.id);
      if (cell.model.executionCount !== null) continue;
      this.runs(1);
      this.running = this.running.then(() => this.run(index, false)).finally(() => this.runs(-1));
    }
  }

  /* Published: a screen is complete when no cell is left to run. */
  runs(more) {
    this.left += more;
    this.place.dataset.running = this.left;
  }

  /* Run one cell. The page that shows its output is turned to if a person has asked. */
  async run(index, asked = true) {
    const { notebook } = this;
    await this.panel.sessionContext.ready;
    const active = notebook.activeCellIndex;
    const cell = notebook.widgets[index];
    cell.addClass('nlm-running');
    notebook.activeCellIndex = index;
    const done = this.app.commands.execute('notebook:run-cell');
    notebook.activeCellIndex = active;
    await done;
    cell.removeClass('nlm-running');
    await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    if (!Slides.now || !this.shownCells().includes(index)) return;
    if (this.isEmpty(this.steps[this.at])) this.show(this.at); // it has shown nothing
    else this.resized(asked ? cell.node.querySelector('.jp-OutputArea-child') : null);
  }

  next() {
    if (this.page < this.list.length - 1) this.turn(this.page + 1);
    else if (this.at < this.steps.length - 1) this.show(this.at + 1);
  }

  previous() {
    if (this.page) this.turn(this.page - 1);
    else if (this.at) this.show(this.at - 1, { page: -1, by: -1 });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.overview.node) return this.overview.key(event);
    const target = event.target;
    const typing = target.closest('input, textarea, select, .cm-editor, [contenteditable=true]');
    const control = target.closest('button, summary, a, [role=slider], .jupyter-widgets');
    const does = {
      PageDown: () => this.next(),
      PageUp: () => this.previous(),
      Escape: () => (typing ? this.notebook.node.focus() : this.stop()),
    };
    if (event.shiftKey && event.key === 'Enter') does.Enter = () => this.run(this.notebook.activeCellIndex);
    if (!typing && !control) {
      does.ArrowRight = does.ArrowDown = does.PageDown;
      does.ArrowLeft = does.ArrowUp = does.PageUp;
      does.a = () => this.app.commands.execute('notebook:run-all-above');
      does.c = () => this.toggleCode();
      does.d = () => this.answers();
      does.n = () => this.notes.open();
      does.o = () => this.overview.open();
      does.p = () => printHandout(this.panel);
    }
    if (!does[event.key]) {
      // Single letters mean other things in a notebook: none of them may delete a cell before an audience.
      if (!typing && !control && event.key.length === 1 && event.key !== ' ') event.stopImmediatePropagation();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    does[event.key]();
  }

  toggleCode() {
    this.code = !this.code;
    document.body.classList.toggle('nlm-with-code', this.code);
    this.resized();
  }

  answers() {
    const all = [...this.notebook.node.querySelectorAll('.nlm-shown details')].filter(answer => answer.getClientRects().length);
    const open = all.some(answer => !answer.open);
    all.forEach(answer => (answer.open = open));
    if (all.length) this.resized(all[0]);
  }
}

Slides.now = null;
