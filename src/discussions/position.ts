/** What a client says of where a comment stands, read part by part. */
import { badRequest, invalid, notGiven } from '../errors.ts';
import type { LineEnd, Position, TextPosition } from '../notes/position.ts';
import { hash, int, string } from '../http/schema.ts';

const longestPath = 4096;
const longestCode = 255;
const shaPattern = /^[0-9a-f]{40}$/i;
const largestLine = 1_000_000_000;

/** The text that clients know for a line that is not in the diff. */
export const noSuchLine = () =>
  badRequest(`"Note {:line_code=>["can't be blank", "must be a valid line code"]}" not given`);

const properties = {
  base_sha: string,
  start_sha: string,
  head_sha: string,
  position_type: string,
  old_path: string,
  new_path: string,
  old_line: int,
  new_line: int,
  width: int,
  height: int,
  x: int,
  y: int,
};

export const positionParam = hash(
  properties,
  'where in the diff: `base_sha`, `start_sha` and `head_sha` of a version, a path, and a line of a text or a point of an image',
);

type Parts = { [name: string]: unknown };

const fail = (name: string) => invalid({ [name]: ['is invalid'] });

const partsOf = (given: unknown, name: string): Parts => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw fail(name);
  return given as Parts;
};

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

const textOf = (parts: Parts, name: string, most: number): string | null => {
  const value = parts[name];
  if (isAbsent(value)) return null;
  const isText = typeof value === 'string' && value.length <= most;
  if (!isText || !value.isWellFormed() || value.includes('\0')) throw fail(name);
  return value;
};

const lineOf = (parts: Parts, name: string): number | null => {
  const value = parts[name];
  if (isAbsent(value)) return null;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > largestLine) throw fail(name);
  return number;
};

const shaOf = (parts: Parts, name: string): string => {
  const text = textOf(parts, name, longestCode);
  if (text === null) throw notGiven(`position[${name}]`);
  if (!shaPattern.test(text)) throw fail(name);
  return text.toLowerCase();
};

const endOf = (given: unknown): LineEnd => {
  const parts = partsOf(given, 'line_range');
  return {
    line_code: textOf(parts, 'line_code', longestCode),
    type: textOf(parts, 'type', longestCode),
    old_line: lineOf(parts, 'old_line'),
    new_line: lineOf(parts, 'new_line'),
  };
};

const rangeOf = (given: unknown): TextPosition['line_range'] => {
  if (isAbsent(given)) return null;
  const { start, end } = partsOf(given, 'line_range');
  return { start: endOf(start), end: endOf(end) };
};

type Paths = { old_path: string | null; new_path: string | null };
type Incomplete<P> = P extends Position ? Omit<P, 'old_path' | 'new_path'> & Paths : never;

/** A position whose paths may still have to be completed from the diff. */
export type GivenPosition = Incomplete<Position>;

/** What tells a place in a file of this type apart from others. */
type Point = { [P in Position as P['position_type']]: Omit<P, keyof Shared> };
type Shared = { base_sha: 0; start_sha: 0; head_sha: 0; old_path: 0; new_path: 0 };

const pixelOf = (parts: Parts, name: string, least: number): number => {
  const value = parts[name];
  if (isAbsent(value)) throw notGiven(`position[${name}]`);
  // Clients measure where somebody clicked: that may lie between two pixels.
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const number = /^\d{1,10}(?:\.\d{1,20})?$/.test(text) ? Math.trunc(Number(text)) : -1;
  if (number < least || number > largestLine) throw fail(name);
  return number;
};

const pointOf = (parts: Parts): Point['image'] => {
  const [width, height] = [pixelOf(parts, 'width', 1), pixelOf(parts, 'height', 1)];
  const [x, y] = [pixelOf(parts, 'x', 0), pixelOf(parts, 'y', 0)];
  if (x > width) throw fail('x');
  if (y > height) throw fail('y');
  return { position_type: 'image', width, height, x, y };
};

const linesOf = (parts: Parts): Point['text'] => {
  const lines = { old_line: lineOf(parts, 'old_line'), new_line: lineOf(parts, 'new_line') };
  if (lines.old_line === null && lines.new_line === null) throw noSuchLine();
  return { position_type: 'text', ...lines, line_range: rangeOf(parts['line_range']) };
};

const placeOf = (parts: Parts): Point[keyof Point] => {
  const type = textOf(parts, 'position_type', longestCode) ?? 'text';
  if (type === 'text') return linesOf(parts);
  if (type === 'image') return pointOf(parts);
  if (type === 'file') return { position_type: 'file' };
  throw invalid({ position_type: ['does not have a valid value'] });
};

/**
 * Reads a position; null: none was given.
 * @throws Failure 400
 */
export const readPosition = (given: unknown): GivenPosition | null => {
  if (isAbsent(given)) return null;
  const parts = partsOf(given, 'position');
  const shas = {
    base_sha: shaOf(parts, 'base_sha'),
    start_sha: shaOf(parts, 'start_sha'),
    head_sha: shaOf(parts, 'head_sha'),
  };
  const place = placeOf(parts);
  const paths = {
    old_path: textOf(parts, 'old_path', longestPath),
    new_path: textOf(parts, 'new_path', longestPath),
  };
  if (paths.old_path === null && paths.new_path === null) throw notGiven('position[new_path]');
  return { ...shas, ...paths, ...place };
};
