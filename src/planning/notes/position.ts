/** Types of the position of a comment in a diff. */
import { int, nullable, object, optional, string } from '../../platform/http/schema.ts';

export type LineEnd = {
  line_code: string | null;
  type: string | null;
  old_line: number | null;
  new_line: number | null;
};

type InFile = {
  base_sha: string;
  start_sha: string;
  head_sha: string;
  old_path: string;
  new_path: string;
};

/** A line of a text. */
export type TextPosition = InFile & {
  position_type: 'text';
  /** Number of the line in the old file; null if the line was added. */
  old_line: number | null;
  /** Number of the line in the new file; null if the line was removed. */
  new_line: number | null;
  /** Set on a comment on several lines. */
  line_range: { start: LineEnd; end: LineEnd } | null;
};

/** A point of an image, in pixels. */
export type ImagePosition = InFile & {
  position_type: 'image';
  width: number;
  height: number;
  x: number;
  y: number;
};

/** A file as a whole. */
export type FilePosition = InFile & { position_type: 'file' };

export type Position = TextPosition | ImagePosition | FilePosition;

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
  old_line: optional(nullable(int)),
  new_line: optional(nullable(int)),
  line_range: optional(nullable(object({ start: lineEnd, end: lineEnd }))),
  width: optional(int),
  height: optional(int),
  x: optional(int),
  y: optional(int),
});

/** Parses the position stored in a note. */
export const parsePosition = (stored: string | null): Position | null =>
  stored === null ? null : (JSON.parse(stored) as Position);
