/** Converts texts with a cache: the converted form depends on the text and its place, never on the viewer. */
import { hash } from 'node:crypto';
import type { Call } from '../../core/access/call.ts';
import { mayHaveFormula } from './convert/math/parse_formulas.ts';
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
/** Characters of all texts of a page that are converted in the main thread; the rest is left to the worker thread. */
const maxCharactersOfPage = 8 * 1024;
/** Milliseconds that all texts of a page wait for the worker thread. */
const maxWaitOfPage = 10_000;
/** A table counts as this many times its characters: each may make a cell. */
const tableWeight = 4;

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

/** Finds texts that may contain the delimiter row of a table. */
const mayHaveTable = /\|[\s:]*-|-[\s:]*\|/;

const weighText = (text: string): number => text.length * (mayHaveTable.test(text) ? tableWeight : 1);

type PageTexts = {
  options: ConvertOptions;
  /** Digest of the options. */
  place: string;
  /** Characters that the main thread still converts for this page. */
  left: number;
  /** The worker thread is too busy for more texts of this page. */
  isBusy: boolean;
  /** Time, as `performance.now()` gives it, after which no more texts of this page wait for the worker thread. */
  until: number;
};

/** A longer text is known by its digest, which takes longer than to compare a short text. */
const maxKeyCharacters = 500;

/** Returns what the converted form of a text depends on. A digest has no line break, a short text follows one. */
const toKey = (place: string, text: string): string =>
  text.length <= maxKeyCharacters ? `${place}\n${text}` : hash('sha256', `${place}\n${text}`);

const convertText = async (
  call: Call,
  { key, text }: { key: string; text: string },
  page: PageTexts,
): Promise<Outcome<Part[]>> => {
  const { options } = page;
  const weight = weighText(text);
  const needsThread = mayHaveCode.test(text) || mayHaveFormula.test(text);
  if (needsThread || weight > Math.min(maxCharactersInMainThread, page.left)) {
    if (page.isBusy || performance.now() > page.until) return { kind: 'busy' };
    const outcome = await convertInThread(call, cache, key, { kind: 'markdown', text, options });
    page.isBusy = outcome.kind === 'busy';
    return outcome;
  }
  page.left -= weight;
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
  const page: PageTexts = {
    options,
    place: hash('sha256', JSON.stringify(options)),
    left: maxCharactersOfPage,
    isBusy: false,
    until: performance.now() + maxWaitOfPage,
  };
  // One after another: the texts of one page take one place in the queue of the worker thread.
  for (const text of texts) {
    if (text.length > maxCharacters) {
      converted.push(showPlain(text, 'This text is too long to be rendered.'));
      continue;
    }
    const key = toKey(page.place, text);
    const outcome = getCached(cache, key, call.now) ?? (await convertText(call, { key, text }, page));
    if (outcome.kind === 'done') converted.push(outcome.result);
    else if (outcome.kind === 'busy')
      converted.push(showPlain(text, 'The server is too busy to render this text. Reload the page later.'));
    else converted.push(showPlain(text, 'This text takes too long to render.'));
  }
  return converted;
};
