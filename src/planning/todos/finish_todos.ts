import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { lockUser } from '../../identity/users/queries.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TodoRow } from './json.ts';
import { type TodoFilter, type TodoRenderers, selectTodos } from './queries.ts';

/** Marks one of the caller's todos as done. A todo that is already done stays unchanged. */
export const finishTodo = async (call: Call, todo: TodoRow): Promise<TodoRow> => {
  const actor = requireActor(call);
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

/**
 * Marks one of the caller's todos as pending again.
 * @returns whether it changed: not if it is pending, or another todo on its target is
 */
export const restoreTodo = async (call: Call, todo: TodoRow): Promise<boolean> => {
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    // Serializes it with other todos of the user.
    await lockUser(tx, actor.user.id);
    const pending = tx.db
      .selectFrom('todos')
      .select('id')
      .where('user_id', '=', actor.user.id)
      .where('target_type', '=', todo.target_type)
      .where('target_id', '=', todo.target_id)
      .where('state', '=', 'pending');
    if ((await pending.executeTakeFirst()) !== undefined) return false;
    await tx.db
      .updateTable('todos')
      .set({ state: 'pending', updated_at: tx.now })
      .where('id', '=', todo.id)
      .where('user_id', '=', actor.user.id)
      .execute();
    await recordEvent(tx, actor, {
      kind: 'todo.restored',
      project_id: todo.project_id,
      target_type: 'Todo',
      target_id: todo.id,
    });
    return true;
  });
};

const recordAllDone = async (tx: Tx, actor: Actor, todos: number): Promise<void> => {
  if (todos === 0) return;
  await recordEvent(tx, actor, {
    kind: 'todo.all_done',
    project_id: null,
    target_type: 'User',
    target_id: actor.user.id,
    data: { todos },
  });
};

/** Marks all pending todos of the caller as done, including todos on targets they can no longer see. */
export const finishAllTodos = async (call: Call): Promise<void> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('todos')
      .set({ state: 'done', updated_at: tx.now })
      .where('user_id', '=', actor.user.id)
      .where('state', '=', 'pending')
      .executeTakeFirst();
    await recordAllDone(tx, actor, Number(numUpdatedRows));
  });
};

/** Marks the caller's pending todos that match a filter as done, and returns their number. */
export const finishFilteredTodos = async (
  call: Call,
  renderers: TodoRenderers,
  filter: Omit<TodoFilter, 'state'>,
): Promise<number> => {
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    const pending = selectTodos(call, tx.db, renderers, { ...filter, state: 'pending' });
    const { numUpdatedRows } = await tx.db
      .updateTable('todos')
      .set({ state: 'done', updated_at: tx.now })
      .where('user_id', '=', actor.user.id)
      .where('state', '=', 'pending')
      .where('id', 'in', pending.select('todos.id'))
      .executeTakeFirst();
    await recordAllDone(tx, actor, Number(numUpdatedRows));
    return Number(numUpdatedRows);
  });
};
