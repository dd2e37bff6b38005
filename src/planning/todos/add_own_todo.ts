import type { TSchema } from 'typebox';
import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound, notModified } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { id, idOrPath, object } from '../../platform/http/schema.ts';
import { type LoadedTarget, type Noun, withArticle } from '../issuables/target.ts';
import { addTodos } from './add_todos.ts';
import { type TodoRow, todoJson, todoShape } from './json.ts';
import { type TodoRenderer, loadTodo } from './queries.ts';

/**
 * Adds a todo on a target for the caller. The target itself does not change.
 * @throws Failure 304 if the caller has a pending todo on it; one of two concurrent requests gets it
 */
export const markTodo = async (call: Call, { target }: LoadedTarget): Promise<TodoRow> => {
  const actor = requireActor(call);
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

/** Renders a noun's record as the target of a todo. */
type Rendering = { shape: TSchema; renderer: TodoRenderer };

/** Makes the endpoint `POST .../todo` of a noun. */
export const markTodoRoute = (noun: Noun, { shape, renderer }: Rendering) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${noun.segment}/:${noun.param}/todo`,
    summary: `Create a to-do item for ${withArticle(noun.word)}`,
    area: noun.segment,
    audience: 'user',
    params: object({ id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) }),
    reply: object({ ...todoShape.properties, target: shape }),
    handle: async (call, params) => {
      const loaded = await noun.find(call, params['id'] as number | string, params[noun.param] as number);
      const todo = await markTodo(call, loaded);
      const { id: targetId } = loaded.target;
      const target = (await renderer.render(call, [targetId])).get(targetId);
      // Hidden or deleted just now.
      if (target === undefined) throw notFound();
      return await todoJson(call, todo, target);
    },
  });
