import type { Store } from '../../platform/db/open.ts';
import { forbidden } from '../../platform/errors.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { endAllSessions } from './end_sessions.ts';
import { revokeOauth } from './revoke_oauth.ts';
import { requireOtherAdmin } from './require_other_admin.ts';
import { lockUser } from './queries.ts';

/**
 * Blocks a user and ends all sessions and tokens, or unblocks the user. Does nothing if the state is the same.
 * @throws Failure 404 for an unknown user, 403 for oneself and the ghost, 409 for the last administrator
 */
export const setBlocked = async (
  { write }: Pick<Store, 'write'>,
  cause: Cause | null,
  id: number,
  blocked: boolean,
): Promise<void> =>
  await write(async (tx) => {
    const user = await lockUser(tx, id);
    if (user.ghost === 1) throw forbidden('An internal user cannot be blocked');
    if (blocked && cause?.user.id === id)
      throw forbidden('The API initiating user cannot be blocked by the API');
    const state = blocked ? 'blocked' : 'active';
    if (user.state === state) return;
    if (blocked) await requireOtherAdmin(tx, user);
    await tx.db.updateTable('users').set({ state, updated_at: tx.now }).where('id', '=', id).execute();
    if (blocked) await endAllSessions(tx, id);
    if (blocked) await revokeOauth(tx, id);
    const target = { project_id: null, target_type: 'User', target_id: id };
    await recordEvent(tx, cause, { kind: blocked ? 'user.blocked' : 'user.unblocked', ...target });
  });
