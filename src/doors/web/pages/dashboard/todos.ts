/** The to-do list of the user. */
import type { Static } from 'typebox';
import {
  finishAllTodos,
  finishFilteredTodos,
  finishTodo,
  restoreTodo,
} from '../../../../planning/todos/finish_todos.ts';
import {
  countTodos,
  findOwnTodo,
  listTodoSources,
  listTodos,
  renderTodos,
} from '../../../../planning/todos/queries.ts';
import { usersById } from '../../../../identity/users/queries.ts';
import { loadPathsWithAncestors } from '../../../../identity/namespaces/queries.ts';
import { projectsById } from '../../../../projects/projects/find.ts';
import { issueTodos } from '../../../../planning/issues/todos.ts';
import { mergeRequestTodos } from '../../../../review/merge_requests/todos.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { hidden, select } from '../../parts/form.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';
import { type ListedTodo, actionNames, todoGroup } from './todo_row.ts';

const path = '/dashboard/todos';

const renderers = { Issue: issueTodos, MergeRequest: mergeRequestTodos };

const filterParams = {
  type: optional(clearable(oneOf(['Issue', 'MergeRequest']))),
  action: optional(clearable(oneOf(Object.keys(actionNames)))),
  project_id: optional(clearable(id())),
  group_id: optional(clearable(id())),
  author_id: optional(clearable(id())),
};

const listParams = object({
  state: oneOf(['pending', 'done'], { default: 'pending' }),
  ...filterParams,
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  ...pageParams,
});

type Query = Omit<Static<typeof listParams>, 'sort'> & { sort?: 'asc' | 'desc' };

type SentFilter = Pick<Query, keyof typeof filterParams>;

const readFilter = ({ type, action, project_id, group_id, author_id }: SentFilter) => ({
  ...(typeof group_id === 'number' && { group_id }),
  ...(typeof author_id === 'number' && { author_id }),
  ...(typeof type === 'string' && { type }),
  ...(typeof action === 'string' && { action }),
  ...(typeof project_id === 'number' && { project_id }),
});

export type LoadedTodos = { todos: ListedTodo[]; total: number };

/** Loads todos as the API lists them. */
export const loadTodos = async (
  visit: Visit,
  { sort = 'desc', state, page: number, per_page, ...filters }: Query,
): Promise<LoadedTodos> => {
  const { call } = visit;
  const filter = { state, sort, ...readFilter(filters) };
  const { items, total } = await listTodos(call, renderers, filter, pageRequest({ page: number, per_page }));
  return { todos: (await renderTodos(call, renderers, items)) as unknown as ListedTodo[], total };
};

const textOf = (value: string | number | null | undefined): string | undefined =>
  value === null || value === undefined ? undefined : String(value);

/** Query parameters of the list that differ from their defaults. */
const keptQuery = ({
  state,
  type,
  action,
  project_id,
  group_id,
  author_id,
  sort,
}: Query): Record<string, string | undefined> => ({
  state: state === 'pending' ? undefined : state,
  type: textOf(type),
  action: textOf(action),
  project_id: textOf(project_id),
  group_id: textOf(group_id),
  author_id: textOf(author_id),
  sort: sort === 'asc' ? 'asc' : undefined,
});

const addressOf = (query: Record<string, string | undefined>): string => {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
};

type Option = readonly [value: string, text: string];
type Sources = { projects: Option[]; groups: Option[]; authors: Option[] };

const byText = (a: Option, b: Option): number => a[1].localeCompare(b[1]);

/** Loads the projects, groups with those above them, and authors of the user's todos. */
const loadSources = async ({ call }: Visit, state: Query['state']): Promise<Sources> => {
  const sources = await listTodoSources(call, renderers, state);
  const ids = (name: 'project_id' | 'author_id') => [...new Set(sources.map((one) => one[name]))];
  const [projects, authors] = await Promise.all([
    projectsById(call.db, ids('project_id')),
    usersById(call.db, ids('author_id')),
  ]);
  const todoProjects = [...projects.values()];
  const groups = await loadPathsWithAncestors(
    call.db,
    todoProjects.map(({ namespace_id }) => namespace_id),
  );
  return {
    projects: todoProjects.map((one): Option => [String(one.id), one.full_path]).toSorted(byText),
    groups: [...groups].map(([id, full_path]): Option => [String(id), full_path]).toSorted(byText),
    authors: [...authors.values()]
      .map((one): Option => [String(one.id), `${one.name} (@${one.username})`])
      .toSorted(byText),
  };
};

/** Renders a choice among the sources; keeps the selected option even if it has no todos left. */
const sourceField = (name: string, label: string, chosen: string | undefined, options: Option[]): Html => {
  const isListed = chosen === undefined || options.some(([value]) => value === chosen);
  const missing: Option[] = isListed ? [] : [[chosen, `${label} ${chosen}`]];
  return select({ name, label, value: chosen ?? '', options: [['', 'Any'], ...options, ...missing] });
};

const filterForm = (
  { state, type, action, project_id, group_id, author_id, sort }: Query,
  { projects, groups, authors }: Sources,
): Html =>
  html`<form method="get" action="${path}" class="filter">${state === 'done' && hidden('state', 'done')}${select(
    {
      name: 'type',
      label: 'Type',
      value: textOf(type) ?? '',
      options: [
        ['', 'Any'],
        ['Issue', 'Issues'],
        ['MergeRequest', 'Merge requests'],
      ],
    },
  )}${select({
    name: 'action',
    label: 'Reason',
    value: textOf(action) ?? '',
    options: [['', 'Any'], ...Object.entries(actionNames)],
  })}${sourceField('project_id', 'Project', textOf(project_id), projects)}${sourceField(
    'group_id',
    'Group',
    textOf(group_id),
    groups,
  )}${sourceField('author_id', 'Author', textOf(author_id), authors)}${select({
    name: 'sort',
    label: 'Order',
    value: sort ?? 'desc',
    options: [
      ['desc', 'Newest first'],
      ['asc', 'Oldest first'],
    ],
  })}<div class="buttons"><button>Filter</button></div></form>`;

