/* The course's own extension of JupyterLab: the presenter view (slides.js and what it imports), its handout, the lecturer's
notes, which are hidden in a notebook until they are asked for, and the look of lectures (look.css).

It is plain JavaScript with no package to install and no build: JupyterLab loads this file as it is. It is a
module-federation container (`init`, `get`) with one plugin, and needs of JupyterLab only `app.commands`, `app.shell` and
the public faces of a notebook panel. The other files here are ES modules that it imports. */

(function () {
  'use strict';

  const here = document.currentScript.src;
  const wantsToStart = new URLSearchParams(window.location.search).has('present');

  let shared = {};
  const container = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      const { plugin } = await import(new URL('plugin.js', here).href);
      let palette = null;
      try {
        const versions = Object.values(shared['@jupyterlab/apputils'] || {});
        palette = versions.length ? (await versions[0].get())().ICommandPalette : null;
      } catch (error) {
        console.warn('nlm-slides: not in the command palette', error);
      }
      return () => ({ __esModule: true, default: plugin(palette, wantsToStart) });
    },
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['nlm-slides'] = container;
})();
