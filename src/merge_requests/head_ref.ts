/** `refs/merge-requests/<iid>/head`: for those who fetch a request. It follows what the store says. */
import type { Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { repositoryOf } from '../repository/open.ts';

const headRefOf = (iid: number): string => `refs/merge-requests/${iid}/head`;

const headOf = async (db: Reader, id: number) =>
  await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(['merge_requests.iid', 'merge_requests.head_sha', 'projects.id', 'projects.repository_storage'])
    .where('merge_requests.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();

/** More changes of one request while its ref is written than there ever are. */
const mostRounds = 10;

/** Makes the ref name the head of the latest version, also where that changes meanwhile. May be done twice. */
export const writeHeadRef = async (
  platform: Pick<Platform, 'git' | 'store'>,
  mergeRequestId: number,
): Promise<void> => {
  let written: string | null = null;
  for (let round = 0; round < mostRounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- looks again after each write
    const row = await headOf(platform.store.db, mergeRequestId);
    if (row === undefined || row.head_sha === null || row.head_sha === written) return;
    const updates = [{ ref: headRefOf(row.iid), old: null, new: row.head_sha }];
    // oxlint-disable-next-line no-await-in-loop
    await repositoryOf(platform, row).ask('refs.update', { updates });
    written = row.head_sha;
  }
};
