/** Highlights the lines of a diff. Each side of each hunk is a separate text. */
import type { Call } from '../../../../core/access/call.ts';
import { highlightParts } from '../../../markdown/highlight_lines.ts';
import type { DiffRow } from './parse_lines.ts';

/** The lines of one side of a hunk, and the indexes of their rows. */
type Part = { lines: string[]; rows: number[] };

type Sides = { old: Part; fresh: Part };

const newSides = (): Sides => ({ old: { lines: [], rows: [] }, fresh: { lines: [], rows: [] } });

const add = ({ lines, rows }: Part, text: string, row: number): void => {
  lines.push(text);
  rows.push(row);
};

/** Collects both sides of each hunk. The old side takes no part where nothing was removed. */
const toParts = (rows: readonly DiffRow[]): Part[] => {
  const hunks = [newSides()];
  rows.forEach((row, at) => {
    if (row.kind === 'hunk') hunks.push(newSides());
    const hunk = hunks.at(-1);
    if (hunk === undefined || row.kind === 'hunk' || row.kind === 'note') return;
    if (row.kind !== 'add') add(hunk.old, row.text, at);
    if (row.kind !== 'del') add(hunk.fresh, row.text, at);
  });
  return hunks
    .flatMap(({ old, fresh }) => [...(old.rows.some((at) => rows[at]?.kind === 'del') ? [old] : []), fresh])
    .filter(({ lines }) => lines.length > 0);
};

/** Returns the markup of rows by their index; lines that stay plain have none. */
export const highlightRows = async (
  call: Call,
  path: string,
  rows: readonly DiffRow[],
): Promise<ReadonlyMap<number, string>> => {
  const parts = toParts(rows);
  const highlighted = await highlightParts(
    call,
    path,
    parts.map(({ lines }) => lines),
  );
  const markup = new Map<number, string>();
  parts.forEach((part, at) => {
    part.rows.forEach((row, line) => {
      const text = highlighted?.[at]?.[line];
      if (text !== undefined) markup.set(row, text);
    });
  });
  return markup;
};
