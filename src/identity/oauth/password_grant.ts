import type { Platform } from '../../core/platform.ts';
import { Failure } from '../../platform/errors.ts';
import type { Source } from '../../core/access/audit.ts';
import { signInWithPassword } from '../sessions/check_password.ts';
import { tokenScopes } from '../tokens/rules.ts';
import { lockUser } from '../users/queries.ts';
import type { Form } from './authenticate_client.ts';
import { invalidGrant, invalidRequest, invalidScope } from './failures.ts';
import { type TokenAnswer, issueTokens, newFamily, newPair } from './issue_tokens.ts';
import type { Application } from './queries.ts';
import { grantedScopes, filterUserScopes } from './rules.ts';

/**
 * Returns the user. @throws Failure 400 invalid_grant with one message for every reason, 429 after too many failures
 */
const authenticateUser = async (
  platform: Platform,
  input: Parameters<typeof signInWithPassword>[1],
): Promise<number> => {
  try {
    const { user, ...factor } = await signInWithPassword(platform, input);
    if (factor.needsSecondFactor || factor.lacksRequiredFactor) throw invalidGrant();
    return user.id;
  } catch (error) {
    const isRefusal = error instanceof Failure && ['unauthorized', 'forbidden'].includes(error.kind);
    throw isRefusal ? invalidGrant() : error;
  }
};

/**
 * Issues tokens for a user name and password, as older clients request them.
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
  const user_id = await authenticateUser(platform, { login: username, password, ...source });
  const [pair, family] = [newPair(random), newFamily(random)];
  return await store.write(async (tx) => {
    const user = await lockUser(tx, user_id);
    if (user.state === 'blocked') throw invalidGrant();
    const scopes = filterUserScopes(granted, user.admin === 1);
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
