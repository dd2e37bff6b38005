import { sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Source } from '../../core/access/audit.ts';
import type { Form } from './authenticate_client.ts';
import { invalidGrant, invalidRequest } from './failures.ts';
import { type TokenAnswer, issueTokens, newPair } from './issue_tokens.ts';
import type { Application } from './queries.ts';
import { revokeTokens } from './revoke_tokens.ts';
import { matchesChallenge, filterUserScopes } from './rules.ts';

/** Loads the grant of a code and locks it until the transaction ends. */
const lockGrant = async (tx: Tx, code: string) => {
  const code_hash = hashToken(code);
  await sql`select id from oauth_grants where code_hash = ${code_hash} ${tx.dialect.forUpdate}`.execute(
    tx.db,
  );
  return await tx.db
    .selectFrom('oauth_grants')
    .innerJoin('users', 'users.id', 'oauth_grants.user_id')
    .selectAll('oauth_grants')
    .select(['users.state', 'users.admin'])
    .where('code_hash', '=', code_hash)
    .executeTakeFirst();
};

type Grant = NonNullable<Awaited<ReturnType<typeof lockGrant>>>;

/** Checks the PKCE verifier. A verifier without a challenge is refused, else PKCE could be stripped on the way. */
const isVerified = ({ code_challenge }: Grant, verifier: string | undefined): boolean =>
  code_challenge === null
    ? verifier === undefined
    : verifier !== undefined && matchesChallenge(verifier, code_challenge);

/**
 * Exchanges an authorization code for tokens, once. A second use revokes the tokens of the first: one of the two is a
 * thief.
 * @throws Failure 400 invalid_grant, invalid_request
 */
export const exchangeCode = async (
  { store, random }: Platform,
  source: Source,
  application: Application,
  form: Form,
): Promise<TokenAnswer> => {
  const { code, redirect_uri, code_verifier } = form;
  if (code === undefined) throw invalidRequest('Missing required parameter: code.');
  if (redirect_uri === undefined) throw invalidRequest('Missing required parameter: redirect_uri.');
  const pair = newPair(random);
  const answer = await store.write(async (tx) => {
    const grant = await lockGrant(tx, code);
    if (grant === undefined || grant.application_id !== application.id) return null;
    const { user_id, family } = grant;
    if (grant.used_at !== null) {
      await revokeTokens(tx, null, source, { family, reason: 'its code was used twice' });
      return null;
    }
    const isGood = grant.dies_at > tx.now && grant.state === 'active' && grant.redirect_uri === redirect_uri;
    if (!isGood || !isVerified(grant, code_verifier)) return null;
    const { id } = grant;
    await tx.db.updateTable('oauth_grants').set({ used_at: tx.now }).where('id', '=', id).execute();
    const scopes = filterUserScopes(JSON.parse(grant.scopes) as string[], grant.admin === 1);
    const grant_type = 'authorization_code';
    return await issueTokens(tx, source, pair, { user_id, application, scopes, family, grant_type });
  });
  if (answer === null) throw invalidGrant();
  return answer;
};
