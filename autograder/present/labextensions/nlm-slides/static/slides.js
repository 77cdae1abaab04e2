/* The presenter view: a notebook shown screen by screen in the very page where its kernel and its widgets live.

deck.js says which cells make a screen. Code that is skipped runs by itself once the lecture has come past it, and code that is
not projected (cells.js says which) when its picture is due; all other code waits for Shift-Enter. */

import { codeIsHidden, isCode, slideType, sourceOf, textsOf } from './cells.js';
import { Deck } from './deck.js';
import { buildHandout, dropHandout, printHandout } from './handout.js';

export class Slides extends Deck {
  constructor(app, panel) {
    super(panel.content);
    this.app = app;
    this.panel = panel;
    this.ran = new Set(); // cells that this presentation has run by itself
    this.running = Promise.resolve();
    this.due = new Set(); // places of cells that this presentation has still to run
  }

  start() {
    const { app, notebook } = this;
    if (!this.steps.length) return false;
    this.mode = app.shell.mode;
    this.sides = { left: app.shell.leftCollapsed, right: app.shell.rightCollapsed };
    this.config = notebook.notebookConfig;
    notebook.notebookConfig = { ...this.config, windowingMode: 'none' }; // cells stay where they are in the page
    app.shell.mode = 'single-document';
    if (app.shell.collapseLeft) app.shell.collapseLeft();
    if (app.shell.collapseRight) app.shell.collapseRight();
    this.hidden = [...this.around()].filter(widget => !widget.isHidden);
    this.hidden.forEach(widget => widget.hide());
    this.begin();
    this.place.setAttribute('role', 'status');
    this.on(window, 'beforeprint', () => buildHandout(this.panel));
    this.on(window, 'afterprint', dropHandout);
    this.on(this.scroller(), 'scroll', () => (this.scroller().scrollTop = 0)); // focus would scroll
    const active = notebook.activeCellIndex;
    const here = this.steps.findIndex(step => step.cells.some(index => index >= active));
    this.rendered().then(() => {
      if (Slides.now !== this) return;
      this.show(active > 0 && here > 0 ? here : 0);
      this.forget();
    });
    return true;
  }

  /* JupyterLab sets a notebook's text cell by cell. Before all of it is there, no step's height means anything. Some cells
     show nothing, or are being edited: what stays the same for half a second is all there will be. */
  async rendered() {
    const missing = () =>
      this.notebook.widgets.filter(cell => cell.model.type === 'markdown' && !textsOf(cell).some(text => text.children.length)).length;
    let [left, since] = [missing(), performance.now()];
    while (left && performance.now() - since < 500) {
      await new Promise(done => setTimeout(done, 10));
      const now = missing();
      if (now !== left) [left, since] = [now, performance.now()];
    }
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
    this.end();
    this.hidden.forEach(widget => widget.show());
    this.app.shell.mode = this.mode;
    if (this.sides.left === false) this.app.shell.expandLeft();
    if (this.sides.right === false) this.app.shell.expandRight();
    this.notebook.notebookConfig = this.config;
    this.notebook.activeCellIndex = step.cells[0];
    this.notebook.scrollToItem(step.cells[0]);
    Slides.now = null;
  }

  help() {
    const own = [
      ['Shift-Enter', 'run the code on the screen'],
      ['a', 'run everything above, after a jump'],
      ['p', 'print a handout, or save it as PDF'],
    ];
    return [...super.help(), ...own, ['Escape', 'back to the notebook']];
  }

  keys(event, typing) {
    return {
      ...super.keys(event, typing),
      ...(event.shiftKey && { Enter: () => this.run(this.notebook.activeCellIndex) }),
      a: () => this.app.commands.execute('notebook:run-all-above'),
      p: () => printHandout(this.panel),
    };
  }

  scroller() {
    return this.notebook.outerNode || this.notebook.node.querySelector('.jp-WindowedPanel-outer') || this.notebook.node;
  }

  /* A notebook keeps the outputs of the kernel that it was saved with. Cells that this kernel has not run are made what they are in
     a new notebook: the view then runs, or waits for, each of them at its place, and widgets live. */
  async forget() {
    await this.panel.sessionContext.ready;
    const { kernel } = this.panel.sessionContext.session || {};
    const cells = this.notebook.widgets.filter(cell => isCode(cell) && cell.model.executionCount !== null);
    if (!kernel || !cells.length) return;
    const kept = new Map(cells.map(cell => [cell, cell.model.executionCount]));
    const wanted = { hist_access_type: 'range', session: 0, start: 0, raw: true, output: false };
    const { content } = await kernel.requestHistory(wanted);
    if (content.status !== 'ok' || Slides.now !== this) return;
    const ran = new Map(content.history.map(([, count, source]) => [count, source.trim()]));
    const isStale = cell => cell.model.executionCount === kept.get(cell) && ran.get(kept.get(cell)) !== sourceOf(cell).trim();
    const stale = cells.filter(isStale);
    for (const { model } of stale) {
      model.clearExecution();
      this.ran.delete(model.id);
    }
    if (!stale.length) return;
    this.shownSteps().forEach(step => this.prepare(step));
    this.show(this.at, { page: this.page });
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
      this.due.add(index);
      this.tellDue();
      this.running = this.running
        .then(() => this.run(index, false))
        .catch(console.error) // the next ones run all the same
        .finally(() => {
          this.due.delete(index);
          this.tellDue();
        });
    }
  }

  /* Published: a screen is complete when no cell is left to run. */
  tellDue() {
    this.place.dataset.running = this.due.size;
  }

  /* A clicker does not pass by a question or a picture that is still on its way, unless it is pressed twice; → does. For code
     that is skipped it does not wait: nothing of it will be seen. A question's box is there before its buttons. */
  goOn() {
    const { part } = this.place.dataset;
    const comes = index => this.due.has(index) && slideType(this.notebook.widgets[index]) !== 'skip';
    const asks = this.seen('.nlm-predict').some(question => !question.querySelector('.nlm-show-me, details'));
    const waits = (asks || this.shownCells().some(comes)) && this.waitedAt !== part;
    this.waitedAt = part;
    if (!waits) super.goOn();
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
    await done.finally(() => cell.removeClass('nlm-running'));
    await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    if (!Slides.now || !this.shownCells().includes(index)) return;
    if (this.isEmpty(this.steps[this.at])) return this.show(this.at); // it has shown nothing
    const outputs = [...cell.node.querySelectorAll('.jp-OutputArea-child')];
    const error = outputs.find((_, i) => cell.outputArea.model.get(i)?.type === 'error');
    if (error || asked) this.held = error ?? outputs[0] ?? this.held;
    this.resized();
  }
}

Slides.now = null;
