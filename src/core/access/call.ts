/** The call: one authenticated request, as every handler receives it. */
import type { IncomingMessage } from 'node:http';
import type { Reader, Write } from '../../platform/db/open.ts';
import { unauthorized } from '../../platform/errors.ts';
import type { BaseCall } from '../../platform/http/mount.ts';
import type { Platform } from '../platform.ts';
import type { Settings } from '../settings/fields.ts';
import type { Source } from './audit.ts';
import type { ActorUser, Credential } from './credentials/authenticate.ts';
import type { Viewer } from './viewer.ts';

export type Actor = {
  user: ActorUser;
  credential: Credential;
  /** Id of the administrator behind a call under sudo, or behind an impersonating session. */
  sudo_by_id: number | null;
  source: Source;
};

export type Call = BaseCall & {
  platform: Platform;
  db: Reader;
  /** Runs one transaction and resolves once it is durable. */
  write: Write;
  viewer: Viewer;
  /** The instance's settings when the call began. */
  settings: Settings;
  /**
   * Version of all names that records show, read when the call began. Triggers raise it with every such change
   * (`platform/db/migrations/revision_triggers.ts`). NaN, which equals nothing, if nobody is signed in.
   */
  names_version: number;
  /** null if nobody is signed in. Handlers of user endpoints use `requireUser`. */
  actor: Actor | null;
  now: number;
  ip: string;
  userAgent: string;
  header: (name: string) => string | undefined;
  /** The raw request, for handlers that read its body themselves. */
  incoming: IncomingMessage;
};

/**
 * Returns the actor of a call. Endpoints whose audience is `user` or `admin` always have one.
 * @throws Failure 401 if nobody is signed in
 */
export const requireActor = (call: Call): Actor => {
  if (call.actor === null) throw unauthorized();
  return call.actor;
};

export const requireUser = (call: Call): ActorUser => requireActor(call).user;
