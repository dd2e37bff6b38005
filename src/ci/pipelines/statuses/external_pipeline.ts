/**
 * Finds the pipeline that a commit status of an external system belongs to: the newest of the commit and ref. Creates
 * an external pipeline if it does not exist.
 */
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { notFound } from '../../../platform/errors.ts';
import { type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import { externalStage } from '../../../code/repository/statuses/list.ts';
import { externalStagePosition } from './external_stage.ts';
import { insertPipeline } from '../creation/insert_pipeline.ts';
import { insertMany } from '../../../platform/db/insert_many.ts';
import { pipelineRef } from '../creation/pipeline_ref.ts';
import { canUseProtected } from '../creation/creation_rights.ts';
import { type Pipeline, lockPipeline } from '../pipeline_rows.ts';

type PipelineSelector = {
  project_id: number;
  sha: Oid;
  ref?: string | undefined;
  /** Selects one of several pipelines of the commit. */
  pipeline_id?: number | undefined;
};

/** Finds the newest pipeline, except child pipelines; null if there is none. */
export const findNewestPipeline = async (
  db: Reader,
  { project_id, sha, ref, pipeline_id }: PipelineSelector,
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

export const pipelineNotFound = () => notFound('Pipeline for pipeline_id, sha and ref');

type StatusPipelineRequest = PipelineSelector & { ref: string; tag: 0 | 1; author_id: number };

const insertExternalPipeline = async (
  tx: Tx,
  { project_id, sha, ref, tag, author_id }: StatusPipelineRequest,
): Promise<number> => {
  const row = { project_id, ref, tag, sha, source: 'external' as const, user_id: author_id };
  const statusRef = pipelineRef({ ...row, merge_request_id: null }, null);
  const isProtected = await canUseProtected(tx.db, project_id, statusRef);
  return await insertPipeline(tx, {
    pipeline: { ...row, before_sha: zeroOid, protected: toFlag(isProtected), auto_cancel: 'none' },
    jobs: [],
    timeout: 0,
  });
};

const lockNewestPipeline = async (tx: Tx, request: StatusPipelineRequest): Promise<Pipeline | null> => {
  const newest = await findNewestPipeline(tx.db, request);
  return newest === null ? null : await lockPipeline(tx, newest.id);
};

/** Locks the project, which must precede pipeline locks, and creates the pipeline unless it exists by then. */
const createIfMissing = async (tx: Tx, request: StatusPipelineRequest): Promise<Pipeline | null> => {
  await holdProject(tx, request.project_id);
  return (
    (await lockNewestPipeline(tx, request)) ??
    (await lockPipeline(tx, await insertExternalPipeline(tx, request)))
  );
};

/**
 * Locks the pipeline that a status belongs to.
 * @throws Failure 404 if `pipeline_id` names no pipeline of the commit
 */
export const lockPipelineForStatus = async (tx: Tx, request: StatusPipelineRequest): Promise<Pipeline> => {
  const hasPipelineId = request.pipeline_id !== undefined;
  const pipeline =
    (await lockNewestPipeline(tx, request)) ?? (hasPipelineId ? null : await createIfMissing(tx, request));
  if (pipeline === null) throw pipelineNotFound();
  const stage = { name: externalStage, position: externalStagePosition, status: 'created' as const };
  await insertMany(tx, 'stages', [{ pipeline_id: pipeline.id, ...stage }], 'on conflict do nothing');
  return pipeline;
};
