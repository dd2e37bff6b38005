import { sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Failure } from '../../platform/errors.ts';
import type { Source } from '../../core/access/audit.ts';
import type { Form } from './authenticate_client.ts';
import { invalidGrant, invalidRequest, invalidScope } from './failures.ts';
import { type TokenAnswer, issueTokens, newPair } from './issue_tokens.ts';
import type { Application } from './queries.ts';
import { revokeTokens } from './revoke_tokens.ts';
import { refreshLife, splitWords } from './rules.ts';

/** Loads the token of a refresh token and locks it until the transaction ends. */
const lockToken = async (tx: Tx, refresh: string) => {
  const refresh_hash = hashToken(refresh);
  await sql`select id from tokens where refresh_hash = ${refresh_hash} ${tx.dialect.forUpdate}`.execute(
    tx.db,
  );
  return await tx.db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.id', 'user_id', 'application_id', 'scopes', 'revoked', 'dies_at', 'family'])
    .select('users.state')
    .where('refresh_hash', '=', refresh_hash)
    .executeTakeFirst();
};

/**
 * Exchanges a refresh token for new tokens, once. The old access token ends. A second use revokes the whole
 * authorization, for one of the two users is a thief.
 * @param application null: the client named none
 * @throws Failure 400 invalid_grant, invalid_scope, invalid_request
 */
export const refreshTokens = async (
  { store, random }: Platform,
  source: Source,
  application: Application | null,
  form: Form,
): Promise<TokenAnswer> => {
  const { refresh_token, scope = '' } = form;
  if (refresh_token === undefined) throw invalidRequest('Missing required parameter: refresh_token.');
  const pair = newPair(random);
  const answer = await store.write(async (tx): Promise<TokenAnswer | Failure> => {
    const token = await lockToken(tx, refresh_token);
    if (token === undefined || token.family === null) return invalidGrant();
    if (token.application_id !== (application?.id ?? null)) return invalidGrant();
    const { id, user_id, family } = token;
    if (token.revoked === 1) {
      await revokeTokens(tx, null, source, { family, reason: 'its refresh token was used twice' });
      return invalidGrant();
    }
    if (token.state !== 'active' || (token.dies_at ?? 0) + refreshLife <= tx.now) return invalidGrant();
    const had = JSON.parse(token.scopes) as string[];
    const requested = splitWords(scope);
    if (!requested.every((one) => had.includes(one))) return invalidScope();
    await tx.db.updateTable('tokens').set({ revoked: 1 }).where('id', '=', id).execute();
    const scopes = requested.length === 0 ? had : requested;
    const grant_type = 'refresh_token';
    return await issueTokens(tx, source, pair, { user_id, application, scopes, family, grant_type });
  });
  if (answer instanceof Error) throw answer;
  return answer;
};
