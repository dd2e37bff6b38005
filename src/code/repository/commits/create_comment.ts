/** Comments on a commit, or on a line that it changed. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import type { Code } from '../find_code.ts';
import { type CommitComment, insertComment } from './comments.ts';
import { oneFileLimits } from './diff_json.ts';
import { findLine } from './hunks.ts';

type LineType = 'new' | 'old';
type CommentPosition = { path: string | null; line: number | null; line_type: LineType | null };

const noPlace: CommentPosition = { path: null, line: null, line_type: null };

type RequestedLine = { path?: string | undefined; line?: number | undefined; line_type: LineType };

/** Resolves the line of a comment. Returns no place if the commit's diff does not show the line. */
const resolvePlace = async (
  { repository }: Code,
  commit: Commit,
  { path, line, line_type }: RequestedLine,
): Promise<CommentPosition> => {
  if (path === undefined || path === '') return noPlace;
  const { diffs } = await repository.ask('diff.files', {
    from: commit.parents[0] ?? null,
    to: commit.id,
    limits: oneFileLimits,
    paths: [path],
  });
  const file = diffs.find(({ new_path, old_path }) => (line_type === 'old' ? old_path : new_path) === path);
  if (file === undefined || line === undefined) return noPlace;
  const named = line_type === 'old' ? { old_line: line, new_line: null } : { old_line: null, new_line: line };
  if (findLine(file.diff, named) === null) return noPlace;
  return { path, line, line_type };
};

/**
 * @param code opened for a caller who may comment on commits
 * @throws Failure 400 if the text is blank
 */
export const createCommitComment = async (
  call: Call,
  code: Code,
  commit: Commit,
  { note, ...requested }: { note: string } & RequestedLine,
): Promise<CommitComment> => {
  if (note.trim() === '') throw invalid({ note: ["can't be blank"] });
  const position = await resolvePlace(code, commit, requested);
  const project_id = code.project.id;
  return await call.write(async (tx) => {
    await holdProject(tx, project_id);
    const thread = { discussion_id: null, position: null };
    return await insertComment(tx, requireActor(call), {
      project_id,
      sha: commit.id,
      note,
      ...position,
      ...thread,
    });
  });
};
