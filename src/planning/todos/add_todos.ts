import { sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import type { TodosTable } from '../../platform/db/schema/planning.ts';
import type { Target } from '../issuables/target.ts';

export type NewTodo = {
  user_id: number;
  action: TodosTable['action'];
  body: string;
  /** The comment that caused it. */
  note_id?: number;
};

/**
 * Adds to-do items for a target. Skips users who already have a pending item for it.
 * @returns the ids of the added items
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
  const rows = await insertRows(
    tx.db,
    'todos',
    todos.map(({ note_id = null, ...todo }) => ({ ...shared, note_id, ...todo })),
    `on conflict (user_id, target_type, target_id) where state = 'pending' do nothing returning id`,
  );
  return rows.map((row) => row.id);
};

type Finished = { user_id: number; type: TargetType; id: number; until: number; now: number };

/** The state is a literal, so that the engines can use the partial index. */
const finishPending = compiled((db, { user_id, type, id, until, now }: Finished) =>
  sql`update todos set state = 'done', updated_at = ${now}
    where user_id = ${user_id} and target_type = ${type} and target_id = ${id} and state = 'pending'
      and created_at <= ${until}`.compile(db),
);

/**
 * Marks a user's pending todos on a target as done, because the user acted on it.
 * @param until when they acted, if not now: later todos stay
 */
export const finishTodos = async (
  tx: Tx,
  userId: number,
  { type, id }: Pick<Target, 'type' | 'id'>,
  until = tx.now,
): Promise<void> => void (await finishPending(tx.db, { user_id: userId, type, id, until, now: tx.now }));

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
