/**
 * Tools of fields for Markdown and code, a separate module that `load_editor_tools.ts` loads: format buttons, keys that
 * continue lists and indent, completion and templates.
 */
import { startCompletion } from './complete_references.ts';
import { startEditingKeys } from './editing_keys.ts';
import { type Format, formatText } from './format_text.ts';

export { insertTemplate } from './use_template.ts';

const areaOf = (element: Element): HTMLTextAreaElement | null =>
  element.closest('.markdown-editor')?.querySelector('textarea') ?? null;

/** Formats the text of the field to which a button belongs. */
export const formatBy = (button: HTMLElement): void => {
  const area = areaOf(button);
  if (area !== null && !area.hidden) formatText(area, button.dataset['format'] as Format);
};

/** Formats by their keys, with Ctrl. */
const keys = new Map<string, Format>([
  ['b', 'bold'],
  ['i', 'italic'],
]);

const formatByKey = (event: KeyboardEvent): void => {
  const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event;
  const format = keys.get(key);
  if (format === undefined || ctrlKey === metaKey || shiftKey || altKey) return;
  if (!(target instanceof HTMLTextAreaElement) || areaOf(target) !== target) return;
  event.preventDefault();
  formatText(target, format);
};

const steps = new Map([
  ['ArrowLeft', -1],
  ['ArrowRight', 1],
  ['Home', -Infinity],
  ['End', Infinity],
]);

/** Moves the focus between the buttons of a toolbar, which is one stop of the Tab key. */
const moveInToolbar = (event: KeyboardEvent): void => {
  const step = steps.get(event.key);
  const button = (event.target as Element).closest<HTMLElement>('[data-format]');
  if (step === undefined || button === null) return;
  const buttons = [...(button.parentElement?.querySelectorAll<HTMLElement>('[data-format]') ?? [])];
  const at = Math.min(Math.max(buttons.indexOf(button) + step, 0), buttons.length - 1);
  buttons.forEach((one, index) => (one.tabIndex = index === at ? 0 : -1));
  buttons[at]?.focus();
  event.preventDefault();
};

document.addEventListener('keydown', formatByKey);
document.addEventListener('keydown', moveInToolbar);
startCompletion();
startEditingKeys();
