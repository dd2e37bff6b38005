/** Pages of access tokens of projects and groups, and handlers for their forms, which call the operations of the API. */
import { levels } from '../../../../core/access/levels.ts';
import { id, integer, object, oneOf, optional, text, texts } from '../../../../platform/http/schema.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { findAccessToken } from '../../../../projects/access_tokens/queries.ts';
import {
  createAccessToken,
  revokeAccessToken,
  rotateAccessToken,
} from '../../../../projects/access_tokens/write.ts';
import { groupSource, projectSource } from '../../../../projects/members/member_source.ts';
import { type SettingsList, type SettingsListRoute, placedSettingsRoutes } from '../ci/settings_list.ts';
import { chosenEnd, expiryParams, lives } from '../tokens/token_form.ts';
import { newTokenView } from '../tokens/new_token_view.ts';
import { problemsOf } from '../../parts/form.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { type FilledToken, type TokenPlace, tokensView } from './list.ts';

const filled = object({
  name: text(),
  scopes: { ...texts(), default: [] as string[] },
  access_level: { ...integer(), default: levels.developer },
  ...expiryParams,
});

/** Input to show again when the form was invalid. */
const asTyped = ({ name, scopes, access_level, life, expires_at }: RawParams): FilledToken => ({
  name: typeof name === 'string' ? name : '',
  scopes: Array.isArray(scopes) ? scopes.filter((one) => typeof one === 'string') : [],
  access_level: Number(access_level) || levels.developer,
  life: lives.find((one) => one === life) ?? '30',
  expires_at: typeof expires_at === 'string' ? expires_at : null,
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
    path: route.served,
    audience: 'user',
    params: object({ ...route.params, state: optional(oneOf(['active', 'inactive'])), ...pageParams }),
    handle: async (visit, params) => await tokensView(visit, await findPlace(route, visit, params), params),
  });

const createPage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: route.served,
    audience: 'user',
    params: object({ ...route.params, ...filled.properties }),
    invalid: async (visit, sent, fields) => {
      const place = await findPlace(route, visit, sent);
      return await tokensView(visit, place, {}, { given: asTyped(sent), problems: { text: null, fields } });
    },
    handle: async (visit, params) => {
      const place = await findPlace(route, visit, params);
      const { name, scopes, access_level } = params;
      const expires_at = chosenEnd(params, visit.call.now);
      const token = { name, scopes, access_level, expires_at };
      try {
        const made = await createAccessToken(visit.call, place.kind, place.source, token);
        return newTokenView(visit, place, { ...made, name, expires_at });
      } catch (error) {
        const problems = problemsOf(error);
        if (problems === null) throw error;
        return await tokensView(visit, place, {}, { given: asTyped(params), problems });
      }
    },
  });

const revokePage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.served}/:id/revoke`,
    audience: 'user',
    params: object({ ...route.params, id: id() }),
    handle: async (visit, params) => {
      const { source, path } = await findPlace(route, visit, params);
      const token = await findAccessToken(visit.call.db, source, params.id);
      await revokeAccessToken(visit.call, source, token);
      return redirect(path, `The token ${token.name} was revoked.`);
    },
  });

const rotatePage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.served}/:id/rotate`,
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

export const pages = placedSettingsRoutes('settings/access_tokens').flatMap((route) => [
  listPage(route),
  createPage(route),
  revokePage(route),
  rotatePage(route),
]);
