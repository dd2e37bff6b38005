import type { Call } from '../../core/access/call.ts';
import { type Viewer, anonymous } from '../../core/access/viewer.ts';
import type { Platform } from '../../core/platform.ts';
import { authenticateDeployToken, isDeployToken } from '../deploy_tokens/authenticate.ts';
import { Failure } from '../../platform/errors.ts';
import { type Basic, readBasic, signInBasic } from '../../identity/sessions/basic_auth.ts';

/** The caller who requests a registry token. */
export type Puller = {
  /** null: anonymous. */
  username: string | null;
  viewer: Viewer;
  /** True if the presented token is read-only. */
  readsOnly: boolean;
};

const nobody: Puller = { username: null, viewer: anonymous, readsOnly: true };

const denied = () =>
  new Failure(
    'unauthorized',
    { errors: [{ code: 'UNAUTHORIZED', message: 'HTTP Basic: Access denied' }] },
    { 'www-authenticate': 'Basic realm="Gantry"' },
  );

/** @throws Failure 401 for a token without a scope of registries */
const deployTokenPuller = async (platform: Platform, credentials: Basic, ip: string): Promise<Puller> => {
  const { viewer, scopes, username } = await authenticateDeployToken(platform, credentials, ip);
  if (!scopes.includes('read_registry') && !scopes.includes('write_registry')) throw denied();
  return { username, viewer, readsOnly: !scopes.includes('write_registry') };
};

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
    if (isDeployToken(credentials)) return await deployTokenPuller(platform, credentials, ip);
    const signedIn = await signInBasic(platform, credentials, { ip, userAgent });
    if (signedIn === 'second_factor') throw denied();
    const { user, viewer, scopes } = signedIn;
    if (scopes !== null && !scopes.includes('api') && !scopes.includes('read_api')) throw denied();
    return { username: user.username, viewer, readsOnly: scopes !== null && !scopes.includes('api') };
  } catch (error) {
    throw isRefusal(error) ? denied() : error;
  }
};
