/* A widget of a notebook that was saved and opened again has no model behind it. With a new kernel, JupyterLab writes "Error
displaying widget: model not found" in its place; without a kernel, "Loading widget..." for ever. Our widgets store HTML
beside it: their last picture, or a prediction with its answer closed. This shows that HTML instead. The notebook itself is
not changed; running the cell brings the widget back.

JupyterLab loads this file as it is: a module-federation container (`init`, `get`) with one plugin. */

(function () {
  'use strict';

  const LOST = 'Error displaying widget';
  const WAITING = 'Loading widget';
  const PATIENCE_MS = 2000; // a live widget takes less

  /* The stored HTML of the output that `node` shows, or nothing. */
  const storedHtml = (app, node) => {
    for (const panel of app.shell.widgets('main')) {
      if (!panel.node.contains(node) || !panel.content || !panel.content.widgets) continue;
      const cell = panel.content.widgets.find(one => one.node.contains(node));
      if (!cell || !cell.outputArea) return null;
      const index = cell.outputArea.widgets.findIndex(one => one.node.contains(node));
      const output = index < 0 ? null : cell.outputArea.model.get(index);
      const html = output && output.data['text/html'];
      return html ? { html: Array.isArray(html) ? html.join('') : html, panel } : null;
    }
    return null;
  };

  const show = (app, node) => {
    const found = storedHtml(app, node);
    if (!found) return;
    const stored = document.createElement('div'); // a widget that arrives after all takes its place
    stored.className = 'jp-RenderedHTMLCommon nlm-static';
    stored.innerHTML = found.html;
    node.replaceChildren(stored);
    const typesetter = found.panel.content.rendermime.latexTypesetter;
    if (typesetter) typesetter.typeset(stored);
  };

  const plugin = {
    id: 'nlm-static:plugin',
    autoStart: true,
    activate: app => {
      const replace = words =>
        [...document.querySelectorAll('.jp-OutputArea-output')]
          .filter(one => one.textContent.startsWith(words))
          .forEach(one => show(app, one));
      let timer = null;
      new MutationObserver(changes => {
        const touched = changes.map(change => change.target.parentElement || change.target);
        const says = words => touched.some(one => (one.textContent || '').includes(words));
        if (says(LOST)) replace(LOST);
        if (says(WAITING)) {
          clearTimeout(timer);
          timer = setTimeout(replace, PATIENCE_MS, WAITING);
        }
      }).observe(document.body, { childList: true, characterData: true, subtree: true });
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['nlm-static'] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
