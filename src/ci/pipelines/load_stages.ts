/** Loads the stages of the pipelines of a list. */
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';

export type StageRow = { pipeline_id: number; name: string; position: number; status: JobStatus };

const selectStages = compiled((db, { ids, maxStages }: { ids: number[]; maxStages: number }, dialect) =>
  db
    .selectFrom((inner) =>
      inner
        .selectFrom('stages')
        .select(['pipeline_id', 'name', 'position', 'status'])
        .select(({ fn }) =>
          fn
            .agg<number>('row_number')
            .over((window) => window.partitionBy('pipeline_id').orderBy('position'))
            .as('place'),
        )
        .where(dialect.oneOf('stages.pipeline_id', ids))
        .as('ranked'),
    )
    .select(['pipeline_id', 'name', 'position', 'status'])
    .where('place', '<=', maxStages)
    .orderBy('pipeline_id')
    .orderBy('position')
    .compile(),
);

/** Loads the first stages of each pipeline in one statement, by the pipeline's id. @param maxStages of one pipeline */
export const loadFirstStages = async (
  db: Reader,
  ids: number[],
  maxStages: number,
): Promise<Map<number, StageRow[]>> => {
  if (ids.length === 0) return new Map();
  return Map.groupBy(await selectStages(db, { ids, maxStages }), ({ pipeline_id }) => pipeline_id);
};
