/** Limits on depth, number and repetition of downstream pipelines. */
import type { Reader } from '../../../platform/db/open.ts';
import type { Pipeline } from '../pipeline_rows.ts';

/** Levels of child pipelines below the first pipeline of a project. */
const maxDepth = 2;
/** Pipelines of one tree, across projects. */
const maxTreeSize = 1000;
/** Pipelines of the same project, source and ref in one chain; more count as a loop. */
const maxRepeats = 2;

export const getRootId = ({ id, root_id }: Pick<Pipeline, 'id' | 'root_id'>): number => root_id ?? id;

const isTreeFull = async (db: Reader, pipeline: Pipeline): Promise<boolean> => {
  const { count } = await db
    .selectFrom('pipelines')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('root_id', '=', getRootId(pipeline))
    .executeTakeFirstOrThrow();
  // The root has no `root_id` and is not counted.
  return Number(count) + 1 >= maxTreeSize;
};

type Ancestor = Pick<Pipeline, 'project_id' | 'ref' | 'source'>;

/** Loads the pipeline itself and all upstream pipelines that led to it. */
const loadAncestors = async (db: Reader, pipeline: Pipeline): Promise<Ancestor[]> =>
  await db
    .withRecursive('above', (way) =>
      way
        .selectFrom('pipelines')
        .select(['id', 'project_id', 'ref', 'source', 'source_pipeline_id'])
        .where('id', '=', pipeline.id)
        .unionAll((upper) =>
          upper
            .selectFrom('pipelines as next')
            .innerJoin('above', 'above.source_pipeline_id', 'next.id')
            .select(['next.id', 'next.project_id', 'next.ref', 'next.source', 'next.source_pipeline_id']),
        ),
    )
    .selectFrom('above')
    .select(['project_id', 'ref', 'source'])
    .limit(maxTreeSize)
    .execute();

const isLoop = async (db: Reader, pipeline: Pipeline): Promise<boolean> => {
  const ancestors = (await loadAncestors(db, pipeline)).filter(({ source }) => source !== 'parent_pipeline');
  const places = ancestors.map(({ project_id, ref, source }) => `${project_id} ${source} ${ref}`);
  return [...Map.groupBy(places, (place) => place).values()].some((same) => same.length > maxRepeats);
};

/** Returns the failure reason if the pipeline may not start another one, or null. */
export const getDownstreamLimitError = async (
  db: Reader,
  pipeline: Pipeline,
  isChild: boolean,
): Promise<string | null> => {
  if (isChild && pipeline.depth >= maxDepth) return 'reached_max_descendant_pipelines_depth';
  if (!isChild && (await isLoop(db, pipeline))) return 'pipeline_loop_detected';
  return (await isTreeFull(db, pipeline)) ? 'reached_max_pipeline_hierarchy_size' : null;
};
