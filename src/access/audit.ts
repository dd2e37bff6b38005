import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';

/** Whence a request came. */
export type Source = { ip: string; userAgent: string };

/** Who caused a change: the user acted as, and the administrator behind him under sudo. */
export type Cause = { user: { id: number }; sudo_by_id: number | null; source?: Source };

export type Audited = {
  /** A noun and a verb: `session.created`, `settings.changed`. */
  kind: string;
  target_type?: string;
  target_id?: number;
  /** What changed, with values before and after; never a secret. */
  details?: object;
};

const longestAgent = 500;

/**
 * Adds one row to the audit log, in the transaction of what it tells of.
 * @param cause null: nobody known, as with a failed sign-in
 */
export const recordAudit = async (
  tx: Tx,
  cause: Cause | null,
  { ip, userAgent }: Source,
  { kind, target_type, target_id, details }: Audited,
): Promise<void> => {
  await insertRow(tx.db, 'audit_events', {
    created_at: tx.now,
    kind,
    actor_id: cause?.user.id ?? null,
    sudo_by_id: cause?.sudo_by_id ?? null,
    target_type: target_type ?? null,
    target_id: target_id ?? null,
    ip,
    user_agent: userAgent.slice(0, longestAgent),
    details: JSON.stringify(details ?? {}),
  });
};
