/** Reviewing in the Changes tab of a merge request, by keyboard and without leaving the page. */
import { quoteSelection } from '../writing/quote_selection.ts';
import type { Action } from '../shortcut_help.ts';
import { startComments } from './line_comments.ts';
import { currentCard, focusCard, startFiles, stepFile } from './changed_files.ts';
import { startLiveThreads } from './live_threads.ts';
import { startInline, submitInline } from './inline_forms.ts';

const isReview = (): boolean => document.querySelector('#changes_bar') !== null;

/** Opens the fold of a file, so that what is in it can be focused. */
const unfold = (element: HTMLElement): void => {
  const fold = element.closest('.diff-file')?.querySelector<HTMLInputElement>('.fold');
  if (fold?.checked === true) fold.checked = false;
};

const isBefore = (first: Element, second: Element): boolean =>
  (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

/** Goes to the next or previous unresolved thread after the focused element. */
const stepThread = (step: 1 | -1): void => {
  const threads = [...document.querySelectorAll<HTMLElement>('[data-unresolved]')];
  const { activeElement } = document;
  const from = activeElement === document.body ? null : activeElement;
  const here = from?.closest<HTMLElement>('[data-unresolved]') ?? from;
  const others = threads.filter((thread) => thread !== here);
  const next =
    step === 1
      ? (others.find((thread) => here === null || isBefore(here, thread)) ?? threads[0])
      : (others.findLast((thread) => here === null || isBefore(thread, here)) ?? threads.at(-1));
  if (next === undefined) return;
  unfold(next);
  next.scrollIntoView({ block: 'center' });
  next.focus({ preventScroll: true });
};

/** Marks the current file as viewed, and goes to the next one; a viewed file is unmarked and stays. */
const viewAndStep = async (): Promise<void> => {
  const card = currentCard() ?? document.querySelector<HTMLElement>('.diff-file');
  const form = card?.querySelector<HTMLFormElement>('form[data-viewed]');
  if (!card || !form) return;
  const isViewed = form.querySelector('[aria-pressed=true]') !== null;
  const fresh = await submitInline(form, null);
  if (fresh === null) return;
  const next = fresh.nextElementSibling;
  focusCard(!isViewed && next instanceof HTMLElement ? next : fresh);
};

/** Returns the thread that has the selected text, or the focus. */
const currentThread = (): Element | null => {
  const node = getSelection()?.anchorNode ?? null;
  const start = node instanceof Element ? node : node?.parentElement;
  const selected = getSelection()?.isCollapsed === false ? start?.closest('.thread-card') : null;
  return selected ?? document.activeElement?.closest('.thread-card') ?? null;
};

/** Opens the reply to the current thread, with the selected text as a quote. */
const reply = (): void => {
  const form = currentThread()?.querySelector<HTMLDetailsElement>('details.reply:has([name=discussion_id])');
  const area = form?.querySelector('textarea');
  if (!form || !area) return;
  form.open = true;
  quoteSelection(area);
  area.focus();
};

/** Folds all files, or unfolds them if all are folded. */
const foldAll = (): void => {
  const folds = [...document.querySelectorAll<HTMLInputElement>('.diff-file .fold')];
  const isOpen = folds.some(({ checked }) => !checked);
  for (const fold of folds) fold.checked = isOpen;
};

/** Returns the shortcuts of the tab; none elsewhere. */
export const reviewShortcuts = (): [string, Action][] => {
  if (!isReview()) return [];
  const next: Action = ['Next file', () => stepFile(1)];
  const previous: Action = ['Previous file', () => stepFile(-1)];
  return [
    [']', next],
    ['j', next],
    ['[', previous],
    ['k', previous],
    ['n', ['Next unresolved thread', () => stepThread(1)]],
    ['p', ['Previous unresolved thread', () => stepThread(-1)]],
    ['r', ['Reply to the thread, with the selected text as a quote', reply]],
    ['v', ['Mark the file as viewed and go to the next', () => void viewAndStep()]],
    [';', ['Fold or unfold all files', foldAll]],
  ];
};

export const startReview = (): void => {
  if (!isReview()) return;
  startInline();
  startComments();
  startFiles();
  startLiveThreads();
};
