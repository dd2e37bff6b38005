import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';
import type { TodosTable } from '../db/schema.ts';
import type { Target } from '../issuables/target.ts';

/** Written out, not as a parameter: so the engines know the partial index. */
const isPending = sql<boolean>`state = 'pending'`;

export type NewTodo = {
  user_id: number;
  action: TodosTable['action'];
  body: string;
  /** The comment that it is of. */
  note_id?: number;
};

/**
 * Adds todos on a target, at most one pending a user: who has one already gets none.
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

/** A user who acts on a target has done what he was to do there. */
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

/** Todos for those whom a text mentions, but not for its author. */
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
