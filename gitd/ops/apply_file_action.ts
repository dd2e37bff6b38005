/**
 * Applies one file action to a tree. Callers apply several in order; each action sees the result of the previous
 * actions.
 */
import { GitError } from '../git_error.ts';
import { toByteString, executableMode, fileMode, submoduleMode, symlinkMode } from '../odb/raw_tree.ts';
import type { PathEntry, TreeEditor } from '../odb/edit_tree.ts';
import type { ObjectWriter } from '../odb/loose_object_writer.ts';
import { isSafePath } from '../odb/safe_paths.ts';
import type { ActionProblem, CommitAction, Oid } from '../protocol_records.ts';

export type Work = {
  editor: TreeEditor;
  writer: Pick<ObjectWriter, 'add'>;
  /** Returns the content of an action: a slice of the request's body. */
  readContent: (action: CommitAction) => Uint8Array;
};

type ExistingEntry = Extract<PathEntry, { is: 'there' }>;
type Outcome = ActionProblem | null;

const problemAt = (path: string, problem: ActionProblem['problem']): ActionProblem => ({
  problem,
  file_path: path,
});

/** Finds the file at a path; returns a problem if there is no file. */
const findFile = async ({ editor }: Work, path: string): Promise<ExistingEntry | ActionProblem> => {
  const entry = await editor.find(toByteString(path));
  if (entry.is !== 'there') return problemAt(path, 'missing');
  return entry.isFolder ? problemAt(path, 'is_directory') : entry;
};

/** Checks that a new file may be put at a path. */
const checkFree = async ({ editor }: Work, path: string): Promise<Outcome> => {
  if (!isSafePath(path)) return problemAt(path, 'invalid_path');
  const entry = await editor.find(toByteString(path));
  if (entry.is === 'nothing') return null;
  if (entry.is === 'blocked') return problemAt(Buffer.from(entry.by, 'latin1').toString('utf8'), 'exists');
  return problemAt(path, entry.isFolder ? 'is_directory' : 'exists');
};

const chooseMode = (action: CommitAction, now: number): number => {
  if (action.execute_filemode === undefined || now === symlinkMode) return now;
  return action.execute_filemode ? executableMode : fileMode;
};

const writeContent = (work: Work, action: CommitAction): Oid =>
  work.writer.add('blob', work.readContent(action));

const create = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const problem = await checkFree(work, action.file_path);
  if (problem !== null) return problem;
  const id = writeContent(work, action);
  await work.editor.put(toByteString(action.file_path), chooseMode(action, fileMode), id);
  return null;
};

const update = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(work, action.file_path);
  if ('problem' in file) return file;
  // A submodule is not a file of this repository.
  if (file.mode === submoduleMode) return problemAt(action.file_path, 'missing');
  await work.editor.put(
    toByteString(action.file_path),
    chooseMode(action, file.mode),
    writeContent(work, action),
  );
  return null;
};

const remove = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(work, action.file_path);
  if ('problem' in file) return file;
  await work.editor.remove(toByteString(action.file_path));
  return null;
};

const move = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const from = action.previous_path ?? '';
  const file = await findFile(work, from);
  if ('problem' in file) return file;
  if (from === action.file_path) return problemAt(from, 'exists');
  if (action.content !== undefined && file.mode === submoduleMode) return problemAt(from, 'missing');
  // Remove first: `a` may become `a/b`.
  await work.editor.remove(toByteString(from));
  const problem = await checkFree(work, action.file_path);
  if (problem !== null) return problem;
  const id = action.content === undefined ? file.id : writeContent(work, action);
  await work.editor.put(toByteString(action.file_path), chooseMode(action, file.mode), id);
  return null;
};

const chmod = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(work, action.file_path);
  if ('problem' in file) return file;
  const isPlain = file.mode !== symlinkMode && file.mode !== submoduleMode;
  if (!isPlain) return problemAt(action.file_path, 'invalid_path');
  const mode = action.execute_filemode === true ? executableMode : fileMode;
  await work.editor.put(toByteString(action.file_path), mode, file.id);
  return null;
};

const unknownAction = async (): Promise<never> => Promise.reject(new GitError('invalid', 'not an action'));

const verbs = { create, update, delete: remove, move, chmod };

/** Applies one action; null if it succeeded. */
export const applyAction = async (work: Work, action: CommitAction): Promise<Outcome> =>
  (Object.hasOwn(verbs, action.action) ? verbs[action.action] : unknownAction)(work, action);
