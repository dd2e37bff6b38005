/** Loads the text and color of the badges of a branch or tag. */
import type { Reader } from '../../../platform/db/open.ts';
import { countedRows } from '../../../code/repository/statuses/counted_statuses.ts';
import { shownStatus } from '../../../code/repository/statuses/pipeline_summary.ts';

export type BadgeValue = { value: string; color: string };

const grey = '#9f9f9f';
const colors: Record<string, string> = {
  success: '#4c1',
  failed: '#e05d44',
  running: '#dfb317',
  pending: '#dfb317',
};

type BadgeRef = { project_id: number; ref: string };

/** Loads the status of the ref's newest pipeline. Merge request pipelines have their own refs and do not count. */
export const loadPipelineBadge = async (
  db: Reader,
  { project_id, ref }: BadgeRef,
  ignoreSkipped: boolean,
): Promise<BadgeValue> => {
  let query = db
    .selectFrom('pipelines')
    .select('status')
    .where('project_id', '=', project_id)
    .where('source', '<>', 'parent_pipeline')
    .where('ref', '=', ref);
  if (ignoreSkipped) query = query.where('status', '<>', 'skipped');
  const row = await query.orderBy('id', 'desc').limit(1).executeTakeFirst();
  if (row === undefined) return { value: 'unknown', color: grey };
  const status = shownStatus(row.status);
  return { value: status === 'success' ? 'passed' : status, color: colors[status] ?? grey };
};

const coverageColors: [percent: number, color: string][] = [
  [95, '#4c1'],
  [90, '#a3c51c'],
  [75, '#dfb317'],
  [0, '#e05d44'],
];

/** Loads the coverage of the newest successful pipeline: of one job, or the mean of all jobs that report one. */
export const loadCoverageBadge = async (
  db: Reader,
  { project_id, ref }: BadgeRef,
  job: string | undefined,
): Promise<BadgeValue> => {
  const newest = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project_id)
    .where('source', '<>', 'parent_pipeline')
    .where('ref', '=', ref)
    .where('status', '=', 'success')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  let query = db
    .selectFrom(countedRows(db, newest?.id ?? 0).as('counted'))
    .select(({ fn }) => fn.avg<number | string | null>('coverage').as('mean'))
    .where('coverage', 'is not', null);
  if (job !== undefined) query = query.where('name', '=', job);
  const { mean } = await query.executeTakeFirstOrThrow();
  if (mean === null) return { value: 'unknown', color: grey };
  const percent = Number(mean) / 100;
  const color = coverageColors.find(([from]) => percent >= from)?.[1] ?? grey;
  return { value: `${percent.toFixed(2)}%`, color };
};
