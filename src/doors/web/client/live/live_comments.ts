/**
 * Adds the comments of others to an open page, and updates its parts: a timeline `[data-comments]` is fetched again
 * after changes of its record.
 * An entry in which somebody types, or that has the focus, stays.
 */
import { isChanged, isInUse, keepVersion } from './entry_versions.ts';
import { updateParts } from './live_updates.ts';
import { refreshOnChanges } from './refresh_on_changes.ts';

const entriesOf = '[data-comments] > [id^=note_]';

const insert = (timeline: Element, entry: Element, previous: Element | null): Element => {
  const adopted = document.adoptNode(entry);
  const last = timeline.lastElementChild;
  const first = timeline.querySelector(':scope > [id^=note_]');
  if (previous !== null) previous.after(adopted);
  else if (first !== null) first.before(adopted);
  else if (last?.querySelector('textarea')) last.before(adopted);
  else timeline.append(adopted);
  return adopted;
};

/** Adds and replaces entries. Returns whether there were any to change. */
const merge = (timeline: Element, page: Document): boolean => {
  let previous: Element | null = null;
  let isMerged = false;
  for (const entry of page.querySelectorAll(entriesOf)) {
    const old: Element | null = timeline.querySelector(`:scope > #${entry.id}`);
    // An entry in use is replaced later.
    if (old !== null && (!isChanged(old, entry) || isInUse(old))) {
      previous = old;
      continue;
    }
    keepVersion(entry);
    if (old === null) previous = insert(timeline, entry, previous);
    else {
      previous = document.adoptNode(entry);
      old.replaceWith(previous);
    }
    isMerged = true;
  }
  return isMerged;
};

/** Starts the updates of a page that has a timeline. */
export const startLiveComments = (): void => {
  const timeline = document.querySelector<HTMLElement>('[data-comments]');
  if (timeline === null) return;
  refreshOnChanges({
    target: timeline.dataset['comments'] ?? '',
    address: () => location.href,
    merge: (page) => {
      const isMerged = merge(timeline, page);
      return updateParts(page) || isMerged;
    },
  });
};
