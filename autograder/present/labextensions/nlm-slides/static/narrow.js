/* In a narrow window a picture shrinks until its smallest letters have about nine pixels; then it is scrolled in its own box. Here
it is told how small it may become; look.css does the rest, and lets it shrink further while presenting and on paper. */

const READABLE = 8.8;
const SMALLEST = 14; // in a stored drawing; matplotlib says its own (lectures.show.picture)
const PICTURES = `.jp-OutputArea-output :is(svg[viewBox][aria-label]:not(svg svg), img[data-letters]), .jp-RenderedMarkdown img[src*='.svg']`;

function smallestLetters(picture) {
  if (picture.tagName === 'IMG') return Number(picture.dataset.letters) || SMALLEST;
  const sizes = [...picture.querySelectorAll('text')].map(text => parseFloat(text.getAttribute('font-size')));
  return Math.min(...sizes.filter(size => size > 0), Infinity);
}

function limit(picture) {
  const { naturalWidth, viewBox, style } = picture;
  const wide = naturalWidth || (viewBox ? viewBox.baseVal.width : 0);
  const share = Math.min(1, READABLE / smallestLetters(picture));
  if (!wide || !share) return;
  if (picture.matches('.jp-RenderedMarkdown :not(p) > img, .jp-RenderedMarkdown > img')) {
    const box = document.createElement('p');
    picture.replaceWith(box);
    box.append(picture);
  }
  style.setProperty('--nlm-least-width', `${Math.round(share * wide)}px`);
  if (viewBox) style.setProperty('--nlm-least-height', `${Math.round(share * viewBox.baseVal.height)}px`);
}

/* In all notebooks, what is drawn or loaded from now on. */
export function keepReadable() {
  document.addEventListener('load', ({ target }) => target.matches && target.matches(PICTURES) && limit(target), true);
  new MutationObserver(changes => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.nodeType === 1) (node.matches(PICTURES) ? [node] : node.querySelectorAll(PICTURES)).forEach(limit);
  }).observe(document.body, { childList: true, subtree: true });
}
