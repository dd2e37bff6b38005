import type { ExpressionBuilder } from 'kysely';
import { hashToken, generateTokenText } from '../../core/access/credentials/token_text.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Schema } from '../../platform/db/schema/database.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { refreshLife, tokenLife } from './rules.ts';

/** The texts of a new access token and its refresh token. */
export type Pair = { access: string; refresh: string };

type Random = (bytes: number) => Buffer;

export const newPair = (random: Random): Pair => ({
  access: generateTokenText(random, 'gntoat'),
  refresh: generateTokenText(random, 'gntort'),
});

/** Generates the id that all tokens of one authorization share. */
export const newFamily = (random: Random): string => random(16).toString('hex');

export type Authorization = {
  user_id: number;
  /** null: granted for a password, to no application. */
  application: { id: number; name: string } | null;
  scopes: string[];
  family: string;
  /** Grant type: `authorization_code`... */
  grant_type: string;
};

/** The response to the client (RFC 6749, 5.1). */
export type TokenAnswer = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
  created_at: number;
};

/** Maximum number of tokens per user and application. The oldest are revoked beyond it. */
const maxTokens = 1_000;

/**
 * Revokes the oldest tokens beyond the limit. Else a script that requests tokens all the time would fill the table.
 */
const revokeOldest = async (tx: Tx, user_id: number, application_id: number | null): Promise<void> => {
  const those = (is: ExpressionBuilder<Schema, 'tokens'>) =>
    is.and([
      is('user_id', '=', user_id),
      is('kind', '=', 'oauth'),
      application_id === null ? is('application_id', 'is', null) : is('application_id', '=', application_id),
    ]);
  const oldest = await tx.db
    .selectFrom('tokens')
    .select('id')
    .where(those)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(maxTokens - 1)
    .executeTakeFirst();
  if (oldest !== undefined) {
    await tx.db.deleteFrom('tokens').where(those).where('id', '<=', oldest.id).execute();
  }
};

/** Stores the hashes of both tokens, and deletes expired tokens. */
export const issueTokens = async (
  tx: Tx,
  source: Source,
  pair: Pair,
  { user_id, application, scopes, family, grant_type }: Authorization,
): Promise<TokenAnswer> => {
  await revokeOldest(tx, user_id, application?.id ?? null);
  const id = await insertRow(tx.db, 'tokens', {
    user_id,
    kind: 'oauth',
    name: application?.name ?? 'Password grant',
    token_hash: hashToken(pair.access),
    scopes: JSON.stringify(scopes),
    expires_at: null,
    last_used_at: null,
    created_at: tx.now,
    dies_at: tx.now + tokenLife * 1_000,
    application_id: application?.id ?? null,
    refresh_hash: hashToken(pair.refresh),
    family,
  });
  await tx.db
    .deleteFrom('tokens')
    .where('dies_at', '<', tx.now - refreshLife)
    .execute();
  const cause = { user: { id: user_id }, sudo_by_id: null };
  const target = { target_type: 'Token', target_id: id };
  const data = { user_id, kind: 'oauth', scopes, application_id: application?.id ?? null, grant_type };
  await recordEvent(tx, cause, { kind: 'token.created', project_id: null, ...target, data });
  await recordAudit(tx, cause, source, { kind: 'token.created', ...target, details: data });
  return {
    access_token: pair.access,
    token_type: 'Bearer',
    expires_in: tokenLife,
    refresh_token: pair.refresh,
    scope: scopes.join(' '),
    created_at: Math.floor(tx.now / 1_000),
  };
};
