/** Lists the hooks of a project, a group or the instance. */
import { type AttemptSummary, loadLastAttempts } from '../../../../outgoing/deliveries/overview.ts';
import { type HookRow, listHooks } from '../../../../outgoing/hooks/queries.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type AnyPage, type Visit, page } from '../../page.ts';
import type {
  SettingsOwner,
  SettingsList,
  SettingsListRoute,
  SettingsListParams,
} from '../ci/owner_settings_routes.ts';
import { eventLabels, listEvents, nouns, ownerOf, shownUrl, titleOf } from './placed_hook.ts';
import { outcomeBadge, stateBadge } from './delivery_status.ts';

const purposes: Record<SettingsOwner['scope'], string> = {
  project: 'A webhook sends a request to another system when something changes in the project.',
  group: 'A webhook sends a request to another system when something changes in a project of the group.',
  instance: 'A system hook sends a request to another system when users, groups, projects or keys change.',
};

type Line = { visit: Visit; list: SettingsList; hook: HookRow; last: AttemptSummary | undefined };

const line = ({ visit, list, hook, last }: Line): Html => {
  const events = listEvents(ownerOf(list.owner)).filter((name) => hook[name] === 1);
  return html`<li>
<span class="lead">${icon('link')}</span>
<span class="title"><a href="${list.path}/${hook.id}">${titleOf(hook)}</a></span>
<span class="meta">${hook.name !== null && html`<span>${shownUrl(hook)}</span>`}<span>${
    events.length === 0 ? 'No further events' : events.map((name) => eventLabels[name]).join(', ')
  }</span>${
    last === undefined
      ? html`<span>No deliveries yet</span>`
      : html`<span>Last delivery ${relative(last.created_at)}</span>`
  }</span>
<span class="side">${last !== undefined && outcomeBadge(last)}${stateBadge(hook, visit.call.now)}</span></li>
`;
};

const hookTable = async (visit: Visit, list: SettingsList, hooks: readonly HookRow[]): Promise<Html> => {
  const { db, platform } = visit.call;
  const ids = hooks.map(({ id }) => id);
  const attempts = await loadLastAttempts({ db, dialect: platform.store.dialect }, ids);
  const lines = hooks.map((hook) => line({ visit, list, hook, last: attempts.get(hook.id) }));
  return html`<div class="card"><ul class="list">${lines}</ul></div>`;
};

export const listPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: kind.routePath,
    audience: kind.audience,
    params: object({ ...kind.params, ...pageParams }),
    handle: async (visit, params) => {
      const named = params as SettingsListParams & { page: number; per_page: number };
      const list = await kind.find(visit, named);
      const { path } = list;
      const request = pageRequest(named);
      const { items, total } = await listHooks(visit.call.db, ownerOf(list.owner), request);
      const { title, one } = nouns[list.owner.scope];
      const content = html`<div class="row between"><p>${purposes[list.owner.scope]}</p>
<a class="button primary" href="${path}/new">${icon('plus')} New ${one}</a></div>
${list.above}${
        items.length === 0
          ? html`<div class="card">${emptyState({ icon: 'link', title: `No ${one}s` })}</div>`
          : await hookTable(visit, list, items)
      }
${pagesNav({ path, query: {}, page: request, total })}`;
      return list.view(visit, title, content);
    },
  });
