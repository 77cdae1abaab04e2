/* What the presenter view reads from a cell: its place in the lecture, and whether its code is worth projecting. */

const TEXT = '.jp-RenderedMarkdown';

/* What pages.js writes on the parts of a screen, for as long as it is shown. */
export const MARKS = ['nlm-off', 'nlm-strip', 'nlm-spare', 'nlm-beside', 'nlm-pictured', 'nlm-through'];

/* A folded answer, in English or German. */
export const isAnswer = folded => /^\s*(?:The )?an(?:swer|twort)/i.test(folded.textContent) && !folded.closest('.nlm-predict');

/* Folded text of a lecture: not the code of a cell, nor a row of a table. */
export const isText = folded => folded.closest('.jp-MarkdownCell') !== null;

/* Where the text of a cell is, as HTML. */
export const textsOf = ({ node }) => (node.matches(TEXT) ? [node] : [...node.querySelectorAll(TEXT)]);
export const slideType = cell => (cell.model.getMetadata('slideshow') || {}).slide_type;
export const sourceOf = cell => cell.model.sharedModel.getSource();
export const isCode = cell => cell.model.type === 'code';

const DRAWING = /^(?:[\w., ]+ = )?(?:show|widgets|plt|fig|ax|display|HTML|SVG|Image)\b[\w.]*[.(]/;
const STORED = /^[\w, ()]+ = .*\bstored\(/;
const LOADED = /^[\w, ()]+ = .*\b(?:checkpoint|json\.loads)\(/; // is not projected if nothing is printed
const LESSON = /^(?:(?:def|class|async def)\b|@)/;
const QUIET = /^(?:from|import|def|class|@|async def|with show\.held_back)\b|^@|^[\w.,\[\]"' ]+(?:: [^=]+)? [-+*/]?= /;

/* The first lines of the statements at the left margin. */
const statements = source => source.split('\n').filter(line => /^[^\s#)\]}]/.test(line));

/* Loads what was measured, or prepares a picture, and defines nothing: the audience reads the picture. */
const serves = (cell, lines = statements(sourceOf(cell))) =>
  !lines.some(line => LESSON.test(line)) &&
  (lines.some(line => DRAWING.test(line) || STORED.test(line)) || (lines.some(line => LOADED.test(line)) && isQuiet(sourceOf(cell))));

/* Code that shows nothing when it has run, as far as can be told from its text. */
export const isQuiet = source => statements(source).every(line => QUIET.test(line) && !/^[\w.]*(?:print|display)\(/.test(line));

/* Code that is not projected unless it is asked for: hidden, skipped, or there only for its picture; a lesson always is. */
export function codeIsHidden(cell) {
  const tags = cell.model.getMetadata('tags') || [];
  return (
    Boolean((cell.model.getMetadata('jupyter') || {}).source_hidden) ||
    slideType(cell) === 'skip' ||
    tags.some(tag => ['hidden', 'skip', 'hide-input'].includes(tag)) ||
    (!tags.includes('lesson') && serves(cell))
  );
}

/* Nothing but folded answers: no key press is spent on their titles. A page of the site knows this, but not the Markdown. */
const isFolded = cell => cell.folded ?? (!isCode(cell) && /^\s*<details[\s\S]*<\/details>\s*$/.test(sourceOf(cell)));

/* Nothing but words in italics: the caption of the picture before. */
const isCaption = cell => cell.caption ?? (!isCode(cell) && /^\s*\*[^*\s](?:[^*\n]|\n(?!\n))*\*\s*$/.test(sourceOf(cell)));

/* Every key press shows one more step: {screen, cells, notes} hold indices of cells. Skipped code goes with the step before it;
   it is seen only when code is asked for. */
export function readSteps(cells) {
  const steps = [];
  let screen = -1;
  cells.forEach((cell, index) => {
    const type = slideType(cell);
    const last = steps[steps.length - 1];
    if (type === 'notes') {
      if (last) last.notes.push(index);
      return;
    }
    if (type === 'skip') {
      if (last && isCode(cell)) last.cells.push(index);
      return;
    }
    const begins = type === 'slide' || type === 'subslide' || !steps.length;
    if (begins) screen += 1;
    if (begins || (type === 'fragment' && !isFolded(cell) && !isCaption(cell))) steps.push({ screen, cells: [], notes: [] });
    steps[steps.length - 1].cells.push(index);
  });
  return joined(steps, cells);
}

const SHORT = 400; // characters: three lines or so

/* The length of a cell that is nothing but text; a page of the site knows this, but not the Markdown. */
const lengthOf = cell =>
  cell.textLength ?? (isCode(cell) || /<img|^\||\$\$|<details/m.test(sourceOf(cell)) ? Infinity : sourceOf(cell).replace(/<!--.*?-->/gs, '').length);

/* A screen of a line or two is none: it goes with the next one of its section, or else with the one before. */
function joined(steps, cells) {
  const isShort = screen =>
    steps.filter(step => step.screen === screen).flatMap(step => step.cells.map(i => lengthOf(cells[i]))).reduce((a, b) => a + b, 0) < SHORT;
  const begins = screen => slideType(cells[steps.find(step => step.screen === screen).cells[0]]) === 'slide';
  const last = steps.length ? steps[steps.length - 1].screen : -1;
  let number = -1;
  let before = false; // the screen before is short, and this one goes on with it
  const numbers = [];
  for (let screen = 0; screen <= last; screen++) {
    const short = isShort(screen);
    const ends = screen === last || begins(screen + 1);
    const joins = screen > 0 && !begins(screen) && (before || (short && ends));
    if (!joins) number += 1;
    numbers.push(number);
    before = short && !before;
  }
  return steps.map(step => ({ ...step, screen: numbers[step.screen] }));
}

/* The newest heading at or above a node, as an element. */
export function headingAbove(notebook, node) {
  let found = null;
  for (const heading of notebook.node.querySelectorAll('.jp-MarkdownCell:not(.nlm-note) :is(h1, h2, h3)')) {
    if (heading !== node && !(heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
    found = heading;
  }
  return found;
}

/* The words of a heading, with its mathematics and without JupyterLab's anchor. */
export function titleOf(heading) {
  const copy = heading.cloneNode(true);
  copy.querySelectorAll('.jp-InternalAnchorLink, a[href^="#"]').forEach(anchor => anchor.remove());
  const title = document.createElement('span');
  title.append(...copy.childNodes);
  return title;
}
