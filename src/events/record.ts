import { type Cause, recordAudit } from '../access/audit.ts';
import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';

export type { Cause };

export type Change = {
  /** `issue.created`: the target's noun and the verb. */
  kind: string;
  project_id: number | null;
  target_type: string;
  target_id: number;
  /** What changed, with values before and after where there are any. */
  data?: object;
};

/** Adds one row to the change log, in the transaction of the change. */
export const recordEvent = async (tx: Tx, cause: Cause | null, change: Change): Promise<void> => {
  const row = {
    created_at: tx.now,
    actor_id: cause?.user.id ?? null,
    sudo_by_id: cause?.sudo_by_id ?? null,
    project_id: change.project_id,
    kind: change.kind,
    target_type: change.target_type,
    target_id: change.target_id,
    data: JSON.stringify(change.data ?? {}),
  };
  await insertRows(tx.db, 'events', [row]);
  if (isAudited(change)) await audit(tx, cause, change);
};

/** Roles, accounts, deletes, and who sees a group or project, or whose jobs do. (Keys and tokens tell the audit log themselves.) */
const isAudited = ({ kind, data = {} }: Change): boolean =>
  /^(?:member|user|job_token_scope)\./.test(kind) ||
  (/\.(?:deleted|removed)$/.test(kind) && !kind.startsWith('key.')) ||
  'visibility' in data;

/** Whence it came where no request caused it. */
const within = { ip: '', userAgent: '' };

const audit = async (tx: Tx, cause: Cause | null, { project_id, data, ...change }: Change): Promise<void> => {
  const details = { ...(project_id !== null && { project_id }), ...data };
  await recordAudit(tx, cause, cause?.source ?? within, { ...change, details });
};
