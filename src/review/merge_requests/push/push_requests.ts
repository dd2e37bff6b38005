/** Creates or updates merge requests of pushed branches from push options. */
import type { Cause } from '../../../core/access/audit.ts';
import { type Call, requireUser } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { openCallWithoutRequest } from '../../../core/access/call_without_request.ts';
import { Failure, invalid, nullIfMissing } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { markDraft } from '../../../planning/issuables/text/draft_title.ts';
import { availableTo } from '../../../projects/project_or_group/owner.ts';
import { type Project, findProject, loadProject } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { branchPrefix, loadCommits } from '../../../code/repository/refs/resolve.ts';
import { acceptRequest } from '../merging/accept.ts';
import { createMergeRequest } from '../create.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { loadOpenFrom } from '../refresh/open_requests.ts';
import { type RequestOptions, parseRequestOptions } from './push_options.ts';
import { refreshSource } from '../refresh/refresh_source.ts';
import { type MergeRequestEdit, updateMergeRequest } from '../update.ts';

/** Maximum number of branches per push with options, as in GitLab. */
const maxBranches = 10;

type Pushed = { project: Project; cause: Cause; baseUrl: string };

const resolveUsers = async ({ db }: Call, names: readonly string[]): Promise<number[]> => {
  if (names.length === 0) return [];
  const plain = names.map((name) => name.replace(/^@/, '').toLowerCase());
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('username', 'in', plain)
    .execute();
  const missingName = plain.find(
    (name) => !/^\d{1,15}$/.test(name) && !rows.some(({ username }) => username.toLowerCase() === name),
  );
  if (missingName !== undefined) throw invalid({ assignee: [`${missingName} was not found`] });
  return [...rows.map(({ id }) => id), ...plain.filter((name) => /^\d{1,15}$/.test(name)).map(Number)];
};

const resolveMilestone = async (
  { db }: Call,
  project: Project,
  title: string | undefined,
): Promise<object> => {
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

const toTitle = ({ draft }: RequestOptions, title: string): string => (draft ? markDraft(title) : title);

/** Returns the fields that create and update share. */
const toSharedFields = async (call: Call, target: Project, options: RequestOptions) => {
  const { description, remove_source_branch, squash } = options;
  return {
    ...(description !== undefined && { description }),
    ...(remove_source_branch === true && { remove_source_branch }),
    ...(squash === true && { squash }),
    ...(await resolveMilestone(call, target, options.milestone)),
  };
};

const resolveTarget = async (
  call: Call,
  source: Project,
  { target_project }: RequestOptions,
): Promise<Project> => {
  if (target_project !== undefined) return await findProject(call, target_project);
  const parent = source.forked_from_project_id;
  const above = parent === null ? null : await nullIfMissing(findProject(call, parent));
  return above ?? source;
};

const create = async (
  call: Call,
  source: Project,
  { branch, sha }: { branch: string; sha: string },
  options: RequestOptions,
): Promise<LoadedMergeRequest> => {
  const target = await resolveTarget(call, source, options);
  const target_branch = options.target ?? target.default_branch;
  if (target_branch === null) throw invalid({ target_branch: ["can't be blank"] });
  const commit = (await loadCommits(getRepository(call.platform, source), [sha])).get(sha);
  const title = options.title ?? commit?.message.split('\n')[0]?.trim();
  return await createMergeRequest(call, source, {
    source_branch: branch,
    target_branch,
    target_project_id: target.id,
    title: toTitle(options, title === undefined || title === '' ? branch : title),
    labels: options.label,
    assignee_ids: await resolveUsers(call, options.assign),
    ...(await toSharedFields(call, target, options)),
  });
};

const update = async (
  call: Call,
  { id, project_id }: { id: number; project_id: number },
  options: RequestOptions,
): Promise<LoadedMergeRequest | null> => {
  const target = await loadProject(call.db, project_id);
  if (target === null) return null;
  const loaded = await reloadMergeRequest(call.db, target, id);
  const { label, unlabel, assign, unassign, title, draft } = options;
  const changesAssignees = assign.length + unassign.length > 0;
  const removed = new Set(await resolveUsers(call, unassign));
  const now = changesAssignees
    ? await call.db
        .selectFrom('assignees')
        .select('user_id')
        .where('target_type', '=', 'MergeRequest')
        .where('target_id', '=', id)
        .execute()
    : [];
  const assignee_ids = [...now.map(({ user_id }) => user_id), ...(await resolveUsers(call, assign))];
  const edit: MergeRequestEdit = {
    ...((title !== undefined || draft) && { title: toTitle(options, title ?? loaded.merge_request.title) }),
    ...(options.target !== undefined && { target_branch: options.target }),
    ...(label.length > 0 && { add_labels: label }),
    ...(unlabel.length > 0 && { remove_labels: unlabel }),
    ...(changesAssignees && { assignee_ids: assignee_ids.filter((one) => !removed.has(one)) }),
    ...(await toSharedFields(call, target, options)),
  };
  return await updateMergeRequest(call, loaded, edit);
};

const mergeLater = async (
  call: Call,
  loaded: LoadedMergeRequest | null,
  { merge_when_pipeline_succeeds }: RequestOptions,
): Promise<void> => {
  if (loaded === null || merge_when_pipeline_succeeds !== true) return;
  await acceptRequest(call, loaded, { time: 'pipeline_succeeds' });
};

const applyToBranch = async (
  call: Call,
  project: Project,
  pushed: { branch: string; sha: string },
  options: RequestOptions,
): Promise<string[]> => {
  const { branch } = pushed;
  try {
    const open = await loadOpenFrom(call.db, project.id, branch);
    if (open.length === 0) {
      if (!options.create && options.target === undefined)
        return [
          `The push option 'merge_request.create' is required to create a merge request for ${branch}.`,
        ];
      await mergeLater(call, await create(call, project, pushed, options), options);
    } else if (options.merge_when_pipeline_succeeds === true) {
      // Process the new head first, because it cancels an earlier scheduled merge.
      const user_id = requireUser(call).id;
      const moved = {
        project_id: project.id,
        user_id,
        branch,
        isNew: false,
        isGone: false,
        moved_at: call.now,
      };
      await refreshSource(call.platform, moved);
    }
    for (const request of open) await mergeLater(call, await update(call, request, options), options);
    return [];
  } catch (error) {
    if (isGitFailure(error)) return [`The merge request for ${branch} cannot be changed at the moment.`];
    if (!(error instanceof Failure)) throw error;
    const { message } = (error.body ?? {}) as { message?: unknown };
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return [`The merge request for ${branch} was not created or changed: ${text}`];
  }
};

/** Applies the push options. Returns a line for each problem. */
export const followPushOptions = async (
  platform: Platform,
  pushed: Pushed,
  {
    updates,
    push_options,
  }: { updates: readonly { ref: string; new: string }[]; push_options: readonly string[] },
): Promise<string[]> => {
  const { options, problems } = parseRequestOptions(push_options);
  const call = options === null ? null : await openCallWithoutRequest(platform, pushed);
  if (options !== null && call !== null) {
    const branches = updates.filter((one) => one.new !== zeroOid && one.ref.startsWith(branchPrefix));
    if (branches.length > maxBranches)
      problems.push(`Merge request options apply to at most ${maxBranches} branches per push.`);
    for (const { ref, new: sha } of branches.length > maxBranches ? [] : branches) {
      const branch = { branch: ref.slice(branchPrefix.length), sha };
      problems.push(...(await applyToBranch(call, pushed.project, branch, options)));
    }
  }
  return problems;
};
