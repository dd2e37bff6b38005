/**
 * Completes `@user`, `#issue`, `!merge request`, `~label`, `%milestone` and `:emoji:` while one types in a Markdown
 * field. Up and Down choose, Enter and Tab take, Escape closes the list.
 */
import { type Completion, type CompletionList, openList } from './completion_list.ts';
import { type Trigger, findTrigger } from './find_trigger.ts';
import { replaceText } from './replace_text.ts';

const delay = 100;

let open: CompletionList | null = null;
let timer = 0;
/** Number of the last request: answers to others come too late. */
let last = 0;

const close = (): void => {
  clearTimeout(timer);
  last += 1;
  open?.close();
  open = null;
};

const fetchCompletions = async (
  area: HTMLTextAreaElement,
  { kind, search }: Trigger,
): Promise<Completion[]> => {
  const query = new URLSearchParams({ kind, search });
  const project = area.closest<HTMLElement>('.markdown-editor')?.dataset['project'];
  if (project !== undefined) query.set('project', project);
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
  const found = await fetchCompletions(area, trigger);
  if (own !== last) return;
  close();
  const typed = area.value.slice(trigger.start, area.selectionStart);
  // What is complete leaves Enter and Tab to the text.
  const isDone = found.every(({ insert }) => insert === typed);
  if (isDone || document.activeElement !== area) return;
  open = openList({ area, start: trigger.start }, found, (option) => take(area, option));
};

const update = (area: HTMLTextAreaElement): void => {
  clearTimeout(timer);
  const trigger = findTrigger(area);
  if (trigger === null) return close();
  timer = window.setTimeout(() => void show(area, trigger).catch(close), delay);
};

const takeActive = ({ area, active }: CompletionList): void => {
  const option = active();
  if (option !== undefined) take(area, option);
};

const actions = new Map<string, (list: CompletionList) => void>([
  ['ArrowDown', (list) => list.move(1)],
  ['ArrowUp', (list) => list.move(-1)],
  ['Enter', takeActive],
  ['Tab', takeActive],
  ['Escape', close],
]);

/** Keys that move the caret away. */
const leaving = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown']);

const onKey = (event: KeyboardEvent): void => {
  const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
  if (open === null || event.target !== open.area || isComposing) return;
  const hasModifier = ctrlKey || metaKey || altKey || shiftKey;
  const action = hasModifier ? undefined : actions.get(key);
  if (action === undefined) return leaving.has(key) ? close() : undefined;
  // Other listeners would leave the field, or close a dialog.
  event.preventDefault();
  event.stopPropagation();
  action(open);
};

export const startCompletion = (): void => {
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
