import type { TSchema } from 'typebox';
import { type Call, actorOf, endpoint } from '../access/call.ts';
import { notFound, notModified } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { addTodos } from './add.ts';
import { type TodoRow, todoJson, todoShape } from './json.ts';
import { type TodoRenderer, loadTodo } from './queries.ts';

/**
 * Marks a target as something the caller wants to come back to; this is no change of the target.
 * @throws Failure 304 if any todo on it waits for him: of two calls at once, one is the first
 */
const markTodo = async (call: Call, { target }: Found): Promise<TodoRow> => {
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    const todo = { user_id: actor.user.id, action: 'marked' as const, body: target.title };
    const [todoId] = await addTodos(tx, actor.user.id, target, [todo]);
    if (todoId === undefined) throw notModified();
    await recordEvent(tx, actor, {
      kind: 'todo.marked',
      project_id: target.project_id,
      target_type: 'Todo',
      target_id: todoId,
      data: { target_type: target.type, target_id: target.id },
    });
    return await loadTodo(tx.db, todoId);
  });
};

/** How a noun shows its record as part of a todo. */
type Rendering = { shape: TSchema; renderer: TodoRenderer };

/** `POST .../todo`, for any noun. */
export const markTodoRoute = (noun: Noun, { shape, renderer }: Rendering) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${noun.segment}/:${noun.param}/todo`,
    summary: `Create a todo on a ${noun.word}`,
    area: noun.segment,
    audience: 'user',
    params: object({ id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) }),
    reply: object({ ...todoShape.properties, target: shape }),
    handle: async (call, params) => {
      const found = await noun.find(call, params['id'] as number | string, params[noun.param] as number);
      const todo = await markTodo(call, found);
      const { id: targetId } = found.target;
      const target = (await renderer.render(call, [targetId])).get(targetId);
      // Hidden or deleted just now.
      if (target === undefined) throw notFound();
      return await todoJson(call, todo, target);
    },
  });
