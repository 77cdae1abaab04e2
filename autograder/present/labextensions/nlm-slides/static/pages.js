/* A screen cut into pages that fit the window, so that nothing scrolls and type is never made smaller.

The leaves of a screen are its paragraphs, lists, tables, code and outputs. A step that fits is shown with as much of what
came before it as there is room for; one that does not is cut between leaves. What is taller than a page by itself is opened
(a list into its items) or, if it cannot be, cut like a strip. Pictures then take the room that is left. */

import { textsOf } from './cells.js';

const OPENS = 'ul, ol, details[open], blockquote, table, tbody, .jp-RenderedMarkdown > div';
const HOLDERS = `${OPENS}, .nlm-predict, .jp-OutputArea-child`; // hidden when all in them is
const PICTURES = '.jp-OutputArea-output :is(svg, img, canvas), .jp-RenderedMarkdown img';
const KEEP = 1.15; // pictures next to text are at least this large, relative to a window of 1920 × 1080
const AFTER = 0.75; // and at least so large where a line or two of text would else stand alone
const LARGEST = 2.4;
const SMALLEST = 0.3;
const FRESH = 0.5; // a step of this share of the room begins a fresh page
const LEAN = 0.2; // less than this share is no screen

const isHeading = leaf => /^H[1-6]$/.test(leaf.node.tagName);
const isQuestion = leaf => leaf.asks || (leaf.node.tagName === 'BLOCKQUOTE' && /^\s*Predict/.test(leaf.node.textContent));
const isShown = node => node.getClientRects().length > 0;

/* The parts of a cell from top to bottom: nodes that are shown or hidden as a whole. */
function partsOf(cell, index, withCode) {
  const leaf = node => ({ node, index, height: 0 });
  if (cell.model.type === 'markdown') return textsOf(cell).flatMap(text => [...text.children]).map(leaf);
  const input = cell.node.querySelector('.jp-Cell-inputWrapper');
  const outputs = [...cell.node.querySelectorAll('.jp-OutputArea-child')];
  return [...(withCode && input ? [input] : []), ...outputs].map(leaf);
}

export class Pages {
  constructor(slides) {
    this.slides = slides;
  }

  get scale() {
    return Math.min(window.innerWidth / 1920, window.innerHeight / 1080);
  }

  get room() {
    const [top, bottom] = this.slides.margins;
    return window.innerHeight - top - bottom;
  }

  zoom(value) {
    this.slides.notebook.node.style.setProperty('--nlm-zoom', value.toFixed(3));
  }

  /* All leaves of the steps up to the present one, in groups by step, measured with pictures as small as they may be. */
  measure(steps) {
    this.clear();
    this.zoom(KEEP * this.scale);
    const { notebook, showsCode } = this.slides;
    let all = steps.map(step =>
      step.cells.flatMap(index => partsOf(notebook.widgets[index], index, showsCode(notebook.widgets[index])))
    );
    const hiddenCode = steps.flatMap(step => step.cells).filter(index => notebook.widgets[index].model.type === 'code');
    for (const index of hiddenCode) {
      const input = notebook.widgets[index].node.querySelector('.jp-Cell-inputWrapper');
      if (input) input.classList.toggle('nlm-off', !showsCode(notebook.widgets[index]));
    }
    all = all.map(leaves => leaves.flatMap(leaf => this.opened(leaf)).filter(leaf => isShown(leaf.node)));
    this.zoom(AFTER * this.scale);
    all = all.map(leaves => leaves.flatMap(leaf => this.prediction(leaf)));
    for (const leaf of all.flat()) leaf.least = leaf.node.getBoundingClientRect().height;
    this.zoom(KEEP * this.scale);
    for (const leaf of all.flat()) {
      const box = leaf.node.getBoundingClientRect();
      Object.assign(leaf, { top: box.top, bottom: box.bottom, height: box.height });
      leaf.picture = leaf.node.matches(PICTURES) || leaf.node.querySelector(PICTURES) !== null;
    }
    return all;
  }

