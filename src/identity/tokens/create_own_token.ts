import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { badRequest, forbidden, invalid } from '../../platform/errors.ts';
import { type NewToken, createToken } from './create.ts';
import { type TokenRow, loadPresentedToken } from './queries.ts';

/**
 * Loads the personal or impersonation token of the call.
 * @throws Failure 400 for a call with other credentials
 */
export const loadOwnToken = async (call: Call): Promise<TokenRow> => {
  const { kind, id } = requireActor(call).credential;
  const token =
    kind === 'personal' || kind === 'impersonation' ? await loadPresentedToken(call.db, id) : undefined;
  if (token === undefined) throw badRequest('this endpoint needs a personal access token');
  return token;
};

/**
 * Returns the expiry of a token that users create for themselves. It must not outlive the credentials of the call,
 * and a token that somebody else may revoke creates none.
 * @throws Failure 403, 400
 */
const getOwnExpiry = async (call: Call, requested: string | null): Promise<string | null> => {
  const { kind, id } = requireActor(call).credential;
  if (kind === 'impersonation' || kind === 'oauth') throw forbidden();
  const latest = kind === 'session' ? null : ((await loadPresentedToken(call.db, id))?.expires_at ?? null);
  if (latest === null) return requested;
  if (requested !== null && requested > latest) {
    throw invalid({ expires_at: [`must not be after ${latest}, when the token in use expires`] });
  }
  return requested ?? latest;
};

/**
 * Creates a personal access token for the caller.
 * @returns its id and its text, to be shown once
 * @throws Failure 403 if the credentials of the call may create none, 400 for invalid input
 */
export const createOwnToken = async (
  call: Call,
  { name, description, scopes, expires_at }: Pick<NewToken, 'name' | 'description' | 'scopes' | 'expires_at'>,
): Promise<{ id: number; text: string }> => {
  return await createToken(
    call.platform,
    { cause: requireActor(call), source: call },
    {
      user_id: requireUser(call).id,
      kind: 'personal',
      name,
      description,
      scopes,
      expires_at: await getOwnExpiry(call, expires_at),
    },
  );
};
