/** What a merge request's title says of its state: the prefixes of work in progress, old and new. */

const PREFIXES = ['[wip]', 'wip:', '[draft]', '(draft)', 'draft:'];
const LONGEST = 7;

/** Whether the title starts, in any case, with `[WIP]`, `WIP:`, `WIP `, `[Draft]`, `(Draft)` or `Draft:`. */
export function isWorkInProgress(title: string): boolean {
  return prefixEnd(title, skipBlanks(title, 0)) > 0;
}

/** The title without these prefixes, however often they are repeated, and without leading blanks. */
export function withoutWorkInProgress(title: string): string {
  let start = skipBlanks(title, 0);
  for (let end = prefixEnd(title, start); end > 0; end = prefixEnd(title, start)) {
    start = skipBlanks(title, end);
  }
  return title.slice(start);
}

/** The end of the prefix that starts at `at`; 0 if there is none. */
function prefixEnd(title: string, at: number): number {
  const start = title.slice(at, at + LONGEST).toLowerCase();
  const prefix = PREFIXES.find((text) => start.startsWith(text));
  if (prefix !== undefined) return at + prefix.length;
  return start.startsWith('wip') && skipBlanks(title, at + 3) > at + 3 ? at + 4 : 0;
}

function skipBlanks(text: string, at: number): number {
  let end = at;
  while (end < text.length && /\s/.test(text.charAt(end))) end++;
  return end;
}
