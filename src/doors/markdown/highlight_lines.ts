/** Highlights files and parts of files line by line, in a worker thread and with a cache. */
import { hash } from 'node:crypto';
import type { Call } from '../../core/access/call.ts';
import { canHighlight, toLanguage } from './convert/languages.ts';
import { convertInThread, makeConversionCache } from './convert_in_thread.ts';

/** Bytes of highlighted files in memory. */
const maxBytes = 16 * 1024 * 1024;
const maxLines = 5_000;
const maxCharacters = 1024 * 1024;

const cache = makeConversionCache<string[]>(maxBytes, (lines) =>
  lines.reduce((sum, line) => sum + 24 + line.length, 0),
);

export type CodeText = {
  text: string;
  /** Path of the file, which determines its language. */
  path: string;
  /** Identifies the text, such as the id of its blob. */
  key: string;
};

/**
 * Returns HTML for each of the given lines.
 * @returns null: the file stays plain, because its language is unknown, it is too large, or it takes too long
 */
export const highlightFileLines = async (
  call: Call,
  { text, path, key }: CodeText,
  lines: readonly string[],
): Promise<string[] | null> => {
  const language = toLanguage(path);
  if (lines.length === 0 || lines.length > maxLines || text.length > maxCharacters || !canHighlight(language))
    return null;
  const task = { kind: 'code', text: lines.join('\n'), language } as const;
  const outcome = await convertInThread(call, cache, `${language} ${key}`, task);
  return outcome.kind === 'done' && outcome.result.length === lines.length ? outcome.result : null;
};

/** Lines of several parts of a file. */
type Parts = readonly (readonly string[])[];

const partsCache = makeConversionCache<string[][]>(maxBytes, (parts) =>
  parts.flat().reduce((sum, line) => sum + 24 + line.length, 0),
);

/**
 * Returns HTML for each line of parts of a file, such as the hunks of a diff. Each part is highlighted by itself.
 * @returns null: the parts stay plain, as in `highlightFileLines`
 */
export const highlightParts = async (call: Call, path: string, parts: Parts): Promise<string[][] | null> => {
  const language = toLanguage(path);
  const texts = parts.map((lines) => lines.join('\n'));
  const lines = parts.reduce((sum, { length }) => sum + length, 0);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (lines === 0 || lines > maxLines || characters > maxCharacters || !canHighlight(language)) return null;
  const key = `${language} ${hash('sha1', JSON.stringify(texts), 'base64url')}`;
  const task = { kind: 'code_parts', texts, language } as const;
  const outcome = await convertInThread(call, partsCache, key, task);
  if (outcome.kind !== 'done') return null;
  const isWhole = parts.every(({ length }, at) => outcome.result[at]?.length === length);
  return isWhole ? outcome.result : null;
};
