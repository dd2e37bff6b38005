/** Where the branches of a merge request are, and where they point. */
import type { Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import type { Oid } from '../git/protocol_types.ts';
import { type Repository, type RepositoryPlace, placeColumns } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import { branchPrefix, refsNamed } from '../repository/resolve.ts';

/** What of a project tells where its repository is. */
/** Two branches: what a merge request compares. */
export type Branches = {
  /** null: the fork is gone. */
  source: RepositoryPlace | null;
  target: RepositoryPlace;
  source_branch: string;
  target_branch: string;
};

/** null: there is no such branch. */
export type Heads = { source_sha: Oid | null; target_sha: Oid | null };

/** Where branches of one repository point; null: there is no such branch. */
export const headsIn = async (repository: Repository, branches: string[]): Promise<(Oid | null)[]> => {
  const refs = await refsNamed(
    repository,
    branches.map((name) => branchPrefix + name),
  );
  return refs.map((ref) => ref?.commit ?? null);
};

/** Where both branches point now. */
export const readHeads = async (
  platform: Pick<Platform, 'git'>,
  { source, target, source_branch, target_branch }: Branches,
): Promise<Heads> => {
  const own = repositoryOf(platform, target);
  if (source?.id === target.id) {
    const [source_sha = null, target_sha = null] = await headsIn(own, [source_branch, target_branch]);
    return { source_sha, target_sha };
  }
  const [[target_sha = null], [source_sha = null]] = await Promise.all([
    headsIn(own, [target_branch]),
    source === null ? [] : headsIn(repositoryOf(platform, source), [source_branch]),
  ]);
  return { source_sha, target_sha };
};

/** The project that a request comes from, if it is still there. */
const sourceOf = async (db: Reader, sourceProjectId: number | null): Promise<RepositoryPlace | null> => {
  if (sourceProjectId === null) return null;
  const row = await db
    .selectFrom('projects')
    .select(['projects.id', ...placeColumns])
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

/** The branches of a stored request. */
export const branchesOf = async (
  db: Reader,
  { project_id, source_project_id, source_branch, target_branch }: Requested,
  target: RepositoryPlace,
): Promise<Branches> => {
  const source = source_project_id === project_id ? target : await sourceOf(db, source_project_id);
  return { source, target, source_branch, target_branch };
};
