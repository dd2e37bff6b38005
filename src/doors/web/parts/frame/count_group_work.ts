/** Counts the open issues and merge requests of a group and of all groups below it, for the tabs of its pages. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, requireUser } from '../../../../core/access/call.ts';
import { hashRoles } from '../../../../core/access/keep_until_commit.ts';
import { today } from '../../../../core/access/viewer.ts';
import { selectDescendants } from '../../../../identity/namespaces/ancestors.ts';
import { totalOfAll as totalOfIssues } from '../../../../planning/issues/lists/totals.ts';
import { keepReads } from '../../../../platform/db/keep_until_change.ts';
import { totalOfAll as totalOfMergeRequests } from '../../../../review/merge_requests/lists/totals.ts';

type GroupWorkCounts = { issues: number; merge_requests: number };

/** A group with more projects has no counts: each page would read the counters of all. */
const maxProjects = 1_000;

/** Bytes of counts with their keys. */
const maxCachedBytes = 400_000;
const keepCounts = keepReads<GroupWorkCounts | null>(maxCachedBytes, () => 100);

const isTooLarge = async ({ db }: Call, place: RawBuilder<boolean>): Promise<boolean> => {
  const { rows } = await sql<{ count: number }>`select count(*) as count
    from (select 1 from projects where ${place} limit ${sql.lit(maxProjects + 1)}) as counted`.execute(db);
  return (rows[0]?.count ?? 0) > maxProjects;
};

/** Counts what the signed-in caller sees, as the lists of the group do; null if the group has too many projects. */
export const countGroupWork = async (call: Call, groupId: number): Promise<GroupWorkCounts | null> => {
  const place = sql<boolean>`projects.namespace_id in ${selectDescendants(groupId)}`;
  const opened = { project: null, place: [place], state: 'opened' };
  const load = async (): Promise<GroupWorkCounts | null> => {
    if (await isTooLarge(call, place)) return null;
    const [issues, merge_requests] = await Promise.all([
      totalOfIssues(call, opened),
      totalOfMergeRequests(call, opened),
    ]);
    return { issues, merge_requests };
  };
  const key = `${groupId} ${requireUser(call).id} ${today(call.now)} ${hashRoles(call.viewer)}`;
  return await keepCounts(call.db, key, load);
};
