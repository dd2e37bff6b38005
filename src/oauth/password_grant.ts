import type { Platform } from '../access/call.ts';
import { Failure } from '../errors.ts';
import type { Source } from '../access/audit.ts';
import { passwordSignIn } from '../sessions/password_sign_in.ts';
import { tokenScopes } from '../tokens/rules.ts';
import { lockUser } from '../users/queries.ts';
import type { Form } from './client.ts';
import { invalidGrant, invalidRequest, invalidScope } from './failures.ts';
import { type TokenAnswer, issueTokens, newFamily, newPair } from './issue.ts';
import type { Application } from './queries.ts';
import { grantedScopes, scopesOfUser } from './rules.ts';

/** @throws Failure 400 invalid_grant whatever the reason, so that nothing is learned; 429 after too many failures */
const userOf = async (platform: Platform, given: Parameters<typeof passwordSignIn>[1]): Promise<number> => {
  try {
    const { user, needsSecondFactor } = await passwordSignIn(platform, given);
    if (needsSecondFactor) throw invalidGrant();
    return user.id;
  } catch (error) {
    const isRefusal = error instanceof Failure && ['unauthorized', 'forbidden'].includes(error.kind);
    throw isRefusal ? invalidGrant() : error;
  }
};

/**
 * Tokens for a user name and a password, as older clients ask for them.
 * @param application null: the client named none
 * @throws Failure 400 invalid_grant, invalid_scope, invalid_request; 429
 */
export const passwordGrant = async (
  platform: Platform,
  source: Source,
  application: Application | null,
  form: Form,
): Promise<TokenAnswer> => {
  const { username, password, scope = '' } = form;
  if (username === undefined) throw invalidRequest('Missing required parameter: username.');
  if (password === undefined) throw invalidRequest('Missing required parameter: password.');
  const granted = grantedScopes(scope, application?.scopes ?? tokenScopes);
  if (granted === null) throw invalidScope();
  const { store, random } = platform;
  const user_id = await userOf(platform, { login: username, password, ...source });
  const [pair, family] = [newPair(random), newFamily(random)];
  return await store.write(async (tx) => {
    const user = await lockUser(tx, user_id);
    if (user.state === 'blocked') throw invalidGrant();
    const scopes = scopesOfUser(granted, user.admin === 1);
    if (scopes.length === 0) throw invalidScope();
    return await issueTokens(tx, source, pair, {
      user_id,
      application,
      scopes,
      family,
      grant_type: 'password',
    });
  });
};
