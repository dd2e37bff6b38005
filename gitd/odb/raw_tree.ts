/**
 * Parses and builds trees. Names may not be UTF-8, so each is a byte string (latin1): comparing strings compares
 * bytes.
 */
import type { Oid } from '../protocol_records.ts';

export type TreeItem = { mode: number; name: string; id: Oid };

export const folderMode = 0o040000;
export const fileMode = 0o100644;
export const executableMode = 0o100755;
export const symlinkMode = 0o120000;
export const submoduleMode = 0o160000;

export const toByteString = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Sort key: folders sort as if their names ended in a slash. */
const sortKey = (item: { mode: number; name: string }): string =>
  item.mode === folderMode ? `${item.name}/` : item.name;

const compareItems = (a: TreeItem, b: TreeItem): number => {
  const [left, right] = [sortKey(a), sortKey(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

/** Parses a tree. @throws Error if the data is not a tree */
export const parseTree = (content: Buffer): TreeItem[] => {
  const items: TreeItem[] = [];
  let at = 0;
  while (at < content.length) {
    const blank = content.indexOf(0x20, at);
    const nul = content.indexOf(0, blank);
    if (blank < at || nul < blank || nul + 21 > content.length) throw new Error('a tree is broken');
    items.push({
      mode: Number.parseInt(content.toString('latin1', at, blank), 8),
      name: content.toString('latin1', blank + 1, nul),
      id: content.toString('hex', nul + 1, nul + 21),
    });
    at = nul + 21;
  }
  return items;
};

export const buildTree = (items: TreeItem[]): Buffer =>
  Buffer.concat(
    items
      .toSorted(compareItems)
      .flatMap(({ mode, name, id }) => [
        Buffer.from(`${mode.toString(8)} ${name}\0`, 'latin1'),
        Buffer.from(id, 'hex'),
      ]),
  );
