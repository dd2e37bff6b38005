/** Recognizes titles of draft merge requests by their prefixes, old and new. */

const prefixes = ['[wip]', 'wip:', '[draft]', '(draft)', 'draft:'];
const maxPrefixLength = 7;

/** Returns whether the title starts, in any case, with `[WIP]`, `WIP:`, `WIP `, `[Draft]`, `(Draft)` or `Draft:`. */
export const isWorkInProgress = (title: string): boolean => findPrefixEnd(title, skipBlanks(title, 0)) > 0;

/** Removes these prefixes, even repeated ones, and leading blanks. */
export const withoutWorkInProgress = (title: string): string => {
  let start = skipBlanks(title, 0);
  for (let end = findPrefixEnd(title, start); end > 0; end = findPrefixEnd(title, start)) {
    start = skipBlanks(title, end);
  }
  return title.slice(start);
};

/** Adds a draft prefix to the title, unless it has one. */
export const markDraft = (title: string, prefix: 'Draft: ' | 'WIP: ' = 'Draft: '): string =>
  isWorkInProgress(title) ? title : prefix + title;

/** Returns the end of the prefix that starts at `at`; 0 if there is none. */
const findPrefixEnd = (title: string, at: number): number => {
  const start = title.slice(at, at + maxPrefixLength).toLowerCase();
  const prefix = prefixes.find((text) => start.startsWith(text));
  if (prefix !== undefined) return at + prefix.length;
  return start.startsWith('wip') && skipBlanks(title, at + 3) > at + 3 ? at + 4 : 0;
};

const skipBlanks = (text: string, at: number): number => {
  let end = at;
  while (end < text.length && /\s/.test(text.charAt(end))) end += 1;
  return end;
};
