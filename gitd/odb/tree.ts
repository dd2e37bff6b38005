/**
 * Trees, read and built. Names are bytes, which git does not promise to be UTF-8: here each is a string
 * with one code unit a byte (latin1), so that comparing strings compares bytes.
 */
import type { Oid } from '../protocol.ts';

export type TreeItem = { mode: number; name: string; id: Oid };

export const folderMode = 0o040000;
export const fileMode = 0o100644;
export const executableMode = 0o100755;
export const symlinkMode = 0o120000;
export const submoduleMode = 0o160000;

export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Folders sort as if their names ended in a slash. */
const sortKey = (item: { mode: number; name: string }): string =>
  item.mode === folderMode ? `${item.name}/` : item.name;

const compareItems = (a: TreeItem, b: TreeItem): number => {
  const [left, right] = [sortKey(a), sortKey(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

/** @throws Error for what is no tree */
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
