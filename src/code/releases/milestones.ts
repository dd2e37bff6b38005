/** The milestones of a release. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { Failure } from '../../platform/errors.ts';
import { availableTo } from '../../projects/project_or_group/owner.ts';
import { type MilestoneRow, milestoneOwnerPath } from '../../projects/milestones/json.ts';
import type { Project } from '../../projects/projects/find.ts';

/** Milestones by title or by id, as in the request. */
export type NamedMilestones = { milestones?: string[] | undefined; milestone_ids?: number[] | undefined };

const milestonesNotFound = (what: string): Failure =>
  new Failure('bad_request', { message: `Milestone(s) not found: ${what}` });

/**
 * Resolves milestones of the project and its parent groups to ids; null if the request has neither parameter.
 * @throws Failure 400 for an unknown milestone
 */
export const resolveMilestoneIds = async (
  db: Reader,
  { id, namespace_id }: Project,
  { milestones: titles, milestone_ids: ids }: NamedMilestones,
): Promise<number[] | null> => {
  if (titles === undefined && ids === undefined) return null;
  const requestedTitles = (titles ?? []).filter((title) => title !== '');
  if (requestedTitles.length === 0 && (ids ?? []).length === 0) return [];
  const rows = await db
    .selectFrom('milestones')
    .select(['id', 'title'])
    .where(availableTo('milestones', { kind: 'projects', id, namespace_id }))
    .where((is) => is.or([is('title', 'in', ['', ...requestedTitles]), is('id', 'in', [0, ...(ids ?? [])])]))
    .orderBy('id')
    .execute();
  const missingTitles = requestedTitles.filter((title) => !rows.some((row) => row.title === title));
  if (missingTitles.length > 0) throw milestonesNotFound(missingTitles.join(', '));
  const missingIds = (ids ?? []).filter((one) => !rows.some((row) => row.id === one));
  if (missingIds.length > 0) throw milestonesNotFound(`id: ${missingIds.join(', ')}`);
  return rows.map((row) => row.id);
};

/** Replaces the milestones of a release. */
export const setMilestones = async (tx: Tx, releaseId: number, ids: readonly number[]): Promise<void> => {
  await tx.db.deleteFrom('release_milestones').where('release_id', '=', releaseId).execute();
  const rows = ids.map((milestone_id) => ({ release_id: releaseId, milestone_id }));
  await insertRows(tx.db, 'release_milestones', rows);
};

export type ReleaseMilestone = MilestoneRow & { release_id: number; total: number; closed: number };

/**
 * Loads the milestones of releases that the caller may see, with counts of the project's issues: all and closed.
 * Confidential issues are never counted.
 */
export const loadReleaseMilestones = async (
  { db, viewer }: Pick<Call, 'db' | 'viewer'>,
  project: Project,
  releaseIds: readonly number[],
): Promise<ReleaseMilestone[]> => {
  if (releaseIds.length === 0 || !may(viewer, 'read_milestone', project)) return [];
  const issues = sql`from issues where issues.milestone_id = milestones.id and issues.deleted_at is null
    and issues.project_id = ${project.id} and issues.confidential = 0`;
  return await db
    .selectFrom('release_milestones')
    .innerJoin('milestones', 'milestones.id', 'release_milestones.milestone_id')
    .selectAll('milestones')
    .select([
      'release_milestones.release_id',
      milestoneOwnerPath().as('owner_path'),
      sql<number>`(select count(*) ${issues})`.as('total'),
      sql<number>`(select count(*) ${issues} and issues.state = 'closed')`.as('closed'),
    ])
    .where('release_milestones.release_id', 'in', releaseIds)
    .orderBy('milestones.id')
    .execute();
};
