/** What other systems say about a commit. */
import { type Call, actorOf, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { refused } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Oid } from '../git/protocol_types.ts';
import { holdProject } from '../projects/hold.ts';
import type { StatusRow } from './status_json.ts';

export const statusWords = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
export type StatusWord = (typeof statusWords)[number];

export type WantedStatus = {
  project_id: number;
  sha: Oid;
  ref: string;
  name: string;
  status: StatusWord;
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
const current = async (tx: Tx, { project_id, sha, ref, name }: WantedStatus) =>
  await tx.db
    .selectFrom('commit_statuses')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('name', '=', name)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

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

/**
 * Stores what is said: of one that is not over, its next state; else a new one beside those before.
 * @throws Failure 400 for a state that it has already
 */
export const saveStatus = async (call: Call, wanted: WantedStatus): Promise<StatusRow> =>
  await call.write(async (tx) => {
    const { project_id, sha, ref, name, status } = wanted;
    await holdProject(tx, project_id);
    const known = await current(tx, wanted);
    const isOpen = known !== undefined && !isOver(known.status);
    if (isOpen && known.status === status) {
      throw refused(`Cannot transition status via :${events[status]} from :${known.status}`);
    }
    const columns = columnsOf(wanted, tx, isOpen ? known.started_at : null);
    const fresh = { target_url: null, description: null, coverage: null, allow_failure: 0 as const };
    const author_id = userOf(call).id;
    const row = isOpen
      ? { ...known, ...columns }
      : { ...fresh, project_id, sha, ref, name, author_id, created_at: tx.now, ...columns };
    const id = 'id' in row ? row.id : await insertRow(tx.db, 'commit_statuses', row);
    if (isOpen) {
      await tx.db.updateTable('commit_statuses').set(columns).where('id', '=', known.id).execute();
    }
    await recordEvent(tx, actorOf(call), {
      kind: 'commit_status.set',
      project_id,
      target_type: 'CommitStatus',
      target_id: id,
      data: { sha, name, status },
    });
    return { ...row, id };
  });
