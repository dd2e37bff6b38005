/** Creates and revokes access tokens of projects and groups. Each has a bot, which is a member with the token's role. */
import { sql } from 'kysely';
import { recordAudit } from '../../core/access/audit.ts';
import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { generateTokenText } from '../../core/access/credentials/token_text.ts';
import { today } from '../../core/access/viewer.ts';
import { insertMember } from '../../identity/namespaces/add_member.ts';
import { blockBot } from '../../identity/bots/block_bots.ts';
import { requireNoBot } from '../../identity/bots/is_bot.ts';
import { insertToken } from '../../identity/tokens/create.ts';
import { rotateToken } from '../../identity/tokens/rotate.ts';
import { tokenProblems } from '../../identity/tokens/rules.ts';
import { insertUser } from '../../identity/users/create.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { badRequest, forbidden, invalid } from '../../platform/errors.ts';
import type { Source, SourceKind } from '../members/member_source.ts';
import { requireGrantable } from '../members/rules.ts';
import { type AccessToken, selectActive } from './queries.ts';

/** Scopes of these tokens: a bot has no account to read, and acts for nobody else. */
export const accessTokenScopes = [
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'create_runner',
] as const;

/** Tokens of a project or group that work at a time. */
const maxTokens = 100;

export type NewAccessToken = {
  name: string;
  description?: string | null | undefined;
  scopes: string[];
  access_level: number;
  /** `YYYY-MM-DD`. */
  expires_at: string | null;
};

const check = (kind: SourceKind, source: Source, token: NewAccessToken, now: number): void => {
  const { scopes, access_level, expires_at } = token;
  const problems = tokenProblems(token, false);
  if (!scopes.every((scope) => (accessTokenScopes as readonly string[]).includes(scope)))
    problems['scopes'] = ['can only contain available scopes'];
  if (expires_at !== null && expires_at <= today(now)) problems['expires_at'] = ['must be in the future'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  if (access_level > source.level)
    throw badRequest('access_level must not be above the role of the creator of the token');
  requireGrantable(kind, source, { access_level }, now);
};

/** Stores a bot: an external user without a password who gets no mail. */
const insertBot = async (call: Call, tx: Tx, source: Source, name: string): Promise<number> => {
  const word = source.type === 'Project' ? 'project' : 'group';
  const username = `${word}_${source.id}_bot_${call.platform.random(16).toString('hex')}`;
  const user_id = await insertUser(tx, requireActor(call), {
    username,
    name,
    email: `${username}@noreply.invalid`,
    password_hash: null,
    external: 1,
    can_create_group: 0,
    projects_limit: 0,
    email_unchecked: 1,
  });
  await tx.db
    .insertInto('bots')
    .values({ user_id, source_type: source.type, source_id: source.id })
    .execute();
  return user_id;
};

/**
 * Creates a token with its bot.
 * @returns its id and its text, to be shown once
 * @throws Failure 400 for invalid input, 403 for a bot
 */
export const createAccessToken = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  token: NewAccessToken,
): Promise<{ id: number; text: string }> => {
  await requireNoBot(call.db, requireUser(call).id);
  check(kind, source, token, call.now);
  const actor = requireActor(call);
  const text = generateTokenText(call.platform.random);
  const { access_level, ...columns } = token;
  const name = token.name.trim();
  const id = await call.write(async (tx) => {
    await kind.lock(tx, source);
    const active = selectActive(tx.db, source, tx.now);
    await requireRecordQuota(active, { what: 'access tokens', most: maxTokens });
    const user_id = await insertBot(call, tx, source, name);
    await insertMember(tx, actor, [source.type, source.id], {
      user_id,
      access_level,
      expires_at: columns.expires_at,
    });
    const scopes = [...new Set(columns.scopes)];
    const row = { ...columns, name, scopes, kind: 'personal' as const, user_id };
    const tokenId = await insertToken(tx, actor, row, text);
    await recordAudit(tx, actor, call, {
      kind: 'access_token.created',
      target_type: 'Token',
      target_id: tokenId,
      details: { source_type: source.type, source_id: source.id, name, scopes, access_level },
    });
    return tokenId;
  });
  return { id, text };
};

/** Revokes a token, blocks its bot and takes its role. */
export const revokeAccessToken = async (call: Call, source: Source, token: AccessToken): Promise<void> =>
  await call.write(async (tx) => {
    const { id, user_id, name } = token;
    await blockBot(tx, user_id);
    await sql`delete from members where user_id = ${user_id}`.execute(tx.db);
    await recordAudit(tx, requireActor(call), call, {
      kind: 'access_token.revoked',
      target_type: 'Token',
      target_id: id,
      details: { source_type: source.type, source_id: source.id, name },
    });
  });

/**
 * Rotates a token: the new token has the same name and scopes.
 * @returns id and text of the new token, to be shown once
 * @throws Failure 403 for a token with a role above the caller's role, 401 for an expired token
 */
export const rotateAccessToken = async (
  call: Call,
  source: Source,
  token: AccessToken,
  expires_at: string | null,
): Promise<{ id: number; text: string }> => {
  // Otherwise the caller would come to a role above their own.
  if ((token.access_level ?? 0) > source.level) throw forbidden();
  return await rotateToken(call, token, expires_at);
};
