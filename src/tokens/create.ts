import { hashToken } from '../access/token_text.ts';
import type { Tx } from '../db/open.ts';
import type { TokensTable } from '../db/schema.ts';
import { type Cause, recordEvent } from '../events/record.ts';

export type NewToken = {
  user_id: number;
  kind: TokensTable['kind'];
  name: string;
  scopes: string[];
  /** `YYYY-MM-DD`. */
  expires_at: string | null;
};

/** Stores a token by its hash; the text is shown to its owner once and kept nowhere. */
export const insertToken = async (tx: Tx, cause: Cause | null, token: NewToken, text: string): Promise<number> => {
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
  await recordEvent(tx, cause, { kind: 'token.created', project_id: null, target_type: 'Token', target_id: id });
  return id;
};
