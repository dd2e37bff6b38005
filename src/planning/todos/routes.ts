/** Endpoints of the caller's todos, for all nouns that supply a renderer. */
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { id, object, oneOf, optional } from '../../platform/http/schema.ts';
import { finishAllTodos, finishTodo } from './finish_todos.ts';
import { todoShape } from './json.ts';
import { type TodoRenderers, findOwnTodo, listTodos, renderTodos } from './queries.ts';

const actions = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
  'review_requested',
] as const;

const shared = { area: 'todos', audience: 'user' } as const;

const list = (renderers: TodoRenderers) =>
  endpoint({
    method: 'GET',
    path: '/todos',
    summary: 'List your to-do items',
    ...shared,
    list: true,
    params: object({
      action: optional(oneOf(actions)),
      author_id: optional(id()),
      project_id: optional(id()),
      group_id: optional(id('include subgroups')),
      state: oneOf(['pending', 'done'], { default: 'pending' }),
      type: optional(oneOf(['Issue', 'MergeRequest'])),
      ...pageParams,
    }),
    reply: todoShape,
    handle: async (call, params) => {
      const { items, total } = await listTodos(call, renderers, params, pageRequest(params));
      return { items: await renderTodos(call, renderers, items), total };
    },
  });

const markAsDone = (renderers: TodoRenderers) =>
  endpoint({
    method: 'POST',
    path: '/todos/:id/mark_as_done',
    summary: 'Mark a to-do item as done',
    ...shared,
    params: object({ id: id() }),
    reply: todoShape,
    handle: async (call, params) => {
      const todo = await findOwnTodo(call, renderers, params.id);
      const [done] = await renderTodos(call, renderers, [await finishTodo(call, todo)]);
      if (done === undefined) throw notFound();
      return done;
    },
  });

const markAllAsDone = endpoint({
  method: 'POST',
  path: '/todos/mark_as_done',
  summary: 'Mark all pending to-do items as done',
  ...shared,
  status: 204,
  params: object({}),
  reply: null,
  handle: finishAllTodos,
});

export const todoRoutes = (renderers: TodoRenderers) => [
  list(renderers),
  markAsDone(renderers),
  markAllAsDone,
];
