/**
 * Fields `[data-filter]` name items by a selector, and hide items that do not contain the typed text. With
 * `data-ranked`, items are paths: paths that contain the letters in order remain, best first; with `data-opens-first`,
 * Enter opens the first. `data-cut` on the status means that the page does not list all files.
 */
import { rankPaths, toWords } from '../../../../code/repository/files/rank_path.ts';

const itemsOf = (field: HTMLInputElement): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>(field.dataset['filter'] ?? ''),
];

const filter = (items: readonly HTMLElement[], search: string): void => {
  const words = search.trim().toLowerCase();
  for (const item of items) item.hidden = words !== '' && !item.textContent.toLowerCase().includes(words);
};

/** Shows the number of visible files, and still says so if the page does not list all files. */
const writeCount = (shown: number, total: number): void => {
  const status = document.querySelector<HTMLElement>('[data-filter-status]');
  if (status === null) return;
  const count = shown === 1 ? '1 file' : `${shown} files`;
  const isCut = status.dataset['cut'] !== undefined;
  const of = shown === total ? '' : ` of the ${total} shown`;
  status.textContent = isCut
    ? `${count}${of}. Not all files are listed: type part of a path, and press Search.`
    : count;
};

/** @param items in their first order */
const rank = (items: readonly HTMLElement[], search: string): void => {
  const { items: shown } = rankPaths(items, toWords(search), ({ textContent }) => textContent.trim());
  const set = new Set(shown);
  for (const item of items) item.hidden = !set.has(item);
  items[0]?.parentElement?.append(...shown);
  writeCount(shown.length, items.length);
};

const openFirst = (event: KeyboardEvent, field: HTMLInputElement): void => {
  if (event.key !== 'Enter' || event.isComposing || field.value.trim() === '') return;
  const link = itemsOf(field)
    .find((item) => !item.hidden)
    ?.querySelector('a');
  if (!link) return;
  event.preventDefault();
  link.click();
};

export const startFilters = (): void => {
  // Fields are also added later, with a part of another page.
  document.addEventListener('input', ({ target }) => {
    const field = target instanceof HTMLInputElement ? target : null;
    if (field?.dataset['filter'] === undefined || field.dataset['ranked'] !== undefined) return;
    filter(itemsOf(field), field.value);
  });
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-filter]')) {
    const items = itemsOf(field);
    if (field.dataset['ranked'] !== undefined)
      field.addEventListener('input', () => rank(items, field.value));
    if (field.dataset['opensFirst'] !== undefined)
      field.addEventListener('keydown', (event) => openFirst(event, field));
  }
};
