/**
 * Adds the comments of others to an open page: a timeline `[data-comments]` is fetched again when the window gets the
 * focus, and from time to time while it is visible. An entry in which somebody types, or that has the focus, stays.
 */
import { updateTimes } from './relative_times.ts';

const firstWait = 10_000;
const maxWait = 60_000;
const entriesOf = '[data-comments] > [id^=note_]';

/** Returns the markup of an entry without what differs in each answer. */
const keyOf = (entry: Element): string =>
  entry.outerHTML.replaceAll(/(name="authenticity_token" value=)"[^"]*"/g, '$1""');

const isInUse = (entry: Element): boolean =>
  entry.contains(document.activeElement) ||
  entry.querySelector('details.reply[open]') !== null ||
  [...entry.querySelectorAll('textarea')].some(({ value, defaultValue }) => value !== defaultValue);

/** Entries as the server sent them last: scripts change those on the page. */
const known = new Map<string, string>();

const insert = (timeline: Element, entry: Element, previous: Element | null): Element => {
  const adopted = document.adoptNode(entry);
  const last = timeline.lastElementChild;
  if (previous !== null) previous.after(adopted);
  else if (last?.querySelector('textarea')) last.before(adopted);
  else timeline.append(adopted);
  return adopted;
};

/** Adds and replaces entries. Returns whether there were any to change. */
const merge = (timeline: Element, page: Document): boolean => {
  let previous: Element | null = null;
  let isChanged = false;
  for (const entry of page.querySelectorAll(entriesOf)) {
    const key = keyOf(entry);
    const old: Element | null = timeline.querySelector(`:scope > #${entry.id}`);
    if (old === null) {
      previous = insert(timeline, entry, previous);
      isChanged = true;
    } else if ((known.get(entry.id) ?? key) === key || isInUse(old)) {
      previous = old;
      // An entry in use is replaced later.
      if (known.has(entry.id)) continue;
    } else {
      previous = document.adoptNode(entry);
      old.replaceWith(previous);
      isChanged = true;
    }
    known.set(entry.id, key);
  }
  return isChanged;
};

/** Starts the updates of a page that has a timeline. */
export const startLiveComments = (): void => {
  const timeline = document.querySelector('[data-comments]');
  if (timeline === null) return;
  let [wait, isAsking] = [firstWait, false];
  const refresh = async (): Promise<void> => {
    if (isAsking || document.visibilityState !== 'visible') return;
    isAsking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' });
      const text = answer.ok ? await answer.text() : '';
      const isChanged = merge(timeline, new DOMParser().parseFromString(text, 'text/html'));
      wait = isChanged ? firstWait : Math.min(1.5 * wait, maxWait);
      if (isChanged) updateTimes();
    } catch {
      wait = maxWait;
    } finally {
      isAsking = false;
    }
  };
  const next = (): void => void setTimeout(() => void refresh().finally(next), wait);
  next();
  addEventListener('focus', () => void refresh());
};
