/** Lists the branches to which the caller pushed lately, and which wait for a merge request or have an open one. */
import { sql } from 'kysely';
import { openCode } from '../../code/repository/find_code.ts';
import { branchPrefix, loadRefs } from '../../code/repository/refs/resolve.ts';
import { type Call, requireUser } from '../../core/access/call.ts';
import { allOf, anyOf, visibleMergeRequests } from '../../core/access/visible.ts';
import { Failure } from '../../platform/errors.ts';
import { type Project, projectsById } from '../../projects/projects/find.ts';
import { byAuthor } from './list_activities.ts';
import { visibleActivities } from './visible_activities.ts';

/** Milliseconds after which a push is not recent. */
const maxAge = 7 * 86_400_000;
/** Pushes that are read, and branches that are shown. */
const maxPushes = 50;
const maxBranches = 4;

/** @property request iid and path of the open merge request; null: the branch has none */
export type RecentPush = {
  project: Project;
  branch: string;
  pushed_at: number;
  request: { iid: number; full_path: string } | null;
};

type Pushed = Omit<RecentPush, 'request'> & { after: string };

/** Loads the last pushes, the latest first. */
const loadPushes = async (
  call: Call,
): Promise<{ project_id: number; created_at: number; data: string }[]> => {
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
  return rows;
};

/** Keeps the last push to each branch but the default one. */
const lastOfBranches = async (call: Call): Promise<Pushed[]> => {
  const rows = await loadPushes(call);
  const ids = [...new Set(rows.map(({ project_id }) => project_id))];
  const projects = ids.length === 0 ? new Map<number, Project>() : await projectsById(call.db, ids);
  const last = new Map<string, Pushed>();
  for (const { project_id, created_at, data } of rows) {
    const { ref, after } = JSON.parse(data) as { ref: string; after: string };
    const project = projects.get(project_id);
    const branch = ref.slice(branchPrefix.length);
    const key = `${project_id} ${ref}`;
    const isOther = ref.startsWith(branchPrefix) && branch !== project?.default_branch;
    if (project === undefined || !isOther || last.has(key)) continue;
    last.set(key, { project, branch, pushed_at: created_at, after });
  }
  return [...last.values()];
};

/** Keeps branches that still are where the push left them. A storage that does not answer leaves out its own. */
const keepExisting = async (call: Call, pushes: readonly Pushed[]): Promise<Pushed[]> => {
  const byProject = Map.groupBy(pushes, ({ project }) => project);
  const kept = await Promise.all(
    [...byProject].map(async ([project, own]) => {
      try {
        const { repository } = openCode(call, project);
        const refs = await loadRefs(
          repository,
          own.map(({ branch }) => branchPrefix + branch),
        );
        return own.filter((_push, at) => refs[at] !== null);
      } catch (error) {
        if (error instanceof Failure) return [];
        throw error;
      }
    }),
  );
  return kept.flat().toSorted((a, b) => b.pushed_at - a.pushed_at);
};

type RequestRow = {
  source_project_id: number;
  source_branch: string;
  state: string;
  head_sha: string | null;
  iid: number;
  full_path: string;
};

/** Loads the merge requests of the branches that the caller sees. */
const loadRequests = async (call: Call, pushes: readonly Pushed[]): Promise<RequestRow[]> => {
  if (pushes.length === 0) return [];
  const ofBranch = pushes.map(
    ({ project, branch }) =>
      sql<boolean>`(merge_requests.source_project_id = ${project.id} and merge_requests.source_branch = ${branch})`,
  );
  const where = allOf([anyOf(ofBranch), visibleMergeRequests(call.viewer, call.platform.store.dialect)]);
  const { rows } = await sql<RequestRow>`
    select source_project_id, source_branch, state, head_sha, iid, projects.full_path
    from merge_requests join projects on projects.id = merge_requests.project_id where ${where}
    order by merge_requests.id desc`.execute(call.db);
  return rows;
};

/** Lists recently pushed branches, the latest first. A branch whose last commit was merged or declined is left out. */
export const listRecentPushes = async (call: Call): Promise<RecentPush[]> => {
  const pushes = (await lastOfBranches(call)).slice(0, 2 * maxBranches);
  const [existing, requests] = await Promise.all([keepExisting(call, pushes), loadRequests(call, pushes)]);
  return existing
    .flatMap(({ after, ...push }) => {
      const own = requests.filter(
        (one) => one.source_project_id === push.project.id && one.source_branch === push.branch,
      );
      const request = own.find(({ state }) => state === 'opened') ?? null;
      const isDone = own.some(({ state, head_sha }) => state !== 'opened' && head_sha === after);
      return request === null && isDone ? [] : [{ ...push, request }];
    })
    .slice(0, maxBranches);
};
