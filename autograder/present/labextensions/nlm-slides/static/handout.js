/* A handout: all screens one below the other, pictures as they are now, answers at the end; printed, or saved as PDF, by the
browser itself. */

import { copyScreen, copyTitle, readScreens } from './copies.js';

export function dropHandout() {
  document.getElementById('nlm-handout')?.remove();
}

export function buildHandout(panel) {
  if (document.getElementById('nlm-handout')) return;
  const notebook = panel.content;
  const handout = document.createElement('div');
  handout.id = 'nlm-handout';
  handout.className = 'jp-RenderedHTMLCommon';
  const answers = [];
  for (const screen of readScreens(notebook)) {
    const sheet = handout.appendChild(document.createElement('section'));
    const copy = copyScreen(notebook, screen, { stored: true });
    for (const closed of copy.querySelectorAll('details')) {
      answers.push({ closed, title: copyTitle(screen) });
      const pointer = document.createElement('p');
      pointer.className = 'nlm-pointer';
      pointer.append(`→ ${closed.querySelector('summary')?.textContent || 'Answer'}: number ${answers.length} at the end.`);
      closed.replaceWith(pointer);
    }
    if (!copy.querySelector('h1, h2, h3') && screen.title) {
      const small = sheet.appendChild(document.createElement('p'));
      small.className = 'nlm-again';
      small.append(copyTitle(screen));
    }
    sheet.append(copy);
  }
  if (answers.length) handout.append(atTheEnd(answers));
  document.body.append(handout);
  const { latexTypesetter } = notebook.rendermime;
  if (latexTypesetter) handout.querySelectorAll('.nlm-to-typeset').forEach(part => latexTypesetter.typeset(part));
}

function atTheEnd(answers) {
  const end = document.createElement('section');
  end.className = 'nlm-at-the-end';
  end.appendChild(document.createElement('h2')).textContent = 'Answers';
  answers.forEach(({ closed, title }, i) => {
    const heading = end.appendChild(document.createElement('h4'));
    heading.append(`Number ${i + 1} · `, title);
    const part = end.appendChild(document.createElement('div'));
    part.className = 'nlm-to-typeset';
    closed.querySelector('summary')?.remove();
    part.append(...closed.childNodes);
  });
  return end;
}

/* Build it and open the browser's print dialogue, which also saves a PDF. */
export async function printHandout(panel) {
  const { notebookConfig } = panel.content;
  panel.content.notebookConfig = { ...notebookConfig, windowingMode: 'none' }; // every cell is drawn
  await new Promise(drawn => setTimeout(drawn, 300));
  buildHandout(panel);
  await new Promise(typeset => setTimeout(typeset, 300));
  window.addEventListener('afterprint', dropHandout, { once: true });
  window.print();
  panel.content.notebookConfig = notebookConfig;
}
