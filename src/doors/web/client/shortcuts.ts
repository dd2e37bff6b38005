/**
 * Keyboard shortcuts. Each follows a link of the page with `data-key`, such as `data-key="g i"`, or runs an action.
 * `?` lists those of the page. Single keys are off where the body says `data-no-keys`, and in fields.
 */
const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const maxDelay = 1000;

const linkFor = (keys: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-key="${CSS.escape(keys)}"], [data-key-2="${CSS.escape(keys)}"]`);

/** Text of the shortcut in the list. */
const nameOf = (element: HTMLElement): string =>
  element.dataset['keyName'] ?? element.getAttribute('aria-label') ?? element.textContent.trim();

const showHelp = (actions: ReadonlyMap<string, readonly [string, () => void]>): void => {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Keyboard shortcuts');
  const list = document.createElement('dl');
  list.className = 'keys';
  const add = (keys: string, name: string): void => {
    const [row, term, text] = [
      document.createElement('div'),
      document.createElement('dt'),
      document.createElement('dd'),
    ];
    const key = document.createElement('kbd');
    key.textContent = keys;
    term.append(key);
    text.textContent = name;
    row.append(term, text);
    list.append(row);
  };
  for (const [keys, [name]] of actions) add(keys, name);
  for (const element of document.querySelectorAll<HTMLElement>('[data-key]')) {
    add(element.dataset['key'] ?? '', nameOf(element));
  }
  dialog.append(list);
  document.body.append(dialog);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.showModal();
};

/** @param actions by key: a name and what it does */
export const startShortcuts = (actions: Map<string, readonly [string, () => void]>): void => {
  actions.set('?', ['Show keyboard shortcuts', () => showHelp(actions)]);
  let first = '';
  let firstAt = 0;
  const run = (keys: string): boolean => {
    const action = actions.get(keys)?.[1];
    const link = linkFor(keys);
    if (action === undefined && link === null) return false;
    action?.();
    if (action === undefined) {
      if (link?.matches('input, textarea, select') === true) link.focus();
      else link?.click();
    }
    return true;
  };
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, target, timeStamp } = event;
    if (ctrlKey || metaKey || altKey || isField(target)) return;
    if (document.body.dataset['noKeys'] !== undefined || document.querySelector('dialog[open]') !== null)
      return;
    const both = timeStamp - firstAt < maxDelay ? `${first} ${key}` : key;
    [first, firstAt] = [key, timeStamp];
    if (run(both) || run(key)) event.preventDefault();
  });
};
