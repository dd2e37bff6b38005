/**
 * The command palette: a dialog over the page `/-/jump`, whose results it shows as one types. Without scripts, the
 * button of the top bar leads to that page.
 */
const delay = 120;

/** Path of the project or group of the page, in which files and numbers are searched. */
const placeOfPage = (): string => document.body.dataset['home'] ?? '';

const fetchResults = async (words: string): Promise<Element | null> => {
  const query = new URLSearchParams({ q: words, place: placeOfPage() });
  const answer = await fetch(`/-/jump?${query.toString()}`, { headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return page.querySelector('#results');
};

const makeDialog = (): { dialog: HTMLDialogElement; input: HTMLInputElement; results: HTMLElement } => {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Search or jump to');
  const input = document.createElement('input');
  input.className = 'search-input';
  input.placeholder = 'Project, #issue, !merge request, or a file of this project';
  input.setAttribute('aria-label', 'Search or jump to');
  input.setAttribute('aria-controls', 'palette-results');
  const results = document.createElement('div');
  results.id = 'palette-results';
  results.className = 'results';
  dialog.append(input, results);
  document.body.append(dialog);
  return { dialog, input, results };
};

let parts: ReturnType<typeof makeDialog> | undefined;

const links = (results: HTMLElement): HTMLAnchorElement[] => [...results.querySelectorAll('a')];

const select = (results: HTMLElement, step: number): void => {
  const all = links(results);
  const at = all.findIndex((link) => link.hasAttribute('aria-current'));
  const next = all[(at + step + all.length) % all.length];
  for (const link of all) link.removeAttribute('aria-current');
  next?.setAttribute('aria-current', 'true');
  next?.scrollIntoView({ block: 'nearest' });
};

const build = (): ReturnType<typeof makeDialog> => {
  const made = makeDialog();
  const { dialog, input, results } = made;
  let timer = 0;
  let last = 0;
  const update = async (): Promise<void> => {
    last += 1;
    const mine = last;
    const fresh = await fetchResults(input.value);
    if (mine !== last || fresh === null) return;
    results.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
    select(results, 1);
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void update(), delay);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      select(results, event.key === 'ArrowDown' ? 1 : -1);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      (links(results).find((link) => link.hasAttribute('aria-current')) ?? links(results)[0])?.click();
    }
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  void update();
  return made;
};

/** Opens the palette. */
export const openPalette = (): void => {
  parts ??= build();
  parts.dialog.showModal();
  parts.input.select();
};

/** Opens the palette by its button and by Ctrl+K. */
export const startPalette = (): void => {
  document.addEventListener('click', (event) => {
    const isButton = (event.target as Element).closest('[data-palette]') !== null;
    if (!isButton || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    openPalette();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    openPalette();
  });
};
