import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { TodosTable } from '../../platform/db/schema/planning.ts';
import { anything, int, object, string, timestamp } from '../../platform/http/schema.ts';
import { loadFullNames, joinNames } from '../../identity/namespaces/full_names.ts';
import type { Project } from '../../projects/projects/find.ts';
import { formatTime } from '../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';

/** A todo. Each noun defines the shape of its `target`. */
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

/** The target of a todo, rendered for the caller. */
export type RenderedTarget = { json: object; url: string; project: Project };

/** Full names of namespaces by id: `Group / Subgroup`. */
const namespaceNames = async (db: Reader, projects: Project[]): Promise<Map<number, string>> => {
  const ids = [...new Set(projects.map((project) => project.namespace_id))];
  const rows = await db
    .selectFrom('namespaces')
    .select(['id', 'name', 'parent_id'])
    .where('id', 'in', ids)
    .execute();
  return await loadFullNames(db, rows);
};

const projectJson = ({ id, name, path, full_path }: Project, namespace: string) => ({
  id,
  name,
  name_with_namespace: joinNames(namespace, name),
  path,
  path_with_namespace: full_path,
});

/** Renders todos with their targets, in at most three statements. */
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

/** Renders one todo for the request that creates it. */
export const todoJson = async (call: Call, todo: TodoRow, target: RenderedTarget) =>
  (await todosJson(call, [{ todo, target }]))[0];
