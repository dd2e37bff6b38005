/** Pages of deploy tokens, and handlers for their forms, which call the operations of the API. */
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, object, optional, text } from '../../../../platform/http/schema.ts';
import { formatTime, parseTime } from '../../../../platform/time.ts';
import {
  createDeployToken,
  findDeployToken,
  revokeDeployToken,
} from '../../../../projects/deploy_tokens/deploy_tokens.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { type AnyPage, type Visit, page } from '../../page.ts';
import { type SettingsListRoute, placedSettingsRoutes } from '../ci/owner_settings_routes.ts';
import { newTokenView } from '../tokens/new_token_view.ts';
import { revokePage } from '../tokens/revoke_page.ts';
import { fromSent, chosenEnd, newTokenParams } from '../tokens/token_form.ts';
import { type DeployTokenPlace, type FilledDeployToken, deployTokensView } from './list.ts';

const readForm = (sent: RawParams): FilledDeployToken => ({
  ...fromSent(sent),
  username: fieldText(sent['username']),
});

const findPlace = async (
  route: SettingsListRoute,
  visit: Visit,
  params: RawParams,
): Promise<DeployTokenPlace> => {
  const list = await route.find(visit, params);
  const { owner } = list;
  const tokenOwner = {
    project_id: owner.scope === 'project' ? owner.project.id : null,
    group_id: owner.scope === 'group' ? owner.group.id : null,
  };
  return { path: list.path, view: list.view, tokenOwner };
};

const listPage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: route.routePath,
    audience: 'user',
    params: object({ ...route.params, ...pageParams }),
    handle: async (visit, params) =>
      await deployTokensView(visit, await findPlace(route, visit, params), params),
  });

const createPage = (route: SettingsListRoute): AnyPage =>
  formPage({
    path: route.routePath,
    audience: 'user',
    address: route.params,
    fields: { ...newTokenParams, username: optional(clearable(text())) },
    find: async (visit, address) => await findPlace(route, visit, address),
    fromSent: readForm,
    run: async (visit, place, params) => {
      const { name, username, scopes, life, expires_at: day } = params;
      const end = chosenEnd({ life, ...(day !== undefined && { expires_at: day }) }, visit.call.now);
      const expires_at = end === null ? null : parseTime(end);
      const input = { name, scopes, expires_at, ...(typeof username === 'string' && { username }) };
      const { row, text: secret } = await createDeployToken(visit.call, place.tokenOwner, input);
      const ends = row.expires_at === null ? null : formatTime(row.expires_at).slice(0, 10);
      return newTokenView(visit, place, { name, text: secret, username: row.username, expires_at: ends });
    },
    view: async (visit, place, state) => await deployTokensView(visit, place, {}, state),
  });

const revoke = async (
  { call }: Visit,
  { tokenOwner }: DeployTokenPlace,
  tokenId: number,
): Promise<string> => {
  const { name } = await findDeployToken(call, tokenOwner, tokenId);
  await revokeDeployToken(call, tokenOwner, tokenId);
  return name;
};

export const pages = placedSettingsRoutes('deploy_tokens').flatMap((route) => [
  listPage(route),
  createPage(route),
  revokePage(route, { findPlace, revoke }),
]);
