/** Stores the names of a form's files with its values, under a symbol that no parser of parameters sees. */
import type { RawParams } from '../params.ts';

const fileParts = Symbol('file parts');

export const withFileParts = (values: RawParams, names: readonly string[]): RawParams =>
  names.length === 0 ? values : Object.assign(values, { [fileParts]: names });

/** Returns the names of files that came with these parameters and were skipped. */
export const getFileParts = (sent: RawParams): readonly string[] =>
  (sent as { [fileParts]?: readonly string[] })[fileParts] ?? [];
