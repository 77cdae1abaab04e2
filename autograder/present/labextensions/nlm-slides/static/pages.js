/* A screen cut into pages that fit the window, so that nothing scrolls and type is never made smaller.

The leaves of a screen are its paragraphs, lists, tables, code and outputs. A page is what fits: no more than 60 words, and pictures
whose words the back row can read. So each page is tried as it will be seen. A step is shown with as much of what came before it as
there is room for, and one that does not fit is cut between leaves: a list into its items, a long paragraph into sentences, and what is
taller than a page by itself into strips. Then type and pictures take the room that is left. */

import { isAnswer, isText, MARKS, slideType, textsOf } from './cells.js';

const WORDS = 60;
const TEXT_OR_OUTPUT = '.jp-RenderedHTMLCommon, .jp-OutputArea-output';
const READABLE = 24; // pixels that words in a picture have, in a window of 1920 × 1080
const DRAWN = 15; // words in a stored drawing have so many; matplotlib says its own (lectures.show.picture)
const LARGEST = 2.4; // of a picture
const SMALLEST = 0.3;
const GROWN = [1.5, 1.25]; // type on a page with room
const LEAN = 0.25; // less than this share of the room is no screen
const OPTICAL = 0.4; // of the room that is left, above what is shown

const OPENS = 'ul, ol, details[open], blockquote, table, tbody, .jp-RenderedMarkdown > div';
const HOLDERS = `${OPENS}, p, li, .nlm-predict, .jp-OutputArea-child`; // hidden when all in them is
const PICTURES = '.jp-OutputArea-output :is(svg, img, canvas):not(svg svg, mjx-container *), .jp-RenderedMarkdown img';
const BESIDE = '.nlm-predict, .nlm-live'; // may have its picture at the right
const SENTENCE = /(?<=(?<!\b(?:al|e\.g|i\.e|cf|vs|z\. ?B|Fig|No))[.?!]["”’)]*\s+)(?=[A-ZÄÖÜ“"])/;

const isHeading = leaf => /^H[1-6]$/.test(leaf.node.tagName);
const isQuestion = leaf => leaf.asks || leaf.node.querySelector('.nlm-predict') !== null;
const isWholly = (node, tags) => node.tagName === 'P' && node.children.length === 1 && node.firstElementChild.matches(tags) && node.textContent.trim() === node.firstElementChild.textContent.trim();
/* "Take four scores:" or **After this lecture you can** goes with what it announces. */
const leadsOn = ({ node }) => isHeading({ node }) || /:\s*$/.test(node.textContent) || (isWholly(node, 'b, strong') && !/[.?!]\s*$/.test(node.textContent));
const isItalic = ({ node }) => isWholly(node, 'em, i');
const isClosed = ({ node }) => node.matches('details:not([open])');
const asksFirst = leaf => isClosed(leaf) && isAnswer(leaf.node); // what follows would give it away
const SIDES = ['nlm-beside', 'nlm-pictured', 'nlm-through'];
const stack = () => document.querySelectorAll(SIDES.map(name => `.${name}`).join()).forEach(node => node.classList.remove(...SIDES));
/* How far each place of a page sticks out at its right. */
const over = page =>
  page.flatMap(({ node }) => [node.closest(TEXT_OR_OUTPUT) ?? node, ...node.querySelectorAll('.widget-box, .row, table, math, mjx-container')])
    .map(place => Math.max(0, place.scrollWidth - place.clientWidth - 1));
const isShown = node => node.getClientRects().length > 0;
const isLarge = picture => isShown(picture) && picture.getBoundingClientRect().width > 60;
/* Where a part is on the screen; one whose parts are at both sides has no place itself. */
const boxesOf = node => (node.matches('.nlm-through') ? [...node.children].flatMap(boxesOf) : [node.getBoundingClientRect()]).filter(box => box.height);
const sum = leaves => leaves.reduce((words, leaf) => words + leaf.words, 0);
const wordsIn = text => text.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word)).length;

