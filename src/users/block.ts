import type { Store } from '../db/open.ts';
import { forbidden } from '../errors.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { endSessionsOf } from './end_sessions.ts';
import { endOauthOf } from './end_oauth.ts';
import { requireOtherAdmin } from './last_admin.ts';
import { lockUser } from './queries.ts';

/**
 * Shuts a user out, with all his tokens and sessions, or lets him in again. Nothing happens where that is so already.
 * @throws Failure 404 for no user, 403 for oneself and for the ghost, 409 for the last administrator
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
    if (blocked) await endSessionsOf(tx, id);
    if (blocked) await endOauthOf(tx, id);
    const target = { project_id: null, target_type: 'User', target_id: id };
    await recordEvent(tx, cause, { kind: blocked ? 'user.blocked' : 'user.unblocked', ...target });
  });
