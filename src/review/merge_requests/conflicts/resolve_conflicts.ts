/** Resolves the conflicts of a merge request: merges its target branch into its source branch. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { conflict } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { requireSizesWithinLimits } from '../../../code/repository/commits/create.ts';
import { actionRefusal, packActions } from '../../../code/repository/commits/file_actions.ts';
import { openCode } from '../../../code/repository/find_code.ts';
import { changeRefs, requirePushPermission } from '../../../code/repository/refs/authorized_ref_changes.ts';
import { getGitIdentity } from '../../../code/repository/refs/git_identity.ts';
import { importCommit } from '../../../code/repository/refs/import_commits.ts';
import { requireRoom } from '../../../code/repository/refs/require_room.ts';
import { branchPrefix } from '../../../code/repository/refs/resolve.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { loadBranches, readHeads } from '../refresh/branch_heads.ts';
import { type ConflictHeads, requirePushableSource } from './load_conflicts.ts';

export type Resolution = {
  /** The commits that the caller has seen. */
  heads: ConflictHeads;
  message: string;
  /** The whole content of each file that conflicts. */
  files: { path: string; content: Buffer }[];
};

/** @property kind `moved`: a branch has another head than the caller has seen */
export type ResolveResult = { kind: 'resolved'; id: Oid } | { kind: 'moved' };

const areHeads = async (call: Call, loaded: LoadedMergeRequest, seen: ConflictHeads): Promise<boolean> => {
  const { merge_request, project } = loaded;
  const heads = await readHeads(call.platform, await loadBranches(call.db, merge_request, project));
  return heads.source_sha === seen.source_sha && heads.target_sha === seen.target_sha;
};

/** Creates the merge commit in the source project. @returns null: other files conflict */
const createMerge = async (
  call: Call,
  { source, loaded }: { source: Project; loaded: LoadedMergeRequest },
  { heads, message, files }: Resolution,
): Promise<Oid | null> => {
  const { source_sha: ours, target_sha: theirs } = heads;
  const code = openCode(call, source);
  const actions = files.map(({ path, content }) => ({ action: 'update' as const, file_path: path, content }));
  await requireSizesWithinLimits(call, code, actions);
  if (source.id !== loaded.project.id) {
    // A full repository accepts no further commits.
    await requireRoom(call, code);
    await importCommit(call.platform, { source: loaded.project, target: source }, theirs, [ours]);
    await requireRoom(call, code);
  }
  const packed = packActions(actions);
  const author = getGitIdentity(call, requireUser(call));
  const result = await code.repository.ask(
    'merge.resolve',
    {
      ours,
      theirs,
      message,
      author,
      committer: author,
      files: packed.actions.map(({ file_path, content = { offset: 0, length: 0 } }) => ({
        path: file_path,
        content,
      })),
    },
    packed.body,
  );
  if (result === null) return null;
  if ('problem' in result) throw actionRefusal(result);
  return result.id;
};

/**
 * Commits the merge of the target branch with these texts, and moves the source branch to it. The same events,
 * pipelines and hooks follow as from a push.
 * @throws Failure 403 unless the caller may push to the source branch, 409 if other files conflict
 */
export const resolveConflicts = async (
  call: Call,
  loaded: LoadedMergeRequest,
  resolution: Resolution,
): Promise<ResolveResult> => {
  const { source_branch: branch } = loaded.merge_request;
  const source = await requirePushableSource(call, loaded);
  if (!(await areHeads(call, loaded, resolution.heads))) return { kind: 'moved' };
  const id = await createMerge(call, { source, loaded }, resolution);
  if (id === null)
    throw conflict('The conflicting files have changed. Reload the page and resolve the conflicts again.');
  try {
    await changeRefs(call, {
      project: source,
      kind: 'commit',
      updates: [{ ref: branchPrefix + branch, old: resolution.heads.source_sha, new: id }],
      branches: requirePushPermission(call, branch),
    });
  } catch (error) {
    if (isGitFailure(error, 'conflict')) return { kind: 'moved' };
    throw error;
  }
  return { kind: 'resolved', id };
};
