import type { Call } from '../access/call.ts';
import { type SignedIn, noteUse, signIn, userColumns } from '../access/authenticate.ts';
import { type Viewer, anonymous, loadViewer } from '../access/viewer.ts';
import { Failure } from '../errors.ts';
import { passwordSignIn } from '../sessions/password_sign_in.ts';

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

type Basic = { login: string; password: string };

/** null: none was sent. */
const basicOf = ({ header }: Call): Basic | null => {
  const value = header('authorization');
  if (value === undefined) return null;
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(value) ?? [];
  const text = Buffer.from(base64 ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) throw denied();
  return { login: text.slice(0, colon), password: text.slice(colon + 1) };
};

const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && (error.kind === 'unauthorized' || error.kind === 'forbidden');

const byToken = ({ platform, now }: Call, signedIn: SignedIn): Puller => {
  const { user, viewer, credential } = signedIn;
  const { scopes } = credential;
  if (!scopes.includes('api') && !scopes.includes('read_api')) throw denied();
  noteUse(platform.store, signedIn, now);
  return { username: user.username, viewer, readsOnly: !scopes.includes('api') };
};

/** The token that stands where the password does; null: it is none. */
const tokenOf = async ({ db, now }: Call, text: string): Promise<SignedIn | null> => {
  try {
    return await signIn(db, { kind: 'token', text, via: 'bearer' }, now);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unauthorized') return null;
    throw error;
  }
};

const byPassword = async (call: Call, given: Basic): Promise<Puller> => {
  const { platform, ip, userAgent, db, now } = call;
  const { user, needsSecondFactor } = await passwordSignIn(platform, { ...given, ip, userAgent });
  if (needsSecondFactor) throw denied();
  const row = await db.selectFrom('users').select(userColumns).where('id', '=', user.id).executeTakeFirst();
  if (row === undefined) throw denied();
  return { username: row.username, viewer: await loadViewer(db, row, now), readsOnly: false };
};

/**
 * Whose name and password, or token in its place, the request brings.
 * @throws Failure 401 for wrong ones, 429 after too many
 */
export const signInPuller = async (call: Call): Promise<Puller> => {
  const given = basicOf(call);
  if (given === null) return nobody;
  try {
    const token = await tokenOf(call, given.password);
    return token === null ? await byPassword(call, given) : byToken(call, token);
  } catch (error) {
    throw isRefusal(error) ? denied() : error;
  }
};
