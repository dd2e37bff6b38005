/**
 * Keyboard shortcuts. Each follows a link of the page with `data-key`, such as `data-key="g i"`, opens a part, moves
 * the focus into a field, or runs an action. `?` lists the shortcuts of the page. Single keys are disabled by
 * `data-no-keys` on the body, and in fields.
 */
import { quoteSelection } from './writing/quote_selection.ts';
import { type Actions, showShortcuts } from './shortcut_help.ts';

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select'));

const maxDelay = 1000;

/** Finds the element of a shortcut: elements of the content take precedence over elements of the frame. */
const findElement = (keys: string): HTMLElement | null => {
  const one = CSS.escape(keys);
  const selector = `[data-key="${one}"], [data-key-2="${one}"]`;
  return document.querySelector(`main :is(${selector})`) ?? document.querySelector(selector);
};

/** Opens a part of the page, and moves the focus into its first field. */
const openPart = (summary: HTMLElement): void => {
  const part = summary.closest('details');
  summary.click();
  if (part === null || !part.open) return;
  part.querySelector<HTMLElement>('input:not([type=hidden]), select, textarea, button')?.focus();
};

const follow = (element: HTMLElement): void => {
  if (element.tagName === 'SUMMARY') return openPart(element);
  if (!isField(element)) return element.click();
  if (element instanceof HTMLTextAreaElement) quoteSelection(element);
  element.focus();
};

/** Leaves a field on Escape, so that single keys work again. The first Escape in a search field clears it. */
const leaveField = ({ key, target }: KeyboardEvent): void => {
  if (key !== 'Escape' || !(target instanceof HTMLElement) || !isField(target)) return;
  const clears = target instanceof HTMLInputElement && target.type === 'search' && target.value !== '';
  if (!clears && target.closest('dialog') === null) target.blur();
};

export const startShortcuts = (actions: Actions): void => {
  actions.set('?', ['Show keyboard shortcuts', () => showShortcuts(actions)]);
  let first = '';
  let firstAt = 0;
  const run = (keys: string): boolean => {
    const action = actions.get(keys)?.[1];
    const element = action === undefined ? findElement(keys) : null;
    if (action !== undefined) action();
    else if (element !== null) follow(element);
    return action !== undefined || element !== null;
  };
  document.addEventListener('keydown', (event) => {
    leaveField(event);
    const { key, ctrlKey, metaKey, altKey, target, timeStamp } = event;
    if (ctrlKey || metaKey || altKey || key === 'Shift' || isField(target)) return;
    if (document.body.dataset['noKeys'] !== undefined || document.querySelector('dialog[open]') !== null)
      return;
    const both = timeStamp - firstAt < maxDelay ? `${first} ${key}` : key;
    [first, firstAt] = [key, timeStamp];
    if (run(both) || run(key)) event.preventDefault();
  });
};
