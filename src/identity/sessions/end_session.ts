import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { notFound } from '../../platform/errors.ts';
import { recordAudit } from '../../core/access/audit.ts';

/**
 * Ends a session of a user, for the user or an administrator.
 * @throws Failure 404 `404 Session Not Found`
 */
export const endSessionOf = async (call: Call, userId: number, id: number): Promise<void> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const ended = await tx.db
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirst();
    if (ended === undefined) throw notFound('Session');
    const details = actor.user.id === userId ? {} : { user_id: userId };
    await recordAudit(tx, actor, call, {
      kind: 'session.ended',
      target_type: 'Session',
      target_id: id,
      details,
    });
  });
};

/** Ends a session of the caller, the current one or another. @throws Failure 404 */
export const endSession = async (call: Call, id: number): Promise<void> =>
  await endSessionOf(call, requireUser(call).id, id);
