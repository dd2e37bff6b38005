/** Shows issues similar to the typed title: an element `[data-similar]` contains the URL of the page that lists them. */
import { fetchPage } from '../fetch_page.ts';

/** Milliseconds without typing after which the service is asked. */
const delay = 400;
const shortest = 3;

const load = async (list: HTMLElement, field: HTMLInputElement): Promise<void> => {
  const title = field.value.trim();
  const query = new URLSearchParams({ title }).toString();
  const page = title.length < shortest ? null : await fetchPage(`${list.dataset['similar']}?${query}`);
  if (title !== field.value.trim()) return;
  list.replaceChildren(...(page?.getElementById(list.id)?.childNodes ?? []));
};

export const startSimilar = (): void => {
  let timer = 0;
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== 'title') return;
    const list = target.form?.querySelector<HTMLElement>('[data-similar]');
    if (list === null || list === undefined) return;
    clearTimeout(timer);
    // Without an answer, the list stays.
    timer = window.setTimeout(() => void load(list, target).catch(() => undefined), delay);
  });
};
