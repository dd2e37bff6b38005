/** Reviewing in the Changes tab of a merge request, by keyboard and without leaving the page. */
import { quoteSelection } from '../writing/quote_selection.ts';
import type { Action } from '../shortcut_help.ts';
import { startComments } from './line_comments.ts';
import { currentCard, focusCard, startFiles, stepFile } from './changed_files.ts';
import { startLiveThreads } from './live_threads.ts';
import { startInline, submitInline } from './inline_forms.ts';
import { startThreadSteps, stepThread } from './step_thread.ts';

/** The Changes tab of a merge request. */
const isReview = (): boolean => document.querySelector('#changes_bar') !== null;

/** A page of changed files: also of a commit or a comparison. */
const hasFiles = (): boolean => document.querySelector('.diff-file') !== null;

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

/** Steps through unresolved threads, in the tab and in the timeline of the overview. */
const threadShortcuts: [string, Action][] = [
  ['n', ['Next unresolved thread', () => stepThread(1)]],
  ['p', ['Previous unresolved thread', () => stepThread(-1)]],
];

/** Returns the shortcuts of the page. */
export const reviewShortcuts = (): [string, Action][] => {
  if (document.querySelector('[data-comments]') !== null) return threadShortcuts;
  if (!isReview() && !hasFiles()) return [];
  const next: Action = ['Next file', () => stepFile(1)];
  const previous: Action = ['Previous file', () => stepFile(-1)];
  const files: [string, Action][] = [
    [']', next],
    ['j', next],
    ['[', previous],
    ['k', previous],
    [';', ['Fold or unfold all files', foldAll]],
  ];
  if (!isReview()) return files;
  return [
    ...files,
    ...threadShortcuts,
    ['r', ['Reply to the thread, with the selected text as a quote', reply]],
    ['v', ['Mark the file as viewed and go to the next', () => void viewAndStep()]],
  ];
};

export const startReview = (): void => {
  startThreadSteps();
  if (!isReview() && !hasFiles()) return;
  startInline();
  startFiles();
  if (isReview() || document.querySelector('#comment_template') !== null) startComments();
  if (isReview()) startLiveThreads();
};
