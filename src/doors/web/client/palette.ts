/**
 * The command palette: a dialog over the page `/-/jump`, whose results it shows while the user types. Without scripts,
 * the button of the top bar opens that page.
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

type Parts = {
  dialog: HTMLDialogElement;
  input: HTMLInputElement;
  results: HTMLElement;
  /** Announces how many results there are. */
  status: HTMLElement;
};

const makeDialog = (): Parts => {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Search or jump to');
  const input = document.createElement('input');
  input.className = 'search-input';
  input.placeholder = 'Project, #issue, !merge request, or a file of this project';
  input.setAttribute('aria-label', 'Search or jump to');
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-controls', 'palette-results');
  const results = document.createElement('div');
  results.id = 'palette-results';
  results.className = 'results';
  const status = document.createElement('p');
  status.className = 'visually-hidden';
  status.setAttribute('role', 'status');
  dialog.append(input, results, status);
  document.body.append(dialog);
  return { dialog, input, results, status };
};

let parts: Parts | undefined;

/** The options: links, and buttons of forms that change something. */
const links = (results: HTMLElement): HTMLElement[] => [
  ...results.querySelectorAll<HTMLElement>('a, form > button'),
];

/** Forms redirect to the page on which the palette is open. */
const prepareForms = (results: HTMLElement): void => {
  for (const form of results.querySelectorAll('form')) form.setAttribute('role', 'presentation');
  for (const field of results.querySelectorAll<HTMLInputElement>('input[name="return_to"]'))
    field.value = location.pathname + location.search;
};

/** Selects the next link, which the field names as its active one: the focus stays in the field. */
const select = ({ input, results }: Parts, step: number): void => {
  const options = links(results);
  const at = options.findIndex((link) => link.ariaSelected === 'true');
  const next = options[(at + step + options.length) % options.length];
  for (const link of options) link.ariaSelected = String(link === next);
  if (next === undefined) input.removeAttribute('aria-activedescendant');
  else input.setAttribute('aria-activedescendant', next.id);
  next?.scrollIntoView({ block: 'nearest' });
};

/** Makes a group of options of each heading and the links and forms after it. */
const toGroups = (fresh: Element): HTMLElement[] => {
  const groups: HTMLElement[] = [];
  for (const heading of fresh.querySelectorAll('h2')) {
    const group = document.createElement('div');
    heading.id = `palette-group-${groups.length}`;
    heading.setAttribute('role', 'presentation');
    group.setAttribute('role', 'group');
    group.setAttribute('aria-labelledby', heading.id);
    let next = heading.nextElementSibling;
    for (; next?.tagName === 'A' || next?.tagName === 'FORM'; next = heading.nextElementSibling)
      group.append(next);
    group.prepend(heading);
    groups.push(group);
  }
  return groups;
};

/** Shows results as the list box of the field. */
const show = (shown: Parts, fresh: Element): void => {
  const { input, results, status } = shown;
  const groups = toGroups(document.importNode(fresh, true));
  const isFound = groups.length > 0;
  results.replaceChildren(...(isFound ? groups : [fresh.textContent.trim()]));
  prepareForms(results);
  links(results).forEach((link, at) => {
    link.id = `palette-option-${at}`;
    link.setAttribute('role', 'option');
    link.tabIndex = -1;
  });
  // A list box needs at least one option.
  if (isFound) results.setAttribute('role', 'listbox');
  else results.removeAttribute('role');
  results.ariaLabel = isFound ? 'Results' : null;
  input.setAttribute('aria-expanded', String(isFound));
  const count = links(results).length;
  status.textContent = count === 0 ? 'No results' : count === 1 ? '1 result' : `${count} results`;
  select(shown, 1);
};

const build = (): Parts => {
  const made = makeDialog();
  const { dialog, input, results } = made;
  let timer = 0;
  let last = 0;
  const update = async (): Promise<void> => {
    last += 1;
    const mine = last;
    const fresh = await fetchResults(input.value);
    if (mine !== last || fresh === null) return;
    show(made, fresh);
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void update(), delay);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      select(made, event.key === 'ArrowDown' ? 1 : -1);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      (links(results).find((link) => link.ariaSelected === 'true') ?? links(results)[0])?.click();
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
