/** Endpoints of deploy tokens, written once for projects and groups. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
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
import { formatTimeOrNull } from '../../platform/time.ts';
import { findProjectFor } from '../projects/find.ts';
import {
  type DeployToken,
  type TokenOwner,
  createDeployToken,
  deployTokenScopes,
  findDeployToken,
  listDeployTokens,
  revokeDeployToken,
} from './deploy_tokens.ts';

const area = 'deploy_tokens';
type Kind = {
  plural: 'projects' | 'groups';
  noun: string;
  /** @throws Failure 404, 403 for callers who may not administer it */
  find: (call: Call, id: number | string) => Promise<TokenOwner>;
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

const tokenJson = ({ id, name, username, expires_at, scopes }: DeployToken, now: number) => ({
  id,
  name,
  username,
  expires_at: formatTimeOrNull(expires_at),
  scopes: JSON.parse(scopes) as string[],
  revoked: false,
  expired: expires_at !== null && expires_at <= now,
});

type ListParams = { active?: boolean; page?: number; per_page?: number };

const listJson = async (call: Call, owner: TokenOwner | null, params: ListParams) => {
  const { items, total } = await listDeployTokens(call, owner, params.active, pageRequest(params));
  return { items: items.map((row) => tokenJson(row, call.now)), total };
};

const getPath = ({ plural }: Kind): string => `/${plural}/:id/deploy_tokens`;
const getParams = ({ noun }: Kind) => ({ id: idOrPath(`id or full path of the ${noun}`) });
const active = optional(boolean({ description: 'false: only expired milestones' }));

const listOfInstance = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'List deploy tokens of all projects and groups (administrators)',
  area,
  audience: 'admin',
  list: true,
  params: object({ active, ...pageParams }),
  reply: tokenShape,
  handle: async (call, params) => await listJson(call, null, params),
});

const list = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: getPath(kind),
    summary: `List deploy tokens of a ${kind.noun}`,
    area,
    audience: 'user',
    list: true,
    params: object({ ...getParams(kind), active, scopes: unsupportedFilter(), ...pageParams }),
    reply: tokenShape,
    handle: async (call, params) => await listJson(call, await kind.find(call, params.id), params),
  });

const show = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: `${getPath(kind)}/:token_id`,
    summary: `Get a deploy token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), token_id: idParam() }),
    reply: tokenShape,
    handle: async (call, { id, token_id }) =>
      tokenJson(await findDeployToken(call, await kind.find(call, id), token_id), call.now),
  });

const create = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: getPath(kind),
    summary: `Create a deploy token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({
      ...getParams(kind),
      name: text(),
      username: optional(text({ description: 'default: `gitlab+deploy-token-` and its id' })),
      scopes: texts({ description: deployTokenScopes.join(', ') }),
      expires_at: optional(clearable(time())),
    }),
    reply: newTokenShape,
    handle: async (call, { id, expires_at = null, ...params }) => {
      const owner = await kind.find(call, id);
      const { row, text: token } = await createDeployToken(call, owner, { ...params, expires_at });
      return { ...tokenJson(row, call.now), token };
    },
  });

const remove = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${getPath(kind)}/:token_id`,
    summary: `Revoke a deploy token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), token_id: idParam() }),
    reply: null,
    handle: async (call, { id, token_id }) =>
      await revokeDeployToken(call, await kind.find(call, id), token_id),
  });

export const deployTokenRoutes = [
  listOfInstance,
  ...kinds.flatMap((kind) => [list, show, create, remove].map((route) => route(kind))),
];
