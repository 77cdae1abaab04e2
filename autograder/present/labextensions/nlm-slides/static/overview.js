/* All screens at a glance: a title and a small preview of each, by keyboard and by mouse. */

import { copyScreen, copyTitle, readScreens } from './copies.js';

const WIDE = 1920; // pixels of a screen in its preview, before it is made small

export class Overview {
  constructor(slides) {
    this.slides = slides;
    this.node = null;
  }

  open() {
    const { notebook, steps, at } = this.slides;
    this.node = document.body.appendChild(document.createElement('div'));
    this.node.id = 'nlm-overview';
    this.node.setAttribute('role', 'listbox');
    this.node.setAttribute('aria-label', this.slides.say('All screens of this lecture. Enter shows one, Escape goes back.'));
    const seen = new IntersectionObserver(entries => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        this.fill(target);
      }
    });
    this.screens = readScreens(notebook);
    this.cards = this.screens.map((screen, number) => {
      const card = this.node.appendChild(document.createElement('div'));
      card.className = 'nlm-card';
      card.tabIndex = -1;
      card.setAttribute('role', 'option');
      const preview = card.appendChild(document.createElement('div'));
      preview.className = 'nlm-preview';
      preview.inert = true;
      const title = card.appendChild(document.createElement('p'));
      title.append(`${number + 1} · `, copyTitle(screen));
      card.addEventListener('click', () => this.choose(number));
      card.addEventListener('focus', () => card.setAttribute('aria-selected', 'true'));
      card.addEventListener('blur', () => card.setAttribute('aria-selected', 'false'));
      card.dataset.screen = number;
      seen.observe(card);
      return card;
    });
    this.cards[steps[at].screen].focus();
    this.cards[steps[at].screen].scrollIntoView({ block: 'center' });
  }

  fill(card) {
    const preview = card.querySelector('.nlm-preview');
    const copy = copyScreen(this.slides.notebook, this.screens[Number(card.dataset.screen)]);
    copy.className = 'nlm-small';
    copy.style.width = `${WIDE}px`;
    copy.style.transform = `scale(${preview.clientWidth / WIDE})`;
    preview.append(copy);
  }

  close() {
    if (this.node) this.node.remove();
    this.node = null;
  }

  choose(number) {
    this.close();
    this.slides.show(this.slides.steps.findIndex(step => step.screen === number));
  }

  key(event) {
    const now = Math.max(0, this.cards.indexOf(document.activeElement));
    const columns = getComputedStyle(this.node).gridTemplateColumns.split(' ').length;
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    const to = {
      Home: 0,
      End: this.cards.length - 1,
      PageDown: Math.min(now + 3 * columns, this.cards.length - 1),
      PageUp: Math.max(now - 3 * columns, 0),
    };
    if (event.key === 'Tab') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === 'Enter' || event.key === ' ') this.choose(now);
    else if (event.key === 'Escape' || event.key === 'o') {
      this.close();
      this.slides.notebook.node.focus({ preventScroll: true });
    } else (this.cards[to[event.key] ?? now + (by[event.key] || 0)] || this.cards[now]).focus();
  }
}
