/**
 * Enter, Tab and pasting in fields for Markdown and for code (`data-code-editor`). Escape lets the next Tab leave the
 * field, so that the keyboard is not trapped.
 */
import { continueCode, indentCode } from './code_editing.ts';
import { continueList, indentList } from './list_editing.ts';
import { pasteLink } from './paste_links.ts';

type Editing = {
  /** Returns whether the key was used. */
  enter: (area: HTMLTextAreaElement) => boolean;
  tab: (area: HTMLTextAreaElement, isOut: boolean) => boolean;
};

const markdown: Editing = { enter: continueList, tab: indentList };
const code: Editing = { enter: continueCode, tab: indentCode };

const editingOf = (target: EventTarget | null): Editing | null => {
  if (!(target instanceof HTMLTextAreaElement)) return null;
  if (target.dataset['codeEditor'] !== undefined) return code;
  return target.closest('.markdown-editor') === null ? null : markdown;
};

/** The field that the next Tab leaves. */
let released: EventTarget | null = null;

const onKey = (event: KeyboardEvent): void => {
  const { key, target, shiftKey, isComposing, defaultPrevented } = event;
  const editing = editingOf(target);
  if (editing === null || isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const isReleased = released === target;
  if (key !== 'Shift') released = key === 'Escape' ? target : null;
  if (defaultPrevented) return;
  const area = target as HTMLTextAreaElement;
  const isUsed =
    (key === 'Enter' && !shiftKey && editing.enter(area)) ||
    (key === 'Tab' && !isReleased && editing.tab(area, shiftKey));
  if (isUsed) event.preventDefault();
};

export const startEditingKeys = (): void => {
  document.addEventListener('keydown', onKey);
  document.addEventListener('paste', (event) => {
    if (editingOf(event.target) === markdown) pasteLink(event, event.target as HTMLTextAreaElement);
  });
};
