/** Changes of the files of a snippet, as clients send them. Pure. */
import { badRequest, invalid } from '../../platform/errors.ts';
import type { SnippetFile, SnippetFiles } from './files.ts';

export const fileActions = ['create', 'update', 'delete', 'move'] as const;

export type FileAction = {
  /** undefined: updates the file if the snippet has it, else creates it. */
  action: (typeof fileActions)[number] | undefined;
  file_path: string | undefined;
  /** Name of the file to move. */
  previous_path: string | undefined;
  content: string | undefined;
};

export const maxFiles = 10;

type Files = SnippetFile[];

const refused = (problem: string) => badRequest(`files ${problem}`);

/** Finds a file by name. The only file of a snippet may have none. */
const findIndex = (files: Files, name: string, sent: string | undefined): number => {
  if (sent === undefined) throw refused(`[${name}] not given`);
  const path = sent.trim();
  const index = files.findIndex((file) => file.path === path);
  if (index === -1)
    throw refused(path === '' ? `[${name}] not given` : `name a file that does not exist: ${path}`);
  return index;
};

const requireUnused = (files: Files, path: string): void => {
  if (path !== '' && files.some((file) => file.path === path)) throw refused(`use a path twice: ${path}`);
};

const create = (files: Files, { file_path = '', content }: FileAction): Files => {
  if (content === undefined) throw refused('[content] not given');
  const path = file_path.trim();
  requireUnused(files, path);
  return [...files, { path, content }];
};

const update = (files: Files, { file_path, content }: FileAction): Files => {
  const index = findIndex(files, 'file_path', file_path);
  if (content === undefined) throw refused('[content] not given');
  return files.map((file, at) => (at === index ? { ...file, content } : file));
};

const remove = (files: Files, { file_path }: FileAction): Files =>
  files.toSpliced(findIndex(files, 'file_path', file_path), 1);

const move = (files: Files, { file_path, previous_path, content }: FileAction): Files => {
  const index = findIndex(files, 'previous_path', previous_path);
  if (file_path === undefined) throw refused('[file_path] not given');
  const path = file_path.trim();
  requireUnused(files.toSpliced(index, 1), path);
  return files.map((file, at) => (at === index ? { path, content: content ?? file.content } : file));
};

const steps = { create, update, delete: remove, move };

const applyOne = (files: Files, change: FileAction): Files => {
  const isThere = files.some(({ path }) => path === change.file_path?.trim());
  return steps[change.action ?? (isThere ? 'update' : 'create')](files, change);
};

/** Names the files without a name, where there are several. */
const withNames = (files: readonly SnippetFile[]): SnippetFile[] => {
  const taken = new Set(files.map(({ path }) => path));
  const unusedName = (): string => {
    let number = 1;
    while (taken.has(`snippetfile${number}.txt`)) number += 1;
    taken.add(`snippetfile${number}.txt`);
    return `snippetfile${number}.txt`;
  };
  return files.map((file) => (file.path === '' ? { ...file, path: unusedName() } : file));
};

/**
 * Returns the files after the changes, in the order of the list; new files come last.
 * @throws Failure 400 for a change that is not possible, and for no files or too many
 */
export const applyFileActions = (
  before: readonly SnippetFile[],
  actions: readonly FileAction[],
): SnippetFiles => {
  const after = actions.reduce<Files>(applyOne, [...before]);
  if (after.length > maxFiles) throw invalid({ files: [`are too many (maximum is ${maxFiles} files)`] });
  const [first, ...others] = after.length > 1 ? withNames(after) : after;
  if (first === undefined) throw invalid({ files: ['must be at least one'] });
  return [first, ...others];
};
