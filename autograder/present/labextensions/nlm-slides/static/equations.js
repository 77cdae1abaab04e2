/* An equation that is wider than its column is set smaller; below this share of its size it is scrolled instead. */

const SMALLEST = 0.75;

function fit(equation) {
  const inside = equation.firstElementChild;
  const column = equation.closest('.jp-RenderedMarkdown, .jp-OutputArea-output');
  if (!inside || !column || !column.clientWidth) return;
  inside.style.fontSize = '';
  const block = equation.getAttribute('display') === 'true';
  const room = block ? equation.clientWidth : column.clientWidth - 16;
  const wide = block ? equation.scrollWidth : inside.getBoundingClientRect().width;
  if (wide > room + 1) inside.style.fontSize = `${Math.max(SMALLEST, (0.99 * room) / wide) * 100}%`;
}

/* Fit the equations of all notebooks, now and whenever their columns change. While presenting, look.css gives all type its size. */
export function fitEquations() {
  const columns = new ResizeObserver(entries => {
    for (const { target } of entries) target.querySelectorAll('mjx-container').forEach(fit);
  });
  new MutationObserver(changes => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) {
        const equation = node.nodeType === 1 && (node.matches('mjx-container') ? node : node.querySelector('mjx-container'));
        const column = equation && equation.closest('.jp-RenderedMarkdown, .jp-OutputArea-output');
        if (!column) continue;
        columns.unobserve(column); // observed anew, it reports at once
        columns.observe(column);
      }
  }).observe(document.body, { childList: true, subtree: true });
}
