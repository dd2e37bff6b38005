import { type Call, actorOf, userOf } from '../access/call.ts';
import { badRequest, forbidden, invalid } from '../errors.ts';
import { type NewToken, createToken } from './create.ts';
import { type TokenRow, presentedToken } from './queries.ts';

/**
 * The personal or impersonation token that the call came with.
 * @throws Failure 400 for a call with anything else
 */
export const ownToken = async (call: Call): Promise<TokenRow> => {
  const { kind, id } = actorOf(call).credential;
  const token =
    kind === 'personal' || kind === 'impersonation' ? await presentedToken(call.db, id) : undefined;
  if (token === undefined) throw badRequest('this endpoint needs a personal access token');
  return token;
};

/**
 * When a token that a user makes for himself ends. What the call came with must not outlive itself: no later than
 * it, and none at all through a token that somebody else may take back.
 * @throws Failure 403, 400
 */
const ownExpiry = async (call: Call, wanted: string | null): Promise<string | null> => {
  const { kind, id } = actorOf(call).credential;
  if (kind === 'impersonation' || kind === 'oauth') throw forbidden();
  const latest = kind === 'session' ? null : ((await presentedToken(call.db, id))?.expires_at ?? null);
  if (latest === null) return wanted;
  if (wanted !== null && wanted > latest) {
    throw invalid({ expires_at: [`must not be after ${latest}, when the token in use expires`] });
  }
  return wanted ?? latest;
};

/**
 * Makes a personal access token for the caller.
 * @returns its id, and its text, which is to be shown once
 * @throws Failure 403 for a call that came with what may make none, 400 for what cannot be
 */
export const createOwnToken = async (
  call: Call,
  { name, scopes, expires_at }: Pick<NewToken, 'name' | 'scopes' | 'expires_at'>,
): Promise<{ id: number; text: string }> =>
  await createToken(
    call.platform,
    { cause: actorOf(call), source: call },
    {
      user_id: userOf(call).id,
      kind: 'personal',
      name,
      scopes,
      expires_at: await ownExpiry(call, expires_at),
    },
  );
