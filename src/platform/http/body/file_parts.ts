/** Stores the files of a form with its values, under a symbol that no parser of parameters sees. */
import type { TObject } from 'typebox';
import type { RawParams } from '../params.ts';
import { ReceivedFile } from './received_file.ts';

export type FilePart = {
  /** Name of the form's field. */
  field: string;
  /** Name given by the client; may be a path or empty. */
  name: string;
  /** null if it was skipped. */
  content: Buffer | null;
};

const fileParts = Symbol('file parts');

export const withFileParts = (values: RawParams, parts: readonly FilePart[]): RawParams =>
  parts.length === 0 ? values : Object.assign(values, { [fileParts]: parts });

/** Returns the files that came with these parameters. */
export const getFileParts = (sent: RawParams): readonly FilePart[] =>
  (sent as { [fileParts]?: readonly FilePart[] })[fileParts] ?? [];

/** Returns the names of the parameters that are files (`fileParam`). */
export const getFileParams = (schema: TObject): readonly string[] =>
  Object.entries(schema.properties)
    .filter(([, property]) => (property as { 'x-kind'?: string })['x-kind'] === 'file')
    .map(([name]) => name);

/** Returns the files of these parameters. An empty file without a name is a field of a page that was left empty. */
export const getReceivedFiles = (sent: RawParams, names: readonly string[]): RawParams => {
  if (names.length === 0) return {};
  const entries = getFileParts(sent).flatMap(({ field, name, content }) =>
    names.includes(field) && content !== null && (name !== '' || content.length > 0)
      ? [[field, new ReceivedFile(name, content)] as const]
      : [],
  );
  return Object.fromEntries(entries);
};
