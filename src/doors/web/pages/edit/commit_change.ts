/** Commits the change of a form, by the operation of the API. */
import { commitFiles } from '../../../../code/repository/commits/create.ts';
import { type FileAction, actionRefusal } from '../../../../code/repository/commits/file_actions.ts';
import { conflict } from '../../../../platform/errors.ts';
import type { ActionProblem } from '../../../../platform/git/protocol_types.ts';
import type { Visit } from '../../page.ts';
import { attemptRefChange } from '../../parts/code/attempt_ref_change.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import type { CommitFields } from './commit_form.ts';
import { type EditTarget, createsBranch } from './edit_target.ts';

/** Places a message about the whole request at the field it is about. */
const atField = ({ text: said, fields }: FormProblems): FormProblems => {
  if (said === null) return { text: said, fields };
  if (/branch/i.test(said)) return { text: null, fields: { branch: [said] } };
  return /^(A file|A directory|Path|invalid path)/.test(said)
    ? { text: null, fields: { file_path: [said] } }
    : { text: said, fields };
};

export type CommitResult = {
  /** null if it is committed. */
  problems: FormProblems | null;
  /** The file changed after the form was opened. */
  isOutdated: boolean;
};

/** Commits changes of files to the branch of the form, as one commit, by the operation of the API. */
export const commitChange = async (
  { call }: Visit,
  target: EditTarget,
  { branch, commit_message: message }: Pick<CommitFields, 'branch' | 'commit_message'>,
  ...actions: FileAction[]
): Promise<CommitResult> => {
  const { code, ref, kind, commit } = target;
  let isOutdated = false;
  const refuse = (problem: ActionProblem) => {
    isOutdated = problem.problem === 'changed_meanwhile';
    return isOutdated ? conflict('The file changed after you opened it.') : actionRefusal(problem);
  };
  const start = kind === 'branch' ? { start_branch: ref } : { start_sha: commit ?? '' };
  const problems = await attemptRefChange(
    async () =>
      await commitFiles(call, code, {
        branch,
        message,
        actions,
        ...(createsBranch(target, branch) && start),
        refuse,
      }),
  );
  return { problems: problems === null ? null : atField(problems), isOutdated };
};
