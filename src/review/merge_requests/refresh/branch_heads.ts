/** Loads the branches of merge requests and the commits they point to. */
import type { Platform } from '../../../core/platform.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import {
  type Repository,
  type RepositoryLocation,
  repositoryColumns,
} from '../../../platform/git/repository.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { branchPrefix, loadRefs } from '../../../code/repository/refs/resolve.ts';

/** The source and target branch of a merge request. */
export type Branches = {
  /** null if the fork was deleted. */
  source: RepositoryLocation | null;
  target: RepositoryLocation;
  source_branch: string;
  target_branch: string;
};

/** The commits of both branches; null for a branch that does not exist. */
export type Heads = { source_sha: Oid | null; target_sha: Oid | null };

/** Reads the commits that branches of one repository point to; null for a missing branch. */
export const readBranchHeads = async (
  repository: Repository,
  branches: string[],
): Promise<(Oid | null)[]> => {
  const refs = await loadRefs(
    repository,
    branches.map((name) => branchPrefix + name),
  );
  return refs.map((ref) => ref?.commit ?? null);
};

/** Reads the current heads of both branches. */
export const readHeads = async (
  platform: Pick<Platform, 'git'>,
  { source, target, source_branch, target_branch }: Branches,
): Promise<Heads> => {
  const own = getRepository(platform, target);
  if (source?.id === target.id) {
    const [source_sha = null, target_sha = null] = await readBranchHeads(own, [source_branch, target_branch]);
    return { source_sha, target_sha };
  }
  const [[target_sha = null], [source_sha = null]] = await Promise.all([
    readBranchHeads(own, [target_branch]),
    source === null ? [] : readBranchHeads(getRepository(platform, source), [source_branch]),
  ]);
  return { source_sha, target_sha };
};

/** Loads the source project of a request, unless it was deleted. */
const loadSourcePlace = async (
  db: Reader,
  sourceProjectId: number | null,
): Promise<RepositoryLocation | null> => {
  if (sourceProjectId === null) return null;
  const row = await db
    .selectFrom('projects')
    .select(['projects.id', ...repositoryColumns])
    .where('id', '=', sourceProjectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
};

type Requested = {
  project_id: number;
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
};

/** Loads the branches of a stored request. */
export const loadBranches = async (
  db: Reader,
  { project_id, source_project_id, source_branch, target_branch }: Requested,
  target: RepositoryLocation,
): Promise<Branches> => {
  const source = source_project_id === project_id ? target : await loadSourcePlace(db, source_project_id);
  return { source, target, source_branch, target_branch };
};
