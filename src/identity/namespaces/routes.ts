import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  array,
  bool,
  boolean,
  id,
  idOrPath,
  object,
  optional,
  string,
  text,
} from '../../platform/http/schema.ts';
import { namespaceJson, namespaceShape } from './json.ts';
import { memberCounts, ownNamespaces, ownedNamespaces } from './queries.ts';
import { selectNamespaceId } from './redirects.ts';
import { containsText } from '../../platform/db/contains_text.ts';

const own = (call: Call, ownedOnly = false) => {
  const { db, viewer, platform } = call;
  return db
    .selectFrom('namespaces')
    .leftJoin('users as owners', 'owners.id', 'namespaces.owner_id')
    .where(ownNamespaces(viewer, platform.store.dialect))
    .$if(ownedOnly, (all) => all.where(ownedNamespaces(viewer, platform.store.dialect)));
};

const list = endpoint({
  method: 'GET',
  path: '/namespaces',
  summary: 'List your namespaces, or all (administrators)',
  area: 'namespaces',
  audience: 'user',
  params: object({
    search: optional(text({ description: 'part of the name or path' })),
    owned_only: optional(boolean({ description: 'only namespaces that the caller owns' })),
    top_level_only: optional(boolean({ description: 'exclude subgroups' })),
    full_path_search: optional(boolean({ description: 'accepted: `search` always compares full paths' })),
    ...pageParams,
  }),
  reply: namespaceShape,
  list: true,
  handle: async (call, params) => {
    const { search = '' } = params;
    const query = own(call, params.owned_only === true)
      .$if(params.top_level_only === true, (all) => all.where('namespaces.parent_id', 'is', null))
      .$if(search !== '', (all) =>
        all.where((is) =>
          is.or([containsText('namespaces.name', search), containsText('namespaces.full_path', search)]),
        ),
      );
    const { limit, offset } = pageRequest(params);
    const rows = await query
      .selectAll('namespaces')
      .select(['owners.email as owner_email', 'owners.avatar as owner_avatar'])
      .orderBy('namespaces.id')
      .limit(limit)
      .offset(offset)
      .execute();
    const { total } = await query
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const counts = await memberCounts(call.db, call.viewer, rows, call.now);
    return { items: rows.map((row) => namespaceJson(row, call, counts.get(row.id))), total };
  },
});

const show = endpoint({
  method: 'GET',
  path: '/namespaces/:id',
  summary: 'Get a namespace',
  area: 'namespaces',
  audience: 'user',
  params: object({ id: idOrPath('id or full path') }),
  reply: namespaceShape,
  handle: async (call, { id }) => {
    const row = await own(call)
      .where('namespaces.id', '=', selectNamespaceId(id))
      .selectAll('namespaces')
      .select(['owners.email as owner_email', 'owners.avatar as owner_avatar'])
      .executeTakeFirst();
    if (row === undefined) throw notFound('Namespace');
    const counts = await memberCounts(call.db, call.viewer, [row], call.now);
    return namespaceJson(row, call, counts.get(row.id));
  },
});

/** Finds a path that is free: the name with a number behind it. */
const suggest = async (call: Call, path: string): Promise<string> => {
  const candidates = Array.from({ length: 100 }, (_, at) => `${path}${at + 1}`);
  const rows = await call.db
    .selectFrom('routes')
    .select('path')
    .where(
      'path',
      'in',
      candidates.map((one) => one.toLowerCase()),
    )
    .execute();
  const taken = new Set(rows.map((row) => row.path));
  return candidates.find((one) => !taken.has(one.toLowerCase())) ?? `${path}${candidates.length + 1}`;
};

const exists = endpoint({
  method: 'GET',
  path: '/namespaces/:id/exists',
  summary: 'Check whether a path is taken, and suggest a free one',
  area: 'namespaces',
  audience: 'user',
  params: object({
    id: text({ description: 'path of the group, without its parent groups' }),
    parent_id: optional(id('parent group; default: none')),
  }),
  reply: object({ exists: bool, suggests: array(string) }),
  handle: async (call, { id: path, parent_id }) => {
    const parent =
      parent_id === undefined
        ? null
        : await own(call)
            .where('namespaces.id', '=', parent_id)
            .select('namespaces.full_path')
            .executeTakeFirst();
    if (parent === undefined) return { exists: false, suggests: [] };
    const before = parent === null ? '' : `${parent.full_path}/`;
    const row = await call.db
      .selectFrom('routes')
      .select('path')
      .where('path', '=', (before + path).toLowerCase())
      .executeTakeFirst();
    if (row === undefined) return { exists: false, suggests: [] };
    return { exists: true, suggests: [(await suggest(call, before + path)).slice(before.length)] };
  },
});

export const namespaceRoutes = [list, show, exists];
