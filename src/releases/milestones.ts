/** The milestones that a release completes. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { insertRows } from '../db/insert.ts';
import type { Reader, Tx } from '../db/open.ts';
import { Failure } from '../errors.ts';
import { availableTo } from '../labels/owner.ts';
import { type MilestoneRow, milestoneOwnerPath } from '../milestones/json.ts';
import type { Project } from '../projects/find.ts';

/** As `milestones` and `milestone_ids` name them. */
export type NamedMilestones = { milestones?: string[] | undefined; milestone_ids?: number[] | undefined };

const missing = (what: string): Failure =>
  new Failure('bad_request', { message: `Milestone(s) not found: ${what}` });

/**
 * The ids that are meant, of milestones of the project and of the groups above it; null: nothing was said of them.
 * @throws Failure 400 for one that is not there
 */
export const milestonesGiven = async (
  db: Reader,
  { id, namespace_id }: Project,
  { milestones: titles, milestone_ids: ids }: NamedMilestones,
): Promise<number[] | null> => {
  if (titles === undefined && ids === undefined) return null;
  const wanted = (titles ?? []).filter((title) => title !== '');
  if (wanted.length === 0 && (ids ?? []).length === 0) return [];
  const rows = await db
    .selectFrom('milestones')
    .select(['id', 'title'])
    .where(availableTo('milestones', { kind: 'projects', id, namespace_id }))
    .where((is) => is.or([is('title', 'in', ['', ...wanted]), is('id', 'in', [0, ...(ids ?? [])])]))
    .orderBy('id')
    .execute();
  const absent = wanted.filter((title) => !rows.some((row) => row.title === title));
  if (absent.length > 0) throw missing(absent.join(', '));
  const unknown = (ids ?? []).filter((one) => !rows.some((row) => row.id === one));
  if (unknown.length > 0) throw missing(`id: ${unknown.join(', ')}`);
  return rows.map((row) => row.id);
};

/** Makes these the milestones of a release. */
export const setMilestones = async (tx: Tx, releaseId: number, ids: readonly number[]): Promise<void> => {
  await tx.db.deleteFrom('release_milestones').where('release_id', '=', releaseId).execute();
  const rows = ids.map((milestone_id) => ({ release_id: releaseId, milestone_id }));
  await insertRows(tx.db, 'release_milestones', rows);
};

export type ReleaseMilestone = MilestoneRow & { release_id: number; total: number; closed: number };

/**
 * Milestones of releases, as far as the caller may see them, with how many of the project's issues they have, and how
 * many of those are closed; confidential ones are counted for nobody.
 */
export const milestonesOf = async (
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
