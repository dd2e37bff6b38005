/** Loads the content of Jupyter notebooks with a cache by blob, for their pages and for each of their images. */
import type { Call } from '../../../core/access/call.ts';
import {
  type Outcome,
  addToCache,
  convertInThread,
  getCached,
  makeConversionCache,
} from '../convert_in_thread.ts';
import { type Notebook, type NotebookOutput, parseNotebook } from './parse_notebook.ts';

/** Bytes of parsed notebooks in memory. */
const maxBytes = 16 * 1024 * 1024;
/** A longer file is parsed in the worker thread: this much takes a few milliseconds, whatever it contains. */
const maxBytesInMainThread = 32 * 1024;
/** Bytes of a cell, output or image without its text. */
const overhead = 200;

const weighOutput = (output: NotebookOutput): number =>
  overhead + ('text' in output ? output.text.length : 0);

const weigh = (notebook: Notebook | null): number => {
  if (notebook === null) return 0;
  const images = notebook.images.map(({ data }) => overhead + data.length);
  const cells = notebook.cells.map(({ text, outputs }) =>
    outputs.reduce((sum, output) => sum + weighOutput(output), overhead + text.length),
  );
  return [...images, ...cells].reduce((sum, one) => sum + one, 0);
};

const cache = makeConversionCache<Notebook | null>(maxBytes, weigh);

/**
 * Parses a notebook, or returns the cached one; null if the file is not one.
 * @param blob id of the blob
 */
export const loadNotebook = async (
  call: Call,
  blob: string,
  content: Buffer,
): Promise<Outcome<Notebook | null>> => {
  const cached = getCached(cache, blob, call.now);
  if (cached !== undefined) return cached;
  const text = content.toString('utf8');
  if (content.length > maxBytesInMainThread)
    return await convertInThread(call, cache, blob, { kind: 'notebook', text });
  const result = parseNotebook(text);
  addToCache(cache, blob, result);
  return { kind: 'done', result };
};
