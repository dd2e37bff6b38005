/** Determines which comments of an open page differ from the comments that the server sends later. */

/** Entries as last sent by the server, because scripts change the entries on the page. */
const sentEntries = new Map<string, string>();

/** Returns the markup of an entry without what differs in each answer. */
const keyOf = (entry: Element): string =>
  entry.outerHTML.replaceAll(/(name="authenticity_token" value=)"[^"]*"/g, '$1""');

/** Returns the comments and the text of an entry, without times: scripts write them in another way. */
const contentOf = (entry: Element): string => {
  const copy = entry.cloneNode(true) as Element;
  for (const time of copy.querySelectorAll('time, input')) time.remove();
  const ids = [...copy.querySelectorAll('[id^=note_]')].map(({ id }) => id);
  return `${ids.join(' ')} ${copy.textContent.replaceAll(/\s+/g, ' ')}`;
};

/** Returns whether the server sends an entry in another version than the page shows. */
export const isChanged = (shown: Element, fresh: Element): boolean => {
  const before = sentEntries.get(fresh.id);
  return before === undefined ? contentOf(shown) !== contentOf(fresh) : before !== keyOf(fresh);
};

/** Notes the version that the page shows from now on. */
export const keepVersion = (fresh: Element): void => void sentEntries.set(fresh.id, keyOf(fresh));

/** Returns whether somebody types in an entry, or has opened its form. */
export const isInUse = (entry: Element): boolean =>
  (document.activeElement !== entry && entry.contains(document.activeElement)) ||
  entry.querySelector('details.reply[open], [data-edit-form]') !== null ||
  [...entry.querySelectorAll('textarea')].some(({ value, defaultValue }) => value !== defaultValue);