  /* A prediction is one leaf, unless that leaves no room for what it has revealed: then its choices go, which the answer
     repeats, and if that is not enough, what was revealed is leaves by itself. */
  prediction(leaf) {
    const box = leaf.node.querySelector('.nlm-predict');
    const fits = () => leaf.node.getBoundingClientRect().height <= this.room;
    if (!box || fits()) return [leaf];
    const told = this.slides.toldIn(box);
    if (told) box.classList.add('nlm-spare');
    if (told && fits()) return [leaf];
    const parts = [...box.children].flatMap(child => (child === box.lastElementChild ? [...child.children] : [child]));
    const shown = parts.filter(isShown);
    return shown.map((node, i) => ({ node, index: leaf.index, height: 0, asks: i === 0, told: node === told }));
  }

  opened(leaf) {
    if (leaf.node.getBoundingClientRect().height <= this.room || !leaf.node.matches(OPENS)) return [leaf];
    const inside = [...leaf.node.children].filter(child => !['SUMMARY', 'THEAD', 'BR'].includes(child.tagName));
    [...leaf.node.children].filter(child => child.tagName === 'LI').forEach((item, i) => {
      if (leaf.node.tagName === 'OL') item.value = (leaf.node.start || 1) + i;
    });
    return inside.length ? inside.flatMap(node => this.opened({ node, index: leaf.index, height: 0 })) : [leaf];
  }

  /* The pages of the last of these steps: lists of leaves. */
  cut(steps) {
    const groups = this.measure(steps);
    this.lists = groups.flat();
    return this.pagesOf(groups);
  }

  pagesOf(groups) {
    if (!groups.length) return [];
    const own = groups[groups.length - 1];
    const earlier = groups.slice(0, -1).flat();
    const { room } = this;
    if (!own.length) return this.pagesOf(groups.slice(0, -1)).slice(-1); // what was there stays while a cell runs
    const tall = leaves => (leaves.length ? leaves[leaves.length - 1].bottom - leaves[0].top : 0);
    if (tall([...earlier, ...own]) <= room) return [[...earlier, ...own]];
    // A step of a line or two was passed by, to be shown with this one. If there is no room for it, it is a page by itself.
    const before = this.pagesOf(groups.slice(0, -1));
    const pages = tall(own) <= room ? [this.withEarlier(earlier, own, tall)] : this.split(own, tall);
    return this.isLean(before) && !before[0].every(leaf => pages[0].includes(leaf)) ? [...before, ...pages] : pages;
  }

  /* A step that is taller than the room. */
  split(own, tall) {
    const { room } = this;
    const pages = [[]];
    for (const leaf of own) {
      const page = pages[pages.length - 1];
      const shrinks = leaf.picture && page.some(one => one.told); // a picture gives way to the answer that it belongs to
      if (!page.length || (shrinks ? tall(page) + leaf.least : tall([...page, leaf])) <= room) {
        page.push(leaf);
        continue;
      }
      const moved = [];
      while (page.length > 1 && isHeading(page[page.length - 1])) moved.unshift(page.pop());
      const question = page.findLast(isQuestion);
      const goes = question && leaf.picture && (question === page[page.length - 1] || question.index === leaf.index);
      const leads = [page.filter(one => one === question || (one.told && one.index === leaf.index)), [question]];
      const lead = (goes && leads.find(some => some.reduce((sum, one) => sum + one.height, leaf.least) <= room)) || [];
      pages.push([...lead, ...moved, leaf]);
    }
    const last = pages.pop();
    const rest = own.slice(0, own.indexOf(last[0]));
    pages.push(this.withEarlier(rest, last, tall));
    return pages.flatMap(page => this.strips(page));
  }

  isLean(pages) {
    const [page] = pages;
    return pages.length === 1 && page[page.length - 1].bottom - page[0].top < LEAN * this.room;
  }

