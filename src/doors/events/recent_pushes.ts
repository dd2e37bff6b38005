/** Lists the branches to which the caller pushed lately, and which wait for a merge request or have an open one. */
import { sql } from 'kysely';
import { openCode } from '../../code/repository/find_code.ts';
import { branchPrefix, loadRefs } from '../../code/repository/refs/resolve.ts';
import { type Call, requireUser } from '../../core/access/call.ts';
import { allOf, anyOf, visibleMergeRequests } from '../../core/access/visible.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { type Project, projectsById } from '../../projects/projects/find.ts';
import { byAuthor } from './list_activities.ts';
import { visibleActivities } from './visible_activities.ts';

/** Milliseconds after which a push is not recent. */
const maxAge = 7 * dayMilliseconds;
/** Pushes that are read, and branches that are shown. */
const maxPushes = 50;
const maxBranches = 4;
/** Deadline of a storage in seconds: the start page waits for its answer. */
const maxSeconds = 2;

/** @property request iid and path of the open merge request; null if the branch has none */
export type RecentPush = {
  project: Project;
  branch: string;
  pushed_at: number;
  request: { iid: number; full_path: string } | null;
};

/** @property isComplete false: a storage did not answer, so its branches are missing */
export type RecentPushes = { pushes: RecentPush[]; isComplete: boolean };

type Pushed = Omit<RecentPush, 'request'>;
/** @property head present commit of the branch */
type ExistingBranch = Pushed & { head: string };

type PushRow = { project_id: number; created_at: number; ref: string; after: string };

/** Loads the last changes of refs by the caller, the latest first. */
const loadPushes = async (call: Call): Promise<PushRow[]> => {
  const where = allOf([
    byAuthor(requireUser(call).id),
    sql<boolean>`activities.created_at >= ${call.now - maxAge}`,
    sql<boolean>`activities.action = 'pushed'`,
    sql<boolean>`projects.archived = 0`,
    visibleActivities(call.viewer, call.platform.store.dialect),
  ]);
  const { rows } = await sql<{ project_id: number; created_at: number; data: string }>`
    select activities.project_id, activities.created_at, activities.data
    from activities join projects on projects.id = activities.project_id where ${where}
    order by activities.created_at desc, activities.id desc limit ${maxPushes}`.execute(call.db);
  return rows.map(({ project_id, created_at, data }) => {
    const { ref, after } = JSON.parse(data) as { ref: string; after: string };
    return { project_id, created_at, ref, after };
  });
};

/** Leaves out merges of merge requests into a branch, which also change a ref. */
const withoutMerges = async ({ db }: Call, pushes: PushRow[]): Promise<PushRow[]> => {
  if (pushes.length === 0) return [];
  const results = pushes.flatMap(({ project_id, after }) =>
    ['merge_commit_sha', 'squash_commit_sha', 'head_sha'].map(
      (column) => sql<boolean>`(project_id = ${project_id} and ${sql.ref(column)} = ${after})`,
    ),
  );
  const { rows } = await sql<{ project_id: number; target_branch: string; ids: string }>`
    select project_id, target_branch,
      coalesce(merge_commit_sha, '') || ' ' || coalesce(squash_commit_sha, '') || ' ' || coalesce(head_sha, '') as ids
    from merge_requests where ${anyOf(results)} and state = 'merged'`.execute(db);
  return pushes.filter(
    ({ project_id, ref, after }) =>
      !rows.some(
        (one) =>
          one.project_id === project_id &&
          branchPrefix + one.target_branch === ref &&
          one.ids.split(' ').includes(after),
      ),
  );
};

/** Keeps the last push to each branch but the default one. */
const lastOfBranches = async (call: Call): Promise<Pushed[]> => {
  const rows = await withoutMerges(call, await loadPushes(call));
  const ids = [...new Set(rows.map(({ project_id }) => project_id))];
  const projects = ids.length === 0 ? new Map<number, Project>() : await projectsById(call.db, ids);
  const last = new Map<string, Pushed>();
  for (const { project_id, created_at, ref } of rows) {
    const project = projects.get(project_id);
    const branch = ref.slice(branchPrefix.length);
    const key = `${project_id} ${ref}`;
    const isOther = ref.startsWith(branchPrefix) && branch !== project?.default_branch;
    if (project === undefined || !isOther || last.has(key)) continue;
    last.set(key, { project, branch, pushed_at: created_at });
  }
  return [...last.values()];
};

/** Returns the branches of one project that exist; null if its storage does not answer. */
const keepExisting = async (
  call: Call,
  project: Project,
  pushes: readonly Pushed[],
): Promise<ExistingBranch[] | null> => {
  const names = pushes.map(({ branch }) => branchPrefix + branch);
  try {
    const refs = await loadRefs(openCode(call, project).repository, names, { seconds: maxSeconds });
    return pushes.flatMap((push, at) => {
      const head = refs[at]?.commit ?? null;
      return head === null ? [] : [{ ...push, head }];
    });
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    call.platform.log.warn({ err: error, project: project.id }, 'could not load recent pushes');
    return null;
  }
};

type RequestRow = {
  source_project_id: number;
  source_branch: string;
  state: string;
  head_sha: string | null;
  iid: number;
  full_path: string;
};

/**
 * Loads the merge requests of the branches that the caller sees: open requests, and requests that ended with this head.
 */
const loadRequests = async (call: Call, branches: readonly ExistingBranch[]): Promise<RequestRow[]> => {
  if (branches.length === 0) return [];
  const ofBranch = branches.map(
    ({ project, branch, head }) =>
      sql<boolean>`(merge_requests.source_project_id = ${project.id} and merge_requests.source_branch = ${branch}
        and (merge_requests.state = 'opened' or merge_requests.head_sha = ${head}))`,
  );
  const where = allOf([anyOf(ofBranch), visibleMergeRequests(call.viewer, call.platform.store.dialect)]);
  const { rows } = await sql<RequestRow>`
    select source_project_id, source_branch, state, head_sha, iid, projects.full_path
    from merge_requests join projects on projects.id = merge_requests.project_id where ${where}
    order by merge_requests.id desc`.execute(call.db);
  return rows;
};

/**
 * Lists recently pushed branches, the latest first. A branch whose present commit was merged or declined is left out.
 */
export const listRecentPushes = async (call: Call): Promise<RecentPushes> => {
  const byProject = Map.groupBy(await lastOfBranches(call), ({ project }) => project);
  const existing = await Promise.all(
    [...byProject].map(async ([project, own]) => await keepExisting(call, project, own)),
  );
  const branches = existing.flatMap((own) => own ?? []).toSorted((a, b) => b.pushed_at - a.pushed_at);
  const requests = await loadRequests(call, branches);
  const pushes = branches.flatMap(({ head, ...push }) => {
    const own = requests.filter(
      (one) => one.source_project_id === push.project.id && one.source_branch === push.branch,
    );
    const request = own.find(({ state }) => state === 'opened') ?? null;
    const isDone = own.some(({ state, head_sha }) => state !== 'opened' && head_sha === head);
    return request === null && isDone ? [] : [{ ...push, request }];
  });
  return { pushes: pushes.slice(0, maxBranches), isComplete: !existing.includes(null) };
};
