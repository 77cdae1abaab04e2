/* A notebook shown screen by screen, in JupyterLab (slides.js) and on the site (autograder/pages/present.js). One file serves both.

Cells carry the standard metadata `slideshow.slide_type`: "slide" and "subslide" begin a new screen, "fragment" adds to
it at the next key press, "skip" is not shown, "notes" goes to the lecturer's own window, anything else stays with the
cell before it. How a screen fits: pages.js.

Of a notebook a deck needs `node` and `widgets`, its cells; of a cell `node`, `toggleClass`, `outputArea.model.length` and, in `model`,
`type`, `getMetadata`, `sharedModel.getSource()` and `executionCount`. */

import { codeIsHidden, headingAbove, isCode, isQuiet, isText, readSteps, slideType, sourceOf, titleOf } from './cells.js';
import { NotesWindow } from './notes.js';
import { Overview } from './overview.js';
import { Pages } from './pages.js';

export class Deck {
  constructor(notebook) {
    this.notebook = notebook;
    this.at = 0; // the newest step on the screen
    this.page = 0; // and which of its pages
    this.code = false; // code that only draws is shown, too
    this.steps = readSteps(notebook.widgets);
    this.pages = new Pages(this);
    this.overview = new Overview(this);
    this.notes = new NotesWindow(this);
    this.showsCode = cell => this.code || !codeIsHidden(cell);
  }

  /* What the view itself says; a page in another language translates it. */
  say(english, ...values) {
    return english.replace(/\{(\d)\}/g, (_, place) => values[place]);
  }

  help() {
    return [
      ['Page Down', this.say('answer the question on the screen, else go on: the next part, the next page, the next screen')],
      ['→', this.say('go on without the answer')],
      ['Page Up, ←', this.say('go back')],
      ['c', this.say('show or hide the code of pictures and the setup')],
      ['d', this.say('answer the question on the screen; open or close what is folded')],
      ['o', this.say('an overview of all screens')],
      ['n', this.say('a second window with notes, the next title and the time')],
    ];
  }

  /* Pixels above and below the screen's content: its title, its number. */
  get margins() {
    return [56 * this.pages.scale, 44 * this.pages.scale];
  }

  begin() {
    document.body.classList.add('nlm-presenting');
    this.title = this.label('nlm-title');
    this.place = this.label('nlm-place');
    this.ends = new AbortController();
    this.on(window, 'keydown', event => this.key(event), true);
    this.on(window, 'resize', () => this.resized());
    this.on(this.notebook.node, 'toggle', () => this.resized(), true);
    for (const touched of ['click', 'focusin']) this.on(this.notebook.node, touched, ({ target }) => this.touched(target), true);
    this.sizes = new ResizeObserver(() => this.soon());
    this.notebook.widgets.forEach(cell => this.sizes.observe(cell.node));
    this.resized();
  }

  on(where, what, does, capture = false) {
    where.addEventListener(what, does, { capture, signal: this.ends.signal });
  }

  label(id) {
    const element = document.body.appendChild(document.createElement('div'));
    element.id = id;
    return element;
  }

  end() {
    this.ends.abort();
    this.sizes.disconnect();
    clearTimeout(this.later);
    this.overview.close();
    this.pages.clear();
    document.body.classList.remove('nlm-presenting', 'nlm-with-code');
    this.notebook.widgets.forEach(cell => cell.toggleClass('nlm-shown', false));
    this.title.remove();
    this.place.remove();
    this.notes.close();
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
    this.held = null;
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
  turn(page, keepsFocus = false) {
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
    if (!this.overview.node && !keepsFocus) notebook.node.focus({ preventScroll: true });
    this.notes.tell();
    this.sizesShown = this.pages.sizes();
  }

  /* What somebody uses stays in view, however often the screen changes, until somebody goes on: of a question, its answer. */
  touched(node) {
    const question = node.closest('.nlm-predict');
    if (question) this.held = node.closest('.nlm-answers, .answers') ? question : node;
    else this.held = node.closest('details') ?? this.held;
  }

  /* Cut the screen anew: it has changed. The page that shows what is held stays, or else the page of this number. */
  resized() {
    document.body.style.setProperty('--nlm-scale', this.pages.scale.toFixed(4));
    if (!this.list) return;
    const { activeElement: focused } = document;
    this.list = this.pages.cut(this.shownSteps());
    const kept = this.held && [this.toldIn(this.held), this.held.contains(focused) && focused, this.held].filter(Boolean);
    this.turn((kept && this.pageOf(kept)) ?? this.page, focused !== this.notebook.node && this.notebook.node.contains(focused));
  }

  /* The page that shows the first of these nodes that is on any; if none is, go back to the step that has them. */
  pageOf(nodes) {
    const found = nodes.map(node => this.list.findIndex(page => page.some(leaf => leaf.node.contains(node) || node.contains(leaf.node))));
    const page = found.find(at => at >= 0);
    if (page !== undefined) return page;
    const holds = step => step.cells.some(index => this.notebook.widgets[index].node.contains(nodes[0]));
    const before = this.shownSteps().slice(0, -1).findLast(holds);
    if (!before) return undefined;
    this.at = this.steps.indexOf(before);
    this.list = this.pages.cut(this.shownSteps());
    return this.pageOf(nodes);
  }

  /* The answer that a question has been given, as a node. */
  toldIn(question) {
    return question.querySelector('.nlm-told');
  }

  /* After a change of size that is not this view's own: at once if the screen runs over, else when it has come to rest. */
  soon() {
    if (this.pages.sizes() === this.sizesShown) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.resized(), this.pages.overflows() ? 0 : 150);
  }

