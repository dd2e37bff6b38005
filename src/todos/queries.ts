import { type RawBuilder, sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { allOf, anyOf } from '../access/visible.ts';
import type { Reader } from '../db/open.ts';
import type { TargetType } from '../db/schema.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';
import { type RenderedTarget, type TodoRow, todosJson } from './json.ts';

/** How the todos on one kind of target are shown: the noun's own part. */
export type TodoRenderer = {
  /** Over `todos` of this kind: the caller still sees the target. */
  visible: (call: Call) => RawBuilder<boolean>;
  /** The targets of these ids that the caller still sees. */
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
};

const rendererOf = (renderers: TodoRenderers): [TargetType, TodoRenderer][] =>
  Object.entries(renderers) as [TargetType, TodoRenderer][];

/** Over `todos`: the caller's own, of targets that he still sees. */
const own = (call: Call, renderers: TodoRenderers): RawBuilder<boolean> => {
  const seen = rendererOf(renderers).map(([type, { visible }]) =>
    allOf([sql<boolean>`todos.target_type = ${type}`, visible(call)]),
  );
  return allOf([
    sql<boolean>`todos.user_id = ${userOf(call).id}`,
    seen.length === 0 ? sql<boolean>`1 = 0` : anyOf(seen),
  ]);
};

/** The caller's todos, newest first; the total leaves out what he does not see any more. */
export const listTodos = async (
  call: Call,
  renderers: TodoRenderers,
  filter: TodoFilter,
  { limit, offset }: PageRequest,
): Promise<Page<TodoRow>> => {
  let query = call.db.selectFrom('todos').where('state', '=', filter.state).where(own(call, renderers));
  if (filter.action !== undefined) query = query.where(sql<boolean>`action = ${filter.action}`);
  if (filter.author_id !== undefined) query = query.where('author_id', '=', filter.author_id);
  if (filter.project_id !== undefined) query = query.where('project_id', '=', filter.project_id);
  if (filter.type !== undefined) query = query.where('target_type', '=', filter.type);
  if (filter.group_id !== undefined) {
    const below = sql<number>`(select id from projects where namespace_id in ${descendantsOf(filter.group_id)})`;
    query = query.where('project_id', 'in', below);
  }
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** A todo of the caller's own whose target he still sees; else 404. */
export const findOwnTodo = async (call: Call, renderers: TodoRenderers, id: number): Promise<TodoRow> => {
  const found = await call.db
    .selectFrom('todos')
    .selectAll()
    .where('id', '=', id)
    .where(own(call, renderers))
    .executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
};

/** A todo that was just made. */
export const loadTodo = async (db: Reader, id: number): Promise<TodoRow> =>
  await db.selectFrom('todos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** Todos with their targets; one whose target vanished since it was found is left out. */
export const renderTodos = async (call: Call, renderers: TodoRenderers, todos: TodoRow[]) => {
  const targets = new Map<TargetType, Map<number, RenderedTarget>>();
  for (const [type, { render }] of rendererOf(renderers)) {
    const ids = [...new Set(todos.filter((todo) => todo.target_type === type).map((todo) => todo.target_id))];
    // oxlint-disable-next-line no-await-in-loop -- two kinds at most
    if (ids.length > 0) targets.set(type, await render(call, ids));
  }
  const pairs = todos.flatMap((todo) => {
    const target = targets.get(todo.target_type)?.get(todo.target_id);
    return target === undefined ? [] : [{ todo, target }];
  });
  return await todosJson(call, pairs);
};
