/**
 * The list of completions next to the caret of a text area: a listbox whose active option `aria-activedescendant`
 * names, while the focus stays in the text.
 */
import { caretPosition } from './caret_position.ts';

/** Format of the service's response: `pages/markdown/complete_references.ts`. */
export type Completion = { insert: string; text: string; hint?: string; color?: string };

const listId = 'completions';
const gap = 4;

const makeOption = ({ text, hint, color }: Completion, index: number): HTMLElement => {
  const option = document.createElement('li');
  option.id = `${listId}_${index}`;
  option.setAttribute('role', 'option');
  option.dataset['index'] = String(index);
  if (color !== undefined) {
    const swatch = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.backgroundColor = color;
    option.append(swatch);
  }
  const name = document.createElement('span');
  name.className = 'name';
  name.textContent = text;
  option.append(name);
  if (hint !== undefined) {
    const more = document.createElement('span');
    more.className = 'muted';
    more.textContent = hint;
    option.append(' ', more);
  }
  return option;
};

/** Adds an empty live region: screen readers announce changes only of existing elements. */
export const addStatus = (editor: Element): Element => {
  const existing = editor.querySelector('.completion-status');
  if (existing !== null) return existing;
  const status = document.createElement('p');
  status.className = 'visually-hidden completion-status';
  status.setAttribute('role', 'status');
  editor.append(status);
  return status;
};

/** Announces the number of completions, since the focus does not move. */
const announce = (editor: Element, text: string): void => {
  addStatus(editor).textContent = text;
};

const place = (list: HTMLElement, area: HTMLTextAreaElement, start: number): void => {
  const { left, top, bottom } = caretPosition(area, start);
  const { offsetWidth: width, offsetHeight: height } = list;
  const isBelow = bottom + gap + height <= innerHeight || top < height + gap;
  list.style.left = `${Math.max(gap, Math.min(left, document.documentElement.clientWidth - width - gap))}px`;
  list.style.top = `${isBelow ? bottom + gap : top - gap - height}px`;
};

/** An open list of completions. @property start index in the text at which the completed word starts */
export type CompletionList = {
  area: HTMLTextAreaElement;
  start: number;
  move: (step: 1 | -1) => void;
  active: () => Completion | undefined;
  replace: () => void;
  close: () => void;
};

/**
 * Opens the list.
 * @param target.isPreselected makes the first option active; otherwise an arrow key does
 * @param take called with the option that was clicked
 */
export const openList = (
  { area, start, isPreselected }: { area: HTMLTextAreaElement; start: number; isPreselected: boolean },
  options: readonly Completion[],
  take: (option: Completion) => void,
): CompletionList => {
  const editor = area.closest('.markdown-editor') ?? document.body;
  const list = document.createElement('ul');
  list.id = listId;
  list.className = 'completions';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Completions');
  // Uses the top layer, because ancestors clip overflow.
  list.popover = 'manual';
  list.append(...options.map(makeOption));
  let at = -1;
  const activate = (index: number): void => {
    at = index;
    [...list.children].forEach((one, place) => one.setAttribute('aria-selected', String(place === at)));
    list.children[at]?.scrollIntoView({ block: 'nearest' });
    area.setAttribute('aria-activedescendant', `${listId}_${at}`);
  };
  // Keeps the focus in the text.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    const option = options[Number((target as Element).closest<HTMLElement>('li')?.dataset['index'])];
    if (option !== undefined) take(option);
  });
  editor.append(list);
  list.showPopover();
  place(list, area, start);
  area.setAttribute('aria-autocomplete', 'list');
  area.setAttribute('aria-haspopup', 'listbox');
  area.setAttribute('aria-controls', listId);
  if (isPreselected) activate(0);
  announce(editor, options.length === 1 ? '1 completion' : `${options.length} completions`);
  return {
    area,
    start,
    move: (step) =>
      activate(at === -1 && step === -1 ? options.length - 1 : (at + step + options.length) % options.length),
    active: () => options[at],
    replace: () => place(list, area, start),
    close: () => {
      list.remove();
      for (const name of ['autocomplete', 'haspopup', 'controls', 'activedescendant'])
        area.removeAttribute(`aria-${name}`);
      announce(editor, '');
    },
  };
};