/* The parts of a cell from top to bottom: nodes that are shown or hidden as a whole. */
function partsOf(cell, index, withCode) {
  const leaf = node => ({ node, index });
  if (cell.model.type === 'markdown') return textsOf(cell).flatMap(text => [...text.children]).map(leaf);
  const input = cell.node.querySelector('.jp-Cell-inputWrapper');
  const isSkipped = slideType(cell) === 'skip' && !withCode; // it runs, and only an error is seen
  const outputs = [...cell.node.querySelectorAll('.jp-OutputArea-child')].filter(part => !isSkipped || part.querySelector('[data-mime-type$=stderr]'));
  return [...(withCode && input ? [input] : []), ...outputs].map(leaf);
}

function wordsOf({ node }) {
  if (node.matches('.jp-OutputArea-child')) return wordsIn([...node.querySelectorAll('p')].filter(isShown).map(p => p.textContent).join(' '));
  return node.matches('table, pre, details:not([open]), .jp-Cell-inputWrapper') ? 0 : wordsIn(node.textContent);
}

/* A paragraph as one node per sentence, made when it is first asked for. */
function sentencesOf(paragraph) {
  if (!paragraph.querySelector(':scope > .nlm-sentence')) {
    const parts = [[]];
    for (const node of [...paragraph.childNodes]) {
      if (node.nodeType !== Node.TEXT_NODE) {
        parts.at(-1).push(node);
        continue;
      }
      const last = parts.at(-1).at(-1); // a formula may have the full stop behind it
      if (last?.matches?.('.whole') && /[.?!]$/.test(last.textContent) && /^\s+[A-ZÄÖÜ“"]/.test(node.textContent)) parts.push([]);
      node.textContent.split(SENTENCE).forEach((text, i) => (i ? parts.push([text]) : parts.at(-1).push(text)));
    }
    paragraph.replaceChildren(
      ...parts.map(nodes => {
        const sentence = document.createElement('span');
        sentence.className = 'nlm-sentence';
        sentence.append(...nodes);
        return sentence;
      })
    );
  }
  return [...paragraph.children];
}

/* How large the words of a picture are where it is not scaled: half of them are at least so large. */
function letters(picture) {
  if (picture.tagName !== 'svg') return Number(picture.dataset.letters) || DRAWN;
  const sizes = [...picture.querySelectorAll('text')].filter(word => word.textContent.trim()).map(word => parseFloat(getComputedStyle(word).fontSize));
  return sizes.sort((a, b) => a - b)[Math.floor((sizes.length - 1) / 2)] || DRAWN;
}

/* By how much it is scaled. */
function scaled(picture) {
  const own = picture.viewBox?.baseVal?.width || picture.naturalWidth || picture.width?.baseVal?.value || picture.width;
  return picture.getBoundingClientRect().width / own;
}

export class Pages {
  constructor(slides) {
    this.slides = slides;
    this.own = new WeakMap(); // by how much a picture is scaled on the page where a reader finds it
  }

  get scale() {
    return Math.min(window.innerWidth / 1920, window.innerHeight / 1080);
  }

  get room() {
    const [top, bottom] = this.slides.margins;
    return window.innerHeight - top - bottom;
  }

  set(name, value) {
    document.documentElement.style.setProperty(name, value);
  }

  zoom(value) {
    this.set('--nlm-zoom', value.toFixed(3));
  }

  /* The leaves of these steps, in groups by step. */
  leaves(steps) {
    this.clear();
    this.zoom(this.scale);
    const { notebook, showsCode } = this.slides;
    for (const index of steps.flatMap(step => step.cells).filter(at => notebook.widgets[at].model.type === 'code')) {
      const input = notebook.widgets[index].node.querySelector('.jp-Cell-inputWrapper');
      if (input) input.classList.toggle('nlm-off', !showsCode(notebook.widgets[index]));
    }
    const all = steps.map(step =>
      step.cells
        .flatMap(index => partsOf(notebook.widgets[index], index, showsCode(notebook.widgets[index])))
        .flatMap(leaf => this.opened(leaf))
        .filter(leaf => isShown(leaf.node))
    );
    for (const leaf of all.flat()) this.know(leaf);
    return all;
  }

  know(leaf) {
    const inside = [...(leaf.node.matches(PICTURES) ? [leaf.node] : leaf.node.querySelectorAll(PICTURES))];
    leaf.words = wordsOf(leaf);
    leaf.pictures = inside.filter(isLarge);
    for (const picture of leaf.pictures) this.own.set(picture, scaled(picture) / this.scale);
    return leaf;
  }

  opened(leaf) {
    const { node, index } = leaf;
    const long = !node.matches('.jp-OutputArea-child') && wordsOf(leaf) > (node.matches('ul, ol') ? WORDS / 2 : WORDS);
    if (!isShown(node) || (!long && node.getBoundingClientRect().height <= this.room)) return [leaf];
    if (long && (node.matches('p') || (node.matches('li') && !node.querySelector('p, ul, ol, pre')))) {
      return sentencesOf(node).map(sentence => ({ node: sentence, index }));
    }
    if (!node.matches(`${OPENS}, li`)) return [leaf];
    const inside = [...node.children].filter(child => !['SUMMARY', 'THEAD', 'BR'].includes(child.tagName));
    if (node.matches('li') && inside.some(child => !child.matches('p, ul, ol, pre, table'))) return [leaf];
    inside.filter(child => child.tagName === 'LI').forEach((item, i) => {
      if (node.tagName === 'OL') item.value = (node.start || 1) + i;
    });
    return inside.length ? inside.flatMap(child => this.opened({ node: child, index })) : [leaf];
  }

  /* The pages of the last of these steps: lists of leaves. */
  cut(steps) {
    const groups = this.leaves(steps);
    this.watch(groups);
    const known = groups.map(leaves => leaves.flatMap(leaf => this.prediction(leaf)));
    this.watch(known);
    const pages = this.pagesOf(known);
    const first = known.at(-1)?.[0];
    const isBare = page => page.length && isClosed(page[0]) && isText(page[0].node) && !page.some(leaf => leaf.pictures.length || isQuestion(leaf));
    const bare = pages.filter(isBare).map(([leaf]) => leaf);
    if (first && asksFirst(first)) bare.push(first);
    if (!bare.length) return pages;
    bare.forEach(({ node }) => (node.open = true)); // no key press is spent on their titles
    return this.cut(steps);
  }

  /* These leaves are shown and hidden from now on, and what holds them. */
  watch(groups) {
    this.lists = groups.flat();
    this.holders = new Set();
    for (const { node } of this.lists) {
      for (let up = node.parentElement; up && !up.matches('.jp-RenderedMarkdown, .jp-Cell'); up = up.parentElement) {
        if (up.matches(HOLDERS)) this.holders.add(up);
      }
    }
  }

  /* A prediction is one leaf, unless the words of what it has revealed would be too small: then its choices go, which the answer
     repeats, and if that is not enough, each picture is a leaf. */
  prediction(leaf) {
    const box = leaf.node.querySelector('.nlm-predict');
    if (!box || this.isReadable(leaf)) return [leaf];
    const told = this.slides.toldIn(box);
    if (told) box.classList.add('nlm-spare');
    leaf.best = 0; // measured anew
    if (told && this.isReadable(leaf)) return [leaf];
    const parts = [...box.children].flatMap(child => (child === box.lastElementChild ? [...child.children] : [child]));
    const isBlank = node => node.tagName === 'P' && !node.textContent.trim() && !node.querySelector('svg, img');
    const shown = parts.filter(node => isShown(node) && node.tagName !== 'SUMMARY' && !isBlank(node));
    const known = shown.map((node, i) => this.know({ node, index: leaf.index, asks: i === 0, told: node === told }));
    return known.map(part => (part.asks || part.told ? { ...part, words: 0 } : part)); // they belong together
  }

  isReadable(leaf) {
    return this.only([leaf], () => this.height([leaf]) <= this.room) && this.best(leaf) >= READABLE * this.scale;
  }

  pagesOf(groups) {
    if (!groups.length) return [];
    const last = groups.at(-1);
    if (!last.length) return this.pagesOf(groups.slice(0, -1)).slice(-1); // what was there stays while a cell runs
    const earlier = groups.slice(0, -1).filter(leaves => leaves.length);
    const passed = earlier.length && this.isLean([earlier.at(-1)]) ? earlier.pop() : []; // a line or two, to be shown with this step
    const own = [...passed, ...last];
    const pages = this.split(own);
    const end = pages.pop();
    const rest = pages.length ? own.slice(0, own.indexOf(end[0])) : earlier.flat();
    pages.push(pages.length && !this.isLean([end]) ? end : this.extended(rest, end)); // a short end is not left alone
    return pages.flatMap(page => this.strips(this.accompanied(page, earlier.at(-1) ?? [], own)));
  }

  /* What is said about the picture of the step before stands beside it. */
  accompanied(page, before, own) {
    const picture = before.findLast(leaf => leaf.pictures.length);
    const says = own.slice(0, own.indexOf(page.at(-1)) + 1);
    const isSaid = leaf => !leaf.pictures.length && !isHeading(leaf) && !isQuestion(leaf) && !leaf.node.matches('.jp-Cell-inputWrapper, .jp-OutputArea-child');
    const since = picture && before.slice(before.indexOf(picture) + 1);
    if (!picture || page.includes(picture) || ![...since, ...says].every(isSaid)) return page;
    const kept = page.filter(leaf => own.includes(leaf));
    return this.fits([picture, ...kept]) ? [picture, ...kept] : page;
  }

  /* Leaf by leaf, each page as full as it may be. */
  split(own) {
    const pages = [[]];
    for (const leaf of own) {
      const page = pages.at(-1);
      const joins = () => this.fits([...page, leaf]) || (isClosed(leaf) && this.hardlyShrinks(page, leaf));
      const begins = page.length && (asksFirst(page.at(-1)) || (isItalic(page.at(-1)) && leadsOn(leaf)));
      if (!page.length || (!begins && joins())) {
        page.push(leaf);
        continue;
      }
      const captioned = isItalic(leaf) && page.at(-1).pictures.length && [page.at(-1), leaf];
      if (captioned && this.fits(captioned)) {
        pages.push(captioned);
        continue;
      }
      const question = page.findLast(one => one.asks && one.index === leaf.index);
      const told = page.findLast(one => one.told && one.index === leaf.index);
      const leads = question ? [[question, told], [question], [told]].map(some => some.filter(Boolean)) : [];
      if (leaf.pictures.length && !question) {
        const made = this.extended(page, [leaf]);
        while (page.length && made.includes(page.at(-1)) && leadsOn(page.at(-1))) page.pop();
        pages.push(made);
        continue;
      }
      const moved = [];
      while (page.length > 1 && leadsOn(page.at(-1))) moved.unshift(page.pop());
      const led = leads.find((some, i) => some.length && (this.fits([...some, leaf]) || (!i && this.shrinks([...some, leaf]))));
      const follows = !led && this.fits([...moved, leaf]);
      if (!follows) page.push(...moved);
      const isFirst = !page.some(one => one.index === leaf.index && !one.asks && !one.told); // of what is revealed
      if (led && led === leads[0] && isFirst) page.splice(0, Infinity, ...page.filter(one => !led.includes(one)));
      pages.push(led ? [...led, leaf] : follows ? [...moved, leaf] : [leaf]);
    }
    const [before, last] = pages.slice(-2);
    const evens = () => before.length > 1 && !asksFirst(before.at(-1)) && sum(before.slice(0, -1)) > sum([before.at(-1), ...last]);
    while (last && ![...before, ...last].some(leaf => leaf.pictures.length) && evens() && this.fits([before.at(-1), ...last])) last.unshift(before.pop());
    return pages.filter(page => page.length);
  }

  /* What came before stays while there is room; a heading begins a page. */
  extended(earlier, page) {
    let made = page;
    for (let from = earlier.length - 1; from >= 0 && !isHeading(made[0]) && !asksFirst(earlier[from]); from--) {
      const more = [earlier[from], ...made];
      if (!this.fits(more)) break;
      made = more;
    }
    return made;
  }

  isLean(pages) {
    const [page] = pages;
    if (pages.length !== 1 || sum(page) > WORDS / 2 || page.some(leaf => leaf.pictures.length || isQuestion(leaf))) return false;
    return this.only(page, () => this.height(page)) < LEAN * this.room;
  }

  /* May these leaves share a page? Their pictures are as readable as they must be, or nearly as large as they can be. */
  fits(page) {
    const leaves = page.filter(leaf => !isHeading(leaf));
    if (leaves.length > 1 && sum(leaves) > WORDS) return false;
    const drawn = page.filter(leaf => leaf.pictures.length);
    const needs = drawn.flatMap(leaf => {
      const [best, least] = [this.best(leaf), READABLE * this.scale];
      return leaf.pictures.map(picture => [picture, (best < least ? 0.95 * best : least) / letters(picture)]);
    });
    return this.only(page, () => {
      if (!drawn.length) return this.height(page) <= this.room;
      return this.ways(page).some(way => {
        way();
        this.zoom(Math.min(LARGEST * this.scale, Math.max(SMALLEST, ...needs.map(([picture, by]) => by / this.own.get(picture)))));
        return this.height(page) <= this.room && needs.every(([picture, by]) => scaled(picture) >= 0.97 * by);
      });
    });
  }

  /* Do these leaves fit if the pictures are as small as it takes? What a prediction reveals is seen beside it. */
  shrinks(page) {
    return this.only(page, () => this.arrange(page) > 0 && this.height(page) <= this.room);
  }

  /* Is there room for one more line, if the pictures give a little? */
  hardlyShrinks(page, line) {
    if (!page.some(leaf => leaf.pictures.length) || !this.shrinks([...page, line])) return false;
    const size = leaves => this.only(leaves, () => this.arrange(leaves));
    return size([...page, line]) >= 0.85 * size(page);
  }

  /* The size of the words of a picture that has the page for itself. */
  best(leaf) {
    if (!leaf.best) leaf.best = leaf.pictures.length ? this.only([leaf], () => this.arrange([leaf])) : Infinity;
    return leaf.best;
  }

  /* Pictures below the text, or at its right. What stands before a picture in its own box, such as sliders, may be at its left, too. */
  ways(page) {
    const within = page.map(({ node }) => [...node.querySelectorAll(BESIDE)].find(isShown));
    const range = document.createRange();
    range.setStartBefore(page[0].node);
    range.setEndAfter(page.at(-1).node);
    const pictures = page.flatMap(leaf => leaf.pictures);
    const drawn = within.filter(box => box && pictures.some(picture => box.contains(picture)));
    const holders = page.length === 1 ? [within[0] ?? range.commonAncestorContainer] : [range.commonAncestorContainer, ...drawn];
    const found = [...new Set(holders)].flatMap(holder => this.besides(holder, pictures));
    const sticks = way => {
      way();
      return over(page).reduce((all, one) => all + one, 0);
    };
    const alone = found.length && sticks(stack);
    return [stack, ...found.filter(way => sticks(way) <= alone)]; // a row of sliders needs its width, too
  }

  /* The ways in which one part of this holder is at the right of the others. */
  besides(holder, pictures) {
    const split = node => {
      const parts = [...node.children].filter(isShown);
      const right = parts.filter(part => pictures.some(picture => part.contains(picture)));
      return [right, parts.filter(part => !right.includes(part))];
    };
    const isWide = part => part.matches('pre, table') || part.querySelector('pre, .cm-line, table') !== null; // code needs its width
    const found = [];
    const through = []; // boxes whose parts are at both sides
    const lefts = [];
    for (let node = holder; ; ) {
      const [right, left] = split(node);
      lefts.push(...left);
      if (right.length !== 1 || left.some(isWide)) return found;
      const inner = [...through];
      if (left.length) {
        found.push(() => {
          stack();
          holder.classList.add('nlm-beside');
          inner.forEach(box => box.classList.add('nlm-through'));
          right[0].classList.add('nlm-pictured');
        });
      }
      if (!right[0].closest(BESIDE) || pictures.includes(right[0])) return found;
      through.push(right[0]);
      [node] = right;
    }
  }

  /* Give the pictures of a page the room that its text leaves, in the way that makes their words largest; the size of these. */
  arrange(page) {
    const pictures = page.flatMap(leaf => leaf.pictures);
    const tried = this.ways(page).map(way => {
      way();
      let [low, high] = [SMALLEST * this.scale, LARGEST * this.scale];
      const fits = zoom => {
        this.zoom(zoom);
        return this.height(page) <= this.room;
      };
      for (let i = 0; i < 6; i++) {
        const middle = i ? (low + high) / 2 : high;
        if (fits(middle)) low = middle;
        else high = middle;
      }
      this.zoom(low);
      const sizes = pictures.map(picture => letters(picture) * scaled(picture));
      return { way, low, size: Math.min(...sizes.filter(Number.isFinite), 1e3), wide: pictures.reduce((wide, one) => wide + one.getBoundingClientRect().width, 0) };
    });
    const { way, low, size } = tried.reduce((best, one) => (one.wide > 1.02 * best.wide ? one : best));
    way();
    this.zoom(low);
    return size;
  }

  /* One leaf that is taller than the room and has no picture to shrink: cut like a strip, by whole lines. */
  strips(page) {
    const [leaf] = page;
    const height = page.length > 1 || leaf.pictures.length ? 0 : this.only(page, () => this.height(page));
    if (height <= this.room) return [page];
    const line = parseFloat(getComputedStyle(leaf.node.querySelector('pre, .cm-line') || leaf.node).lineHeight) || 40;
    const step = Math.floor((this.room - 8) / line) * line;
    return Array.from({ length: Math.ceil((height - 8) / step) }, (_, i) => [{ ...leaf, from: i * step, step }]);
  }

  /* With only these leaves in view, what `tell` says of them. */
  only(page, tell = () => {}) {
    const shown = new Set(page.map(leaf => leaf.node));
    const kept = new Set(page.map(leaf => leaf.index));
    for (const { node } of this.lists) node.classList.toggle('nlm-off', ![...shown].some(one => one.contains(node) || node.contains(one)));
    this.slides.notebook.widgets.forEach((cell, index) => cell.toggleClass('nlm-shown', kept.has(index)));
    for (const holder of this.holders) holder.classList.toggle('nlm-off', ![...shown].some(node => holder.contains(node)));
    this.set('--nlm-grow', 1);
    stack();
    return tell();
  }

  /* Show a page. Its pictures have the room that text leaves; where there are none, type grows. What is shorter than the room is
     not left at its top. */
  show(page) {
    this.lists.forEach(({ node }) => node.classList.remove('nlm-strip'));
    this.only(page);
    for (const { node, from, step } of page.filter(leaf => leaf.step)) {
      node.classList.add('nlm-strip');
      node.style.setProperty('--nlm-strip', `${step}px`);
      node.scrollTop = from;
    }
    this.set('--nlm-lift', '0px');
    if (!page.length) { // not drawn yet: watch them
      const seen = new Set(this.slides.shownCells());
      this.slides.notebook.widgets.forEach((cell, index) => cell.toggleClass('nlm-shown', seen.has(index)));
      return;
    }
    if (page.some(leaf => leaf.pictures.length)) this.arrange(page);
    const alone = page.length === 1 && page[0].pictures.length; // a drawing that answers to its width, such as the living model's
    if (!alone && !page.some(leaf => leaf.step)) this.grow(page);
    this.set('--nlm-lift', `${Math.max(0, Math.floor(OPTICAL * (this.room - this.height(page))))}px`);
  }

  /* Type as large as the page has room for, if no line of code or of a printed table breaks, nothing sticks out and no picture
     becomes smaller. */
  grow(page) {
    const code = page.flatMap(({ node }) => [...(node.matches('pre') ? [node] : node.querySelectorAll('pre, .cm-line'))]).filter(isShown);
    const pictures = page.flatMap(leaf => leaf.pictures);
    const rows = () => code.map(node => Math.round(node.clientHeight / parseFloat(getComputedStyle(node).lineHeight)));
    const losses = () => [...rows(), ...over(page), ...pictures.map(picture => -picture.getBoundingClientRect().width)];
    const before = losses();
    const narrow = document.querySelector('.nlm-beside') !== null;
    for (const size of GROWN.slice(narrow ? 1 : 0)) {
      this.set('--nlm-grow', size);
      if (this.height(page) <= (pictures.length ? 0.98 : 0.85) * this.room && losses().every((loss, i) => loss <= before[i] + 0.02 * Math.abs(before[i]))) return;
    }
    this.set('--nlm-grow', 1);
  }

  height(page) {
    const boxes = page.flatMap(leaf => boxesOf(leaf.node));
    return Math.max(...boxes.map(box => box.bottom)) - Math.min(...boxes.map(box => box.top));
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
    this.set('--nlm-grow', 1); // what is measured next is not in the type of the page before
    for (const name of MARKS)
      document.querySelectorAll(`.${name}`).forEach(node => {
        node.classList.remove(name);
        if (name === 'nlm-strip') node.scrollTop = 0;
      });
    notebook.widgets.forEach((cell, index) => cell.toggleClass('nlm-shown', shown.has(index)));
  }
}
