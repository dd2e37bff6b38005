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

export type EditContext = {
  editor: TreeEditor;
  writer: Pick<ObjectWriter, 'add'>;
  /** Returns the content of an action: a slice of the request's body. */
  readContent: (action: CommitAction) => Uint8Array;
};

type ExistingEntry = Extract<PathEntry, { kind: 'found' }>;
type Outcome = ActionProblem | null;

const problemAt = (path: string, problem: ActionProblem['problem']): ActionProblem => ({
  problem,
  file_path: path,
});

/** Finds the file at a path; returns a problem if there is no file. */
const findFile = async ({ editor }: EditContext, path: string): Promise<ExistingEntry | ActionProblem> => {
  const entry = await editor.find(toByteString(path));
  if (entry.kind !== 'found') return problemAt(path, 'missing');
  return entry.isFolder ? problemAt(path, 'is_directory') : entry;
};

/** Checks that a new file may be put at a path. */
const checkFree = async ({ editor }: EditContext, path: string): Promise<Outcome> => {
  if (!isSafePath(path)) return problemAt(path, 'invalid_path');
  const entry = await editor.find(toByteString(path));
  if (entry.kind === 'free') return null;
  if (entry.kind === 'blocked') return problemAt(Buffer.from(entry.by, 'latin1').toString('utf8'), 'exists');
  return problemAt(path, entry.isFolder ? 'is_directory' : 'exists');
};

const chooseMode = (action: CommitAction, currentMode: number): number => {
  if (action.execute_filemode === undefined || currentMode === symlinkMode) return currentMode;
  return action.execute_filemode ? executableMode : fileMode;
};

const writeContent = (context: EditContext, action: CommitAction): Oid =>
  context.writer.add('blob', context.readContent(action));

const create = async (context: EditContext, action: CommitAction): Promise<Outcome> => {
  const problem = await checkFree(context, action.file_path);
  if (problem !== null) return problem;
  const id = writeContent(context, action);
  await context.editor.put(toByteString(action.file_path), chooseMode(action, fileMode), id);
  return null;
};

const update = async (context: EditContext, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(context, action.file_path);
  if ('problem' in file) return file;
  // A submodule is not a file of this repository.
  if (file.mode === submoduleMode) return problemAt(action.file_path, 'missing');
  await context.editor.put(
    toByteString(action.file_path),
    chooseMode(action, file.mode),
    writeContent(context, action),
  );
  return null;
};

const remove = async (context: EditContext, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(context, action.file_path);
  if ('problem' in file) return file;
  await context.editor.remove(toByteString(action.file_path));
  return null;
};

const move = async (context: EditContext, action: CommitAction): Promise<Outcome> => {
  const from = action.previous_path ?? '';
  const file = await findFile(context, from);
  if ('problem' in file) return file;
  if (from === action.file_path) return problemAt(from, 'exists');
  if (action.content !== undefined && file.mode === submoduleMode) return problemAt(from, 'missing');
  // Remove first: `a` may become `a/b`.
  await context.editor.remove(toByteString(from));
  const problem = await checkFree(context, action.file_path);
  if (problem !== null) return problem;
  const id = action.content === undefined ? file.id : writeContent(context, action);
  await context.editor.put(toByteString(action.file_path), chooseMode(action, file.mode), id);
  return null;
};

const chmod = async (context: EditContext, action: CommitAction): Promise<Outcome> => {
  const file = await findFile(context, action.file_path);
  if ('problem' in file) return file;
  const isPlain = file.mode !== symlinkMode && file.mode !== submoduleMode;
  if (!isPlain) return problemAt(action.file_path, 'invalid_path');
  const mode = action.execute_filemode === true ? executableMode : fileMode;
  await context.editor.put(toByteString(action.file_path), mode, file.id);
  return null;
};

const unknownAction = async (): Promise<never> => Promise.reject(new GitError('invalid', 'unknown action'));

const verbs = { create, update, delete: remove, move, chmod };

/** Applies one action. Returns the problem, or null if it succeeded. */
export const applyAction = async (context: EditContext, action: CommitAction): Promise<Outcome> =>
  (Object.hasOwn(verbs, action.action) ? verbs[action.action] : unknownAction)(context, action);