  /* A short end is not left alone: what came before it stays while there is room. */
  withEarlier(earlier, own, tall) {
    const heading = isHeading(own[0]);
    if (heading || tall(own) > FRESH * this.room) {
      const before = earlier[earlier.length - 1];
      const keeps = before && isQuestion(before) && before.height + tall(own) <= this.room;
      return keeps ? [before, ...own] : own;
    }
    const lean = tall(own) < LEAN * this.room;
    for (let from = 0; from < earlier.length; from++) {
      const begins = lean || !from || earlier[from].index !== earlier[from - 1].index || isHeading(earlier[from]) || earlier[from].picture;
      if (begins && tall([...earlier.slice(from), ...own]) <= this.room) return [...earlier.slice(from), ...own];
    }
    let least = tall(own);
    for (let from = earlier.length - 1; from >= 0; from--) {
      least += earlier[from].least + 16;
      if (least > this.room) break;
      if (earlier[from].picture) return [...earlier.slice(from), ...own];
    }
    return own;
  }

  /* One leaf that is taller than the room and has no picture to shrink: cut like a strip, by whole lines. */
  strips(page) {
    const [leaf] = page;
    if (page.length > 1 || leaf.height <= this.room || leaf.picture) return [page];
    const line = parseFloat(getComputedStyle(leaf.node.querySelector('pre, .cm-line') || leaf.node).lineHeight) || 40;
    const step = Math.floor((this.room - 8) / line) * line;
    return Array.from({ length: Math.ceil((leaf.height - 8) / step) }, (_, i) => [{ ...leaf, from: i * step, step }]);
  }

  /* Show a page, and give its pictures the room that text leaves. */
  show(page) {
    const shown = new Set(page.map(leaf => leaf.node));
    for (const { node } of this.lists) {
      node.classList.toggle('nlm-off', !shown.has(node));
      node.classList.remove('nlm-strip');
    }
    for (const { node, from, step } of page.filter(leaf => leaf.step)) {
      node.classList.add('nlm-strip');
      node.style.setProperty('--nlm-strip', `${step}px`);
      node.scrollTop = from;
    }
    const seen = new Set(page.length ? page.map(leaf => leaf.index) : this.slides.shownCells()); // not drawn yet: watch them
    this.slides.notebook.widgets.forEach((cell, index) => cell.toggleClass('nlm-shown', seen.has(index)));
    const holders = new Set();
    for (const { node } of this.lists) {
      for (let up = node.parentElement; up && !up.matches('.jp-RenderedMarkdown, .jp-Cell'); up = up.parentElement) {
        if (up.matches(HOLDERS)) holders.add(up);
      }
    }
    for (const holder of holders) holder.classList.toggle('nlm-off', ![...shown].some(node => holder.contains(node)));
    this.fit(page);
  }

  height(page) {
    const boxes = page.map(leaf => leaf.node.getBoundingClientRect());
    return Math.max(...boxes.map(box => box.bottom)) - Math.min(...boxes.map(box => box.top));
  }

  fit(page) {
    if (!page.some(leaf => leaf.picture)) return this.zoom(KEEP * this.scale);
    let [low, high] = [SMALLEST * this.scale, LARGEST * this.scale];
    const fits = zoom => {
      this.zoom(zoom);
      return this.height(page) <= this.room;
    };
    if (fits(high)) return undefined;
    for (let i = 0; i < 7; i++) {
      const middle = (low + high) / 2;
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return this.zoom(low);
  }

  sizes() {
    const shown = [...this.slides.notebook.node.querySelectorAll('.nlm-shown')];
    return shown.map(cell => `${cell.offsetWidth}x${cell.getBoundingClientRect().height.toFixed(2)}`).join();
  }

  overflows() {
    const shown = this.slides.notebook.node.querySelectorAll('.nlm-shown');
    const bottom = Math.max(0, ...[...shown].map(cell => cell.getBoundingClientRect().bottom));
    return bottom > window.innerHeight - 36 * this.scale;
  }

  clear() {
    const { notebook } = this.slides;
    const shown = new Set(this.slides.shownCells());
    notebook.node.querySelectorAll('.nlm-spare').forEach(node => node.classList.remove('nlm-spare'));
    notebook.node.querySelectorAll('.nlm-off').forEach(node => node.classList.remove('nlm-off'));
    notebook.node.querySelectorAll('.nlm-strip').forEach(node => {
      node.classList.remove('nlm-strip');
      node.scrollTop = 0;
    });
    notebook.widgets.forEach((cell, index) => cell.toggleClass('nlm-shown', shown.has(index)));
  }
}
