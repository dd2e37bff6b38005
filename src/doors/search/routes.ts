/** The search API: records and code that the caller sees, everywhere, in a group or in a project. */
import type { TSchema } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { missingAttribute } from '../../platform/errors.ts';
import type { JsonText } from '../../platform/http/endpoint.ts';
import { type Page, pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  idOrPath,
  object,
  oneOf,
  optional,
  text,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { type Serialize, lazySerializer } from '../../platform/http/serializer.ts';
import { type PlaceKind, findPlace } from './search_place.ts';
import { type ScopeName, listScopes, searchScopes } from './all_scopes.ts';
import { type SearchFilter, searchStates } from './search_scope.ts';

const serializers = Object.fromEntries(
  Object.entries(searchScopes).map(([name, { shape }]) => [name, lazySerializer(shape)]),
) as Record<ScopeName, Serialize>;

const filterParams = {
  search: text({ maxLength: 1_000, description: 'search text' }),
  state: oneOf(searchStates, { default: 'all', description: 'of issues and merge requests' }),
  confidential: optional(boolean({ description: 'issue statistics' })),
  order_by: oneOf(['created_at'], { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  include_archived: boolean({ default: false, description: 'include archived projects' }),
  search_type: optional(
    oneOf(['basic', 'advanced', 'zoekt'], { description: 'accepted: there is only one kind of search' }),
  ),
};

type Params = SearchFilter & { scope: ScopeName; id: number | string; page: number; per_page: number };

const search = async (call: Call, kind: PlaceKind, params: Params): Promise<Page<JsonText>> => {
  const { scope, id, ...filter } = params;
  if (filter.search.trim() === '') throw missingAttribute('search');
  const place = await findPlace(call, kind, id);
  const page = pageRequest(params);
  const { items, total } = await searchScopes[scope].run({ call, place, filter, page });
  return { items: items.map(serializers[scope]), total };
};

const places: { kind: PlaceKind; paths: string[]; words: string; params: Record<string, TSchema> }[] = [
  { kind: 'everywhere', paths: ['/search'], words: 'everywhere', params: { ref: unsupportedFilter() } },
  {
    kind: 'groups',
    paths: ['/groups/:id/search', '/groups/:id/-/search'],
    words: 'in a group',
    params: { id: idOrPath('id or full path of the group'), ref: unsupportedFilter() },
  },
  {
    kind: 'projects',
    paths: ['/projects/:id/search', '/projects/:id/-/search'],
    words: 'in a project',
    params: {
      id: idOrPath('id or full path of the project'),
      ref: optional(
        text({
          maxLength: 1_000,
          description: 'branch or tag to search code and commits in; default: the default branch',
        }),
      ),
    },
  },
];

export const searchRoutes = places.flatMap(({ kind, paths, words, params }) =>
  paths.map((path) =>
    endpoint({
      method: 'GET',
      path,
      summary: `Search ${words}`,
      area: 'search',
      audience: 'user',
      list: true,
      params: object({ ...params, scope: oneOf(listScopes(kind)), ...filterParams, ...pageParams }),
      reply: { anyOf: listScopes(kind).map((name) => searchScopes[name].shape) },
      handle: async (call, params) => await search(call, kind, params as unknown as Params),
    }),
  ),
);
