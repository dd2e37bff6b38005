/** Parses and checks the position parameter of a comment. */
import { Failure, badRequest, invalid, missingAttribute } from '../../platform/errors.ts';
import type { LineEnd, Position, TextPosition } from '../notes/position.ts';
import { hash, int, string } from '../../platform/http/schema.ts';

const maxPathLength = 4096;
const maxLineCodeLength = 255;
const shaPattern = /^[0-9a-f]{40}$/i;
const maxLineNumber = 1_000_000_000;

const noSuchLineReason = `"Note {:line_code=>["can't be blank", "must be a valid line code"]}" not given`;

/** Error for a line that is not in the diff, in the text that clients expect. */
export const noSuchLine = () => badRequest(noSuchLineReason);

/** Returns whether an error is for a line, or a file, that is not in the diff. */
export const isNoSuchLine = (error: unknown): boolean =>
  error instanceof Failure && error.message === noSuchLine().message;

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
  'position in the diff: `base_sha`, `start_sha` and `head_sha` of a version, a path, and a text line or an image point',
);

type Parts = { [name: string]: unknown };

const fail = (name: string) => invalid({ [name]: ['is invalid'] });

const readParts = (input: unknown, name: string): Parts => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw fail(name);
  return input as Parts;
};

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

const readText = (parts: Parts, name: string, maxLength: number): string | null => {
  const value = parts[name];
  if (isAbsent(value)) return null;
  const isText = typeof value === 'string' && value.length <= maxLength;
  if (!isText || !value.isWellFormed() || value.includes('\0')) throw fail(name);
  return value;
};

const readLine = (parts: Parts, name: string): number | null => {
  const value = parts[name];
  if (isAbsent(value)) return null;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > maxLineNumber) throw fail(name);
  return number;
};

const readSha = (parts: Parts, name: string): string => {
  const text = readText(parts, name, maxLineCodeLength);
  if (text === null) throw missingAttribute(`position[${name}]`);
  if (!shaPattern.test(text)) throw fail(name);
  return text.toLowerCase();
};

const readLineEnd = (input: unknown): LineEnd => {
  const parts = readParts(input, 'line_range');
  return {
    line_code: readText(parts, 'line_code', maxLineCodeLength),
    type: readText(parts, 'type', maxLineCodeLength),
    old_line: readLine(parts, 'old_line'),
    new_line: readLine(parts, 'new_line'),
  };
};

const readRange = (input: unknown): TextPosition['line_range'] => {
  if (isAbsent(input)) return null;
  const { start, end } = readParts(input, 'line_range');
  return { start: readLineEnd(start), end: readLineEnd(end) };
};

type Paths = { old_path: string | null; new_path: string | null };
type Incomplete<P> = P extends Position ? Omit<P, 'old_path' | 'new_path'> & Paths : never;

/** A requested position. Its paths may be incomplete until the diff is read. */
export type PositionInput = Incomplete<Position>;

/** The fields that only a position of this type has. */
type Point = { [P in Position as P['position_type']]: Omit<P, keyof Shared> };
type Shared = { base_sha: 0; start_sha: 0; head_sha: 0; old_path: 0; new_path: 0 };

const readPixel = (parts: Parts, name: string, least: number): number => {
  const value = parts[name];
  if (isAbsent(value)) throw missingAttribute(`position[${name}]`);
  // Clients send the coordinates of a click, which may be fractions of a pixel.
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const number = /^\d{1,10}(?:\.\d{1,20})?$/.test(text) ? Math.trunc(Number(text)) : -1;
  if (number < least || number > maxLineNumber) throw fail(name);
  return number;
};

const readPoint = (parts: Parts): Point['image'] => {
  const [width, height] = [readPixel(parts, 'width', 1), readPixel(parts, 'height', 1)];
  const [x, y] = [readPixel(parts, 'x', 0), readPixel(parts, 'y', 0)];
  if (x > width) throw fail('x');
  if (y > height) throw fail('y');
  return { position_type: 'image', width, height, x, y };
};

const readLines = (parts: Parts): Point['text'] => {
  const lines = { old_line: readLine(parts, 'old_line'), new_line: readLine(parts, 'new_line') };
  if (lines.old_line === null && lines.new_line === null) throw noSuchLine();
  return { position_type: 'text', ...lines, line_range: readRange(parts['line_range']) };
};

const readPlace = (parts: Parts): Point[keyof Point] => {
  const type = readText(parts, 'position_type', maxLineCodeLength) ?? 'text';
  if (type === 'text') return readLines(parts);
  if (type === 'image') return readPoint(parts);
  if (type === 'file') return { position_type: 'file' };
  throw invalid({ position_type: ['does not have a valid value'] });
};

/**
 * Parses a position; null if it is absent.
 * @throws Failure 400
 */
export const readPosition = (input: unknown): PositionInput | null => {
  if (isAbsent(input)) return null;
  const parts = readParts(input, 'position');
  const shas = {
    base_sha: readSha(parts, 'base_sha'),
    start_sha: readSha(parts, 'start_sha'),
    head_sha: readSha(parts, 'head_sha'),
  };
  const place = readPlace(parts);
  const paths = {
    old_path: readText(parts, 'old_path', maxPathLength),
    new_path: readText(parts, 'new_path', maxPathLength),
  };
  if (paths.old_path === null && paths.new_path === null) throw missingAttribute('position[new_path]');
  return { ...shas, ...paths, ...place };
};
