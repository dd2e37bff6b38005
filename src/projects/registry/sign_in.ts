import type { Call } from '../../core/access/call.ts';
import { type Viewer, anonymous } from '../../core/access/viewer.ts';
import { Failure } from '../../platform/errors.ts';
import { readBasic, signInBasic } from '../../identity/sessions/basic_auth.ts';

/** The caller who requests a registry token. */
export type Puller = {
  /** null: anonymous. */
  username: string | null;
  viewer: Viewer;
  /** Whether the presented token is read-only. */
  readsOnly: boolean;
};

const nobody: Puller = { username: null, viewer: anonymous, readsOnly: true };

const denied = () =>
  new Failure(
    'unauthorized',
    { errors: [{ code: 'UNAUTHORIZED', message: 'HTTP Basic: Access denied' }] },
    { 'www-authenticate': 'Basic realm="Gantry"' },
  );

const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && (error.kind === 'unauthorized' || error.kind === 'forbidden');

/**
 * Authenticates the user name and password, or token in its place.
 * @throws Failure 401 for wrong credentials, 429 after too many failures
 */
export const signInPuller = async ({ platform, header, ip, userAgent }: Call): Promise<Puller> => {
  const value = header('authorization');
  if (value === undefined) return nobody;
  const credentials = readBasic(value);
  if (credentials === null) throw denied();
  try {
    const signedIn = await signInBasic(platform, credentials, { ip, userAgent });
    if (signedIn === 'second_factor') throw denied();
    const { user, viewer, scopes } = signedIn;
    if (scopes !== null && !scopes.includes('api') && !scopes.includes('read_api')) throw denied();
    return { username: user.username, viewer, readsOnly: scopes !== null && !scopes.includes('api') };
  } catch (error) {
    throw isRefusal(error) ? denied() : error;
  }
};
