/** Endpoints of deploy tokens, written once for projects and groups. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { recordAudit } from '../../core/access/audit.ts';
import { type Call, requireActor } from '../../core/access/call.ts';
import { generateTokenText, hashToken } from '../../core/access/credentials/token_text.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import type { DeployTokensTable } from '../../platform/db/schema/projects.ts';
import { type Problems, invalid, notFound } from '../../platform/errors.ts';
import { type PageRequest, pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  array,
  bool,
  boolean,
  clearable,
  id as idParam,
  idOrPath,
  int,
  nullable,
  object,
  optional,
  string,
  text,
  texts,
  time,
  timestamp,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { findProjectFor } from '../projects/find.ts';
import { type DeployTokenScope, deployTokenPrefix } from './authenticate.ts';

const area = 'deploy_tokens';
const quota = { what: 'deploy tokens', most: 100 };
const scopeNames: readonly DeployTokenScope[] = ['read_repository', 'read_registry', 'write_registry'];

type Row = Selectable<DeployTokensTable>;
type Owner = { project_id: number | null; group_id: number | null };
type Kind = {
  plural: 'projects' | 'groups';
  noun: string;
  /** @throws Failure 404, 403 for those who may not administer it */
  find: (call: Call, id: number | string) => Promise<Owner>;
};

const kinds: Kind[] = [
  {
    plural: 'projects',
    noun: 'project',
    find: async (call, id) => ({
      project_id: (await findProjectFor(call, id, 'admin_project')).id,
      group_id: null,
    }),
  },
  {
    plural: 'groups',
    noun: 'group',
    find: async (call, id) => ({
      project_id: null,
      group_id: (await findGroupFor(call, id, 'admin_group')).id,
    }),
  },
];

const tokenShape = object({
  id: int,
  name: string,
  username: string,
  expires_at: nullable(timestamp),
  scopes: array(string),
  revoked: bool,
  expired: bool,
});

const newTokenShape = object({ ...tokenShape.properties, token: string });

const tokenJson = ({ id, name, username, expires_at, scopes }: Row, now: number) => ({
  id,
  name,
  username,
  expires_at: expires_at === null ? null : formatTime(expires_at),
  scopes: JSON.parse(scopes) as string[],
  revoked: false,
  expired: expires_at !== null && expires_at <= now,
});

const ofOwner = ({ project_id, group_id }: Owner): RawBuilder<boolean> =>
  project_id === null
    ? sql<boolean>`deploy_tokens.group_id = ${group_id}`
    : sql<boolean>`deploy_tokens.project_id = ${project_id}`;

const isActive = (now: number) => sql<boolean>`(expires_at is null or expires_at > ${now})`;

const listTokens = async (
  { db, now }: Call,
  where: RawBuilder<boolean>,
  active: boolean | undefined,
  { limit, offset }: PageRequest,
) => {
  const query = db
    .selectFrom('deploy_tokens')
    .where(where)
    .$if(active === true, (all) => all.where(isActive(now)))
    .$if(active === false, (all) => all.where(sql<boolean>`not ${isActive(now)}`));
  const [rows, { total }] = await Promise.all([
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
    query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items: rows.map((row) => tokenJson(row, now)), total };
};

const findToken = async ({ db }: Pick<Call, 'db'>, owner: Owner, tokenId: number): Promise<Row> => {
  const row = await db
    .selectFrom('deploy_tokens')
    .selectAll()
    .where(ofOwner(owner))
    .where('id', '=', tokenId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Deploy Token');
  return row;
};

type NewToken = { name: string; username?: string | undefined; scopes: string[]; expires_at: number | null };

/** @throws Failure 400 */
const check = ({ name, username, scopes, expires_at }: NewToken, now: number): void => {
  const problems: Problems = {};
  if (name.trim() === '') problems['name'] = ["can't be blank"];
  if (username !== undefined && !/^[\w.+-]+$/.test(username))
    problems['username'] = ["can contain only letters, digits, '_', '-', '+', and '.'"];
  if (scopes.length === 0) problems['scopes'] = ["can't be blank"];
  else if (!scopes.every((scope) => (scopeNames as readonly string[]).includes(scope)))
    problems['scopes'] = [`can only contain ${scopeNames.join(', ')}`];
  if (expires_at !== null && expires_at <= now) problems['expires_at'] = ['must be in the future'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

/** Creates a token. @returns its id and its text, to be shown once */
const createToken = async (call: Call, owner: Owner, input: NewToken) => {
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
  return { ...tokenJson(await findToken(call, owner, id), call.now), token };
};

const pathOf = ({ plural }: Kind): string => `/${plural}/:id/deploy_tokens`;
const paramsOf = ({ noun }: Kind) => ({ id: idOrPath(`id or full path of the ${noun}`) });
const active = optional(boolean({ description: 'false: only those that expired' }));

const all = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'Deploy tokens of all projects and groups',
  area,
  audience: 'admin',
  list: true,
  params: object({ active, ...pageParams }),
  reply: tokenShape,
  handle: async (call, params) =>
    await listTokens(call, sql<boolean>`1 = 1`, params.active, pageRequest(params)),
});

const list = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: pathOf(kind),
    summary: `Deploy tokens of a ${kind.noun}`,
    area,
    audience: 'user',
    list: true,
    params: object({ ...paramsOf(kind), active, scopes: unsupportedFilter(), ...pageParams }),
    reply: tokenShape,
    handle: async (call, params) =>
      await listTokens(call, ofOwner(await kind.find(call, params.id)), params.active, pageRequest(params)),
  });

const one = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: `${pathOf(kind)}/:token_id`,
    summary: `One deploy token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...paramsOf(kind), token_id: idParam() }),
    reply: tokenShape,
    handle: async (call, { id, token_id }) =>
      tokenJson(await findToken(call, await kind.find(call, id), token_id), call.now),
  });

const create = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: pathOf(kind),
    summary: `Create a deploy token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({
      ...paramsOf(kind),
      name: text(),
      username: optional(text({ description: 'default: `gitlab+deploy-token-` and its id' })),
      scopes: texts({ description: scopeNames.join(', ') }),
      expires_at: optional(clearable(time())),
    }),
    reply: newTokenShape,
    handle: async (call, { id, expires_at = null, ...input }) =>
      await createToken(call, await kind.find(call, id), { ...input, expires_at }),
  });

const remove = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${pathOf(kind)}/:token_id`,
    summary: `Revoke a deploy token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...paramsOf(kind), token_id: idParam() }),
    reply: null,
    handle: async (call, { id, token_id }) => {
      const owner = await kind.find(call, id);
      const { name } = await findToken(call, owner, token_id);
      await call.write(async (tx) => {
        await tx.db.deleteFrom('deploy_tokens').where('id', '=', token_id).execute();
        await recordAudit(tx, requireActor(call), call, {
          kind: 'deploy_token.revoked',
          target_type: 'DeployToken',
          target_id: token_id,
          details: { ...owner, name },
        });
      });
    },
  });

export const deployTokenRoutes = [
  all,
  ...kinds.flatMap((kind) => [list, one, create, remove].map((route) => route(kind))),
];
