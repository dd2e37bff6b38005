/**
 * Adds the threads of others to an open Changes tab: `[data-threads]` contains a URL that returns them all, each with
 * its file and line. Text being typed is kept.
 */
import { isChanged, isInUse, keepVersion } from '../live/entry_versions.ts';
import { refreshOnChanges } from '../live/refresh_on_changes.ts';
import { removeEmpty } from './line_comments.ts';

const makeBox = (card: Element): Element => {
  const box = document.createElement('div');
  box.className = 'file-threads';
  card.querySelector('.diff-body')?.prepend(box);
  return box;
};

/** Makes a row below a line, after the threads that it has. */
const makeRow = (line: HTMLTableRowElement): Element => {
  const [row, cell] = [document.createElement('tr'), document.createElement('td')];
  row.className = 'thread';
  cell.colSpan = [...line.cells].reduce((count, { colSpan }) => count + colSpan, 0);
  row.append(cell);
  let last: Element = line;
  while (last.nextElementSibling?.matches('tr.thread') === true) last = last.nextElementSibling;
  last.after(row);
  return cell;
};

/** Shows a new thread at its line, or above the lines of its file. Returns whether the page has the file. */
const place = ({ file = '', line = '' }: DOMStringMap, thread: Element): boolean => {
  const card = document.getElementById(file);
  if (card === null) return false;
  const number = line === '' ? null : card.querySelector(`td.n a[href$="${file}_${line}"]`);
  const row = number?.closest('tr') ?? null;
  const holder = row === null ? (card.querySelector('.file-threads') ?? makeBox(card)) : makeRow(row);
  holder.append(thread);
  return true;
};

const replace = (shown: HTMLElement, fresh: HTMLElement): void => {
  const hadFocus = document.activeElement === shown;
  shown.replaceWith(fresh);
  if (hadFocus) fresh.focus({ preventScroll: true });
};

/** Updates the comments of a thread whose form is in use. */
const replaceTalk = (shown: Element, fresh: Element): void => {
  const [before, after] = [shown.querySelector('.thread-notes'), fresh.querySelector('.thread-notes')];
  if (before !== null && after !== null && !isInUse(before)) before.replaceWith(after);
};

const mergeOne = (holder: HTMLElement): boolean => {
  const fresh = holder.querySelector<HTMLElement>('.thread-card');
  if (fresh === null) return false;
  const shown = document.getElementById(fresh.id);
  if (shown !== null && !isChanged(shown, fresh)) return false;
  keepVersion(fresh);
  const adopted = document.adoptNode(fresh);
  if (shown === null) return place(holder.dataset, adopted);
  if (isInUse(shown)) replaceTalk(shown, adopted);
  else replace(shown, adopted);
  return true;
};

/** Removes threads that were deleted. */
const removeGone = (page: Document): boolean => {
  const gone = [...document.querySelectorAll('.diff-file .thread-card[id^=thread_]')].filter(
    (thread) => page.getElementById(thread.id) === null && !isInUse(thread),
  );
  for (const thread of gone) {
    const holder = thread.parentElement;
    thread.remove();
    removeEmpty(holder);
  }
  return gone.length > 0;
};

const replaceBar = (page: Document): void => {
  const [shown, fresh] = [document.querySelector('#changes_bar'), page.querySelector('#changes_bar')];
  if (shown === null || fresh === null) return;
  const isOpen = shown.contains(document.activeElement) || shown.querySelector('[open]') !== null;
  if (!isOpen) shown.replaceWith(document.adoptNode(fresh));
};

const merge = (page: Document): boolean => {
  if (page.querySelector('#changes_bar') === null) return false;
  const isGone = removeGone(page);
  const isMerged = [...page.querySelectorAll<HTMLElement>('[data-thread]')].map(mergeOne).some(Boolean);
  if (isGone || isMerged) replaceBar(page);
  return isGone || isMerged;
};

/** Starts the updates of a Changes tab. */
export const startLiveThreads = (): void => {
  const bar = (): HTMLElement | null => document.querySelector<HTMLElement>('[data-threads]');
  const target = bar()?.dataset['target'];
  if (target === undefined) return;
  refreshOnChanges({ target, address: () => bar()?.dataset['threads'] ?? '', merge });
};
