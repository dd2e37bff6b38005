/** Completes the activity of pushes with what only git knows: the number of commits and the title of the last one. */
import type { Platform } from '../../../core/platform.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type Oid, type RefUpdate, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { toCommitTitle } from '../commits/json.ts';
import { getRepository } from '../get_repository.ts';
import { getDefaultRef } from '../find_code.ts';
import type { RefsMoved } from './refs_moved.ts';
import { branchPrefix, tagPrefix } from './resolve.ts';

/** Facts about a push, as stored in the data of its activity. */
export type PushedCommits = { commit_count: number; commit_title: string | null };

/** Commits that are not new on a new branch: the commits that the default branch had when the branch was created. */
const findBase = async (
  repository: Repository,
  project: Project,
  { ref, branch_base }: { ref: string; branch_base: RefsMoved['branch_base'] },
): Promise<Oid[]> => {
  const default_ref = getDefaultRef(project);
  if (default_ref === null || default_ref === ref) return [];
  if (branch_base !== undefined) return [branch_base ?? []].flat();
  const { refs } = await repository.ask('refs.get', { names: [default_ref] });
  return refs.flatMap((base) => base?.commit ?? []);
};

const describe = async (
  repository: Repository,
  project: Project,
  { ref, old, new: newOid, branch_base }: RefUpdate & Pick<RefsMoved, 'branch_base'>,
): Promise<PushedCommits> => {
  if (newOid === zeroOid) return { commit_count: 0, commit_title: null };
  const resolved = await repository.ask('revision.resolve', { revision: newOid, default_ref: null });
  if (resolved === null) return { commit_count: 0, commit_title: null };
  const isTag = ref.startsWith(tagPrefix);
  const isNew = old === zeroOid || old === null;
  const not =
    isTag || !isNew ? [old ?? []].flat() : await findBase(repository, project, { ref, branch_base });
  const walk = { from: [resolved.commit], not: isTag ? [] : not, skip: 0, limit: 1, count: !isTag };
  const { commits, total } = await repository.ask('commits.list', walk);
  const [last] = commits;
  return {
    commit_count: isTag ? 1 : (total ?? commits.length),
    commit_title: last === undefined ? null : toCommitTitle(last.message),
  };
};

type Described = { id: number; data: string };

const findUpdate = (updates: readonly RefUpdate[], data: Record<string, unknown>): RefUpdate | undefined =>
  updates.find((one) => one.ref === data['ref'] && one.old === data['before'] && one.new === data['after']);

const describeAll = async (
  platform: Platform,
  project: Project,
  { project_id, updates, branch_base, moved_at }: RefsMoved,
): Promise<Described[]> => {
  const rows = await platform.store.db
    .selectFrom('activities')
    .select(['id', 'data'])
    .where('project_id', '=', project_id)
    .where('created_at', '=', moved_at)
    .where('action', '=', 'pushed')
    .execute();
  const repository = getRepository(platform, project);
  const described: Described[] = [];
  for (const { id, data } of rows) {
    const stored = JSON.parse(data) as Record<string, unknown>;
    const update = findUpdate(updates, stored);
    if (update === undefined || 'commit_count' in stored) continue;
    const facts = await describe(repository, project, { ...update, branch_base });
    described.push({ id, data: JSON.stringify({ ...stored, ...facts }) });
  }
  return described;
};

/** Stores the commit count and title of each push. Refs that were deleted meanwhile have none. */
export const describePushes = async (platform: Platform, moved: RefsMoved): Promise<void> => {
  const project = await loadProject(platform.store.db, moved.project_id);
  if (project === null || !moved.updates.some(({ ref }) => isShown(ref))) return;
  const described = await describeAll(platform, project, moved).catch((error: unknown) => {
    if (
      isGitFailure(error, 'missing') ||
      isGitFailure(error, 'no_repository') ||
      isGitFailure(error, 'limit')
    )
      return [];
    throw error;
  });
  if (described.length === 0) return;
  await platform.store.write(async ({ db }) => {
    for (const { id, data } of described) {
      await db.updateTable('activities').set({ data }).where('id', '=', id).execute();
    }
  });
};

const isShown = (ref: string): boolean => ref.startsWith(branchPrefix) || ref.startsWith(tagPrefix);
