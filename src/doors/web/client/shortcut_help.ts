/** The dialog that lists the keyboard shortcuts of the page. */
/** Name of a shortcut, and its action. */
export type Action = readonly [name: string, run: () => void];

/** Actions by their keys. */
export type Actions = Map<string, Action>;

/** Text of the shortcut in the list. */
const nameOf = (element: HTMLElement): string =>
  element.dataset['keyName'] ?? element.getAttribute('aria-label') ?? element.textContent.trim();

const make = <N extends keyof HTMLElementTagNameMap>(
  name: N,
  ...content: (string | Node)[]
): HTMLElementTagNameMap[N] => {
  const element = document.createElement(name);
  element.append(...content);
  return element;
};

/** Separates the keys of a sequence: `g` `i`. */
const rowFor = (keys: string, name: string): HTMLElement => {
  const parts = keys.split(' ').flatMap((key, at) => [...(at > 0 ? [' '] : []), make('kbd', key)]);
  return make('div', make('dt', ...parts), make('dd', name));
};

const listFor = (names: ReadonlyMap<string, string>): HTMLElement => {
  const list = make('dl', ...[...names].map(([keys, name]) => rowFor(keys, name)));
  list.className = 'keys';
  return list;
};

/** Returns the shortcuts of elements, by key; for duplicate keys, the first element is used. */
const collect = (within: string, known: ReadonlyMap<string, string>): Map<string, string> => {
  const names = new Map<string, string>();
  for (const element of document.querySelectorAll<HTMLElement>(`${within} [data-key]`)) {
    const keys = element.dataset['key'] ?? '';
    if (!known.has(keys) && !names.has(keys)) names.set(keys, nameOf(element));
  }
  return names;
};

const headed = (title: string, names: ReadonlyMap<string, string>): HTMLElement[] =>
  names.size === 0 ? [] : [make('h3', title), listFor(names)];

export const showShortcuts = (actions: Actions): void => {
  const own = new Map([...actions].map(([keys, [name]]) => [keys, name]));
  own.set('Ctrl Enter', 'Submit the form of a text field');
  own.set('Ctrl Shift P', 'Preview a Markdown field');
  own.set('Ctrl B', 'Bold in a Markdown field');
  own.set('Ctrl I', 'Italic in a Markdown field');
  own.set('Tab', 'Indent a list or code in its field; Escape, then Tab leaves it');
  own.set('Escape', 'Leave a field or close a menu');
  own.set('Ctrl K', 'Search or jump to');
  const page = collect('main', own);
  const frame = collect('body', new Map([...own, ...page]));
  const dialog = make('dialog');
  dialog.className = 'panel';
  dialog.setAttribute('aria-labelledby', 'shortcuts');
  const title = make('h2', 'Keyboard shortcuts');
  title.id = 'shortcuts';
  const close = make('button', 'Close');
  close.className = 'small';
  close.addEventListener('click', () => dialog.close());
  const settings = make('a', 'Turn single-key shortcuts off');
  settings.href = '/profile/preferences';
  dialog.append(
    make('header', title, close),
    ...headed('This page', page),
    ...headed('Navigation', frame),
    ...headed('Everywhere', own),
    make('p', settings),
  );
  document.body.append(dialog);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.showModal();
};
