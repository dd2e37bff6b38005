import { hashToken, newTokenText } from '../access/token_text.ts';
import type { Store, Tx } from '../db/open.ts';
import type { TokensTable } from '../db/schema_access.ts';
import { forbidden, invalid } from '../errors.ts';
import { type Source, recordAudit } from '../access/audit.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { lockUser } from '../users/queries.ts';
import { tokenProblems } from './rules.ts';

export type NewToken = {
  user_id: number;
  kind: TokensTable['kind'];
  name: string;
  scopes: string[];
  /** `YYYY-MM-DD`. */
  expires_at: string | null;
};

/** Stores a token by its hash; the text is shown to its owner once and kept nowhere. */
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

/** Who makes a token, and whence. */
export type Maker = { cause: Cause | null; source: Source };

/**
 * Makes a token for a user.
 * @returns its id, and its text, which is to be shown once
 * @throws Failure 404 for no user, 403 for the ghost, 400 for a name or scopes that cannot be
 */
export const createToken = async (
  { store, random }: { store: Store; random: (bytes: number) => Buffer },
  { cause, source }: Maker,
  token: NewToken,
): Promise<{ id: number; text: string }> => {
  const text = newTokenText(random);
  const id = await store.write(async (tx) => {
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
