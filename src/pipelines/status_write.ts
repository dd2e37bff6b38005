/** What other systems say about a commit. */
import { type Call, actorOf, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { refused } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Oid } from '../git/protocol_types.ts';
import { failureRetried } from '../merge_requests/failure_retried.ts';
import { holdProject } from '../projects/hold.ts';
import type { StatusRow } from '../repository/status_json.ts';
import { advanceLocked } from './advance.ts';
import { pipelineForStatus } from './external_pipeline.ts';
import { namesIn } from './external_statuses.ts';
import type { Pipeline } from './store.ts';

export const statusWords = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
export type StatusWord = (typeof statusWords)[number];

export type WantedStatus = {
  project_id: number;
  sha: Oid;
  ref: string;
  tag: 0 | 1;
  name: string;
  status: StatusWord;
  /** In a pipeline. */
  counts: boolean;
  /** Which one; default: the newest of the commit and its ref. */
  pipeline_id?: number | undefined;
  target_url?: string | null | undefined;
  description?: string | null | undefined;
  coverage?: number | null | undefined;
  allow_failure?: boolean | undefined;
};

const events: Record<StatusWord, string> = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel',
  skipped: 'skip',
};

const isOver = (status: string): boolean => !['pending', 'running'].includes(status);

/** The newest of this name, which a further word changes while it is not over. */
const current = async (tx: Tx, wanted: WantedStatus, pipeline: Pipeline | null) => {
  const { project_id, sha, ref, name } = wanted;
  const named = tx.db.selectFrom('commit_statuses').selectAll().where('name', '=', name);
  const found =
    pipeline === null
      ? named
          .where('project_id', '=', project_id)
          .where('sha', '=', sha)
          .where('ref', '=', ref)
          .where('pipeline_id', 'is', null)
      : named.where('pipeline_id', '=', pipeline.id).where('retried', '=', 0);
  return await found.orderBy('id', 'desc').limit(1).executeTakeFirst();
};

/** Each of them is looked at when another comes. */
const mostNames = 1_000;

/** @throws Failure 400 */
const requireRoom = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const names = await namesIn(tx.db, pipeline_id, mostNames);
  if (names >= mostNames) throw refused(`The pipeline has ${mostNames} statuses of other names already`);
};

/** A new one takes the place of what is over. */
const makeRoom = async (tx: Tx, pipeline: Pipeline | null, known: StatusRow | undefined): Promise<void> => {
  if (pipeline === null) return;
  if (known === undefined) await requireRoom(tx, pipeline.id);
  else await tx.db.updateTable('commit_statuses').set({ retried: 1 }).where('id', '=', known.id).execute();
};

const hundredths = (percent: number | null): number | null =>
  percent === null ? null : Math.round(percent * 100);

const columnsOf = (wanted: WantedStatus, { now }: Tx, started: number | null) => ({
  status: wanted.status,
  ...(wanted.target_url !== undefined && { target_url: wanted.target_url }),
  ...(wanted.description !== undefined && { description: wanted.description }),
  ...(wanted.coverage !== undefined && { coverage: hundredths(wanted.coverage) }),
  ...(wanted.allow_failure !== undefined && {
    allow_failure: wanted.allow_failure ? (1 as const) : (0 as const),
  }),
  started_at: wanted.status === 'running' ? now : started,
  finished_at: isOver(wanted.status) ? now : null,
});

type Place = { pipeline: Pipeline | null; author_id: number };

const storeStatus = async (
  tx: Tx,
  wanted: WantedStatus,
  { pipeline, author_id }: Place,
): Promise<StatusRow> => {
  const { project_id, sha, ref, name, status } = wanted;
  const known = await current(tx, wanted, pipeline);
  if (known === undefined || isOver(known.status)) {
    const fresh = { target_url: null, description: null, coverage: null, allow_failure: 0 as const };
    const place = { project_id, sha, ref, name, author_id, pipeline_id: pipeline?.id ?? null };
    await makeRoom(tx, pipeline, known);
    const times = { created_at: tx.now, retried: 0 as const };
    const row = { ...fresh, ...place, ...times, ...columnsOf(wanted, tx, null) };
    return { ...row, id: await insertRow(tx.db, 'commit_statuses', row) };
  }
  if (known.status === status) {
    throw refused(`Cannot transition status via :${events[status]} from :${known.status}`);
  }
  const columns = columnsOf(wanted, tx, known.started_at);
  await tx.db.updateTable('commit_statuses').set(columns).where('id', '=', known.id).execute();
  return { ...known, ...columns };
};

const advanceBy = async (tx: Tx, pipeline: Pipeline): Promise<void> => {
  const before = pipeline.status;
  await advanceLocked(tx, pipeline);
  if (before === 'failed' && pipeline.status !== 'failed') await failureRetried(tx, pipeline.id);
};

/**
 * Stores what is said: of one that is not over, its next state; else a new one beside those before. Its pipeline is
 * then what that makes of it.
 * @throws Failure 400 for a state that it has already, 404 for a pipeline that is none of the commit
 */
export const saveStatus = async (call: Call, wanted: WantedStatus): Promise<StatusRow> =>
  await call.write(async (tx) => {
    const { project_id, sha, name, status } = wanted;
    const author_id = userOf(call).id;
    const pipeline = wanted.counts ? await pipelineForStatus(tx, { ...wanted, author_id }) : null;
    if (pipeline === null) await holdProject(tx, project_id);
    const row = await storeStatus(tx, wanted, { pipeline, author_id });
    if (pipeline !== null) await advanceBy(tx, pipeline);
    await recordEvent(tx, actorOf(call), {
      kind: 'commit_status.set',
      project_id,
      target_type: 'CommitStatus',
      target_id: row.id,
      data: { sha, name, status },
    });
    return row;
  });
