/** Moves the focus between the rows of a list, whose links have `data-row`, and acts on the row that has it. */
import { parsePage } from './fetch_page.ts';
import { partShown } from './page_parts.ts';

const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-row]')];

/** Returns the index of the row that has the focus; -1: none has it. */
const currentIndex = (): number =>
  links().findIndex((link) => link.closest('li')?.contains(document.activeElement) === true);

const move = (step: 1 | -1): void => {
  const [all, at] = [links(), currentIndex()];
  const next = at === -1 ? all.at(step === 1 ? 0 : -1) : all[at + step];
  next?.focus();
};

/** Returns the row that has the focus. */
const currentRow = (): Element | null => document.activeElement?.closest('li:has([data-row])') ?? null;

const open = (): void => currentRow()?.querySelector<HTMLElement>('[data-row]')?.click();

const select = (): void => currentRow()?.querySelector<HTMLElement>('[data-select]')?.click();

/** Submits the form of a row, replaces the list, and moves the focus to the row that is in its place now. */
const submitRow = async (form: HTMLFormElement): Promise<void> => {
  const at = currentIndex();
  const list = form.closest('[id]:has([data-row])');
  const body = new URLSearchParams([...new FormData(form)] as [string, string][]);
  const page = await parsePage(await fetch(form.action, { method: 'POST', body }));
  const fresh = list === null ? null : page.getElementById(list.id);
  if (list === null || fresh === null) return location.reload();
  list.replaceWith(document.adoptNode(fresh));
  partShown();
  (links()[at] ?? links().at(-1))?.focus();
};

const finish = (): void => {
  const form = currentRow()?.querySelector('[data-row-done]')?.closest('form') ?? null;
  if (form !== null) void submitRow(form).catch(() => form.submit());
};

type Shortcut = [string, readonly [string, () => void]];

/** Returns the shortcuts of the page's list; none without a list. */
export const rowShortcuts = (): Shortcut[] => {
  if (links().length === 0) return [];
  const has = (selector: string): boolean => document.querySelector(selector) !== null;
  return [
    ['j', ['Next row', () => move(1)]],
    ['k', ['Previous row', () => move(-1)]],
    ['o', ['Open the row', open]],
    ...(has('[data-select]') ? [['x', ['Select the row', select]] satisfies Shortcut] : []),
    ...(has('[data-row-done]') ? [['d', ['Mark the row as done', finish]] satisfies Shortcut] : []),
  ];
};
