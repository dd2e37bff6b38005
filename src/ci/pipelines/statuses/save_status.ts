/** Stores commit statuses of external systems. */
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { refused } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { finishBuildFailedTodos } from '../../../review/merge_requests/finish_build_failed_todos.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import type { StatusRow } from '../../../code/repository/statuses/json.ts';
import { advanceLockedPipeline } from '../processing/advance_pipeline.ts';
import { lockPipelineForStatus } from './external_pipeline.ts';
import { countStatusNames } from './external_stage.ts';
import type { Pipeline } from '../pipeline_rows.ts';

export const statusWords = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
export type StatusWord = (typeof statusWords)[number];

export type StatusInput = {
  project_id: number;
  sha: Oid;
  ref: string;
  tag: 0 | 1;
  name: string;
  status: StatusWord;
  /** Returns whether the status belongs to a pipeline. */
  counts: boolean;
  /** The pipeline; default: the newest of the commit and its ref. */
  pipeline_id?: number | undefined;
  target_url?: string | null | undefined;
  description?: string | null | undefined;
  coverage?: number | null | undefined;
  allow_failure?: boolean | undefined;
};

const transitionNames: Record<StatusWord, string> = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel',
  skipped: 'skip',
};

const isFinished = (status: string): boolean => !['pending', 'running'].includes(status);

/** Finds the newest status of this name. While unfinished, it is updated rather than replaced. */
const findCurrentStatus = async (tx: Tx, input: StatusInput, pipeline: Pipeline | null) => {
  const { project_id, sha, ref, name } = input;
  const byName = tx.db.selectFrom('commit_statuses').selectAll().where('name', '=', name);
  const candidates =
    pipeline === null
      ? byName
          .where('project_id', '=', project_id)
          .where('sha', '=', sha)
          .where('ref', '=', ref)
          .where('pipeline_id', 'is', null)
      : byName.where('pipeline_id', '=', pipeline.id).where('retried', '=', 0);
  return await candidates.orderBy('id', 'desc').limit(1).executeTakeFirst();
};

/** Limit per pipeline, because every new status reads them all. */
const maxNames = 1_000;

/** @throws Failure 400 */
const requireRoom = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const names = await countStatusNames(tx.db, pipeline_id, maxNames);
  if (names >= maxNames) throw refused(`The pipeline has ${maxNames} statuses of other names already`);
};

/** Marks a finished status as replaced by the new one. */
const retireFinished = async (
  tx: Tx,
  pipeline: Pipeline | null,
  existing: StatusRow | undefined,
): Promise<void> => {
  if (pipeline === null) return;
  if (existing === undefined) await requireRoom(tx, pipeline.id);
  else await tx.db.updateTable('commit_statuses').set({ retried: 1 }).where('id', '=', existing.id).execute();
};

const toHundredths = (percent: number | null): number | null =>
  percent === null ? null : Math.round(percent * 100);

const toColumns = (input: StatusInput, { now }: Tx, started: number | null) => ({
  status: input.status,
  ...(input.target_url !== undefined && { target_url: input.target_url }),
  ...(input.description !== undefined && { description: input.description }),
  ...(input.coverage !== undefined && { coverage: toHundredths(input.coverage) }),
  ...(input.allow_failure !== undefined && {
    allow_failure: toFlag(input.allow_failure),
  }),
  started_at: input.status === 'running' ? now : started,
  finished_at: isFinished(input.status) ? now : null,
});

type StatusContext = { pipeline: Pipeline | null; author_id: number };

const insertOrUpdateStatus = async (
  tx: Tx,
  input: StatusInput,
  { pipeline, author_id }: StatusContext,
): Promise<StatusRow> => {
  const { project_id, sha, ref, name, status } = input;
  const existing = await findCurrentStatus(tx, input, pipeline);
  if (existing === undefined || isFinished(existing.status)) {
    const defaults = { target_url: null, description: null, coverage: null, allow_failure: 0 as const };
    const identity = { project_id, sha, ref, name, author_id, pipeline_id: pipeline?.id ?? null };
    await retireFinished(tx, pipeline, existing);
    const times = { created_at: tx.now, retried: 0 as const };
    const row = { ...defaults, ...identity, ...times, ...toColumns(input, tx, null) };
    return { ...row, id: await insertRow(tx.db, 'commit_statuses', row) };
  }
  if (existing.status === status) {
    throw refused(`Cannot transition status via :${transitionNames[status]} from :${existing.status}`);
  }
  const columns = toColumns(input, tx, existing.started_at);
  await tx.db.updateTable('commit_statuses').set(columns).where('id', '=', existing.id).execute();
  return { ...existing, ...columns };
};

const advanceForStatus = async (tx: Tx, pipeline: Pipeline): Promise<void> => {
  const before = pipeline.status;
  await advanceLockedPipeline(tx, pipeline);
  if (before === 'failed' && pipeline.status !== 'failed') await finishBuildFailedTodos(tx, pipeline.id);
};

/**
 * Stores a status: updates an unfinished one of the same name, or else inserts a new one. Then advances its pipeline.
 * @throws Failure 400 for a state that it has already, 404 for a pipeline of another commit
 */
export const saveStatus = async (call: Call, input: StatusInput): Promise<StatusRow> =>
  await call.write(async (tx) => {
    const { project_id, sha, name, status } = input;
    const author_id = requireUser(call).id;
    const pipeline = input.counts ? await lockPipelineForStatus(tx, { ...input, author_id }) : null;
    if (pipeline === null) await holdProject(tx, project_id);
    const row = await insertOrUpdateStatus(tx, input, { pipeline, author_id });
    if (pipeline !== null) await advanceForStatus(tx, pipeline);
    await recordEvent(tx, requireActor(call), {
      kind: 'commit_status.set',
      project_id,
      target_type: 'CommitStatus',
      target_id: row.id,
      data: { sha, name, status },
    });
    return row;
  });
