import { hashToken, generateTokenText } from '../../core/access/credentials/token_text.ts';
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TokensTable } from '../../platform/db/schema/credentials.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { requireNoBot } from '../bots/is_bot.ts';
import { lockUser } from '../users/queries.ts';
import { tokenProblems } from './rules.ts';

export type NewToken = {
  user_id: number;
  kind: TokensTable['kind'];
  name: string;
  description?: string | null | undefined;
  scopes: string[];
  /** `YYYY-MM-DD`. */
  expires_at: string | null;
};

/** Stores the hash of a token. Its text is shown to the owner once. */
export const insertToken = async (
  tx: Tx,
  cause: Cause | null,
  token: NewToken,
  text: string,
): Promise<number> => {
  const { id } = await tx.db
    .insertInto('tokens')
    .values({
      user_id: token.user_id,
      kind: token.kind,
      name: token.name,
      description: token.description ?? null,
      token_hash: hashToken(text),
      scopes: JSON.stringify(token.scopes),
      expires_at: token.expires_at,
      last_used_at: null,
      created_at: tx.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const target = { project_id: null, target_type: 'Token', target_id: id };
  const { user_id, kind, scopes, expires_at } = token;
  await recordEvent(tx, cause, {
    kind: 'token.created',
    ...target,
    data: { user_id, kind, scopes, expires_at },
  });
  return id;
};

/** Creator of a token, and their address. */
export type Creator = { cause: Cause | null; source: Source };

/**
 * Creates a token for a user.
 * @returns its id and its text, to be shown once
 * @throws Failure 404 for an unknown user, 403 for the ghost user and for bots, 400 for an invalid name or scopes
 */
export const createToken = async (
  platform: Pick<Platform, 'store' | 'random'>,
  by: Creator,
  token: NewToken,
): Promise<{ id: number; text: string }> =>
  await createTokenAfter(platform, by, token, async ({ db }) => await requireNoBot(db, token.user_id));

/** Like `createToken`. @param precheck runs first in the same transaction; throws to refuse */
export const createTokenAfter = async (
  { store, random }: Pick<Platform, 'store' | 'random'>,
  { cause, source }: Creator,
  token: NewToken,
  precheck: (tx: Tx) => Promise<void>,
): Promise<{ id: number; text: string }> => {
  const text = generateTokenText(random);
  const id = await store.write(async (tx) => {
    await precheck(tx);
    const user = await lockUser(tx, token.user_id);
    if (user.ghost === 1) throw forbidden('An internal user has no tokens');
    const problems = tokenProblems(token, user.admin === 1);
    if (Object.keys(problems).length > 0) throw invalid(problems);
    const row = { ...token, name: token.name.trim(), scopes: [...new Set(token.scopes)] };
    const id = await insertToken(tx, cause, row, text);
    const { name, user_id, kind, scopes, expires_at } = row;
    const details = { user_id, kind, name, scopes, expires_at };
    await recordAudit(tx, cause, source, {
      kind: 'token.created',
      target_type: 'Token',
      target_id: id,
      details,
    });
    return id;
  });
  return { id, text };
};
