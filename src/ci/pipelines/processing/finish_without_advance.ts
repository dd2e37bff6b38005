/**
 * Detects finished jobs that release no others, which is most jobs of a large stage, without loading the stage.
 * When in doubt it returns false and `advanceLockedPipeline` loads everything.
 */
import { compiled } from '../../../platform/db/compiled_query.ts';
import { immutableRowCache } from '../../../platform/db/immutable_rows.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { Job, Pipeline } from '../pipeline_rows.ts';

const selectJobWithNeeds = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', pipeline_id)
    .where('by_needs', '=', 1)
    .limit(1)
    .compile(),
);

/** Caches whether a pipeline has jobs with `needs`, by pipeline id. This never changes after creation. */
const needsCache = immutableRowCache<number, boolean>(1_000);

const hasNeeds = async (tx: Tx, pipeline_id: number): Promise<boolean> => {
  const cached = needsCache.get(tx.db, pipeline_id);
  if (cached !== undefined) return cached;
  // Safe to cache: one of its jobs has run, so its creation is committed.
  const hasAny = (await selectJobWithNeeds(tx.db, { pipeline_id })).length > 0;
  needsCache.set(tx.db, pipeline_id, hasAny);
  return hasAny;
};

const selectActiveInStage = compiled(
  (
    db,
    input: { ids: readonly number[]; stage_id: number; pipeline_id: number; stage_position: number },
    dialect,
  ) =>
    db
      .selectFrom('stages')
      .select((is) => [
        'status',
        is
          .selectFrom('jobs')
          .select('jobs.id')
          .where('pipeline_id', '=', input.pipeline_id)
          .where('stage_position', '=', input.stage_position)
          .where('retried', '=', 0)
          .where('jobs.status', 'in', ['running', 'pending'])
          .where(is.not(dialect.oneOf('jobs.id', input.ids)))
          // Runners take the highest ids last, so the first row checked mostly matches.
          .orderBy('jobs.id', 'desc')
          .limit(1)
          .as('other'),
      ])
      .where('id', '=', input.stage_id)
      .compile(),
);

/** Checks that jobs of one pipeline can succeed without changing a stage's status or releasing other jobs. */
export const isIsolatedFinish = async (
  tx: Tx,
  pipeline: Pipeline,
  jobs: readonly Job[],
): Promise<boolean> => {
  if (pipeline.status !== 'running' || (await hasNeeds(tx, pipeline.id))) return false;
  for (const stageJobs of Map.groupBy(jobs, ({ stage_id }) => stage_id).values()) {
    const [first] = stageJobs;
    if (first === undefined) continue;
    const { stage_id, pipeline_id, stage_position } = first;
    const ids = stageJobs.map(({ id }) => id);
    const [stage] = await selectActiveInStage(tx.db, { ids, stage_id, pipeline_id, stage_position });
    if (stage?.status !== 'running' || stage.other === null) return false;
  }
  return true;
};
