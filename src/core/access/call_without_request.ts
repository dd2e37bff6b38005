import { IncomingMessage } from '../../platform/http/node_http.ts';
import { Socket } from 'node:net';
import { loadActingUser } from './background_actor.ts';
import type { Cause } from './audit.ts';
import type { Call } from './call.ts';
import type { Platform } from '../platform.ts';

/**
 * Opens a call for a user without an HTTP request, such as a push over SSH, so that it can use operations of the API.
 * @returns null if the user may no longer act
 */
export const openCallWithoutRequest = async (
  platform: Platform,
  { cause, baseUrl }: { cause: Cause; baseUrl: string },
): Promise<Call | null> => {
  const { store, clock, settings } = platform;
  const now = clock.now();
  const acting = await loadActingUser(store.db, cause.user.id, now);
  if (acting === null) return null;
  const source = cause.source ?? { ip: '', userAgent: '' };
  const credential = { kind: 'session', id: 0, scopes: [], last_used_at: null } as const;
  return {
    platform,
    db: store.db,
    write: store.write,
    viewer: acting.viewer,
    settings: settings.current,
    names_version: Number.NaN,
    actor: { user: acting.user, credential, sudo_by_id: cause.sudo_by_id, source },
    now,
    ip: source.ip,
    userAgent: source.userAgent,
    header: () => undefined,
    incoming: new IncomingMessage(new Socket()),
    signedIn: true,
    admin: acting.viewer.admin,
    baseUrl,
    keepAnswer: async (_name, _params, load) => await load(),
    runExpensive: async (work) => await work(),
    pollInterval: () => '0',
  };
};
