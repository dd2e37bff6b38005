/** All files of a commit in one file: the same commit gives the same bytes. */
import { Readable } from 'node:stream';
import type { Call } from '../access/call.ts';
import { Failure, notFound } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import { Answer } from '../http/endpoint.ts';
import { disposition } from '../http/range.ts';
import type { Code } from './code.ts';
import { actionPath, isPlainPath } from './paths.ts';
import { requireRef } from './resolve.ts';
import { peek } from './serve_blob.ts';
import { callClient } from './transfer.ts';

type Format = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';

const spellings: Record<string, Format> = {
  tar: 'tar',
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  gz: 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  zip: 'zip',
};

const types: Record<Format, string> = {
  tar: 'application/x-tar',
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  zip: 'application/zip',
};

const unknownFormat = (format: string): Failure =>
  new Failure('not_acceptable', { error: `The requested format '${format}' is not supported.` });

const plain = (text: string): string => text.replaceAll('/', '-');

/** `project-main-<sha>`, as the folder within is called, too. */
const nameOf = ({ project }: Code, ref: string, commit: string, path: string): string =>
  [project.path, ...(ref === commit ? [] : [plain(ref)]), commit, ...(path === '' ? [] : [plain(path)])].join(
    '-',
  );

type Wanted = { sha?: string | undefined; path?: string | undefined; format?: string | undefined };

const missing = new Set(['missing', 'invalid']);

/** @throws Failure 404 for no such commit or path, 406 for a format that is not known */
export const archiveAnswer = async (call: Call, code: Code, wanted: Wanted): Promise<Answer> => {
  const sent = wanted.format === undefined || wanted.format === '' ? 'tar.gz' : wanted.format;
  const format = Object.hasOwn(spellings, sent) ? spellings[sent] : undefined;
  if (format === undefined) throw unknownFormat(sent);
  const given = wanted.sha === undefined || wanted.sha === '' ? undefined : wanted.sha;
  const { commit } = await requireRef(code, given, 'File');
  const path = actionPath(wanted.path ?? '');
  if (!isPlainPath(path)) throw notFound('File');
  const name = nameOf(code, given ?? code.project.default_branch ?? commit, commit, path);
  const headers = {
    'content-type': types[format],
    'content-disposition': disposition('attachment', `${name}.${format}`),
  };
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { headers });
  const stream = await code.repository.stream('archive.read', {
    commit,
    format,
    prefix: `${name}/`,
    client: callClient(call),
    ...(path !== '' && { path }),
  });
  stream.writable.end();
  try {
    // What is wrong with it is known before the first byte.
    await peek(stream.readable);
  } catch (error) {
    stream.destroy();
    if (isGitFailure(error) && missing.has(error.kind)) throw notFound('File');
    throw error;
  }
  return new Answer(stream.readable, { headers });
};
