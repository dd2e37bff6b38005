/** The list of the labels of a project or group. */
import { loadFullPaths } from '../../../../identity/namespaces/queries.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { LabelRow } from '../../../../projects/labels/label_row.ts';
import { type LabelOrder, listLabels, renderLabels } from '../../../../projects/labels/queries.ts';
import { type AnyPage, type View, type Visit, page } from '../../page.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { form } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { label } from '../../parts/label.ts';
import { pagesNav } from '../../parts/paging.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { type OwnedList, type OwnedListRoute, ownerParams, workListPath } from './project_or_group_routes.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

type Shown = Awaited<ReturnType<typeof renderLabels>>[number];

type Line = { row: LabelRow; shown: Shown; groupPath: string | undefined };

/** Returns where the label is edited: a group's in the group. */
const safeRedirectPath = ({ path }: OwnedList, { row, groupPath }: Line): string =>
  groupPath === undefined ? `${path}/${row.id}` : `/groups/${groupPath}/-/labels/${row.id}`;

const countLink = (href: string | null, text: string): Html =>
  href === null ? html`<span>${text}</span>` : html`<a href="${href}">${text}</a>`;

const counts = (visit: Visit, list: OwnedList, { shown }: Line): Html => {
  const { open_issues_count: issues = 0, open_merge_requests_count: requests = 0, name } = shown;
  const query = { labels: name };
  const issuesPath = workListPath(visit, list, 'issues', query);
  const requestsPath = workListPath(visit, list, 'merge_requests', query);
  return html`${countLink(issuesPath, spellCount(issues, 'open issue'))}${
    requests > 0 && countLink(requestsPath, spellCount(requests, 'open merge request'))
  }`;
};

/** Renders the form that subscribes to a label and returns to the same page of the list. */
const subscribeForm = (visit: Visit, { path }: OwnedList, { row, shown }: Line): Html => {
  const mark = visit.path.indexOf('?');
  const query = mark === -1 ? '' : visit.path.slice(mark);
  const verb = shown.subscribed ? 'unsubscribe' : 'subscribe';
  const submit = shown.subscribed ? 'Unsubscribe' : 'Subscribe';
  const name = `${submit} ${shown.subscribed ? 'from' : 'to'} ${row.title}`;
  return form(visit, { action: `${path}/${row.id}/${verb}${query}`, submit, name, isQuiet: true });
};

const item = (visit: Visit, list: OwnedList, line: Line): Html => {
  const { row, shown, groupPath } = line;
  const isOwn = groupPath === undefined || list.project === null;
  const canEdit = list.canChange && isOwn && (row.group_id ?? row.project_id) === list.owner.id;
  return html`<li>
<div class="title">${label(shown, workListPath(visit, list, 'issues', { labels: row.title }) ?? undefined)}</div>
<div class="meta">${(row.description ?? '') !== '' && html`<p>${row.description}</p>`}<p class="row">${counts(visit, list, line)}${
    row.priority !== null && html`<span>Priority ${row.priority}</span>`
  }${
    !canEdit &&
    groupPath !== undefined &&
    html`<span>From the group <a href="/groups/${groupPath}/-/labels">${groupPath}</a></span>`
  }</p></div>
<div class="side">${subscribeForm(visit, list, line)}${
    canEdit &&
    html`<a class="button small" href="${safeRedirectPath(list, line)}/edit" aria-label="Edit ${row.title}">${icon('pencil')} Edit</a>`
  }</div>
</li>
`;
};

type Query = { search?: string | null | undefined; order?: LabelOrder | undefined };

const loadLines = async ({ call }: Visit, list: OwnedList, query: Query, at: PageRequest) => {
  const { search, order } = query;
  const filter = {
    include_ancestor_groups: true,
    ...((search ?? '') !== '' && { search: search as string }),
    ...(order !== undefined && { order }),
  };
  const { items, total } = await listLabels(call, list.owner, filter, at);
  const groups = items.flatMap(({ group_id }) => (group_id === null ? [] : [group_id]));
  const [shown, paths] = await Promise.all([renderLabels(call, items, true), loadFullPaths(call.db, groups)]);
  const lines = items.flatMap((row, at): Line[] => {
    const label = shown[at];
    return label === undefined ? [] : [{ row, shown: label, groupPath: paths.get(row.group_id ?? 0) }];
  });
  return { lines, total };
};

const empty = (list: OwnedList, isFiltered: boolean): Html =>
  isFiltered
    ? emptyState({ icon: 'search', title: 'No labels match', text: 'Try other words.' })
    : emptyState({
        icon: 'label',
        title: 'No labels yet',
        text: 'Labels sort issues and merge requests by topic, priority or team.',
        action: list.canChange && html`<a class="button" href="${list.path}/new">New label</a>`,
      });

const heading = ({ canChange, path }: OwnedList): Html =>
  html`<div class="row between"><h1>Labels</h1>${
    canChange && html`<a class="button primary" href="${path}/new">${icon('plus')} New label</a>`
  }</div>`;

const orderNames = { priority: 'Priority', title: 'Name' };

const listView = async (visit: Visit, list: OwnedList, query: Query, at: PageRequest): Promise<View> => {
  const usual: LabelOrder = list.project === null ? 'title' : 'priority';
  const search = query.search ?? '';
  const order = query.order ?? usual;
  const { lines, total } = await loadLines(visit, list, { search, order }, at);
  const sent = { search: omitEmpty(search), order: order === usual ? undefined : order };
  const bar = html`<div class="row">${searchForm({ path: list.path, name: 'search', value: search, label: 'Search labels', keep: { order: sent.order } })}${
    list.project !== null &&
    sortMenu({
      path: list.path,
      query: { search: sent.search },
      param: 'order',
      chosen: order,
      names: orderNames,
    })
  }</div>`;
  const content = html`${heading(list)}
${(total > 0 || search !== '') && bar}
<section class="card" aria-label="Labels"><header><span class="muted">${spellCount(total, 'label')}</span></header>${
    lines.length === 0
      ? empty(list, search !== '')
      : html`<ul class="list bare">${lines.map((line) => item(visit, list, line))}</ul>`
  }</section>
${pagesNav({ path: list.path, query: sent, page: at, total })}`;
  return list.view(visit, { title: 'Labels', hasHeading: true }, content);
};

export const listQuery = {
  search: optional(clearable(text())),
  order: optional(oneOf(['title', 'priority'])),
  ...pageParams,
};

export const listPage = (kind: OwnedListRoute): AnyPage =>
  page({
    method: 'GET',
    path: kind.routePath,
    audience: 'user',
    params: object({
      ...ownerParams,
      ...listQuery,
    }),
    handle: async (visit, params) => {
      const { search, order } = params;
      return await listView(
        visit,
        await kind.find(visit.call, params),
        { search, order },
        pageRequest(params),
      );
    },
  });
