import { type Call, requireActor } from '../../core/access/call.ts';
import { notFound } from '../../platform/errors.ts';
import { recordAudit } from '../../core/access/audit.ts';

/**
 * Ends a session of the caller, the current one or another.
 * @throws Failure 404 `404 Session Not Found`
 */
export const endSession = async (call: Call, id: number): Promise<void> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const ended = await tx.db
      .deleteFrom('sessions')
      .where('user_id', '=', actor.user.id)
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirst();
    if (ended === undefined) throw notFound('Session');
    await recordAudit(tx, actor, call, { kind: 'session.ended', target_type: 'Session', target_id: id });
  });
};
