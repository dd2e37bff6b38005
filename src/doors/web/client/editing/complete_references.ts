/**
 * Completes `@user`, `#issue`, `!merge request`, `~label`, `%milestone`, `:emoji:` and, at the start of a line, `/quick
 * action` while one types in a Markdown field. Up and Down choose, Enter and Tab take, Escape closes the list.
 */
import { type Completion, type CompletionList, addStatus, openList } from './completion_list.ts';
import { type Trigger, findTrigger } from './find_trigger.ts';
import { replaceText } from './replace_text.ts';

const delay = 100;

let open: CompletionList | null = null;
let timer = 0;
/** Number of the last request: answers to others come too late. */
let last = 0;
/** True if the text changed since the open list was requested. */
let isOutdated = false;

const close = (): void => {
  clearTimeout(timer);
  last += 1;
  open?.close();
  open = null;
  isOutdated = false;
};

const fetchCompletions = async (
  area: HTMLTextAreaElement,
  { kind, search }: Trigger,
): Promise<Completion[]> => {
  const query = new URLSearchParams({ kind, search });
  const { project, actions } = area.closest<HTMLElement>('.markdown-editor')?.dataset ?? {};
  if (project !== undefined) query.set('project', project);
  if (kind === 'command') {
    if (actions === undefined) return [];
    query.set('actions', actions);
  }
  // Participants of the record of the page come first.
  const [, noun, iid] = /\/(issues|merge_requests)\/(\d+)(?:\/|$)/.exec(location.pathname) ?? [];
  if (noun !== undefined && iid !== undefined) {
    query.set('noun', noun);
    query.set('iid', iid);
  }
  const answer = await fetch(`/-/completions?${query.toString()}`, {
    headers: { accept: 'application/json' },
  });
  return answer.ok ? ((await answer.json()) as Completion[]) : [];
};

const take = (area: HTMLTextAreaElement, { insert }: Completion): void => {
  const start = open?.start ?? area.selectionStart;
  close();
  replaceText(area, [start, area.selectionEnd], `${insert} `);
};

const show = async (area: HTMLTextAreaElement, trigger: Trigger): Promise<void> => {
  last += 1;
  const own = last;
  const completions = await fetchCompletions(area, trigger);
  if (own !== last) return;
  close();
  const typed = area.value.slice(trigger.start, area.selectionStart);
  // A complete text leaves Enter and Tab to the text area.
  const isDone = completions.every(({ insert }) => insert === typed);
  if (isDone || document.activeElement !== area) return;
  const { start, search } = trigger;
  // A lone sign may be meant as such: Enter after "100 %" starts a line.
  const isPreselected = search !== '' || trigger.kind === 'user';
  open = openList({ area, start, isPreselected }, completions, (option) => take(area, option));
};

const update = (area: HTMLTextAreaElement): void => {
  clearTimeout(timer);
  const trigger = findTrigger(area);
  if (trigger === null) return close();
  last += 1;
  isOutdated = true;
  timer = window.setTimeout(() => void show(area, trigger).catch(close), delay);
};

/** Takes the active option; without one, or with a list that no longer fits the text, the key is left to the text. */
const takeActive = ({ area, active }: CompletionList): boolean => {
  const option = isOutdated ? undefined : active();
  if (option === undefined) close();
  else take(area, option);
  return option !== undefined;
};

const move =
  (step: 1 | -1) =>
  (list: CompletionList): boolean => {
    list.move(step);
    return true;
  };

const closeList = (): boolean => {
  close();
  return true;
};

/** Key handlers of an open list. They return whether the key was used. */
const actions = new Map<string, (list: CompletionList) => boolean>([
  ['ArrowDown', move(1)],
  ['ArrowUp', move(-1)],
  ['Enter', takeActive],
  ['Tab', takeActive],
  ['Escape', closeList],
]);

/** Keys that move the caret away. */
const leaving = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown']);

const onKey = (event: KeyboardEvent): void => {
  const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
  if (open === null || event.target !== open.area || isComposing) return;
  const hasModifier = ctrlKey || metaKey || altKey || shiftKey;
  const action = hasModifier ? undefined : actions.get(key);
  if (action === undefined) return leaving.has(key) ? close() : undefined;
  if (!action(open)) return;
  // Other listeners would leave the field, or close a dialog.
  event.preventDefault();
  event.stopPropagation();
};

const prepare = (target: EventTarget | null): void => {
  const editor = target instanceof HTMLTextAreaElement ? target.closest('.markdown-editor') : null;
  if (editor !== null) addStatus(editor);
};

export const startCompletion = (): void => {
  prepare(document.activeElement);
  document.addEventListener('focusin', ({ target }) => prepare(target));
  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLTextAreaElement && target.closest('.markdown-editor') !== null) update(target);
  });
  document.addEventListener('keydown', onKey, true);
  document.addEventListener('focusout', close);
  document.addEventListener('pointerdown', ({ target }) => {
    if (target === open?.area) close();
  });
  for (const event of ['scroll', 'resize']) addEventListener(event, () => open?.replace(), true);
};
