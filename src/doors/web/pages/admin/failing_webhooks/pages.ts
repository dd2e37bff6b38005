/** Hooks of all projects and groups whose deliveries fail, for administrators. */
import { type AttemptSummary, loadLastAttempts } from '../../../../../outgoing/deliveries/overview.ts';
import { type HookRow, listFailingHooks } from '../../../../../outgoing/hooks/queries.ts';
import { loadFullPaths } from '../../../../../identity/namespaces/queries.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { projectsById } from '../../../../../projects/projects/find.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { moment, relative } from '../../../parts/timestamp.ts';
import { outcomeBadge, stateBadge } from '../../hooks/delivery_status.ts';
import { titleOf } from '../../hooks/placed_hook.ts';
import { adminListView } from '../admin_list.ts';

const path = '/admin/failing_webhooks';

/** Owner of a hook: the URL of its page, and its name. */
type Place = { hookPath: string; ownerPath: string; name: string };

type Around = {
  projects: ReadonlyMap<number, { full_path: string }>;
  groups: ReadonlyMap<number, string>;
  attempts: ReadonlyMap<number, AttemptSummary>;
};

const loadAround = async ({ call: { db, platform } }: Visit, hooks: readonly HookRow[]): Promise<Around> => {
  const ids = (column: 'project_id' | 'group_id') => hooks.flatMap((hook) => hook[column] ?? []);
  const [projects, groups, attempts] = await Promise.all([
    projectsById(db, ids('project_id')),
    loadFullPaths(db, ids('group_id')),
    loadLastAttempts(
      { db, dialect: platform.store.dialect },
      hooks.map(({ id }) => id),
    ),
  ]);
  return { projects, groups, attempts };
};

/** Returns null if the project or group is being removed. */
const placeOf = ({ id, project_id, group_id }: HookRow, { projects, groups }: Around): Place | null => {
  if (project_id === null && group_id === null) {
    return { hookPath: `/admin/hooks/${id}`, ownerPath: '/admin/hooks', name: 'System hook' };
  }
  const [name, prefix] =
    project_id === null
      ? [groups.get(group_id ?? 0), '/groups/']
      : [projects.get(project_id)?.full_path, '/'];
  if (name === undefined) return null;
  return { hookPath: `${prefix}${name}/-/hooks/${id}`, ownerPath: `${prefix}${name}`, name };
};

const row = (visit: Visit, hook: HookRow, around: Around): Html | null => {
  const place = placeOf(hook, around);
  if (place === null) return null;
  const { hookPath, ownerPath, name } = place;
  const last = around.attempts.get(hook.id);
  const since = hook.failing_since === null ? null : html`Failing since ${moment(hook.failing_since)}`;
  return html`<li>
<span class="lead">${icon('link')}</span>
<span class="title"><a href="${hookPath}">${titleOf(hook)}</a></span>
<span class="meta"><span><a href="${ownerPath}">${name}</a></span>${since !== null && html`<span>${since}</span>`}<span>${hook.failures} ${hook.failures === 1 ? 'failure' : 'failures'} in a row</span>${
    last !== undefined && html`<span>Last delivery ${relative(last.created_at)}</span>`
  }</span>
<span class="side">${last !== undefined && outcomeBadge(last)}${stateBadge(hook, visit.call.now)}${button(visit, `${hookPath}/resume`, { label: 'Resume', name: `Resume ${titleOf(hook)} of ${name}` })}</span></li>
`;
};

const listView = async (visit: Visit, params: { page: number; per_page: number }): Promise<View> => {
  const request = pageRequest(params);
  const { items, total } = await listFailingHooks(visit.call.db, request);
  const around = await loadAround(visit, items);
  return adminListView({
    path,
    title: 'Failing webhooks',
    head: html`<p>Webhooks of all projects and groups, and system hooks, whose last delivery failed. A webhook leaves this list after a successful delivery, or when you press Resume.</p>`,
    noun: 'failing webhook',
    rows: items.flatMap((hook) => row(visit, hook, around) ?? []),
    empty: {
      icon: 'check-circle',
      title: 'No failing webhooks',
      text: 'The last delivery of every webhook succeeded.',
    },
    paging: { query: {}, page: request, total },
  });
};

export const failingWebhookPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object(pageParams),
    handle: async (visit, params) => await listView(visit, params),
  }),
];
