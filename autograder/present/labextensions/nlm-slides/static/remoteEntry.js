/* The course's own extension of JupyterLab: the presenter view (slides.js and what it imports), its handout, the lecturer's
notes, which are hidden in a notebook until they are asked for, the start page (welcome.js) and the look of lectures (look.css).

It is plain JavaScript with no package to install and no build: JupyterLab loads this file as it is. It is a
module-federation container (`init`, `get`) with one plugin, and needs of JupyterLab only `app.commands`, `app.shell` and
the public faces of a notebook panel. The other files here are ES modules that it imports. */

(function () {
  'use strict';

  const here = document.currentScript.src;
  const asked = new URLSearchParams(window.location.search);
  const first = ['present', 'welcome'].find(name => asked.has(name)); // what the page begins with

  let shared = {};
  const container = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      const { plugin } = await import(new URL('plugin.js', here).href);
      const from = async (name, part) => {
        try {
          const versions = Object.values(shared[name] || {});
          return versions.length ? (await versions[0].get())()[part] : null;
        } catch (error) {
          console.warn(`nlm-slides: JupyterLab has no ${part}`, error);
          return null;
        }
      };
      const parts = [from('@jupyterlab/apputils', 'ICommandPalette'), from('@lumino/widgets', 'Widget')];
      const [palette, Widget] = await Promise.all(parts);
      return () => ({ __esModule: true, default: plugin(palette, Widget, first) });
    },
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['nlm-slides'] = container;
})();
