/** Computes the position of a commented line in another version of the same merge request. Pure. */
import type { LineEnd, TextPosition } from '../notes/position.ts';
import { type DiffLine, toNewLine, toOldLine } from '../../code/repository/commits/hunks.ts';
import { lineCode } from './line_code.ts';

/** Changes of the file between the versions, as unified diffs; `''`: unchanged. */
export type Since = {
  /** Path from the old head to the new head. */
  heads: string;
  /** Path from the old base to the new base. */
  bases: string;
};

/** The file in the other version. */
export type VersionFile = { old_path: string; new_path: string; diff: string };

export type Shas = Pick<TextPosition, 'base_sha' | 'start_sha' | 'head_sha'>;

/** Traces a line of the new file through the heads, and a removed line through the bases. */
const traceLine = (line: DiffLine, since: Since, diff: string): DiffLine | null => {
  if (line.new_line !== null) {
    const new_line = toNewLine(since.heads, line.new_line);
    return new_line === null ? null : { old_line: toOldLine(diff, new_line), new_line };
  }
  const old_line = line.old_line === null ? null : toNewLine(since.bases, line.old_line);
  return old_line === null ? null : { old_line, new_line: toNewLine(diff, old_line) };
};

const traceEnd = (end: LineEnd, since: Since, file: VersionFile): LineEnd | null => {
  const line = traceLine(end, since, file.diff);
  return line === null ? null : { ...end, ...line, line_code: lineCode(file, line) };
};

const traceRange = (range: TextPosition['line_range'], since: Since, file: VersionFile) => {
  if (range === null) return null;
  const [start, end] = [traceEnd(range.start, since, file), traceEnd(range.end, since, file)];
  return start === null || end === null ? null : { start, end };
};

/** Returns the position in the other version; null if the line no longer exists. */
export const tracePosition = (
  position: TextPosition,
  since: Since,
  { file, shas }: { file: VersionFile; shas: Shas },
): TextPosition | null => {
  const line = traceLine(position, since, file.diff);
  if (line === null) return null;
  const line_range = traceRange(position.line_range, since, file);
  const { old_path, new_path } = file;
  return { ...position, ...shas, old_path, new_path, ...line, line_range };
};
