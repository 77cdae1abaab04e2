// The presenter view of a lecture's page: Ctrl-Alt-P, the button "Present", or ?present in the address. What makes a
// screen, and how it fits, is the same code as in JupyterLab (nlm-slides); the build puts both into one file.

// A cell of the page as a deck wants it: its parts have the names that they have in JupyterLab.
function cellOf(node) {
  const { slide, text } = node.dataset, notes = node.tagName === 'TEMPLATE', code = node.classList.contains('code');
  const shown = notes ? make('div') : node;
  if (notes) shown.innerHTML = node.innerHTML;
  const input = code && node.querySelector(':scope > pre, :scope > details.fold');
  const outputs = code ? [...node.querySelectorAll(':scope > .output > *')] : [];
  shown.classList.add('jp-Cell', ...(code ? ['jp-CodeCell'] : ['jp-RenderedMarkdown', 'jp-MarkdownCell']));
  outputs.forEach(part => part.classList.add('jp-OutputArea-child', 'jp-OutputArea-output'));
  if (input) input.classList.add('jp-Cell-inputWrapper');
  const metadata = { slideshow: { slide_type: notes ? 'notes' : slide }, jupyter: { source_hidden: input?.tagName === 'DETAILS' },
    tags: 'lesson' in node.dataset ? ['lesson'] : [] };
  return {
    node: shown,
    caption: !code && !notes && node.children.length === 1 && isItalic({ node: node.firstElementChild }),
    folded: !code && !notes && node.children.length > 0 && [...node.children].every(part => part.matches('details')),
    textLength: code ? Infinity : Number(text ?? Infinity),
    toggleClass: (name, on) => shown.classList.toggle(name, on),
    outputArea: { model: { get length() { return outputs.length; }, get: () => null } },
    model: {
      type: code ? 'code' : 'markdown',
      executionCount: 1,
      getMetadata: name => metadata[name],
      sharedModel: { getSource: () => (input ? input.querySelector('code').textContent : '') },
    },
  };
}

const AT = /^#slide-(\d+)(?:\.(\d+))?(?:\.(\d+))?$/; // the screen, its step, the page of that

class Presentation extends Deck {
  constructor(main) {
    super({ node: main, widgets: [...main.querySelectorAll('.cell, template.notes')].map(cellOf) });
  }

  get margins() {
    return [Math.max(32, 56 * this.pages.scale), this.barHeight + 0.6 * this.type]; // a paragraph ends in space
  }

  get barHeight() { return Math.max(matchMedia('(pointer: coarse)').matches ? 56 : 44, 44 * this.pages.scale); }

  get type() { return Math.max(16, 28 * this.pages.scale); }

  say(...text) { return say(...text); }

  help() {
    return [...super.help(), ['Escape', say('back to the page')]];
  }

  start(where) {
    const { node } = this.notebook, from = this.inView();
    node.querySelectorAll('img').forEach(image => { image.loading = 'eager'; });
    this.bar = document.body.appendChild(make('nav', { id: 'nlm-bar', 'aria-label': say('Slides') }));
    this.says = document.body.appendChild(make('p', { class: 'only-read', role: 'status' }));
    this.begin();
    const button = (name, sign, does) => make('button', { type: 'button', 'aria-label': name, title: name, onclick: does }, sign);
    this.bar.append(
      button(say('back'), '‹', () => this.previous()), this.place, button(say('next'), '›', () => this.next()),
      button(say('notes'), '✎', () => this.notes.open()), button(say('back to the page'), '✕', () => this.stop()));
    for (const part of [this.title, this.place]) part.setAttribute('aria-hidden', 'true'); // the status says both
    this.on(node, 'load', () => this.soon(), true);
    this.on(window, 'pagehide', () => this.notes.close());
    this.on(window, 'hashchange', () => this.goTo(location.hash));
    this.swipe();
    if (!this.goTo(where)) this.show(from);
  }

