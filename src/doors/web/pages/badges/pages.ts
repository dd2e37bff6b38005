/** Settings pages of the badges of projects and groups, which call the operations of the API. */
import { createBadge } from '../../../../projects/badges/create.ts';
import { deleteBadge } from '../../../../projects/badges/delete.ts';
import { groupBadgeOwner, projectBadgeOwner } from '../../../../projects/badges/owner.ts';
import { loadBadge } from '../../../../projects/badges/queries.ts';
import { requireBadgeUrls } from '../../../../projects/badges/rules.ts';
import { updateBadge } from '../../../../projects/badges/update.ts';
import { notFound } from '../../../../platform/errors.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { noProblems } from '../../parts/form_problems.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import {
  type SettingsListParams,
  type SettingsListRoute,
  placedSettingsRoutes,
} from '../ci/owner_settings_routes.ts';
import { badgeFields, badgeGuard, editFields, fromSent } from './form.ts';
import { type BadgeList, badgesView, editBadgeView } from './list.ts';

const findList = async (
  { find }: SettingsListRoute,
  visit: Visit,
  params: SettingsListParams,
): Promise<BadgeList> => {
  const list = await find(visit, params);
  const { owner } = list;
  if (owner.scope === 'instance') throw notFound();
  const badges =
    owner.scope === 'group' ? groupBadgeOwner(owner.group) : projectBadgeOwner(owner.project, visit.call);
  return { ...list, badges };
};

const findOne = async (
  route: SettingsListRoute,
  visit: Visit,
  { id: badgeId, ...params }: SettingsListParams & { id: number },
) => {
  const list = await findList(route, visit, params);
  return { list, badge: await loadBadge(visit.call, list.badges.own, badgeId) };
};

const listPage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: route.routePath,
    audience: 'user',
    params: object({ ...route.params, ...pageParams }),
    handle: async (visit, params) => await badgesView(visit, await findList(route, visit, params), params),
  });

const addPage = (route: SettingsListRoute): AnyPage =>
  formPage({
    path: route.routePath,
    audience: 'user',
    address: route.params,
    fields: badgeFields,
    find: async (visit, address) => await findList(route, visit, address),
    fromSent,
    run: async (visit, list, { name, link_url = '', image_url = '', preview }, values) => {
      if (preview === '1') {
        requireBadgeUrls({ link_url, image_url });
        return await badgesView(visit, list, {}, { values, problems: noProblems, isPreview: true });
      }
      await createBadge(visit.call, list.badges, { name: name || null, link_url, image_url });
      return redirect(list.path, 'The badge was added.');
    },
    view: async (visit, list, state) => await badgesView(visit, list, {}, state),
  });

const editPage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${route.routePath}/:id`,
    audience: 'user',
    params: object({ ...route.params, id: id() }),
    handle: async (visit, params) => {
      const { list, badge } = await findOne(route, visit, params);
      return editBadgeView(visit, list, badge);
    },
  });

const updatePage = (route: SettingsListRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/:id`,
    audience: 'user',
    address: { ...route.params, id: id() },
    fields: editFields,
    find: async (visit, address) => await findOne(route, visit, address),
    fromSent,
    run: async (visit, { list, badge }, params, values) => {
      const { name, link_url = '', image_url = '', preview, base } = params;
      if (preview === '1') {
        requireBadgeUrls({ link_url, image_url });
        const state = { values, problems: noProblems, isPreview: true, ...(base !== undefined && { base }) };
        return editBadgeView(visit, list, badge, state);
      }
      const edit = { link_url, image_url, name: name || null };
      await updateBadge(visit.call, list.badges, badge.id, { ...edit, ...badgeGuard.check(base, values) });
      return redirect(list.path, 'The badge was saved.');
    },
    view: (visit, { list, badge }, state) => editBadgeView(visit, list, badge, state),
  });

const removePage = (route: SettingsListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/delete`,
    audience: 'user',
    params: object({ ...route.params, id: id() }),
    handle: async (visit, params) => {
      const { list, badge } = await findOne(route, visit, params);
      await deleteBadge(visit.call, list.badges, badge.id);
      return redirect(list.path, 'The badge was deleted.');
    },
  });

export const pages = placedSettingsRoutes('settings/badges').flatMap((route) =>
  [listPage, addPage, editPage, updatePage, removePage].map((make) => make(route)),
);
