/** The branches of a project: an overview, and lists of the active, stale and all branches. */
import { branchesJson } from '../../../../code/repository/branches/json.ts';
import {
  type BranchFilter,
  type BranchOrder,
  branchOrders,
  listBranches,
  loadDivergences,
} from '../../../../code/repository/branches/list.ts';
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { branchPrefix } from '../../../../code/repository/refs/resolve.ts';
import { dayMilliseconds } from '../../../../platform/time.ts';
import { loadOpenOfBranches } from '../../../../review/merge_requests/lists/open_of_branches.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import { may } from '../../../../core/access/may.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type View, type Visit, page } from '../../page.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { loadCommitPeople } from '../../parts/code/commit_people.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { form } from '../../parts/form.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';
import { pagesNav } from '../../parts/paging.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { canProposeBranches } from '../merge_requests/new_request_links.ts';
import { type BranchLine, branchItem } from './branch_row.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

export const branchesRoutePath = `${projectRoot}/branches`;

export const branchesPath = (project: Pick<Project, 'full_path'>): string =>
  projectPagePath(project, 'branches');

type State = 'active' | 'stale' | 'all';

/** A branch without a commit for so long is stale. */
const staleAfter = 90 * dayMilliseconds;
/** Branches of each kind in the overview. */
const fewBranches = 5;

const stateFilter = (state: State, now: number): Pick<BranchFilter, 'since' | 'before'> => {
  if (state === 'all') return {};
  return state === 'active' ? { since: now - staleAfter } : { before: now - staleAfter };
};

type Loaded = { lines: BranchLine[]; total: number };

