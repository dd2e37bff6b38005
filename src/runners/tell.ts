import { recordAudit } from '../access/audit.ts';
import type { Call } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { runnersTopic } from './topic.ts';

type Told = {
  kind: 'created' | 'updated' | 'unregistered' | 'token_reset' | 'enabled' | 'disabled';
  id: number;
  /** Where it was enabled or disabled, or for which it was made. */
  project_id?: number;
  details?: object;
};

/** Tells of a change of a runner: who runs the jobs, and reads what they read, concerns safety. */
export const tellOfRunner = async (
  tx: Tx,
  call: Pick<Call, 'actor' | 'ip' | 'userAgent'>,
  { kind, id, project_id, details }: Told,
): Promise<void> => {
  const told = { kind: `runner.${kind}`, target_type: 'Runner', target_id: id };
  const all = { ...(project_id !== undefined && { project_id }), ...details };
  await recordAudit(tx, call.actor, call, { ...told, details: all });
  await recordEvent(tx, call.actor, { ...told, project_id: project_id ?? null, data: details ?? {} });
  tx.broadcast(runnersTopic);
};
