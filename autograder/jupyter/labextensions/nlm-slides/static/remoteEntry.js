/* The presenter view: a notebook shown slide by slide in the very page where its kernel and its widgets live.

Cells carry the standard metadata `slideshow.slide_type`: "slide" and "subslide" begin a new screen, "fragment" adds to
it at the next key press, "skip" is not shown, "notes" goes to the lecturer's own window, anything else stays with the
cell before it. Code that is skipped runs by itself once the lecture has come past it, and code whose source is hidden
(it only draws) when it is shown; all other code waits for Shift-Enter.

It is our own, as it runs what was skipped and has the notes in a second window, with no package to install and no
build: JupyterLab loads this file as it is. It is a module-federation container (`init`, `get`) with one
plugin, and needs of JupyterLab only `app.commands`, `app.shell` and the public faces of a notebook panel. */

(function () {
  'use strict';

  const KEYS = [
    ['Page Down, →', 'go on: the rest of a long screen, the next part, the next screen'],
    ['Page Up, ←', 'go back'],
    ['Shift-Enter', 'run the code on the screen'],
    ['a', 'run everything above, after a jump'],
    ['d', 'open or close the answers on the screen'],
    ['n', 'a second window with notes, the next title and the time'],
    ['Escape', 'back to the notebook'],
  ];
  const wantsToStart = new URLSearchParams(window.location.search).has('present');

  const STYLE = `
    body.nlm-presenting { --jp-content-font-size1: clamp(20px, 1.36vw, 40px); --jp-code-font-size: clamp(17px, 1.15vw, 34px);
      --jp-code-line-height: 1.35; --jp-content-line-height: 1.5; --jp-cell-prompt-width: 5.5em; }
    body.nlm-presenting .jp-MarkdownCell { border-color: transparent !important; }
    body.nlm-presenting .jp-Notebook .jp-Cell:not(.nlm-shown) { display: none !important; }
    body.nlm-presenting .jp-Notebook .jp-Cell { max-width: 92vw; margin: 0 auto; }
    body.nlm-presenting .jp-Notebook { padding: 0; }
    body.nlm-presenting .jp-Collapser, body.nlm-presenting .jp-OutputPrompt, body.nlm-presenting .jp-InputPlaceholder,
    body.nlm-presenting .jp-cell-menu, body.nlm-presenting .jp-cell-toolbar, body.nlm-presenting .jp-Notebook-footer,
    body.nlm-presenting .jp-MarkdownCell .jp-InputPrompt { display: none !important; }
    body.nlm-presenting .jp-OutputArea-output:not(.jp-RenderedText), body.nlm-presenting .jp-RenderedMarkdown img
      { zoom: var(--nlm-zoom, 1); }
    body.nlm-presenting .jp-OutputArea-output.jp-RenderedText pre { font-size: var(--jp-code-font-size); }
    body.nlm-presenting .jp-RenderedMarkdown table { font-size: calc(0.9 * var(--jp-content-font-size1)); }
    #nlm-place { position: fixed; right: 18px; bottom: 10px; z-index: 10000; color: #595959; font: 16px sans-serif;
      background: #fff; padding: 2px 8px; border-radius: 6px; }`;

  class Slides {
    constructor(app, panel) {
      this.app = app;
      this.panel = panel;
      this.notebook = panel.content;
      this.at = 0;
      this.since = Date.now();
      this.ran = new Set(); // skipped code that this presentation has run
      this.steps = this.read();
    }

    /* Every key press shows one more step: {screen, first, last} are indices of cells. */
    read() {
      const steps = [];
      let screen = -1;
      this.notebook.widgets.forEach((cell, index) => {
        const type = (cell.model.getMetadata('slideshow') || {}).slide_type;
        if (type === 'skip') return;
        if (type === 'notes') {
          if (steps.length) steps[steps.length - 1].notes.push(index);
          return;
        }
        const begins = type === 'slide' || type === 'subslide' || !steps.length;
        if (begins) screen += 1;
        if (begins || type === 'fragment') steps.push({ screen, cells: [], notes: [] });
        steps[steps.length - 1].cells.push(index);
      });
      return steps;
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
      this.place = document.body.appendChild(document.createElement('div'));
      this.place.id = 'nlm-place';
      this.place.setAttribute('role', 'status');
      this.onKey = event => this.key(event);
      this.onSize = () =>
        document.body.style.setProperty('--nlm-zoom', Math.min(2.5, Math.max(1, window.innerWidth / 1280)).toFixed(2));
      window.addEventListener('keydown', this.onKey, true);
      window.addEventListener('resize', this.onSize);
      this.onSize();
      const active = notebook.activeCellIndex;
      const here = this.steps.findIndex(step => step.cells.some(index => index >= active));
      this.show(active > 0 && here > 0 ? here : 0);
      return true;
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
      window.removeEventListener('keydown', this.onKey, true);
      window.removeEventListener('resize', this.onSize);
      document.body.classList.remove('nlm-presenting');
      this.notebook.widgets.forEach(cell => cell.removeClass('nlm-shown'));
      this.hidden.forEach(widget => widget.show());
      this.app.shell.mode = this.mode;
      this.notebook.notebookConfig = this.config;
      this.place.remove();
      if (this.window && !this.window.closed) this.window.close();
      clearInterval(this.clock);
      this.notebook.activeCellIndex = step.cells[0];
      this.notebook.scrollToItem(step.cells[0]);
      Slides.now = null;
    }

    show(at) {
      const { notebook, steps } = this;
      const back = at < this.at;
      this.at = Math.max(0, Math.min(at, steps.length - 1));
      const step = steps[this.at];
      const shown = new Set(steps.filter((s, i) => s.screen === step.screen && i <= this.at).flatMap(s => s.cells));
      notebook.widgets.forEach((cell, index) => cell.toggleClass('nlm-shown', shown.has(index)));
      // The code that Shift-Enter runs: the newest on the screen.
      const code = [...shown].filter(index => notebook.widgets[index].model.type === 'code').pop();
      notebook.activeCellIndex = code ?? step.cells[0];
      notebook.mode = 'command';
      const first = steps.findIndex(s => s.screen === step.screen) === this.at;
      const page = this.scroller();
      if (first) page.scrollTop = 0;
      // Forward: the beginning of what is new; back: the end of what was left.
      notebook.widgets[step.cells[back ? step.cells.length - 1 : 0]].node.scrollIntoView({ block: 'nearest' });
      this.place.textContent = `${step.screen + 1} / ${steps[steps.length - 1].screen + 1}`;
      notebook.node.focus({ preventScroll: true });
      this.place.dataset.whole = this.at + 1 === steps.length || steps[this.at + 1].screen !== step.screen;
      this.prepare(step);
      this.tell();
    }

    scroller() {
      return this.notebook.outerNode || this.notebook.node.querySelector('.jp-WindowedPanel-outer') || this.notebook.node;
    }

    /* Run skipped code that stands before a step, in order, and the step's own code if its source is hidden. */
    async prepare(step) {
      const first = step.cells[0];
      for (const [index, cell] of this.notebook.widgets.entries()) {
        const skipped = (cell.model.getMetadata('slideshow') || {}).slide_type === 'skip';
        const drawing = (cell.model.getMetadata('jupyter') || {}).source_hidden;
        const due = index < first ? skipped : step.cells.includes(index) && drawing;
        if (cell.model.type !== 'code' || !due || this.ran.has(cell.model.id)) continue;
        this.ran.add(cell.model.id);
        if (cell.model.executionCount === null) await this.run(index);
      }
    }

    /* Run one cell; the page stays where it is, or goes down until the output is seen. */
    async run(index) {
      const { notebook } = this;
      const page = this.scroller();
      const active = notebook.activeCellIndex;
      const from = page.scrollTop;
      await this.panel.sessionContext.ready;
      notebook.activeCellIndex = index;
      const done = this.app.commands.execute('notebook:run-cell');
      notebook.activeCellIndex = active;
      await new Promise(drawn => requestAnimationFrame(drawn));
      page.scrollTop = from;
      await done;
      await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      page.scrollTop = from;
      if (index !== active || !document.body.classList.contains('nlm-presenting')) return;
      const cell = notebook.widgets[index].node.getBoundingClientRect();
      const view = page.getBoundingClientRect();
      if (cell.bottom > view.bottom) page.scrollTop += cell.bottom - view.bottom + 24;
    }

    next() {
      const page = this.scroller();
      const last = this.notebook.widgets[this.steps[this.at].cells.slice(-1)[0]].node.getBoundingClientRect();
      const below = last.bottom - page.getBoundingClientRect().bottom;
      const from = page.scrollTop;
      if (below > 4) page.scrollTop += Math.min(below + 24, page.clientHeight * 0.8);
      if (page.scrollTop === from && this.at < this.steps.length - 1) this.show(this.at + 1);
    }

    previous() {
      const page = this.scroller();
      const screen = this.steps[this.at].screen;
      const top = this.notebook.widgets[this.steps.find(step => step.screen === screen).cells[0]].node;
      const above = page.getBoundingClientRect().top - top.getBoundingClientRect().top;
      const from = page.scrollTop;
      if (above > 4) page.scrollTop -= Math.min(above + 24, page.clientHeight * 0.8);
      if (page.scrollTop === from && this.at) this.show(this.at - 1);
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
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
        does.ArrowRight = does.PageDown;
        does.ArrowLeft = does.PageUp;
        does.ArrowDown = () => (this.scroller().scrollTop += 80);
        does.ArrowUp = () => (this.scroller().scrollTop -= 80);
        does.a = () => this.app.commands.execute('notebook:run-all-above');
        does.d = () => this.answers();
        does.n = () => this.notes();
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

    answers() {
      const all = [...this.notebook.node.querySelectorAll('.nlm-shown details')];
      const open = all.some(answer => !answer.open);
      all.forEach(answer => (answer.open = open));
    }

    /* The lecturer's window: notes of this screen, what comes next, and the time. */
    notes() {
      this.window = window.open('', 'nlm-notes', 'width=900,height=700');
      if (!this.window) return;
      this.window.document.title = 'Notes';
      this.window.document.body.style.cssText = 'font: 24px/1.4 sans-serif; margin: 24px; max-width: 46em';
      clearInterval(this.clock);
      this.clock = setInterval(() => this.tell(true), 1000);
      this.tell();
    }

    tell(onlyTime = false) {
      if (!this.window || this.window.closed) return;
      const page = this.window.document;
      const minutes = Math.floor((Date.now() - this.since) / 60000);
      const time = page.getElementById('time');
      if (onlyTime && time) {
        time.textContent = `${minutes} min`;
        return;
      }
      const screen = this.steps[this.at].screen;
      const html = index => this.notebook.widgets[index].node.querySelector('.jp-RenderedMarkdown')?.innerHTML || '';
      const notes = this.steps.filter(step => step.screen === screen).flatMap(step => step.notes).map(html).join('<hr>');
      const coming = this.steps.find(step => step.screen === screen + 1);
      const title = coming ? this.notebook.widgets[coming.cells[0]].model.sharedModel.getSource().split('\n')[0] : 'the end';
      page.body.innerHTML = `<p>${this.place.textContent} · <span id="time">${minutes} min</span></p>
        ${notes || '<p><i>No notes for this screen.</i></p>'}<p><b>Next:</b> <span id="next"></span></p>
        <table style="font-size:16px;color:#595959">${KEYS.map(([key, what]) => `<tr><th align="left">${key}</th>
        <td>${what}</td></tr>`).join('')}</table>`;
      page.getElementById('next').textContent = title.replace(/^#+ /, '');
    }
  }

  function toggle(app) {
    if (Slides.now) return Slides.now.stop();
    const panel = app.shell.currentWidget;
    if (!panel || !panel.content || !panel.content.widgets || !panel.sessionContext) return;
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
        return toggle(app);
      }
      await new Promise(done => setTimeout(done, 100));
    }
  }

  function plugin(palette) {
    return {
      id: 'nlm-slides:plugin',
      autoStart: true,
      optional: palette ? [palette] : [],
      activate: (app, commandPalette) => {
        const style = document.head.appendChild(document.createElement('style'));
        style.textContent = STYLE;
        const command = 'nlm-slides:present';
        const label = 'Present this lecture, slide by slide';
        app.commands.addCommand(command, { label, execute: () => toggle(app) });
        app.commands.addKeyBinding({ command, keys: ['Accel Alt P'], selector: 'body' });
        if (commandPalette) commandPalette.addItem({ command, category: 'Course' });
        if (wantsToStart) whenReady(app);
      },
    };
  }

  let shared = {};
  const container = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      let palette = null;
      try {
        const versions = Object.values(shared['@jupyterlab/apputils'] || {});
        palette = versions.length ? (await versions[0].get())().ICommandPalette : null;
      } catch (error) {
        console.warn('nlm-slides: not in the command palette', error);
      }
      return () => ({ __esModule: true, default: plugin(palette) });
    },
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['nlm-slides'] = container;
})();
