/** Converts texts with a cache: the converted form depends on the text and its place, never on the viewer. */
import { hash } from 'node:crypto';
import { makeLruCache } from '../../platform/lru_cache.ts';
import type { ConvertOptions, Part } from './convert/options.ts';

/** Bytes of converted texts in memory. */
const maxBytes = 8 * 1024 * 1024;
/** A longer text is shown as it is: its conversion would hold up all other requests. */
const maxCharacters = 16 * 1024;

const weigh = (parts: Part[]): number =>
  parts.reduce(
    (sum, part) => sum + 100 + 2 * (typeof part === 'string' ? part.length : part.plain.length),
    0,
  );

const converted = makeLruCache<Part[]>(maxBytes, weigh);

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Shows a text that cannot be rendered. */
const showPlain = (text: string, reason: string): Part[] => [
  `<p><em>${reason}</em></p>\n<pre>${text.replaceAll(/[&<>]/g, (mark) => escapes[mark] ?? mark)}</pre>`,
];

const convertText = async (text: string, options: ConvertOptions): Promise<Part[]> => {
  if (text.length > maxCharacters) return showPlain(text, 'This text is too long to be rendered.');
  const { convert } = await import('./convert/convert.ts');
  return convert(text, options);
};

/** Converts texts of one place. */
export const convertTexts = async (texts: readonly string[], options: ConvertOptions): Promise<Part[][]> => {
  const place = JSON.stringify(options);
  return await Promise.all(
    texts.map(async (text) => {
      const key = hash('sha256', `${place}\n${text}`);
      const cached = converted.get(key);
      if (cached !== undefined) return cached;
      const parts = await convertText(text, options);
      converted.set(key, parts);
      return parts;
    }),
  );
};
