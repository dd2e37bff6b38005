import type { Call } from '../access/call.ts';
import { type Viewer, anonymous } from '../access/viewer.ts';
import { Failure } from '../errors.ts';
import { readBasic, signInBasic } from '../sessions/basic.ts';

/** Who asks for a token of the registry. */
export type Puller = {
  /** null: nobody signed in. */
  username: string | null;
  viewer: Viewer;
  /** His token lets him read only. */
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
 * Whose name and password, or token in its place, the request brings.
 * @throws Failure 401 for wrong ones, 429 after too many
 */
export const signInPuller = async ({ platform, header, ip, userAgent }: Call): Promise<Puller> => {
  const value = header('authorization');
  if (value === undefined) return nobody;
  const given = readBasic(value);
  if (given === null) throw denied();
  try {
    const found = await signInBasic(platform, given, { ip, userAgent });
    if (found === 'second_factor') throw denied();
    const { user, viewer, scopes } = found;
    if (scopes !== null && !scopes.includes('api') && !scopes.includes('read_api')) throw denied();
    return { username: user.username, viewer, readsOnly: scopes !== null && !scopes.includes('api') };
  } catch (error) {
    throw isRefusal(error) ? denied() : error;
  }
};
