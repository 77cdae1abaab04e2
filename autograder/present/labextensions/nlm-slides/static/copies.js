/* Copies of screens as they are now, for the overview and the handout: nothing in them is alive. */

import { MARKS, codeIsHidden, isCode, readSteps, slideType, sourceOf, textsOf, titleOf } from './cells.js';

/* Screens in order: {title, cells}, where a screen without a heading has the newest one above it. */
export function readScreens(notebook) {
  const screens = [];
  for (const step of readSteps(notebook.widgets)) {
    if (!screens[step.screen]) screens[step.screen] = { cells: [], title: null, own: false };
    screens[step.screen].cells.push(...step.cells.filter(index => slideType(notebook.widgets[index]) !== 'skip'));
  }
  let title = null;
  for (const screen of screens) {
    const headings = screen.cells.flatMap(index => textsOf(notebook.widgets[index]).flatMap(text => [...text.querySelectorAll('h1, h2, h3')]));
    screen.own = headings.length > 0;
    screen.title = headings[0] || title;
    title = headings[headings.length - 1] || title;
  }
  return screens;
}

export function copyTitle(screen) {
  return screen.title ? titleOf(screen.title) : document.createElement('span');
}

/* The cells of a screen, from top to bottom. `stored`: a prediction that nobody has answered is its stored, closed form. */
export function copyScreen(notebook, screen, { stored = false } = {}) {
  const copy = document.createElement('div');
  for (const index of screen.cells) {
    const cell = notebook.widgets[index];
    if (!isCode(cell)) {
      copy.append(...textsOf(cell).map(text => part(still(text))));
      continue;
    }
    if (!codeIsHidden(cell)) {
      const code = copy.appendChild(document.createElement('pre'));
      code.className = 'nlm-code';
      code.textContent = sourceOf(cell);
    }
    [...cell.node.querySelectorAll('.jp-OutputArea-child')].forEach((child, i) => {
      const html = stored ? unanswered(cell, child, i) : null;
      copy.append(part(html || still(child.querySelector('.jp-OutputArea-output') || child)));
    });
  }
  return copy;
}

function part(node) {
  const box = document.createElement('div');
  box.className = 'nlm-part';
  box.append(node);
  return box;
}

function unanswered(cell, child, i) {
  const live = child.querySelector('.nlm-predict');
  const output = cell.outputArea && cell.outputArea.model.get(i);
  const html = output && output.data && output.data['text/html'];
  if (!live || !html || /The answer:/.test(live.textContent)) return null;
  const copy = document.createElement('div');
  copy.className = 'jp-RenderedHTMLCommon nlm-to-typeset';
  copy.innerHTML = Array.isArray(html) ? html.join('') : html;
  return copy;
}

function still(node) {
  const copy = node.cloneNode(true);
  [copy, ...copy.querySelectorAll('*')].forEach(one => one.classList.remove(...MARKS));
  copy.querySelectorAll('.jp-InternalAnchorLink, script').forEach(one => one.remove());
  const drawn = [...node.querySelectorAll('canvas')];
  copy.querySelectorAll('canvas').forEach((canvas, i) => {
    const image = document.createElement('img');
    image.src = drawn[i].toDataURL();
    canvas.replaceWith(image);
  });
  const typed = [...node.querySelectorAll('input, select, textarea')];
  copy.querySelectorAll('input, select, textarea').forEach((input, i) => {
    if (input.tagName === 'SELECT') input.selectedIndex = typed[i].selectedIndex;
    else if (input.type === 'checkbox' || input.type === 'radio') input.checked = typed[i].checked;
    else input.value = typed[i].value;
    input.removeAttribute('name'); // of radio buttons of the same name only one can be chosen
  });
  return copy;
}
