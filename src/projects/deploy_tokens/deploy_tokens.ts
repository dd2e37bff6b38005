/** Deploy tokens of projects and groups: lists, creates and revokes them. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { recordAudit } from '../../core/access/audit.ts';
import { type Call, requireActor } from '../../core/access/call.ts';
import { generateTokenText, hashToken } from '../../core/access/credentials/token_text.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import type { DeployTokensTable } from '../../platform/db/schema/projects.ts';
import { type Problems, invalid, notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { type DeployTokenScope, deployTokenPrefix } from './authenticate.ts';

const quota = { what: 'deploy tokens', most: 100 };

export const deployTokenScopes: readonly DeployTokenScope[] = [
  'read_repository',
  'read_registry',
  'write_registry',
];

export type DeployToken = Selectable<DeployTokensTable>;

/** One of both is null. */
export type TokenOwner = { project_id: number | null; group_id: number | null };

const ofOwner = ({ project_id, group_id }: TokenOwner): RawBuilder<boolean> =>
  project_id === null
    ? sql<boolean>`deploy_tokens.group_id = ${group_id}`
    : sql<boolean>`deploy_tokens.project_id = ${project_id}`;

const isActive = (now: number) => sql<boolean>`(expires_at is null or expires_at > ${now})`;

/**
 * Lists the tokens of an owner, oldest first.
 * @param owner null: tokens of all projects and groups
 * @param active false: expired tokens; undefined: all
 */
export const listDeployTokens = async (
  { db, now }: Call,
  owner: TokenOwner | null,
  active: boolean | undefined,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<DeployToken>> => {
  const query = db
    .selectFrom('deploy_tokens')
    .where(owner === null ? sql<boolean>`1 = 1` : ofOwner(owner))
    .$if(active === true, (all) => all.where(isActive(now)))
    .$if(active === false, (all) => all.where(sql<boolean>`not ${isActive(now)}`));
  const [rows, { total }] = await Promise.all([
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
    query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items: rows, total };
};

/** @throws Failure 404 for a token of another owner */
export const findDeployToken = async (
  { db }: Pick<Call, 'db'>,
  owner: TokenOwner,
  tokenId: number,
): Promise<DeployToken> => {
  const row = await db
    .selectFrom('deploy_tokens')
    .selectAll()
    .where(ofOwner(owner))
    .where('id', '=', tokenId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Deploy Token');
  return row;
};

export type NewDeployToken = {
  name: string;
  username?: string | undefined;
  scopes: string[];
  expires_at: number | null;
};

/** @throws Failure 400 */
const check = ({ name, username, scopes, expires_at }: NewDeployToken, now: number): void => {
  const problems: Problems = {};
  if (name.trim() === '') problems['name'] = ["can't be blank"];
  if (username !== undefined && !/^[\w.+-]+$/.test(username))
    problems['username'] = ["can contain only letters, digits, '_', '-', '+', and '.'"];
  if (scopes.length === 0) problems['scopes'] = ["can't be blank"];
  else if (!scopes.every((scope) => (deployTokenScopes as readonly string[]).includes(scope)))
    problems['scopes'] = [`can only contain ${deployTokenScopes.join(', ')}`];
  if (expires_at !== null && expires_at <= now) problems['expires_at'] = ['must be in the future'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

/**
 * Creates a token.
 * @returns it, with its text, to be shown once
 * @throws Failure 400
 */
export const createDeployToken = async (
  call: Call,
  owner: TokenOwner,
  input: NewDeployToken,
): Promise<{ row: DeployToken; text: string }> => {
  check(input, call.now);
  const token = generateTokenText(call.platform.random, deployTokenPrefix);
  const id = await call.write(async (tx) => {
    await requireRecordQuota(tx.db.selectFrom('deploy_tokens').where(ofOwner(owner)), quota);
    const tokenId = await insertRow(tx.db, 'deploy_tokens', {
      ...owner,
      name: input.name.trim(),
      username: input.username ?? '',
      token_hash: hashToken(token),
      scopes: JSON.stringify([...new Set(input.scopes)]),
      expires_at: input.expires_at,
      created_at: tx.now,
      last_used_at: null,
    });
    if (input.username === undefined) {
      const username = `gitlab+deploy-token-${tokenId}`;
      await tx.db.updateTable('deploy_tokens').set({ username }).where('id', '=', tokenId).execute();
    }
    await recordAudit(tx, requireActor(call), call, {
      kind: 'deploy_token.created',
      target_type: 'DeployToken',
      target_id: tokenId,
      details: { ...owner, name: input.name, scopes: input.scopes },
    });
    return tokenId;
  });
  return { row: await findDeployToken(call, owner, id), text: token };
};

/** Deletes a token of an owner. @throws Failure 404 for a token of another owner */
export const revokeDeployToken = async (call: Call, owner: TokenOwner, tokenId: number): Promise<void> => {
  const { name } = await findDeployToken(call, owner, tokenId);
  await call.write(async (tx) => {
    await tx.db.deleteFrom('deploy_tokens').where('id', '=', tokenId).execute();
    await recordAudit(tx, requireActor(call), call, {
      kind: 'deploy_token.revoked',
      target_type: 'DeployToken',
      target_id: tokenId,
      details: { ...owner, name },
    });
  });
};
