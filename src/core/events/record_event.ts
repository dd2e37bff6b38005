import { type Cause, recordAudit } from '../access/audit.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordActivity } from './activities.ts';
import type { Change } from './change.ts';

export type { Cause };

/** Topic of the observer of changes (`Store.observe`). */
export const changesTopic = 'changes';

/** Event that a transaction publishes when it recorded changes. */
export const recordedTopic = 'changes.recorded';

/** Row of `instance`: time until which other processes are notified of changes, in milliseconds. */
export const readUntilName = 'changes_read_until';

/** A change as its observer receives it, before the commit. */
export type RecordedChange = Change & {
  /** Row of the log; null: not recorded there. */
  event_id: number | null;
  actor_id: number | null;
  /** `hooks_version` of the instance; null: not read yet. */
  hooks_version: string | null;
};

/** Hands a change to the observer without recording it: statuses are recorded together, by `recordStatuses`. */
export const collectChange = (tx: Tx, actor_id: number | null, change: Change): void =>
  tx.collect(changesTopic, { ...change, actor_id, event_id: null, hooks_version: null });

/** Read within the insert: this saves a statement, and the value is never older than the transaction. */
const returning = `returning id, (select value from instance where name = 'hooks_version') as hooks_version,
  (select value from instance where name = '${readUntilName}') as read_until` as const;

type Inserted = { id: number; hooks_version: string; read_until: string };

/** Adds rows to the change log, and announces changes of projects. Returns the values that the first row read. */
const insertEvents = async (
  tx: Tx,
  cause: Cause | null,
  changes: readonly Change[],
): Promise<Partial<Inserted>> => {
  const rows = changes.map(({ project_id, kind, target_type, target_id, data = {} }) => ({
    created_at: tx.now,
    actor_id: cause?.user.id ?? null,
    sudo_by_id: cause?.sudo_by_id ?? null,
    project_id,
    kind,
    target_type,
    target_id,
    data: JSON.stringify(data),
  }));
  const [inserted] = await insertRows<'events', Inserted>(tx.db, 'events', rows, returning);
  const isFollowedElsewhere = Number(inserted?.read_until ?? 0) > tx.now;
  if (rows.some(({ project_id }) => project_id !== null))
    tx[isFollowedElsewhere ? 'broadcast' : 'announce'](recordedTopic);
  return inserted ?? {};
};

/** Adds one row to the change log, in the transaction of the change. */
export const recordEvent = async (tx: Tx, cause: Cause | null, change: Change): Promise<void> => {
  const { id: event_id = null, hooks_version = null } = await insertEvents(tx, cause, [change]);
  tx.collect(changesTopic, { ...change, actor_id: cause?.user.id ?? null, event_id, hooks_version });
  await recordActivity(tx, cause, change);
  if (isAudited(change)) await recordChangeAudit(tx, cause, change);
};

/** Rows of one insert. */
const maxStatusRows = 50;

/** Adds rows about statuses to the change log. They cause no activities and no audit. */
export const recordStatuses = async (tx: Tx, changes: readonly Change[]): Promise<void> => {
  for (let at = 0; at < changes.length; at += maxStatusRows)
    await insertEvents(tx, null, changes.slice(at, at + maxStatusRows));
};

/**
 * Changes that also go to the audit log: roles, accounts but not their statuses, deletions, visibility, and access of
 * jobs. Operations on keys, tokens and linked accounts write to the audit log themselves.
 */
const isAudited = ({ kind, data = {} }: Change): boolean =>
  (/^(?:member|user|job_token_scope)\./.test(kind) && kind !== 'user.status') ||
  (/\.(?:deleted|removed)$/.test(kind) && !/^(?:key|identity)\./.test(kind)) ||
  'visibility' in data;

/** Source of changes that no request caused. */
const noSource = { ip: '', userAgent: '' };

const recordChangeAudit = async (
  tx: Tx,
  cause: Cause | null,
  { project_id, data, ...change }: Change,
): Promise<void> => {
  const details = { ...(project_id !== null && { project_id }), ...data };
  await recordAudit(tx, cause, cause?.source ?? noSource, { ...change, details });
};
