/** Creates or updates the merge requests of pushed branches, as the options of the push say. */
import type { Cause } from '../access/audit.ts';
import type { Call, Platform } from '../access/call.ts';
import { actingUser } from '../access/acting.ts';
import { Failure, invalid } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import { zeroOid } from '../git/protocol_types.ts';
import { type Project, findProject, loadProject } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { branchPrefix, commitsById } from '../repository/resolve.ts';
import { createMergeRequest } from './create.ts';
import { reloadMergeRequest } from './find.ts';
import { openFrom } from './open_requests.ts';
import { type RequestOptions, requestOptionsOf } from './push_options.ts';
import { type MergeRequestEdit, updateMergeRequest } from './update.ts';

/** Branches of one push that options are carried out for, as in GitLab. */
const mostBranches = 10;

type Pushed = { project: Project; cause: Cause; baseUrl: string };

/** A call of the pusher, for operations that requests also make; null: the user may not act any more. */
const callOf = async (platform: Platform, { cause, baseUrl }: Pushed): Promise<Call | null> => {
  const { store, clock, settings } = platform;
  const now = clock.now();
  const source = cause.source ?? { ip: '', userAgent: '' };
  const acting = await actingUser(store.db, cause.user.id, now);
  if (acting === null) return null;
  const credential = { kind: 'session' as const, id: 0, scopes: [], last_used_at: null };
  const call = {
    platform,
    db: store.db,
    write: store.write,
    viewer: acting.viewer,
    settings: settings.current,
    names_version: Number.NaN,
    actor: { user: acting.user, credential, sudo_by_id: cause.sudo_by_id, source },
    now,
    ip: source.ip,
    userAgent: source.userAgent,
    header: () => undefined,
    signedIn: true,
    admin: acting.viewer.admin,
    baseUrl,
    pollInterval: () => '0',
  };
  // No HTTP request stands behind a push over SSH; operations on merge requests read none.
  return call as unknown as Call;
};

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
  const row = await db
    .selectFrom('milestones')
    .select('id')
    .where('project_id', '=', project.id)
    .where('title', '=', title)
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
): Promise<void> => {
  const target = await targetOf(call, source, options);
  const target_branch = options.target ?? target.default_branch;
  if (target_branch === null) throw invalid({ target_branch: ["can't be blank"] });
  const commit = (await commitsById(repositoryOf(call.platform, source), [sha])).get(sha);
  const title = options.title ?? commit?.message.split('\n')[0]?.trim();
  await createMergeRequest(call, source, {
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
): Promise<void> => {
  const target = await loadProject(call.db, project_id);
  if (target === null) return;
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
  await updateMergeRequest(call, found, edit);
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
      await create(call, project, pushed, options);
    }
    for (const one of open) await update(call, one, options); // oxlint-disable-line no-await-in-loop -- seldom several
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
  const call = options === null ? null : await callOf(platform, pushed);
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
  return problems.length === 0 ? [] : ['', 'WARNINGS:', ...problems.map((line) => `  ${line}`), ''];
};
