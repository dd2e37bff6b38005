/** Single file actions on a tree in work, one after the other: each sees what those before it did. */
import { GitError } from '../failure.ts';
import { bytesOf, executableMode, fileMode, submoduleMode, symlinkMode } from '../odb/tree.ts';
import type { Found, TreeEditor } from '../odb/edit_tree.ts';
import type { ObjectWriter } from '../odb/loose.ts';
import { isGoodPath } from '../odb/paths.ts';
import type { ActionProblem, CommitAction, Oid } from '../protocol.ts';

export type Work = {
  editor: TreeEditor;
  writer: Pick<ObjectWriter, 'add'>;
  /** What a slice of the request's body holds. */
  contentOf: (action: CommitAction) => Uint8Array;
};

type There = Extract<Found, { is: 'there' }>;
type Outcome = ActionProblem | null;

const problemAt = (path: string, problem: ActionProblem['problem']): ActionProblem => ({
  problem,
  file_path: path,
});

/** The file at a path; a problem where there is none. */
const findFile = async ({ editor }: Work, path: string): Promise<There | ActionProblem> => {
  const found = await editor.look(bytesOf(path));
  if (found.is !== 'there') return problemAt(path, 'missing');
  return found.isFolder ? problemAt(path, 'is_directory') : found;
};

/** Whether a new file may be put there. */
const checkFree = async ({ editor }: Work, path: string): Promise<Outcome> => {
  if (!isGoodPath(path)) return problemAt(path, 'invalid_path');
  const found = await editor.look(bytesOf(path));
  if (found.is === 'nothing') return null;
  if (found.is === 'blocked') return problemAt(Buffer.from(found.by, 'latin1').toString('utf8'), 'exists');
  return problemAt(path, found.isFolder ? 'is_directory' : 'exists');
};

const modeOf = (action: CommitAction, now: number): number => {
  if (action.execute_filemode === undefined || now === symlinkMode) return now;
  return action.execute_filemode ? executableMode : fileMode;
};

const writeContent = (work: Work, action: CommitAction): Oid =>
  work.writer.add('blob', work.contentOf(action));

const create = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const problem = await checkFree(work, action.file_path);
  if (problem !== null) return problem;
  const id = writeContent(work, action);
  await work.editor.put(bytesOf(action.file_path), modeOf(action, fileMode), id);
  return null;
};

const update = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(work, action.file_path);
  if ('problem' in file) return file;
  // A submodule is no file of this repository.
  if (file.mode === submoduleMode) return problemAt(action.file_path, 'missing');
  await work.editor.put(bytesOf(action.file_path), modeOf(action, file.mode), writeContent(work, action));
  return null;
};

const remove = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(work, action.file_path);
  if ('problem' in file) return file;
  await work.editor.remove(bytesOf(action.file_path));
  return null;
};

const move = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const from = action.previous_path ?? '';
  const file = await findFile(work, from);
  if ('problem' in file) return file;
  if (from === action.file_path) return problemAt(from, 'exists');
  if (action.content !== undefined && file.mode === submoduleMode) return problemAt(from, 'missing');
  // Out of the way first: `a` may become `a/b`.
  await work.editor.remove(bytesOf(from));
  const problem = await checkFree(work, action.file_path);
  if (problem !== null) return problem;
  const id = action.content === undefined ? file.id : writeContent(work, action);
  await work.editor.put(bytesOf(action.file_path), modeOf(action, file.mode), id);
  return null;
};

const chmod = async (work: Work, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(work, action.file_path);
  if ('problem' in file) return file;
  const isPlain = file.mode !== symlinkMode && file.mode !== submoduleMode;
  if (!isPlain) return problemAt(action.file_path, 'invalid_path');
  const mode = action.execute_filemode === true ? executableMode : fileMode;
  await work.editor.put(bytesOf(action.file_path), mode, file.id);
  return null;
};

const unknownAction = async (): Promise<never> => Promise.reject(new GitError('invalid', 'not an action'));

const verbs = { create, update, delete: remove, move, chmod };

/** null: done. */
export const applyAction = async (work: Work, action: CommitAction): Promise<Outcome> =>
  (Object.hasOwn(verbs, action.action) ? verbs[action.action] : unknownAction)(work, action);