  // The step that a reader has before them: that of the section in the address, or at the top of the window.
  inView() {
    const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const here = this.notebook.widgets.findIndex(({ node }) =>
      named ? node.contains(named) : scrollY > 0 && node.getBoundingClientRect().bottom > innerHeight / 4);
    return Math.max(0, this.steps.findIndex(step => here >= 0 && step.cells.some(index => index >= here)));
  }

  goTo(where) {
    const [found, screen, step = 0, page = 0] = AT.exec(where) || [];
    const first = this.steps.findIndex(one => one.screen === screen - 1);
    if (found && first >= 0 && (!this.list || where !== this.address())) this.show(first + Number(step), { page: Number(page) });
    return found && first >= 0;
  }

  address() {
    const { screen } = this.steps[this.at], step = this.at - this.steps.findIndex(one => one.screen === screen);
    return `#slide-${screen + 1}${step || this.page ? `.${step}` : ''}${this.page ? `.${this.page}` : ''}`;
  }

  turn(page, keepsFocus) {
    super.turn(page, keepsFocus);
    const { screen } = this.steps[this.at], last = this.steps[this.steps.length - 1].screen;
    const part = this.shownSteps().filter(step => !this.isEmpty(step)).length - 1;
    const told = [say('Slide {0} of {1}', screen + 1, last + 1)];
    if (part) told.push(say('part {0}', part + 1));
    if (this.page) told.push(say('page {0}', this.page + 1));
    const heading = this.title.textContent || this.notebook.node.querySelector('.nlm-shown :is(h1, h2, h3)')?.textContent || '';
    const words = `${told.join(', ')}. ${heading}`;
    if (this.says.textContent !== words) this.says.textContent = words;
    history.replaceState(null, '', this.address());
    reachable(this.notebook.node);
  }

  toldIn(question) { return question.querySelector('details[open] p'); }

  showsAnswer(button) {
    return !this.toldIn(button.closest('.nlm-predict')) && button.textContent === say('show me');
  }

  resized() {
    const { style } = document.documentElement;
    style.setProperty('--nlm-top', `${this.margins[0]}px`);
    style.setProperty('--nlm-bottom', `${this.barHeight}px`);
    style.setProperty('--nlm-text', `${this.type}px`);
    super.resized();
  }

  toggleCode() {
    this.notebook.node.querySelectorAll('details.fold').forEach(fold => { fold.open = !this.code; });
    super.toggleCode();
  }

  swipe() {
    let from = null;
    const { node } = this.notebook;
    this.on(node, 'touchstart', event => {
      const [touch] = event.touches, taken = event.target.closest('input, select, [data-touch], [tabindex="0"]');
      from = event.touches.length > 1 || taken ? null : touch;
    });
    this.on(node, 'touchend', ({ changedTouches: [to] }) => {
      if (!from || Math.abs(to.clientX - from.clientX) < 60 + Math.abs(to.clientY - from.clientY)) return;
      if (to.clientX < from.clientX) this.next(); else this.previous();
      from = null;
    });
  }

  stop() {
    const first = (this.list[this.page] || [])[0]?.node || this.notebook.widgets[this.steps[this.at].cells[0]].node;
    const heading = headingAbove(this.notebook, first) || first;
    this.notebook.node.querySelectorAll('details.fold').forEach(fold => { fold.open = false; });
    this.end();
    this.bar.remove();
    this.says.remove();
    history.replaceState(null, '', location.pathname + (heading.id ? `#${heading.id}` : ''));
    reachable(document);
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
    first.scrollIntoView({ behavior: 'instant' });
    presenting = null;
  }
}

let presenting = null;
function present(where = '') {
  if (presenting) return presenting.stop();
  presenting = new Presentation(document.querySelector('#content'));
  presenting.start(where);
}
const button = document.querySelector('#present');
button.hidden = false;
button.addEventListener('click', () => present());
addEventListener('keydown', event => {
  if (!(event.ctrlKey || event.metaKey) || !event.altKey || event.code !== 'KeyP') return;
  event.preventDefault();
  present();
});
addEventListener('hashchange', () => { if (!presenting && AT.test(location.hash)) present(location.hash); });
if (AT.test(location.hash) || new URLSearchParams(location.search).has('present')) present(location.hash);