const loadLines = async (
  visit: Visit,
  code: Code,
  filter: BranchFilter,
  at: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Loaded> => {
  const { call } = visit;
  const { items, total } = await listBranches(code, filter, at);
  const shas = items.map(({ commit }) => commit).filter((id) => id !== null);
  const names = items.map(({ name }) => name.slice(branchPrefix.length));
  const [branches, divergences, pipelines, canPropose, requests] = await Promise.all([
    branchesJson(call, code, items),
    withAnonymousSlot(visit, async () => await loadDivergences(code, items)),
    loadShownPipelines(visit, code.project, shas),
    canProposeBranches(visit, code.project),
    loadOpenOfBranches(call, code.project.id, names),
  ]);
  const authors = branches.flatMap(({ commit }) =>
    commit === null ? [] : [{ name: commit.author_name, email: commit.author_email }],
  );
  const people = await loadCommitPeople(visit, code.project, authors);
  const lines = branches.map((branch, at) => ({
    people,
    branch,
    divergence: divergences[at] ?? null,
    pipeline: pipelines.get(branch.commit?.id ?? ''),
    canPropose,
    request: requests.get(branch.name),
  }));
  return { lines, total };
};

const stateNames = { active: 'Active', stale: 'Stale', all: 'All' } as const;

const orderNames: Record<BranchOrder, string> = {
  updated_desc: 'Last updated',
  updated_asc: 'Oldest updated',
  name_asc: 'Name',
  name_desc: 'Name, descending',
};

const stateTabs = (project: Project, chosen: State | null): Html => {
  const path = branchesPath(project);
  return tabs('Branches', [
    { path, name: 'Overview', isHere: chosen === null },
    ...Object.entries(stateNames).map(([state, name]) => ({
      path: `${path}?state=${state}`,
      name,
      isHere: state === chosen,
    })),
  ]);
};

const removeMergedMenu = (visit: Visit, project: Project): Html =>
  menu(
    { summary: icon('dots'), label: 'More actions', classes: 'button' },
    html`<p>Deletes all branches that are merged into <b>${project.default_branch}</b>, except protected branches.</p>${form(
      visit,
      { action: `${branchesPath(project)}/delete_merged`, submit: 'Delete merged branches', danger: true },
    )}`,
  );

const heading = (visit: Visit, project: Project): Html =>
  html`<div class="row between"><h1>Branches</h1>${
    may(visit.call.viewer, 'push_code', project) &&
    html`<div class="row"><a class="button primary" href="${branchesPath(project)}/new">${icon('plus')} New branch</a>${removeMergedMenu(visit, project)}</div>`
  }</div>`;

const list = (visit: Visit, project: Project, lines: readonly BranchLine[]): Html =>
  html`<ul class="list">${lines.map((line) => branchItem(visit, project, line))}</ul>`;

const searchBranches = (project: Project, search: string, order: BranchOrder | undefined): Html =>
  searchForm({
    path: branchesPath(project),
    name: 'search',
    value: search,
    label: 'Search branches',
    keep: { state: 'all', sort: order },
  });

const overviewCard = (visit: Visit, project: Project, state: 'active' | 'stale', loaded: Loaded): Html => {
  const { lines, total } = loaded;
  const name = `${stateNames[state]} branches`;
  return html`<section class="card" aria-label="${name}"><header><h2>${name}</h2><span class="count">${total}</span>${
    total > lines.length &&
    html`<a class="end" href="${branchesPath(project)}?state=${state}">Show all ${state} branches</a>`
  }</header>${lines.length === 0 ? html`<p class="body muted">None</p>` : list(visit, project, lines)}</section>
`;
};

const overview = async (visit: Visit, code: Code): Promise<Html> => {
  const { project } = code;
  const few = { limit: fewBranches, offset: 0 };
  const load = async (state: State): Promise<Loaded> =>
    await loadLines(visit, code, { order: 'updated_desc', ...stateFilter(state, visit.call.now) }, few);
  const [active, stale] = await Promise.all([load('active'), load('stale')]);
  if (active.total + stale.total === 0) {
    return html`<section class="card">${emptyState({
      icon: 'branch',
      title: 'No branches yet',
      text: 'The first push or file creates one.',
    })}</section>`;
  }
  return html`<div class="row">${searchBranches(project, '', undefined)}</div>
${overviewCard(visit, project, 'active', active)}${stale.total > 0 && overviewCard(visit, project, 'stale', stale)}`;
};

type Query = { state: State; search: string; sort: BranchOrder | undefined };

const listed = async (visit: Visit, code: Code, query: Query, at: PageRequest): Promise<Html> => {
  const { project } = code;
  const { state, search, sort } = query;
  const order = sort ?? 'updated_desc';
  const filter = { search, order, ...stateFilter(state, visit.call.now) };
  const { lines, total } = await loadLines(visit, code, filter, at);
  const sent = { state, search: omitEmpty(search) };
  const path = branchesPath(project);
  return html`<div class="row">${searchBranches(project, search, sort)}${sortMenu({ path, query: sent, param: 'sort', chosen: order, names: orderNames })}</div>
<section class="card" aria-label="Branches"><header><span class="muted">${spellCount(total, 'branch', 'branches')}</span></header>${
    lines.length === 0
      ? emptyState({ icon: 'search', title: 'No branches match', text: 'Try other words.' })
      : list(visit, project, lines)
  }</section>
${pagesNav({ path, query: { ...sent, sort }, page: at, total })}`;
};

export const listPage = page({
  method: 'GET',
  path: branchesRoutePath,
  audience: 'visitor',
  params: object({
    ...projectPath,
    state: optional(oneOf(['active', 'stale', 'all'])),
    search: optional(clearable(text())),
    sort: optional(oneOf(Object.keys(branchOrders) as BranchOrder[])),
    ...pageParams,
  }),
  handle: async (visit, { project: fullPath, state, search, sort, ...paging }): Promise<View> => {
    const code = await findCode(visit.call, fullPath);
    const { project } = code;
    const words = search ?? '';
    const chosen = state ?? (words === '' ? null : 'all');
    const content =
      chosen === null
        ? await overview(visit, code)
        : await listed(visit, code, { state: chosen, search: words, sort }, pageRequest(paging));
    return projectView(
      visit,
      { project, title: 'Branches', noun: 'branches', hasHeading: true },
      html`${heading(visit, project)}
${stateTabs(project, chosen)}
${content}`,
    );
  },
});
