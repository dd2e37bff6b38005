/** Where in the text of a diff a comment may stand. */

export type LineType = 'new' | 'old';

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Whether the diff shows this line, as an added (`new`) or removed (`old`) one, or as one that stayed. */
export const showsLine = (diff: string, line: number, type: LineType): boolean => {
  let [old, now] = [0, 0];
  for (const text of diff.split('\n')) {
    const [, oldStart, newStart] = hunk.exec(text) ?? [];
    if (oldStart !== undefined && newStart !== undefined) {
      [old, now] = [Number(oldStart), Number(newStart)];
      continue;
    }
    if (old === 0 && now === 0) continue;
    if (text.startsWith('\\')) continue;
    if (type === 'new' && !text.startsWith('-') && now === line) return true;
    if (type === 'old' && !text.startsWith('+') && old === line) return true;
    if (!text.startsWith('-')) now += 1;
    if (!text.startsWith('+')) old += 1;
  }
  return false;
};
