/** A file of a commit, with what is told of it beside its content. */
import { hash } from 'node:crypto';
import { notFound } from '../errors.ts';
import type { Oid } from '../git/protocol_types.ts';
import type { Code } from './code.ts';
import { cleanPath } from './actions.ts';
import { isPlainPath } from './paths.ts';
import { requireRef } from './resolve.ts';

export type File = {
  file_name: string;
  file_path: string;
  size: number;
  encoding: 'base64';
  ref: string;
  blob_id: Oid;
  commit_id: Oid;
  last_commit_id: Oid;
  execute_filemode: boolean;
};

/** `content` null: it is larger than was asked for. */
export type FoundFile = { file: File; content: Buffer | null };

/** The last commit of the history that changed it. */
const lastCommitOf = async ({ repository }: Code, commit: Oid, path: string): Promise<Oid> => {
  const { commits } = await repository.ask('commits.list', { from: [commit], path, skip: 0, limit: 1 });
  return commits[0]?.id ?? commit;
};

/** @throws Failure 404 `404 Commit Not Found`, `404 File Not Found` */
export const findFile = async (
  code: Code,
  { file_path, ref = 'HEAD' }: { file_path: string; ref?: string | undefined },
  max: number,
): Promise<FoundFile> => {
  const { commit } = await requireRef(code, ref, 'Commit');
  const path = cleanPath(file_path);
  if (path === '' || !isPlainPath(path)) throw notFound('File');
  const { result, body } = await code.repository.read('blob.at', { commit, path, max });
  if (result === null) throw notFound('File');
  const file: File = {
    file_name: path.slice(path.lastIndexOf('/') + 1),
    file_path: path,
    size: result.size,
    encoding: 'base64',
    ref,
    blob_id: result.id,
    commit_id: commit,
    last_commit_id: await lastCommitOf(code, commit, path),
    execute_filemode: result.mode === '100755',
  };
  return { file, content: result.whole ? body : null };
};

export const sha256Of = (content: Buffer): string => hash('sha256', content);

/** Only characters that a header may have: what is of another script is written as in a URL. */
const headerText = (text: string): string =>
  text.replace(/[^\x20-\x7e]+/g, (some) => encodeURIComponent(some.toWellFormed()));

/** The same as headers: for HEAD, and beside a raw file. */
export const headersOf = ({ file, content }: FoundFile): Record<string, string> => ({
  'x-gitlab-blob-id': file.blob_id,
  'x-gitlab-commit-id': file.commit_id,
  'x-gitlab-encoding': file.encoding,
  'x-gitlab-file-name': headerText(file.file_name),
  'x-gitlab-file-path': headerText(file.file_path),
  'x-gitlab-last-commit-id': file.last_commit_id,
  'x-gitlab-ref': headerText(file.ref),
  'x-gitlab-size': String(file.size),
  'x-gitlab-execute-filemode': String(file.execute_filemode),
  ...(content !== null && { 'x-gitlab-content-sha256': sha256Of(content) }),
});
