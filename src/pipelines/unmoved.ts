/**
 * Ends that move nothing: most of a long stage are such, and need not load all its jobs. Where this does not see that
 * it is one, `advanceLocked` looks.
 */
import { compiled } from '../db/compiled.ts';
import { keep } from '../db/kept.ts';
import type { Tx } from '../db/open.ts';
import type { Job, Pipeline } from './store.ts';

const needy = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', pipeline_id)
    .where('by_needs', '=', 1)
    .limit(1)
    .compile(),
);

/** Whether any job names what it waits for: as the pipeline was made, so it stays. */
const known = keep<number, boolean>(1_000);

const hasNeeds = async (tx: Tx, pipeline_id: number): Promise<boolean> => {
  const kept = known.get(tx.db, pipeline_id);
  if (kept !== undefined) return kept;
  // A job of it has run: what made it is no transaction that may come to nothing.
  const has = (await needy(tx.db, { pipeline_id })).length > 0;
  known.set(tx.db, pipeline_id, has);
  return has;
};

const beside = compiled(
  (
    db,
    given: { ids: readonly number[]; stage_id: number; pipeline_id: number; stage_position: number },
    words,
  ) =>
    db
      .selectFrom('stages')
      .select((is) => [
        'status',
        is
          .selectFrom('jobs')
          .select('jobs.id')
          .where('pipeline_id', '=', given.pipeline_id)
          .where('stage_position', '=', given.stage_position)
          .where('retried', '=', 0)
          .where('jobs.status', 'in', ['running', 'pending'])
          .where(is.not(words.oneOf('jobs.id', given.ids)))
          // Those of the highest ids are the last to be taken: the first that is looked at is one, mostly.
          .orderBy('jobs.id', 'desc')
          .limit(1)
          .as('other'),
      ])
      .where('id', '=', given.stage_id)
      .compile(),
);

/** Of jobs of one pipeline that succeed: their stages go on as before, and nobody waits for them alone. */
export const movesNothing = async (tx: Tx, pipeline: Pipeline, jobs: readonly Job[]): Promise<boolean> => {
  if (pipeline.status !== 'running' || (await hasNeeds(tx, pipeline.id))) return false;
  for (const some of Map.groupBy(jobs, ({ stage_id }) => stage_id).values()) {
    const [first] = some;
    if (first === undefined) continue;
    const { stage_id, pipeline_id, stage_position } = first;
    const ids = some.map(({ id }) => id);
    // oxlint-disable-next-line no-await-in-loop -- mostly there is one
    const [stage] = await beside(tx.db, { ids, stage_id, pipeline_id, stage_position });
    if (stage?.status !== 'running' || stage.other === null) return false;
  }
  return true;
};
