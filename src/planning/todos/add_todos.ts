import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { TodosTable } from '../../platform/db/schema/planning.ts';
import type { Target } from '../issuables/target.ts';

/** Literals instead of parameters, so that the engines can use the partial index. */
const isPending = sql<boolean>`state = 'pending'`;

export type NewTodo = {
  user_id: number;
  action: TodosTable['action'];
  body: string;
  /** The comment that caused it. */
  note_id?: number;
};

/**
 * Adds todos on a target. A user who has a pending todo on it already gets none.
 * @returns the ids of the todos that were added
 */
export const addTodos = async (
  tx: Tx,
  authorId: number,
  target: Target,
  todos: NewTodo[],
): Promise<number[]> => {
  if (todos.length === 0) return [];
  const shared = {
    author_id: authorId,
    project_id: target.project_id,
    target_type: target.type,
    target_id: target.id,
    state: 'pending' as const,
    created_at: tx.now,
    updated_at: tx.now,
  };
  const rows = await tx.db
    .insertInto('todos')
    .values(todos.map((todo) => ({ ...shared, note_id: null, ...todo })))
    .onConflict((clash) =>
      clash.columns(['user_id', 'target_type', 'target_id']).where(isPending).doNothing(),
    )
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
};

/** Marks a user's pending todos on a target as done, because the user acted on it. */
export const finishTodos = async (
  tx: Tx,
  userId: number,
  { type, id }: Pick<Target, 'type' | 'id'>,
): Promise<void> => {
  await tx.db
    .updateTable('todos')
    .set({ state: 'done', updated_at: tx.now })
    .where('user_id', '=', userId)
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where('state', '=', 'pending')
    .execute();
};

/** Adds todos for the users that a text mentions, except its author. */
export const mentionTodos = (
  mentioned: { user_id: number; directly: boolean }[],
  authorId: number,
  body: string,
  noteId?: number,
): NewTodo[] =>
  mentioned
    .filter(({ user_id }) => user_id !== authorId)
    .map(({ user_id, directly }) => ({
      user_id,
      action: directly ? 'directly_addressed' : 'mentioned',
      body,
      ...(noteId !== undefined && { note_id: noteId }),
    }));
