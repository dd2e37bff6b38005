/** Creates a branch for the work on an issue, with a merge request that closes the issue or without one. */
import { createBranch } from '../../../code/repository/branches/create.ts';
import { openCode } from '../../../code/repository/find_code.ts';
import { branchPrefix, findRef } from '../../../code/repository/refs/resolve.ts';
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden } from '../../../platform/errors.ts';
import { linkedLabels } from '../../../planning/issuables/lists/linked_labels.ts';
import { markDraft } from '../../../planning/issuables/text/draft_title.ts';
import type { LoadedIssue } from '../../../planning/issues/find.ts';
import { createMergeRequest } from '../create.ts';
import type { LoadedMergeRequest } from '../find.ts';

const maxNameLength = 100;

/** Converts a title to a part of a branch name: `Loads drop!` becomes `loads-drop`. */
const toSlug = (title: string): string =>
  title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z\d_]+/g, '-');

/** Proposes a name for the branch of an issue. The title of a confidential issue stays out of it. */
export const proposeBranchName = ({
  iid,
  title,
  confidential,
}: Pick<LoadedIssue['issue'], 'iid' | 'title' | 'confidential'>): string =>
  `${iid}-${confidential === 1 ? 'confidential-issue' : toSlug(title)}`
    .slice(0, maxNameLength)
    .replaceAll(/-{2,}/g, '-')
    .replace(/-$/, '');

/**
 * Returns whether the caller may create a branch for an issue. Branches and merge requests of a project that is not
 * private would show a confidential issue to users who do not see it.
 */
export const mayBranchForIssue = (
  { viewer }: Pick<Call, 'viewer'>,
  { project, issue }: LoadedIssue,
): boolean =>
  may(viewer, 'push_code', project) && (issue.confidential === 0 || project.visibility === 'private');

export const mayRequestForIssue = (call: Pick<Call, 'viewer'>, loaded: LoadedIssue): boolean =>
  mayBranchForIssue(call, loaded) && may(call.viewer, 'create_merge_request_in', loaded.project);

type NewBranch = { branch: string; from: string };

/**
 * Creates a branch for an issue.
 * @throws Failure 403; 400 for a name that is taken or invalid, or an unknown source
 */
export const createBranchForIssue = async (
  call: Call,
  loaded: LoadedIssue,
  request: NewBranch,
): Promise<void> => {
  if (!mayBranchForIssue(call, loaded)) throw forbidden();
  await createBranch(call, openCode(call, loaded.project), request);
};

/** Returns the branch that changes go back to: the source, if it is a branch, else the default branch. */
const findTarget = async (call: Call, { project }: LoadedIssue, from: string): Promise<string> => {
  const ref = await findRef(openCode(call, project).repository, branchPrefix + from);
  return ref === null ? (project.default_branch ?? from) : from;
};

/**
 * Creates a branch for an issue, and a merge request of it that closes the issue. It has the labels and the milestone
 * of the issue, and is assigned to the caller.
 */
export const createRequestForIssue = async (
  call: Call,
  loaded: LoadedIssue,
  { branch, from, isDraft }: NewBranch & { isDraft: boolean },
): Promise<LoadedMergeRequest> => {
  if (!mayRequestForIssue(call, loaded)) throw forbidden();
  const { issue, project } = loaded;
  const [target_branch, labels] = await Promise.all([
    findTarget(call, loaded, from),
    linkedLabels(call.db, 'Issue', [issue.id]),
  ]);
  await createBranchForIssue(call, loaded, { branch, from });
  const title = `Resolve "${issue.title}"`;
  return await createMergeRequest(call, project, {
    source_branch: branch,
    target_branch,
    title: isDraft ? markDraft(title) : title,
    description: `Closes #${issue.iid}`,
    labels: (labels.get(issue.id) ?? []).map(({ name }) => name),
    milestone_id: issue.milestone_id,
    ...(call.actor !== null && { assignee_ids: [call.actor.user.id] }),
  });
};
