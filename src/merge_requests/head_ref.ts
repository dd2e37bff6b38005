/** `refs/merge-requests/<iid>/head`: for those who fetch a request. It follows what the store says. */
import type { Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { zeroOid } from '../git/protocol_types.ts';
import { type Repository, placeColumns } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import { refsNamed } from '../repository/resolve.ts';

const headRefOf = (iid: number): string => `refs/merge-requests/${iid}/head`;

/** What the target branch would be, were the request merged now. */
export const mergeRefOf = (iid: number): string => `refs/merge-requests/${iid}/merge`;

const headOf = async (db: Reader, id: number) =>
  await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select([
      'merge_requests.iid',
      'merge_requests.head_sha',
      'merge_requests.deleted_at',
      'projects.id',
      ...placeColumns,
    ])
    .where('merge_requests.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();

/** A deleted request is not there for git, either. */
const removeRefs = async (repository: Repository, iid: number): Promise<void> => {
  const names = [headRefOf(iid), mergeRefOf(iid)];
  const found = await refsNamed(repository, names);
  const updates = names
    .filter((_name, at) => found[at] !== null)
    .map((ref) => ({ ref, old: null, new: zeroOid }));
  if (updates.length > 0) await repository.ask('refs.update', { updates });
};

/** More changes of one request while its ref is written than there ever are. */
const mostRounds = 10;

/**
 * Makes the ref name the head of the latest version, also where that changes meanwhile; of a deleted request there is
 * none. May be done twice.
 */
export const writeHeadRef = async (
  platform: Pick<Platform, 'git' | 'store'>,
  mergeRequestId: number,
): Promise<void> => {
  let written: string | null = null;
  for (let round = 0; round < mostRounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- looks again after each write
    const row = await headOf(platform.store.db, mergeRequestId);
    if (row === undefined) return;
    const repository = repositoryOf(platform, row);
    // oxlint-disable-next-line no-await-in-loop -- the end of it
    if (row.deleted_at !== null) return await removeRefs(repository, row.iid);
    if (row.head_sha === null || row.head_sha === written) return;
    const updates = [{ ref: headRefOf(row.iid), old: null, new: row.head_sha }];
    // oxlint-disable-next-line no-await-in-loop
    await repository.ask('refs.update', { updates });
    written = row.head_sha;
  }
};
