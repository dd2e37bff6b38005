/** Creates or updates the merge requests of pushed branches, as the options of the push say. */
import type { Cause } from '../access/audit.ts';
import { type Call, type Platform, userOf } from '../access/call.ts';
import { callWithoutRequest } from '../access/call_without_request.ts';
import { Failure, invalid } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import { zeroOid } from '../git/protocol_types.ts';
import { availableTo } from '../labels/owner.ts';
import { type Project, findProject, loadProject } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { branchPrefix, commitsById } from '../repository/resolve.ts';
import { acceptRequest } from './accept.ts';
import { createMergeRequest } from './create.ts';
import { type FoundMergeRequest, reloadMergeRequest } from './find.ts';
import { openFrom } from './open_requests.ts';
import { type RequestOptions, requestOptionsOf } from './push_options.ts';
import { refreshSource } from './refresh_source.ts';
import { type MergeRequestEdit, updateMergeRequest } from './update.ts';

/** Branches of one push that options are carried out for, as in GitLab. */
const mostBranches = 10;

type Pushed = { project: Project; cause: Cause; baseUrl: string };

const usersOf = async ({ db }: Call, names: readonly string[]): Promise<number[]> => {
  if (names.length === 0) return [];
  const plain = names.map((name) => name.replace(/^@/, '').toLowerCase());
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('username', 'in', plain)
    .execute();
  const unknown = plain.find(
    (name) => !/^\d{1,15}$/.test(name) && !rows.some(({ username }) => username.toLowerCase() === name),
  );
  if (unknown !== undefined) throw invalid({ assignee: [`${unknown} was not found`] });
  return [...rows.map(({ id }) => id), ...plain.filter((name) => /^\d{1,15}$/.test(name)).map(Number)];
};

const milestoneOf = async ({ db }: Call, project: Project, title: string | undefined): Promise<object> => {
  if (title === undefined) return {};
  const owner = { kind: 'projects' as const, id: project.id, namespace_id: project.namespace_id };
  const row = await db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where(availableTo('milestones', owner))
    .executeTakeFirst();
  if (row === undefined) throw invalid({ milestone: [`${title} was not found`] });
  return { milestone_id: row.id };
};

const titleOf = ({ draft }: RequestOptions, title: string): string =>
  draft && !/^(?:draft|wip):/i.test(title) ? `Draft: ${title}` : title;

/** What both creating and updating take. */
const sharedOf = async (call: Call, target: Project, options: RequestOptions) => {
  const { description, remove_source_branch, squash } = options;
  return {
    ...(description !== undefined && { description }),
    ...(remove_source_branch === true && { remove_source_branch }),
    ...(squash === true && { squash }),
    ...(await milestoneOf(call, target, options.milestone)),
  };
};

const targetOf = async (
  call: Call,
  source: Project,
  { target_project }: RequestOptions,
): Promise<Project> => {
  if (target_project !== undefined) return await findProject(call, target_project);
  const parent = source.forked_from_project_id;
  const above = parent === null ? null : await findProject(call, parent).catch(() => null);
  return above ?? source;
};

const create = async (
  call: Call,
  source: Project,
  { branch, sha }: { branch: string; sha: string },
  options: RequestOptions,
): Promise<FoundMergeRequest> => {
  const target = await targetOf(call, source, options);
  const target_branch = options.target ?? target.default_branch;
  if (target_branch === null) throw invalid({ target_branch: ["can't be blank"] });
  const commit = (await commitsById(repositoryOf(call.platform, source), [sha])).get(sha);
  const title = options.title ?? commit?.message.split('\n')[0]?.trim();
  return await createMergeRequest(call, source, {
    source_branch: branch,
    target_branch,
    target_project_id: target.id,
    title: titleOf(options, title === undefined || title === '' ? branch : title),
    labels: options.label,
    assignee_ids: await usersOf(call, options.assign),
    ...(await sharedOf(call, target, options)),
  });
};