  /* What has to happen before a step can be shown. */
  prepare() {}

  scroller() {
    return this.notebook.node;
  }

  /* Page Down, which is all that a clicker has: the answer to a question on the screen, what is folded, or what comes next. */
  goOn() {
    if (!this.answer() && !this.unfold(this.seen('details:not([open])').filter(isText))) this.next();
  }

  /* Open or close these; false if there are none. */
  unfold(all) {
    const open = all.some(answer => !answer.open);
    all.forEach(answer => (answer.open = open));
    if (!all.length) return false;
    [this.held] = all;
    this.resized();
    return true;
  }

  next() {
    this.held = null;
    if (this.page < this.list.length - 1) this.turn(this.page + 1);
    else if (this.at < this.steps.length - 1) this.show(this.at + 1);
  }

  previous() {
    this.held = null;
    if (this.page) this.turn(this.page - 1);
    else if (this.at) this.show(this.at - 1, { page: -1, by: -1 });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.list) return this.early(event);
    if (this.overview.node) return this.overview.key(event);
    const target = event.target;
    const typing = target.closest('input, textarea, select, .cm-editor, [contenteditable=true]');
    const control = target.closest('button, summary, a, [role=slider], .jupyter-widgets');
    const does = this.keys(event, typing);
    if (typing || control) for (const name of Object.keys(does)) if (!/^(Page|Esc|Enter)/.test(name)) delete does[name];
    if (!does[event.key]) {
      // Single letters mean other things in a notebook: none of them may delete a cell before an audience.
      if (!typing && !control && event.key.length === 1 && event.key !== ' ') event.stopImmediatePropagation();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    does[event.key]();
  }

  /* A key before there is a screen. */
  early(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === 'Escape') this.stop();
  }

  /* What each key does; while a field or a button has the focus, only those that mean nothing there. */
  keys(event, typing) {
    const [next, previous] = [() => this.next(), () => this.previous()];
    return {
      PageDown: () => this.goOn(),
      ArrowRight: next,
      ArrowDown: next,
      PageUp: previous,
      ArrowLeft: previous,
      ArrowUp: previous,
      Escape: () => (typing ? this.notebook.node.focus() : this.stop()),
      c: () => this.toggleCode(),
      d: () => this.answers(),
      n: () => this.notes.open(),
      o: () => this.overview.open(),
    };
  }

  toggleCode() {
    this.code = !this.code;
    this.held = null;
    document.body.classList.toggle('nlm-with-code', this.code);
    this.resized();
  }

  /* What is seen now of the screen. */
  seen(which) {
    return [...this.notebook.node.querySelectorAll(`.nlm-shown ${which}`)].filter(node => node.getClientRects().length);
  }

  /* Answer the first question on the screen that has no answer yet; false if there is none. */
  answer() {
    const [button] = this.seen('.nlm-predict button').filter(node => this.showsAnswer(node));
    if (button) button.click();
    return Boolean(button);
  }

  showsAnswer(button) {
    return button.matches('.nlm-show-me');
  }

  /* Answer a question, or open or close what is folded. */
  answers() {
    if (!this.answer()) this.unfold(this.seen('details'));
  }
}
