import { type Call, actorOf } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { recordAudit } from '../access/audit.ts';

/**
 * Ends a session of the caller: the one that he calls by, or another.
 * @throws Failure 404 `404 Session Not Found`
 */
export const endSession = async (call: Call, id: number): Promise<void> => {
  const actor = actorOf(call);
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
