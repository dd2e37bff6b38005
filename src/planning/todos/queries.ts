import { type RawBuilder, sql } from 'kysely';
import { type Call, requireUser } from '../../core/access/call.ts';
import { allOf, anyOf, visibleInternalNotes } from '../../core/access/visible.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { type RenderedTarget, type TodoRow, todosJson } from './json.ts';

/** A noun's part of rendering todos: visibility and JSON of their targets. */
export type TodoRenderer = {
  /** SQL condition over `todos` of this kind: the caller still sees the target. */
  visible: (call: Call) => RawBuilder<boolean>;
  /** Loads the targets with these ids that the caller still sees. */
  render: (call: Call, ids: number[]) => Promise<Map<number, RenderedTarget>>;
};

export type TodoRenderers = { [T in TargetType]?: TodoRenderer };

export type TodoFilter = {
  action?: string;
  author_id?: number;
  project_id?: number;
  group_id?: number;
  state: 'pending' | 'done';
  type?: TargetType;
  /** Default: the newest first. */
  sort?: 'asc' | 'desc';
};

const listRenderers = (renderers: TodoRenderers): [TargetType, TodoRenderer][] =>
  Object.entries(renderers) as [TargetType, TodoRenderer][];

/** SQL condition over `todos`: the caller still sees the comment that caused it, if one did. */
const isCauseVisible = ({ viewer, platform }: Call): RawBuilder<boolean> =>
  sql<boolean>`(todos.note_id is null or not exists (select 1 from notes where notes.id = todos.note_id
    and not ${visibleInternalNotes(viewer, platform.store.dialect)}))`;

/** SQL condition over `todos`: the caller's own, on targets and comments they still see. */
export const ownTodos = (call: Call, renderers: TodoRenderers): RawBuilder<boolean> => {
  const seen = listRenderers(renderers).map(([type, { visible }]) =>
    allOf([sql<boolean>`todos.target_type = ${type}`, visible(call)]),
  );
  return allOf([
    sql<boolean>`todos.user_id = ${requireUser(call).id}`,
    seen.length === 0 ? sql<boolean>`1 = 0` : anyOf(seen),
    ...(call.viewer.admin ? [] : [isCauseVisible(call)]),
  ]);
};

/** Selects the caller's todos that match a filter, of those whose target they see. */
export const selectTodos = (call: Call, db: Reader, renderers: TodoRenderers, filter: TodoFilter) => {
  let query = db
    .selectFrom('todos')
    .where('state', '=', sql.lit(filter.state))
    .where(ownTodos(call, renderers));
  if (filter.action !== undefined) query = query.where(sql<boolean>`action = ${filter.action}`);
  if (filter.author_id !== undefined) query = query.where('author_id', '=', filter.author_id);
  if (filter.project_id !== undefined) query = query.where('project_id', '=', filter.project_id);
  if (filter.type !== undefined) query = query.where('target_type', '=', filter.type);
  if (filter.group_id !== undefined) {
    const below = sql<number>`(select id from projects where namespace_id in ${selectDescendants(filter.group_id)})`;
    query = query.where('project_id', 'in', below);
  }
  return query;
};

/** Lists the caller's todos, newest first by default. The total excludes targets they no longer see. */
export const listTodos = async (
  call: Call,
  renderers: TodoRenderers,
  filter: TodoFilter,
  { limit, offset }: PageRequest,
): Promise<Page<TodoRow>> => {
  const query = selectTodos(call, call.db, renderers, filter);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query
      .selectAll()
      .orderBy('id', filter.sort ?? 'desc')
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { items, total };
};

/** Counts the caller's todos that match a filter, up to a limit, without those whose target they no longer see. */
export const countTodos = async (
  call: Call,
  renderers: TodoRenderers,
  filter: TodoFilter,
  limit: number,
): Promise<number> => {
  const some = selectTodos(call, call.db, renderers, filter).select('todos.id').limit(limit);
  const query = call.db.selectFrom(some.as('some')).select((is) => is.fn.countAll<number>().as('total'));
  return (await query.executeTakeFirstOrThrow()).total;
};

/** Pairs of a project and an author that are listed as filters. */
const maxSources = 500;

/** Lists the projects and authors of the caller's todos, the last added first. */
export const listTodoSources = async (
  call: Call,
  renderers: TodoRenderers,
  state: TodoFilter['state'],
): Promise<{ project_id: number; author_id: number }[]> =>
  await call.db
    .selectFrom('todos')
    .select(['project_id', 'author_id'])
    .where('state', '=', sql.lit(state))
    .where(ownTodos(call, renderers))
    .groupBy(['project_id', 'author_id'])
    .orderBy(sql`max(id)`, 'desc')
    .limit(maxSources)
    .execute();

/** Loads one of the caller's todos; 404 if they no longer see its target. */
export const findOwnTodo = async (call: Call, renderers: TodoRenderers, id: number): Promise<TodoRow> => {
  const todo = await call.db
    .selectFrom('todos')
    .selectAll()
    .where('id', '=', id)
    .where(ownTodos(call, renderers))
    .executeTakeFirst();
  if (todo === undefined) throw notFound();
  return todo;
};

/** Reads a todo that was just created. */
export const loadTodo = async (db: Reader, id: number): Promise<TodoRow> =>
  await db.selectFrom('todos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** Adds the targets to todos, and drops todos whose target has disappeared meanwhile. */
export const renderTodos = async (call: Call, renderers: TodoRenderers, todos: TodoRow[]) => {
  const targets = new Map<TargetType, Map<number, RenderedTarget>>();
  for (const [type, { render }] of listRenderers(renderers)) {
    const ids = [...new Set(todos.filter((todo) => todo.target_type === type).map((todo) => todo.target_id))];
    if (ids.length > 0) targets.set(type, await render(call, ids));
  }
  const pairs = todos.flatMap((todo) => {
    const target = targets.get(todo.target_type)?.get(todo.target_id);
    return target === undefined ? [] : [{ todo, target }];
  });
  return await todosJson(call, pairs);
};

type OwnTarget = { user_id: number; type: TargetType; id: number };

const pendingTodo = compiled((db, { user_id, type, id }: OwnTarget) =>
  db
    .selectFrom('todos')
    .selectAll()
    .where('user_id', '=', user_id)
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where(sql<boolean>`state = 'pending'`)
    .compile(),
);

/** Loads the caller's pending todo on a target that they see, if there is one. */
export const findPendingTodo = async (
  call: Call,
  { type, id }: { type: TargetType; id: number },
): Promise<TodoRow | undefined> =>
  (await pendingTodo(call.db, { user_id: requireUser(call).id, type, id }))[0];
