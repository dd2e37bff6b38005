/** Maintains `refs/merge-requests/<iid>/head`, which clients fetch to check out a request, from the database. */
import type { Platform } from '../../../core/platform.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { type Repository, repositoryColumns } from '../../../platform/git/repository.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { loadRefs } from '../../../code/repository/refs/resolve.ts';

const headRefName = (iid: number): string => `refs/merge-requests/${iid}/head`;

/** Name of the ref of the trial merge commit. */
export const mergeRefName = (iid: number): string => `refs/merge-requests/${iid}/merge`;

const loadHead = async (db: Reader, id: number) =>
  await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select([
      'merge_requests.iid',
      'merge_requests.head_sha',
      'merge_requests.deleted_at',
      'projects.id',
      ...repositoryColumns,
    ])
    .where('merge_requests.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();

/** Deleting a request removes its refs. */
const removeRefs = async (repository: Repository, iid: number): Promise<void> => {
  const names = [headRefName(iid), mergeRefName(iid)];
  const refs = await loadRefs(repository, names);
  const updates = names
    .filter((_name, at) => refs[at] !== null)
    .map((ref) => ({ ref, old: null, new: zeroOid }));
  if (updates.length > 0) await repository.ask('refs.update', { updates });
};

/** Maximum number of attempts when the request keeps changing while its ref is written. */
const maxRounds = 10;

/**
 * Points the ref to the head of the latest version. Repeats if the version or the storage changed meanwhile. Removes
 * the refs of deleted requests. Idempotent.
 */
export const writeHeadRef = async (
  platform: Pick<Platform, 'git' | 'store'>,
  mergeRequestId: number,
): Promise<void> => {
  let written: string | null = null;
  for (let round = 0; round < maxRounds; round += 1) {
    const row = await loadHead(platform.store.db, mergeRequestId);
    if (row === undefined) return;
    const repository = getRepository(platform, row);
    if (row.deleted_at !== null) return await removeRefs(repository, row.iid);
    const state = `${repository.path} ${row.head_sha}`;
    if (row.head_sha === null || state === written) return;
    const updates = [{ ref: headRefName(row.iid), old: null, new: row.head_sha }];
    await repository.ask('refs.update', { updates });
    written = state;
  }
};
