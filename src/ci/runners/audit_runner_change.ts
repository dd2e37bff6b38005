import { recordAudit } from '../../core/access/audit.ts';
import type { Call } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { runnersTopic } from './runners_topic.ts';

type AuditedChange = {
  kind: 'created' | 'updated' | 'unregistered' | 'token_reset' | 'enabled' | 'disabled';
  id: number;
  /** Project for which the runner was enabled, disabled or created. */
  project_id?: number;
  details?: object;
};

/** Records an audit event for a change of a runner, since a runner reads the secrets of the jobs it runs. */
export const auditRunnerChange = async (
  tx: Tx,
  call: Pick<Call, 'actor' | 'ip' | 'userAgent'>,
  { kind, id, project_id, details }: AuditedChange,
): Promise<void> => {
  const event = { kind: `runner.${kind}`, target_type: 'Runner', target_id: id };
  const allDetails = { ...(project_id !== undefined && { project_id }), ...details };
  await recordAudit(tx, call.actor, call, { ...event, details: allDetails });
  await recordEvent(tx, call.actor, { ...event, project_id: project_id ?? null, data: details ?? {} });
  tx.broadcast(runnersTopic);
};
