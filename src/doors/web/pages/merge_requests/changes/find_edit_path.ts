/** Finds where the viewer can edit the changed files: on the source branch. */
import { openCode } from '../../../../../code/repository/find_code.ts';
import { loadProtectedBranches, mayPushTo } from '../../../../../code/repository/protection/rules.ts';
import { branchPrefix, findRef } from '../../../../../code/repository/refs/resolve.ts';
import type { Call } from '../../../../../core/access/call.ts';
import { isGitFailure } from '../../../../../platform/git/failure.ts';
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { findSource } from '../../../../../review/merge_requests/suggestions/apply.ts';
import type { Visit } from '../../../page.ts';
import { codePath } from '../../../parts/code/code_path.ts';
import { isInexactPath } from '../../../parts/code/file_names.ts';

type EditPath = (file: FileDiff) => string | null;

const none: EditPath = () => null;

/** Returns whether the editor opens the content: neither links nor submodules have one. */
const hasText = ({ binary, deleted_file, b_mode }: FileDiff): boolean =>
  !binary && !deleted_file && b_mode.startsWith('100');

/** Checks that a branch exists; false where its storage fails, which may be that of a fork. */
const hasBranch = async (call: Call, source: Project, branch: string): Promise<boolean> => {
  try {
    return (await findRef(openCode(call, source).repository, branchPrefix + branch)) !== null;
  } catch (error) {
    if (isGitFailure(error)) return false;
    throw error;
  }
};

/** Returns a function with the address of the editor of a file; null where the viewer may not push, or has none. */
export const findEditPath = async ({ call }: Visit, loaded: LoadedMergeRequest): Promise<EditPath> => {
  const { source_branch: branch } = loaded.merge_request;
  const source = call.signedIn ? await findSource(call, loaded) : null;
  if (source === null) return none;
  const rules = await loadProtectedBranches(call.db, source.id);
  if (!mayPushTo(call.viewer, source, rules, branch)) return none;
  if (!(await hasBranch(call, source, branch))) return none;
  return (file) =>
    hasText(file) && !isInexactPath(file.new_path) ? codePath(source, 'edit', branch, file.new_path) : null;
};
