/**
 * What other systems say of a commit counts in a pipeline, as jobs do: in the newest of the commit and its branch or
 * tag; where there is none, in one that is made for it.
 */
import type { Reader, Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import { type Oid, zeroOid } from '../git/protocol_types.ts';
import { holdProject } from '../projects/hold.ts';
import { externalStage } from '../repository/status_list.ts';
import { externalPosition } from './external_statuses.ts';
import { insertPipeline } from './insert.ts';
import { insertMany } from './insert_many.ts';
import { pipelineRef } from './pipeline_ref.ts';
import { getsProtected } from './rights.ts';
import { type Pipeline, lockPipeline } from './store.ts';

type Named = {
  project_id: number;
  sha: Oid;
  ref?: string | undefined;
  /** Where the commit has several. */
  pipeline_id?: number | undefined;
};

/** null: there is none. Parts of others are not looked at. */
export const newestPipeline = async (
  db: Reader,
  { project_id, sha, ref, pipeline_id }: Named,
): Promise<{ id: number; ref: string; tag: 0 | 1 } | null> => {
  let query = db
    .selectFrom('pipelines')
    .select(['id', 'ref', 'tag'])
    .where('project_id', '=', project_id)
    .where('sha', '=', sha)
    .where('source', '<>', 'parent_pipeline');
  if (ref !== undefined) query = query.where('ref', '=', ref);
  if (pipeline_id !== undefined) query = query.where('id', '=', pipeline_id);
  return (await query.orderBy('id', 'desc').limit(1).executeTakeFirst()) ?? null;
};

export const noSuchPipeline = () => notFound('Pipeline for pipeline_id, sha and ref');

type Wanted = Named & { ref: string; tag: 0 | 1; author_id: number };

const make = async (tx: Tx, { project_id, sha, ref, tag, author_id }: Wanted): Promise<number> => {
  const row = { project_id, ref, tag, sha, source: 'external' as const, user_id: author_id };
  const spoken = pipelineRef({ ...row, merge_request_id: null }, null);
  const isProtected = await getsProtected(tx.db, project_id, spoken);
  return await insertPipeline(tx, {
    pipeline: { ...row, before_sha: zeroOid, protected: isProtected ? 1 : 0, auto_cancel: 'none' },
    jobs: [],
    timeout: 0,
  });
};

const lockNewest = async (tx: Tx, wanted: Wanted): Promise<Pipeline | null> => {
  const known = await newestPipeline(tx.db, wanted);
  return known === null ? null : await lockPipeline(tx, known.id);
};

/** The project is held only for this: who has a pipeline's lock may have to wait for the project. */
const madeOnce = async (tx: Tx, wanted: Wanted): Promise<Pipeline | null> => {
  await holdProject(tx, wanted.project_id);
  return (await lockNewest(tx, wanted)) ?? (await lockPipeline(tx, await make(tx, wanted)));
};

/**
 * The pipeline in which a status counts, locked.
 * @throws Failure 404 where the one that is named is none of the commit
 */
export const pipelineForStatus = async (tx: Tx, wanted: Wanted): Promise<Pipeline> => {
  const isNamed = wanted.pipeline_id !== undefined;
  const pipeline = (await lockNewest(tx, wanted)) ?? (isNamed ? null : await madeOnce(tx, wanted));
  if (pipeline === null) throw noSuchPipeline();
  const stage = { name: externalStage, position: externalPosition, status: 'created' as const };
  await insertMany(tx, 'stages', [{ pipeline_id: pipeline.id, ...stage }], 'on conflict do nothing');
  return pipeline;
};
