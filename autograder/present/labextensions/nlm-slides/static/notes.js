/* The lecturer's window: the notes of this screen with their mathematics, what comes next, and the time. */

import { headingAbove, textsOf, titleOf } from './cells.js';

const LOOK = `body { font: 24px/1.4 sans-serif; margin: 24px; max-width: 46em; } table { border-collapse: collapse; }
  .keys { font-size: 16px; color: #595959; } .keys th { text-align: left; padding-right: 1em; }
  .jp-InternalAnchorLink { display: none; } img, svg { max-width: 100%; }`;

export class NotesWindow {
  constructor(slides) {
    this.slides = slides;
    this.since = Date.now();
    this.reached = new Map(); // sections, and when
  }

  open() {
    this.window = window.open('', 'nlm-notes', 'width=900,height=700');
    if (!this.window) return;
    const page = this.window.document;
    page.title = this.slides.say('Notes');
    page.documentElement.lang = document.documentElement.lang;
    this.window.onkeydown = event => this.slides.key(event);
    clearInterval(this.clock);
    this.clock = setInterval(() => this.tell(true), 1000);
    this.tell();
  }

  close() {
    if (this.window && !this.window.closed) this.window.close();
    clearInterval(this.clock);
  }

  /* MathJax writes the rules of each letter into its own style sheet when the letter is first used. */
  mathematics() {
    const sheets = [...document.styleSheets].filter(sheet => /^MJX/.test(sheet.ownerNode?.id || ''));
    return sheets.flatMap(sheet => [...sheet.cssRules].map(rule => rule.cssText)).join('\n');
  }

  minutesSince(then) {
    return `${Math.floor((Date.now() - then) / 60000)} min`;
  }

  /* When the section on the screen was first reached. */
  sectionSince() {
    const { steps, at, notebook } = this.slides;
    const section = steps.slice(0, at + 1).findLast(({ cells }) => notebook.widgets[cells[0]].node.querySelector('h1, h2')) ?? steps[0];
    if (!this.reached.has(section)) this.reached.set(section, Date.now());
    return this.reached.get(section);
  }

  tell(onlyTime = false) {
    const since = this.sectionSince();
    if (!this.window || this.window.closed) return;
    const page = this.window.document;
    const minutes = `${this.minutesSince(this.since)} · ${this.slides.say('this section: {0}', this.minutesSince(since))}`;
    const time = page.getElementById('time');
    if (onlyTime && time) {
      time.textContent = minutes;
      return;
    }
    const { slides } = this;
    const { screen } = slides.steps[slides.at];
    const cells = slides.notebook.widgets;
    const html = index => textsOf(cells[index])[0]?.innerHTML || '';
    const notes = slides.steps.filter(step => step.screen === screen).flatMap(step => step.notes).map(html).join('<hr>');
    page.body.innerHTML = `<style>${LOOK}${this.mathematics()}</style>
      <p>${slides.place.textContent} · <span id="time">${minutes}</span></p>
      <div id="notes">${notes || `<p><i>${slides.say('No notes for this screen.')}</i></p>`}</div>
      <p><b>${slides.say('Next:')}</b> <span id="next">${slides.say('the end')}</span></p>
      <table class="keys">${slides.help().map(([key, what]) => `<tr><th>${key}</th><td>${what}</td></tr>`).join('')}</table>`;
    const coming = slides.steps.find(step => step.screen === screen + 1);
    if (!coming) return;
    const node = cells[coming.cells[0]].node;
    const heading = node.querySelector('h1, h2, h3') || headingAbove(slides.notebook, node);
    page.getElementById('next').replaceChildren(heading ? titleOf(heading) : slides.say('more of this'));
  }
}
