/** Pages of access tokens of projects and groups, and handlers for their forms, which call the operations of the API. */
import { levels } from '../../../../core/access/levels.ts';
import { id, integer, object, oneOf, optional } from '../../../../platform/http/schema.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { findAccessToken } from '../../../../projects/access_tokens/queries.ts';
import {
  createAccessToken,
  revokeAccessToken,
  rotateAccessToken,
} from '../../../../projects/access_tokens/write.ts';
import { groupSource, projectSource } from '../../../../projects/members/member_source.ts';
import {
  type SettingsList,
  type SettingsListRoute,
  placedSettingsRoutes,
} from '../ci/owner_settings_routes.ts';
import { newTokenView } from '../tokens/new_token_view.ts';
import { revokePage } from '../tokens/revoke_page.ts';
import { fromSent, chosenEnd, newTokenParams } from '../tokens/token_form.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { type AnyPage, type Visit, page } from '../../page.ts';
import { type FilledAccessToken, type TokenPlace, tokensView } from './list.ts';

const fields = { ...newTokenParams, access_level: { ...integer(), default: levels.developer } };

const readForm = (sent: RawParams): FilledAccessToken => ({
  ...fromSent(sent),
  access_level: Number(sent['access_level']) || levels.developer,
});

const placeOf = async ({ call }: Visit, list: SettingsList): Promise<TokenPlace> => {
  const { owner } = list;
  if (owner.scope === 'group')
    return { ...list, kind: groupSource, source: await groupSource.find(call, owner.group.id) };
  const id_ = owner.scope === 'project' ? owner.project.id : 0;
  return { ...list, kind: projectSource, source: await projectSource.find(call, id_) };
};

const findPlace = async (route: SettingsListRoute, visit: Visit, params: RawParams): Promise<TokenPlace> =>
  await placeOf(visit, await route.find(visit, params));

const listPage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: route.routePath,
    audience: 'user',
    params: object({ ...route.params, state: optional(oneOf(['active', 'inactive'])), ...pageParams }),
    handle: async (visit, params) => await tokensView(visit, await findPlace(route, visit, params), params),
  });

const createPage = (route: SettingsListRoute): AnyPage =>
  formPage({
    path: route.routePath,
    audience: 'user',
    address: route.params,
    fields,
    find: async (visit, address) => await findPlace(route, visit, address),
    fromSent: readForm,
    run: async (visit, place, params) => {
      const { name, scopes, access_level } = params;
      const expires_at = chosenEnd(params, visit.call.now);
      const token = { name, scopes, access_level, expires_at };
      const made = await createAccessToken(visit.call, place.kind, place.source, token);
      return newTokenView(visit, place, { ...made, name, expires_at });
    },
    view: async (visit, place, state) => await tokensView(visit, place, {}, state),
  });

const rotatePage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/rotate`,
    audience: 'user',
    params: object({ ...route.params, id: id() }),
    handle: async (visit, params) => {
      const place = await findPlace(route, visit, params);
      const { call } = visit;
      const token = await findAccessToken(call.db, place.source, params.id);
      const made = await rotateAccessToken(call, place.source, token, null);
      const { name, expires_at } = await findAccessToken(call.db, place.source, made.id);
      return newTokenView(visit, place, { ...made, name, expires_at });
    },
  });

const revoke = async ({ call }: Visit, { source }: TokenPlace, tokenId: number): Promise<string> => {
  const token = await findAccessToken(call.db, source, tokenId);
  await revokeAccessToken(call, source, token);
  return token.name;
};

export const pages = placedSettingsRoutes('settings/access_tokens').flatMap((route) => [
  listPage(route),
  createPage(route),
  revokePage(route, { findPlace, revoke }),
  rotatePage(route),
]);
