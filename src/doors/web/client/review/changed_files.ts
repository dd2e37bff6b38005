/** The files of the Changes tab: loads further parts before they are reached, filters the tree, marks the current file. */
import { partShown } from '../page_parts.ts';

const cards = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.diff-file')];

/** Height of what sticks to the top of the window. */
const stickyHeight = 120;

/** Returns the file being read: the file with the focus, otherwise the file at the top of the window. */
export const currentCard = (): HTMLElement | null => {
  const files = cards();
  const focused = document.activeElement?.closest<HTMLElement>('.diff-file') ?? null;
  return focused ?? files.findLast((card) => card.getBoundingClientRect().top <= stickyHeight) ?? null;
};

export const focusCard = (card: HTMLElement | undefined): void => {
  if (card === undefined) return;
  card.scrollIntoView({ block: 'start' });
  card.querySelector<HTMLElement>('h2 a')?.focus({ preventScroll: true });
};

/** Goes to the next or previous file. */
export const stepFile = (step: 1 | -1): void => {
  const files = cards();
  const current = currentCard();
  const at = current === null ? -1 : files.indexOf(current);
  focusCard(at === -1 ? files[0] : files[at + step]);
};

const loadMore = async (more: HTMLElement): Promise<void> => {
  const answer = await fetch(more.dataset['more'] ?? '', { headers: { accept: 'text/html' } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const fresh = page.querySelectorAll('#files > .diff-file');
  document.querySelector('#files')?.append(...[...fresh].map((card) => document.adoptNode(card)));
  const next = page.querySelector<HTMLElement>('[data-more]');
  if (next === null) more.remove();
  else {
    const adopted = document.adoptNode(next);
    more.replaceWith(adopted);
    watchMore(adopted);
  }
  partShown();
};

const watchMore = (more: HTMLElement): void => {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      // Without an answer, the link stays.
      void loadMore(more).catch(() => undefined);
    },
    { rootMargin: '3000px' },
  );
  observer.observe(more);
};

const filterTree = (input: HTMLInputElement): void => {
  const words = input.value.trim().toLowerCase();
  const items = [...(input.closest('.file-tree')?.querySelectorAll<HTMLElement>('li') ?? [])];
  // Inner items first: a folder is hidden if all of its items are.
  for (const item of items.toReversed()) {
    const { path } = item.dataset;
    item.hidden =
      path === undefined
        ? [...item.querySelectorAll<HTMLElement>('li')].every(({ hidden }) => hidden)
        : !path.toLowerCase().includes(words);
  }
  if (words === '') return;
  for (const folder of input.closest('.file-tree')?.querySelectorAll('details') ?? []) folder.open = true;
};

const markCurrent = (): void => {
  const id = currentCard()?.id ?? cards()[0]?.id;
  for (const item of document.querySelectorAll<HTMLElement>('.file-tree [data-file]')) {
    const link = item.querySelector('a');
    if (item.dataset['file'] === id) link?.setAttribute('aria-current', 'true');
    else link?.removeAttribute('aria-current');
  }
};

export const startFiles = (): void => {
  for (const more of document.querySelectorAll<HTMLElement>('[data-more]')) watchMore(more);
  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches('[data-filter-tree]')) filterTree(target);
  });
  let isWaiting = false;
  const update = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      markCurrent();
    });
  };
  addEventListener('scroll', update, { passive: true });
  document.addEventListener('focusin', update);
  update();
};