const update = async (
  call: Call,
  { id, project_id }: { id: number; project_id: number },
  options: RequestOptions,
): Promise<FoundMergeRequest | null> => {
  const target = await loadProject(call.db, project_id);
  if (target === null) return null;
  const found = await reloadMergeRequest(call.db, target, id);
  const { label, unlabel, assign, unassign, title, draft } = options;
  const changesAssignees = assign.length + unassign.length > 0;
  const removed = new Set(await usersOf(call, unassign));
  const now = changesAssignees
    ? await call.db
        .selectFrom('assignees')
        .select('user_id')
        .where('target_type', '=', 'MergeRequest')
        .where('target_id', '=', id)
        .execute()
    : [];
  const assignee_ids = [...now.map(({ user_id }) => user_id), ...(await usersOf(call, assign))];
  const edit: MergeRequestEdit = {
    ...((title !== undefined || draft) && { title: titleOf(options, title ?? found.merge_request.title) }),
    ...(options.target !== undefined && { target_branch: options.target }),
    ...(label.length > 0 && { add_labels: label }),
    ...(unlabel.length > 0 && { remove_labels: unlabel }),
    ...(changesAssignees && { assignee_ids: assignee_ids.filter((one) => !removed.has(one)) }),
    ...(await sharedOf(call, target, options)),
  };
  return await updateMergeRequest(call, found, edit);
};

const mergeLater = async (
  call: Call,
  found: FoundMergeRequest | null,
  { merge_when_pipeline_succeeds }: RequestOptions,
): Promise<void> => {
  if (found === null || merge_when_pipeline_succeeds !== true) return;
  await acceptRequest(call, found, { isDeferred: true });
};

const ofBranch = async (
  call: Call,
  project: Project,
  pushed: { branch: string; sha: string },
  options: RequestOptions,
): Promise<string[]> => {
  const { branch } = pushed;
  try {
    const open = await openFrom(call.db, project.id, branch);
    if (open.length === 0) {
      if (!options.create && options.target === undefined)
        return [
          `The push option 'merge_request.create' is required to create a merge request for ${branch}.`,
        ];
      await mergeLater(call, await create(call, project, pushed, options), options);
    } else if (options.merge_when_pipeline_succeeds === true) {
      // The new head first: it cancels an earlier request to merge later.
      const user_id = userOf(call).id;
      const moved = { project_id: project.id, user_id, branch, isNew: false, isGone: false };
      await refreshSource(call.platform, moved);
    }
    // oxlint-disable-next-line no-await-in-loop -- seldom several
    for (const one of open) await mergeLater(call, await update(call, one, options), options);
    return [];
  } catch (error) {
    if (isGitFailure(error)) return [`The merge request for ${branch} cannot be changed at the moment.`];
    if (!(error instanceof Failure)) throw error;
    const { message } = (error.body ?? {}) as { message?: unknown };
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return [`The merge request for ${branch} was not created or changed: ${text}`];
  }
};

/** Carries the options of a push out; answers lines about what was not done. */
export const followPushOptions = async (
  platform: Platform,
  pushed: Pushed,
  {
    updates,
    push_options,
  }: { updates: readonly { ref: string; new: string }[]; push_options: readonly string[] },
): Promise<string[]> => {
  const { options, problems } = requestOptionsOf(push_options);
  const call = options === null ? null : await callWithoutRequest(platform, pushed);
  if (options !== null && call !== null) {
    const branches = updates.filter((one) => one.new !== zeroOid && one.ref.startsWith(branchPrefix));
    if (branches.length > mostBranches)
      problems.push(`Options about merge requests are for at most ${mostBranches} branches at once.`);
    for (const { ref, new: sha } of branches.length > mostBranches ? [] : branches) {
      const branch = { branch: ref.slice(branchPrefix.length), sha };
      // oxlint-disable-next-line no-await-in-loop -- one after another
      problems.push(...(await ofBranch(call, pushed.project, branch, options)));
    }
  }
  return problems;
};
