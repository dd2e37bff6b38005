/** How far pipelines may start one another. */
import type { Reader } from '../db/open.ts';
import type { Pipeline } from './store.ts';

/** Below the first of a project. */
const deepest = 2;
/** Pipelines of one tree, of whatever projects. */
const mostInTree = 1000;
/** How often one that others started may come back to where it was: not so often that it never ends. */
const mostRounds = 2;

export const rootOf = ({ id, root_id }: Pick<Pipeline, 'id' | 'root_id'>): number => root_id ?? id;

const isFull = async (db: Reader, pipeline: Pipeline): Promise<boolean> => {
  const { count } = await db
    .selectFrom('pipelines')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('root_id', '=', rootOf(pipeline))
    .executeTakeFirstOrThrow();
  // The root is not among them.
  return Number(count) + 1 >= mostInTree;
};

type Above = Pick<Pipeline, 'project_id' | 'ref' | 'source'>;

/** Itself, and those that led to it. */
const chainOf = async (db: Reader, pipeline: Pipeline): Promise<Above[]> =>
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
    .limit(mostInTree)
    .execute();

const goesRound = async (db: Reader, pipeline: Pipeline): Promise<boolean> => {
  const own = (await chainOf(db, pipeline)).filter(({ source }) => source !== 'parent_pipeline');
  const places = own.map(({ project_id, ref, source }) => `${project_id} ${source} ${ref}`);
  return [...Map.groupBy(places, (place) => place).values()].some((same) => same.length > mostRounds);
};

/** Why the pipeline may start no other one; null: it may. */
export const downstreamLimit = async (
  db: Reader,
  pipeline: Pipeline,
  isChild: boolean,
): Promise<string | null> => {
  if (isChild && pipeline.depth >= deepest) return 'reached_max_descendant_pipelines_depth';
  if (!isChild && (await goesRound(db, pipeline))) return 'pipeline_loop_detected';
  return (await isFull(db, pipeline)) ? 'reached_max_pipeline_hierarchy_size' : null;
};
