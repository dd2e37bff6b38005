/** Pages of deploy tokens, and handlers for their forms, which call the operations of the API. */
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, id, object, optional, text, texts } from '../../../../platform/http/schema.ts';
import { formatTime, parseTime } from '../../../../platform/time.ts';
import {
  createDeployToken,
  findDeployToken,
  revokeDeployToken,
} from '../../../../projects/deploy_tokens/deploy_tokens.ts';
import { problemsOf } from '../../parts/form.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { type SettingsListRoute, placedSettingsRoutes } from '../ci/settings_list.ts';
import { newTokenView } from '../tokens/new_token_view.ts';
import { chosenEnd, expiryParams, lives } from '../tokens/token_form.ts';
import { type DeployTokenPlace, type FilledDeployToken, deployTokensView } from './list.ts';

/** Input to show again when the form was invalid. */
const asTyped = ({ name, username, scopes, life, expires_at }: RawParams): FilledDeployToken => ({
  name: typeof name === 'string' ? name : '',
  username: typeof username === 'string' ? username : '',
  scopes: Array.isArray(scopes) ? scopes.filter((one) => typeof one === 'string') : [],
  life: lives.find((one) => one === life) ?? '30',
  expires_at: typeof expires_at === 'string' ? expires_at : null,
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
    path: route.served,
    audience: 'user',
    params: object({ ...route.params, ...pageParams }),
    handle: async (visit, params) =>
      await deployTokensView(visit, await findPlace(route, visit, params), params),
  });

const createPage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: route.served,
    audience: 'user',
    params: object({
      ...route.params,
      name: text(),
      username: optional(clearable(text())),
      scopes: { ...texts(), default: [] as string[] },
      ...expiryParams,
    }),
    invalid: async (visit, sent, fields) => {
      const place = await findPlace(route, visit, sent);
      const tried = { given: asTyped(sent), problems: { text: null, fields } };
      return await deployTokensView(visit, place, {}, tried);
    },
    handle: async (visit, params) => {
      const place = await findPlace(route, visit, params);
      const { name, username, scopes, life, expires_at: day } = params;
      const end = chosenEnd({ life, ...(day !== undefined && { expires_at: day }) }, visit.call.now);
      const expires_at = end === null ? null : parseTime(end);
      const input = { name, scopes, expires_at, ...(typeof username === 'string' && { username }) };
      try {
        const made = await createDeployToken(visit.call, place.tokenOwner, input);
        const ends = made.row.expires_at === null ? null : formatTime(made.row.expires_at).slice(0, 10);
        return newTokenView(visit, place, {
          name,
          text: made.text,
          username: made.row.username,
          expires_at: ends,
        });
      } catch (error) {
        const problems = problemsOf(error);
        if (problems === null) throw error;
        return await deployTokensView(visit, place, {}, { given: asTyped(params), problems });
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
      const { path, tokenOwner } = await findPlace(route, visit, params);
      const { name } = await findDeployToken(visit.call, tokenOwner, params.id);
      await revokeDeployToken(visit.call, tokenOwner, params.id);
      return redirect(path, `The token ${name} was revoked.`);
    },
  });

export const pages = placedSettingsRoutes('deploy_tokens').flatMap((route) => [
  listPage(route),
  createPage(route),
  revokePage(route),
]);
