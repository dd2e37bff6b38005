/**
 * Computes the refs that a repository had at the point of the database. They are read later; what moved in between is
 * in the change log and in the operations of the running database, and is undone here.
 */
import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import { type RefUpdate, zeroOid } from '../../platform/git/protocol_types.ts';
import type { Snapshot } from './snapshot.ts';

/** Targets by full name. */
export type Refs = Map<string, string>;

export const parseRefs = (text: string): Refs =>
  new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(41), line.slice(0, 40)]),
  );

export const formatRefs = (refs: Refs): string =>
  [...refs]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, id]) => `${id} ${name}\n`)
    .join('');

/** Ids of events that may have been given out before the point and were committed after it. */
const lateIds = 10_000;

type Move = { ref: string; from: string; to: string };
type LogRow = { id: number; kind: 'event' | 'operation'; text: string };

/** Reads events and operations in one statement: an operation turns into an event in one transaction. */
const readLog = async (db: Reader, projectId: number, after: number): Promise<LogRow[]> => {
  const { rows } = await sql<LogRow>`
    select id, 'event' as kind, data as text from events
      where project_id = ${projectId} and id > ${after} and kind in ('ref.created', 'ref.updated', 'ref.deleted')
    union all
    select id, 'operation' as kind, updates as text from git_operations where project_id = ${projectId}
    order by kind, id`.execute(db);
  return rows;
};

/**
 * Returns the value that a ref had before all of these moves: the value that moves start from more often than they
 * arrive at. Events are ordered by commit, which may differ from the order of the moves.
 */
const findFirstValue = (moves: readonly Move[]): string | undefined => {
  const balance = new Map<string, number>();
  for (const { from, to } of moves) {
    balance.set(from, (balance.get(from) ?? 0) + 1);
    balance.set(to, (balance.get(to) ?? 0) - 1);
  }
  const first = [...balance].find(([, count]) => count > 0)?.[0];
  return first ?? moves[0]?.from;
};

const toMoves = ({ kind, text }: LogRow): Move[] => {
  if (kind === 'operation')
    return (JSON.parse(text) as RefUpdate[]).map((update) => ({
      ref: update.ref,
      from: update.old ?? zeroOid,
      to: update.new,
    }));
  const { ref, before, after } = JSON.parse(text) as { ref: string; before: string; after: string };
  return [{ ref, from: before, to: after }];
};

/**
 * Undoes the moves since the snapshot.
 * @param current the refs as they were read from git; read before this is called
 */
export const undoMoves = async (
  current: Refs,
  { db, snapshot, projectId }: { db: Reader; snapshot: Snapshot; projectId: number },
): Promise<Refs> => {
  const [last] = snapshot.all<{ id: number | null }>('select max(id) as id from events');
  const log = await readLog(db, projectId, (last?.id ?? 0) - lateIds);
  const snapshotIds = new Set(
    [
      ...snapshot.all<{ id: number }>(
        `select id from events where project_id = ? and id > ?
          and kind in ('ref.created', 'ref.updated', 'ref.deleted')`,
        projectId,
        (last?.id ?? 0) - lateIds,
      ),
    ].map(({ id }) => id),
  );
  // An operation that was in progress at the point is in the snapshot: a restored service completes or drops it.
  const begun = new Set(
    snapshot
      .all<{ id: number }>('select id from git_operations where project_id = ?', projectId)
      .map(({ id }) => id),
  );
  const isLater = ({ id, kind }: LogRow): boolean => !(kind === 'event' ? snapshotIds : begun).has(id);
  const refs = new Map(current);
  for (const [ref, all] of Map.groupBy(
    log.filter(isLater).flatMap((row) => toMoves(row).map((move) => ({ ...move, kind: row.kind }))),
    (move) => move.ref,
  )) {
    const done = all.filter(({ kind, to }) => kind === 'event' || (current.get(ref) ?? zeroOid) === to);
    const value = findFirstValue(done);
    if (value === zeroOid) refs.delete(ref);
    else if (value !== undefined) refs.set(ref, value);
  }
  return refs;
};

type PipelineRow = { id: number; sha: string };
type RequestRow = { iid: number; head_sha: string };

/** Statuses of pipelines whose jobs may still fetch the ref of the pipeline. */
const running = "('created', 'waiting_for_resource', 'preparing', 'pending', 'running')";

/**
 * Sets the service's internal refs to the values in the rows of the snapshot. A number that the restored database will
 * assign again gets no ref.
 */
export const setInternalRefs = (refs: Refs, snapshot: Snapshot, projectId: number): Refs => {
  const set = new Map([...refs].filter(([name]) => !/^refs\/(?:pipelines|merge-requests)\//.test(name)));
  const pipelines = snapshot.all<PipelineRow>(
    `select id, sha from pipelines where project_id = ? and status in ${running}`,
    projectId,
  );
  for (const { id, sha } of pipelines) if (/^[0-9a-f]{40}$/.test(sha)) set.set(`refs/pipelines/${id}`, sha);
  const requests = snapshot.all<RequestRow>(
    'select iid, head_sha from merge_requests where project_id = ? and head_sha is not null and deleted_at is null',
    projectId,
  );
  for (const { iid, head_sha } of requests) {
    set.set(`refs/merge-requests/${iid}/head`, head_sha);
    const merge = refs.get(`refs/merge-requests/${iid}/merge`);
    if (merge !== undefined) set.set(`refs/merge-requests/${iid}/merge`, merge);
  }
  return set;
};