/** Renders the button that finishes all todos, or those of a filter. */
export const finishAllForm = (
  visit: Visit,
  back: string,
  { filter = {}, label = 'Mark all done' }: { filter?: Record<string, unknown>; label?: string } = {},
): Html =>
  html`<form method="post" action="${path}/done_all">${hidden('authenticity_token', visit.csrfToken())}${hidden(
    'back',
    back,
  )}${Object.entries(filter).map(([name, value]) => hidden(name, String(value)))}<button class="small">${label}</button></form>`;

const finishListedForm = (
  visit: Visit,
  query: Query,
  { total, back }: { total: number; back: string },
): Html => {
  const filter = readFilter(query);
  return Object.keys(filter).length === 0
    ? finishAllForm(visit, path)
    : finishAllForm(visit, back, { filter, label: `Mark ${spellCount(total, 'item')} done` });
};

/** Groups todos by their target, in the order of the newest of each. */
const groupByTarget = (todos: readonly ListedTodo[]): ListedTodo[][] => [
  ...Map.groupBy(todos, ({ target_type, project, target }) =>
    [target_type, project.path_with_namespace, target.iid].join(' '),
  ).values(),
];

const emptyPart = (query: Query): Html => {
  const isFiltered = Object.keys(readFilter(query)).length > 0;
  if (isFiltered) return emptyState({ icon: 'search', title: 'No results', text: 'No to-do item matches.' });
  return query.state === 'done'
    ? emptyState({ icon: 'todo', title: 'No done items' })
    : emptyState({
        icon: 'check-circle',
        title: 'Nothing to do',
        text: 'To-do items appear when you are assigned, mentioned, or asked for a review.',
      });
};

/** The most items of the tab that is not shown that are counted, as done items are never removed. */
const maxCounted = 1_000;

const listView = async (visit: Visit, query: Query): Promise<View> => {
  const other = query.state === 'pending' ? ('done' as const) : ('pending' as const);
  const otherFilter = { ...readFilter(query), state: other };
  const [{ todos, total }, otherTotal] = await Promise.all([
    loadTodos(visit, query),
    countTodos(visit.call, renderers, otherFilter, maxCounted + 1),
  ]);
  const isPending = query.state === 'pending';
  const otherCount = otherTotal > maxCounted ? '1,000+' : otherTotal;
  const [pending, done] = isPending ? [total, otherCount] : [otherCount, total];
  const kept = keptQuery(query);
  const back = addressOf(kept);
  const { state: _state, ...filters } = kept;
  const stateTabs = tabs('To-do items by state', [
    { path: addressOf(filters), name: 'To do', count: pending, isHere: isPending },
    { path: addressOf({ state: 'done', ...filters }), name: 'Done', count: done, isHere: !isPending },
  ]);
  const hasPending = isPending && total > 0;
  return {
    title: 'To-do list',
    body: html`<div class="row between"><h1>To-do list</h1>${hasPending && finishListedForm(visit, query, { total, back })}</div>
${stateTabs}
${filterForm(query, await loadSources(visit, query.state))}
<section class="card" aria-label="To-do items" id="todo_list"><header><span class="muted">${spellCount(total, 'item')}</span></header>${
      todos.length === 0
        ? emptyPart(query)
        : html`${groupByTarget(todos).map((group) => todoGroup(visit, group, back))}`
    }</section>
${pagesNav({ path, query: kept, page: pageRequest(query), total })}`,
  };
};

const backParam = { back: optional(text({ maxLength: 2_000 })) };

const backTo = ({ call }: Visit, back: string | undefined): string =>
  back === undefined ? path : safeRedirectPath(back, call.baseUrl);

export const todoPages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: listParams,
    handle: async (visit, query) => await listView(visit, query),
  }),
  page({
    method: 'POST',
    path: `${path}/done_all`,
    audience: 'user',
    params: object({ ...backParam, ...filterParams }),
    handle: async (visit, { back, ...sent }) => {
      const filter = readFilter(sent);
      if (Object.keys(filter).length > 0) {
        const count = await finishFilteredTodos(visit.call, renderers, filter);
        const items = `${spellCount(count, 'to-do item')} ${count === 1 ? 'was' : 'were'}`;
        return redirect(backTo(visit, back), `${items} marked as done.`);
      }
      await finishAllTodos(visit.call);
      return redirect(backTo(visit, back), 'All to-do items were marked as done.');
    },
  }),
  page({
    method: 'POST',
    path: `${path}/:id/done`,
    audience: 'user',
    params: object({ id: id(), ...backParam }),
    handle: async (visit, { id: todoId, back }) => {
      const { call } = visit;
      await finishTodo(call, await findOwnTodo(call, renderers, todoId));
      return redirect(backTo(visit, back), 'The to-do item was marked as done.');
    },
  }),
  page({
    method: 'POST',
    path: `${path}/:id/undo`,
    audience: 'user',
    params: object({ id: id(), ...backParam }),
    handle: async (visit, { id: todoId, back }) => {
      const { call } = visit;
      const todo = await findOwnTodo(call, renderers, todoId);
      const isRestored = todo.state === 'done' && (await restoreTodo(call, todo));
      return redirect(
        backTo(visit, back),
        isRestored ? 'The to-do item is pending again.' : 'You already have a pending to-do item for this.',
      );
    },
  }),
];
