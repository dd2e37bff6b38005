import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';

/** Network origin of a request. */
export type Source = { ip: string; userAgent: string };

/** User who caused a change: the acting user and, under sudo, the administrator. */
export type Cause = { user: { id: number }; sudo_by_id: number | null; source?: Source };

export type AuditEntry = {
  /** Noun and verb: `session.created`, `settings.changed`. */
  kind: string;
  target_type?: string;
  target_id?: number;
  /** Changed fields, with values before and after; never a secret. */
  details?: object;
};

const maxUserAgentLength = 500;

/**
 * Adds one row to the audit log, in the transaction of the audited change.
 * @param cause null: unknown, as with a failed sign-in
 */
export const recordAudit = async (
  tx: Tx,
  cause: Cause | null,
  { ip, userAgent }: Source,
  { kind, target_type, target_id, details }: AuditEntry,
): Promise<void> => {
  await insertRow(tx.db, 'audit_events', {
    created_at: tx.now,
    kind,
    actor_id: cause?.user.id ?? null,
    sudo_by_id: cause?.sudo_by_id ?? null,
    target_type: target_type ?? null,
    target_id: target_id ?? null,
    ip,
    user_agent: userAgent.slice(0, maxUserAgentLength),
    details: JSON.stringify(details ?? {}),
  });
};
