import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import type { TodosTable } from '../db/schema.ts';
import { anything, int, object, string, timestamp } from '../http/schema.ts';
import { fullNames, joinNames } from '../namespaces/names.ts';
import type { Project } from '../projects/find.ts';
import { formatTime } from '../time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../users/json.ts';

/** A todo; the shape of its `target` is that of the noun which renders it. */
export const todoShape = object({
  id: int,
  project: object({
    id: int,
    name: string,
    name_with_namespace: string,
    path: string,
    path_with_namespace: string,
  }),
  author: basicUserShape,
  action_name: string,
  target_type: string,
  target: anything,
  target_url: string,
  body: string,
  state: string,
  created_at: timestamp,
});

export type TodoRow = Selectable<TodosTable>;

/** What a todo is about, as its noun shows it to the caller. */
export type RenderedTarget = { json: object; url: string; project: Project };

/** Names of the namespaces of projects, with those above: `Group / Subgroup` by namespace id. */
const namespaceNames = async (db: Reader, projects: Project[]): Promise<Map<number, string>> => {
  const ids = [...new Set(projects.map((project) => project.namespace_id))];
  const rows = await db
    .selectFrom('namespaces')
    .select(['id', 'name', 'parent_id'])
    .where('id', 'in', ids)
    .execute();
  return await fullNames(db, rows);
};

const projectJson = ({ id, name, path, full_path }: Project, namespace: string) => ({
  id,
  name,
  name_with_namespace: joinNames(namespace, name),
  path,
  path_with_namespace: full_path,
});

/** Todos whose targets are rendered, in three statements at most. */
export const todosJson = async (call: Call, todos: { todo: TodoRow; target: RenderedTarget }[]) => {
  if (todos.length === 0) return [];
  const [authors, names] = await Promise.all([
    basicUsersById(
      call.db,
      todos.map(({ todo }) => todo.author_id),
    ),
    namespaceNames(
      call.db,
      todos.map(({ target }) => target.project),
    ),
  ]);
  return todos.flatMap(({ todo, target: { json, url, project } }) => {
    const author = authors.get(todo.author_id);
    if (author === undefined) return [];
    return {
      id: todo.id,
      project: projectJson(project, names.get(project.namespace_id) ?? ''),
      author: basicUser(author, call),
      action_name: todo.action,
      target_type: todo.target_type,
      target: json,
      target_url: todo.note_id === null ? url : `${url}#note_${todo.note_id}`,
      body: todo.body,
      state: todo.state,
      created_at: formatTime(todo.created_at),
    };
  });
};

/** One todo, for the call that makes it. */
export const todoJson = async (call: Call, todo: TodoRow, target: RenderedTarget) =>
  (await todosJson(call, [{ todo, target }]))[0];
