/** Converts texts with a cache: the converted form depends on the text and its place, never on the viewer. */
import { hash } from 'node:crypto';
import type { Call } from '../../core/access/call.ts';
import type { ConvertOptions, Part } from './convert/options.ts';
import { showPlain } from './convert/show_plain.ts';
import {
  type Outcome,
  addToCache,
  convertInThread,
  getCached,
  makeConversionCache,
} from './convert_in_thread.ts';

/** Bytes of converted texts in memory. */
const maxBytes = 8 * 1024 * 1024;
/** A longer text is shown unconverted. */
const maxCharacters = 1024 * 1024;
/** A longer text is converted in a worker thread: this much takes a few milliseconds. */
const maxCharactersInMainThread = 4 * 1024;

const weigh = (parts: Part[]): number =>
  parts.reduce(
    (sum, part) => sum + 100 + 2 * (typeof part === 'string' ? part.length : part.plain.length),
    0,
  );

const cache = makeConversionCache<Part[]>(maxBytes, weigh);

/**
 * Finds texts that may contain a block of code with a language, or front matter, which are highlighted in the worker
 * thread only.
 */
const mayHaveCode = /(?:`{3}|~{3})[^\S\n]*[^\s`~]|^(?:-{3}|\+{3}|;{3})\s/;

/** @param place the options as a text */
const convertText = async (
  call: Call,
  text: string,
  { options, place }: { options: ConvertOptions; place: string },
): Promise<Outcome<Part[]>> => {
  const key = hash('sha256', `${place}\n${text}`);
  if (text.length > maxCharactersInMainThread || mayHaveCode.test(text)) {
    return await convertInThread(call, cache, key, { kind: 'markdown', text, options });
  }
  const cached = getCached(cache, key, call.now);
  if (cached !== undefined) return cached;
  const { convert } = await import('./convert/convert.ts');
  const result = convert(text, options);
  addToCache(cache, key, result);
  return { kind: 'done', result };
};

/** Converts texts of one place. */
export const convertTexts = async (
  call: Call,
  texts: readonly string[],
  options: ConvertOptions,
): Promise<Part[][]> => {
  const converted: Part[][] = [];
  const place = { options, place: JSON.stringify(options) };
  let isBusy = false;
  // One after another: the texts of one page take one place in the queue of the worker thread.
  for (const text of texts) {
    if (text.length > maxCharacters) {
      converted.push(showPlain(text, 'This text is too long to be rendered.'));
      continue;
    }
    const outcome: Outcome<Part[]> = isBusy ? { kind: 'busy' } : await convertText(call, text, place);
    if (outcome.kind === 'done') converted.push(outcome.result);
    else if (outcome.kind === 'busy')
      converted.push(showPlain(text, 'The server is too busy to render this text. Reload the page later.'));
    else converted.push(showPlain(text, 'This text takes too long to render.'));
    isBusy = outcome.kind === 'busy';
  }
  return converted;
};
