/** Commits a merge whose conflicts a user resolved, file by file. Moves no ref. */
import type { Answer, Context } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { keepObjects } from '../odb/flush_objects.ts';
import { withQuarantine, type Quarantine } from '../odb/quarantine.ts';
import { buildCommit } from '../odb/raw_commit.ts';
import { executableMode, fileMode, toByteString } from '../odb/raw_tree.ts';
import { isJudgedByContent, isSafePath } from '../odb/safe_paths.ts';
import type { TreeEditor } from '../odb/edit_tree.ts';
import type { Methods } from '../protocol.ts';
import type { ActionProblem } from '../protocol_records.ts';
import { passesPushCheck, maxCheckedBytes } from './check_git_files.ts';
import { editMergedTree, findConflicts, type ConflictingMerge } from './merge_conflicts.ts';

type Params = Methods['merge.resolve']['params'];
type ResolvedFile = Params['files'][number];

/** Returns whether the files are exactly the conflicting files, all of them texts. */
const areAll = ({ conflicts }: ConflictingMerge, files: readonly ResolvedFile[]): boolean => {
  const names = new Set(files.map(({ path }) => toByteString(path)));
  return (
    names.size === files.length &&
    names.size === conflicts.length &&
    conflicts.every(({ name, kind }) => kind === 'text' && names.has(name))
  );
};

const sliceContent = (body: Buffer, { content: { offset, length } }: ResolvedFile): Buffer => {
  const isInside = [offset, length, body.length - offset - length].every(
    (n) => Number.isSafeInteger(n) && n >= 0,
  );
  if (!isInside) throw new GitError('invalid', 'content range is outside the request body');
  return body.subarray(offset, offset + length);
};

type Edit = { context: Context; quarantine: Quarantine; editor: TreeEditor };

/** Puts the text of a file into the tree, with the mode that the merge gave it. */
const putFile = async (
  { context, quarantine, editor }: Edit,
  path: string,
  content: Buffer,
): Promise<ActionProblem | null> => {
  const name = toByteString(path);
  const entry = await editor.find(name);
  const isFile = entry.kind === 'found' && (entry.mode === fileMode || entry.mode === executableMode);
  if (!isFile || !isSafePath(path)) return { problem: 'invalid_path', file_path: path };
  if (isJudgedByContent(path)) {
    const file = { name: name.slice(name.lastIndexOf('/') + 1), mode: entry.mode, content };
    const isFit = content.length <= maxCheckedBytes && (await passesPushCheck(context, file));
    if (!isFit) return { problem: 'invalid_path', file_path: path };
  }
  await editor.put(name, entry.mode, quarantine.writer.add('blob', content));
  return null;
};

export const resolveConflicts = async (
  params: Params,
  context: Context,
  body: Buffer,
): Promise<Answer<'merge.resolve'>> => {
  const { ours, theirs, files, author, committer, message } = params;
  const result = await withQuarantine(
    context.dir,
    true,
    async (quarantine): Promise<Methods['merge.resolve']['result']> => {
      const merge = await findConflicts(context, quarantine, params, { isDurable: true });
      if (merge === null || !areAll(merge, files)) return null;
      const editor = editMergedTree(context, quarantine, merge.tree);
      for (const file of files) {
        const problem = await putFile({ context, quarantine, editor }, file.path, sliceContent(body, file));
        if (problem !== null) return problem;
      }
      const tree = await editor.build(quarantine.writer);
      const commit = buildCommit({ tree, parents: [ours, theirs], author, committer, message });
      const id = quarantine.writer.add('commit', commit);
      await keepObjects(quarantine);
      return { id };
    },
  );
  return { result };
};
