/** Where in the diff of a merge request a comment stands. */
import { int, nullable, object, string } from '../http/schema.ts';

export type LineEnd = {
  line_code: string | null;
  type: string | null;
  old_line: number | null;
  new_line: number | null;
};

export type Position = {
  base_sha: string;
  start_sha: string;
  head_sha: string;
  old_path: string;
  new_path: string;
  position_type: 'text';
  /** Number of the line in the old file; null: the line was added. */
  old_line: number | null;
  /** Number of the line in the new file; null: the line was removed. */
  new_line: number | null;
  /** Of a comment on several lines. */
  line_range: { start: LineEnd; end: LineEnd } | null;
};

const lineEnd = object({
  line_code: nullable(string),
  type: nullable(string),
  old_line: nullable(int),
  new_line: nullable(int),
});

export const positionShape = object({
  base_sha: string,
  start_sha: string,
  head_sha: string,
  old_path: string,
  new_path: string,
  position_type: string,
  old_line: nullable(int),
  new_line: nullable(int),
  line_range: nullable(object({ start: lineEnd, end: lineEnd })),
});

/** As it is stored in a note. */
export const positionOf = (stored: string | null): Position | null =>
  stored === null ? null : (JSON.parse(stored) as Position);
