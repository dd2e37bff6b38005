/** Loads a file of a commit with its metadata. */
import { hash } from 'node:crypto';
import { notFound } from '../../../platform/errors.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { isPlainPath, stripLeadingSlashes } from './paths.ts';
import { requireRef } from '../refs/resolve.ts';

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

/** `content` is null if the file is larger than the limit. `mode`: six octal digits. */
export type LoadedFile = { file: File; content: Buffer | null; mode: string };

/** Finds the last commit that changed the path. */
const findLastCommit = async ({ repository }: Code, commit: Oid, path: string): Promise<Oid> => {
  const { commits } = await repository.ask('commits.list', { from: [commit], path, skip: 0, limit: 1 });
  return commits[0]?.id ?? commit;
};

type FileRequest = {
  commit: Oid;
  path: string;
  /** The commit, as the caller named it. */
  ref: string;
};

/** Loads a file of a commit; null if the commit has no such file. @param max bytes up to which its content is loaded */
export const loadFile = async (
  code: Code,
  { commit, path: requestedPath, ref }: FileRequest,
  max: number,
): Promise<LoadedFile | null> => {
  const path = stripLeadingSlashes(requestedPath);
  if (path === '' || !isPlainPath(path)) return null;
  const { result, body } = await code.repository.read('blob.at', { commit, path, max });
  if (result === null) return null;
  const file: File = {
    file_name: path.slice(path.lastIndexOf('/') + 1),
    file_path: path,
    size: result.size,
    encoding: 'base64',
    ref,
    blob_id: result.id,
    commit_id: commit,
    last_commit_id: await findLastCommit(code, commit, path),
    execute_filemode: result.mode === '100755',
  };
  return { file, content: result.whole ? body : null, mode: result.mode };
};

/** @throws Failure 404 `404 Commit Not Found`, `404 File Not Found` */
export const findFile = async (
  code: Code,
  { file_path: path, ref = 'HEAD' }: { file_path: string; ref?: string | undefined },
  max: number,
): Promise<LoadedFile> => {
  const { commit } = await requireRef(code, ref, 'Commit');
  const loaded = await loadFile(code, { commit, path, ref }, max);
  if (loaded === null) throw notFound('File');
  return loaded;
};

export const computeSha256 = (content: Buffer): string => hash('sha256', content);

/** Percent-encodes characters that a header may not contain. */
const headerText = (text: string): string =>
  text.replace(/[^\x20-\x7e]+/g, (some) => encodeURIComponent(some.toWellFormed()));

/** Converts the metadata to headers, for HEAD requests and raw files. */
export const toFileHeaders = ({ file, content }: LoadedFile): Record<string, string> => ({
  'x-gitlab-blob-id': file.blob_id,
  'x-gitlab-commit-id': file.commit_id,
  'x-gitlab-encoding': file.encoding,
  'x-gitlab-file-name': headerText(file.file_name),
  'x-gitlab-file-path': headerText(file.file_path),
  'x-gitlab-last-commit-id': file.last_commit_id,
  'x-gitlab-ref': headerText(file.ref),
  'x-gitlab-size': String(file.size),
  'x-gitlab-execute-filemode': String(file.execute_filemode),
  ...(content !== null && { 'x-gitlab-content-sha256': computeSha256(content) }),
});
