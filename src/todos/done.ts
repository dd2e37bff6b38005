import { type Call, actorOf } from '../access/call.ts';
import { recordEvent } from '../events/record.ts';
import type { TodoRow } from './json.ts';

/** Marks a todo of the caller's own as done; one that is done stays as it is. */
export const finishTodo = async (call: Call, todo: TodoRow): Promise<TodoRow> => {
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    const done = await tx.db
      .updateTable('todos')
      .set({ state: 'done', updated_at: tx.now })
      .where('id', '=', todo.id)
      .where('user_id', '=', actor.user.id)
      .where('state', '=', 'pending')
      .returningAll()
      .executeTakeFirst();
    if (done === undefined) return { ...todo, state: 'done' };
    await recordEvent(tx, actor, {
      kind: 'todo.done',
      project_id: todo.project_id,
      target_type: 'Todo',
      target_id: todo.id,
    });
    return done;
  });
};

/** Marks every pending todo of the caller's as done, also those whose target he does not see any more. */
export const finishAllTodos = async (call: Call): Promise<void> => {
  const actor = actorOf(call);
  await call.write(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('todos')
      .set({ state: 'done', updated_at: tx.now })
      .where('user_id', '=', actor.user.id)
      .where('state', '=', 'pending')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    await recordEvent(tx, actor, {
      kind: 'todo.all_done',
      project_id: null,
      target_type: 'User',
      target_id: actor.user.id,
      data: { todos: Number(numUpdatedRows) },
    });
  });
};
