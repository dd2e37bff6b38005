/** The list of the milestones of a project or group. */
import { today } from '../../../../core/access/viewer.ts';
import {
  type IssueCounts,
  countMilestoneIssues,
} from '../../../../planning/issues/lists/milestone_counts.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import { listMilestones } from '../../../../projects/milestones/queries.ts';
import { type AnyPage, type View, type Visit, page } from '../../page.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { type OwnedList, type OwnedListRoute, ownerParams } from '../labels/project_or_group_routes.ts';
import { datesPart, progressBar, spellProgress } from './dates_and_progress.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

const states = ['active', 'closed', 'all'] as const;
type State = (typeof states)[number];

const orderNames = { due: 'Due date', newest: 'Newest' };
type Order = keyof typeof orderNames;

type Query = { state: State; search: string; order: Order };

const none: IssueCounts = { opened: 0, closed: 0 };

const item = (visit: Visit, { owner }: OwnedList, row: MilestoneRow, counts: IssueCounts): Html => {
  const isOwn = (row.project_id ?? row.group_id) === owner.id;
  const groupPath = row.project_id === null && !isOwn ? row.owner_path.replace(/^groups\//, '') : null;
  const isOpen = row.state === 'active';
  return html`<li><span class="lead status ${isOpen ? 'ok' : 'off'}">${
    isOpen ? icon('milestone', 'Open') : icon('check-circle', 'Closed')
  }</span>
<span class="heading"><a class="title" href="/${row.owner_path}/-/milestones/${row.iid}">${row.title}</a></span>
<span class="meta row">${datesPart(row, today(visit.call.now))}${groupPath !== null && html`<span>From the group ${groupPath}</span>`}</span>
<span class="side progress"><span>${spellProgress(counts)}</span>${progressBar(counts)}</span></li>
`;
};

const sentOf = ({ state, search, order }: Query) => ({
  state: state === 'active' ? undefined : state,
  search: omitEmpty(search),
  order: order === 'due' ? undefined : order,
});

const addressOf = (path: string, query: Record<string, string | undefined>): string => {
  const sent = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return sent.length === 0 ? path : `${path}?${new URLSearchParams(sent).toString()}`;
};

const stateTabs = (path: string, query: Query, counts: Record<State, number>): Html => {
  const tab = (state: State, content: Html): Html =>
    html`<a class="button" href="${addressOf(path, sentOf({ ...query, state }))}"${
      state === query.state && html` aria-current="page"`
    }>${content} <span class="count">${counts[state]}</span></a>`;
  return html`<nav class="segmented" aria-label="Milestones by state">${tab('active', html`${icon('milestone')} Open`)}${tab(
    'closed',
    html`${icon('check-circle')} Closed`,
  )}${tab('all', html`All`)}</nav>`;
};

const noMilestones = (list: OwnedList, { search, state }: Query, total: number): Html => {
  if (search !== '' || total > 0) {
    return emptyState({
      icon: 'search',
      title: 'No milestones match',
      text: 'Try other words or another state.',
    });
  }
  return emptyState({
    icon: 'milestone',
    title: state === 'closed' ? 'No closed milestones' : 'No milestones yet',
    text: 'A milestone collects issues and merge requests that are due together, for example for a release.',
    action: list.canChange && html`<a class="button" href="${list.path}/new">New milestone</a>`,
  });
};

/** Loads a page of the list, and how many there are of each state. */
const loadMilestones = async ({ call }: Visit, { owner }: OwnedList, query: Query, at: PageRequest) => {
  const { state, search, order } = query;
  const filter = { search, include_ancestors: true, include_parent_milestones: false, order };
  const none = { ...at, limit: 0, offset: 0 };
  const list = async (one: State, part: PageRequest) =>
    await listMilestones(call.db, owner, { ...filter, state: one }, part);
  const { items, total } = await list(state, at);
  const active = state === 'active' ? total : (await list('active', none)).total;
  const closed =
    state === 'closed' ? total : state === 'all' ? total - active : (await list('closed', none)).total;
  const issues = await countMilestoneIssues(
    call,
    items.map(({ id }) => id),
  );
  return { items, issues, total, counts: { active, closed, all: active + closed } };
};

const listView = async (visit: Visit, list: OwnedList, query: Query, at: PageRequest): Promise<View> => {
  const { path } = list;
  const { search, order } = query;
  const { items, issues, total, counts } = await loadMilestones(visit, list, query, at);
  const sent = sentOf(query);
  const content = html`<div class="row between"><h1>Milestones</h1>${
    list.canChange && html`<a class="button primary" href="${path}/new">${icon('plus')} New milestone</a>`
  }</div>
<div class="row">${stateTabs(path, query, counts)}${searchForm({
    path,
    name: 'search',
    value: search,
    label: 'Search milestones',
    keep: { state: sent.state, order: sent.order },
  })}${sortMenu({
    path,
    query: { state: sent.state, search: sent.search },
    param: 'order',
    chosen: order,
    names: orderNames,
  })}</div>
<section class="card" aria-label="Milestones"><header><span class="muted">${spellCount(total, 'milestone')}</span></header>${
    items.length === 0
      ? noMilestones(list, query, counts.all)
      : html`<ul class="list">${items.map((row) => item(visit, list, row, issues.get(row.id) ?? none))}</ul>`
  }</section>
${pagesNav({ path, query: sent, page: at, total })}`;
  return list.view(visit, { title: 'Milestones', hasHeading: true }, content);
};

export const listPage = (kind: OwnedListRoute): AnyPage =>
  page({
    method: 'GET',
    path: kind.routePath,
    audience: 'user',
    params: object({
      ...ownerParams,
      state: oneOf(states, { default: 'active' }),
      search: optional(clearable(text())),
      order: oneOf(['due', 'newest'], { default: 'due' }),
      ...pageParams,
    }),
    handle: async (visit, { state, search, order, ...params }) =>
      await listView(
        visit,
        await kind.find(visit.call, params),
        { state, search: search ?? '', order },
        pageRequest(params),
      ),
  });
